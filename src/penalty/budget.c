/* budget.c - the penalty of feature generating machines (FGM): a budget of feature blocks. Its
 * value is an optimization problem, which the solver and the checker each solve. */
#include "voxsift/internal/penalty.h"

static vxs_status check(const vxs_penalty *penalty, const vxs_design *design, bool some,
                        vxs_error *err)
{
    const vxs_budget *b = vxs_as_budget(penalty);
    size_t n = vxs_design_rows(design);
    (void)some;
    if (!b->blocks)
        return vxs_fail(err, VXS_MISUSE, "the budget has no feature blocks");
    if (vxs_blocks_rows(b->blocks) != n)
        return vxs_fail(err, VXS_MISUSE, "the feature blocks have %zu rows, the design %zu",
                        vxs_blocks_rows(b->blocks), n);
    vxs_status status = vxs_number_check("the cost C", b->cost, 0, true, err);
    if (!status)
        status = vxs_number_check("the budget", (double)b->budget, 1, false, err);
    if (!status)
        status = vxs_number_check("the cost C of refitting", b->refit_cost, 0, false, err);
    return status ? status
                  : vxs_choice_check("feature map", b->map.kind, VXS_FEATURE_MAP_HIK + 1, err);
}

const vxs_penalty_kind vxs_budget_penalty = { .name = "a budget of feature blocks",
                                              .check = check };
