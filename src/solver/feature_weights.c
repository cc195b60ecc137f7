/* feature_weights.c - selected feature blocks in a solution, and the weights of their features. */
#include "solver/feature_weights.h"

#include <math.h>
#include <stdlib.h>

static void free_outputs(vxs_weighted_outputs *o)
{
    if (o)
        free(o->row);
    free(o);
}

vxs_weighted_outputs *vxs_weighted_outputs_new(size_t n, size_t count, vxs_error *err)
{
    vxs_weighted_outputs *o = vxs_alloc(1, sizeof(*o), err);
    if (!o)
        return NULL;
    *o = (vxs_weighted_outputs){ .n = n, .count = count };
    o->row = vxs_alloc(count, (3 + n) * sizeof(*o->row), err);
    if (o->row)
        return o;
    free(o);
    return NULL;
}

void vxs_selected_free(vxs_selected *s)
{
    if (!s)
        return;
    free(s->block);
    free(s->start);
    free(s->weight);
    free(s->covariate_coefficients);
    free(s->refit_weight);
    free(s->alpha);
    free_outputs(s->outputs);
    free_outputs(s->refit_outputs);
    free(s);
}

vxs_selected *vxs_selected_new(size_t count, size_t columns, size_t covariate_count, bool retrained,
                               vxs_error *err)
{
    vxs_selected *s = vxs_alloc(1, sizeof(*s), err);
    if (!s)
        return NULL;
    s->count = count;
    s->block = vxs_alloc(count, sizeof(*s->block), err);
    s->start = vxs_alloc(count + 1, sizeof(*s->start), err);
    s->weight = vxs_alloc(columns, sizeof(*s->weight), err);
    s->covariate_coefficients = vxs_alloc(covariate_count, sizeof(*s->covariate_coefficients), err);
    s->refit_weight = retrained ? vxs_alloc(columns, sizeof(*s->refit_weight), err) : NULL;
    if (s->block && s->start && s->weight && s->covariate_coefficients &&
        (s->refit_weight || !retrained))
        return s;
    vxs_selected_free(s);
    return NULL;
}

/* Weights of features: sums over blocks, or with a nonlinear feature map the norm of the weights of
 * the mapped features that involve them. */
static void feature_weights(const vxs_blocks *blocks, const vxs_feature_map *map, size_t p,
                            const vxs_selected *s, double *feature)
{
    const double *weight = s->refit_weight ? s->refit_weight : s->weight;
    for (size_t k = 0; k < s->count; k++) {
        double square = 0, factor = 1;
        for (size_t c = s->start[k]; c < s->start[k + 1]; c++) {
            square += weight[c] * weight[c];
            if (map->kind != VXS_FEATURE_MAP_NONE)
                continue;
            size_t j = vxs_blocks_feature(blocks, s->block[k], c - s->start[k], &factor);
            feature[j] += factor * weight[c];
        }
        size_t end[2];
        if (map->kind == VXS_FEATURE_MAP_NONE)
            continue;
        vxs_feature_map_features(map, p, s->block[k], end);
        feature[end[0]] += square;
        feature[end[1]] += end[1] != end[0] ? square : 0;
    }
    for (size_t j = 0; j < p && map->kind != VXS_FEATURE_MAP_NONE; j++)
        feature[j] = sqrt(feature[j]);
}

vxs_status vxs_selection_features(const vxs_blocks *blocks, const vxs_feature_map *map, size_t p,
                                  const vxs_selected *s, vxs_solution *solution, vxs_error *err)
{
    size_t count = 0;
    double *feature = vxs_alloc(p, sizeof(*feature), err);
    if (!feature)
        return VXS_FAILED;
    feature_weights(blocks, map, p, s, feature);
    for (size_t j = 0; j < p; j++)
        count += feature[j] != 0;
    solution->index = vxs_alloc(count, sizeof(*solution->index), err);
    solution->weight = vxs_alloc(count, sizeof(*solution->weight), err);
    for (size_t j = 0; j < p && solution->index && solution->weight; j++)
        if (feature[j] != 0) {
            solution->index[solution->count] = j;
            solution->weight[solution->count++] = feature[j];
        }
    free(feature);
    return solution->index && solution->weight ? VXS_OK : VXS_FAILED;
}
