/* subtree_sums.c - a design of sums over subtrees: X T, for differences over the edges of a forest.
 *
 * With w = T u, u_e being the step over edge e times its weight, Xw is (XT)u plus a level for each
 * tree. Column e of XT is the sum of the base's columns below e, over the weight of e. It is not
 * stored. A scan is the base's, added up from the leaves. For single columns some of the sums are
 * kept: every subtree of which, without the kept ones below it, ITEMS columns would have to be
 * added. That is at most one in ITEMS - 1 of the columns, and no column takes more than ITEMS. */
#include "design/design.h"

#include <cblas.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#define ITEMS  64
#define BLOCK  256 /* columns of the base at a time */
#define SLICE  64  /* rows at a time, whatever the number of threads */
#define HEIGHT 66  /* sums that are open at once: one more than the logarithm of the nodes */
#define NONE   SIZE_MAX

typedef struct {
    vxs_design design;
    bool shared;
    const vxs_forest *forest;
    size_t *place;  /* of a column */
    size_t *column; /* of a place; NONE for roots */
    size_t *kept;   /* of a place: number of its sum; NONE */
    size_t kept_count;
    double *sums;   /* n x kept_count */
    double *levels; /* n x trees: sums of whole trees */
    double *along;  /* a base column's share in a scan; a node's place in lists */
    double *along_kept;
    size_t *list, *list_kept; /* of scan_some */
    bool *listed, *listed_kept;
    double *block; /* n x ITEMS */
} tree;

/* ---- What a column is made of ---------------------------------------------------------------- */

/* Whether place k of a subtree stands for a kept sum or a single node; returns the place behind. */
static size_t next_item(const tree *t, size_t k, bool *is_kept)
{
    *is_kept = t->kept[k] != NONE;
    return *is_kept ? k + t->forest->size[k] : k + 1;
}

/* Numbers the sums that are kept: children come before parents. */
static vxs_status choose_kept(tree *t, vxs_error *err)
{
    const vxs_forest *f = t->forest;
    size_t *items = vxs_alloc(f->nodes, sizeof(*items), err);
    for (size_t k = f->nodes; items && k-- > 0;) {
        items[k]++; /* itself */
        t->kept[k] = NONE;
        if (f->parent[k] == k)
            continue;
        if (items[k] >= ITEMS) {
            t->kept[k] = t->kept_count++;
            items[k] = 1;
        }
        items[f->parent[k]] += items[k];
    }
    free(items);
    return items ? VXS_OK : VXS_FAILED;
}

/* ---- Scans ----------------------------------------------------------------------------------- */

/* From shares of nodes, by place, to those of columns. */
static void add_up(const tree *t, double *by_place, double *s)
{
    const vxs_forest *f = t->forest;
    for (size_t k = f->nodes; k-- > 0;) {
        if (f->parent[k] == k)
            continue;
        s[t->column[k]] = by_place[k] / f->weight[k];
        by_place[f->parent[k]] += by_place[k];
    }
}

static void take_scan(const tree *t, const double *by_node, double *by_place, double *s)
{
    for (size_t k = 0; k < t->forest->nodes; k++)
        by_place[k] = by_node[t->forest->node[k]];
    add_up(t, by_place, s);
}

static void scan(vxs_design *design, const double *v, size_t k, double *s)
{
    tree *t = (tree *)design;
    size_t nodes = t->forest->nodes, n = design->n, p = design->p;
    double *wide = k > 1 ? vxs_alloc(k, vxs_times(nodes, sizeof(*wide)), NULL) : NULL;
    if (wide)
        vxs_design_scan(design->base, v, k, wide);
    for (size_t c = 0; c < k; c++) {
        double *by_node = wide ? wide + c * nodes : t->along + nodes;
        if (!wide) /* one, or no memory for all at once */
            vxs_design_scan(design->base, v + c * n, 1, by_node);
        take_scan(t, by_node, t->along, s + c * p);
    }
    free(wide);
}

static void count_reading(vxs_design *design, size_t columns)
{
    while (design->base)
        design = design->base;
    design->read += columns;
}

/* Everything that the columns of the set are made of, each once. */
static void list_items(tree *t, const size_t *set, size_t count, size_t *nodes, size_t *sums)
{
    const vxs_forest *f = t->forest;
    *nodes = *sums = 0;
    for (size_t c = 0; c < count; c++) {
        size_t top = t->place[set[c]], end = top + f->size[top];
        bool is_kept;
        for (size_t k = top, next; k < end; k = next) {
            next = next_item(t, k, &is_kept);
            if (is_kept && !t->listed_kept[t->kept[k]]) {
                t->listed_kept[t->kept[k]] = true;
                t->list_kept[(*sums)++] = t->kept[k];
            } else if (!is_kept && !t->listed[f->node[k]]) {
                t->listed[f->node[k]] = true;
                t->list[(*nodes)++] = f->node[k];
            }
        }
    }
    for (size_t k = 0; k < *nodes; k++)
        t->listed[t->list[k]] = false;
    for (size_t k = 0; k < *sums; k++)
        t->listed_kept[t->list_kept[k]] = false;
}

