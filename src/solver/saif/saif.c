/* saif.c - SAIF, safe active incremental features: a working set that grows by the most violated
 * constraints and shrinks by safe screening, until no feature outside can enter. The certificate is
 * of the full problem.
 *
 * Problem   min over w, b: sum_i u_i f(x_i'w + z_i'b, y_i) + lambda |w|_1 + ridge |w|^2 / 2
 * Dual      max -sum_i u_i f*(-lambda theta_i / u_i) over |x_j'theta| <= 1, Z'theta = 0 (without
 *           ridge)
 * Optimal   theta = -f'/lambda, x_j'theta = sign(w_j) where w_j is not 0
 * Ball      |theta* - theta| <= sqrt(2 gap u / gamma) / lambda
 * DEL       |x_j'theta| + |x_j| radius < 1: weight 0 in the restricted problem
 * ADD       the h = c log((md + mx) / lambda) log p features with the largest correlations among
 *           those that may exceed 1 in a ball of delta times the radius, each only while fewer than
 *           zeta h others could overtake it; delta increases to 1
 * Stops     the gap over all columns is below the tolerance
 * Cost      passes over X, reduced by cached correlations (cached_correlations.c), and exact steps
 *           of the size of the working set
 * Threads   those of the scan and of BLAS
 * Source    dissertation chapter 2, algorithm 1; corrected in spec/saif.md: max(0, .) in ADD, the
 *           gap of the full problem instead of the restricted one, a margin for rounding
 *
 * Beyond the source: warm start over intermediate lambdas, or thresholds of the loss, and a
 * second-level working set: candidates are scanned repeatedly before all columns are. With a
 * Laplacian supports have thousands of features and neighbors enter together: sets grow by a share
 * of their size, by features near the bound as well, and hold all features once a fourth of them
 * has nonzero weight.
 */
#include "solver/saif/lasso.h"

#include <float.h>
#include <math.h>
#include <string.h>

#define GROWTH         2.0 /* c: growth of the working set */
#define GROWING        2   /* with a Laplacian: share of the set that may enter at once */
#define ENTER          0.9 /* with a Laplacian: share of the bound at which features enter */
#define OVERTAKERS     1.0 /* zeta: features that could overtake one that enters, relative to h */
#define MAX_ITERATIONS 1000
#define STAGE          0.31 /* ratio of intermediate lambdas */
#define FALL           2.0  /* ratio of intermediate thresholds of the loss */
#define FAR            16.0 /* thresholds that residuals exceed that often are far below them */
#define NEAR           0.8  /* share of the bound at which features become candidates */
#define FEW            256  /* candidates, at least */
#define FEW_SHARE      64   /* or this part of the features, while supports are small */
#define FEW_A_SUBJECT  8    /* besides FEW, at most: supports have no more features than subjects */
#define BINS           256
#define ROUGH          1e-4 /* gap at intermediate lambdas */

/* ---- ADD ------------------------------------------------------------------------------------- */

static size_t growth_size(const vxs_lasso *l, double lambda)
{
    double p = (double)l->p;
    double h = ceil(GROWTH * log((l->median + l->lambda_max) / lambda) * log(p > 2 ? p : 2));
    size_t many = h < 1 ? 1 : (size_t)h;
    /* With a Laplacian sets grow by a share of their size; with a ridge large ones double. */
    size_t share = l->laplacian_gradient              ? l->set.count / GROWING
                   : vxs_working_set_is_wide(&l->set) ? l->set.count
                                                      : 0;
    return share > many ? share : many;
}

/* A heap of features with the smallest correlation on top; `size` has their correlations. */
static void place(vxs_lasso *l, double *size, size_t at, size_t j, double of_j)
{
    l->order[at] = j;
    size[at] = of_j;
}

static void sift_up(vxs_lasso *l, double *size, size_t at, size_t j, double of_j)
{
    for (; at > 0 && size[(at - 1) / 2] > of_j; at = (at - 1) / 2)
        place(l, size, at, l->order[(at - 1) / 2], size[(at - 1) / 2]);
    place(l, size, at, j, of_j);
}

