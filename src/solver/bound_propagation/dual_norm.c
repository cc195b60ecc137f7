/* dual_norm.c - the dual norm of |D w|_1: min |u|_inf over D'u = v.
 *
 * Problem   min tau over D'u = v, g = tau - u >= 0, h = tau + u >= 0
 * Dual      max v'w over |D w|_1 <= 1; multipliers up, down >= 0 of g and h: D w = up - down,
 *           sum(up + down) = 1
 * Optimal   up g = 0, down h = 0
 * Method    Mehrotra's predictor-corrector. At each iterate u is projected onto D'u = v in the norm
 *           of its weights: |u|_inf is an upper bound, v'w / |D w|_1 a lower bound, both
 *           independent of rounding
 * Stops     bounds agree to TOLERANCE
 * Cost      about twenty sparse Cholesky factorizations
 * Threads   1
 * Source    Mehrotra 1992; spec/fused.md, correction 1 to Theorem 8 */
#include "solver/bound_propagation/bound_propagation.h"

#include <cblas.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#define MAX_ITERATIONS  80    /* iterations */
#define TOLERANCE       1e-12 /* of the norm: gap of the bounds, residual of D'u = v */
#define SHORTEN         0.995
#define TINY            1e-300
#define MAX_REFINEMENTS 8     /* steps of iterative refinement */
#define EXACT           1e-15 /* residual, of max |v|: refinement ends */
#define NEAR            1e-7  /* residual, of max |v|, that equal weights still correct */
#define MIN_STEP        1e-12 /* shorter steps end the iterations */
#define DONE            1e-15 /* of the norm: complementarity below this is rounding */

typedef struct {
    vxs_factor *factor;
    const vxs_sparse_rows *d;
    size_t m, k;
    const double *value;
    double *best, norm, below;
    double near_norm; /* norm of the best u with residual below NEAR */
    double tau, dtau;
    double *u, *g, *h, *up, *down, *du, *dup, *ddown; /* k */
    double *sigma, *e, *kappa, *to_up, *to_down, *dw_terms, *trial, *gradient, *near;
    double *w, *dw, *along, *right; /* m */
    double *memory;
} iterate;

static vxs_status allocate(iterate *t, vxs_error *err)
{
    double **const of_k[] = { &t->u,        &t->g,     &t->h,       &t->up,       &t->down,
                              &t->du,       &t->dup,   &t->ddown,   &t->sigma,    &t->e,
                              &t->kappa,    &t->to_up, &t->to_down, &t->dw_terms, &t->trial,
                              &t->gradient, &t->near };
    double **const of_m[] = { &t->w, &t->dw, &t->along, &t->right };
    size_t ks = sizeof(of_k) / sizeof(of_k[0]), ms = sizeof(of_m) / sizeof(of_m[0]);
    double *next = t->memory = vxs_alloc(ks * t->k + ms * t->m, sizeof(*next), err);
    if (!next)
        return VXS_FAILED;
    for (size_t j = 0; j < ks; j++, next += t->k)
        *of_k[j] = next;
    for (size_t j = 0; j < ms; j++, next += t->m)
        *of_m[j] = next;
    return VXS_OK;
}

static void multiply(const vxs_sparse_rows *d, const double *w, double *out)
{
    for (size_t t = 0; t < d->count; t++) {
        double sum = 0;
        for (size_t a = d->starts[t]; a < d->starts[t + 1]; a++)
            sum += d->value[a] * w[d->index[a]];
        out[t] = sum;
    }
}

static void add_transposed(const vxs_sparse_rows *d, double factor, const double *u, double *out)
{
    for (size_t t = 0; t < d->count; t++)
        for (size_t a = d->starts[t]; a < d->starts[t + 1]; a++)
            out[d->index[a]] += factor * d->value[a] * u[t];
}

/* ---- Bounds ---------------------------------------------------------------------------------- */

static double largest(const double *u, size_t count)
{
    double max = 0;
    for (size_t k = 0; k < count; k++)
        max = fmax(max, fabs(u[k]));
    return max;
}

/* Iterative refinement of D'u = v with the factor of D' diag(weight) D. Returns the residual as a
 * share of max |v|. */
static double refine(iterate *t, const double *weight, double *u)
{
    double previous = INFINITY, residual = 0, size = largest(t->value, t->m);
    for (int iteration = 0; iteration < MAX_REFINEMENTS; iteration++) {
        memcpy(t->right, t->value, t->m * sizeof(*t->right));
        add_transposed(t->d, -1, u, t->right);
        residual = largest(t->right, t->m) / (size + TINY);
        if (!(residual < 0.5 * previous) || residual <= EXACT)
            break;
        previous = residual;
        vxs_factor_solve(t->factor, t->right);
        multiply(t->d, t->right, t->gradient);
        for (size_t k = 0; k < t->k; k++)
            u[k] += weight[k] * t->gradient[k];
    }
    return residual;
}

