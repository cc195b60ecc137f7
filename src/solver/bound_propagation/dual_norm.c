/* dual_norm.c - the dual norm of |D w|_1: the least |u|_inf with D'u = v.
 *
 * Problem   min tau over D'u = v, g = tau - u >= 0, h = tau + u >= 0
 * Dual      max v'w over |D w|_1 <= 1; with up, down >= 0 for g and h, D w = up - down and their
 *           sums are 1
 * Way       Mehrotra's predictor and corrector, as in analysis_interior.c. From each iterate u is
 * moved to where D'u = v holds by what costs least in the weights, so that |u|_inf is a bound from
 *           above, and v'w / |D w|_1 is one from below: both hold whatever rounding did
 * Cost      some twenty sparse factors */
#include "solver/bound_propagation/bound_propagation.h"

#include <cblas.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#define MOST    80    /* iterations */
#define CLOSE   1e-12 /* of the norm: bounds no further apart are one; u no further off is right */
#define SHORTEN 0.995
#define TINY    1e-300
#define ROUNDS  8     /* of moving u */
#define EXACT   1e-15 /* of the largest value: u need not be moved closer */
#define NEAR    1e-7  /* this share of the largest value can be mended */
#define LEAST   1e-12 /* a step that is no longer gets nowhere */
#define DONE    1e-15 /* products that small, of the norm, are rounding */

typedef struct {
    vxs_factor *factor;
    const vxs_sparse_rows *d;
    size_t m, k;
    const double *value;
    double *best, norm, below;
    double least; /* that of a u which is only near where it should be */
    double tau, dtau;
    double *u, *g, *h, *up, *down, *du, *dup, *ddown; /* k */
    double *sigma, *e, *kappa, *to_up, *to_down, *dw_terms, *trial, *slope, *near;
    double *w, *dw, *along, *right; /* m */
    double *memory;
} point;

