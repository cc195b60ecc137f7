/* solver.h - the interface of solvers; private to the solver room. */
#ifndef VXS_SOLVER_SOLVER_H
#define VXS_SOLVER_SOLVER_H

#include "voxsift/internal/solver.h"

#include <float.h>
#include <math.h>

typedef enum { VXS_ANY_SIGN, VXS_EITHER_SIGN, VXS_NONNEGATIVE } vxs_sign;
enum { VXS_MOST_TAKEN = 8 };
/* The problems an algorithm accepts; lists end with NULL unless full. */
typedef struct {
    const vxs_loss_kind *losses[VXS_MOST_TAKEN];
    const vxs_penalty_kind *penalties[VXS_MOST_TAKEN];
    const vxs_quadratic_kind *quadratics[VXS_MOST_TAKEN];
    vxs_sign weights; /* VXS_EITHER_SIGN: as the problem says; VXS_NONNEGATIVE: w >=
                       * 0 only */
    bool brought;     /* also user-defined losses */
} vxs_accepts;

typedef struct vxs_solver_kind {
    /* Accepted problems; settings may be NULL. */
    const vxs_accepts *(*accepts)(const vxs_method_settings *settings);
    /* Combinations that are refused; or NULL. */
    vxs_status (*check)(const vxs_problem *problem, const vxs_method_settings *settings,
                        vxs_error *err);
    vxs_status (*begin)(const vxs_context *context, const vxs_problem *problem,
                        const vxs_method_settings *settings, vxs_solver **solver, vxs_error *err);
    /* Paths in lambda: */
    double (*lambda_max)(const vxs_solver *solver);
    vxs_status (*fit)(vxs_solver *solver, double lambda, vxs_solution *solution, vxs_error *err);
    /* Paths in iterations or numbers of blocks; whether the empty model is optimal. */
    bool (*is_empty)(const vxs_solver *solver);
    vxs_status (*select)(vxs_solver *solver, vxs_path_point point, vxs_solution *solution,
                         vxs_error *err);
    void (*release)(vxs_solver *solver); /* and frees it */
} vxs_solver_kind;

/* The first member of every solver. */
struct vxs_solver {
    const vxs_solver_kind *kind;
    const vxs_method *method;            /* NULL for a solver inside another */
    size_t covariate_count;              /* coefficients in a solution, all classes */
    struct vxs_conditioned *conditioned; /* nearly collinear covariates; NULL: none */
};

/* certificate.c: start of a fit and columns read until then; the first fit includes
 * initialization. */
typedef struct {
    double began;
    uint64_t read;
} vxs_costs;
vxs_costs vxs_costs_begin(const vxs_design *design);
/* Passes and seconds since the start; the next fit starts here. */
void vxs_costs_take(vxs_costs *costs, const vxs_design *design, vxs_certificate *certificate);
/* (primal - dual) / empty; NaN if undefined. */
double vxs_relative_gap(double gap, double empty);
/* True unless the gap is negative beyond rounding. */
bool vxs_gap_bounds(double gap, double tol);
/* VXS_BAD_DATA, and releases the solution, if it or its dual value is not finite. */
VXS_MUST_CHECK vxs_status vxs_solution_check_finite(vxs_solution *solution, size_t covariate_count,
                                                    vxs_error *err);
extern const vxs_solver_kind vxs_lasso_kind, vxs_hsic_kind, vxs_fused_kind, vxs_skfs_kind,
    vxs_fgm_kind, vxs_mslr_kind, vxs_measure_method_kind, vxs_group_lasso_kind, vxs_svm_kind,
    vxs_mkl_kind;
/* The first method of the table that is solved so. */
const vxs_method *vxs_method_solved_by(const vxs_solver_kind *kind);
/* Solvers of the fused and the generalized lasso, chosen by fused.c. */
extern const vxs_solver_kind vxs_tree_kind, vxs_cut_pursuit_kind, vxs_bound_propagation_kind;
extern const vxs_param vxs_lasso_params[], vxs_fused_params[], vxs_skfs_params[], vxs_fgm_params[],
    vxs_mslr_params[], vxs_graphnet_params[], vxs_hsic_params[], vxs_group_lasso_params[],
    vxs_svm_params[], vxs_mkl_params[], vxs_measure_params[];
/* saiv.c: kernel machines have an intercept and no other covariates. */
vxs_status vxs_check_intercept_alone(const vxs_problem *problem,
                                     const vxs_method_settings *settings, vxs_error *err);

/* Unpenalized columns other than covariates (linalg/gram_schmidt.h): sums over components. */
#define VXS_INDEPENDENT 1e-10

/* Error bound of a sum of columns that is 0; after vxs_design_measure. */
double vxs_sum_rounding(const vxs_design *design);

/* ---- Options shared by methods --------------------------------------------------------------- */

#define VXS_AT(member) offsetof(vxs_method_settings, member)

/* A share below 1e-15 is rounding. */
#define VXS_TOL_ROW                                                                                \
    VXS_REAL_ROW("tol", "X", VXS_AT(tol), 1e-6, 1e-12, 0.1, "relative duality gap to reach",       \
                 .head = VXS_HEAD_HYPER, .more = "Relative to the objective of the empty model.")
