/* main.c - the program. Results that did not reach standard output are a failure like any other. */
#include "cli/cli.h"

int main(int argc, char **argv)
{
    vxs_error err = VXS_ERROR_INIT;
    vxs_signals_catch();
    int code = vxs_run(argc, argv, stdout, stderr);
    vxs_status closed = vxs_file_close(stdout, "standard output", &err);
    if (closed && code == VXS_OK) {
        fprintf(stderr, "voxsift: %s\n", err.message);
        code = (int)closed;
    }
    return code;
}
