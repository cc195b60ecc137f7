/* measures.c - the table of measures, and what their costs are made of.
 *
 * Value     R(z) = max over outputs v of cost(v) + (v - r)'z: convex, at least 0, and at least the
 *           cost of the output that z itself gives (z > 0; the k largest)
 * Outputs   who is said to be positive, v in {0, 1}^n; of top exactly k; of roc sets of pairs that
 *           are said to be swapped
 * r         the truth; of top the mean of all best outputs: with the truth itself R would be no
 *           bound where k is not the number of positives
 * Scale     one mistake next to the truth costs about 1
 * Source    Mao, Tsang: Optimizing performance measures for feature selection, IEEE TPAMI 2013, for
 *           f1 and top at k = n+; the others and the reference of top are spec/measures.md's */
#include "loss/conjugate_domain.h"
#include "loss/worst_outputs.h"
#include "voxsift/internal/text.h"

#include <stdlib.h>
#include <string.h>

/* ---- The table ------------------------------------------------------------------------------- */

static double f_cost(const vxs_measured *m, double a, double b)
{
    double positives = (double)m->side[1];
    return m->unit * (1 - (1 + m->square) * a / (a + b + m->square * positives));
}

static double mean_cost(const vxs_measured *m, double a, double b)
{
    double positives = (double)m->side[1], negatives = (double)m->side[0];
    return m->unit * (1 - sqrt(a / positives * (1 - b / negatives)));
}

const vxs_measure_kind vxs_measure_kinds[] = {
    { .name = "error",
      .words = "the share of subjects whose class is predicted",
      .has_threshold = true,
      .takes_weights = true,
      .worst = vxs_worst_errors },
    { .name = "balanced",
      .words = "the mean of sensitivity and specificity",
      .has_threshold = true,
      .takes_weights = true,
      .worst = vxs_worst_errors },
    { .name = "f1",
      .words = "F1 of the positive class",
      .has_threshold = true,
      .by_counts = true,
      .cost = f_cost,
      .worst = vxs_worst_f },
    { .name = "fbeta",
      .words = "F beta of the positive class",
      .has_threshold = true,
      .by_counts = true,
      .cost = f_cost,
      .worst = vxs_worst_f },
    { .name = "gmean",
      .words = "the geometric mean of sensitivity and specificity",
      .has_threshold = true,
      .by_counts = true,
      .cost = mean_cost,
      .worst = vxs_worst_cell },
    { .name = "top", .words = "hits among the subjects that rank first", .worst = vxs_worst_top },
    { .name = "breakeven",
      .words = "precision where as many are called positive as are",
      .worst = vxs_worst_top },
    { .name = "roc",
      .words = "the area under the ROC curve",
      .takes_weights = true,
      .worst = vxs_worst_pairs },
    { .name = NULL },
};

const vxs_loss_kind vxs_measure_loss = { .name = "measure",
                                         .targets = "-1 or 1",
                                         .is_target = vxs_is_sign };

static bool is_named(const vxs_measure_kind *kind, const char *name)
{
    return strcmp(kind->name, name) == 0;
}

/* ---- Reading --------------------------------------------------------------------------------- */

/* "20", "10%" or "2p". */
static bool read_top(const char *text, vxs_output_measure *m)
{
    char number[32];
    size_t length = strlen(text);
    if (length == 0 || length >= sizeof(number))
        return false;
    char last = text[length - 1];
    m->unit = last == '%' ? VXS_TOP_SHARE : last == 'p' ? VXS_TOP_POSITIVES : VXS_TOP_NUMBER;
    memcpy(number, text, length + 1);
    if (m->unit != VXS_TOP_NUMBER)
        number[length - 1] = '\0';
    bool fine = vxs_parse_real(number, &m->number) && m->number > 0 && m->number <= 1e9;
    if (m->unit == VXS_TOP_NUMBER)
        return fine && m->number == floor(m->number);
    if (m->unit == VXS_TOP_SHARE)
        m->number /= 100;
    return fine && (m->unit == VXS_TOP_POSITIVES || m->number < 1);
}

static bool read_number(const vxs_measure_kind *kind, const char *text, vxs_output_measure *m)
{
    bool needs = is_named(kind, "fbeta") || is_named(kind, "top");
    m->number = 1;
    if (is_named(kind, "breakeven"))
        m->unit = VXS_TOP_POSITIVES;
    if (!needs || *text != ':')
        return needs == (*text == ':');
    if (is_named(kind, "top"))
        return read_top(text + 1, m);
    return vxs_parse_real(text + 1, &m->number) && m->number >= 0.01 && m->number <= 100;
}

