/* main.c - the program. Results that do not reach standard output are a failure like any other. */
#include "cli/cli.h"

#include <errno.h>
#include <fcntl.h>
#include <malloc.h>
#include <signal.h>
#include <sys/auxv.h>
#include <unistd.h>

/* ---- Before the libraries ---------------------------------------------------------------------
 *
 * OpenBLAS starts a thread for each core while it is loaded, each with 128 MB of address space, and
 * where these are not to be had (ulimit -v) it tries for ever. The threads are never used, for ours
 * call it. Idle threads of OpenMP spin, and beside other work on all cores keep a core from the
 * thread that they wait for: two threads then take four times as long as one. Only variables
 * prevent either, and only if they are there before the libraries are: so the program starts itself
 * once more. Where that cannot be, it goes on without. */

#define ONE_THREAD "OPENBLAS_NUM_THREADS=1"
#define NAME       21 /* characters of the variable up to and including '=' */
#define SLEEP      "OMP_WAIT_POLICY=passive"
#define SLEEP_NAME 16
#define SPIN       "GOMP_SPINCOUNT="
#define SPIN_NAME  15
#define MOST       4096 /* most environment variables; their addresses are copied onto the stack */

#define BARE __attribute__((no_sanitize("address", "thread", "undefined"))) /* no library yet */

BARE static bool begins_alike(const char *a, const char *b, int count)
{
    for (int i = 0; i < count; i++)
        if (a[i] != b[i])
            return false;
    return true;
}

/* Runs before all libraries are initialized, hence without them and without the sanitizers. A way
 * to wait that the user has set stays. */
BARE static void set_variables(int argc, char **argv, char **environment)
{
    const char *self = (const char *)getauxval(AT_EXECFN);
    size_t count = 0, kept = 0;
    bool one = false, waits = false;
    (void)argc;
    for (; environment[count]; count++) {
        one = one || begins_alike(environment[count], ONE_THREAD, (int)sizeof(ONE_THREAD));
        waits = waits || begins_alike(environment[count], SLEEP, SLEEP_NAME) ||
                begins_alike(environment[count], SPIN, SPIN_NAME);
    }
    if ((one && waits) || count > MOST)
        return;
    char *changed[MOST + 3];
    for (size_t i = 0; i < count; i++)
        if (!begins_alike(environment[i], ONE_THREAD, NAME))
            changed[kept++] = environment[i];
    changed[kept++] = (char *)ONE_THREAD;
    if (!waits)
        changed[kept++] = (char *)SLEEP;
    changed[kept] = NULL;
    if (self)
        (void)execve(self, argv, changed);
}
__attribute__((section(".preinit_array"), used)) static void (*before_all)(int, char **,
                                                                           char **) = set_variables;

/* ---- Main ------------------------------------------------------------------------------------ */

/* Occupies closed standard descriptors: the next opened file would get a closed one, and messages
 * would go into data. The substitute fails on use, as a closed descriptor does. */
static void occupy_standard_streams(void)
{
    for (int fd = 0; fd < 3; fd++)
        if (fcntl(fd, F_GETFD) < 0 && errno == EBADF)
            (void)!open("/dev/null", fd == 0 ? O_WRONLY : O_RDONLY);
}

/* Memory that a fit has freed is kept for the next: the system gives it page by page, which took a
 * tenth of the time of permutations. */
static void keep_memory(void)
{
#ifdef __GLIBC__
    (void)mallopt(M_MMAP_THRESHOLD, 32 << 20);
    (void)mallopt(M_TRIM_THRESHOLD, 64 << 20);
#endif
}

int main(int argc, char **argv)
{
    vxs_error err = VXS_ERROR_INIT;
    keep_memory();
    occupy_standard_streams();
    vxs_signals_catch();
    int code = vxs_run(argc, argv, stdout, stderr);
    errno = 0;
    if (fflush(stdout) != 0 && errno == EPIPE)
        return 128 + SIGPIPE; /* the reader closed the pipe on purpose: no message */
    vxs_status closed = vxs_file_close(stdout, "standard output", &err);
    if (closed && code == VXS_OK) {
        fprintf(stderr, "voxsift: %s\n", err.message);
        code = (int)closed;
    }
    return code;
}
