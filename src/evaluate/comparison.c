/* comparison.c - the model and its baselines over all folds, by one convention.
 *
 * A metric is computed once over all held-out subjects of a repeat; repeats are averaged.
 *
 * Errors (mae, rmse, r2, accuracy, brier, f1, calibration_slope) are sums over subjects, whatever
 * fold they are in. Metrics that compare subjects with each other (r, auc, sensitivity,
 * specificity, balanced_accuracy) compare those of one fold alone, which one model predicted: auc
 * is the share of pairs within folds that are in the right order, r the correlation of deviations
 * from the means of folds, and the shares of classes are means over folds that weigh as many pairs
 * as they have. Pairs of different folds would compare the models' offsets, which are the lower the
 * more of the positive class is held out: a constant would have an area of 0.125 under its curve
 * (Forman and Scholz 2010; Airola et al. 2011). So it has 0.5, and r = 0.
 *
 * Where no fold has a pair, as when one subject at a time is held out, subjects of different folds
 * are compared after the constant of each fold's training subjects was replaced by that of all.
 * What is left of the bias (slopes and covariates also turn away from who is held out) puts r below
 * 0 and the area below 0.5 where nothing is predicted; that is warned of.
 *
 * Intervals are percentiles of bootstrap draws of groups of subjects; the model and its baselines
 * are measured on the same draws, and so are their differences. */
#include "evaluate/cv.h"
#include "evaluate/draws.h"
#include "evaluate/within.h"
#include "model/estimators.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* constant       the mean of the score, or the commonest class
 * covariates     the covariates alone
 * global signal  these and the sum of all features: in lesion maps, the volume of the lesion
 * dense          these and a weight for every feature: ridge or l2 logistic regression */
const char *const vxs_baseline_names[VXS_BASELINES] = { "constant", "covariates", "global_signal",
                                                        VXS_DENSE_KEY };

const char *vxs_baseline_words(const char *key, bool covariates)
{
    if (strcmp(key, VXS_DENSE_KEY) == 0)
        return covariates ? "covariates + dense linear" : "dense linear";
    if (strcmp(key, vxs_baseline_names[VXS_BASELINE_GLOBAL_SIGNAL]) != 0)
        return key;
    return covariates ? "covariates + global signal" : "global signal";
}

const char *vxs_feature_words(vxs_feature_kind kind, size_t count)
{
    static const char *const words[][2] = { [VXS_FEATURES_VOXELS] = { "voxel", "voxels" },
                                            [VXS_FEATURES_REGIONS] = { "region", "regions" },
                                            [VXS_FEATURES_COLUMNS] = { "feature", "features" },
                                            [VXS_FEATURES_INSTANCES] = { "instance",
                                                                         "instances" } };
    return words[kind][count != 1];
}

const char *vxs_adding_words(vxs_feature_kind kind)
{
    return kind == VXS_FEATURES_COLUMNS     ? "features add"
           : kind == VXS_FEATURES_INSTANCES ? "instances add"
                                            : "map adds";
}

enum { PREDICTORS = 1 + VXS_BASELINES }; /* the model, then the baselines */

static vxs_predictor predictor_of(const vxs_cv *cv, int which)
{
    return (vxs_predictor){ .scores = which == 0 ? cv->scores : cv->baselines[which - 1],
                            .aligned = cv->aligned[which],
                            .probabilities = which == 0 ? cv->probabilities : NULL };
}

/* `each` has room for PREDICTORS. */
static vxs_evaluated evaluated(const vxs_cv *cv, vxs_predictor *each)
{
    for (int k = 0; k < PREDICTORS; k++)
        each[k] = predictor_of(cv, k);
    return (vxs_evaluated){ .n = cv->task->n,
                            .class_count = cv->task->class_count,
                            .outputs = vxs_task_score_count(cv->task),
                            .truth = cv->task->score,
                            .folds = &cv->folds,
                            .each = each,
                            .count = PREDICTORS,
                            .draws = (size_t)cv->settings.bootstraps,
                            .seed = (uint64_t)cv->settings.seed };
}

/* ---- Who is compared ------------------------------------------------------------------------- */

