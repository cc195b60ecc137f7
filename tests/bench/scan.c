/* How fast a scan is beside the machine's memory: reads 400 x 200,000 floats by plain loads, then
 * scans them, with one and two threads, in one run. Prints a line each. */
#include "voxsift/internal/all.h"

#include <stdlib.h>

enum { N = 400, P = 200000, REPEATS = 7 };

static double read_all(const float *x, int threads)
{
    double best = 1e9;
    for (int r = 0; r < REPEATS; r++) {
        uint64_t all = 0;
        double start = vxs_seconds();
#pragma omp parallel for num_threads(threads) reduction(^ : all) schedule(static)
        for (size_t j = 0; j < P; j++) {
            const uint64_t *words = (const uint64_t *)(const void *)(x + j * N);
            uint64_t a = 0;
#pragma omp simd reduction(^ : a)
            for (size_t i = 0; i < N / 2; i++)
                a ^= words[i];
            all ^= a;
        }
        double seconds = vxs_seconds() - start;
        best = seconds < best ? seconds : best;
        if (all == 42)
            puts("");
    }
    return best;
}

static double scan_all(const float *x, int threads)
{
    static double v[N], s[P];
    vxs_error err = VXS_ERROR_INIT;
    vxs_design *design = NULL;
    double best = 1e9;
    for (size_t i = 0; i < N; i++)
        v[i] = (double)(i % 7) - 3;
    if (vxs_dense_new(x, N, P, threads, &design, &err))
        return best;
    for (int r = 0; r < REPEATS; r++) {
        double start = vxs_seconds();
        vxs_design_scan(design, v, 1, s);
        double seconds = vxs_seconds() - start;
        best = seconds < best ? seconds : best;
    }
    for (size_t j = 0; j < P; j += 9973) { /* verified, then timed */
        double sum = 0;
        for (size_t i = 0; i < N; i++)
            sum += (double)x[j * N + i] * v[i];
        if (sum - s[j] > 1e-9 || s[j] - sum > 1e-9)
            best = -1;
    }
    vxs_design_free(design);
    return best;
}

int main(void)
{
    float *x = aligned_alloc(64, sizeof(float) * N * P);
    vxs_random random = { .seed = 1, .stream = 0 };
    if (!x)
        return 1;
    for (size_t k = 0; k < (size_t)N * P; k++)
        x[k] = (float)vxs_random_uniform(&random, k);
    for (int threads = 1; threads <= 2; threads++) {
        double bytes = sizeof(float) * N * P / 1e9, read = bytes / read_all(x, threads);
        double scan = bytes / scan_all(x, threads);
        printf("  %d thread(s): read %.1f GB/s, scan %.1f GB/s (%.0f percent)\n", threads, read,
               scan, 100 * scan / read);
    }
    free(x);
    return 0;
}
