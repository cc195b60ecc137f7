/* check_dual.c - points of the dual's domain near one that rounding has carried out of it.
 *
 * A dual point is orthogonal to the columns C that are not penalised. The slopes of an answer are,
 * but for rounding of its predictions, which weights of samples multiply: beside a weight of 1e8
 * it is more than all that a sample of weight 1e-8 may have. So each sample moves by as much as
 * its curvature allows: v - H C (C'HC)^-1 C'v, H being the second derivatives, of all classes
 * together. Any point of the domain gives a bound, whatever this makes of it. */
#include "verify/check.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#define DEPENDS  1e-13 /* of a column's length: if no more is left, it depends on others */
#define LEFT     1e-10 /* of what an inner product adds up: rounding */
#define NOTHING  1e-14 /* of all slopes: likewise, where all that is added up is rounding */
#define ROUNDING 1e-12 /* of 1: so little over the edge of the domain is on it */

void vxs_check_span_release(vxs_check_span *s)
{
    free(s->q);
    free(s->r);
    free(s->along);
    free(s->root);
    *s = (vxs_check_span){ .n = 0 };
}

/* The classes whose slopes are moved: what all have in common is no slope, so that the first one's
 * follow from the others. */
static size_t moved_classes(const vxs_check_span *s)
{
    return s->classes > 1 ? s->classes - 1 : 1;
}

vxs_status vxs_check_span_init(const vxs_problem *problem, const double *columns, size_t count,
                               vxs_check_span *s, vxs_error *err)
{
    size_t n = vxs_design_rows(problem->design);
    size_t classes = vxs_check_classes(problem);
    *s = (vxs_check_span){
        .problem = problem, .n = n, .classes = classes, .count = count, .columns = columns
    };
    size_t size = count * moved_classes(s);
    s->q = vxs_alloc(size, n * classes * sizeof(*s->q), err);
    s->r = vxs_alloc(size, size * sizeof(*s->r), err);
    s->along = vxs_alloc(size, sizeof(*s->along), err);
    s->root = vxs_alloc(n * classes, classes * sizeof(*s->root), err);
    if (s->q && s->r && s->along && s->root)
        return VXS_OK;
    vxs_check_span_release(s);
    return VXS_FAILED;
}

/* S of one sample, SS' being its second derivatives: of several classes u (diag(p) - pp'), S =
 * diag(g) (1 - gg') sqrt(u) with g = sqrt(p). */
static double root_of(const vxs_check_span *s, size_t i, const double *z, const double *slope,
                      size_t a, size_t b)
{
    const vxs_problem *p = s->problem;
    size_t n = s->n;
    double u = vxs_check_u(p, i), share[2], others = 0;
    if (s->classes == 1)
        return sqrt(fmax(0, vxs_check_curve(p, i, z, slope, n, 0, 0)));
    if (u == 0)
        return 0;
    for (size_t k = 0; k < 2; k++)
        share[k] = fmax(0, vxs_check_share(p, i, slope, n, 1, k == 0 ? a : b));
    if (a != b)
        return -sqrt(u * share[0]) * sqrt(share[0] * share[1]);
    for (size_t c = 0; c < s->classes; c++)
        others += c == a ? 0 : fmax(0, vxs_check_share(p, i, slope, n, 1, c));
    return sqrt(u * share[0]) * others;
}

/* S'C = Q r, Q of right angles (Gram and Schmidt, twice); a column that depends on others, as the
 * empty model's did, has none. */
static void factor(vxs_check_span *s, const bool *adds)
{
    size_t n = s->n, m = s->classes, all = n * m, moved = moved_classes(s), size = s->count * moved;
    memset(s->r, 0, size * size * sizeof(*s->r));
    for (size_t k = 0; k < size; k++) {
        double *q = s->q + k * all;
        const double *x = s->columns + k / moved * n;
        size_t class = m > 1 ? 1 + k % moved : 0;
        for (size_t i = 0; i < all; i++)
            q[i] = s->root[class * all + i] * x[i % n];
        double before = sqrt(vxs_check_inner(q, q, all));
        for (size_t t = 0; t < 2 * k; t++) {
            const double *other = s->q + t % k * all;
            double along = vxs_check_inner(other, q, all);
            s->r[t % k * size + k] += along;
            for (size_t i = 0; i < all; i++)
                q[i] -= along * other[i];
        }
        double length = sqrt(vxs_check_inner(q, q, all));
        bool depends = !adds[k / moved] || !(length > DEPENDS * before);
        s->r[k * size + k] = depends ? 0 : length;
        for (size_t i = 0; i < all; i++)
            q[i] = depends ? 0 : q[i] / length;
    }
}

