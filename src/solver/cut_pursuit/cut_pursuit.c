/* cut_pursuit.c - cut pursuit: the fused lasso on any graph, by fused regions that minimum cuts
 * split, to a certified gap.
 *
 * Problem   min over w, b: sum_i u_i f(x_i'w + z_i'b, y_i) + lambda (sum over edges weight |w_from
 *           - w_to| + sparsity |w|_1); multinomial loss: this penalty for each class
 * Dual      max -sum (u f)*(-lambda theta) over dual norm of X'theta <= 1 (max over node sets S of
 *           |v(S)| / (cut(S) + sparsity |S|), graph/split.c), Z'theta = 0, and without sparsity the
 *           sum of x_j'theta over each connected component = 0
 * Optimal   theta = -f'/lambda; a flow of at max 1 on edges carries x_j'theta, at capacity on
 *           boundaries of regions
 * Method    Reduced problem: one value a region, Newton (region_values.c); regions of equal value
 *           merge. Split: with flows at capacity on boundaries, a maximum flow inside each region;
 *           if it does not carry x'theta, the minimum cut is a set whose value would change, a new
 *           region. Flows are warm-started. |w|_1 is a difference to a reference node of value 0
 * Stops     the gap of the full problem: theta over its dual norm is dual feasible
 * Cost      an iteration: a pass over X, a maximum flow, columns of the regions that split, Newton
 *           steps in as many variables as there are regions
 * Threads   those of the scan and of BLAS; flows use 1
 * Source    Landrieu and Obozinski 2017; the gap is spec/fused.md's, correction 2 to dissertation
 *           3.3 */
#include "solver/cut_pursuit/cut_pursuit.h"
#include "linalg/gram_schmidt.h"

#include <cblas.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#define MAX_ITERATIONS   500
#define ROUNDING         1e-13 /* of column norm x target norm: lambda_max is 0 */
#define EXPLAINED        1e-9  /* of the gradient: rounding, the covariates fit exactly */
#define STAGE            0.3   /* ratio of intermediate lambdas */
#define STAGE_ITERATIONS 3
#define NEAR             3 /* times the tolerance: the gap is computed from here on */

static void release(vxs_solver *solver)
{
    vxs_cut_pursuit *c = (vxs_cut_pursuit *)solver;
    for (size_t k = 0; k < c->classes && c->blocks; k++)
        vxs_class_block_release(&c->blocks[k]);
    vxs_region_values_free(c->workspace);
    free(c->blocks);
    free(c->component);
    free(c->z);
    free(c->basis);
    vxs_dual_projection_release(&c->reach);
    free(c->values);
    free(c);
}

static double lambda_max(const vxs_solver *solver)
{
    return ((const vxs_cut_pursuit *)solver)->lambda_max;
}

/* ---- Dual feasible points -------------------------------------------------------------------- */

/* Orthonormal basis of covariates and, without sparsity, component sums; dependent ones are
 * skipped. */
static vxs_status build_unpenalized_basis(vxs_cut_pursuit *c, vxs_error *err)
{
    const vxs_class_block *s = &c->blocks[0];
    size_t columns = vxs_class_block_columns(c, s), n = c->n;
    c->basis = vxs_alloc(columns, n * sizeof(*c->basis), err);
    if (!c->basis || vxs_dual_projection_init(&c->problem, columns, &c->reach, err))
        return VXS_FAILED;
    for (size_t k = 0; k < columns; k++) {
        double *b = c->basis + c->rank * n;
        for (size_t i = 0; i < n; i++)
            b[i] = vxs_loss_weight(&c->problem.loss, i) > 0 ? s->x[k * n + i] : 0;
        if (!vxs_gram_schmidt_append(c->basis, n, c->rank, VXS_INDEPENDENT,
                                     k < c->q ? 0 : c->rounding, NULL))
            continue;
        c->rank++;
        vxs_dual_projection_add(&c->reach, s->x + k * n);
    }
    return VXS_OK;
}

