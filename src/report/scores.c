/* scores.c - how well a cross-validation predicts, in numbers and figures. */
#include "report/story.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#define OTHER "#b8860b" /* baselines */

/* What is told first, and what its words are. */
static const struct {
    const char *key, *words;
    bool of_classes;
} told[] = {
    { "r", "correlation r", false },
    { "r2", "R\xc2\xb2", false },
    { "mae", "mean absolute error", false },
    { "rmse", "root mean square error", false },
    { "balanced_accuracy", "balanced accuracy", true },
    { "auc", "area under the curve", true },
    { "accuracy", "accuracy", true },
    { "sensitivity", "sensitivity", true },
    { "specificity", "specificity", true },
    { "f1", "F1", true },
    { "brier", "Brier score", true },
    { "calibration_slope", "calibration slope", true },
};
#define TOLD (sizeof(told) / sizeof(told[0]))

const char *vxs_story_metric(const char *key)
{
    for (size_t k = 0; k < TOLD; k++)
        if (strcmp(told[k].key, key) == 0)
            return told[k].words;
    return key;
}

static const vxs_json *outer(const vxs_story *s, const char *metric)
{
    return vxs_json_get(vxs_json_get(s->about, "outer"), metric);
}

static const char *main_metric(const vxs_story *s)
{
    return s->classes ? "balanced_accuracy" : "r";
}

/* ---- In words -------------------------------------------------------------------------------- */

/* The baseline that is the best by a metric, NULL when there is none. */
static const vxs_json *best_baseline(const vxs_story *s, const char *metric)
{
    const vxs_json *all = vxs_json_get(s->about, "baseline"), *best = NULL;
    for (const vxs_json *b = all ? all->first : NULL; b; b = b->next)
        if (isfinite(vxs_story_number(b, metric)) &&
            !(best && vxs_story_number(best, metric) >= vxs_story_number(b, metric)))
            best = b;
    return best;
}

/* Of the model less a baseline: value, low and high. */
static const vxs_json *difference(const vxs_story *s, const char *baseline, const char *metric)
{
    return vxs_json_get(vxs_json_get(vxs_json_get(s->about, "difference"), baseline), metric);
}

/* "0.5 to 0.8"; draws in which too few subjects can be compared have no interval. */
static void put_interval(FILE *out, const vxs_json *of)
{
    double low = vxs_story_number(of, "low"), high = vxs_story_number(of, "high");
    if (isnan(low) || isnan(high))
        fputs("unknown", out);
    else
        vxs_put(out, "%g to %g", low, high);
}

/* "0.66 (95 % interval 0.5 to 0.8)", and beside it the best baseline with the difference. */
void vxs_story_put_score(const vxs_story *s)
{
    const char *metric = main_metric(s);
    const vxs_json *m = outer(s, metric), *best = best_baseline(s, metric);
    vxs_put(s->out, "%s ", vxs_story_metric(metric));
    if (isnan(vxs_story_number(m, "pooled"))) {
        fputs("unknown, because no fold has two subjects that differ", s->out);
        return;
    }
    vxs_put(s->out, "%g (95 %% interval ", vxs_story_number(m, "pooled"));
    put_interval(s->out, m);
    fputs(")", s->out);
    if (!best)
        return;
    const vxs_json *d = difference(s, best->key, metric);
    vxs_put(s->out, "; the best baseline, %s, %g; difference model - baseline %g (95 %% interval ",
            best->key, vxs_story_number(best, metric), vxs_story_number(d, "value"));
    put_interval(s->out, d);
    fputs(")", s->out);
}

/* What the difference to the best baseline means. */
static void put_comparison(const vxs_story *s)
{
    const vxs_json *best = best_baseline(s, main_metric(s));
    const vxs_json *d = best ? difference(s, best->key, main_metric(s)) : NULL;
    if (!d)
        return;
    if (vxs_story_number(d, "value") <= 0)
        vxs_put(s->out,
                "<p class=\"warn\">The baseline \"%s\" predicts as well as the model or better. "
                "What the map shows adds nothing to it here.</p>\n",
                best->key);
    else if (isnan(vxs_story_number(d, "low")))
        fputs("<p class=\"warn\">Most bootstrap draws have no two subjects of one fold that "
              "differ, so that the interval of the difference is unknown. Use fewer folds.</p>\n",
              s->out);
    else if (!(vxs_story_number(d, "low") > 0))
        vxs_put(s->out,
                "<p class=\"warn\">The interval of the difference includes 0: these subjects do "
                "not show that the model predicts better than the baseline \"%s\".</p>\n",
                best->key);
}

