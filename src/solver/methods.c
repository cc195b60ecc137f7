/* methods.c - the table of methods, and their common entry points. */
#include "solver/conditioned.h"
#include "solver/solver.h"

const char *const vxs_method_names[] = { "lasso", "graphnet",   "group-lasso", "fused",
                                         "skfs",  "hsic-lasso", "fgm",         "mslr",
                                         "svm",   "mkl",        "measure",     NULL };

const vxs_method vxs_methods[] = {
    [VXS_METHOD_LASSO] = { .name = "lasso",
                           .summary = "few voxels, each with a weight (safe active incremental "
                                      "features, SAIF)",
                           .source = "Ren S, Huang S, Ye J, Qian X. Safe feature screening for "
                                     "generalized LASSO. IEEE TPAMI 40, 2018",
                           .params = vxs_lasso_params,
                           .standardize = VXS_STANDARDIZE_UNIT,
                           .takes_bags = true,
                           .kind = &vxs_lasso_kind },
    [VXS_METHOD_GRAPHNET] = { .name = "graphnet",
                              .summary = "few voxels with weights that vary smoothly between "
                                         "neighbors (l1 penalty and squared differences)",
                              .source = "Grosenick L, Klingenberg B, Katovich K, Knutson B, Taylor "
                                        "JE. Interpretable whole-brain prediction analysis with "
                                        "GraphNet. NeuroImage 72, 2013",
                              .params = vxs_graphnet_params,
                              .graph = VXS_GRAPH_OPTIONAL,
                              .standardize = VXS_STANDARDIZE_UNIT,
                              .kind = &vxs_lasso_kind },
    [VXS_METHOD_GROUP_LASSO] = { .name = "group-lasso",
                                 .summary = "few regions or other groups of voxels, each selected "
                                            "as a whole",
                                 .source = "Yuan M, Lin Y. Model selection and estimation in "
                                           "regression with grouped variables. JRSS B 68, 2006; "
                                           "Obozinski G, Jacob L, Vert JP. Group lasso with "
                                           "overlaps: the latent group lasso approach. "
                                           "arXiv:1110.0413, 2011",
                                 .params = vxs_group_lasso_params,
                                 .standardize = VXS_STANDARDIZE_UNIT,
                                 .kind = &vxs_group_lasso_kind },
    [VXS_METHOD_FUSED] = { .name = "fused",
                           .summary = "regions of neighboring voxels with one weight per region "
                                      "(fused lasso, total variation)",
                           .source = "Tibshirani R, Saunders M, Rosset S, Zhu J, Knight K. "
                                     "Sparsity and smoothness via the fused lasso. JRSS B 67, 2005",
                           .params = vxs_fused_params,
                           .graph = VXS_GRAPH_NEEDED,
                           .standardize = VXS_STANDARDIZE_CENTER,
                           .kind = &vxs_fused_kind },
    [VXS_METHOD_SKFS] = { .name = "skfs",
                          .summary = "few voxels whose Gaussian kernels separate classes, smooth "
                                     "among neighbors (structured kernel feature selection)",
                          .source = "Ren S. Scalable algorithms for high dimensional structured "
                                    "data. Dissertation, Texas A&M University, 2017, chapter 4",
                          .params = vxs_skfs_params,
                          .graph = VXS_GRAPH_OPTIONAL,
                          .standardize = VXS_STANDARDIZE_UNIT,
                          .classes_only = true,
                          .kind = &vxs_skfs_kind },
    [VXS_METHOD_HSIC] = { .name = "hsic-lasso",
                          .summary = "few voxels whose Gaussian kernels fit the classes and are "
                                     "not redundant (HSIC lasso)",
                          .source = "Yamada M, Jitkrittum W, Sigal L, Xing EP, Sugiyama M. "
                                    "High-dimensional feature selection by feature-wise kernelized "
                                    "lasso. Neural Computation 26, 2014",
                          .params = vxs_hsic_params,
                          .standardize = VXS_STANDARDIZE_UNIT,
                          .classes_only = true,
                          .kind = &vxs_hsic_kind },
    [VXS_METHOD_FGM] = { .name = "fgm",
                         .summary = "a given number of voxels, groups or pairs, the best few in "
                                    "each iteration (feature generating machine)",
                         .source = "Tan M, Tsang IW, Wang L. Towards ultrahigh dimensional feature "
                                   "selection for big data. JMLR 15, 2014",
                         .params = vxs_fgm_params,
                         .path = VXS_BY_ITERATIONS,
                         .standardize = VXS_STANDARDIZE_UNIT,
                         .kind = &vxs_fgm_kind },
    [VXS_METHOD_MSLR] = { .name = "mslr",
                          .summary = "a given number of voxels, groups or pairs by logistic loss, "
                                     "then refitted (minimax sparse logistic regression)",
                          .source =
                              "Tan M, Tsang IW, Wang L. Minimax sparse logistic regression for "
                              "very high-dimensional feature selection. IEEE TNNLS 24, 2013",
                          .params = vxs_mslr_params,
                          .path = VXS_BY_ITERATIONS,
                          .standardize = VXS_STANDARDIZE_UNIT,
                          .classes_only = true,
                          .kind = &vxs_mslr_kind },
    [VXS_METHOD_SVM] = { .name = "svm",
                         .summary = "all voxels at once, by support vector machines (linear, "
                                    "Gaussian or polynomial kernel): the strong dense baseline",
                         .source = "Ren S. Scalable algorithms for high dimensional structured "
                                   "data. Dissertation, Texas A&M University, 2017, chapter 5",
                         .params = vxs_svm_params,
                         .path = VXS_BY_COST,
                         .standardize = VXS_STANDARDIZE_CENTER,
                         .takes_pairs = true,
                         .kind = &vxs_svm_kind },
    [VXS_METHOD_MKL] = { .name = "mkl",
                         .summary = "a weight for each region, and a support vector machine on the "
                                    "weighted regions (multiple kernel learning)",
                         .source = "Rakotomamonjy A, Bach FR, Canu S, Grandvalet Y. SimpleMKL. "
                                   "JMLR 9, 2008; Schrouff J, Monteiro JM, Portugal L, Rosa MJ, "
                                   "Phillips C, Mour\xc3\xa3o-Miranda J. Embedding anatomical or "
                                   "functional knowledge in whole-brain multiple kernel learning "
                                   "models. Neuroinformatics 16, 2018",
                         .params = vxs_mkl_params,
                         .path = VXS_BY_COST,
                         .standardize = VXS_STANDARDIZE_CENTER,
                         .takes_pairs = true,
                         .kind = &vxs_mkl_kind },
    [VXS_METHOD_MEASURE] = { .name = "measure",
                             .summary = "a given number of voxels or groups, for F1, the area "
                                        "under the ROC curve or hits among the first",
                             .source = "Mao Q, Tsang IW. A feature selection method for "
                                       "multivariate performance measures. IEEE TPAMI 35, 2013",
                             .params = vxs_measure_params,
                             .path = VXS_BY_ITERATIONS,
                             .standardize = VXS_STANDARDIZE_UNIT,
                             .classes_only = true,
                             .kind = &vxs_measure_method_kind },
    [VXS_METHODS] = { .name = NULL },
};