static void sift_down(vxs_lasso *l, double *size, size_t count, size_t j, double of_j)
{
    size_t at = 0, child = 1;
    while (child < count) {
        child += child + 1 < count && size[child + 1] < size[child];
        if (size[child] >= of_j)
            break;
        place(l, size, at, l->order[child], size[child]);
        at = child;
        child = 2 * at + 1;
    }
    place(l, size, at, j, of_j);
}

/* Moves the h largest correlations of the first `count` features of `order` to the front. */
static size_t select_top(vxs_lasso *l, size_t count, size_t h)
{
    double *size = l->correlations.some;
    if (h >= count)
        return count;
    for (size_t k = 0; k < h; k++)
        sift_up(l, size, k, l->order[k], vxs_lasso_correlation(l, l->order[k]));
    for (size_t k = h; k < count && h > 0; k++) {
        double of_k = vxs_lasso_correlation(l, l->order[k]);
        if (of_k > size[0])
            sift_down(l, size, h, l->order[k], of_k);
    }
    return h;
}

/* Of the chosen h, those that fewer than zeta h others could overtake within the ball; features
 * that could overtake any of them are listed behind. */
static size_t drop_uncertain(vxs_lasso *l, size_t h, double scale, double radius)
{
    size_t limit = (size_t)ceil(OVERTAKERS * (double)h), kept = 0, listed = h;
    double *lowest = l->correlations.some, least = INFINITY;
    for (size_t k = 0; k < h; k++) {
        double norm = vxs_lasso_norm(l, l->order[k]);
        lowest[k] = fmax(0, scale * vxs_lasso_correlation(l, l->order[k]) - norm * radius);
        least = fmin(least, lowest[k]);
    }
    vxs_cached_correlations_list(&l->correlations, (least - l->longest * radius) / scale);
    for (size_t k = 0; k < l->correlations.near_count && listed < l->p; k++) {
        size_t j = l->correlations.near[k];
        if (!l->in_set[j] &&
            scale * vxs_lasso_correlation(l, j) + vxs_lasso_norm(l, j) * radius >= least)
            l->order[listed++] = j;
    }
    for (size_t k = 0; k < h; k++) {
        size_t others = 0;
        for (size_t c = h; c < listed && others <= limit; c++) {
            size_t j = l->order[c];
            others +=
                scale * vxs_lasso_correlation(l, j) + vxs_lasso_norm(l, j) * radius >= lowest[k];
        }
        if (others <= limit) /* counts itself */
            l->order[kept++] = l->order[k];
    }
    return kept;
}

/* Lists features outside the set that may exceed the bound within the ball, by estimates. */
static size_t list_candidates(vxs_lasso *l, double level, double slack)
{
    size_t count = 0;
    vxs_cached_correlations_list(&l->correlations, level - slack * l->longest);
    for (size_t k = 0; k < l->correlations.near_count; k++) {
        size_t j = l->correlations.near[k];
        double most = vxs_lasso_correlation(l, j) + (double)l->correlations.error_bound[j] +
                      slack * vxs_lasso_norm(l, j);
        l->order[count] = j; /* without branches: a third of the time */
        count += !l->in_set[j] & (most >= level);
    }
    return count;
}

static size_t count_certain(const vxs_lasso *l, double level, size_t count)
{
    size_t certain = 0;
    for (size_t k = 0; k < count; k++) {
        size_t j = l->order[k];
        certain += vxs_lasso_correlation(l, j) - (double)l->correlations.error_bound[j] >= level;
    }
    return certain;
}

/* Keeps those of the first `count` features of `order` that exceed the bound: for certain, or
 * possibly within the ball. */
static size_t keep_candidates(vxs_lasso *l, double level, double slack, bool certain, size_t count)
{
    size_t kept = 0;
    for (size_t k = 0; k < count; k++) {
        size_t j = l->order[k];
        double doubt = (double)l->correlations.error_bound[j];
        double most =
            vxs_lasso_correlation(l, j) + (certain ? -doubt : slack * vxs_lasso_norm(l, j));
        l->order[kept] = j;
        kept += most >= level;
    }
    return kept;
}

