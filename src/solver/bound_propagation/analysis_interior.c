/* analysis_interior.c - sum of losses and lambda |E x|_1, E sparse, by Mehrotra's predictor and
 * corrector.
 *
 * Problem   sum u f(Gx + Qb) + lambda sum of (up + down), up - down = E x, up and down >= 0
 * Dual      theta = -f'/lambda with G'theta = E'v, Q'theta = 0, g = 1 - v >= 0, h = 1 + v >= 0
 * Optimal   up g = 0, down h = 0; followed along up g = down h = mu, mu to 0
 * Step      S = 1 / (up / g + down / h) holds a term's weight, W the curvatures:
 *               B dx + G'dy = a1,   Q'dy = a2,   G dx + Q db - lambda dy / W = a3,   B = E'SE
 *           By way of B, which is sparse, an n x n system is left, and one for b; with fewer
 *           variables than samples dy is taken out instead
 * Gap       theta without what Q spans; v moved to where E'u = G'theta by what costs least in S;
 *           both scaled by |u|_inf. Where terms are singles u is what theta says
 * Cost      an iteration (m + n) n^2 / 2 multiplications, n samples, m variables
 * Source    Mehrotra 1992; Wright 1997; the dual is dissertation 3.2 */
#include "linalg/cholesky.h"
#include "solver/bound_propagation/bound_propagation.h"

#include <cblas.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#define SHORTEN  0.995 /* of the way to the edge */
#define LEAST    1e-12 /* a step that is no longer gets nowhere */
#define FLAT     1e-12 /* a curvature below that is this */
#define LITTLE   1e-15 /* on a diagonal, where columns depend on each other */
#define ROUNDS   8     /* of moving u */
#define EXACT    1e-14 /* of the largest sum: u need not be moved closer */
#define CLOSE    1e-11 /* if it is not as close as that it proves nothing */
#define FALLS    1e-4  /* of what the slope promises */
#define LEVEL    1e-13 /* of the barrier: rounding */
#define HALVINGS 30
#define SLOW     4 /* iterations without a smaller gap: steps go round in circles near the edge, */
#define FASTER   0.99
#define CENTRE   0.3 /* and from now on aim for no less than that of the products */
#define REFINE   3   /* rounds of a solution */

/* LAPACK, which comes with OpenBLAS */

/* Work space; names as above. */
typedef struct vxs_inner {
    double *sigma, *e, *dv, *dup, *ddown, *to_up, *to_down, *ex; /* terms */
    double *a1, *dx, *left1, *try1;                              /* m */
    double *a2, *db, *left2, *try2;                              /* rank */
    double *weight, *dy, *left3, *try3, *dz, *r3;                /* n */
    bool dense;                                                  /* m + rank <= n */
    double *half;                                                /* n x m: B^(-1/2) G' */
    double *both;                                                /* m + rank */
    double *system;                                              /* n x n */
    double *by_span, *small;                                     /* n x rank, rank x rank */
    double *memory;
} inner;

/* ---- Memory ---------------------------------------------------------------------------------- */

void vxs_inside_release(vxs_inside *s)
{
    free(s->x);
    if (s->room)
        free(s->room->memory);
    free(s->room);
    *s = (vxs_inside){ .rest = NULL };
}

typedef struct {
    double **name;
    size_t size;
} part;

static vxs_status take(part *parts, size_t count, double **memory, vxs_error *err)
{
    size_t all = 0;
    for (size_t k = 0; k < count; k++)
        all += parts[k].size;
    double *next = *memory = vxs_alloc(all, sizeof(*next), err);
    for (size_t k = 0; next && k < count; k++) {
        *parts[k].name = next;
        next += parts[k].size;
    }
    return next ? VXS_OK : VXS_FAILED;
}

