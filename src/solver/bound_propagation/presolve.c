/* presolve.c - what is left of a problem when some of its terms are 0.
 *
 * Each such term is an equation: its variable with the largest factor is expressed by the others,
 * in which those that went before have been replaced (Gaussian elimination, a row at a time). For
 * the edges of a graph that joins their ends, for a single feature it takes it out. */
#include "solver/bound_propagation/bound_propagation.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#define ROUNDING                                                                                   \
    1e-11 /* of a term's largest factor: what replacing leaves below that is nothing               \
           */

/* A sum that is being made up, and lists of sums one after the other. */
typedef struct {
    size_t count;
    size_t *list;
    double *value;
    bool *in;
} sum;

typedef struct {
    size_t count, room;
    size_t *index;
    double *value;
} pool;

typedef struct {
    const vxs_analysis *terms;
    size_t gone_count;
    size_t *order; /* variables, as they went */
    bool *gone;
    size_t *start, *length; /* of the sum that one is */
    pool pool;
    sum sum;
} elimination;

/* ---- Sums ------------------------------------------------------------------------------------ */

static vxs_status make_sum(sum *s, size_t size, vxs_error *err)
{
    s->list = vxs_alloc(size, sizeof(*s->list), err);
    s->value = vxs_alloc(size, sizeof(*s->value), err);
    s->in = vxs_alloc(size, sizeof(*s->in), err);
    return s->list && s->value && s->in ? VXS_OK : VXS_FAILED;
}

static void free_sum(sum *s)
{
    free(s->list);
    free(s->value);
    free(s->in);
}

static void add(sum *s, size_t index, double value)
{
    if (!s->in[index]) {
        s->in[index] = true;
        s->value[index] = 0;
        s->list[s->count++] = index;
    }
    s->value[index] += value;
}

static void clear(sum *s)
{
    for (size_t k = 0; k < s->count; k++)
        s->in[s->list[k]] = false;
    s->count = 0;
}

static vxs_status grow(pool *p, size_t more, vxs_error *err)
{
    if (p->count + more <= p->room)
        return VXS_OK;
    size_t room = 2 * (p->count + more);
    size_t *index = vxs_resize(p->index, room, sizeof(*index), err);
    p->index = index ? index : p->index;
    double *value = index ? vxs_resize(p->value, room, sizeof(*value), err) : NULL;
    p->value = value ? value : p->value;
    p->room = value ? room : p->room;
    return value ? VXS_OK : VXS_FAILED;
}

static void free_pool(pool *p)
{
    free(p->index);
    free(p->value);
}

static int ascending(const void *a, const void *b)
{
    size_t left = *(const size_t *)a, right = *(const size_t *)b;
    return (left > right) - (left < right);
}

/* To the end of a pool, the smallest index first. */
static vxs_status keep(sum *s, pool *p, vxs_error *err)
{
    vxs_status status = grow(p, s->count, err);
    if (status)
        return status;
    qsort(s->list, s->count, sizeof(*s->list), ascending);
    for (size_t k = 0; k < s->count; k++) {
        p->index[p->count] = s->list[k];
        p->value[p->count++] = s->value[s->list[k]];
    }
    clear(s);
    return VXS_OK;
}

/* ---- Elimination ----------------------------------------------------------------------------- */

/* Of a variable that is a multiple of another one that went: of what that one is. */
static void shorten(elimination *e, size_t j)
{
    while (e->length[j] == 1) {
        size_t at = e->start[j], i = e->pool.index[at];
        if (!e->gone[i] || e->length[i] > 1)
            return;
        e->length[j] = e->length[i];
        if (e->length[i] == 1) {
            e->pool.index[at] = e->pool.index[e->start[i]];
            e->pool.value[at] *= e->pool.value[e->start[i]];
        }
    }
}

/* Replaces what went. */
static void replace(elimination *e)
{
    sum *s = &e->sum;
    for (size_t k = 0; k < s->count;) {
        size_t j = s->list[k];
        if (!e->gone[j]) {
            k++;
            continue;
        }
        double times = s->value[j];
        s->in[j] = false;
        s->list[k] = s->list[--s->count];
        shorten(e, j);
        for (size_t a = e->start[j]; a < e->start[j] + e->length[j]; a++)
            add(s, e->pool.index[a], times * e->pool.value[a]);
    }
}

/* Takes out what is no more than rounding; returns the index with the largest factor. */
static size_t clean(sum *s, double largest)
{
    size_t best = SIZE_MAX;
    for (size_t k = 0; k < s->count;) {
        size_t j = s->list[k];
        if (fabs(s->value[j]) <= ROUNDING * largest) {
            s->in[j] = false;
            s->list[k] = s->list[--s->count];
            continue;
        }
        bool larger = best == SIZE_MAX || fabs(s->value[j]) > fabs(s->value[best]);
        if (larger || (fabs(s->value[j]) == fabs(s->value[best]) && j > best))
            best = j;
        k++;
    }
    return best;
}

