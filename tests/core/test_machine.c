/* Memory that other libraries will take, and work that a signal leaves behind. */
#include "tests/core/check.h"

#include <sys/resource.h>
#include <sys/stat.h>

/* Sanitizers reserve terabytes. */
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
#define LIMITED false
#elif defined(__has_feature)
#define LIMITED !(__has_feature(address_sanitizer) || __has_feature(thread_sanitizer))
#else
#define LIMITED true
#endif

/* So many megabytes more than there are now. */
static void limit_address_space(size_t megabytes)
{
    size_t pages = 0;
    FILE *file = fopen("/proc/self/statm", "r");
    cr_assert(file && fscanf(file, "%zu", &pages) == 1);
    fclose(file);
    rlim_t bytes = pages * (rlim_t)sysconf(_SC_PAGESIZE) + ((rlim_t)megabytes << 20);
    struct rlimit limit = { bytes, RLIM_INFINITY };
    cr_assert(setrlimit(RLIMIT_AS, &limit) == 0);
}

static void take_limit_away(void)
{
    struct rlimit limit = { RLIM_INFINITY, RLIM_INFINITY };
    cr_assert(setrlimit(RLIMIT_AS, &limit) == 0);
}

Test(machine, linear_algebra_without_memory_is_an_error)
{
    vxs_error err = VXS_ERROR_INIT;
    if (!LIMITED)
        return;
    WORKS(vxs_blas_start(1, &err), err);
    limit_address_space(300);
    WORKS(vxs_blas_start(1, &err), err); /* what it has is enough */
    REFUSES(vxs_blas_start(6, &err), err, VXS_FAILED,
            "not enough memory for linear algebra, which needs 128 MB of address space a thread "
            "(--nthreads 6)");
    limit_address_space(20); /* the two that were to be had are kept */
    WORKS(vxs_blas_start(3, &err), err);
    take_limit_away();
    WORKS(vxs_blas_start(6, &err), err);
    cr_assert(strlen(vxs_blas_core()) > 0);
}

Test(machine, threads_without_stacks_are_an_error)
{
    vxs_error err = VXS_ERROR_INIT;
    if (!LIMITED)
        return;
    limit_address_space(40);
    REFUSES(vxs_threads_start(64, &err), err, VXS_FAILED, "not enough memory for threads");
    WORKS(vxs_threads_start(1, &err), err);
    take_limit_away();
    WORKS(vxs_threads_start(3, &err), err);
}

Test(machine, what_a_signal_leaves_is_removed)
{
    char top[512], path[640];
    work_path(top, "leftovers");
    mkdir(top, 0777);
    static const char *const folders[] = { "work", "work/below", "kept" };
    static const char *const files[] = { "work/a", "work/.b", "work/below/c", "kept/d", "page" };
    for (size_t k = 0; k < 3; k++) {
        snprintf(path, sizeof(path), "%s/%s", top, folders[k]);
        mkdir(path, 0777);
    }
    for (size_t k = 0; k < 5; k++) {
        snprintf(path, sizeof(path), "%s/%s", top, files[k]);
        write_bytes(path, "x", 1);
    }
    snprintf(path, sizeof(path), "%s/link", top); /* to a folder: not followed */
    cr_assert(symlink("kept", path) == 0);
    vxs_temporary_add(path);
    static const char *const added[] = { "work", "kept", "page", "never" };
    for (size_t k = 0; k < 4; k++) {
        snprintf(path, sizeof(path), "%s/%s", top, added[k]);
        vxs_temporary_add(path);
    }
    snprintf(path, sizeof(path), "%s/kept", top);
    vxs_temporary_drop(path);
    vxs_temporaries_remove();
    snprintf(path, sizeof(path), "%s/work", top);
    cr_assert(access(path, F_OK) != 0);
    snprintf(path, sizeof(path), "%s/page", top);
    cr_assert(access(path, F_OK) != 0);
    snprintf(path, sizeof(path), "%s/kept/d", top);
    cr_assert(unlink(path) == 0);
    snprintf(path, sizeof(path), "%s/kept", top);
    cr_assert(rmdir(path) == 0);
    cr_assert(rmdir(top) == 0, "something is left");
}
