/* cmd_help.c - voxsift help. */
#include "cli/cli.h"

#include <string.h>

#define AT(member) offsetof(settings, member)

typedef struct {
    bool man;
} settings;

#define MOST_NAMES 64
/* Names of commands, methods and topics. */
static const char *const *names(void)
{
    static const char *all[MOST_NAMES + 1];
    size_t count = 0;
    for (size_t i = 0; vxs_commands[i] && count < MOST_NAMES; i++)
        all[count++] = vxs_commands[i]->name;
    for (size_t k = 0; vxs_method_names[k] && count < MOST_NAMES; k++)
        all[count++] = vxs_method_names[k];
    for (size_t k = 0; vxs_topics[k].name && count < MOST_NAMES; k++)
        all[count++] = vxs_topics[k].name;
    return all;
}

static const vxs_operand operands[] = {
    { .name = "TOPIC", .help = "a command, a method or a topic", .names = names, .optional = true },
    { .name = NULL },
};

static const vxs_param params[] = {
    VXS_FLAG_ROW("man", AT(man), "print the source of the manual page of a command",
                 .head = VXS_HEAD_OUTPUT),
    { .name = NULL },
};

static const vxs_example examples[] = {
    { "voxsift help fit", "describe 'voxsift fit' and its options" },
    { "voxsift help lasso", "describe a method" },
    { "voxsift help --man simulate | man -l -", "show the manual page of a command" },
    { NULL, NULL },
};

/* Prints the page of a method or topic. */
static bool print_page(FILE *out, const char *name)
{
    for (const vxs_method *m = vxs_methods; m->name; m++)
        if (strcmp(m->name, name) == 0) {
            vxs_help_method(out, m);
            return true;
        }
    for (const vxs_topic *topic = vxs_topics; topic->name; topic++)
        if (strcmp(topic->name, name) == 0) {
            vxs_help_topic(out, topic);
            return true;
        }
    return false;
}

static vxs_status run(const vxs_call *call, vxs_error *err)
{
    const settings *s = call->values;
    const char *name = call->operands[0];
    if (!name) {
        (s->man ? vxs_man_overview : vxs_help_overview)(call->out);
        return VXS_OK;
    }
    if (!s->man && !vxs_command_find(name) && print_page(call->out, name))
        return VXS_OK;
    const vxs_command *command = vxs_command_require(name, err);
    if (!command)
        return VXS_MISUSE;
    if (s->man)
        vxs_man_command(call->out, command);
    else
        vxs_help_command(call->out, command, command->takes & VXS_TAKES_METHOD ? 0 : -1);
    return VXS_OK;
}

const vxs_command vxs_cmd_help = {
    .name = "help",
    .heading = "About voxsift",
    .summary = "print help on voxsift, a command, a method or a topic",
    .details = "Without an argument, prints the commands, topics and exit codes.",
    .operands = operands,
    .params = params,
    .examples = examples,
    .run = run,
};
