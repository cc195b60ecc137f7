/* smoothing.h - one coordinate of the smooth maximum; private to the solver room. */
#ifndef VXS_SOLVER_CUTTING_PLANE_SMOOTHING_H
#define VXS_SOLVER_CUTTING_PLANE_SMOOTHING_H

#include "solver/cutting_plane/cutting_plane.h"

/* p(z) = (c1 + z) log(c1 + z) + (c2 - z) log(c2 - z) + log(sum_t exp(q (half_t + a_t z^2 / 2 + b_t
 * z))) / q, -c1 < z < c2. */
typedef struct {
    size_t count;
    const double *half, *a, *b;
    double q, c1, c2;
    double close; /* to the answer, as a share of its distance */
} vxs_newton;
/* Where p is least, as the distance from -c1, or with `upper` from c2; it is at most half of c1 +
 * c2. */
double vxs_newton_bisection(const vxs_newton *line, bool *upper);

#endif
