/* bound_propagation.c - any penalty |D w|_1: bound propagation over an interior point method.
 *
 * Problem   sum u f(x'w + c'b) + lambda |D w|_1, over w and b; D sparse, of any kind
 * Dual      -sum u f*(-lambda theta / u) over X'theta = D'u, |u|_inf <= 1, c'theta = 0
 * Way       Terms that are 0 for certain are taken out before the solver begins and between its
 *           iterations (screened_fit.c, bounds.c), which leaves a smaller problem (presolve.c,
 *           reparametrize.c) to analysis_interior.c. At last terms that look like 0 are 0 and the
 *           rest is solved again: if the gap agrees, that is the answer, with differences that are
 *           0 and not small
 * Stop      the gap over all terms: theta is what the residuals say, without what c and X times
 *           the null space of D span, divided by the true dual norm of X'theta. With graphs that
 *           is the largest cut ratio (graph/split.c), else a linear programme (dual_norm.c)
 * Cost      n x p doubles of memory, twice; see analysis_interior.c
 * Source    dissertation 3.2 and 3.3, with what spec and comments here correct */
#include "solver/bound_propagation/bound_propagation.h"

#include "solver/solver.h"

#include <cblas.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#define BLOCK  64
#define LEAST  1e-14 /* of the sum of lengths: what rounding leaves of a sum that is 0 */
#define INSIDE 0.1   /* of the gap that is asked for: the solver's, before the true norm is known */
#define FINER                                                                                      \
    1e-3 /* of that, when it is polished: where a term is 0 and its u is 1 the norm feels what     \
            theta is off, and the gap only its square */
#define ROUNDING  1e-15
#define NONE      1e-13 /* of columns and target: a lambda that is none */
#define UNSOLVED  1e-9  /* of the square of the slope: what the free columns still have of it */
#define EXPLAINED 1e-9  /* what is left of the slope, as a share of it */

typedef struct {
    vxs_solver solver;
    vxs_problem problem;
    vxs_method_settings settings;
    vxs_analysis edges; /* of a graph */
    vxs_path path;
    vxs_flow *flow;             /* of a graph */
    size_t *sample;             /* rows with a weight */
    double *away;               /* n */
    double *value;              /* p: X'theta */
    double *u;                  /* terms of the base */
    double *spare, *spare_free; /* p, q: another answer */
    double lambda_max;
    vxs_costs costs;
} bp;

static void release(vxs_solver *solver)
{
    bp *b = (bp *)solver;
    vxs_path *p = &b->path;
    if (p->has_bounds)
        vxs_bounds_release(&p->bounds);
    vxs_rest_release(&p->base);
    vxs_dome_release(&p->dome);
    vxs_analysis_release(&b->edges);
    vxs_flow_free(b->flow);
    free(p->whole.x);
    free(p->whole.free);
    free(p->whole.y);
    free(p->whole.root);
    free(p->witness.z);
    free(p->witness.theta);
    free(p->w);
    free(p->free);
    free(p->z);
    free(p->xi);
    free(p->work);
    free(p->zero);
    free(p->found);
    free(p->term);
    free(b->sample);
    free(b->away);
    free(b->value);
    free(b->u);
    free(b->spare);
    free(b->spare_free);
    free(b);
}

static double lambda_max(const vxs_solver *solver)
{
    return ((const bp *)solver)->lambda_max;
}

/* ---- The data -------------------------------------------------------------------------------- */

/* Rows that count, times the roots of their weights. */
static void scale_rows(const bp *b, const double *from, size_t columns, double *to)
{
    const vxs_whole *w = &b->path.whole;
    size_t n = vxs_design_rows(b->problem.design);
    for (size_t j = 0; j < columns; j++)
        for (size_t i = 0; i < w->n; i++)
            to[j * w->n + i] = w->root[i] * from[j * n + b->sample[i]];
}

