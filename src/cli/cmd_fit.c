/* cmd_fit.c - voxsift fit. */
#include "cli/cli.h"

#include <math.h>

/* The task comes first, because its parameter rows have offsets from the start. */
typedef struct {
    vxs_task_settings task;
    int64_t choose, calibrate, seed;
    int select;
    const char *group, *choose_by, *decision;
} fit_settings;

static const char *const choose_words[] = { "group", "auto", NULL };
enum { CHOOSE_BY_GROUP = VXS_WORD(0), CHOOSE_AUTO = VXS_WORD(1) };

static const vxs_param choose_params[] = {
    { .name = "choose-lambda",
      .value = "K",
      .type = VXS_PARAM_WHOLE,
      .offset = offsetof(fit_settings, choose),
      .max = 1000,
      .choices = choose_words,
      .head = VXS_HEAD_EVALUATION,
      .usual = true,
      .help = "number of folds that choose lambda, C, --iterations or --nselect; group: "
              "leave one --group out",
      .more = "Candidates are --nlambda values down to --lambda-ratio, or those of --C. auto: 5 "
              "folds, or as many "
              "as the groups of --group. 'voxsift cv' estimates the accuracy of the model." },
    VXS_CHOICE_ROW(
        "choose-rule", "RULE", offsetof(fit_settings, select), 0, vxs_select_names,
        "best, or 1se: one-standard-error rule", .head = VXS_HEAD_EVALUATION,
        .more = "best: the least loss, the mean of held-out subjects, averaged over folds. 1se "
                "takes the largest --laplacian (smallest --gamma), then the largest lambda "
                "(fewest iterations, smallest C) within one standard error over "
                "folds."),
    VXS_TEXT_ROW("choose-by", "METRIC", offsetof(fit_settings, choose_by),
                 "metric of the choice, such as auc; default loss", .head = VXS_HEAD_EVALUATION),
    VXS_TEXT_ROW("decision", "RULE", offsetof(fit_settings, decision),
                 "score above which a subject is positive, by folds: f1, balanced, sens:0.9, "
                 "spec:0.9; default own: 0",
                 .head = VXS_HEAD_EVALUATION,
                 .more = "The threshold is learned from the "
                         "folds of --choose-lambda or --calibrate. f1 and "
                         "balanced: where F1 or the balanced accuracy is largest; sens:0.9: the "
                         "largest threshold at which 90 % of the positive subjects are found, "
                         "spec:0.9 the smallest at which 90 % of the others are not. 'predict' "
                         "gives scores from it; probabilities stay."),
    VXS_WHOLE_ROW(
        "calibrate", "K", offsetof(fit_settings, calibrate), 0, 0, 1000,
        "folds for calibration; default 5, none for log odds", .head = VXS_HEAD_EVALUATION,
        .more = "Calibration makes probabilities of scores. 0: by the folds of "
                "--choose-lambda; without it by 5 folds for skfs, hsic-lasso, fgm, mslr, measure, "
                "svm, mkl and squared-hinge loss, where there are enough persons and "
                "subjects of each class; else none."),
    VXS_TEXT_ROW("group", "COLUMN", offsetof(fit_settings, group),
                 "column whose values stay in one fold, such as site", .head = VXS_HEAD_EVALUATION),
    VXS_WHOLE_ROW("seed", "N", offsetof(fit_settings, seed), 1, 0, 1e15,
                  "seed of the random numbers", .head = VXS_HEAD_EVALUATION),
    { .name = NULL },
};

static const vxs_operand operands[] = {
    { .name = "COHORT", .help = "directory made by 'voxsift cohort' or 'simulate'" },
    { .name = NULL },
};

static const vxs_example examples[] = {
    { "voxsift fit t1w --target age --choose-lambda 10 -o age",
      "predict age, with lambda chosen by 10-fold cross-validation" },
    { "voxsift fit pet --target diagnosis --confounds age,sex --method fused -o regions",
      "find fused regions that predict a diagnosis, adjusted for age and sex" },
    { "voxsift fit t1w --target age --lambda-ratio 0.2 -o age", "fit at a given lambda" },
    { "voxsift fit pet --target diagnosis --method fgm --groups atlas:schaefer100 --by-size "
      "--per-iteration 2 --nselect 5 -o regions",
      "select five atlas regions that jointly predict a diagnosis" },
    { "voxsift fit pet --target diagnosis -o model --json", "print the results for a script" },
    { NULL, NULL },
};

