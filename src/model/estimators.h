/* estimators.h - the parts of each method, and the only place where methods differ by name; private
 * to the model and evaluate rooms. */
#ifndef VXS_MODEL_ESTIMATORS_H
#define VXS_MODEL_ESTIMATORS_H

#include "model/encoder.h"

typedef enum { VXS_GRAPH_NONE, VXS_GRAPH_OPTIONAL, VXS_GRAPH_NEEDED } vxs_graph_use;

typedef struct {
    const vxs_encoder *encoder;
    vxs_graph_use graph;
    bool several_smooths; /* a path for each of several smoothnesses */
    bool regresses;       /* covariates are taken out of the features, and in no other way */
    bool no_constant;     /* scores have no constant that moves from fold to fold */
    bool squared_hinge;   /* '--loss squared-hinge' goes with it */
    bool laplacian;       /* the graph is that of a Laplacian */
    bool minimax;         /* covariates have no part but in refitted weights */
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
