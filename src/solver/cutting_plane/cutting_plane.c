/* cutting_plane.c - feature generation: rounds of the best units, and the problem on all of them.
 *
 * Problem   minimise over w, b  |w|_B^2 / 2 + C sum_i u_i f(z_i, y_i), z = sum_g Z_g w_g + c'b.
 *           |w|_B^2 is the least sum |w_g|^2 / d_g with 0 <= d_g <= 1, sum d_g <= B: with B or
 *           fewer units it is |w|^2, with many of like size (sum |w_g|)^2 / B.
 * Dual      maximise over alpha, C'(alpha y) = 0,  -1/2 (sum of the B largest |Z_g'(alpha y)|^2)
 *           - G(alpha); G of the squared hinge is sum alpha^2 / (2 C u) - alpha, alpha >= 0, of the
 *           logistic loss C u (t log t + (1 - t) log(1 - t)), t = alpha / (C u).
 * Rounds    alpha follows from predictions, alpha = -C u y f'. The B units with the largest scores
 *           are the next round; the problem on the rounds, 1/2 (sum over rounds |omega|)^2 + C sum
 *           u f, is solved by the method (proximal_gradient.c, smoothing.c). Rounds without weight
 *           are dropped: the value falls strictly, so that none comes back for ever.
 * Stop      the gap is below the tolerance. The same scan gives the bound: any predictions with
 *           the best b give an alpha of the dual's domain, and so is any part of it.
 * Cost      a round: a scan of X, and the problem on the columns of the rounds.
 * Source    Tan, Tsang, Wang: Towards ultrahigh dimensional feature selection for big data,
 *           algorithms 1 and 2; the gap is not there. */
#include "solver/cutting_plane/cutting_plane.h"

#include <cblas.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#define MOST_ROUNDS 100000
#define FLOOR       1e-13 /* relative gap that inner methods are asked for at least */
#define SHRINKS     28    /* steps to the best multiple of alpha */
#define LOOSE       0.3   /* of the gap over all units: nothing looser is of use */
#define EXPLAINED   1e-9  /* what is left of slopes, as a share */
#define IDLE        2     /* problems in a row that lead nowhere: rounding is in the way */
#define LOWER       1e-13 /* of the empty model's value: what a problem must lower the value by; */
#define USELESS     0.1   /* or, where its own gap is left larger than this, */
#define MUCH        1e-3  /* so much of the value itself */
#define CACHED      32768 /* values that stay near the processor while others pass */

/* ---- Room ------------------------------------------------------------------------------------ */

static void release_round(vxs_round *h)
{
    free(h->place);
    free(h->omega);
}

void vxs_generation_release(vxs_solver *solver)
{
    vxs_generation *g = (vxs_generation *)solver;
    for (size_t h = 0; h < g->count; h++)
        release_round(&g->rounds[h]);
    vxs_shift_release(&g->shift);
    vxs_pool_release(&g->pool);
    void *const all[] = { g->rounds, g->z, g->shifted, g->slope, g->best, g->own, g };
    for (size_t k = 0; k < sizeof(all) / sizeof(all[0]); k++)
        free(all[k]);
}

/* No unit has a score, or nothing is left for one to explain. */
bool vxs_generation_is_empty(const vxs_solver *solver)
{
    const vxs_generation *g = (const vxs_generation *)solver;
    return g->explained || g->best_count == 0 || !(g->best[0].score > 0);
}

/* ---- Where predictions are ------------------------------------------------------------------- */

double vxs_generation_penalty(const vxs_generation *g)
{
    double sum = 0;
    for (size_t h = 0; h < g->count; h++)
        sum += g->rounds[h].norm;
    return sum * sum / 2;
}

double vxs_generation_bound(const vxs_generation *g, const double *slope, double t)
{
    double cost = g->budget.cost, sum = 0;
    const vxs_sample_loss *loss = g->problem.loss.kind->sample;
    for (size_t i = 0; i < g->n; i++) {
        double u = cost * vxs_loss_weight(&g->problem.loss, i);
        sum -= u > 0 ? u * loss->conjugate(t * slope[i] / u, g->problem.loss.y[i],
                                           g->problem.loss.threshold)
                     : 0;
    }
    return sum;
}

