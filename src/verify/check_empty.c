/* check_empty.c - the empty model: Newton's method on the columns that are not penalised.
 *
 * It works on directions of length 1 that they span, so that columns may be of any size. With
 * several classes a prediction that all of them share changes nothing: the second derivatives are
 * singular, and elimination leaves out what depends on what it has. */
#include "linalg/gram_schmidt.h"
#include "solver/solver.h"
#include "verify/check.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

double vxs_check_inner(const double *a, const double *b, size_t n)
{
    double sum = 0, lost = 0;
    for (size_t i = 0; i < n; i++) {
        double term = a[i] * b[i] - lost, with = sum + term;
        lost = (with - sum) - term;
        sum = with;
    }
    return sum;
}

/* ---- What the free columns span -------------------------------------------------------------- */

static void take_off(double *v, const double *b, size_t n)
{
    double along = vxs_check_inner(b, v, n);
    for (size_t i = 0; i < n; i++)
        v[i] -= along * b[i];
}

void vxs_check_take_off(const vxs_check_empty *e, double *v)
{
    for (size_t r = 0; r < e->rank; r++)
        take_off(v, e->basis + r * e->n, e->n);
}

/* Over samples that have a weight; columns that depend on others add nothing. */
static void span(vxs_check_empty *e, const double *free)
{
    size_t n = e->n;
    for (size_t k = 0; k < e->columns; k++) {
        double *b = e->basis + e->rank * n;
        for (size_t i = 0; i < n; i++)
            b[i] = vxs_check_u(e->problem, i) > 0 ? free[k * n + i] : 0;
        double before = sqrt(vxs_check_inner(b, b, n));
        vxs_check_take_off(e, b);
        vxs_check_take_off(e, b);
        double length = sqrt(vxs_check_inner(b, b, n));
        bool covariate = k < e->problem->covariate_count;
        double least = covariate ? VXS_INDEPENDENT_COVARIATE : VXS_INDEPENDENT;
        e->adds[k] = length > least * before;
        for (size_t i = 0; i < n && e->adds[k]; i++)
            b[i] /= length;
        e->rank += e->adds[k];
    }
}

/* ---- Elimination ----------------------------------------------------------------------------- */

/* Takes variable v out of all other equations of the q x q system; the right side is behind it. */
static void take_out(double *a, size_t q, size_t v)
{
    double *right = a + q * q;
    for (size_t r = 0; r < q; r++) {
        double share = r == v ? 0 : a[r * q + v] / a[v * q + v];
        for (size_t k = 0; k < q && share != 0; k++)
            a[r * q + k] -= share * a[v * q + k];
        right[r] -= share * right[v];
    }
}

/* Gaussian elimination with the largest pivot of the diagonal; variables that depend on others stay
 * 0. The right side becomes the answer. `used` has q places. */
static void eliminate(double *a, size_t q, bool *used)
{
    double *right = a + q * q, largest = 0;
    for (size_t k = 0; k < q; k++) {
        used[k] = false;
        largest = fmax(largest, a[k * q + k]);
    }
    for (size_t step = 0; step < q; step++) {
        size_t best = q;
        for (size_t k = 0; k < q; k++)
            if (!used[k] && (best == q || a[k * q + k] > a[best * q + best]))
                best = k;
        if (!(a[best * q + best] > 1e-13 * largest))
            break;
        used[best] = true;
        take_out(a, q, best);
    }
    for (size_t k = 0; k < q; k++)
        right[k] = used[k] ? right[k] / a[k * q + k] : 0;
}

/* ---- Newton ---------------------------------------------------------------------------------- */

static double value_of(const vxs_check_empty *e, const double *b)
{
    size_t n = e->n;
    double sum = 0;
    memset(e->zero, 0, e->classes * n * sizeof(*e->zero));
    for (size_t k = 0; k < e->classes * e->rank; k++)
        for (size_t i = 0; i < n; i++)
            e->zero[k / e->rank * n + i] += b[k] * e->basis[k % e->rank * n + i];
    for (size_t i = 0; i < n; i++)
        sum += vxs_check_loss(e->problem, i, e->zero + i, n);
    return sum;
}

/* Adds curve x x' where the block of classes a and b stands. */
static void add_curve(const vxs_check_empty *e, size_t i, size_t a, size_t b)
{
    size_t n = e->n, rank = e->rank, q = e->classes * rank;
    double curve = vxs_check_curve(e->problem, i, e->zero + i, e->slope + i, n, a, b);
    for (size_t r = 0; r < rank; r++)
        for (size_t s = 0; s < rank; s++)
            e->gram[(a * rank + r) * q + b * rank + s] +=
                curve * e->basis[r * n + i] * e->basis[s * n + i];
}

