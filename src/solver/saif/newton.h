/* newton.h - Newton steps on large supports beside a Laplacian; private to the solver room. */
#ifndef VXS_SOLVER_SAIF_NEWTON_H
#define VXS_SOLVER_SAIF_NEWTON_H

#include "linalg/sparse_cholesky.h"
#include "solver/saif/laplacian.h"
#include "solver/saif/weighted_covariates.h"

/* The Newton system on a support, given by columns and second derivatives of the loss. */
typedef struct {
    const vxs_laplacian_matrix *laplacian;
    size_t n, q;
    const double *x;            /* n x ..., column-major; the first q are covariates */
    const double *curvature;    /* n */
    size_t count;               /* features of the support */
    const size_t *column;       /* their columns in x */
    const size_t *feature;      /* their columns in the design */
    const vxs_context *context; /* for interruption; may be NULL */
} vxs_newton_system;

/* The preconditioner, reused while supports are similar, and work space. */
typedef struct {
    vxs_factor factor;      /* L_SS + delta D */
    size_t count;           /* features of the preconditioner */
    size_t *place;          /* p: 1 + position of a feature, 0: none */
    size_t *list;           /* features by position */
    double *half;           /* n x count: Q root(V) X R'^-1, RR' = L_SS + delta D */
    double *small;          /* n x n: Cholesky factor of I + half half' */
    size_t room;            /* capacity of half and list */
    size_t *starts, *index; /* rows that the factor is built from */
    double *value, *weight; /* of these rows */
    double *part;           /* n: work space */
    vxs_weighted_covariates covariates;
    double *vectors; /* of conjugate gradients */
    size_t vector_room;
    bool worn;      /* the last solution needed many iterations */
    size_t refused; /* size of a support whose factor was too large; 0: none */
} vxs_newton;

/* direction = the Newton direction of covariates and support, q + count, for minus the gradient
 * `down`. */
VXS_MUST_CHECK vxs_status vxs_newton_direction(vxs_newton *newton, const vxs_newton_system *system,
                                               const double *down, double *direction,
                                               vxs_error *err);
void vxs_newton_release(vxs_newton *newton);

#endif
