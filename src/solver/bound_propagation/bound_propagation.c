/* bound_propagation.c - generalized lasso: bound propagation over an interior-point method.
 *
 * Problem   min over w, b: sum_i u_i f(x_i'w + z_i'b, y_i) + lambda |D w|_1, D any sparse matrix
 * Dual      max -sum_i u_i f*(-lambda theta_i / u_i) over X'theta = D'u, |u|_inf <= 1, Z'theta = 0
 * Optimal   theta = -f'/lambda, u_k = sign(D_k w) where D_k w is not 0
 * Method    Screening (screened_fit.c, bounds.c) finds rows with |u_k| < 1 at the optimum, hence
 *           D_k w = 0, before the first iteration and between iterations; presolve.c and
 *           reparametrize.c remove them, analysis_interior.c solves the reduced problem. Polishing
 *           fixes rows that are nearly 0 to 0 and solves again: with a gap below the tolerance,
 *           that is the solution, with exact zeros
 * Stops     duality gap over all rows: the residual projected onto the complement of Z and X N, N
 *           the null space of D, over the dual norm of X'theta. For graphs the dual norm is the
 *           maximum cut ratio (graph/split.c), else a linear program (dual_norm.c)
 * Cost      memory: twice n x p doubles; time: analysis_interior.c
 * Threads   those of BLAS
 * Source    dissertation 3.2 and 3.3: Table 3.1, (3.37) to (3.48), Algorithm 3; corrected in
 *           spec/fused.md: the dual norm instead of Theorem 8, no slack in (3.56) */
#include "solver/bound_propagation/bound_propagation.h"

#include "solver/solver.h"

#include <cblas.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#define BLOCK        64
#define SUM_ROUNDING 1e-14 /* of the sum of column norms: error bound of a sum */
#define INSIDE       0.1   /* of the target gap: the solver's, before the dual norm is known */
#define FINER                                                                                      \
    1e-3 /* of that for polishing: errors are first order in the norm, second in the gap */
#define ROUNDING  1e-15
#define NO_LAMBDA 1e-13 /* of column norm x target norm: lambda_max is 0 */
#define UNSOLVED  1e-9  /* of the squared gradient: its part in the span after Newton */
#define EXPLAINED 1e-9  /* of the gradient: rounding, the covariates fit exactly */

typedef struct {
    vxs_solver solver;
    vxs_problem problem;
    vxs_method_settings settings;
    vxs_analysis edges; /* D of a graph */
    vxs_path path;
    vxs_flow *flow; /* maximum flow on a graph */
    size_t *sample; /* rows with weight > 0 */
    double *xi_empty;
    double *value;                      /* p: X'theta */
    double *u;                          /* rows of the base problem */
    double *spare, *spare_coefficients; /* p, q: second solution */
    double lambda_max;
    vxs_costs costs;
} bp;

static void release(vxs_solver *solver)
{
    bp *b = (bp *)solver;
    vxs_path *p = &b->path;
    if (p->has_bounds)
        vxs_bounds_release(&p->bounds);
    vxs_reparametrized_release(&p->base);
    vxs_dome_release(&p->dome);
    vxs_analysis_release(&b->edges);
    vxs_flow_free(b->flow);
    free(p->data.x);
    free(p->data.covariates);
    free(p->data.y);
    free(p->data.root);
    free(p->reference.z);
    free(p->reference.theta);
    free(p->w);
    free(p->coefficients);
    free(p->z);
    free(p->xi);
    free(p->work);
    free(p->zero);
    free(p->found);
    free(p->term);
    free(b->sample);
    free(b->xi_empty);
    free(b->value);
    free(b->u);
    free(b->spare);
    free(b->spare_coefficients);
    free(b);
}

static double lambda_max(const vxs_solver *solver)
{
    return ((const bp *)solver)->lambda_max;
}

/* ---- The data -------------------------------------------------------------------------------- */

/* Rows with weight > 0, multiplied by sqrt(u). */
static void scale_rows(const bp *b, const double *from, size_t columns, double *to)
{
    const vxs_bp_data *w = &b->path.data;
    size_t n = vxs_design_rows(b->problem.design);
    for (size_t j = 0; j < columns; j++)
        for (size_t i = 0; i < w->n; i++)
            to[j * w->n + i] = w->root[i] * from[j * n + b->sample[i]];
}

