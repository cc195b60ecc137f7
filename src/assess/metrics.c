/* metrics.c - predictions beside what they should be. */
#include "assess/model.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

static double sigmoid(double score)
{
    return score > 0 ? 1 / (1 + exp(-score)) : exp(score) / (1 + exp(score));
}

/* Of more than two classes, each one's own probability as a share of their sum. */
double vxs_model_probability(const vxs_model *m, const double *scores, size_t n, size_t i, size_t k)
{
    double sum = 0;
    if (m->class_count == 2)
        return sigmoid(k == 1 ? scores[i] : -scores[i]);
    for (size_t c = 0; c < m->class_count; c++)
        sum += sigmoid(scores[c * n + i]);
    return sigmoid(scores[k * n + i]) / sum;
}

size_t vxs_model_class(const vxs_model *m, const double *scores, size_t n, size_t i)
{
    size_t best = 0;
    if (m->class_count == 2)
        return scores[i] > 0;
    for (size_t c = 1; c < m->class_count; c++)
        if (scores[c * n + i] > scores[best * n + i])
            best = c;
    return best;
}

static void compare_scores(const double *truth, const double *scores, size_t n, vxs_metrics *m)
{
    double st = 0, ss = 0, tt = 0, pp = 0, tp = 0, size = 0, square = 0;
    for (size_t i = 0; i < n; i++) {
        if (isnan(truth[i]) || isnan(scores[i]))
            continue;
        st += truth[i];
        ss += scores[i];
        m->count++;
    }
    double count = (double)m->count;
    for (size_t i = 0; i < n; i++) {
        if (isnan(truth[i]) || isnan(scores[i]))
            continue;
        double t = truth[i] - st / count, p = scores[i] - ss / count, d = truth[i] - scores[i];
        tt += t * t;
        pp += p * p;
        tp += t * p;
        size += fabs(d);
        square += d * d;
    }
    m->r = tt > 0 && pp > 0 ? tp / sqrt(tt * pp) : NAN;
    m->mae = m->count > 0 ? size / count : NAN;
    m->rmse = m->count > 0 ? sqrt(square / count) : NAN;
}

/* Of all pairs of one of either class, how many are in the right order; ties count half. */
static double area(const double *truth, const double *scores, size_t n)
{
    double right = 0, pairs = 0;
    for (size_t i = 0; i < n; i++)
        for (size_t j = 0; j < n; j++)
            if (truth[i] == 1 && truth[j] == 0 && !isnan(scores[i]) && !isnan(scores[j])) {
                right += scores[i] > scores[j] ? 1 : scores[i] == scores[j] ? 0.5 : 0;
                pairs++;
            }
    return pairs > 0 ? right / pairs : NAN;
}

static void compare_classes(const vxs_model *model, const double *truth, const double *scores,
                            size_t n, vxs_metrics *m)
{
    double hits = 0, share = 0;
    size_t seen = 0;
    for (size_t c = 0; c < model->class_count; c++) {
        double of_class = 0, right = 0;
        for (size_t i = 0; i < n; i++) {
            if (truth[i] != (double)c || isnan(scores[i]))
                continue;
            of_class++;
            right += vxs_model_class(model, scores, n, i) == c;
        }
        m->count += (size_t)of_class;
        hits += right;
        seen += of_class > 0;
        share += of_class > 0 ? right / of_class : 0;
    }
    m->accuracy = m->count > 0 ? hits / (double)m->count : NAN;
    m->balanced_accuracy = seen > 0 ? share / (double)seen : NAN;
    if (model->class_count == 2)
        m->auc = area(truth, scores, n);
}

/* The target of every subject, or the number of its class; NAN when it has none that is known. */
static vxs_status read_truth(const vxs_model *m, const vxs_cohort *c, size_t column, double *truth,
                             vxs_error *err)
{
    vxs_status status = VXS_OK;
    for (size_t i = 0; i < c->n && !status; i++) {
        const char *cell = vxs_table_cell(c->people, i, column);
        truth[i] = NAN;
        if (m->class_count == 0)
            status = vxs_table_real(c->people, i, column, &truth[i], err);
        for (size_t k = 0; k < m->class_count && cell; k++)
            if (strcmp(cell, m->classes[k]) == 0)
                truth[i] = (double)k;
    }
    return status;
}

vxs_status vxs_model_compare(const vxs_model *m, const vxs_cohort *c, const double *scores,
                             vxs_metrics *metrics, vxs_error *err)
{
    size_t column = 0;
    *metrics = (vxs_metrics){ 0, NAN, NAN, NAN, NAN, NAN, NAN };
    if (vxs_table_find(c->people, m->task.target, &column, NULL))
        return VXS_OK;
    double *truth = vxs_alloc(c->n, sizeof(*truth), err);
    vxs_status status = truth ? read_truth(m, c, column, truth, err) : VXS_FAILED;
    if (!status && m->class_count > 0)
        compare_classes(m, truth, scores, c->n, metrics);
    else if (!status)
        compare_scores(truth, scores, c->n, metrics);
    free(truth);
    return status;
}
