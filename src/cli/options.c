/* options.c - parses the command line by the tables. */
#include "cli/cli.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#define AT(member) offsetof(vxs_shared, member)

static const vxs_param talk_params[] = {
    { .name = "quiet",
      .letter = 'q',
      .help = "print results, errors and leakage warnings only",
      .type = VXS_PARAM_FLAG,
      .head = VXS_HEAD_OUTPUT,
      .offset = AT(quiet) },
    { .name = "verbose",
      .letter = 'v',
      .help = "print more about the progress of the work",
      .type = VXS_PARAM_FLAG,
      .head = VXS_HEAD_OUTPUT,
      .offset = AT(verbose) },
    { .name = "help",
      .letter = 'h',
      .help = "-h: the usual options; --help: all",
      .type = VXS_PARAM_FLAG,
      .head = VXS_HEAD_OUTPUT,
      .usual = true,
      .offset = AT(help) },
    { .name = NULL },
};

static const vxs_param json_params[] = {
    VXS_FLAG_ROW("json", AT(json), "print results and warnings as JSON", .head = VXS_HEAD_OUTPUT),
    { .name = NULL },
};

#define OUT_ROW                                                                                    \
    .name = "out", .letter = 'o', .value = "DIR", .type = VXS_PARAM_PATH, .head = VXS_HEAD_OUTPUT, \
    .usual = true, .offset = AT(out)
#define OUT_HELP "output directory, written when complete"
#define FORCE_ROW                                                                                  \
    .name = "force", .help = "replace an existing output of voxsift", .type = VXS_PARAM_FLAG,      \
    .head = VXS_HEAD_OUTPUT, .offset = AT(force)

static const vxs_param output_params[] = {
    { OUT_ROW, .help = OUT_HELP, .required = true },
    { FORCE_ROW },
    { .name = NULL },
};

static const vxs_param optional_output_params[] = {
    { OUT_ROW, .help = OUT_HELP },
    { FORCE_ROW },
    { .name = NULL },
};

/* --dry-run needs no --out; the command itself checks. */
static const vxs_param dry_output_params[] = {
    { OUT_ROW, .help = "output directory; required without --dry-run" },
    { FORCE_ROW },
    { .name = NULL },
};

static const vxs_param sync_params[] = {
    VXS_FLAG_ROW("no-fsync", AT(no_fsync), "do not wait until outputs are on the disk",
                 .head = VXS_HEAD_PERFORMANCE),
    { .name = NULL },
};

static const vxs_param thread_params[] = {
    VXS_WHOLE_ROW("nthreads", "N", AT(nthreads), NAN, 1, VXS_MAX_THREADS,
                  "threads; results do not depend on it", .head = VXS_HEAD_PERFORMANCE,
                  .more = "Without it VOXSIFT_NTHREADS, SLURM_CPUS_PER_TASK, OMP_NUM_THREADS or "
                          "the cores that this process may use decide, in this order."),
    { .name = NULL },
};

static const vxs_param chunk_params[] = {
    VXS_TEXT_ROW("chunk", "I/N", AT(chunk),
                 "compute part I of N for 'voxsift merge'; auto: the task of a Slurm array; "
                 "default 1/1",
                 .head = VXS_HEAD_PERFORMANCE),
    VXS_FLAG_ROW("resume", AT(resume), "continue a stopped run from OUT.checkpoint",
                 .head = VXS_HEAD_PERFORMANCE,
                 .more = "The options must be the same. Without it an existing checkpoint is "
                         "refused, or discarded with --force. Of several methods of cv each has "
                         "its own, OUT.METHOD.checkpoint."),
    { .name = NULL },
};

typedef struct {
    const vxs_command *command;
    vxs_option options[VXS_MAX_OPTIONS];
    bool given[VXS_MAX_OPTIONS];
    const char *texts
        [VXS_MAX_OPTIONS]; /* texts of options of methods and models, until the kind is known */
    size_t count;
    vxs_parsed *parsed;
    char **argv;
    int operands;
    vxs_error *err;
} reader;

static size_t add_table(const vxs_param *table, int place, vxs_option *options, size_t count)
{
    for (; table && table->name && count < VXS_MAX_OPTIONS; table++)
        options[count++] = (vxs_option){ table, place };
    return count;
}

