/* cutting_plane.h - the cutting-plane algorithm that fgm and mslr share; private to the solver
 * room. */
#ifndef VXS_SOLVER_CUTTING_PLANE_CUTTING_PLANE_H
#define VXS_SOLVER_CUTTING_PLANE_CUTTING_PLANE_H

#include "solver/covariates_fit.h"
#include "solver/cutting_plane/block_cache.h"
#include "solver/cutting_plane/bundle.h"
#include "solver/dual_projection.h"
#include "solver/solver.h"

/* A cutting plane, one an iteration: the constraint of some feature blocks, whose weights omega are
 * one group of the restricted problem. */
typedef struct {
    size_t count;
    size_t *place; /* of its blocks in the cache, ascending */
    size_t width;  /* columns of all its blocks */
    double *omega; /* width: weights, block by block */
    double norm;   /* |omega| */
    double share;  /* of a measure: mu, without which the bound over the cuts does not hold */
} vxs_cut;

typedef struct vxs_cutting_plane vxs_cutting_plane;
struct vxs_cutting_plane {
    vxs_solver solver;
    const vxs_context *context;
    vxs_problem problem;
    vxs_budget budget; /* the penalty, its budget at most the number of blocks */
    vxs_method_settings settings;
    size_t n;
    vxs_covariates_fit covariates_fit; /* intercept and covariates fit */
    vxs_block_cache cache;             /* its gradient is X'gradient */
    size_t count, capacity;
    vxs_cut *cuts;
    double *z;             /* n: predictions without covariates */
    double *prediction;    /* n: with covariates */
    double *gradient;      /* n: C u f'; alpha = -y gradient */
    double *dual_gradient; /* n: gradient at the dual point, if the subproblem solver has its own */
    vxs_dual_projection reach;    /* otherwise the dual point is the gradient, */
    double *feasible, *curvature; /* n: orthogonal to the covariates beyond rounding */
    double value;                 /* C sum u f */
    vxs_bundle *bundle;           /* of a measure; or NULL */
    /* The blocks with the largest scores at the last solution. */
    vxs_scored *best;
    size_t best_count;
    bool explained; /* covariates fit the target */
    bool scanned;
    double empty; /* value of the empty model */
    double primal, dual, gap;
    double restricted_gap;     /* of the restricted problem, relative */
    double target;             /* restricted gap to reach */
    double previous_primal;    /* at the previous iteration */
    uint64_t iterations;       /* cuts generated; those without weight are dropped */
    int stalled;               /* consecutive restricted problems without progress */
    uint64_t inner_iterations; /* of the subproblem solver, since the last fit */
    vxs_blocks_work worked;    /* scans of blocks before the last fit */
    double began;
    /* The subproblem solver: solves the restricted problem to the target, or until it stalls. */
    vxs_status (*solve)(vxs_cutting_plane *g, vxs_error *err);
};

VXS_MUST_CHECK vxs_status vxs_cutting_plane_begin(
    const vxs_context *context, const vxs_problem *problem, const vxs_method_settings *settings,
    const vxs_solver_kind *kind, vxs_status (*solve)(vxs_cutting_plane *, vxs_error *),
    vxs_solver **solver, vxs_error *err);
/* Functions of the solver kinds. */
void vxs_cutting_plane_release(vxs_solver *solver);
bool vxs_cutting_plane_is_empty(const vxs_solver *solver);
VXS_MUST_CHECK vxs_status vxs_cutting_plane_fit(vxs_solver *solver, vxs_path_point end,
                                                vxs_solution *solution, vxs_error *err);

/* From z: prediction, value, gradient, and the gradient by the weights in the cache. */
void vxs_cutting_plane_evaluate(vxs_cutting_plane *g);
/* The same, and X_h times each cut's part of the gradient, n x count, in one pass over the cached
 * columns. `seen` is work space of one number a cut. */
