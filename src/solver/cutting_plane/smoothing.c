/* smoothing.c - mslr with coordinate descent: the restricted problem from its smoothed dual.
 *
 * Problem   min over alpha, 0 < alpha < C u: max over cuts t of f_t = |w_t|^2 / 2 + G(alpha), w_t =
 *           X_t'(alpha y), G(alpha) = sum alpha log alpha + (C u - alpha) log(C u - alpha)
 * Smooth    f(alpha, q) = log(sum_t exp(q f_t)) / q <= max f_t + log(T) / q; q increases by 5/3
 *           while the smoothing error dominates the gap
 * Method    coordinate descent: p'(z) = log((c1 + z) / (c2 - z)) + sum_t l_t (a_t z + b_t), l the
 *           softmax of q f_t, has one root. Newton's method in Z1 = c1 + z or Z2 = c2 - z, the
 *           smaller at the root, to avoid cancellation; safeguarded by bisection (algorithm 3: with
 *           q = 100 Newton alone does not converge on the example of figure 2). Samples in random
 *           order
 * Stops     the gap of omega_t = l_t w_t, to g->target; PATIENCE sweeps without progress
 * Cost      a sweep: n x columns of cuts
 * Threads   those of BLAS
 * Source    Tan, Tsang, Wang: Minimax sparse logistic regression, algorithms 2 and 3: fgm's problem
 *           with the logistic loss and without intercept. alpha is the dual point of the bound over
 *           all blocks: it is closer to the optimum than the one that follows from predictions */
#include "solver/cutting_plane/smoothing.h"

#include <cblas.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#define SWEEPS         2000
#define PATIENCE       100  /* sweeps without a smaller gap */
#define FIRST_Q        0.01 /* q_0 */
#define Q_FACTOR       (5.0 / 3)
#define MARGIN         1e-12 /* of C u: distance of the initial alpha from the bounds */
#define SEED           1     /* of the random order, a stream for each sweep */
#define MAX_NEWTON     200
#define SHRINK         1e-3 /* factor of the upper bound while the lower one is 0 */
#define COORDINATE_TOL 1e-2 /* relative tolerance of alpha; smaller ones do not save sweeps */

typedef struct {
    vxs_cutting_plane *g;
    size_t n, count, width;
    double *row;             /* n x width, row-major: y x X, cuts side by side */
    double *norm;            /* n x count: |x_it|^2 */
    double *w;               /* width: w_t */
    double *half;            /* count: |w_t|^2 / 2 */
    double *softmax;         /* count: l_t, softmax weights */
    double *linear, *square; /* count: b_t, a_t */
    double *alpha;           /* n */
    size_t *first;           /* count + 1: first entry of w_t */
    size_t *order;           /* n: order of a sweep */
    double q;
} smoothing;

/* ---- One coordinate -------------------------------------------------------------------------- */

/* First and second derivative of the smoothed maximum by z. */
static double derivative_at(const vxs_coordinate_problem *s, double z, double *second)
{
    double max = -INFINITY, sum = 0, mean = 0, square = 0, curvature = 0;
    for (size_t t = 0; t < s->count; t++)
        max = fmax(max, s->half[t] + (s->a[t] * z / 2 + s->b[t]) * z);
    for (size_t t = 0; t < s->count; t++) {
        double h = s->half[t] + (s->a[t] * z / 2 + s->b[t]) * z;
        double e = exp(s->q * (h - max)), d = s->a[t] * z + s->b[t];
        sum += e;
        mean += e * d;
        square += e * d * d;
        curvature += e * s->a[t];
    }
    mean /= sum;
    *second = curvature / sum + s->q * fmax(0, square / sum - mean * mean);
    return mean;
}

/* p'(Z - c1), or with `upper` -p'(c2 - Z): Z is the distance from the bound. */
static double derivative_from_bound(const vxs_coordinate_problem *s, bool upper, double distance,
                                    double *second)
{
    double length = s->c1 + s->c2;
    double z = upper ? s->c2 - distance : distance - s->c1;
    double derivative = derivative_at(s, z, second);
    *second += length / (distance * (length - distance));
    return log(distance / (length - distance)) + (upper ? -derivative : derivative);
}

