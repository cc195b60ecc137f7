/* model.h - declarations shared by the files of the model room; private to it. */
#ifndef VXS_MODEL_MODEL_H
#define VXS_MODEL_MODEL_H

#include "voxsift/internal/model.h"

/* Frees an array of texts; NULL is an empty one. */
void vxs_free_texts(char **texts, size_t count);
VXS_MUST_CHECK vxs_status vxs_copy_texts(char *const *texts, size_t count, char ***copy,
                                         vxs_error *err);
/* Restriction of a task to some of its subjects, with its own design and, where the graph is
 * estimated from data, its own graph; released like a task. */
VXS_MUST_CHECK vxs_status vxs_task_part(const vxs_context *context, const vxs_task *whole,
                                        const size_t *which, size_t count, vxs_task *part,
                                        vxs_error *err);
/* trainable.c: true if these subjects include enough of each class; always true for a task of
 * scores. Error messages name the part of the subjects and suggest other folds. */
bool vxs_is_trainable(const vxs_task *task, const size_t *which, size_t count);
VXS_MUST_CHECK vxs_status vxs_check_trainable(const vxs_task *task, const size_t *which,
                                              size_t count, const char *part, const char *folds,
                                              vxs_error *err);
/* Applies the check to all subjects of the task. */
VXS_MUST_CHECK vxs_status vxs_task_check_classes(const vxs_task *task, vxs_error *err);
/* Fails with the reason why no feature can enter the model. */
vxs_status vxs_fail_no_usable_feature(const vxs_task *task, vxs_error *err);
/* Releases graph, penalty terms and what was not told, and groups that no other task shares. */
void vxs_task_release_structure(vxs_task *task);
/* Design over all features of a cohort, unscaled. */
VXS_MUST_CHECK vxs_status vxs_cohort_design(const vxs_cohort *cohort, int threads,
                                            vxs_design **base, vxs_error *err);
/* Class weights "auto": balanced if the subject weights of one class sum to more than 1.5 times
 * those of another. */
VXS_MUST_CHECK vxs_status vxs_task_settle_weights(vxs_task *task, vxs_error *err);
/* Says once, in any thread, that they are balanced: when a first solver has begun, so that nothing
 * is refused any more. */
void vxs_task_tell_weights(const vxs_context *context, const vxs_task *task);
/* Balances the loss weights u: each value of y gets the same total weight, and the sum of u stays.
 */
void vxs_balance_weights(const double *y, double *u, size_t n);
#define VXS_MOST_CLASSES 64
/* True if two cells name the same class: equal text, or equal numbers such as 1 and 1.0. */
bool vxs_is_class(const char *cell, const char *name);
/* task.c: sort order of classes: numbers by value, then text; 0 if two cells name the same class.
 */
int vxs_class_order(const char *left, const char *right);
/* positive.c: sorts two classes so that the positive one is the second. */
VXS_MUST_CHECK vxs_status vxs_task_order_classes(vxs_task *task, vxs_error *err);
/* Number of subject i's class in sorted order, whichever class is positive: random draws are
 * stratified by it and must not depend on --positive. */
size_t vxs_task_stratum(const vxs_task *task, size_t i);
/* joint.c: loss for a number of classes, in one joint problem or one problem a class. Joint
 * solutions are split into one part an output, and merged from these. */
const vxs_loss_kind *vxs_loss_of_classes(bool joint, size_t classes); /* 0: scores */
VXS_MUST_CHECK vxs_status vxs_joint_split(const vxs_task *task, const vxs_solution *joint,
                                          size_t output, vxs_solution *part, vxs_error *err);
VXS_MUST_CHECK vxs_status vxs_joint_merge(const vxs_task *task, const vxs_solution *parts,
                                          vxs_solution *joint, vxs_error *err);
/* one_vs_one.c: refuses pairs of fewer than three classes. */
VXS_MUST_CHECK vxs_status vxs_task_check_pairs(const vxs_task *task, vxs_error *err);
/* The number of outputs of a task with so many classes. */
size_t vxs_output_count(const vxs_task_settings *settings, size_t class_count);
/* The classes of a pair, of which the first is positive; "AD against CN" of their names. */
void vxs_pair_classes(size_t classes, size_t output, size_t pair[2]);
typedef const char *vxs_class_name(const void *of, size_t k);
const char *vxs_pair_name(vxs_class_name *name, const void *of, size_t classes, size_t output,
                          char text[VXS_OUTPUT_TEXT]);