static vxs_status make_room(vxs_inside *s, vxs_error *err)
{
    size_t m = s->m, k = s->k, n = s->rest->n, q = s->rest->rank;
    inner *r = s->room;
    part parts[] = {
        { &r->sigma, k },
        { &r->e, k },
        { &r->dv, k },
        { &r->dup, k },
        { &r->ddown, k },
        { &r->to_up, k },
        { &r->to_down, k },
        { &r->ex, k },
        { &r->a1, m },
        { &r->dx, m },
        { &r->left1, m },
        { &r->try1, m },
        { &r->a2, q },
        { &r->db, q },
        { &r->left2, q },
        { &r->try2, q },
        { &r->weight, n },
        { &r->dy, n },
        { &r->left3, n },
        { &r->try3, n },
        { &r->dz, n },
        { &r->r3, n },
        { &r->half, n * (m + q) },
        { &r->system, n * n },
        { &r->both, m + q },
        { &r->by_span, n * q },
        { &r->small, q * q },
    };
    return take(parts, sizeof(parts) / sizeof(parts[0]), &r->memory, err);
}

vxs_status vxs_inside_new(const vxs_rest *rest, double lambda, vxs_inside *s, vxs_error *err)
{
    size_t m = rest->singles + rest->mr, k = rest->terms, n = rest->n;
    *s = (vxs_inside){ .rest = rest, .lambda = lambda, .m = m, .k = k };
    s->room = vxs_alloc(1, sizeof(*s->room), err);
    part parts[] = {
        { &s->x, m },  { &s->b, rest->rank }, { &s->v, k },    { &s->g, k },
        { &s->h, k },  { &s->up, k },         { &s->down, k }, { &s->z, n },
        { &s->xi, n }, { &s->theta, n },      { &s->u, k },
    };
    double *memory;
    vxs_status status =
        s->room ? take(parts, sizeof(parts) / sizeof(parts[0]), &memory, err) : VXS_FAILED;
    if (!status)
        status = make_room(s, err);
    if (status)
        vxs_inside_release(s);
    return status;
}

/* ---- Products -------------------------------------------------------------------------------- */

/* out = factor * G x + out, by columns */
static void times_columns(const vxs_inside *s, double factor, const double *x, double *out)
{
    int n = (int)s->rest->n;
    cblas_dgemv(CblasColMajor, CblasNoTrans, n, (int)s->m, factor, s->rest->x, n, x, 1, 1, out, 1);
}

static void columns_turned(const vxs_inside *s, double factor, const double *y, double *out)
{
    int n = (int)s->rest->n;
    cblas_dgemv(CblasColMajor, CblasTrans, n, (int)s->m, factor, s->rest->x, n, y, 1, 1, out, 1);
}

static void times_span(const vxs_inside *s, double factor, const double *b, double *out)
{
    int n = (int)s->rest->n;
    cblas_dgemv(CblasColMajor, CblasNoTrans, n, (int)s->rest->rank, factor, s->rest->span, n, b, 1,
                1, out, 1);
}

static void span_turned(const vxs_inside *s, double factor, const double *y, double *out)
{
    int n = (int)s->rest->n;
    cblas_dgemv(CblasColMajor, CblasTrans, n, (int)s->rest->rank, factor, s->rest->span, n, y, 1, 1,
                out, 1);
}

/* x = B^-1 x */
static void divide_by_b(const vxs_inside *s, double *x)
{
    const vxs_rest *r = s->rest;
    for (size_t k = 0; k < r->singles; k++)
        x[k] /= s->room->sigma[k];
    vxs_factor_solve(&r->factor, x + r->singles);
}

/* ---- The gap --------------------------------------------------------------------------------- */

/* Moves u to where E'u = G'theta, which is in try1. What rounding leaves of that is `off`, as a
 * share of the largest of the sums. */
static void move_u(vxs_inside *s)
{
    const vxs_rest *r = s->rest;
    inner *o = s->room;
    double before = INFINITY;
    s->off = 0;
    for (int round = 0; round < ROUNDS && r->solid.count > 0; round++) {
        double largest = 0, left = 0;
        memcpy(o->left1, o->try1, s->m * sizeof(*o->left1));
        for (size_t k = 0; k < s->k; k++)
            o->ex[k] = -s->u[k];
        vxs_rest_turned(r, o->ex, o->left1);
        for (size_t j = r->singles; j < s->m; j++) {
            largest = fmax(largest, fabs(o->try1[j]));
            left = fmax(left, fabs(o->left1[j]));
        }
        s->off = left / (largest + 1);
        if (!(left < 0.5 * before) || left <= EXACT * largest)
            return;
        before = left;
        vxs_factor_solve(&r->factor, o->left1 + r->singles);
        vxs_rest_terms(r, o->left1, o->ex);
        for (size_t k = r->singles; k < s->k; k++)
            s->u[k] += o->sigma[k] * o->ex[k];
    }
}

