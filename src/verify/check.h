/* check.h - the parts of the checker; private to the verify room. */
#ifndef VXS_VERIFY_CHECK_H
#define VXS_VERIFY_CHECK_H

#include "solver/unidentified.h"
#include "voxsift/verify.h"

/* solution_check.c: whether a solution's columns are the problem's. */
VXS_MUST_CHECK vxs_status vxs_solution_check(const vxs_problem *problem,
                                             const vxs_solution *solution, vxs_error *err);

/* Whether columns of a selection are those of the problem's units. */
bool vxs_selected_fits(const vxs_problem *problem, const vxs_selected *selected);

/* check_hinge.c */
VXS_MUST_CHECK vxs_status vxs_check_hinge(const vxs_problem *problem, const vxs_solution *solution,
                                          vxs_certificate *certificate, vxs_error *err);

/* check_budget.c */
VXS_MUST_CHECK vxs_status vxs_check_budget(const vxs_problem *problem, const vxs_solution *solution,
                                           vxs_certificate *certificate, vxs_error *err);

/* ---- Losses: check_loss.c -------------------------------------------------------------------- */

/* How many predictions a sample has; what belongs to that of class c is c * n further on. */
size_t vxs_check_classes(const vxs_problem *problem);
/* The weight of sample i. */
double vxs_check_u(const vxs_problem *problem, size_t i);
/* u f and its slopes; z is where the predictions of sample i begin. */
double vxs_check_loss(const vxs_problem *problem, size_t i, const double *z, size_t n);
void vxs_check_slope(const vxs_problem *problem, size_t i, const double *z, size_t n,
                     double *slope);
/* Second derivative by the predictions of classes a and b, from the slopes at z where these say it.
 */
double vxs_check_curve(const vxs_problem *problem, size_t i, const double *z, const double *slope,
                       size_t n, size_t a, size_t b);
/* -(u f)*(scale s), and the shares t that its domain wants not to be negative; there are `sides` of
 * them. */
double vxs_check_dual(const vxs_problem *problem, size_t i, const double *s, size_t n,
                      double scale);
size_t vxs_check_sides(const vxs_problem *problem);
double vxs_check_share(const vxs_problem *problem, size_t i, const double *s, size_t n,
                       double scale, size_t side);

/* ---- Losses that a program brings along: check_by_value.c ------------------------------------ */

/* Whether the loss is none of the library's own. */
bool vxs_check_is_by_value(const vxs_problem *problem);
/* u f */
double vxs_check_value(const vxs_problem *problem, size_t i, double z);
/* -(u f)*(s) */
double vxs_check_value_dual(const vxs_problem *problem, size_t i, double s);
/* The share of the way to `inside` that brings s into the domain of (u f)*; 0 of what is in it. */
double vxs_check_value_share(const vxs_problem *problem, size_t i, double s, double inside);

/* ---- The empty model: check_empty.c ---------------------------------------------------------- */

typedef struct {
    const vxs_problem *problem;
    size_t n, classes;
    size_t columns; /* that are not penalised */
    size_t rank;    /* of the directions that they span */
    double *basis;  /* n x rank; of samples without weight 0 */
    bool *adds;     /* of a column: it does not depend on those before it */
    double *zero;   /* classes x n: predictions */
    double value;   /* the sum of losses */
    double *gram;   /* of Newton's method: (classes rank)^2, and a right side */
    double *b, *trial, *slope;
    bool *used;
} vxs_check_empty;
/* The best predictions by `columns` columns, which follow each other in `free`, the covariates of
 * the problem first; one that depends on those before it (VXS_INDEPENDENT) adds nothing. */
VXS_MUST_CHECK vxs_status vxs_check_empty_fit(const vxs_problem *problem, const double *free,
                                              size_t columns, vxs_check_empty *empty,
                                              vxs_error *err);
void vxs_check_empty_release(vxs_check_empty *empty);
/* Takes what the free columns span out of v. */
void vxs_check_take_off(const vxs_check_empty *empty, double *v);
double vxs_check_inner(const double *a, const double *b, size_t n);

/* ---- Points of the dual's domain: check_dual.c ----------------------------------------------- */

/* Columns that are not penalised, over samples as far as these may move. */
typedef struct {
    const vxs_problem *problem;
    size_t n, classes, count;
    const double *columns; /* n x count */
    double *q, *r, *along; /* of S'C, S being the root of the second derivatives */
    double *root;          /* n x classes x classes: S */
} vxs_check_span;
VXS_MUST_CHECK vxs_status vxs_check_span_init(const vxs_problem *problem, const double *columns,
                                              size_t count, vxs_check_span *span, vxs_error *err);
void vxs_check_span_release(vxs_check_span *span);
/* Slopes of all classes at z become orthogonal to the columns; each sample moves as far as its
 * second derivatives allow. */
void vxs_check_project(vxs_check_span *span, const vxs_check_empty *empty, const double *z,
                       double *slope);
/* A share of a point that is inside the domain brings scale s back: any point of it gives a bound.
 */
void vxs_check_bring_inside(const vxs_problem *problem, double *s, double scale,
                            const double *inside, double inside_scale);

/* ---- Graphs: check_graph.c ------------------------------------------------------------------- */

typedef struct vxs_check_net vxs_check_net;
VXS_MUST_CHECK vxs_status vxs_check_net_new(const vxs_graph *graph, double sparsity,
                                            vxs_check_net **net, vxs_error *err);
void vxs_check_net_free(vxs_check_net *net);
/* The largest |v(S)| / (cut(S) + sparsity |S|) over sets S of nodes. */
double vxs_check_net_norm(vxs_check_net *net, const double *v);

/* ---- What is not penalised: check_levels.c --------------------------------------------------- */

/* Levels without a penalty; the weight of feature j is the sum of factor[e] times level[e] over
 * starts[j] <= e < starts[j + 1]. */
typedef struct {
    size_t count;
    size_t *starts, *level;
    double *factor;
} vxs_check_levels;
/* The pieces of a graph. */
VXS_MUST_CHECK vxs_status vxs_check_pieces(const vxs_graph *graph, vxs_check_levels *levels,
                                           vxs_error *err);
/* Weights of which all terms are 0. */
VXS_MUST_CHECK vxs_status vxs_check_without(const vxs_analysis *terms, vxs_check_levels *levels,
                                            vxs_error *err);
void vxs_check_levels_release(vxs_check_levels *levels);

#endif
