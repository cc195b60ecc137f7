/* task_settings.c - the options of a task: a row each. */
#include "model/model.h"

#include <math.h>

#define AT(member) offsetof(vxs_task_settings, member)

/* The losses that '--loss' names, behind auto. */
static const vxs_loss_kind *const chosen_losses[] = { NULL,
                                                      &vxs_squared_loss,
                                                      &vxs_logistic_loss,
                                                      &vxs_multinomial_loss,
                                                      &vxs_squared_hinge_loss,
                                                      &vxs_huber_loss,
                                                      &vxs_margin_loss,
                                                      &vxs_epsilon_loss,
                                                      &vxs_hinge_loss,
                                                      &vxs_measure_loss };
static const char *const losses[] = { "auto",          "squared", "logistic",    "multinomial",
                                      "squared-hinge", "huber",   "soft-margin", "epsilon",
                                      "hinge",         "measure", NULL };
static const char *const norms[] = { "none", "mean", "z", NULL };
static const char *const own_ways[] = { "itself", "left-out", NULL };
static const char *const multiclass[] = { "one-vs-rest", "one-vs-one", NULL };
static const char *const class_weights[] = { "auto", "none", "balanced", NULL };
static const char *const confound_ways[] = { "covariate", "regress", NULL };
static const char *const ways[] = { "none", "center", "unit", "auto", NULL };

