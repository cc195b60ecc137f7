/* check_graph.c - the dual norm of a penalty on differences, by flows of the checker's own.
 *
 * The norm of v is the largest of |v(S)| / (cut(S) + sparsity |S|) over sets S of nodes. No set has
 * more than rho when what v has can flow over the edges, at most rho times their weight on each, to
 * where v lacks it (max-flow min-cut); else what the flow leaves over is in a set that has, and its
 * share is the next rho (Dinkelbach). Of a set that falls apart the best part is taken. With
 * sparsity all nodes have an edge of that weight to a ground, which gives and takes what is missing
 * in all.
 *
 * The flow is Dinic's: steps to the nearest node that lacks something are counted by a search, and
 * then paths along which the steps fall are filled until there are none. A path fills an arc,
 * empties a node or satisfies one exactly, so that real numbers need no care but for sums, which
 * are made anew for each rho. */
#include "solve/check.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#define ROUNDING 1e-15 /* of the largest value: nothing left over */
#define FINE     1e-12 /* a larger norm by less than that is rounding */

/* Edge e is the arcs 2 e, from -> to, and 2 e + 1, back; those that leave node k are
 * arcs[starts[k]] ... arcs[starts[k + 1] - 1]. */
struct vxs_check_net {
    size_t nodes, edges; /* the ground is node `nodes - 1` when it is there */
    size_t inner;        /* nodes without the ground */
    double sparsity, rho, least;
    uint32_t *head;  /* of an arc */
    double *weight;  /* of an edge */
    double *left;    /* of an arc */
    size_t *starts;  /* of a node */
    uint32_t *arcs;  /* by the node that they leave */
    size_t *next;    /* of a node: the arc to be tried next */
    double *over;    /* of a node: what it has, or lacks if that is negative */
    uint32_t *steps; /* of a node: to the nearest that lacks something */
    uint32_t *order; /* nodes, or arcs of a path */
    bool *up;        /* in the set */
};

void vxs_check_net_free(vxs_check_net *g)
{
    if (!g)
        return;
    free(g->head);
    free(g->weight);
    free(g->left);
    free(g->starts);
    free(g->arcs);
    free(g->next);
    free(g->over);
    free(g->steps);
    free(g->order);
    free(g->up);
    free(g);
}

/* ---- The network ----------------------------------------------------------------------------- */

static vxs_status take_room(vxs_check_net *g, vxs_error *err)
{
    if (g->edges >= UINT32_MAX / 2 || g->nodes >= UINT32_MAX)
        return vxs_fail(err, VXS_BAD_DATA, "a graph of %zu edges is too large", g->edges);
    g->head = vxs_alloc(2 * g->edges, sizeof(*g->head), err);
    g->weight = vxs_alloc(g->edges, sizeof(*g->weight), err);
    g->left = vxs_alloc(2 * g->edges, sizeof(*g->left), err);
    g->starts = vxs_alloc(g->nodes + 1, sizeof(*g->starts), err);
    g->arcs = vxs_alloc(2 * g->edges, sizeof(*g->arcs), err);
    g->next = vxs_alloc(g->nodes, sizeof(*g->next), err);
    g->over = vxs_alloc(g->nodes, sizeof(*g->over), err);
    g->steps = vxs_alloc(g->nodes, sizeof(*g->steps), err);
    g->order = vxs_alloc(g->nodes, sizeof(*g->order), err);
    g->up = vxs_alloc(g->nodes, sizeof(*g->up), err);
    return g->head && g->weight && g->left && g->starts && g->arcs && g->next && g->over &&
                   g->steps && g->order && g->up
               ? VXS_OK
               : VXS_FAILED;
}

static uint32_t tail(const vxs_check_net *g, size_t arc)
{
    return g->head[arc ^ 1];
}

static void lay_arcs(vxs_check_net *g, const vxs_graph *graph)
{
    for (size_t e = 0; e < g->edges; e++) {
        bool ground = e >= graph->count;
        g->head[2 * e] = (uint32_t)(ground ? g->inner : graph->to[e]);
        g->head[2 * e + 1] = (uint32_t)(ground ? e - graph->count : graph->from[e]);
        g->weight[e] = ground ? g->sparsity : graph->weight[e];
    }
    for (size_t a = 0; a < 2 * g->edges; a++)
        g->starts[tail(g, a)]++;
    for (size_t k = 1; k <= g->nodes; k++)
        g->starts[k] += g->starts[k - 1];
    for (size_t a = 2 * g->edges; a-- > 0;) /* counts to the ends of runs become their beginnings */
        g->arcs[--g->starts[tail(g, a)]] = (uint32_t)a;
}

