/* gauss.c - sums of Gaussians in one dimension.
 *
 * With u and s in bandwidths from a center, exp(-(s - u)^2 / 2) is the sum over k of a_k(s) a_k(u),
 * a_k(t) = exp(-t^2 / 2) t^k / sqrt(k!). By Cauchy-Schwarz the remainder after K terms is at most
 * the geometric mean of the tails P(k >= K) of Poisson distributions with means s^2 and u^2. One
 * moment per k therefore gives the sum at every s: the cost is linear in the number of points,
 * without sorting, and stable, since every |a_k| is at most 1.
 *
 * Points too far apart for one series are sorted and divided into boxes; each box has a series of
 * its own with all points that are near enough to contribute. */
#include "design/gauss.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* Half the range, in bandwidths, of a single series: VXS_SERIES_TERMS terms suffice up to here, and
 * boxes are faster beyond. */
static const double SINGLE = 7;
/* Half the width of a box, and the distance from a box at which points are negligible: exp(-7.2^2 /
 * 2) is 6e-12. */
static const double HALF_BOX = 2.5, REACH = 7.2;
/* Tails sqrt(P(k >= 44 | 2.5^2) P(k >= 44 | 9.7^2)) are below 1e-11. */
enum { BOX_TERMS = 44 };

/* Number of terms with a remainder of at most 1e-11, from Poisson tails for r from 0 to 7, where it
 * is 105. */
static size_t terms_for(double r)
{
    return (size_t)(r * r + 6.5 * r + 9) + 1;
}

size_t vxs_padded(size_t n)
{
    return (n + VXS_POINTS - 1) / VXS_POINTS * VXS_POINTS;
}

vxs_status vxs_gauss_workspace_init(vxs_gauss_workspace *workspace, size_t n, size_t m,
                                    vxs_error *err)
{
    size_t wide = vxs_padded(n), high = vxs_padded(m);
    *workspace = (vxs_gauss_workspace){ .run = vxs_choose_exponentials() };
    workspace->u = vxs_alloc(vxs_times(3, wide + high), sizeof(*workspace->u), err);
    workspace->sources = workspace->u ? vxs_alloc(n + m, sizeof(*workspace->sources), err) : NULL;
    if (!workspace->sources) {
        vxs_gauss_workspace_release(workspace);
        return VXS_FAILED;
    }
    workspace->w = workspace->u + wide;
    workspace->u_bell = workspace->w + wide;
    workspace->s = workspace->u_bell + wide;
    workspace->s_bell = workspace->s + high;
    workspace->sums = workspace->s_bell + high;
    workspace->targets = workspace->sources + n;
    return VXS_OK;
}

void vxs_gauss_workspace_release(vxs_gauss_workspace *workspace)
{
    free(workspace->u);
    free(workspace->sources);
    *workspace = (vxs_gauss_workspace){ .run = NULL };
}

/* ---- One series ------------------------------------------------------------------------------ */

typedef struct {
    size_t n, m;  /* sources and targets */
    double scale; /* bound on the distance from the center */
    size_t terms;
    bool same; /* targets equal sources */
} series_job;

/* Costs in units of one term at one point: an exponential of the direct sum 12, starting and ending
 * a term 36, the overhead 400. For normal values and a bandwidth of one standard deviation the
 * series is faster from 8 points on. Measured by `make kernel-figures`. */
static bool is_direct_faster(vxs_gauss_algorithm algorithm, const series_job *p)
{
    size_t n = vxs_padded(p->n), m = vxs_padded(p->m);
    if (algorithm != VXS_GAUSS_FASTER)
        return algorithm == VXS_GAUSS_DIRECT;
    return 12 * p->n * m < p->terms * (n + m + 36) + 400;
}

static void sum_series(vxs_gauss_workspace *workspace, const series_job *p)
{
    double moments[VXS_SERIES_TERMS], factor = 1;
    size_t n = vxs_padded(p->n), m = vxs_padded(p->m);
    workspace->run->bells(workspace->u, n, workspace->u_bell);
    if (!p->same)
        workspace->run->bells(workspace->s, m, workspace->s_bell);
    workspace->run->collect(workspace->u, workspace->w, workspace->u_bell, n, p->scale, p->terms,
                            moments);
    for (size_t k = 0; k < p->terms; k++) {
        moments[k] *= factor;
        factor *= p->scale * p->scale / (double)(k + 1);
    }
    workspace->run->evaluate(p->same ? workspace->u : workspace->s,
                             p->same ? workspace->u_bell : workspace->s_bell, m, p->scale, p->terms,
                             moments, workspace->sums);
}

static void pad(double *values, size_t count)
{
    memset(values + count, 0, (vxs_padded(count) - count) * sizeof(*values));
}

/* Requires u, w and s; writes the sums to `sums`. */
static void sum_job(vxs_gauss_workspace *workspace, const series_job *p)
{
    pad(workspace->u, p->n);
    pad(workspace->w, p->n);
    if (!p->same)
        pad(workspace->s, p->m);
    if (is_direct_faster(workspace->algorithm, p))
        workspace->run->sums(workspace->u, workspace->w, p->n,
                             p->same ? workspace->u : workspace->s, vxs_padded(p->m),
                             workspace->sums);
    else
        sum_series(workspace, p);
}

/* ---- Points close together ------------------------------------------------------------------- */

