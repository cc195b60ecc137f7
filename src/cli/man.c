/* man.c - writes manual pages from the tables, in man(7) macros. */
#include "cli/cli.h"

#include <ctype.h>
#include <string.h>

/* Escapes markup: hyphens stay hyphens, and a period or quote may begin a line. */
static void text(FILE *out, const char *words)
{
    for (; *words; words++) {
        if (*words == '\\')
            fputs("\\e", out);
        else if (*words == '-')
            fputs("\\-", out);
        else if (*words == '\'')
            fputs("\\(aq", out);
        else if (*words == '"')
            fputs("\\(dq", out);
        else
            fputc(*words, out);
    }
}

static void line(FILE *out, const char *words)
{
    if (*words == '.' || *words == '\'')
        fputs("\\&", out);
    text(out, words);
    fputc('\n', out);
}

static void paragraphs(FILE *out, const char *words)
{
    for (; *words; words++) {
        char single[2] = { *words, '\0' };
        if (strncmp(words, "\n\n", 2) == 0) {
            fputs("\n.PP\n", out);
            words++;
        } else {
            text(out, single);
        }
    }
    fputc('\n', out);
}

static void upper(FILE *out, const char *words)
{
    for (; *words; words++)
        fputc(toupper((unsigned char)*words), out);
}

static void title(FILE *out, const char *command)
{
    fputs(".\\\" Made by 'make docs' from the tables of the program; do not edit.\n.TH VOXSIFT",
          out);
    if (*command)
        fputs("\\-", out);
    upper(out, command);
    fputs(" 1 \"\" \"voxsift " VXS_VERSION "\" \"voxsift manual\"\n.SH NAME\n", out);
}

static void item(FILE *out, const char *name, const char *words)
{
    fputs(".TP\n.B ", out);
    line(out, name);
    line(out, words);
}

static void exit_status(FILE *out)
{
    fputs(".SH EXIT STATUS\n", out);
    for (const vxs_status_row *row = vxs_status_rows; row->meaning; row++) {
        char code[16];
        snprintf(code, sizeof(code), "%d", (int)row->status);
        item(out, code, row->meaning);
    }
}

void vxs_man_overview(FILE *out)
{
    title(out, "");
    fputs("voxsift \\- find the voxels, regions and pairs that predict a diagnosis or a score\n"
          ".SH SYNOPSIS\n.B voxsift\nCOMMAND [ARGUMENTS] [OPTIONS]\n"
          ".SH DESCRIPTION\n"
          "Results go to standard output, everything else to standard error. Outputs appear under\n"
          "their final name when they are complete. No command uses the network.\n"
          ".SH COMMANDS\n",
          out);
    for (size_t i = 0; vxs_commands[i]; i++) {
        fprintf(out, ".TP\n.BR voxsift\\-%s (1)\n", vxs_commands[i]->name);
        line(out, vxs_commands[i]->summary);
    }
    fputs(".SH ENVIRONMENT\n", out);
    for (const vxs_variable *v = vxs_variables; v->name; v++)
        item(out, v->name, v->help);
    fputs(".SH FILES\nPaths are relative to the folder in which the program is.\n", out);
    item(out, "../share/voxsift/atlases", "atlases and the underlay that options take by name");
    item(out, "../share/doc/voxsift",
         "README.md, the documents (docs: installing, tutorial, methods and more) and the examples "
         "with their data");
    exit_status(out);
}

static void options(FILE *out, const vxs_command *command)
{
    vxs_option rows[VXS_MAX_OPTIONS];
    size_t count = vxs_offered_options(command, rows);
    fputs(".SH OPTIONS\n", out);
    for (int head = 0; head < VXS_HEADS; head++) {
        bool begun = false;
        for (size_t k = 0; k < count; k++) {
            char form[VXS_WORDS_SIZE], words[VXS_WORDS_SIZE];
            if ((int)rows[k].param->head != head)
                continue;
            if (!begun && head > 0)
                fprintf(out, ".SS %s\n", vxs_head_names[head]);
            begun = true;
            vxs_option_form(rows[k].param, form, sizeof(form));
            vxs_option_words(&rows[k], words, sizeof(words));
            item(out, form + strspn(form, " "), words);
        }
    }
}

void vxs_man_command(FILE *out, const vxs_command *command)
{
    title(out, command->name);
    fprintf(out, "voxsift\\-%s \\- ", command->name);
    line(out, command->summary);
    fputs(".SH SYNOPSIS\n", out);
    vxs_usage_line(out, command);
    fputs(".SH DESCRIPTION\n", out);
    paragraphs(out, command->details);
    if (command->operands->name)
        fputs(".SH ARGUMENTS\n", out);
    for (const vxs_operand *o = command->operands; o->name; o++)
        item(out, o->name, o->help);
    if (command->takes & VXS_TAKES_MODEL)
        fputs(".SH MODELS\n", out);
    for (const vxs_simulation *s = vxs_simulations; command->takes & VXS_TAKES_MODEL && s->name;
         s++)
        item(out, s->name, s->summary);
    options(out, command);
    for (const vxs_topic *topic = vxs_topics; topic->name; topic++)
        if (vxs_topic_is_of(topic, command)) {
            fputs(".SH ", out);
            upper(out, topic->name);
            fputc('\n', out);
            paragraphs(out, topic->text);
        }
    fputs(".SH EXAMPLES\n", out);
    for (const vxs_example *e = command->examples; e->line; e++)
        item(out, e->line, e->purpose);
    exit_status(out);
    fputs(".SH SEE ALSO\n.BR voxsift (1)\n", out);
}
