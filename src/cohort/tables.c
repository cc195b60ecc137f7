/* tables.c - makes cohorts whose features are not voxels, from a table, a matrix, or svmlight text.
 */
#include "cohort/tables.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

void vxs_matrix_release(vxs_matrix *m)
{
    free(m->values);
    free(m->rows);
    free(m->starts);
    free(m->names);
    vxs_table_free(m->features);
}

vxs_status vxs_matrix_dense(const vxs_build *build, vxs_matrix *m, vxs_error *err)
{
    double bytes = (double)m->n * (double)m->p * sizeof(float);
    if (bytes > (double)build->settings->mem)
        return vxs_fail(err, VXS_FAILED,
                        "%zu subjects with %zu features take %.0f MB; raise --mem to allow that",
                        m->n, m->p, bytes / 1048576);
    m->memory = (uint64_t)bytes;
    m->values = vxs_alloc(m->p, vxs_times(m->n, sizeof(float)), err);
    return m->values ? VXS_OK : VXS_FAILED;
}

/* Offset of the first value of feature j. */
static size_t start_of(const vxs_matrix *m, size_t j)
{
    return m->starts ? m->starts[j] : j * m->n;
}

static size_t subject_of(const vxs_matrix *m, size_t k)
{
    return m->rows ? (size_t)m->rows[k] : k % m->n;
}

static void count_nonfinite(vxs_build *build, const vxs_matrix *m)
{
    for (size_t k = 0; k < start_of(m, m->p); k++)
        if (!isfinite(m->values[k]))
            build->subjects[subject_of(m, k)].nonfinite++;
}

/* Handles missing values: zero replaces them, drop removes the feature, error refuses the subject.
 */
static void drop_features(vxs_matrix *m)
{
    size_t kept = 0, to = 0;
    for (size_t j = 0; j < m->p; j++) {
        size_t from = start_of(m, j), count = start_of(m, j + 1) - from;
        bool whole = true;
        for (size_t k = from; k < from + count; k++)
            whole = whole && isfinite(m->values[k]);
        if (!whole)
            continue;
        memmove(m->values + to, m->values + from, count * sizeof(*m->values));
        if (m->starts) {
            memmove(m->rows + to, m->rows + from, count * sizeof(*m->rows));
            m->starts[kept] = to;
        }
        if (m->names)
            m->names[kept] = m->names[j];
        to += count;
        kept++;
    }
    if (m->starts)
        m->starts[kept] = to;
    m->p = kept;
}

#define NAMED 3 /* missing values that a warning names */

/* What zero replaces in subjects that stay. */
typedef struct {
    size_t zeros, columns, subjects;
    bool *has; /* of a subject: counted */
    char where[400];
} replaced;

static void count_missing(replaced *r, const vxs_build *build, const vxs_matrix *m, size_t j,
                          size_t i)
{
    char number[32];
    size_t used = strlen(r->where);
    snprintf(number, sizeof(number), "x%zu", j);
    if (r->zeros++ < NAMED)
        snprintf(r->where + used, sizeof(r->where) - used, "%s'%.60s/%.60s'", used ? ", " : "",
                 build->subjects[i].id, m->names ? m->names[j] : number);
    r->subjects += !r->has[i];
    r->has[i] = true;
}

static void clear_column(replaced *r, const vxs_build *build, vxs_matrix *m, size_t j)
{
    size_t before = r->zeros;
    for (size_t k = start_of(m, j); k < start_of(m, j + 1); k++) {
        size_t i = subject_of(m, k);
        if (isfinite(m->values[k]))
            continue;
        m->values[k] = 0;
        if (!build->subjects[i].reason)
            count_missing(r, build, m, j, i);
    }
    r->columns += r->zeros > before;
}

/* Zero replaces what is missing; a warning says where. */
static vxs_status clear_missing(const vxs_build *build, vxs_matrix *m, vxs_error *err)
{
    replaced r = { .has = vxs_alloc(m->n, sizeof(*r.has), err) };
    if (!r.has)
        return VXS_FAILED;
    for (size_t j = 0; j < m->p; j++)
        clear_column(&r, build, m, j);
    free(r.has);
    if (r.zeros > 0)
        vxs_log(build->context, VXS_LOG_WARNING,
                "0 replaces %zu value%s that %s missing or beyond float32, in %zu subject%s and "
                "%zu feature%s: %s%s",
                r.zeros, vxs_plural(r.zeros), r.zeros == 1 ? "is" : "are", r.subjects,
                vxs_plural(r.subjects), r.columns, vxs_plural(r.columns), r.where,
                r.zeros > NAMED ? ", ..." : "");
    return VXS_OK;
}

