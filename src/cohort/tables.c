/* tables.c - cohorts whose features are not voxels: a table, a matrix, svmlight text. */
#include "cohort/build.h"

#include <ctype.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

/* What all three become: p rows of n values, feature names or NULL for x0, x1, ... */
typedef struct {
    float *values; /* p x n */
    size_t n, p;
    const char **names; /* owned by the table they come from */
    vxs_table *features;
} matrix;

static void release(matrix *m)
{
    free(m->values);
    free(m->names);
    vxs_table_free(m->features);
}

static vxs_status make_room(const vxs_build *build, matrix *m, vxs_error *err)
{
    double bytes = (double)m->n * (double)m->p * sizeof(float);
    if (bytes > (double)build->settings->mem)
        return vxs_fail(err, VXS_FAILED,
                        "%zu subjects with %zu features take %.0f MB; raise --mem to allow that",
                        m->n, m->p, bytes / 1048576);
    m->values = vxs_alloc(m->p, m->n * sizeof(float), err);
    return m->values ? VXS_OK : VXS_FAILED;
}

static size_t count_nonfinite(const matrix *m, size_t i)
{
    size_t found = 0;
    for (size_t j = 0; j < m->p; j++)
        found += !isfinite(m->values[j * m->n + i]);
    return found;
}

/* zero: as 0; drop: the feature goes; error: the subject is refused. */
static void drop_features(matrix *m)
{
    size_t kept = 0;
    for (size_t j = 0; j < m->p; j++) {
        bool whole = true;
        for (size_t i = 0; i < m->n; i++)
            whole = whole && isfinite(m->values[j * m->n + i]);
        if (!whole)
            continue;
        memmove(m->values + kept * m->n, m->values + j * m->n, m->n * sizeof(float));
        if (m->names)
            m->names[kept] = m->names[j];
        kept++;
    }
    m->p = kept;
}

static vxs_status settle_missing(vxs_build *build, matrix *m, vxs_error *err)
{
    size_t before = m->p;
    for (size_t i = 0; i < m->n; i++) {
        vxs_subject *s = &build->subjects[i];
        s->nonfinite = count_nonfinite(m, i);
        if (s->nonfinite > 0 && build->settings->nan == VXS_NAN_ERROR && !s->reason)
            vxs_build_leave_out(build, s, "%zu of its values are missing", s->nonfinite);
    }
    if (build->settings->nan == VXS_NAN_DROP) {
        drop_features(m);
        if (m->p < before)
            vxs_log(build->context, VXS_LOG_WARNING,
                    "left out %zu of %zu features: some subject has no value", before - m->p,
                    before);
        if (m->p == 0)
            return vxs_fail(err, VXS_BAD_DATA, "no feature has a value for every subject");
    }
    size_t zeros = 0;
    for (size_t k = 0; k < m->p * m->n; k++) {
        zeros += !isfinite(m->values[k]);
        m->values[k] = isfinite(m->values[k]) ? m->values[k] : 0;
    }
    if (zeros > 0)
        vxs_log(build->context, VXS_LOG_WARNING, "%zu missing values count as 0", zeros);
    return VXS_OK;
}

/* ---- --features ------------------------------------------------------------------------------ */

static vxs_status add_people(vxs_build *build, const vxs_table *table, size_t column,
                             const char *path, vxs_error *err)
{
    vxs_status status = VXS_OK;
    for (size_t i = 0; i < vxs_table_rows(table) && !status; i++) {
        const char *id = vxs_table_cell(table, i, column);
        if (!id)
            return vxs_fail(err, VXS_BAD_DATA, "'%s' line %zu has no id", path,
                            vxs_table_line(table, i));
        status = vxs_build_add(build, id, NULL, 0, NO_ROW, err);
    }
    for (size_t i = 0; i < build->count && !status; i++)
        for (size_t k = 0; k < i; k++)
            if (!build->subjects[i].reason &&
                vxs_same_id(build->subjects[i].id, build->subjects[k].id))
                vxs_build_leave_out(build, &build->subjects[i], "its id stands twice in '%s'",
                                    path);
    return status;
}

static vxs_status read_features(vxs_build *build, matrix *m, vxs_error *err)
{
    const char *path = build->settings->features;
    const char *id = build->settings->id_column ? build->settings->id_column : "participant_id";
    size_t column = 0;
    vxs_status status = vxs_table_read(path, &m->features, err);
    if (!status)
        status = vxs_table_find(m->features, id, &column, err);
    if (!status)
        status = add_people(build, m->features, column, path, err);
    if (status)
        return status;
    m->n = vxs_table_rows(m->features);
    m->p = vxs_table_columns(m->features) - 1;
    m->names = vxs_alloc(m->p + 1, sizeof(*m->names), err);
    status = m->names ? make_room(build, m, err) : VXS_FAILED;
    for (size_t j = 0, k = 0; !status && j < vxs_table_columns(m->features); j++) {
        if (j == column)
            continue;
        m->names[k] = vxs_table_header(m->features, j);
        for (size_t i = 0; i < m->n && !status; i++) {
            double value = 0;
            status = vxs_table_real(m->features, i, j, &value, err);
            m->values[k * m->n + i] = (float)value;
        }
        k++;
    }
    return status;
}

