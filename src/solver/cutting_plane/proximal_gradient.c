/* proximal_gradient.c - methods fgm and mslr: the problem on the rounds by accelerated proximal
 * gradients.
 *
 * Problem   minimise over omega  (sum_h |omega_h|)^2 / 2 + phi(omega), phi the least over b of
 *           C sum u f: what the penalty's projection asks for is known in closed form
 *           (algorithm 3), and b is found to the end in every step, so that each step has a
 *           point of the dual.
 * Step      omega = S(v - phi'(v) / L) from v, which goes on in the direction of the last step;
 *           the direction is forgotten when the value rises.
 * Caches    X_h v_h and X_h phi'_h (section 5.5): omega_h is a sum of v_h and phi'_h, so that a
 *           try of another L costs n for each round, and no column is read.
 * Gap       each step's slope is a point of the dual: with the largest |X_h'slope| it bounds
 *           the value from below.
 * Source    Tan, Tsang, Wang, algorithms 3 and 4; there b takes a step of its own. */
#include "solver/cutting_plane/cutting_plane.h"

#include <cblas.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#define FIRST    60 /* steps before an interior point is asked, and half of what it factors */
#define STEPS    1000
#define SHIFTS   20   /* steps of intercept and confounds for each of these; 6 are usual */
#define PATIENCE 50   /* steps in which neither value nor bound gets better */
#define SMALLER  0.95 /* of the last L, to begin with */
#define LARGER   1.6

typedef struct {
    vxs_generation *g;
    size_t n, count, width;             /* rounds, and all their columns */
    double *omega, *before, *v, *slope; /* width */
    double *at, *was, *along, *down;    /* n x count: X_h of these four */
    double *next_z;                     /* n */
    double *vv, *vs, *ss;               /* count: inner products of v and slope */
    double *norm, *scale;               /* |u_h|, and what u_h is multiplied with */
    double *sorted;
    size_t *seen;
    double step, momentum;   /* L */
    double value, best_dual; /* of omega; the best bound so far */
    double phi_v;
} proximal;

static vxs_status take_room(proximal *a, vxs_error *err)
{
    double **const wide[] = { &a->omega, &a->before, &a->v, &a->slope };
    double **const long_[] = { &a->at, &a->was, &a->along, &a->down };
    double **const few[] = { &a->vv, &a->vs, &a->ss, &a->norm, &a->scale, &a->sorted };
    bool fine = true;
    for (size_t k = 0; k < 4; k++) {
        *wide[k] = vxs_alloc(a->width, sizeof(double), err);
        *long_[k] = vxs_alloc(a->n, a->count * sizeof(double), err);
        fine = fine && *wide[k] && *long_[k];
    }
    for (size_t k = 0; k < 6; k++) {
        *few[k] = vxs_alloc(a->count, sizeof(double), err);
        fine = fine && *few[k];
    }
    a->next_z = vxs_alloc(a->n, sizeof(double), err);
    a->seen = vxs_alloc(a->count, sizeof(*a->seen), err);
    return fine && a->next_z && a->seen ? VXS_OK : VXS_FAILED;
}

static void release(proximal *a)
{
    void *const all[] = { a->omega, a->before, a->v,      a->slope, a->at, a->was,
                          a->along, a->down,   a->vv,     a->vs,    a->ss, a->norm,
                          a->scale, a->sorted, a->next_z, a->seen };
    for (size_t k = 0; k < sizeof(all) / sizeof(all[0]); k++)
        free(all[k]);
}

/* ---- Moreau's projection --------------------------------------------------------------------- */

static int by_size(const void *a, const void *b)
{
    double left = *(const double *)a, right = *(const double *)b;
    return (left < right) - (left > right);
}

/* What each norm is lowered by, s being 1 / L. */
static double threshold(const double *norm, size_t count, double s, double *sorted)
{
    double sum = 0, result = 0;
    memcpy(sorted, norm, count * sizeof(*sorted));
    qsort(sorted, count, sizeof(*sorted), by_size);
    for (size_t h = 0; h < count; h++) {
        sum += sorted[h];
        double lower = s * sum / (1 + (double)(h + 1) * s);
        if (!(sorted[h] > lower))
            break;
        result = lower;
    }
    return result;
}

