/* model.h - what the files about models share; private to the model room. */
#ifndef VXS_MODEL_MODEL_H
#define VXS_MODEL_MODEL_H

#include "voxsift/internal/model.h"

/* Frees an array of texts; NULL has none. */
void vxs_free_texts(char **texts, size_t count);
VXS_MUST_CHECK vxs_status vxs_copy_texts(char *const *texts, size_t count, char ***copy,
                                         vxs_error *err);
/* The task on some of its subjects, with a design over these alone, and the graph that is learned
 * from them; released as a task. */
VXS_MUST_CHECK vxs_status vxs_task_part(const vxs_context *context, const vxs_task *whole,
                                        const size_t *which, size_t count, vxs_task *part,
                                        vxs_error *err);
/* trainable.c: whether these subjects of a task have enough of each class; a task of scores always
 * has. Messages name the part, and what to use for other ones. */
bool vxs_is_trainable(const vxs_task *task, const size_t *which, size_t count);
VXS_MUST_CHECK vxs_status vxs_check_trainable(const vxs_task *task, const size_t *which,
                                              size_t count, const char *part, const char *folds,
                                              vxs_error *err);
/* The same of all subjects. */
VXS_MUST_CHECK vxs_status vxs_task_check_classes(const vxs_task *task, vxs_error *err);
/* Fails, with the reason why no feature can get a weight. */
vxs_status vxs_fail_nothing_left(const vxs_task *task, vxs_error *err);
/* Graph, terms and groups, of which a part has not all for itself. */
void vxs_task_drop_ties(vxs_task *task);
/* All columns of a cohort, as they stand. */
VXS_MUST_CHECK vxs_status vxs_cohort_design(const vxs_cohort *cohort, int threads,
                                            vxs_design **base, vxs_error *err);
/* Subjects that have the same y weigh as much as those that have another; together they weigh what
 * they did. */
void vxs_balance_weights(const double *y, double *u, size_t n);
#define VXS_MOST_CLASSES 64
/* Whether two cells are one class: the same text, or numbers that are equal, such as 1 and 1.0. */
bool vxs_is_class(const char *cell, const char *name);
/* task.c: numbers before text, and the former by their size; 0 where two cells are one class. */
int vxs_class_order(const char *left, const char *right);
/* positive.c: the positive one of two classes becomes the second. */
VXS_MUST_CHECK vxs_status vxs_task_order_classes(vxs_task *task, vxs_error *err);
/* The number of subject i's class in sorted order, whichever is the positive one: what is drawn at
 * random must not depend on that. */
size_t vxs_task_stratum(const vxs_task *task, size_t i);
/* joint.c: the loss of so many classes, by one problem of them all or one each; a joint answer's
 * part for an output, and the answer again from these. */
const vxs_loss_kind *vxs_loss_of_classes(bool joint, size_t classes); /* none: scores */
VXS_MUST_CHECK vxs_status vxs_joint_split(const vxs_task *task, const vxs_solution *joint,
                                          size_t output, vxs_solution *part, vxs_error *err);
VXS_MUST_CHECK vxs_status vxs_joint_merge(const vxs_task *task, const vxs_solution *parts,
                                          vxs_solution *joint, vxs_error *err);
/* Linear scores of joint outputs become log odds against all other classes, which are read as those
 * of any output are. Those of an output stand `stride` apart from the next one's. */
void vxs_joint_odds(double *scores, size_t outputs, size_t count, size_t stride);
/* The loss of one output by itself. */
const vxs_loss_kind *vxs_output_loss(const vxs_task *task);
/* 1 / (1 + exp(-score)), without overflow. */
double vxs_sigmoid(double score);
/* Sets y and u of a problem; whether u says more than 1. */
bool vxs_task_set_output(vxs_task *task, size_t number);
/* For one output. */
VXS_MUST_CHECK vxs_status vxs_task_make_room(vxs_task *task, vxs_error *err);
VXS_MUST_CHECK vxs_status vxs_task_make_design(const vxs_context *context, vxs_task *task,
                                               vxs_error *err);

/* together.c: numbers texts in their order. */
VXS_MUST_CHECK vxs_status vxs_number_texts(const char *const *texts, size_t n, size_t *number,
                                           size_t *count, vxs_error *err);
