/* voxsift/verify.h - certificates recomputed by independent code. */
#ifndef VOXSIFT_VERIFY_H
#define VOXSIFT_VERIFY_H

#include "voxsift/solver.h"

#ifdef __cplusplus
extern "C" {
#endif

#if defined(__GNUC__)
#pragma GCC visibility push(default) /* exported symbols only */
#endif

/* Recomputes primal value, dual value and gap of a solution from the columns of the design; shares
 * no code with the solvers. Reads lambda and tol of its certificate only. */
VXS_MUST_CHECK vxs_status vxs_check_solution(const vxs_problem *problem,
                                             const vxs_solution *solution,
                                             vxs_certificate *certificate, vxs_error *err);

#if defined(__GNUC__)
#pragma GCC visibility pop
#endif

#ifdef __cplusplus
}
#endif

#endif
