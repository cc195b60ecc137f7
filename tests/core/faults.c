/* faults.c - the k-th request for memory fails; files fail, and are watched. */
#include "tests/core/faults.h"

#include "tests/core/check.h"

#include <errno.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

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

/* ---- Files ----------------------------------------------------------------------------------- */

static bool no_rename_flags, no_locks;
static int sync_fault;
static char *steps;
static size_t steps_room;
static void (*hook)(void), (*sync_hook)(void);
int __real_renameat2(int from_dir, const char *from, int to_dir, const char *to, unsigned flags);
int __wrap_renameat2(int from_dir, const char *from, int to_dir, const char *to, unsigned flags);
int __real_fsync(int handle);
int __wrap_fsync(int handle);
int __real_fcntl(int handle, int command, ...);
int __wrap_fcntl(int handle, int command, ...);

static void note(const char *format, const char *name, long size)
{
    size_t used = steps ? strlen(steps) : 0;
    if (steps && used < steps_room)
        snprintf(steps + used, steps_room - used, format, name, size);
}

int __wrap_renameat2(int from_dir, const char *from, int to_dir, const char *to, unsigned flags)
{
    void (*now)(void) = hook;
    hook = NULL;
    if (now)
        now();
    if (no_rename_flags && flags) {
        errno = EINVAL;
        return -1;
    }
    note("rename %s, ", to, 0);
    return __real_renameat2(from_dir, from, to_dir, to, flags);
}

int __wrap_fsync(int handle)
{
    if (sync_hook)
        sync_hook();
    char link[64], target[4096] = "";
    struct stat about = { 0 };
    snprintf(link, sizeof(link), "/proc/self/fd/%d", handle);
    (void)!readlink(link, target, sizeof(target) - 1);
    (void)fstat(handle, &about);
    const char *slash = strrchr(target, '/'), *name = slash ? slash + 1 : target;
    bool hidden = strstr(name, ".part-") != NULL;
    if (S_ISDIR(about.st_mode))
        note("directory %s, ", hidden ? "PRIVATE" : name, 0);
    else
        note("%s of %ld bytes, ", hidden ? "PRIVATE" : name, (long)about.st_size);
    errno = sync_fault;
    return sync_fault ? -1 : __real_fsync(handle);
}

int __wrap_fcntl(int handle, int command, ...)
{
    va_list rest;
    va_start(rest, command);
    void *argument = va_arg(rest, void *); /* an int is passed in the same register */
    va_end(rest);
    if (no_locks && command == F_OFD_SETLK) {
        errno = ENOLCK;
        return -1;
    }
    return __real_fcntl(handle, command, argument);
}

void refuse_rename_flags(bool refuse)
{
    no_rename_flags = refuse;
}

void refuse_locks(bool refuse)
{
    no_locks = refuse;
}

void fail_sync(int reason)
{
    sync_fault = reason;
}

void before_rename(void (*function)(void))
{
    hook = function;
}

void before_sync(void (*function)(void))
{
    sync_hook = function;
}

void watch_steps(char *buffer, size_t room)
{
    steps = buffer;
    steps_room = room;
    if (buffer)
        *buffer = '\0';
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

vxs_status fail_request(long k, vxs_status (*body)(vxs_error *err))
{
    vxs_error err = VXS_ERROR_INIT;
    requests = 0;
    failing = k;
    vxs_status status = body(&err);
    failing = -1;
    return status;
}