vxs_status vxs_check_net_new(const vxs_graph *graph, double sparsity, vxs_check_net **net,
                             vxs_error *err)
{
    vxs_check_net *g = vxs_alloc(1, sizeof(*g), err);
    if (!g)
        return VXS_FAILED;
    g->inner = graph->nodes;
    g->nodes = g->inner + (sparsity > 0);
    g->edges = graph->count + (sparsity > 0 ? graph->nodes : 0);
    g->sparsity = sparsity;
    vxs_status status = take_room(g, err);
    if (status) {
        vxs_check_net_free(g);
        return status;
    }
    lay_arcs(g, graph);
    *net = g;
    return VXS_OK;
}

/* The flow stays, and what it can be more is counted from the new rho. */
static void widen(vxs_check_net *g, const double *v, double rho)
{
    double missing = 0;
    for (size_t k = 0; k < g->inner; k++) {
        g->over[k] = v[k];
        missing -= v[k];
    }
    if (g->inner < g->nodes)
        g->over[g->inner] = missing;
    for (size_t e = 0; e < g->edges; e++) {
        double sent = (g->left[2 * e + 1] - g->left[2 * e]) / 2;
        g->left[2 * e] = fmax(0, rho * g->weight[e] - sent);
        g->left[2 * e + 1] = fmax(0, rho * g->weight[e] + sent);
        g->over[g->head[2 * e + 1]] -= sent;
        g->over[g->head[2 * e]] += sent;
    }
    g->rho = rho;
}

/* ---- The flow -------------------------------------------------------------------------------- */

static bool lacks(const vxs_check_net *g, size_t k)
{
    return g->over[k] < -g->least;
}

static bool has(const vxs_check_net *g, size_t k)
{
    return g->over[k] > g->least;
}

/* Whether a node that has something can reach one that lacks something. */
static bool count_steps(vxs_check_net *g)
{
    size_t seen = 0, with = 0;
    uint32_t far = (uint32_t)g->nodes;
    for (size_t k = 0; k < g->nodes; k++) {
        g->next[k] = g->starts[k];
        g->steps[k] = lacks(g, k) ? 0 : far;
        if (lacks(g, k))
            g->order[seen++] = (uint32_t)k;
    }
    for (size_t i = 0; i < seen; i++) {
        uint32_t k = g->order[i];
        with += has(g, k);
        for (size_t s = g->starts[k]; s < g->starts[k + 1]; s++) {
            size_t a = g->arcs[s];
            uint32_t other = g->head[a];
            if (g->steps[other] == far && g->left[a ^ 1] > 0) {
                g->steps[other] = g->steps[k] + 1;
                g->order[seen++] = other;
            }
        }
    }
    return with > 0;
}

/* The arc of a node along which the steps fall. */
static bool find_arc(vxs_check_net *g, uint32_t k, size_t *arc)
{
    for (; g->next[k] < g->starts[k + 1]; g->next[k]++) {
        *arc = g->arcs[g->next[k]];
        if (g->left[*arc] > 0 && g->steps[g->head[*arc]] + 1 == g->steps[k])
            return true;
    }
    return false;
}

/* Sends along a path as much as goes; returns how many of its arcs come before one that is full. */
static size_t fill(vxs_check_net *g, size_t length)
{
    uint32_t first = tail(g, g->order[0]), last = g->head[g->order[length - 1]];
    double amount = fmin(g->over[first], -g->over[last]);
    size_t free_arcs = length;
    for (size_t s = 0; s < length; s++)
        amount = fmin(amount, g->left[g->order[s]]);
    for (size_t s = length; s-- > 0;) {
        size_t a = g->order[s];
        g->left[a] -= amount;
        g->left[a ^ 1] += amount;
        free_arcs = g->left[a] > 0 ? free_arcs : s;
    }
    g->over[first] -= amount;
    g->over[last] += amount;
    return free_arcs;
}

/* Along all paths from a node on which the steps fall. */
static void carry_off(vxs_check_net *g, uint32_t from)
{
    size_t length = 0, arc = 0;
    uint32_t at = from;
    while (has(g, from)) {
        if (g->steps[at] == 0 && lacks(g, at)) {
            length = fill(g, length);
            at = length > 0 ? g->head[g->order[length - 1]] : from;
        } else if (g->steps[at] > 0 && find_arc(g, at, &arc)) {
            g->order[length++] = (uint32_t)arc;
            at = g->head[arc];
        } else if (length > 0) {
            at = tail(g, g->order[--length]); /* a dead end */
            g->next[at]++;
        } else {
            return;
        }
    }
}