static const vxs_param *output_rows(const vxs_command *command)
{
    return command->takes & VXS_TAKES_DRY_RUN     ? dry_output_params
           : command->takes & VXS_OUTPUT_OPTIONAL ? optional_output_params
                                                  : output_params;
}

size_t vxs_options_of(const vxs_command *command, vxs_option options[VXS_MAX_OPTIONS])
{
    size_t count = add_table(command->params, VXS_OWN, options, 0);
    count = add_table(command->more_params, VXS_OWN, options, count);
    count = add_table(command->most_params, VXS_OWN, options, count);
    if (command->takes & VXS_TAKES_METHOD)
        count = vxs_kinds_add(VXS_OF_METHOD, options, count);
    if (command->takes & VXS_TAKES_MODEL)
        count = vxs_kinds_add(VXS_OF_MODEL, options, count);
    if (command->takes & VXS_TAKES_OUTPUT)
        count = add_table(output_rows(command), VXS_SHARED, options, count);
    if (command->takes & (VXS_TAKES_OUTPUT | VXS_TAKES_PAGE))
        count = add_table(sync_params, VXS_SHARED, options, count);
    if (command->takes & VXS_TAKES_JSON)
        count = add_table(json_params, VXS_SHARED, options, count);
    if (command->takes & VXS_TAKES_CHUNK)
        count = add_table(chunk_params, VXS_SHARED, options, count);
    if (command->takes & VXS_TAKES_THREADS)
        count = add_table(thread_params, VXS_SHARED, options, count);
    return add_table(talk_params, VXS_SHARED, options, count);
}

size_t vxs_offered_options(const vxs_command *command, vxs_option options[VXS_MAX_OPTIONS])
{
    size_t count = vxs_options_of(command, options), kept = 0;
    for (size_t k = 0; k < count; k++) {
        const char *const *name = command->unoffered;
        while (name && *name && strcmp(options[k].param->name, *name) != 0)
            name++;
        if (!name || !*name)
            options[kept++] = options[k];
    }
    return kept;
}

/* True if the names are equal up to '_' for '-': both --participant_label and --participant-label
 * are in use in this field. */
static bool same_name(const char *given, size_t length, const char *name)
{
    for (size_t i = 0; i < length; i++)
        if ((given[i] == '_' ? '-' : given[i]) != name[i])
            return false;
    return name[length] == '\0';
}

static void list_names(const reader *r, const char *names[VXS_MAX_OPTIONS + 1])
{
    for (size_t k = 0; k < r->count; k++)
        names[k] = r->options[k].param->name;
    names[r->count] = NULL;
}

static vxs_status unknown_option(const reader *r, const char *given, size_t length)
{
    const char *names[VXS_MAX_OPTIONS + 1];
    char word[64] = "", hint[128];
    list_names(r, names);
    if (vxs_hint_option(given, length, names, hint, sizeof(hint)))
        return vxs_fail(r->err, VXS_MISUSE, "unknown option '--%.*s'; did you mean %s?",
                        (int)length, given, hint);
    if (length < sizeof(word))
        memcpy(word, given, length);
    const char *near = *word ? vxs_nearest(word, names) : NULL;
    if (near)
        return vxs_fail(r->err, VXS_MISUSE, "unknown option '--%.*s'; did you mean '--%s'?",
                        (int)length, given, near);
    return vxs_fail(r->err, VXS_MISUSE, "unknown option '--%.*s'; see 'voxsift help %s'",
                    (int)length, given, r->command->name);
}

static vxs_status check_value(const reader *r, const vxs_param *param, const char *text)
{
    const char *hint = text ? vxs_hint_value(param->name, text) : NULL;
    return hint ? vxs_fail(r->err, VXS_MISUSE, "'--%s %s' is unknown; did you mean %s?",
                           param->name, text, hint)
                : VXS_OK;
}

static bool is_method(const vxs_option *option)
{
    return option->place == VXS_OWN && strcmp(option->param->name, "method") == 0;
}

static int *method_of(const reader *r, const vxs_param *param)
{
    return (int *)(void *)(r->parsed->values.bytes + param->offset);
}

