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
        vxs_put(s->out, "%s chosen by %g inner folds (%s)", vxs_story_tuned(s), f.inner,
                vxs_story_text(cv, "select"));
    else
        vxs_put(s->out, "%s fixed beforehand", vxs_story_tuned(s));
    if (vxs_story_has(cv, "group"))
        vxs_put(s->out, "; subjects of one %s together", vxs_story_text(cv, "group"));
    if (vxs_story_has(cv, "folds-from"))
        vxs_put(s->out, "; folds from %s", vxs_story_text(cv, "folds-from"));
    fputs("</td></tr>\n", s->out);
    vxs_story_row(s->out, "Prefilter",
                  vxs_story_has(cv, "prefilter") ? vxs_story_text(cv, "prefilter") : "none");
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

/* Of methods that select among units, round by round. */
static void put_rounds(const vxs_story *s)
{
    const vxs_json *asked = vxs_json_get(s->about, "parameters");
    const char *letter = vxs_story_has(asked, "B") ? "B" : "r", *map = vxs_story_text(asked, "map");
    double debias = vxs_story_number(asked, "debias");
    fputs("<tr><th>Selection</th><td>", s->out);
    if (!vxs_story_has(asked, "features"))
        vxs_put(s->out, "at most %g ", vxs_story_number(asked, "T"));
    vxs_put(s->out, "rounds of %s = %g %s", letter, vxs_story_number(asked, letter),
            vxs_story_unit_name(s));
    if (vxs_story_has(asked, "features")) {
        fputs(", until there are ", s->out);
        vxs_story_put_wanted(s);
    }
    vxs_put(s->out, "; C = %g", vxs_story_number(asked, "C"));
    if (debias > 0)
        vxs_put(s->out, "; then weights learned anew with C = %g", debias);
    fputs("</td></tr>\n", s->out);
    if (vxs_story_has(asked, "groups"))
        vxs_put(s->out, "<tr><th>Groups</th><td>%s%s</td></tr>\n", vxs_story_text(asked, "groups"),
                vxs_json_get(asked, "by-size")->number != 0
                    ? "; features over the root of their group's size"
                    : "");
    if (strcmp(map, "poly2") == 0)
        vxs_put(s->out,
                "<tr><th>Map</th><td>features, squares and pairs, as the kernel (%g x'z + "
                "%g)&sup2;</td></tr>\n",
                vxs_story_number(asked, "gamma"), vxs_story_number(asked, "constant"));
    else if (vxs_story_is_mapped(s))
        vxs_story_row(s->out, "Map",
                      strcmp(map, "gauss") == 0
                          ? "11 waves of each feature, as a Gaussian kernel of it"
                          : "100 steps of each feature: histogram intersection");
}

