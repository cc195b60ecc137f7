/* unidentified.h - weights without penalty that the data does not tell from covariates and from
 * rounding; private to the solver room. */
#ifndef VXS_SOLVER_UNIDENTIFIED_H
#define VXS_SOLVER_UNIDENTIFIED_H

#include "voxsift/internal/solver.h"

/* The model has no part along V = null basis: V'w = 0, of all w with the same penalty and the same
 * predictions but for rounding the shortest one. That is the problem with X (1 - VV'). */
typedef struct {
    size_t n, held;
    double *basis;   /* null->columns x held, V'V = 1 */
    double *carried; /* n x null->columns: XV basis', for vxs_deflated_new */
} vxs_unidentified;

/* Weights that have no penalty, p x count: those that a graph's components have in common, or of
 * which all terms are 0. No columns where the penalty leaves none. */
VXS_MUST_CHECK vxs_status vxs_unpenalised(const vxs_problem *problem, vxs_analysis *null,
                                          vxs_error *err);
/* X null, n x null->columns, to be freed. */
VXS_MUST_CHECK vxs_status vxs_unpenalised_columns(vxs_design *design, const vxs_analysis *null,
                                                  double **columns, vxs_error *err);
/* The rank test; `columns` is X null. */
VXS_MUST_CHECK vxs_status vxs_unidentified_find(const vxs_problem *problem,
                                                const vxs_analysis *null, const double *columns,
                                                vxs_unidentified *unidentified, vxs_error *err);
void vxs_unidentified_release(vxs_unidentified *unidentified);
/* w - VV'w, p; `along` has room for null->columns. */
void vxs_unidentified_take_off(const vxs_unidentified *unidentified, const vxs_analysis *null,
                               double *along, double *w);

#endif
