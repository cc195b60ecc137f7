/* saif.c - SAIF, safe active incremental features: the problem is solved on a set of features that
 * grows by those most in want of a weight and shrinks by those that provably have none, until no
 * feature outside can matter. The certificate is of the full problem.
 *
 * Problem   sum u f(x'w + c'b) + lambda |w|_1 + ridge |w|^2 / 2 over w and b
 * Dual      -sum u f*(-lambda theta / u) over |x_j'theta| <= 1, c'theta = 0 (without ridge)
 * Ball      the dual optimum is nearer to a dual point than sqrt(2 gap u / gamma) / lambda
 * DEL       |x_j'theta| + |x_j| radius < 1: no weight in the sub-problem
 * ADD       h = c log((md + mx) / lambda) log p features that want it most, of those that may
 *           exceed 1 in a ball of delta times the radius, unless zeta h others may overtake
 *           them; delta grows to 1
 * Stop      the gap over all columns is below the tolerance
 * Cost      scans of X, which are remembered (cached_correlations.c), and exact steps of the set's
 *           size
 * Source    dissertation chapter 2; corrected: max(0, .) in ADD, the gap of the full problem
 *           instead of the sub-problem's, a margin for rounding
 *
 * Beyond the source: a fit far below the last lambda goes over solutions between, and a pool of
 * the features that want it most is scanned again and again before all columns are: a second
 * level of active set. Beside a Laplacian supports have thousands and pull their neighbors in: sets
 * grow by a share of themselves, by features near the level as well, and hold all features once a
 * fourth of them has a weight. */
#include "solver/saif/lasso.h"

#include <math.h>
#include <string.h>

#define GROWTH      2.0 /* c: features that enter at once */
#define GROWING     2   /* of the set, a share that may enter at once beside a Laplacian */
#define ENTER       0.9 /* of the level of those that enter, beside a Laplacian */
#define OVERTAKERS  1.0 /* zeta: others that may yet exceed one that enters, as a share of these */
#define MOST_ROUNDS 1000
#define STAGE       0.31 /* a fit goes on from a solution at lambda / STAGE */
#define NEAR        0.8  /* of the level of those that enter */
#define ROUGH       1e-4 /* gap of the solutions on the way */

/* ---- ADD ------------------------------------------------------------------------------------- */

static size_t how_many(const vxs_lasso *l, double lambda)
{
    double p = (double)l->p;
    double h = ceil(GROWTH * log((l->median + l->lambda_max) / lambda) * log(p > 2 ? p : 2));
    size_t many = h < 1 ? 1 : (size_t)h;
    /* Beside a Laplacian supports have thousands: they grow by a share of themselves. */
    return l->pull && l->active.count / GROWING > many ? l->active.count / GROWING : many;
}

/* A heap of features, the one with the least want on top. */
static void sift_up(vxs_lasso *l, size_t at, size_t j)
{
    for (; at > 0 && vxs_lasso_want(l, l->order[(at - 1) / 2]) > vxs_lasso_want(l, j);
         at = (at - 1) / 2)
        l->order[at] = l->order[(at - 1) / 2];
    l->order[at] = j;
}

static void sift_down(vxs_lasso *l, size_t count, size_t j)
{
    size_t at = 0, child = 1;
    while (child < count) {
        if (child + 1 < count &&
            vxs_lasso_want(l, l->order[child + 1]) < vxs_lasso_want(l, l->order[child]))
            child++;
        if (vxs_lasso_want(l, l->order[child]) >= vxs_lasso_want(l, j))
            break;
        l->order[at] = l->order[child];
        at = child;
        child = 2 * at + 1;
    }
    l->order[at] = j;
}

/* Of the first `count` features of `order`, the h that want a weight most come first. */
static size_t select_top(vxs_lasso *l, size_t count, size_t h)
{
    h = h < count ? h : count;
    for (size_t k = 0; k < h; k++)
        sift_up(l, k, l->order[k]);
    for (size_t k = h; k < count && h > 0; k++)
        if (vxs_lasso_want(l, l->order[k]) > vxs_lasso_want(l, l->order[0]))
            sift_down(l, h, l->order[k]);
    return h;
}

/* Of the chosen h, those that fewer than zeta h others could overtake, given the ball. Whoever
 * could overtake any of them is listed behind them first. */
static size_t drop_overtaken(vxs_lasso *l, size_t h, double scale, double radius)
{
    size_t limit = (size_t)ceil(OVERTAKERS * (double)h), kept = 0, listed = h;
    double *lowest = l->scans.some, least = INFINITY;
    for (size_t k = 0; k < h; k++) {
        double norm = vxs_lasso_norm(l, l->order[k]);
        lowest[k] = fmax(0, scale * vxs_lasso_want(l, l->order[k]) - norm * radius);
        least = fmin(least, lowest[k]);
    }
    for (size_t j = 0; j < l->p && listed < l->p; j++)
        if (!l->member[j] && scale * vxs_lasso_want(l, j) + vxs_lasso_norm(l, j) * radius >= least)
            l->order[listed++] = j;
    for (size_t k = 0; k < h; k++) {
        size_t others = 0;
        for (size_t c = h; c < listed && others <= limit; c++) {
            size_t j = l->order[c];
            others += scale * vxs_lasso_want(l, j) + vxs_lasso_norm(l, j) * radius >= lowest[k];
        }
        if (others <= limit) /* it is among them itself */
            l->order[kept++] = l->order[k];
    }
    return kept;
}