static vxs_status find_samples(bp *b, vxs_error *err)
{
    vxs_whole *w = &b->path.whole;
    size_t n = vxs_design_rows(b->problem.design);
    b->sample = vxs_alloc(n, sizeof(*b->sample), err);
    w->root = vxs_alloc(n, sizeof(*w->root), err);
    w->y = vxs_alloc(n, sizeof(*w->y), err);
    if (!b->sample || !w->root || !w->y)
        return VXS_FAILED;
    for (size_t i = 0; i < n; i++) {
        double u = vxs_loss_weight(&b->problem.loss, i);
        if (!(u > 0))
            continue;
        b->sample[w->n] = i;
        w->root[w->n] = sqrt(u);
        w->y[w->n++] = b->problem.loss.y[i];
    }
    return VXS_OK;
}

/* Lengths as before anything was taken out of columns, whose rounding stays in what is left. */
static void add_lengths(bp *b)
{
    vxs_whole *w = &b->path.whole;
    const double *norms = vxs_design_norms(b->problem.design);
    const double *stored = vxs_design_stored(b->problem.design);
    for (size_t j = 0; j < w->p; j++) {
        double before = norms[j] > 0 ? fmax(1, stored[j] / norms[j]) : 1;
        w->least += LEAST * before * cblas_dnrm2((int)w->n, w->x + j * w->n, 1);
    }
}

static vxs_status load(bp *b, vxs_error *err)
{
    vxs_whole *w = &b->path.whole;
    size_t set[BLOCK], n = vxs_design_rows(b->problem.design);
    vxs_status status = find_samples(b, err);
    if (status)
        return status;
    double *block = vxs_alloc(BLOCK * n, sizeof(*block), err);
    w->x = vxs_alloc(w->p, w->n * sizeof(*w->x), err);
    w->free = vxs_alloc(w->q, w->n * sizeof(*w->free), err);
    for (size_t first = 0; block && w->x && w->free && first < w->p; first += BLOCK) {
        size_t count = w->p - first < BLOCK ? w->p - first : BLOCK;
        for (size_t k = 0; k < count; k++)
            set[k] = first + k;
        vxs_design_fetch(b->problem.design, set, count, block);
        scale_rows(b, block, count, w->x + first * w->n);
    }
    if (w->free && w->q > 0)
        scale_rows(b, b->problem.covariates, w->q, w->free);
    if (w->x)
        add_lengths(b);
    free(block);
    return block && w->x && w->free ? VXS_OK : VXS_FAILED;
}

static vxs_status find_terms(bp *b, vxs_error *err)
{
    vxs_whole *w = &b->path.whole;
    const vxs_generalized *sums = vxs_as_generalized(b->problem.penalty);
    const vxs_fused *fused = vxs_as_fused(b->problem.penalty);
    w->terms = sums ? sums->terms : &b->edges;
    if (sums)
        return VXS_OK;
    vxs_status status = vxs_analysis_edges(fused->graph, fused->sparsity, &b->edges, err);
    if (!status)
        status = vxs_flow_new(fused->graph, fused->sparsity, &b->flow, err);
    return status;
}

static vxs_status make_room(bp *b, vxs_error *err)
{
    vxs_path *p = &b->path;
    size_t n = p->whole.n, features = p->whole.p, q = p->whole.q, terms = p->whole.terms->count;
    p->w = vxs_alloc(features, sizeof(*p->w), err);
    p->free = vxs_alloc(q, sizeof(*p->free), err);
    p->z = vxs_alloc(n, sizeof(*p->z), err);
    p->xi = vxs_alloc(n, sizeof(*p->xi), err);
    p->work = vxs_alloc(2 * features + q, sizeof(*p->work), err);
    p->zero = vxs_alloc(terms, sizeof(*p->zero), err);
    p->found = vxs_alloc(terms, sizeof(*p->found), err);
    p->term = vxs_alloc(terms, 3 * sizeof(*p->term), err);
    p->witness.z = vxs_alloc(n, sizeof(*p->witness.z), err);
    p->witness.theta = vxs_alloc(n, sizeof(*p->witness.theta), err);
    b->away = vxs_alloc(n, sizeof(*b->away), err);
    b->value = vxs_alloc(features, sizeof(*b->value), err);
    b->u = vxs_alloc(terms, sizeof(*b->u), err);
    b->spare = vxs_alloc(features, sizeof(*b->spare), err);
    b->spare_free = vxs_alloc(q, sizeof(*b->spare_free), err);
    return p->w && p->free && p->z && p->xi && p->work && p->zero && p->found && p->term &&
                   p->witness.z && p->witness.theta && b->away && b->value && b->u && b->spare &&
                   b->spare_free
               ? vxs_dome_new(n, &p->dome, err)
               : VXS_FAILED;
}

