/* covariates_fit.c - intercept and covariates, given the predictions of the features.
 *
 * Problem   min over b: sum_i u_i f(z_i + c_i'b, y_i); C = QR, so that columns may have any scale
 *           and be linearly dependent
 * Optimal   Q'(u f') = 0
 * Method    Newton's method with a backtracking line search (Armijo): full steps may cycle. Where
 *           rounding hides the decrease, a few steps more for the gradient, on which the dual point
 *           rests (C'alpha = 0)
 * Stops     gradient at rounding, or no decrease
 * Cost      a step: n rank^2
 * Threads   those of BLAS
 * Source    dissertation 2.2.4 (intercept) */
#include "solver/covariates_fit.h"
#include "linalg/cholesky.h"
#include "linalg/gram_schmidt.h"
#include "solver/solver.h"

#include <cblas.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#define STEPS     60
#define FLAT      1e-13 /* of the largest: second derivatives that count as 0 */
#define ROUNDING  1e-14
#define ENOUGH    1e-4  /* Armijo: share of the predicted decrease */
#define EXPLAINED 1e-9  /* of the gradient: rounding, the covariates fit exactly */
#define LEVEL     1e-14 /* rounding of the gradient, relative to its terms */

static void span(vxs_covariates_fit *s)
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

void vxs_covariates_fit_release(vxs_covariates_fit *s)
{
    void *const all[] = { s->basis, s->share,    s->from,      s->b,       s->trial,
                          s->gram,  s->gradient, s->curvature, s->weighted };
    for (size_t k = 0; k < sizeof(all) / sizeof(all[0]); k++)
        free(all[k]);
    *s = (vxs_covariates_fit){ .n = 0 };
}

vxs_status vxs_covariates_fit_init(const vxs_problem *problem, size_t columns,
                                   vxs_covariates_fit *s, vxs_error *err)
{
    size_t n = vxs_design_rows(problem->design);
    *s = (vxs_covariates_fit){ .problem = problem, .n = n, .columns = columns };
    s->basis = vxs_alloc(n, columns * sizeof(*s->basis), err);
    s->share = vxs_alloc(columns, columns * sizeof(*s->share), err);
    s->from = vxs_alloc(columns, sizeof(*s->from), err);
    s->b = vxs_alloc(columns, sizeof(*s->b), err);
    s->trial = vxs_alloc(columns, sizeof(*s->trial), err);
    s->gram = vxs_alloc(columns + 2, columns * sizeof(*s->gram), err);
    s->gradient = vxs_alloc(n, sizeof(*s->gradient), err);
    s->curvature = vxs_alloc(n, sizeof(*s->curvature), err);
    s->weighted = vxs_alloc(n, sizeof(*s->weighted), err);
    if (!s->basis || !s->share || !s->from || !s->b || !s->trial || !s->gram || !s->gradient ||
        !s->curvature || !s->weighted) {
        vxs_covariates_fit_release(s);
        return VXS_FAILED;
    }
    span(s);
    return VXS_OK;
}

/* ---- Small systems --------------------------------------------------------------------------- */

void vxs_covariates_fit_factor(vxs_covariates_fit *s, const double *curvature)
{
    size_t q = s->rank, n = s->n;
    for (size_t r = 0; r < q; r++) {
        for (size_t i = 0; i < n; i++)
            s->weighted[i] = curvature[i] * s->basis[r * n + i];
        for (size_t k = 0; k <= r; k++)
            s->gram[r * q + k] = cblas_ddot((int)n, s->weighted, 1, s->basis + k * n, 1);
    }
    vxs_cholesky_semidefinite(s->gram, q, FLAT);
}

void vxs_covariates_fit_project(vxs_covariates_fit *s, const double *curvature, double *v)
{
    size_t n = s->n;
    for (size_t r = 0; r < s->rank; r++) {
        s->trial[r] = 0;
        for (size_t i = 0; i < n; i++)
            s->trial[r] += curvature[i] * s->basis[r * n + i] * v[i];
    }
    vxs_cholesky_semidefinite_solve(s->gram, s->rank, s->trial);
    for (size_t r = 0; r < s->rank; r++)
        cblas_daxpy((int)n, -s->trial[r], s->basis + r * n, 1, v, 1);
}

