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
            s->record.class_count);
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
    if (!p || s->record.features_are == VXS_FEATURES_COLUMNS)
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
        vxs_put(s->out, "%s chosen by %g inner folds (%s)", vxs_record_path(&s->record)->chosen,
                f.inner, vxs_story_text(cv, "select"));
    else
        vxs_put(s->out, "%s fixed beforehand", vxs_record_path(&s->record)->chosen);
    if (vxs_story_text(cv, "folds")[0])
        vxs_put(s->out, "; one %s held out in each fold", vxs_story_text(cv, "group"));
    else if (vxs_story_has(cv, "group"))
        vxs_put(s->out, "; subjects of one %s together", vxs_story_text(cv, "group"));
    if (vxs_story_has(cv, "folds-from"))
        vxs_put(s->out, "; folds from %s", vxs_story_text(cv, "folds-from"));
    fputs("</td></tr>\n", s->out);
    vxs_story_row(s->out, "Prefilter",
                  vxs_story_has(cv, "prefilter") ? vxs_story_text(cv, "prefilter") : "none");
}

typedef struct {
    const vxs_story *s;
    bool begun;
} table_rows;

static void end_row(table_rows *rows)
{
    if (rows->begun)
        fputs("</td></tr>\n", rows->s->out);
}

static FILE *begin_row(void *table, const char *name)
{
    table_rows *rows = table;
    end_row(rows);
    vxs_put(rows->s->out, "<tr><th>%s</th><td>", name);
    rows->begun = true;
    return rows->s->text;
}

void vxs_story_done(const vxs_story *s)
{
    const vxs_task_settings *task = &s->record.task;
    const char *orientation = vxs_story_text(vxs_json_get(s->about, "grid"), "orientation");
    fputs("<h2>What was done</h2>\n<table>\n", s->out);
    put_variable(s);
    double subjects = vxs_story_number(vxs_story_who(s), "subjects"),
           people = vxs_story_number(vxs_story_who(s), "people");
    vxs_story_row_number(s->out, "Subjects", subjects);
    if (people < subjects)
        vxs_story_row_number(s->out, "People", people);
    vxs_put(s->out, "<tr><th>Features</th><td>%g %s", s->record.features,
            vxs_feature_kind_names[s->record.features_are]);
    if (vxs_story_has(s->about, "grid"))
        vxs_put(s->out, ", grid in %s order", orientation);
    fputs("</td></tr>\n", s->out);
    put_preprocessing(s);
    vxs_put(s->out, "<tr><th>Model</th><td>%s, %s loss; features: %s</td></tr>\n",
            s->record.method->name, s->record.loss_name,
            vxs_story_text(vxs_json_get(s->about, "task"), "standardize"));
    table_rows rows = { .s = s };
    vxs_list_settings(&s->record, &(vxs_setting_rows){ begin_row, &rows });
    end_row(&rows);
    vxs_story_row(s->out, "Confounds", task->confounds ? task->confounds : "none");
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
    const vxs_model *m = &s->model;
    bool pieces = m->outputs[0].fit.certificate.pieces > 0;
    fputs("<table><tr><th>Output</th><th>lambda</th><th>of lambda_max</th><th>features with a "
          "weight</th>",
          s->out);
    if (pieces)
        vxs_put(s->out, "<th>pieces%s</th>", m->loss->joint ? " of all classes" : "");
    fputs("<th>primal</th><th>dual</th><th>relative gap</th><th>asked for</th></tr>\n", s->out);
    for (size_t k = 0; k < m->output_count; k++) {
        const vxs_certificate *c = &m->outputs[k].fit.certificate;
        vxs_put(s->out, "<tr><td>%s</td><td>%g</td><td>%g</td><td>%z</td>", m->outputs[k].name,
                c->lambda, c->lambda / c->lambda_max, c->nonzero);
        if (pieces)
            vxs_put(s->out, "<td>%z</td>", c->pieces);
        vxs_put(s->out, "<td>%g</td><td>%g</td><td>%g</td><td>%g</td></tr>\n", c->primal, c->dual,
                c->gap, c->tol);
    }
    fputs("</table>\n", s->out);
}

/* The gap of what was selected is of the problem on it, the other of all that could be selected. */
static void put_generated(const vxs_story *s)
{
    const vxs_model *m = &s->model;
    vxs_put(s->out,
            "<table class=\"n\"><tr><th>Output</th><th>rounds</th><th>%s selected</th><th>made of "
            "features</th>"
            "<th>primal</th><th>dual</th><th>relative gap</th><th>on what is selected</th></tr>\n",
            vxs_record_unit_name(&s->record));
    for (size_t k = 0; k < m->output_count; k++) {
        const vxs_certificate *c = &m->outputs[k].fit.certificate;
        const vxs_selected *u = m->outputs[k].fit.selected;
        vxs_put(s->out, "<tr><td class=\"t\">%s</td><td>%z</td><td>%z</td><td>%z</td><td>%g</td>",
                m->outputs[k].name, (size_t)u->rounds, u->count, c->nonzero, c->primal);
        vxs_put(s->out, "<td>%g</td><td>%g</td><td>%g</td></tr>\n", c->dual, c->gap, u->restricted);
    }
    fputs("</table>\n", s->out);
}

/* Whether every fit reached what was asked for. */
static bool is_converged(const vxs_story *s)
{
    const vxs_json *whole = vxs_json_get(s->about, "converged");
    bool all = !whole || whole->number != 0;
    for (size_t k = 0; k < s->model.output_count; k++)
        all = all && s->model.outputs[k].fit.certificate.converged;
    return all;
}

static void put_bound_of_rounds(const vxs_story *s)
{
    const vxs_method_settings *asked = &s->record.settings;
    double tol = asked->tol, gap = s->kind->model ? 0 : INFINITY;
    for (size_t k = 0; k < s->model.output_count; k++)
        gap = fmax(gap, s->model.outputs[k].fit.certificate.gap);
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
            fmax(tol, asked->blocks.inner_tol),
            asked->path.numbers ? "were selected" : "were over");
    fputs(s->kind->model
              ? "; the relative gap below, over everything that could be selected, says how "
                "much lower the value could still fall with more of them. It is no error of "
                "the weights.</p>\n"
              : ": a choice, not an optimum over everything that could be selected.</p>\n",
          s->out);
}

void vxs_story_certificate(const vxs_story *s)
{
    bool lambda = vxs_record_path(&s->record)->by == VXS_BY_LAMBDA;
    fputs("<h2>Certificate</h2>\n", s->out);
    if (is_converged(s) && !lambda)
        put_bound_of_rounds(s);
    else if (is_converged(s))
        vxs_put(s->out,
                "<p>Every fit ended with a duality gap over all features of at most %g of the loss "
                "of the empty model: no other weights are better by more than that.</p>\n",
                s->record.settings.tol);
    else
        fputs("<p class=\"warn\">Some fits did not reach the gap that was asked for. Their numbers "
              "are those of unfinished models.</p>\n",
              s->out);
    if (s->record.settings.blocks.debias > 0)
        fputs("<p>Weights were learned anew after the selection; the certificate is of those that "
              "selected.</p>\n",
              s->out);
    if (s->kind->model)
        (lambda ? put_outputs : put_generated)(s);
}
