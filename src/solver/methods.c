/* methods.c - the table of methods, and solving by whichever of them. */
#include "solver/conditioned.h"
#include "solver/solver.h"

const char *const vxs_method_names[] = {
    "lasso", "fused", "skfs", "fgm", "mslr", "graphnet", NULL
};

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
      .graph = VXS_GRAPH_NEEDED,
      .standardize = VXS_STANDARDIZE_CENTER,
      .kind = &vxs_fused_kind },
    { .name = "skfs",
      .summary = "few voxels whose kernels tell classes apart, alike among neighbours (structured "
                 "kernel feature selection); also where the relation is not linear; classes",
      .source = "Ren, Huang, Qian: scalable structured learning, chapter 4",
      .params = vxs_skfs_params,
      .graph = VXS_GRAPH_OPTIONAL,
      .standardize = VXS_STANDARDIZE_UNIT,
      .kind = &vxs_skfs_kind },
    { .name = "fgm",
      .summary = "as many features, groups, pairs or curves of features as are wanted, the best "
                 "few in each round (feature generating machine); classes",
      .source = "Tan, Tsang, Wang: Towards ultrahigh dimensional feature selection for big data",
      .params = vxs_fgm_params,
      .path = VXS_BY_ROUNDS,
      .standardize = VXS_STANDARDIZE_UNIT,
      .kind = &vxs_fgm_kind },
    { .name = "mslr",
      .summary = "the same by minimax sparse logistic regression, which learns the weights of what "
                 "it selected anew; classes",
      .source = "Tan, Tsang, Wang: Minimax sparse logistic regression",
      .params = vxs_mslr_params,
      .path = VXS_BY_ROUNDS,
      .standardize = VXS_STANDARDIZE_UNIT,
      .kind = &vxs_mslr_kind },
    { .name = "graphnet",
      .summary = "few features with a weight, alike among neighbors (graph-net: an l1 penalty and "
                 "squared differences); scores and classes",
      .source = "Grosenick, Klingenberg, Katovich, Knutson, Taylor: Interpretable whole-brain "
                "prediction analysis with GraphNet",
      .params = vxs_graphnet_params,
      .graph = VXS_GRAPH_OPTIONAL,
      .standardize = VXS_STANDARDIZE_UNIT,
      .kind = &vxs_lasso_kind },
    { .name = NULL },
};

bool vxs_method_takes_loss(const vxs_method *method, const vxs_loss_kind *loss)
{
    const vxs_accepts *r = method->kind->accepts(NULL);
    size_t k = 0;
    while (k < VXS_MOST_TAKEN && r->losses[k] != loss)
        k++;
    return k < VXS_MOST_TAKEN;
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
    if (!method || !settings)
        return vxs_fail(err, VXS_MISUSE, "a solver takes a method and settings");
    vxs_problem solved = { .design = NULL };
    vxs_conditioned *conditioned = NULL;
    vxs_status status = vxs_problem_check(problem, method, settings, err);
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
    (*solver)->free_count = problem->covariate_count * vxs_loss_outputs(&problem->loss);
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
    return solver->kind->lambda_max ? solver->kind->lambda_max(solver) : NAN;
}

bool vxs_solver_is_empty(const vxs_solver *solver)
{
    return solver->kind->is_empty ? solver->kind->is_empty(solver)
                                  : !(solver->kind->lambda_max(solver) > 0);
}

vxs_path_kind vxs_method_path(const vxs_method *method, const vxs_method_settings *settings)
{
    return method->path == VXS_BY_LAMBDA ? VXS_BY_LAMBDA
           : settings->path.numbers      ? VXS_BY_NUMBER
                                         : VXS_BY_ROUNDS;
}

/* Where lambda_max is 0 every lambda has the empty model as its solution, and 1 stands for 0. */
vxs_status vxs_solver_fit_at(vxs_solver *solver, vxs_path_point point, vxs_solution *solution,
                             vxs_error *err)
{
    *solution = (vxs_solution){ .count = 0 };
    vxs_status status = vxs_point_check(solver, point, err);
    if (!status)
        status = solver->kind->select
                     ? solver->kind->select(solver, point, solution, err)
                     : solver->kind->fit(solver, point.value > 0 ? point.value : 1, solution, err);
    if (!status)
        status = vxs_conditioned_weights(solver->conditioned, solution, err);
    return status ? status : vxs_solution_settle(solution, solver->free_count, err);
}

vxs_status vxs_solver_fit(vxs_solver *solver, double lambda, vxs_solution *solution, vxs_error *err)
{
    return vxs_solver_fit_at(solver, (vxs_path_point){ VXS_BY_LAMBDA, lambda }, solution, err);
}

void vxs_solver_free(vxs_solver *solver)
{
    if (!solver)
        return;
    vxs_conditioned *conditioned = solver->conditioned;
    solver->kind->release(solver);
    vxs_conditioned_free(conditioned);
}
