/* cmd_cv.c - voxsift cv. */
#include "cli/cli.h"

#include <math.h>
#include <string.h>

static const vxs_operand operands[] = {
    { .name = "COHORT", .help = "directory made by 'voxsift cohort' or 'simulate'" },
    { .name = NULL },
};

static const vxs_example examples[] = {
    { "voxsift cv t1w --target age --folds 10 --repeats 3 -o age-cv",
      "estimate how accurately age is predicted, by nested cross-validation" },
    { "voxsift cv pet --target diagnosis --confounds age,sex --group site --folds group \\\n    -o "
      "sites",
      "leave one site out at a time" },
    { "voxsift cv pet --target diagnosis --method lasso,fused,svm -o methods",
      "compare three methods on the same folds" },
    { NULL, NULL },
};

static double value_of(const vxs_metrics *m, const char *name)
{
    return *vxs_metric((vxs_metrics *)m, vxs_metric_named(name));
}

#define INTERVAL_TEXT (2 * VXS_REAL_TEXT + 8)
#define WIDEST        40 /* characters of the widest metric column */

static const char *interval(const vxs_metrics *low, const vxs_metrics *high, const char *name,
                            bool sign, char text[INTERVAL_TEXT])
{
    char first[VXS_REAL_TEXT], last[VXS_REAL_TEXT];
    double from = value_of(low, name), to = value_of(high, name);
    if (isnan(from) || isnan(to))
        return "unknown";
    snprintf(text, INTERVAL_TEXT, "%s to %s", vxs_score_text(from, sign, first),
             vxs_score_text(to, sign, last));
    return text;
}

static const char *words_of(const vxs_task *t, const char *name, char text[VXS_METRIC_TEXT])
{
    bool two = t->class_count == 2;
    return vxs_metric_words(vxs_metric_named(name), t->class_count, two ? t->classes[0] : "",
                            two ? t->classes[1] : "", text);
}

static const char *baseline_words(const vxs_cv *cv, int baseline)
{
    return vxs_baseline_words(vxs_baseline_names[baseline], cv->task->settings.confounds != NULL);
}

/* Converts a width in characters to bytes, which printf counts. */
static int in_bytes(int width, const char *text)
{
    for (; *text; text++)
        width += ((unsigned char)*text & 0xC0) == 0x80; /* a continuation byte of UTF-8 */
    return width;
}

/* Prints a metric of the model, and below it each baseline's value with the difference. */
static void print_metric(const vxs_call *call, const vxs_cv *cv, const char *name, bool baselines,
                         int width)
{
    char value[VXS_REAL_TEXT], by[VXS_REAL_TEXT], range[INTERVAL_TEXT], words[VXS_METRIC_TEXT];
    words_of(cv->task, name, words);
    fprintf(call->out, "  %-*s%9s  %s\n", in_bytes(width, words), words,
            vxs_score_text(value_of(&cv->pooled, name), false, value),
            interval(&cv->low, &cv->high, name, false, range));
    for (int b = 0; b < VXS_BASELINES && baselines; b++)
        if (cv->baselines[b])
            fprintf(call->out, "    %-*s%9s  %24s%s  %s\n", width - 2, baseline_words(cv, b),
                    vxs_score_text(value_of(&cv->pooled_baselines[b], name), false, value), "",
                    vxs_score_text(value_of(&cv->ahead[b].by, name), true, by),
                    interval(&cv->ahead[b].low, &cv->ahead[b].high, name, true, range));
}

/* Prints the metric within each person, of rows that are voxels. */
static void print_within(const vxs_call *call, const vxs_cv *cv)
{
    const vxs_within *w = &cv->within;
    char mean[VXS_REAL_TEXT], sd[VXS_REAL_TEXT], text[4][VXS_REAL_TEXT];
    if (!w->metric || w->count == 0)
        return;
    fprintf(call->out, "  %s within people: mean %s (%s to %s), sd %s, from %s to %s, of %zu\n",
            w->metric->words, vxs_score_text(w->mean, false, mean),
            vxs_score_text(w->low, false, text[0]), vxs_score_text(w->high, false, text[1]),
            vxs_score_text(w->sd, false, sd), vxs_score_text(w->least, false, text[2]),
            vxs_score_text(w->most, false, text[3]), w->count);
}