/* Second derivatives and, as the right side, the slope downwards. */
static void newton_system(const vxs_check_empty *e)
{
    size_t n = e->n, rank = e->rank, q = e->classes * rank;
    memset(e->gram, 0, (q * q + q) * sizeof(*e->gram));
    for (size_t i = 0; i < n; i++) {
        vxs_check_slope(e->problem, i, e->zero + i, n, e->slope + i);
        for (size_t k = 0; k < q; k++)
            e->gram[q * q + k] -= e->slope[k / rank * n + i] * e->basis[k % rank * n + i];
        for (size_t k = 0; k < e->classes * e->classes; k++)
            add_curve(e, i, k / e->classes, k % e->classes);
    }
}

/* A step along Newton's direction, halved until the value is at most `most`; what it is then. */
static double newton_step(const vxs_check_empty *e, double most)
{
    size_t q = e->classes * e->rank;
    double next = INFINITY;
    newton_system(e);
    eliminate(e->gram, q, e->used);
    for (double share = 1; share > 1e-9 && !(next <= most); share /= 2) {
        for (size_t a = 0; a < q; a++)
            e->trial[a] = e->b[a] + share * e->gram[q * q + a];
        next = value_of(e, e->trial);
    }
    if (next <= most)
        memcpy(e->b, e->trial, q * sizeof(*e->trial));
    return value_of(e, e->b);
}

/* Until the value no longer falls, and some steps more: slopes still get better where the value
 * cannot. */
static void descend(vxs_check_empty *e)
{
    e->value = value_of(e, e->b);
    for (int step = 0, flat = 0; step < 100 && e->rank > 0 && flat < 4; step++) {
        double next = newton_step(e, e->value * (1 + 1e-14));
        flat += !(next < e->value);
        e->value = next;
    }
}

/* Where all residuals are beyond the threshold of a loss, second derivatives say nothing: a
 * threshold that none exceeds comes first, and halves of it until that of the loss. */
static void fit(vxs_check_empty *e)
{
    const vxs_problem *problem = e->problem;
    vxs_problem wide = *problem;
    double threshold = problem->loss.threshold, farthest = 0;
    for (size_t i = 0; i < e->n && problem->loss.kind->has_threshold; i++)
        if (vxs_check_u(problem, i) > 0)
            farthest = fmax(farthest, fabs(problem->loss.y[i]));
    e->problem = &wide;
    for (double t = farthest; t > threshold && isfinite(t); t /= 2) {
        wide.loss.threshold = t;
        descend(e);
    }
    e->problem = problem;
    descend(e);
}

void vxs_check_empty_release(vxs_check_empty *e)
{
    free(e->basis);
    free(e->adds);
    free(e->zero);
    free(e->gram);
    free(e->b);
    free(e->trial);
    free(e->slope);
    free(e->used);
    *e = (vxs_check_empty){ .n = 0 };
}

vxs_status vxs_check_empty_fit(const vxs_problem *problem, const double *free, size_t columns,
                               vxs_check_empty *e, vxs_error *err)
{
    size_t n = vxs_design_rows(problem->design), classes = vxs_check_classes(problem);
    *e = (vxs_check_empty){ .problem = problem, .n = n, .classes = classes, .columns = columns };
    e->basis = vxs_alloc(n, columns * sizeof(*e->basis), err);
    e->adds = vxs_alloc(columns, sizeof(*e->adds), err);
    if (e->basis && e->adds)
        span(e, free);
    size_t q = classes * e->rank;
    e->zero = vxs_alloc(n, classes * sizeof(*e->zero), err);
    e->slope = vxs_alloc(n, classes * sizeof(*e->slope), err);
    e->gram = vxs_alloc(q + 1, q * sizeof(*e->gram), err);
    e->b = vxs_alloc(q, sizeof(*e->b), err);
    e->trial = vxs_alloc(q, sizeof(*e->trial), err);
    e->used = vxs_alloc(q, sizeof(*e->used), err);
    if (!e->basis || !e->adds || !e->zero || !e->slope || !e->gram || !e->b || !e->trial ||
        !e->used) {
        vxs_check_empty_release(e);
        return VXS_FAILED;
    }
    fit(e);
    return VXS_OK;
}
