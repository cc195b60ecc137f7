/* covariates_fit.c - intercept and confounds beside predictions that are given.
 *
 * Problem  minimise over b  sum_i u_i f(z_i + c_i'b, y_i); C = Q R, Q of right angles, so that
 *          columns may be of any size and depend on each other.
 * Method   Newton's, each step halved until the value falls by a part of what the slope promises:
 *          whole ones may go to and fro between two places of one value for ever. Where rounding
 *          hides what it falls by, a few steps more for the slope, on which the bound of the whole
 *          problem rests (C'alpha = 0). */
#include "solver/covariates_fit.h"
#include "linalg/cholesky.h"
#include "linalg/gram_schmidt.h"
#include "solver/solver.h"

#include <cblas.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#define STEPS    60
#define FLAT     1e-13 /* of the largest: second derivatives that are none */
#define ROUNDING 1e-14
#define ENOUGH   1e-4  /* of what the slope promises */
#define LEVEL    1e-14 /* slope beside what it is a sum of */

static void span(vxs_shift *s)
{
    for (size_t k = 0; k < s->columns; k++) {
        double *v = s->basis + s->rank * s->n;
        for (size_t i = 0; i < s->n; i++)
            v[i] = vxs_loss_weight(&s->problem->loss, i) > 0 ? s->problem->covariates[k * s->n + i]
                                                             : 0;
        if (vxs_gram_schmidt_append(s->basis, s->n, s->rank, VXS_INDEPENDENT_COVARIATE, 0,
                                    s->share + k * s->columns))
            s->from[s->rank++] = k;
    }
}

void vxs_shift_release(vxs_shift *s)
{
    void *const all[] = { s->basis, s->share, s->from,  s->b,   s->trial,
                          s->gram,  s->slope, s->curve, s->bent };
    for (size_t k = 0; k < sizeof(all) / sizeof(all[0]); k++)
        free(all[k]);
    *s = (vxs_shift){ .n = 0 };
}

vxs_status vxs_shift_init(const vxs_problem *problem, size_t columns, vxs_shift *s, vxs_error *err)
{
    size_t n = vxs_design_rows(problem->design);
    *s = (vxs_shift){ .problem = problem, .n = n, .columns = columns };
    s->basis = vxs_alloc(n, columns * sizeof(*s->basis), err);
    s->share = vxs_alloc(columns, columns * sizeof(*s->share), err);
    s->from = vxs_alloc(columns, sizeof(*s->from), err);
    s->b = vxs_alloc(columns, sizeof(*s->b), err);
    s->trial = vxs_alloc(columns, sizeof(*s->trial), err);
    s->gram = vxs_alloc(columns + 2, columns * sizeof(*s->gram), err);
    s->slope = vxs_alloc(n, sizeof(*s->slope), err);
    s->curve = vxs_alloc(n, sizeof(*s->curve), err);
    s->bent = vxs_alloc(n, sizeof(*s->bent), err);
    if (!s->basis || !s->share || !s->from || !s->b || !s->trial || !s->gram || !s->slope ||
        !s->curve || !s->bent) {
        vxs_shift_release(s);
        return VXS_FAILED;
    }
    span(s);
    return VXS_OK;
}

/* ---- Small systems --------------------------------------------------------------------------- */

void vxs_shift_factor(vxs_shift *s, const double *curve)
{
    size_t q = s->rank, n = s->n;
    for (size_t r = 0; r < q; r++) {
        for (size_t i = 0; i < n; i++)
            s->bent[i] = curve[i] * s->basis[r * n + i];
        for (size_t k = 0; k <= r; k++)
            s->gram[r * q + k] = cblas_ddot((int)n, s->bent, 1, s->basis + k * n, 1);
    }
    vxs_cholesky_semidefinite(s->gram, q, FLAT);
}

void vxs_shift_project(vxs_shift *s, const double *curve, double *v)
{
    size_t n = s->n;
    for (size_t r = 0; r < s->rank; r++) {
        s->trial[r] = 0;
        for (size_t i = 0; i < n; i++)
            s->trial[r] += curve[i] * s->basis[r * n + i] * v[i];
    }
    vxs_cholesky_semidefinite_solve(s->gram, s->rank, s->trial);
    for (size_t r = 0; r < s->rank; r++)
        cblas_daxpy((int)n, -s->trial[r], s->basis + r * n, 1, v, 1);
}