/* The subjects' cells of a column, or their numbers; all must have one. */
VXS_MUST_CHECK vxs_status vxs_task_cells(const vxs_task *task, const char *column,
                                         const char **cells, vxs_error *err);
VXS_MUST_CHECK vxs_status vxs_task_values(const vxs_task *task, const char *column, size_t *number,
                                          size_t *count, vxs_error *err);
/* The subjects' persons: 0 ... people - 1. */
VXS_MUST_CHECK vxs_status vxs_task_people(const vxs_task *task, size_t *person, size_t *people,
                                          vxs_error *err);
/* Sets how many there are. */
VXS_MUST_CHECK vxs_status vxs_task_count_people(vxs_task *task, vxs_error *err);
/* How groups stand to persons: none holds two of them, and a person has several, as the subjects
 * `one` and `other` show. */
typedef struct {
    bool within, splits;
    size_t one, other;
} vxs_finer;
VXS_MUST_CHECK vxs_status vxs_finer_than_people(const vxs_task *task, const size_t *group,
                                                size_t groups, const size_t *person, size_t people,
                                                vxs_finer *finer, vxs_error *err);
/* Subjects who must stay together: those of one person, and those of one value in the column of an
 * option (NULL: persons alone); the caller frees `group` whatever is returned. */
typedef struct {
    size_t *group;
    size_t count, values; /* groups; values of the column before persons join them */
} vxs_together;
VXS_MUST_CHECK vxs_status vxs_task_groups(const vxs_task *task, const char *option,
                                          const char *column, vxs_together *together,
                                          vxs_error *err);
/* trained.c: images of the training subjects, into an object that is open. */
void vxs_trained_json(vxs_json_writer *writer, const vxs_task *task, const uint64_t *prints,
                      const double *sketches);
/* covariates.c */
void vxs_free_factors(vxs_task *task);

/* hyperparameters.c: where lambda differs from part to part ("fold", "half"), only its share of
 * lambda_max can be given; on a path that lies below 1. */
VXS_MUST_CHECK vxs_status vxs_check_ratio(const vxs_task *task, const vxs_method_settings *method,
                                          const char *part, bool path, vxs_error *err);
/* What is tried: a path of nlambda shares from 1 down to lambda_ratio, or 0.01, for each smoothness
 * of methods that have it; without a path lambda_ratio, or 0.1, alone. */
VXS_MUST_CHECK vxs_status vxs_tries_make(const vxs_task *task, const vxs_method_settings *method,
                                         bool path, vxs_tries *tries, vxs_error *err);
void vxs_tries_release(vxs_tries *tries);

/* threshold.c: of Huber's loss of these subjects, of all if `which` is NULL; of other losses what
 * is set. */
VXS_MUST_CHECK vxs_status vxs_task_threshold(const vxs_task *task, const size_t *which, size_t n,
                                             double *threshold, vxs_error *err);
/* covariates_only.c: predictions from columns alone, without features: score = columns x b; whether
 * the gap was reached, unless that is NULL. */
VXS_MUST_CHECK vxs_status vxs_fit_columns(const vxs_loss *loss, const double *columns, size_t count,
                                          double *b, bool *converged, vxs_error *err);
/* An empty model of a task; released by the caller. */
VXS_MUST_CHECK vxs_status vxs_model_begin(const vxs_task *task, vxs_model *model, vxs_error *err);
/* regress.c: whether confounds are taken out of the features. */
bool vxs_task_regresses(const vxs_task *task);
VXS_MUST_CHECK vxs_status vxs_check_learners(const vxs_task *task, size_t count, vxs_error *err);
/* What intercept and confounds explain of the score of features as they stand. */
VXS_MUST_CHECK vxs_status vxs_regress_score(const vxs_task *task, const vxs_solution *solution,
                                            double *explained, vxs_error *err);
/* A place for each confound, with the weight 0, behind the intercept: of maps, which take confounds
 * out of features before these are mapped. */
VXS_MUST_CHECK vxs_status vxs_regress_widen(const vxs_task *task, vxs_solution *solution,
                                            vxs_error *err);
VXS_MUST_CHECK vxs_status vxs_regress_out(const vxs_task *task, vxs_solution *solution,
                                          vxs_error *err);
