/* ward.c - connected clusters of nodes with similar values: Ward's method along the edges of a
 * graph.
 *
 * Method    every node is a cluster; the two neighboring clusters merge whose merging adds least to
 *           the sum of squares around means, s_a s_b / (s_a + s_b) |m_a - m_b|^2 for clusters of
 *           s_a and s_b nodes; again, until as many are left as asked for. Of equal costs the pair
 *           with the oldest clusters is first
 * Cost      n for each edge, and for each cluster beside one that merges; values are overwritten
 *           by means
 * Threads   any number, with the same bits
 * Source    Ward 1963; with neighbors only: Gordon 1996; in brain images Thirion et al. 2014 */
#include "voxsift/internal/graph.h"
#include "voxsift/internal/machine.h"

#include <stdlib.h>
#include <string.h>

#define LANES       8    /* of sums, whose order is the same on any processor */
#define INTERRUPTED 1024 /* merges between two looks */

/* Two clusters, a < b; stale when one of them has merged. */
typedef struct {
    double cost;
    uint32_t a, b;
} pair;

/* Clusters 0 ... nodes - 1 are the nodes, those that merge follow. */
typedef struct {
    size_t nodes, n, count; /* clusters so far */
    float *value;           /* nodes x n */
    uint32_t *parent;       /* what it has merged into; itself while alive */
    uint32_t *size;
    uint32_t *slot;      /* row of `value` that is its mean */
    uint32_t *seen;      /* last cluster that listed it as a neighbor */
    uint32_t **neighbor; /* as they were when it came about */
    size_t *neighbors;
    uint32_t *found; /* neighbors of a new cluster */
    size_t room;
    pair *heap;
    size_t pairs, capacity;
} ward;

static void release(ward *w)
{
    for (size_t k = 0; w->neighbor && k < w->count; k++)
        free(w->neighbor[k]);
    void *const all[] = { w->parent,   w->size,      w->slot,  w->seen,
                          w->neighbor, w->neighbors, w->found, w->heap };
    for (size_t k = 0; k < sizeof(all) / sizeof(all[0]); k++)
        free(all[k]);
}

static vxs_status allocate(ward *w, size_t edges, vxs_error *err)
{
    size_t most = 2 * w->nodes;
    w->parent = vxs_alloc(most, sizeof(*w->parent), err);
    w->size = vxs_alloc(most, sizeof(*w->size), err);
    w->slot = vxs_alloc(most, sizeof(*w->slot), err);
    w->seen = vxs_alloc(most, sizeof(*w->seen), err);
    w->neighbor = vxs_alloc(most, sizeof(*w->neighbor), err);
    w->neighbors = vxs_alloc(most, sizeof(*w->neighbors), err);
    w->heap = vxs_alloc(edges, sizeof(*w->heap), err);
    w->capacity = edges;
    bool fine = w->parent && w->size && w->slot && w->seen && w->neighbor && w->neighbors;
    return fine && w->heap ? VXS_OK : VXS_FAILED;
}

static uint32_t alive(ward *w, uint32_t k)
{
    while (w->parent[k] != k) {
        w->parent[k] = w->parent[w->parent[k]];
        k = w->parent[k];
    }
    return k;
}

/* ---- Costs ----------------------------------------------------------------------------------- */

static double squared_distance(const float *a, const float *b, size_t n)
{
    double lane[LANES] = { 0 }, sum = 0;
    size_t i = 0;
    for (; i + LANES <= n; i += LANES)
        for (size_t k = 0; k < LANES; k++) {
            double difference = (double)a[i + k] - b[i + k];
            lane[k] += difference * difference;
        }
    for (; i < n; i++) {
        double difference = (double)a[i] - b[i];
        sum += difference * difference;
    }
    for (size_t k = 0; k < LANES; k++)
        sum += lane[k];
    return sum;
}