/* Projects f' onto the complement of the basis within the domain of the conjugate; if rounding
 * leaves the domain, moves it towards that of the empty model. */
static void find_dual(vxs_cut_pursuit *c)
{
    size_t size = c->n * c->classes;
    memcpy(c->dual, c->gradient, size * sizeof(*c->dual));
    vxs_loss_curvature(&c->problem.loss, c->z, c->curvature);
    if (!vxs_dual_projection_project(&c->reach, c->curvature, c->dual)) {
        memcpy(c->dual, c->gradient, size * sizeof(*c->dual));
        for (size_t k = 0; k < c->classes; k++)
            vxs_gram_schmidt_project(c->basis, c->n, c->rank, c->dual + k * c->n, NULL);
    }
    double share = c->empty > 0 ? vxs_loss_outside(&c->problem.loss, c->dual, c->dual_empty) : 0;
    for (size_t i = 0; i < size && share > 0; i++)
        c->dual[i] += share * (c->dual_empty[i] - c->dual[i]);
}

/* supply of each node, -x_j'dual / lambda. */
static void find_supplies(vxs_cut_pursuit *c, double lambda)
{
    vxs_design_scan(c->problem.design, c->dual, c->classes, c->values);
    for (size_t k = 0; k < c->classes; k++) {
        vxs_class_block *s = &c->blocks[k];
        for (size_t j = 0; j < c->p; j++)
            s->supply[j] = -c->values[k * c->p + j] / lambda;
    }
}

static double dual_norm(vxs_cut_pursuit *c, double lower_bound)
{
    double norm = lower_bound;
    for (size_t k = 0; k < c->classes; k++)
        norm = vxs_flow_norm(c->blocks[k].flow, c->blocks[k].supply, norm);
    return norm;
}

/* The largest dual value along dual / norm. */
static double dual_value(const vxs_cut_pursuit *c, double norm)
{
    size_t size = c->n * c->classes;
    const vxs_loss_kind *kind = c->problem.loss.kind;
    double scale = 1 / norm, product = 0, square = 0, *point = c->curvature;
    double least = kind->squared ? -scale : 0; /* the squared hinge's domain is a cone */
    for (size_t i = 0; i < c->n && kind->parabola; i++) {
        double u = vxs_loss_weight(&c->problem.loss, i);
        product -= c->dual[i] * c->problem.loss.y[i];
        square += u > 0 ? c->dual[i] * c->dual[i] / u : 0;
    }
    if (square > 0)
        scale = fmax(least, fmin(scale, product / square));
    for (size_t i = 0; i < size; i++)
        point[i] = scale * c->dual[i];
    return -vxs_loss_conjugate(&c->problem.loss, point);
}

static void certify(vxs_cut_pursuit *c, double lambda, vxs_certificate *r)
{
    r->primal = vxs_loss_value(&c->problem.loss, c->z) + lambda * vxs_region_values_penalty(c);
    r->dual = dual_value(c, dual_norm(c, 1));
    r->gap = vxs_relative_gap(r->primal - r->dual, c->empty);
    r->converged = vxs_has_converged(r->gap, r->tol);
}

/* ---- Cuts ------------------------------------------------------------------------------------ */

/* Maximum flows inside regions; the excess that flows do not carry, and whether a region splits. */
static double cut(vxs_cut_pursuit *c, bool *split)
{
    double total = 0;
    *split = false;
    for (size_t k = 0; k < c->classes; k++) {
        vxs_class_block *s = &c->blocks[k];
        vxs_flow *f = s->flow;
        size_t count = vxs_flow_nodes(f), regions = s->count;
        double excess = 0;
        vxs_flow_set_tolerance(f, s->supply);
        vxs_flow_merge_regions(f, 1);
        for (size_t j = 0; j < count; j++)
            f->node[j].region = s->region[j];
        vxs_class_block_saturate(c, s);
        regions = vxs_flow_split(f, s->supply, regions, &count, &excess);
        *split = *split || regions > s->count;
        total += excess;
    }
    return total;
}

