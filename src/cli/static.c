/* static.c - linked into the static program alone. libgomp searches accelerator plug-ins by dlopen,
 * which requires the very C library that was linked. The linker replaces dlopen by this function
 * (--wrap), which finds none. */
#include <stddef.h>

void *__wrap_dlopen(const char *name, int flags);

void *__wrap_dlopen(const char *name, int flags)
{
    (void)name;
    (void)flags;
    return NULL;
}
