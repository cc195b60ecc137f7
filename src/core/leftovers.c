/* leftovers.c - temporary paths that a signal handler can remove: no allocation, no locks. */
#include "voxsift/internal/machine.h"

#include <dirent.h>
#include <fcntl.h>
#include <limits.h>
#include <pthread.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

#define FOLDER      (O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC)
#define MAX_ENTRIES 16 /* a command has one or two at a time */

static struct {
    volatile int used; /* set when the path is complete */
    char path[PATH_MAX];
} leftovers[MAX_ENTRIES];
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;

void vxs_temporary_add(const char *path)
{
    if (strlen(path) >= PATH_MAX)
        return;
    pthread_mutex_lock(&lock);
    int k = 0;
    while (k < MAX_ENTRIES && leftovers[k].used)
        k++;
    if (k < MAX_ENTRIES) {
        memcpy(leftovers[k].path, path, strlen(path) + 1);
        __atomic_store_n(&leftovers[k].used, 1, __ATOMIC_RELEASE);
    }
    pthread_mutex_unlock(&lock);
}

void vxs_temporary_drop(const char *path)
{
    pthread_mutex_lock(&lock);
    for (int k = 0; k < MAX_ENTRIES; k++)
        if (leftovers[k].used && strcmp(leftovers[k].path, path) == 0)
            __atomic_store_n(&leftovers[k].used, 0, __ATOMIC_RELEASE);
    pthread_mutex_unlock(&lock);
}

/* Layout of getdents64; readdir allocates, which a handler must not. */
typedef struct {
    uint64_t inode;
    int64_t offset;
    unsigned short length;
    unsigned char type;
    char name[];
} entry;

/* Removes files and, `depth` levels down, directories of files; closes it. */
static void empty_directory(int dir, int depth)
{
    union {
        entry first;
        char bytes[8192];
    } list;
    for (long got; (got = syscall(SYS_getdents64, dir, &list, sizeof(list))) > 0;)
        for (long at = 0; at < got; at += ((entry *)(list.bytes + at))->length) {
            const char *name = ((entry *)(list.bytes + at))->name;
            bool itself = strcmp(name, ".") == 0 || strcmp(name, "..") == 0;
            if (itself || unlinkat(dir, name, 0) == 0 || depth == 0)
                continue;
            int below = openat(dir, name, FOLDER);
            if (below >= 0)
                empty_directory(below, depth - 1);
            (void)unlinkat(dir, name, AT_REMOVEDIR);
        }
    close(dir);
}

void vxs_temporaries_remove(void)
{
    for (int k = 0; k < MAX_ENTRIES; k++) {
        if (!__atomic_load_n(&leftovers[k].used, __ATOMIC_ACQUIRE))
            continue;
        int dir = open(leftovers[k].path, FOLDER);
        if (dir >= 0)
            empty_directory(dir, 1);
        (void)(dir >= 0 ? rmdir(leftovers[k].path) : unlink(leftovers[k].path));
    }
}