/* ---- What can be solved ---------------------------------------------------------------------- */

static vxs_status check_levels(const bp *b, vxs_error *err)
{
    const vxs_rest *base = &b->path.base;
    if (base->rank < b->path.whole.n)
        return VXS_OK;
    return vxs_fail(err, VXS_BAD_DATA,
                    "%zu levels and free columns are not penalised, which %zu subjects cannot tell "
                    "apart",
                    base->frees, b->path.whole.n);
}

/* ---- The empty model ------------------------------------------------------------------------- */

static void take_span_out(const vxs_rest *r, double *x)
{
    for (size_t k = 0; k < 2 * r->rank; k++) {
        const double *s = r->span + k % r->rank * r->n;
        cblas_daxpy((int)r->n, -cblas_ddot((int)r->n, s, 1, x, 1), s, 1, x, 1);
    }
}

/* X'theta's norm, and u where that is not left to flows. */
static vxs_status find_norm(bp *b, const double *theta, double least, double *norm, vxs_error *err)
{
    const vxs_whole *w = &b->path.whole;
    if (!b->flow)
        return vxs_rest_norm(&b->path.base, theta, b->u, norm, err);
    cblas_dgemv(CblasColMajor, CblasTrans, (int)w->n, (int)w->p, 1, w->x, (int)w->n, theta, 1, 0,
                b->value, 1);
    *norm = vxs_flow_norm(b->flow, b->value, least);
    return VXS_OK;
}

/* What rounding leaves of a target that the free columns explain is not to be fitted; nor is one
 * whose classes they separate, of which Newton's method finds no end. */
static bool is_explained(const bp *b, double along)
{
    const vxs_whole *w = &b->path.whole;
    double *xi = b->path.xi, left = 0;
    memset(b->path.z, 0, w->n * sizeof(double));
    vxs_whole_slope(w, b->path.z, xi);
    for (size_t i = 0; i < w->n; i++)
        left += b->away[i] * b->away[i];
    double whole = cblas_ddot((int)w->n, xi, 1, xi, 1);
    return !(left > EXPLAINED * EXPLAINED * whole) || !(along < UNSOLVED * left);
}

static double longest_column(const vxs_whole *w)
{
    double most = 0;
    for (size_t j = 0; j < w->p; j++)
        most = fmax(most, cblas_dnrm2((int)w->n, w->x + j * w->n, 1));
    return most;
}

static vxs_status solve_empty(bp *b, vxs_error *err)
{
    vxs_path *p = &b->path;
    size_t n = p->whole.n;
    for (size_t t = 0; t < p->whole.terms->count; t++)
        p->zero[t] = true;
    p->empty = vxs_whole_loss(&p->whole, p->z);
    vxs_status status = vxs_path_empty(p, err);
    if (status)
        return status;
    p->empty = vxs_whole_loss(&p->whole, p->z);
    memcpy(p->witness.z, p->z, n * sizeof(*p->z));
    vxs_whole_slope(&p->whole, p->z, b->away);
    double along = cblas_ddot((int)n, b->away, 1, b->away, 1);
    take_span_out(&p->base, b->away);
    along -= cblas_ddot((int)n, b->away, 1, b->away, 1);
    p->whole.away = b->away;
    status = find_norm(b, b->away, 0, &b->lambda_max, err);
    double most = NONE * longest_column(&p->whole) * cblas_dnrm2((int)n, b->away, 1);
    if (is_explained(b, along) || b->lambda_max <= most)
        b->lambda_max = 0;
    for (size_t i = 0; i < n && b->lambda_max > 0; i++)
        p->witness.theta[i] = b->away[i] / b->lambda_max;
    p->witness.known = b->lambda_max > 0;
    return status;
}

