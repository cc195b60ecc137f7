/* plane_master.c - the best weights of the planes of a bundle.
 *
 * Problem   max over alpha, theta: offset'alpha - theta, alpha'Q_h alpha / 2 <= theta for each
 *           round h, alpha >= 0, sum alpha = C, along'alpha = 0; here alpha = C a
 * Method    primal-dual interior point. Slacks c_h = theta - alpha'Q_h alpha / 2 are unknowns of
 *           their own: computed from their terms they lose all digits near the optimum. theta is
 *           eliminated around the mean of Q_h alpha, for the same reason
 * Stops     complementarity below the tolerance; steps that no longer move
 * Cost      a step: K^3 / 3 + T K^2; 15 to 30 steps
 * Threads   those of BLAS and LAPACK
 * Source    spec/measures.md, section 4; Mao and Tsang solve theirs by SimpleMKL */
#include "solver/cutting_plane/plane_master.h"
#include "linalg/cholesky.h"

#include <cblas.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#define STEPS      150
#define BOUNDARY   0.98  /* share of the way to the boundary */
#define BALANCED   1e-9  /* of the scale: dual residuals that are rounding */
#define FEASIBLE   1e-10 /* primal ones */
#define SINGULAR   1e-13 /* of the largest pivot: an equation that others imply */
#define REGULAR    1e-14 /* of the diagonal: added where the matrix is singular to rounding */
#define NO_FURTHER 1e-10 /* steps shorter than this end the search */

typedef struct {
    vxs_plane_master *m;
    size_t k, t, q; /* planes, rounds, equations: the sum and those of the free columns */
    double scale, theta, dtheta, sigma;
    double *a, *s, *da, *ds;           /* k */
    double *mu, *c, *dmu, *dc, *h, *r; /* t; r: residuals of the slacks */
    double *nu, *residual, *system;    /* q, q, q x q */
    double *e;                         /* k x q: equations */
    double *products;                  /* k x t: C Q_h a */
    double *mean, *dual;               /* k */
    double *matrix;                    /* k x k */
    double *columns;                   /* k x (q + 1): right-hand sides */
} interior;

static void release(interior *p)
{
    void *const all[] = { p->a, p->mu, p->nu, p->e, p->products, p->matrix, p->columns };
    for (size_t k = 0; k < sizeof(all) / sizeof(all[0]); k++)
        free(all[k]);
}

static vxs_status allocate(interior *p, vxs_error *err)
{
    size_t k = p->k, t = p->t, q = p->q;
    p->a = vxs_alloc(6 * k, sizeof(double), err);
    p->mu = vxs_alloc(6 * t, sizeof(double), err);
    p->nu = vxs_alloc(q * (q + 3), sizeof(double), err);
    p->e = vxs_alloc(k, q * sizeof(double), err);
    p->products = vxs_alloc(k, t * sizeof(double), err);
    p->matrix = vxs_alloc(k, k * sizeof(double), err);
    p->columns = vxs_alloc(k, (q + 1) * sizeof(double), err);
    if (!p->a || !p->mu || !p->nu || !p->e || !p->products || !p->matrix || !p->columns)
        return VXS_FAILED;
    double **const planes[] = { &p->a, &p->s, &p->da, &p->ds, &p->mean, &p->dual };
    double **const rounds[] = { &p->mu, &p->c, &p->dmu, &p->dc, &p->h, &p->r };
    for (size_t i = 1; i < 6; i++) {
        *planes[i] = p->a + i * k;
        *rounds[i] = p->mu + i * t;
    }
    p->residual = p->nu + q;
    p->system = p->nu + 2 * q;
    return VXS_OK;
}

/* ---- Residuals ------------------------------------------------------------------------------- */

