/* output_list.c - the list of its files that an output directory holds. */
#include "core/output_list.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

bool vxs_list_is_name(const char *name, size_t length)
{
    return length > 0 && length <= NAME_MAX && !memchr(name, '/', length) &&
           !memchr(name, '\n', length) && !(length == 1 && name[0] == '.') &&
           !(length == 2 && name[0] == '.' && name[1] == '.') &&
           !(length == strlen(VXS_LIST) && memcmp(name, VXS_LIST, length) == 0);
}

bool vxs_list_is_folder(const char *entry)
{
    size_t length = strlen(entry);
    return length > 0 && entry[length - 1] == '/';
}

static bool is_entry(const char *line, size_t length)
{
    return vxs_list_is_name(line, length > 0 && line[length - 1] == '/' ? length - 1 : length);
}

vxs_status vxs_list_check(const vxs_place *place, const char *list, size_t length, vxs_error *err)
{
    size_t number = 1, width;
    if (length < strlen(VXS_LIST_TITLE) ||
        strncmp(list, VXS_LIST_TITLE, strlen(VXS_LIST_TITLE)) != 0)
        return vxs_place_refuse(place, "it exists, and --force replaces only what voxsift made",
                                err);
    for (const char *line = list + strlen(VXS_LIST_TITLE); line < list + length;
         line += width + 1) {
        width = strcspn(line, "\n");
        number++;
        if (line[width] != '\n' || !is_entry(line, width))
            return vxs_fail(err, VXS_CANNOT_WRITE,
                            "cannot write '%s': line %zu of its list '" VXS_LIST
                            "', '%.*s', is no name of a file in it; nothing was removed",
                            place->path, number, width < 200 ? (int)width : 200, line);
    }
    return VXS_OK;
}

/* ---- Pages in the directory ------------------------------------------------------------------ */

/* Tests whether the list is valid and does not contain the name yet. */
static bool lacks(char *list, size_t length, const char *name)
{
    const vxs_place of = { .path = "" };
    bool found = false;
    if (vxs_list_check(&of, list, length, NULL))
        return false;
    for (const char *line = list + strlen(VXS_LIST_TITLE); *line; line += strcspn(line, "\n") + 1)
        found = found || (strncmp(line, name, strlen(name)) == 0 && line[strlen(name)] == '\n');
    return !found;
}

/* Appends a complete line or nothing. */
static bool append(int handle, const char *name, off_t length)
{
    char line[NAME_MAX + 2];
    int size = snprintf(line, sizeof(line), "%s\n", name);
    if (pwrite(handle, line, (size_t)size, length) == size)
        return true;
    int reason = errno;
    (void)!ftruncate(handle, length);
    errno = reason;
    return false;
}

bool vxs_output_adopt(const vxs_context *context, int folder, const char *name)
{
    struct stat about;
    vxs_error err = VXS_ERROR_INIT;
    int handle = openat(folder, VXS_LIST, O_RDWR | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC);
    if (handle < 0 || !vxs_list_is_name(name, strlen(name)))
        return handle < 0 ? errno == ENOENT || errno == ELOOP : !close(handle);
    bool ours = fstat(handle, &about) == 0 && S_ISREG(about.st_mode) && about.st_nlink == 1 &&
                about.st_size <= VXS_LIST_LONGEST;
    char *list = ours ? vxs_alloc((size_t)about.st_size + 1, 1, &err) : NULL;
    ours = list && pread(handle, list, (size_t)about.st_size, 0) == (ssize_t)about.st_size &&
           lacks(list, (size_t)about.st_size, name);
    bool fine = !ours || (append(handle, name, about.st_size) && vxs_sync(context, handle));
    int reason = errno;
    free(list);
    (void)close(handle);
    errno = reason;
    return fine;
}