static double add_items(const tree *t, size_t top, const double *by_node)
{
    const vxs_forest *f = t->forest;
    double sum = 0;
    bool is_kept;
    for (size_t k = top, next; k < top + f->size[top]; k = next) {
        next = next_item(t, k, &is_kept);
        sum += is_kept ? t->along_kept[t->kept[k]] : by_node[f->node[k]];
    }
    return sum;
}

static void scan_some(vxs_design *design, const size_t *set, size_t count, const double *v,
                      double *s)
{
    tree *t = (tree *)design;
    const vxs_forest *f = t->forest;
    size_t n = design->n, nodes = 0, sums = 0;
    double *some = t->along, *by_node = t->along + f->nodes;
    list_items(t, set, count, &nodes, &sums);
    vxs_design_scan_some(design->base, t->list, nodes, v, some);
    for (size_t k = 0; k < nodes; k++)
        by_node[t->list[k]] = some[k];
#pragma omp parallel for num_threads(design->nthreads) schedule(static) if (sums > ITEMS)
    for (size_t k = 0; k < sums; k++)
        t->along_kept[t->list_kept[k]] = cblas_ddot((int)n, t->sums + t->list_kept[k] * n, 1, v, 1);
    count_reading(design, sums);
    for (size_t c = 0; c < count; c++)
        s[c] = add_items(t, t->place[set[c]], by_node) / f->weight[t->place[set[c]]];
}

static void fetch(vxs_design *design, const size_t *set, size_t count, double *block)
{
    tree *t = (tree *)design;
    const vxs_forest *f = t->forest;
    int n = (int)design->n;
    for (size_t c = 0; c < count; c++) {
        size_t top = t->place[set[c]], nodes = 0, sums = 0;
        double *column = block + c * design->n, share = 1 / f->weight[top];
        list_items(t, set + c, 1, &nodes, &sums);
        vxs_design_fetch(design->base, t->list, nodes, t->block);
        memset(column, 0, design->n * sizeof(*column));
        for (size_t k = 0; k < nodes; k++)
            cblas_daxpy(n, share, t->block + k * design->n, 1, column, 1);
        for (size_t k = 0; k < sums; k++)
            cblas_daxpy(n, share, t->sums + t->list_kept[k] * design->n, 1, column, 1);
        count_reading(design, sums);
    }
}

/* ---- Norms, kept sums and levels --------------------------------------------------------------
 *
 * One reading, from the last place to the first, so that subtrees are complete before their roots.
 * A sum is open from the first child on, which is the largest; the others' are added to it as they
 * close. So no more are open than the logarithm of the nodes. */

typedef struct {
    size_t slot;  /* of the sum */
    bool opens;   /* it begins here, at a leaf */
    bool closes;  /* it is added to the one below it, its parent's */
    double *keep; /* where it goes when it is complete, or NULL */
} step;

typedef struct {
    tree *t;
    size_t first, last; /* places of the block */
    size_t height;      /* sums that are open */
    size_t roots;       /* that are still to come */
    step steps[BLOCK];  /* of place first + k */
    size_t set[BLOCK];
    double *block;  /* n x BLOCK, of place first + k */
    double *open;   /* n x HEIGHT */
    double *square; /* slices x BLOCK */
} sweep;

static void plan(sweep *w)
{
    const vxs_forest *f = w->t->forest;
    size_t n = w->t->design.n;
    for (size_t k = w->last; k-- > w->first;) {
        size_t parent = f->parent[k], kept = w->t->kept[k];
        bool is_root = parent == k, is_largest = k + f->size[k] == parent + f->size[parent];
        step *s = &w->steps[k - w->first];
        s->opens = f->size[k] == 1;
        w->height += s->opens;
        s->slot = w->height - 1;
        s->closes = !is_root && !is_largest;
        w->height -= s->closes || is_root;
        s->keep = kept != NONE ? w->t->sums + kept * n : NULL;
        if (is_root)
            s->keep = w->t->levels + --w->roots * n;
        w->set[k - w->first] = f->node[k];
    }
}

