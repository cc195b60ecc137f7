/* methods.c - the table of methods, and solving by whichever of them. */
#include "solve/solver.h"

const char *const vxs_method_names[] = { "lasso", "fused", "skfs", "fgm", "mslr", NULL };

const vxs_method vxs_methods[] = {
    { .name = "lasso",
      .summary = "few features with a weight, by safe active incremental features (SAIF); scores "
                 "and classes",
      .source = "Ren, Huang, Qian: scalable structured learning, chapter 2",
      .params = vxs_lasso_params,
      .standardize = VXS_STANDARDIZE_UNIT,
      .kind = &vxs_lasso_kind },
    { .name = "fused",
      .summary =
          "few pieces of equal weight along the edges of a graph: trees by SAIF on sums over "
          "subtrees, others by cuts; scores and classes",
      .source = "Ren, Huang, Qian: scalable structured learning, section 3.4",
      .params = vxs_fused_params,
      .needs_graph = true,
      .standardize = VXS_STANDARDIZE_CENTER,
      .kind = &vxs_fused_kind },
    { .name = "skfs",
      .summary = "few voxels whose kernels tell classes apart, alike among neighbours (structured "
                 "kernel feature selection); also where the relation is not linear; classes",
      .source = "Ren, Huang, Qian: scalable structured learning, chapter 4",
      .params = vxs_skfs_params,
      .kernel = true,
      .classes = true,
      .standardize = VXS_STANDARDIZE_UNIT,
      .kind = &vxs_skfs_kind },
    { .name = "fgm",
      .summary = "as many features, groups, pairs or curves of features as are wanted, the best "
                 "few in each round (feature generating machine); classes",
      .source = "Tan, Tsang, Wang: Towards ultrahigh dimensional feature selection for big data",
      .params = vxs_fgm_params,
      .classes = true,
      .generates = true,
      .standardize = VXS_STANDARDIZE_UNIT,
      .kind = &vxs_fgm_kind },
    { .name = "mslr",
      .summary = "the same by minimax sparse logistic regression, which learns the weights of what "
                 "it selected anew; classes",
      .source = "Tan, Tsang, Wang: Minimax sparse logistic regression",
      .params = vxs_mslr_params,
      .classes = true,
      .generates = true,
      .standardize = VXS_STANDARDIZE_UNIT,
      .kind = &vxs_mslr_kind },
    { .name = NULL },
};

vxs_status vxs_solver_new(const vxs_context *context, const vxs_method *method,
                          const vxs_problem *problem, const vxs_method_settings *settings,
                          vxs_solver **solver, vxs_error *err)
{
    return method->kind->begin(context, problem, settings, solver, err);
}

double vxs_solver_lambda_max(const vxs_solver *solver)
{
    return solver->kind->lambda_max(solver);
}

vxs_status vxs_solver_fit(vxs_solver *solver, double lambda, vxs_solution *solution, vxs_error *err)
{
    return solver->kind->fit(solver, lambda, solution, err);
}

void vxs_solver_free(vxs_solver *solver)
{
    if (solver)
        solver->kind->release(solver);
}
