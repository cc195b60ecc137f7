/* cmd_describe.c - voxsift describe: writes a command as a Boutiques descriptor (schema 0.5). */
#include "cli/cli.h"

#include <ctype.h>
#include <math.h>
#include <string.h>

typedef struct {
    bool boutiques;
} settings;

static const vxs_operand operands[] = {
    { .name = "COMMAND", .help = "command to describe", .names = vxs_command_names },
    { .name = NULL },
};

static const vxs_param params[] = {
    VXS_FLAG_ROW("boutiques", offsetof(settings, boutiques),
                 "print a Boutiques descriptor, schema 0.5", .head = VXS_HEAD_OUTPUT),
    { .name = NULL },
};

static const vxs_example examples[] = {
    { "voxsift describe --boutiques cv > voxsift-cv.json",
      "export 'voxsift cv' to a platform that reads Boutiques descriptors" },
    { NULL, NULL },
};

#define ID 64
/* Makes the identifier "lambda_ratio", or "LAMBDA_RATIO" for the command line, from lambda-ratio.
 */
static void make_id(const char *name, bool upper, char id[ID])
{
    size_t k = 0;
    for (; name[k] && k + 1 < ID; k++)
        id[k] = name[k] == '-' ? '_' : (char)(upper ? toupper((unsigned char)name[k]) : name[k]);
    id[k] = '\0';
}

/* Writes an identifier. Options must differ in more than case, or their identifiers collide. */
static void id_text(vxs_json_writer *w, const char *key, const char *name)
{
    char id[ID];
    make_id(name, false, id);
    vxs_json_text(w, key, id);
}

static void value_key(const char *name, char key[ID + 2])
{
    char id[ID];
    make_id(name, true, id);
    snprintf(key, ID + 2, "[%s]", id);
}

/* True if the value of an option is a path in all cases. */
static bool is_file(const vxs_param *p)
{
    return p->type == VXS_PARAM_PATH && strcmp(p->name, "out") != 0 &&
           (strcmp(p->value, "FILE") == 0 || strcmp(p->value, "TABLE") == 0 ||
            strcmp(p->value, "DIR") == 0) &&
           strcmp(p->name, "atlas") != 0;
}

static void write_choices(vxs_json_writer *w, const char *const *choices)
{
    vxs_json_open_array(w, "value-choices");
    for (size_t k = 0; choices && choices[k]; k++)
        vxs_json_text(w, NULL, choices[k]);
    vxs_json_close_array(w);
}

/* True if all methods or models with an option of this name give it the same type. */
static bool has_one_type(const vxs_option *option)
{
    vxs_kind kinds[VXS_MAX_KINDS];
    size_t count = vxs_kinds_of((int)option->place, kinds);
    for (size_t k = 0; k < count; k++) {
        const vxs_param *p = vxs_kind_param(&kinds[k], option->param->name);
        if (p && p->type != option->param->type)
            return false;
    }
    return true;
}

static void write_numbers(vxs_json_writer *w, const vxs_param *p)
{
    if (p->type == VXS_PARAM_WHOLE)
        vxs_json_bool(w, "integer", true);
    if (isfinite(p->min))
        vxs_json_real(w, "minimum", p->min);
    if (isfinite(p->max))
        vxs_json_real(w, "maximum", p->max);
}

static void write_option(vxs_json_writer *w, const vxs_option *option)
{
    const vxs_param *p = option->param;
    char key[ID + 2], flag[ID];
    bool flagged = p->type == VXS_PARAM_FLAG;
    bool number = (p->type == VXS_PARAM_WHOLE || p->type == VXS_PARAM_REAL) && !p->choices &&
                  has_one_type(option);
    value_key(p->name, key);
    snprintf(flag, sizeof(flag), "--%s", p->name);
    vxs_json_open_object(w, NULL);
    id_text(w, "id", p->name);
    vxs_json_text(w, "name", p->name);
    vxs_json_text(w, "description", p->help);
    vxs_json_text(w, "type", flagged ? "Flag" : number ? "Number" : is_file(p) ? "File" : "String");
    vxs_json_text(w, "value-key", key);
    vxs_json_text(w, "command-line-flag", flag);
    vxs_json_bool(w, "optional", !p->required);
    if (number)
        write_numbers(w, p);
    if (p->type == VXS_PARAM_CHOICE && has_one_type(option))
        write_choices(w, p->choices);
    vxs_json_close_object(w);
}

