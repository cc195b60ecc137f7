/* cmd_help.c - voxsift help. */
#include "cli/cli.h"

#define AT(member) offsetof(settings, member)

typedef struct {
    bool man;
} settings;

static const vxs_operand operands[] = {
    { .name = "COMMAND", .help = "the command to tell about", .command = true, .optional = true },
    { .name = NULL },
};

static const vxs_param params[] = {
    VXS_FLAG_ROW("man", AT(man), "print the source of the manual page instead"),
    { .name = NULL },
};

static const vxs_example examples[] = {
    { "voxsift help simulate", "see what 'voxsift simulate' does and takes" },
    { "voxsift help --man simulate | man -l -", "read the same as a manual page" },
    { NULL, NULL },
};

static vxs_status run(const vxs_call *call, vxs_error *err)
{
    const settings *s = call->values;
    const char *name = call->operands[0];
    if (!name) {
        (s->man ? vxs_man_overview : vxs_help_overview)(call->out);
        return VXS_OK;
    }
    const vxs_command *command = vxs_command_wanted(name, err);
    if (!command)
        return VXS_MISUSE;
    (s->man ? vxs_man_command : vxs_help_command)(call->out, command);
    return VXS_OK;
}

const vxs_command vxs_cmd_help = {
    .name = "help",
    .heading = "About voxsift",
    .summary = "tell what voxsift or one of its commands does",
    .details = "Without an argument, lists the commands and the exit codes.",
    .operands = operands,
    .params = params,
    .examples = examples,
    .run = run,
};
