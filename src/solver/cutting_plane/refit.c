/* refit.c - refit (debiasing): weights of the selected blocks without the selecting penalty.
 *
 * Problem   min over w, b: |w|^2 / 2 + C sum_i u_i f(x_i'w + z_i'b, y_i)
 * Dual      alpha = -C u y f', Z'(alpha y) = 0
 * Optimal   w = X'(alpha y)
 * Method    truncated Newton: conjugate gradients for each step, backtracking line search (Armijo);
 *           b is optimal for each w
 * Stops     gap |w - X'(alpha y)|^2 / 2 small beside the empty model's value; the reported gap is
 *           that of alpha projected onto Z'(alpha y) = 0, from primal and dual values
 * Cost      a Newton step: 2 n x columns for each conjugate gradient iteration
 * Threads   those of BLAS
 * Source    Tan, Tsang, Wang, section 5.3 */
#include "solver/cutting_plane/cutting_plane.h"

#include <cblas.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#define STEPS           100
#define COVARIATE_STEPS 60 /* covariate iterations for each of these, at most */
#define GAP             1e-10
#define CG_TOL          0.05 /* relative residual of conjugate gradients */

typedef struct {
    const vxs_problem *problem;
    vxs_covariates_fit covariates_fit;
    double cost;
    const double *x;
    size_t n, columns;
    double *z, *prediction, *loss_gradient, *curvature, *projected;   /* n */
    double *gradient, *step, *residual, *direction, *product, *trial; /* columns */

} refit;

static double evaluate(refit *r, const double *w)
{
    cblas_dgemv(CblasColMajor, CblasNoTrans, (int)r->n, (int)r->columns, 1, r->x, (int)r->n, w, 1,
                0, r->z, 1);
    return r->cost * vxs_covariates_fit_solve(&r->covariates_fit, r->z, r->prediction) +
           cblas_ddot((int)r->columns, w, 1, w, 1) / 2;
}

/* w + C X'(u f'): the gap is half its square. */
static void find_gradient(refit *r, const double *w)
{
    vxs_loss_gradient(&r->problem->loss, r->prediction, r->loss_gradient);
    memcpy(r->gradient, w, r->columns * sizeof(*w));
    cblas_dgemv(CblasColMajor, CblasTrans, (int)r->n, (int)r->columns, r->cost, r->x, (int)r->n,
                r->loss_gradient, 1, 1, r->gradient, 1);
    vxs_loss_curvature(&r->problem->loss, r->prediction, r->curvature);
    vxs_covariates_fit_factor(&r->covariates_fit, r->curvature);
}

/* out = H v, H the Hessian with b optimal. */
static void multiply_hessian(refit *r, const double *v, double *out)
{
    cblas_dgemv(CblasColMajor, CblasNoTrans, (int)r->n, (int)r->columns, 1, r->x, (int)r->n, v, 1,
                0, r->projected, 1);
    vxs_covariates_fit_project(&r->covariates_fit, r->curvature, r->projected);
    for (size_t i = 0; i < r->n; i++)
        r->projected[i] *= r->curvature[i];
    memcpy(out, v, r->columns * sizeof(*v));
    cblas_dgemv(CblasColMajor, CblasTrans, (int)r->n, (int)r->columns, r->cost, r->x, (int)r->n,
                r->projected, 1, 1, out, 1);
}

/* step = -H^-1 gradient, by conjugate gradients. */
static void find_step(refit *r)
{
    int m = (int)r->columns;
    double square = cblas_ddot(m, r->gradient, 1, r->gradient, 1),
           tolerance = CG_TOL * CG_TOL * square;
    memset(r->step, 0, r->columns * sizeof(*r->step));
    for (size_t k = 0; k < r->columns; k++)
        r->direction[k] = r->residual[k] = -r->gradient[k];
    for (size_t k = 0; k < 2 * r->n + 10 && square > tolerance; k++) {
        multiply_hessian(r, r->direction, r->product);
        double step = square / cblas_ddot(m, r->direction, 1, r->product, 1), previous = square;
        cblas_daxpy(m, step, r->direction, 1, r->step, 1);
        cblas_daxpy(m, -step, r->product, 1, r->residual, 1);
        square = cblas_ddot(m, r->residual, 1, r->residual, 1);
        cblas_dscal(m, square / previous, r->direction, 1);
        cblas_daxpy(m, 1, r->residual, 1, r->direction, 1);
    }
}

