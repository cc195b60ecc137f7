/* dual_pairs.h - steps of two weights of kernel machines in the dual; private. */
#ifndef VXS_SOLVER_SAIV_DUAL_PAIRS_H
#define VXS_SOLVER_SAIV_DUAL_PAIRS_H

#include "solver/saiv/box_dual.h"

/* The weight of a sample gains by rising while `rise` exceeds f + b, by falling while `fall` is
 * below. -INFINITY and INFINITY: it may not. */
typedef struct {
    vxs_box *box;
    double floor;  /* least curvature */
    size_t *first; /* n + 1: variables of a sample */
    double *rise, *fall, *diagonal;
} vxs_pairs;
/* Variables of a sample stand next to each other. `first` has n + 1 values, `values` 3 n. */
void vxs_pairs_begin(vxs_pairs *pairs, vxs_box *box, double floor, size_t *first, double *values);
/* At most `count` steps; false if the last of them could gain nothing. */
bool vxs_pairs_take(vxs_pairs *pairs, size_t count);
/* How far a variable may move if the weight of its sample moves in a direction. */
double vxs_box_room(const vxs_box *box, size_t k, double direction);
/* The weight of its sample moves by `step`; a variable that meets a bound is exactly there. */
void vxs_box_move(vxs_box *box, size_t k, double step);

#endif
