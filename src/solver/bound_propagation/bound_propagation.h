/* bound_propagation.h - bound propagation and the interior-point method beneath it; private to the
 * solver room.
 *
 * Only samples of weight u > 0 enter; their rows of X, predictions and gradients are multiplied by
 * sqrt(u), so that regions of the dual are balls in the ordinary norm. A term k of the penalty is
 * row D_k of the analysis operator D. */
#ifndef VXS_SOLVER_BOUND_PROPAGATION_BOUND_PROPAGATION_H
#define VXS_SOLVER_BOUND_PROPAGATION_BOUND_PROPAGATION_H

#include "linalg/sparse_cholesky.h"
#include "voxsift/internal/solver.h"

/* ---- The data -------------------------------------------------------------------------------- */

typedef struct {
    const vxs_loss_kind *loss; /* one prediction a sample */
    double threshold;          /* parameter of the loss */
    size_t n, p, q;
    double *x;                 /* n x p, column-major */
    double *covariates;        /* n x q, column-major: Z */
    double *y, *root;          /* n: targets as given, sqrt(u) */
    double rounding;           /* error bound of a sum of columns */
    const double *xi_empty;    /* n: xi of the empty model, interior to the dual domain; or NULL */
    const vxs_analysis *terms; /* D */
} vxs_bp_data;

/* Loss at predictions z; -sum u f*(-scale xi / u); xi = minus the gradient of the loss at z. */
double vxs_bp_loss(const vxs_bp_data *data, const double *z);
double vxs_bp_dual_value(const vxs_bp_data *data, const double *xi, double scale);
void vxs_bp_negative_gradient(const vxs_bp_data *data, const double *z, double *xi);
void vxs_bp_into_domain(const vxs_bp_data *data, double *xi);
/* The scale of xi with the largest dual value, in absolute value at most `bound`. */
double vxs_bp_best_scale(const vxs_bp_data *data, const double *xi, double bound);

/* ---- Presolve -------------------------------------------------------------------------------- */

/* The problem in w' after presolve, w = T w', when some rows of D w are known to be 0. Row j of
 * `expansion` is row j of T; columns of T are the remaining features. The rows of D T are those of
 * `terms`, where parallel rows are merged. */
typedef struct {
    vxs_analysis expansion, terms;
    size_t *feature;    /* of a remaining variable */
    size_t *merged_row; /* of a row of D: the row of `terms` that contains it, or SIZE_MAX */
    double *share;      /* row of D T = share x merged row */
} vxs_presolved;
VXS_MUST_CHECK vxs_status vxs_presolved_new(const vxs_analysis *terms, const bool *zero,
                                            vxs_presolved *presolved, vxs_error *err);
void vxs_presolved_release(vxs_presolved *presolved);

/* ---- The reparametrized problem -------------------------------------------------------------- */

/* A leaf is a variable that is alone in a row of D once earlier leaves are removed: the value of
 * that row replaces it. Variables in no row are unpenalized. The others are the core; its null
 * space is spanned by one reference node a connected component (places `reduced` and on), whose
 * values are unpenalized. Without the columns of the reference nodes the rows of the core have full
 * column rank, as a reduced incidence matrix has. Rows are numbered: those of leaves, then those of
 * the core. */
typedef struct {
    const vxs_bp_data *data;
    vxs_presolved presolved;
    size_t n, leaves, reduced, core; /* core - reduced reference nodes */
    size_t terms;                    /* rows, of leaves and core */
    size_t *leaf;                    /* variable of a leaf, in the order of removal */
    size_t *leaf_row;                /* its row in presolved.terms */
    double *pivot;                   /* its entry there */
    size_t *core_variable;           /* variable at a place of the core */
    size_t *number;                  /* of a row of presolved.terms */
    size_t *unpenalized;             /* variables in no row */
    size_t unpenalized_count;
    vxs_analysis core_rows;    /* rows of the core, all columns */
    vxs_analysis reduced_rows; /* without the columns of reference nodes */
    vxs_analysis null_space;   /* core x reference nodes */
    double *x;                 /* n x (leaves + core), column-major */
    double *span;              /* n x rank: orthonormal basis of the unpenalized columns */
    double *triangle;          /* rank x rank, upper: columns `independent` = span x triangle */
    size_t *independent;       /* numbered as covariates, unpenalized variables, reference nodes */
    size_t rank, unpenalized_columns;
    vxs_factor factor;
} vxs_reparametrized;
VXS_MUST_CHECK vxs_status vxs_reparametrized_new(const vxs_bp_data *data, const bool *zero,
                                                 bool transform, vxs_reparametrized *r,
                                                 vxs_error *err);
void vxs_reparametrized_release(vxs_reparametrized *r);
/* Symbolic Cholesky factorization, needed by the solver and the dual norm; done once. */
VXS_MUST_CHECK vxs_status vxs_reparametrized_factor(vxs_reparametrized *r, vxs_error *err);
/* Weights w and coefficients of covariates from the solver's variables x and coordinates b in the
 * span. */
void vxs_reparametrized_expand(const vxs_reparametrized *r, const double *x, const double *b,
                               double *work, double *w, double *coefficients);
/* out = E x, E the rows of leaves and core, x the solver's variables; x += E'v */
void vxs_reparametrized_multiply(const vxs_reparametrized *r, const double *x, double *out);
void vxs_reparametrized_transpose(const vxs_reparametrized *r, const double *v, double *x);

/* ---- The interior-point iterate -------------------------------------------------------------- */

