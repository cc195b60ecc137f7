/* cutting_plane.c - the cutting-plane algorithm of the feature generating machine (FGM, MSLR).
 *
 * Problem   min over w, b: |w|_B^2 / 2 + C sum_i u_i f(x_i'w + z_i'b, y_i), w in feature blocks
 *           w_g; |w|_B^2 = min sum |w_g|^2 / d_g over 0 <= d_g <= 1, sum d_g <= B: |w|^2 for B or
 *           fewer blocks, (sum |w_g|)^2 / B for many of similar norm
 * Dual      max over alpha, Z'(alpha y) = 0: -1/2 (sum of the B largest |X_g'(alpha y)|^2) -
 *           G(alpha); squared hinge: G = sum alpha^2 / (2 C u) - alpha, alpha >= 0; logistic: G =
 *           sum C u (t log t + (1 - t) log(1 - t)), t = alpha / (C u); squared, for scores: the
 *           same with gradients C u (z - y) in place of -alpha y
 * Optimal   the blocks of positive weight have the B largest scores |X_g'(alpha y)|^2
 * Method    alpha = -C u y f'. Each iteration adds the most violated constraint, the B blocks with
 *           the largest scores (a cut), and solves the restricted problem 1/2 (sum over cuts
 *           |omega_h|)^2 + C sum u f (proximal_gradient.c, smoothing.c), warm started. Cuts without
 *           weight are dropped; the value decreases strictly, hence no cycles
 * Stops     duplicate cut with the restricted problem solved, or a duality gap below the tolerance:
 *           the scan for the next cut also bounds the primal value, as t alpha is dual feasible for
 *           every 0 <= t <= 1 when b is optimal
 * Cost      an iteration: one pass over X, and the restricted problem
 * Threads   those of the scan and of BLAS
 * Source    Tan, Tsang, Wang: Towards ultrahigh dimensional feature selection for big data,
 *           algorithms 1 and 2; the gap is spec/fgm.md's, not theirs */
#include "solver/cutting_plane/cutting_plane.h"

#include <cblas.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#define MAX_ITERATIONS     100000
#define FLOOR              1e-13 /* lower bound of the restricted target, relative */
#define SHRINKS            28    /* iterations of the search for the best multiple of alpha */
#define TARGET_SHARE       0.3   /* of the gap: target of the restricted problem */
#define MAX_STALLED        2     /* consecutive restricted problems without progress */
#define MIN_DECREASE       1e-13 /* of the empty model's value: progress; */
#define LOOSE_GAP          0.1   /* with a restricted gap above this, */
#define MIN_DECREASE_LOOSE 1e-3  /* this share of the value is */
#define CHUNK              32768 /* doubles that fit the cache while others stream */

/* ---- Memory ---------------------------------------------------------------------------------- */

void vxs_cutting_plane_release(vxs_solver *solver)
{
    vxs_cutting_plane *g = (vxs_cutting_plane *)solver;
    for (size_t h = 0; h < g->count; h++)
        vxs_cut_release(&g->cuts[h]);
    vxs_covariates_fit_release(&g->covariates_fit);
    vxs_measured_end(g);
    vxs_block_cache_release(&g->cache);
    vxs_dual_projection_release(&g->reach);
    void *const all[] = { g->cuts,     g->z,         g->prediction,
                          g->gradient, g->best,      g->dual_gradient,
                          g->feasible, g->curvature, g };
    for (size_t k = 0; k < sizeof(all) / sizeof(all[0]); k++)
        free(all[k]);
}

/* True if no block has a positive score, or the covariates fit the target. */
bool vxs_cutting_plane_is_empty(const vxs_solver *solver)
{
    const vxs_cutting_plane *g = (const vxs_cutting_plane *)solver;
    return g->explained || g->best_count == 0 || !(g->best[0].score > 0);
}

/* ---- Value and gradient ---------------------------------------------------------------------- */

