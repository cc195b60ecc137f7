/* signals.c - a request to stop is kept until work can stop without leaving half an output. */
#include "cli/cli.h"

#include <signal.h>

volatile int vxs_interrupted = 0;

static void remember(int number)
{
    (void)number;
    vxs_interrupted = 1;
}

/* SA_RESETHAND: whoever asks twice is obeyed at once. Reads and writes are not restarted, so that
 * waiting for a slow pipe ends as well. What the caller ignores (nohup) stays ignored. A limit on
 * file size, or a reader of our messages that goes away, shows as a failed write. */
void vxs_signals_catch(void)
{
    static const int stops[] = { SIGINT, SIGTERM, SIGHUP, SIGXCPU };
    struct sigaction action = { .sa_handler = remember, .sa_flags = (int)SA_RESETHAND }, old;
    sigemptyset(&action.sa_mask);
    for (size_t i = 0; i < sizeof(stops) / sizeof(stops[0]); i++)
        if (sigaction(stops[i], NULL, &old) == 0 && old.sa_handler != SIG_IGN)
            sigaction(stops[i], &action, NULL);
    signal(SIGXFSZ, SIG_IGN);
    signal(SIGPIPE, SIG_IGN);
}
