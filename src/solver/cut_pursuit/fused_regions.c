/* fused_regions.c - fused regions: their nodes, the sums of their columns, their boundaries. */
#include "solver/cut_pursuit/cut_pursuit.h"

#include <cblas.h>
#include <stdlib.h>
#include <string.h>

#define BLOCK     64
#define NO_REGION UINT32_MAX /* more than the number of regions */

void vxs_class_block_release(vxs_class_block *s)
{
    vxs_flow_free(s->flow);
    free(s->region);
    free(s->x);
    free(s->w);
    free(s->rate);
    free(s->supply);
    free(s->boundaries);
    vxs_sub_regions_release(&s->sub_regions);
}

/* ---- Columns --------------------------------------------------------------------------------- */

void vxs_class_block_zero_rounding(const vxs_cut_pursuit *c, double *column)
{
    if (!(cblas_dnrm2((int)c->n, column, 1) > c->rounding))
        memset(column, 0, c->n * sizeof(*column));
}

/* Adds the columns of nodes to those of their regions, except regions marked in `skip`. */
static vxs_status add_columns(const vxs_cut_pursuit *c, const uint32_t *region, const bool *skip,
                              double *x, vxs_error *err)
{
    size_t n = c->n, set[BLOCK], count = 0;
    double *block = vxs_alloc(BLOCK, n * sizeof(*block), err);
    for (size_t j = 0; j < c->p && block; j++) {
        if (!skip[region[j]])
            set[count++] = j;
        if (count < BLOCK && (j + 1 < c->p || count == 0))
            continue;
        vxs_design_fetch(c->problem.design, set, count, block);
        for (size_t k = 0; k < count; k++)
            cblas_daxpy((int)n, 1, block + k * n, 1, x + (c->q + region[set[k]]) * n, 1);
        count = 0;
    }
    free(block);
    return block ? VXS_OK : VXS_FAILED;
}

/* ---- Splitting ------------------------------------------------------------------------------- */

/* New regions, the regions they come from, and their rates: the mean excess of their nodes. */
typedef struct {
    uint32_t *region; /* of a node */
    size_t count;
    uint32_t *parent; /* of a new region: the old one */
    size_t *size;
    double *rate;
    bool *keeps_column; /* takes the old column and subtracts those of its siblings */
    uint32_t *largest;  /* of an old region: its largest part */
} region_split;

static void release_split(region_split *d)
{
    free(d->region);
    free(d->parent);
    free(d->size);
    free(d->rate);
    free(d->keeps_column);
    free(d->largest);
}

static vxs_status init_split(const vxs_class_block *s, region_split *d, vxs_error *err)
{
    const vxs_flow *f = s->flow;
    size_t nodes = vxs_flow_nodes(f);
    d->region = vxs_alloc(nodes, sizeof(*d->region), err);
    if (!d->region)
        return VXS_FAILED;
    d->count = vxs_flow_components(s->flow, d->region);
    d->parent = vxs_alloc(d->count, sizeof(*d->parent), err);
    d->size = vxs_alloc(d->count, sizeof(*d->size), err);
    d->rate = vxs_alloc(d->count, sizeof(*d->rate), err);
    d->keeps_column = vxs_alloc(d->count, sizeof(*d->keeps_column), err);
    d->largest = vxs_alloc(s->count, sizeof(*d->largest), err);
    if (!d->parent || !d->size || !d->rate || !d->keeps_column || !d->largest)
        return VXS_FAILED;
    for (size_t k = 0; k < nodes; k++) {
        d->parent[d->region[k]] = s->region[k];
        d->size[d->region[k]]++;
        d->rate[d->region[k]] += s->supply[k] - vxs_flow_out(f, k);
    }
    if (vxs_class_block_has_reference(s))
        d->rate[0] = 0; /* its value does not move */
    for (size_t k = 0; k < s->count; k++)
        d->largest[k] = NO_REGION;
    for (size_t k = 0; k < d->count; k++) {
        uint32_t *largest = &d->largest[d->parent[k]];
        d->rate[k] /= (double)d->size[k];
        if (*largest == NO_REGION || d->size[k] > d->size[*largest])
            *largest = (uint32_t)k;
    }
    for (size_t k = 0; k < d->count; k++)
        d->keeps_column[k] = d->largest[d->parent[k]] == k;
    return VXS_OK;
}

/* Columns of the new regions. That of the reference node's region stays 0, since its value does:
 * parts of it have no old column to start from. */
