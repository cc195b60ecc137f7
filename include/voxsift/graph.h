/* voxsift/graph.h - which features are neighbours, and trees among them. */
#ifndef VOXSIFT_GRAPH_H
#define VOXSIFT_GRAPH_H

#include "voxsift/core.h"

#ifdef __cplusplus
extern "C" {
#endif

/* Undirected edges; edge e leads from from[e] to to[e], and a difference over it costs weight[e]
 * times its size. */
typedef struct {
    size_t nodes, count;
    size_t *from, *to;
    double *weight;
} vxs_graph;
/* Room for so many edges, all between node 0 and itself with weight 1. */
VXS_MUST_CHECK vxs_status vxs_graph_new(size_t nodes, size_t count, vxs_graph *graph,
                                        vxs_error *err);
void vxs_graph_release(vxs_graph *graph);

/* Every node with the next. */
VXS_MUST_CHECK vxs_status vxs_graph_chain(size_t nodes, vxs_graph *graph, vxs_error *err);
/* Voxels of a grid that share a face; node k is voxels[k], and these ascend. Pieces that touch no
 * others are linked to them where they are nearest, so that the graph hangs together. */
VXS_MUST_CHECK vxs_status vxs_graph_grid(const size_t shape[3], const size_t *voxels, size_t count,
                                         vxs_graph *graph, vxs_error *err);

/* Voxels that share a face (6), an edge too (18) or a corner too (26); without links. */
VXS_MUST_CHECK vxs_status vxs_graph_neighbours(const size_t shape[3], const size_t *voxels,
                                               size_t count, int connectivity, vxs_graph *graph,
                                               vxs_error *err);

/* The first edge that closes a loop with those before it; graph->count when there is none. Fails
 * only without memory. */
VXS_MUST_CHECK vxs_status vxs_graph_loop(const vxs_graph *graph, size_t *edge, vxs_error *err);
/* A tree for every piece of the graph, made of the edges that cost least (Kruskal); of equal ones
 * the first. Weights stay with their edges. */
VXS_MUST_CHECK vxs_status vxs_graph_spanning(const vxs_graph *graph, const double *cost,
                                             vxs_graph *forest, vxs_error *err);

/* Trees with roots. Places number the nodes so that a subtree is one run of places that begins with
 * its root, its largest child last: place k's subtree is k ... k + size[k] - 1. */
typedef struct {
    size_t nodes, trees;
    size_t *node;   /* at a place */
    size_t *parent; /* place of a place's parent; a root's is its own */
    size_t *size;
    double *weight; /* of the edge to the parent; 0 for roots */
} vxs_forest;
/* A graph with a loop is refused. */
VXS_MUST_CHECK vxs_status vxs_forest_new(const vxs_graph *graph, vxs_forest *forest,
                                         vxs_error *err);
void vxs_forest_release(vxs_forest *forest);

#ifdef __cplusplus
}
#endif

#endif
