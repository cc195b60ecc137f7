/* completion.c - completion scripts from the tables. */
#include "cli/cli.h"

const char *const vxs_shells[] = { "bash", "zsh", "fish", NULL };

/* ---- bash ------------------------------------------------------------------------------------ */

/* Writes "simulate:--target) words ...": the completions of an option's value. */
static void bash_values(FILE *out, const vxs_command *command, const vxs_param *param)
{
    if (param->type == VXS_PARAM_FLAG)
        return;
    fprintf(out, "        %s:--%s", command->name, param->name);
    if (param->letter)
        fprintf(out, " | %s:-%c", command->name, param->letter);
    if (param->type == VXS_PARAM_PATH)
        fputs(") _voxsift_files; return ;;\n", out);
    else if (param->type == VXS_PARAM_CHOICE) {
        fputs(") words='", out);
        for (size_t i = 0; param->choices[i]; i++)
            fprintf(out, "%s%s", i ? " " : "", param->choices[i]);
        fputs("' ;;\n", out);
    } else
        fputs(") return ;;\n", out);
}

static void bash_command(FILE *out, const vxs_command *command)
{
    vxs_option options[VXS_MAX_OPTIONS];
    size_t count = vxs_offered_options(command, options);
    for (size_t k = 0; k < count; k++)
        bash_values(out, command, options[k].param);
    fprintf(out, "        %s:*)\n            words='", command->name);
    for (size_t k = 0; k < count; k++)
        fprintf(out, "%s--%s", k ? " " : "", options[k].param->name);
    bool files = false;
    for (const vxs_operand *o = command->operands; o->name; o++) {
        const char *const *choices = vxs_operand_choices(o);
        files = files || !choices;
        for (size_t i = 0; choices && choices[i]; i++)
            fprintf(out, " %s", choices[i]);
    }
    fprintf(out, "'\n%s            ;;\n",
            files ? "            [[ $cur == -* ]] || { _voxsift_files; return; }\n" : "");
}

static void complete_bash(FILE *out)
{
    fputs("# bash completion for voxsift; made by 'voxsift completion bash'\n"
          "_voxsift_files() {\n"
          "    compopt -o filenames 2> /dev/null\n"
          "    mapfile -t COMPREPLY < <(compgen -f -- \"$cur\")\n"
          "}\n"
          "_voxsift() {\n"
          "    local cur=${COMP_WORDS[COMP_CWORD]} words=''\n"
          "    COMPREPLY=()\n"
          "    case ${COMP_WORDS[1]}:${COMP_WORDS[COMP_CWORD - 1]} in\n"
          "        *:voxsift | *:*/voxsift) words='",
          out);
    for (size_t i = 0; vxs_commands[i]; i++)
        fprintf(out, "%s%s", i ? " " : "", vxs_commands[i]->name);
    fputs("' ;;\n", out);
    for (size_t i = 0; vxs_commands[i]; i++)
        bash_command(out, vxs_commands[i]);
    fputs("    esac\n"
          "    mapfile -t COMPREPLY < <(compgen -W \"$words\" -- \"$cur\")\n"
          "}\n"
          "complete -F _voxsift voxsift\n",
          out);
}

/* ---- zsh ------------------------------------------------------------------------------------- */

/* Escapes a text for single quotes, in which colons and brackets are special to _arguments. */
static void zsh_text(FILE *out, const char *text)
{
    for (; *text; text++) {
        if (*text == '\'')
            fputs("'\\''", out);
        else if (*text == ':' || *text == '[' || *text == ']')
            fprintf(out, "\\%c", *text);
        else
            fputc(*text, out);
    }
}

static void zsh_option(FILE *out, const vxs_param *param)
{
    fputs(" \\\n            ", out);
    if (param->letter)
        fprintf(out, "'(-%c --%s)'{-%c,--%s}'[", param->letter, param->name, param->letter,
                param->name);
    else
        fprintf(out, "'%s--%s[", param->type == VXS_PARAM_TEXTS ? "*" : "", param->name);
    zsh_text(out, param->help);
    fputc(']', out);
    if (param->type == VXS_PARAM_PATH)
        fprintf(out, ":%s:_files", param->value);
    else if (param->type == VXS_PARAM_CHOICE) {
        fprintf(out, ":%s:(", param->value);
        for (size_t i = 0; param->choices[i]; i++)
            fprintf(out, "%s%s", i ? " " : "", param->choices[i]);
        fputc(')', out);
    } else if (param->type != VXS_PARAM_FLAG)
        fprintf(out, ":%s: ", param->value);
    fputc('\'', out);
}

