/* about.c - what was done, to whom, and how far it can be trusted, in words. */
#include "report/story.h"

#include <math.h>
#include <string.h>

void vxs_story_row(FILE *out, const char *name, const char *value)
{
    vxs_put(out, "<tr><th>%s</th><td>%s</td></tr>\n", name, value);
}

void vxs_story_row_number(FILE *out, const char *name, double value)
{
    if (isfinite(value))
        vxs_put(out, "<tr><th>%s</th><td>%g</td></tr>\n", name, value);
}

const vxs_json *vxs_story_who(const vxs_story *s)
{
    const vxs_json *training = vxs_json_get(s->about, "training");
    return training ? training : s->about;
}

/* ---- What was done --------------------------------------------------------------------------- */

static void put_variable(const vxs_story *s)
{
    const vxs_json *classes = vxs_json_get(s->about, "classes");
    if (!s->classes) {
        vxs_put(s->out, "<tr><th>Target</th><td>%s, a score</td></tr>\n",
                vxs_story_text(s->about, "target"));
        return;
    }
    vxs_put(s->out, "<tr><th>Target</th><td>%s, %z classes", vxs_story_text(s->about, "target"),
            s->class_count);
    for (const vxs_json *c = classes ? classes->first : NULL; c; c = c->next) {
        const char *before = c == classes->first ? ": " : ", ";
        if (c->kind == VXS_JSON_NUMBER)
            vxs_put(s->out, "%s%s (%g)", before, c->key ? c->key : "", c->number);
        else
            vxs_put(s->out, "%s%s", before, c->text ? c->text : "");
    }
    fputs("</td></tr>\n", s->out);
}

static void put_preprocessing(const vxs_story *s)
{
    const vxs_json *p = vxs_json_get(s->about, "preprocessing");
    double smooth = vxs_story_number(p, "smooth");
    if (!p || strcmp(vxs_story_text(s->about, "features_are"), "columns") == 0)
        return;
    vxs_put(s->out, "<tr><th>Images</th><td>scaling: %s; ", vxs_story_text(p, "scale"));
    if (smooth > 0)
        vxs_put(s->out, "smoothed by %g mm (full width at half maximum); ", smooth);
    if (vxs_story_has(p, "mask"))
        vxs_put(s->out, "mask: %s; ", vxs_story_text(p, "mask"));
    else if (isfinite(vxs_story_number(p, "mask_fraction")))
        vxs_put(s->out, "mask: where a share of %g or more of the subjects has signal; ",
                vxs_story_number(p, "mask_fraction"));
    vxs_put(s->out, "values that are not finite: %s</td></tr>\n", vxs_story_text(p, "nan"));
}

vxs_story_folds vxs_story_count_folds(const vxs_story *s)
{
    const vxs_json *cv = vxs_json_get(s->about, "cross_validation");
    bool given = vxs_story_has(cv, "folds-from"), counted = vxs_story_has(s->about, "folds");
    const vxs_json *from = counted ? s->about : given ? NULL : cv;
    return (vxs_story_folds){ .folds = vxs_story_number(from, "folds"),
                              .repeats = vxs_story_number(from, "repeats"),
                              .inner = vxs_story_number(cv, "inner-folds") };
}

void vxs_story_evaluation(const vxs_story *s)
{
    const vxs_json *cv = vxs_json_get(s->about, "cross_validation");
    vxs_story_folds f = vxs_story_count_folds(s);
    vxs_put(s->out,
            "<tr><th>Evaluation</th><td>%scross-validation: ", f.inner > 0 ? "nested " : "");
    if (isfinite(f.folds))
        vxs_put(s->out, "%g folds, %g repeat%s, ", f.folds, f.repeats, f.repeats > 1 ? "s" : "");
    if (f.inner > 0)
        vxs_put(s->out, "lambda chosen by %g inner folds (%s)", f.inner,
                vxs_story_text(cv, "select"));
    else
        fputs("lambda fixed beforehand", s->out);
    if (vxs_story_has(cv, "group"))
        vxs_put(s->out, "; subjects of one %s together", vxs_story_text(cv, "group"));
    if (vxs_story_has(cv, "folds-from"))
        vxs_put(s->out, "; folds from %s", vxs_story_text(cv, "folds-from"));
    fputs("</td></tr>\n", s->out);
    vxs_story_row(s->out, "Prefilter",
                  vxs_story_has(cv, "prefilter") ? vxs_story_text(cv, "prefilter") : "none");
}

static void put_dropped(const vxs_story *s)
{
    const vxs_json *list = vxs_json_get(s->about, "dropped_list");
    if (!list || !list->first)
        return;
    vxs_put(s->out,
            "<details open><summary>%z subjects were left out of the cohort</summary><table>\n",
            list->length);
    for (const vxs_json *d = list->first; d; d = d->next)
        vxs_story_row(s->out, vxs_story_text(d, "id"), vxs_story_text(d, "reason"));
    fputs("</table></details>\n", s->out);
}

