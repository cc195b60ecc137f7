/* bounds.c - which terms are 0 for certain: bound propagation.
 *
 * E'u = X'theta ties the sums of u at a variable to the correlation of its column, and a region
 * that holds the dual optimum bounds that. A sum between bounds bounds each of its members by what
 * the others leave: of low <= sum d_k u_k <= high, d_j u_j <= high - (least of the others) and
 * >= low - (most of the others). A box around u is tightened in this way until nothing moves; where
 * it stays inside (-1, 1) the term is 0 (dissertation (3.36) to (3.48); its Algorithm 3 derived
 * anew).
 *
 * Sums of columns along a path have as few members as one of them: what is between cancels out. The
 * norm of such a sum grows like the root of its length, where the bounds one after the other grow
 * like the length (dissertation 3.3.4.1). */
#include "solver/bound_propagation/bound_propagation.h"

#include <cblas.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#define EDGE     1e-9  /* of 1, for rounding */
#define ROUNDING 1e-11 /* of what a product of vectors can be */
#define MOVES    1e-4  /* less is not passed on */
#define VISITS   200   /* of each sum, at most */
#define PATH     64    /* longer ones are cut up */
#define SUMS     16    /* a column, along paths */
#define BRANCHES 8     /* of a variable where paths begin */

/* ---- The region ------------------------------------------------------------------------------ */

vxs_status vxs_dome_new(size_t n, vxs_dome *d, vxs_error *err)
{
    *d = (vxs_dome){ .n = n };
    d->centre = vxs_alloc(n, sizeof(*d->centre), err);
    d->along = vxs_alloc(n, sizeof(*d->along), err);
    if (d->centre && d->along)
        return VXS_OK;
    vxs_dome_release(d);
    return VXS_FAILED;
}

void vxs_dome_release(vxs_dome *d)
{
    free(d->centre);
    free(d->along);
    *d = (vxs_dome){ .n = 0 };
}

/* How far x'(xi - centre) can go, x being so long and having so much of it along the cut. */
static double reach(const vxs_dome *d, double norm, double along)
{
    double room = fmax(d->room, -d->radius), across = norm * norm - along * along;
    if (!d->cut || d->radius * along <= room * norm)
        return d->radius * norm;
    return room * along + sqrt((d->radius - room) * (d->radius + room) * fmax(0, across));
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
    free(b->mid);
    free(b->slant);
    free(b->x);
    free(b->queue);
    free(b->waits);
    *b = (vxs_bounds){ .terms = 0 };
}

static vxs_status make_room(vxs_bounds *b, vxs_error *err)
{
    b->starts = vxs_alloc(b->room + 1, sizeof(*b->starts), err);
    b->term = vxs_alloc(b->factors_room, sizeof(*b->term), err);
    b->factor = vxs_alloc(b->factors_room, sizeof(*b->factor), err);
    b->norm = vxs_alloc(b->room, sizeof(*b->norm), err);
    b->base = vxs_alloc(b->room, sizeof(*b->base), err);
    b->add = vxs_alloc(b->room, sizeof(*b->add), err);
    b->share = vxs_alloc(b->room, sizeof(*b->share), err);
    b->x = vxs_alloc(b->columns, b->n * sizeof(*b->x), err);
    return b->starts && b->term && b->factor && b->norm && b->base && b->add && b->share && b->x
               ? VXS_OK
               : VXS_FAILED;
}

static void take_span_out(const vxs_rest *r, double *x, double *along)
{
    int n = (int)r->n, q = (int)r->rank;
    for (int round = 0; round < 2 && q > 0; round++) {
        cblas_dgemv(CblasColMajor, CblasTrans, n, q, 1, r->span, n, x, 1, 0, along, 1);
        cblas_dgemv(CblasColMajor, CblasNoTrans, n, q, -1, r->span, n, along, 1, 1, x, 1);
    }
}

/* A sum for each column. */
static vxs_status add_columns(vxs_bounds *b, const vxs_rest *r, vxs_error *err)
{
    double *along = vxs_alloc(r->rank, sizeof(*along), err);
    size_t *at = vxs_alloc(b->columns + 1, sizeof(*at), err);
    vxs_status status = along && at ? VXS_OK : VXS_FAILED;
    for (size_t j = 0; j < b->columns && !status; j++) {
        double *x = b->x + j * b->n;
        memcpy(x, r->x + j * b->n, b->n * sizeof(*x));
        take_span_out(r, x, along);
        b->norm[j] = cblas_dnrm2((int)b->n, x, 1);
        b->base[j] = b->add[j] = j;
        if (j < r->singles) {
            b->term[j] = j;
            b->factor[j] = 1;
            b->starts[j + 1] = j + 1;
        }
    }
    for (size_t a = 0; a < r->inner.starts[r->inner.count] && !status; a++)
        b->starts[r->singles + r->inner.index[a] + 1]++;
    for (size_t j = r->singles; j < b->columns && !status; j++) {
        b->starts[j + 1] += b->starts[j];
        at[j] = b->starts[j];
    }
    for (size_t t = 0; t < r->inner.count && !status; t++)
        for (size_t a = r->inner.starts[t]; a < r->inner.starts[t + 1]; a++) {
            size_t to = at[r->singles + r->inner.index[a]]++;
            b->term[to] = r->singles + t;
            b->factor[to] = r->inner.value[a];
        }
    b->count = b->columns;
    free(along);
    free(at);
    return status;
}

