/* working_set.h - the restricted problem on the working set; private to the solver room. */
#ifndef VXS_SOLVER_SAIF_WORKING_SET_H
#define VXS_SOLVER_SAIF_WORKING_SET_H

#include "solver/dual_projection.h"
#include "solver/saif/dual_newton.h"
#include "solver/saif/l1_quadratic.h"
#include "solver/saif/laplacian.h"
#include "solver/saif/line_search.h"
#include "solver/saif/newton.h"

struct vxs_state;
/* Columns: covariates first, then the features of the set. */
typedef struct {
    const vxs_problem *problem;
    double ridge; /* weight of the ridge, or 0 */
    const vxs_sample_loss *loss;
    int inner;          /* the subproblem solver */
    bool descend_first; /* if the choice is automatic */
    size_t n, q;
    size_t count, room; /* features */
    size_t *set;
    double *x;                  /* n x (q + count) */
    double *w;                  /* q + count */
    double *gradient;           /* x'f' + ridge w + Lw, q + count */
    double *correlation;        /* x'theta - (ridge w + Lw) / lambda */
    double *laplacian_gradient; /* Lw of the set */
    double *linear;             /* linear term of the quadratic */
    double *square;             /* second derivative along each column, for coordinate descent */
    size_t *chosen;             /* columns of a Newton step */
    size_t *listed;             /* their features */

    double *gram; /* weighted by second derivatives; `stride` apart */
    size_t stride;
    bool gram_is_current;   /* of all columns: kept while features stay */
    double *spare, *picked; /* n x scratch: weighted columns, gathered columns */
    size_t scratch;

    double *z, *loss_gradient, *curvature, *trial; /* n */
    double *basis; /* n x rank: orthonormal basis of the covariates */
    size_t rank;
    vxs_dual_projection reach;
    vxs_laplacian_matrix laplacian;
    bool is_gradient;       /* theta is -f'/lambda: covariates are at their best */
    const double *xi_empty; /* n: -f' of the empty model, projected, or NULL */
    vxs_l1_quadratic quadratic;
    vxs_newton newton;
    vxs_dual_newton dual_newton;
    vxs_line_search line;
    const vxs_context *context; /* for interruption; may be NULL */
    uint64_t steps;
    int stalled; /* consecutive steps without a decrease */
    /* Between rounds of descent: may remove features of weight 0. NULL: none. */
    void (*screen)(void *screened, const struct vxs_state *state);
    void *screened;
} vxs_working_set;

/* Up to this size exact steps keep a Gram matrix of the whole set. */
#define VXS_EXACT 2000
/* With a ridge larger sets use Newton steps on the dual. */
#define VXS_DUAL 500
/* With a Laplacian larger sets use projected Newton steps. */
#define VXS_PROJECTED 500

/* True if the set is so large that the ridge makes Newton steps on the dual the best. */
static inline bool vxs_working_set_is_wide(const vxs_working_set *a)
{
    return a->inner == VXS_INNER_AUTO && a->laplacian.p == 0 && a->ridge > 0 && a->count > VXS_DUAL;
}

/* The solution of the restricted problem. theta = -f'/lambda projected onto the complement of the
 * covariates, not yet scaled to |x_j'theta| <= 1. */
typedef struct vxs_state {
    double primal, dual, gap;     /* absolute */
    double scale;                 /* of theta, dual feasible on the set */
    double radius;                /* of a ball around scale * theta that contains the dual
                               * optimum */
    double middle, middle_radius; /* the same around middle * theta, smaller */
} vxs_state;

VXS_MUST_CHECK vxs_status vxs_working_set_init(vxs_working_set *active, const vxs_problem *problem,
                                               vxs_error *err);
void vxs_working_set_release(vxs_working_set *active);
/* New features have weight 0; they must not be in the set. */
VXS_MUST_CHECK vxs_status vxs_working_set_add(vxs_working_set *active, const size_t *set,
                                              size_t count, vxs_error *err);
/* Keeps the features whose flag is set; removes the predictions of the others. */
void vxs_working_set_keep(vxs_working_set *active, const bool *keep);
/* Until the gap on the set is at most `target` or stalls. Writes theta. */
VXS_MUST_CHECK vxs_status vxs_working_set_solve_once(vxs_working_set *active, double lambda,
                                                     double target, double *theta, vxs_state *state,
                                                     vxs_error *err);
/* eased.c: at falling thresholds of the loss, if it has one, from that of the largest residual of
 * predictions z (NULL: 0). Writes theta. */
VXS_MUST_CHECK vxs_status vxs_working_set_ease(vxs_working_set *active, double lambda,
                                               const double *z, double *theta, vxs_error *err);
/* As solve_once, and again after falling thresholds if the gap stalled above `target`. */
VXS_MUST_CHECK vxs_status vxs_working_set_solve(vxs_working_set *active, double lambda,
                                                double target, double *theta, vxs_state *state,
                                                vxs_error *err);
/* coordinate_descent.c: sweeps over the set and the covariates, from z and its gradient. */
void vxs_working_set_descend(vxs_working_set *active, double lambda, int iterations);
/* newton.c: target = the weights after a Newton step of the first m chosen columns at fixed signs;
 * `room` has q + count entries. */
VXS_MUST_CHECK vxs_status vxs_working_set_newton(vxs_working_set *active, double lambda, size_t m,
                                                 double *room, double *target, vxs_error *err);
/* dual_newton.c: target = the minimum of the quadratic model with a ridge; `solved` is false if it
 * has none. */
VXS_MUST_CHECK vxs_status vxs_working_set_net(vxs_working_set *active, double lambda,
                                              double *target, bool *solved, vxs_error *err);
/* line_search.c: moves the weights towards the target, or, with `clip`, until they would change
 * sign; z are their predictions. An exact line search for the squared hinge, else halvings; `moved`
 * is false if the value does not fall. */
VXS_MUST_CHECK vxs_status vxs_working_set_go_towards(vxs_working_set *active, const double *target,
                                                     bool clip, double lambda, double primal,
                                                     bool *moved, vxs_error *err);
/* To the minimum on the line through the target, at most `most` times as far; squared hinge. */
VXS_MUST_CHECK vxs_status vxs_working_set_go_to_minimum(vxs_working_set *active,
                                                        const double *target, double most,
                                                        double lambda, double primal, bool *moved,
                                                        vxs_error *err);
/* Predictions of weights w. */
void vxs_working_set_predict(const vxs_working_set *active, const double *w, double *z);
/* x_j'theta - ridge w_j / lambda of column k, at the last solution. */
double vxs_working_set_correlation(const vxs_working_set *active, size_t k);
/* Loss and penalties of the weights w with predictions z. */
double vxs_working_set_value(const vxs_working_set *active, const double *w, const double *z,
                             double lambda);
/* dual_point.c: taking the covariates out may carry theta over the edge of the dual's domain, where
 * slopes are almost 0: then each sample moves as far as its curvature allows instead. */
void vxs_working_set_keep_inside(vxs_working_set *active, double lambda, double *theta);
/* The best dual point along theta if the largest correlation over all columns is
 * `max_correlation`. */
void vxs_working_set_dual(const vxs_working_set *active, const double *theta, double lambda,
                          double max_correlation, vxs_state *state);
/* ridge |w|^2 + w'Lw */
double vxs_working_set_quadratic(const vxs_working_set *active);
/* Projects v onto the complement of the covariates. */
void vxs_working_set_project(const vxs_working_set *active, double *v);
/* Sets z, its gradient and theta from the weights. */
void vxs_working_set_theta(vxs_working_set *active, double lambda, double *theta);

#endif
