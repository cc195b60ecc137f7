/* units_groups.c - groups of columns, which may overlap, or be a tree.
 *
 * One scan gives x_j'v of all columns, and a group's score is the sum of the squares over its
 * members, over their number with `by_size`. In a tree the members of a group's descendants are
 * among its own: the sum over the group, over the least number of members below it, bounds all of
 * them (Remark 2 of the source). So groups are looked at in the order of the bounds that their
 * parents give, and once the largest bound left is below what is kept, all that is left is out.
 *
 * Source: Tan, Tsang, Wang, "Towards ultrahigh dimensional feature selection for big data", JMLR 15
 * (2014), sections 4.2 and 4.3. */
#include "design/units.h"

#include <float.h>
#include <math.h>
#include <stdlib.h>

#define BLOCK 4096 /* groups that threads share out at a time */

typedef struct {
    double bound;
    size_t group;
} waiting;

typedef struct {
    vxs_units units;
    const vxs_groups *groups;
    bool by_size;
    /* Of trees: a group's first child and its next sibling, SIZE_MAX where there is none; the least
     * number of members of its descendants; and those that wait, in a heap. */
    size_t *child, *sibling, *least;
    waiting *queue;
    size_t queued;
    double *scores; /* of others: a block of them */
} grouped;

static size_t size_of(const vxs_groups *groups, size_t g)
{
    return groups->end[g] - groups->begin[g];
}

/* Sum of squares over the members. */
static double raw_score(const grouped *w, size_t g)
{
    const double *s = w->units.sums;
    double sum = 0;
    for (size_t e = w->groups->begin[g]; e < w->groups->end[g]; e++)
        sum += s[w->groups->member[e]] * s[w->groups->member[e]];
    return sum;
}

static double score_of(const grouped *w, size_t g, double raw)
{
    return w->by_size && size_of(w->groups, g) > 0 ? raw / (double)size_of(w->groups, g) : raw;
}

/* ---- Without a tree -------------------------------------------------------------------------- */

static void look_at_all(grouped *w, vxs_top *top)
{
    size_t count = w->units.count;
    int threads = vxs_design_threads(w->units.design);
    for (size_t first = 0; first < count; first += BLOCK) {
        size_t some = count - first < BLOCK ? count - first : BLOCK;
#pragma omp parallel for num_threads(threads) schedule(static)
        for (size_t k = 0; k < some; k++)
            w->scores[k] = score_of(w, first + k, raw_score(w, first + k));
        for (size_t k = 0; k < some; k++)
            (void)vxs_top_offer(top, first + k, w->scores[k]);
    }
    w->units.work.visited += count;
}

/* ---- Down a tree ----------------------------------------------------------------------------- */

static bool before(const waiting *a, const waiting *b)
{
    return a->bound > b->bound || (a->bound == b->bound && a->group < b->group);
}

static void push(grouped *w, size_t group, double bound)
{
    waiting entry = { bound, group };
    size_t at = w->queued++;
    for (; at > 0 && before(&entry, &w->queue[(at - 1) / 2]); at = (at - 1) / 2)
        w->queue[at] = w->queue[(at - 1) / 2];
    w->queue[at] = entry;
}

static waiting pop(grouped *w)
{
    waiting first = w->queue[0], last = w->queue[--w->queued];
    size_t at = 0;
    for (size_t next = 1; next < w->queued; next = 2 * at + 1) {
        if (next + 1 < w->queued && before(&w->queue[next + 1], &w->queue[next]))
            next++;
        if (!before(&w->queue[next], &last))
            break;
        w->queue[at] = w->queue[next];
        at = next;
    }
    w->queue[at] = last;
    return first;
}

/* Of the scores of all below. Sums of m squares in whatever order are within m roundings of what
 * they should be, so one of some of the squares is no larger than the sum of all of them times this
 * factor. */
static double bound_below(const grouped *w, size_t g, double raw)
{
    double rounding = 1 + 2 * DBL_EPSILON * ((double)size_of(w->groups, g) + 4);
    return raw * rounding / (w->by_size ? (double)w->least[g] : 1);
}

