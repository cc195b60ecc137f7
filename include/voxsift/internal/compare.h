/* voxsift/internal/compare.h - finished cross-validations compared, those of several methods. */
#ifndef VOXSIFT_INTERNAL_COMPARE_H
#define VOXSIFT_INTERNAL_COMPARE_H

#include "voxsift/internal/evaluate.h"

#ifdef __cplusplus
extern "C" {
#endif

/* ---- Finished cross-validations compared ----------------------------------------------------- */

/* Every field is a row of vxs_compare_params. */
typedef struct {
    const char *metric; /* a name, "all"; NULL: r of scores, auc of classes */
    int64_t bootstraps, permutations, seed;
} vxs_compare_settings;
extern const vxs_param vxs_compare_params[];

/* One cross-validation. */
typedef struct {
    char *directory, *name; /* as given; its last part, where no other has the same */
    char *place;            /* where it is read from */
    const char *method, *loss, *cohort, *command;
    const char *baseline;          /* key: not the model but this baseline; or NULL */
    vxs_json *about;               /* cv.json */
    double *scores, *aligned;      /* repeats x outputs x n; aligned NULL: compared within folds */
    double *probabilities;         /* repeats x classes x n; NULL for scores */
    vxs_metrics pooled, low, high; /* over all folds, and the bootstrap's interval */
    vxs_metrics *each_fold;        /* repeats x folds */
} vxs_compared_model;

/* A test's p, and Holm's of all tests of this kind; NAN, and why, where it is undefined. */
typedef struct {
    double p, holm;
    const char *undefined;
} vxs_compared_p;

/* The first model less the second, by one metric. */
typedef struct {
    double value, low, high;  /* over all folds, and the interval of paired bootstrap draws */
    vxs_compared_p swap;      /* predictions of both models swapped, person by person */
    size_t reached;           /* swaps whose difference is as large */
    vxs_compared_p resampled; /* corrected resampled t test over folds */
    size_t folds;             /* that have the metric for both; degrees of freedom: one fewer */
    double mean, mean_low, mean_high, t;
    vxs_compared_p delong; /* of the AUC of two classes */
    double error, z;       /* its standard error, of `value` */
    char *conclusion;      /* a sentence */
} vxs_compared_difference;
typedef struct {
    size_t first, second;
    vxs_compared_difference *each; /* one a metric */
} vxs_compared_pair;

/* An option in which models differ, and its value in each as text; NULL: it has no such option. */
typedef struct {
    const char *name;
    char **values;
} vxs_compared_option;

#define VXS_MOST_METRICS  16
#define VXS_COMPARE_LEVEL 0.05 /* of Holm's p of swaps, below which a model is said to be better */
typedef struct {
    vxs_compare_settings settings;
    size_t model_count;
    vxs_compared_model *models;
    const char *target; /* of the first model */
    char **classes;
    size_t class_count;
    size_t n;
    char **ids;       /* of subjects, in the order of the first model */
    double *truth;    /* n */
    vxs_folds folds;  /* groups: those of all models, joined */
    bool joined;      /* models have other groups */
    double test_size; /* test subjects for each training subject: mean over folds */
    vxs_comparison comparison;
    const vxs_metric_row *metrics[VXS_MOST_METRICS];
    size_t metric_count;
    vxs_compared_pair *pairs;
    size_t pair_count;
    vxs_compared_option *options;
    size_t option_count;
    size_t swaps;    /* how many were tried */
    bool exhaustive; /* these are all there are */
    double seconds;
} vxs_compared;
/* Directories of 'voxsift cv' of the same task, `paths` ending with NULL: refused unless subjects,
 * targets and folds agree. `from`: the directory in which they are until they are in place, by the
 * last parts of their paths; NULL: they are. */
VXS_MUST_CHECK vxs_status vxs_compare(const vxs_context *context,
                                      const vxs_compare_settings *settings,
                                      const char *const *paths, const char *from,
                                      vxs_compared *compared, vxs_error *err);
/* All are of one cross-validation: baselines of it, and perhaps its model. */
bool vxs_compared_is_one(const vxs_compared *compared);
void vxs_compared_release(vxs_compared *compared);
/* The metric with names of classes. */
const char *vxs_compared_words(const vxs_compared *compared, const vxs_metric_row *metric,
                               char text[VXS_METRIC_TEXT]);
/* The keys models, differing_options, pairs, and more. */
void vxs_compared_json(vxs_json_writer *writer, const vxs_compared *compared);
/* A directory: compare.json, compare.tsv. */
#define VXS_COMPARE_FILE "compare.json"
VXS_MUST_CHECK vxs_status vxs_compared_save(const vxs_context *context,
                                            const vxs_compared *compared, const char *directory,
                                            bool replace, vxs_error *err);

/* ---- Several methods ------------------------------------------------------------------------- */

/* Cross-validations of several methods on the same folds in one directory: a directory each, called
 * like its method, and their comparison. Of a chunk these are parts, which `merge` makes whole. */
typedef struct {
    const char *directory; /* and whether it may replace another: set by the caller, others 0 */
    bool replace;
    size_t count;
    const char *names[VXS_METHODS];
    bool unconverged[VXS_METHODS];
    vxs_output *output; /* private; from the first on */
    bool part;          /* of the chunk; units first ... end - 1 of `units` */
    vxs_chunk chunk;
    size_t first, end, units;
    int64_t bootstraps, seed; /* those of the cross-validations, with which they are compared */
    vxs_compared compared;    /* from _finish on, unless they are parts */
} vxs_several;
/* What a run would refuse of its options, before another runs: folds, hyperparameters, and the
 * problem as a fit begins with it. */
VXS_MUST_CHECK vxs_status vxs_several_check(const vxs_context *context, const vxs_task *task,
                                            const vxs_cv_settings *settings,
                                            const vxs_method_settings *method, vxs_error *err);
/* Two methods have the same classes, or both have scores. */
VXS_MUST_CHECK vxs_status vxs_several_check_targets(const vxs_task *task, const vxs_task *other,
                                                    vxs_error *err);
/* As vxs_warn_leaks, of tasks of the same subjects: the features are read once, and the results of
 * each have what was found. */
VXS_MUST_CHECK vxs_status vxs_several_warn_leaks(const vxs_context *context, vxs_task *const *tasks,
                                                 size_t count, vxs_error *err);
/* Writes one, under a private name until _finish compares all and puts them in place. */
VXS_MUST_CHECK vxs_status vxs_several_add(const vxs_context *context, vxs_several *several,
                                          const vxs_cv *cv, vxs_error *err);
VXS_MUST_CHECK vxs_status vxs_several_finish(const vxs_context *context, vxs_several *several,
                                             vxs_error *err);
void vxs_several_release(vxs_several *several);
/* The keys cross_validations and comparison. */
void vxs_several_json(vxs_json_writer *writer, const vxs_several *several);
/* The methods of parts, `paths` ending with NULL: all have the same, or are refused. None: parts of
 * one run. */
VXS_MUST_CHECK vxs_status vxs_several_parts(const char *const *paths, size_t *count,
                                            const char *names[VXS_METHODS], vxs_error *err);

#ifdef __cplusplus
}
#endif

#endif
