/* reach.h - dual points orthogonal to what is free, each sample moved as far as its curvature
 * allows; private to the solver room. */
#ifndef VXS_SOLVER_REACH_H
#define VXS_SOLVER_REACH_H

#include "voxsift/internal/solver.h"

typedef struct {
    const vxs_problem *problem;
    size_t n, classes, rank;
    double *free; /* n x rank: columns as they are, of length 1. What sites have in common would
                     hide that one of them curves by 1e-16 of the others */
    double *root; /* n x classes x classes: S, for each sample */
    double *q;    /* n classes x columns, and r, columns x columns: S'C = QR */
    double *r;
    double *along; /* columns */
    double *moved; /* n classes */
} vxs_reach;
/* For so many columns at most. */
VXS_MUST_CHECK vxs_status vxs_reach_init(const vxs_problem *problem, size_t most, vxs_reach *reach,
                                         vxs_error *err);
/* A free column that does not depend on those before it. */
void vxs_reach_add(vxs_reach *reach, const double *column);
void vxs_reach_release(vxs_reach *reach);
/* Of slopes v, n x classes, at the curvatures that vxs_loss_curvature gives. False where these
 * leave no way to a point that is orthogonal; what v is then is of no use. */
bool vxs_reach_project(vxs_reach *reach, const double *curvature, double *v);

#endif
