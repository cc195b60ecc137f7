/* check_null_space.c - the null space of the penalty: component indicators of a graph, or the
 * weights with D w = 0.
 *
 * Gaussian elimination, one row of D at a time: a row that is 0 expresses one weight by others.
 * Weights that no row expresses are the parameters of the null space; all others are sums of these.
 */
#include "verify/check.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#define DEPENDS        1e-10 /* of the largest entry: a row dependent on those before it */
#define ENTRY_ROUNDING 1e-14 /* of the largest entry: rounding of an entry that is 0 */

/* A weight as a linear combination of others. */
typedef struct {
    size_t count;
    size_t *of;
    double *factor;
} combination;

typedef struct {
    size_t p;
    combination *sums; /* of each feature, by the parameters */
    double *work;      /* p: combination under construction */
    bool *seen;        /* p: whether it is in `list` */
    size_t *list, count;
} elimination;

void vxs_check_null_space_release(vxs_check_null_space *l)
{
    free(l->starts);
    free(l->vector);
    free(l->factor);
    *l = (vxs_check_null_space){ .count = 0 };
}

static vxs_status allocate(size_t p, size_t entries, vxs_check_null_space *l, vxs_error *err)
{
    l->starts = vxs_alloc(p + 1, sizeof(*l->starts), err);
    l->vector = vxs_alloc(entries, sizeof(*l->vector), err);
    l->factor = vxs_alloc(entries, sizeof(*l->factor), err);
    return l->starts && l->vector && l->factor ? VXS_OK : VXS_FAILED;
}

/* ---- Graphs ---------------------------------------------------------------------------------- */

/* Union-find with path halving; the smallest node names the component. */
static size_t root_of(size_t *name, size_t k)
{
    while (name[k] != k)
        k = name[k] = name[name[k]];
    return k;
}

vxs_status vxs_check_components(const vxs_graph *graph, vxs_check_null_space *l, vxs_error *err)
{
    *l = (vxs_check_null_space){ .count = 0 };
    size_t *name = vxs_alloc(graph->nodes, sizeof(*name), err);
    vxs_status status = name ? allocate(graph->nodes, graph->nodes, l, err) : VXS_FAILED;
    for (size_t k = 0; k < graph->nodes && !status; k++)
        name[k] = k;
    for (size_t e = 0; e < graph->count && !status; e++) {
        size_t a = root_of(name, graph->from[e]), b = root_of(name, graph->to[e]);
        name[a > b ? a : b] = a > b ? b : a;
    }
    for (size_t k = 0; k < graph->nodes && !status; k++) {
        size_t first = root_of(name, k);
        l->vector[k] = first == k ? l->count++ : l->vector[first];
        l->factor[k] = 1;
        l->starts[k + 1] = k + 1;
    }
    free(name);
    return status;
}

/* ---- Analysis operator ----------------------------------------------------------------------- */

static void add(elimination *e, const combination *s, double scale)
{
    for (size_t k = 0; k < s->count; k++) {
        if (!e->seen[s->of[k]])
            e->list[e->count++] = s->of[k];
        e->seen[s->of[k]] = true;
        e->work[s->of[k]] += scale * s->factor[k];
    }
}

/* Index of the largest entry. */
static size_t largest(const elimination *e)
{
    size_t best = e->list[0];
    for (size_t k = 1; k < e->count; k++)
        if (fabs(e->work[e->list[k]]) > fabs(e->work[best]))
            best = e->list[k];
    return best;
}

/* Stores `scale` times the combination under construction, except one entry. */
static vxs_status store(elimination *e, double scale, size_t except, combination *s, vxs_error *err)
{
    double max = e->count > 0 ? fabs(e->work[largest(e)]) : 0;
    size_t *of = vxs_resize(s->of, e->count + 1, sizeof(*of), err);
    double *factor = of ? vxs_resize(s->factor, e->count + 1, sizeof(*factor), err) : NULL;
    s->of = of ? of : s->of;
    s->factor = factor ? factor : s->factor;
    s->count = 0;
    for (size_t k = 0; k < e->count; k++) {
        size_t j = e->list[k];
        if (factor && j != except && fabs(e->work[j]) > ENTRY_ROUNDING * max) {
            of[s->count] = j;
            factor[s->count++] = scale * e->work[j];
        }
        e->work[j] = 0;
        e->seen[j] = false;
    }
    e->count = 0;
    return factor ? VXS_OK : VXS_FAILED;
}