const vxs_param vxs_task_params[] = {
    { .name = "target",
      .value = "COLUMN",
      .type = VXS_PARAM_TEXT,
      .offset = AT(target),
      .required = true,
      .head = VXS_HEAD_DATA,
      .help = "column to predict: a score, or a diagnosis" },
    VXS_TEXTS_ROW("only", "EXPR", AT(only), VXS_ONLY_HELP),
    VXS_TEXTS_ROW("exclude", "EXPR", AT(exclude), VXS_EXCLUDE_HELP),
    VXS_TEXT_ROW(
        "positive", "CLASS", AT(positive), "class that high scores favor; default the rarer class",
        .head = VXS_HEAD_DATA, .usual = true,
        .more = "Positive weights mean this class. Sensitivity, F1 and AUC are of this class. The "
                "rarer one is that with the smaller sum of --subject-weights; of equal ones the "
                "later in sorted order."),
    VXS_TEXT_ROW(
        "bags", "BAGS", AT(bags), "rows of equal COLUMN, or patches:MM, are one subject",
        .head = VXS_HEAD_DATA,
        .more = "Multiple instances (MILES), for method lasso: rows of equal COLUMN are "
                "instances of one subject, or a subject's cubes of edge MM mm on the mask's grid "
                "are (see --near, --patch-norm). A feature is an instance of "
                "a training subject, and its value the similarity exp(-D / (2 sigma^2)) "
                "of a subject with it, D the least squared distance of any of the "
                "subject's instances. Target, confounds and columns of folds must agree "
                "within a subject. Columns are centered, not scaled. See --bandwidth."),
    VXS_TEXT_ROW("near", "MM", AT(near), "of patches: compare those within MM; default all",
                 .head = VXS_HEAD_DATA,
                 .more = "Of registered images: a cube is compared with cubes whose centers are "
                         "within MM of its own. all: wherever they are."),
    VXS_CHOICE_ROW("patch-norm", "WAY", AT(patch_norm), 0, norms, "of patches",
                   .head = VXS_HEAD_DATA,
                   .more =
                       "mean: values of a cube without its mean; z: divided by its SD as well."),
    VXS_CHOICE_ROW("own", "WAY", AT(own_bag), 0, own_ways, "own instances", .head = VXS_HEAD_DATA,
                   .more = "How similar an instance is to its own subject. itself: 1, as printed. "
                           "left-out: as the other instances there are; of a "
                           "single instance 0. Which predicts better depends on the data."),
    VXS_TEXT_ROW("subject-weights", "COLUMN", AT(weights),
                 "column of case weights; 2 counts a subject twice", .head = VXS_HEAD_DATA,
                 .more = "Weights enter the loss, the calibration of probabilities and all that is "
                         "estimated from features: means, standard deviations, regressions on "
                         "confounds and correlations. They need not be whole; 0 leaves a subject "
                         "out of training. Class weights enter the loss alone. Scores of held-out "
                         "subjects count each once."),
    VXS_CHOICE_ROW("class-weights", "WAY", AT(class_weights), 0, class_weights,
                   "balanced, none, auto: if sizes differ", .head = VXS_HEAD_DATA,
                   .more = "auto: balanced if the largest class (sum of --subject-weights) "
                           "exceeds the smallest by more than 50 %, else none."),
    VXS_TEXT_ROW("confounds", "A,B", AT(confounds), "covariates: age,sex,site; see --confounds-as",
                 .head = VXS_HEAD_COVARIATES, .usual = true),
    VXS_CHOICE_ROW("confounds-as", "WAY", AT(confounds_as), 0, confound_ways,
                   "covariate: in the model, unpenalized; regress: regressed out of every voxel",
                   .head = VXS_HEAD_COVARIATES,
                   .more = "skfs, hsic-lasso, svm and mkl take regress alone."),
    VXS_TEXT_ROW("regress-on", "COLUMN=X", AT(regress_on),
                 "estimate the regression in these subjects alone", .head = VXS_HEAD_COVARIATES),
    VXS_CHOICE_ROW("method", "METHOD", AT(method), 0, vxs_method_names, "see 'voxsift methods'",
                   .head = VXS_HEAD_MODEL, .usual = true,
                   .more = "cv takes several, with commas between, and compares them."),
    VXS_CHOICE_ROW("loss", "LOSS", AT(loss), 0, losses, "loss", .head = VXS_HEAD_MODEL,
                   .more =
                       "squared for scores; huber for scores with outliers (lasso, graphnet); "
                       "logistic for classes, one against the rest; multinomial for all at "
                       "once (fused); squared-hinge for classes (lasso, graphnet, group-lasso, "
                       "fused, fgm); soft-margin for classes and epsilon for scores (svm, mkl); "
                       "hinge (skfs); measure (measure); hsic-lasso has squared, of kernels. auto: "
                       "scores for a "
                       "column of numbers, classes for text or two values, and the method's "
                       "own loss of these: squared and logistic, if it takes them. A loss "
                       "given says as well whether numbers are scores or classes."),
    VXS_CHOICE_ROW("multiclass", "WAY", AT(multiclass), VXS_ONE_VS_REST, multiclass,
                   "three and more classes: one-vs-one, each pair; default one-vs-rest",
                   .head = VXS_HEAD_MODEL,
                   .more = "one-vs-one fits each pair of classes on their own subjects: a pair has "
                           "its own weights, means, regression on confounds and balanced class "
                           "weights. It votes for one of its classes; the class with most votes is "
                           "predicted, and of several the one with the largest sum of margins. "
                           "Probabilities of classes come from calibrated ones of pairs, by "
                           "pairwise coupling (Wu, Lin and Weng 2004)."),
    VXS_REAL_ROW("huber-threshold", "X", AT(huber_threshold), 0, 0, 1e100,
                 "residual beyond which --loss huber is linear; 0, the default: 1.345 robust SD",
                 .head = VXS_HEAD_MODEL,
                 .more =
                     "In units of the target, whose robust SD is 1.4826 times the median absolute "
                     "deviation in training subjects."),
    VXS_TEXT_ROW(
        "graph", "GRAPH", AT(graph),
        "neighbors: grid6, grid18, grid26, regions, chain or a table; fused also tree, "
        "correlation:E, precision:E; default grid6, of fused tree",
        .head = VXS_HEAD_MODEL,
        .more = "tree (fused alone, its default): the minimum spanning tree of voxels that share "
                "a face, or of all pairs of other features, with edge lengths 1 - |correlation|. "
                "grid6, grid18, grid26: voxels that share a face, an edge, a corner; grid6 is the "
                "default of the others. regions: regions that touch. chain: features in their "
                "order. correlation:E and precision:E (fused alone): E edges per feature with the "
                "largest |correlation| or |partial correlation|. A table has the columns from, to "
                "and perhaps weight. Graphs that depend on the data are estimated in each "
                "training fold. For fused, components are linked where they are nearest."),
    VXS_PATH_ROW("penalty-factors", "FILE", AT(penalties),
                 "penalty of each feature: table, image or array", .head = VXS_HEAD_MODEL,
                 .more = "A table has the columns feature and penalty; features that it does not "
                         "name have 1. A feature is divided by its factor c: its l1 penalty is "
                         "multiplied by c, its ridge by c^2."),
    VXS_CHOICE_ROW(
        "standardize", "WAY", AT(standardize), VXS_STANDARDIZE_AUTO, ways,
        "unit: mean 0, SD 1; center: mean 0; none; auto: unit, for fused, svm and mkl center",
        .head = VXS_HEAD_MODEL,
        .more = "SD has divisor n. Penalties are on weights of standardized features; "
                "weights are written for features as they are."),
    VXS_FLAG_ROW("no-intercept", AT(no_intercept), "fit no intercept", .head = VXS_HEAD_MODEL),
    { .name = NULL },
};

const vxs_loss_kind *vxs_chosen_loss(const vxs_task_settings *settings)
{
    return chosen_losses[settings->loss];
}

bool vxs_takes_threshold(const vxs_task_settings *settings)
{
    return vxs_chosen_loss(settings) == &vxs_huber_loss;
}
