/* What a column of kernel scores takes: by the C library's exponential, by ours, and by the series,
 * with their errors; where the series begins to pay; and a design of 200 x 200,000. Columns are
 * normal and standardized, bandwidth 1. Prints a line each. */
#include "voxsift/internal/all.h"

#include "design/gauss.h"

#include <math.h>
#include <stdlib.h>

enum { ROUNDS = 5, CHECKED = 100, N = 200, P = 200000 };

typedef struct {
    size_t n;
    double *x, *q, *g;
    vxs_gauss_workspace room;
} problem;

static bool prepare(problem *p, size_t n)
{
    vxs_random random = { .seed = 1, .stream = n };
    double sum = 0, square = 0;
    *p = (problem){ .n = n, .x = malloc(3 * n * sizeof(double)) };
    if (!p->x || vxs_gauss_workspace_init(&p->room, n, n, NULL))
        return false;
    p->q = p->x + n;
    p->g = p->q + n;
    for (size_t i = 0; i < n; i++) {
        p->x[i] = vxs_random_normal(&random, i);
        p->q[i] = i % 2 ? 1 : -1;
        sum += p->x[i];
        square += p->x[i] * p->x[i];
    }
    for (size_t i = 0; i < n; i++)
        p->x[i] = (p->x[i] - sum / (double)n) /
                  sqrt(square / (double)n - sum / (double)n * sum / (double)n);
    return true;
}

static void release(problem *p)
{
    vxs_gauss_workspace_release(&p->room);
    free(p->x);
}

static void by_library(problem *p)
{
    for (size_t j = 0; j < p->n; j++) {
        double sum = 0;
        for (size_t l = 0; l < p->n; l++) {
            double d = p->x[j] - p->x[l];
            sum += p->q[l] * exp(-d * d / 2);
        }
        p->g[j] = sum;
    }
}

static void run(problem *p, int way)
{
    p->room.algorithm = (vxs_gauss_algorithm)way;
    if (way < 0)
        by_library(p);
    else
        vxs_gauss_sums_in(&p->room, p->x, p->q, p->n, p->x, p->n, 1, p->g);
}

/* Seconds of one, the least of some rounds of at least a millisecond. */
static double time_of(problem *p, int way)
{
    double best = 1e9;
    for (int r = 0; r < ROUNDS; r++) {
        double start = vxs_seconds(), seconds = 0;
        int times = 0;
        while (seconds < 1e-3) {
            run(p, way);
            times++;
            seconds = vxs_seconds() - start;
        }
        best = seconds / times < best ? seconds / times : best;
    }
    return best;
}

/* As a part of sum |q|, at so many places. */
static double error_of(const problem *p)
{
    long double worst = 0;
    size_t step = p->n > CHECKED ? p->n / CHECKED : 1;
    for (size_t j = 0; j < p->n; j += step) {
        long double sum = 0;
        for (size_t l = 0; l < p->n; l++) {
            long double d = (long double)p->x[j] - (long double)p->x[l];
            sum += (long double)p->q[l] * expl(-d * d / 2);
        }
        long double error = fabsl(sum - (long double)p->g[j]);
        worst = error <= worst ? worst : error;
    }
    return (double)(worst / (long double)p->n);
}

static void compare_ways(void)
{
    static const size_t sizes[] = { 50, 100, 200, 400, 1000, 3000, 10000 };
    puts("Microseconds a column by libm, by our exponentials, by the series, and errors of both:");
    for (size_t k = 0; k < sizeof(sizes) / sizeof(sizes[0]); k++) {
        problem p;
        if (!prepare(&p, sizes[k]))
            return;
        double seconds[3], errors[3];
        for (int way = 0; way < 3; way++) {
            seconds[way] = time_of(&p, way == 0 ? -1 : way);
            errors[way] = error_of(&p);
        }
        printf("  n = %5zu: %10.1f %10.2f %8.2f   %.0e %.0e\n", sizes[k], 1e6 * seconds[0],
               1e6 * seconds[1], 1e6 * seconds[2], errors[1], errors[2]);
        release(&p);
    }
}

static void find_crossing(void)
{
    puts("Where the series begins to pay, nanoseconds by our exponentials and by the series:");
    for (size_t n = 4; n <= 16; n += 2) {
        problem p;
        if (!prepare(&p, n))
            return;
        printf("  n = %2zu: %.0f %.0f\n", n, 1e9 * time_of(&p, VXS_GAUSS_DIRECT),
               1e9 * time_of(&p, VXS_GAUSS_SERIES));
        release(&p);
    }
}

static double make_once(const float *x, const double *y, int threads, double bandwidth)
{
    vxs_error err = VXS_ERROR_INIT;
    vxs_design *base = NULL, *scores = NULL;
    vxs_view view = { .standardize = VXS_STANDARDIZE_UNIT };
    if (vxs_dense_new(x, N, P, threads, &base, &err) ||
        vxs_view_new(base, false, &view, &base, &err) || vxs_design_measure(base, &err))
        return -1;
    double start = vxs_seconds();
    if (vxs_scores_new(NULL, base, false, y, bandwidth, 0, &scores, &err))
        return -1;
    double seconds = vxs_seconds() - start;
    vxs_design_free(scores);
    return seconds;
}

static void make_designs(const float *x, const double *y)
{
    puts("Making scores of 200 x 200,000, the least of 3:");
    for (int k = 0; k < 4; k++) {
        double best = 1e9;
        for (int r = 0; r < 3; r++) {
            double seconds = make_once(x, y, 1 + k % 2, k < 2 ? 1 : 0);
            best = seconds < best ? seconds : best;
        }
        printf("  %d thread(s), bandwidth %s: %.2f s, %.0f columns a second\n", 1 + k % 2,
               k < 2 ? "1" : "by median", best, P / best);
    }
}

/* Kernels as columns: one scan of the first 5,000. */
static void scan_kernels(const float *x, const double *y)
{
    enum { SOME = 5000, ROWS = N * (N + 1) / 2 };
    static double v[ROWS], s[SOME];
    vxs_kernels_pack(y, N, v);
    puts("Scanning kernels of 200 samples as columns, the least of 3:");
    for (int threads = 1; threads <= 2; threads++) {
        vxs_error err = VXS_ERROR_INIT;
        vxs_design *base = NULL, *kernels = NULL;
        double best = 1e9;
        if (vxs_dense_new(x, N, SOME, threads, &base, &err) ||
            vxs_kernels_new(base, false, 1, &kernels, &err))
            return;
        for (int r = 0; r < 3; r++) {
            double start = vxs_seconds();
            vxs_design_scan(kernels, v, 1, s);
            double seconds = vxs_seconds() - start;
            best = seconds < best ? seconds : best;
        }
        printf("  %d thread(s): %.1f microseconds a column\n", threads, 1e6 * best / SOME);
        vxs_design_free(kernels);
    }
}

int main(void)
{
    float *x = malloc(sizeof(float) * N * P);
    double y[N];
    vxs_random random = { .seed = 2, .stream = 0 };
    if (!x)
        return 1;
    for (size_t k = 0; k < (size_t)N * P; k++)
        x[k] = (float)vxs_random_normal(&random, k);
    for (size_t i = 0; i < N; i++)
        y[i] = i % 2 ? 1 : -1;
    compare_ways();
    find_crossing();
    make_designs(x, y);
    scan_kernels(x, y);
    free(x);
    return 0;
}
