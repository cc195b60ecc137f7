#include "tests/core/check.h"
#include "tests/core/faults.h"

static vxs_status parse(const char *text, vxs_table **table, vxs_error *err)
{
    *table = NULL;
    return vxs_table_parse(text, strlen(text), "t.tsv", table, err);
}

/* Cells with "|" between and ";" behind rows, missing ones as "-": easy to compare. */
static void flatten(FILE *out, void *data)
{
    const vxs_table *t = data;
    for (size_t j = 0; j < vxs_table_columns(t); j++)
        fprintf(out, "%s|", vxs_table_header(t, j));
    fputc(';', out);
    for (size_t i = 0; i < vxs_table_rows(t); i++, fputc(';', out))
        for (size_t j = 0; j < vxs_table_columns(t); j++)
            fprintf(out, "%s|", vxs_table_cell(t, i, j) ? vxs_table_cell(t, i, j) : "-");
}

/* What people have, and what it means. */
Test(tsv, forgives_what_real_tables_have)
{
    static const char *const rows[][2] = {
        { "a\tb\n1\t2\n", "a|b|;1|2|;" },
        { "a\tb\n1\t2", "a|b|;1|2|;" },
        { "\xef\xbb\xbf"
          "a\tb\n1\t2\n",
          "a|b|;1|2|;" },
        { "\"a\",\"b\"\r\n\"1\",\"2\"\r\n", "a|b|;1|2|;" }, /* Excel */
        { "a\tb\n1\t\"2\"", "a|b|;1|2|;" },
        { "a\tb\n#N/A\t<NA>\n", "a|b|;-|-|;" },
        { "a,b;c\n1,2\n", "a|b;c|;1|2|;" },
        { "a,b\n\t1\t,2\xef\xbb\xbf\n", "a|b|;1|2|;" },
        { "id;\"height, cm\"\n1;180,5\n", "id|height, cm|;1|180,5|;" },
        { "\"a\tx\",b\n1,2\n", "a x|b|;1|2|;" },
        { "a\tb\r\n1\t2\r\n", "a|b|;1|2|;" },
        { "a\tb\r1\t2\r", "a|b|;1|2|;" },
        { "a \t b\n 1 \t2  \n", "a|b|;1|2|;" },
        { "a\tb\n1\xc2\xa0\t\xc2\xa0"
          "2\n",
          "a|b|;1|2|;" },
        { "a\tb\t\t\n1\t2\t\t\n", "a|b|;1|2|;" },
        { "a\tb\n1\t2\t\n", "a|b|;1|2|;" },
        { "\n\na\tb\n\n1\t2\n\n\t\n  \n", "a|b|;1|2|;" },
        { "a\tb\nn/a\tNA\nNaN\t\nnull\t.\n", "a|b|;-|-|;-|-|;-|-|;" },
        { "\"a\"\t\"b\"\n\"1\"\t\"x y\"\n", "a|b|;1|x y|;" },
        { "\" a \"\tb\n\" 1\xc2\xa0\"\t\" \"\n", "a|b|;1|-|;" },
        { "a\tb\n\"say \"\"hi\"\"\"\t2\n", "a|b|;say \"hi\"|2|;" },
        { "a\tb\n\"two\nlines\"\t2\n3\t4\n", "a|b|;two lines|2|;3|4|;" },
        { "a\tb\n\"quoted\" not whole\t5\" nail\n", "a|b|;\"quoted\" not whole|5\" nail|;" },
        { "a\tb\n\"\"\t\"n/a\"\n3\t\"\"\n", "a|b|;-|-|;3|-|;" },
        { "\tage\n0\t61\n", "|age|;0|61|;" }, /* a data frame's index */
        { "\n\xef\xbb\xbf"
          "a\tb\n\xef\xbb\xbf"
          "1\t2\n",
          "a|b|;1|2|;" },
        { "a,b\n1,2\n", "a|b|;1|2|;" },
        { "a,b\n\"1,5\",2\n", "a|b|;1,5|2|;" },
        { "a;b\n1,5;2\n", "a|b|;1,5|2|;" },
        { "a\tb,c\n1\t2\n", "a|b,c|;1|2|;" },
        { "labels chunks\nrest 0\nface  1\n\n", "labels|chunks|;rest|0|;face|1|;" },
        { "two words\nx y\nz\n", "two words|;x y|;z|;" },
        { "only\nx y\nz\n", "only|;x y|;z|;" },
        { "a\tb\n", "a|b|;" },
        { "diagnosis\nNone\n", "diagnosis|;None|;" },
    };
    vxs_error err = VXS_ERROR_INIT;
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        vxs_table *table = NULL;
        WORKS(parse(rows[i][0], &table, &err), err);
        char *flat = printed(flatten, table);
        cr_assert_str_eq(flat, rows[i][1], "row %zu: '%s' became '%s'", i, rows[i][0], flat);
        free(flat);
        vxs_table_free(table);
    }
}

