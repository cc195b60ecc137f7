/* voxsift/internal/graph.h - graphs, flows and forests; for the library's rooms and the command
 * line, not installed. */
#ifndef VOXSIFT_INTERNAL_GRAPH_H
#define VOXSIFT_INTERNAL_GRAPH_H

#include "voxsift/graph.h"
#include "voxsift/internal/core.h"

#ifdef __cplusplus
extern "C" {
#endif

/* Edges of another graph of the same nodes behind its own. */
VXS_MUST_CHECK vxs_status vxs_graph_append(vxs_graph *graph, const vxs_graph *more, vxs_error *err);
/* The same links for nodes that have any number of a grid's cells: node[cell] is UINT32_MAX where
 * there is none. There are fewer than 2^32 cells. */
VXS_MUST_CHECK vxs_status vxs_graph_link_cells(const size_t shape[3], const uint32_t *node,
                                               vxs_graph *graph, vxs_error *err);
/* Whether there is a grid of that shape, and the voxels are some of its cells, ascending. */
VXS_MUST_CHECK vxs_status vxs_voxels_check(const size_t shape[3], const size_t *voxels,
                                           size_t count, vxs_error *err);
/* Without links. */
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

/* ---- Learned from columns -------------------------------------------------------------------- */

/* Sparse inverse covariance (graphical lasso): T with the least -log det T + tr(S T) + rho sum over
 * i /= j of |T_ij|. */
typedef struct {
    double rho;
    double primal, dual, gap; /* the gap is a share of p, the value of the empty graph of
                                 correlations */
    size_t edges, sweeps;
    bool converged;
} vxs_precision;
/* S is p x p with a positive diagonal. T and W, the matrix near S that T is the inverse of, begin
 * as what was found for another rho, or all 0. VXS_OK even when the tolerance was not met: that is
 * in the report. */
VXS_MUST_CHECK vxs_status vxs_glasso(const vxs_context *context, const double *s, size_t p,
                                     double rho, double tol, double *t, double *w,
                                     vxs_precision *report, vxs_error *err);
/* The graph of T for the rho at which it has about so many edges. */
VXS_MUST_CHECK vxs_status vxs_graph_precision(const vxs_context *context, const double *s, size_t p,
                                              size_t edges, double tol, vxs_graph *graph,
                                              vxs_precision *report, vxs_error *err);
/* So many pairs whose |S_ij|, i /= j, is largest; of equal ones the first, row by row. */
VXS_MUST_CHECK vxs_status vxs_graph_strongest(const double *s, size_t p, size_t edges,
                                              vxs_graph *graph, vxs_error *err);
/* Links the pieces of a graph into one by the pairs whose |S_ij| is largest. */
VXS_MUST_CHECK vxs_status vxs_graph_link(const double *s, vxs_graph *graph, vxs_error *err);

/* ---- Flows ----------------------------------------------------------------------------------- */

/* What flows over the edges of a graph say of the penalty sum over edges weight |w_from - w_to| +
 * sparsity |w|_1. Flows stay from one call to the next, which is where the next one begins: calls
 * for values that hardly differ are cheap. Used by one thread at a time; the graph must stay. */
typedef struct vxs_flow vxs_flow;
VXS_MUST_CHECK vxs_status vxs_flow_new(const vxs_graph *graph, double sparsity, vxs_flow **flow,
                                       vxs_error *err);
void vxs_flow_free(vxs_flow *flow);
/* The dual norm of v: the largest of |v(S)| / (cut(S) + sparsity |S|) over sets S of nodes, by
 * Dinkelbach's iteration; `least` if it is no more than that. Without sparsity v must add up to 0
 * over each piece of the graph; what it adds up to by rounding is not looked at. */
double vxs_flow_norm(vxs_flow *flow, const double *v, double least);
/* The proximal step: w with the least |w - v|^2 / 2 + tau (sum over edges weight |w_from - w_to| +
 * sparsity |w|_1), by maximal flows over ever smaller pieces. w may be v. */
void vxs_flow_prox(vxs_flow *flow, const double *v, double tau, double *w);

/* ---- Terms ----------------------------------------------------------------------------------- */

/* The graph's edges, weight (w_from - w_to), and behind them, with sparsity, sparsity w_j. */
VXS_MUST_CHECK vxs_status vxs_terms_edges(const vxs_graph *graph, double sparsity, vxs_terms *terms,
                                          vxs_error *err);

/* ---- Trees ----------------------------------------------------------------------------------- */

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

/* ---- Groups ---------------------------------------------------------------------------------- */

/* Whether any node is in two groups; those of a tree count as any others, and overlap where one is
 * inside another. Fails only without memory. */
VXS_MUST_CHECK vxs_status vxs_groups_overlap(const vxs_groups *groups, bool *overlap,
                                             vxs_error *err);
/* The cells of an octree over the grid that have voxels, halved along each axis until a cell is one
 * voxel; cells with the same voxels are one group, named by the largest: "2:1,0,3" is the cell with
 * these indices where the grid is cut into 2^2 along each axis. */
VXS_MUST_CHECK vxs_status vxs_groups_octree(const size_t shape[3], const size_t *voxels,
                                            size_t count, vxs_groups *groups, vxs_error *err);
/* Groups by paths such as "brain/left/frontal": each beginning of a path is a group, and the
 * members of a group are all nodes whose path begins so, and its name that beginning. paths[k] is
 * of node k; NULL: in none. */
VXS_MUST_CHECK vxs_status vxs_groups_by_path(const char *const *paths, size_t nodes,
                                             vxs_groups *groups, vxs_error *err);

#ifdef __cplusplus
}
#endif

#endif
