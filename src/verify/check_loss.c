/* check_loss.c - the checker's own losses; user-defined ones are in check_by_value.c.
 *
 * For classification (logistic: y is -1 or 1; multinomial: y is the class number) the conjugate is
 * an entropy: -(u f)*(s) = -u sum t log t over probabilities t. Logistic: t = -y s / u and 1 - t;
 * multinomial: t_c = s_c / u + [c = y]. */
#include "verify/check.h"

#include <math.h>

#define OUTSIDE 1e-11 /* rounding of a probability below 0 */

size_t vxs_check_classes(const vxs_problem *p)
{
    return p->loss.kind == &vxs_multinomial_loss ? p->loss.k : 1;
}

double vxs_check_u(const vxs_problem *p, size_t i)
{
    return p->loss.u ? p->loss.u[i] : 1;
}

/* log sum exp(z_c) - max z (`max`), without cancellation. */
static double log_sum(const double *z, size_t classes, size_t n, double *max)
{
    size_t largest = 0;
    double sum = 0;
    for (size_t c = 1; c < classes; c++)
        largest = z[c * n] > z[largest * n] ? c : largest;
    *max = z[largest * n];
    for (size_t c = 0; c < classes; c++)
        sum += c == largest ? 0 : exp(z[c * n] - *max);
    return log1p(sum);
}

double vxs_check_loss(const vxs_problem *p, size_t i, const double *z, size_t n)
{
    double y = p->loss.y[i], u = vxs_check_u(p, i), max = 0;
    if (vxs_check_is_by_value(p))
        return vxs_check_value(p, i, z[0]);
    if (p->loss.kind == &vxs_squared_loss)
        return u * 0.5 * (z[0] - y) * (z[0] - y);
    if (p->loss.kind == &vxs_multinomial_loss) {
        double log_sum_exp = log_sum(z, p->loss.k, n, &max);
        return u * (max - z[(size_t)y * n] + log_sum_exp);
    }
    if (p->loss.kind == &vxs_squared_hinge_loss)
        return u * 0.5 * fmax(0, 1 - y * z[0]) * fmax(0, 1 - y * z[0]);
    double m = -y * z[0];
    return u * (m > 0 ? m + log1p(exp(-m)) : log1p(exp(m)));
}

void vxs_check_gradient(const vxs_problem *p, size_t i, const double *z, size_t n, double *gradient)
{
    double y = p->loss.y[i], u = vxs_check_u(p, i), max = 0;
    if (p->loss.kind == &vxs_squared_loss) {
        gradient[0] = u * (z[0] - y);
    } else if (p->loss.kind == &vxs_multinomial_loss) {
        double log_sum_exp = log_sum(z, p->loss.k, n, &max), others = 0;
        size_t own = (size_t)y;
        for (size_t c = 0; c < p->loss.k; c++) {
            gradient[c * n] = u * exp(z[c * n] - max - log_sum_exp);
            others += c == own ? 0 : gradient[c * n];
        }
        gradient[own * n] = -others; /* not p - 1, which cancels */
    } else if (vxs_check_is_by_value(p)) {
        gradient[0] = u * p->loss.kind->sample->gradient(z[0], y, p->loss.threshold);
    } else if (p->loss.kind == &vxs_squared_hinge_loss) {
        gradient[0] = -u * y * fmax(0, 1 - y * z[0]);
    } else {
        double m = y * z[0];
        gradient[0] = m > 0 ? -u * y * exp(-m) / (1 + exp(-m)) : -u * y / (1 + exp(m));
    }
}

double vxs_check_curvature(const vxs_problem *p, size_t i, const double *z, const double *gradient,
                           size_t n, size_t a, size_t b)
{
    double u = vxs_check_u(p, i);
    if (vxs_check_is_by_value(p))
        return u * p->loss.kind->sample->curvature(z[0], p->loss.y[i], p->loss.threshold);
    if (p->loss.kind == &vxs_squared_loss || u == 0)
        return u;
    if (p->loss.kind == &vxs_multinomial_loss) {
        double share = gradient[a * n] / u + (a == (size_t)p->loss.y[i]);
        double other = gradient[b * n] / u + (b == (size_t)p->loss.y[i]);
        return u * share * ((a == b) - other);
    }
    if (p->loss.kind == &vxs_squared_hinge_loss)
        return gradient[0] != 0 ? u : 0;
    double share = fabs(gradient[0]) / u;
    return u * share * (1 - share);
}

/* ---- The conjugate --------------------------------------------------------------------------- */

size_t vxs_check_shares(const vxs_problem *p)
{
    if (vxs_check_is_by_value(p))
        return 0;
    if (p->loss.kind == &vxs_squared_loss || p->loss.kind == &vxs_squared_hinge_loss)
        return p->loss.kind == &vxs_squared_loss ? 0 : 1;
    return p->loss.kind == &vxs_logistic_loss ? 2 : p->loss.k;
}

double vxs_check_share(const vxs_problem *p, size_t i, const double *s, size_t n, double scale,
                       size_t entry)
{
    double u = vxs_check_u(p, i);
    if (p->loss.kind == &vxs_multinomial_loss)
        return scale * s[entry * n] / u + (entry == (size_t)p->loss.y[i]);
    double t = -p->loss.y[i] * scale * s[0] / u;
    return entry == 0 ? t : 1 - t;
}

/* With u = 0 the loss is 0 and its conjugate infinite except at 0. */
static double dual_at_0(const vxs_problem *p, const double *s, size_t n, double scale)
{
    for (size_t c = 0; c < vxs_check_classes(p); c++)
        if (scale * s[c * n] != 0)
            return -INFINITY;
    return 0;
}

double vxs_check_dual(const vxs_problem *p, size_t i, const double *s, size_t n, double scale)
{
    double u = vxs_check_u(p, i), sum = 0, total = 0;
    if (u == 0)
        return dual_at_0(p, s, n, scale);
    if (vxs_check_is_by_value(p))
        return vxs_check_value_dual(p, i, scale * s[0]);
    if (p->loss.kind == &vxs_squared_loss)
        return -(scale * s[0] * scale * s[0] / (2 * u) + scale * s[0] * p->loss.y[i]);
    if (p->loss.kind == &vxs_squared_hinge_loss) {
        double t = -p->loss.y[i] * scale * s[0] / u;
        return t < -OUTSIDE ? -INFINITY : u * (t - t * t / 2);
    }
    for (size_t entry = 0; entry < vxs_check_shares(p); entry++) {
        double t = vxs_check_share(p, i, s, n, scale, entry);
        if (t < -OUTSIDE)
            return -INFINITY;
        sum += t > 0 ? t * log(t) : 0;
        total += t;
    }
    return fabs(total - 1) <= OUTSIDE * (double)vxs_check_shares(p) ? -u * sum : -INFINITY;
}
