/* What looking at all pairs of features takes: verified against plain loops in double, then the
 * rate of a scan of 200 x 20,000 beside what the matrix product of this machine reaches, for a
 * large square matrix and for the blocks of a scan. Then the other maps. Prints a line each. */
#include "voxsift.h"

#include <cblas.h>
#include <math.h>
#include <omp.h>
#include <stdlib.h>
#include <string.h>

enum { N = 200, P = 20000, SMALL = 300, MOST = 10, ROUNDS = 3, LARGE = 4096 };

static vxs_design *make_design(const float *x, size_t p, int threads)
{
    vxs_error err = VXS_ERROR_INIT;
    vxs_design *design = NULL;
    vxs_view view = { .standardize = VXS_STANDARDIZE_UNIT };
    if (vxs_dense_new(x, N, p, threads, &design, &err) ||
        vxs_view_new(design, false, &view, &design, &err)) {
        puts(err.message);
        exit(1);
    }
    return design;
}

static vxs_units *make_units(vxs_design *design, int kind)
{
    vxs_error err = VXS_ERROR_INIT;
    vxs_map map = { .kind = kind, .gamma = 1, .constant = 1, .bandwidth = 1 };
    vxs_units *units = NULL;
    if (vxs_units_new(NULL, design, &map, &units, &err)) {
        puts(err.message);
        exit(1);
    }
    return units;
}

static double find_best(vxs_units *units, const double *v, vxs_scored best[MOST])
{
    vxs_error err = VXS_ERROR_INIT;
    double least = 1e9;
    size_t count = 0;
    for (int r = 0; r < ROUNDS; r++) {
        double start = vxs_seconds();
        if (vxs_units_best(units, v, MOST, best, &count, &err))
            exit(1);
        double seconds = vxs_seconds() - start;
        least = seconds < least ? seconds : least;
    }
    return least;
}

/* The best unit by plain loops over all columns. */
static bool verify(const float *x, const double *v)
{
    vxs_design *design = make_design(x, SMALL, 1);
    vxs_units *units = make_units(design, VXS_MAP_POLY2);
    vxs_scored best[MOST];
    double column[N], largest = -1;
    size_t first = 0;
    (void)find_best(units, v, best);
    for (size_t u = 0; u < vxs_units_count(units); u++) {
        double sum = 0;
        vxs_units_fetch(units, u, column);
        for (size_t i = 0; i < N; i++)
            sum += column[i] * v[i];
        if (sum * sum > largest) {
            largest = sum * sum;
            first = u;
        }
    }
    bool fine = best[0].unit == first && fabs(best[0].score - largest) <= 1e-12 * largest;
    vxs_units_free(units);
    vxs_design_free(design);
    return fine;
}

/* GFLOP/s of products of (m x inner) and (inner x k) matrices, each thread with its own. */
static double product_rate(int threads, size_t m, size_t k, size_t inner, int times)
{
    double best = 0;
    for (int r = 0; r < ROUNDS; r++) {
        double start = 0, seconds;
#pragma omp parallel num_threads(threads)
        {
            float *a = malloc(sizeof(float) * inner * (m + k)), *c = malloc(sizeof(float) * m * k);
            if (!a || !c)
                exit(1);
            for (size_t i = 0; i < inner * (m + k); i++)
                a[i] = (float)(i % 17) - 8;
            memset(c, 0, sizeof(float) * m * k);
#pragma omp barrier
#pragma omp single
            start = vxs_seconds();
            for (int t = 0; t < times; t++)
                cblas_sgemm(CblasColMajor, CblasTrans, CblasNoTrans, (int)m, (int)k, (int)inner, 1,
                            a, (int)inner, a + inner * m, (int)inner, 0, c, (int)m);
            free(a);
            free(c);
        }
        seconds = vxs_seconds() - start;
        double rate = 2e-9 * (double)(m * k * inner) * times * threads / seconds;
        best = rate > best ? rate : best;
    }
    return best;
}

int main(void)
{
    float *x = malloc(sizeof(float) * N * P);
    double v[N];
    vxs_scored best[MOST];
    vxs_random random = { .seed = 3, .stream = 0 };
    if (!x)
        return 1;
    for (size_t k = 0; k < (size_t)N * P; k++)
        x[k] = (float)vxs_random_normal(&random, k);
    for (size_t i = 0; i < N; i++)
        v[i] = i % 2 ? 1 : -1;
    if (!verify(x, v)) {
        puts("  not what plain loops find");
        return 1;
    }
    for (int threads = 1; threads <= 2; threads++) {
        vxs_design *design = make_design(x, P, threads);
        vxs_units *units = make_units(design, VXS_MAP_POLY2);
        double seconds = find_best(units, v, best);
        double rate = 1e-9 * (double)N * P * (P + 1) / seconds; /* half of all products are made */
        double peak = product_rate(threads, LARGE, LARGE, LARGE, 1);
        double block = product_rate(threads, 512, 256, N, 500);
        printf("  %d thread(s): %.2f s for %.0f million pairs, %.0f GFLOP/s; a product of %d^3 has "
               "%.0f (%.0f per cent), of blocks %.0f (%.0f per cent)\n",
               threads, seconds, 0.5e-6 * P * (P - 1), rate, LARGE, peak, 100 * rate / peak, block,
               100 * rate / block);
        vxs_units_free(units);
        static const char *const names[] = { "columns", "", "gauss", "hik" };
        for (int kind = VXS_MAP_NONE; kind <= VXS_MAP_HIK; kind++) {
            if (kind == VXS_MAP_POLY2)
                continue;
            units = make_units(design, kind);
            printf("  %d thread(s), %s: %.1f ms\n", threads, names[kind],
                   1e3 * find_best(units, v, best));
            vxs_units_free(units);
        }
        vxs_design_free(design);
    }
    free(x);
    return 0;
}