static void multiply(interior *p)
{
    int k = (int)p->k;
    for (size_t h = 0; h < p->t; h++) {
        double *out = p->products + h * p->k;
        cblas_dsymv(CblasColMajor, CblasLower, k, p->m->cost, p->m->gram[h], (int)p->m->stride,
                    p->a, 1, 0, out, 1);
        p->h[h] = fmax(0, cblas_ddot(k, p->a, 1, out, 1) / 2);
    }
}

static double largest(const double *v, size_t count)
{
    double most = 0;
    for (size_t k = 0; k < count; k++)
        most = fmax(most, fabs(v[k]));
    return most;
}

static void begin(interior *p)
{
    const vxs_plane_master *m = p->m;
    for (size_t k = 0; k < p->k; k++) {
        p->a[k] = 1 / (double)p->k;
        p->e[k] = 1;
    }
    memcpy(p->e + p->k, m->along, p->k * m->equations * sizeof(*p->e));
    multiply(p);
    p->scale = fmax(1e-12, fmax(largest(m->offset, p->k), largest(p->h, p->t)));
    p->theta = largest(p->h, p->t) + p->scale;
    for (size_t h = 0; h < p->t; h++) {
        p->mu[h] = 1 / (double)p->t;
        p->c[h] = p->theta - p->h[h];
    }
    for (size_t k = 0; k < p->k; k++)
        p->s[k] = p->scale;
    p->sigma = 0.3;
}

/* Computes all residuals; returns the complementarity. */
static double find_residuals(interior *p)
{
    int k = (int)p->k;
    multiply(p);
    for (size_t h = 0; h < p->t; h++)
        p->r[h] = p->theta - p->h[h] - p->c[h];
    for (size_t i = 0; i < p->k; i++)
        p->dual[i] = -p->m->offset[i] - p->s[i];
    cblas_dgemv(CblasColMajor, CblasNoTrans, k, (int)p->t, 1, p->products, k, p->mu, 1, 1, p->dual,
                1);
    cblas_dgemv(CblasColMajor, CblasNoTrans, k, (int)p->q, 1, p->e, k, p->nu, 1, 1, p->dual, 1);
    cblas_dgemv(CblasColMajor, CblasTrans, k, (int)p->q, 1, p->e, k, p->a, 1, 0, p->residual, 1);
    p->residual[0] -= 1;
    return cblas_ddot((int)p->t, p->mu, 1, p->c, 1) + cblas_ddot(k, p->s, 1, p->a, 1);
}

static bool is_solved(const interior *p, double complementarity)
{
    double size = fabs(cblas_ddot((int)p->k, p->m->offset, 1, p->a, 1)) + largest(p->h, p->t);
    return complementarity < p->m->tol * fmax(1e-300, fmin(p->scale, size)) &&
           largest(p->dual, p->k) < BALANCED * p->scale && largest(p->residual, p->q) < FEASIBLE;
}

/* ---- Steps ----------------------------------------------------------------------------------- */

/* Matrix and right-hand side without theta: products around their mean. `lag` = (eps - mu c) / c -
 * mu r / c, of each round, stays in dmu. */
static void build(interior *p, double eps)
{
    int k = (int)p->k;
    double whole = 0, missing = 1;
    for (size_t h = 0; h < p->t; h++) {
        whole += p->mu[h] / p->c[h];
        missing -= p->mu[h];
        p->dmu[h] = (eps - p->mu[h] * (p->c[h] + p->r[h])) / p->c[h];
    }
    memset(p->mean, 0, p->k * sizeof(*p->mean));
    for (size_t h = 0; h < p->t; h++)
        cblas_daxpy(k, p->mu[h] / p->c[h] / whole, p->products + h * p->k, 1, p->mean, 1);
    memset(p->matrix, 0, p->k * p->k * sizeof(*p->matrix));
    for (size_t i = 0; i < p->k; i++)
        p->columns[i] = -p->dual[i] + (eps - p->s[i] * p->a[i]) / p->a[i] - p->mean[i] * missing;
    for (size_t h = 0; h < p->t; h++) {
        double *around = p->da; /* not in use yet */
        for (size_t i = 0; i < p->k; i++) {
            around[i] = p->products[h * p->k + i] - p->mean[i];
            cblas_daxpy(k - (int)i, p->m->cost * p->mu[h], p->m->gram[h] + i * p->m->stride + i, 1,
                        p->matrix + i * p->k + i, 1);
        }
        cblas_dsyr(CblasColMajor, CblasLower, k, p->mu[h] / p->c[h], around, 1, p->matrix, k);
        cblas_daxpy(k, -p->dmu[h], around, 1, p->columns, 1);
    }
    for (size_t i = 0; i < p->k; i++)
        p->matrix[i * p->k + i] += p->s[i] / p->a[i] + REGULAR * p->matrix[i * p->k + i];
    memcpy(p->columns + p->k, p->e, p->k * p->q * sizeof(*p->columns));
}

