/* choose.c - the lambda with the least inner CV loss (or by the one-standard-error rule), and the
 * calibration of probabilities. */
#include "evaluate/cv.h"
#include "model/axis.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

double vxs_score_truth(const vxs_task *t, size_t number, size_t i)
{
    size_t positive = t->class_count == 2 ? 1 : number;
    return t->class_count == 0 ? t->score[i] : t->score[i] == (double)positive ? 1 : -1;
}

double vxs_output_truth(const vxs_task *t, size_t output, size_t i)
{
    return t->class_count == 0 ? t->score[i] : vxs_output_side(t, output, t->score[i]);
}

void vxs_side_weights(const vxs_fold_work *w, vxs_truth_of *truth, size_t number, double weight[2])
{
    const vxs_task *t = w->cv->task;
    double side[2] = { 0, 0 };
    weight[0] = weight[1] = 1;
    for (size_t k = 0; k < w->train_count; k++) {
        double y = truth(t, number, w->train[k]);
        side[y > 0] += isnan(y) ? 0 : vxs_task_weight(t, w->train[k]);
    }
    if (t->class_count > 0 && t->settings.class_weights == VXS_CLASS_WEIGHTS_BALANCED)
        for (int k = 0; k < 2; k++)
            weight[k] = side[k] > 0 ? (side[0] + side[1]) / (2 * side[k]) : 1;
}

/* Mean loss of an inner job at a try, over all outputs and the subjects that each is of, of
 * calibrated scores. Where all classes are
 * one problem it is that of the subject's own class: -log of its probability. */
double vxs_inner_loss(const vxs_fold_work *w, const vxs_job *job, size_t number)
{
    const vxs_task *t = w->cv->task;
    const vxs_sample_loss *f = vxs_output_loss(t)->sample;
    double sum = 0, whole = 0, weight[2];
    for (size_t o = 0; o < vxs_task_outputs(t); o++) {
        const double *s = job->scores + (o * job->value_count + number) * job->test_count;
        vxs_side_weights(w, vxs_output_truth, o, weight);
        for (size_t k = 0; k < job->test_count; k++) {
            double y = vxs_output_truth(t, o, job->test[k]), u = weight[y > 0];
            if (isnan(y) || (t->loss->joint && y < 0))
                continue;
            u *= vxs_task_weight(t, job->test[k]);
            sum += u * f->value(w->offset[o] + w->slope[o] * s[k], y, w->threshold);
            whole += u;
        }
    }
    return whole > 0 ? sum / whole : 0;
}

size_t vxs_first_of_path(const vxs_tuning_grid *t, size_t number)
{
    return number - number % t->per_path;
}

static void take_inner_scores(vxs_fold_work *w, size_t number)
{
    size_t n = w->cv->task->n, outputs = vxs_task_outputs(w->cv->task);
    for (size_t k = 0; k < outputs * n; k++)
        w->inner_scores[k] = NAN;
    for (size_t g = 0; g < w->inner_count; g++) {
        const vxs_job *job = &w->inner[g];
        for (size_t o = 0; o < outputs; o++)
            for (size_t k = 0; k < job->test_count; k++)
                w->inner_scores[o * n + job->test[k]] =
                    job->scores[(o * job->value_count + number) * job->test_count + k];
    }
}

/* Logistic regression of an output on its inner score (Platt); where that would turn the score
 * round, the share of the class. A subject counts as often as its weight says. */
static vxs_status calibrate(vxs_fold_work *w, size_t output, vxs_error *err)
{
    const vxs_task *t = w->cv->task;
    size_t m = 0, *mine = vxs_alloc(w->train_count, sizeof(*mine), err);
    double *y = vxs_alloc(2 * w->train_count, sizeof(*y), err);
    double *columns = vxs_alloc(2 * w->train_count, sizeof(*columns), err);
    double b[2] = { 0, 0 };
    vxs_status status = mine && y && columns ? VXS_OK : VXS_FAILED;
    for (size_t k = 0; k < w->train_count && !status; k++)
        if (!isnan(vxs_output_truth(t, output, w->train[k])))
            mine[m++] = w->train[k];
    const vxs_loss loss = {
        .kind = vxs_output_loss(t), .n = m, .y = y, .u = t->weights ? y + m : NULL
    };
    for (size_t k = 0; k < m && !status; k++) {
        y[k] = vxs_output_truth(t, output, mine[k]);
        y[m + k] = vxs_task_weight(t, mine[k]);
        columns[k] = 1;
        columns[m + k] = w->inner_scores[output * t->n + mine[k]];
    }
    if (!status)
        status = vxs_fit_columns(&loss, columns, 2, b, NULL, err);
    if (!status && !(b[1] > 0)) {
        b[1] = 0;
        status = vxs_fit_columns(&loss, columns, 1, b, NULL, err);
    }
    w->offset[output] = b[0];
    w->slope[output] = b[1];
    free(mine);
    free(y);
    free(columns);
    return status;
}

