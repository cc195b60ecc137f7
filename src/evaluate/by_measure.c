/* by_measure.c - the choice by inner folds of what method measure optimizes, by the measure itself.
 *
 * F1 and other functions of counts are of the held-out subjects of all inner folds at once: of few
 * positives the mean over folds is biased. top, breakeven and roc compare subjects, whose scores
 * are of one model within a fold: these are means over folds. */
#include "evaluate/cv.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

static bool is_by_measure(const vxs_cv *cv)
{
    return vxs_method_takes_loss(vxs_task_method(cv->task), &vxs_measure_loss);
}

void vxs_choosing_default(vxs_cv *cv)
{
    vxs_cv_settings *s = &cv->settings;
    const char *measure = cv->method.blocks.measure;
    if (!is_by_measure(cv) || s->inner_folds == 0)
        return;
    if (!s->choose_by && s->select != VXS_SELECT_1SE)
        s->choose_by = VXS_BY_MEASURE;
    if (!s->decision && measure && strcmp(measure, "roc") == 0 && cv->task->class_count == 2)
        s->decision = "balanced";
}

vxs_status vxs_measure_try_check(const vxs_cv *cv, vxs_error *err)
{
    return is_by_measure(cv)
               ? VXS_OK
               : vxs_fail(err, VXS_MISUSE,
                          "'--choose-by " VXS_BY_MEASURE "' goes with method 'measure', not '%s'",
                          vxs_task_method(cv->task)->name);
}

typedef struct {
    const vxs_fold_work *work;
    vxs_output_measure measure;
    double *y, *u, *z; /* of the subjects looked at */
    size_t count;
} judged;

/* Adds a subject's score of an output, if it has one. */
static void add(judged *j, size_t output, size_t i)
{
    const vxs_task *t = j->work->cv->task;
    double z = j->work->inner_scores[output * t->n + i];
    if (isnan(z))
        return;
    j->y[j->count] = vxs_output_truth(t, output, i);
    j->u[j->count] = vxs_task_weight(t, i);
    j->z[j->count++] = z;
}

/* NAN without subjects of both classes. */
static vxs_status measure(const judged *j, double *miss, vxs_error *err)
{
    const vxs_task *t = j->work->cv->task;
    const vxs_loss loss = { .kind = &vxs_measure_loss,
                            .n = j->count,
                            .y = j->y,
                            .u = t->weights && j->measure.kind->takes_weights ? j->u : NULL,
                            .measure = &j->measure };
    return vxs_measure_miss(&loss, j->z, miss, err);
}

static vxs_status measure_folds(judged *j, size_t output, double *miss, vxs_error *err)
{
    const vxs_fold_work *w = j->work;
    double sum = 0, folds = 0, one;
    vxs_status status = VXS_OK;
    for (size_t g = 0; g < w->inner_count && !status; g++) {
        j->count = 0;
        for (size_t k = 0; k < w->inner[g].test_count; k++)
            add(j, output, w->inner[g].test[k]);
        status = measure(j, &one, err);
        sum += isnan(one) ? 0 : one;
        folds += !isnan(one);
    }
    *miss = folds > 0 ? sum / folds : NAN;
    return status;
}

static vxs_status measure_output(judged *j, size_t output, double *miss, vxs_error *err)
{
    if (!j->measure.kind->has_threshold)
        return measure_folds(j, output, miss, err);
    j->count = 0;
    for (size_t i = 0; i < j->work->cv->task->n; i++)
        add(j, output, i);
    return measure(j, miss, err);
}

vxs_status vxs_measure_try(const vxs_fold_work *w, double *miss, vxs_error *err)
{
    size_t n = w->cv->task->n, outputs = vxs_task_outputs(w->cv->task);
    judged j = { .work = w };
    double sum = 0;
    vxs_status status = vxs_measure_read(w->cv->method.blocks.measure, &j.measure, err);
    j.y = status ? NULL : vxs_alloc(3 * n, sizeof(*j.y), err);
    if (!j.y)
        return status ? status : VXS_FAILED;
    j.u = j.y + n;
    j.z = j.u + n;
    for (size_t o = 0; o < outputs && !status; o++) {
        double one = NAN;
        status = measure_output(&j, o, &one, err);
        sum += one / (double)outputs;
    }
    *miss = isnan(sum) ? INFINITY : sum;
    free(j.y);
    return status;
}
