#include "tests/core/check.h"

typedef struct {
    bool positive;
    int64_t steps, cores;
    double lambda, tol, anything;
    int loss;
    const char *name, *out;
} settings;

static const char *const losses[] = { "squared", "logistic", "hinge", NULL };

#define AT(member) offsetof(settings, member)
static const vxs_param table[] = {
    { .name = "positive", .help = "h", .type = VXS_PARAM_FLAG, .offset = AT(positive) },
    { .name = "steps",
      .value = "N",
      .help = "h",
      .type = VXS_PARAM_WHOLE,
      .offset = AT(steps),
      .initial = 10,
      .min = 1,
      .max = 100 },
    { .name = "cores",
      .value = "N",
      .help = "h",
      .type = VXS_PARAM_WHOLE,
      .offset = AT(cores),
      .initial = NAN,
      .min = 1,
      .max = 8 },
    { .name = "lambda",
      .value = "L",
      .help = "h",
      .type = VXS_PARAM_REAL,
      .offset = AT(lambda),
      .initial = NAN,
      .min = 0,
      .max = INFINITY },
    { .name = "tol",
      .value = "T",
      .help = "h",
      .type = VXS_PARAM_REAL,
      .offset = AT(tol),
      .initial = 1e-6,
      .min = 1e-14,
      .max = 0.1 },
    { .name = "anything",
      .value = "X",
      .help = "h",
      .type = VXS_PARAM_REAL,
      .offset = AT(anything),
      .initial = -1,
      .min = -INFINITY,
      .max = INFINITY },
    { .name = "loss",
      .value = "L",
      .help = "h",
      .type = VXS_PARAM_CHOICE,
      .offset = AT(loss),
      .initial = 1,
      .choices = losses },
    { .name = "name", .value = "T", .help = "h", .type = VXS_PARAM_TEXT, .offset = AT(name) },
    { .name = "out", .value = "F", .help = "h", .type = VXS_PARAM_PATH, .offset = AT(out) },
    { .name = NULL },
};

static const vxs_param *row(const char *name)
{
    const vxs_param *p = table;
    while (strcmp(p->name, name) != 0)
        p++;
    return p;
}

Test(param, defaults_come_from_the_rows)
{
    settings s;
    memset(&s, 0xff, sizeof(s));
    vxs_params_defaults(table, &s);
    cr_assert(!s.positive && s.steps == 10 && s.cores == 0 && isnan(s.lambda) && s.tol == 1e-6);
    cr_assert(s.anything == -1 && s.loss == 1 && !s.name && !s.out);
}

Test(param, takes_what_is_in_range)
{
    static const char *const pairs[][2] = {
        { "steps", "1" },        { "steps", "100" },       { "lambda", "0" },
        { "lambda", "1e300" },   { "tol", "1e-14" },       { "tol", "0.1" },
        { "loss", "hinge" },     { "anything", "-1e308" }, { "name", "a b \xc3\xbc" },
        { "out", "some dir/x" },
    };
    settings s;
    vxs_error err = VXS_ERROR_INIT;
    vxs_params_defaults(table, &s);
    for (size_t i = 0; i < sizeof(pairs) / sizeof(pairs[0]); i++)
        WORKS(vxs_param_set(row(pairs[i][0]), &s, pairs[i][1], &err), err);
    WORKS(vxs_param_set(row("positive"), &s, NULL, &err), err);
    cr_assert(s.positive && s.steps == 100 && s.lambda == 1e300 && s.tol == 0.1 && s.loss == 2);
    cr_assert_str_eq(s.out, "some dir/x");
}

Test(param, refuses_the_rest_in_words)
{
    static const char *const rows[][3] = {
        { "lambda", "abc", "option '--lambda' expects a number of at least 0, not 'abc'" },
        { "lambda", "nan", "option '--lambda' expects a number of at least 0, not 'nan'" },
        { "lambda", "inf", "not 'inf'" },
        { "lambda", "-1e-9", "not '-1e-9'" },
        { "lambda", "", "not ''" },
        { "tol", "0.2", "expects a number between 1e-14 and 0.1, not '0.2'" },
        { "steps", "1.5", "expects a whole number between 1 and 100, not '1.5'" },
        { "steps", "0", "not '0'" },
        { "steps", "101", "not '101'" },
        { "steps", "99999999999999999999", "not '99999999999999999999'" },
        { "loss", "logisitc",
          "expects one of squared, logistic, hinge, not 'logisitc'; did you mean "
          "'logistic'?" },
        { "anything", "x", "expects a number, not 'x'" },
        { "name", "", "expects a text" },
        { "out", "", "expects a path" },
        { "positive", "yes", "expects no value" },
    };
    settings s;
    vxs_error err = VXS_ERROR_INIT;
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        vxs_params_defaults(table, &s);
        REFUSES(vxs_param_set(row(rows[i][0]), &s, rows[i][1], &err), err, VXS_MISUSE, rows[i][2]);
    }
}

