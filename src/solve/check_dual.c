/* check_dual.c - points of the dual's domain near one that rounding has carried out of it.
 *
 * A dual point is orthogonal to the columns C that are not penalised. The slopes of an answer are,
 * but for rounding of its predictions, which weights of samples multiply: beside a weight of 1e8
 * it is more than all that a sample of weight 1e-8 may have. So each sample moves by as much as
 * its curvature allows: v - R C (C'RC)^-1 C'v, R being the curvatures. Any point of the domain
 * gives a bound, whatever this makes of it. */
#include "solve/check.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#define DEPENDS  1e-13 /* of a column's length: if no more is left, it depends on others */
#define LEFT     1e-10 /* of what an inner product adds up: rounding */
#define ROUNDING 1e-12 /* of 1: so little over the edge of the domain is on it */

void vxs_check_span_release(vxs_check_span *s)
{
    free(s->q);
    free(s->r);
    free(s->along);
    free(s->root);
    *s = (vxs_check_span){ .n = 0 };
}

vxs_status vxs_check_span_init(const vxs_problem *problem, const double *columns, size_t count,
                               vxs_check_span *s, vxs_error *err)
{
    size_t n = vxs_design_rows(problem->design);
    *s = (vxs_check_span){ .problem = problem, .n = n, .count = count, .columns = columns };
    s->q = vxs_alloc(count, n * sizeof(*s->q), err);
    s->r = vxs_alloc(count, count * sizeof(*s->r), err);
    s->along = vxs_alloc(count, sizeof(*s->along), err);
    s->root = vxs_alloc(n, sizeof(*s->root), err);
    if (s->q && s->r && s->along && s->root)
        return VXS_OK;
    vxs_check_span_release(s);
    return VXS_FAILED;
}

/* R^1/2 C = Q r, Q of right angles (Gram and Schmidt, twice); a column that depends on others, as
 * the empty model's did, has none. */
static void factor(vxs_check_span *s, const bool *adds)
{
    size_t n = s->n, m = s->count;
    memset(s->r, 0, m * m * sizeof(*s->r));
    for (size_t k = 0; k < m; k++) {
        double *q = s->q + k * n;
        for (size_t i = 0; i < n; i++)
            q[i] = s->root[i] * s->columns[k * n + i];
        double before = sqrt(vxs_check_inner(q, q, n));
        for (size_t t = 0; t < 2 * k; t++) {
            const double *other = s->q + t % k * n;
            double along = vxs_check_inner(other, q, n);
            s->r[t % k * m + k] += along;
            for (size_t i = 0; i < n; i++)
                q[i] -= along * other[i];
        }
        double length = sqrt(vxs_check_inner(q, q, n));
        bool depends = !adds[k] || !(length > DEPENDS * before);
        s->r[k * m + k] = depends ? 0 : length;
        for (size_t i = 0; i < n; i++)
            q[i] = depends ? 0 : q[i] / length;
    }
}

/* One step of v - R^1/2 Q r'^-1 C'v. */
static void take_off(vxs_check_span *s, double *v)
{
    size_t n = s->n, m = s->count;
    for (size_t k = 0; k < m; k++) {
        double sum = vxs_check_inner(s->columns + k * n, v, n), diagonal = s->r[k * m + k];
        for (size_t t = 0; t < k; t++)
            sum -= s->r[t * m + k] * s->along[t];
        s->along[k] = diagonal > 0 ? sum / diagonal : 0;
    }
    for (size_t k = 0; k < m; k++)
        for (size_t i = 0; i < n; i++)
            v[i] -= s->along[k] * s->root[i] * s->q[k * n + i];
}

static bool is_orthogonal(const vxs_check_span *s, const bool *adds, const double *v)
{
    bool orthogonal = true;
    for (size_t k = 0; k < s->count; k++) {
        const double *x = s->columns + k * s->n;
        double size = 0;
        for (size_t i = 0; i < s->n; i++)
            size += fabs(x[i] * v[i]);
        orthogonal = orthogonal && (!adds[k] || fabs(vxs_check_inner(x, v, s->n)) <= LEFT * size);
    }
    return orthogonal;
}

void vxs_check_reach(const vxs_problem *problem, const double *slope, double *reach)
{
    size_t n = vxs_design_rows(problem->design);
    for (size_t i = 0; i < n; i++) {
        reach[i] = INFINITY;
        for (size_t c = 0; c < vxs_check_classes(problem); c++)
            reach[i] = fmin(reach[i], fmax(0, vxs_check_curve(problem, i, slope + i, n, c, c)));
    }
}

void vxs_check_project(vxs_check_span *s, const vxs_check_empty *empty, const double *reach,
                       double *v)
{
    if (s->count == 0)
        return;
    for (size_t i = 0; i < s->n; i++)
        s->root[i] = sqrt(reach[i]);
    factor(s, empty->adds);
    take_off(s, v);
    take_off(s, v);
    if (!is_orthogonal(s, empty->adds, v))
        vxs_check_take_off(empty, v);
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
    for (size_t k = 0; k < classes * n && share > 0; k++)
        s[k] += share * (inside[k] * inside_scale / scale - s[k]);
}
