/* cmd_completion.c - voxsift completion. */
#include "cli/cli.h"

#include <string.h>

static const vxs_operand operands[] = {
    { .name = "SHELL", .help = "bash, zsh or fish", .choices = vxs_shells },
    { .name = NULL },
};

static const vxs_example examples[] = {
    { "source <(voxsift completion bash)", "enable completion in this shell" },
    { "voxsift completion zsh > \"${fpath[1]}/_voxsift\"", "install completion for zsh" },
    { "voxsift completion fish > ~/.config/fish/completions/voxsift.fish",
      "install completion for fish" },
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
    .details =
        "'make install' installs these scripts for all users; this command prints one for your own "
        "shell.",
    .operands = operands,
    .examples = examples,
    .run = run,
};
