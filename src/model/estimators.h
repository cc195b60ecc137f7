/* estimators.h - the parts of each method, and the only place where methods differ by name; private
 * to the model and evaluate rooms. */
#ifndef VXS_MODEL_ESTIMATORS_H
#define VXS_MODEL_ESTIMATORS_H

#include "model/axis.h"
#include "model/encoder.h"

/* What `prepare` made for the problem and keeps between outputs and fits; an estimator's own struct
 * begins with it. */
typedef struct vxs_prepared {
    void (*release)(struct vxs_prepared *prepared); /* releases and frees it */
} vxs_prepared;

/* Completes the problem of an output, whose design, loss and covariates are set: adds penalty and
 * quadratic, or replaces the design. */
typedef vxs_status vxs_prepare(const vxs_context *context, vxs_task *task, size_t output,
                               const vxs_method_settings *settings, vxs_problem *problem,
                               vxs_error *err);
/* problem.c: l1 with ridge; graph Laplacian; differences along a graph, or an analysis operator. */
vxs_prepare vxs_prepare_l1, vxs_prepare_net, vxs_prepare_differences;
vxs_prepare vxs_prepare_kernels, vxs_prepare_pairs; /* kernel.c */
/* feature_blocks.c: a budget of feature blocks; for mslr with covariates in the refit only. */
vxs_prepare vxs_prepare_blocks, vxs_prepare_minimax;
vxs_prepare vxs_prepare_measure; /* the same, for a measure */
vxs_prepare vxs_prepare_groups;  /* the same: the norms of groups */
vxs_prepare vxs_prepare_machine; /* machine.c: kernels between subjects */
vxs_prepare vxs_prepare_several; /* multi_kernel.c: kernels in each group of features */
vxs_status vxs_share_kernel(const vxs_context *context, vxs_task *task,
                            const vxs_method_settings *settings,
                            vxs_error *err); /* given_kernel.c */
bool vxs_machine_is_dense(const vxs_method_settings *settings);
double vxs_machine_bytes(const vxs_task *task); /* machine.c */
double vxs_several_bytes(const vxs_task *task); /* multi_kernel.c; the task has its groups */

/* A table that the settings of a method name, such as the groups of features. A model stores it, so
 * that check-model can make the problem again. */
typedef struct {
    const char *file; /* in the model's directory */
    bool (*is_given)(const vxs_method_settings *settings);
    vxs_status (*write)(const vxs_task *task, FILE *stream, vxs_error *err);
    /* Gives the task what the model at this path of the file has stored. */
    vxs_status (*restore)(vxs_task *task, const vxs_method_settings *settings, const char *path,
                          vxs_error *err);
} vxs_user_table;
/* problem.c, feature_blocks.c, given_kernel.c */
extern const vxs_user_table vxs_terms_table, vxs_groups_table, vxs_kernel_table;

typedef struct {
    const vxs_encoder *encoder;
    const vxs_encoder *bags; /* where subjects are bags of instances; NULL: it does not take them */
    vxs_prepare *prepare;
    const vxs_axis *axis; /* a second hyperparameter, or NULL */
    /* The loss of the problem; NULL: that of the target. */
    const vxs_loss_kind *(*loss)(const vxs_task_settings *task, const vxs_method_settings *method,
                                 const vxs_loss_kind *of_target);
    const struct vxs_method_words *words; /* words.h: name, description and citations */
    const vxs_user_table *table;          /* NULL: no setting names one */
    /* Makes what fits on all parts of a task have in common; NULL: nothing. */
    vxs_status (*share)(const vxs_context *context, vxs_task *task,
                        const vxs_method_settings *settings, vxs_error *err);
    /* Limits how many features a fit selects at once, and returns the limit before, or 0 if there
     * was nothing to limit; NULL: what a fit selects is up to lambda. */
    size_t (*limit)(vxs_method_settings *settings, size_t features);
    /* True if nearly every feature gets a weight; NULL: never. */
    bool (*is_dense)(const vxs_method_settings *settings);
    bool has_own_costs; /* class weights are for what it is compared with, not for it */
    /* True if models are made without features, so that these have no weights; NULL: never. */
    bool (*reads_no_feature)(const vxs_method_settings *settings);
    /* Bytes that the problem of a task takes beside its columns; NULL: not many. */
    double (*bytes)(const vxs_task *task);
} vxs_estimator;
const vxs_estimator *vxs_estimator_of(const vxs_task_settings *settings);
const vxs_estimator *vxs_task_estimator(const vxs_task *task);
bool vxs_is_dense(const vxs_task_settings *task, const vxs_method_settings *method);
/* The measure of the settings, and the groups; refuses subjects' weights that it does not take. */
vxs_status vxs_share_measure(const vxs_context *context, vxs_task *task,
                             const vxs_method_settings *settings, vxs_error *err);
vxs_status vxs_share_groups(const vxs_context *context, vxs_task *task,
                            const vxs_method_settings *settings, vxs_error *err);
vxs_status vxs_share_terms(const vxs_context *context, vxs_task *task,
                           const vxs_method_settings *settings, vxs_error *err); /* problem.c */
size_t vxs_limit_blocks(vxs_method_settings *settings, size_t features);
bool vxs_is_without_sparsity(const vxs_method_settings *settings); /* problem.c */
/* The loss that is minimized; `of_target` is squared loss for scores and logistic or multinomial
 * loss for classes. */
const vxs_loss_kind *vxs_problem_loss(const vxs_task_settings *task,
                                      const vxs_method_settings *method,
                                      const vxs_loss_kind *of_target);

#endif
