/* help.c - prints help: overview, commands, options. */
#include "cli/cli.h"

#include <string.h>

#define WIDTH         80
#define OPTION_INDENT 27

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

const char *const vxs_head_names[] = {
    "Options",     "Data and target", "Images and features", "Covariates",
    "Model",       "Hyperparameters", "Evaluation",          "Output",
    "Performance", "Research",
};
_Static_assert(sizeof(vxs_head_names) / sizeof(vxs_head_names[0]) == VXS_HEADS, "a heading");

static void print_wrapped(FILE *out, int indent, const char *name, int column, const char *text)
{
    fprintf(out, "%*s%s", indent, "", name);
    int at = indent + (int)strlen(name);
    if (at + 1 > column) {
        fputc('\n', out);
        at = 0;
    }
    fprintf(out, "%*s", column - at, "");
    vxs_wrap(out, text, column, column, WIDTH);
}

void vxs_help_item(FILE *out, const char *name, int column, const char *text)
{
    print_wrapped(out, 2, name, column, text);
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
    fputs("\nHelp\n", out);
    print_wrapped(out, 2, "voxsift COMMAND -h", 27, "the usual options");
    print_wrapped(out, 2, "voxsift COMMAND --help", 27, "all options");
    print_wrapped(out, 2, "voxsift methods", 27, "compare the prediction methods");
    print_wrapped(out, 2, "voxsift help METHOD", 27, "describe a method, such as lasso");
    for (const vxs_topic *topic = vxs_topics; topic->name; topic++) {
        char line[64];
        snprintf(line, sizeof(line), "voxsift help %s", topic->name);
        print_wrapped(out, 2, line, 27, topic->summary);
    }
    fputs("\nResults go to standard output, messages to standard error. No command uses the\n"
          "network.\n\n"
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
    size_t count = vxs_offered_options(command, options);
    fprintf(out, "voxsift %s", command->name);
    for (const vxs_operand *o = command->operands; o->name; o++)
        fprintf(out, "%s%s%s%s", o->optional ? " [" : " ", o->name, o->repeat ? "..." : "",
                o->optional ? "]" : "");
    for (size_t k = 0; k < count; k++)
        if (options[k].param->required)
            fprintf(out, " --%s %s", options[k].param->name, options[k].param->value);
    if (command->takes & VXS_TAKES_DRY_RUN)
        fputs(" --out DIR", out);
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
    char expects[VXS_WORDS_SIZE], given[VXS_WORDS_SIZE];
    vxs_param_expects(param, expects, sizeof(expects));
    vxs_param_default(param, given, sizeof(given));
    bool obvious = param->type == VXS_PARAM_FLAG || param->type == VXS_PARAM_TEXT ||
                   param->type == VXS_PARAM_PATH || param->type == VXS_PARAM_TEXTS;
    size_t used = (size_t)snprintf(buffer, size, "%s", param->help);
    if (used < size && !obvious)
        used += (size_t)snprintf(buffer + used, size - used, " (%s%s%s)", expects,
                                 *given ? "; default " : "", given);
    if (used < size && param->required)
        used += (size_t)snprintf(buffer + used, size - used, " (required)");
    if (used < size && param->more)
        snprintf(buffer + used, size - used, ". %s", param->more);
}

/* True if the help text explains every choice. */
static bool names_all(const vxs_param *param)
{
    size_t k = 0;
    while (param->choices[k] && strstr(param->help, param->choices[k]))
        k++;
    return !param->choices[k];
}

void vxs_param_brief(const vxs_param *param, char *buffer, size_t size)
{
    char given[VXS_WORDS_SIZE];
    vxs_param_default(param, given, sizeof(given));
    bool choice = param->type == VXS_PARAM_CHOICE && !names_all(param);
    bool explained = strstr(param->help, "default ") || strcmp(given, "0") == 0;
    const char *before = " (";
    size_t used = (size_t)snprintf(buffer, size, "%s", param->help);
    for (size_t k = 0; choice && param->choices[k] && used < size; k++, before = ", ")
        used += (size_t)snprintf(buffer + used, size - used, "%s%s", before, param->choices[k]);
    if (used < size && *given && !explained)
        used += (size_t)snprintf(buffer + used, size - used, "%sdefault %s", choice ? "; " : " (",
                                 given);
    if (used < size && (choice || (*given && !explained)))
        used += (size_t)snprintf(buffer + used, size - used, ")");
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

/* ---- Which options --------------------------------------------------------------------------- */

/* Options of the task that some methods do not take. */
static const char *const of_some_methods[] = {
    "graph", "penalty-factors", "huber-threshold", "multiclass", "bags", "near", "patch-norm", "own"
};
enum {
    GRAPH,
    PENALTY_FACTORS,
    HUBER_THRESHOLD,
    MULTICLASS,
    BAGS,
    NEAR,
    PATCH_NORM,
    OWN,
    OF_SOME_METHODS
};

static bool applies_to(const vxs_method *method, int which)
{
    return which == GRAPH             ? method->graph != VXS_GRAPH_NONE
           : which == PENALTY_FACTORS ? method->graph == VXS_GRAPH_NONE
           : which == MULTICLASS      ? method->takes_pairs
           : which >= BAGS            ? method->takes_bags
                                      : vxs_method_takes_loss(method, &vxs_huber_loss);
}

bool vxs_is_option_of_method(const vxs_method *method, const char *name)
{
    for (int k = 0; k < OF_SOME_METHODS; k++)
        if (strcmp(name, of_some_methods[k]) == 0)
            return applies_to(method, k);
    return false;
}

/* True if an option of the task applies to the method. */
static bool applies(const vxs_method *method, const char *name)
{
    bool some = false;
    for (int k = 0; k < OF_SOME_METHODS; k++)
        some = some || strcmp(name, of_some_methods[k]) == 0;
    return !some || vxs_is_option_of_method(method, name);
}

static bool takes_loss(const vxs_method *method, const vxs_task_settings *task)
{
    const vxs_loss_kind *loss = vxs_chosen_loss(task);
    return !loss || vxs_method_takes_loss(method, loss);
}

bool vxs_method_takes(const vxs_method *method, const char *name, const void *values)
{
    if (strcmp(name, "loss") == 0)
        return takes_loss(method, values);
    if (strcmp(name, "prefilter") == 0)
        return method->graph == VXS_GRAPH_NONE;
    return applies(method, name);
}

/* The options of the selected kind, with its own rows; all options if none is selected. */
static size_t options_for(const vxs_command *command, int kind, vxs_option *options)
{
    vxs_kind kinds[VXS_MAX_KINDS];
    size_t count = vxs_offered_options(command, options), kept = 0;
    bool methods = command->takes & VXS_TAKES_METHOD;
    for (size_t k = 0; k < count; k++) {
        vxs_option option = options[k];
        if (kind >= 0 && (option.place == VXS_OF_METHOD || option.place == VXS_OF_MODEL)) {
            vxs_kinds_of((int)option.place, kinds);
            option.param = vxs_kind_param(&kinds[kind], option.param->name);
        } else if (kind >= 0 && methods && !applies(&vxs_methods[kind], option.param->name)) {
            option.param = NULL;
        }
        if (option.param)
            options[kept++] = option;
    }
    return kept;
}

static void print_option(FILE *out, const vxs_option *option, bool chosen)
{
    char form[VXS_WORDS_SIZE], words[VXS_WORDS_SIZE];
    bool of_kind = option->place == VXS_OF_METHOD || option->place == VXS_OF_MODEL;
    vxs_option_form(option->param, form, sizeof(form));
    const char *name = form + strspn(form, " ");
    if (of_kind && !chosen)
        vxs_kinds_words((int)option->place, option->param->name, words, sizeof(words));
    else
        vxs_param_brief(option->param, words, sizeof(words));
    print_wrapped(out, 2, name, OPTION_INDENT, words);
}

/* --loss and --confounds-as with what the method takes of them; false: another option. */
static bool print_taken(FILE *out, const vxs_param *param, const vxs_method *method)
{
    char form[VXS_WORDS_SIZE], losses[VXS_WORDS_SIZE], words[2 * VXS_WORDS_SIZE];
    if (strcmp(param->name, "loss") == 0) {
        vxs_method_losses(method, losses, sizeof(losses));
        snprintf(words, sizeof(words), "%s (auto, %s; default auto)", param->help, losses);
    } else if (strcmp(param->name, "confounds-as") == 0 && vxs_takes_no_covariates(method)) {
        snprintf(words, sizeof(words), "regress: out of every voxel, the only way of %s",
                 method->name);
    } else {
        return false;
    }
    vxs_option_form(param, form, sizeof(form));
    print_wrapped(out, 2, form + strspn(form, " "), OPTION_INDENT, words);
    return true;
}

/* ---- A command ------------------------------------------------------------------------------- */

static void print_head(FILE *out, const vxs_command *command)
{
    int column = fprintf(out, "voxsift %s - ", command->name);
    vxs_wrap(out, command->summary, 2, column, WIDTH);
    fputs("\nusage: ", out);
    vxs_usage_line(out, command);
}

static void print_operands(FILE *out, const vxs_command *command)
{
    if (command->operands->name)
        fputs("\nArguments\n", out);
    for (const vxs_operand *o = command->operands; o->name; o++)
        print_wrapped(out, 2, o->name, OPTION_INDENT, o->help);
}

static void print_examples(FILE *out, const vxs_command *command, int most)
{
    fputs(most > 1 && command->examples->line ? "\nExamples\n" : "\nExample\n", out);
    for (const vxs_example *e = command->examples; e->line && e < command->examples + most; e++)
        fprintf(out, "  %s\n      %s\n", e->line, e->purpose);
}

static void print_more(FILE *out, const vxs_command *command, bool brief)
{
    char line[256];
    int used = snprintf(line, sizeof(line), "More: ");
    if (brief)
        used += snprintf(line + used, sizeof(line) - (size_t)used, "voxsift %s --help, ",
                         command->name);
    if (command->takes & VXS_TAKES_METHOD)
        used += snprintf(line + used, sizeof(line) - (size_t)used,
                         "voxsift methods, voxsift help METHOD, ");
    for (const vxs_topic *topic = vxs_topics; topic->name; topic++)
        if (vxs_topic_is_of(topic, command))
            used += snprintf(line + used, sizeof(line) - (size_t)used, "voxsift help %s, ",
                             topic->name);
    snprintf(line + used, sizeof(line) - (size_t)used, "man voxsift-%s.", command->name);
    fputc('\n', out);
    vxs_wrap(out, line, 2, 0, WIDTH);
}

void vxs_help_brief(FILE *out, const vxs_command *command, int kind)
{
    vxs_option options[VXS_MAX_OPTIONS];
    size_t count = options_for(command, kind, options);
    print_head(out, command);
    print_operands(out, command);
    fputs("\nUsual options\n", out);
    for (size_t k = 0; k < count; k++)
        if (options[k].param->usual || options[k].param->required)
            print_option(out, &options[k], true);
    print_examples(out, command, 1);
    print_more(out, command, true);
}

/* Prints the first paragraph of a manual page's description. */
static void print_paragraph(FILE *out, const char *text)
{
    char paragraph[2048];
    const char *end = strstr(text, "\n\n");
    snprintf(paragraph, sizeof(paragraph), "%.*s", (int)(end ? (size_t)(end - text) : strlen(text)),
             text);
    fputc('\n', out);
    vxs_wrap(out, paragraph, 0, 0, WIDTH);
}

void vxs_help_command(FILE *out, const vxs_command *command, int kind)
{
    vxs_option options[VXS_MAX_OPTIONS];
    size_t count = options_for(command, kind, options);
    print_head(out, command);
    print_paragraph(out, command->details);
    print_operands(out, command);
    if (command->takes & VXS_TAKES_MODEL && kind < 0) {
        fputs("\nModels\n", out);
        for (const vxs_simulation *s = vxs_simulations; s->name; s++)
            print_wrapped(out, 2, s->name, OPTION_INDENT, s->summary);
    }
    if (command->takes & VXS_TAKES_METHOD)
        fprintf(out, "\nThe options are those of method '%s'; for another add --method METHOD.\n",
                vxs_methods[kind].name);
    for (int head = 0; head < VXS_HEADS; head++) {
        bool begun = false;
        for (size_t k = 0; k < count; k++) {
            if ((int)options[k].param->head != head)
                continue;
            if (!begun)
                fprintf(out, "\n%s\n", vxs_head_names[head]);
            begun = true;
            if (!(command->takes & VXS_TAKES_METHOD) ||
                !print_taken(out, options[k].param, &vxs_methods[kind]))
                print_option(out, &options[k], kind >= 0);
        }
    }
    print_examples(out, command, command->takes & VXS_TAKES_METHOD ? 1 : 3);
    print_more(out, command, false);
}
