/* check_levels.c - which sums of columns are not penalised: those over the pieces of a graph, and
 * those over weights of which all terms are 0.
 *
 * A term that is 0 tells one feature's weight from those of others (Gaussian elimination, a term at
 * a time). Features that no term tells are free, and all others are sums of these. */
#include "verify/check.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#define DEPENDS 1e-10 /* of the largest factor: a term that those before it make 0 */
#define NOTHING 1e-14 /* likewise: what rounding leaves of a factor that is 0 */

/* A weight as a sum of others. */
typedef struct {
    size_t count;
    size_t *of;
    double *factor;
} sum;

typedef struct {
    size_t p;
    sum *sums;    /* of each feature, by those that are free */
    double *work; /* p: a sum in the making */
    bool *seen;   /* p: whether it is in `list` */
    size_t *list, count;
} elimination;

void vxs_check_levels_release(vxs_check_levels *l)
{
    free(l->starts);
    free(l->level);
    free(l->factor);
    *l = (vxs_check_levels){ .count = 0 };
}

static vxs_status make_levels(size_t p, size_t entries, vxs_check_levels *l, vxs_error *err)
{
    l->starts = vxs_alloc(p + 1, sizeof(*l->starts), err);
    l->level = vxs_alloc(entries, sizeof(*l->level), err);
    l->factor = vxs_alloc(entries, sizeof(*l->factor), err);
    return l->starts && l->level && l->factor ? VXS_OK : VXS_FAILED;
}

/* ---- Graphs ---------------------------------------------------------------------------------- */

/* The smallest node that is known to hang together with this one. */
static size_t name_of(size_t *name, size_t k)
{
    while (name[k] != k)
        k = name[k] = name[name[k]];
    return k;
}

vxs_status vxs_check_pieces(const vxs_graph *graph, vxs_check_levels *l, vxs_error *err)
{
    *l = (vxs_check_levels){ .count = 0 };
    size_t *name = vxs_alloc(graph->nodes, sizeof(*name), err);
    vxs_status status = name ? make_levels(graph->nodes, graph->nodes, l, err) : VXS_FAILED;
    for (size_t k = 0; k < graph->nodes && !status; k++)
        name[k] = k;
    for (size_t e = 0; e < graph->count && !status; e++) {
        size_t a = name_of(name, graph->from[e]), b = name_of(name, graph->to[e]);
        name[a > b ? a : b] = a > b ? b : a;
    }
    for (size_t k = 0; k < graph->nodes && !status; k++) {
        size_t first = name_of(name, k);
        l->level[k] = first == k ? l->count++ : l->level[first];
        l->factor[k] = 1;
        l->starts[k + 1] = k + 1;
    }
    free(name);
    return status;
}

/* ---- Terms ----------------------------------------------------------------------------------- */

static void add(elimination *e, const sum *s, double scale)
{
    for (size_t k = 0; k < s->count; k++) {
        if (!e->seen[s->of[k]])
            e->list[e->count++] = s->of[k];
        e->seen[s->of[k]] = true;
        e->work[s->of[k]] += scale * s->factor[k];
    }
}

/* Where the largest factor is. */
static size_t largest(const elimination *e)
{
    size_t best = e->list[0];
    for (size_t k = 1; k < e->count; k++)
        if (fabs(e->work[e->list[k]]) > fabs(e->work[best]))
            best = e->list[k];
    return best;
}

/* Ends the sum in the making: `s` is `scale` times it, but for one member. */
static vxs_status take(elimination *e, double scale, size_t but, sum *s, vxs_error *err)
{
    double most = e->count > 0 ? fabs(e->work[largest(e)]) : 0;
    size_t *of = vxs_resize(s->of, e->count + 1, sizeof(*of), err);
    double *factor = of ? vxs_resize(s->factor, e->count + 1, sizeof(*factor), err) : NULL;
    s->of = of ? of : s->of;
    s->factor = factor ? factor : s->factor;
    s->count = 0;
    for (size_t k = 0; k < e->count; k++) {
        size_t j = e->list[k];
        if (factor && j != but && fabs(e->work[j]) > NOTHING * most) {
            of[s->count] = j;
            factor[s->count++] = scale * e->work[j];
        }
        e->work[j] = 0;
        e->seen[j] = false;
    }
    e->count = 0;
    return factor ? VXS_OK : VXS_FAILED;
}

/* Where a free feature is a member of others, its own sum takes its place. */
static vxs_status replace(elimination *e, size_t feature, const sum *by, vxs_error *err)
{
    vxs_status status = VXS_OK;
    for (size_t j = 0; j < e->p && !status; j++) {
        sum *s = &e->sums[j];
        size_t at = 0;
        while (at < s->count && s->of[at] != feature)
            at++;
        if (at == s->count)
            continue;
        double scale = s->factor[at];
        s->factor[at] = 0;
        add(e, s, 1);
        add(e, by, scale);
        status = take(e, 1, SIZE_MAX, s, err);
    }
    return status;
}

/* The term is 0, which tells a feature by others, unless that was known. */
static vxs_status use_term(elimination *e, const vxs_analysis *terms, size_t t, vxs_error *err)
{
    sum told = { .count = 0 };
    double most = 0;
    for (size_t k = terms->starts[t]; k < terms->starts[t + 1]; k++) {
        most = fmax(most, fabs(terms->value[k]));
        add(e, &e->sums[terms->index[k]], terms->value[k]);
    }
    size_t pivot = e->count > 0 ? largest(e) : SIZE_MAX;
    double factor = e->count > 0 ? e->work[pivot] : 0;
    bool tells = fabs(factor) > DEPENDS * most;
    vxs_status status = take(e, tells ? -1 / factor : 0, pivot, &told, err);
    if (!status && tells)
        status = replace(e, pivot, &told, err);
    free(told.of);
    free(told.factor);
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

/* Free features have numbers; the list of them becomes these. */
static vxs_status number_levels(elimination *e, vxs_check_levels *l, vxs_error *err)
{
    size_t entries = 0;
    for (size_t j = 0; j < e->p; j++) {
        const sum *s = &e->sums[j];
        entries += s->count;
        if (s->count == 1 && s->of[0] == j)
            e->list[j] = l->count++;
    }
    vxs_status status = make_levels(e->p, entries, l, err);
    for (size_t j = 0, at = 0; j < e->p && !status; j++) {
        for (size_t k = 0; k < e->sums[j].count; k++, at++) {
            l->level[at] = e->list[e->sums[j].of[k]];
            l->factor[at] = e->sums[j].factor[k];
        }
        l->starts[j + 1] = at;
    }
    return status;
}

vxs_status vxs_check_without(const vxs_analysis *terms, vxs_check_levels *l, vxs_error *err)
{
    elimination e = { .p = terms->columns };
    *l = (vxs_check_levels){ .count = 0 };
    vxs_status status = begin(&e, err);
    for (size_t t = 0; t < terms->count && !status; t++)
        status = use_term(&e, terms, t, err);
    if (!status)
        status = number_levels(&e, l, err);
    release(&e);
    return status;
}
