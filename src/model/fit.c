/* fit.c - fits a task, which gives a model. */
#include "model/estimators.h"
#include "model/model.h"
#include "voxsift/verify.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

void vxs_free_texts(char **texts, size_t count)
{
    for (size_t k = 0; texts && k < count; k++)
        free(texts[k]);
    free(texts);
}

char *vxs_model_file_path(const vxs_model *m, const char *name, vxs_error *err)
{
    return vxs_format(err, "%.*s/%s", (int)(strrchr(m->path, '/') - m->path), m->path, name);
}

void vxs_model_release(vxs_model *m)
{
    if (!m)
        return;
    vxs_selection_release(&m->selection);
    vxs_free_texts(m->classes, m->class_count);
    vxs_free_texts(m->covariate_names, m->covariate_count);
    free(m->covariate_means);
    vxs_free_texts(m->levels, m->level_count);
    vxs_free_texts(m->features, m->feature_count);
    for (size_t k = 0; m->outputs && k < m->output_count; k++) {
        free(m->outputs[k].name);
        vxs_output_release(&m->outputs[k]);
    }
    free(m->outputs);
    free(m->feature_index);
    free(m->voxels);
    free(m->path);
    vxs_json_free(m->about);
    *m = (vxs_model){ .p = 0 };
}

/* ---- Fitting --------------------------------------------------------------------------------- */

vxs_status vxs_copy_texts(char *const *texts, size_t count, char ***copy, vxs_error *err)
{
    *copy = vxs_alloc(count, sizeof(**copy), err);
    for (size_t k = 0; *copy && k < count; k++) {
        (*copy)[k] = vxs_format(err, "%s", texts[k]);
        if (!(*copy)[k])
            return VXS_FAILED;
    }
    return *copy ? VXS_OK : VXS_FAILED;
}

static vxs_status average_free(const vxs_task *t, vxs_model *m, vxs_error *err)
{
    m->covariate_means = vxs_alloc(t->covariate_count, sizeof(*m->covariate_means), err);
    for (size_t f = 0; m->covariate_means && f < t->covariate_count; f++) {
        double sum = 0;
        for (size_t i = 0; i < t->n; i++)
            sum += vxs_task_weight(t, i) * t->covariates[f * t->n + i];
        m->covariate_means[f] = sum / vxs_task_total(t);
    }
    return m->covariate_means ? VXS_OK : VXS_FAILED;
}

static vxs_status begin_outputs(const vxs_task *t, vxs_model *m, vxs_error *err)
{
    m->outputs = vxs_alloc(m->output_count, sizeof(*m->outputs), err);
    for (size_t k = 0; m->outputs && k < m->output_count; k++) {
        char text[VXS_OUTPUT_TEXT];
        m->outputs[k].name = vxs_format(err, "%s", vxs_task_output_name(t, k, text));
        if (!m->outputs[k].name)
            return VXS_FAILED;
    }
    return m->outputs ? VXS_OK : VXS_FAILED;
}

vxs_status vxs_model_begin(const vxs_task *t, vxs_model *m, vxs_error *err)
{
    const vxs_cohort *c = t->cohort;
    *m = (vxs_model){ .task = t->settings,
                      .loss = t->loss,
                      .class_count = t->class_count,
                      .covariate_count = t->covariate_count,
                      .level_count = t->level_count,
                      .output_count = vxs_task_outputs(t),
                      .p = c->p,
                      .grid = c->grid };
    if (vxs_takes_threshold(&t->settings))
        m->task.huber_threshold = t->threshold;
    vxs_status status = vxs_copy_texts(t->classes, t->class_count, &m->classes, err);
    m->task.positive = !status && m->class_count == 2 ? m->classes[1] : NULL;
    if (!status)
        status = vxs_copy_texts(t->covariate_names, t->covariate_count, &m->covariate_names, err);
    if (!status)
        status = vxs_copy_texts(t->levels, t->level_count, &m->levels, err);
    if (!status)
        status = average_free(t, m, err);
    if (!status)
        status = begin_outputs(t, m, err);
    if (!status && vxs_feature_kind_of(c) == VXS_FEATURES_VOXELS) {
        m->voxels = vxs_alloc(c->voxel_count, sizeof(*m->voxels), err);
        if (m->voxels)
            memcpy(m->voxels, c->voxels, c->voxel_count * sizeof(*m->voxels));
        m->voxel_count = c->voxel_count;
        status = m->voxels ? VXS_OK : VXS_FAILED;
    }
    if (status)
        vxs_model_release(m);
    return status;
}

