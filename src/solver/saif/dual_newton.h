/* dual_newton.h - the elastic net's quadratic model with supports of any size; private to the
 * solver room. */
#ifndef VXS_SOLVER_SAIF_DUAL_NEWTON_H
#define VXS_SOLVER_SAIF_DUAL_NEWTON_H

#include "solver/saif/weighted_covariates.h"
#include "voxsift/internal/core.h"

/* The quadratic model of the loss at a point (b, w). */
typedef struct {
    size_t n, q, count;
    const double *x;             /* n x (q + count), column-major; the first q are covariates */
    const double *w;             /* q + count: the point */
    const double *z;             /* n: its predictions */
    const double *loss_gradient; /* n */
    const double *curvature;     /* n: second derivatives of the loss */
    double lambda, ridge;
    bool nonnegative;
    const vxs_context *context; /* for interruption; may be NULL */
} vxs_net_model;

/* Work space, reused. */
typedef struct {
    vxs_weighted_covariates covariates;
    size_t room, dense, tall;           /* capacities: features, rows of `system`, columns */
    double *dual, *target, *left, *way; /* n: s, t, the gradient, the direction */
    double *spare;                      /* n */
    double *level, *slope;              /* features: x'xi, and its change along the direction */
    signed char *sign;                  /* features: of their weights */
    bool *multiplied;                   /* features: in `products` */
    size_t *support, *moved;
    double *columns, *system;
    double *products; /* n x n: BB', B the columns of the support */
} vxs_dual_newton;

/* point = the minimum of the model over b and w, q + count. `solved` is false if the model has
 * none: the loss is linear in a covariate. */
VXS_MUST_CHECK vxs_status vxs_dual_newton_solve(vxs_dual_newton *newton, const vxs_net_model *model,
                                                double *point, bool *solved, uint64_t *steps,
                                                vxs_error *err);
void vxs_dual_newton_release(vxs_dual_newton *newton);

#endif
