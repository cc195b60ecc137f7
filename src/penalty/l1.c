/* l1.c - the l1 norm of the weights. */
#include "voxsift/internal/penalty.h"

#include <math.h>

static vxs_status check(const vxs_penalty *penalty, const vxs_design *design, bool some,
                        vxs_error *err)
{
    (void)penalty;
    (void)design;
    (void)some;
    (void)err;
    return VXS_OK;
}

static double value(const vxs_penalty *penalty, const double *w, size_t p)
{
    double sum = 0;
    (void)penalty;
    for (size_t j = 0; j < p; j++)
        sum += fabs(w[j]);
    return sum;
}

const vxs_penalty_kind vxs_l1_penalty = { .name = "an l1 penalty", .check = check, .value = value };
const vxs_penalty vxs_l1 = { &vxs_l1_penalty };
