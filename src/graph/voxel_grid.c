/* voxel_grid.c - graphs of neighboring voxels, and links between their connected components.
 *
 * A breadth-first search from all components at once fills the box; adjacent cells of two
 * components lie approximately halfway on a shortest link. A minimum spanning tree of these
 * candidates connects all components. */
#include "voxsift/internal/graph.h"

#include "core/union.h"

#include <stdlib.h>
#include <string.h>

#define NO_NODE UINT32_MAX

typedef struct {
    const size_t *shape;
    size_t cells;
    uint32_t *owner;    /* of a cell: the node that reached it first */
    uint32_t *distance; /* in steps */
    uint32_t *queue;
} region_growing;

static const size_t axes = 3;

static size_t step_along(const size_t shape[3], size_t axis)
{
    return axis == 0 ? 1 : axis == 1 ? shape[0] : shape[0] * shape[1];
}

/* Tests whether the cell has a next one along the axis. */
static bool has_next(const size_t shape[3], size_t cell, size_t axis)
{
    return cell / step_along(shape, axis) % shape[axis] + 1 < shape[axis];
}

static bool has_previous(const size_t shape[3], size_t cell, size_t axis)
{
    return cell / step_along(shape, axis) % shape[axis] > 0;
}

/* ---- Checks of grids and voxels -------------------------------------------------------------- */

vxs_status vxs_voxels_check(const size_t shape[3], const size_t *voxels, size_t count,
                            vxs_error *err)
{
    size_t cells = vxs_times(vxs_times(shape[0], shape[1]), shape[2]);
    if (cells == 0 || cells == SIZE_MAX)
        return vxs_fail(err, VXS_MISUSE,
                        "a grid of %zu x %zu x %zu voxels has none, or more than have numbers",
                        shape[0], shape[1], shape[2]);
    if (count > 0 && !voxels)
        return vxs_fail(err, VXS_MISUSE, "%zu voxels without indices", count);
    for (size_t k = 0; k < count; k++) {
        if (voxels[k] >= cells)
            return vxs_fail(err, VXS_MISUSE, "voxel %zu is off the grid of %zu x %zu x %zu voxels",
                            voxels[k], shape[0], shape[1], shape[2]);
        if (k > 0 && voxels[k] <= voxels[k - 1])
            return vxs_fail(err, VXS_MISUSE, "voxel %zu follows voxel %zu; they must ascend",
                            voxels[k], voxels[k - 1]);
    }
    return VXS_OK;
}

/* ---- Links ----------------------------------------------------------------------------------- */

static void visit(const region_growing *w, size_t cell, size_t from, size_t *queued)
{
    if (w->owner[cell] != NO_NODE)
        return;
    w->owner[cell] = w->owner[from];
    w->distance[cell] = w->distance[from] + 1;
    w->queue[(*queued)++] = (uint32_t)cell;
}

static void grow_regions(const region_growing *w)
{
    size_t queued = 0;
    for (size_t cell = 0; cell < w->cells; cell++)
        if (w->owner[cell] != NO_NODE)
            w->queue[queued++] = (uint32_t)cell;
    for (size_t next = 0; next < queued; next++) {
        size_t cell = w->queue[next];
        for (size_t axis = 0; axis < axes; axis++) {
            size_t step = step_along(w->shape, axis);
            if (has_previous(w->shape, cell, axis))
                visit(w, cell - step, cell, &queued);
            if (has_next(w->shape, cell, axis))
                visit(w, cell + step, cell, &queued);
        }
    }
}

/* Lists adjacent cells of two components as candidate links; with graph == NULL only counts
 * them. */
static size_t list_candidates(const region_growing *w, size_t *component, vxs_graph *g,
                              double *cost)
{
    size_t count = 0;
    for (size_t cell = 0; cell < w->cells; cell++)
        for (size_t axis = 0; axis < axes; axis++) {
            if (!has_next(w->shape, cell, axis) || w->owner[cell] == NO_NODE)
                continue; /* either all cells have an owner or none */
            size_t other = cell + step_along(w->shape, axis);
            size_t a = w->owner[cell], b = w->owner[other];
            if (vxs_union_find(component, a) == vxs_union_find(component, b))
                continue;
            if (g) {
                g->from[count] = vxs_union_find(component, a);
                g->to[count] = vxs_union_find(component, b);
                cost[count] = (double)w->distance[cell] + (double)w->distance[other];
                /* the position, for set_endpoints */
                g->weight[count] = (double)cell * (double)axes + (double)axis;
            }
            count++;
        }
    return count;
}

/* Replaces the ends of the links by the owners of the cells. */
static void set_endpoints(const region_growing *w, vxs_graph *links)
{
    for (size_t e = 0; e < links->count; e++) {
        size_t place = (size_t)links->weight[e], cell = place / axes;
        links->from[e] = w->owner[cell];
        links->to[e] = w->owner[cell + step_along(w->shape, place % axes)];
        links->weight[e] = 1;
    }
}

static vxs_status connect_components(const region_growing *w, size_t *component, vxs_graph *g,
                                     vxs_error *err)
{
    vxs_graph candidates = { .nodes = 0 }, links = { .nodes = 0 };
    grow_regions(w);
    size_t count = list_candidates(w, component, NULL, NULL);
    double *cost = vxs_alloc(count, sizeof(*cost), err);
    vxs_status status = cost ? vxs_graph_new(g->nodes, count, &candidates, err) : VXS_FAILED;
    if (!status) {
        list_candidates(w, component, &candidates, cost);
        status = vxs_graph_spanning_forest(&candidates, cost, &links, err);
    }
    if (!status) {
        set_endpoints(w, &links);
        status = vxs_graph_append(g, &links, err);
    }
    vxs_graph_release(&candidates);
    vxs_graph_release(&links);
    free(cost);
    return status;
}

