#include "tests/core/check.h"

#include <locale.h>

Test(number, takes_decimals_only)
{
    static const char *const good[] = { "0", "-1", "+2.5", ".5", "5.", "1e3", "1E-3", "0012" };
    static const char *const bad[] = { "",      " 1",  "1 ",  "nan", "inf", "-inf", "0x10", "1e",
                                       "1e400", "abc", "1,5", "--1", ".",   "e5",   "1.2.3" };
    double value = 0;
    for (size_t i = 0; i < sizeof(good) / sizeof(good[0]); i++) {
        cr_assert(vxs_parse_real(good[i], &value), "%s", good[i]);
        cr_assert(value == strtod(good[i], NULL));
    }
    for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++)
        cr_assert(!vxs_parse_real(bad[i], &value), "'%s' was taken", bad[i]);
    cr_assert(!vxs_parse_real(NULL, &value));
}

Test(number, lists_have_commas_between)
{
    static const char *const bad[] = {
        "", ",", "1,", ",1", "1,,2", "1, 2", "1;2", "1,x", "1,2,3,4"
    };
    double values[3];
    size_t count = 0;
    cr_assert(vxs_parse_reals("1,-2.5,3e2", values, 3, &count) && count == 3);
    cr_assert(values[0] == 1 && values[1] == -2.5 && values[2] == 300);
    cr_assert(vxs_parse_reals("7", values, 3, &count) && count == 1 && values[0] == 7);
    for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++)
        cr_assert(!vxs_parse_reals(bad[i], values, 3, &count), "'%s' was taken", bad[i]);
    cr_assert(!vxs_parse_reals(NULL, values, 3, &count));
}

Test(number, whole_numbers_are_exact_or_refused)
{
    int64_t value = 0;
    cr_assert(vxs_parse_whole("9223372036854775807", &value) && value == INT64_MAX);
    cr_assert(vxs_parse_whole("-9223372036854775808", &value) && value == INT64_MIN);
    cr_assert(vxs_parse_whole("+7", &value) && value == 7);
    static const char *const bad[] = {
        "", "9223372036854775808", "1.0", "1e3", " 1", "1 ", "-", "+-1", "0x1", "1-2"
    };
    for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++)
        cr_assert(!vxs_parse_whole(bad[i], &value), "'%s' was taken", bad[i]);
}

Test(number, sizes_have_units)
{
    int64_t value = 0;
    cr_assert(vxs_parse_bytes("1024", &value) && value == 1024);
    cr_assert(vxs_parse_bytes("500K", &value) && value == 512000);
    cr_assert(vxs_parse_bytes("2g", &value) && value == 2147483648);
    cr_assert(vxs_parse_bytes("1T", &value) && value == 1099511627776);
    static const char *const bad[] = { "", "G", "2GB", "1.5G", "-1G", "9999999999G", "nan" };
    for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++)
        cr_assert(!vxs_parse_bytes(bad[i], &value), "'%s' was taken", bad[i]);
}

/* Every double comes back from its own text, in the shortest form that does. */
Test(number, text_reads_back_to_the_bit)
{
    const vxs_random random = { 5, 5 };
    char text[VXS_REAL_TEXT], shorter[64];
    for (uint64_t i = 0; i < 20000; i++) {
        uint64_t bits = vxs_random_bits(&random, i);
        double value = 0, back = 0;
        memcpy(&value, &bits, sizeof(value));
        if (!isfinite(value))
            continue;
        cr_assert(vxs_parse_real(vxs_real_text(value, text), &back) && back == value, "%s", text);
        const char *e = strchr(text, 'e');
        int digits = 0;
        for (const char *c = text; *c && c != e; c++)
            digits += (*c >= '0' && *c <= '9') && (digits || *c != '0');
        snprintf(shorter, sizeof(shorter), "%.*e", digits - 2, value);
        cr_assert(digits < 2 || strtod(shorter, NULL) != value, "%s could be shorter", text);
    }
}

