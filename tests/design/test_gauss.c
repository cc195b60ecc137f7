/* Sums of Gaussians against long doubles, and distances against all pairs. */
#include "tests/core/check.h"

#include "design/gauss.h"

#include <float.h>

enum { MOST = 420 };

typedef struct {
    size_t n, m;
    double x[MOST], q[MOST], at[MOST], bandwidth;
    bool same;
} problem;

/* What values can be like: normal, with outliers near and far, ties, far apart, far from 0. */
static double value(const vxs_random *random, uint64_t kind, uint64_t k)
{
    double x = vxs_random_normal(random, k);
    switch (kind) {
    case 0:
        return x;
    case 1:
        return k % 7 ? x : 30 * x;
    case 2:
        return k % 50 ? x : 1e12;
    case 3:
        return round(x);
    case 4:
        return 1e5 * x;
    default:
        return 1e6 + x;
    }
}

static void draw(uint64_t stream, problem *p)
{
    vxs_random random = { .seed = 31, .stream = stream };
    uint64_t most = stream % 10 ? 60 : MOST;
    p->n = 1 + vxs_random_below(&random, 5000, most);
    p->m = 1 + vxs_random_below(&random, 5001, most);
    p->bandwidth = pow(10, -2 + 3 * vxs_random_uniform(&random, 5002));
    p->same = stream % 2;
    for (size_t k = 0; k < MOST; k++) {
        p->x[k] = value(&random, stream % 6, k);
        p->at[k] = value(&random, stream / 6 % 6, 1000 + k);
        p->q[k] = vxs_random_normal(&random, 2000 + k);
    }
    p->m = p->same ? p->n : p->m;
}

static void sum_exactly(const problem *p, long double *exact)
{
    const double *at = p->same ? p->x : p->at;
    for (size_t j = 0; j < p->m; j++) {
        exact[j] = 0;
        for (size_t l = 0; l < p->n; l++) {
            long double d = ((long double)at[j] - (long double)p->x[l]) / (long double)p->bandwidth;
            exact[j] += (long double)p->q[l] * expl(-d * d / 2);
        }
    }
}

/* The largest error, as a part of sum |q|. */
static double error_of(const problem *p, const long double *exact, const double *g)
{
    long double total = 0, worst = 0;
    for (size_t l = 0; l < p->n; l++)
        total += fabsl((long double)p->q[l]);
    for (size_t j = 0; j < p->m; j++) {
        long double error = fabsl(exact[j] - (long double)g[j]);
        worst = error <= worst ? worst : error; /* NAN as well */
    }
    return (double)(worst / total);
}

/* By either way and by the one that is chosen: to 1e-11, though 1e-9 is promised. */
Test(gauss, sums_are_those_of_long_doubles)
{
    vxs_error err = VXS_ERROR_INIT;
    problem *p = malloc(sizeof(*p));
    double g[MOST];
    long double exact[MOST];
    vxs_gauss_workspace room;
    WORKS(vxs_gauss_workspace_init(&room, MOST, MOST, &err), err);
    for (uint64_t stream = 0; stream < 3000; stream++) {
        draw(stream, p);
        sum_exactly(p, exact);
        for (int way = VXS_GAUSS_FASTER; way <= VXS_GAUSS_SERIES; way++) {
            room.algorithm = (vxs_gauss_algorithm)way;
            vxs_gauss_sums_in(&room, p->x, p->q, p->n, p->same ? p->x : p->at, p->m, p->bandwidth,
                              g);
            double error = error_of(p, exact, g);
            cr_assert(error <= 1e-11, "problem %d, way %d, n %zu: %g", (int)stream, way, p->n,
                      error);
        }
    }
    vxs_gauss_workspace_release(&room);
    free(p);
}

