/* blas.c - OpenBLAS: its kernels, and its working memory in advance.
 *
 * Each call that multiplies or factorizes uses one of its buffers, which stay allocated, so there
 * are as many as concurrent threads. OpenBLAS retries a failed mapping (ulimit -v) forever,
 * ignoring signals. Therefore each buffer is first mapped and unmapped here, then allocated by the
 * library's own function. */
#include "core/blas.h"

#include "voxsift/internal/machine.h"

#include <cblas.h>
#include <pthread.h>
#include <sys/mman.h>
#include <unistd.h>

/* BUFFER_SIZE of OpenBLAS, the largest of its processor types (32 << 22), and its alignment */
#define BUFFER      ((size_t)128 << 20)
#define EDGE        ((size_t)1 << 16)
#define MAX_ENTRIES 64 /* half of its table size, so that it never warns */

/* Present in all versions of OpenBLAS, but in no header. */
void *blas_memory_alloc(int position);
void blas_memory_free(void *buffer);
char *openblas_get_corename(void);

bool vxs_room_for(size_t count, size_t size)
{
    if (size > 0 && count > SIZE_MAX / size)
        return false;
    size_t length = count * size;
    void *room = length > 0 ? mmap(NULL, length, PROT_READ | PROT_WRITE,
                                   MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0)
                            : NULL;
    if (room == MAP_FAILED)
        return false;
    if (room)
        munmap(room, length);
    return true;
}

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static int buffers; /* number of buffers that OpenBLAS has */

/* Holds all buffers at once before releasing them: otherwise it would be the same one. */
static int allocate_buffers(int required)
{
    void *held[MAX_ENTRIES];
    int count = 0;
    while (count < required && (count < buffers || vxs_room_for(1, BUFFER + EDGE)))
        held[count++] = blas_memory_alloc(0);
    for (int k = 0; k < count; k++)
        blas_memory_free(held[k]);
    return count;
}

vxs_status vxs_blas_start(int threads, vxs_error *err)
{
    int required = threads < 1 ? 1 : threads < MAX_ENTRIES ? threads : MAX_ENTRIES;
    vxs_status status = VXS_OK;
    pthread_mutex_lock(&lock);
    openblas_set_num_threads(1);
    if (buffers < required) {
        int made = allocate_buffers(required);
        buffers = made > buffers ? made : buffers;
    }
    if (buffers < required)
        status = vxs_fail(err, VXS_FAILED,
                          "not enough memory for linear algebra, which needs %zu MB of address "
                          "space a thread (--nthreads %d)",
                          BUFFER >> 20, required);
    pthread_mutex_unlock(&lock);
    return status;
}

const char *vxs_blas_description(void)
{
    return openblas_get_config();
}

const char *vxs_blas_core(void)
{
    return openblas_get_corename();
}
