/* check.h - what every unit test needs. */
#ifndef VXS_TESTS_CHECK_H
#define VXS_TESTS_CHECK_H

#include "voxsift/internal/all.h"

#include <criterion/criterion.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* The call succeeds; if not, its message is the failure. */
#define WORKS(call, err)                                                                           \
    do {                                                                                           \
        vxs_status works_status = (call);                                                          \
        cr_assert(works_status == VXS_OK, "%s gave %d: %s", #call, (int)works_status,              \
                  (err).message);                                                                  \
    } while (0)

/* The call fails with this status and a one-line message that holds `part`; err is fresh again. */
#define REFUSES(call, err, wanted, part)                                                           \
    do {                                                                                           \
        vxs_status refuses_status = (call);                                                        \
        cr_assert(refuses_status == (wanted), "%s gave %d: %s", #call, (int)refuses_status,        \
                  (err).message);                                                                  \
        cr_assert((err).status == (wanted), "%s: status not kept", #call);                         \
        cr_assert(strstr((err).message, part), "'%s' is not in '%s'", part, (err).message);        \
        cr_assert(!strchr((err).message, '\n'), "more than a line: %s", (err).message);            \
        (err) = (vxs_error)VXS_ERROR_INIT;                                                         \
    } while (0)

/* A name in the directory that the tests may write to. */
const char *work_path(char buffer[512], const char *name);
void write_bytes(const char *path, const void *bytes, size_t length);
/* What a function printed to a stream, to be freed. */
char *printed(void (*print)(FILE *stream, void *data), void *data);

#endif
