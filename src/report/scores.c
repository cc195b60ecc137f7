/* scores.c - out-of-sample prediction accuracy of a cross-validation: text, table and figures. */
#include "report/sections.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#define OTHER "#b8860b" /* baselines */

const char *vxs_results_metric(const vxs_results *s, const char *key, char text[VXS_METRIC_TEXT])
{
    const vxs_metric_row *row = vxs_metric_named(key);
    if (row)
        return vxs_metric_words(row, s->record.class_count, vxs_record_class(&s->record, 0),
                                vxs_record_class(&s->record, 1), text);
    snprintf(text, VXS_METRIC_TEXT, "%s", key);
    return text;
}

static const vxs_json *outer(const vxs_results *s, const char *metric)
{
    return vxs_json_get(vxs_json_get(s->about, "outer"), metric);
}

static const char *main_metric(const vxs_results *s)
{
    return s->classes ? "balanced_accuracy" : "r";
}

/* ---- In words -------------------------------------------------------------------------------- */

/* The best simple baseline by a metric: one that does not weigh all features; NULL: none. */
static const vxs_json *best_baseline(const vxs_results *s, const char *metric)
{
    const vxs_json *all = vxs_json_get(s->about, "baseline"), *best = NULL;
    for (const vxs_json *b = all ? all->first : NULL; b; b = b->next)
        if (isfinite(vxs_results_number(b, metric)) && strcmp(b->key, VXS_DENSE_KEY) != 0 &&
            !(best && vxs_results_number(best, metric) >= vxs_results_number(b, metric)))
            best = b;
    return best;
}

static const char *baseline_words(const vxs_results *s, const vxs_json *baseline)
{
    return vxs_baseline_words(baseline->key, s->record.task.confounds != NULL);
}

/* Model - baseline: value, low and high. */
static const vxs_json *difference(const vxs_results *s, const char *baseline, const char *metric)
{
    return vxs_json_get(vxs_json_get(vxs_json_get(s->about, "difference"), baseline), metric);
}

/* "0.5 to 0.8"; draws in which too few subjects can be compared have no interval. */
static void write_interval(FILE *out, const vxs_json *of)
{
    double low = vxs_results_number(of, "low"), high = vxs_results_number(of, "high");
    if (isnan(low) || isnan(high))
        fputs("unknown", out);
    else
        vxs_html(out, "%v to %v", low, high);
}

/* "best simple baseline (global signal): 0.6; difference 0.1 (95 % interval 0.05 to 0.15)" */
static void write_baseline(const vxs_results *s, const char *role, const vxs_json *baseline)
{
    const char *metric = main_metric(s);
    const vxs_json *d = difference(s, baseline->key, metric);
    vxs_html(s->out, "; %s (%s): %v; difference %v (95 %% interval ", role,
             baseline_words(s, baseline), vxs_results_number(baseline, metric),
             vxs_results_number(d, "value"));
    write_interval(s->out, d);
    fputs(")", s->out);
}

/* "r 0.660 (95 % interval 0.500 to 0.800)", and two baselines with the difference: the best one,
 * and the one that weighs all features. */
void vxs_sentence_score(const vxs_results *s)
{
    const char *metric = main_metric(s);
    const vxs_json *m = outer(s, metric), *best = best_baseline(s, metric),
                   *dense = vxs_json_get(vxs_json_get(s->about, "baseline"), VXS_DENSE_KEY);
    char words[VXS_METRIC_TEXT];
    vxs_html(s->out, "%s ", vxs_results_metric(s, metric, words));
    if (isnan(vxs_results_number(m, "pooled"))) {
        fputs("unknown, because no fold has two subjects that differ", s->out);
        return;
    }
    vxs_html(s->out, "%v (95 %% interval ", vxs_results_number(m, "pooled"));
    write_interval(s->out, m);
    fputs(")", s->out);
    if (best)
        write_baseline(s, "best simple baseline", best);
    if (dense && isfinite(vxs_results_number(dense, metric)))
        write_baseline(s, "all features weighed", dense);
}

