/* alloc.c - the only file that allocates memory; `make bans` checks it. */
#include "voxsift/internal/machine.h"

#include <stdlib.h>
#include <unistd.h>

static void fail_allocation(size_t count, size_t size, vxs_error *err)
{
    vxs_fail(err, VXS_FAILED, "not enough memory: %zu items of %zu bytes were requested", count,
             size);
}

/* Half the address space is the maximum object size, for which pointer differences are valid. */
static bool fits(size_t count, size_t size)
{
    return size == 0 || count <= (size_t)PTRDIFF_MAX / size;
}

size_t vxs_times(size_t a, size_t b)
{
    return b == 0 || a <= SIZE_MAX / b ? a * b : SIZE_MAX;
}

void *vxs_alloc(size_t count, size_t size, vxs_error *err)
{
    void *memory = NULL;
    if (fits(count, size))
        memory = calloc(count ? count : 1, size ? size : 1);
    if (!memory)
        fail_allocation(count, size, err);
    return memory;
}

void *vxs_resize(void *old, size_t count, size_t size, vxs_error *err)
{
    void *memory = NULL;
    if (fits(count, size))
        memory = realloc(old, count && size ? count * size : 1);
    if (!memory)
        fail_allocation(count, size, err);
    return memory;
}

uint64_t vxs_memory_of_machine(void)
{
    long pages = sysconf(_SC_PHYS_PAGES), size = sysconf(_SC_PAGESIZE);
    return pages > 0 && size > 0 ? (uint64_t)pages * (uint64_t)size : UINT64_MAX;
}

char *vxs_format(vxs_error *err, const char *format, ...)
{
    va_list args, again;
    va_start(args, format);
    va_copy(again, args);
    char *text = NULL;
    int length = vsnprintf(NULL, 0, format, args);
    if (length >= 0)
        text = vxs_alloc((size_t)length + 1, 1, err);
    if (text)
        vsnprintf(text, (size_t)length + 1, format, again);
    va_end(again);
    va_end(args);
    return text;
}
