#include "tests/core/check.h"

static void clear(void)
{
    unsetenv("VOXSIFT_NTHREADS");
    unsetenv("SLURM_CPUS_PER_TASK");
    unsetenv("OMP_NUM_THREADS");
}

Test(threads, the_order_is_option_ours_slurm_openmp_cores)
{
    vxs_error err = VXS_ERROR_INIT;
    vxs_thread_choice choice;
    clear();
    WORKS(vxs_choose_threads(0, &choice, &err), err);
    cr_assert(choice.count == vxs_cores_allowed());
    setenv("OMP_NUM_THREADS", "3,2", 1);
    WORKS(vxs_choose_threads(0, &choice, &err), err);
    cr_assert(choice.count == 3 && strcmp(choice.source, "OMP_NUM_THREADS") == 0);
    setenv("SLURM_CPUS_PER_TASK", "4", 1);
    WORKS(vxs_choose_threads(0, &choice, &err), err);
    cr_assert(choice.count == 4 && strcmp(choice.source, "SLURM_CPUS_PER_TASK") == 0);
    setenv("VOXSIFT_NTHREADS", "5", 1);
    WORKS(vxs_choose_threads(0, &choice, &err), err);
    cr_assert(choice.count == 5 && strcmp(choice.source, "VOXSIFT_NTHREADS") == 0);
    WORKS(vxs_choose_threads(6, &choice, &err), err);
    cr_assert(choice.count == 6 && strcmp(choice.source, "--nthreads") == 0);
    setenv("VOXSIFT_NTHREADS", "", 1);
    WORKS(vxs_choose_threads(0, &choice, &err), err);
    cr_assert(choice.count == 4, "an empty variable is not set");
}

Test(threads, a_bad_variable_is_named)
{
    vxs_error err = VXS_ERROR_INIT;
    vxs_thread_choice choice;
    static const char *const bad[] = {
        "abc", "0", "-1", "1.5", "99999", "1x", "000000000000000000000000000000000000000001"
    };
    clear();
    for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
        setenv("VOXSIFT_NTHREADS", bad[i], 1);
        REFUSES(vxs_choose_threads(0, &choice, &err), err, VXS_MISUSE, "VOXSIFT_NTHREADS must be");
    }
}

Test(threads, there_is_at_least_one_core)
{
    cr_assert(vxs_cores_allowed() >= 1 && vxs_cores_allowed() <= VXS_MAX_THREADS);
    cr_assert(strlen(vxs_blas_description()) > 0);
}