static vxs_status find_samples(bp *b, vxs_error *err)
{
    vxs_bp_data *w = &b->path.data;
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

/* Error bound of sums of columns, from their norms before standardization and regression. */
static void bound_rounding(bp *b)
{
    vxs_bp_data *w = &b->path.data;
    const double *norms = vxs_design_norms(b->problem.design);
    const double *stored = vxs_design_stored(b->problem.design);
    for (size_t j = 0; j < w->p; j++) {
        double stored_ratio = norms[j] > 0 ? fmax(1, stored[j] / norms[j]) : 1;
        w->rounding += SUM_ROUNDING * stored_ratio * cblas_dnrm2((int)w->n, w->x + j * w->n, 1);
    }
}

static vxs_status load(bp *b, vxs_error *err)
{
    vxs_bp_data *w = &b->path.data;
    size_t set[BLOCK], n = vxs_design_rows(b->problem.design);
    vxs_status status = find_samples(b, err);
    if (status)
        return status;
    double *block = vxs_alloc(BLOCK * n, sizeof(*block), err);
    w->x = vxs_alloc(w->p, w->n * sizeof(*w->x), err);
    w->covariates = vxs_alloc(w->q, w->n * sizeof(*w->covariates), err);
    for (size_t first = 0; block && w->x && w->covariates && first < w->p; first += BLOCK) {
        size_t count = w->p - first < BLOCK ? w->p - first : BLOCK;
        for (size_t k = 0; k < count; k++)
            set[k] = first + k;
        vxs_design_fetch(b->problem.design, set, count, block);
        scale_rows(b, block, count, w->x + first * w->n);
    }
    if (w->covariates && w->q > 0)
        scale_rows(b, b->problem.covariates, w->q, w->covariates);
    if (w->x)
        bound_rounding(b);
    free(block);
    return block && w->x && w->covariates ? VXS_OK : VXS_FAILED;
}

static vxs_status find_terms(bp *b, vxs_error *err)
{
    vxs_bp_data *w = &b->path.data;
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

static vxs_status allocate(bp *b, vxs_error *err)
{
    vxs_path *p = &b->path;
    size_t n = p->data.n, features = p->data.p, q = p->data.q, terms = p->data.terms->count;
    p->w = vxs_alloc(features, sizeof(*p->w), err);
    p->coefficients = vxs_alloc(q, sizeof(*p->coefficients), err);
    p->z = vxs_alloc(n, sizeof(*p->z), err);
    p->xi = vxs_alloc(n, sizeof(*p->xi), err);
    p->work = vxs_alloc(2 * features + q, sizeof(*p->work), err);
    p->zero = vxs_alloc(terms, sizeof(*p->zero), err);
    p->found = vxs_alloc(terms, sizeof(*p->found), err);
    p->term = vxs_alloc(terms, 3 * sizeof(*p->term), err);
    p->reference.z = vxs_alloc(n, sizeof(*p->reference.z), err);
    p->reference.theta = vxs_alloc(n, sizeof(*p->reference.theta), err);
    b->xi_empty = vxs_alloc(n, sizeof(*b->xi_empty), err);
    b->value = vxs_alloc(features, sizeof(*b->value), err);
    b->u = vxs_alloc(terms, sizeof(*b->u), err);
    b->spare = vxs_alloc(features, sizeof(*b->spare), err);
    b->spare_coefficients = vxs_alloc(q, sizeof(*b->spare_coefficients), err);
    return p->w && p->coefficients && p->z && p->xi && p->work && p->zero && p->found && p->term &&
                   p->reference.z && p->reference.theta && b->xi_empty && b->value && b->u &&
                   b->spare && b->spare_coefficients
               ? vxs_dome_new(n, &p->dome, err)
               : VXS_FAILED;
}

/* ---- Identifiability ------------------------------------------------------------------------- */

static vxs_status check_identified(const bp *b, vxs_error *err)
{
    const vxs_reparametrized *base = &b->path.base;
    if (base->rank < b->path.data.n)
        return VXS_OK;
    return vxs_fail(err, VXS_BAD_DATA,
                    "%zu region values and covariates are not penalized, which %zu subjects do not "
                    "identify",
                    base->unpenalized_columns, b->path.data.n);
}

/* ---- The empty model ------------------------------------------------------------------------- */

static void project_onto_complement(const vxs_reparametrized *r, double *x)
{
    for (size_t k = 0; k < 2 * r->rank; k++) {
        const double *s = r->span + k % r->rank * r->n;
        cblas_daxpy((int)r->n, -cblas_ddot((int)r->n, s, 1, x, 1), s, 1, x, 1);
    }
}

/* The dual norm of X'theta, and u unless a maximum flow computes it. */
static vxs_status find_dual_norm(bp *b, const double *theta, double least, double *norm,
                                 vxs_error *err)
{
    const vxs_bp_data *w = &b->path.data;
    if (!b->flow)
        return vxs_reparametrized_dual_norm(&b->path.base, theta, b->u, norm, err);
    cblas_dgemv(CblasColMajor, CblasTrans, (int)w->n, (int)w->p, 1, w->x, (int)w->n, theta, 1, 0,
                b->value, 1);
    *norm = vxs_flow_norm(b->flow, b->value, least);
    return VXS_OK;
}

/* True if covariates fit the target up to rounding, or separate the classes, where Newton's method
 * diverges. */
static bool is_explained(const bp *b, double along)
{
    const vxs_bp_data *w = &b->path.data;
    double *xi = b->path.xi, left = 0;
    memset(b->path.z, 0, w->n * sizeof(double));
    vxs_bp_negative_gradient(w, b->path.z, xi);
    for (size_t i = 0; i < w->n; i++)
        left += b->xi_empty[i] * b->xi_empty[i];
    double whole = cblas_ddot((int)w->n, xi, 1, xi, 1);
    return !(left > EXPLAINED * EXPLAINED * whole) || !(along < UNSOLVED * left);
}

static double longest_column(const vxs_bp_data *w)
{
    double most = 0;
    for (size_t j = 0; j < w->p; j++)
        most = fmax(most, cblas_dnrm2((int)w->n, w->x + j * w->n, 1));
    return most;
}

static vxs_status fit_empty(bp *b, vxs_error *err)
{
    vxs_path *p = &b->path;
    size_t n = p->data.n;
    for (size_t t = 0; t < p->data.terms->count; t++)
        p->zero[t] = true;
    p->empty = vxs_bp_loss(&p->data, p->z);
    vxs_status status = vxs_path_empty(p, err);
    if (status)
        return status;
    p->empty = vxs_bp_loss(&p->data, p->z);
    memcpy(p->reference.z, p->z, n * sizeof(*p->z));
    vxs_bp_negative_gradient(&p->data, p->z, b->xi_empty);
    double along = cblas_ddot((int)n, b->xi_empty, 1, b->xi_empty, 1);
    project_onto_complement(&p->base, b->xi_empty);
    along -= cblas_ddot((int)n, b->xi_empty, 1, b->xi_empty, 1);
    p->data.xi_empty = b->xi_empty;
    status = find_dual_norm(b, b->xi_empty, 0, &b->lambda_max, err);
    double most = NO_LAMBDA * longest_column(&p->data) * cblas_dnrm2((int)n, b->xi_empty, 1);
    if (is_explained(b, along) || b->lambda_max <= most)
        b->lambda_max = 0;
    for (size_t i = 0; i < n && b->lambda_max > 0; i++)
        p->reference.theta[i] = b->xi_empty[i] / b->lambda_max;
    p->reference.known = b->lambda_max > 0;
    return status;
}

/* ---- Initialization -------------------------------------------------------------------------- */

static vxs_status prepare(bp *b, vxs_error *err)
{
    vxs_path *p = &b->path;
    p->data.loss = b->problem.loss.kind;
    p->data.threshold = b->problem.loss.threshold;
    p->data.p = vxs_design_columns(b->problem.design);
    p->data.q = b->problem.covariate_count;
    p->transform = !b->settings.fused.untransformed;
    p->dynamic = b->settings.saif.screen != VXS_SCREEN_NONE;
    p->sequential = p->dynamic && b->settings.saif.screen != VXS_SCREEN_DYNAMIC;
    vxs_status status = vxs_design_measure(b->problem.design, err);
    if (!status)
        status = load(b, err);
    if (!status)
        status = find_terms(b, err);
    if (!status)
        status = allocate(b, err);
    if (!status)
        status = vxs_reparametrized_new(&p->data, p->zero, p->transform, &p->base, err);
    if (!status)
        status = vxs_reparametrized_factor(&p->base, err);
    if (!status)
        status = check_identified(b, err);
    return status ? status : fit_empty(b, err);
}

static vxs_status begin(const vxs_context *context, const vxs_problem *problem,
                        const vxs_method_settings *settings, vxs_solver **solver, vxs_error *err)
{
    bp *b = vxs_alloc(1, sizeof(*b), err);
    if (!b)
        return VXS_FAILED;
    b->solver.kind = &vxs_bound_propagation_kind;
    b->path.context = context;
    b->costs = vxs_costs_begin(problem->design);
    b->problem = *problem;
    b->settings = *settings;
    vxs_status status = prepare(b, err);
    if (status) {
        release(&b->solver);
        return status;
    }
    *solver = &b->solver;
    return VXS_OK;
}

/* ---- The certificate ------------------------------------------------------------------------- */

typedef struct {
    double primal, dual, gap, penalty;
} values;

/* Primal and dual value at the path's w and coefficients; writes theta to xi, predictions to z. */
static vxs_status certify(bp *b, double lambda, values *v, vxs_error *err)
{
    vxs_path *p = &b->path;
    const vxs_bp_data *w = &p->data;
    const vxs_analysis *d = w->terms;
    double norm = 0;
    int n = (int)w->n;
    cblas_dgemv(CblasColMajor, CblasNoTrans, n, (int)w->p, 1, w->x, n, p->w, 1, 0, p->z, 1);
    if (w->q > 0)
        cblas_dgemv(CblasColMajor, CblasNoTrans, n, (int)w->q, 1, w->covariates, n, p->coefficients,
                    1, 1, p->z, 1);
    v->penalty = 0;
    for (size_t t = 0; t < d->count; t++) {
        double sum = 0;
        for (size_t a = d->starts[t]; a < d->starts[t + 1]; a++)
            sum += d->value[a] * p->w[d->index[a]];
        v->penalty += fabs(sum);
    }
    vxs_bp_negative_gradient(w, p->z, p->xi);
    project_onto_complement(&p->base, p->xi);
    vxs_bp_into_domain(w, p->xi);
    cblas_dscal(n, 1 / lambda, p->xi, 1);
    vxs_status status = find_dual_norm(b, p->xi, 0.5, &norm, err);
    cblas_dscal(n, lambda, p->xi, 1);
    double scale = vxs_bp_best_scale(w, p->xi, norm > 0 ? 1 / norm : INFINITY);
    v->primal = vxs_bp_loss(w, p->z) + lambda * v->penalty;
    v->dual = vxs_bp_dual_value(w, p->xi, scale);
    v->gap = v->primal - v->dual;
    cblas_dscal(n, scale / lambda, p->xi, 1);
    cblas_dscal((int)p->base.terms, scale, b->u, 1);
    return status;
}

/* Exchanges the solution with the second one. */
static void swap(bp *b)
{
    double *w = b->path.w, *f = b->path.coefficients;
    b->path.w = b->spare;
    b->path.coefficients = b->spare_coefficients;
    b->spare = w;
    b->spare_coefficients = f;
}

/* From lambda_max on D w = 0. */
static vxs_status solve_empty_model(bp *b, double lambda, values *v, vxs_error *err)
{
    vxs_path *p = &b->path;
    for (size_t t = 0; t < p->data.terms->count; t++)
        p->zero[t] = true;
    vxs_status status = vxs_path_empty(p, err);
    p->before = p->after = p->data.terms->count;
    return status ? status : certify(b, lambda > 0 ? lambda : 1, v, err);
}

/* The polished solution, unless the other one has the smaller gap. */
static vxs_status solve_to(bp *b, double lambda, double target, bool screen, values *v,
                           vxs_error *err)
{
    vxs_path *p = &b->path;
    values first;
    vxs_status status = vxs_path_solve(p, lambda, target, screen, err);
    if (status)
        return status;
    memcpy(b->spare, p->w, p->data.p * sizeof(*p->w));
    memcpy(b->spare_coefficients, p->coefficients, p->data.q * sizeof(*p->coefficients));
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

/* Solves one lambda; again with a smaller target if the dual norm leaves the gap above tol. */
static vxs_status solve(bp *b, double lambda, bool screen, values *v, vxs_error *err)
{
    double enough = b->settings.tol * b->path.empty;
    if (screen && lambda >= b->lambda_max)
        return solve_empty_model(b, lambda, v, err);
    vxs_status status = solve_to(b, lambda, INSIDE * enough, screen, v, err);
    if (!status && !(v->gap <= enough))
        status = solve_to(b, lambda, INSIDE * FINER * enough, screen, v, err);
    return status;
}

/* ---- One lambda ------------------------------------------------------------------------------ */

/* Counts fused regions: connected sets of features with equal weight other than 0. */
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

/* theta of the samples as given, and u of the rows of D. */
static vxs_status write_dual(const bp *b, vxs_solution *solution, vxs_error *err)
{
    const vxs_path *p = &b->path;
    const vxs_reparametrized *base = &p->base;
    size_t terms = p->data.terms->count;
    if (b->flow)
        return VXS_OK;
    solution->bound = vxs_bound_of_terms(vxs_design_rows(b->problem.design), terms, err);
    if (!solution->bound)
        return VXS_FAILED;
    for (size_t i = 0; i < p->data.n; i++)
        solution->bound->theta[b->sample[i]] = p->reference.theta[i] * p->data.root[i];
    for (size_t t = 0; t < terms; t++) {
        size_t group = base->presolved.merged_row[t];
        if (group != SIZE_MAX)
            solution->bound->u[t] =
                copysign(1, base->presolved.share[t]) * b->u[base->number[group]];
    }
    return VXS_OK;
}

static vxs_status write_solution(bp *b, vxs_solution *solution, vxs_error *err)
{
    const vxs_path *p = &b->path;
    size_t count = 0;
    for (size_t j = 0; j < p->data.p; j++)
        count += p->w[j] != 0;
    solution->index = vxs_alloc(count, sizeof(*solution->index), err);
    solution->weight = vxs_alloc(count, sizeof(*solution->weight), err);
    solution->covariate_coefficients =
        vxs_alloc(p->data.q, sizeof(*solution->covariate_coefficients), err);
    if (!solution->index || !solution->weight || !solution->covariate_coefficients)
        return VXS_FAILED;
    memcpy(solution->covariate_coefficients, p->coefficients, p->data.q * sizeof(*p->coefficients));
    for (size_t j = 0; j < p->data.p; j++)
        if (p->w[j] != 0) {
            solution->index[solution->count] = j;
            solution->weight[solution->count++] = p->w[j];
        }
    solution->certificate.nonzero = count;
    vxs_status status = count_pieces(b, count, &solution->certificate.fused_regions, err);
    return status ? status : write_dual(b, solution, err);
}

/* The reference point of sequential screening at the next lambda. */
static void set_reference(bp *b, const values *v)
{
    vxs_reference *w = &b->path.reference;
    memcpy(w->z, b->path.z, b->path.data.n * sizeof(*w->z));
    memcpy(w->theta, b->path.xi, b->path.data.n * sizeof(*w->theta));
    w->penalty = v->penalty;
    w->known = true;
}

/* Time and primal value without screening; keeps the screened solution. */
static vxs_status compare(bp *b, double lambda, vxs_screening *s, double primal, vxs_error *err)
{
    double start = vxs_seconds();
    values v;
    double *w = b->path.w, *f = b->path.coefficients;
    double *other = vxs_alloc(b->path.data.p + b->path.data.q, sizeof(*other), err);
    if (!other)
        return VXS_FAILED;
    memcpy(other, w, b->path.data.p * sizeof(*w));
    memcpy(other + b->path.data.p, f, b->path.data.q * sizeof(*f));
    vxs_status status = solve(b, lambda, false, &v, err);
    memcpy(b->path.w, other, b->path.data.p * sizeof(*w));
    memcpy(b->path.coefficients, other + b->path.data.p, b->path.data.q * sizeof(*f));
    free(other);
    s->compared = true;
    s->without = vxs_seconds() - start;
    s->difference = status ? 0 : v.primal - primal;
    return status;
}

static void fill_certificate(bp *b, const values *v, vxs_certificate *c)
{
    const vxs_path *p = &b->path;
    c->primal = v->primal;
    c->dual = v->dual;
    c->gap = vxs_relative_gap(v->gap, p->empty);
    c->converged = vxs_has_converged(c->gap, c->tol);
    c->iterations = p->iterations;
    vxs_costs_take(&b->costs, b->problem.design, c);
    c->screening = (vxs_screening){ .terms = p->data.terms->count,
                                    .before = p->before,
                                    .after = p->after,
                                    .screening = p->screening };
}

static vxs_status fit(vxs_solver *solver, double lambda, vxs_solution *solution, vxs_error *err)
{
    bp *b = (bp *)solver;
    values v;
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
        set_reference(b, &v);
        status = write_solution(b, solution, err);
    }
    if (!status && b->settings.fused.compare)
        status = compare(b, lambda, &c->screening, v.primal, err);
    if (status)
        vxs_solution_release(solution);
    b->costs.began = vxs_seconds(); /* the comparison does not count for the next fit */
    return status;
}

const vxs_solver_kind vxs_bound_propagation_kind = {
    .begin = begin,
    .lambda_max = lambda_max,
    .fit = fit,
    .release = release,
};
