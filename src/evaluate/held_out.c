/* held_out.c - the held-out subjects of one fold: predictions of the model and of baselines. */
#include "evaluate/cv.h"
#include "model/covariates.h"

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

/* Columns of a baseline of some subjects, `count` apart, of which the unpenalized ones are in
 * `free_columns`, as far apart. */
static void baseline_columns(const vxs_task *t, int baseline, const double *global_signal,
                             const double *free_columns, const size_t *which, size_t count,
                             double *columns)
{
    size_t q = baseline == VXS_BASELINE_CONSTANT ? 0 : t->covariate_count;
    for (size_t i = 0; i < count; i++)
        columns[i] = 1;
    memcpy(columns + count, free_columns, q * count * sizeof(*columns));
    for (size_t i = 0; i < count && baseline == VXS_BASELINE_GLOBAL_SIGNAL; i++)
        columns[(q + 1) * count + i] = global_signal[which[i]];
}

/* As the fits weigh subjects; the commonest class is found without weights. */
static void weigh(const vxs_fold_work *w, int baseline, const double *y, double *u)
{
    const vxs_task *t = w->cv->task;
    bool balanced = t->class_count > 0 && baseline != VXS_BASELINE_CONSTANT &&
                    t->settings.class_weights == VXS_CLASS_WEIGHTS_BALANCED;
    for (size_t k = 0; k < w->train_count; k++)
        u[k] = vxs_task_weight(t, w->train[k]);
    if (balanced)
        vxs_balance_weights(y, u, w->train_count);
}

/* Unpenalized columns of the training and of the test subjects. */
typedef struct {
    double *train, *test;
} covariates;

static vxs_status fit_baseline(vxs_fold_work *w, int baseline, const double *global_signal,
                               const covariates *of, size_t output, double *scores, vxs_error *err)
{
    const vxs_task *t = w->cv->task;
    size_t m = w->train_count, k = w->test_count, q = 1;
    q += baseline != VXS_BASELINE_CONSTANT ? t->covariate_count : 0;
    q += baseline == VXS_BASELINE_GLOBAL_SIGNAL;
    double *y = vxs_alloc(2 * m, sizeof(*y), err), *b = vxs_alloc(q, sizeof(*b), err);
    double *columns = vxs_alloc(m, (t->covariate_count + 2) * sizeof(*columns), err);
    double *held_out = vxs_alloc(k, (t->covariate_count + 2) * sizeof(*held_out), err);
    vxs_status status = y && b && columns && held_out ? VXS_OK : VXS_FAILED;
    if (!status) {
        for (size_t i = 0; i < m; i++)
            y[i] = vxs_score_truth(t, output, w->train[i]);
        baseline_columns(t, baseline, global_signal, of->train, w->train, m, columns);
        baseline_columns(t, baseline, global_signal, of->test, w->test, k, held_out);
        weigh(w, baseline, y, y + m);
        status = vxs_fit_columns(&(vxs_loss){ .kind = vxs_output_loss(t),
                                              .n = m,
                                              .y = y,
                                              .u = y + m,
                                              .threshold = w->threshold },
                                 columns, q, b, NULL, err);
    }
    for (size_t i = 0; i < k && !status; i++) {
        double *score = &scores[output * t->n + w->test[i]];
        *score = 0;
        for (size_t c = 0; c < q; c++)
            *score += b[c] * held_out[c * k + i];
    }
    free(y);
    free(b);
    free(columns);
    free(held_out);
    return status;
}

static vxs_status read_covariates(const vxs_fold_work *w, covariates *of, vxs_error *err)
{
    const vxs_task *t = w->cv->task;
    of->train = vxs_alloc(t->covariate_count, w->train_count * sizeof(*of->train), err);
    of->test = vxs_alloc(t->covariate_count, w->test_count * sizeof(*of->test), err);
    vxs_status status = of->train && of->test ? VXS_OK : VXS_FAILED;
    if (!status)
        status = vxs_covariates_of(t, w->train, w->train_count, w->train, w->train_count, of->train,
                                   err);
    return status ? status
                  : vxs_covariates_of(t, w->train, w->train_count, w->test, w->test_count, of->test,
                                      err);
}

static vxs_status evaluate_baselines(vxs_fold_work *w, const double *global_signal, vxs_error *err)
{
    vxs_cv *cv = w->cv;
    const vxs_task *t = cv->task;
    size_t outputs = vxs_task_score_count(t), repeat = cv->each[w->number].repeat;
    covariates of = { .train = NULL };
    vxs_status status = cv->settings.scores_only ? VXS_OK : read_covariates(w, &of, err);
    for (int b = 0; b < VXS_BASELINES && !status; b++) {
        if (!cv->baselines[b])
            continue;
        double *scores = cv->baselines[b] + repeat * outputs * t->n;
        for (size_t o = 0; o < outputs && !status && b != VXS_BASELINE_DENSE; o++)
            status = fit_baseline(w, b, global_signal, &of, o, scores, err);
        if (!status)
            status = measure_some(cv, w->test, w->test_count, scores, NULL,
                                  &cv->each[w->number].baselines[b], err);
    }
    free(of.train);
    free(of.test);
    return status;
}

/* Scores of outputs are those of subjects, or of pairs of classes. */
static void take_scores(const vxs_fold_work *w, const vxs_job *outer, double *scores,
                        double *probabilities)
{
    const vxs_task *t = w->cv->task;
    size_t step = outer->value_count * w->test_count, count = vxs_task_outputs(t);
    const double *last = outer->scores + step - w->test_count;
    bool pairs = vxs_task_has_pairs(t);
    for (size_t k = 0; k < w->test_count; k++) {
        size_t i = w->test[k];
        if (pairs)
            vxs_pairs_conclude(last + k, t->class_count, 1, step, w->slope, w->offset, t->n,
                               scores + i, probabilities ? probabilities + i : NULL);
        for (size_t o = 0; o < count && !pairs; o++)
            scores[o * t->n + i] = last[o * step + k];
        if (probabilities && !pairs)
            set_probabilities(w, scores, i, probabilities);
    }
}

vxs_status vxs_evaluate_fold(vxs_fold_work *w, const vxs_job *outer, const double *global_signal,
                             vxs_error *err)
{
    vxs_cv *cv = w->cv;
    const vxs_task *t = cv->task;
    vxs_cv_fold *f = &cv->each[w->number];
    double *scores = cv->scores + f->repeat * vxs_task_score_count(t) * t->n;
    double *probabilities =
        cv->probabilities ? cv->probabilities + f->repeat * t->class_count * t->n : NULL;
    take_scores(w, outer, scores, probabilities);
    for (size_t k = 0; k < w->test_count && w->decision != 0; k++) /* of two classes */
        scores[w->test[k]] -= w->decision;
    vxs_status status =
        measure_some(cv, w->test, w->test_count, scores, probabilities, &f->outer, err);
    return status ? status : evaluate_baselines(w, global_signal, err);
}
