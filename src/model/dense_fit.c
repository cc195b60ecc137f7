/* dense_fit.c - a weight for every feature, none selected: ridge regression and l2 logistic
 * regression from the products of subjects.
 *
 * Problem   min over a, b: sum_i u_i f(Ka + Zb, y) + lambda a'Ka / 2, K the products of subjects, Z
 *           the covariates, not penalized
 * Method    Newton steps on the n values, each a Cholesky factor of lambda + S K S, S^2 = u f'';
 *           halved while the objective does not fall. With few features X, K = XX', the factor is
 *           of lambda + X'S^2X, and the inverse that of Woodbury
 * Stops     a step lowers the objective by less than 1e-9 of it
 * Cost      n^3 / 3 for a step; with p features n p^2 */
#include "model/dense_fit.h"
#include "linalg/cholesky.h"
#include "linalg/gram_schmidt.h"

#include <cblas.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { MOST_STEPS = 50, MOST_HALVES = 30 };
#define DECREASE  1e-9 /* of the objective: that of a last step */
#define DEPENDENT (VXS_INDEPENDENT_COVARIATE * VXS_INDEPENDENT_COVARIATE)
#define FLAT      1e-10 /* of the largest second derivative: the least */

void vxs_dense_fit_release(vxs_dense_fit *r)
{
    void *const all[] = { r->k,      r->held_out, r->z,        r->of_tested, r->a,
                          r->b,      r->value,    r->gradient, r->curvature, r->root,
                          r->factor, r->right,    r->normal,   r->trial,     r->next,
                          r->y,      r->u,        r->weights,  r->scaled,    r->short_right };
    for (size_t k = 0; k < sizeof(all) / sizeof(all[0]); k++)
        free(all[k]);
}

vxs_status vxs_dense_fit_new(size_t m, size_t q, size_t tested, size_t p, vxs_dense_fit *r,
                             vxs_error *err)
{
    size_t wide = p > 0 ? p : m;
    *r = (vxs_dense_fit){ .m = m, .q = q, .tested = tested, .p = p };
    double **const all[] = {
        &r->a, &r->value, &r->gradient, &r->curvature, &r->root, &r->y, &r->u
    };
    for (size_t k = 0; k < sizeof(all) / sizeof(all[0]); k++) {
        *all[k] = vxs_alloc(m, sizeof(double), err);
        if (!*all[k])
            return VXS_FAILED;
    }
    r->k = vxs_alloc(m, vxs_times(wide, sizeof(double)), err);
    r->factor = vxs_alloc(wide, vxs_times(wide, sizeof(double)), err);
    r->held_out = vxs_alloc(r->tested + 1, vxs_times(wide, sizeof(double)), err);
    r->weights = vxs_alloc(p + 1, sizeof(double), err);
    r->scaled = vxs_alloc(m, vxs_times(p + 1, sizeof(double)), err);
    r->short_right = vxs_alloc(q + 1, (p + 1) * sizeof(double), err);
    r->z = vxs_alloc(q + 1, m * sizeof(double), err);
    r->of_tested = vxs_alloc(q + 1, (r->tested + 1) * sizeof(double), err);
    r->right = vxs_alloc(q + 1, m * sizeof(double), err);
    r->normal = vxs_alloc(q + 2, (q + 2) * sizeof(double), err);
    r->b = vxs_alloc(q + 1, sizeof(double), err);
    r->trial = vxs_alloc(m + q + 1, sizeof(double), err);
    r->next = vxs_alloc(m + q + 1, sizeof(double), err);
    return r->k && r->factor && r->held_out && r->weights && r->scaled && r->short_right && r->z &&
                   r->of_tested && r->right && r->normal && r->b && r->trial && r->next
               ? VXS_OK
               : VXS_FAILED;
}

/* w = X'a */
static void find_weights(const vxs_dense_fit *r, const double *a)
{
    cblas_dgemv(CblasColMajor, CblasTrans, (int)r->m, (int)r->p, 1, r->k, (int)r->m, a, 1, 0,
                r->weights, 1);
}

/* Values of subjects at weights and coefficients, and the objective. */
static double objective(const vxs_dense_fit *r, const double *a, const double *b, double lambda,
                        double *value)
{
    int m = (int)r->m, q = (int)r->q, p = (int)r->p;
    if (p > 0) {
        find_weights(r, a);
        cblas_dgemv(CblasColMajor, CblasNoTrans, m, p, 1, r->k, m, r->weights, 1, 0, value, 1);
    } else {
        cblas_dsymv(CblasColMajor, CblasLower, m, 1, r->k, m, a, 1, 0, value, 1);
    }
    double square = cblas_ddot(m, a, 1, value, 1);
    if (q > 0)
        cblas_dgemv(CblasColMajor, CblasNoTrans, m, q, 1, r->z, m, b, 1, 1, value, 1);
    return vxs_loss_value(&r->loss, value) + lambda * square / 2;
}

/* lambda + X'S^2X */
static bool factorize_features(vxs_dense_fit *r, double lambda)
{
    size_t m = r->m, p = r->p;
    for (size_t j = 0; j < p; j++)
        for (size_t i = 0; i < m; i++)
            r->scaled[j * m + i] = r->root[i] * r->k[j * m + i];
    cblas_dsyrk(CblasColMajor, CblasLower, CblasTrans, (int)p, (int)m, 1, r->scaled, (int)m, 0,
                r->factor, (int)p);
    for (size_t j = 0; j < p; j++)
        r->factor[j * p + j] += lambda;
    return vxs_cholesky(r->factor, p);
}

