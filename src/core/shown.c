/* shown.c - visible forms of foreign text.
 *
 * Terminals interpret escape sequences, including C1 controls; browsers and editors reverse the
 * direction of writing (CVE-2021-42574) and hide characters without width. All of these get a
 * visible form, the same in messages, tables and pages. */
#include "core/utf8.h"
#include "voxsift/internal/core.h"

#include <stdlib.h>
#include <string.h>

#define CARRY 3 /* bytes of an incomplete character */

/* Code point ranges with a visible form. ZWNJ and ZWJ (U+200C, U+200D) are unchanged: Persian and
 * Indic scripts need them. */
static const struct {
    unsigned long first, last;
} hidden[] = {
    { 0x00, 0x1f },       { 0x7f, 0x9f },     { 0xad, 0xad },     { 0x61c, 0x61c },
    { 0x180e, 0x180e },   { 0x200b, 0x200b }, { 0x200e, 0x200f }, { 0x2028, 0x202e },
    { 0x2060, 0x206f },   { 0xfeff, 0xfeff }, { 0xfff9, 0xfffb }, { 0x1d173, 0x1d17a },
    { 0xe0000, 0xe007f },
};

bool vxs_utf8_hidden(unsigned long code)
{
    if (code >= 0x20 && code < 0x7f)
        return false;
    for (size_t i = 0; i < sizeof(hidden) / sizeof(hidden[0]); i++)
        if (code >= hidden[i].first && code <= hidden[i].last)
            return true;
    return false;
}

/* Length of the character at text if it is unchanged, else 0. */
static size_t plain_length(const char *text, size_t left)
{
    unsigned char c = (unsigned char)*text;
    if (c >= 0x20 && c < 0x7f)
        return 1;
    size_t length = vxs_utf8_length(text, left);
    return length > 0 && !vxs_utf8_hidden(vxs_utf8_code(text, length)) ? length : 0;
}

size_t vxs_shown_span(const char *text, size_t left)
{
    size_t span = 0, length = 0;
    while (span < left && (length = plain_length(text + span, left - span)) > 0)
        span += length;
    return span;
}

size_t vxs_shown_next(const char *text, size_t left, char shown[VXS_SHOWN])
{
    shown[0] = '\0';
    if (left == 0)
        return 0;
    size_t length = plain_length(text, left);
    if (length > 0) {
        memcpy(shown, text, length);
        shown[length] = '\0';
        return length;
    }
    length = vxs_utf8_length(text, left);
    if (length > 0)
        snprintf(shown, VXS_SHOWN, "<U+%04lX>", vxs_utf8_code(text, length));
    else
        snprintf(shown, VXS_SHOWN, "<0x%02X>", (unsigned char)*text);
    return length > 0 ? length : 1;
}

void vxs_shown_copy(const char *text, char *buffer, size_t size)
{
    char shown[VXS_SHOWN];
    size_t used = 0, room = 0, left = strlen(text), length = 0;
    while ((length = vxs_shown_next(text, left, shown)) > 0) {
        size_t more = strlen(shown);
        if (used + more >= size) {
            memcpy(buffer + room, "...", sizeof("..."));
            return;
        }
        memcpy(buffer + used, shown, more);
        used += more;
        if (used + sizeof("...") <= size)
            room = used; /* the last place where the dots have room */
        text += length;
        left -= length;
    }
    buffer[used] = '\0';
}

char *vxs_shown(const char *text, vxs_error *err)
{
    char shown[VXS_SHOWN];
    size_t size = 1, length = 0, all = strlen(text);
    for (size_t at = 0; (length = vxs_shown_next(text + at, all - at, shown)) > 0; at += length)
        size += strlen(shown);
    char *copy = vxs_alloc(size, 1, err);
    char *out = copy;
    for (size_t at = 0; copy && at < all; at += length) {
        length = vxs_shown_next(text + at, all - at, shown);
        memcpy(out, shown, strlen(shown));
        out += strlen(shown);
    }
    return copy;
}

/* ---- Streams --------------------------------------------------------------------------------- */

typedef struct {
    FILE *to;
    char carry[CARRY + 1];
    size_t carried;
} passage;

static bool stays(char c)
{
    return c == '\n' || c == '\t';
}

/* Forwards complete characters; returns the number of remaining bytes, which may begin a
 * character. */
static size_t pass_on(FILE *to, const char *text, size_t left, bool last)
{
    char shown[VXS_SHOWN];
    while (left > 0) {
        size_t length = vxs_shown_span(text, left);
        if (length > 0) {
            fwrite(text, 1, length, to);
        } else if (stays(*text)) {
            fputc(*text, to);
            length = 1;
        } else if (!last && left <= CARRY && (unsigned char)*text >= 0xc2) {
            return left;
        } else {
            length = vxs_shown_next(text, left, shown);
            fputs(shown, to);
        }
        text += length;
        left -= length;
    }
    return 0;
}

static ssize_t pass(void *cookie, const char *bytes, size_t count)
{
    passage *p = cookie;
    size_t left = count, rest = 0;
    while (p->carried > 0 && left > 0) { /* byte by byte until the carried character is complete */
        p->carry[p->carried++] = *bytes++;
        left--;
        size_t all = p->carried;
        rest = pass_on(p->to, p->carry, all, false);
        memmove(p->carry, p->carry + all - rest, rest);
        p->carried = rest;
    }
    rest = pass_on(p->to, bytes, left, false);
    if (rest > 0 && p->carried == 0) {
        memcpy(p->carry, bytes + left - rest, rest);
        p->carried = rest;
    }
    return ferror(p->to) ? 0 : (ssize_t)count;
}

static int end_passage(void *cookie)
{
    passage *p = cookie;
    pass_on(p->to, p->carry, p->carried, true);
    int result = ferror(p->to) ? EOF : 0;
    free(p);
    return result;
}

FILE *vxs_shown_stream(FILE *to)
{
    cookie_io_functions_t calls = { .write = pass, .close = end_passage };
    passage *p = vxs_alloc(1, sizeof(*p), NULL);
    if (!p)
        return NULL;
    p->to = to;
    FILE *stream = fopencookie(p, "w", calls);
    if (!stream)
        free(p);
    return stream;
}
