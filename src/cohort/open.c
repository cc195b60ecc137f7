/* open.c - opens a cohort directory for methods. */
#include "cohort/integrity.h"
#include "cohort/tables.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

const char *const vxs_feature_kind_names[] = { "voxels", "regions", "columns", NULL };

static char *inside(const vxs_cohort *c, const char *name, vxs_error *err)
{
    return vxs_format(err, "%s/%s", c->path, name);
}

/* True if cohort.json declares sparse features; the default is dense. */
static bool is_sparse(const vxs_cohort *c)
{
    const char *stored = vxs_json_get_text(c->about, "features_stored");
    return stored && strcmp(stored, "sparse") == 0;
}

static vxs_status read_about(vxs_cohort *c, vxs_error *err)
{
    char *path = inside(c, VXS_COHORT_FILE, err);
    vxs_status status = path ? vxs_folder_check(c->path, VXS_COHORT_FILE, err) : VXS_FAILED;
    if (!status)
        status = vxs_json_read(path, &c->about, err);
    const char *kind = vxs_json_get_text(c->about, "features_are");
    bool known = false;
    for (int k = 0; kind && vxs_feature_kind_names[k]; k++)
        if (strcmp(kind, vxs_feature_kind_names[k]) == 0) {
            c->kind = (vxs_feature_kind)k;
            known = true;
        }
    if (!status)
        status = vxs_json_check_format(c->about, path, "voxsift cohort", err);
    if (!status && !known)
        status = vxs_fail(err, VXS_BAD_DATA, "'%s' does not describe a cohort", path);
    free(path);
    return status;
}

/* The source of n and p, for messages. */
static const char *sizes_of(const vxs_cohort *c)
{
    return c->features ? "features.npy has" : VXS_COHORT_FILE " says";
}

static vxs_status map_features(vxs_cohort *c, vxs_error *err)
{
    char *path = inside(c, "features.npy", err);
    vxs_npy *npy = &c->npy[0];
    vxs_status status = path ? vxs_npy_open(path, npy, err) : VXS_FAILED;
    if (!status) {
        c->features = vxs_npy_floats(npy);
        c->p = npy->ndim == 2 ? npy->shape[0] : 0;
        c->n = npy->ndim == 2 ? npy->shape[1] : 0;
        if (!c->features || c->n == 0 || c->p == 0)
            status = vxs_fail(err, VXS_BAD_DATA,
                              "cannot use '%s': a float32 matrix, features x subjects, is required",
                              path);
    }
    free(path);
    return status;
}

/* Fails if the counts in cohort.json, when present, differ from the matrix. */
static vxs_status check_counts(const vxs_cohort *c, vxs_error *err)
{
    const char *const keys[] = { "subjects", "features" };
    const size_t found[] = { c->n, c->p };
    for (int k = 0; k < 2; k++) {
        double recorded = vxs_json_get_number(c->about, keys[k]);
        if (vxs_json_get(c->about, keys[k]) && recorded != (double)found[k])
            return vxs_fail(err, VXS_BAD_DATA, "'%s/%s' says %.15g %s, but features.npy has %zu",
                            c->path, VXS_COHORT_FILE, recorded, keys[k], found[k]);
    }
    return VXS_OK;
}

static vxs_status read_people(vxs_cohort *c, vxs_error *err)
{
    char *path = inside(c, "participants.tsv", err);
    vxs_status status = path ? vxs_table_read(path, &c->people, err) : VXS_FAILED;
    if (!status && vxs_table_rows(c->people) != c->n)
        status = vxs_fail(err, VXS_BAD_DATA, "'%s' has %zu rows, but %s %zu subjects", path,
                          vxs_table_rows(c->people), sizes_of(c), c->n);
    if (!status)
        status = vxs_cohort_find_people(c, path, err);
    free(path);
    return status;
}

static vxs_status read_mask(vxs_cohort *c, vxs_error *err)
{
    vxs_image image = { .format = NULL };
    vxs_volume mask = { .values = NULL };
    char *path = inside(c, "mask.nii.gz", err);
    vxs_status status = path ? vxs_image_read(path, &image, err) : VXS_FAILED;
    if (!status)
        status = vxs_volume_from_image(&image, 0, &mask, err);
    size_t voxels = status ? 0 : vxs_grid_voxels(&mask.grid);
    c->grid = mask.grid;
    for (size_t v = 0; v < voxels; v++)
        c->voxel_count += mask.values[v] != 0;
    c->voxels = status ? NULL : vxs_alloc(c->voxel_count, sizeof(*c->voxels), err);
    for (size_t v = 0, k = 0; c->voxels && v < voxels; v++)
        if (mask.values[v] != 0)
            c->voxels[k++] = v;
    if (!status && !c->voxels)
        status = VXS_FAILED;
    if (!status && c->kind == VXS_FEATURES_VOXELS && c->voxel_count != c->p)
        status = vxs_fail(err, VXS_BAD_DATA, "'%s' has %zu voxels, but %s %zu features", path,
                          c->voxel_count, sizes_of(c), c->p);
    vxs_volume_release(&mask);
    vxs_image_release(&image);
    free(path);
    return status;
}

