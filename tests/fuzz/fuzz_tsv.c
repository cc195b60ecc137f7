/* fuzz_tsv.c - a table that is read can be written, and read again as the same cells. */
#include "tests/fuzz/fuzz.h"

static char *rewrite(const vxs_table *table, size_t *length)
{
    char *text = NULL;
    FILE *stream = open_memstream(&text, length);
    vxs_tsv_writer writer;
    HOLDS(stream);
    vxs_tsv_init(&writer, stream);
    for (size_t j = 0; j < vxs_table_columns(table); j++)
        vxs_tsv_text(&writer, vxs_table_header(table, j));
    vxs_tsv_end_row(&writer);
    for (size_t i = 0; i < vxs_table_rows(table); i++) {
        for (size_t j = 0; j < vxs_table_columns(table); j++)
            vxs_tsv_text(&writer, vxs_table_cell(table, i, j));
        vxs_tsv_end_row(&writer);
    }
    HOLDS(fclose(stream) == 0);
    return text;
}

static void look_at_everything(const vxs_table *table)
{
    for (size_t j = 0; j < vxs_table_columns(table); j++) {
        vxs_column_summary s;
        HOLDS(vxs_table_summarize(table, j, &s, NULL) == VXS_OK);
        HOLDS(s.missing + s.distinct <= vxs_table_rows(table));
        HOLDS(!s.numeric || (s.min <= s.max && s.distinct > 0));
    }
    for (size_t i = 1; i < vxs_table_rows(table); i++)
        HOLDS(vxs_table_line(table, i) > vxs_table_line(table, i - 1));
}

/* Cells that start with a quote may be read differently when they come back without their own. */
static bool plain(const vxs_table *table)
{
    for (size_t j = 0; j < vxs_table_columns(table); j++) {
        const char *name = vxs_table_header(table, j);
        if (!*name || strpbrk(name, "\"\t\n\r"))
            return false;
        for (size_t i = 0; i < vxs_table_rows(table); i++) {
            const char *cell = vxs_table_cell(table, i, j);
            if (cell && strpbrk(cell, "\"\t\n\r"))
                return false;
        }
    }
    return vxs_table_columns(table) > 1;
}

int fuzz_tsv(const uint8_t *bytes, size_t size)
{
    vxs_error err = VXS_ERROR_INIT;
    vxs_table *table = NULL, *again = NULL;
    if (vxs_table_parse((const char *)bytes, size, "fuzz", &table, &err)) {
        REFUSED_WELL(err);
        return 0;
    }
    look_at_everything(table);
    if (plain(table)) {
        size_t once = 0, twice = 0;
        char *text = rewrite(table, &once);
        HOLDS(vxs_table_parse(text, once, "again", &again, &err) == VXS_OK);
        char *same = rewrite(again, &twice);
        HOLDS(once == twice && memcmp(text, same, once) == 0);
        free(same);
        free(text);
    }
    vxs_table_free(again);
    vxs_table_free(table);
    return 0;
}

FUZZER(fuzz_tsv)