static vxs_status decode(const vxs_task *t, vxs_output_fit *output, vxs_error *err)
{
    output->encoder = vxs_task_encoder(t);
    vxs_status status = output->encoder->decode(t, output, err);
    return status || !output->encoder->map ? status : output->encoder->map(t, output, err);
}

/* For a model, which outlives the task. */
static vxs_status keep(const vxs_task *t, vxs_output_fit *output, vxs_error *err)
{
    vxs_status status = decode(t, output, err);
    return status || !output->encoder->keep ? status : output->encoder->keep(t, output, err);
}

/* Lambda as given, or as a share of lambda_max. */
static vxs_status choose_lambda(const vxs_task *t, const vxs_method_settings *s,
                                const vxs_solver *solver, double usual_ratio, double *lambda,
                                vxs_error *err)
{
    double lambda_max = vxs_solver_lambda_max(solver);
    double ratio = isnan(s->path.lambda_ratio) ? usual_ratio : s->path.lambda_ratio;
    *lambda = isnan(s->path.lambda) ? lambda_max * ratio : s->path.lambda;
    if (!isnan(s->path.lambda) && !isnan(s->path.lambda_ratio))
        return vxs_fail(err, VXS_MISUSE, "'--lambda' and '--lambda-ratio' exclude each other");
    if (!(lambda_max > 0))
        return vxs_fail_no_usable_feature(t, err);
    return vxs_point_check(solver, (vxs_path_point){ VXS_BY_LAMBDA, *lambda }, err);
}

/* One fit: lambda, the number of iterations, or the number to select. */
static vxs_status choose_point(const vxs_task *t, const vxs_method_settings *s,
                               const vxs_solver *solver, vxs_path_point *point, vxs_error *err)
{
    *point = (vxs_path_point){ .by = VXS_BY_LAMBDA };
    if (vxs_task_method(t)->path == VXS_BY_LAMBDA)
        return choose_lambda(t, s, solver, 0.1, &point->value, err);
    return vxs_solver_is_empty(solver) ? vxs_fail_no_usable_feature(t, err)
                                       : vxs_default_path_point(vxs_task_method(t), s, point, err);
}

/* One problem. */
static vxs_status start_solver(const vxs_context *context, vxs_task *t,
                               const vxs_method_settings *settings, size_t number,
                               vxs_solver **solver, vxs_error *err)
{
    vxs_problem problem;
    vxs_status status = vxs_task_problem(context, t, number, settings, &problem, err);
    if (!status)
        status = vxs_solver_new(context, vxs_task_method(t), &problem, settings, solver, err);
    if (!status)
        vxs_task_tell_weights(context, t);
    return status;
}

/* Splits a joint solution into its classes. */
static vxs_status split_fit(const vxs_task *t, const vxs_solution *joint, vxs_output_fit *fits,
                            vxs_error *err)
{
    vxs_status status = VXS_OK;
    for (size_t k = 0; k < vxs_task_outputs(t) && !status; k++) {
        status = vxs_joint_split(t, joint, k, &fits[k].fit, err);
        if (!status)
            status = decode(t, &fits[k], err);
    }
    return status;
}

/* Machines, whose weights may be many times what is left of their sums. */
static bool is_machine(const vxs_task *t)
{
    return t->loss == &vxs_margin_loss || t->loss == &vxs_epsilon_loss;
}

/* Nearly collinear covariates have coefficients so large that predictions lose digits, and so have
 * residuals far beyond a threshold and weights of machines: such a certificate is given if the
 * checker confirms it. */
static vxs_status verify(const vxs_context *context, vxs_task *t,
                         const vxs_method_settings *settings, size_t number, vxs_solution *fit,
                         vxs_error *err)
{
    vxs_problem problem;
    vxs_certificate found;
    vxs_status status = vxs_task_problem(context, t, number, settings, &problem, err);
    if (!status)
        status = vxs_check_solution(&problem, fit, &found, err);
    if (status || found.converged || !fit->certificate.converged)
        return status;
    fit->certificate.dual = found.dual;
    fit->certificate.gap = found.gap;
    fit->certificate.converged = false;
    return VXS_OK;
}