/* Extends the range by x; returns whether all values are finite. */
static bool extend_range(const double *x, size_t n, double *least, double *most)
{
    double zeros = 0;
    for (size_t l = 0; l < n; l++) {
        *least = x[l] < *least ? x[l] : *least;
        *most = x[l] > *most ? x[l] : *most;
        zeros += 0 * x[l];
    }
    return zeros == 0;
}

/* The result when a target, a source or the bandwidth is NaN. */
static void fill_nan(double *g, size_t m)
{
    for (size_t j = 0; j < m; j++)
        g[j] = NAN;
}

static void sum_one_series(vxs_gauss_workspace *workspace, const double *x, const double *q,
                           const double *at, double center, double bandwidth, const series_job *p,
                           double *g)
{
    for (size_t l = 0; l < p->n; l++) {
        workspace->u[l] = (x[l] - center) / bandwidth;
        workspace->w[l] = q[l];
    }
    for (size_t j = 0; j < p->m && !p->same; j++)
        workspace->s[j] = (at[j] - center) / bandwidth;
    sum_job(workspace, p);
    memcpy(g, workspace->sums, p->m * sizeof(*g));
}

/* ---- Points far apart ------------------------------------------------------------------------ */

static int compare_points(const void *a, const void *b)
{
    const vxs_point *left = a, *right = b;
    if (left->at != right->at)
        return left->at < right->at ? -1 : 1;
    return (left->index > right->index) - (left->index < right->index);
}

static void sort(const double *x, size_t n, vxs_point *sources)
{
    for (size_t l = 0; l < n; l++)
        sources[l] = (vxs_point){ .at = x[l], .index = l };
    qsort(sources, n, sizeof(*sources), compare_points);
}

/* Computes the sums at targets [first, last) from sources [low, high). Differences are relative to
 * the center of the box, so that they are as exact as the values. */
static void sum_box(vxs_gauss_workspace *workspace, const vxs_point *sources,
                    const vxs_point *targets, const double *q, double bandwidth,
                    const series_job *p)
{
    double center = targets[0].at / 2 + targets[p->m - 1].at / 2;
    for (size_t l = 0; l < p->n; l++) {
        workspace->u[l] = (sources[l].at - center) / bandwidth;
        workspace->w[l] = q[sources[l].index];
    }
    for (size_t j = 0; j < p->m; j++)
        workspace->s[j] = (targets[j].at - center) / bandwidth;
    sum_job(workspace, p);
}

static void sum_boxes(vxs_gauss_workspace *workspace, const double *x, const double *q, size_t n,
                      const double *at, size_t m, bool same, double bandwidth, double *g)
{
    const vxs_point *sources = workspace->sources, *targets = same ? sources : workspace->targets;
    size_t low = 0, high = 0;
    sort(x, n, workspace->sources);
    if (!same)
        sort(at, m, workspace->targets);
    for (size_t first = 0, last = 0; first < m; first = last) {
        double start = targets[first].at;
        while (last < m && targets[last].at - start <= 2 * HALF_BOX * bandwidth)
            last++;
        while (low < n && start - sources[low].at > REACH * bandwidth)
            low++;
        high = high > low ? high : low;
        while (high < n && sources[high].at - targets[last - 1].at <= REACH * bandwidth)
            high++;
        series_job p = {
            .n = high - low, .m = last - first, .scale = HALF_BOX + REACH, .terms = BOX_TERMS
        };
        sum_box(workspace, sources + low, targets + first, q, bandwidth, &p);
        for (size_t j = 0; j < p.m; j++)
            g[targets[first + j].index] = workspace->sums[j];
    }
}

/* ---- Entry points ---------------------------------------------------------------------------- */

void vxs_gauss_sums_in(vxs_gauss_workspace *workspace, const double *x, const double *q, size_t n,
                       const double *at, size_t m, double bandwidth, double *g)
{
    bool same = at == x && n == m;
    if (n == 0)
        memset(g, 0, m * sizeof(*g));
    if (n == 0 || m == 0)
        return;
    double least = x[0], most = x[0];
    bool finite = extend_range(x, n, &least, &most);
    if (!same)
        finite = extend_range(at, m, &least, &most) && finite;
    if (!finite || !(bandwidth > 0)) {
        fill_nan(g, m);
        return;
    }
    double r = (most / 2 - least / 2) / bandwidth;
    if (r > SINGLE) {
        sum_boxes(workspace, x, q, n, at, m, same, bandwidth, g);
        return;
    }
    series_job p = { .n = n, .m = m, .scale = r > 1 ? r : 1, .terms = terms_for(r), .same = same };
    sum_one_series(workspace, x, q, at, least / 2 + most / 2, bandwidth, &p, g);
}

vxs_status vxs_gauss_sums(const double *x, const double *q, size_t n, const double *at, size_t m,
                          double bandwidth, double *g, vxs_error *err)
{
    vxs_gauss_workspace workspace;
    if (!(bandwidth > 0))
        return vxs_fail(err, VXS_MISUSE, "a bandwidth must be above 0, not %g", bandwidth);
    if (vxs_gauss_workspace_init(&workspace, n, m, err))
        return VXS_FAILED;
    vxs_gauss_sums_in(&workspace, x, q, n, at, m, bandwidth, g);
    vxs_gauss_workspace_release(&workspace);
    return VXS_OK;
}
