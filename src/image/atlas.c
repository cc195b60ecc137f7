/* atlas.c - label images with names. */
#include "voxsift/internal/image.h"

#include "image/names.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

/* Values without names are gray values, not labels, if neighbors rarely share one although there
 * are GRAY_VOXELS voxels or more of each on average: of the ICBM 152 T1 0.05 share one, of regions
 * of 3 x 3 x 3 voxels 0.67. */
#define GRAY_VOXELS 27
#define GRAY_SHARE  0.2

static int ascending(const void *a, const void *b)
{
    int32_t left = *(const int32_t *)a, right = *(const int32_t *)b;
    return (left > right) - (left < right);
}

/* Labels must be integers; a probability map instead of an atlas is the usual mistake. */
static vxs_status read_labels(const vxs_image *image, const char *path, vxs_atlas *atlas,
                              vxs_error *err)
{
    size_t voxels = vxs_grid_voxels(&image->grid);
    if (image->volumes != 1)
        return vxs_fail(
            err, VXS_BAD_DATA,
            "cannot use '%s' as an atlas: it has %zu volumes, one with labels is required", path,
            image->volumes);
    atlas->grid = image->grid;
    atlas->labels = vxs_alloc(voxels, sizeof(*atlas->labels), err);
    if (!atlas->labels)
        return VXS_FAILED;
    for (size_t v = 0; v < voxels; v++) {
        double value = 0;
        vxs_image_values(image, v, 1, &value);
        if (!(fabs(value) < 2147483647.0) || value != floor(value))
            return vxs_fail(err, VXS_BAD_DATA,
                            "cannot use '%s' as an atlas: voxel %zu holds %g, labels are whole "
                            "numbers",
                            path, v, value);
        atlas->labels[v] = (int32_t)value;
    }
    return VXS_OK;
}

static vxs_status list_values(vxs_atlas *atlas, vxs_error *err)
{
    size_t voxels = vxs_grid_voxels(&atlas->grid);
    int32_t *sorted = vxs_alloc(voxels, sizeof(*sorted), err);
    if (!sorted)
        return VXS_FAILED;
    memcpy(sorted, atlas->labels, voxels * sizeof(*sorted));
    qsort(sorted, voxels, sizeof(*sorted), ascending);
    atlas->values = sorted; /* compacted in place */
    for (size_t v = 0; v < voxels; v++)
        if (sorted[v] != 0 && (atlas->count == 0 || sorted[v] != sorted[atlas->count - 1]))
            sorted[atlas->count++] = sorted[v];
    return VXS_OK;
}

/* Counts pairs of voxels that share a face and are not 0, and those of one value. */
static void count_pairs(const vxs_atlas *atlas, size_t *pairs, size_t *equal)
{
    const size_t *shape = atlas->grid.shape;
    size_t stride[3] = { 1, shape[0], shape[0] * shape[1] };
    *pairs = *equal = 0;
    for (size_t v = 0; v < vxs_grid_voxels(&atlas->grid); v++)
        for (int d = 0; d < 3 && atlas->labels[v] != 0; d++) {
            bool last = v / stride[d] % shape[d] == shape[d] - 1;
            int32_t next = last ? 0 : atlas->labels[v + stride[d]];
            *pairs += next != 0;
            *equal += next == atlas->labels[v];
        }
}

static bool holds_gray_values(const vxs_atlas *atlas)
{
    size_t pairs = 0, equal = 0, voxels = 0;
    for (size_t v = 0; v < vxs_grid_voxels(&atlas->grid); v++)
        voxels += atlas->labels[v] != 0;
    count_pairs(atlas, &pairs, &equal);
    return voxels >= GRAY_VOXELS * atlas->count && (double)equal < GRAY_SHARE * (double)pairs;
}

static vxs_status name_values(vxs_atlas *atlas, const vxs_label_names *names, vxs_error *err)
{
    atlas->names = vxs_alloc(atlas->count, sizeof(*atlas->names), err);
    if (!atlas->names)
        return VXS_FAILED;
    for (size_t k = 0; k < names->count; k++) {
        size_t at = vxs_atlas_find(atlas, names->rows[k].value);
        if (at < atlas->count && !atlas->names[at]) {
            atlas->names[at] = names->rows[k].name; /* moves ownership */
            names->rows[k].name = NULL;
        }
    }
    for (size_t k = 0; k < atlas->count; k++) {
        if (!atlas->names[k])
            atlas->names[k] = vxs_format(err, "label %d", (int)atlas->values[k]);
        if (!atlas->names[k])
            return VXS_FAILED;
    }
    return VXS_OK;
}

/* FSL gives paths without extension, relative to the folder of the XML. */
static vxs_status image_of_xml(const char *xml, const char *image, char **path, vxs_error *err)
{
    const char *slash = strrchr(xml, '/');
    int folder = slash ? (int)(slash - xml) : 0;
    vxs_image probe;
    for (size_t k = 0;; k++) {
        const char *ending = vxs_image_name_ending(k);
        *path = vxs_format(err, "%.*s%s%s%s", folder, xml, folder && image[0] != '/' ? "/" : "",
                           image + (folder ? 0 : image[0] == '/'), ending ? ending : "");
        if (!*path)
            return VXS_FAILED;
        if (vxs_image_read_header(*path, &probe, NULL) == VXS_OK)
            return VXS_OK;
        free(*path);
        *path = NULL;
        if (!ending)
            break;
    }
    return vxs_fail(err, VXS_MISSING, "cannot read '%s': its image '%s' does not exist", xml,
                    image);
}