/* E H^-1 E' dnu = E H^-1 r + residual, its diagonal scaled to 1. */
static void find_multipliers(interior *p, double *dnu)
{
    int k = (int)p->k, q = (int)p->q;
    double *scale = p->residual; /* rewritten by the next residuals */
    cblas_dgemm(CblasColMajor, CblasTrans, CblasNoTrans, q, q, k, 1, p->e, k, p->columns + k, k, 0,
                p->system, q);
    cblas_dgemv(CblasColMajor, CblasTrans, k, q, 1, p->e, k, p->columns, 1, 0, dnu, 1);
    for (int i = 0; i < q; i++) {
        dnu[i] += scale[i];
        scale[i] = p->system[i * q + i] > 0 ? 1 / sqrt(p->system[i * q + i]) : 0;
    }
    for (int i = 0; i < q; i++) {
        dnu[i] *= scale[i];
        for (int j = 0; j < q; j++)
            p->system[i * q + j] *= scale[i] * scale[j];
    }
    vxs_cholesky_semidefinite(p->system, p->q, SINGULAR);
    vxs_cholesky_semidefinite_solve(p->system, p->q, dnu);
    for (int i = 0; i < q; i++)
        dnu[i] *= scale[i];
}

static double longest(const double *v, const double *step, size_t count, double most)
{
    for (size_t k = 0; k < count; k++)
        if (step[k] < 0)
            most = fmin(most, BOUNDARY * v[k] / -step[k]);
    return most;
}

static void add(double *v, const double *step, double length, size_t count)
{
    cblas_daxpy((int)count, length, step, 1, v, 1);
}

/* The step of all unknowns; false if the matrix has lost its digits. */
static bool find_step(interior *p, double eps, double *dnu)
{
    int k = (int)p->k;
    double whole = 0, sum = 0, missing = 1;
    build(p, eps);
    if (!vxs_cholesky(p->matrix, p->k))
        return false;
    vxs_cholesky_solve(p->matrix, p->k, p->columns, p->q + 1);
    find_multipliers(p, dnu);
    memcpy(p->da, p->columns, p->k * sizeof(*p->da));
    cblas_dgemv(CblasColMajor, CblasNoTrans, k, (int)p->q, -1, p->columns + p->k, k, dnu, 1, 1,
                p->da, 1);
    for (size_t h = 0; h < p->t; h++) {
        whole += p->mu[h] / p->c[h];
        sum += p->dmu[h];
        missing -= p->mu[h];
    }
    p->dtheta = cblas_ddot(k, p->mean, 1, p->da, 1) + (sum - missing) / whole;
    for (size_t h = 0; h < p->t; h++) {
        double along = p->dtheta - cblas_ddot(k, p->products + h * p->k, 1, p->da, 1);
        p->dmu[h] -= p->mu[h] / p->c[h] * along;
        p->dc[h] = along + p->r[h];
    }
    for (size_t i = 0; i < p->k; i++)
        p->ds[i] = (eps - p->s[i] * p->a[i]) / p->a[i] - p->s[i] / p->a[i] * p->da[i];
    return isfinite(p->dtheta);
}

