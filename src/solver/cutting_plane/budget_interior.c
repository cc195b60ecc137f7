/* budget_interior.c - the restricted problem by an interior-point method, where proximal gradients
 * are slow.
 *
 * Problem   |omega_h| = mu_h makes the penalty a sum over blocks: min over mu >= 0, sum mu = 1, of
 *           1/2 sum_c w_c^2 / d_c, d_c the sum of mu_h over cuts that contain the block of column
 *           c. A block in several cuts is one block here: the Hessian is not singular
 * Hinge     squared hinge: C u xi^2 / 2 with y z = 1 - xi + slack, slack >= 0. Where margins are
 *           met its second derivative vanishes and Newton steps are cut short; a barrier on the
 *           slacks gives every sample a second derivative
 * Method    Newton in v = w / sqrt(d), mu and b, on the value - eps (sum log mu + sum log slack),
 *           eps decreasing. H = I + Y'Y for v, Y = sqrt(C u f'') X sqrt(d), factored over columns
 *           or, if these are more, over samples as I + YY'; mu and b by the Schur complement
 * Stops     gap of the restricted problem with b optimal, at most half the target; STALLED steps
 * Cost      a step: min(m, n)^2 max(m, n), m columns of blocks in cuts
 * Threads   those of BLAS
 * Source    none; proximal_gradient.c continues from here, as its steps make small cuts exactly 0
 */
#include "linalg/cholesky.h"
#include "linalg/lapack.h"
#include "solver/cutting_plane/cutting_plane.h"

#include <cblas.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#define STEPS       120
#define EPS_FACTOR  0.15 /* factor of eps after a long step */
#define TO_BOUNDARY 0.97 /* of the step to the boundary mu_h = 0 */
#define MIN_MU      1e-6 /* initial mu of a cut without weight */
#define STALLED     8    /* steps without a smaller gap or eps; */
#define BARRIER     0.01 /* of the target: a smaller share of the barriers does not matter */
#define LONG_STEP   0.3  /* a long step: at least this share of Newton's */
#define ROUNDED     1e-15

typedef struct {
    vxs_cutting_plane *g;
    size_t n, m, t, q;            /* samples, columns, cuts, rank of covariates */
    size_t *block;                /* m: block of a column */
    size_t *column;               /* m: its place in the cache */
    size_t blocks;                /* blocks in cuts */
    bool *in;                     /* blocks x t */
    double *d;                    /* blocks */
    double *v, *mu, *b;           /* the iterate */
    double *z;                    /* n: predictions without covariates */
    double *gradient, *curvature; /* n: C u f', sqrt(C u f'') */
    double *y;                    /* n x m: sqrt(C u f'') X sqrt(d) */
    double *system;               /* Cholesky factor */
    double *right;                /* m x (t + q + 1) */
    double *half;                 /* n x (t + q + 1), if factored over samples */
    double *schur;                /* (t + q + 1)^2 and a right-hand side: the Schur complement */
    int *pivot;
    double *dv, *dmu, *db, *trial;
    double *root;        /* m: sqrt(d) before the step */
    bool slack_barriers; /* barriers on the slacks of samples */
    double barriers;     /* number of logarithms */
    double eps, value;
} interior;

/* ---- Value and derivatives ------------------------------------------------------------------- */

static void find_d(const interior *c, const double *mu)
{
    for (size_t k = 0; k < c->blocks; k++) {
        c->d[k] = 0;
        for (size_t h = 0; h < c->t; h++)
            c->d[k] += c->in[k * c->t + h] ? mu[h] : 0;
    }
}

/* xi of y z = 1 - xi + slack that minimizes C u xi^2 / 2 - eps log slack: xi slack = eps / (C
 * u). */
static double excess(const interior *c, size_t i, double weight, double *slack)
{
    double over = 1 - c->g->problem.loss.y[i] * c->g->prediction[i], product = c->eps / weight;
    double sum = hypot(over, 2 * sqrt(product)); /* xi + slack */
    double large = (sum + fabs(over)) / 2, small = product / large;
    *slack = over > 0 ? small : large;
    return over > 0 ? large : small;
}

static double weight_of(const interior *c, size_t i)
{
    return c->g->budget.cost * vxs_loss_weight(&c->g->problem.loss, i);
}

