/* flow.h - flows over the edges of a graph, in parts of its nodes; for the graph and solver rooms.
 *
 * A flow of at most `scale` times its weight runs over each edge, either way. Each node has a
 * value to be carried off: what it sends out, less what comes in. A set S of nodes can send no more
 * than its cut takes, so value(S) - scale cut(S) > 0 is in the way, and when there is no such set
 * there is a flow (max-flow min-cut). Parts do not exchange anything but what runs between them
 * already. */
#ifndef VXS_GRAPH_FLOW_H
#define VXS_GRAPH_FLOW_H

#include "voxsift/internal/graph.h"

typedef struct {
    uint32_t head, mate;
    double weight, sent; /* a mate sends the opposite */
} vxs_arc;

typedef struct {
    uint32_t part;
    uint32_t height; /* a lower bound on the arcs between it and a node that takes more */
    double excess;   /* what is yet to be carried off */
} vxs_place;

/* Arcs of node k: starts[k] ... starts[k + 1] - 1. An edge is two arcs, `mate` of each other. With
 * sparsity there is one more node, the ground, whose weight is 0 and that is tied to all others by
 * edges of weight `sparsity`: |w_j| is |w_j - w_ground|. */
struct vxs_flow {
    size_t nodes, grounded; /* without the ground; 1 when there is one */
    double sparsity, scale;
    size_t *starts;
    vxs_arc *arcs;
    vxs_place *at;        /* of nodes */
    size_t *next;         /* the arc of a node to be tried next */
    bool *up;             /* whether a node is in the set that is in the way */
    uint32_t *queue;      /* a ring of nodes + 1 */
    bool *waits;          /* in it */
    uint32_t *list;       /* nodes that are looked at */
    uint32_t *order;      /* nodes, as a search finds them */
    double *level, *size; /* of a part: its mean, and how many nodes it has */
    uint32_t *above;      /* of a part: the name of what rises from it, or 0 */
    double *mean;         /* of a node: its part's, when that stayed whole */
    double least;         /* excess below that is rounding */
    uint64_t pushes;      /* maximal flows that were made */
};

static inline size_t vxs_flow_nodes(const vxs_flow *f)
{
    return f->nodes + f->grounded;
}

/* What is left of an arc. */
static inline double vxs_flow_left(const vxs_flow *f, size_t arc)
{
    return f->scale * f->arcs[arc].weight - f->arcs[arc].sent;
}

/* Flow out of a node along its arcs. */
static inline double vxs_flow_out(const vxs_flow *f, size_t node)
{
    double sum = 0;
    for (size_t a = f->starts[node]; a < f->starts[node + 1]; a++)
        sum += f->arcs[a].sent;
    return sum;
}

/* All nodes are one part, whose flows are brought down to the scale, and all are in `list`. */
void vxs_flow_join(vxs_flow *flow, double scale);
/* What is no more than rounding, beside such values. */
void vxs_flow_tolerate(vxs_flow *flow, const double *value);
/* A maximal flow within the parts of the nodes in `list`, all of whose nodes are in it, from the
 * flow and excess as they are; then `up` are the nodes that excess above `least` can reach: the
 * smallest set that is in the way. Returns how much is in the way. */
double vxs_flow_push(vxs_flow *flow, size_t count);
/* Each of the first `parts` parts is split into what rises against its mean, which is `up` and gets
 * a new name, and the rest. `count` nodes are in `list`, those of parts that stay whole leave it.
 * Returns how many parts there are; `risen` is how much was in the way. */
size_t vxs_flow_split(vxs_flow *flow, const double *value, size_t parts, size_t *count,
                      double *risen);
/* Names what hangs together within parts, by its first nodes, that of the ground before all others;
 * returns how many there are. */
size_t vxs_flow_name(vxs_flow *flow, uint32_t *piece);

#endif
