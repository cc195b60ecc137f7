/* cuts.c - the cuts of the cutting-plane algorithm: which blocks they have, and when they go. */
#include "solver/cutting_plane/cutting_plane.h"

#include <stdlib.h>
#include <string.h>

void vxs_cut_release(vxs_cut *h)
{
    free(h->place);
    free(h->omega);
}

static int by_place(const void *a, const void *b)
{
    size_t first = *(const size_t *)a, second = *(const size_t *)b;
    return (first > second) - (first < second);
}

static bool is_in(const vxs_cut *h, size_t place)
{
    return h->count > 0 && bsearch(&place, h->place, h->count, sizeof(*h->place), by_place);
}

bool vxs_cuts_contain(const vxs_cutting_plane *g, size_t place)
{
    for (size_t h = 0; h < g->count; h++)
        if (is_in(&g->cuts[h], place))
            return true;
    return false;
}

/* The number of blocks in cuts. */
size_t vxs_cuts_count_blocks(const vxs_cutting_plane *g)
{
    size_t count = 0;
    for (size_t k = 0; k < g->cache.count; k++)
        count += vxs_cuts_contain(g, k);
    return count;
}

/* |X_g'gradient|^2 of a cached block. */
double vxs_block_score(const vxs_cutting_plane *g, size_t place)
{
    double sum = 0;
    for (size_t c = g->cache.start[place]; c < g->cache.start[place + 1]; c++)
        sum += g->cache.gradient[c] * g->cache.gradient[c];
    return sum;
}

/* The B largest scores: new blocks (at most max_new of them) and those of earlier cuts. */
static vxs_status offer_candidates(vxs_cutting_plane *g, size_t max_new, vxs_top *top,
                                   vxs_error *err)
{
    size_t added = 0, pooled = g->cache.count;
    vxs_status status = VXS_OK;
    for (size_t k = 0; k < g->best_count && !status && added < max_new; k++) {
        size_t place = vxs_block_cache_find(&g->cache, g->best[k].index);
        if (!(g->best[k].score > 0) || (place < pooled && vxs_cuts_contain(g, place)))
            continue;
        status = vxs_block_cache_fetch(&g->cache, g->best[k].index, &place, err);
        (void)vxs_top_offer(top, place, g->best[k].score);
        added++;
    }
    for (size_t place = 0; place < pooled && !status; place++)
        if (vxs_cuts_contain(g, place) && vxs_block_score(g, place) > 0)
            (void)vxs_top_offer(top, place, vxs_block_score(g, place));
    return status;
}

static vxs_status choose_blocks(vxs_cutting_plane *g, size_t max_new, vxs_cut *h, vxs_error *err)
{
    vxs_top top;
    vxs_status status = vxs_top_init(&top, g->budget.budget, err);
    h->place = vxs_alloc(g->budget.budget, sizeof(*h->place), err);
    if (!status)
        status = h->place ? offer_candidates(g, max_new, &top, err) : VXS_FAILED;
    for (size_t k = 0; k < top.count && !status; k++)
        h->place[h->count++] = top.heap[k].index;
    if (h->count > 0)
        qsort(h->place, h->count, sizeof(*h->place), by_place);
    vxs_top_release(&top);
    return status;
}

static bool is_duplicate(const vxs_cutting_plane *g, const vxs_cut *h)
{
    for (size_t k = 0; k < g->count; k++)
        if (g->cuts[k].count == h->count &&
            (h->count == 0 ||
             memcmp(g->cuts[k].place, h->place, h->count * sizeof(*h->place)) == 0))
            return true;
    return false;
}

static vxs_status reserve_cut(vxs_cutting_plane *g, vxs_error *err)
{
    if (g->count < g->capacity)
        return VXS_OK;
    size_t capacity = 2 * g->capacity + 8;
    vxs_cut *cuts = vxs_resize(g->cuts, capacity, sizeof(*cuts), err);
    g->cuts = cuts ? cuts : g->cuts;
    g->capacity = cuts ? capacity : g->capacity;
    return cuts ? VXS_OK : VXS_FAILED;
}

/* Adds the most violated constraint; `duplicate` if it is already there. */
vxs_status vxs_cuts_add(vxs_cutting_plane *g, size_t max_new, bool *duplicate, vxs_error *err)
{
    vxs_cut h = { .count = 0 };
    vxs_status status = reserve_cut(g, err);
    if (!status)
        status = choose_blocks(g, max_new, &h, err);
    for (size_t k = 0; k < h.count; k++)
        h.width += vxs_block_cache_width(&g->cache, h.place[k]);
    h.omega = status ? NULL : vxs_alloc(h.width, sizeof(*h.omega), err);
    if (!h.omega) {
        vxs_cut_release(&h);
        return status ? status : VXS_FAILED;
    }
    *duplicate = h.count == 0 || is_duplicate(g, &h);
    if (*duplicate)
        vxs_cut_release(&h);
    else
        g->cuts[g->count++] = h;
    return VXS_OK;
}

void vxs_cuts_drop_empty(vxs_cutting_plane *g)
{
    size_t remaining = 0;
    for (size_t h = 0; h < g->count; h++) {
        if (g->cuts[h].norm > 0 || g->cuts[h].share > 0)
            g->cuts[remaining++] = g->cuts[h];
        else
            vxs_cut_release(&g->cuts[h]);
    }
    g->count = remaining;
}
