/* estimators.c - the table of estimators: encoder, path and what goes with each method. */
#include "model/estimators.h"
#include "model/machine.h"
#include "model/model.h"
#include "model/words.h"

static const vxs_loss_kind *hinge(const vxs_task_settings *task, const vxs_method_settings *method,
                                  const vxs_loss_kind *of_target)
{
    (void)of_target;
    (void)task;
    (void)method;
    return &vxs_hinge_loss;
}

/* HSIC: squared loss of kernels against y y'. */
static const vxs_loss_kind *squared(const vxs_task_settings *task,
                                    const vxs_method_settings *method,
                                    const vxs_loss_kind *of_target)
{
    (void)of_target;
    (void)task;
    (void)method;
    return &vxs_squared_loss;
}

static const vxs_loss_kind *loss_of_margins(const vxs_task_settings *task,
                                            const vxs_method_settings *method,
                                            const vxs_loss_kind *of_target)
{
    (void)method;
    if (of_target->of_scores)
        return of_target;
    return vxs_chosen_loss(task) == &vxs_logistic_loss ? &vxs_logistic_loss
                                                       : &vxs_squared_hinge_loss;
}

static const vxs_loss_kind *logistic(const vxs_task_settings *task,
                                     const vxs_method_settings *method,
                                     const vxs_loss_kind *of_target)
{
    (void)of_target;
    (void)task;
    (void)method;
    return &vxs_logistic_loss;
}

static const vxs_loss_kind *of_measure(const vxs_task_settings *task,
                                       const vxs_method_settings *method,
                                       const vxs_loss_kind *of_target)
{
    (void)of_target;
    (void)task;
    (void)method;
    return &vxs_measure_loss;
}

static const vxs_loss_kind *loss_of_machine(const vxs_task_settings *task,
                                            const vxs_method_settings *method,
                                            const vxs_loss_kind *of_target)
{
    (void)task;
    (void)method;
    return of_target->of_scores ? &vxs_epsilon_loss : &vxs_margin_loss;
}

/* The loss that --loss names if it fits target and method, else that of the target: losses of
 * several classes at once are the target's, as two classes are one output. */
static const vxs_loss_kind *chosen(const vxs_task_settings *task, const vxs_method_settings *method,
                                   const vxs_loss_kind *of_target)
{
    (void)method;
    const vxs_loss_kind *loss = vxs_chosen_loss(task);
    bool fits = loss && !loss->joint && loss->of_scores == of_target->of_scores &&
                vxs_method_takes_loss(&vxs_methods[task->method], loss);
    return fits ? loss : of_target;
}

