/* screened_fit.c - one lambda: safe screening before and between interior-point iterations.
 *
 * Region    Let w have predictions z, and xi = lambda theta be dual feasible. The dual optimum xi*
 *           satisfies xi*'z <= lambda |D w|_1, as xi*'Xw = lambda u'D w. Squared loss: xi* is the
 *           projection of the target on the feasible set, hence in the ball with diameter from xi
 *           to the target. Logistic loss: f* is 4-strongly convex, hence xi* lies within r = (gap /
 *           2)^(1/2) of xi and, by Fenchel's inequality, of -f'(z). None of this requires w or
 *           theta to be optimal at some other lambda: with the pair of the previous lambda and the
 *           gap at this one these are Theorems 2b and 2c without an exactness assumption, with an
 *           iterate Theorem 7. 2c is the smallest ball around the ball's intersection with the half
 *           space; reference the intersection (a dome) itself is used
 * Method    screen with the reference point (sequential), iterate, screen with the iterate
 *           (dynamic) if the rows found pay for restarting on the smaller problem
 * Stops     gap at most the target, or PATIENCE iterations without progress
 * Cost      analysis_interior.c, bounds.c
 * Threads   those of BLAS
 * Source    dissertation 3.3.1, 3.3.5, Theorems 2 and 7 */
#include "solver/bound_propagation/bound_propagation.h"

#include <cblas.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#define ROUNDING       1e-12
#define MAX_ITERATIONS 200  /* iterations */
#define PATIENCE       6    /* iterations without a smaller gap */
#define STALL_GAP      1e-6 /* of the empty model's value: a larger gap may stall */
#define MIN_FOUND                                                                                  \
    0.02 /* of the rows: with fewer found, screening before the first iteration ends */
#define RESTART_COST    2    /* cost of a restart, in iterations */
#define GAP_FACTOR      20   /* the gap's usual reduction an iteration, as a factor */
#define RETRY           0.3  /* of the gap at the last screening: screening is tried again */
#define BACKOFF         0.1  /* factor of that share after a screening that found too few */
#define ACTIVE          1e-3 /* of the largest: rows with a smaller slack / distance are 0 */
#define COMPLEMENTARITY 0.1  /* of the target: complementarity's share of the gap at the end */
#define INTERIOR        1e-9 /* distance of v from the boundary after rows are merged */

/* ---- The dual region ------------------------------------------------------------------------- */

static void project_onto_complement(const vxs_reparametrized *r, double *x)
{
    for (size_t k = 0; k < 2 * r->rank; k++) {
        const double *b = r->span + k % r->rank * r->n;
        cblas_daxpy((int)r->n, -cblas_ddot((int)r->n, b, 1, x, 1), b, 1, x, 1);
    }
}

/* Squared loss: the ball with diameter from a feasible point to the target. */
static void find_sphere(vxs_path *p, const double *xi)
{
    size_t n = p->data.n;
    double square = 0;
    for (size_t i = 0; i < n; i++)
        p->dome.center[i] = p->data.root[i] * p->data.y[i];
    project_onto_complement(&p->base, p->dome.center);
    for (size_t i = 0; i < n; i++) {
        double apart = p->dome.center[i] - xi[i];
        square += apart * apart;
        p->dome.center[i] = (p->dome.center[i] + xi[i]) / 2;
    }
    p->dome.radius = sqrt(square) / 2;
}

/* Logistic loss: the smallest ball around the intersection of two balls with radius^2 = `square`,
 * one around xi, one around -f'(z) projected onto the complement of the span. */
static void find_lens(vxs_path *p, const double *xi, const double *z, double square)
{
    int n = (int)p->data.n;
    double *c = p->dome.center;
    vxs_bp_negative_gradient(&p->data, z, c);
    double norm2 = cblas_ddot(n, c, 1, c, 1);
    project_onto_complement(&p->base, c);
    double across = fmax(0, norm2 - cblas_ddot(n, c, 1, c, 1)), apart = 0;
    across = fmax(0, across - ROUNDING * norm2);
    for (int i = 0; i < n; i++)
        apart += (xi[i] - c[i]) * (xi[i] - c[i]);
    double share = apart > 0 ? (apart - across) / (2 * apart) : 0; /* from c to xi */
    share = fmax(0, share);
    double radius = fmax(0, square - across - share * share * apart);
    for (int i = 0; i < n; i++)
        c[i] += share * (xi[i] - c[i]);
    p->dome.radius = sqrt(radius);
}

