/* metrics.c - predictions beside what they should be. */
#include "assess/model.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#define AT(member) offsetof(vxs_metrics, member)

const vxs_metric_row vxs_metric_rows[] = {
    { "r", AT(r), false, "correlation of predictions with the truth" },
    { "r2", AT(r2), false, "1 - squared error / squared error of the truth's own mean" },
    { "mae", AT(mae), false, "mean absolute error" },
    { "rmse", AT(rmse), false, "root of the mean squared error" },
    { "balanced_accuracy", AT(balanced_accuracy), true, "mean of the classes' shares of hits" },
    { "accuracy", AT(accuracy), true, "share of hits" },
    { "auc", AT(auc), true,
      "area under the ROC curve; of more classes the mean, each against the rest" },
    { "sensitivity", AT(sensitivity), true, "share of hits in the second of two classes" },
    { "specificity", AT(specificity), true, "share of hits in the first of two classes" },
    { "f1", AT(f1), true, "of the second of two classes; of more classes the mean" },
    { "brier", AT(brier), true, "mean squared error of the probabilities" },
    { "calibration_slope", AT(calibration_slope), true,
      "1 when probabilities are neither too bold nor too timid; 0 when they say nothing" },
    { NULL, 0, false, NULL },
};

double *vxs_metric(vxs_metrics *m, const vxs_metric_row *row)
{
    return (double *)(void *)((char *)m + row->offset);
}

double vxs_sigmoid(double score)
{
    return score > 0 ? 1 / (1 + exp(-score)) : exp(score) / (1 + exp(score));
}

static double logit(const vxs_predictions *p, size_t output, size_t i)
{
    double score = p->scores[output * p->n + i];
    return p->slope ? p->offset[output] + p->slope[output] * score : score;
}

double vxs_predicted_probability(const vxs_predictions *p, size_t i, size_t k)
{
    double sum = 0;
    if (p->probabilities)
        return p->probabilities[k * p->n + i];
    if (p->class_count == 2)
        return vxs_sigmoid(k == 1 ? logit(p, 0, i) : -logit(p, 0, i));
    for (size_t c = 0; c < p->class_count; c++)
        sum += vxs_sigmoid(logit(p, c, i));
    return sum > 0 ? vxs_sigmoid(logit(p, k, i)) / sum : 1 / (double)p->class_count;
}

size_t vxs_predicted_class(const vxs_predictions *p, size_t i)
{
    size_t best = 0;
    if (p->class_count == 2)
        return p->scores[i] > 0;
    for (size_t c = 1; c < p->class_count; c++)
        if (p->scores[c * p->n + i] > p->scores[best * p->n + i])
            best = c;
    return best;
}

/* Whether subject i counts. */
static bool is_known(const vxs_predictions *p, size_t i)
{
    return !isnan(p->truth[i]) && !isnan(p->scores[i]);
}

/* ---- Scores ---------------------------------------------------------------------------------- */

/* Predictions that are all the same are worth as much as chance: r is 0. */
static void measure_scores(const vxs_predictions *p, vxs_metrics *m)
{
    double st = 0, ss = 0, tt = 0, pp = 0, tp = 0, size = 0, square = 0, count = (double)m->count;
    for (size_t i = 0; i < p->n; i++) {
        st += is_known(p, i) ? p->truth[i] : 0;
        ss += is_known(p, i) ? p->scores[i] : 0;
    }
    for (size_t i = 0; i < p->n; i++) {
        if (!is_known(p, i))
            continue;
        double t = p->truth[i] - st / count, s = p->scores[i] - ss / count;
        double d = p->truth[i] - p->scores[i];
        tt += t * t;
        pp += s * s;
        tp += t * s;
        size += fabs(d);
        square += d * d;
    }
    if (m->count == 0)
        return;
    bool varies = pp > 1e-24 * (ss / count) * (ss / count) * count;
    m->mae = size / count;
    m->rmse = sqrt(square / count);
    if (tt > 0) {
        m->r = pp > 0 && varies ? tp / sqrt(tt * pp) : 0;
        m->r2 = 1 - square / tt;
    }
}

/* ---- Classes --------------------------------------------------------------------------------- */

typedef struct {
    double score;
    bool positive;
} ranked;

static int by_score(const void *a, const void *b)
{
    double left = ((const ranked *)a)->score, right = ((const ranked *)b)->score;
    return (left > right) - (left < right);
}

/* Of all pairs of one of either side, the share in the right order; ties count half. */
static double area(ranked *list, size_t count)
{
    double below = 0, right = 0, positives = 0;
    qsort(list, count, sizeof(*list), by_score);
    for (size_t first = 0, last; first < count; first = last) {
        double up = 0, down = 0;
        for (last = first; last < count && list[last].score == list[first].score; last++) {
            up += list[last].positive;
            down += !list[last].positive;
        }
        right += up * (below + down / 2);
        below += down;
        positives += up;
    }
    return positives > 0 && below > 0 ? right / positives / below : NAN;
}

static double area_of(const vxs_predictions *p, size_t class, const double *scores, ranked *list)
{
    size_t count = 0;
    for (size_t i = 0; i < p->n; i++)
        if (is_known(p, i))
            list[count++] = (ranked){ scores[i], p->truth[i] == (double)class };
    return area(list, count);
}

