/* budget_interior.c - the problem on the rounds by an interior point, where proximal gradients take
 * long.
 *
 * Problem   |omega_h| = mu_h makes the penalty a sum over units: the least over mu >= 0,
 *           sum mu = 1, of 1/2 sum_c w_c^2 / d_c, d_c the sum of mu_h over rounds that have
 *           c's unit. Units that are in several rounds are one again: nothing is singular.
 * Hinge     the squared hinge is C u xi^2 / 2 with y z = 1 - xi + slack, slack >= 0. Where
 *           margins are met, Newton's step is cut down to nothing by hinges of samples that it
 *           did not see; then a barrier on the slack gives all samples a curvature.
 * Method    Newton on v = w / sqrt(d), mu and b, for the value less eps (sum log mu + sum log
 *           slack), eps falling. H = I + Y'Y of v, Y = sqrt(C u f'') X sqrt(d), is factored where
 *           it is smaller: over columns, or over samples as I + YY'. mu and b are what remains.
 * Gap       of the problem on the rounds, with b found to the end, as in proximal_gradient.c,
 *           which takes over from here: its steps take rounds away that are only small here. */
#include "linalg/cholesky.h"
#include "linalg/lapack.h"
#include "solver/cutting_plane/cutting_plane.h"

#include <cblas.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#define STEPS   120
#define SHRINK  0.15 /* eps, when a step went well */
#define AWAY    0.97 /* of the way to where a mu would be 0 */
#define LEAST   1e-6 /* mu of a round that is new */
#define STUCK   8    /* steps without a better gap, or a smaller eps; */
#define BARRIER 0.01 /* of the gap asked for: a smaller share of the barriers leads no further */
#define WELL    0.3  /* a step that went well: so much of it was taken */
#define ROUNDED 1e-15

typedef struct {
    vxs_generation *g;
    size_t n, m, t, q;     /* samples, columns, rounds, free columns */
    size_t *unit;          /* m: the column's, of those in rounds */
    size_t *column;        /* m: where it stands in the pool */
    size_t units;          /* in rounds */
    bool *in;              /* units x t */
    double *d;             /* units */
    double *v, *mu, *b;    /* where we are */
    double *z;             /* n: predictions without b */
    double *slope, *curve; /* n: C u f', sqrt(C u f'') */
    double *y;             /* n x m: sqrt(C u f'') X sqrt(d) */
    double *system;        /* the factor */
    double *right;         /* m x (t + q + 1) */
    double *half;          /* n x (t + q + 1), where the factor is over samples */
    double *rest;          /* (t + q + 1)^2 and a right side */
    int *pivot;
    double *dv, *dmu, *db, *trial;
    double *root;    /* m: sqrt(d) where a step begins */
    bool hinged;     /* there is a barrier on each sample's slack, too */
    double barriers; /* how many there are */
    double eps, value;
} central;

/* ---- Where we are ---------------------------------------------------------------------------- */

static void find_d(const central *c, const double *mu)
{
    for (size_t k = 0; k < c->units; k++) {
        c->d[k] = 0;
        for (size_t h = 0; h < c->t; h++)
            c->d[k] += c->in[k * c->t + h] ? mu[h] : 0;
    }
}

/* xi of y z = 1 - xi + slack where sample i, whose loss is weighted with C u, has the least C u
 * xi^2 / 2 - eps log slack: there xi slack = eps / (C u). */
static double excess(const central *c, size_t i, double weight, double *slack)
{
    double over = 1 - c->g->problem.loss.y[i] * c->g->shifted[i], product = c->eps / weight;
    double sum = hypot(over, 2 * sqrt(product)); /* xi + slack */
    double large = (sum + fabs(over)) / 2, small = product / large;
    *slack = over > 0 ? small : large;
    return over > 0 ? large : small;
}

static double weight_of(const central *c, size_t i)
{
    return c->g->budget.cost * vxs_loss_weight(&c->g->problem.loss, i);
}

/* C sum u f, with the barriers of the slacks. */
static double loss_at(const central *c)
{
    double sum = 0, slack = 0;
    if (!c->hinged)
        return c->g->budget.cost * vxs_loss_value(&c->g->problem.loss, c->g->shifted);
    for (size_t i = 0; i < c->n; i++) {
        double weight = weight_of(c, i), xi = weight > 0 ? excess(c, i, weight, &slack) : 0;
        sum += weight > 0 ? weight * xi * xi / 2 - c->eps * log(slack) : 0;
    }
    return sum;
}