void vxs_path_dual_region(vxs_path *p, double lambda, const vxs_reference *w)
{
    size_t n = p->data.n;
    double *xi = p->xi, *along = p->dome.normal;
    for (size_t i = 0; i < n; i++)
        xi[i] = lambda * w->theta[i];
    cblas_dscal((int)n, vxs_bp_best_scale(&p->data, xi, 1), xi, 1);
    if (p->data.loss->squared) {
        find_sphere(p, xi);
    } else {
        double primal = vxs_bp_loss(&p->data, w->z) + lambda * w->penalty;
        double gap = fmax(0, primal - vxs_bp_dual_value(&p->data, xi, 1)) + ROUNDING * p->empty;
        find_lens(p, xi, w->z, 2 * gap / p->data.loss->gamma);
    }
    memcpy(along, w->z, n * sizeof(*along));
    project_onto_complement(&p->base, along);
    double length = cblas_dnrm2((int)n, along, 1);
    double z_norm = cblas_dnrm2((int)n, w->z, 1), center = cblas_dnrm2((int)n, p->dome.center, 1);
    p->dome.radius += ROUNDING * (center + p->dome.radius);
    p->dome.cut = length > 1e-6 * z_norm;
    if (!p->dome.cut)
        return;
    double offset = lambda * w->penalty - cblas_ddot((int)n, along, 1, p->dome.center, 1);
    offset += 10 * ROUNDING * (lambda * w->penalty + z_norm * center);
    p->dome.offset = offset / length;
    cblas_dscal((int)n, 1 / length, along, 1);
}

/* ---- Rows of D and rows of the reduced problem ----------------------------------------------- */

static size_t row_of(const vxs_reparametrized *r, size_t term)
{
    return r->presolved.merged_row[term] == SIZE_MAX ? SIZE_MAX
                                                     : r->number[r->presolved.merged_row[term]];
}

/* A merged row that is 0 makes all its rows 0. */
static void mark_zero_rows(vxs_path *p, const vxs_reparametrized *r)
{
    for (size_t t = 0; t < p->data.terms->count; t++) {
        size_t row = row_of(r, t);
        p->zero[t] = p->zero[t] || row == SIZE_MAX || p->found[row];
    }
}

static size_t count_zero(const vxs_path *p)
{
    size_t count = 0;
    for (size_t t = 0; t < p->data.terms->count; t++)
        count += p->zero[t];
    return count;
}

/* ---- State of a fit -------------------------------------------------------------------------- */

typedef struct {
    vxs_path *path;
    double lambda, target;
    const vxs_reparametrized *problem; /* `own`, or the base; `zero` may already have more rows */
    vxs_bounds *bounds;                /* of `problem`; or NULL */
    vxs_iterate iterate;
    vxs_reparametrized own;
    vxs_bounds own_bounds;
    double tried, best; /* gaps: at the last screening, smallest */
    double retry;       /* share of `tried` at which screening is tried again */
    int waited;
} state;

static void release_state(state *r)
{
    vxs_iterate_release(&r->iterate);
    vxs_bounds_release(&r->own_bounds);
    vxs_reparametrized_release(&r->own);
    r->problem = NULL;
    r->bounds = NULL;
}

static vxs_status build_problem(state *r, vxs_error *err)
{
    vxs_path *p = r->path;
    if (r->problem)
        return VXS_OK;
    if (p->base.data && count_zero(p) == 0) {
        r->problem = &p->base;
        return VXS_OK;
    }
    vxs_status status = vxs_reparametrized_new(&p->data, p->zero, p->transform, &r->own, err);
    r->problem = status ? NULL : &r->own;
    return status;
}

