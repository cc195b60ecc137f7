/* flow.c - maximum flows by push-relabel.
 *
 * Nodes whose weight may stay at 0 keep up to a margin of their value, instead of arcs to the
 * reference node: what is above it is pushed to nodes that have room, then what is below its
 * negative is drawn from nodes that have some, which is the same with all signs changed. The second
 * changes nothing of the first, as nothing leaves a set whose arcs are saturated, and few nodes
 * have anything to push.
 *
 * First in, first out: a node's excess is pushed along admissible arcs (residual capacity, height
 * one lower); a node without admissible arc is relabeled to one more than its lowest residual
 * neighbor. A breadth-first search from the nodes with a deficit recomputes the heights (global
 * relabeling) after as many relabelings as there are nodes on the way to one. Capacities are real
 * numbers: a saturated arc stores its capacity itself instead of a rounded sum, and excess below
 * the rounding error stays where it is. */
#include "graph/flow.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#define NO_NODE  UINT32_MAX
#define ROUNDING 1e-14 /* relative to the largest value: a smaller excess is rounding error */
#define FEW      500   /* relabelings before a global one, besides one a node on the way */

/* ---- The network ----------------------------------------------------------------------------- */

void vxs_flow_free(vxs_flow *f)
{
    if (!f)
        return;
    free(f->starts);
    free(f->arcs);
    free(f->node);
    free(f->next);
    free(f->side);
    free(f->queue);
    free(f->queued);
    free(f->active);
    free(f->order);
    free(f->region_mean);
    free(f->region_size);
    free(f->upper_label);
    free(f->node_mean);
    free(f);
}

static vxs_status allocate(vxs_flow *f, size_t arcs, vxs_error *err)
{
    size_t nodes = vxs_flow_nodes(f);
    if (arcs >= UINT32_MAX || nodes >= UINT32_MAX)
        return vxs_fail(err, VXS_BAD_DATA, "a graph of %zu edges is too large", arcs / 2);
    f->starts = vxs_alloc(nodes + 2, sizeof(*f->starts), err);
    f->arcs = vxs_alloc(arcs, sizeof(*f->arcs), err);
    f->node = vxs_alloc(nodes, sizeof(*f->node), err);
    f->next = vxs_alloc(nodes, sizeof(*f->next), err);
    f->side = vxs_alloc(nodes, sizeof(*f->side), err);
    f->queue = vxs_alloc(nodes + 1, sizeof(*f->queue), err);
    f->queued = vxs_alloc(nodes, sizeof(*f->queued), err);
    f->active = vxs_alloc(nodes, sizeof(*f->active), err);
    f->order = vxs_alloc(nodes, sizeof(*f->order), err);
    f->region_mean = vxs_alloc(nodes, sizeof(*f->region_mean), err);
    f->region_size = vxs_alloc(nodes, sizeof(*f->region_size), err);
    f->upper_label = vxs_alloc(nodes, sizeof(*f->upper_label), err);
    f->node_mean = vxs_alloc(nodes, sizeof(*f->node_mean), err);
    return f->starts && f->arcs && f->node && f->next && f->side && f->queue && f->queued &&
                   f->active && f->order && f->region_mean && f->region_size && f->upper_label &&
                   f->node_mean
               ? VXS_OK
               : VXS_FAILED;
}

static void add_arcs(vxs_flow *f, size_t from, size_t to, double weight)
{
    size_t forth = f->starts[from + 1]++, back = f->starts[to + 1]++;
    f->arcs[forth].head = (uint32_t)to;
    f->arcs[back].head = (uint32_t)from;
    f->arcs[forth].mate = (uint32_t)back;
    f->arcs[back].mate = (uint32_t)forth;
    f->arcs[forth].weight = f->arcs[back].weight = weight;
}

/* Builds the adjacency lists (counting sort); skips loops. starts is shifted by one entry while
 * arcs are added, which add_arcs undoes. */