static vxs_status add_method(const reader *r, const vxs_param *param, const char *name)
{
    vxs_several_methods *s = &r->parsed->several;
    vxs_status status = check_value(r, param, name);
    if (!status)
        status = vxs_param_set(param, r->parsed->values.bytes, name, r->err);
    for (size_t k = 0; k < s->count && !status; k++)
        if (s->each[k].kind == *method_of(r, param))
            status = vxs_fail(r->err, VXS_MISUSE, "'--method' names '%s' twice", name);
    if (!status)
        s->each[s->count++].kind = *method_of(r, param);
    return status;
}

/* "lasso,fused": the values have the first. */
static vxs_status set_methods(const reader *r, const vxs_param *param, const char *text)
{
    char *names = vxs_format(r->err, "%s", text), *name = names, *end = names;
    vxs_status status = names ? VXS_OK : VXS_FAILED;
    for (; end && !status; name = end + 1) {
        end = strchr(name, ',');
        if (end)
            *end = '\0';
        status = add_method(r, param, name);
    }
    if (!status)
        *method_of(r, param) = r->parsed->several.each[0].kind;
    free(names);
    return status;
}

static vxs_status set_option(reader *r, size_t k, const char *text)
{
    const vxs_option *option = &r->options[k];
    bool own = option->place == VXS_OWN;
    if (r->given[k] && option->param->type != VXS_PARAM_TEXTS)
        return vxs_fail(r->err, VXS_MISUSE, "option '--%s' is given twice", option->param->name);
    r->given[k] = true;
    if (r->command->takes & VXS_TAKES_METHODS && is_method(option) && strchr(text, ','))
        return set_methods(r, option->param, text);
    vxs_status status = check_value(r, option->param, text);
    if (status)
        return status;
    r->texts[k] = text;
    if (option->place == VXS_OF_METHOD || option->place == VXS_OF_MODEL)
        return VXS_OK; /* parsed as soon as the kind is known */
    return vxs_param_set(option->param, own ? (void *)r->parsed->values.bytes : &r->parsed->shared,
                         text, r->err);
}

/* Sets option k from `text`; if that is NULL and the option has a value, from the next argument,
 * which is then used. */
static vxs_status read_option(reader *r, size_t k, const char *text, char **next, int *used)
{
    const vxs_param *param = r->options[k].param;
    if (param->type != VXS_PARAM_FLAG && !text) {
        if (!*next)
            return vxs_fail(r->err, VXS_MISUSE, "option '--%s' expects a value (%s)", param->name,
                            param->value);
        text = *next;
        *used = 1;
        if (strncmp(text, "--", 2) == 0 && text[2])
            return vxs_fail(
                r->err, VXS_MISUSE,
                "option '--%s' expects a value (%s), not the option '%s'; if it is meant "
                "as value, write --%s=%s",
                param->name, param->value, text, param->name, text);
    }
    return set_option(r, k, text);
}

static vxs_status read_long(reader *r, const char *name, char **next, int *used)
{
    size_t length = strcspn(name, "=");
    const char *text = name[length] ? name + length + 1 : NULL;
    for (size_t k = 0; k < r->count; k++)
        if (same_name(name, length, r->options[k].param->name))
            return read_option(r, k, text, next, used);
    return unknown_option(r, name, length);
}

/* Reads a short option, one per argument, with its value attached or next: -o DIR, -oDIR. */
static vxs_status read_short(reader *r, const char *letters, char **next, int *used)
{
    const char *names[VXS_MAX_OPTIONS + 1];
    char hint[128];
    r->parsed->shared.brief = r->parsed->shared.brief || strcmp(letters, "h") == 0;
    for (size_t k = 0; k < r->count; k++)
        if (r->options[k].param->letter == letters[0])
            return read_option(r, k, letters[1] ? letters + 1 + (letters[1] == '=') : NULL, next,
                               used);
    list_names(r, names);
    if (vxs_hint_letter(letters, names, hint, sizeof(hint)))
        return vxs_fail(r->err, VXS_MISUSE, "unknown option '-%s'; did you mean %s?", letters,
                        hint);
    return vxs_fail(r->err, VXS_MISUSE, "unknown option '-%s'; see 'voxsift help %s'", letters,
                    r->command->name);
}

