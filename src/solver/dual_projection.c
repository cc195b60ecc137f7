/* dual_projection.c - dual feasible points: projection onto the complement of the unpenalized
 * columns in the norm of second derivatives.
 *
 * Problem   gradients v at a solution are orthogonal to the unpenalized columns C up to rounding;
 *           for saturated samples, as those of a site with one diagnosis are, rounding of the other
 *           samples exceeds the whole range 0 ... u
 * Method    v - H C (C'HC)^-1 C'v, H the second derivatives: a Newton step in the coefficients of
 *           C. By the QR factorization S'C = QR, H = SS', instead of C'HC, which loses curvature
 *           below 1e-16 of the largest. Twice, for rounding
 * Classes   multinomial: H is u (diag(p) - pp'), S = sqrt(u) diag(g) (1 - gg'), g = sqrt(p).
 *           Gradients sum to 0 over classes: the first follows from the others
 * Cost      n rank^2 classes^3 a projection
 * Threads   those of BLAS
 * Source    none */
#include "solver/dual_projection.h"

#include <cblas.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#define DEPENDS       1e-13 /* of a column's norm: a smaller residual is linear dependence */
#define TERM_ROUNDING 1e-10 /* of the terms of an inner product: rounding */
#define NORM_ROUNDING 1e-14 /* of the product of norms: rounding */

/* Columns of the system: one a class except the first. */
static size_t columns_of(const vxs_dual_projection *r, size_t rank)
{
    return rank * (r->classes > 1 ? r->classes - 1 : 1);
}

vxs_status vxs_dual_projection_init(const vxs_problem *problem, size_t max,
                                    vxs_dual_projection *reach, vxs_error *err)
{
    size_t n = vxs_design_rows(problem->design), classes = vxs_loss_outputs(&problem->loss);
    *reach = (vxs_dual_projection){ .problem = problem, .n = n, .classes = classes };
    size_t columns = columns_of(reach, max), all = n * classes;
    reach->columns = vxs_alloc(max, n * sizeof(*reach->columns), err);
    reach->root = vxs_alloc(all, classes * sizeof(*reach->root), err);
    reach->q = vxs_alloc(columns, all * sizeof(*reach->q), err);
    reach->r = vxs_alloc(columns, columns * sizeof(*reach->r), err);
    reach->along = vxs_alloc(columns, sizeof(*reach->along), err);
    reach->moved = vxs_alloc(all, sizeof(*reach->moved), err);
    if (reach->columns && reach->root && reach->q && reach->r && reach->along && reach->moved)
        return VXS_OK;
    vxs_dual_projection_release(reach);
    return VXS_FAILED;
}

void vxs_dual_projection_add(vxs_dual_projection *r, const double *column)
{
    double *to = r->columns + r->rank * r->n;
    for (size_t i = 0; i < r->n; i++)
        to[i] = vxs_loss_weight(&r->problem->loss, i) > 0 ? column[i] : 0;
    cblas_dscal((int)r->n, 1 / cblas_dnrm2((int)r->n, to, 1), to, 1);
    r->rank++;
}

void vxs_dual_projection_release(vxs_dual_projection *reach)
{
    free(reach->columns);
    free(reach->root);
    free(reach->q);
    free(reach->r);
    free(reach->along);
    free(reach->moved);
    *reach = (vxs_dual_projection){ .n = 0 };
}

/* S[a, b] of sample i, multinomial. */
static double root_of(const vxs_dual_projection *r, const double *share, size_t i, size_t a,
                      size_t b)
{
    size_t n = r->n;
    double own = share[a * n + i], others = 0;
    for (size_t c = 0; c < r->classes; c++)
        others += c == a ? 0 : share[c * n + i];
    double part = a == b ? others : -sqrt(own * share[b * n + i]);
    return sqrt(vxs_loss_weight(&r->problem->loss, i) * own) * part;
}

