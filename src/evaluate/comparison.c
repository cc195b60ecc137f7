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
#include "model/estimators.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* constant       the mean of the score, or the commonest class
 * covariates     the covariates alone
 * global signal  these and the sum of all features: in lesion maps, the volume of the lesion */
const char *const vxs_baseline_names[VXS_BASELINES] = { "constant", "covariates", "global_signal" };

const char *vxs_baseline_words(const char *key, bool covariates)
{
    if (strcmp(key, vxs_baseline_names[VXS_BASELINE_GLOBAL_SIGNAL]) != 0)
        return key;
    return covariates ? "covariates + global signal" : "global signal";
}

const char *vxs_feature_words(vxs_feature_kind kind, size_t count)
{
    static const char *const words[][2] = { [VXS_FEATURES_VOXELS] = { "voxel", "voxels" },
                                            [VXS_FEATURES_REGIONS] = { "region", "regions" },
                                            [VXS_FEATURES_COLUMNS] = { "feature", "features" } };
    return words[kind][count != 1];
}

const char *vxs_adding_words(vxs_feature_kind kind)
{
    return kind == VXS_FEATURES_COLUMNS ? "features add" : "map adds";
}

enum { PREDICTORS = 1 + VXS_BASELINES }; /* the model, then the baselines */

/* What one predictor says: repeats x outputs x n; scores are NULL where there is no such one. */
typedef struct {
    const double *scores, *aligned, *probabilities;
} predictor;

static predictor predictor_of(const vxs_cv *cv, int which)
{
    return (predictor){ .scores = which == 0 ? cv->scores : cv->baselines[which - 1],
                        .aligned = cv->aligned[which],
                        .probabilities = which == 0 ? cv->probabilities : NULL };
}

/* Those of one repeat, of n subjects. */
static vxs_predictions predictions_in(const vxs_cv *cv, size_t repeat, size_t n,
                                      const double *truth, const size_t *fold, const predictor *of)
{
    const vxs_task *t = cv->task;
    size_t row = repeat * vxs_task_outputs(t) * n;
    return (vxs_predictions){ .n = n,
                              .class_count = t->class_count,
                              .fold = of->aligned ? NULL : fold + repeat * n,
                              .fold_count = cv->folds.count,
                              .aligned = of->aligned ? of->aligned + row : NULL,
                              .truth = truth,
                              .scores = of->scores + row,
                              .probabilities = of->probabilities
                                                   ? of->probabilities + repeat * t->class_count * n
                                                   : NULL };
}

/* Every metric is the mean over repeats, each of n subjects. */
static vxs_status measure_repeats(const vxs_cv *cv, size_t n, const double *truth,
                                  const size_t *fold, const predictor *of, vxs_metrics *mean,
                                  vxs_error *err)
{
    vxs_status status = VXS_OK;
    *mean = (vxs_metrics){ .count = n };
    for (size_t r = 0; r < cv->folds.repeats && !status; r++) {
        vxs_metrics one;
        const vxs_predictions p = predictions_in(cv, r, n, truth, fold, of);
        status = vxs_measure(&p, &one, err);
        if (!of->probabilities) /* only calibrated probabilities have a slope */
            one.calibration_slope = NAN;
        for (const vxs_metric_row *row = vxs_metric_rows; row->name && !status; row++)
            *vxs_metric(mean, row) += *vxs_metric(&one, row) / (double)cv->folds.repeats;
    }
    return status;
}

/* ---- Who is compared ------------------------------------------------------------------------- */

/* Pairs of one fold: of different classes, or any two subjects with a score. */
static double pairs_in_fold(const vxs_cv *cv, size_t repeat, size_t fold)
{
    const vxs_task *t = cv->task;
    double count[VXS_MOST_CLASSES] = { 0 }, all = 0, square = 0;
    for (size_t i = 0; i < t->n; i++)
        if (cv->folds.fold[repeat * t->n + i] == fold) {
            all++;
            count[t->class_count > 0 ? (size_t)t->score[i] : 0]++;
        }
    for (size_t c = 0; c < t->class_count; c++)
        square += count[c] * count[c];
    return t->class_count > 0 ? (all * all - square) / 2 : all * (all - 1) / 2;
}

