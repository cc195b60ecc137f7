/* group_norms.c - the penalty of the group lasso: the sum of the norms of feature blocks' weights.
 * With overlapping groups the value at w is an optimization problem: the least sum over all ways to
 * divide w among the groups. */
#include "voxsift/internal/penalty.h"

vxs_grouped vxs_grouped_by(vxs_blocks *blocks)
{
    return (vxs_grouped){ { &vxs_grouped_penalty }, blocks };
}

static vxs_status check(const vxs_penalty *penalty, const vxs_design *design, bool some,
                        vxs_error *err)
{
    vxs_blocks *blocks = vxs_as_grouped(penalty)->blocks;
    size_t n = vxs_design_rows(design);
    if (!blocks)
        return vxs_fail(err, VXS_MISUSE, "the group penalty has no groups");
    if (vxs_blocks_rows(blocks) != n)
        return vxs_fail(err, VXS_MISUSE, "the groups have %zu rows, the design %zu",
                        vxs_blocks_rows(blocks), n);
    if (!vxs_blocks_are_groups(blocks))
        return vxs_fail(err, VXS_MISUSE, "a group penalty takes groups, not a feature map");
    return some && vxs_blocks_count(blocks) == 0
               ? vxs_fail(err, VXS_BAD_DATA, "there are no groups")
               : VXS_OK;
}

const vxs_penalty_kind vxs_grouped_penalty = { .name = "a group penalty", .check = check };