/* S[a, b] of all samples, at (a classes + b) n. */
static void find_root(vxs_dual_projection *r, const double *curvature)
{
    size_t n = r->n, m = r->classes;
    for (size_t k = 0; k < m * m; k++)
        for (size_t i = 0; i < n; i++)
            r->root[k * n + i] =
                m == 1 ? sqrt(curvature[i]) : root_of(r, curvature, i, k / m, k % m);
}

/* The class that a column of the system belongs to. */
static size_t class_of(const vxs_dual_projection *r, size_t column)
{
    return r->classes > 1 ? 1 + column / r->rank : 0;
}

/* QR factorization of S'C by Gram-Schmidt, twice; dependent columns get zeros. */
static void factor(vxs_dual_projection *r)
{
    size_t n = r->n, m = r->classes, all = n * m, columns = columns_of(r, r->rank);
    memset(r->r, 0, columns * columns * sizeof(*r->r));
    for (size_t k = 0; k < columns; k++) {
        double *q = r->q + k * all, *to = r->r + k * columns;
        const double *root = r->root + class_of(r, k) * m * n;
        const double *b = r->columns + k % r->rank * n;
        for (size_t i = 0; i < all; i++)
            q[i] = root[i] * b[i % n];
        double before = cblas_dnrm2((int)all, q, 1);
        for (int twice = 0; twice < 2 && k > 0; twice++) {
            cblas_dgemv(CblasColMajor, CblasTrans, (int)all, (int)k, 1, r->q, (int)all, q, 1, 0,
                        r->along, 1);
            cblas_dgemv(CblasColMajor, CblasNoTrans, (int)all, (int)k, -1, r->q, (int)all, r->along,
                        1, 1, q, 1);
            cblas_daxpy((int)k, 1, r->along, 1, to, 1);
        }
        double length = cblas_dnrm2((int)all, q, 1);
        bool depends = !(length > DEPENDS * before);
        to[k] = depends ? 0 : length;
        cblas_dscal((int)all, depends ? 0 : 1 / length, q, 1);
    }
}

/* v - S Q R'^-1 C'v */
static void step(vxs_dual_projection *r, double *v)
{
    size_t n = r->n, m = r->classes, all = n * m, columns = columns_of(r, r->rank);
    memset(r->moved, 0, all * sizeof(*r->moved));
    for (size_t k = 0; k < columns; k++) {
        const double *column = r->r + k * columns;
        double sum =
            cblas_ddot((int)n, r->columns + k % r->rank * n, 1, v + class_of(r, k) * n, 1) -
            cblas_ddot((int)k, column, 1, r->along, 1);
        r->along[k] = column[k] > 0 ? sum / column[k] : 0;
        cblas_daxpy((int)all, r->along[k], r->q + k * all, 1, r->moved, 1);
    }
    for (size_t a = 0; a < m; a++)
        for (size_t b = 0; b < m; b++)
            for (size_t i = 0; i < n; i++)
                v[a * n + i] -= r->root[(a * m + b) * n + i] * r->moved[b * n + i];
}

static bool is_orthogonal(const vxs_dual_projection *r, const double *v)
{
    bool orthogonal = true;
    double whole = cblas_dnrm2((int)(r->n * r->classes), v, 1);
    for (size_t k = 0; k < r->classes * r->rank && orthogonal; k++) {
        const double *b = r->columns + k % r->rank * r->n, *s = v + k / r->rank * r->n;
        double sum = 0, size = 0;
        for (size_t i = 0; i < r->n; i++) {
            sum += b[i] * s[i];
            size += fabs(b[i] * s[i]);
        }
        orthogonal = fabs(sum) <= fmax(TERM_ROUNDING * size, NORM_ROUNDING * whole);
    }
    return orthogonal;
}

bool vxs_dual_projection_project(vxs_dual_projection *r, const double *curvature, double *v)
{
    if (r->rank == 0)
        return true;
    find_root(r, curvature);
    factor(r);
    step(r, v);
    step(r, v);
    return is_orthogonal(r, v);
}
