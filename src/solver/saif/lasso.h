/* lasso.h - the lasso; private to the solver room.
 *
 * lasso.c initializes and certifies it, saif.c solves it by active incremental features,
 * other_screens.c by other screening rules, for comparison. */
#ifndef VXS_SOLVER_SAIF_LASSO_H
#define VXS_SOLVER_SAIF_LASSO_H

#include "solver/saif/cached_correlations.h"
#include "solver/saif/vi.h"
#include "solver/saif/working_set.h"
#include "solver/solver.h"

#include <math.h>

#define VXS_MARGIN 1e-9 /* margin of screening rules for rounding, relative to 1 */
#define VXS_PATIENCE                                                                               \
    30 /* iterations without a smaller gap; coordinate descent does not always decrease it */

typedef struct {
    vxs_solver solver;
    const vxs_context *context;
    vxs_problem problem;
    vxs_method_settings settings;
    size_t n, p;
    vxs_working_set set;
    vxs_cached_correlations correlations;
    vxs_vi vi;           /* of its screening rule, once a lambda is fitted */
    const double *norms; /* of the design */
    double longest;      /* vxs_lasso_norm of all columns, at most */
    double *theta;
    bool *in_set;  /* p: in the working set */
    bool *keep;    /* p */
    size_t *order; /* p */
    size_t *candidates;
    size_t candidate_capacity, candidate_count;
    double *candidate_bound; /* bound of |x_j'theta| at candidate_theta */
    double *candidate_theta;
    double *laplacian_gradient;  /* p: Lw / lambda of the last solution */
    double *candidate_laplacian; /* of the candidates, when bounded */
    double level;                /* value of an estimate that corresponds to 1, at the last
                        * solution */
    vxs_costs costs;
    double *xi_empty;                 /* -f' of the empty model, projected */
    double last_radius;               /* distance of the last theta from its optimum, at most */
    double lambda_max, median, empty; /* median of |X'f'(0)|; primal value of the empty model */
    double last_lambda;               /* cached correlations are those of -f' at its solution */
} vxs_lasso;

/* The residual that only outliers exceed, a sixteenth of the samples. */
double vxs_lasso_large_residual(vxs_lasso *lasso);
/* True if the gap has not decreased for VXS_PATIENCE iterations. */
static inline bool vxs_has_stalled(double gap, double *best, int *iterations)
{
    *iterations = gap < 0.999 * *best ? 0 : *iterations + 1;
    *best = gap < *best ? gap : *best;
    return *iterations >= VXS_PATIENCE;
}

/* |x_j'theta|, or x_j'theta with w >= 0. */
static inline double vxs_lasso_correlation(const vxs_lasso *l, size_t j)
{
    double value = l->correlations.estimate[j];
    return l->problem.nonnegative ? value : fabs(value);
}

/* Norm of a column, with ridge and Laplacian as additional entries. */
static inline double vxs_lasso_norm(const vxs_lasso *l, size_t j)
{
    double norm = l->norms[j];
    double more = l->set.ridge + vxs_laplacian_diagonal(&l->set.laplacian, j);
    return more > 0 ? sqrt(norm * norm + more) : norm;
}

/* Updates Lw / lambda after a solution. */
void vxs_lasso_update_laplacian(vxs_lasso *lasso, double lambda);
/* True if, with a Laplacian, the support is so large that all features may enter. */
bool vxs_lasso_has_large_support(const vxs_lasso *lasso);
/* DEL: removes features with |x_j'theta| < 1 in the whole ball. */
void vxs_lasso_screen(vxs_lasso *lasso, const vxs_state *state);
/* Adds the first `count` features of `order`. */
VXS_MUST_CHECK vxs_status vxs_lasso_add(vxs_lasso *lasso, size_t count, vxs_error *err);
/* The gap over all columns; theta is scaled by the largest correlation. */
void vxs_lasso_certify(vxs_lasso *lasso, double lambda, vxs_state *full);

/* One lambda, warm-started. */
VXS_MUST_CHECK vxs_status vxs_saif(vxs_lasso *lasso, double lambda, vxs_certificate *certificate,
                                   vxs_state *full, vxs_error *err);
VXS_MUST_CHECK vxs_status vxs_screen(vxs_lasso *lasso, double lambda, vxs_certificate *certificate,
                                     vxs_state *full, vxs_error *err);

#endif
