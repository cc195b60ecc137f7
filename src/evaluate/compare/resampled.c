/* resampled.c - Student's t of two models' differences over folds, corrected for training sets that
 * overlap (Nadeau and Bengio 2003).
 *
 * J folds of all repeats have differences d of mean m and variance s2 (divisor J - 1). Were folds
 * independent, m would have the variance s2 / J; their training sets share most subjects, and the
 * variance is estimated as (1 / J + n_test / n_train) s2. The source has splits of one size; of
 * folds that differ the mean ratio is taken. t = m / sqrt of it has J - 1 degrees of freedom. It is
 * the one test here that includes what another training sample would change. */
#include "evaluate/compare/compare.h"

#include <math.h>
#include <stdlib.h>

/* The metrics of one fold: the others' truth is not known. */
static vxs_status measure_fold(const vxs_compared *c, const vxs_compared_model *m, size_t repeat,
                               size_t fold, double *truth, vxs_metrics *metrics, vxs_error *err)
{
    vxs_evaluated e = vxs_compared_evaluated(c, NULL);
    const vxs_predictor of = { m->scores, NULL, m->probabilities };
    vxs_predictions p = vxs_predictions_in(&e, &of, repeat);
    for (size_t i = 0; i < c->n; i++)
        truth[i] = p.fold[i] == fold ? c->truth[i] : NAN;
    p.truth = truth;
    p.fold = NULL;
    return vxs_measure(&p, metrics, err);
}

static vxs_status measure_folds(const vxs_compared *c, vxs_compared_model *m, vxs_error *err)
{
    size_t folds = c->folds.count;
    double *truth = vxs_alloc(c->n, sizeof(*truth), err);
    m->each_fold = vxs_alloc(c->folds.repeats, folds * sizeof(*m->each_fold), err);
    vxs_status status = truth && m->each_fold ? VXS_OK : VXS_FAILED;
    for (size_t k = 0; k < c->folds.repeats * folds && !status; k++)
        status = measure_fold(c, m, k / folds, k % folds, truth, &m->each_fold[k], err);
    free(truth);
    return status;
}

/* A variance that is rounding is none. */
#define ROUND_OFF 1e-12

static void test(const vxs_compared *c, const vxs_compared_pair *pair, const vxs_metric_row *row,
                 vxs_compared_difference *d)
{
    const vxs_metrics *a = c->models[pair->first].each_fold, *b = c->models[pair->second].each_fold;
    double sum = 0, square = 0, size = 0;
    for (int turn = 0; turn < 2; turn++) {
        double mean = d->folds > 0 ? sum / (double)d->folds : 0;
        for (size_t k = 0; k < c->folds.repeats * c->folds.count; k++) {
            double left = *vxs_metric((vxs_metrics *)&a[k], row),
                   right = *vxs_metric((vxs_metrics *)&b[k], row);
            if (isnan(left - right))
                continue;
            size = fmax(size, fmax(fabs(left), fabs(right)));
            sum += turn ? 0 : left - right;
            d->folds += !turn;
            square += turn ? (left - right - mean) * (left - right - mean) : 0;
        }
    }
    double count = (double)d->folds, spread = sqrt(square / (count - 1));
    d->mean = count > 0 ? sum / count : NAN;
    if (d->folds < 2)
        d->resampled.undefined = "fewer than two folds have this metric";
    else if (!(spread > ROUND_OFF * size))
        d->resampled.undefined = "the difference is the same in all folds";
    if (d->resampled.undefined)
        return;
    double error = sqrt(1 / count + c->test_size) * spread;
    double reach = vxs_student_quantile(VXS_COMPARE_LEVEL, count - 1) * error;
    d->t = d->mean / error;
    d->mean_low = d->mean - reach;
    d->mean_high = d->mean + reach;
    d->resampled.p = vxs_student_p(d->t, count - 1);
}

vxs_status vxs_compared_resample(vxs_compared *c, vxs_error *err)
{
    vxs_status status = VXS_OK;
    for (size_t k = 0; k < c->model_count && !status; k++)
        status = measure_folds(c, &c->models[k], err);
    for (size_t k = 0; k < c->pair_count * c->metric_count && !status; k++) {
        const vxs_compared_pair *pair = &c->pairs[k / c->metric_count];
        const vxs_metric_row *row = c->metrics[k % c->metric_count];
        vxs_compared_difference *d = &pair->each[k % c->metric_count];
        d->mean = d->mean_low = d->mean_high = d->t = d->resampled.p = NAN;
        if (row->no_mean)
            d->resampled.undefined = "the metric is a ratio that is unstable in single folds";
        else
            test(c, pair, row, d);
    }
    return status;
}
