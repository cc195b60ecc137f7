/* regions.c - from a map to its region table. */
#include "report/regions.h"

#include <errno.h>
#include <limits.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define AT(member) offsetof(vxs_regions_settings, member)

static const char *const connectivities[] = { "6", "18", "26", NULL };
static const char *const formats[] = { "voxsift", "fsl", "nilearn", NULL };

const vxs_param vxs_regions_params[] = {
    VXS_REAL_ROW("threshold", "T", AT(threshold), 0, 0, INFINITY,
                 "absolute value above which voxels are listed; default 0: all that are not 0",
                 .head = VXS_HEAD_DATA, .usual = true),
    VXS_CHOICE_ROW("connectivity", "N", AT(connectivity), 2, connectivities,
                   "neighbors of a voxel: by faces (6), edges (18) or corners (26)",
                   .head = VXS_HEAD_DATA),
    VXS_WHOLE_ROW("min-size", "N", AT(min_size), 1, 1, 1e9, "smallest cluster in voxels",
                  .head = VXS_HEAD_DATA, .usual = true),
    VXS_WHOLE_ROW("volume", "K", AT(volume), NAN, 1, 1e6, "volume of a 4D map, from 1",
                  .head = VXS_HEAD_DATA),
    VXS_PATH_ROW(
        "atlas", "FILE", AT(atlas),
        "atlases that name clusters, with commas between: files, or names such as schaefer100",
        .head = VXS_HEAD_DATA, .usual = true),
    VXS_PATH_ROW("atlas-names", "FILE", AT(atlas_names),
                 "names of the first atlas's labels; default: the file next to it",
                 .head = VXS_HEAD_DATA),
    VXS_CHOICE_ROW("table-format", "KIND", AT(format), 0, formats,
                   "columns of the table, as in voxsift, FSL cluster or nilearn",
                   .head = VXS_HEAD_OUTPUT),
    VXS_PATH_ROW("underlay", "FILE", AT(underlay), "background image in the viewer scripts",
                 .head = VXS_HEAD_OUTPUT),
    { .name = NULL },
};

int vxs_region_index(const vxs_region_table *t, size_t k)
{
    bool rising = t->settings->format == VXS_TABLE_FSL;
    return (int)(rising ? t->clusters.count - k : k + 1);
}

static void release(vxs_region_table *t)
{
    for (size_t a = 0; a < VXS_MAX_ATLASES; a++) {
        vxs_atlas_release(&t->atlas[a]);
        free(t->atlas_name[a]);
        free(t->overlap[a]);
    }
    vxs_clusters_release(&t->clusters);
}

static vxs_status read_map(vxs_region_table *t, vxs_volume *map, vxs_error *err)
{
    vxs_image image;
    size_t requested = (size_t)t->settings->volume;
    vxs_status status = vxs_image_read(t->map, &image, err);
    if (status)
        return status;
    if (requested == 0 && image.volumes > 1)
        status = vxs_fail(err, VXS_BAD_DATA, "'%s' has %zu volumes: say which with --volume",
                          t->map, image.volumes);
    else if (requested > image.volumes)
        status = vxs_fail(err, VXS_BAD_DATA, "'%s' has no volume %zu, but %zu", t->map, requested,
                          image.volumes);
    else
        status = vxs_volume_from_image(&image, requested ? requested - 1 : 0, map, err);
    vxs_image_release(&image);
    return status;
}

static vxs_status find_clusters(vxs_region_table *t, vxs_error *err)
{
    static const int numbers[] = { 6, 18, 26 };
    vxs_volume map = { .values = NULL };
    vxs_status status = read_map(t, &map, err);
    if (status)
        return status;
    t->connectivity = numbers[t->settings->connectivity];
    size_t infinite = 0;
    for (size_t v = 0; v < vxs_grid_voxels(&map.grid); v++) {
        infinite += isinf(map.values[v]) != 0;
        if (isfinite(map.values[v]))
            t->largest = fmax(t->largest, fabs((double)map.values[v]));
    }
    if (infinite > 0)
        status = vxs_fail(err, VXS_BAD_DATA,
                          "'%s' has %zu infinite value%s, whose clusters have no peak; replace "
                          "%s by finite values",
                          t->map, infinite, vxs_plural(infinite), infinite == 1 ? "it" : "them");
    else
        status = vxs_clusters_find(&map, t->settings->threshold, t->connectivity,
                                   (size_t)t->settings->min_size, &t->clusters, err);
    vxs_volume_release(&map);
    return status;
}

/* The file's name up to the first point. */
static char *short_name(const char *path, vxs_error *err)
{
    const char *slash = strrchr(path, '/');
    const char *base = slash ? slash + 1 : path;
    return vxs_format(err, "%.*s", (int)strcspn(base, "."), base);
}

static vxs_status add_atlas(vxs_region_table *t, const char *path, vxs_error *err)
{
    size_t a = t->atlases;
    if (a == VXS_MAX_ATLASES)
        return vxs_fail(err, VXS_MISUSE, "at most %d atlases can be named", VXS_MAX_ATLASES);
    vxs_status status =
        vxs_atlas_read(path, a == 0 ? t->settings->atlas_names : NULL, &t->atlas[a], err);
    if (status)
        return status;
    t->atlas_name[a] = short_name(path, err);
    t->overlap[a] = vxs_alloc(t->clusters.count, sizeof(*t->overlap[a]), err);
    if (!t->atlas_name[a] || !t->overlap[a])
        return VXS_FAILED;
    t->atlases++;
    return vxs_clusters_overlap(&t->clusters, &t->atlas[a], t->overlap[a], err);
}

