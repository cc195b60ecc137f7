/* selected_blocks.c - the solution of a cutting-plane fit: weights of the selected blocks, refitted
 * if asked for, and of their features. */
#include "solver/cutting_plane/cutting_plane.h"
#include "solver/feature_weights.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

static double block_norm(const vxs_selected *s, size_t k)
{
    double square = 0;
    for (size_t c = s->start[k]; c < s->start[k + 1]; c++)
        square += s->weight[c] * s->weight[c];
    return sqrt(square);
}

/* The optimal d_g is min(1, |w_g| / level), level such that they sum to B. The level falls as more
 * blocks reach 1, until none is new. */
double vxs_budget_norm_squared(const vxs_selected *s, size_t budget)
{
    size_t full = SIZE_MAX, before;
    double level = INFINITY, squares, others;
    do {
        before = full;
        full = 0;
        squares = others = 0;
        for (size_t k = 0; k < s->count; k++) {
            double norm = block_norm(s, k);
            bool is_full = norm > 0 && norm >= level;
            full += is_full;
            squares += is_full ? norm * norm : 0;
            others += is_full ? 0 : norm;
        }
        level = full < budget ? others / (double)(budget - full) : 0; /* all full: no others */
    } while (full != before && level > 0);
    return squares + others * level;
}

typedef struct {
    size_t block, place;
} selected_block;

static int by_block(const void *a, const void *b)
{
    const selected_block *first = a, *second = b;
    return (first->block > second->block) - (first->block < second->block);
}

/* Adds a cut's weights of a cached block. */
static void add_weights(const vxs_cutting_plane *g, const vxs_cut *h, size_t place, double *weight)
{
    const double *from = h->omega;
    for (size_t k = 0; k < h->count; k++) {
        size_t width = vxs_block_cache_width(&g->cache, h->place[k]);
        for (size_t c = 0; c < width && h->place[k] == place; c++)
            weight[c] += from[c];
        from += width;
    }
}

static vxs_status gather_weights(const vxs_cutting_plane *g, const selected_block *order,
                                 vxs_selected *s, vxs_error *err)
{
    double *cached = vxs_alloc(vxs_block_cache_columns(&g->cache), sizeof(*cached), err);
    if (!cached)
        return VXS_FAILED;
    for (size_t k = 0; k < s->count; k++) {
        size_t place = order[k].place;
        memset(cached, 0, vxs_block_cache_width(&g->cache, place) * sizeof(*cached));
        for (size_t h = 0; h < g->count; h++)
            add_weights(g, &g->cuts[h], place, cached);
        s->block[k] = order[k].block;
        s->start[k + 1] = s->start[k] + vxs_blocks_width(g->budget.blocks, order[k].block);
        vxs_block_cache_expand(&g->cache, place, cached, s->weight + s->start[k]);
    }
    free(cached);
    return VXS_OK;
}

/* True if a cut with weights contains the block. */
static bool has_weight(const vxs_cutting_plane *g, size_t place)
{
    bool found = false;
    for (size_t h = 0; h < g->count; h++)
        for (size_t k = 0; k < g->cuts[h].count && g->cuts[h].norm > 0; k++)
            found = found || g->cuts[h].place[k] == place;
    return found;
}

/* Selected blocks ascending, each with the sum of its weights over cuts. */
static vxs_status gather_selected(const vxs_cutting_plane *g, vxs_selected **selected,
                                  vxs_error *err)
{
    size_t count = 0, columns = 0;
    selected_block *order = vxs_alloc(g->cache.count, sizeof(*order), err);
    if (!order)
        return VXS_FAILED;
    for (size_t k = 0; k < g->cache.count; k++)
        if (has_weight(g, k)) {
            columns += vxs_blocks_width(g->budget.blocks, g->cache.block[k]);
            order[count++] = (selected_block){ g->cache.block[k], k };
        }
    if (count > 0)
        qsort(order, count, sizeof(*order), by_block);
    vxs_selected *s = *selected = vxs_selected_new(count, columns, g->problem.covariate_count,
                                                   g->budget.refit_cost > 0 && count > 0, err);
    vxs_status status = s ? gather_weights(g, order, s, err) : VXS_FAILED;
    free(order);
    return status;
}