/* What is below the least is never kept, but what equals it may be. */
static void look_down(grouped *w, vxs_top *top)
{
    uint64_t visited = 0;
    w->queued = 0;
    for (size_t g = 0; g < w->units.count; g++)
        if (w->groups->parent[g] == SIZE_MAX)
            push(w, g, INFINITY);
    while (w->queued > 0 && !(w->queue[0].bound < vxs_top_least(top))) {
        size_t g = pop(w).group;
        double raw = raw_score(w, g), bound = bound_below(w, g, raw);
        (void)vxs_top_offer(top, g, score_of(w, g, raw));
        for (size_t c = w->child[g]; c != SIZE_MAX; c = w->sibling[c])
            push(w, c, bound);
        visited++;
    }
    w->units.work.visited += visited;
    w->units.work.pruned += w->units.count - visited;
}

static vxs_status best(vxs_units *units, const double *v, vxs_top *top, vxs_error *err)
{
    grouped *w = (grouped *)units;
    vxs_design_scan(units->design, v, 1, units->sums);
    if (w->queue)
        look_down(w, top);
    else
        look_at_all(w, top);
    return vxs_check_interrupted(&units->context, err);
}

/* ---- Columns --------------------------------------------------------------------------------- */

static size_t width(const vxs_units *units, size_t unit)
{
    return size_of(((const grouped *)units)->groups, unit);
}

static size_t feature(const vxs_units *units, size_t unit, size_t k, double *factor)
{
    const grouped *w = (const grouped *)units;
    *factor = w->by_size ? 1 / sqrt((double)size_of(w->groups, unit)) : 1;
    return w->groups->member[w->groups->begin[unit] + k];
}

static void fetch(vxs_units *units, size_t unit, double *block)
{
    const grouped *w = (const grouped *)units;
    size_t count = size_of(w->groups, unit);
    double factor = w->by_size ? 1 / sqrt((double)count) : 1;
    vxs_design_fetch(units->design, w->groups->member + w->groups->begin[unit], count, block);
    for (size_t k = 0; k < count * units->n && w->by_size; k++)
        block[k] *= factor;
}

static void release(vxs_units *units)
{
    grouped *w = (grouped *)units;
    free(w->child);
    free(w->sibling);
    free(w->least);
    free(w->queue);
    free(w->scores);
}

static const vxs_units_kind kind = {
    .width = width,
    .feature = feature,
    .fetch = fetch,
    .best = best,
    .release = release,
};

static vxs_status plant(grouped *w, vxs_error *err)
{
    size_t count = w->groups->count;
    w->child = vxs_alloc(count, sizeof(*w->child), err);
    w->sibling = w->child ? vxs_alloc(count, sizeof(*w->sibling), err) : NULL;
    w->least = w->sibling ? vxs_alloc(count, sizeof(*w->least), err) : NULL;
    w->queue = w->least ? vxs_alloc(count, sizeof(*w->queue), err) : NULL;
    if (!w->queue)
        return VXS_FAILED;
    for (size_t g = 0; g < count; g++)
        w->child[g] = w->sibling[g] = w->least[g] = SIZE_MAX;
    for (size_t g = count; g-- > 0;) { /* children stand behind their parents */
        size_t parent = w->groups->parent[g],
               size = size_of(w->groups, g) ? size_of(w->groups, g) : 1;
        size_t below = size < w->least[g] ? size : w->least[g];
        if (parent == SIZE_MAX)
            continue;
        w->sibling[g] = w->child[parent];
        w->child[parent] = g;
        w->least[parent] = below < w->least[parent] ? below : w->least[parent];
    }
    return VXS_OK;
}

/* ---- Groups that are none -------------------------------------------------------------------- */

static vxs_status check_runs(const vxs_groups *groups, size_t p, vxs_error *err)
{
    if (groups->nodes != p)
        return vxs_fail(err, VXS_MISUSE, "the groups are of %zu features, the design has %zu",
                        groups->nodes, p);
    if (groups->count > 0 && (!groups->begin || !groups->end || !groups->member))
        return vxs_fail(err, VXS_MISUSE, "%zu groups without members", groups->count);
    for (size_t g = 0; g < groups->count; g++) {
        if (groups->begin[g] > groups->end[g] || groups->end[g] > groups->members)
            return vxs_fail(err, VXS_MISUSE,
                            "group %zu has the members %zu to %zu, and there are %zu", g,
                            groups->begin[g], groups->end[g], groups->members);
        if (groups->parent && groups->parent[g] != SIZE_MAX && groups->parent[g] >= g)
            return vxs_fail(err, VXS_MISUSE,
                            "the parent of group %zu is group %zu; parents stand before", g,
                            groups->parent[g]);
    }
    return VXS_OK;
}