Test(tsv, a_file_without_a_header_gets_one)
{
    static const char *const rows[][2] = {
        { "rest 0\nface 1\n", "condition|run|;rest|0|;face|1|;" },
        { "rest\t0\nface\t1\n", "condition|run|;rest|0|;face|1|;" },
        { "rest,0\r\nface,1\r\n", "condition|run|;rest|0|;face|1|;" },
    };
    char path[512];
    vxs_error err = VXS_ERROR_INIT;
    vxs_table *table = NULL;
    work_path(path, "bare.txt");
    for (size_t i = 0; i < 3; i++) {
        write_bytes(path, rows[i][0], strlen(rows[i][0]));
        WORKS(vxs_table_read_bare(path, "condition,run", &table, &err), err);
        char *flat = printed(flatten, table);
        cr_assert_str_eq(flat, rows[i][1]);
        cr_assert(vxs_table_line(table, 0) == 1 && vxs_table_line(table, 1) == 2);
        free(flat);
        vxs_table_free(table);
    }
    REFUSES(vxs_table_read_bare(path, "only", &table, &err), err, VXS_BAD_DATA, "cells");
    unlink(path);
}

Test(tsv, refuses_what_cannot_be_meant)
{
    static const char *const rows[][2] = {
        { "", "it is empty" },
        { "\xfe\xff\n", "line 1 is UTF-16" },
        { "\n \n\r\n", "it is empty" },
        { "a\tb\n1\t2\n3\n", "line 3 has 1 cells, the header has 2" },
        { "a\tb\n1\t2\t3\n", "line 2 has 3 cells, the header has 2" },
        { "a\tb\n\"x\ny\"\t2\n3\n", "line 4 has 1 cells" },
        { "a\tb\n1\t\"2\n", "line 2 opens a quote that is never closed" },
        { "a\tb\n1\t2\nx\t\xfc\n", "line 3 is not UTF-8" },
        { "\xff\xfe"
          "a\n",
          "line 1 is UTF-16" },
    };
    vxs_error err = VXS_ERROR_INIT;
    vxs_table *table = NULL;
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        REFUSES(parse(rows[i][0], &table, &err), err, VXS_BAD_DATA, rows[i][1]);
        cr_assert_null(table);
    }
    REFUSES(vxs_table_parse("a\n\0\n", 4, "t", &table, &err), err, VXS_BAD_DATA,
            "line 2 holds a zero byte");
    REFUSES(vxs_table_read("/nowhere.tsv", &table, &err), err, VXS_MISSING, "/nowhere.tsv");
}

Test(tsv, finds_columns_by_name_or_says_which_is_near)
{
    vxs_error err = VXS_ERROR_INIT;
    vxs_table *table = NULL;
    size_t column = 99;
    WORKS(parse("participant_id\tage\tsex\tage\n1\t2\tF\t4\n", &table, &err), err);
    WORKS(vxs_table_find(table, "sex", &column, &err), err);
    cr_assert(column == 2);
    REFUSES(vxs_table_find(table, "age", &column, &err), err, VXS_BAD_DATA,
            "'t.tsv' has two columns 'age', number 2 and 4");
    REFUSES(vxs_table_find(table, "Participant_ID", &column, &err), err, VXS_BAD_DATA,
            "did you mean 'participant_id'?");
    REFUSES(vxs_table_find(table, "xyzzy", &column, &err), err, VXS_BAD_DATA, "no column 'xyzzy'");
    vxs_table_free(table);
    vxs_table_free(NULL);
}

