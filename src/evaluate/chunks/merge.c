/* merge.c - the parts of a run become the result of one run. */
#include "evaluate/chunks/chunk.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

void vxs_merged_release(vxs_merged *m)
{
    if (m->kind == VXS_RUN_CV)
        vxs_cv_release(&m->result.cv);
    else if (m->kind == VXS_RUN_PERMUTE)
        vxs_permutation_release(&m->result.permutation);
    else
        vxs_stability_release(&m->result.stability);
    vxs_task_release(&m->task);
    vxs_cohort_release(&m->cohort);
    vxs_json_free(m->about);
    free(m->path);
    free(m->processors);
    *m = (vxs_merged){ .kind = m->kind };
}

static vxs_status broken(const vxs_part *part, const char *what, vxs_error *err)
{
    return vxs_fail(err, VXS_BAD_DATA, "'%s/%s' does not describe a run: %s", part->path,
                    VXS_PART_FILE, what);
}

static vxs_status read_settings(const vxs_part *part, vxs_merged *m, vxs_error *err)
{
    const vxs_run_kind *kind = &vxs_run_kinds[m->kind];
    const char *bad = NULL;
    for (int g = 0; kind->groups[g].key && !bad; g++)
        bad = vxs_read_params(vxs_json_get(m->about, kind->groups[g].key), kind->groups[g].table,
                              &m->settings);
    const vxs_task_settings *task = (const void *)&m->settings;
    if (!bad)
        bad = vxs_read_params(vxs_json_get(m->about, "parameters"),
                              vxs_methods[task->method].params, &m->method);
    return bad ? broken(part, bad, err) : VXS_OK;
}

static vxs_status open_cohort(const vxs_context *context, const vxs_part *part, const char *cohort,
                              vxs_merged *m, vxs_error *err)
{
    const char *path = cohort ? cohort : vxs_json_get_text(m->about, "cohort");
    if (!path)
        return broken(part, "cohort", err);
    m->path = vxs_format(err, "%s", path);
    vxs_status status =
        m->path ? vxs_cohort_open_for(m->path, (const void *)&m->settings, &m->cohort, err)
                : VXS_FAILED;
    if (!status)
        status = vxs_task_new(context, &m->cohort, (const void *)&m->settings, &m->task, err);
    if (!status)
        status = vxs_task_share(context, &m->task, &m->method, err);
    return status;
}

/* The cohort as it is now is the one that the parts were made of. */
static vxs_status check_fingerprint(const vxs_part *part, const vxs_parts *parts, vxs_merged *m,
                                    vxs_error *err)
{
    vxs_run run = { .kind = m->kind,
                    .task = &m->task,
                    .settings = &m->settings,
                    .method = &m->method,
                    .observed = parts->observed };
    char *now = vxs_run_fingerprint(&run, err);
    bool same = now && strcmp(now, vxs_json_get_text(m->about, "fingerprint")) == 0;
    free(now);
    if (same || !now)
        return now ? VXS_OK : VXS_FAILED;
    return vxs_fail(err, VXS_BAD_DATA,
                    "'%s' was made of another cohort than '%s' is now, of other tables that "
                    "options name, or by another version of voxsift",
                    part->path, m->path);
}

/* And so are the values of its features. */
static vxs_status check_features(const vxs_parts *parts, const vxs_cohort *cohort, vxs_error *err)
{
    vxs_features_state now, then;
    vxs_status status = vxs_features_read_state(cohort, &now, err);
    for (size_t k = 0; k < parts->count && !status; k++) {
        const vxs_part *part = &parts->each[k];
        char *file = vxs_format(err, "%s/%s", part->path, VXS_PART_FILE);
        status = file ? vxs_features_read(part->about, file, &then, err) : VXS_FAILED;
        if (!status)
            status = vxs_features_check_unchanged(cohort, &now, &then, part->path, err);
        free(file);
    }
    return status;
}

static vxs_status merge_kind(const vxs_context *context, const vxs_parts *parts, vxs_merged *m,
                             vxs_error *err)
{
    if (m->kind == VXS_RUN_CV)
        return vxs_cv_merge(context, parts, m, err);
    return m->kind == VXS_RUN_PERMUTE ? vxs_permute_merge(context, parts, m, err)
                                      : vxs_stability_merge(parts, m, err);
}

/* The first part is asked what the run was; the others are the same. */
static vxs_status merge_parts(const vxs_context *context, const char *cohort,
                              const vxs_parts *parts, vxs_merged *m, vxs_error *err)
{
    const vxs_part *first = &parts->each[0];
    char *file = vxs_format(err, "%s/%s", first->path, VXS_PART_FILE);
    vxs_status status = file ? read_settings(first, m, err) : VXS_FAILED;
    if (!status)
        status = open_cohort(context, first, cohort, m, err);
    if (!status)
        status = check_fingerprint(first, parts, m, err);
    if (!status)
        status = check_features(parts, &m->cohort, err);
    if (!status)
        status = vxs_warn_leaks(context, &m->task, err);
    if (!status)
        status = merge_kind(context, parts, m, err);
    if (file)
        status = vxs_misuse_as_bad_data(file, status, err);
    free(file);
    return status;
}

/* "Haswell, Zen": each type once, in the order of the chunks. */
static vxs_status name_processors(const vxs_context *context, const vxs_parts *parts, vxs_merged *m,
                                  vxs_error *err)
{
    size_t types = 0;
    for (size_t k = 0; k < parts->count; k++) {
        const char *type = vxs_json_get_text(parts->each[k].about, "processor");
        bool known = false;
        for (size_t j = 0; j < k && !known; j++) {
            const char *other = vxs_json_get_text(parts->each[j].about, "processor");
            known = type && other && strcmp(type, other) == 0;
        }
        if (known || !type)
            continue;
        char *longer =
            vxs_format(err, "%s%s%s", types > 0 ? m->processors : "", types > 0 ? ", " : "", type);
        if (!longer)
            return VXS_FAILED;
        free(m->processors);
        m->processors = longer;
        types++;
    }
    if (types > 1)
        vxs_log(context, VXS_LOG_WARNING,
                "the parts were computed on several types of processor (%s): the result is that of "
                "one run up to rounding, not bit for bit",
                m->processors);
    return VXS_OK;
}

/* What the result says of where it was computed. */
static const char **processor_of(vxs_merged *m)
{
    return m->kind == VXS_RUN_CV        ? &m->result.cv.processor
           : m->kind == VXS_RUN_PERMUTE ? &m->result.permutation.processor
                                        : &m->result.stability.processor;
}

vxs_status vxs_merge(const vxs_context *context, const char *const *paths, const char *cohort,
                     vxs_merged *m, vxs_error *err)
{
    vxs_parts parts;
    *m = (vxs_merged){ .kind = VXS_RUN_CV };
    vxs_status status = vxs_parts_read(paths, &parts, err);
    if (status)
        return status;
    vxs_part *first = &parts.each[0];
    m->kind = parts.kind;
    m->parts = parts.count;
    m->about = first->about; /* settings point into it */
    status = merge_parts(context, cohort, &parts, m, err);
    if (!status)
        status = name_processors(context, &parts, m, err);
    *processor_of(m) = m->processors;
    first->about = NULL;
    vxs_parts_release(&parts);
    if (status)
        vxs_merged_release(m);
    return status;
}
