/* fgm.c - methods fgm and mslr: options, and the solver of the restricted problem. */
#include "solver/cutting_plane/cutting_plane.h"

static const char *const ways[] = { "proximal-gradient", "coordinate-descent", NULL };
static const char *const maps[] = { "none", "poly2", "gauss", "hik", NULL };

#define COMMON_ROWS                                                                                \
    VXS_TEXT_ROW("nselect", "LIST", VXS_AT(path.numbers),                                          \
                 "number to select; of a list (5,10,20) folds choose", .head = VXS_HEAD_HYPER,     \
                 .usual = true,                                                                    \
                 .more = "Features, or groups or pairs. Fewer are selected where they already "    \
                         "reach --tol. A path has a point "                                        \
                         "for each value."),                                                       \
        VXS_WHOLE_ROW("per-iteration", "N", VXS_AT(blocks.budget), 10, 1, 1e6,                     \
                      "how many to add in each iteration", .head = VXS_HEAD_HYPER, .usual = true), \
        VXS_WHOLE_ROW("iterations", "N", VXS_AT(path.iterations), 10, 1, 100000,                   \
                      "most iterations, without --nselect", .head = VXS_HEAD_HYPER),               \
        VXS_REAL_ROW("C", "X", VXS_AT(blocks.cost), 10, 1e-9, 1e12,                                \
                     "weight of the loss; larger fits closer", .head = VXS_HEAD_HYPER,             \
                     .more = "The objective is |w|^2 / 2 + C sum of losses; larger fits training " \
                             "subjects more closely."),                                            \
        VXS_TOL_ROW,                                                                               \
        VXS_REAL_ROW("min-improvement", "X", VXS_AT(blocks.change), 0, 0, 1,                       \
                     "stop below this relative gain; default 0: never", .head = VXS_HEAD_HYPER,    \
                     .more = "As a fraction of the objective of the empty model."),                \
        VXS_GROUPS_ROW,                                                                            \
        VXS_FLAG_ROW("by-size", VXS_AT(blocks.by_size), "scale features by 1 / sqrt(group size)",  \
                     .head = VXS_HEAD_MODEL),                                                      \
        VXS_CHOICE_ROW("feature-map", "MAP", VXS_AT(blocks.map), 0, maps,                          \
                       "none; poly2: with products of pairs; gauss, hik: curves of each feature",  \
                       .head = VXS_HEAD_MODEL,                                                     \
                       .more =                                                                     \
                           "poly2: features, their squares, and products of all pairs; gauss: "    \
                           "11 Fourier features each; hik: 100 indicator features each. Only "     \
                           "what is selected is stored."),                                         \
        VXS_REAL_ROW("gamma", "G", VXS_AT(blocks.gamma), 1, 1e-9, 1e9,                             \
                     "G of the kernel (G x'z + R)^2 of poly2", .head = VXS_HEAD_HYPER),            \
        VXS_REAL_ROW("coef0", "R", VXS_AT(blocks.constant), 1, 0, 1e9,                             \
                     "R of the kernel (G x'z + R)^2 of poly2", .head = VXS_HEAD_HYPER),            \
        VXS_TEXT_ROW("bandwidth", "WIDTH", VXS_AT(blocks.bandwidth),                               \
                     "width of the kernel of gauss, in SD; default 1", .head = VXS_HEAD_HYPER)

#define SUBPROBLEM_ROW                                                                             \
    VXS_REAL_ROW("subproblem-tol", "X", VXS_AT(blocks.inner_tol), 1e-3, 1e-12, 0.1,                \
                 "relative gap of each subproblem", .head = VXS_HEAD_RESEARCH,                     \
                 .more = "Smaller values (1e-6) take longer and select nearly the same.")
#define REFIT_ROW(before, ...)                                                                     \
    VXS_REAL_ROW("refit", "C", VXS_AT(blocks.debias), (before), 0, 1e12, __VA_ARGS__,              \
                 .head = VXS_HEAD_HYPER)

const vxs_param vxs_fgm_params[] = {
    COMMON_ROWS,
    REFIT_ROW(0, "C of a refit without the selecting penalty; 0: none"),
    SUBPROBLEM_ROW,
    { .name = NULL },
};

const vxs_param vxs_mslr_params[] = {
    COMMON_ROWS,
    REFIT_ROW(5, "C of the logistic refit; 0: no refit"),
    SUBPROBLEM_ROW,
    VXS_CHOICE_ROW("solver", "WAY", VXS_AT(blocks.solver), 0, ways, "algorithm",
                   .head = VXS_HEAD_RESEARCH),
    { .name = NULL },
};

const vxs_param vxs_measure_params[] = {
    VXS_TEXT_ROW("measure", "MEASURE", VXS_AT(blocks.measure),
                 "error, balanced, f1, fbeta:X, gmean, top:K, breakeven or roc; class weights "
                 "(balanced) do as well as f1",
                 .head = VXS_HEAD_MODEL, .usual = true,
                 .more = "Of the class of --positive. error, balanced, f1, fbeta:X (X as in F2), "
                         "gmean: sensitivity and specificity; top:K: hits among the K that rank "
                         "first, K a number, a share (10%) or times the positives (2p); breakeven: "
                         "top:1p; roc: the area under the curve. No default."),
    COMMON_ROWS,
    REFIT_ROW(0, "C of a refit without the selecting penalty; 0: none"),
    SUBPROBLEM_ROW,
    { .name = NULL },
};

static vxs_status begin_fgm(const vxs_context *context, const vxs_problem *problem,
                            const vxs_method_settings *settings, vxs_solver **solver,
                            vxs_error *err)
{
    return vxs_cutting_plane_begin(context, problem, settings, &vxs_fgm_kind,
                                   vxs_proximal_gradient_solve, solver, err);
}

static vxs_status begin_mslr(const vxs_context *context, const vxs_problem *problem,
                             const vxs_method_settings *settings, vxs_solver **solver,
                             vxs_error *err)
{
    bool descent = settings->blocks.solver == VXS_SOLVER_DESCENT;
    return vxs_cutting_plane_begin(context, problem, settings, &vxs_mslr_kind,
                                   descent ? vxs_smoothing_solve : vxs_proximal_gradient_solve,
                                   solver, err);
}

static const vxs_accepts *accepts_fgm(const vxs_method_settings *settings)
{
    static const vxs_accepts all = { .losses = { &vxs_squared_hinge_loss, &vxs_logistic_loss,
                                                 &vxs_squared_loss },
                                     .penalties = { &vxs_budget_penalty } };
    (void)settings;
    return &all;
}

static const vxs_accepts *accepts_mslr(const vxs_method_settings *settings)
{
    static const vxs_accepts all = { .losses = { &vxs_logistic_loss },
                                     .penalties = { &vxs_budget_penalty } };
    (void)settings;
    return &all;
}

const vxs_solver_kind vxs_fgm_kind = {
    .accepts = accepts_fgm,
    .begin = begin_fgm,
    .is_empty = vxs_cutting_plane_is_empty,
    .select = vxs_cutting_plane_fit,
    .release = vxs_cutting_plane_release,
};

const vxs_solver_kind vxs_mslr_kind = {
    .accepts = accepts_mslr,
    .begin = begin_mslr,
    .is_empty = vxs_cutting_plane_is_empty,
    .select = vxs_cutting_plane_fit,
    .release = vxs_cutting_plane_release,
};
