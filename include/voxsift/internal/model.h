/* voxsift/internal/model.h - tasks, models and the evaluation of predictions; for the library's
 * rooms and the command line, not installed. */
#ifndef VOXSIFT_INTERNAL_MODEL_H
#define VOXSIFT_INTERNAL_MODEL_H

#include "voxsift/internal/cohort.h"
#include "voxsift/internal/solver.h"
#include "voxsift/model.h"

#ifdef __cplusplus
extern "C" {
#endif

/* The least gap at which fits of inner folds stop where a path of lambda is chosen from. */
#define VXS_INNER_TOL 1e-5

/* ---- The task: what is to be predicted from what --------------------------------------------- */

/* similarities.c: opens a cohort for tasks with these settings, which may make bags of rows. */
VXS_MUST_CHECK vxs_status vxs_cohort_open_for(const char *path, const vxs_task_settings *settings,
                                              vxs_cohort *cohort, vxs_error *err);
/* The loss chosen by '--loss'; NULL: auto. */
const vxs_loss_kind *vxs_chosen_loss(const vxs_task_settings *settings);
bool vxs_takes_threshold(
    const vxs_task_settings *settings); /* true if the chosen loss has a threshold */

/* An unseen level of a categorical covariate (no training subject has it), and which of n subjects
 * have it. They are predicted with the training subjects' mean of the covariate's columns. Texts
 * belong to a table. */
typedef struct {
    const char *covariate, *level;
    bool *who;
    size_t count;
} vxs_unseen;
typedef struct {
    size_t n;
    vxs_unseen *each;
    size_t count;
} vxs_unseen_list;
typedef const char *vxs_id_of(const void *of, size_t i); /* id of subject i */
void vxs_unseen_release(vxs_unseen_list *list);
void vxs_unseen_warn(const vxs_context *context, const vxs_unseen_list *list, vxs_id_of *id,
                     const void *of);
void vxs_unseen_json(vxs_json_writer *writer, const vxs_unseen_list *list, vxs_id_of *id,
                     const void *of);
/* Weight of subject i, and the sum over all subjects. */
double vxs_task_weight(const vxs_task *task, size_t i);
double vxs_task_total(const vxs_task *task);
/* Number of scores of a subject, as vxs_model_score_count. */
size_t vxs_task_score_count(const vxs_task *task);
/* one_vs_one.c: true if each output is a pair of classes, and of the subjects of these alone. */
bool vxs_task_has_pairs(const vxs_task *task);
bool vxs_model_has_pairs(const vxs_model *model);
/* Name of an output: the class, the target, or "AD against CN"; the text may be used for it. */
#define VXS_OUTPUT_TEXT 1024
const char *vxs_task_output_name(const vxs_task *task, size_t output, char text[VXS_OUTPUT_TEXT]);
/* Number of problems: one for each output, or one joint problem with the multinomial loss. */
size_t vxs_task_problems(const vxs_task *task);
/* The method of the task. */
const vxs_method *vxs_task_method(const vxs_task *task);
/* Name of the minimized loss; `loss` only distinguishes scores (squared) from classes. */
const char *vxs_loss_name(const vxs_task_settings *task, const vxs_method_settings *method,
                          const vxs_loss_kind *loss);
/* True if class scores are log odds before calibration. */
/* Class weights enter the loss of the model, not of baselines alone. */
bool vxs_task_weighs_classes(const vxs_task *task);
bool vxs_task_has_logits(const vxs_task *task);
/* Id of subject i in the table; the second one is a vxs_id_of. */
const char *vxs_task_id(const vxs_task *task, size_t i);
const char *vxs_task_id_of(const void *task, size_t i);
/* The task's number of this row of the cohort; SIZE_MAX: it has no part. */
size_t vxs_task_find(const vxs_task *task, size_t row);

/* Makes what the fits on all parts of a task have in common, such as groups from a table, if the
 * task does not have it yet: a table that changes during a run is not read again. */
VXS_MUST_CHECK vxs_status vxs_task_share(const vxs_context *context, vxs_task *task,
                                         const vxs_method_settings *settings, vxs_error *err);
/* Releases what a copy of a task made so, unless the task has it. */
void vxs_task_unshare(vxs_task *copy, const vxs_task *task);

/* ---- Models ---------------------------------------------------------------------------------- */

void vxs_selection_release(vxs_selection *selection);
/* Gives the settings what was chosen. */
void vxs_selection_take(const vxs_task *task, const vxs_selection *selection,
                        vxs_method_settings *settings);
/* " and gamma 0.5" of a second hyperparameter that was chosen from several; else "". */
#define VXS_AXIS_TEXT 64
const char *vxs_axis_chosen(const vxs_selection *selection, char text[VXS_AXIS_TEXT]);
/* Noun for `count` selected feature blocks of a model: "features", "group". */
const char *vxs_block_name(const vxs_model *model, size_t count);
/* Unit of the chosen hyperparameter value: "of lambda_max", "iterations", "selected". */
const char *vxs_point_words(const vxs_selection *selection);
/* Name of the tuned hyperparameter: "lambda", "iterations", "the number to select". */
const char *vxs_chosen_words(const vxs_tuning_grid *tuning);
/* " and gamma" where several values of a second hyperparameter are tried; else "". */
const char *vxs_also_words(const vxs_tuning_grid *tuning);
/* Warns if unpenalized directions are unidentified, and explains the consequence. */
void vxs_warn_unidentified(const vxs_context *context, size_t unidentified);
/* Writes the keys common to all fits into an open JSON object. */
void vxs_fit_json(vxs_json_writer *writer, const vxs_task_settings *task,
                  const vxs_method_settings *method, const vxs_loss_kind *loss,
                  const vxs_solution *fit);
/* True if model and cohort record SHA-256 hashes of the same feature files, so that check-model
 * verifies the data of the fit. */
bool vxs_model_features_recorded(const vxs_model *model, const vxs_cohort *cohort);
/* Verifies the model's files against its hashes; `sealed` is false if the model has none. */
VXS_MUST_CHECK vxs_status vxs_model_check_files(const vxs_model *model, bool *sealed,
                                                vxs_error *err);

/* ---- Predictions ----------------------------------------------------------------------------- */

/* predict.c: scores as vxs_model_scores has them, and, of a model of pairs of classes, calibrated
 * probabilities, classes x n, unless that is NULL. */
VXS_MUST_CHECK vxs_status vxs_model_predict(const vxs_model *model, const vxs_cohort *cohort,
                                            double *scores, double *probabilities, vxs_error *err);
/* explain.c: writes a directory with the parts of each subject's instances in its score, as a table
 * and, of cubes, as maps; for models of bags. */
VXS_MUST_CHECK vxs_status vxs_model_explain(const vxs_context *context, const vxs_model *model,
                                            const vxs_cohort *cohort, const char *directory,
                                            bool replace, vxs_error *err);
/* The method's kernel is given: no feature has a weight. */
bool vxs_reads_no_feature(const vxs_task_settings *task, const vxs_method_settings *method);
/* The method takes covariates by '--confounds-as regress' alone. */
bool vxs_takes_no_covariates(const vxs_method *method);
/* Gives a model of a precomputed kernel the values of a cohort's subjects with its training
 * subjects; path NULL: none was given, which is an error if the model needs them. */
VXS_MUST_CHECK vxs_status vxs_model_give_kernel(const vxs_model *model, const vxs_cohort *cohort,
                                                const char *path, vxs_error *err);
/* Lists subjects with unseen levels; the list is released by the caller, also after an error. */
VXS_MUST_CHECK vxs_status vxs_model_unseen(const vxs_model *model, const vxs_cohort *cohort,
                                           vxs_unseen_list *list, vxs_error *err);
/* The first column required by the model in which subject i has no value, or NULL. */
const char *vxs_model_lacks(const vxs_model *model, const vxs_cohort *cohort, size_t i);

/* For each subject 0, or, if its features lie far outside what training saw, how many times as far
 * as any training subject's: the sum over features of |weight| |value| is compared. */
VXS_MUST_CHECK vxs_status vxs_model_far(const vxs_model *model, const vxs_cohort *cohort,
                                        double *times, vxs_error *err);

/* Overlap of a subject with the training subjects: the same image (or volume of one), or the same
 * id or person with another image, or with no image to compare. Scores of such subjects do not
 * estimate performance. */
typedef enum {
    VXS_NOT_TRAINED_ON,
    VXS_TRAINED_ON_IMAGE,
    VXS_TRAINED_ON_PERSON,
    VXS_PERHAPS_TRAINED_ON /* the id looks like another scan of a training person */
} vxs_trained;
extern const char *const vxs_trained_names[]; /* "no", "image", "person", "perhaps" */
/* Sets the overlap of each subject of the cohort. */
VXS_MUST_CHECK vxs_status vxs_model_trained_on(const vxs_model *model, const vxs_cohort *cohort,
                                               vxs_trained *trained, vxs_error *err);
/* The same of one person with an image of this SHA-256. */
VXS_MUST_CHECK vxs_status vxs_model_trained_on_image(const vxs_model *model, const char *person,
                                                     const char *hash, vxs_trained *trained,
                                                     vxs_error *err);
/* Predictions of scores, or of classes by one score each (two classes share one). If the
 * predictions come from several models, one a fold, then r, the area under the curve and the
 * measures of the classes compare subjects within a fold only: offsets differ between the models.
 */
typedef struct {
    size_t n, class_count;             /* subjects; classes, 0 for scores */
    const struct vxs_metric_row *only; /* the one metric that vxs_measure computes; NULL: all */
    const size_t *fold;                /* n: fold of each subject; NULL: one fold */
    size_t fold_count;                 /* fold < fold_count */
    const double
        *aligned; /* outputs x n: scores aligned across folds, for comparisons; NULL: the scores */
    const double *truth;          /* n: true score or class number; NAN if unknown */
    const double *scores;         /* outputs x n; NAN if missing */
    const double *probabilities;  /* classes x n; NULL: computed from the scores */
    const double *slope, *offset; /* calibration of each output; NULL: 1 and 0 */
    bool uncalibrated;            /* probabilities have no slope to measure */
} vxs_predictions;
/* Predicted class of subject i. */
size_t vxs_predicted_class(const vxs_predictions *predictions, size_t i);
/* Predicted probability of class k for subject i. */
double vxs_predicted_probability(const vxs_predictions *predictions, size_t i, size_t k);

/* Performance measures. NAN if undefined, such as an area under the curve with one class only;
 * constant predictions get the value at chance. */
typedef struct {
    size_t count;
    double r, r2, mae, rmse; /* for scores; the others are for classes */
    double balanced_accuracy, accuracy, auc, sensitivity, specificity, f1, brier, calibration_slope;
    double average_precision, breakeven, ppv, npv, f2, mcc;
} vxs_metrics;
/* Which classes the label of a metric names, where there are two. */
enum { VXS_METRIC_OF_ALL, VXS_METRIC_OF_BOTH, VXS_METRIC_OF_POSITIVE, VXS_METRIC_OF_NEGATIVE };
/* One row a metric, the most informative first; ends with name == NULL. */
typedef struct vxs_metric_row {
    const char *name, *words; /* key in files, and label on pages */
    size_t offset;
    bool of_classes;
    bool of_two;   /* defined for two classes only */
    bool no_mean;  /* a ratio whose mean over folds is unstable; only the pooled value is written */
    bool is_error; /* less is better */
    bool best_at_one; /* neither less nor more is better */
    int names;        /* VXS_METRIC_OF_... */
    const char *help;
} vxs_metric_row;
extern const vxs_metric_row vxs_metric_rows[];
double *vxs_metric(vxs_metrics *metrics, const vxs_metric_row *row);
/* A metric of each person by its own rows; NAN where it is undefined, such as with one class. */
typedef struct {
    const vxs_metric_row *metric; /* NULL: nothing was measured */
    size_t count;                 /* persons who have it */
    double mean, sd, low, high;   /* over these; low and high: of the mean */
    double least, most;
    size_t persons;       /* of the cohort */
    double *each;         /* persons */
    size_t *rows, *first; /* persons: how many rows, and the first */
} vxs_within;
/* Metric by name; NULL if there is none. */
const vxs_metric_row *vxs_metric_named(const char *name);
/* True if the metric is defined for this number of classes (0: scores). */
bool vxs_metric_applies(const vxs_metric_row *row, size_t class_count);
/* Label such as "AUC of AD against CN" or "sensitivity (AD)"; two classes are named. */
#define VXS_METRIC_TEXT 256
const char *vxs_metric_words(const vxs_metric_row *row, size_t class_count, const char *negative,
                             const char *positive, char text[VXS_METRIC_TEXT]);
/* By what folds choose, of --choose-by: "largest AUC"; NULL: by the loss. */
const char *vxs_choice_words(const char *choose_by, char text[VXS_METRIC_TEXT]);
/* What a threshold was learned for, of --decision: "a sensitivity of 0.9"; NULL: it is the model's
 * own. */
const char *vxs_decision_words(const char *rule, char text[VXS_METRIC_TEXT]);
VXS_MUST_CHECK vxs_status vxs_measure(const vxs_predictions *predictions, vxs_metrics *metrics,
                                      vxs_error *err);
/* Confusion matrix and measures of each class. Counts may be means over repeats. */
typedef struct {
    size_t count;        /* classes; 0: no labels are known */
    double *confusion;   /* count x count: class r predicted as class c; owns all arrays */
    double *n;           /* count: subjects of each class */
    double *sensitivity; /* count: within folds, as for the balanced accuracy */
    double *ppv; /* count: positive predictive value; NAN if no subject is predicted as the class */
    double *auc; /* count: area under the curve against the other classes */
} vxs_class_scores;
/* Label of a baseline from its key in files: "covariates + global signal". */
const char *vxs_baseline_words(const char *key, bool covariates);
/* Formats that interpret the difference to the best simple baseline: the metric in words, the
 * baseline's name, and vxs_adding_words. */
#define VXS_ADDS_NOTHING "By %s the baseline \"%s\" predicts as well; the %s nothing to it here."
#define VXS_BETTER       "By %s the model predicts better than the best simple baseline, \"%s\"."
#define VXS_NOT_BETTER                                                                             \
    "The interval of the difference in %s to the baseline \"%s\" includes 0: there is no "         \
    "evidence that the model predicts better."
/* The key in files of the dense linear baseline, and the same formats for it, which reads the
 * features as well: the metric in words, the noun of features. The model may be dense, too. */
#define VXS_DENSE_KEY    "dense"
#define VXS_DENSE_BETTER "By %s a linear model that weighs all %s predicts better than this one."
#define VXS_DENSE_OPEN                                                                             \
    "The interval of the difference in %s to the linear model that weighs all %s includes 0: "     \
    "there is no evidence that either predicts better."
#define VXS_DENSE_WORSE "By %s the model predicts better than a linear model that weighs all %s."
/* What to try where no feature is stable. */
#define VXS_TRY_CLUSTERS                                                                           \
    "--clusters auto, as each half selects another one of similar neighbors, but the same "        \
    "cluster; or a larger --wrong"
/* And where no half selected any. */
#define VXS_TRY_LAMBDAS                                                                            \
    "all models of a path are empty or have more features than a half may select; more values of " \
    "lambda (--nlambda) give others between"
#define VXS_TRY_MORE                                                                               \
    "a larger --wrong, which lets halves select more; with few subjects there may be none"
/* Noun for so many features: "voxels", "regions", or "features"; "voxel" for 1. */
const char *vxs_feature_words(vxs_feature_kind kind, size_t count);
/* "map adds", or "features add" for features without a map. */
const char *vxs_adding_words(vxs_feature_kind kind);
/* Length of the allocation for this number of classes. */
size_t vxs_class_scores_size(size_t classes);
VXS_MUST_CHECK vxs_status vxs_class_scores_new(size_t classes, vxs_class_scores *scores,
                                               vxs_error *err);
void vxs_class_scores_release(vxs_class_scores *scores);
/* Adds the measures of these predictions, times `share` such as 1 / repeats, to `scores`. */
VXS_MUST_CHECK vxs_status vxs_measure_classes(const vxs_predictions *predictions, double share,
                                              vxs_class_scores *scores, vxs_error *err);
/* Writes the keys confusion and each_class into an open object, unless no labels are known. */
void vxs_class_scores_json(vxs_json_writer *writer, char *const *classes,
                           const vxs_class_scores *scores);
/* True if a value of the target is one of the model's classes; equal numbers such as 1 and 1.0 are
 * one class. */
bool vxs_model_knows_class(const vxs_model *model, const char *cell);
/* Measures of scores on a cohort whose table has the target, without known or possible training
 * subjects (`trained` NULL: with all subjects); count is 0 if no subject is left. The caller
 * releases `classes`, also after an error. `probabilities`: NULL, or those of a model of pairs. */
VXS_MUST_CHECK vxs_status vxs_model_compare(const vxs_model *model, const vxs_cohort *cohort,
                                            const double *scores, const double *probabilities,
                                            const vxs_trained *trained, vxs_metrics *metrics,
                                            vxs_class_scores *classes, vxs_error *err);

/* ---- Clusters as features -------------------------------------------------------------------- */

/* The task whose features are the means of clusters of a task's voxels: `cohort` and `task` borrow
 * all but features from these. */
typedef struct {
    vxs_groups groups;   /* of voxels, of which each is in one or none; ascending members */
    vxs_cohort cohort;   /* its features are regions */
    vxs_task task;       /* the same subjects in the same order */
    float *means;        /* clusters x subjects of the cohort */
    uint32_t *region;    /* cluster of each voxel; UINT32_MAX: none */
    double *diameter;    /* of a cluster in mm: its two farthest voxels, center to center */
    double (*center)[3]; /* mean position in mm */
    double tolerance;    /* the largest diameter */
    double median;       /* of the diameters */
} vxs_clustered;
/* rule: "auto", a number (connected clusters of similar voxels, by the features of the task's
 * subjects alone), "atlas:NAME" or "file:FILE". */
VXS_MUST_CHECK vxs_status vxs_clustered_make(const vxs_context *context, const vxs_task *task,
                                             const char *rule, vxs_clustered *clustered,
                                             vxs_error *err);
void vxs_clustered_release(vxs_clustered *clustered);

/* ---- Images of predictions ------------------------------------------------------------------- */

#define VXS_PREDICT_FILE "predict.json"
/* What is known of one subject. Metrics are NAN without a label image. */
typedef struct {
    char *id;
    size_t voxels, not_finite; /* predicted; of the mask, but with a value that is not finite */
    double volume;             /* ml that are predicted as the positive class; of others NAN */
    double mean;               /* of the probabilities of this class, or of the scores */
    vxs_trained trained;
    vxs_metrics metrics; /* of the voxels */
} vxs_predicted_image;
typedef struct {
    size_t count;
    vxs_predicted_image *each;
    char *id_header;
    bool labels, calibrated;
    double seconds;
} vxs_predicted_images;
/* Writes a directory with images of the model's predictions for the voxels of each subject of a
 * table: probability_ID.nii.gz of the positive class, or of all classes one behind the other;
 * score_ID.nii.gz of scores and of classes that are not calibrated. */
VXS_MUST_CHECK vxs_status vxs_predict_images(const vxs_context *context, const vxs_model *model,
                                             const vxs_patch_settings *settings, const char *table,
                                             const char *directory, bool replace,
                                             vxs_predicted_images *images, vxs_error *err);
void vxs_predicted_images_release(vxs_predicted_images *images);
/* predictions.tsv: a row for each subject. */
void vxs_predicted_images_write(const vxs_predicted_images *images, FILE *stream);

#ifdef __cplusplus
}
#endif

#endif
