/* glasso.c - the graphical lasso: sparse inverse covariance matrices.
 *
 *  Problem   min -log det T + tr(S T) + rho sum over i /= j of |T_ij|, over positive definite T
 *  Dual      max log det W + p over |W_ij - S_ij| <= rho, W_ii = S_ii
 *  Optimal   when T W = 1, and W_ij = S_ij + rho sign T_ij where T_ij is not 0
 *  Method    Block coordinate descent on columns w of W: each minimizes w'V w, V being the inverse
 *            of W without the column. The dual of that is a lasso on the columns of W with weights
 *            b = -T_ij / T_jj; coordinate descent on the active weights solves it
 *  Start     Any feasible W stays feasible and positive definite. The solution for another rho is
 *            feasible after a convex combination with S
 *  Components  Each connected component of the graph |S_ij| > rho is a separate problem
 *  Stop      tr(S T) - log det T + rho |T| - log det W - p <= tol p: T is the symmetrized b, W is
 *            feasible by clipping; the sweeps continue unless both are positive definite
 *  Cost      a sweep: p^2 times the mean degree; the gap: 2/3 p^3
 *  Threads   one
 *  Source    Friedman, Hastie and Tibshirani 2008; dual and warm starts: Mazumder and Hastie
 * 2012 */
#include "voxsift/internal/graph.h"

#include "core/union.h"
#include "linalg/cholesky.h"
#include "voxsift/internal/machine.h"

#include <cblas.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#define MAX_SWEEPS       1000
#define MIN_CHANGE       1e-11 /* lower bound on the tolerance of a weight b */
#define FIRST_GAP_CHANGE 1e-3  /* the gap is evaluated once W changes by less than this */

/* One connected component of k nodes; matrices are k x k, column-major. */
typedef struct {
    const vxs_context *context;
    size_t k;
    double rho, tol;
    double *s, *w, *t;
    double *b;       /* column j: regression weights of the other columns for column j */
    double *fit;     /* k: the fitted column */
    double *scratch; /* k x k */
    double primal, dual;
    size_t sweeps;
    bool converged;
} component;

/* ---- One column ------------------------------------------------------------------------------ */

static double soft_threshold(double x, double by)
{
    return x > by ? x - by : x < -by ? x + by : 0;
}

/* Coordinate descent step for weight i of column j; returns the change. */
static double update_weight(const component *c, size_t i, size_t j, double *b)
{
    double own = c->w[i * c->k + i], old = b[i];
    double next = soft_threshold(c->s[j * c->k + i] - c->fit[i] + own * old, c->rho) / own;
    if (next == old)
        return 0;
    b[i] = next;
    cblas_daxpy((int)c->k, next - old, c->w + i * c->k, 1, c->fit, 1);
    return fabs(next - old);
}

static double sweep_weights(const component *c, size_t j, double *b, bool active_only)
{
    double most = 0;
    for (size_t i = 0; i < c->k; i++)
        if (i != j && (!active_only || b[i] != 0))
            most = fmax(most, update_weight(c, i, j, b));
    return most;
}

static void fit_column(const component *c, size_t j, double tolerance)
{
    double *b = c->b + j * c->k;
    memset(c->fit, 0, c->k * sizeof(*c->fit));
    for (size_t i = 0; i < c->k; i++)
        if (b[i] != 0)
            cblas_daxpy((int)c->k, b[i], c->w + i * c->k, 1, c->fit, 1);
    for (int round = 0; round < MAX_SWEEPS && sweep_weights(c, j, b, false) > tolerance; round++)
        for (int again = 0; again < MAX_SWEEPS && sweep_weights(c, j, b, true) > tolerance; again++)
            ;
}

/* Replaces column j of W by its fit; returns the change. */
static double update_column(const component *c, size_t j)
{
    double most = 0;
    for (size_t i = 0; i < c->k; i++) {
        double *w = &c->w[j * c->k + i], center = c->s[j * c->k + i], old = *w;
        if (i == j)
            continue;
        *w = fmin(fmax(c->fit[i], center - c->rho), center + c->rho);
        c->w[i * c->k + j] = *w;
        most = fmax(most, fabs(*w - old));
    }
    return most;
}

/* ---- The gap --------------------------------------------------------------------------------- */

/* NAN if the matrix is not positive definite. */
static double log_det(const component *c, const double *matrix)
{
    double sum = 0;
    memcpy(c->scratch, matrix, c->k * c->k * sizeof(*matrix));
    bool positive = vxs_cholesky(c->scratch, c->k);
    for (size_t j = 0; j < c->k; j++)
        sum += 2 * log(c->scratch[j * c->k + j]);
    return positive ? sum : NAN;
}

/* T_ij is nonzero if both b_ij and b_ji are. */
static void symmetrize_weights(component *c)
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

static bool evaluate_gap(component *c)
{
    size_t k = c->k;
    double sum = 0, size = 0;
    symmetrize_weights(c);
    for (size_t j = 0; j < k; j++)
        for (size_t i = 0; i < k; i++) {
            sum += c->s[j * k + i] * c->t[j * k + i];
            size += i == j ? 0 : fabs(c->t[j * k + i]);
        }
    c->primal = sum - log_det(c, c->t) + c->rho * size;
    c->dual = log_det(c, c->w) + (double)k;
    c->converged = c->primal - c->dual <= c->tol * (double)k; /* false for NAN */
    return c->converged;
}

