/* tsv_summary.c - summaries of columns. */
#include "voxsift/internal/core.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

static int by_text(const void *a, const void *b)
{
    const char *const *left = a, *const *right = b;
    return strcmp(*left, *right);
}

/* Welford's algorithm: one pass without cancellation. */
static bool summarize_numbers(const char *const *cells, size_t count, vxs_column_summary *summary)
{
    double mean = 0, squares = 0, value = 0;
    for (size_t i = 0; i < count; i++) {
        if (!vxs_parse_real(cells[i], &value))
            return false;
        double step = value - mean;
        mean += step / (double)(i + 1);
        squares += step * (value - mean);
        summary->min = i == 0 || value < summary->min ? value : summary->min;
        summary->max = i == 0 || value > summary->max ? value : summary->max;
    }
    summary->mean = mean;
    summary->sd = count > 1 ? sqrt(squares / (double)(count - 1)) : NAN;
    return count > 0;
}

/* The cells that are not missing, in table order; allocates one more. */
static const char **present_cells(const vxs_table *table, size_t column, size_t *count,
                                  vxs_error *err)
{
    size_t rows = vxs_table_rows(table);
    const char **cells = vxs_alloc(rows + 1, sizeof(*cells), err);
    *count = 0;
    for (size_t i = 0; cells && i < rows; i++) {
        const char *cell = vxs_table_cell(table, i, column);
        if (cell)
            cells[(*count)++] = cell;
    }
    return cells;
}

vxs_status vxs_table_levels(const vxs_table *table, size_t column, vxs_level **levels,
                            size_t *count, vxs_error *err)
{
    size_t present = 0, found = 0;
    const char **cells = present_cells(table, column, &present, err);
    vxs_level *made = cells ? vxs_alloc(present + 1, sizeof(*made), err) : NULL;
    if (made) {
        qsort(cells, present, sizeof(*cells), by_text);
        for (size_t i = 0; i < present; i++) {
            if (i == 0 || strcmp(cells[i - 1], cells[i]) != 0)
                made[found++].text = cells[i];
            made[found - 1].count++;
        }
        *levels = made;
        *count = found;
    }
    free(cells);
    return made ? VXS_OK : VXS_FAILED;
}

vxs_status vxs_table_summarize(const vxs_table *table, size_t column, vxs_column_summary *summary,
                               vxs_error *err)
{
    vxs_level *levels = NULL;
    size_t present = 0;
    vxs_status status = VXS_GIVEN(err, { "table", table }, { "summary", summary });
    if (!status)
        status = vxs_index_check("column", column, vxs_table_columns(table), err);
    if (status)
        return status;
    *summary = (vxs_column_summary){ .missing = 0 };
    status = vxs_table_levels(table, column, &levels, &summary->distinct, err);
    if (status)
        return status;
    free(levels);
    const char **cells = present_cells(table, column, &present, err);
    if (!cells)
        return VXS_FAILED;
    summary->missing = vxs_table_rows(table) - present;
    summary->numeric = summarize_numbers(cells, present, summary);
    if (!summary->numeric)
        summary->min = summary->max = summary->mean = summary->sd = NAN;
    free(cells);
    return VXS_OK;
}