static void evaluate_bounds(iterate *t)
{
    memcpy(t->trial, t->u, t->k * sizeof(*t->trial));
    double residual = refine(t, t->sigma, t->trial), norm = largest(t->trial, t->k), size = 0;
    if (norm < t->norm && residual < TOLERANCE) {
        t->norm = norm;
        memcpy(t->best, t->trial, t->k * sizeof(*t->best));
    } else if (norm < t->norm && norm < t->near_norm && residual < NEAR) {
        t->near_norm = norm;
        memcpy(t->near, t->trial, t->k * sizeof(*t->near));
    }
    multiply(t->d, t->w, t->gradient);
    for (size_t k = 0; k < t->k; k++)
        size += fabs(t->gradient[k]);
    if (size > 0)
        t->below = fmax(t->below, cblas_ddot((int)t->m, t->value, 1, t->w, 1) / size);
}

/* ---- The step -------------------------------------------------------------------------------- */

static void find_step(iterate *t, double mu, double corrector)
{
    double sums = 1, gradient = 0, offset = 0;
    multiply(t->d, t->w, t->dw_terms);
    memcpy(t->dw, t->value, t->m * sizeof(*t->dw));
    add_transposed(t->d, -1, t->u, t->dw);
    memset(t->along, 0, t->m * sizeof(*t->along));
    for (size_t k = 0; k < t->k; k++) {
        t->to_up[k] = mu - t->up[k] * t->g[k] - corrector * t->dup[k] * (t->dtau - t->du[k]);
        t->to_down[k] = mu - t->down[k] * t->h[k] - corrector * t->ddown[k] * (t->dtau + t->du[k]);
        t->kappa[k] = t->up[k] / t->g[k] - t->down[k] / t->h[k];
        t->e[k] = t->dw_terms[k] - t->up[k] + t->down[k] - t->to_up[k] / t->g[k] +
                  t->to_down[k] / t->h[k];
        t->gradient[k] = t->sigma[k] * t->e[k];
        t->trial[k] = t->sigma[k] * t->kappa[k];
        sums -= t->up[k] + t->down[k] + t->to_up[k] / t->g[k] + t->to_down[k] / t->h[k];
    }
    add_transposed(t->d, -1, t->gradient, t->dw);
    add_transposed(t->d, 1, t->trial, t->along);
    vxs_factor_solve(t->factor, t->dw);
    vxs_factor_solve(t->factor, t->along);
    multiply(t->d, t->dw, t->du);
    multiply(t->d, t->along, t->trial);
    for (size_t k = 0; k < t->k; k++) {
        t->du[k] = t->sigma[k] * (t->du[k] + t->e[k]);
        t->gradient[k] = t->sigma[k] * (t->kappa[k] - t->trial[k]);
        offset += t->kappa[k] * t->du[k];
        gradient += t->kappa[k] * t->gradient[k] - 1 / t->sigma[k];
    }
    t->dtau = (sums - offset) / gradient;
    cblas_daxpy((int)t->m, -t->dtau, t->along, 1, t->dw, 1);
    for (size_t k = 0; k < t->k; k++) {
        t->du[k] += t->dtau * t->gradient[k];
        t->dup[k] = (t->to_up[k] - t->up[k] * (t->dtau - t->du[k])) / t->g[k];
        t->ddown[k] = (t->to_down[k] - t->down[k] * (t->dtau + t->du[k])) / t->h[k];
    }
}

static double step_to_boundary(double max, double value, double change)
{
    return change * max < -value ? -value / change : max;
}

/* Step lengths of (u, tau) and of (w, up, down). */
static void find_lengths(const iterate *t, double *primal, double *dual)
{
    *primal = *dual = 1 / SHORTEN;
    for (size_t k = 0; k < t->k; k++) {
        *primal = step_to_boundary(*primal, t->g[k], t->dtau - t->du[k]);
        *primal = step_to_boundary(*primal, t->h[k], t->dtau + t->du[k]);
        *dual = step_to_boundary(*dual, t->up[k], t->dup[k]);
        *dual = step_to_boundary(*dual, t->down[k], t->ddown[k]);
    }
    *primal = fmin(1, SHORTEN * *primal);
    *dual = fmin(1, SHORTEN * *dual);
}

static double complementarity(const iterate *t, double primal, double dual)
{
    double sum = 0;
    for (size_t k = 0; k < t->k; k++)
        sum += (t->up[k] + dual * t->dup[k]) * (t->g[k] + primal * (t->dtau - t->du[k])) +
               (t->down[k] + dual * t->ddown[k]) * (t->h[k] + primal * (t->dtau + t->du[k]));
    return sum / (2 * (double)t->k);
}

