/* blas.c - OpenBLAS: which kernels it runs, and its working memory before it asks for it.
 *
 * Each call that multiplies or factors takes one of its buffers, which are kept for the calls to
 * come, so there are as many as threads that call at once. One that cannot be mapped (ulimit -v) is
 * tried again for ever, deep in the library and deaf to signals. So here each is mapped first by
 * the system, given back, and then made by the library's own function. */
#include "core/blas.h"

#include "voxsift/internal/machine.h"

#include <cblas.h>
#include <pthread.h>
#include <sys/mman.h>
#include <unistd.h>

/* BUFFER_SIZE of OpenBLAS, the largest of its processor types (32 << 22), and its alignment */
#define BUFFER ((size_t)128 << 20)
#define EDGE   ((size_t)1 << 16)
#define MOST   64 /* it has room for twice as many before it warns */

/* Of OpenBLAS, in all of its versions, though in none of its headers. */
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
static int buffers; /* that OpenBLAS has */

/* All of them are held before any is given back, or it would be one again and again. */
static int make_buffers(int wanted)
{
    void *held[MOST];
    int count = 0;
    while (count < wanted && (count < buffers || vxs_room_for(1, BUFFER + EDGE)))
        held[count++] = blas_memory_alloc(0);
    for (int k = 0; k < count; k++)
        blas_memory_free(held[k]);
    return count;
}

vxs_status vxs_blas_start(int threads, vxs_error *err)
{
    int wanted = threads < 1 ? 1 : threads < MOST ? threads : MOST;
    vxs_status status = VXS_OK;
    pthread_mutex_lock(&lock);
    openblas_set_num_threads(1);
    if (buffers < wanted) {
        int made = make_buffers(wanted);
        buffers = made > buffers ? made : buffers;
    }
    if (buffers < wanted)
        status = vxs_fail(err, VXS_FAILED,
                          "not enough memory for linear algebra, which takes %zu MB of address "
                          "space a thread (--nthreads %d)",
                          BUFFER >> 20, wanted);
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