static void flow(vxs_check_net *g)
{
    while (count_steps(g))
        for (size_t k = 0; k < g->nodes; k++)
            if (has(g, k) && g->steps[k] < g->nodes)
                carry_off(g, (uint32_t)k);
}

/* ---- The set that is in the way -------------------------------------------------------------- */

/* Where what is left over could still go. Returns whether there is something. */
static bool find_set(vxs_check_net *g)
{
    size_t seen = 0;
    for (size_t k = 0; k < g->nodes; k++) {
        g->up[k] = has(g, k);
        if (g->up[k])
            g->order[seen++] = (uint32_t)k;
    }
    for (size_t i = 0; i < seen; i++)
        for (size_t s = g->starts[g->order[i]]; s < g->starts[g->order[i] + 1]; s++) {
            size_t a = g->arcs[s];
            if (g->left[a] > 0 && !g->up[g->head[a]]) {
                g->up[g->head[a]] = true;
                g->order[seen++] = g->head[a];
            }
        }
    return seen > 0;
}

/* |v(S)| / cut(S) of the part that hangs together with a node, `next` being when it was seen. */
static double share_of_part(vxs_check_net *g, const double *v, size_t first)
{
    size_t seen = 1;
    double sum = 0, cut = 0;
    bool side = g->up[first];
    g->order[0] = (uint32_t)first;
    g->next[first] = 1;
    for (size_t i = 0; i < seen; i++) {
        uint32_t k = g->order[i];
        sum += v[k];
        for (size_t s = g->starts[k]; s < g->starts[k + 1]; s++) {
            uint32_t other = g->head[g->arcs[s]];
            if (g->up[other] != side || other >= g->inner) {
                cut += g->weight[g->arcs[s] / 2];
            } else if (g->next[other] == 0) {
                g->next[other] = 1;
                g->order[seen++] = other;
            }
        }
    }
    return cut > 0 ? fabs(sum) / cut : 0;
}

/* The best of the parts. A set with the ground in it is what the others are not. */
static double best_share(vxs_check_net *g, const double *v)
{
    bool side = !(g->inner < g->nodes && g->up[g->inner]);
    double most = 0;
    memset(g->next, 0, g->nodes * sizeof(*g->next));
    for (size_t k = 0; k < g->inner; k++)
        if (g->up[k] == side && g->next[k] == 0)
            most = fmax(most, share_of_part(g, v, k));
    return most;
}

/* Of single nodes: where Dinkelbach's iteration begins. */
static double single_share(const vxs_check_net *g, const double *v)
{
    double most = 0;
    for (size_t k = 0; k < g->inner; k++) {
        double cut = 0;
        for (size_t s = g->starts[k]; s < g->starts[k + 1]; s++)
            cut += g->head[g->arcs[s]] == k ? 0 : g->weight[g->arcs[s] / 2];
        most = fmax(most, cut > 0 ? fabs(v[k]) / cut : 0);
    }
    return most;
}

double vxs_check_net_norm(vxs_check_net *g, const double *v)
{
    double norm = single_share(g, v), most = 0;
    for (size_t k = 0; k < g->inner; k++)
        most = fmax(most, fabs(v[k]));
    g->least = ROUNDING * most;
    memset(g->left, 0, 2 * g->edges * sizeof(*g->left));
    for (;;) {
        widen(g, v, norm);
        flow(g);
        double share = find_set(g) ? best_share(g, v) : 0;
        if (!(share > norm * (1 + FINE)))
            return norm;
        norm = share;
    }
}

/* ---- Pieces ---------------------------------------------------------------------------------- */

/* The smallest node that is known to hang together with this one. */
static size_t name_of(size_t *name, size_t k)
{
    while (name[k] != k)
        k = name[k] = name[name[k]];
    return k;
}

vxs_status vxs_check_pieces(const vxs_graph *graph, size_t *piece, size_t *pieces, vxs_error *err)
{
    size_t *name = vxs_alloc(graph->nodes, sizeof(*name), err);
    if (!name)
        return VXS_FAILED;
    for (size_t k = 0; k < graph->nodes; k++)
        name[k] = k;
    for (size_t e = 0; e < graph->count; e++) {
        size_t a = name_of(name, graph->from[e]), b = name_of(name, graph->to[e]);
        name[a > b ? a : b] = a > b ? b : a;
    }
    *pieces = 0;
    for (size_t k = 0; k < graph->nodes; k++) {
        size_t first = name_of(name, k);
        piece[k] = first == k ? (*pieces)++ : piece[first];
    }
    free(name);
    return VXS_OK;
}