static void print_json(const vxs_call *call, const vxs_model *m, double seconds)
{
    vxs_json_writer w;
    vxs_json_init(&w, call->out);
    vxs_json_open_object(&w, NULL);
    vxs_json_text(&w, "model", call->shared->out);
    vxs_fit_json(&w, &m->task, call->method, m->loss, &m->outputs[0].fit);
    vxs_json_real(&w, "seconds_total", seconds);
    if (m->output_count > 1) {
        vxs_json_open_array(&w, "outputs");
        for (size_t k = 0; k < m->output_count; k++) {
            vxs_json_open_object(&w, NULL);
            vxs_json_text(&w, vxs_model_has_pairs(m) ? "pair" : "class", m->outputs[k].name);
            vxs_fit_json(&w, &m->task, call->method, m->loss, &m->outputs[k].fit);
            vxs_json_close_object(&w);
        }
        vxs_json_close_array(&w);
    }
    vxs_close_json(call, &w);
}

/* Prints the selection of features, groups or pairs. */
static void print_selected(FILE *out, const vxs_model *m, const vxs_output_fit *o)
{
    const vxs_selected *s = o->fit.selected;
    fprintf(out, "  %zu %s selected in %llu iteration%s, %zu of %zu features\n", s->count,
            vxs_block_name(m, s->count), (unsigned long long)s->iterations,
            vxs_plural((size_t)s->iterations), o->fit.count, m->p);
    if (s->pruned > 0)
        fprintf(out, "  %llu group%s visited, %llu pruned by a bound\n",
                (unsigned long long)s->visited, vxs_plural((size_t)s->visited),
                (unsigned long long)s->pruned);
    if (s->refit_weight)
        fprintf(out, "  weights refitted on the selected %s; the gap is that of the selection\n",
                vxs_block_name(m, 2));
}

static bool goes_by_cost(const vxs_model *m)
{
    return vxs_methods[m->task.method].path == VXS_BY_COST;
}

/* "lambda = 2.38 (0.0810 lambda_max), chosen by 5-fold CV", or "C = 1" */
static void print_lambda(FILE *out, const vxs_model *m, const vxs_certificate *c,
                         const fit_settings *settings)
{
    char lambda[VXS_REAL_TEXT], ratio[VXS_REAL_TEXT], text[VXS_METRIC_TEXT], axis[VXS_AXIS_TEXT];
    int64_t folds = settings->choose;
    const char *by = vxs_choice_words(settings->choose_by, text);
    if (goes_by_cost(m))
        fprintf(out, "  C = %s", vxs_score_text(1 / c->lambda, false, lambda));
    else
        fprintf(out, "  lambda = %s (%s lambda_max)", vxs_score_text(c->lambda, false, lambda),
                vxs_score_text(c->lambda / c->lambda_max, false, ratio));
    if (folds != 0)
        fputs(vxs_axis_chosen(&m->selection, axis), out);
    if (folds > 0)
        fprintf(out, ", chosen by %lld-fold CV", (long long)folds);
    else if (folds != 0)
        fprintf(out, ", chosen by %sCV", folds == CHOOSE_BY_GROUP ? "leave-one-group-out " : "");
    if (by)
        fprintf(out, " (%s)", by);
    fputc('\n', out);
}

static void print_weights(FILE *out, const vxs_model *m, const vxs_output_fit *o)
{
    const vxs_certificate *c = &o->fit.certificate;
    const vxs_selected *s = o->fit.selected;
    const char *have = vxs_have(c->nonzero);
    if (goes_by_cost(m) && m->groups)
        fprintf(out,
                "  %zu group%s %s a weight; %zu support vectors (subjects with nonzero weight)\n",
                c->kernels, vxs_plural(c->kernels), vxs_have(c->kernels), c->support);
    else if (goes_by_cost(m))
        fprintf(out,
                "  %zu support vectors (subjects with nonzero weight); no feature is selected\n",
                c->support);
    else if (c->nonzero == 0)
        fprintf(out, "  no feature has a nonzero weight: the model is empty at this lambda\n");
    else if (c->fused_regions > 0 && m->loss == &vxs_multinomial_loss)
        fprintf(out,
                "  %zu nonzero weight%s of %zu feature%s and %zu classes, in %zu fused region%s\n",
                c->nonzero, vxs_plural(c->nonzero), m->p, vxs_plural(m->p), m->output_count,
                c->fused_regions, vxs_plural(c->fused_regions));
    else if (c->fused_regions > 0)
        fprintf(out, "  %zu of %zu features %s a nonzero weight, in %zu fused region%s\n",
                c->nonzero, m->p, have, c->fused_regions, vxs_plural(c->fused_regions));
    else if (s)
        fprintf(out, "  %zu of %zu features %s a nonzero weight, in %zu %s\n", c->nonzero, m->p,
                have, s->count, vxs_block_name(m, s->count));
    else
        fprintf(out, "  %zu of %zu %s %s a nonzero weight\n", c->nonzero, m->p,
                m->task.bags ? "instances" : "features", have);
}