static vxs_status handle_missing(vxs_build *build, vxs_matrix *m, vxs_error *err)
{
    size_t before = m->p;
    count_nonfinite(build, m);
    for (size_t i = 0; i < m->n; i++) {
        vxs_subject *s = &build->subjects[i];
        if (s->nonfinite > 0 && build->settings->nan == VXS_NAN_ERROR && !s->reason)
            vxs_build_leave_out(build, s, "%zu of its values are missing or beyond float32",
                                s->nonfinite);
    }
    if (build->settings->nan == VXS_NAN_DROP) {
        drop_features(m);
        if (m->p < before)
            vxs_log(build->context, VXS_LOG_WARNING,
                    "left out %zu of %zu features with missing values", before - m->p, before);
        if (m->p == 0)
            return vxs_fail(err, VXS_BAD_DATA, "no feature has a value for every subject");
    }
    return clear_missing(build, m, err);
}

/* ---- --feature-table ------------------------------------------------------------------------- */

typedef struct {
    vxs_name id;
    size_t subject;
} entry;

static int by_id(const void *a, const void *b)
{
    const entry *left = a, *right = b;
    int order = vxs_compare_names(left->id, right->id);
    return order ? order : (left->subject > right->subject) - (left->subject < right->subject);
}

/* Leaves out all but the first subject of each id. */
static vxs_status leave_twins_out(vxs_build *build, const char *path, vxs_error *err)
{
    size_t n = build->count;
    entry *list = vxs_alloc(n, sizeof(*list), err);
    const char **twin = vxs_alloc(n, sizeof(*twin), err);
    size_t count = 0;
    for (size_t i = 0; i < n && list && twin; i++)
        if (!build->subjects[i].unselected)
            list[count++] = (entry){ { build->subjects[i].id, strlen(build->subjects[i].id) }, i };
    if (count > 0)
        qsort(list, count, sizeof(*list), by_id);
    for (size_t k = 1; k < count; k++)
        if (vxs_compare_names(list[k - 1].id, list[k].id) == 0)
            twin[list[k].subject] = list[k - 1].id.text;
    for (size_t i = 0; i < n && list && twin; i++) {
        vxs_subject *s = &build->subjects[i];
        if (twin[i] && strcmp(twin[i], s->id) == 0)
            vxs_build_leave_out(build, s, "its id occurs twice in '%s'", path);
        else if (twin[i])
            vxs_build_leave_out(build, s, "its id is that of '%s' in '%s', written differently",
                                twin[i], path);
    }
    bool fine = list && twin;
    free(list);
    free((void *)twin);
    return fine ? VXS_OK : VXS_FAILED;
}

static vxs_status add_people(vxs_build *build, const vxs_table *table, size_t column,
                             const char *path, vxs_error *err)
{
    vxs_status status = VXS_OK;
    for (size_t i = 0; i < vxs_table_rows(table) && !status; i++) {
        const char *id = vxs_table_cell(table, i, column);
        if (!id)
            return vxs_fail(err, VXS_BAD_DATA, "'%s' line %zu has no id", path,
                            vxs_table_line(table, i));
        status = vxs_build_add(build, id, NULL, 0, table == build->table ? i : NO_ROW, err);
    }
    if (!status && !build->settings->participants)
        status = vxs_build_select(build, table, err);
    if (!status && build->filter.table)
        status = vxs_build_exclude(build, table, err);
    return status ? status : leave_twins_out(build, path, err);
}

/* True unless the column has ids or persons, which would identify every subject. */
static bool is_feature(const vxs_build *build, const vxs_table *table, size_t j, size_t ids)
{
    return j != ids && !vxs_build_is_person(build, vxs_table_header(table, j));
}

static size_t count_features(const vxs_build *build, const vxs_table *table, size_t ids)
{
    size_t count = 0;
    for (size_t j = 0; j < vxs_table_columns(table); j++) {
        count += is_feature(build, table, j, ids);
        if (j != ids && !is_feature(build, table, j, ids))
            vxs_log(build->context, VXS_LOG_WARNING,
                    "column '%s' of '%s' identifies persons and is not a feature",
                    vxs_table_header(table, j), build->settings->features);
    }
    return count;
}

