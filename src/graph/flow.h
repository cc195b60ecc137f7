/* flow.h - maximum flows on the edges of a graph, within regions of its nodes; for the graph and
 * solver rooms.
 *
 * The capacity of an edge is `scale` times its weight, in both directions. Each node has a value to
 * be carried away: its outflow minus its inflow. The outflow of a set S is at most its cut, so a
 * set with value(S) - scale cut(S) > 0 is an obstacle; without such a set there is a feasible flow
 * (max-flow min-cut theorem). Flows between different regions are frozen. */
#ifndef VXS_GRAPH_FLOW_H
#define VXS_GRAPH_FLOW_H

#include "voxsift/internal/graph.h"

typedef struct {
    uint32_t head, mate;
    double weight, flow; /* the mate's flow is the negative */
} vxs_arc;

typedef struct {
    uint32_t region;
    uint32_t height; /* a lower bound on the number of residual arcs to a node with a deficit */
    double excess;   /* value minus net outflow */
} vxs_flow_node;

/* The arcs of node k are starts[k] ... starts[k + 1] - 1. An edge is two arcs, each the `mate` of
 * the other. With sparsity > 0 there is a reference node, whose weight is fixed at 0 and which
 * edges of weight `sparsity` connect to all others: |w_j| = |w_j - w_reference|. */
struct vxs_flow {
    size_t nodes, has_reference;       /* nodes without the reference node; 1 if it exists */
    double sparsity, scale, direction; /* direction: -1 while signs are turned, else 1 */
    size_t *starts;
    vxs_arc *arcs;
    vxs_flow_node *node; /* per node */
    size_t *next;        /* current arc of a node */
    int8_t *side;        /* per node: 1 on the source side of the minimum cut, -1 on that with signs
                   * turned */
    uint32_t *queue;     /* circular buffer of nodes + 1 entries */
    bool *queued;        /* per node: in the queue */
    uint32_t *active;    /* nodes of regions that are not final */
    uint32_t *order;     /* nodes in breadth-first order */
    double *region_mean, *region_size; /* per region: mean value and number of nodes */
    uint32_t *upper_label;  /* per region: label of the region split off its source side, or 0 */
    double *node_mean;      /* per node: mean of its final region */
    double tolerance;       /* smaller excess is rounding error */
    uint64_t maximizations; /* number of maximum flows */
};

static inline size_t vxs_flow_nodes(const vxs_flow *f)
{
    return f->nodes + f->has_reference;
}

/* Residual capacity of an arc. */
static inline double vxs_flow_residual(const vxs_flow *f, size_t arc)
{
    return f->scale * f->arcs[arc].weight - f->direction * f->arcs[arc].flow;
}

/* Net outflow of a node. */
static inline double vxs_flow_out(const vxs_flow *f, size_t node)
{
    double sum = 0;
    for (size_t a = f->starts[node]; a < f->starts[node + 1]; a++)
        sum += f->arcs[a].flow;
    return sum;
}

/* Merges all nodes into one region, clips the flows to the capacities of the new scale and resets
 * `active` to all nodes. */
void vxs_flow_merge_regions(vxs_flow *flow, double scale);
/* Sets the rounding tolerance for values of this magnitude. */
void vxs_flow_set_tolerance(vxs_flow *flow, const double *value);
/* Computes a maximum flow within the regions of the nodes in `active` (complete regions), starting
 * from the current flow and excess, and sets `side` to the smallest source side of a minimum cut.
 * The reference node takes up to its capacity from each node of its region, or gives it, so that
 * this region has two such sides. Returns the remaining excess: the violation. */
double vxs_flow_maximize(vxs_flow *flow, size_t count);
/* Splits each of the first `regions` regions into the source side of its minimum cut, where values
 * exceed the region's mean and which gets a new label, and the rest; that of the reference node,
 * whose value is 0, into up to three parts. `active` has `count` nodes;
 * those of unsplit regions leave it. Returns the number of regions; `violation` is the sum of
 * remaining excess. */
size_t vxs_flow_split(vxs_flow *flow, const double *value, size_t regions, size_t *count,
                      double *violation);
/* Labels the connected components within regions by their smallest node, that of the reference node
 * first; returns their number. */
size_t vxs_flow_components(vxs_flow *flow, uint32_t *component);

#endif
