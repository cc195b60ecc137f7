/* inner_loss.c - inner cross-validation: loss and number of features against lambda, or against
 * what else it chooses. */
#include "model/axis.h"
#include "report/sections.h"

#include <math.h>
#include <stdlib.h>

#define MOST_NAMED 8 /* values of a second axis that the legend has room for */

typedef struct {
    const vxs_results *s;
    const vxs_selection *choice;
    size_t folds;
    vxs_series *series;
    char (*names)[VXS_REAL_TEXT + 10];
} curves;

/* A line for each fold and value of a second axis; the first fold's are named. */
static size_t draw(curves *c, const double *values)
{
    static const char *const colors[MOST_NAMED] = { "#1f4e79", "#b8860b", "#2e7d32", "#8e24aa",
                                                    "#c62828", "#00838f", "#5d4037", "#455a64" };
    const vxs_tuning_grid *t = &c->choice->tuning;
    size_t lines = 0, kinds = t->count / t->per_path;
    for (size_t k = 0; k < kinds; k++) {
        char number[VXS_REAL_TEXT];
        if (t->axis)
            snprintf(c->names[k], sizeof(c->names[k]), "%s %s", t->axis->words,
                     vxs_short_text(t->across[k * t->per_path], number));
        for (size_t f = 0; f < c->folds; f++)
            c->series[lines++] =
                (vxs_series){ .name = f == 0 && kinds > 1 && k < MOST_NAMED ? c->names[k] : NULL,
                              .color = colors[k % MOST_NAMED],
                              .x = t->values + k * t->per_path,
                              .y = values + f * t->count + k * t->per_path,
                              .count = t->per_path,
                              .line = true };
    }
    return lines;
}

static void write_curves(curves *c, const double *values, const char *title, const char *label)
{
    const vxs_path_words *path = vxs_record_path(&c->s->record);
    char axis_label[64];
    snprintf(axis_label, sizeof(axis_label), "%s to select", vxs_record_block_name(&c->s->record));
    vxs_chart chart = { .title = title,
                        .x_label = path->axis ? path->axis : axis_label,
                        .y_label = label,
                        .log_x = path->by == VXS_BY_LAMBDA || path->by == VXS_BY_COST,
                        .whole_x = path->by == VXS_BY_ITERATIONS || path->by == VXS_BY_NUMBER };
    if (values)
        vxs_chart_write(c->s->out, &chart, c->series, draw(c, values));
}

/* The metric that chose, as it is drawn, less being better; NULL: it was the loss. */
static const char *chosen_by(const vxs_results *s, char text[VXS_METRIC_TEXT])
{
    const char *name = vxs_results_text(s->about, "choose_by");
    const vxs_metric_row *row = name ? vxs_metric_named(name) : NULL;
    if (!row)
        return NULL;
    snprintf(text, VXS_METRIC_TEXT, "%s%s", row->is_error ? "" : "1 - ", row->words);
    return text;
}

static vxs_status write_choice(const vxs_results *s, const vxs_selection *choice, size_t folds,
                               vxs_error *err)
{
    const vxs_path_words *path = vxs_record_path(&s->record);
    char text[VXS_METRIC_TEXT];
    curves c = { .s = s, .choice = choice, .folds = folds };
    c.series = vxs_alloc(choice->tuning.count, folds * sizeof(*c.series), err);
    c.names = vxs_alloc(choice->tuning.count, sizeof(*c.names), err);
    vxs_status status = c.series && c.names ? VXS_OK : VXS_FAILED;
    if (!status) {
        const char *by = chosen_by(s, text);
        write_curves(&c, choice->losses, path->title,
                     by          ? by
                     : folds > 1 ? "inner CV loss, per outer fold"
                                 : "loss per held-out subject");
        if (!vxs_record_is_dense(&s->record)) /* of which nearly all features have a weight */
            write_curves(&c, choice->sizes, path->sizes, "nonzero weights");
    }
    free(c.series);
    free(c.names);
    return status;
}

vxs_status vxs_section_selection(const vxs_results *s, vxs_error *err)
{
    vxs_selection choice;
    size_t folds = 0;
    vxs_status status = vxs_selection_read(&s->record, &choice, &folds, err);
    if (!status && choice.tuning.count > 1)
        status = write_choice(s, &choice, folds, err);
    vxs_selection_release(&choice);
    return status;
}

/* What the curves show, below them. */
void vxs_caption_selection(const vxs_results *s)
{
    const vxs_path_words *path = vxs_record_path(&s->record);
    const vxs_json *points = vxs_json_get(s->about, path->key);
    if (!points || points->length < 2)
        return;
    char text[VXS_METRIC_TEXT];
    const char *by = chosen_by(s, text);
    vxs_html(s->out,
             "<p class=\"small\">%s: %s of the %sfolds at each value that was tried%s. The "
             "smaller, the better the prediction.",
             path->title, by ? by : "mean loss", s->kind->model ? "" : "inner ",
             s->kind->model ? "" : ", one curve for each outer fold");
    if (path->by == VXS_BY_LAMBDA && !by)
        vxs_html(s->out, " A curve may end before the others: where the loss has clearly "
                         "risen, smaller values are not fitted. Where the loss still falls at "
                         "the left end of a curve, try smaller values (--lambda-ratio).");
    if (!vxs_record_is_dense(&s->record))
        vxs_html(s->out, " %s: how many weights are not 0 at each value.", path->sizes);
    fputs("</p>\n", s->out);
}

/* Of a model whose hyperparameter was chosen by CV. */
vxs_status vxs_section_choice(const vxs_results *s, vxs_error *err)
{
    const vxs_path_words *path = vxs_record_path(&s->record);
    const vxs_json *points = vxs_json_get(s->about, path->key);
    if (!points || points->length < 2)
        return VXS_OK;
    const vxs_certificate *c = &s->model.outputs[0].fit.certificate;
    vxs_html(s->out, "<h2>%s</h2>\n<p>", path->title);
    if (path->by == VXS_BY_LAMBDA)
        vxs_html(
            s->out,
            "lambda = %v (%v lambda_max), chosen by cross-validation in the training subjects. ",
            c->lambda, c->lambda / c->lambda_max);
    if (path->by == VXS_BY_COST)
        vxs_html(s->out, "C = %v, chosen by cross-validation in the training subjects. ",
                 1 / c->lambda);
    const vxs_axis *axis = vxs_axis_of(&s->record.task, &s->record.settings);
    if (axis && vxs_json_get(s->about, axis->key))
        vxs_html(s->out, "Its %s is %v. ", axis->words, vxs_axis_certified(axis, c));
    vxs_html(s->out,
             "The loss of the folds only chooses %s%s; it is no estimate of accuracy.</p>\n"
             "<div class=\"row\">\n",
             path->chosen, vxs_record_also(&s->record));
    vxs_status status = vxs_section_selection(s, err);
    fputs("</div>\n", s->out);
    vxs_caption_selection(s);
    return status;
}
