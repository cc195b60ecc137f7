/* analysis_interior.c - primal-dual interior-point method for the generalized lasso.
 *
 * Problem   min over x, b: sum_i u_i f(G x + Q b) + lambda sum (up + down), E sparse,
 *           up - down = E x, up, down >= 0
 * Dual      theta = -f'/lambda with G'theta = E'v, Q'theta = 0, g = 1 - v >= 0, h = 1 + v >= 0
 * Optimal   up g = 0, down h = 0; the central path has up g = down h = mu, mu to 0
 * Step      Newton, with S = 1 / (up / g + down / h) and W the second derivatives of the loss:
 *               B dx + G'dy = a1,   Q'dy = a2,   G dx + Q db - lambda dy / W = a3,   B = E'SE
 *           Eliminating dx with the sparse B leaves an n x n system (Schur complement); with fewer
 *           variables than samples dy is eliminated instead. Mehrotra's predictor-corrector; with
 *           the logistic loss a line search (Armijo) on the barrier
 * Stops     in screened_fit.c, by the gap: theta projected onto the complement of Q, v onto
 *           E'u = G'theta in the norm of S, both divided by |u|_inf
 * Cost      an iteration: (m + n) n^2 / 2 multiplications, n samples, m variables
 * Threads   those of BLAS
 * Source    Mehrotra 1992; Wright 1997; the dual is dissertation 3.2 */
#include "linalg/cholesky.h"
#include "solver/bound_propagation/bound_propagation.h"

#include <cblas.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#define SHORTEN            0.995 /* of the step to the boundary */
#define MIN_STEP           1e-12 /* shorter steps end the iterations */
#define MIN_CURVATURE      1e-12 /* lower bound of second derivatives */
#define RIDGE              1e-15 /* relative ridge on the diagonal: dependent columns */
#define MAX_REFINEMENTS    8     /* steps of iterative refinement of u */
#define REFINED            1e-14 /* residual of E'u = G'theta, relative: refinement ends */
#define FEASIBLE           1e-11 /* a larger residual leaves no dual bound */
#define ARMIJO             1e-4  /* Armijo: share of the predicted decrease */
#define BARRIER_ROUNDING   1e-13 /* rounding of the barrier, relative */
#define HALVINGS           30
#define SLOW               4 /* iterations without a gap smaller by FASTER: then */
#define FASTER             0.99
#define CENTERING          0.3 /* the centering is at least this */
#define NEWTON_REFINEMENTS 3   /* steps of iterative refinement of the Newton system */

/* Work space, named as in the header. */
typedef struct vxs_iterate_workspace {
    double *sigma, *e, *dv, *dup, *ddown, *to_up, *to_down, *ex; /* k */
    double *a1, *dx, *residual1, *trial1;                        /* m */
    double *a2, *db, *residual2, *trial2;                        /* rank */
    double *weight, *dy, *residual3, *trial3, *dz, *r3;          /* n */
    bool dense;                                                  /* m + rank <= n */
    double *half;                                                /* n x m: B^(-1/2) G' */
    double *both;                                                /* m + rank */
    double *system;                                              /* n x n */
    double *by_span, *small;                                     /* n x rank, rank x rank */
    double *memory;
} workspace;

/* ---- Memory ---------------------------------------------------------------------------------- */

void vxs_iterate_release(vxs_iterate *s)
{
    free(s->x);
    if (s->workspace)
        free(s->workspace->memory);
    free(s->workspace);
    *s = (vxs_iterate){ .problem = NULL };
}

typedef struct {
    double **name;
    size_t size;
} part;

static vxs_status allocate_parts(part *parts, size_t count, double **memory, vxs_error *err)
{
    size_t total = 0;
    for (size_t k = 0; k < count; k++)
        total += parts[k].size;
    double *next = *memory = vxs_alloc(total, sizeof(*next), err);
    for (size_t k = 0; next && k < count; k++) {
        *parts[k].name = next;
        next += parts[k].size;
    }
    return next ? VXS_OK : VXS_FAILED;
}

