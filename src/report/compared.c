/* compared.c - models compared: values, differences with their intervals, and tests. */
#include "report/sections.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

static const char phipson[] =
    "Phipson B, Smyth GK. Permutation p-values should never be zero: calculating exact "
    "p-values when permutations are randomly drawn. Statistical Applications in "
    "Genetics and Molecular Biology 9, 2010.";
static const char nadeau[] =
    "Nadeau C, Bengio Y. Inference for the generalization error. Machine Learning 52, 2003.";
static const char delong[] =
    "DeLong ER, DeLong DM, Clarke-Pearson DL. Comparing the areas under two or more correlated "
    "receiver operating characteristic curves: a nonparametric approach. Biometrics 44, 1988.";
static const char obuchowski[] =
    "Obuchowski NA. Nonparametric analysis of clustered ROC curve data. Biometrics 53, 1997.";
static const char holm[] = "Holm S. A simple sequentially rejective multiple test procedure. "
                           "Scandinavian Journal of Statistics 6, 1979.";

#define LEVEL 0.05 /* as the conclusions have */

static double number(const vxs_results *s, const char *key)
{
    return vxs_results_number(s->about, key);
}

static const vxs_json *first_of(const vxs_json *object, const char *key)
{
    const vxs_json *list = vxs_json_get(object, key);
    return list ? list->first : NULL;
}

/* A pair's difference by a metric. */
static const vxs_json *difference(const vxs_json *pair, const char *metric)
{
    return vxs_json_get(vxs_json_get(pair, "metrics"), metric);
}

static bool has_metric(const vxs_results *s, const vxs_metric_row *row)
{
    return difference(first_of(s->about, "pairs"), row->name) != NULL;
}

static bool has_delong(const vxs_results *s)
{
    return vxs_json_get(difference(first_of(s->about, "pairs"), "auc"), "delong") != NULL;
}

/* ---- In words -------------------------------------------------------------------------------- */

/* By the main metric, and by those of which a model is better. */
static void write_conclusions(const vxs_results *s)
{
    const char *main_metric = s->classes ? "auc" : "r";
    bool main = difference(first_of(s->about, "pairs"), main_metric) != NULL;
    for (const vxs_json *pair = first_of(s->about, "pairs"); pair; pair = pair->next)
        for (const vxs_json *d = first_of(pair, "metrics"); d; d = d->next)
            if (!main || strcmp(d->key, main_metric) == 0 ||
                vxs_results_number(vxs_json_get(d, "swaps"), "p_holm") < LEVEL)
                vxs_html(s->out, "<p>%s</p>\n", vxs_results_text(d, "conclusion"));
}

static void write_lead(const vxs_results *s)
{
    const vxs_json *biased = vxs_json_get(s->about, "biased_downwards");
    vxs_html(s->out,
             "<p class=\"lead\">Cross-validations of %s compared by held-out predictions: %g "
             "subjects, %g folds, %g repeat%s.</p>\n",
             vxs_results_text(s->about, "target"), number(s, "subjects"), number(s, "folds"),
             number(s, "repeats"), number(s, "repeats") == 1 ? "" : "s");
    write_conclusions(s);
    if (biased && biased->number != 0)
        vxs_html(s->out,
                 "<p class=\"warn\">No fold has two %s to compare: the %s compares scores of "
                 "different models, which is biased downwards, and by how much may differ between "
                 "methods.</p>\n",
                 s->classes ? "classes" : "subjects", s->classes ? "AUC" : "correlation");
    if (number(s, "groups") < 10)
        vxs_html(s->out,
                 "<p class=\"warn\">The intervals are too narrow, because the bootstrap draws from "
                 "only %g groups of subjects.</p>\n",
                 number(s, "groups"));
}

/* ---- The table ------------------------------------------------------------------------------- */

static void write_range(FILE *out, const vxs_json *of)
{
    double low = vxs_results_number(of, "low"), high = vxs_results_number(of, "high");
    if (isnan(low) || isnan(high))
        fputs("<td>unknown</td>", out);
    else
        vxs_html(out, "<td>%v to %v</td>", low, high);
}

/* A p, and Holm's where there are several. */
static void write_p(const vxs_results *s, const vxs_json *test)
{
    if (isnan(vxs_results_number(test, "p")))
        fputs("<td>&ndash;</td>", s->out);
    else if (number(s, "tests") > 1)
        vxs_html(s->out, "<td>%v <small>(%v)</small></td>", vxs_results_number(test, "p"),
                 vxs_results_number(test, "p_holm"));
    else
        vxs_html(s->out, "<td>%v</td>", vxs_results_number(test, "p"));
}

static void write_model(const vxs_results *s, const vxs_json *model, const char *metric)
{
    const vxs_json *value = difference(model, metric);
    vxs_html(s->out, "<tr><td class=\"t\">%s</td><td>%v</td>", vxs_results_text(model, "name"),
             vxs_results_number(value, "value"));
    write_range(s->out, value);
    fputs(has_delong(s) ? "<td></td><td></td><td></td></tr>\n" : "<td></td><td></td></tr>\n",
          s->out);
}

