/* proximal_gradient.c - the restricted problem of fgm and mslr by accelerated proximal gradients
 * (APG).
 *
 * Problem   min over omega: (sum_h |omega_h|)^2 / 2 + phi(omega), phi = min over b of C sum u f:
 *           the proximal operator of the penalty has a closed form (algorithm 3); b is optimal at
 *           every point, hence every gradient is dual feasible
 * Dual      -G(alpha) - max_h |X_h'gradient|^2 / 2
 * Method    omega = prox(v - phi'(v) / L), v the extrapolation of omega; backtracking on L; the
 *           momentum restarts when the value increases. X_h v_h and X_h phi'_h are cached (section
 *           5.5): omega_h is a combination of v_h and phi'_h, hence another L costs n a cut and
 *           reads no column
 * Stops     the gap, to g->target; PATIENCE steps without progress
 * Cost      a step: 2 n x columns of cuts, and n a cut for each L
 * Threads   those of BLAS
 * Source    Tan, Tsang, Wang, algorithms 3 and 4, where b takes a gradient step of its own */
#include "solver/cutting_plane/cutting_plane.h"

#include <cblas.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#define FIRST_STEPS                                                                                \
    60 /* steps before the interior-point method, plus half the order of its system */
#define STEPS           1000
#define COVARIATE_STEPS 20   /* covariate steps for each of these; 6 are usual */
#define PATIENCE        50   /* steps without a smaller gap */
#define DECREASE_L      0.95 /* of the last L: the first trial */
#define INCREASE_L      1.6

typedef struct {
    vxs_cutting_plane *g;
    size_t n, count, width;                          /* cuts, their columns */
    double *omega, *previous, *v, *gradient;         /* width */
    double *x_omega, *x_previous, *x_v, *x_gradient; /* n x count: X_h of these four */
    double *prediction;                              /* n */
    double *vv, *vs, *ss; /* count: inner products of v and the gradient */
    double *norm, *scale; /* |u_h| before the proximal operator, and the factor of
                                         * u_h */
    double *sorted;
    size_t *seen;
    double step, momentum;   /* L */
    double value, best_dual; /* of omega; best lower bound */
    double phi_v;
} proximal;

static vxs_status allocate(proximal *a, vxs_error *err)
{
    double **const of_width[] = { &a->omega, &a->previous, &a->v, &a->gradient };
    double **const of_products[] = { &a->x_omega, &a->x_previous, &a->x_v, &a->x_gradient };
    double **const of_cuts[] = { &a->vv, &a->vs, &a->ss, &a->norm, &a->scale, &a->sorted };
    bool fine = true;
    for (size_t k = 0; k < 4; k++) {
        *of_width[k] = vxs_alloc(a->width, sizeof(double), err);
        *of_products[k] = vxs_alloc(a->n, a->count * sizeof(double), err);
        fine = fine && *of_width[k] && *of_products[k];
    }
    for (size_t k = 0; k < 6; k++) {
        *of_cuts[k] = vxs_alloc(a->count, sizeof(double), err);
        fine = fine && *of_cuts[k];
    }
    a->prediction = vxs_alloc(a->n, sizeof(double), err);
    a->seen = vxs_alloc(a->count, sizeof(*a->seen), err);
    return fine && a->prediction && a->seen ? VXS_OK : VXS_FAILED;
}

static void release(proximal *a)
{
    void *const all[] = { a->omega,   a->previous,   a->v,          a->gradient,
                          a->x_omega, a->x_previous, a->x_v,        a->x_gradient,
                          a->vv,      a->vs,         a->ss,         a->norm,
                          a->scale,   a->sorted,     a->prediction, a->seen };
    for (size_t k = 0; k < sizeof(all) / sizeof(all[0]); k++)
        free(all[k]);
}

/* ---- The proximal operator ------------------------------------------------------------------- */

static int by_size(const void *a, const void *b)
{
    double first = *(const double *)a, second = *(const double *)b;
    return (first < second) - (first > second);
}

/* The decrease of each norm by the proximal operator, s = 1 / L (Moreau's projection). */
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

/* ---- The step -------------------------------------------------------------------------------- */

