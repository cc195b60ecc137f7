#include "tests/core/check.h"
#include "tests/core/faults.h"

/* a: numbers in several forms; dx: texts, one with a comma; two cells are missing. */
static const char text[] = "id\ta\tdx\t\"x=y\"\n"
                           "1\t60\tAD\t1\n"
                           "2\t60.0\tCN\t2\n"
                           "3\t61\t\"MCI, late\"\t2\n"
                           "4\tn/a\tAD\t3\n"
                           "5\t-1e1\t\t3\n"
                           "6\t060\tsay \"\"hi\t3\n";

static vxs_table *table_of(void)
{
    vxs_table *table = NULL;
    vxs_error err = VXS_ERROR_INIT;
    vxs_status status = vxs_table_parse(text, strlen(text), "t.tsv", &table, &err);
    cr_expect(status == VXS_OK, "%s", err.message);
    return table;
}

/* Ids of the rows that stay, "124"; "?" on failure. */
static void ids(const vxs_texts *only, const vxs_texts *exclude, char stay[16])
{
    vxs_table *table = table_of();
    vxs_row_filter f;
    vxs_error err = VXS_ERROR_INIT;
    vxs_status status = vxs_row_filter_make(&f, table, only, exclude, &err);
    size_t count = 0, left = 0;
    for (size_t row = 0; row < vxs_table_rows(table) && !status; row++) {
        left += f.by[row] == VXS_NO_FILTER;
        if (f.by[row] == VXS_NO_FILTER)
            stay[count++] = *vxs_table_cell(table, row, 0);
    }
    cr_expect(status || left == f.left, "%zu rows stay, %zu are said to", left, f.left);
    strcpy(stay + count, status ? "?" : "");
    vxs_row_filter_release(&f);
    vxs_table_free(table);
}

Test(row_filter, an_expression_holds_where_its_words_say)
{
    static const char *const rows[][2] = {
        { "a=60", "126" },
        { "a=60.0", "126" },
        { "a=6e1,61", "1236" },
        { "a!=60", "35" },
        { "a>60", "3" },
        { "a>=60", "1236" },
        { "a<60", "5" },
        { "a<=60", "1256" },
        { " a < 60 ", "5" },
        { "a=", "4" },
        { "a!=", "12356" },
        { "a=60,", "1246" },
        { "a=n/a", "4" },
        { "dx=AD", "14" },
        { "dx=AD,CN", "124" },
        { "dx = AD , CN", "124" },
        { "dx!=AD", "236" },
        { "dx=\"MCI, late\"", "3" },
        { "\"dx\"=\"AD\",CN", "124" },
        { "\"x=y\"=2", "23" },
        { "\"x=y\">1", "23456" },
        { "dx=\"\"", "5" },
        { "a>60.5", "3" },
        { "a<-9", "5" },
    };
    for (size_t k = 0; k < sizeof(rows) / sizeof(rows[0]); k++) {
        vxs_texts one = { .each = { rows[k][0] } }, none = { .each = { NULL } };
        char stay[16], rest[16], all[8] = "123456";
        ids(&one, &none, stay);
        cr_expect_str_eq(stay, rows[k][1], "%s keeps %s", rows[k][0], stay);
        ids(&none, &one, rest); /* what --only keeps and what --exclude keeps are all, once each */
        size_t at = 0;
        for (const char *c = all; *c; c++) {
            cr_expect(!strchr(stay, *c) != !strchr(rest, *c), "%s: row %c", rows[k][0], *c);
            at += strchr(rest, *c) != NULL;
        }
        cr_expect(at == strlen(rest), "%s: %s", rows[k][0], rest);
    }
}

Test(row_filter, all_only_hold_and_any_exclude_removes)
{
    vxs_texts only = { .each = { "dx=AD,CN", "a>=60" } },
              exclude = { .each = { "\"x=y\"=3", "dx=CN" } };
    char stay[16];
    ids(&only, &exclude, stay);
    cr_expect_str_eq(stay, "1");
}

static void refuse(const char *expression, vxs_status wanted, const char *words)
{
    vxs_table *table = table_of();
    vxs_texts one = { .each = { expression } }, none = { .each = { NULL } };
    vxs_row_filter f;
    vxs_error err = VXS_ERROR_INIT;
    REFUSES(vxs_row_filter_make(&f, table, &one, &none, &err), err, wanted, words);
    vxs_row_filter_release(&f);
    vxs_table_free(table);
}

Test(row_filter, refuses_what_it_cannot_mean)
{
    refuse("dx", VXS_MISUSE, "takes COLUMN=A,B");
    refuse("=AD", VXS_MISUSE, "takes COLUMN=A,B");
    refuse("", VXS_MISUSE, "takes COLUMN=A,B");
    refuse("dx==AD", VXS_MISUSE, "not 'dx==AD'");
    refuse("dx=\"AD", VXS_MISUSE, "takes COLUMN=A,B");
    refuse("dx=\"AD\"x", VXS_MISUSE, "takes COLUMN=A,B");
    refuse("a>old", VXS_MISUSE, "no number");
    refuse("a>", VXS_MISUSE, "no number");
    refuse("a>1,2", VXS_MISUSE, "no number");
    refuse("dy=AD", VXS_BAD_DATA, "'t.tsv' has no column 'dy'; did you mean 'dx'?");
    refuse("dx=AB", VXS_BAD_DATA, "did you mean 'AD'?); it has 'AD', 'CN', 'MCI, late'");
    refuse("dx!=zzzzz", VXS_BAD_DATA, "no row has the value 'zzzzz' in column 'dx'; it has 'AD'");
    refuse("dx>1", VXS_BAD_DATA, "'t.tsv' line 2, column 'dx': 'AD' is not a number");
    refuse("a>99", VXS_BAD_DATA, "no row is left of the 6 rows of 't.tsv': --only a>99 leaves 0");
}

static vxs_table *kept;
static vxs_status filter_kept(vxs_error *err)
{
    vxs_texts only = { .each = { "dx=AD,CN" } }, exclude = { .each = { "a>60" } };
    vxs_row_filter f;
    vxs_status status = vxs_row_filter_make(&f, kept, &only, &exclude, err);
    vxs_row_filter_release(&f);
    return status;
}

Test(row_filter, survives_every_failing_request)
{
    kept = table_of();
    cr_expect(fail_each_request(filter_kept) > 3, "requests");
    vxs_table_free(kept);
}
