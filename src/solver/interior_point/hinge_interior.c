/* hinge_interior.c - a hinge loss with a >= 0, an l1 term and a Laplacian, by Mehrotra's predictor
 * and corrector.
 *
 * Problem   sum u xi + rho sum a + S a'La, r - xi = Za - 1, with a, r and xi >= 0
 * Optimal   a s = 0, r alpha = 0, xi (u - alpha) = 0, s being the slope of the value in a
 * Step      (B + Z'DZ) da = right, B = 2 S L + diag(s / a), D diagonal: as a k x k system where
 *           there are fewer members than samples, else by way of B, whose factor is a band as wide
 *           as neighbours are apart in the list of members, and an n x n system
 * Source    Mehrotra 1992 */
#include "solver/interior_point/hinge_interior.h"
#include "linalg/cholesky.h"
#include "linalg/lapack.h"

#include <cblas.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#define MOST     200   /* iterations */
#define REFINE   4     /* rounds of a solution */
#define INSIDE   0.05  /* how far from the edge it begins, in a problem whose values are about 1 */
#define SHORTEN  0.995 /* of the way to the edge */
#define PATIENCE 8     /* iterations without a smaller gap */
#define LITTLE   1e-14
#define TINY     1e-300
#define LEAST    1e-10 /* a step that is no longer gets nowhere */

/* LAPACK, which comes with OpenBLAS */

typedef struct {
    vxs_interior *p;
    size_t n, k;
    double *a, *s, *da, *ds;                           /* k */
    double *r, *xi, *alpha, *beta, *dr, *dxi, *dalpha; /* n */
    double *left;                                      /* k: 2 smooth La + rho - Z'alpha - s */
    double *to_a;                                      /* k: what a s should change by */
    double *to_r, *to_xi;                              /* n */
    double *d, *g;                                     /* n */
    double *right, *along, *diagonal;                  /* k */
    double *small;                                     /* n: right side of the n x n system */
    double *memory;                                    /* all of these */

    double *scaled; /* n x k: D^(1/2) Z, or the factor of B applied to Z' */
    double *system; /* k x k or n x n */
    double *band;   /* (width + 1) x k: the factor of B */
    size_t width;
    double least; /* on B's diagonal */
    bool dense;   /* k x k */
} point;

/* ---- The Laplacian --------------------------------------------------------------------------- */

void vxs_interior_pull(const vxs_interior *p, const double *a, double *x)
{
    if (p->smooth == 0)
        return;
    for (size_t i = 0; i < p->k; i++)
        x[i] += 2 * p->smooth * p->degree[i] * a[i];
    for (size_t e = 0; e < p->edges; e++) {
        double w = 2 * p->smooth * p->weight[e];
        x[p->from[e]] -= w * a[p->to[e]];
        x[p->to[e]] -= w * a[p->from[e]];
    }
}

static void times_z(const vxs_interior *p, double factor, const double *a, double *x)
{
    cblas_dgemv(CblasColMajor, CblasNoTrans, (int)p->n, (int)p->k, factor, p->z, (int)p->n, a, 1, 0,
                x, 1);
}

static void times_z_turned(const vxs_interior *p, double factor, const double *x, double *a)
{
    cblas_dgemv(CblasColMajor, CblasTrans, (int)p->n, (int)p->k, factor, p->z, (int)p->n, x, 1, 1,
                a, 1);
}

/* ---- Memory ---------------------------------------------------------------------------------- */

static void free_point(point *t)
{
    free(t->memory);
    free(t->scaled);
    free(t->system);
    free(t->band);
}

static size_t band_width(const vxs_interior *p)
{
    size_t width = 0;
    for (size_t e = 0; e < p->edges && p->smooth > 0; e++)
        width = p->to[e] - p->from[e] > width ? p->to[e] - p->from[e] : width;
    return width;
}

