/* static.c - part of the static program alone. libgomp looks for plug-ins of accelerators by
 * dlopen, which cannot work where there is no C library of the very version that was linked: here
 * it finds none. The linker puts this in the place of dlopen (--wrap). */
#include <stddef.h>

void *__wrap_dlopen(const char *name, int flags);

void *__wrap_dlopen(const char *name, int flags)
{
    (void)name;
    (void)flags;
    return NULL;
}
