/* blocks_hik.c - the histogram-intersection kernel: each feature has 100 columns that are step
 * functions.
 *
 * Column k is 1 / 10 for all subjects at k hundredths of the range or above, so its inner product
 * with v is a tenth of a cumulative histogram of v: n + 100 additions per feature. */
#include "design/blocks.h"
#include "design/design.h"

#include <math.h>
#include <stdlib.h>

typedef struct {
    vxs_blocks blocks;
    double *low, *high; /* range of each feature */
} hik_blocks;

/* ---- Scores ---------------------------------------------------------------------------------- */

static void score_feature(vxs_blocks *blocks, size_t feature, const double *x, const double *v)
{
    const hik_blocks *w = (const hik_blocks *)blocks;
    double histogram[VXS_FEATURE_MAP_HIK_WIDTH + 1] = { 0 }, end = 0, score = 0;
    for (size_t i = 0; i < blocks->n; i++)
        histogram[vxs_feature_map_step(x[i], w->low[feature], w->high[feature])] += v[i];
    for (int k = VXS_FEATURE_MAP_HIK_WIDTH; k > 0; k--) {
        end += histogram[k];
        score += end * end;
    }
    blocks->sums[feature] = score / VXS_FEATURE_MAP_HIK_WIDTH;
}

static vxs_status best(vxs_blocks *blocks, const double *v, vxs_top *top, vxs_error *err)
{
    return vxs_blocks_best_visited(blocks, score_feature, v, top, err);
}

/* ---- Constructor ----------------------------------------------------------------------------- */

static void range(const vxs_blocks *blocks, size_t feature, double *low, double *high)
{
    const hik_blocks *w = (const hik_blocks *)blocks;
    *low = w->low[feature];
    *high = w->high[feature];
}

/* Range over the rows of positive weight. */
static void find_range(vxs_blocks *blocks, size_t feature, const double *x, const double *weights)
{
    hik_blocks *w = (hik_blocks *)blocks;
    double low = INFINITY, high = -INFINITY;
    for (size_t i = 0; i < blocks->n; i++) {
        if (weights && weights[i] == 0)
            continue;
        low = x[i] < low ? x[i] : low;
        high = x[i] > high ? x[i] : high;
    }
    w->low[feature] = low <= high ? low : 0;
    w->high[feature] = low <= high ? high : 0;
}

static void release(vxs_blocks *blocks)
{
    hik_blocks *w = (hik_blocks *)blocks;
    free(w->low);
    free(w->high);
}

static const vxs_blocks_kind kind = { .range = range, .best = best, .release = release };

static vxs_status prepare(hik_blocks *result, vxs_error *err)
{
    size_t p = result->blocks.p;
    vxs_status status = vxs_blocks_allocate_sums(&result->blocks, err);
    result->low = status ? NULL : vxs_alloc(p, sizeof(*result->low), err);
    result->high = result->low ? vxs_alloc(p, sizeof(*result->high), err) : NULL;
    const double *weights = result->blocks.design->weights;
    return result->high ? vxs_blocks_visit(&result->blocks, find_range, weights, err) : VXS_FAILED;
}

vxs_status vxs_blocks_hik_new(const vxs_context *context, vxs_design *design,
                              const vxs_feature_map *map, vxs_blocks **blocks, vxs_error *err)
{
    hik_blocks *result = vxs_alloc(1, sizeof(*result), err);
    if (!result)
        return VXS_FAILED;
    vxs_status status = vxs_blocks_init(&result->blocks, &kind, context, design, map,
                                        vxs_design_columns(design), err);
    if (!status)
        status = prepare(result, err);
    if (status) {
        vxs_blocks_free(&result->blocks);
        return status;
    }
    *blocks = &result->blocks;
    return VXS_OK;
}
