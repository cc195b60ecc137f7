/* covariates.h - covariates: unpenalized columns from the cohort's table; private to the model
 * room. */
#ifndef VXS_MODEL_COVARIATES_H
#define VXS_MODEL_COVARIATES_H

#include "model/model.h"

typedef struct {
    size_t column;
    bool numeric;
    vxs_level *levels; /* text, with levels */
    size_t count;
} vxs_covariate;
typedef struct {
    vxs_covariate *each;
    size_t count;
} vxs_covariates;
/* Finds the covariates that the settings name, except column `target`; release whatever is
 * returned. */
VXS_MUST_CHECK vxs_status vxs_covariates_find(const vxs_task *task, size_t target,
                                              vxs_covariates *covariates, vxs_error *err);
void vxs_covariates_release(vxs_covariates *covariates);
/* Makes the task's covariate columns: intercept, numeric values, and for text an indicator for each
 * level except the reference, among the subjects in use. Levels without a subject of weight above 0
 * have none, and are warned of. */
VXS_MUST_CHECK vxs_status vxs_covariates_read(const vxs_context *context,
                                              const vxs_covariates *covariates, vxs_task *task,
                                              vxs_error *err);
/* Warns of covariates that are nearly a linear combination of others, or are one only without the
 * subjects of weight 0. */
VXS_MUST_CHECK vxs_status vxs_covariates_warn(const vxs_context *context, vxs_task *task,
                                              vxs_error *err);
/* separated.c: warns of covariates without a penalty that separate a class from the others. */
VXS_MUST_CHECK vxs_status vxs_separated_warn(const vxs_context *context, vxs_task *task,
                                             vxs_error *err);

/* Refuses numbers whose standard deviation is at most this fraction of their mean. */
VXS_MUST_CHECK vxs_status vxs_check_offset(const char *name, const double *values, size_t n,
                                           double least, vxs_error *err);
/* Covariate columns of test subjects for a model of training subjects, covariate_count x
 * test_count; a level without training subjects of weight above 0 gets
 * the training means of its factor's columns. */
VXS_MUST_CHECK vxs_status vxs_covariates_of(const vxs_task *task, const size_t *train,
                                            size_t train_count, const size_t *test,
                                            size_t test_count, double *columns, vxs_error *err);
/* Adds the levels that occur only in one outer fold. */
VXS_MUST_CHECK vxs_status vxs_covariates_unseen(const vxs_task *task, const size_t *fold,
                                                size_t number, vxs_unseen_list *list,
                                                vxs_error *err);
/* Subject i of the list's n has this level; texts must outlive the list. */
VXS_MUST_CHECK vxs_status vxs_unseen_add(vxs_unseen_list *list, const char *covariate,
                                         const char *level, size_t i, vxs_error *err);

#endif
