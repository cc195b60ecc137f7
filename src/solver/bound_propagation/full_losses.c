/* full_losses.c - losses and their conjugates over all samples. */
#include "solver/bound_propagation/bound_propagation.h"

#include <cblas.h>
#include <math.h>

double vxs_whole_loss(const vxs_whole *w, const double *z)
{
    double sum = 0;
    for (size_t i = 0; i < w->n; i++)
        sum += w->root[i] * w->root[i] *
               w->loss->sample->value(z[i] / w->root[i], w->y[i], w->threshold);
    return sum;
}

double vxs_whole_dual(const vxs_whole *w, const double *xi, double scale)
{
    double sum = 0;
    for (size_t i = 0; i < w->n; i++)
        sum -= w->root[i] * w->root[i] *
               w->loss->sample->conjugate(-scale * xi[i] / w->root[i], w->y[i], w->threshold);
    return sum;
}

void vxs_whole_slope(const vxs_whole *w, const double *z, double *xi)
{
    for (size_t i = 0; i < w->n; i++)
        xi[i] = -w->root[i] * w->loss->sample->gradient(z[i] / w->root[i], w->y[i], w->threshold);
}

double vxs_whole_scale(const vxs_whole *w, const double *xi, double most)
{
    double along = 0, square = cblas_ddot((int)w->n, xi, 1, xi, 1);
    if (!w->loss->squared)
        return fmin(1, most);
    for (size_t i = 0; i < w->n; i++)
        along += xi[i] * w->root[i] * w->y[i];
    return square > 0 ? fmax(-most, fmin(most, along / square)) : 1;
}

/* Taking out what the free columns span may leave the domain by a little; a share of the empty
 * model's point, which is inside, brings it back. */
void vxs_whole_bring_inside(const vxs_whole *w, double *xi)
{
    double share = 0;
    if (!w->loss->sample->outside || !w->away)
        return;
    for (size_t i = 0; i < w->n; i++)
        share = fmax(share, w->loss->sample->outside(-xi[i] / w->root[i], -w->away[i] / w->root[i],
                                                     w->y[i], w->threshold));
    share = fmin(share, 1);
    for (size_t i = 0; i < w->n; i++)
        xi[i] += share * (w->away[i] - xi[i]);
}
