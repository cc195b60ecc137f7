/* voxsift/graph.h - graphs of neighboring features, analysis operators, groups. */
#ifndef VOXSIFT_GRAPH_H
#define VOXSIFT_GRAPH_H

#include "voxsift/core.h"

#ifdef __cplusplus
extern "C" {
#endif

#if defined(__GNUC__)
/* the declarations below are exported, all other symbols are hidden */
#pragma GCC visibility push(default)
#endif

/* Undirected weighted graph: edge e connects from[e] and to[e] with weight[e], the factor of its
 * difference in a penalty. */
typedef struct {
    size_t nodes, count;
    size_t *from, *to;
    double *weight;
} vxs_graph;
/* Allocates `count` edges, all loops at node 0 with weight 1. */
VXS_MUST_CHECK vxs_status vxs_graph_new(size_t nodes, size_t count, vxs_graph *graph,
                                        vxs_error *err);
void vxs_graph_release(vxs_graph *graph);

/* A chain: edges between consecutive nodes. */
VXS_MUST_CHECK vxs_status vxs_graph_chain(size_t nodes, vxs_graph *graph, vxs_error *err);
/* Neighboring voxels of a grid: they share a face (6), also an edge (18) or also a corner (26).
 * Node k is voxels[k], ascending; invalid connectivities, shapes and voxels are errors. Edges
 * between nearest voxels link the connected components, so that the graph is connected. */
VXS_MUST_CHECK vxs_status vxs_graph_grid(const size_t shape[3], const size_t *voxels, size_t count,
                                         int connectivity, vxs_graph *graph, vxs_error *err);

/* ---- Analysis operators ---------------------------------------------------------------------- */

/* An analysis operator D in compressed sparse rows: row t times w is the sum of value[e]
 * w[index[e]] over starts[t] <= e < starts[t + 1], where the indices ascend. */
typedef struct {
    size_t columns, count;
    size_t *starts, *index;
    double *value;
} vxs_analysis;
/* Allocates `count` rows with `factors` nonzeros in all. */
VXS_MUST_CHECK vxs_status vxs_analysis_new(size_t columns, size_t count, size_t factors,
                                           vxs_analysis *terms, vxs_error *err);
void vxs_analysis_release(vxs_analysis *terms);
/* Second differences: w_(k-1) - 2 w_k + w_(k+1) for every inner feature. */
VXS_MUST_CHECK vxs_status vxs_analysis_trend(size_t columns, vxs_analysis *terms, vxs_error *err);

/* ---- Groups ---------------------------------------------------------------------------------- */

/* Sets of nodes that are selected as a whole; they may overlap. The members of group g are
 * member[begin[g]] ... member[end[g] - 1], without duplicates; ranges may overlap as well, so that
 * nested groups share storage. */
typedef struct {
    size_t nodes, count;
    size_t *begin, *end;
    size_t *member;
    size_t members; /* length of `member` */
    /* in a tree: the smallest enclosing group, which precedes; SIZE_MAX: root. NULL: no tree */
    size_t *parent;
    char **names; /* of groups; NULL: group g is the neighborhood of node g and has its name */
} vxs_groups;
/* Allocates `count` groups, all empty, without names and parents. */
VXS_MUST_CHECK vxs_status vxs_groups_new(size_t nodes, size_t count, size_t members,
                                         vxs_groups *groups, vxs_error *err);
void vxs_groups_release(vxs_groups *groups);
/* Spheres: the group of a voxel holds all voxels whose center is at most `radius` (plus 1e-6 of it,
 * since affines are stored as floats) from its own. The rows of `step` are the vectors between
 * neighboring voxels along the grid's axes. Node k is voxels[k], ascending. */
VXS_MUST_CHECK vxs_status vxs_groups_spheres(const size_t shape[3], const size_t *voxels,
                                             size_t count, const double step[3][3], double radius,
                                             vxs_groups *groups, vxs_error *err);

#if defined(__GNUC__)
#pragma GCC visibility pop
#endif

#ifdef __cplusplus
}
#endif

#endif
