/* glasso.c - which columns go together when all others are held: sparse inverse covariances.
 *
 * Problem   min -log det T + tr(S T) + rho sum over i /= j of |T_ij|, over positive definite T
 * Dual      max log det W + p over |W_ij - S_ij| <= rho, W_ii = S_ii
 * Optimal   when T W = 1, and W_ij = S_ij + rho sign T_ij where T_ij is not 0
 * Way       One column w of W after the other: it becomes that with the least w'V w, V being the
 *           inverse of W without the column. Its dual is a lasso on the columns of W, whose weights
 *           b are -T_ij / T_jj of the answer: few are not 0, and coordinate descent moves these
 * Start     Any W that is feasible stays so and positive definite. What was found for another rho
 *           is, once it is drawn towards S so far that it fits
 * Pieces    No edge leads from one piece of the graph |S_ij| > rho to another, so that each is
 *           solved alone
 * Stop      tr(S T) - log det T + rho |T| - log det W - p <= tol p: T is what the b of both ends
 *           agree on, W is feasible by clipping, both are positive definite or it goes on
 * Cost      a sweep is p^2 times the edges at a node; the gap p^3 2/3
 * Threads   one
 * Source    Friedman, Hastie and Tibshirani 2008; its dual and starts: Mazumder and Hastie 2012 */
#include "voxsift/internal/graph.h"

#include "core/union.h"
#include "linalg/cholesky.h"
#include "voxsift/internal/machine.h"

#include <cblas.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#define MOST_SWEEPS 1000
#define LEAST_MOVE  1e-11 /* of a weight b: no sweep is told to be more exact */
#define FIRST_LOOK  1e-3  /* the gap is not worth its cost while W moves by more */

/* LAPACK, which comes with OpenBLAS */

/* One piece of k nodes; matrices are k x k by column. */
typedef struct {
    const vxs_context *context;
    size_t k;
    double rho, tol;
    double *s, *w, *t;
    double *b;     /* column j: the weights of the others for j */
    double *fit;   /* k: what they add up to */
    double *spare; /* k x k */
    double primal, dual;
    size_t sweeps;
    bool converged;
} piece;

/* ---- One column ------------------------------------------------------------------------------ */

static double shrink(double x, double by)
{
    return x > by ? x - by : x < -by ? x + by : 0;
}

/* The best weight of i for column j; returns how much moved. */
static double move_weight(const piece *c, size_t i, size_t j, double *b)
{
    double own = c->w[i * c->k + i], old = b[i];
    double next = shrink(c->s[j * c->k + i] - c->fit[i] + own * old, c->rho) / own;
    if (next == old)
        return 0;
    b[i] = next;
    cblas_daxpy((int)c->k, next - old, c->w + i * c->k, 1, c->fit, 1);
    return fabs(next - old);
}

static double move_all(const piece *c, size_t j, double *b, bool active_only)
{
    double most = 0;
    for (size_t i = 0; i < c->k; i++)
        if (i != j && (!active_only || b[i] != 0))
            most = fmax(most, move_weight(c, i, j, b));
    return most;
}

static void fit_column(const piece *c, size_t j, double settled)
{
    double *b = c->b + j * c->k;
    memset(c->fit, 0, c->k * sizeof(*c->fit));
    for (size_t i = 0; i < c->k; i++)
        if (b[i] != 0)
            cblas_daxpy((int)c->k, b[i], c->w + i * c->k, 1, c->fit, 1);
    for (int round = 0; round < MOST_SWEEPS && move_all(c, j, b, false) > settled; round++)
        for (int again = 0; again < MOST_SWEEPS && move_all(c, j, b, true) > settled; again++)
            ;
}

/* Column j becomes what its weights add up to; returns how much moved. */
static double take_column(const piece *c, size_t j)
{
    double most = 0;
    for (size_t i = 0; i < c->k; i++) {
        double *w = &c->w[j * c->k + i], centre = c->s[j * c->k + i], old = *w;
        if (i == j)
            continue;
        *w = fmin(fmax(c->fit[i], centre - c->rho), centre + c->rho);
        c->w[i * c->k + j] = *w;
        most = fmax(most, fabs(*w - old));
    }
    return most;
}

