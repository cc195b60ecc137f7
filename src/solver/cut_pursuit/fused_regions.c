/* fused_regions.c - pieces of equal weight: which nodes they have, the sums of their columns, and
 * what they share a border with. */
#include "solver/cut_pursuit/cut_pursuit.h"

#include <cblas.h>
#include <stdlib.h>
#include <string.h>

#define BLOCK  64
#define NOBODY UINT32_MAX /* no piece has so many nodes */

void vxs_side_release(vxs_side *s)
{
    vxs_flow_free(s->flow);
    free(s->piece);
    free(s->x);
    free(s->w);
    free(s->rate);
    free(s->value);
    free(s->borders);
    vxs_atoms_release(&s->atoms);
}

/* ---- Columns --------------------------------------------------------------------------------- */

void vxs_side_clean(const vxs_cuts *c, double *column)
{
    if (!(cblas_dnrm2((int)c->n, column, 1) > c->least))
        memset(column, 0, c->n * sizeof(*column));
}

/* Adds the columns of nodes to those of their pieces, but for pieces that `skip` marks. */
static vxs_status add_columns(const vxs_cuts *c, const uint32_t *piece, const bool *skip, double *x,
                              vxs_error *err)
{
    size_t n = c->n, set[BLOCK], count = 0;
    double *block = vxs_alloc(BLOCK, n * sizeof(*block), err);
    for (size_t j = 0; j < c->p && block; j++) {
        if (!skip[piece[j]])
            set[count++] = j;
        if (count < BLOCK && (j + 1 < c->p || count == 0))
            continue;
        vxs_design_fetch(c->problem.design, set, count, block);
        for (size_t k = 0; k < count; k++)
            cblas_daxpy((int)n, 1, block + k * n, 1, x + (c->q + piece[set[k]]) * n, 1);
        count = 0;
    }
    free(block);
    return block ? VXS_OK : VXS_FAILED;
}

/* ---- Pieces ---------------------------------------------------------------------------------- */

/* What pieces come from, and how they would move: a piece's mean of what is carried off it. */
typedef struct {
    uint32_t *piece; /* of a node, anew */
    size_t count;
    uint32_t *parent; /* old pieces */
    size_t *size;
    double *rate;
    bool *rest;        /* has the old column, less those of its siblings */
    uint32_t *largest; /* of an old piece */
} division;

static void release_division(division *d)
{
    free(d->piece);
    free(d->parent);
    free(d->size);
    free(d->rate);
    free(d->rest);
    free(d->largest);
}

static vxs_status make_division(const vxs_side *s, division *d, vxs_error *err)
{
    const vxs_flow *f = s->flow;
    size_t nodes = vxs_flow_nodes(f);
    d->piece = vxs_alloc(nodes, sizeof(*d->piece), err);
    if (!d->piece)
        return VXS_FAILED;
    d->count = vxs_flow_components(s->flow, d->piece);
    d->parent = vxs_alloc(d->count, sizeof(*d->parent), err);
    d->size = vxs_alloc(d->count, sizeof(*d->size), err);
    d->rate = vxs_alloc(d->count, sizeof(*d->rate), err);
    d->rest = vxs_alloc(d->count, sizeof(*d->rest), err);
    d->largest = vxs_alloc(s->count, sizeof(*d->largest), err);
    if (!d->parent || !d->size || !d->rate || !d->rest || !d->largest)
        return VXS_FAILED;
    for (size_t k = 0; k < nodes; k++) {
        d->parent[d->piece[k]] = s->piece[k];
        d->size[d->piece[k]]++;
        d->rate[d->piece[k]] += s->value[k] - vxs_flow_out(f, k);
    }
    for (size_t k = 0; k < s->count; k++)
        d->largest[k] = NOBODY;
    for (size_t k = 0; k < d->count; k++) {
        uint32_t *largest = &d->largest[d->parent[k]];
        d->rate[k] /= (double)d->size[k];
        if (*largest == NOBODY || d->size[k] > d->size[*largest])
            *largest = (uint32_t)k;
    }
    for (size_t k = 0; k < d->count; k++)
        d->rest[k] = d->largest[d->parent[k]] == k;
    return VXS_OK;
}

/* That of the ground, whose weight is 0 for good, is 0. Its pieces have no old column to begin
 * with. */
