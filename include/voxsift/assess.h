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
enum { VXS_CONFOUNDS_BESIDE, VXS_CONFOUNDS_OUT };
enum { VXS_CLASS_WEIGHTS_AUTO, VXS_CLASS_WEIGHTS_NONE, VXS_CLASS_WEIGHTS_BALANCED };

/* Every field is a row of vxs_task_params. */
typedef struct {
    const char *target, *confounds, *weights, *only, *penalties, *graph, *regress_on;
    int method, loss, standardize, class_weights, confounds_as;
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
    double *weights;   /* of subjects, as the table has them, or NULL */
    double *free;      /* n x free_count by column: ones for the intercept, confounds */
    char **free_names; /* "intercept", "age", "sex=M" */
    size_t free_count;
    bool *learn;   /* subjects that the regression on confounds is learned on; NULL: all */
    char **levels; /* of confounds that are text, the reference as well: "sex=F", "sex=M" */
    size_t level_count;
    double *penalties; /* of features, or NULL */
    vxs_graph graph;   /* of features, for methods that need one */
    vxs_design *design;
    vxs_hub *hub;  /* whose solvers wait for each other's scans, or NULL */
    double *y, *u; /* room for one output, and for its weights */
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
/* As the table calls subject i. */
const char *vxs_task_id(const vxs_task *task, size_t i);
/* Whether one class is more than half as large again as another; then class weights that are left
 * open become balanced. */
bool vxs_task_balance(vxs_task *task);
/* Sets y and u. */
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
/* Predictions of scores, or of classes by one score each (two classes share one). */
typedef struct {
    size_t n, class_count;       /* 0 for scores */
    const double *truth;         /* NAN when it is not known; the number of the class */
    const double *scores;        /* outputs x n; NAN where there is none */
    const double *probabilities; /* classes x n; NULL: as the scores have it */
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
/* Of a cohort whose table has the model's target; count is 0 when it has not. */
VXS_MUST_CHECK vxs_status vxs_model_compare(const vxs_model *model, const vxs_cohort *cohort,
                                            const double *scores, vxs_metrics *metrics,
                                            vxs_error *err);

/* ---- Runs in pieces -------------------------------------------------------------------------- */

/* Chunk number 1 ... count of a cross-validation (its outer folds), of permutations, or of pairs of
 * halves. Whatever is drawn is drawn for a fold, permutation or pair by its number, so that pieces
 * are those of the whole. A count of 0 or 1 means the whole. */
typedef struct {
    size_t number, count;
} vxs_chunk;
#define VXS_MAX_CHUNKS 1000000
bool vxs_chunk_is_part(vxs_chunk chunk);
/* Which one, and why. Order: wanted ("2/5", or NULL), SLURM_ARRAY_TASK_ID of
 * SLURM_ARRAY_TASK_COUNT from SLURM_ARRAY_TASK_MIN on, the whole; then source is NULL. */
typedef struct {
    vxs_chunk chunk;
    const char *source;
} vxs_chunk_choice;
VXS_MUST_CHECK vxs_status vxs_choose_chunk(const char *wanted, vxs_chunk_choice *choice,
                                           vxs_error *err);

/* ---- Cross-validation ------------------------------------------------------------------------ */

enum { VXS_SELECT_BEST, VXS_SELECT_1SE };

/* Every field is a row of vxs_task_params or vxs_cv_params. */
typedef struct {
    vxs_task_settings task;
    int64_t folds, repeats, inner_folds, bootstraps, seed;
    const char *group, *folds_from, *prefilter;
    int select;
    bool scores_only; /* without baselines, intervals and patterns: for permutations */
    vxs_chunk chunk;  /* of a run in pieces: no row */
} vxs_cv_settings;
extern const vxs_param vxs_cv_params[];

/* Who is kept back when. */
typedef struct {
    size_t n, repeats, count;
    size_t *fold;  /* repeats x n: the fold in which a subject is kept back */
    char **names;  /* of folds that are given, or NULL */
    size_t *group; /* subjects of one group, or of one person, are in one fold */
    size_t groups;
    bool by_folds; /* the groups are the folds themselves */
} vxs_folds;
/* Dealt out evenly over classes or quantiles of the score, or as a column or file says. What would
 * leak is refused: an image, a person or a group on both sides. */
VXS_MUST_CHECK vxs_status vxs_folds_make(const vxs_task *task, const vxs_cv_settings *settings,
                                         vxs_folds *folds, vxs_error *err);
void vxs_folds_write(const vxs_task *task, const vxs_folds *folds, FILE *stream);
void vxs_folds_release(vxs_folds *folds);

enum { VXS_BASELINE_CONSTANT, VXS_BASELINE_CONFOUNDS, VXS_BASELINE_VOLUME, VXS_BASELINES };
extern const char *const vxs_baseline_names[VXS_BASELINES];

/* One outer fold of one repeat. */
typedef struct {
    size_t repeat, fold, train, test; /* how many subjects */
    double ratio;                     /* of lambda_max, as the inner folds chose */
    vxs_metrics outer, inner;         /* of subjects kept back; of the choice among lambdas */
    vxs_metrics baselines[VXS_BASELINES];
    vxs_solution *fits;     /* one an output, of features as they stand */
    double *pattern;        /* outputs x p: what the score goes with (Haufe) */
    double passes, seconds; /* of all that was solved for it */
    bool converged;
} vxs_cv_fold;

typedef struct {
    vxs_cv_settings settings;
    vxs_method_settings method;
    const vxs_task *task;
    vxs_folds folds;
    size_t fold_count; /* repeats x folds */
    size_t first, end; /* those of the chunk; of the others nothing is known, and nothing of all */
    vxs_cv_fold *each;
    double *ratios; /* of lambda_max */
    size_t ratio_count;
    double *losses;                   /* folds x ratios: what the inner folds say */
    double *scores;                   /* repeats x outputs x n, each by a model that did not learn
                                         from the subject */
    double *probabilities;            /* repeats x classes x n, calibrated; NULL for scores */
    double *baselines[VXS_BASELINES]; /* repeats x outputs x n, or NULL */
    size_t *inner;                    /* repeats x folds x n: inner folds; SIZE_MAX: kept back */
    vxs_metrics pooled, low, high;    /* over all subjects, and the bootstrap's interval */
    vxs_metrics pooled_baselines[VXS_BASELINES];
    double passes, seconds;
    bool converged;
} vxs_cv;
/* Everything is learned inside of training folds: standardisation, tree, class weights, prefilter,
 * lambda, calibration. */
VXS_MUST_CHECK vxs_status vxs_cv_run(const vxs_context *context, const vxs_task *task,
                                     const vxs_cv_settings *settings,
                                     const vxs_method_settings *method, vxs_cv *cv, vxs_error *err);
void vxs_cv_release(vxs_cv *cv);
/* The share of lambda_max that settings->inner_folds folds of all subjects speak for, among
 * method->nlambda of them. */
VXS_MUST_CHECK vxs_status vxs_cv_choose(const vxs_context *context, const vxs_task *task,
                                        const vxs_cv_settings *settings,
                                        const vxs_method_settings *method, double *ratio,
                                        vxs_error *err);
/* {metric: {mean, sd, per_fold}} under "outer" and "inner", and more. */
void vxs_cv_json(vxs_json_writer *writer, const vxs_cv *cv);
/* A directory: cv.json, predictions.tsv, scores.tsv, folds.tsv, inner_folds.tsv, weights.tsv, and
 * maps of voxels; of a chunk a part for vxs_merge. */
#define VXS_CV_FILE "cv.json"
VXS_MUST_CHECK vxs_status vxs_cv_save(const vxs_context *context, const vxs_cv *cv,
                                      const char *directory, bool replace, vxs_error *err);

/* ---- Permutations ---------------------------------------------------------------------------- */

/* Every field is a row of vxs_task_params, vxs_cv_params or vxs_permute_params. */
typedef struct {
    vxs_cv_settings cv;
    int64_t permutations, stop_at;
    const char *blocks, *metric;
    bool whole, resume;
    vxs_chunk chunk; /* no row; a chunk does not stop early, that is for vxs_merge */
} vxs_permute_settings;
extern const vxs_param vxs_permute_params[];

/* The whole of a cross-validation, again and again with targets that were given to other subjects.
 */
typedef struct {
    const vxs_metric_row *metric;
    double observed;
    double *null;                   /* in the order of their numbers; NAN beyond `count` */
    size_t wanted, count, reached;  /* permutations; those as good as the observed one */
    double p, smallest_p, distinct; /* distinct: how many ways there are, perhaps INFINITY */
    size_t first, end;              /* those of the chunk; then there is no p */
    double seconds;
} vxs_permutation;
/* The checkpoint is a file of finished permutations, or NULL; it is read with settings->resume. */
VXS_MUST_CHECK vxs_status vxs_permute(const vxs_context *context, const vxs_task *task,
                                      const vxs_permute_settings *settings,
                                      const vxs_method_settings *method, const char *checkpoint,
                                      vxs_permutation *result, vxs_error *err);
void vxs_permutation_release(vxs_permutation *result);
/* The keys p, smallest_p, permutations, observed, and more. */
void vxs_permutation_json(vxs_json_writer *writer, const vxs_permutation *result);
#define VXS_PERMUTE_FILE "permute.json"
VXS_MUST_CHECK vxs_status vxs_permutation_save(const vxs_context *context, const vxs_task *task,
                                               const vxs_permute_settings *settings,
                                               const vxs_method_settings *method,
                                               const vxs_permutation *result, const char *directory,
                                               bool replace, vxs_error *err);

/* ---- Stability ------------------------------------------------------------------------------- */

/* Every field is a row of vxs_task_params or vxs_stability_params. */
typedef struct {
    vxs_task_settings task;
    int64_t pairs, features, seed;
    double threshold, wrong;
    const char *group;
    vxs_chunk chunk; /* no row */
} vxs_stability_settings;
extern const vxs_param vxs_stability_params[];

/* How often features are among the first that a path selects, over halves of the subjects. */
typedef struct {
    size_t halves, features; /* halves: two a pair; features: the most that a half may select */
    double threshold;
    uint8_t *half;      /* pairs x n: 1 or 2 */
    double *frequency;  /* outputs x p */
    size_t *stable;     /* an output each: features whose frequency reaches the threshold */
    double error_bound; /* of how many of these are wrong, each output for itself */
    double mean_selected, dice, nogueira; /* over outputs: means */
    double passes, seconds;
    bool converged;
    size_t first, end;     /* pairs of the chunk; of all nothing is known then */
    struct vxs_job *units; /* private: what the halves of a chunk selected */
} vxs_stability;
VXS_MUST_CHECK vxs_status vxs_stability_run(const vxs_context *context, const vxs_task *task,
                                            const vxs_stability_settings *settings,
                                            const vxs_method_settings *method,
                                            vxs_stability *result, vxs_error *err);
void vxs_stability_release(vxs_stability *result);
/* The keys selected, threshold, error_bound, nogueira, and more. */
void vxs_stability_json(vxs_json_writer *writer, const vxs_task *task, const vxs_stability *result);
/* A directory: stability.json, halves.tsv, frequencies.tsv, and for voxels frequency.nii.gz and
 * stable.nii.gz, in which only those that reach the threshold are, and mask.nii.gz. */
#define VXS_STABILITY_FILE "stability.json"
VXS_MUST_CHECK vxs_status vxs_stability_save(const vxs_context *context, const vxs_task *task,
                                             const vxs_stability_settings *settings,
                                             const vxs_method_settings *method,
                                             const vxs_stability *result, const char *directory,
                                             bool replace, vxs_error *err);

/* ---- Parts become the whole ------------------------------------------------------------------ */

enum { VXS_RUN_CV, VXS_RUN_PERMUTE, VXS_RUN_STABILITY };

/* What a run of all chunks at once would have come to, but for its seconds, which are the sum. */
typedef struct {
    int kind;
    size_t parts;
    char *path; /* of the cohort */
    vxs_cohort cohort;
    vxs_task task;
    vxs_method_settings method;
    union {
        vxs_cv_settings cv;
        vxs_permute_settings permute;
        vxs_stability_settings stability;
    } settings;
    union {
        vxs_cv cv;
        vxs_permutation permutation;
        vxs_stability stability;
    } result;
    vxs_json *about; /* private: texts of the settings */
} vxs_merged;
/* Parts in any order, `paths` ending with NULL; refused when one is missing, there twice or of
 * another run. The cohort must be there, where the parts say or at `cohort`. */
VXS_MUST_CHECK vxs_status vxs_merge(const vxs_context *context, const char *const *paths,
                                    const char *cohort, vxs_merged *merged, vxs_error *err);
void vxs_merged_release(vxs_merged *merged);

#ifdef __cplusplus
}
#endif

#endif