/* X'slope of the pool's columns from one place to before another. */
static void correlate(vxs_generation *g, const double *slope, size_t place, size_t end)
{
    const vxs_pool *p = &g->pool;
    size_t first = p->start[place], columns = p->start[end] - first;
    if (columns > 0)
        cblas_dgemv(CblasColMajor, CblasTrans, (int)g->n, (int)columns, 1, p->x + first * g->n,
                    (int)g->n, slope, 1, 0, p->gradient + first, 1);
}

/* From z: shifted, slope and the value. */
static void find_slope(vxs_generation *g)
{
    g->value = g->budget.cost * vxs_shift_fit(&g->shift, g->z, g->shifted);
    vxs_loss_gradient(&g->problem.loss, g->shifted, g->slope);
    cblas_dscal((int)g->n, g->budget.cost, g->slope, 1);
}

void vxs_generation_look(vxs_generation *g)
{
    find_slope(g);
    correlate(g, g->slope, 0, g->pool.count);
}

/* Units that follow each other in the pool, and are before a place there, are one matrix. */
static size_t run_of(const vxs_generation *g, const vxs_round *h, size_t k, size_t before,
                     size_t *columns)
{
    size_t end = k + 1;
    while (end < h->count && h->place[end] == h->place[end - 1] + 1 && h->place[end] < before)
        end++;
    *columns = g->pool.start[h->place[end - 1] + 1] - g->pool.start[h->place[k]];
    return end;
}

void vxs_round_predict(const vxs_generation *g, const vxs_round *h, const double *w, double *out)
{
    size_t columns = 0;
    memset(out, 0, g->n * sizeof(*out));
    for (size_t k = 0; k < h->count;) {
        const double *x = g->pool.x + g->pool.start[h->place[k]] * g->n;
        k = run_of(g, h, k, SIZE_MAX, &columns);
        cblas_dgemv(CblasColMajor, CblasNoTrans, (int)g->n, (int)columns, 1, x, (int)g->n, w, 1, 1,
                    out, 1);
        w += columns;
    }
}

void vxs_round_gather(const vxs_generation *g, const vxs_round *h, const double *pool, double *out)
{
    size_t columns = 0;
    for (size_t k = 0; k < h->count; out += columns) {
        const double *from = pool + g->pool.start[h->place[k]];
        k = run_of(g, h, k, SIZE_MAX, &columns);
        memcpy(out, from, columns * sizeof(*out));
    }
}

/* Adds X_h gradient over the units from `*k` on that are before a place of the pool. */
static void add_down(const vxs_generation *g, const vxs_round *h, size_t before, size_t *k,
                     double *down)
{
    size_t columns = 0;
    while (*k < h->count && h->place[*k] < before) {
        size_t first = g->pool.start[h->place[*k]];
        *k = run_of(g, h, *k, before, &columns);
        cblas_dgemv(CblasColMajor, CblasNoTrans, (int)g->n, (int)columns, 1,
                    g->pool.x + first * g->n, (int)g->n, g->pool.gradient + first, 1, 1, down, 1);
    }
}

/* Before which place columns from `place` on are more than stay near the processor. */
static size_t end_of_cached(const vxs_pool *p, size_t place)
{
    size_t end = place + 1;
    while (end < p->count && (p->start[end + 1] - p->start[place]) * p->n <= CACHED)
        end++;
    return end;
}

void vxs_generation_look_down(vxs_generation *g, size_t *seen, double *down)
{
    find_slope(g);
    memset(seen, 0, g->count * sizeof(*seen));
    memset(down, 0, g->n * g->count * sizeof(*down));
    for (size_t place = 0, end = 0; place < g->pool.count; place = end) {
        end = end_of_cached(&g->pool, place);
        correlate(g, g->slope, place, end);
        for (size_t h = 0; h < g->count; h++)
            add_down(g, &g->rounds[h], end, &seen[h], down + h * g->n);
    }
}

