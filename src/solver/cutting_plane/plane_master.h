/* plane_master.h - the problem over the planes of a bundle; private to the solver room. */
#ifndef VXS_SOLVER_CUTTING_PLANE_PLANE_MASTER_H
#define VXS_SOLVER_CUTTING_PLANE_PLANE_MASTER_H

#include "voxsift/internal/core.h"

typedef struct {
    size_t planes, rounds, equations; /* K, T, q */
    size_t stride;
    const double *const *gram; /* of a round: K x K, columns `stride` apart: products of planes */
    const double *offset;      /* K: costs of the planes */
    const double *along;       /* K x q: planes times the free columns */
    double cost;               /* C */
    double tol;                /* complementarity to reach, relative */
    double *alpha;             /* K: sums to C */
    double *mu;                /* T: shares of the rounds, sum to 1 */
    double *free_weights;      /* q: weights of the free columns */
    double lower;              /* value at alpha as it is */
    size_t steps;
} vxs_plane_master;

VXS_MUST_CHECK vxs_status vxs_plane_master_solve(vxs_plane_master *m, vxs_error *err);

#endif