static void put_verdict(const vxs_story *s)
{
    vxs_put(s->out,
            "<p class=\"lead\">%s of %g subjects, each predicted by a model that was not trained "
            "on them: ",
            vxs_story_text(s->about, "target"), vxs_story_number(s->about, "subjects"));
    vxs_story_put_score(s);
    fputs(".</p>\n", s->out);
    put_comparison(s);
    const vxs_json *c = vxs_json_get(s->about, "comparison");
    const vxs_json *few = vxs_json_get(c, "few_groups"),
                   *biased = vxs_json_get(c, "biased_downwards");
    if (biased && biased->number != 0)
        vxs_put(s->out,
                "<p class=\"warn\">No fold has two %s to compare: the %s compares scores of "
                "different models, which is biased downwards (below %s where nothing is "
                "predicted). Use fewer folds, or judge it by permutations.</p>\n",
                s->classes ? "classes" : "subjects",
                s->classes ? "area under the curve" : "correlation", s->classes ? "0.5" : "0");
    if (few && few->number != 0)
        vxs_put(
            s->out,
            "<p class=\"warn\">The intervals are of draws of %g groups of subjects, too few: they "
            "are too narrow.</p>\n",
            vxs_story_number(s->about, "groups"));
}

/* A baseline, and the difference under it; without probabilities a baseline has no slope. */
static void put_difference(const vxs_story *s, const vxs_json *baseline, const char *key)
{
    const vxs_json *d = difference(s, baseline->key, key);
    if (isnan(vxs_story_number(baseline, key))) {
        fputs("<td>none</td>", s->out);
        return;
    }
    vxs_put(s->out, "<td>%g<br><small>%g (", vxs_story_number(baseline, key),
            vxs_story_number(d, "value"));
    put_interval(s->out, d);
    fputs(")</small></td>", s->out);
}

/* A metric of the model, and of each baseline with the difference under it. */
static void put_metric(const vxs_story *s, const char *key, const char *words)
{
    const vxs_json *m = outer(s, key), *other = vxs_json_get(s->about, "baseline");
    if (isnan(vxs_story_number(m, "pooled"))) {
        vxs_put(s->out, "<tr><th>%s</th><td>unknown</td><td></td>", words);
        for (const vxs_json *b = other ? other->first : NULL; b; b = b->next)
            fputs("<td></td>", s->out);
        fputs("</tr>\n", s->out);
        return;
    }
    vxs_put(s->out, "<tr><th>%s</th><td><b>%g</b></td><td>", words, vxs_story_number(m, "pooled"));
    put_interval(s->out, m);
    fputs("</td>", s->out);
    for (const vxs_json *b = other ? other->first : NULL; b; b = b->next)
        put_difference(s, b, key);
    fputs("</tr>\n", s->out);
}

/* Who is compared with whom, of metrics that compare subjects. */
void vxs_story_put_convention(const vxs_story *s)
{
    const vxs_json *c = vxs_json_get(s->about, "comparison");
    const char *names = s->classes ? "The area under the curve, sensitivity, specificity and "
                                     "balanced accuracy compare"
                                   : "The correlation compares";
    if (strcmp(vxs_story_text(c, "subjects_of"), "one fold") == 0)
        vxs_put(s->out, "%s held-out subjects of one fold only (%g pairs in %g folds)", names,
                vxs_story_number(c, "pairs_within_folds"), vxs_story_number(c, "folds_with_pairs"));
    else
        vxs_put(s->out,
                "%s held-out subjects of all folds, after the constant of each fold's training "
                "subjects was replaced by that of all, because no fold has a pair",
                names);
}

/* A metric of two classes, of a task with more of them. */
static bool is_of_two(const vxs_story *s, const char *key)
{
    static const char *const of_two[] = { "sensitivity", "specificity", "calibration_slope" };
    bool is = false;
    for (size_t k = 0; k < sizeof(of_two) / sizeof(of_two[0]); k++)
        is = is || strcmp(key, of_two[k]) == 0;
    return is && s->record.class_count > 2;
}

