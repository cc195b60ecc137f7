/* certificate.c - the fields of certificates, and the decision whether a fit has converged. */
#include "solver/solver.h"

#define ROUNDING       1e-12 /* of the tolerance */
#define AGREEMENT      1e-7  /* of the empty model's value: agreement of two computations */
#define LAMBDA_MAX_TOL 1e-2  /* of lambda_max, which graph solvers compute to 1e-3 */
#define NEGATIVE_SHARE 0.01  /* of the tolerance, or */
/* of the empty model's value: rounding of a negative gap */
#define ROUNDING_OF_SUMS 1e-10
#define DUAL_EXCESS                                                                                \
    1e-6 /* of the empty model's value: dual minus recomputed primal value, at dual_excess */

#define AT(field) offsetof(vxs_certificate, field)

/* In the order of their keys in model.json. */
const vxs_field vxs_certificate_fields[] = {
    { .name = "lambda", .offset = AT(lambda), .help = "weight of the penalty" },
    { .name = "lambda_max",
      .offset = AT(lambda_max),
      .null = true, /* for paths in iterations */
      .none = NAN,
      .help = "smallest lambda with an empty model" },
    { .name = "nonzero",
      .offset = AT(nonzero),
      .type = VXS_FIELD_COUNT,
      .help = "features with nonzero weight" },
    { .name = "fused_regions",
      .offset = AT(fused_regions),
      .type = VXS_FIELD_COUNT,
      .if_any = true,
      .help = "connected regions of equal nonzero weight on a graph" },
    { .name = "unidentified",
      .offset = AT(unidentified),
      .type = VXS_FIELD_COUNT,
      .if_any = true,
      .help = "unpenalized directions that the data does not identify" },
    { .name = "support_vectors",
      .offset = AT(support),
      .type = VXS_FIELD_COUNT,
      .if_any = true,
      .help = "subjects with nonzero weight, of a kernel machine" },
    { .name = "kernels",
      .offset = AT(kernels),
      .type = VXS_FIELD_COUNT,
      .if_any = true,
      .help = "of several kernels those with nonzero weight" },
    { .name = "laplacian",
      .offset = AT(smooth),
      .if_any = true,
      .help = "weight of the Laplacian" },
    { .name = "gamma",
      .offset = AT(gamma),
      .if_any = true,
      .help = "gamma of a kernel machine that is not linear" },
    { .name = "rank",
      .offset = AT(rank),
      .type = VXS_FIELD_COUNT,
      .if_any = true,
      .help = "landmarks of a kernel of low rank" },
    { .name = "trace_error",
      .offset = AT(trace_error),
      .if_any = true,
      .help = "share of the kernel's trace that it lacks" },
    { .name = "largest_error",
      .offset = AT(largest_error),
      .if_any = true,
      .help = "the most that a subject's kernel with itself lacks, as a share of their mean" },
    { .name = "bandwidth",
      .offset = AT(bandwidth),
      .if_any = true,
      .help = "width of similarities of bags" },
    { .name = "missed",
      .offset = AT(missed),
      .type = VXS_FIELD_COUNT,
      .if_any = true,
      .help = "features that an unsafe rule had screened out" },
    { .name = "primal", .offset = AT(primal), .help = "primal value" },
    { .name = "dual",
      .offset = AT(dual),
      .null = true,
      .none = -INFINITY,
      .help = "dual value: lower bound of the minimum" },
    { .name = "gap",
      .offset = AT(gap),
      .null = true,
      .none = INFINITY,
      .help = "duality gap, relative to the value of the empty model" },
    { .name = "tol", .offset = AT(tol), .help = "relative gap to reach" },
    { .name = "converged",
      .offset = AT(converged),
      .type = VXS_FIELD_FLAG,
      .help = "whether it was reached" },
    { .name = "passes", .offset = AT(passes), .help = "columns read / features" },
    { .name = "iterations",
      .offset = AT(iterations),
      .type = VXS_FIELD_COUNT,
      .help = "iterations" },
    { .name = "seconds", .offset = AT(seconds), .help = "seconds of the fit" },
    { .name = NULL },
};

