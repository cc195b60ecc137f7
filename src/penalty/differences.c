/* differences.c - the fused penalty: total variation of the weights over the edges of a graph, plus
 * their l1 norm. */
#include "voxsift/internal/penalty.h"

#include <math.h>

vxs_fused vxs_fused_on(const vxs_graph *graph, double sparsity)
{
    return (vxs_fused){ { &vxs_fused_penalty }, graph, sparsity };
}

static vxs_status check(const vxs_penalty *penalty, const vxs_design *design, bool some,
                        vxs_error *err)
{
    const vxs_fused *f = vxs_as_fused(penalty);
    vxs_status status = vxs_number_check("the sparsity", f->sparsity, 0, false, err);
    return status ? status
                  : vxs_graph_check(f->graph, vxs_design_columns(design), some && f->sparsity == 0,
                                    err);
}

static double value(const vxs_penalty *penalty, const double *w, size_t p)
{
    const vxs_fused *f = vxs_as_fused(penalty);
    const vxs_graph *g = f->graph;
    double sum = 0;
    for (size_t e = 0; e < g->count; e++)
        sum += g->weight[e] * fabs(w[g->from[e]] - w[g->to[e]]);
    for (size_t j = 0; j < p && f->sparsity > 0; j++)
        sum += f->sparsity * fabs(w[j]);
    return sum;
}

const vxs_penalty_kind vxs_fused_penalty = { .name = "a fused penalty",
                                             .check = check,
                                             .value = value };