static vxs_status make_room(point *t, vxs_error *err)
{
    size_t n = t->n, k = t->k;
    t->dense = k <= n;
    t->width = t->dense ? 0 : band_width(t->p);
    size_t m = t->dense ? k : n;
    double **const of_k[] = { &t->a,    &t->s,     &t->da,    &t->ds,      &t->left,
                              &t->to_a, &t->right, &t->along, &t->diagonal };
    double **const of_n[] = { &t->r,      &t->xi,   &t->alpha, &t->beta, &t->dr, &t->dxi,
                              &t->dalpha, &t->to_r, &t->to_xi, &t->d,    &t->g,  &t->small };
    size_t ks = sizeof(of_k) / sizeof(of_k[0]), ns = sizeof(of_n) / sizeof(of_n[0]);
    t->memory = vxs_alloc(ks * k + ns * n, sizeof(double), err);
    t->scaled = vxs_alloc(n, k * sizeof(double), err);
    t->system = vxs_alloc(m, m * sizeof(double), err);
    t->band = vxs_alloc(t->width + 1, k * sizeof(double), err);
    if (!t->memory || !t->scaled || !t->system || !t->band)
        return VXS_FAILED;
    double *next = t->memory;
    for (size_t j = 0; j < ks; j++, next += k)
        *of_k[j] = next;
    for (size_t j = 0; j < ns; j++, next += n)
        *of_n[j] = next;
    return VXS_OK;
}

/* ---- The beginning, and how far it is from the end ------------------------------------------- */

static void begin(point *t)
{
    const vxs_interior *p = t->p;
    double sum = 0;
    for (size_t i = 0; i < t->k; i++)
        sum += p->a[i];
    double inside = INSIDE * (1 + sum) / (double)t->k;
    for (size_t i = 0; i < t->k; i++)
        t->a[i] = fmax(p->a[i], inside);
    times_z(p, 1, t->a, t->r);
    for (size_t m = 0; m < t->n; m++) {
        double room = t->r[m] - 1;
        t->xi[m] = fmax(-room, 0) + INSIDE;
        t->r[m] = room + t->xi[m];
        t->alpha[m] = fmin(fmax(p->alpha[m], 0.05 * p->u[m]), 0.95 * p->u[m]);
        t->beta[m] = p->u[m] - t->alpha[m];
    }
    for (size_t i = 0; i < t->k; i++)
        t->s[i] = p->rho;
    vxs_interior_pull(p, t->a, t->s);
    times_z_turned(p, -1, t->alpha, t->s);
    for (size_t i = 0; i < t->k; i++)
        t->s[i] = fmax(t->s[i], INSIDE * (INSIDE + p->rho));
}

/* The value at a, and the bound by alpha and a, both shrunk into the domain of the dual. The best
 * so far is the answer. */
static void certify(point *t)
{
    vxs_interior *p = t->p;
    double hinge = 0, sum = 0, quadratic = 0, steepest = 0, total = 0;
    memset(t->along, 0, t->k * sizeof(*t->along));
    vxs_interior_pull(p, t->a, t->along);
    for (size_t i = 0; i < t->k; i++) {
        sum += t->a[i];
        quadratic += t->along[i] * t->a[i] / 2;
        t->along[i] = -t->along[i];
    }
    times_z_turned(p, 1, t->alpha, t->along);
    for (size_t i = 0; i < t->k; i++)
        steepest = fmax(steepest, t->along[i]);
    times_z(p, 1, t->a, t->small);
    for (size_t m = 0; m < t->n; m++) {
        hinge += p->u[m] * fmax(0, 1 - t->small[m]);
        total += t->alpha[m];
    }
    double shrink = steepest > p->rho ? p->rho / steepest : 1;
    double primal = hinge + p->rho * sum + quadratic;
    double dual = shrink * total - shrink * shrink * quadratic;
    if (!(primal - dual < p->primal - p->dual))
        return; /* rounding has the better of it */
    p->primal = primal;
    p->dual = dual;
    for (size_t i = 0; i < t->k; i++)
        p->slack[i] = p->rho - t->along[i];
    memcpy(p->a, t->a, t->k * sizeof(*t->a));
    memcpy(p->alpha, t->alpha, t->n * sizeof(*t->alpha));
}

/* ---- The system ------------------------------------------------------------------------------ */

