/* model_check.c - verifies the certificates of a model on the cohort that it was fitted on. */
#include "model/estimators.h"
#include "model/model.h"
#include "voxsift/verify.h"

#include <stdlib.h>
#include <string.h>

/* Decodes an output's solution into the solver's space; index and bound still belong to the model.
 */
static vxs_status take_back(const vxs_task *t, const vxs_output_fit *output, vxs_solution *copy,
                            vxs_error *err)
{
    const vxs_solution *fit = &output->fit;
    *copy = *fit;
    copy->weight = vxs_alloc(fit->count, sizeof(*copy->weight), err);
    copy->covariate_coefficients =
        vxs_alloc(t->covariate_count, sizeof(*copy->covariate_coefficients), err);
    if (!copy->weight || !copy->covariate_coefficients)
        return VXS_FAILED;
    for (size_t k = 0; k < fit->count; k++)
        copy->weight[k] = fit->weight[k];
    for (size_t c = 0; c < t->covariate_count; c++)
        copy->covariate_coefficients[c] = fit->covariate_coefficients[c];
    return vxs_task_encoder(t)->encode(t, output, copy, err);
}

static void release_copies(vxs_solution *copies, size_t count)
{
    for (size_t k = 0; copies && k < count; k++) {
        free(copies[k].weight);
        free(copies[k].covariate_coefficients);
    }
    free(copies);
}

/* The certificate of a problem whose outputs begin at `fits`; weights are not changed. */
static vxs_status check_problem(const vxs_task *t, const vxs_problem *problem,
                                const vxs_output_fit *fits, vxs_bound *bound,
                                vxs_certificate *certificates, vxs_error *err)
{
    size_t count = vxs_task_outputs(t) / vxs_task_problems(t);
    vxs_solution *copies = vxs_alloc(count, sizeof(*copies), err), joint = { .count = 0 };
    vxs_status status = copies ? VXS_OK : VXS_FAILED;
    for (size_t k = 0; k < count && !status; k++)
        status = take_back(t, &fits[k], &copies[k], err);
    if (!status && t->loss->joint) {
        status = vxs_joint_merge(t, copies, &joint, err);
        if (!status)
            status = vxs_check_solution(problem, &joint, certificates, err);
        vxs_solution_release(&joint);
    } else if (!status) {
        copies->bound = bound ? bound : copies->bound;
        status = vxs_check_solution(problem, copies, certificates, err);
    }
    for (size_t k = 1; k < count && !status; k++)
        certificates[k] = certificates[0];
    release_copies(copies, count);
    return status;
}

static bool same_subjects(const vxs_model *m, const vxs_task *t)
{
    const vxs_json *ids = vxs_json_get(vxs_json_get(m->about, "training"), "ids");
    if (!ids || ids->kind != VXS_JSON_ARRAY || ids->length != t->n)
        return false;
    const vxs_json *id = ids->first;
    for (size_t i = 0; i < t->n; i++, id = id->next) {
        if (id->kind != VXS_JSON_TEXT || strcmp(id->text, vxs_task_id(t, i)) != 0)
            return false;
    }
    return true;
}

static vxs_status same_task(const vxs_model *m, const vxs_task *t, vxs_error *err)
{
    bool same = m->class_count == t->class_count && m->covariate_count == t->covariate_count &&
                m->p == t->cohort->p && m->loss == t->loss;
    for (size_t k = 0; same && k < m->class_count; k++)
        same = strcmp(m->classes[k], t->classes[k]) == 0;
    for (size_t k = 0; same && k < m->covariate_count; k++)
        same = strcmp(m->covariate_names[k], t->covariate_names[k]) == 0;
    same = same && same_subjects(m, t);
    return same ? VXS_OK
                : vxs_fail(err, VXS_BAD_DATA,
                           "'%s' is not the cohort that the model was fitted on: its subjects, "
                           "features, classes or confounds differ",
                           t->cohort->path);
}

static vxs_status restore_table(const vxs_model *m, vxs_task *t,
                                const vxs_method_settings *settings, vxs_error *err)
{
    const vxs_user_table *table = vxs_task_estimator(t)->table;
    if (!table || !table->is_given(settings))
        return VXS_OK;
    char *path = vxs_model_file_path(m, table->file, err);
    vxs_status status = path ? table->restore(t, settings, path, err) : VXS_FAILED;
    free(path);
    return status;
}

/* Rebuilds problem `number` of a task and what its certificate depends on; its outputs begin at k.
 */
static vxs_status check_again(const vxs_context *context, const vxs_model *m, vxs_task *t,
                              size_t number, size_t k, vxs_method_settings *settings,
                              vxs_certificate *certificates, vxs_error *err)
{
    vxs_problem problem;
    vxs_bound *bound = NULL;
    const vxs_axis *axis = vxs_axis_of(&t->settings, settings);
    vxs_axis_set(axis, vxs_axis_certified(axis, &m->outputs[k].fit.certificate), settings);
    vxs_status status = vxs_task_problem(context, t, number, settings, &problem, err);
    if (!status && vxs_as_generalized(problem.penalty))
        status = vxs_multipliers_read(m, t, k, &bound, err);
    if (!status)
        status = check_problem(t, &problem, &m->outputs[k], bound, certificates, err);
    vxs_bound_free(bound);
    return status;
}

