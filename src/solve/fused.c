/* fused.c - penalties on differences: which solver takes which problem.
 *
 * saif   trees, on which the problem is a lasso (fused_tree.c) */
#include "solve/solver.h"

static const char *const ways[] = { "auto", "saif", "cuts", NULL };

const vxs_param vxs_fused_params[] = {
    VXS_LAMBDA_ROWS,
    { .name = "solver",
      .value = "WAY",
      .type = VXS_PARAM_CHOICE,
      .offset = VXS_AT(way),
      .choices = ways,
      .help = "saif: trees, as a lasso on sums over subtrees; auto: what suits the graph" },
    { .name = "sparsity",
      .value = "X",
      .type = VXS_PARAM_REAL,
      .offset = VXS_AT(sparsity),
      .max = 1e6,
      .help =
          "a weight itself costs X as much as a difference of that size over an edge (lambda1 / "
          "lambda2): with 0 differences alone are penalised" },
    VXS_SCREEN_ROWS,
    { .name = NULL },
};

static vxs_status begin(const vxs_context *context, const vxs_problem *problem,
                        const vxs_method_settings *settings, vxs_solver **solver, vxs_error *err)
{
    const vxs_solver_kind *kind = &vxs_tree_kind;
    size_t loop = 0;
    vxs_status status = vxs_graph_loop(problem->graph, &loop, err);
    if (status)
        return status;
    bool tree = loop == problem->graph->count && problem->sparsity == 0 &&
                problem->loss != VXS_LOSS_MULTINOMIAL;
    if (settings->way == VXS_FUSED_CUTS || (settings->way == VXS_FUSED_AUTO && !tree))
        kind = &vxs_cuts_kind;
    return kind->begin(context, problem, settings, solver, err);
}

/* It begins as one of the others, which does the rest. */
const vxs_solver_kind vxs_fused_kind = { .begin = begin };
