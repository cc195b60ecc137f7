/* check_dual.c - dual feasible points near gradients that rounding has projected out of the domain.
 *
 * A dual point is orthogonal to the unpenalized columns C. The gradient at a solution is orthogonal
 * up to rounding of its predictions times the weights of samples: next to a weight of 1e8 that
 * exceeds the whole range of a sample of weight 1e-8. So the projection is in the norm of second
 * derivatives H of total classes: v - H C (C'HC)^-1 C'v. Any feasible point gives a bound. */
#include "verify/check.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#define DEPENDS       1e-13 /* of a column's norm: a smaller residual is linear dependence */
#define TERM_ROUNDING 1e-10 /* of the terms of an inner product: rounding */
#define NORM_ROUNDING 1e-14 /* of the product of norms: rounding */
#define ROUNDING      1e-12 /* distance outside the domain that counts as on its boundary */

void vxs_check_projection_release(vxs_check_projection *s)
{
    free(s->q);
    free(s->r);
    free(s->along);
    free(s->root);
    *s = (vxs_check_projection){ .n = 0 };
}

/* Classes to project: gradients sum to 0 over classes, the first follows from the others. */
static size_t projected_classes(const vxs_check_projection *s)
{
    return s->classes > 1 ? s->classes - 1 : 1;
}

vxs_status vxs_check_projection_init(const vxs_problem *problem, const double *columns,
                                     size_t count, vxs_check_projection *s, vxs_error *err)
{
    size_t n = vxs_design_rows(problem->design);
    size_t classes = vxs_check_classes(problem);
    *s = (vxs_check_projection){
        .problem = problem, .n = n, .classes = classes, .count = count, .columns = columns
    };
    size_t size = count * projected_classes(s);
    s->q = vxs_alloc(size, n * classes * sizeof(*s->q), err);
    s->r = vxs_alloc(size, size * sizeof(*s->r), err);
    s->along = vxs_alloc(size, sizeof(*s->along), err);
    s->root = vxs_alloc(n * classes, classes * sizeof(*s->root), err);
    if (s->q && s->r && s->along && s->root)
        return VXS_OK;
    vxs_check_projection_release(s);
    return VXS_FAILED;
}

/* S of one sample, SS' its second derivatives: for the multinomial loss u (diag(p) - pp'), S =
 * diag(g) (1 - gg') sqrt(u), g = sqrt(p). */
static double root_of(const vxs_check_projection *s, size_t i, const double *z,
                      const double *gradient, size_t a, size_t b)
{
    const vxs_problem *p = s->problem;
    size_t n = s->n;
    double u = vxs_check_u(p, i), share[2], others = 0;
    if (s->classes == 1)
        return sqrt(fmax(0, vxs_check_curvature(p, i, z, gradient, n, 0, 0)));
    if (u == 0)
        return 0;
    for (size_t k = 0; k < 2; k++)
        share[k] = fmax(0, vxs_check_share(p, i, gradient, n, 1, k == 0 ? a : b));
    if (a != b)
        return -sqrt(u * share[0]) * sqrt(share[0] * share[1]);
    for (size_t c = 0; c < s->classes; c++)
        others += c == a ? 0 : fmax(0, vxs_check_share(p, i, gradient, n, 1, c));
    return sqrt(u * share[0]) * others;
}

/* QR factorization of S'C by Gram-Schmidt, twice; dependent columns get zeros. */
static void factor(vxs_check_projection *s, const bool *independent)
{
    size_t n = s->n, m = s->classes, total = n * m, projected = projected_classes(s),
           size = s->count * projected;
    memset(s->r, 0, size * size * sizeof(*s->r));
    for (size_t k = 0; k < size; k++) {
        double *q = s->q + k * total;
        const double *x = s->columns + k / projected * n;
        size_t class = m > 1 ? 1 + k % projected : 0;
        for (size_t i = 0; i < total; i++)
            q[i] = s->root[class * total + i] * x[i % n];
        double norm = sqrt(vxs_check_dot(q, q, total));
        for (size_t t = 0; t < 2 * k; t++) {
            const double *other = s->q + t % k * total;
            double along = vxs_check_dot(other, q, total);
            s->r[t % k * size + k] += along;
            for (size_t i = 0; i < total; i++)
                q[i] -= along * other[i];
        }
        double length = sqrt(vxs_check_dot(q, q, total));
        bool depends = !independent[k / projected] || !(length > DEPENDS * norm);
        s->r[k * size + k] = depends ? 0 : length;
        for (size_t i = 0; i < total; i++)
            q[i] = depends ? 0 : q[i] / length;
    }
}

