/* metrics.c - metrics of predictions: scores, classes, probabilities; the confusion matrix. */
#include "evaluate/ranking.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#define AT(member) offsetof(vxs_metrics, member)
#define ROUND_OFF  1e-12 /* of scores, relative to their size */

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

bool vxs_is_measured(const vxs_predictions *p, size_t i)
{
    return !isnan(p->truth[i]) && !isnan(p->scores[i]);
}

size_t vxs_fold_of(const vxs_predictions *p, size_t i)
{
    return p->fold ? p->fold[i] : 0;
}

/* ---- Scores ---------------------------------------------------------------------------------- */

/* Of one fold: how many subjects, and sums of truth and of compared scores. */
typedef struct {
    double count, truth, score;
} fold_sum;

static void sum_folds(const vxs_predictions *p, const double *scores, fold_sum *folds)
{
    for (size_t i = 0; i < p->n; i++)
        if (vxs_is_measured(p, i)) {
            fold_sum *f = &folds[vxs_fold_of(p, i)];
            f->count++;
            f->truth += p->truth[i];
            f->score += scores[i];
        }
}

/* Deviations are from the means of a fold, so that a subject is compared with those of its fold
 * alone. Predictions that are all the same in each fold are worth as much as chance: r is 0. */
static void correlate(const vxs_predictions *p, const fold_sum *folds, vxs_metrics *m)
{
    const double *scores = p->aligned ? p->aligned : p->scores;
    double tt = 0, pp = 0, tp = 0, size = 0, truth = 0;
    for (size_t i = 0; i < p->n; i++) {
        if (!vxs_is_measured(p, i))
            continue;
        const fold_sum *f = &folds[vxs_fold_of(p, i)];
        double t = p->truth[i] - f->truth / f->count, s = scores[i] - f->score / f->count;
        tt += t * t;
        pp += s * s;
        tp += t * s;
        size += scores[i] * scores[i];
        truth += p->truth[i] * p->truth[i];
    }
    if (tt > ROUND_OFF * ROUND_OFF * truth) /* the mean of equal numbers may not be that number */
        m->r = pp > ROUND_OFF * ROUND_OFF * size ? tp / sqrt(tt * pp) : 0;
}

static vxs_status measure_scores(const vxs_predictions *p, vxs_metrics *m, vxs_error *err)
{
    double size = 0, square = 0, tt = 0, truth = 0, mean = 0, count = (double)m->count;
    fold_sum *folds = vxs_alloc(p->fold ? p->fold_count : 1, sizeof(*folds), err);
    if (!folds)
        return VXS_FAILED;
    for (size_t i = 0; i < p->n; i++)
        mean += vxs_is_measured(p, i) ? p->truth[i] / count : 0;
    for (size_t i = 0; i < p->n; i++) {
        if (!vxs_is_measured(p, i))
            continue;
        double d = p->truth[i] - p->scores[i];
        tt += (p->truth[i] - mean) * (p->truth[i] - mean);
        truth += p->truth[i] * p->truth[i];
        size += fabs(d);
        square += d * d;
    }
    m->mae = size / count;
    m->rmse = sqrt(square / count);
    if (tt > ROUND_OFF * ROUND_OFF * truth)
        m->r2 = 1 - square / tt;
    sum_folds(p, p->aligned ? p->aligned : p->scores, folds);
    correlate(p, folds, m);
    free(folds);
    return VXS_OK;
}

/* ---- Classes --------------------------------------------------------------------------------- */

/* By aligned scores, if there are any. */
static void rank_class(const vxs_predictions *p, size_t class, vxs_ranked *list, vxs_ranking *r)
{
    const double *scores = p->aligned ? p->aligned : p->scores;
    vxs_rank(p, class, scores + (p->class_count == 2 ? 0 : class * p->n), list, r);
}

static void measure_ranking(const vxs_predictions *p, vxs_ranked *list, vxs_metrics *m)
{
    double sum = 0, seen = 0;
    vxs_ranking r;
    if (p->class_count == 2) {
        rank_class(p, 1, list, &r);
        m->auc = r.auc;
        m->average_precision = r.average_precision;
        m->breakeven = r.breakeven;
        return;
    }
    for (size_t c = 0; c < p->class_count; c++) {
        rank_class(p, c, list, &r);
        sum += isnan(r.auc) ? 0 : r.auc;
        seen += !isnan(r.auc);
    }
    m->auc = seen > 0 ? sum / seen : NAN;
}

