/* losses.c - the table of losses, and sums over samples. */
#include "loss/conjugate_domain.h"

const vxs_loss_kind *const vxs_loss_kinds[] = { &vxs_squared_loss,       &vxs_logistic_loss,
                                                &vxs_hinge_loss,         &vxs_multinomial_loss,
                                                &vxs_squared_hinge_loss, &vxs_huber_loss,
                                                &vxs_margin_loss,        &vxs_epsilon_loss,
                                                &vxs_measure_loss,       NULL };

double vxs_loss_value(const vxs_loss *l, const double *z)
{
    if (!l || !z || !l->kind || !l->y || (!l->kind->joint && !l->kind->sample))
        return NAN;
    const vxs_sample_loss *f = l->kind->sample;
    double sum = 0;
    if (l->kind->joint)
        return l->kind->joint->value(l, z);
    for (size_t i = 0; i < l->n; i++)
        sum += vxs_loss_weight(l, i) * f->value(z[i], l->y[i], l->threshold);
    return sum;
}

double vxs_loss_eased(const vxs_loss *l, const double *z, double before)
{
    double farthest = 0, next = before / 4;
    if (!l->kind->has_threshold)
        return 0;
    for (size_t i = 0; i < l->n && !(before > 0); i++)
        if (vxs_loss_weight(l, i) > 0)
            farthest = fmax(farthest, fabs((z ? z[i] : 0) - l->y[i]));
    if (!(before > 0))
        next = farthest;
    return next > l->threshold && isfinite(next) ? next : 0;
}

double vxs_dual_scale(const vxs_loss *l, const double *theta, double lambda, double quadratic,
                      double least, double limit)
{
    double along = 0, square = quadratic / (lambda * lambda);
    if (!l->kind->parabola)
        return fmin(1, limit);
    for (size_t i = 0; i < l->n; i++) {
        double u = vxs_loss_weight(l, i);
        along += l->y[i] * theta[i];
        square += u > 0 ? theta[i] * theta[i] / u : 0;
    }
    double best = square > 0 ? along / (lambda * square) : 0;
    return fmax(least, fmin(limit, best));
}

void vxs_loss_gradient(const vxs_loss *l, const double *z, double *gradient)
{
    const vxs_sample_loss *f = l->kind->sample;
    if (l->kind->joint)
        l->kind->joint->gradient(l, z, gradient);
    for (size_t i = 0; i < l->n && !l->kind->joint; i++)
        gradient[i] = vxs_loss_weight(l, i) * f->gradient(z[i], l->y[i], l->threshold);
}

void vxs_loss_curvature(const vxs_loss *l, const double *z, double *curvature)
{
    const vxs_sample_loss *f = l->kind->sample;
    if (l->kind->joint)
        l->kind->joint->curvature(l, z, curvature);
    for (size_t i = 0; i < l->n && !l->kind->joint; i++)
        curvature[i] = vxs_loss_weight(l, i) * f->curvature(z[i], l->y[i], l->threshold);
}

double vxs_loss_expand(const vxs_loss *l, const double *z, double *gradient, double *curvature)
{
    if (l->kind->expand)
        return l->kind->expand(l, z, gradient, curvature);
    vxs_loss_gradient(l, z, gradient);
    vxs_loss_curvature(l, z, curvature);
    return vxs_loss_value(l, z);
}

/* u = 0 implies s = 0, since s is a multiple of u f'. */
double vxs_loss_conjugate(const vxs_loss *l, const double *s)
{
    const vxs_sample_loss *f = l->kind->sample;
    double sum = 0;
    if (l->kind->joint)
        return l->kind->joint->conjugate(l, s);
    for (size_t i = 0; i < l->n; i++) {
        double u = vxs_loss_weight(l, i);
        sum += u == 0 ? 0 : u * f->conjugate(s[i] / u, l->y[i], l->threshold);
    }
    return sum;
}

double vxs_loss_outside(const vxs_loss *l, const double *s, const double *inside)
{
    const vxs_sample_loss *f = l->kind->sample;
    double share = 0;
    if (l->kind->joint)
        return l->kind->joint->outside(l, s, inside);
    for (size_t i = 0; i < l->n && f->outside; i++) {
        double u = vxs_loss_weight(l, i);
        if (u > 0)
            share = fmax(share, f->outside(s[i] / u, inside[i] / u, l->y[i], l->threshold));
    }
    return fmin(share, 1);
}
