/* inputs.c - registry of files that the run has read, so that no output replaces one of them.
 *
 * One registry per process, not per context: readers have no context, and a forgotten one could
 * lose a file. Files are identified by device and inode, since names are ambiguous. */
#include "core/place.h"

#include <pthread.h>
#include <stdlib.h>

typedef struct {
    dev_t device;
    ino_t inode;
} input;

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static input *inputs;
static size_t count, room, sorted;
static bool registering, lost;

static int compare(const void *a, const void *b)
{
    const input *x = a, *y = b;
    if (x->device != y->device)
        return x->device < y->device ? -1 : 1;
    return x->inode < y->inode ? -1 : x->inode > y->inode;
}

static void forget(bool keep_registering)
{
    pthread_mutex_lock(&lock);
    free(inputs);
    inputs = NULL;
    count = room = sorted = 0;
    lost = false;
    registering = keep_registering;
    pthread_mutex_unlock(&lock);
}

void vxs_inputs_begin(void)
{
    forget(true);
}

void vxs_inputs_end(void)
{
    forget(false);
}

void vxs_inputs_note(const struct stat *about)
{
    pthread_mutex_lock(&lock);
    if (registering && count == room) {
        size_t more = room ? 2 * room : 64;
        input *larger = vxs_resize(inputs, more, sizeof(*inputs), NULL);
        lost = lost || !larger; /* then nothing is replaced: see vxs_inputs_have */
        inputs = larger ? larger : inputs;
        room = larger ? more : room;
    }
    if (registering && count < room)
        inputs[count++] = (input){ about->st_dev, about->st_ino };
    pthread_mutex_unlock(&lock);
}

void vxs_inputs_add(const char *path)
{
    struct stat about;
    if (stat(path, &about) == 0)
        vxs_inputs_note(&about);
}

bool vxs_inputs_have(const struct stat *about)
{
    input key = { about->st_dev, about->st_ino };
    pthread_mutex_lock(&lock);
    if (sorted < count)
        qsort(inputs, count, sizeof(*inputs), compare);
    sorted = count;
    bool found = lost || (count > 0 && bsearch(&key, inputs, count, sizeof(*inputs), compare));
    pthread_mutex_unlock(&lock);
    return found;
}
