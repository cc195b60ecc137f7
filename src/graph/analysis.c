/* analysis.c - analysis operators D of generalized lasso penalties |Dw|_1: second differences,
 * edges. */
#include "voxsift/internal/graph.h"

#include <stdlib.h>

vxs_status vxs_analysis_new(size_t columns, size_t count, size_t factors, vxs_analysis *terms,
                            vxs_error *err)
{
    vxs_status status = VXS_GIVEN(err, { "terms", terms });
    if (status)
        return status;
    *terms = (vxs_analysis){ .columns = columns, .count = count };
    terms->starts = vxs_alloc(count < SIZE_MAX ? count + 1 : count, sizeof(*terms->starts), err);
    terms->index = vxs_alloc(factors, sizeof(*terms->index), err);
    terms->value = vxs_alloc(factors, sizeof(*terms->value), err);
    if (terms->starts && terms->index && terms->value)
        return VXS_OK;
    vxs_analysis_release(terms);
    return VXS_FAILED;
}

void vxs_analysis_release(vxs_analysis *terms)
{
    if (!terms)
        return;
    free(terms->starts);
    free(terms->index);
    free(terms->value);
    *terms = (vxs_analysis){ .columns = 0 };
}

vxs_status vxs_analysis_trend(size_t columns, vxs_analysis *terms, vxs_error *err)
{
    static const double factors[] = { 1, -2, 1 };
    size_t count = columns > 2 ? columns - 2 : 0;
    vxs_status status = vxs_analysis_new(columns, count, 3 * count, terms, err);
    for (size_t e = 0; e < 3 * count && !status; e++) {
        terms->starts[e / 3 + 1] = e + 1;
        terms->index[e] = e / 3 + e % 3;
        terms->value[e] = factors[e % 3];
    }
    return status;
}

vxs_status vxs_analysis_edges(const vxs_graph *graph, double sparsity, vxs_analysis *terms,
                              vxs_error *err)
{
    size_t edges = graph->count, alone = sparsity > 0 ? graph->nodes : 0;
    vxs_status status =
        vxs_analysis_new(graph->nodes, edges + alone, 2 * edges + alone, terms, err);
    if (status)
        return status;
    for (size_t e = 0; e < edges; e++) {
        bool falls = graph->from[e] > graph->to[e];
        terms->index[2 * e] = falls ? graph->to[e] : graph->from[e];
        terms->index[2 * e + 1] = falls ? graph->from[e] : graph->to[e];
        terms->value[2 * e] = falls ? -graph->weight[e] : graph->weight[e];
        terms->value[2 * e + 1] = -terms->value[2 * e];
        terms->starts[e + 1] = 2 * e + 2;
    }
    for (size_t j = 0; j < alone; j++) {
        terms->index[2 * edges + j] = j;
        terms->value[2 * edges + j] = sparsity;
        terms->starts[edges + j + 1] = 2 * edges + j + 1;
    }
    return VXS_OK;
}
