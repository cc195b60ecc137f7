/* voxsift/internal/machine.h - resources of the machine: threads, memory, the linear algebra
 * library, temporary files. */
#ifndef VOXSIFT_INTERNAL_MACHINE_H
#define VOXSIFT_INTERNAL_MACHINE_H

#include "voxsift/internal/core.h"

#ifdef __cplusplus
extern "C" {
#endif

/* ---- Threads --------------------------------------------------------------------------------- */

/* Number of threads and its source. Order: requested (0: not given), VOXSIFT_NTHREADS,
 * SLURM_CPUS_PER_TASK, OMP_NUM_THREADS, the cores available to this process. */
typedef struct {
    int count;
    const char *source;
} vxs_thread_choice;
#define VXS_MAX_THREADS 1024
VXS_MUST_CHECK vxs_status vxs_choose_threads(int required, vxs_thread_choice *choice,
                                             vxs_error *err);
/* The number of a program, from 1 to VXS_MAX_THREADS; 0 and less count as 1. */
static inline int vxs_thread_count(int nthreads)
{
    return nthreads < 1 ? 1 : nthreads < VXS_MAX_THREADS ? nthreads : VXS_MAX_THREADS;
}
/* That of a context, which may be NULL. */
static inline int vxs_context_threads(const vxs_context *context)
{
    return context ? vxs_thread_count(context->nthreads) : 1;
}
/* Cores by affinity mask and control-group quota, at least 1. */
int vxs_cores_allowed(void);
/* Starts the threads now, so that lack of memory for stacks is an error with a message; later the
 * OpenMP library would abort the program. */
VXS_MUST_CHECK vxs_status vxs_threads_start(int count, vxs_error *err);

/* Total memory in bytes. */
uint64_t vxs_memory_of_machine(void);

/* ---- Vectors ---------------------------------------------------------------------------------
 *
 * Our own kernels are compiled for each of these, with the same bits: sums have one order, and
 * products are never fused with them (-ffp-contract=off). All other code runs on any processor. */
typedef enum {
    VXS_VECTORS_PLAIN,
    VXS_VECTORS_AVX2,
    VXS_VECTORS_AVX512,
    VXS_VECTORS_COUNT
} vxs_vectors;
#define VXS_FOR_AVX2   target("avx2")
#define VXS_FOR_AVX512 target("avx512f,avx512dq,avx512vl")
/* The widest that this processor has, or what VOXSIFT_VECTORS names, if that is narrower. */
vxs_vectors vxs_choose_vectors(void);
const char *vxs_vectors_name(vxs_vectors vectors);
/* What VOXSIFT_VECTORS names is there. */
VXS_MUST_CHECK vxs_status vxs_vectors_check(vxs_error *err);

/* ---- Linear algebra -------------------------------------------------------------------------- */

/* Version string of the linear algebra library, and the processor type of its kernels, such as
 * "Haswell", which determines the last bits of results. */
const char *vxs_blas_description(void);
const char *vxs_blas_core(void);
/* Must precede the first BLAS call by any of `threads` threads: each call then runs on one thread,
 * which fixes the order of sums, and has its working memory. OpenBLAS hangs if it gets none. Cheap
 * when repeated; thread-safe. */
VXS_MUST_CHECK vxs_status vxs_blas_start(int threads, vxs_error *err);

/* ---- Temporary files ------------------------------------------------------------------------- */

/* Registers a file or directory in progress, which a program that a signal ends removes. The path
 * is copied; one that is too long is ignored. */
void vxs_temporary_add(const char *path);
void vxs_temporary_drop(const char *path);
/* Removes them; async-signal-safe. */
void vxs_temporaries_remove(void);

/* ---- Files that are mapped ------------------------------------------------------------------- */

/* For a SIGBUS handler: the mapped file at the address that could not be read, as one line, and its
 * status (VXS_BAD_DATA, VXS_CANNOT_WRITE); VXS_OK: none. */
vxs_status vxs_mapping_fault(const void *address, char *line, size_t size);

#ifdef __cplusplus
}
#endif

#endif
