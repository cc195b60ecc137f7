#include "core/utf8.h"
#include "tests/core/check.h"

/* Every code point comes back; every surrogate, overlong form and value beyond is refused. */
Test(utf8, every_character_and_no_other)
{
    char text[8];
    for (unsigned long code = 0; code < 0x110000; code++) {
        size_t length = vxs_utf8_write(text, code);
        size_t wanted = code >= 0xd800 && code < 0xe000 ? 0 : length;
        cr_assert(vxs_utf8_length(text, length) == wanted, "U+%lX", code);
        for (size_t cut = 0; cut < length && wanted; cut++)
            cr_assert(vxs_utf8_length(text, cut) == 0 || cut >= wanted);
    }
    /* all sequences of two bytes: valid ones are counted by the standard */
    size_t valid = 0;
    for (int a = 0; a < 256; a++) {
        for (int b = 0; b < 256; b++) {
            text[0] = (char)a;
            text[1] = (char)b;
            valid += vxs_utf8_length(text, 2) == 2;
        }
    }
    cr_assert(valid == 0x800 - 0x80);
    vxs_utf8_write(text, 0x110000);
    cr_assert(vxs_utf8_length(text, 4) == 0);
}