static double add_term(sum *s, const vxs_analysis *d, size_t term)
{
    double largest = 0;
    for (size_t a = d->starts[term]; a < d->starts[term + 1]; a++) {
        add(s, d->index[a], d->value[a]);
        largest = fmax(largest, fabs(d->value[a]));
    }
    return largest;
}

static vxs_status eliminate(elimination *e, size_t term, vxs_error *err)
{
    sum *s = &e->sum;
    double largest = add_term(s, e->terms, term);
    replace(e);
    size_t j = clean(s, largest);
    vxs_status status = j == SIZE_MAX ? VXS_OK : grow(&e->pool, s->count, err);
    if (status || j == SIZE_MAX) {
        clear(s);
        return status;
    }
    e->start[j] = e->pool.count;
    for (size_t k = 0; k < s->count; k++)
        if (s->list[k] != j) {
            e->pool.index[e->pool.count] = s->list[k];
            e->pool.value[e->pool.count++] = -s->value[s->list[k]] / s->value[j];
        }
    e->length[j] = e->pool.count - e->start[j];
    e->gone[j] = true;
    e->order[e->gone_count++] = j;
    clear(s);
    return VXS_OK;
}

static vxs_status eliminate_all(elimination *e, const bool *zero, vxs_error *err)
{
    size_t p = e->terms->columns;
    e->order = vxs_alloc(p, sizeof(*e->order), err);
    e->gone = vxs_alloc(p, sizeof(*e->gone), err);
    e->start = vxs_alloc(p, sizeof(*e->start), err);
    e->length = vxs_alloc(p, sizeof(*e->length), err);
    vxs_status status = e->order && e->gone && e->start && e->length ? VXS_OK : VXS_FAILED;
    if (!status)
        status = make_sum(&e->sum, p, err);
    for (size_t t = 0; t < e->terms->count && !status; t++)
        if (zero[t])
            status = eliminate(e, t, err);
    return status;
}

static void free_elimination(elimination *e)
{
    free(e->order);
    free(e->gone);
    free(e->start);
    free(e->length);
    free_pool(&e->pool);
    free_sum(&e->sum);
}

/* ---- The way back ---------------------------------------------------------------------------- */

/* Sums of survivors, those that went last first, as they are in those of others. */
static vxs_status resolve(elimination *e, pool *rows, size_t *start, size_t *length, vxs_error *err)
{
    sum *s = &e->sum;
    vxs_status status = VXS_OK;
    for (size_t k = e->gone_count; k-- > 0 && !status;) {
        size_t j = e->order[k];
        for (size_t a = e->start[j]; a < e->start[j] + e->length[j]; a++) {
            size_t i = e->pool.index[a];
            double times = e->pool.value[a];
            if (!e->gone[i])
                add(s, i, times);
            for (size_t b = start[i]; e->gone[i] && b < start[i] + length[i]; b++)
                add(s, rows->index[b], times * rows->value[b]);
        }
        start[j] = rows->count;
        length[j] = s->count;
        status = keep(s, rows, err);
    }
    return status;
}

static vxs_status write_back(const elimination *e, const pool *rows, const size_t *start,
                             const size_t *length, vxs_left *left, vxs_error *err)
{
    size_t p = e->terms->columns, next = 0, m = 0;
    size_t *name = vxs_alloc(p, sizeof(*name), err);
    left->survivor = vxs_alloc(p, sizeof(*left->survivor), err);
    vxs_status status = name && left->survivor ? VXS_OK : VXS_FAILED;
    for (size_t j = 0; j < p && !status; j++)
        if (!e->gone[j]) {
            left->survivor[m] = j;
            name[j] = m++;
        }
    if (!status)
        status = vxs_analysis_new(m, p, rows->count + m, &left->back, err);
    for (size_t j = 0; j < p && !status; j++) {
        if (!e->gone[j]) {
            left->back.index[next] = name[j];
            left->back.value[next++] = 1;
        }
        for (size_t a = start[j]; e->gone[j] && a < start[j] + length[j]; a++) {
            left->back.index[next] = name[rows->index[a]];
            left->back.value[next++] = rows->value[a];
        }
        left->back.starts[j + 1] = next;
    }
    free(name);
    return status;
}

static vxs_status find_back(const vxs_analysis *terms, const bool *zero, vxs_left *left,
                            vxs_error *err)
{
    size_t p = terms->columns;
    elimination e = { .terms = terms };
    pool rows = { .count = 0 };
    size_t *start = vxs_alloc(p, sizeof(*start), err), *length = vxs_alloc(p, sizeof(*length), err);
    vxs_status status = start && length ? eliminate_all(&e, zero, err) : VXS_FAILED;
    if (!status)
        status = resolve(&e, &rows, start, length, err);
    if (!status)
        status = write_back(&e, &rows, start, length, left, err);
    free(start);
    free(length);
    free_pool(&rows);
    free_elimination(&e);
    return status;
}

