/* squared.c - (y - z)^2 / 2. */
#include "loss/conjugate_domain.h"

static double value(double z, double y, double threshold)
{
    (void)threshold;
    return (y - z) * (y - z) / 2;
}

static double gradient(double z, double y, double threshold)
{
    (void)threshold;
    return z - y;
}

static double curvature(double z, double y, double threshold)
{
    (void)threshold;
    (void)z;
    (void)y;
    return 1;
}

static double conjugate(double s, double y, double threshold)
{
    (void)threshold;
    return s * s / 2 + s * y;
}

static const vxs_sample_loss sample = { value, gradient, curvature, conjugate, NULL };

const vxs_loss_kind vxs_squared_loss = { .name = "squared",
                                         .targets = "numbers of at most 1e+100",
                                         .is_target = vxs_is_number,
                                         .of_scores = true,
                                         .gamma = 1,
                                         .squared = true,
                                         .parabola = true,
                                         .sample = &sample };
