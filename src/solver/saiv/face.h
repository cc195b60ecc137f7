/* face.h - steps of all weights inside the box; private to the solver. */
#ifndef VXS_SOLVER_SAIV_FACE_H
#define VXS_SOLVER_SAIV_FACE_H

#include "solver/saiv/box_dual.h"

/* Towards the optimum over the variables `member`, one a sample, which are inside the box, in at
 * most VXS_FACE_ITERATIONS products with the kernel. `work`: VXS_FACE_WORK n values. False if
 * nothing was gained. */
enum { VXS_FACE_WORK = 5, VXS_FACE_ITERATIONS = 20 };
bool vxs_face_step(vxs_box *box, const size_t *member, size_t count, double *work);

#endif
