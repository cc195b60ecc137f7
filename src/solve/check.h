/* check.h - the halves of the checker; private to the solve room. */
#ifndef VXS_SOLVE_CHECK_H
#define VXS_SOLVE_CHECK_H

#include "voxsift/solve.h"

/* check_hinge.c */
VXS_MUST_CHECK vxs_status vxs_check_hinge(const vxs_problem *problem, const vxs_solution *solution,
                                          vxs_certificate *certificate, vxs_error *err);

#endif