vxs_status vxs_measure_read(const char *text, vxs_output_measure *m, vxs_error *err)
{
    vxs_status status = VXS_GIVEN(err, { "text", text }, { "measure", m });
    if (status)
        return status;
    size_t length = strcspn(text, ":");
    *m = (vxs_output_measure){ .kind = NULL };
    for (const vxs_measure_kind *k = vxs_measure_kinds; k->name; k++)
        if (strlen(k->name) == length && strncmp(k->name, text, length) == 0 &&
            read_number(k, text + length, m))
            m->kind = k;
    return m->kind
               ? VXS_OK
               : vxs_fail(err, VXS_MISUSE,
                          "'--measure' is error, balanced, f1, fbeta:X with X from 0.01 to 100, "
                          "gmean, top:K with K a number, a share (10%%) or times the positives "
                          "(2p), breakeven or roc, not '%s'",
                          text);
}

/* ---- Checks ---------------------------------------------------------------------------------- */

size_t vxs_measure_top(const vxs_output_measure *m, size_t n, size_t positives)
{
    double whole = m->unit == VXS_TOP_SHARE ? (double)n : (double)positives;
    double k = m->unit == VXS_TOP_NUMBER ? m->number : floor(m->number * whole + 0.5);
    return k >= 1 ? (size_t)k : 1;
}

/* Samples of weight 0 are of no class. */
static void count_sides(const vxs_loss *l, size_t side[2], double weight[2])
{
    side[0] = side[1] = 0;
    weight[0] = weight[1] = 0;
    for (size_t i = 0; i < l->n; i++) {
        double u = vxs_loss_weight(l, i);
        side[l->y[i] > 0] += u > 0;
        weight[l->y[i] > 0] += u;
    }
}

static bool is_top(const vxs_measure_kind *kind)
{
    return kind->worst == vxs_worst_top;
}

vxs_status vxs_measure_check(const vxs_loss *l, vxs_error *err)
{
    size_t side[2];
    double weight[2];
    const vxs_output_measure *m = l->measure;
    if (!m || !m->kind)
        return vxs_fail(err, VXS_MISUSE, "the loss is of a measure, which is not given");
    count_sides(l, side, weight);
    if (side[0] == 0 || side[1] == 0)
        return vxs_fail(err, VXS_BAD_DATA,
                        "all subjects are of one class: measure '%s' compares two", m->kind->name);
    for (size_t i = 0; i < l->n && !m->kind->takes_weights; i++)
        if (vxs_loss_weight(l, i) != 1)
            return vxs_fail(err, VXS_BAD_DATA,
                            "measure '%s' counts subjects, which have no weights; error, balanced "
                            "and roc take them",
                            m->kind->name);
    if (is_top(m->kind) && vxs_measure_top(m, l->n, side[1]) >= l->n)
        return vxs_fail(err, VXS_BAD_DATA,
                        "measure 'top' calls %zu of %zu subjects positive; it leaves at least one",
                        vxs_measure_top(m, l->n, side[1]), l->n);
    return VXS_OK;
}

/* ---- Costs ----------------------------------------------------------------------------------- */

/* What a mistake counts, and the unit of costs. */
static void set_weights(vxs_measured *m, const double size[2])
{
    const vxs_loss *l = m->loss;
    bool balanced = is_named(m->kind, "balanced");
    double positives = (double)m->side[1], negatives = (double)m->side[0];
    for (size_t i = 0; i < m->n; i++) {
        bool positive = l->y[i] > 0;
        double share = balanced ? (size[0] + size[1]) / (2 * size[positive]) : 1;
        m->weight[i] = share * vxs_loss_weight(l, i);
        m->reference[i] = positive;
    }
    m->square = l->measure->number * l->measure->number;
    m->unit = is_named(m->kind, "gmean") ? 2 * positives : (1 + m->square) * positives;
    if (m->kind->worst == vxs_worst_pairs)
        m->unit = 1 / fmax(size[0], size[1]);
    m->top = is_top(m->kind) ? vxs_measure_top(l->measure, m->n, m->side[1]) : 0;
    double k = (double)m->top;
    for (size_t i = 0; i < m->n && m->top > 0; i++)
        m->reference[i] = l->y[i] > 0 ? fmin(1, k / positives) : fmax(0, k - positives) / negatives;
}

void vxs_measured_release(vxs_measured *m)
{
    free(m->weight);
    free(m->reference);
    for (int side = 0; side < 2; side++) {
        free(m->ranked[side]);
        free(m->sum[side]);
    }
    *m = (vxs_measured){ .n = 0 };
}

