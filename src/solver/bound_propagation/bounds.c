/* bounds.c - bound propagation: which rows of D w are 0 at the optimum.
 *
 * E'u = X'theta: for each column, a sum of entries of u equals the column's correlation with theta,
 * which is bounded over a region that contains the dual optimum (3.37, 3.38). low <= sum d_k u_k <=
 * high bounds each entry: d_j u_j <= high - min of the other terms, >= low - max of the other terms
 * (derived from (3.43), (3.44)). Tightening the box around u is repeated until no bound changes; a
 * row whose interval lies inside (-1, 1) is 0.
 *
 * Along a path of the graph, sums of columns have two entries: inner ones cancel. The norm of such
 * a sum grows with the root of the length; bounds propagated edge by edge grow with the length.
 *
 * Cost      n x p for the correlations, then the entries of all sums visited (a work queue)
 * Threads   those of BLAS
 * Source    dissertation 3.2.3, Algorithm 3, 3.3.4.1; corrected in spec/fused.md */
#include "solver/bound_propagation/bound_propagation.h"

#include <cblas.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#define MARGIN     1e-9  /* rounding, relative to 1 */
#define ROUNDING   1e-11 /* of the product of norms */
#define MIN_CHANGE 1e-4  /* smaller changes are not propagated */
#define VISITS     200   /* visits a sum, at most */
#define PATH       64    /* edges, at most; longer paths are cut */
#define SUMS       16    /* sums of columns per column */
#define BRANCHES   8     /* paths start at columns with at most as many entries */

/* ---- The dual region ------------------------------------------------------------------------- */

vxs_status vxs_dome_new(size_t n, vxs_dome *d, vxs_error *err)
{
    *d = (vxs_dome){ .n = n };
    d->center = vxs_alloc(n, sizeof(*d->center), err);
    d->normal = vxs_alloc(n, sizeof(*d->normal), err);
    if (d->center && d->normal)
        return VXS_OK;
    vxs_dome_release(d);
    return VXS_FAILED;
}

void vxs_dome_release(vxs_dome *d)
{
    free(d->center);
    free(d->normal);
    *d = (vxs_dome){ .n = 0 };
}

/* Support function of the dome: max x'(xi - center), |x| = norm, x'normal = along. */
static double support(const vxs_dome *d, double norm, double along)
{
    double offset = fmax(d->offset, -d->radius), across = norm * norm - along * along;
    if (!d->cut || d->radius * along <= offset * norm)
        return d->radius * norm;
    return offset * along + sqrt((d->radius - offset) * (d->radius + offset) * fmax(0, across));
}

/* ---- Sums ------------------------------------------------------------------------------------ */

void vxs_bounds_release(vxs_bounds *b)
{
    free(b->starts);
    free(b->term);
    free(b->factor);
    free(b->norm);
    free(b->base);
    free(b->add);
    free(b->share);
    free(b->uses_starts);
    free(b->uses);
    free(b->low);
    free(b->high);
    free(b->from);
    free(b->to);
    free(b->at_center);
    free(b->along_normal);
    free(b->x);
    free(b->queue);
    free(b->queued);
    *b = (vxs_bounds){ .terms = 0 };
}

static vxs_status allocate(vxs_bounds *b, vxs_error *err)
{
    b->starts = vxs_alloc(b->capacity + 1, sizeof(*b->starts), err);
    b->term = vxs_alloc(b->factor_capacity, sizeof(*b->term), err);
    b->factor = vxs_alloc(b->factor_capacity, sizeof(*b->factor), err);
    b->norm = vxs_alloc(b->capacity, sizeof(*b->norm), err);
    b->base = vxs_alloc(b->capacity, sizeof(*b->base), err);
    b->add = vxs_alloc(b->capacity, sizeof(*b->add), err);
    b->share = vxs_alloc(b->capacity, sizeof(*b->share), err);
    b->x = vxs_alloc(b->columns, b->n * sizeof(*b->x), err);
    return b->starts && b->term && b->factor && b->norm && b->base && b->add && b->share && b->x
               ? VXS_OK
               : VXS_FAILED;
}

static void project_onto_complement(const vxs_reparametrized *r, double *x, double *along)
{
    int n = (int)r->n, q = (int)r->rank;
    for (int round = 0; round < 2 && q > 0; round++) {
        cblas_dgemv(CblasColMajor, CblasTrans, n, q, 1, r->span, n, x, 1, 0, along, 1);
        cblas_dgemv(CblasColMajor, CblasNoTrans, n, q, -1, r->span, n, along, 1, 1, x, 1);
    }
}