static vxs_status divide_columns(const vxs_cuts *c, const vxs_side *s, division *d, double *x,
                                 vxs_error *err)
{
    size_t n = c->n, q = c->q;
    bool grounded = vxs_side_grounded(s);
    for (size_t k = 0; k < d->count && grounded; k++)
        d->rest[k] = k == 0 || (d->rest[k] && d->parent[k] != 0);
    memcpy(x, s->x, q * n * sizeof(*x));
    vxs_status status = add_columns(c, d->piece, d->rest, x, err);
    for (size_t k = 0; k < d->count && !status; k++)
        if (d->rest[k] && !(grounded && k == 0))
            memcpy(x + (q + k) * n, s->x + (q + d->parent[k]) * n, n * sizeof(*x));
    for (size_t k = 0; k < d->count && !status; k++) {
        uint32_t largest = d->largest[d->parent[k]];
        if (!d->rest[k] && !(grounded && d->parent[k] == 0))
            cblas_daxpy((int)n, -1, x + (q + k) * n, 1, x + (q + largest) * n, 1);
    }
    for (size_t k = 0; k < d->count && !status; k++)
        vxs_side_clean(c, x + (q + k) * n);
    return status;
}

/* No more new pieces than samples can tell apart: those that move most for their size. The others
 * stay with what they come from. */
static vxs_status choose_pieces(const vxs_cuts *c, vxs_side *s, vxs_error *err)
{
    vxs_flow *f = s->flow;
    division d = { .count = 0 };
    size_t most = c->n > s->count + c->n / 4 ? c->n - s->count : c->n / 4 + 1;
    size_t count = 0;
    vxs_top top;
    vxs_status status = vxs_top_init(&top, most, err);
    if (!status)
        status = make_division(s, &d, err);
    for (uint32_t k = 0; k < d.count && !status; k++)
        if (d.largest[d.parent[k]] != k) {
            (void)vxs_top_offer(&top, k, d.rate[k] * d.rate[k] * (double)d.size[k]);
            count++;
        }
    if (!status && count > most) {
        for (size_t k = 0; k < d.count; k++)
            d.rest[k] = true; /* stays */
        for (size_t k = 0; k < most; k++)
            d.rest[top.heap[k].unit] = false;
        for (size_t k = 0; k < vxs_flow_nodes(f); k++)
            f->node[k].region = d.rest[d.piece[k]] ? s->piece[k] : (uint32_t)s->count + d.piece[k];
    }
    vxs_top_release(&top);
    release_division(&d);
    return status;
}

vxs_status vxs_side_divide(const vxs_cuts *c, vxs_side *s, vxs_error *err)
{
    division d = { .count = 0 };
    double *x = NULL, *w = NULL;
    vxs_status status = choose_pieces(c, s, err);
    if (!status)
        status = make_division(s, &d, err);
    if (!status) {
        x = vxs_alloc(c->q + d.count, c->n * sizeof(*x), err);
        w = vxs_alloc(c->q + d.count, sizeof(*w), err);
        status = x && w ? divide_columns(c, s, &d, x, err) : VXS_FAILED;
    }
    if (status) {
        free(x);
        free(w);
        release_division(&d);
        return status;
    }
    memcpy(w, s->w, c->q * sizeof(*w));
    for (size_t k = 0; k < d.count; k++)
        w[c->q + k] = s->w[c->q + d.parent[k]];
    free(s->x);
    free(s->w);
    free(s->piece);
    free(s->rate);
    s->x = x;
    s->w = w;
    s->piece = d.piece;
    s->rate = d.rate;
    s->count = d.count;
    d.piece = NULL;
    d.rate = NULL;
    release_division(&d);
    return VXS_OK;
}

/* ---- Borders --------------------------------------------------------------------------------- */

/* Of two pieces that had one weight until now, the one that would move up is above. */
bool vxs_side_is_upper(const vxs_side *s, size_t q, uint32_t a, uint32_t b)
{
    double left = s->w[q + a], right = s->w[q + b];
    return left != right ? left > right : s->rate[a] > s->rate[b];
}

/* Arcs that leave pieces by the piece they leave, as neighbours of each. */
static void gather(const vxs_side *s, const size_t *starts, size_t *next, uint32_t *other,
                   double *weight)
{
    const vxs_flow *f = s->flow;
    memcpy(next, starts, s->count * sizeof(*next));
    for (size_t k = 0; k < vxs_flow_nodes(f); k++)
        for (size_t a = f->starts[k]; a < f->starts[k + 1]; a++)
            if (s->piece[k] < s->piece[f->arcs[a].head]) {
                size_t at = next[s->piece[k]]++;
                other[at] = s->piece[f->arcs[a].head];
                weight[at] = f->arcs[a].weight;
            }
}