double vxs_cutting_plane_penalty(const vxs_cutting_plane *g)
{
    double sum = 0;
    for (size_t h = 0; h < g->count; h++)
        sum += g->cuts[h].norm;
    return sum * sum / 2;
}

double vxs_cutting_plane_conjugate(const vxs_cutting_plane *g, const double *gradient, double t)
{
    double cost = g->budget.cost, sum = 0;
    const vxs_sample_loss *loss = g->problem.loss.kind->sample;
    for (size_t i = 0; i < g->n; i++) {
        double u = cost * vxs_loss_weight(&g->problem.loss, i);
        sum -= u > 0 ? u * loss->conjugate(t * gradient[i] / u, g->problem.loss.y[i],
                                           g->problem.loss.threshold)
                     : 0;
    }
    return sum;
}

/* X'gradient of the cached columns of places [place, end). */
static void block_gradients(vxs_cutting_plane *g, const double *gradient, size_t place, size_t end)
{
    const vxs_block_cache *p = &g->cache;
    size_t first = p->start[place], columns = p->start[end] - first;
    if (columns > 0)
        cblas_dgemv(CblasColMajor, CblasTrans, (int)g->n, (int)columns, 1, p->x + first * g->n,
                    (int)g->n, gradient, 1, 0, p->gradient + first, 1);
}

/* From z: prediction, value and gradient; of a measure its dual point, which predictions do not
 * determine. */
static void find_gradient(vxs_cutting_plane *g)
{
    if (g->bundle) {
        g->value = vxs_bundle_evaluate(g->bundle, g->z, g->prediction);
        memcpy(g->gradient, g->bundle->s, g->n * sizeof(*g->gradient));
        return;
    }
    g->value = g->budget.cost * vxs_covariates_fit_solve(&g->covariates_fit, g->z, g->prediction);
    vxs_loss_gradient(&g->problem.loss, g->prediction, g->gradient);
    cblas_dscal((int)g->n, g->budget.cost, g->gradient, 1);
}

void vxs_cutting_plane_evaluate(vxs_cutting_plane *g)
{
    find_gradient(g);
    block_gradients(g, g->gradient, 0, g->cache.count);
}

/* Adjacent blocks of a cut, before a place of the cache, are one matrix: the end of the run. */
static size_t contiguous_run(const vxs_cutting_plane *g, const vxs_cut *h, size_t k, size_t before,
                             size_t *columns)
{
    size_t end = k + 1;
    while (end < h->count && h->place[end] == h->place[end - 1] + 1 && h->place[end] < before)
        end++;
    *columns = g->cache.start[h->place[end - 1] + 1] - g->cache.start[h->place[k]];
    return end;
}

void vxs_cut_predict(const vxs_cutting_plane *g, const vxs_cut *h, const double *w, double *out)
{
    size_t columns = 0;
    memset(out, 0, g->n * sizeof(*out));
    for (size_t k = 0; k < h->count;) {
        const double *x = g->cache.x + g->cache.start[h->place[k]] * g->n;
        k = contiguous_run(g, h, k, SIZE_MAX, &columns);
        cblas_dgemv(CblasColMajor, CblasNoTrans, (int)g->n, (int)columns, 1, x, (int)g->n, w, 1, 1,
                    out, 1);
        w += columns;
    }
}

void vxs_cut_gather(const vxs_cutting_plane *g, const vxs_cut *h, const double *pool, double *out)
{
    size_t columns = 0;
    for (size_t k = 0; k < h->count; out += columns) {
        const double *from = pool + g->cache.start[h->place[k]];
        k = contiguous_run(g, h, k, SIZE_MAX, &columns);
        memcpy(out, from, columns * sizeof(*out));
    }
}