static vxs_status split_regions(vxs_cut_pursuit *c, vxs_error *err)
{
    vxs_status status = VXS_OK;
    for (size_t k = 0; k < c->classes && !status; k++) {
        status = vxs_class_block_split(c, &c->blocks[k], err);
        if (!status)
            status = vxs_class_block_find_boundaries(c, &c->blocks[k], err);
    }
    return status;
}

static double range(const vxs_cut_pursuit *c)
{
    double low = INFINITY, high = -INFINITY;
    for (size_t k = 0; k < c->classes; k++)
        for (size_t i = 0; i < c->blocks[k].count; i++) {
            low = fmin(low, c->blocks[k].w[c->q + i]);
            high = fmax(high, c->blocks[k].w[c->q + i]);
        }
    return high > low ? high - low : 0;
}

/* The reduced problem, then maximum flows at its solution. */
static vxs_status find_cuts(vxs_cut_pursuit *c, double lambda, double *excess, bool *split,
                            vxs_error *err)
{
    c->negligible_cut = c->settings.tol * c->empty / fmax(range(c), 1e-300);
    vxs_status status = vxs_region_values_solve(c, lambda, err);
    if (status)
        return status;
    find_dual(c);
    find_supplies(c, lambda);
    *excess = cut(c, split);
    return VXS_OK;
}

/* Warm start over intermediate lambdas, a few iterations each: cuts from a distant lambda give
 * regions of the wrong shape. */
static vxs_status follow_path(vxs_cut_pursuit *c, double lambda, uint64_t *iterations,
                              vxs_error *err)
{
    double from = c->last_lambda, stages = ceil(log(lambda / from) / log(STAGE));
    vxs_status status = VXS_OK;
    c->last_lambda = lambda;
    for (double k = 1; k < stages && from > 0; k++)
        for (int iteration = 0; iteration < STAGE_ITERATIONS && !status;
             iteration++, ++*iterations) {
            bool split;
            double excess, at = from * pow(lambda / from, k / stages);
            status = find_cuts(c, at, &excess, &split, err);
            if (!status && split)
                status = split_regions(c, err);
        }
    return status;
}

/* Iterates until the gap is below the tolerance or no region splits. The gap needs flows over the
 * whole graph: it is computed once the excess times the range of values is about the tolerance. */
static vxs_status solve(vxs_cut_pursuit *c, double lambda, vxs_certificate *r, vxs_error *err)
{
    vxs_status status = VXS_OK;
    r->iterations = 0;
    status = follow_path(c, lambda, &r->iterations, err);
    if (status)
        return status;
    for (size_t iteration = 0; iteration < MAX_ITERATIONS; iteration++) {
        r->iterations++;
        bool split;
        double excess;
        status = find_cuts(c, lambda, &excess, &split, err);
        if (status)
            return status;
        if (!split || lambda * excess * range(c) <= NEAR * r->tol * c->empty) {
            certify(c, lambda, r);
            if (r->converged || !split)
                return VXS_OK;
            cut(c, &split);
        }
        status = split_regions(c, err);
        if (status)
            return status;
    }
    certify(c, lambda, r);
    return VXS_OK;
}

/* ---- Initialization -------------------------------------------------------------------------- */

static vxs_status check(const vxs_cut_pursuit *c, vxs_error *err)
{
    const vxs_problem *p = &c->problem;
    const vxs_class_block *s = &c->blocks[0];
    size_t components = s->count - vxs_class_block_has_reference(s);
    if (components + p->covariate_count >= c->n)
        return vxs_fail(
            err, VXS_BAD_DATA,
            "the mean weights of %zu connected components of the graph are not penalized, "
            "and %zu subjects do not identify them",
            components, c->n);
    return VXS_OK;
}