/* B's lower triangle goes into columns `stride` apart. */
static void put_b(const point *t, double *to, size_t stride, bool band)
{
    const vxs_interior *p = t->p;
    for (size_t i = 0; i < t->k; i++) {
        size_t at = i * stride + (band ? 0 : i);
        to[at] += t->s[i] / t->a[i] + 2 * p->smooth * (p->smooth > 0 ? p->degree[i] : 0) + t->least;
    }
    for (size_t e = 0; e < p->edges && p->smooth > 0; e++)
        to[p->from[e] * stride + p->to[e] - (band ? p->from[e] : 0)] -=
            2 * p->smooth * p->weight[e];
}

/* Where columns depend on each other the answer is not unique, and B alone holds the system; so
 * little of the largest entry is added that only such directions feel it. */
static void find_least(point *t)
{
    double most = 0;
    for (size_t i = 0; i < t->k; i++) {
        double sum = 0;
        for (size_t m = 0; m < t->n; m++)
            sum += t->d[m] * t->p->z[i * t->n + m] * t->p->z[i * t->n + m];
        t->diagonal[i] = sum + t->s[i] / t->a[i] + 2 * t->p->smooth * t->p->degree[i];
        most = fmax(most, sum);
    }
    t->least = LITTLE * most;
}

static bool factor_dense(point *t)
{
    int k = (int)t->k;
    for (size_t i = 0; i < t->k; i++)
        for (size_t m = 0; m < t->n; m++)
            t->scaled[i * t->n + m] = sqrt(t->d[m]) * t->p->z[i * t->n + m];
    cblas_dsyrk(CblasColMajor, CblasLower, CblasTrans, k, (int)t->n, 1, t->scaled, (int)t->n, 0,
                t->system, k);
    put_b(t, t->system, t->k, false);
    return vxs_cholesky(t->system, t->k);
}

/* x = inverse of B's factor times Z', a row a member, the n numbers of a row side by side. */
static void apply_band(point *t)
{
    size_t n = t->n, stride = t->width + 1;
    for (size_t i = 0; i < t->k; i++) {
        double *row = t->scaled + i * n;
        size_t first = i > t->width ? i - t->width : 0;
        memcpy(row, t->p->z + i * n, n * sizeof(*row));
        if (i > first) /* the factor's row i stands along a diagonal of the band */
            cblas_dgemv(CblasColMajor, CblasNoTrans, (int)n, (int)(i - first), -1,
                        t->scaled + first * n, (int)n, t->band + first * stride + (i - first),
                        (int)t->width, 1, row, 1);
        cblas_dscal((int)n, 1 / t->band[i * stride], row, 1);
    }
}

static bool factor_by_band(point *t)
{
    int info = 0, k = (int)t->k, n = (int)t->n, width = (int)t->width, stride = width + 1;
    memset(t->band, 0, t->k * (size_t)stride * sizeof(*t->band));
    put_b(t, t->band, (size_t)stride, true);
    dpbtrf_("L", &k, &width, t->band, &stride, &info);
    if (info != 0)
        return false;
    apply_band(t);
    cblas_dsyrk(CblasColMajor, CblasLower, CblasNoTrans, n, k, 1, t->scaled, n, 0, t->system, n);
    for (size_t m = 0; m < t->n; m++)
        t->system[m * t->n + m] += 1 / t->d[m];
    return vxs_cholesky(t->system, t->n);
}

/* x becomes the inverse of B + Z'DZ times x, as far as rounding lets it. */
static void apply_inverse(const point *t, double *x)
{
    int k = (int)t->k, n = (int)t->n, width = (int)t->width;
    if (t->dense) {
        vxs_cholesky_solve(t->system, t->k, x, 1);
        return;
    }
    cblas_dtbsv(CblasColMajor, CblasLower, CblasNoTrans, CblasNonUnit, k, width, t->band, width + 1,
                x, 1);
    cblas_dgemv(CblasColMajor, CblasNoTrans, n, k, 1, t->scaled, n, x, 1, 0, t->small, 1);
    vxs_cholesky_solve(t->system, t->n, t->small, 1);
    cblas_dgemv(CblasColMajor, CblasTrans, n, k, -1, t->scaled, n, t->small, 1, 1, x, 1);
    cblas_dtbsv(CblasColMajor, CblasLower, CblasTrans, CblasNonUnit, k, width, t->band, width + 1,
                x, 1);
}

