/* huber.c - r^2 / 2 of residuals r = z - y up to a threshold d, d |r| - d^2 / 2 beyond it: the
 * influence of outliers is bounded by d.
 *
 * P. J. Huber: Robust estimation of a location parameter, Annals of Mathematical Statistics 35,
 * 1964. */
#include "loss/conjugate_domain.h"

static double value(double z, double y, double threshold)
{
    double r = fabs(z - y);
    return r <= threshold ? r * r / 2 : threshold * (r - threshold / 2);
}

static double gradient(double z, double y, double threshold)
{
    return fmax(-threshold, fmin(threshold, z - y));
}

/* An upper bound on f'', which is 0 beyond the threshold and would make Newton steps infinite. The
 * bound threshold / r never overshoots but converges as slowly as reweighted least squares; this
 * one is smaller. */
static double curvature(double z, double y, double threshold)
{
    double r = fabs(z - y);
    return r <= threshold ? 1 : 1e-3 * threshold / r;
}

/* Rounding may move a point slightly over the boundary of the domain. */
static double conjugate(double s, double y, double threshold)
{
    return fabs(s) > threshold * (1 + VXS_DOMAIN_TOLERANCE) ? INFINITY : s * s / 2 + s * y;
}

static double outside(double s, double inside, double y, double threshold)
{
    (void)y;
    return vxs_distance_to_interval(s / threshold, inside / threshold, -1, 1);
}

static const vxs_sample_loss sample = { value, gradient, curvature, conjugate, outside };

const vxs_loss_kind vxs_huber_loss = { .name = "huber",
                                       .targets = "numbers of at most 1e+100",
                                       .is_target = vxs_is_number,
                                       .of_scores = true,
                                       .has_threshold = true,
                                       .gamma = 1,
                                       .sample = &sample };
