/* selection.c - how lambda, or the number of rounds, was chosen: what was lost and how many
 * features there were, against it. */
#include "report/story.h"

#include <math.h>
#include <stdlib.h>

#define MOST_NAMED 8 /* smoothnesses that the legend has room for */

typedef struct {
    const vxs_story *s;
    const vxs_selection *choice;
    size_t folds;
    vxs_series *series;
    char (*names)[VXS_REAL_TEXT + 10];
} curves;

/* A line for each fold and smoothness; the first fold's are named. */
static size_t draw(curves *c, const double *values)
{
    static const char *const colours[MOST_NAMED] = { "#1f4e79", "#b8860b", "#2e7d32", "#8e24aa",
                                                     "#c62828", "#00838f", "#5d4037", "#455a64" };
    const vxs_tries *t = &c->choice->tries;
    size_t lines = 0, kinds = t->count / t->each;
    for (size_t k = 0; k < kinds; k++) {
        char number[VXS_REAL_TEXT];
        snprintf(c->names[k], sizeof(c->names[k]), "smooth %s",
                 vxs_real_text(t->smooths ? t->smooths[k * t->each] : 0, number));
        for (size_t f = 0; f < c->folds; f++)
            c->series[lines++] =
                (vxs_series){ .name = f == 0 && kinds > 1 && k < MOST_NAMED ? c->names[k] : NULL,
                              .colour = colours[k % MOST_NAMED],
                              .x = t->points + k * t->each,
                              .y = values + f * t->count + k * t->each,
                              .count = t->each,
                              .line = true };
    }
    return lines;
}

static void put_curves(curves *c, const double *values, const char *title, const char *label)
{
    const vxs_path_words *path = vxs_record_path(&c->s->record);
    char wanted[64];
    snprintf(wanted, sizeof(wanted), "%s wanted", vxs_record_unit_name(&c->s->record));
    vxs_chart chart = { .title = title,
                        .x_label = path->axis ? path->axis : wanted,
                        .y_label = label,
                        .log_x = path->by == VXS_BY_LAMBDA,
                        .whole_x = path->by != VXS_BY_LAMBDA };
    if (values)
        vxs_chart_put(c->s->out, &chart, c->series, draw(c, values));
}

static vxs_status put_choice(const vxs_story *s, const vxs_selection *choice, size_t folds,
                             vxs_error *err)
{
    const vxs_path_words *path = vxs_record_path(&s->record);
    curves c = { .s = s, .choice = choice, .folds = folds };
    c.series = vxs_alloc(choice->tries.count, folds * sizeof(*c.series), err);
    c.names = vxs_alloc(choice->tries.count, sizeof(*c.names), err);
    vxs_status status = c.series && c.names ? VXS_OK : VXS_FAILED;
    if (!status) {
        put_curves(&c, choice->losses, path->title,
                   folds > 1 ? "inner loss, a line a fold" : "loss of those kept back");
        if (!vxs_record_is_dense(&s->record)) /* of which nearly all features have a weight */
            put_curves(&c, choice->sizes, path->sizes, "features with a weight");
    }
    free(c.series);
    free(c.names);
    return status;
}

vxs_status vxs_story_selection(const vxs_story *s, vxs_error *err)
{
    vxs_selection choice;
    size_t folds = 0;
    vxs_status status = vxs_selection_read(&s->record, &choice, &folds, err);
    if (!status && choice.tries.count > 1)
        status = put_choice(s, &choice, folds, err);
    vxs_selection_release(&choice);
    return status;
}

/* Of a model, when folds chose. */
vxs_status vxs_story_choice(const vxs_story *s, vxs_error *err)
{
    const vxs_path_words *path = vxs_record_path(&s->record);
    const vxs_json *points = vxs_json_get(s->about, path->key);
    if (!points || points->length < 2)
        return VXS_OK;
    vxs_put(s->out,
            "<h2>How it was chosen</h2>\n<p>What subjects say who were kept back from fits with "
            "each %s chose it, and is no estimate of how well the model predicts.</p>\n"
            "<div class=\"row\">\n",
            path->each);
    vxs_status status = vxs_story_selection(s, err);
    fputs("</div>\n", s->out);
    return status;
}
