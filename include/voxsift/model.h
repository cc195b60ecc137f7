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

/* ---- The task: target, subjects and design --------------------------------------------------- */

enum { VXS_STANDARDIZE_AUTO = VXS_STANDARDIZE_UNIT + 1 }; /* the method's default */
enum { VXS_CONFOUNDS_COVARIATE, VXS_CONFOUNDS_REGRESS };
enum { VXS_CLASS_WEIGHTS_AUTO, VXS_CLASS_WEIGHTS_NONE, VXS_CLASS_WEIGHTS_BALANCED };
enum { VXS_OWN_BAG_ITSELF, VXS_OWN_BAG_LEFT_OUT }; /* similarity of an instance with its bag */
enum { VXS_ONE_VS_REST, VXS_ONE_VS_ONE };          /* of three and more classes */

/* Every field is a row of vxs_task_params. */
typedef struct {
    const char *target, *positive, *confounds, *weights, *penalties, *graph, *regress_on;
    vxs_texts only,
        exclude; /* expressions: subjects must satisfy all of `only` and none of `exclude` */
    /* a column whose values name bags, or "patches:MM"; NULL: rows are subjects */
    const char *bags;
    const char *near; /* of patches: mm, or "all"; NULL: all */
    int own_bag, patch_norm;
    int method, loss, multiclass, standardize, class_weights, confounds_as;
    double huber_threshold; /* 0: estimated from the spread of the target */
    bool no_intercept;
} vxs_task_settings;
extern const vxs_param vxs_task_params[];

/* Step at which a subject of the cohort is left out. */
typedef enum {
    VXS_WITHOUT_TARGET,
    VXS_WITHOUT_WEIGHT,
    VXS_WITHOUT_COVARIATE,
    VXS_ANALYSED
} vxs_flow_step;
typedef struct {
    size_t row, column; /* cell of the cohort's table that is empty */
    vxs_flow_step step;
} vxs_left_out;

/* A categorical covariate: covariates `first` ... are indicators of its identified levels except
 * level 0. The levels after these have no subject of weight above 0. */
typedef struct {
    size_t column; /* of the cohort's table */
    size_t first, identified, levels;
    size_t *level; /* of a subject */
} vxs_categorical;

/* The prediction task: subjects with target, covariates, penalty structure and design. */
typedef struct {
    const vxs_cohort *cohort;
    vxs_task_settings settings;
    const vxs_loss_kind *loss;
    double threshold; /* of Huber's loss */
    size_t n, people; /* number of subjects (scans), number of persons */
    size_t *rows;     /* of the cohort, ascending */
    double *score;    /* the target, or the number of the class */
    char **classes;   /* sorted, the positive one of two last */
    size_t class_count;
    double *weights;        /* n: subject weights from the table, or NULL */
    double *covariates;     /* n x covariate_count, column-major: intercept, confounds */
    char **covariate_names; /* "intercept", "age", "sex=M" */
    size_t covariate_count;
    bool *regression_subject; /* n: subjects that confounds are regressed on; NULL: all */
    char **levels; /* identified levels of categorical confounds, reference first: "sex=F" */
    size_t level_count;
    vxs_categorical *factors; /* the categorical covariates */
    size_t factor_count;
    vxs_left_out *left_out; /* subjects that lack a value, in the order of the cohort */
    size_t left_count;
    size_t not_selected
        [2 *
         VXS_MOST_TEXTS]; /* number of subjects excluded by each --only, then by each --exclude */
    char **warnings;      /* warnings that results record */
    size_t warning_count;
    double *penalties;  /* p: penalty factors, or NULL */
    vxs_graph graph;    /* of features, for methods that use one */
    vxs_analysis terms; /* rows of D over features, in place of a graph; made on demand */
    vxs_groups groups;  /* of features; made on demand */
    bool groups_shared, terms_shared; /* they belong to the unrestricted task, which must stay */
    vxs_design *design;
    int *untold; /* 1 until it was said that class weights are balanced; NULL: they are not */
    struct vxs_products *products; /* inner products of subjects, made on demand; or NULL */
    /* Of bags: distances of instances, made once; the median of their squares, and the width of
     * similarities in its units. */
    struct vxs_bag_distances *distances;
    bool distances_shared;
    double bag_distance, bag_width;
    bool products_shared;             /* they belong to the unrestricted task, which must stay */
    struct vxs_prepared *prepared;    /* further data of the method's problem, or NULL */
    struct vxs_scan_batcher *batcher; /* batches the scans of several solvers, or NULL */
    double *y, *u;                    /* target and loss weights of one output */
} vxs_task;
/* Puts a cohort's rows into bags, if the settings say so: before the task is made. */
VXS_MUST_CHECK vxs_status vxs_cohort_make_bags(vxs_cohort *cohort,
                                               const vxs_task_settings *settings, vxs_error *err);
/* Subjects without target or confounds are excluded and named in a warning. The cohort must outlive
 * the task. */
VXS_MUST_CHECK vxs_status vxs_task_new(const vxs_context *context, const vxs_cohort *cohort,
                                       const vxs_task_settings *settings, vxs_task *task,
                                       vxs_error *err);
void vxs_task_release(vxs_task *task);
/* Number of outputs, each with weights and a certificate: one for scores and for two classes, else
 * one for each class against the rest, or, one against one, for each pair of classes. */
