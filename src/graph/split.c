/* split.c - what maximal flows tell of a penalty on differences: its proximal step, and its dual
 * norm.
 *
 * Prox      w is constant on parts. A part's nodes with w above its mean are the set that is in the
 *           way of a flow that would carry off what its values are more than the mean (Hochbaum
 *           2001; Goldfarb and Yin 2009): parts are split until nothing is in the way, all of them
 *           at once, each flow from that of the parts before
 * Norm      rho = v(S) / cut(S) of the set that is in the way at the last rho, until none is
 *           (Dinkelbach 1967); a few flows, each from the one before */
#include "graph/flow.h"

#include <math.h>
#include <string.h>

#define FINE 1e-12 /* a larger norm by less than that is rounding */

/* ---- Splits ---------------------------------------------------------------------------------- */

/* Means of parts, of which flows between them have been taken; that of the ground is 0. */
static void find_levels(vxs_flow *f, const double *value, size_t parts, size_t count)
{
    memset(f->level, 0, parts * sizeof(*f->level));
    memset(f->size, 0, parts * sizeof(*f->size));
    memset(f->above, 0, parts * sizeof(*f->above));
    for (size_t i = 0; i < count; i++) {
        uint32_t k = f->list[i], part = f->at[k].part;
        double rest = value[k] - vxs_flow_out(f, k);
        f->at[k].excess = rest;
        f->level[part] += rest;
        f->size[part]++;
    }
    for (size_t part = 0; part < parts; part++)
        f->level[part] = f->size[part] > 0 ? f->level[part] / f->size[part] : 0;
    for (size_t i = 0; i < count; i++)
        f->at[f->list[i]].excess -= f->level[f->at[f->list[i]].part];
}

/* Parts that have something in the way, and are not all of it by rounding, get a second name. */
static size_t name_parts(vxs_flow *f, size_t parts, size_t count)
{
    size_t first = parts;
    for (size_t i = 0; i < count; i++)
        f->size[f->at[f->list[i]].part] -= f->up[f->list[i]];
    for (size_t i = 0; i < count; i++) {
        uint32_t part = f->at[f->list[i]].part;
        if (f->up[f->list[i]] && f->above[part] == 0 && f->size[part] > 0)
            f->above[part] = (uint32_t)parts++;
    }
    for (size_t k = first; k < parts; k++)
        f->above[k] = 0;
    return parts;
}

size_t vxs_flow_split(vxs_flow *f, const double *value, size_t parts, size_t *count, double *risen)
{
    size_t kept = 0;
    find_levels(f, value, parts, *count);
    *risen = vxs_flow_push(f, *count);
    parts = name_parts(f, parts, *count);
    for (size_t i = 0; i < *count; i++) {
        uint32_t k = f->list[i], rises = f->above[f->at[k].part];
        f->mean[k] = f->level[f->at[k].part];
        if (rises == 0)
            continue;
        f->list[kept++] = k;
        f->at[k].part = f->up[k] ? rises : f->at[k].part;
    }
    *count = kept;
    return parts;
}

/* ---- The proximal step ----------------------------------------------------------------------- */

/* The ground is a part of its own, to which nothing flows. */
static void leave_ground_out(vxs_flow *f)
{
    for (size_t a = f->starts[f->nodes]; f->grounded && a < f->starts[f->nodes + 1]; a++)
        f->arcs[a].sent = f->arcs[f->arcs[a].mate].sent = 0;
    if (f->grounded)
        f->at[f->nodes].part = (uint32_t)f->nodes;
}

void vxs_flow_prox(vxs_flow *f, const double *v, double tau, double *w)
{
    size_t parts = 1, count = f->nodes;
    double risen, small = tau * f->sparsity;
    vxs_flow_join(f, tau);
    vxs_flow_tolerate(f, v);
    leave_ground_out(f);
    while (count > 0)
        parts = vxs_flow_split(f, v, parts, &count, &risen);
    for (size_t k = 0; k < f->nodes; k++)
        w[k] = copysign(fmax(0, fabs(f->mean[k]) - small), f->mean[k]);
}

/* ---- The dual norm --------------------------------------------------------------------------- */

/* |v(S)| / cut(S) of the set that is up, the ground being in it or not. */
static double cut_ratio(const vxs_flow *f, const double *v, double ground)
{
    double sum = 0, cut = 0;
    for (size_t k = 0; k < vxs_flow_nodes(f); k++) {
        if (!f->up[k])
            continue;
        sum += k < f->nodes ? v[k] : ground;
        for (size_t a = f->starts[k]; a < f->starts[k + 1]; a++)
            cut += f->up[f->arcs[a].head] ? 0 : f->arcs[a].weight;
    }
    return cut > 0 ? sum / cut : 0;
}

double vxs_flow_norm(vxs_flow *f, const double *v, double least)
{
    double norm = least, ground = 0;
    for (size_t k = 0; k < f->nodes; k++)
        ground -= v[k];
    vxs_flow_tolerate(f, v);
    for (;;) {
        vxs_flow_join(f, norm);
        for (size_t k = 0; k < vxs_flow_nodes(f); k++)
            f->at[k].excess = (k < f->nodes ? v[k] : ground) - vxs_flow_out(f, k);
        double risen = vxs_flow_push(f, vxs_flow_nodes(f));
        double ratio = risen > 0 ? cut_ratio(f, v, ground) : 0;
        if (!(ratio > norm * (1 + FINE)))
            return norm;
        norm = ratio;
    }
}
