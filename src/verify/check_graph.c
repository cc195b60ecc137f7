/* check_graph.c - the dual norm of a penalty on differences, by flows of the checker's own.
 *
 * The norm of v is the largest of |v(S)| / (cut(S) + sparsity |S|) over sets S of nodes: with
 * sparsity that of v and that of -v, without it one of them, since what is not in S makes up for
 * it. No set has more than rho when what each node has above rho sparsity can flow over the edges,
 * at most rho times their weight on each, to nodes that have less (max-flow min-cut); else what the
 * flow leaves over is in a set that has more, and its share is the next rho (Dinkelbach). Of a set
 * that falls apart the best part is taken.
 *
 * The flow is by pushing: a node that has too much gives to neighbours that are one step nearer to
 * a node that lacks something, as far as these steps are known, and is further away than it was
 * thought to be when it has none (Goldberg and Tarjan 1988). The steps are counted anew, by a
 * search, after as many such disappointments as there are nodes. What is sent fills an arc or
 * empties a node exactly, so that real numbers need no care but for sums, which are made anew for
 * each rho.
 */
#include "verify/check.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#define ROUNDING 1e-15 /* of the largest value: nothing left over */
#define FINE     1e-12 /* a larger norm by less than that is rounding */

/* Edge e is the arcs 2 e, from -> to, and 2 e + 1, back; those that leave node k are
 * arcs[starts[k]] ... arcs[starts[k + 1] - 1]. */
struct vxs_check_net {
    size_t nodes, edges;
    double sparsity, least;
    uint32_t *head;      /* of an arc */
    double *weight;      /* of an edge */
    double *left;        /* of an arc */
    size_t *starts;      /* of a node */
    uint32_t *arcs;      /* by the node that they leave */
    double *over;        /* of a node: what it has, or lacks if that is negative */
    size_t *next;        /* of a node: the arc to be tried next */
    uint32_t *steps;     /* of a node: at least so many to the nearest that lacks something */
    bool *up;            /* in the set; during a flow: in line */
    uint32_t *line;      /* a ring of nodes that have too much; or nodes that are in the set */
    size_t first, count; /* of the ring */
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
    free(g->over);
    free(g->next);
    free(g->steps);
    free(g->up);
    free(g->line);
    free(g);
}

/* ---- The network ----------------------------------------------------------------------------- */

static vxs_status take_room(vxs_check_net *g, vxs_error *err)
{
    if (g->edges >= UINT32_MAX / 2 - 1 || g->nodes >= UINT32_MAX)
        return vxs_fail(err, VXS_BAD_DATA, "a graph of %zu edges is too large", g->edges);
    g->head = vxs_alloc(2 * g->edges, sizeof(*g->head), err);
    g->weight = vxs_alloc(g->edges, sizeof(*g->weight), err);
    g->left = vxs_alloc(2 * g->edges, sizeof(*g->left), err);
    g->starts = vxs_alloc(g->nodes + 1, sizeof(*g->starts), err);
    g->arcs = vxs_alloc(2 * g->edges, sizeof(*g->arcs), err);
    g->over = vxs_alloc(g->nodes, sizeof(*g->over), err);
    g->next = vxs_alloc(g->nodes, sizeof(*g->next), err);
    g->steps = vxs_alloc(g->nodes, sizeof(*g->steps), err);
    g->up = vxs_alloc(g->nodes, sizeof(*g->up), err);
    g->line = vxs_alloc(g->nodes, sizeof(*g->line), err);
    return g->head && g->weight && g->left && g->starts && g->arcs && g->over && g->next &&
                   g->steps && g->up && g->line
               ? VXS_OK
               : VXS_FAILED;
}

static uint32_t tail(const vxs_check_net *g, size_t arc)
{
    return g->head[arc ^ 1];
}