/* Of the fused lasso. */
static void put_penalty(const vxs_story *s)
{
    const vxs_json *asked = vxs_json_get(s->about, "parameters"),
                   *task = vxs_json_get(s->about, "task");
    const char *penalty = vxs_story_text(asked, "penalty");
    const char *graph = vxs_story_text(task, "graph");
    if (*penalty && strcmp(penalty, "edges") != 0)
        vxs_story_row(s->out, "Penalty", penalty);
    else
        vxs_story_row(s->out, "Graph", *graph ? graph : "tree");
    vxs_story_row_number(s->out, "Sparsity", vxs_story_number(asked, "sparsity"));
}

void vxs_story_done(const vxs_story *s)
{
    const vxs_json *task = vxs_json_get(s->about, "task"), *grid = vxs_json_get(s->about, "grid");
    fputs("<h2>What was done</h2>\n<table>\n", s->out);
    put_variable(s);
    vxs_story_row_number(s->out, "Subjects", vxs_story_number(vxs_story_who(s), "subjects"));
    vxs_put(s->out, "<tr><th>Features</th><td>%g %s", vxs_story_number(s->about, "features"),
            vxs_story_text(s->about, "features_are"));
    if (vxs_story_has(s->about, "grid"))
        vxs_put(s->out, ", grid in %s order", vxs_story_text(grid, "orientation"));
    fputs("</td></tr>\n", s->out);
    put_preprocessing(s);
    vxs_put(s->out, "<tr><th>Model</th><td>%s, %s loss; features: %s</td></tr>\n",
            vxs_story_text(s->about, "method"), vxs_story_text(s->about, "loss"),
            vxs_story_text(task, "standardize"));
    if (vxs_story_is_fused(s))
        put_penalty(s);
    vxs_story_row(s->out, "Confounds",
                  vxs_story_has(task, "confounds") ? vxs_story_text(task, "confounds") : "none");
    if (vxs_story_has(s->about, "class_weights"))
        vxs_story_row(s->out, "Class weights", vxs_story_text(s->about, "class_weights"));
    if (s->kind->rows)
        s->kind->rows(s);
    fputs("</table>\n", s->out);
    put_dropped(s);
}

/* ---- Certificates ---------------------------------------------------------------------------- */

static void put_outputs(const vxs_story *s)
{
    const vxs_json *outputs = vxs_json_get(s->about, "outputs");
    bool pieces = outputs && outputs->first && vxs_story_has(outputs->first, "pieces");
    fputs("<table><tr><th>Output</th><th>lambda</th><th>of lambda_max</th><th>features with a "
          "weight</th>",
          s->out);
    bool joint = strcmp(vxs_story_text(s->about, "loss"), "multinomial") == 0;
    if (pieces)
        vxs_put(s->out, "<th>pieces%s</th>", joint ? " of all classes" : "");
    fputs("<th>primal</th><th>dual</th><th>relative gap</th><th>asked for</th></tr>\n", s->out);
    for (const vxs_json *o = outputs ? outputs->first : NULL; o; o = o->next) {
        double lambda = vxs_story_number(o, "lambda");
        vxs_put(s->out, "<tr><td>%s</td><td>%g</td><td>%g</td><td>%g</td>",
                vxs_story_text(o, "name"), lambda, lambda / vxs_story_number(o, "lambda_max"),
                vxs_story_number(o, "nonzero"));
        if (pieces)
            vxs_put(s->out, "<td>%g</td>", vxs_story_number(o, "pieces"));
        vxs_put(s->out, "<td>%g</td><td>%g</td><td>%g</td><td>%g</td></tr>\n",
                vxs_story_number(o, "primal"), vxs_story_number(o, "dual"),
                vxs_story_number(o, "gap"), vxs_story_number(o, "tol"));
    }
    fputs("</table>\n", s->out);
}

static bool is_converged(const vxs_story *s)
{
    const vxs_json *outputs = vxs_json_get(s->about, "outputs");
    const vxs_json *whole = vxs_json_get(s->about, "converged");
    bool all = !whole || whole->number != 0;
    for (const vxs_json *o = outputs ? outputs->first : NULL; o; o = o->next) {
        const vxs_json *said = vxs_json_get(o, "converged"); /* where rounds were asked for */
        bool reached = !(vxs_story_number(o, "gap") > vxs_story_number(o, "tol"));
        all = all && (reached || (vxs_story_generates(s) && said && said->number != 0));
    }
    return all;
}

void vxs_story_certificate(const vxs_story *s)
{
    double tol = vxs_story_number(vxs_json_get(s->about, "parameters"), "tol");
    fputs("<h2>Certificate</h2>\n", s->out);
    if (is_converged(s) && vxs_story_generates(s))
        fputs(
            "<p>Every fit ended with the rounds or the number that was asked for. The gap is over "
            "all that could have been selected: no other weights are better by more than that "
            "share of the loss of the empty model.</p>\n",
            s->out);
    else if (is_converged(s))
        vxs_put(s->out,
                "<p>Every fit ended with a duality gap over all features of at most %g of the loss "
                "of the empty model: no other weights are better by more than that.</p>\n",
                tol);
    else
        fputs("<p class=\"warn\">Some fits did not reach the gap that was asked for. Their numbers "
              "are those of unfinished models.</p>\n",
              s->out);
    if (vxs_story_has(s->about, "outputs"))
        put_outputs(s);
}