double vxs_safeguarded_newton(const vxs_coordinate_problem *s, bool *upper)
{
    double length = s->c1 + s->c2, low = 0, high = length / 2, second;
    double middle = (s->c2 - s->c1) / 2;
    /* the root is in the lower half if p' >= 0 at the middle */
    *upper = derivative_at(s, middle, &second) < 0;
    double at = fmin(*upper ? s->c2 : s->c1, high);
    at = at > 0 ? at : high / 2;
    for (int k = 0; k < MAX_NEWTON; k++) {
        double derivative = derivative_from_bound(s, *upper, at, &second),
               next = at - derivative / second;
        if (derivative == 0)
            break;
        *(derivative < 0 ? &low : &high) = at;
        if (!(next > low && next < high))
            next = low > 0 ? sqrt(low) * sqrt(high) : high * SHRINK; /* geometric bisection: the
                                                                      * root may be of any
                                                                      * magnitude */
        if (fabs(next - at) <= s->tol * at || next == low || next == high)
            return next;
        at = next;
    }
    return at;
}

/* ---- Sweeps ---------------------------------------------------------------------------------- */

static void update_softmax(smoothing *s)
{
    double max = s->half[cblas_idamax((int)s->count, s->half, 1)], sum = 0;
    for (size_t t = 0; t < s->count; t++)
        sum += s->softmax[t] = exp(s->q * (s->half[t] - max));
    for (size_t t = 0; t < s->count; t++)
        s->softmax[t] /= sum;
}

static void update_coordinate(smoothing *s, size_t i)
{
    const double *x = s->row + i * s->width;
    double bound = s->g->budget.cost * vxs_loss_weight(&s->g->problem.loss, i);
    if (!(bound > 0))
        return;
    for (size_t t = 0; t < s->count; t++)
        s->linear[t] = cblas_ddot((int)(s->first[t + 1] - s->first[t]), x + s->first[t], 1,
                                  s->w + s->first[t], 1);
    vxs_coordinate_problem problem = { .count = s->count,
                                       .half = s->half,
                                       .a = s->norm + i * s->count,
                                       .b = s->linear,
                                       .q = s->q,
                                       .tol = COORDINATE_TOL,
                                       .c1 = s->alpha[i],
                                       .c2 = bound - s->alpha[i] };
    bool upper;
    double distance = vxs_safeguarded_newton(&problem, &upper);
    double next = upper ? bound - distance : distance;
    next = fmin(fmax(next, MARGIN * bound), bound - MARGIN * bound);
    double z = next - s->alpha[i];
    s->alpha[i] = next;
    cblas_daxpy((int)s->width, z, x, 1, s->w, 1);
    for (size_t t = 0; t < s->count; t++)
        s->half[t] += (s->linear[t] + z * problem.a[t] / 2) * z;
}

/* w_t and |w_t|^2 from alpha, without accumulated rounding. */
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

/* Primal point omega_t = l_t w_t, and the gap of the restricted problem. */
static double find_gap(smoothing *s)
{
    vxs_cutting_plane *g = s->g;
    double sum = 0, max_half = 0;
    refresh(s);
    update_softmax(s);
    for (size_t i = 0; i < s->n; i++) {
        const double *x = s->row + i * s->width;
        g->z[i] = 0;
        for (size_t t = 0; t < s->count; t++)
            g->z[i] += s->softmax[t] * cblas_ddot((int)(s->first[t + 1] - s->first[t]),
                                                  x + s->first[t], 1, s->w + s->first[t], 1);
        g->z[i] *= g->problem.loss.y[i];
        g->gradient[i] = -g->problem.loss.y[i] * s->alpha[i];
    }
    for (size_t t = 0; t < s->count; t++) {
        sum += s->softmax[t] * sqrt(2 * s->half[t]);
        max_half = fmax(max_half, s->half[t]);
    }
    double primal = sum * sum / 2 + g->budget.cost * vxs_loss_value(&g->problem.loss, g->z);
    return (primal - (vxs_cutting_plane_conjugate(g, g->gradient, 1) - max_half)) / g->empty;
}

static void write_omega(const smoothing *s)
{
    for (size_t i = 0; i < s->n; i++)
        s->g->dual_gradient[i] = -s->g->problem.loss.y[i] * s->alpha[i];
    for (size_t t = 0; t < s->count; t++) {
        vxs_cut *cut = &s->g->cuts[t];
        for (size_t k = 0; k < cut->width; k++)
            cut->omega[k] = s->softmax[t] * s->w[s->first[t] + k];
        cut->norm = s->softmax[t] * sqrt(2 * s->half[t]);
    }
}

/* Bound of the smoothing error, relative to the empty model's value. */
static double smoothing_error(const smoothing *s)
{
    return log((double)s->count) / s->q / s->g->empty;
}

