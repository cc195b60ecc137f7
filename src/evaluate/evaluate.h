/* evaluate.h - what cross-validation, permutations and stability share; private to the evaluate
 * room. */
#ifndef VXS_EVALUATE_EVALUATE_H
#define VXS_EVALUATE_EVALUATE_H

#include "model/model.h"
#include "voxsift/internal/evaluate.h"

/* Streams of random numbers. */
enum {
    VXS_STREAM_FOLDS = 1000,
    VXS_STREAM_INNER = 1000000,
    VXS_STREAM_HALVES = 50000000,
    VXS_STREAM_PERMUTE = 100000000,
    VXS_STREAM_BOOTSTRAP = 2000000000,
    VXS_STREAM_SWAP = 2100000000
};
#define VXS_OPTION_TEXT 64 /* "'--folds 5'" */
/* folds.c: the groups of --group, or persons. */
VXS_MUST_CHECK vxs_status vxs_folds_group(const vxs_task *task, const char *column,
                                          vxs_folds *folds, vxs_error *err);
/* Refuses fewer groups than there must be. `what` begins the message: the option and its value;
 * `where`: "" or " among the training subjects"; column: of the groups; NULL: they are persons. */
VXS_MUST_CHECK vxs_status vxs_folds_enough(const vxs_folds *folds, const char *column,
                                           size_t groups, size_t count, const char *what,
                                           const char *where, vxs_error *err);
/* The column that the groups of inner folds are of; NULL: they are persons. */
const char *vxs_folds_column(const vxs_folds *folds, const vxs_cv_settings *settings);
/* open_folds.c: the settings with an open number of inner folds open again: where a target is
 * permuted its folds are others, which may leave fewer groups. */
vxs_cv_settings vxs_cv_reopened(const vxs_cv_settings *settings);
/* Replaces an open number of inner folds by what the groups allow. */
VXS_MUST_CHECK vxs_status vxs_inner_settle(const vxs_context *context, const vxs_folds *folds,
                                           vxs_cv_settings *settings, vxs_error *err);
/* candidates.c: what the halves of stability select from. */
typedef struct {
    size_t count; /* features that vary (and are in a group), or groups in which one does */
    bool groups;  /* the method selects groups as a whole, and these do not overlap */
} vxs_candidates;
VXS_MUST_CHECK vxs_status vxs_candidates_count(const vxs_task *task,
                                               const vxs_method_settings *method,
                                               vxs_candidates *candidates, vxs_error *err);
/* Groups of candidates of which a feature is stable: how many, for each output. */
VXS_MUST_CHECK vxs_status vxs_candidates_stable(const vxs_task *task,
                                                const vxs_method_settings *method,
                                                const double *frequency, double threshold,
                                                size_t *stable, vxs_error *err);
/* stability.c: the bound on how many of the stable features are wrong. */
double vxs_stability_bound(double threshold, double pairs, double q, double p);
/* folds.c: each subject's fold; groups stay together. */
VXS_MUST_CHECK vxs_status vxs_folds_deal(const vxs_task *task, const size_t *group, size_t groups,
                                         size_t count, const vxs_random *random, size_t *fold,
                                         vxs_error *err);
/* balance.c: for metrics.c, of more than two classes and predictions that have folds. NAN: no two
 * subjects of different classes are in one fold. */
VXS_MUST_CHECK vxs_status vxs_balance_over_folds(const vxs_predictions *predictions,
                                                 double *balanced, vxs_error *err);
/* leaks.c */
VXS_MUST_CHECK vxs_status vxs_folds_check(const vxs_task *task, const vxs_folds *folds,
                                          vxs_error *err);

/* jobs.c: a path on some subjects, and what it predicts for others. */
typedef struct vxs_job {
    size_t number;              /* in the checkpoint */
    const size_t *train, *test; /* subjects of the task */
    size_t train_count, test_count;
    const double *values; /* as vxs_tuning_grid has them */
    const double *across; /* the second axis of the grid there, or NULL */
    size_t value_count;
    size_t begin, value_limit; /* of them to fit; limit 0: all */
    size_t end;                /* of those that were */
    /* Whether a path may end after its first `count` values; NULL: never. */
    bool (*is_done)(void *judge, const struct vxs_job *job, size_t count);
    void *judge;
    bool keep;         /* the last fit and its pattern */
    size_t limit;      /* stop before more features than that have had a weight; 0: go on */
    bool limit_groups; /* more groups than that */
    bool *selected;    /* outputs x p: those that had one; with a limit */
    bool *positive;    /* outputs x p: of these, whose weight was above 0 when it came about */
    double *scores;    /* outputs x points x test */
    double *sizes;     /* points: features with a weight, mean over outputs */
    vxs_solution *fits;
    double *pattern;
    double passes, seconds;
    bool converged;
} vxs_job;
typedef struct {
    const vxs_context *context;
    const vxs_task *task;
    const char *prefilter; /* or NULL */
    const vxs_method_settings *method;
    struct vxs_run_checkpoint *checkpoint; /* of jobs that are finished, or NULL */
    const char *doing;                     /* for the progress line */
} vxs_job_common;
VXS_MUST_CHECK vxs_status vxs_jobs_run(const vxs_job_common *common, vxs_job *jobs, size_t count,
                                       vxs_error *err);
/* How many fits on parts of a task have room in so much memory: at least 1, at most `most`. */
size_t vxs_jobs_at_once(const vxs_task *task, size_t most, double memory);
extern double vxs_jobs_cached; /* bytes of a cohort that every job reads for itself */
void vxs_job_release(vxs_job *job, size_t outputs);
size_t vxs_count_selected(const bool *selected, size_t p);

/* prefilter.c: "ttest:0.05" keeps features that go with output y, "variance:0.5" the half that
 * varies most; the design is made again without the others. */
VXS_MUST_CHECK vxs_status vxs_prefilter_check(const char *text, vxs_error *err);
VXS_MUST_CHECK vxs_status vxs_prefilter(const vxs_context *context, const vxs_task *whole,
                                        vxs_task *part, const char *text, size_t output,
                                        vxs_error *err);
/* student.c: the p-value of a correlation of n pairs, two-sided; that of Student's t, and the
 * positive t that has this p. */
double vxs_correlation_p(double r, size_t n);
double vxs_student_p(double t, double df);
double vxs_student_quantile(double p, double df);
/* metric_rows.c: the metric of that name, or a refusal. */
VXS_MUST_CHECK vxs_status vxs_metric_find(const char *name, size_t class_count,
                                          const vxs_metric_row **metric, vxs_error *err);
/* Of which more, or less, is better; the value of --option. */
VXS_MUST_CHECK vxs_status vxs_metric_aim(const char *name, const char *option, size_t class_count,
                                         const vxs_metric_row **metric, vxs_error *err);
/* setting_words.c: a setting in the JSON of results as text to be freed (NULL: no memory), and
 * whether two agree. */
char *vxs_setting_words(const vxs_json *value, vxs_error *err);
bool vxs_same_setting(const vxs_json *a, const vxs_json *b);
/* cluster_table.c: those of voxels (26 neighbors) whose value is not 0 and at least that, a map an
 * output. */
VXS_MUST_CHECK vxs_status vxs_write_clusters(const vxs_task *task, const double *map, double least,
                                             FILE *stream, vxs_error *err);

#endif