/* 1 and -1 for the classes of an output, NAN for a class that is none of them. */
double vxs_output_side(const vxs_task *task, size_t output, double score);
/* The part of a task that an output is fitted on, in which it is problem 0: the subjects of a pair,
 * which is a task of two classes, those of the first positive. Only where the task has pairs. */
VXS_MUST_CHECK vxs_status vxs_task_pair(const vxs_context *context, const vxs_task *whole,
                                        const size_t *which, size_t count, size_t output,
                                        vxs_task *part, vxs_error *err);
/* The same of all subjects, for a fit, which borrows what the parts of the task have in common; the
 * first pair counts what is read for all. Released whatever is returned. */
VXS_MUST_CHECK vxs_status vxs_pair_begin(const vxs_context *context, vxs_task *task,
                                         const vxs_method_settings *settings, size_t output,
                                         vxs_task *part, vxs_error *err);
void vxs_pair_end(vxs_task *part);
/* Of one subject: votes for each class by the margins of all pairs, and between votes the sums of
 * margins, as scikit-learn has them; and probabilities of classes by those of the first class of
 * each pair. */
void vxs_pairs_vote(const double *margins, size_t classes, double *scores);
void vxs_pairs_couple(const double *first, size_t classes, double *probabilities);
/* Scores of n subjects for each class, `stride` numbers apart, from those for pairs of classes,
 * which are `apart` numbers apart; and, unless that is NULL, probabilities of classes by the logits
 * offset + slope score of pairs, or by their scores where slope is NULL. */
void vxs_pairs_conclude(const double *outputs, size_t classes, size_t n, size_t apart,
                        const double *slope, const double *offset, size_t stride, double *scores,
                        double *probabilities);
/* Converts linear scores of joint outputs to log odds against all other classes, in place; outputs
 * are `stride` numbers apart. */
void vxs_joint_odds(double *scores, size_t outputs, size_t count, size_t stride);
/* Loss of a single output. */
const vxs_loss_kind *vxs_output_loss(const vxs_task *task);
/* 1 / (1 + exp(-score)), without overflow. */
double vxs_sigmoid(double score);
/* Sets y and u of an output's problem; true if some u differs from 1. */
bool vxs_task_set_output(vxs_task *task, size_t number);
/* Allocates y and u of one output. */
VXS_MUST_CHECK vxs_status vxs_task_allocate_output(vxs_task *task, vxs_error *err);
VXS_MUST_CHECK vxs_status vxs_task_make_design(const vxs_context *context, vxs_task *task,
                                               vxs_error *err);

/* grouping.c: numbers distinct texts 0 ... count - 1 in sorted order. */
VXS_MUST_CHECK vxs_status vxs_number_texts(const char *const *texts, size_t n, size_t *number,
                                           size_t *count, vxs_error *err);
/* Cells of a column, or numbers of their distinct values, for each subject; an empty cell is an
 * error. */
VXS_MUST_CHECK vxs_status vxs_task_cells(const vxs_task *task, const char *column,
                                         const char **cells, vxs_error *err);
VXS_MUST_CHECK vxs_status vxs_task_values(const vxs_task *task, const char *column, size_t *number,
                                          size_t *count, vxs_error *err);
/* Person of each subject, numbered 0 ... people - 1. */
VXS_MUST_CHECK vxs_status vxs_task_people(const vxs_task *task, size_t *person, size_t *people,
                                          vxs_error *err);
/* Sets task->people, the number of persons. */
VXS_MUST_CHECK vxs_status vxs_task_count_people(vxs_task *task, vxs_error *err);
/* Nesting of groups in persons. within: no group contains two persons; splits: some person has
 * several groups, as the subjects `one` and `other` prove. */
typedef struct {
    bool within, splits;
    size_t one, other;
} vxs_nesting;
VXS_MUST_CHECK vxs_status vxs_nesting_in_people(const vxs_task *task, const size_t *group,
                                                size_t groups, const size_t *person, size_t people,
                                                vxs_nesting *nesting, vxs_error *err);
/* Grouping of the subjects for folds, halves and permutations: subjects of one person, or with one
 * value in the column that an option names (NULL: persons only), are in one group. The caller frees
 * `group`, also after an error. */
typedef struct {
    size_t *group;
    size_t count, values; /* groups; values of the column before merging by person */
} vxs_grouping;
VXS_MUST_CHECK vxs_status vxs_task_groups(const vxs_task *task, const char *option,
                                          const char *column, vxs_grouping *grouping,
                                          vxs_error *err);
