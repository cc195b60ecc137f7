/* svmlight.c - reads subjects and a matrix from lines "target index:value index:value ... #
 * comment".
 *
 * Two passes over the text: targets and sizes, then values. The text stays in memory, because it
 * may come through a pipe. */
#include "cohort/tables.h"

#include <ctype.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

/* Share of nonzero values below which the matrix is sparse: a sparse value takes 8 bytes, a dense
 * one 4, so that a sparse cohort has at most half the size. */
#define SPARSE_BELOW 0.25

typedef struct {
    int32_t index; /* counts from 1 */
    float value;
} pair;

typedef struct {
    vxs_build *build;
    vxs_matrix *m;
    const char *path;
    char *text;
    size_t length;
    char *copy; /* copy of a line, split into words */
    size_t copy_room;
    char *at; /* position in the copy */
    size_t line;
    bool queries;      /* some line has a qid */
    double target;     /* target of the line, and its pairs with ascending indices */
    const char *query; /* qid of the line, or NULL */
    pair *pairs;
    size_t count, room;
    size_t largest, stored; /* of all lines: largest index, and number of nonzero values */
    FILE *targets;
    int32_t *features; /* CSR matrix; the values of subject i end before ends[i] */
    float *values;
    size_t *ends;
    size_t used;
    vxs_error *err;
} reader;

/* ---- A line ---------------------------------------------------------------------------------- */

static vxs_status bad_line(const reader *r, const char *why)
{
    return vxs_fail(r->err, VXS_BAD_DATA, "'%s' line %zu: %s", r->path, r->line, why);
}

/* The next word of the line, terminated; NULL at the end or at a comment. */
static char *next_word(reader *r)
{
    while (*r->at == ' ' || *r->at == '\t' || *r->at == '\r')
        r->at++;
    if (*r->at == '\0' || *r->at == '#')
        return NULL;
    char *word = r->at;
    while (*r->at && !isspace((unsigned char)*r->at))
        r->at++;
    if (*r->at)
        *r->at++ = '\0';
    return word;
}

static vxs_status add_pair(reader *r, int64_t index, double value)
{
    if (r->count == r->room) {
        size_t room = r->room ? 2 * r->room : 64;
        pair *larger = vxs_resize(r->pairs, room, sizeof(*larger), r->err);
        if (!larger)
            return VXS_FAILED;
        r->pairs = larger;
        r->room = room;
    }
    r->pairs[r->count++] = (pair){ (int32_t)index, (float)value };
    return VXS_OK;
}

/* Reads a pair such as "12:0.5"; indices count from 1. */
static vxs_status read_pair(reader *r, char *word)
{
    char *colon = strchr(word, ':');
    int64_t index = 0;
    double value = 0;
    if (!colon)
        return bad_line(r, "a pair such as 3:0.5 is required here");
    *colon = '\0';
    if (strcmp(word, "qid") == 0) {
        r->query = colon + 1;
        return VXS_OK;
    }
    if (!vxs_parse_whole(word, &index) || index < 1 || index > INT32_MAX)
        return bad_line(r, "an index is not a whole number from 1 to 2147483647");
    if (!vxs_parse_real(colon + 1, &value))
        return bad_line(r, "a value is not a number");
    return add_pair(r, index, value);
}

static int by_index(const void *a, const void *b)
{
    int32_t left = ((const pair *)a)->index, right = ((const pair *)b)->index;
    return (left > right) - (left < right);
}

/* Sorts pairs, which are almost always sorted already; refuses two values of one feature. */
static vxs_status sort_pairs(reader *r)
{
    bool sorted = true;
    for (size_t k = 1; k < r->count; k++)
        sorted = sorted && r->pairs[k - 1].index < r->pairs[k].index;
    if (sorted)
        return VXS_OK;
    qsort(r->pairs, r->count, sizeof(*r->pairs), by_index);
    for (size_t k = 1; k < r->count; k++)
        if (r->pairs[k - 1].index == r->pairs[k].index)
            return vxs_fail(r->err, VXS_BAD_DATA, "'%s' line %zu: index %d occurs twice", r->path,
                            r->line, (int)r->pairs[k].index);
    return VXS_OK;
}