/* Features outside that may exceed the level within the ball, into order; `certain`: only those
 * that do whatever is not known of them. */
static size_t list_candidates(vxs_lasso *l, double level, double slack, bool certain)
{
    size_t count = 0;
    for (size_t j = 0; j < l->p; j++) {
        double doubt = (double)l->scans.doubt[j];
        double most = vxs_lasso_want(l, j) + (certain ? -doubt : slack * vxs_lasso_norm(l, j));
        if (!l->member[j] && most >= level)
            l->order[count++] = j;
    }
    return count;
}

/* ADD. Where enough are known to exceed 1 by what earlier scans say, nothing is read. */
static vxs_status add_members(vxs_lasso *l, double lambda, const vxs_state *state, double radius,
                              size_t *candidates, size_t *added, vxs_error *err)
{
    double scale = fabs(state->scale), level = (1 - VXS_EDGE) / scale, slack = radius / scale;
    size_t h = how_many(l, lambda), count = list_candidates(l, level, 0, true);
    if (count < (h + 3) / 4) {
        vxs_scans_settle(&l->scans, l->theta, level, slack);
        count = list_candidates(l, level, slack, false);
    }
    *candidates = count;
    count = select_top(l, count, h);
    *added = radius > 0 ? drop_overtaken(l, count, scale, radius) : count;
    return vxs_lasso_enter(l, *added, err);
}

/* Of a problem that is solved there is no order to wait for: whoever exceeds 1 enters. */
static vxs_status add(vxs_lasso *l, double lambda, const vxs_state *state, double delta,
                      bool solved, size_t *candidates, size_t *added, vxs_error *err)
{
    vxs_status status =
        add_members(l, lambda, state, delta * state->radius, candidates, added, err);
    if (!status && *added == 0 && *candidates > 0 && solved)
        status = add_members(l, lambda, state, 0, candidates, added, err);
    return status;
}

/* ---- The pool: a second level of active set ---------------------------------------------------
 *
 * The features outside that want a weight most. They are few enough to be scanned again and again,
 * so that a scan of all columns is made for a solution that is right on thousands of them. */

/* All of the pool are known at theta: that is what later moves are measured from. Members are not,
 * and may leave. */
static void remember_pool(vxs_lasso *l)
{
    memcpy(l->pool_theta, l->theta, l->n * sizeof(*l->theta));
    for (size_t k = 0; k < l->pool_count; k++) {
        size_t j = l->pool[k];
        double most = fabs(l->scans.estimate[j]) + (double)l->scans.doubt[j];
        if (l->pull)
            l->pool_pull[k] = l->pull[j];
        l->pool_reach[k] = l->member[j] ? INFINITY : most;
    }
}

/* For a lambda that is `ratio` of the one that the estimates are for: who is far from its level has
 * no part in it. */
static void choose_pool(vxs_lasso *l, double ratio)
{
    size_t count = 0;
    double least = NEAR * ratio * l->level;
    for (size_t j = 0; j < l->p; j++)
        if (!l->member[j] && vxs_lasso_want(l, j) + (double)l->scans.doubt[j] >= least)
            l->order[count++] = j;
    l->pool_count = select_top(l, count, l->pool_size);
    memcpy(l->pool, l->order, l->pool_count * sizeof(*l->pool));
    remember_pool(l);
}

/* Of the pool and outside: those that may exceed the level, by what was known of them and how far
 * theta has moved since, into order; all of them when that is most. */
static size_t list_pool(vxs_lasso *l, double level, bool *all)
{
    size_t count = 0, outside = 0;
    double moved = 0;
    for (size_t i = 0; i < l->n; i++)
        moved += (l->theta[i] - l->pool_theta[i]) * (l->theta[i] - l->pool_theta[i]);
    moved = sqrt(moved);
    for (size_t k = 0; k < l->pool_count; k++) {
        size_t j = l->pool[k];
        outside += !l->member[j];
        double pulled = l->pull ? fabs(l->pull[j] - l->pool_pull[k]) : 0;
        if (!l->member[j] && l->pool_reach[k] + l->norms[j] * moved + pulled >= level)
            l->order[count++] = j;
    }
    *all = 2 * count > outside;
    if (!*all)
        return count;
    count = 0;
    for (size_t k = 0; k < l->pool_count; k++)
        if (!l->member[l->pool[k]])
            l->order[count++] = l->pool[k];
    return count;
}