/* A dual value difference the primal value by more than rounding is not a bound. */
bool vxs_gap_bounds(double gap, double tol)
{
    return gap >= -fmax(NEGATIVE_SHARE * tol, ROUNDING_OF_SUMS); /* false for NaN */
}

bool vxs_has_converged(double gap, double tol)
{
    return gap <= tol * (1 + ROUNDING) && vxs_gap_bounds(gap, tol);
}

vxs_costs vxs_costs_begin(const vxs_design *design)
{
    return (vxs_costs){ vxs_seconds(), vxs_design_read(design) };
}

void vxs_costs_take(vxs_costs *costs, const vxs_design *design, vxs_certificate *c)
{
    vxs_costs now = vxs_costs_begin(design);
    size_t p = vxs_design_columns(design);
    c->passes = p > 0 ? (double)(now.read - costs->read) / (double)p : 0;
    c->seconds = now.began - costs->began;
    *costs = now;
}

/* A gap is below 0 by rounding of its two values alone, as far as they have it: that is none. */
double vxs_relative_gap(double gap, double empty)
{
    double relative = empty > 0 ? gap / empty : empty <= 0 ? gap : NAN;
    return relative < 0 && relative >= -ROUNDING_OF_SUMS ? 0 : relative;
}

/* Agreement of numbers as written; infinities agree with themselves. */
static bool is_same(double a, double b)
{
    return a == b || fabs(a - b) <= AGREEMENT * (1 + fabs(a));
}

/* gap = primal - dual, converged follows from it; except for selections that ended early. */
static bool is_consistent(const vxs_certificate *claimed, double empty, bool selected)
{
    double gap = vxs_relative_gap(claimed->primal - claimed->dual, empty);
    return is_same(gap, claimed->gap) &&
           (selected || claimed->converged == vxs_has_converged(claimed->gap, claimed->tol));
}

bool vxs_certificate_holds(const vxs_certificate *claimed, const vxs_certificate *found,
                           bool selected)
{
    double difference = vxs_relative_gap(claimed->primal - found->primal, found->empty);
    bool value = (selected && difference > 0) || fabs(difference) <= AGREEMENT;
    double dual_excess = vxs_relative_gap(claimed->dual - found->primal, found->empty);
    bool lambda_max =
        isnan(claimed->lambda_max) || !(found->lambda_max > 0) ||
        fabs(claimed->lambda_max - found->lambda_max) <= LAMBDA_MAX_TOL * found->lambda_max;
    return found->converged && value && (selected || dual_excess <= DUAL_EXCESS) && lambda_max &&
           found->unidentified == claimed->unidentified &&
           is_consistent(claimed, found->empty, selected);
}

static bool are_finite(const double *values, size_t count)
{
    bool finite = true;
    for (size_t k = 0; values && k < count && finite; k++)
        finite = isfinite(values[k]);
    return finite;
}

static bool is_finite(const vxs_solution *s, size_t covariate_count)
{
    const vxs_selected *u = s->selected;
    size_t columns = u ? u->start[u->count] : 0;
    return isfinite(s->certificate.primal) && are_finite(s->weight, s->count) &&
           are_finite(s->covariate_coefficients, covariate_count) &&
           (!u || (are_finite(u->weight, columns) && are_finite(u->refit_weight, columns) &&
                   are_finite(u->covariate_coefficients, covariate_count)));
}

/* A dual value of -infinity is reported in the certificate. */
vxs_status vxs_solution_check_finite(vxs_solution *s, size_t covariate_count, vxs_error *err)
{
    const vxs_certificate *c = &s->certificate;
    if (is_finite(s, covariate_count) && c->dual < INFINITY && !isnan(c->gap))
        return VXS_OK;
    vxs_status status = vxs_fail(err, VXS_BAD_DATA,
                                 "the fit overflows: primal value %g, dual value %g; features, "
                                 "target, weights or penalties are too large",
                                 c->primal, c->dual);
    vxs_solution_release(s);
    return status;
}