/* Adds X_h gradient over the blocks from `*k` on that lie before a place of the cache. */
static void add_products(const vxs_cutting_plane *g, const vxs_cut *h, size_t before, size_t *k,
                         double *products)
{
    size_t columns = 0;
    while (*k < h->count && h->place[*k] < before) {
        size_t first = g->cache.start[h->place[*k]];
        *k = contiguous_run(g, h, *k, before, &columns);
        cblas_dgemv(CblasColMajor, CblasNoTrans, (int)g->n, (int)columns, 1,
                    g->cache.x + first * g->n, (int)g->n, g->cache.gradient + first, 1, 1, products,
                    1);
    }
}

/* The end of the columns from `place` on that fit the processor's cache. */
static size_t end_of_chunk(const vxs_block_cache *p, size_t place)
{
    size_t end = place + 1;
    while (end < p->count && (p->start[end + 1] - p->start[place]) * p->n <= CHUNK)
        end++;
    return end;
}

void vxs_cutting_plane_evaluate_products(vxs_cutting_plane *g, size_t *seen, double *products)
{
    find_gradient(g);
    memset(seen, 0, g->count * sizeof(*seen));
    memset(products, 0, g->n * g->count * sizeof(*products));
    for (size_t place = 0, end = 0; place < g->cache.count; place = end) {
        end = end_of_chunk(&g->cache, place);
        block_gradients(g, g->gradient, place, end);
        for (size_t h = 0; h < g->count; h++)
            add_products(g, &g->cuts[h], end, &seen[h], products + h * g->n);
    }
}

/* max over 0 <= t <= 1 of the dual value at t alpha, by ternary search: it is concave in t, every
 * t alpha is feasible, and far from the optimum t = 1 is poor. */
static double best_dual_value(const vxs_cutting_plane *g, const double *gradient, double scores)
{
    double low = 0, high = 1;
    if (g->bundle)
        return vxs_bundle_bound(g->bundle, scores);
    for (int k = 0; k < SHRINKS; k++) {
        double a = low + (high - low) / 3, b = high - (high - low) / 3;
        double at_a = vxs_cutting_plane_conjugate(g, gradient, a) - a * a * scores / 2;
        double at_b = vxs_cutting_plane_conjugate(g, gradient, b) - b * b * scores / 2;
        *(at_a < at_b ? &low : &high) = at_a < at_b ? a : b;
    }
    double t = (low + high) / 2;
    double inner = vxs_cutting_plane_conjugate(g, gradient, t) - t * t * scores / 2;
    return fmax(0, fmax(inner,
                        vxs_cutting_plane_conjugate(g, gradient, 1) - scores / 2)); /* t = 0: 0 */
}

/* The gradient is orthogonal to the covariates up to rounding, which scores of columns far from 0
 * multiply: what the checker would not confirm. */
static const double *dual_point(vxs_cutting_plane *g)
{
    if (g->dual_gradient || g->bundle || g->reach.rank == 0)
        return g->dual_gradient ? g->dual_gradient : g->gradient;
    memcpy(g->feasible, g->gradient, g->n * sizeof(*g->feasible));
    vxs_loss_curvature(&g->problem.loss, g->prediction, g->curvature);
    return vxs_dual_projection_project(&g->reach, g->curvature, g->feasible) ? g->feasible
                                                                             : g->gradient;
}

/* Duality gap over all blocks, relative to the empty model's value. */
static vxs_status certify(vxs_cutting_plane *g, vxs_error *err)
{
    double sum = 0;
    vxs_cutting_plane_evaluate(g);
    const double *gradient = dual_point(g);
    g->primal = vxs_cutting_plane_penalty(g) + g->value;
    vxs_status status =
        vxs_blocks_best(g->budget.blocks, gradient, g->budget.budget, g->best, &g->best_count, err);
    for (size_t k = 0; k < g->best_count && !status; k++)
        sum += g->best[k].score;
    if (g->dual_gradient)
        block_gradients(g, gradient, 0, g->cache.count);
    g->dual = best_dual_value(g, gradient, sum);
    g->gap = vxs_relative_gap(g->primal - g->dual, g->empty);
    g->scanned = true;
    return status;
}

/* ---- Restricted problems --------------------------------------------------------------------- */

