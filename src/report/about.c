/* about.c - settings and participants, and optimality certificates. */
#include "report/sections.h"

#include <math.h>
#include <string.h>

void vxs_row_of_text(FILE *out, const char *name, const char *value)
{
    vxs_html(out, "<tr><th>%s</th><td>%s</td></tr>\n", name, value);
}

void vxs_row_of_number(FILE *out, const char *name, double value)
{
    if (isfinite(value))
        vxs_html(out, "<tr><th>%s</th><td>%g</td></tr>\n", name, value);
}

const vxs_json *vxs_results_subjects(const vxs_results *s)
{
    const vxs_json *training = vxs_json_get(s->about, "training");
    return training ? training : s->about;
}

const char *vxs_results_rows(const vxs_results *s)
{
    return vxs_patches_of(s->about) ? "voxels" : "subjects";
}

/* ---- Settings -------------------------------------------------------------------------------- */

static void write_variable(const vxs_results *s)
{
    const vxs_json *classes = vxs_json_get(s->about, "classes");
    if (!s->classes) {
        vxs_html(s->out, "<tr><th>Target</th><td>%s, a score</td></tr>\n",
                 vxs_results_text(s->about, "target"));
        return;
    }
    vxs_html(s->out, "<tr><th>Target</th><td>%s, %z classes", vxs_results_text(s->about, "target"),
             s->record.class_count);
    for (const vxs_json *c = classes ? classes->first : NULL; c; c = c->next) {
        const char *before = c == classes->first ? ": " : ", ";
        if (c->kind == VXS_JSON_NUMBER)
            vxs_html(s->out, "%s%s (%g)", before, c->key ? c->key : "", c->number);
        else
            vxs_html(s->out, "%s%s", before, c->text ? c->text : "");
    }
    fputs("</td></tr>\n", s->out);
}

static void write_list(FILE *out, const vxs_json *list, const char *before, const char *between)
{
    for (const vxs_json *item = list ? list->first : NULL; item; item = item->next) {
        vxs_html(out, "%s", item == list->first ? before : between);
        if (item->kind == VXS_JSON_TEXT)
            vxs_html(out, "%s", item->text);
        else
            vxs_html(out, "%g", item->number);
    }
}

/* What rows that are voxels were made of. */
static void write_patches(const vxs_results *s)
{
    const vxs_json *patches = vxs_patches_of(s->about);
    const vxs_json *place = vxs_json_get(patches, "coordinates");
    double edge = vxs_json_get_number(patches, "patch");
    if (!patches)
        return;
    vxs_html(s->out, "<tr><th>Of each voxel</th><td>%g x %g x %g values of ", edge, edge, edge);
    write_list(s->out, vxs_json_get(patches, "image_columns"), "", ", ");
    write_list(s->out, vxs_json_get(patches, "means"), "; means within mm: ", ", ");
    if (place && place->kind == VXS_JSON_BOOL && place->number != 0)
        fputs("; x, y, z", s->out);
    fputs("</td></tr>\n", s->out);
    vxs_row_of_number(s->out, "Voxels of each class and subject, at most",
                      vxs_json_get_number(patches, "per_class"));
}

static void write_step(const vxs_results *s, const vxs_step *step, const vxs_json *value)
{
    if (vxs_step_param(step)->type != VXS_PARAM_REAL)
        vxs_html(s->out, "%s%s%s; ", step->before,
                 value && value->kind == VXS_JSON_TEXT ? value->text : "", step->after);
    else if (value && value->kind == VXS_JSON_NUMBER && value->number > 0)
        vxs_html(s->out, "%s%g%s; ", step->before, value->number, step->after);
}

static void write_preprocessing(const vxs_results *s)
{
    const vxs_json *p = vxs_json_get(s->about, "preprocessing");
    if (!p || p->kind == VXS_JSON_NULL || s->record.features_are == VXS_FEATURES_COLUMNS)
        return;
    fputs("<tr><th>Images</th><td>", s->out);
    for (const vxs_step *step = vxs_steps; step->name; step++)
        if (step->before)
            write_step(s, step, vxs_json_get(p, step->name));
    if (vxs_results_has(p, "mask"))
        vxs_html(s->out, "mask: %s; ", vxs_results_text(p, "mask"));
    else if (isfinite(vxs_results_number(p, "mask_fraction")))
        vxs_html(s->out, "mask: voxels with signal in at least %p of the subjects; ",
                 vxs_results_number(p, "mask_fraction"));
    vxs_html(s->out, "non-finite values: %s</td></tr>\n", vxs_results_text(p, "nan"));
}

