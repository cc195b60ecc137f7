/* signals.c - a request to stop is kept until work can stop without leaving half an output; not for
 * longer than it takes to lose patience. */
#include "cli/cli.h"

#include <signal.h>
#include <string.h>
#include <sys/time.h>
#include <time.h>
#include <unistd.h>

volatile int vxs_interrupted = 0;

#define ONE_REQUEST 0.5     /* seconds; wrappers such as timeout send a signal twice in a row */
#define PATIENCE    1500000 /* microseconds in which work can stop by itself */

static struct timespec first_request;
static char last_words[96] = "voxsift: interrupted\n";

void vxs_signals_name(const char *command)
{
    snprintf(last_words, sizeof(last_words), "voxsift %s: interrupted\n", command);
}

/* Ends the program as if its work had stopped: for work that does not look at requests for so long,
 * such as one call of another library. Outputs appear by one rename, so that none is half. */
static void stop_now(int number)
{
    static const char clear[] = "\r\033[K";
    (void)number;
    vxs_leftovers_remove();
    if (isatty(STDERR_FILENO))
        (void)!write(STDERR_FILENO, clear, sizeof(clear) - 1);
    (void)!write(STDERR_FILENO, last_words, strlen(last_words));
    _exit(VXS_INTERRUPTED);
}

/* Whoever asks again later is obeyed at once. Only calls that a handler may make. */
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

/* Reads and writes are not restarted, so that waiting for a slow pipe ends as well. What the caller
 * ignores (nohup) stays ignored. A limit on file size, or a reader of our messages that goes away,
 * shows as a failed write. */
void vxs_signals_catch(void)
{
    static const int stops[] = { SIGINT, SIGTERM, SIGHUP, SIGXCPU };
    struct sigaction action = { .sa_handler = remember }, old;
    struct sigaction late = { .sa_handler = stop_now };
    sigemptyset(&action.sa_mask);
    sigemptyset(&late.sa_mask);
    sigaction(SIGALRM, &late, NULL);
    for (size_t i = 0; i < sizeof(stops) / sizeof(stops[0]); i++)
        if (sigaction(stops[i], NULL, &old) == 0 && old.sa_handler != SIG_IGN)
            sigaction(stops[i], &action, NULL);
    signal(SIGXFSZ, SIG_IGN);
    signal(SIGPIPE, SIG_IGN);
}