static vxs_status split_columns(const vxs_cut_pursuit *c, const vxs_class_block *s, region_split *d,
                                double *x, vxs_error *err)
{
    size_t n = c->n, q = c->q;
    bool has_reference = vxs_class_block_has_reference(s);
    for (size_t k = 0; k < d->count && has_reference; k++)
        d->keeps_column[k] = k == 0 || (d->keeps_column[k] && d->parent[k] != 0);
    memcpy(x, s->x, q * n * sizeof(*x));
    vxs_status status = add_columns(c, d->region, d->keeps_column, x, err);
    for (size_t k = 0; k < d->count && !status; k++)
        if (d->keeps_column[k] && !(has_reference && k == 0))
            memcpy(x + (q + k) * n, s->x + (q + d->parent[k]) * n, n * sizeof(*x));
    for (size_t k = 0; k < d->count && !status; k++) {
        uint32_t largest = d->largest[d->parent[k]];
        if (!d->keeps_column[k] && !(has_reference && d->parent[k] == 0))
            cblas_daxpy((int)n, -1, x + (q + k) * n, 1, x + (q + largest) * n, 1);
    }
    for (size_t k = 0; k < d->count && !status; k++)
        vxs_class_block_zero_rounding(c, x + (q + k) * n);
    return status;
}

/* Limits the number of regions to what n samples identify: keeps the splits with the largest
 * squared rate times size. */
static vxs_status limit_splits(const vxs_cut_pursuit *c, vxs_class_block *s, vxs_error *err)
{
    vxs_flow *f = s->flow;
    region_split d = { .count = 0 };
    size_t max_new = c->n > s->count + c->n / 4 ? c->n - s->count : c->n / 4 + 1;
    size_t count = 0;
    vxs_top top;
    vxs_status status = vxs_top_init(&top, max_new, err);
    if (!status)
        status = init_split(s, &d, err);
    for (uint32_t k = 0; k < d.count && !status; k++)
        if (d.largest[d.parent[k]] != k) {
            (void)vxs_top_offer(&top, k, d.rate[k] * d.rate[k] * (double)d.size[k]);
            count++;
        }
    if (!status && count > max_new) {
        for (size_t k = 0; k < d.count; k++)
            d.keeps_column[k] = true; /* does not split */
        for (size_t k = 0; k < max_new; k++)
            d.keeps_column[top.heap[k].index] = false;
        for (size_t k = 0; k < vxs_flow_nodes(f); k++)
            f->node[k].region =
                d.keeps_column[d.region[k]] ? s->region[k] : (uint32_t)s->count + d.region[k];
    }
    vxs_top_release(&top);
    release_split(&d);
    return status;
}

vxs_status vxs_class_block_split(const vxs_cut_pursuit *c, vxs_class_block *s, vxs_error *err)
{
    region_split d = { .count = 0 };
    double *x = NULL, *w = NULL;
    vxs_status status = limit_splits(c, s, err);
    if (!status)
        status = init_split(s, &d, err);
    if (!status) {
        x = vxs_alloc(c->q + d.count, c->n * sizeof(*x), err);
        w = vxs_alloc(c->q + d.count, sizeof(*w), err);
        status = x && w ? split_columns(c, s, &d, x, err) : VXS_FAILED;
    }
    if (status) {
        free(x);
        free(w);
        release_split(&d);
        return status;
    }
    memcpy(w, s->w, c->q * sizeof(*w));
    for (size_t k = 0; k < d.count; k++)
        w[c->q + k] = s->w[c->q + d.parent[k]];
    free(s->x);
    free(s->w);
    free(s->region);
    free(s->rate);
    s->x = x;
    s->w = w;
    s->region = d.region;
    s->rate = d.rate;
    s->count = d.count;
    d.region = NULL;
    d.rate = NULL;
    release_split(&d);
    return VXS_OK;
}

/* ---- Boundaries ------------------------------------------------------------------------------ */

/* Of two regions of equal value, the upper one has the larger rate. */
bool vxs_class_block_is_upper(const vxs_class_block *s, size_t q, uint32_t a, uint32_t b)
{
    double value_a = s->w[q + a], value_b = s->w[q + b];
    return value_a != value_b ? value_a > value_b : s->rate[a] > s->rate[b];
}

/* Lists arcs to other regions, grouped by the region they leave. */
static void list_arcs(const vxs_class_block *s, const size_t *starts, size_t *next, uint32_t *other,
                      double *weight)
{
    const vxs_flow *f = s->flow;
    memcpy(next, starts, s->count * sizeof(*next));
    for (size_t k = 0; k < vxs_flow_nodes(f); k++)
        for (size_t a = f->starts[k]; a < f->starts[k + 1]; a++)
            if (s->region[k] < s->region[f->arcs[a].head]) {
                size_t at = next[s->region[k]]++;
                other[at] = s->region[f->arcs[a].head];
                weight[at] = f->arcs[a].weight;
            }
}

