/* subtree_sums.c - a design of subtree sums: X T, for differences over the edges of a forest.
 *
 * With w = T u, u_e being the difference over edge e times its weight, Xw is (XT)u plus one value
 * per tree. Column e of XT is the sum of the base's columns below e, divided by the weight of e; it
 * is not stored. A scan is one of the base, accumulated from the leaves. For single columns some
 * subtree sums are cached: every subtree that consists of ITEMS or more uncached nodes and cached
 * sums. These are at most one in ITEMS - 1 of the columns, and every column is a sum of at most
 * ITEMS. */
#include "design/design.h"

#include <cblas.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#define ITEMS  64
#define BLOCK  256 /* columns of the base at a time */
#define SLICE  64  /* rows at a time, independent of the number of threads */
#define HEIGHT 66  /* open sums: one more than log2 of the number of nodes */
#define NONE   SIZE_MAX

typedef struct {
    vxs_design design;
    bool shared;
    const vxs_forest *forest;
    size_t *position;    /* of a column */
    size_t *column;      /* of a position; NONE for roots */
    size_t *cache_index; /* of a position: index of its cached sum; NONE */
    size_t cached_count;
    double *sums;   /* n x cached_count */
    double *totals; /* n x trees: sums of whole trees */
    double *values; /* a base column's inner product in a scan; a node's index in lists */
    double *cached_values;
    size_t *list, *cached_list; /* of scan_some */
    bool *listed, *cached_listed;
    double *block; /* n x ITEMS */
} tree;

/* ---- The items of a column ------------------------------------------------------------------- */

/* Tests whether position k of a subtree is a cached sum or a single node; returns the position
 * behind. */
static size_t next_item(const tree *t, size_t k, bool *is_cached)
{
    *is_cached = t->cache_index[k] != NONE;
    return *is_cached ? k + t->forest->size[k] : k + 1;
}

/* Numbers the cached sums; children are visited before parents. */
static vxs_status choose_cached(tree *t, vxs_error *err)
{
    const vxs_forest *f = t->forest;
    size_t *items = vxs_alloc(f->nodes, sizeof(*items), err);
    for (size_t k = f->nodes; items && k-- > 0;) {
        items[k]++; /* the node itself */
        t->cache_index[k] = NONE;
        if (f->parent[k] == k)
            continue;
        if (items[k] >= ITEMS) {
            t->cache_index[k] = t->cached_count++;
            items[k] = 1;
        }
        items[f->parent[k]] += items[k];
    }
    free(items);
    return items ? VXS_OK : VXS_FAILED;
}

/* ---- Scans ----------------------------------------------------------------------------------- */

/* Accumulates the values of nodes, by position, to those of columns. */
static void accumulate(const tree *t, double *by_position, double *s)
{
    const vxs_forest *f = t->forest;
    for (size_t k = f->nodes; k-- > 0;) {
        if (f->parent[k] == k)
            continue;
        s[t->column[k]] = by_position[k] / f->weight[k];
        by_position[f->parent[k]] += by_position[k];
    }
}

static void accumulate_scan(const tree *t, const double *by_node, double *by_position, double *s)
{
    for (size_t k = 0; k < t->forest->nodes; k++)
        by_position[k] = by_node[t->forest->node[k]];
    accumulate(t, by_position, s);
}

static void scan(vxs_design *design, const double *v, size_t k, double *s)
{
    tree *t = (tree *)design;
    size_t nodes = t->forest->nodes, n = design->n, p = design->p;
    double *wide = k > 1 ? vxs_alloc(k, vxs_times(nodes, sizeof(*wide)), NULL) : NULL;
    if (wide)
        vxs_design_scan(design->base, v, k, wide);
    for (size_t c = 0; c < k; c++) {
        double *by_node = wide ? wide + c * nodes : t->values + nodes;
        if (!wide) /* a single vector, or out of memory */
            vxs_design_scan(design->base, v + c * n, 1, by_node);
        accumulate_scan(t, by_node, t->values, s + c * p);
    }
    free(wide);
}

