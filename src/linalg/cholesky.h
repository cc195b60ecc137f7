/* cholesky.h - systems of small dense symmetric matrices; private. By column, of which the lower
 * triangle counts and becomes the factor L of LL'. */
#ifndef VXS_LINALG_CHOLESKY_H
#define VXS_LINALG_CHOLESKY_H

#include "voxsift/core.h"

/* False where it is not positive definite. */
VXS_MUST_CHECK bool vxs_cholesky(double *a, size_t n);
/* x = (LL')^-1 x, of each of so many columns */
void vxs_cholesky_solve(const double *l, size_t n, double *x, size_t columns);

/* Of a matrix that may be singular: a direction whose pivot is no more than `flat` times the
 * largest diagonal is left out, and so are the numbers of x there. Of a few columns: without BLAS.
 * The upper triangle counts. */
void vxs_cholesky_of_rank(double *a, size_t n, double flat);
void vxs_cholesky_of_rank_solve(const double *l, size_t n, double *x);

#endif
