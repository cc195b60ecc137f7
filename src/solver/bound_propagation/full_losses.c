/* full_losses.c - losses and their conjugates over all samples. */
#include "solver/bound_propagation/bound_propagation.h"

#include <cblas.h>
#include <math.h>

#define ROUNDING 1e-12 /* of 1: so little over the edge of the dual's domain is on it */

double vxs_whole_loss(const vxs_whole *w, const double *z)
{
    double sum = 0;
    for (size_t i = 0; i < w->n; i++)
        sum += w->root[i] * w->root[i] * w->loss->value(z[i] / w->root[i], w->y[i]);
    return sum;
}

double vxs_whole_dual(const vxs_whole *w, const double *xi, double scale)
{
    double sum = 0;
    for (size_t i = 0; i < w->n; i++)
        sum -= w->root[i] * w->root[i] * w->loss->conjugate(-scale * xi[i] / w->root[i], w->y[i]);
    return sum;
}

void vxs_whole_slope(const vxs_whole *w, const double *z, double *xi)
{
    for (size_t i = 0; i < w->n; i++)
        xi[i] = -w->root[i] * w->loss->slope(z[i] / w->root[i], w->y[i]);
}

double vxs_whole_scale(const vxs_whole *w, const double *xi, double most)
{
    double along = 0, square = cblas_ddot((int)w->n, xi, 1, xi, 1);
    if (!w->squared)
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
    if (w->squared || !w->away)
        return;
    for (size_t i = 0; i < w->n; i++) {
        double here = w->y[i] * xi[i] / w->root[i], there = w->y[i] * w->away[i] / w->root[i];
        double over = here < 0 ? here : here > 1 ? here - 1 : 0;
        if (fabs(over) > ROUNDING && over / (here - there) > share)
            share = fmin(1, over / (here - there));
    }
    for (size_t i = 0; i < w->n; i++)
        xi[i] += share * (w->away[i] - xi[i]);
}
