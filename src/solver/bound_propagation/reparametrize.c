/* reparametrize.c - the problem on what is left: leaves taken off, levels apart, columns made.
 *
 * A variable that is alone in a term becomes that term's value: w_j = (s - sum of the others) /
 * factor, which takes its column, by so much, from the others' columns. On trees this goes on until
 * every edge is alone and the columns are sums over subtrees, on second differences until they are
 * cumulative sums of cumulative sums; of a graph with loops the core is left, without what hangs
 * on it. */
#include "linalg/gram_schmidt.h"
#include "solver/bound_propagation/bound_propagation.h"
#include "solver/solver.h"

#include <cblas.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#define PIVOT 1e-3 /* of a term's largest factor: less is not divided by */

typedef struct {
    vxs_rest *rest;
    size_t m;
    size_t *degree, *starts, *uses; /* terms of variables */
    bool *done, *went;              /* terms that are singles', variables that are */
    size_t *queue, queued;
    double *column; /* n x m */
} peeling;

/* ---- Leaves ---------------------------------------------------------------------------------- */

static void free_peeling(peeling *e)
{
    free(e->degree);
    free(e->starts);
    free(e->uses);
    free(e->done);
    free(e->went);
    free(e->queue);
    free(e->column);
}

static vxs_status start_peeling(peeling *e, vxs_error *err)
{
    const vxs_analysis *d = &e->rest->left.terms;
    size_t all = d->starts[d->count];
    e->m = d->columns;
    e->degree = vxs_alloc(e->m, sizeof(*e->degree), err);
    e->starts = vxs_alloc(e->m + 1, sizeof(*e->starts), err);
    e->uses = vxs_alloc(all, sizeof(*e->uses), err);
    e->done = vxs_alloc(d->count, sizeof(*e->done), err);
    e->went = vxs_alloc(e->m, sizeof(*e->went), err);
    e->queue = vxs_alloc(e->m, sizeof(*e->queue), err);
    e->column = vxs_alloc(e->m, e->rest->n * sizeof(*e->column), err);
    if (!e->degree || !e->starts || !e->uses || !e->done || !e->went || !e->queue || !e->column)
        return VXS_FAILED;
    for (size_t a = 0; a < all; a++)
        e->starts[d->index[a] + 1]++;
    for (size_t j = 0; j < e->m; j++)
        e->starts[j + 1] += e->starts[j];
    for (size_t t = 0; t < d->count; t++)
        for (size_t a = d->starts[t]; a < d->starts[t + 1]; a++)
            e->uses[e->starts[d->index[a]] + e->degree[d->index[a]]++] = t;
    return VXS_OK;
}

/* Columns of variables: sums of features' columns. */
static void add_columns(peeling *e)
{
    const vxs_analysis *back = &e->rest->left.back;
    size_t n = e->rest->n;
    for (size_t j = 0; j < back->count; j++)
        for (size_t a = back->starts[j]; a < back->starts[j + 1]; a++)
            cblas_daxpy((int)n, back->value[a], e->rest->whole->x + j * n, 1,
                        e->column + back->index[a] * n, 1);
}

/* The factor of a variable in a term, or 0 when it is too small to be divided by. */
static double pivot_of(const vxs_analysis *d, size_t term, size_t variable)
{
    double largest = 0, own = 0;
    for (size_t a = d->starts[term]; a < d->starts[term + 1]; a++) {
        largest = fmax(largest, fabs(d->value[a]));
        own = d->index[a] == variable ? d->value[a] : own;
    }
    return fabs(own) >= PIVOT * largest ? own : 0;
}

static void take_off(peeling *e, size_t j)
{
    vxs_rest *r = e->rest;
    const vxs_analysis *d = &r->left.terms;
    size_t use = e->starts[j], n = r->n;
    while (e->done[e->uses[use]])
        use++;
    size_t term = e->uses[use];
    double pivot = pivot_of(d, term, j);
    if (pivot == 0)
        return;
    for (size_t a = d->starts[term]; a < d->starts[term + 1]; a++) {
        size_t i = d->index[a];
        if (i == j)
            continue;
        cblas_daxpy((int)n, -d->value[a] / pivot, e->column + j * n, 1, e->column + i * n, 1);
        if (--e->degree[i] == 1)
            e->queue[e->queued++] = i;
    }
    cblas_dscal((int)n, 1 / pivot, e->column + j * n, 1);
    e->done[term] = true;
    e->went[j] = true;
    r->single[r->singles] = j;
    r->of_single[r->singles] = term;
    r->pivot[r->singles] = pivot;
    r->number[term] = r->singles++;
}

