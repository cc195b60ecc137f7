/* units.c - what feature generation selects among: what all kinds have, and columns as they are. */
#include "design/units.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* ---- What all kinds have --------------------------------------------------------------------- */

vxs_status vxs_units_init(vxs_units *units, const vxs_units_kind *kind, const vxs_context *context,
                          vxs_design *design, const vxs_map *map, size_t count, vxs_error *err)
{
    units->kind = kind;
    if (context)
        units->context = *context;
    units->design = design;
    units->map = *map;
    units->n = vxs_design_rows(design);
    units->p = vxs_design_columns(design);
    units->count = count;
    units->room = vxs_alloc(units->n, 2 * sizeof(*units->room), err);
    vxs_status status = units->room ? vxs_design_measure(design, err) : VXS_FAILED;
    if (status)
        return status;
    units->read_before = vxs_design_read(design);
    return VXS_OK;
}

vxs_status vxs_units_make_sums(vxs_units *units, vxs_error *err)
{
    units->sums = vxs_alloc(units->p, sizeof(*units->sums), err);
    return units->sums ? VXS_OK : VXS_FAILED;
}

void vxs_units_free(vxs_units *units)
{
    if (!units)
        return;
    if (units->kind && units->kind->release)
        units->kind->release(units);
    free(units->room);
    free(units->sums);
    free(units);
}

size_t vxs_units_rows(const vxs_units *units)
{
    return units->n;
}

size_t vxs_units_count(const vxs_units *units)
{
    return units->count;
}

size_t vxs_units_width(const vxs_units *units, size_t unit)
{
    return units->kind->width ? units->kind->width(units, unit) : vxs_map_width(&units->map);
}

size_t vxs_units_feature(const vxs_units *units, size_t unit, size_t k, double *factor)
{
    size_t feature[2];
    if (units->kind->feature)
        return units->kind->feature(units, unit, k, factor);
    vxs_map_features(&units->map, units->p, unit, feature);
    *factor = 1;
    return feature[0];
}

void vxs_units_range(const vxs_units *units, size_t feature, double *low, double *high)
{
    *low = 0;
    *high = 1;
    if (units->kind->range)
        units->kind->range(units, feature, low, high);
}

void vxs_units_fetch(vxs_units *units, size_t unit, double *block)
{
    size_t feature[2];
    double low, high;
    if (units->kind->fetch) {
        units->kind->fetch(units, unit, block);
        return;
    }
    vxs_map_features(&units->map, units->p, unit, feature);
    vxs_units_range(units, feature[0], &low, &high);
    vxs_design_fetch(units->design, feature, feature[0] == feature[1] ? 1 : 2, units->room);
    vxs_map_columns(&units->map, units->p, unit, units->room,
                    units->room + (feature[0] == feature[1] ? 0 : units->n), low, high, units->n,
                    block);
}

vxs_status vxs_units_best(vxs_units *units, const double *v, size_t most, vxs_scored *best,
                          size_t *count, vxs_error *err)
{
    vxs_top top;
    if (vxs_top_init(&top, most < units->count ? most : units->count, err))
        return VXS_FAILED;
    vxs_status status = top.most > 0 ? units->kind->best(units, v, &top, err) : VXS_OK;
    if (!status) {
        vxs_top_sort(&top);
        if (top.count > 0)
            memcpy(best, top.heap, top.count * sizeof(*best));
        *count = top.count;
    }
    vxs_top_release(&top);
    return status;
}

vxs_units_work vxs_units_worked(const vxs_units *units)
{
    vxs_units_work work = units->work;
    uint64_t read = vxs_design_read(units->design) - units->read_before;
    if (!units->counted && units->p > 0)
        work.passes = (double)read / (double)units->p;
    return work;
}

/* ---- Features one by one --------------------------------------------------------------------- */

/* Columns that are fetched at a time: at most so many, and about 4 MB of them; large, as threads
 * wait for each other after each block. */
#define MOST_COLUMNS ((size_t)4096)
#define BLOCK_VALUES ((size_t)1 << 19)