/* ---- One step -------------------------------------------------------------------------------- */

/* v = omega + m (omega - before), and its predictions. */
static void go_on(proximal *a, double m)
{
    for (size_t k = 0; k < a->width; k++)
        a->v[k] = a->omega[k] + m * (a->omega[k] - a->before[k]);
    for (size_t k = 0; k < a->n * a->count; k++)
        a->along[k] = a->at[k] + m * (a->at[k] - a->was[k]);
    memset(a->g->z, 0, a->n * sizeof(double));
    for (size_t h = 0; h < a->count; h++)
        cblas_daxpy((int)a->n, 1, a->along + h * a->n, 1, a->g->z, 1);
}

/* Slope and products at v, and the bound that follows. */
static void look(proximal *a)
{
    vxs_generation *g = a->g;
    double steepest = 0;
    vxs_generation_look_down(g, a->seen, a->down);
    a->phi_v = g->value;
    size_t at = 0;
    for (size_t h = 0; h < a->count; h++) {
        const vxs_round *round = &g->rounds[h];
        double *v = a->v + at, *slope = a->slope + at;
        vxs_round_gather(g, round, g->pool.gradient, slope);
        a->vv[h] = cblas_ddot((int)round->width, v, 1, v, 1);
        a->vs[h] = cblas_ddot((int)round->width, v, 1, slope, 1);
        a->ss[h] = cblas_ddot((int)round->width, slope, 1, slope, 1);
        steepest = fmax(steepest, a->ss[h]);
        at += round->width;
    }
    a->best_dual = fmax(a->best_dual, vxs_generation_bound(g, g->slope, 1) - steepest / 2);
}

/* omega_h = scale_h (v_h - slope_h / L) for a try of L: its predictions, and the value there. */
static double try_step(proximal *a, double l, double *penalty)
{
    double sum = 0;
    for (size_t h = 0; h < a->count; h++)
        a->norm[h] = sqrt(fmax(0, a->vv[h] - 2 * a->vs[h] / l + a->ss[h] / (l * l)));
    double lower = threshold(a->norm, a->count, 1 / l, a->sorted);
    memset(a->g->z, 0, a->n * sizeof(double));
    for (size_t h = 0; h < a->count; h++) {
        double left = fmax(0, a->norm[h] - lower);
        a->scale[h] = left > 0 ? left / a->norm[h] : 0;
        sum += left;
        if (left <= 0)
            continue;
        cblas_daxpy((int)a->n, a->scale[h], a->along + h * a->n, 1, a->g->z, 1);
        cblas_daxpy((int)a->n, -a->scale[h] / l, a->down + h * a->n, 1, a->g->z, 1);
    }
    *penalty = sum * sum / 2;
    return a->g->budget.cost * vxs_shift_fit(&a->g->shift, a->g->z, a->next_z);
}

/* Whether phi is below its model at v with L. */
static bool is_below(const proximal *a, double l, double phi)
{
    double model = a->phi_v, size = fabs(a->phi_v);
    for (size_t h = 0; h < a->count; h++) {
        double dv = a->scale[h] - 1, ds = -a->scale[h] / l; /* omega - v = dv v + ds slope */
        double linear = dv * a->vs[h] + ds * a->ss[h];
        double square = dv * dv * a->vv[h] + 2 * dv * ds * a->vs[h] + ds * ds * a->ss[h];
        model += linear + l / 2 * fmax(0, square);
        size += fabs(linear);
    }
    return phi <= model + 1e-14 * size;
}

/* The tried step is taken: omega and its predictions. */
static void take_step(proximal *a, double l)
{
    double *spare = a->before, *other = a->was;
    a->before = a->omega;
    a->was = a->at;
    a->omega = spare;
    a->at = other;
    size_t at = 0;
    for (size_t h = 0; h < a->count; h++) {
        double s = a->scale[h];
        for (size_t k = 0; k < a->g->rounds[h].width; k++, at++)
            a->omega[at] = s * (a->v[at] - a->slope[at] / l);
        for (size_t i = 0; i < a->n; i++)
            a->at[h * a->n + i] = s * (a->along[h * a->n + i] - a->down[h * a->n + i] / l);
    }
}

