/* Orthonormal bases: what they are made of, and what is left out. */
#include "linalg/gram_schmidt.h"
#include "tests/core/check.h"
#include "voxsift/internal/core.h"

#include <math.h>

enum { N = 20, MOST = 9 };

Test(span, columns_are_made_of_an_orthonormal_basis)
{
    for (uint64_t number = 0; number < 100; number++) {
        vxs_random random = { .seed = number };
        double columns[MOST * N], basis[MOST * N], share[MOST][MOST + 1] = { { 0 } };
        size_t rank = 0, dependent = 0;
        for (size_t k = 0; k < MOST; k++) {
            bool sum = k > 2 && vxs_random_uniform(&random, 1000 + k) < 0.4;
            double size = pow(10, 10 * vxs_random_uniform(&random, 2000 + k) - 5);
            for (size_t i = 0; i < N; i++)
                columns[k * N + i] = sum ? size * (columns[(k - 1) * N + i] + columns[i])
                                         : size * vxs_random_normal(&random, k * N + i);
            memcpy(basis + rank * N, columns + k * N, N * sizeof(double));
            bool joined = vxs_gram_schmidt_append(basis, N, rank, 1e-9, 0, share[k]);
            rank += joined;
            dependent += !joined;
            cr_assert(joined != sum, "%d: column %zu", (int)number, k);
        }
        for (size_t a = 0; a < rank * rank; a++) {
            double sum = 0;
            for (size_t i = 0; i < N; i++)
                sum += basis[a % rank * N + i] * basis[a / rank * N + i];
            cr_assert(fabs(sum - (a % rank == a / rank)) < 1e-13);
        }
        for (size_t k = 0; k < MOST; k++)
            for (size_t i = 0; i < N; i++) {
                double sum = 0, largest = 0;
                for (size_t r = 0; r < rank; r++) {
                    sum += share[k][r] * basis[r * N + i];
                    largest = fmax(largest, fabs(share[k][r]));
                }
                cr_assert(fabs(sum - columns[k * N + i]) <= 1e-8 * largest);
            }
        cr_assert(rank + dependent == MOST);
    }
}

Test(span, nothing_is_left_of_what_it_spans)
{
    vxs_random random = { .seed = 5 };
    double basis[3 * N], v[N] = { 0 }, size = 0;
    size_t rank = 0;
    for (size_t k = 0; k < 3; k++) {
        for (size_t i = 0; i < N; i++) {
            basis[k * N + i] = vxs_random_normal(&random, k * N + i);
            v[i] += (double)(k + 1) * basis[k * N + i];
        }
        rank += vxs_gram_schmidt_append(basis, N, rank, 1e-9, 0, NULL);
    }
    vxs_gram_schmidt_project(basis, N, rank, v, NULL);
    for (size_t i = 0; i < N; i++)
        size += v[i] * v[i];
    cr_assert(size < 1e-26, "%g", size);
}

Test(span, what_is_too_little_does_not_join)
{
    double basis[4] = { 1, 0, 3, 1e-4 };
    cr_assert(!vxs_gram_schmidt_append(basis, 2, 1, 1e-3, 0, NULL));
    basis[2] = 3;
    basis[3] = 1e-4;
    cr_assert(!vxs_gram_schmidt_append(basis, 2, 1, 1e-9, 1e-3, NULL));
    basis[2] = 3;
    basis[3] = 1e-4;
    cr_assert(vxs_gram_schmidt_append(basis, 2, 1, 1e-9, 1e-6, NULL));
}
