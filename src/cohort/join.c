/* join.c - joins images and tables by id, never by position. */
#include "cohort/build.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

const char *vxs_build_id_name(const vxs_build *build)
{
    return build->settings->id_column ? build->settings->id_column : "participant_id";
}

vxs_status vxs_build_read_table(vxs_build *build, const char *path, vxs_error *err)
{
    vxs_status status = vxs_table_read(path, &build->table, err);
    if (!status)
        status = vxs_table_find(build->table, vxs_build_id_name(build), &build->id_column, err);
    return status ? status : vxs_build_select(build, build->table, err);
}

/* The end of a whole number in a column of reals: "7" in "7.0". */
static const char *end_of_whole(const char *from, const char *end)
{
    const char *point = from;
    while (point < end && isdigit((unsigned char)*point))
        point++;
    if (point == from || end - point < 2 || *point != '.')
        return end;
    for (const char *at = point + 1; at < end; at++)
        if (*at != '0')
            return end;
    return point;
}

vxs_name vxs_name_core(vxs_name name)
{
    const char *end = name.text + name.length;
    while (name.text < end && *name.text == ' ')
        name.text++;
    if (end - name.text >= 4 && strncasecmp(name.text, "sub-", 4) == 0)
        name.text += 4;
    while (name.text + 1 < end && name.text[0] == '0' && isalnum((unsigned char)name.text[1]))
        name.text++;
    while (end > name.text && end[-1] == ' ')
        end--;
    end = end_of_whole(name.text, end);
    return (vxs_name){ name.text, (size_t)(end - name.text) };
}

int vxs_compare_names(vxs_name a, vxs_name b)
{
    vxs_name left = vxs_name_core(a), right = vxs_name_core(b);
    size_t n = left.length, m = right.length;
    int order = strncasecmp(left.text, right.text, n < m ? n : m);
    return order ? order : (n > m) - (n < m);
}

static int compare_ids(const char *a, const char *b)
{
    return vxs_compare_names((vxs_name){ a, strlen(a) }, (vxs_name){ b, strlen(b) });
}

typedef struct {
    const char *id;
    size_t row;
    bool unselected; /* excluded by --only or --exclude; sorts after the selected rows of its id */
} entry;

static int by_id(const void *a, const void *b)
{
    const entry *left = a, *right = b;
    int order = compare_ids(left->id, right->id);
    if (!order && left->unselected != right->unselected)
        return left->unselected ? 1 : -1;
    return order ? order : (left->row > right->row) - (left->row < right->row);
}

/* The rows with an id, sorted; refuses duplicate ids and names all of them. */
static vxs_status sort_rows(const vxs_build *build, entry *rows, size_t *count, vxs_error *err)
{
    const vxs_table *table = build->table;
    size_t twins = 0, first = 0;
    *count = 0;
    for (size_t i = 0; i < vxs_table_rows(table); i++) {
        const char *id = vxs_table_cell(table, i, build->id_column);
        bool selected = vxs_build_selects(build, i);
        if (id)
            rows[(*count)++] = (entry){ id, i, !selected };
        else if (selected)
            vxs_log(build->context, VXS_LOG_WARNING, "line %zu of the table has no id; left out",
                    vxs_table_line(table, i));
    }
    qsort(rows, *count, sizeof(*rows), by_id);
    for (size_t k = 1; k < *count; k++) {
        if (rows[k].unselected || compare_ids(rows[k - 1].id, rows[k].id) != 0)
            continue;
        first = twins++ == 0 ? k : first;
        vxs_log(build->context, VXS_LOG_DEBUG,
                "'%s' (line %zu) and '%s' (line %zu) are the same id", rows[k - 1].id,
                vxs_table_line(table, rows[k - 1].row), rows[k].id,
                vxs_table_line(table, rows[k].row));
    }
    if (twins > 0)
        return vxs_fail(err, VXS_BAD_DATA,
                        "column '%s' repeats %zu id%s: '%s' (line %zu) and '%s' (line %zu) are the "
                        "same id%s; several sessions? use --id-column with a column that differs "
                        "by row, such as scan_id, or select one session with --only",
                        vxs_build_id_name(build), twins, vxs_plural(twins), rows[first - 1].id,
                        vxs_table_line(table, rows[first - 1].row), rows[first].id,
                        vxs_table_line(table, rows[first].row), twins > 1 ? ", and others" : "");
    return VXS_OK;
}

