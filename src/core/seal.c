/* seal.c - SHA-256 of the files of an output, in the format of sha256sum.
 *
 * A seal shows that a file was modified, not by whom: anybody can write another seal. */
#include "core/hash.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { HASH = VXS_HASH_TEXT - 1, BEFORE_NAME = HASH + 2 };

vxs_status vxs_seal_line(FILE *file, const char *name, FILE *seal, vxs_error *err)
{
    char text[VXS_HASH_TEXT], bytes[1 << 14];
    vxs_hash hash;
    vxs_hash_init(&hash);
    for (size_t got = 1; got > 0;) {
        got = fread(bytes, 1, sizeof(bytes), file);
        vxs_hash_add(&hash, bytes, got);
    }
    vxs_hash_end(&hash, text);
    if (ferror(file))
        return vxs_fail(err, VXS_CANNOT_WRITE, "cannot read '%s' again: %s", name, strerror(errno));
    fprintf(seal, "%s  %s\n", text, name);
    return VXS_OK;
}

/* A missing file counts as unmodified: its reader reports it. */
static vxs_status check_file(const char *directory, const char *seal, const char *line,
                             vxs_error *err)
{
    char text[VXS_HASH_TEXT], *bytes = NULL;
    size_t length = 0;
    char *path = vxs_format(err, "%s/%s", directory, line + BEFORE_NAME);
    if (path && access(path, F_OK) != 0) {
        free(path);
        return VXS_OK;
    }
    vxs_status status = path ? vxs_file_read(path, &bytes, &length, err) : VXS_FAILED;
    if (!status)
        vxs_sha256(bytes, length, NULL, 0, text);
    if (!status && strncmp(text, line, HASH) != 0)
        status = vxs_fail(err, VXS_BAD_DATA,
                          "'%s' was changed after it was written: its SHA-256 is %.12s..., and "
                          "%.12s... in '%s'",
                          path, text, line, seal);
    free(bytes);
    free(path);
    return status;
}

vxs_status vxs_seal_check(const char *directory, const char *name, bool *sealed, vxs_error *err)
{
    char *path = vxs_format(err, "%s/%s", directory, name), *lines = NULL;
    size_t length = 0, number = 0;
    *sealed = path && access(path, F_OK) == 0;
    vxs_status status = path ? VXS_OK : VXS_FAILED;
    if (!status && *sealed)
        status = vxs_file_read(path, &lines, &length, err);
    for (char *line = lines; line && *line && !status; number++) {
        size_t width = strcspn(line, "\n");
        bool whole = line[width] == '\n' && width > BEFORE_NAME && line[HASH] == ' ';
        line[width] = '\0';
        if (!whole || strchr(line + BEFORE_NAME, '/'))
            status = vxs_fail(err, VXS_BAD_DATA, "'%s' line %zu: no SHA-256 and name of a file",
                              path, number + 1);
        else
            status = check_file(directory, path, line, err);
        line += width + 1;
    }
    if (!status && *sealed && number == 0)
        status = vxs_fail(err, VXS_BAD_DATA, "'%s' names no files", path);
    free(lines);
    free(path);
    return status;
}
