/* growth.h - the loop of methods with a working set; private to the solver room. */
#ifndef VXS_SOLVER_GROWTH_H
#define VXS_SOLVER_GROWTH_H

#include "solver/solver.h"

typedef struct vxs_growth {
    /* Of the method. */
    void *of;
    const vxs_context *context;
    double target;  /* gap over all features, blocks, samples or kernels */
    double smaller; /* progress: a gap below this share of the least so far */
    size_t most_rounds;
    int patience; /* rounds without progress; then it ends unless the set grows */
    /* Solves the problem on the set, then finds the gap over all. */
    vxs_status (*solve)(struct vxs_growth *g, vxs_error *err);
    /* Adds what violates its condition most; writes how many. */
    vxs_status (*add)(struct vxs_growth *g, vxs_error *err);
    /* Nothing outside violates: what makes the next solution more accurate; it may compute the gap
     * again. NULL: solving again does. */
    vxs_status (*refine)(struct vxs_growth *g, vxs_error *err);
    /* Of the loop and the three. */
    double gap;    /* over all, of the last round */
    double best;   /* the least so far; INFINITY before the first */
    size_t rounds; /* without the last */
    size_t added;  /* in the last round */
    int stalled;   /* rounds without progress */
} vxs_growth;

VXS_MUST_CHECK vxs_status vxs_grow(vxs_growth *growth, vxs_error *err);

#endif
