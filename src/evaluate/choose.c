/* choose.c - the lambda with the least inner CV loss (or by the one-standard-error rule), and the
 * calibration of probabilities. */
#include "evaluate/cv.h"
#include "evaluate/decision.h"
#include "model/axis.h"

#include <math.h>
#include <stdio.h>
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

/* Scores of inner folds are measured from the threshold that they say is best. */
static vxs_status decide(vxs_fold_work *w, vxs_error *err)
{
    const vxs_task *t = w->cv->task;
    const vxs_predictions p = {
        .n = t->n, .class_count = t->class_count, .truth = t->score, .scores = w->inner_scores
    };
    vxs_status status =
        vxs_decision_learn(w->cv->settings.decision, &p, t->weights, &w->decision, err);
    for (size_t i = 0; i < t->n && w->decision != 0; i++)
        w->inner_scores[i] -= w->decision;
    return status;
}

/* Classes are those that most pairs say. */
static vxs_status measure_pairs(const vxs_fold_work *w, vxs_predictions *p, vxs_metrics *metrics,
                                vxs_error *err)
{
    const vxs_task *t = w->cv->task;
    double *votes = vxs_alloc(2 * t->class_count, t->n * sizeof(*votes), err);
    if (!votes)
        return VXS_FAILED;
    double *probabilities = votes + t->class_count * t->n;
    vxs_pairs_conclude(w->inner_scores, t->class_count, t->n, t->n, p->slope, p->offset, t->n,
                       votes, p->slope ? probabilities : NULL);
    p->scores = votes;
    p->probabilities = p->slope ? probabilities : NULL;
    p->slope = p->offset = NULL;
    vxs_status status = vxs_measure(p, metrics, err);
    free(votes);
    return status;
}

/* Metrics of inner scores, which were decided upon; `only`: of one, by the calibration of a try. */
static vxs_status measure_inner(const vxs_fold_work *w, const vxs_metric_row *only,
                                vxs_metrics *metrics, vxs_error *err)
{
    const vxs_task *t = w->cv->task;
    const double one = 1;
    const double calibrated = w->offset[0] + w->slope[0] * w->decision;
    vxs_predictions p = { .n = t->n,
                          .class_count = t->class_count,
                          .fold = w->cv->inner + w->number * t->n,
                          .fold_count = w->inner_count,
                          .truth = t->score,
                          .scores = w->inner_scores,
                          .only = only };
    if (t->class_count == 2) {
        p.slope = only ? w->slope : &one;
        p.offset = only ? &calibrated : &w->decision;
    } else if (only) {
        p.slope = w->slope;
        p.offset = w->offset;
    }
    if (vxs_task_has_pairs(t))
        return measure_pairs(w, &p, metrics, err);
    return vxs_measure(&p, metrics, err);
}

static bool is_metric(const char *choose_by)
{
    return choose_by && strcmp(choose_by, "loss") != 0;
}

static bool is_measure(const char *choose_by)
{
    return choose_by && strcmp(choose_by, VXS_BY_MEASURE) == 0;
}

/* What a try is chosen by, the least; and its variance over inner folds. */
static vxs_status judge_try(vxs_fold_work *w, size_t number, double *mean, double *variance,
                            vxs_error *err)
{
    double square = 0, jobs = (double)w->inner_count;
    *mean = *variance = 0;
    if (is_measure(w->cv->settings.choose_by)) {
        take_inner_scores(w, number);
        return vxs_measure_try(w, mean, err);
    }
    for (size_t g = 0; g < w->inner_count && !w->chosen_by; g++) {
        double loss = vxs_inner_loss(w, &w->inner[g], number);
        *mean += loss / jobs;
        square += loss * loss;
    }
    if (!w->chosen_by) {
        *variance = jobs > 1 ? (square - jobs * *mean * *mean) / (jobs - 1) : 0;
        return VXS_OK;
    }
    vxs_metrics metrics;
    take_inner_scores(w, number);
    vxs_status status = decide(w, err);
    if (!status)
        status = measure_inner(w, w->chosen_by, &metrics, err);
    if (status)
        return status;
    double value = *vxs_metric(&metrics, w->chosen_by);
    *mean = isnan(value) ? INFINITY : w->chosen_by->is_error ? value : 1 - value;
    return VXS_OK;
}

