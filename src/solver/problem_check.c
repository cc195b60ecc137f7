/* problem_check.c - validation of problems, the one place that decides.
 *
 * Each algorithm lists the losses, penalties and quadratics it accepts, each of these the values it
 * accepts. Every solver and the checker begin here, so that all refuse the same, and no component
 * of a problem is ignored silently. */
#include "solver/covariates_fit.h"
#include "solver/solver.h"

#include <float.h>
#include <string.h>

#define WIDEST                                                                                     \
    1e20 /* ratio of sample weights above which the smaller ones vanish in sums of doubles */

/* ---- Components ------------------------------------------------------------------------------ */

/* Without a method: all that the checker certifies, with any complete loss. */
static const vxs_accepts plain = { .penalties = { &vxs_l1_penalty },
                                   .quadratics = { &vxs_ridge, &vxs_laplacian },
                                   .weights = VXS_EITHER_SIGN,
                                   .brought = true };

/* Without a method: that of the only method with this penalty or loss. */
static const vxs_accepts *accepted_by(const vxs_problem *q, const vxs_method *method,
                                      const vxs_method_settings *s)
{
    if (method)
        return method->kind->accepts(s);
    if (q->loss.kind == &vxs_measure_loss)
        return vxs_measure_method_kind.accepts(NULL);
    if (vxs_as_budget(q->penalty))
        return vxs_fgm_kind.accepts(NULL);
    if (vxs_as_grouped(q->penalty))
        return vxs_group_lasso_kind.accepts(NULL);
    if (vxs_as_kernel_norm(q->penalty))
        return vxs_svm_kind.accepts(NULL);
    if (vxs_as_kernel_sum(q->penalty))
        return vxs_mkl_kind.accepts(NULL);
    if (vxs_as_fused(q->penalty) || vxs_as_generalized(q->penalty))
        return vxs_fused_kind.accepts(NULL);
    return q->loss.kind == &vxs_hinge_loss ? vxs_skfs_kind.accepts(NULL) : &plain;
}

/* The first function that a user-defined loss does not define, or NULL. */
static const char *lacks(const vxs_loss_kind *loss)
{
    const vxs_sample_loss *f = loss->sample;
    if (!loss->name || !loss->targets || !loss->is_target)
        return "a name, or which targets it takes";
    if (!f || loss->joint || !f->value || !f->gradient || !f->curvature || !f->conjugate)
        return "value, gradient, curvature and conjugate of one prediction";
    return loss->gamma > 0 && loss->gamma <= VXS_LARGEST ? NULL : "a gamma above 0";
}

static bool is_known(const vxs_loss_kind *loss)
{
    const vxs_loss_kind *const *k = vxs_loss_kinds;
    while (*k && *k != loss)
        k++;
    return *k;
}

static vxs_status check_loss(const vxs_accepts *r, const char *who, const vxs_loss_kind *loss,
                             vxs_error *err)
{
    char text[128] = "";
    size_t used = 0;
    bool known = is_known(loss), brought = loss && !known && r->brought;
    bool takes = known && r == &plain && (loss->joint || (loss->sample && loss->gamma > 0));
    for (size_t k = 0; k < VXS_MOST_TAKEN && r->losses[k]; k++) {
        takes = takes || r->losses[k] == loss;
        used += (size_t)snprintf(text + used, sizeof(text) - used, "%s%s", used ? " or " : "",
                                 r->losses[k]->name);
    }
    if (brought && lacks(loss))
        return vxs_fail(err, VXS_MISUSE, "%s loss lacks %s", loss->name ? loss->name : "the",
                        lacks(loss));
    return takes || brought
               ? VXS_OK
               : vxs_fail(err, VXS_MISUSE, "%s takes %s loss, not %s%s", who, text,
                          known ? loss->name : "an unknown one",
                          known && loss->joint ? ": with several classes use another one" : "");
}