/* ---- The gap --------------------------------------------------------------------------------- */

/* NAN when the matrix is not positive definite. */
static double log_det(const piece *c, const double *matrix)
{
    double sum = 0;
    memcpy(c->spare, matrix, c->k * c->k * sizeof(*matrix));
    bool positive = vxs_cholesky(c->spare, c->k);
    for (size_t j = 0; j < c->k; j++)
        sum += 2 * log(c->spare[j * c->k + j]);
    return positive ? sum : NAN;
}

/* An edge stands when both ends have a weight for the other. */
static void make_t(piece *c)
{
    size_t k = c->k;
    for (size_t j = 0; j < k; j++) {
        double left = c->w[j * k + j];
        for (size_t i = 0; i < k; i++)
            left -= c->w[j * k + i] * c->b[j * k + i];
        c->t[j * k + j] = 1 / left;
    }
    for (size_t j = 0; j < k; j++)
        for (size_t i = 0; i < j; i++) {
            double one = c->b[j * k + i], other = c->b[i * k + j];
            bool agree = one != 0 && other != 0;
            double both = (one * c->t[j * k + j] + other * c->t[i * k + i]) / 2;
            c->t[j * k + i] = c->t[i * k + j] = agree ? -both : 0;
        }
}

static bool look_at_gap(piece *c)
{
    size_t k = c->k;
    double sum = 0, size = 0;
    make_t(c);
    for (size_t j = 0; j < k; j++)
        for (size_t i = 0; i < k; i++) {
            sum += c->s[j * k + i] * c->t[j * k + i];
            size += i == j ? 0 : fabs(c->t[j * k + i]);
        }
    c->primal = sum - log_det(c, c->t) + c->rho * size;
    c->dual = log_det(c, c->w) + (double)k;
    c->converged = c->primal - c->dual <= c->tol * (double)k; /* NAN is not */
    return c->converged;
}

/* ---- One piece ------------------------------------------------------------------------------- */

/* As far towards S as it must go. */
static void make_feasible(piece *c)
{
    size_t k = c->k;
    double most = 0;
    for (size_t e = 0; e < k * k; e++)
        most = fmax(most, fabs(c->w[e] - c->s[e]));
    for (size_t e = 0; e < k * k && most > c->rho; e++)
        c->w[e] = c->s[e] + c->rho / most * (c->w[e] - c->s[e]);
    for (size_t j = 0; j < k; j++)
        for (size_t i = 0; i < k; i++)
            c->b[j * k + i] = i == j ? 0 : -c->t[j * k + i] / c->t[j * k + j];
}

static vxs_status solve_piece(piece *c, vxs_error *err)
{
    double moved = 1, look = FIRST_LOOK;
    vxs_status status = VXS_OK;
    make_feasible(c);
    while (c->sweeps < MOST_SWEEPS && !status) {
        double settled = fmax(LEAST_MOVE, 0.01 * moved);
        moved = 0;
        c->sweeps++;
        for (size_t j = 0; j < c->k && !status; j++) {
            fit_column(c, j, settled);
            moved = fmax(moved, take_column(c, j));
            status = vxs_check_interrupted(c->context, err);
        }
        if (status || moved > look)
            continue;
        if (look_at_gap(c))
            return VXS_OK;
        look = 0.25 * moved;
    }
    if (!status)
        (void)look_at_gap(c);
    return status;
}

/* ---- The whole ------------------------------------------------------------------------------- */

typedef struct {
    const double *s;
    size_t p;
    double rho;
    size_t *parent, *members;
} whole;

/* Members of the piece that i is in, which ascend; none when it was seen before. */
static size_t list_members(const whole *a, size_t i)
{
    size_t count = 0, name = vxs_union_find(a->parent, i);
    if (name != i) /* the name is the smallest */
        return 0;
    for (size_t j = i; j < a->p; j++)
        if (vxs_union_find(a->parent, j) == name)
            a->members[count++] = j;
    return count;
}

static void move_in(const whole *a, const double *from, double *to, size_t k)
{
    for (size_t j = 0; j < k; j++)
        for (size_t i = 0; i < k; i++)
            to[j * k + i] = from[a->members[j] * a->p + a->members[i]];
}