static void write_pair(const vxs_results *s, const vxs_json *pair, const char *metric)
{
    const vxs_json *d = difference(pair, metric);
    vxs_html(s->out, "<tr><td class=\"t\">%s &minus; %s</td><td><b>%v</b></td>",
             vxs_results_text(pair, "first"), vxs_results_text(pair, "second"),
             vxs_results_number(d, "difference"));
    write_range(s->out, d);
    write_p(s, vxs_json_get(d, "swaps"));
    write_p(s, vxs_json_get(d, "t_test"));
    if (has_delong(s))
        write_p(s, vxs_json_get(d, "delong"));
    fputs("</tr>\n", s->out);
}

static void write_table(const vxs_results *s)
{
    char words[VXS_METRIC_TEXT];
    fputs("<h2>Differences</h2>\n<table class=\"n\"><tr><th>held-out subjects</th><th>value</th>"
          "<th>95&nbsp;% interval</th><th>p, swaps</th><th>p, t test</th>",
          s->out);
    fputs(has_delong(s) ? "<th>p, DeLong</th></tr>\n" : "</tr>\n", s->out);
    for (const vxs_metric_row *row = vxs_metric_rows; row->name; row++) {
        if (!has_metric(s, row))
            continue;
        vxs_html(s->out, "<tr><th colspan=\"%d\">%s</th></tr>\n", has_delong(s) ? 6 : 5,
                 vxs_results_metric(s, row->name, words));
        for (const vxs_json *m = first_of(s->about, "models"); m; m = m->next)
            write_model(s, m, row->name);
        for (const vxs_json *p = first_of(s->about, "pairs"); p; p = p->next)
            write_pair(s, p, row->name);
    }
    fputs("</table>\n", s->out);
}

/* Why tests have no p: each reason once. */
static void write_undefined(const vxs_results *s, const char *test, const char *words)
{
    const char *last = "";
    for (const vxs_json *p = first_of(s->about, "pairs"); p; p = p->next)
        for (const vxs_json *d = first_of(p, "metrics"); d; d = d->next) {
            const char *why = vxs_results_text(vxs_json_get(d, test), "undefined");
            if (*why && strcmp(why, last) != 0)
                vxs_html(s->out, " %s is undefined where %s.", words, why);
            last = *why ? why : last;
        }
}

static void write_caption(const vxs_results *s)
{
    fputs("<p class=\"small\">Values as in 'voxsift cv'. Intervals and p of swaps are about these "
          "fitted models on other subjects; the t test over folds also includes what another "
          "training sample would change, so that its p is mostly larger.",
          s->out);
    if (number(s, "tests") > 1)
        vxs_html(s->out,
                 " In parentheses: p after Holm's correction over the %g comparisons of the table.",
                 number(s, "tests"));
    write_undefined(s, "swaps", "The test of swaps");
    write_undefined(s, "t_test", "The t test");
    write_undefined(s, "delong", "DeLong's test");
    fputs("</p>\n", s->out);
}

/* ---- The figures ----------------------------------------------------------------------------- */

static vxs_status name_pair(const vxs_json *pair, const vxs_json *d, vxs_interval *row,
                            vxs_error *err)
{
    char *name = vxs_format(err, "%s - %s", vxs_results_text(pair, "first"),
                            vxs_results_text(pair, "second"));
    *row = (vxs_interval){ .name = name,
                           .color = VXS_INK,
                           .value = vxs_results_number(d, "difference"),
                           .low = vxs_results_number(d, "low"),
                           .high = vxs_results_number(d, "high") };
    return name ? VXS_OK : VXS_FAILED;
}

static vxs_status write_figure(const vxs_results *s, const vxs_metric_row *metric,
                               vxs_interval *rows, vxs_error *err)
{
    char words[VXS_METRIC_TEXT];
    size_t count = 0;
    vxs_status status = VXS_OK;
    for (const vxs_json *p = first_of(s->about, "pairs"); p && !status; p = p->next)
        status = name_pair(p, difference(p, metric->name), &rows[count++], err);
    if (!status)
        vxs_intervals_write(s->out, "Differences, 95 % intervals",
                            vxs_results_metric(s, metric->name, words), rows, count);
    for (size_t k = 0; k < count; k++)
        free((char *)rows[k].name);
    return status;
}

static vxs_status write_figures(const vxs_results *s, vxs_error *err)
{
    const vxs_json *pairs = vxs_json_get(s->about, "pairs");
    vxs_interval *rows = vxs_alloc(pairs->length, sizeof(*rows), err);
    vxs_status status = rows ? VXS_OK : VXS_FAILED;
    fputs("<div class=\"row\">\n", s->out);
    for (const vxs_metric_row *row = vxs_metric_rows; row->name && !status; row++)
        if (has_metric(s, row))
            status = write_figure(s, row, rows, err);
    fputs("</div>\n", s->out);
    free(rows);
    return status;
}

/* ---- Models, methods, provenance ------------------------------------------------------------- */

