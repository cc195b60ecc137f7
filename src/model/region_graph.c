/* region_graph.c - graph of adjacent regions: two regions are adjacent if voxels of them share a
 * face. Components can be linked through their nearest regions. */
#include "model/model.h"

#include <stdlib.h>

#define MOST_REGIONS 20000

typedef struct {
    vxs_cohort_regions regions;
    bool *touch; /* p x p */
} toucher;

/* Adds pairs that share a face along one axis; returns the number of new pairs. */
static size_t look_along(toucher *t, size_t axis)
{
    const size_t *shape = t->regions.labels.grid.shape, p = t->regions.count;
    size_t step = axis == 0 ? 1 : axis == 1 ? shape[0] : shape[0] * shape[1], count = 0;
    for (size_t v = 0; v < vxs_grid_voxels(&t->regions.labels.grid); v++) {
        if (v / step % shape[axis] + 1 >= shape[axis])
            continue;
        size_t a = vxs_cohort_region_at(&t->regions, v),
               b = vxs_cohort_region_at(&t->regions, v + step);
        if (a == VXS_NO_REGION || b == VXS_NO_REGION || a == b)
            continue;
        size_t low = a < b ? a : b, high = a < b ? b : a;
        count += !t->touch[low * p + high];
        t->touch[low * p + high] = true;
    }
    return count;
}

static vxs_status list_edges(toucher *t, vxs_graph *g, vxs_error *err)
{
    size_t p = t->regions.count, count = 0, edge = 0;
    t->touch = vxs_alloc(p, p * sizeof(*t->touch), err);
    if (!t->touch)
        return VXS_FAILED;
    for (size_t axis = 0; axis < 3; axis++)
        count += look_along(t, axis);
    vxs_status status = vxs_graph_new(p, count, g, err);
    for (size_t k = 0; k < p * p && !status; k++)
        if (t->touch[k]) {
            g->from[edge] = k / p;
            g->to[edge++] = k % p;
        }
    return status;
}

static vxs_status link_pieces(const toucher *t, vxs_graph *g, vxs_error *err)
{
    size_t cells = vxs_grid_voxels(&t->regions.labels.grid);
    uint32_t *node = vxs_alloc(cells, sizeof(*node), err);
    if (!node)
        return VXS_FAILED;
    for (size_t v = 0; v < cells; v++) {
        size_t region = vxs_cohort_region_at(&t->regions, v);
        node[v] = region == VXS_NO_REGION ? UINT32_MAX : (uint32_t)region;
    }
    vxs_status status = vxs_graph_connect_cells(t->regions.labels.grid.shape, node, g, err);
    free(node);
    return status;
}

vxs_status vxs_region_graph(const vxs_cohort *c, bool linked, vxs_graph *g, vxs_error *err)
{
    toucher t = { .touch = NULL };
    if (c->p > MOST_REGIONS)
        return vxs_fail(err, VXS_MISUSE, "'--graph regions' is of at most %d regions",
                        MOST_REGIONS);
    vxs_status status = vxs_cohort_regions_of(c, &t.regions, err);
    if (!status)
        status = list_edges(&t, g, err);
    if (!status && linked)
        status = link_pieces(&t, g, err);
    vxs_cohort_regions_release(&t.regions);
    free(t.touch);
    return status;
}