/* One sum for each column. */
static vxs_status add_columns(vxs_bounds *b, const vxs_reparametrized *r, vxs_error *err)
{
    double *along = vxs_alloc(r->rank, sizeof(*along), err);
    size_t *at = vxs_alloc(b->columns + 1, sizeof(*at), err);
    vxs_status status = along && at ? VXS_OK : VXS_FAILED;
    for (size_t j = 0; j < b->columns && !status; j++) {
        double *x = b->x + j * b->n;
        memcpy(x, r->x + j * b->n, b->n * sizeof(*x));
        project_onto_complement(r, x, along);
        b->norm[j] = cblas_dnrm2((int)b->n, x, 1);
        b->base[j] = b->add[j] = j;
        if (j < r->leaves) {
            b->term[j] = j;
            b->factor[j] = 1;
            b->starts[j + 1] = j + 1;
        }
    }
    for (size_t a = 0; a < r->core_rows.starts[r->core_rows.count] && !status; a++)
        b->starts[r->leaves + r->core_rows.index[a] + 1]++;
    for (size_t j = r->leaves; j < b->columns && !status; j++) {
        b->starts[j + 1] += b->starts[j];
        at[j] = b->starts[j];
    }
    for (size_t t = 0; t < r->core_rows.count && !status; t++)
        for (size_t a = r->core_rows.starts[t]; a < r->core_rows.starts[t + 1]; a++) {
            size_t to = at[r->leaves + r->core_rows.index[a]]++;
            b->term[to] = r->leaves + t;
            b->factor[to] = r->core_rows.value[a];
        }
    b->count = b->columns;
    free(along);
    free(at);
    return status;
}

/* ---- Paths ----------------------------------------------------------------------------------- */

typedef struct {
    vxs_bounds *b;
    const vxs_reparametrized *r;
    double *x; /* n: the current sum of columns */
} walk;

static size_t entries(const vxs_bounds *b, size_t sum)
{
    return b->starts[sum + 1] - b->starts[sum];
}

/* The column at the other end of an edge of the core, if the path continues there. */
static size_t next_link(const walk *w, size_t term, size_t column)
{
    const vxs_analysis *d = &w->r->core_rows;
    size_t first = d->starts[term - w->r->leaves];
    if (d->starts[term - w->r->leaves + 1] - first != 2)
        return SIZE_MAX;
    size_t one_end = w->r->leaves + d->index[first], other_end = w->r->leaves + d->index[first + 1];
    size_t other = one_end == column ? other_end : one_end;
    return entries(w->b, other) == 2 ? other : SIZE_MAX;
}

static double factor_in(const vxs_bounds *b, size_t sum, size_t term)
{
    for (size_t a = b->starts[sum]; a < b->starts[sum + 1]; a++)
        if (b->term[a] == term)
            return b->factor[a];
    return 0;
}

/* Appends the sum `base` + share x column `link`, in which `term` cancels. Returns the other entry
 * of the link; SIZE_MAX if the path closes or the capacity is reached. */
static size_t extend(walk *w, size_t base, size_t link, size_t term)
{
    vxs_bounds *b = w->b;
    size_t first = b->starts[link], size = entries(b, base), to = b->starts[b->count];
    size_t other = b->term[first] == term ? first + 1 : first;
    size_t comes = b->term[other], made = b->count;
    if (made == b->capacity || to + size > b->factor_capacity || factor_in(b, base, comes) != 0)
        return SIZE_MAX;
    double share = -factor_in(b, base, term) / factor_in(b, link, term);
    for (size_t a = b->starts[base]; a < b->starts[base + 1]; a++, to++) {
        bool goes = b->term[a] == term;
        b->term[to] = goes ? comes : b->term[a];
        b->factor[to] = goes ? share * b->factor[other] : b->factor[a];
    }
    b->starts[made + 1] = to;
    b->base[made] = base;
    b->add[made] = link;
    b->share[made] = share;
    cblas_daxpy((int)b->n, share, b->x + link * b->n, 1, w->x, 1);
    b->norm[made] = cblas_dnrm2((int)b->n, w->x, 1);
    b->count++;
    return comes;
}

