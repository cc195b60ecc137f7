/* check_outputs.c - the value of a measure, and whether a dual point of it is one, by code of its
 * own: all counts of true and false positives, all pairs, all samples.
 *
 * Of error, balanced, top and roc s alone shows whether it is a sum of outputs, and what they cost.
 * Of the others each cell, all outputs with a true and b false positives, is a product of two
 * hypersimplices: a mean v of its outputs is any 0 <= v <= 1 that sums to a and b. */
#include "linalg/gram_schmidt.h"
#include "verify/check.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#define ROUNDING   1e-9 /* of C: sums of alpha */
#define ORTHOGONAL 1e-8 /* of the length of s: its product with a covariate */
#define NOTHING    1e-6 /* of C: a length that is rounding */

/* ---- The measure ----------------------------------------------------------------------------- */

static bool is(const vxs_check_outputs *o, const char *name)
{
    return strcmp(o->name, name) == 0;
}

/* A positive of weight. */
static bool is_positive(const vxs_check_outputs *o, size_t i)
{
    return o->problem->loss.y[i] > 0;
}

/* What (a, b) costs, of measures by counts. */
static double cell_cost(const vxs_check_outputs *o, double a, double b)
{
    double positives = (double)o->positives, square = o->beta * o->beta;
    if (is(o, "gmean")) {
        double specificity = ((double)o->negatives - b) / (double)o->negatives;
        return 2 * positives - 2 * positives * sqrt(a * specificity / positives);
    }
    double f = (1 + square) * a / (square * positives + a + b);
    return (1 + square) * positives * (1 - f);
}

static bool is_by_counts(const vxs_check_outputs *o)
{
    return is(o, "f1") || is(o, "fbeta") || is(o, "gmean");
}

void vxs_check_outputs_release(vxs_check_outputs *o)
{
    void *const all[] = { o->u, o->truth, o->score, o->order, o->basis, o->outside };
    for (size_t k = 0; k < sizeof(all) / sizeof(all[0]); k++)
        free(all[k]);
}

static void set_weights(vxs_check_outputs *o)
{
    double whole = 0, positive = 0, factor[2] = { 1, 1 };
    for (size_t i = 0; i < o->n; i++) {
        double u = vxs_check_u(o->problem, i);
        o->positives += is_positive(o, i) && u > 0;
        o->negatives += !is_positive(o, i) && u > 0;
        whole += u;
        positive += is_positive(o, i) ? u : 0;
    }
    if (is(o, "balanced")) {
        factor[0] = whole / (2 * (whole - positive));
        factor[1] = whole / (2 * positive);
    }
    double least = fmin(positive, whole - positive);
    if (is(o, "roc")) /* of a pair u_i u_j / (the larger class) */
        factor[1] = 1 / (whole - least);
    for (size_t i = 0; i < o->n; i++) {
        o->u[i] = factor[is_positive(o, i)] * vxs_check_u(o->problem, i);
        o->truth[i] = is_positive(o, i) ? 1 : 0;
    }
}

/* The mean of all outputs with as many hits as there can be. */
static void set_top(vxs_check_outputs *o)
{
    const vxs_output_measure *m = o->problem->loss.measure;
    double k = m->number, p = (double)o->positives, rest = (double)o->negatives;
    if (m->unit != VXS_TOP_NUMBER)
        k = floor(k * (m->unit == VXS_TOP_SHARE ? (double)o->n : p) + 0.5);
    k = fmax(1, k);
    o->top = (size_t)k;
    for (size_t i = 0; i < o->n; i++)
        o->truth[i] = is_positive(o, i) ? (k < p ? k / p : 1) : (k > p ? (k - p) / rest : 0);
}

/* Of samples of weight; without its mean where a constant changes nothing. */
static void add_column(vxs_check_outputs *o, const double *column)
{
    double *v = o->basis + o->rank * o->n, mean = 0, square = 0;
    bool centered = o->top > 0 || is(o, "roc");
    for (size_t i = 0; i < o->n; i++) {
        v[i] = o->u[i] > 0 ? column[i] : 0;
        mean += v[i] / (double)(o->positives + o->negatives);
        square += v[i] * v[i];
    }
    for (size_t i = 0; i < o->n && square > 0; i++)
        v[i] = o->u[i] > 0 ? (v[i] - (centered ? mean : 0)) / sqrt(square) : 0;
    o->rank += vxs_gram_schmidt_append(o->basis, o->n, o->rank, VXS_INDEPENDENT_COVARIATE,
                                       VXS_INDEPENDENT_COVARIATE, NULL);
}

