/* nonzeros.c - writes and reads sparse features: three arrays, feature by feature. */
#include "cohort/tables.h"

#include <math.h>
#include <stdlib.h>

enum { VALUES, ROWS, STARTS, ARRAYS };

static const struct {
    const char *name;
    char kind;
    int size;
    const char *items;
} arrays[ARRAYS] = {
    [VALUES] = { "features.values.npy", 'f', sizeof(float), "float32" },
    [ROWS] = { "features.rows.npy", 'i', sizeof(int32_t), "int32" },
    [STARTS] = { "features.starts.npy", 'u', sizeof(size_t), "uint64" },
};

/* ---- Writing --------------------------------------------------------------------------------- */

vxs_status vxs_nonzeros_pack(const vxs_build *build, vxs_matrix *m, vxs_error *err)
{
    size_t to = 0, from = 0;
    int32_t kept = 0, *place = vxs_alloc(m->n, sizeof(*place), err);
    if (!place)
        return VXS_FAILED;
    for (size_t i = 0; i < m->n; i++)
        place[i] = build->subjects[i].reason ? -1 : kept++;
    for (size_t j = 0; j < m->p; j++) {
        m->starts[j] = to;
        for (; from < m->starts[j + 1]; from++) {
            int32_t row = place[m->rows[from]];
            if (row < 0 || m->values[from] == 0)
                continue;
            m->values[to] = m->values[from];
            m->rows[to++] = row;
        }
    }
    m->starts[m->p] = to;
    free(place);
    return VXS_OK;
}

static vxs_status write_array(int k, const void *items, size_t count, vxs_features_record *record,
                              vxs_output *output, vxs_error *err)
{
    FILE *stream;
    vxs_status status = vxs_output_open(output, arrays[k].name, &stream, err);
    if (status)
        return status;
    status = vxs_record_begin(record, arrays[k].name, stream, arrays[k].kind, arrays[k].size, 1,
                              &count, err);
    vxs_record_add(record, items, (size_t)arrays[k].size * count);
    vxs_record_end(record);
    fwrite(items, (size_t)arrays[k].size, count, stream);
    vxs_status closed = vxs_output_close(output, stream, arrays[k].name, err);
    return closed ? closed : status;
}

vxs_status vxs_nonzeros_write(const vxs_matrix *m, vxs_features_record *record, vxs_output *output,
                              vxs_error *err)
{
    size_t count = m->starts[m->p];
    vxs_status status = write_array(VALUES, m->values, count, record, output, err);
    if (!status)
        status = write_array(ROWS, m->rows, count, record, output, err);
    return status ? status : write_array(STARTS, m->starts, m->p + 1, record, output, err);
}

/* ---- Reading --------------------------------------------------------------------------------- */

static vxs_status read_size(const vxs_cohort *c, const char *key, double least, double most,
                            size_t *size, vxs_error *err)
{
    double value = vxs_json_get_number(c->about, key);
    if (!(value >= least && value <= most && value == floor(value)))
        return vxs_fail(err, VXS_BAD_DATA,
                        "cannot use '%s/%s': its '%s' is not a whole number from %.0f to %.0f",
                        c->path, VXS_COHORT_FILE, key, least, most);
    *size = (size_t)value;
    return VXS_OK;
}

static vxs_status map_array(vxs_cohort *c, int k, size_t count, vxs_error *err)
{
    vxs_npy *npy = &c->npy[k];
    char *path = vxs_format(err, "%s/%s", c->path, arrays[k].name);
    vxs_status status = path ? vxs_npy_open(path, npy, err) : VXS_FAILED;
    bool plain = npy->kind == arrays[k].kind && npy->item_size == arrays[k].size && !npy->swapped &&
                 (uintptr_t)npy->data % (size_t)arrays[k].size == 0;
    if (!status && (!plain || npy->ndim != 1 || npy->count != count))
        status =
            vxs_fail(err, VXS_BAD_DATA, "cannot use '%s': a list of %zu %s is required, as in %s",
                     path, count, arrays[k].items, VXS_COHORT_FILE);
    free(path);
    return status;
}

static vxs_status check_starts(const vxs_cohort *c, size_t stored, vxs_error *err)
{
    const char *name = arrays[STARTS].name;
    if (c->starts[0] != 0 || c->starts[c->p] != stored)
        return vxs_fail(err, VXS_BAD_DATA,
                        "cannot use '%s/%s': it goes from %zu to %zu, not from 0 to %zu", c->path,
                        name, c->starts[0], c->starts[c->p], stored);
    for (size_t j = 0; j < c->p; j++)
        if (c->starts[j] > c->starts[j + 1])
            return vxs_fail(err, VXS_BAD_DATA,
                            "cannot use '%s/%s': feature %zu begins at %zu and ends at %zu",
                            c->path, name, j, c->starts[j], c->starts[j + 1]);
    return VXS_OK;
}

/* Checks the subject indices; expects valid starts. */
static vxs_status check_rows(const vxs_cohort *c, vxs_error *err)
{
    const char *name = arrays[ROWS].name;
    for (size_t j = 0; j < c->p; j++) {
        int64_t before = -1;
        for (size_t e = c->starts[j]; e < c->starts[j + 1]; e++) {
            int64_t row = c->rows[e];
            if (row < 0 || row >= (int64_t)c->n)
                return vxs_fail(err, VXS_BAD_DATA,
                                "cannot use '%s/%s': feature %zu has a value of subject %lld; they "
                                "go from 0 to %zu",
                                c->path, name, j, (long long)row, c->n - 1);
            if (row <= before)
                return vxs_fail(
                    err, VXS_BAD_DATA,
                    "cannot use '%s/%s': the subjects of feature %zu are not in increasing order",
                    c->path, name, j);
            before = row;
        }
    }
    return VXS_OK;
}

vxs_status vxs_nonzeros_open(vxs_cohort *c, vxs_error *err)
{
    const double most = 9007199254740991.0; /* largest exact whole number in JSON */
    size_t stored = 0;
    vxs_status status = read_size(c, "subjects", 1, INT32_MAX, &c->n, err);
    if (!status)
        status = read_size(c, "features", 1, most, &c->p, err);
    if (!status)
        status = read_size(c, "stored_values", 0, most, &stored, err);
    if (!status)
        status = map_array(c, VALUES, stored, err);
    if (!status)
        status = map_array(c, ROWS, stored, err);
    if (!status)
        status = map_array(c, STARTS, c->p + 1, err);
    if (status)
        return status;
    c->values = c->npy[VALUES].data;
    c->rows = c->npy[ROWS].data;
    c->starts = c->npy[STARTS].data;
    status = check_starts(c, stored, err);
    return status ? status : check_rows(c, err);
}
