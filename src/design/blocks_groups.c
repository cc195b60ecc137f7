/* blocks_groups.c - groups of columns, which may overlap or form a tree.
 *
 * One scan gives x_j'v of all columns; the score of a group is the sum of squares over its members,
 * divided by their number to twice the power. In a tree the members of a group's descendants are
 * among its own: the sum over the group, divided by the smallest number of members below it to
 * twice the power, bounds all of their scores (Remark 2 of the source). Groups are visited by
 * decreasing bound from their parents (best-first search); once the largest remaining bound is
 * below the scores kept, the rest is pruned.
 *
 * Source: Tan, Tsang, Wang, "Towards ultrahigh dimensional feature selection for big data", JMLR 15
 * (2014), sections 4.2 and 4.3. */
#include "design/blocks.h"

#include <float.h>
#include <math.h>
#include <stdlib.h>

#define BLOCK 4096 /* groups per parallel loop */
#define MANY  2    /* this part of all columns is as fast to read as all */

typedef struct {
    double bound;
    size_t group;
} heap_entry;

typedef struct {
    vxs_blocks blocks;
    const vxs_groups *groups;
    double power; /* columns of a group of m are divided by m^power */
    /* For trees: first child and next sibling of a group, SIZE_MAX if none; the minimum number of
     * members of its descendants; and a max-heap of groups to visit. */
    size_t *child, *sibling, *least;
    heap_entry *heap;
    size_t heap_count;
    double *scores; /* without tree: a block of scores */
    size_t *listed; /* p: columns of requested groups */
    double *some;   /* p: their sums */
} group_blocks;

static size_t size_of(const vxs_groups *groups, size_t g)
{
    return groups->end[g] - groups->begin[g];
}

/* Sum of squares over the members: four sums, since each addition waits for the one before. */
static double sum_squares(const group_blocks *w, size_t g)
{
    const double *s = w->blocks.sums;
    const size_t *member = w->groups->member + w->groups->begin[g];
    size_t count = size_of(w->groups, g), e = 0;
    double sum[4] = { 0 };
    for (; e + 4 <= count; e += 4)
        for (size_t k = 0; k < 4; k++)
            sum[k] += s[member[e + k]] * s[member[e + k]];
    double total = (sum[0] + sum[1]) + (sum[2] + sum[3]);
    for (; e < count; e++)
        total += s[member[e]] * s[member[e]];
    return total;
}

static double score_of(const group_blocks *w, size_t g, double raw)
{
    size_t size = size_of(w->groups, g);
    return size > 0 ? raw / pow((double)size, 2 * w->power) : raw;
}

/* Of the columns of a group. */
static double factor_of(const group_blocks *w, size_t g)
{
    double size = (double)size_of(w->groups, g);
    return size > 0 ? 1 / (w->power == 0.5 ? sqrt(size) : pow(size, w->power)) : 1;
}

/* ---- Without a tree -------------------------------------------------------------------------- */

static void score_all(group_blocks *w, vxs_top *top)
{
    size_t count = w->blocks.count;
    int threads = vxs_design_threads(w->blocks.design);
    for (size_t first = 0; first < count; first += BLOCK) {
        size_t some = count - first < BLOCK ? count - first : BLOCK;
#pragma omp parallel for num_threads(threads) schedule(static)
        for (size_t k = 0; k < some; k++)
            w->scores[k] = score_of(w, first + k, sum_squares(w, first + k));
        for (size_t k = 0; k < some; k++)
            (void)vxs_top_offer(top, first + k, w->scores[k]);
    }
    w->blocks.work.visited += count;
}

/* ---- Best-first search in a tree ------------------------------------------------------------- */

static bool precedes(const heap_entry *a, const heap_entry *b)
{
    return a->bound > b->bound || (a->bound == b->bound && a->group < b->group);
}

static void push(group_blocks *w, size_t group, double bound)
{
    heap_entry entry = { bound, group };
    size_t at = w->heap_count++;
    for (; at > 0 && precedes(&entry, &w->heap[(at - 1) / 2]); at = (at - 1) / 2)
        w->heap[at] = w->heap[(at - 1) / 2];
    w->heap[at] = entry;
}

static heap_entry pop(group_blocks *w)
{
    heap_entry first = w->heap[0], last = w->heap[--w->heap_count];
    size_t at = 0;
    for (size_t next = 1; next < w->heap_count; next = 2 * at + 1) {
        if (next + 1 < w->heap_count && precedes(&w->heap[next + 1], &w->heap[next]))
            next++;
        if (!precedes(&w->heap[next], &last))
            break;
        w->heap[at] = w->heap[next];
        at = next;
    }
    w->heap[at] = last;
    return first;
}