static void put_table(const vxs_story *s)
{
    const vxs_json *other = vxs_json_get(s->about, "baseline");
    fputs("<table class=\"n\"><tr><th>held-out subjects</th><th>model</th><th>95&nbsp;% "
          "interval</th>",
          s->out);
    for (const vxs_json *b = other ? other->first : NULL; b; b = b->next)
        vxs_put(s->out, "<th>%s<br><small>model - %s (95&nbsp;%%)</small></th>", b->key, b->key);
    fputs("</tr>\n", s->out);
    for (size_t k = 0; k < TOLD; k++)
        if (told[k].of_classes == s->classes && outer(s, told[k].key) && !is_of_two(s, told[k].key))
            put_metric(s, told[k].key, told[k].words);
    fputs("</table>\n<p class=\"small\">All values are of held-out subjects, and the model and "
          "the baselines are measured in the same way. ",
          s->out);
    vxs_story_put_convention(s);
    vxs_put(s->out,
            "; all other metrics are computed over all subjects. Small: the difference model - "
            "baseline on the same bootstrap draws. Baselines: constant is the mean or the "
            "commonest class, confounds the unpenalised covariates alone, volume these and the sum "
            "of all features. Inner scores, which chose %s, are in scores.tsv and are no estimate "
            "of performance.</p>\n",
            vxs_record_path(&s->record)->name);
}

static void put_warnings(const vxs_story *s)
{
    double n = vxs_story_number(s->about, "subjects");
    if (n < 100)
        vxs_put(s->out,
                "<p class=\"warn\">%g subjects are few: the interval above is of these subjects, "
                "another sample may lie outside of it.</p>\n",
                n);
}

/* ---- Figures --------------------------------------------------------------------------------- */

/* The numbers of a column of predictions.tsv, of the first repeat; freed by the caller, whatever is
 * returned. */
static vxs_status read_column(const vxs_story *s, const char *name, double **values, size_t *count,
                              vxs_error *err)
{
    const vxs_table *t = s->table;
    size_t column = 0, repeat = 0;
    *count = 0;
    *values = vxs_alloc(vxs_table_rows(t), sizeof(**values), err);
    vxs_status status = *values ? vxs_table_find(t, name, &column, err) : VXS_FAILED;
    if (!status)
        status = vxs_table_find(t, "repeat", &repeat, err);
    for (size_t r = 0; r < vxs_table_rows(t) && !status; r++) {
        double number = 0;
        status = vxs_table_real(t, r, repeat, &number, err);
        if (!status && number == 1)
            status = vxs_table_real(t, r, column, &(*values)[(*count)++], err);
    }
    return status;
}

static vxs_status put_scatter(const vxs_story *s, vxs_error *err)
{
    size_t count = 0;
    double *x = NULL, *y = NULL;
    vxs_status status = read_column(s, "truth", &x, &count, err);
    if (!status)
        status = read_column(s, "predicted", &y, &count, err);
    vxs_chart chart = { .title = "Predicted and true",
                        .x_label = vxs_story_text(s->about, "target"),
                        .y_label = "predicted",
                        .square = true,
                        .diagonal = true };
    vxs_series series = { .colour = VXS_INK, .x = x, .y = y, .count = count };
    if (!status)
        vxs_chart_put(s->out, &chart, &series, 1);
    free(x);
    free(y);
    return status;
}

typedef struct {
    double score;
    bool positive;
} ranked;

static int falling(const void *a, const void *b)
{
    double left = ((const ranked *)a)->score, right = ((const ranked *)b)->score;
    return (left < right) - (left > right);
}

/* A class of predictions.tsv: whether each subject of the first repeat is of it. */
static vxs_status rank_class(const vxs_story *s, const char *class, ranked **list, size_t *count,
                             vxs_error *err)
{
    char name[300];
    size_t truth = 0, repeat = 0, at = 0;
    snprintf(name, sizeof(name), "score_%s", class);
    double *score = NULL;
    vxs_status status = read_column(s, name, &score, count, err);
    *list = status ? NULL : vxs_alloc(*count, sizeof(**list), err);
    if (!status)
        status = *list ? vxs_table_find(s->table, "truth", &truth, err) : VXS_FAILED;
    if (!status)
        status = vxs_table_find(s->table, "repeat", &repeat, err);
    for (size_t r = 0; r < vxs_table_rows(s->table) && !status; r++) {
        const char *cell = vxs_table_cell(s->table, r, truth);
        const char *of = vxs_table_cell(s->table, r, repeat);
        if (!of || strcmp(of, "1") != 0 || at >= *count)
            continue;
        (*list)[at] = (ranked){ score[at], cell && strcmp(cell, class) == 0 };
        at++;
    }
    free(score);
    return status;
}

