/* several.c - cross-validations of several methods in one directory, and their comparison.
 *
 * Each is written as it ends into the directory under its private name, and is what the method
 * alone would have written; the comparison reads them there, as it reads any others. */
#include "evaluate/chunks/chunk.h"
#include "evaluate/compare/compare.h"
#include "evaluate/cv.h"
#include "model/axis.h"
#include "model/model.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

void vxs_several_release(vxs_several *s)
{
    vxs_output_free(s->output);
    vxs_compared_release(&s->compared);
    s->output = NULL;
}

/* ---- Before the first ------------------------------------------------------------------------ */

/* All subjects as a job has those of a fold. */
static vxs_status begin_solver(const vxs_context *context, const vxs_task *task,
                               const vxs_method_settings *method, const size_t *all, vxs_error *err)
{
    vxs_task part;
    vxs_problem problem;
    vxs_solver *solver = NULL;
    vxs_status status = vxs_task_part(context, task, all, task->n, &part, err);
    if (status)
        return status;
    status = vxs_task_problem(context, &part, 0, method, &problem, err);
    if (!status)
        status = vxs_solver_new(context, vxs_task_method(task), &problem, method, &solver, err);
    vxs_solver_free(solver);
    vxs_task_release(&part);
    return status;
}

static vxs_status try_problem(const vxs_context *context, const vxs_cv *cv, vxs_error *err)
{
    const vxs_task *task = cv->task;
    vxs_method_settings method = cv->method;
    size_t *all = vxs_alloc(task->n, sizeof(*all), err);
    if (!all)
        return VXS_FAILED;
    for (size_t i = 0; i < task->n; i++)
        all[i] = i;
    if (cv->tuning.across)
        vxs_axis_set(vxs_axis_of(&task->settings, &method), cv->tuning.across[0], &method);
    const vxs_context silent = { .nthreads = context ? context->nthreads : 1,
                                 .interrupted = context ? context->interrupted : NULL };
    vxs_status status = begin_solver(&silent, task, &method, all, err);
    free(all);
    return status;
}

vxs_status vxs_several_check(const vxs_context *context, const vxs_task *task,
                             const vxs_cv_settings *settings, const vxs_method_settings *method,
                             vxs_error *err)
{
    vxs_cv cv;
    vxs_status status = vxs_cv_begin(task, settings, method, &cv, err);
    if (!status)
        status = vxs_cv_rehearse(task, settings, method, NULL, err);
    if (!status)
        status = try_problem(context, &cv, err);
    vxs_cv_release(&cv);
    return status;
}

static const char *kind_of(const vxs_task *t)
{
    return t->class_count > 0 ? "classes" : "a score";
}

vxs_status vxs_several_check_targets(const vxs_task *t, const vxs_task *other, vxs_error *err)
{
    if ((t->class_count > 0) == (other->class_count > 0))
        return VXS_OK;
    return vxs_fail(err, VXS_MISUSE,
                    "'%s' is %s for method '%s' and %s for '%s', which do not take the same "
                    "'--loss': run them apart, and compare them with 'voxsift compare'",
                    t->settings.target, kind_of(t), vxs_task_method(t)->name, kind_of(other),
                    vxs_task_method(other)->name);
}

vxs_status vxs_several_warn_leaks(const vxs_context *context, vxs_task *const *tasks, size_t count,
                                  vxs_error *err)
{
    size_t before = tasks[0]->warning_count;
    vxs_status status = vxs_warn_leaks(context, tasks[0], err);
    for (size_t w = before; w < tasks[0]->warning_count; w++)
        for (size_t k = 1; k < count && !status; k++)
            status = vxs_task_warn(NULL, tasks[k], err, "%s", tasks[0]->warnings[w]);
    return status;
}

/* ---- One after the other --------------------------------------------------------------------- */

vxs_status vxs_several_add(const vxs_context *context, vxs_several *s, const vxs_cv *cv,
                           vxs_error *err)
{
    vxs_output *output = NULL;
    const char *name = vxs_task_method(cv->task)->name;
    vxs_status status =
        s->output ? VXS_OK : vxs_output_new(context, s->directory, s->replace, &s->output, err);
    if (!status)
        status = vxs_output_new_inside(s->output, name, &output, err);
    if (!status)
        status = vxs_cv_write(context, cv, output, err);
    if (!status)
        status = vxs_output_commit(output, err);
    vxs_output_free(output);
    if (status)
        return status;
    s->chunk = cv->settings.chunking.chunk;
    s->part = vxs_chunk_is_part(s->chunk);
    s->first = cv->first;
    s->end = cv->end;
    s->units = cv->fold_count;
    s->bootstraps = cv->settings.bootstraps;
    s->seed = cv->settings.seed;
    s->unconverged[s->count] = !cv->converged;
    s->names[s->count++] = name;
    return VXS_OK;
}

/* ---- All of them ----------------------------------------------------------------------------- */

static vxs_status compare(const vxs_context *context, vxs_several *s, vxs_error *err)
{
    char *paths[VXS_METHODS + 1] = { NULL };
    vxs_compare_settings settings;
    vxs_status status = VXS_OK;
    vxs_params_defaults(vxs_compare_params, &settings);
    settings.bootstraps = s->bootstraps;
    settings.seed = s->seed;
    for (size_t k = 0; k < s->count && !status; k++) {
        paths[k] = vxs_format(err, "%s/%s", s->directory, s->names[k]);
        status = paths[k] ? VXS_OK : VXS_FAILED;
    }
    if (!status)
        status = vxs_compare(context, &settings, (const char *const *)paths,
                             vxs_output_work(s->output), &s->compared, err);
    if (!status)
        status = vxs_compared_write(context, &s->compared, s->output, err);
    for (size_t k = 0; k < s->count; k++)
        free(paths[k]);
    return status;
}

