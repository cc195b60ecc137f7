/* blocks.c - feature blocks: functions common to all kinds, and blocks of single columns. */
#include "design/blocks.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* ---- Common to all kinds --------------------------------------------------------------------- */

vxs_status vxs_blocks_init(vxs_blocks *blocks, const vxs_blocks_kind *kind,
                           const vxs_context *context, vxs_design *design,
                           const vxs_feature_map *map, size_t count, vxs_error *err)
{
    blocks->kind = kind;
    if (context)
        blocks->context = *context;
    blocks->design = design;
    blocks->map = *map;
    blocks->n = vxs_design_rows(design);
    blocks->p = vxs_design_columns(design);
    blocks->count = count;
    blocks->workspace = vxs_alloc(blocks->n, 2 * sizeof(*blocks->workspace), err);
    vxs_status status = blocks->workspace ? vxs_design_measure(design, err) : VXS_FAILED;
    if (status)
        return status;
    blocks->read_before = vxs_design_read(design);
    return VXS_OK;
}

vxs_status vxs_blocks_allocate_sums(vxs_blocks *blocks, vxs_error *err)
{
    blocks->sums = vxs_alloc(blocks->p, sizeof(*blocks->sums), err);
    return blocks->sums ? VXS_OK : VXS_FAILED;
}

/* Of a product of norms: what sums of products leave of columns that covariates explain. */
#define ROUNDING 1e-12

void vxs_blocks_scan(vxs_blocks *blocks, const double *v)
{
    const double *norms = vxs_design_norms(blocks->design);
    double square = 0;
    for (size_t i = 0; i < blocks->n; i++)
        square += v[i] * v[i];
    double least = ROUNDING * sqrt(square);
    vxs_design_scan(blocks->design, v, 1, blocks->sums);
    for (size_t j = 0; j < blocks->p; j++)
        if (fabs(blocks->sums[j]) <= least * norms[j])
            blocks->sums[j] = 0;
}

void vxs_blocks_free(vxs_blocks *blocks)
{
    if (!blocks)
        return;
    if (blocks->kind && blocks->kind->release)
        blocks->kind->release(blocks);
    free(blocks->workspace);
    free(blocks->sums);
    free(blocks);
}

size_t vxs_blocks_rows(const vxs_blocks *blocks)
{
    return blocks->n;
}

size_t vxs_blocks_count(const vxs_blocks *blocks)
{
    return blocks->count;
}

bool vxs_blocks_are_groups(const vxs_blocks *blocks)
{
    return blocks->kind->scores != NULL;
}

size_t vxs_blocks_width(const vxs_blocks *blocks, size_t index)
{
    return blocks->kind->width ? blocks->kind->width(blocks, index)
                               : vxs_feature_map_width(&blocks->map);
}

size_t vxs_blocks_feature(const vxs_blocks *blocks, size_t index, size_t k, double *factor)
{
    size_t feature[2];
    if (blocks->kind->feature)
        return blocks->kind->feature(blocks, index, k, factor);
    vxs_feature_map_features(&blocks->map, blocks->p, index, feature);
    *factor = 1;
    return feature[0];
}

void vxs_blocks_range(const vxs_blocks *blocks, size_t feature, double *low, double *high)
{
    *low = 0;
    *high = 1;
    if (blocks->kind->range)
        blocks->kind->range(blocks, feature, low, high);
}

void vxs_blocks_fetch(vxs_blocks *blocks, size_t index, double *block)
{
    size_t feature[2];
    double low, high;
    if (blocks->kind->fetch) {
        blocks->kind->fetch(blocks, index, block);
        return;
    }
    vxs_feature_map_features(&blocks->map, blocks->p, index, feature);
    vxs_blocks_range(blocks, feature[0], &low, &high);
    vxs_design_fetch(blocks->design, feature, feature[0] == feature[1] ? 1 : 2, blocks->workspace);
    vxs_feature_map_columns(&blocks->map, blocks->p, index, blocks->workspace,
                            blocks->workspace + (feature[0] == feature[1] ? 0 : blocks->n), low,
                            high, blocks->n, block);
}

vxs_status vxs_blocks_best(vxs_blocks *blocks, const double *v, size_t most, vxs_scored *best,
                           size_t *count, vxs_error *err)
{
    vxs_top top;
    if (vxs_top_init(&top, most < blocks->count ? most : blocks->count, err))
        return VXS_FAILED;
    vxs_status status = top.most > 0 ? blocks->kind->best(blocks, v, &top, err) : VXS_OK;
    if (!status) {
        vxs_top_sort(&top);
        if (top.count > 0)
            memcpy(best, top.heap, top.count * sizeof(*best));
        *count = top.count;
    }
    vxs_top_release(&top);
    return status;
}

void vxs_blocks_scores(vxs_blocks *blocks, const double *v, const bool *requested, double *scores)
{
    blocks->kind->scores(blocks, v, requested, scores);
}

void vxs_blocks_norms(const vxs_blocks *blocks, double *norms)
{
    blocks->kind->norms(blocks, norms);
}

vxs_blocks_work vxs_blocks_get_work(const vxs_blocks *blocks)
{
    vxs_blocks_work work = blocks->work;
    uint64_t read = vxs_design_read(blocks->design) - blocks->read_before;
    if (!blocks->counted && blocks->p > 0)
        work.passes = (double)read / (double)blocks->p;
    return work;
}

