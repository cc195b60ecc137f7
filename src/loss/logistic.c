/* logistic.c - log(1 + exp(-y z)), y being -1 or 1. */
#include "loss/conjugate_domain.h"

static double value(double z, double y, double threshold)
{
    (void)threshold;
    double margin = y * z;
    return margin > 0 ? log1p(exp(-margin)) : log1p(exp(margin)) - margin;
}

/* 1 / (1 + exp(m)), without overflow and without cancellation near 0 */
static double sigmoid_of_minus(double margin)
{
    double e = exp(-fabs(margin));
    return margin > 0 ? e / (1 + e) : 1 / (1 + e);
}

static double gradient(double z, double y, double threshold)
{
    (void)threshold;
    return -y * sigmoid_of_minus(y * z);
}

static double curvature(double z, double y, double threshold)
{
    (void)threshold;
    return sigmoid_of_minus(y * z) * sigmoid_of_minus(-y * z);
}

static double entropy(double t)
{
    return t > 0 ? t * log(t) : 0;
}

/* Rounding may move a point slightly over the boundary of the domain. */
static double conjugate(double s, double y, double threshold)
{
    (void)threshold;
    double t = -y * s;
    if (t < -VXS_DOMAIN_TOLERANCE || t > 1 + VXS_DOMAIN_TOLERANCE)
        return INFINITY;
    return entropy(t) + entropy(1 - t);
}

static double outside(double s, double inside, double y, double threshold)
{
    (void)threshold;
    return vxs_distance_to_interval(-y * s, -y * inside, 0, 1);
}

/* The numbers of the functions above, with one exponential for all. */
static double expand(const vxs_loss *l, const double *z, double *first, double *second)
{
    double sum = 0;
    for (size_t i = 0; i < l->n; i++) {
        double u = vxs_loss_weight(l, i), y = l->y[i], margin = y * z[i];
        double e = exp(-fabs(margin)), smaller = e / (1 + e), larger = 1 / (1 + e);
        sum += u * (margin > 0 ? log1p(e) : log1p(e) - margin);
        first[i] = u * (-y * (margin > 0 ? smaller : larger));
        second[i] = u * (smaller * larger);
    }
    return sum;
}

static const vxs_sample_loss sample = { value, gradient, curvature, conjugate, outside };

const vxs_loss_kind vxs_logistic_loss = { .name = "logistic",
                                          .targets = "-1 or 1",
                                          .is_target = vxs_is_sign,
                                          .gamma = 4,
                                          .sample = &sample,
                                          .expand = expand };