/* Refits on the cached columns, then expands the weights of factored blocks. */
static vxs_status refit(const vxs_cutting_plane *g, vxs_selected *s, double *covariate_coefficients,
                        vxs_error *err)
{
    size_t columns = 0, at = 0;
    for (size_t k = 0; k < s->count; k++)
        columns += vxs_block_cache_width(&g->cache, vxs_block_cache_find(&g->cache, s->block[k]));
    double *x = vxs_alloc(columns, g->n * sizeof(*x), err);
    double *weight = vxs_alloc(columns, sizeof(*weight), err);
    vxs_status status = x && weight ? VXS_OK : VXS_FAILED;
    for (size_t k = 0; k < s->count && !status; k++) {
        size_t place = vxs_block_cache_find(&g->cache, s->block[k]),
               width = vxs_block_cache_width(&g->cache, place);
        memcpy(x + at * g->n, g->cache.x + g->cache.start[place] * g->n, width * g->n * sizeof(*x));
        at += width;
    }
    if (!status && g->bundle)
        status = vxs_measured_refit(g, x, columns, weight, s, covariate_coefficients, err);
    else if (!status)
        status = vxs_refit(&g->problem, g->budget.refit_cost, x, columns, weight,
                           covariate_coefficients, &s->refit_gap, err);
    s->refit_gap *= g->empty > 0 ? g->budget.cost / (g->empty * g->budget.refit_cost) : 0;
    at = 0;
    for (size_t k = 0; k < s->count && !status; k++) {
        size_t place = vxs_block_cache_find(&g->cache, s->block[k]);
        vxs_block_cache_expand(&g->cache, place, weight + at, s->refit_weight + s->start[k]);
        at += vxs_block_cache_width(&g->cache, place);
    }
    free(x);
    free(weight);
    return status;
}

/* The dual point of the smoothed dual, which predictions do not determine. */
static vxs_status copy_alpha(const vxs_cutting_plane *g, vxs_selected *s, vxs_error *err)
{
    s->alpha_count = g->n;
    s->alpha = vxs_alloc(g->n, sizeof(*s->alpha), err);
    const double *gradient = g->dual_gradient ? g->dual_gradient : g->gradient;
    for (size_t i = 0; i < g->n && s->alpha; i++)
        s->alpha[i] = -g->problem.loss.y[i] * gradient[i];
    return s->alpha ? VXS_OK : VXS_FAILED;
}

vxs_status vxs_cutting_plane_solution(vxs_cutting_plane *g, vxs_solution *solution, vxs_error *err)
{
    vxs_status status = gather_selected(g, &solution->selected, err);
    vxs_selected *s = solution->selected;
    solution->covariate_coefficients =
        status
            ? NULL
            : vxs_alloc(g->problem.covariate_count, sizeof(*solution->covariate_coefficients), err);
    if (!solution->covariate_coefficients)
        return status ? status : VXS_FAILED;
    if (g->bundle)
        status = vxs_measured_solution(g, s, err);
    vxs_covariates_fit_coefficients(&g->covariates_fit, s->covariate_coefficients);
    s->map = g->budget.map;
    if (!status && g->budget.only_refit)
        status = copy_alpha(g, s, err);
    memcpy(solution->covariate_coefficients, s->covariate_coefficients,
           g->problem.covariate_count * sizeof(*solution->covariate_coefficients));
    if (!status && s->refit_weight)
        status = refit(g, s, solution->covariate_coefficients, err);
    vxs_blocks_work work = vxs_blocks_get_work(g->budget.blocks);
    s->iterations = g->iterations;
    s->visited = work.visited - g->worked.visited;
    s->pruned = work.pruned - g->worked.pruned;
    s->restricted_gap = g->restricted_gap;
    return status ? status
                  : vxs_selection_features(g->budget.blocks, &g->budget.map,
                                           vxs_design_columns(g->problem.design), s, solution, err);
}