/* The least of the mean of a loss over constants, by its own fit. */
static vxs_status fit_constant(const vxs_task *t, const vxs_loss_kind *kind, const size_t *which,
                               size_t n, const double *y, const double *u, double threshold,
                               double *constant, vxs_error *err)
{
    vxs_loss loss = { .kind = kind, .n = n, .y = y, .u = u };
    if (kind == &vxs_margin_loss || kind == &vxs_epsilon_loss) {
        loss.threshold = threshold;
        return vxs_fit_middle(&loss, constant, err);
    }
    double *ones = vxs_alloc(n, sizeof(*ones), err);
    vxs_status status = ones ? vxs_task_threshold(t, which, n, &loss.threshold, err) : VXS_FAILED;
    for (size_t k = 0; k < n && ones; k++)
        ones[k] = 1;
    if (!status)
        status = vxs_fit_columns(&loss, ones, 1, constant, NULL, err);
    free(ones);
    return status;
}

/* What a model without features predicts of an output after training without `fold`; of no fold
 * when that is SIZE_MAX. */
static vxs_status constant_without(const vxs_cv *cv, const size_t *fold, size_t without,
                                   size_t output, double *constant, vxs_error *err)
{
    const vxs_task *t = cv->task;
    const vxs_loss_kind *kind = vxs_problem_loss(&t->settings, &cv->method, t->loss);
    size_t n = 0, *which = vxs_alloc(t->n, sizeof(*which), err);
    double *y = vxs_alloc(2 * t->n, sizeof(*y), err), *u = y + t->n, sum = 0, whole = 0, square = 0,
           mean;
    vxs_status status = which && y ? VXS_OK : VXS_FAILED;
    for (size_t i = 0; i < t->n && !status; i++) {
        if (fold[i] == without)
            continue;
        y[n] = vxs_score_truth(t, output, i);
        u[n] = vxs_task_weight(t, i);
        sum += u[n] * y[n];
        whole += u[n];
        which[n++] = i;
    }
    mean = whole > 0 ? sum / whole : 0;
    *constant = mean;
    if (!status && (kind == &vxs_logistic_loss || kind == &vxs_multinomial_loss)) {
        mean = fmin(fmax(mean, -1 + 1e-9), 1 - 1e-9);
        *constant = log((1 + mean) / (1 - mean));
    } else if (!status && (kind->has_threshold || kind == &vxs_margin_loss)) {
        for (size_t k = 0; k < n; k++)
            square += u[k] * (y[k] - mean) * (y[k] - mean) / whole;
        status = fit_constant(t, kind, which, n, y, u, cv->method.svm.epsilon * sqrt(square),
                              constant, err);
    }
    free(which);
    free(y);
    return status;
}

/* Classes that weigh the same have no constant that moves. */
static bool has_constant(const vxs_task *t)
{
    return !vxs_task_encoder(t)->without_constant &&
           !(t->class_count > 0 && t->settings.class_weights == VXS_CLASS_WEIGHTS_BALANCED);
}

/* How much of a score a solver's rounding may be: of log odds and margins, or of a score in its own
 * unit. The rest of a constant that was taken out is less; its sign is that of who is held out. */
#define ROUND_OFF 1e-6

static double round_off(const vxs_task *t)
{
    double sum = 0, square = 0, n = (double)t->n;
    if (t->class_count > 0)
        return ROUND_OFF;
    for (size_t i = 0; i < t->n; i++)
        sum += t->score[i] / n;
    for (size_t i = 0; i < t->n; i++)
        square += (t->score[i] - sum) * (t->score[i] - sum) / n;
    return ROUND_OFF * sqrt(square);
}

/* Of one output in one repeat; `shift` has room for a fold each. What a score is above the constant
 * of all is a multiple of rounding, so that nothing but rounding is nothing. */
static vxs_status align_output(const vxs_cv *cv, const size_t *fold, size_t output, bool constant,
                               const double *scores, double *aligned, double *shift, vxs_error *err)
{
    const vxs_task *t = cv->task;
    double all = 0, unit = round_off(t);
    vxs_status status = constant_without(cv, fold, SIZE_MAX, output, &all, err);
    for (size_t f = 0; f < cv->folds.count && !status; f++) {
        shift[f] = all;
        if (has_constant(t))
            status = constant_without(cv, fold, f, output, &shift[f], err);
    }
    for (size_t i = 0; i < t->n && !status; i++) {
        double above = constant ? 0 : scores[i] - shift[fold[i]];
        aligned[i] = all + (unit > 0 ? unit * round(above / unit) : above);
    }
    return status;
}

