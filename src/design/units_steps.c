/* units_steps.c - the histogram-intersection kernel: each feature is 100 columns that are steps.
 *
 * Column k is 1 / 10 for all subjects that have come k hundredths of the way or further, so its
 * product with v is a tenth of the sum over the end of a histogram of v: n additions a feature, and
 * 100. */
#include "design/design.h"
#include "design/units.h"

#include <math.h>
#include <stdlib.h>

typedef struct {
    vxs_units units;
    double *low, *high; /* of features */
} steps;

/* ---- Scores ---------------------------------------------------------------------------------- */

static void score_feature(vxs_units *units, size_t feature, const double *x, const double *v)
{
    const steps *w = (const steps *)units;
    double histogram[VXS_MAP_HIK_WIDTH + 1] = { 0 }, end = 0, score = 0;
    for (size_t i = 0; i < units->n; i++)
        histogram[vxs_map_step(x[i], w->low[feature], w->high[feature])] += v[i];
    for (int k = VXS_MAP_HIK_WIDTH; k > 0; k--) {
        end += histogram[k];
        score += end * end;
    }
    units->sums[feature] = score / VXS_MAP_HIK_WIDTH;
}

static vxs_status best(vxs_units *units, const double *v, vxs_top *top, vxs_error *err)
{
    return vxs_units_best_visited(units, score_feature, v, top, err);
}

/* ---- The whole ------------------------------------------------------------------------------- */

static void range(const vxs_units *units, size_t feature, double *low, double *high)
{
    const steps *w = (const steps *)units;
    *low = w->low[feature];
    *high = w->high[feature];
}

/* Over the rows that count. */
static void find_range(vxs_units *units, size_t feature, const double *x, const double *weights)
{
    steps *w = (steps *)units;
    double low = INFINITY, high = -INFINITY;
    for (size_t i = 0; i < units->n; i++) {
        if (weights && weights[i] == 0)
            continue;
        low = x[i] < low ? x[i] : low;
        high = x[i] > high ? x[i] : high;
    }
    w->low[feature] = low <= high ? low : 0;
    w->high[feature] = low <= high ? high : 0;
}

static void release(vxs_units *units)
{
    steps *w = (steps *)units;
    free(w->low);
    free(w->high);
}

static const vxs_units_kind kind = { .range = range, .best = best, .release = release };

static vxs_status prepare(steps *made, vxs_error *err)
{
    size_t p = made->units.p;
    vxs_status status = vxs_units_make_sums(&made->units, err);
    made->low = status ? NULL : vxs_alloc(p, sizeof(*made->low), err);
    made->high = made->low ? vxs_alloc(p, sizeof(*made->high), err) : NULL;
    const double *weights = made->units.design->weights;
    return made->high ? vxs_units_visit(&made->units, find_range, weights, err) : VXS_FAILED;
}

vxs_status vxs_units_steps_new(const vxs_context *context, vxs_design *design, const vxs_map *map,
                               vxs_units **units, vxs_error *err)
{
    steps *made = vxs_alloc(1, sizeof(*made), err);
    if (!made)
        return VXS_FAILED;
    vxs_status status =
        vxs_units_init(&made->units, &kind, context, design, map, vxs_design_columns(design), err);
    if (!status)
        status = prepare(made, err);
    if (status) {
        vxs_units_free(&made->units);
        return status;
    }
    *units = &made->units;
    return VXS_OK;
}