/* Allocates the workspace; the owners are those of `node`. */
static vxs_status init_growing(region_growing *w, const uint32_t *node, vxs_error *err)
{
    w->owner = vxs_alloc(w->cells, sizeof(*w->owner), err);
    w->distance = vxs_alloc(w->cells, sizeof(*w->distance), err);
    w->queue = vxs_alloc(w->cells, sizeof(*w->queue), err);
    if (!w->owner || !w->distance || !w->queue)
        return VXS_FAILED;
    memcpy(w->owner, node, w->cells * sizeof(*w->owner));
    return VXS_OK;
}

vxs_status vxs_graph_connect_cells(const size_t shape[3], const uint32_t *node, vxs_graph *g,
                                   vxs_error *err)
{
    region_growing w = { .shape = shape, .cells = shape[0] * shape[1] * shape[2] };
    size_t *component = vxs_union_new(g->nodes, err), components = g->nodes;
    vxs_status status = component ? VXS_OK : VXS_FAILED;
    for (size_t e = 0; !status && e < g->count; e++)
        components -= vxs_union_join(component, g->from[e], g->to[e]);
    if (!status && components > 1) {
        status = init_growing(&w, node, err);
        if (!status)
            status = connect_components(&w, component, g, err);
    }
    free(w.owner);
    free(w.distance);
    free(w.queue);
    free(component);
    return status;
}

/* ---- Neighbors ------------------------------------------------------------------------------- */

/* Lists the offsets of the half of the neighbors that precede a cell. */
static int list_offsets(int connectivity, int steps[13][3])
{
    int count = 0;
    for (int z = 0; z <= 1; z++)
        for (int y = -1; y <= 1; y++)
            for (int x = -1; x <= 1; x++) {
                int size = abs(x) + abs(y) + z;
                bool behind = z > 0 || y > 0 || (y == 0 && x > 0);
                if (!behind || size > (connectivity == 6 ? 1 : connectivity == 18 ? 2 : 3))
                    continue;
                steps[count][0] = x;
                steps[count][1] = y;
                steps[count++][2] = z;
            }
    return count;
}

/* The node at an offset from a cell, or NO_NODE. */
static uint32_t node_at(const size_t shape[3], const uint32_t *node, size_t cell, const int step[3])
{
    size_t at = 0;
    for (size_t axis = 3; axis-- > 0;) {
        size_t here = cell / step_along(shape, axis) % shape[axis] + (size_t)step[axis];
        if (here >= shape[axis]) /* true for negative positions, too */
            return NO_NODE;
        at += here * step_along(shape, axis);
    }
    return node[at];
}

static size_t list_neighbors(const size_t shape[3], const size_t *voxels, size_t nodes,
                             int connectivity, const uint32_t *node, vxs_graph *g)
{
    int steps[13][3], kinds = list_offsets(connectivity, steps);
    size_t count = 0;
    for (size_t k = 0; k < nodes; k++)
        for (int s = 0; s < kinds; s++) {
            uint32_t other = node_at(shape, node, voxels[k], steps[s]);
            if (other == NO_NODE)
                continue;
            if (g) {
                g->from[count] = k;
                g->to[count] = other;
            }
            count++;
        }
    return count;
}

/* Maps every cell to its node. */
static vxs_status map_cells(const size_t shape[3], const size_t *voxels, size_t count,
                            uint32_t **node, vxs_error *err)
{
    size_t cells = shape[0] * shape[1] * shape[2];
    *node = NULL;
    if (cells >= NO_NODE)
        return vxs_fail(err, VXS_FAILED,
                        "graphs of grids of more than 2^32 voxels are not supported");
    *node = vxs_alloc(cells, sizeof(**node), err);
    if (!*node)
        return VXS_FAILED;
    memset(*node, 0xff, cells * sizeof(**node));
    for (size_t k = 0; k < count; k++)
        (*node)[voxels[k]] = (uint32_t)k;
    return VXS_OK;
}

static vxs_status build_graph(const size_t shape[3], const size_t *voxels, size_t count,
                              int connectivity, bool linked, vxs_graph *g, vxs_error *err)
{
    uint32_t *node = NULL;
    if (g)
        *g = (vxs_graph){ .nodes = 0 };
    vxs_status status = VXS_GIVEN(err, { "shape", shape }, { "graph", g });
    if (status)
        return status;
    if (connectivity != 6 && connectivity != 18 && connectivity != 26)
        return vxs_fail(err, VXS_MISUSE, "connectivity is 6, 18 or 26, not %d", connectivity);
    status = vxs_voxels_check(shape, voxels, count, err);
    if (!status)
        status = map_cells(shape, voxels, count, &node, err);
    if (!status) {
        size_t edges = list_neighbors(shape, voxels, count, connectivity, node, NULL);
        status = vxs_graph_new(count, edges, g, err);
    }
    if (!status) {
        list_neighbors(shape, voxels, count, connectivity, node, g);
        status = linked ? vxs_graph_connect_cells(shape, node, g, err) : VXS_OK;
    }
    free(node);
    if (status)
        vxs_graph_release(g);
    return status;
}

vxs_status vxs_graph_grid(const size_t shape[3], const size_t *voxels, size_t count,
                          int connectivity, vxs_graph *g, vxs_error *err)
{
    return build_graph(shape, voxels, count, connectivity, true, g, err);
}

vxs_status vxs_graph_neighbors(const size_t shape[3], const size_t *voxels, size_t count,
                               int connectivity, vxs_graph *g, vxs_error *err)
{
    return build_graph(shape, voxels, count, connectivity, false, g, err);
}