static bool take_step(refit *r, double *w, double *value)
{
    double decrease = cblas_ddot((int)r->columns, r->gradient, 1, r->step, 1);
    for (double length = 1; length > 1e-10; length /= 2) {
        for (size_t k = 0; k < r->columns; k++)
            r->trial[k] = w[k] + length * r->step[k];
        double next = evaluate(r, r->trial);
        if (next > *value + 1e-4 * length * decrease)
            continue;
        memcpy(w, r->trial, r->columns * sizeof(*w));
        *value = next;
        return true;
    }
    evaluate(r, w);
    return false;
}

static void solve(refit *r, double *w)
{
    double value = evaluate(r, w), empty = value;
    for (int k = 0; k < STEPS && r->covariates_fit.steps < STEPS * COVARIATE_STEPS; k++) {
        find_gradient(r, w);
        if (cblas_ddot((int)r->columns, r->gradient, 1, r->gradient, 1) / 2 <= GAP * empty)
            return;
        find_step(r);
        if (!take_step(r, w, &value))
            return;
    }
}

static void release(refit *r)
{
    vxs_covariates_fit_release(&r->covariates_fit);
    void *const all[] = { r->z,         r->prediction, r->loss_gradient, r->curvature,
                          r->projected, r->step,       r->gradient,      r->residual,
                          r->direction, r->product,    r->trial };
    for (size_t k = 0; k < sizeof(all) / sizeof(all[0]); k++)
        free(all[k]);
}

static vxs_status allocate(refit *r, vxs_error *err)
{
    double **const samples[] = { &r->z, &r->prediction, &r->loss_gradient, &r->curvature,
                                 &r->projected };
    double **const weights[] = { &r->gradient,  &r->step,    &r->residual,
                                 &r->direction, &r->product, &r->trial };
    bool fine = true;
    for (size_t k = 0; k < 5; k++) {
        *samples[k] = vxs_alloc(r->n, sizeof(double), err);
        fine = fine && *samples[k];
    }
    for (size_t k = 0; k < 6; k++) {
        *weights[k] = vxs_alloc(r->columns, sizeof(double), err);
        fine = fine && *weights[k];
    }
    return fine ? vxs_covariates_fit_init(r->problem, r->problem->covariate_count,
                                          &r->covariates_fit, err)
                : VXS_FAILED;
}

/* The gap of the gradient projected onto Z'(alpha y) = 0 in the norm of the second derivatives;
 * INFINITY outside the dual domain. */
static double find_gap(refit *r, const double *w)
{
    int n = (int)r->n, m = (int)r->columns;
    double value = evaluate(r, w);
    find_gradient(r, w);
    for (int pass = 0; pass < 2; pass++)
        vxs_covariates_fit_balance(&r->covariates_fit, r->curvature, r->loss_gradient);
    memset(r->trial, 0, r->columns * sizeof(*r->trial));
    cblas_dgemv(CblasColMajor, CblasTrans, n, m, r->cost, r->x, n, r->loss_gradient, 1, 1, r->trial,
                1);
    return value + r->cost * vxs_loss_conjugate(&r->problem->loss, r->loss_gradient) +
           cblas_ddot(m, r->trial, 1, r->trial, 1) / 2;
}

vxs_status vxs_refit(const vxs_problem *problem, double cost, const double *x, size_t columns,
                     double *w, double *covariate_coefficients, double *gap, vxs_error *err)
{
    refit r = { .problem = problem,
                .cost = cost,
                .x = x,
                .n = vxs_design_rows(problem->design),
                .columns = columns };
    vxs_status status = allocate(&r, err);
    if (!status) {
        memset(w, 0, columns * sizeof(*w));
        solve(&r, w);
        *gap = find_gap(&r, w);
        vxs_covariates_fit_coefficients(&r.covariates_fit, covariate_coefficients);
    }
    release(&r);
    return status;
}