static vxs_status allocate(vxs_iterate *s, vxs_error *err)
{
    size_t m = s->m, k = s->k, n = s->problem->n, q = s->problem->rank;
    workspace *r = s->workspace;
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
        { &r->residual1, m },
        { &r->trial1, m },
        { &r->a2, q },
        { &r->db, q },
        { &r->residual2, q },
        { &r->trial2, q },
        { &r->weight, n },
        { &r->dy, n },
        { &r->residual3, n },
        { &r->trial3, n },
        { &r->dz, n },
        { &r->r3, n },
        { &r->half, n * (m + q) },
        { &r->system, n * n },
        { &r->both, m + q },
        { &r->by_span, n * q },
        { &r->small, q * q },
    };
    return allocate_parts(parts, sizeof(parts) / sizeof(parts[0]), &r->memory, err);
}

vxs_status vxs_iterate_new(const vxs_reparametrized *problem, double lambda, vxs_iterate *s,
                           vxs_error *err)
{
    size_t m = problem->leaves + problem->reduced, k = problem->terms, n = problem->n;
    *s = (vxs_iterate){ .problem = problem, .lambda = lambda, .m = m, .k = k };
    s->workspace = vxs_alloc(1, sizeof(*s->workspace), err);
    part parts[] = {
        { &s->x, m },  { &s->b, problem->rank }, { &s->v, k }, { &s->g, k },  { &s->h, k },
        { &s->up, k }, { &s->down, k },          { &s->z, n }, { &s->xi, n }, { &s->theta, n },
        { &s->u, k },
    };
    double *memory;
    vxs_status status = s->workspace
                            ? allocate_parts(parts, sizeof(parts) / sizeof(parts[0]), &memory, err)
                            : VXS_FAILED;
    if (!status)
        status = allocate(s, err);
    if (status)
        vxs_iterate_release(s);
    return status;
}

/* ---- Products -------------------------------------------------------------------------------- */

/* out = factor * G x + out, by columns */
static void times_columns(const vxs_iterate *s, double factor, const double *x, double *out)
{
    int n = (int)s->problem->n;
    cblas_dgemv(CblasColMajor, CblasNoTrans, n, (int)s->m, factor, s->problem->x, n, x, 1, 1, out,
                1);
}

static void times_columns_transposed(const vxs_iterate *s, double factor, const double *y,
                                     double *out)
{
    int n = (int)s->problem->n;
    cblas_dgemv(CblasColMajor, CblasTrans, n, (int)s->m, factor, s->problem->x, n, y, 1, 1, out, 1);
}

static void times_span(const vxs_iterate *s, double factor, const double *b, double *out)
{
    int n = (int)s->problem->n;
    cblas_dgemv(CblasColMajor, CblasNoTrans, n, (int)s->problem->rank, factor, s->problem->span, n,
                b, 1, 1, out, 1);
}

static void times_span_transposed(const vxs_iterate *s, double factor, const double *y, double *out)
{
    int n = (int)s->problem->n;
    cblas_dgemv(CblasColMajor, CblasTrans, n, (int)s->problem->rank, factor, s->problem->span, n, y,
                1, 1, out, 1);
}

/* x = B^-1 x, B = E'SE */
static void divide_by_b(const vxs_iterate *s, double *x)
{
    const vxs_reparametrized *r = s->problem;
    for (size_t k = 0; k < r->leaves; k++)
        x[k] /= s->workspace->sigma[k];
    vxs_factor_solve(&r->factor, x + r->leaves);
}

/* ---- The duality gap ------------------------------------------------------------------------- */

/* Projects u onto E'u = G'theta, which is in trial1, in the norm of S, with iterative refinement.
 * `residual` is relative to the largest entry. */
static void project_u(vxs_iterate *s)
{
    const vxs_reparametrized *r = s->problem;
    workspace *o = s->workspace;
    double previous = INFINITY;
    s->residual = 0;
    for (int iteration = 0; iteration < MAX_REFINEMENTS && r->reduced_rows.count > 0; iteration++) {
        double largest = 0, residual = 0;
        memcpy(o->residual1, o->trial1, s->m * sizeof(*o->residual1));
        for (size_t k = 0; k < s->k; k++)
            o->ex[k] = -s->u[k];
        vxs_reparametrized_transpose(r, o->ex, o->residual1);
        for (size_t j = r->leaves; j < s->m; j++) {
            largest = fmax(largest, fabs(o->trial1[j]));
            residual = fmax(residual, fabs(o->residual1[j]));
        }
        s->residual = residual / (largest + 1);
        if (!(residual < 0.5 * previous) || residual <= REFINED * largest)
            return;
        previous = residual;
        vxs_factor_solve(&r->factor, o->residual1 + r->leaves);
        vxs_reparametrized_multiply(r, o->residual1, o->ex);
        for (size_t k = r->leaves; k < s->k; k++)
            s->u[k] += o->sigma[k] * o->ex[k];
    }
}

