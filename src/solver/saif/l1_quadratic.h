/* l1_quadratic.h - a quadratic with an l1 penalty, solved exactly; private to the solver room. */
#ifndef VXS_SOLVER_SAIF_L1_QUADRATIC_H
#define VXS_SOLVER_SAIF_L1_QUADRATIC_H

#include "voxsift/internal/core.h"

/* min over z: z'Hz / 2 - c'z + lambda sum over j >= q of |z_j|, by active-set steps. c is given by
 * the negative gradient at the start, c - Hz, which avoids cancellation for large z. */
typedef struct {
    size_t m, q;     /* variables; the first q are not penalized */
    const double *h; /* m x m, both triangles, `stride` apart */
    size_t stride;
    const double *slope; /* c - Hz at the start */
    double lambda;
    bool nonnegative;           /* z_j >= 0 for j >= q */
    double *z;                  /* initial point, then the solution */
    const vxs_context *context; /* for interruption; may be NULL */

    /* work space, reused */
    size_t room;
    double *factor; /* Cholesky factor, by column */
    double *left;   /* c - Hz */
    double fall;    /* decrease of the value */
    double *step, *sign, *along;
    size_t *support; /* variables of the factor, in order */
    size_t *place;   /* position of a variable, or SIZE_MAX */
    size_t count;
} vxs_l1_quadratic;

/* Every step lowers the value, so that stopping early is valid; adds the number of steps. Fails
 * only for lack of memory or on interruption. */
VXS_MUST_CHECK vxs_status vxs_l1_quadratic_solve(vxs_l1_quadratic *q, uint64_t *steps,
                                                 vxs_error *err);
void vxs_l1_quadratic_release(vxs_l1_quadratic *q);

#endif
