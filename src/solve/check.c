/* check.c - objective, dual feasibility and gap of an answer, computed anew.
 *
 * Columns are fetched and multiplied by plain loops; nothing of the solvers is used, not even their
 * losses. It is slow and short on purpose: what it says must be seen to be true by reading it. */
#include "voxsift/solve.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#define BLOCK 64

typedef struct {
    const vxs_problem *problem;
    size_t n, p, q;
    double *z;     /* n: predictions of the answer */
    double *zero;  /* n: of the empty model */
    double *theta; /* n: of the answer */
    double *away;  /* n: -f' of the empty model */
    double *block; /* n x BLOCK */
    double *basis; /* n x q: what the free columns span */
    double *gram;  /* q x q, and a right side */
    double *b;     /* q */
    bool *used;    /* q */
} check;

static double inner(const double *a, const double *b, size_t n)
{
    double sum = 0, lost = 0;
    for (size_t i = 0; i < n; i++) {
        double term = a[i] * b[i] - lost, with = sum + term;
        lost = (with - sum) - term;
        sum = with;
    }
    return sum;
}

static double u_of(const check *c, size_t i)
{
    return c->problem->weights ? c->problem->weights[i] : 1;
}

static double loss(const check *c, size_t i, double z)
{
    double y = c->problem->y[i];
    if (c->problem->loss == VXS_LOSS_SQUARED)
        return u_of(c, i) * 0.5 * (z - y) * (z - y);
    double m = -y * z;
    return u_of(c, i) * (m > 0 ? m + log1p(exp(-m)) : log1p(exp(m)));
}

static double loss_slope(const check *c, size_t i, double z)
{
    double y = c->problem->y[i];
    if (c->problem->loss == VXS_LOSS_SQUARED)
        return u_of(c, i) * (z - y);
    double m = y * z;
    return m > 0 ? -u_of(c, i) * y * exp(-m) / (1 + exp(-m)) : -u_of(c, i) * y / (1 + exp(m));
}

/* -(u f)*(s) */
static double dual_term(const check *c, size_t i, double s)
{
    double u = u_of(c, i), y = c->problem->y[i];
    if (u == 0)
        return s == 0 ? 0 : -INFINITY;
    if (c->problem->loss == VXS_LOSS_SQUARED)
        return -(s * s / (2 * u) + s * y);
    double t = -y * s / u;
    if (t < -1e-11 || t > 1 + 1e-11)
        return -INFINITY;
    return -u * ((t > 0 ? t * log(t) : 0) + (t < 1 ? (1 - t) * log(1 - t) : 0));
}

/* ---- The empty model ------------------------------------------------------------------------- */

