/* span.c - an orthonormal basis of columns, by Gram and Schmidt, twice. */
#include "linalg/span.h"

#include <cblas.h>

void vxs_span_take(const double *basis, size_t n, size_t rank, double *v, double *share)
{
    for (size_t r = 0; r < rank; r++) {
        double along = cblas_ddot((int)n, basis + r * n, 1, v, 1);
        cblas_daxpy((int)n, -along, basis + r * n, 1, v, 1);
        if (share)
            share[r] += along;
    }
}

bool vxs_span_join(double *basis, size_t n, size_t rank, double independent, double least,
                   double *share)
{
    double *v = basis + rank * n, before = cblas_dnrm2((int)n, v, 1);
    for (int twice = 0; twice < 2; twice++) /* again, for what rounding left */
        vxs_span_take(basis, n, rank, v, share);
    double length = cblas_dnrm2((int)n, v, 1);
    if (!(length > independent * before) || !(length > least))
        return false;
    cblas_dscal((int)n, 1 / length, v, 1);
    if (share)
        share[rank] = length;
    return true;
}