/* What the difference to the best simple baseline means. */
static void write_comparison(const vxs_results *s)
{
    const vxs_json *best = best_baseline(s, main_metric(s));
    const vxs_json *d = best ? difference(s, best->key, main_metric(s)) : NULL;
    char words[VXS_METRIC_TEXT];
    if (!d)
        return;
    vxs_results_metric(s, main_metric(s), words);
    if (vxs_results_number(d, "value") <= 0)
        vxs_html(s->out, "<p class=\"warn\">" VXS_ADDS_NOTHING "</p>\n", words,
                 baseline_words(s, best), vxs_adding_words(s->record.features_are));
    else if (isnan(vxs_results_number(d, "low")))
        fputs("<p class=\"warn\">Most bootstrap draws have no two subjects of one fold that "
              "differ, so that the interval of the difference is unknown. Use fewer folds.</p>\n",
              s->out);
    else if (!(vxs_results_number(d, "low") > 0))
        vxs_html(s->out, "<p class=\"warn\">" VXS_NOT_BETTER "</p>\n", words,
                 baseline_words(s, best));
    else
        vxs_html(s->out, "<p>" VXS_BETTER "</p>\n", words, baseline_words(s, best));
}

/* The same for the dense linear baseline. */
static void write_dense_comparison(const vxs_results *s)
{
    const char *metric = main_metric(s), *noun = vxs_feature_words(s->record.features_are, 2);
    const vxs_json *d = difference(s, VXS_DENSE_KEY, metric);
    const char *left_out = vxs_json_get_text(s->about, "dense_left_out");
    char words[VXS_METRIC_TEXT];
    if (left_out)
        vxs_html(s->out, "<p>There is no dense linear baseline: %s.</p>\n", left_out);
    if (!d || isnan(vxs_results_number(d, "value")) || isnan(vxs_results_number(d, "low")))
        return;
    vxs_results_metric(s, metric, words);
    if (vxs_results_number(d, "high") < 0)
        vxs_html(s->out, "<p>" VXS_DENSE_BETTER "</p>\n", words, noun);
    else if (!(vxs_results_number(d, "low") > 0))
        vxs_html(s->out, "<p>" VXS_DENSE_OPEN "</p>\n", words, noun);
    else
        vxs_html(s->out, "<p>" VXS_DENSE_WORSE "</p>\n", words, noun);
}

/* Of rows that are voxels: the same metric within each person. */
static void write_within(const vxs_results *s)
{
    const vxs_json *w = vxs_json_get(s->about, "within_people");
    const vxs_metric_row *row = vxs_metric_named(w ? vxs_results_text(w, "metric") : "");
    if (!row || !(vxs_results_number(w, "people") > 0))
        return;
    vxs_html(s->out,
             "<p>Voxels of one person are not independent. Of each person's own voxels the mean %s "
             "is %v (95 %% interval %v to %v over people, sd %v, %v to %v, %g people): "
             "people.tsv.</p>\n",
             row->words, vxs_results_number(w, "mean"), vxs_results_number(w, "low"),
             vxs_results_number(w, "high"), vxs_results_number(w, "sd"),
             vxs_results_number(w, "least"), vxs_results_number(w, "most"),
             vxs_results_number(w, "people"));
}

