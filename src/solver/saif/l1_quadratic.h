/* l1_quadratic.h - a quadratic with an l1 penalty, solved exactly; private to the solver room. */
#ifndef VXS_SOLVER_SAIF_L1_QUADRATIC_H
#define VXS_SOLVER_SAIF_L1_QUADRATIC_H

#include "voxsift/internal/core.h"

/* minimise  z'Hz / 2 - c'z + lambda sum over j >= q of |z_j|  by active-set steps, where c is known
 * by its slope downwards at the beginning, c - Hz, which loses nothing to a large z: the support's
 * system is solved by its Cholesky factor, which is updated as variables come and go. */
typedef struct {
    size_t m, q;     /* variables, of which the first q are free of the penalty */
    const double *h; /* m x m, both triangles, `stride` apart */
    size_t stride;
    const double *slope; /* c - Hz at the beginning */
    double lambda;
    bool nonnegative;           /* z_j >= 0 for j >= q */
    double *z;                  /* where to begin, and the answer */
    const vxs_context *context; /* asked for requests to stop; may be NULL */

    /* memory that is used again */
    size_t room;
    double *factor; /* lower, by column, room apart */
    double *left;   /* c - Hz */
    double fall;    /* of the value, so far */
    double *step, *sign, *along;
    size_t *support; /* variables in the factor, in its order */
    size_t *place;   /* of a variable in it, or SIZE_MAX */
    size_t count;
} vxs_l1_quadratic;

/* Every step lowers the value, so stopping early does no harm; adds the number of steps. Fails only
 * for want of memory or on request. */
VXS_MUST_CHECK vxs_status vxs_l1_quadratic_solve(vxs_l1_quadratic *q, uint64_t *steps,
                                                 vxs_error *err);
void vxs_l1_quadratic_release(vxs_l1_quadratic *q);

#endif