/* Notes the rows without image, which cohort.json reports. Prediction for some images of a table
 * logs the number of the other rows alone. */
static vxs_status note_rows_without_image(vxs_build *build, const entry *rows, size_t count,
                                          const bool *used, vxs_error *err)
{
    free((void *)build->unmatched);
    build->unmatched_count = 0;
    build->unmatched = vxs_alloc(count, sizeof(*build->unmatched), err);
    free(build->excluded);
    build->excluded_count = 0;
    build->excluded = vxs_alloc(count, sizeof(*build->excluded), err);
    if (!build->unmatched || !build->excluded)
        return VXS_FAILED;
    for (size_t k = 0; k < count; k++) {
        if (used[rows[k].row])
            continue;
        if (rows[k].unselected) {
            build->excluded[build->excluded_count++] = rows[k].row;
            continue;
        }
        if (!build->settings->single)
            vxs_log(build->context, VXS_LOG_WARNING,
                    "left out '%s': line %zu of the table has no image", rows[k].id,
                    vxs_table_line(build->table, rows[k].row));
        build->unmatched[build->unmatched_count++] = rows[k].id;
    }
    if (build->settings->single && build->unmatched_count > 0)
        vxs_log(build->context, VXS_LOG_INFO,
                "%zu of %zu rows of the table have no image and are left out",
                build->unmatched_count, count);
    return VXS_OK;
}

/* The row of a name, or NULL. */
static const entry *find_row(const entry *sorted, size_t count, vxs_name name)
{
    size_t low = 0, high = count;
    while (low < high) { /* first row that is not before the name */
        size_t middle = (low + high) / 2;
        const char *id = sorted[middle].id;
        if (vxs_compare_names((vxs_name){ id, strlen(id) }, name) < 0)
            low = middle + 1;
        else
            high = middle;
    }
    if (low == count)
        return NULL;
    const char *id = sorted[low].id;
    return vxs_compare_names((vxs_name){ id, strlen(id) }, name) == 0 ? &sorted[low] : NULL;
}

static void join_subject(vxs_build *build, vxs_subject *s, const entry *sorted, size_t count,
                         bool *used)
{
    const entry *row = find_row(sorted, count, (vxs_name){ s->id, strlen(s->id) });
    bool own = row != NULL;
    if (!row && build->ids_separated) /* sessions use the row of their person */
        row = find_row(sorted, count, vxs_person_in(s->id));
    if (!row) {
        if (!s->reason)
            vxs_build_leave_out(build, s, "the table has no such id");
        return;
    }
    s->row = row->row;
    used[row->row] = true;
    bool several = row + 1 < sorted + count && compare_ids(row[0].id, row[1].id) == 0;
    if (!own && several && !s->reason)
        vxs_build_leave_out(
            build, s,
            "the table has several rows of '%s', and none identifies this image; pass --id-column",
            row->id);
}

vxs_status vxs_build_join(vxs_build *build, vxs_error *err)
{
    size_t rows = vxs_table_rows(build->table), count = 0;
    entry *sorted = vxs_alloc(rows, sizeof(*sorted), err);
    bool *used = vxs_alloc(rows, sizeof(*used), err);
    vxs_status status = sorted && used ? sort_rows(build, sorted, &count, err) : VXS_FAILED;
    for (size_t i = 0; i < build->count && !status; i++) {
        vxs_subject *s = &build->subjects[i];
        if (s->unselected)
            used[s->row] = true;
        else
            join_subject(build, s, sorted, count, used);
    }
    if (!status)
        status = note_rows_without_image(build, sorted, count, used, err);
    free(used);
    free(sorted);
    return status;
}
