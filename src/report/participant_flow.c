/* participant_flow.c - from the subjects that were read to those that were analysed, as CONSORT and
 * STROBE have it: how many, who and why. */
#include "report/story.h"

#include <math.h>

static const struct {
    const char *key, *words;
} steps[] = {
    { "without_target", "no value of the target" },
    { "without_weight", "no weight" },
    { "without_covariate", "no value of a covariate" },
};
#define STEPS (sizeof(steps) / sizeof(steps[0]))

static const vxs_json *flow(const vxs_story *s)
{
    return vxs_json_get(s->about, "flow");
}

/* A box with how many remain. */
static void put_box(const vxs_story *s, const char *words, const char *key)
{
    vxs_put(s->out, "<tr><td class=\"box\">%s: <b>%g</b></td><td></td></tr>\n", words,
            vxs_story_number(flow(s), key));
}

/* Beside the way down: how many left it. */
static void begin_exit(const vxs_story *s, double count, const char *words)
{
    vxs_put(s->out, "<tr><td class=\"down\">&darr;</td><td>&rarr; %g left out: %s", count, words);
}

static void end_exit(const vxs_story *s)
{
    fputs("</td></tr>\n", s->out);
}

/* The ids of a list, or of its objects that have this step; with a reason in brackets. */
static void put_list(const vxs_story *s, const vxs_json *list, const char *step, const char *why)
{
    const char *before = "<details><summary>who</summary>";
    for (const vxs_json *k = list ? list->first : NULL; k; k = k->next) {
        const char *id = k->kind == VXS_JSON_TEXT ? k->text : vxs_story_text(k, "id");
        if (step && strcmp(vxs_story_text(k, "step"), step) != 0)
            continue;
        fputs(before, s->out);
        vxs_put(s->out, why ? "%s (%s)" : "%s", id, why ? vxs_story_text(k, why) : "");
        before = ", ";
    }
    if (*before == ',')
        fputs("</details>", s->out);
}

/* Who was not selected, by each --only and --exclude. */
static void put_selection(const vxs_story *s, const vxs_json *list)
{
    for (const vxs_json *k = list ? list->first : NULL; k; k = k->next) {
        begin_exit(s, vxs_story_number(k, "left_out"),
                   strcmp(vxs_story_text(k, "option"), "--only") == 0 ? "not selected by "
                                                                      : "excluded by ");
        vxs_put(s->out, "%s %s", vxs_story_text(k, "option"), vxs_story_text(k, "expression"));
        end_exit(s);
    }
}

static void put_exits(const vxs_story *s)
{
    const vxs_json *f = flow(s);
    put_selection(s, vxs_json_get(f, "selection"));
    for (size_t k = 0; k < STEPS; k++) {
        double count = vxs_story_number(f, steps[k].key);
        if (!(count > 0))
            continue;
        begin_exit(s, count, steps[k].words);
        put_list(s, vxs_json_get(f, "left_out"), steps[k].key, "column");
        end_exit(s);
    }
}

void vxs_story_flow(const vxs_story *s)
{
    const vxs_json *f = flow(s);
    if (!f)
        return;
    fputs("<h3>Who was analysed</h3>\n<table class=\"flow\">\n", s->out);
    put_box(s, "Subjects read", "read");
    put_selection(s, vxs_json_get(f, "cohort_selection"));
    if (vxs_story_number(f, "without_data") > 0) {
        begin_exit(s, vxs_story_number(f, "without_data"), "in the table, without data");
        put_list(s, vxs_json_get(f, "without_data_list"), NULL, NULL);
        end_exit(s);
    }
    if (vxs_story_number(f, "refused") > 0) {
        begin_exit(s, vxs_story_number(f, "refused"), "data that cannot be used");
        put_list(s, vxs_json_get(s->about, "dropped_list"), NULL, "reason");
        end_exit(s);
    }
    put_box(s, "In the cohort", "in_cohort");
    put_exits(s);
    put_box(s, "Analysed", "analysed");
    fputs("</table>\n", s->out);
    const vxs_json *warnings = vxs_json_get(s->about, "warnings");
    for (const vxs_json *k = warnings ? warnings->first : NULL; k; k = k->next)
        if (k->kind == VXS_JSON_TEXT)
            vxs_put(s->out, "<p class=\"warn\">%s.</p>\n", k->text);
}

/* ---- Levels that no training subject had ----------------------------------------------------- */

void vxs_story_unseen(const vxs_story *s)
{
    const vxs_json *list = vxs_json_get(s->about, "unseen_levels");
    if (!list || !list->first)
        return;
    fputs("<p class=\"warn\">Some held-out subjects have a level of a covariate that no training "
          "subject of their fold has. They are predicted with the average of the levels that were "
          "learned, as a new site would be:",
          s->out);
    for (const vxs_json *k = list->first; k; k = k->next) {
        const vxs_json *who = vxs_json_get(k, "subjects");
        vxs_put(s->out, "%s %s = %s (%z subjects)", k == list->first ? "" : ",",
                vxs_story_text(k, "covariate"), vxs_story_text(k, "level"), who ? who->length : 0);
    }
    fputs(".</p>\n", s->out);
}