vxs_status vxs_check_net_new(const vxs_graph *graph, double sparsity, vxs_check_net **net,
                             vxs_error *err)
{
    vxs_check_net *g = vxs_alloc(1, sizeof(*g), err);
    if (!g)
        return VXS_FAILED;
    g->nodes = graph->nodes;
    g->edges = graph->count;
    g->sparsity = sparsity;
    vxs_status status = take_room(g, err);
    if (status) {
        vxs_check_net_free(g);
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
    for (size_t a = 2 * g->edges; a-- > 0;) /* ends of runs become their beginnings */
        g->arcs[--g->starts[tail(g, a)]] = (uint32_t)a;
    *net = g;
    return VXS_OK;
}

/* The flow stays, and what it can be more is counted from the new rho. */
static void widen(vxs_check_net *g, const double *v, double sign, double rho)
{
    for (size_t k = 0; k < g->nodes; k++)
        g->over[k] = sign * v[k] - rho * g->sparsity;
    for (size_t e = 0; e < g->edges; e++) {
        double sent = (g->left[2 * e + 1] - g->left[2 * e]) / 2;
        g->left[2 * e] = fmax(0, rho * g->weight[e] - sent);
        g->left[2 * e + 1] = fmax(0, rho * g->weight[e] + sent);
        g->over[g->head[2 * e + 1]] -= sent;
        g->over[g->head[2 * e]] += sent;
    }
}

/* ---- The flow -------------------------------------------------------------------------------- */

static bool has(const vxs_check_net *g, size_t k)
{
    return g->over[k] > g->least;
}

static void join_line(vxs_check_net *g, uint32_t k)
{
    if (g->up[k])
        return;
    g->up[k] = true;
    g->line[(g->first + g->count++) % g->nodes] = k;
}

static uint32_t leave_line(vxs_check_net *g)
{
    uint32_t k = g->line[g->first];
    g->first = (g->first + 1) % g->nodes;
    g->count--;
    g->up[k] = false;
    return k;
}

/* By a search from the nodes that lack something; then those that have too much, and can reach one,
 * stand in line. */
static void count_steps(vxs_check_net *g)
{
    size_t seen = 0;
    uint32_t far = (uint32_t)g->nodes;
    for (size_t k = 0; k < g->nodes; k++) {
        bool lacks = g->over[k] < -g->least;
        g->next[k] = g->starts[k];
        g->up[k] = false;
        g->steps[k] = lacks ? 0 : far;
        if (lacks)
            g->line[seen++] = (uint32_t)k;
    }
    for (size_t i = 0; i < seen; i++) {
        uint32_t k = g->line[i];
        for (size_t s = g->starts[k]; s < g->starts[k + 1]; s++) {
            size_t a = g->arcs[s];
            uint32_t other = g->head[a];
            if (g->steps[other] == far && g->left[a ^ 1] > 0) {
                g->steps[other] = g->steps[k] + 1;
                g->line[seen++] = other;
            }
        }
    }
    g->first = g->count = 0;
    for (size_t k = 0; k < g->nodes; k++)
        if (has(g, k) && g->steps[k] < far)
            join_line(g, (uint32_t)k);
}

static void push(vxs_check_net *g, uint32_t k, size_t a)
{
    uint32_t other = g->head[a];
    double amount = fmin(g->over[k], g->left[a]);
    g->left[a] -= amount;
    g->left[a ^ 1] += amount;
    g->over[k] -= amount;
    g->over[other] += amount;
    if (has(g, other))
        join_line(g, other);
}

/* One more than the nearest neighbour that it can give to. */
static void step_back(vxs_check_net *g, uint32_t k)
{
    uint32_t nearest = (uint32_t)g->nodes - 1;
    for (size_t s = g->starts[k]; s < g->starts[k + 1]; s++) {
        uint32_t a = g->arcs[s], other = g->head[a];
        if (g->left[a] > 0 && g->steps[other] < nearest)
            nearest = g->steps[other];
    }
    g->steps[k] = nearest + 1;
    g->next[k] = g->starts[k];
}

/* Until it has nothing left, or nobody to give it to; returns how often it had to step back. */
static size_t give(vxs_check_net *g, uint32_t k)
{
    size_t back = 0;
    while (has(g, k) && g->steps[k] < g->nodes) {
        if (g->next[k] == g->starts[k + 1]) {
            step_back(g, k);
            back++;
            continue;
        }
        size_t a = g->arcs[g->next[k]];
        if (g->left[a] > 0 && g->steps[g->head[a]] + 1 == g->steps[k])
            push(g, k, a);
        g->next[k] += has(g, k);
    }
    return back;
}

static void flow(vxs_check_net *g)
{
    size_t back = 0;
    count_steps(g);
    while (g->count > 0) {
        back += give(g, leave_line(g));
        if (back > g->nodes) {
            count_steps(g);
            back = 0;
        }
    }
}

/* ---- The set that is in the way -------------------------------------------------------------- */

/* Where what is left over could still go; `steps` of these is 0. */
static void find_set(vxs_check_net *g)
{
    size_t seen = 0;
    for (size_t k = 0; k < g->nodes; k++) {
        g->up[k] = has(g, k);
        if (g->up[k])
            g->line[seen++] = (uint32_t)k;
    }
    for (size_t i = 0; i < seen; i++)
        for (size_t s = g->starts[g->line[i]]; s < g->starts[g->line[i] + 1]; s++) {
            size_t a = g->arcs[s];
            if (g->left[a] > 0 && !g->up[g->head[a]]) {
                g->up[g->head[a]] = true;
                g->line[seen++] = g->head[a];
            }
        }
    for (size_t k = 0; k < g->nodes; k++)
        g->steps[k] = !g->up[k];
}

/* sum / cut of the part of the set that hangs together with a node, which leaves the set. */
static double share_of_part(vxs_check_net *g, const double *v, double sign, uint32_t first)
{
    size_t seen = 1;
    double sum = 0, cut = 0;
    g->line[0] = first;
    g->up[first] = false;
    for (size_t i = 0; i < seen; i++) {
        uint32_t k = g->line[i];
        sum += sign * v[k];
        cut += g->sparsity;
        for (size_t s = g->starts[k]; s < g->starts[k + 1]; s++) {
            uint32_t other = g->head[g->arcs[s]];
            cut += g->steps[other] == 0 ? 0 : g->weight[g->arcs[s] / 2];
            if (g->up[other]) {
                g->up[other] = false;
                g->line[seen++] = other;
            }
        }
    }
    return cut > 0 ? sum / cut : 0;
}

/* Of the parts that the set falls into. */
static double best_share(vxs_check_net *g, const double *v, double sign)
{
    double most = 0;
    find_set(g);
    for (size_t k = 0; k < g->nodes; k++)
        if (g->up[k])
            most = fmax(most, share_of_part(g, v, sign, (uint32_t)k));
    return most;
}

/* Of single nodes: where Dinkelbach's iteration begins. */
static double single_share(const vxs_check_net *g, const double *v)
{
    double most = 0;
    for (size_t k = 0; k < g->nodes; k++) {
        double cut = g->sparsity;
        for (size_t s = g->starts[k]; s < g->starts[k + 1]; s++)
            cut += g->head[g->arcs[s]] == k ? 0 : g->weight[g->arcs[s] / 2];
        most = fmax(most, cut > 0 ? fabs(v[k]) / cut : 0);
    }
    return most;
}

double vxs_check_net_norm(vxs_check_net *g, const double *v)
{
    double norm = single_share(g, v), most = 0, share = 0;
    for (size_t k = 0; k < g->nodes; k++)
        most = fmax(most, fabs(v[k]));
    g->least = ROUNDING * most;
    for (int side = 0; side < (g->sparsity > 0 ? 2 : 1); side++) {
        double sign = side == 0 ? 1 : -1;
        memset(g->left, 0, 2 * g->edges * sizeof(*g->left));
        for (;;) {
            widen(g, v, sign, norm);
            flow(g);
            share = best_share(g, v, sign);
            if (!(share > norm * (1 + FINE)))
                break;
            norm = share;
        }
    }
    return norm;
}