/* ---- --npy ----------------------------------------------------------------------------------- */

static vxs_status read_rows(vxs_build *build, vxs_error *err)
{
    const vxs_cohort_settings *s = build->settings;
    if (!s->row_names)
        return vxs_build_read_table(build, s->rows, err);
    const char *id = s->id_column ? s->id_column : "participant_id";
    vxs_status status = vxs_table_read_bare(s->rows, s->row_names, &build->table, err);
    return status ? status : vxs_table_find(build->table, id, &build->id_column, err);
}

static vxs_status read_npy(vxs_build *build, matrix *m, vxs_error *err)
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
    for (size_t i = 0; i < build->count; i++)
        build->subjects[i].row = i;
    m->n = build->count;
    m->p = npy.ndim == 2 ? npy.shape[1] : 0;
    if (npy.ndim != 2 || npy.shape[0] != m->n || m->p == 0)
        status =
            vxs_fail(err, VXS_BAD_DATA, "'%s' is not a matrix of %zu rows, as many as '%s' has",
                     path, m->n, build->settings->rows);
    if (!status)
        status = make_room(build, m, err);
    for (size_t i = 0; i < m->n && !status; i++)
        for (size_t j = 0; j < m->p; j++) {
            size_t at = npy.fortran ? j * m->n + i : i * m->p + j;
            m->values[j * m->n + i] = (float)vxs_npy_item(&npy, at);
        }
    vxs_npy_release(&npy);
    return status;
}

/* ---- --svmlight ------------------------------------------------------------------------------ */

typedef struct {
    const char *path;
    size_t line, largest;
    char *at;
    vxs_error *err;
} scanner;

static vxs_status bad_line(const scanner *s, const char *why)
{
    return vxs_fail(s->err, VXS_BAD_DATA, "'%s' line %zu: %s", s->path, s->line, why);
}

/* The next word of the line, cut off with a zero; NULL at its end or at a comment. */
static char *next_word(scanner *s)
{
    while (*s->at == ' ' || *s->at == '\t' || *s->at == '\r')
        s->at++;
    if (*s->at == '\0' || *s->at == '#')
        return NULL;
    char *word = s->at;
    while (*s->at && !isspace((unsigned char)*s->at))
        s->at++;
    if (*s->at)
        *s->at++ = '\0';
    return word;
}

/* "12:0.5"; indices count from 1 and ascend. */
static vxs_status read_pair(scanner *s, char *word, size_t *index, double *value)
{
    char *colon = strchr(word, ':');
    int64_t number = 0;
    if (!colon)
        return bad_line(s, "a pair such as 3:0.5 should stand here");
    *colon = '\0';
    if (strcmp(word, "qid") == 0) {
        *index = 0;
        return VXS_OK;
    }
    if (!vxs_parse_whole(word, &number) || number < 1 || number > INT32_MAX)
        return bad_line(s, "an index is not a number from 1 on");
    if (!vxs_parse_real(colon + 1, value))
        return bad_line(s, "a value is not a number");
    *index = (size_t)number;
    s->largest = *index > s->largest ? *index : s->largest;
    return VXS_OK;
}

/* One pass finds sizes and targets (values NULL), the next one fills the matrix. */
static vxs_status scan_line(scanner *s, char *line, double *target, float *values, size_t n)
{
    size_t index = 0;
    double value = 0;
    s->at = line;
    char *word = next_word(s);
    if (!word || !vxs_parse_real(word, target))
        return bad_line(s, "a target should stand first");
    for (word = next_word(s); word; word = next_word(s)) {
        vxs_status status = read_pair(s, word, &index, &value);
        if (status)
            return status;
        if (values && index > 0)
            values[(index - 1) * n] = (float)value;
    }
    return VXS_OK;
}

static bool is_empty(const char *line)
{
    line += strspn(line, " \t\r");
    return *line == '\0' || *line == '#';
}

typedef vxs_status line_reader(vxs_build *build, matrix *m, scanner *s, char *line, size_t i,
                               FILE *targets);

static vxs_status count_line(vxs_build *build, matrix *m, scanner *s, char *line, size_t i,
                             FILE *targets)
{
    char id[32], text[VXS_REAL_TEXT];
    double target = 0;
    (void)m;
    vxs_status status = scan_line(s, line, &target, NULL, 0);
    if (status)
        return status;
    snprintf(id, sizeof(id), "row-%06zu", i + 1);
    fprintf(targets, "%s\t%s\n", id, vxs_real_text(target, text));
    return vxs_build_add(build, id, NULL, 0, i, s->err);
}

