/* loss.c - losses of one sample. */
#include "solver/loss.h"

#include <math.h>

const char *const vxs_loss_names[] = { "squared",     "logistic",      "hinge",
                                       "multinomial", "squared-hinge", NULL };

static double squared(double z, double y)
{
    return (y - z) * (y - z) / 2;
}

static double squared_slope(double z, double y)
{
    return z - y;
}

static double squared_curvature(double z, double y)
{
    (void)z;
    (void)y;
    return 1;
}

static double squared_conjugate(double s, double y)
{
    return s * s / 2 + s * y;
}

static double logistic(double z, double y)
{
    double margin = y * z;
    return margin > 0 ? log1p(exp(-margin)) : log1p(exp(margin)) - margin;
}

/* 1 / (1 + exp(m)), without overflow and without loss near 0 */
static double doubt(double margin)
{
    double e = exp(-fabs(margin));
    return margin > 0 ? e / (1 + e) : 1 / (1 + e);
}

static double logistic_slope(double z, double y)
{
    return -y * doubt(y * z);
}

static double logistic_curvature(double z, double y)
{
    return doubt(y * z) * doubt(-y * z);
}

static double entropy(double t)
{
    return t > 0 ? t * log(t) : 0;
}

/* Rounding may carry a point a little over the edge of the domain. */
static double logistic_conjugate(double s, double y)
{
    double t = -y * s;
    if (t < -1e-12 || t > 1 + 1e-12)
        return INFINITY;
    return entropy(t) + entropy(1 - t);
}

static double squared_hinge(double z, double y)
{
    double left = fmax(0, 1 - y * z);
    return left * left / 2;
}

static double squared_hinge_slope(double z, double y)
{
    return -y * fmax(0, 1 - y * z);
}

static double squared_hinge_curvature(double z, double y)
{
    return y * z < 1;
}

static double squared_hinge_conjugate(double s, double y)
{
    double t = -y * s;
    return t < -1e-12 ? INFINITY : t * t / 2 - t;
}

const vxs_loss_row *vxs_loss_of(vxs_loss loss)
{
    static const vxs_loss_row rows[] = {
        [VXS_LOSS_SQUARED] = { 1, squared, squared_slope, squared_curvature, squared_conjugate },
        [VXS_LOSS_LOGISTIC] = { 4, logistic, logistic_slope, logistic_curvature,
                                logistic_conjugate },
        [VXS_LOSS_SQUARED_HINGE] = { 1, squared_hinge, squared_hinge_slope, squared_hinge_curvature,
                                     squared_hinge_conjugate },
    };
    return &rows[loss];
}
