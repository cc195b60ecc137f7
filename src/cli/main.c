/* main.c - the program. Results that did not reach standard output are a failure like any other. */
#include "cli/cli.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>

/* A closed descriptor would be given to the next file that is opened, and messages would be written
 * into data. What takes its place fails when it is used, as a closed one does. */
static void occupy_standard_streams(void)
{
    for (int fd = 0; fd < 3; fd++)
        if (fcntl(fd, F_GETFD) < 0 && errno == EBADF)
            (void)!open("/dev/null", fd == 0 ? O_WRONLY : O_RDONLY);
}

int main(int argc, char **argv)
{
    vxs_error err = VXS_ERROR_INIT;
    occupy_standard_streams();
    vxs_signals_catch();
    int code = vxs_run(argc, argv, stdout, stderr);
    errno = 0;
    if (fflush(stdout) != 0 && errno == EPIPE)
        return 128 + SIGPIPE; /* whoever read it has enough: no need to say so */
    vxs_status closed = vxs_file_close(stdout, "standard output", &err);
    if (closed && code == VXS_OK) {
        fprintf(stderr, "voxsift: %s\n", err.message);
        code = (int)closed;
    }
    return code;
}
