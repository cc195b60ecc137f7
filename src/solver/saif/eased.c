/* eased.c - continuation in the threshold of a loss that has one (Huber).
 *
 * Problem   where the threshold is far below the residuals, Newton steps see the curvature of a few
 *           samples only, and which these are changes from step to step
 * Method    thresholds fall by 4 from the largest residual, each solution the start of the next;
 *           threshold and lambda have one ratio, which leaves the dual point in place
 * Used      for the empty model, and where a restricted problem is not solved without it; saif.c
 *           does the same with the whole problem where thresholds are far below the residuals
 * Source    none */
#include "solver/saif/working_set.h"

vxs_status vxs_working_set_ease(vxs_working_set *a, double lambda, const double *z, double *theta,
                                vxs_error *err)
{
    const vxs_problem *problem = a->problem;
    vxs_problem eased = *problem;
    vxs_state state;
    vxs_status status = VXS_OK;
    double threshold = 0;
    void (*screen)(void *, const vxs_state *) = a->screen;
    a->problem = &eased;
    a->screen = NULL; /* its ball is not of this problem */
    while (!status && (threshold = vxs_loss_eased(&problem->loss, z, threshold)) > 0) {
        eased.loss.threshold = threshold;
        status = vxs_working_set_solve_once(a, lambda * threshold / problem->loss.threshold, 0,
                                            theta, &state, err);
    }
    a->problem = problem;
    a->screen = screen;
    return status;
}

/* Descent would take too long for all thresholds. */
vxs_status vxs_working_set_solve(vxs_working_set *a, double lambda, double target, double *theta,
                                 vxs_state *state, vxs_error *err)
{
    bool eases = a->problem->loss.kind->has_threshold && a->inner != VXS_INNER_DESCENT;
    vxs_status status = vxs_working_set_solve_once(a, lambda, target, theta, state, err);
    if (status || state->gap <= target || !eases)
        return status;
    status = vxs_working_set_ease(a, lambda, a->z, theta, err);
    return status ? status : vxs_working_set_solve_once(a, lambda, target, theta, state, err);
}