vxs_fold_counts vxs_results_folds(const vxs_results *s)
{
    const vxs_json *cv = vxs_json_get(s->about, "cross_validation");
    bool given = vxs_results_has(cv, "folds-from"), counted = vxs_results_has(s->about, "folds");
    const vxs_json *from = counted ? s->about : given ? NULL : cv;
    return (vxs_fold_counts){ .folds = vxs_results_number(from, "folds"),
                              .repeats = vxs_results_number(from, "repeats"),
                              .inner = vxs_results_number(cv, "inner-folds") };
}

static const char *rule_words(const vxs_json *cv, char text[VXS_METRIC_TEXT])
{
    const char *by = vxs_choice_words(vxs_results_text(cv, "choose-by"), text);
    if (by)
        return by;
    const char *key = vxs_results_has(cv, "choose-rule") ? "choose-rule" : "select";
    return strcmp(vxs_results_text(cv, key), "1se") == 0 ? "one-standard-error rule" : "least loss";
}

void vxs_section_evaluation(const vxs_results *s)
{
    const vxs_json *cv = vxs_json_get(s->about, "cross_validation");
    vxs_fold_counts f = vxs_results_folds(s);
    char text[VXS_METRIC_TEXT];
    vxs_html(s->out,
             "<tr><th>Evaluation</th><td>%scross-validation: ", f.inner > 0 ? "nested " : "");
    if (isfinite(f.folds))
        vxs_html(s->out, "%g folds, %g repeat%s, ", f.folds, f.repeats,
                 vxs_plural((size_t)f.repeats));
    if (f.inner > 0)
        vxs_html(s->out, "%s%s chosen by %g-fold inner CV (%s)",
                 vxs_record_path(&s->record)->chosen, vxs_record_also(&s->record), f.inner,
                 rule_words(cv, text));
    else
        vxs_html(s->out, "%s fixed beforehand", vxs_record_path(&s->record)->chosen);
    if (vxs_results_text(cv, "folds")[0])
        vxs_html(s->out, "; one %s held out in each fold", vxs_results_text(cv, "group"));
    else if (vxs_results_has(cv, "group"))
        vxs_html(s->out, "; subjects of one %s stay together", vxs_results_text(cv, "group"));
    if (vxs_results_has(cv, "folds-from"))
        vxs_html(s->out, "; folds from %s", vxs_results_text(cv, "folds-from"));
    fputs("</td></tr>\n", s->out);
    const char *threshold = vxs_decision_words(vxs_results_text(cv, "decision"), text);
    if (threshold)
        vxs_html(s->out,
                 "<tr><th>Threshold of scores</th><td>learned in the training subjects, for "
                 "%s</td></tr>\n",
                 threshold);
    vxs_row_of_text(s->out, "Prefilter",
                    vxs_results_has(cv, "prefilter") ? vxs_results_text(cv, "prefilter") : "none");
}

typedef struct {
    const vxs_results *s;
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
    vxs_html(rows->s->out, "<tr><th>%s</th><td>", name);
    rows->begun = true;
    return rows->s->text;
}

static const char *scaling_words(const char *way)
{
    return way && strcmp(way, "unit") == 0     ? "standardized to mean 0 and standard deviation 1"
           : way && strcmp(way, "center") == 0 ? "centered"
                                               : "as they are";
}

static void write_covariates(FILE *out, const vxs_task_settings *task)
{
    vxs_html(out, "<tr><th>Covariates</th><td>%s%s</td></tr>\n",
             task->confounds ? task->confounds : "none",
             !task->confounds                              ? ""
             : task->confounds_as == VXS_CONFOUNDS_REGRESS ? "; regressed out of the features"
                                                           : "; in the model, not penalized");
}

