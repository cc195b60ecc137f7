/* sub_regions.c - regions that merged during the reduced problem and may split again: minimum cuts
 * on the graph of the regions before. */
#include "solver/cut_pursuit/cut_pursuit.h"

#include <cblas.h>
#include <stdlib.h>
#include <string.h>

void vxs_sub_regions_release(vxs_sub_regions *a)
{
    free(a->x);
    free(a->supply);
    free(a->region);
    free(a->next);
    free(a->boundaries);
    vxs_graph_release(&a->graph);
    vxs_flow_free(a->flow);
    *a = (vxs_sub_regions){ .count = 0 };
}

static vxs_status allocate(const vxs_cut_pursuit *c, const vxs_class_block *s, vxs_sub_regions *a,
                           vxs_error *err)
{
    *a = (vxs_sub_regions){ .count = s->count, .boundary_count = s->boundary_count };
    a->x = vxs_alloc(s->count, c->n * sizeof(*a->x), err);
    a->supply = vxs_alloc(s->count, sizeof(*a->supply), err);
    a->region = vxs_alloc(s->count, sizeof(*a->region), err);
    a->next = vxs_alloc(s->count, sizeof(*a->next), err);
    a->boundaries = vxs_alloc(s->boundary_count, sizeof(*a->boundaries), err);
    return a->x && a->supply && a->region && a->next && a->boundaries
               ? vxs_graph_new(s->count, s->boundary_count, &a->graph, err)
               : VXS_FAILED;
}

vxs_status vxs_sub_regions_init(const vxs_cut_pursuit *c, vxs_class_block *s, vxs_error *err)
{
    vxs_sub_regions *a = &s->sub_regions;
    vxs_sub_regions_release(a);
    vxs_status status = allocate(c, s, a, err);
    if (status)
        return status;
    memcpy(a->x, s->x + c->q * c->n, s->count * c->n * sizeof(*a->x));
    for (size_t b = 0; b < s->boundary_count; b++) {
        a->boundaries[b] = s->boundaries[b];
        a->graph.from[b] = s->boundaries[b].upper;
        a->graph.to[b] = s->boundaries[b].lower;
        a->graph.weight[b] = s->boundaries[b].weight;
    }
    for (size_t k = 0; k < s->count; k++)
        a->region[k] = (uint32_t)k;
    return vxs_flow_new(&a->graph, 0, &a->flow, err);
}

/* Sub-region 0 contains the reference node, if there is one, and balances the others. */
static void find_supplies(const vxs_cut_pursuit *c, const vxs_class_block *s, double lambda)
{
    const vxs_sub_regions *a = &s->sub_regions;
    const double *gradient = c->gradient + (size_t)(s - c->blocks) * c->n;
    double sum = 0;
    cblas_dgemv(CblasColMajor, CblasTrans, (int)c->n, (int)a->count, -1 / lambda, a->x, (int)c->n,
                gradient, 1, 0, a->supply, 1);
    for (size_t k = 1; k < a->count; k++)
        sum += a->supply[k];
    if (vxs_class_block_has_reference(s))
        a->supply[0] = -sum;
}

/* Sets flows between different regions to capacity. */
static void saturate_boundaries(const vxs_cut_pursuit *c, const vxs_class_block *s)
{
    const vxs_sub_regions *a = &s->sub_regions;
    const double *w = s->w + c->q;
    for (size_t k = 0; k < a->count; k++)
        for (size_t i = a->flow->starts[k]; i < a->flow->starts[k + 1]; i++) {
            vxs_arc *arc = &a->flow->arcs[i];
            double tail = w[a->region[k]], head = w[a->region[arc->head]];
            if (tail != head)
                arc->flow = tail > head ? arc->weight : -arc->weight;
        }
}

/* New regions from the minimum cuts; they start at the value of the region they were part of. */
static void split_regions(const vxs_cut_pursuit *c, vxs_class_block *s)
{
    vxs_sub_regions *a = &s->sub_regions;
    size_t n = c->n, q = c->q, count = vxs_flow_components(a->flow, a->next);
    double *w = a->flow->node_mean; /* of a sub-region */
    double *size = a->flow->region_mean;
    for (size_t k = 0; k < a->count; k++)
        w[k] = s->w[q + a->region[k]];
    memset(s->x + q * n, 0, count * n * sizeof(*s->x));
    for (size_t k = 0; k < count; k++)
        s->rate[k] = size[k] = 0;
    for (size_t k = 0; k < a->count; k++) {
        uint32_t region = a->region[k] = a->next[k];
        cblas_daxpy((int)n, 1, a->x + k * n, 1, s->x + (q + region) * n, 1);
        s->w[q + region] = w[k];
        s->rate[region] += a->supply[k] - vxs_flow_out(a->flow, k);
        size[region]++;
    }
    if (vxs_class_block_has_reference(s))
        memset(s->x + q * n, 0, n * sizeof(*s->x));
    for (size_t k = 0; k < count; k++) {
        vxs_class_block_zero_rounding(c, s->x + (q + k) * n);
        s->rate[k] /= size[k];
    }
    s->count = count;
    s->boundary_count = 0;
    for (size_t b = 0; b < a->boundary_count; b++) {
        uint32_t upper = a->region[a->boundaries[b].upper],
                 lower = a->region[a->boundaries[b].lower];
        bool is_upper = vxs_class_block_is_upper(s, q, upper, lower);
        if (upper != lower)
            s->boundaries[s->boundary_count++] =
                (vxs_boundary){ is_upper ? upper : lower, is_upper ? lower : upper,
                                a->boundaries[b].weight };
    }
}

double vxs_sub_regions_split(const vxs_cut_pursuit *c, vxs_class_block *s, double lambda,
                             double min_excess)
{
    vxs_sub_regions *a = &s->sub_regions;
    size_t count = a->count, regions = s->count;
    double excess;
    if (s->count == a->count)
        return 0;
    find_supplies(c, s, lambda);
    vxs_flow_set_tolerance(a->flow, a->supply);
    vxs_flow_merge_regions(a->flow, 1);
    for (size_t k = 0; k < count; k++)
        a->flow->node[k].region = a->region[k];
    saturate_boundaries(c, s);
    regions = vxs_flow_split(a->flow, a->supply, regions, &count, &excess);
    if (regions == s->count || excess <= min_excess)
        return 0;
    split_regions(c, s);
    return excess;
}

void vxs_sub_regions_finish(vxs_class_block *s)
{
    for (size_t k = 0; k < vxs_flow_nodes(s->flow); k++)
        s->region[k] = s->sub_regions.region[s->region[k]];
    vxs_sub_regions_release(&s->sub_regions);
}
