/* cholesky.c - Cholesky factorization of small dense symmetric matrices. */
#include "linalg/cholesky.h"
#include "linalg/lapack.h"

#include <math.h>

bool vxs_cholesky(double *a, size_t n)
{
    int size = (int)n, info = 0;
    if (n > 0)
        dpotrf_("L", &size, a, &size, &info);
    return info == 0;
}

void vxs_cholesky_solve(const double *l, size_t n, double *x, size_t columns)
{
    int size = (int)n, right_sides = (int)columns, info = 0;
    if (n > 0 && columns > 0)
        dpotrs_("L", &size, &right_sides, l, &size, x, &size, &info);
}

void vxs_cholesky_semidefinite(double *a, size_t q, double tolerance)
{
    double largest = 0;
    for (size_t k = 0; k < q; k++)
        largest = fmax(largest, a[k * q + k]);
    for (size_t k = 0; k < q; k++) {
        for (size_t m = 0; m < k; m++)
            a[k * q + k] -= a[k * q + m] * a[k * q + m];
        bool is_singular = !(a[k * q + k] > tolerance * largest);
        a[k * q + k] = is_singular ? INFINITY : sqrt(a[k * q + k]);
        for (size_t r = k + 1; r < q; r++) {
            for (size_t m = 0; m < k; m++)
                a[r * q + k] -= a[r * q + m] * a[k * q + m];
            a[r * q + k] = is_singular ? 0 : a[r * q + k] / a[k * q + k];
        }
    }
}

void vxs_cholesky_semidefinite_solve(const double *l, size_t q, double *v)
{
    for (size_t k = 0; k < q; k++) {
        for (size_t m = 0; m < k; m++)
            v[k] -= l[k * q + m] * v[m];
        v[k] /= l[k * q + k];
    }
    for (size_t k = q; k-- > 0;) {
        for (size_t m = k + 1; m < q; m++)
            v[k] -= l[m * q + k] * v[m];
        v[k] /= l[k * q + k];
    }
}