/* `fits` begins with the problem's first output. */
static vxs_status fit_problem(const vxs_context *context, vxs_task *t,
                              const vxs_method_settings *settings, size_t number,
                              vxs_output_fit *fits, vxs_error *err)
{
    vxs_solver *solver = NULL;
    vxs_path_point point;
    vxs_solution fit = { .count = 0 };
    vxs_status status = start_solver(context, t, settings, number, &solver, err);
    if (!status)
        status = choose_point(t, settings, solver, &point, err);
    if (!status)
        status = vxs_solver_fit_at(solver, point, &fit, err);
    bool delicate =
        vxs_solver_is_conditioned(solver) || vxs_takes_threshold(&t->settings) || is_machine(t);
    vxs_solver_free(solver);
    if (!status && delicate)
        status = verify(context, t, settings, number, &fit, err);
    if (status) {
        vxs_solution_release(&fit);
        return status;
    }
    if (t->loss->joint) {
        status = split_fit(t, &fit, fits, err);
        vxs_solution_release(&fit);
        return status;
    }
    fits->fit = fit;
    return keep(t, fits, err);
}

static vxs_status fit_pair(const vxs_context *context, vxs_task *t,
                           const vxs_method_settings *settings, size_t number, vxs_output_fit *fit,
                           vxs_error *err)
{
    vxs_task part;
    vxs_status status = vxs_pair_begin(context, t, settings, number, &part, err);
    if (!status)
        status = fit_problem(context, &part, settings, 0, fit, err);
    vxs_pair_end(&part);
    vxs_task_tell_weights(context, t);
    return status;
}

vxs_status vxs_model_fit(const vxs_context *context, vxs_task *t,
                         const vxs_method_settings *settings, vxs_model *m, vxs_error *err)
{
    if (m)
        *m = (vxs_model){ .p = 0 };
    vxs_status status = VXS_GIVEN(err, { "settings", settings }, { "model", m });
    if (!status)
        status = vxs_task_check_made(t, err);
    if (!status)
        status = vxs_model_begin(t, m, err);
    if (status)
        return status;
    vxs_method_settings own = *settings;
    status = vxs_default_across(t, &own, err);
    if (vxs_task_encoder(t)->begin)
        vxs_task_encoder(t)->begin(m, settings);
    vxs_status (*fit)(const vxs_context *, vxs_task *, const vxs_method_settings *, size_t,
                      vxs_output_fit *, vxs_error *) =
        vxs_task_has_pairs(t) ? fit_pair : fit_problem;
    for (size_t k = 0; k < vxs_task_problems(t) && !status; k++)
        status = fit(context, t, &own, k, &m->outputs[k], err);
    if (status)
        vxs_model_release(m);
    return status;
}

static vxs_status hand_over_parts(const vxs_task *t, const vxs_solution *joint, size_t number,
                                  vxs_take_fit *take, void *user, vxs_error *err)
{
    vxs_status status = VXS_OK;
    for (size_t k = 0; k < vxs_task_outputs(t) && !status; k++) {
        vxs_output_fit part = { .name = t->classes[k] };
        status = vxs_joint_split(t, joint, k, &part.fit, err);
        if (!status)
            status = decode(t, &part, err);
        if (!status)
            status = take(user, number, &part, err);
        vxs_output_release(&part);
    }
    return status;
}

static vxs_status hand_over(const vxs_task *t, vxs_solution *fit, size_t number, vxs_take_fit *take,
                            void *user, vxs_error *err)
{
    if (t->loss->joint)
        return hand_over_parts(t, fit, number, take, user, err);
    vxs_output_fit raw = { .name = NULL, .fit = *fit }; /* the solver keeps its own weights */
    vxs_status status = decode(t, &raw, err);
    if (!status)
        status = take(user, number, &raw, err);
    *fit = raw.fit;
    raw.fit = (vxs_solution){ .count = 0 };
    vxs_output_release(&raw);
    return status;
}