/* A dual point: theta without what the span holds, and u with E'u = G'theta. */
static void find_dual(vxs_inside *s)
{
    const vxs_rest *r = s->rest;
    inner *o = s->room;
    for (size_t i = 0; i < r->n; i++)
        s->theta[i] = s->xi[i];
    for (int round = 0; round < 2; round++) {
        memset(o->try2, 0, r->rank * sizeof(*o->try2));
        span_turned(s, 1, s->theta, o->try2);
        times_span(s, -1, o->try2, s->theta);
    }
    vxs_whole_bring_inside(r->whole, s->theta);
    cblas_dscal((int)r->n, 1 / s->lambda, s->theta, 1);
    memset(o->try1, 0, s->m * sizeof(*o->try1));
    columns_turned(s, 1, s->theta, o->try1);
    memcpy(s->u, o->try1, r->singles * sizeof(*s->u));
    memcpy(s->u + r->singles, s->v + r->singles, r->solid.count * sizeof(*s->u));
    move_u(s);
}

static void find_gap(vxs_inside *s)
{
    const vxs_rest *r = s->rest;
    double size = 0, norm = 0;
    vxs_rest_terms(r, s->x, s->room->ex);
    for (size_t k = 0; k < s->k; k++)
        size += fabs(s->room->ex[k]);
    find_dual(s);
    for (size_t k = 0; k < s->k; k++)
        norm = fmax(norm, fabs(s->u[k]));
    s->norm = norm;
    s->primal = vxs_whole_loss(r->whole, s->z) + s->lambda * size;
    for (size_t i = 0; i < r->n; i++)
        s->room->try3[i] = s->lambda * s->theta[i];
    double scale = vxs_whole_scale(r->whole, s->room->try3, norm > 0 ? 1 / norm : INFINITY);
    s->dual = vxs_whole_dual(r->whole, s->room->try3, scale);
    s->gap = s->off < CLOSE ? s->primal - s->dual : INFINITY;
    cblas_dscal((int)r->n, scale, s->theta, 1);
    cblas_dscal((int)s->k, scale, s->u, 1);
}

static void predict(vxs_inside *s)
{
    memset(s->z, 0, s->rest->n * sizeof(*s->z));
    times_columns(s, 1, s->x, s->z);
    times_span(s, 1, s->b, s->z);
    vxs_whole_slope(s->rest->whole, s->z, s->xi);
}

void vxs_inside_begin(vxs_inside *s, double least)
{
    s->least = INFINITY;
    vxs_rest_terms(s->rest, s->x, s->room->ex);
    for (size_t k = 0; k < s->k; k++) {
        double both = fmax(least, fmin(s->up[k], s->down[k]));
        s->g[k] = 1 - s->v[k];
        s->h[k] = 1 + s->v[k];
        s->up[k] = both + fmax(0, s->room->ex[k]);
        s->down[k] = both + fmax(0, -s->room->ex[k]);
    }
    predict(s);
}

/* ---- The system ------------------------------------------------------------------------------ */

static bool factor_span(vxs_inside *s)
{
    int n = (int)s->rest->n, q = (int)s->rest->rank;
    inner *o = s->room;
    memcpy(o->by_span, s->rest->span, (size_t)n * (size_t)q * sizeof(*o->by_span));
    vxs_cholesky_solve(o->system, s->rest->n, o->by_span, s->rest->rank);
    cblas_dgemm(CblasColMajor, CblasTrans, CblasNoTrans, q, q, n, 1, s->rest->span, n, o->by_span,
                n, 0, o->small, q);
    return vxs_cholesky(o->small, s->rest->rank);
}