/* Predictions from the weights of all cuts, without accumulated rounding. */
vxs_status vxs_cutting_plane_predict(vxs_cutting_plane *g, vxs_error *err)
{
    double *contribution = vxs_alloc(g->n, sizeof(*contribution), err);
    if (!contribution)
        return VXS_FAILED;
    memset(g->z, 0, g->n * sizeof(*g->z));
    for (size_t h = 0; h < g->count; h++) {
        vxs_cut_predict(g, &g->cuts[h], g->cuts[h].omega, contribution);
        cblas_daxpy((int)g->n, 1, contribution, 1, g->z, 1);
    }
    free(contribution);
    return VXS_OK;
}

/* Solves the restricted problem, then scans all blocks. Where a measure is at its best and only its
 * bound is not, the value does not decrease: a new cut is progress, and all cuts stay. */
static vxs_status solve_restricted(vxs_cutting_plane *g, bool is_new, vxs_error *err)
{
    g->previous_primal = g->primal;
    vxs_status status = g->solve(g, err);
    if (!status && g->bundle)
        status = vxs_measured_refine(g, err);
    if (!status) /* the subproblem solver returns early when interrupted */
        status = vxs_check_interrupted(g->context, err);
    if (status)
        return status;
    if (!g->bundle)
        vxs_cuts_drop_empty(g);
    status = vxs_cutting_plane_predict(g, err);
    if (!status)
        status = certify(g, err);
    double min_decrease = g->restricted_gap <= LOOSE_GAP ? MIN_DECREASE * g->empty
                                                         : MIN_DECREASE_LOOSE * g->previous_primal;
    bool progress = g->previous_primal - g->primal > min_decrease;
    g->stalled = progress || (g->bundle && is_new) ? 0 : g->stalled + 1;
    if (g->bundle && progress)
        vxs_cuts_drop_empty(g);
    return status;
}

/* ---- Initialization -------------------------------------------------------------------------- */

static vxs_status fit_empty_model(vxs_cutting_plane *g, vxs_error *err)
{
    vxs_status status = VXS_OK;
    g->empty = 1;
    for (size_t h = 0; h < g->count; h++)
        vxs_cut_release(&g->cuts[h]);
    vxs_block_cache_clear(&g->cache);
    g->count = 0;
    g->target = g->settings.blocks.inner_tol;
    g->iterations = 0;
    g->stalled = 0;
    memset(g->z, 0, g->n * sizeof(*g->z));
    memset(g->covariates_fit.b, 0, g->covariates_fit.rank * sizeof(*g->covariates_fit.b));
    if (g->problem.loss.kind == &vxs_measure_loss)
        status = vxs_measured_begin(g, err);
    if (status)
        return status;
    vxs_cutting_plane_evaluate(g);
    if (!g->bundle) /* z is 0 */
        g->explained =
            vxs_covariates_fit_explain(&g->covariates_fit, g->z, g->gradient, g->budget.cost);
    if (g->dual_gradient)
        memcpy(g->dual_gradient, g->gradient, g->n * sizeof(*g->dual_gradient));
    status = certify(g, err);
    g->empty = g->primal;
    g->gap = vxs_relative_gap(g->primal - g->dual, g->empty);
    g->previous_primal = g->primal;
    return status;
}