static void peel(peeling *e)
{
    for (size_t j = 0; j < e->m; j++)
        if (e->degree[j] == 1)
            e->queue[e->queued++] = j;
    for (size_t k = 0; k < e->queued; k++)
        if (e->degree[e->queue[k]] == 1) /* else its last term went by another one */
            take_off(e, e->queue[k]);
}

/* ---- The core -------------------------------------------------------------------------------- */

static void sort_term(size_t *index, double *value, size_t count)
{
    for (size_t k = 1; k < count; k++)
        for (size_t i = k; i > 0 && index[i - 1] > index[i]; i--) {
            size_t at = index[i];
            double by = value[i];
            index[i] = index[i - 1];
            value[i] = value[i - 1];
            index[i - 1] = at;
            value[i - 1] = by;
        }
}

/* Terms that are not singles', of the places in `place` that are below `columns`. */
static vxs_status write_core(const peeling *e, const size_t *place, size_t columns, size_t count,
                             vxs_analysis *out, vxs_error *err)
{
    const vxs_analysis *d = &e->rest->left.terms;
    size_t made = 0, next = 0;
    vxs_status status = vxs_analysis_new(columns, count, d->starts[d->count], out, err);
    for (size_t t = 0; t < d->count && !status; t++) {
        if (e->done[t])
            continue;
        for (size_t a = d->starts[t]; a < d->starts[t + 1]; a++)
            if (!e->went[d->index[a]] && place[d->index[a]] < columns) {
                out->index[next] = place[d->index[a]];
                out->value[next++] = d->value[a];
            }
        sort_term(out->index + out->starts[made], out->value + out->starts[made],
                  next - out->starts[made]);
        e->rest->number[t] = e->rest->singles + made;
        out->starts[++made] = next;
    }
    return status;
}

/* The core's places, those of the ground last; the null space goes along. */
static vxs_status place_ground(peeling *e, size_t *place, const vxs_left *ground, vxs_error *err)
{
    vxs_rest *r = e->rest;
    size_t levels = ground->back.columns, next = 0, *at = vxs_alloc(r->core, sizeof(*at), err);
    size_t *was = vxs_alloc(r->core, sizeof(*was), err);
    vxs_status status = at && was ? VXS_OK : VXS_FAILED;
    r->mr = r->core - levels;
    for (size_t k = 0; k < r->core && !status; k++)
        at[k] = SIZE_MAX;
    for (size_t k = 0; k < levels && !status; k++)
        at[ground->survivor[k]] = r->mr + k;
    for (size_t k = 0; k < r->core && !status; k++)
        at[k] = at[k] == SIZE_MAX ? next++ : at[k];
    for (size_t j = 0; j < e->m && !status; j++)
        if (place[j] != SIZE_MAX) {
            was[at[place[j]]] = place[j];
            place[j] = at[place[j]];
            r->of_core[place[j]] = j;
        }
    next = 0;
    if (!status)
        status = vxs_analysis_new(levels, r->core, ground->back.starts[r->core], &r->null, err);
    for (size_t k = 0; k < r->core && !status; k++) {
        for (size_t a = ground->back.starts[was[k]]; a < ground->back.starts[was[k] + 1]; a++) {
            r->null.index[next] = ground->back.index[a];
            r->null.value[next++] = ground->back.value[a];
        }
        r->null.starts[k + 1] = next;
    }
    free(at);
    free(was);
    return status;
}

static vxs_status find_core(peeling *e, vxs_error *err)
{
    vxs_rest *r = e->rest;
    size_t terms = r->left.terms.count, count = terms - r->singles;
    size_t *place = vxs_alloc(e->m, sizeof(*place), err);
    bool *all = vxs_alloc(count, sizeof(*all), err);
    vxs_analysis core = { .columns = 0 };
    vxs_left ground = { .survivor = NULL };
    vxs_status status = place && all ? VXS_OK : VXS_FAILED;
    for (size_t j = 0; j < e->m && !status; j++) {
        place[j] = !e->went[j] && e->degree[j] > 0 ? r->core++ : SIZE_MAX;
        if (!e->went[j] && e->degree[j] == 0)
            r->of_free[r->free_count++] = j;
    }
    for (size_t t = 0; t < count && !status; t++)
        all[t] = true;
    if (!status)
        status = write_core(e, place, r->core, count, &core, err);
    if (!status)
        status = vxs_left_new(&core, all, &ground, err);
    if (!status)
        status = place_ground(e, place, &ground, err);
    if (!status)
        status = write_core(e, place, r->core, count, &r->inner, err);
    if (!status)
        status = write_core(e, place, r->mr, count, &r->solid, err);
    vxs_left_release(&ground);
    vxs_analysis_release(&core);
    free(place);
    free(all);
    r->terms = terms;
    return status;
}