static vxs_status fill_line(vxs_build *build, matrix *m, scanner *s, char *line, size_t i,
                            FILE *targets)
{
    double target = 0;
    (void)build;
    (void)targets;
    return scan_line(s, line, &target, m->values + i, m->n);
}

static vxs_status each_line(vxs_build *build, matrix *m, scanner *s, const char *text,
                            line_reader *read, FILE *targets)
{
    char *copy = vxs_format(s->err, "%s", text);
    vxs_status status = copy ? VXS_OK : VXS_FAILED;
    size_t i = 0;
    s->line = 0;
    for (char *line = copy; line && !status;) {
        char *end = strchr(line, '\n');
        if (end)
            *end = '\0';
        s->line++;
        if (!is_empty(line))
            status = read(build, m, s, line, i++, targets);
        line = end ? end + 1 : NULL;
    }
    free(copy);
    return status;
}

static vxs_status read_svmlight(vxs_build *build, matrix *m, vxs_error *err)
{
    scanner s = { .path = build->settings->svmlight, .err = err };
    char *text = NULL, *targets = NULL;
    size_t length = 0, targets_length = 0;
    vxs_status status = vxs_file_read(s.path, &text, &length, err);
    FILE *stream = status ? NULL : open_memstream(&targets, &targets_length);
    if (!status && !stream)
        status = vxs_fail(err, VXS_FAILED, "not enough memory to read '%s'", s.path);
    if (!status) {
        fputs("participant_id\ttarget\n", stream);
        status = each_line(build, m, &s, text, count_line, stream);
    }
    if (stream && fclose(stream) != 0 && !status)
        status = vxs_fail(err, VXS_FAILED, "not enough memory to read '%s'", s.path);
    m->n = build->count;
    m->p = s.largest;
    if (!status && (m->n == 0 || m->p == 0))
        status = vxs_fail(err, VXS_BAD_DATA, "'%s' has no rows with features", s.path);
    if (!status)
        status = vxs_table_parse(targets, targets_length, s.path, &build->table, err);
    if (!status)
        status = make_room(build, m, err);
    if (!status)
        status = each_line(build, m, &s, text, fill_line, NULL);
    free(targets);
    free(text);
    return status;
}

/* ---- The whole ------------------------------------------------------------------------------- */

static vxs_status read_matrix(vxs_build *build, matrix *m, vxs_error *err)
{
    const vxs_cohort_settings *s = build->settings;
    vxs_status status = s->features ? read_features(build, m, err)
                        : s->npy    ? read_npy(build, m, err)
                                    : read_svmlight(build, m, err);
    if (!status && s->participants && build->table)
        status = vxs_fail(err, VXS_MISUSE, "--participants goes with --features or images");
    if (!status && s->participants)
        status = vxs_build_read_table(build, s->participants, err);
    if (!status && s->participants)
        status = vxs_build_join(build, err);
    if (!status)
        status = settle_missing(build, m, err);
    return status ? status : vxs_build_settle(build, err);
}

static vxs_status write_matrix(const vxs_build *build, const matrix *m, vxs_output *output,
                               vxs_error *err)
{
    size_t shape[2] = { m->p, vxs_build_kept(build) };
    FILE *stream;
    vxs_status status = vxs_output_open(output, "features.npy", &stream, err);
    if (status)
        return status;
    status = vxs_npy_write_header(stream, 'f', sizeof(float), 2, shape, err);
    for (size_t j = 0; j < m->p && !status; j++)
        for (size_t i = 0; i < m->n; i++)
            if (!build->subjects[i].reason)
                fwrite(&m->values[j * m->n + i], sizeof(float), 1, stream);
    vxs_status closed = vxs_output_close(output, stream, "features.npy", err);
    return closed ? closed : status;
}

vxs_status vxs_build_from_table(vxs_build *build, const char *directory, bool replace,
                                vxs_cohort_summary *summary, vxs_error *err)
{
    matrix m = { .values = NULL };
    vxs_output *output = NULL;
    bool dry = build->settings->dry_run;
    vxs_status status = read_matrix(build, &m, err);
    if (!status && !dry)
        status = vxs_output_new(directory, replace, &output, err);
    if (!status && !dry)
        status = write_matrix(build, &m, output, err);
    build->p = m.p;
    if (!status && !dry)
        status = vxs_build_describe(build, output, m.names, err);
    if (!status && !dry)
        status = vxs_output_commit(output, err);
    if (!status) {
        size_t kept = vxs_build_kept(build);
        *summary = (vxs_cohort_summary){ .subjects = kept,
                                         .dropped = build->count - kept,
                                         .features = m.p,
                                         .expected_bytes = (uint64_t)m.p * kept * sizeof(float),
                                         .expected_memory = (uint64_t)m.p * m.n * sizeof(float) };
    }
    vxs_output_free(output);
    release(&m);
    return status;
}
