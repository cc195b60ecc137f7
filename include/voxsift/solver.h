/* voxsift/solver.h - the prediction methods: problems, answers with certificates, and a table. */
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
#pragma GCC visibility push(default) /* what follows is the library's, and nothing else is */
#endif

/* ---- Problems and answers -------------------------------------------------------------------- */

/* minimise  sum_i u_i f(x_i'w + c_i'b, y_i) + lambda Omega(w) + Q(w)  over w and b */
typedef struct {
    vxs_design *design;
    vxs_loss loss; /* of as many samples as the design has rows. With several predictions k a
                      sample, each class has weights of its own, those of class c being c p ... c p
                      + p - 1 of a solution, and b likewise */
    const vxs_penalty *penalty; /* Omega; NULL: l1 */
    vxs_quadratic quadratic;    /* Q */
    const double *covariates;   /* the columns c that are not penalised, n x covariate_count: a
                                   column of ones for an intercept, age, sex */
    size_t covariate_count;
    bool nonnegative; /* w >= 0 */
} vxs_problem;

/* What screening did for a fit, with `terms` terms that are penalised; 0 of these: nothing. */
typedef struct {
    size_t terms;
    size_t before;              /* known to be 0 before the solver began */
    size_t after;               /* when it ended: those found between its iterations as well */
    double screening, solving;  /* seconds */
    bool compared;              /* with a fit without screening, of which are: */
    double without, difference; /* seconds; how much larger its primal value is */
} vxs_screening;

/* What is known of an answer. The gap bounds how far the primal value is above the least one, over
 * all columns, as a share of the primal value of the empty model. */
typedef struct {
    double lambda, lambda_max;
    double primal, dual, gap, tol;
    double empty; /* value of the empty model; known to the checker alone */
    bool converged;
    size_t nonzero;
    size_t pieces;       /* of equal weight that is not 0, along the edges of a graph */
    double smooth;       /* that of the problem */
    size_t unidentified; /* directions without penalty that the data does not tell from covariates
                            and rounding: the weights have no part along them */
    size_t missed;       /* features that an unsafe screening rule had thrown away */
    size_t iterations;   /* of the outer loop */
    double passes;       /* columns read / p; the first fit counts what came before it as well */
    double seconds;      /* likewise */
    vxs_screening screening;
} vxs_certificate;

/* What a dual value rests on that the answer does not tell: with the hinge, or with terms. */
typedef struct {
    double *alpha; /* n, between 0 and u */
    size_t count;
    size_t *index; /* weights before they were rounded to 0 */
    double *weight;
    size_t terms;  /* those of the problem, for each class */
    double *theta; /* n for each class: -f' / lambda, or near it, with C'theta = 0 and */
    double *u;     /* of the terms, X'theta = D'u and |u| <= 1 */
} vxs_bound;

/* What was selected among units. */
typedef struct {
    vxs_feature_map map;
    size_t count;
    size_t *unit;      /* ascending */
    size_t *start;     /* count + 1: weights of unit[k] begin at start[k] */
    double *weight;    /* of their columns: the answer that the certificate is of */
    double *free;      /* its b */
    double *retrained; /* weights of the same columns learned anew, |w|^2 / 2 + debias sum u f; or
                          NULL */
    size_t alpha_count;
    double *alpha; /* of samples: what the bound rests on, if it does not follow from
                      predictions; or NULL */
    uint64_t rounds, visited, pruned;
    double restricted; /* gap of the problem on what was generated */
    double refit;      /* likewise of weights that were learned anew */
} vxs_selected;

typedef struct {
    size_t count;
    size_t *index;    /* columns with a weight, ascending; with a map that is not linear: features
                         that selected units are made of */
    double *weight;   /* theirs; with such a map the size of what they are in: sqrt of the sum of
                         squares of weights */
    double *free;     /* b */
    vxs_bound *bound; /* or NULL */
    vxs_selected *selected; /* among units, or NULL; if retrained, weight and free are of that */
    vxs_certificate certificate;
} vxs_solution;
void vxs_solution_release(vxs_solution *solution);

/* ---- Methods --------------------------------------------------------------------------------- */

enum { VXS_SCREEN_SAIF, VXS_SCREEN_NONE, VXS_SCREEN_DYNAMIC, VXS_SCREEN_DPP, VXS_SCREEN_STRONG };
enum { VXS_SOLVER_EXACT, VXS_SOLVER_DUAL_AVERAGE };
enum { VXS_SOLVER_GRADIENTS, VXS_SOLVER_DESCENT };
enum { VXS_FUSED_AUTO, VXS_FUSED_SAIF, VXS_FUSED_CUTS, VXS_FUSED_BP };
enum { VXS_INNER_AUTO, VXS_INNER_EXACT, VXS_INNER_DESCENT };

/* What a path of fits goes by: the weight of the penalty, rounds, or how many units are selected.
 */
typedef enum { VXS_BY_LAMBDA, VXS_BY_ROUNDS, VXS_BY_NUMBER } vxs_path_kind;
typedef struct {
    vxs_path_kind by;
    double value;
} vxs_path_point;