void vxs_covariates_fit_balance(vxs_covariates_fit *s, const double *curvature, double *v)
{
    size_t n = s->n;
    for (size_t r = 0; r < s->rank; r++)
        s->trial[r] = cblas_ddot((int)n, s->basis + r * n, 1, v, 1);
    vxs_cholesky_semidefinite_solve(s->gram, s->rank, s->trial);
    for (size_t r = 0; r < s->rank; r++)
        for (size_t i = 0; i < n; i++)
            v[i] -= s->trial[r] * curvature[i] * s->basis[r * n + i];
}

/* ---- Newton ---------------------------------------------------------------------------------- */

/* The value at b, and derivatives by predictions. */
static double value_at(vxs_covariates_fit *s, const double *z, const double *b, double *prediction)
{
    memcpy(prediction, z, s->n * sizeof(*prediction));
    for (size_t r = 0; r < s->rank; r++)
        cblas_daxpy((int)s->n, b[r], s->basis + r * s->n, 1, prediction, 1);
    return vxs_loss_expand(&s->problem->loss, prediction, s->gradient, s->curvature);
}

/* The negative gradient by b, stored behind the factor; false if it is rounding. */
static bool find_gradient(vxs_covariates_fit *s)
{
    double *down = s->gram + s->rank * s->rank, size = 0;
    bool steep = false;
    for (size_t i = 0; i < s->n; i++)
        size += s->gradient[i] * s->gradient[i];
    for (size_t r = 0; r < s->rank; r++) {
        down[r] = -cblas_ddot((int)s->n, s->gradient, 1, s->basis + r * s->n, 1);
        steep = steep || fabs(down[r]) > LEVEL * sqrt(size);
    }
    return steep;
}

/* A step, halved until the value decreases enough from `value`; returns the new value or
 * INFINITY. */
static double step_down(vxs_covariates_fit *s, const double *z, double most, double *prediction)
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
        double value = value_at(s, z, s->trial, prediction);
        if (value <= most - ENOUGH * share * promise) {
            memcpy(s->b, s->trial, s->rank * sizeof(*s->b));
            return value;
        }
    }
    return INFINITY;
}

/* Rounding of predictions in the value: near margins that are met it exceeds that of the sum. */
static double slack_of(const vxs_covariates_fit *s, const double *prediction, double value)
{
    double sum = fabs(value);
    for (size_t i = 0; i < s->n; i++)
        sum += fabs(s->gradient[i]) * (1 + fabs(prediction[i]));
    return ROUNDING * sum;
}

static double newton(vxs_covariates_fit *s, const double *z, double *prediction)
{
    double value = value_at(s, z, s->b, prediction);
    for (int step = 0, flat = 0; step < STEPS && s->rank > 0 && flat < 4; step++) {
        if (!find_gradient(s))
            return value;
        vxs_covariates_fit_factor(s, s->curvature);
        double next = step_down(s, z, value + slack_of(s, prediction, value), prediction);
        if (next == INFINITY)
            return value_at(s, z, s->b, prediction);
        flat += !(next < value - ROUNDING * fabs(value));
        value = next;
    }
    return value;
}

double vxs_covariates_fit_solve(vxs_covariates_fit *s, const double *z, double *prediction)
{
    const vxs_problem *problem = s->problem;
    vxs_problem eased = *problem;
    double threshold = 0;
    while ((threshold = vxs_loss_eased(&problem->loss, z, threshold)) > 0) {
        eased.loss.threshold = threshold;
        s->problem = &eased;
        (void)newton(s, z, prediction);
    }
    s->problem = problem;
    return newton(s, z, prediction);
}

bool vxs_covariates_fit_explain(vxs_covariates_fit *s, const double *zero, const double *gradient,
                                double scale)
{
    vxs_loss_gradient(&s->problem->loss, zero, s->gradient);
    return !(cblas_dnrm2((int)s->n, gradient, 1) >
             EXPLAINED * scale * cblas_dnrm2((int)s->n, s->gradient, 1));
}

void vxs_covariates_fit_coefficients(const vxs_covariates_fit *s, double *coefficients)
{
    for (size_t k = 0; k < s->columns; k++)
        coefficients[k] = 0;
    for (size_t r = s->rank; r-- > 0;) {
        double sum = s->b[r];
        for (size_t m = r + 1; m < s->rank; m++)
            sum -= s->share[s->from[m] * s->columns + r] * coefficients[s->from[m]];
        coefficients[s->from[r]] = sum / s->share[s->from[r] * s->columns + r];
    }
}