/* Sums of columns along the path that starts at a column with one of its edges. */
static void follow(walk *w, size_t column, size_t term)
{
    vxs_bounds *b = w->b;
    size_t base = column, at = column;
    memcpy(w->x, b->x + column * b->n, b->n * sizeof(*w->x));
    for (int step = 0; step < PATH; step++) {
        size_t link = next_link(w, term, at);
        if (link == SIZE_MAX || link == column)
            return;
        size_t comes = extend(w, base, link, term);
        if (comes == SIZE_MAX)
            return;
        base = b->count - 1;
        at = link;
        term = comes;
    }
}

static vxs_status add_paths(vxs_bounds *b, const vxs_reparametrized *r, vxs_error *err)
{
    walk w = { .b = b, .r = r, .x = vxs_alloc(b->n, sizeof(*w.x), err) };
    if (!w.x)
        return VXS_FAILED;
    for (size_t j = r->leaves; j < b->columns; j++)
        for (size_t a = b->starts[j]; a < b->starts[j + 1] && entries(b, j) <= BRANCHES; a++)
            follow(&w, j, b->term[a]);
    free(w.x);
    return VXS_OK;
}

/* ---- Initialization -------------------------------------------------------------------------- */

static vxs_status find_uses(vxs_bounds *b, vxs_error *err)
{
    size_t all = b->starts[b->count];
    b->uses_starts = vxs_alloc(b->terms + 1, sizeof(*b->uses_starts), err);
    b->uses = vxs_alloc(all, sizeof(*b->uses), err);
    b->low = vxs_alloc(b->count, sizeof(*b->low), err);
    b->high = vxs_alloc(b->count, sizeof(*b->high), err);
    b->at_center = vxs_alloc(b->count, sizeof(*b->at_center), err);
    b->along_normal = vxs_alloc(b->count, sizeof(*b->along_normal), err);
    b->from = vxs_alloc(b->terms, sizeof(*b->from), err);
    b->to = vxs_alloc(b->terms, sizeof(*b->to), err);
    b->queue = vxs_alloc(b->count, sizeof(*b->queue), err);
    b->queued = vxs_alloc(b->count, sizeof(*b->queued), err);
    size_t *at = vxs_alloc(b->terms, sizeof(*at), err);
    bool room = b->uses_starts && b->uses && b->low && b->high && b->at_center && b->along_normal &&
                b->from && b->to && b->queue && b->queued && at;
    for (size_t a = 0; room && a < all; a++)
        b->uses_starts[b->term[a] + 1]++;
    for (size_t t = 0; room && t < b->terms; t++) {
        b->uses_starts[t + 1] += b->uses_starts[t];
        at[t] = b->uses_starts[t];
    }
    for (size_t s = 0; room && s < b->count; s++)
        for (size_t a = b->starts[s]; a < b->starts[s + 1]; a++)
            b->uses[at[b->term[a]]++] = s;
    free(at);
    return room ? VXS_OK : VXS_FAILED;
}

vxs_status vxs_bounds_new(const vxs_reparametrized *r, bool transform, vxs_bounds *b,
                          vxs_error *err)
{
    size_t columns = r->leaves + r->core, own = r->leaves + r->core_rows.starts[r->core_rows.count];
    *b = (vxs_bounds){ .terms = r->terms, .columns = columns, .n = r->n };
    b->capacity = transform ? columns + SUMS * r->core : columns;
    b->factor_capacity = transform ? own + 3 * SUMS * r->core : own;
    vxs_status status = allocate(b, err);
    if (!status)
        status = add_columns(b, r, err);
    if (!status && transform)
        status = add_paths(b, r, err);
    if (!status)
        status = find_uses(b, err);
    if (status)
        vxs_bounds_release(b);
    return status;
}

/* ---- Propagation ----------------------------------------------------------------------------- */