/* trained.c: writes the training subjects' images into an open JSON object. */
void vxs_trained_json(vxs_json_writer *writer, const vxs_task *task, const uint64_t *prints,
                      const double *sketches);
/* magnitude.c: median of the training subjects' magnitudes, and the largest distance from it. */
typedef struct {
    double middle, reach;
} vxs_magnitude_range;
VXS_MUST_CHECK vxs_status vxs_find_magnitude_range(const vxs_model *model, const vxs_task *task,
                                                   vxs_magnitude_range *range, vxs_error *err);
/* covariates.c */
void vxs_free_factors(vxs_task *task);

/* hyperparameters.c: refuses an absolute lambda where lambda_max differs from part to part ("fold",
 * "half"), and on a path a lambda_ratio of 1 or more. */
VXS_MUST_CHECK vxs_status vxs_check_ratio(const vxs_task *task, const vxs_method_settings *method,
                                          const char *part, bool path, vxs_error *err);
/* The tuning grid: nlambda fractions of lambda_max from 1 down to lambda_ratio (default 0.01) for
 * each weight of the Laplacian; without a path the single value lambda_ratio (default 0.1). */
VXS_MUST_CHECK vxs_status vxs_tuning_grid_make(const vxs_task *task,
                                               const vxs_method_settings *method, bool path,
                                               vxs_tuning_grid *tuning, vxs_error *err);
void vxs_tuning_grid_release(vxs_tuning_grid *tuning);

/* threshold.c: Huber threshold estimated from these subjects (NULL: all); for other losses the
 * setting. */
VXS_MUST_CHECK vxs_status vxs_task_threshold(const vxs_task *task, const size_t *which, size_t n,
                                             double *threshold, vxs_error *err);
/* Warns of a given threshold that is far below the spread of the target. */
VXS_MUST_CHECK vxs_status vxs_task_warn_threshold(const vxs_context *context, vxs_task *task,
                                                  vxs_error *err);
/* covariates_only.c: the constant of least loss, of the losses of kernel machines; in the middle if
 * there are many. */
VXS_MUST_CHECK vxs_status vxs_fit_middle(const vxs_loss *loss, double *constant, vxs_error *err);
/* Fits score = columns x b, a model without features; sets whether the gap reached the tolerance,
 * unless that is NULL. */
VXS_MUST_CHECK vxs_status vxs_fit_columns(const vxs_loss *loss, const double *columns, size_t count,
                                          double *b, bool *converged, vxs_error *err);
/* What a program may pass: a task that was made; a model that was fitted or read; one that was
 * read. */
VXS_MUST_CHECK vxs_status vxs_task_check_made(const vxs_task *task, vxs_error *err);
VXS_MUST_CHECK vxs_status vxs_model_check_made(const vxs_model *model, vxs_error *err);
VXS_MUST_CHECK vxs_status vxs_model_check_read(const vxs_model *model, vxs_error *err);
/* Initializes a model of the task without fits; released by the caller. */
VXS_MUST_CHECK vxs_status vxs_model_begin(const vxs_task *task, vxs_model *model, vxs_error *err);
/* regress.c: true if confounds are regressed out of the features. */
bool vxs_task_regresses(const vxs_task *task);
VXS_MUST_CHECK vxs_status vxs_check_regression_subjects(const vxs_task *task, size_t count,
                                                        vxs_error *err);
/* Part of the score explained by intercept and confounds when features are not standardized. */
VXS_MUST_CHECK vxs_status vxs_regress_score(const vxs_task *task, const vxs_solution *solution,
                                            double *explained, vxs_error *err);
/* Inserts a coefficient of 0 for each confound behind the intercept: feature maps are applied after
 * the confounds are regressed out. */
VXS_MUST_CHECK vxs_status vxs_regress_widen(const vxs_task *task, vxs_solution *solution,
                                            vxs_error *err);
VXS_MUST_CHECK vxs_status vxs_regress_out(const vxs_task *task, vxs_solution *solution,
                                          vxs_error *err);
/* Reads settings by the table that wrote them; null keeps the default, texts belong to the JSON.
 * Returns NULL, or the name of a row that is missing or invalid. */
const char *vxs_read_params(const vxs_json *object, const vxs_param *table, void *values);
/* Reads the method's parameters from a model's JSON. */
VXS_MUST_CHECK vxs_status vxs_model_method(const vxs_model *model, vxs_method_settings *settings,
                                           vxs_error *err);