/* The bound by the best t alpha, 0 <= t <= 1: all of these are in the dual's domain, and far from
 * the answer the scores of alpha itself are too large to say anything. By thirds: it is concave in
 * t. */
static double best_bound(const vxs_generation *g, const double *slope, double scores)
{
    double low = 0, high = 1;
    for (int k = 0; k < SHRINKS; k++) {
        double a = low + (high - low) / 3, b = high - (high - low) / 3;
        double at_a = vxs_generation_bound(g, slope, a) - a * a * scores / 2;
        double at_b = vxs_generation_bound(g, slope, b) - b * b * scores / 2;
        *(at_a < at_b ? &low : &high) = at_a < at_b ? a : b;
    }
    double t = (low + high) / 2;
    double inner = vxs_generation_bound(g, slope, t) - t * t * scores / 2;
    return fmax(0, fmax(inner, vxs_generation_bound(g, slope, 1) - scores / 2)); /* t = 0: 0 */
}

/* The gap over all units, as a share of the empty model's value. */
static vxs_status certify(vxs_generation *g, vxs_error *err)
{
    double sum = 0;
    vxs_generation_look(g);
    const double *slope = g->own ? g->own : g->slope;
    g->primal = vxs_generation_penalty(g) + g->value;
    vxs_status status =
        vxs_units_best(g->budget.units, slope, g->budget.budget, g->best, &g->best_count, err);
    for (size_t k = 0; k < g->best_count && !status; k++)
        sum += g->best[k].score;
    if (g->own)
        correlate(g, slope, 0, g->pool.count);
    g->dual = best_bound(g, slope, sum);
    g->gap = vxs_relative_gap(g->primal - g->dual, g->empty);
    g->scanned = true;
    return status;
}

/* ---- Rounds ---------------------------------------------------------------------------------- */

static int by_place(const void *a, const void *b)
{
    size_t left = *(const size_t *)a, right = *(const size_t *)b;
    return (left > right) - (left < right);
}

static bool is_in(const vxs_round *h, size_t place)
{
    return h->count > 0 && bsearch(&place, h->place, h->count, sizeof(*h->place), by_place);
}

bool vxs_rounds_have(const vxs_generation *g, size_t place)
{
    for (size_t h = 0; h < g->count; h++)
        if (is_in(&g->rounds[h], place))
            return true;
    return false;
}

/* Units of all rounds. */
static size_t count_selected(const vxs_generation *g)
{
    size_t count = 0;
    for (size_t k = 0; k < g->pool.count; k++)
        count += vxs_rounds_have(g, k);
    return count;
}

/* The squared size of X'slope over a unit of the pool. */
static double score_of(const vxs_generation *g, size_t place)
{
    double sum = 0;
    for (size_t c = g->pool.start[place]; c < g->pool.start[place + 1]; c++)
        sum += g->pool.gradient[c] * g->pool.gradient[c];
    return sum;
}

/* The best units, of which at most so many are new; selected ones take the places of others. */
static vxs_status offer_candidates(vxs_generation *g, size_t most_new, vxs_top *top, vxs_error *err)
{
    size_t added = 0, pooled = g->pool.count;
    vxs_status status = VXS_OK;
    for (size_t k = 0; k < g->best_count && !status && added < most_new; k++) {
        size_t place = vxs_pool_find(&g->pool, g->best[k].unit);
        if (!(g->best[k].score > 0) || (place < pooled && vxs_rounds_have(g, place)))
            continue;
        status = vxs_pool_place(&g->pool, g->best[k].unit, &place, err);
        (void)vxs_top_offer(top, place, g->best[k].score);
        added++;
    }
    for (size_t place = 0; place < pooled && !status; place++)
        if (vxs_rounds_have(g, place) && score_of(g, place) > 0)
            (void)vxs_top_offer(top, place, score_of(g, place));
    return status;
}

