/* cmd_methods.c - voxsift methods. */
#include "cli/cli.h"

#include <string.h>

static const vxs_operand operands[] = {
    { .name = "METHOD",
      .help = "print the page about this method",
      .choices = vxs_method_names,
      .optional = true },
    { .name = NULL },
};

static const vxs_example examples[] = {
    { "voxsift methods", "compare the methods" },
    { "voxsift methods fused", "describe a method" },
    { "voxsift methods --json", "print all methods with parameters and ranges, for a script" },
    { NULL, NULL },
};

static void print_param_json(vxs_json_writer *writer, const vxs_param *param)
{
    char expects[VXS_WORDS_SIZE], given[VXS_WORDS_SIZE];
    vxs_param_expects(param, expects, sizeof(expects));
    vxs_param_default(param, given, sizeof(given));
    vxs_json_open_object(writer, NULL);
    vxs_json_text(writer, "name", param->name);
    vxs_json_text(writer, "help", param->help);
    vxs_json_text(writer, "expects", expects);
    vxs_json_text(writer, "default", *given ? given : NULL);
    vxs_json_close_object(writer);
}

void vxs_print_methods_json(FILE *out, const vxs_method *methods)
{
    vxs_json_writer writer;
    vxs_json_init(&writer, out);
    vxs_json_open_object(&writer, NULL);
    vxs_json_open_array(&writer, "methods");
    for (const vxs_method *m = methods; m->name; m++) {
        vxs_json_open_object(&writer, NULL);
        vxs_json_text(&writer, "name", m->name);
        vxs_json_text(&writer, "summary", m->summary);
        vxs_json_text(&writer, "source", m->source);
        vxs_json_text(&writer, "target", vxs_method_target(m));
        vxs_json_bool(&writer, "needs_graph", m->graph == VXS_GRAPH_NEEDED);
        vxs_json_open_array(&writer, "parameters");
        for (const vxs_param *p = m->params; p->name; p++)
            print_param_json(&writer, p);
        vxs_json_close_array(&writer);
        vxs_json_close_object(&writer);
    }
    vxs_json_close_array(&writer);
    vxs_warnings_json(&writer, NULL);
    vxs_json_close_object(&writer);
}

static vxs_status run(const vxs_call *call, vxs_error *err)
{
    const char *name = call->operands[0];
    (void)err;
    if (call->shared->json)
        vxs_print_methods_json(call->out, vxs_methods);
    else if (!name)
        vxs_print_methods(call->out, vxs_methods);
    for (const vxs_method *m = vxs_methods; name && !call->shared->json && m->name; m++)
        if (strcmp(m->name, name) == 0)
            vxs_help_method(call->out, m);
    return VXS_OK;
}

const vxs_command vxs_cmd_methods = {
    .name = "methods",
    .heading = "About voxsift",
    .summary = "compare the prediction methods, or describe one",
    .details =
        "A table: method, target (scores, classes or both), what the map looks like, and what "
        "to use it for. With METHOD the same page as 'voxsift help METHOD'. --json lists all "
        "parameters with their ranges and defaults.",
    .operands = operands,
    .takes = VXS_TAKES_JSON,
    .examples = examples,
    .run = run,
};