/* ADD. Reads no column if enough features exceed 1 by cached correlations. */
static vxs_status add_members(vxs_lasso *l, double lambda, const vxs_state *state, double radius,
                              size_t *candidates, size_t *added, vxs_error *err)
{
    double scale = fabs(state->middle), level = (1 - VXS_MARGIN) / scale, slack = radius / scale;
    size_t h = growth_size(l, lambda), count = list_candidates(l, level, slack);
    bool certain = count_certain(l, level, count) >= (h + 3) / 4;
    if (!certain)
        vxs_cached_correlations_refresh_some(&l->correlations, l->theta, level, slack, l->order,
                                             count);
    count = keep_candidates(l, level, slack, certain, count);
    *candidates = count;
    count = select_top(l, count, h);
    *added = radius > 0 ? drop_uncertain(l, count, scale, radius) : count;
    return vxs_lasso_add(l, *added, err);
}

/* After convergence on the set every feature that exceeds 1 enters. */
static vxs_status add(vxs_lasso *l, double lambda, const vxs_state *state, double delta,
                      bool solved, size_t *candidates, size_t *added, vxs_error *err)
{
    vxs_status status =
        add_members(l, lambda, state, delta * state->middle_radius, candidates, added, err);
    if (!status && *added == 0 && *candidates > 0 && solved)
        status = add_members(l, lambda, state, 0, candidates, added, err);
    return status;
}

/* ---- Candidates: a second-level working set ---------------------------------------------------
 *
 * The features outside with the largest correlations: few enough to be scanned repeatedly, so that
 * all columns are scanned only for a solution that is optimal on thousands of them. */

/* Bounds of all candidates at theta, from which later moves are measured. Features of the set are
 * not bounded, and may leave. */
static void set_candidate_bounds(vxs_lasso *l)
{
    memcpy(l->candidate_theta, l->theta, l->n * sizeof(*l->theta));
    for (size_t k = 0; k < l->candidate_count; k++) {
        size_t j = l->candidates[k];
        double most = fabs(l->correlations.estimate[j]) + (double)l->correlations.error_bound[j];
        if (l->laplacian_gradient)
            l->candidate_laplacian[k] = l->laplacian_gradient[j];
        l->candidate_bound[k] = l->in_set[j] ? INFINITY : most;
    }
}

static size_t few_candidates(const vxs_lasso *l)
{
    size_t share = l->p / FEW_SHARE, most = FEW + FEW_A_SUBJECT * l->n;
    return share < FEW ? FEW : share < most ? share : most;
}

static size_t bin_of(double correlation, double least, double bins)
{
    double bin = (correlation - least) * bins;
    return bin > 0 ? bin < BINS - 1 ? (size_t)bin : BINS - 1 : 0;
}

/* Keeps at most `most` of the first `count` features of `order`, those with large correlations: by
 * a histogram, since which of two that are nearly equal is kept does not matter. */
static size_t keep_largest(vxs_lasso *l, size_t count, size_t most)
{
    double *size = l->correlations.some, least = INFINITY, largest = 0;
    size_t bins[BINS] = { 0 }, kept = 0, full = BINS, above = 0;
    if (count <= most)
        return count;
    for (size_t k = 0; k < count; k++) {
        size[k] = vxs_lasso_correlation(l, l->order[k]);
        least = size[k] < least ? size[k] : least;
        largest = size[k] > largest ? size[k] : largest;
    }
    double range = BINS / fmax(largest - least, DBL_MIN);
    for (size_t k = 0; k < count; k++)
        bins[bin_of(size[k], least, range)]++;
    while (above + bins[full - 1] <= most)
        above += bins[--full];
    size_t left = most - above; /* of the bin that is too full */
    for (size_t k = 0; k < count; k++) {
        size_t bin = bin_of(size[k], least, range);
        bool first = bin + 1 == full && left > 0;
        left -= first;
        l->order[kept] = l->order[k];
        kept += bin >= full || first;
    }
    return kept;
}

