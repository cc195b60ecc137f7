/* covariates.h - columns of the cohort's table that are in the model without penalty; private to
 * the model room. */
#ifndef VXS_MODEL_COVARIATES_H
#define VXS_MODEL_COVARIATES_H

#include "model/model.h"

typedef struct {
    size_t column;
    bool numeric;
    vxs_level *levels; /* of text */
    size_t count;
} vxs_covariate;
typedef struct {
    vxs_covariate *each;
    size_t count;
} vxs_covariates;
/* Those that the task's settings name, of which column `target` is none; released whatever is
 * returned. */
VXS_MUST_CHECK vxs_status vxs_covariates_find(const vxs_task *task, size_t target,
                                              vxs_covariates *covariates, vxs_error *err);
void vxs_covariates_release(vxs_covariates *covariates);
/* The task's unpenalised columns: the intercept, numbers as they are, and of text a column a level
 * but for the first, among the subjects in use. */
VXS_MUST_CHECK vxs_status vxs_covariates_read(const vxs_covariates *covariates, vxs_task *task,
                                              vxs_error *err);
/* Warns of covariates that are nearly a linear combination of others. */
VXS_MUST_CHECK vxs_status vxs_covariates_warn(const vxs_context *context, const vxs_task *task,
                                              vxs_error *err);

/* Refuses numbers whose standard deviation is not more than this share of their mean. */
VXS_MUST_CHECK vxs_status vxs_check_offset(const char *name, const double *values, size_t n,
                                           double least, vxs_error *err);
/* The unpenalised columns of some subjects as a model of others sees them, covariate_count x test_count:
 * of a level that no training subject has, the means of its covariate's columns over these. */
VXS_MUST_CHECK vxs_status vxs_covariates_of(const vxs_task *task, const size_t *train,
                                            size_t train_count, const size_t *test,
                                            size_t test_count, double *columns, vxs_error *err);
/* Adds the levels of subjects of one outer fold that no other subject has. */
VXS_MUST_CHECK vxs_status vxs_covariates_unseen(const vxs_task *task, const size_t *fold,
                                                size_t number, vxs_unseen_list *list,
                                                vxs_error *err);
/* Subject i of the list's n has this level; texts must stay. */
VXS_MUST_CHECK vxs_status vxs_unseen_add(vxs_unseen_list *list, const char *covariate,
                                         const char *level, size_t i, vxs_error *err);

#endif
