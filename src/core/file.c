/* file.c - reading whole files, and closing files that were written. */
#include "core/place.h"

#include <dirent.h>
#include <errno.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define FIRST_READ 65536

/* Size of the first read: one byte more than the file, to see its end at once, and one for the
 * zero; pipes and growing files are read by doubling. */
static size_t first_read_size(const struct stat *about)
{
    bool known = S_ISREG(about->st_mode) && about->st_size > 0;
    return known ? (size_t)about->st_size + 2 : FIRST_READ;
}

static vxs_status read_all(FILE *stream, const char *path, size_t room, char **bytes,
                           size_t *length, vxs_error *err)
{
    size_t used = 0;
    char *buffer = vxs_resize(NULL, room, 1, err);
    if (!buffer)
        return VXS_FAILED;
    for (;;) {
        used += fread(buffer + used, 1, room - used - 1, stream);
        if (ferror(stream) || feof(stream))
            break;
        char *larger = vxs_resize(buffer, room, 2, err);
        if (!larger) {
            free(buffer);
            return VXS_FAILED;
        }
        buffer = larger;
        room *= 2;
    }
    if (ferror(stream)) {
        vxs_fail(err, VXS_MISSING, "cannot read '%s': %s", path, strerror(errno));
        free(buffer);
        return VXS_MISSING;
    }
    buffer[used] = '\0';
    *bytes = buffer;
    *length = used;
    return VXS_OK;
}

FILE *vxs_file_open(const char *path)
{
    struct stat about;
    FILE *stream = fopen(path, "rb");
    if (stream && fstat(fileno(stream), &about) == 0)
        vxs_inputs_note(&about);
    return stream;
}

vxs_status vxs_file_missing(const char *path, vxs_error *err)
{
    static const char end[] = ".gz";
    int reason = errno;
    size_t length = strlen(path), packed = sizeof(end) - 1;
    bool is_packed = length > packed && strcmp(path + length - packed, end) == 0;
    char other[PATH_MAX];
    int written = is_packed ? snprintf(other, sizeof(other), "%.*s", (int)(length - packed), path)
                            : snprintf(other, sizeof(other), "%s%s", path, end);
    bool there = reason == ENOENT && written > 0 && (size_t)written < sizeof(other) &&
                 access(other, F_OK) == 0;
    return vxs_fail(err, VXS_MISSING, "cannot read '%s': %s%s%s%s", path, strerror(reason),
                    there ? "; there is '" : "", there ? other : "", there ? "'" : "");
}

vxs_status vxs_file_read(const char *path, char **bytes, size_t *length, vxs_error *err)
{
    FILE *stream = vxs_file_open(path);
    if (!stream)
        return vxs_file_missing(path, err);
    struct stat about;
    vxs_status status = VXS_OK;
    setvbuf(stream, NULL, _IONBF, 0); /* a single read needs no buffer */
    if (fstat(fileno(stream), &about) != 0)
        status = vxs_fail(err, VXS_MISSING, "cannot read '%s': %s", path, strerror(errno));
    else if (S_ISDIR(about.st_mode))
        status = vxs_fail(err, VXS_MISSING, "cannot read '%s': it is a directory", path);
    else if (S_ISCHR(about.st_mode) || S_ISBLK(about.st_mode)) /* some are endless */
        status = vxs_fail(err, VXS_MISSING, "cannot read '%s': it is a device", path);
    else
        status = read_all(stream, path, first_read_size(&about), bytes, length, err);
    fclose(stream);
    return status;
}

/* Entries that cannot be examined, such as dangling links, fail when they are read. */
static vxs_status check_entry(int folder, const char *path, const char *name, vxs_error *err)
{
    struct stat about;
    if (fstatat(folder, name, &about, 0) != 0 || S_ISREG(about.st_mode) || S_ISDIR(about.st_mode))
        return VXS_OK;
    return vxs_fail(err, VXS_BAD_DATA, "'%s/%s' is a %s, not a file", path, name,
                    S_ISFIFO(about.st_mode)   ? "pipe"
                    : S_ISSOCK(about.st_mode) ? "socket"
                                              : "device");
}

vxs_status vxs_file_neighbors(const char *path, vxs_error *err)
{
    const char *slash = strrchr(path, '/');
    char *folder =
        slash ? vxs_format(err, "%.*s", (int)(slash - path), path) : vxs_format(err, "%s", ".");
    if (!folder)
        return VXS_FAILED;
    DIR *dir = opendir(*folder ? folder : "/");
    vxs_status status = VXS_OK;
    for (struct dirent *entry = NULL; dir && !status && (entry = readdir(dir));)
        status = check_entry(dirfd(dir), folder, entry->d_name, err);
    if (dir)
        closedir(dir);
    free(folder);
    return status;
}

/* The stream records that a write failed, not why. The same reason (no space, a limit) makes one
 * more byte fail now; the file is not kept anyway. */
static int find_write_error(FILE *stream)
{
    errno = 0;
    return write(fileno(stream), "", 1) < 0 ? errno : 0;
}

const char *vxs_close_stream(const vxs_context *context, FILE *stream)
{
    errno = 0;
    bool failed = fflush(stream) != 0;
    failed = ferror(stream) || failed;
    int reason = failed && errno == 0 ? find_write_error(stream) : errno;
    if (!failed && !vxs_sync(context, fileno(stream))) {
        failed = true;
        reason = errno;
    }
    if (fclose(stream) != 0 && !failed) {
        failed = true;
        reason = errno;
    }
    if (!failed)
        return NULL;
    return reason ? strerror(reason) : "an earlier write failed";
}

vxs_status vxs_file_close(FILE *stream, const char *path, vxs_error *err)
{
    static const vxs_context pipes_too = { .no_fsync = true };
    const char *reason = vxs_close_stream(&pipes_too, stream);
    if (!reason)
        return VXS_OK;
    return vxs_fail(err, VXS_CANNOT_WRITE, "cannot write '%s': %s", path, reason);
}