/* Rows [from, to) of the block's steps. */
static void do_rows(const sweep *w, size_t from, size_t to, double *square)
{
    size_t n = w->t->design.n;
    for (size_t k = w->last - w->first; k-- > 0;) {
        const step *s = &w->steps[k];
        const double *x = w->block + k * n;
        double *sum = w->open + s->slot * n, of_squares = 0;
        for (size_t i = from; i < to; i++) {
            sum[i] = s->opens ? x[i] : sum[i] + x[i];
            of_squares += sum[i] * sum[i];
        }
        square[k] = of_squares;
        if (s->keep)
            memcpy(s->keep + from, sum + from, (to - from) * sizeof(*sum));
        for (size_t i = from; i < to && s->closes; i++)
            (sum - n)[i] += sum[i];
    }
}

static void do_block(sweep *w)
{
    tree *t = w->t;
    size_t n = t->design.n, slices = (n + SLICE - 1) / SLICE;
    plan(w);
    vxs_design_fetch(t->design.base, w->set, w->last - w->first, w->block);
#pragma omp parallel for num_threads(t->design.nthreads) schedule(static)
    for (size_t slice = 0; slice < slices; slice++)
        do_rows(w, slice * SLICE, slice + 1 < slices ? (slice + 1) * SLICE : n,
                w->square + slice * BLOCK);
    for (size_t k = w->first; k < w->last; k++) {
        double square = 0;
        for (size_t slice = 0; slice < slices; slice++)
            square += w->square[slice * BLOCK + (k - w->first)];
        if (t->column[k] != NONE)
            t->design.norms[t->column[k]] = sqrt(square) / t->forest->weight[k];
    }
}

static vxs_status sweep_all(tree *t, vxs_error *err)
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
            do_block(w);
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
    double *by_node = t->along + nodes;
    vxs_status status = v ? vxs_design_measure_scan(design->base, v, by_node, err)
                          : vxs_design_measure(design->base, err);
    if (status)
        return status;
    if (v)
        take_scan(t, by_node, t->along, s);
    t->sums = vxs_alloc(t->kept_count, vxs_times(n, sizeof(*t->sums)), err);
    t->levels = t->sums ? vxs_alloc(t->forest->trees, vxs_times(n, sizeof(*t->levels)), err) : NULL;
    design->norms = t->levels ? vxs_alloc(design->p, sizeof(*design->norms), err) : NULL;
    return design->norms ? sweep_all(t, err) : VXS_FAILED;
}

/* ---- The whole ------------------------------------------------------------------------------- */

static void release(vxs_design *design)
{
    tree *t = (tree *)design;
    if (!t->shared)
        vxs_design_free(design->base);
    free(t->place);
    free(t->column);
    free(t->kept);
    free(t->sums);
    free(t->levels);
    free(t->along);
    free(t->along_kept);
    free(t->list);
    free(t->list_kept);
    free(t->listed);
    free(t->listed_kept);
    free(t->block);
}

static const vxs_design_kind kind = {
    .scan = scan,
    .scan_some = scan_some,
    .fetch = fetch,
    .measure = measure,
    .release = release,
};

static vxs_status make_room(tree *t, vxs_error *err)
{
    size_t nodes = t->forest->nodes, next = 0;
    t->place = vxs_alloc(t->design.p, sizeof(*t->place), err);
    t->column = vxs_alloc(nodes, sizeof(*t->column), err);
    t->kept = vxs_alloc(nodes, sizeof(*t->kept), err);
    t->along = vxs_alloc(vxs_times(2, nodes), sizeof(*t->along), err);
    t->list = vxs_alloc(nodes, sizeof(*t->list), err);
    t->listed = vxs_alloc(nodes, sizeof(*t->listed), err);
    t->block = vxs_alloc(ITEMS, vxs_times(t->design.n, sizeof(*t->block)), err);
    if (!t->place || !t->column || !t->kept || !t->along || !t->list || !t->listed || !t->block ||
        choose_kept(t, err))
        return VXS_FAILED;
    t->along_kept = vxs_alloc(t->kept_count, sizeof(*t->along_kept), err);
    t->list_kept = vxs_alloc(t->kept_count, sizeof(*t->list_kept), err);
    t->listed_kept = vxs_alloc(t->kept_count, sizeof(*t->listed_kept), err);
    if (!t->along_kept || !t->list_kept || !t->listed_kept)
        return VXS_FAILED;
    for (size_t k = 0; k < nodes; k++) {
        bool is_root = t->forest->parent[k] == k;
        t->column[k] = is_root ? NONE : next;
        if (!is_root)
            t->place[next++] = k;
    }
    return VXS_OK;
}

vxs_status vxs_tree_new(vxs_design *base, bool shared, const vxs_forest *forest,
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
    vxs_status status = make_room(made, err);
    if (status) {
        vxs_design_free(&made->design);
        return status;
    }
    *design = &made->design;
    return VXS_OK;
}

const double *vxs_tree_levels(const vxs_design *design)
{
    return ((const tree *)design)->levels;
}