static int by_text(const void *a, const void *b)
{
    return strcmp(*(const char *const *)a, *(const char *const *)b);
}

/* Fails unless feature names are unique, since graphs, groups and penalty factors refer to them;
 * unnamed features get numbers. */
static vxs_status check_names(const vxs_matrix *m, vxs_error *err)
{
    const char **sorted = vxs_alloc(m->p + 1, sizeof(*sorted), err), *twice = NULL;
    size_t column = 0;
    if (!sorted)
        return VXS_FAILED;
    for (size_t k = 0; k < m->p; k++)
        sorted[k] = m->names[k];
    qsort((void *)sorted, m->p, sizeof(*sorted), by_text);
    for (size_t k = 1; k < m->p && !twice; k++)
        if (*sorted[k] && strcmp(sorted[k - 1], sorted[k]) == 0)
            twice = sorted[k];
    free((void *)sorted);
    return twice ? vxs_table_find(m->features, twice, &column, err) : VXS_OK;
}

static vxs_status read_features(vxs_build *build, vxs_matrix *m, vxs_error *err)
{
    const char *path = build->settings->features;
    size_t column = 0;
    vxs_status status = vxs_table_read(path, &m->features, err);
    if (!status)
        status = vxs_table_find(m->features, vxs_build_id_name(build), &column, err);
    if (!status)
        status = add_people(build, m->features, column, path, err);
    if (status)
        return status;
    m->n = vxs_table_rows(m->features);
    m->p = count_features(build, m->features, column);
    m->names = vxs_alloc(m->p + 1, sizeof(*m->names), err);
    status = m->names ? vxs_matrix_dense(build, m, err) : VXS_FAILED;
    for (size_t j = 0, k = 0; !status && j < vxs_table_columns(m->features); j++) {
        if (!is_feature(build, m->features, j, column))
            continue;
        m->names[k] = vxs_table_header(m->features, j);
        for (size_t i = 0; i < m->n && !status; i++) {
            double value = 0;
            status = vxs_table_real(m->features, i, j, &value, err);
            m->values[k * m->n + i] = (float)value;
        }
        k++;
    }
    return status ? status : check_names(m, err);
}

/* ---- --npy ----------------------------------------------------------------------------------- */

static vxs_status read_rows(vxs_build *build, vxs_error *err)
{
    const vxs_cohort_settings *s = build->settings;
    if (!s->row_names)
        return vxs_build_read_table(build, s->rows, err);
    vxs_status status = vxs_table_read_bare(s->rows, s->row_names, &build->table, err);
    return status ? status
                  : vxs_table_find(build->table, vxs_build_id_name(build), &build->id_column, err);
}

static vxs_status read_npy(vxs_build *build, vxs_matrix *m, vxs_error *err)
{
    vxs_npy npy = { .map = NULL };
    const char *path = build->settings->npy;
    vxs_status status = read_rows(build, err);
    if (!status)
        status = add_people(build, build->table, build->id_column, build->settings->rows, err);
    if (!status)
        status = vxs_npy_open(path, &npy, err);
    if (status)
        return status;
    m->n = build->count;
    m->p = npy.ndim == 2 ? npy.shape[1] : 0;
    if (npy.ndim != 2 || npy.shape[0] != m->n || m->p == 0)
        status =
            vxs_fail(err, VXS_BAD_DATA, "'%s' is not a matrix of %zu rows, as many as '%s' has",
                     path, m->n, build->settings->rows);
    if (!status)
        status = vxs_matrix_dense(build, m, err);
    for (size_t i = 0; i < m->n && !status; i++)
        for (size_t j = 0; j < m->p; j++) {
            size_t at = npy.fortran ? j * m->n + i : i * m->p + j;
            m->values[j * m->n + i] = (float)vxs_npy_item(&npy, at);
        }
    vxs_npy_release(&npy);
    return status;
}

/* ---- Entry point ----------------------------------------------------------------------------- */

static vxs_status join_participants(vxs_build *build, vxs_error *err)
{
    const char *participants = build->settings->participants;
    if (!participants)
        return VXS_OK;
    if (build->table)
        return vxs_fail(err, VXS_MISUSE, "--participants requires --feature-table or images");
    vxs_status status = vxs_build_read_table(build, participants, err);
    return status ? status : vxs_build_join(build, err);
}