static vxs_status allocate(vxs_cutting_plane *g, vxs_error *err)
{
    size_t n = g->n, blocks = vxs_blocks_count(g->budget.blocks);
    g->budget.budget = g->budget.budget < blocks ? g->budget.budget : blocks;
    g->z = vxs_alloc(n, sizeof(*g->z), err);
    g->prediction = vxs_alloc(n, sizeof(*g->prediction), err);
    g->gradient = vxs_alloc(n, sizeof(*g->gradient), err);
    g->best = vxs_alloc(g->budget.budget, sizeof(*g->best), err);
    bool dual = g->solve == vxs_smoothing_solve;
    g->dual_gradient = dual ? vxs_alloc(n, sizeof(*g->dual_gradient), err) : NULL;
    g->feasible = vxs_alloc(n, sizeof(*g->feasible), err);
    g->curvature = vxs_alloc(n, sizeof(*g->curvature), err);
    bool fine = (g->dual_gradient || !dual) && g->feasible && g->curvature && g->z &&
                g->prediction && g->gradient && g->best;
    size_t columns = g->budget.only_refit ? 0 : g->problem.covariate_count;
    vxs_status status =
        fine ? vxs_block_cache_init(&g->cache, g->budget.blocks, n, err) : VXS_FAILED;
    if (!status)
        status = vxs_covariates_fit_init(&g->problem, columns, &g->covariates_fit, err);
    if (!status && !dual)
        status = vxs_dual_projection_init(&g->problem, g->covariates_fit.rank, &g->reach, err);
    for (size_t r = 0; r < g->covariates_fit.rank && !status && !dual; r++)
        vxs_dual_projection_add(&g->reach, g->problem.covariates + g->covariates_fit.from[r] * n);
    return status;
}

vxs_status vxs_cutting_plane_begin(const vxs_context *context, const vxs_problem *problem,
                                   const vxs_method_settings *settings, const vxs_solver_kind *kind,
                                   vxs_status (*solve)(vxs_cutting_plane *, vxs_error *),
                                   vxs_solver **solver, vxs_error *err)
{
    vxs_cutting_plane *g = vxs_alloc(1, sizeof(*g), err);
    if (!g)
        return VXS_FAILED;
    g->solver.kind = kind;
    g->solve = solve;
    g->began = vxs_seconds();
    g->context = context;
    g->problem = *problem;
    g->budget = *vxs_as_budget(problem->penalty);
    g->settings = *settings;
    g->n = vxs_design_rows(problem->design);
    g->worked = vxs_blocks_get_work(g->budget.blocks);
    vxs_status status = allocate(g, err);
    if (!status)
        status = fit_empty_model(g, err);
    if (status) {
        vxs_cutting_plane_release(&g->solver);
        return status;
    }
    *solver = &g->solver;
    return VXS_OK;
}

/* ---- Iterations ------------------------------------------------------------------------------ */

/* Whether another iteration follows, and how many new blocks it may add. */
static bool should_continue(const vxs_cutting_plane *g, vxs_path_point end, size_t *max_new)
{
    const vxs_method_settings *s = &g->settings;
    size_t selected = end.by == VXS_BY_NUMBER ? vxs_cuts_count_blocks(g) : 0;
    *max_new = SIZE_MAX;
    if (g->gap <= s->tol || g->iterations >= MAX_ITERATIONS)
        return false;
    if (s->blocks.change > 0 && g->iterations > 0 &&
        g->previous_primal - g->primal <= s->blocks.change * g->empty)
        return false;
    if (end.by == VXS_BY_ITERATIONS)
        return (double)g->iterations < end.value;
    *max_new = (double)selected < end.value ? (size_t)end.value - selected : 0;
    return *max_new > 0;
}

/* Lowers the target of the restricted problem; false at its floor or if the solver stalls above its
 * target. */
static bool tighten_target(vxs_cutting_plane *g)
{
    bool stuck = g->stalled >= MAX_STALLED && !(g->restricted_gap <= g->target);
    if (g->target <= FLOOR || stuck)
        return false;
    g->target = fmax(FLOOR, fmin(g->target, g->restricted_gap) / 10);
    return true;
}

static vxs_status generate(vxs_cutting_plane *g, vxs_path_point end, vxs_error *err)
{
    size_t max_new = 0;
    vxs_status status = VXS_OK;
    while (!status && should_continue(g, end, &max_new)) {
        bool duplicate = false;
        g->target = fmax(FLOOR, fmin(g->target, TARGET_SHARE * g->gap));
        status = vxs_cuts_add(g, max_new, &duplicate, err);
        if (status)
            return status;
        /* a duplicate, or cuts dropped again and again: solve more accurately */
        if ((duplicate || g->stalled >= MAX_STALLED) && !tighten_target(g))
            return VXS_OK;
        g->iterations += !duplicate;
        status = vxs_check_interrupted(g->context, err);
        if (!status)
            status = solve_restricted(g, !duplicate, err);
    }
    return status;
}

