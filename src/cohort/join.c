/* join.c - who is who: images and tables are joined by id, never by position. */
#include "cohort/build.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

vxs_status vxs_build_read_table(vxs_build *build, const char *path, vxs_error *err)
{
    const char *name = build->settings->id_column ? build->settings->id_column : "participant_id";
    vxs_status status = vxs_table_read(path, &build->table, err);
    if (!status)
        status = vxs_table_find(build->table, name, &build->id_column, err);
    return status;
}

/* Without "sub-", blanks and leading zeros. */
static const char *core_of(const char *id)
{
    id += strspn(id, " ");
    if (strncasecmp(id, "sub-", 4) == 0)
        id += 4;
    while (id[0] == '0' && isalnum((unsigned char)id[1]))
        id++;
    return id;
}

static size_t core_length(const char *core)
{
    size_t length = strlen(core);
    while (length > 0 && core[length - 1] == ' ')
        length--;
    return length;
}

static int compare_ids(const char *a, const char *b)
{
    const char *left = core_of(a), *right = core_of(b);
    size_t n = core_length(left), m = core_length(right);
    int order = strncasecmp(left, right, n < m ? n : m);
    return order ? order : (n > m) - (n < m);
}

bool vxs_same_id(const char *a, const char *b)
{
    return compare_ids(a, b) == 0;
}

typedef struct {
    const char *id;
    size_t row;
} entry;

static int by_id(const void *a, const void *b)
{
    const entry *left = a, *right = b;
    int order = compare_ids(left->id, right->id);
    return order ? order : (left->row > right->row) - (left->row < right->row);
}

/* The rows with an id, sorted; two rows of one id are refused, all of them named. */
static vxs_status sort_rows(const vxs_build *build, entry *rows, size_t *count, vxs_error *err)
{
    const vxs_table *table = build->table;
    size_t twins = 0;
    *count = 0;
    for (size_t i = 0; i < vxs_table_rows(table); i++) {
        const char *id = vxs_table_cell(table, i, build->id_column);
        if (id)
            rows[(*count)++] = (entry){ id, i };
        else
            vxs_log(build->context, VXS_LOG_WARNING, "line %zu of the table has no id; left out",
                    vxs_table_line(table, i));
    }
    qsort(rows, *count, sizeof(*rows), by_id);
    for (size_t k = 1; k < *count; k++) {
        if (compare_ids(rows[k - 1].id, rows[k].id) != 0)
            continue;
        twins++;
        vxs_log(build->context, VXS_LOG_ERROR, "'%s' (line %zu) and '%s' (line %zu) are one id",
                rows[k - 1].id, vxs_table_line(table, rows[k - 1].row), rows[k].id,
                vxs_table_line(table, rows[k].row));
    }
    if (twins > 0)
        return vxs_fail(err, VXS_BAD_DATA,
                        "the table has %zu ids that stand more than once (above)", twins);
    return VXS_OK;
}

static void note_rows_without_image(vxs_build *build, const entry *rows, size_t count,
                                    const bool *used)
{
    for (size_t k = 0; k < count; k++)
        if (!used[k])
            vxs_log(build->context, VXS_LOG_WARNING,
                    "left out '%s': line %zu of the table has no image", rows[k].id,
                    vxs_table_line(build->table, rows[k].row));
}

vxs_status vxs_build_join(vxs_build *build, vxs_error *err)
{
    size_t rows = vxs_table_rows(build->table), count = 0;
    entry *sorted = vxs_alloc(rows, sizeof(*sorted), err);
    bool *used = vxs_alloc(rows, sizeof(*used), err);
    vxs_status status = sorted && used ? sort_rows(build, sorted, &count, err) : VXS_FAILED;
    for (size_t i = 0; i < build->count && !status; i++) {
        vxs_subject *s = &build->subjects[i];
        entry key = { s->id, 0 };
        size_t low = 0, high = count;
        while (low < high) { /* the first row that is not before the id */
            size_t middle = (low + high) / 2;
            if (compare_ids(sorted[middle].id, key.id) < 0)
                low = middle + 1;
            else
                high = middle;
        }
        if (low < count && vxs_same_id(sorted[low].id, s->id)) {
            s->row = sorted[low].row;
            used[low] = true;
        } else if (!s->reason) {
            vxs_build_leave_out(build, s, "the table has no such id");
        }
    }
    if (!status)
        note_rows_without_image(build, sorted, count, used);
    free(used);
    free(sorted);
    return status;
}