static double cost_of(const ward *w, uint32_t a, uint32_t b)
{
    double first = w->size[a], second = w->size[b];
    return first * second / (first + second) *
           squared_distance(w->value + w->slot[a] * w->n, w->value + w->slot[b] * w->n, w->n);
}

/* ---- The heap of pairs ----------------------------------------------------------------------- */

static bool before(const pair *x, const pair *y)
{
    if (x->cost != y->cost)
        return x->cost < y->cost;
    return x->a != y->a ? x->a < y->a : x->b < y->b;
}

static void sift_down(ward *w, size_t at)
{
    pair moved = w->heap[at];
    for (size_t child = 2 * at + 1; child < w->pairs; child = 2 * at + 1) {
        child += child + 1 < w->pairs && before(&w->heap[child + 1], &w->heap[child]);
        if (!before(&w->heap[child], &moved))
            break;
        w->heap[at] = w->heap[child];
        at = child;
    }
    w->heap[at] = moved;
}

static vxs_status push(ward *w, pair added, vxs_error *err)
{
    if (w->pairs == w->capacity) {
        size_t capacity = 2 * w->capacity + 16;
        pair *heap = vxs_resize(w->heap, capacity, sizeof(*heap), err);
        if (!heap)
            return VXS_FAILED;
        w->heap = heap;
        w->capacity = capacity;
    }
    size_t at = w->pairs++;
    for (; at > 0 && before(&added, &w->heap[(at - 1) / 2]); at = (at - 1) / 2)
        w->heap[at] = w->heap[(at - 1) / 2];
    w->heap[at] = added;
    return VXS_OK;
}

/* The cheapest pair of clusters that are both alive; false if there is none. */
static bool pop(ward *w, pair *cheapest)
{
    while (w->pairs > 0) {
        *cheapest = w->heap[0];
        w->heap[0] = w->heap[--w->pairs];
        if (w->pairs > 0)
            sift_down(w, 0);
        if (w->parent[cheapest->a] == cheapest->a && w->parent[cheapest->b] == cheapest->b)
            return true;
    }
    return false;
}

/* ---- Nodes ----------------------------------------------------------------------------------- */

static vxs_status list_neighbors(ward *w, const vxs_graph *g, vxs_error *err)
{
    for (size_t e = 0; e < g->count; e++) {
        w->neighbors[g->from[e]]++;
        w->neighbors[g->to[e]]++;
    }
    for (size_t k = 0; k < w->nodes; k++) {
        w->neighbor[k] = vxs_alloc(w->neighbors[k], sizeof(**w->neighbor), err);
        w->neighbors[k] = 0;
        if (!w->neighbor[k])
            return VXS_FAILED;
    }
    for (size_t e = 0; e < g->count; e++) {
        size_t a = g->from[e], b = g->to[e];
        w->neighbor[a][w->neighbors[a]++] = (uint32_t)b;
        w->neighbor[b][w->neighbors[b]++] = (uint32_t)a;
    }
    return VXS_OK;
}

/* Loops of the graph merge nothing. */
static void find_pairs(ward *w, const vxs_graph *g, int threads)
{
#pragma omp parallel for schedule(static) num_threads(threads)
    for (size_t e = 0; e < g->count; e++) {
        uint32_t a = (uint32_t)g->from[e], b = (uint32_t)g->to[e];
        w->heap[e] = (pair){ .cost = cost_of(w, a, b), .a = a < b ? a : b, .b = a < b ? b : a };
    }
    for (size_t e = 0; e < g->count; e++)
        if (g->from[e] != g->to[e])
            w->heap[w->pairs++] = w->heap[e];
    for (size_t at = w->pairs / 2; at > 0; at--)
        sift_down(w, at - 1);
}

static vxs_status begin(ward *w, const vxs_graph *g, int threads, vxs_error *err)
{
    vxs_status status = allocate(w, g->count, err);
    if (status)
        return status;
    w->count = w->nodes;
    for (size_t k = 0; k < 2 * w->nodes; k++) {
        w->parent[k] = w->slot[k] = (uint32_t)k;
        w->size[k] = 1;
        w->seen[k] = UINT32_MAX;
    }
    status = list_neighbors(w, g, err);
    if (!status)
        find_pairs(w, g, threads);
    return status;
}

