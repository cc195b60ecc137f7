/* voxsift/model.h - from a cohort to a model, and from a model to predictions. */
#ifndef VOXSIFT_MODEL_H
#define VOXSIFT_MODEL_H

#include "voxsift/cohort.h"
#include "voxsift/solver.h"

#ifdef __cplusplus
extern "C" {
#endif

/* ---- The task: what is to be predicted from what --------------------------------------------- */

enum { VXS_STANDARDIZE_AUTO = VXS_STANDARDIZE_UNIT + 1 }; /* as suits the method */
enum { VXS_CONFOUNDS_BESIDE, VXS_CONFOUNDS_OUT };
enum { VXS_CLASS_WEIGHTS_AUTO, VXS_CLASS_WEIGHTS_NONE, VXS_CLASS_WEIGHTS_BALANCED };

/* Every field is a row of vxs_task_params. */
typedef struct {
    const char *target, *confounds, *weights, *only, *penalties, *graph, *regress_on;
    int method, loss, standardize, class_weights, confounds_as;
    bool no_intercept;
} vxs_task_settings;
extern const vxs_param vxs_task_params[];
/* The loss that '--loss' names; NULL: auto. */
const vxs_loss_kind *vxs_chosen_loss(const vxs_task_settings *settings);

/* Why a subject of the cohort is not analysed. */
typedef enum {
    VXS_WITHOUT_TARGET,
    VXS_WITHOUT_WEIGHT,
    VXS_WITHOUT_COVARIATE,
    VXS_ANALYSED
} vxs_flow_step;
typedef struct {
    size_t row, column; /* of the cohort's table, which has no value there */
    vxs_flow_step step;
} vxs_left_out;

/* A covariate that is text: columns `first` ... of the unpenalised ones are its levels but for
 * level 0. */
typedef struct {
    size_t column; /* of the cohort's table */
    size_t first, levels;
    size_t *level; /* of a subject */
} vxs_categorical;

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

/* Subjects with a target, and what is not penalised for them. */
typedef struct {
    const vxs_cohort *cohort;
    vxs_task_settings settings;
    const vxs_loss_kind *loss;
    size_t n, people; /* subjects, such as scans, and the persons that they are */
    size_t *rows;     /* of the cohort */
    double *score;    /* the target, or the number of the class */
    char **classes;   /* sorted; class_count is 0 for a score */
    size_t class_count;
    double *weights;   /* of subjects, as the table has them, or NULL */
    double *free;      /* n x free_count by column: ones for the intercept, confounds */
    char **free_names; /* "intercept", "age", "sex=M" */
    size_t free_count;
    bool *learn;   /* subjects that the regression on confounds is learned on; NULL: all */
    char **levels; /* of confounds that are text, the reference as well: "sex=F", "sex=M" */
    size_t level_count;
    vxs_categorical *factors; /* the covariates of these levels */
    size_t factor_count;
    vxs_left_out *left_out; /* subjects that lack a value, in the order of the cohort */
    size_t left_count;      /* others that the cohort has, --only left out */
    char **warnings;        /* what was warned of that results must carry */
    size_t warning_count;
    double *penalties; /* of features, or NULL */
    vxs_graph graph;   /* of features, for methods that need one */
    vxs_terms terms;   /* of features, instead; none before they are asked for */
    vxs_groups groups; /* of features that are taken or left together; likewise */
    bool groups_lent;  /* they are those of the task that this is a part of, which must stay */
    vxs_design *design;
    vxs_design *kernel; /* kernel scores of the features for one output, or NULL */
    size_t kernel_output;
    const double *bandwidths; /* its kernels' */
    double *margin;           /* what kernel scores are to reach, or kernels to be */
    vxs_units *units;         /* of the design, by methods that select among them, or NULL */
    vxs_hub *hub;             /* whose solvers wait for each other's scans, or NULL */
    double *y, *u;            /* room for one output, and for its weights */
} vxs_task;
/* Subjects without target or confound are left out, and named. The cohort must stay. */
VXS_MUST_CHECK vxs_status vxs_task_new(const vxs_context *context, const vxs_cohort *cohort,
                                       const vxs_task_settings *settings, vxs_task *task,
                                       vxs_error *err);
void vxs_task_release(vxs_task *task);
/* Scores and two classes have one output, more classes one each, against the rest. */
size_t vxs_task_outputs(const vxs_task *task);
/* How many subjects the i-th counts for, and all together. */
double vxs_task_weight(const vxs_task *task, size_t i);
double vxs_task_total(const vxs_task *task);
/* How many problems that makes: one an output, or, with the multinomial loss, one of them all. */
size_t vxs_task_problems(const vxs_task *task);
/* The method of the task. */
const vxs_method *vxs_task_method(const vxs_task *task);
/* The loss that is minimised, in words; `loss` says no more than scores (squared) or classes. */
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
/* Sets y and u, and makes kernel scores for methods that work on them. */
VXS_MUST_CHECK vxs_status vxs_task_problem(const vxs_context *context, vxs_task *task,
                                           size_t number, const vxs_method_settings *settings,
                                           vxs_problem *problem, vxs_error *err);

/* ---- Models ---------------------------------------------------------------------------------- */

/* What folds said of all that was tried: the mean loss of subjects that were kept back, and how
 * many features had a weight. */
typedef struct {
    size_t count;
    double *points;   /* shares of lambda_max, falling; of methods that generate features rounds,
                         or numbers of units that are wanted, rising */
    double *smooths;  /* one for each of them, by methods that have it; or NULL */
    const char *unit; /* what points are, if no shares: rounds, or wanted */
    size_t each;      /* how many follow each other with one smoothness */
} vxs_tries;
typedef struct {
    vxs_tries tries;
    double *losses, *sizes;
    double point, smooth;   /* chosen */
    double *slope, *offset; /* of an output: the logit of its probability is offset + slope score */
} vxs_selection;
void vxs_selection_release(vxs_selection *selection);

/* Weights are of features as they stand in the cohort: standardisation is in them and in the
 * intercept; or of what the encoder makes of them, which has what it needs of training subjects. */
typedef struct vxs_encoder vxs_encoder; /* private to the model room */
typedef struct {
    char *name; /* of the class, or of the target */
    const vxs_encoder *encoder;
    void *encoded;    /* by the encoder, or NULL */
    vxs_solution fit; /* index and weight; free: intercept first if there is one, confounds */
    double sum;       /* of the weights, as model.json says */
} vxs_output_fit;
typedef struct {
    vxs_task_settings task; /* texts belong to `about` or to the caller */
    const vxs_loss_kind *loss;
    char **classes;
    size_t class_count;
    char **free_names;
    double *free_means; /* over the training subjects */
    size_t free_count;
    char **levels;
    size_t level_count;
    vxs_output_fit *outputs;
    size_t output_count;
    size_t p;
    bool groups;             /* units are groups of features */
    vxs_selection selection; /* when folds chose lambda or calibrated scores; else empty */
    char *path;              /* where it was read, or NULL */
    vxs_json *about;         /* model.json, of a model that was read */
    vxs_grid grid;           /* of voxels */
    size_t *voxels;
    size_t voxel_count;
    char **features; /* names of the features with a weight in output 0 ..., as read; or NULL */
    size_t feature_count;
    size_t *feature_index;
} vxs_model;
void vxs_model_release(vxs_model *model);
/* "features", "pair": what so many units of a model that selects among them are called. */
const char *vxs_unit_name(const vxs_model *model, size_t count);
/* "of lambda_max", "rounds", "features": what a chosen point is counted in. */
const char *vxs_point_words(const vxs_selection *selection);
/* "lambda", "rounds", "how many to select": what folds choose. */
const char *vxs_chosen_words(const vxs_tries *tries);

/* One model with one lambda. */
VXS_MUST_CHECK vxs_status vxs_model_fit(const vxs_context *context, vxs_task *task,
                                        const vxs_method_settings *settings, vxs_model *model,
                                        vxs_error *err);
/* A directory: model.json, weights.tsv, for voxels weights.nii.gz and mask.nii.gz, and what else
 * the answer rests on: penalties.npy, graph.tsv. */
#define VXS_MODEL_FILE "model.json"
#define VXS_SEAL_FILE  "sha256sums"
VXS_MUST_CHECK vxs_status vxs_model_save(const vxs_context *context, const vxs_model *model,
                                         const vxs_task *task, const vxs_method_settings *settings,
                                         const char *directory, bool replace, vxs_error *err);
VXS_MUST_CHECK vxs_status vxs_model_read(const char *path, vxs_model *model, vxs_error *err);
/* All lambdas of a path from lambda_max down, one problem; `take` gets each answer, whose weights
 * are of features as they stand in the cohort, and may keep nothing of it. Of a problem of all
 * classes it gets a part for each class, which has its name. */
typedef vxs_status vxs_take_fit(void *user, size_t number, const vxs_output_fit *fit,
                                vxs_error *err);
VXS_MUST_CHECK vxs_status vxs_model_path(const vxs_context *context, vxs_task *task,
                                         const vxs_method_settings *settings, size_t problem,
                                         vxs_take_fit *take, void *user, vxs_error *err);
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
/* Recomputes every output's certificate from the cohort's columns, once these are verified. */
VXS_MUST_CHECK vxs_status vxs_model_check(const vxs_context *context, const vxs_model *model,
                                          const vxs_cohort *cohort, vxs_certificate *certificates,
                                          vxs_error *err);

/* ---- Predictions ----------------------------------------------------------------------------- */

/* Predictions of a cohort's subjects: outputs x n, the linear score of each, or, with the
 * multinomial loss, the log odds of the class against all others that follow from these; a
 * probability is 1 / (1 + exp(-score)). A cohort whose features are not the model's is refused with
 * the reason; subjects without a covariate get NAN. Where a covariate has a level that no training
 * subject had, its columns are their means over these, as in cross-validation. */
VXS_MUST_CHECK vxs_status vxs_model_scores(const vxs_model *model, const vxs_cohort *cohort,
                                           double *scores, vxs_error *err);
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
/* Images or tables become a cohort as the model's own was made: its mask, scaling and smoothing.
 * Only the rows of vxs_source_params are looked at. Nothing of it stays on disk. */
VXS_MUST_CHECK vxs_status vxs_model_cohort(const vxs_context *context, const vxs_model *model,
                                           const vxs_cohort_settings *sources,
                                           const char *const *names, vxs_cohort *cohort,
                                           vxs_error *err);
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
    const char *name;
    size_t offset;
    bool of_classes;
    const char *help;
} vxs_metric_row;
extern const vxs_metric_row vxs_metric_rows[];
double *vxs_metric(vxs_metrics *metrics, const vxs_metric_row *row);
VXS_MUST_CHECK vxs_status vxs_measure(const vxs_predictions *predictions, vxs_metrics *metrics,
                                      vxs_error *err);
/* Whether a value of the target is one of the model's classes; numbers that are equal, such as 1
 * and 1.0, are one. */
bool vxs_model_knows_class(const vxs_model *model, const char *cell);
/* Of a cohort whose table has the model's target, without subjects that the model was trained on,
 * or perhaps was (NULL: with all); count is 0 when none is left. */
VXS_MUST_CHECK vxs_status vxs_model_compare(const vxs_model *model, const vxs_cohort *cohort,
                                            const double *scores, const vxs_trained *trained,
                                            vxs_metrics *metrics, vxs_error *err);

#ifdef __cplusplus
}
#endif

#endif