static void descend_coordinates(smoothing *s)
{
    vxs_cutting_plane *g = s->g;
    double best = INFINITY;
    for (int sweep = 0, stalled = 0; sweep < SWEEPS && stalled < PATIENCE; sweep++) {
        if (vxs_check_interrupted(g->context, NULL))
            break; /* the caller checks for interruption, too */
        vxs_random random = { .seed = SEED, .stream = (uint64_t)sweep };
        vxs_random_permutation(&random, s->order, s->n);
        for (size_t k = 0; k < s->n; k++)
            update_coordinate(s, s->order[k]);
        g->inner_iterations++;
        double gap = find_gap(s);
        stalled = gap < 0.999 * best ? 0 : stalled + 1;
        if (gap < best) {
            best = gap;
            write_omega(s);
        }
        if (gap <= g->target)
            break;
        for (int k = 0; k < 3 && smoothing_error(s) > gap / 4; k++)
            s->q *= Q_FACTOR;
    }
    g->restricted_gap = fmax(0, best);
}

/* ---- The restricted problem ------------------------------------------------------------------ */

static vxs_status allocate(smoothing *s, vxs_error *err)
{
    s->row = vxs_alloc(s->n, s->width * sizeof(*s->row), err);
    s->norm = vxs_alloc(s->n, s->count * sizeof(*s->norm), err);
    s->w = vxs_alloc(s->width, sizeof(*s->w), err);
    s->half = vxs_alloc(s->count, sizeof(*s->half), err);
    s->softmax = vxs_alloc(s->count, sizeof(*s->softmax), err);
    s->linear = vxs_alloc(s->count, sizeof(*s->linear), err);
    s->alpha = vxs_alloc(s->n, sizeof(*s->alpha), err);
    s->first = vxs_alloc(s->count + 1, sizeof(*s->first), err);
    s->order = vxs_alloc(s->n, sizeof(*s->order), err);
    return s->row && s->norm && s->w && s->half && s->softmax && s->linear && s->alpha &&
                   s->first && s->order
               ? VXS_OK
               : VXS_FAILED;
}

static void release(smoothing *s)
{
    void *const all[] = { s->row,    s->norm,  s->w,     s->half, s->softmax,
                          s->linear, s->alpha, s->first, s->order };
    for (size_t k = 0; k < sizeof(all) / sizeof(all[0]); k++)
        free(all[k]);
}

/* Copies the columns of a cut to rows. */
static void transpose_cut(smoothing *s, size_t t)
{
    const vxs_cutting_plane *g = s->g;
    const vxs_cut *cut = &g->cuts[t];
    size_t at = s->first[t];
    for (size_t k = 0; k < cut->count; k++)
        for (size_t c = g->cache.start[cut->place[k]]; c < g->cache.start[cut->place[k] + 1];
             c++, at++)
            for (size_t i = 0; i < s->n; i++)
                s->row[i * s->width + at] = g->problem.loss.y[i] * g->cache.x[c * s->n + i];
    for (size_t i = 0; i < s->n; i++) {
        const double *x = s->row + i * s->width + s->first[t];
        s->norm[i * s->count + t] = cblas_ddot((int)cut->width, x, 1, x, 1);
    }
}

/* Warm start from the last alpha. */
static void start(smoothing *s)
{
    vxs_cutting_plane *g = s->g;
    for (size_t t = 0; t < s->count; t++)
        transpose_cut(s, t);
    for (size_t i = 0; i < s->n; i++) {
        double bound = g->budget.cost * vxs_loss_weight(&g->problem.loss, i);
        double alpha = -g->problem.loss.y[i] * g->dual_gradient[i];
        s->alpha[i] = fmin(fmax(alpha, MARGIN * bound), bound - MARGIN * bound);
    }
    refresh(s);
}

vxs_status vxs_smoothing_solve(vxs_cutting_plane *g, vxs_error *err)
{
    smoothing s = { .g = g, .n = g->n, .count = g->count, .q = FIRST_Q };
    for (size_t t = 0; t < g->count; t++)
        s.width += g->cuts[t].width;
    vxs_status status = allocate(&s, err);
    for (size_t t = 0; t < g->count && !status; t++)
        s.first[t + 1] = s.first[t] + g->cuts[t].width;
    if (!status) {
        start(&s);
        descend_coordinates(&s);
    }
    release(&s);
    return status;
}
