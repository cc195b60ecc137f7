/* selection.c - how lambda was chosen: what was lost and how many features there were, against it.
 */
#include "report/story.h"

#include <math.h>
#include <stdlib.h>

#define MOST_NAMED 8 /* smoothnesses that the legend has room for */

typedef struct {
    const vxs_story *s;
    size_t count, folds, each; /* tries, rows, and tries of one smoothness */
    double *ratios, *values;
    vxs_series *series;
    char (*names)[VXS_REAL_TEXT + 10];
} curves;

static size_t take_numbers(const vxs_json *array, double *values, size_t most)
{
    size_t count = 0;
    for (const vxs_json *v = array ? array->first : NULL; v && count < most; v = v->next)
        values[count++] = v->kind == VXS_JSON_NUMBER ? v->number : NAN;
    return count;
}

/* Where lambda begins anew, another smoothness does. */
static size_t count_each(const curves *c)
{
    size_t each = 1;
    while (each < c->count && c->ratios[each] < c->ratios[each - 1])
        each++;
    return each;
}

/* A line for each fold and smoothness; the first fold's are named. */
static size_t draw(curves *c)
{
    static const char *const colours[MOST_NAMED] = { "#1f4e79", "#b8860b", "#2e7d32", "#8e24aa",
                                                     "#c62828", "#00838f", "#5d4037", "#455a64" };
    const vxs_json *smooth = vxs_json_get(c->s->about, "smooths");
    const vxs_json *at = smooth ? smooth->first : NULL;
    size_t lines = 0, kinds = c->count / c->each;
    for (size_t k = 0; k < kinds; k++) {
        char number[VXS_REAL_TEXT];
        snprintf(c->names[k], sizeof(c->names[k]), "smooth %s",
                 vxs_real_text(at ? at->number : 0, number));
        for (size_t j = 0; j < c->each && at; j++)
            at = at->next;
        for (size_t f = 0; f < c->folds; f++)
            c->series[lines++] =
                (vxs_series){ .name = f == 0 && kinds > 1 && k < MOST_NAMED ? c->names[k] : NULL,
                              .colour = colours[k % MOST_NAMED],
                              .x = c->ratios + k * c->each,
                              .y = c->values + f * c->count + k * c->each,
                              .count = c->each,
                              .line = true };
    }
    return lines;
}

static vxs_status put_curves(curves *c, const char *key, const char *title, const char *label)
{
    const vxs_json *rows = vxs_json_get(c->s->about, key);
    size_t f = 0;
    if (!rows || rows->length != c->folds)
        return VXS_OK; /* of an older version */
    for (const vxs_json *row = rows->first; row; row = row->next, f++)
        take_numbers(row, c->values + f * c->count, c->count);
    vxs_chart chart = {
        .title = title, .x_label = "lambda / lambda_max", .y_label = label, .log_x = true
    };
    vxs_chart_put(c->s->out, &chart, c->series, draw(c));
    return VXS_OK;
}

vxs_status vxs_story_selection(const vxs_story *s, vxs_error *err)
{
    const vxs_json *ratios = vxs_json_get(s->about, "lambda_ratios"),
                   *losses = vxs_json_get(s->about, "inner_losses");
    curves c = { .s = s };
    c.count = ratios ? ratios->length : 0;
    c.folds = losses ? losses->length : 0;
    if (c.count < 2 || c.folds == 0)
        return VXS_OK;
    c.ratios = vxs_alloc(c.count, sizeof(*c.ratios), err);
    c.values = vxs_alloc(c.count, c.folds * sizeof(*c.values), err);
    c.series = vxs_alloc(c.count, c.folds * sizeof(*c.series), err);
    c.names = vxs_alloc(c.count, sizeof(*c.names), err);
    vxs_status status = c.ratios && c.values && c.series && c.names ? VXS_OK : VXS_FAILED;
    if (!status) {
        take_numbers(ratios, c.ratios, c.count);
        c.each = count_each(&c);
        status = put_curves(&c, "inner_losses", "How lambda was chosen",
                            c.folds > 1 ? "inner loss, a line a fold" : "loss of those kept back");
    }
    if (!status && !vxs_story_is_dense(s)) /* of which nearly all features have a weight */
        status = put_curves(&c, "inner_features", "Features on the path", "features with a weight");
    free(c.ratios);
    free(c.values);
    free(c.series);
    free(c.names);
    return status;
}

/* Of a model, when folds chose. */
vxs_status vxs_story_choice(const vxs_story *s, vxs_error *err)
{
    const vxs_json *ratios = vxs_json_get(s->about, "lambda_ratios");
    if (!ratios || ratios->length < 2)
        return VXS_OK;
    fputs("<h2>How it was chosen</h2>\n<p>What subjects say who were kept back from fits with each "
          "lambda chose it, and is no estimate of how well the model predicts.</p>\n"
          "<div class=\"row\">\n",
          s->out);
    vxs_status status = vxs_story_selection(s, err);
    fputs("</div>\n", s->out);
    return status;
}