static void count_pairs(vxs_cv *cv)
{
    vxs_comparison *c = &cv->comparison;
    *c = (vxs_comparison){ .folds = 0 };
    for (size_t r = 0; r < cv->folds.repeats; r++) {
        double here = 0;
        for (size_t f = 0; f < cv->folds.count; f++) {
            double pairs = pairs_in_fold(cv, r, f);
            here += pairs;
            c->folds += pairs > 0;
        }
        c->pairs += here;
        c->across = c->across || here == 0;
    }
}

/* The least of the mean of a loss over constants, by its own fit. */
static vxs_status fit_constant(const vxs_task *t, const vxs_loss_kind *kind, const size_t *which,
                               size_t n, const double *y, const double *u, double *constant,
                               vxs_error *err)
{
    double *ones = vxs_alloc(n, sizeof(*ones), err);
    vxs_loss loss = { .kind = kind, .n = n, .y = y, .u = u };
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
    double *y = vxs_alloc(2 * t->n, sizeof(*y), err), *u = y + t->n, sum = 0, whole = 0, mean;
    vxs_status status = which && y ? VXS_OK : VXS_FAILED;
    for (size_t i = 0; i < t->n && !status; i++) {
        if (fold[i] == without)
            continue;
        y[n] = vxs_output_truth(t, output, i);
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
    } else if (!status && kind->has_threshold) {
        status = fit_constant(t, kind, which, n, y, u, constant, err);
    }
    free(which);
    free(y);
    return status;
}