static void count_reading(vxs_design *design, size_t columns)
{
    while (design->base)
        design = design->base;
    design->read += columns;
}

/* Lists the nodes and cached sums that the columns of the set consist of, without duplicates. */
static void list_items(tree *t, const size_t *set, size_t count, size_t *nodes, size_t *sums)
{
    const vxs_forest *f = t->forest;
    *nodes = *sums = 0;
    for (size_t c = 0; c < count; c++) {
        size_t top = t->position[set[c]], end = top + f->size[top];
        bool is_cached;
        for (size_t k = top, next; k < end; k = next) {
            next = next_item(t, k, &is_cached);
            if (is_cached && !t->cached_listed[t->cache_index[k]]) {
                t->cached_listed[t->cache_index[k]] = true;
                t->cached_list[(*sums)++] = t->cache_index[k];
            } else if (!is_cached && !t->listed[f->node[k]]) {
                t->listed[f->node[k]] = true;
                t->list[(*nodes)++] = f->node[k];
            }
        }
    }
    for (size_t k = 0; k < *nodes; k++)
        t->listed[t->list[k]] = false;
    for (size_t k = 0; k < *sums; k++)
        t->cached_listed[t->cached_list[k]] = false;
}

static double add_items(const tree *t, size_t top, const double *by_node)
{
    const vxs_forest *f = t->forest;
    double sum = 0;
    bool is_cached;
    for (size_t k = top, next; k < top + f->size[top]; k = next) {
        next = next_item(t, k, &is_cached);
        sum += is_cached ? t->cached_values[t->cache_index[k]] : by_node[f->node[k]];
    }
    return sum;
}

static void scan_some(vxs_design *design, const size_t *set, size_t count, const double *v,
                      double *s)
{
    tree *t = (tree *)design;
    const vxs_forest *f = t->forest;
    size_t n = design->n, nodes = 0, sums = 0;
    double *some = t->values, *by_node = t->values + f->nodes;
    list_items(t, set, count, &nodes, &sums);
    vxs_design_scan_some(design->base, t->list, nodes, v, some);
    for (size_t k = 0; k < nodes; k++)
        by_node[t->list[k]] = some[k];
#pragma omp parallel for num_threads(design->nthreads) schedule(static) if (sums > ITEMS)
    for (size_t k = 0; k < sums; k++)
        t->cached_values[t->cached_list[k]] =
            cblas_ddot((int)n, t->sums + t->cached_list[k] * n, 1, v, 1);
    count_reading(design, sums);
    for (size_t c = 0; c < count; c++)
        s[c] = add_items(t, t->position[set[c]], by_node) / f->weight[t->position[set[c]]];
}

static void fetch(vxs_design *design, const size_t *set, size_t count, double *block)
{
    tree *t = (tree *)design;
    const vxs_forest *f = t->forest;
    int n = (int)design->n;
    for (size_t c = 0; c < count; c++) {
        size_t top = t->position[set[c]], nodes = 0, sums = 0;
        double *column = block + c * design->n, share = 1 / f->weight[top];
        list_items(t, set + c, 1, &nodes, &sums);
        vxs_design_fetch(design->base, t->list, nodes, t->block);
        memset(column, 0, design->n * sizeof(*column));
        for (size_t k = 0; k < nodes; k++)
            cblas_daxpy(n, share, t->block + k * design->n, 1, column, 1);
        for (size_t k = 0; k < sums; k++)
            cblas_daxpy(n, share, t->sums + t->cached_list[k] * design->n, 1, column, 1);
        count_reading(design, sums);
    }
}

/* ---- Norms, cached sums and tree sums ----------------------------------------------------------
 *
 * One pass from the last position to the first, so that subtrees are complete before their roots. A
 * sum opens at its first child, the one with the largest subtree; the others are added when they
 * close. Therefore the number of open sums is at most logarithmic in the number of nodes. */

