/* laplacian.c - the quadratic form w'Lw of a graph's Laplacian, beside an l1 penalty (graph-net).
 *
 * Problem   sum u f(x'w + c'b) + lambda |w|_1 + w'Lw / 2, w'Lw = sum over edges of their weight
 *           times (w_from - w_to)^2
 * Dual      -sum u f*(-lambda theta / u) - v'Lv / 2 over |x_j'theta - (Lv)_j / lambda| <= 1,
 *           c'theta = 0; v = w where theta = -u f' / lambda. Where theta is scaled, v is as well
 * Ball      theta and D v / lambda, D'D = L, are one point: column j has the length
 *           sqrt(|x_j|^2 + L_jj), as with a ridge, whose L is a multiple of 1
 * Source    Grosenick et al. 2013, graph-net */
#include "solver/saif/laplacian.h"
#include "voxsift/internal/core.h"

#include <stdlib.h>
#include <string.h>

vxs_status vxs_laplacian_init(const vxs_quadratic *of, size_t p, vxs_laplacian_matrix *l,
                              vxs_error *err)
{
    const vxs_graph *g = of->graph;
    *l = (vxs_laplacian_matrix){ .p = 0 };
    if (of->kind != &vxs_laplacian || g->count == 0 || of->weight == 0)
        return VXS_OK;
    l->starts = vxs_alloc(p + 2, sizeof(*l->starts), err);
    l->other = vxs_alloc(2 * g->count, sizeof(*l->other), err);
    l->weight = vxs_alloc(2 * g->count, sizeof(*l->weight), err);
    l->degree = vxs_alloc(p, sizeof(*l->degree), err);
    l->wide = vxs_alloc(p, sizeof(*l->wide), err);
    l->place = vxs_alloc(p, sizeof(*l->place), err);
    if (!l->starts || !l->other || !l->weight || !l->degree || !l->wide || !l->place) {
        vxs_laplacian_release(l);
        return VXS_FAILED;
    }
    l->p = p;
    for (size_t e = 0; e < g->count; e++) {
        l->starts[g->from[e] + 2]++;
        l->starts[g->to[e] + 2]++;
    }
    for (size_t j = 0; j < p; j++)
        l->starts[j + 2] += l->starts[j + 1];
    for (size_t e = 0; e < 2 * g->count; e++) {
        size_t from = e % 2 ? g->to[e / 2] : g->from[e / 2];
        size_t at = l->starts[from + 1]++;
        l->other[at] = e % 2 ? g->from[e / 2] : g->to[e / 2];
        l->weight[at] = of->weight * g->weight[e / 2];
        l->degree[from] += l->weight[at];
    }
    return VXS_OK;
}

void vxs_laplacian_release(vxs_laplacian_matrix *l)
{
    free(l->starts);
    free(l->other);
    free(l->weight);
    free(l->degree);
    free(l->wide);
    free(l->place);
    *l = (vxs_laplacian_matrix){ .p = 0 };
}

void vxs_laplacian_times(const vxs_laplacian_matrix *l, const size_t *set, size_t count,
                         const double *w, double *product)
{
    for (size_t k = 0; k < count; k++)
        l->wide[set[k]] = w[k];
    for (size_t k = 0; k < count; k++) {
        size_t j = set[k];
        double sum = l->degree[j] * w[k];
        for (size_t e = l->starts[j]; e < l->starts[j + 1]; e++)
            sum -= l->weight[e] * l->wide[l->other[e]];
        product[k] = sum;
    }
    for (size_t k = 0; k < count; k++)
        l->wide[set[k]] = 0;
}

void vxs_laplacian_pull(const vxs_laplacian_matrix *l, const size_t *set, size_t count,
                        const double *w, double factor, double *pull)
{
    memset(pull, 0, l->p * sizeof(*pull));
    for (size_t k = 0; k < count; k++) {
        size_t j = set[k];
        if (w[k] == 0)
            continue;
        pull[j] += factor * l->degree[j] * w[k];
        for (size_t e = l->starts[j]; e < l->starts[j + 1]; e++)
            pull[l->other[e]] -= factor * l->weight[e] * w[k];
    }
}

double vxs_laplacian_form(const vxs_laplacian_matrix *l, const size_t *set, size_t count,
                          const double *w)
{
    double sum = 0;
    for (size_t k = 0; k < count; k++)
        l->wide[set[k]] = w[k];
    for (size_t k = 0; k < count; k++)
        for (size_t e = l->starts[set[k]]; e < l->starts[set[k] + 1]; e++) {
            double other = l->wide[l->other[e]], apart = w[k] - other;
            bool twice = other != 0 && w[k] != 0; /* listed by both ends if both are in the set */
            sum += l->weight[e] * apart * apart * (twice ? 0.5 : w[k] != 0);
        }
    for (size_t k = 0; k < count; k++)
        l->wide[set[k]] = 0;
    return sum;
}

void vxs_laplacian_add(const vxs_laplacian_matrix *l, const size_t *list, size_t count, size_t from,
                       double *gram, size_t stride)
{
    for (size_t k = 0; k < count; k++)
        l->place[list[k]] = k + 1;
    for (size_t c = from; c < count; c++) {
        size_t j = list[c];
        gram[c * stride + c] += l->degree[j];
        for (size_t e = l->starts[j]; e < l->starts[j + 1]; e++) {
            size_t r = l->place[l->other[e]];
            if (r == 0 || (r - 1 >= from && r - 1 > c))
                continue; /* outside the list, or listed later */
            gram[c * stride + r - 1] -= l->weight[e];
            gram[(r - 1) * stride + c] -= l->weight[e];
        }
    }
    for (size_t k = 0; k < count; k++)
        l->place[list[k]] = 0;
}
