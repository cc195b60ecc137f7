/* match_measures.c - how well two maps on one grid agree.
 *
 * A and B are the voxels that the first and the second select, R the number of B.
 *
 *   Dice         2 |A and B| / (|A| + |B|); 1 if both are empty, as in stability
 *   ACC_AR       (2R - ME) / (2R), where ME is the number of voxels in exactly one of B and the R
 *                voxels of A with the largest absolute values (the structured kernel feature
 *                selection of the dissertation, section 4.4.1). Voxels that A lacks to R count as
 *                wrong, so that nothing found is 0, not 1/2; of equal values at the end of the R
 *                as many as are needed are taken by chance. It is the share of B among the R.
 *   precision    share of A at most the tolerance away from B
 *   sensitivity  share of B at most the tolerance away from A
 *
 * A distance is between centers of voxels. */
#include "report/match.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* Of distances, relative: affines have seven digits, and a voxel at the tolerance is within. */
#define ROUND_OFF 1e-5

/* ---- Voxels of both -------------------------------------------------------------------------- */

/* A mask has no signs. */
static bool has_signs(const vxs_match_pair *p, int s, size_t voxels)
{
    for (size_t v = 0; v < voxels; v++)
        if (p->selected[s][v] && p->map[s].values[v] < 0)
            return true;
    return false;
}

static void count_voxels(const vxs_match_pair *p, size_t voxels, vxs_match_volume *r)
{
    bool signs = has_signs(p, 0, voxels) && has_signs(p, 1, voxels);
    double size = vxs_grid_voxel_volume(&p->map[0].grid);
    for (size_t v = 0; v < voxels; v++) {
        bool both = p->selected[0][v] && p->selected[1][v];
        r->both += both;
        r->opposite += both && signs && (p->map[0].values[v] > 0) != (p->map[1].values[v] > 0);
        for (int s = 0; s < 2; s++)
            r->sides[s].voxels += p->selected[s][v];
    }
    double either = (double)(r->sides[0].voxels + r->sides[1].voxels);
    for (int s = 0; s < 2; s++)
        r->sides[s].volume = (double)r->sides[s].voxels * size;
    r->dice = either > 0 ? 2 * (double)r->both / either : 1;
}

static int falling(const void *a, const void *b)
{
    float left = *(const float *)a, right = *(const float *)b;
    return (left < right) - (left > right);
}

/* The R-th largest absolute value that the first selects; 0 if it selects fewer. */
static vxs_status find_least(const vxs_match_pair *p, size_t voxels, const vxs_match_volume *r,
                             float *least, vxs_error *err)
{
    size_t count = 0, target = r->sides[1].voxels;
    *least = 0;
    if (r->sides[0].voxels <= target)
        return VXS_OK;
    float *sizes = vxs_alloc(r->sides[0].voxels, sizeof(*sizes), err);
    if (!sizes)
        return VXS_FAILED;
    for (size_t v = 0; v < voxels; v++)
        if (p->selected[0][v])
            sizes[count++] = fabsf(p->map[0].values[v]);
    qsort(sizes, count, sizeof(*sizes), falling);
    *least = sizes[target - 1];
    free(sizes);
    return VXS_OK;
}

static vxs_status measure_acc_ar(const vxs_match_pair *p, size_t voxels, vxs_match_volume *r,
                                 vxs_error *err)
{
    double above = 0, tied = 0, right = 0, right_tied = 0, target = (double)r->sides[1].voxels;
    float least;
    r->acc_ar = NAN;
    if (r->sides[1].voxels == 0)
        return VXS_OK;
    vxs_status status = find_least(p, voxels, r, &least, err);
    for (size_t v = 0; v < voxels && !status; v++) {
        if (!p->selected[0][v])
            continue;
        float size = fabsf(p->map[0].values[v]);
        above += size > least;
        tied += size == least;
        right += size > least && p->selected[1][v];
        right_tied += size == least && p->selected[1][v];
    }
    if (tied > 0)
        right += right_tied * (target - above) / tied;
    if (!status)
        r->acc_ar = right / target;
    return status;
}

/* ---- Correlations ---------------------------------------------------------------------------- */

typedef struct {
    double value;
    size_t place;
} ranked;

static int rising(const void *a, const void *b)
{
    double left = ((const ranked *)a)->value, right = ((const ranked *)b)->value;
    return (left > right) - (left < right);
}

