/* info_table.c - describes the columns of a table. */
#include "cli/info.h"

#include <stdlib.h>
#include <string.h>

#define LEVELS_SHOWN 12 /* columns with more different values show their number only */

typedef struct {
    vxs_column_summary summary;
    vxs_level *levels; /* NULL for numeric columns and for too many values */
} column_facts;

static vxs_status scan_column(const vxs_table *table, size_t j, column_facts *facts, vxs_error *err)
{
    size_t count = 0;
    vxs_status status = vxs_table_summarize(table, j, &facts->summary, err);
    bool few = facts->summary.distinct <= LEVELS_SHOWN;
    if (!status && !facts->summary.numeric && few)
        status = vxs_table_levels(table, j, &facts->levels, &count, err);
    return status;
}

static void print_column(FILE *out, const char *name, const column_facts *facts)
{
    const vxs_column_summary *s = &facts->summary;
    fputs("  ", out);
    vxs_print_clean(out, name);
    fprintf(out, "%*s %-7s %8zu  ", (int)(strlen(name) < 20 ? 20 - strlen(name) : 0), "",
            s->numeric ? "number" : "text", s->missing);
    if (s->numeric)
        fprintf(out, "%.6g to %.6g, mean %.4g, sd %.4g", s->min, s->max, s->mean, s->sd);
    else if (s->distinct == 0)
        fputs("nothing", out);
    else if (!facts->levels)
        fprintf(out, "%zu different values", s->distinct);
    for (size_t i = 0; facts->levels && i < s->distinct; i++) {
        fputs(i ? ", " : "", out);
        vxs_print_clean(out, facts->levels[i].text);
        fprintf(out, " %zu", facts->levels[i].count);
    }
    fputc('\n', out);
}

static void print_column_json(vxs_json_writer *writer, const char *name, const column_facts *facts)
{
    const vxs_column_summary *s = &facts->summary;
    vxs_json_open_object(writer, NULL);
    vxs_json_text(writer, "name", name);
    vxs_json_text(writer, "kind", s->numeric ? "number" : "text");
    vxs_json_whole(writer, "missing", (int64_t)s->missing);
    vxs_json_whole(writer, "distinct", (int64_t)s->distinct);
    vxs_json_real(writer, "min", s->min);
    vxs_json_real(writer, "max", s->max);
    vxs_json_real(writer, "mean", s->mean);
    vxs_json_real(writer, "sd", s->sd);
    if (facts->levels) {
        vxs_json_open_array(writer, "values");
        for (size_t i = 0; i < s->distinct; i++) {
            vxs_json_open_object(writer, NULL);
            vxs_json_text(writer, "value", facts->levels[i].text);
            vxs_json_whole(writer, "count", (int64_t)facts->levels[i].count);
            vxs_json_close_object(writer);
        }
        vxs_json_close_array(writer);
    }
    vxs_json_close_object(writer);
}

/* Warns of duplicate ids, which lead to wrong joins. */
static void warn_of_twins(const vxs_call *call, const vxs_table *table, size_t j,
                          const vxs_column_summary *s)
{
    size_t present = vxs_table_rows(table) - s->missing;
    if (strcmp(vxs_table_header(table, j), "participant_id") != 0)
        return;
    if (s->distinct < present)
        vxs_log(call->context, VXS_LOG_WARNING,
                "'%s': column participant_id repeats values in %zu row%s", call->operands[0],
                present - s->distinct, vxs_plural(present - s->distinct));
    if (s->missing > 0)
        vxs_log(call->context, VXS_LOG_WARNING, "'%s': no participant_id in %zu row%s",
                call->operands[0], s->missing, vxs_plural(s->missing));
}

static vxs_status print_columns(const vxs_call *call, const vxs_table *table,
                                vxs_json_writer *writer, vxs_error *err)
{
    vxs_status status = VXS_OK;
    for (size_t j = 0; j < vxs_table_columns(table) && !status; j++) {
        column_facts facts = { .levels = NULL };
        status = vxs_check_interrupted(call->context, err);
        if (!status)
            status = scan_column(table, j, &facts, err);
        if (!status && writer)
            print_column_json(writer, vxs_table_header(table, j), &facts);
        else if (!status)
            print_column(call->out, vxs_table_header(table, j), &facts);
        if (!status)
            warn_of_twins(call, table, j, &facts.summary);
        free(facts.levels);
    }
    return status;
}

vxs_status vxs_info_table(const vxs_call *call, vxs_error *err)
{
    const char *path = call->operands[0];
    vxs_table *table = NULL;
    vxs_json_writer writer;
    vxs_status status = vxs_table_read(path, &table, err);
    if (status)
        return status;
    if (call->shared->json) {
        vxs_json_init(&writer, call->out);
        vxs_json_open_object(&writer, NULL);
        vxs_json_text(&writer, "kind", "table");
        vxs_json_whole(&writer, "rows", (int64_t)vxs_table_rows(table));
        vxs_json_open_array(&writer, "columns");
        status = print_columns(call, table, &writer, err);
        vxs_json_close_array(&writer);
        vxs_close_json(call, &writer);
    } else {
        fprintf(call->out, "'%s' is a table of %zu row%s and %zu column%s.\n\n  %-20s %-7s %8s\n",
                path, vxs_table_rows(table), vxs_plural(vxs_table_rows(table)),
                vxs_table_columns(table), vxs_plural(vxs_table_columns(table)), "column", "kind",
                "missing");
        status = print_columns(call, table, NULL, err);
    }
    vxs_table_free(table);
    return status;
}