/* A bound on the scores of all descendants. The computed sum of m squares in any order is within m
 * rounding errors, so the sum of a subset is at most the total times this factor. */
static double bound_below(const group_blocks *w, size_t g, double raw)
{
    double rounding = 1 + 2 * DBL_EPSILON * ((double)size_of(w->groups, g) + 4);
    return raw * rounding / pow((double)w->least[g], 2 * w->power);
}

/* Scores below the minimum are never kept, equal ones may be. */
static void search_tree(group_blocks *w, vxs_top *top)
{
    uint64_t visited = 0;
    w->heap_count = 0;
    for (size_t g = 0; g < w->blocks.count; g++)
        if (w->groups->parent[g] == SIZE_MAX)
            push(w, g, INFINITY);
    while (w->heap_count > 0 && !(w->heap[0].bound < vxs_top_least(top))) {
        size_t g = pop(w).group;
        double raw = sum_squares(w, g), bound = bound_below(w, g, raw);
        (void)vxs_top_offer(top, g, score_of(w, g, raw));
        for (size_t c = w->child[g]; c != SIZE_MAX; c = w->sibling[c])
            push(w, c, bound);
        visited++;
    }
    w->blocks.work.visited += visited;
    w->blocks.work.pruned += w->blocks.count - visited;
}

static vxs_status best(vxs_blocks *blocks, const double *v, vxs_top *top, vxs_error *err)
{
    group_blocks *w = (group_blocks *)blocks;
    vxs_blocks_scan(blocks, v);
    if (w->heap)
        search_tree(w, top);
    else
        score_all(w, top);
    return vxs_check_interrupted(&blocks->context, err);
}

/* ---- Some groups ----------------------------------------------------------------------------- */

/* The columns of requested groups in `listed`; false once they are too many for a list. */
static bool list_columns(group_blocks *w, const bool *requested, size_t *count)
{
    const vxs_groups *g = w->groups;
    double *sums = w->blocks.sums;
    *count = 0;
    for (size_t j = 0; j < w->blocks.p; j++)
        sums[j] = NAN;
    for (size_t k = 0; k < g->count; k++)
        for (size_t e = g->begin[k]; e < g->end[k] && requested[k]; e++) {
            if (!isnan(sums[g->member[e]]))
                continue;
            sums[g->member[e]] = 0;
            w->listed[(*count)++] = g->member[e];
            if (MANY * *count > w->blocks.p)
                return false;
        }
    return true;
}

static void scores(vxs_blocks *blocks, const double *v, const bool *requested, double *scores)
{
    group_blocks *w = (group_blocks *)blocks;
    size_t count;
    if (list_columns(w, requested, &count)) {
        vxs_design_scan_some(blocks->design, w->listed, count, v, w->some);
        for (size_t k = 0; k < count; k++)
            blocks->sums[w->listed[k]] = w->some[k];
    } else
        vxs_design_scan(blocks->design, v, 1, blocks->sums);
    int threads = vxs_design_threads(blocks->design);
#pragma omp parallel for num_threads(threads) schedule(dynamic, 64)
    for (size_t k = 0; k < w->groups->count; k++)
        if (requested[k])
            scores[k] = score_of(w, k, sum_squares(w, k));
}

static void norms(const vxs_blocks *blocks, double *norms)
{
    const group_blocks *w = (const group_blocks *)blocks;
    const double *of_columns = vxs_design_norms(blocks->design);
    for (size_t k = 0; k < w->groups->count; k++) {
        double square = 0;
        for (size_t e = w->groups->begin[k]; e < w->groups->end[k]; e++)
            square += of_columns[w->groups->member[e]] * of_columns[w->groups->member[e]];
        norms[k] = sqrt(score_of(w, k, square));
    }
}

/* ---- Columns --------------------------------------------------------------------------------- */

static size_t width(const vxs_blocks *blocks, size_t index)
{
    return size_of(((const group_blocks *)blocks)->groups, index);
}

static size_t feature(const vxs_blocks *blocks, size_t index, size_t k, double *factor)
{
    const group_blocks *w = (const group_blocks *)blocks;
    *factor = factor_of(w, index);
    return w->groups->member[w->groups->begin[index] + k];
}

