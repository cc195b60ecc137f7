#include "tests/core/check.h"

Test(error, keeps_the_first_message)
{
    vxs_error err = VXS_ERROR_INIT;
    cr_assert(vxs_fail(&err, VXS_MISSING, "first %d", 1) == VXS_MISSING);
    cr_assert(vxs_fail(&err, VXS_BAD_DATA, "second") == VXS_BAD_DATA);
    cr_assert(err.status == VXS_MISSING);
    cr_assert_str_eq(err.message, "first 1");
}

Test(error, nobody_need_listen)
{
    cr_assert(vxs_fail(NULL, VXS_FAILED, "%s", "x") == VXS_FAILED);
}

Test(error, is_one_line_whatever_the_file_is_called)
{
    vxs_error err = VXS_ERROR_INIT;
    vxs_fail(&err, VXS_MISSING, "cannot read '%s'", "a\nb\x1b[31m\tc\x7f");
    cr_assert_str_eq(err.message, "cannot read 'a<U+000A>b<U+001B>[31m<U+0009>c<U+007F>'");
}

Test(error, is_cut_between_characters)
{
    /* at every length around the limit, with two-byte characters at either parity */
    for (size_t shift = 0; shift < 2; shift++) {
        vxs_error err = VXS_ERROR_INIT;
        char text[3000] = "x";
        for (size_t i = 0; i < 1400; i++)
            memcpy(text + shift + 2 * i, "\xc3\xbc", 2);
        vxs_fail(&err, VXS_FAILED, "%s", text);
        size_t length = strlen(err.message);
        cr_assert(length < sizeof(err.message) && length > sizeof(err.message) - 8);
        cr_assert_str_eq(err.message + length - 3, "...");
        cr_assert((length - 3 - shift) % 2 == 0, "half a character is left");
    }
}

Test(error, every_code_of_the_specification_has_a_row)
{
    static const int codes[] = { 0, 1, 2, 3, 65, 66, 73, 130 };
    size_t n = 0;
    for (; vxs_status_rows[n].meaning; n++)
        cr_assert((int)vxs_status_rows[n].status == codes[n]);
    cr_assert(n == sizeof(codes) / sizeof(codes[0]));
}