static vxs_status check_penalty(const vxs_accepts *r, const char *who, const vxs_penalty *penalty,
                                vxs_error *err)
{
    const vxs_penalty_kind *kind = vxs_penalty_kind_of(penalty);
    bool takes = false;
    for (const vxs_penalty_kind *const *k = r->penalties; k < r->penalties + VXS_MOST_TAKEN && *k;
         k++)
        takes = takes || *k == kind;
    const vxs_penalty_kind *second = r->penalties[1];
    return takes ? VXS_OK
                 : vxs_fail(err, VXS_MISUSE, "%s takes %s%s%s, not %s", who, r->penalties[0]->name,
                            second ? " or " : "", second ? second->name : "",
                            kind && kind->name ? kind->name : "an unknown penalty");
}

/* A quadratic of weight 0 counts as none. */
static vxs_status check_quadratic(const vxs_accepts *r, const char *who, const vxs_quadratic *q,
                                  vxs_error *err)
{
    bool takes = q->weight == 0;
    for (const vxs_quadratic_kind *const *k = r->quadratics;
         k < r->quadratics + VXS_MOST_TAKEN && *k; k++)
        takes = takes || *k == q->kind;
    return takes ? VXS_OK
                 : vxs_fail(err, VXS_MISUSE, "%s does not take %s", who,
                            q->kind && q->kind->name ? q->kind->name : "an unknown quadratic");
}

static vxs_status check_parts(const vxs_problem *q, const vxs_method *method,
                              const vxs_method_settings *s, vxs_error *err)
{
    char who[64];
    const vxs_accepts *r = accepted_by(q, method, s);
    (void)snprintf(who, sizeof(who), method ? "method '%s'" : "a problem with %s",
                   method ? method->name : r->penalties[0]->name);
    vxs_status status = check_loss(r, who, q->loss.kind, err);
    if (!status)
        status = check_penalty(r, who, q->penalty, err);
    if (!status)
        status = check_quadratic(r, who, &q->quadratic, err);
    if (!status && q->nonnegative && r->weights == VXS_ANY_SIGN)
        status = vxs_fail(err, VXS_MISUSE, "%s does not take non-negative weights", who);
    if (!status && !q->nonnegative && r->weights == VXS_NONNEGATIVE)
        status = vxs_fail(err, VXS_MISUSE, "%s needs non-negative weights", who);
    return status || !method || !method->kind->check || !s ? status
                                                           : method->kind->check(q, s, err);
}

/* ---- Settings -------------------------------------------------------------------------------- */

vxs_status vxs_read_numbers(const vxs_method_settings *settings, double numbers[VXS_MAX_NUMBERS],
                            size_t *count, vxs_error *err)
{
    *count = 0;
    if (!settings->path.numbers)
        return VXS_OK;
    bool fine = vxs_parse_reals(settings->path.numbers, numbers, VXS_MAX_NUMBERS, count);
    for (size_t k = 0; k < *count && fine; k++)
        fine = numbers[k] > (k > 0 ? numbers[k - 1] : 0) && numbers[k] <= 1e9 &&
               numbers[k] == floor(numbers[k]);
    return fine ? VXS_OK
                : vxs_fail(err, VXS_MISUSE,
                           "'--nselect' takes whole numbers that rise, at most %d, with commas "
                           "between, not '%s'",
                           VXS_MAX_NUMBERS, settings->path.numbers);
}

vxs_status vxs_read_costs(const vxs_method_settings *settings, double costs[VXS_MAX_NUMBERS],
                          size_t *count, vxs_error *err)
{
    *count = 0;
    if (!settings->svm.costs)
        return VXS_OK;
    bool fine = vxs_parse_reals(settings->svm.costs, costs, VXS_MAX_NUMBERS, count);
    for (size_t k = 0; k < *count && fine; k++)
        fine = costs[k] > (k > 0 ? costs[k - 1] : 0) && costs[k] >= 1e-9 && costs[k] <= 1e12;
    return fine ? VXS_OK
                : vxs_fail(err, VXS_MISUSE,
                           "'--C' takes numbers from 1e-9 to 1e12 that rise, at most %d, with "
                           "commas between, not '%s'",
                           VXS_MAX_NUMBERS, settings->svm.costs);
}

