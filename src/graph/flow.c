/* flow.c - maximal flows from nodes that have too much to nodes that have too little.
 *
 * Push and relabel, first in first out: what a node has too much goes along arcs that lead one step
 * nearer to a node that has too little; where there is none, its height is one more than that of
 * the lowest neighbour it can reach. Heights are measured anew, by a search from those that have
 * too little, when about as many have been raised as there are nodes. Real numbers all through: an
 * arc that is filled gets its capacity itself, not a sum that is near it, and excess that is no
 * more than rounding stays where it is. */
#include "graph/flow.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#define ROUNDING 1e-14 /* of the largest value: excess that is none */

/* ---- The network ----------------------------------------------------------------------------- */

void vxs_flow_free(vxs_flow *f)
{
    if (!f)
        return;
    free(f->starts);
    free(f->arcs);
    free(f->part);
    free(f->excess);
    free(f->height);
    free(f->next);
    free(f->up);
    free(f->queue);
    free(f->waits);
    free(f->list);
    free(f->order);
    free(f->level);
    free(f->size);
    free(f->above);
    free(f->mean);
    free(f);
}

static vxs_status take_room(vxs_flow *f, size_t arcs, vxs_error *err)
{
    size_t nodes = vxs_flow_nodes(f);
    if (arcs >= UINT32_MAX || nodes >= UINT32_MAX)
        return vxs_fail(err, VXS_BAD_DATA, "a graph of %zu edges is too large", arcs / 2);
    f->starts = vxs_alloc(nodes + 2, sizeof(*f->starts), err);
    f->arcs = vxs_alloc(arcs, sizeof(*f->arcs), err);
    f->part = vxs_alloc(nodes, sizeof(*f->part), err);
    f->excess = vxs_alloc(nodes, sizeof(*f->excess), err);
    f->height = vxs_alloc(nodes, sizeof(*f->height), err);
    f->next = vxs_alloc(nodes, sizeof(*f->next), err);
    f->up = vxs_alloc(nodes, sizeof(*f->up), err);
    f->queue = vxs_alloc(nodes + 1, sizeof(*f->queue), err);
    f->waits = vxs_alloc(nodes, sizeof(*f->waits), err);
    f->list = vxs_alloc(nodes, sizeof(*f->list), err);
    f->order = vxs_alloc(nodes, sizeof(*f->order), err);
    f->level = vxs_alloc(nodes, sizeof(*f->level), err);
    f->size = vxs_alloc(nodes, sizeof(*f->size), err);
    f->above = vxs_alloc(nodes, sizeof(*f->above), err);
    f->mean = vxs_alloc(nodes, sizeof(*f->mean), err);
    return f->starts && f->arcs && f->part && f->excess && f->height && f->next && f->up &&
                   f->queue && f->waits && f->list && f->order && f->level && f->size && f->above &&
                   f->mean
               ? VXS_OK
               : VXS_FAILED;
}

static void add_arcs(vxs_flow *f, size_t from, size_t to, double weight)
{
    size_t there = f->starts[from + 1]++, back = f->starts[to + 1]++;
    f->arcs[there].head = (uint32_t)to;
    f->arcs[back].head = (uint32_t)from;
    f->arcs[there].mate = (uint32_t)back;
    f->arcs[back].mate = (uint32_t)there;
    f->arcs[there].weight = f->arcs[back].weight = weight;
}

/* An edge from a node to itself carries nothing. Counts go two places behind, so that places are
 * one behind while arcs are added, and where they should be in the end. */
static void lay_arcs(vxs_flow *f, const vxs_graph *g)
{
    size_t nodes = vxs_flow_nodes(f), ground = g->nodes;
    for (size_t e = 0; e < g->count; e++)
        if (g->from[e] != g->to[e]) {
            f->starts[g->from[e] + 2]++;
            f->starts[g->to[e] + 2]++;
        }
    for (size_t k = 0; k < ground && f->grounded; k++) {
        f->starts[k + 2]++;
        f->starts[ground + 2]++;
    }
    for (size_t k = 2; k <= nodes + 1; k++)
        f->starts[k] += f->starts[k - 1];
    for (size_t e = 0; e < g->count; e++)
        if (g->from[e] != g->to[e])
            add_arcs(f, g->from[e], g->to[e], g->weight[e]);
    for (size_t k = 0; k < ground && f->grounded; k++)
        add_arcs(f, k, ground, f->sparsity);
}

vxs_status vxs_flow_new(const vxs_graph *graph, double sparsity, vxs_flow **flow, vxs_error *err)
{
    vxs_flow *f = vxs_alloc(1, sizeof(*f), err);
    if (!f)
        return VXS_FAILED;
    f->nodes = graph->nodes;
    f->grounded = sparsity > 0;
    f->sparsity = sparsity;
    f->scale = 1;
    vxs_status status = take_room(f, 2 * (graph->count + f->grounded * graph->nodes), err);
    if (status) {
        vxs_flow_free(f);
        return status;
    }
    lay_arcs(f, graph);
    *flow = f;
    return VXS_OK;
}

void vxs_flow_join(vxs_flow *f, double scale)
{
    size_t nodes = vxs_flow_nodes(f);
    memset(f->part, 0, nodes * sizeof(*f->part));
    for (size_t a = 0; a < f->starts[nodes] && scale < f->scale; a++)
        f->arcs[a].sent =
            fmax(-scale * f->arcs[a].weight, fmin(scale * f->arcs[a].weight, f->arcs[a].sent));
    for (size_t k = 0; k < nodes; k++)
        f->list[k] = (uint32_t)k;
    f->scale = scale;
}

