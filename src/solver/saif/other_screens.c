/* other_screens.c - other screening rules, for comparison.
 *
 * none      all features are in the set
 * dynamic   gap balls remove features from the full set
 * dpp       sequential: a ball around the next dual optimum from the last solution (enhanced dual
 *           polytope projection); squared loss and squared hinge
 * strong    sequential strong rule: features whose gradient could not reach lambda if it changed no
 *           faster than lambda. Not safe: features that the certificate finds missing are added and
 *           counted
 * vi        sequential: the dome of a variational inequality (vi.c); squared loss and squared
 *           hinge. Between rounds of descent domes remove more
 *
 * dpp and vi read no column: products with their centers are combinations of those of the target
 * and of the last solution.
 *
 * They share everything with SAIF except how features enter. Before each lambda features that the
 * rule rejects leave the set, unless they have weight. Between fits the cached correlations are
 * those of -f' at the last solution.
 * Source    Wang et al. 2013 (DPP, EDPP); Tibshirani et al. 2012 (strong rules); dissertation Table
 *           2.1 */
#include "solver/saif/lasso.h"

#include <cblas.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#define MAX_ITERATIONS 100000

/* ---- The dome -------------------------------------------------------------------------------- */

/* The region of `lambda` from a point whose correlations, of columns in `set` or all, are at most
 * `largest`. */
static void find_region(vxs_lasso *l, double at, double largest, double lambda,
                        vxs_vi_region *region)
{
    vxs_vi_point point = { &l->set, l->theta, at, largest > 0 ? 1 / largest : INFINITY };
    vxs_vi_region_init(&l->vi, &point, lambda, region);
}

static bool may_have_weight(double bound)
{
    return !(bound < 1 - VXS_MARGIN);
}

/* Removes the features of the set that have weight 0 and are not kept. */
static void remove_others(vxs_lasso *l)
{
    vxs_working_set *a = &l->set;
    bool all = true;
    for (size_t k = 0; k < a->count; k++) {
        l->keep[k] = l->keep[k] || a->w[a->q + k] != 0;
        l->in_set[a->set[k]] = l->keep[k];
        all = all && l->keep[k];
    }
    if (!all)
        vxs_working_set_keep(a, l->keep);
}

static bool has_weights(const vxs_working_set *a)
{
    bool any = false;
    for (size_t k = 0; k < a->count && !any; k++)
        any = a->w[a->q + k] != 0;
    return any;
}

/* Products of the target, from the first scan, and of the steepest column if it is needed. The
 * correlations are those of the empty model or later. */
static vxs_status prepare_vi(vxs_lasso *l, bool needs_steepest, vxs_error *err)
{
    size_t steepest = 0;
    vxs_status status =
        l->vi.n > 0 ? VXS_OK
                    : vxs_vi_init(&l->vi, &l->set, l->xi_empty, l->correlations.estimate, err);
    if (status || l->vi.has_steepest || !needs_steepest)
        return status;
    for (size_t j = 1; j < l->p; j++)
        steepest = vxs_lasso_correlation(l, j) > vxs_lasso_correlation(l, steepest) ? j : steepest;
    double sign = l->correlations.estimate[steepest] < 0 ? -1 : 1;
    vxs_vi_set_steepest(&l->vi, &l->set, steepest, sign);
    return VXS_OK;
}

/* The correlations are those of -f' at the last lambda. */
static vxs_status bound_by_dome(vxs_lasso *l, double lambda, double *bound, vxs_error *err)
{
    double largest = 0, last = l->last_lambda;
    vxs_vi_region region;
    vxs_status status = prepare_vi(l, !has_weights(&l->set), err);
    if (status)
        return status;
    for (size_t j = 0; j < l->p; j++)
        largest = fmax(largest, vxs_lasso_correlation(l, j));
    find_region(l, last, largest / last, lambda, &region);
    for (size_t j = 0; j < l->p; j++)
        bound[j] = vxs_vi_bound(&l->vi, &region, j, l->correlations.estimate[j] / last);
    return VXS_OK;
}

/* What the domes of a lambda are made for. */
typedef struct {
    vxs_lasso *lasso;
    double lambda;
} dome_of;

static void screen_by_dome(void *screened, const vxs_state *state)
{
    const dome_of *of = screened;
    vxs_lasso *l = of->lasso;
    vxs_working_set *a = &l->set;
    vxs_vi_region region;
    double largest = 0;
    (void)state;
    for (size_t k = 0; k < a->count; k++) {
        double c = vxs_working_set_correlation(a, k);
        largest = fmax(largest, l->problem.nonnegative ? c : fabs(c));
    }
    find_region(l, of->lambda, largest, of->lambda, &region);
    for (size_t k = 0; k < a->count; k++) {
        double c = vxs_working_set_correlation(a, k);
        l->keep[k] = may_have_weight(vxs_vi_bound(&l->vi, &region, a->set[k], c));
    }
    remove_others(l);
}

