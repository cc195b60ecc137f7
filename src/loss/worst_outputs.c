/* worst_outputs.c - the output with the largest cost(v) + (v - r)'z, for each measure.
 *
 * error, balanced   sample by sample: n
 * f1, fbeta         the a best positives stay and the b best negatives come; in b the value is
 *                   concave, so that the best b is found by bisection: n log n
 * gmean             all (n+ + 1)(n- + 1) pairs of counts, from prefix sums
 * top               the k largest scores, those of positives less 1: n log n
 * roc               every pair by itself, counted in two sorted lists: n log n
 * Equal scores are taken in the order of samples, so that runs agree. */
#include "loss/worst_outputs.h"

#include <math.h>
#include <stdlib.h>

/* ---- Order ----------------------------------------------------------------------------------- */

static int falling(const void *a, const void *b)
{
    const vxs_measured_score *x = a, *y = b;
    if (x->z != y->z)
        return (x->z < y->z) - (x->z > y->z);
    return (x->i > y->i) - (x->i < y->i);
}

void vxs_measured_rank(const vxs_measured *m, const double *z, int side)
{
    size_t count = 0;
    for (size_t i = 0; i < m->n; i++)
        if ((m->loss->y[i] > 0) == side && m->weight[i] > 0)
            m->ranked[side][count++] = (vxs_measured_score){ z[i], i };
    qsort(m->ranked[side], count, sizeof(**m->ranked), falling);
}

void vxs_measured_rank_all(const vxs_measured *m, const double *z, double handicap)
{
    for (size_t i = 0; i < m->n; i++)
        m->ranked[0][i] = (vxs_measured_score){ z[i] - (m->loss->y[i] > 0 ? handicap : 0), i };
    qsort(m->ranked[0], m->n, sizeof(**m->ranked), falling);
}

static void add_up(vxs_measured *m, const double *z, int side)
{
    vxs_measured_rank(m, z, side);
    m->sum[side][0] = 0;
    for (size_t k = 0; k < m->side[side]; k++)
        m->sum[side][k + 1] = m->sum[side][k] + m->ranked[side][k].z;
}

/* ---- Sample by sample ------------------------------------------------------------------------ */

double vxs_worst_errors(vxs_measured *m, const double *z, double *g, double *cost, size_t counts[2])
{
    double value = 0;
    *cost = 0;
    counts[0] = counts[1] = 0;
    for (size_t i = 0; i < m->n; i++) {
        bool positive = m->loss->y[i] > 0, wrong = positive ? z[i] < 1 : z[i] > -1;
        double u = wrong ? m->weight[i] : 0;
        g[i] = positive ? -u : u;
        *cost += u;
        value += u * (positive ? 1 - z[i] : 1 + z[i]);
    }
    return value;
}

/* ---- By counts ------------------------------------------------------------------------------- */

/* The output of the a best positives and the b best negatives. */
static double call(vxs_measured *m, const double *z, size_t a, size_t b, double *g, double *cost,
                   size_t counts[2])
{
    double value = *cost = m->kind->cost(m, (double)a, (double)b);
    for (size_t i = 0; i < m->n; i++)
        g[i] = -m->reference[i];
    for (size_t k = 0; k < a; k++)
        g[m->ranked[1][k].i] += 1;
    for (size_t k = 0; k < b; k++)
        g[m->ranked[0][k].i] += 1;
    for (size_t i = 0; i < m->n; i++)
        value += g[i] * z[i];
    counts[0] = a;
    counts[1] = b;
    return value;
}

static double value_at(const vxs_measured *m, size_t a, size_t b)
{
    return m->kind->cost(m, (double)a, (double)b) + m->sum[1][a] - m->sum[1][m->side[1]] +
           m->sum[0][b];
}

/* The first b at which one more does not pay. */
static size_t best_alarms(const vxs_measured *m, size_t a)
{
    size_t low = 0, high = m->side[0];
    while (low < high) {
        size_t b = (low + high) / 2;
        double gain = m->kind->cost(m, (double)a, (double)(b + 1)) -
                      m->kind->cost(m, (double)a, (double)b) + m->ranked[0][b].z;
        if (gain > 0)
            low = b + 1;
        else
            high = b;
    }
    return low;
}

double vxs_worst_f(vxs_measured *m, const double *z, double *g, double *cost, size_t counts[2])
{
    size_t best_a = 0, best_b = 0;
    double best = -INFINITY;
    add_up(m, z, 0);
    add_up(m, z, 1);
    for (size_t a = 0; a <= m->side[1]; a++) {
        size_t b = best_alarms(m, a);
        double value = value_at(m, a, b);
        best_a = value > best ? a : best_a;
        best_b = value > best ? b : best_b;
        best = fmax(best, value);
    }
    return call(m, z, best_a, best_b, g, cost, counts);
}

double vxs_worst_cell(vxs_measured *m, const double *z, double *g, double *cost, size_t counts[2])
{
    size_t best_a = 0, best_b = 0;
    double best = -INFINITY;
    add_up(m, z, 0);
    add_up(m, z, 1);
    for (size_t a = 0; a <= m->side[1]; a++)
        for (size_t b = 0; b <= m->side[0]; b++) {
            double value = value_at(m, a, b);
            if (!(value > best))
                continue;
            best = value;
            best_a = a;
            best_b = b;
        }
    return call(m, z, best_a, best_b, g, cost, counts);
}

/* ---- By order -------------------------------------------------------------------------------- */

double vxs_worst_top(vxs_measured *m, const double *z, double *g, double *cost, size_t counts[2])
{
    size_t hits = 0, most = m->top < m->side[1] ? m->top : m->side[1];
    vxs_measured_rank_all(m, z, 1);
    for (size_t i = 0; i < m->n; i++)
        g[i] = -m->reference[i];
    for (size_t k = 0; k < m->top; k++) {
        g[m->ranked[0][k].i] += 1;
        hits += m->loss->y[m->ranked[0][k].i] > 0;
    }
    double value = *cost = (double)(most - hits);
    for (size_t i = 0; i < m->n; i++)
        value += g[i] * z[i];
    counts[0] = hits;
    counts[1] = m->top - hits;
    return value;
}

/* A pair is swapped where z_i - 1 < z_j. Both counts compare the same numbers, or rounding would
 * give sums of positives and negatives that differ. */
double vxs_worst_pairs(vxs_measured *m, const double *z, double *g, double *cost, size_t counts[2])
{
    double above = 0, scored = 0, lower = 0, value = 0;
    size_t k = 0, left = m->side[1];
    vxs_measured_rank(m, z, 0);
    vxs_measured_rank(m, z, 1);
    const vxs_measured_score *negative = m->ranked[0], *positive = m->ranked[1];
    *cost = 0;
    counts[0] = counts[1] = 0;
    for (size_t i = 0; i < m->n; i++)
        g[i] = 0;
    for (size_t p = 0; p < m->side[1]; p++) {
        double score = positive[p].z - 1, u = m->weight[positive[p].i] * m->unit;
        for (; k < m->side[0] && negative[k].z > score; k++) {
            above += m->weight[negative[k].i];
            scored += m->weight[negative[k].i] * negative[k].z;
        }
        g[positive[p].i] = -u * above;
        *cost += u * above;
        value += u * (scored - above * score);
    }
    for (size_t j = m->side[0]; j-- > 0;) { /* rising, as positives are from the last */
        for (; left > 0 && positive[left - 1].z - 1 < negative[j].z; left--)
            lower += m->weight[positive[left - 1].i];
        g[negative[j].i] = m->weight[negative[j].i] * m->unit * lower;
    }
    return value;
}
