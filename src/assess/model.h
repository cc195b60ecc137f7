/* model.h - what the files about models share; private to the assess room. */
#ifndef VXS_ASSESS_MODEL_H
#define VXS_ASSESS_MODEL_H

#include "voxsift/assess.h"

/* Frees an array of texts; NULL has none. */
void vxs_free_texts(char **texts, size_t count);
/* An empty model of a task; released by the caller. */
VXS_MUST_CHECK vxs_status vxs_model_begin(const vxs_task *task, vxs_model *model, vxs_error *err);
/* Weights of standardised columns become weights of features as they stand in the cohort. */
void vxs_model_unstandardise(const vxs_task *task, vxs_solution *solution);
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
/* Of an output's weights. */
double vxs_model_sum(const vxs_solution *fit);
/* Whether the cohort's features are those of the model, and why not. */
VXS_MUST_CHECK vxs_status vxs_model_same_features(const vxs_model *model, const vxs_cohort *cohort,
                                                  vxs_error *err);

#endif
