/* voxsift/model.h - from a cohort to a model, and from a model to predictions. */
#ifndef VOXSIFT_MODEL_H
#define VOXSIFT_MODEL_H

#include "voxsift/cohort.h"
#include "voxsift/solver.h"

#ifdef __cplusplus
extern "C" {
#endif

#if defined(__GNUC__)
#pragma GCC visibility push(default) /* what follows is the library's, and nothing else is */
#endif

/* ---- The task: what is to be predicted from what --------------------------------------------- */

enum { VXS_STANDARDIZE_AUTO = VXS_STANDARDIZE_UNIT + 1 }; /* as suits the method */
enum { VXS_CONFOUNDS_BESIDE, VXS_CONFOUNDS_OUT };
enum { VXS_CLASS_WEIGHTS_AUTO, VXS_CLASS_WEIGHTS_NONE, VXS_CLASS_WEIGHTS_BALANCED };

/* Every field is a row of vxs_task_params. */
typedef struct {
    const char *target, *positive, *confounds, *weights, *penalties, *graph, *regress_on;
    vxs_texts only, exclude; /* expressions of which all, or none, must be true of a subject */
    int method, loss, standardize, class_weights, confounds_as;
    double huber_threshold; /* 0: from the target's spread */
    bool no_intercept;
} vxs_task_settings;
extern const vxs_param vxs_task_params[];

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

/* A covariate that is text: columns `first` ... of the unpenalized ones are its levels but for
 * level 0. */
typedef struct {
    size_t column; /* of the cohort's table */
    size_t first, levels;
    size_t *level; /* of a subject */
} vxs_categorical;

/* Subjects with a target, and what is not penalized for them. */
typedef struct {
    const vxs_cohort *cohort;
    vxs_task_settings settings;
    const vxs_loss_kind *loss;
    double threshold; /* of Huber's loss */
    size_t n, people; /* subjects, such as scans, and the persons that they are */
    size_t *rows;     /* of the cohort */
    double *score;    /* the target, or the number of the class */
    char **classes;   /* sorted, but of two the positive one is the second; class_count is 0
                         for a score */
    size_t class_count;
    double *weights;        /* of subjects, as the table has them, or NULL */
    double *covariates;     /* n x covariate_count, column-major: intercept, confounds */
    char **covariate_names; /* "intercept", "age", "sex=M" */
    size_t covariate_count;
    bool *learn;   /* subjects that the regression on confounds is learned on; NULL: all */
    char **levels; /* of confounds that are text, the reference as well: "sex=F", "sex=M" */
    size_t level_count;
    vxs_categorical *factors; /* the covariates of these levels */
    size_t factor_count;
    vxs_left_out *left_out; /* subjects that lack a value, in the order of the cohort */
    size_t left_count;
    size_t not_selected[2 * VXS_MOST_TEXTS]; /* subjects that each --only, then each --exclude left
                                                out */
    char **warnings;                         /* what was warned of that results must carry */
    size_t warning_count;
    double *penalties;  /* of features, or NULL */
    vxs_graph graph;    /* of features, for methods that need one */
    vxs_analysis terms; /* of features, instead; none before they are asked for */
    vxs_groups groups;  /* of features that are taken or left together; likewise */
    bool groups_lent;   /* they are those of the task that this is a part of, which must stay */
    vxs_design *design;
    struct vxs_prepared *prepared;    /* what the method's problem is made of besides, or NULL */
    struct vxs_scan_batcher *batcher; /* whose solvers wait for each other's scans, or NULL */
    double *y, *u;                    /* room for one output, and for its weights */
} vxs_task;
/* Subjects without target or confound are left out, and named. The cohort must stay. */
VXS_MUST_CHECK vxs_status vxs_task_new(const vxs_context *context, const vxs_cohort *cohort,
                                       const vxs_task_settings *settings, vxs_task *task,
                                       vxs_error *err);
void vxs_task_release(vxs_task *task);
/* Scores and two classes have one output, more classes one each, against the rest. */
size_t vxs_task_outputs(const vxs_task *task);
/* The problem of an output, 0 ...; with the multinomial loss all have one, number 0. y, u and what
 * it is made of besides belong to the task. */
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
    vxs_path_kind by; /* what points are; VXS_BY_LAMBDA: shares of lambda_max */
    size_t each;      /* how many follow each other with one smoothness */
} vxs_tries;
typedef struct {
    vxs_tries tries;
    double *losses, *sizes;
    double point, smooth;   /* chosen */
    double *slope, *offset; /* of an output: the logit of its probability is offset + slope score */
} vxs_selection;

/* Weights are of features as they stand in the cohort: standardization is in them and in the
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
    char **covariate_names;
    double *covariate_means; /* over the training subjects */
    size_t covariate_count;
    char **levels;
    size_t level_count;
    vxs_output_fit *outputs;
    size_t output_count;
    size_t p;
    bool groups;             /* units are groups of features */
    vxs_selection selection; /* when folds chose lambda or calibrated scores; else empty */
    char *path;              /* where it was read, or NULL */
    struct vxs_json *about;  /* model.json, of a model that was read */
    vxs_grid grid;           /* of voxels */
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
/* Images or tables become a cohort as the model's own was made: its mask, scaling and smoothing.
 * Only the rows of vxs_source_params are looked at. Nothing of it stays on disk. */
VXS_MUST_CHECK vxs_status vxs_model_cohort(const vxs_context *context, const vxs_model *model,
                                           const vxs_cohort_settings *sources,
                                           const char *const *names, vxs_cohort *cohort,
                                           vxs_error *err);

#if defined(__GNUC__)
#pragma GCC visibility pop
#endif

#ifdef __cplusplus
}
#endif

#endif
