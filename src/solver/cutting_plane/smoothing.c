/* smoothing.c - method mslr --solver descent: the problem on the rounds, smoothed, by coordinate
 * descent on alpha.
 *
 * Problem   minimise over alpha  max over rounds t of  f_t = |w_t|^2 / 2 + G(alpha),
 *           w_t = X_t'(alpha y), G(alpha) = sum alpha log alpha + (C u - alpha) log(C u -
 *           alpha), 0 < alpha < C u.
 * Smooth    f(alpha, q) = log(sum_t exp(q f_t)) / q, at most log(T) / q above; q rises by 5/3
 *           whenever that is what the gap mostly consists of.
 * Descent   one alpha_i at a time: p'(z) = log((c1 + z) / (c2 - z)) + sum_t l_t (a_t z + b_t),
 *           l_t the shares of exp(q f_t), is 0 at one place. Newton's method in Z1 = c1 + z or
 *           Z2 = c2 - z, whichever is smaller at the answer, so that neither is lost in a
 *           difference; bounds close in with each step, and their middle is taken where Newton
 *           leaves them (algorithm 3: with q = 100 Newton alone does not converge on the
 *           example of figure 2). Samples are taken in an order of chance.
 * Answer    omega_t = l_t w_t; its gap on the rounds is what descent stops by. alpha is the
 *           point of the dual that the bound over all units rests on: it is nearer than the
 *           one that follows from predictions.
 * Source    Tan, Tsang, Wang: Minimax sparse logistic regression. It is the problem of method
 *           fgm with the logistic loss and without shift, from its dual. */
#include "solver/cutting_plane/smoothing.h"

#include <cblas.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#define SWEEPS   2000
#define PATIENCE 100  /* sweeps without a better gap */
#define FIRST_Q  0.01 /* q_0 */
#define FASTER   (5.0 / 3)
#define EDGE     1e-12 /* of C u: alpha begins no nearer to its ends */
#define SEED     1     /* samples are taken in an order of chance, another in each sweep */
#define NEWTON   200
#define NEARER   1e-3 /* than what is known to be too far */
#define CLOSE    1e-2 /* of alpha: no sweep profits from more */

typedef struct {
    vxs_generation *g;
    size_t n, count, width;
    double *row;            /* n x width: samples as rows, times y; rounds beside each other */
    double *norm;           /* n x count: |x_it|^2 */
    double *w;              /* width: w_t */
    double *half;           /* count: |w_t|^2 / 2 */
    double *share;          /* count: l_t */
    double *along, *square; /* count: b_t, a_t */
    double *alpha;          /* n */
    size_t *first;          /* count + 1: where w_t begins */
    size_t *order;          /* n: of a sweep */
    double q;
} smoothing;

/* ---- One alpha ------------------------------------------------------------------------------- */

/* Shares of exp(q (f_t + change_t)), and the slope of the smooth maximum by z with its second
 * derivative. */
static double slope_at(const vxs_newton *s, double z, double *curve)
{
    double top = -INFINITY, sum = 0, mean = 0, square = 0, bend = 0;
    for (size_t t = 0; t < s->count; t++)
        top = fmax(top, s->half[t] + (s->a[t] * z / 2 + s->b[t]) * z);
    for (size_t t = 0; t < s->count; t++) {
        double h = s->half[t] + (s->a[t] * z / 2 + s->b[t]) * z;
        double e = exp(s->q * (h - top)), d = s->a[t] * z + s->b[t];
        sum += e;
        mean += e * d;
        square += e * d * d;
        bend += e * s->a[t];
    }
    mean /= sum;
    *curve = bend / sum + s->q * fmax(0, square / sum - mean * mean);
    return mean;
}

/* p'(Z - c1), or with `upper` -p'(c2 - Z), of which Z is the distance from the end. */
static double slope_from_end(const vxs_newton *s, bool upper, double distance, double *curve)
{
    double whole = s->c1 + s->c2;
    double z = upper ? s->c2 - distance : distance - s->c1;
    double slope = slope_at(s, z, curve);
    *curve += whole / (distance * (whole - distance));
    return log(distance / (whole - distance)) + (upper ? -slope : slope);
}

