/* selection.c - how lambda, or the number of rounds, was chosen: what was lost and how many
 * features there were, against it. */
#include "report/story.h"

#include <math.h>
#include <stdlib.h>

#define MOST_NAMED 8 /* smoothnesses that the legend has room for */

typedef struct {
    const vxs_story *s;
    size_t count, folds, each; /* tries, rows, and tries of one smoothness */
    double *points, *values;   /* shares of lambda_max falling, or whole numbers rising */
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

/* What was tried: shares of lambda_max; or of methods that select round by round these, or how many
 * were wanted. */
static const vxs_json *find_points(const vxs_story *s)
{
    const vxs_json *points = vxs_json_get(s->about, "lambda_ratios");
    points = points ? points : vxs_json_get(s->about, "rounds");
    return points ? points : vxs_json_get(s->about, "wanted");
}

/* Where lambda begins anew, another smoothness does. */
static size_t count_each(const curves *c)
{
    size_t each = 1;
    while (each < c->count && c->points[each] < c->points[each - 1])
        each++;
    return vxs_story_generates(c->s) ? c->count : each;
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
                              .x = c->points + k * c->each,
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
    bool rounds = vxs_story_generates(c->s);
    char wanted[64];
    snprintf(wanted, sizeof(wanted), "%s wanted", vxs_story_unit_name(c->s));
    vxs_chart chart = { .title = title,
                        .x_label = !rounds                               ? "lambda / lambda_max"
                                   : vxs_json_get(c->s->about, "wanted") ? wanted
                                                                         : "rounds",
                        .y_label = label,
                        .log_x = !rounds,
                        .whole_x = rounds };
    vxs_chart_put(c->s->out, &chart, c->series, draw(c));
    return VXS_OK;
}

vxs_status vxs_story_selection(const vxs_story *s, vxs_error *err)
{
    const vxs_json *points = find_points(s), *losses = vxs_json_get(s->about, "inner_losses");
    curves c = { .s = s };
    char title[64];
    c.count = points ? points->length : 0;
    c.folds = losses ? losses->length : 0;
    if (c.count < 2 || c.folds == 0)
        return VXS_OK;
    bool wanted = vxs_json_get(s->about, "wanted") != NULL;
    if (wanted)
        snprintf(title, sizeof(title), "How many to select");
    else
        snprintf(title, sizeof(title), "How %s was chosen", vxs_story_tuned(s));
    c.points = vxs_alloc(c.count, sizeof(*c.points), err);
    c.values = vxs_alloc(c.count, c.folds * sizeof(*c.values), err);
    c.series = vxs_alloc(c.count, c.folds * sizeof(*c.series), err);
    c.names = vxs_alloc(c.count, sizeof(*c.names), err);
    vxs_status status = c.points && c.values && c.series && c.names ? VXS_OK : VXS_FAILED;
    if (!status) {
        take_numbers(points, c.points, c.count);
        c.each = count_each(&c);
        status = put_curves(&c, "inner_losses", title,
                            c.folds > 1 ? "inner loss, a line a fold" : "loss of those kept back");
    }
    if (!status && !vxs_story_is_dense(s)) /* of which nearly all features have a weight */
        status =
            put_curves(&c, "inner_features",
                       vxs_story_generates(s) ? "Features with a weight" : "Features on the path",
                       "features with a weight");
    free(c.points);
    free(c.values);
    free(c.series);
    free(c.names);
    return status;
}

/* Of a model, when folds chose. */
vxs_status vxs_story_choice(const vxs_story *s, vxs_error *err)
{
    const vxs_json *points = find_points(s);
    if (!points || points->length < 2)
        return VXS_OK;
    vxs_put(s->out,
            "<h2>How it was chosen</h2>\n<p>What subjects say who were kept back from fits with "
            "each %s chose it, and is no estimate of how well the model predicts.</p>\n"
            "<div class=\"row\">\n",
            !vxs_story_generates(s)            ? "lambda"
            : vxs_json_get(s->about, "wanted") ? "number that was wanted"
                                               : "number of rounds");
    vxs_status status = vxs_story_selection(s, err);
    fputs("</div>\n", s->out);
    return status;
}