/* Which fits: one, or those of a path; of the driver, no solver reads it. */
typedef struct {
    double lambda, lambda_ratio; /* NAN: not given */
    int64_t nlambda;
    int64_t rounds;
    const char *numbers; /* of units, with commas between; NULL: by rounds */
    const char *smooths; /* weights of a relative Laplacian, likewise */
    /* What folds chose: a share of lambda_max, rounds or a number; and a weight of the Laplacian.
     */
    bool chosen;
    double point, smooth;
} vxs_path_settings;

typedef struct {
    int screen, inner;
} vxs_saif_settings;

typedef struct {
    double ridge, laplacian;
    bool nonnegative;
} vxs_l1_settings;

typedef struct {
    int solver;
    double sparsity;
    const char *penalty; /* if not the edges of a graph */
    bool compare;        /* solves without screening as well */
    bool untransformed;  /* screens without adding columns up */
} vxs_fused_settings;

typedef struct {
    int solver;
    const char *bandwidth;      /* a number or "median" */
    int64_t steps, sample_seed; /* of dual averages, as is */
    double gamma;
} vxs_kernel_settings;

typedef struct {
    int solver;
    double cost;      /* C */
    int64_t budget;   /* B, or r */
    double inner_tol; /* gap of the problem on what was generated so far */
    double change;    /* stops when the value falls by less, as a share */
    double debias;    /* C of learning weights anew; 0: not */
    const char *groups;
    bool by_size; /* columns of groups over the square root of their number */
    int map;
    double gamma, constant; /* of poly2 */
    const char *bandwidth;  /* of gauss: a number */
} vxs_block_settings;

/* What methods have options for; each has rows for what it takes, and the rest is 0. */
typedef struct {
    vxs_path_settings path;
    double tol; /* relative gap */
    vxs_saif_settings saif;
    vxs_l1_settings l1;
    vxs_fused_settings fused;
    vxs_kernel_settings kernels;
    vxs_block_settings blocks;
} vxs_method_settings;

typedef enum { VXS_GRAPH_NONE, VXS_GRAPH_OPTIONAL, VXS_GRAPH_NEEDED } vxs_graph_use;

/* One row a method; everything that lists methods is a loop over vxs_methods, which ends with
 * name == NULL. */
typedef struct {
    const char *name;
    const char *summary;                /* a phrase, without full stop */
    const char *source;                 /* paper and section */
    const vxs_param *params;            /* into vxs_method_settings; ends with name == NULL */
    vxs_graph_use graph;                /* of features */
    vxs_path_kind path;                 /* VXS_BY_ROUNDS: round by round, or by number */
    vxs_standardize standardize;        /* what suits it when nothing is said */
    bool classes_only;                  /* takes no scores as a target */
    const struct vxs_solver_kind *kind; /* private to the solver room */
} vxs_method;
enum {
    VXS_METHOD_LASSO,
    VXS_METHOD_GRAPHNET,
    VXS_METHOD_FUSED,
    VXS_METHOD_SKFS,
    VXS_METHOD_HSIC,
    VXS_METHOD_FGM,
    VXS_METHOD_MSLR,
    VXS_METHODS /* how many */
};
extern const vxs_method vxs_methods[];

/* Whether a problem can be solved by a method with these settings, in one sentence: VXS_MISUSE for
 * parts, shapes, penalties and settings, VXS_BAD_DATA for values of y, weights, covariates, graph
 * and terms. Every solver and the checker begin with it. The method and the settings may be NULL:
 * then the problem is looked at alone. */
VXS_MUST_CHECK vxs_status vxs_problem_check(const vxs_problem *problem, const vxs_method *method,
                                            const vxs_method_settings *settings, vxs_error *err);

/* Its value at weights w of all columns and b of the covariates, for each class one after the
 * other; with a budget of units or a relative Laplacian it has none that is this sum: VXS_MISUSE.
 */
VXS_MUST_CHECK vxs_status vxs_problem_value(const vxs_problem *problem, double lambda,
                                            const double *w, const double *b, double *value,
                                            vxs_error *err);

/* A problem being solved by a method; fits begin where the last one ended, so that lambdas in
 * falling order make a path. What the problem points to must stay. */
typedef struct vxs_solver vxs_solver;
VXS_MUST_CHECK vxs_status vxs_solver_new(const vxs_context *context, const vxs_method *method,
                                         const vxs_problem *problem,
                                         const vxs_method_settings *settings, vxs_solver **solver,
                                         vxs_error *err);
/* The smallest lambda at which the model is empty: no weights, or no differences on a graph. */
double vxs_solver_lambda_max(const vxs_solver *solver); /* NAN where it goes by rounds */
/* Whether the empty model is the answer everywhere. */
bool vxs_solver_is_empty(const vxs_solver *solver);
/* VXS_OK even when the tolerance was not met: that is in the certificate. lambda must be above 0
 * where lambda_max is. A solution without a finite value is VXS_BAD_DATA. */
VXS_MUST_CHECK vxs_status vxs_solver_fit(vxs_solver *solver, double lambda, vxs_solution *solution,
                                         vxs_error *err);
/* The same by what the method goes by: lambda; or rounds, or how many units are to be selected. */
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
