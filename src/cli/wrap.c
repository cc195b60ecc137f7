/* wrap.c - wraps texts to lines of a terminal, and removes control characters. */
#include "cli/cli.h"

#include <string.h>

/* Number of columns of a UTF-8 text: bytes that start a character. */
static int columns(const char *text, size_t length)
{
    int count = 0;
    for (size_t i = 0; i < length; i++)
        count += ((unsigned char)text[i] & 0xc0) != 0x80;
    return count;
}

void vxs_wrap(FILE *out, const char *text, int indent, int column, int width)
{
    bool first = true;
    while (*text) {
        text += strspn(text, " ");
        size_t length = strcspn(text, " ");
        if (length == 0)
            break;
        int wide = columns(text, length);
        if (!first && column + 1 + wide > width) {
            fprintf(out, "\n%*s", indent, "");
            column = indent;
            first = true;
        }
        fprintf(out, "%s%.*s", first ? "" : " ", (int)length, text);
        column += wide + !first;
        first = false;
        text += length;
    }
    fputc('\n', out);
}

void vxs_print_clean(FILE *out, const char *text)
{
    for (; *text; text++)
        fputc((unsigned char)*text < 0x20 || *text == 0x7f ? '?' : *text, out);
}