const vxs_method *vxs_method_solved_by(const vxs_solver_kind *kind)
{
    const vxs_method *method = vxs_methods;
    while (method->name && method->kind != kind)
        method++;
    return method;
}

bool vxs_method_takes_loss(const vxs_method *method, const vxs_loss_kind *loss)
{
    const vxs_accepts *r = method->kind->accepts(NULL);
    size_t k = 0;
    while (k < VXS_MOST_TAKEN && r->losses[k] != loss)
        k++;
    return k < VXS_MOST_TAKEN;
}

void vxs_method_losses(const vxs_method *method, char *words, size_t size)
{
    size_t used = 0;
    *words = '\0';
    for (const vxs_loss_kind *const *loss = vxs_loss_kinds; *loss && used < size; loss++)
        if (vxs_method_takes_loss(method, *loss))
            used += (size_t)snprintf(words + used, size - used, "%s%s", used > 0 ? ", " : "",
                                     (*loss)->name);
}

bool vxs_method_takes_quadratic(const vxs_method *method, const vxs_quadratic_kind *quadratic)
{
    const vxs_accepts *r = method->kind->accepts(NULL);
    size_t k = 0;
    while (k < VXS_MOST_TAKEN && r->quadratics[k] != quadratic)
        k++;
    return k < VXS_MOST_TAKEN;
}

