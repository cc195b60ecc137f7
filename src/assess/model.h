/* model.h - what the files about models share; private to the assess room. */
#ifndef VXS_ASSESS_MODEL_H
#define VXS_ASSESS_MODEL_H

#include "voxsift/assess.h"

/* Frees an array of texts; NULL has none. */
void vxs_free_texts(char **texts, size_t count);
VXS_MUST_CHECK vxs_status vxs_copy_texts(char *const *texts, size_t count, char ***copy,
                                         vxs_error *err);
/* The task on some of its subjects, with a design over these alone, and the tree that they have;
 * released as a task. */
VXS_MUST_CHECK vxs_status vxs_task_part(const vxs_context *context, const vxs_task *whole,
                                        const size_t *which, size_t count, vxs_task *part,
                                        vxs_error *err);
/* All columns of a cohort, as they stand. */
VXS_MUST_CHECK vxs_status vxs_cohort_design(const vxs_cohort *cohort, int threads,
                                            vxs_design **base, vxs_error *err);
/* Either side of an output weighs as much as the other; together they weigh what they did. */
void vxs_balance_weights(const double *y, double *u, size_t n);
/* 1 / (1 + exp(-score)), without overflow. */
double vxs_sigmoid(double score);
/* For one output. */
VXS_MUST_CHECK vxs_status vxs_task_make_room(vxs_task *task, vxs_error *err);
VXS_MUST_CHECK vxs_status vxs_task_make_design(const vxs_context *context, vxs_task *task,
                                               vxs_error *err);
/* prefilter.c: "ttest:0.05" keeps features that go with output y, "variance:0.5" the half that
 * varies most; the design is made anew with the others out of reach. */
VXS_MUST_CHECK vxs_status vxs_prefilter_check(const char *text, vxs_error *err);
VXS_MUST_CHECK vxs_status vxs_prefilter(const vxs_context *context, vxs_task *part,
                                        const char *text, size_t output, vxs_error *err);
/* The p-value of a correlation of n pairs, two-sided. */
double vxs_correlation_p(double r, size_t n);

/* Streams of random numbers. */
enum {
    VXS_STREAM_FOLDS = 1000,
    VXS_STREAM_INNER = 1000000,
    VXS_STREAM_HALVES = 50000000,
    VXS_STREAM_PERMUTE = 100000000,
    VXS_STREAM_BOOTSTRAP = 2000000000
};
/* folds.c: numbers the different cells of a column; all subjects must have one. */
VXS_MUST_CHECK vxs_status vxs_task_number_groups(const vxs_task *task, const char *column,
                                                 size_t *group, size_t *groups, vxs_error *err);
/* folds.c: who must stay together. */
VXS_MUST_CHECK vxs_status vxs_folds_group(const vxs_task *task, const vxs_cv_settings *settings,
                                          vxs_folds *folds, vxs_error *err);
/* stability.c: the bound on how many of the stable features are wrong. */
double vxs_stability_bound(double threshold, double pairs, double q, double p);
/* folds.c: each subject's fold; groups stay together. */
VXS_MUST_CHECK vxs_status vxs_folds_deal(const vxs_task *task, const size_t *group, size_t groups,
                                         size_t count, const vxs_random *random, size_t *fold,
                                         vxs_error *err);
/* leaks.c */
VXS_MUST_CHECK vxs_status vxs_folds_check(const vxs_task *task, const vxs_cv_settings *settings,
                                          const vxs_folds *folds, vxs_error *err);

/* jobs.c: a path on some subjects, and what it predicts for others. */
typedef struct vxs_job {
    const size_t *train, *test; /* subjects of the task */
    size_t train_count, test_count;
    const double *ratios; /* of lambda_max, falling */
    size_t ratio_count;
    bool keep;      /* the last fit and its pattern */
    size_t limit;   /* stop before more features than that have had a weight; 0: go on */
    bool *selected; /* outputs x p: those that had one; with a limit */
    double *scores; /* outputs x ratios x test */
    vxs_solution *fits;
    double *pattern;
    double passes, seconds;
    bool converged;
} vxs_job;
VXS_MUST_CHECK vxs_status vxs_jobs_run(const vxs_context *context, const vxs_task *task,
                                       const char *prefilter, const vxs_method_settings *method,
                                       vxs_job *jobs, size_t count, const char *what,
                                       vxs_error *err);
/* Where lambda differs from part to part ("fold", "half"), only its share of lambda_max can be
 * given; on a path that lies below 1. */
VXS_MUST_CHECK vxs_status vxs_check_ratio(const vxs_method_settings *method, const char *part,
                                          bool path, vxs_error *err);
/* nlambda shares from 1 down to lambda_ratio, or 0.01; freed by the caller. */
VXS_MUST_CHECK vxs_status vxs_path_ratios(const vxs_method_settings *method, double **ratios,
                                          vxs_error *err);
