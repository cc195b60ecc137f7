/* voxsift/internal/graph.h - graphs, flows and forests; internal to the library and the command
 * line, not installed. */
#ifndef VOXSIFT_INTERNAL_GRAPH_H
#define VOXSIFT_INTERNAL_GRAPH_H

#include "voxsift/graph.h"
#include "voxsift/internal/core.h"

#ifdef __cplusplus
extern "C" {
#endif

/* Appends the edges of another graph on the same nodes. */
VXS_MUST_CHECK vxs_status vxs_graph_append(vxs_graph *graph, const vxs_graph *more, vxs_error *err);
/* Links connected components as vxs_graph_grid does, for nodes that have any number of a grid's
 * cells: node[cell] is UINT32_MAX for cells without node. The grid has fewer than 2^32 cells. */
VXS_MUST_CHECK vxs_status vxs_graph_connect_cells(const size_t shape[3], const uint32_t *node,
                                                  vxs_graph *graph, vxs_error *err);
/* Checks that the grid is valid and the voxels are ascending cells of it. */
VXS_MUST_CHECK vxs_status vxs_voxels_check(const size_t shape[3], const size_t *voxels,
                                           size_t count, vxs_error *err);
/* vxs_graph_grid without the links between components. */
VXS_MUST_CHECK vxs_status vxs_graph_neighbors(const size_t shape[3], const size_t *voxels,
                                              size_t count, int connectivity, vxs_graph *graph,
                                              vxs_error *err);

/* The first edge that closes a cycle with the edges before it; graph->count if the graph is a
 * forest. Fails only when out of memory. */
VXS_MUST_CHECK vxs_status vxs_graph_find_cycle(const vxs_graph *graph, size_t *edge,
                                               vxs_error *err);
/* The minimum spanning forest (Kruskal); of edges with equal cost the first wins. Edges keep their
 * weights. */
VXS_MUST_CHECK vxs_status vxs_graph_spanning_forest(const vxs_graph *graph, const double *cost,
                                                    vxs_graph *forest, vxs_error *err);

/* ---- Graphs estimated from columns ----------------------------------------------------------- */

/* Sparse inverse covariance (graphical lasso): T minimizes -log det T + tr(S T) + rho sum over i /=
 * j of |T_ij|. */
typedef struct {
    double rho;
    /* the gap is relative to p, the value of the empty graph for correlation matrices */
    double primal, dual, gap;
    size_t edges, sweeps;
    bool converged;
} vxs_precision;
/* S is p x p with a positive diagonal. T and its dual variable W (the inverse of T at the optimum)
 * are warm starts: the solution for another rho, or all 0. Returns VXS_OK even when the tolerance
 * was not reached; see report->converged. */
VXS_MUST_CHECK vxs_status vxs_glasso(const vxs_context *context, const double *s, size_t p,
                                     double rho, double tol, double *t, double *w,
                                     vxs_precision *report, vxs_error *err);
/* The graph of T for the rho at which T has approximately `edges` edges. */
VXS_MUST_CHECK vxs_status vxs_graph_precision(const vxs_context *context, const double *s, size_t p,
                                              size_t edges, double tol, vxs_graph *graph,
                                              vxs_precision *report, vxs_error *err);
/* The `edges` pairs with the largest |S_ij|, i /= j; of equal ones the first in row-major order. */
VXS_MUST_CHECK vxs_status vxs_graph_strongest(const double *s, size_t p, size_t edges,
                                              vxs_graph *graph, vxs_error *err);
/* Connects the components of a graph by the pairs with the largest |S_ij|. */
VXS_MUST_CHECK vxs_status vxs_graph_connect(const double *s, vxs_graph *graph, vxs_error *err);

/* ---- Clusters -------------------------------------------------------------------------------- */

/* Ward's clusters of nodes that are connected in the graph: `count` of them, or as many as it has
 * components if these are more; *found says. value: n numbers of each node, contiguous, all finite;
 * overwritten. cluster[node] counts from 0, in the order of first nodes. */
VXS_MUST_CHECK vxs_status vxs_ward(const vxs_context *context, const vxs_graph *graph, float *value,
                                   size_t n, size_t count, uint32_t *cluster, size_t *found,
                                   vxs_error *err);

/* ---- Flows ----------------------------------------------------------------------------------- */

/* Maximum flows on a graph, for the penalty sum over edges weight |w_from - w_to| + sparsity |w|_1.
 * Flows are warm starts of the next call: calls with similar values are cheap. Not thread-safe;
 * borrows the graph. */
typedef struct vxs_flow vxs_flow;
VXS_MUST_CHECK vxs_status vxs_flow_new(const vxs_graph *graph, double sparsity, vxs_flow **flow,
                                       vxs_error *err);
void vxs_flow_free(vxs_flow *flow);
/* The dual norm of v: the maximum of |v(S)| / (cut(S) + sparsity |S|) over node sets S, by
 * Dinkelbach's algorithm; `least` if the norm is smaller. Without sparsity v must sum to 0 over
 * each connected component; the sum's rounding error is ignored. */
double vxs_flow_norm(vxs_flow *flow, const double *v, double least);
/* The proximal operator: the w that minimizes |w - v|^2 / 2 + tau (sum over edges weight |w_from -
 * w_to| + sparsity |w|_1), by maximum flows on ever smaller regions. w may be v. */
void vxs_flow_prox(vxs_flow *flow, const double *v, double tau, double *w);

/* ---- Analysis operators ---------------------------------------------------------------------- */

/* The rows of the fused penalty: weight (w_from - w_to) for each edge, followed, if sparsity > 0,
 * by sparsity w_j for each node. */
VXS_MUST_CHECK vxs_status vxs_analysis_edges(const vxs_graph *graph, double sparsity,
                                             vxs_analysis *terms, vxs_error *err);

/* ---- Trees ----------------------------------------------------------------------------------- */

/* Rooted trees in an order in which each subtree is contiguous and begins with its root, the
 * largest child last: the subtree of position k is k ... k + size[k] - 1. */
typedef struct {
    size_t nodes, trees;
    size_t *node;   /* node at a position */
    size_t *parent; /* position of the parent; a root is its own parent */
    size_t *size;
    double *weight; /* weight of the edge to the parent; 0 for roots */
} vxs_forest;
/* Fails for a graph with a cycle. */
VXS_MUST_CHECK vxs_status vxs_forest_new(const vxs_graph *graph, vxs_forest *forest,
                                         vxs_error *err);
void vxs_forest_release(vxs_forest *forest);

/* ---- Groups ---------------------------------------------------------------------------------- */

/* Tests whether any node is in two groups; nested groups of a tree overlap. Fails only when out of
 * memory. */
VXS_MUST_CHECK vxs_status vxs_groups_overlap(const vxs_groups *groups, bool *overlap,
                                             vxs_error *err);
/* The nonempty cells of an octree over the grid, down to single voxels; cells with the same voxels
 * are one group, named by the largest: "2:1,0,3" is the cell with these indices on level 2, where
 * each axis is divided into 2^2 intervals. */
VXS_MUST_CHECK vxs_status vxs_groups_octree(const size_t shape[3], const size_t *voxels,
                                            size_t count, vxs_groups *groups, vxs_error *err);
/* Groups by paths such as "brain/left/frontal": each prefix of a path is a group that contains all
 * nodes whose path begins with it. paths[k] belongs to node k; NULL: in no group. */
VXS_MUST_CHECK vxs_status vxs_groups_by_path(const char *const *paths, size_t nodes,
                                             vxs_groups *groups, vxs_error *err);

#ifdef __cplusplus
}
#endif

#endif