typedef struct {
    size_t slot;         /* index of the open sum */
    bool begins;         /* the sum begins here, at a leaf */
    bool closes;         /* the sum is added to the one below it, its parent's */
    double *destination; /* destination of the complete sum, or NULL */
} step;

typedef struct {
    tree *t;
    size_t first, last; /* positions of the block */
    size_t height;      /* number of open sums */
    size_t roots;       /* trees still to come */
    step steps[BLOCK];  /* of position first + k */
    size_t set[BLOCK];
    double *block;  /* n x BLOCK, of position first + k */
    double *open;   /* n x HEIGHT */
    double *square; /* slices x BLOCK */
} sweep;

static void plan_steps(sweep *w)
{
    const vxs_forest *f = w->t->forest;
    size_t n = w->t->design.n;
    for (size_t k = w->last; k-- > w->first;) {
        size_t parent = f->parent[k], cache_index = w->t->cache_index[k];
        bool is_root = parent == k, is_largest = k + f->size[k] == parent + f->size[parent];
        step *s = &w->steps[k - w->first];
        s->begins = f->size[k] == 1;
        w->height += s->begins;
        s->slot = w->height - 1;
        s->closes = !is_root && !is_largest;
        w->height -= s->closes || is_root;
        s->destination = cache_index != NONE ? w->t->sums + cache_index * n : NULL;
        if (is_root)
            s->destination = w->t->totals + --w->roots * n;
        w->set[k - w->first] = f->node[k];
    }
}

/* Runs the block's steps on rows [from, to). */
static void run_rows(const sweep *w, size_t from, size_t to, double *square)
{
    size_t n = w->t->design.n;
    for (size_t k = w->last - w->first; k-- > 0;) {
        const step *s = &w->steps[k];
        const double *x = w->block + k * n;
        double *sum = w->open + s->slot * n, of_squares = 0;
        for (size_t i = from; i < to; i++) {
            sum[i] = s->begins ? x[i] : sum[i] + x[i];
            of_squares += sum[i] * sum[i];
        }
        square[k] = of_squares;
        if (s->destination)
            memcpy(s->destination + from, sum + from, (to - from) * sizeof(*sum));
        for (size_t i = from; i < to && s->closes; i++)
            (sum - n)[i] += sum[i];
    }
}

static void run_block(sweep *w)
{
    tree *t = w->t;
    size_t n = t->design.n, slices = (n + SLICE - 1) / SLICE;
    plan_steps(w);
    vxs_design_fetch(t->design.base, w->set, w->last - w->first, w->block);
#pragma omp parallel for num_threads(t->design.nthreads) schedule(static)
    for (size_t slice = 0; slice < slices; slice++)
        run_rows(w, slice * SLICE, slice + 1 < slices ? (slice + 1) * SLICE : n,
                 w->square + slice * BLOCK);
    for (size_t k = w->first; k < w->last; k++) {
        double square = 0;
        for (size_t slice = 0; slice < slices; slice++)
            square += w->square[slice * BLOCK + (k - w->first)];
        if (t->column[k] != NONE)
            t->design.norms[t->column[k]] = sqrt(square) / t->forest->weight[k];
    }
}

static vxs_status run_sweep(tree *t, vxs_error *err)
{
    size_t n = t->design.n, slices = (n + SLICE - 1) / SLICE;
    sweep *w = vxs_alloc(1, sizeof(*w), err);
    double *room = w ? vxs_alloc(vxs_times(n + slices, BLOCK + HEIGHT), sizeof(*room), err) : NULL;
    if (room) {
        *w = (sweep){ .t = t, .roots = t->forest->trees, .block = room };
        w->open = room + n * BLOCK;
        w->square = w->open + n * HEIGHT;
        for (w->last = t->forest->nodes; w->last > 0; w->last = w->first) {
            w->first = w->last > BLOCK ? w->last - BLOCK : 0;
            run_block(w);
        }
    }
    free(room);
    free(w);
    return room ? VXS_OK : VXS_FAILED;
}

