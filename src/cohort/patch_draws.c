/* patch_draws.c - draws voxels from each class of a subject's label image. */
#include "cohort/patch_draws.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#define LARGEST_LABEL 16777216.0 /* whole numbers that a float holds */

/* ---- Labels ---------------------------------------------------------------------------------- */

/* The class of a voxel; -1: its label is no whole number. */
static int32_t class_of(const vxs_patch_draws *s, float label)
{
    double threshold = s->settings->label_threshold, value = (double)label;
    if (!isnan(threshold))
        return value > threshold;
    return value >= 0 && value <= LARGEST_LABEL && value == floor(value) ? (int32_t)value : -1;
}

static vxs_status refuse_label(const vxs_patch_draws *s, const vxs_subject *subject, float label,
                               vxs_error *err)
{
    const vxs_build *b = &s->source.build;
    char text[VXS_REAL_TEXT];
    return vxs_fail(err, VXS_BAD_DATA,
                    "'%s' of '%s' has the value %s, which is no label; pass --label-threshold X "
                    "to make voxels above X one class",
                    vxs_table_cell(b->table, subject->row, s->source.label), subject->id,
                    vxs_short_text((double)label, text));
}

/* The place of a label among those known; new ones are put in. */
static vxs_status add_label(vxs_patch_draws *s, int32_t label, size_t *place, vxs_error *err)
{
    size_t k = 0;
    while (k < s->label_count && s->label[k] < label)
        k++;
    *place = k;
    if (k < s->label_count && s->label[k] == label)
        return VXS_OK;
    if (s->label_count == VXS_MOST_LABELS)
        return vxs_fail(err, VXS_BAD_DATA,
                        "the label images have more than %d labels; pass --label-threshold X for "
                        "two classes",
                        VXS_MOST_LABELS);
    for (size_t l = s->label_count++; l > k; l--) {
        s->label[l] = s->label[l - 1];
        s->sampled[l] = s->sampled[l - 1];
    }
    s->label[k] = label;
    s->sampled[k] = 0;
    return VXS_OK;
}

/* ---- Draws ----------------------------------------------------------------------------------- */

/* A subject's voxels do not depend on who else is in the table. */
static uint64_t stream_of(const char *id, int32_t label)
{
    uint64_t hash = 14695981039346656037U; /* FNV-1a */
    for (; *id; id++)
        hash = (hash ^ (unsigned char)*id) * 1099511628211U;
    return (hash ^ (uint64_t)(uint32_t)label) * 1099511628211U;
}

static int by_size(const void *a, const void *b)
{
    size_t left = *(const size_t *)a, right = *(const size_t *)b;
    return (left > right) - (left < right);
}

/* Draws without replacement; the drawn ones come first, ascending. */
static size_t draw(const vxs_patch_draws *s, const char *id, int32_t label, size_t *list,
                   size_t count)
{
    const vxs_random random = { (uint64_t)s->settings->seed, stream_of(id, label) };
    size_t most = (size_t)s->settings->per_class;
    if (most >= count)
        return count;
    for (size_t k = 0; k < most; k++) {
        size_t other = k + (size_t)vxs_random_below(&random, k, count - k), kept = list[k];
        list[k] = list[other];
        list[other] = kept;
    }
    qsort(list, most, sizeof(*list), by_size);
    return most;
}

/* Voxels of one class. */
static vxs_status draw_class(vxs_patch_draws *s, vxs_drawn *d, int32_t label, size_t *list,
                             vxs_error *err)
{
    const vxs_patch_images *m = &d->images;
    size_t count = 0, place = 0;
    for (size_t v = 0; v < m->voxels; v++)
        if (m->usable[v] && class_of(s, m->label[v]) == label)
            list[count++] = v;
    vxs_status status = add_label(s, label, &place, err);
    if (status || count == 0)
        return status;
    count = draw(s, d->subject->id, label, list, count);
    size_t *voxel = vxs_resize(d->voxel, d->count + count, sizeof(*voxel), err);
    d->voxel = voxel ? voxel : d->voxel;
    int32_t *labels = voxel ? vxs_resize(d->label, d->count + count, sizeof(*labels), err) : NULL;
    d->label = labels ? labels : d->label;
    if (!labels)
        return VXS_FAILED;
    memcpy(voxel + d->count, list, count * sizeof(*list));
    for (size_t k = 0; k < count; k++)
        labels[d->count + k] = label;
    d->count += count;
    s->sampled[place] += count;
    return VXS_OK;
}

/* Labels of the subject's usable voxels, ascending. */
static vxs_status find_labels(const vxs_patch_draws *s, vxs_drawn *d, int32_t *found, size_t *count,
                              vxs_error *err)
{
    const vxs_patch_images *m = &d->images;
    *count = 0;
    for (size_t v = 0; v < m->voxels; v++) {
        if (!isfinite(m->label[v]))
            continue;
        int32_t label = class_of(s, m->label[v]);
        if (label < 0)
            return refuse_label(s, d->subject, m->label[v], err);
        d->outside += label > 0 && !m->mask[v];
        size_t k = *count;
        while (k > 0 && found[k - 1] > label)
            k--;
        bool known = k > 0 && found[k - 1] == label;
        if (!m->usable[v] || known)
            continue;
        if (*count == VXS_MOST_LABELS)
            return vxs_fail(err, VXS_BAD_DATA,
                            "'%s' has more than %d labels; pass --label-threshold X for two "
                            "classes",
                            d->subject->id, VXS_MOST_LABELS);
        memmove(found + k + 1, found + k, (*count - k) * sizeof(*found));
        found[k] = label;
        ++*count;
    }
    return VXS_OK;
}

/* In the order of their places: sorted by class, all subjects would have the same sequence of
 * labels, and exchanging persons would change nothing. */
static vxs_status sort_by_place(vxs_drawn *d, vxs_error *err)
{
    size_t *code = vxs_alloc(d->count, 2 * sizeof(*code), err);
    if (!code)
        return VXS_FAILED;
    for (size_t k = 0; k < d->count; k++) {
        code[2 * k] = d->voxel[k];
        code[2 * k + 1] = (size_t)d->label[k];
    }
    qsort(code, d->count, 2 * sizeof(*code), by_size);
    for (size_t k = 0; k < d->count; k++) {
        d->voxel[k] = code[2 * k];
        d->label[k] = (int32_t)code[2 * k + 1];
    }
    free(code);
    return VXS_OK;
}

vxs_status vxs_draw_voxels(vxs_patch_draws *s, vxs_drawn *d, vxs_error *err)
{
    int32_t found[VXS_MOST_LABELS];
    size_t count = 0, *list = vxs_alloc(d->images.voxels, sizeof(*list), err);
    vxs_status status = list ? find_labels(s, d, found, &count, err) : VXS_FAILED;
    for (size_t k = 0; k < count && !status; k++)
        status = draw_class(s, d, found[k], list, err);
    free(list);
    return status ? status : sort_by_place(d, err);
}