/* C sum u f, with the barriers on slacks. */
static double loss_at(const interior *c)
{
    double sum = 0, slack = 0;
    if (!c->slack_barriers)
        return c->g->budget.cost * vxs_loss_value(&c->g->problem.loss, c->g->prediction);
    for (size_t i = 0; i < c->n; i++) {
        double weight = weight_of(c, i), xi = weight > 0 ? excess(c, i, weight, &slack) : 0;
        sum += weight > 0 ? weight * xi * xi / 2 - c->eps * log(slack) : 0;
    }
    return sum;
}

/* Its gradient, and the square root of its second derivative. */
static void differentiate(const interior *c)
{
    const vxs_loss *loss = &c->g->problem.loss;
    if (!c->slack_barriers) {
        vxs_loss_gradient(loss, c->g->prediction, c->gradient);
        vxs_loss_curvature(loss, c->g->prediction, c->curvature);
    }
    for (size_t i = 0; i < c->n; i++) {
        double weight = weight_of(c, i), slack = 0;
        double xi = c->slack_barriers && weight > 0 ? excess(c, i, weight, &slack) : 0;
        double curvature = xi > 0 ? weight * xi / (xi + slack) : 0;
        c->gradient[i] =
            c->slack_barriers ? -weight * loss->y[i] * xi : c->g->budget.cost * c->gradient[i];
        c->curvature[i] =
            sqrt(c->slack_barriers ? curvature : fmax(0, c->g->budget.cost * c->curvature[i]));
    }
}

/* Predictions of w = v sqrt(d) without covariates into z, with them into g->prediction; returns the
 * loss. */
static double predict(const interior *c, const double *v, const double *b, double *z)
{
    memset(z, 0, c->n * sizeof(*z));
    for (size_t k = 0; k < c->m; k++)
        cblas_daxpy((int)c->n, v[k] * sqrt(c->d[c->block[k]]), c->g->cache.x + c->column[k] * c->n,
                    1, z, 1);
    memcpy(c->g->prediction, z, c->n * sizeof(*z));
    for (size_t r = 0; r < c->q; r++)
        cblas_daxpy((int)c->n, b[r], c->g->covariates_fit.basis + r * c->n, 1, c->g->prediction, 1);
    return loss_at(c);
}

/* The value with the barriers. */
static double value_at(const interior *c, const double *v, const double *mu, const double *b)
{
    find_d(c, mu);
    double sum = cblas_ddot((int)c->m, v, 1, v, 1) / 2 + predict(c, v, b, c->z);
    for (size_t h = 0; h < c->t; h++)
        sum -= c->eps * log(mu[h]);
    return sum;
}

/* Derivatives at the point of the last value_at. */
static void evaluate_derivatives(const interior *c)
{
    differentiate(c);
    for (size_t k = 0; k < c->m; k++) {
        const double *x = c->g->cache.x + c->column[k] * c->n;
        double root = sqrt(c->d[c->block[k]]);
        for (size_t i = 0; i < c->n; i++)
            c->y[k * c->n + i] = c->curvature[i] * root * x[i];
    }
}

/* ---- The Newton system ----------------------------------------------------------------------- */

static bool over_columns(const interior *c)
{
    return c->m <= c->n;
}

/* I + Y'Y or I + YY', Cholesky. */
static bool factor(const interior *c)
{
    int size = (int)(over_columns(c) ? c->m : c->n);
    CBLAS_TRANSPOSE transpose = over_columns(c) ? CblasTrans : CblasNoTrans;
    cblas_dsyrk(CblasColMajor, CblasLower, transpose, size, (int)(over_columns(c) ? c->n : c->m), 1,
                c->y, (int)c->n, 0, c->system, size);
    for (int k = 0; k < size; k++)
        c->system[(size_t)k * (size_t)size + (size_t)k] += 1;
    return vxs_cholesky(c->system, (size_t)size);
}

/* right = H^-1 right */
static void solve(const interior *c, double *right, int width)
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

/* v_c / d_c if cut h contains the column's block. */
static double ratio_of(const interior *c, size_t k, size_t h)
{
    return c->in[c->block[k] * c->t + h] ? c->v[k] / c->d[c->block[k]] : 0;
}

