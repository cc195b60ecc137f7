/* boxes.h - random dual problems of kernel machines. */
#ifndef VXS_TESTS_SOLVER_BOXES_H
#define VXS_TESTS_SOLVER_BOXES_H

#include "solver/saiv/box_dual.h"

typedef struct {
    vxs_box box;
    double *k;
} box_example;

double *box_numbers(size_t count);
/* The same numbers for the same `number`: classes or scores, with weights, copies, without
 * intercept. */
box_example box_make(size_t n, uint64_t number, double cost);
void box_release(box_example *example);
void box_set_values(vxs_box *box, double *f);
/* Weights inside the box, at 0 or at their bound, that sum to 0. */
void box_draw_weights(vxs_box *box, uint64_t number);

#endif