static bool factorize(vxs_dense_fit *r, double lambda)
{
    size_t m = r->m;
    if (r->p > 0)
        return factorize_features(r, lambda);
    for (size_t j = 0; j < m; j++)
        for (size_t i = j; i < m; i++)
            r->factor[j * m + i] =
                r->root[i] * r->root[j] * r->k[j * m + i] + (i == j ? lambda : 0);
    return vxs_cholesky(r->factor, m);
}

/* S Z and S v, v the values at which the quadratic model is least without the penalty. */
static void set_right(vxs_dense_fit *r)
{
    size_t m = r->m, q = r->q;
    for (size_t c = 0; c < q; c++)
        for (size_t i = 0; i < m; i++)
            r->right[c * m + i] = r->root[i] * r->z[c * m + i];
    for (size_t i = 0; i < m; i++)
        r->right[q * m + i] = r->root[i] * r->value[i] - r->gradient[i] / r->root[i];
}

/* The inverse of lambda + S K S times the right sides. */
static void solve_right(vxs_dense_fit *r, double lambda)
{
    int m = (int)r->m, p = (int)r->p, count = (int)r->q + 1;
    if (p == 0) {
        vxs_cholesky_solve(r->factor, r->m, r->right, r->q + 1);
        return;
    }
    cblas_dgemm(CblasColMajor, CblasTrans, CblasNoTrans, p, count, m, 1, r->scaled, m, r->right, m,
                0, r->short_right, p);
    vxs_cholesky_solve(r->factor, r->p, r->short_right, r->q + 1);
    cblas_dgemm(CblasColMajor, CblasNoTrans, CblasNoTrans, m, count, p, -1 / lambda, r->scaled, m,
                r->short_right, p, 1 / lambda, r->right, m);
}

/* b from Z'a = 0. */
static void solve_covariates(vxs_dense_fit *r, double *b)
{
    size_t m = r->m, q = r->q;
    for (size_t c = 0; c < q; c++) {
        const double *column = r->right + c * m;
        b[c] = 0;
        for (size_t d = 0; d <= c; d++)
            r->normal[c * q + d] = 0;
        for (size_t i = 0; i < m; i++) {
            b[c] += r->root[i] * r->z[c * m + i] * r->right[q * m + i];
            for (size_t d = 0; d <= c; d++)
                r->normal[c * q + d] += r->root[i] * r->z[d * m + i] * column[i];
        }
    }
    vxs_cholesky_semidefinite(r->normal, q, DEPENDENT);
    vxs_cholesky_semidefinite_solve(r->normal, q, b);
}

/* The optimum of the quadratic model: (lambda + S K S) x = S (v - Z b), a = S x, Z'a = 0. */
static bool solve_quadratic(vxs_dense_fit *r, double lambda, double *a, double *b)
{
    size_t m = r->m, q = r->q;
    double largest = 0;
    for (size_t i = 0; i < m; i++)
        largest = fmax(largest, r->curvature[i]);
    for (size_t i = 0; i < m; i++)
        r->root[i] = sqrt(fmax(r->curvature[i], FLAT * largest));
    if (!(largest > 0) || !factorize(r, lambda))
        return false;
    set_right(r);
    solve_right(r, lambda);
    solve_covariates(r, b);
    for (size_t i = 0; i < m; i++) {
        double x = r->right[q * m + i];
        for (size_t c = 0; c < q; c++)
            x -= b[c] * r->right[c * m + i];
        a[i] = r->root[i] * x;
    }
    return true;
}

/* From the last fit. Returns false if the objective is not finite. */
bool vxs_dense_fit_at(vxs_dense_fit *r, double lambda)
{
    size_t m = r->m, q = r->q;
    double now = objective(r, r->a, r->b, lambda, r->value);
    for (int step = 0; step < MOST_STEPS; step++) {
        vxs_loss_gradient(&r->loss, r->value, r->gradient);
        vxs_loss_curvature(&r->loss, r->value, r->curvature);
        if (!solve_quadratic(r, lambda, r->trial, r->trial + m))
            return false;
        double share = 1, then = INFINITY;
        for (int half = 0; half < MOST_HALVES && !(then <= now); half++, share /= 2) {
            for (size_t i = 0; i < m; i++)
                r->next[i] = r->a[i] + share * (r->trial[i] - r->a[i]);
            for (size_t c = 0; c < q; c++)
                r->next[m + c] = r->b[c] + share * (r->trial[m + c] - r->b[c]);
            then = objective(r, r->next, r->next + m, lambda, r->value);
        }
        if (!(then <= now)) /* rounding */
            break;
        memcpy(r->a, r->next, m * sizeof(*r->a));
        memcpy(r->b, r->next + m, q * sizeof(*r->b));
        bool last = now - then <= DECREASE * (1 + fabs(then));
        now = then;
        if (last || r->loss.kind->squared)
            break;
    }
    if (r->p > 0)
        find_weights(r, r->a);
    return isfinite(now);
}

double vxs_dense_fit_score(const vxs_dense_fit *r, size_t i)
{
    size_t wide = r->p > 0 ? r->p : r->m;
    double sum = cblas_ddot((int)wide, r->held_out + i * wide, 1, r->p > 0 ? r->weights : r->a, 1);
    for (size_t c = 0; c < r->q; c++)
        sum += r->b[c] * r->of_tested[c * r->tested + i];
    return sum;
}
