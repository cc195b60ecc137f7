/* cv_several.c - voxsift cv --method A,B: a cross-validation of each method on the same folds, and
 * their comparison; and the chunks of such runs merged. */
#include "cli/cli.h"

#include <stdlib.h>
#include <string.h>

/* ---- What is said, and by whom --------------------------------------------------------------- */

/* What all methods share is said once; what is said while one runs has its name in front. */
typedef struct {
    const vxs_context *outer;
    const char *method; /* NULL: once */
    vxs_warnings said;
} speaker;

static void say_once(void *user, vxs_log_level level, const char *message)
{
    speaker *s = user;
    for (size_t k = 0; k < s->said.count; k++)
        if (strcmp(s->said.each[k], message) == 0)
            return;
    vxs_warnings_add(&s->said, message);
    vxs_log(s->outer, level, "%s", message);
}

static void say_as(void *user, vxs_log_level level, const char *message)
{
    const speaker *s = user;
    vxs_log(s->outer, level, "%s: %s", s->method, message);
}

static void show_progress(void *user, const char *task, const char *unit, uint64_t done,
                          uint64_t total)
{
    const speaker *s = user;
    char text[80];
    snprintf(text, sizeof(text), "%s%s%s", s->method ? s->method : "", s->method ? ": " : "", task);
    if (s->outer->progress)
        s->outer->progress(s->outer->user, text, unit, done, total);
}

static vxs_context context_of(speaker *s)
{
    vxs_context context = *s->outer;
    context.log = s->method ? say_as : say_once;
    context.progress = show_progress;
    context.user = s;
    return context;
}

static void add_name(char *text, size_t size, const char *name)
{
    size_t used = strlen(text);
    snprintf(text + used, size - used, "%s%s", used > 0 ? ", " : "", name);
}

/* An option that some of the methods do not take goes to the others. */
static void tell_partly(const vxs_call *call)
{
    const vxs_several_methods *s = call->several;
    for (size_t k = 0; k < s->partly_count; k++) {
        char with[256] = "", without[256] = "";
        for (size_t m = 0; m < s->count; m++) {
            bool takes = s->partly[k].takes[m];
            add_name(takes ? with : without, sizeof(with), vxs_methods[s->each[m].kind].name);
        }
        vxs_log(call->context, VXS_LOG_INFO, "'--%s' is used by %s, not by %s",
                s->partly[k].param->name, with, without);
    }
}

/* ---- Methods --------------------------------------------------------------------------------- */

typedef struct {
    vxs_task task;
    vxs_cv_settings settings;
} member;

typedef struct {
    const vxs_call *call;
    vxs_cohort cohort;
    size_t made;
    member each[VXS_METHODS];
} group;

static vxs_status make_member(const vxs_call *call, group *g, size_t k, vxs_error *err)
{
    member *m = &g->each[k];
    const vxs_method_settings *method = &call->several->each[k].method;
    m->settings = *(const vxs_cv_settings *)(const void *)call->several->each[k].values.bytes;
    m->settings.chunking = call->chunking;
    m->settings.chunking.checkpoint = call->checkpoints[k];
    vxs_status status = vxs_task_new(call->context, &g->cohort, &m->settings.task, &m->task, err);
    if (status)
        return status;
    g->made++;
    status = vxs_task_share(call->context, &m->task, method, err);
    if (!status && k > 0)
        status = vxs_several_check_targets(&g->each[0].task, &m->task, err);
    if (!status)
        status = vxs_cv_settle(call->context, &m->task, &m->settings, err);
    return status ? status : vxs_several_check(call->context, &m->task, &m->settings, method, err);
}

static vxs_status warn_leaks(const vxs_call *call, group *g, vxs_error *err)
{
    vxs_task *tasks[VXS_METHODS];
    for (size_t k = 0; k < g->made; k++)
        tasks[k] = &g->each[k].task;
    return vxs_several_warn_leaks(call->context, tasks, g->made, err);
}

static vxs_status make_all(const vxs_call *call, group *g, vxs_error *err)
{
    speaker s = { .outer = call->context };
    vxs_context context = context_of(&s);
    vxs_call once = *call;
    vxs_status status = VXS_OK;
    once.context = &context;
    for (size_t k = 0; k < call->several->count && !status; k++)
        status = make_member(&once, g, k, err);
    if (!status)
        status = warn_leaks(&once, g, err);
    vxs_warnings_release(&s.said);
    return status;
}

static vxs_status run_member(const vxs_call *call, group *g, size_t k, vxs_several *several,
                             vxs_error *err)
{
    member *m = &g->each[k];
    speaker s = { .outer = call->context, .method = vxs_task_method(&m->task)->name };
    vxs_context context = context_of(&s);
    vxs_call one = *call;
    vxs_cv cv;
    one.context = &context;
    one.method = &call->several->each[k].method;
    vxs_log(call->context, VXS_LOG_INFO, "method '%s', %zu of %zu", s.method, k + 1,
            call->several->count);
    vxs_status status = vxs_run_cv(&one, &m->task, &m->settings, &cv, err);
    if (status)
        return status;
    status = vxs_several_add(call->context, several, &cv, err);
    vxs_cv_release(&cv);
    return status;
}

