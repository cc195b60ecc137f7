/* permuted.c - the permutation test: p value and null distribution. */
#include "report/sections.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

static const vxs_json *permuting(const vxs_results *s)
{
    return vxs_json_get(s->about, "permuting");
}

static double number(const vxs_results *s, const char *key)
{
    return vxs_results_number(s->about, key);
}

/* ---- In words -------------------------------------------------------------------------------- */

/* What is exchangeable. */
static void write_blocks(const vxs_results *s)
{
    const vxs_json *asked = permuting(s), *whole = vxs_json_get(asked, "whole-blocks");
    if (strcmp(vxs_results_text(s->about, "exchanged"), "people") == 0)
        vxs_html(s->out,
                 " Whole-block exchange: the targets of a person stay together; %g persons with "
                 "equal numbers of subjects are exchanged.",
                 number(s, "units"));
    if (!vxs_results_has(asked, "blocks"))
        return;
    vxs_html(s->out,
             whole && whole->number != 0 ? " Blocks (%s) are exchanged whole."
                                         : " Targets are exchanged within blocks (%s).",
             vxs_results_text(asked, "blocks"));
}

static void write_lead(const vxs_results *s)
{
    double count = number(s, "permutations"), asked = number(s, "requested");
    char words[VXS_METRIC_TEXT];
    vxs_html(s->out,
             "<p class=\"lead\">%s permutation test, %g permutations of the complete %sCV: %s "
             "<b>%v</b>, <b>p = %v</b>.</p>\n",
             s->classes ? "Label" : "Target", count,
             vxs_results_folds(s).inner > 0 ? "nested " : "",
             vxs_results_metric(s, vxs_results_text(s->about, "metric"), words),
             number(s, "observed"), number(s, "p"));
    vxs_html(s->out, "<p>%s, %g subjects. %g of %g permutations reach the observed value.",
             vxs_results_text(s->about, "target"), number(s, "subjects"), number(s, "exceedances"),
             count);
    write_blocks(s);
    if (count < asked)
        vxs_html(s->out,
                 " Stopped early: %g permutations reached it before %g permutations (Besag &amp; "
                 "Clifford 1991).",
                 vxs_results_number(permuting(s), "stop-at"), asked);
    vxs_html(s->out, " Smallest possible p: %v.</p>\n", number(s, "smallest_p"));
}

#define USUAL_LEVEL 0.05

static void write_warning(const vxs_results *s)
{
    if (number(s, "smallest_p") >= USUAL_LEVEL)
        vxs_html(
            s->out,
            "<p class=\"warn\">p cannot be below %v, however good the predictions are: use more "
            "permutations, or blocks in which more subjects are exchangeable.</p>\n",
            number(s, "smallest_p"));
}

/* ---- The figure ------------------------------------------------------------------------------ */

static vxs_status write_null(const vxs_results *s, vxs_error *err)
{
    const char *metric = vxs_results_text(s->about, "metric");
    double *values = NULL, count = number(s, "permutations");
    char name[64], observed[VXS_REAL_TEXT], words[VXS_METRIC_TEXT];
    snprintf(name, sizeof(name), "observed %s",
             vxs_score_text(number(s, "observed"), false, observed));
    vxs_chart chart = { .title = "Null distribution",
                        .x_label = vxs_results_metric(s, metric, words),
                        .y_label = "permutations",
                        .mark_name = name,
                        .mark = number(s, "observed") };
    vxs_status status = vxs_results_column(s, metric, &values, err);
    if (!status && (double)vxs_table_rows(s->table) != count)
        status =
            vxs_fail(err, VXS_BAD_DATA,
                     "'%s/%s' has %zu permutations and '%s' says that there are %.0f", s->directory,
                     s->kind->table, vxs_table_rows(s->table), s->kind->file, count);
    if (!status)
        vxs_bars_write(s->out, &chart, values, vxs_table_rows(s->table));
    free(values);
    return status;
}

vxs_status vxs_section_permutations(const vxs_results *s, vxs_error *err)
{
    write_lead(s);
    write_warning(s);
    fputs("<h2>Null distribution</h2>\n<div class=\"row\">\n", s->out);
    vxs_status status = write_null(s, err);
    vxs_html(
        s->out,
        "</div>\n<p class=\"small\">Each permutation repeats the complete cross-validation: "
        "folds, prefilter, choice of %s%s and fits. Covariates are not permuted; the null "
        "hypothesis is that the target is independent of images and covariates jointly. "
        "p = (C + 1) / (N + 1), where C of N permutations are at least as good as the observed "
        "value. If few permutations are distinct, p is at least 1 / their number.</p>\n",
        vxs_record_path(&s->record)->chosen, vxs_record_also(&s->record));
    if (s->record.class_count > 2)
        vxs_section_classes(s);
    return status;
}

/* ---- Settings -------------------------------------------------------------------------------- */

void vxs_section_permuting(const vxs_results *s)
{
    const vxs_json *asked = permuting(s);
    double stop = vxs_results_number(asked, "stop-at");
    vxs_section_evaluation(s);
    vxs_html(s->out, "<tr><th>Permutations</th><td>%g of %g requested", number(s, "permutations"),
             number(s, "requested"));
    if (stop > 0)
        vxs_html(s->out, "; stops early after %g that reach the observed value", stop);
    if (isfinite(number(s, "distinct_permutations")))
        vxs_html(s->out, "; %g distinct permutations", number(s, "distinct_permutations"));
    fputs("</td></tr>\n", s->out);
    vxs_row_of_text(s->out, "Blocks",
                    vxs_results_has(asked, "blocks") ? vxs_results_text(asked, "blocks") : "none");
}
