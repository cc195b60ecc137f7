/* utf8.c - UTF-8 decoding and encoding. */
#include "core/utf8.h"

static bool continues(unsigned char c)
{
    return (c & 0xc0) == 0x80;
}

/* After four of the first bytes the second byte has a narrower range: no overlong forms, no
 * surrogates, nothing above U+10FFFF. */
static bool second_fits(unsigned char first, unsigned char second)
{
    switch (first) {
    case 0xe0:
        return second >= 0xa0;
    case 0xed:
        return second < 0xa0;
    case 0xf0:
        return second >= 0x90;
    case 0xf4:
        return second < 0x90;
    default:
        return true;
    }
}

size_t vxs_utf8_length(const char *text, size_t left)
{
    const unsigned char *c = (const unsigned char *)text;
    if (left == 0)
        return 0;
    size_t length = c[0] < 0x80                   ? 1
                    : c[0] >= 0xc2 && c[0] < 0xe0 ? 2
                    : c[0] >= 0xe0 && c[0] < 0xf0 ? 3
                    : c[0] >= 0xf0 && c[0] < 0xf5 ? 4
                                                  : 0;
    if (length > left)
        return 0;
    for (size_t i = 1; i < length; i++)
        if (!continues(c[i]))
            return 0;
    return length > 1 && !second_fits(c[0], c[1]) ? 0 : length;
}

unsigned long vxs_utf8_code(const char *text, size_t length)
{
    static const unsigned char bits[] = { 0, 0x7f, 0x1f, 0x0f, 0x07 }; /* of the first byte */
    unsigned long code = (unsigned char)text[0] & bits[length];
    for (size_t i = 1; i < length; i++)
        code = code << 6 | ((unsigned char)text[i] & 0x3f);
    return code;
}

size_t vxs_utf8_write(char *text, unsigned long code)
{
    if (code < 0x80) {
        text[0] = (char)code;
        return 1;
    }
    size_t length = code < 0x800 ? 2 : code < 0x10000 ? 3 : 4;
    static const unsigned char marks[] = { 0, 0, 0xc0, 0xe0, 0xf0 };
    for (size_t i = length - 1; i > 0; i--) {
        text[i] = (char)(0x80 | (code & 0x3f));
        code >>= 6;
    }
    text[0] = (char)(marks[length] | code);
    return length;
}
