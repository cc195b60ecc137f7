/* threads.c - the number of threads and its source. */
#include "core/blas.h"
#include "voxsift/internal/machine.h"

#include <pthread.h>
#include <sched.h>
#include <stdlib.h>
#include <string.h>

/* Control groups v2 have "quota period" or "max period" in one file, v1 the two numbers in two. */
static double read_quota(const char *path, const char *period_path)
{
    FILE *file = fopen(path, "r");
    if (!file)
        return 0;
    double quota = 0, period = 0;
    int got = fscanf(file, "%lf %lf", &quota, &period);
    fclose(file);
    if (got == 1 && period_path && (file = fopen(period_path, "r"))) {
        got += fscanf(file, "%lf", &period);
        fclose(file);
    }
    return got == 2 && quota > 0 && period > 0 ? quota / period : 0;
}

/* The minimum over the process's control group and its ancestors, version 2; 0 when unlimited. */
static double smallest_quota(void)
{
    char line[1024] = "", path[1280];
    double smallest = 0;
    FILE *file = fopen("/proc/self/cgroup", "r");
    while (file && fgets(line, sizeof(line), file) && strncmp(line, "0::", 3) != 0)
        line[0] = '\0';
    if (file)
        fclose(file);
    char *group = line[0] ? line + 3 : line;
    group[strcspn(group, "\n")] = '\0';
    for (;;) {
        snprintf(path, sizeof(path), "/sys/fs/cgroup%s/cpu.max", group);
        double quota = read_quota(path, NULL);
        if (quota > 0 && (smallest == 0 || quota < smallest))
            smallest = quota;
        char *slash = strrchr(group, '/');
        if (!slash)
            return smallest;
        *slash = '\0';
    }
}

int vxs_cores_allowed(void)
{
    int cores = 1;
    cpu_set_t set;
    if (sched_getaffinity(0, sizeof(set), &set) == 0)
        cores = CPU_COUNT(&set);
    double quota = smallest_quota();
    if (!(quota > 0))
        quota = read_quota("/sys/fs/cgroup/cpu/cpu.cfs_quota_us",
                           "/sys/fs/cgroup/cpu/cpu.cfs_period_us");
    if (quota > 0 && quota < cores)
        cores = quota < 1 ? 1 : (int)quota;
    return cores < VXS_MAX_THREADS ? cores : VXS_MAX_THREADS;
}

/* 0 when the variable is not set. OMP_NUM_THREADS may be a list, one number per nesting level: the
 * first one counts. */
static vxs_status from_environment(const char *name, int *count, vxs_error *err)
{
    const char *text = getenv(name);
    *count = 0;
    if (!text || !*text)
        return VXS_OK;
    char first[32] = "";
    int64_t value = 0;
    const char *start = text + strspn(text, " ");
    size_t length = strcspn(start, ", ");
    if (length < sizeof(first))
        memcpy(first, start, length);
    if (!vxs_parse_whole(first, &value) || value < 1 || value > VXS_MAX_THREADS)
        return vxs_fail(err, VXS_MISUSE,
                        "environment variable %s must be a whole number between 1 and %d, not '%s'",
                        name, VXS_MAX_THREADS, text);
    *count = (int)value;
    return VXS_OK;
}

vxs_status vxs_choose_threads(int required, vxs_thread_choice *choice, vxs_error *err)
{
    static const char *const variables[] = { "VOXSIFT_NTHREADS", "SLURM_CPUS_PER_TASK",
                                             "OMP_NUM_THREADS" };
    if (required > VXS_MAX_THREADS)
        return vxs_fail(err, VXS_MISUSE, "at most %d threads can be used, not %d", VXS_MAX_THREADS,
                        required);
    if (required > 0) {
        *choice = (vxs_thread_choice){ required, "--nthreads" };
        return VXS_OK;
    }
    for (size_t i = 0; i < sizeof(variables) / sizeof(variables[0]); i++) {
        int count = 0;
        vxs_status status = from_environment(variables[i], &count, err);
        if (status)
            return status;
        if (count > 0) {
            *choice = (vxs_thread_choice){ count, variables[i] };
            return VXS_OK;
        }
    }
    *choice = (vxs_thread_choice){ vxs_cores_allowed(), "the cores this process may use" };
    return VXS_OK;
}

/* Stack size of one thread: OMP_STACKSIZE is left to the user. */
static size_t stack_size(void)
{
    pthread_attr_t attributes;
    size_t size = 0, guard = 0;
    if (pthread_attr_init(&attributes) != 0)
        return 0;
    pthread_attr_getstacksize(&attributes, &size);
    pthread_attr_getguardsize(&attributes, &guard);
    pthread_attr_destroy(&attributes);
    return size + guard;
}

vxs_status vxs_threads_start(int count, vxs_error *err)
{
    size_t size = stack_size();
    if (count > 1 && !vxs_room_for((size_t)count - 1, size))
        return vxs_fail(err, VXS_FAILED,
                        "not enough memory for threads, whose stacks take %zu MB each "
                        "(--nthreads %d)",
                        size >> 20, count);
    int started = 0;
#pragma omp parallel num_threads(count) if (count > 1)
#pragma omp atomic
    started++;
    return started > 0 ? VXS_OK : VXS_FAILED;
}
