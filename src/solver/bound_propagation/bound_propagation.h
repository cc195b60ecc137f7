/* bound_propagation.h - bound propagation and the general solver beneath it; private to the solver
 * room.
 *
 * Samples are those with a weight u, times its root: columns, targets' slopes and predictions. Then
 * the weights are gone, and balls are round. */
#ifndef VXS_SOLVER_BOUND_PROPAGATION_BOUND_PROPAGATION_H
#define VXS_SOLVER_BOUND_PROPAGATION_BOUND_PROPAGATION_H

#include "linalg/sparse_cholesky.h"
#include "voxsift/internal/solver.h"

/* ---- The whole problem ----------------------------------------------------------------------- */

typedef struct {
    const vxs_loss_kind *loss; /* of one prediction a sample */
    double threshold;          /* its own */
    size_t n, p, q;
    double *x;          /* n x p by column */
    double *free;       /* n x q */
    double *y, *root;   /* n: as given; of u */
    double least;       /* of a sum of columns: no more is rounding */
    const double *away; /* n: xi of the empty model, or NULL: inside the dual's domain */
    const vxs_analysis *terms;
} vxs_whole;

/* Sum of losses at predictions, f* likewise, and minus the slope. */
double vxs_whole_loss(const vxs_whole *whole, const double *z);
double vxs_whole_dual(const vxs_whole *whole, const double *xi, double scale);
void vxs_whole_slope(const vxs_whole *whole, const double *z, double *xi);
void vxs_whole_bring_inside(const vxs_whole *whole, double *xi);
/* The scale with the best dual value, at most `most`. */
double vxs_whole_scale(const vxs_whole *whole, const double *xi, double most);

/* ---- Terms that are known to be 0 ------------------------------------------------------------ */

/* w = T w': what is left when terms are 0. Feature j is term j of `back`, whose columns are the
 * features that survive; the terms that are left are those of `terms`, of which equal ones have
 * become one. */
typedef struct {
    vxs_analysis back, terms;
    size_t *survivor; /* the feature a variable was */
    size_t *group;    /* of each term of the whole problem: the term it is in, or SIZE_MAX */
    double *share;    /* it is so many times that one */
} vxs_left;
VXS_MUST_CHECK vxs_status vxs_left_new(const vxs_analysis *terms, const bool *zero, vxs_left *left,
                                       vxs_error *err);
void vxs_left_release(vxs_left *left);

/* ---- The problem that is left ---------------------------------------------------------------- */

/* Variables that are alone in a term, when those before them are gone, become that term's value
 * (`single`, in this order); those without a term are free; the others are the core, of which some
 * (`mr` on) can be expressed by what the null space of its terms spans, and are free too. A term's
 * number is its single's, or behind these its place in the core. */
typedef struct {
    const vxs_whole *whole;
    vxs_left left;
    size_t n, singles, mr, core; /* mr of the core are not ground */
    size_t terms;                /* singles and those of the core */
    size_t *single;              /* the variable that went */
    size_t *of_single;           /* its term in left.terms */
    double *pivot;               /* its factor there */
    size_t *of_core;             /* variable of a place in the core */
    size_t *number;              /* of a term in left.terms */
    size_t *of_free;             /* variables without a term */
    size_t free_count;
    vxs_analysis inner; /* the core's terms, of all its places */
    vxs_analysis solid; /* and of the first mr */
    vxs_analysis null;  /* the core's places of what the ground spans */
    double *x;          /* n x (singles + core), columns */
    double *span;       /* n x rank, orthonormal: what is free */
    double *triangle;   /* rank x rank, upper: the free columns `kept` are span times it */
    size_t *kept;       /* of q, of_free, ground */
    size_t rank, frees;
    vxs_factor factor;
} vxs_rest;
VXS_MUST_CHECK vxs_status vxs_rest_new(const vxs_whole *whole, const bool *zero, bool transform,
                                       vxs_rest *rest, vxs_error *err);
void vxs_rest_release(vxs_rest *rest);
/* Where the entries of its factor stand, which the solver and the norm need: once is enough. */
VXS_MUST_CHECK vxs_status vxs_rest_factor(vxs_rest *rest, vxs_error *err);
/* Features and free columns from the solver's variables and what it has along the span. */
void vxs_rest_expand(const vxs_rest *rest, const double *x, const double *b, double *work,
                     double *w, double *free);
/* out = E x over all terms, x the solver's variables; x += E'v */
void vxs_rest_terms(const vxs_rest *rest, const double *x, double *out);
void vxs_rest_turned(const vxs_rest *rest, const double *v, double *x);

/* ---- The solver ------------------------------------------------------------------------------ */

/* Variables x and b, one v, g = 1 - v, h = 1 + v and two slacks up - down = E x a term. */
typedef struct {
    const vxs_rest *rest;
    double lambda;
    size_t m, k; /* x and terms */
    double *x, *b, *v, *g, *h, *up, *down;
    double *z, *xi, *theta; /* n: theta = xi / lambda without what the span holds */
    double *u;              /* terms: E'u = X'theta */
    double primal, dual, gap;
    double off;    /* what u is from where it should be */
    double enough; /* products that are no larger will do */
    double norm;   /* of u, |u|_inf */
    double least;  /* gap so far */
    int slow;      /* iterations since then */
    struct vxs_inner *room;
} vxs_inside;
VXS_MUST_CHECK vxs_status vxs_inside_new(const vxs_rest *rest, double lambda, vxs_inside *inside,
                                         vxs_error *err);
