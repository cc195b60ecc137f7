/* voxsift/solver.h - prediction methods: problems, solutions with certificates, the table of
 * methods. */
#ifndef VOXSIFT_SOLVER_H
#define VOXSIFT_SOLVER_H

#include "voxsift/core.h"
#include "voxsift/design.h"
#include "voxsift/loss.h"
#include "voxsift/penalty.h"

#ifdef __cplusplus
extern "C" {
#endif

#if defined(__GNUC__)
#pragma GCC visibility push(default) /* exported symbols only */
#endif

/* ---- Problems and solutions ------------------------------------------------------------------ */

/* min over w, b: sum_i u_i f(x_i'w + z_i'b, y_i) + lambda Omega(w) + Q(w) */
typedef struct {
    vxs_design *design;
    /* n samples, the rows of the design. Multinomial: k predictions a sample; the weights of class
     * c are entries c p ... c p + p - 1 of a solution, and the same holds for b. */
    vxs_loss loss;
    const vxs_penalty *penalty; /* Omega; NULL: l1 */
    vxs_quadratic quadratic;    /* Q */
    const double *covariates;   /* n x covariate_count, column-major: Z, not penalized; ones
                                 * for an intercept */
    size_t covariate_count;
    bool nonnegative; /* w >= 0 */
} vxs_problem;

/* How many of the `terms` of the penalty (features, or rows of D) screening removed; all 0 without
 * screening. */
typedef struct {
    size_t terms;
    size_t before;              /* terms screened out before the first iteration */
    size_t after;               /* terms screened out in all */
    double screening, solving;  /* seconds */
    bool compared;              /* a fit without screening was run as well: */
    double without, difference; /* its seconds; its primal value minus that of this fit */
} vxs_screening;

/* The optimality certificate: gap = (primal - dual) / primal value of the empty model bounds the
 * relative distance of the primal value from the minimum over all columns. */
typedef struct {
    double lambda, lambda_max;
    double primal, dual, gap, tol;
    double empty; /* primal value of the empty model, set by the checker */
    bool converged;
    size_t nonzero;
    size_t fused_regions; /* connected regions of equal nonzero weight on a graph */
    double smooth;        /* weight of the relative Laplacian */
    double gamma;         /* of the kernel of a machine, where it is not linear */
    size_t rank;          /* of a kernel of low rank, 0: the kernel itself; and what it lacks: */
    double trace_error;   /* share of the trace */
    double largest_error; /* of a sample with itself, as a share of the mean of these */
    double bandwidth;     /* of similarities of bags */
    /* unpenalized directions that neither data nor covariates identify: the solution is orthogonal
     * to them */
    size_t unidentified;
    size_t kernels;    /* of several kernels those with a weight */
    size_t support;    /* support vectors: samples of a kernel machine with nonzero weight */
    size_t missed;     /* features that an unsafe rule had screened out */
    size_t iterations; /* of the outer loop */
    double passes;     /* columns read / p; the first fit includes initialization */
    double seconds;    /* elapsed; the first fit includes initialization */
    vxs_screening screening;
} vxs_certificate;

/* A dual feasible point that predictions do not determine: hinge loss, generalized lasso. */
typedef struct {
    double *alpha; /* n, 0 <= alpha <= u */
    size_t count;
    size_t *index; /* count: features of the interior point that alpha belongs to */
    double *weight;
    size_t terms;  /* rows of D, for each class */
    double *theta; /* n for each class: near -f' / lambda, Z'theta = 0 */
    double *u;     /* for each row of D: X'theta = D'u, |u| <= 1 */
} vxs_bound;

/* A dual point of a measure, in rows of 3 + n: of each pair of counts a and b the sum alpha of the
 * weights of its outputs, and their mean v; or, where the bound follows from it, one row with -1,
 * -1, C and s, the sum of alpha (v - r). */
typedef struct {
    size_t n, count;
    double *row;
} vxs_weighted_outputs;

/* The selected feature blocks. */
typedef struct {
    vxs_feature_map map;
    size_t count;
    size_t *block;                  /* ascending */
    size_t *start;                  /* count + 1: first weight of a block */
    double *weight;                 /* weights of the certified solution, block by block */
    double *covariate_coefficients; /* its b */
    double *refit_weight; /* minimizer of |w|^2 / 2 + C sum u f on these columns; or NULL */
    size_t alpha_count;
    double *alpha; /* n: dual point, if predictions do not determine it; or NULL */
    vxs_weighted_outputs *outputs, *refit_outputs; /* of a measure, or NULL */
    uint64_t iterations, visited, pruned;
    double restricted_gap; /* of the problem on the generated cuts */
    double refit_gap;
} vxs_selected;

typedef struct {
    size_t count;
    /* features of nonzero weight, ascending; with a nonlinear feature map those that selected
     * blocks involve */
    size_t *index;
    /* their weights; with such a map the norm of the weights of the mapped features that involve
     * them */
    double *weight;
    double *covariate_coefficients; /* b */
    vxs_bound *bound;               /* or NULL */
    vxs_selected *selected;         /* of fgm and mslr, or NULL; after a refit weight and b are
                             * refitted */
    vxs_certificate certificate;
} vxs_solution;
void vxs_solution_release(vxs_solution *solution);

/* ---- Methods --------------------------------------------------------------------------------- */

enum {
    VXS_SCREEN_SAIF,
    VXS_SCREEN_NONE,
    VXS_SCREEN_DYNAMIC,
    VXS_SCREEN_DPP,
    VXS_SCREEN_STRONG,
    VXS_SCREEN_VI
};
/* --solver of skfs, of mslr, of fused and of svm; --subproblem */
enum { VXS_SOLVER_EXACT, VXS_SOLVER_DUAL_AVERAGE };
enum { VXS_SOLVER_GRADIENTS, VXS_SOLVER_DESCENT };
enum { VXS_FUSED_AUTO, VXS_FUSED_SAIF, VXS_FUSED_CUTS, VXS_FUSED_BP };
enum { VXS_MACHINE_WORKING_SET, VXS_MACHINE_SCREENED, VXS_MACHINE_SAIV };
enum { VXS_INNER_AUTO, VXS_INNER_EXACT, VXS_INNER_DESCENT };

/* The parameter of a path: lambda, iterations, the number of blocks to select, or C = 1 / lambda of
 * kernel machines. */
typedef enum { VXS_BY_LAMBDA, VXS_BY_ITERATIONS, VXS_BY_NUMBER, VXS_BY_COST } vxs_path_kind;
typedef struct {
    vxs_path_kind by;
    double value;
} vxs_path_point;

/* One fit, or a path. Read by src/model/fit.c, not by solvers. */
typedef struct {
    double lambda, lambda_ratio; /* NAN: not given */
    int64_t nlambda;
    int64_t iterations;
    const char *numbers;    /* numbers of blocks, comma-separated; NULL: by iterations */
    const char *laplacians; /* weights of a relative Laplacian, comma-separated */
    /* Chosen by inner folds: fraction of lambda_max, iterations or number of blocks; weight of the
     * Laplacian. */
    bool chosen;
    double point, laplacian;
} vxs_path_settings;

typedef struct {
    int screen, inner;
} vxs_saif_settings;

typedef struct {
    double ridge, laplacian;
    bool nonnegative;
} vxs_l1_settings;

/* Of similarities of bags: widths in units of a median, comma-separated, or NULL; chosen of them;
 * 0: the usual one. */
typedef struct {
    const char *widths;
    double width;
} vxs_bag_settings;

typedef struct {
    int solver;
    double sparsity;
    const char *penalty; /* NULL: edges of the graph */
    bool compare;        /* fits without screening, too */
    bool untransformed;  /* screens without the change of variables */
} vxs_fused_settings;

typedef struct {
    int solver;
    const char *bandwidth;      /* a number or "median" */
    int64_t steps, sample_seed; /* of dual averaging */
    double gamma;
} vxs_kernel_settings;

typedef struct {
    int solver;
    double cost;      /* C */
    int64_t budget;   /* B of fgm, r of mslr */
    double inner_tol; /* relative gap of the subproblem of each iteration */
    double change;    /* stops when an iteration gains less, relative to the empty model's value */
    double debias;    /* C of the refit; 0: none */
    const char *groups;
    bool by_size; /* divides columns of a group by the square root of its size */
    double power; /* group lasso: of the size, in the penalty of a group; NAN: not given */
    int map;
    double gamma, constant; /* of poly2 */
    const char *bandwidth;  /* of gauss: a number */
    const char *measure;    /* what is optimized; NULL: no measure */
} vxs_block_settings;

typedef struct {
    int kernel;
    const char *file;   /* of a kernel that is given: NPY, its ids beside it */
    const char *costs;  /* values of C, comma-separated; NULL: 1, or from 0.001 to 1000 */
    const char *gammas; /* values of gamma, comma-separated; NULL: 1 */
    double gamma;       /* chosen of them; 0: 1 */
    double constant;
    int64_t degree;
    double epsilon; /* of support vector regression, in standard deviations of the target */
    int solver;
    int64_t memory; /* bytes, of the kernels of a fit; 0: half of the machine's */
    int64_t rank;   /* at most, of the kernel in place of it; 0: the kernel itself */
} vxs_svm_settings;

typedef struct {
    int scale; /* of kernels: each by its own mean, or all by one */
} vxs_mkl_settings;
enum { VXS_SCALE_EACH, VXS_SCALE_ALL };

/* Settings of all methods. A method reads those in its `params`; set the others to 0, as
 * vxs_params_defaults does with a zeroed struct. */
typedef struct {
    vxs_path_settings path;
    double tol; /* relative gap to reach */
    vxs_saif_settings saif;
    vxs_l1_settings l1;
    vxs_fused_settings fused;
    vxs_kernel_settings kernels;
    vxs_block_settings blocks;
    vxs_svm_settings svm;
    vxs_mkl_settings mkl;
    vxs_bag_settings bags;
} vxs_method_settings;

typedef enum { VXS_GRAPH_NONE, VXS_GRAPH_OPTIONAL, VXS_GRAPH_NEEDED } vxs_graph_use;

/* One row a method; everything that lists methods is a loop over vxs_methods, which ends with
 * name == NULL. */
typedef struct {
    const char *name;
    const char *summary;     /* a phrase, without full stop */
    const char *source;      /* paper and section */
    const vxs_param *params; /* into vxs_method_settings; ends with name == NULL */
    vxs_graph_use graph;     /* of features */
    vxs_path_kind path;      /* VXS_BY_ITERATIONS: iterations or number of blocks; VXS_BY_COST */
    vxs_standardize standardize;        /* default */
    bool classes_only;                  /* takes classes only */
    bool takes_pairs;                   /* --multiclass one-vs-one */
    bool takes_bags;                    /* --bags */
    const struct vxs_solver_kind *kind; /* private to the solver room */
} vxs_method;
enum {
    VXS_METHOD_LASSO,
    VXS_METHOD_GRAPHNET,
    VXS_METHOD_GROUP_LASSO,
    VXS_METHOD_FUSED,
    VXS_METHOD_SKFS,
    VXS_METHOD_HSIC,
    VXS_METHOD_FGM,
    VXS_METHOD_MSLR,
    VXS_METHOD_SVM,
    VXS_METHOD_MKL,
    VXS_METHOD_MEASURE,
    VXS_METHODS /* how many */
};
extern const vxs_method vxs_methods[];

/* VXS_OK if a method with these settings solves the problem; else a message and VXS_MISUSE for
 * components, shapes, penalties and settings, VXS_BAD_DATA for values of y, weights, covariates,
 * graph and rows of D. Every solver and the checker begin with it. Method and settings may be NULL:
 * then the problem alone is checked. */
VXS_MUST_CHECK vxs_status vxs_problem_check(const vxs_problem *problem, const vxs_method *method,
                                            const vxs_method_settings *settings, vxs_error *err);

/* The primal value at weights w and coefficients b, class by class; VXS_MISUSE with a budget of
 * blocks or a relative Laplacian, whose value is not this sum. */
VXS_MUST_CHECK vxs_status vxs_problem_value(const vxs_problem *problem, double lambda,
                                            const double *w, const double *b, double *value,
                                            vxs_error *err);

/* A solver of one problem; fits are warm-started from the last one, so that decreasing lambdas make
 * a path. The problem's arrays must outlive it. */
typedef struct vxs_solver vxs_solver;
VXS_MUST_CHECK vxs_status vxs_solver_new(const vxs_context *context, const vxs_method *method,
                                         const vxs_problem *problem,
                                         const vxs_method_settings *settings, vxs_solver **solver,
                                         vxs_error *err);
/* The smallest lambda at which the model is empty: no weights, or no differences on a graph. */
double vxs_solver_lambda_max(const vxs_solver *solver); /* NAN for paths in iterations */
/* True if the empty model is optimal at every point, or there is no solver. */
bool vxs_solver_is_empty(const vxs_solver *solver);
/* VXS_OK even if the tolerance is not met: see the certificate. lambda must be positive if
 * lambda_max is. VXS_BAD_DATA if the solution is not finite. */
VXS_MUST_CHECK vxs_status vxs_solver_fit(vxs_solver *solver, double lambda, vxs_solution *solution,
                                         vxs_error *err);
/* The same at a point of the path: lambda, iterations, the number of blocks to select, or C. */
VXS_MUST_CHECK vxs_status vxs_solver_fit_at(vxs_solver *solver, vxs_path_point point,
                                            vxs_solution *solution, vxs_error *err);
void vxs_solver_free(vxs_solver *solver);

#if defined(__GNUC__)
#pragma GCC visibility pop
#endif

#ifdef __cplusplus
}
#endif

#endif