static void write_verdict(const vxs_results *s)
{
    const char *rows = vxs_results_rows(s);
    vxs_html(s->out, "<p class=\"lead\">%s cross-validation of %s, %g %s. Held-out %s: ",
             vxs_results_folds(s).inner > 0 ? "Nested" : "Plain",
             vxs_results_text(s->about, "target"), vxs_results_number(s->about, "subjects"), rows,
             rows);
    vxs_sentence_score(s);
    fputs(".</p>\n", s->out);
    write_within(s);
    write_comparison(s);
    write_dense_comparison(s);
    const vxs_json *c = vxs_json_get(s->about, "comparison");
    const vxs_json *few = vxs_json_get(c, "few_groups"),
                   *biased = vxs_json_get(c, "biased_downwards");
    if (biased && biased->number != 0)
        vxs_html(s->out,
                 "<p class=\"warn\">No fold has two %s to compare: the %s compares scores of "
                 "different models, which is biased downwards (below %s where nothing is "
                 "predicted). Use fewer folds, or a permutation test.</p>\n",
                 s->classes ? "classes" : "subjects", s->classes ? "AUC" : "correlation",
                 s->classes ? "0.5" : "0");
    if (few && few->number != 0)
        vxs_html(s->out,
                 "<p class=\"warn\">The intervals are too narrow, because the bootstrap draws from "
                 "only %g groups of subjects.</p>\n",
                 vxs_results_number(s->about, "groups"));
}

/* A baseline, and the difference under it; without probabilities a baseline has no slope. */
static void write_difference(const vxs_results *s, const vxs_json *baseline, const char *key)
{
    const vxs_json *d = difference(s, baseline->key, key);
    if (isnan(vxs_results_number(baseline, key))) {
        fputs("<td>none</td>", s->out);
        return;
    }
    vxs_html(s->out, "<td>%v<br><small>%v<br>(", vxs_results_number(baseline, key),
             vxs_results_number(d, "value"));
    write_interval(s->out, d);
    fputs(")</small></td>", s->out);
}

/* A metric of the model, and of each baseline with the difference under it. */
static void write_metric(const vxs_results *s, const vxs_metric_row *row)
{
    const vxs_json *m = outer(s, row->name), *other = vxs_json_get(s->about, "baseline");
    char words[VXS_METRIC_TEXT];
    vxs_html(s->out, "<tr><th>%s</th>", vxs_results_metric(s, row->name, words));
    if (isnan(vxs_results_number(m, "pooled"))) {
        fputs("<td>unknown</td><td></td>", s->out);
        for (const vxs_json *b = other ? other->first : NULL; b; b = b->next)
            fputs("<td></td>", s->out);
        fputs("</tr>\n", s->out);
        return;
    }
    vxs_html(s->out, "<td><b>%v</b></td><td>", vxs_results_number(m, "pooled"));
    write_interval(s->out, m);
    fputs("</td>", s->out);
    for (const vxs_json *b = other ? other->first : NULL; b; b = b->next)
        write_difference(s, b, row->name);
    fputs("</tr>\n", s->out);
}

/* Which subjects are compared, by metrics that compare subjects. */
void vxs_sentence_comparison(const vxs_results *s)
{
    const vxs_json *c = vxs_json_get(s->about, "comparison");
    const char *names = s->record.class_count > 2 ? "AUC, sensitivity and balanced accuracy compare"
                        : s->classes ? "AUC, sensitivity, specificity, balanced accuracy, average "
                                       "precision and precision at break-even compare"
                                     : "The correlation compares";
    if (strcmp(vxs_results_text(c, "subjects_of"), "one fold") == 0)
        vxs_html(s->out, "%s held-out %s of the same fold (%g pairs%s%s%s in %g folds)", names,
                 vxs_results_rows(s), vxs_results_number(c, "pairs_within_folds"),
                 s->classes ? " of " : "", s->classes ? vxs_results_rows(s) : "",
                 s->classes ? " of different classes" : "",
                 vxs_results_number(c, "folds_with_pairs"));
    else
        vxs_html(s->out,
                 "%s held-out subjects of all folds, after the constant of each fold's training "
                 "subjects was replaced by that of all, because no fold has a pair",
                 names);
}