/* Votes of pairs of classes have no constant: they are aligned as they are. */
static vxs_status align(const vxs_cv *cv, int which, double *aligned, vxs_error *err)
{
    const vxs_task *t = cv->task;
    const double *scores = predictor_of(cv, which).scores;
    size_t outputs = vxs_task_score_count(t);
    if (which == 0 && vxs_task_has_pairs(t)) {
        memcpy(aligned, scores, cv->folds.repeats * outputs * t->n * sizeof(*aligned));
        return VXS_OK;
    }
    double *shift = vxs_alloc(cv->folds.count, sizeof(*shift), err);
    vxs_status status = shift ? VXS_OK : VXS_FAILED;
    for (size_t k = 0; k < cv->folds.repeats * outputs && !status; k++) {
        size_t r = k / outputs, row = k * t->n;
        status = align_output(cv, cv->folds.fold + r * t->n, k % outputs,
                              which == 1 + VXS_BASELINE_CONSTANT, scores + row, aligned + row,
                              shift, err);
    }
    free(shift);
    return status;
}

static vxs_status align_all(vxs_cv *cv, vxs_error *err)
{
    size_t rows = cv->folds.repeats * vxs_task_score_count(cv->task);
    vxs_status status = VXS_OK;
    for (int k = 0; k < PREDICTORS && !status; k++) {
        if (!predictor_of(cv, k).scores)
            continue;
        double *aligned = vxs_alloc(rows, cv->task->n * sizeof(*aligned), err);
        status = aligned ? align(cv, k, aligned, err) : VXS_FAILED;
        cv->aligned[k] = aligned;
    }
    return status;
}

/* ---- Intervals ------------------------------------------------------------------------------- */

static void take_intervals(vxs_bootstrap *d, vxs_cv *cv)
{
    vxs_bootstrap_interval(d, 0, VXS_OF_NONE, &cv->low, &cv->high);
    for (size_t b = 0; b < VXS_BASELINES; b++) {
        vxs_ahead *ahead = &cv->ahead[b];
        if (!cv->baselines[b])
            continue;
        vxs_bootstrap_interval(d, 0, 1 + b, &ahead->low, &ahead->high);
        for (const vxs_metric_row *row = vxs_metric_rows; row->name; row++)
            *vxs_metric(&ahead->by, row) =
                *vxs_metric(&cv->pooled, row) - *vxs_metric(&cv->pooled_baselines[b], row);
    }
}

static vxs_status bootstrap(const vxs_context *context, vxs_cv *cv, const vxs_evaluated *e,
                            vxs_error *err)
{
    vxs_bootstrap d;
    vxs_status status = vxs_bootstrap_run(context, e, &d, err);
    if (!status)
        take_intervals(&d, cv);
    vxs_bootstrap_release(&d);
    return status;
}

/* ---- The whole ------------------------------------------------------------------------------- */

static void warn_across(const vxs_context *context, const vxs_cv *cv)
{
    bool classes = cv->task->class_count > 0;
    vxs_log(context, VXS_LOG_CAUTION,
            "no fold has two %s to compare: %s of different models, which is biased downwards, "
            "below %s where nothing is predicted, and its interval is too narrow; use fewer or "
            "other folds, or judge it by 'voxsift permute'",
            classes ? "classes" : "subjects", classes ? "the AUC is of scores" : "r is of scores",
            classes ? "0.5" : "0");
}

static vxs_status measure_each_class(vxs_cv *cv, const vxs_evaluated *e, vxs_error *err)
{
    if (e->class_count == 0)
        return VXS_OK;
    vxs_status status = vxs_class_scores_new(e->class_count, &cv->classes, err);
    for (size_t r = 0; r < cv->folds.repeats && !status; r++) {
        const vxs_predictions p = vxs_predictions_in(e, &e->each[0], r);
        status = vxs_measure_classes(&p, 1 / (double)cv->folds.repeats, &cv->classes, err);
    }
    return status;
}

vxs_status vxs_evaluate_all(const vxs_context *context, vxs_cv *cv, vxs_error *err)
{
    vxs_predictor each[PREDICTORS];
    vxs_evaluated e = evaluated(cv, each);
    vxs_count_pairs(&e, &cv->comparison);
    if (cv->comparison.across && !cv->settings.scores_only)
        warn_across(context, cv);
    vxs_status status = cv->comparison.across ? align_all(cv, err) : VXS_OK;
    e = evaluated(cv, each);
    for (int k = 0; k < PREDICTORS && !status; k++) {
        vxs_metrics *metrics = k == 0 ? &cv->pooled : &cv->pooled_baselines[k - 1];
        if (each[k].scores)
            status = vxs_measure_repeats(&e, &each[k], metrics, err);
    }
    if (!status)
        status = measure_each_class(cv, &e, err);
    if (!status && !cv->settings.scores_only && vxs_cohort_patches(cv->task->cohort))
        status = vxs_measure_within(&e, &each[0], cv->task, &cv->within, err);
    return status || cv->settings.scores_only ? status : bootstrap(context, cv, &e, err);
}