/* One step of v - S Q r'^-1 C'v. */
static void take_off(vxs_check_span *s, double *v)
{
    size_t n = s->n, m = s->classes, all = n * m, moved = moved_classes(s), size = s->count * moved;
    for (size_t k = 0; k < size; k++) {
        size_t class = m > 1 ? 1 + k % moved : 0;
        double sum = vxs_check_inner(s->columns + k / moved * n, v + class * n, n);
        for (size_t t = 0; t < k; t++)
            sum -= s->r[t * size + k] * s->along[t];
        s->along[k] = s->r[k * size + k] > 0 ? sum / s->r[k * size + k] : 0;
    }
    for (size_t k = 0; k < size; k++)
        for (size_t a = 0; a < all; a++)
            for (size_t b = 0; b < m; b++)
                v[a] -= s->along[k] * s->root[(a / n * m + b) * n + a % n] *
                        s->q[k * all + b * n + a % n];
}

static bool is_orthogonal(const vxs_check_span *s, const bool *adds, const double *v)
{
    bool orthogonal = true;
    double whole = sqrt(vxs_check_inner(v, v, s->n * s->classes));
    for (size_t k = 0; k < s->count * s->classes; k++) {
        const double *x = s->columns + k % s->count * s->n, *slope = v + k / s->count * s->n;
        double size = 0, length = sqrt(vxs_check_inner(x, x, s->n));
        for (size_t i = 0; i < s->n; i++)
            size += fabs(x[i] * slope[i]);
        double least = fmax(LEFT * size, NOTHING * whole * length);
        orthogonal =
            orthogonal && (!adds[k % s->count] || fabs(vxs_check_inner(x, slope, s->n)) <= least);
    }
    return orthogonal;
}

void vxs_check_project(vxs_check_span *s, const vxs_check_empty *empty, const double *z,
                       double *slope)
{
    size_t n = s->n, m = s->classes;
    if (s->count == 0)
        return;
    for (size_t a = 0; a < m; a++)
        for (size_t b = 0; b < m; b++)
            for (size_t i = 0; i < n; i++)
                s->root[(a * m + b) * n + i] = root_of(s, i, z + i, slope + i, a, b);
    factor(s, empty->adds);
    take_off(s, slope);
    take_off(s, slope);
    bool orthogonal = is_orthogonal(s, empty->adds, slope);
    for (size_t k = 0; k < m && !orthogonal; k++)
        vxs_check_take_off(empty, slope + k * n);
}

void vxs_check_bring_inside(const vxs_problem *problem, double *s, double scale,
                            const double *inside, double inside_scale)
{
    size_t n = vxs_design_rows(problem->design), sides = vxs_check_sides(problem);
    size_t classes = vxs_check_classes(problem);
    double share = 0;
    for (size_t k = 0; k < n * sides; k++) {
        size_t i = k / sides, side = k % sides;
        bool counts = vxs_check_u(problem, i) > 0;
        double here = counts ? vxs_check_share(problem, i, s + i, n, scale, side) : 0;
        double there = counts ? vxs_check_share(problem, i, inside + i, n, inside_scale, side) : 0;
        if (here < -ROUNDING && here / (here - there) > share)
            share = fmin(1, here / (here - there));
    }
    for (size_t i = 0; i < n && vxs_check_is_by_value(problem); i++)
        share =
            fmax(share, vxs_check_value_share(problem, i, s[i] * scale, inside[i] * inside_scale));
    for (size_t k = 0; k < classes * n && share > 0; k++)
        s[k] += share * (inside[k] * inside_scale / scale - s[k]);
}