vxs_status vxs_settings_check(const vxs_method *method, const vxs_method_settings *s,
                              vxs_error *err)
{
    const vxs_param *table = method->params;
    double numbers[VXS_MAX_NUMBERS];
    size_t count = 0;
    vxs_status status = vxs_params_check_choices(table, s, err); /* its own names first */
    for (const vxs_method *m = vxs_methods; m->name && !status; m++)
        status = vxs_params_check_choices(m->params, s, err);
    if (!status)
        status = vxs_params_check_numbers(table, s, err);
    if (!status)
        status = vxs_read_numbers(s, numbers, &count, err);
    return status ? status : vxs_read_costs(s, numbers, &count, err);
}

/* ---- Targets --------------------------------------------------------------------------------- */

static vxs_status check_samples(const vxs_problem *q, size_t n, vxs_error *err)
{
    double least = INFINITY, most = 0;
    if (q->loss.kind->has_threshold && !(q->loss.threshold > 0 && q->loss.threshold <= VXS_LARGEST))
        return vxs_fail(err, VXS_MISUSE, "%s loss has a threshold above 0 and up to %g, not %g",
                        q->loss.kind->name, VXS_LARGEST, q->loss.threshold);
    for (size_t i = 0; i < n; i++) {
        double u = vxs_loss_weight(&q->loss, i);
        if (!q->loss.kind->is_target(&q->loss, q->loss.y[i]))
            return vxs_fail(err, VXS_BAD_DATA, "y of sample %zu is %g; %s loss takes %s", i,
                            q->loss.y[i], q->loss.kind->name, q->loss.kind->targets);
        if (!(u >= 0 && u <= VXS_LARGEST))
            return vxs_fail(err, VXS_BAD_DATA,
                            "the weight of sample %zu is %g; weights are from 0 to %g", i, u,
                            VXS_LARGEST);
        least = u > 0 ? fmin(least, u) : least;
        most = fmax(most, u);
    }
    for (size_t k = 0; k < q->covariate_count * n; k++)
        if (!(fabs(q->covariates[k]) <= VXS_LARGEST))
            return vxs_fail(err, VXS_BAD_DATA,
                            "column %zu of the covariates is %g in sample %zu; it takes numbers of "
                            "at most %g",
                            k / n, q->covariates[k], k % n, VXS_LARGEST);
    if (most == 0)
        return vxs_fail(err, VXS_BAD_DATA, "no sample has a weight above 0");
    return most <= WIDEST * least
               ? VXS_OK
               : vxs_fail(err, VXS_BAD_DATA,
                          "weights of samples reach from %g to %g; the larger ones may be %g times "
                          "the smaller ones",
                          least, most, WIDEST);
}

static vxs_status check_measure(const vxs_problem *q, vxs_error *err)
{
    const vxs_budget *budget = vxs_as_budget(q->penalty);
    return budget && budget->only_refit
               ? vxs_fail(err, VXS_MISUSE, "a measure has covariates in the selection as well")
               : vxs_measure_check(&q->loss, err);
}

/* ---- Shapes ---------------------------------------------------------------------------------- */

/* `some`: at least one penalized feature. */
static vxs_status check_shapes(const vxs_problem *q, size_t n, size_t p, bool some, vxs_error *err)
{
    if (n == 0 || p == 0)
        return vxs_fail(err, VXS_MISUSE, "the design has %zu rows and %zu columns", n, p);
    if (q->covariate_count > 0 && !q->covariates)
        return vxs_fail(err, VXS_MISUSE, "the problem has %zu covariates without values",
                        q->covariate_count);
    if (q->loss.n != n)
        return vxs_fail(err, VXS_MISUSE, "the loss is of %zu samples, the design has %zu rows",
                        q->loss.n, n);
    if (q->loss.kind->joint ? q->loss.k < 2 : q->loss.k > 1)
        return vxs_fail(err, VXS_MISUSE, "%s loss does not go with %zu classes", q->loss.kind->name,
                        q->loss.k);
    vxs_status status = vxs_penalty_check(q->penalty, q->design, some, err);
    return status ? status : vxs_quadratic_check(&q->quadratic, q->design, err);
}