/* ---- The solution ---------------------------------------------------------------------------- */

static void write_certificate(vxs_cutting_plane *g, vxs_certificate *c)
{
    vxs_blocks_work work = vxs_blocks_get_work(g->budget.blocks);
    double now = vxs_seconds();
    c->lambda = 1 / g->budget.cost;
    c->lambda_max = NAN;
    c->primal = g->primal;
    c->dual = g->dual;
    c->gap = g->gap;
    c->tol = g->settings.tol;
    c->iterations = g->inner_iterations;
    c->passes = work.passes - g->worked.passes;
    c->seconds = now - g->began;
    g->worked.passes = work.passes;
    g->began = now;
    g->inner_iterations = 0;
}

/* Primal value of the problem, not of the restricted one, at the reported coefficients: those of
 * nearly collinear covariates are large, and predictions from them carry their rounding. */
static void evaluate_primal(vxs_cutting_plane *g, vxs_selected *s, vxs_certificate *c)
{
    size_t columns = g->budget.only_refit ? 0 : g->problem.covariate_count;
    memcpy(g->prediction, g->z, g->n * sizeof(*g->prediction));
    for (size_t k = 0; k < columns; k++)
        cblas_daxpy((int)g->n, s->covariate_coefficients[k], g->problem.covariates + k * g->n, 1,
                    g->prediction, 1);
    c->primal = vxs_budget_norm_squared(s, g->budget.budget) / 2 +
                (g->bundle ? vxs_bundle_value(g->bundle, g->prediction)
                           : g->budget.cost * vxs_loss_value(&g->problem.loss, g->prediction));
    c->gap = vxs_relative_gap(c->primal - c->dual, g->empty);
    s->restricted_gap = fmin(s->restricted_gap, c->gap); /* the gap over all blocks bounds it */
}

/* Converged, or the iterations asked for are done and the restricted problem is solved. */
static bool has_converged(const vxs_cutting_plane *g, double gap, vxs_path_point end)
{
    size_t max_new;
    bool solved =
        g->count == 0 || g->restricted_gap <= fmax(g->settings.blocks.inner_tol, g->settings.tol);
    bool closed = g->gap <= g->settings.tol,
         finished = !closed && !should_continue(g, end, &max_new);
    return vxs_has_converged(gap, g->settings.tol) ||
           (vxs_gap_bounds(gap, g->settings.tol) && solved && finished);
}

vxs_status vxs_cutting_plane_fit(vxs_solver *solver, vxs_path_point end, vxs_solution *solution,
                                 vxs_error *err)
{
    vxs_cutting_plane *g = (vxs_cutting_plane *)solver;
    *solution = (vxs_solution){ .count = 0 };
    vxs_status status = VXS_OK;
    bool smaller =
        end.value < (double)(end.by == VXS_BY_NUMBER ? vxs_cuts_count_blocks(g) : g->iterations);
    if (smaller) /* a smaller model than the current one: cold start */
        status = fit_empty_model(g, err);
    if (!status)
        status = generate(g, end, err);
    write_certificate(g, &solution->certificate);
    if (!status)
        status = vxs_cutting_plane_solution(g, solution, err);
    vxs_selected *s = solution->selected;
    /* half the tolerance, for the checker */
    bool refit = !s || !s->refit_weight || vxs_has_converged(s->refit_gap, VXS_REFIT_GAP / 2);
    if (!status)
        evaluate_primal(g, s, &solution->certificate);
    solution->certificate.converged = has_converged(g, solution->certificate.gap, end) && refit;
    solution->certificate.nonzero = solution->count;
    if (status)
        vxs_solution_release(solution);
    return status;
}