static vxs_status build_bounds(state *r, vxs_error *err)
{
    vxs_path *p = r->path;
    vxs_status status = VXS_OK;
    if (r->bounds)
        return VXS_OK;
    if (r->problem == &p->base && !p->has_bounds) {
        status = vxs_bounds_new(&p->base, p->transform, &p->bounds, err);
        p->has_bounds = !status;
    }
    if (r->problem != &p->base)
        status = vxs_bounds_new(r->problem, p->transform, &r->own_bounds, err);
    r->bounds = status ? NULL : r->problem == &p->base ? &p->bounds : &r->own_bounds;
    return status;
}

static vxs_status start_solver(state *r, vxs_error *err)
{
    vxs_path *p = r->path;
    vxs_status status = build_problem(r, err);
    if (!status)
        status = vxs_reparametrized_factor(r->problem == &p->base ? &p->base : &r->own, err);
    if (!status)
        status = vxs_iterate_new(r->problem, r->lambda, &r->iterate, err);
    if (status)
        return status;
    r->iterate.min_complementarity =
        COMPLEMENTARITY * r->target / (r->lambda * (double)(2 * r->problem->terms + 1));
    r->iterate.gap = r->best = r->tried = INFINITY;
    r->waited = 0;
    return status;
}

/* ---- Screening before the first iteration ---------------------------------------------------- */

/* Sequential screening. The reduced problem has new leaves and shorter paths: repeated while enough
 * rows are found (only with the change of variables). Keeps the last problem for the solver. */
static vxs_status screen_first(state *r, vxs_error *err)
{
    vxs_path *p = r->path;
    bool again = true;
    vxs_path_dual_region(p, r->lambda, &p->reference);
    while (again) {
        vxs_status status = build_problem(r, err);
        if (!status)
            status = build_bounds(r, err);
        if (status)
            return status;
        status = vxs_check_interrupted(p->context, err);
        if (status)
            return status;
        size_t found = vxs_bounds_propagate(r->bounds, &p->dome, r->lambda, p->found);
        mark_zero_rows(p, r->problem);
        again = p->transform && (double)found > MIN_FOUND * (double)r->problem->terms;
        if (again || r->problem == &p->base)
            release_state(r);
    }
    return VXS_OK;
}

/* ---- Interior-point iterations --------------------------------------------------------------- */

/* Cold start: slacks as large as the empty model's value allows. */
static void cold_start(state *r)
{
    const vxs_path *p = r->path;
    double terms = (double)(r->problem->terms > 0 ? r->problem->terms : 1);
    for (size_t i = 0; i < r->problem->n && p->data.loss->squared; i++)
        r->iterate.theta[i] = p->data.root[i] * p->data.y[i];
    for (size_t k = 0; k < r->problem->rank; k++)
        r->iterate.b[k] = cblas_ddot((int)r->problem->n, r->problem->span + k * r->problem->n, 1,
                                     p->data.loss->squared ? r->iterate.theta : p->reference.z, 1);
    vxs_iterate_start(&r->iterate, 0.1 * p->empty / (r->lambda * terms));
}

/* Copies v, up and down to the rows of D. */
static void spread_terms(const state *r)
{
    const vxs_path *p = r->path;
    size_t count = p->data.terms->count;
    double *v = p->term, *up = v + count, *down = up + count;
    for (size_t t = 0; t < count; t++) {
        size_t row = row_of(r->problem, t);
        if (row == SIZE_MAX)
            continue;
        double share = r->problem->presolved.share[t], size = fabs(share);
        const double *to_up = share > 0 ? r->iterate.up : r->iterate.down;
        const double *to_down = share > 0 ? r->iterate.down : r->iterate.up;
        v[t] = copysign(1, share) * r->iterate.v[row];
        up[t] = size * to_up[row];
        down[t] = size * to_down[row];
    }
}

static void gather_terms(const state *r)
{
    const vxs_path *p = r->path;
    size_t count = p->data.terms->count;
    const double *v = p->term, *up = v + count, *down = up + count;
    for (size_t t = 0; t < count; t++) {
        size_t row = row_of(r->problem, t);
        if (row == SIZE_MAX)
            continue;
        double share = r->problem->presolved.share[t];
        r->iterate.v[row] += share * v[t];
        r->iterate.up[row] += share > 0 ? up[t] : down[t];
        r->iterate.down[row] += share > 0 ? down[t] : up[t];
    }
    for (size_t k = 0; k < r->problem->terms; k++)
        r->iterate.v[k] = fmax(INTERIOR - 1, fmin(1 - INTERIOR, r->iterate.v[k]));
}

