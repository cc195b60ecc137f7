/* presolve.c - the problem without the variables that rows of D w = 0 determine.
 *
 * Method    Gaussian elimination, one row at a time: the variable with the largest entry is
 *           expressed by the others, after substitution of those eliminated before. For an edge of
 *           a graph this merges its two nodes (aggregation), for a single feature it removes it
 *           (elimination)
 * Cost      the entries of D, with fill-in
 * Threads   1
 * Source    dissertation 3.3.2 */
#include "solver/bound_propagation/bound_propagation.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#define ROUNDING 1e-11 /* of a row's largest entry: smaller ones are rounding of cancellation */

/* A sparse vector under construction, and a store of finished ones. */
typedef struct {
    size_t count;
    size_t *list;
    double *value;
    bool *in;
} sparse_vector;

typedef struct {
    size_t count, capacity;
    size_t *index;
    double *value;
} vector_store;

typedef struct {
    const vxs_analysis *terms;
    size_t eliminated_count;
    size_t *order; /* eliminated variables, in order */
    bool *eliminated;
    size_t *start, *length; /* of the expression of an eliminated variable */
    vector_store store;
    sparse_vector sum;
} elimination;

/* ---- Sparse vectors -------------------------------------------------------------------------- */

static vxs_status new_vector(sparse_vector *s, size_t size, vxs_error *err)
{
    s->list = vxs_alloc(size, sizeof(*s->list), err);
    s->value = vxs_alloc(size, sizeof(*s->value), err);
    s->in = vxs_alloc(size, sizeof(*s->in), err);
    return s->list && s->value && s->in ? VXS_OK : VXS_FAILED;
}

static void free_vector(sparse_vector *s)
{
    free(s->list);
    free(s->value);
    free(s->in);
}

static void add(sparse_vector *s, size_t index, double value)
{
    if (!s->in[index]) {
        s->in[index] = true;
        s->value[index] = 0;
        s->list[s->count++] = index;
    }
    s->value[index] += value;
}

static void clear(sparse_vector *s)
{
    for (size_t k = 0; k < s->count; k++)
        s->in[s->list[k]] = false;
    s->count = 0;
}

static vxs_status reserve(vector_store *p, size_t more, vxs_error *err)
{
    if (p->count + more <= p->capacity)
        return VXS_OK;
    size_t capacity = 2 * (p->count + more);
    size_t *index = vxs_resize(p->index, capacity, sizeof(*index), err);
    p->index = index ? index : p->index;
    double *value = index ? vxs_resize(p->value, capacity, sizeof(*value), err) : NULL;
    p->value = value ? value : p->value;
    p->capacity = value ? capacity : p->capacity;
    return value ? VXS_OK : VXS_FAILED;
}

static void free_store(vector_store *p)
{
    free(p->index);
    free(p->value);
}

static int ascending(const void *a, const void *b)
{
    size_t first = *(const size_t *)a, second = *(const size_t *)b;
    return (first > second) - (first < second);
}

/* Appends to the store, indices ascending. */
static vxs_status append(sparse_vector *s, vector_store *p, vxs_error *err)
{
    vxs_status status = reserve(p, s->count, err);
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

/* Path compression: if j is a multiple of an eliminated variable, substitutes its expression. */
static void compress_path(elimination *e, size_t j)
{
    while (e->length[j] == 1) {
        size_t at = e->start[j], i = e->store.index[at];
        if (!e->eliminated[i] || e->length[i] > 1)
            return;
        e->length[j] = e->length[i];
        if (e->length[i] == 1) {
            e->store.index[at] = e->store.index[e->start[i]];
            e->store.value[at] *= e->store.value[e->start[i]];
        }
    }
}

/* Substitutes eliminated variables. */
static void substitute(elimination *e)
{
    sparse_vector *s = &e->sum;
    for (size_t k = 0; k < s->count;) {
        size_t j = s->list[k];
        if (!e->eliminated[j]) {
            k++;
            continue;
        }
        double factor = s->value[j];
        s->in[j] = false;
        s->list[k] = s->list[--s->count];
        compress_path(e, j);
        for (size_t a = e->start[j]; a < e->start[j] + e->length[j]; a++)
            add(s, e->store.index[a], factor * e->store.value[a]);
    }
}

/* Removes entries that are rounding; returns the index of the largest (the pivot). */
static size_t drop_rounding(sparse_vector *s, double largest)
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

static double add_term(sparse_vector *s, const vxs_analysis *d, size_t term)
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
    sparse_vector *s = &e->sum;
    double largest = add_term(s, e->terms, term);
    substitute(e);
    size_t j = drop_rounding(s, largest);
    vxs_status status = j == SIZE_MAX ? VXS_OK : reserve(&e->store, s->count, err);
    if (status || j == SIZE_MAX) {
        clear(s);
        return status;
    }
    e->start[j] = e->store.count;
    for (size_t k = 0; k < s->count; k++)
        if (s->list[k] != j) {
            e->store.index[e->store.count] = s->list[k];
            e->store.value[e->store.count++] = -s->value[s->list[k]] / s->value[j];
        }
    e->length[j] = e->store.count - e->start[j];
    e->eliminated[j] = true;
    e->order[e->eliminated_count++] = j;
    clear(s);
    return VXS_OK;
}

