/* top.c - the best few of many: a bounded min-heap. */
#include "voxsift/internal/core.h"

#include <math.h>
#include <stdlib.h>

vxs_status vxs_top_init(vxs_top *top, size_t most, vxs_error *err)
{
    *top = (vxs_top){ .most = most, .heap = vxs_alloc(most, sizeof(*top->heap), err) };
    return top->heap ? VXS_OK : VXS_FAILED;
}

void vxs_top_release(vxs_top *top)
{
    free(top->heap);
    *top = (vxs_top){ .heap = NULL };
}

static bool better(const vxs_scored *a, const vxs_scored *b)
{
    return a->score > b->score || (a->score == b->score && a->index < b->index);
}

/* Replaces the root of the heap and restores the heap order. */
static void sift_down(vxs_top *top, vxs_scored index)
{
    size_t at = 0;
    for (size_t child = 1; child < top->count; child = 2 * at + 1) {
        if (child + 1 < top->count && better(&top->heap[child], &top->heap[child + 1]))
            child++;
        if (!better(&index, &top->heap[child]))
            break;
        top->heap[at] = top->heap[child];
        at = child;
    }
    top->heap[at] = index;
}

static void sift_up(vxs_top *top, vxs_scored index)
{
    size_t at = top->count++;
    for (; at > 0 && better(&top->heap[(at - 1) / 2], &index); at = (at - 1) / 2)
        top->heap[at] = top->heap[(at - 1) / 2];
    top->heap[at] = index;
}

bool vxs_top_offer(vxs_top *top, size_t index, double score)
{
    vxs_scored offered = { index, score };
    if (top->count < top->most) {
        sift_up(top, offered);
        return true;
    }
    if (top->most == 0 || !better(&offered, &top->heap[0]))
        return false;
    sift_down(top, offered);
    return true;
}

double vxs_top_least(const vxs_top *top)
{
    if (top->count < top->most)
        return -INFINITY;
    return top->most > 0 ? top->heap[0].score : INFINITY;
}

void vxs_top_sort(vxs_top *top)
{
    size_t all = top->count;
    while (top->count > 0) {
        vxs_scored worst = top->heap[0], last = top->heap[top->count - 1];
        top->count--;
        if (top->count > 0)
            sift_down(top, last);
        top->heap[top->count] = worst;
    }
    top->count = all;
}