/* Replaces values by their ranks; equal ones get the mean of theirs. */
static vxs_status rank(double *values, size_t count, vxs_error *err)
{
    ranked *order = vxs_alloc(count, sizeof(*order), err);
    if (!order)
        return VXS_FAILED;
    for (size_t k = 0; k < count; k++)
        order[k] = (ranked){ values[k], k };
    qsort(order, count, sizeof(*order), rising);
    for (size_t k = 0, end; k < count; k = end) {
        for (end = k; end < count && order[end].value == order[k].value; end++)
            ;
        for (size_t j = k; j < end; j++)
            values[order[j].place] = ((double)k + (double)end - 1) / 2;
    }
    free(order);
    return VXS_OK;
}

static bool is_constant(const double *values, size_t count)
{
    for (size_t k = 1; k < count; k++)
        if (values[k] != values[0])
            return false;
    return true;
}

static double correlate(const double *a, const double *b, size_t count)
{
    double mean_a = 0, mean_b = 0, aa = 0, bb = 0, ab = 0;
    for (size_t k = 0; k < count; k++) {
        mean_a += a[k] / (double)count;
        mean_b += b[k] / (double)count;
    }
    for (size_t k = 0; k < count; k++) {
        aa += (a[k] - mean_a) * (a[k] - mean_a);
        bb += (b[k] - mean_b) * (b[k] - mean_b);
        ab += (a[k] - mean_a) * (b[k] - mean_b);
    }
    return fmax(-1, fmin(1, ab / sqrt(aa) / sqrt(bb)));
}

static const char *why_none(const double *a, const double *b, size_t count)
{
    bool first = is_constant(a, count), second = is_constant(b, count);
    return count < 2         ? "there are fewer than two voxels"
           : first && second ? "both have the same value in all these voxels"
           : first           ? "the first has the same value in all these voxels"
           : second          ? "the second has the same value in all these voxels"
                             : NULL;
}

/* The number of a label is no amount. */
static double amount(const vxs_match_pair *p, const vxs_match_volume *r, int s, size_t v)
{
    double value = (double)p->map[s].values[v];
    return r->sides[s].kind == VXS_MAP_LABELS ? value != 0 : value;
}

static vxs_status measure_correlations(const vxs_match_pair *p, size_t voxels, vxs_match_volume *r,
                                       vxs_error *err)
{
    size_t count = 0;
    for (size_t v = 0; v < voxels; v++)
        r->correlated += p->inside[v];
    double *a = vxs_alloc(r->correlated, sizeof(*a), err);
    double *b = vxs_alloc(r->correlated, sizeof(*b), err);
    vxs_status status = a && b ? VXS_OK : VXS_FAILED;
    for (size_t v = 0; v < voxels && !status; v++)
        if (p->inside[v]) {
            a[count] = amount(p, r, 0, v);
            b[count++] = amount(p, r, 1, v);
        }
    r->pearson = r->spearman = NAN;
    if (!status)
        r->no_correlation = why_none(a, b, count);
    if (!status && !r->no_correlation) {
        r->pearson = correlate(a, b, count);
        status = rank(a, count, err);
        if (!status)
            status = rank(b, count, err);
        if (!status)
            r->spearman = correlate(a, b, count);
    }
    free(b);
    free(a);
    return status;
}

/* ---- Distances ------------------------------------------------------------------------------- */

static void count_outside(const vxs_match_pair *p, int s, const double *distances, size_t voxels,
                          double tolerance, vxs_match_volume *r)
{
    vxs_match_side *side = &r->sides[s];
    for (size_t v = 0; v < voxels; v++)
        side->outside += p->selected[s][v] && !(distances[v] <= tolerance * (1 + ROUND_OFF));
    side->outside_volume = (double)side->outside * vxs_grid_voxel_volume(&p->map[s].grid);
    double within = (double)(side->voxels - side->outside);
    *(s == 0 ? &r->precision : &r->sensitivity) =
        side->voxels > 0 ? within / (double)side->voxels : NAN;
}

/* The voxel of the largest size of each cluster; of several, the one nearest to the center of
 * gravity, or else the first: the peak of a flat region is its middle. */