/* Of a class in a fold: how many are of it, of these found, and how many subjects. */
typedef struct {
    double are, found, count;
} fold_tally;

typedef struct {
    double hits, are, said; /* both, truly, as predicted */
    double recall;          /* share found: folds weigh as many pairs as they have, of one of the
                               class and one of the others */
    bool paired;
} tally;

static tally count_class(const vxs_predictions *p, size_t class, fold_tally *folds)
{
    size_t fold_count = p->fold ? p->fold_count : 1;
    double pairs = 0, found = 0, all = 0;
    tally t = { 0, 0, 0, NAN, false };
    vxs_predictions compared = *p;
    compared.scores = p->aligned ? p->aligned : p->scores;
    memset(folds, 0, fold_count * sizeof(*folds));
    for (size_t i = 0; i < p->n; i++) {
        if (!vxs_is_measured(p, i))
            continue;
        bool is = p->truth[i] == (double)class, says = vxs_predicted_class(p, i) == class;
        fold_tally *f = &folds[vxs_fold_of(p, i)];
        t.hits += is && says;
        t.are += is;
        t.said += says;
        f->count++;
        f->are += is;
        f->found += is && vxs_predicted_class(&compared, i) == class;
    }
    for (size_t f = 0; f < fold_count; f++) {
        pairs += folds[f].are * (folds[f].count - folds[f].are);
        found += folds[f].found * (folds[f].count - folds[f].are);
        all += folds[f].found;
    }
    t.paired = pairs > 0;
    t.recall = t.paired ? found / pairs : t.are > 0 ? all / t.are : NAN;
    return t;
}

/* The correlation of said and true; where one of them is the same for all, what chance is worth. */
static double matthews(const tally *t, double n)
{
    double spread = t->are * (n - t->are) * t->said * (n - t->said);
    if (!(t->are > 0 && t->are < n))
        return NAN;
    return spread > 0 ? (n * t->hits - t->are * t->said) / sqrt(spread) : 0;
}

/* Of two classes, what one of them alone says. */
static void measure_side(const tally *t, bool positive, vxs_metrics *m)
{
    double share = t->said > 0 ? t->hits / t->said : NAN;
    if (!positive) {
        m->specificity = t->recall;
        m->npv = share;
        return;
    }
    m->sensitivity = t->recall;
    m->ppv = share;
    if (t->are > 0)
        m->f1 = 2 * t->hits / (t->are + t->said);
    if (t->are > 0)
        m->f2 = 5 * t->hits / (4 * t->are + t->said);
    m->mcc = matthews(t, (double)m->count);
}

/* The balanced accuracy is that of subjects of one class beside those of others. */
static void measure_hits(const vxs_predictions *p, fold_tally *folds, vxs_metrics *m)
{
    double hits = 0, share = 0, f1 = 0, seen = 0, paired = 0;
    for (size_t c = 0; c < p->class_count; c++) {
        tally t = count_class(p, c, folds);
        double both = t.are + t.said > 0 ? 2 * t.hits / (t.are + t.said) : 0;
        hits += t.hits;
        seen += t.are > 0;
        paired += t.paired;
        share += t.paired ? t.recall : 0;
        f1 += t.are > 0 ? both : 0;
        if (p->class_count == 2)
            measure_side(&t, c == 1, m);
    }
    m->accuracy = hits / (double)m->count;
    m->balanced_accuracy = paired > 0 ? share / paired : NAN;
    if (p->class_count > 2)
        m->f1 = f1 / seen;
}

/* ---- Probabilities --------------------------------------------------------------------------- */

