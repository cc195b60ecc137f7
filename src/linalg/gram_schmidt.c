/* gram_schmidt.c - an orthonormal basis by Gram-Schmidt orthogonalization, run twice. */
#include "linalg/gram_schmidt.h"

#include <cblas.h>

void vxs_gram_schmidt_project(const double *basis, size_t n, size_t rank, double *v,
                              double *coefficients)
{
    for (size_t r = 0; r < rank; r++) {
        double coefficient = cblas_ddot((int)n, basis + r * n, 1, v, 1);
        cblas_daxpy((int)n, -coefficient, basis + r * n, 1, v, 1);
        if (coefficients)
            coefficients[r] += coefficient;
    }
}

bool vxs_gram_schmidt_append(double *basis, size_t n, size_t rank, double relative_tol,
                             double absolute_tol, double *coefficients)
{
    double *v = basis + rank * n, before = cblas_dnrm2((int)n, v, 1);
    /* the second pass removes the rounding error of the first */
    for (int pass = 0; pass < 2; pass++)
        vxs_gram_schmidt_project(basis, n, rank, v, coefficients);
    double length = cblas_dnrm2((int)n, v, 1);
    if (!(length > relative_tol * before) || !(length > absolute_tol))
        return false;
    cblas_dscal((int)n, 1 / length, v, 1);
    if (coefficients)
        coefficients[rank] = length;
    return true;
}
