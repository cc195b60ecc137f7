/* units_gauss.c - the additive Gaussian kernel: each feature is 11 columns, a constant, cosines and
 * sines. Their products with v are the parts of the sum of v times powers of one complex number a
 * subject. */
#include "design/units.h"

#include <math.h>
#include <stdlib.h>

typedef struct {
    vxs_units units;
    double factors[VXS_HARMONICS + 1];
} waves;

static void score_feature(vxs_units *units, size_t feature, const double *x, const double *v)
{
    const waves *w = (const waves *)units;
    double even[VXS_HARMONICS + 1] = { 0 }, odd[VXS_HARMONICS + 1] = { 0 }, score;
    for (size_t i = 0; i < units->n; i++) {
        double angle = vxs_gauss_angle * (x[i] / units->map.bandwidth);
        double c = cos(angle), s = sin(angle), a = v[i], b = 0;
        even[0] += a;
        for (int m = 1; m <= VXS_HARMONICS; m++) {
            double turned = a * c - b * s;
            b = a * s + b * c;
            a = turned;
            even[m] += a;
            odd[m] += b;
        }
    }
    score = w->factors[0] * w->factors[0] * even[0] * even[0];
    for (int m = 1; m <= VXS_HARMONICS; m++)
        score += w->factors[m] * w->factors[m] * (even[m] * even[m] + odd[m] * odd[m]);
    units->sums[feature] = score;
}

static vxs_status best(vxs_units *units, const double *v, vxs_top *top, vxs_error *err)
{
    return vxs_units_best_visited(units, score_feature, v, top, err);
}

static const vxs_units_kind kind = { .best = best };

vxs_status vxs_units_gauss_new(const vxs_context *context, vxs_design *design, const vxs_map *map,
                               vxs_units **units, vxs_error *err)
{
    waves *made = vxs_alloc(1, sizeof(*made), err);
    if (!made)
        return VXS_FAILED;
    vxs_status status =
        vxs_units_init(&made->units, &kind, context, design, map, vxs_design_columns(design), err);
    if (!status)
        status = vxs_units_make_sums(&made->units, err);
    if (status) {
        vxs_units_free(&made->units);
        return status;
    }
    vxs_gauss_factors(made->factors);
    *units = &made->units;
    return VXS_OK;
}