/* A few variables: B + [G Q]'W[G Q] / lambda as it is, which loses nothing where B is small. */
static bool factor_dense(vxs_inside *s)
{
    const vxs_rest *r = s->rest;
    const vxs_analysis *d = &r->solid;
    inner *o = s->room;
    size_t n = r->n, all = s->m + r->rank;
    int rows = (int)n, size = (int)all;
    if (all == 0)
        return true;
    for (size_t j = 0; j < all; j++) {
        const double *x = j < s->m ? r->x + j * n : r->span + (j - s->m) * n;
        for (size_t i = 0; i < n; i++)
            o->half[j * n + i] = x[i] / sqrt(o->weight[i]);
    }
    cblas_dsyrk(CblasColMajor, CblasLower, CblasTrans, size, rows, 1, o->half, rows, 0, o->system,
                size);
    for (size_t j = 0; j < all; j++)
        o->system[j * all + j] *= 1 + LITTLE;
    for (size_t k = 0; k < r->singles; k++)
        o->system[k * all + k] += o->sigma[k];
    for (size_t t = 0; t < d->count; t++)
        for (size_t a = d->starts[t]; a < d->starts[t + 1]; a++)
            for (size_t b = a; b < d->starts[t + 1]; b++)
                o->system[(r->singles + d->index[a]) * all + r->singles + d->index[b]] +=
                    o->sigma[r->singles + t] * d->value[a] * d->value[b];
    return vxs_cholesky(o->system, all);
}

static bool factor(vxs_inside *s)
{
    const vxs_rest *r = s->rest;
    int n = (int)r->n, m = (int)s->m;
    inner *o = s->room;
    for (size_t k = 0; k < s->k; k++)
        o->sigma[k] = 1 / (s->up[k] / s->g[k] + s->down[k] / s->h[k]);
    for (size_t i = 0; i < r->n; i++) {
        double z = s->z[i] / r->whole->root[i];
        o->weight[i] =
            s->lambda /
            fmax(FLAT, r->whole->loss->sample->curvature(z, r->whole->y[i], r->whole->threshold));
    }
    vxs_factor_make((vxs_factor *)&r->factor, o->sigma + r->singles);
    o->dense = s->m + r->rank <= r->n;
    if (o->dense)
        return factor_dense(s);
    for (size_t k = 0; k < r->singles; k++) {
        double by = 1 / sqrt(o->sigma[k]);
        for (size_t i = 0; i < r->n; i++)
            o->half[k * r->n + i] = by * r->x[k * r->n + i];
    }
    vxs_factor_solve_lower_many(&r->factor, r->x + r->singles * r->n, r->n,
                                o->half + r->singles * r->n);
    memset(o->system, 0, r->n * r->n * sizeof(*o->system));
    if (m > 0)
        cblas_dsyrk(CblasColMajor, CblasLower, CblasNoTrans, n, m, 1, o->half, n, 0, o->system, n);
    for (size_t i = 0; i < r->n; i++)
        o->system[i * r->n + i] += o->weight[i];
    return vxs_cholesky(o->system, r->n) && (r->rank == 0 || factor_span(s));
}

static void solve_dense(vxs_inside *s)
{
    inner *o = s->room;
    size_t n = s->rest->n, q = s->rest->rank;
    double *right = o->both;
    memcpy(right, o->left1, s->m * sizeof(*right));
    memcpy(right + s->m, o->left2, q * sizeof(*right));
    for (size_t i = 0; i < n; i++)
        o->try3[i] = o->left3[i] / o->weight[i];
    columns_turned(s, 1, o->try3, right);
    span_turned(s, 1, o->try3, right + s->m);
    vxs_cholesky_solve(o->system, s->m + q, right, 1);
    memcpy(o->try1, right, s->m * sizeof(*right));
    memcpy(o->try2, right + s->m, q * sizeof(*right));
    for (size_t i = 0; i < n; i++)
        o->try3[i] = -o->left3[i];
    times_columns(s, 1, o->try1, o->try3);
    times_span(s, 1, o->try2, o->try3);
    for (size_t i = 0; i < n; i++)
        o->try3[i] /= o->weight[i];
}

