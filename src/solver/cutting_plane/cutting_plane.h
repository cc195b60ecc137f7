/* cutting_plane.h - feature generation: what methods share that add units round by round; private
 * to the solver room. */
#ifndef VXS_SOLVER_CUTTING_PLANE_CUTTING_PLANE_H
#define VXS_SOLVER_CUTTING_PLANE_CUTTING_PLANE_H

#include "solver/covariates_fit.h"
#include "solver/cutting_plane/block_cache.h"
#include "solver/solver.h"

/* What one round added: some units, whose weights are one block. */
typedef struct {
    size_t count;
    size_t *place; /* of its units in the pool, ascending */
    size_t width;  /* columns of them all */
    double *omega; /* their weights, unit by unit */
    double norm;   /* |omega| */
} vxs_round;

typedef struct vxs_generation vxs_generation;
struct vxs_generation {
    vxs_solver solver;
    const vxs_context *context;
    vxs_problem problem;
    vxs_budget budget; /* its penalty, with a budget that is no more than there are units */
    vxs_method_settings settings;
    size_t n;
    vxs_shift shift;
    vxs_pool pool;      /* its gradient is X'slope of its columns */
    size_t count, room; /* rounds */
    vxs_round *rounds;
    double *z;       /* n: predictions without the shift */
    double *shifted; /* with it */
    double *slope;   /* C u f' there; -y times it is alpha */
    double *own;     /* n: the slope that the bound rests on, where the method has one */
    double value;    /* C sum u f */
    /* The units with the best scores where the last problem ended, and their sum. */
    vxs_scored *best;
    size_t best_count;
    bool explained; /* by the free columns alone */
    bool scanned;
    double empty; /* the empty model's value */
    double primal, dual, gap, restricted;
    double target;         /* for the problem on what was generated, relative */
    double last;           /* the value a round before */
    uint64_t generated;    /* rounds, of which those without weight are dropped */
    int idle;              /* problems on the rounds, one after the other, that led nowhere */
    uint64_t iterations;   /* of the inner method since the last fit */
    vxs_units_work worked; /* what was done with the units before the last fit */
    double began;
    /* The inner method: solves the problem on the rounds until its gap is at most the target, or
     * gets no better. */
    vxs_status (*solve)(vxs_generation *g, vxs_error *err);
};

VXS_MUST_CHECK vxs_status vxs_generation_begin(const vxs_context *context,
                                               const vxs_problem *problem,
                                               const vxs_method_settings *settings,
                                               const vxs_solver_kind *kind,
                                               vxs_status (*solve)(vxs_generation *, vxs_error *),
                                               vxs_solver **solver, vxs_error *err);
/* What solver kinds offer. */
void vxs_generation_release(vxs_solver *solver);
bool vxs_generation_is_empty(const vxs_solver *solver);
VXS_MUST_CHECK vxs_status vxs_generation_fit(vxs_solver *solver, vxs_path_point end,
                                             vxs_solution *solution, vxs_error *err);

/* From z: shifted, slope, gradient and the value. */
void vxs_generation_look(vxs_generation *g);
/* The same, and X_h of each round's part of the gradient, n x count: columns are read from memory
 * once. `seen` is room for a number a round. */
void vxs_generation_look_down(vxs_generation *g, size_t *seen, double *down);
/* out = X_h w for the columns of a round, one weight after the other. */
void vxs_round_predict(const vxs_generation *g, const vxs_round *h, const double *w, double *out);
/* out = the round's part of a vector over the pool's columns. */
void vxs_round_gather(const vxs_generation *g, const vxs_round *h, const double *pool, double *out);
/* Whether a unit of the pool is in a round. */
bool vxs_rounds_have(const vxs_generation *g, size_t place);
/* The value of the penalty: (sum of |omega|)^2 / 2. */
double vxs_generation_penalty(const vxs_generation *g);
/* -G(t alpha) of alpha = -y slope: what the bound has besides scores. */
double vxs_generation_bound(const vxs_generation *g, const double *slope, double t);

/* selected_blocks.c */
VXS_MUST_CHECK vxs_status vxs_generation_answer(const vxs_generation *g, vxs_solution *solution,
                                                vxs_error *err);
/* proximal_gradient.c */
VXS_MUST_CHECK vxs_status vxs_proximal_solve(vxs_generation *g, vxs_error *err);
/* budget_interior.c: nearer to the answer, from where the rounds are. */
VXS_MUST_CHECK vxs_status vxs_central_solve(vxs_generation *g, vxs_error *err);
/* smoothing.c */
VXS_MUST_CHECK vxs_status vxs_smoothing_solve(vxs_generation *g, vxs_error *err);

/* refit.c: weights of `columns` columns x learned anew, |w|^2 / 2 + cost sum u f; free ones into
 * `free`, and how far the value may be above the least. */
VXS_MUST_CHECK vxs_status vxs_retrain(const vxs_problem *problem, double cost, const double *x,
                                      size_t columns, double *w, double *free, double *gap,
                                      vxs_error *err);

#endif