/* Refuses covariates that interpolate every target: of rank n. */
static vxs_status check_rank(const vxs_problem *q, size_t n, vxs_error *err)
{
    vxs_covariates_fit span;
    size_t count = 0;
    const vxs_budget *budget = vxs_as_budget(q->penalty);
    if (q->covariate_count <= n || (budget && budget->only_refit))
        return VXS_OK;
    for (size_t i = 0; i < n; i++)
        count += vxs_loss_weight(&q->loss, i) > 0;
    vxs_status status = vxs_covariates_fit_init(q, q->covariate_count, &span, err);
    if (!status && span.rank >= count)
        status = vxs_fail(err, VXS_BAD_DATA,
                          "%zu covariates explain whatever %zu samples have: nothing is left to "
                          "find",
                          q->covariate_count, count);
    vxs_covariates_fit_release(&span);
    return status;
}

/* ---- The problem ----------------------------------------------------------------------------- */

/* True for an entry of the table: solvers compare pointers. */
static bool is_method(const vxs_method *method)
{
    bool known = false;
    for (const vxs_method *m = vxs_methods; m->name; m++)
        known = known || m == method;
    return known;
}

vxs_status vxs_problem_check(const vxs_problem *q, const vxs_method *method,
                             const vxs_method_settings *s, vxs_error *err)
{
    if (!q || !q->design || !q->loss.y)
        return vxs_fail(err, VXS_MISUSE, "the problem has no %s", q && q->design ? "y" : "design");
    if (method && !is_method(method))
        return vxs_fail(err, VXS_MISUSE, "the method is none of vxs_methods, but perhaps a copy");
    size_t n = vxs_design_rows(q->design), p = vxs_design_columns(q->design);
    vxs_status status = check_parts(q, method, s, err);
    if (!status && s)
        status = vxs_number_check("the tolerance", s->tol, 0, true, err);
    if (!status && method && s)
        status = vxs_settings_check(method, s, err);
    if (!status)
        status = check_shapes(q, n, p, method != NULL, err);
    if (!status)
        status = check_samples(q, n, err);
    if (!status && q->loss.kind == &vxs_measure_loss)
        status = check_measure(q, err);
    return status ? status : check_rank(q, n, err);
}

/* Iterations and numbers are integers up to 2^53. */
static vxs_status check_number(const vxs_solver *solver, vxs_path_point point, vxs_error *err)
{
    bool by_cost = solver->method && solver->method->path == VXS_BY_COST;
    if (by_cost != (point.by == VXS_BY_COST))
        return vxs_fail(err, VXS_MISUSE, by_cost ? "the method goes by C" : "the method has no C");
    if (by_cost)
        return vxs_number_check("C", point.value, 0, true, err);
    if (point.by == VXS_BY_LAMBDA)
        return vxs_fail(err, VXS_MISUSE,
                        "the method goes by rounds, or by how many are selected, not by lambda");
    return point.value >= 0 && point.value <= VXS_LARGEST
               ? VXS_OK
               : vxs_fail(err, VXS_MISUSE, "%g is no number of rounds or units", point.value);
}

vxs_status vxs_point_check(const vxs_solver *solver, vxs_path_point point, vxs_error *err)
{
    if (solver->kind->select)
        return check_number(solver, point, err);
    if (point.by != VXS_BY_LAMBDA)
        return vxs_fail(err, VXS_MISUSE, "the method goes by lambda, not by rounds or numbers");
    double most = solver->kind->lambda_max(solver), lambda = point.value;
    if (lambda == 0 && most > 0)
        return vxs_fail(err, VXS_MISUSE,
                        "lambda is 0; without a penalty the answer is not unique, and no "
                        "certificate can be given");
    vxs_status status = vxs_number_check("lambda", lambda, 0, most > 0, err);
    if (status || !(lambda < DBL_EPSILON * most))
        return status;
    return vxs_fail(
        err, VXS_MISUSE,
        "lambda is %g, less than %.2g of lambda_max (%g): what rounding leaves of slopes "
        "is more, and no certificate can be given",
        lambda, DBL_EPSILON, most);
}