void vxs_flow_tolerate(vxs_flow *f, const double *value)
{
    double most = 0;
    for (size_t k = 0; k < f->nodes; k++)
        most = fmax(most, fabs(value[k]));
    f->least = ROUNDING * most;
}

/* ---- Heights --------------------------------------------------------------------------------- */

/* Steps to the nearest node that has too little; as many as there are nodes when none can be
 * reached. */
static void measure_heights(vxs_flow *f, size_t count)
{
    uint32_t far = (uint32_t)vxs_flow_nodes(f);
    size_t seen = 0;
    uint32_t *order = f->order;
    for (size_t i = 0; i < count; i++) {
        uint32_t k = f->list[i];
        bool lacks = f->excess[k] < -f->least;
        f->height[k] = lacks ? 0 : far;
        f->next[k] = f->starts[k];
        if (lacks)
            order[seen++] = k;
    }
    for (size_t i = 0; i < seen; i++) {
        uint32_t k = order[i];
        for (size_t a = f->starts[k]; a < f->starts[k + 1]; a++) {
            uint32_t other = f->arcs[a].head;
            if (f->height[other] == far && f->part[other] == f->part[k] &&
                f->scale * f->arcs[a].weight + f->arcs[a].sent > 0) { /* what is left of the mate */
                f->height[other] = f->height[k] + 1;
                order[seen++] = other;
            }
        }
    }
}

/* ---- Pushing --------------------------------------------------------------------------------- */

typedef struct {
    size_t first, count; /* of the ring */
    size_t raised;
} line;

static void join_line(vxs_flow *f, line *l, uint32_t k)
{
    size_t size = vxs_flow_nodes(f) + 1;
    if (f->waits[k])
        return;
    f->queue[(l->first + l->count++) % size] = k;
    f->waits[k] = true;
}

static uint32_t leave_line(vxs_flow *f, line *l)
{
    uint32_t k = f->queue[l->first];
    l->first = l->first == vxs_flow_nodes(f) ? 0 : l->first + 1;
    l->count--;
    f->waits[k] = false;
    return k;
}

static void send(vxs_flow *f, line *l, uint32_t k, size_t a)
{
    uint32_t other = f->arcs[a].head;
    double left = vxs_flow_left(f, a), amount = f->excess[k] < left ? f->excess[k] : left;
    f->arcs[a].sent = amount < left ? f->arcs[a].sent + amount : f->scale * f->arcs[a].weight;
    f->arcs[f->arcs[a].mate].sent = -f->arcs[a].sent;
    f->excess[k] -= amount;
    f->excess[other] += amount;
    if (f->excess[other] > f->least)
        join_line(f, l, other);
}

/* One more than the lowest that it can reach. */
static void raise(vxs_flow *f, line *l, uint32_t k)
{
    uint32_t lowest = (uint32_t)vxs_flow_nodes(f) - 1;
    for (size_t a = f->starts[k]; a < f->starts[k + 1]; a++) {
        uint32_t other = f->arcs[a].head;
        if (f->height[other] < lowest && f->part[other] == f->part[k] && vxs_flow_left(f, a) > 0)
            lowest = f->height[other];
    }
    f->height[k] = lowest + 1;
    f->next[k] = f->starts[k];
    l->raised++;
}

/* Until it has nothing, or what it has can go nowhere. */
static void discharge(vxs_flow *f, line *l, uint32_t k)
{
    uint32_t far = (uint32_t)vxs_flow_nodes(f);
    while (f->excess[k] > f->least && f->height[k] < far) {
        size_t a = f->next[k];
        if (a == f->starts[k + 1]) {
            raise(f, l, k);
            continue;
        }
        uint32_t other = f->arcs[a].head;
        if (f->height[k] == f->height[other] + 1 && f->part[other] == f->part[k] &&
            vxs_flow_left(f, a) > 0)
            send(f, l, k, a);
        if (f->excess[k] > f->least)
            f->next[k]++;
    }
}

/* ---- The cut --------------------------------------------------------------------------------- */

/* Where what is left over can still go. */
static double find_cut(vxs_flow *f, size_t count)
{
    size_t seen = 0;
    uint32_t *order = f->queue;
    double sum = 0;
    for (size_t i = 0; i < count; i++) {
        uint32_t k = f->list[i];
        f->up[k] = f->excess[k] > f->least;
        if (f->up[k]) {
            sum += f->excess[k];
            order[seen++] = k;
        }
    }
    for (size_t i = 0; i < seen; i++) {
        uint32_t k = order[i];
        for (size_t a = f->starts[k]; a < f->starts[k + 1]; a++) {
            uint32_t other = f->arcs[a].head;
            if (!f->up[other] && f->part[other] == f->part[k] && vxs_flow_left(f, a) > 0) {
                f->up[other] = true;
                order[seen++] = other;
            }
        }
    }
    return sum;
}

static void line_up(vxs_flow *f, line *l, size_t count)
{
    uint32_t far = (uint32_t)vxs_flow_nodes(f);
    for (size_t i = 0; i < count; i++)
        if (f->excess[f->list[i]] > f->least && f->height[f->list[i]] < far)
            join_line(f, l, f->list[i]);
}

double vxs_flow_push(vxs_flow *f, size_t count)
{
    line l = { .raised = 0 };
    measure_heights(f, count);
    line_up(f, &l, count);
    while (l.count > 0) {
        discharge(f, &l, leave_line(f, &l));
        if (l.raised > count) {
            while (l.count > 0)
                leave_line(f, &l);
            measure_heights(f, count);
            line_up(f, &l, count);
            l.raised = 0;
        }
    }
    f->pushes++;
    return find_cut(f, count);
}
