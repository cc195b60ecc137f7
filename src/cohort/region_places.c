/* region_places.c - reads the regions of a cohort or model, and computes their centers. */
#include "voxsift/internal/cohort.h"

#include <math.h>
#include <stdlib.h>

static vxs_status read_labels(const char *directory, vxs_cohort_regions *r, vxs_error *err)
{
    vxs_image image = { .format = NULL };
    char *path = vxs_format(err, "%s/regions.nii.gz", directory);
    vxs_status status = path ? vxs_image_read(path, &image, err) : VXS_FAILED;
    if (!status)
        status = vxs_volume_from_image(&image, 0, &r->labels, err);
    for (size_t v = 0; !status && v < vxs_grid_voxels(&r->labels.grid); v++) {
        double label = (double)r->labels.values[v];
        if (!(label >= 0 && label < 1e7) || label != floor(label))
            status =
                vxs_fail(err, VXS_BAD_DATA, "'%s' has a value that is no label: %g", path, label);
        else if (label > (double)r->most)
            r->most = (size_t)label;
    }
    vxs_image_release(&image);
    free(path);
    return status;
}

/* Reads regions.tsv, which has a row per feature. */
static vxs_status read_table(const char *directory, vxs_cohort_regions *r, vxs_error *err)
{
    vxs_table *table = NULL;
    size_t column = 0;
    char *path = vxs_format(err, "%s/regions.tsv", directory);
    vxs_status status = path ? vxs_table_read(path, &table, err) : VXS_FAILED;
    if (!status)
        status = vxs_table_find(table, "index", &column, err);
    if (!status && vxs_table_rows(table) != r->count)
        status = vxs_fail(err, VXS_BAD_DATA, "'%s' has %zu regions, its cohort %zu", path,
                          vxs_table_rows(table), r->count);
    r->region = status ? NULL : vxs_alloc(r->most + 1, sizeof(*r->region), err);
    for (size_t k = 0; r->region && k <= r->most; k++)
        r->region[k] = VXS_NO_REGION;
    for (size_t j = 0; r->region && j < r->count && !status; j++) {
        double label = NAN;
        status = vxs_table_real(table, j, column, &label, err);
        if (!status && label >= 0 && label <= (double)r->most)
            r->region[(size_t)label] = j;
    }
    vxs_table_free(table);
    free(path);
    return status || r->region ? status : VXS_FAILED;
}

vxs_status vxs_cohort_regions_read(const char *directory, size_t count, vxs_cohort_regions *r,
                                   vxs_error *err)
{
    *r = (vxs_cohort_regions){ .count = count };
    vxs_status status = read_labels(directory, r, err);
    return status ? status : read_table(directory, r, err);
}

/* Labels are region numbers from 1. */
static vxs_status label_regions(const vxs_cohort *c, vxs_cohort_regions *r, vxs_error *err)
{
    vxs_status status = vxs_volume_new(&c->grid, &r->labels, err);
    r->region = status ? NULL : vxs_alloc(c->p + 1, sizeof(*r->region), err);
    if (!r->region)
        return status ? status : VXS_FAILED;
    r->most = c->p;
    r->region[0] = VXS_NO_REGION;
    for (size_t j = 0; j < c->p; j++)
        r->region[j + 1] = j;
    for (size_t k = 0; k < c->voxel_count; k++)
        if (c->region[k] < c->p)
            r->labels.values[c->voxels[k]] = (float)(c->region[k] + 1);
    return VXS_OK;
}

vxs_status vxs_cohort_regions_of(const vxs_cohort *c, vxs_cohort_regions *r, vxs_error *err)
{
    if (!c->region)
        return vxs_cohort_regions_read(c->path, c->p, r, err);
    *r = (vxs_cohort_regions){ .count = c->p };
    return label_regions(c, r, err);
}

void vxs_cohort_regions_release(vxs_cohort_regions *r)
{
    vxs_volume_release(&r->labels);
    free(r->region);
    *r = (vxs_cohort_regions){ .count = 0 };
}

size_t vxs_cohort_region_at(const vxs_cohort_regions *r, size_t voxel)
{
    return r->region[(size_t)r->labels.values[voxel]];
}

vxs_status vxs_cohort_region_centers(const vxs_cohort_regions *r, double (*at)[3], vxs_error *err)
{
    const vxs_grid *grid = &r->labels.grid;
    double index[3], mm[3];
    size_t *voxels = vxs_alloc(r->count, sizeof(*voxels), err);
    if (!voxels)
        return VXS_FAILED;
    for (size_t v = 0; v < vxs_grid_voxels(grid); v++) {
        size_t region = vxs_cohort_region_at(r, v);
        if (region == VXS_NO_REGION)
            continue;
        vxs_grid_index(grid, v, index);
        vxs_grid_position(grid, index, mm);
        voxels[region]++;
        for (int d = 0; d < 3; d++)
            at[region][d] += mm[d];
    }
    for (size_t j = 0; j < r->count; j++)
        for (int d = 0; d < 3; d++)
            at[j][d] /= voxels[j] > 0 ? (double)voxels[j] : NAN;
    free(voxels);
    return VXS_OK;
}