vxs_status vxs_check_outputs_init(const vxs_problem *problem, double cost, vxs_check_outputs *o,
                                  vxs_error *err)
{
    const vxs_output_measure *m = problem->loss.measure;
    size_t n = problem->loss.n, columns = problem->covariate_count;
    *o = (vxs_check_outputs){
        .problem = problem, .name = m->kind->name, .beta = m->number, .n = n, .cost = cost
    };
    o->u = vxs_alloc(n, sizeof(*o->u), err);
    o->truth = vxs_alloc(n, sizeof(*o->truth), err);
    o->score = vxs_alloc(n, sizeof(*o->score), err);
    o->order = vxs_alloc(n, sizeof(*o->order), err);
    o->outside = vxs_alloc(n, sizeof(*o->outside), err);
    o->basis = vxs_alloc(n, (columns + 1) * sizeof(*o->basis), err);
    if (!o->u || !o->truth || !o->score || !o->order || !o->outside || !o->basis)
        return VXS_FAILED;
    set_weights(o);
    if (is(o, "top") || is(o, "breakeven"))
        set_top(o);
    for (size_t k = 0; k < columns; k++)
        add_column(o, problem->covariates + k * n);
    return VXS_OK;
}

/* ---- The value ------------------------------------------------------------------------------- */

/* Samples in `order`, by falling score: a heap, which needs no work space. */
static void sift(vxs_check_outputs *o, size_t at, size_t count)
{
    for (size_t child = 2 * at + 1; child < count; at = child, child = 2 * at + 1) {
        if (child + 1 < count && o->score[o->order[child + 1]] < o->score[o->order[child]])
            child++;
        if (!(o->score[o->order[child]] < o->score[o->order[at]]))
            return;
        size_t moved = o->order[at];
        o->order[at] = o->order[child];
        o->order[child] = moved;
    }
}

static void sort(vxs_check_outputs *o, size_t count)
{
    for (size_t k = count / 2; k-- > 0;)
        sift(o, k, count);
    for (size_t end = count; end-- > 1;) {
        size_t least = o->order[0];
        o->order[0] = o->order[end];
        o->order[end] = least;
        sift(o, 0, end);
    }
}

static double value_by_samples(vxs_check_outputs *o, const double *z, double *g)
{
    double sum = 0;
    for (size_t i = 0; i < o->n; i++) {
        double y = is_positive(o, i) ? 1 : -1, hinge = fmax(0, 1 - y * z[i]);
        sum += o->u[i] * hinge;
        if (g)
            g[i] = hinge > 0 ? -y * o->u[i] : 0;
    }
    return sum;
}

static double value_by_pairs(vxs_check_outputs *o, const double *z, double *g)
{
    double sum = 0;
    for (size_t i = 0; i < o->n && g; i++)
        g[i] = 0;
    for (size_t i = 0; i < o->n; i++)
        for (size_t j = 0; j < o->n && is_positive(o, i); j++) {
            double u = is_positive(o, j) ? 0 : o->u[i] * o->u[j];
            double hinge = fmax(0, 1 - (z[i] - z[j]));
            sum += u * hinge;
            if (g && hinge > 0) {
                g[i] -= u;
                g[j] += u;
            }
        }
    return sum;
}

static double value_by_order(vxs_check_outputs *o, const double *z, double *g)
{
    double sum = fmin((double)o->top, (double)o->positives);
    for (size_t i = 0; i < o->n; i++) {
        o->score[i] = is_positive(o, i) ? z[i] - 1 : z[i];
        o->order[i] = i;
        sum -= o->truth[i] * z[i];
        if (g)
            g[i] = -o->truth[i];
    }
    sort(o, o->n);
    for (size_t k = 0; k < o->top; k++) {
        sum += o->score[o->order[k]];
        if (g)
            g[o->order[k]] += 1;
    }
    return sum;
}