/* The solver's variables from w, and b from predictions. */
static void gather_variables(const state *r)
{
    const vxs_reparametrized *e = r->problem;
    const vxs_path *p = r->path;
    double *value = p->work, *x = r->iterate.x, *z = r->iterate.z;
    for (size_t j = 0; j < e->presolved.expansion.columns; j++)
        value[j] = p->w[e->presolved.feature[j]];
    for (size_t k = 0; k < e->leaves; k++) {
        const vxs_analysis *d = &e->presolved.terms;
        for (size_t a = d->starts[e->leaf_row[k]]; a < d->starts[e->leaf_row[k] + 1]; a++)
            x[k] += d->value[a] * value[d->index[a]];
    }
    for (size_t k = 0; k < e->reduced; k++) {
        x[e->leaves + k] = value[e->core_variable[k]];
        for (size_t a = e->null_space.starts[k]; a < e->null_space.starts[k + 1]; a++)
            x[e->leaves + k] -= e->null_space.value[a] *
                                value[e->core_variable[e->reduced + e->null_space.index[a]]];
    }
    memcpy(z, p->z, e->n * sizeof(*z));
    cblas_dgemv(CblasColMajor, CblasNoTrans, (int)e->n, (int)(e->leaves + e->reduced), -1, e->x,
                (int)e->n, x, 1, 1, z, 1);
    for (size_t k = 0; k < e->rank; k++)
        r->iterate.b[k] = cblas_ddot((int)e->n, e->span + k * e->n, 1, z, 1);
}

static void expand(const state *r)
{
    vxs_reparametrized_expand(r->problem, r->iterate.x, r->iterate.b, r->path->work, r->path->w,
                              r->path->coefficients);
}

/* Moves the iterate to the problem with the rows found removed. */
static vxs_status restart(state *r, vxs_error *err)
{
    vxs_path *p = r->path;
    double mean = 0;
    spread_terms(r);
    expand(r);
    memcpy(p->z, r->iterate.z, p->data.n * sizeof(*p->z));
    for (size_t k = 0; k < r->problem->terms; k++)
        mean += r->iterate.up[k] * r->iterate.g[k] + r->iterate.down[k] * r->iterate.h[k];
    mean /= (double)(2 * r->problem->terms + 1);
    release_state(r);
    vxs_status status = start_solver(r, err);
    if (status)
        return status;
    gather_terms(r);
    gather_variables(r);
    vxs_iterate_start(&r->iterate, mean);
    return VXS_OK;
}

/* Expected number of further iterations, from the usual reduction of the gap. */
static double expected_iterations(const state *r)
{
    return fmax(0, log(r->iterate.gap / r->target) / log(GAP_FACTOR));
}

/* The dual region that the iterate gives. */
static void find_region(const state *r)
{
    const vxs_iterate *it = &r->iterate;
    vxs_reference reference = { .z = it->z, .theta = it->theta };
    reference.penalty = (it->primal - vxs_bp_loss(&r->path->data, it->z)) / r->lambda;
    vxs_path_dual_region(r->path, r->lambda, &reference);
}

static size_t screen_rows(state *r)
{
    vxs_path *p = r->path;
    size_t found = vxs_bounds_propagate(r->bounds, &p->dome, r->lambda, p->found);
    mark_zero_rows(p, r->problem);
    return found;
}

/* Dynamic screening, tried when the gap has fallen enough since the last time; restarts on the
 * smaller problem if the rows found save more than a restart costs. */
static vxs_status screen_between(state *r, vxs_error *err)
{
    double gap = r->iterate.gap, terms = (double)r->problem->terms,
           share = RESTART_COST / expected_iterations(r);
    if (!(gap < r->retry * r->tried) || !(gap < r->path->empty) || !(share < 1))
        return VXS_OK;
    vxs_status status = build_bounds(r, err);
    if (status)
        return status;
    find_region(r);
    size_t narrow = vxs_bounds_promising(r->bounds, &r->path->dome, r->lambda);
    if ((double)narrow <= share * (double)r->bounds->columns)
        return VXS_OK;
    r->tried = gap;
    bool pays = (double)screen_rows(r) > share * terms;
    r->retry = pays ? RETRY : BACKOFF * r->retry;
    return pays ? restart(r, err) : VXS_OK;
}