size_t vxs_task_outputs(const vxs_task *task);
/* Problem of an output, 0 ...; with the multinomial loss all outputs share problem 0. The problem's
 * arrays belong to the task. */
VXS_MUST_CHECK vxs_status vxs_task_problem(const vxs_context *context, vxs_task *task,
                                           size_t number, const vxs_method_settings *settings,
                                           vxs_problem *problem, vxs_error *err);

/* ---- Models ---------------------------------------------------------------------------------- */

/* Tuning grid: hyperparameter values for cross-validation. */
typedef struct {
    size_t count;
    double *values;   /* fractions of lambda_max, descending; iterations or nselect, ascending */
    vxs_path_kind by; /* kind of the values; VXS_BY_LAMBDA: fractions of lambda_max */
    /* The second axis, or NULL: the weight of the Laplacian or gamma of a kernel for each value;
     * equal ones, which make a path of so many values, are together. */
    const struct vxs_axis *axis;
    double *across;
    size_t per_path;
} vxs_tuning_grid;
typedef struct {
    vxs_tuning_grid tuning;
    double *losses, *sizes;
    double value, across; /* chosen values */
    double *slope,
        *offset; /* calibration of each output: logit of the probability = offset + slope score */
    double threshold; /* that scores are measured from: those above 0 are of the positive class */
    /* What losses are instead of held-out losses ("auc": 1 - AUC), and the rule of the threshold;
     * or NULL. Borrowed. */
    const char *choose_by, *decision;
} vxs_selection;

/* An output's solution: weights of unscaled features (standardization is contained in weights and
 * intercept), or of the encoder's columns, with `encoded` for new subjects. */
typedef struct vxs_encoder vxs_encoder; /* private to the model room */
typedef struct {
    char *name; /* of the class, the target, or the pair: "AD against CN" */
    const vxs_encoder *encoder;
    void *encoded;    /* data of the encoder, or NULL */
    vxs_solution fit; /* covariate_coefficients: intercept first if there is one, then confounds */
    double sum;       /* sum of the weights; model.json has it */
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
    bool groups;             /* feature blocks are groups of features */
    vxs_selection selection; /* result of inner cross-validation; else empty */
    char *path;              /* directory it was read from, or NULL */
    struct vxs_json *about;  /* model.json of a model that was read */
    vxs_grid grid;           /* of voxels */
    size_t *voxels;
    size_t voxel_count;
    char **features; /* selected features as read, output after output; or NULL */
    size_t feature_count;
    size_t *feature_index;
} vxs_model;
void vxs_model_release(vxs_model *model);
/* Number of scores of a subject: one for a target of scores and for two classes, else one for each
 * class. */
size_t vxs_model_score_count(const vxs_model *model);

/* Fits one model at one value of its hyperparameters. */
VXS_MUST_CHECK vxs_status vxs_model_fit(const vxs_context *context, vxs_task *task,
                                        const vxs_method_settings *settings, vxs_model *model,
                                        vxs_error *err);
/* A model is a directory: model.json, weights.tsv, for voxels weights.nii.gz and mask.nii.gz, and
 * further inputs of the fit such as penalties.npy and graph.tsv. */
#define VXS_MODEL_FILE "model.json"
#define VXS_SEAL_FILE  "sha256sums"
VXS_MUST_CHECK vxs_status vxs_model_save(const vxs_context *context, const vxs_model *model,
                                         const vxs_task *task, const vxs_method_settings *settings,
                                         const char *directory, bool replace, vxs_error *err);
VXS_MUST_CHECK vxs_status vxs_model_read(const char *path, vxs_model *model, vxs_error *err);
/* Fits a path from lambda_max down; `take` gets each solution, with weights of unscaled features,
 * and must copy what it keeps. With the multinomial loss `take` is called once per class,
 * with the name of the class in `fit`. */
typedef vxs_status vxs_take_fit(void *user, size_t number, const vxs_output_fit *fit,
                                vxs_error *err);
VXS_MUST_CHECK vxs_status vxs_model_path(const vxs_context *context, vxs_task *task,
                                         const vxs_method_settings *settings, size_t problem,
                                         vxs_take_fit *take, void *user, vxs_error *err);
/* Recomputes the certificate of each output from the cohort's columns, after verifying these. The
 * model is one that was read. */
VXS_MUST_CHECK vxs_status vxs_model_check(const vxs_context *context, const vxs_model *model,
                                          const vxs_cohort *cohort, vxs_certificate *certificates,
                                          vxs_error *err);

/* ---- Predictions ----------------------------------------------------------------------------- */

/* Scores of a cohort's subjects, vxs_model_score_count x n: linear scores, or with the multinomial
 * loss log odds of the class against all others; a probability is 1 / (1 + exp(-score)). Of pairs
 * of classes the votes for a class, and less than half a vote by its margins. A cohort with other
 * features than the model's is refused with the reason; subjects without a covariate get NAN. For
 * an unseen level of a covariate, its columns get their means over the training subjects, as in
 * cross-validation. */
VXS_MUST_CHECK vxs_status vxs_model_scores(const vxs_model *model, const vxs_cohort *cohort,
                                           double *scores, vxs_error *err);
/* Makes a cohort from images or tables with the mask, scaling and smoothing of the model's own
 * cohort, which is one that was read. Uses only the rows of vxs_source_params; names may be NULL.
 * Leaves no files. */
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