/* ---- Visiting all features ------------------------------------------------------------------- */

/* Columns per fetch: at most this many, and about 4 MB; large, since threads synchronize after
 * each. */
#define MAX_COLUMNS  ((size_t)4096)
#define BLOCK_VALUES ((size_t)1 << 19)

vxs_status vxs_blocks_visit(vxs_blocks *blocks, vxs_visit visit, const double *v, vxs_error *err)
{
    size_t n = blocks->n, p = blocks->p, required = BLOCK_VALUES / (n + 1) + 1;
    size_t columns = required < MAX_COLUMNS ? required : MAX_COLUMNS;
    int threads = vxs_design_threads(blocks->design);
    size_t *set = vxs_alloc(columns, sizeof(*set), err);
    double *block = set ? vxs_alloc(columns, vxs_times(n, sizeof(*block)), err) : NULL;
    vxs_status status = block ? VXS_OK : VXS_FAILED;
    for (size_t first = 0; first < p && !status; first += columns) {
        size_t count = p - first < columns ? p - first : columns;
        for (size_t k = 0; k < count; k++)
            set[k] = first + k;
        vxs_design_fetch(blocks->design, set, count, block);
#pragma omp parallel for num_threads(threads) schedule(static)
        for (size_t k = 0; k < count; k++)
            visit(blocks, first + k, block + k * n, v);
        status = vxs_check_interrupted(&blocks->context, err);
    }
    free(block);
    free(set);
    return status;
}

vxs_status vxs_blocks_best_visited(vxs_blocks *blocks, vxs_visit visit, const double *v,
                                   vxs_top *top, vxs_error *err)
{
    vxs_status status = vxs_blocks_visit(blocks, visit, v, err);
    for (size_t j = 0; j < blocks->p && !status; j++)
        (void)vxs_top_offer(top, j, blocks->sums[j]);
    return status;
}

/* ---- Single columns -------------------------------------------------------------------------- */

static vxs_status best_columns(vxs_blocks *blocks, const double *v, vxs_top *top, vxs_error *err)
{
    vxs_blocks_scan(blocks, v);
    for (size_t j = 0; j < blocks->p; j++)
        (void)vxs_top_offer(top, j, blocks->sums[j] * blocks->sums[j]);
    return vxs_check_interrupted(&blocks->context, err);
}

static const vxs_blocks_kind columns_kind = { .best = best_columns };

static vxs_status columns_new(const vxs_context *context, vxs_design *design,
                              const vxs_feature_map *map, vxs_blocks **blocks, vxs_error *err)
{
    vxs_blocks *result = vxs_alloc(1, sizeof(*result), err);
    if (!result)
        return VXS_FAILED;
    vxs_status status = vxs_blocks_init(result, &columns_kind, context, design, map,
                                        vxs_design_columns(design), err);
    if (!status)
        status = vxs_blocks_allocate_sums(result, err);
    if (status) {
        vxs_blocks_free(result);
        return status;
    }
    *blocks = result;
    return VXS_OK;
}

/* ---- Constructor ----------------------------------------------------------------------------- */

/* Memory limit of the stored columns of pairs, in bytes. */
#define PAIRS_LIMIT ((size_t)1 << 31)

static vxs_status check_map(const vxs_feature_map *map, size_t p, vxs_error *err)
{
    if (map->kind == VXS_FEATURE_MAP_GAUSS &&
        !(map->bandwidth > 0 && map->bandwidth <= VXS_LARGEST &&
          vxs_gauss_frequency(map) < INFINITY))
        return vxs_fail(err, VXS_MISUSE, "a bandwidth must be above 0, not %g", map->bandwidth);
    if (map->kind != VXS_FEATURE_MAP_POLY2)
        return VXS_OK;
    vxs_status status = vxs_number_check("gamma", map->gamma, 0, true, err);
    if (!status)
        status = vxs_number_check("coef0 of a kernel", map->coef0, 0, false, err);
    if (status)
        return status;
    if (vxs_feature_map_count(map, p) == SIZE_MAX)
        return vxs_fail(err, VXS_MISUSE, "%zu features have more pairs than can be numbered", p);
    return VXS_OK;
}

vxs_status vxs_blocks_new(const vxs_context *context, vxs_design *design,
                          const vxs_feature_map *map, vxs_blocks **blocks, vxs_error *err)
{
    vxs_status status = VXS_GIVEN(err, { "design", design }, { "map", map }, { "blocks", blocks });
    if (!status)
        status = vxs_choice_check("feature map", map->kind, VXS_FEATURE_MAP_HIK + 1, err);
    if (!status)
        status = check_map(map, vxs_design_columns(design), err);
    if (status)
        return status;
    switch (map->kind) {
    case VXS_FEATURE_MAP_NONE:
        return columns_new(context, design, map, blocks, err);
    case VXS_FEATURE_MAP_POLY2:
        return vxs_blocks_pairs_new(context, design, map, PAIRS_LIMIT, blocks, err);
    case VXS_FEATURE_MAP_GAUSS:
        return vxs_blocks_gauss_new(context, design, map, blocks, err);
    default:
        return vxs_blocks_hik_new(context, design, map, blocks, err);
    }
}
