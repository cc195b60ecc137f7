/* voxsift/internal/machine.h - what a run takes of its machine: threads, the linear algebra library
 * with its memory, and files that must not stay behind. */
#ifndef VOXSIFT_INTERNAL_MACHINE_H
#define VOXSIFT_INTERNAL_MACHINE_H

#include "voxsift/internal/core.h"

#ifdef __cplusplus
extern "C" {
#endif

/* ---- Threads --------------------------------------------------------------------------------- */

/* How many threads to use, and why. Order: wanted (0: not given), VOXSIFT_NTHREADS,
 * SLURM_CPUS_PER_TASK, OMP_NUM_THREADS, the cores this process may use. */
typedef struct {
    int count;
    const char *source;
} vxs_thread_choice;
#define VXS_MAX_THREADS 1024
VXS_MUST_CHECK vxs_status vxs_choose_threads(int wanted, vxs_thread_choice *choice, vxs_error *err);
/* Cores by affinity mask and control-group quota, at least 1. */
int vxs_cores_allowed(void);
/* Starts them now, so that stacks for which there is no memory are an error with a message; later
 * the OpenMP library would end the program. */
VXS_MUST_CHECK vxs_status vxs_threads_start(int count, vxs_error *err);

/* Bytes of memory, used or not. */
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

/* The linear algebra library, in its own words; and the processor type whose kernels it runs, such
 * as "Haswell", on which the last bits of results depend. */
const char *vxs_blas_description(void);
const char *vxs_blas_core(void);
/* Must come before its first call by so many threads of ours: one call then runs on one thread,
 * which fixes the order of sums, and the working memory of all calls is there. OpenBLAS never
 * returns from a call for which it gets none. Cheap when repeated; threads may call it. */
VXS_MUST_CHECK vxs_status vxs_blas_start(int threads, vxs_error *err);

/* ---- Files that must not stay behind --------------------------------------------------------- */

/* Work in progress: a file, or a directory of files, that a program which is ended by a signal
 * removes. The path is copied; one that is too long is not kept. */
void vxs_leftover_add(const char *path);
void vxs_leftover_drop(const char *path);
/* Removes them; may be called by a signal handler. */
void vxs_leftovers_remove(void);

/* ---- Files that are mapped ------------------------------------------------------------------- */

/* For a handler of SIGBUS: which file of ours stands at the address that could not be read, as one
 * line, and the status that it means (VXS_BAD_DATA, VXS_CANNOT_WRITE); VXS_OK: none does. */
vxs_status vxs_map_fault(const void *address, char *line, size_t size);

#ifdef __cplusplus
}
#endif

#endif