static double largest_norm(const vxs_cut_pursuit *c)
{
    const double *norms = vxs_design_norms(c->problem.design);
    double max = 0;
    for (size_t j = 0; j < c->p; j++)
        max = fmax(max, norms[j]);
    return max;
}

/* The empty model: covariates and component means. A gradient that is rounding gives lambda_max
 * 0. */
static vxs_status solve_empty(vxs_cut_pursuit *c, vxs_error *err)
{
    int size = (int)(c->n * c->classes);
    double *zero = c->dual;
    vxs_loss_gradient(&c->problem.loss, zero, c->gradient);
    double norm = cblas_dnrm2(size, c->gradient, 1);
    c->zero = vxs_loss_value(&c->problem.loss, zero);
    vxs_status status = vxs_region_values_solve(c, 1, err);
    if (status)
        return status;
    find_dual(c);
    c->empty = vxs_loss_value(&c->problem.loss, c->z);
    memcpy(c->dual_empty, c->dual, (size_t)size * sizeof(*c->dual_empty));
    if (!(cblas_dnrm2(size, c->dual, 1) > EXPLAINED * norm))
        return VXS_OK;
    find_supplies(c, 1);
    c->lambda_max = dual_norm(c, 0);
    if (c->lambda_max <= ROUNDING * largest_norm(c) * cblas_dnrm2(size, c->dual, 1))
        c->lambda_max = 0;
    c->last_lambda = c->lambda_max;
    return VXS_OK;
}

/* Before any split regions are components; a component is named by its first node. */
static void find_components(vxs_cut_pursuit *c)
{
    const vxs_class_block *s = &c->blocks[0];
    uint32_t *first = s->flow->order;
    for (size_t k = c->p; k-- > 0;)
        first[s->region[k]] = (uint32_t)k;
    for (size_t k = 0; k < c->p; k++)
        c->component[k] = first[s->region[k]];
}

static vxs_status allocate(vxs_cut_pursuit *c, vxs_error *err)
{
    size_t size = c->n * c->classes;
    c->blocks = vxs_alloc(c->classes, sizeof(*c->blocks), err);
    c->z = vxs_alloc(5, size * sizeof(*c->z), err);
    c->values = vxs_alloc(c->p, c->classes * sizeof(*c->values), err);
    c->component = vxs_alloc(c->p, sizeof(*c->component), err);
    vxs_status status = c->blocks && c->z && c->values && c->component ? VXS_OK : VXS_FAILED;
    for (size_t k = 0; k < c->classes && !status; k++)
        status = vxs_class_block_init(c, &c->blocks[k], err);
    if (!status)
        status = check(c, err);
    if (!status)
        status = build_unpenalized_basis(c, err);
    if (status)
        return status;
    find_components(c);
    c->gradient = c->z + size;
    c->curvature = c->gradient + size;
    c->dual = c->curvature + size;
    c->dual_empty = c->dual + size;
    return solve_empty(c, err);
}

static vxs_status begin(const vxs_context *context, const vxs_problem *problem,
                        const vxs_method_settings *settings, vxs_solver **solver, vxs_error *err)
{
    vxs_cut_pursuit *c = vxs_alloc(1, sizeof(*c), err);
    if (!c)
        return VXS_FAILED;
    c->solver.kind = &vxs_cut_pursuit_kind;
    c->context = context;
    c->problem = *problem;
    c->settings = *settings;
    c->n = vxs_design_rows(problem->design);
    c->p = vxs_design_columns(problem->design);
    c->q = problem->covariate_count;
    c->classes = vxs_loss_outputs(&problem->loss);
    c->costs = vxs_costs_begin(problem->design);
    vxs_status status = vxs_design_measure(problem->design, err);
    if (!status)
        c->rounding = vxs_sum_rounding(problem->design);
    if (!status)
        status = allocate(c, err);
    if (status) {
        release(&c->solver);
        return status;
    }
    *solver = &c->solver;
    return VXS_OK;
}