/* Those of the pool that exceed 1 enter, h at most. */
static vxs_status add_from_pool(vxs_lasso *l, double lambda, double scale, size_t *added,
                                vxs_error *err)
{
    bool all;
    size_t count = 0, exceed = 0, listed = list_pool(l, (l->pull ? ENTER : 1) / fabs(scale), &all);
    vxs_design_scan_some(l->problem.design, l->order, listed, l->theta, l->scans.some);
    for (size_t k = 0; k < listed; k++) {
        size_t j = l->order[k];
        vxs_scans_know(&l->scans, j, l->scans.some[k] - (l->pull ? l->pull[j] : 0));
        double want = vxs_lasso_want(l, j) * fabs(scale);
        exceed += want >= 1 + VXS_EDGE;
        if (want >= (l->pull ? ENTER : 1 + VXS_EDGE))
            l->order[count++] = j;
    }
    if (all)
        remember_pool(l);
    *added = exceed > 0 ? select_top(l, count, how_many(l, lambda)) : 0;
    if (exceed > 0 && vxs_lasso_is_wide(l)) {
        *added = 0;
        for (size_t j = 0; j < l->p; j++)
            if (!l->member[j])
                l->order[(*added)++] = j;
    }
    return vxs_lasso_enter(l, *added, err);
}

/* The problem on members and pool: DEL and ADD until the pool has no more to give. */
static vxs_status solve_with_pool(vxs_lasso *l, double lambda, double target, vxs_state *state,
                                  vxs_error *err)
{
    vxs_status status = VXS_OK;
    int rounds = 0; /* where rounding is in the way of the gap, members may come and go for ever */
    for (size_t added = 1; added > 0 && rounds < MOST_ROUNDS && !status; rounds++) {
        status = vxs_active_solve(&l->active, lambda, target, l->theta, state, err);
        if (!status)
            status = vxs_check_interrupted(l->context, err);
        if (!status) {
            vxs_lasso_follow(l, lambda);
            vxs_lasso_delete(l, state);
        }
        if (!status)
            status = add_from_pool(l, lambda, state->scale, &added, err);
    }
    return status;
}

/* ---- One lambda ------------------------------------------------------------------------------ */

/* The estimates are of theta; members are known from the sub-problem. */
static void look_around(vxs_lasso *l)
{
    vxs_scans_point(&l->scans, l->theta);
    for (size_t k = 0; k < l->active.count; k++)
        vxs_scans_know(&l->scans, l->active.set[k], vxs_active_correlation(&l->active, k));
}

/* Far below the last lambda the way leads over some between, each with a pool of its own: a pool
 * that is chosen from far away has the wrong features. */
static vxs_status approach(vxs_lasso *l, double lambda, vxs_error *err)
{
    double from = fmax(l->last_lambda, lambda), stages = ceil(log(lambda / from) / log(STAGE));
    vxs_status status = VXS_OK;
    choose_pool(l, stages > 1 ? pow(lambda / from, 1 / stages) : lambda / from);
    for (double k = 1; k < stages && !status; k++) {
        double at = from * pow(lambda / from, k / stages);
        double next = from * pow(lambda / from, (k + 1) / stages);
        vxs_state state;
        status = solve_with_pool(l, at, ROUGH * l->empty, &state, err);
        if (status)
            return status;
        look_around(l);
        l->level = 1 / fabs(state.scale);
        vxs_scans_renew(&l->scans, l->theta, next / at * l->level);
        choose_pool(l, next / at);
    }
    return status;
}

vxs_status vxs_saif(vxs_lasso *l, double lambda, vxs_certificate *c, vxs_state *full,
                    vxs_error *err)
{
    double target = l->settings.tol * l->empty, inner = 0.1 * target;
    double delta = fmin(1, lambda / l->last_lambda), best = INFINITY;
    int rounds = 0;
    vxs_state state;
    vxs_status status = approach(l, lambda, err);
    for (c->iterations = 0; c->iterations < MOST_ROUNDS && !status; c->iterations++) {
        size_t candidates = 0, added = 0;
        status = solve_with_pool(l, lambda, inner, &state, err);
        if (status)
            break;
        look_around(l);
        l->level = 1 / fabs(state.scale);
        bool solved = state.gap <= inner;
        status = add(l, lambda, &state, delta, solved, &candidates, &added, err);
        if (status)
            break;
        if (added > 0) {
            choose_pool(l, 1);
            continue;
        }
        vxs_lasso_certify(l, lambda, full);
        if (full->gap <= target)
            break;
        if (vxs_is_stuck(state.gap, &best, &rounds) && state.gap > inner)
            break;
        if (candidates == 0 && delta < 1)
            delta = fmin(1, 10 * delta);
        else if (solved)
            inner /= 10; /* the ball is too wide to tell who is to enter */
        if (inner < 1e-14 * l->empty)
            break;
    }
    c->iterations++; /* the last one as well */
    return status;
}