static void print_rank(FILE *out, const vxs_certificate *c)
{
    if (c->rank > 0)
        fprintf(out,
                "  kernel of rank %zu: lacks %.2g of the trace of the whole kernel, and of one "
                "subject up to %.2g of its mean\n",
                c->rank, c->trace_error, c->largest_error);
}

static void print_output(FILE *out, const vxs_model *m, const vxs_output_fit *o,
                         const fit_settings *settings)
{
    const vxs_certificate *c = &o->fit.certificate;
    char seconds[VXS_REAL_TEXT];
    if (m->loss == &vxs_multinomial_loss)
        fprintf(out, "  all %zu classes at once:\n", m->output_count);
    else if (m->output_count > 1)
        fprintf(out, "  %s%s:\n", o->name, vxs_model_has_pairs(m) ? "" : " against the rest");
    if (vxs_iterated_selection(&o->fit)) {
        print_selected(out, m, o);
    } else {
        print_lambda(out, m, c, settings);
        print_weights(out, m, o);
        print_rank(out, c);
    }
    fprintf(out,
            "  optimality certificate: relative duality gap %.2g%s (primal %.10g, dual %.10g)\n",
            c->gap, c->converged ? "" : ", ABOVE the tolerance", c->primal, c->dual);
    fprintf(out, "  %.2f passes (readings of all features), %s s, %llu iteration%s%s\n", c->passes,
            vxs_short_text(c->seconds, seconds), (unsigned long long)c->iterations,
            vxs_plural((size_t)c->iterations),
            vxs_iterated_selection(&o->fit) ? " of the subproblems" : "");
}

/* Prints the meaning of the sign of weights. */
static void print_direction(FILE *out, const vxs_model *m, const vxs_task *t)
{
    const vxs_selected *s = m->outputs[0].fit.selected;
    bool unsigned_values = m->outputs[0].encoded && !goes_by_cost(m);
    if (t->class_count > 2 || (s && s->map.kind != VXS_FEATURE_MAP_NONE) || unsigned_values)
        return; /* one map per class, or unsigned values */
    fprintf(out, "  positive weights: %s %s\n", t->class_count == 2 ? "more" : "higher",
            t->class_count == 2 ? t->classes[1] : t->settings.target);
}

static void print_words(const vxs_call *call, const vxs_model *m, const vxs_task *t)
{
    const char *dir = call->shared->out;
    FILE *out = call->out;
    char subjects[VXS_SUBJECTS_TEXT];
    fprintf(out, "Fitted '%s' of %s: %s, %s loss%s\n", t->settings.target,
            vxs_subjects_text(t, subjects), vxs_method_names[m->task.method],
            vxs_loss_name(&m->task, call->method, m->loss),
            vxs_task_has_pairs(t) ? ", one-vs-one" : "");
    vxs_print_positive(out, t);
    vxs_print_decision(out, ((const fit_settings *)call->values)->decision);
    size_t certificates = m->loss == &vxs_multinomial_loss ? 1 : m->output_count;
    for (size_t k = 0; k < certificates; k++)
        print_output(out, m, &m->outputs[k], call->values);
    bool given = vxs_reads_no_feature(&m->task, call->method);
    if (!given)
        print_direction(out, m, t);
    fprintf(out, "  %s/model.json      the model: settings, weights' files, certificate\n", dir);
    if (given)
        fprintf(out,
                "  %s/kernel_weights.npy  weights of kernel values; no feature was read, so that "
                "there is no map\n",
                dir);
    else
        fprintf(out, "  %s/weights.tsv     the weights%s\n", dir,
                m->voxels ? ", with voxel and mm; weights.nii.gz: the same as an overlay" : "");
    if (m->task.bags)
        fprintf(out, "  %s/instances.tsv   their instances: subject, weight, similarity\n", dir);
    const vxs_selected *s = m->outputs[0].fit.selected;
    if (s && s->map.kind == VXS_FEATURE_MAP_POLY2)
        fprintf(out, "  %s/pairs.tsv       selected features and pairs with their weights\n", dir);
    else if (s && m->groups)
        fprintf(out, "  %s/selected.tsv    selected groups with the norm of their weights\n", dir);
    else if (m->groups)
        fprintf(out, "  %s/kernel_weights.tsv  the weights of groups%s\n", dir,
                m->voxels ? "; kernel_weights.nii.gz: the same as a map" : "");
}