static vxs_status choose_units(vxs_generation *g, size_t most_new, vxs_round *h, vxs_error *err)
{
    vxs_top top;
    vxs_status status = vxs_top_init(&top, g->budget.budget, err);
    h->place = vxs_alloc(g->budget.budget, sizeof(*h->place), err);
    if (!status)
        status = h->place ? offer_candidates(g, most_new, &top, err) : VXS_FAILED;
    for (size_t k = 0; k < top.count && !status; k++)
        h->place[h->count++] = top.heap[k].unit;
    if (h->count > 0)
        qsort(h->place, h->count, sizeof(*h->place), by_place);
    vxs_top_release(&top);
    return status;
}

static bool is_known(const vxs_generation *g, const vxs_round *h)
{
    for (size_t k = 0; k < g->count; k++)
        if (g->rounds[k].count == h->count &&
            (h->count == 0 ||
             memcmp(g->rounds[k].place, h->place, h->count * sizeof(*h->place)) == 0))
            return true;
    return false;
}

static vxs_status make_round_room(vxs_generation *g, vxs_error *err)
{
    if (g->count < g->room)
        return VXS_OK;
    size_t room = 2 * g->room + 8;
    vxs_round *rounds = vxs_resize(g->rounds, room, sizeof(*rounds), err);
    g->rounds = rounds ? rounds : g->rounds;
    g->room = rounds ? room : g->room;
    return rounds ? VXS_OK : VXS_FAILED;
}

/* Adds the next round; `known` when it is one that there is. */
static vxs_status add_round(vxs_generation *g, size_t most_new, bool *known, vxs_error *err)
{
    vxs_round h = { .count = 0 };
    vxs_status status = make_round_room(g, err);
    if (!status)
        status = choose_units(g, most_new, &h, err);
    for (size_t k = 0; k < h.count; k++)
        h.width += vxs_pool_width(&g->pool, h.place[k]);
    h.omega = status ? NULL : vxs_alloc(h.width, sizeof(*h.omega), err);
    if (!h.omega) {
        release_round(&h);
        return status ? status : VXS_FAILED;
    }
    *known = h.count == 0 || is_known(g, &h);
    if (*known)
        release_round(&h);
    else
        g->rounds[g->count++] = h;
    return VXS_OK;
}

static void drop_empty_rounds(vxs_generation *g)
{
    size_t kept = 0;
    for (size_t h = 0; h < g->count; h++) {
        if (g->rounds[h].norm > 0)
            g->rounds[kept++] = g->rounds[h];
        else
            release_round(&g->rounds[h]);
    }
    g->count = kept;
}

/* Predictions of all rounds, anew. */
static vxs_status predict(vxs_generation *g, vxs_error *err)
{
    double *part = vxs_alloc(g->n, sizeof(*part), err);
    if (!part)
        return VXS_FAILED;
    memset(g->z, 0, g->n * sizeof(*g->z));
    for (size_t h = 0; h < g->count; h++) {
        vxs_round_predict(g, &g->rounds[h], g->rounds[h].omega, part);
        cblas_daxpy((int)g->n, 1, part, 1, g->z, 1);
    }
    free(part);
    return VXS_OK;
}

/* Solves the problem on the rounds, and looks at all units again. */
static vxs_status solve_round(vxs_generation *g, vxs_error *err)
{
    g->last = g->primal;
    vxs_status status = g->solve(g, err);
    if (!status) /* or what it has may be half solved */
        status = vxs_check_interrupted(g->context, err);
    if (status)
        return status;
    drop_empty_rounds(g);
    status = predict(g, err);
    if (!status)
        status = certify(g, err);
    double least = g->restricted <= USELESS ? LOWER * g->empty : MUCH * g->last;
    bool leads = g->last - g->primal > least;
    g->idle = leads ? 0 : g->idle + 1;
    return status;
}

/* ---- The beginning --------------------------------------------------------------------------- */

/* What rounding leaves of slopes that the free columns explain is not to be fitted. */
static bool is_explained(const vxs_generation *g)
{
    int n = (int)g->n;
    vxs_loss_gradient(&g->problem.loss, g->z, g->shift.slope);
    double whole = cblas_dnrm2(n, g->shift.slope, 1);
    return !(cblas_dnrm2(n, g->slope, 1) > EXPLAINED * g->budget.cost * whole);
}

