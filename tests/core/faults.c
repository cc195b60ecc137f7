/* faults.c - the k-th request for memory fails. */
#include "tests/core/faults.h"

#include "tests/core/check.h"

#include <errno.h>

static long requests, failing = -1;

void *__real_malloc(size_t size);
void *__real_calloc(size_t count, size_t size);
void *__real_realloc(void *old, size_t size);
void *__wrap_malloc(size_t size);
void *__wrap_calloc(size_t count, size_t size);
void *__wrap_realloc(void *old, size_t size);

static int fails_now(void)
{
    return __atomic_fetch_add(&requests, 1, __ATOMIC_RELAXED) == failing;
}

void *__wrap_malloc(size_t size)
{
    return fails_now() ? NULL : __real_malloc(size);
}

void *__wrap_calloc(size_t count, size_t size)
{
    return fails_now() ? NULL : __real_calloc(count, size);
}

void *__wrap_realloc(void *old, size_t size)
{
    return fails_now() ? NULL : __real_realloc(old, size);
}

static bool no_rename_flags;
int __real_renameat2(int from_dir, const char *from, int to_dir, const char *to, unsigned flags);
int __wrap_renameat2(int from_dir, const char *from, int to_dir, const char *to, unsigned flags);

int __wrap_renameat2(int from_dir, const char *from, int to_dir, const char *to, unsigned flags)
{
    if (!no_rename_flags)
        return __real_renameat2(from_dir, from, to_dir, to, flags);
    errno = EINVAL;
    return -1;
}

void refuse_rename_flags(bool refuse)
{
    no_rename_flags = refuse;
}

long fail_each_request(vxs_status (*body)(vxs_error *err))
{
    for (long k = 0;; k++) {
        vxs_error err = VXS_ERROR_INIT;
        requests = 0;
        failing = k;
        vxs_status status = body(&err);
        failing = -1;
        if (requests <= k) {
            cr_assert(status == VXS_OK, "no request failed, but: %s", err.message);
            return k;
        }
        cr_assert(status == VXS_FAILED, "request %ld failed, the status is %d: %s", k, (int)status,
                  err.message);
        cr_assert(strstr(err.message, "not enough memory"), "request %ld: '%s'", k, err.message);
    }
}
