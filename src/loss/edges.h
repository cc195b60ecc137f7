/* edges.h - the edges of a conjugate's domain; private to the loss room. */
#ifndef VXS_LOSS_EDGES_H
#define VXS_LOSS_EDGES_H

#include "voxsift/internal/loss.h"

#include <math.h>

#define VXS_EDGE_ROUNDING 1e-12 /* rounding may carry a point so far over the edge */

static inline bool vxs_is_sign(const vxs_loss *loss, double y)
{
    (void)loss;
    return y == 1 || y == -1;
}

static inline bool vxs_is_number(const vxs_loss *loss, double y)
{
    (void)loss;
    return fabs(y) <= VXS_LARGEST;
}

/* The share of the way from t to `there`, which is between low and high, that brings t there as
 * well. */
static inline double vxs_way_back(double t, double there, double low, double high)
{
    double over = t < low ? t - low : t > high ? t - high : 0;
    return fabs(over) > VXS_EDGE_ROUNDING / 10 ? over / (t - there) : 0;
}

#endif