/* Positives by falling score first in `order`, then negatives. */
static void order_sides(vxs_check_outputs *o, const double *z)
{
    size_t *all = o->order, at = 0;
    for (size_t i = 0; i < o->n; i++)
        o->score[i] = z[i];
    for (int side = 1; side >= 0; side--) {
        size_t first = at;
        for (size_t i = 0; i < o->n; i++)
            if (is_positive(o, i) == (side == 1))
                all[at++] = i;
        o->order = all + first;
        sort(o, at - first);
    }
    o->order = all;
}

/* The best b for a positives that stay, whose sum less that of all is `found`. */
static double best_alarms(const vxs_check_outputs *o, const double *z, size_t a, double found,
                          size_t *best)
{
    double most = -INFINITY, sum = found;
    for (size_t b = 0; b <= o->negatives; b++) {
        double value = sum + cell_cost(o, (double)a, (double)b);
        *best = value > most ? b : *best;
        most = fmax(most, value);
        sum += b < o->negatives ? z[o->order[o->positives + b]] : 0;
    }
    return most;
}

static double value_by_counts(vxs_check_outputs *o, const double *z, double *g)
{
    double most = -INFINITY, found = 0;
    size_t best_a = 0, best_b = 0;
    order_sides(o, z);
    for (size_t i = 0; i < o->positives; i++)
        found -= z[o->order[i]];
    for (size_t a = 0; a <= o->positives; a++) {
        size_t b = 0;
        double value = best_alarms(o, z, a, found, &b);
        best_a = value > most ? a : best_a;
        best_b = value > most ? b : best_b;
        most = fmax(most, value);
        found += a < o->positives ? z[o->order[a]] : 0;
    }
    for (size_t k = 0; k < o->n && g; k++) {
        bool positive = k < o->positives;
        bool called = positive ? k < best_a : k - o->positives < best_b;
        g[o->order[k]] = (called ? 1 : 0) - (positive ? 1 : 0);
    }
    return most;
}

double vxs_check_outputs_value(vxs_check_outputs *o, const double *z, double *g)
{
    double value = is_by_counts(o) ? value_by_counts(o, z, g)
                   : o->top > 0    ? value_by_order(o, z, g)
                   : is(o, "roc")  ? value_by_pairs(o, z, g)
                                   : value_by_samples(o, z, g);
    for (size_t i = 0; i < o->n && g; i++)
        g[i] *= o->cost;
    return o->cost * value;
}

/* ---- Dual points ----------------------------------------------------------------------------- */

static bool is_close(double value, double target, double size)
{
    return fabs(value - target) <= ROUNDING * size;
}

/* 0 <= -y s <= C u. */
static bool sums_samples(const vxs_check_outputs *o, const double *s, double *delta)
{
    bool fits = true;
    *delta = 0;
    for (size_t i = 0; i < o->n; i++) {
        double share = is_positive(o, i) ? -s[i] : s[i], most = o->cost * o->u[i];
        fits = fits && share >= -ROUNDING * o->cost && share <= most + ROUNDING * o->cost;
        *delta += share;
    }
    return fits;
}

/* r + s / C is a mean of outputs with k called. */
static bool sums_orders(const vxs_check_outputs *o, const double *s, double *delta)
{
    bool fits = true;
    double called = 0, hits = 0, n = (double)o->n;
    for (size_t i = 0; i < o->n; i++) {
        double v = o->truth[i] + s[i] / o->cost;
        fits = fits && v >= -ROUNDING && v <= 1 + ROUNDING;
        called += v;
        hits += is_positive(o, i) ? v : 0;
    }
    *delta = o->cost * (fmin((double)o->top, (double)o->positives) - hits);
    return fits && is_close(called, (double)o->top, n);
}

/* What positives give, weight above 0 alone, by falling share of their weight; false if a sign is
 * wrong. */
