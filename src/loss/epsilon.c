/* epsilon.c - the loss of support vector regression: residuals up to a threshold cost nothing,
 * max(0, |y - z| - threshold). */
#include "loss/conjugate_domain.h"

static double value(double z, double y, double threshold)
{
    return fmax(0, fabs(y - z) - threshold);
}

/* A subgradient. */
static double gradient(double z, double y, double threshold)
{
    return fabs(y - z) <= threshold ? 0 : z > y ? 1 : -1;
}

/* A line has none; algorithms that take this loss do not use it. */
static double curvature(double z, double y, double threshold)
{
    (void)z;
    (void)y;
    (void)threshold;
    return 0;
}

static double conjugate(double s, double y, double threshold)
{
    return fabs(s) > 1 + VXS_DOMAIN_TOLERANCE ? INFINITY : s * y + threshold * fabs(s);
}

static double outside(double s, double inside, double y, double threshold)
{
    (void)y;
    (void)threshold;
    return vxs_distance_to_interval(s, inside, -1, 1);
}

static const vxs_sample_loss sample = { value, gradient, curvature, conjugate, outside };

const vxs_loss_kind vxs_epsilon_loss = { .name = "epsilon",
                                         .targets = "numbers of at most 1e+100",
                                         .is_target = vxs_is_number,
                                         .of_scores = true,
                                         .has_threshold = true,
                                         .sample = &sample };
