/* estimators.h - the parts of each method, and the only place where methods differ by name; private
 * to the model and evaluate rooms. */
#ifndef VXS_MODEL_ESTIMATORS_H
#define VXS_MODEL_ESTIMATORS_H

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
vxs_prepare vxs_prepare_groups; /* the same: the norms of groups */

typedef struct {
    const vxs_encoder *encoder;
    vxs_prepare *prepare;
    /* The loss of the problem; NULL: that of the target. */
    const vxs_loss_kind *(*loss)(const vxs_task_settings *task, const vxs_method_settings *method,
                                 const vxs_loss_kind *of_target);
    const struct vxs_method_words *words; /* words.h: name, description and citations */
} vxs_estimator;
const vxs_estimator *vxs_estimator_of(const vxs_task_settings *settings);
const vxs_estimator *vxs_task_estimator(const vxs_task *task);
/* The loss that is minimized; `of_target` is squared loss for scores and logistic or multinomial
 * loss for classes. */
const vxs_loss_kind *vxs_problem_loss(const vxs_task_settings *task,
                                      const vxs_method_settings *method,
                                      const vxs_loss_kind *of_target);

#endif