static vxs_status read_operand(reader *r, char *text)
{
    const vxs_operand *operand = r->command->operands;
    for (int k = 0; k < r->operands && operand->name && !operand->repeat; k++)
        operand++;
    if (!operand->name)
        return vxs_fail(r->err, VXS_MISUSE, "'%s' is one argument too many; see 'voxsift help %s'",
                        text, r->command->name);
    const char *const *choices = vxs_operand_choices(operand);
    bool found = !choices;
    for (size_t k = 0; choices && choices[k]; k++)
        found = found || strcmp(choices[k], text) == 0;
    if (!found) {
        const char *near = vxs_nearest(text, choices);
        return vxs_fail(r->err, VXS_MISUSE, "unknown %s '%s'%s%s%s", operand->name, text,
                        near ? "; did you mean '" : "", near ? near : "", near ? "'?" : "");
    }
    r->argv[r->operands++] = text; /* operands never overtake the argument being read */
    return VXS_OK;
}

/* Parses the options of the selected kind by its own rows, since kinds may share option names. With
 * `others`, options that it does not have are for these. */
static vxs_status parse_kind(const reader *r, int place, const char *noun, size_t chosen,
                             bool others, void *values)
{
    vxs_kind kinds[VXS_MAX_KINDS];
    vxs_status status = VXS_OK;
    vxs_kinds_of(place, kinds);
    const vxs_kind *kind = &kinds[chosen];
    vxs_params_defaults(kind->params, values);
    for (size_t k = 0; k < r->count && !status; k++) {
        if ((int)r->options[k].place != place || !r->given[k])
            continue;
        const vxs_param *param = vxs_kind_param(kind, r->options[k].param->name);
        if (param)
            status = vxs_param_set(param, values, r->texts[k], r->err);
        else if (!others)
            status = vxs_fail(r->err, VXS_MISUSE, "%s '%s' has no option '--%s'", noun, kind->name,
                              r->options[k].param->name);
    }
    return status;
}

/* ---- Several methods ------------------------------------------------------------------------- */

static bool method_takes(const reader *r, size_t method, const vxs_option *option)
{
    const vxs_method *m = &vxs_methods[r->parsed->several.each[method].kind];
    if (option->place == VXS_OWN)
        return vxs_method_takes(m, option->param->name, r->parsed->values.bytes);
    vxs_kind kind = { m->name, m->summary, m->params };
    return option->place != VXS_OF_METHOD || vxs_kind_param(&kind, option->param->name);
}

/* An option that is given: which methods take it. One of the command that none takes is refused as
 * it is for one method. */
static vxs_status share_option(const reader *r, const vxs_option *option)
{
    vxs_several_methods *s = &r->parsed->several;
    size_t takers = 0;
    s->partly[s->partly_count].param = option->param;
    for (size_t m = 0; m < s->count; m++) {
        s->partly[s->partly_count].takes[m] = method_takes(r, m, option);
        takers += s->partly[s->partly_count].takes[m];
    }
    if (takers == 0 && option->place == VXS_OF_METHOD)
        return vxs_fail(r->err, VXS_MISUSE, "none of these methods has an option '--%s'",
                        option->param->name);
    s->partly_count += takers > 0 && takers < s->count;
    return VXS_OK;
}

static vxs_status settle_one(const reader *r, size_t method)
{
    vxs_several_methods *s = &r->parsed->several;
    void *values = s->each[method].values.bytes;
    memcpy(values, r->parsed->values.bytes, VXS_VALUES_SIZE);
    for (size_t k = 0; k < r->count; k++)
        if (is_method(&r->options[k]))
            *(int *)(void *)(s->each[method].values.bytes + r->options[k].param->offset) =
                s->each[method].kind;
    for (size_t k = 0; k < s->partly_count; k++) {
        const vxs_param rows[2] = { *s->partly[k].param, { .name = NULL } };
        bool own = false;
        for (size_t j = 0; j < r->count; j++)
            own = own ||
                  (r->options[j].place == VXS_OWN && r->options[j].param == s->partly[k].param);
        if (own && !s->partly[k].takes[method])
            vxs_params_defaults(rows, values);
    }
    return parse_kind(r, VXS_OF_METHOD, "method", (size_t)s->each[method].kind, true,
                      &s->each[method].method);
}