/* Classes that weigh the same have no constant that moves, and kernels' scores have none. */
static bool has_constant(const vxs_task *t)
{
    return !vxs_task_encoder(t)->without_covariates &&
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

static vxs_status align(const vxs_cv *cv, int which, double *aligned, vxs_error *err)
{
    const vxs_task *t = cv->task;
    const double *scores = predictor_of(cv, which).scores;
    size_t outputs = vxs_task_outputs(t);
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
    size_t rows = cv->folds.repeats * vxs_task_outputs(cv->task);
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

/* ---- Draws ----------------------------------------------------------------------------------- */

/* Subjects drawn with their whole groups, so many of them in this draw; what is known of a subject
 * is copied to its new place. */
typedef struct {
    const vxs_cv *cv;
    size_t *members, *start; /* of groups */
    size_t *drawn, count;
    size_t *fold; /* repeats x count */
    double *truth, *scores, *aligned, *probabilities;
    vxs_metrics *metrics[PREDICTORS]; /* a draw each; NULL: no such predictor */
    double *values;
} draw;

static void list_members(draw *d)
{
    const vxs_folds *f = &d->cv->folds;
    for (size_t i = 0; i < f->n; i++)
        d->start[f->group[i] + 1]++;
    for (size_t g = 0; g < f->groups; g++)
        d->start[g + 1] += d->start[g];
    for (size_t i = 0; i < f->n; i++) {
        size_t place = d->start[f->group[i]]++;
        d->members[place] = i;
    }
    for (size_t g = f->groups; g > 0; g--)
        d->start[g] = d->start[g - 1];
    d->start[0] = 0;
}

static size_t drawn_group(const vxs_cv *cv, uint64_t number, size_t k)
{
    vxs_random random = { (uint64_t)cv->settings.seed, VXS_STREAM_BOOTSTRAP + number };
    return (size_t)vxs_random_below(&random, k, cv->folds.groups);
}

/* The subjects of the largest draw. */
static size_t count_drawn(const draw *d)
{
    size_t most = 0;
    for (size_t number = 0; number < (size_t)d->cv->settings.bootstraps; number++) {
        size_t count = 0;
        for (size_t k = 0; k < d->cv->folds.groups; k++) {
            size_t g = drawn_group(d->cv, number, k);
            count += d->start[g + 1] - d->start[g];
        }
        most = count > most ? count : most;
    }
    return most;
}

/* As many groups as there are, each whole. */
static void draw_subjects(draw *d, uint64_t number)
{
    d->count = 0;
    for (size_t k = 0; k < d->cv->folds.groups; k++) {
        size_t g = drawn_group(d->cv, number, k);
        for (size_t j = d->start[g]; j < d->start[g + 1]; j++)
            d->drawn[d->count++] = d->members[j];
    }
}

static void copy_rows(const draw *d, const double *from, double *to, size_t rows)
{
    size_t n = d->cv->task->n;
    for (size_t r = 0; from && r < rows; r++)
        for (size_t k = 0; k < d->count; k++)
            to[r * d->count + k] = from[r * n + d->drawn[k]];
}

static vxs_status measure_draw(draw *d, uint64_t number, vxs_error *err)
{
    const vxs_cv *cv = d->cv;
    const vxs_task *t = cv->task;
    size_t rows = cv->folds.repeats * vxs_task_outputs(t);
    vxs_status status = VXS_OK;
    draw_subjects(d, number);
    for (size_t k = 0; k < d->count; k++)
        d->truth[k] = t->score[d->drawn[k]];
    for (size_t r = 0; r < cv->folds.repeats; r++)
        for (size_t k = 0; k < d->count; k++)
            d->fold[r * d->count + k] = cv->folds.fold[r * t->n + d->drawn[k]];
    for (int k = 0; k < PREDICTORS && !status; k++) {
        predictor of = predictor_of(cv, k);
        if (!of.scores)
            continue;
        copy_rows(d, of.scores, d->scores, rows);
        copy_rows(d, of.aligned, d->aligned, rows);
        copy_rows(d, of.probabilities, d->probabilities, cv->folds.repeats * t->class_count);
        const predictor copied = { d->scores, of.aligned ? d->aligned : NULL,
                                   of.probabilities ? d->probabilities : NULL };
        status =
            measure_repeats(cv, d->count, d->truth, d->fold, &copied, &d->metrics[k][number], err);
    }
    return status;
}

static int by_value(const void *a, const void *b)
{
    double left = *(const double *)a, right = *(const double *)b;
    return (left > right) - (left < right);
}

/* The middle 95 of 100 draws of a predictor, less those of another unless that is NULL. */
static void take_interval(draw *d, const vxs_metrics *draws, const vxs_metrics *less,
                          vxs_metrics *low, vxs_metrics *high)
{
    size_t count = (size_t)d->cv->settings.bootstraps;
    for (const vxs_metric_row *row = vxs_metric_rows; row->name; row++) {
        size_t known = 0;
        for (size_t k = 0; k < count; k++) {
            double value = *vxs_metric((vxs_metrics *)&draws[k], row);
            value -= less ? *vxs_metric((vxs_metrics *)&less[k], row) : 0;
            if (!isnan(value))
                d->values[known++] = value;
        }
        qsort(d->values, known, sizeof(*d->values), by_value);
        bool enough = 2 * known > count;
        size_t first = enough ? (size_t)(0.025 * (double)(known - 1)) : 0;
        size_t last = enough ? (size_t)ceil(0.975 * (double)(known - 1)) : 0;
        *vxs_metric(low, row) = enough ? d->values[first] : NAN;
        *vxs_metric(high, row) = enough ? d->values[last] : NAN;
    }
}

static void take_intervals(draw *d, vxs_cv *cv)
{
    take_interval(d, d->metrics[0], NULL, &cv->low, &cv->high);
    for (int b = 0; b < VXS_BASELINES; b++) {
        vxs_ahead *ahead = &cv->ahead[b];
        if (!cv->baselines[b])
            continue;
        take_interval(d, d->metrics[0], d->metrics[1 + b], &ahead->low, &ahead->high);
        for (const vxs_metric_row *row = vxs_metric_rows; row->name; row++)
            *vxs_metric(&ahead->by, row) =
                *vxs_metric(&cv->pooled, row) - *vxs_metric(&cv->pooled_baselines[b], row);
    }
}

static void release_draw(draw *d)
{
    for (int k = 0; k < PREDICTORS; k++)
        free(d->metrics[k]);
    free(d->members);
    free(d->start);
    free(d->drawn);
    free(d->fold);
    free(d->truth);
    free(d->scores);
    free(d->aligned);
    free(d->probabilities);
    free(d->values);
}

static vxs_status make_draw(const vxs_cv *cv, draw *d, vxs_error *err)
{
    size_t n = cv->task->n, repeats = cv->folds.repeats, count = (size_t)cv->settings.bootstraps;
    size_t rows = repeats * vxs_task_outputs(cv->task), classes = cv->task->class_count + 1;
    *d = (draw){ .cv = cv, .members = vxs_alloc(n, sizeof(*d->members), err) };
    d->start = vxs_alloc(cv->folds.groups + 1, sizeof(*d->start), err);
    if (!d->members || !d->start)
        return VXS_FAILED;
    list_members(d);
    n = count_drawn(d);
    d->drawn = vxs_alloc(n, sizeof(*d->drawn), err);
    d->fold = vxs_alloc(repeats, n * sizeof(*d->fold), err);
    d->truth = vxs_alloc(n, sizeof(*d->truth), err);
    d->scores = vxs_alloc(rows, n * sizeof(*d->scores), err);
    d->aligned = vxs_alloc(rows, n * sizeof(*d->aligned), err);
    d->probabilities = vxs_alloc(repeats * classes, n * sizeof(*d->probabilities), err);
    d->values = vxs_alloc(count, sizeof(*d->values), err);
    bool fine =
        d->drawn && d->fold && d->truth && d->scores && d->aligned && d->probabilities && d->values;
    for (int k = 0; k < PREDICTORS && fine; k++)
        if (predictor_of(cv, k).scores) {
            d->metrics[k] = vxs_alloc(count, sizeof(*d->metrics[k]), err);
            fine = d->metrics[k] != NULL;
        }
    return fine ? VXS_OK : VXS_FAILED;
}

static vxs_status bootstrap(const vxs_context *context, vxs_cv *cv, vxs_error *err)
{
    size_t count = (size_t)cv->settings.bootstraps;
    draw d;
    if (cv->folds.groups < VXS_FEW_GROUPS)
        vxs_log(context, VXS_LOG_WARNING,
                "the 95 %% intervals are of draws of %zu %s, and with fewer than %d they are too "
                "narrow",
                cv->folds.groups, cv->folds.by_folds ? "folds" : "groups of subjects",
                VXS_FEW_GROUPS);
    vxs_status status = make_draw(cv, &d, err);
    for (size_t k = 0; k < count && !status; k++) {
        status = measure_draw(&d, k, err);
        if (!status)
            status = vxs_check_interrupted(context, err);
    }
    if (!status)
        take_intervals(&d, cv);
    release_draw(&d);
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

static vxs_status measure_each_class(vxs_cv *cv, vxs_error *err)
{
    const vxs_task *t = cv->task;
    const predictor model = predictor_of(cv, 0);
    if (t->class_count == 0)
        return VXS_OK;
    vxs_status status = vxs_class_scores_new(t->class_count, &cv->classes, err);
    for (size_t r = 0; r < cv->folds.repeats && !status; r++) {
        const vxs_predictions p = predictions_in(cv, r, t->n, t->score, cv->folds.fold, &model);
        status = vxs_measure_classes(&p, 1 / (double)cv->folds.repeats, &cv->classes, err);
    }
    return status;
}

vxs_status vxs_evaluate_all(const vxs_context *context, vxs_cv *cv, vxs_error *err)
{
    count_pairs(cv);
    if (cv->comparison.across && !cv->settings.scores_only)
        warn_across(context, cv);
    vxs_status status = cv->comparison.across ? align_all(cv, err) : VXS_OK;
    for (int k = 0; k < PREDICTORS && !status; k++) {
        const predictor of = predictor_of(cv, k);
        vxs_metrics *metrics = k == 0 ? &cv->pooled : &cv->pooled_baselines[k - 1];
        if (of.scores)
            status = measure_repeats(cv, cv->task->n, cv->task->score, cv->folds.fold, &of, metrics,
                                     err);
    }
    if (!status)
        status = measure_each_class(cv, err);
    return status || cv->settings.scores_only ? status : bootstrap(context, cv, err);
}
