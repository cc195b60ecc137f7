/* unidentified.h - unpenalized directions that data and covariates do not identify; private to the
 * solver room. */
#ifndef VXS_SOLVER_UNIDENTIFIED_H
#define VXS_SOLVER_UNIDENTIFIED_H

#include "voxsift/internal/solver.h"

/* The solution is orthogonal to V = null basis, V'w = 0: the shortest of all w with the same
 * penalty and, up to rounding, the same predictions. This is the problem with X (1 - VV'). */
typedef struct {
    size_t n, held;
    double *basis;   /* null->columns x held, V'V = 1 */
    double *carried; /* n x null->columns: XV basis', for vxs_deflated_new */
} vxs_unidentified;

/* Null space of the penalty, p x count: component indicators of a graph, or the null space of D. No
 * columns if it is trivial. */
VXS_MUST_CHECK vxs_status vxs_null_space(const vxs_problem *problem, vxs_analysis *null,
                                         vxs_error *err);
/* X null, n x null->columns; free it. */
VXS_MUST_CHECK vxs_status vxs_null_space_columns(vxs_design *design, const vxs_analysis *null,
                                                 double **columns, vxs_error *err);
/* The rank test; `columns` is X null. */
VXS_MUST_CHECK vxs_status vxs_unidentified_find(const vxs_problem *problem,
                                                const vxs_analysis *null, const double *columns,
                                                vxs_unidentified *unidentified, vxs_error *err);
void vxs_unidentified_release(vxs_unidentified *unidentified);
/* w = w - VV'w; `along` has null->columns entries. */
void vxs_unidentified_project_out(const vxs_unidentified *unidentified, const vxs_analysis *null,
                                  double *along, double *w);

#endif