/* ---- One connected component ----------------------------------------------------------------- */

/* Moves W towards S by the smallest convex combination that is feasible. */
static void make_feasible(component *c)
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

static vxs_status solve_component(component *c, vxs_error *err)
{
    double moved = 1, look = FIRST_GAP_CHANGE;
    vxs_status status = VXS_OK;
    make_feasible(c);
    while (c->sweeps < MAX_SWEEPS && !status) {
        double tolerance = fmax(MIN_CHANGE, 0.01 * moved);
        moved = 0;
        c->sweeps++;
        for (size_t j = 0; j < c->k && !status; j++) {
            fit_column(c, j, tolerance);
            moved = fmax(moved, update_column(c, j));
            status = vxs_check_interrupted(c->context, err);
        }
        if (status || moved > look)
            continue;
        if (evaluate_gap(c))
            return VXS_OK;
        look = 0.25 * moved;
    }
    if (!status)
        (void)evaluate_gap(c);
    return status;
}

/* ---- All components -------------------------------------------------------------------------- */

typedef struct {
    const double *s;
    size_t p;
    double rho;
    size_t *parent, *nodes;
} covariance;

/* Lists the nodes of the component of i, ascending; returns 0 if i is not its smallest node. */
static size_t list_nodes(const covariance *a, size_t i)
{
    size_t count = 0, name = vxs_union_find(a->parent, i);
    if (name != i) /* the root is the smallest node */
        return 0;
    for (size_t j = i; j < a->p; j++)
        if (vxs_union_find(a->parent, j) == name)
            a->nodes[count++] = j;
    return count;
}

static void gather(const covariance *a, const double *from, double *to, size_t k)
{
    for (size_t j = 0; j < k; j++)
        for (size_t i = 0; i < k; i++)
            to[j * k + i] = from[a->nodes[j] * a->p + a->nodes[i]];
}

static void scatter(const covariance *a, const double *from, double *to, size_t k)
{
    for (size_t j = 0; j < k; j++)
        for (size_t i = 0; i < k; i++)
            to[a->nodes[j] * a->p + a->nodes[i]] = from[j * k + i];
}

static void add_component(const component *c, vxs_precision *report)
{
    report->primal += c->primal;
    report->dual += c->dual;
    report->converged = report->converged && c->converged;
    report->sweeps = c->sweeps > report->sweeps ? c->sweeps : report->sweeps;
}

/* An isolated node: T = 1 / S. */
static void solve_single(const covariance *a, size_t i, double *t, double *w, vxs_precision *report)
{
    double own = a->s[i * a->p + i];
    t[i * a->p + i] = 1 / own;
    w[i * a->p + i] = own;
    report->primal += 1 + log(own);
    report->dual += 1 + log(own);
}

static vxs_status update_component(const covariance *a, component *c, double *t, double *w,
                                   double *new_t, double *new_w, vxs_precision *report,
                                   vxs_error *err)
{
    double *room = vxs_alloc(5 * c->k + 1, vxs_times(c->k, sizeof(*room)), err);
    if (!room)
        return VXS_FAILED;
    size_t size = c->k * c->k;
    c->s = room;
    c->w = room + size;
    c->t = room + 2 * size;
    c->b = room + 3 * size;
    c->scratch = room + 4 * size;
    c->fit = room + 5 * size;
    gather(a, a->s, c->s, c->k);
    gather(a, w, c->w, c->k);
    gather(a, t, c->t, c->k);
    vxs_status status = solve_component(c, err);
    scatter(a, c->t, new_t, c->k);
    scatter(a, c->w, new_w, c->k);
    add_component(c, report);
    free(room);
    return status;
}

static vxs_status solve_components(const vxs_context *context, const covariance *a, double tol,
                                   double *t, double *w, double *room, vxs_precision *report,
                                   vxs_error *err)
{
    size_t size = a->p * a->p;
    vxs_status status = VXS_OK;
    for (size_t i = 0; i < a->p && !status; i++) {
        size_t count = list_nodes(a, i);
        component c = { .context = context, .k = count, .rho = a->rho, .tol = tol };
        if (count == 1)
            solve_single(a, i, room, room + size, report);
        else if (count > 1)
            status = update_component(a, &c, t, w, room, room + size, report, err);
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
    covariance a = { .s = s, .p = p, .rho = rho, .parent = vxs_union_new(p, err) };
    a.nodes = a.parent ? vxs_alloc(p, sizeof(*a.nodes), err) : NULL;
    double *room = a.nodes ? vxs_alloc(vxs_times(2, p), vxs_times(p, sizeof(*room)), err) : NULL;
    vxs_status status = room ? vxs_blas_start(1, err) : VXS_FAILED;
    for (size_t j = 0; j < p && !status; j++) {
        if (!(s[j * p + j] > 0))
            status = vxs_fail(err, VXS_BAD_DATA, "column %zu of a covariance has no variance", j);
        for (size_t i = 0; i < j; i++)
            if (fabs(s[j * p + i]) > rho)
                vxs_union_join(a.parent, i, j);
        if (t[j * p + j] == 0) { /* no warm start */
            t[j * p + j] = 1 / s[j * p + j];
            w[j * p + j] = s[j * p + j];
        }
    }
    if (!status)
        status = solve_components(context, &a, tol, t, w, room, report, err);
    free(a.parent);
    free(a.nodes);
    free(room);
    return status;
}