/* On every set of instructions that this processor has. */
Test(gauss, processors_change_no_bit)
{
    const vxs_exponentials *list[VXS_VECTORS_COUNT];
    size_t count = vxs_list_exponentials(list);
    vxs_error err = VXS_ERROR_INIT;
    problem *p = malloc(sizeof(*p));
    double g[2][MOST], row[2][VXS_POINTS];
    vxs_gauss_workspace room;
    WORKS(vxs_gauss_workspace_init(&room, MOST, MOST, &err), err);
    cr_assert(list[count - 1] == vxs_choose_exponentials());
    for (uint64_t stream = 0; stream < 600; stream++) {
        draw(stream, p);
        room.algorithm = (vxs_gauss_algorithm)(stream % 3);
        for (size_t k = 0; k < count; k++) {
            size_t to = k > 0;
            room.run = list[k];
            vxs_gauss_sums_in(&room, p->x, p->q, p->n, p->same ? p->x : p->at, p->m, p->bandwidth,
                              g[to]);
            list[k]->row(p->x, VXS_POINTS, p->at[0], p->bandwidth, row[to]);
            cr_assert(memcmp(g[0], g[to], p->m * sizeof(g[0][0])) == 0);
            cr_assert(memcmp(row[0], row[to], sizeof(row[0])) == 0);
            cr_assert(list[k]->dot(p->x, p->q, 408) == list[0]->dot(p->x, p->q, 408));
        }
    }
    vxs_gauss_workspace_release(&room);
    free(p);
}

Test(gauss, exponentials_are_exact)
{
    double x[4000], row[4000];
    for (size_t k = 0; k < 4000; k++)
        x[k] = (double)k * 0.01 - 20;
    vxs_choose_exponentials()->row(x, 4000, -20, 1, row);
    for (size_t k = 0; k < 4000; k++) {
        long double d = (long double)x[k] + 20, exact = expl(-d * d / 2);
        double near = 1e-13 + 1e-15 * (double)(d * d); /* the square is rounded before */
        if (d < 37.5L)
            cr_assert(fabsl((long double)row[k] - exact) <= (long double)near * exact, "%Lg", d);
        if (d > 37.7L)
            cr_assert(row[k] == 0);
    }
}

/* Nothing but what is far apart, near together or hard to count in bandwidths. */
Test(gauss, sums_are_numbers_whatever_the_values)
{
    static const double extremes[] = { 0,       5e-324,   -5e-324, 1e-310, 1,         -0.0,
                                       DBL_MAX, -DBL_MAX, DBL_MIN, 1e300,  1 + 1e-15, 2 };
    static const double bandwidths[] = { 5e-324, 1e-310, 1e-300, 1e-9, 1, 1e9, 1e300, DBL_MAX };
    enum { COUNT = sizeof(extremes) / sizeof(extremes[0]) };
    vxs_error err = VXS_ERROR_INIT;
    double q[COUNT], g[COUNT];
    for (size_t l = 0; l < COUNT; l++)
        q[l] = l % 2 ? 1 : -0.5;
    for (size_t b = 0; b < sizeof(bandwidths) / sizeof(bandwidths[0]); b++)
        for (size_t n = 1; n <= COUNT; n++) {
            WORKS(vxs_gauss_sums(extremes, q, n, extremes, n, bandwidths[b], g, &err), err);
            for (size_t j = 0; j < n; j++) {
                long double sum = 0;
                for (size_t l = 0; l < n; l++) {
                    long double d = ((long double)extremes[j] - (long double)extremes[l]) /
                                    (long double)bandwidths[b];
                    sum += (long double)q[l] * expl(-d * d / 2);
                }
                cr_assert(fabsl((long double)g[j] - sum) <= 1e-9L, "%g at %g with %g: not %Lg",
                          g[j], extremes[j], bandwidths[b], sum);
            }
        }
}

