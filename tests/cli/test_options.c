/* The parser of the command line, on a command that exists for this test only. */
#include "cli/cli.h"
#include "tests/core/check.h"

typedef struct {
    double lambda;
    bool positive;
    int loss;
} settings;

static const char *const losses[] = { "squared", "logistic", NULL };
static const vxs_param params[] = {
    { .name = "lambda",
      .letter = 'l',
      .value = "L",
      .help = "h",
      .type = VXS_PARAM_REAL,
      .offset = offsetof(settings, lambda),
      .initial = NAN,
      .min = 0,
      .max = INFINITY },
    { .name = "no-intercept",
      .help = "h",
      .type = VXS_PARAM_FLAG,
      .offset = offsetof(settings, positive) },
    { .name = "loss",
      .value = "L",
      .help = "h",
      .type = VXS_PARAM_CHOICE,
      .offset = offsetof(settings, loss),
      .choices = losses },
    { .name = NULL },
};
static const vxs_operand operands[] = {
    { .name = "COHORT", .help = "h" },
    { .name = "KIND", .help = "h", .choices = losses, .optional = true },
    { .name = NULL },
};
static const vxs_command command = { .name = "fit",
                                     .summary = "s",
                                     .details = "d",
                                     .operands = operands,
                                     .params = params,
                                     .takes = VXS_TAKES_OUTPUT | VXS_TAKES_THREADS };

static vxs_status parse(char **words, vxs_parsed *parsed, vxs_error *err)
{
    int count = 0;
    while (words[count])
        count++;
    return vxs_options_parse(&command, count, words, parsed, err);
}

#define WORDS(...) ((char *[]){ __VA_ARGS__, NULL })

Test(options, many_ways_to_say_the_same)
{
    char **ways[] = {
        WORDS("dir", "--lambda", "0.5", "--no-intercept", "--out", "m x"),
        WORDS("--lambda=0.5", "--out=m x", "--no-intercept", "dir"),
        WORDS("-l", "0.5", "-om x", "dir", "--no_intercept"),
        WORDS("-l0.5", "--no-intercept", "-o", "m x", "--", "dir"),
    };
    for (size_t i = 0; i < sizeof(ways) / sizeof(ways[0]); i++) {
        vxs_error err = VXS_ERROR_INIT;
        vxs_parsed parsed;
        WORKS(parse(ways[i], &parsed, &err), err);
        const settings *s = (const settings *)parsed.values.bytes;
        cr_assert(s->lambda == 0.5 && s->positive && s->loss == 0, "way %zu", i);
        cr_assert_str_eq(parsed.shared.out, "m x");
        cr_assert_str_eq(parsed.operands[0], "dir");
        cr_assert_null(parsed.operands[1]);
    }
}

Test(options, dashes_that_are_names)
{
    vxs_error err = VXS_ERROR_INIT;
    vxs_parsed parsed; /* its operands stand in the words, which must outlive them */
    char **words = WORDS("--out=--odd", "--", "-dir"), **single = WORDS("-o", "x", "-");
    WORKS(parse(words, &parsed, &err), err);
    cr_assert_str_eq(parsed.shared.out, "--odd");
    cr_assert_str_eq(parsed.operands[0], "-dir");
    WORKS(parse(single, &parsed, &err), err);
    cr_assert_str_eq(parsed.operands[0], "-");
}