static void zsh_command(FILE *out, const vxs_command *command)
{
    vxs_option options[VXS_MAX_OPTIONS];
    size_t count = vxs_offered_options(command, options);
    fprintf(out, "        %s) _arguments", command->name);
    for (size_t k = 0; k < count; k++)
        zsh_option(out, options[k].param);
    for (const vxs_operand *o = command->operands; o->name; o++) {
        const char *const *choices = vxs_operand_choices(o);
        fprintf(out, " \\\n            '%s:%s:%s", o->repeat ? "*" : "", o->name,
                choices ? "(" : "_files");
        for (size_t i = 0; choices && choices[i]; i++)
            fprintf(out, "%s%s", i ? " " : "", choices[i]);
        fputs(choices ? ")'" : "'", out);
    }
    fputs(" ;;\n", out);
}

static void complete_zsh(FILE *out)
{
    fputs("#compdef voxsift\n# zsh completion for voxsift; made by 'voxsift completion zsh'\n"
          "_voxsift() {\n"
          "    local -a commands=(\n",
          out);
    for (size_t i = 0; vxs_commands[i]; i++) {
        fprintf(out, "        '%s:", vxs_commands[i]->name);
        zsh_text(out, vxs_commands[i]->summary);
        fputs("'\n", out);
    }
    fputs("    )\n"
          "    if (( CURRENT == 2 )); then\n"
          "        _describe command commands\n"
          "        return\n"
          "    fi\n"
          "    shift words\n"
          "    (( CURRENT-- ))\n"
          "    case $words[1] in\n",
          out);
    for (size_t i = 0; vxs_commands[i]; i++)
        zsh_command(out, vxs_commands[i]);
    fputs("    esac\n"
          "}\n"
          "if [[ $zsh_eval_context[-1] == loadautofunc ]]; then\n"
          "    _voxsift \"$@\"\n"
          "else\n"
          "    compdef _voxsift voxsift\n"
          "fi\n",
          out);
}

/* ---- fish ------------------------------------------------------------------------------------ */

static void fish_text(FILE *out, const char *text)
{
    for (; *text; text++) {
        if (*text == '\'' || *text == '\\')
            fputc('\\', out);
        fputc(*text, out);
    }
}

static void fish_choices(FILE *out, const char *const *choices)
{
    fputs(" -a '", out);
    for (size_t i = 0; choices[i]; i++)
        fprintf(out, "%s%s", i ? " " : "", choices[i]);
    fputc('\'', out);
}

static void fish_option(FILE *out, const vxs_command *command, const vxs_param *param)
{
    fprintf(out, "complete -c voxsift -n '__fish_seen_subcommand_from %s' -l %s", command->name,
            param->name);
    if (param->letter)
        fprintf(out, " -s %c", param->letter);
    if (param->type == VXS_PARAM_PATH)
        fputs(" -r -F", out);
    else if (param->type != VXS_PARAM_FLAG)
        fputs(" -x", out);
    if (param->type == VXS_PARAM_CHOICE)
        fish_choices(out, param->choices);
    fputs(" -d '", out);
    fish_text(out, param->help);
    fputs("'\n", out);
}

static void fish_command(FILE *out, const vxs_command *command)
{
    vxs_option options[VXS_MAX_OPTIONS];
    size_t count = vxs_offered_options(command, options);
    fprintf(out, "complete -c voxsift -n __fish_use_subcommand -a %s -d '", command->name);
    fish_text(out, command->summary);
    fputs("'\n", out);
    for (size_t k = 0; k < count; k++)
        fish_option(out, command, options[k].param);
    for (const vxs_operand *o = command->operands; o->name; o++) {
        const char *const *choices = vxs_operand_choices(o);
        fprintf(out, "complete -c voxsift -n '__fish_seen_subcommand_from %s'", command->name);
        if (choices)
            fish_choices(out, choices);
        else
            fputs(" -F", out);
        fputc('\n', out);
    }
}

static void complete_fish(FILE *out)
{
    fputs("# fish completion for voxsift; made by 'voxsift completion fish'\n"
          "complete -c voxsift -f\n",
          out);
    for (size_t i = 0; vxs_commands[i]; i++)
        fish_command(out, vxs_commands[i]);
}

void vxs_complete(FILE *out, int shell)
{
    static void (*const writers[])(FILE *) = { complete_bash, complete_zsh, complete_fish };
    writers[shell](out);
}
