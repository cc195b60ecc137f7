/* cmd_compare.c - voxsift compare. */
#include "cli/cli.h"

#include <math.h>
#include <string.h>

static const vxs_operand operands[] = {
    { .name = "CV",
      .help = "two or more directories of 'voxsift cv': the same subjects, target and folds; "
              "CV:dense, CV:global_signal, CV:covariates, CV:constant are baselines of one",
      .repeat = true },
    { .name = NULL },
};

static const vxs_example examples[] = {
    { "voxsift compare lasso-cv fused-cv -o lasso-fused",
      "test whether one of two models predicts better" },
    { "voxsift compare t1w-cv pet-cv both-cv --metric all --permutations 100000",
      "compare three models by all metrics, with Holm's correction" },
    { "voxsift compare lasso-cv lasso-cv:dense lasso-cv:global_signal",
      "test a model against baselines of its own cross-validation" },
    { NULL, NULL },
};

/* ---- Columns --------------------------------------------------------------------------------- */

#define WIDEST 36 /* characters of the widest column of names */

static int length_of(const char *text)
{
    int length = 0;
    for (; *text; text++)
        length += ((unsigned char)*text & 0xC0) != 0x80; /* not inside a character of UTF-8 */
    return length;
}

/* A text of this width, and blanks behind a shorter one. */
static void print_left(FILE *out, const char *text, int width)
{
    int length = length_of(text);
    fprintf(out, "%s%*s", text, length < width ? width - length : 0, "");
}

static int width_of_names(const vxs_compared *c)
{
    int width = 16;
    for (size_t k = 0; k < c->pair_count; k++) {
        int length = length_of(c->models[c->pairs[k].first].name) +
                     5 + /* " - ", two blanks before */
                     length_of(c->models[c->pairs[k].second].name);
        width = length > width ? length : width;
    }
    return width < WIDEST ? width : WIDEST;
}

/* ---- What was compared ----------------------------------------------------------------------- */

static void print_head(FILE *out, const vxs_compared *c)
{
    size_t positive = 0;
    for (size_t i = 0; i < c->n; i++)
        positive += c->truth[i] == 1;
    fprintf(out, "Comparison of %zu cross-validations of '%s', %zu subjects", c->model_count,
            c->target, c->n);
    if (c->folds.groups < c->n)
        fprintf(out, " (%zu groups)", c->folds.groups);
    fprintf(out, ": %zu folds, %zu repeat%s\n", c->folds.count, c->folds.repeats,
            vxs_plural(c->folds.repeats));
    if (c->class_count == 2)
        fprintf(out, "  positive class: %s (%zu subject%s), against %s (%zu)\n", c->classes[1],
                positive, vxs_plural(positive), c->classes[0], c->n - positive);
}

/* Models that 'cv --method A,B' has named by their methods. */
static bool is_in_names(const vxs_compared *c, const vxs_compared_option *option)
{
    size_t m = 0;
    while (m < c->model_count && option->values[m] &&
           strcmp(option->values[m], c->models[m].name) == 0)
        m++;
    return m == c->model_count;
}

static void print_options(FILE *out, const vxs_compared *c)
{
    if (c->option_count == 0)
        fprintf(out, "  %s\n",
                vxs_compared_is_one(c) ? "all of one cross-validation" : "no option differs");
    for (size_t k = 0; k < c->option_count; k++) {
        if (is_in_names(c, &c->options[k]))
            continue;
        fprintf(out, "  %s: ", c->options[k].name);
        for (size_t m = 0; m < c->model_count; m++)
            fprintf(out, "%s%s %s", m > 0 ? ", " : "", c->models[m].name,
                    c->options[k].values[m] ? c->options[k].values[m] : "-");
        fputs("\n", out);
    }
    for (size_t m = 0; m < c->model_count; m++)
        if (c->models[m].baseline)
            fprintf(out, "  %s: the %s baseline of %s\n", c->models[m].name,
                    vxs_baseline_words(c->models[m].baseline, false), c->models[m].directory);
}

/* ---- Values and differences ------------------------------------------------------------------ */