static vxs_status eliminate_all(elimination *e, const bool *zero, vxs_error *err)
{
    size_t p = e->terms->columns;
    e->order = vxs_alloc(p, sizeof(*e->order), err);
    e->eliminated = vxs_alloc(p, sizeof(*e->eliminated), err);
    e->start = vxs_alloc(p, sizeof(*e->start), err);
    e->length = vxs_alloc(p, sizeof(*e->length), err);
    vxs_status status = e->order && e->eliminated && e->start && e->length ? VXS_OK : VXS_FAILED;
    if (!status)
        status = new_vector(&e->sum, p, err);
    for (size_t t = 0; t < e->terms->count && !status; t++)
        if (zero[t])
            status = eliminate(e, t, err);
    return status;
}

static void free_elimination(elimination *e)
{
    free(e->order);
    free(e->eliminated);
    free(e->start);
    free(e->length);
    free_store(&e->store);
    free_vector(&e->sum);
}

/* ---- Back substitution ----------------------------------------------------------------------- */

/* Rows of T: expressions in remaining variables, the variable eliminated last first. */
static vxs_status resolve(elimination *e, vector_store *rows, size_t *start, size_t *length,
                          vxs_error *err)
{
    sparse_vector *s = &e->sum;
    vxs_status status = VXS_OK;
    for (size_t k = e->eliminated_count; k-- > 0 && !status;) {
        size_t j = e->order[k];
        for (size_t a = e->start[j]; a < e->start[j] + e->length[j]; a++) {
            size_t i = e->store.index[a];
            double factor = e->store.value[a];
            if (!e->eliminated[i])
                add(s, i, factor);
            for (size_t b = start[i]; e->eliminated[i] && b < start[i] + length[i]; b++)
                add(s, rows->index[b], factor * rows->value[b]);
        }
        start[j] = rows->count;
        length[j] = s->count;
        status = append(s, rows, err);
    }
    return status;
}

static vxs_status write_expansion(const elimination *e, const vector_store *rows,
                                  const size_t *start, const size_t *length,
                                  vxs_presolved *presolved, vxs_error *err)
{
    size_t p = e->terms->columns, next = 0, m = 0;
    size_t *name = vxs_alloc(p, sizeof(*name), err);
    presolved->feature = vxs_alloc(p, sizeof(*presolved->feature), err);
    vxs_status status = name && presolved->feature ? VXS_OK : VXS_FAILED;
    for (size_t j = 0; j < p && !status; j++)
        if (!e->eliminated[j]) {
            presolved->feature[m] = j;
            name[j] = m++;
        }
    if (!status)
        status = vxs_analysis_new(m, p, rows->count + m, &presolved->expansion, err);
    for (size_t j = 0; j < p && !status; j++) {
        if (!e->eliminated[j]) {
            presolved->expansion.index[next] = name[j];
            presolved->expansion.value[next++] = 1;
        }
        for (size_t a = start[j]; e->eliminated[j] && a < start[j] + length[j]; a++) {
            presolved->expansion.index[next] = name[rows->index[a]];
            presolved->expansion.value[next++] = rows->value[a];
        }
        presolved->expansion.starts[j + 1] = next;
    }
    free(name);
    return status;
}

static vxs_status find_expansion(const vxs_analysis *terms, const bool *zero,
                                 vxs_presolved *presolved, vxs_error *err)
{
    size_t p = terms->columns;
    elimination e = { .terms = terms };
    vector_store rows = { .count = 0 };
    size_t *start = vxs_alloc(p, sizeof(*start), err), *length = vxs_alloc(p, sizeof(*length), err);
    vxs_status status = start && length ? eliminate_all(&e, zero, err) : VXS_FAILED;
    if (!status)
        status = resolve(&e, &rows, start, length, err);
    if (!status)
        status = write_expansion(&e, &rows, start, length, presolved, err);
    free(start);
    free(length);
    free_store(&rows);
    free_elimination(&e);
    return status;
}