static void screen_by_ball(void *screened, const vxs_state *state)
{
    vxs_lasso_screen(((const dome_of *)screened)->lasso, state);
}

/* ---- Between lambdas ------------------------------------------------------------------------- */

/* Products of all columns with the center of a ball, and its radius. For any share
 * a >= 0 of the normal v1 at the last optimum, theta + (v2 - a v1) / 2 is the center of a ball of
 * radius |v2 - a v1| / 2 around the next, v2 = target / lambda - theta; the best share makes it
 * EDPP's. An error of theta counts max(1, a) times. */
static vxs_status bound_by_ball(vxs_lasso *l, double lambda, double *bound, vxs_error *err)
{
    size_t n = l->n;
    bool at_start = l->last_lambda >= l->lambda_max * (1 - 1e-12);
    double last = at_start ? l->lambda_max : l->last_lambda, square = 0, along = 0, left = 0;
    vxs_status status = prepare_vi(l, at_start, err);
    if (status)
        return status;
    const double *target = l->vi.target;
    double *normal = l->vi.normal, *way = l->vi.center;
    for (size_t i = 0; i < n; i++) {
        double theta = at_start ? l->xi_empty[i] / last : l->theta[i]; /* of the last solution */
        normal[i] = at_start ? l->vi.steepest[i] : target[i] / last - theta;
        way[i] = target[i] / lambda - theta;
        square += normal[i] * normal[i];
        along += normal[i] * way[i];
    }
    double share = square > 0 ? fmax(0, along / square) : 0;
    for (size_t i = 0; i < n; i++)
        left += (way[i] - share * normal[i]) * (way[i] - share * normal[i]);
    double radius = sqrt(left) / 2 + fmax(1, share) * l->last_radius;
    for (size_t j = 0; j < l->p; j++) {
        double of_theta = l->correlations.estimate[j] / last, of_target = l->vi.target_products[j];
        double of_normal = at_start ? l->vi.steepest_products[j] : of_target / last - of_theta;
        double of_center = (of_theta + of_target / lambda - share * of_normal) / 2;
        bound[j] = fabs(of_center) + radius * l->vi.norms[j];
    }
    return VXS_OK;
}

/* As if the gradient changed no faster than lambda: a guess. */
static void guess(const vxs_lasso *l, double lambda, double *bound)
{
    for (size_t j = 0; j < l->p; j++)
        bound[j] = (vxs_lasso_correlation(l, j) + l->last_lambda - lambda) / lambda;
}

/* Bounds of the correlations at the optimum of lambda by the rule. */
static vxs_status bound_by_rule(vxs_lasso *l, double lambda, double *bound, vxs_error *err)
{
    int screen = l->settings.saif.screen;
    bool all = screen == VXS_SCREEN_NONE || screen == VXS_SCREEN_DYNAMIC;
    if (screen == VXS_SCREEN_STRONG)
        guess(l, lambda, bound);
    for (size_t j = 0; j < l->p && all; j++)
        bound[j] = INFINITY;
    return screen == VXS_SCREEN_DPP  ? bound_by_ball(l, lambda, bound, err)
           : screen == VXS_SCREEN_VI ? bound_by_dome(l, lambda, bound, err)
                                     : VXS_OK;
}

/* Lists the features outside the set that may have weight at lambda, and removes those that cannot
 * from it; returns how many the rule rejects. */
static vxs_status choose(vxs_lasso *l, double lambda, size_t *count, size_t *rejected,
                         vxs_error *err)
{
    double *bound = l->correlations.some;
    *count = 0;
    *rejected = l->p;
    if (!(l->lambda_max > 0)) /* the empty model, at every lambda */
        return VXS_OK;
    vxs_status status = bound_by_rule(l, lambda, bound, err);
    for (size_t j = 0; j < l->p && !status; j++) {
        bool may = may_have_weight(bound[j]);
        *rejected -= may;
        if (may && !l->in_set[j])
            l->order[(*count)++] = j;
    }
    for (size_t k = 0; k < l->set.count && !status; k++)
        l->keep[k] = may_have_weight(bound[l->set.set[k]]);
    if (!status)
        remove_others(l);
    return status;
}

/* ---- One lambda ------------------------------------------------------------------------------ */

/* Adds features outside that exceed 1. */
static vxs_status mend(vxs_lasso *l, const vxs_state *state, size_t *count, vxs_error *err)
{
    double level = (1 + VXS_MARGIN) / fabs(state->scale);
    *count = 0;
    for (size_t j = 0; j < l->p; j++)
        if (!l->in_set[j] && vxs_lasso_correlation(l, j) > level)
            l->order[(*count)++] = j;
    return vxs_lasso_add(l, *count, err);
}