/* Reads the names, and the image path if an XML gives it. */
static vxs_status find_parts(const char *path, const char *names_path, vxs_label_names *names,
                             char **image, vxs_error *err)
{
    size_t length = strlen(path);
    bool xml = length > 4 && strcasecmp(path + length - 4, ".xml") == 0;
    char *beside = NULL;
    vxs_status status = VXS_OK;
    if (!names_path && !xml)
        status = vxs_label_names_beside(path, &beside, err);
    const char *from = names_path ? names_path : xml ? path : beside;
    if (!status && from)
        status = vxs_label_names_read(from, names, err);
    free(beside);
    if (status)
        return status;
    if (xml && names->image)
        return image_of_xml(path, names->image, image, err);
    *image = vxs_format(err, "%s", path);
    return *image ? VXS_OK : VXS_FAILED;
}

vxs_status vxs_atlas_read(const char *name, const char *names_path, vxs_atlas *atlas,
                          vxs_error *err)
{
    vxs_label_names names = { .rows = NULL };
    vxs_image image = { .format = NULL };
    char *path = NULL, *file = NULL;
    *atlas = (vxs_atlas){ .labels = NULL };
    vxs_status status = vxs_atlas_locate(name, &path, err);
    if (!status)
        status = find_parts(path, names_path, &names, &file, err);
    atlas->path = file;
    if (!status)
        status = vxs_image_read(file, &image, err);
    if (!status)
        status = read_labels(&image, file, atlas, err);
    if (!status)
        status = list_values(atlas, err);
    if (!status && atlas->count == 0)
        status = vxs_fail(err, VXS_BAD_DATA, "cannot use '%s' as an atlas: it has no labels", file);
    if (!status && names.count == 0 && holds_gray_values(atlas))
        status =
            vxs_fail(err, VXS_BAD_DATA,
                     "cannot use '%s' as an atlas: neighboring voxels rarely have the same one "
                     "of its %zu values, as in an image of gray values",
                     file, atlas->count);
    if (!status)
        status = name_values(atlas, &names, err);
    if (status)
        vxs_atlas_release(atlas);
    vxs_image_release(&image);
    vxs_label_names_release(&names);
    free(path);
    return status;
}

bool vxs_atlas_is(const char *name)
{
    char *path = NULL, *beside = NULL;
    if (vxs_atlas_locate(name, &path, NULL))
        return false;
    size_t length = strlen(path);
    bool xml = length > 4 && strcasecmp(path + length - 4, ".xml") == 0;
    bool is = xml;
    if (!is && vxs_image_ending_length(path) > 0 && !vxs_label_names_beside(path, &beside, NULL))
        is = beside != NULL;
    if (!is && strcmp(path, name) != 0) {
        vxs_atlas atlas;
        is = vxs_atlas_read(path, NULL, &atlas, NULL) == VXS_OK;
        vxs_atlas_release(&atlas);
    }
    free(beside);
    free(path);
    return is;
}

size_t vxs_atlas_find(const vxs_atlas *atlas, int32_t value)
{
    const int32_t *found =
        bsearch(&value, atlas->values, atlas->count, sizeof(*atlas->values), ascending);
    return found ? (size_t)(found - atlas->values) : atlas->count;
}

vxs_status vxs_atlas_resample(const vxs_atlas *atlas, const vxs_grid *grid, int32_t *labels,
                              vxs_error *err)
{
    double inverse[4][4], index[3], at[3];
    const size_t *shape = atlas->grid.shape;
    vxs_status status =
        vxs_grid_check_orientation_known(&atlas->grid, grid, atlas->path, "atlas", err);
    if (status)
        return status;
    if (!vxs_grid_inverse(&atlas->grid, inverse))
        return vxs_fail(err, VXS_BAD_DATA, "an atlas with a singular affine cannot be used");
    vxs_grid back = { .shape = { 1, 1, 1 } };
    memcpy(back.affine, inverse, sizeof(inverse));
    for (size_t v = 0; v < vxs_grid_voxels(grid); v++) {
        double here[3];
        vxs_grid_index(grid, v, here);
        bool inside = true;
        vxs_grid_position(grid, here, at);
        vxs_grid_position(&back, at, index);
        for (int d = 0; d < 3; d++) {
            index[d] = floor(index[d] + 0.5);
            inside = inside && index[d] >= 0 && index[d] < (double)shape[d];
        }
        labels[v] = inside
                        ? atlas->labels[(size_t)index[0] +
                                        shape[0] * ((size_t)index[1] + shape[1] * (size_t)index[2])]
                        : 0;
    }
    return VXS_OK;
}

void vxs_atlas_release(vxs_atlas *atlas)
{
    for (size_t k = 0; atlas->names && k < atlas->count; k++)
        free(atlas->names[k]);
    free(atlas->names);
    free(atlas->path);
    free(atlas->values);
    free(atlas->labels);
    *atlas = (vxs_atlas){ .labels = NULL };
}