/* The dual point: theta projected onto the complement of Q, and u with E'u = G'theta. */
static void find_dual(vxs_iterate *s)
{
    const vxs_reparametrized *r = s->problem;
    workspace *o = s->workspace;
    for (size_t i = 0; i < r->n; i++)
        s->theta[i] = s->xi[i];
    for (int iteration = 0; iteration < 2; iteration++) {
        memset(o->trial2, 0, r->rank * sizeof(*o->trial2));
        times_span_transposed(s, 1, s->theta, o->trial2);
        times_span(s, -1, o->trial2, s->theta);
    }
    vxs_bp_into_domain(r->data, s->theta);
    cblas_dscal((int)r->n, 1 / s->lambda, s->theta, 1);
    memset(o->trial1, 0, s->m * sizeof(*o->trial1));
    times_columns_transposed(s, 1, s->theta, o->trial1);
    memcpy(s->u, o->trial1, r->leaves * sizeof(*s->u));
    memcpy(s->u + r->leaves, s->v + r->leaves, r->reduced_rows.count * sizeof(*s->u));
    project_u(s);
}

static void find_gap(vxs_iterate *s)
{
    const vxs_reparametrized *r = s->problem;
    double penalty = 0, norm = 0;
    vxs_reparametrized_multiply(r, s->x, s->workspace->ex);
    for (size_t k = 0; k < s->k; k++)
        penalty += fabs(s->workspace->ex[k]);
    find_dual(s);
    for (size_t k = 0; k < s->k; k++)
        norm = fmax(norm, fabs(s->u[k]));
    s->norm = norm;
    s->primal = vxs_bp_loss(r->data, s->z) + s->lambda * penalty;
    for (size_t i = 0; i < r->n; i++)
        s->workspace->trial3[i] = s->lambda * s->theta[i];
    double scale = vxs_bp_best_scale(r->data, s->workspace->trial3, norm > 0 ? 1 / norm : INFINITY);
    s->dual = vxs_bp_dual_value(r->data, s->workspace->trial3, scale);
    s->gap = s->residual < FEASIBLE ? s->primal - s->dual : INFINITY;
    cblas_dscal((int)r->n, scale, s->theta, 1);
    cblas_dscal((int)s->k, scale, s->u, 1);
}

static void update_predictions(vxs_iterate *s)
{
    memset(s->z, 0, s->problem->n * sizeof(*s->z));
    times_columns(s, 1, s->x, s->z);
    times_span(s, 1, s->b, s->z);
    vxs_bp_negative_gradient(s->problem->data, s->z, s->xi);
}

void vxs_iterate_start(vxs_iterate *s, double min_slack)
{
    s->best_gap = INFINITY;
    vxs_reparametrized_multiply(s->problem, s->x, s->workspace->ex);
    for (size_t k = 0; k < s->k; k++) {
        double both = fmax(min_slack, fmin(s->up[k], s->down[k]));
        s->g[k] = 1 - s->v[k];
        s->h[k] = 1 + s->v[k];
        s->up[k] = both + fmax(0, s->workspace->ex[k]);
        s->down[k] = both + fmax(0, -s->workspace->ex[k]);
    }
    update_predictions(s);
}

/* ---- The Newton system ----------------------------------------------------------------------- */

static bool factor_span(vxs_iterate *s)
{
    int n = (int)s->problem->n, q = (int)s->problem->rank;
    workspace *o = s->workspace;
    memcpy(o->by_span, s->problem->span, (size_t)n * (size_t)q * sizeof(*o->by_span));
    vxs_cholesky_solve(o->system, s->problem->n, o->by_span, s->problem->rank);
    cblas_dgemm(CblasColMajor, CblasTrans, CblasNoTrans, q, q, n, 1, s->problem->span, n,
                o->by_span, n, 0, o->small, q);
    return vxs_cholesky(o->small, s->problem->rank);
}