/* ---- Terms that are left --------------------------------------------------------------------- */

typedef struct {
    const pool *pool;
    size_t term, start, length;
} row;

/* Those that are multiples of each other stand together. */
static int by_direction(const void *a, const void *b)
{
    const row *l = a, *r = b;
    if (l->length != r->length)
        return l->length < r->length ? -1 : 1;
    const size_t *li = l->pool->index + l->start, *ri = r->pool->index + r->start;
    const double *lv = l->pool->value + l->start, *rv = r->pool->value + r->start;
    for (size_t k = 0; k < l->length; k++)
        if (li[k] != ri[k])
            return li[k] < ri[k] ? -1 : 1;
    for (size_t k = 1; k < l->length; k++)
        if (lv[k] / lv[0] != rv[k] / rv[0])
            return lv[k] / lv[0] < rv[k] / rv[0] ? -1 : 1;
    return 0;
}

static int by_direction_and_name(const void *a, const void *b)
{
    int way = by_direction(a, b);
    size_t left = ((const row *)a)->term, right = ((const row *)b)->term;
    return way != 0 ? way : (left > right) - (left < right);
}

/* D T, term by term; those of which nothing is left get no row. */
static vxs_status multiply(const vxs_analysis *terms, const bool *zero, const vxs_analysis *back,
                           pool *store, row *rows, size_t *count, vxs_error *err)
{
    sum s = { .count = 0 };
    vxs_status status = make_sum(&s, back->columns, err);
    for (size_t t = 0; t < terms->count && !status; t++) {
        double largest = 0;
        for (size_t a = terms->starts[t]; a < terms->starts[t + 1] && !zero[t]; a++) {
            size_t j = terms->index[a];
            largest = fmax(largest, fabs(terms->value[a]));
            for (size_t b = back->starts[j]; b < back->starts[j + 1]; b++)
                add(&s, back->index[b], terms->value[a] * back->value[b]);
        }
        clean(&s, largest);
        if (s.count == 0)
            continue;
        rows[*count] = (row){ .pool = store, .term = t, .start = store->count, .length = s.count };
        (*count)++;
        status = keep(&s, store, err);
    }
    free_sum(&s);
    return status;
}

/* One term for each direction, as large as its members together. */
static vxs_status merge(vxs_left *left, row *rows, size_t count, const pool *store, vxs_error *err)
{
    size_t made = 0, next = 0;
    qsort(rows, count, sizeof(*rows), by_direction_and_name);
    vxs_status status =
        vxs_analysis_new(left->back.columns, count, store->count, &left->terms, err);
    for (size_t k = 0; k < count && !status; made++) {
        const row *head = &rows[k];
        const double *first = store->value + head->start;
        size_t end = k;
        double total = 0;
        for (; end < count && by_direction(head, &rows[end]) == 0; end++)
            total += fabs(store->value[rows[end].start] / first[0]);
        for (size_t a = 0; a < head->length; a++) {
            left->terms.index[next] = store->index[head->start + a];
            left->terms.value[next++] = total * first[a];
        }
        for (; k < end; k++) {
            left->group[rows[k].term] = made;
            left->share[rows[k].term] = store->value[rows[k].start] / (first[0] * total);
        }
        left->terms.starts[made + 1] = next;
    }
    left->terms.count = status ? 0 : made;
    return status;
}

void vxs_left_release(vxs_left *left)
{
    vxs_analysis_release(&left->back);
    vxs_analysis_release(&left->terms);
    free(left->survivor);
    free(left->group);
    free(left->share);
    *left = (vxs_left){ .survivor = NULL };
}

vxs_status vxs_left_new(const vxs_analysis *terms, const bool *zero, vxs_left *left, vxs_error *err)
{
    pool store = { .count = 0 };
    size_t count = 0;
    *left = (vxs_left){ .survivor = NULL };
    row *rows = vxs_alloc(terms->count, sizeof(*rows), err);
    left->group = vxs_alloc(terms->count, sizeof(*left->group), err);
    left->share = vxs_alloc(terms->count, sizeof(*left->share), err);
    vxs_status status =
        rows && left->group && left->share ? find_back(terms, zero, left, err) : VXS_FAILED;
    for (size_t t = 0; t < terms->count && !status; t++)
        left->group[t] = SIZE_MAX;
    if (!status)
        status = multiply(terms, zero, &left->back, &store, rows, &count, err);
    if (!status)
        status = merge(left, rows, count, &store, err);
    free(rows);
    free_pool(&store);
    if (status)
        vxs_left_release(left);
    return status;
}
