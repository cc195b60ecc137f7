/* split.c - proximal operator and dual norm of a graph penalty by maximum flows.
 *
 *  Prox      w is constant on regions. The nodes of a region with w above its mean are the source
 *            side of a minimum cut, with the values' deviation from the mean as excess (Hochbaum
 *            2001; Goldfarb and Yin 2009): regions are split until every flow is feasible, all at
 *            once, each flow warm-started
 *  Norm      rho = v(S) / cut(S) of the source side S at the last rho, until it is empty
 *            (Dinkelbach 1967); a few flows, each warm-started */
#include "graph/flow.h"

#include <math.h>
#include <string.h>

#define FINE 1e-12 /* smaller relative increases of the norm are rounding error */

/* ---- Splits ---------------------------------------------------------------------------------- */

/* Computes the means of regions net of the flows between them, and the excess; the reference node
 * has value 0. */
static void find_region_means(vxs_flow *f, const double *value, size_t regions, size_t count)
{
    memset(f->region_mean, 0, regions * sizeof(*f->region_mean));
    memset(f->region_size, 0, regions * sizeof(*f->region_size));
    memset(f->upper_label, 0, regions * sizeof(*f->upper_label));
    for (size_t i = 0; i < count; i++) {
        uint32_t k = f->active[i], region = f->node[k].region;
        double net = value[k] - vxs_flow_out(f, k);
        f->node[k].excess = net;
        f->region_mean[region] += net;
        f->region_size[region]++;
    }
    for (size_t region = 0; region < regions; region++)
        f->region_mean[region] =
            f->region_size[region] > 0 ? f->region_mean[region] / f->region_size[region] : 0;
    if (f->has_reference && f->node[f->nodes].region < regions)
        f->region_mean[f->node[f->nodes].region] = 0;
    for (size_t i = 0; i < count; i++)
        f->node[f->active[i]].excess -= f->region_mean[f->node[f->active[i]].region];
}

/* Labels the parts that split off regions, unless nothing is left of those. */
static size_t label_regions(vxs_flow *f, size_t regions, size_t count, uint32_t *lower_label)
{
    size_t first = regions;
    *lower_label = 0;
    for (size_t i = 0; i < count; i++)
        f->region_size[f->node[f->active[i]].region] -= f->side[f->active[i]] != 0;
    for (size_t i = 0; i < count; i++) {
        uint32_t region = f->node[f->active[i]].region;
        bool upper = f->side[f->active[i]] > 0, lower = f->side[f->active[i]] < 0;
        uint32_t *label = upper ? &f->upper_label[region] : lower_label;
        if ((upper || lower) && *label == 0 && f->region_size[region] > 0)
            *label = (uint32_t)regions++;
    }
    for (size_t k = first; k < regions; k++)
        f->upper_label[k] = 0;
    return regions;
}

size_t vxs_flow_split(vxs_flow *f, const double *value, size_t regions, size_t *count,
                      double *violation)
{
    size_t remaining = 0;
    uint32_t lower_label; /* of what splits off the region of the reference node downwards */
    find_region_means(f, value, regions, *count);
    *violation = vxs_flow_maximize(f, *count);
    regions = label_regions(f, regions, *count, &lower_label);
    for (size_t i = 0; i < *count; i++) {
        uint32_t k = f->active[i], region = f->node[k].region, upper = f->upper_label[region];
        f->node_mean[k] = f->region_mean[region];
        if (f->side[k] < 0)
            f->node[k].region = lower_label;
        if (upper == 0)
            continue;
        f->active[remaining++] = k;
        if (f->side[k] > 0)
            f->node[k].region = upper;
    }
    *count = remaining;
    return regions;
}

/* ---- The proximal step ----------------------------------------------------------------------- */

/* Makes the reference node a region of its own, without flow. */
static void isolate_reference(vxs_flow *f)
{
    for (size_t a = f->starts[f->nodes]; f->has_reference && a < f->starts[f->nodes + 1]; a++)
        f->arcs[a].flow = f->arcs[f->arcs[a].mate].flow = 0;
    if (f->has_reference)
        f->node[f->nodes].region = (uint32_t)f->nodes;
}

void vxs_flow_prox(vxs_flow *f, const double *v, double tau, double *w)
{
    size_t regions = 1, count = f->nodes;
    double violation, threshold = tau * f->sparsity;
    vxs_flow_merge_regions(f, tau);
    vxs_flow_set_tolerance(f, v);
    isolate_reference(f);
    while (count > 0)
        regions = vxs_flow_split(f, v, regions, &count, &violation);
    for (size_t k = 0; k < f->nodes; k++)
        w[k] = copysign(fmax(0, fabs(f->node_mean[k]) - threshold), f->node_mean[k]);
}

/* ---- The dual norm --------------------------------------------------------------------------- */

/* |v(S)| / cut(S) for the side S of the minimum cut. */
static double cut_ratio(const vxs_flow *f, const double *v, int8_t side)
{
    double sum = 0, cut = 0;
    for (size_t k = 0; k < f->nodes; k++) {
        if (f->side[k] != side)
            continue;
        sum += v[k];
        for (size_t a = f->starts[k]; a < f->starts[k + 1]; a++)
            cut += f->side[f->arcs[a].head] == side ? 0 : f->arcs[a].weight;
    }
    return cut > 0 ? fabs(sum) / cut : 0;
}

double vxs_flow_norm(vxs_flow *f, const double *v, double least)
{
    double norm = least;
    vxs_flow_set_tolerance(f, v);
    for (;;) {
        vxs_flow_merge_regions(f, norm);
        for (size_t k = 0; k < f->nodes; k++)
            f->node[k].excess = v[k] - vxs_flow_out(f, k);
        double violation = vxs_flow_maximize(f, vxs_flow_nodes(f));
        double ratio = violation > 0 ? fmax(cut_ratio(f, v, 1), cut_ratio(f, v, -1)) : 0;
        if (!(ratio > norm * (1 + FINE)))
            return norm;
        norm = ratio;
    }
}
