/* help.c - what a person sees who asks. */
#include "cli/cli.h"

#include <string.h>

#define WIDTH         80
#define OPTION_INDENT 24

const vxs_variable vxs_variables[] = {
    { "VOXSIFT_NTHREADS", "threads, when --nthreads is not given" },
    { "SLURM_CPUS_PER_TASK", "the same, when VOXSIFT_NTHREADS is not set" },
    { "OMP_NUM_THREADS", "the same, when neither is set" },
    { "VOXSIFT_VECTORS",
      "plain, avx2 or avx512: narrower vectors than this processor has, with the same results" },
    { "SLURM_ARRAY_TASK_ID",
      "with --chunk auto: the number of the chunk, of SLURM_ARRAY_TASK_COUNT; "
      "SLURM_ARRAY_TASK_MIN, _MAX and _STEP must agree with 1-N or 0-(N-1)" },
    { NULL, NULL },
};

static void print_wrapped(FILE *out, int indent, const char *name, int column, const char *text)
{
    fprintf(out, "%*s%s", indent, "", name);
    int at = indent + (int)strlen(name);
    if (at + 2 > column) {
        fputc('\n', out);
        at = 0;
    }
    fprintf(out, "%*s", column - at, "");
    vxs_wrap(out, text, column, column, WIDTH);
}

static void print_exit_codes(FILE *out)
{
    for (const vxs_status_row *row = vxs_status_rows; row->meaning; row++) {
        char code[16];
        snprintf(code, sizeof(code), "%d", (int)row->status);
        print_wrapped(out, 2, code, 8, row->meaning);
    }
}

void vxs_help_overview(FILE *out)
{
    const char *heading = "";
    fputs("voxsift - find the few voxels, regions and pairs that predict a diagnosis\n"
          "or a score\n\n"
          "usage: voxsift COMMAND [ARGUMENTS] [OPTIONS]\n",
          out);
    for (size_t i = 0; vxs_commands[i]; i++) {
        const vxs_command *command = vxs_commands[i];
        if (strcmp(heading, command->heading) != 0)
            fprintf(out, "\n%s\n", command->heading);
        heading = command->heading;
        print_wrapped(out, 2, command->name, 15, command->summary);
    }
    fputs("\n'voxsift help COMMAND' tells more about one of them. Results go to standard\n"
          "output, everything else to standard error. No command uses the network.\n\n"
          "Exit codes\n",
          out);
    print_exit_codes(out);
    fputs("\nEnvironment\n", out);
    for (const vxs_variable *v = vxs_variables; v->name; v++)
        print_wrapped(out, 2, v->name, 24, v->help);
}

void vxs_usage_line(FILE *out, const vxs_command *command)
{
    vxs_option options[VXS_MAX_OPTIONS];
    size_t count = vxs_options_of(command, options);
    fprintf(out, "voxsift %s", command->name);
    for (const vxs_operand *o = command->operands; o->name; o++)
        fprintf(out, "%s%s%s%s", o->optional ? " [" : " ", o->name, o->repeat ? "..." : "",
                o->optional ? "]" : "");
    for (size_t k = 0; k < count; k++)
        if (options[k].param->required)
            fprintf(out, " --%s %s", options[k].param->name, options[k].param->value);
    fputs(" [OPTIONS]\n", out);
}

void vxs_option_form(const vxs_param *param, char *buffer, size_t size)
{
    char letter[8] = "    ";
    if (param->letter)
        snprintf(letter, sizeof(letter), "-%c, ", param->letter);
    snprintf(buffer, size, "%s--%s%s%s", letter, param->name, param->value ? " " : "",
             param->value ? param->value : "");
}

void vxs_param_words(const vxs_param *param, char *buffer, size_t size)
{
    char wants[VXS_WORDS_SIZE], given[VXS_WORDS_SIZE];
    vxs_param_wants(param, wants, sizeof(wants));
    vxs_param_default(param, given, sizeof(given));
    bool said = param->type == VXS_PARAM_FLAG || param->type == VXS_PARAM_TEXT ||
                param->type == VXS_PARAM_PATH || param->type == VXS_PARAM_TEXTS;
    size_t used = (size_t)snprintf(buffer, size, "%s", param->help);
    if (used < size && !said)
        used += (size_t)snprintf(buffer + used, size - used, " (%s%s%s)", wants,
                                 *given ? "; default " : "", given);
    if (used < size && param->required)
        snprintf(buffer + used, size - used, " (required)");
}

void vxs_option_words(const vxs_option *option, char *buffer, size_t size)
{
    if (option->place == VXS_OF_METHOD || option->place == VXS_OF_MODEL)
        vxs_kinds_words((int)option->place, option->param->name, buffer, size);
    else
        vxs_param_words(option->param, buffer, size);
}

static void print_paragraphs(FILE *out, const char *text)
{
    char paragraph[2048];
    while (*text) {
        const char *end = strstr(text, "\n\n");
        size_t length = end ? (size_t)(end - text) : strlen(text);
        snprintf(paragraph, sizeof(paragraph), "%.*s", (int)length, text);
        fputc('\n', out);
        vxs_wrap(out, paragraph, 0, 0, WIDTH);
        text += length + (end ? 2 : 0);
    }
}

void vxs_help_command(FILE *out, const vxs_command *command)
{
    vxs_option options[VXS_MAX_OPTIONS];
    size_t count = vxs_options_of(command, options);
    fprintf(out, "voxsift %s - %s\n\nusage: ", command->name, command->summary);
    vxs_usage_line(out, command);
    print_paragraphs(out, command->details);
    if (command->operands->name)
        fputs("\nArguments\n", out);
    for (const vxs_operand *o = command->operands; o->name; o++)
        print_wrapped(out, 2, o->name, OPTION_INDENT, o->help);
    if (command->takes & VXS_TAKES_MODEL) {
        fputs("\nModels\n", out);
        for (const vxs_simulation *s = vxs_simulations; s->name; s++)
            print_wrapped(out, 2, s->name, OPTION_INDENT, s->summary);
    }
    fputs("\nOptions\n", out);
    for (size_t k = 0; k < count; k++) {
        char form[VXS_WORDS_SIZE], words[VXS_WORDS_SIZE];
        vxs_option_form(options[k].param, form, sizeof(form));
        vxs_option_words(&options[k], words, sizeof(words));
        print_wrapped(out, 2, form, OPTION_INDENT, words);
    }
    fputs("\nExamples\n", out);
    for (const vxs_example *e = command->examples; e->line; e++)
        fprintf(out, "  %s\n      %s\n", e->line, e->purpose);
}