/* Those that there are. */
static void describe_baselines(const vxs_results *s, const vxs_json *baselines)
{
    bool covariates = vxs_json_get(baselines, "covariates") != NULL;
    fputs("Baselines: constant predicts the mean or the commonest class of the training subjects "
          "of each fold",
          s->out);
    if (covariates)
        fputs(", covariates predicts from the covariates alone", s->out);
    if (vxs_json_get(baselines, "global_signal"))
        vxs_html(s->out, ", global signal from the sum of all features%s",
                 covariates ? " and the covariates" : "");
    if (vxs_json_get(baselines, VXS_DENSE_KEY))
        vxs_html(s->out,
                 ", dense linear is %s regression with a weight for every feature, its penalty "
                 "chosen by the same inner folds (the best simple baseline is one of the others)",
                 s->classes ? "logistic" : "ridge");
    fputs(".", s->out);
}

static void write_table(const vxs_results *s)
{
    const vxs_json *other = vxs_json_get(s->about, "baseline");
    const char *meanings =
        s->record.class_count == 2
            ? " A calibration slope of 1 is ideal; below 1, probabilities are too extreme. F2 is "
              "F1 with a subject that is missed counting four times one that is falsely found; "
              "Matthews correlation is that of predicted and true class. Average precision is the "
              "area under the precision-recall curve, and at break-even as many subjects are "
              "predicted as positive as are: by chance both are the share of the positive class."
            : "";
    const char *curve = s->record.class_count > 0
                            ? " The ROC curve pools the scores of all folds (with several repeats, "
                              "of the first), so that the area under it may differ from the AUC."
                            : "";
    vxs_html(s->out,
             "<table class=\"n\"><tr><th>held-out %s</th><th>model</th><th>95&nbsp;%% "
             "interval</th>",
             vxs_results_rows(s));
    for (const vxs_json *b = other ? other->first : NULL; b; b = b->next)
        vxs_html(s->out,
                 "<th>%s<br><small>model&nbsp;&minus;&nbsp;baseline<br>(95&nbsp;%% "
                 "interval)</small></th>",
                 baseline_words(s, b));
    fputs("</tr>\n", s->out);
    for (const vxs_metric_row *row = vxs_metric_rows; row->name; row++)
        if (vxs_metric_applies(row, s->record.class_count) && outer(s, row->name))
            write_metric(s, row);
    fputs("</table>\n<p class=\"small\">", s->out);
    vxs_sentence_comparison(s);
    vxs_html(s->out,
             "; all other metrics are computed over all %s.%s%s Under the value of each "
             "baseline: the difference model - baseline, with an interval from the same bootstrap "
             "draws. ",
             vxs_results_rows(s), curve, meanings);
    describe_baselines(s, other);
    if (vxs_results_folds(s).inner > 0)
        vxs_html(s->out,
                 " scores.tsv also has inner scores, which only choose %s and are optimistically "
                 "biased.",
                 vxs_record_path(&s->record)->name);
    fputs("</p>\n", s->out);
}

static void write_warnings(const vxs_results *s)
{
    double n = vxs_results_number(s->about, "subjects");
    if (n < 100)
        vxs_html(s->out,
                 "<p class=\"warn\">With %g subjects, scores vary much from sample to sample. The "
                 "intervals do not include variability due to the training sample: the scores of "
                 "another sample may lie outside them.</p>\n",
                 n);
}

/* ---- Figures --------------------------------------------------------------------------------- */

/* Figures of single subjects are of the first repeat, and say so where there are others. */
static bool is_repeated(const vxs_results *s)
{
    return vxs_results_folds(s).repeats > 1;
}

/* The numbers of a column of predictions.tsv, of the first repeat; freed by the caller, whatever is
 * returned. */
static vxs_status read_column(const vxs_results *s, const char *name, double **values,
                              size_t *count, vxs_error *err)
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

