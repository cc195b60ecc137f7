/* graph.c - edge lists, cycles, minimum spanning forests. */
#include "voxsift/internal/graph.h"

#include "core/union.h"

#include <stdlib.h>

vxs_status vxs_graph_new(size_t nodes, size_t count, vxs_graph *g, vxs_error *err)
{
    vxs_status status = VXS_GIVEN(err, { "graph", g });
    if (status)
        return status;
    *g = (vxs_graph){ .nodes = 0 };
    if (count > 0 && nodes == 0) /* edges begin at node 0 */
        return vxs_index_check("node", 0, nodes, err);
    *g = (vxs_graph){ .nodes = nodes, .count = count };
    g->from = vxs_alloc(count, sizeof(*g->from), err);
    g->to = g->from ? vxs_alloc(count, sizeof(*g->to), err) : NULL;
    g->weight = g->to ? vxs_alloc(count, sizeof(*g->weight), err) : NULL;
    if (!g->weight) {
        vxs_graph_release(g);
        return VXS_FAILED;
    }
    for (size_t e = 0; e < count; e++)
        g->weight[e] = 1;
    return VXS_OK;
}

void vxs_graph_release(vxs_graph *g)
{
    if (!g)
        return;
    free(g->from);
    free(g->to);
    free(g->weight);
    *g = (vxs_graph){ .nodes = 0 };
}

vxs_status vxs_graph_chain(size_t nodes, vxs_graph *g, vxs_error *err)
{
    vxs_status status = vxs_graph_new(nodes, nodes > 0 ? nodes - 1 : 0, g, err);
    for (size_t e = 0; !status && e < g->count; e++) {
        g->from[e] = e;
        g->to[e] = e + 1;
    }
    return status;
}

vxs_status vxs_graph_append(vxs_graph *g, const vxs_graph *more, vxs_error *err)
{
    size_t all = g->count + more->count;
    size_t *from = vxs_resize(g->from, all + 1, sizeof(*from), err);
    g->from = from ? from : g->from;
    size_t *to = from ? vxs_resize(g->to, all + 1, sizeof(*to), err) : NULL;
    g->to = to ? to : g->to;
    double *weight = to ? vxs_resize(g->weight, all + 1, sizeof(*weight), err) : NULL;
    g->weight = weight ? weight : g->weight;
    if (!weight)
        return VXS_FAILED;
    for (size_t e = 0; e < more->count; e++) {
        g->from[g->count] = more->from[e];
        g->to[g->count] = more->to[e];
        g->weight[g->count++] = more->weight[e];
    }
    return VXS_OK;
}

vxs_status vxs_graph_find_cycle(const vxs_graph *g, size_t *edge, vxs_error *err)
{
    size_t *parent = vxs_union_new(g->nodes, err);
    if (!parent)
        return VXS_FAILED;
    for (*edge = 0; *edge < g->count; (*edge)++)
        if (!vxs_union_join(parent, g->from[*edge], g->to[*edge]))
            break;
    free(parent);
    return VXS_OK;
}

typedef struct {
    double cost;
    size_t edge;
} weighted_edge;

static int compare_cost(const void *a, const void *b)
{
    const weighted_edge *left = a, *right = b;
    if (left->cost != right->cost)
        return left->cost < right->cost ? -1 : 1;
    return (left->edge > right->edge) - (left->edge < right->edge);
}

/* Moves the edges of the minimum spanning forest to the front of `list` by increasing cost; returns
 * their number. */
static size_t select_edges(const vxs_graph *g, size_t *parent, weighted_edge *list)
{
    size_t chosen = 0;
    qsort(list, g->count, sizeof(*list), compare_cost);
    for (size_t k = 0; k < g->count; k++)
        if (vxs_union_join(parent, g->from[list[k].edge], g->to[list[k].edge]))
            list[chosen++] = list[k];
    return chosen;
}

vxs_status vxs_graph_spanning_forest(const vxs_graph *g, const double *cost, vxs_graph *forest,
                                     vxs_error *err)
{
    *forest = (vxs_graph){ .nodes = 0 };
    size_t *parent = vxs_union_new(g->nodes, err);
    weighted_edge *list = parent ? vxs_alloc(g->count, sizeof(*list), err) : NULL;
    vxs_status status = list ? VXS_OK : VXS_FAILED;
    for (size_t e = 0; list && e < g->count; e++)
        list[e] = (weighted_edge){ .cost = cost[e], .edge = e };
    if (!status) {
        size_t chosen = select_edges(g, parent, list);
        status = vxs_graph_new(g->nodes, chosen, forest, err);
    }
    for (size_t k = 0; k < forest->count; k++) {
        size_t e = list[k].edge;
        forest->from[k] = g->from[e];
        forest->to[k] = g->to[e];
        forest->weight[k] = g->weight[e];
    }
    free(parent);
    free(list);
    return status;
}