/* Scans all columns: for the certificate, missing features, and the next lambda's rule. */
static void scan_all(vxs_lasso *l, double lambda, vxs_state *full)
{
    double max_correlation = 0;
    vxs_design_scan(l->problem.design, l->theta, 1, l->correlations.estimate);
    vxs_lasso_update_laplacian(l, lambda);
    for (size_t j = 0; j < l->p && l->laplacian_gradient; j++)
        l->correlations.estimate[j] -= l->laplacian_gradient[j];
    for (size_t k = 0; k < l->set.count; k++)
        l->correlations.estimate[l->set.set[k]] = vxs_working_set_correlation(&l->set, k);
    vxs_cached_correlations_replaced(&l->correlations);
    for (size_t j = 0; j < l->p; j++)
        max_correlation = fmax(max_correlation, vxs_lasso_correlation(l, j));
    vxs_working_set_dual(&l->set, l->theta, lambda, max_correlation, full);
}

static vxs_status check_rule(const vxs_lasso *l, vxs_error *err)
{
    const vxs_problem *p = &l->problem;
    if (l->settings.saif.screen == VXS_SCREEN_DPP &&
        (!p->loss.kind->parabola || p->loss.u || l->set.ridge > 0 || l->laplacian_gradient ||
         p->nonnegative))
        return vxs_fail(err, VXS_MISUSE,
                        "--screen dpp is for the squared loss and the squared hinge, without "
                        "weights of subjects, --ridge, --laplacian and --nonnegative");
    if (l->settings.saif.screen == VXS_SCREEN_VI && !p->loss.kind->parabola)
        return vxs_fail(err, VXS_MISUSE,
                        "--screen vi is for the squared loss and the squared hinge, not for "
                        "--loss %s",
                        p->loss.kind->name);
    return VXS_OK;
}

/* The rule's features enter, and what it removes meanwhile is set up. */
static vxs_status begin_with_rule(vxs_lasso *l, dome_of *of, vxs_certificate *c, vxs_error *err)
{
    int screen = l->settings.saif.screen;
    size_t count = 0;
    double start = vxs_seconds();
    vxs_status status = check_rule(l, err);
    if (!status)
        status = choose(l, of->lambda, &count, &c->screening.before, err);
    if (!status)
        status = vxs_lasso_add(l, count, err);
    if (screen == VXS_SCREEN_DYNAMIC)
        l->set.screen = screen_by_ball;
    else if (screen == VXS_SCREEN_VI && l->vi.n > 0)
        l->set.screen = screen_by_dome;
    l->set.screened = of;
    c->screening.screening = vxs_seconds() - start;
    return status;
}

/* Shares and seconds of the dome, for the certificate; what it rejected before is known. */
static void note_screening(const vxs_lasso *l, double start, vxs_screening *s)
{
    size_t outside = l->p - l->set.count;
    if (l->settings.saif.screen != VXS_SCREEN_VI) {
        *s = (vxs_screening){ .terms = 0 };
        return;
    }
    s->terms = l->p;
    s->after = outside > s->before ? outside : s->before;
    s->solving = vxs_seconds() - start - s->screening;
}

vxs_status vxs_screen(vxs_lasso *l, double lambda, vxs_certificate *c, vxs_state *full,
                      vxs_error *err)
{
    double target = l->settings.tol * l->empty, inner = target / 2;
    double best = INFINITY, start = vxs_seconds();
    int iterations = 0;
    size_t count = 0;
    vxs_state state;
    dome_of of = { l, lambda };
    vxs_status status = begin_with_rule(l, &of, c, err);
    for (c->iterations = 1; c->iterations < MAX_ITERATIONS && !status; c->iterations++) {
        status = vxs_working_set_solve(&l->set, lambda, inner, l->theta, &state, err);
        if (!status)
            status = vxs_check_interrupted(l->context, err);
        if (status)
            break;
        if (l->settings.saif.screen == VXS_SCREEN_DYNAMIC)
            vxs_lasso_screen(l, &state);
        bool stalled = vxs_has_stalled(state.gap, &best, &iterations);
        if (state.gap > inner && !stalled)
            continue; /* more iterations */
        scan_all(l, lambda, full);
        status = mend(l, &state, &count, err);
        c->missed += count;
        if (count == 0)
            break;
    }
    for (size_t j = 0; j < l->p; j++) /* of -f', for the next lambda */
        l->correlations.estimate[j] *= lambda;
    vxs_cached_correlations_replaced(&l->correlations);
    l->last_radius = full->radius;
    if (!l->set.is_gradient)
        l->last_radius += fabs(1 - full->scale) * cblas_dnrm2((int)l->n, l->theta, 1);
    l->set.screen = NULL;
    l->set.screened = NULL;
    note_screening(l, start, &c->screening);
    return status;
}
