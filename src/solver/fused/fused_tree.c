/* fused_tree.c - the fused lasso on trees: few differences over the edges of a forest.
 *
 * Problem   sum u f(x'w + c'b) + lambda sum over edges of weight |w_from - w_to|, over w and b
 * Way       w = T s: a level for each tree, and a step for each edge that all below it take. In s
 *           it is a lasso on the sums over subtrees (design/subtree_sums.c), with a column that is
 *           not penalised for each tree's level, and is solved as one
 * Dual      -sum u f*(-lambda theta / u) over |sum below e of x_j'theta| <= weight of e,
 *           c'theta = 0 and sum over a tree of x_j'theta = 0
 * Stop      the lasso's: the gap over all edges is below the tolerance
 * Cost      the lasso's, and one reading for norms
 * Source    dissertation section 3.4 */
#include "solver/solver.h"

#include <cblas.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

typedef struct {
    vxs_solver solver;
    vxs_problem problem; /* as it was given */
    vxs_forest forest;
    vxs_design *tree;
    double *free;   /* the problem's free columns, and behind them the trees' levels */
    double *length; /* of each level, which is divided by it */
    vxs_solver *lasso;
    double seconds, passes; /* before the lasso began; the first fit pays for it */
} fused;

static void release(vxs_solver *solver)
{
    fused *f = (fused *)solver;
    vxs_solver_free(f->lasso);
    vxs_design_free(f->tree);
    vxs_forest_release(&f->forest);
    free(f->free);
    free(f->length);
    free(f);
}

static double lambda_max(const vxs_solver *solver)
{
    return vxs_solver_lambda_max(((const fused *)solver)->lasso);
}

/* ---- The beginning --------------------------------------------------------------------------- */

static vxs_status check_forest(const fused *f, vxs_error *err)
{
    size_t n = vxs_design_rows(f->problem.design);
    if (f->forest.trees + f->problem.covariate_count >= n)
        return vxs_fail(err, VXS_BAD_DATA,
                        "the graph is in %zu pieces; each has a level that is not penalised, which "
                        "%zu subjects cannot tell apart",
                        f->forest.trees, n);
    return VXS_OK;
}

/* Levels of length 1, so that they are no larger than other free columns; what rounding leaves of a
 * sum that is 0 is 0. */
static vxs_status add_levels(fused *f, vxs_error *err)
{
    size_t n = vxs_design_rows(f->tree), q = f->problem.covariate_count, trees = f->forest.trees;
    f->free = vxs_alloc(q + trees, n * sizeof(*f->free), err);
    f->length = vxs_alloc(trees, sizeof(*f->length), err);
    if (!f->free || !f->length)
        return VXS_FAILED;
    if (q > 0)
        memcpy(f->free, f->problem.covariates, q * n * sizeof(*f->free));
    memcpy(f->free + q * n, vxs_tree_levels(f->tree), trees * n * sizeof(*f->free));
    double least = vxs_least_sum(f->problem.design);
    for (size_t k = 0; k < trees; k++) {
        double *level = f->free + (q + k) * n, length = cblas_dnrm2((int)n, level, 1);
        f->length[k] = length > least ? length : 1;
        cblas_dscal((int)n, length > least ? 1 / length : 0, level, 1);
    }
    return VXS_OK;
}

static vxs_status set_up(fused *f, const vxs_context *context, const vxs_method_settings *settings,
                         vxs_error *err)
{
    double start = vxs_seconds();
    uint64_t read = vxs_design_read(f->problem.design);
    vxs_problem steps = f->problem;
    vxs_status status = vxs_forest_new(vxs_as_fused(f->problem.penalty)->graph, &f->forest, err);
    if (!status)
        status = check_forest(f, err);
    if (!status)
        status = vxs_tree_new(f->problem.design, true, &f->forest, &f->tree, err);
    if (!status)
        status = vxs_design_measure(f->tree, err);
    if (!status)
        status = add_levels(f, err);
    if (status)
        return status;
    f->seconds = vxs_seconds() - start;
    f->passes = (double)(vxs_design_read(f->problem.design) - read) /
                (double)vxs_design_columns(f->problem.design);
    steps.design = f->tree;
    steps.covariates = f->free;
    steps.covariate_count += f->forest.trees;
    steps.penalty = &vxs_l1;
    return vxs_lasso_kind.begin(context, &steps, settings, &f->lasso, err);
}

