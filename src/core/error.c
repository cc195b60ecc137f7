/* error.c - the first thing that went wrong, in one line. */
#include "voxsift/core.h"

#include <string.h>

const vxs_status_row vxs_status_rows[] = {
    { VXS_OK, "done" },
    { VXS_FAILED, "failed" },
    { VXS_MISUSE, "an option or argument cannot be used as given" },
    { VXS_NOT_CONVERGED, "not converged; the outputs are written and marked" },
    { VXS_BAD_DATA, "an input is not what it should be" },
    { VXS_MISSING, "an input is missing or cannot be opened" },
    { VXS_CANNOT_WRITE, "an output cannot be written" },
    { VXS_INTERRUPTED, "interrupted; no output is left half written" },
    { VXS_OK, NULL },
};

/* A file name may hold a line end or an escape sequence; a message must not. */
static void make_one_line(char *text)
{
    for (; *text; text++) {
        unsigned char c = (unsigned char)*text;
        if (c < 0x20 || c == 0x7f)
            *text = '?';
    }
}

/* Shows that the message was cut, without leaving half a UTF-8 character. */
static void mark_cut(char *buffer, size_t size)
{
    size_t end = size - sizeof("...");
    while (end > 0 && ((unsigned char)buffer[end] & 0xc0) == 0x80)
        end--;
    memcpy(buffer + end, "...", sizeof("..."));
}

vxs_status vxs_failv(vxs_error *err, vxs_status status, const char *format, va_list args)
{
    if (!err || err->status != VXS_OK)
        return status;
    int length = vsnprintf(err->message, sizeof(err->message), format, args);
    if (length < 0)
        err->message[0] = '\0';
    else if ((size_t)length >= sizeof(err->message))
        mark_cut(err->message, sizeof(err->message));
    make_one_line(err->message);
    err->status = status;
    return status;
}

vxs_status vxs_fail(vxs_error *err, vxs_status status, const char *format, ...)
{
    va_list args;
    va_start(args, format);
    vxs_failv(err, status, format, args);
    va_end(args);
    return status;
}
