/* reach.c - dual points orthogonal to what is free, each sample moved as far as its curvature
 * allows.
 *
 * Problem  slopes v of an answer are orthogonal to what is free, C, but for rounding; and for
 *          samples that are told for certain, as those of a site where all have one diagnosis are,
 *          rounding of the others is more than all they may have: 0 ... u
 * Method   v - H C (C'HC)^-1 C'v, H being the second derivatives: a Newton step of what is free, as
 *          slopes see it. The system is solved by S'C = QR with H = SS', not from C'HC, which has
 *          lost what curves by less than 1e-16 of the rest. Twice, for what rounding left
 * Classes  with several H is u (diag(p) - pp'), S = sqrt(u) diag(q) (1 - qq') with q = sqrt(p).
 * What all classes have in common is no slope: the first one's follows from the others */
#include "solver/reach.h"

#include <cblas.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#define DEPENDS 1e-13 /* of a column's length: if no more is left, it depends on others */
#define LEFT    1e-10 /* of what an inner product adds up: rounding */
#define NOTHING 1e-14 /* of all slopes: likewise, where all that is added up is rounding */

/* Columns of the system: those of each class but the first. */
static size_t columns_of(const vxs_reach *r, size_t rank)
{
    return rank * (r->classes > 1 ? r->classes - 1 : 1);
}

vxs_status vxs_reach_init(const vxs_problem *problem, size_t most, vxs_reach *reach, vxs_error *err)
{
    size_t n = vxs_design_rows(problem->design), classes = vxs_loss_outputs(&problem->loss);
    *reach = (vxs_reach){ .problem = problem, .n = n, .classes = classes };
    size_t columns = columns_of(reach, most), all = n * classes;
    reach->free = vxs_alloc(most, n * sizeof(*reach->free), err);
    reach->root = vxs_alloc(all, classes * sizeof(*reach->root), err);
    reach->q = vxs_alloc(columns, all * sizeof(*reach->q), err);
    reach->r = vxs_alloc(columns, columns * sizeof(*reach->r), err);
    reach->along = vxs_alloc(columns, sizeof(*reach->along), err);
    reach->moved = vxs_alloc(all, sizeof(*reach->moved), err);
    if (reach->free && reach->root && reach->q && reach->r && reach->along && reach->moved)
        return VXS_OK;
    vxs_reach_release(reach);
    return VXS_FAILED;
}

void vxs_reach_add(vxs_reach *r, const double *column)
{
    double *to = r->free + r->rank * r->n;
    for (size_t i = 0; i < r->n; i++)
        to[i] = vxs_loss_weight(&r->problem->loss, i) > 0 ? column[i] : 0;
    cblas_dscal((int)r->n, 1 / cblas_dnrm2((int)r->n, to, 1), to, 1);
    r->rank++;
}

void vxs_reach_release(vxs_reach *reach)
{
    free(reach->free);
    free(reach->root);
    free(reach->q);
    free(reach->r);
    free(reach->along);
    free(reach->moved);
    *reach = (vxs_reach){ .n = 0 };
}

/* S[a, b] of sample i, of several classes. */
static double root_of(const vxs_reach *r, const double *share, size_t i, size_t a, size_t b)
{
    size_t n = r->n;
    double own = share[a * n + i], others = 0;
    for (size_t c = 0; c < r->classes; c++)
        others += c == a ? 0 : share[c * n + i];
    double part = a == b ? others : -sqrt(own * share[b * n + i]);
    return sqrt(vxs_loss_weight(&r->problem->loss, i) * own) * part;
}

/* S[a, b] of all samples, at (a classes + b) n. */
static void find_root(vxs_reach *r, const double *curvature)
{
    size_t n = r->n, m = r->classes;
    for (size_t k = 0; k < m * m; k++)
        for (size_t i = 0; i < n; i++)
            r->root[k * n + i] =
                m == 1 ? sqrt(curvature[i]) : root_of(r, curvature, i, k / m, k % m);
}

/* The class that a column of the system moves. */
static size_t class_of(const vxs_reach *r, size_t column)
{
    return r->classes > 1 ? 1 + column / r->rank : 0;
}

/* S'C = QR by Gram and Schmidt, twice; a column that depends on others has none. */
static void factor(vxs_reach *r)
{
    size_t n = r->n, m = r->classes, all = n * m, columns = columns_of(r, r->rank);
    memset(r->r, 0, columns * columns * sizeof(*r->r));
    for (size_t k = 0; k < columns; k++) {
        double *q = r->q + k * all, *to = r->r + k * columns;
        const double *root = r->root + class_of(r, k) * m * n;
        const double *b = r->free + k % r->rank * n;
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
static void step(vxs_reach *r, double *v)
{
    size_t n = r->n, m = r->classes, all = n * m, columns = columns_of(r, r->rank);
    memset(r->moved, 0, all * sizeof(*r->moved));
    for (size_t k = 0; k < columns; k++) {
        const double *column = r->r + k * columns;
        double sum = cblas_ddot((int)n, r->free + k % r->rank * n, 1, v + class_of(r, k) * n, 1) -
                     cblas_ddot((int)k, column, 1, r->along, 1);
        r->along[k] = column[k] > 0 ? sum / column[k] : 0;
        cblas_daxpy((int)all, r->along[k], r->q + k * all, 1, r->moved, 1);
    }
    for (size_t a = 0; a < m; a++)
        for (size_t b = 0; b < m; b++)
            for (size_t i = 0; i < n; i++)
                v[a * n + i] -= r->root[(a * m + b) * n + i] * r->moved[b * n + i];
}

static bool is_orthogonal(const vxs_reach *r, const double *v)
{
    bool orthogonal = true;
    double whole = cblas_dnrm2((int)(r->n * r->classes), v, 1);
    for (size_t k = 0; k < r->classes * r->rank && orthogonal; k++) {
        const double *b = r->free + k % r->rank * r->n, *s = v + k / r->rank * r->n;
        double sum = 0, size = 0;
        for (size_t i = 0; i < r->n; i++) {
            sum += b[i] * s[i];
            size += fabs(b[i] * s[i]);
        }
        orthogonal = fabs(sum) <= fmax(LEFT * size, NOTHING * whole);
    }
    return orthogonal;
}

bool vxs_reach_project(vxs_reach *r, const double *curvature, double *v)
{
    if (r->rank == 0)
        return true;
    find_root(r, curvature);
    factor(r);
    step(r, v);
    step(r, v);
    return is_orthogonal(r, v);
}
