/* cmd_cv.c - voxsift cv. */
#include "cli/cli.h"

#include <math.h>
#include <string.h>

static const vxs_operand operands[] = {
    { .name = "COHORT", .help = "directory made by 'voxsift cohort' or 'voxsift simulate'" },
    { .name = NULL },
};

static const vxs_example examples[] = {
    { "voxsift cv t1w --target age --folds 10 --repeats 3 -o age-cv",
      "say how well age is predicted, by nested cross-validation" },
    { "voxsift cv pet --target diagnosis --confounds age,sex --folds-from site -o sites",
      "leave one site out at a time" },
    { NULL, NULL },
};

static const vxs_metric_row *row_called(const char *name)
{
    const vxs_metric_row *row = vxs_metric_rows;
    while (strcmp(row->name, name) != 0)
        row++;
    return row;
}

static double value_of(const vxs_metrics *m, const char *name)
{
    return *vxs_metric((vxs_metrics *)m, row_called(name));
}

#define NUMBER_TEXT 64

/* A number, or that there is none. */
static const char *number(double value, bool sign, char text[NUMBER_TEXT])
{
    snprintf(text, NUMBER_TEXT, isnan(value) ? "unknown" : sign ? "%+.3f" : "%.3f", value);
    return text;
}

static const char *interval(const vxs_metrics *low, const vxs_metrics *high, const char *name,
                            bool sign, char text[2 * NUMBER_TEXT + 8])
{
    char first[NUMBER_TEXT], last[NUMBER_TEXT];
    double from = value_of(low, name), to = value_of(high, name);
    if (isnan(from) || isnan(to))
        return "unknown";
    snprintf(text, 2 * NUMBER_TEXT + 8, "%s to %s", number(from, sign, first),
             number(to, sign, last));
    return text;
}

/* A metric of the model, and under it that of each baseline with the difference. */
static void print_metric(const vxs_call *call, const vxs_cv *cv, const char *name)
{
    char value[NUMBER_TEXT], by[NUMBER_TEXT], range[2 * NUMBER_TEXT + 8];
    fprintf(call->out, "  %-20s%8s  %s\n", name, number(value_of(&cv->pooled, name), false, value),
            interval(&cv->low, &cv->high, name, false, range));
    for (int b = 0; b < VXS_BASELINES; b++)
        if (cv->baselines[b])
            fprintf(call->out, "    %-18s%8s  %24s%s  %s\n", vxs_baseline_names[b],
                    number(value_of(&cv->pooled_baselines[b], name), false, value), "",
                    number(value_of(&cv->ahead[b].by, name), true, by),
                    interval(&cv->ahead[b].low, &cv->ahead[b].high, name, true, range));
}

/* Who is compared with whom, where a metric compares subjects. */
static void print_comparison(const vxs_call *call, const vxs_cv *cv)
{
    const char *names = cv->task->class_count > 0 ? "balanced accuracy and AUC" : "r";
    const vxs_comparison *c = &cv->comparison;
    if (c->across)
        fprintf(call->out,
                "  %s: across folds, the constant of each fold replaced by that of all subjects\n"
                "  (no fold has %s): biased downwards, below %s at chance\n",
                names, cv->task->class_count > 0 ? "two classes" : "two subjects",
                cv->task->class_count > 0 ? "0.5" : "0");
    else
        fprintf(call->out, "  %s: within folds, %.0f pairs of subjects in %zu of %zu folds\n",
                names, c->pairs, c->folds, cv->fold_count);
}

/* The metrics that are told in words; the files have all. */
static void print_scores(const vxs_call *call, const vxs_cv *cv)
{
    static const char *const of_scores[] = { "r", "r2", "mae", NULL };
    static const char *const of_classes[] = { "balanced_accuracy", "auc", "accuracy", "brier",
                                              NULL };
    const char *const *names = cv->task->class_count > 0 ? of_classes : of_scores;
    fprintf(call->out, "  %-20s%8s  %-24s%-8s%s\n", "", "held out", "95 % interval",
            "model - baseline", ", 95 % interval");
    for (size_t k = 0; names[k]; k++)
        print_metric(call, cv, names[k]);
    print_comparison(call, cv);
    if (isnan(value_of(&cv->low, names[0]))) /* of those that compare subjects */
        fprintf(call->out,
                "  unknown: %s two subjects of one fold that differ in '%s'; use fewer folds\n",
                isnan(value_of(&cv->pooled, names[0])) ? "there are no"
                                                       : "most bootstrap draws have no",
                cv->task->settings.target);
}

static void print_words(const vxs_call *call, const vxs_cv *cv)
{
    const vxs_task *t = cv->task;
    FILE *out = call->out;
    const char *dir = call->shared->out;
    char subjects[VXS_SUBJECTS_TEXT];
    fprintf(out, "Predicted '%s' of %s by %s (%s loss), each by models that had not seen ",
            t->settings.target, vxs_subjects_text(t, subjects), vxs_task_method(t)->name,
            vxs_loss_name(&t->settings, &cv->method, t->loss));
    fprintf(out, "them:\n  %zu folds, %zu %s, %s chosen by %lld inner folds%s\n", cv->folds.count,
            cv->folds.repeats, cv->folds.repeats == 1 ? "repeat" : "repeats",
            vxs_chosen_words(&cv->tries), (long long)cv->settings.inner_folds,
            t->settings.class_weights == VXS_CLASS_WEIGHTS_BALANCED ? ", classes weigh the same"
                                                                    : "");
    print_scores(call, cv);
    fprintf(out, "  %.1f passes over the data, %.3g s\n", cv->passes, cv->seconds);
    fprintf(out, "  %s/predictions.tsv  of every subject\n", dir);
    fprintf(out, "  %s/scores.tsv       all metrics: outer, inner (of the choice), baselines\n",
            dir);
    fprintf(out, "  %s/weights.tsv      mean, spread and selected share over folds%s\n", dir,
            t->cohort->kind == VXS_FEATURES_VOXELS ? "; maps beside it" : "");
    fprintf(out, "  %s/cv.json          all of it, and how it was made\n", dir);
}