/* `padded`: something follows. */
static void print_value(FILE *out, double value, double low, double high, bool sign, bool padded)
{
    char one[VXS_REAL_TEXT], from[VXS_REAL_TEXT], to[VXS_REAL_TEXT], range[2 * VXS_REAL_TEXT + 8];
    snprintf(range, sizeof(range), isnan(low) || isnan(high) ? "unknown" : "%s to %s",
             vxs_score_text(low, sign, from), vxs_score_text(high, sign, to));
    fprintf(out, "  %9s  %*s", vxs_score_text(value, sign, one), padded ? -20 : 0, range);
}

static void print_p(FILE *out, const vxs_compared_p *p, double value)
{
    char text[VXS_REAL_TEXT];
    fprintf(out, "  %8s", p->undefined ? "-" : vxs_score_text(value, false, text));
}

static bool is_area(const vxs_compared *c, size_t metric)
{
    return c->class_count == 2 && strcmp(c->metrics[metric]->name, "auc") == 0;
}

static void print_model(FILE *out, const vxs_compared_model *m, const vxs_metric_row *row,
                        int width)
{
    fputs("    ", out);
    print_left(out, m->name, width - 2);
    print_value(out, *vxs_metric((vxs_metrics *)&m->pooled, row),
                *vxs_metric((vxs_metrics *)&m->low, row), *vxs_metric((vxs_metrics *)&m->high, row),
                false, false);
    fputs("\n", out);
}

static bool has_several(const vxs_compared *c)
{
    return c->pair_count * c->metric_count > 1;
}

static void print_pair(FILE *out, const vxs_compared *c, const vxs_compared_pair *pair,
                       size_t metric, int width)
{
    const vxs_compared_difference *d = &pair->each[metric];
    int first = length_of(c->models[pair->first].name) + 3;
    fprintf(out, "    %s - ", c->models[pair->first].name);
    print_left(out, c->models[pair->second].name, width - 2 - first);
    print_value(out, d->value, d->low, d->high, true, true);
    print_p(out, &d->swap, d->swap.p);
    if (has_several(c))
        print_p(out, &d->swap, d->swap.holm);
    print_p(out, &d->resampled, d->resampled.p);
    if (is_area(c, metric))
        print_p(out, &d->delong, d->delong.p);
    fputs("\n", out);
}

static void print_metric(FILE *out, const vxs_compared *c, size_t metric, int width)
{
    const vxs_metric_row *row = c->metrics[metric];
    char words[VXS_METRIC_TEXT];
    fputs("  ", out);
    print_left(out, vxs_compared_words(c, row, words), width);
    fprintf(out, "  %9s  %-20s  %8s%s  %8s%s\n", "held-out", "95 % interval", "p swaps",
            has_several(c) ? "    p Holm" : "", "p t", is_area(c, metric) ? "  p DeLong" : "");
    for (size_t k = 0; k < c->model_count; k++)
        print_model(out, &c->models[k], row, width);
    for (size_t k = 0; k < c->pair_count; k++)
        print_pair(out, c, &c->pairs[k], metric, width);
}

/* Why a test has no p, each reason once. */
static void print_undefined(FILE *out, const vxs_compared *c, size_t at, const char *test)
{
    const char *last = NULL;
    for (size_t m = 0; m < c->metric_count; m++)
        for (size_t k = 0; k < c->pair_count; k++) {
            const vxs_compared_difference *d = &c->pairs[k].each[m];
            const vxs_compared_p *p = (const vxs_compared_p *)(const void *)((const char *)d + at);
            if (p->undefined && p->undefined != last)
                fprintf(out, "  %s undefined: %s\n", test, p->undefined);
            last = p->undefined ? p->undefined : last;
        }
}

/* Of several metrics, the main one and those by which a model is better. */
static void print_conclusions(FILE *out, const vxs_compared *c)
{
    const char *main_metric = c->class_count > 0 ? "auc" : "r";
    for (size_t k = 0; k < c->pair_count; k++)
        for (size_t m = 0; m < c->metric_count; m++) {
            const vxs_compared_difference *d = &c->pairs[k].each[m];
            if (c->metric_count == 1 || strcmp(c->metrics[m]->name, main_metric) == 0 ||
                d->swap.holm < VXS_COMPARE_LEVEL)
                fprintf(out, "  %s\n", d->conclusion);
        }
}