static vxs_status check_pair(const vxs_context *context, const vxs_model *m, vxs_task *t, size_t k,
                             vxs_method_settings *settings, vxs_certificate *certificates,
                             vxs_error *err)
{
    vxs_task part;
    vxs_status status = vxs_pair_begin(context, t, settings, k, &part, err);
    if (!status)
        status = check_again(context, m, &part, 0, k, settings, certificates, err);
    vxs_pair_end(&part);
    return status;
}

vxs_status vxs_model_check_files(const vxs_model *m, bool *sealed, vxs_error *err)
{
    char *directory = vxs_format(err, "%.*s", (int)(strrchr(m->path, '/') - m->path), m->path);
    vxs_status status =
        directory ? vxs_seal_check(directory, VXS_SEAL_FILE, sealed, err) : VXS_FAILED;
    free(directory);
    return status;
}

bool vxs_model_features_recorded(const vxs_model *m, const vxs_cohort *cohort)
{
    const vxs_json *then = vxs_json_get(vxs_json_get(m->about, "training"), "features_files");
    const vxs_json *now = vxs_cohort_record(cohort);
    return then && now && then->kind == VXS_JSON_ARRAY && then->length == now->length;
}

/* Whether the cohort is the one of the fit, unchanged. Without a recorded SHA-256, or with features
 * stored in another format, this is not verified. */
static vxs_status check_features(const vxs_context *context, const vxs_model *m,
                                 const vxs_cohort *cohort, vxs_error *err)
{
    const vxs_json *then = vxs_json_get(vxs_json_get(m->about, "training"), "features_files");
    const vxs_json *now = vxs_cohort_record(cohort), *a = NULL, *b = NULL;
    if (vxs_model_features_recorded(m, cohort)) {
        a = then->first;
        b = now->first;
    } else {
        vxs_log(context, VXS_LOG_CAUTION,
                "the model and '%s' do not both record the SHA-256 of the same files of features: "
                "whether these have changed since the fit is not verified",
                cohort->path);
    }
    for (; a && b; a = a->next, b = b->next) {
        const char *old = vxs_json_get_text(a, "sha256"), *new = vxs_json_get_text(b, "sha256");
        if (!old || !new || strcmp(old, new) != 0)
            return vxs_fail(err, VXS_BAD_DATA,
                            "the model was not fitted on '%s': the SHA-256 of the features is "
                            "%.12s... there, and %.12s... in the model",
                            cohort->path, new ? new : "missing", old ? old : "missing");
    }
    return vxs_cohort_verify(cohort, err);
}

static vxs_status check_model(const vxs_context *context, const vxs_model *m,
                              const vxs_cohort *cohort, vxs_certificate *certificates,
                              vxs_error *err)
{
    vxs_task t;
    vxs_method_settings settings = { .path.lambda = NAN };
    vxs_task_settings again = m->task;
    char *penalties = again.penalties ? vxs_model_file_path(m, VXS_PENALTIES_FILE, err) : NULL;
    bool has_graph = vxs_graph_is_learned(&again) || !vxs_graph_is_rule(again.graph);
    char *graph = has_graph ? vxs_model_file_path(m, VXS_GRAPH_FILE, err) : NULL;
    vxs_status status =
        (again.penalties && !penalties) || (has_graph && !graph) ? VXS_FAILED : VXS_OK;
    again.penalties = penalties; /* the model stores what cannot be computed again */
    again.graph = has_graph ? graph : again.graph;
    if (!status)
        status = vxs_task_new(context, cohort, &again, &t, err);
    free(penalties);
    free(graph);
    if (status)
        return status;
    status = same_task(m, &t, err);
    if (!status)
        status = vxs_model_same_features(m, cohort, err);
    if (!status)
        status = check_features(context, m, cohort, err);
    if (!status)
        status = vxs_model_method(m, &settings, err);
    if (!status)
        status = restore_table(m, &t, &settings, err);
    if (!status)
        status = vxs_design_measure(t.design, err);
    for (size_t k = 0; k < vxs_task_problems(&t) && !status; k++)
        status = vxs_task_has_pairs(&t)
                     ? check_pair(context, m, &t, k, &settings, &certificates[k], err)
                     : check_again(context, m, &t, k, k, &settings, &certificates[k], err);
    vxs_task_release(&t);
    return status;
}

vxs_status vxs_model_check(const vxs_context *context, const vxs_model *m, const vxs_cohort *cohort,
                           vxs_certificate *certificates, vxs_error *err)
{
    vxs_status status = VXS_GIVEN(err, { "certificates", certificates });
    if (!status)
        status = vxs_model_check_read(m, err);
    if (!status)
        status = vxs_cohort_check_open(cohort, err);
    if (status)
        return status;
    return vxs_misuse_as_bad_data(m->path, check_model(context, m, cohort, certificates, err), err);
}