static bool is_one(const vxs_json *model)
{
    const char *directory = vxs_results_text(model, "directory");
    while (model && strcmp(vxs_results_text(model, "directory"), directory) == 0)
        model = model->next;
    return !model;
}

static void write_options(const vxs_results *s)
{
    const vxs_json *first = first_of(s->about, "differing_options");
    fputs("<h2>Models</h2>\n<table><tr><th></th>", s->out);
    for (const vxs_json *m = first_of(s->about, "models"); m; m = m->next)
        vxs_html(s->out, "<th>%s</th>", vxs_results_text(m, "name"));
    fputs("</tr>\n", s->out);
    for (const vxs_json *o = first; o; o = o->next) {
        vxs_html(s->out, "<tr><th>%s</th>", vxs_results_text(o, "option"));
        for (const vxs_json *v = first_of(o, "values"); v; v = v->next)
            vxs_html(s->out, "<td>%s</td>", v->text ? v->text : "-");
        fputs("</tr>\n", s->out);
    }
    fputs("</table>\n", s->out);
    vxs_html(s->out, "<p class=\"small\">%s",
             first ? "Options that differ; all others are the same."
             : is_one(first_of(s->about, "models")) ? "All of one cross-validation."
                                                    : "No option differs.");
    for (const vxs_json *m = first_of(s->about, "models"); m; m = m->next)
        if (vxs_json_get(m, "baseline"))
            vxs_html(s->out, " %s is the %s baseline of %s.", vxs_results_text(m, "name"),
                     vxs_baseline_words(vxs_results_text(m, "baseline"), false),
                     vxs_results_text(m, "directory"));
    fputs("</p>\n", s->out);
}

static void write_paragraph(const vxs_results *s)
{
    vxs_prose prose = { .out = s->text };
    const vxs_json *asked = vxs_json_get(s->about, "comparing"),
                   *all = vxs_json_get(s->about, "all_swaps");
    vxs_html(s->out,
             "<h2>Methods paragraph</h2>\n<p>Models were compared by the held-out predictions of "
             "cross-validations of the same subjects in the same folds (%g folds, %g repeat%s). "
             "Differences have 95 %% percentile intervals of %g bootstrap draws of %s, the same "
             "draws for all models. They were tested by ",
             number(s, "folds"), number(s, "repeats"), number(s, "repeats") == 1 ? "" : "s",
             vxs_results_number(asked, "bootstraps"),
             number(s, "groups") < number(s, "subjects") ? "groups of subjects" : "subjects");
    vxs_html(s->out,
             "%s%g swaps of the two models' predictions, p = (b + 1) / (m + 1) with b of m swaps "
             "reaching the observed difference",
             all && all->number != 0 ? "all " : "", number(s, "swaps"));
    vxs_cite(&prose, phipson);
    fputs(", and by the corrected resampled t test over folds", s->out);
    vxs_cite(&prose, nadeau);
    if (has_delong(s)) {
        fputs("; areas under the curve also by the test of DeLong et al.", s->out);
        vxs_cite(&prose, delong);
        fputs(" within folds, averaged over repeats, with persons as clusters", s->out);
        vxs_cite(&prose, obuchowski);
    }
    if (number(s, "tests") > 1) {
        vxs_html(s->out, ". P-values of the %g comparisons were corrected by Holm's method",
                 number(s, "tests"));
        vxs_cite(&prose, holm);
    }
    fputs(".</p>\n<ol class=\"cite\">", s->out);
    for (size_t k = 0; k < prose.count; k++)
        vxs_html(s->out, "<li>%s</li>\n", prose.cited[k]);
    fputs("</ol>\n", s->out);
}

static void write_origin(const vxs_results *s)
{
    fputs("<h2>Provenance</h2>\n<table>\n", s->out);
    vxs_row_of_text(s->out, "Command", vxs_results_text(s->about, "command"));
    vxs_row_of_text(s->out, "voxsift", vxs_results_text(s->about, "voxsift"));
    vxs_row_of_text(s->out, "Results", s->directory);
    for (const vxs_json *m = first_of(s->about, "models"); m; m = m->next)
        vxs_row_of_text(s->out, vxs_results_text(m, "name"), vxs_results_text(m, "command"));
    vxs_row_of_number(s->out, "Seed",
                      vxs_results_number(vxs_json_get(s->about, "comparing"), "seed"));
    vxs_row_of_number(s->out, "Seconds", number(s, "seconds"));
    fputs("</table>\n", s->out);
}

vxs_status vxs_section_compared(const vxs_results *s, vxs_error *err)
{
    if (!first_of(s->about, "models") || !first_of(first_of(s->about, "pairs"), "metrics"))
        return vxs_fail(err, VXS_BAD_DATA, "'%s/%s' has no models, or no pairs of them",
                        s->directory, s->kind->file);
    write_lead(s);
    write_table(s);
    write_caption(s);
    vxs_status status = write_figures(s, err);
    if (status)
        return status;
    write_options(s);
    write_paragraph(s);
    write_origin(s);
    return VXS_OK;
}
