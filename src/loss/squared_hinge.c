/* squared_hinge.c - max(0, 1 - y z)^2 / 2, y being -1 or 1. */
#include "loss/conjugate_domain.h"

static double value(double z, double y, double threshold)
{
    (void)threshold;
    double left = fmax(0, 1 - y * z);
    return left * left / 2;
}

static double gradient(double z, double y, double threshold)
{
    (void)threshold;
    return -y * fmax(0, 1 - y * z);
}

static double curvature(double z, double y, double threshold)
{
    (void)threshold;
    return y * z < 1;
}

static double conjugate(double s, double y, double threshold)
{
    (void)threshold;
    double t = -y * s;
    return t < -VXS_DOMAIN_TOLERANCE ? INFINITY : t * t / 2 - t;
}

static double outside(double s, double inside, double y, double threshold)
{
    (void)threshold;
    return vxs_distance_to_interval(-y * s, -y * inside, 0, INFINITY);
}

static const vxs_sample_loss sample = { value, gradient, curvature, conjugate, outside };

const vxs_loss_kind vxs_squared_hinge_loss = { .name = "squared-hinge",
                                               .targets = "-1 or 1",
                                               .is_target = vxs_is_sign,
                                               .gamma = 1,
                                               .parabola = true,
                                               .sample = &sample };