/* ---- Columns --------------------------------------------------------------------------------- */

static vxs_status place_columns(peeling *e, vxs_error *err)
{
    vxs_rest *r = e->rest;
    size_t n = r->n, width = n * sizeof(double);
    r->x = vxs_alloc(r->singles + r->core, width, err);
    for (size_t k = 0; r->x && k < r->singles; k++)
        memcpy(r->x + k * n, e->column + r->single[k] * n, width);
    for (size_t k = 0; r->x && k < r->core; k++)
        memcpy(r->x + (r->singles + k) * n, e->column + r->of_core[k] * n, width);
    return r->x ? VXS_OK : VXS_FAILED;
}

/* The free columns, those of variables without a term, and what the null space of the core
 * spans. */
static void gather_free(const peeling *e, double *free_columns)
{
    const vxs_rest *r = e->rest;
    size_t n = r->n, q = r->whole->q;
    if (q > 0)
        memcpy(free_columns, r->whole->free, q * n * sizeof(double));
    for (size_t k = 0; k < r->free_count; k++)
        memcpy(free_columns + (q + k) * n, e->column + r->of_free[k] * n, n * sizeof(double));
    double *ground = free_columns + (q + r->free_count) * n;
    for (size_t k = 0; k < r->core; k++)
        for (size_t a = r->null.starts[k]; a < r->null.starts[k + 1]; a++)
            cblas_daxpy((int)n, r->null.value[a], r->x + (r->singles + k) * n, 1,
                        ground + r->null.index[a] * n, 1);
}

static void orthogonalise(vxs_rest *r, const double *columns)
{
    for (size_t k = 0; k < r->frees && r->rank < r->n; k++) {
        double *b = r->span + r->rank * r->n, *up = r->triangle + r->rank * r->frees;
        memcpy(b, columns + k * r->n, r->n * sizeof(*b));
        memset(up, 0, r->frees * sizeof(*up));
        if (!vxs_gram_schmidt_append(r->span, r->n, r->rank, VXS_INDEPENDENT,
                                     k < r->whole->q ? 0 : r->whole->least, up))
            continue;
        r->kept[r->rank++] = k;
    }
}

static vxs_status find_span(peeling *e, vxs_error *err)
{
    vxs_rest *r = e->rest;
    r->frees = r->whole->q + r->free_count + r->null.columns;
    double *columns = vxs_alloc(r->frees, r->n * sizeof(*columns), err);
    size_t most = r->frees < r->n ? r->frees : r->n;
    r->span = vxs_alloc(r->n, (most + 1) * sizeof(*r->span), err);
    r->triangle = vxs_alloc(r->frees, (most + 1) * sizeof(*r->triangle), err);
    r->kept = vxs_alloc(r->frees, sizeof(*r->kept), err);
    vxs_status status = columns && r->span && r->triangle && r->kept ? VXS_OK : VXS_FAILED;
    if (!status) {
        gather_free(e, columns);
        orthogonalise(r, columns);
    }
    free(columns);
    return status;
}

/* ---- Beginning and end ----------------------------------------------------------------------- */

void vxs_rest_release(vxs_rest *r)
{
    vxs_left_release(&r->left);
    vxs_analysis_release(&r->inner);
    vxs_analysis_release(&r->solid);
    vxs_analysis_release(&r->null);
    vxs_factor_release(&r->factor);
    free(r->single);
    free(r->of_single);
    free(r->pivot);
    free(r->of_core);
    free(r->number);
    free(r->of_free);
    free(r->x);
    free(r->span);
    free(r->triangle);
    free(r->kept);
    *r = (vxs_rest){ .whole = NULL };
}

