/* certificate.c - when a gap is small enough, and when there is a solution at all. */
#include "solver/solver.h"

#define ROUNDING 1e-12 /* of the tolerance */
#define SAME     1e-7  /* of the empty model's value: so near are two ways to compute one */
#define STEEPEST 1e-2  /* of lambda_max, which graphs' solvers find to 1e-3 beside large weights */
#define BELOW    0.01  /* of the tolerance, or */
/* of the empty model's value: so far below 0 rounding of sums may bring a gap */
#define SUMS  1e-10
#define ABOVE 1e-6 /* of it: a dual value no further above the primal one that is found anew */

#define AT(field) offsetof(vxs_certificate, field)

/* In the order of their keys in model.json. */
const vxs_field vxs_certificate_fields[] = {
    { .name = "lambda", .offset = AT(lambda), .help = "what the answer was asked for" },
    { .name = "lambda_max",
      .offset = AT(lambda_max),
      .null = true, /* where there is no lambda */
      .none = NAN,
      .help = "the least lambda whose model is empty" },
    { .name = "nonzero",
      .offset = AT(nonzero),
      .type = VXS_FIELD_COUNT,
      .help = "features with a weight" },
    { .name = "pieces",
      .offset = AT(pieces),
      .type = VXS_FIELD_COUNT,
      .if_any = true,
      .help = "pieces of equal weight along the edges of a graph" },
    { .name = "unidentified",
      .offset = AT(unidentified),
      .type = VXS_FIELD_COUNT,
      .if_any = true,
      .help = "directions without penalty that the data does not identify" },
    { .name = "laplacian",
      .offset = AT(smooth),
      .if_any = true,
      .help = "smoothness of weights of kernels" },
    { .name = "missed",
      .offset = AT(missed),
      .type = VXS_FIELD_COUNT,
      .if_any = true,
      .help = "features that an unsafe rule had thrown away" },
    { .name = "primal", .offset = AT(primal), .help = "value of the answer" },
    { .name = "dual",
      .offset = AT(dual),
      .null = true,
      .none = -INFINITY,
      .help = "bound on the least value" },
    { .name = "gap",
      .offset = AT(gap),
      .null = true,
      .none = INFINITY,
      .help = "their difference, as a share of the empty model's value" },
    { .name = "tol", .offset = AT(tol), .help = "the gap that was asked for" },
    { .name = "converged",
      .offset = AT(converged),
      .type = VXS_FIELD_FLAG,
      .help = "whether that was reached" },
    { .name = "passes", .offset = AT(passes), .help = "columns read / features" },
    { .name = "iterations",
      .offset = AT(iterations),
      .type = VXS_FIELD_COUNT,
      .help = "of the outer loop" },
    { .name = "seconds", .offset = AT(seconds), .help = "of the fit" },
    { .name = NULL },
};

/* A dual value that is above the primal one by more than rounding is no bound, nor is what is near
 * it. */
bool vxs_gap_bounds(double gap, double tol)
{
    return gap >= -fmax(BELOW * tol, SUMS); /* NaN does not */
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

double vxs_relative_gap(double gap, double empty)
{
    return empty > 0 ? gap / empty : empty <= 0 ? gap : NAN;
}

/* Of numbers that are written whole; a bound that was not found is no further off than itself. */
static bool is_same(double a, double b)
{
    return a == b || fabs(a - b) <= SAME * (1 + fabs(a));
}

/* The gap is that of the values, and whether it is small enough follows: of a selection that was
 * ended, another gap says so. */
static bool is_consistent(const vxs_certificate *said, double empty, bool selected)
{
    double gap = vxs_relative_gap(said->primal - said->dual, empty);
    return is_same(gap, said->gap) &&
           (selected || said->converged == vxs_has_converged(said->gap, said->tol));
}

bool vxs_certificate_holds(const vxs_certificate *said, const vxs_certificate *found, bool selected)
{
    double above = vxs_relative_gap(said->primal - found->primal, found->empty);
    bool value = (selected && above > 0) || fabs(above) <= SAME;
    double most = vxs_relative_gap(said->dual - found->primal, found->empty);
    bool steepest = isnan(said->lambda_max) || !(found->lambda_max > 0) ||
                    fabs(said->lambda_max - found->lambda_max) <= STEEPEST * found->lambda_max;
    return found->converged && value && (selected || most <= ABOVE) && steepest &&
           found->unidentified == said->unidentified && is_consistent(said, found->empty, selected);
}

static bool are_finite(const double *values, size_t count)
{
    bool fine = true;
    for (size_t k = 0; values && k < count && fine; k++)
        fine = isfinite(values[k]);
    return fine;
}

static bool is_finite(const vxs_solution *s, size_t free_count)
{
    const vxs_selected *u = s->selected;
    size_t columns = u ? u->start[u->count] : 0;
    return isfinite(s->certificate.primal) && are_finite(s->weight, s->count) &&
           are_finite(s->free, free_count) &&
           (!u || (are_finite(u->weight, columns) && are_finite(u->retrained, columns) &&
                   are_finite(u->free, free_count)));
}

/* A dual value of -infinity is a bound that was not found: that is in the certificate. */
vxs_status vxs_solution_settle(vxs_solution *s, size_t free_count, vxs_error *err)
{
    const vxs_certificate *c = &s->certificate;
    if (is_finite(s, free_count) && c->dual < INFINITY && !isnan(c->gap))
        return VXS_OK;
    vxs_status status = vxs_fail(err, VXS_BAD_DATA,
                                 "the fit overflows: primal value %g, dual value %g; features, "
                                 "target, weights or penalties are too large",
                                 c->primal, c->dual);
    vxs_solution_release(s);
    return status;
}