static vxs_status make_room(point *t, vxs_error *err)
{
    double **const of_k[] = { &t->u,       &t->g,        &t->h,     &t->up,    &t->down,  &t->du,
                              &t->dup,     &t->ddown,    &t->sigma, &t->e,     &t->kappa, &t->to_up,
                              &t->to_down, &t->dw_terms, &t->trial, &t->slope, &t->near };
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

static void times_terms(const vxs_sparse_rows *d, const double *w, double *out)
{
    for (size_t t = 0; t < d->count; t++) {
        double sum = 0;
        for (size_t a = d->starts[t]; a < d->starts[t + 1]; a++)
            sum += d->value[a] * w[d->index[a]];
        out[t] = sum;
    }
}

static void add_turned(const vxs_sparse_rows *d, double factor, const double *u, double *out)
{
    for (size_t t = 0; t < d->count; t++)
        for (size_t a = d->starts[t]; a < d->starts[t + 1]; a++)
            out[d->index[a]] += factor * d->value[a] * u[t];
}

/* ---- Bounds ---------------------------------------------------------------------------------- */

static double largest(const double *u, size_t count)
{
    double most = 0;
    for (size_t k = 0; k < count; k++)
        most = fmax(most, fabs(u[k]));
    return most;
}

/* The factors are those of `weight`. Returns what is left of the equations, as a share of the
 * largest value. */
static double correct(point *t, const double *weight, double *u)
{
    double before = INFINITY, off = 0, size = largest(t->value, t->m);
    for (int round = 0; round < ROUNDS; round++) {
        memcpy(t->right, t->value, t->m * sizeof(*t->right));
        add_turned(t->d, -1, u, t->right);
        off = largest(t->right, t->m) / (size + TINY);
        if (!(off < 0.5 * before) || off <= EXACT)
            break;
        before = off;
        vxs_factor_solve(t->factor, t->right);
        times_terms(t->d, t->right, t->slope);
        for (size_t k = 0; k < t->k; k++)
            u[k] += weight[k] * t->slope[k];
    }
    return off;
}

static void look(point *t)
{
    memcpy(t->trial, t->u, t->k * sizeof(*t->trial));
    double off = correct(t, t->sigma, t->trial), norm = largest(t->trial, t->k), size = 0;
    if (norm < t->norm && off < CLOSE) {
        t->norm = norm;
        memcpy(t->best, t->trial, t->k * sizeof(*t->best));
    } else if (norm < t->norm && norm < t->least && off < NEAR) {
        t->least = norm;
        memcpy(t->near, t->trial, t->k * sizeof(*t->near));
    }
    times_terms(t->d, t->w, t->slope);
    for (size_t k = 0; k < t->k; k++)
        size += fabs(t->slope[k]);
    if (size > 0)
        t->below = fmax(t->below, cblas_ddot((int)t->m, t->value, 1, t->w, 1) / size);
}

/* ---- A step ---------------------------------------------------------------------------------- */

static void find_step(point *t, double aim, double bend)
{
    double sums = 1, slope = 0, start = 0;
    times_terms(t->d, t->w, t->dw_terms);
    memcpy(t->dw, t->value, t->m * sizeof(*t->dw));
    add_turned(t->d, -1, t->u, t->dw);
    memset(t->along, 0, t->m * sizeof(*t->along));
    for (size_t k = 0; k < t->k; k++) {
        t->to_up[k] = aim - t->up[k] * t->g[k] - bend * t->dup[k] * (t->dtau - t->du[k]);
        t->to_down[k] = aim - t->down[k] * t->h[k] - bend * t->ddown[k] * (t->dtau + t->du[k]);
        t->kappa[k] = t->up[k] / t->g[k] - t->down[k] / t->h[k];
        t->e[k] = t->dw_terms[k] - t->up[k] + t->down[k] - t->to_up[k] / t->g[k] +
                  t->to_down[k] / t->h[k];
        t->slope[k] = t->sigma[k] * t->e[k];
        t->trial[k] = t->sigma[k] * t->kappa[k];
        sums -= t->up[k] + t->down[k] + t->to_up[k] / t->g[k] + t->to_down[k] / t->h[k];
    }
    add_turned(t->d, -1, t->slope, t->dw);
    add_turned(t->d, 1, t->trial, t->along);
    vxs_factor_solve(t->factor, t->dw);
    vxs_factor_solve(t->factor, t->along);
    times_terms(t->d, t->dw, t->du);
    times_terms(t->d, t->along, t->trial);
    for (size_t k = 0; k < t->k; k++) {
        t->du[k] = t->sigma[k] * (t->du[k] + t->e[k]);
        t->slope[k] = t->sigma[k] * (t->kappa[k] - t->trial[k]);
        start += t->kappa[k] * t->du[k];
        slope += t->kappa[k] * t->slope[k] - 1 / t->sigma[k];
    }
    t->dtau = (sums - start) / slope;
    cblas_daxpy((int)t->m, -t->dtau, t->along, 1, t->dw, 1);
    for (size_t k = 0; k < t->k; k++) {
        t->du[k] += t->dtau * t->slope[k];
        t->dup[k] = (t->to_up[k] - t->up[k] * (t->dtau - t->du[k])) / t->g[k];
        t->ddown[k] = (t->to_down[k] - t->down[k] * (t->dtau + t->du[k])) / t->h[k];
    }
}

static double reach(double most, double value, double change)
{
    return change * most < -value ? -value / change : most;
}

/* How far u and tau, and how far w and its slacks, may go. */
static void find_lengths(const point *t, double *primal, double *dual)
{
    *primal = *dual = 1 / SHORTEN;
    for (size_t k = 0; k < t->k; k++) {
        *primal = reach(*primal, t->g[k], t->dtau - t->du[k]);
        *primal = reach(*primal, t->h[k], t->dtau + t->du[k]);
        *dual = reach(*dual, t->up[k], t->dup[k]);
        *dual = reach(*dual, t->down[k], t->ddown[k]);
    }
    *primal = fmin(1, SHORTEN * *primal);
    *dual = fmin(1, SHORTEN * *dual);
}

static double complement(const point *t, double primal, double dual)
{
    double sum = 0;
    for (size_t k = 0; k < t->k; k++)
        sum += (t->up[k] + dual * t->dup[k]) * (t->g[k] + primal * (t->dtau - t->du[k])) +
               (t->down[k] + dual * t->ddown[k]) * (t->h[k] + primal * (t->dtau + t->du[k]));
    return sum / (2 * (double)t->k);
}

static void advance(point *t, double primal, double dual)
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

static bool step(point *t)
{
    double primal, dual;
    for (size_t k = 0; k < t->k; k++)
        t->sigma[k] = 1 / (t->up[k] / t->g[k] + t->down[k] / t->h[k]);
    vxs_factor_make(t->factor, t->sigma);
    double now = complement(t, 0, 0);
    find_step(t, 0, 0);
    find_lengths(t, &primal, &dual);
    double share = complement(t, primal, dual) / now;
    find_step(t, share * share * share * now, 1);
    find_lengths(t, &primal, &dual);
    if ((!(primal > LEAST) && !(dual > LEAST)) || !(now > DONE * t->norm))
        return false;
    advance(t, primal, dual);
    look(t);
    return true;
}

/* ---- The norm -------------------------------------------------------------------------------- */

/* The shortest u, which is the only one when D is square. */
static void begin(point *t)
{
    for (size_t k = 0; k < t->k; k++)
        t->sigma[k] = 1;
    vxs_factor_make(t->factor, t->sigma);
    correct(t, t->sigma, t->u);
    memcpy(t->best, t->u, t->k * sizeof(*t->u));
    t->norm = largest(t->u, t->k);
    t->least = INFINITY;
    t->tau = 2 * t->norm;
    for (size_t k = 0; k < t->k; k++) {
        t->g[k] = t->tau - t->u[k];
        t->h[k] = t->tau + t->u[k];
        t->up[k] = t->down[k] = 0.5 / (double)t->k;
    }
}

/* Weights far apart may leave a smaller u a little off; equal ones mend that by as little. */
static void end(point *t)
{
    if (!(t->least < t->norm))
        return;
    for (size_t k = 0; k < t->k; k++)
        t->sigma[k] = 1;
    vxs_factor_make(t->factor, t->sigma);
    double off = correct(t, t->sigma, t->near), norm = largest(t->near, t->k);
    if (!(norm < t->norm && off < CLOSE))
        return;
    t->norm = norm;
    memcpy(t->best, t->near, t->k * sizeof(*t->best));
}

vxs_status vxs_terms_norm(vxs_factor *factor, const double *value, double *u, double *norm,
                          double *below, vxs_error *err)
{
    point t = { .factor = factor, .d = &factor->d, .value = value, .best = u };
    t.m = t.d->columns;
    t.k = t.d->count;
    *norm = *below = 0;
    if (t.k == 0)
        return VXS_OK;
    vxs_status status = make_room(&t, err);
    if (status)
        return status;
    begin(&t);
    t.below = t.m == t.k ? t.norm : 0;
    for (int round = 0; round < MOST && t.norm > 0 && t.norm - t.below > CLOSE * t.norm; round++)
        if (!step(&t))
            break;
    end(&t);
    *norm = t.norm;
    *below = t.below;
    free(t.memory);
    return VXS_OK;
}

vxs_status vxs_rest_norm(vxs_rest *r, const double *theta, double *u, double *norm, vxs_error *err)
{
    vxs_status status = vxs_rest_factor(r, err);
    double below, *value = vxs_alloc(r->singles + r->mr, sizeof(*value), err);
    if (!value || status) {
        free(value);
        return status ? status : VXS_FAILED;
    }
    cblas_dgemv(CblasColMajor, CblasTrans, (int)r->n, (int)(r->singles + r->mr), 1, r->x, (int)r->n,
                theta, 1, 0, value, 1);
    memcpy(u, value, r->singles * sizeof(*u));
    status = vxs_terms_norm(&r->factor, value + r->singles, u + r->singles, norm, &below, err);
    for (size_t k = 0; k < r->singles; k++)
        *norm = fmax(*norm, fabs(u[k]));
    free(value);
    return status;
}
