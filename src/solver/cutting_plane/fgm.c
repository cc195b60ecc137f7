/* fgm.c - methods fgm and mslr: options, and the solver of the restricted problem. */
#include "solver/cutting_plane/cutting_plane.h"

static const char *const ways[] = { "proximal-gradient", "coordinate-descent", NULL };
static const char *const maps[] = { "none", "poly2", "gauss", "hik", NULL };

#define COST_ROW                                                                                   \
    VXS_REAL_ROW(                                                                                  \
        "C", "X", VXS_AT(blocks.cost), 10, 1e-9, 1e12,                                             \
        "what errors on training subjects cost beside the size of weights: larger ones fit "       \
        "these more closely")
#define BUDGET_ROW(before)                                                                         \
    VXS_WHOLE_ROW(                                                                                 \
        "per-iteration", "N", VXS_AT(blocks.budget), (before), 1, 1e6,                             \
        "how many features (or groups, pairs) a round adds, and over how many the weights "        \
        "are to spread: small ones choose with care, large ones need fewer rounds")
#define COMMON_ROWS                                                                                \
    VXS_WHOLE_ROW(                                                                                 \
        "iterations", "N", VXS_AT(path.rounds), 10, 1, 100000,                                     \
        "rounds at most, unless --nselect says how many are wanted; a path has a point for "       \
        "each, and folds choose among them"),                                                      \
        VXS_TEXT_ROW(                                                                              \
            "nselect", "LIST", VXS_AT(path.numbers),                                               \
            "how many features (or groups, pairs) are wanted: exactly so many are selected, "      \
            "unless fewer already close the gap; several with commas between for a path, or "      \
            "where folds choose"),                                                                 \
        VXS_REAL_ROW(                                                                              \
            "tol", "X", VXS_AT(tol), 1e-6, 1e-12, 0.1,                                             \
            "duality gap over everything that could be selected, as a share of the loss of "       \
            "the empty model, at which rounds end before T or --nselect"),                         \
        VXS_REAL_ROW("min-improvement", "X", VXS_AT(blocks.change), 0, 0, 1,                       \
                     "end when a round lowers the value by no more than this share of the empty "  \
                     "model's; 0: never"),                                                         \
        VXS_TEXT_ROW(                                                                              \
            "groups", "GROUPS", VXS_AT(blocks.groups),                                             \
            "select groups of features: atlas:A (its regions), file:TABLE (columns group and "     \
            "feature), patches:MM (a sphere around every voxel, which overlap), "                  \
            "tree:octree (cells of the grid, halved down to voxels) or tree:TABLE (columns "       \
            "feature and path, as brain/left/frontal)"),                                           \
        VXS_FLAG_ROW(                                                                              \
            "by-size", VXS_AT(blocks.by_size),                                                     \
            "divide features by the square root of their group's size, so that large groups "      \
            "are not ahead for being large"),                                                      \
        VXS_CHOICE_ROW(                                                                            \
            "feature-map", "MAP", VXS_AT(blocks.map), 0, maps,                                     \
            "what features become before they are selected: poly2 (themselves, squares, "          \
            "and products of all pairs), gauss (11 waves each, which act as a Gaussian "           \
            "kernel), hik (100 steps each: histogram intersection); none of it is stored but "     \
            "what is selected")
#define MAP_ROWS                                                                                   \
    VXS_REAL_ROW("gamma", "G", VXS_AT(blocks.gamma), 1, 1e-9, 1e9,                                 \
                 "of --feature-map poly2, which acts as the kernel (G x'z + R)^2"),                \
        VXS_REAL_ROW("coef0", "R", VXS_AT(blocks.constant), 1, 0, 1e9,                             \
                     "of --feature-map poly2: R of that kernel; 0: no features by themselves"),    \
        VXS_TEXT_ROW("bandwidth", "WIDTH", VXS_AT(blocks.bandwidth),                               \
                     "of --feature-map gauss: standard deviation of the kernel, in standard "      \
                     "deviations of a "                                                            \
                     "feature; without it 1")

#define INNER_ROW                                                                                  \
    VXS_REAL_ROW("subproblem-tol", "X", VXS_AT(blocks.inner_tol), 1e-3, 1e-12, 0.1,                \
                 "gap to which each round's problem is solved, over what was selected so far; "    \
                 "smaller ones (1e-6: exact) take longer and select nearly the same")
#define DEBIAS_ROW(before, words)                                                                  \
    VXS_REAL_ROW("refit", "C", VXS_AT(blocks.debias), (before), 0, 1e12, (words))

const vxs_param vxs_fgm_params[] = {
    COST_ROW,
    BUDGET_ROW(10),
    COMMON_ROWS,
    MAP_ROWS,
    INNER_ROW,
    DEBIAS_ROW(0, "learn the weights of what was selected anew with this C and no other penalty "
                  "than |w|^2 / 2; 0: keep those that selected"),
    { .name = NULL },
};

const vxs_param vxs_mslr_params[] = {
    COST_ROW,
    BUDGET_ROW(10),
    COMMON_ROWS,
    MAP_ROWS,
    VXS_CHOICE_ROW(
        "solver", "WAY", VXS_AT(blocks.solver), 0, ways,
        "of each round's problem: gradients, as method fgm; descent: coordinate descent on the "
        "smoothed dual, the slow one of the paper, to be compared with"),
    INNER_ROW,
    DEBIAS_ROW(5, "C of the logistic regression that learns the weights of what was selected anew, "
                  "with intercept and confounds; 0: none, and no intercept"),
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
    static const vxs_accepts all = { .losses = { &vxs_squared_hinge_loss, &vxs_logistic_loss },
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
