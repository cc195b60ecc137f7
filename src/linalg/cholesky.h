/* cholesky.h - Cholesky factorization of small dense symmetric matrices; private. Matrices are n x
 * n, column-major; the factorization reads the lower triangle and replaces it with the factor L of
 * LL'. */
#ifndef VXS_LINALG_CHOLESKY_H
#define VXS_LINALG_CHOLESKY_H

#include "voxsift/core.h"

/* Returns false when the matrix is not positive definite. */
VXS_MUST_CHECK bool vxs_cholesky(double *a, size_t n);
/* x = (LL')^-1 x; x is n x columns, column-major */
void vxs_cholesky_solve(const double *l, size_t n, double *x, size_t columns);

/* Positive semidefinite variant for a few columns, without BLAS: the factorization skips a
 * direction whose pivot is at most `tolerance` times the largest diagonal entry, and the solution
 * is 0 there. It reads the upper triangle. */
void vxs_cholesky_semidefinite(double *a, size_t n, double tolerance);
void vxs_cholesky_semidefinite_solve(const double *l, size_t n, double *x);

#endif
