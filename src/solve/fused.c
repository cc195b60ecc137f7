/* fused.c - penalties on differences: which solver takes which problem.
 *
 * saif   trees, on which the problem is a lasso (fused_tree.c)
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
      .help = "saif: trees, as a lasso on sums over subtrees; bp: any penalty, by bound "
              "propagation over an interior point method, for up to some thousands of features; "
              "auto: what suits the graph" },
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

static vxs_status begin(const vxs_context *context, const vxs_problem *problem,
                        const vxs_method_settings *settings, vxs_solver **solver, vxs_error *err)
{
    bool bp = settings->way == VXS_FUSED_BP || problem->terms || problem->sparsity > 0;
    const vxs_solver_kind *kind = bp ? &vxs_bp_kind : &vxs_tree_kind;
    return kind->begin(context, problem, settings, solver, err);
}

/* It begins as one of the others, which does the rest. */
const vxs_solver_kind vxs_fused_kind = { .begin = begin };
