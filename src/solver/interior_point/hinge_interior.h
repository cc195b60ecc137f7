/* hinge_interior.h - interior-point method for the hinge loss on a working set; private to the
 * solver room. */
#ifndef VXS_SOLVER_INTERIOR_POINT_HINGE_INTERIOR_H
#define VXS_SOLVER_INTERIOR_POINT_HINGE_INTERIOR_H

#include "voxsift/internal/core.h"

/* min over a >= 0: sum_m u_m [1 - (Za)_m]_+ + rho sum_i a_i + laplacian a'La
 *
 * L is the block of the graph's Laplacian on the working set: `degree` sums the weights of all
 * edges of a voxel, those that leave the set included. */
typedef struct {
    size_t n, k;
    const double *z; /* n x k, column-major */
    const double *u; /* n, >= 0 */
    double rho, laplacian;
    const double *degree; /* k */
    size_t edges;
    const size_t *from, *to; /* positions, from < to */
    const double *weight;
    double target; /* gap */
    const vxs_context *context;

    double *a;     /* k: initial point, then the solution */
    double *alpha; /* n: the same of the dual, 0 <= alpha <= u */
    double *slack; /* k: rho - z_i'alpha + 2 laplacian (La)_i of the solution */
    double primal, dual;
    int iterations;
} vxs_hinge_interior;

/* VXS_OK also if rounding prevents the target; primal and dual say so. */
VXS_MUST_CHECK vxs_status vxs_hinge_interior_solve(vxs_hinge_interior *problem, vxs_error *err);

/* x += 2 laplacian La */
void vxs_hinge_interior_add_laplacian(const vxs_hinge_interior *problem, const double *a,
                                      double *x);

#endif