/* Takes variable v out of all other equations of the q x q system; the right side is behind it. */
static void take_out(double *a, size_t q, size_t v)
{
    double *right = a + q * q;
    for (size_t r = 0; r < q; r++) {
        double share = r == v ? 0 : a[r * q + v] / a[v * q + v];
        for (size_t k = 0; k < q; k++)
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

static double empty_value(const check *c, const double *b, double *z)
{
    double sum = 0;
    memset(z, 0, c->n * sizeof(*z));
    for (size_t k = 0; k < c->q; k++)
        for (size_t i = 0; i < c->n; i++)
            z[i] += b[k] * c->problem->free[k * c->n + i];
    for (size_t i = 0; i < c->n; i++)
        sum += loss(c, i, z[i]);
    return sum;
}

/* Second derivatives and, as the right side, the slope downwards. */
static void newton_system(const check *c)
{
    size_t n = c->n, q = c->q;
    memset(c->gram, 0, (q * q + q) * sizeof(*c->gram));
    for (size_t i = 0; i < n; i++) {
        double slope = loss_slope(c, i, c->zero[i]), u = u_of(c, i);
        double share = u > 0 ? fabs(slope) / u : 0;
        double curve = c->problem->loss == VXS_LOSS_SQUARED ? u : u * share * (1 - share);
        for (size_t a = 0; a < q; a++) {
            double x = c->problem->free[a * n + i];
            c->gram[q * q + a] -= slope * x;
            for (size_t b = 0; b < q; b++)
                c->gram[a * q + b] += curve * x * c->problem->free[b * n + i];
        }
    }
}

/* Newton's method on the free columns, with halved steps where a whole one does not help. */
static double fit_empty(check *c)
{
    size_t q = c->q;
    double value = empty_value(c, c->b, c->zero), next = -INFINITY, *trial = c->block;
    for (int step = 0; step < 100 && q > 0 && next < value; step++) {
        value = next > -INFINITY ? next : value;
        newton_system(c);
        eliminate(c->gram, q, c->used);
        next = INFINITY;
        for (double share = 1; share > 1e-9 && !(next < value); share /= 2) {
            for (size_t a = 0; a < q; a++)
                trial[a] = c->b[a] + share * c->gram[q * q + a];
            next = empty_value(c, trial, c->zero);
        }
        if (next < value)
            memcpy(c->b, trial, q * sizeof(*trial));
    }
    return empty_value(c, c->b, c->zero);
}

/* ---- The answer ------------------------------------------------------------------------------ */

static double primal_value(check *c, const vxs_solution *s)
{
    size_t n = c->n;
    double sum = 0;
    memset(c->z, 0, n * sizeof(*c->z));
    for (size_t k = 0; k < c->q; k++)
        for (size_t i = 0; i < n; i++)
            c->z[i] += s->free[k] * c->problem->free[k * n + i];
    for (size_t k = 0; k < s->count; k++) {
        double w = s->weight[k];
        vxs_design_fetch(c->problem->design, &s->index[k], 1, c->block);
        for (size_t i = 0; i < n; i++)
            c->z[i] += w * c->block[i];
        sum += s->certificate.lambda * fabs(w) + c->problem->ridge * w * w / 2;
    }
    for (size_t i = 0; i < n; i++)
        sum += loss(c, i, c->z[i]);
    return sum;
}

static void take_off(double *v, const double *b, size_t n)
{
    double along = inner(b, v, n);
    for (size_t i = 0; i < n; i++)
        v[i] -= along * b[i];
}

/* What the free columns span, over samples that have a weight; columns that depend on others add
 * nothing. Returns how many directions that is. */
static size_t span_free(check *c)
{
    size_t rank = 0, n = c->n;
    for (size_t k = 0; k < c->q; k++) {
        double *b = c->basis + rank * n;
        for (size_t i = 0; i < n; i++)
            b[i] = u_of(c, i) > 0 ? c->problem->free[k * n + i] : 0;
        double before = sqrt(inner(b, b, n));
        for (size_t r = 0; r < 2 * rank; r++)
            take_off(b, c->basis + r % rank * n, n);
        double length = sqrt(inner(b, b, n));
        for (size_t i = 0; i < n && length > 1e-10 * before; i++)
            b[i] /= length;
        rank += length > 1e-10 * before;
    }
    return rank;
}

/* The largest |x_j'theta| over all columns (x_j'theta when weights may not be negative), counting
 * the ridge's part of those with a weight; and lambda_max. */
static double steepest(check *c, const vxs_solution *s, double *lambda_max)
{
    double most = 0;
    size_t set[BLOCK], next = 0;
    *lambda_max = 0;
    for (size_t first = 0; first < c->p; first += BLOCK) {
        size_t count = c->p - first < BLOCK ? c->p - first : BLOCK;
        for (size_t k = 0; k < count; k++)
            set[k] = first + k;
        vxs_design_fetch(c->problem->design, set, count, c->block);
        for (size_t k = 0; k < count; k++) {
            double value = inner(c->block + k * c->n, c->theta, c->n);
            double start = inner(c->block + k * c->n, c->away, c->n);
            if (next < s->count && s->index[next] == set[k])
                value -= c->problem->ridge * s->weight[next++] / s->certificate.lambda;
            most = fmax(most, c->problem->nonnegative ? value : fabs(value));
            *lambda_max = fmax(*lambda_max, c->problem->nonnegative ? start : fabs(start));
        }
    }
    return most;
}

static double dual_value(const check *c, const vxs_solution *s, double most)
{
    double lambda = s->certificate.lambda, square = 0, along = 0, scale = 1, sum = 0, size = 0;
    for (size_t k = 0; k < s->count; k++)
        size += c->problem->ridge * s->weight[k] * s->weight[k];
    for (size_t i = 0; i < c->n; i++) {
        along += lambda * c->theta[i] * c->problem->y[i];
        square += u_of(c, i) > 0 ? lambda * lambda * c->theta[i] * c->theta[i] / u_of(c, i) : 0;
    }
    if (c->problem->loss == VXS_LOSS_SQUARED && square + size > 0)
        scale = along / (square + size);
    if (most > 0)
        scale = fmax(-1 / most, fmin(1 / most, scale));
    for (size_t i = 0; i < c->n; i++)
        sum += dual_term(c, i, -lambda * scale * c->theta[i]);
    return sum - scale * scale * size / 2;
}

/* Taking the free columns out may leave the dual's domain by a little; a share of the empty model's
 * point, which is inside, brings theta back. Any point of the domain gives a bound. */
static void bring_inside(const check *c, double lambda)
{
    double share = 0;
    if (c->problem->loss == VXS_LOSS_SQUARED)
        return;
    for (size_t i = 0; i < c->n; i++) {
        double u = u_of(c, i), y = c->problem->y[i];
        double here = u > 0 ? y * lambda * c->theta[i] / u : 0;
        double there = u > 0 ? y * c->away[i] / u : 0;
        double over = here < 0 ? here : here > 1 ? here - 1 : 0;
        if (over != 0 && over / (here - there) > share)
            share = fmin(1, over / (here - there));
    }
    for (size_t i = 0; i < c->n; i++)
        c->theta[i] += share * (c->away[i] / lambda - c->theta[i]);
}

static void look(check *c, const vxs_solution *s, vxs_certificate *result)
{
    double lambda = s->certificate.lambda, empty = fit_empty(c);
    result->primal = primal_value(c, s);
    for (size_t i = 0; i < c->n; i++) {
        c->theta[i] = -loss_slope(c, i, c->z[i]) / lambda;
        c->away[i] = -loss_slope(c, i, c->zero[i]);
    }
    size_t rank = span_free(c);
    for (size_t r = 0; r < rank; r++) {
        take_off(c->theta, c->basis + r * c->n, c->n);
        take_off(c->away, c->basis + r * c->n, c->n);
    }
    bring_inside(c, lambda);
    double most = steepest(c, s, &result->lambda_max);
    result->dual = dual_value(c, s, most);
    result->lambda = lambda;
    result->gap = empty > 0 ? (result->primal - result->dual) / empty : 0;
    result->nonzero = s->count;
    result->tol = s->certificate.tol;
    result->converged = result->gap <= s->certificate.tol * (1 + 1e-6) + 1e-13;
}

vxs_status vxs_check_solution(const vxs_problem *problem, const vxs_solution *solution,
                              vxs_certificate *certificate, vxs_error *err)
{
    size_t n = vxs_design_rows(problem->design), q = problem->free_count;
    check c = { .problem = problem, .n = n, .p = vxs_design_columns(problem->design), .q = q };
    double *room = vxs_alloc(n * (4 + BLOCK + q) + q * q + 2 * q + BLOCK, sizeof(*room), err);
    c.used = vxs_alloc(q, sizeof(*c.used), err);
    vxs_status status = room && c.used ? vxs_design_measure(problem->design, err) : VXS_FAILED;
    *certificate = (vxs_certificate){ .lambda = 0 };
    if (!status) {
        c.z = room;
        c.zero = c.z + n;
        c.theta = c.zero + n;
        c.away = c.theta + n;
        c.basis = c.away + n;
        c.gram = c.basis + n * q;
        c.b = c.gram + q * q + q;
        c.block = c.b + q;
        look(&c, solution, certificate);
    }
    free(room);
    free(c.used);
    return status;
}