/* The gap that the solver controls: with iterations, that of the restricted problem. */
static double gap_of(const vxs_solution *fit)
{
    const vxs_selected *s = vxs_iterated_selection(fit);
    return s ? s->restricted_gap : fit->certificate.gap;
}

#define LARGE_PRODUCT 1e12 /* with weights of 1, steps of the solver vanish in double precision */

/* Approximate largest product of two features; 0 if features are not multiplied. */
static double largest_product(const vxs_model *m, const vxs_task *t)
{
    const vxs_selected *s = m->outputs[0].fit.selected;
    const double *norms = vxs_design_norms(t->design);
    double largest = 0;
    bool poly = s && s->map.kind == VXS_FEATURE_MAP_POLY2 && norms;
    for (size_t j = 0; poly && j < vxs_design_columns(t->design); j++)
        largest = fmax(largest, norms[j]);
    return largest * largest / (double)t->n;
}

static vxs_status check_convergence(const vxs_model *m, const vxs_task *t, vxs_error *err)
{
    double product = largest_product(m, t);
    for (size_t k = 0; k < m->output_count; k++) {
        const vxs_certificate *c = &m->outputs[k].fit.certificate;
        const vxs_selected *s = m->outputs[k].fit.selected;
        if (!c->converged && s && s->refit_weight && !(s->refit_gap <= VXS_REFIT_GAP / 2))
            return vxs_fail(err, VXS_NOT_CONVERGED,
                            "the relative gap of the refitted weights is %.2g, more than %.2g; the "
                            "model is marked",
                            s->refit_gap, VXS_REFIT_GAP);
        if (!c->converged && product > LARGE_PRODUCT)
            return vxs_fail(err, VXS_NOT_CONVERGED,
                            "the relative gap is %.2g, more than %.2g: products of features are "
                            "about %.1g, too large to be computed with; rescale the features, or "
                            "pass --standardize unit; the model is marked",
                            gap_of(&m->outputs[k].fit), c->tol, product);
        if (!c->converged)
            return vxs_fail(err, VXS_NOT_CONVERGED,
                            "the relative gap is %.2g, more than %.2g; the model is marked",
                            gap_of(&m->outputs[k].fit), c->tol);
    }
    return VXS_OK;
}

static vxs_status cross_validate(const vxs_call *call, const vxs_task *task, int64_t folds,
                                 const vxs_method_settings *method, vxs_selection *selection,
                                 vxs_error *err)
{
    const fit_settings *s = call->values;
    if (folds == 1)
        return vxs_fail(err, VXS_MISUSE, "'--%s' expects 0, or 2 and more",
                        s->choose == 1 ? "choose-lambda" : "calibrate");
    if (folds == CHOOSE_BY_GROUP && !s->group)
        return vxs_fail(err, VXS_MISUSE,
                        "'--choose-lambda group' goes with '--group COLUMN': one group of it is "
                        "held out in each fold");
    vxs_cv_settings settings = { .task = s->task,
                                 .folds = folds == CHOOSE_BY_GROUP ? VXS_FOLDS_GROUP : 0,
                                 .inner_folds = folds < 0 ? VXS_FOLDS_OPEN : folds,
                                 .select = s->select,
                                 .seed = s->seed,
                                 .group = s->group,
                                 .choose_by = s->choose != 0 ? s->choose_by : NULL,
                                 .decision = s->decision,
                                 .inner_option = s->choose != 0 ? "choose-lambda" : "calibrate" };
    bool path = s->choose != 0;
    return vxs_cv_choose(call->context, task, &settings, method, path, selection, err);
}

/* The least penalized of the values that were tried: the best one may be beyond. */
static const char *at_the_end(const vxs_selection *s)
{
    const vxs_tuning_grid *t = &s->tuning;
    if (t->count < 2 || s->value != t->values[t->count - 1])
        return "";
    return t->by == VXS_BY_LAMBDA ? ", the smallest value that was tried,"
                                  : ", the largest value that was tried,";
}