vxs_status vxs_solver_new(const vxs_context *context, const vxs_method *method,
                          const vxs_problem *problem, const vxs_method_settings *settings,
                          vxs_solver **solver, vxs_error *err)
{
    vxs_problem solved = { .design = NULL };
    vxs_conditioned *conditioned = NULL;
    vxs_status status =
        VXS_GIVEN(err, { "method", method }, { "settings", settings }, { "solver", solver });
    if (!status)
        status = vxs_problem_check(problem, method, settings, err);
    if (!status)
        solved = *problem;
    if (!status && !method->kind->select)
        status = vxs_conditioned_new(&solved, &conditioned, err);
    if (!status)
        status = method->kind->begin(context, &solved, settings, solver, err);
    if (status) {
        vxs_conditioned_free(conditioned);
        return status;
    }
    (*solver)->conditioned = conditioned;
    double most = vxs_solver_lambda_max(*solver);
    (*solver)->method = method;
    (*solver)->covariate_count = problem->covariate_count * vxs_loss_outputs(&problem->loss);
    if (isfinite(most) || method->kind->select)
        return VXS_OK;
    vxs_solver_free(*solver);
    *solver = NULL;
    return vxs_fail(err, VXS_BAD_DATA,
                    "the problem overflows: lambda_max is %g; features, target or weights are too "
                    "large",
                    most);
}

double vxs_solver_lambda_max(const vxs_solver *solver)
{
    return solver && solver->kind->lambda_max ? solver->kind->lambda_max(solver) : NAN;
}

bool vxs_solver_is_empty(const vxs_solver *solver)
{
    if (!solver)
        return true;
    return solver->kind->is_empty ? solver->kind->is_empty(solver)
                                  : !(solver->kind->lambda_max(solver) > 0);
}

vxs_path_kind vxs_method_path(const vxs_method *method, const vxs_method_settings *settings)
{
    bool numbers = method->path == VXS_BY_ITERATIONS && settings->path.numbers;
    return numbers ? VXS_BY_NUMBER : method->path;
}

/* Where lambda_max is 0 the empty model is optimal for every lambda; 1 replaces 0. */
vxs_status vxs_solver_fit_at(vxs_solver *solver, vxs_path_point point, vxs_solution *solution,
                             vxs_error *err)
{
    if (solution)
        *solution = (vxs_solution){ .count = 0 };
    vxs_status status = VXS_GIVEN(err, { "solver", solver }, { "solution", solution });
    if (!status)
        status = vxs_point_check(solver, point, err);
    if (!status)
        status = solver->kind->select
                     ? solver->kind->select(solver, point, solution, err)
                     : solver->kind->fit(solver, point.value > 0 ? point.value : 1, solution, err);
    if (!status)
        status = vxs_conditioned_weights(solver->conditioned, solution, err);
    return status ? status : vxs_solution_check_finite(solution, solver->covariate_count, err);
}

vxs_status vxs_solver_fit(vxs_solver *solver, double lambda, vxs_solution *solution, vxs_error *err)
{
    return vxs_solver_fit_at(solver, (vxs_path_point){ VXS_BY_LAMBDA, lambda }, solution, err);
}

bool vxs_solver_is_conditioned(const vxs_solver *solver)
{
    return solver && solver->conditioned;
}

void vxs_solver_free(vxs_solver *solver)
{
    if (!solver)
        return;
    vxs_conditioned *conditioned = solver->conditioned;
    solver->kind->release(solver);
    vxs_conditioned_free(conditioned);
}