/* Its gradient, and the root of its curvature. */
static void differentiate(const central *c)
{
    const vxs_loss *loss = &c->g->problem.loss;
    if (!c->hinged) {
        vxs_loss_gradient(loss, c->g->shifted, c->slope);
        vxs_loss_curvature(loss, c->g->shifted, c->curve);
    }
    for (size_t i = 0; i < c->n; i++) {
        double weight = weight_of(c, i), slack = 0;
        double xi = c->hinged && weight > 0 ? excess(c, i, weight, &slack) : 0;
        double curve = xi > 0 ? weight * xi / (xi + slack) : 0;
        c->slope[i] = c->hinged ? -weight * loss->y[i] * xi : c->g->budget.cost * c->slope[i];
        c->curve[i] = sqrt(c->hinged ? curve : fmax(0, c->g->budget.cost * c->curve[i]));
    }
}

/* Predictions of w = v sqrt(d), without b and with it; the loss. */
static double predict(const central *c, const double *v, const double *b, double *z)
{
    memset(z, 0, c->n * sizeof(*z));
    for (size_t k = 0; k < c->m; k++)
        cblas_daxpy((int)c->n, v[k] * sqrt(c->d[c->unit[k]]), c->g->pool.x + c->column[k] * c->n, 1,
                    z, 1);
    memcpy(c->g->shifted, z, c->n * sizeof(*z));
    for (size_t r = 0; r < c->q; r++)
        cblas_daxpy((int)c->n, b[r], c->g->shift.basis + r * c->n, 1, c->g->shifted, 1);
    return loss_at(c);
}

/* The value less eps times the sum of logarithms. */
static double value_at(const central *c, const double *v, const double *mu, const double *b)
{
    find_d(c, mu);
    double sum = cblas_ddot((int)c->m, v, 1, v, 1) / 2 + predict(c, v, b, c->z);
    for (size_t h = 0; h < c->t; h++)
        sum -= c->eps * log(mu[h]);
    return sum;
}

/* Slope and curvature where value_at was last. */
static void look(const central *c)
{
    differentiate(c);
    for (size_t k = 0; k < c->m; k++) {
        const double *x = c->g->pool.x + c->column[k] * c->n;
        double root = sqrt(c->d[c->unit[k]]);
        for (size_t i = 0; i < c->n; i++)
            c->y[k * c->n + i] = c->curve[i] * root * x[i];
    }
}

/* ---- The system ------------------------------------------------------------------------------ */

static bool over_columns(const central *c)
{
    return c->m <= c->n;
}

/* I + Y'Y or I + YY', factored. */
static bool factor(const central *c)
{
    int size = (int)(over_columns(c) ? c->m : c->n);
    CBLAS_TRANSPOSE turned = over_columns(c) ? CblasTrans : CblasNoTrans;
    cblas_dsyrk(CblasColMajor, CblasLower, turned, size, (int)(over_columns(c) ? c->n : c->m), 1,
                c->y, (int)c->n, 0, c->system, size);
    for (int k = 0; k < size; k++)
        c->system[(size_t)k * (size_t)size + (size_t)k] += 1;
    return vxs_cholesky(c->system, (size_t)size);
}

/* right = H^-1 right */
static void solve(const central *c, double *right, int width)
{
    int n = (int)c->n, m = (int)c->m;
    if (over_columns(c)) {
        vxs_cholesky_solve(c->system, (size_t)m, right, (size_t)width);
        return;
    }
    cblas_dgemm(CblasColMajor, CblasNoTrans, CblasNoTrans, n, width, m, 1, c->y, n, right, m, 0,
                c->half, n);
    vxs_cholesky_solve(c->system, (size_t)n, c->half, (size_t)width);
    cblas_dgemm(CblasColMajor, CblasTrans, CblasNoTrans, m, width, n, -1, c->y, n, c->half, n, 1,
                right, m);
}

/* v_c / d_c where the column's unit is in round h. */
static double share_of(const central *c, size_t k, size_t h)
{
    return c->in[c->unit[k] * c->t + h] ? c->v[k] / c->d[c->unit[k]] : 0;
}

