/* conditioned.h - an orthogonal basis in place of nearly collinear covariates; private to the
 * solver room. */
#ifndef VXS_SOLVER_CONDITIONED_H
#define VXS_SOLVER_CONDITIONED_H

#include "voxsift/solver.h"

typedef struct vxs_conditioned vxs_conditioned;
/* Replaces the covariates of the problem by an orthogonal basis, which must outlive the problem;
 * NULL if it is not needed. */
VXS_MUST_CHECK vxs_status vxs_conditioned_new(vxs_problem *problem, vxs_conditioned **conditioned,
                                              vxs_error *err);
/* Converts a solution's coefficients to those of the covariates themselves. */
VXS_MUST_CHECK vxs_status vxs_conditioned_weights(const vxs_conditioned *conditioned,
                                                  vxs_solution *solution, vxs_error *err);
void vxs_conditioned_free(vxs_conditioned *conditioned);

#endif
