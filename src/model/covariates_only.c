/* covariates_only.c - predictions from covariates, without features. */
#include "model/model.h"
#include "solver/solver.h"

#include <math.h>
#include <stdlib.h>

/* ---- Losses that are lines ------------------------------------------------------------------- */

typedef struct {
    double at, weight;
} kink;

static int ascending(const void *a, const void *b)
{
    double x = ((const kink *)a)->at, y = ((const kink *)b)->at;
    return (x > y) - (x < y);
}

/* The slope of the sum rises by a weight at each kink: it is least where the slope passes 0, or in
 * the middle of where it is 0. */
static double passes_zero(kink *kinks, size_t count, double slope)
{
    double size = fabs(slope);
    qsort(kinks, count, sizeof(*kinks), ascending);
    for (size_t k = 0; k < count; k++) {
        slope += kinks[k].weight;
        if (slope > 1e-12 * size)
            return kinks[k].at;
        if (slope >= -1e-12 * size)
            return k + 1 < count ? (kinks[k].at + kinks[k + 1].at) / 2 : kinks[k].at;
    }
    return count > 0 ? kinks[count - 1].at : 0;
}

vxs_status vxs_fit_middle(const vxs_loss *loss, double *constant, vxs_error *err)
{
    bool scores = loss->kind->of_scores;
    size_t count = 0;
    double slope = 0;
    kink *kinks = vxs_alloc(2 * loss->n, sizeof(*kinks), err);
    for (size_t i = 0; i < loss->n && kinks; i++) {
        double u = vxs_loss_weight(loss, i), y = loss->y[i];
        slope -= scores || y > 0 ? u : 0;
        kinks[count++] = (kink){ scores ? y - loss->threshold : y, u };
        if (scores)
            kinks[count++] = (kink){ y + loss->threshold, u };
    }
    if (kinks)
        *constant = passes_zero(kinks, count, slope);
    free(kinks);
    return kinks ? VXS_OK : VXS_FAILED;
}

/* ---- Others ---------------------------------------------------------------------------------- */

/* Of the value without columns: what is left when these say all of y but for rounding. */
static const double NOTHING_LEFT = 1e-20;

/* A gap relative to a value that is rounding says nothing. */
static bool has_fitted(const vxs_loss *loss, const vxs_certificate *c, const double *zeros)
{
    return c->converged || c->primal <= NOTHING_LEFT * vxs_loss_value(loss, zeros);
}

/* SAIF with one feature that is 0. */
vxs_status vxs_fit_columns(const vxs_loss *loss, const double *columns, size_t count, double *b,
                           bool *converged, vxs_error *err)
{
    const vxs_method_settings settings = { .tol = 1e-9 };
    float *nothing = vxs_alloc(loss->n, sizeof(*nothing), err);
    double *zeros = vxs_alloc(loss->n, sizeof(*zeros), err);
    vxs_design *design = NULL;
    vxs_solver *solver = NULL;
    vxs_solution fit;
    vxs_status status = nothing && zeros ? VXS_OK : VXS_FAILED;
    if (!status)
        status = vxs_dense_new(nothing, loss->n, 1, 1, &design, err);
    vxs_problem problem = {
        .design = design, .loss = *loss, .covariates = columns, .covariate_count = count
    };
    if (!status)
        status = vxs_solver_new(NULL, vxs_method_solved_by(&vxs_lasso_kind), &problem, &settings,
                                &solver, err);
    if (!status)
        status = vxs_solver_fit(solver, 1, &fit, err);
    for (size_t k = 0; k < count && !status; k++)
        b[k] = fit.covariate_coefficients[k];
    if (!status && converged)
        *converged = has_fitted(loss, &fit.certificate, zeros);
    if (!status)
        vxs_solution_release(&fit);
    vxs_solver_free(solver);
    vxs_design_free(design);
    free(nothing);
    free(zeros);
    return status;
}