void vxs_story_done(const vxs_story *s)
{
    const vxs_json *task = vxs_json_get(s->about, "task"), *grid = vxs_json_get(s->about, "grid");
    fputs("<h2>What was done</h2>\n<table>\n", s->out);
    put_variable(s);
    double subjects = vxs_story_number(vxs_story_who(s), "subjects"),
           people = vxs_story_number(vxs_story_who(s), "people");
    vxs_story_row_number(s->out, "Subjects", subjects);
    if (people < subjects)
        vxs_story_row_number(s->out, "People", people);
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
    if (vxs_story_generates(s))
        put_rounds(s);
    vxs_story_row(s->out, "Confounds",
                  vxs_story_has(task, "confounds") ? vxs_story_text(task, "confounds") : "none");
    if (vxs_story_has(s->about, "class_weights"))
        vxs_story_row(s->out, "Class weights", vxs_story_text(s->about, "class_weights"));
    if (s->kind->rows)
        s->kind->rows(s);
    fputs("</table>\n", s->out);
    vxs_story_flow(s);
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

/* The gap of what was selected is of the problem on it, the other of all that could be selected. */
static void put_generated(const vxs_story *s)
{
    const vxs_json *outputs = vxs_json_get(s->about, "outputs");
    vxs_put(s->out,
            "<table class=\"n\"><tr><th>Output</th><th>rounds</th><th>%s selected</th><th>made of "
            "features</th>"
            "<th>primal</th><th>dual</th><th>relative gap</th><th>on what is selected</th></tr>\n",
            vxs_story_unit_name(s));
    for (const vxs_json *o = outputs ? outputs->first : NULL; o; o = o->next) {
        vxs_put(s->out, "<tr><td class=\"t\">%s</td><td>%g</td><td>%g</td><td>%g</td><td>%g</td>",
                vxs_story_text(o, "name"), vxs_story_number(o, "rounds"),
                vxs_story_number(o, "selected"), vxs_story_number(o, "nonzero"),
                vxs_story_number(o, "primal"));
        vxs_put(s->out, "<td>%g</td><td>%g</td><td>%g</td></tr>\n", vxs_story_number(o, "dual"),
                vxs_story_number(o, "gap"), vxs_story_number(o, "gap_of_selected"));
    }
    fputs("</table>\n", s->out);
}

/* Whether what was asked for was reached: of methods that select round by round the program says
 * that, of the others it is the gap. */
static bool is_converged(const vxs_story *s)
{
    const vxs_json *outputs = vxs_json_get(s->about, "outputs");
    const vxs_json *whole = vxs_json_get(s->about, "converged");
    bool all = !whole || whole->number != 0;
    for (const vxs_json *o = outputs ? outputs->first : NULL; o; o = o->next)
        all = all &&
              (vxs_story_generates(s) ? vxs_json_get(o, "converged")->number != 0
                                      : !(vxs_story_number(o, "gap") > vxs_story_number(o, "tol")));
    return all;
}

static void put_bound_of_rounds(const vxs_story *s)
{
    const vxs_json *asked = vxs_json_get(s->about, "parameters"),
                   *outputs = vxs_json_get(s->about, "outputs");
    double tol = vxs_story_number(asked, "tol"), gap = outputs ? 0 : INFINITY;
    for (const vxs_json *o = outputs ? outputs->first : NULL; o; o = o->next)
        gap = fmax(gap, vxs_story_number(o, "gap"));
    if (gap <= tol) {
        vxs_put(s->out,
                "<p>Rounds ended with a duality gap over everything that could be selected of at "
                "most %g of the loss of the empty model: no other choice and no other weights are "
                "better by more than that.</p>\n",
                tol);
        return;
    }
    vxs_put(s->out,
            "<p>Every fit solved the problem on what its rounds had selected to a gap of at most "
            "%g of the loss of the empty model. Rounds ended when as many %s as were asked for",
            fmax(tol, vxs_story_number(asked, "inner-tol")),
            vxs_story_has(asked, "features") ? "were selected" : "were over");
    fputs(outputs ? "; the relative gap below, over everything that could be selected, says how "
                    "much lower the value could still fall with more of them. It is no error of "
                    "the weights.</p>\n"
                  : ": a choice, not an optimum over everything that could be selected.</p>\n",
          s->out);
}

void vxs_story_certificate(const vxs_story *s)
{
    double tol = vxs_story_number(vxs_json_get(s->about, "parameters"), "tol");
    fputs("<h2>Certificate</h2>\n", s->out);
    if (is_converged(s) && vxs_story_generates(s))
        put_bound_of_rounds(s);
    else if (is_converged(s))
        vxs_put(s->out,
                "<p>Every fit ended with a duality gap over all features of at most %g of the loss "
                "of the empty model: no other weights are better by more than that.</p>\n",
                tol);
    else
        fputs("<p class=\"warn\">Some fits did not reach the gap that was asked for. Their numbers "
              "are those of unfinished models.</p>\n",
              s->out);
    if (vxs_story_generates(s) &&
        vxs_story_number(vxs_json_get(s->about, "parameters"), "debias") > 0)
        fputs("<p>Weights were learned anew after the selection; the certificate is of those that "
              "selected.</p>\n",
              s->out);
    if (vxs_story_has(s->about, "outputs"))
        (vxs_story_generates(s) ? put_generated : put_outputs)(s);
}
