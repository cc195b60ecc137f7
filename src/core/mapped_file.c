/* mapped_file.c - the mapped file at an address.
 *
 * Truncation by another program, or a disk error, raises SIGBUS in the thread that reads the
 * mapping. The library installs no handlers; a program's handler can query the file here by
 * async-signal-safe calls: the notes are in a static table. */
#include "core/mapped_file.h"

#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define MOST_NOTES 64 /* further mappings are not registered */
#define NAME       512

typedef struct {
    const char *map; /* NULL: free; set last and cleared first */
    size_t size;
    int file, taken;
    bool written;
    struct timespec changed; /* modification time when mapped */
    char name[NAME];
} note;

static note notes[MOST_NOTES];

void vxs_mapping_add(const void *map, size_t size, const char *path, int file, bool written)
{
    struct stat about;
    for (size_t k = 0; k < MOST_NOTES; k++) {
        note *n = &notes[k];
        if (__atomic_exchange_n(&n->taken, 1, __ATOMIC_ACQUIRE))
            continue;
        n->size = size;
        n->written = written;
        n->file = fcntl(file, F_DUPFD_CLOEXEC, 3);
        n->changed = fstat(file, &about) == 0 ? about.st_mtim : (struct timespec){ .tv_sec = 0 };
        vxs_shown_copy(path, n->name, sizeof(n->name));
        __atomic_store_n(&n->map, (const char *)map, __ATOMIC_RELEASE);
        return;
    }
}

void vxs_mapping_remove(const void *map)
{
    for (size_t k = 0; map && k < MOST_NOTES; k++) {
        note *n = &notes[k];
        if (__atomic_load_n(&n->map, __ATOMIC_ACQUIRE) != map)
            continue;
        __atomic_store_n(&n->map, NULL, __ATOMIC_RELEASE);
        if (n->file >= 0)
            (void)close(n->file);
        __atomic_store_n(&n->taken, 0, __ATOMIC_RELEASE);
        return;
    }
}

static const note *note_at(const void *address)
{
    const char *at = address;
    for (size_t k = 0; k < MOST_NOTES; k++) {
        const char *map = __atomic_load_n(&notes[k].map, __ATOMIC_ACQUIRE);
        if (map && at >= map && at < map + notes[k].size)
            return &notes[k];
    }
    return NULL;
}

vxs_status vxs_mappings_check(vxs_error *err)
{
    for (size_t k = 0; k < MOST_NOTES; k++) {
        const note *n = &notes[k];
        struct stat now;
        if (!__atomic_load_n(&n->map, __ATOMIC_ACQUIRE) || n->written || n->file < 0 ||
            fstat(n->file, &now))
            continue;
        if (now.st_mtim.tv_sec != n->changed.tv_sec || now.st_mtim.tv_nsec != n->changed.tv_nsec)
            return vxs_fail(err, VXS_BAD_DATA,
                            "'%s' was written to while it was in use; nothing is kept of what was "
                            "computed from it",
                            n->name);
    }
    return VXS_OK;
}

static void append(char *line, size_t size, size_t *used, const char *text)
{
    size_t length = strlen(text), room = size - 1 - *used;
    length = length < room ? length : room;
    memcpy(line + *used, text, length);
    *used += length;
    line[*used] = '\0';
}

vxs_status vxs_mapping_fault(const void *address, char *line, size_t size)
{
    const note *n = note_at(address);
    struct stat now;
    size_t used = 0;
    if (!n)
        return VXS_OK;
    bool known = n->file >= 0 && fstat(n->file, &now) == 0;
    bool shorter = !known || (size_t)now.st_size < n->size;
    append(line, size, &used, n->written ? "cannot write '" : "cannot read '");
    append(line, size, &used, n->name);
    append(line, size, &used,
           shorter      ? "': it became shorter while in use"
           : n->written ? "': its disk is full or fails"
                        : "': its disk fails (input/output error)");
    return n->written ? VXS_CANNOT_WRITE : VXS_BAD_DATA;
}