static vxs_status read_matrix(vxs_build *build, vxs_matrix *m, vxs_error *err)
{
    const vxs_cohort_settings *s = build->settings;
    vxs_status status = s->features ? read_features(build, m, err)
                        : s->npy    ? read_npy(build, m, err)
                                    : vxs_matrix_svmlight(build, m, err);
    if (!status)
        status = join_participants(build, err);
    if (!status && build->table)
        status = vxs_build_select(build, build->table, err);
    if (!status && (build->table || !build->filter.table))
        status = vxs_build_exclude(build, build->table, err);
    if (!status)
        status = vxs_build_find_people(build, m->features, err);
    if (!status)
        status = handle_missing(build, m, err);
    if (!status)
        status = vxs_build_check_problems(build, err);
    if (!status)
        status = vxs_build_count_people(build, err);
    if (!status && m->starts)
        status = vxs_nonzeros_pack(build, m, err);
    if (status)
        return status;
    build->p = m->p;
    build->sparse = m->starts != NULL;
    build->stored = m->starts ? m->starts[m->p] : m->p * vxs_build_kept(build);
    return VXS_OK;
}

/* The values of feature j for the included subjects. */
static void copy_row(const vxs_build *build, const vxs_matrix *m, size_t j, float *row)
{
    for (size_t i = 0, k = 0; i < m->n; i++)
        if (!build->subjects[i].reason)
            row[k++] = m->values[j * m->n + i];
}

static vxs_status write_rows(vxs_build *build, const vxs_matrix *m, FILE *stream, vxs_error *err)
{
    vxs_features_record *record = &build->record;
    size_t shape[2] = { m->p, vxs_build_kept(build) };
    float *row = vxs_alloc(shape[1], sizeof(*row), err);
    vxs_status status =
        row ? vxs_record_begin(record, "features.npy", stream, 'f', sizeof(float), 2, shape, err)
            : VXS_FAILED;
    for (size_t j = 0; j < m->p && !status; j++) {
        copy_row(build, m, j, row);
        vxs_record_add(record, row, shape[1] * sizeof(*row));
        fwrite(row, sizeof(*row), shape[1], stream);
    }
    if (!status)
        vxs_record_end(record);
    free(row);
    return status;
}

vxs_status vxs_matrix_write(vxs_build *build, const vxs_matrix *m, vxs_output *output,
                            vxs_error *err)
{
    FILE *stream;
    if (m->starts)
        return vxs_nonzeros_write(m, &build->record, output, err);
    vxs_status status = vxs_output_open(output, "features.npy", &stream, err);
    if (status)
        return status;
    status = write_rows(build, m, stream, err);
    vxs_status closed = vxs_output_close(output, stream, "features.npy", err);
    return closed ? closed : status;
}

void vxs_matrix_summarize(const vxs_build *build, const vxs_matrix *m, vxs_cohort_summary *summary)
{
    uint64_t value = sizeof(float) + (build->sparse ? sizeof(int32_t) : 0);
    uint64_t starts = build->sparse ? (build->p + 1) * sizeof(size_t) : 0;
    size_t kept = vxs_build_kept(build), unselected = vxs_build_unselected(build);
    *summary = (vxs_cohort_summary){ .subjects = kept,
                                     .people = build->people,
                                     .people_perhaps = build->people_perhaps,
                                     .dropped = build->count - kept - unselected,
                                     .not_selected = unselected + build->excluded_count,
                                     .features = build->p,
                                     .sparse = build->sparse,
                                     .stored = build->stored,
                                     .expected_bytes = build->stored * value + starts,
                                     .expected_memory = m->memory };
}

vxs_status vxs_build_from_table(vxs_build *build, const char *directory, bool replace,
                                vxs_cohort_summary *summary, vxs_error *err)
{
    vxs_matrix m = { .values = NULL };
    vxs_output *output = NULL;
    bool dry = build->settings->dry_run;
    vxs_status status =
        dry ? VXS_OK : vxs_output_new(build->context, directory, replace, &output, err);
    if (!status)
        status = read_matrix(build, &m, err);
    if (!status && !dry)
        status = vxs_matrix_write(build, &m, output, err);
    if (!status && !dry)
        status = vxs_build_describe(build, output, m.names, err);
    if (!status && !dry)
        status = vxs_output_commit(output, err);
    if (!status)
        vxs_matrix_summarize(build, &m, summary);
    vxs_output_free(output);
    vxs_matrix_release(&m);
    return status;
}