/* Turns VXS_MISUSE caused by settings stored in a file into VXS_BAD_DATA, with the file's name in
 * the message; returns any other status unchanged. */
VXS_MUST_CHECK vxs_status vxs_misuse_as_bad_data(const char *file, vxs_status status,
                                                 vxs_error *err);
/* Path of a file in a model's directory; freed by the caller. */
VXS_MUST_CHECK char *vxs_model_file_path(const vxs_model *model, const char *name, vxs_error *err);
#define VXS_PENALTIES_FILE   "penalties.npy"
#define VXS_GRAPH_FILE       "graph.tsv"
#define VXS_MULTIPLIERS_FILE "multipliers.npy"
/* feature_names.c: index of features by name. */
typedef struct {
    const vxs_cohort *cohort;
    const char *path; /* of the table that refers to features */
    size_t *order;    /* sorted by name */
} vxs_feature_names;
VXS_MUST_CHECK vxs_status vxs_feature_names_new(const vxs_cohort *cohort, const char *path,
                                                vxs_feature_names *names, vxs_error *err);
/* Looks up the feature that a cell names; an error names table and line. */
VXS_MUST_CHECK vxs_status vxs_feature_names_find(const vxs_feature_names *names,
                                                 const vxs_table *table, size_t row, size_t column,
                                                 size_t *feature, vxs_error *err);
/* Refuses a feature that has the name of a column that an option names: a target among the features
 * predicts itself. */
VXS_MUST_CHECK vxs_status vxs_feature_names_differ(const vxs_cohort *cohort, const char *column,
                                                   const char *option, vxs_error *err);
void vxs_feature_names_release(vxs_feature_names *names);
/* Refuses duplicate feature names, which would make the file `what` ambiguous. */
VXS_MUST_CHECK vxs_status vxs_feature_names_check(const vxs_cohort *cohort, const char *what,
                                                  vxs_error *err);
/* problem.c: releases task->prepared, which no longer fits the design. */
void vxs_task_unprepare(vxs_task *task);
/* second_axis.c: the single value of a second hyperparameter used without cross-validation. */
VXS_MUST_CHECK vxs_status vxs_default_across(const vxs_task *task, vxs_method_settings *settings,
                                             vxs_error *err);
/* estimators.c: refuses settings that the method does not take. */
VXS_MUST_CHECK vxs_status vxs_task_check_settings(const vxs_task *task, vxs_error *err);
VXS_MUST_CHECK vxs_status vxs_graph_read(const char *path, const vxs_cohort *cohort,
                                         vxs_graph *graph, vxs_error *err);
/* graph_rules.c: makes the graph if the method needs one; refuses unsuitable settings. */
VXS_MUST_CHECK vxs_status vxs_task_make_graph(const vxs_context *context, vxs_task *task,
                                              vxs_error *err);
/* True if --graph names a rule, not a table. */
bool vxs_graph_is_rule(const char *graph);
/* True if the graph is estimated from training data rather than given by geometry or a table. */
bool vxs_graph_is_learned(const vxs_task_settings *settings);
/* region_graph.c: edges between adjacent regions; if `linked`, also edges that connect its
 * components. */
VXS_MUST_CHECK vxs_status vxs_region_graph(const vxs_cohort *cohort, bool linked, vxs_graph *graph,
                                           vxs_error *err);
/* graph_table.c: writes a table with the columns from, to and weight; nodes are feature names. */
void vxs_graph_write(const vxs_graph *graph, const vxs_cohort *cohort, FILE *stream);
/* penalty_matrix.c: makes task->terms (rows of D) for '--penalty' trend or matrix:FILE, once a
 * task. */
VXS_MUST_CHECK vxs_status vxs_task_make_terms(vxs_task *task, const char *penalty, vxs_error *err);
/* True if --penalty is of terms that are not the differences of neighbors; if it names a file. */
bool vxs_are_terms(const char *penalty);
bool vxs_terms_are_given(const char *penalty);
void vxs_terms_write(const vxs_analysis *terms, const vxs_cohort *cohort, FILE *stream);
/* Sets the single path point (iterations or nselect) used without cross-validation. */
VXS_MUST_CHECK vxs_status vxs_default_path_point(const vxs_method *method,
                                                 const vxs_method_settings *settings,
                                                 vxs_path_point *point, vxs_error *err);
/* group_rules.c: makes task->groups for '--groups' atlas:NAME, file:FILE, patches:MM, tree:octree
 * or tree:FILE, once a task; restrictions of the task share them. */
