/* cmd_completion.c - voxsift completion. */
#include "cli/cli.h"

#include <string.h>

static const vxs_operand operands[] = {
    { .name = "SHELL", .help = "bash, zsh or fish", .choices = vxs_shells },
    { .name = NULL },
};

static const vxs_example examples[] = {
    { "source <(voxsift completion bash)", "complete commands and options in this bash" },
    { "voxsift completion zsh > \"${fpath[1]}/_voxsift\"", "install it for zsh" },
    { "voxsift completion fish > ~/.config/fish/completions/voxsift.fish", "install it for fish" },
    { NULL, NULL },
};

static vxs_status run(const vxs_call *call, vxs_error *err)
{
    (void)err;
    for (int shell = 0; vxs_shells[shell]; shell++)
        if (strcmp(vxs_shells[shell], call->operands[0]) == 0)
            vxs_complete(call->out, shell);
    return VXS_OK;
}

const vxs_command vxs_cmd_completion = {
    .name = "completion",
    .heading = "About voxsift",
    .summary = "print the completion script for a shell",
    .details = "'make install' puts the scripts where the shells look for them; this is for "
               "everybody else.",
    .operands = operands,
    .examples = examples,
    .run = run,
};