static vxs_status run_all(const vxs_call *call, group *g, vxs_error *err)
{
    vxs_several several = { .directory = call->shared->out, .replace = call->shared->force };
    vxs_status status = make_all(call, g, err);
    for (size_t k = 0; k < call->several->count && !status; k++) {
        status = run_member(call, g, k, &several, err);
        vxs_task_release(&g->each[k].task);
    }
    if (!status)
        status = vxs_report_several(call, &several, err);
    vxs_several_release(&several);
    return status;
}

vxs_status vxs_run_several(const vxs_call *call, vxs_error *err)
{
    group *g = vxs_alloc(1, sizeof(*g), err);
    const vxs_cv_settings *first = (const void *)call->several->each[0].values.bytes;
    vxs_status status =
        g ? vxs_cohort_open_for(call->operands[0], &first->task, &g->cohort, err) : VXS_FAILED;
    if (!status) {
        tell_partly(call);
        status = run_all(call, g, err);
        for (size_t k = 0; k < g->made; k++)
            vxs_task_release(&g->each[k].task);
        vxs_cohort_release(&g->cohort);
    }
    free(g);
    return status;
}

/* ---- Chunks ---------------------------------------------------------------------------------- */

/* The parts of one method, which are directories in those of all. */
static vxs_status merge_one(const vxs_call *call, const char *name, char **paths,
                            const char *cohort, vxs_several *several, vxs_error *err)
{
    speaker s = { .outer = call->context, .method = name };
    vxs_context context = context_of(&s);
    vxs_merged m;
    vxs_status status = VXS_OK;
    size_t count = 0;
    for (; call->operands[count] && !status; count++) {
        paths[count] = vxs_format(err, "%s/%s", call->operands[count], name);
        status = paths[count] ? VXS_OK : VXS_FAILED;
    }
    if (!status)
        status = vxs_merge(&context, (const char *const *)paths, cohort, &m, err);
    if (!status) {
        status = m.kind == VXS_RUN_CV
                     ? vxs_several_add(call->context, several, &m.result.cv, err)
                     : vxs_fail(err, VXS_BAD_DATA, "'%s' is not of 'voxsift cv'", paths[0]);
        vxs_merged_release(&m);
    }
    for (size_t k = 0; k < count; k++)
        free(paths[k]);
    return status;
}

vxs_status vxs_merge_several(const vxs_call *call, size_t count, const char *const *names,
                             const char *cohort, vxs_error *err)
{
    vxs_several several = { .directory = call->shared->out, .replace = call->shared->force };
    size_t parts = 0;
    while (call->operands[parts])
        parts++;
    char **paths = vxs_alloc(parts + 1, sizeof(*paths), err);
    vxs_status status = paths ? VXS_OK : VXS_FAILED;
    for (size_t k = 0; k < count && !status; k++)
        status = merge_one(call, names[k], paths, cohort, &several, err);
    if (!status)
        status = vxs_report_several(call, &several, err);
    vxs_several_release(&several);
    free((void *)paths);
    return status;
}

/* ---- Results --------------------------------------------------------------------------------- */

static void print_json(const vxs_call *call, const vxs_several *several)
{
    vxs_json_writer w;
    vxs_json_init(&w, call->out);
    vxs_json_open_object(&w, NULL);
    vxs_json_text(&w, "output", call->shared->out);
    vxs_several_json(&w, several);
    vxs_close_json(call, &w);
}

static void print_words(const vxs_call *call, const vxs_several *several)
{
    vxs_print_compared(call, &several->compared);
    for (size_t k = 0; k < several->count; k++)
        fprintf(call->out, "  %s/%-12s  the files of 'voxsift cv --method %s'\n", call->shared->out,
                several->names[k], several->names[k]);
}

vxs_status vxs_report_several(const vxs_call *call, vxs_several *several, vxs_error *err)
{
    char names[256] = "";
    vxs_status status = vxs_several_finish(call->context, several, err);
    if (status)
        return status;
    if (several->part)
        vxs_print_part(call, "folds", several->first, several->end, several->units);
    else if (call->shared->json)
        print_json(call, several);
    else
        print_words(call, several);
    for (size_t k = 0; k < several->count; k++)
        if (several->unconverged[k])
            add_name(names, sizeof(names), several->names[k]);
    if (!names[0])
        return VXS_OK;
    return vxs_fail(err, VXS_NOT_CONVERGED,
                    "some fits of %s did not reach the tolerance of the duality gap; cv.json %s "
                    "their folds",
                    names, several->part ? "will mark" : "marks");
}
