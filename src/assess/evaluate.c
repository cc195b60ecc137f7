/* evaluate.c - what the subjects that were kept back say of a model, and of simpler ones. */
#include "assess/cv.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* ---- One fold -------------------------------------------------------------------------------- */

/* Calibrated. */
static void set_probabilities(const vxs_fold_work *w, const double *scores, size_t i,
                              double *probabilities)
{
    vxs_predictions p = { .n = w->cv->task->n,
                          .class_count = w->cv->task->class_count,
                          .scores = scores,
                          .slope = w->slope,
                          .offset = w->offset };
    for (size_t c = 0; c < p.class_count; c++)
        probabilities[c * p.n + i] = vxs_predicted_probability(&p, i, c);
}

/* Metrics of some subjects only: the others' truth is not known. */
static vxs_status measure_some(const vxs_cv *cv, const size_t *which, size_t count,
                               const double *scores, const double *probabilities,
                               vxs_metrics *metrics, vxs_error *err)
{
    const vxs_task *t = cv->task;
    double *truth = vxs_alloc(t->n, sizeof(*truth), err);
    if (!truth)
        return VXS_FAILED;
    for (size_t i = 0; i < t->n; i++)
        truth[i] = NAN;
    for (size_t k = 0; k < count; k++)
        truth[which[k]] = t->score[which[k]];
    vxs_predictions p = { .n = t->n,
                          .class_count = t->class_count,
                          .truth = truth,
                          .scores = scores,
                          .probabilities = probabilities };
    vxs_status status = vxs_measure(&p, metrics, err);
    free(truth);
    return status;
}

/* The columns of a baseline, of subject i. */
static void baseline_columns(const vxs_task *t, int baseline, const double *volume, size_t i,
                             double *columns, size_t stride, size_t at)
{
    size_t k = 0;
    columns[at] = 1;
    for (k = 1; baseline != VXS_BASELINE_CONSTANT && k <= t->free_count; k++)
        columns[k * stride + at] = t->free[(k - 1) * t->n + i];
    if (baseline == VXS_BASELINE_VOLUME)
        columns[k * stride + at] = volume[i];
}

/* As the fits weigh subjects; the commonest class is found without weights. */
static void weigh(const vxs_fold_work *w, int baseline, const double *y, double *u)
{
    const vxs_task *t = w->cv->task;
    bool balanced = t->class_count > 0 && baseline != VXS_BASELINE_CONSTANT &&
                    t->settings.class_weights == VXS_CLASS_WEIGHTS_BALANCED;
    for (size_t k = 0; k < w->train_count; k++)
        u[k] = t->weights ? t->weights[w->train[k]] : 1;
    if (balanced)
        vxs_balance_weights(y, u, w->train_count);
}

static vxs_status fit_baseline(vxs_fold_work *w, int baseline, const double *volume, size_t output,
                               double *scores, vxs_error *err)
{
    const vxs_task *t = w->cv->task;
    size_t m = w->train_count, q = 1;
    q += baseline != VXS_BASELINE_CONSTANT ? t->free_count : 0;
    q += baseline == VXS_BASELINE_VOLUME;
    double *y = vxs_alloc(2 * m, sizeof(*y), err), *b = vxs_alloc(2 * q, sizeof(*b), err);
    double *columns = vxs_alloc(m, q * sizeof(*columns), err);
    vxs_status status = y && b && columns ? VXS_OK : VXS_FAILED;
    for (size_t k = 0; k < m && !status; k++) {
        y[k] = vxs_output_truth(t, output, w->train[k]);
        baseline_columns(t, baseline, volume, w->train[k], columns, m, k);
    }
    if (!status) {
        weigh(w, baseline, y, y + m);
        status = vxs_fit_columns(vxs_output_loss(t), y, y + m, columns, m, q, b, err);
    }
    for (size_t k = 0; k < w->test_count && !status; k++) {
        size_t i = w->test[k];
        baseline_columns(t, baseline, volume, i, b + q, 1, 0);
        scores[output * t->n + i] = 0;
        for (size_t c = 0; c < q; c++)
            scores[output * t->n + i] += b[c] * b[q + c];
    }
    free(y);
    free(b);
    free(columns);
    return status;
}