static void build_arcs(vxs_flow *f, const vxs_graph *g)
{
    size_t nodes = vxs_flow_nodes(f), reference = g->nodes;
    for (size_t e = 0; e < g->count; e++)
        if (g->from[e] != g->to[e]) {
            f->starts[g->from[e] + 2]++;
            f->starts[g->to[e] + 2]++;
        }
    for (size_t k = 0; k < reference && f->has_reference; k++) {
        f->starts[k + 2]++;
        f->starts[reference + 2]++;
    }
    for (size_t k = 2; k <= nodes + 1; k++)
        f->starts[k] += f->starts[k - 1];
    for (size_t e = 0; e < g->count; e++)
        if (g->from[e] != g->to[e])
            add_arcs(f, g->from[e], g->to[e], g->weight[e]);
    for (size_t k = 0; k < reference && f->has_reference; k++)
        add_arcs(f, k, reference, f->sparsity);
}

vxs_status vxs_flow_new(const vxs_graph *graph, double sparsity, vxs_flow **flow, vxs_error *err)
{
    vxs_flow *f = vxs_alloc(1, sizeof(*f), err);
    if (!f)
        return VXS_FAILED;
    f->nodes = graph->nodes;
    f->has_reference = sparsity > 0;
    f->sparsity = sparsity;
    f->scale = f->direction = 1;
    vxs_status status = allocate(f, 2 * (graph->count + f->has_reference * graph->nodes), err);
    if (status) {
        vxs_flow_free(f);
        return status;
    }
    build_arcs(f, graph);
    *flow = f;
    return VXS_OK;
}

void vxs_flow_merge_regions(vxs_flow *f, double scale)
{
    size_t nodes = vxs_flow_nodes(f);
    for (size_t k = 0; k < nodes; k++)
        f->node[k].region = 0;
    for (size_t a = 0; a < f->starts[nodes] && scale < f->scale; a++)
        f->arcs[a].flow =
            fmax(-scale * f->arcs[a].weight, fmin(scale * f->arcs[a].weight, f->arcs[a].flow));
    for (size_t k = 0; k < nodes; k++)
        f->active[k] = (uint32_t)k;
    f->scale = scale;
}

void vxs_flow_set_tolerance(vxs_flow *f, const double *value)
{
    double largest = 0;
    for (size_t k = 0; k < f->nodes; k++)
        largest = fmax(largest, fabs(value[k]));
    f->tolerance = ROUNDING * largest;
}

/* ---- Heights --------------------------------------------------------------------------------- */

/* Whether a node without a deficit has a residual arc to one. */
static bool is_next_to_deficit(const vxs_flow *f, uint32_t k)
{
    for (size_t a = f->starts[k]; a < f->starts[k + 1]; a++) {
        const vxs_flow_node *other = &f->node[f->arcs[a].head];
        if (other->height == 0 && other->region == f->node[k].region && vxs_flow_residual(f, a) > 0)
            return true;
    }
    return false;
}

/* Global relabeling: the distance to the nearest node with a deficit; the number of nodes if none
 * is reachable. Lists the nodes without a deficit that reach one. */
static size_t relabel_globally(vxs_flow *f, size_t count)
{
    uint32_t unreachable = (uint32_t)vxs_flow_nodes(f);
    size_t found = 0;
    uint32_t *order = f->order;
    for (size_t i = 0; i < count; i++) {
        uint32_t k = f->active[i];
        f->node[k].height = f->node[k].excess < -f->tolerance ? 0 : unreachable;
        f->next[k] = f->starts[k];
    }
    for (size_t i = 0; i < count; i++)
        if (f->node[f->active[i]].height > 0 && is_next_to_deficit(f, f->active[i]))
            order[found++] = f->active[i];
    for (size_t i = 0; i < found; i++)
        f->node[order[i]].height = 1;
    for (size_t i = 0; i < found; i++) {
        uint32_t k = order[i];
        for (size_t a = f->starts[k]; a < f->starts[k + 1]; a++) {
            uint32_t other = f->arcs[a].head;
            if (f->node[other].height == unreachable &&
                f->node[other].region == f->node[k].region &&
                vxs_flow_residual(f, f->arcs[a].mate) > 0) {
                f->node[other].height = f->node[k].height + 1;
                order[found++] = other;
            }
        }
    }
    return found;
}

/* ---- Pushing --------------------------------------------------------------------------------- */

typedef struct {
    size_t first, count; /* of the circular buffer */
    size_t relabelings;
} fifo;

