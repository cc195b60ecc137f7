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
VXS_MUST_CHECK vxs_status vxs_model_method(const vxs_model *model, vxs_lasso_settings *settings,
                                           vxs_error *err);
#define VXS_PENALTIES_FILE "penalties.npy"
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