/* last[feature]: the group that had it last, and 1. */
static vxs_status check_members(const vxs_groups *groups, size_t *last, vxs_error *err)
{
    for (size_t g = 0; g < groups->count; g++)
        for (size_t e = groups->begin[g]; e < groups->end[g]; e++) {
            size_t feature = groups->member[e];
            if (feature >= groups->nodes)
                return vxs_fail(err, VXS_MISUSE, "group %zu has feature %zu of %zu", g, feature,
                                groups->nodes);
            if (last[feature] == g + 1)
                return vxs_fail(err, VXS_MISUSE, "group %zu has feature %zu twice", g, feature);
            last[feature] = g + 1;
        }
    return VXS_OK;
}

/* Whether the child c of g has none but members of g, which `last` marks. */
static vxs_status check_child(const vxs_groups *groups, size_t g, size_t c, const size_t *last,
                              vxs_error *err)
{
    for (size_t e = groups->begin[c]; e < groups->end[c]; e++)
        if (last[groups->member[e]] != g + 1)
            return vxs_fail(err, VXS_MISUSE,
                            "group %zu has feature %zu, its parent, group %zu, does not", c,
                            groups->member[e], g);
    return VXS_OK;
}

/* Once the tree is planted: a run that is part of the parent's needs no look at its members. */
static vxs_status check_tree(const grouped *w, vxs_error *err)
{
    const vxs_groups *groups = w->groups;
    size_t *last = vxs_alloc(groups->nodes, sizeof(*last), err);
    if (!last)
        return VXS_FAILED;
    vxs_status status = VXS_OK;
    for (size_t g = 0; g < groups->count; g++) {
        bool marked = false;
        for (size_t c = w->child[g]; c != SIZE_MAX && !status; c = w->sibling[c]) {
            if (groups->begin[c] >= groups->begin[g] && groups->end[c] <= groups->end[g])
                continue;
            for (size_t e = groups->begin[g]; e < groups->end[g] && !marked; e++)
                last[groups->member[e]] = g + 1;
            marked = true;
            status = check_child(groups, g, c, last, err);
        }
    }
    free(last);
    return status;
}

static vxs_status check_groups(const vxs_design *design, const vxs_groups *groups, vxs_error *err)
{
    if (!design || !groups)
        return vxs_fail(err, VXS_MISUSE, "units have no %s", design ? "groups" : "design");
    vxs_status status = check_runs(groups, vxs_design_columns(design), err);
    size_t *last = status ? NULL : vxs_alloc(groups->nodes, sizeof(*last), err);
    if (!status)
        status = last ? check_members(groups, last, err) : VXS_FAILED;
    free(last);
    return status;
}

/* ---- The whole ------------------------------------------------------------------------------- */

vxs_status vxs_units_of_groups(const vxs_context *context, vxs_design *design,
                               const vxs_groups *groups, bool by_size, vxs_units **units,
                               vxs_error *err)
{
    vxs_map none = { .kind = VXS_MAP_NONE };
    vxs_status status = check_groups(design, groups, err);
    grouped *made = status ? NULL : vxs_alloc(1, sizeof(*made), err);
    if (!made)
        return status ? status : VXS_FAILED;
    made->groups = groups;
    made->by_size = by_size;
    status = vxs_units_init(&made->units, &kind, context, design, &none, groups->count, err);
    if (!status)
        status = vxs_units_make_sums(&made->units, err);
    if (!status && groups->parent)
        status = plant(made, err);
    if (!status && groups->parent)
        status = check_tree(made, err);
    if (!status && !groups->parent) {
        made->scores = vxs_alloc(BLOCK, sizeof(*made->scores), err);
        status = made->scores ? VXS_OK : VXS_FAILED;
    }
    if (status) {
        vxs_units_free(&made->units);
        return status;
    }
    *units = &made->units;
    return VXS_OK;
}
