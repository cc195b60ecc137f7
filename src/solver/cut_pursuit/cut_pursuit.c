/* cut_pursuit.c - the fused lasso on any graph: pieces of equal weight that are cut where the
 * gradient pulls them apart, until a certified gap.
 *
 * Problem   sum u f(x'w + c'b) + lambda (sum over edges weight |w_from - w_to| + sparsity |w|_1),
 *           for the multinomial loss with such a penalty for each class
 * Dual      -sum (u f)*(-lambda theta) over x'theta of dual norm 1 at most (graph/split.c),
 *           c'theta = 0, and without sparsity sum over a piece of the graph of x_j'theta = 0
 * Levels    few pieces, each with one weight: Newton's method (region_values.c); pieces that meet
 *           are one
 * Cuts      at those weights x'theta, less what flows over borders, must be carried off within
 *           each piece by a flow of at most 1 over its edges. A set in the way of a maximal flow
 *           would lower the value by moving: it becomes a piece. Flows begin as the last round
 *           left them
 * Stop      theta over its dual norm is a dual point: the gap of the full problem is below the
 *           tolerance. The sparse penalty is one on differences to a ground of weight 0
 * Cost      a round: a scan of X, a flow, sums of the columns that leave their piece, and Newton
 *           steps of the number of pieces; what is cut is what the answer shows
 * Source    cut pursuit: Landrieu and Obozinski 2017; the gap of the full problem is not there */
#include "solver/cut_pursuit/cut_pursuit.h"
#include "linalg/gram_schmidt.h"

#include <cblas.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#define MOST_ROUNDS  500
#define ROUNDING     1e-13 /* of columns and target: a lambda that is none */
#define EXPLAINED    1e-9  /* what is left, as a share of the target */
#define STAGE        0.3   /* a fit goes on from a solution at lambda / STAGE */
#define STAGE_ROUNDS 3
#define NEAR         3 /* times the tolerance: from there it is worth a look */

static void release(vxs_solver *solver)
{
    vxs_cuts *c = (vxs_cuts *)solver;
    for (size_t k = 0; k < c->classes && c->sides; k++)
        vxs_side_release(&c->sides[k]);
    vxs_levels_free(c->levels);
    free(c->sides);
    free(c->home);
    free(c->z);
    free(c->basis);
    vxs_reach_release(&c->reach);
    free(c->values);
    free(c);
}

static double lambda_max(const vxs_solver *solver)
{
    return ((const vxs_cuts *)solver)->lambda_max;
}

/* ---- Dual points ----------------------------------------------------------------------------- */

/* What is free: columns, and sums over pieces of the graph; those that depend on others add
 * nothing. */
static vxs_status make_basis(vxs_cuts *c, vxs_error *err)
{
    const vxs_side *s = &c->sides[0];
    size_t columns = vxs_side_columns(c, s), n = c->n;
    c->basis = vxs_alloc(columns, n * sizeof(*c->basis), err);
    if (!c->basis || vxs_reach_init(&c->problem, columns, &c->reach, err))
        return VXS_FAILED;
    for (size_t k = 0; k < columns; k++) {
        double *b = c->basis + c->rank * n;
        for (size_t i = 0; i < n; i++)
            b[i] = vxs_loss_weight(&c->problem.loss, i) > 0 ? s->x[k * n + i] : 0;
        if (!vxs_gram_schmidt_append(c->basis, n, c->rank, VXS_INDEPENDENT, k < c->q ? 0 : c->least,
                                     NULL))
            continue;
        c->rank++;
        vxs_reach_add(&c->reach, s->x + k * n);
    }
    return VXS_OK;
}

/* f' where it is orthogonal to what is free, and in the domain of the conjugate: what rounding
 * carries outside nevertheless finds back towards the empty model's point. */
static void find_dual(vxs_cuts *c)
{
    size_t size = c->n * c->classes;
    memcpy(c->dual, c->slope, size * sizeof(*c->dual));
    vxs_loss_curvature(&c->problem.loss, c->z, c->curvature);
    if (!vxs_reach_project(&c->reach, c->curvature, c->dual)) {
        memcpy(c->dual, c->slope, size * sizeof(*c->dual));
        for (size_t k = 0; k < c->classes; k++)
            vxs_gram_schmidt_project(c->basis, c->n, c->rank, c->dual + k * c->n, NULL);
    }
    double share = c->empty > 0 ? vxs_loss_outside(&c->problem.loss, c->dual, c->inside) : 0;
    for (size_t i = 0; i < size && share > 0; i++)
        c->dual[i] += share * (c->inside[i] - c->dual[i]);
}

