/* check_graph.c - the dual norm of the fused penalty, by maximum flows of the checker's own.
 *
 * Problem   max over node sets S of |v(S)| / (cut(S) + sparsity |S|); with sparsity the larger norm
 *           of v and -v, without it either, since the complement of S balances it
 * Method    Dinkelbach: no set exceeds rho if a flow of at max rho x weight on each edge carries
 *           the excess v - rho sparsity of all nodes (max-flow min-cut); else the minimum cut is a
 *           set that does, and its ratio the next rho. Of a disconnected set the best component is
 *           taken. Push-relabel with a queue: a node with excess pushes along admissible arcs
 *           (label one lower), else is relabeled; exact labels by breadth-first search after as
 *           many relabelings as there are nodes. A push saturates an arc or empties a node exactly,
 *           so that only sums round, which are recomputed for each rho
 * Source    Goldberg and Tarjan 1988; Dinkelbach 1967 */
#include "verify/check.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#define ROUNDING 1e-15 /* of the largest value: excess below this is 0 */
#define FINE     1e-12 /* relative increase of the norm that is rounding */

/* Edge e has the arcs 2 e (from -> to) and 2 e + 1 (reverse); those that leave node k are
 * arcs[starts[k]] ... arcs[starts[k + 1] - 1]. */
struct vxs_check_network {
    size_t nodes, edges;
    double sparsity, tolerance;
    uint32_t *head;      /* of an arc */
    double *weight;      /* of an edge */
    double *residual;    /* of an arc: residual capacity */
    size_t *starts;      /* of a node */
    uint32_t *arcs;      /* sorted by tail */
    double *excess;      /* of a node: excess, negative for a deficit */
    size_t *current;     /* of a node: current arc */
    uint32_t *label;     /* of a node: label, a lower bound of the distance to a deficit */
    bool *in_set;        /* in the set; during a flow: in the queue */
    uint32_t *queue;     /* ring buffer of nodes with excess; or nodes of the set */
    size_t first, count; /* of the ring buffer */
};

void vxs_check_network_free(vxs_check_network *g)
{
    if (!g)
        return;
    free(g->head);
    free(g->weight);
    free(g->residual);
    free(g->starts);
    free(g->arcs);
    free(g->excess);
    free(g->current);
    free(g->label);
    free(g->in_set);
    free(g->queue);
    free(g);
}

/* ---- The network ----------------------------------------------------------------------------- */

static vxs_status allocate(vxs_check_network *g, vxs_error *err)
{
    if (g->edges >= UINT32_MAX / 2 - 1 || g->nodes >= UINT32_MAX)
        return vxs_fail(err, VXS_BAD_DATA, "a graph of %zu edges is too large", g->edges);
    g->head = vxs_alloc(2 * g->edges, sizeof(*g->head), err);
    g->weight = vxs_alloc(g->edges, sizeof(*g->weight), err);
    g->residual = vxs_alloc(2 * g->edges, sizeof(*g->residual), err);
    g->starts = vxs_alloc(g->nodes + 1, sizeof(*g->starts), err);
    g->arcs = vxs_alloc(2 * g->edges, sizeof(*g->arcs), err);
    g->excess = vxs_alloc(g->nodes, sizeof(*g->excess), err);
    g->current = vxs_alloc(g->nodes, sizeof(*g->current), err);
    g->label = vxs_alloc(g->nodes, sizeof(*g->label), err);
    g->in_set = vxs_alloc(g->nodes, sizeof(*g->in_set), err);
    g->queue = vxs_alloc(g->nodes, sizeof(*g->queue), err);
    return g->head && g->weight && g->residual && g->starts && g->arcs && g->excess && g->current &&
                   g->label && g->in_set && g->queue
               ? VXS_OK
               : VXS_FAILED;
}

static uint32_t tail(const vxs_check_network *g, size_t arc)
{
    return g->head[arc ^ 1];
}

