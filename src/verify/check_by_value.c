/* check_by_value.c - losses that a program brings along, by their values alone.
 *
 * Slopes and second derivatives are differences, and the conjugate f*(s) = max over z of s z - f(z)
 * is searched for: what the kind says of its gradient, curvature, conjugate and domain has no part
 * in what is found, so that no mistake there can make an answer look better than it is. Slopes are
 * good to about 1e-10; whatever they are, the bound that comes of them is one. f is convex and 0 is
 * in the domain of f*, that is, f is bounded from below. */
#include "verify/check.h"

#include <float.h>
#include <math.h>

#define STEP  6e-6 /* of 1 + |z|: of first differences, about the third root of DBL_EPSILON */
#define WIDE  2e-4 /* likewise of second ones, the fourth root */
#define LEAST 1e-3 /* of 1 / gamma: second derivatives count as no less, so that steps are finite  \
                    */
#define ROUNDING (4 * DBL_EPSILON)
#define SECTIONS 70
#define HALVINGS 60
#define GOLDEN   0.61803398874989485

static double value(const vxs_problem *p, size_t i, double z)
{
    return p->loss.kind->sample->value(z, p->loss.y[i]);
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

double vxs_check_value_slope(const vxs_problem *p, size_t i, double z)
{
    double low = z - STEP * (1 + fabs(z)), high = z + STEP * (1 + fabs(z));
    return vxs_check_u(p, i) * (value(p, i, high) - value(p, i, low)) / (high - low);
}

double vxs_check_value_curve(const vxs_problem *p, size_t i, double z)
{
    double h = WIDE * (1 + fabs(z)), low = z - h, high = z + h;
    double second = (value(p, i, high) - 2 * value(p, i, z) + value(p, i, low)) / (h * h);
    return vxs_check_u(p, i) * fmax(second, LEAST / p->loss.kind->gamma);
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
    return within;
}