/* Replaces --lambda-ratio by the cross-validated value. */
static vxs_status choose_lambda(const vxs_call *call, const vxs_task *task,
                                vxs_method_settings *method, vxs_selection *selection,
                                vxs_error *err)
{
    const fit_settings *s = call->values;
    char count[32];
    snprintf(count, sizeof(count), "%lld-fold", (long long)s->choose);
    double start = vxs_seconds();
    char point[VXS_REAL_TEXT], across[VXS_AXIS_TEXT], seconds[VXS_REAL_TEXT];
    vxs_status status = cross_validate(call, task, s->choose, method, selection, err);
    if (status)
        return status;
    vxs_log(call->context, VXS_LOG_INFO, "%s CV chose %s %s%s%s in %s s",
            s->choose > 0                  ? count
            : s->choose == CHOOSE_BY_GROUP ? "leave-one-group-out"
                                           : "internal",
            vxs_short_text(selection->value, point), vxs_point_words(selection),
            at_the_end(selection), vxs_axis_chosen(selection, across),
            vxs_short_text(vxs_seconds() - start, seconds));
    vxs_selection_take(task, selection, method);
    return VXS_OK;
}

/* Number of folds for calibration, unless the choice of lambda calibrates; 0: none; VXS_FOLDS_OPEN:
 * default. Kernel scores and margins have no unit. */
static int64_t calibration_folds(const vxs_call *call, const vxs_task *task,
                                 const vxs_selection *selection)
{
    const fit_settings *s = call->values;
    if (task->class_count == 0 || selection->slope)
        return 0;
    if (s->calibrate > 0)
        return s->calibrate;
    return vxs_task_has_logits(task) ? 0 : VXS_FOLDS_OPEN;
}

/* Calibrates by held-out scores of folds at the same lambda ratio. If default folds are impossible
 * for the subjects (few persons or sites, a rare class), the model stays uncalibrated. */
static vxs_status calibrate(const vxs_call *call, const vxs_task *task,
                            const vxs_method_settings *method, vxs_model *model, vxs_error *err)
{
    const vxs_certificate *c = &model->outputs[0].fit.certificate;
    vxs_method_settings again = *method;
    int64_t folds = calibration_folds(call, task, &model->selection);
    if (folds == 0)
        return VXS_OK;
    if (vxs_methods[task->settings.method].path == VXS_BY_LAMBDA) {
        again.path.lambda = NAN;
        again.path.lambda_ratio = fmin(c->lambda / c->lambda_max, 1);
    }
    if (((const fit_settings *)call->values)->calibrate > 0)
        return cross_validate(call, task, folds, &again, &model->selection, err);
    vxs_error why = VXS_ERROR_INIT;
    vxs_status status = cross_validate(call, task, folds, &again, &model->selection, &why);
    if (status != VXS_MISUSE && status != VXS_BAD_DATA)
        return status ? vxs_fail(err, status, "%s", why.message) : VXS_OK;
    vxs_log(call->context, VXS_LOG_WARNING,
            "probabilities are not calibrated, which --calibrate K does by K folds: %s",
            why.message);
    return VXS_OK;
}

static void warn_of_directions(const vxs_call *call, const vxs_model *m)
{
    size_t most = 0;
    for (size_t o = 0; o < m->output_count; o++) {
        size_t here = m->outputs[o].fit.certificate.unidentified;
        most = here > most ? here : most;
    }
    vxs_warn_unidentified(call->context, most);
}

static void warn_of_shares(const vxs_call *call, const vxs_model *m)
{
    for (size_t o = 0; m->selection.slope && o < m->output_count; o++)
        if (m->selection.slope[o] == 0)
            vxs_log(
                call->context, VXS_LOG_WARNING,
                "scores of held-out subjects do not rise with '%s': its calibrated probability is "
                "the same for all subjects, its fraction of the training subjects",
                m->outputs[o].name);
}

static vxs_status save(const vxs_call *call, const vxs_task *task,
                       const vxs_method_settings *method, const vxs_model *model, double seconds,
                       vxs_error *err)
{
    vxs_status status = vxs_model_save(call->context, model, task, method, call->shared->out,
                                       call->shared->force, err);
    if (!status && call->shared->json)
        print_json(call, model, seconds);
    else if (!status)
        print_words(call, model, task);
    return status ? status : check_convergence(model, task, err);
}

/* Refuses --calibrate with folds that differ from those choosing lambda, which calibrate too: the
 * model would not record the difference. */
