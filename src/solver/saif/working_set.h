/* working_set.h - the problem on a few features, the active set; private to the solver room. */
#ifndef VXS_SOLVER_SAIF_WORKING_SET_H
#define VXS_SOLVER_SAIF_WORKING_SET_H

#include "solver/reach.h"
#include "solver/saif/l1_quadratic.h"
#include "solver/saif/laplacian.h"
#include "solver/saif/newton.h"

/* Columns are the free ones first, then those of the set. */
typedef struct {
    const vxs_problem *problem;
    double ridge; /* the weight of its quadratic, if it is one */
    const vxs_sample_loss *loss;
    int inner;          /* how it is solved */
    bool descend_first; /* when that is left open */
    size_t n, q;
    size_t count, room; /* features, without the free columns */
    size_t *set;
    double *x;           /* n x (q + count) */
    double *w;           /* q + count */
    double *gradient;    /* x'f' + ridge w + Lw, q + count */
    double *correlation; /* x'theta - (ridge w + Lw) / lambda */
    double *pull;        /* Lw of the set */
    double *linear;      /* linear term of the quadratic */
    double *square;      /* curvature along each column, for descent */
    size_t *chosen;      /* columns that are part of a Newton step */
    size_t *listed;      /* features of these */

    double *gram; /* of columns weighted by the curvature; `stride` apart */
    size_t stride;
    bool gram_is_current;   /* of all columns: it stays, as far as members do */
    double *spare, *picked; /* n x scratch: columns times weights, and those chosen */
    size_t scratch;

    double *z, *slope, *curvature, *trial; /* n */
    double *basis;                         /* n x rank, orthonormal: what the free columns span */
    size_t rank;
    vxs_reach reach;
    vxs_laplacian_matrix laplacian;
    const double
        *inside; /* n: -f' of the empty model without what the free columns span, or NULL */
    vxs_l1_quadratic quadratic;
    vxs_newton newton;
    const vxs_context *context; /* asked for requests to stop; NULL: none come */
    uint64_t steps;
    int flat; /* steps in a row that left the value as it was */
} vxs_active;

/* Up to so many members the exact steps keep a Gram matrix of all. */
#define VXS_EXACT 2000
/* Beside a Laplacian more members than these take projected Newton steps. */
#define VXS_PROJECTED 500

/* What the sub-problem's solution says, at some lambda. theta is -f'/lambda without what the free
 * columns span, not yet scaled into |x_j'theta| <= 1. */
typedef struct {
    double primal, dual, gap; /* not relative */
    double scale;             /* of theta, to be in the dual's domain over the active set */
    double radius;            /* of a ball around scale * theta that has the dual optimum over it */
} vxs_state;

VXS_MUST_CHECK vxs_status vxs_active_init(vxs_active *active, const vxs_problem *problem,
                                          vxs_error *err);
void vxs_active_release(vxs_active *active);
/* New members begin with weight 0; they may not be in yet. */
VXS_MUST_CHECK vxs_status vxs_active_add(vxs_active *active, const size_t *set, size_t count,
                                         vxs_error *err);
/* Keeps the members whose flag is set; what leaves has its weight taken off. */
void vxs_active_keep(vxs_active *active, const bool *keep);
/* Until the gap over the active set is at most `target`, or no longer falls. Leaves theta. */
VXS_MUST_CHECK vxs_status vxs_active_solve(vxs_active *active, double lambda, double target,
                                           double *theta, vxs_state *state, vxs_error *err);
/* coordinate_descent.c: rounds of coordinate descent over all members and free columns, from z and
 * slope. */
void vxs_active_descend(vxs_active *active, double lambda, int rounds);
/* newton.c: target = the weights after a Newton step of the first m chosen columns whose signs
 * stay, from gradient and curvature; `room` has q + count numbers. */
VXS_MUST_CHECK vxs_status vxs_active_newton(vxs_active *active, double lambda, size_t m,
                                            double *room, double *target, vxs_error *err);
/* x_j'theta with the part of the ridge, for member k, as of the last solution. */
double vxs_active_correlation(const vxs_active *active, size_t k);
/* The best dual point along theta when max over all columns of the correlation is `steepest`. */
void vxs_active_dual(const vxs_active *active, const double *theta, double lambda, double steepest,
                     vxs_state *state);
/* Takes what the free columns span out of a vector. */
void vxs_active_project(const vxs_active *active, double *v);
/* Sets z, slope and theta for the weights as they are. */
void vxs_active_theta(vxs_active *active, double lambda, double *theta);

#endif