#define VXS_LAMBDA_ROWS                                                                            \
    VXS_REAL_ROW("lambda", "X", VXS_AT(path.lambda), NAN, 0, 1e100,                                \
                 "penalty, larger selects fewer; for fit and path only", .head = VXS_HEAD_HYPER,   \
                 .more = "The loss is a sum over subjects: lambda is n times that of glmnet, n "   \
                         "times alpha of scikit-learn."),                                          \
        VXS_REAL_ROW(                                                                              \
            "lambda-ratio", "RATIO", VXS_AT(path.lambda_ratio), NAN, 1e-15, 10,                    \
            "smallest share of lambda_max to try, default 0.01; fit without --choose-lambda: its " \
            "lambda, default 0.1",                                                                 \
            .head = VXS_HEAD_HYPER, .usual = true,                                                 \
            .more = "The end of the path; in fit without --choose-lambda, and with --inner-folds " \
                    "0, the lambda of the model. lambda_max is the smallest lambda with an empty " \
                    "model: no feature "                                                           \
                    "selected, or one common weight (fused without --sparsity)."),                 \
        VXS_WHOLE_ROW("nlambda", "N", VXS_AT(path.nlambda), 100, 2, 10000,                         \
                      "number of values of lambda to fit", .head = VXS_HEAD_HYPER,                 \
                      .more = "A geometric sequence from lambda_max to --lambda-ratio of it."),    \
        VXS_TOL_ROW

extern const char *const vxs_screen_names[], *const vxs_inner_names[];

#define VXS_SCREEN_ROWS                                                                            \
    VXS_CHOICE_ROW("screen", "WAY", VXS_AT(saif.screen), 0, vxs_screen_names, "screening rule",    \
                   .head = VXS_HEAD_RESEARCH,                                                      \
                   .more = "none; dynamic: gap safe spheres; dpp: sequential, for squared loss "   \
                           "and squared hinge; "                                                   \
                           "strong: not safe, violations are counted and repaired; vi: "           \
                           "sequential, by a variational inequality, for squared loss and "        \
                           "squared hinge."),                                                      \
        VXS_CHOICE_ROW("subproblem", "WAY", VXS_AT(saif.inner), 0, vxs_inner_names,                \
                       "solver on the working set", .head = VXS_HEAD_RESEARCH,                     \
                       .more = "exact: active-set and Newton steps with a Cholesky factor; "       \
                               "descent: coordinate descent.")

#define VXS_GROUPS_ROW                                                                             \
    VXS_TEXT_ROW("groups", "GROUPS", VXS_AT(blocks.groups),                                        \
                 "select groups of features: atlas:NAME, file:TABLE, patches:MM, tree:octree "     \
                 "or tree:TABLE",                                                                  \
                 .head = VXS_HEAD_MODEL, .usual = true,                                            \
                 .more = "atlas: its regions; file: columns group and feature; patches: a "        \
                         "sphere around every voxel, which overlap; tree:octree: cells of "        \
                         "the grid, halved down to voxels; tree:TABLE: columns feature and "       \
                         "path, such as brain/left/frontal.")

/* Of kernel machines. */
#define VXS_COSTS_ROW                                                                              \
    VXS_TEXT_ROW("C", "LIST", VXS_AT(svm.costs),                                                   \
                 "weight of the loss; folds choose from a list, default 13 values from 0.001 to "  \
                 "1000; default without folds 1",                                                  \
                 .head = VXS_HEAD_HYPER, .usual = true,                                            \
                 .more = "The objective is |w|^2 / 2 + C sum of losses; larger fits training "     \
                         "subjects more closely. As kernels have no unit, one list "               \
                         "suits all data; for scores C is in standard deviations of the target.")
#define VXS_EPSILON_ROW                                                                            \
    VXS_REAL_ROW("epsilon", "E", VXS_AT(svm.epsilon), 0.1, 1e-6, 100,                              \
                 "of scores: residuals up to E standard deviations of the target cost nothing",    \
                 .head = VXS_HEAD_HYPER)

#define VXS_BAG_WIDTHS_ROW                                                                         \
    VXS_TEXT_ROW("bandwidth", "LIST", VXS_AT(bags.widths),                                         \
                 "of --bags: sigma^2, in medians of squared distances", .head = VXS_HEAD_HYPER,    \
                 .more = "The median is that of D between training subjects and instances of "     \
                         "others. Folds choose from a list, default 0.1,0.25,0.5,1; default "      \
                         "without folds 0.25.")

#define VXS_KERNEL_WIDTH_ROW                                                                       \
    VXS_TEXT_ROW("bandwidth", "WIDTH", VXS_AT(kernels.bandwidth),                                  \
                 "width of the Gaussian kernel in standard deviations of a voxel, or median; "     \
                 "default 1",                                                                      \
                 .head = VXS_HEAD_HYPER,                                                           \
                 .more =                                                                           \
                     "median: the median distance between two subjects, for each voxel; of an "    \
                     "even number of distances the lower of the middle two.")

#endif