/* Candidates for a lambda that is `ratio` of the last one: features near the bound. */
static void choose_candidates(vxs_lasso *l, double ratio)
{
    size_t count = 0, most = l->candidate_capacity;
    double least = NEAR * ratio * l->level;
    if (!l->laplacian_gradient && !vxs_working_set_is_wide(&l->set) && most > FEW)
        most = few_candidates(l);
    size_t listed = vxs_cached_correlations_likely(&l->correlations, least, l->order);
    for (size_t k = 0; k < listed; k++) {
        size_t j = l->order[k];
        double bound = vxs_lasso_correlation(l, j) + (double)l->correlations.error_bound[j];
        l->order[count] = j;
        count += !l->in_set[j] & (bound >= least);
    }
    l->candidate_count = keep_largest(l, count, most);
    memcpy(l->candidates, l->order, l->candidate_count * sizeof(*l->candidates));
    set_candidate_bounds(l);
}

/* Lists candidates outside the set that may exceed the bound, given their last bound and the
 * distance theta has moved since; `all` if that is most of them. */
static size_t list_near_candidates(vxs_lasso *l, double level, bool *all)
{
    size_t count = 0, outside = 0;
    double moved = 0;
    for (size_t i = 0; i < l->n; i++)
        moved += (l->theta[i] - l->candidate_theta[i]) * (l->theta[i] - l->candidate_theta[i]);
    moved = sqrt(moved);
    for (size_t k = 0; k < l->candidate_count; k++) {
        size_t j = l->candidates[k];
        outside += !l->in_set[j];
        double pulled =
            l->laplacian_gradient ? fabs(l->laplacian_gradient[j] - l->candidate_laplacian[k]) : 0;
        if (!l->in_set[j] && l->candidate_bound[k] + l->norms[j] * moved + pulled >= level)
            l->order[count++] = j;
    }
    *all = 2 * count > outside;
    if (!*all)
        return count;
    count = 0;
    for (size_t k = 0; k < l->candidate_count; k++)
        if (!l->in_set[l->candidates[k]])
            l->order[count++] = l->candidates[k];
    return count;
}

/* Adds candidates that exceed 1, at most h. */
static vxs_status add_candidates(vxs_lasso *l, double lambda, double scale, size_t *added,
                                 vxs_error *err)
{
    bool all;
    size_t count = 0, exceed = 0,
           listed =
               list_near_candidates(l, (l->laplacian_gradient ? ENTER : 1) / fabs(scale), &all);
    vxs_design_scan_some(l->problem.design, l->order, listed, l->theta, l->correlations.some);
    for (size_t k = 0; k < listed; k++) {
        size_t j = l->order[k];
        vxs_cached_correlations_set(&l->correlations, j,
                                    l->correlations.some[k] -
                                        (l->laplacian_gradient ? l->laplacian_gradient[j] : 0));
        double correlation = vxs_lasso_correlation(l, j) * fabs(scale);
        exceed += correlation >= 1 + VXS_MARGIN;
        if (correlation >= (l->laplacian_gradient ? ENTER : 1 + VXS_MARGIN))
            l->order[count++] = j;
    }
    if (all)
        set_candidate_bounds(l);
    *added = exceed > 0 ? select_top(l, count, growth_size(l, lambda)) : 0;
    if (exceed > 0 && vxs_lasso_has_large_support(l)) {
        *added = 0;
        for (size_t j = 0; j < l->p; j++)
            if (!l->in_set[j])
                l->order[(*added)++] = j;
    }
    return vxs_lasso_add(l, *added, err);
}

/* The problem on set and candidates: DEL and ADD until no candidate enters. */
static vxs_status solve_candidates(vxs_lasso *l, double lambda, double target, vxs_state *state,
                                   vxs_error *err)
{
    vxs_status status = VXS_OK;
    int iterations = 0; /* rounding of the gap may let features enter and leave for
                         * ever */
    for (size_t added = 1; added > 0 && iterations < MAX_ITERATIONS && !status; iterations++) {
        status = vxs_working_set_solve(&l->set, lambda, target, l->theta, state, err);
        if (!status)
            status = vxs_check_interrupted(l->context, err);
        if (!status) {
            vxs_lasso_update_laplacian(l, lambda);
            vxs_lasso_screen(l, state);
        }
        if (!status)
            status = add_candidates(l, lambda, state->scale, &added, err);
    }
    return status;
}

/* ---- One lambda ------------------------------------------------------------------------------ */