/* ---- One lambda ------------------------------------------------------------------------------ */

/* Subtracts the mean over classes, which changes no prediction: without it, the multinomial
 * solution is not unique. `sum` has p entries. */
static void center_classes(const vxs_cut_pursuit *c, double *w, double *coefficients, double *sum)
{
    size_t p = c->p, classes = c->classes;
    memset(sum, 0, p * sizeof(*sum));
    for (size_t k = 0; k < c->q; k++) {
        double mean = 0;
        for (size_t class = 0; class < classes; class ++)
            mean += coefficients[class * c->q + k] / (double)classes;
        for (size_t class = 0; class < classes; class ++)
            coefficients[class * c->q + k] -= mean;
    }
    if (vxs_class_block_has_reference(&c->blocks[0]))
        return;
    for (size_t j = 0; j < classes * p; j++)
        sum[c->component[j % p]] += w[j] / (double)classes;
    for (size_t j = 0; j < p; j++)
        c->blocks[0].supply[j] = 0; /* sizes of components */
    for (size_t j = 0; j < p; j++)
        c->blocks[0].supply[c->component[j]]++;
    for (size_t j = 0; j < classes * p; j++)
        w[j] -= sum[c->component[j % p]] / c->blocks[0].supply[c->component[j % p]];
}

static vxs_status write_solution(const vxs_cut_pursuit *c, vxs_solution *solution, vxs_error *err)
{
    size_t p = c->p, q = c->q;
    double *w = vxs_alloc(p * c->classes, sizeof(*w), err);
    solution->index = vxs_alloc(p * c->classes, sizeof(*solution->index), err);
    solution->weight = vxs_alloc(p * c->classes, sizeof(*solution->weight), err);
    solution->covariate_coefficients =
        vxs_alloc(q * c->classes, sizeof(*solution->covariate_coefficients), err);
    vxs_status status = w && solution->index && solution->weight && solution->covariate_coefficients
                            ? VXS_OK
                            : VXS_FAILED;
    for (size_t k = 0; k < c->classes && !status; k++) {
        const vxs_class_block *s = &c->blocks[k];
        for (size_t region = 0; region < s->count; region++)
            solution->certificate.fused_regions += s->w[q + region] != 0;
        for (size_t i = 0; i < q; i++)
            solution->covariate_coefficients[k * q + i] = s->w[i];
        for (size_t j = 0; j < p; j++)
            w[k * p + j] = s->w[q + s->region[j]];
    }
    if (!status && c->classes > 1)
        center_classes(c, w, solution->covariate_coefficients, c->values);
    for (size_t j = 0; j < p * c->classes && !status; j++)
        if (w[j] != 0) {
            solution->index[solution->count] = j;
            solution->weight[solution->count++] = w[j];
        }
    solution->certificate.nonzero = solution->count;
    free(w);
    return status;
}

static vxs_status fit(vxs_solver *solver, double lambda, vxs_solution *solution, vxs_error *err)
{
    vxs_cut_pursuit *c = (vxs_cut_pursuit *)solver;
    *solution = (vxs_solution){
        .certificate = { .lambda = lambda, .lambda_max = c->lambda_max, .tol = c->settings.tol }
    };
    vxs_certificate *r = &solution->certificate;
    vxs_status status = solve(c, lambda, r, err);
    if (!status)
        status = write_solution(c, solution, err);
    if (status) {
        vxs_solution_release(solution);
        return status;
    }
    vxs_costs_take(&c->costs, c->problem.design, r);
    return VXS_OK;
}

const vxs_solver_kind vxs_cut_pursuit_kind = {
    .begin = begin,
    .lambda_max = lambda_max,
    .fit = fit,
    .release = release,
};