/* What is to be carried off each node: -x_j'dual / lambda. The ground takes what others leave. */
static void find_values(vxs_cuts *c, double lambda)
{
    vxs_design_scan(c->problem.design, c->dual, c->classes, c->values);
    for (size_t k = 0; k < c->classes; k++) {
        vxs_side *s = &c->sides[k];
        double sum = 0;
        for (size_t j = 0; j < c->p; j++) {
            s->value[j] = -c->values[k * c->p + j] / lambda;
            sum += s->value[j];
        }
        if (vxs_side_grounded(s))
            s->value[c->p] = -sum;
    }
}

static double norm_of(vxs_cuts *c, double least)
{
    double norm = least;
    for (size_t k = 0; k < c->classes; k++)
        norm = vxs_flow_norm(c->sides[k].flow, c->sides[k].value, norm);
    return norm;
}

/* The best value along dual, which is in the domain when divided by its norm. */
static double dual_value(const vxs_cuts *c, double norm)
{
    size_t size = c->n * c->classes;
    double scale = 1 / norm, along = 0, square = 0, *point = c->curvature;
    for (size_t i = 0; i < c->n && c->problem.loss.kind->squared; i++) {
        double u = vxs_loss_weight(&c->problem.loss, i);
        along -= c->dual[i] * c->problem.loss.y[i];
        square += u > 0 ? c->dual[i] * c->dual[i] / u : 0;
    }
    if (square > 0)
        scale = fmax(-scale, fmin(scale, along / square));
    for (size_t i = 0; i < size; i++)
        point[i] = scale * c->dual[i];
    return -vxs_loss_conjugate(&c->problem.loss, point);
}

static void certify(vxs_cuts *c, double lambda, vxs_certificate *r)
{
    r->primal = vxs_loss_value(&c->problem.loss, c->z) + lambda * vxs_levels_penalty(c);
    r->dual = dual_value(c, norm_of(c, 1));
    r->gap = vxs_relative_gap(r->primal - r->dual, c->empty);
    r->converged = vxs_has_converged(r->gap, r->tol);
}

/* ---- Cuts ------------------------------------------------------------------------------------ */

/* What flows cannot carry off within pieces parts from the rest; how much that is. */
static double cut(vxs_cuts *c, bool *parted)
{
    double all = 0;
    *parted = false;
    for (size_t k = 0; k < c->classes; k++) {
        vxs_side *s = &c->sides[k];
        vxs_flow *f = s->flow;
        size_t count = vxs_flow_nodes(f), parts = s->count;
        double risen = 0;
        vxs_flow_set_tolerance(f, s->value);
        vxs_flow_merge_regions(f, 1);
        for (size_t j = 0; j < count; j++)
            f->node[j].region = s->piece[j];
        vxs_side_close(c, s);
        parts = vxs_flow_split(f, s->value, parts, &count, &risen);
        *parted = *parted || parts > s->count;
        all += risen;
    }
    return all;
}

static vxs_status divide(vxs_cuts *c, vxs_error *err)
{
    vxs_status status = VXS_OK;
    for (size_t k = 0; k < c->classes && !status; k++) {
        status = vxs_side_divide(c, &c->sides[k], err);
        if (!status)
            status = vxs_side_survey(c, &c->sides[k], err);
    }
    return status;
}

static double range(const vxs_cuts *c)
{
    double low = INFINITY, high = -INFINITY;
    for (size_t k = 0; k < c->classes; k++)
        for (size_t i = 0; i < c->sides[k].count; i++) {
            low = fmin(low, c->sides[k].w[c->q + i]);
            high = fmax(high, c->sides[k].w[c->q + i]);
        }
    return high > low ? high - low : 0;
}

/* The best levels, and what is in the way of flows at them, which is `risen` and to be parted. */
static vxs_status look_for_cuts(vxs_cuts *c, double lambda, double *risen, bool *parted,
                                vxs_error *err)
{
    c->little = c->settings.tol * c->empty / fmax(range(c), 1e-300);
    vxs_status status = vxs_levels_solve(c, lambda, err);
    if (status)
        return status;
    find_dual(c);
    find_values(c, lambda);
    *risen = cut(c, parted);
    return VXS_OK;
}

/* Far below the last lambda the way leads over some between, with a few rounds each: cuts from far
 * away are of the wrong shape. */