static vxs_status measure(vxs_design *design, const double *v, double *s, vxs_error *err)
{
    tree *t = (tree *)design;
    size_t n = design->n, nodes = t->forest->nodes;
    double *by_node = t->values + nodes;
    vxs_status status = v ? vxs_design_measure_scan(design->base, v, by_node, err)
                          : vxs_design_measure(design->base, err);
    if (status)
        return status;
    if (v)
        accumulate_scan(t, by_node, t->values, s);
    t->sums = vxs_alloc(t->cached_count, vxs_times(n, sizeof(*t->sums)), err);
    t->totals = t->sums ? vxs_alloc(t->forest->trees, vxs_times(n, sizeof(*t->totals)), err) : NULL;
    design->norms = t->totals ? vxs_alloc(design->p, sizeof(*design->norms), err) : NULL;
    return design->norms ? run_sweep(t, err) : VXS_FAILED;
}

/* ---- Constructor ----------------------------------------------------------------------------- */

static void release(vxs_design *design)
{
    tree *t = (tree *)design;
    if (!t->shared)
        vxs_design_free(design->base);
    free(t->position);
    free(t->column);
    free(t->cache_index);
    free(t->sums);
    free(t->totals);
    free(t->values);
    free(t->cached_values);
    free(t->list);
    free(t->cached_list);
    free(t->listed);
    free(t->cached_listed);
    free(t->block);
}

static const vxs_design_kind kind = {
    .scan = scan,
    .scan_some = scan_some,
    .fetch = fetch,
    .measure = measure,
    .release = release,
};

static vxs_status allocate(tree *t, vxs_error *err)
{
    size_t nodes = t->forest->nodes, next = 0;
    t->position = vxs_alloc(t->design.p, sizeof(*t->position), err);
    t->column = vxs_alloc(nodes, sizeof(*t->column), err);
    t->cache_index = vxs_alloc(nodes, sizeof(*t->cache_index), err);
    t->values = vxs_alloc(vxs_times(2, nodes), sizeof(*t->values), err);
    t->list = vxs_alloc(nodes, sizeof(*t->list), err);
    t->listed = vxs_alloc(nodes, sizeof(*t->listed), err);
    t->block = vxs_alloc(ITEMS, vxs_times(t->design.n, sizeof(*t->block)), err);
    if (!t->position || !t->column || !t->cache_index || !t->values || !t->list || !t->listed ||
        !t->block || choose_cached(t, err))
        return VXS_FAILED;
    t->cached_values = vxs_alloc(t->cached_count, sizeof(*t->cached_values), err);
    t->cached_list = vxs_alloc(t->cached_count, sizeof(*t->cached_list), err);
    t->cached_listed = vxs_alloc(t->cached_count, sizeof(*t->cached_listed), err);
    if (!t->cached_values || !t->cached_list || !t->cached_listed)
        return VXS_FAILED;
    for (size_t k = 0; k < nodes; k++) {
        bool is_root = t->forest->parent[k] == k;
        t->column[k] = is_root ? NONE : next;
        if (!is_root)
            t->position[next++] = k;
    }
    return VXS_OK;
}

vxs_status vxs_subtree_sums_new(vxs_design *base, bool shared, const vxs_forest *forest,
                                vxs_design **design, vxs_error *err)
{
    tree *made = vxs_alloc(1, sizeof(*made), err);
    if (!made) {
        if (!shared)
            vxs_design_free(base);
        return VXS_FAILED;
    }
    made->design = (vxs_design){ .kind = &kind,
                                 .n = base->n,
                                 .p = forest->nodes - forest->trees,
                                 .nthreads = base->nthreads,
                                 .base = base };
    made->shared = shared;
    made->forest = forest;
    vxs_status status = allocate(made, err);
    if (status) {
        vxs_design_free(&made->design);
        return status;
    }
    *design = &made->design;
    return VXS_OK;
}

const double *vxs_subtree_sums_totals(const vxs_design *design)
{
    return ((const tree *)design)->totals;
}