/* Primal x and b, dual v with g = 1 - v and h = 1 + v, and the slacks up - down = E x. */
typedef struct {
    const vxs_reparametrized *problem;
    double lambda;
    size_t m, k; /* sizes of x and of v */
    double *x, *b, *v, *g, *h, *up, *down;
    double *z, *xi, *theta; /* n: theta = xi / lambda projected onto the complement of the span */
    double *u;              /* k: E'u = X'theta */
    double primal, dual, gap;
    double residual;            /* |E'u - X'theta|, relative */
    double min_complementarity; /* lower bound of the target of up g and down h */
    double norm;                /* |u|_inf */
    double best_gap;
    int slow; /* iterations since then */
    struct vxs_iterate_workspace *workspace;
} vxs_iterate;
VXS_MUST_CHECK vxs_status vxs_iterate_new(const vxs_reparametrized *problem, double lambda,
                                          vxs_iterate *iterate, vxs_error *err);
void vxs_iterate_release(vxs_iterate *iterate);
/* Predictions from x, b and v; slacks up - down = E x of at least `min_slack`. */
void vxs_iterate_start(vxs_iterate *iterate, double min_slack);
/* One iteration; false when the step length vanishes. Then gap, theta and u are of the new point.
 */
bool vxs_iterate_step(vxs_iterate *iterate);

/* ---- The dual norm --------------------------------------------------------------------------- */

/* Dual norm of |D w|_1 at `value`: min |u|_inf over D'u = value, and a minimizer u; `below` is a
 * lower bound. D must have full column rank: the factor is that of D'SD. */
VXS_MUST_CHECK vxs_status vxs_analysis_dual_norm(vxs_factor *factor, const double *value, double *u,
                                                 double *norm, double *below, vxs_error *err);
/* The dual norm of X'theta in the reparametrized problem, theta orthogonal to its span. */
VXS_MUST_CHECK vxs_status vxs_reparametrized_dual_norm(vxs_reparametrized *r, const double *theta,
                                                       double *u, double *norm, vxs_error *err);

/* ---- Bounds ---------------------------------------------------------------------------------- */

/* A region that contains the dual optimum: the ball |xi - center| <= radius and, with `cut`, the
 * half space normal'(xi - center) <= offset, |normal| = 1. */
typedef struct {
    size_t n;
    double *center, *normal;
    double radius, offset;
    bool cut;
} vxs_dome;
VXS_MUST_CHECK vxs_status vxs_dome_new(size_t n, vxs_dome *dome, vxs_error *err);
void vxs_dome_release(vxs_dome *dome);

/* Linear inequalities low <= sum of factor x u <= high. The first `columns` sums belong to columns
 * of X, later ones to sums of columns along paths. */
typedef struct {
    size_t terms, columns, count, capacity;
    size_t *starts, *term; /* the entries of a sum */
    double *factor;
    size_t factor_capacity;
    double *norm;       /* of the column, projected onto the complement of the span */
    size_t *base, *add; /* sum = sum `base` + `share` x column `add` */
    double *share;
    size_t *uses_starts, *uses;       /* the sums that contain u_k: the transpose */
    double *low, *high;               /* bounds of sums */
    double *from, *to;                /* the box around u */
    double *at_center, *along_normal; /* x'center, x'normal of sums */
    double *x;                        /* n x columns, projected onto the same complement */
    size_t n;
    size_t *queue;
    bool *queued;
} vxs_bounds;
VXS_MUST_CHECK vxs_status vxs_bounds_new(const vxs_reparametrized *r, bool transform,
                                         vxs_bounds *bounds, vxs_error *err);
void vxs_bounds_release(vxs_bounds *bounds);
/* The number of columns whose bounds are narrow enough to show that a row alone in them is 0. With
 * few of them propagation finds no more. */
size_t vxs_bounds_promising(const vxs_bounds *bounds, const vxs_dome *dome, double lambda);
/* Bound propagation: the box around u, and the rows that are 0 for every u in it. Returns their
 * number. */
size_t vxs_bounds_propagate(vxs_bounds *bounds, const vxs_dome *dome, double lambda, bool *zero);

/* ---- One lambda ------------------------------------------------------------------------------ */

/* A primal point and a dual feasible point of some lambda: predictions, |D w|_1, and theta with
 * |u|_inf <= 1. */
typedef struct {
    double *z, *theta;
    double penalty;
    bool known;
} vxs_reference;

/* The path of problems in lambda. */
typedef struct {
    vxs_bp_data data;
    vxs_reparametrized base; /* no row known to be 0 */
    vxs_bounds bounds;       /* of `base`; built when first needed */
    bool has_bounds;
    bool transform, sequential, dynamic;
    vxs_reference reference; /* of the last lambda, or of the empty model at lambda_max */
    vxs_dome dome;
    double empty;             /* primal value of the empty model */
    double *w, *coefficients; /* p, q: the solution */
    double *z, *xi;           /* n */
    double *work;             /* p + q + n */
    bool *zero, *found;       /* rows of D, rows of a reparametrized problem */
    double *term;             /* 3 x rows of D: v, up, down */
    size_t before, after;     /* rows screened out: before the first iteration, in all */
    uint64_t iterations;
    double screening; /* seconds */
    const vxs_context *context;
} vxs_path;
/* Into the dome, the region of the dual optimum at lambda that a reference point gives. */
void vxs_path_dual_region(vxs_path *path, double lambda, const vxs_reference *reference);
VXS_MUST_CHECK vxs_status vxs_path_solve(vxs_path *path, double lambda, double target, bool screen,
                                         vxs_error *err);
/* The empty model: every row of D w is 0, as marked in `zero`. */
VXS_MUST_CHECK vxs_status vxs_path_empty(vxs_path *path, vxs_error *err);
/* Solves again with the rows fixed to 0 that nearly are, from the state of vxs_path_solve. */
VXS_MUST_CHECK vxs_status vxs_path_polish(vxs_path *path, double lambda, double target,
                                          vxs_error *err);

#endif
