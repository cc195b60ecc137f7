/* Losses without parts, and targets that are none, have no value. */
#include "tests/core/check.h"

Test(arguments_loss, of_values)
{
    static const vxs_loss_kind bare = { .name = "bare" };
    const double y[2] = { 0, 7 }, z[6] = { 0 }, nan[2] = { 0, NAN }, below[2] = { 0, -1 };
    vxs_loss loss = { .kind = &vxs_squared_loss, .n = 2, .y = y };
    cr_assert(vxs_loss_value(&loss, z) == 24.5);
    cr_assert(isnan(vxs_loss_value(NULL, z)) && isnan(vxs_loss_value(&loss, NULL)));
    loss.y = NULL;
    cr_assert(isnan(vxs_loss_value(&loss, z)));
    loss = (vxs_loss){ .kind = NULL, .n = 2, .y = y };
    cr_assert(isnan(vxs_loss_value(&loss, z)));
    loss.kind = &bare;
    cr_assert(isnan(vxs_loss_value(&loss, z)));
    loss = (vxs_loss){ .kind = &vxs_multinomial_loss, .n = 2, .k = 3, .y = y };
    cr_assert(isnan(vxs_loss_value(&loss, z)));
    loss.y = nan;
    cr_assert(isnan(vxs_loss_value(&loss, z)));
    loss.y = below;
    cr_assert(isnan(vxs_loss_value(&loss, z)));
}