/* One pass with the factors: into try1, try2, try3 from left1, left2, left3. */
static void solve_once(vxs_inside *s)
{
    inner *o = s->room;
    int n = (int)s->rest->n, q = (int)s->rest->rank;
    if (o->dense) {
        solve_dense(s);
        return;
    }
    memcpy(o->try1, o->left1, s->m * sizeof(*o->try1));
    divide_by_b(s, o->try1);
    for (int i = 0; i < n; i++)
        o->try3[i] = -o->left3[i];
    times_columns(s, 1, o->try1, o->try3);
    vxs_cholesky_solve(o->system, s->rest->n, o->try3, 1);
    if (q > 0) {
        memcpy(o->try2, o->left2, (size_t)q * sizeof(*o->try2));
        span_turned(s, -1, o->try3, o->try2);
        vxs_cholesky_solve(o->small, s->rest->rank, o->try2, 1);
        cblas_dgemv(CblasColMajor, CblasNoTrans, n, q, 1, o->by_span, n, o->try2, 1, 1, o->try3, 1);
    }
    memcpy(o->try1, o->left1, s->m * sizeof(*o->try1));
    columns_turned(s, -1, o->try3, o->try1);
    divide_by_b(s, o->try1);
}

/* What dx, db, dy leave of the right sides. Returns its size. */
static double find_left(vxs_inside *s)
{
    const vxs_rest *r = s->rest;
    inner *o = s->room;
    vxs_rest_terms(r, o->dx, o->ex);
    for (size_t k = 0; k < s->k; k++)
        o->ex[k] *= -o->sigma[k];
    memcpy(o->left1, o->a1, s->m * sizeof(*o->a1));
    vxs_rest_turned(r, o->ex, o->left1);
    columns_turned(s, -1, o->dy, o->left1);
    memcpy(o->left2, o->a2, r->rank * sizeof(*o->a2));
    span_turned(s, -1, o->dy, o->left2);
    for (size_t i = 0; i < r->n; i++)
        o->left3[i] = o->weight[i] * o->dy[i];
    times_columns(s, -1, o->dx, o->left3);
    times_span(s, -1, o->db, o->left3);
    return cblas_dnrm2((int)s->m, o->left1, 1) + cblas_dnrm2((int)r->rank, o->left2, 1) +
           cblas_dnrm2((int)r->n, o->left3, 1);
}

static void solve(vxs_inside *s)
{
    inner *o = s->room;
    double before = INFINITY;
    memset(o->dx, 0, s->m * sizeof(*o->dx));
    memset(o->db, 0, s->rest->rank * sizeof(*o->db));
    memset(o->dy, 0, s->rest->n * sizeof(*o->dy));
    for (int round = 0; round < REFINE; round++) {
        double now = find_left(s);
        if (!(now < 0.1 * before) || now == 0)
            return;
        solve_once(s);
        cblas_daxpy((int)s->m, 1, o->try1, 1, o->dx, 1);
        cblas_daxpy((int)s->rest->rank, 1, o->try2, 1, o->db, 1);
        cblas_daxpy((int)s->rest->n, 1, o->try3, 1, o->dy, 1);
        before = now;
    }
}

/* ---- A step ---------------------------------------------------------------------------------- */

/* Towards products of `aim`; what the predictor bends is taken into account by `bend`. */
static void find_step(vxs_inside *s, double aim, double bend)
{
    const vxs_rest *r = s->rest;
    inner *o = s->room;
    vxs_rest_terms(r, s->x, o->ex);
    for (size_t k = 0; k < s->k; k++) {
        o->to_up[k] = aim - s->up[k] * s->g[k] + bend * o->dup[k] * o->dv[k];
        o->to_down[k] = aim - s->down[k] * s->h[k] - bend * o->ddown[k] * o->dv[k];
        o->e[k] =
            o->ex[k] - s->up[k] + s->down[k] - o->to_up[k] / s->g[k] + o->to_down[k] / s->h[k];
        o->ex[k] = -s->v[k] - o->sigma[k] * o->e[k];
    }
    memset(o->a1, 0, s->m * sizeof(*o->a1));
    memset(o->a2, 0, r->rank * sizeof(*o->a2));
    vxs_rest_turned(r, o->ex, o->a1);
    columns_turned(s, 1 / s->lambda, s->xi, o->a1);
    span_turned(s, 1 / s->lambda, s->xi, o->a2);
    solve(s);
    vxs_rest_terms(r, o->dx, o->ex);
    for (size_t k = 0; k < s->k; k++) {
        o->dv[k] = o->sigma[k] * (o->ex[k] + o->e[k]);
        o->dup[k] = (o->to_up[k] + s->up[k] * o->dv[k]) / s->g[k];
        o->ddown[k] = (o->to_down[k] - s->down[k] * o->dv[k]) / s->h[k];
    }
    memset(o->dz, 0, r->n * sizeof(*o->dz));
    times_columns(s, 1, o->dx, o->dz);
    times_span(s, 1, o->db, o->dz);
}