/* The simplest try with the least mean loss; or, with 1se, that is not a standard error worse. */
static vxs_status choose_try(vxs_fold_work *w, vxs_error *err)
{
    double *means = w->cv->losses + w->number * w->cv->tuning.count;
    double *sizes = w->cv->sizes + w->number * w->cv->tuning.count;
    double limit = INFINITY, jobs = (double)w->inner_count;
    bool one_error = w->cv->settings.select == VXS_SELECT_1SE;
    w->chosen = 0;
    for (size_t k = 0; k < w->cv->tuning.count; k++) {
        double variance;
        if (k >= w->inner[0].end) { /* where all paths of the fold ended */
            means[k] = sizes[k] = NAN;
            continue;
        }
        vxs_status status = calibrate_try(w, k, err);
        if (!status)
            status = judge_try(w, k, &means[k], &variance, err);
        if (status)
            return status;
        for (size_t g = 0; g < w->inner_count; g++)
            sizes[k] += w->inner[g].sizes[k] / jobs;
        if (k == 0 || means[k] < means[w->chosen]) {
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

const char *vxs_choice_words(const char *choose_by, char text[VXS_METRIC_TEXT])
{
    const vxs_metric_row *row = is_metric(choose_by) ? vxs_metric_named(choose_by) : NULL;
    if (is_measure(choose_by))
        return "best value of the measure";
    if (!row)
        return NULL;
    snprintf(text, VXS_METRIC_TEXT, "%s %s", row->is_error ? "least" : "largest", row->words);
    return text;
}

bool vxs_chooses_by_loss(const vxs_cv_settings *s)
{
    return !is_metric(s->choose_by);
}

vxs_status vxs_choosing_check(const vxs_cv *cv, vxs_error *err)
{
    const vxs_cv_settings *s = &cv->settings;
    const vxs_metric_row *row;
    const char *option = s->inner_option ? s->inner_option : "inner-folds";
    size_t classes = cv->task->class_count;
    vxs_status status = vxs_decision_check(s->decision, classes, s->inner_folds != 0, option, err);
    if (status || !is_metric(s->choose_by))
        return status;
    if (s->inner_folds == 0)
        return vxs_fail(err, VXS_MISUSE, "'--choose-by %s' is for inner folds, which '--%s' sets",
                        s->choose_by, option);
    if (s->select == VXS_SELECT_1SE)
        return vxs_fail(err, VXS_MISUSE,
                        "'--choose-rule 1se' goes with the loss: '--choose-by %s' has no standard "
                        "error over inner folds",
                        s->choose_by);
    if (is_measure(s->choose_by))
        return vxs_measure_try_check(cv, err);
    return vxs_metric_aim(s->choose_by, "choose-by", classes, &row, err);
}

vxs_status vxs_choose(vxs_fold_work *w, vxs_error *err)
{
    size_t outputs = vxs_task_outputs(w->cv->task);
    vxs_status status = VXS_OK;
    const char *by = w->cv->settings.choose_by;
    if (w->inner_count > 0 && is_metric(by) && !is_measure(by))
        status = vxs_metric_aim(w->cv->settings.choose_by, "choose-by", w->cv->task->class_count,
                                &w->chosen_by, err);
    if (w->inner_count > 0 && !status) {
        status = choose_try(w, err);
        take_inner_scores(w, w->chosen);
    }
    for (size_t o = 0; o < outputs && !status; o++)
        if (w->cv->task->class_count > 0 && w->inner_count > 0)
            status = calibrate(w, o, err);
    if (w->inner_count > 0 && !status)
        status = decide(w, err);
    if (w->inner_count > 0 && !status)
        status = measure_inner(w, NULL, &w->cv->each[w->number].inner, err);
    w->cv->each[w->number].threshold = w->decision;
    w->cv->each[w->number].value = w->cv->tuning.values[w->chosen];
    w->cv->each[w->number].across = w->cv->tuning.across ? w->cv->tuning.across[w->chosen] : 0;
    return status;
}
