/* loss.h - losses of one sample, and what duality needs of them; private to the solve room. */
#ifndef VXS_SOLVE_LOSS_H
#define VXS_SOLVE_LOSS_H

#include "voxsift/solve.h"

typedef struct {
    double gamma; /* 1 / the Lipschitz constant of the derivative */
    double (*value)(double z, double y);
    double (*slope)(double z, double y);
    double (*curvature)(double z, double y);
    /* f*(s) = max over z of s z - f(z); infinite outside its domain */
    double (*conjugate)(double s, double y);
} vxs_loss_row;

const vxs_loss_row *vxs_loss_of(vxs_loss loss);

/* u of sample i */
static inline double vxs_sample_weight(const vxs_problem *problem, size_t i)
{
    return problem->weights ? problem->weights[i] : 1;
}

#endif