Test(options, every_mistake_has_its_line)
{
    struct {
        char **words;
        const char *part;
    } rows[] = {
        { WORDS("d", "-o", "x", "--lambda", "abc"),
          "option '--lambda' expects a number of at least 0, not 'abc'" },
        { WORDS("d", "-o", "x", "--lambda", "nan"), "not 'nan'" },
        { WORDS("d", "-o", "x", "--lambda", "-1"), "not '-1'" },
        { WORDS("d", "-o", "x", "--lambda="), "not ''" },
        { WORDS("d", "-o", "x", "--lambda"), "option '--lambda' expects a value (L)" },
        { WORDS("d", "-o", "--no-intercept"), "expects a value (DIR), not the option" },
        { WORDS("d", "-o="), "expects a path" },
        { WORDS("d", "-o", "x", "-l"), "option '--lambda' expects a value (L)" },
        { WORDS("d", "-o", "x", "--lamda", "1"),
          "unknown option '--lamda'; did you mean '--lambda'?" },
        { WORDS("d", "-o", "x", "--xyzzy"), "unknown option '--xyzzy'; see 'voxsift help fit'" },
        { WORDS("d", "-o", "x", "-z"), "unknown option '-z'" },
        { WORDS("d", "-o", "x", "--=3"), "unknown option '--'" },
        { WORDS("d", "-o", "x", "-l", "1", "--lambda", "1"), "'--lambda' is given twice" },
        { WORDS("d", "-o", "x", "--no-intercept", "--no_intercept"), "given twice" },
        { WORDS("d", "-o", "x", "--no-intercept=yes"), "expects no value, not 'yes'" },
        { WORDS("d", "-o", "x", "-qv"), "expects no value, not 'v'" },
        { WORDS("d", "-o", "x", "--loss", "logistik"), "did you mean 'logistic'?" },
        { WORDS("d", "-o", "x", "--nthreads", "0"), "between 1 and 1024, not '0'" },
        { WORDS("d", "-o", "x", "-q", "-v"), "exclude each other" },
        { WORDS("d"), "option '--out DIR' is missing" },
        { WORDS("-o", "x"), "COHORT is missing" },
        { WORDS("d", "squared", "e", "-o", "x"), "'e' is one argument too many" },
        { WORDS("d", "squard", "-o", "x"), "unknown KIND 'squard'; did you mean 'squared'?" },
    };
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        vxs_error err = VXS_ERROR_INIT;
        vxs_parsed parsed;
        REFUSES(parse(rows[i].words, &parsed, &err), err, VXS_MISUSE, rows[i].part);
    }
}

Test(options, help_needs_nothing_else)
{
    vxs_error err = VXS_ERROR_INIT;
    vxs_parsed parsed;
    WORKS(parse(WORDS("--help"), &parsed, &err), err);
    cr_assert(parsed.shared.help);
}

/* The tables of the real commands hold together. */
Test(commands, every_table_is_sound)
{
    for (size_t i = 0; vxs_commands[i]; i++) {
        const vxs_command *c = vxs_commands[i];
        vxs_option options[VXS_MAX_OPTIONS];
        size_t count = vxs_options_of(c, options), n = 0;
        cr_assert(c->name && c->heading && c->summary && c->details && c->run && c->operands);
        cr_assert(c->examples && c->examples[0].line, "%s has no example", c->name);
        cr_assert(vxs_command_find(c->name) == c, "two commands are called %s", c->name);
        cr_assert(count < VXS_MAX_OPTIONS, "%s has too many options", c->name);
        for (const vxs_operand *o = c->operands; o->name; o++, n++)
            cr_assert(n == 0 || ((!o[-1].optional || o->optional) && !o[-1].repeat));
        for (size_t k = 0; k < count; k++) {
            const vxs_param *p = options[k].param;
            bool flag = p->type == VXS_PARAM_FLAG;
            cr_assert((p->value == NULL) == flag && p->help, "%s --%s", c->name, p->name);
            cr_assert(p->type == VXS_PARAM_WHOLE ||
                      (p->choices != NULL) == (p->type == VXS_PARAM_CHOICE));
            cr_assert(p->offset < VXS_VALUES_SIZE - sizeof(double), "VXS_VALUES_SIZE is too small");
            for (size_t j = 0; j < k; j++) {
                cr_assert(strcmp(p->name, options[j].param->name) != 0, "--%s twice", p->name);
                cr_assert(!p->letter || p->letter != options[j].param->letter, "-%c", p->letter);
            }
        }
    }
}

static void print_methods(FILE *stream, void *data)
{
    static const vxs_method methods[] = {
        { .name = "tree-lasso",
          .summary = "finds branches",
          .source = "somewhere, section 2",
          .params = params },
        { .name = NULL },
    };
    (*(bool *)data ? vxs_print_methods_json : vxs_print_methods)(stream, methods);
}

Test(methods, a_row_shows_with_its_parameters)
{
    bool json = false;
    vxs_error err = VXS_ERROR_INIT;
    vxs_json *root = NULL;
    char *text = printed(print_methods, &json);
    cr_assert(strstr(text, "tree-lasso"), "%s", text);
    free(text);
    json = true;
    text = printed(print_methods, &json);
    WORKS(vxs_json_parse(text, strlen(text), "methods", &root, &err), err);
    const vxs_json *method = vxs_json_get(root, "methods")->first;
    cr_assert_str_eq(vxs_json_get(method, "name")->text, "tree-lasso");
    cr_assert(vxs_json_get(method, "parameters")->length == 3);
    vxs_json_free(root);
    free(text);
}