/* Few variables: B + [G Q]'W[G Q] / lambda, accurate also where B is nearly singular. */
static bool factor_dense(vxs_iterate *s)
{
    const vxs_reparametrized *r = s->problem;
    const vxs_analysis *d = &r->reduced_rows;
    workspace *o = s->workspace;
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
        o->system[j * all + j] *= 1 + RIDGE;
    for (size_t k = 0; k < r->leaves; k++)
        o->system[k * all + k] += o->sigma[k];
    for (size_t t = 0; t < d->count; t++)
        for (size_t a = d->starts[t]; a < d->starts[t + 1]; a++)
            for (size_t b = a; b < d->starts[t + 1]; b++)
                o->system[(r->leaves + d->index[a]) * all + r->leaves + d->index[b]] +=
                    o->sigma[r->leaves + t] * d->value[a] * d->value[b];
    return vxs_cholesky(o->system, all);
}

static bool factorize(vxs_iterate *s)
{
    const vxs_reparametrized *r = s->problem;
    int n = (int)r->n, m = (int)s->m;
    workspace *o = s->workspace;
    for (size_t k = 0; k < s->k; k++)
        o->sigma[k] = 1 / (s->up[k] / s->g[k] + s->down[k] / s->h[k]);
    for (size_t i = 0; i < r->n; i++) {
        double z = s->z[i] / r->data->root[i];
        o->weight[i] = s->lambda /
                       fmax(MIN_CURVATURE,
                            r->data->loss->sample->curvature(z, r->data->y[i], r->data->threshold));
    }
    vxs_factor_make((vxs_factor *)&r->factor, o->sigma + r->leaves);
    o->dense = s->m + r->rank <= r->n;
    if (o->dense)
        return factor_dense(s);
    for (size_t k = 0; k < r->leaves; k++) {
        double by = 1 / sqrt(o->sigma[k]);
        for (size_t i = 0; i < r->n; i++)
            o->half[k * r->n + i] = by * r->x[k * r->n + i];
    }
    vxs_factor_solve_lower_many(&r->factor, r->x + r->leaves * r->n, r->n,
                                o->half + r->leaves * r->n);
    memset(o->system, 0, r->n * r->n * sizeof(*o->system));
    if (m > 0)
        cblas_dsyrk(CblasColMajor, CblasLower, CblasNoTrans, n, m, 1, o->half, n, 0, o->system, n);
    for (size_t i = 0; i < r->n; i++)
        o->system[i * r->n + i] += o->weight[i];
    return vxs_cholesky(o->system, r->n) && (r->rank == 0 || factor_span(s));
}

static void solve_dense(vxs_iterate *s)
{
    workspace *o = s->workspace;
    size_t n = s->problem->n, q = s->problem->rank;
    double *right = o->both;
    memcpy(right, o->residual1, s->m * sizeof(*right));
    memcpy(right + s->m, o->residual2, q * sizeof(*right));
    for (size_t i = 0; i < n; i++)
        o->trial3[i] = o->residual3[i] / o->weight[i];
    times_columns_transposed(s, 1, o->trial3, right);
    times_span_transposed(s, 1, o->trial3, right + s->m);
    vxs_cholesky_solve(o->system, s->m + q, right, 1);
    memcpy(o->trial1, right, s->m * sizeof(*right));
    memcpy(o->trial2, right + s->m, q * sizeof(*right));
    for (size_t i = 0; i < n; i++)
        o->trial3[i] = -o->residual3[i];
    times_columns(s, 1, o->trial1, o->trial3);
    times_span(s, 1, o->trial2, o->trial3);
    for (size_t i = 0; i < n; i++)
        o->trial3[i] /= o->weight[i];
}

/* Solves with the factors: trial1 to trial3 from right-hand sides residual1 to residual3. */
static void solve_once(vxs_iterate *s)
{
    workspace *o = s->workspace;
    int n = (int)s->problem->n, q = (int)s->problem->rank;
    if (o->dense) {
        solve_dense(s);
        return;
    }
    memcpy(o->trial1, o->residual1, s->m * sizeof(*o->trial1));
    divide_by_b(s, o->trial1);
    for (int i = 0; i < n; i++)
        o->trial3[i] = -o->residual3[i];
    times_columns(s, 1, o->trial1, o->trial3);
    vxs_cholesky_solve(o->system, s->problem->n, o->trial3, 1);
    if (q > 0) {
        memcpy(o->trial2, o->residual2, (size_t)q * sizeof(*o->trial2));
        times_span_transposed(s, -1, o->trial3, o->trial2);
        vxs_cholesky_solve(o->small, s->problem->rank, o->trial2, 1);
        cblas_dgemv(CblasColMajor, CblasNoTrans, n, q, 1, o->by_span, n, o->trial2, 1, 1, o->trial3,
                    1);
    }
    memcpy(o->trial1, o->residual1, s->m * sizeof(*o->trial1));
    times_columns_transposed(s, -1, o->trial3, o->trial1);
    divide_by_b(s, o->trial1);
}