static vxs_status check_folds(const fit_settings *s, const vxs_task *task, vxs_error *err)
{
    if (s->calibrate > 0 && task->class_count == 0)
        return vxs_fail(err, VXS_MISUSE,
                        "'--calibrate' is for probabilities of classes, and '%s' is a score",
                        task->settings.target);
    if (s->calibrate > 0 && s->choose != 0 && s->calibrate != s->choose)
        return vxs_fail(err, VXS_MISUSE,
                        "'--choose-lambda' calibrates by its own folds: '--calibrate %lld' "
                        "must be left out, or be as many",
                        (long long)s->calibrate);
    return VXS_OK;
}

/* Refuses what is learned from held-out subjects where there are none. */
static vxs_status check_learned(const fit_settings *s, const vxs_task *task, bool folds,
                                vxs_error *err)
{
    if (s->choose_by && s->choose == 0)
        return vxs_fail(err, VXS_MISUSE, "'--choose-by %s' goes with '--choose-lambda'",
                        s->choose_by);
    return vxs_decision_check(s->decision, task->class_count, folds,
                              "choose-lambda' or '--calibrate", err);
}

static vxs_status fit_task(const vxs_call *call, vxs_task *task, double start, vxs_error *err)
{
    vxs_model model;
    vxs_selection selection = { .losses = NULL };
    const fit_settings *settings = call->values;
    vxs_method_settings method = *call->method;
    bool folds = settings->choose != 0 || calibration_folds(call, task, &selection) != 0;
    vxs_status status = check_folds(settings, task, err);
    if (!status)
        status = check_learned(settings, task, folds, err);
    if (!status && folds)
        status = vxs_warn_leaks(call->context, task, err);
    if (!status && settings->choose != 0)
        status = choose_lambda(call, task, &method, &selection, err);
    if (!status)
        status = vxs_model_fit(call->context, task, &method, &model, err);
    if (status) {
        vxs_selection_release(&selection);
        return status;
    }
    model.selection = selection;
    status = calibrate(call, task, &method, &model, err);
    if (!status)
        warn_of_shares(call, &model);
    if (!status)
        warn_of_directions(call, &model);
    if (!status)
        status = save(call, task, &method, &model, vxs_seconds() - start, err);
    vxs_model_release(&model);
    return status;
}

static vxs_status fit(const vxs_call *call, const vxs_cohort *cohort, vxs_error *err)
{
    vxs_task task;
    double start = vxs_seconds();
    const fit_settings *settings = call->values;
    vxs_status status = vxs_task_new(call->context, cohort, &settings->task, &task, err);
    if (status)
        return status;
    status = fit_task(call, &task, start, err);
    vxs_task_release(&task);
    return status;
}

static vxs_status run(const vxs_call *call, vxs_error *err)
{
    vxs_cohort cohort;
    const fit_settings *settings = call->values;
    vxs_status status = vxs_cohort_open_for(call->operands[0], &settings->task, &cohort, err);
    if (status)
        return status;
    status = fit(call, &cohort, err);
    vxs_cohort_release(&cohort);
    return status;
}

const vxs_command vxs_cmd_fit = {
    .name = "fit",
    .heading = "Predict",
    .summary = "fit a sparse model and map its weights",
    .details =
        "Fits a sparse model to all subjects and writes its weights as "
        "a table and an overlay, with an optimality certificate "
        "(duality gap): by how much any other weights could at most "
        "lower the objective (loss plus penalty), relative to a model "
        "without features. Unless given or chosen, lambda is 0.1 lambda_max.\n\n"
        "'voxsift check-model' recomputes the certificate by independent code. 'voxsift help "
        "METHOD' states the problem that a method solves.\n\n"
        "Features are standardized implicitly, without a copy; weights are written for features "
        "as they are in the cohort. The intercept and --confounds are not penalized. Text, or "
        "numbers with two values, are classes; more than two classes are fitted one against the "
        "rest, or in pairs (--multiclass). Subjects without a value are left out and named.\n\n"
        "The exit code is 3 when --tol was not reached (where --nselect or --iterations ended "
        "the work: --subproblem-tol); the model is written all the same, and marked.",
    .operands = operands,
    .params = vxs_task_params,
    .more_params = choose_params,
    .takes = VXS_TAKES_OUTPUT | VXS_TAKES_JSON | VXS_TAKES_THREADS | VXS_TAKES_METHOD,
    .examples = examples,
    .run = run,
};
