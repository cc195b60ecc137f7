/* hinge_interior.h - the hinge on a few voxels by an interior point; private to the solver room. */
#ifndef VXS_SOLVER_INTERIOR_POINT_HINGE_INTERIOR_H
#define VXS_SOLVER_INTERIOR_POINT_HINGE_INTERIOR_H

#include "voxsift/internal/core.h"

/* minimise  sum_m u_m [1 - (Za)_m]_+ + rho sum_i a_i + smooth a'La  over a >= 0.
 *
 * L is the part of a graph's Laplacian that belongs to these members: `degree` sums the weights of
 * all edges of a member, those to others included. */
typedef struct {
    size_t n, k;
    const double *z; /* n x k by column */
    const double *u; /* n, none negative */
    double rho, smooth;
    const double *degree; /* k */
    size_t edges;
    const size_t *from, *to; /* members, from < to */
    const double *weight;
    double target; /* of the gap */
    const vxs_context *context;

    double *a;     /* k: where to begin, and the answer */
    double *alpha; /* n: likewise, of the dual, between 0 and u */
    double *slack; /* k: rho - z_i'alpha + 2 smooth (La)_i of the answer */
    double primal, dual;
    int iterations;
} vxs_interior;

/* VXS_OK when rounding keeps it from its target as well; the values say how near it came. */
VXS_MUST_CHECK vxs_status vxs_interior_solve(vxs_interior *problem, vxs_error *err);

/* x += 2 smooth La */
void vxs_interior_pull(const vxs_interior *problem, const double *a, double *x);

#endif