/* Residuals of the Newton system at dx, db, dy. Returns their norm. */
static double find_residuals(vxs_iterate *s)
{
    const vxs_reparametrized *r = s->problem;
    workspace *o = s->workspace;
    vxs_reparametrized_multiply(r, o->dx, o->ex);
    for (size_t k = 0; k < s->k; k++)
        o->ex[k] *= -o->sigma[k];
    memcpy(o->residual1, o->a1, s->m * sizeof(*o->a1));
    vxs_reparametrized_transpose(r, o->ex, o->residual1);
    times_columns_transposed(s, -1, o->dy, o->residual1);
    memcpy(o->residual2, o->a2, r->rank * sizeof(*o->a2));
    times_span_transposed(s, -1, o->dy, o->residual2);
    for (size_t i = 0; i < r->n; i++)
        o->residual3[i] = o->weight[i] * o->dy[i];
    times_columns(s, -1, o->dx, o->residual3);
    times_span(s, -1, o->db, o->residual3);
    return cblas_dnrm2((int)s->m, o->residual1, 1) + cblas_dnrm2((int)r->rank, o->residual2, 1) +
           cblas_dnrm2((int)r->n, o->residual3, 1);
}

static void solve(vxs_iterate *s)
{
    workspace *o = s->workspace;
    double previous = INFINITY;
    memset(o->dx, 0, s->m * sizeof(*o->dx));
    memset(o->db, 0, s->problem->rank * sizeof(*o->db));
    memset(o->dy, 0, s->problem->n * sizeof(*o->dy));
    for (int iteration = 0; iteration < NEWTON_REFINEMENTS; iteration++) {
        double now = find_residuals(s);
        if (!(now < 0.1 * previous) || now == 0)
            return;
        solve_once(s);
        cblas_daxpy((int)s->m, 1, o->trial1, 1, o->dx, 1);
        cblas_daxpy((int)s->problem->rank, 1, o->trial2, 1, o->db, 1);
        cblas_daxpy((int)s->problem->n, 1, o->trial3, 1, o->dy, 1);
        previous = now;
    }
}

/* ---- The step -------------------------------------------------------------------------------- */

/* The Newton step towards complementarity mu; `corrector` 1 adds the predictor's second-order
 * term. */
static void find_step(vxs_iterate *s, double mu, double corrector)
{
    const vxs_reparametrized *r = s->problem;
    workspace *o = s->workspace;
    vxs_reparametrized_multiply(r, s->x, o->ex);
    for (size_t k = 0; k < s->k; k++) {
        o->to_up[k] = mu - s->up[k] * s->g[k] + corrector * o->dup[k] * o->dv[k];
        o->to_down[k] = mu - s->down[k] * s->h[k] - corrector * o->ddown[k] * o->dv[k];
        o->e[k] =
            o->ex[k] - s->up[k] + s->down[k] - o->to_up[k] / s->g[k] + o->to_down[k] / s->h[k];
        o->ex[k] = -s->v[k] - o->sigma[k] * o->e[k];
    }
    memset(o->a1, 0, s->m * sizeof(*o->a1));
    memset(o->a2, 0, r->rank * sizeof(*o->a2));
    vxs_reparametrized_transpose(r, o->ex, o->a1);
    times_columns_transposed(s, 1 / s->lambda, s->xi, o->a1);
    times_span_transposed(s, 1 / s->lambda, s->xi, o->a2);
    solve(s);
    vxs_reparametrized_multiply(r, o->dx, o->ex);
    for (size_t k = 0; k < s->k; k++) {
        o->dv[k] = o->sigma[k] * (o->ex[k] + o->e[k]);
        o->dup[k] = (o->to_up[k] + s->up[k] * o->dv[k]) / s->g[k];
        o->ddown[k] = (o->to_down[k] - s->down[k] * o->dv[k]) / s->h[k];
    }
    memset(o->dz, 0, r->n * sizeof(*o->dz));
    times_columns(s, 1, o->dx, o->dz);
    times_span(s, 1, o->db, o->dz);
}