/* Settings by the same table that wrote them; what is null keeps its default, texts belong to the
 * JSON. NULL, or the name of a row that is missing or cannot be. */
const char *vxs_read_params(const vxs_json *object, const vxs_param *table, void *values);
/* The method's parameters of a model that was read. */
VXS_MUST_CHECK vxs_status vxs_model_method(const vxs_model *model, vxs_method_settings *settings,
                                           vxs_error *err);
/* Misuse in words that a file holds is bad data: the message then names the file, the status is
 * VXS_BAD_DATA. Whatever else is returned as it is. */
VXS_MUST_CHECK vxs_status vxs_words_of(const char *file, vxs_status status, vxs_error *err);
/* The path of a file of a model that was read; freed by the caller. */
VXS_MUST_CHECK char *vxs_model_inside(const vxs_model *model, const char *name, vxs_error *err);
#define VXS_PENALTIES_FILE   "penalties.npy"
#define VXS_GRAPH_FILE       "graph.tsv"
#define VXS_MULTIPLIERS_FILE "multipliers.npy"
#define VXS_TERMS_FILE       "penalty.tsv"
#define VXS_GROUPS_FILE      "groups.tsv"
/* feature_names.c: features by their names. */
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
/* Refuses a feature that has the name of a column that an option names: a target among the features
 * predicts itself. */
VXS_MUST_CHECK vxs_status vxs_feature_names_differ(const vxs_cohort *cohort, const char *column,
                                                   const char *option, vxs_error *err);
void vxs_feature_names_release(vxs_feature_names *names);
/* Refuses two features of one name, where `what` could not be read again. */
VXS_MUST_CHECK vxs_status vxs_feature_names_check(const vxs_cohort *cohort, const char *what,
                                                  vxs_error *err);
/* problem.c: away with what was made for its problem, as the design is another one now. */
void vxs_task_unprepare(vxs_task *task);
#define VXS_MOST_SMOOTHS 16
/* None for methods without that parameter. */
VXS_MUST_CHECK vxs_status vxs_read_smooths(const vxs_method_settings *settings,
                                           double smooths[VXS_MOST_SMOOTHS], size_t *count,
                                           vxs_error *err);
/* The smoothness of a fit without a choice. */
VXS_MUST_CHECK vxs_status vxs_settle_smooth(const vxs_task *task, vxs_method_settings *settings,
                                            vxs_error *err);
/* estimators.c: what does not go with the method is refused. */
VXS_MUST_CHECK vxs_status vxs_task_check_settings(const vxs_task *task, vxs_error *err);
VXS_MUST_CHECK vxs_status vxs_graph_read(const char *path, const vxs_cohort *cohort,
                                         vxs_graph *graph, vxs_error *err);
/* graph_rules.c: the graph that the method needs, or none; refuses what does not go with it. */
VXS_MUST_CHECK vxs_status vxs_task_make_graph(const vxs_context *context, vxs_task *task,
                                              vxs_error *err);
/* Not a table's name. */
bool vxs_graph_is_rule(const char *graph);
/* Whether the graph comes from the subjects, and not from where features are or from a table. */
bool vxs_graph_is_learned(const vxs_task_settings *settings);
/* region_graph.c: regions that touch, and, if `linked`, links between those that do not. */
VXS_MUST_CHECK vxs_status vxs_region_graph(const vxs_cohort *cohort, bool linked, vxs_graph *graph,
                                           vxs_error *err);
/* graph_table.c: columns from, to and weight, by the names of features. */
void vxs_graph_write(const vxs_graph *graph, const vxs_cohort *cohort, FILE *stream);
/* penalty_matrix.c: what '--penalty' names, trend or matrix:FILE; made once, in task->terms. */
VXS_MUST_CHECK vxs_status vxs_task_make_terms(vxs_task *task, const char *penalty, vxs_error *err);
/* From a file. */
bool vxs_terms_are_given(const char *penalty);
void vxs_terms_write(const vxs_analysis *terms, const vxs_cohort *cohort, FILE *stream);
/* What a fit without a choice is asked for. */
VXS_MUST_CHECK vxs_status vxs_settle_number(const vxs_method_settings *settings,
                                            vxs_path_point *point, vxs_error *err);
