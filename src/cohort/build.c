/* build.c - the steps of making a cohort in their order, and the subjects that each step leaves
 * out. */
#include "cohort/build.h"
#include "voxsift/internal/machine.h"

#include <errno.h>
#include <stdlib.h>
#include <unistd.h>

static char lost_reason[] = "not enough memory";

void vxs_build_release(vxs_build *build)
{
    for (size_t i = 0; i < build->count; i++) {
        free(build->subjects[i].id);
        free(build->subjects[i].person);
        free(build->subjects[i].path);
        if (build->subjects[i].reason != lost_reason)
            free(build->subjects[i].reason);
        vxs_packed_release(&build->subjects[i].packed);
    }
    free(build->subjects);
    free((void *)build->unmatched);
    free(build->excluded);
    vxs_row_filter_release(&build->filter);
    vxs_suspicions_release(build);
    vxs_table_free(build->table);
    vxs_image_release(&build->shared);
    vxs_atlas_release(&build->atlas);
    free(build->mask);
    free(build->signal);
    free(build->missing);
    free(build->last);
    free(build->differs);
    free(build->sum);
    free(build->voxels);
    free(build->region);
    free(build->weights);
    free(build->reference);
}

void vxs_build_leave_out(vxs_build *build, vxs_subject *subject, const char *format, ...)
{
    vxs_error why = VXS_ERROR_INIT;
    va_list args;
    va_start(args, format);
    vxs_failv(&why, VXS_BAD_DATA, format, args);
    va_end(args);
    if (subject->reason)
        return;
    subject->reason = vxs_format(&build->no_memory, "%s", why.message);
    if (!subject->reason) /* leave it out all the same; vxs_build_check_problems then fails */
        subject->reason = lost_reason;
    if (!build->settings->drop_bad)
        build->problems++;
    vxs_log(build->context, build->settings->drop_bad ? VXS_LOG_WARNING : VXS_LOG_ERROR,
            "%s '%s': %s", build->settings->drop_bad ? "left out" : "cannot use", subject->id,
            why.message);
}

size_t vxs_build_kept(const vxs_build *build)
{
    size_t kept = 0;
    for (size_t i = 0; i < build->count; i++)
        kept += build->subjects[i].reason == NULL;
    return kept;
}

vxs_status vxs_build_check_problems(vxs_build *build, vxs_error *err)
{
    size_t kept = vxs_build_kept(build), selected = build->count - vxs_build_unselected(build);
    if (build->no_memory.status)
        return vxs_fail(err, VXS_FAILED, "%s", build->no_memory.message);
    if (build->problems > 0)
        return vxs_fail(
            err, VXS_BAD_DATA,
            "%zu of %zu subjects cannot be used (see above); correct them, or pass --drop-bad",
            build->problems, selected);
    if (kept < (build->settings->single ? 1 : 2))
        return vxs_fail(err, VXS_BAD_DATA, "%zu of %zu subjects can be used; a cohort requires two",
                        kept, selected);
    return VXS_OK;
}

static size_t count_edges(const vxs_build *build)
{
    const size_t *n = build->grid.shape;
    size_t edges = 0;
    for (size_t v = 0; v < n[0] * n[1] * n[2]; v++) {
        if (!build->mask[v])
            continue;
        edges += v % n[0] + 1 < n[0] && build->mask[v + 1];
        edges += v / n[0] % n[1] + 1 < n[1] && build->mask[v + n[0]];
        edges += v / n[0] / n[1] + 1 < n[2] && build->mask[v + n[0] * n[1]];
    }
    return edges;
}

static void summarize(const vxs_build *build, double seconds, vxs_cohort_summary *summary)
{
    uint64_t block = 0;
    size_t kept = vxs_build_kept(build), unselected = vxs_build_unselected(build);
    vxs_build_block(build, &block);
    *summary = (vxs_cohort_summary){
        .subjects = kept,
        .people = build->people,
        .people_perhaps = build->people_perhaps,
        .dropped = build->count - kept - unselected,
        .not_selected = unselected + build->excluded_count,
        .features = build->p,
        .edges = build->settings->regions ? 0 : count_edges(build),
        .voxels = !build->settings->regions,
        .seconds = seconds,
        .expected_seconds = build->survey_seconds,
        .expected_bytes = (uint64_t)build->p * kept * sizeof(float),
        .expected_memory = block,
    };
}

static vxs_status make_from_images(vxs_build *build, const char *const *sources,
                                   const char *directory, bool replace, vxs_cohort_summary *summary,
                                   vxs_error *err)
{
    vxs_output *output = NULL;
    double start = vxs_seconds();
    vxs_status status = VXS_OK;
    /* claim the name before all work: a wrong name fails at no cost */
    if (!build->settings->dry_run)
        status = vxs_output_new(build->context, directory, replace, &output, err);
    if (!status)
        status = vxs_build_list(build, sources, err);
    if (!status)
        status = vxs_build_find_people(build, NULL, err);
    if (!status)
        status = vxs_build_check_headers(build, err);
    if (!status)
        status = vxs_build_survey(build, err);
    if (!status)
        status = vxs_build_count_people(build, err);
    if (!status && !build->settings->dry_run)
        status = vxs_build_write_matrix(build, output, err);
    if (!status && !build->settings->dry_run)
        status = vxs_build_describe(build, output, NULL, err);
    if (!status && !build->settings->dry_run)
        status = vxs_output_commit(output, err);
    if (!status)
        summarize(build, vxs_seconds() - start, summary);
    vxs_output_free(output);
    return status;
}

