/* penalties.c - penalty factors of features from a table, an image or an array. */
#include "model/model.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

static vxs_status check_penalty(const char *path, const vxs_cohort *c, size_t j, double value,
                                vxs_error *err)
{
    char name[32];
    if (value > 0 && isfinite(value))
        return VXS_OK;
    return vxs_fail(err, VXS_BAD_DATA, "'%s': the penalty of '%s' is %g; it must be above 0", path,
                    vxs_cohort_feature(c, j, name), value);
}

/* Table with the columns feature and penalty; other features keep 1. */
static vxs_status read_rows(const vxs_feature_names *names, const vxs_table *table, bool *named,
                            double *penalties, vxs_error *err)
{
    size_t name_at = 0, value_at = 0, j = 0;
    vxs_status status = vxs_table_find(table, "feature", &name_at, err);
    if (!status)
        status = vxs_table_find(table, "penalty", &value_at, err);
    for (size_t row = 0; !status && row < vxs_table_rows(table); row++) {
        double value = NAN;
        status = vxs_feature_names_find(names, table, row, name_at, &j, err);
        if (!status)
            status = vxs_table_real(table, row, value_at, &value, err);
        if (!status)
            status = check_penalty(names->path, names->cohort, j, value, err);
        if (!status && named[j])
            status =
                vxs_fail(err, VXS_BAD_DATA, "'%s' line %zu: feature '%s' stands twice", names->path,
                         vxs_table_line(table, row), vxs_table_cell(table, row, name_at));
        if (!status) {
            penalties[j] = value;
            named[j] = true;
        }
    }
    return status;
}

static vxs_status read_table(const char *path, const vxs_cohort *c, double *penalties,
                             vxs_error *err)
{
    vxs_table *table = NULL;
    vxs_feature_names names = { .order = NULL };
    bool *named = vxs_alloc(c->p, sizeof(*named), err);
    vxs_status status = named ? vxs_table_read(path, &table, err) : VXS_FAILED;
    if (!status)
        status = vxs_feature_names_new(c, path, &names, err);
    if (!status)
        status = read_rows(&names, table, named, penalties, err);
    vxs_feature_names_release(&names);
    free(named);
    vxs_table_free(table);
    return status;
}

#define NEAR 0.1 /* mm: corners of one grid */

/* Voxels in another order, as of an image with left and right exchanged, are put into the cohort's;
 * other grids are refused. */
static vxs_status read_volume(const char *path, const vxs_image *image, const vxs_cohort *c,
                              vxs_volume *map, vxs_error *err)
{
    if (c->kind != VXS_FEATURES_VOXELS || image->volumes != 1)
        return vxs_fail(err, VXS_BAD_DATA,
                        "cannot use '%s' as penalties: a cohort of voxels requires one volume",
                        path);
    vxs_status status =
        vxs_grid_check_orientation_known(&image->grid, &c->grid, path, "penalties", err);
    if (status)
        return status;
    double distance = vxs_grid_distance(&image->grid, &c->grid);
    if (distance <= NEAR)
        return vxs_volume_from_image(image, 0, map, err);
    if (!vxs_grid_is_turned(&image->grid, &c->grid, NEAR)) {
        char own[VXS_ORIENTATION_TEXT], images[VXS_ORIENTATION_TEXT];
        const size_t *m = image->grid.shape, *s = c->grid.shape;
        return vxs_fail(err, VXS_BAD_DATA,
                        "cannot use '%s' as penalties: its grid (%zu x %zu x %zu, %s) is not the "
                        "cohort's (%zu x %zu x %zu, %s)",
                        path, m[0], m[1], m[2], vxs_grid_orientation_text(&image->grid, own), s[0],
                        s[1], s[2], vxs_grid_orientation_text(&c->grid, images));
    }
    vxs_volume turned = { .values = NULL };
    status = vxs_volume_from_image(image, 0, &turned, err);
    if (!status)
        status = vxs_volume_resample(&turned, &c->grid, VXS_NEAREST, map, err);
    vxs_volume_release(&turned);
    return status;
}

static vxs_status read_image(const char *path, const vxs_cohort *c, double *penalties,
                             vxs_error *err)
{
    vxs_image image;
    vxs_volume map = { .values = NULL };
    vxs_status status = vxs_image_read(path, &image, err);
    if (status)
        return status;
    status = read_volume(path, &image, c, &map, err);
    for (size_t j = 0; j < c->p && !status; j++) {
        penalties[j] = (double)map.values[c->voxels[j]];
        status = check_penalty(path, c, j, penalties[j], err);
    }
    vxs_volume_release(&map);
    vxs_image_release(&image);
    return status;
}

static vxs_status read_array(const char *path, const vxs_cohort *c, double *penalties,
                             vxs_error *err)
{
    vxs_npy npy;
    vxs_status status = vxs_npy_open(path, &npy, err);
    if (status)
        return status;
    if (npy.count != c->p)
        status = vxs_fail(err, VXS_BAD_DATA, "'%s' has %zu penalties for %zu features", path,
                          npy.count, c->p);
    for (size_t j = 0; j < c->p && !status; j++) {
        penalties[j] = vxs_npy_item(&npy, j);
        status = check_penalty(path, c, j, penalties[j], err);
    }
    vxs_npy_release(&npy);
    return status;
}

static bool ends_with(const char *text, const char *ending)
{
    size_t length = strlen(text), n = strlen(ending);
    return length > n && strcmp(text + length - n, ending) == 0;
}

vxs_status vxs_penalties_read(const char *path, const vxs_cohort *c, double **penalties,
                              vxs_error *err)
{
    *penalties = vxs_alloc(c->p, sizeof(**penalties), err);
    if (!*penalties)
        return VXS_FAILED;
    for (size_t j = 0; j < c->p; j++)
        (*penalties)[j] = 1;
    if (vxs_image_ending_length(path) > 0)
        return read_image(path, c, *penalties, err);
    return ends_with(path, ".npy") ? read_array(path, c, *penalties, err)
                                   : read_table(path, c, *penalties, err);
}