static vxs_status begin(const vxs_context *context, const vxs_problem *problem,
                        const vxs_method_settings *settings, vxs_solver **solver, vxs_error *err)
{
    fused *f = vxs_alloc(1, sizeof(*f), err);
    if (!f)
        return VXS_FAILED;
    f->solver.kind = &vxs_tree_kind;
    f->problem = *problem;
    vxs_status status = set_up(f, context, settings, err);
    if (status) {
        release(&f->solver);
        return status;
    }
    *solver = &f->solver;
    return VXS_OK;
}

/* ---- One lambda ------------------------------------------------------------------------------ */

/* Weights by place: those of parents come first. Returns how many pieces they make. */
static size_t add_steps(const fused *f, const vxs_solution *steps, double *w)
{
    size_t column = 0, next = 0, tree = 0, pieces = 0;
    const double *levels = steps->free + f->problem.covariate_count;
    for (size_t k = 0; k < f->forest.nodes; k++) {
        if (f->forest.parent[k] == k) {
            w[k] = levels[tree] / f->length[tree];
            tree++;
            pieces++;
            continue;
        }
        w[k] = w[f->forest.parent[k]];
        if (next < steps->count && steps->index[next] == column) {
            w[k] += steps->weight[next++] / f->forest.weight[k];
            pieces++;
        }
        column++;
    }
    return pieces;
}

/* From steps over edges to weights of features. */
static vxs_status expand(const fused *f, const vxs_solution *steps, vxs_solution *solution,
                         vxs_error *err)
{
    size_t p = f->forest.nodes, q = f->problem.covariate_count;
    double *w = vxs_alloc(p, sizeof(*w), err), *by_feature = vxs_alloc(p, sizeof(*w), err);
    solution->index = vxs_alloc(p, sizeof(*solution->index), err);
    solution->weight = vxs_alloc(p, sizeof(*solution->weight), err);
    solution->free = vxs_alloc(q, sizeof(*solution->free), err);
    if (!w || !by_feature || !solution->index || !solution->weight || !solution->free) {
        free(w);
        free(by_feature);
        return VXS_FAILED;
    }
    memcpy(solution->free, steps->free, q * sizeof(*solution->free));
    solution->certificate = steps->certificate;
    solution->certificate.pieces = add_steps(f, steps, w);
    for (size_t k = 0; k < p; k++)
        by_feature[f->forest.node[k]] = w[k];
    for (size_t j = 0; j < p; j++)
        if (by_feature[j] != 0) {
            solution->index[solution->count] = j;
            solution->weight[solution->count++] = by_feature[j];
        }
    solution->certificate.nonzero = solution->count;
    free(w);
    free(by_feature);
    return VXS_OK;
}

static vxs_status fit(vxs_solver *solver, double lambda, vxs_solution *solution, vxs_error *err)
{
    fused *f = (fused *)solver;
    vxs_solution steps = { .count = 0 };
    *solution = (vxs_solution){ .count = 0 };
    vxs_status status = vxs_solver_fit(f->lasso, lambda, &steps, err);
    if (!status)
        status = expand(f, &steps, solution, err);
    vxs_solution_release(&steps);
    if (status) {
        vxs_solution_release(solution);
        return status;
    }
    solution->certificate.seconds += f->seconds;
    solution->certificate.passes += f->passes;
    f->seconds = f->passes = 0;
    return VXS_OK;
}

const vxs_solver_kind vxs_tree_kind = {
    .begin = begin,
    .lambda_max = lambda_max,
    .fit = fit,
    .release = release,
};