static void bound_sums(vxs_bounds *b, const vxs_dome *d, double lambda)
{
    int n = (int)b->n, count = (int)b->columns;
    double size = cblas_dnrm2(n, d->center, 1) + d->radius;
    if (count > 0) {
        cblas_dgemv(CblasColMajor, CblasTrans, n, count, 1, b->x, n, d->center, 1, 0, b->at_center,
                    1);
        cblas_dgemv(CblasColMajor, CblasTrans, n, count, 1, b->x, n, d->normal, 1, 0,
                    b->along_normal, 1);
    }
    for (size_t s = 0; s < b->count; s++) {
        if (s >= b->columns) {
            b->at_center[s] = b->at_center[b->base[s]] + b->share[s] * b->at_center[b->add[s]];
            b->along_normal[s] =
                b->along_normal[b->base[s]] + b->share[s] * b->along_normal[b->add[s]];
        }
        double margin = ROUNDING * b->norm[s] * size;
        b->high[s] =
            (b->at_center[s] + support(d, b->norm[s], b->along_normal[s]) + margin) / lambda;
        b->low[s] =
            (b->at_center[s] - support(d, b->norm[s], -b->along_normal[s]) - margin) / lambda;
    }
}

typedef struct {
    size_t first, count;
} work_queue;

static void enqueue(vxs_bounds *b, work_queue *q, size_t sum)
{
    if (b->queued[sum])
        return;
    b->queued[sum] = true;
    b->queue[(q->first + q->count++) % b->count] = sum;
}

/* Minimum and maximum of one entry's part in a sum. */
static void range(const vxs_bounds *b, size_t a, double *min, double *max)
{
    double one = b->factor[a] * b->from[b->term[a]], two = b->factor[a] * b->to[b->term[a]];
    *min = one < two ? one : two;
    *max = one < two ? two : one;
}

/* Tightens the interval of one entry from the bounds of the sum and of the other entries. Returns
 * whether it changed by more than MIN_CHANGE. */
static bool tighten(vxs_bounds *b, size_t sum, size_t a, double min, double max)
{
    double factor = b->factor[a], *from = &b->from[b->term[a]], *to = &b->to[b->term[a]];
    double high = (b->high[sum] - min) / factor, low = (b->low[sum] - max) / factor;
    double up = (high > low ? high : low) + ROUNDING;
    double down = (high > low ? low : high) - ROUNDING;
    bool changed = up < *to - MIN_CHANGE || down > *from + MIN_CHANGE;
    *to = up < *to ? up : *to;
    *from = down > *from ? down : *from;
    return changed;
}

static void tighten_sum(vxs_bounds *b, work_queue *q, size_t sum)
{
    double min = 0, max = 0, small, large;
    for (size_t a = b->starts[sum]; a < b->starts[sum + 1]; a++) {
        range(b, a, &small, &large);
        min += small;
        max += large;
    }
    for (size_t a = b->starts[sum]; a < b->starts[sum + 1]; a++) {
        double before_small, before_large;
        range(b, a, &before_small, &before_large);
        bool changed = tighten(b, sum, a, min - before_small, max - before_large);
        range(b, a, &small, &large);
        min += small - before_small;
        max += large - before_large;
        size_t term = b->term[a];
        for (size_t use = b->uses_starts[term]; changed && use < b->uses_starts[term + 1]; use++)
            if (b->uses[use] != sum)
                enqueue(b, q, b->uses[use]);
    }
}

size_t vxs_bounds_promising(const vxs_bounds *b, const vxs_dome *dome, double lambda)
{
    size_t narrow = 0;
    for (size_t j = 0; j < b->columns; j++)
        narrow += b->norm[j] * dome->radius < lambda;
    return narrow;
}

size_t vxs_bounds_propagate(vxs_bounds *b, const vxs_dome *dome, double lambda, bool *zero)
{
    work_queue q = { 0, 0 };
    size_t found = 0;
    bool consistent = true;
    bound_sums(b, dome, lambda);
    for (size_t t = 0; t < b->terms; t++) {
        b->from[t] = -1;
        b->to[t] = 1;
    }
    for (size_t s = 0; s < b->count; s++)
        enqueue(b, &q, s);
    for (size_t visits = 0; q.count > 0 && visits < VISITS * b->count; visits++) {
        size_t sum = b->queue[q.first];
        q.first = (q.first + 1) % b->count;
        q.count--;
        b->queued[sum] = false;
        tighten_sum(b, &q, sum);
    }
    memset(b->queued, 0, b->count * sizeof(*b->queued));
    for (size_t t = 0; t < b->terms; t++)
        consistent = consistent && b->from[t] <= b->to[t] + MARGIN; /* else rounding exceeds the
                                                                     * margins */
    for (size_t t = 0; t < b->terms; t++) {
        zero[t] = consistent && b->from[t] > MARGIN - 1 && b->to[t] < 1 - MARGIN;
        found += zero[t];
    }
    return found;
}