void vxs_inside_release(vxs_inside *inside);
/* From x, b and v as they are: predictions, and slacks with up - down = E x that are at least
 * `least`. */
void vxs_inside_begin(vxs_inside *inside, double least);
/* One iteration; false when it gets nowhere. Then gap, theta and u are of the new point. */
bool vxs_inside_step(vxs_inside *inside);

/* ---- The dual norm --------------------------------------------------------------------------- */

/* The least |u|_inf with D'u = value, and such a u; `below` is a bound from below. The columns of D
 * may not depend on each other: the factor is of them. */
VXS_MUST_CHECK vxs_status vxs_terms_norm(vxs_factor *factor, const double *value, double *u,
                                         double *norm, double *below, vxs_error *err);
/* The same of X'theta, for the terms of a rest: theta is without what its span holds. */
VXS_MUST_CHECK vxs_status vxs_rest_norm(vxs_rest *rest, const double *theta, double *u,
                                        double *norm, vxs_error *err);

/* ---- Bounds ---------------------------------------------------------------------------------- */

/* Where the dual optimum is for certain: |xi - centre| <= radius, and with `cut`
 * along'(xi - centre) <= room, |along| = 1. */
typedef struct {
    size_t n;
    double *centre, *along;
    double radius, room;
    bool cut;
} vxs_dome;
VXS_MUST_CHECK vxs_status vxs_dome_new(size_t n, vxs_dome *dome, vxs_error *err);
void vxs_dome_release(vxs_dome *dome);

/* Inequalities on u: sums of it are between bounds. Sums after the first `columns` are those of
 * columns that were added up along paths. */
typedef struct {
    size_t terms, columns, count, room;
    size_t *starts, *term; /* of a sum's factors */
    double *factor;
    size_t factors_room;
    double *norm;       /* of its column, without what is free */
    size_t *base, *add; /* it is sum `base` and `share` times column `add` */
    double *share;
    size_t *uses_starts, *uses; /* the sums that a term is in */
    double *low, *high;         /* of sums */
    double *from, *to;          /* of u */
    double *mid, *slant;        /* x'centre, x'along of sums */
    double *x;                  /* n x columns, without what is free */
    size_t n;
    size_t *queue;
    bool *waits;
} vxs_bounds;
VXS_MUST_CHECK vxs_status vxs_bounds_new(const vxs_rest *rest, bool transform, vxs_bounds *bounds,
                                         vxs_error *err);
void vxs_bounds_release(vxs_bounds *bounds);
/* How many columns have bounds so close together that one term alone could be told to be 0. Where
 * there are few of them, no more terms can be hoped for. */
size_t vxs_bounds_narrow(const vxs_bounds *bounds, const vxs_dome *dome, double lambda);
/* The box around u, and which terms are 0 for certain. Returns how many of them. */
size_t vxs_bounds_find(vxs_bounds *bounds, const vxs_dome *dome, double lambda, bool *zero);

/* ---- One lambda ------------------------------------------------------------------------------ */

/* What is known of a solution: predictions, |D w|_1, and a theta with |u|_inf <= 1. */
typedef struct {
    double *z, *theta;
    double size;
    bool known;
} vxs_witness;

/* A problem being solved at one lambda after the other. */
typedef struct {
    vxs_whole whole;
    vxs_rest base;     /* nothing is 0 yet */
    vxs_bounds bounds; /* its; made when they are first asked for */
    bool has_bounds;
    bool transform, sequential, dynamic;
    vxs_witness witness; /* the last lambda's, or of the empty model at lambda_max */
    vxs_dome dome;
    double empty;         /* primal value of the empty model */
    double *w, *free;     /* p, q: the answer */
    double *z, *xi;       /* n */
    double *work;         /* p + q + n, to expand */
    bool *zero, *found;   /* terms: of the whole problem, of a rest */
    double *term;         /* 3 x terms: v, up, down */
    size_t before, after; /* terms that screening found to be 0: before the solver began, in all */
    uint64_t iterations;
    double screening; /* seconds */
    const vxs_context *context;
} vxs_path;
/* Into the dome, what a witness says of the dual optimum at some lambda. */
void vxs_path_region(vxs_path *path, double lambda, const vxs_witness *witness);
VXS_MUST_CHECK vxs_status vxs_path_solve(vxs_path *path, double lambda, double target, bool screen,
                                         vxs_error *err);
/* With all terms 0, as they are marked. */
VXS_MUST_CHECK vxs_status vxs_path_empty(vxs_path *path, vxs_error *err);
/* Again, with terms 0 that look like it, from what vxs_path_solve has left. */
VXS_MUST_CHECK vxs_status vxs_path_polish(vxs_path *path, double lambda, double target,
                                          vxs_error *err);

#endif
