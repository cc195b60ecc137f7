/* reference.c - the reference region of SUVR: a mask, or labels of an atlas by number or name. */
#include "cohort/build.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <unistd.h>

/* Sets listed[k] for the labels of the atlas in a list of numbers and names. */
static vxs_status list_labels(const vxs_atlas *atlas, const char *list, bool *listed,
                              vxs_error *err)
{
    char item[256];
    for (const char *at = list; *at; at += *at == ',') {
        size_t length = strcspn(at, ","), k = 0;
        int32_t found = 0;
        double number;
        snprintf(item, sizeof(item), "%.*s", (int)length, at);
        bool numeric = vxs_parse_real(item, &number);
        for (k = 0; k < atlas->count; k++) {
            bool same = numeric ? (double)atlas->values[k] == number
                                : strcasecmp(atlas->names[k], item) == 0;
            listed[k] = listed[k] || same;
            found += same;
        }
        at += length;
        if (found > 0 || *item == '\0')
            continue;
        const char **names = vxs_alloc(atlas->count + 1, sizeof(*names), err);
        for (k = 0; names && k < atlas->count; k++)
            names[k] = atlas->names[k];
        const char *near = names && !numeric ? vxs_nearest(item, names) : NULL;
        vxs_status status =
            vxs_fail(err, VXS_BAD_DATA, "'%s' has no label '%s'%s%s%s", atlas->path, item,
                     near ? "; did you mean '" : "", near ? near : "", near ? "'?" : "");
        free((void *)names);
        return status;
    }
    return VXS_OK;
}

/* Marks the nonzero voxels of a mask, or the voxels with a listed label of the atlas; those that
 * --nan drop drops are dropped here, too. */
static vxs_status mark_reference(vxs_build *build, const vxs_volume *volume, size_t voxels,
                                 const vxs_atlas *atlas, vxs_error *err)
{
    const char *labels = build->settings->reference_labels;
    bool *listed = vxs_alloc(atlas->count + 1, sizeof(*listed), err);
    vxs_status status = listed && labels ? list_labels(atlas, labels, listed, err)
                        : listed         ? VXS_OK
                                         : VXS_FAILED;
    size_t count = 0;
    build->reference = status ? NULL : vxs_alloc(voxels, 1, err);
    for (size_t v = 0; build->reference && v < voxels; v++) {
        double value = (double)volume->values[v];
        bool dropped = build->settings->nan == VXS_NAN_DROP && build->missing[v];
        bool there = isfinite(value) && value != 0 && !dropped;
        size_t label = there && labels ? vxs_atlas_find(atlas, (int32_t)value) : atlas->count;
        build->reference[v] = labels ? label < atlas->count && listed[label] : there;
        count += build->reference[v];
    }
    free(listed);
    if (!build->reference)
        return status ? status : VXS_FAILED;
    if (count == 0)
        return vxs_fail(err, VXS_BAD_DATA, "the reference region of '%s' has no voxel",
                        build->settings->reference);
    return VXS_OK;
}

/* Resamples the labels of a built-in atlas to the cohort's grid (nearest neighbor). */
static vxs_status bring_labels(const vxs_build *build, const vxs_atlas *atlas, size_t voxels,
                               vxs_volume *volume, vxs_error *err)
{
    int32_t *labels = vxs_alloc(voxels, sizeof(*labels), err);
    vxs_status status = labels ? vxs_volume_new(&build->grid, volume, err) : VXS_FAILED;
    if (!status)
        status = vxs_atlas_resample(atlas, &build->grid, labels, err);
    for (size_t v = 0; v < voxels && !status; v++)
        volume->values[v] = (float)labels[v];
    free(labels);
    return status;
}

/* Reads a mask, or labels of an atlas given by file or name. */
vxs_status vxs_build_find_reference(vxs_build *build, size_t voxels, vxs_error *err)
{
    vxs_volume volume = { .values = NULL };
    vxs_atlas atlas = { .count = 0 };
    const char *name = build->settings->reference;
    bool named = access(name, F_OK) != 0;
    vxs_status status = build->settings->reference_labels || named
                            ? vxs_atlas_read(name, NULL, &atlas, err)
                            : VXS_OK;
    if (!status && named)
        status = bring_labels(build, &atlas, voxels, &volume, err);
    else if (!status)
        status = vxs_build_read_on_grid(build, atlas.path ? atlas.path : name, "reference", &volume,
                                        err);
    if (!status)
        status = mark_reference(build, &volume, voxels, &atlas, err);
    vxs_volume_release(&volume);
    vxs_atlas_release(&atlas);
    return status;
}
