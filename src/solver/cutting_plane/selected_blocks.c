/* selected_blocks.c - what rounds selected, as an answer: weights of units, learned anew where that
 * is asked for, and of the features that they are made of. */
#include "solver/cutting_plane/cutting_plane.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

void vxs_selected_free(vxs_selected *s)
{
    if (!s)
        return;
    free(s->unit);
    free(s->start);
    free(s->weight);
    free(s->free);
    free(s->retrained);
    free(s->alpha);
    free(s);
}

vxs_selected *vxs_selected_new(size_t count, size_t columns, size_t free_count, bool retrained,
                               vxs_error *err)
{
    vxs_selected *s = vxs_alloc(1, sizeof(*s), err);
    if (!s)
        return NULL;
    s->count = count;
    s->unit = vxs_alloc(count, sizeof(*s->unit), err);
    s->start = vxs_alloc(count + 1, sizeof(*s->start), err);
    s->weight = vxs_alloc(columns, sizeof(*s->weight), err);
    s->free = vxs_alloc(free_count, sizeof(*s->free), err);
    s->retrained = retrained ? vxs_alloc(columns, sizeof(*s->retrained), err) : NULL;
    if (s->unit && s->start && s->weight && s->free && (s->retrained || !retrained))
        return s;
    vxs_selected_free(s);
    return NULL;
}

typedef struct {
    size_t unit, place;
} chosen;

static int by_unit(const void *a, const void *b)
{
    const chosen *left = a, *right = b;
    return (left->unit > right->unit) - (left->unit < right->unit);
}

/* What rounds give a unit, for the columns that the pool has of it. */
static void add_weights(const vxs_generation *g, const vxs_round *h, size_t place, double *weight)
{
    const double *from = h->omega;
    for (size_t k = 0; k < h->count; k++) {
        size_t width = vxs_pool_width(&g->pool, h->place[k]);
        for (size_t c = 0; c < width && h->place[k] == place; c++)
            weight[c] += from[c];
        from += width;
    }
}

static vxs_status gather_weights(const vxs_generation *g, const chosen *order, vxs_selected *s,
                                 vxs_error *err)
{
    double *here = vxs_alloc(vxs_pool_columns(&g->pool), sizeof(*here), err);
    if (!here)
        return VXS_FAILED;
    for (size_t k = 0; k < s->count; k++) {
        size_t place = order[k].place;
        memset(here, 0, vxs_pool_width(&g->pool, place) * sizeof(*here));
        for (size_t h = 0; h < g->count; h++)
            add_weights(g, &g->rounds[h], place, here);
        s->unit[k] = order[k].unit;
        s->start[k + 1] = s->start[k] + vxs_units_width(g->budget.units, order[k].unit);
        vxs_pool_unfold(&g->pool, place, here, s->weight + s->start[k]);
    }
    free(here);
    return VXS_OK;
}

/* Units in ascending order, with the sums of what rounds give them. */
static vxs_status gather_selected(const vxs_generation *g, vxs_selected **selected, vxs_error *err)
{
    size_t count = 0, columns = 0;
    chosen *order = vxs_alloc(g->pool.count, sizeof(*order), err);
    if (!order)
        return VXS_FAILED;
    for (size_t k = 0; k < g->pool.count; k++)
        if (vxs_rounds_have(g, k)) {
            columns += vxs_units_width(g->budget.units, g->pool.unit[k]);
            order[count++] = (chosen){ g->pool.unit[k], k };
        }
    if (count > 0)
        qsort(order, count, sizeof(*order), by_unit);
    vxs_selected *s = *selected = vxs_selected_new(count, columns, g->problem.covariate_count,
                                                   g->budget.refit_cost > 0 && count > 0, err);
    vxs_status status = s ? gather_weights(g, order, s, err) : VXS_FAILED;
    free(order);
    return status;
}

