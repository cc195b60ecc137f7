/* patches.c - cohorts whose rows are voxels: draws voxels of each class from each subject, and
 * writes them as a table of features with a column of labels. A person's voxels stay together
 * wherever persons do, since the column of persons is that of the subjects. */
#include "cohort/patch_draws.h"
#include "voxsift/internal/machine.h"

#include <stdlib.h>
#include <string.h>

static void release_drawn(vxs_drawn *d)
{
    vxs_patch_images_release(&d->images);
    free(d->voxel);
    free(d->label);
    free(d->values);
    free(d->at);
}

static void release_patches(vxs_patch_draws *s)
{
    for (size_t k = 0; k < s->count; k++)
        release_drawn(&s->each[k]);
    free(s->each);
    for (size_t j = 0; j < s->plan.p && s->names; j++)
        free(s->names[j]);
    free(s->names);
    vxs_patch_source_release(&s->source);
    vxs_patch_plan_release(&s->plan);
}

static vxs_status take_values(const vxs_patch_draws *s, vxs_drawn *d, vxs_error *err)
{
    vxs_patch_images *m = &d->images;
    d->values = vxs_alloc(s->plan.p, vxs_times(d->count, sizeof(*d->values)), err);
    d->at = vxs_alloc(d->count, sizeof(*d->at), err);
    if (!d->values || !d->at)
        return VXS_FAILED;
    vxs_patch_values(&s->plan, m, d->voxel, d->count, d->count, d->values);
    for (size_t k = 0; k < d->count; k++) {
        double index[3];
        vxs_grid_index(&m->grid, d->voxel[k], index);
        vxs_grid_position(&m->grid, index, d->at[k]);
    }
    free(m->values); /* counts, hashes and the grid stay */
    free(m->label);
    free(m->mask);
    free(m->usable);
    m->values = m->label = NULL;
    m->mask = m->usable = NULL;
    return VXS_OK;
}

static void leave_twin_out(vxs_patch_draws *s, vxs_drawn *d)
{
    for (const vxs_drawn *other = s->each; other < d; other++)
        if (strcmp(other->images.hash[0], d->images.hash[0]) == 0) {
            vxs_build_leave_out(&s->source.build, d->subject,
                                "'%s' is the same file as that of '%s'", d->subject->path,
                                other->subject->id);
            return;
        }
}

static vxs_status take_subject(vxs_patch_draws *s, vxs_subject *subject, vxs_error *err)
{
    vxs_drawn *d = &s->each[s->count];
    bool there = false;
    *d = (vxs_drawn){ .subject = subject };
    vxs_status status =
        vxs_patch_source_read(&s->source, &s->plan, subject, &d->images, &there, err);
    if (!status && there)
        leave_twin_out(s, d);
    if (!status && there && !subject->reason)
        status = vxs_draw_voxels(s, d, err);
    if (!status && there && !subject->reason && d->count == 0)
        vxs_build_leave_out(&s->source.build, subject,
                            "none of the %zu voxels of its mask can be used", d->images.in_mask);
    if (!status && there && !subject->reason)
        status = take_values(s, d, err);
    if (status || subject->reason) {
        release_drawn(d);
        return status;
    }
    memcpy(subject->hash, d->images.hash[0], sizeof(subject->hash));
    s->rows += d->count;
    s->count++;
    return VXS_OK;
}

/* ---- What is said ---------------------------------------------------------------------------- */

static void note_voxel_sizes(vxs_patch_draws *s)
{
    double size[3];
    const vxs_subject *other = NULL;
    for (size_t k = 0; k < s->count; k++) {
        const vxs_patch_images *m = &s->each[k].images;
        vxs_grid_voxel_size(&m->grid, size);
        for (int d = 0; d < 3 && k == 0; d++)
            s->plan.voxel_size[d] = size[m->axis[d]];
        if (!other && !vxs_patch_same_size(&s->plan, m))
            other = s->each[k].subject;
    }
    if (other)
        vxs_log(s->source.build.context, VXS_LOG_WARNING,
                "voxels of '%s' and '%s' differ in size, and so do their patches",
                s->each[0].subject->id, other->id);
}

static void warn_of_gaps(const vxs_patch_draws *s)
{
    size_t gaps = 0, with = 0;
    for (size_t k = 0; k < s->count; k++) {
        gaps += s->each[k].images.not_usable;
        with += s->each[k].images.not_usable > 0;
    }
    if (gaps > 0)
        vxs_log(s->source.build.context, VXS_LOG_WARNING,
                "%zu voxel%s of %zu subject%s cannot be rows: a value of the patch, or the label, "
                "is not finite",
                gaps, vxs_plural(gaps), with, vxs_plural(with));
}

static vxs_status draw_all(vxs_patch_draws *s, vxs_error *err)
{
    vxs_build *b = &s->source.build;
    vxs_progress progress;
    vxs_status status = VXS_OK;
    s->each = vxs_alloc(b->count, sizeof(*s->each), err);
    if (!s->each)
        return VXS_FAILED;
    vxs_progress_start(&progress, b->context, "drawing voxels", "subjects", vxs_build_kept(b));
    for (size_t i = 0; i < b->count && !status; i++) {
        if (b->subjects[i].reason)
            continue;
        status = take_subject(s, &b->subjects[i], err);
        if (!status)
            status = vxs_progress_step(&progress, 1, err);
    }
    if (!status)
        status = vxs_build_check_problems(b, err);
    if (!status)
        status = vxs_build_count_people(b, err);
    if (status)
        return status;
    s->plain = s->label_count == 0 || s->label[s->label_count - 1] <= 1;
    note_voxel_sizes(s);
    warn_of_gaps(s);
    return VXS_OK;
}

static void summarize(const vxs_patch_draws *s, double start, vxs_patch_summary *summary)
{
    const vxs_build *b = &s->source.build;
    summary->subjects = s->count;
    summary->label_count = s->label_count;
    summary->cohort.people = b->people;
    summary->cohort.people_perhaps = b->people_perhaps;
    summary->cohort.dropped = b->count - s->count - vxs_build_unselected(b);
    summary->cohort.not_selected = vxs_build_unselected(b) + b->excluded_count;
    summary->cohort.seconds = vxs_seconds() - start;
    for (size_t k = 0; k < s->count; k++) {
        summary->in_mask += s->each[k].images.in_mask;
        summary->outside += s->each[k].outside;
    }
    memcpy(summary->label, s->label, sizeof(s->label));
    memcpy(summary->sampled, s->sampled, sizeof(s->sampled));
}

/* ---- The whole ------------------------------------------------------------------------------- */

vxs_status vxs_patches_make(const vxs_context *context, const vxs_patch_settings *settings,
                            const char *table, const char *directory, bool replace,
                            vxs_patch_summary *summary, vxs_error *err)
{
    vxs_patch_draws s = { .settings = settings };
    vxs_output *output = NULL;
    double start = vxs_seconds();
    bool dry = settings->sources.dry_run;
    *summary = (vxs_patch_summary){ .subjects = 0 };
    vxs_status status = vxs_patch_plan_make(settings, &s.plan, err);
    if (!status && !dry) /* claim the name before all work: a wrong name fails at no cost */
        status = vxs_output_new(context, directory, replace, &output, err);
    if (!status)
        status = vxs_patch_source_open(context, settings, &s.plan, table, &s.source, err);
    if (!status)
        status = draw_all(&s, err);
    if (!status)
        status = vxs_patch_rows_write(&s, output, &summary->cohort, err);
    if (!status)
        summarize(&s, start, summary);
    vxs_output_free(output);
    release_patches(&s);
    return status;
}
