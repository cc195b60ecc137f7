/* solution_check.c - whether a solution has the shape of its problem. */
#include "verify/check.h"

#include <math.h>

static vxs_status check_index(const size_t *index, const double *weight, size_t count, size_t all,
                              vxs_error *err)
{
    if (count > 0 && (!index || !weight))
        return vxs_fail(err, VXS_MISUSE, "the solution has %zu weights without values", count);
    for (size_t k = 0; k < count; k++) {
        if (index[k] >= all)
            return vxs_fail(err, VXS_MISUSE, "the solution has a weight of column %zu of %zu",
                            index[k], all);
        if (!isfinite(weight[k]))
            return vxs_fail(err, VXS_BAD_DATA, "the solution's weight of column %zu is %g",
                            index[k], weight[k]);
    }
    return VXS_OK;
}

/* True if the columns are those of the blocks. */
bool vxs_selected_matches(const vxs_blocks *units, const vxs_selected *s)
{
    size_t count = vxs_blocks_count(units);
    bool fits = s->start[0] == 0;
    for (size_t k = 0; k < s->count && fits; k++)
        fits = s->block[k] < count && s->start[k] <= s->start[k + 1] &&
               s->start[k + 1] - s->start[k] == vxs_blocks_width(units, s->block[k]);
    return fits;
}

/* Without a selection the certificate is unknown. */
static vxs_status check_selected(const vxs_problem *q, const vxs_solution *s, vxs_error *err)
{
    const vxs_selected *selected = s->selected;
    if (!selected)
        return VXS_OK;
    bool some = selected->count > 0, free = q->covariate_count > 0;
    if (!selected->start || (some && (!selected->block || !selected->weight)))
        return vxs_fail(err, VXS_MISUSE, "the selection has %zu blocks without weights",
                        selected->count);
    bool refitted = selected->refit_weight != NULL;
    return !free || (selected->covariate_coefficients && (s->covariate_coefficients || !refitted))
               ? VXS_OK
               : vxs_fail(err, VXS_MISUSE, "the selection has no coefficients of the covariates");
}

vxs_status vxs_solution_check(const vxs_problem *q, const vxs_solution *s, vxs_error *err)
{
    size_t p = vxs_design_columns(q->design), all = q->loss.k > 1 ? q->loss.k * p : p;
    if (vxs_as_budget(q->penalty))
        return check_selected(q, s, err);
    if (q->covariate_count > 0 && !s->covariate_coefficients)
        return vxs_fail(err, VXS_MISUSE, "the solution has no coefficients of the covariates");
    double lambda = s->certificate.lambda;
    if (!(lambda > 0 && lambda <= VXS_LARGEST))
        return vxs_fail(err, VXS_MISUSE, "lambda must be a finite number above 0, not %g", lambda);
    vxs_status status = check_index(s->index, s->weight, s->count, all, err);
    if (!status && vxs_as_grouped(q->penalty))
        status = check_selected(q, s, err);
    if (!status && s->bound)
        status = check_index(s->bound->index, s->bound->weight, s->bound->count, all, err);
    return status;
}