static void fetch(vxs_blocks *blocks, size_t index, double *block)
{
    const group_blocks *w = (const group_blocks *)blocks;
    size_t count = size_of(w->groups, index);
    double factor = factor_of(w, index);
    vxs_design_fetch(blocks->design, w->groups->member + w->groups->begin[index], count, block);
    for (size_t k = 0; k < count * blocks->n && factor != 1; k++)
        block[k] *= factor;
}

static void release(vxs_blocks *blocks)
{
    group_blocks *w = (group_blocks *)blocks;
    free(w->child);
    free(w->sibling);
    free(w->least);
    free(w->heap);
    free(w->scores);
    free(w->listed);
    free(w->some);
}

static const vxs_blocks_kind kind = {
    .width = width,
    .feature = feature,
    .fetch = fetch,
    .best = best,
    .scores = scores,
    .norms = norms,
    .release = release,
};

static vxs_status build_tree(group_blocks *w, vxs_error *err)
{
    size_t count = w->groups->count;
    w->child = vxs_alloc(count, sizeof(*w->child), err);
    w->sibling = w->child ? vxs_alloc(count, sizeof(*w->sibling), err) : NULL;
    w->least = w->sibling ? vxs_alloc(count, sizeof(*w->least), err) : NULL;
    w->heap = w->least ? vxs_alloc(count, sizeof(*w->heap), err) : NULL;
    if (!w->heap)
        return VXS_FAILED;
    for (size_t g = 0; g < count; g++)
        w->child[g] = w->sibling[g] = w->least[g] = SIZE_MAX;
    for (size_t g = count; g-- > 0;) { /* children follow their parents */
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

/* ---- Checks of groups ------------------------------------------------------------------------ */

static vxs_status check_runs(const vxs_groups *groups, size_t p, vxs_error *err)
{
    if (groups->nodes != p)
        return vxs_fail(err, VXS_MISUSE, "the groups have %zu features, the design %zu",
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
                            "the parent of group %zu is group %zu; parents must precede", g,
                            groups->parent[g]);
    }
    return VXS_OK;
}

/* last[feature]: 1 + the last group with this feature. */
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

/* Checks that all members of child c are members of g, which `last` marks. */
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

/* Requires the tree; a range inside the parent's range needs no check of its members. */
static vxs_status check_tree(const group_blocks *w, vxs_error *err)
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
    vxs_status status = check_runs(groups, vxs_design_columns(design), err);
    size_t *last = status ? NULL : vxs_alloc(groups->nodes, sizeof(*last), err);
    if (!status)
        status = last ? check_members(groups, last, err) : VXS_FAILED;
    free(last);
    return status;
}

/* ---- Constructor ----------------------------------------------------------------------------- */

vxs_status vxs_blocks_of_groups(const vxs_context *context, vxs_design *design,
                                const vxs_groups *groups, double power, vxs_blocks **blocks,
                                vxs_error *err)
{
    vxs_feature_map none = { .kind = VXS_FEATURE_MAP_NONE };
    vxs_status status =
        VXS_GIVEN(err, { "design", design }, { "groups", groups }, { "blocks", blocks });
    if (!status)
        status = check_groups(design, groups, err);
    if (!status)
        status = vxs_number_check("the power of group sizes", power, 0, false, err);
    group_blocks *result = status ? NULL : vxs_alloc(1, sizeof(*result), err);
    if (!result)
        return status ? status : VXS_FAILED;
    result->groups = groups;
    result->power = power;
    status = vxs_blocks_init(&result->blocks, &kind, context, design, &none, groups->count, err);
    if (!status)
        status = vxs_blocks_allocate_sums(&result->blocks, err);
    result->listed = status ? NULL : vxs_alloc(result->blocks.p, sizeof(*result->listed), err);
    result->some = status ? NULL : vxs_alloc(result->blocks.p, sizeof(*result->some), err);
    if (!status && !(result->listed && result->some))
        status = VXS_FAILED;
    if (!status && groups->parent)
        status = build_tree(result, err);
    if (!status && groups->parent)
        status = check_tree(result, err);
    if (!status && !groups->parent) {
        result->scores = vxs_alloc(BLOCK, sizeof(*result->scores), err);
        status = result->scores ? VXS_OK : VXS_FAILED;
    }
    if (status) {
        vxs_blocks_free(&result->blocks);
        return status;
    }
    *blocks = &result->blocks;
    return VXS_OK;
}