vxs_status vxs_check_network_new(const vxs_graph *graph, double sparsity,
                                 vxs_check_network **network, vxs_error *err)
{
    vxs_check_network *g = vxs_alloc(1, sizeof(*g), err);
    if (!g)
        return VXS_FAILED;
    g->nodes = graph->nodes;
    g->edges = graph->count;
    g->sparsity = sparsity;
    vxs_status status = allocate(g, err);
    if (status) {
        vxs_check_network_free(g);
        return status;
    }
    for (size_t e = 0; e < g->edges; e++) {
        g->head[2 * e] = (uint32_t)graph->to[e];
        g->head[2 * e + 1] = (uint32_t)graph->from[e];
        g->weight[e] = graph->weight[e];
    }
    for (size_t a = 0; a < 2 * g->edges; a++)
        g->starts[tail(g, a)]++;
    for (size_t k = 1; k <= g->nodes; k++)
        g->starts[k] += g->starts[k - 1];
    for (size_t a = 2 * g->edges; a-- > 0;) /* counting sort */
        g->arcs[--g->starts[tail(g, a)]] = (uint32_t)a;
    *network = g;
    return VXS_OK;
}

/* Keeps the flow; residual capacities and excesses for the new rho. */
static void set_capacities(vxs_check_network *g, const double *v, double sign, double rho)
{
    for (size_t k = 0; k < g->nodes; k++)
        g->excess[k] = sign * v[k] - rho * g->sparsity;
    for (size_t e = 0; e < g->edges; e++) {
        double flow = (g->residual[2 * e + 1] - g->residual[2 * e]) / 2;
        g->residual[2 * e] = fmax(0, rho * g->weight[e] - flow);
        g->residual[2 * e + 1] = fmax(0, rho * g->weight[e] + flow);
        g->excess[g->head[2 * e + 1]] -= flow;
        g->excess[g->head[2 * e]] += flow;
    }
}

/* ---- Maximum flow ---------------------------------------------------------------------------- */

static bool has_excess(const vxs_check_network *g, size_t k)
{
    return g->excess[k] > g->tolerance;
}

static void enqueue(vxs_check_network *g, uint32_t k)
{
    if (g->in_set[k])
        return;
    g->in_set[k] = true;
    g->queue[(g->first + g->count++) % g->nodes] = k;
}

static uint32_t dequeue(vxs_check_network *g)
{
    uint32_t k = g->queue[g->first];
    g->first = (g->first + 1) % g->nodes;
    g->count--;
    g->in_set[k] = false;
    return k;
}

/* Exact labels by breadth-first search from deficits; queues the nodes with excess that reach
 * one. */
static void find_labels(vxs_check_network *g)
{
    size_t seen = 0;
    uint32_t unreachable = (uint32_t)g->nodes;
    for (size_t k = 0; k < g->nodes; k++) {
        bool deficit = g->excess[k] < -g->tolerance;
        g->current[k] = g->starts[k];
        g->in_set[k] = false;
        g->label[k] = deficit ? 0 : unreachable;
        if (deficit)
            g->queue[seen++] = (uint32_t)k;
    }
    for (size_t i = 0; i < seen; i++) {
        uint32_t k = g->queue[i];
        for (size_t s = g->starts[k]; s < g->starts[k + 1]; s++) {
            size_t a = g->arcs[s];
            uint32_t other = g->head[a];
            if (g->label[other] == unreachable && g->residual[a ^ 1] > 0) {
                g->label[other] = g->label[k] + 1;
                g->queue[seen++] = other;
            }
        }
    }
    g->first = g->count = 0;
    for (size_t k = 0; k < g->nodes; k++)
        if (has_excess(g, k) && g->label[k] < unreachable)
            enqueue(g, (uint32_t)k);
}

static void push(vxs_check_network *g, uint32_t k, size_t a)
{
    uint32_t other = g->head[a];
    double amount = fmin(g->excess[k], g->residual[a]);
    g->residual[a] -= amount;
    g->residual[a ^ 1] += amount;
    g->excess[k] -= amount;
    g->excess[other] += amount;
    if (has_excess(g, other))
        enqueue(g, other);
}

/* Relabel: one more than the lowest label among residual arcs. */
static void relabel(vxs_check_network *g, uint32_t k)
{
    uint32_t lowest = (uint32_t)g->nodes - 1;
    for (size_t s = g->starts[k]; s < g->starts[k + 1]; s++) {
        uint32_t a = g->arcs[s], other = g->head[a];
        if (g->residual[a] > 0 && g->label[other] < lowest)
            lowest = g->label[other];
    }
    g->label[k] = lowest + 1;
    g->current[k] = g->starts[k];
}