/* along = right - (B + Z'DZ) da; its length in units in which that has ones on its diagonal. */
static double find_residual(point *t)
{
    double square = 0;
    memset(t->along, 0, t->k * sizeof(*t->along));
    vxs_interior_pull(t->p, t->da, t->along);
    times_z(t->p, 1, t->da, t->small);
    for (size_t m = 0; m < t->n; m++)
        t->small[m] *= t->d[m];
    times_z_turned(t->p, 1, t->small, t->along);
    for (size_t i = 0; i < t->k; i++) {
        double b = t->s[i] / t->a[i];
        t->along[i] = t->right[i] - t->along[i] - b * t->da[i];
        square += t->along[i] * t->along[i] / t->diagonal[i];
    }
    return sqrt(square);
}

/* da from right. Near the end D and B span many orders of magnitude; what that loses is found
 * again by asking for the residual, as long as it falls. */
static void solve_system(point *t)
{
    double before = INFINITY;
    memset(t->da, 0, t->k * sizeof(*t->da));
    for (int round = 0; round < REFINE; round++) {
        double now = find_residual(t);
        if (!(now < 0.5 * before) || now == 0)
            return;
        apply_inverse(t, t->along);
        cblas_daxpy((int)t->k, 1, t->along, 1, t->da, 1);
        before = now;
    }
}

/* ---- A step ---------------------------------------------------------------------------------- */

static void find_step(point *t)
{
    for (size_t m = 0; m < t->n; m++)
        t->g[m] = t->to_r[m] / t->alpha[m] - t->to_xi[m] / t->beta[m];
    for (size_t m = 0; m < t->n; m++)
        t->small[m] = t->d[m] * t->g[m];
    for (size_t i = 0; i < t->k; i++)
        t->right[i] = t->to_a[i] / t->a[i] - t->left[i];
    times_z_turned(t->p, 1, t->small, t->right);
    solve_system(t);
    times_z(t->p, 1, t->da, t->dalpha);
    for (size_t m = 0; m < t->n; m++) {
        t->dalpha[m] = t->d[m] * (t->g[m] - t->dalpha[m]);
        t->dr[m] = (t->to_r[m] - t->r[m] * t->dalpha[m]) / t->alpha[m];
        t->dxi[m] = (t->to_xi[m] + t->xi[m] * t->dalpha[m]) / t->beta[m];
    }
    /* from the slopes, not from the products: where a is tiny the latter would lose them */
    memcpy(t->ds, t->left, t->k * sizeof(*t->ds));
    vxs_interior_pull(t->p, t->da, t->ds);
    times_z_turned(t->p, -1, t->dalpha, t->ds);
}

static double reach(const double *x, const double *dx, size_t count, double sign, double most)
{
    for (size_t i = 0; i < count; i++)
        if (sign * dx[i] * most < -x[i])
            most = -x[i] / (sign * dx[i]);
    return most;
}

/* How far it may go, of the whole step. */
static void find_lengths(const point *t, double *primal, double *dual)
{
    *primal = reach(t->a, t->da, t->k, 1, 1);
    *primal = reach(t->r, t->dr, t->n, 1, *primal);
    *primal = reach(t->xi, t->dxi, t->n, 1, *primal);
    *dual = reach(t->s, t->ds, t->k, 1, 1);
    *dual = reach(t->alpha, t->dalpha, t->n, 1, *dual);
    *dual = reach(t->beta, t->dalpha, t->n, -1, *dual);
}

static double complement(const point *t, double primal, double dual)
{
    double sum = 0;
    for (size_t i = 0; i < t->k; i++)
        sum += (t->a[i] + primal * t->da[i]) * (t->s[i] + dual * t->ds[i]);
    for (size_t m = 0; m < t->n; m++) {
        sum += (t->r[m] + primal * t->dr[m]) * (t->alpha[m] + dual * t->dalpha[m]);
        sum += (t->xi[m] + primal * t->dxi[m]) * (t->beta[m] - dual * t->dalpha[m]);
    }
    return sum / (double)(t->k + 2 * t->n);
}

