/* classes.c - the confusion matrix, scores of each class, and what the sign of a map means. */
#include "report/sections.h"

#include <math.h>

/* Subjects of a class: the sum of its row. */
static double row_sum(const vxs_json *row)
{
    double sum = 0;
    for (const vxs_json *cell = row->first; cell; cell = cell->next)
        sum += cell->number;
    return sum;
}

static void write_row(const vxs_results *s, const vxs_json *row)
{
    const vxs_json *each = vxs_json_get(vxs_json_get(s->about, "each_class"), row->key);
    double all = row_sum(row);
    vxs_html(s->out, "<tr><th>%s</th>", row->key);
    for (const vxs_json *cell = row->first; cell; cell = cell->next)
        vxs_html(s->out, "<td>%g <small>(%p)</small></td>", cell->number,
                 all > 0 ? cell->number / all : NAN);
    vxs_html(s->out, "<td>%g</td><td>%v</td><td>%v</td>", all,
             vxs_results_number(each, "sensitivity"), vxs_results_number(each, "ppv"));
    if (s->record.class_count > 2)
        vxs_html(s->out, "<td>%v</td>", vxs_results_number(each, "auc"));
    fputs("</tr>\n", s->out);
}

void vxs_section_classes(const vxs_results *s)
{
    const vxs_json *confusion = vxs_json_get(s->about, "confusion");
    if (!confusion || !confusion->first)
        return;
    fputs("<h3>Confusion matrix</h3>\n<table class=\"n\"><tr><th>true class</th>", s->out);
    for (const vxs_json *c = confusion->first; c; c = c->next)
        vxs_html(s->out, "<th>predicted %s</th>", c->key);
    fputs("<th>n</th><th>sensitivity</th><th>PPV</th>", s->out);
    if (s->record.class_count > 2)
        fputs("<th>AUC against the rest</th>", s->out);
    fputs("</tr>\n", s->out);
    for (const vxs_json *row = confusion->first; row; row = row->next)
        write_row(s, row);
    vxs_html(s->out,
             "</table>\n<p class=\"small\">Numbers of held-out %s (mean over repeats), and "
             "percentages of the true class. Sensitivity is computed within folds, as balanced "
             "accuracy is, and may differ slightly from the percentage. PPV (positive predictive "
             "value): of the %s that are predicted as a class, the fraction that belong to it; it "
             "depends on how frequent the class is in this cohort.</p>\n",
             vxs_results_rows(s), vxs_results_rows(s));
}

void vxs_row_of_positive(const vxs_results *s)
{
    if (s->record.class_count == 2)
        vxs_html(s->out, "<tr><th>Positive class</th><td>%s, against %s</td></tr>\n",
                 vxs_record_class(&s->record, 1), vxs_record_class(&s->record, 0));
}

const char *vxs_sign_words(const vxs_results *s, vxs_sign sign, size_t output, bool positive,
                           char text[VXS_METRIC_TEXT])
{
    const char *what = sign == VXS_SIGN_PATTERN ? "pattern" : "weight";
    const vxs_record *r = &s->record;
    text[0] = '\0';
    if (sign == VXS_SIGN_NONE || (sign == VXS_SIGN_WEIGHTS && vxs_record_has_sizes(r)))
        return text;
    const char *more = r->class_count > 0 ? vxs_record_favored(r, output, positive) : NULL;
    if (r->class_count > 0)
        snprintf(text, VXS_METRIC_TEXT, "%s %s: %s %s", positive ? "positive" : "negative", what,
                 more ? "more" : "less", more ? more : vxs_record_class(r, output));
    else
        snprintf(text, VXS_METRIC_TEXT, "%s %s: %s %s", positive ? "positive" : "negative", what,
                 positive ? "higher" : "lower", r->task.target);
    return text;
}
