/* signals.c - a request to stop is kept until work can stop without leaving half an output. */
#include "cli/cli.h"

#include <signal.h>
#include <time.h>

volatile int vxs_interrupted = 0;

#define ONE_REQUEST 0.5 /* seconds; wrappers such as timeout send a signal twice in a row */

static struct timespec first_request;

/* Whoever asks again later is obeyed at once. Only calls that a handler may make. */
static void remember(int number)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    if (!vxs_interrupted) {
        first_request = now;
        vxs_interrupted = 1;
        return;
    }
    double since = (double)(now.tv_sec - first_request.tv_sec) +
                   1e-9 * (double)(now.tv_nsec - first_request.tv_nsec);
    if (since > ONE_REQUEST) {
        signal(number, SIG_DFL);
        raise(number);
    }
}

/* Reads and writes are not restarted, so that waiting for a slow pipe ends as well. What the caller
 * ignores (nohup) stays ignored. A limit on file size, or a reader of our messages that goes away,
 * shows as a failed write. */
void vxs_signals_catch(void)
{
    static const int stops[] = { SIGINT, SIGTERM, SIGHUP, SIGXCPU };
    struct sigaction action = { .sa_handler = remember }, old;
    sigemptyset(&action.sa_mask);
    for (size_t i = 0; i < sizeof(stops) / sizeof(stops[0]); i++)
        if (sigaction(stops[i], NULL, &old) == 0 && old.sa_handler != SIG_IGN)
            sigaction(stops[i], &action, NULL);
    signal(SIGXFSZ, SIG_IGN);
    signal(SIGPIPE, SIG_IGN);
}