static vxs_status read_line(reader *r)
{
    vxs_status status = VXS_OK;
    r->at = r->copy;
    r->count = 0;
    r->query = NULL;
    char *word = next_word(r);
    if (!word || !vxs_parse_real(word, &r->target))
        return bad_line(r, "the target must be first");
    for (word = next_word(r); word && !status; word = next_word(r))
        status = read_pair(r, word);
    return status ? status : sort_pairs(r);
}

/* ---- All lines ------------------------------------------------------------------------------- */

/* Processes the line of subject i. */
typedef vxs_status line_handler(reader *r, size_t i);

static vxs_status copy_line(reader *r, const char *line, size_t length)
{
    if (memchr(line, '\0', length))
        return bad_line(r, "it holds a zero byte; is this text?");
    if (length >= r->copy_room) {
        char *larger = vxs_resize(r->copy, length + 1, 2, r->err);
        if (!larger)
            return VXS_FAILED;
        r->copy = larger;
        r->copy_room = 2 * (length + 1);
    }
    memcpy(r->copy, line, length);
    r->copy[length] = '\0';
    return VXS_OK;
}

static bool is_empty(const char *line)
{
    line += strspn(line, " \t\r");
    return *line == '\0' || *line == '#';
}

static vxs_status each_line(reader *r, line_handler *take)
{
    const char *end = r->text + r->length;
    vxs_status status = VXS_OK;
    size_t i = 0;
    r->line = 0;
    for (const char *line = r->text; line < end && !status;) {
        const char *stop = memchr(line, '\n', (size_t)(end - line));
        stop = stop ? stop : end;
        r->line++;
        status = vxs_check_interrupted(r->build->context, r->err);
        if (!status)
            status = copy_line(r, line, (size_t)(stop - line));
        line = stop + 1;
        if (status || is_empty(r->copy))
            continue;
        status = read_line(r);
        if (!status)
            status = take(r, i++);
    }
    return status;
}

static vxs_status take_sizes(reader *r, size_t i)
{
    char id[32], text[VXS_REAL_TEXT];
    for (size_t k = 0; k < r->count; k++)
        r->stored += r->pairs[k].value != 0;
    size_t last = r->count > 0 ? (size_t)r->pairs[r->count - 1].index : 0;
    r->largest = last > r->largest ? last : r->largest;
    snprintf(id, sizeof(id), "row-%06zu", i + 1);
    r->build->ids_invented = true;
    fprintf(r->targets, "%s\t%s", id, vxs_real_text(r->target, text));
    if (r->queries)
        fprintf(r->targets, "\t%s", r->query ? r->query : "n/a");
    fputc('\n', r->targets);
    return vxs_build_add(r->build, id, NULL, 0, i, r->err);
}

/* First pass: subjects, a table of their targets, and the size of the matrix. */
static vxs_status read_sizes(reader *r)
{
    char *targets = NULL;
    size_t length = 0;
    r->targets = open_memstream(&targets, &length);
    if (!r->targets)
        return vxs_fail(r->err, VXS_FAILED, "not enough memory to read '%s'", r->path);
    r->queries = strstr(r->text, " qid:") || strstr(r->text, "\tqid:");
    fputs(r->queries ? "participant_id\ttarget\tqid\n" : "participant_id\ttarget\n", r->targets);
    vxs_status status = each_line(r, take_sizes);
    if (fclose(r->targets) != 0 && !status)
        status = vxs_fail(r->err, VXS_FAILED, "not enough memory to read '%s'", r->path);
    size_t width = r->build->settings->width;
    r->m->n = r->build->count;
    r->m->p = r->largest > width ? r->largest : width;
    if (!status && (r->m->n == 0 || r->m->p == 0))
        status = vxs_fail(r->err, VXS_BAD_DATA, "'%s' has no rows with features", r->path);
    if (!status)
        status = vxs_table_parse(targets, length, r->path, &r->build->table, r->err);
    free(targets);
    return status;
}

/* ---- Dense ----------------------------------------------------------------------------------- */

static vxs_status store_dense(reader *r, size_t i)
{
    for (size_t k = 0; k < r->count; k++)
        r->m->values[(size_t)(r->pairs[k].index - 1) * r->m->n + i] = r->pairs[k].value;
    return VXS_OK;
}

