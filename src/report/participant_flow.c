/* participant_flow.c - the flow of participants (CONSORT, STROBE): how many were read, left out and
 * analyzed, with ids and reasons. */
#include "report/sections.h"

#include <math.h>

static const struct {
    const char *key, *words;
} steps[] = {
    { "without_target", "no value of the target" },
    { "without_weight", "no weight" },
    { "without_covariate", "no value of a covariate" },
};
#define STEPS (sizeof(steps) / sizeof(steps[0]))

static const vxs_json *flow(const vxs_results *s)
{
    return vxs_json_get(s->about, "flow");
}

/* A box with how many remain. */
static void write_box(const vxs_results *s, const char *words, const char *key)
{
    vxs_html(s->out, "<tr><td class=\"box\">%s: <b>%g</b></td><td></td></tr>\n", words,
             vxs_results_number(flow(s), key));
}

/* Beside the way down: how many left it. */
static void begin_exit(const vxs_results *s, double count, const char *words)
{
    vxs_html(s->out, "<tr><td class=\"down\">&darr;</td><td>&rarr; %g left out: %s", count, words);
}

static void end_exit(const vxs_results *s)
{
    fputs("</td></tr>\n", s->out);
}

/* The ids of a list, or of its objects that have this step; with a reason in brackets. */
static void write_list(const vxs_results *s, const vxs_json *list, const char *step,
                       const char *why)
{
    const char *before = "<details><summary>ids</summary>";
    for (const vxs_json *k = list ? list->first : NULL; k; k = k->next) {
        const char *id = k->kind == VXS_JSON_TEXT ? k->text : vxs_results_text(k, "id");
        if (step && strcmp(vxs_results_text(k, "step"), step) != 0)
            continue;
        fputs(before, s->out);
        vxs_html(s->out, why ? "%s (%s)" : "%s", id, why ? vxs_results_text(k, why) : "");
        before = ", ";
    }
    if (*before == ',')
        fputs("</details>", s->out);
}

/* Who was not selected, by each --only and --exclude. */
static void write_selection(const vxs_results *s, const vxs_json *list)
{
    for (const vxs_json *k = list ? list->first : NULL; k; k = k->next) {
        begin_exit(s, vxs_results_number(k, "left_out"),
                   strcmp(vxs_results_text(k, "option"), "--only") == 0 ? "not selected by "
                                                                        : "excluded by ");
        vxs_html(s->out, "%s %s", vxs_results_text(k, "option"), vxs_results_text(k, "expression"));
        end_exit(s);
    }
}

static void write_exits(const vxs_results *s)
{
    const vxs_json *f = flow(s);
    write_selection(s, vxs_json_get(f, "selection"));
    for (size_t k = 0; k < STEPS; k++) {
        double count = vxs_results_number(f, steps[k].key);
        if (!(count > 0))
            continue;
        begin_exit(s, count, steps[k].words);
        write_list(s, vxs_json_get(f, "left_out"), steps[k].key, "column");
        end_exit(s);
    }
}

void vxs_section_flow(const vxs_results *s)
{
    const vxs_json *f = flow(s);
    if (!f)
        return;
    fputs("<h3>Flow of participants</h3>\n<table class=\"flow\">\n", s->out);
    write_box(s, "Subjects read", "read");
    write_selection(s, vxs_json_get(f, "cohort_selection"));
    if (vxs_results_number(f, "without_data") > 0) {
        begin_exit(s, vxs_results_number(f, "without_data"), "in the table, without data");
        write_list(s, vxs_json_get(f, "without_data_list"), NULL, NULL);
        end_exit(s);
    }
    if (vxs_results_number(f, "refused") > 0) {
        begin_exit(s, vxs_results_number(f, "refused"), "unusable data");
        write_list(s, vxs_json_get(s->about, "dropped_list"), NULL, "reason");
        end_exit(s);
    }
    write_box(s, "In the cohort", "in_cohort");
    write_exits(s);
    write_box(s, "Analyzed", "analysed");
    fputs("</table>\n", s->out);
    const vxs_json *warnings = vxs_json_get(s->about, "warnings");
    for (const vxs_json *k = warnings ? warnings->first : NULL; k; k = k->next)
        if (k->kind == VXS_JSON_TEXT)
            vxs_html(s->out, "<p class=\"warn\">%s.</p>\n", k->text);
}

/* ---- Levels that no training subject had ----------------------------------------------------- */

void vxs_section_unseen(const vxs_results *s)
{
    const vxs_json *list = vxs_json_get(s->about, "unseen_levels");
    if (!list || !list->first)
        return;
    fputs("<p class=\"warn\">Some held-out subjects have a level of a covariate that no training "
          "subject of their fold has. Their prediction uses the mean effect of the training "
          "levels, as for a new site:",
          s->out);
    for (const vxs_json *k = list->first; k; k = k->next) {
        const vxs_json *who = vxs_json_get(k, "subjects");
        vxs_html(s->out, "%s %s = %s (%z subjects)", k == list->first ? "" : ",",
                 vxs_results_text(k, "covariate"), vxs_results_text(k, "level"),
                 who ? who->length : 0);
    }
    fputs(".</p>\n", s->out);
}