static vxs_status settle_several(const reader *r)
{
    vxs_status status = VXS_OK;
    for (size_t k = 0; k < r->count && !status; k++)
        status = r->given[k] ? share_option(r, &r->options[k]) : VXS_OK;
    for (size_t m = 0; m < r->parsed->several.count && !status; m++)
        status = settle_one(r, m);
    return status;
}

static vxs_status settle_method(const reader *r)
{
    size_t chosen = 0;
    bool others = r->parsed->several.count > 0;
    for (size_t k = 0; k < r->count; k++)
        if (is_method(&r->options[k]))
            chosen = (size_t)*method_of(r, r->options[k].param);
    r->parsed->kind = (int)chosen;
    vxs_status status = others ? settle_several(r) : VXS_OK;
    return status ? status
                  : parse_kind(r, VXS_OF_METHOD, "method", chosen, others, &r->parsed->method);
}

/* Selects the model by the first operand; check_complete reports a missing one. */
static vxs_status select_model(const reader *r)
{
    size_t chosen = 0;
    if (r->operands == 0)
        return VXS_OK;
    while (strcmp(vxs_simulations[chosen].name, r->argv[0]) != 0)
        chosen++; /* the operand is a valid choice, or parsing would have failed */
    r->parsed->kind = (int)chosen;
    return parse_kind(r, VXS_OF_MODEL, "model", chosen, false, &r->parsed->model);
}

/* Checks for missing operands and options; --help needs none. */
static vxs_status check_complete(const reader *r)
{
    if (r->parsed->shared.help)
        return VXS_OK;
    int k = 0;
    for (const vxs_operand *o = r->command->operands; o->name; o++, k++)
        if (k >= r->operands && !o->optional)
            return vxs_fail(r->err, VXS_MISUSE, "%s is missing; see 'voxsift help %s'", o->name,
                            r->command->name);
    for (size_t j = 0; j < r->count; j++) {
        const vxs_param *param = r->options[j].param;
        if (param->required && !r->given[j])
            return vxs_fail(r->err, VXS_MISUSE, "option '--%s %s' is missing", param->name,
                            param->value);
    }
    if (r->parsed->shared.quiet && r->parsed->shared.verbose)
        return vxs_fail(r->err, VXS_MISUSE, "'--quiet' and '--verbose' exclude each other");
    return VXS_OK;
}

vxs_status vxs_options_parse(const vxs_command *command, int argc, char **argv, vxs_parsed *parsed,
                             vxs_error *err)
{
    reader r = { .command = command, .parsed = parsed, .argv = argv, .err = err };
    bool options_end = false;
    memset(parsed, 0, sizeof(*parsed));
    parsed->kind = -1;
    r.count = vxs_options_of(command, r.options);
    if (command->params)
        vxs_params_defaults(command->params, parsed->values.bytes);
    if (command->more_params)
        vxs_params_defaults(command->more_params, parsed->values.bytes);
    if (command->most_params)
        vxs_params_defaults(command->most_params, parsed->values.bytes);
    for (int i = 0; i < argc; i++) {
        vxs_status status = VXS_OK;
        int used = 0;
        char **next = &argv[i + 1]; /* argv ends with NULL */
        if (!options_end && strcmp(argv[i], "--") == 0)
            options_end = true;
        else if (!options_end && strncmp(argv[i], "--", 2) == 0)
            status = read_long(&r, argv[i] + 2, next, &used);
        else if (!options_end && argv[i][0] == '-' && argv[i][1])
            status = read_short(&r, argv[i] + 1, next, &used);
        else
            status = read_operand(&r, argv[i]);
        if (status)
            return status;
        i += used;
    }
    argv[r.operands] = NULL;
    parsed->operands = argv;
    vxs_status status = command->takes & VXS_TAKES_METHOD ? settle_method(&r) : VXS_OK;
    if (!status && command->takes & VXS_TAKES_MODEL)
        status = select_model(&r);
    return status ? status : check_complete(&r);
}
