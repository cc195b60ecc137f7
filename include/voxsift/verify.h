/* voxsift/verify.h - certificates computed anew, by code of its own. */
#ifndef VOXSIFT_VERIFY_H
#define VOXSIFT_VERIFY_H

#include "voxsift/solver.h"

#ifdef __cplusplus
extern "C" {
#endif

#if defined(__GNUC__)
#pragma GCC visibility push(default) /* what follows is the library's, and nothing else is */
#endif

/* Primal value, dual value and gap of a solution computed anew from the columns of the design and
 * nothing else; shares no code with the solvers. lambda is the solution's; the rest of its
 * certificate is not looked at. */
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