/* ---- The beginning --------------------------------------------------------------------------- */

static vxs_status set_up(bp *b, vxs_error *err)
{
    vxs_path *p = &b->path;
    p->whole.loss = b->problem.loss.kind;
    p->whole.threshold = b->problem.loss.threshold;
    p->whole.p = vxs_design_columns(b->problem.design);
    p->whole.q = b->problem.covariate_count;
    p->transform = !b->settings.fused.untransformed;
    p->dynamic = b->settings.saif.screen != VXS_SCREEN_NONE;
    p->sequential = p->dynamic && b->settings.saif.screen != VXS_SCREEN_DYNAMIC;
    vxs_status status = vxs_design_measure(b->problem.design, err);
    if (!status)
        status = load(b, err);
    if (!status)
        status = find_terms(b, err);
    if (!status)
        status = make_room(b, err);
    if (!status)
        status = vxs_rest_new(&p->whole, p->zero, p->transform, &p->base, err);
    if (!status)
        status = vxs_rest_factor(&p->base, err);
    if (!status)
        status = check_levels(b, err);
    return status ? status : solve_empty(b, err);
}

static vxs_status begin(const vxs_context *context, const vxs_problem *problem,
                        const vxs_method_settings *settings, vxs_solver **solver, vxs_error *err)
{
    bp *b = vxs_alloc(1, sizeof(*b), err);
    if (!b)
        return VXS_FAILED;
    b->solver.kind = &vxs_bp_kind;
    b->path.context = context;
    b->costs = vxs_costs_begin(problem->design);
    b->problem = *problem;
    b->settings = *settings;
    vxs_status status = set_up(b, err);
    if (status) {
        release(&b->solver);
        return status;
    }
    *solver = &b->solver;
    return VXS_OK;
}

/* ---- The certificate ------------------------------------------------------------------------- */

typedef struct {
    double primal, dual, gap, size;
} verdict;

/* Of the path's w and free; theta goes to xi, predictions to z. */
static vxs_status certify(bp *b, double lambda, verdict *v, vxs_error *err)
{
    vxs_path *p = &b->path;
    const vxs_whole *w = &p->whole;
    const vxs_analysis *d = w->terms;
    double norm = 0;
    int n = (int)w->n;
    cblas_dgemv(CblasColMajor, CblasNoTrans, n, (int)w->p, 1, w->x, n, p->w, 1, 0, p->z, 1);
    if (w->q > 0)
        cblas_dgemv(CblasColMajor, CblasNoTrans, n, (int)w->q, 1, w->free, n, p->free, 1, 1, p->z,
                    1);
    v->size = 0;
    for (size_t t = 0; t < d->count; t++) {
        double sum = 0;
        for (size_t a = d->starts[t]; a < d->starts[t + 1]; a++)
            sum += d->value[a] * p->w[d->index[a]];
        v->size += fabs(sum);
    }
    vxs_whole_slope(w, p->z, p->xi);
    take_span_out(&p->base, p->xi);
    vxs_whole_bring_inside(w, p->xi);
    cblas_dscal(n, 1 / lambda, p->xi, 1);
    vxs_status status = find_norm(b, p->xi, 0.5, &norm, err);
    cblas_dscal(n, lambda, p->xi, 1);
    double scale = vxs_whole_scale(w, p->xi, norm > 0 ? 1 / norm : INFINITY);
    v->primal = vxs_whole_loss(w, p->z) + lambda * v->size;
    v->dual = vxs_whole_dual(w, p->xi, scale);
    v->gap = v->primal - v->dual;
    cblas_dscal(n, scale / lambda, p->xi, 1);
    cblas_dscal((int)p->base.terms, scale, b->u, 1);
    return status;
}

/* The answer and the other one change places. */
static void swap(bp *b)
{
    double *w = b->path.w, *f = b->path.free;
    b->path.w = b->spare;
    b->path.free = b->spare_free;
    b->spare = w;
    b->spare_free = f;
}

