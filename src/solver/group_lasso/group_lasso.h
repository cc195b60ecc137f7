/* group_lasso.h - the group lasso; private to the solver room.
 *
 * group_lasso.c has the path, screening and the certificate; group_set.c the problem on a working
 * set of groups, by block descent and the Newton steps of group_newton.c. */
#ifndef VXS_SOLVER_GROUP_LASSO_GROUP_LASSO_H
#define VXS_SOLVER_GROUP_LASSO_GROUP_LASSO_H

#include "solver/covariates_fit.h"
#include "solver/cutting_plane/block_cache.h"
#include "solver/group_lasso/group_newton.h"
#include "solver/solver.h"

/* The problem on a working set. Weights are those of the cached columns; groups outside the set
 * have none. */
typedef struct {
    const vxs_problem *problem;
    const vxs_context *context; /* for interruption; may be NULL */
    size_t n;
    vxs_covariates_fit covariates;
    vxs_block_cache cache; /* groups that are or were in the set */
    size_t *place, count;  /* the set: places of the cache */
    size_t room, column_room;
    double *weight;        /* cached columns */
    double *trial;         /* cached columns */
    double *step;          /* places: bound of the loss's second derivatives along the group */
    double *size;          /* places: |X_g'gradient| */
    double *z, *moved;     /* n: predictions without covariates */
    double *prediction;    /* n: with covariates */
    double *gradient;      /* n: of the loss, orthogonal to the covariates */
    double *dual_gradient; /* n: the same in the domain of the dual */
    double *curvature;     /* n */
    const double *inside;  /* n: gradient of the empty model, in the domain */
    vxs_group_newton newton;
    uint64_t steps;
} vxs_group_set;

/* At the last solution. Values are absolute; scale is that of the best dual point along the
 * gradient. */
typedef struct {
    double primal, dual, gap, scale, largest; /* of the groups' |X_g'gradient| */
} vxs_group_state;

VXS_MUST_CHECK vxs_status vxs_group_set_init(vxs_group_set *set, const vxs_problem *problem,
                                             vxs_blocks *blocks, vxs_error *err);
void vxs_group_set_release(vxs_group_set *set);
/* Adds a group with weights of 0. */
VXS_MUST_CHECK vxs_status vxs_group_set_add(vxs_group_set *set, size_t group, vxs_error *err);
/* Until the gap on the set is at most `target` or stalls. */
VXS_MUST_CHECK vxs_status vxs_group_set_solve(vxs_group_set *set, double lambda, double target,
                                              vxs_group_state *state, vxs_error *err);
/* Predictions, gradient and dual gradient of the present weights. */
void vxs_group_set_evaluate(vxs_group_set *set);
/* Primal and dual value at them, if the largest |X_g'gradient| over the groups is `largest`. */
void vxs_group_set_certify(const vxs_group_set *set, double lambda, double largest,
                           vxs_group_state *state);
/* True if the group at this place of the cache has a weight. */
bool vxs_group_set_has_weight(const vxs_group_set *set, size_t place);

#endif