static vxs_status place_peaks(const vxs_volume *map, const vxs_clusters *clusters,
                              const double *distances, vxs_match_side *side, vxs_error *err)
{
    double *nearest = vxs_alloc(clusters->count, sizeof(*nearest), err);
    if (!nearest)
        return VXS_FAILED;
    for (size_t k = 0; k < clusters->count; k++)
        nearest[k] = INFINITY;
    for (size_t v = 0; v < vxs_grid_voxels(&map->grid); v++) {
        if (clusters->labels[v] == 0)
            continue;
        size_t k = (size_t)clusters->labels[v] - 1;
        const vxs_cluster *c = &clusters->rows[k];
        double index[3], at[3], square = 0;
        if ((double)map->values[v] != c->peak_value)
            continue;
        vxs_grid_index(&map->grid, v, index);
        vxs_grid_position(&map->grid, index, at);
        for (int d = 0; d < 3; d++)
            square += (at[d] - c->center[d]) * (at[d] - c->center[d]);
        if (square < nearest[k] * (1 - ROUND_OFF)) { /* sums are rounded, equal places are not */
            nearest[k] = square;
            side->peaks[k] = (vxs_match_peak){ .value = c->peak_value,
                                               .volume = c->volume,
                                               .distance = distances[v] };
            memcpy(side->peaks[k].at, at, sizeof(at));
        }
    }
    free(nearest);
    return VXS_OK;
}

static void sum_up_peaks(vxs_match_side *side)
{
    side->peak_mean = side->peak_most = NAN;
    if (side->peak_count == 0 || isinf(side->peaks[0].distance))
        return;
    side->peak_mean = side->peak_most = 0;
    for (size_t k = 0; k < side->peak_count; k++) {
        side->peak_mean += side->peaks[k].distance / (double)side->peak_count;
        side->peak_most = fmax(side->peak_most, side->peaks[k].distance);
    }
}

static vxs_status find_peaks(const vxs_volume *map, int connectivity, const double *distances,
                             vxs_match_side *side, vxs_error *err)
{
    vxs_clusters clusters;
    vxs_status status = side->kind == VXS_MAP_LABELS
                            ? vxs_regions_find(map, connectivity, &clusters, err)
                            : vxs_clusters_find(map, 0, connectivity, 1, &clusters, err);
    if (status)
        return status;
    side->peaks = vxs_alloc(clusters.count, sizeof(*side->peaks), err);
    side->peak_count = clusters.count;
    status = side->peaks ? place_peaks(map, &clusters, distances, side, err) : VXS_FAILED;
    if (!status)
        sum_up_peaks(side);
    vxs_clusters_release(&clusters);
    return status;
}

/* ---- The whole ------------------------------------------------------------------------------- */

static void clear_unselected(const vxs_match_pair *p, size_t voxels)
{
    for (int s = 0; s < 2; s++)
        for (size_t v = 0; v < voxels; v++)
            if (!p->selected[s][v])
                p->map[s].values[v] = 0;
}

vxs_status vxs_match_measure_pair(vxs_match_pair *p, double tolerance, int connectivity,
                                  vxs_match_volume *r, vxs_error *err)
{
    size_t voxels = vxs_grid_voxels(&p->map[0].grid);
    double *distances = vxs_alloc(voxels, sizeof(*distances), err);
    vxs_status status = distances ? VXS_OK : VXS_FAILED;
    count_voxels(p, voxels, r);
    if (!status)
        status = measure_acc_ar(p, voxels, r, err);
    if (!status)
        status = measure_correlations(p, voxels, r, err);
    clear_unselected(p, voxels);
    for (int s = 0; s < 2 && !status; s++) {
        status = vxs_voxel_distances(&p->map[0].grid, p->selected[s], p->selected[1 - s], distances,
                                     err);
        if (!status)
            count_outside(p, s, distances, voxels, tolerance, r);
        if (!status)
            status = find_peaks(&p->map[s], connectivity, distances, &r->sides[s], err);
    }
    free(distances);
    return status;
}

const char *vxs_match_undefined(const vxs_match_volume *m, vxs_match_measure measure)
{
    bool first = m->sides[0].voxels > 0, second = m->sides[1].voxels > 0;
    if (measure == VXS_MATCH_CORRELATION)
        return m->no_correlation;
    if (measure == VXS_MATCH_PRECISION)
        second = true;
    if (measure == VXS_MATCH_SENSITIVITY || measure == VXS_MATCH_ACC_AR)
        first = true;
    return first && second ? NULL
           : first         ? "the second selects no voxel"
           : second        ? "the first selects no voxel"
                           : "neither selects a voxel";
}
