/* huber.c - r^2 / 2 of residuals r = z - y up to a threshold d, d |r| - d^2 / 2 beyond it: subjects
 * far off count as much as those at the threshold.
 *
 * P. J. Huber: Robust estimation of a location parameter, Annals of Mathematical Statistics 35,
 * 1964. */
#include "loss/edges.h"

static double value(double z, double y, double threshold)
{
    double r = fabs(z - y);
    return r <= threshold ? r * r / 2 : threshold * (r - threshold / 2);
}

static double gradient(double z, double y, double threshold)
{
    return fmax(-threshold, fmin(threshold, z - y));
}

/* A little more than f'' beyond the threshold, where that is 0 and Newton's steps would be endless;
 * threshold / r, with which no step is too long, makes them as slow as reweighted least squares. */
static double curvature(double z, double y, double threshold)
{
    double r = fabs(z - y);
    return r <= threshold ? 1 : 1e-3 * threshold / r;
}

/* Rounding may carry a point a little over the edge of the domain. */
static double conjugate(double s, double y, double threshold)
{
    return fabs(s) > threshold * (1 + VXS_EDGE_ROUNDING) ? INFINITY : s * s / 2 + s * y;
}

static double outside(double s, double inside, double y, double threshold)
{
    (void)y;
    return vxs_way_back(s / threshold, inside / threshold, -1, 1);
}

static const vxs_sample_loss sample = { value, gradient, curvature, conjugate, outside };

const vxs_loss_kind vxs_huber_loss = { .name = "huber",
                                       .targets = "numbers of at most 1e+100",
                                       .is_target = vxs_is_number,
                                       .of_scores = true,
                                       .has_threshold = true,
                                       .gamma = 1,
                                       .sample = &sample };