static void move_out(const whole *a, const double *from, double *to, size_t k)
{
    for (size_t j = 0; j < k; j++)
        for (size_t i = 0; i < k; i++)
            to[a->members[j] * a->p + a->members[i]] = from[j * k + i];
}

static void add_piece(const piece *c, vxs_precision *report)
{
    report->primal += c->primal;
    report->dual += c->dual;
    report->converged = report->converged && c->converged;
    report->sweeps = c->sweeps > report->sweeps ? c->sweeps : report->sweeps;
}

/* A node alone: T = 1 / S. */
static void do_single(const whole *a, size_t i, double *t, double *w, vxs_precision *report)
{
    double own = a->s[i * a->p + i];
    t[i * a->p + i] = 1 / own;
    w[i * a->p + i] = own;
    report->primal += 1 + log(own);
    report->dual += 1 + log(own);
}

static vxs_status do_piece(const whole *a, piece *c, double *t, double *w, double *new_t,
                           double *new_w, vxs_precision *report, vxs_error *err)
{
    double *room = vxs_alloc(5 * c->k + 1, vxs_times(c->k, sizeof(*room)), err);
    if (!room)
        return VXS_FAILED;
    size_t size = c->k * c->k;
    c->s = room;
    c->w = room + size;
    c->t = room + 2 * size;
    c->b = room + 3 * size;
    c->spare = room + 4 * size;
    c->fit = room + 5 * size;
    move_in(a, a->s, c->s, c->k);
    move_in(a, w, c->w, c->k);
    move_in(a, t, c->t, c->k);
    vxs_status status = solve_piece(c, err);
    move_out(a, c->t, new_t, c->k);
    move_out(a, c->w, new_w, c->k);
    add_piece(c, report);
    free(room);
    return status;
}

static vxs_status do_all(const vxs_context *context, const whole *a, double tol, double *t,
                         double *w, double *room, vxs_precision *report, vxs_error *err)
{
    size_t size = a->p * a->p;
    vxs_status status = VXS_OK;
    for (size_t i = 0; i < a->p && !status; i++) {
        size_t count = list_members(a, i);
        piece c = { .context = context, .k = count, .rho = a->rho, .tol = tol };
        if (count == 1)
            do_single(a, i, room, room + size, report);
        else if (count > 1)
            status = do_piece(a, &c, t, w, room, room + size, report, err);
    }
    memcpy(t, room, size * sizeof(*t));
    memcpy(w, room + size, size * sizeof(*w));
    report->gap = fmax(report->primal - report->dual, 0) / (double)a->p;
    for (size_t j = 0; j < a->p; j++)
        for (size_t i = 0; i < j; i++)
            report->edges += t[j * a->p + i] != 0;
    return status;
}

vxs_status vxs_glasso(const vxs_context *context, const double *s, size_t p, double rho, double tol,
                      double *t, double *w, vxs_precision *report, vxs_error *err)
{
    *report = (vxs_precision){ .rho = rho, .converged = true };
    whole a = { .s = s, .p = p, .rho = rho, .parent = vxs_union_new(p, err) };
    a.members = a.parent ? vxs_alloc(p, sizeof(*a.members), err) : NULL;
    double *room = a.members ? vxs_alloc(vxs_times(2, p), vxs_times(p, sizeof(*room)), err) : NULL;
    vxs_status status = room ? vxs_blas_start(1, err) : VXS_FAILED;
    for (size_t j = 0; j < p && !status; j++) {
        if (!(s[j * p + j] > 0))
            status = vxs_fail(err, VXS_BAD_DATA, "column %zu of a covariance has no variance", j);
        for (size_t i = 0; i < j; i++)
            if (fabs(s[j * p + i]) > rho)
                vxs_union_join(a.parent, i, j);
        if (t[j * p + j] == 0) { /* nothing to begin with */
            t[j * p + j] = 1 / s[j * p + j];
            w[j * p + j] = s[j * p + j];
        }
    }
    if (!status)
        status = do_all(context, &a, tol, t, w, room, report, err);
    free(a.parent);
    free(a.members);
    free(room);
    return status;
}
