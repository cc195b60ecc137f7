/* voxsift/assess.h - from a cohort to a model, and from a model to predictions. */
#ifndef VOXSIFT_ASSESS_H
#define VOXSIFT_ASSESS_H

#include "voxsift/cohort.h"
#include "voxsift/solve.h"

#ifdef __cplusplus
extern "C" {
#endif

/* ---- The task: what is to be predicted from what --------------------------------------------- */

enum { VXS_LOSS_AUTO, VXS_LOSS_CHOOSE_SQUARED, VXS_LOSS_CHOOSE_LOGISTIC };
enum { VXS_STANDARDIZE_AUTO = VXS_STANDARDIZE_UNIT + 1 }; /* as suits the method */

/* Every field is a row of vxs_task_params. */
typedef struct {
    const char *target, *confounds, *weights, *only, *penalties, *graph;
    int method, loss, standardize;
    bool no_intercept;
} vxs_task_settings;
extern const vxs_param vxs_task_params[];

/* Subjects with a target, and what is not penalised for them. */
typedef struct {
    const vxs_cohort *cohort;
    vxs_task_settings settings;
    vxs_loss loss;
    size_t n;
    size_t *rows;   /* of the cohort */
    double *score;  /* the target, or the number of the class */
    char **classes; /* sorted; class_count is 0 for a score */
    size_t class_count;
    double *weights;   /* of subjects, or NULL */
    double *free;      /* n x free_count by column: ones for the intercept, confounds */
    char **free_names; /* "intercept", "age", "sex=M" */
    size_t free_count;
    char **levels; /* of confounds that are text, the reference as well: "sex=F", "sex=M" */
    size_t level_count;
    double *penalties; /* of features, or NULL */
    vxs_graph graph;   /* of features, for methods that need one */
    vxs_design *design;
    double *y; /* room for one output */
} vxs_task;
/* Subjects without target or confound are left out, and named. The cohort must stay. */
VXS_MUST_CHECK vxs_status vxs_task_new(const vxs_context *context, const vxs_cohort *cohort,
                                       const vxs_task_settings *settings, vxs_task *task,
                                       vxs_error *err);
void vxs_task_release(vxs_task *task);
/* Scores and two classes have one output, more classes one each, against the rest. */
size_t vxs_task_outputs(const vxs_task *task);
/* The method of the task. */
const vxs_method *vxs_task_method(const vxs_task *task);
/* Sets y. */
void vxs_task_problem(vxs_task *task, size_t output, const vxs_method_settings *settings,
                      vxs_problem *problem);

/* ---- Models ---------------------------------------------------------------------------------- */

/* Weights are of features as they stand in the cohort: standardisation is in them and in the
 * intercept. */
typedef struct {
    char *name;       /* of the class, or of the target */
    vxs_solution fit; /* index and weight; free: intercept first if there is one, confounds */
    double sum;       /* of the weights, as model.json says */
} vxs_output_fit;
typedef struct {
    vxs_task_settings task; /* texts belong to `about` or to the caller */
    vxs_loss loss;
    char **classes;
    size_t class_count;
    char **free_names;
    size_t free_count;
    char **levels;
    size_t level_count;
    vxs_output_fit *outputs;
    size_t output_count;
    size_t p;
    char *path;      /* where it was read, or NULL */
    vxs_json *about; /* model.json, of a model that was read */
    vxs_grid grid;   /* of voxels */
    size_t *voxels;
    size_t voxel_count;
    char **features; /* names of the features with a weight in output 0 ..., as read; or NULL */
    size_t feature_count;
    size_t *feature_index;
} vxs_model;
void vxs_model_release(vxs_model *model);

/* One model with one lambda. */
VXS_MUST_CHECK vxs_status vxs_model_fit(const vxs_context *context, vxs_task *task,
                                        const vxs_method_settings *settings, vxs_model *model,
                                        vxs_error *err);
/* A directory: model.json, weights.tsv, for voxels weights.nii.gz and mask.nii.gz, and what else
 * the answer rests on: penalties.npy, graph.tsv. */
#define VXS_MODEL_FILE "model.json"
VXS_MUST_CHECK vxs_status vxs_model_save(const vxs_context *context, const vxs_model *model,
                                         const vxs_task *task, const vxs_method_settings *settings,
                                         const char *directory, bool replace, vxs_error *err);
VXS_MUST_CHECK vxs_status vxs_model_read(const char *path, vxs_model *model, vxs_error *err);
/* All lambdas of a path from lambda_max down, one output; `take` gets each answer, whose weights
 * are of features as they stand in the cohort, and may keep nothing of it. */
typedef vxs_status vxs_take_fit(void *user, size_t number, const vxs_output_fit *fit,
                                vxs_error *err);
VXS_MUST_CHECK vxs_status vxs_model_path(const vxs_context *context, vxs_task *task,
                                         const vxs_method_settings *settings, size_t output,
                                         vxs_take_fit *take, void *user, vxs_error *err);
/* The keys that every fit has in JSON, into an object that is open. */
void vxs_fit_json(vxs_json_writer *writer, const vxs_task_settings *task, vxs_loss loss,
                  const vxs_solution *fit);
/* Recomputes every output's certificate from the cohort's columns. */
VXS_MUST_CHECK vxs_status vxs_model_check(const vxs_context *context, const vxs_model *model,
                                          const vxs_cohort *cohort, vxs_certificate *certificates,
                                          vxs_error *err);

/* ---- Predictions ----------------------------------------------------------------------------- */

/* Predictions of a cohort's subjects: outputs x n, the linear score of each; a probability is
 * 1 / (1 + exp(-score)). A cohort whose features are not the model's is refused with the reason;
 * subjects without a confound, or with one that the model has never seen, get NAN. */
VXS_MUST_CHECK vxs_status vxs_model_scores(const vxs_model *model, const vxs_cohort *cohort,
                                           double *scores, vxs_error *err);
/* Images or tables become a cohort as the model's own was made: its mask, scaling and smoothing.
 * Only the rows of vxs_source_params are looked at. Nothing of it stays on disk. */
VXS_MUST_CHECK vxs_status vxs_model_cohort(const vxs_context *context, const vxs_model *model,
                                           const vxs_cohort_settings *sources,
                                           const char *const *names, vxs_cohort *cohort,
                                           vxs_error *err);
/* How near predictions are to what they should be. NAN where a number cannot be had. */
typedef struct {
    size_t count;
    double r, mae, rmse;                     /* of scores */
    double accuracy, balanced_accuracy, auc; /* of classes; auc of two */
} vxs_metrics;
/* Of a cohort whose table has the model's target; count is 0 when it has not. */
VXS_MUST_CHECK vxs_status vxs_model_compare(const vxs_model *model, const vxs_cohort *cohort,
                                            const double *scores, vxs_metrics *metrics,
                                            vxs_error *err);
/* The class of subject i among n, by number. */
size_t vxs_model_class(const vxs_model *model, const double *scores, size_t n, size_t i);
/* Its probability of being of class k. */
double vxs_model_probability(const vxs_model *model, const double *scores, size_t n, size_t i,
                             size_t k);

#ifdef __cplusplus
}
#endif

#endif
