/* error.c - the first error, in one line. */
#include "voxsift/internal/core.h"

const vxs_status_row vxs_status_rows[] = {
    { VXS_OK, "done" },
    { VXS_FAILED, "failed" },
    { VXS_MISUSE, "an option or argument cannot be used as given" },
    { VXS_NOT_CONVERGED, "not converged; the outputs are written and marked" },
    { VXS_BAD_DATA, "an input is invalid" },
    { VXS_MISSING, "an input is missing or cannot be opened" },
    { VXS_CANNOT_WRITE, "an output cannot be written" },
    { VXS_INTERRUPTED, "interrupted; no output is left half written" },
    { VXS_OK, NULL },
};

vxs_status vxs_failv(vxs_error *err, vxs_status status, const char *format, va_list args)
{
    if (!err || err->status != VXS_OK)
        return status;
    /* one character longer, so that truncation is marked */
    char text[sizeof(err->message) + 4] = "";
    vsnprintf(text, sizeof(text), format ? format : "no message", args);
    vxs_shown_copy(text, err->message, sizeof(err->message));
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