/* In the order of vxs_methods. */
static const vxs_estimator estimators[] = {
    [VXS_METHOD_LASSO] = { .encoder = &vxs_linear_encoder,
                           .bags = &vxs_bag_encoder,
                           .prepare = vxs_prepare_l1,
                           .loss = chosen,
                           .words = &vxs_lasso_words },
    [VXS_METHOD_FUSED] = { .encoder = &vxs_linear_encoder,
                           .prepare = vxs_prepare_differences,
                           .loss = chosen,
                           .words = &vxs_fused_words,
                           .table = &vxs_terms_table,
                           .share = vxs_share_terms,
                           .is_dense = vxs_is_without_sparsity },
    [VXS_METHOD_SKFS] = { .encoder = &vxs_kernel_encoder,
                          .prepare = vxs_prepare_kernels,
                          .axis = &vxs_laplacian_axis,
                          .loss = hinge,
                          .words = &vxs_skfs_words },
    [VXS_METHOD_HSIC] = { .encoder = &vxs_kernel_encoder,
                          .prepare = vxs_prepare_pairs,
                          .loss = squared,
                          .words = &vxs_hsic_words },
    [VXS_METHOD_FGM] = { .encoder = &vxs_block_encoder,
                         .prepare = vxs_prepare_blocks,
                         .loss = loss_of_margins,
                         .words = &vxs_fgm_words,
                         .table = &vxs_groups_table,
                         .share = vxs_share_groups,
                         .limit = vxs_limit_blocks },
    [VXS_METHOD_MSLR] = { .encoder = &vxs_block_encoder,
                          .prepare = vxs_prepare_minimax,
                          .loss = logistic,
                          .words = &vxs_mslr_words,
                          .table = &vxs_groups_table,
                          .share = vxs_share_groups,
                          .limit = vxs_limit_blocks },
    [VXS_METHOD_MEASURE] = { .encoder = &vxs_block_encoder,
                             .prepare = vxs_prepare_measure,
                             .loss = of_measure,
                             .words = &vxs_measure_words,
                             .table = &vxs_groups_table,
                             .share = vxs_share_measure,
                             .limit = vxs_limit_blocks,
                             .has_own_costs = true },
    [VXS_METHOD_GROUP_LASSO] = { .encoder = &vxs_block_encoder,
                                 .prepare = vxs_prepare_groups,
                                 .loss = chosen,
                                 .words = &vxs_group_lasso_words,
                                 .table = &vxs_groups_table,
                                 .share = vxs_share_groups },
    [VXS_METHOD_GRAPHNET] = { .encoder = &vxs_linear_encoder,
                              .prepare = vxs_prepare_net,
                              .loss = chosen,
                              .words = &vxs_graphnet_words },
    [VXS_METHOD_SVM] = { .encoder = &vxs_machine_encoder,
                         .prepare = vxs_prepare_machine,
                         .axis = &vxs_gamma_axis,
                         .loss = loss_of_machine,
                         .words = &vxs_svm_words,
                         .table = &vxs_kernel_table,
                         .share = vxs_share_kernel,
                         .is_dense = vxs_machine_is_dense,
                         .reads_no_feature = vxs_kernel_is_given,
                         .bytes = vxs_machine_bytes },
    [VXS_METHOD_MKL] = { .encoder = &vxs_several_encoder,
                         .prepare = vxs_prepare_several,
                         .loss = loss_of_machine,
                         .words = &vxs_mkl_words,
                         .table = &vxs_groups_table,
                         .share = vxs_share_groups,
                         .is_dense = vxs_machine_is_dense,
                         .bytes = vxs_several_bytes },
};
_Static_assert(sizeof(estimators) / sizeof(estimators[0]) == VXS_METHODS, "a method without a row");

const vxs_estimator *vxs_estimator_of(const vxs_task_settings *settings)
{
    return &estimators[settings->method];
}

const vxs_estimator *vxs_task_estimator(const vxs_task *t)
{
    return vxs_estimator_of(&t->settings);
}

const vxs_encoder *vxs_encoder_of(const vxs_task_settings *settings)
{
    const vxs_estimator *e = vxs_estimator_of(settings);
    return settings->bags && e->bags ? e->bags : e->encoder;
}

const vxs_encoder *vxs_task_encoder(const vxs_task *t)
{
    return vxs_encoder_of(&t->settings);
}

bool vxs_is_dense(const vxs_task_settings *task, const vxs_method_settings *method)
{
    const vxs_estimator *e = vxs_estimator_of(task);
    return e->is_dense && e->is_dense(method);
}

bool vxs_reads_no_feature(const vxs_task_settings *task, const vxs_method_settings *method)
{
    const vxs_estimator *e = vxs_estimator_of(task);
    return e->reads_no_feature && e->reads_no_feature(method);
}

bool vxs_takes_no_covariates(const vxs_method *method)
{
    return estimators[method - vxs_methods].encoder->without_covariates;
}

const vxs_loss_kind *vxs_problem_loss(const vxs_task_settings *task,
                                      const vxs_method_settings *method,
                                      const vxs_loss_kind *of_target)
{
    const vxs_estimator *e = vxs_estimator_of(task);
    return e->loss ? e->loss(task, method, of_target) : of_target;
}

const char *vxs_loss_name(const vxs_task_settings *task, const vxs_method_settings *method,
                          const vxs_loss_kind *loss)
{
    const vxs_loss_kind *kind = vxs_problem_loss(task, method, loss);
    bool measured = kind == &vxs_measure_loss && method && method->blocks.measure;
    return measured ? method->blocks.measure : kind->name;
}

bool vxs_task_has_logits(const vxs_task *t)
{
    const vxs_loss_kind *loss = vxs_problem_loss(&t->settings, NULL, t->loss);
    bool by_lambda = vxs_task_method(t)->path == VXS_BY_LAMBDA; /* others end early, or refit */
    return t->class_count > 0 && by_lambda && (loss->joint || loss == &vxs_logistic_loss);
}

/* ---- What goes with it ----------------------------------------------------------------------- */

