/* span.h - an orthonormal basis of columns, by Gram and Schmidt, twice; private. */
#ifndef VXS_LINALG_SPAN_H
#define VXS_LINALG_SPAN_H

#include "voxsift/core.h"

/* A covariate of which no more is left beside those before it, as a share of its length, adds
 * nothing: a copy that was rounded to float32 is no second covariate. Its coefficient would be 1e7
 * and more, and predictions would lose as many digits. Part of the problem: solvers and checker
 * have it in common. */
#define VXS_INDEPENDENT_COVARIATE 1e-7

/* v less what the basis, n x rank and orthonormal, has of it; that is added to share unless NULL.
 */
void vxs_span_take(const double *basis, size_t n, size_t rank, double *v, double *share);
/* The column behind the basis, at basis + rank n, becomes orthonormal to it. False where it depends
 * on the basis: no more is left than `independent` of its length, or than `least`. What it had of
 * the basis is added to share, and the length left is share[rank], unless that is NULL. */
bool vxs_span_join(double *basis, size_t n, size_t rank, double independent, double least,
                   double *share);

#endif
