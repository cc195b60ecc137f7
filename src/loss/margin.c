/* margin.c - the hinge loss of support vector machines: max(0, 1 - y z), y being -1 or 1. */
#include "loss/conjugate_domain.h"

static double value(double z, double y, double threshold)
{
    (void)threshold;
    return fmax(0, 1 - y * z);
}

/* A subgradient. */
static double gradient(double z, double y, double threshold)
{
    (void)threshold;
    return y * z < 1 ? -y : 0;
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
    (void)threshold;
    double t = -y * s;
    return t < -VXS_DOMAIN_TOLERANCE || t > 1 + VXS_DOMAIN_TOLERANCE ? INFINITY : -t;
}

static double outside(double s, double inside, double y, double threshold)
{
    (void)threshold;
    return vxs_distance_to_interval(-y * s, -y * inside, 0, 1);
}

static const vxs_sample_loss sample = { value, gradient, curvature, conjugate, outside };

const vxs_loss_kind vxs_margin_loss = {
    .name = "soft-margin", .targets = "-1 or 1", .is_target = vxs_is_sign, .sample = &sample
};