static vxs_status refuse_loss(const vxs_method *method, const vxs_loss_kind *loss, vxs_error *err)
{
    char names[128] = "", losses[128];
    size_t used = 0, count = 0;
    for (const vxs_method *m = vxs_methods; m->name && used < sizeof(names); m++)
        if (vxs_method_takes_loss(m, loss))
            used += (size_t)snprintf(names + used, sizeof(names) - used, "%s%s",
                                     count++ > 0 ? ", " : "", m->name);
    vxs_method_losses(method, losses, sizeof(losses));
    return vxs_fail(err, VXS_MISUSE, "'--loss %s' goes with method%s %s; method '%s' takes %s",
                    loss->name, count > 1 ? "s" : "", names, method->name, losses);
}

/* Differences of weights need weights of one unit. */
static vxs_status check_intercept(const vxs_task_settings *s, vxs_error *err)
{
    if (s->no_intercept && s->standardize != VXS_STANDARDIZE_NONE)
        return vxs_fail(err, VXS_MISUSE,
                        "'--no-intercept' goes with '--standardize none': features without their "
                        "mean have an intercept in them");
    if (s->no_intercept && s->confounds_as == VXS_CONFOUNDS_REGRESS)
        return vxs_fail(err, VXS_MISUSE,
                        "'--confounds-as regress' takes the mean out as well; it does "
                        "not go with '--no-intercept'");
    return VXS_OK;
}

static vxs_status check_pairs(const vxs_task *t, vxs_error *err)
{
    if (t->settings.multiclass != VXS_ONE_VS_ONE)
        return VXS_OK;
    if (!vxs_task_method(t)->takes_pairs)
        return vxs_fail(err, VXS_MISUSE,
                        "method '%s' fits each class against the rest; '--multiclass one-vs-one' "
                        "goes with methods svm and mkl",
                        vxs_task_method(t)->name);
    return t->settings.regress_on
               ? vxs_fail(err, VXS_MISUSE,
                          "'--regress-on' does not go with '--multiclass one-vs-one': a pair of "
                          "classes is fitted on its own subjects")
               : VXS_OK;
}

static vxs_status check_method(const vxs_task *t, vxs_error *err)
{
    const vxs_method *method = vxs_task_method(t);
    const vxs_loss_kind *loss = vxs_chosen_loss(&t->settings);
    if (method->graph != VXS_GRAPH_NEEDED && loss == &vxs_multinomial_loss)
        return vxs_fail(err, VXS_MISUSE,
                        "method '%s' fits each class against the rest; '--loss multinomial' goes "
                        "with '--method fused'",
                        method->name);
    if (loss && !vxs_method_takes_loss(method, loss))
        return refuse_loss(method, loss, err);
    if (t->settings.huber_threshold > 0 && !vxs_takes_threshold(&t->settings))
        return vxs_fail(err, VXS_MISUSE, "'--huber-threshold' goes with '--loss huber'");
    if (method->graph == VXS_GRAPH_NONE && t->settings.graph)
        return vxs_fail(err, VXS_MISUSE, "method '%s' has no use for '--graph'", method->name);
    if (method->graph == VXS_GRAPH_OPTIONAL && t->settings.penalties)
        return vxs_fail(err, VXS_MISUSE, "method '%s' has no use for '--penalty-factors'",
                        method->name);
    if (vxs_takes_no_covariates(method) && t->settings.confounds &&
        t->settings.confounds_as != VXS_CONFOUNDS_REGRESS)
        return vxs_fail(err, VXS_MISUSE,
                        "method '%s' fits kernels alone: confounds are taken out of "
                        "the features, with '--confounds-as regress'",
                        method->name);
    if (method->graph == VXS_GRAPH_NEEDED && t->settings.penalties)
        return vxs_fail(
            err, VXS_MISUSE,
            "method '%s' penalizes differences, not features: instead of '--penalty-factors' "
            "give the edges of '--graph' a column weight",
            method->name);
    if (method->graph == VXS_GRAPH_NEEDED && t->settings.standardize == (int)VXS_STANDARDIZE_UNIT)
        return vxs_fail(err, VXS_MISUSE,
                        "'--standardize unit' does not go with method '%s', which compares the "
                        "weights of neighbors: they would be in different units",
                        method->name);
    return VXS_OK;
}

vxs_status vxs_task_check_settings(const vxs_task *t, vxs_error *err)
{
    vxs_status status = check_intercept(&t->settings, err);
    if (!status)
        status = check_pairs(t, err);
    return status ? status : check_method(t, err);
}