/* Pushes until no excess or no deficit is reachable; returns the number of relabelings. */
static size_t discharge(vxs_check_network *g, uint32_t k)
{
    size_t relabelings = 0;
    while (has_excess(g, k) && g->label[k] < g->nodes) {
        if (g->current[k] == g->starts[k + 1]) {
            relabel(g, k);
            relabelings++;
            continue;
        }
        size_t a = g->arcs[g->current[k]];
        if (g->residual[a] > 0 && g->label[g->head[a]] + 1 == g->label[k])
            push(g, k, a);
        g->current[k] += has_excess(g, k);
    }
    return relabelings;
}

static void max_flow(vxs_check_network *g)
{
    size_t relabelings = 0;
    find_labels(g);
    while (g->count > 0) {
        relabelings += discharge(g, dequeue(g));
        if (relabelings > g->nodes) {
            find_labels(g);
            relabelings = 0;
        }
    }
}

/* ---- Minimum cut ----------------------------------------------------------------------------- */

/* The nodes reachable from excess in the residual graph; their label is set to 0. */
static void find_cut(vxs_check_network *g)
{
    size_t seen = 0;
    for (size_t k = 0; k < g->nodes; k++) {
        g->in_set[k] = has_excess(g, k);
        if (g->in_set[k])
            g->queue[seen++] = (uint32_t)k;
    }
    for (size_t i = 0; i < seen; i++)
        for (size_t s = g->starts[g->queue[i]]; s < g->starts[g->queue[i] + 1]; s++) {
            size_t a = g->arcs[s];
            if (g->residual[a] > 0 && !g->in_set[g->head[a]]) {
                g->in_set[g->head[a]] = true;
                g->queue[seen++] = g->head[a];
            }
        }
    for (size_t k = 0; k < g->nodes; k++)
        g->label[k] = !g->in_set[k];
}

/* v(S) / (cut + sparsity |S|) of the component of a node, which is removed from the set. */
static double component_ratio(vxs_check_network *g, const double *v, double sign, uint32_t first)
{
    size_t seen = 1;
    double sum = 0, cut = 0;
    g->queue[0] = first;
    g->in_set[first] = false;
    for (size_t i = 0; i < seen; i++) {
        uint32_t k = g->queue[i];
        sum += sign * v[k];
        cut += g->sparsity;
        for (size_t s = g->starts[k]; s < g->starts[k + 1]; s++) {
            uint32_t other = g->head[g->arcs[s]];
            cut += g->label[other] == 0 ? 0 : g->weight[g->arcs[s] / 2];
            if (g->in_set[other]) {
                g->in_set[other] = false;
                g->queue[seen++] = other;
            }
        }
    }
    return cut > 0 ? sum / cut : 0;
}

/* The maximum over the set's components. */
static double max_ratio(vxs_check_network *g, const double *v, double sign)
{
    double max = 0;
    find_cut(g);
    for (size_t k = 0; k < g->nodes; k++)
        if (g->in_set[k])
            max = fmax(max, component_ratio(g, v, sign, (uint32_t)k));
    return max;
}

/* The maximum over single nodes: the initial rho. */
static double max_node_ratio(const vxs_check_network *g, const double *v)
{
    double max = 0;
    for (size_t k = 0; k < g->nodes; k++) {
        double cut = g->sparsity;
        for (size_t s = g->starts[k]; s < g->starts[k + 1]; s++)
            cut += g->head[g->arcs[s]] == k ? 0 : g->weight[g->arcs[s] / 2];
        max = fmax(max, cut > 0 ? fabs(v[k]) / cut : 0);
    }
    return max;
}

double vxs_check_network_dual_norm(vxs_check_network *g, const double *v)
{
    double norm = max_node_ratio(g, v), max = 0, ratio = 0;
    for (size_t k = 0; k < g->nodes; k++)
        max = fmax(max, fabs(v[k]));
    g->tolerance = ROUNDING * max;
    for (int pass = 0; pass < (g->sparsity > 0 ? 2 : 1); pass++) {
        double sign = pass == 0 ? 1 : -1;
        memset(g->residual, 0, 2 * g->edges * sizeof(*g->residual));
        for (;;) {
            set_capacities(g, v, sign, norm);
            max_flow(g);
            ratio = max_ratio(g, v, sign);
            if (!(ratio > norm * (1 + FINE)))
                break;
            norm = ratio;
        }
    }
    return norm;
}
