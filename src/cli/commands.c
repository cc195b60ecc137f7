/* commands.c - the table of commands. A new command needs its file, a declaration and a row here.
 */
#include "cli/cli.h"

#include <string.h>

extern const vxs_command vxs_cmd_info, vxs_cmd_regions, vxs_cmd_match, vxs_cmd_cohort,
    vxs_cmd_patches, vxs_cmd_simulate, vxs_cmd_fit, vxs_cmd_path, vxs_cmd_cv, vxs_cmd_permute,
    vxs_cmd_stability, vxs_cmd_merge, vxs_cmd_compare, vxs_cmd_predict, vxs_cmd_report,
    vxs_cmd_check_model, vxs_cmd_methods, vxs_cmd_version, vxs_cmd_describe, vxs_cmd_completion,
    vxs_cmd_help;

const vxs_command *const vxs_commands[] = {
    &vxs_cmd_info,      &vxs_cmd_regions,
    &vxs_cmd_match,     &vxs_cmd_cohort,
    &vxs_cmd_patches,   &vxs_cmd_simulate,
    &vxs_cmd_fit,       &vxs_cmd_path,
    &vxs_cmd_cv,        &vxs_cmd_permute,
    &vxs_cmd_stability, &vxs_cmd_compare,
    &vxs_cmd_merge,     &vxs_cmd_predict,
    &vxs_cmd_report,    &vxs_cmd_check_model,
    &vxs_cmd_methods,   &vxs_cmd_version,
    &vxs_cmd_describe,  &vxs_cmd_completion,
    &vxs_cmd_help,      NULL,
};

#define COMMANDS (sizeof(vxs_commands) / sizeof(vxs_commands[0]))

/* Refilled with the same pointers at every call, so that the table remains the only list. */
const char *const *vxs_command_names(void)
{
    static const char *names[COMMANDS];
    for (size_t i = 0; vxs_commands[i]; i++)
        names[i] = vxs_commands[i]->name;
    return names;
}

const char *const *vxs_operand_choices(const vxs_operand *operand)
{
    return operand->names ? operand->names() : operand->choices;
}

const vxs_command *vxs_command_find(const char *name)
{
    for (size_t i = 0; vxs_commands[i]; i++)
        if (strcmp(vxs_commands[i]->name, name) == 0)
            return vxs_commands[i];
    return NULL;
}

const vxs_command *vxs_command_require(const char *name, vxs_error *err)
{
    const vxs_command *command = vxs_command_find(name);
    if (command)
        return command;
    const char *near = vxs_hint_command(name);
    if (!near)
        near = vxs_nearest(name, vxs_command_names());
    if (near)
        vxs_fail(err, VXS_MISUSE, "unknown command '%s'; did you mean '%s'?", name, near);
    else
        vxs_fail(err, VXS_MISUSE, "unknown command '%s'; see 'voxsift help'", name);
    return NULL;
}
