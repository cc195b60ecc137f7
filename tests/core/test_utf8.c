#include "core/utf8.h"
#include "tests/core/check.h"

/* One text for all ways to write it: composed or not, in capitals or not. */
Test(utf8, plain_characters)
{
    static const struct {
        unsigned long code, plain[4];
    } known[] = { { 'A', { 'a' } },
                  { 'z', { 'z' } },
                  { '7', { '7' } },
                  { 0xFC, { 'u', 0x308 } }, /* u with diaeresis, and its capital */
                  { 0xDC, { 'u', 0x308 } },
                  { 0xDF, { 0xDF } },                /* sharp s */
                  { 0xD8, { 0xF8 } },                /* O with stroke */
                  { 0x141, { 0x142 } },              /* L with stroke */
                  { 0x1EC6, { 'e', 0x323, 0x302 } }, /* two marks, of Vietnamese */
                  { 0x1FC, { 0xE6, 0x301 } },
                  { 0x39B, { 0x3BB } },        /* Lambda */
                  { 0x419, { 0x438, 0x306 } }, /* short I of Cyrillic */
                  { 0xAC01, { 0x1100, 0x1161, 0x11A8 } },
                  { 0x4E00, { 0x4E00 } },
                  { 0x10FFFF, { 0x10FFFF } } };
    for (size_t k = 0; k < sizeof(known) / sizeof(known[0]); k++) {
        unsigned long to[VXS_UTF8_PLAIN] = { 0 };
        size_t wanted = 0, count = vxs_utf8_plain(known[k].code, to);
        while (wanted < 4 && known[k].plain[wanted] > 0)
            wanted++;
        cr_assert(count == wanted, "U+%lX: %zu", known[k].code, count);
        for (size_t i = 0; i < count; i++)
            cr_assert(to[i] == known[k].plain[i], "U+%lX: U+%lX", known[k].code, to[i]);
    }
    for (unsigned long code = 1; code < 0x110000; code++) { /* what is plain stays so */
        unsigned long to[VXS_UTF8_PLAIN], again[VXS_UTF8_PLAIN];
        size_t count = vxs_utf8_plain(code, to);
        cr_assert(count >= 1 && count <= VXS_UTF8_PLAIN, "U+%lX", code);
        for (size_t i = 0; i < count; i++)
            cr_assert(vxs_utf8_plain(to[i], again) == 1 && again[0] == to[i], "U+%lX", code);
    }
}

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