static double take_step(interior *p, const double *dnu)
{
    double length = longest(p->a, p->da, p->k, 1);
    length = longest(p->s, p->ds, p->k, length);
    length = longest(p->mu, p->dmu, p->t, length);
    length = longest(p->c, p->dc, p->t, length);
    add(p->a, p->da, length, p->k);
    add(p->s, p->ds, length, p->k);
    add(p->mu, p->dmu, length, p->t);
    add(p->c, p->dc, length, p->t);
    add(p->nu, dnu, length, p->q);
    p->theta += length * p->dtheta;
    p->sigma = length < 0.9 ? fmin(0.9, (1 - length) * (1 - length) + 0.02) : 0.05;
    p->sigma = fmax(0.05, p->sigma);
    return length;
}

static vxs_status iterate(interior *p, vxs_error *err)
{
    double *dnu = vxs_alloc(p->q, sizeof(*dnu), err), length = 1;
    if (!dnu)
        return VXS_FAILED;
    for (p->m->steps = 0; p->m->steps < STEPS && length > NO_FURTHER; p->m->steps++) {
        double complementarity = find_residuals(p);
        if (is_solved(p, complementarity) ||
            !find_step(p, p->sigma * complementarity / (double)(p->k + p->t), dnu))
            break;
        length = take_step(p, dnu);
    }
    free(dnu);
    return VXS_OK;
}

/* ---- The answer ------------------------------------------------------------------------------ */

/* Moves a in proportion to its squares until it meets the equations to rounding. */
static void balance(interior *p)
{
    int k = (int)p->k, q = (int)p->q;
    for (int pass = 0; pass < 3; pass++) {
        for (size_t j = 0; j < p->q; j++)
            for (size_t i = 0; i < p->k; i++)
                p->columns[(j + 1) * p->k + i] = p->a[i] * p->a[i] * p->e[j * p->k + i];
        memset(p->columns, 0, p->k * sizeof(*p->columns));
        cblas_dgemv(CblasColMajor, CblasTrans, k, q, 1, p->e, k, p->a, 1, 0, p->residual, 1);
        p->residual[0] -= 1;
        double *dnu = p->dual;
        if (p->q > p->k) /* more free columns than planes: as it is */
            return;
        find_multipliers(p, dnu);
        cblas_dgemv(CblasColMajor, CblasNoTrans, k, q, -1, p->columns + p->k, k, dnu, 1, 1, p->a,
                    1);
        for (size_t i = 0; i < p->k; i++)
            p->a[i] = fmax(0, p->a[i]);
    }
}

static void answer(interior *p)
{
    vxs_plane_master *m = p->m;
    double shares = 0, sum = 0;
    balance(p);
    for (size_t i = 0; i < p->k; i++)
        sum += p->a[i];
    cblas_dscal((int)p->k, 1 / sum, p->a, 1);
    multiply(p);
    m->lower = m->cost * (cblas_ddot((int)p->k, m->offset, 1, p->a, 1) - largest(p->h, p->t));
    for (size_t i = 0; i < p->k; i++)
        m->alpha[i] = m->cost * p->a[i];
    for (size_t h = 0; h < p->t; h++)
        shares += p->mu[h];
    for (size_t h = 0; h < p->t; h++)
        m->mu[h] = p->mu[h] / shares;
    for (size_t j = 0; j < m->equations; j++)
        m->free_weights[j] = -p->nu[j + 1];
}

vxs_status vxs_plane_master_solve(vxs_plane_master *m, vxs_error *err)
{
    interior p = { .m = m, .k = m->planes, .t = m->rounds, .q = m->equations + 1 };
    vxs_status status = allocate(&p, err);
    if (!status) {
        begin(&p);
        status = iterate(&p, err);
    }
    if (!status)
        answer(&p);
    release(&p);
    return status;
}
