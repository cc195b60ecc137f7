/* smoothing.h - one coordinate of the smoothed dual; private to the solver room. */
#ifndef VXS_SOLVER_CUTTING_PLANE_SMOOTHING_H
#define VXS_SOLVER_CUTTING_PLANE_SMOOTHING_H

#include "solver/cutting_plane/cutting_plane.h"

/* p(z) = (c1 + z) log(c1 + z) + (c2 - z) log(c2 - z) + log(sum_t exp(q (half_t + a_t z^2 / 2 + b_t
 * z))) / q, -c1 < z < c2 */
typedef struct {
    size_t count;
    const double *half, *a, *b;
    double q, c1, c2;
    double tol; /* relative tolerance */
} vxs_coordinate_problem;
/* The minimizer of p as its distance from -c1, or with `upper` from c2; at most (c1 + c2) / 2.
 * Newton's method with bisection as safeguard. */
double vxs_safeguarded_newton(const vxs_coordinate_problem *problem, bool *upper);

#endif