static void enqueue(vxs_flow *f, fifo *l, uint32_t k)
{
    size_t capacity = vxs_flow_nodes(f) + 1;
    if (f->queued[k])
        return;
    f->queue[(l->first + l->count++) % capacity] = k;
    f->queued[k] = true;
}

static uint32_t dequeue(vxs_flow *f, fifo *l)
{
    uint32_t k = f->queue[l->first];
    l->first = l->first == vxs_flow_nodes(f) ? 0 : l->first + 1;
    l->count--;
    f->queued[k] = false;
    return k;
}

static void push(vxs_flow *f, fifo *l, uint32_t k, size_t a)
{
    uint32_t other = f->arcs[a].head;
    double residual = vxs_flow_residual(f, a),
           amount = f->node[k].excess < residual ? f->node[k].excess : residual;
    f->arcs[a].flow = amount < residual ? f->arcs[a].flow + f->direction * amount
                                        : f->direction * f->scale * f->arcs[a].weight;
    f->arcs[f->arcs[a].mate].flow = -f->arcs[a].flow;
    f->node[k].excess -= amount;
    f->node[other].excess += amount;
    if (f->node[other].excess > f->tolerance)
        enqueue(f, l, other);
}

/* Relabel: one more than the lowest residual neighbor. */
static void relabel(vxs_flow *f, fifo *l, uint32_t k)
{
    uint32_t lowest = (uint32_t)vxs_flow_nodes(f) - 1;
    for (size_t a = f->starts[k]; a < f->starts[k + 1]; a++) {
        uint32_t other = f->arcs[a].head;
        if (f->node[other].height < lowest && f->node[other].region == f->node[k].region &&
            vxs_flow_residual(f, a) > 0)
            lowest = f->node[other].height;
    }
    f->node[k].height = lowest + 1;
    f->next[k] = f->starts[k];
    l->relabelings++;
}

/* Pushes and relabels until the excess is gone or cannot reach a deficit. */
static void discharge(vxs_flow *f, fifo *l, uint32_t k)
{
    uint32_t unreachable = (uint32_t)vxs_flow_nodes(f);
    while (f->node[k].excess > f->tolerance && f->node[k].height < unreachable) {
        size_t a = f->next[k];
        if (a == f->starts[k + 1]) {
            relabel(f, l, k);
            continue;
        }
        uint32_t other = f->arcs[a].head;
        if (f->node[k].height == f->node[other].height + 1 &&
            f->node[other].region == f->node[k].region && vxs_flow_residual(f, a) > 0)
            push(f, l, k, a);
        if (f->node[k].excess > f->tolerance)
            f->next[k]++;
    }
}

/* ---- The cut --------------------------------------------------------------------------------- */

/* Marks the source side of the minimum cut: all nodes that residual excess can reach. */
static double find_source_side(vxs_flow *f, size_t count, int8_t mark)
{
    size_t found = 0;
    uint32_t *order = f->queue;
    double sum = 0;
    for (size_t i = 0; i < count; i++) {
        uint32_t k = f->active[i];
        if (f->node[k].excess > f->tolerance) {
            f->side[k] = mark;
            sum += f->node[k].excess;
            order[found++] = k;
        }
    }
    for (size_t i = 0; i < found; i++) {
        uint32_t k = order[i];
        for (size_t a = f->starts[k]; a < f->starts[k + 1]; a++) {
            uint32_t other = f->arcs[a].head;
            if (f->side[other] != mark && f->node[other].region == f->node[k].region &&
                vxs_flow_residual(f, a) > 0) {
                f->side[other] = mark;
                order[found++] = other;
            }
        }
    }
    return sum;
}

/* Enqueues active nodes by decreasing height, so that excess from several nodes is pushed on
 * together. */
static void enqueue_active(vxs_flow *f, fifo *l, size_t reached)
{
    for (size_t i = reached; i-- > 0;)
        if (f->node[f->order[i]].excess > f->tolerance)
            enqueue(f, l, f->order[i]);
}

