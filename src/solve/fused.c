/* fused.c - penalties on differences: which solver takes which problem.
 *
 * saif   trees, on which the problem is a lasso (fused_tree.c)
 * cuts   any graph: pieces that are cut where flows say so (cuts.c)
 * bp     any graph and any terms: bound propagation over an interior point method (bp.c) */
#include "solve/solver.h"

static const char *const ways[] = { "auto", "saif", "cuts", "bp", NULL };

const vxs_param vxs_fused_params[] = {
    VXS_LAMBDA_ROWS,
    { .name = "solver",
      .value = "WAY",
      .type = VXS_PARAM_CHOICE,
      .offset = VXS_AT(way),
      .choices = ways,
      .help = "saif: trees, as a lasso on sums over subtrees; cuts: any graph, by pieces that "
              "maximal flows cut; bp: any penalty, by bound propagation over an interior point "
              "method, for up to some thousands of features; auto: saif for trees, cuts for other "
              "graphs, bp for other penalties" },
    { .name = "sparsity",
      .value = "X",
      .type = VXS_PARAM_REAL,
      .offset = VXS_AT(sparsity),
      .max = 1e6,
      .help =
          "a weight itself costs X as much as a difference of that size over an edge (lambda1 / "
          "lambda2): with 0 differences alone are penalised" },
    { .name = "penalty",
      .value = "WHAT",
      .type = VXS_PARAM_TEXT,
      .offset = VXS_AT(terms),
      .help =
          "edges (the default): differences over the graph; trend: second differences "
          "of features in their order; matrix:FILE: sums of features, from a table with columns "
          "term, feature and value" },
    { .name = "compare",
      .type = VXS_PARAM_FLAG,
      .offset = VXS_AT(compare),
      .help = "with --solver bp: solves without screening as well, and says how much longer that "
              "took and how far apart the values are" },
    { .name = "untransformed",
      .type = VXS_PARAM_FLAG,
      .offset = VXS_AT(untransformed),
      .help = "with --solver bp: screens without adding up columns over trees and along paths, "
              "which is there to be compared with" },
    VXS_SCREEN_ROWS,
    { .name = NULL },
};

static vxs_status refuse_loops(const vxs_problem *problem, vxs_error *err)
{
    const vxs_graph *g = problem->graph;
    size_t loop = 0;
    vxs_status status = vxs_graph_loop(g, &loop, err);
    if (!status && loop < g->count)
        status = vxs_fail(err, VXS_MISUSE,
                          "'--solver saif' is for trees; the edge between features %zu and %zu of "
                          "the graph closes a loop, see '--solver cuts'",
                          g->from[loop], g->to[loop]);
    return status;
}

/* Options that other solvers have. */
static vxs_status check_options(const vxs_method_settings *s, int way, vxs_error *err)
{
    if (way != VXS_FUSED_BP && (s->compare || s->untransformed))
        return vxs_fail(err, VXS_MISUSE, "'--%s' goes with '--solver bp'; here it is '%s'",
                        s->compare ? "compare" : "untransformed", ways[way]);
    if (way == VXS_FUSED_CUTS && (s->screen != 0 || s->inner != 0))
        return vxs_fail(err, VXS_MISUSE, "'--%s' does not go with '--solver cuts'",
                        s->screen != 0 ? "screen" : "inner");
    return VXS_OK;
}

/* Whether it is a lasso on sums over subtrees. */
static vxs_status is_tree(const vxs_problem *problem, bool *tree, vxs_error *err)
{
    size_t loop = 0;
    vxs_status status = vxs_graph_loop(problem->graph, &loop, err);
    *tree = loop == problem->graph->count && problem->sparsity == 0 &&
            problem->loss != VXS_LOSS_MULTINOMIAL;
    return status;
}

static vxs_status begin(const vxs_context *context, const vxs_problem *problem,
                        const vxs_method_settings *settings, vxs_solver **solver, vxs_error *err)
{
    static const vxs_solver_kind *const kinds[] = { [VXS_FUSED_SAIF] = &vxs_tree_kind,
                                                    [VXS_FUSED_CUTS] = &vxs_cuts_kind,
                                                    [VXS_FUSED_BP] = &vxs_bp_kind };
    int way = settings->way;
    bool tree = false;
    if (problem->terms && way != VXS_FUSED_AUTO && way != VXS_FUSED_BP)
        return vxs_fail(err, VXS_MISUSE, "'--solver %s' is for graphs, not for '--penalty'",
                        ways[way]);
    bool open = way == VXS_FUSED_AUTO;
    vxs_status status = open && !problem->terms ? is_tree(problem, &tree, err) : VXS_OK;
    if (status)
        return status;
    if (open)
        way = problem->terms ? VXS_FUSED_BP : tree ? VXS_FUSED_SAIF : VXS_FUSED_CUTS;
    status = check_options(settings, way, err);
    if (!status && way == VXS_FUSED_SAIF && !tree)
        status = refuse_loops(problem, err);
    if (status)
        return status;
    return kinds[way]->begin(context, problem, settings, solver, err);
}

/* It begins as one of the others, which does the rest. */
const vxs_solver_kind vxs_fused_kind = { .begin = begin };