static size_t count_arcs(const vxs_class_block *s, size_t *starts)
{
    const vxs_flow *f = s->flow;
    memset(starts, 0, (s->count + 1) * sizeof(*starts));
    for (size_t k = 0; k < vxs_flow_nodes(f); k++)
        for (size_t a = f->starts[k]; a < f->starts[k + 1]; a++)
            starts[s->region[k] + 1] += s->region[k] < s->region[f->arcs[a].head];
    for (size_t k = 0; k < s->count; k++)
        starts[k + 1] += starts[k];
    return starts[s->count];
}

/* Sums arcs between the same two regions to one boundary. */
static void sum_boundaries(const vxs_cut_pursuit *c, vxs_class_block *s, const size_t *starts,
                           const uint32_t *other, const double *weight, size_t *place)
{
    for (size_t k = 0; k < s->count; k++)
        place[k] = SIZE_MAX;
    s->boundary_count = 0;
    for (uint32_t k = 0; k < s->count; k++) {
        size_t first = s->boundary_count;
        for (size_t a = starts[k]; a < starts[k + 1]; a++) {
            uint32_t b = other[a];
            if (place[b] == SIZE_MAX || place[b] < first) {
                bool is_upper = vxs_class_block_is_upper(s, c->q, k, b);
                place[b] = s->boundary_count;
                s->boundaries[s->boundary_count++] =
                    (vxs_boundary){ .upper = is_upper ? k : b, .lower = is_upper ? b : k };
            }
            s->boundaries[place[b]].weight += weight[a];
        }
    }
}

vxs_status vxs_class_block_find_boundaries(const vxs_cut_pursuit *c, vxs_class_block *s,
                                           vxs_error *err)
{
    size_t *starts = vxs_alloc(s->count + 1, sizeof(*starts), err);
    size_t *next = vxs_alloc(s->count, sizeof(*next), err);
    size_t count = starts ? count_arcs(s, starts) : 0;
    uint32_t *other = vxs_alloc(count, sizeof(*other), err);
    double *weight = vxs_alloc(count, sizeof(*weight), err);
    vxs_boundary *boundaries = vxs_alloc(count, sizeof(*boundaries), err);
    vxs_status status = starts && next && other && weight && boundaries ? VXS_OK : VXS_FAILED;
    if (!status) {
        list_arcs(s, starts, next, other, weight);
        free(s->boundaries);
        s->boundaries = boundaries;
        sum_boundaries(c, s, starts, other, weight, next);
    } else
        free(boundaries);
    free(starts);
    free(next);
    free(other);
    free(weight);
    return status;
}

void vxs_class_block_saturate(const vxs_cut_pursuit *c, vxs_class_block *s)
{
    vxs_flow *f = s->flow;
    const double *w = s->w + c->q;
    for (size_t k = 0; k < vxs_flow_nodes(f); k++)
        for (size_t a = f->starts[k]; a < f->starts[k + 1]; a++) {
            double tail = w[s->region[k]], head = w[s->region[f->arcs[a].head]];
            if (tail != head)
                f->arcs[a].flow = tail > head ? f->arcs[a].weight : -f->arcs[a].weight;
        }
}

/* ---- Initialization -------------------------------------------------------------------------- */

vxs_status vxs_class_block_init(const vxs_cut_pursuit *c, vxs_class_block *s, vxs_error *err)
{
    const vxs_fused *penalty = vxs_as_fused(c->problem.penalty);
    vxs_status status = vxs_flow_new(penalty->graph, penalty->sparsity, &s->flow, err);
    if (status)
        return status;
    size_t nodes = vxs_flow_nodes(s->flow), n = c->n, q = c->q;
    s->region = vxs_alloc(nodes, sizeof(*s->region), err);
    s->supply = vxs_alloc(nodes, sizeof(*s->supply), err);
    if (!s->region || !s->supply)
        return VXS_FAILED;
    vxs_flow_merge_regions(s->flow, 1);
    s->count = vxs_flow_components(s->flow, s->region);
    bool *skip = vxs_alloc(s->count, sizeof(*skip), err);
    s->x = vxs_alloc(q + s->count, n * sizeof(*s->x), err);
    s->w = vxs_alloc(q + s->count, sizeof(*s->w), err);
    s->rate = vxs_alloc(s->count, sizeof(*s->rate), err);
    status = skip && s->x && s->w && s->rate ? VXS_OK : VXS_FAILED;
    if (!status) {
        skip[0] = vxs_class_block_has_reference(s);
        if (q > 0)
            memcpy(s->x, c->problem.covariates, q * n * sizeof(*s->x));
        status = add_columns(c, s->region, skip, s->x, err);
        for (size_t k = 0; k < s->count && !status; k++)
            vxs_class_block_zero_rounding(c, s->x + (q + k) * n);
    }
    free(skip);
    return status ? status : vxs_class_block_find_boundaries(c, s, err);
}