/* Cross derivatives of v with mu and b, and the gradient by v. */
static void cross_derivatives(const interior *c, double *right)
{
    size_t n = c->n, m = c->m;
    for (size_t h = 0; h < c->t; h++)
        for (size_t k = 0; k < m; k++)
            right[h * m + k] = -ratio_of(c, k, h);
    for (size_t r = 0; r < c->q; r++) {
        for (size_t i = 0; i < n; i++)
            c->trial[i] = c->curvature[i] * c->g->covariates_fit.basis[r * n + i];
        cblas_dgemv(CblasColMajor, CblasTrans, (int)n, (int)m, 1, c->y, (int)n, c->trial, 1, 0,
                    right + (c->t + r) * m, 1);
    }
    double *gradient = right + (c->t + c->q) * m;
    for (size_t k = 0; k < m; k++)
        gradient[k] =
            c->v[k] + sqrt(c->d[c->block[k]]) *
                          cblas_ddot((int)n, c->g->cache.x + c->column[k] * n, 1, c->gradient, 1);
}

/* The Schur complement of mu and b, with a multiplier for sum dmu = 0, and its right-hand side. */
static void schur_complement(const interior *c, const double *cross)
{
    size_t m = c->m, t = c->t, q = c->q, size = t + q + 1;
    double *a = c->schur, *right = c->schur + size * size;
    memset(a, 0, (size * size + size) * sizeof(*a));
    for (size_t i = 0; i < t + q; i++)
        for (size_t j = 0; j < t + q; j++)
            a[j * size + i] -= cblas_ddot((int)m, cross + i * m, 1, c->right + j * m, 1);
    for (size_t i = 0; i < t + q; i++)
        right[i] = cblas_ddot((int)m, cross + i * m, 1, c->right + (t + q) * m, 1);
    for (size_t h = 0; h < t; h++) {
        const double *u = cross + h * m;
        for (size_t j = 0; j < t; j++)
            a[j * size + h] += cblas_ddot((int)m, u, 1, cross + j * m, 1);
        a[h * size + h] += c->eps / (c->mu[h] * c->mu[h]);
        right[h] += c->eps / c->mu[h];
        for (size_t k = 0; k < m; k++)
            right[h] += ratio_of(c, k, h) * c->v[k] / 2;
        a[h * size + t + q] = a[(t + q) * size + h] = 1;
    }
    for (size_t r = 0; r < q; r++) {
        const double *x = c->g->covariates_fit.basis + r * c->n;
        for (size_t s = 0; s < q; s++)
            for (size_t i = 0; i < c->n; i++)
                a[(t + s) * size + t + r] += c->curvature[i] * c->curvature[i] * x[i] *
                                             c->g->covariates_fit.basis[s * c->n + i];
        a[(t + r) * size + t + r] += ROUNDED;
        right[t + r] -= cblas_ddot((int)c->n, x, 1, c->gradient, 1);
    }
}

