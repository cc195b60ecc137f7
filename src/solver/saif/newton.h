/* newton.h - Newton steps on large supports beside a Laplacian; private to the solver room. */
#ifndef VXS_SOLVER_SAIF_NEWTON_H
#define VXS_SOLVER_SAIF_NEWTON_H

#include "linalg/sparse_cholesky.h"
#include "solver/saif/laplacian.h"

/* The system of a support at some point, which is given by its columns and the curvature of the
 * loss there. */
typedef struct {
    const vxs_laplacian_matrix *laplacian;
    size_t n, q;
    const double *x;            /* n x ..., columns; the first q are the covariates */
    const double *curvature;    /* n */
    size_t count;               /* features of the support */
    const size_t *column;       /* theirs in x */
    const size_t *feature;      /* theirs in the design */
    const vxs_context *context; /* asked for requests to stop; may be NULL */
} vxs_newton_system;

/* The preconditioner, which stays while supports are alike, and memory that is used again. */
typedef struct {
    vxs_factor factor;        /* L_SS + delta D of the features below */
    size_t count;             /* features in it */
    size_t *place;            /* p: 1 + the place of a feature in it, 0: none */
    size_t *list;             /* features by place */
    double *half;             /* n x count: Q root(V) X R'^-1, RR' = L_SS + delta D */
    double *small;            /* n x n: Cholesky factor of I + half half' */
    size_t room;              /* features for which half and list have room */
    size_t *starts, *index;   /* rows of which the factor is made */
    double *value, *weight;   /* likewise */
    double *root, *part;      /* n: of the curvature; scratch */
    double *basis, *triangle; /* n x rank, rank x rank: root(V) C = basis triangle */
    size_t *independent;      /* covariates of the basis */
    size_t rank;
    double *vectors; /* of the conjugate gradients */
    size_t vector_room;
    bool worn;      /* the last solution took many iterations */
    size_t refused; /* a support of so many features has too large a factor; 0: none */
} vxs_newton;

/* direction = the Newton direction of covariates and support, q + count, for minus the gradient
 * `down`. */
VXS_MUST_CHECK vxs_status vxs_newton_direction(vxs_newton *newton, const vxs_newton_system *system,
                                               const double *down, double *direction,
                                               vxs_error *err);
void vxs_newton_release(vxs_newton *newton);

#endif
