/* quadratics.c - quadratic forms of the weights, and functions common to all penalties. */
#include "voxsift/internal/penalty.h"

static double value_of_ridge(const vxs_quadratic *q, const double *w, size_t p)
{
    double sum = 0;
    for (size_t j = 0; j < p; j++)
        sum += w[j] * w[j];
    return q->weight * sum / 2;
}

static double value_of_laplacian(const vxs_quadratic *q, const double *w, size_t p)
{
    double sum = 0;
    (void)p;
    for (size_t e = 0; e < q->graph->count; e++) {
        double apart = w[q->graph->from[e]] - w[q->graph->to[e]];
        sum += q->graph->weight[e] * apart * apart;
    }
    return q->weight * sum / 2;
}

const vxs_quadratic_kind vxs_ridge = { .name = "a ridge",
                                       .weight = "the ridge",
                                       .value = value_of_ridge };
const vxs_quadratic_kind vxs_laplacian = { .name = "a Laplacian",
                                           .weight = "the weight of the Laplacian",
                                           .needs_graph = true,
                                           .value = value_of_laplacian };
const vxs_quadratic_kind vxs_relative_laplacian = { .name = "a relative Laplacian",
                                                    .weight = "the smoothness",
                                                    .needs_graph = true };

vxs_status vxs_graph_check(const vxs_graph *g, size_t nodes, bool some, vxs_error *err)
{
    if (!g)
        return vxs_fail(err, VXS_MISUSE, "there is no graph");
    if (g->nodes != nodes)
        return vxs_fail(err, VXS_MISUSE, "the graph has %zu nodes for %zu features", g->nodes,
                        nodes);
    if (g->count > 0 && (!g->from || !g->to || !g->weight))
        return vxs_fail(err, VXS_MISUSE, "the graph has %zu edges without ends or weights",
                        g->count);
    if (some && g->count == 0)
        return vxs_fail(err, VXS_BAD_DATA, "the graph has no edges");
    for (size_t e = 0; e < g->count; e++) {
        if (g->from[e] >= nodes || g->to[e] >= nodes)
            return vxs_fail(err, VXS_MISUSE, "edge %zu of the graph leads to feature %zu of %zu", e,
                            g->from[e] >= nodes ? g->from[e] : g->to[e], nodes);
        if (!(g->weight[e] > 0 && g->weight[e] <= VXS_LARGEST))
            return vxs_fail(err, VXS_BAD_DATA,
                            "edge %zu of the graph has weight %g; it must be a finite number above "
                            "0",
                            e, g->weight[e]);
    }
    return VXS_OK;
}

vxs_status vxs_penalty_check(const vxs_penalty *penalty, const vxs_design *design, bool some,
                             vxs_error *err)
{
    return vxs_penalty_kind_of(penalty)->check(penalty, design, some, err);
}

vxs_status vxs_quadratic_check(const vxs_quadratic *q, const vxs_design *design, vxs_error *err)
{
    vxs_status status = vxs_number_check(q->kind ? q->kind->weight : "the weight of a quadratic",
                                         q->weight, 0, false, err);
    if (status)
        return status;
    return q->kind && q->kind->needs_graph
               ? vxs_graph_check(q->graph, vxs_design_columns(design), false, err)
               : VXS_OK;
}