/* A path of decreasing lambda. */
static vxs_status fall(const vxs_task *t, const vxs_method_settings *settings,
                       const vxs_solver *solver, vxs_tuning_grid *tuning, vxs_error *err)
{
    double most = vxs_solver_lambda_max(solver), least = 0;
    vxs_status status =
        vxs_number_check("'nlambda' of a path", (double)settings->path.nlambda, 2, false, err);
    if (!status)
        status = choose_lambda(t, settings, solver, 0.01, &least, err);
    if (status)
        return status;
    if (least >= most)
        return vxs_fail(err, VXS_MISUSE,
                        "a path leads from lambda_max (%g) down to lambda (%g); that must lie "
                        "between 0 and lambda_max",
                        most, least);
    tuning->count = (size_t)settings->path.nlambda;
    tuning->values = vxs_alloc(tuning->count, sizeof(*tuning->values), err);
    for (size_t k = 0; k < tuning->count && tuning->values; k++)
        tuning->values[k] = most * pow(least / most, (double)k / (double)(tuning->count - 1));
    return tuning->values ? VXS_OK : VXS_FAILED;
}

/* A path of lambda, of iterations, or of numbers to select. */
static vxs_status make_path(const vxs_task *t, const vxs_method_settings *settings,
                            const vxs_solver *solver, vxs_tuning_grid *tuning, vxs_error *err)
{
    if (vxs_task_method(t)->path == VXS_BY_LAMBDA)
        return fall(t, settings, solver, tuning, err);
    return vxs_solver_is_empty(solver) ? vxs_fail_no_usable_feature(t, err)
                                       : vxs_tuning_grid_make(t, settings, true, tuning, err);
}

static vxs_status follow_path(const vxs_context *context, vxs_task *t,
                              const vxs_method_settings *settings, size_t problem,
                              vxs_take_fit *take, void *user, vxs_error *err)
{
    vxs_solver *solver = NULL;
    vxs_tuning_grid tuning = { .count = 0 };
    vxs_method_settings own = *settings;
    vxs_status status = vxs_default_across(t, &own, err);
    if (!status)
        status = start_solver(context, t, &own, problem, &solver, err);
    if (!status)
        status = make_path(t, &own, solver, &tuning, err);
    if (!status && tuning.count == 0)
        status = vxs_fail(err, VXS_MISUSE, "the path has no points");
    vxs_progress progress;
    vxs_progress_start(&progress, context, "fitting", "fits", tuning.count);
    for (size_t k = 0; k < tuning.count && !status; k++) {
        vxs_solution fit;
        status =
            vxs_solver_fit_at(solver, (vxs_path_point){ tuning.by, tuning.values[k] }, &fit, err);
        if (!status)
            status = hand_over(t, &fit, k, take, user, err);
        vxs_solution_release(&fit);
        if (!status)
            status = vxs_progress_step(&progress, 1, err);
    }
    vxs_tuning_grid_release(&tuning);
    vxs_solver_free(solver);
    return status;
}

vxs_status vxs_model_path(const vxs_context *context, vxs_task *t,
                          const vxs_method_settings *settings, size_t problem, vxs_take_fit *take,
                          void *user, vxs_error *err)
{
    vxs_task part = { .n = 0 };
    vxs_status status =
        VXS_GIVEN(err, { "settings", settings }, { "take", take ? "a function" : NULL });
    if (!status)
        status = vxs_task_check_made(t, err);
    if (status || !vxs_task_has_pairs(t))
        return status ? status : follow_path(context, t, settings, problem, take, user, err);
    status = vxs_index_check("problem", problem, vxs_task_problems(t), err);
    if (!status)
        status = vxs_pair_begin(context, t, settings, problem, &part, err);
    if (!status)
        status = follow_path(context, &part, settings, 0, take, user, err);
    vxs_pair_end(&part);
    return status;
}

void vxs_warn_unidentified(const vxs_context *context, size_t unidentified)
{
    if (unidentified > 0)
        vxs_log(context, VXS_LOG_WARNING,
                "%zu %s without penalty cannot be told from covariates and the rounding of stored "
                "features, as where the features of each subject sum to a constant (--scale z): "
                "the weights have no part along %s",
                unidentified, unidentified == 1 ? "direction" : "directions",
                unidentified == 1 ? "it" : "them");
}
