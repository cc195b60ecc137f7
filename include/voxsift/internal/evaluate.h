/* voxsift/internal/evaluate.h - cross-validation, permutation tests, stability selection, and
 * runs in parts. */
#ifndef VOXSIFT_INTERNAL_EVALUATE_H
#define VOXSIFT_INTERNAL_EVALUATE_H

#include "voxsift/internal/files.h"
#include "voxsift/internal/model.h"

#ifdef __cplusplus
extern "C" {
#endif

/* ---- Runs in pieces -------------------------------------------------------------------------- */

/* Chunk number 1 ... count of a cross-validation (its outer folds), of permutations, or of pairs of
 * halves. Whatever is drawn is drawn for a fold, permutation or pair by its number, so that pieces
 * are those of the whole. A count of 0 or 1 means the whole. */
typedef struct {
    size_t number, count;
} vxs_chunk;
#define VXS_MAX_CHUNKS 1000000
bool vxs_chunk_is_part(vxs_chunk chunk);
/* The chunk that a run computes, and its open checkpoint or NULL; the caller closes the checkpoint
 * once the output is complete. */
typedef struct {
    vxs_chunk chunk;
    vxs_checkpoint *checkpoint;
} vxs_chunking;
/* Which chunk, and the source of its number. requested: "2/5"; "auto", the task of a Slurm job
 * array that counts 1..N or 0..N-1; or NULL, the whole run, whose source is NULL. */
typedef struct {
    vxs_chunk chunk;
    const char *source;
} vxs_chunk_choice;
VXS_MUST_CHECK vxs_status vxs_choose_chunk(const char *requested, vxs_chunk_choice *choice,
                                           vxs_error *err);
/* This process is a task of a Slurm job array with more than one task. */
bool vxs_in_job_array(void);

/* ---- Cross-validation ------------------------------------------------------------------------ */

enum { VXS_SELECT_BEST, VXS_SELECT_1SE };
extern const char *const vxs_select_names[]; /* ends with NULL */

/* Every field is a row of vxs_task_params or vxs_cv_params. */
typedef struct {
    vxs_task_settings task;
    int64_t folds, repeats, inner_folds, bootstraps, seed;
    bool no_dense; /* without the dense linear baseline */
    const char *group, *folds_from, *prefilter, *choose_by, *decision;
    int select;
    bool scores_only;         /* without baselines, intervals and patterns: for permutations */
    vxs_chunking chunking;    /* no row */
    bool inner_open;          /* no row: inner_folds gave way to groups, or would have */
    const char *inner_option; /* no row: whose value inner_folds is; NULL: --inner-folds */
} vxs_cv_settings;
extern const vxs_param vxs_cv_params[];
/* Refuses words that are no rule of --decision, and rules where there is nothing to learn
 * from. `option`: that sets the number of folds. */
VXS_MUST_CHECK vxs_status vxs_decision_check(const char *rule, size_t class_count, bool inner_folds,
                                             const char *option, vxs_error *err);
/* A number of folds that is not set: VXS_USUAL_FOLDS, or as many as there are groups where these
 * are fewer; VXS_FOLDS_GROUP: one for each group. */
enum { VXS_FOLDS_OPEN = -1, VXS_FOLDS_GROUP = VXS_WORD(0), VXS_USUAL_FOLDS = 5 };
/* Numbers of folds that are open are replaced by what the groups of the task allow, and a line of
 * the log names those that had to give way. Results record the settings after this. */
VXS_MUST_CHECK vxs_status vxs_cv_settle(const vxs_context *context, const vxs_task *task,
                                        vxs_cv_settings *settings, vxs_error *err);

/* Assignment of subjects to folds. */
typedef struct {
    size_t n, repeats, count;
    size_t *fold;          /* repeats x n: the fold in which a subject is held out */
    char **names;          /* of folds that are given, or NULL */
    size_t *group;         /* subjects of one person, and of one group, are in one fold */
    size_t groups, values; /* values: of --group, before persons join some; 0 without it */
    bool by_folds;         /* the groups are the folds themselves */
    bool by_people;        /* folds are groups, but two leave one: inside, persons are the groups */
    size_t *first;         /* of each value of --group: the first subject that has it, or NULL */
    size_t first_count;
} vxs_folds;
/* Warns when two persons of the task have the same values in all features: copies of one image
 * under two ids would be in training and test. Reads the features once. */
VXS_MUST_CHECK vxs_status vxs_warn_leaks(const vxs_context *context, vxs_task *task,
                                         vxs_error *err);
/* Warns of scores of classes that are in no unit and that no inner folds calibrate. */
VXS_MUST_CHECK vxs_status vxs_warn_uncalibrated(const vxs_context *context, vxs_task *task,
                                                const vxs_cv_settings *settings, vxs_error *err);
/* Dealt out evenly over classes or quantiles of the score, or as a column or file says. What would
 * leak is refused: an image, a person or a group on both sides. */
VXS_MUST_CHECK vxs_status vxs_folds_make(const vxs_task *task, const vxs_cv_settings *settings,
                                         vxs_folds *folds, vxs_error *err);
void vxs_folds_write(const vxs_task *task, const vxs_folds *folds, FILE *stream);
void vxs_folds_release(vxs_folds *folds);

enum {
    VXS_BASELINE_CONSTANT,
    VXS_BASELINE_COVARIATES,
    VXS_BASELINE_GLOBAL_SIGNAL,
    VXS_BASELINE_DENSE, /* a weight for every feature */
    VXS_BASELINES
};
extern const char *const vxs_baseline_names[VXS_BASELINES]; /* keys in files */

/* One outer fold of one repeat. */
typedef struct {
    size_t repeat, fold, train, test; /* how many subjects */
    double value, across;             /* as the inner folds chose, of a second axis as well */
    double threshold;                 /* of scores, above which a subject is positive */
    vxs_metrics outer, inner;         /* of held-out subjects; of the choice of lambda */
    vxs_metrics baselines[VXS_BASELINES];
    vxs_solution *fits;     /* one an output, of features as they stand */
    double *pattern;        /* outputs x p: what the score goes with (Haufe) */
    double passes, seconds; /* of all that was solved for it */
    bool converged;
} vxs_cv_fold;

/* Which held-out subjects r, the area under the curve and the shares of classes compare: pairs
 * within folds, so many in so many folds; or, where no fold has any, all subjects, after the
 * constant of each fold was replaced by that of all. */
typedef struct {
    bool across;
    double pairs;
    size_t folds;
} vxs_comparison;
/* By how much the model is ahead of a baseline, with the bootstrap's interval of the difference. */
typedef struct {
    vxs_metrics by, low, high;
} vxs_ahead;

typedef struct {
    vxs_cv_settings settings;
    vxs_method_settings method;
    const vxs_task *task;
    vxs_folds folds;
    size_t fold_count; /* repeats x folds */
    size_t first, end; /* those of the chunk; of the others nothing is known, and nothing of all */
    vxs_cv_fold *each;
    vxs_tuning_grid tuning;
    double *losses;                   /* folds x tries: what the inner folds say */
    double *sizes;                    /* mean number of features with a weight, one for each */
    double *scores;                   /* repeats x outputs x n, each by a model that did not learn
                                         from the subject */
    double *probabilities;            /* repeats x classes x n, calibrated; NULL for scores */
    double *baselines[VXS_BASELINES]; /* repeats x outputs x n, or NULL */
    const char *dense_left_out;       /* why there is none, unless that was asked for; or NULL */
    size_t *inner;                 /* repeats x folds x n: inner folds; SIZE_MAX: test subjects */
    vxs_metrics pooled, low, high; /* over all subjects, and the bootstrap's interval */
    vxs_metrics pooled_baselines[VXS_BASELINES];
    vxs_class_scores classes; /* over all subjects, mean over repeats */
    vxs_comparison comparison;
    double *aligned[1 + VXS_BASELINES]; /* private: repeats x outputs x n, of model and baselines */
    vxs_within within;                  /* of rows that are voxels */
    vxs_ahead ahead[VXS_BASELINES];
    vxs_unseen_list unseen; /* levels of covariates that no training subject of a fold has */
    double passes, seconds;
    bool converged;
    const char *processor; /* types, merged; NULL: that of vxs_blas_core() */
} vxs_cv;
/* Everything is learned inside of training folds: standardization, tree, class weights, prefilter,
 * lambda, calibration. */
VXS_MUST_CHECK vxs_status vxs_cv_run(const vxs_context *context, const vxs_task *task,
                                     const vxs_cv_settings *settings,
                                     const vxs_method_settings *method, vxs_cv *cv, vxs_error *err);
void vxs_cv_release(vxs_cv *cv);
/* The choice by settings->inner_folds folds of all subjects among the lambdas of a path (or of
 * the one that is given) and the smoothnesses of methods that have them; the caller releases it. */
VXS_MUST_CHECK vxs_status vxs_cv_choose(const vxs_context *context, const vxs_task *task,
                                        const vxs_cv_settings *settings,
                                        const vxs_method_settings *method, bool path,
                                        vxs_selection *selection, vxs_error *err);
/* The most directions without penalty that a fold's fits do not identify. */
size_t vxs_cv_unidentified(const vxs_cv *cv, size_t fold);
/* {metric: {mean, sd, per_fold}} under "outer" and "inner", and more. */
void vxs_cv_json(vxs_json_writer *writer, const vxs_cv *cv);
/* A directory: cv.json, predictions.tsv, scores.tsv, folds.tsv, inner_folds.tsv, weights.tsv, and
 * for voxels maps and clusters.tsv; of a chunk a part for vxs_merge. */
#define VXS_CV_FILE "cv.json"
VXS_MUST_CHECK vxs_status vxs_cv_save(const vxs_context *context, const vxs_cv *cv,
                                      const char *directory, bool replace, vxs_error *err);

/* ---- Permutations ---------------------------------------------------------------------------- */

/* Every field is a row of vxs_task_params, vxs_cv_params or vxs_permute_params. */
typedef struct {
    vxs_cv_settings cv;
    int64_t permutations, stop_at;
    const char *blocks, *metric;
    bool whole;
    vxs_chunking chunking; /* no row; a chunk does not stop early, that is for vxs_merge */
} vxs_permute_settings;
extern const vxs_param vxs_permute_params[];

/* The whole of a cross-validation, again and again with targets that were given to other subjects.
 */
typedef struct {
    const vxs_metric_row *metric;
    double observed;
    vxs_class_scores classes;         /* of the observed target */
    double *null;                     /* in the order of their numbers; NAN beyond `count` */
    size_t requested, count, reached; /* permutations; those as good as the observed one */
    double p, smallest_p, distinct;   /* distinct: how many ways there are, perhaps INFINITY */
    double acceptable;                /* the share of them whose training parts have each class */
    size_t *again;                    /* of a permutation: how often it was drawn again */
    size_t redrawn;                   /* the sum of these, of `count` permutations */
    const char *unit;                 /* what is exchanged: "subjects", "people" or "blocks" */
    size_t units;
    size_t first, end; /* those of the chunk; then there is no p */
    double seconds;
    const char *processor; /* of the run */
} vxs_permutation;
VXS_MUST_CHECK vxs_status vxs_permute(const vxs_context *context, const vxs_task *task,
                                      const vxs_permute_settings *settings,
                                      const vxs_method_settings *method, vxs_permutation *result,
                                      vxs_error *err);
void vxs_permutation_release(vxs_permutation *result);
/* The keys p, smallest_p, permutations, observed, and more. */
void vxs_permutation_json(vxs_json_writer *writer, const vxs_task *task,
                          const vxs_permutation *result);
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
    const char *group, *clusters;
    vxs_chunking chunking; /* no row */
} vxs_stability_settings;
extern const vxs_param vxs_stability_params[];

