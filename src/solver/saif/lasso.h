/* lasso.h - a lasso being solved; private to the solver room.
 *
 * lasso.c begins and ends it, saif.c solves it by active incremental features, other_screens.c in
 * the ways that are there to be compared with. */
#ifndef VXS_SOLVER_SAIF_LASSO_H
#define VXS_SOLVER_SAIF_LASSO_H

#include "solver/saif/cached_correlations.h"
#include "solver/saif/working_set.h"
#include "solver/solver.h"

#include <math.h>

#define VXS_EDGE     1e-9 /* of 1, for rounding */
#define VXS_PATIENCE 10   /* rounds without a smaller gap; under descent it does not always fall */

typedef struct {
    vxs_solver solver;
    const vxs_context *context;
    vxs_problem problem;
    vxs_method_settings settings;
    size_t n, p;
    vxs_active active;
    vxs_scans scans;
    const double *norms; /* of the design */
    double *theta;
    bool *member;  /* of the active set */
    bool *keep;    /* p */
    size_t *order; /* p */
    size_t *pool;
    size_t pool_size, pool_count;
    double *pool_reach; /* what |x_j'theta| was at most, at pool_theta */
    double *pool_theta;
    double *pull;      /* p: Lw / lambda of the last solution, with a Laplacian */
    double *pool_pull; /* that of the pool's features when their reach was found */
    double level;      /* at which estimates stand for 1, as of the last solution */
    vxs_costs costs;
    double *start;      /* -f' of the empty model, without what the free columns span */
    double last_radius; /* of the ball around the last theta */
    double lambda_max, median, empty; /* of |X'f'(0)|; primal value of the empty model */
    double last_lambda;               /* estimates of -f' at its solution, before anything else */
} vxs_lasso;

/* Whether the gap has not fallen for so long that rounding must be in the way. */
static inline bool vxs_is_stuck(double gap, double *best, int *rounds)
{
    *rounds = gap < 0.999 * *best ? 0 : *rounds + 1;
    *best = gap < *best ? gap : *best;
    return *rounds >= VXS_PATIENCE;
}

/* How much a column wants a weight. */
static inline double vxs_lasso_want(const vxs_lasso *l, size_t j)
{
    double value = l->scans.estimate[j];
    return l->problem.nonnegative ? value : fabs(value);
}

/* Its length in the ball's norm: with the ridge a column is longer by one entry. */
static inline double vxs_lasso_norm(const vxs_lasso *l, size_t j)
{
    double norm = l->norms[j];
    double more = l->active.ridge + vxs_laplacian_diagonal(&l->active.laplacian, j);
    return more > 0 ? sqrt(norm * norm + more) : norm;
}

/* After a solution at lambda: what the Laplacian takes off correlations. */
void vxs_lasso_follow(vxs_lasso *lasso, double lambda);
/* Whether the support, beside a Laplacian, has so many of all features that all may be members. */
bool vxs_lasso_is_wide(const vxs_lasso *lasso);
/* DEL: members whose correlation is below 1 in the whole ball leave. */
void vxs_lasso_delete(vxs_lasso *lasso, const vxs_state *state);
/* The first `count` features of `order` become members. */
VXS_MUST_CHECK vxs_status vxs_lasso_enter(vxs_lasso *lasso, size_t count, vxs_error *err);
/* The gap over all columns: theta goes back into the domain by the steepest of them. */
void vxs_lasso_certify(vxs_lasso *lasso, double lambda, vxs_state *full);

/* One lambda, from the weights as they are. */
VXS_MUST_CHECK vxs_status vxs_saif(vxs_lasso *lasso, double lambda, vxs_certificate *certificate,
                                   vxs_state *full, vxs_error *err);
VXS_MUST_CHECK vxs_status vxs_screen(vxs_lasso *lasso, double lambda, vxs_certificate *certificate,
                                     vxs_state *full, vxs_error *err);

#endif
