/* voxsift/internal/model.h - tasks, models and what predictions are worth; for the library's rooms
 * and the command line, not installed. */
#ifndef VOXSIFT_INTERNAL_MODEL_H
#define VOXSIFT_INTERNAL_MODEL_H

#include "voxsift/internal/cohort.h"
#include "voxsift/internal/solver.h"
#include "voxsift/model.h"

#ifdef __cplusplus
extern "C" {
#endif

/* ---- The task: what is to be predicted from what --------------------------------------------- */

/* The loss that '--loss' names; NULL: auto. */
const vxs_loss_kind *vxs_chosen_loss(const vxs_task_settings *settings);
bool vxs_takes_threshold(const vxs_task_settings *settings); /* the chosen loss has a threshold */

/* A level of a covariate that no training subject had, and who of n subjects has it: they are
 * predicted with the mean of the training subjects' levels. Texts belong to a table. */
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
typedef const char *vxs_id_of(const void *of, size_t i); /* of subject i */
void vxs_unseen_release(vxs_unseen_list *list);
void vxs_unseen_warn(const vxs_context *context, const vxs_unseen_list *list, vxs_id_of *id,
                     const void *of);
void vxs_unseen_json(vxs_json_writer *writer, const vxs_unseen_list *list, vxs_id_of *id,
                     const void *of);
/* How many subjects the i-th counts for, and all together. */
double vxs_task_weight(const vxs_task *task, size_t i);
double vxs_task_total(const vxs_task *task);
/* How many problems that makes: one an output, or, with the multinomial loss, one of them all. */
size_t vxs_task_problems(const vxs_task *task);
/* The method of the task. */
const vxs_method *vxs_task_method(const vxs_task *task);
/* The loss that is minimized, in words; `loss` says no more than scores (squared) or classes. */
const char *vxs_loss_name(const vxs_task_settings *task, const vxs_method_settings *method,
                          const vxs_loss_kind *loss);
/* Whether scores of classes are log odds before they are calibrated. */
bool vxs_task_has_logits(const vxs_task *task);
/* As the table calls subject i; and the same as a vxs_id_of. */
const char *vxs_task_id(const vxs_task *task, size_t i);
const char *vxs_task_id_of(const void *task, size_t i);
/* Whether one class is more than half as large again as another; then class weights that are left
 * open become balanced. */
bool vxs_task_balance(vxs_task *task);

/* ---- Models ---------------------------------------------------------------------------------- */

void vxs_selection_release(vxs_selection *selection);
/* "features", "pair": what so many units of a model that selects among them are called. */
const char *vxs_unit_name(const vxs_model *model, size_t count);
/* "of lambda_max", "rounds", "features": what a chosen point is counted in. */
const char *vxs_point_words(const vxs_selection *selection);
/* "lambda", "rounds", "how many to select": what folds choose. */
const char *vxs_chosen_words(const vxs_tries *tries);
/* A warning, if any directions without penalty are unidentified: what that means. */
void vxs_warn_unidentified(const vxs_context *context, size_t unidentified);
/* The keys that every fit has in JSON, into an object that is open. */
void vxs_fit_json(vxs_json_writer *writer, const vxs_task_settings *task,
                  const vxs_method_settings *method, const vxs_loss_kind *loss,
                  const vxs_solution *fit);
/* Whether model and cohort both record the SHA-256 of the same files of features, so that checking
 * verifies that these are what the model was fitted on. */
bool vxs_model_features_recorded(const vxs_model *model, const vxs_cohort *cohort);
/* Whether the model's files are as they were written; not `sealed`: it does not say. */
VXS_MUST_CHECK vxs_status vxs_model_check_files(const vxs_model *model, bool *sealed,
                                                vxs_error *err);

/* ---- Predictions ----------------------------------------------------------------------------- */

/* Who has such a level; the list is released by the caller, whatever is returned. */
VXS_MUST_CHECK vxs_status vxs_model_unseen(const vxs_model *model, const vxs_cohort *cohort,
                                           vxs_unseen_list *list, vxs_error *err);
/* The first column of the table that the model needs and a subject has no value in, or NULL. */
const char *vxs_model_lacks(const vxs_model *model, const vxs_cohort *cohort, size_t i);

/* Whether a subject is one that the model was trained on: the same image (or volume of one), or the
 * same id or person with another image, or with none to compare. Scores of such subjects are no
 * estimate. */
typedef enum {
    VXS_NOT_TRAINED_ON,
    VXS_TRAINED_ON_IMAGE,
    VXS_TRAINED_ON_PERSON,
    VXS_PERHAPS_TRAINED_ON /* the id has the form of another scan of a person it was trained on */
} vxs_trained;
extern const char *const vxs_trained_names[]; /* "no", "image", "person", "perhaps" */
/* Of each of the cohort's subjects. */
VXS_MUST_CHECK vxs_status vxs_model_trained_on(const vxs_model *model, const vxs_cohort *cohort,
                                               vxs_trained *trained, vxs_error *err);
/* Predictions of scores, or of classes by one score each (two classes share one). Where they come
 * from several models, one a fold, r, the area under the curve and the shares of the classes
 * compare subjects of one fold alone: between folds the models' offsets would be compared. */
typedef struct {
    size_t n, class_count;        /* 0 for scores */
    const size_t *fold;           /* of a subject; NULL: all in one */
    size_t fold_count;            /* fold < fold_count */
    const double *aligned;        /* outputs x n: compared instead of the scores; NULL: these */
    const double *truth;          /* NAN when it is not known; the number of the class */
    const double *scores;         /* outputs x n; NAN where there is none */
    const double *probabilities;  /* classes x n; NULL: as the scores have it */
    const double *slope, *offset; /* of an output: calibrates its scores; NULL: 1 and 0 */
} vxs_predictions;
/* The class of subject i, by number. */
size_t vxs_predicted_class(const vxs_predictions *predictions, size_t i);
/* Its probability of being of class k. */
double vxs_predicted_probability(const vxs_predictions *predictions, size_t i, size_t k);

/* How near predictions are to what they should be. NAN where a number cannot be had, such as an
 * area under a curve with one class only; predictions that are all the same score as chance does.
 */
typedef struct {
    size_t count;
    double r, r2, mae, rmse; /* of scores; the others of classes */
    double balanced_accuracy, accuracy, auc, sensitivity, specificity, f1, brier, calibration_slope;
} vxs_metrics;
/* One row a metric, the most telling first; ends with name == NULL. */
typedef struct {
    const char *name, *words; /* key in files, and what a page calls it */
    size_t offset;
    bool of_classes;
    bool of_two;  /* of two classes alone */
    bool no_mean; /* a ratio: its mean over folds is noise, and only the pooled one is written */
    const char *help;
} vxs_metric_row;
extern const vxs_metric_row vxs_metric_rows[];
double *vxs_metric(vxs_metrics *metrics, const vxs_metric_row *row);
/* The metric of that name; NULL: there is none. */
const vxs_metric_row *vxs_metric_named(const char *name);
/* Whether a task with so many classes, 0 for a score, has it. */
bool vxs_metric_applies(const vxs_metric_row *row, size_t class_count);
/* "AUC of AD against CN", "sensitivity (AD)"; classes are named where there are two. */
#define VXS_METRIC_TEXT 256
const char *vxs_metric_words(const vxs_metric_row *row, size_t class_count, const char *negative,
                             const char *positive, char text[VXS_METRIC_TEXT]);
VXS_MUST_CHECK vxs_status vxs_measure(const vxs_predictions *predictions, vxs_metrics *metrics,
                                      vxs_error *err);
/* Which class is predicted for whom, and how well each class is found. Numbers of subjects may be
 * means over repeats. */
typedef struct {
    size_t count;      /* classes; 0: nothing is known */
    double *confusion; /* count x count, one allocation with what follows: subjects of class r that
                            are predicted as class c at r * count + c */
    double *n;         /* subjects of a class */
    double *sensitivity; /* compares subjects of one fold, as the balanced accuracy does */
    double *ppv;         /* of those predicted as the class, how many are of it; NAN: none is */
    double *auc;         /* against the rest */
} vxs_class_scores;
/* "covariates + global signal": a baseline of cross-validation by its key in files. */
const char *vxs_baseline_words(const char *key, bool covariates);
/* Formats of what the difference to the best baseline means: its name, and what is mapped. */
#define VXS_ADDS_NOTHING "The baseline \"%s\" predicts as well; the %s nothing to it here."
#define VXS_NOT_BETTER                                                                             \
    "The interval of the difference to the baseline \"%s\" includes 0: there is no evidence that " \
    "the model predicts better."
/* What features are called in sentences: "voxels", "regions", or "features". */
const char *vxs_feature_words(vxs_feature_kind kind);
/* "map adds", or "features add" where nothing is mapped. */
const char *vxs_adding_words(vxs_feature_kind kind);
/* Numbers in the allocation, for so many classes. */
size_t vxs_class_scores_size(size_t classes);
VXS_MUST_CHECK vxs_status vxs_class_scores_new(size_t classes, vxs_class_scores *scores,
                                               vxs_error *err);
void vxs_class_scores_release(vxs_class_scores *scores);
/* Adds those of predictions with a share, such as 1 / repeats, to what is there. */
VXS_MUST_CHECK vxs_status vxs_measure_classes(const vxs_predictions *predictions, double share,
                                              vxs_class_scores *scores, vxs_error *err);
/* The keys confusion and each_class, into an object that is open; none where nothing is known. */
void vxs_class_scores_json(vxs_json_writer *writer, char *const *classes,
                           const vxs_class_scores *scores);
/* Whether a value of the target is one of the model's classes; numbers that are equal, such as 1
 * and 1.0, are one. */
bool vxs_model_knows_class(const vxs_model *model, const char *cell);
/* Of a cohort whose table has the model's target, without subjects that the model was trained on,
 * or perhaps was (NULL: with all); count is 0 when none is left. The caller releases `classes`,
 * whatever is returned. */
VXS_MUST_CHECK vxs_status vxs_model_compare(const vxs_model *model, const vxs_cohort *cohort,
                                            const double *scores, const vxs_trained *trained,
                                            vxs_metrics *metrics, vxs_class_scores *classes,
                                            vxs_error *err);

#ifdef __cplusplus
}
#endif

#endif