/* Reads the feature names from regions.tsv or features.tsv; an unnamed matrix has neither. */
static vxs_status read_names(vxs_cohort *c, vxs_error *err)
{
    char *path = inside(c, c->kind == VXS_FEATURES_REGIONS ? "regions.tsv" : "features.tsv", err);
    if (!path)
        return VXS_FAILED;
    vxs_status status = VXS_OK;
    if (access(path, F_OK) == 0) {
        status = vxs_table_read(path, &c->names, err);
        if (!status)
            status = vxs_table_find(c->names, "feature", &c->name_column, err);
        if (!status && vxs_table_rows(c->names) != c->p)
            status = vxs_fail(err, VXS_BAD_DATA, "'%s' has %zu rows, but %s %zu features", path,
                              vxs_table_rows(c->names), sizes_of(c), c->p);
    }
    free(path);
    return status;
}

vxs_status vxs_cohort_open(const char *path, vxs_cohort *c, vxs_error *err)
{
    if (c)
        *c = (vxs_cohort){ .path = NULL };
    vxs_status status = VXS_GIVEN(err, { "path", path }, { "cohort", c });
    if (status)
        return status;
    c->path = vxs_format(err, "%s", path);
    status = c->path ? read_about(c, err) : VXS_FAILED;
    if (!status)
        status = is_sparse(c) ? vxs_nonzeros_open(c, err) : map_features(c, err);
    if (!status)
        status = check_counts(c, err);
    if (!status)
        status = vxs_cohort_check_record(c, err);
    if (!status)
        status = read_people(c, err);
    if (!status && c->kind != VXS_FEATURES_COLUMNS)
        status = read_mask(c, err);
    if (!status && c->kind != VXS_FEATURES_VOXELS)
        status = read_names(c, err);
    if (status)
        vxs_cohort_release(c);
    return status;
}

vxs_status vxs_cohort_check_open(const vxs_cohort *c, vxs_error *err)
{
    vxs_status status = VXS_GIVEN(err, { "cohort", c });
    if (status || (c->people && (c->features || c->starts || c->bags)))
        return status;
    return vxs_fail(err, VXS_MISUSE, "the cohort is not open");
}

void vxs_cohort_release(vxs_cohort *c)
{
    if (!c)
        return;
    free(c->path);
    for (int k = 0; k < 3; k++)
        vxs_npy_release(&c->npy[k]);
    vxs_table_free(c->people);
    free(c->person);
    vxs_table_free(c->names);
    vxs_json_free(c->about);
    free(c->voxels);
    vxs_bags_free(c->bags);
    *c = (vxs_cohort){ .path = NULL };
}

/* Of instances, their sum counts for their bag. */
static void add_instance(const vxs_bags *b, size_t n, size_t j, double weight, double *sums)
{
    size_t low = 0, high = n; /* its bag is in low ... high - 1 */
    while (high - low > 1) {
        size_t middle = low + (high - low) / 2;
        low = b->first[middle] <= j ? middle : low;
        high = b->first[middle] <= j ? high : middle;
    }
    double sum = 0;
    for (size_t f = 0; f < b->width; f++)
        sum += (double)b->values[j * b->width + f];
    sums[low] += weight * sum / (double)(b->first[low + 1] - b->first[low]);
}

void vxs_cohort_add(const vxs_cohort *c, size_t j, double weight, double *sums)
{
    if (c->bags)
        add_instance(c->bags, c->n, j, weight, sums);
    for (size_t i = 0; c->features && i < c->n; i++)
        sums[i] += weight * (double)c->features[j * c->n + i];
    for (size_t e = c->starts ? c->starts[j] : 0; c->starts && e < c->starts[j + 1]; e++)
        sums[c->rows[e]] += weight * (double)c->values[e];
}

const char *vxs_cohort_feature(const vxs_cohort *c, size_t j, char buffer[32])
{
    const char *name = c && c->names ? vxs_table_cell(c->names, j, c->name_column) : NULL;
    if (name || !buffer)
        return name;
    snprintf(buffer, 32, "x%zu", j);
    return buffer;
}
