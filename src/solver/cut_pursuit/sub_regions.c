/* sub_regions.c - pieces that have become one while their levels moved, and may part again: cuts
 * along the borders there were, by flows between few nodes. */
#include "solver/cut_pursuit/cut_pursuit.h"

#include <cblas.h>
#include <stdlib.h>
#include <string.h>

void vxs_atoms_release(vxs_atoms *a)
{
    free(a->x);
    free(a->value);
    free(a->now);
    free(a->next);
    free(a->borders);
    vxs_graph_release(&a->graph);
    vxs_flow_free(a->flow);
    *a = (vxs_atoms){ .count = 0 };
}

static vxs_status take_room(const vxs_cuts *c, const vxs_side *s, vxs_atoms *a, vxs_error *err)
{
    *a = (vxs_atoms){ .count = s->count, .border_count = s->border_count };
    a->x = vxs_alloc(s->count, c->n * sizeof(*a->x), err);
    a->value = vxs_alloc(s->count, sizeof(*a->value), err);
    a->now = vxs_alloc(s->count, sizeof(*a->now), err);
    a->next = vxs_alloc(s->count, sizeof(*a->next), err);
    a->borders = vxs_alloc(s->border_count, sizeof(*a->borders), err);
    return a->x && a->value && a->now && a->next && a->borders
               ? vxs_graph_new(s->count, s->border_count, &a->graph, err)
               : VXS_FAILED;
}

vxs_status vxs_atoms_begin(const vxs_cuts *c, vxs_side *s, vxs_error *err)
{
    vxs_atoms *a = &s->atoms;
    vxs_atoms_release(a);
    vxs_status status = take_room(c, s, a, err);
    if (status)
        return status;
    memcpy(a->x, s->x + c->q * c->n, s->count * c->n * sizeof(*a->x));
    for (size_t b = 0; b < s->border_count; b++) {
        a->borders[b] = s->borders[b];
        a->graph.from[b] = s->borders[b].upper;
        a->graph.to[b] = s->borders[b].lower;
        a->graph.weight[b] = s->borders[b].weight;
    }
    for (size_t k = 0; k < s->count; k++)
        a->now[k] = (uint32_t)k;
    return vxs_flow_new(&a->graph, 0, &a->flow, err);
}

/* The first atom is the ground's, if there is one, and takes what the others leave. */
static void find_values(const vxs_cuts *c, const vxs_side *s, double lambda)
{
    const vxs_atoms *a = &s->atoms;
    const double *slope = c->slope + (size_t)(s - c->sides) * c->n;
    double sum = 0;
    cblas_dgemv(CblasColMajor, CblasTrans, (int)c->n, (int)a->count, -1 / lambda, a->x, (int)c->n,
                slope, 1, 0, a->value, 1);
    for (size_t k = 1; k < a->count; k++)
        sum += a->value[k];
    if (vxs_side_grounded(s))
        a->value[0] = -sum;
}

/* Full flows over borders between pieces. */
static void close_borders(const vxs_cuts *c, const vxs_side *s)
{
    const vxs_atoms *a = &s->atoms;
    const double *w = s->w + c->q;
    for (size_t k = 0; k < a->count; k++)
        for (size_t i = a->flow->starts[k]; i < a->flow->starts[k + 1]; i++) {
            vxs_arc *arc = &a->flow->arcs[i];
            double here = w[a->now[k]], there = w[a->now[arc->head]];
            if (here != there)
                arc->flow = here > there ? arc->weight : -arc->weight;
        }
}

/* Pieces anew, from parts of atoms; they begin where the piece was that they were part of. */
static void divide(const vxs_cuts *c, vxs_side *s)
{
    vxs_atoms *a = &s->atoms;
    size_t n = c->n, q = c->q, count = vxs_flow_components(a->flow, a->next);
    double *w = a->flow->node_mean; /* of an atom */
    double *size = a->flow->region_mean;
    for (size_t k = 0; k < a->count; k++)
        w[k] = s->w[q + a->now[k]];
    memset(s->x + q * n, 0, count * n * sizeof(*s->x));
    for (size_t k = 0; k < count; k++)
        s->rate[k] = size[k] = 0;
    for (size_t k = 0; k < a->count; k++) {
        uint32_t piece = a->now[k] = a->next[k];
        cblas_daxpy((int)n, 1, a->x + k * n, 1, s->x + (q + piece) * n, 1);
        s->w[q + piece] = w[k];
        s->rate[piece] += a->value[k] - vxs_flow_out(a->flow, k);
        size[piece]++;
    }
    if (vxs_side_grounded(s))
        memset(s->x + q * n, 0, n * sizeof(*s->x));
    for (size_t k = 0; k < count; k++) {
        vxs_side_clean(c, s->x + (q + k) * n);
        s->rate[k] /= size[k];
    }
    s->count = count;
    s->border_count = 0;
    for (size_t b = 0; b < a->border_count; b++) {
        uint32_t upper = a->now[a->borders[b].upper], lower = a->now[a->borders[b].lower];
        bool up = vxs_side_is_upper(s, q, upper, lower);
        if (upper != lower)
            s->borders[s->border_count++] =
                (vxs_border){ up ? upper : lower, up ? lower : upper, a->borders[b].weight };
    }
}

double vxs_atoms_part(const vxs_cuts *c, vxs_side *s, double lambda, double least)
{
    vxs_atoms *a = &s->atoms;
    size_t count = a->count, parts = s->count;
    double risen;
    if (s->count == a->count)
        return 0;
    find_values(c, s, lambda);
    vxs_flow_set_tolerance(a->flow, a->value);
    vxs_flow_merge_regions(a->flow, 1);
    for (size_t k = 0; k < count; k++)
        a->flow->node[k].region = a->now[k];
    close_borders(c, s);
    parts = vxs_flow_split(a->flow, a->value, parts, &count, &risen);
    if (parts == s->count || risen <= least)
        return 0;
    divide(c, s);
    return risen;
}

void vxs_atoms_end(vxs_side *s)
{
    for (size_t k = 0; k < vxs_flow_nodes(s->flow); k++)
        s->piece[k] = s->atoms.now[s->piece[k]];
    vxs_atoms_release(&s->atoms);
}