void vxs_section_done(const vxs_results *s)
{
    const vxs_task_settings *task = &s->record.task;
    const char *orientation = vxs_results_text(vxs_json_get(s->about, "grid"), "orientation");
    fputs("<h2>Settings and participants</h2>\n<table>\n", s->out);
    write_variable(s);
    vxs_row_of_positive(s);
    double subjects = vxs_results_number(vxs_results_subjects(s), "subjects"),
           people = vxs_results_number(vxs_results_subjects(s), "people");
    vxs_row_of_number(s->out, vxs_patches_of(s->about) ? "Voxels" : "Subjects", subjects);
    if (people < subjects)
        vxs_row_of_number(s->out, "People", people);
    vxs_html(s->out, "<tr><th>Features</th><td>%g %s", s->record.features,
             vxs_feature_kind_names[s->record.features_are]);
    if (vxs_results_has(s->about, "grid"))
        vxs_html(s->out, ", image orientation %s", orientation);
    fputs("</td></tr>\n", s->out);
    write_preprocessing(s);
    write_patches(s);
    bool pairs = s->record.class_count > 2 && task->multiclass == VXS_ONE_VS_ONE;
    vxs_html(s->out, "<tr><th>Model</th><td>%s, %s loss%s; features %s</td></tr>\n",
             s->record.method->name, s->record.loss_name,
             pairs ? ", each pair of classes (one-vs-one)" : "",
             scaling_words(vxs_results_text(vxs_json_get(s->about, "task"), "standardize")));
    table_rows rows = { .s = s };
    vxs_list_settings(&s->record, &(vxs_setting_rows){ begin_row, &rows });
    end_row(&rows);
    write_covariates(s->out, task);
    if (vxs_results_has(s->about, "class_weights"))
        vxs_row_of_text(s->out, "Class weights", vxs_results_text(s->about, "class_weights"));
    if (s->kind->rows)
        s->kind->rows(s);
    fputs("</table>\n", s->out);
    vxs_section_flow(s);
}

/* ---- Certificates ---------------------------------------------------------------------------- */

static void write_outputs(const vxs_results *s)
{
    const vxs_model *m = &s->model;
    bool pieces = m->outputs[0].fit.certificate.fused_regions > 0;
    bool machine = vxs_record_path(&s->record)->by == VXS_BY_COST;
    bool low_rank = m->outputs[0].fit.certificate.rank > 0;
    fputs("<table><tr><th>Output</th>", s->out);
    fputs(machine ? "<th>C</th><th>support vectors</th>"
                  : "<th>lambda</th><th>lambda / lambda_max</th><th>nonzero weights</th>",
          s->out);
    if (low_rank)
        fputs("<th>rank of the kernel</th><th>of its trace it lacks</th>"
              "<th>of one subject, at most</th>",
              s->out);
    if (pieces)
        vxs_html(s->out, "<th>fused regions%s</th>", m->loss->joint ? " of all classes" : "");
    fputs("<th>primal</th><th>dual</th><th>relative gap</th><th>tolerance</th></tr>\n", s->out);
    for (size_t k = 0; k < m->output_count; k++) {
        const vxs_certificate *c = &m->outputs[k].fit.certificate;
        vxs_html(s->out, "<tr><td>%s</td>", m->outputs[k].name);
        if (machine)
            vxs_html(s->out, "<td>%v</td><td>%z</td>", 1 / c->lambda, c->support);
        else
            vxs_html(s->out, "<td>%v</td><td>%v</td><td>%z</td>", c->lambda,
                     c->lambda / c->lambda_max, c->nonzero);
        if (low_rank)
            vxs_html(s->out, "<td>%z</td><td>%g</td><td>%g</td>", c->rank, c->trace_error,
                     c->largest_error);
        if (pieces)
            vxs_html(s->out, "<td>%z</td>", c->fused_regions);
        vxs_html(s->out, "<td>%v</td><td>%v</td><td>%g</td><td>%g</td></tr>\n", c->primal, c->dual,
                 c->gap, c->tol);
    }
    fputs("</table>\n", s->out);
}

