/* cmd_methods.c - voxsift methods. */
#include "cli/cli.h"

static const vxs_operand operands[] = { { .name = NULL } };

static const vxs_example examples[] = {
    { "voxsift methods", "see which methods this build has" },
    { "voxsift methods --json", "have a script read them, with every parameter and its range" },
    { NULL, NULL },
};

static void print_param_json(vxs_json_writer *writer, const vxs_param *param)
{
    char wants[VXS_WORDS_SIZE], given[VXS_WORDS_SIZE];
    vxs_param_wants(param, wants, sizeof(wants));
    vxs_param_default(param, given, sizeof(given));
    vxs_json_open_object(writer, NULL);
    vxs_json_text(writer, "name", param->name);
    vxs_json_text(writer, "help", param->help);
    vxs_json_text(writer, "wants", wants);
    vxs_json_text(writer, "default", *given ? given : NULL);
    vxs_json_close_object(writer);
}

static void print_json(FILE *out, const vxs_method *methods)
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

void vxs_print_methods(FILE *out, const vxs_method *methods, bool json)
{
    if (json) {
        print_json(out, methods);
        return;
    }
    if (!methods->name)
        fputs("This build has no prediction methods.\n", out);
    for (const vxs_method *m = methods; m->name; m++) {
        int column = fprintf(out, "%s - ", m->name);
        vxs_wrap(out, m->summary, 2, column, 80);
        fprintf(out, "  from: %s\n%s", m->source,
                m->graph == VXS_GRAPH_NEEDED ? "  needs: a graph (--graph)\n" : "");
        for (const vxs_param *p = m->params; p->name; p++) {
            char form[VXS_WORDS_SIZE], words[VXS_WORDS_SIZE];
            vxs_option_form(p, form, sizeof(form));
            vxs_param_words(p, words, sizeof(words));
            fprintf(out, "  %s\n%*s", form, 10, "");
            vxs_wrap(out, words, 10, 10, 80);
        }
    }
}

static vxs_status run(const vxs_call *call, vxs_error *err)
{
    (void)err;
    vxs_print_methods(call->out, vxs_methods, call->shared->json);
    return VXS_OK;
}

const vxs_command vxs_cmd_methods = {
    .name = "methods",
    .heading = "About voxsift",
    .summary = "list the prediction methods and their parameters",
    .details = "One entry a method: what it does, the paper and section it comes from, and its "
               "parameters with their ranges and defaults.",
    .operands = operands,
    .takes = VXS_TAKES_JSON,
    .examples = examples,
    .run = run,
};