vxs_status vxs_measured_init(const vxs_loss *loss, vxs_measured *m, vxs_error *err)
{
    double size[2];
    *m = (vxs_measured){ .loss = loss, .kind = loss->measure->kind, .n = loss->n };
    count_sides(loss, m->side, size);
    m->weight = vxs_alloc(m->n, sizeof(*m->weight), err);
    m->reference = vxs_alloc(m->n, sizeof(*m->reference), err);
    bool fine = m->weight && m->reference;
    for (int side = 0; side < 2; side++) { /* top ranks all in one */
        m->ranked[side] = vxs_alloc(m->n, sizeof(**m->ranked), err);
        m->sum[side] = vxs_alloc(m->n + 1, sizeof(**m->sum), err);
        fine = fine && m->ranked[side] && m->sum[side];
    }
    if (fine)
        set_weights(m, size);
    else
        vxs_measured_release(m);
    return fine ? VXS_OK : VXS_FAILED;
}

/* ---- The measure itself ---------------------------------------------------------------------- */

/* The weight of pairs that are swapped; those of equal scores by half. */
static double swapped_pairs(const vxs_measured *m, const double *z)
{
    vxs_measured_rank(m, z, 0);
    vxs_measured_rank(m, z, 1);
    const vxs_measured_score *below = m->ranked[0], *above = m->ranked[1];
    size_t larger = 0, equal = 0; /* negatives above the positive, and not below it */
    double sum = 0, over = 0, tied = 0;
    for (size_t k = 0; k < m->side[1]; k++) {
        while (larger < m->side[0] && below[larger].z > above[k].z)
            over += m->weight[below[larger++].i];
        while (equal < m->side[0] && below[equal].z >= above[k].z)
            tied += m->weight[below[equal++].i];
        sum += m->weight[above[k].i] * (over + tied) / 2;
    }
    return sum;
}

/* Counts of the output that the scores give, by weight. */
static void count_called(vxs_measured *m, const double *z, double *hits, double *alarms)
{
    const double *y = m->loss->y;
    *hits = *alarms = 0;
    if (m->top > 0)
        vxs_measured_rank_all(m, z, 0);
    for (size_t k = 0; k < m->n; k++) {
        size_t i = m->top > 0 ? m->ranked[0][k].i : k;
        bool called = m->top > 0 ? k < m->top : z[i] > 0;
        *(y[i] > 0 ? hits : alarms) += called ? m->weight[i] : 0;
    }
}

static double miss_of(vxs_measured *m, const double *z)
{
    double side[2] = { 0, 0 }, a, b;
    for (size_t i = 0; i < m->n; i++)
        side[m->loss->y[i] > 0] += m->weight[i];
    if (m->kind->worst == vxs_worst_pairs)
        return swapped_pairs(m, z) / (side[0] * side[1]);
    count_called(m, z, &a, &b);
    if (m->kind->cost)
        return m->kind->cost(m, a, b) / m->unit;
    return m->top > 0 ? 1 - a / (double)(m->top < m->n ? m->top : m->n)
                      : (side[1] - a + b) / (side[0] + side[1]);
}

vxs_status vxs_measure_miss(const vxs_loss *loss, const double *z, double *miss, vxs_error *err)
{
    vxs_measured m;
    size_t side[2];
    double size[2];
    *miss = NAN;
    count_sides(loss, side, size);
    if (side[0] == 0 || side[1] == 0)
        return VXS_OK;
    vxs_status status = vxs_measured_init(loss, &m, err);
    if (status)
        return status;
    *miss = miss_of(&m, z);
    vxs_measured_release(&m);
    return VXS_OK;
}

/* ---- Thresholds ------------------------------------------------------------------------------ */

/* Between two scores, in the middle of the best gap from the top. */
static double best_balanced(vxs_measured *m, const double *z)
{
    double side[2] = { 0, 0 }, hits[2] = { 0, 0 }, best = -INFINITY, threshold = 0;
    vxs_measured_rank_all(m, z, 0);
    const vxs_measured_score *r = m->ranked[0];
    for (size_t i = 0; i < m->n; i++)
        side[m->loss->y[i] > 0] += m->weight[i];
    for (size_t k = 0; k + 1 < m->n; k++) {
        bool positive = m->loss->y[r[k].i] > 0;
        hits[positive] += m->weight[r[k].i] / side[positive];
        if (!(r[k].z > r[k + 1].z) || !(hits[1] - hits[0] > best))
            continue;
        best = hits[1] - hits[0];
        threshold = r[k].z / 2 + r[k + 1].z / 2;
    }
    return threshold;
}

double vxs_measured_threshold(vxs_measured *m, const double *z)
{
    if (m->kind->worst == vxs_worst_pairs)
        return best_balanced(m, z);
    if (m->top == 0)
        return 0;
    vxs_measured_rank_all(m, z, 0);
    return m->ranked[0][m->top - 1].z / 2 + m->ranked[0][m->top].z / 2;
}