/* Prints which held-out subjects the comparing metrics compare. */
static void print_comparison(const vxs_call *call, const vxs_cv *cv)
{
    const char *names = cv->task->class_count > 2 ? "AUC, sensitivity and balanced accuracy compare"
                        : cv->task->class_count > 0
                            ? "AUC, sensitivity, specificity and balanced accuracy compare"
                            : "r compares";
    const vxs_comparison *c = &cv->comparison;
    if (c->across)
        fprintf(call->out,
                "  %s subjects of all folds, with the constant of each fold replaced by that\n"
                "  of all subjects (no fold has %s): biased downwards, below %s at chance\n",
                names, cv->task->class_count > 0 ? "two classes" : "two subjects",
                cv->task->class_count > 0 ? "0.5" : "0");
    else
        fprintf(call->out, "  %s subjects of the same fold: %.0f pairs in %zu of %zu folds\n",
                names, c->pairs, c->folds, cv->fold_count);
}

/* The best simple baseline by a metric: one that does not weigh all features; VXS_BASELINES:
 * none. */
static int best_baseline(const vxs_cv *cv, const char *name)
{
    int best = VXS_BASELINES;
    for (int b = 0; b < VXS_BASELINE_DENSE; b++)
        if (cv->baselines[b] && !isnan(value_of(&cv->pooled_baselines[b], name)) &&
            !(best < VXS_BASELINES && value_of(&cv->pooled_baselines[best], name) >=
                                          value_of(&cv->pooled_baselines[b], name)))
            best = b;
    return best;
}

/* Prints the meaning of the difference to the best simple baseline, in the words of the report. */
static void print_verdict(const vxs_call *call, const vxs_cv *cv, const char *name)
{
    int best = best_baseline(cv, name);
    char words[VXS_METRIC_TEXT];
    if (best == VXS_BASELINES)
        return;
    words_of(cv->task, name, words);
    fputs("  ", call->out);
    if (value_of(&cv->ahead[best].by, name) <= 0)
        fprintf(call->out, VXS_ADDS_NOTHING "\n", words, baseline_words(cv, best),
                vxs_adding_words(cv->task->cohort->kind));
    else if (value_of(&cv->ahead[best].low, name) <= 0)
        fprintf(call->out, VXS_NOT_BETTER "\n", words, baseline_words(cv, best));
    else
        fprintf(call->out, VXS_BETTER "\n", words, baseline_words(cv, best));
}

/* The same for the dense linear baseline. */
static void print_dense_verdict(const vxs_call *call, const vxs_cv *cv, const char *name)
{
    const vxs_ahead *ahead = &cv->ahead[VXS_BASELINE_DENSE];
    char words[VXS_METRIC_TEXT];
    if (!cv->baselines[VXS_BASELINE_DENSE] || isnan(value_of(&ahead->by, name)))
        return;
    words_of(cv->task, name, words);
    const char *noun = vxs_feature_words(cv->task->cohort->kind, 2);
    fputs("  ", call->out);
    if (value_of(&ahead->high, name) < 0)
        fprintf(call->out, VXS_DENSE_BETTER "\n", words, noun);
    else if (value_of(&ahead->low, name) <= 0)
        fprintf(call->out, VXS_DENSE_OPEN "\n", words, noun);
    else
        fprintf(call->out, VXS_DENSE_WORSE "\n", words, noun);
}

/* A slope of 1 is in the interval of probabilities that are calibrated. */
static void print_calibration(const vxs_call *call, const vxs_cv *cv)
{
    char value[VXS_REAL_TEXT], range[INTERVAL_TEXT];
    double slope = cv->pooled.calibration_slope, low = cv->low.calibration_slope;
    bool extreme = cv->high.calibration_slope < 1;
    if (!extreme && !(low > 1))
        return;
    fprintf(call->out, "  calibration slope %s (95 %% interval %s), ideal is 1: probabilities %s\n",
            vxs_score_text(slope, false, value),
            interval(&cv->low, &cv->high, "calibration_slope", false, range),
            !extreme     ? "are not extreme enough"
            : slope <= 0 ? "carry no information"
                         : "are too extreme");
}