static double push_excess(vxs_flow *f, size_t count, int8_t mark)
{
    fifo l = { .relabelings = 0 };
    size_t reached = relabel_globally(f, count);
    enqueue_active(f, &l, reached);
    while (l.count > 0) {
        discharge(f, &l, dequeue(f, &l));
        if (l.relabelings > reached + FEW) {
            while (l.count > 0)
                dequeue(f, &l);
            reached = relabel_globally(f, count);
            enqueue_active(f, &l, reached);
            l.relabelings = 0;
        }
    }
    f->maximizations++;
    return find_source_side(f, count, mark);
}

/* ---- Margins --------------------------------------------------------------------------------- */

/* The last one of the node: build_arcs adds those to the reference node after all edges. */
static vxs_arc *reference_arc(const vxs_flow *f, uint32_t k)
{
    return &f->arcs[f->starts[k + 1] - 1];
}

/* The nodes of the reference node's region get a margin instead of arcs to it; false if there are
 * none. */
static bool give_margins(vxs_flow *f, size_t count, uint32_t region, double margin)
{
    bool any = false;
    for (size_t i = 0; i < count; i++) {
        uint32_t k = f->active[i];
        if (k == f->nodes)
            f->node[k].excess = 0;
        else if (f->node[k].region == region) {
            f->node[k].excess += reference_arc(f, k)->flow - margin;
            any = true;
        }
    }
    return any;
}

/* From what is above the margin to what is below its negative; others take no part. */
static void turn_signs(vxs_flow *f, size_t count, uint32_t region, double margin)
{
    f->direction = -1;
    for (size_t i = 0; i < count; i++) {
        vxs_flow_node *node = &f->node[f->active[i]];
        node->excess = node->region == region ? -node->excess - 2 * margin : 0;
    }
}

/* What nodes keep within their margins is the flow to the reference node. */
static void take_margins(vxs_flow *f, size_t count, uint32_t region, double margin)
{
    f->direction = 1;
    for (size_t i = 0; i < count; i++) {
        uint32_t k = f->active[i];
        if (k == f->nodes || f->node[k].region != region)
            continue;
        vxs_arc *arc = reference_arc(f, k);
        double kept = -f->node[k].excess - margin;
        arc->flow = fmax(-margin, fmin(margin, kept));
        f->arcs[arc->mate].flow = -arc->flow;
        f->node[k].excess = kept - arc->flow;
    }
}

double vxs_flow_maximize(vxs_flow *f, size_t count)
{
    uint32_t region = f->has_reference ? f->node[f->nodes].region : 0;
    double margin = f->scale * f->sparsity;
    bool margins = f->has_reference && give_margins(f, count, region, margin);
    for (size_t i = 0; i < count; i++)
        f->side[f->active[i]] = 0;
    if (f->has_reference)
        f->node[f->nodes].region = NO_NODE; /* its arcs are not used */
    double sum = push_excess(f, count, 1);
    if (margins) {
        turn_signs(f, count, region, margin);
        sum += push_excess(f, count, -1);
        take_margins(f, count, region, margin);
    }
    if (f->has_reference)
        f->node[f->nodes].region = region;
    return sum;
}

/* ---- Connected components -------------------------------------------------------------------- */

/* Labels the nodes that edges within regions connect to `from`. */
static void label_component(vxs_flow *f, uint32_t *component, uint32_t from, uint32_t label)
{
    size_t found = 0, next = 0;
    uint32_t *order = f->order;
    component[from] = label;
    order[found++] = from;
    for (; next < found; next++) {
        uint32_t k = order[next];
        for (size_t a = f->starts[k]; a < f->starts[k + 1]; a++)
            if (component[f->arcs[a].head] == NO_NODE &&
                f->node[f->arcs[a].head].region == f->node[k].region) {
                component[f->arcs[a].head] = label;
                order[found++] = f->arcs[a].head;
            }
    }
}

size_t vxs_flow_components(vxs_flow *f, uint32_t *component)
{
    size_t nodes = vxs_flow_nodes(f), count = 0;
    for (size_t k = 0; k < nodes; k++)
        component[k] = NO_NODE;
    if (f->has_reference)
        label_component(f, component, (uint32_t)f->nodes, (uint32_t)count++);
    for (size_t k = 0; k < nodes; k++)
        if (component[k] == NO_NODE)
            label_component(f, component, (uint32_t)k, (uint32_t)count++);
    return count;
}
