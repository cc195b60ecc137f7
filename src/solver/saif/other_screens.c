/* other_screens.c - the other ways to keep features out, which are there to be compared with.
 *
 * none       all features are in, always
 * dynamic    all are in at first; gap balls take out those that provably have no weight
 * dpp        sequential: from the solution at the last lambda a ball around the next dual optimum
 *            (enhanced dual polytope projection); squared loss only
 * strong     sequential: features whose slope could not reach lambda if it changed no faster than
 *            lambda does. That is not so always: what the certificate finds missing comes back in,
 *            and is counted
 *
 * They share everything with SAIF but how features come in. Between two fits the scans' estimates
 * are exact values of -f' at the last solution. */
#include "solver/saif/lasso.h"

#include <cblas.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#define MOST_ROUNDS 100000

/* ---- Who is in at first ---------------------------------------------------------------------- */

static bool all_at_first(const vxs_lasso *l)
{
    return l->settings.saif.screen == VXS_SCREEN_NONE ||
           l->settings.saif.screen == VXS_SCREEN_DYNAMIC;
}

/* x_j'centre of the ball for all columns into `some`, and its radius. Squared loss: y - z at the
 * last solution is -f', and the empty model's is what is left of y without the free columns. */
static vxs_status dpp_ball(vxs_lasso *l, double lambda, double *radius, vxs_error *err)
{
    size_t n = l->n;
    int size = (int)n;
    bool at_start = l->last_lambda >= l->lambda_max * (1 - 1e-12);
    double last = at_start ? l->lambda_max : l->last_lambda,
           *v1 = vxs_alloc(3 * n, sizeof(*v1), err);
    if (!v1)
        return VXS_FAILED;
    double *v2 = v1 + n, *centre = v2 + n;
    for (size_t i = 0; i < n; i++) {
        double theta = at_start ? l->start[i] / last : l->theta[i]; /* of the last solution */
        centre[i] = theta;
        v1[i] = l->start[i] / last - theta;
        v2[i] = l->start[i] / lambda - theta;
    }
    if (at_start) { /* the normal is the steepest column's */
        size_t best = 0;
        for (size_t j = 1; j < l->p; j++)
            best = vxs_lasso_want(l, j) > vxs_lasso_want(l, best) ? j : best;
        vxs_design_fetch(l->problem.design, &best, 1, v1);
        if (l->scans.estimate[best] < 0)
            cblas_dscal(size, -1, v1, 1);
        vxs_active_project(&l->active, v1);
    }
    double square = cblas_ddot(size, v1, 1, v1, 1);
    double along = square > 0 ? fmax(0, cblas_ddot(size, v1, 1, v2, 1) / square) : 0;
    cblas_daxpy(size, -along, v1, 1, v2, 1);
    for (size_t i = 0; i < n; i++)
        centre[i] += v2[i] / 2;
    *radius = cblas_dnrm2(size, v2, 1) / 2 + 3 * l->last_radius;
    vxs_design_scan(l->problem.design, centre, 1, l->scans.some);
    free(v1);
    return VXS_OK;
}

/* Features that the rule leaves, into order. */
static vxs_status choose(vxs_lasso *l, double lambda, size_t *count, vxs_error *err)
{
    double radius = 0, least = 2 * lambda - l->last_lambda;
    bool dpp = l->settings.saif.screen == VXS_SCREEN_DPP;
    vxs_status status = dpp ? dpp_ball(l, lambda, &radius, err) : VXS_OK;
    *count = 0;
    for (size_t j = 0; j < l->p && !status; j++) {
        double value = l->problem.nonnegative ? l->scans.some[j] : fabs(l->scans.some[j]);
        bool stays = all_at_first(l) || (dpp ? value + radius * vxs_lasso_norm(l, j) >= 1 - VXS_EDGE
                                             : vxs_lasso_want(l, j) >= least);
        if (stays && !l->member[j])
            l->order[(*count)++] = j;
    }
    return status;
}

/* ---- One lambda ------------------------------------------------------------------------------ */

/* Features outside that exceed 1 after all come back in. */
static vxs_status mend(vxs_lasso *l, const vxs_state *state, size_t *count, vxs_error *err)
{
    double level = (1 + VXS_EDGE) / fabs(state->scale);
    *count = 0;
    for (size_t j = 0; j < l->p; j++)
        if (!l->member[j] && vxs_lasso_want(l, j) > level)
            l->order[(*count)++] = j;
    return vxs_lasso_enter(l, *count, err);
}

/* All columns are scanned, for the certificate, what is missing, and the next lambda's rule. */
static void scan_all(vxs_lasso *l, double lambda, vxs_state *full)
{
    double steepest = 0;
    vxs_design_scan(l->problem.design, l->theta, 1, l->scans.estimate);
    vxs_lasso_follow(l, lambda);
    for (size_t j = 0; j < l->p && l->pull; j++)
        l->scans.estimate[j] -= l->pull[j];
    for (size_t k = 0; k < l->active.count; k++)
        l->scans.estimate[l->active.set[k]] = vxs_active_correlation(&l->active, k);
    for (size_t j = 0; j < l->p; j++)
        steepest = fmax(steepest, vxs_lasso_want(l, j));
    vxs_active_dual(&l->active, l->theta, lambda, steepest, full);
}

static vxs_status check_rule(const vxs_lasso *l, vxs_error *err)
{
    const vxs_problem *p = &l->problem;
    if (l->settings.saif.screen == VXS_SCREEN_DPP &&
        (!p->loss.kind->squared || p->loss.u || l->active.ridge > 0 || l->pull || p->nonnegative))
        return vxs_fail(err, VXS_MISUSE,
                        "--screen dpp is for the squared loss, without weights of subjects, "
                        "--ridge, --laplacian and --nonnegative");
    return VXS_OK;
}

vxs_status vxs_screen(vxs_lasso *l, double lambda, vxs_certificate *c, vxs_state *full,
                      vxs_error *err)
{
    double target = l->settings.tol * l->empty, inner = target / 2;
    double best = INFINITY;
    int rounds = 0;
    size_t count = 0;
    vxs_state state;
    vxs_status status = check_rule(l, err);
    if (!status)
        status = choose(l, lambda, &count, err);
    if (!status)
        status = vxs_lasso_enter(l, count, err);
    for (c->iterations = 1; c->iterations < MOST_ROUNDS && !status; c->iterations++) {
        status = vxs_active_solve(&l->active, lambda, inner, l->theta, &state, err);
        if (!status)
            status = vxs_check_interrupted(l->context, err);
        if (status)
            break;
        if (l->settings.saif.screen == VXS_SCREEN_DYNAMIC)
            vxs_lasso_delete(l, &state);
        bool stuck = vxs_is_stuck(state.gap, &best, &rounds);
        if (state.gap > inner && !stuck)
            continue; /* more steps */
        scan_all(l, lambda, full);
        status = mend(l, &state, &count, err);
        c->missed += count;
        if (count == 0)
            break;
    }
    for (size_t j = 0; j < l->p; j++) /* of -f', for the next lambda */
        l->scans.estimate[j] *= lambda;
    l->last_radius = full->radius;
    return status;
}