static vxs_status write_scatter(const vxs_results *s, vxs_error *err)
{
    size_t count = 0;
    double *x = NULL, *y = NULL;
    vxs_status status = read_column(s, "truth", &x, &count, err);
    if (!status)
        status = read_column(s, "predicted", &y, &count, err);
    vxs_chart chart = { .title = is_repeated(s) ? "Predicted against true, held-out, first repeat"
                                                : "Predicted against true, held-out",
                        .x_label = vxs_results_text(s->about, "target"),
                        .y_label = "predicted",
                        .square = true,
                        .diagonal = true };
    vxs_series series = { .color = VXS_INK, .x = x, .y = y, .count = count };
    if (!status)
        vxs_chart_write(s->out, &chart, &series, 1);
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

/* Scores of a class in the first repeat of predictions.tsv, and which subjects are of the class. */
static vxs_status rank_class(const vxs_results *s, const char *class, ranked **list, size_t *count,
                             vxs_error *err)
{
    size_t truth = 0, repeat = 0, at = 0;
    double *score = NULL;
    char *name = vxs_format(err, "score_%s", class);
    vxs_status status = name ? read_column(s, name, &score, count, err) : VXS_FAILED;
    free(name);
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

/* False and true positive rates, from the highest threshold to the lowest. */
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

static vxs_status write_roc(const vxs_results *s, vxs_error *err)
{
    size_t rows = vxs_table_rows(s->table) + 1,
           curves = s->record.class_count > 2 ? s->record.class_count : 1;
    curves = curves < VXS_COLOURS ? curves : VXS_COLOURS;
    double *points = vxs_alloc(2 * curves, rows * sizeof(*points), err);
    vxs_series series[VXS_COLOURS];
    vxs_chart chart = { .title = is_repeated(s) ? "ROC curve, all folds of the first repeat pooled"
                                                : "ROC curve, scores of all folds pooled",
                        .x_label = "false positive rate (1 - specificity)",
                        .y_label = "true positive rate (sensitivity)",
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
                                      .color = vxs_colors[k],
                                      .x = x,
                                      .y = y,
                                      .count = trace_roc(list, count, x, y),
                                      .line = true };
        free(list);
    }
    if (!status)
        vxs_chart_write(s->out, &chart, series, curves);
    free(points);
    return status;
}

#define MOST_FOLDS 1000

static void write_dots(const vxs_results *s)
{
    static double values[MOST_FOLDS];
    const vxs_json *m = outer(s, main_metric(s)), *other = vxs_json_get(s->about, "baseline");
    const vxs_json *per_fold = vxs_json_get(m, "per_fold");
    char words[VXS_METRIC_TEXT];
    vxs_dots rows[8] = { { "model", VXS_INK, values, 0, vxs_results_number(m, "pooled") } };
    size_t count = 1;
    for (const vxs_json *v = per_fold ? per_fold->first : NULL; v && rows[0].count < MOST_FOLDS;
         v = v->next)
        values[rows[0].count++] = v->kind == VXS_JSON_NUMBER ? v->number : NAN;
    for (const vxs_json *b = other ? other->first : NULL; b && count < 8; b = b->next)
        rows[count++] = (vxs_dots){ vxs_baseline_words(b->key, false), OTHER, NULL, 0,
                                    vxs_results_number(b, main_metric(s)) };
    vxs_dots_write(s->out, "Each fold (dot), all folds (bar)",
                   vxs_results_metric(s, main_metric(s), words), rows, count);
}

vxs_status vxs_section_scores(const vxs_results *s, vxs_error *err)
{
    write_verdict(s);
    fputs("<h2>Prediction accuracy</h2>\n", s->out);
    write_table(s);
    vxs_section_classes(s);
    write_warnings(s);
    vxs_section_unseen(s);
    fputs("<div class=\"row\">\n", s->out);
    vxs_status status = s->classes ? write_roc(s, err) : write_scatter(s, err);
    write_dots(s);
    if (!status)
        status = vxs_section_selection(s, err);
    fputs("</div>\n", s->out);
    if (!status)
        vxs_caption_selection(s);
    return status;
}