/* Towards products of `aim`; what the predictor's step bends is taken into account by `bend`. */
static void set_aims(point *t, double aim, double bend)
{
    for (size_t i = 0; i < t->k; i++)
        t->to_a[i] = aim - t->a[i] * t->s[i] - bend * t->da[i] * t->ds[i];
    for (size_t m = 0; m < t->n; m++) {
        t->to_r[m] = aim - t->r[m] * t->alpha[m] - bend * t->dr[m] * t->dalpha[m];
        t->to_xi[m] = aim - t->xi[m] * t->beta[m] + bend * t->dxi[m] * t->dalpha[m];
    }
}

static void advance(point *t, double primal, double dual)
{
    for (size_t i = 0; i < t->k; i++) {
        t->a[i] = fmax(t->a[i] + primal * t->da[i], TINY);
        t->s[i] = fmax(t->s[i] + dual * t->ds[i], TINY);
    }
    times_z(t->p, 1, t->a, t->small);
    for (size_t m = 0; m < t->n; m++) {
        double room = t->small[m] - 1; /* r - xi */
        t->r[m] = fmax(t->r[m] + primal * t->dr[m], TINY);
        t->xi[m] = fmax(t->xi[m] + primal * t->dxi[m], TINY);
        if (room > 0)
            t->r[m] = room + t->xi[m];
        else
            t->xi[m] = t->r[m] - room;
        t->alpha[m] = fmax(t->alpha[m] + dual * t->dalpha[m], TINY);
        t->beta[m] = fmax(t->beta[m] - dual * t->dalpha[m], TINY);
    }
}

static void find_left(point *t)
{
    for (size_t i = 0; i < t->k; i++)
        t->left[i] = t->p->rho - t->s[i];
    vxs_interior_pull(t->p, t->a, t->left);
    times_z_turned(t->p, -1, t->alpha, t->left);
    for (size_t m = 0; m < t->n; m++)
        t->d[m] = 1 / (t->r[m] / t->alpha[m] + t->xi[m] / t->beta[m]);
}

/* With a Laplacian both lengths must be the same, for a stands in both halves of the conditions. */
static bool iterate(point *t)
{
    double primal, dual, now;
    find_left(t);
    find_least(t);
    memset(t->system, 0, (t->dense ? t->k * t->k : t->n * t->n) * sizeof(*t->system));
    if (!(t->dense ? factor_dense(t) : factor_by_band(t)))
        return false;
    memset(t->da, 0, t->k * sizeof(*t->da));
    now = complement(t, 0, 0);
    set_aims(t, 0, 0);
    find_step(t);
    find_lengths(t, &primal, &dual);
    double share = complement(t, primal, dual) / now;
    set_aims(t, share * share * share * now, 1);
    find_step(t);
    find_lengths(t, &primal, &dual);
    if (t->p->smooth > 0)
        primal = dual = fmin(primal, dual);
    primal = primal < 1 ? SHORTEN * primal : 1;
    dual = dual < 1 ? SHORTEN * dual : 1;
    advance(t, primal, dual);
    return fmax(primal, dual) > LEAST;
}

static void run(point *t)
{
    vxs_interior *p = t->p;
    double best = INFINITY;
    int stuck = 0;
    p->primal = INFINITY;
    p->dual = 0;
    begin(t);
    certify(t);
    for (p->iterations = 0; p->iterations < MOST && stuck < PATIENCE; p->iterations++) {
        if (vxs_check_interrupted(p->context, NULL) || !iterate(t))
            return; /* what was found before stands */
        certify(t);
        if (p->primal - p->dual <= p->target)
            return;
        stuck = p->primal - p->dual < best ? 0 : stuck + 1;
        best = p->primal - p->dual;
    }
}

vxs_status vxs_interior_solve(vxs_interior *p, vxs_error *err)
{
    point t = { .p = p, .n = p->n, .k = p->k };
    vxs_status status = make_room(&t, err);
    if (!status)
        run(&t);
    if (!status)
        status = vxs_check_interrupted(p->context, err);
    free_point(&t);
    return status;
}