/* v - S Q r'^-1 C'v, once. */
static void project_once(vxs_check_projection *s, double *v)
{
    size_t n = s->n, m = s->classes, total = n * m, projected = projected_classes(s),
           size = s->count * projected;
    for (size_t k = 0; k < size; k++) {
        size_t class = m > 1 ? 1 + k % projected : 0;
        double sum = vxs_check_dot(s->columns + k / projected * n, v + class * n, n);
        for (size_t t = 0; t < k; t++)
            sum -= s->r[t * size + k] * s->along[t];
        s->along[k] = s->r[k * size + k] > 0 ? sum / s->r[k * size + k] : 0;
    }
    for (size_t k = 0; k < size; k++)
        for (size_t a = 0; a < total; a++)
            for (size_t b = 0; b < m; b++)
                v[a] -= s->along[k] * s->root[(a / n * m + b) * n + a % n] *
                        s->q[k * total + b * n + a % n];
}

static bool is_orthogonal(const vxs_check_projection *s, const bool *independent, const double *v)
{
    bool orthogonal = true;
    double norm = sqrt(vxs_check_dot(v, v, s->n * s->classes));
    for (size_t k = 0; k < s->count * s->classes; k++) {
        const double *x = s->columns + k % s->count * s->n, *gradient = v + k / s->count * s->n;
        double size = 0, length = sqrt(vxs_check_dot(x, x, s->n));
        for (size_t i = 0; i < s->n; i++)
            size += fabs(x[i] * gradient[i]);
        double tol = fmax(TERM_ROUNDING * size, NORM_ROUNDING * norm * length);
        orthogonal = orthogonal &&
                     (!independent[k % s->count] || fabs(vxs_check_dot(x, gradient, s->n)) <= tol);
    }
    return orthogonal;
}

void vxs_check_project(vxs_check_projection *s, const vxs_check_empty *empty, const double *z,
                       double *gradient)
{
    size_t n = s->n, m = s->classes;
    if (s->count == 0)
        return;
    for (size_t a = 0; a < m; a++)
        for (size_t b = 0; b < m; b++)
            for (size_t i = 0; i < n; i++)
                s->root[(a * m + b) * n + i] = root_of(s, i, z + i, gradient + i, a, b);
    factor(s, empty->independent);
    project_once(s, gradient);
    project_once(s, gradient);
    bool orthogonal = is_orthogonal(s, empty->independent, gradient);
    for (size_t k = 0; k < m && !orthogonal; k++)
        vxs_check_project_out(empty, gradient + k * n);
}

void vxs_check_into_domain(const vxs_problem *problem, double *s, double scale,
                           const double *interior, double interior_scale)
{
    size_t n = vxs_design_rows(problem->design), shares = vxs_check_shares(problem);
    size_t classes = vxs_check_classes(problem);
    double share = 0;
    for (size_t k = 0; k < n * shares; k++) {
        size_t i = k / shares, entry = k % shares;
        bool counts = vxs_check_u(problem, i) > 0;
        double value = counts ? vxs_check_share(problem, i, s + i, n, scale, entry) : 0;
        double interior_value =
            counts ? vxs_check_share(problem, i, interior + i, n, interior_scale, entry) : 0;
        if (value < -ROUNDING && value / (value - interior_value) > share)
            share = fmin(1, value / (value - interior_value));
    }
    for (size_t i = 0; i < n && vxs_check_is_by_value(problem); i++)
        share = fmax(share, vxs_check_value_domain(problem, i, s[i] * scale,
                                                   interior[i] * interior_scale));
    for (size_t k = 0; k < classes * n && share > 0; k++)
        s[k] += share * (interior[k] * interior_scale / scale - s[k]);
}