/* From lambda_max on nothing is penalised. */
static vxs_status solve_without_terms(bp *b, double lambda, verdict *v, vxs_error *err)
{
    vxs_path *p = &b->path;
    for (size_t t = 0; t < p->whole.terms->count; t++)
        p->zero[t] = true;
    vxs_status status = vxs_path_empty(p, err);
    p->before = p->after = p->whole.terms->count;
    return status ? status : certify(b, lambda > 0 ? lambda : 1, v, err);
}

/* The polished answer, unless the other one has the smaller gap. */
static vxs_status solve_to(bp *b, double lambda, double target, bool screen, verdict *v,
                           vxs_error *err)
{
    vxs_path *p = &b->path;
    verdict first;
    vxs_status status = vxs_path_solve(p, lambda, target, screen, err);
    if (status)
        return status;
    memcpy(b->spare, p->w, p->whole.p * sizeof(*p->w));
    memcpy(b->spare_free, p->free, p->whole.q * sizeof(*p->free));
    status = vxs_path_polish(p, lambda, fmax(FINER * target, ROUNDING * p->empty), err);
    if (!status)
        status = certify(b, lambda, v, err);
    if (status || v->gap <= b->settings.tol * p->empty)
        return status;
    swap(b);
    status = certify(b, lambda, &first, err);
    if (!status && !(v->gap < first.gap)) {
        *v = first;
        return VXS_OK;
    }
    swap(b);
    return status ? status : certify(b, lambda, v, err);
}

/* One lambda. The true norm may be a little larger than the solver's, which then goes on. */
static vxs_status solve(bp *b, double lambda, bool screen, verdict *v, vxs_error *err)
{
    double enough = b->settings.tol * b->path.empty;
    if (screen && lambda >= b->lambda_max)
        return solve_without_terms(b, lambda, v, err);
    vxs_status status = solve_to(b, lambda, INSIDE * enough, screen, v, err);
    if (!status && !(v->gap <= enough))
        status = solve_to(b, lambda, INSIDE * FINER * enough, screen, v, err);
    return status;
}

/* ---- One lambda ------------------------------------------------------------------------------ */

/* Pieces of equal weight along the edges of a graph, but for those whose weight is 0. */
static vxs_status count_pieces(const bp *b, size_t nonzero, size_t *pieces, vxs_error *err)
{
    const vxs_fused *fused = vxs_as_fused(b->problem.penalty);
    const vxs_graph *g = fused ? fused->graph : NULL;
    *pieces = 0;
    if (!g)
        return VXS_OK;
    vxs_graph same, forest;
    vxs_status status = vxs_graph_new(g->nodes, g->count, &same, err);
    if (status)
        return status;
    same.count = 0;
    for (size_t e = 0; e < g->count; e++)
        if (b->path.w[g->from[e]] != 0 && b->path.w[g->from[e]] == b->path.w[g->to[e]]) {
            same.from[same.count] = g->from[e];
            same.to[same.count++] = g->to[e];
        }
    status = vxs_graph_spanning_forest(&same, same.weight, &forest, err);
    if (!status)
        *pieces = nonzero - forest.count;
    vxs_graph_release(&forest);
    vxs_graph_release(&same);
    return status;
}

/* theta of samples as they were given, and u of terms. */
static vxs_status take_bound(const bp *b, vxs_solution *solution, vxs_error *err)
{
    const vxs_path *p = &b->path;
    const vxs_rest *base = &p->base;
    size_t terms = p->whole.terms->count;
    if (b->flow)
        return VXS_OK;
    solution->bound = vxs_bound_of_terms(vxs_design_rows(b->problem.design), terms, err);
    if (!solution->bound)
        return VXS_FAILED;
    for (size_t i = 0; i < p->whole.n; i++)
        solution->bound->theta[b->sample[i]] = p->witness.theta[i] * p->whole.root[i];
    for (size_t t = 0; t < terms; t++) {
        size_t group = base->left.group[t];
        if (group != SIZE_MAX)
            solution->bound->u[t] = copysign(1, base->left.share[t]) * b->u[base->number[group]];
    }
    return VXS_OK;
}