/* ---- Source of the subjects ------------------------------------------------------------------ */

void vxs_origin_release(vxs_origin *o)
{
    free(o->table);
    free(o->lines);
    *o = (vxs_origin){ .table = NULL };
}

static vxs_status note_origin(const vxs_build *build, vxs_origin *o, vxs_error *err)
{
    size_t kept = 0;
    if (!build->table)
        return VXS_OK;
    o->table = vxs_format(err, "%s", vxs_table_name(build->table));
    o->lines = vxs_alloc(build->count, sizeof(*o->lines), err);
    if (!o->table || !o->lines)
        return VXS_FAILED;
    for (size_t i = 0; i < build->count && o->lines; i++) {
        const vxs_subject *s = &build->subjects[i];
        if (s->reason)
            continue;
        if (s->row != NO_ROW) {
            o->lines[kept++] = vxs_table_line(build->table, s->row);
        } else {
            free(o->lines);
            o->lines = NULL;
        }
    }
    return VXS_OK;
}

/* ---- Entry point ----------------------------------------------------------------------------- */

static vxs_status check_settings(const vxs_cohort_settings *s, bool images, vxs_error *err)
{
    int tables = (s->features != NULL) + (s->npy != NULL) + (s->svmlight != NULL);
    if (tables + images != 1)
        return vxs_fail(err, VXS_MISUSE,
                        "one source is required: images or a table of them, --feature-table, --npy "
                        "or --svmlight");
    if (s->rows && (s->features || s->svmlight))
        return vxs_fail(err, VXS_MISUSE, "--rows requires --npy or a 4D image");
    if (s->npy && !s->rows)
        return vxs_fail(err, VXS_MISUSE, "--npy requires --rows, the table of its rows");
    if (s->regions && !s->atlas)
        return vxs_fail(err, VXS_MISUSE, "--regions requires --atlas");
    if (s->scale == VXS_SCALE_SUVR && !s->reference)
        return vxs_fail(err, VXS_MISUSE, "--scale suvr requires --reference, a mask or an atlas");
    if (s->reference_labels && !s->reference)
        return vxs_fail(err, VXS_MISUSE, "--reference-labels requires --reference");
    if (tables && (s->mask || s->voxel_size > 0 || s->atlas || vxs_steps_asked(s)))
        return vxs_fail(err, VXS_MISUSE,
                        "a table has no voxels to mask, smooth, resample or scale");
    return VXS_OK;
}

/* What only a program can set wrongly. */
static vxs_status check_given(const vxs_cohort_settings *settings, const char *directory,
                              const vxs_cohort_summary *summary, vxs_error *err)
{
    bool writes = !settings || !settings->dry_run;
    vxs_status status = VXS_GIVEN(err, { "settings", settings }, { "summary", summary },
                                  { "directory", writes ? directory : "" });
    const vxs_param *const tables[] = { vxs_source_params, vxs_cohort_params };
    for (int k = 0; k < 2 && !status; k++) {
        status = vxs_params_check_choices(tables[k], settings, err);
        if (!status)
            status = vxs_params_check_numbers(tables[k], settings, err);
    }
    return status;
}

static vxs_status check_file(const char *path, vxs_error *err)
{
    return access(path, F_OK) == 0 ? VXS_OK : vxs_file_missing(path, err);
}

/* Before images are read: a missing mask or atlas fails at once. */
static vxs_status check_files(const vxs_cohort_settings *s, vxs_error *err)
{
    const char *const atlases[] = { s->regions ? s->atlas : NULL, s->reference };
    vxs_status status = s->mask ? check_file(s->mask, err) : VXS_OK;
    for (size_t k = 0; k < 2 && !status; k++) {
        char *path = NULL;
        status = atlases[k] ? vxs_atlas_locate(atlases[k], &path, err) : VXS_OK;
        if (path && !status)
            status = check_file(path, err);
        free(path);
    }
    return status;
}

vxs_status vxs_cohort_make(const vxs_context *context, const vxs_cohort_settings *settings,
                           const char *const *sources, const char *directory, bool replace,
                           vxs_cohort_summary *summary, vxs_error *err)
{
    vxs_build build = { .context = context, .settings = settings };
    build.nthreads = vxs_context_threads(context);
    bool images = sources && sources[0];
    vxs_status status = check_given(settings, directory, summary, err);
    if (!status)
        status = check_settings(settings, images, err);
    if (!status && images)
        status = check_files(settings, err);
    if (!status && images)
        status = make_from_images(&build, sources, directory, replace, summary, err);
    else if (!status)
        status = vxs_build_from_table(&build, directory, replace, summary, err);
    if (!status && settings->origin)
        status = note_origin(&build, settings->origin, err);
    vxs_build_release(&build);
    return status;
}
