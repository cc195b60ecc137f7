/* hinge.c - max(0, y - z), where y is a margin and the design includes the class labels. Only the
 * interior-point algorithm of skfs uses it, which needs no gradient. */
#include "loss/conjugate_domain.h"

static bool is_margin(const vxs_loss *loss, double y)
{
    return y > 0 && y <= VXS_LARGEST && y == loss->y[0];
}

const vxs_loss_kind vxs_hinge_loss = {
    .name = "hinge",
    .targets = "one margin above 0 for all samples, since the design of kernel scores knows the "
               "classes",
    .is_target = is_margin
};
