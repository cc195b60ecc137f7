/* group_newton.h - the group lasso's quadratic model, by Newton steps on the sizes of the groups;
 * private to the solver room. */
#ifndef VXS_SOLVER_GROUP_LASSO_GROUP_NEWTON_H
#define VXS_SOLVER_GROUP_LASSO_GROUP_NEWTON_H

#include "solver/saif/l1_quadratic.h"
#include "solver/saif/weighted_covariates.h"
#include "voxsift/internal/core.h"

/* The quadratic model of the loss at the weights of `count` groups. */
typedef struct {
    size_t n, q, count;
    const double *covariates; /* n x q */
    const double *const *x;   /* n x width of each group */
    const size_t *start;      /* count + 1: first weight of a group */
    const size_t *place;      /* of each group: the same number means the same columns as before */
    const double *z;          /* n: predictions of the groups */
    const double *loss_gradient; /* n: orthogonal to the covariates */
    const double *curvature;     /* n: second derivatives of the loss */
    double lambda;
    double target;              /* gap of the model to reach */
    const vxs_context *context; /* for interruption; may be NULL */
} vxs_group_model;

/* Work space, reused. */
typedef struct {
    vxs_weighted_covariates covariates;
    size_t column_room, group_room, dense;
    double *columns; /* n x columns: B = Q root(v) X */
    double *panel;   /* n x a block of columns */
    double *gram;    /* B'B, if there are fewer columns than subjects */
    double **kernel; /* by place: X_g X_g', lower half, of wide groups; or NULL */
    size_t kernel_room;
    double *system;             /* I + BDB', or I + root(D) B'B root(D), factored */
    double *target, *dual;      /* n: t, a = (I + BDB')^-1 t */
    double *gradient;           /* columns: B'a */
    double *shared;             /* columns: work space */
    double *size, *next, *best; /* groups: d */
    double *linear;             /* groups */
    double *pull, *solved;      /* n x groups: B_g B_g'a, and the system's solutions */
    double *across;             /* columns x groups */
    double *hessian;            /* groups x groups */
    vxs_l1_quadratic quadratic;
} vxs_group_newton;

/* weight = the minimum of the model, from the weights given. */
VXS_MUST_CHECK vxs_status vxs_group_newton_solve(vxs_group_newton *newton,
                                                 const vxs_group_model *model, double *weight,
                                                 uint64_t *steps, vxs_error *err);
void vxs_group_newton_release(vxs_group_newton *newton);

#endif