/* How often features are among the first that a path selects, over halves of the subjects. */
typedef struct {
    size_t halves, features; /* halves: two a pair; features: the most that a half may select, of */
    size_t candidates;       /* those that vary; or of groups in which one does, for methods that */
    bool groups;             /* select these as a whole where they do not overlap: bound and
                              * features are of groups then */
    double threshold;
    uint8_t *half;            /* pairs x n: 1 or 2 */
    vxs_clustered *clustered; /* of --clusters, whose features are selected then; or NULL */
    double *frequency;        /* outputs x p */
    double *positive;         /* outputs x p: share of these halves with a weight above 0 */
    size_t *stable;           /* an output each: features whose frequency reaches the threshold */
    size_t *stable_groups; /* an output each: groups of which a feature is stable, where `groups` */
    double error_bound;    /* of how many of these are wrong, each output for itself */
    double mean_selected, dice, nogueira; /* over outputs: means */
    double passes, seconds;
    bool converged;
    size_t first, end;     /* pairs of the chunk; of all nothing is known then */
    struct vxs_job *units; /* private: what the halves of a chunk selected */
    const char *processor; /* of the run */
} vxs_stability;
VXS_MUST_CHECK vxs_status vxs_stability_run(const vxs_context *context, const vxs_task *task,
                                            const vxs_stability_settings *settings,
                                            const vxs_method_settings *method,
                                            vxs_stability *result, vxs_error *err);
void vxs_stability_release(vxs_stability *result);
/* The task whose features were selected: this one, or that of its clusters. */
const vxs_task *vxs_stability_task(const vxs_task *task, const vxs_stability *result);
/* The keys selected, threshold, error_bound, nogueira, and more. */
void vxs_stability_json(vxs_json_writer *writer, const vxs_task *task, const vxs_stability *result);
/* A directory: stability.json, halves.tsv, frequencies.tsv, and for voxels frequency.nii.gz,
 * stable.nii.gz, in which only those that reach the threshold are, their clusters.tsv, and
 * mask.nii.gz; with --clusters also regions.nii.gz, the index of each voxel's cluster. */
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
    vxs_json *about;  /* private: texts of the settings */
    char *processors; /* types on which the parts were computed, with commas between */
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