static vxs_status add_atlases(vxs_region_table *t, vxs_error *err)
{
    const char *list = t->settings->atlas;
    vxs_status status = VXS_OK;
    while (list && *list && !status) {
        size_t length = strcspn(list, ",");
        char *path = vxs_format(err, "%.*s", (int)length, list);
        status = path ? add_atlas(t, path, err) : VXS_FAILED;
        free(path);
        list += length + (list[length] == ',');
    }
    return status;
}

static vxs_status write_labels(const vxs_region_table *t, vxs_output *output, vxs_error *err)
{
    size_t voxels = vxs_grid_voxels(&t->clusters.grid);
    vxs_write_options options = { .type = VXS_WRITE_INT32,
                                  .intent_code = 1002,
                                  .intent_name = "cluster",
                                  .descrip = "voxsift " VXS_VERSION " clusters" };
    int32_t *values = vxs_alloc(voxels, sizeof(*values), err);
    FILE *stream = NULL;
    vxs_status status =
        values ? vxs_output_open(output, "clusters.nii.gz", &stream, err) : VXS_FAILED;
    for (size_t v = 0; v < voxels && !status; v++)
        if (t->clusters.labels[v])
            values[v] = vxs_region_index(t, (size_t)t->clusters.labels[v] - 1);
    if (stream) {
        status =
            vxs_image_write(stream, "clusters.nii.gz", &t->clusters.grid, &options, values, err);
        vxs_status closed = vxs_output_close(output, stream, "clusters.nii.gz", err);
        status = status ? status : closed;
    }
    free(values);
    return status;
}

static vxs_status write_file(const vxs_region_table *t, vxs_output *output,
                             const vxs_companion *file, vxs_error *err)
{
    FILE *stream;
    vxs_status status = vxs_output_open(output, file->name, &stream, err);
    if (status)
        return status;
    file->write(t, stream);
    return vxs_output_close(output, stream, file->name, err);
}

static vxs_status make_directory(const vxs_context *context, const vxs_region_table *t,
                                 const char *directory, bool replace, vxs_error *err)
{
    static const vxs_companion table = { "clusters.tsv", vxs_region_write };
    static const vxs_companion dictionary = { VXS_REGIONS_FILE, vxs_region_dictionary };
    vxs_output *output = NULL;
    vxs_status status = vxs_output_new(context, directory, replace, &output, err);
    if (!status)
        status = write_file(t, output, &table, err);
    if (!status)
        status = write_file(t, output, &dictionary, err);
    if (!status)
        status = write_labels(t, output, err);
    for (const vxs_companion *c = vxs_companions; c->name && !status; c++)
        status = write_file(t, output, c, err);
    if (!status)
        status = vxs_output_commit(output, err);
    vxs_output_free(output);
    return status;
}

char *vxs_find_map(const char *map, vxs_error *err)
{
    static const char *const maps[] = { "weights.nii.gz", "weights_mean.nii.gz", "stable.nii.gz",
                                        "frequency.nii.gz", "truth.nii.gz" };
    struct stat about;
    if (stat(map, &about) != 0 || !S_ISDIR(about.st_mode))
        return vxs_format(err, "%s", map);
    for (size_t k = 0; k < sizeof(maps) / sizeof(maps[0]); k++) {
        char *path = vxs_format(err, "%s/%s", map, maps[k]);
        if (!path || access(path, F_OK) == 0)
            return path;
        free(path);
    }
    const char *kind = vxs_folder_kind(map);
    vxs_fail(err, VXS_MISSING, "'%s' is a %s without a map of weights: give an image", map,
             kind ? kind : "directory");
    return NULL;
}

vxs_status vxs_regions(const vxs_context *context, const vxs_regions_settings *settings,
                       const char *map, const char *directory, bool replace, bool json,
                       bool rounded, const vxs_warnings *warnings, FILE *stream, vxs_error *err)
{
    vxs_error own = VXS_ERROR_INIT;
    vxs_region_table t = { .settings = settings, .warnings = warnings };
    err = err ? err : &own;
    /* the command that opens both is run from another folder */
    char *found = vxs_find_map(map, err);
    if (!found)
        return err->status;
    char *absolute = realpath(found, NULL);
    char *underlay = settings->underlay ? realpath(settings->underlay, NULL) : NULL;
    t.map = absolute ? absolute : found;
    t.underlay = underlay;
    vxs_status status = VXS_OK;
    if (settings->underlay && !underlay)
        status =
            vxs_fail(err, VXS_MISSING, "cannot read '%s': %s", settings->underlay, strerror(errno));
    if (!status)
        status = find_clusters(&t, err);
    if (!status)
        status = add_atlases(&t, err);
    if (!status && directory)
        status = make_directory(context, &t, directory, replace, err);
    if (!status && t.clusters.count == 0)
        vxs_log(context, VXS_LOG_WARNING, "'%s' has no voxel above %g", map, settings->threshold);
    if (!status)
        t.rounded = rounded;
    if (!status)
        (json ? vxs_region_write_json : vxs_region_write)(&t, stream);
    release(&t);
    free(underlay);
    free(absolute);
    free(found);
    return status;
}