static void print_json(FILE *stream, void *values)
{
    vxs_json_writer writer;
    vxs_json_init(&writer, stream);
    vxs_json_params(&writer, NULL, table, values);
}

Test(param, json_holds_every_row)
{
    settings s;
    vxs_error err = VXS_ERROR_INIT;
    vxs_json *root = NULL;
    vxs_params_defaults(table, &s);
    s.name = "n";
    char *text = printed(print_json, &s);
    WORKS(vxs_json_parse(text, strlen(text), "params", &root, &err), err);
    for (const vxs_param *p = table; p->name; p++)
        cr_assert(vxs_json_get(root, p->name), "%s", p->name);
    cr_assert(vxs_json_get(root, "lambda")->kind == VXS_JSON_NULL);
    cr_assert(vxs_json_get(root, "tol")->number == 1e-6);
    cr_assert_str_eq(vxs_json_get(root, "loss")->text, "logistic");
    cr_assert(vxs_json_get(root, "out")->kind == VXS_JSON_NULL);
    vxs_json_free(root);
    free(text);
}

Test(param, words_for_help)
{
    char words[256];
    vxs_param_default(row("tol"), words, sizeof(words));
    cr_assert_str_eq(words, "1e-06");
    vxs_param_default(row("lambda"), words, sizeof(words));
    cr_assert_str_eq(words, "");
    vxs_param_default(row("loss"), words, sizeof(words));
    cr_assert_str_eq(words, "logistic");
}

static const char *const words[] = { "group", "site", NULL };
static const vxs_param repeated[] = { { .name = "only",
                                        .value = "EXPR",
                                        .help = "h",
                                        .type = VXS_PARAM_TEXTS,
                                        .offset = offsetof(vxs_texts, each) },
                                      { .name = NULL } };
static const vxs_param worded[] = { { .name = "folds",
                                      .value = "K",
                                      .help = "h",
                                      .type = VXS_PARAM_WHOLE,
                                      .initial = -1,
                                      .min = 2,
                                      .max = 9,
                                      .choices = words },
                                    { .name = NULL } };

Test(param, a_repeated_option_keeps_all_its_values)
{
    vxs_texts texts;
    vxs_error err = VXS_ERROR_INIT;
    vxs_params_defaults(repeated, &texts);
    cr_expect_null(texts.each[0]);
    for (int k = 0; k < VXS_MOST_TEXTS; k++)
        WORKS(vxs_param_set(repeated, &texts, k % 2 ? "a" : "b", &err), err);
    cr_expect_str_eq(texts.each[0], "b");
    cr_expect_str_eq(texts.each[VXS_MOST_TEXTS - 1], "a");
    cr_expect_null(texts.each[VXS_MOST_TEXTS]);
    REFUSES(vxs_param_set(repeated, &texts, "c", &err), err, VXS_MISUSE, "16 times, not more");
    vxs_params_defaults(repeated, &texts);
    REFUSES(vxs_param_set(repeated, &texts, "", &err), err, VXS_MISUSE, "'--only' expects a text");
}

Test(param, a_whole_number_may_be_a_word)
{
    int64_t folds = 0;
    vxs_error err = VXS_ERROR_INIT;
    WORKS(vxs_param_set(worded, &folds, "site", &err), err);
    cr_expect_eq(folds, VXS_WORD(1));
    WORKS(vxs_param_set(worded, &folds, "3", &err), err);
    cr_expect_eq(folds, 3);
    REFUSES(vxs_param_set(worded, &folds, "sites", &err), err, VXS_MISUSE,
            "expects a whole number between 2 and 9, or group, or site, not 'sites'");
    REFUSES(vxs_param_set(worded, &folds, "-2", &err), err, VXS_MISUSE, "not '-2'");
}