/* Columns that couple v with mu and b, and the slope by v. */
static void couple(const central *c, double *right)
{
    size_t n = c->n, m = c->m;
    for (size_t h = 0; h < c->t; h++)
        for (size_t k = 0; k < m; k++)
            right[h * m + k] = -share_of(c, k, h);
    for (size_t r = 0; r < c->q; r++) {
        for (size_t i = 0; i < n; i++)
            c->trial[i] = c->curve[i] * c->g->shift.basis[r * n + i];
        cblas_dgemv(CblasColMajor, CblasTrans, (int)n, (int)m, 1, c->y, (int)n, c->trial, 1, 0,
                    right + (c->t + r) * m, 1);
    }
    double *slope = right + (c->t + c->q) * m;
    for (size_t k = 0; k < m; k++)
        slope[k] =
            c->v[k] + sqrt(c->d[c->unit[k]]) *
                          cblas_ddot((int)n, c->g->pool.x + c->column[k] * n, 1, c->slope, 1);
}

/* What is left of mu and b: the system, with a multiplier for sum dmu = 0, and its right side. */
static void reduce(const central *c, const double *coupled)
{
    size_t m = c->m, t = c->t, q = c->q, size = t + q + 1;
    double *a = c->rest, *down = c->rest + size * size;
    memset(a, 0, (size * size + size) * sizeof(*a));
    for (size_t i = 0; i < t + q; i++)
        for (size_t j = 0; j < t + q; j++)
            a[j * size + i] -= cblas_ddot((int)m, coupled + i * m, 1, c->right + j * m, 1);
    for (size_t i = 0; i < t + q; i++)
        down[i] = cblas_ddot((int)m, coupled + i * m, 1, c->right + (t + q) * m, 1);
    for (size_t h = 0; h < t; h++) {
        const double *u = coupled + h * m;
        for (size_t j = 0; j < t; j++)
            a[j * size + h] += cblas_ddot((int)m, u, 1, coupled + j * m, 1);
        a[h * size + h] += c->eps / (c->mu[h] * c->mu[h]);
        down[h] += c->eps / c->mu[h];
        for (size_t k = 0; k < m; k++)
            down[h] += share_of(c, k, h) * c->v[k] / 2;
        a[h * size + t + q] = a[(t + q) * size + h] = 1;
    }
    for (size_t r = 0; r < q; r++) {
        const double *x = c->g->shift.basis + r * c->n;
        for (size_t s = 0; s < q; s++)
            for (size_t i = 0; i < c->n; i++)
                a[(t + s) * size + t + r] +=
                    c->curve[i] * c->curve[i] * x[i] * c->g->shift.basis[s * c->n + i];
        a[(t + r) * size + t + r] += ROUNDED;
        down[t + r] -= cblas_ddot((int)c->n, x, 1, c->slope, 1);
    }
}

/* Newton's direction. */
static bool find_step(const central *c, double *coupled)
{
    size_t m = c->m, t = c->t, q = c->q;
    int size = (int)(t + q + 1), one = 1, info = 0;
    couple(c, coupled);
    memcpy(c->right, coupled, (t + q + 1) * m * sizeof(*coupled));
    if (!factor(c))
        return false;
    solve(c, c->right, size);
    reduce(c, coupled);
    double *y = c->rest + (size_t)size * (size_t)size;
    dgesv_(&size, &one, c->rest, &size, c->pivot, y, &size, &info);
    if (info != 0)
        return false;
    memcpy(c->dmu, y, t * sizeof(*y));
    memcpy(c->db, y + t, q * sizeof(*y));
    for (size_t k = 0; k < m; k++) {
        c->dv[k] = -c->right[(t + q) * m + k];
        for (size_t j = 0; j < t + q; j++)
            c->dv[k] -= y[j] * c->right[j * m + k];
    }
    return true;
}

