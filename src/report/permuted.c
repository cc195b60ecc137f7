/* permuted.c - how often chance predicts as well, in a sentence and a figure. */
#include "report/story.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

static const vxs_json *permuting(const vxs_story *s)
{
    return vxs_json_get(s->about, "permuting");
}

static double number(const vxs_story *s, const char *key)
{
    return vxs_story_number(s->about, key);
}

/* ---- In words -------------------------------------------------------------------------------- */

/* Who could change places with whom. */
static void put_blocks(const vxs_story *s)
{
    const vxs_json *asked = permuting(s), *whole = vxs_json_get(asked, "whole-blocks");
    if (strcmp(vxs_story_text(s->about, "exchanged"), "people") == 0)
        vxs_put(s->out,
                " The targets of a person stayed together: %g people changed places with those who "
                "have as many subjects.",
                number(s, "units"));
    if (!vxs_story_has(asked, "blocks"))
        return;
    if (whole && whole->number != 0)
        vxs_put(s->out, " Whole blocks of subjects with the same %s changed places.",
                vxs_story_text(asked, "blocks"));
    else
        vxs_put(s->out, " Targets changed places only among subjects with the same %s.",
                vxs_story_text(asked, "blocks"));
}

static void put_lead(const vxs_story *s)
{
    double count = number(s, "permutations"), asked = number(s, "asked_for");
    vxs_put(s->out,
            "<p class=\"lead\">The %s of %g subjects was given to others among them %g times, and "
            "each time the whole cross-validation was done anew. ",
            vxs_story_text(s->about, "target"), number(s, "subjects"), count);
    vxs_put(s->out,
            "With everybody's own, %s is <b>%g</b>; %g of %g permutations were as good: "
            "<b>p = %g</b>.",
            vxs_story_metric(vxs_story_text(s->about, "metric")), number(s, "observed"),
            number(s, "as_good"), count, number(s, "p"));
    put_blocks(s);
    if (count < asked)
        vxs_put(s->out,
                " It was stopped early, though %g were asked for: when %g are as good, p is clear.",
                asked, vxs_story_number(permuting(s), "stop-at"));
    vxs_put(s->out, " The smallest p that could have come out is %g.</p>\n",
            number(s, "smallest_p"));
}

#define USUAL_LEVEL 0.05

static void put_warning(const vxs_story *s)
{
    if (number(s, "smallest_p") >= USUAL_LEVEL)
        vxs_put(s->out,
                "<p class=\"warn\">No p below %g could have come out, however good the predictions "
                "are: more permutations are needed, or blocks in which more can change "
                "places.</p>\n",
                number(s, "smallest_p"));
}

/* ---- The figure ------------------------------------------------------------------------------ */

static vxs_status put_null(const vxs_story *s, vxs_error *err)
{
    const char *metric = vxs_story_text(s->about, "metric");
    double *values = NULL, count = number(s, "permutations");
    char name[64];
    snprintf(name, sizeof(name), "observed %.4g", number(s, "observed"));
    vxs_chart chart = { .title = "What chance alone gives",
                        .x_label = vxs_story_metric(metric),
                        .y_label = "permutations",
                        .mark_name = name,
                        .mark = number(s, "observed") };
    vxs_status status = vxs_story_column(s, metric, &values, err);
    if (!status && (double)vxs_table_rows(s->table) != count)
        status =
            vxs_fail(err, VXS_BAD_DATA,
                     "'%s/%s' has %zu permutations and '%s' says that there are %.0f", s->directory,
                     s->kind->table, vxs_table_rows(s->table), s->kind->file, count);
    if (!status)
        vxs_bars_put(s->out, &chart, values, vxs_table_rows(s->table));
    free(values);
    return status;
}

vxs_status vxs_story_permutations(const vxs_story *s, vxs_error *err)
{
    put_lead(s);
    put_warning(s);
    fputs("<h2>Beside chance</h2>\n<div class=\"row\">\n", s->out);
    vxs_status status = put_null(s, err);
    vxs_put(s->out,
            "</div>\n<p class=\"small\">Every permutation goes through folds, prefilter, choice of "
            "%s and fits as the true targets did, and is measured over all subjects that were "
            "kept back. Confounds stay with the features: what is tested is that the target goes "
            "with neither. p is (C + 1) / (N + 1), C of N permutations being as good, and never "
            "less than one in all ways to give the targets out.</p>\n",
            vxs_record_path(&s->record)->chosen);
    return status;
}

/* ---- What was done --------------------------------------------------------------------------- */

void vxs_story_permuting(const vxs_story *s)
{
    const vxs_json *asked = permuting(s);
    double stop = vxs_story_number(asked, "stop-at");
    vxs_story_evaluation(s);
    vxs_put(s->out, "<tr><th>Permutations</th><td>%g of %g asked for", number(s, "permutations"),
            number(s, "asked_for"));
    if (stop > 0)
        vxs_put(s->out, "; to stop when %g are as good", stop);
    if (isfinite(number(s, "distinct_permutations")))
        vxs_put(s->out, "; %g ways to give the targets out", number(s, "distinct_permutations"));
    fputs("</td></tr>\n", s->out);
    vxs_story_row(s->out, "Blocks",
                  vxs_story_has(asked, "blocks") ? vxs_story_text(asked, "blocks") : "none");
}