vxs_status vxs_report_cv(const vxs_call *call, const vxs_cv *cv, vxs_error *err)
{
    bool part = vxs_chunk_is_part(cv->settings.pieces.chunk);
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
                          "some fits did not reach the gap that was asked for; cv.json %s their "
                          "folds",
                          part ? "will mark" : "marks");
    return status;
}

static vxs_status validate(const vxs_call *call, vxs_task *task, vxs_error *err)
{
    vxs_cv_settings settings = *(const vxs_cv_settings *)call->values;
    vxs_cv cv;
    settings.pieces = call->pieces;
    if (vxs_task_balance(task) && task->settings.class_weights == VXS_CLASS_WEIGHTS_BALANCED)
        vxs_log(call->context, VXS_LOG_INFO,
                "classes differ in size: each weighs the same (--class-weights none: as they are)");
    vxs_status status = vxs_cv_settle(call->context, task, &settings, err);
    if (!status)
        status = vxs_warn_leaks(call->context, task, err);
    if (!status)
        status = vxs_cv_run(call->context, task, &settings, call->method, &cv, err);
    if (status)
        return status;
    size_t most = 0;
    for (size_t k = cv.first; k < cv.end; k++)
        most = vxs_cv_unidentified(&cv, k) > most ? vxs_cv_unidentified(&cv, k) : most;
    vxs_warn_unidentified(call->context, most);
    status = vxs_report_cv(call, &cv, err);
    vxs_cv_release(&cv);
    return status;
}

static vxs_status run(const vxs_call *call, vxs_error *err)
{
    const vxs_cv_settings *settings = call->values;
    return vxs_with_task(call, &settings->task, validate, err);
}

const vxs_command vxs_cmd_cv = {
    .name = "cv",
    .heading = "Predict",
    .summary = "say how well a column is predicted, by nested cross-validation",
    .details =
        "Every subject is predicted by models that had no part of it: standardisation, a graph "
        "that --method fused learns, class weights, prefilter, lambda and the calibration of "
        "probabilities are learned from the training subjects of a fold alone. Lambda is chosen "
        "among shares of lambda_max (--nlambda of them down to --lambda-ratio) by inner folds of "
        "these; with methods fgm and mslr the number of rounds up to --iterations, or that of "
        "features "
        "among those that --nselect lists. Scores of that choice are called inner, and are no "
        "estimate of anything; outer scores are. The class that is predicted is that of the "
        "largest "
        "score; calibration may give another one the largest probability.\n\n"
        "Folds are dealt out evenly over classes or quantiles, or given by --folds-from. All "
        "subjects (scans) of one person are in one fold, in outer and inner folds, whatever the "
        "options; 'voxsift help cohort' explains how persons are found. --group keeps larger "
        "units together: family, site. A group finer than the person is refused. Where a group "
        "crosses persons (a site that some persons changed), groups that share a person are "
        "joined: the finest partition that splits neither. Folds from --folds-from with an image, "
        "a person or a group on both sides are refused.\n\n"
        "Baselines stand beside the model: constant (the mean, or the commonest class), confounds "
        "(the unpenalised covariates alone) and volume (these and the sum of all features).\n\n"
        "One convention holds for the model, the baselines and all outputs. Errors (mae, rmse, "
        "r2, accuracy, brier) are computed over all held-out subjects. Metrics that compare "
        "subjects (r, auc, balanced_accuracy, sensitivity, specificity) compare those of one fold "
        "only, because the offsets of the folds' models differ: auc is the share of pairs within "
        "folds in the right order, balanced_accuracy a mean over folds weighted by these pairs, "
        "r the correlation of deviations from fold means. A constant has auc 0.5, "
        "balanced_accuracy 0.5 (two classes) and r 0. Where no fold has a pair (leave one out), "
        "subjects of all folds are compared after the constant of each fold's training subjects "
        "was replaced by that of all. Repeats are averaged.\n\n"
        "Intervals are 95 % percentile intervals of bootstrap draws of persons, or of whole "
        "groups; the difference model - baseline is taken on the same draws. Of fewer than 10 "
        "groups, such as sites, they are too narrow. They do not include variability due to the "
        "training sample.\n\n"
        "The pattern is what each feature shares with the model's score (Haufe); a weight of its "
        "own says what the model reads, not what the disease does.",
    .operands = operands,
    .params = vxs_task_params,
    .more_params = vxs_cv_params,
    .takes =
        VXS_TAKES_OUTPUT | VXS_TAKES_JSON | VXS_TAKES_THREADS | VXS_TAKES_METHOD | VXS_TAKES_CHUNK,
    .examples = examples,
    .run = run,
};
