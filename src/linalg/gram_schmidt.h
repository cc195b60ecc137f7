/* gram_schmidt.h - an orthonormal basis by Gram-Schmidt orthogonalization, run twice; private. */
#ifndef VXS_LINALG_GRAM_SCHMIDT_H
#define VXS_LINALG_GRAM_SCHMIDT_H

#include "voxsift/core.h"

/* Relative tolerance of linearly dependent covariates: a covariate whose residual norm on the
 * covariates before it is at most this fraction of its norm is dropped, such as a copy rounded to
 * float32. Its coefficient would be 1e7 and more, and predictions would lose as many digits. The
 * problem definition includes it, so solvers and checker share it. */
#define VXS_INDEPENDENT_COVARIATE 1e-7

/* Subtracts from v its projection onto the basis (n x rank, orthonormal); adds the coefficients to
 * `coefficients` unless NULL. */
void vxs_gram_schmidt_project(const double *basis, size_t n, size_t rank, double *v,
                              double *coefficients);
/* Orthogonalizes and normalizes the column behind the basis, at basis + rank n. Returns false when
 * the column depends linearly on the basis: its residual norm is at most `relative_tol` times its
 * norm, or at most `absolute_tol`. Adds the coefficients of the projection to `coefficients` and
 * stores the residual norm in coefficients[rank], unless NULL. */
bool vxs_gram_schmidt_append(double *basis, size_t n, size_t rank, double relative_tol,
                             double absolute_tol, double *coefficients);

#endif