Test(gauss, sums_at_the_edges)
{
    static const double x[3] = { 1, 1, 4 }, q[3] = { 1, 2, 4 }, at[2] = { 1, 1e9 };
    static const double falling[3] = { 4, 1, 1 };
    vxs_error err = VXS_ERROR_INIT;
    double g[3] = { 7, 7, 7 };
    WORKS(vxs_gauss_sums(x, q, 0, x, 3, 1, g, &err), err);
    cr_assert(g[0] == 0 && g[1] == 0 && g[2] == 0);
    WORKS(vxs_gauss_sums(x, q, 3, at, 0, 1, g, &err), err);
    WORKS(vxs_gauss_sums(x, q, 3, x, 3, 1e-6, g, &err), err);
    cr_assert(g[0] == 3 && g[1] == 3 && g[2] == 4, "the identity but for ties");
    WORKS(vxs_gauss_sums(falling, q, 3, falling, 1, 1e-6, g, &err), err);
    cr_assert(g[0] == 1, "at fewer places than points");
    WORKS(vxs_gauss_sums(x, q, 2, at, 2, 1, g, &err), err);
    cr_assert(fabs(g[0] - 3) < 1e-12 && g[1] == 0);
    REFUSES(vxs_gauss_sums(x, q, 3, x, 3, 0, g, &err), err, VXS_MISUSE, "above 0, not 0");
    REFUSES(vxs_gauss_sums(x, q, 3, x, 3, (double)NAN, g, &err), err, VXS_MISUSE, "bandwidth");
}

/* ---- Distances ------------------------------------------------------------------------------- */

static int by_value(const void *a, const void *b)
{
    double left = *(const double *)a, right = *(const double *)b;
    return (left > right) - (left < right);
}

static double brute_median(const double *x, size_t n, bool not_0)
{
    size_t count = 0;
    double *all = malloc((n * n + 1) * sizeof(*all));
    for (size_t i = 0; i < n; i++)
        for (size_t l = 0; l < i; l++)
            if (!not_0 || x[i] != x[l])
                all[count++] = fabs(x[i] - x[l]);
    qsort(all, count, sizeof(*all), by_value);
    double median = count ? all[(count - 1) / 2] : 0;
    free(all);
    return median;
}

Test(gauss, median_distance_is_that_of_all_pairs)
{
    vxs_error err = VXS_ERROR_INIT;
    vxs_random random = { .seed = 32 };
    problem *p = malloc(sizeof(*p));
    double median, room[VXS_BANDWIDTH_WORKSPACE * MOST];
    for (uint64_t stream = 0; stream < 600; stream++) {
        draw(stream, p);
        for (size_t k = 0; k < p->n && stream % 5 == 0; k++) /* mostly 0 */
            p->x[k] = vxs_random_below(&random, stream * MOST + k, 4) ? 0 : p->x[k];
        for (size_t k = 0; k < p->n && stream % 7 == 0; k++) /* of every size that there is */
            p->x[k] = k % 5 ? ldexp(p->x[k], (int)(stream * k % 2000) - 1050)
                            : copysign(DBL_MAX, p->x[k]);
        WORKS(vxs_median_distance(p->x, p->n, &median, &err), err);
        double by_pairs = brute_median(p->x, p->n, false);
        cr_assert(median == by_pairs, "%d: %g, not %g", (int)stream, median, by_pairs);
        double bandwidth = vxs_bandwidth_of(p->x, p->n, 0, room);
        cr_assert(bandwidth == (median > 0 ? median : brute_median(p->x, p->n, true)));
        cr_assert(vxs_bandwidth_of(p->x, p->n, 0.5, room) == 0.5);
    }
    WORKS(vxs_median_distance(p->x, 0, &median, &err), err);
    cr_assert(median == 0);
    free(p);
}

/* Large: neither the time nor the room of all pairs. */
Test(gauss, median_distance_of_many)
{
    vxs_error err = VXS_ERROR_INIT;
    size_t n = 200000;
    double *x = malloc(n * sizeof(*x)), median;
    for (size_t k = 0; k < n; k++)
        x[k] = (double)(k * 7919 % n); /* 0 ... n - 1: (n - d) pairs are d apart */
    WORKS(vxs_median_distance(x, n, &median, &err), err);
    double at = (double)n - 0.5 -
                sqrt(((double)n - 0.5) * ((double)n - 0.5) - (double)n * ((double)n - 1) / 2);
    cr_assert(fabs(median - at) <= 1, "%g, not %g", median, at);
    free(x);
}