void vxs_cutting_plane_evaluate_products(vxs_cutting_plane *g, size_t *seen, double *products);
/* out = X_h w for the columns of a cut. */
void vxs_cut_predict(const vxs_cutting_plane *g, const vxs_cut *h, const double *w, double *out);
/* out = the cut's entries of a vector over the cached columns. */
void vxs_cut_gather(const vxs_cutting_plane *g, const vxs_cut *h, const double *vector,
                    double *out);
/* z from the weights of all cuts. */
VXS_MUST_CHECK vxs_status vxs_cutting_plane_predict(vxs_cutting_plane *g, vxs_error *err);

/* cuts.c */
void vxs_cut_release(vxs_cut *h);
/* Adds the most violated constraint, with at most so many new blocks; `duplicate` if it is already
 * there. */
VXS_MUST_CHECK vxs_status vxs_cuts_add(vxs_cutting_plane *g, size_t max_new, bool *duplicate,
                                       vxs_error *err);
void vxs_cuts_drop_empty(vxs_cutting_plane *g);
/* The number of blocks in cuts. */
size_t vxs_cuts_count_blocks(const vxs_cutting_plane *g);
/* |X_g'gradient|^2 of a cached block. */
double vxs_block_score(const vxs_cutting_plane *g, size_t place);
/* True if some cut contains the block at this place of the cache. */
bool vxs_cuts_contain(const vxs_cutting_plane *g, size_t place);
/* The penalty of the restricted problem, (sum of |omega|)^2 / 2. */
double vxs_cutting_plane_penalty(const vxs_cutting_plane *g);
/* -G(t alpha), alpha = -y gradient: the dual value without scores. */
double vxs_cutting_plane_conjugate(const vxs_cutting_plane *g, const double *gradient, double t);

/* selected_blocks.c */
VXS_MUST_CHECK vxs_status vxs_cutting_plane_solution(vxs_cutting_plane *g, vxs_solution *solution,
                                                     vxs_error *err);
/* |w|_B^2 of the weights of selected blocks. */
double vxs_budget_norm_squared(const vxs_selected *s, size_t budget);
/* proximal_gradient.c */
VXS_MUST_CHECK vxs_status vxs_proximal_gradient_solve(vxs_cutting_plane *g, vxs_error *err);
/* budget_interior.c: improves the restricted solution, warm-started. */
VXS_MUST_CHECK vxs_status vxs_budget_interior_solve(vxs_cutting_plane *g, vxs_error *err);
/* smoothing.c */
VXS_MUST_CHECK vxs_status vxs_smoothing_solve(vxs_cutting_plane *g, vxs_error *err);

/* measured.c: problems of a measure, by a bundle. */
VXS_MUST_CHECK vxs_status vxs_measured_begin(vxs_cutting_plane *g, vxs_error *err);
void vxs_measured_end(vxs_cutting_plane *g);
VXS_MUST_CHECK vxs_status vxs_measured_solve(vxs_cutting_plane *g, vxs_error *err);
/* Cuts of the cached blocks alone, until the gap over these is small beside that over all. */
VXS_MUST_CHECK vxs_status vxs_measured_refine(vxs_cutting_plane *g, vxs_error *err);
/* Coefficients of the covariates and the dual point of a selection. */
VXS_MUST_CHECK vxs_status vxs_measured_solution(vxs_cutting_plane *g, vxs_selected *s,
                                                vxs_error *err);
/* As vxs_refit. */
VXS_MUST_CHECK vxs_status vxs_measured_refit(const vxs_cutting_plane *g, const double *x,
                                             size_t columns, double *w, vxs_selected *s,
                                             double *covariate_coefficients, vxs_error *err);

/* refit.c: min over w, b: |w|^2 / 2 + cost sum u f on the n x `columns` matrix x; `gap` is the
 * duality gap. */
VXS_MUST_CHECK vxs_status vxs_refit(const vxs_problem *problem, double cost, const double *x,
                                    size_t columns, double *w, double *covariate_coefficients,
                                    double *gap, vxs_error *err);

#endif