extern double vxs_jobs_cached; /* bytes of a cohort that every job reads for itself */
void vxs_job_release(vxs_job *job, size_t outputs);

/* baselines.c: predictions from columns alone, without features: score = columns x b. */
VXS_MUST_CHECK vxs_status vxs_fit_columns(vxs_loss loss, const double *y, const double *weights,
                                          const double *columns, size_t n, size_t count, double *b,
                                          vxs_error *err);
/* An empty model of a task; released by the caller. */
VXS_MUST_CHECK vxs_status vxs_model_begin(const vxs_task *task, vxs_model *model, vxs_error *err);
/* Weights of standardised columns become weights of features as they stand in the cohort, and the
 * free ones have a place for every confound. */
VXS_MUST_CHECK vxs_status vxs_model_unstandardise(const vxs_task *task, vxs_solution *solution,
                                                  vxs_error *err);
/* regress.c: whether confounds are taken out of the features. */
bool vxs_task_regresses(const vxs_task *task);
VXS_MUST_CHECK vxs_status vxs_check_learners(const vxs_task *task, size_t count, vxs_error *err);
/* What intercept and confounds explain of the score of features as they stand. */
VXS_MUST_CHECK vxs_status vxs_regress_score(const vxs_task *task, const vxs_solution *solution,
                                            double *explained, vxs_error *err);
VXS_MUST_CHECK vxs_status vxs_regress_out(const vxs_task *task, vxs_solution *solution,
                                          vxs_error *err);
/* Settings by the same table that wrote them; what is null keeps its default, texts belong to the
 * JSON. NULL, or the name of a row that is missing or cannot be. */
const char *vxs_read_params(const vxs_json *object, const vxs_param *table, void *values);
/* The method's parameters of a model that was read. */
VXS_MUST_CHECK vxs_status vxs_model_method(const vxs_model *model, vxs_method_settings *settings,
                                           vxs_error *err);
/* The path of a file of a model that was read; freed by the caller. */
VXS_MUST_CHECK char *vxs_model_inside(const vxs_model *model, const char *name, vxs_error *err);
#define VXS_PENALTIES_FILE "penalties.npy"
#define VXS_GRAPH_FILE     "graph.tsv"
/* names.c: features by their names. */
typedef struct {
    const vxs_cohort *cohort;
    const char *path; /* of the table that names them */
    size_t *order;    /* by name */
} vxs_feature_names;
VXS_MUST_CHECK vxs_status vxs_feature_names_new(const vxs_cohort *cohort, const char *path,
                                                vxs_feature_names *names, vxs_error *err);
/* A cell of that table must name a feature. */
VXS_MUST_CHECK vxs_status vxs_feature_names_find(const vxs_feature_names *names,
                                                 const vxs_table *table, size_t row, size_t column,
                                                 size_t *feature, vxs_error *err);
void vxs_feature_names_release(vxs_feature_names *names);
/* graph.c: the graph that the method needs, or none; refuses what does not go with it. */
VXS_MUST_CHECK vxs_status vxs_task_make_graph(const vxs_context *context, vxs_task *task,
                                              vxs_error *err);
/* Columns from, to and weight, by the names of features. */
void vxs_graph_write(const vxs_graph *graph, const vxs_cohort *cohort, FILE *stream);
/* penalties.c: of all features, from a table, an image on the cohort's grid or an array; freed by
 * the caller, whatever is returned. */
VXS_MUST_CHECK vxs_status vxs_penalties_read(const char *path, const vxs_cohort *cohort,
                                             double **penalties, vxs_error *err);
VXS_MUST_CHECK vxs_status vxs_write_mask(const vxs_grid *grid, const size_t *voxels, size_t count,
                                         FILE *stream, vxs_error *err);
/* facts.c: keys into an object that is open: method, loss, target, subjects, and of classes how
 * many are of each and what they weigh; features, what they are and what was done to them, and who
 * was left out. */
void vxs_task_json(vxs_json_writer *writer, const vxs_task *task);
void vxs_features_json(vxs_json_writer *writer, const vxs_cohort *cohort);
/* A value that was read from JSON, written again. */
void vxs_copy_json(vxs_json_writer *writer, const char *key, const vxs_json *value);
/* i, j, k, and x, y, z in mm of a voxel, as cells of a table. */
void vxs_write_place_header(vxs_tsv_writer *writer);
void vxs_write_place(vxs_tsv_writer *writer, const vxs_grid *grid, size_t voxel);
/* Of an output's weights. */
double vxs_model_sum(const vxs_solution *fit);
/* Whether the cohort's features are those of the model, and why not. */
VXS_MUST_CHECK vxs_status vxs_model_same_features(const vxs_model *model, const vxs_cohort *cohort,
                                                  vxs_error *err);

#endif