/* One gap is that of the problem on what was selected, the other over all that could be. */
static void write_generated(const vxs_results *s)
{
    const vxs_model *m = &s->model;
    vxs_html(s->out,
             "<table class=\"n\"><tr><th>Output</th><th>iterations</th><th>%s selected</th>"
             "<th>features</th>"
             "<th>primal</th><th>dual</th><th>relative gap</th><th>on the selection</th></tr>\n",
             vxs_record_block_name(&s->record));
    for (size_t k = 0; k < m->output_count; k++) {
        const vxs_certificate *c = &m->outputs[k].fit.certificate;
        const vxs_selected *u = m->outputs[k].fit.selected;
        vxs_html(s->out, "<tr><td class=\"t\">%s</td><td>%z</td><td>%z</td><td>%z</td><td>%v</td>",
                 m->outputs[k].name, (size_t)u->iterations, u->count, c->nonzero, c->primal);
        vxs_html(s->out, "<td>%v</td><td>%g</td><td>%g</td></tr>\n", c->dual, c->gap,
                 u->restricted_gap);
    }
    fputs("</table>\n", s->out);
}

/* Whether every fit reached its tolerance. */
static bool is_converged(const vxs_results *s)
{
    const vxs_json *whole = vxs_json_get(s->about, "converged");
    bool all = !whole || whole->number != 0;
    for (size_t k = 0; k < s->model.output_count; k++)
        all = all && s->model.outputs[k].fit.certificate.converged;
    return all;
}

static void write_bound_of_rounds(const vxs_results *s)
{
    const vxs_method_settings *asked = &s->record.settings;
    double tol = asked->tol, gap = s->kind->model ? 0 : INFINITY;
    for (size_t k = 0; k < s->model.output_count; k++)
        gap = fmax(gap, s->model.outputs[k].fit.certificate.gap);
    if (gap <= tol) {
        vxs_html(
            s->out,
            "<p>Iterations ended with a duality gap of at most %g, relative to the loss of the "
            "model without features: no other selection and no other weights lower the "
            "objective (loss plus penalty) by more than that.</p>\n",
            tol);
        return;
    }
    vxs_html(s->out,
             "<p>Every fit solved the problem on what it selected to a duality gap of at most %g, "
             "relative to the loss of the model without features. Iterations ended when %s",
             fmax(tol, vxs_record_selection_tol(&s->record)),
             asked->path.numbers ? "the requested number was selected"
                                 : "their requested number was reached");
    fputs(s->kind->model
              ? ". The relative gap below bounds how much any other selection could lower the "
                "objective (loss plus penalty). It is no error of the weights.</p>\n"
              : ". Other or more selected features could lower the objective (loss plus penalty) "
                "further.</p>\n",
          s->out);
}

void vxs_section_certificate(const vxs_results *s)
{
    vxs_path_kind by = vxs_record_path(&s->record)->by;
    bool optimum = by == VXS_BY_LAMBDA || by == VXS_BY_COST;
    double tol = s->record.settings.tol;
    fputs("<h2>Optimality certificate (duality gap)</h2>\n", s->out);
    if (is_converged(s) && !optimum)
        write_bound_of_rounds(s);
    else if (is_converged(s)) {
        vxs_html(s->out, "<p>Every fit ended with a duality gap of at most %g", tol);
        if (vxs_results_folds(s).inner > 0 && tol < VXS_INNER_TOL && by == VXS_BY_LAMBDA)
            vxs_html(s->out, " (fits of inner folds, which only choose lambda: %g)", VXS_INNER_TOL);
        fputs(": no other weights of any features lower the objective (loss plus penalty) by more "
              "than this fraction of the loss of the model without features. So the computation is "
              "finished. How well the model predicts is another question.</p>\n",
              s->out);
    } else
        fputs("<p class=\"warn\">Some fits did not reach the tolerance of the duality gap: other "
              "weights may lower their objective (loss plus penalty).</p>\n",
              s->out);
    if (vxs_record_is_refit(&s->record))
        fputs("<p>The weights were refitted on the selected features; the gap is about the "
              "selection.</p>\n",
              s->out);
    if (s->kind->model)
        (optimum ? write_outputs : write_generated)(s);
}
