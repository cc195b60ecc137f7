/* Means of the sums that kernel scores are made of, and stored columns. */
#include "tests/core/check.h"

enum { N = 23, P = 9 };

Test(kernel_means, are_those_of_the_sums)
{
    vxs_error err = VXS_ERROR_INIT;
    for (uint64_t number = 0; number < 20; number++) {
        vxs_random random = { .seed = 81, .stream = number };
        uint64_t at = 0;
        float x[N * P];
        double y[N], mean = 0, column[N];
        vxs_design *base, *design;
        for (size_t k = 0; k < N * P; k++)
            x[k] = (float)vxs_random_normal(&random, at++);
        for (size_t i = 0; i < N; i++) {
            y[i] = vxs_random_uniform(&random, at++) < 0.4 ? -1 : 1;
            mean += y[i] / N;
        }
        WORKS(vxs_dense_new(x, N, P, 1, &base, &err), err);
        WORKS(vxs_scores_new(NULL, base, true, y, 1.3, 0, &design, &err), err);
        for (size_t j = 0; j < P; j++) {
            double sums[N], middle = 0;
            for (size_t i = 0; i < N; i++) {
                sums[i] = 0;
                for (size_t l = 0; l < N; l++) {
                    double d = ((double)x[j * N + i] - (double)x[j * N + l]) / 1.3;
                    sums[i] += (y[l] - mean) * exp(-d * d / 2);
                }
                middle += sums[i] / N;
            }
            cr_assert(fabs(vxs_scores_means(design)[j] - middle) < 1e-7 * N);
            vxs_design_fetch(design, &j, 1, column);
            for (size_t i = 0; i < N; i++) {
                cr_assert((double)vxs_scores_column(design, j)[i] == column[i]);
                cr_assert(fabs(column[i] / (y[i] - mean) - (sums[i] - middle)) < 1e-5 * N);
            }
        }
        vxs_design_free(design);
        vxs_design_free(base);
    }
}