static vxs_status evaluate_baselines(vxs_fold_work *w, const double *volume, vxs_error *err)
{
    vxs_cv *cv = w->cv;
    const vxs_task *t = cv->task;
    size_t outputs = vxs_task_outputs(t), repeat = cv->each[w->number].repeat;
    vxs_status status = VXS_OK;
    for (int b = 0; b < VXS_BASELINES && !status; b++) {
        if (!cv->baselines[b])
            continue;
        double *scores = cv->baselines[b] + repeat * outputs * t->n;
        for (size_t o = 0; o < outputs && !status; o++)
            status = fit_baseline(w, b, volume, o, scores, err);
        if (!status)
            status = measure_some(cv, w->test, w->test_count, scores, NULL,
                                  &cv->each[w->number].baselines[b], err);
    }
    return status;
}

vxs_status vxs_evaluate_fold(vxs_fold_work *w, const vxs_job *outer, const double *volume,
                             vxs_error *err)
{
    vxs_cv *cv = w->cv;
    const vxs_task *t = cv->task;
    vxs_cv_fold *f = &cv->each[w->number];
    size_t outputs = vxs_task_outputs(t), n = t->n;
    double *scores = cv->scores + f->repeat * outputs * n;
    double *probabilities =
        cv->probabilities ? cv->probabilities + f->repeat * t->class_count * n : NULL;
    for (size_t o = 0; o < outputs; o++)
        for (size_t k = 0; k < w->test_count; k++)
            scores[o * n + w->test[k]] =
                outer
                    ->scores[(o * outer->point_count + outer->point_count - 1) * w->test_count + k];
    for (size_t k = 0; k < w->test_count && probabilities; k++)
        set_probabilities(w, scores, w->test[k], probabilities);
    vxs_status status =
        measure_some(cv, w->test, w->test_count, scores, probabilities, &f->outer, err);
    return status ? status : evaluate_baselines(w, volume, err);
}

/* ---- All folds ------------------------------------------------------------------------------- */

/* Every metric is the mean over repeats. */
static vxs_status measure_repeats(const vxs_cv *cv, const double *truth, const double *scores,
                                  const double *probabilities, vxs_metrics *mean, vxs_error *err)
{
    const vxs_task *t = cv->task;
    vxs_status status = VXS_OK;
    *mean = (vxs_metrics){ .count = t->n };
    for (size_t r = 0; r < cv->folds.repeats && !status; r++) {
        vxs_metrics one;
        vxs_predictions p = { .n = t->n,
                              .class_count = t->class_count,
                              .truth = truth,
                              .scores = scores + r * vxs_task_outputs(t) * t->n };
        if (probabilities)
            p.probabilities = probabilities + r * t->class_count * t->n;
        status = vxs_measure(&p, &one, err);
        for (const vxs_metric_row *row = vxs_metric_rows; row->name && !status; row++)
            *vxs_metric(mean, row) += *vxs_metric(&one, row) / (double)cv->folds.repeats;
    }
    return status;
}