/* Iterates until the gap is at most the target or stalls; then screens with the last iterate,
 * without a restart. */
static vxs_status run_iterations(state *r, bool screen, vxs_error *err)
{
    vxs_path *p = r->path;
    vxs_status status = VXS_OK;
    for (int iteration = 0; iteration < MAX_ITERATIONS && !status; iteration++) {
        status = vxs_check_interrupted(p->context, err);
        if (status || !vxs_iterate_step(&r->iterate) || isnan(r->iterate.gap))
            break;
        p->iterations++;
        if (r->iterate.gap <= r->target)
            break;
        r->waited = r->iterate.gap < 0.9 * r->best ? 0 : r->waited + 1;
        r->best = fmin(r->best, r->iterate.gap);
        if (r->waited > PATIENCE && r->best < STALL_GAP * p->empty)
            break;
        double start = vxs_seconds();
        if (screen && p->dynamic)
            status = screen_between(r, err);
        p->screening += vxs_seconds() - start;
    }
    double start = vxs_seconds();
    if (!status && screen && p->dynamic && r->bounds && r->iterate.gap < p->empty) {
        find_region(r);
        screen_rows(r);
    }
    p->screening += vxs_seconds() - start;
    return status;
}

/* Writes the iterate to the path: weights, predictions, values of rows. */
static void write_iterate(state *r)
{
    spread_terms(r);
    expand(r);
    memcpy(r->path->z, r->iterate.z, r->path->data.n * sizeof(*r->path->z));
}

static vxs_status solve_reduced(state *r, bool screen, vxs_error *err)
{
    vxs_status status = start_solver(r, err);
    if (!status) {
        cold_start(r);
        status = run_iterations(r, screen, err);
    }
    if (!status)
        write_iterate(r);
    return status;
}

vxs_status vxs_path_solve(vxs_path *p, double lambda, double target, bool screen, vxs_error *err)
{
    state r = { .path = p, .lambda = lambda, .target = target, .retry = RETRY };
    double start = vxs_seconds();
    size_t count = p->data.terms->count;
    vxs_status status = VXS_OK;
    memset(p->zero, 0, count * sizeof(*p->zero));
    memset(p->term, 0, 3 * count * sizeof(*p->term));
    if (screen && p->sequential && p->reference.known)
        status = screen_first(&r, err);
    p->before = count_zero(p);
    p->screening += vxs_seconds() - start;
    if (!status)
        status = solve_reduced(&r, screen, err);
    p->after = count_zero(p);
    release_state(&r);
    return status;
}

static vxs_status solve_marked(vxs_path *p, double lambda, double target, vxs_error *err)
{
    state r = { .path = p, .lambda = lambda, .target = target };
    vxs_status status = solve_reduced(&r, false, err);
    release_state(&r);
    return status;
}

vxs_status vxs_path_empty(vxs_path *p, vxs_error *err)
{
    return solve_marked(p, 1, 0, err);
}

/* Marks rows whose slack is small beside the distance of v from the boundary as 0: at the optimum
 * one of the two is 0. */
static void mark_small_rows(vxs_path *p)
{
    size_t count = p->data.terms->count;
    const double *v = p->term, *up = v + count, *down = up + count;
    double largest = 0;
    for (size_t t = 0; t < count; t++)
        largest = p->zero[t] ? largest : fmax(largest, fmax(up[t], down[t]));
    for (size_t t = 0; t < count; t++)
        p->zero[t] = p->zero[t] || (up[t] < ACTIVE * largest * (1 - v[t]) &&
                                    down[t] < ACTIVE * largest * (1 + v[t]));
}

vxs_status vxs_path_polish(vxs_path *p, double lambda, double target, vxs_error *err)
{
    mark_small_rows(p);
    return solve_marked(p, lambda, target, err);
}
