/* What looking at all pairs of features takes: verified against plain loops in double, then the
 * rate of a scan of 200 x 20,000 beside what matrix products of floats reach on this machine, of
 * large square matrices and of blocks as a scan has them. Then a scan of each other map. Rates are
 * by the clock and, as other programs may run, by the time that processors gave. Prints a line
 * each. */
#include "voxsift/internal/all.h"

#include <cblas.h>
#include <math.h>
#include <omp.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

enum { N = 200, P = 20000, SMALL = 300, MOST = 10, ROUNDS = 3, LARGE = 4096 };
enum { ROWS = 512, COLUMNS = 384 }; /* of the blocks in blocks_pairs.c */

/* The least of some rounds, in seconds; `busy` counts those of all threads, over their number. */
typedef struct {
    double wall, busy;
} taken;

static taken now(int threads)
{
    return (taken){ vxs_seconds(), (double)clock() / CLOCKS_PER_SEC / threads };
}

static void keep_least(taken *least, taken start, int threads)
{
    taken end = now(threads);
    least->wall = fmin(least->wall, end.wall - start.wall);
    least->busy = fmin(least->busy, end.busy - start.busy);
}

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

static vxs_blocks *make_blocks(vxs_design *design, int kind)
{
    vxs_error err = VXS_ERROR_INIT;
    vxs_feature_map map = { .kind = kind, .gamma = 1, .coef0 = 1, .bandwidth = 1 };
    vxs_blocks *units = NULL;
    if (vxs_blocks_new(NULL, design, &map, &units, &err)) {
        puts(err.message);
        exit(1);
    }
    return units;
}

static taken find_best(vxs_blocks *units, int threads, const double *v, vxs_scored best[MOST])
{
    vxs_error err = VXS_ERROR_INIT;
    taken least = { 1e9, 1e9 };
    size_t count = 0;
    for (int r = 0; r < ROUNDS; r++) {
        taken start = now(threads);
        if (vxs_blocks_best(units, v, MOST, best, &count, &err))
            exit(1);
        keep_least(&least, start, threads);
    }
    return least;
}

/* The best unit by plain loops over all columns. */
static bool verify(const float *x, const double *v)
{
    vxs_design *design = make_design(x, SMALL, 1);
    vxs_blocks *units = make_blocks(design, VXS_FEATURE_MAP_POLY2);
    vxs_scored best[MOST];
    double column[N], largest = -1;
    size_t first = 0;
    (void)find_best(units, 1, v, best);
    for (size_t u = 0; u < vxs_blocks_count(units); u++) {
        double sum = 0;
        vxs_blocks_fetch(units, u, column);
        for (size_t i = 0; i < N; i++)
            sum += column[i] * v[i];
        if (sum * sum > largest) {
            largest = sum * sum;
            first = u;
        }
    }
    bool fine = best[0].index == first && fabs(best[0].score - largest) <= 1e-12 * largest;
    vxs_blocks_free(units);
    vxs_design_free(design);
    return fine;
}

/* So many products of (m x inner) and (inner x k) matrices a thread, each with its own. */
static taken multiply(int threads, size_t m, size_t k, size_t inner, int times)
{
    taken least = { 1e9, 1e9 }, start = least;
    float *all = calloc((size_t)threads * (inner * (m + k) + m * k), sizeof(*all));
    if (!all)
        exit(1);
    for (size_t i = 0; i < (size_t)threads * (inner * (m + k) + m * k); i++)
        all[i] = (float)(i % 17) - 8;
    for (int r = 0; r < ROUNDS; r++) {
        start = now(threads);
#pragma omp parallel num_threads(threads)
        {
            float *a = all + (size_t)omp_get_thread_num() * (inner * (m + k) + m * k);
            for (int t = 0; t < times; t++)
                cblas_sgemm(CblasColMajor, CblasTrans, CblasNoTrans, (int)m, (int)k, (int)inner, 1,
                            a, (int)inner, a + inner * m, (int)inner, 0, a + inner * (m + k),
                            (int)m);
        }
        keep_least(&least, start, threads);
    }
    free(all);
    return least;
}

static void compare(vxs_design *design, int threads, const double *v)
{
    enum { TIMES = 250 };
    vxs_scored best[MOST];
    vxs_blocks *units = make_blocks(design, VXS_FEATURE_MAP_POLY2);
    taken scan = find_best(units, threads, v, best);
    taken large = multiply(threads, LARGE, LARGE, LARGE, 1);
    taken block = multiply(threads, ROWS, COLUMNS, N, TIMES);
    double work = 1e-9 * (double)N * P * (P + 1); /* half of all products are made */
    double large_work = 2e-9 * threads * (double)LARGE * LARGE * LARGE;
    double block_work = 2e-9 * threads * TIMES * (double)ROWS * COLUMNS * N;
    printf("  %d thread(s), %.0f million pairs: %.2f s\n", threads, 0.5e-6 * P * (P - 1),
           scan.wall);
    for (int busy = 0; busy < 2; busy++) {
        double rate = work / (busy ? scan.busy : scan.wall);
        double most = large_work / (busy ? large.busy : large.wall);
        double blocks = block_work / (busy ? block.busy : block.wall);
        printf("    GFLOP/s by %s: %.0f; products of %d^3 %.0f (%.0f percent), of blocks %.0f "
               "(%.0f percent)\n",
               busy ? "processors" : "the clock", rate, LARGE, most, 100 * rate / most, blocks,
               100 * rate / blocks);
    }
    vxs_blocks_free(units);
}

static void time_others(vxs_design *design, int threads, const double *v)
{
    static const int kinds[] = { VXS_FEATURE_MAP_NONE, VXS_FEATURE_MAP_GAUSS, VXS_FEATURE_MAP_HIK };
    static const char *const names[] = { "columns", "gauss", "hik" };
    vxs_scored best[MOST];
    for (int k = 0; k < 3; k++) {
        vxs_blocks *units = make_blocks(design, kinds[k]);
        taken scan = find_best(units, threads, v, best);
        printf("  %d thread(s), %s: %.1f ms, of processors %.1f\n", threads, names[k],
               1e3 * scan.wall, 1e3 * scan.busy);
        vxs_blocks_free(units);
    }
}

int main(void)
{
    float *x = malloc(sizeof(float) * N * P);
    double v[N];
    vxs_random random = { .seed = 3, .stream = 0 };
    if (!x)
        return 1;
    for (size_t k = 0; k < (size_t)N * P; k++)
        x[k] = (float)vxs_random_normal(&random, k);
    for (size_t i = 0; i < N; i++)
        v[i] = i % 2 ? 1 : -1;
    bool fine = verify(x, v);
    puts(fine ? "Scans of 200 x 20,000, the least of 3:" : "not what plain loops find");
    for (int threads = 1; threads <= 2 && fine; threads++) {
        vxs_design *design = make_design(x, P, threads);
        compare(design, threads, v);
        time_others(design, threads, v);
        vxs_design_free(design);
    }
    free(x);
    return fine ? 0 : 1;
}
