/* bundle.h - the restricted problem of a measure, by planes below its value; private to the solver
 * room. */
#ifndef VXS_SOLVER_CUTTING_PLANE_BUNDLE_H
#define VXS_SOLVER_CUTTING_PLANE_BUNDLE_H

#include "solver/covariates_fit.h"
#include "solver/solver.h"

/* Columns whose weights share one norm. */
typedef struct {
    size_t width;
    size_t *column;   /* of the matrix */
    double *omega;    /* their weights: from where the search begins; the best found */
    double share;     /* mu of the last master */
    double *products; /* of the planes, `width` each */
    double *gram;     /* of the planes: `capacity` x `capacity` */
} vxs_bundle_round;

/* min over omega, b: (sum over rounds |omega_h|)^2 / 2 + C R(X omega + F b) */
typedef struct {
    const double *x; /* n x columns */
    size_t columns;
    vxs_bundle_round *rounds;
    size_t count;
} vxs_bundle_problem;

/* Planes g'z + cost <= R(z), g = v - r. */
typedef struct {
    size_t count, capacity, computed; /* computed: planes whose products are known */
    double *g;                        /* n each */
    double *cost;
    double *along; /* q each: products with the free columns */
    size_t (*counts)[2];
    unsigned *idle; /* masters in a row without weight */
    size_t fixed;   /* planes that are never dropped */
} vxs_planes;

typedef struct {
    const vxs_context *context;
    vxs_measured measured;
    double cost; /* C */
    size_t n, q;
    const vxs_covariates_fit *covariates;
    double *f;      /* n x q: free columns that change the value, orthonormal */
    double *turn;   /* q x q: their coefficients in the basis of covariates, */
    size_t *column; /* q: of which columns */
    vxs_planes planes;
    double *b;     /* q */
    double *plane; /* n: work space */
    /* of the best bound: */
    double *s;           /* n: sum of alpha g */
    double delta;        /* sum of alpha cost */
    size_t cells;        /* of measures by counts: */
    double *cell;        /* (3 + n) each: a, b, alpha, the mean of their outputs v */
    double upper, lower; /* value and bound of the last problem */
    double penalty, value;
    size_t masters;
} vxs_bundle;

/* The free columns are those of `covariates`, which must outlive it. */
VXS_MUST_CHECK vxs_status vxs_bundle_init(const vxs_context *context, const vxs_problem *problem,
                                          double cost, const vxs_covariates_fit *covariates,
                                          vxs_bundle *bundle, vxs_error *err);
void vxs_bundle_release(vxs_bundle *bundle);
/* Solves to upper - lower <= target, or as far as rounding lets it. */
VXS_MUST_CHECK vxs_status vxs_bundle_solve(vxs_bundle *bundle, vxs_bundle_problem *problem,
                                           double target, vxs_error *err);
/* C R at predictions. */
double vxs_bundle_value(vxs_bundle *bundle, const double *prediction);
/* prediction = z + F b; returns C R there. */
double vxs_bundle_evaluate(vxs_bundle *bundle, const double *z, double *prediction);
/* Coefficients of the basis of the covariates. */
void vxs_bundle_coefficients(const vxs_bundle *bundle, double *b);
/* max over 0 <= t <= 1 of t delta - t^2 scores / 2. */
double vxs_bundle_bound(const vxs_bundle *bundle, double scores);

/* planes.c */
VXS_MUST_CHECK vxs_status vxs_planes_reserve(vxs_bundle *bundle, vxs_bundle_problem *problem,
                                             vxs_error *err);
void vxs_planes_release(vxs_planes *planes);
/* The plane at z; its value, and whether it is new. */
VXS_MUST_CHECK vxs_status vxs_planes_add(vxs_bundle *bundle, vxs_bundle_problem *problem,
                                         const double *z, double *value, bool *added,
                                         vxs_error *err);
VXS_MUST_CHECK vxs_status vxs_planes_begin(vxs_bundle *bundle, vxs_error *err);
/* Products and Gram matrices of planes that have none yet. */
void vxs_planes_multiply(vxs_bundle *bundle, vxs_bundle_problem *problem);
/* Removes planes that have been without weight for long. */
VXS_MUST_CHECK vxs_status vxs_planes_drop(vxs_bundle *bundle, vxs_bundle_problem *problem,
                                          vxs_error *err);
VXS_MUST_CHECK vxs_status vxs_planes_take_dual(vxs_bundle *bundle, const double *alpha,
                                               vxs_error *err);

#endif