/* Of the columns that the pool has, from where each unit's are unfolded. */
static vxs_status retrain(const vxs_generation *g, vxs_selected *s, double *free_weights,
                          vxs_error *err)
{
    size_t columns = 0, at = 0;
    for (size_t k = 0; k < s->count; k++)
        columns += vxs_pool_width(&g->pool, vxs_pool_find(&g->pool, s->unit[k]));
    double *x = vxs_alloc(columns, g->n * sizeof(*x), err);
    double *weight = vxs_alloc(columns, sizeof(*weight), err);
    vxs_status status = x && weight ? VXS_OK : VXS_FAILED;
    for (size_t k = 0; k < s->count && !status; k++) {
        size_t place = vxs_pool_find(&g->pool, s->unit[k]), width = vxs_pool_width(&g->pool, place);
        memcpy(x + at * g->n, g->pool.x + g->pool.start[place] * g->n, width * g->n * sizeof(*x));
        at += width;
    }
    if (!status)
        status = vxs_retrain(&g->problem, g->budget.refit_cost, x, columns, weight, free_weights,
                             &s->refit, err);
    s->refit *= g->empty > 0 ? g->budget.cost / (g->empty * g->budget.refit_cost) : 0;
    at = 0;
    for (size_t k = 0; k < s->count && !status; k++) {
        size_t place = vxs_pool_find(&g->pool, s->unit[k]);
        vxs_pool_unfold(&g->pool, place, weight + at, s->retrained + s->start[k]);
        at += vxs_pool_width(&g->pool, place);
    }
    free(x);
    free(weight);
    return status;
}

/* Weights of features: their sum over units, or the size of what a map that is not linear makes of
 * them. */
static void spread(const vxs_generation *g, const vxs_selected *s, const double *weight,
                   double *feature)
{
    const vxs_map *map = &g->budget.map;
    size_t p = vxs_design_columns(g->problem.design);
    for (size_t k = 0; k < s->count; k++) {
        double square = 0, factor = 1;
        for (size_t c = s->start[k]; c < s->start[k + 1]; c++) {
            square += weight[c] * weight[c];
            if (map->kind != VXS_MAP_NONE)
                continue;
            size_t j = vxs_units_feature(g->budget.units, s->unit[k], c - s->start[k], &factor);
            feature[j] += factor * weight[c];
        }
        size_t end[2];
        if (map->kind == VXS_MAP_NONE)
            continue;
        vxs_map_features(map, p, s->unit[k], end);
        feature[end[0]] += square;
        feature[end[1]] += end[1] != end[0] ? square : 0;
    }
    for (size_t j = 0; j < p && map->kind != VXS_MAP_NONE; j++)
        feature[j] = sqrt(feature[j]);
}

static vxs_status take_features(const vxs_generation *g, vxs_solution *solution, vxs_error *err)
{
    size_t p = vxs_design_columns(g->problem.design), count = 0;
    const vxs_selected *s = solution->selected;
    double *feature = vxs_alloc(p, sizeof(*feature), err);
    if (!feature)
        return VXS_FAILED;
    spread(g, s, s->retrained ? s->retrained : s->weight, feature);
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

/* Of minimax, whose descent has one that does not follow from the answer. */
static vxs_status keep_alpha(const vxs_generation *g, vxs_selected *s, vxs_error *err)
{
    s->alpha_count = g->n;
    s->alpha = vxs_alloc(g->n, sizeof(*s->alpha), err);
    const double *slope = g->own ? g->own : g->slope;
    for (size_t i = 0; i < g->n && s->alpha; i++)
        s->alpha[i] = -g->problem.loss.y[i] * slope[i];
    return s->alpha ? VXS_OK : VXS_FAILED;
}

vxs_status vxs_generation_answer(const vxs_generation *g, vxs_solution *solution, vxs_error *err)
{
    vxs_status status = gather_selected(g, &solution->selected, err);
    vxs_selected *s = solution->selected;
    solution->free =
        status ? NULL : vxs_alloc(g->problem.covariate_count, sizeof(*solution->free), err);
    if (!solution->free)
        return status ? status : VXS_FAILED;
    vxs_shift_weights(&g->shift, s->free);
    s->map = g->budget.map;
    status = g->budget.only_refit ? keep_alpha(g, s, err) : VXS_OK;
    memcpy(solution->free, s->free, g->problem.covariate_count * sizeof(*solution->free));
    if (!status && s->retrained)
        status = retrain(g, s, solution->free, err);
    vxs_units_work work = vxs_units_worked(g->budget.units);
    s->rounds = g->generated;
    s->visited = work.visited - g->worked.visited;
    s->pruned = work.pruned - g->worked.pruned;
    s->restricted = fmin(g->restricted, g->gap); /* what bounds all units bounds these */
    return status ? status : take_features(g, solution, err);
}