/* ---- Paths ----------------------------------------------------------------------------------- */

typedef struct {
    vxs_bounds *b;
    const vxs_rest *r;
    double *x; /* n: the column of the sum so far */
} walk;

static size_t members(const vxs_bounds *b, size_t sum)
{
    return b->starts[sum + 1] - b->starts[sum];
}

/* The column at the other end of a core term, if it goes on from there. */
static size_t next_link(const walk *w, size_t term, size_t column)
{
    const vxs_analysis *d = &w->r->inner;
    size_t first = d->starts[term - w->r->singles];
    if (d->starts[term - w->r->singles + 1] - first != 2)
        return SIZE_MAX;
    size_t left = w->r->singles + d->index[first], right = w->r->singles + d->index[first + 1];
    size_t other = left == column ? right : left;
    return members(w->b, other) == 2 ? other : SIZE_MAX;
}

static double factor_in(const vxs_bounds *b, size_t sum, size_t term)
{
    for (size_t a = b->starts[sum]; a < b->starts[sum + 1]; a++)
        if (b->term[a] == term)
            return b->factor[a];
    return 0;
}

/* A new sum: `base` and column `link`, in which `term` cancels out and the link's other term comes
 * in. That is returned; SIZE_MAX where the path closes or there is no room. */
static size_t extend(walk *w, size_t base, size_t link, size_t term)
{
    vxs_bounds *b = w->b;
    size_t first = b->starts[link], size = members(b, base), to = b->starts[b->count];
    size_t other = b->term[first] == term ? first + 1 : first;
    size_t comes = b->term[other], made = b->count;
    if (made == b->room || to + size > b->factors_room || factor_in(b, base, comes) != 0)
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

/* All sums that begin at a column and go on over one of its terms. */
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

static vxs_status add_paths(vxs_bounds *b, const vxs_rest *r, vxs_error *err)
{
    walk w = { .b = b, .r = r, .x = vxs_alloc(b->n, sizeof(*w.x), err) };
    if (!w.x)
        return VXS_FAILED;
    for (size_t j = r->singles; j < b->columns; j++)
        for (size_t a = b->starts[j]; a < b->starts[j + 1] && members(b, j) <= BRANCHES; a++)
            follow(&w, j, b->term[a]);
    free(w.x);
    return VXS_OK;
}

/* ---- The beginning --------------------------------------------------------------------------- */

static vxs_status find_uses(vxs_bounds *b, vxs_error *err)
{
    size_t all = b->starts[b->count];
    b->uses_starts = vxs_alloc(b->terms + 1, sizeof(*b->uses_starts), err);
    b->uses = vxs_alloc(all, sizeof(*b->uses), err);
    b->low = vxs_alloc(b->count, sizeof(*b->low), err);
    b->high = vxs_alloc(b->count, sizeof(*b->high), err);
    b->mid = vxs_alloc(b->count, sizeof(*b->mid), err);
    b->slant = vxs_alloc(b->count, sizeof(*b->slant), err);
    b->from = vxs_alloc(b->terms, sizeof(*b->from), err);
    b->to = vxs_alloc(b->terms, sizeof(*b->to), err);
    b->queue = vxs_alloc(b->count, sizeof(*b->queue), err);
    b->waits = vxs_alloc(b->count, sizeof(*b->waits), err);
    size_t *at = vxs_alloc(b->terms, sizeof(*at), err);
    bool room = b->uses_starts && b->uses && b->low && b->high && b->mid && b->slant && b->from &&
                b->to && b->queue && b->waits && at;
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

vxs_status vxs_bounds_new(const vxs_rest *r, bool transform, vxs_bounds *b, vxs_error *err)
{
    size_t columns = r->singles + r->core, own = r->singles + r->inner.starts[r->inner.count];
    *b = (vxs_bounds){ .terms = r->terms, .columns = columns, .n = r->n };
    b->room = transform ? columns + SUMS * r->core : columns;
    b->factors_room = transform ? own + 3 * SUMS * r->core : own;
    vxs_status status = make_room(b, err);
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
    double size = cblas_dnrm2(n, d->centre, 1) + d->radius;
    if (count > 0) {
        cblas_dgemv(CblasColMajor, CblasTrans, n, count, 1, b->x, n, d->centre, 1, 0, b->mid, 1);
        cblas_dgemv(CblasColMajor, CblasTrans, n, count, 1, b->x, n, d->along, 1, 0, b->slant, 1);
    }
    for (size_t s = 0; s < b->count; s++) {
        if (s >= b->columns) {
            b->mid[s] = b->mid[b->base[s]] + b->share[s] * b->mid[b->add[s]];
            b->slant[s] = b->slant[b->base[s]] + b->share[s] * b->slant[b->add[s]];
        }
        double margin = ROUNDING * b->norm[s] * size;
        b->high[s] = (b->mid[s] + reach(d, b->norm[s], b->slant[s]) + margin) / lambda;
        b->low[s] = (b->mid[s] - reach(d, b->norm[s], -b->slant[s]) - margin) / lambda;
    }
}

typedef struct {
    size_t first, count;
} ring;

static void put(vxs_bounds *b, ring *q, size_t sum)
{
    if (b->waits[sum])
        return;
    b->waits[sum] = true;
    b->queue[(q->first + q->count++) % b->count] = sum;
}

/* The part of a sum that one member can be. */
static void range(const vxs_bounds *b, size_t a, double *least, double *most)
{
    double one = b->factor[a] * b->from[b->term[a]], two = b->factor[a] * b->to[b->term[a]];
    *least = one < two ? one : two;
    *most = one < two ? two : one;
}

/* What one member can be, by what the others leave. Returns whether that is news. */
static bool tighten(vxs_bounds *b, size_t sum, size_t a, double least, double most)
{
    double factor = b->factor[a], *from = &b->from[b->term[a]], *to = &b->to[b->term[a]];
    double high = (b->high[sum] - least) / factor, low = (b->low[sum] - most) / factor;
    double up = (high > low ? high : low) + ROUNDING;
    double down = (high > low ? low : high) - ROUNDING;
    bool news = up < *to - MOVES || down > *from + MOVES;
    *to = up < *to ? up : *to;
    *from = down > *from ? down : *from;
    return news;
}

static void visit(vxs_bounds *b, ring *q, size_t sum)
{
    double least = 0, most = 0, small, large;
    for (size_t a = b->starts[sum]; a < b->starts[sum + 1]; a++) {
        range(b, a, &small, &large);
        least += small;
        most += large;
    }
    for (size_t a = b->starts[sum]; a < b->starts[sum + 1]; a++) {
        double before_small, before_large;
        range(b, a, &before_small, &before_large);
        bool news = tighten(b, sum, a, least - before_small, most - before_large);
        range(b, a, &small, &large);
        least += small - before_small;
        most += large - before_large;
        size_t term = b->term[a];
        for (size_t use = b->uses_starts[term]; news && use < b->uses_starts[term + 1]; use++)
            if (b->uses[use] != sum)
                put(b, q, b->uses[use]);
    }
}

size_t vxs_bounds_narrow(const vxs_bounds *b, const vxs_dome *dome, double lambda)
{
    size_t narrow = 0;
    for (size_t j = 0; j < b->columns; j++)
        narrow += b->norm[j] * dome->radius < lambda;
    return narrow;
}

size_t vxs_bounds_find(vxs_bounds *b, const vxs_dome *dome, double lambda, bool *zero)
{
    ring q = { 0, 0 };
    size_t found = 0;
    bool whole = true;
    bound_sums(b, dome, lambda);
    for (size_t t = 0; t < b->terms; t++) {
        b->from[t] = -1;
        b->to[t] = 1;
    }
    for (size_t s = 0; s < b->count; s++)
        put(b, &q, s);
    for (size_t visits = 0; q.count > 0 && visits < VISITS * b->count; visits++) {
        size_t sum = b->queue[q.first];
        q.first = (q.first + 1) % b->count;
        q.count--;
        b->waits[sum] = false;
        visit(b, &q, sum);
    }
    memset(b->waits, 0, b->count * sizeof(*b->waits));
    for (size_t t = 0; t < b->terms; t++)
        whole = whole && b->from[t] <= b->to[t] + EDGE; /* else rounding is larger than margins */
    for (size_t t = 0; t < b->terms; t++) {
        zero[t] = whole && b->from[t] > EDGE - 1 && b->to[t] < 1 - EDGE;
        found += zero[t];
    }
    return found;
}