/* A step, halved until the value falls; the share of it that was taken. */
static double take_step(central *c)
{
    size_t m = c->m, t = c->t, q = c->q;
    double *v = c->trial + c->n, *mu = v + m, *b = mu + t, share = 1;
    find_d(c, c->mu);
    for (size_t k = 0; k < m; k++)
        c->root[k] = sqrt(c->d[c->unit[k]]);
    for (size_t h = 0; h < t; h++)
        if (c->dmu[h] < 0)
            share = fmin(share, -AWAY * c->mu[h] / c->dmu[h]);
    for (; share > 1e-8; share /= 2) {
        for (size_t h = 0; h < t; h++)
            mu[h] = c->mu[h] + share * c->dmu[h];
        find_d(c, mu);
        for (size_t k = 0; k < m; k++) /* w goes straight, not v */
            v[k] = c->root[k] * (c->v[k] + share * c->dv[k]) / sqrt(c->d[c->unit[k]]);
        for (size_t r = 0; r < q; r++)
            b[r] = c->b[r] + share * c->db[r];
        double value = value_at(c, v, mu, b);
        if (value <= c->value + 1e-14 * fabs(c->value)) {
            memcpy(c->v, v, m * sizeof(*v));
            memcpy(c->mu, mu, t * sizeof(*mu));
            memcpy(c->b, b, q * sizeof(*b));
            return share;
        }
    }
    return 0;
}

/* ---- The gap --------------------------------------------------------------------------------- */

/* Of the problem on the rounds, as a share of the empty model's value; b to the end. */
static double find_gap(central *c)
{
    vxs_generation *g = c->g;
    double steepest = 0;
    value_at(c, c->v, c->mu, c->b);
    memcpy(g->shift.b, c->b, c->q * sizeof(*c->b));
    memcpy(g->z, c->z, c->n * sizeof(*c->z));
    vxs_generation_look(g);
    memcpy(c->b, g->shift.b, c->q * sizeof(*c->b));
    for (size_t h = 0; h < c->t; h++) {
        double score = 0;
        for (size_t k = 0; k < c->m; k++)
            score += c->in[c->unit[k] * c->t + h]
                         ? g->pool.gradient[c->column[k]] * g->pool.gradient[c->column[k]]
                         : 0;
        steepest = fmax(steepest, score);
    }
    double primal = cblas_ddot((int)c->m, c->v, 1, c->v, 1) / 2 + g->value;
    return (primal - (vxs_generation_bound(g, g->slope, 1) - steepest / 2)) / g->empty;
}

/* omega_h = mu_h w / d. */
static void hand_back(const central *c, double gap)
{
    find_d(c, c->mu);
    c->g->restricted = gap;
    for (size_t h = 0; h < c->t; h++) {
        vxs_round *round = &c->g->rounds[h];
        size_t at = 0;
        for (size_t k = 0; k < c->m; k++)
            if (c->in[c->unit[k] * c->t + h])
                round->omega[at++] = c->mu[h] * c->v[k] / sqrt(c->d[c->unit[k]]);
        round->norm = cblas_dnrm2((int)round->width, round->omega, 1);
    }
}

static bool is_hinge(const central *c)
{
    return c->g->problem.loss.kind == &vxs_squared_hinge_loss;
}

static void follow(central *c, double *coupled)
{
    vxs_generation *g = c->g;
    double best = INFINITY;
    c->value = value_at(c, c->v, c->mu, c->b);
    for (int k = 0, stuck = 0; k < STEPS && stuck < STUCK; k++) {
        look(c);
        if (vxs_check_interrupted(g->context, NULL) || !find_step(c, coupled))
            return; /* the caller polls too */
        double share = take_step(c), gap = find_gap(c);
        g->iterations++;
        bool falls = share > WELL && c->eps * c->barriers > BARRIER * g->target * g->empty;
        stuck = gap < 0.9 * best || falls ? 0 : stuck + 1;
        if (gap < g->restricted) /* or what it began with is nearer */
            hand_back(c, gap);
        best = fmin(best, gap);
        if (gap <= g->target / 2 || share == 0 || (is_hinge(c) && !c->hinged && share <= WELL))
            return;
        if (share > WELL)
            c->eps *= SHRINK;
        c->eps = fmin(c->eps, gap * g->empty / c->barriers);
        c->value = value_at(c, c->v, c->mu, c->b);
    }
}

/* ---- The beginning --------------------------------------------------------------------------- */

/* Columns of units that are in a round, in the pool's order, which is that of each round's. */
static void list_columns(central *c)
{
    const vxs_generation *g = c->g;
    for (size_t place = 0; place < g->pool.count; place++) {
        bool *in = c->in + c->units * c->t, any = false;
        for (size_t h = 0; h < c->t; h++) {
            in[h] = false;
            for (size_t k = 0; k < g->rounds[h].count; k++)
                in[h] = in[h] || g->rounds[h].place[k] == place;
            any = any || in[h];
        }
        for (size_t k = g->pool.start[place]; k < g->pool.start[place + 1] && any; k++) {
            c->unit[c->m] = c->units;
            c->column[c->m++] = k;
        }
        c->units += any;
    }
}