static vxs_status approach(vxs_cuts *c, double lambda, uint64_t *rounds, vxs_error *err)
{
    double from = c->last_lambda, stages = ceil(log(lambda / from) / log(STAGE));
    vxs_status status = VXS_OK;
    c->last_lambda = lambda;
    for (double k = 1; k < stages && from > 0; k++)
        for (int round = 0; round < STAGE_ROUNDS && !status; round++, ++*rounds) {
            bool parted;
            double risen, at = from * pow(lambda / from, k / stages);
            status = look_for_cuts(c, at, &risen, &parted, err);
            if (!status && parted)
                status = divide(c, err);
        }
    return status;
}

/* Rounds, until the gap is small enough or nothing is left to cut. The gap takes flows over all of
 * the graph, and is looked at when what is in the way, moved over the range of weights, is about as
 * much. */
static vxs_status solve(vxs_cuts *c, double lambda, vxs_certificate *r, vxs_error *err)
{
    vxs_status status = VXS_OK;
    r->iterations = 0;
    status = approach(c, lambda, &r->iterations, err);
    if (status)
        return status;
    for (size_t round = 0; round < MOST_ROUNDS; round++) {
        r->iterations++;
        bool parted;
        double risen;
        status = look_for_cuts(c, lambda, &risen, &parted, err);
        if (status)
            return status;
        if (!parted || lambda * risen * range(c) <= NEAR * r->tol * c->empty) {
            certify(c, lambda, r);
            if (r->converged || !parted)
                return VXS_OK;
            cut(c, &parted);
        }
        status = divide(c, err);
        if (status)
            return status;
    }
    certify(c, lambda, r);
    return VXS_OK;
}

/* ---- The beginning --------------------------------------------------------------------------- */

static vxs_status check(const vxs_cuts *c, vxs_error *err)
{
    const vxs_problem *p = &c->problem;
    const vxs_side *s = &c->sides[0];
    size_t levels = s->count - vxs_side_grounded(s);
    if (levels + p->covariate_count >= c->n)
        return vxs_fail(err, VXS_BAD_DATA,
                        "the graph is in %zu pieces; each has a level that is not penalised, which "
                        "%zu subjects cannot tell apart",
                        levels, c->n);
    return VXS_OK;
}

static double largest_norm(const vxs_cuts *c)
{
    const double *norms = vxs_design_norms(c->problem.design);
    double most = 0;
    for (size_t j = 0; j < c->p; j++)
        most = fmax(most, norms[j]);
    return most;
}

/* The empty model: what is free alone. What rounding leaves of a target that this explains is not
 * to be fitted. */
static vxs_status solve_empty(vxs_cuts *c, vxs_error *err)
{
    int size = (int)(c->n * c->classes);
    double *nothing = c->dual;
    vxs_loss_gradient(&c->problem.loss, nothing, c->slope);
    double whole = cblas_dnrm2(size, c->slope, 1);
    c->zero = vxs_loss_value(&c->problem.loss, nothing);
    vxs_status status = vxs_levels_solve(c, 1, err);
    if (status)
        return status;
    find_dual(c);
    c->empty = vxs_loss_value(&c->problem.loss, c->z);
    memcpy(c->inside, c->dual, (size_t)size * sizeof(*c->inside));
    if (!(cblas_dnrm2(size, c->dual, 1) > EXPLAINED * whole))
        return VXS_OK;
    find_values(c, 1);
    c->lambda_max = norm_of(c, 0);
    if (c->lambda_max <= ROUNDING * largest_norm(c) * cblas_dnrm2(size, c->dual, 1))
        c->lambda_max = 0;
    c->last_lambda = c->lambda_max;
    return VXS_OK;
}

/* Before anything is cut, pieces are those of the graph, named by their first nodes. */
static void find_homes(vxs_cuts *c)
{
    const vxs_side *s = &c->sides[0];
    uint32_t *first = s->flow->order;
    for (size_t k = c->p; k-- > 0;)
        first[s->piece[k]] = (uint32_t)k;
    for (size_t k = 0; k < c->p; k++)
        c->home[k] = first[s->piece[k]];
}