VXS_MUST_CHECK vxs_status vxs_task_make_groups(const vxs_context *context, vxs_task *task,
                                               const char *text, vxs_error *err);
/* True if the groups follow from the voxel grid alone, so that a model need not store them. */
bool vxs_groups_are_rule(const char *text);
bool vxs_groups_are_tree(const char *text);
/* feature_blocks.c: the power of a group's size in its penalty (group lasso). */
double vxs_group_power(const vxs_method_settings *settings);
/* group_tables.c: reads a table with the columns group and feature (`file:`), or feature and path
 * (`tree:`); groups are released by the caller. */
VXS_MUST_CHECK vxs_status vxs_groups_read(const char *path, const vxs_cohort *cohort,
                                          vxs_groups *groups, vxs_error *err);
VXS_MUST_CHECK vxs_status vxs_group_tree_read(const char *path, const vxs_cohort *cohort,
                                              vxs_groups *groups, vxs_error *err);
/* Writes the table for `tree:` if groups form a tree, else the one for `file:`. */
VXS_MUST_CHECK vxs_status vxs_groups_write(const vxs_groups *groups, const vxs_cohort *cohort,
                                           FILE *stream, vxs_error *err);
/* Name of a group; for a sphere the voxel indices of its center: "34,51,20". */
#define VXS_GROUP_NAME 80
const char *vxs_group_name(const vxs_groups *groups, const vxs_cohort *cohort, size_t group,
                           char buffer[VXS_GROUP_NAME]);
/* multipliers.c */
bool vxs_model_has_multipliers(const vxs_model *model);
VXS_MUST_CHECK vxs_status vxs_multipliers_write(const vxs_model *model, size_t n, FILE *stream,
                                                vxs_error *err);
/* Dual multipliers of an output; freed by the caller, also after an error. */
VXS_MUST_CHECK vxs_status vxs_multipliers_read(const vxs_model *model, const vxs_task *task,
                                               size_t output, vxs_bound **bound, vxs_error *err);
/* penalties.c: penalty factor of each feature, from a table, an image on the cohort's grid or an
 * array; freed by the caller, also after an error. */
VXS_MUST_CHECK vxs_status vxs_penalties_read(const char *path, const vxs_cohort *cohort,
                                             double **penalties, vxs_error *err);
VXS_MUST_CHECK vxs_status vxs_write_mask(const vxs_grid *grid, const size_t *voxels, size_t count,
                                         FILE *stream, vxs_error *err);
/* hyperparameters.c: writes the keys of a tuned model: the tuning grid, cross-validated losses and
 * model sizes a fold. */
void vxs_selection_json(vxs_json_writer *writer, const vxs_selection *selection, size_t folds);
/* facts.c: writes into an open object: method, loss, target, subjects, size and weight of each
 * class, features and their preparation, and excluded subjects. */
void vxs_task_json(vxs_json_writer *writer, const vxs_task *task,
                   const vxs_method_settings *method);
/* Flow of subjects: read, refused and excluded ones with reasons, down to those analyzed. */
void vxs_flow_json(vxs_json_writer *writer, const vxs_task *task);
/* Warns, and stores the text for the key "warnings" of results. */
VXS_MUST_CHECK vxs_status vxs_task_warn(const vxs_context *context, vxs_task *task, vxs_error *err,
                                        const char *format, ...) VXS_PRINTF(4, 5);
void vxs_features_json(vxs_json_writer *writer, const vxs_cohort *cohort);
/* Writes a parsed JSON value. */
void vxs_copy_json(vxs_json_writer *writer, const char *key, const vxs_json *value);
/* Copies how voxels were made that are rows, or instances, of a cohort. */
void vxs_patches_json(vxs_json_writer *writer, const vxs_cohort *cohort);
/* Cells of a table with a voxel's i, j, k and its x, y, z in mm. */
void vxs_write_place_header(vxs_tsv_writer *writer);
void vxs_write_mm(vxs_tsv_writer *writer, double at);
void vxs_write_place(vxs_tsv_writer *writer, const vxs_grid *grid, size_t voxel);
/* Sum of an output's weights. */
double vxs_model_sum(const vxs_solution *fit);
/* Refuses a cohort whose features differ from the model's, with the reason. */
VXS_MUST_CHECK vxs_status vxs_model_same_features(const vxs_model *model, const vxs_cohort *cohort,
                                                  vxs_error *err);

#endif