static double step_to_boundary(double max, double value, double change)
{
    return change * max < -value ? -value / change : max;
}

static double step_length(const vxs_iterate *s)
{
    const workspace *o = s->workspace;
    double max = 1 / SHORTEN;
    for (size_t k = 0; k < s->k; k++) {
        max = step_to_boundary(max, s->up[k], o->dup[k]);
        max = step_to_boundary(max, s->down[k], o->ddown[k]);
        max = step_to_boundary(max, s->g[k], -o->dv[k]);
        max = step_to_boundary(max, s->h[k], o->dv[k]);
    }
    return fmin(1, max * SHORTEN);
}

static double complementarity(const vxs_iterate *s, double length)
{
    const workspace *o = s->workspace;
    double sum = 0;
    for (size_t k = 0; k < s->k; k++)
        sum += (s->up[k] + length * o->dup[k]) * (s->g[k] - length * o->dv[k]) +
               (s->down[k] + length * o->ddown[k]) * (s->h[k] + length * o->dv[k]);
    return s->k > 0 ? sum / (2 * (double)s->k) : 0;
}

static void advance(vxs_iterate *s, double length)
{
    const workspace *o = s->workspace;
    cblas_daxpy((int)s->m, length, o->dx, 1, s->x, 1);
    cblas_daxpy((int)s->problem->rank, length, o->db, 1, s->b, 1);
    for (size_t k = 0; k < s->k; k++) {
        s->v[k] += length * o->dv[k];
        s->g[k] -= length * o->dv[k];
        s->h[k] += length * o->dv[k];
        s->up[k] += length * o->dup[k];
        s->down[k] += length * o->ddown[k];
    }
    update_predictions(s);
}

/* Barrier function at mu after a step of this length: its minimizers are the central path. */
static double barrier(const vxs_iterate *s, double mu, double length)
{
    const vxs_bp_data *w = s->problem->data;
    workspace *o = s->workspace;
    double sum = 0;
    for (size_t i = 0; i < s->problem->n; i++)
        o->trial3[i] = s->z[i] + length * o->dz[i];
    for (size_t k = 0; k < s->k; k++) {
        double up = s->up[k] + length * o->dup[k], down = s->down[k] + length * o->ddown[k];
        sum += up + down - mu * log(up * down);
    }
    return sum + vxs_bp_loss(w, o->trial3) / s->lambda;
}

/* Backtracking line search (Armijo) on the barrier: the second derivatives of the logistic loss
 * vary. The direction is one of descent, and keeps up - down = E x. */
static double line_search(const vxs_iterate *s, double mu, double length)
{
    const workspace *o = s->workspace;
    double gradient = -cblas_ddot((int)s->problem->n, s->xi, 1, o->dz, 1) / s->lambda;
    for (size_t k = 0; k < s->k; k++)
        gradient += o->dup[k] * (1 - mu / s->up[k]) + o->ddown[k] * (1 - mu / s->down[k]);
    double start = barrier(s, mu, 0);
    for (int iteration = 0; iteration < HALVINGS; iteration++, length /= 2)
        if (barrier(s, mu, length) <=
            start + length * ARMIJO * gradient + BARRIER_ROUNDING * fabs(start))
            break;
    return length;
}

bool vxs_iterate_step(vxs_iterate *s)
{
    bool squared = s->problem->data->loss->squared;
    double now = complementarity(s, 0), mu = 0;
    if (!factorize(s))
        return false;
    find_step(s, 0, 0);
    if (s->k > 0) {
        double after = complementarity(s, step_length(s)), share = after / now;
        bool stalled = s->slow >= SLOW;
        mu = fmax(fmax(share * share * share, stalled ? CENTERING : 0) * now,
                  s->min_complementarity);
        find_step(s, mu, squared && !stalled ? 1 : 0);
    }
    double length = step_length(s);
    if (!squared)
        length = line_search(s, mu, length);
    if (!(length > MIN_STEP))
        return false;
    advance(s, length);
    find_gap(s);
    s->slow = s->gap < FASTER * s->best_gap ? 0 : s->slow + 1;
    s->best_gap = fmin(s->best_gap, s->gap);
    return true;
}
