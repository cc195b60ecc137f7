/* task_part.c - a task on a subset of its subjects: everything that is estimated is estimated on
 * these alone. */
#include "model/estimators.h"
#include "model/model.h"

#include <stdlib.h>
#include <string.h>

static vxs_status copy_subjects(const vxs_task *whole, const size_t *which, vxs_task *part,
                                vxs_error *err)
{
    size_t n = part->n, q = whole->covariate_count;
    part->rows = vxs_alloc(n, sizeof(*part->rows), err);
    part->score = vxs_alloc(n, sizeof(*part->score), err);
    part->covariates = vxs_alloc(n * q, sizeof(*part->covariates), err);
    part->regression_subject =
        whole->regression_subject ? vxs_alloc(n, sizeof(*part->regression_subject), err) : NULL;
    part->weights = whole->weights ? vxs_alloc(n, sizeof(*part->weights), err) : NULL;
    if (!part->rows || !part->score || !part->covariates || (whole->weights && !part->weights) ||
        (whole->regression_subject && !part->regression_subject))
        return VXS_FAILED;
    size_t regression_subjects = 0;
    for (size_t i = 0; i < n; i++) {
        part->rows[i] = whole->rows[which[i]];
        part->score[i] = whole->score[which[i]];
        if (whole->regression_subject)
            part->regression_subject[i] = whole->regression_subject[which[i]];
        if (whole->weights)
            part->weights[i] = whole->weights[which[i]];
        if (whole->regression_subject)
            regression_subjects += part->regression_subject[i] && vxs_task_weight(part, i) > 0;
        for (size_t k = 0; k < q; k++)
            part->covariates[k * n + i] = whole->covariates[k * whole->n + which[i]];
    }
    return whole->regression_subject ? vxs_check_regression_subjects(part, regression_subjects, err)
                                     : VXS_OK;
}

static vxs_status copy_penalties(const vxs_task *whole, vxs_task *part, vxs_error *err)
{
    size_t p = whole->cohort->p;
    if (!whole->penalties)
        return VXS_OK;
    part->penalties = vxs_alloc(p, sizeof(*part->penalties), err);
    if (!part->penalties)
        return VXS_FAILED;
    memcpy(part->penalties, whole->penalties, p * sizeof(*part->penalties));
    return VXS_OK;
}

static vxs_status copy_graph(const vxs_graph *from, vxs_graph *to, vxs_error *err)
{
    if (from->nodes == 0)
        return VXS_OK; /* the method has none */
    vxs_status status = vxs_graph_new(from->nodes, from->count, to, err);
    if (status)
        return status;
    memcpy(to->from, from->from, from->count * sizeof(*to->from));
    memcpy(to->to, from->to, from->count * sizeof(*to->to));
    memcpy(to->weight, from->weight, from->count * sizeof(*to->weight));
    return VXS_OK;
}

void vxs_task_release_structure(vxs_task *t)
{
    vxs_graph_release(&t->graph);
    if (!t->terms_shared)
        vxs_analysis_release(&t->terms);
    if (!t->groups_shared)
        vxs_groups_release(&t->groups);
    free(t->untold);
    t->untold = NULL;
}

vxs_status vxs_task_share(const vxs_context *context, vxs_task *t,
                          const vxs_method_settings *settings, vxs_error *err)
{
    const vxs_estimator *estimator = vxs_task_estimator(t);
    return estimator->share ? estimator->share(context, t, settings, err) : VXS_OK;
}

void vxs_task_unshare(vxs_task *copy, const vxs_task *t)
{
    if (t->groups.count == 0)
        vxs_groups_release(&copy->groups);
    if (t->terms.count == 0)
        vxs_analysis_release(&copy->terms);
}

vxs_status vxs_task_part(const vxs_context *context, const vxs_task *whole, const size_t *which,
                         size_t count, vxs_task *part, vxs_error *err)
{
    *part =
        (vxs_task){ .cohort = whole->cohort,
                    .settings = whole->settings,
                    .loss = whole->loss,
                    .batcher = whole->batcher,
                    .groups = whole->groups, /* spheres can take more memory than all the rest */
                    .groups_shared = whole->groups.count > 0,
                    .terms = whole->terms,
                    .terms_shared = whole->terms.count > 0,
                    .products = whole->products,
                    .products_shared = true,
                    .distances = whole->distances,
                    .distances_shared = true,
                    .n = count,
                    .class_count = whole->class_count,
                    .covariate_count = whole->covariate_count };
    vxs_status status = vxs_copy_texts(whole->classes, whole->class_count, &part->classes, err);
    if (!status)
        status = copy_subjects(whole, which, part, err);
    if (!status)
        status =
            vxs_check_trainable(whole, which, count, "a training part", "more or other folds", err);
    if (!status)
        status = copy_penalties(whole, part, err);
    if (!status)
        status = vxs_task_threshold(part, NULL, part->n, &part->threshold, err);
    if (!status)
        status = vxs_task_allocate_output(part, err);
    if (!status)
        status = vxs_task_make_design(context, part, err);
    if (!status)
        status = vxs_graph_is_learned(&whole->settings)
                     ? vxs_task_make_graph(context, part, err)
                     : copy_graph(&whole->graph, &part->graph, err);
    if (status)
        vxs_task_release(part);
    return status;
}