static vxs_status fill(vxs_rest *r, bool transform, vxs_error *err)
{
    size_t m = r->left.terms.columns;
    peeling e = { .rest = r };
    r->single = vxs_alloc(m, sizeof(*r->single), err);
    r->of_single = vxs_alloc(m, sizeof(*r->of_single), err);
    r->pivot = vxs_alloc(m, sizeof(*r->pivot), err);
    r->of_core = vxs_alloc(m, sizeof(*r->of_core), err);
    r->of_free = vxs_alloc(m, sizeof(*r->of_free), err);
    r->number = vxs_alloc(r->left.terms.count, sizeof(*r->number), err);
    vxs_status status =
        r->single && r->of_single && r->pivot && r->of_core && r->of_free && r->number
            ? start_peeling(&e, err)
            : VXS_FAILED;
    if (!status) {
        add_columns(&e);
        if (transform)
            peel(&e);
        status = find_core(&e, err);
    }
    if (!status)
        status = place_columns(&e, err);
    if (!status)
        status = find_span(&e, err);
    free_peeling(&e);
    return status;
}

vxs_status vxs_rest_new(const vxs_whole *whole, const bool *zero, bool transform, vxs_rest *r,
                        vxs_error *err)
{
    *r = (vxs_rest){ .whole = whole, .n = whole->n };
    vxs_status status = vxs_left_new(whole->terms, zero, &r->left, err);
    if (!status)
        status = fill(r, transform, err);
    if (status)
        vxs_rest_release(r);
    return status;
}

vxs_status vxs_rest_factor(vxs_rest *r, vxs_error *err)
{
    const vxs_analysis *d = &r->solid;
    vxs_sparse_rows rows = { d->columns, d->count, d->starts, d->index, d->value };
    return r->factor.initialized ? VXS_OK : vxs_factor_new(rows, &r->factor, err);
}

/* ---- There and back -------------------------------------------------------------------------- */

void vxs_rest_terms(const vxs_rest *r, const double *x, double *out)
{
    memcpy(out, x, r->singles * sizeof(*out));
    for (size_t t = 0; t < r->solid.count; t++) {
        double sum = 0;
        for (size_t a = r->solid.starts[t]; a < r->solid.starts[t + 1]; a++)
            sum += r->solid.value[a] * x[r->singles + r->solid.index[a]];
        out[r->singles + t] = sum;
    }
}

void vxs_rest_turned(const vxs_rest *r, const double *v, double *x)
{
    for (size_t t = 0; t < r->singles; t++)
        x[t] += v[t];
    for (size_t t = 0; t < r->solid.count; t++)
        for (size_t a = r->solid.starts[t]; a < r->solid.starts[t + 1]; a++)
            x[r->singles + r->solid.index[a]] += r->solid.value[a] * v[r->singles + t];
}

/* What free columns weigh, from what is along the span. */
static void solve_triangle(const vxs_rest *r, const double *b, double *weight)
{
    memset(weight, 0, r->frees * sizeof(*weight));
    for (size_t k = r->rank; k-- > 0;) {
        double value = b[k];
        for (size_t i = k + 1; i < r->rank; i++)
            value -= r->triangle[i * r->frees + k] * weight[r->kept[i]];
        weight[r->kept[k]] = value / r->triangle[k * r->frees + k];
    }
}

/* `work` has a place for every free column and every variable. */
void vxs_rest_expand(const vxs_rest *r, const double *x, const double *b, double *work, double *w,
                     double *free_weights)
{
    size_t q = r->whole->q;
    const vxs_analysis *back = &r->left.back, *d = &r->left.terms;
    double *weight = work, *value = work + r->frees, *levels = weight + q + r->free_count;
    solve_triangle(r, b, weight);
    memcpy(free_weights, weight, q * sizeof(*weight));
    for (size_t k = 0; k < r->free_count; k++)
        value[r->of_free[k]] = weight[q + k];
    for (size_t k = 0; k < r->core; k++) {
        double sum = k < r->mr ? x[r->singles + k] : 0;
        for (size_t a = r->null.starts[k]; a < r->null.starts[k + 1]; a++)
            sum += r->null.value[a] * levels[r->null.index[a]];
        value[r->of_core[k]] = sum;
    }
    for (size_t k = r->singles; k-- > 0;) {
        size_t j = r->single[k], t = r->of_single[k];
        double sum = x[k];
        for (size_t a = d->starts[t]; a < d->starts[t + 1]; a++)
            sum -= d->index[a] == j ? 0 : d->value[a] * value[d->index[a]];
        value[j] = sum / r->pivot[k];
    }
    for (size_t j = 0; j < back->count; j++) {
        double sum = 0;
        for (size_t a = back->starts[j]; a < back->starts[j + 1]; a++)
            sum += back->value[a] * value[back->index[a]];
        w[j] = sum;
    }
}