static vxs_status read_dense(reader *r)
{
    vxs_status status = vxs_matrix_dense(r->build, r->m, r->err);
    return status ? status : each_line(r, store_dense);
}

/* ---- Sparse ---------------------------------------------------------------------------------- */

/* starts[j] counts the values of feature j; transpose() converts counts to offsets. */
static vxs_status store_sparse(reader *r, size_t i)
{
    for (size_t k = 0; k < r->count; k++) {
        if (r->pairs[k].value == 0)
            continue;
        r->features[r->used] = r->pairs[k].index - 1;
        r->values[r->used++] = r->pairs[k].value;
        r->m->starts[r->pairs[k].index - 1]++;
    }
    r->ends[i] = r->used;
    return VXS_OK;
}

/* Transposes CSR to CSC; subjects are visited in order, so that `rows` ascend. */
static void transpose(const reader *r)
{
    vxs_matrix *m = r->m;
    size_t sum = 0, e = 0;
    for (size_t j = 0; j <= m->p; j++) {
        size_t count = m->starts[j];
        m->starts[j] = sum;
        sum += count;
    }
    for (size_t i = 0; i < m->n; i++)
        for (; e < r->ends[i]; e++) {
            size_t to = m->starts[r->features[e]]++;
            m->values[to] = r->values[e];
            m->rows[to] = (int32_t)i;
        }
    /* each start has advanced to its end */
    memmove(m->starts + 1, m->starts, m->p * sizeof(*m->starts));
    m->starts[0] = 0;
}

/* Memory has two peaks: CSR values with the text, then CSR values with CSC values. */
static vxs_status check_memory(const reader *r)
{
    vxs_matrix *m = r->m;
    double value = sizeof(*r->values) + sizeof(*r->features), values = value * (double)r->stored;
    double places = sizeof(size_t) * ((double)m->p + 1 + (double)m->n);
    double bytes = values + places + fmax((double)r->length, values);
    if (bytes > (double)r->build->settings->mem)
        return vxs_fail(r->err, VXS_FAILED,
                        "%zu subjects with %zu features, %zu values of which are not 0, take %.0f "
                        "MB; raise --mem to allow that",
                        m->n, m->p, r->stored, bytes / 1048576);
    m->memory = (uint64_t)bytes;
    return VXS_OK;
}

static vxs_status read_sparse(reader *r)
{
    vxs_matrix *m = r->m;
    vxs_status status = check_memory(r);
    if (status)
        return status;
    m->starts = vxs_alloc(m->p + 1, sizeof(*m->starts), r->err);
    r->ends = m->starts ? vxs_alloc(m->n, sizeof(*r->ends), r->err) : NULL;
    r->features = r->ends ? vxs_alloc(r->stored, sizeof(*r->features), r->err) : NULL;
    r->values = r->features ? vxs_alloc(r->stored, sizeof(*r->values), r->err) : NULL;
    status = r->values ? each_line(r, store_sparse) : VXS_FAILED;
    if (status)
        return status;
    free(r->text);
    r->text = NULL;
    m->rows = vxs_alloc(r->stored, sizeof(*m->rows), r->err);
    m->values = m->rows ? vxs_alloc(r->stored, sizeof(*m->values), r->err) : NULL;
    if (!m->values)
        return VXS_FAILED;
    transpose(r);
    return VXS_OK;
}

/* ---- Entry point ----------------------------------------------------------------------------- */

static bool is_sparse(const reader *r)
{
    double all = (double)r->m->n * (double)r->m->p;
    return (double)r->stored < SPARSE_BELOW * all && r->m->n <= INT32_MAX;
}

vxs_status vxs_matrix_svmlight(vxs_build *build, vxs_matrix *m, vxs_error *err)
{
    reader r = { .build = build, .m = m, .path = build->settings->svmlight, .err = err };
    vxs_status status = vxs_file_read(r.path, &r.text, &r.length, err);
    if (!status)
        status = read_sizes(&r);
    if (!status)
        status = is_sparse(&r) ? read_sparse(&r) : read_dense(&r);
    free(r.text);
    free(r.copy);
    free(r.pairs);
    free(r.features);
    free(r.values);
    free(r.ends);
    return status;
}