static vxs_status look_at_empty(vxs_generation *g, vxs_error *err)
{
    g->empty = 1;
    for (size_t h = 0; h < g->count; h++)
        release_round(&g->rounds[h]);
    vxs_pool_clear(&g->pool);
    g->count = 0;
    g->target = g->settings.blocks.inner_tol;
    g->generated = 0;
    g->idle = 0;
    memset(g->z, 0, g->n * sizeof(*g->z));
    memset(g->shift.b, 0, g->shift.rank * sizeof(*g->shift.b));
    vxs_generation_look(g);
    g->explained = is_explained(g);
    if (g->own)
        memcpy(g->own, g->slope, g->n * sizeof(*g->own));
    vxs_status status = certify(g, err);
    g->empty = g->primal;
    g->gap = vxs_relative_gap(g->primal - g->dual, g->empty);
    g->last = g->primal;
    return status;
}

static vxs_status make_room(vxs_generation *g, vxs_error *err)
{
    size_t n = g->n, units = vxs_units_count(g->budget.units);
    g->budget.budget = g->budget.budget < units ? g->budget.budget : units;
    g->z = vxs_alloc(n, sizeof(*g->z), err);
    g->shifted = vxs_alloc(n, sizeof(*g->shifted), err);
    g->slope = vxs_alloc(n, sizeof(*g->slope), err);
    g->best = vxs_alloc(g->budget.budget, sizeof(*g->best), err);
    bool dual = g->solve == vxs_smoothing_solve;
    g->own = dual ? vxs_alloc(n, sizeof(*g->own), err) : NULL;
    bool fine = (g->own || !dual) && g->z && g->shifted && g->slope && g->best;
    size_t columns = g->budget.only_refit ? 0 : g->problem.covariate_count;
    vxs_status status = fine ? vxs_pool_init(&g->pool, g->budget.units, n, err) : VXS_FAILED;
    return status ? status : vxs_shift_init(&g->problem, columns, &g->shift, err);
}

vxs_status vxs_generation_begin(const vxs_context *context, const vxs_problem *problem,
                                const vxs_method_settings *settings, const vxs_solver_kind *kind,
                                vxs_status (*solve)(vxs_generation *, vxs_error *),
                                vxs_solver **solver, vxs_error *err)
{
    vxs_generation *g = vxs_alloc(1, sizeof(*g), err);
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
    g->worked = vxs_units_worked(g->budget.units);
    vxs_status status = make_room(g, err);
    if (!status)
        status = look_at_empty(g, err);
    if (status) {
        vxs_generation_release(&g->solver);
        return status;
    }
    *solver = &g->solver;
    return VXS_OK;
}

/* ---- Rounds ---------------------------------------------------------------------------------- */

/* Whether to go on, and how many new units the next round may have. */
static bool goes_on(const vxs_generation *g, vxs_path_point end, size_t *most_new)
{
    const vxs_method_settings *s = &g->settings;
    size_t selected = end.by == VXS_BY_NUMBER ? count_selected(g) : 0;
    *most_new = SIZE_MAX;
    if (g->gap <= s->tol || g->generated >= MOST_ROUNDS)
        return false;
    if (s->blocks.change > 0 && g->generated > 0 &&
        g->last - g->primal <= s->blocks.change * g->empty)
        return false;
    if (end.by == VXS_BY_ROUNDS)
        return (double)g->generated < end.value;
    *most_new = (double)selected < end.value ? (size_t)end.value - selected : 0;
    return *most_new > 0;
}

/* The problem on the rounds is to be solved further than it is; false when it cannot be: where it
 * was not solved as far as it was to be, and again is no better, a smaller gap is not to be had. */
static bool look_closer(vxs_generation *g)
{
    bool stuck = g->idle >= IDLE && !(g->restricted <= g->target);
    if (g->target <= FLOOR || stuck)
        return false;
    g->target = fmax(FLOOR, fmin(g->target, g->restricted) / 10);
    return true;
}