static void measure_brier(const vxs_predictions *p, vxs_metrics *m)
{
    double sum = 0;
    for (size_t i = 0; i < p->n; i++)
        for (size_t c = p->class_count == 2; c < p->class_count && vxs_is_measured(p, i); c++) {
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
        if (!vxs_is_measured(p, i))
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

/* Of two classes. Probabilities that are all the same have slope 0; where the probabilities
 * separate the classes there is none. */
static void measure_calibration(const vxs_predictions *p, vxs_metrics *m)
{
    double a = 0, b = 0;
    if (p->class_count != 2 || p->uncalibrated || isnan(m->auc))
        return;
    for (int step = 0; step < 30; step++) {
        double before[2] = { a, b };
        if (!newton_step(p, &a, &b)) {
            m->calibration_slope = step == 0 ? 0 : NAN;
            return;
        }
        if (fabs(a - before[0]) + fabs(b - before[1]) <= ROUND_OFF * (1 + fabs(a) + fabs(b)))
            break;
    }
    m->calibration_slope = fabs(b) < 1e3 ? b : NAN;
}

/* ---- Each class ------------------------------------------------------------------------------ */

size_t vxs_class_scores_size(size_t classes)
{
    return classes * (classes + 4);
}

vxs_status vxs_class_scores_new(size_t classes, vxs_class_scores *s, vxs_error *err)
{
    double *room = vxs_alloc(vxs_class_scores_size(classes), sizeof(*room), err);
    *s = (vxs_class_scores){ .count = 0 };
    if (!room)
        return VXS_FAILED;
    double *each = room + classes * classes;
    *s = (vxs_class_scores){ .count = classes,
                             .confusion = room,
                             .n = each,
                             .sensitivity = each + classes,
                             .ppv = each + 2 * classes,
                             .auc = each + 3 * classes };
    return VXS_OK;
}

void vxs_class_scores_release(vxs_class_scores *s)
{
    free(s->confusion);
    *s = (vxs_class_scores){ .count = 0 };
}

static void add_confusion(const vxs_predictions *p, double share, double *confusion)
{
    for (size_t i = 0; i < p->n; i++)
        if (vxs_is_measured(p, i))
            confusion[(size_t)p->truth[i] * p->class_count + vxs_predicted_class(p, i)] += share;
}

/* Where there are two classes one score orders both. */
static double area_of_class(const vxs_predictions *p, size_t class, vxs_ranked *list)
{
    vxs_ranking r;
    rank_class(p, p->class_count == 2 ? 1 : class, list, &r);
    return r.auc;
}

vxs_status vxs_measure_classes(const vxs_predictions *p, double share, vxs_class_scores *s,
                               vxs_error *err)
{
    vxs_ranked *list = vxs_alloc(p->n, sizeof(*list), err);
    fold_tally *folds = vxs_alloc(p->fold ? p->fold_count : 1, sizeof(*folds), err);
    if (list && folds)
        add_confusion(p, share, s->confusion);
    for (size_t c = 0; c < s->count && list && folds; c++) {
        tally t = count_class(p, c, folds);
        s->n[c] += share * t.are;
        s->sensitivity[c] += share * t.recall;
        s->ppv[c] += share * (t.said > 0 ? t.hits / t.said : NAN);
        s->auc[c] += share * area_of_class(p, c, list);
    }
    bool fine = list && folds;
    free(list);
    free(folds);
    return fine ? VXS_OK : VXS_FAILED;
}

void vxs_class_scores_json(vxs_json_writer *w, char *const *classes, const vxs_class_scores *s)
{
    if (s->count == 0)
        return;
    vxs_json_open_object(w, "confusion"); /* true class: { predicted class: subjects } */
    for (size_t r = 0; r < s->count; r++) {
        vxs_json_open_object(w, classes[r]);
        for (size_t c = 0; c < s->count; c++)
            vxs_json_real(w, classes[c], s->confusion[r * s->count + c]);
        vxs_json_close_object(w);
    }
    vxs_json_close_object(w);
    vxs_json_open_object(w, "each_class");
    for (size_t c = 0; c < s->count; c++) {
        vxs_json_open_object(w, classes[c]);
        vxs_json_real(w, "subjects", s->n[c]);
        vxs_json_real(w, "sensitivity", s->sensitivity[c]);
        vxs_json_real(w, "ppv", s->ppv[c]);
        vxs_json_real(w, "auc", s->auc[c]);
        vxs_json_close_object(w);
    }
    vxs_json_close_object(w);
}

/* ---- The whole ------------------------------------------------------------------------------- */

static bool computes(const vxs_predictions *p, size_t metric)
{
    return !p->only || p->only->offset == metric;
}

static bool computes_any(const vxs_predictions *p, const size_t *metrics, size_t count)
{
    for (size_t k = 0; k < count; k++)
        if (computes(p, metrics[k]))
            return true;
    return false;
}

#define COMPUTES(p, list) computes_any(p, list, sizeof(list) / sizeof(*(list)))

static const size_t from_hits[] = { AT(balanced_accuracy),
                                    AT(accuracy),
                                    AT(sensitivity),
                                    AT(specificity),
                                    AT(f1),
                                    AT(f2),
                                    AT(ppv),
                                    AT(npv),
                                    AT(mcc) };
static const size_t from_ranking[] = { AT(auc), AT(average_precision), AT(breakeven),
                                       AT(calibration_slope) };

vxs_status vxs_measure(const vxs_predictions *p, vxs_metrics *m, vxs_error *err)
{
    *m = (vxs_metrics){ .count = 0 };
    for (const vxs_metric_row *row = vxs_metric_rows; row->name; row++)
        *vxs_metric(m, row) = NAN;
    for (size_t i = 0; i < p->n; i++)
        m->count += vxs_is_measured(p, i);
    if (m->count == 0)
        return VXS_OK;
    if (p->class_count == 0)
        return measure_scores(p, m, err);
    vxs_ranked *list = vxs_alloc(p->n, sizeof(*list), err);
    fold_tally *folds = vxs_alloc(p->fold ? p->fold_count : 1, sizeof(*folds), err);
    vxs_status status = list && folds ? VXS_OK : VXS_FAILED;
    if (!status && COMPUTES(p, from_hits))
        measure_hits(p, folds, m);
    if (!status && COMPUTES(p, from_ranking))
        measure_ranking(p, list, m);
    if (!status && computes(p, AT(brier)))
        measure_brier(p, m);
    if (!status && computes(p, AT(calibration_slope)))
        measure_calibration(p, m);
    if (!status && p->fold && p->class_count > 2 && computes(p, AT(balanced_accuracy)))
        status = vxs_balance_over_folds(p, &m->balanced_accuracy, err);
    free(list);
    free(folds);
    return status;
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
            if (vxs_is_class(cell, m->classes[k]))
                truth[i] = (double)k;
    }
    return status;
}

bool vxs_model_knows_class(const vxs_model *m, const char *cell)
{
    size_t k = 0;
    while (k < m->class_count && !vxs_is_class(cell, m->classes[k]))
        k++;
    return k < m->class_count;
}

vxs_status vxs_model_compare(const vxs_model *m, const vxs_cohort *c, const double *scores,
                             const double *probabilities, const vxs_trained *trained,
                             vxs_metrics *metrics, vxs_class_scores *classes, vxs_error *err)
{
    size_t column = 0;
    vxs_predictions p = { .n = c->n,
                          .class_count = m->class_count,
                          .scores = scores,
                          .probabilities = probabilities,
                          .slope = m->selection.slope,
                          .offset = m->selection.offset };
    *metrics = (vxs_metrics){ .count = 0 };
    *classes = (vxs_class_scores){ .count = 0 };
    if (vxs_table_find(c->people, m->task.target, &column, NULL))
        return VXS_OK;
    double *truth = vxs_alloc(c->n, sizeof(*truth), err);
    vxs_status status = truth ? read_truth(m, c, column, truth, err) : VXS_FAILED;
    for (size_t i = 0; i < c->n && trained && !status; i++)
        if (trained[i] != VXS_NOT_TRAINED_ON)
            truth[i] = NAN;
    p.truth = truth;
    if (!status)
        status = vxs_measure(&p, metrics, err);
    if (!status && m->class_count > 0 && metrics->count > 0)
        status = vxs_class_scores_new(m->class_count, classes, err);
    if (!status && classes->count > 0)
        status = vxs_measure_classes(&p, 1, classes, err);
    free(truth);
    return status;
}