static vxs_status take_solution(bp *b, vxs_solution *solution, vxs_error *err)
{
    const vxs_path *p = &b->path;
    size_t count = 0;
    for (size_t j = 0; j < p->whole.p; j++)
        count += p->w[j] != 0;
    solution->index = vxs_alloc(count, sizeof(*solution->index), err);
    solution->weight = vxs_alloc(count, sizeof(*solution->weight), err);
    solution->free = vxs_alloc(p->whole.q, sizeof(*solution->free), err);
    if (!solution->index || !solution->weight || !solution->free)
        return VXS_FAILED;
    memcpy(solution->free, p->free, p->whole.q * sizeof(*p->free));
    for (size_t j = 0; j < p->whole.p; j++)
        if (p->w[j] != 0) {
            solution->index[solution->count] = j;
            solution->weight[solution->count++] = p->w[j];
        }
    solution->certificate.nonzero = count;
    vxs_status status = count_pieces(b, count, &solution->certificate.pieces, err);
    return status ? status : take_bound(b, solution, err);
}

/* The next lambda's screening begins here. */
static void remember(bp *b, const verdict *v)
{
    vxs_witness *w = &b->path.witness;
    memcpy(w->z, b->path.z, b->path.whole.n * sizeof(*w->z));
    memcpy(w->theta, b->path.xi, b->path.whole.n * sizeof(*w->theta));
    w->size = v->size;
    w->known = true;
}

/* The same without screening; the answer stays the one with it. */
static vxs_status compare(bp *b, double lambda, vxs_screening *s, double primal, vxs_error *err)
{
    double start = vxs_seconds();
    verdict v;
    double *w = b->path.w, *f = b->path.free;
    double *other = vxs_alloc(b->path.whole.p + b->path.whole.q, sizeof(*other), err);
    if (!other)
        return VXS_FAILED;
    memcpy(other, w, b->path.whole.p * sizeof(*w));
    memcpy(other + b->path.whole.p, f, b->path.whole.q * sizeof(*f));
    vxs_status status = solve(b, lambda, false, &v, err);
    memcpy(b->path.w, other, b->path.whole.p * sizeof(*w));
    memcpy(b->path.free, other + b->path.whole.p, b->path.whole.q * sizeof(*f));
    free(other);
    s->compared = true;
    s->without = vxs_seconds() - start;
    s->difference = status ? 0 : v.primal - primal;
    return status;
}

static void fill_certificate(bp *b, const verdict *v, vxs_certificate *c)
{
    const vxs_path *p = &b->path;
    c->primal = v->primal;
    c->dual = v->dual;
    c->gap = vxs_relative_gap(v->gap, p->empty);
    c->converged = vxs_has_converged(c->gap, c->tol);
    c->iterations = p->iterations;
    vxs_costs_take(&b->costs, b->problem.design, c);
    c->screening = (vxs_screening){ .terms = p->whole.terms->count,
                                    .before = p->before,
                                    .after = p->after,
                                    .screening = p->screening };
}

static vxs_status fit(vxs_solver *solver, double lambda, vxs_solution *solution, vxs_error *err)
{
    bp *b = (bp *)solver;
    verdict v;
    double start = vxs_seconds();
    *solution = (vxs_solution){
        .certificate = { .lambda = lambda, .lambda_max = b->lambda_max, .tol = b->settings.tol }
    };
    vxs_certificate *c = &solution->certificate;
    b->path.iterations = 0;
    b->path.screening = 0;
    vxs_status status = solve(b, lambda, true, &v, err);
    if (!status) {
        fill_certificate(b, &v, c);
        c->screening.solving = vxs_seconds() - start - c->screening.screening;
        remember(b, &v);
        status = take_solution(b, solution, err);
    }
    if (!status && b->settings.fused.compare)
        status = compare(b, lambda, &c->screening, v.primal, err);
    if (status)
        vxs_solution_release(solution);
    b->costs.began = vxs_seconds(); /* comparing is not of the next fit */
    return status;
}

const vxs_solver_kind vxs_bp_kind = {
    .begin = begin,
    .lambda_max = lambda_max,
    .fit = fit,
    .release = release,
};