/* w and mu as the rounds have them, with a little of each round that has nothing. */
static void start(central *c)
{
    const vxs_generation *g = c->g;
    double whole = 0, sum = 0;
    c->barriers = (double)(c->t + (c->hinged ? c->n : 0));
    c->eps = g->empty; /* any, until the gap is known */
    for (size_t h = 0; h < c->t; h++)
        whole += g->rounds[h].norm;
    for (size_t h = 0; h < c->t; h++)
        sum += c->mu[h] = whole > 0 ? fmax(g->rounds[h].norm / whole, LEAST) : 1;
    for (size_t h = 0; h < c->t; h++)
        c->mu[h] /= sum;
    find_d(c, c->mu);
    memset(c->v, 0, c->m * sizeof(*c->v));
    for (size_t h = 0; h < c->t; h++)
        for (size_t k = 0, at = 0; k < c->m; k++)
            if (c->in[c->unit[k] * c->t + h])
                c->v[k] += g->rounds[h].omega[at++];
    for (size_t k = 0; k < c->m; k++)
        c->v[k] /= sqrt(c->d[c->unit[k]]);
    memcpy(c->b, g->shift.b, c->q * sizeof(*c->b));
    c->eps = fmax(find_gap(c), 1e-12) * g->empty / c->barriers * SHRINK;
}

static void release(central *c)
{
    void *const all[] = { c->unit, c->column, c->in,    c->d,    c->v,    c->mu,    c->b,
                          c->z,    c->slope,  c->curve, c->y,    c->dv,   c->dmu,   c->db,
                          c->root, c->system, c->right, c->half, c->rest, c->trial, c->pivot };
    for (size_t k = 0; k < sizeof(all) / sizeof(all[0]); k++)
        free(all[k]);
}

static vxs_status take_room(central *c, size_t columns, vxs_error *err)
{
    size_t rest = c->t + c->q + 1, n = c->n, least = columns < n ? columns : n;
    struct {
        double **at;
        size_t count;
    } const all[] = { { &c->d, c->g->pool.count },
                      { &c->v, columns },
                      { &c->mu, c->t },
                      { &c->b, c->q },
                      { &c->z, n },
                      { &c->slope, n },
                      { &c->curve, n },
                      { &c->root, columns },
                      { &c->dv, columns },
                      { &c->dmu, c->t },
                      { &c->db, c->q },
                      { &c->y, n * columns },
                      { &c->system, least * least },
                      { &c->right, columns * rest },
                      { &c->half, n * rest },
                      { &c->rest, rest * rest + rest },
                      { &c->trial, n + columns + c->t + c->q } };
    bool fine = true;
    for (size_t k = 0; k < sizeof(all) / sizeof(all[0]); k++) {
        *all[k].at = vxs_alloc(all[k].count, sizeof(double), err);
        fine = fine && *all[k].at;
    }
    c->unit = vxs_alloc(columns, sizeof(*c->unit), err);
    c->column = vxs_alloc(columns, sizeof(*c->column), err);
    c->in = vxs_alloc(c->g->pool.count + 1, c->t * sizeof(*c->in), err);
    c->pivot = vxs_alloc(rest, sizeof(*c->pivot), err);
    return fine && c->unit && c->column && c->in && c->pivot ? VXS_OK : VXS_FAILED;
}

vxs_status vxs_central_solve(vxs_generation *g, vxs_error *err)
{
    central c = { .g = g, .n = g->n, .t = g->count, .q = g->shift.rank };
    size_t columns = vxs_pool_columns(&g->pool);
    double *coupled = vxs_alloc(columns, (c.t + c.q + 1) * sizeof(*coupled), err);
    vxs_status status = coupled ? take_room(&c, columns, err) : VXS_FAILED;
    if (!status) {
        list_columns(&c);
        start(&c);
        follow(&c, coupled);
    }
    if (!status && is_hinge(&c) && !(g->restricted <= g->target)) {
        c.hinged = true;
        start(&c);
        follow(&c, coupled);
    }
    free(coupled);
    release(&c);
    return status;
}