static bool order_givers(vxs_check_outputs *o, const double *s, size_t *count)
{
    bool fits = true;
    *count = 0;
    for (size_t i = 0; i < o->n; i++) {
        bool positive = is_positive(o, i), counts = o->u[i] > 0;
        double share = positive ? -s[i] : s[i];
        fits = fits && share >= -ROUNDING * o->cost && (counts || share <= ROUNDING * o->cost);
        if (!positive || !counts)
            continue;
        o->score[i] = share / o->u[i];
        o->order[(*count)++] = i;
    }
    sort(o, *count);
    return fits;
}

/* A transport from positives to negatives with at most C u_i u_j a pair exists: whatever positives
 * give, all negatives can take, at most their share of C each. The worst are those that give most
 * by weight (Gale). */
static bool sums_pairs(vxs_check_outputs *o, const double *s, double *delta)
{
    double taken = 0, weight = 0, size = (double)o->n * o->cost;
    size_t count;
    bool fits = order_givers(o, s, &count);
    *delta = 0;
    for (size_t k = 0; k < count; k++) {
        double room = 0;
        *delta -= s[o->order[k]];
        weight += o->u[o->order[k]];
        for (size_t j = 0; j < o->n; j++)
            room += is_positive(o, j) ? 0 : fmin(s[j], o->cost * weight * o->u[j]);
        fits = fits && *delta <= room + ROUNDING * size;
    }
    for (size_t j = 0; j < o->n; j++)
        taken += is_positive(o, j) ? 0 : s[j];
    return fits && is_close(*delta, taken, size);
}

/* A row is a mean of outputs of its counts; adds it to s and delta. */
static bool add_cell(const vxs_check_outputs *o, const double *row, double *s, double *delta)
{
    double a = row[0], b = row[1], alpha = row[2], sum[2] = { 0, 0 };
    bool fits = alpha >= 0 && a >= 0 && b >= 0 && a <= (double)o->positives &&
                b <= (double)o->negatives && a == floor(a) && b == floor(b);
    for (size_t i = 0; i < o->n; i++) {
        double v = row[3 + i];
        fits = fits && v >= -ROUNDING && v <= 1 + ROUNDING;
        sum[is_positive(o, i)] += v;
        s[i] += alpha * (v - o->truth[i]);
    }
    *delta += fits ? alpha * cell_cost(o, a, b) : 0;
    return fits && is_close(sum[1], a, (double)o->n) && is_close(sum[0], b, (double)o->n);
}

static bool sums_cells(const vxs_check_outputs *o, const vxs_weighted_outputs *dual, double *s,
                       double *delta)
{
    double whole = 0;
    bool fits = true;
    *delta = 0;
    for (size_t i = 0; i < o->n; i++)
        s[i] = 0;
    for (size_t k = 0; k < dual->count; k++) {
        fits = add_cell(o, dual->row + k * (3 + o->n), s, delta) && fits;
        whole += dual->row[k * (3 + o->n) + 2];
    }
    return fits && is_close(whole, o->cost, o->cost);
}

static bool is_orthogonal(const vxs_check_outputs *o, const double *s)
{
    double length = sqrt(vxs_check_dot(s, s, o->n)) + NOTHING * o->cost;
    bool fits = true;
    for (size_t k = 0; k < o->rank; k++)
        fits = fits && fabs(vxs_check_dot(o->basis + k * o->n, s, o->n)) <= ORTHOGONAL * length;
    return fits;
}

bool vxs_check_outputs_dual(vxs_check_outputs *o, const vxs_weighted_outputs *dual, double *s,
                            double *delta)
{
    bool fits = true;
    if (!dual || dual->n != o->n || dual->count == 0)
        return false;
    for (size_t k = 0; k < dual->count * (3 + o->n); k++)
        fits = fits && isfinite(dual->row[k]);
    if (is_by_counts(o))
        return fits && sums_cells(o, dual, s, delta) && is_orthogonal(o, s);
    memcpy(s, dual->row + 3, o->n * sizeof(*s));
    if (!fits || dual->count > 1 || !is_orthogonal(o, s))
        return false;
    if (o->top > 0)
        return sums_orders(o, s, delta);
    return is(o, "roc") ? sums_pairs(o, s, delta) : sums_samples(o, s, delta);
}
