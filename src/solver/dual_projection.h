/* dual_projection.h - projection onto the complement of the unpenalized columns; private to the
 * solver room. */
#ifndef VXS_SOLVER_DUAL_PROJECTION_H
#define VXS_SOLVER_DUAL_PROJECTION_H

#include "voxsift/internal/solver.h"

typedef struct {
    const vxs_problem *problem;
    size_t n, classes, rank;
    double *columns; /* n x rank: columns of norm 1, not orthogonalized: a basis
                   * would mix directions whose curvatures differ by 1e16 */
    double *root;    /* n x classes x classes: S of each sample */
    double *q;       /* QR factors of S'C: n classes x columns, columns x columns */
    double *r;
    double *along; /* columns */
    double *moved; /* n classes */
} vxs_dual_projection;
/* With at most `max` columns. */
VXS_MUST_CHECK vxs_status vxs_dual_projection_init(const vxs_problem *problem, size_t max,
                                                   vxs_dual_projection *reach, vxs_error *err);
/* Adds an unpenalized column, linearly independent of those before. */
void vxs_dual_projection_add(vxs_dual_projection *reach, const double *column);
void vxs_dual_projection_release(vxs_dual_projection *reach);
/* Projects v, n x classes, with the curvatures of vxs_loss_curvature. False if no orthogonal point
 * is reached; v is then undefined. */
bool vxs_dual_projection_project(vxs_dual_projection *reach, const double *curvature, double *v);

#endif