vxs_status vxs_units_visit(vxs_units *units, vxs_visit visit, const double *v, vxs_error *err)
{
    size_t n = units->n, p = units->p, wanted = BLOCK_VALUES / (n + 1) + 1;
    size_t columns = wanted < MOST_COLUMNS ? wanted : MOST_COLUMNS;
    int threads = vxs_design_threads(units->design);
    size_t *set = vxs_alloc(columns, sizeof(*set), err);
    double *block = set ? vxs_alloc(columns, vxs_times(n, sizeof(*block)), err) : NULL;
    vxs_status status = block ? VXS_OK : VXS_FAILED;
    for (size_t first = 0; first < p && !status; first += columns) {
        size_t count = p - first < columns ? p - first : columns;
        for (size_t k = 0; k < count; k++)
            set[k] = first + k;
        vxs_design_fetch(units->design, set, count, block);
#pragma omp parallel for num_threads(threads) schedule(static)
        for (size_t k = 0; k < count; k++)
            visit(units, first + k, block + k * n, v);
        status = vxs_check_interrupted(&units->context, err);
    }
    free(block);
    free(set);
    return status;
}

vxs_status vxs_units_best_visited(vxs_units *units, vxs_visit visit, const double *v, vxs_top *top,
                                  vxs_error *err)
{
    vxs_status status = vxs_units_visit(units, visit, v, err);
    for (size_t j = 0; j < units->p && !status; j++)
        (void)vxs_top_offer(top, j, units->sums[j]);
    return status;
}

/* ---- Columns as they are --------------------------------------------------------------------- */

static vxs_status best_columns(vxs_units *units, const double *v, vxs_top *top, vxs_error *err)
{
    vxs_design_scan(units->design, v, 1, units->sums);
    for (size_t j = 0; j < units->p; j++)
        (void)vxs_top_offer(top, j, units->sums[j] * units->sums[j]);
    return vxs_check_interrupted(&units->context, err);
}

static const vxs_units_kind columns_kind = { .best = best_columns };

static vxs_status columns_new(const vxs_context *context, vxs_design *design, const vxs_map *map,
                              vxs_units **units, vxs_error *err)
{
    vxs_units *made = vxs_alloc(1, sizeof(*made), err);
    if (!made)
        return VXS_FAILED;
    vxs_status status =
        vxs_units_init(made, &columns_kind, context, design, map, vxs_design_columns(design), err);
    if (!status)
        status = vxs_units_make_sums(made, err);
    if (status) {
        vxs_units_free(made);
        return status;
    }
    *units = made;
    return VXS_OK;
}

/* ---- The whole ------------------------------------------------------------------------------- */

/* Bytes that pairs may hold their columns in. */
#define PAIRS_LIMIT ((size_t)1 << 31)

static vxs_status check_map(const vxs_map *map, size_t p, vxs_error *err)
{
    if (map->kind == VXS_MAP_GAUSS && !(map->bandwidth > 0 && vxs_gauss_rate(map) < INFINITY))
        return vxs_fail(err, VXS_MISUSE, "a bandwidth must be above 0, not %g", map->bandwidth);
    if (map->kind != VXS_MAP_POLY2)
        return VXS_OK;
    if (!(map->gamma > 0 && map->gamma < INFINITY))
        return vxs_fail(err, VXS_MISUSE, "gamma must be above 0, not %g", map->gamma);
    if (!(map->constant >= 0 && map->constant < INFINITY))
        return vxs_fail(err, VXS_MISUSE, "the constant of a kernel must be 0 or more, not %g",
                        map->constant);
    if (vxs_map_count(map, p) == SIZE_MAX)
        return vxs_fail(err, VXS_MISUSE, "%zu features have more pairs than can be numbered", p);
    return VXS_OK;
}

vxs_status vxs_units_new(const vxs_context *context, vxs_design *design, const vxs_map *map,
                         vxs_units **units, vxs_error *err)
{
    if (!design || !map)
        return vxs_fail(err, VXS_MISUSE, "units have no %s", design ? "map" : "design");
    vxs_status status = check_map(map, vxs_design_columns(design), err);
    if (status)
        return status;
    switch (map->kind) {
    case VXS_MAP_NONE:
        return columns_new(context, design, map, units, err);
    case VXS_MAP_POLY2:
        return vxs_units_pairs_new(context, design, map, PAIRS_LIMIT, units, err);
    case VXS_MAP_GAUSS:
        return vxs_units_gauss_new(context, design, map, units, err);
    case VXS_MAP_HIK:
        return vxs_units_steps_new(context, design, map, units, err);
    default:
        return vxs_fail(err, VXS_MISUSE, "there is no map number %d", map->kind);
    }
}