/* Substitutes a parameter in all combinations. */
static vxs_status substitute(elimination *e, size_t feature, const combination *by, vxs_error *err)
{
    vxs_status status = VXS_OK;
    for (size_t j = 0; j < e->p && !status; j++) {
        combination *s = &e->sums[j];
        size_t at = 0;
        while (at < s->count && s->of[at] != feature)
            at++;
        if (at == s->count)
            continue;
        double scale = s->factor[at];
        s->factor[at] = 0;
        add(e, s, 1);
        add(e, by, scale);
        status = store(e, 1, SIZE_MAX, s, err);
    }
    return status;
}

/* Uses the row D_t w = 0 to express its largest entry, unless it depends on the rows before. */
static vxs_status use_row(elimination *e, const vxs_analysis *terms, size_t t, vxs_error *err)
{
    combination row = { .count = 0 };
    double max = 0;
    for (size_t k = terms->starts[t]; k < terms->starts[t + 1]; k++) {
        max = fmax(max, fabs(terms->value[k]));
        add(e, &e->sums[terms->index[k]], terms->value[k]);
    }
    size_t pivot = e->count > 0 ? largest(e) : SIZE_MAX;
    double factor = e->count > 0 ? e->work[pivot] : 0;
    bool independent = fabs(factor) > DEPENDS * max;
    vxs_status status = store(e, independent ? -1 / factor : 0, pivot, &row, err);
    if (!status && independent)
        status = substitute(e, pivot, &row, err);
    free(row.of);
    free(row.factor);
    return status;
}

static vxs_status begin(elimination *e, vxs_error *err)
{
    e->sums = vxs_alloc(e->p, sizeof(*e->sums), err);
    e->work = vxs_alloc(e->p, sizeof(*e->work), err);
    e->seen = vxs_alloc(e->p, sizeof(*e->seen), err);
    e->list = vxs_alloc(e->p, sizeof(*e->list), err);
    for (size_t j = 0; j < e->p && e->sums; j++) {
        e->sums[j].of = vxs_alloc(1, sizeof(size_t), err);
        e->sums[j].factor = vxs_alloc(1, sizeof(double), err);
        if (!e->sums[j].of || !e->sums[j].factor)
            return VXS_FAILED;
        e->sums[j].of[0] = j;
        e->sums[j].factor[0] = 1;
        e->sums[j].count = 1;
    }
    return e->sums && e->work && e->seen && e->list ? VXS_OK : VXS_FAILED;
}

static void release(elimination *e)
{
    for (size_t j = 0; j < e->p && e->sums; j++) {
        free(e->sums[j].of);
        free(e->sums[j].factor);
    }
    free(e->sums);
    free(e->work);
    free(e->seen);
    free(e->list);
}

/* Numbers the parameters. */
static vxs_status number_parameters(elimination *e, vxs_check_null_space *l, vxs_error *err)
{
    size_t entries = 0;
    for (size_t j = 0; j < e->p; j++) {
        const combination *s = &e->sums[j];
        entries += s->count;
        if (s->count == 1 && s->of[0] == j)
            e->list[j] = l->count++;
    }
    vxs_status status = allocate(e->p, entries, l, err);
    for (size_t j = 0, at = 0; j < e->p && !status; j++) {
        for (size_t k = 0; k < e->sums[j].count; k++, at++) {
            l->vector[at] = e->list[e->sums[j].of[k]];
            l->factor[at] = e->sums[j].factor[k];
        }
        l->starts[j + 1] = at;
    }
    return status;
}

vxs_status vxs_check_analysis_null_space(const vxs_analysis *terms, vxs_check_null_space *l,
                                         vxs_error *err)
{
    elimination e = { .p = terms->columns };
    *l = (vxs_check_null_space){ .count = 0 };
    vxs_status status = begin(&e, err);
    for (size_t t = 0; t < terms->count && !status; t++)
        status = use_row(&e, terms, t, err);
    if (!status)
        status = number_parameters(&e, l, err);
    release(&e);
    return status;
}
