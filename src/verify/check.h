/* check.h - the parts of the checker; private to the verify room. */
#ifndef VXS_VERIFY_CHECK_H
#define VXS_VERIFY_CHECK_H

#include "solver/unidentified.h"
#include "voxsift/verify.h"

/* solution_check.c: the columns of the solution are columns of the problem. */
VXS_MUST_CHECK vxs_status vxs_solution_check(const vxs_problem *problem,
                                             const vxs_solution *solution, vxs_error *err);

/* True if the columns of a selection are those of the feature blocks. */
bool vxs_selected_matches(const vxs_blocks *blocks, const vxs_selected *selected);

/* check_hinge.c */
VXS_MUST_CHECK vxs_status vxs_check_hinge(const vxs_problem *problem, const vxs_solution *solution,
                                          vxs_certificate *certificate, vxs_error *err);

/* check_budget.c */
VXS_MUST_CHECK vxs_status vxs_check_budget(const vxs_problem *problem, const vxs_solution *solution,
                                           vxs_certificate *certificate, vxs_error *err);

/* check_measure.c */
VXS_MUST_CHECK vxs_status vxs_check_measure(const vxs_problem *problem,
                                            const vxs_solution *solution,
                                            vxs_certificate *certificate, vxs_error *err);

/* ---- Selections: check_budget.c -------------------------------------------------------------- */

/* What a selection of blocks is checked with. */
typedef struct {
    const vxs_problem *problem;
    const vxs_budget *penalty; /* the penalty */
    const vxs_selected *selected;
    size_t n, count;                   /* blocks */
    double *z, *gradient;              /* n */
    double *xi_empty;                  /* n: gradient at the empty model */
    double *block;                     /* columns of a block */
    double *size;                      /* |w_g| of selected blocks */
    double *best;                      /* scores, descending */
    size_t budget, found;              /* largest scores to keep, kept */
    double *columns, *tile, *products; /* for pairs */
} vxs_check_selection;
VXS_MUST_CHECK vxs_status vxs_check_selection_init(const vxs_problem *problem,
                                                   const vxs_selected *selected,
                                                   vxs_check_selection *c, vxs_error *err);
void vxs_check_selection_release(vxs_check_selection *c);
/* |w|_B^2 / 2 */
double vxs_check_selection_penalty(vxs_check_selection *c);
/* z from weights of the selected blocks, and coefficients of the covariates. */
void vxs_check_selection_predict(vxs_check_selection *c, const double *weight,
                                 const double *coefficients);
/* The sum of the B largest |X_g'gradient|^2 of all blocks. */
double vxs_check_selection_scores(vxs_check_selection *c);

/* ---- Measures: check_outputs.c --------------------------------------------------------------- */

typedef struct {
    const vxs_problem *problem;
    const char *name; /* of the measure */
    double beta;
    size_t n, positives, negatives, top;
    double cost;   /* C */
    double *u;     /* n: weight of a mistake */
    double *truth; /* n: r */
    double *score; /* n: work space, */
    size_t *order; /* as well */
    size_t rank;
    double *basis;   /* n x rank: orthonormal basis of the covariates */
    double *outside; /* n: work space */
} vxs_check_outputs;
VXS_MUST_CHECK vxs_status vxs_check_outputs_init(const vxs_problem *problem, double cost,
                                                 vxs_check_outputs *o, vxs_error *err);
void vxs_check_outputs_release(vxs_check_outputs *o);
/* C R(z); its subgradient by z, unless NULL. */
double vxs_check_outputs_value(vxs_check_outputs *o, const double *z, double *gradient);
/* True if the dual point is feasible; computes s, and the sum of alpha cost. */
bool vxs_check_outputs_dual(vxs_check_outputs *o, const vxs_weighted_outputs *dual, double *s,
                            double *delta);
/* min over b of C R(Fb). */
VXS_MUST_CHECK vxs_status vxs_check_outputs_empty(vxs_check_outputs *o, double *value,
                                                  vxs_error *err);

/* ---- Groups ---------------------------------------------------------------------------------- */

/* check_groups.c */
VXS_MUST_CHECK vxs_status vxs_check_groups(const vxs_problem *problem, const vxs_solution *solution,
                                           vxs_certificate *certificate, vxs_error *err);

/* check_kernel.c */
VXS_MUST_CHECK vxs_status vxs_check_kernel(const vxs_problem *problem, const vxs_solution *solution,
                                           vxs_certificate *certificate, vxs_error *err);

/* ---- Losses: check_loss.c -------------------------------------------------------------------- */

/* Predictions a sample; those of class c start at c * n. */
size_t vxs_check_classes(const vxs_problem *problem);
/* The weight of sample i. */
double vxs_check_u(const vxs_problem *problem, size_t i);
/* u f and its gradient; z points to the predictions of sample i. */
double vxs_check_loss(const vxs_problem *problem, size_t i, const double *z, size_t n);
void vxs_check_gradient(const vxs_problem *problem, size_t i, const double *z, size_t n,
                        double *gradient);
