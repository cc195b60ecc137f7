/* storage.c - floats in memory, or in an unnamed memory-mapped file.
 *
 * The disk space is allocated before mapping: a full disk is an error here instead of a signal
 * later. */
#include "design/storage.h"

#include "core/mapped_file.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

static vxs_status map_file(vxs_storage *storage, int file, size_t bytes, const char *folder,
                           const char *what, vxs_error *err)
{
    int reason = posix_fallocate(file, 0, (off_t)bytes);
    if (reason != 0)
        return vxs_fail(err, VXS_CANNOT_WRITE, "cannot keep %s (%zu MB) in '%s': %s", what,
                        bytes >> 20, folder, strerror(reason));
    void *map = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_SHARED, file, 0);
    if (map == MAP_FAILED)
        return vxs_fail(err, VXS_FAILED, "cannot map %s (%zu MB) in '%s': %s", what, bytes >> 20,
                        folder, strerror(errno));
    vxs_mapping_add(map, bytes, folder, file, true);
    *storage = (vxs_storage){ .values = map, .mapped = bytes };
    return VXS_OK;
}

static vxs_status keep_in_file(vxs_storage *storage, size_t bytes, const char *what, vxs_error *err)
{
    const char *given = getenv("TMPDIR"), *folder = given && *given ? given : "/tmp";
    char *path = vxs_format(err, "%s/voxsift-XXXXXX", folder);
    if (!path)
        return VXS_FAILED;
    int file = mkostemp(path, O_CLOEXEC);
    vxs_status status = VXS_OK;
    if (file < 0) {
        status = vxs_fail(err, VXS_CANNOT_WRITE, "cannot make a file for %s in '%s': %s", what,
                          folder, strerror(errno));
    } else {
        (void)unlink(path);
        status = map_file(storage, file, bytes, folder, what, err);
        (void)close(file);
    }
    free(path);
    return status;
}

vxs_status vxs_storage_init(vxs_storage *storage, size_t rows, size_t columns, size_t memory,
                            const char *what, vxs_error *err)
{
    size_t bytes = 0;
    bool fits = !__builtin_mul_overflow(rows, columns, &bytes) &&
                !__builtin_mul_overflow(bytes, sizeof(float), &bytes);
    *storage = (vxs_storage){ .values = NULL };
    if (fits && bytes > memory)
        return keep_in_file(storage, bytes, what, err);
    storage->values = vxs_alloc(columns, vxs_times(rows, sizeof(*storage->values)), err);
    return storage->values ? VXS_OK : VXS_FAILED;
}

void vxs_storage_release(vxs_storage *storage)
{
    if (storage->mapped)
        vxs_mapping_remove(storage->values);
    if (storage->mapped)
        (void)munmap(storage->values, storage->mapped);
    else
        free(storage->values);
    *storage = (vxs_storage){ .values = NULL };
}