/* Prints the main metrics; the files have all. */
static void print_scores(const vxs_call *call, const vxs_cv *cv)
{
    static const char *const of_scores[] = { "r", "r2", "mae", NULL };
    static const char *const of_classes[] = { "balanced_accuracy", "auc",   "sensitivity",
                                              "specificity",       "brier", NULL };
    const vxs_task *t = cv->task;
    const char *const *names = t->class_count > 0 ? of_classes : of_scores;
    char words[VXS_METRIC_TEXT];
    int width = 28; /* width of "covariates + global signal" */
    for (size_t k = 0; names[k]; k++) {
        int length = (int)strlen(words_of(t, names[k], words));
        if (vxs_metric_applies(vxs_metric_named(names[k]), t->class_count) && length > width)
            width = length < WIDEST ? length : WIDEST;
    }
    fprintf(call->out, "  %-*s%9s  %-24s%s\n", width, "", "held-out", "95 % interval",
            "model - baseline, 95 % interval");
    for (size_t k = 0; names[k]; k++)
        if (vxs_metric_applies(vxs_metric_named(names[k]), t->class_count))
            print_metric(call, cv, names[k], !vxs_metric_named(names[k])->of_two, width);
    vxs_print_classes(call->out, t->classes, &cv->classes);
    print_calibration(call, cv);
    print_comparison(call, cv);
    print_within(call, cv);
    if (isnan(value_of(&cv->low, names[0]))) /* first metric that compares subjects */
        fprintf(call->out,
                "  unknown: %s two subjects of one fold that differ in '%s'; use fewer folds\n",
                isnan(value_of(&cv->pooled, names[0])) ? "there are no"
                                                       : "most bootstrap draws have no",
                t->settings.target);
    else {
        print_verdict(call, cv, names[0]);
        print_dense_verdict(call, cv, names[0]);
    }
}

static void print_chosen(FILE *out, const vxs_cv *cv)
{
    char text[VXS_METRIC_TEXT];
    fprintf(out, "%s%s chosen by %lld-fold inner CV", vxs_chosen_words(&cv->tuning),
            vxs_also_words(&cv->tuning), (long long)cv->settings.inner_folds);
    const char *by = vxs_choice_words(cv->settings.choose_by, text);
    if (by)
        fprintf(out, " (%s)", by);
}

/* What stands in place of a choice. */
static void print_fixed(FILE *out, const vxs_tuning_grid *tuning)
{
    char ratio[VXS_REAL_TEXT];
    fprintf(out, "%s fixed", vxs_chosen_words(tuning));
    if (tuning->by == VXS_BY_LAMBDA)
        fprintf(out, " at %s lambda_max", vxs_short_text(tuning->values[0], ratio));
}

static void print_words(const vxs_call *call, const vxs_cv *cv)
{
    const vxs_task *t = cv->task;
    FILE *out = call->out;
    const char *dir = call->shared->out;
    char subjects[VXS_SUBJECTS_TEXT], seconds[VXS_REAL_TEXT];
    bool nested = cv->settings.inner_folds > 0;
    fprintf(out, "%s cross-validation of '%s', %s: %s, %s loss%s\n", nested ? "Nested" : "Plain",
            t->settings.target, vxs_subjects_text(t, subjects), vxs_task_method(t)->name,
            vxs_loss_name(&t->settings, &cv->method, t->loss),
            vxs_task_has_pairs(t) ? ", one-vs-one" : "");
    fprintf(out, "  %zu folds, %zu repeat%s, ", cv->folds.count, cv->folds.repeats,
            vxs_plural(cv->folds.repeats));
    if (nested)
        print_chosen(out, cv);
    else
        print_fixed(out, &cv->tuning);
    fprintf(out, "%s\n", vxs_task_weighs_classes(t) ? ", balanced class weights" : "");
    vxs_print_positive(out, t);
    vxs_print_decision(out, cv->settings.decision);
    print_scores(call, cv);
    fprintf(out, "  %.1f passes (readings of all features), %s s\n", cv->passes,
            vxs_short_text(cv->seconds, seconds));
    fprintf(out, "  %s/predictions.tsv  the prediction of each subject when held out\n", dir);
    fprintf(out, "  %s/scores.tsv       all metrics of the model and the baselines\n", dir);
    fprintf(out, "  %s/weights.tsv      mean%s over folds%s\n", dir,
            vxs_task_method(t)->path == VXS_BY_COST ? " and SD" : ", SD and selection frequency",
            t->cohort->kind == VXS_FEATURES_VOXELS ? "; also as maps" : "");
    if (cv->within.metric)
        fprintf(out, "  %s/people.tsv       %s of each person's voxels\n", dir,
                cv->within.metric->words);
    fprintf(out, "  %s/cv.json          all results and settings\n", dir);
}

