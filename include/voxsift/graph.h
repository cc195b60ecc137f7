/* voxsift/graph.h - which features are neighbours, and trees among them. */
#ifndef VOXSIFT_GRAPH_H
#define VOXSIFT_GRAPH_H

#include "voxsift/core.h"

#ifdef __cplusplus
extern "C" {
#endif

#if defined(__GNUC__)
#pragma GCC visibility push(default) /* what follows is the library's, and nothing else is */
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
/* Voxels of a grid that share a face (6), an edge too (18) or a corner too (26); node k is
 * voxels[k], and these ascend; what is no such number, grid or voxel is refused. Pieces that touch
 * no others are linked to them where they are nearest, so that the graph hangs together. */
VXS_MUST_CHECK vxs_status vxs_graph_grid(const size_t shape[3], const size_t *voxels, size_t count,
                                         int connectivity, vxs_graph *graph, vxs_error *err);

/* ---- Terms ----------------------------------------------------------------------------------- */

/* Sums of features, each with its factors: term t is the sum of value[e] w[index[e]] over starts[t]
 * <= e < starts[t + 1], where the indices ascend. */
typedef struct {
    size_t columns, count;
    size_t *starts, *index;
    double *value;
} vxs_terms;
/* Room for so many with so many factors in all. */
VXS_MUST_CHECK vxs_status vxs_terms_new(size_t columns, size_t count, size_t factors,
                                        vxs_terms *terms, vxs_error *err);
void vxs_terms_release(vxs_terms *terms);
/* w_k-1 - 2 w_k + w_k+1 of every feature between two others. */
VXS_MUST_CHECK vxs_status vxs_terms_trend(size_t columns, vxs_terms *terms, vxs_error *err);

/* ---- Groups ---------------------------------------------------------------------------------- */

/* Sets of nodes that are taken or left as a whole; they may overlap. Group g has the members
 * member[begin[g]] ... member[end[g] - 1], each once; runs of groups may overlap as well, so that
 * groups inside others take no room of their own. */
typedef struct {
    size_t nodes, count;
    size_t *begin, *end;
    size_t *member;
    size_t members; /* places in `member` */
    size_t *parent; /* of a tree: the smallest group around, which stands before; SIZE_MAX: none.
                       NULL: no tree */
    char **names;   /* of groups; NULL: group g is named by node g, whose neighbourhood it is */
} vxs_groups;
/* Room for so many, all empty, without names and parents. */
VXS_MUST_CHECK vxs_status vxs_groups_new(size_t nodes, size_t count, size_t members,
                                         vxs_groups *groups, vxs_error *err);
void vxs_groups_release(vxs_groups *groups);
/* A sphere around every voxel: all voxels whose centre is at most `radius` from its own (and a
 * millionth, as affines are floats in files), `step` being the three vectors from a voxel to the
 * next (rows: axes of the grid). Node k is voxels[k], and these ascend. */
VXS_MUST_CHECK vxs_status vxs_groups_patches(const size_t shape[3], const size_t *voxels,
                                             size_t count, const double step[3][3], double radius,
                                             vxs_groups *groups, vxs_error *err);

#if defined(__GNUC__)
#pragma GCC visibility pop
#endif

#ifdef __cplusplus
}
#endif

#endif
