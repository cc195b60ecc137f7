/* joint_dual.h - the dual problem of several kernels at once; private to the solver.
 *
 *     max over t:  q't - max_g beta'K_g beta / 2,   0 <= t <= c,   sum beta = 0 if b is free
 *
 * beta and the variables t are those of box_dual.h. The multipliers d of the quadratics, which are
 * not negative and sum to 1, are the weights of the kernels. */
#ifndef VXS_SOLVER_MKL_JOINT_DUAL_H
#define VXS_SOLVER_MKL_JOINT_DUAL_H

#include "solver/saiv/box_dual.h"

/* A pair of points, which a solve replaces, and what it was worth. */
typedef struct {
    size_t count;          /* kernels */
    const double **k;      /* count: n x n each */
    double *t;             /* of a variable */
    double *below, *above; /* the same: multipliers of its bounds 0 and c */
    double *d, *slack;     /* of a kernel; level - beta'K_g beta / 2 */
    double level;
    double primal, dual;
    size_t iterations;
    double *space;
} vxs_joint;
VXS_MUST_CHECK vxs_status vxs_joint_init(vxs_joint *joint, size_t variables, size_t count,
                                         vxs_error *err);
void vxs_joint_release(vxs_joint *joint);

/* The value of the primal problem where the functions of the kernels are d_g K_g beta, beta being
 * that of box->t, box->f the sum of them, and `norms` |K_g^(1/2) beta| for each kernel: (sum of
 * d_g norms_g)^2 / 2 and the loss at the best b. */
vxs_box_state vxs_joint_value(const vxs_box *box, const double *d, const double *norms,
                              size_t count, vxs_threshold *thresholds);

/* Solves until the gap is at most `gap` or does not fall any more; the kernel, t and f of the box
 * are not read. */
VXS_MUST_CHECK vxs_status vxs_joint_solve(const vxs_box *box, double gap, vxs_joint *joint,
                                          vxs_error *err);

#endif