static double reach(double most, double value, double change)
{
    return change * most < -value ? -value / change : most;
}

static double find_length(const vxs_inside *s)
{
    const inner *o = s->room;
    double most = 1 / SHORTEN;
    for (size_t k = 0; k < s->k; k++) {
        most = reach(most, s->up[k], o->dup[k]);
        most = reach(most, s->down[k], o->ddown[k]);
        most = reach(most, s->g[k], -o->dv[k]);
        most = reach(most, s->h[k], o->dv[k]);
    }
    return fmin(1, most * SHORTEN);
}

static double complement(const vxs_inside *s, double length)
{
    const inner *o = s->room;
    double sum = 0;
    for (size_t k = 0; k < s->k; k++)
        sum += (s->up[k] + length * o->dup[k]) * (s->g[k] - length * o->dv[k]) +
               (s->down[k] + length * o->ddown[k]) * (s->h[k] + length * o->dv[k]);
    return s->k > 0 ? sum / (2 * (double)s->k) : 0;
}

static void advance(vxs_inside *s, double length)
{
    const inner *o = s->room;
    cblas_daxpy((int)s->m, length, o->dx, 1, s->x, 1);
    cblas_daxpy((int)s->rest->rank, length, o->db, 1, s->b, 1);
    for (size_t k = 0; k < s->k; k++) {
        s->v[k] += length * o->dv[k];
        s->g[k] -= length * o->dv[k];
        s->h[k] += length * o->dv[k];
        s->up[k] += length * o->dup[k];
        s->down[k] += length * o->ddown[k];
    }
    predict(s);
}

/* What the path's points are least at, mu being `aim`, after so much of a step. */
static double barrier(const vxs_inside *s, double aim, double length)
{
    const vxs_whole *w = s->rest->whole;
    inner *o = s->room;
    double sum = 0;
    for (size_t i = 0; i < s->rest->n; i++)
        o->try3[i] = s->z[i] + length * o->dz[i];
    for (size_t k = 0; k < s->k; k++) {
        double up = s->up[k] + length * o->dup[k], down = s->down[k] + length * o->ddown[k];
        sum += up + down - aim * log(up * down);
    }
    return sum + vxs_whole_loss(w, o->try3) / s->lambda;
}

/* Curvatures of the logistic loss change: the step is halved until the barrier falls as it should
 * (Armijo), which it does along such steps, up - down = E x being kept. */
static double shorten(const vxs_inside *s, double aim, double length)
{
    const inner *o = s->room;
    double slope = -cblas_ddot((int)s->rest->n, s->xi, 1, o->dz, 1) / s->lambda;
    for (size_t k = 0; k < s->k; k++)
        slope += o->dup[k] * (1 - aim / s->up[k]) + o->ddown[k] * (1 - aim / s->down[k]);
    double start = barrier(s, aim, 0);
    for (int round = 0; round < HALVINGS; round++, length /= 2)
        if (barrier(s, aim, length) <= start + length * FALLS * slope + LEVEL * fabs(start))
            break;
    return length;
}

bool vxs_inside_step(vxs_inside *s)
{
    bool squared = s->rest->whole->loss->squared;
    double now = complement(s, 0), aim = 0;
    if (!factor(s))
        return false;
    find_step(s, 0, 0);
    if (s->k > 0) {
        double after = complement(s, find_length(s)), share = after / now;
        bool careful = s->slow >= SLOW;
        aim = fmax(fmax(share * share * share, careful ? CENTRE : 0) * now, s->enough);
        find_step(s, aim, squared && !careful ? 1 : 0);
    }
    double length = find_length(s);
    if (!squared)
        length = shorten(s, aim, length);
    if (!(length > LEAST))
        return false;
    advance(s, length);
    find_gap(s);
    s->slow = s->gap < FASTER * s->least ? 0 : s->slow + 1;
    s->least = fmin(s->least, s->gap);
    return true;
}
