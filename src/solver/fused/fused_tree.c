/* fused_tree.c - the fused lasso on forests, as a lasso.
 *
 * Problem   min over w, b: sum_i u_i f(x_i'w + z_i'b, y_i) + lambda sum over edges weight |w_from -
 *           w_to|
 * Dual      max -sum u f*(-lambda theta / u) over |sum below e of x_j'theta| <= weight of e,
 *           Z'theta = 0, sum over each tree of x_j'theta = 0
 * Optimal   w_from = w_to where the inequality of the edge is strict
 * Method    w = T s: a root value for each tree, a difference for each edge. In s it is a lasso on
 *           sums over subtrees (design/subtree_sums.c); the root values are unpenalized columns
 *           beside the covariates. Solved by SAIF
 * Stops     SAIF's: the gap over all edges is below the tolerance
 * Cost      SAIF's, and one pass for norms
 * Threads   SAIF's
 * Source    dissertation 3.4 */
#include "solver/solver.h"

#include <cblas.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

typedef struct {
    vxs_solver solver;
    vxs_problem problem; /* as given */
    vxs_forest forest;
    vxs_design *tree;
    double *covariates; /* covariates, then sums over trees */
    double *length;     /* norms of these sums, which are scaled to 1 */
    vxs_solver *lasso;
    double seconds, passes; /* before the lasso began; counted for the first fit */
} fused_tree;

static void release(vxs_solver *solver)
{
    fused_tree *f = (fused_tree *)solver;
    vxs_solver_free(f->lasso);
    vxs_design_free(f->tree);
    vxs_forest_release(&f->forest);
    free(f->covariates);
    free(f->length);
    free(f);
}

static double lambda_max(const vxs_solver *solver)
{
    return vxs_solver_lambda_max(((const fused_tree *)solver)->lasso);
}

/* ---- Initialization -------------------------------------------------------------------------- */

static vxs_status check_forest(const fused_tree *f, vxs_error *err)
{
    size_t n = vxs_design_rows(f->problem.design);
    if (f->forest.trees + f->problem.covariate_count >= n)
        return vxs_fail(
            err, VXS_BAD_DATA,
            "the mean weights of %zu connected components of the graph are not penalized, "
            "and %zu subjects do not identify them",
            f->forest.trees, n);
    return VXS_OK;
}

/* Sums over trees, scaled to norm 1, comparable with covariates; rounding of a sum that is 0 is set
 * to 0. */
static vxs_status add_root_columns(fused_tree *f, vxs_error *err)
{
    size_t n = vxs_design_rows(f->tree), q = f->problem.covariate_count, trees = f->forest.trees;
    f->covariates = vxs_alloc(q + trees, n * sizeof(*f->covariates), err);
    f->length = vxs_alloc(trees, sizeof(*f->length), err);
    if (!f->covariates || !f->length)
        return VXS_FAILED;
    if (q > 0)
        memcpy(f->covariates, f->problem.covariates, q * n * sizeof(*f->covariates));
    memcpy(f->covariates + q * n, vxs_subtree_sums_totals(f->tree),
           trees * n * sizeof(*f->covariates));
    double rounding = vxs_sum_rounding(f->problem.design);
    for (size_t k = 0; k < trees; k++) {
        double *column = f->covariates + (q + k) * n, length = cblas_dnrm2((int)n, column, 1);
        f->length[k] = length > rounding ? length : 1;
        cblas_dscal((int)n, length > rounding ? 1 / length : 0, column, 1);
    }
    return VXS_OK;
}

static vxs_status initialize(fused_tree *f, const vxs_context *context,
                             const vxs_method_settings *settings, vxs_error *err)
{
    double start = vxs_seconds();
    uint64_t read = vxs_design_read(f->problem.design);
    vxs_problem lasso = f->problem;
    vxs_status status = vxs_forest_new(vxs_as_fused(f->problem.penalty)->graph, &f->forest, err);
    if (!status)
        status = check_forest(f, err);
    if (!status)
        status = vxs_subtree_sums_new(f->problem.design, true, &f->forest, &f->tree, err);
    if (!status)
        status = vxs_design_measure(f->tree, err);
    if (!status)
        status = add_root_columns(f, err);
    if (status)
        return status;
    f->seconds = vxs_seconds() - start;
    f->passes = (double)(vxs_design_read(f->problem.design) - read) /
                (double)vxs_design_columns(f->problem.design);
    lasso.design = f->tree;
    lasso.covariates = f->covariates;
    lasso.covariate_count += f->forest.trees;
    lasso.penalty = &vxs_l1;
    return vxs_lasso_kind.begin(context, &lasso, settings, &f->lasso, err);
}

static vxs_status begin(const vxs_context *context, const vxs_problem *problem,
                        const vxs_method_settings *settings, vxs_solver **solver, vxs_error *err)
{
    fused_tree *f = vxs_alloc(1, sizeof(*f), err);
    if (!f)
        return VXS_FAILED;
    f->solver.kind = &vxs_tree_kind;
    f->problem = *problem;
    vxs_status status = initialize(f, context, settings, err);
    if (status) {
        release(&f->solver);
        return status;
    }
    *solver = &f->solver;
    return VXS_OK;
}

/* ---- One lambda ------------------------------------------------------------------------------ */

/* Weights in topological order, parents first. Returns the number of fused regions. */
static size_t add_differences(const fused_tree *f, const vxs_solution *differences, double *w)
{
    size_t column = 0, next = 0, tree = 0, regions = 0;
    const double *roots = differences->covariate_coefficients + f->problem.covariate_count;
    for (size_t k = 0; k < f->forest.nodes; k++) {
        if (f->forest.parent[k] == k) {
            w[k] = roots[tree] / f->length[tree];
            tree++;
            regions++;
            continue;
        }
        w[k] = w[f->forest.parent[k]];
        if (next < differences->count && differences->index[next] == column) {
            w[k] += differences->weight[next++] / f->forest.weight[k];
            regions++;
        }
        column++;
    }
    return regions;
}

/* Weights of features from differences over edges. */
static vxs_status expand(const fused_tree *f, const vxs_solution *differences,
                         vxs_solution *solution, vxs_error *err)
{
    size_t p = f->forest.nodes, q = f->problem.covariate_count;
    double *w = vxs_alloc(p, sizeof(*w), err), *by_feature = vxs_alloc(p, sizeof(*w), err);
    solution->index = vxs_alloc(p, sizeof(*solution->index), err);
    solution->weight = vxs_alloc(p, sizeof(*solution->weight), err);
    solution->covariate_coefficients = vxs_alloc(q, sizeof(*solution->covariate_coefficients), err);
    if (!w || !by_feature || !solution->index || !solution->weight ||
        !solution->covariate_coefficients) {
        free(w);
        free(by_feature);
        return VXS_FAILED;
    }
    memcpy(solution->covariate_coefficients, differences->covariate_coefficients,
           q * sizeof(*solution->covariate_coefficients));
    solution->certificate = differences->certificate;
    solution->certificate.fused_regions = add_differences(f, differences, w);
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
    fused_tree *f = (fused_tree *)solver;
    vxs_solution differences = { .count = 0 };
    *solution = (vxs_solution){ .count = 0 };
    vxs_status status = vxs_solver_fit(f->lasso, lambda, &differences, err);
    if (!status)
        status = expand(f, &differences, solution, err);
    vxs_solution_release(&differences);
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
