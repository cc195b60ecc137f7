/* check_by_value.c - losses that a program brings along: what is found rests on their values alone.
 *
 * The conjugate f*(s) = max over z of s z - f(z) is searched for, and so is the edge of its domain:
 * what the kind says of these has no part in the bound. Its gradient and curvature choose the dual
 * point, as they choose the answer, and any point gives a bound: where a gradient is wrong, f(z) +
 * f*(s) is more than s z, and the gap by as much larger. f is convex and bounded from below. */
#include "verify/check.h"

#include <float.h>
#include <math.h>

#define ROUNDING (4 * DBL_EPSILON) /* of s z and f: what counts as no rise */
#define SECTIONS 70 /* 0.618^70 is far below DBL_EPSILON^(1/2), which is enough at a top */
#define HALVINGS 60
#define BEYOND   1e-12 /* further inside than the edge, where rounding would carry it out again */
#define GOLDEN   0.61803398874989485

static double value(const vxs_problem *p, size_t i, double z)
{
    return p->loss.kind->sample->value(z, p->loss.y[i], p->loss.threshold);
}

bool vxs_check_is_by_value(const vxs_problem *p)
{
    const vxs_loss_kind *kind = p->loss.kind;
    return kind != &vxs_squared_loss && kind != &vxs_logistic_loss &&
           kind != &vxs_squared_hinge_loss && kind != &vxs_multinomial_loss &&
           kind != &vxs_hinge_loss;
}

double vxs_check_value(const vxs_problem *p, size_t i, double z)
{
    return vxs_check_u(p, i) * value(p, i, z);
}

/* ---- The conjugate --------------------------------------------------------------------------- */

/* s z - f(z), and what rounding may make of it. */
typedef struct {
    double z, height, rounding;
} point;

static point at(const vxs_problem *p, size_t i, double s, double z)
{
    double f = value(p, i, z);
    return (point){ z, s * z - f, ROUNDING * (fabs(s * z) + fabs(f)) };
}

static bool rises(point from, point to)
{
    return to.height > from.height + fmax(from.rounding, to.rounding);
}

/* The largest height between two points, by golden sections. */
static double top_between(const vxs_problem *p, size_t i, double s, double low, double high)
{
    point a = at(p, i, s, high - GOLDEN * (high - low)),
          b = at(p, i, s, low + GOLDEN * (high - low));
    double top = fmax(a.height, b.height);
    for (int k = 0; k < SECTIONS; k++) {
        if (a.height < b.height) {
            low = a.z;
            a = b;
            b = at(p, i, s, low + GOLDEN * (high - low));
        } else {
            high = b.z;
            b = a;
            a = at(p, i, s, high - GOLDEN * (high - low));
        }
        top = fmax(top, fmax(a.height, b.height));
    }
    return top;
}

/* f*(s); INFINITY where heights rise without end. Goes the way that rises in steps that double, and
 * the top is between the last three. */
static double conjugate(const vxs_problem *p, size_t i, double s)
{
    double step = 1 + fabs(p->loss.y[i]);
    point before = at(p, i, s, 0), here = before, next = at(p, i, s, step);
    if (!rises(here, next)) {
        next = at(p, i, s, -step);
        step = -step;
    }
    if (!rises(here, next)) /* neither way: the top is near 0 */
        return fmax(here.height, top_between(p, i, s, -fabs(step), fabs(step)));
    while (rises(here, next)) {
        if (fabs(next.z) > VXS_LARGEST)
            return INFINITY;
        before = here;
        here = next;
        next = at(p, i, s, 2 * here.z);
    }
    return fmax(here.height, top_between(p, i, s, fmin(before.z, next.z), fmax(before.z, next.z)));
}

double vxs_check_value_dual(const vxs_problem *p, size_t i, double s)
{
    double u = vxs_check_u(p, i);
    if (u == 0)
        return s == 0 ? 0 : -INFINITY;
    return -u * conjugate(p, i, s / u);
}

double vxs_check_value_share(const vxs_problem *p, size_t i, double s, double inside)
{
    double u = vxs_check_u(p, i), outside = 0, within = 1;
    if (u == 0 || conjugate(p, i, s / u) < INFINITY)
        return 0;
    for (int k = 0; k < HALVINGS; k++) {
        double share = (outside + within) / 2;
        bool fine = conjugate(p, i, (s + share * (inside - s)) / u) < INFINITY;
        within = fine ? share : within;
        outside = fine ? outside : share;
    }
    return fmin(1, within * (1 + BEYOND) + BEYOND);
}