static void advance(iterate *t, double primal, double dual)
{
    t->tau += primal * t->dtau;
    cblas_daxpy((int)t->m, dual, t->dw, 1, t->w, 1);
    for (size_t k = 0; k < t->k; k++) {
        t->u[k] += primal * t->du[k];
        t->g[k] = fmax(TINY, t->g[k] + primal * (t->dtau - t->du[k]));
        t->h[k] = fmax(TINY, t->h[k] + primal * (t->dtau + t->du[k]));
        t->up[k] += dual * t->dup[k];
        t->down[k] += dual * t->ddown[k];
    }
}

static bool step(iterate *t)
{
    double primal, dual;
    for (size_t k = 0; k < t->k; k++)
        t->sigma[k] = 1 / (t->up[k] / t->g[k] + t->down[k] / t->h[k]);
    vxs_factor_make(t->factor, t->sigma);
    double now = complementarity(t, 0, 0);
    find_step(t, 0, 0);
    find_lengths(t, &primal, &dual);
    double share = complementarity(t, primal, dual) / now;
    find_step(t, share * share * share * now, 1);
    find_lengths(t, &primal, &dual);
    if ((!(primal > MIN_STEP) && !(dual > MIN_STEP)) || !(now > DONE * t->norm))
        return false;
    advance(t, primal, dual);
    evaluate_bounds(t);
    return true;
}

/* ---- The norm -------------------------------------------------------------------------------- */

/* Least squares u, the only feasible one if D is square. */
static void start(iterate *t)
{
    for (size_t k = 0; k < t->k; k++)
        t->sigma[k] = 1;
    vxs_factor_make(t->factor, t->sigma);
    refine(t, t->sigma, t->u);
    memcpy(t->best, t->u, t->k * sizeof(*t->u));
    t->norm = largest(t->u, t->k);
    t->near_norm = INFINITY;
    t->tau = 2 * t->norm;
    for (size_t k = 0; k < t->k; k++) {
        t->g[k] = t->tau - t->u[k];
        t->h[k] = t->tau + t->u[k];
        t->up[k] = t->down[k] = 0.5 / (double)t->k;
    }
}

/* Ill-conditioned weights may leave a residual: corrects the best such u with equal weights. */
static void correct_near(iterate *t)
{
    if (!(t->near_norm < t->norm))
        return;
    for (size_t k = 0; k < t->k; k++)
        t->sigma[k] = 1;
    vxs_factor_make(t->factor, t->sigma);
    double residual = refine(t, t->sigma, t->near), norm = largest(t->near, t->k);
    if (!(norm < t->norm && residual < TOLERANCE))
        return;
    t->norm = norm;
    memcpy(t->best, t->near, t->k * sizeof(*t->best));
}

vxs_status vxs_analysis_dual_norm(vxs_factor *factor, const double *value, double *u, double *norm,
                                  double *below, vxs_error *err)
{
    iterate t = { .factor = factor, .d = &factor->d, .value = value, .best = u };
    t.m = t.d->columns;
    t.k = t.d->count;
    *norm = *below = 0;
    if (t.k == 0)
        return VXS_OK;
    vxs_status status = allocate(&t, err);
    if (status)
        return status;
    start(&t);
    t.below = t.m == t.k ? t.norm : 0;
    for (int iteration = 0;
         iteration < MAX_ITERATIONS && t.norm > 0 && t.norm - t.below > TOLERANCE * t.norm;
         iteration++)
        if (!step(&t))
            break;
    correct_near(&t);
    *norm = t.norm;
    *below = t.below;
    free(t.memory);
    return VXS_OK;
}

vxs_status vxs_reparametrized_dual_norm(vxs_reparametrized *r, const double *theta, double *u,
                                        double *norm, vxs_error *err)
{
    vxs_status status = vxs_reparametrized_factor(r, err);
    double below, *value = vxs_alloc(r->leaves + r->reduced, sizeof(*value), err);
    if (!value || status) {
        free(value);
        return status ? status : VXS_FAILED;
    }
    cblas_dgemv(CblasColMajor, CblasTrans, (int)r->n, (int)(r->leaves + r->reduced), 1, r->x,
                (int)r->n, theta, 1, 0, value, 1);
    memcpy(u, value, r->leaves * sizeof(*u));
    status =
        vxs_analysis_dual_norm(&r->factor, value + r->leaves, u + r->leaves, norm, &below, err);
    for (size_t k = 0; k < r->leaves; k++)
        *norm = fmax(*norm, fabs(u[k]));
    free(value);
    return status;
}
