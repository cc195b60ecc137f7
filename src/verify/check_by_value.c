/* check_by_value.c - user-defined losses: the certificate uses their values alone.
 *
 * The conjugate f*(s) = max over z of s z - f(z) is computed by line search, and so is the boundary
 * of its domain: the loss's own functions do not enter the bound. Its gradient and second
 * derivative only choose the dual point; any point gives a bound, and with a wrong gradient f(z) +
 * f*(s) exceeds s z and the gap grows by as much. f must be convex and bounded from below. */
#include "verify/check.h"

#include <float.h>
#include <math.h>

#define ROUNDING (4 * DBL_EPSILON) /* of s z and f: smaller increases are rounding */
#define SECTIONS 70 /* 0.618^70 is far below DBL_EPSILON^(1/2), which suffices at a maximum */
#define HALVINGS 60
#define MARGIN   1e-12 /* distance from the boundary of the domain, for rounding */
#define GOLDEN   0.61803398874989485

static double loss_value(const vxs_problem *p, size_t i, double z)
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
    return vxs_check_u(p, i) * loss_value(p, i, z);
}

/* ---- The conjugate --------------------------------------------------------------------------- */

/* s z - f(z), and its rounding. */
typedef struct {
    double z, value, rounding;
} point;

static point at(const vxs_problem *p, size_t i, double s, double z)
{
    double f = loss_value(p, i, z);
    return (point){ z, s * z - f, ROUNDING * (fabs(s * z) + fabs(f)) };
}

static bool increases(point from, point to)
{
    return to.value > from.value + fmax(from.rounding, to.rounding);
}

/* The maximum between two points, by golden-section search. */
static double max_between(const vxs_problem *p, size_t i, double s, double low, double high)
{
    point a = at(p, i, s, high - GOLDEN * (high - low)),
          b = at(p, i, s, low + GOLDEN * (high - low));
    double max = fmax(a.value, b.value);
    for (int k = 0; k < SECTIONS; k++) {
        if (a.value < b.value) {
            low = a.z;
            a = b;
            b = at(p, i, s, low + GOLDEN * (high - low));
        } else {
            high = b.z;
            b = a;
            a = at(p, i, s, high - GOLDEN * (high - low));
        }
        max = fmax(max, fmax(a.value, b.value));
    }
    return max;
}

/* f*(s); INFINITY if s z - f(z) is unbounded. Doubles steps uphill; the maximum lies between the
 * last three points. */
static double conjugate(const vxs_problem *p, size_t i, double s)
{
    double step = 1 + fabs(p->loss.y[i]);
    point previous = at(p, i, s, 0), current = previous, next = at(p, i, s, step);
    if (!increases(current, next)) {
        next = at(p, i, s, -step);
        step = -step;
    }
    if (!increases(current, next)) /* neither direction: the maximum is near 0 */
        return fmax(current.value, max_between(p, i, s, -fabs(step), fabs(step)));
    while (increases(current, next)) {
        if (fabs(next.z) > VXS_LARGEST)
            return INFINITY;
        previous = current;
        current = next;
        next = at(p, i, s, 2 * current.z);
    }
    return fmax(current.value,
                max_between(p, i, s, fmin(previous.z, next.z), fmax(previous.z, next.z)));
}

double vxs_check_value_dual(const vxs_problem *p, size_t i, double s)
{
    double u = vxs_check_u(p, i);
    if (u == 0)
        return s == 0 ? 0 : -INFINITY;
    return -u * conjugate(p, i, s / u);
}

double vxs_check_value_domain(const vxs_problem *p, size_t i, double s, double interior)
{
    double u = vxs_check_u(p, i), outside = 0, within = 1;
    if (u == 0 || conjugate(p, i, s / u) < INFINITY)
        return 0;
    for (int k = 0; k < HALVINGS; k++) {
        double share = (outside + within) / 2;
        bool is_inside = conjugate(p, i, (s + share * (interior - s)) / u) < INFINITY;
        within = is_inside ? share : within;
        outside = is_inside ? outside : share;
    }
    return fmin(1, within * (1 + MARGIN) + MARGIN);
}
