/* Remembered scans: whatever was scanned before, what they say of a new point is true within its
 * doubt. */
#include "solver/saif/cached_correlations.h"
#include "tests/core/check.h"

enum { N = 60, P = 700 };

static void check_bounds(const vxs_cached_correlations *s, const float *x, const double *theta,
                         double level, double slack)
{
    const double *norms = vxs_design_norms(s->design);
    for (size_t j = 0; j < P; j++) {
        double truth = 0;
        for (size_t i = 0; i < N; i++)
            truth += (double)x[j * N + i] * theta[i];
        double off = fabs(truth - s->estimate[j]);
        cr_assert(off <= (double)s->error_bound[j] + 1e-11 * norms[j],
                  "column %zu: %g off, doubt %g", j, off, (double)s->error_bound[j]);
        cr_assert(level < 0 || s->error_bound[j] == 0 || fabs(truth) + slack * norms[j] < level,
                  "column %zu may reach the level and was not read", j);
    }
}

/* Points wander, as on a path, so that old scans say something of new ones; there are more of them
 * than places. */
static void wander(uint64_t stream)
{
    static float x[N * P];
    vxs_random random = { .seed = 9, .stream = stream };
    vxs_error err = VXS_ERROR_INIT;
    double theta[N];
    uint64_t at = 0;
    vxs_design *design;
    vxs_cached_correlations scans;
    for (size_t k = 0; k < (size_t)N * P; k++)
        x[k] = (float)(vxs_random_normal(&random, at++) * (k / N % 50 ? 1 : 100));
    memset(x + (size_t)7 * N, 0, N * sizeof(*x)); /* a column of nothing */
    for (size_t i = 0; i < N; i++)
        theta[i] = vxs_random_normal(&random, at++);
    WORKS(vxs_dense_new(x, N, P, 1, &design, &err), err);
    WORKS(vxs_cached_correlations_init(&scans, design, theta, &err), err);
    for (int step = 0; step < 40; step++) {
        double pace = step % 5 == 0 ? 1 : 0.05;
        for (size_t i = 0; i < N; i++)
            theta[i] = 0.97 * theta[i] + pace * vxs_random_normal(&random, at++);
        vxs_cached_correlations_estimate(&scans, theta);
        check_bounds(&scans, x, theta, -1, 0);
        double level = 3 * (double)(1 + step % 4) * sqrt(N), slack = step % 3 == 0 ? 0.1 : 0;
        vxs_cached_correlations_refresh(&scans, theta, level, slack);
        check_bounds(&scans, x, theta, level, slack);
    }
    vxs_cached_correlations_release(&scans);
    vxs_design_free(design);
}

Test(scans, bounds_hold_wherever_points_go)
{
    for (uint64_t stream = 0; stream < 20; stream++)
        wander(stream);
}