/* Subjects drawn with their whole groups; a subject's predictions are copied to its new place. */
typedef struct {
    const vxs_cv *cv;
    size_t *members, *start; /* of groups */
    size_t *drawn, count;
    double *truth, *scores, *probabilities;
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

/* As many groups as there are, at most as many subjects as there is room for. */
static void draw_subjects(draw *d, uint64_t number)
{
    const vxs_folds *f = &d->cv->folds;
    vxs_random random = { (uint64_t)d->cv->settings.seed, VXS_STREAM_BOOTSTRAP + number };
    d->count = 0;
    for (size_t k = 0; k < f->groups; k++) {
        size_t g = (size_t)vxs_random_below(&random, k, f->groups);
        for (size_t j = d->start[g]; j < d->start[g + 1] && d->count < f->n; j++)
            d->drawn[d->count++] = d->members[j];
    }
}

static void copy_rows(const draw *d, const double *from, double *to, size_t rows)
{
    size_t n = d->cv->task->n;
    for (size_t r = 0; from && r < rows; r++)
        for (size_t k = 0; k < d->count; k++)
            to[r * n + k] = from[r * n + d->drawn[k]];
}

static vxs_status measure_draw(draw *d, uint64_t number, vxs_metrics *metrics, vxs_error *err)
{
    const vxs_cv *cv = d->cv;
    const vxs_task *t = cv->task;
    draw_subjects(d, number);
    copy_rows(d, cv->scores, d->scores, cv->folds.repeats * vxs_task_outputs(t));
    copy_rows(d, cv->probabilities, d->probabilities, cv->folds.repeats * t->class_count);
    for (size_t k = 0; k < t->n; k++)
        d->truth[k] = k < d->count ? t->score[d->drawn[k]] : NAN;
    return measure_repeats(cv, d->truth, d->scores, cv->probabilities ? d->probabilities : NULL,
                           metrics, err);
}

static int by_value(const void *a, const void *b)
{
    double left = *(const double *)a, right = *(const double *)b;
    return (left > right) - (left < right);
}

/* The middle 95 of 100 draws. */
static void take_interval(vxs_cv *cv, vxs_metrics *draws, double *values)
{
    size_t count = (size_t)cv->settings.bootstraps;
    for (const vxs_metric_row *row = vxs_metric_rows; row->name; row++) {
        size_t known = 0;
        for (size_t k = 0; k < count; k++)
            if (!isnan(*vxs_metric(&draws[k], row)))
                values[known++] = *vxs_metric(&draws[k], row);
        qsort(values, known, sizeof(*values), by_value);
        bool enough = 2 * known > count;
        *vxs_metric(&cv->low, row) = enough ? values[(size_t)(0.025 * (double)(known - 1))] : NAN;
        *vxs_metric(&cv->high, row) =
            enough ? values[(size_t)ceil(0.975 * (double)(known - 1))] : NAN;
    }
}

static void release_draw(draw *d)
{
    free(d->members);
    free(d->start);
    free(d->drawn);
    free(d->truth);
    free(d->scores);
    free(d->probabilities);
}

static vxs_status bootstrap(const vxs_context *context, vxs_cv *cv, vxs_error *err)
{
    size_t n = cv->task->n, rows = cv->folds.repeats, count = (size_t)cv->settings.bootstraps;
    size_t classes = cv->task->class_count + 1;
    draw d = { .cv = cv, .members = vxs_alloc(n, sizeof(*d.members), err) };
    d.start = vxs_alloc(cv->folds.groups + 1, sizeof(*d.start), err);
    d.drawn = vxs_alloc(n, sizeof(*d.drawn), err);
    d.truth = vxs_alloc(n, sizeof(*d.truth), err);
    d.scores = vxs_alloc(rows * vxs_task_outputs(cv->task), n * sizeof(*d.scores), err);
    d.probabilities = vxs_alloc(rows * classes, n * sizeof(*d.probabilities), err);
    vxs_metrics *draws = vxs_alloc(count, sizeof(*draws), err);
    double *values = vxs_alloc(count, sizeof(*values), err);
    vxs_status status =
        d.members && d.start && d.drawn && d.truth && d.scores && d.probabilities && draws && values
            ? VXS_OK
            : VXS_FAILED;
    if (!status)
        list_members(&d);
    for (size_t k = 0; k < count && !status; k++) {
        status = measure_draw(&d, k, &draws[k], err);
        if (!status)
            status = vxs_check_interrupted(context, err);
    }
    if (!status)
        take_interval(cv, draws, values);
    release_draw(&d);
    free(draws);
    free(values);
    return status;
}

vxs_status vxs_evaluate_all(const vxs_context *context, vxs_cv *cv, vxs_error *err)
{
    const double *truth = cv->task->score;
    vxs_status status = measure_repeats(cv, truth, cv->scores, cv->probabilities, &cv->pooled, err);
    for (int b = 0; b < VXS_BASELINES && !status; b++)
        if (cv->baselines[b])
            status =
                measure_repeats(cv, truth, cv->baselines[b], NULL, &cv->pooled_baselines[b], err);
    return status || cv->settings.scores_only ? status : bootstrap(context, cv, err);
}