/* Second derivative by the predictions of classes a and b; uses the gradient at z where it
 * suffices. */
double vxs_check_curvature(const vxs_problem *problem, size_t i, const double *z,
                           const double *gradient, size_t n, size_t a, size_t b);
/* -(u f)*(scale s); the entries t that must be nonnegative in its domain, and their number. */
double vxs_check_dual(const vxs_problem *problem, size_t i, const double *s, size_t n,
                      double scale);
size_t vxs_check_shares(const vxs_problem *problem);
double vxs_check_share(const vxs_problem *problem, size_t i, const double *s, size_t n,
                       double scale, size_t entry);

/* ---- User-defined losses: check_by_value.c --------------------------------------------------- */

/* True for a loss that the library does not define. */
bool vxs_check_is_by_value(const vxs_problem *problem);
/* u f */
double vxs_check_value(const vxs_problem *problem, size_t i, double z);
/* -(u f)*(s) */
double vxs_check_value_dual(const vxs_problem *problem, size_t i, double s);
/* The share of the way to `interior` that moves s into the domain of (u f)*; 0 if s is inside. */
double vxs_check_value_domain(const vxs_problem *problem, size_t i, double s, double interior);

/* ---- The empty model: check_empty.c ---------------------------------------------------------- */

typedef struct {
    const vxs_problem *problem;
    size_t n, classes;
    size_t columns;    /* unpenalized columns */
    size_t rank;       /* of their span */
    double *basis;     /* n x rank: orthonormal basis over samples of weight > 0 */
    bool *independent; /* of a column: linearly independent of those before */
    double *zero;      /* classes x n: predictions */
    double value;      /* loss */
    double *gram;      /* Newton system: (classes rank)^2, and a right-hand side */
    double *b, *trial, *gradient;
    bool *used;
} vxs_check_empty;
/* Fits `columns` unpenalized columns (n x columns, the covariates first); a column that is linearly
 * dependent on those before (VXS_INDEPENDENT) is skipped. */
VXS_MUST_CHECK vxs_status vxs_check_empty_fit(const vxs_problem *problem, const double *columns,
                                              size_t count, vxs_check_empty *empty, vxs_error *err);
void vxs_check_empty_release(vxs_check_empty *empty);
/* Projects v onto the complement of the unpenalized columns. */
void vxs_check_project_out(const vxs_check_empty *empty, double *v);
double vxs_check_dot(const double *a, const double *b, size_t n);

/* ---- Dual feasible points: check_dual.c ------------------------------------------------------ */

/* Projection onto the complement of unpenalized columns, in the norm of second derivatives. */
typedef struct {
    const vxs_problem *problem;
    size_t n, classes, count;
    const double *columns; /* n x count */
    double *q, *r, *along; /* QR factors of S'C, S the square root of the second
                            * derivatives */
    double *root;          /* n x classes x classes: S */
} vxs_check_projection;
VXS_MUST_CHECK vxs_status vxs_check_projection_init(const vxs_problem *problem,
                                                    const double *columns, size_t count,
                                                    vxs_check_projection *projection,
                                                    vxs_error *err);
void vxs_check_projection_release(vxs_check_projection *projection);
/* Projects gradients of all classes at z; each sample changes in proportion to its second
 * derivative. */
void vxs_check_project(vxs_check_projection *projection, const vxs_check_empty *empty,
                       const double *z, double *gradient);
/* Moves scale s towards an interior point until it is in the domain: any feasible point gives a
 * bound. */
void vxs_check_into_domain(const vxs_problem *problem, double *s, double scale,
                           const double *interior, double interior_scale);

/* ---- Graphs: check_graph.c ------------------------------------------------------------------- */

typedef struct vxs_check_network vxs_check_network;
VXS_MUST_CHECK vxs_status vxs_check_network_new(const vxs_graph *graph, double sparsity,
                                                vxs_check_network **network, vxs_error *err);
void vxs_check_network_free(vxs_check_network *network);
/* max over node sets S of |v(S)| / (cut(S) + sparsity |S|). */
double vxs_check_network_dual_norm(vxs_check_network *network, const double *v);

/* ---- The null space of the penalty: check_null_space.c --------------------------------------- */

/* Basis of the weights without penalty; the weight of feature j is the sum of factor[e] x
 * coefficient of basis vector[e] over starts[j] <= e < starts[j + 1]. */
typedef struct {
    size_t count;
    size_t *starts, *vector;
    double *factor;
} vxs_check_null_space;
/* Indicators of the connected components of a graph. */
VXS_MUST_CHECK vxs_status vxs_check_components(const vxs_graph *graph, vxs_check_null_space *null,
                                               vxs_error *err);
/* Null space of the analysis operator. */
VXS_MUST_CHECK vxs_status vxs_check_analysis_null_space(const vxs_analysis *terms,
                                                        vxs_check_null_space *null, vxs_error *err);
void vxs_check_null_space_release(vxs_check_null_space *null);

#endif