/* Scores of kernels and margins are in no unit: each try is measured by what its scores say when
 * they are calibrated. Those of a linear model are measured as they are. */
static vxs_status calibrate_try(vxs_fold_work *w, size_t number, vxs_error *err)
{
    vxs_status status = VXS_OK;
    size_t outputs = vxs_task_outputs(w->cv->task);
    for (size_t o = 0; o < outputs; o++) {
        w->slope[o] = 1;
        w->offset[o] = 0;
    }
    if (vxs_task_has_logits(w->cv->task) || w->cv->task->class_count == 0)
        return VXS_OK;
    take_inner_scores(w, number);
    for (size_t o = 0; o < outputs && !status; o++)
        status = calibrate(w, o, err);
    return status;
}

/* Smoother, or as smooth and earlier: with a larger lambda, fewer rounds, or a smaller C. */
static bool is_simpler(const vxs_tuning_grid *t, size_t k, size_t than)
{
    if (t->axis && t->across[k] != t->across[than])
        return (t->across[k] > t->across[than]) == t->axis->larger_is_simpler;
    return k < than;
}

/* Losses that differ by less are equal: rounding, which values of held-out subjects may move, would
 * decide between them. Tries whose models agree on all inner folds are common (a machine that fits
 * all subjects, or none, whatever C). */
static const double TIE = 1e-9;

/* The simplest try with the least mean loss; or, with 1se, that is not a standard error worse. */
static vxs_status choose_try(vxs_fold_work *w, vxs_error *err)
{
    double *means = w->cv->losses + w->number * w->cv->tuning.count;
    double *sizes = w->cv->sizes + w->number * w->cv->tuning.count;
    double limit = INFINITY, jobs = (double)w->inner_count;
    bool one_error = w->cv->settings.select == VXS_SELECT_1SE;
    w->chosen = 0;
    for (size_t k = 0; k < w->cv->tuning.count; k++) {
        double square = 0;
        if (k >= w->inner[0].end) { /* where all paths of the fold ended */
            means[k] = sizes[k] = NAN;
            continue;
        }
        vxs_status status = calibrate_try(w, k, err);
        if (status)
            return status;
        means[k] = 0;
        for (size_t g = 0; g < w->inner_count; g++) {
            double loss = vxs_inner_loss(w, &w->inner[g], k);
            means[k] += loss / jobs;
            sizes[k] += w->inner[g].sizes[k] / jobs;
            square += loss * loss;
        }
        if (k == 0 || means[k] < means[w->chosen]) {
            double variance = jobs > 1 ? (square - jobs * means[k] * means[k]) / (jobs - 1) : 0;
            double error = one_error ? sqrt(fmax(0, variance) / jobs) : 0;
            limit = means[k] + fmax(error, TIE * fabs(means[k]));
            w->chosen = k;
        }
    }
    for (size_t k = 0; k < w->cv->tuning.count; k++)
        if (means[k] <= limit && is_simpler(&w->cv->tuning, k, w->chosen))
            w->chosen = k;
    return VXS_OK;
}

static vxs_status measure_inner(vxs_fold_work *w, vxs_error *err)
{
    const vxs_task *t = w->cv->task;
    bool pairs = vxs_task_has_pairs(t);
    double *votes = pairs ? vxs_alloc(t->class_count, t->n * sizeof(*votes), err) : NULL;
    if (pairs && !votes)
        return VXS_FAILED;
    if (pairs)
        vxs_pairs_conclude(w->inner_scores, t->class_count, t->n, t->n, NULL, NULL, t->n, votes,
                           NULL);
    vxs_predictions p = { .n = t->n,
                          .class_count = t->class_count,
                          .fold = w->cv->inner + w->number * t->n,
                          .fold_count = w->inner_count,
                          .truth = t->score,
                          .scores = pairs ? votes : w->inner_scores };
    vxs_status status = vxs_measure(&p, &w->cv->each[w->number].inner, err);
    free(votes);
    return status;
}

vxs_status vxs_choose(vxs_fold_work *w, vxs_error *err)
{
    size_t outputs = vxs_task_outputs(w->cv->task);
    vxs_status status = VXS_OK;
    if (w->inner_count > 0) {
        status = choose_try(w, err);
        take_inner_scores(w, w->chosen);
        if (!status)
            status = measure_inner(w, err);
    }
    for (size_t o = 0; o < outputs && !status; o++)
        if (w->cv->task->class_count > 0 && w->inner_count > 0)
            status = calibrate(w, o, err);
    w->cv->each[w->number].value = w->cv->tuning.values[w->chosen];
    w->cv->each[w->number].across = w->cv->tuning.across ? w->cv->tuning.across[w->chosen] : 0;
    return status;
}