/* Estimates the correlations of theta; those of the set are known. */
static void estimate_all(vxs_lasso *l, const vxs_state *state)
{
    l->level = 1 / fabs(state->scale);
    vxs_cached_correlations_estimate(&l->correlations, l->theta);
    for (size_t k = 0; k < l->set.count; k++)
        vxs_cached_correlations_set(&l->correlations, l->set.set[k],
                                    vxs_working_set_correlation(&l->set, k));
}

/* A rough solution on the way; candidates for the next lambda, which is `ratio` of this one. */
static vxs_status follow(vxs_lasso *l, double lambda, double tolerance, double ratio,
                         vxs_error *err)
{
    vxs_state state;
    vxs_status status = solve_candidates(l, lambda, tolerance, &state, err);
    if (status)
        return status;
    estimate_all(l, &state);
    vxs_cached_correlations_refresh_all(&l->correlations, l->theta, ratio * l->level);
    choose_candidates(l, ratio);
    return VXS_OK;
}

/* Warm start over intermediate lambdas, each with candidates of its own: those chosen from a
 * distant lambda are the wrong ones. */
static vxs_status follow_path(vxs_lasso *l, double lambda, vxs_error *err)
{
    double from = fmax(l->last_lambda, lambda), stages = ceil(log(lambda / from) / log(STAGE));
    vxs_status status = VXS_OK;
    choose_candidates(l, stages > 1 ? pow(lambda / from, 1 / stages) : lambda / from);
    for (double k = 1; k < stages && !status; k++) {
        double at = from * pow(lambda / from, k / stages);
        double next = from * pow(lambda / from, (k + 1) / stages);
        status = follow(l, at, ROUGH * l->empty, next / at, err);
    }
    return status;
}

/* Warm start over falling thresholds of the loss: most features that the solution has are in the
 * set before Newton's method sees few samples' curvature. The ratio of threshold and lambda, and
 * with it the level of the correlations, stays. */
static vxs_status follow_thresholds(vxs_lasso *l, double lambda, double from, vxs_error *err)
{
    double threshold = l->problem.loss.threshold, stages = ceil(log(from / threshold) / log(FALL));
    vxs_status status = VXS_OK;
    choose_candidates(l, 1);
    for (double k = stages; k > 0 && !status; k--) {
        double larger = pow(from / threshold, k / stages);
        l->problem.loss.threshold = threshold * larger;
        status = follow(l, lambda * larger, ROUGH * l->empty * larger, 1, err);
    }
    l->problem.loss.threshold = threshold;
    return status;
}

static vxs_status warm_start(vxs_lasso *l, double lambda, vxs_error *err)
{
    double from = vxs_lasso_large_residual(l);
    bool far = l->problem.loss.kind->has_threshold && from > FAR * l->problem.loss.threshold;
    return far ? follow_thresholds(l, lambda, from, err) : follow_path(l, lambda, err);
}

vxs_status vxs_saif(vxs_lasso *l, double lambda, vxs_certificate *c, vxs_state *full,
                    vxs_error *err)
{
    double target = l->settings.tol * l->empty, inner = 0.1 * target;
    double delta = fmin(1, lambda / l->last_lambda), best = INFINITY;
    int iterations = 0;
    vxs_state state;
    vxs_status status = warm_start(l, lambda, err);
    for (c->iterations = 0; c->iterations < MAX_ITERATIONS && !status; c->iterations++) {
        size_t candidates = 0, added = 0;
        status = solve_candidates(l, lambda, inner, &state, err);
        if (status)
            break;
        estimate_all(l, &state);
        bool solved = state.gap <= inner;
        status = add(l, lambda, &state, delta, solved, &candidates, &added, err);
        if (status)
            break;
        if (added > 0) {
            choose_candidates(l, 1);
            continue;
        }
        vxs_lasso_certify(l, lambda, full);
        if (full->gap <= target)
            break;
        if (vxs_has_stalled(state.gap, &best, &iterations) && state.gap > inner)
            break;
        if (candidates == 0 && delta < 1)
            delta = fmin(1, 10 * delta);
        else if (solved)
            inner /= 10; /* the ball is too large to order the features */
        if (inner < 1e-14 * l->empty)
            break;
    }
    c->iterations++; /* counts the last one */
    return status;
}