Test(number, text_is_what_people_write)
{
    static const struct {
        double value;
        const char *text;
    } rows[] = { { 100, "100" },      { 1e7, "10000000" },  { 0.1, "0.1" }, { -2.5, "-2.5" },
                 { 1e-6, "1e-06" },   { 1e300, "1e+300" },  { 0, "0" },     { NAN, "nan" },
                 { INFINITY, "inf" }, { -INFINITY, "-inf" } };
    char text[VXS_REAL_TEXT];
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++)
        cr_assert_str_eq(vxs_real_text(rows[i].value, text), rows[i].text);
}

static void remove_folder(const char *folder)
{
    char command[600];
    snprintf(command, sizeof(command), "rm -rf '%s'", folder);
    cr_assert(system(command) == 0);
}

/* The library may sit in a program that speaks German; a machine may have no such locale, so one
 * is made. */
Test(number, the_locale_changes_nothing)
{
    char folder[512], command[3000];
    work_path(folder, "locales");
    snprintf(command, sizeof(command),
             "mkdir -p '%s' && printf 'LC_NUMERIC\\ndecimal_point \",\"\\nthousands_sep \".\"\\n"
             "grouping 3\\nEND LC_NUMERIC\\n' > '%s/source' && "
             "localedef -c -i '%s/source' -f UTF-8 '%s/xx_XX.UTF-8' > /dev/null 2>&1",
             folder, folder, folder, folder);
    int made = system(command);
    setenv("LOCPATH", folder, 1);
    if (made < 0 || !setlocale(LC_NUMERIC, "xx_XX.UTF-8")) {
        remove_folder(folder);
        cr_skip_test("localedef is not here");
    }
    char text[VXS_REAL_TEXT], plain[32];
    snprintf(plain, sizeof(plain), "%g", 1.5);
    cr_assert_str_eq(plain, "1,5", "the locale is not in force, so this test would prove nothing");
    double value = 0;
    cr_assert(vxs_parse_real("2.25", &value) && value == 2.25);
    cr_assert_str_eq(vxs_real_text(1.5, text), "1.5");
    setlocale(LC_NUMERIC, "C");
    remove_folder(folder);
}

Test(number, has_three_significant_digits_to_read)
{
    static const struct {
        double value;
        const char *score, *sign, *brief;
    } rows[] = {
        { 0.8, "0.800", "+0.800", "0.8" },
        { 0.89684, "0.897", "+0.897", "0.897" },
        { 1, "1.00", "+1.00", "1" },
        { -0.01234, "-0.0123", "-0.0123", "-0.0123" },
        { 12.345, "12.3", "+12.3", "12.3" },
        { 123.45, "123", "+123", "123" },
        { 1234.5, "1234", "+1234", "1.23e+03" },
        { 99.96, "100", "+100", "100" },
        { 0.0000123, "1.23e-05", "+1.23e-05", "1.23e-05" },
        { NAN, "unknown", "unknown", "nan" },
        { -0.0, "0.00", "+0.00", "0" },
        { 75000, "75000", "+75000", "75000" },
    };
    char text[VXS_REAL_TEXT];
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        cr_assert_str_eq(vxs_score_text(rows[i].value, false, text), rows[i].score, "%s", text);
        cr_assert_str_eq(vxs_score_text(rows[i].value, true, text), rows[i].sign, "%s", text);
        cr_assert_str_eq(vxs_short_text(rows[i].value, text), rows[i].brief, "%s", text);
    }
}

Test(number, mm_have_a_tenth_and_shares_are_whole_per_cents)
{
    char text[VXS_REAL_TEXT];
    cr_assert_str_eq(vxs_mm_text(41.87010468, text), "41.9");
    cr_assert_str_eq(vxs_mm_text(-0.04, text), "0.0");
    cr_assert_str_eq(vxs_mm_text(-7, text), "-7.0");
    cr_assert(vxs_round_percent(7.8877) == 8 && vxs_round_percent(100) == 100);
    cr_assert(vxs_round_mm(41.87010468) == 41.9);
    cr_assert(!signbit(vxs_round_mm(-0.01)) && !signbit(vxs_round_percent(-0.2)));
}