/* False alarms and hits, from the boldest threshold to the most timid. */
static size_t trace_roc(ranked *list, size_t count, double *x, double *y)
{
    double up = 0, down = 0, positives = 0;
    size_t points = 1;
    qsort(list, count, sizeof(*list), falling);
    for (size_t k = 0; k < count; k++)
        positives += list[k].positive;
    x[0] = y[0] = 0;
    for (size_t k = 0; k < count; k++) {
        up += list[k].positive;
        down += !list[k].positive;
        if (k + 1 < count && list[k + 1].score == list[k].score)
            continue;
        x[points] = down / ((double)count - positives);
        y[points++] = up / positives;
    }
    return points;
}

static vxs_status put_roc(const vxs_story *s, vxs_error *err)
{
    size_t rows = vxs_table_rows(s->table) + 1, curves = vxs_record_outputs(&s->record);
    curves = curves < VXS_COLOURS ? curves : VXS_COLOURS;
    double *points = vxs_alloc(2 * curves, rows * sizeof(*points), err);
    vxs_series series[VXS_COLOURS];
    vxs_chart chart = { .title = "ROC, scores of all folds together",
                        .x_label = "false alarms (1 - specificity)",
                        .y_label = "hits (sensitivity)",
                        .square = true,
                        .diagonal = true };
    vxs_status status = points ? VXS_OK : VXS_FAILED;
    for (size_t k = 0; k < curves && !status; k++) {
        const char *class = vxs_record_class(&s->record, curves > 1 ? k : 1);
        double *x = points + 2 * k * rows, *y = x + rows;
        ranked *list = NULL;
        size_t count = 0;
        status = rank_class(s, class, &list, &count, err);
        if (!status)
            series[k] = (vxs_series){ .name = class,
                                      .colour = vxs_colours[k],
                                      .x = x,
                                      .y = y,
                                      .count = trace_roc(list, count, x, y),
                                      .line = true };
        free(list);
    }
    if (!status)
        vxs_chart_put(s->out, &chart, series, curves);
    free(points);
    return status;
}

#define MOST_FOLDS 1000

static void put_dots(const vxs_story *s)
{
    static double values[MOST_FOLDS];
    const vxs_json *m = outer(s, main_metric(s)), *other = vxs_json_get(s->about, "baseline");
    const vxs_json *per_fold = vxs_json_get(m, "per_fold");
    vxs_dots rows[8] = { { "model", VXS_INK, values, 0, vxs_story_number(m, "pooled") } };
    size_t count = 1;
    for (const vxs_json *v = per_fold ? per_fold->first : NULL; v && rows[0].count < MOST_FOLDS;
         v = v->next)
        values[rows[0].count++] = v->kind == VXS_JSON_NUMBER ? v->number : NAN;
    for (const vxs_json *b = other ? other->first : NULL; b && count < 8; b = b->next)
        rows[count++] = (vxs_dots){ b->key, OTHER, NULL, 0, vxs_story_number(b, main_metric(s)) };
    vxs_dots_put(s->out, "Folds (dots), all folds (bar), baselines",
                 s->classes ? "balanced accuracy" : "r", rows, count);
}

vxs_status vxs_story_scores(const vxs_story *s, vxs_error *err)
{
    put_verdict(s);
    fputs("<h2>How well it predicts</h2>\n", s->out);
    put_table(s);
    put_warnings(s);
    vxs_story_unseen(s);
    fputs("<div class=\"row\">\n", s->out);
    vxs_status status = s->classes ? put_roc(s, err) : put_scatter(s, err);
    put_dots(s);
    if (!status)
        status = vxs_story_selection(s, err);
    fputs("</div>\n", s->out);
    return status;
}