double vxs_newton_bisection(const vxs_newton *s, bool *upper)
{
    double whole = s->c1 + s->c2, low = 0, high = whole / 2, curve;
    double middle = (s->c2 - s->c1) / 2;
    /* the answer is in the lower half when p' is not negative in the middle */
    *upper = slope_at(s, middle, &curve) < 0;
    double at = fmin(*upper ? s->c2 : s->c1, high);
    at = at > 0 ? at : high / 2;
    for (int k = 0; k < NEWTON; k++) {
        double slope = slope_from_end(s, *upper, at, &curve), next = at - slope / curve;
        if (slope == 0)
            break;
        *(slope < 0 ? &low : &high) = at;
        if (!(next > low && next < high))
            next = low > 0 ? sqrt(low) * sqrt(high) : high * NEARER; /* it may be of any size */
        if (fabs(next - at) <= s->close * at || next == low || next == high)
            return next;
        at = next;
    }
    return at;
}

/* ---- Sweeps ---------------------------------------------------------------------------------- */

static void find_shares(smoothing *s)
{
    double top = s->half[cblas_idamax((int)s->count, s->half, 1)], sum = 0;
    for (size_t t = 0; t < s->count; t++)
        sum += s->share[t] = exp(s->q * (s->half[t] - top));
    for (size_t t = 0; t < s->count; t++)
        s->share[t] /= sum;
}

static void descend(smoothing *s, size_t i)
{
    const double *x = s->row + i * s->width;
    double most = s->g->budget.cost * vxs_loss_weight(&s->g->problem.loss, i);
    if (!(most > 0))
        return;
    for (size_t t = 0; t < s->count; t++)
        s->along[t] = cblas_ddot((int)(s->first[t + 1] - s->first[t]), x + s->first[t], 1,
                                 s->w + s->first[t], 1);
    vxs_newton line = { .count = s->count,
                        .half = s->half,
                        .a = s->norm + i * s->count,
                        .b = s->along,
                        .q = s->q,
                        .close = CLOSE,
                        .c1 = s->alpha[i],
                        .c2 = most - s->alpha[i] };
    bool upper;
    double distance = vxs_newton_bisection(&line, &upper);
    double next = upper ? most - distance : distance;
    next = fmin(fmax(next, EDGE * most), most - EDGE * most);
    double z = next - s->alpha[i];
    s->alpha[i] = next;
    cblas_daxpy((int)s->width, z, x, 1, s->w, 1);
    for (size_t t = 0; t < s->count; t++)
        s->half[t] += (s->along[t] + z * line.a[t] / 2) * z;
}

/* w_t and |w_t|^2 from alpha, without what rounding left. */
static void refresh(smoothing *s)
{
    memset(s->w, 0, s->width * sizeof(*s->w));
    for (size_t i = 0; i < s->n; i++)
        cblas_daxpy((int)s->width, s->alpha[i], s->row + i * s->width, 1, s->w, 1);
    for (size_t t = 0; t < s->count; t++) {
        int width = (int)(s->first[t + 1] - s->first[t]);
        double norm = cblas_dnrm2(width, s->w + s->first[t], 1);
        s->half[t] = norm * norm / 2;
    }
}

/* Answer and gap on the rounds: omega_t = l_t w_t. */
static double find_gap(smoothing *s)
{
    vxs_generation *g = s->g;
    double sum = 0, steepest = 0;
    refresh(s);
    find_shares(s);
    for (size_t i = 0; i < s->n; i++) {
        const double *x = s->row + i * s->width;
        g->z[i] = 0;
        for (size_t t = 0; t < s->count; t++)
            g->z[i] += s->share[t] * cblas_ddot((int)(s->first[t + 1] - s->first[t]),
                                                x + s->first[t], 1, s->w + s->first[t], 1);
        g->z[i] *= g->problem.loss.y[i];
        g->slope[i] = -g->problem.loss.y[i] * s->alpha[i];
    }
    for (size_t t = 0; t < s->count; t++) {
        sum += s->share[t] * sqrt(2 * s->half[t]);
        steepest = fmax(steepest, s->half[t]);
    }
    double primal = sum * sum / 2 + g->budget.cost * vxs_loss_value(&g->problem.loss, g->z);
    return (primal - (vxs_generation_bound(g, g->slope, 1) - steepest)) / g->empty;
}

static void keep(const smoothing *s)
{
    for (size_t i = 0; i < s->n; i++)
        s->g->own[i] = -s->g->problem.loss.y[i] * s->alpha[i];
    for (size_t t = 0; t < s->count; t++) {
        vxs_round *round = &s->g->rounds[t];
        for (size_t k = 0; k < round->width; k++)
            round->omega[k] = s->share[t] * s->w[s->first[t] + k];
        round->norm = s->share[t] * sqrt(2 * s->half[t]);
    }
}