/* The Newton direction. */
static bool find_step(const interior *c, double *cross)
{
    size_t m = c->m, t = c->t, q = c->q;
    int size = (int)(t + q + 1), one = 1, info = 0;
    cross_derivatives(c, cross);
    memcpy(c->right, cross, (t + q + 1) * m * sizeof(*cross));
    if (!factor(c))
        return false;
    solve(c, c->right, size);
    schur_complement(c, cross);
    double *y = c->schur + (size_t)size * (size_t)size;
    dgesv_(&size, &one, c->schur, &size, c->pivot, y, &size, &info);
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

/* Backtracking line search; returns the share of the Newton step taken. */
static double take_step(interior *c)
{
    size_t m = c->m, t = c->t, q = c->q;
    double *v = c->trial + c->n, *mu = v + m, *b = mu + t, share = 1;
    find_d(c, c->mu);
    for (size_t k = 0; k < m; k++)
        c->root[k] = sqrt(c->d[c->block[k]]);
    for (size_t h = 0; h < t; h++)
        if (c->dmu[h] < 0)
            share = fmin(share, -TO_BOUNDARY * c->mu[h] / c->dmu[h]);
    for (; share > 1e-8; share /= 2) {
        for (size_t h = 0; h < t; h++)
            mu[h] = c->mu[h] + share * c->dmu[h];
        find_d(c, mu);
        for (size_t k = 0; k < m; k++) /* linear in w, not in v */
            v[k] = c->root[k] * (c->v[k] + share * c->dv[k]) / sqrt(c->d[c->block[k]]);
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

/* Gap of the restricted problem, relative to the empty model's value, with b optimal. */
static double find_gap(interior *c)
{
    vxs_cutting_plane *g = c->g;
    double max_score = 0;
    value_at(c, c->v, c->mu, c->b);
    memcpy(g->covariates_fit.b, c->b, c->q * sizeof(*c->b));
    memcpy(g->z, c->z, c->n * sizeof(*c->z));
    vxs_cutting_plane_evaluate(g);
    memcpy(c->b, g->covariates_fit.b, c->q * sizeof(*c->b));
    for (size_t h = 0; h < c->t; h++) {
        double score = 0;
        for (size_t k = 0; k < c->m; k++)
            score += c->in[c->block[k] * c->t + h]
                         ? g->cache.gradient[c->column[k]] * g->cache.gradient[c->column[k]]
                         : 0;
        max_score = fmax(max_score, score);
    }
    double primal = cblas_ddot((int)c->m, c->v, 1, c->v, 1) / 2 + g->value;
    return (primal - (vxs_cutting_plane_conjugate(g, g->gradient, 1) - max_score / 2)) / g->empty;
}

/* omega_h = mu_h w / d. */
static void write_omega(const interior *c, double gap)
{
    find_d(c, c->mu);
    c->g->restricted_gap = gap;
    for (size_t h = 0; h < c->t; h++) {
        vxs_cut *cut = &c->g->cuts[h];
        size_t at = 0;
        for (size_t k = 0; k < c->m; k++)
            if (c->in[c->block[k] * c->t + h])
                cut->omega[at++] = c->mu[h] * c->v[k] / sqrt(c->d[c->block[k]]);
        cut->norm = cblas_dnrm2((int)cut->width, cut->omega, 1);
    }
}

static bool is_hinge(const interior *c)
{
    return c->g->problem.loss.kind == &vxs_squared_hinge_loss;
}

static void follow_path(interior *c, double *cross)
{
    vxs_cutting_plane *g = c->g;
    double best = INFINITY;
    c->value = value_at(c, c->v, c->mu, c->b);
    for (int k = 0, stalled = 0; k < STEPS && stalled < STALLED; k++) {
        evaluate_derivatives(c);
        if (vxs_check_interrupted(g->context, NULL) || !find_step(c, cross))
            return; /* the caller checks for interruption, too */
        double share = take_step(c), gap = find_gap(c);
        g->inner_iterations++;
        bool centers = share > LONG_STEP && c->eps * c->barriers > BARRIER * g->target * g->empty;
        stalled = gap < 0.9 * best || centers ? 0 : stalled + 1;
        if (gap < g->restricted_gap) /* else the warm start is better */
            write_omega(c, gap);
        best = fmin(best, gap);
        if (gap <= g->target / 2 || share == 0 ||
            (is_hinge(c) && !c->slack_barriers && share <= LONG_STEP))
            return;
        if (share > LONG_STEP)
            c->eps *= EPS_FACTOR;
        c->eps = fmin(c->eps, gap * g->empty / c->barriers);
        c->value = value_at(c, c->v, c->mu, c->b);
    }
}

/* ---- Initialization -------------------------------------------------------------------------- */

/* Lists the columns of blocks in cuts, in the order of the cache, which is that of each cut. */
static void list_columns(interior *c)
{
    const vxs_cutting_plane *g = c->g;
    for (size_t place = 0; place < g->cache.count; place++) {
        bool *in = c->in + c->blocks * c->t, any = false;
        for (size_t h = 0; h < c->t; h++) {
            in[h] = false;
            for (size_t k = 0; k < g->cuts[h].count; k++)
                in[h] = in[h] || g->cuts[h].place[k] == place;
            any = any || in[h];
        }
        for (size_t k = g->cache.start[place]; k < g->cache.start[place + 1] && any; k++) {
            c->block[c->m] = c->blocks;
            c->column[c->m++] = k;
        }
        c->blocks += any;
    }
}

/* Warm start: w and mu of the cuts, mu at least MIN_MU. */
static void start(interior *c)
{
    const vxs_cutting_plane *g = c->g;
    double norms = 0, sum = 0;
    c->barriers = (double)(c->t + (c->slack_barriers ? c->n : 0));
    c->eps = g->empty; /* until the gap is known */
    for (size_t h = 0; h < c->t; h++)
        norms += g->cuts[h].norm;
    for (size_t h = 0; h < c->t; h++)
        sum += c->mu[h] = norms > 0 ? fmax(g->cuts[h].norm / norms, MIN_MU) : 1;
    for (size_t h = 0; h < c->t; h++)
        c->mu[h] /= sum;
    find_d(c, c->mu);
    memset(c->v, 0, c->m * sizeof(*c->v));
    for (size_t h = 0; h < c->t; h++)
        for (size_t k = 0, at = 0; k < c->m; k++)
            if (c->in[c->block[k] * c->t + h])
                c->v[k] += g->cuts[h].omega[at++];
    for (size_t k = 0; k < c->m; k++)
        c->v[k] /= sqrt(c->d[c->block[k]]);
    memcpy(c->b, g->covariates_fit.b, c->q * sizeof(*c->b));
    c->eps = fmax(find_gap(c), 1e-12) * g->empty / c->barriers * EPS_FACTOR;
}

static void release(interior *c)
{
    void *const all[] = {
        c->block, c->column,   c->in,        c->d,    c->v,     c->mu,    c->b,
        c->z,     c->gradient, c->curvature, c->y,    c->dv,    c->dmu,   c->db,
        c->root,  c->system,   c->right,     c->half, c->schur, c->trial, c->pivot
    };
    for (size_t k = 0; k < sizeof(all) / sizeof(all[0]); k++)
        free(all[k]);
}

static vxs_status allocate(interior *c, size_t columns, vxs_error *err)
{
    size_t size = c->t + c->q + 1, n = c->n, factored = columns < n ? columns : n;
    struct {
        double **at;
        size_t count;
    } const all[] = { { &c->d, c->g->cache.count },
                      { &c->v, columns },
                      { &c->mu, c->t },
                      { &c->b, c->q },
                      { &c->z, n },
                      { &c->gradient, n },
                      { &c->curvature, n },
                      { &c->root, columns },
                      { &c->dv, columns },
                      { &c->dmu, c->t },
                      { &c->db, c->q },
                      { &c->y, n * columns },
                      { &c->system, factored * factored },
                      { &c->right, columns * size },
                      { &c->half, n * size },
                      { &c->schur, size * size + size },
                      { &c->trial, n + columns + c->t + c->q } };
    bool fine = true;
    for (size_t k = 0; k < sizeof(all) / sizeof(all[0]); k++) {
        *all[k].at = vxs_alloc(all[k].count, sizeof(double), err);
        fine = fine && *all[k].at;
    }
    c->block = vxs_alloc(columns, sizeof(*c->block), err);
    c->column = vxs_alloc(columns, sizeof(*c->column), err);
    c->in = vxs_alloc(c->g->cache.count + 1, c->t * sizeof(*c->in), err);
    c->pivot = vxs_alloc(size, sizeof(*c->pivot), err);
    return fine && c->block && c->column && c->in && c->pivot ? VXS_OK : VXS_FAILED;
}

vxs_status vxs_budget_interior_solve(vxs_cutting_plane *g, vxs_error *err)
{
    interior c = { .g = g, .n = g->n, .t = g->count, .q = g->covariates_fit.rank };
    size_t columns = vxs_block_cache_columns(&g->cache);
    double *cross = vxs_alloc(columns, (c.t + c.q + 1) * sizeof(*cross), err);
    vxs_status status = cross ? allocate(&c, columns, err) : VXS_FAILED;
    if (!status) {
        list_columns(&c);
        start(&c);
        follow_path(&c, cross);
    }
    if (!status && is_hinge(&c) && !(g->restricted_gap <= g->target)) {
        c.slack_barriers = true;
        start(&c);
        follow_path(&c, cross);
    }
    free(cross);
    release(&c);
    return status;
}
