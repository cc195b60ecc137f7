/* estimators.h - the parts of each method, and the only place where methods differ by name; private
 * to the model and evaluate rooms. */
#ifndef VXS_MODEL_ESTIMATORS_H
#define VXS_MODEL_ESTIMATORS_H

#include "model/encoder.h"

/* What a task has made for its problem and keeps between outputs and fits; those of an estimator
 * begin with this. */
typedef struct vxs_prepared {
    void (*release)(struct vxs_prepared *prepared); /* and frees it */
} vxs_prepared;

/* Completes the problem of an output, whose design, loss and covariates are set: its penalty and
 * quadratic, or a design made of the task's. */
typedef vxs_status vxs_prepare(const vxs_context *context, vxs_task *task, size_t output,
                               const vxs_method_settings *settings, vxs_problem *problem,
                               vxs_error *err);
/* problem.c: ridge; Laplacian; differences along a graph, or other sums of features. */
vxs_prepare vxs_prepare_l1, vxs_prepare_net, vxs_prepare_differences;
vxs_prepare vxs_prepare_kernels, vxs_prepare_pairs; /* kernel.c */
/* feature_blocks.c: a budget of blocks, of minimax with covariates in refitted weights alone. */
vxs_prepare vxs_prepare_blocks, vxs_prepare_minimax;

typedef struct {
    const vxs_encoder *encoder;
    vxs_prepare *prepare;
    /* The loss of its problem, where that is not always the one of the target; NULL: it is. */
    const vxs_loss_kind *(*loss)(const vxs_task_settings *task, const vxs_method_settings *method,
                                 const vxs_loss_kind *of_target);
    const struct vxs_method_words *words; /* words.h: what it is called, what it rests on */
} vxs_estimator;
const vxs_estimator *vxs_estimator_of(const vxs_task_settings *settings);
const vxs_estimator *vxs_task_estimator(const vxs_task *task);
/* The loss that is minimized; `of_target` is that of scores (squared) or of classes. */
const vxs_loss_kind *vxs_problem_loss(const vxs_task_settings *task,
                                      const vxs_method_settings *method,
                                      const vxs_loss_kind *of_target);

#endif
