/* Cholesky factors: systems are solved, what is not positive definite is refused, and directions
 * without a pivot are left out. */
#include "linalg/cholesky.h"
#include "tests/core/check.h"
#include "voxsift/internal/core.h"

#include <math.h>

enum { N = 12 };

/* A = X'X of `rank` rows. */
static void make(uint64_t number, size_t rank, double a[N * N])
{
    vxs_random random = { .seed = 500 + number };
    for (size_t j = 0; j < N; j++)
        for (size_t k = 0; k < N; k++) {
            a[j * N + k] = 0;
            for (size_t i = 0; i < rank; i++)
                a[j * N + k] +=
                    vxs_random_normal(&random, i * N + j) * vxs_random_normal(&random, i * N + k);
        }
}

static double left(const double a[N * N], const double *x, const double *right)
{
    double most = 0;
    for (size_t j = 0; j < N; j++) {
        double sum = -right[j];
        for (size_t k = 0; k < N; k++)
            sum += a[j * N + k] * x[k];
        most = fmax(most, fabs(sum));
    }
    return most;
}

Test(cholesky, systems_are_solved)
{
    for (uint64_t number = 0; number < 100; number++) {
        double a[N * N], l[N * N], x[2 * N], right[2 * N];
        vxs_random random = { .seed = number };
        make(number, 2 * N, a);
        memcpy(l, a, sizeof(a));
        for (size_t k = 0; k < 2 * N; k++)
            x[k] = right[k] = vxs_random_normal(&random, k);
        cr_assert(vxs_cholesky(l, N));
        vxs_cholesky_solve(l, N, x, 2);
        cr_assert(left(a, x, right) < 1e-9 && left(a, x + N, right + N) < 1e-9);
        memcpy(l, a, sizeof(a));
        memcpy(x, right, sizeof(x));
        vxs_cholesky_semidefinite(l, N, 1e-12);
        vxs_cholesky_semidefinite_solve(l, N, x);
        cr_assert(left(a, x, right) < 1e-9);
    }
}

Test(cholesky, nothing_is_a_system_too)
{
    double none = 0;
    cr_assert(vxs_cholesky(&none, 0));
    vxs_cholesky_solve(&none, 0, &none, 1);
}

Test(cholesky, what_is_not_positive_definite_is_refused)
{
    double a[N * N];
    make(3, 2 * N, a);
    a[5 * N + 5] = -1;
    cr_assert(!vxs_cholesky(a, N));
}

/* Of a right side that the columns can make, there is an answer among those that are left. */
Test(cholesky, directions_without_a_pivot_are_left_out)
{
    for (uint64_t number = 0; number < 50; number++) {
        double a[N * N], l[N * N], x[N], right[N] = { 0 };
        size_t out = 0;
        make(number, 7, a);
        for (size_t k = 0; k < N; k++)
            for (size_t j = 0; j < N; j++)
                right[j] += a[j * N + k] * (double)(k % 3);
        memcpy(l, a, sizeof(a));
        memcpy(x, right, sizeof(x));
        vxs_cholesky_semidefinite(l, N, 1e-10);
        vxs_cholesky_semidefinite_solve(l, N, x);
        for (size_t k = 0; k < N; k++)
            out += x[k] == 0;
        cr_assert(out == N - 7, "%zu left out", out);
        cr_assert(left(a, x, right) < 1e-8 * (1 + fabs(right[0])), "%g", left(a, x, right));
    }
}