static size_t count_arcs(const vxs_side *s, size_t *starts)
{
    const vxs_flow *f = s->flow;
    memset(starts, 0, (s->count + 1) * sizeof(*starts));
    for (size_t k = 0; k < vxs_flow_nodes(f); k++)
        for (size_t a = f->starts[k]; a < f->starts[k + 1]; a++)
            starts[s->piece[k] + 1] += s->piece[k] < s->piece[f->arcs[a].head];
    for (size_t k = 0; k < s->count; k++)
        starts[k + 1] += starts[k];
    return starts[s->count];
}

/* Arcs between the same two pieces become one border. */
static void add_up(const vxs_cuts *c, vxs_side *s, const size_t *starts, const uint32_t *other,
                   const double *weight, size_t *place)
{
    for (size_t k = 0; k < s->count; k++)
        place[k] = SIZE_MAX;
    s->border_count = 0;
    for (uint32_t k = 0; k < s->count; k++) {
        size_t first = s->border_count;
        for (size_t a = starts[k]; a < starts[k + 1]; a++) {
            uint32_t b = other[a];
            if (place[b] == SIZE_MAX || place[b] < first) {
                bool up = vxs_side_is_upper(s, c->q, k, b);
                place[b] = s->border_count;
                s->borders[s->border_count++] =
                    (vxs_border){ .upper = up ? k : b, .lower = up ? b : k };
            }
            s->borders[place[b]].weight += weight[a];
        }
    }
}

vxs_status vxs_side_survey(const vxs_cuts *c, vxs_side *s, vxs_error *err)
{
    size_t *starts = vxs_alloc(s->count + 1, sizeof(*starts), err);
    size_t *next = vxs_alloc(s->count, sizeof(*next), err);
    size_t count = starts ? count_arcs(s, starts) : 0;
    uint32_t *other = vxs_alloc(count, sizeof(*other), err);
    double *weight = vxs_alloc(count, sizeof(*weight), err);
    vxs_border *borders = vxs_alloc(count, sizeof(*borders), err);
    vxs_status status = starts && next && other && weight && borders ? VXS_OK : VXS_FAILED;
    if (!status) {
        gather(s, starts, next, other, weight);
        free(s->borders);
        s->borders = borders;
        add_up(c, s, starts, other, weight, next);
    } else
        free(borders);
    free(starts);
    free(next);
    free(other);
    free(weight);
    return status;
}

void vxs_side_close(const vxs_cuts *c, vxs_side *s)
{
    vxs_flow *f = s->flow;
    const double *w = s->w + c->q;
    for (size_t k = 0; k < vxs_flow_nodes(f); k++)
        for (size_t a = f->starts[k]; a < f->starts[k + 1]; a++) {
            double here = w[s->piece[k]], there = w[s->piece[f->arcs[a].head]];
            if (here != there)
                f->arcs[a].flow = here > there ? f->arcs[a].weight : -f->arcs[a].weight;
        }
}

/* ---- The beginning --------------------------------------------------------------------------- */

vxs_status vxs_side_begin(const vxs_cuts *c, vxs_side *s, vxs_error *err)
{
    const vxs_fused *on = vxs_as_fused(c->problem.penalty);
    vxs_status status = vxs_flow_new(on->graph, on->sparsity, &s->flow, err);
    if (status)
        return status;
    size_t nodes = vxs_flow_nodes(s->flow), n = c->n, q = c->q;
    s->piece = vxs_alloc(nodes, sizeof(*s->piece), err);
    s->value = vxs_alloc(nodes, sizeof(*s->value), err);
    if (!s->piece || !s->value)
        return VXS_FAILED;
    vxs_flow_merge_regions(s->flow, 1);
    s->count = vxs_flow_components(s->flow, s->piece);
    bool *skip = vxs_alloc(s->count, sizeof(*skip), err);
    s->x = vxs_alloc(q + s->count, n * sizeof(*s->x), err);
    s->w = vxs_alloc(q + s->count, sizeof(*s->w), err);
    s->rate = vxs_alloc(s->count, sizeof(*s->rate), err);
    status = skip && s->x && s->w && s->rate ? VXS_OK : VXS_FAILED;
    if (!status) {
        skip[0] = vxs_side_grounded(s);
        if (q > 0)
            memcpy(s->x, c->problem.covariates, q * n * sizeof(*s->x));
        status = add_columns(c, s->piece, skip, s->x, err);
        for (size_t k = 0; k < s->count && !status; k++)
            vxs_side_clean(c, s->x + (q + k) * n);
    }
    free(skip);
    return status ? status : vxs_side_survey(c, s, err);
}
