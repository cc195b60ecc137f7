/* Remembered scans: whatever was scanned before, what they say of a new point is true within its
 * doubt, and columns that are not listed do not reach the level. */
#include "solver/saif/cached_correlations.h"
#include "tests/core/check.h"

enum { N = 60, P = 700 };

static void check_bounds(const vxs_cached_correlations *s, const float *x, const double *theta,
                         double level, double slack)
{
    const double *norms = vxs_design_norms(s->design);
    size_t next = 0;
    for (size_t j = 0; j < P; j++) {
        double truth = 0;
        for (size_t i = 0; i < N; i++)
            truth += (double)x[j * N + i] * theta[i];
        bool listed = next < s->near_count && s->near[next] == j;
        next += listed;
        if (!listed) {
            cr_assert(fabs(truth) < s->near_level, "column %zu reaches %g and is not listed", j,
                      s->near_level);
            cr_assert(level < 0 || fabs(truth) + slack * norms[j] < level,
                      "column %zu may reach the level and is not listed", j);
            continue;
        }
        double off = fabs(truth - s->estimate[j]);
        cr_assert(off <= (double)s->error_bound[j] + 1e-11 * norms[j],
                  "column %zu: %g off, doubt %g", j, off, (double)s->error_bound[j]);
        cr_assert(level < 0 || s->error_bound[j] == 0 || fabs(truth) + slack * norms[j] < level,
                  "column %zu may reach the level and was not read", j);
    }
    cr_assert(next == s->near_count, "a column is listed twice, or out of order");
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
        double level = 3 * (double)(1 + step % 4) * sqrt(N), slack = step % 3 == 0 ? 0.1 : 0;
        for (int lower = 1; lower < 4; lower++) { /* columns that are known stay known */
            vxs_cached_correlations_list(&scans, lower < 3 ? 2 * level / lower : 0);
            check_bounds(&scans, x, theta, -1, 0);
            cr_assert(lower == 1 || scans.error_bound[11] == 0);
            double truth = 0;
            for (size_t i = 0; i < N; i++)
                truth += (double)x[11 * N + i] * theta[i];
            vxs_cached_correlations_set(&scans, 11, truth);
        }
        cr_assert(scans.near_count == P);
        if (step % 2 == 0)
            vxs_cached_correlations_estimate(&scans, theta);
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