static vxs_status generate(vxs_generation *g, vxs_path_point end, vxs_error *err)
{
    size_t most_new = 0;
    vxs_status status = VXS_OK;
    while (!status && goes_on(g, end, &most_new)) {
        bool known = false;
        g->target = fmax(FLOOR, fmin(g->target, LOOSE * g->gap));
        status = add_round(g, most_new, &known, err);
        if (status)
            return status;
        /* a round that gets no weight is dropped, and would come back for ever */
        if ((known || g->idle >= IDLE) && !look_closer(g))
            return VXS_OK;
        g->generated += !known;
        status = vxs_check_interrupted(g->context, err);
        if (!status)
            status = solve_round(g, err);
    }
    return status;
}

/* ---- The answer ------------------------------------------------------------------------------ */

static void take_certificate(vxs_generation *g, vxs_certificate *c)
{
    vxs_units_work work = vxs_units_worked(g->budget.units);
    double now = vxs_seconds();
    c->lambda = 1 / g->budget.cost;
    c->lambda_max = NAN;
    c->primal = g->primal;
    c->dual = g->dual;
    c->gap = g->gap;
    c->tol = g->settings.tol;
    c->iterations = g->iterations;
    c->passes = work.passes - g->worked.passes;
    c->seconds = now - g->began;
    g->worked.passes = work.passes;
    g->began = now;
    g->iterations = 0;
}

/* The certificate is of the weights that are given: those of covariates that are almost the same
 * are large, and predict what was found but for their rounding. */
static void settle_primal(vxs_generation *g, const double *weights, vxs_certificate *c)
{
    size_t columns = g->budget.only_refit ? 0 : g->problem.covariate_count;
    memcpy(g->shifted, g->z, g->n * sizeof(*g->shifted));
    for (size_t k = 0; k < columns; k++)
        cblas_daxpy((int)g->n, weights[k], g->problem.covariates + k * g->n, 1, g->shifted, 1);
    c->primal =
        vxs_generation_penalty(g) + g->budget.cost * vxs_loss_value(&g->problem.loss, g->shifted);
    c->gap = vxs_relative_gap(c->primal - c->dual, g->empty);
}

/* All rounds or units are there, or the gap is closed; and the problem on the rounds is solved. */
static bool is_done(const vxs_generation *g, double gap, vxs_path_point end)
{
    size_t most_new;
    bool solved =
        g->count == 0 || g->restricted <= fmax(g->settings.blocks.inner_tol, g->settings.tol);
    bool closed = g->gap <= g->settings.tol, enough = !closed && !goes_on(g, end, &most_new);
    return vxs_has_converged(gap, g->settings.tol) ||
           (vxs_gap_bounds(gap, g->settings.tol) && solved && enough);
}

vxs_status vxs_generation_fit(vxs_solver *solver, vxs_path_point end, vxs_solution *solution,
                              vxs_error *err)
{
    vxs_generation *g = (vxs_generation *)solver;
    *solution = (vxs_solution){ .count = 0 };
    vxs_status status = VXS_OK;
    bool beyond = end.value < (double)(end.by == VXS_BY_NUMBER ? count_selected(g) : g->generated);
    if (beyond) /* less than there is: from the beginning */
        status = look_at_empty(g, err);
    if (!status)
        status = generate(g, end, err);
    take_certificate(g, &solution->certificate);
    if (!status)
        status = vxs_generation_answer(g, solution, err);
    const vxs_selected *s = solution->selected;
    /* half of it is for who looks again */
    bool refit = !s || !s->retrained || vxs_has_converged(s->refit, VXS_REFIT_GAP / 2);
    if (!status)
        settle_primal(g, s->free, &solution->certificate);
    solution->certificate.converged = is_done(g, solution->certificate.gap, end) && refit;
    solution->certificate.nonzero = solution->count;
    if (status)
        vxs_solution_release(solution);
    return status;
}
