/* full_losses.c - loss, conjugate and gradient over all samples. */
#include "solver/bound_propagation/bound_propagation.h"

#include <cblas.h>
#include <math.h>

double vxs_bp_loss(const vxs_bp_data *w, const double *z)
{
    double sum = 0;
    for (size_t i = 0; i < w->n; i++)
        sum += w->root[i] * w->root[i] *
               w->loss->sample->value(z[i] / w->root[i], w->y[i], w->threshold);
    return sum;
}

double vxs_bp_dual_value(const vxs_bp_data *w, const double *xi, double scale)
{
    double sum = 0;
    for (size_t i = 0; i < w->n; i++)
        sum -= w->root[i] * w->root[i] *
               w->loss->sample->conjugate(-scale * xi[i] / w->root[i], w->y[i], w->threshold);
    return sum;
}

void vxs_bp_negative_gradient(const vxs_bp_data *w, const double *z, double *xi)
{
    for (size_t i = 0; i < w->n; i++)
        xi[i] = -w->root[i] * w->loss->sample->gradient(z[i] / w->root[i], w->y[i], w->threshold);
}

double vxs_bp_best_scale(const vxs_bp_data *w, const double *xi, double bound)
{
    double product = 0, square = cblas_ddot((int)w->n, xi, 1, xi, 1);
    if (!w->loss->squared)
        return fmin(1, bound);
    for (size_t i = 0; i < w->n; i++)
        product += xi[i] * w->root[i] * w->y[i];
    return square > 0 ? fmax(-bound, fmin(bound, product / square)) : 1;
}

/* The projection may leave the domain of the conjugate slightly: moves xi towards that of the empty
 * model, an interior point, until it is inside. */
void vxs_bp_into_domain(const vxs_bp_data *w, double *xi)
{
    double share = 0;
    if (!w->loss->sample->outside || !w->xi_empty)
        return;
    for (size_t i = 0; i < w->n; i++)
        share =
            fmax(share, w->loss->sample->outside(-xi[i] / w->root[i], -w->xi_empty[i] / w->root[i],
                                                 w->y[i], w->threshold));
    share = fmin(share, 1);
    for (size_t i = 0; i < w->n; i++)
        xi[i] += share * (w->xi_empty[i] - xi[i]);
}
