/* loss.h - losses of one sample, and what duality needs of them; private to the solver room. */
#ifndef VXS_SOLVER_LOSS_H
#define VXS_SOLVER_LOSS_H

#include "voxsift/solver.h"

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

/* ---- Of all samples -------------------------------------------------------------------------- */

/* z is n x classes by column; classes is 1 unless the loss is multinomial. */
static inline size_t vxs_classes_of(const vxs_problem *problem)
{
    return problem->loss == VXS_LOSS_MULTINOMIAL ? problem->classes : 1;
}
/* sum u f */
double vxs_losses_value(const vxs_problem *problem, const double *z);
/* u f', n x classes */
void vxs_losses_slope(const vxs_problem *problem, const double *z, double *slope);
/* u f'', n; of the multinomial loss the probabilities p, n x classes: f'' = diag(p) - p p'. */
void vxs_losses_curvature(const vxs_problem *problem, const double *z, double *curvature);
/* sum (u f)*(s); infinite outside its domain */
double vxs_losses_conjugate(const vxs_problem *problem, const double *s);
/* How far s is outside the domain, at the worst sample: the share of the way to `inside`, which is
 * in it, that brings it back. */
double vxs_losses_outside(const vxs_problem *problem, const double *s, const double *inside);

#endif