Test(tsv, numbers_name_their_line_when_they_are_none)
{
    vxs_error err = VXS_ERROR_INIT;
    vxs_table *table = NULL;
    double value = 0;
    WORKS(parse("id\tage\n\na\t61.5\nb\tn/a\nc\t6l\n", &table, &err), err);
    WORKS(vxs_table_real(table, 0, 1, &value, &err), err);
    cr_assert(value == 61.5);
    WORKS(vxs_table_real(table, 1, 1, &value, &err), err);
    cr_assert(isnan(value));
    REFUSES(vxs_table_real(table, 2, 1, &value, &err), err, VXS_BAD_DATA,
            "'t.tsv' line 5, column 'age': '6l' is not a number");
    vxs_table_free(table);
}

Test(tsv, a_column_is_summed_up)
{
    vxs_error err = VXS_ERROR_INIT;
    vxs_table *table = NULL;
    vxs_column_summary s;
    WORKS(parse("x\tg\te\n1e9\tF\tn/a\n1000000001\tM\t\n1000000002\tF\tNA\nn/a\tF\t.\n", &table,
                &err),
          err);
    WORKS(vxs_table_summarize(table, 0, &s, &err), err);
    cr_assert(s.numeric && s.missing == 1 && s.distinct == 3 && s.min == 1e9 && s.max == 1e9 + 2);
    cr_assert(s.mean == 1e9 + 1 && fabs(s.sd - 1) < 1e-9, "sd %g far from zero", s.sd);
    WORKS(vxs_table_summarize(table, 1, &s, &err), err);
    cr_assert(!s.numeric && s.missing == 0 && s.distinct == 2 && isnan(s.mean) && isnan(s.min));
    WORKS(vxs_table_summarize(table, 2, &s, &err), err);
    cr_assert(!s.numeric && s.missing == 4 && s.distinct == 0);
    vxs_level *levels = NULL;
    size_t count = 0;
    WORKS(vxs_table_levels(table, 1, &levels, &count, &err), err);
    cr_assert(count == 2 && levels[0].count == 3 && levels[1].count == 1);
    cr_assert_str_eq(levels[0].text, "F");
    free(levels);
    vxs_table_free(table);
}

/* What is written is read back, whatever stands in the cells. */
static void write_table(FILE *stream, void *data)
{
    (void)data;
    vxs_tsv_writer w;
    vxs_tsv_init(&w, stream);
    vxs_tsv_text(&w, "a");
    vxs_tsv_text(&w, "b");
    vxs_tsv_end_row(&w);
    vxs_tsv_text(&w, "tab\tand\nline");
    vxs_tsv_real(&w, 0.1);
    vxs_tsv_end_row(&w);
    vxs_tsv_text(&w, NULL);
    vxs_tsv_real(&w, NAN);
    vxs_tsv_end_row(&w);
    vxs_tsv_text(&w, "\"left\" or right");
    vxs_tsv_real(&w, -1e-300);
    vxs_tsv_end_row(&w);
}

Test(tsv, writes_what_it_reads)
{
    char *text = printed(write_table, NULL);
    cr_assert_str_eq(text, "a\tb\ntab and line\t0.1\nn/a\tn/a\n"
                           "\"\"\"left\"\" or right\"\t-1e-300\n");
    vxs_error err = VXS_ERROR_INIT;
    vxs_table *table = NULL;
    WORKS(parse(text, &table, &err), err);
    cr_assert_str_eq(vxs_table_cell(table, 2, 0), "\"left\" or right");
    vxs_table_free(table);
    free(text);
}

static vxs_status read_and_sum(vxs_error *err)
{
    vxs_table *table = NULL;
    vxs_column_summary s;
    size_t column = 0;
    char text[3000] = "a\tb\n";
    for (int i = 0; i < 200; i++) /* more rows than the first room */
        strcat(text, "1\tx\n");
    vxs_status status = parse(text, &table, err);
    if (!status)
        status = vxs_table_summarize(table, 1, &s, err);
    if (!status && vxs_table_find(table, "c", &column, err) == VXS_BAD_DATA) {
        if (err->status == VXS_BAD_DATA)
            *err = (vxs_error)VXS_ERROR_INIT;
    } else if (!status) {
        status = VXS_FAILED;
    }
    vxs_table_free(table);
    return status;
}

Test(tsv, memory_may_run_out_on_the_way)
{
    cr_assert(fail_each_request(read_and_sum) >= 8);
}
