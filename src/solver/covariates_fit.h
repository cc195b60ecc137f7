/* covariates_fit.h - the best weights of columns that are not penalised, beside predictions that
 * are given; private to the solver room. */
#ifndef VXS_SOLVER_COVARIATES_FIT_H
#define VXS_SOLVER_COVARIATES_FIT_H

#include "voxsift/internal/solver.h"

/* Columns that span the free ones, of length 1 and at right angles. */
typedef struct {
    const vxs_problem *problem;
    size_t n, columns, rank;
    double *basis; /* n x rank */
    double *share; /* columns x rank: how the free columns are made of these */
    size_t *from;  /* rank: the free column that each comes from */
    double *b;     /* rank: weights found last, where the next search begins */
    double *trial, *slope, *curve;
    double *bent;   /* n: a column times curve */
    double *gram;   /* (rank + 2) x rank: a factor, what goes down, and the step that follows */
    uint64_t steps; /* that were tried, in all searches: whoever searches often looks at it */
} vxs_shift;
VXS_MUST_CHECK vxs_status vxs_shift_init(const vxs_problem *problem, size_t columns,
                                         vxs_shift *shift, vxs_error *err);
void vxs_shift_release(vxs_shift *shift);
/* Finds b; `shifted` becomes z + basis b. The least value of sum u f(shifted). */
double vxs_shift_fit(vxs_shift *shift, const double *z, double *shifted);
/* Weights of the free columns themselves. */
void vxs_shift_weights(const vxs_shift *shift, double *free);
/* Second derivatives by b, D = diag(u f''): factored for vxs_shift_project. */
void vxs_shift_factor(vxs_shift *shift, const double *curve);
/* Takes out of v what b makes up for: v - basis (basis'D basis)^-1 basis'D v. */
void vxs_shift_project(vxs_shift *shift, const double *curve, double *v);
/* The same of slopes, so that the columns see nothing of v: v - D basis (basis'D basis)^-1 basis'v.
 */
void vxs_shift_balance(vxs_shift *shift, const double *curve, double *v);

#endif