/* Extrapolation: v = omega + m (omega - previous), and its predictions. */
static void extrapolate(proximal *a, double m)
{
    for (size_t k = 0; k < a->width; k++)
        a->v[k] = a->omega[k] + m * (a->omega[k] - a->previous[k]);
    for (size_t k = 0; k < a->n * a->count; k++)
        a->x_v[k] = a->x_omega[k] + m * (a->x_omega[k] - a->x_previous[k]);
    memset(a->g->z, 0, a->n * sizeof(double));
    for (size_t h = 0; h < a->count; h++)
        cblas_daxpy((int)a->n, 1, a->x_v + h * a->n, 1, a->g->z, 1);
}

/* Gradient and its products at v, and the dual value. */
static void evaluate(proximal *a)
{
    vxs_cutting_plane *g = a->g;
    double max_score = 0;
    vxs_cutting_plane_evaluate_products(g, a->seen, a->x_gradient);
    a->phi_v = g->value;
    size_t at = 0;
    for (size_t h = 0; h < a->count; h++) {
        const vxs_cut *cut = &g->cuts[h];
        double *v = a->v + at, *gradient = a->gradient + at;
        vxs_cut_gather(g, cut, g->cache.gradient, gradient);
        a->vv[h] = cblas_ddot((int)cut->width, v, 1, v, 1);
        a->vs[h] = cblas_ddot((int)cut->width, v, 1, gradient, 1);
        a->ss[h] = cblas_ddot((int)cut->width, gradient, 1, gradient, 1);
        max_score = fmax(max_score, a->ss[h]);
        at += cut->width;
    }
    a->best_dual =
        fmax(a->best_dual, vxs_cutting_plane_conjugate(g, g->gradient, 1) - max_score / 2);
}

/* omega_h = scale_h (v_h - gradient_h / L) for a trial L: predictions and phi there. */
static double try_step(proximal *a, double l, double *penalty)
{
    double sum = 0;
    for (size_t h = 0; h < a->count; h++)
        a->norm[h] = sqrt(fmax(0, a->vv[h] - 2 * a->vs[h] / l + a->ss[h] / (l * l)));
    double decrease = threshold(a->norm, a->count, 1 / l, a->sorted);
    memset(a->g->z, 0, a->n * sizeof(double));
    for (size_t h = 0; h < a->count; h++) {
        double norm = fmax(0, a->norm[h] - decrease);
        a->scale[h] = norm > 0 ? norm / a->norm[h] : 0;
        sum += norm;
        if (norm <= 0)
            continue;
        cblas_daxpy((int)a->n, a->scale[h], a->x_v + h * a->n, 1, a->g->z, 1);
        cblas_daxpy((int)a->n, -a->scale[h] / l, a->x_gradient + h * a->n, 1, a->g->z, 1);
    }
    *penalty = sum * sum / 2;
    return a->g->budget.cost *
           vxs_covariates_fit_solve(&a->g->covariates_fit, a->g->z, a->prediction);
}

/* Sufficient decrease: phi is at most its quadratic model at v. */
static bool is_sufficient(const proximal *a, double l, double phi)
{
    double model = a->phi_v, size = fabs(a->phi_v);
    for (size_t h = 0; h < a->count; h++) {
        double dv = a->scale[h] - 1, ds = -a->scale[h] / l; /* omega - v = dv v + ds gradient */
        double linear = dv * a->vs[h] + ds * a->ss[h];
        double square = dv * dv * a->vv[h] + 2 * dv * ds * a->vs[h] + ds * ds * a->ss[h];
        model += linear + l / 2 * fmax(0, square);
        size += fabs(linear);
    }
    return phi <= model + 1e-14 * size;
}

/* Accepts the trial: omega and its predictions. */
static void accept_step(proximal *a, double l)
{
    double *spare = a->previous, *spare_x = a->x_previous;
    a->previous = a->omega;
    a->x_previous = a->x_omega;
    a->omega = spare;
    a->x_omega = spare_x;
    size_t at = 0;
    for (size_t h = 0; h < a->count; h++) {
        double s = a->scale[h];
        for (size_t k = 0; k < a->g->cuts[h].width; k++, at++)
            a->omega[at] = s * (a->v[at] - a->gradient[at] / l);
        for (size_t i = 0; i < a->n; i++)
            a->x_omega[h * a->n + i] = s * (a->x_v[h * a->n + i] - a->x_gradient[h * a->n + i] / l);
    }
}

