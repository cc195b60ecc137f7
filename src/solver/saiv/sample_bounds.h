/* sample_bounds.h - where the values of samples are at the optimum of a kernel machine, and which
 * weights follow from that; private to the solver. */
#ifndef VXS_SOLVER_SAIV_SAMPLE_BOUNDS_H
#define VXS_SOLVER_SAIV_SAMPLE_BOUNDS_H

#include "solver/saiv/box_dual.h"

/* What a weight is in every optimum. */
typedef enum { VXS_UNDECIDED, VXS_DECIDED_ZERO, VXS_DECIDED_FULL } vxs_fate;

typedef struct {
    double *low, *high; /* n: of f at the optimum; K beta without b */
    double b_low, b_high;
} vxs_sample_bounds;
/* `values`: 2 n. */
void vxs_sample_bounds_begin(vxs_sample_bounds *bounds, size_t n, double *values);
/* w at the optimum is at most `radius` from `scale` times that of the box: bounds from several such
 * balls hold together. */
void vxs_sample_bounds_add(vxs_sample_bounds *bounds, const vxs_box *box, double scale,
                           double radius);
/* Of the problem of a set whose others have no weights (NULL: of all). */
void vxs_sample_bounds_intercept(vxs_sample_bounds *bounds, const vxs_box *box, const size_t *set,
                                 size_t count, vxs_threshold *thresholds);
/* How far the value of a variable is outside the margin at least; after the intercept. */
double vxs_sample_bounds_margin(const vxs_sample_bounds *bounds, const vxs_box *box, size_t k);
/* Decides what is not decided yet; returns how many are. */
size_t vxs_sample_bounds_decide(vxs_sample_bounds *bounds, const vxs_box *box,
                                vxs_threshold *thresholds, unsigned char *fate);

/* Of the ball around w whose values are `state`; `empty`: the primal value without weights. */
double vxs_gap_radius(vxs_box_state state, double empty);
/* Of the ball around (1 + ratio) / 2 w where C is `ratio` times that of w, whose own ball had the
 * radius `own`. */
double vxs_path_radius(double ratio, double norm, double own);

#endif