/* ---- Remaining rows -------------------------------------------------------------------------- */

typedef struct {
    const vector_store *store;
    size_t term, start, length;
} row;

/* Orders rows so that parallel ones are adjacent. */
static int by_direction(const void *a, const void *b)
{
    const row *l = a, *r = b;
    if (l->length != r->length)
        return l->length < r->length ? -1 : 1;
    const size_t *li = l->store->index + l->start, *ri = r->store->index + r->start;
    const double *lv = l->store->value + l->start, *rv = r->store->value + r->start;
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
    int order = by_direction(a, b);
    size_t first = ((const row *)a)->term, second = ((const row *)b)->term;
    return order != 0 ? order : (first > second) - (first < second);
}

/* Rows of D T; rows that vanish are dropped. */
static vxs_status multiply(const vxs_analysis *terms, const bool *zero,
                           const vxs_analysis *expansion, vector_store *store, row *rows,
                           size_t *count, vxs_error *err)
{
    sparse_vector s = { .count = 0 };
    vxs_status status = new_vector(&s, expansion->columns, err);
    for (size_t t = 0; t < terms->count && !status; t++) {
        double largest = 0;
        for (size_t a = terms->starts[t]; a < terms->starts[t + 1] && !zero[t]; a++) {
            size_t j = terms->index[a];
            largest = fmax(largest, fabs(terms->value[a]));
            for (size_t b = expansion->starts[j]; b < expansion->starts[j + 1]; b++)
                add(&s, expansion->index[b], terms->value[a] * expansion->value[b]);
        }
        drop_rounding(&s, largest);
        if (s.count == 0)
            continue;
        rows[*count] = (row){ .store = store, .term = t, .start = store->count, .length = s.count };
        (*count)++;
        status = append(&s, store, err);
    }
    free_vector(&s);
    return status;
}

/* Merges parallel rows: one row a direction, its norm the sum of theirs. */
static vxs_status merge(vxs_presolved *presolved, row *rows, size_t count,
                        const vector_store *store, vxs_error *err)
{
    size_t merged = 0, next = 0;
    qsort(rows, count, sizeof(*rows), by_direction_and_name);
    vxs_status status =
        vxs_analysis_new(presolved->expansion.columns, count, store->count, &presolved->terms, err);
    for (size_t k = 0; k < count && !status; merged++) {
        const row *head = &rows[k];
        const double *first = store->value + head->start;
        size_t end = k;
        double total = 0;
        for (; end < count && by_direction(head, &rows[end]) == 0; end++)
            total += fabs(store->value[rows[end].start] / first[0]);
        for (size_t a = 0; a < head->length; a++) {
            presolved->terms.index[next] = store->index[head->start + a];
            presolved->terms.value[next++] = total * first[a];
        }
        for (; k < end; k++) {
            presolved->merged_row[rows[k].term] = merged;
            presolved->share[rows[k].term] = store->value[rows[k].start] / (first[0] * total);
        }
        presolved->terms.starts[merged + 1] = next;
    }
    presolved->terms.count = status ? 0 : merged;
    return status;
}

void vxs_presolved_release(vxs_presolved *presolved)
{
    vxs_analysis_release(&presolved->expansion);
    vxs_analysis_release(&presolved->terms);
    free(presolved->feature);
    free(presolved->merged_row);
    free(presolved->share);
    *presolved = (vxs_presolved){ .feature = NULL };
}

vxs_status vxs_presolved_new(const vxs_analysis *terms, const bool *zero, vxs_presolved *presolved,
                             vxs_error *err)
{
    vector_store store = { .count = 0 };
    size_t count = 0;
    *presolved = (vxs_presolved){ .feature = NULL };
    row *rows = vxs_alloc(terms->count, sizeof(*rows), err);
    presolved->merged_row = vxs_alloc(terms->count, sizeof(*presolved->merged_row), err);
    presolved->share = vxs_alloc(terms->count, sizeof(*presolved->share), err);
    vxs_status status = rows && presolved->merged_row && presolved->share
                            ? find_expansion(terms, zero, presolved, err)
                            : VXS_FAILED;
    for (size_t t = 0; t < terms->count && !status; t++)
        presolved->merged_row[t] = SIZE_MAX;
    if (!status)
        status = multiply(terms, zero, &presolved->expansion, &store, rows, &count, err);
    if (!status)
        status = merge(presolved, rows, count, &store, err);
    free(rows);
    free_store(&store);
    if (status)
        vxs_presolved_release(presolved);
    return status;
}
