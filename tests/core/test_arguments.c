/* Arguments that are none: a call that can fail names them in one line, an accessor has a safe
 * answer. Each room has such a file; tests/solver/test_misuse.c has problems and solutions. */
#include "tests/core/check.h"

#define NULL_IS(name) "argument '" name "' is NULL"

static vxs_table *small_table(void)
{
    static const char text[] = "id\tage\ns1\t60\ns2\tn/a\n";
    vxs_error err = VXS_ERROR_INIT;
    vxs_table *table = NULL;
    WORKS(vxs_table_parse(text, sizeof(text) - 1, "small.tsv", &table, &err), err);
    return table;
}

Test(arguments, of_errors_and_parameters)
{
    static const char *const ways[] = { "one", "two", NULL };
    struct {
        int way;
        double real;
        int64_t whole;
        const char *text;
        vxs_texts texts;
        bool flag;
    } v = { .way = 0 };
    static const vxs_param none[] = { { .name = NULL } };
    const vxs_param way = VXS_CHOICE_ROW("way", "WAY", 0, 0, ways, "a way");
    vxs_param bare = way, real = VXS_REAL_ROW("real", "X", 8, 0, 0, 1, "a number"), odd = real;
    vxs_error err = VXS_ERROR_INIT;
    bare.choices = NULL;
    odd.type = (vxs_param_type)77;
    cr_assert(vxs_fail(NULL, VXS_FAILED, "x") == VXS_FAILED);
    REFUSES(vxs_fail(&err, VXS_FAILED, NULL), err, VXS_FAILED, "no message");
    vxs_params_defaults(NULL, &v);
    vxs_params_defaults(none, NULL);
    REFUSES(vxs_param_set(NULL, &v, "one", &err), err, VXS_MISUSE, NULL_IS("param"));
    REFUSES(vxs_param_set(&way, NULL, "one", &err), err, VXS_MISUSE, NULL_IS("values"));
    REFUSES(vxs_param_set(&way, &v, NULL, &err), err, VXS_MISUSE, NULL_IS("text"));
    REFUSES(vxs_param_set(&real, &v, NULL, &err), err, VXS_MISUSE, NULL_IS("text"));
    REFUSES(vxs_param_set(&bare, &v, "one", &err), err, VXS_MISUSE, NULL_IS("param->choices"));
    REFUSES(vxs_param_set(&odd, &v, "one", &err), err, VXS_MISUSE, "'--real'");
}

Test(arguments, settings_that_programs_made)
{
    struct {
        double real;
        int64_t whole;
        vxs_texts texts;
    } v = { .real = 0 };
    const vxs_param table[] = { VXS_REAL_ROW("real", "X", 0, NAN, 0.5, 1, "a number"),
                                VXS_WHOLE_ROW("whole", "N", 8, 3, 2, 9, "a whole number"),
                                VXS_TEXTS_ROW("texts", "TEXT", 16, "texts"),
                                { .name = NULL } };
    static const double bad[] = { -1, 2, INFINITY, -INFINITY };
    static const int64_t wrong[] = { -1, 1, 10, INT64_MIN, INT64_MAX };
    vxs_error err = VXS_ERROR_INIT;
    WORKS(vxs_params_check_numbers(table, &v, &err), err);
    vxs_params_defaults(table, &v);
    WORKS(vxs_params_check_numbers(table, &v, &err), err);
    for (size_t k = 0; k < sizeof(bad) / sizeof(bad[0]); k++) {
        v.real = bad[k];
        REFUSES(vxs_params_check_numbers(table, &v, &err), err, VXS_MISUSE, "setting 'real' is");
    }
    v.real = 1;
    for (size_t k = 0; k < sizeof(wrong) / sizeof(wrong[0]); k++) {
        v.whole = wrong[k];
        REFUSES(vxs_params_check_numbers(table, &v, &err), err, VXS_MISUSE, "setting 'whole' is");
    }
    for (size_t k = 0; k <= VXS_MOST_TEXTS; k++)
        v.texts.each[k] = "text";
    REFUSES(vxs_params_check_choices(table, &v, &err), err, VXS_MISUSE,
            "setting 'texts' has more than 16 texts");
}

Test(arguments, of_tables)
{
    vxs_error err = VXS_ERROR_INIT;
    vxs_table *table = small_table(), *none = NULL;
    vxs_column_summary summary;
    double value = 0;
    size_t column = 0;
    REFUSES(vxs_table_read(NULL, &none, &err), err, VXS_MISUSE, NULL_IS("path"));
    REFUSES(vxs_table_read("x.tsv", NULL, &err), err, VXS_MISUSE, NULL_IS("table"));
    REFUSES(vxs_table_find(NULL, "age", &column, &err), err, VXS_MISUSE, NULL_IS("table"));
    REFUSES(vxs_table_find(table, NULL, &column, &err), err, VXS_MISUSE, NULL_IS("name"));
    REFUSES(vxs_table_find(table, "age", NULL, &err), err, VXS_MISUSE, NULL_IS("column"));
    REFUSES(vxs_table_real(NULL, 0, 0, &value, &err), err, VXS_MISUSE, NULL_IS("table"));
    REFUSES(vxs_table_real(table, 0, 1, NULL, &err), err, VXS_MISUSE, NULL_IS("value"));
    REFUSES(vxs_table_real(table, 2, 1, &value, &err), err, VXS_MISUSE,
            "there is no row number 2 of 2");
    REFUSES(vxs_table_real(table, SIZE_MAX, 1, &value, &err), err, VXS_MISUSE, "no row number");
    REFUSES(vxs_table_real(table, 0, 2, &value, &err), err, VXS_MISUSE,
            "there is no column number 2 of 2");
    REFUSES(vxs_table_summarize(NULL, 0, &summary, &err), err, VXS_MISUSE, NULL_IS("table"));
    REFUSES(vxs_table_summarize(table, 0, NULL, &err), err, VXS_MISUSE, NULL_IS("summary"));
    REFUSES(vxs_table_summarize(table, SIZE_MAX, &summary, &err), err, VXS_MISUSE,
            "no column number");
    cr_assert(vxs_table_rows(NULL) == 0 && vxs_table_columns(NULL) == 0);
    cr_assert(!vxs_table_header(NULL, 0) && !vxs_table_header(table, 2));
    cr_assert(!vxs_table_cell(NULL, 0, 0) && !vxs_table_cell(table, 0, SIZE_MAX));
    cr_assert(!vxs_table_cell(table, 2, 0) && !vxs_table_cell(table, SIZE_MAX, 0));
    cr_assert(!vxs_table_cell(table, 1, 1) && vxs_table_cell(table, 1, 0));
    vxs_table_free(NULL);
    vxs_table_free(table);
}
