/* conjugate_domain.h - the boundary of a conjugate's domain; private to the loss room. */
#ifndef VXS_LOSS_CONJUGATE_DOMAIN_H
#define VXS_LOSS_CONJUGATE_DOMAIN_H

#include "voxsift/internal/loss.h"

#include <math.h>

#define VXS_DOMAIN_TOLERANCE 1e-12 /* rounding may move a point this far over the boundary */

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

/* The fraction of the segment from t to `inside`, a point of [low, high], after which t is in [low,
 * high]. */
static inline double vxs_distance_to_interval(double t, double inside, double low, double high)
{
    double over = t < low ? t - low : t > high ? t - high : 0;
    return fabs(over) > VXS_DOMAIN_TOLERANCE / 10 ? over / (t - inside) : 0;
}

#endif