static void measure_area(const vxs_predictions *p, ranked *list, vxs_metrics *m)
{
    double sum = 0, seen = 0;
    if (p->class_count == 2) {
        m->auc = area_of(p, 1, p->scores, list);
        return;
    }
    for (size_t c = 0; c < p->class_count; c++) {
        double one = area_of(p, c, p->scores + c * p->n, list);
        sum += isnan(one) ? 0 : one;
        seen += !isnan(one);
    }
    m->auc = seen > 0 ? sum / seen : NAN;
}

typedef struct {
    double hits, are, said; /* of a class: both, truly, as predicted */
} tally;

static tally count_class(const vxs_predictions *p, size_t class)
{
    tally t = { 0, 0, 0 };
    for (size_t i = 0; i < p->n; i++) {
        if (!is_known(p, i))
            continue;
        bool is = p->truth[i] == (double)class, says = vxs_predicted_class(p, i) == class;
        t.hits += is && says;
        t.are += is;
        t.said += says;
    }
    return t;
}

static void measure_hits(const vxs_predictions *p, vxs_metrics *m)
{
    double hits = 0, share = 0, f1 = 0, seen = 0;
    for (size_t c = 0; c < p->class_count; c++) {
        tally t = count_class(p, c);
        double recall = t.are > 0 ? t.hits / t.are : NAN;
        double both = t.are + t.said > 0 ? 2 * t.hits / (t.are + t.said) : 0;
        hits += t.hits;
        seen += t.are > 0;
        share += t.are > 0 ? recall : 0;
        f1 += t.are > 0 ? both : 0;
        if (p->class_count == 2 && c == 1) {
            m->sensitivity = recall;
            m->f1 = t.are > 0 ? both : NAN;
        } else if (p->class_count == 2) {
            m->specificity = recall;
        }
    }
    m->accuracy = hits / (double)m->count;
    m->balanced_accuracy = share / seen;
    if (p->class_count > 2)
        m->f1 = f1 / seen;
}

/* ---- Probabilities --------------------------------------------------------------------------- */

static void measure_brier(const vxs_predictions *p, vxs_metrics *m)
{
    double sum = 0;
    for (size_t i = 0; i < p->n; i++)
        for (size_t c = p->class_count == 2; c < p->class_count && is_known(p, i); c++) {
            double d = vxs_predicted_probability(p, i, c) - (p->truth[i] == (double)c);
            sum += d * d;
        }
    m->brier = sum / (double)m->count;
}

/* A step of Newton's method for the class given a + b logit; false when there is none. */
static bool newton_step(const vxs_predictions *p, double *a, double *b)
{
    double g0 = 0, g1 = 0, h00 = 0, h01 = 0, h11 = 0;
    for (size_t i = 0; i < p->n; i++) {
        if (!is_known(p, i))
            continue;
        double q = vxs_predicted_probability(p, i, 1);
        q = q < 1e-12 ? 1e-12 : q > 1 - 1e-12 ? 1 - 1e-12 : q;
        double x = log(q / (1 - q)), s = vxs_sigmoid(*a + *b * x), d = (p->truth[i] == 1) - s;
        double h = s * (1 - s);
        g0 += d;
        g1 += d * x;
        h00 += h;
        h01 += h * x;
        h11 += h * x * x;
    }
    double det = h00 * h11 - h01 * h01;
    if (!(det > 1e-10 * h00 * h11))
        return false;
    *a += (h11 * g0 - h01 * g1) / det;
    *b += (h00 * g1 - h01 * g0) / det;
    return true;
}

/* Of two classes. Probabilities that are all the same have slope 0; where the classes can be told
 * apart without a slip there is none. */
static void measure_calibration(const vxs_predictions *p, vxs_metrics *m)
{
    double a = 0, b = 0;
    if (p->class_count != 2 || isnan(m->auc))
        return;
    for (int step = 0; step < 30; step++)
        if (!newton_step(p, &a, &b)) {
            m->calibration_slope = step == 0 ? 0 : NAN;
            return;
        }
    m->calibration_slope = fabs(b) < 1e3 ? b : NAN;
}

/* ---- The whole ------------------------------------------------------------------------------- */

vxs_status vxs_measure(const vxs_predictions *p, vxs_metrics *m, vxs_error *err)
{
    *m = (vxs_metrics){ .count = 0 };
    for (const vxs_metric_row *row = vxs_metric_rows; row->name; row++)
        *vxs_metric(m, row) = NAN;
    for (size_t i = 0; i < p->n; i++)
        m->count += is_known(p, i);
    if (p->class_count == 0)
        measure_scores(p, m);
    if (p->class_count == 0 || m->count == 0)
        return VXS_OK;
    ranked *list = vxs_alloc(p->n, sizeof(*list), err);
    if (!list)
        return VXS_FAILED;
    measure_hits(p, m);
    measure_area(p, list, m);
    measure_brier(p, m);
    measure_calibration(p, m);
    free(list);
    return VXS_OK;
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
    vxs_predictions p = { .n = c->n,
                          .class_count = m->class_count,
                          .scores = scores,
                          .slope = m->selection.slope,
                          .offset = m->selection.offset };
    *metrics = (vxs_metrics){ .count = 0 };
    if (vxs_table_find(c->people, m->task.target, &column, NULL))
        return VXS_OK;
    double *truth = vxs_alloc(c->n, sizeof(*truth), err);
    vxs_status status = truth ? read_truth(m, c, column, truth, err) : VXS_FAILED;
    p.truth = truth;
    if (!status)
        status = vxs_measure(&p, metrics, err);
    free(truth);
    return status;
}
