/* integrity.c - detects changed features: files by their SHA-256, computed while they are written,
 * and NaN or infinite values by the names of feature and subject.
 *
 * Finding such values costs no extra pass: designs see them in the column sums that every fit
 * computes (design/finite.c), and call this file to name them. */
#include "cohort/integrity.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define FILES  "features_files"
#define FINITE "features_finite"

/* ---- Writing --------------------------------------------------------------------------------- */

/* Reads the header back from the file, so that the hash covers the stored bytes. */
static vxs_status add_header(vxs_features_record *r, const char *name, FILE *stream, vxs_error *err)
{
    char header[1024];
    long length = fflush(stream) == 0 ? ftell(stream) : -1;
    bool fits = length >= 0 && (size_t)length <= sizeof(header);
    if (!fits || pread(fileno(stream), header, (size_t)length, 0) != length)
        return vxs_fail(err, VXS_CANNOT_WRITE, "cannot write %s: %s", name, strerror(errno));
    vxs_record_add(r, header, (size_t)length);
    return VXS_OK;
}

vxs_status vxs_record_begin(vxs_features_record *r, const char *name, FILE *stream, char kind,
                            int item_size, int ndim, const size_t *shape, vxs_error *err)
{
    vxs_status status = vxs_npy_write_header(stream, kind, item_size, ndim, shape, err);
    if (status)
        return status;
    r->file[r->count].name = name;
    r->count++;
    vxs_hash_init(&r->hash);
    return add_header(r, name, stream, err);
}

void vxs_record_add(vxs_features_record *r, const void *bytes, size_t length)
{
    vxs_hash_add(&r->hash, bytes, length);
}

void vxs_record_end(vxs_features_record *r)
{
    vxs_hash_end(&r->hash, r->file[r->count - 1].hash);
}

void vxs_record_json(vxs_json_writer *w, const vxs_features_record *r)
{
    vxs_json_bool(w, FINITE, true);
    vxs_json_open_array(w, FILES);
    for (size_t k = 0; k < r->count; k++) {
        vxs_json_open_object(w, NULL);
        vxs_json_text(w, "file", r->file[k].name);
        vxs_json_text(w, "sha256", r->file[k].hash);
        vxs_json_close_object(w);
    }
    vxs_json_close_array(w);
}

/* ---- Checking -------------------------------------------------------------------------------- */

/* The feature in the user's terms: a voxel by its position, others by name. */
static void name_feature(const vxs_cohort *c, size_t j, char *text, size_t size)
{
    char name[32];
    if (c->kind != VXS_FEATURES_VOXELS || !c->voxels) {
        snprintf(text, size, "feature '%s'", vxs_cohort_feature(c, j, name));
        return;
    }
    double index[3], at[3];
    vxs_grid_index(&c->grid, c->voxels[j], index);
    vxs_grid_position(&c->grid, index, at);
    snprintf(text, size, "feature %zu, voxel (%.0f, %.0f, %.0f) at (%.1f, %.1f, %.1f) mm,", j,
             index[0], index[1], index[2], at[0], at[1], at[2]);
}

vxs_status vxs_cohort_refuse_value(const void *cohort, size_t j, size_t i, double value,
                                   vxs_error *err)
{
    const vxs_cohort *c = cohort;
    char feature[160];
    const char *id = vxs_table_cell(c->people, i, c->id_column);
    name_feature(c, j, feature, sizeof(feature));
    return vxs_fail(err, VXS_BAD_DATA,
                    "'%s/%s': %s is %s in subject '%s'; features must be finite "
                    "numbers",
                    c->path, c->features ? "features.npy" : "features.values.npy", feature,
                    isnan(value) ? "NaN"
                    : value > 0  ? "infinite"
                                 : "-infinite",
                    id ? id : "?");
}

vxs_status vxs_cohort_check_feature(const vxs_cohort *c, size_t j, vxs_error *err)
{
    vxs_status status = VXS_OK;
    for (size_t i = 0; c->features && i < c->n && !status; i++)
        if (!isfinite(c->features[j * c->n + i]))
            status = vxs_cohort_refuse_value(c, j, i, (double)c->features[j * c->n + i], err);
    for (size_t e = c->starts ? c->starts[j] : 0; c->starts && e < c->starts[j + 1] && !status; e++)
        if (!isfinite(c->values[e]))
            status = vxs_cohort_refuse_value(c, j, (size_t)c->rows[e], (double)c->values[e], err);
    return status;
}

const vxs_json *vxs_cohort_record(const vxs_cohort *c)
{
    const vxs_json *files = vxs_json_get(c->about, FILES);
    return files && files->kind == VXS_JSON_ARRAY && files->length > 0 ? files : NULL;
}

const char *vxs_features_name(const vxs_cohort *c, size_t k)
{
    static const char *const sparse[] = { "features.values.npy", "features.rows.npy",
                                          "features.starts.npy" };
    return vxs_cohort_is_dense(c) ? "features.npy" : sparse[k];
}

vxs_status vxs_cohort_check_record(const vxs_cohort *c, vxs_error *err)
{
    const vxs_json *files = vxs_cohort_record(c);
    size_t k = 0, count = vxs_cohort_is_dense(c) ? 1 : VXS_FEATURES_FILES;
    if (files && files->length != count)
        return vxs_fail(err, VXS_BAD_DATA, "cannot use '%s/%s': its '%s' has %zu files, not %zu",
                        c->path, VXS_COHORT_FILE, FILES, (size_t)files->length, count);
    for (const vxs_json *item = files ? files->first : NULL; item; item = item->next, k++) {
        const char *file = vxs_json_get_text(item, "file");
        if (!file || !vxs_json_get_text(item, "sha256") ||
            strcmp(file, vxs_features_name(c, k)) != 0)
            return vxs_fail(err, VXS_BAD_DATA, "cannot use '%s/%s': its '%s' does not record '%s'",
                            c->path, VXS_COHORT_FILE, FILES, vxs_features_name(c, k));
    }
    return VXS_OK;
}

static vxs_status check_file(const vxs_cohort *c, size_t k, const char *recorded, vxs_error *err)
{
    char hash[VXS_HASH_TEXT];
    vxs_sha256(c->npy[k].map, c->npy[k].map_size, NULL, 0, hash);
    if (strcmp(hash, recorded) == 0)
        return VXS_OK;
    return vxs_fail(err, VXS_BAD_DATA,
                    "'%s/%s' was changed after the cohort was made: its SHA-256 is %.12s..., "
                    "%s has %.12s...",
                    c->path, vxs_features_name(c, k), hash, VXS_COHORT_FILE, recorded);
}

vxs_status vxs_cohort_verify(const vxs_cohort *c, vxs_error *err)
{
    const vxs_json *files = vxs_cohort_record(c);
    size_t k = 0;
    vxs_status status = vxs_cohort_check_record(c, err);
    for (const vxs_json *item = files ? files->first : NULL; item && !status; item = item->next)
        status = check_file(c, k++, vxs_json_get_text(item, "sha256"), err);
    return status;
}