static void write_operand(vxs_json_writer *w, const vxs_operand *o)
{
    const char *const *choices = vxs_operand_choices(o);
    char key[ID + 2], id[ID];
    value_key(o->name, key);
    for (size_t k = 0; k <= strlen(o->name) && k < ID; k++)
        id[k] = (char)tolower((unsigned char)o->name[k]);
    vxs_json_open_object(w, NULL);
    id_text(w, "id", id);
    vxs_json_text(w, "name", id);
    vxs_json_text(w, "description", o->help);
    vxs_json_text(w, "type", choices ? "String" : "File");
    vxs_json_text(w, "value-key", key);
    vxs_json_bool(w, "optional", o->optional);
    if (o->repeat)
        vxs_json_bool(w, "list", true);
    if (choices)
        write_choices(w, choices);
    vxs_json_close_object(w);
}

static void write_command_line(vxs_json_writer *w, const vxs_command *command,
                               const vxs_option *options, size_t count)
{
    char line[VXS_MAX_OPTIONS * (ID + 3)], key[ID + 2];
    size_t used = (size_t)snprintf(line, sizeof(line), "voxsift %s", command->name);
    for (const vxs_operand *o = command->operands; o->name && used < sizeof(line); o++) {
        value_key(o->name, key);
        used += (size_t)snprintf(line + used, sizeof(line) - used, " %s", key);
    }
    for (size_t k = 0; k < count && used < sizeof(line); k++) {
        value_key(options[k].param->name, key);
        used += (size_t)snprintf(line + used, sizeof(line) - used, " %s", key);
    }
    vxs_json_text(w, "command-line", line);
}

/* Writes the headings of help as groups. */
static void write_groups(vxs_json_writer *w, const vxs_option *options, size_t count)
{
    vxs_json_open_array(w, "groups");
    for (int head = 0; head < VXS_HEADS; head++) {
        size_t members = 0;
        for (size_t k = 0; k < count; k++)
            members += (int)options[k].param->head == head;
        if (members == 0)
            continue;
        char id[ID];
        snprintf(id, sizeof(id), "group%d", head);
        vxs_json_open_object(w, NULL);
        vxs_json_text(w, "id", id);
        vxs_json_text(w, "name", vxs_head_names[head]);
        vxs_json_open_array(w, "members");
        for (size_t k = 0; k < count; k++)
            if ((int)options[k].param->head == head)
                id_text(w, NULL, options[k].param->name);
        vxs_json_close_array(w);
        vxs_json_close_object(w);
    }
    vxs_json_close_array(w);
}

static void write_outputs(vxs_json_writer *w, const vxs_option *options, size_t count)
{
    for (size_t k = 0; k < count; k++) {
        if (strcmp(options[k].param->name, "out") != 0)
            continue;
        vxs_json_open_array(w, "output-files");
        vxs_json_open_object(w, NULL);
        vxs_json_text(w, "id", "output");
        vxs_json_text(w, "name", "output");
        vxs_json_text(w, "description", options[k].param->help);
        vxs_json_text(w, "path-template", "[OUT]");
        vxs_json_bool(w, "optional", !options[k].param->required);
        vxs_json_close_object(w);
        vxs_json_close_array(w);
    }
}

static void print_boutiques(FILE *out, const vxs_command *command)
{
    vxs_option options[VXS_MAX_OPTIONS];
    size_t count = vxs_offered_options(command, options);
    char name[ID];
    vxs_json_writer w;
    snprintf(name, sizeof(name), "voxsift %s", command->name);
    vxs_json_init(&w, out);
    vxs_json_open_object(&w, NULL);
    vxs_json_text(&w, "name", name);
    vxs_json_text(&w, "description", command->summary);
    vxs_json_text(&w, "tool-version", VXS_VERSION);
    vxs_json_text(&w, "schema-version", "0.5");
    write_command_line(&w, command, options, count);
    vxs_json_open_array(&w, "inputs");
    for (const vxs_operand *o = command->operands; o->name; o++)
        write_operand(&w, o);
    for (size_t k = 0; k < count; k++)
        write_option(&w, &options[k]);
    vxs_json_close_array(&w);
    write_groups(&w, options, count);
    write_outputs(&w, options, count);
    vxs_json_close_object(&w);
}

static vxs_status run(const vxs_call *call, vxs_error *err)
{
    const settings *s = call->values;
    if (!s->boutiques)
        return vxs_fail(err, VXS_MISUSE, "pass --boutiques, the format of the description");
    print_boutiques(call->out, vxs_command_find(call->operands[0]));
    return VXS_OK;
}

const vxs_command vxs_cmd_describe = {
    .name = "describe",
    .heading = "About voxsift",
    .summary = "describe a command for workflow platforms (Boutiques)",
    .details =
        "Prints arguments, options with ranges, and outputs of a command as a Boutiques descriptor "
        "(JSON, schema 0.5). The descriptor has the options of all methods.",
    .operands = operands,
    .params = params,
    .examples = examples,
    .run = run,
};