/* group_rules.c: what '--groups' names, atlas:NAME, file:FILE, patches:MM, tree:octree or
 * tree:FILE; made once, in task->groups, which parts of the task share from then on. */
VXS_MUST_CHECK vxs_status vxs_task_make_groups(const vxs_context *context, vxs_task *task,
                                               const char *text, vxs_error *err);
/* Whether they follow from where voxels are, so that nothing needs to be kept to make them again.
 */
bool vxs_groups_are_rule(const char *text);
/* group_tables.c: by the names of features, a table with the columns group and feature, or of trees
 * feature and path. Groups are those of `file:` and `tree:`, released by the caller. */
VXS_MUST_CHECK vxs_status vxs_groups_read(const char *path, const vxs_cohort *cohort,
                                          vxs_groups *groups, vxs_error *err);
VXS_MUST_CHECK vxs_status vxs_group_tree_read(const char *path, const vxs_cohort *cohort,
                                              vxs_groups *groups, vxs_error *err);
/* One table or the other, as the groups are a tree or not. */
VXS_MUST_CHECK vxs_status vxs_groups_write(const vxs_groups *groups, const vxs_cohort *cohort,
                                           FILE *stream, vxs_error *err);
/* Its own, or, of a sphere, the indices of the voxel in its center: "34,51,20". */
#define VXS_GROUP_NAME 80
const char *vxs_group_name(const vxs_groups *groups, const vxs_cohort *cohort, size_t group,
                           char buffer[VXS_GROUP_NAME]);
/* multipliers.c */
bool vxs_model_has_multipliers(const vxs_model *model);
VXS_MUST_CHECK vxs_status vxs_multipliers_write(const vxs_model *model, size_t n, FILE *stream,
                                                vxs_error *err);
/* Those of an output; freed by the caller, whatever is returned. */
VXS_MUST_CHECK vxs_status vxs_multipliers_read(const vxs_model *model, const vxs_task *task,
                                               size_t output, vxs_bound **bound, vxs_error *err);
/* penalties.c: of all features, from a table, an image on the cohort's grid or an array; freed by
 * the caller, whatever is returned. */
VXS_MUST_CHECK vxs_status vxs_penalties_read(const char *path, const vxs_cohort *cohort,
                                             double **penalties, vxs_error *err);
VXS_MUST_CHECK vxs_status vxs_write_mask(const vxs_grid *grid, const size_t *voxels, size_t count,
                                         FILE *stream, vxs_error *err);
/* hyperparameters.c: the keys of a choice among lambdas; losses and sizes of so many folds. */
void vxs_selection_json(vxs_json_writer *writer, const vxs_selection *selection, size_t folds);
/* facts.c: keys into an object that is open: method, loss, target, subjects, and of classes how
 * many are of each and what they weigh; features, what they are and what was done to them, and who
 * was left out. */
void vxs_task_json(vxs_json_writer *writer, const vxs_task *task,
                   const vxs_method_settings *method);
/* How many subjects were read, refused and left out, whom and why, down to those analysed. */
void vxs_flow_json(vxs_json_writer *writer, const vxs_task *task);
/* Warns, and keeps the words for results: the key "warnings" behind the flow. */
VXS_MUST_CHECK vxs_status vxs_task_warn(const vxs_context *context, vxs_task *task, vxs_error *err,
                                        const char *format, ...) VXS_PRINTF(4, 5);
void vxs_features_json(vxs_json_writer *writer, const vxs_cohort *cohort);
/* A value that was read from JSON, written again. */
void vxs_copy_json(vxs_json_writer *writer, const char *key, const vxs_json *value);
/* i, j, k, and x, y, z in mm of a voxel, as cells of a table. */
void vxs_write_place_header(vxs_tsv_writer *writer);
void vxs_write_mm(vxs_tsv_writer *writer, double at);
void vxs_write_place(vxs_tsv_writer *writer, const vxs_grid *grid, size_t voxel);
/* Of an output's weights. */
double vxs_model_sum(const vxs_solution *fit);
/* Whether the cohort's features are those of the model, and why not. */
VXS_MUST_CHECK vxs_status vxs_model_same_features(const vxs_model *model, const vxs_cohort *cohort,
                                                  vxs_error *err);

#endif