static vxs_status set_up(vxs_cuts *c, vxs_error *err)
{
    size_t size = c->n * c->classes;
    c->sides = vxs_alloc(c->classes, sizeof(*c->sides), err);
    c->z = vxs_alloc(5, size * sizeof(*c->z), err);
    c->values = vxs_alloc(c->p, c->classes * sizeof(*c->values), err);
    c->home = vxs_alloc(c->p, sizeof(*c->home), err);
    vxs_status status = c->sides && c->z && c->values && c->home ? VXS_OK : VXS_FAILED;
    for (size_t k = 0; k < c->classes && !status; k++)
        status = vxs_side_begin(c, &c->sides[k], err);
    if (!status)
        status = check(c, err);
    if (!status)
        status = make_basis(c, err);
    if (status)
        return status;
    find_homes(c);
    c->slope = c->z + size;
    c->curvature = c->slope + size;
    c->dual = c->curvature + size;
    c->inside = c->dual + size;
    return solve_empty(c, err);
}

static vxs_status begin(const vxs_context *context, const vxs_problem *problem,
                        const vxs_method_settings *settings, vxs_solver **solver, vxs_error *err)
{
    vxs_cuts *c = vxs_alloc(1, sizeof(*c), err);
    if (!c)
        return VXS_FAILED;
    c->solver.kind = &vxs_cuts_kind;
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
        c->least = vxs_least_sum(problem->design);
    if (!status)
        status = set_up(c, err);
    if (status) {
        release(&c->solver);
        return status;
    }
    *solver = &c->solver;
    return VXS_OK;
}

/* ---- One lambda ------------------------------------------------------------------------------ */

/* What all classes have in common changes nothing: it is taken off, so that classes are told from
 * each other and not from a level of chance. `sum` has room for p. */
static void center_classes(const vxs_cuts *c, double *w, double *free_columns, double *sum)
{
    size_t p = c->p, all = c->classes;
    memset(sum, 0, p * sizeof(*sum));
    for (size_t k = 0; k < c->q; k++) {
        double mean = 0;
        for (size_t class = 0; class < all; class ++)
            mean += free_columns[class * c->q + k] / (double)all;
        for (size_t class = 0; class < all; class ++)
            free_columns[class * c->q + k] -= mean;
    }
    if (vxs_side_grounded(&c->sides[0]))
        return;
    for (size_t j = 0; j < all * p; j++)
        sum[c->home[j % p]] += w[j] / (double)all;
    for (size_t j = 0; j < p; j++)
        c->sides[0].value[j] = 0; /* nodes of each piece of the graph */
    for (size_t j = 0; j < p; j++)
        c->sides[0].value[c->home[j]]++;
    for (size_t j = 0; j < all * p; j++)
        w[j] -= sum[c->home[j % p]] / c->sides[0].value[c->home[j % p]];
}

static vxs_status take_solution(const vxs_cuts *c, vxs_solution *solution, vxs_error *err)
{
    size_t p = c->p, q = c->q;
    double *w = vxs_alloc(p * c->classes, sizeof(*w), err);
    solution->index = vxs_alloc(p * c->classes, sizeof(*solution->index), err);
    solution->weight = vxs_alloc(p * c->classes, sizeof(*solution->weight), err);
    solution->free = vxs_alloc(q * c->classes, sizeof(*solution->free), err);
    vxs_status status =
        w && solution->index && solution->weight && solution->free ? VXS_OK : VXS_FAILED;
    for (size_t k = 0; k < c->classes && !status; k++) {
        const vxs_side *s = &c->sides[k];
        for (size_t piece = 0; piece < s->count; piece++)
            solution->certificate.pieces += s->w[q + piece] != 0;
        for (size_t i = 0; i < q; i++)
            solution->free[k * q + i] = s->w[i];
        for (size_t j = 0; j < p; j++)
            w[k * p + j] = s->w[q + s->piece[j]];
    }
    if (!status && c->classes > 1)
        center_classes(c, w, solution->free, c->values);
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
    vxs_cuts *c = (vxs_cuts *)solver;
    *solution = (vxs_solution){
        .certificate = { .lambda = lambda, .lambda_max = c->lambda_max, .tol = c->settings.tol }
    };
    vxs_certificate *r = &solution->certificate;
    vxs_status status = solve(c, lambda, r, err);
    if (!status)
        status = take_solution(c, solution, err);
    if (status) {
        vxs_solution_release(solution);
        return status;
    }
    vxs_costs_take(&c->costs, c->problem.design, r);
    return VXS_OK;
}

const vxs_solver_kind vxs_cuts_kind = {
    .begin = begin,
    .lambda_max = lambda_max,
    .fit = fit,
    .release = release,
};