void vxs_print_compared(const vxs_call *call, const vxs_compared *c)
{
    FILE *out = call->out;
    int width = width_of_names(c);
    print_head(out, c);
    print_options(out, c);
    for (size_t m = 0; m < c->metric_count; m++)
        print_metric(out, c, m, width);
    print_undefined(out, c, offsetof(vxs_compared_difference, swap), "swaps");
    print_undefined(out, c, offsetof(vxs_compared_difference, resampled), "t test");
    print_undefined(out, c, offsetof(vxs_compared_difference, delong), "DeLong's test");
    fprintf(out, "  %s%zu swaps of the two models' predictions\n", c->exhaustive ? "all " : "",
            c->swaps);
    print_conclusions(out, c);
    if (call->shared->out) {
        fprintf(out, "  %s/compare.tsv   values, differences, intervals and p\n",
                call->shared->out);
        fprintf(out, "  %s/compare.json  all results and settings\n", call->shared->out);
    }
}

static vxs_status run(const vxs_call *call, vxs_error *err)
{
    vxs_compared c;
    const char *directory = call->shared->out;
    vxs_status status = vxs_compare(call->context, call->values,
                                    (const char *const *)call->operands, NULL, &c, err);
    if (status)
        return status;
    if (directory)
        status = vxs_compared_save(call->context, &c, directory, call->shared->force, err);
    if (!status && call->shared->json) {
        vxs_json_writer w;
        vxs_json_init(&w, call->out);
        vxs_json_open_object(&w, NULL);
        vxs_json_text(&w, "output", directory);
        vxs_compared_json(&w, &c);
        vxs_close_json(call, &w);
    } else if (!status) {
        vxs_print_compared(call, &c);
    }
    vxs_compared_release(&c);
    return status;
}

const vxs_command vxs_cmd_compare = {
    .name = "compare",
    .heading = "Predict",
    .summary = "test whether one model predicts better than another",
    .details =
        "Compares finished cross-validations by their held-out predictions. Subjects, target and "
        "folds must be the same: 'voxsift cv' with the same --folds, --repeats and --seed, or with "
        "--folds-from OTHER/folds.tsv. Method, loss, hyperparameters, confounds and features may "
        "differ. Methods that differ in nothing else are run and compared by one command, 'voxsift "
        "cv --method A,B'. A directory that is itself called CV:dense is read as such; CV/:dense "
        "is the baseline.\n\n"
        "For each metric it gives the value of each model and the difference of each pair, with "
        "95 % intervals over bootstrap draws of persons (the same draws for all models), and "
        "p-values of these tests:\n\n"
        "Swaps: the two models' predictions of a person are exchanged at random. p is (b + 1) / "
        "(m + 1), b of m swaps having a difference as large as the observed one. For the AUC of "
        "two classes, scores are put in one unit by the calibration of each fold.\n\n"
        "t: the corrected resampled t test of Nadeau and Bengio over folds and repeats. It "
        "includes the variability due to the training sample; the other tests and the intervals "
        "are about the models as they were fitted. Where two methods are as good, the models that "
        "they fit to one sample still differ: claim that a method is better only where the t test "
        "of one or two repeats agrees; with ten repeats it finds too much.\n\n"
        "DeLong: the test for two correlated areas under the curve, here within folds and averaged "
        "over repeats.\n\n"
        "The sentence at the end is decided by the test of swaps at 0.05, after Holm's correction "
        "over all pairs and metrics. With -o, 'voxsift report' shows the result as a page.",
    .operands = operands,
    .params = vxs_compare_params,
    .takes = VXS_TAKES_OUTPUT | VXS_OUTPUT_OPTIONAL | VXS_TAKES_JSON | VXS_TAKES_THREADS,
    .examples = examples,
    .run = run,
};