/* What the smooth maximum adds at most, as a share of the empty model's value. */
static double smoothness(const smoothing *s)
{
    return log((double)s->count) / s->q / s->g->empty;
}

static void iterate(smoothing *s)
{
    vxs_generation *g = s->g;
    double best = INFINITY;
    for (int sweep = 0, stuck = 0; sweep < SWEEPS && stuck < PATIENCE; sweep++) {
        if (vxs_check_interrupted(g->context, NULL))
            break; /* the caller polls too */
        vxs_random random = { .seed = SEED, .stream = (uint64_t)sweep };
        vxs_random_permutation(&random, s->order, s->n);
        for (size_t k = 0; k < s->n; k++)
            descend(s, s->order[k]);
        g->iterations++;
        double gap = find_gap(s);
        stuck = gap < 0.999 * best ? 0 : stuck + 1;
        if (gap < best) {
            best = gap;
            keep(s);
        }
        if (gap <= g->target)
            break;
        for (int k = 0; k < 3 && smoothness(s) > gap / 4; k++)
            s->q *= FASTER;
    }
    g->restricted = fmax(0, best);
}

/* ---- The problem ----------------------------------------------------------------------------- */

static vxs_status take_room(smoothing *s, vxs_error *err)
{
    s->row = vxs_alloc(s->n, s->width * sizeof(*s->row), err);
    s->norm = vxs_alloc(s->n, s->count * sizeof(*s->norm), err);
    s->w = vxs_alloc(s->width, sizeof(*s->w), err);
    s->half = vxs_alloc(s->count, sizeof(*s->half), err);
    s->share = vxs_alloc(s->count, sizeof(*s->share), err);
    s->along = vxs_alloc(s->count, sizeof(*s->along), err);
    s->alpha = vxs_alloc(s->n, sizeof(*s->alpha), err);
    s->first = vxs_alloc(s->count + 1, sizeof(*s->first), err);
    s->order = vxs_alloc(s->n, sizeof(*s->order), err);
    return s->row && s->norm && s->w && s->half && s->share && s->along && s->alpha && s->first &&
                   s->order
               ? VXS_OK
               : VXS_FAILED;
}

static void release(smoothing *s)
{
    void *const all[] = { s->row,   s->norm,  s->w,     s->half, s->share,
                          s->along, s->alpha, s->first, s->order };
    for (size_t k = 0; k < sizeof(all) / sizeof(all[0]); k++)
        free(all[k]);
}

/* Columns of a round as parts of rows. */
static void turn(smoothing *s, size_t t)
{
    const vxs_generation *g = s->g;
    const vxs_round *round = &g->rounds[t];
    size_t at = s->first[t];
    for (size_t k = 0; k < round->count; k++)
        for (size_t c = g->pool.start[round->place[k]]; c < g->pool.start[round->place[k] + 1];
             c++, at++)
            for (size_t i = 0; i < s->n; i++)
                s->row[i * s->width + at] = g->problem.loss.y[i] * g->pool.x[c * s->n + i];
    for (size_t i = 0; i < s->n; i++) {
        const double *x = s->row + i * s->width + s->first[t];
        s->norm[i * s->count + t] = cblas_ddot((int)round->width, x, 1, x, 1);
    }
}

/* alpha where the last problem ended. */
static void start(smoothing *s)
{
    vxs_generation *g = s->g;
    for (size_t t = 0; t < s->count; t++)
        turn(s, t);
    for (size_t i = 0; i < s->n; i++) {
        double most = g->budget.cost * vxs_loss_weight(&g->problem.loss, i);
        double alpha = -g->problem.loss.y[i] * g->own[i];
        s->alpha[i] = fmin(fmax(alpha, EDGE * most), most - EDGE * most);
    }
    refresh(s);
}

vxs_status vxs_smoothing_solve(vxs_generation *g, vxs_error *err)
{
    smoothing s = { .g = g, .n = g->n, .count = g->count, .q = FIRST_Q };
    for (size_t t = 0; t < g->count; t++)
        s.width += g->rounds[t].width;
    vxs_status status = take_room(&s, err);
    for (size_t t = 0; t < g->count && !status; t++)
        s.first[t + 1] = s.first[t] + g->rounds[t].width;
    if (!status) {
        start(&s);
        iterate(&s);
    }
    release(&s);
    return status;
}
