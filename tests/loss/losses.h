/* losses.h - for tests: losses by number. */
#ifndef VXS_TESTS_LOSS_LOSSES_H
#define VXS_TESTS_LOSS_LOSSES_H

#include "voxsift/internal/loss.h"

/* The place in the table: random numbers of a test are functions of it. */
static inline uint64_t number_of_loss(const vxs_loss_kind *loss)
{
    uint64_t k = 0;
    while (vxs_loss_kinds[k] != loss)
        k++;
    return k;
}

#endif