vxs_status vxs_report_cv(const vxs_call *call, const vxs_cv *cv, vxs_error *err)
{
    bool part = vxs_chunk_is_part(cv->settings.chunking.chunk);
    vxs_status status = vxs_cv_save(call->context, cv, call->shared->out, call->shared->force, err);
    if (!status && part) {
        vxs_print_part(call, "folds", cv->first, cv->end, cv->fold_count);
    } else if (!status && call->shared->json) {
        vxs_json_writer w;
        vxs_json_init(&w, call->out);
        vxs_json_open_object(&w, NULL);
        vxs_json_text(&w, "output", call->shared->out);
        vxs_cv_json(&w, cv);
        vxs_close_json(call, &w);
    } else if (!status) {
        print_words(call, cv);
    }
    if (!status && !cv->converged)
        status = vxs_fail(err, VXS_NOT_CONVERGED,
                          "some fits did not reach the tolerance of the duality gap; cv.json %s "
                          "their folds",
                          part ? "will mark" : "marks");
    return status;
}

vxs_status vxs_run_cv(const vxs_call *call, vxs_task *task, const vxs_cv_settings *settings,
                      vxs_cv *cv, vxs_error *err)
{
    vxs_status status = vxs_cv_run(call->context, task, settings, call->method, cv, err);
    if (status)
        return status;
    size_t most = 0;
    for (size_t k = cv->first; k < cv->end; k++)
        most = vxs_cv_unidentified(cv, k) > most ? vxs_cv_unidentified(cv, k) : most;
    vxs_warn_unidentified(call->context, most);
    status = vxs_warn_uncalibrated(call->context, task, settings, err);
    if (status)
        vxs_cv_release(cv);
    return status;
}

static vxs_status validate(const vxs_call *call, vxs_task *task, vxs_error *err)
{
    vxs_cv_settings settings = *(const vxs_cv_settings *)call->values;
    vxs_cv cv;
    settings.chunking = call->chunking;
    vxs_status status = vxs_cv_settle(call->context, task, &settings, err);
    if (!status)
        status = vxs_warn_leaks(call->context, task, err);
    if (!status)
        status = vxs_run_cv(call, task, &settings, &cv, err);
    if (status)
        return status;
    status = vxs_report_cv(call, &cv, err);
    vxs_cv_release(&cv);
    return status;
}

static vxs_status run(const vxs_call *call, vxs_error *err)
{
    const vxs_cv_settings *settings = call->values;
    return call->several ? vxs_run_several(call, err)
                         : vxs_with_task(call, &settings->task, validate, err);
}

static const char *const unoffered[] = { "lambda", NULL };

const vxs_command vxs_cmd_cv = {
    .name = "cv",
    .heading = "Predict",
    .summary = "estimate out-of-sample accuracy by nested cross-validation",
    .details =
        "Estimates out-of-sample prediction accuracy by nested cross-validation: inner folds "
        "choose lambda, outer folds measure the model and simple baselines, with bootstrap "
        "confidence intervals. --method A,B,C runs several methods on the same folds and compares "
        "them.\n\n"
        "Of several methods OUT/A, OUT/B and OUT/C are what each alone would have written, and OUT "
        "is what 'voxsift compare' writes of them, with the seed and the bootstrap samples given "
        "here. An option goes to the methods that take it; which these are is said. To give "
        "methods different values of an option, run them one by one and compare them with "
        "'voxsift compare'.",
    .operands = operands,
    .params = vxs_task_params,
    .more_params = vxs_cv_params,
    .takes = VXS_TAKES_OUTPUT | VXS_TAKES_JSON | VXS_TAKES_THREADS | VXS_TAKES_METHOD |
             VXS_TAKES_METHODS | VXS_TAKES_CHUNK,
    .unoffered = unoffered,
    .examples = examples,
    .run = run,
};
