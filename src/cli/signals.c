/* signals.c - defers a request to stop until work can stop without half an output, for at most
 * PATIENCE. */
#include "cli/cli.h"

#include <signal.h>
#include <string.h>
#include <sys/time.h>
#include <time.h>
#include <unistd.h>

volatile int vxs_interrupted = 0;

#define ONE_REQUEST 0.5     /* seconds; wrappers such as timeout send a signal twice in a row */
#define PATIENCE    1500000 /* microseconds within which work should stop by itself */

static struct timespec first_request;
static char name[64] = "voxsift: ";

void vxs_signals_name(const char *command)
{
    snprintf(name, sizeof(name), "voxsift %s: ", command);
}

static void write_text(const char *text)
{
    (void)!write(STDERR_FILENO, text, strlen(text));
}

/* Ends the program like an interrupted run. Outputs appear by one rename, so that none is partial.
 */
static void end_now(vxs_status status, const char *message)
{
    vxs_temporaries_remove();
    if (isatty(STDERR_FILENO))
        write_text("\r\033[K");
    write_text(name);
    write_text(message);
    write_text("\n");
    _exit((int)status);
}

/* Ends work that does not check for interrupts for PATIENCE, such as one call of another library.
 */
static void stop_now(int number)
{
    (void)number;
    end_now(VXS_INTERRUPTED, "interrupted");
}

/* Handles a mapped file that was truncated or is on a failing disk: bad data like any other, on the
 * thread that reads it first. */
static void end_of_map(int number, siginfo_t *info, void *context)
{
    static int first;
    char line[1024];
    (void)context;
    while (__atomic_exchange_n(&first, 1, __ATOMIC_ACQ_REL))
        pause(); /* the first thread ends the process */
    vxs_status status = vxs_mapping_fault(info->si_addr, line, sizeof(line));
    if (status)
        end_now(status, line);
    signal(number, SIG_DFL); /* a bug of voxsift */
    raise(number);
}

/* Records the request; a later second request ends the program at once. Async-signal-safe calls
 * only. */
static void remember(int number)
{
    static const struct itimerval wait = { .it_value = { PATIENCE / 1000000, PATIENCE % 1000000 } };
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    if (!vxs_interrupted) {
        first_request = now;
        vxs_interrupted = 1;
        (void)setitimer(ITIMER_REAL, &wait, NULL);
        return;
    }
    double since = (double)(now.tv_sec - first_request.tv_sec) +
                   1e-9 * (double)(now.tv_nsec - first_request.tv_nsec);
    if (since > ONE_REQUEST)
        stop_now(number);
}

/* Does not restart reads and writes, so that waiting for a slow pipe ends too. Signals ignored by
 * the caller (nohup) stay ignored. SIGXFSZ and SIGPIPE are ignored: the write fails instead. */
void vxs_signals_catch(void)
{
    static const int stops[] = { SIGINT, SIGTERM, SIGHUP, SIGXCPU };
    struct sigaction action = { .sa_handler = remember }, old;
    struct sigaction late = { .sa_handler = stop_now };
    sigemptyset(&action.sa_mask);
    struct sigaction bus = { .sa_sigaction = end_of_map, .sa_flags = SA_SIGINFO };
    sigemptyset(&late.sa_mask);
    sigemptyset(&bus.sa_mask);
    sigaction(SIGBUS, &bus, NULL);
    sigaction(SIGALRM, &late, NULL);
    for (size_t i = 0; i < sizeof(stops) / sizeof(stops[0]); i++)
        if (sigaction(stops[i], NULL, &old) == 0 && old.sa_handler != SIG_IGN)
            sigaction(stops[i], &action, NULL);
    signal(SIGXFSZ, SIG_IGN);
    signal(SIGPIPE, SIG_IGN);
}