/* Of which methods the parts are; each has a part.json of its own, of the format of all parts. */
static vxs_status write_part(const vxs_context *context, const vxs_several *s, vxs_error *err)
{
    FILE *stream;
    vxs_json_writer w;
    vxs_status status = vxs_output_open(s->output, VXS_PART_FILE, &stream, err);
    if (status)
        return status;
    vxs_json_init(&w, stream);
    vxs_json_open_object(&w, NULL);
    vxs_json_format(&w, "voxsift part");
    vxs_json_text(&w, "command", context ? context->command : NULL);
    vxs_json_text(&w, "kind", vxs_run_kinds[VXS_RUN_CV].name);
    vxs_json_open_array(&w, "methods");
    for (size_t k = 0; k < s->count; k++)
        vxs_json_text(&w, NULL, s->names[k]);
    vxs_json_close_array(&w);
    vxs_json_whole(&w, "chunk", (int64_t)s->chunk.number);
    vxs_json_whole(&w, "chunks", (int64_t)s->chunk.count);
    vxs_json_close_object(&w);
    return vxs_output_close(s->output, stream, VXS_PART_FILE, err);
}

vxs_status vxs_several_finish(const vxs_context *context, vxs_several *s, vxs_error *err)
{
    vxs_status status = s->part ? write_part(context, s, err) : compare(context, s, err);
    return status ? status : vxs_output_commit(s->output, err);
}

void vxs_several_json(vxs_json_writer *w, const vxs_several *s)
{
    vxs_json_open_array(w, "cross_validations");
    for (size_t k = 0; k < s->compared.model_count; k++) {
        const vxs_compared_model *m = &s->compared.models[k];
        vxs_json_open_object(w, NULL);
        vxs_json_text(w, "output", m->directory);
        for (const vxs_json *v = m->about->first; v; v = v->next)
            vxs_copy_json(w, v->key, v);
        vxs_json_close_object(w);
    }
    vxs_json_close_array(w);
    vxs_json_open_object(w, "comparison");
    vxs_compared_json(w, &s->compared);
    vxs_json_close_object(w);
}

/* ---- Parts ----------------------------------------------------------------------------------- */

static const char *method_named(const vxs_json *name)
{
    size_t k = 0;
    while (vxs_methods[k].name &&
           (name->kind != VXS_JSON_TEXT || strcmp(vxs_methods[k].name, name->text) != 0))
        k++;
    return vxs_methods[k].name;
}

/* None where it is a part of one run. What else is wrong with it is said where parts are read. */
static vxs_status read_methods(const char *path, size_t *count, const char *names[VXS_METHODS],
                               vxs_error *err)
{
    vxs_json *about = NULL;
    char *file = vxs_format(err, "%s/%s", path, VXS_PART_FILE);
    *count = 0;
    if (!file)
        return VXS_FAILED;
    vxs_status status =
        vxs_folder_check(path, VXS_PART_FILE, NULL) ? VXS_OK : vxs_json_read(file, &about, err);
    const vxs_json *list = vxs_json_get(about, "methods");
    for (const vxs_json *m = list ? list->first : NULL; m && !status; m = m->next) {
        const char *name = method_named(m);
        bool fits = name && *count < VXS_METHODS;
        for (size_t k = 0; k < *count; k++)
            fits = fits && strcmp(names[k], name) != 0;
        if (fits)
            names[(*count)++] = name;
        else
            status = vxs_fail(err, VXS_BAD_DATA, "'%s' does not say of which methods it is", file);
    }
    if (!status && list && *count < 2)
        status = vxs_fail(err, VXS_BAD_DATA, "'%s' does not say of which methods it is", file);
    vxs_json_free(about);
    free(file);
    return status;
}

#define NAMES_TEXT 160 /* all methods */

static const char *join(size_t count, const char *const names[VXS_METHODS], char text[NAMES_TEXT])
{
    size_t used = 0;
    snprintf(text, NAMES_TEXT, "one method");
    for (size_t k = 0; k < count && used < NAMES_TEXT; k++)
        used +=
            (size_t)snprintf(text + used, NAMES_TEXT - used, "%s%s", k > 0 ? "," : "", names[k]);
    return text;
}

vxs_status vxs_several_parts(const char *const *paths, size_t *count,
                             const char *names[VXS_METHODS], vxs_error *err)
{
    vxs_status status = read_methods(paths[0], count, names, err);
    for (size_t k = 1; paths[k] && !status; k++) {
        const char *others[VXS_METHODS];
        char one[NAMES_TEXT], other[NAMES_TEXT];
        size_t found = 0;
        status = vxs_part_check_finished(paths[k], err);
        if (!status && *count > 0)
            status = vxs_folder_check(paths[k], VXS_PART_FILE, err);
        if (!status)
            status = read_methods(paths[k], &found, others, err);
        if (!status && *count + found > 0 && !vxs_folder_check(paths[0], VXS_PART_FILE, NULL) &&
            strcmp(join(*count, names, one), join(found, others, other)) != 0)
            status = vxs_fail(err, VXS_BAD_DATA, "'%s' is of %s, but '%s' of %s", paths[0], one,
                              paths[k], other);
    }
    return status;
}