void vxs_shift_balance(vxs_shift *s, const double *curve, double *v)
{
    size_t n = s->n;
    for (size_t r = 0; r < s->rank; r++)
        s->trial[r] = cblas_ddot((int)n, s->basis + r * n, 1, v, 1);
    vxs_cholesky_semidefinite_solve(s->gram, s->rank, s->trial);
    for (size_t r = 0; r < s->rank; r++)
        for (size_t i = 0; i < n; i++)
            v[i] -= s->trial[r] * curve[i] * s->basis[r * n + i];
}

/* ---- Newton ---------------------------------------------------------------------------------- */

static double value_at(const vxs_shift *s, const double *z, const double *b, double *shifted)
{
    memcpy(shifted, z, s->n * sizeof(*shifted));
    for (size_t r = 0; r < s->rank; r++)
        cblas_daxpy((int)s->n, b[r], s->basis + r * s->n, 1, shifted, 1);
    return vxs_loss_value(&s->problem->loss, shifted);
}

/* The slope by b, downwards, behind the factor; whether any of it is more than rounding. */
static bool find_slope(vxs_shift *s, const double *shifted)
{
    double *down = s->gram + s->rank * s->rank, size = 0;
    bool steep = false;
    vxs_loss_gradient(&s->problem->loss, shifted, s->slope);
    for (size_t i = 0; i < s->n; i++)
        size += s->slope[i] * s->slope[i];
    for (size_t r = 0; r < s->rank; r++) {
        down[r] = -cblas_ddot((int)s->n, s->slope, 1, s->basis + r * s->n, 1);
        steep = steep || fabs(down[r]) > LEVEL * sqrt(size);
    }
    return steep;
}

/* A step, halved until the value falls enough from `most`; what it is then, or INFINITY. */
static double step_down(vxs_shift *s, const double *z, double most, double *shifted)
{
    size_t rank = s->rank;
    double *down = s->gram + rank * rank, *step = down + rank;
    memcpy(step, down, rank * sizeof(*step));
    vxs_cholesky_semidefinite_solve(s->gram, rank, step);
    double promise = cblas_ddot((int)rank, down, 1, step, 1);
    for (double share = 1; share > 1e-9; share /= 2) {
        for (size_t r = 0; r < s->rank; r++)
            s->trial[r] = s->b[r] + share * step[r];
        s->steps++;
        double value = value_at(s, z, s->trial, shifted);
        if (value <= most - ENOUGH * share * promise) {
            memcpy(s->b, s->trial, s->rank * sizeof(*s->b));
            return value;
        }
    }
    return INFINITY;
}

/* What rounding of predictions may make of the value: near margins that are met it is far more than
 * that of the value itself. */
static double slack_of(const vxs_shift *s, const double *shifted, double value)
{
    double sum = fabs(value);
    for (size_t i = 0; i < s->n; i++)
        sum += fabs(s->slope[i]) * (1 + fabs(shifted[i]));
    return ROUNDING * sum;
}

static double newton(vxs_shift *s, const double *z, double *shifted)
{
    double value = value_at(s, z, s->b, shifted);
    for (int step = 0, flat = 0; step < STEPS && s->rank > 0 && flat < 4; step++) {
        if (!find_slope(s, shifted))
            return value;
        vxs_loss_curvature(&s->problem->loss, shifted, s->curve);
        vxs_shift_factor(s, s->curve);
        double next = step_down(s, z, value + slack_of(s, shifted, value), shifted);
        if (next == INFINITY)
            return value_at(s, z, s->b, shifted);
        flat += !(next < value - ROUNDING * fabs(value));
        value = next;
    }
    return value;
}

double vxs_shift_fit(vxs_shift *s, const double *z, double *shifted)
{
    const vxs_problem *problem = s->problem;
    vxs_problem eased = *problem;
    double threshold = 0;
    while ((threshold = vxs_loss_eased(&problem->loss, z, threshold)) > 0) {
        eased.loss.threshold = threshold;
        s->problem = &eased;
        (void)newton(s, z, shifted);
    }
    s->problem = problem;
    return newton(s, z, shifted);
}

void vxs_shift_weights(const vxs_shift *s, double *free)
{
    for (size_t k = 0; k < s->columns; k++)
        free[k] = 0;
    for (size_t r = s->rank; r-- > 0;) {
        double left = s->b[r];
        for (size_t m = r + 1; m < s->rank; m++)
            left -= s->share[s->from[m] * s->columns + r] * free[s->from[m]];
        free[s->from[r]] = left / s->share[s->from[r] * s->columns + r];
    }
}