/* ---- Merging --------------------------------------------------------------------------------- */

/* Of clusters a and b; the neighbors of `merged` that are alive. */
static vxs_status find_neighbors(ward *w, pair of, uint32_t merged, vxs_error *err)
{
    size_t room = w->neighbors[of.a] + w->neighbors[of.b];
    uint32_t *found = room > w->room ? vxs_resize(w->found, room, sizeof(*found), err) : w->found;
    if (room > w->room && !found)
        return VXS_FAILED;
    w->found = found;
    w->room = room > w->room ? room : w->room;
    size_t *count = &w->neighbors[merged];
    w->seen[merged] = merged;
    for (int side = 0; side < 2; side++) {
        uint32_t from = side ? of.b : of.a;
        for (size_t k = 0; k < w->neighbors[from]; k++) {
            uint32_t other = alive(w, w->neighbor[from][k]);
            if (w->seen[other] == merged)
                continue;
            w->seen[other] = merged;
            found[(*count)++] = other;
        }
        free(w->neighbor[from]);
        w->neighbor[from] = NULL;
    }
    w->neighbor[merged] = vxs_alloc(*count, sizeof(**w->neighbor), err);
    if (!w->neighbor[merged])
        return VXS_FAILED;
    memcpy(w->neighbor[merged], found, *count * sizeof(*found));
    return VXS_OK;
}

static vxs_status merge(ward *w, pair of, vxs_error *err)
{
    uint32_t merged = (uint32_t)w->count++;
    double total = (double)w->size[of.a] + w->size[of.b], share = w->size[of.b] / total;
    float *mean = w->value + w->slot[of.a] * w->n, *other = w->value + w->slot[of.b] * w->n;
    for (size_t i = 0; i < w->n; i++)
        mean[i] = (float)(mean[i] + share * ((double)other[i] - mean[i]));
    w->slot[merged] = w->slot[of.a];
    w->size[merged] = w->size[of.a] + w->size[of.b];
    w->parent[of.a] = w->parent[of.b] = merged;
    vxs_status status = find_neighbors(w, of, merged, err);
    for (size_t k = 0; k < w->neighbors[merged] && !status; k++) {
        uint32_t neighbor = w->neighbor[merged][k];
        double cost = cost_of(w, neighbor, merged);
        status = push(w, (pair){ .cost = cost, .a = neighbor, .b = merged }, err);
    }
    return status;
}

/* Clusters in the order of their first nodes. */
static size_t number_clusters(ward *w, uint32_t *cluster)
{
    uint32_t count = 0;
    for (size_t k = 0; k < w->count; k++)
        w->seen[k] = UINT32_MAX;
    for (size_t k = 0; k < w->nodes; k++) {
        uint32_t of = alive(w, (uint32_t)k);
        if (w->seen[of] == UINT32_MAX)
            w->seen[of] = count++;
        cluster[k] = w->seen[of];
    }
    return count;
}

vxs_status vxs_ward(const vxs_context *context, const vxs_graph *graph, float *value, size_t n,
                    size_t count, uint32_t *cluster, size_t *found, vxs_error *err)
{
    ward w = { .nodes = graph->nodes, .n = n, .value = value };
    if (graph->nodes >= UINT32_MAX / 2)
        return vxs_fail(err, VXS_MISUSE, "%zu nodes are too many to cluster", graph->nodes);
    pair cheapest;
    vxs_status status = begin(&w, graph, vxs_context_threads(context), err);
    for (size_t left = w.nodes; !status && left > count && pop(&w, &cheapest); left--) {
        status = merge(&w, cheapest, err);
        if (!status && left % INTERRUPTED == 0)
            status = vxs_check_interrupted(context, err);
    }
    if (!status)
        *found = number_clusters(&w, cluster);
    release(&w);
    return status;
}