/* One step; false if the value does not decrease: then the momentum restarts. */
static bool step(proximal *a)
{
    double penalty = 0, phi = 0;
    double next = (1 + sqrt(1 + 4 * a->momentum * a->momentum)) / 2;
    extrapolate(a, (a->momentum - 1) / next);
    evaluate(a);
    a->step *= DECREASE_L;
    for (int tries = 0; tries < 200; tries++) {
        phi = try_step(a, a->step, &penalty);
        if (is_sufficient(a, a->step, phi))
            break;
        a->step *= INCREASE_L;
    }
    bool decreases = penalty + phi < a->value;
    bool plain = a->momentum == 1;
    if (!decreases) { /* restart */
        a->momentum = 1;
        if (!plain)
            return false;
    }
    if (decreases) {
        accept_step(a, a->step);
        a->value = penalty + phi;
        a->momentum = next;
    }
    return decreases;
}

/* ---- The restricted problem ------------------------------------------------------------------ */

/* Warm start from the omega of the cuts. */
static void start(proximal *a)
{
    vxs_cutting_plane *g = a->g;
    size_t at = 0;
    memset(g->z, 0, a->n * sizeof(double));
    for (size_t h = 0; h < a->count; h++) {
        memcpy(a->omega + at, g->cuts[h].omega, g->cuts[h].width * sizeof(double));
        vxs_cut_predict(g, &g->cuts[h], a->omega + at, a->x_omega + h * a->n);
        cblas_daxpy((int)a->n, 1, a->x_omega + h * a->n, 1, g->z, 1);
        at += g->cuts[h].width;
    }
    memcpy(a->previous, a->omega, a->width * sizeof(double));
    memcpy(a->x_previous, a->x_omega, a->n * a->count * sizeof(double));
    a->value = vxs_cutting_plane_penalty(g) +
               g->budget.cost * vxs_covariates_fit_solve(&g->covariates_fit, g->z, a->prediction);
    a->best_dual = -INFINITY;
    a->momentum = 1;
}

static void write_omega(const proximal *a)
{
    size_t at = 0;
    for (size_t h = 0; h < a->count; h++) {
        vxs_cut *cut = &a->g->cuts[h];
        memcpy(cut->omega, a->omega + at, cut->width * sizeof(double));
        cut->norm = cblas_dnrm2((int)cut->width, cut->omega, 1);
        at += cut->width;
    }
}

static double gap_of(const proximal *a)
{
    return (a->value - a->best_dual) / a->g->empty;
}

static void run_apg(proximal *a, int steps)
{
    double best = INFINITY;
    vxs_cutting_plane *g = a->g;
    uint64_t max_covariate_steps = g->covariates_fit.steps + COVARIATE_STEPS * (uint64_t)steps;
    for (int k = 0, stalled = 0;
         k < steps && stalled < PATIENCE && g->covariates_fit.steps < max_covariate_steps; k++) {
        if (vxs_check_interrupted(g->context, NULL))
            break; /* the caller checks for interruption, too */
        bool decreased = step(a);
        double gap = gap_of(a);
        g->inner_iterations++;
        stalled = decreased && gap < best ? 0 : stalled + 1;
        best = fmin(best, gap);
        if (gap <= g->target)
            break;
    }
    double gap = gap_of(a);
    g->restricted_gap = isnan(gap) ? INFINITY : fmax(0, gap);
}

static vxs_status run_steps(vxs_cutting_plane *g, int steps, vxs_error *err)
{
    proximal a = {
        .g = g, .n = g->n, .count = g->count, .step = 0.01 * (double)g->n * g->budget.cost
    };
    for (size_t h = 0; h < g->count; h++)
        a.width += g->cuts[h].width;
    vxs_status status = allocate(&a, err);
    if (!status) {
        start(&a);
        run_apg(&a, steps);
        write_omega(&a);
    }
    release(&a);
    return status;
}

/* Most problems need of_cuts steps; for the others the interior-point method approaches the
 * solution, from where proximal steps set the norms of inactive cuts to 0. */
vxs_status vxs_proximal_gradient_solve(vxs_cutting_plane *g, vxs_error *err)
{
    size_t columns = vxs_block_cache_columns(&g->cache), order = columns < g->n ? columns : g->n;
    vxs_status status = run_steps(g, FIRST_STEPS + (int)(order / 2), err);
    if (status || g->restricted_gap <= g->target)
        return status;
    status = vxs_budget_interior_solve(g, err);
    return status ? status : run_steps(g, STEPS, err);
}