/* Whether the value fell; if not the step is not taken, unless it hardly rose. */
static bool step(proximal *a)
{
    double penalty = 0, phi = 0;
    double next = (1 + sqrt(1 + 4 * a->momentum * a->momentum)) / 2;
    go_on(a, (a->momentum - 1) / next);
    look(a);
    a->step *= SMALLER;
    for (int tries = 0; tries < 200; tries++) {
        phi = try_step(a, a->step, &penalty);
        if (is_below(a, a->step, phi))
            break;
        a->step *= LARGER;
    }
    bool falls = penalty + phi < a->value;
    bool plain = a->momentum == 1;
    if (!falls) { /* forget the direction */
        a->momentum = 1;
        if (!plain)
            return false;
    }
    if (falls) {
        take_step(a, a->step);
        a->value = penalty + phi;
        a->momentum = next;
    }
    return falls;
}

/* ---- The problem ----------------------------------------------------------------------------- */

/* Omega as it is, with its predictions and value. */
static void start(proximal *a)
{
    vxs_generation *g = a->g;
    size_t at = 0;
    memset(g->z, 0, a->n * sizeof(double));
    for (size_t h = 0; h < a->count; h++) {
        memcpy(a->omega + at, g->rounds[h].omega, g->rounds[h].width * sizeof(double));
        vxs_round_predict(g, &g->rounds[h], a->omega + at, a->at + h * a->n);
        cblas_daxpy((int)a->n, 1, a->at + h * a->n, 1, g->z, 1);
        at += g->rounds[h].width;
    }
    memcpy(a->before, a->omega, a->width * sizeof(double));
    memcpy(a->was, a->at, a->n * a->count * sizeof(double));
    a->value =
        vxs_generation_penalty(g) + g->budget.cost * vxs_shift_fit(&g->shift, g->z, a->next_z);
    a->best_dual = -INFINITY;
    a->momentum = 1;
}

static void hand_back(const proximal *a)
{
    size_t at = 0;
    for (size_t h = 0; h < a->count; h++) {
        vxs_round *round = &a->g->rounds[h];
        memcpy(round->omega, a->omega + at, round->width * sizeof(double));
        round->norm = cblas_dnrm2((int)round->width, round->omega, 1);
        at += round->width;
    }
}

static double gap_of(const proximal *a)
{
    return (a->value - a->best_dual) / a->g->empty;
}

static void iterate(proximal *a, int steps)
{
    double best = INFINITY;
    vxs_generation *g = a->g;
    uint64_t most = g->shift.steps + SHIFTS * (uint64_t)steps;
    for (int k = 0, stuck = 0; k < steps && stuck < PATIENCE && g->shift.steps < most; k++) {
        if (vxs_check_interrupted(g->context, NULL))
            break; /* the caller polls too */
        bool fell = step(a);
        double gap = gap_of(a);
        g->iterations++;
        stuck = fell && gap < best ? 0 : stuck + 1;
        best = fmin(best, gap);
        if (gap <= g->target)
            break;
    }
    double gap = gap_of(a);
    g->restricted = isnan(gap) ? INFINITY : fmax(0, gap);
}

static vxs_status descend(vxs_generation *g, int steps, vxs_error *err)
{
    proximal a = {
        .g = g, .n = g->n, .count = g->count, .step = 0.01 * (double)g->n * g->budget.cost
    };
    for (size_t h = 0; h < g->count; h++)
        a.width += g->rounds[h].width;
    vxs_status status = take_room(&a, err);
    if (!status) {
        start(&a);
        iterate(&a, steps);
        hand_back(&a);
    }
    release(&a);
    return status;
}

/* Few problems need more than some steps; those that do are brought near their answer by an
 * interior point, from where steps make rounds empty that have no part in it. */
vxs_status vxs_proximal_solve(vxs_generation *g, vxs_error *err)
{
    size_t columns = vxs_pool_columns(&g->pool), least = columns < g->n ? columns : g->n;
    vxs_status status = descend(g, FIRST + (int)(least / 2), err);
    if (status || g->restricted <= g->target)
        return status;
    status = vxs_central_solve(g, err);
    return status ? status : descend(g, STEPS, err);
}
