/* forest.c - an acyclic graph becomes rooted trees, in an order in which subtrees are
 * contiguous. */
#include "voxsift/internal/graph.h"

#include <stdlib.h>
#include <string.h>

/* Adjacency lists: the neighbors of node k are other[start[k]] ... other[start[k + 1] - 1], over
 * edges edge[...]. */
typedef struct {
    size_t *start, *other, *edge;
    size_t *parent_of; /* parent of a node, or the node itself */
    size_t *size;      /* of the node's subtree */
    size_t *queue;     /* nodes in breadth-first order */
    size_t *position;  /* position of a node */
} maker;

void vxs_forest_release(vxs_forest *f)
{
    free(f->node);
    free(f->parent);
    free(f->size);
    free(f->weight);
    *f = (vxs_forest){ .nodes = 0 };
}

static void list_neighbors(const vxs_graph *g, maker *m)
{
    for (size_t e = 0; e < g->count; e++) {
        m->start[g->from[e] + 1]++;
        m->start[g->to[e] + 1]++;
    }
    for (size_t k = 0; k < g->nodes; k++)
        m->start[k + 1] += m->start[k];
    memcpy(m->queue, m->start, g->nodes * sizeof(*m->queue)); /* next free entry of each list */
    for (size_t e = 0; e < g->count; e++) {
        size_t a = g->from[e], b = g->to[e];
        m->other[m->queue[a]] = b;
        m->edge[m->queue[a]++] = e;
        m->other[m->queue[b]] = a;
        m->edge[m->queue[b]++] = e;
    }
}

/* Breadth-first search from the smallest node of each connected component; returns the number of
 * trees. */
static size_t search_breadth_first(const vxs_graph *g, maker *m)
{
    size_t trees = 0, seen = 0, next = 0;
    for (size_t k = 0; k < g->nodes; k++)
        m->parent_of[k] = SIZE_MAX;
    for (size_t root = 0; root < g->nodes; root++) {
        if (m->parent_of[root] != SIZE_MAX)
            continue;
        m->parent_of[root] = root;
        m->queue[seen++] = root;
        trees++;
        for (; next < seen; next++) {
            size_t k = m->queue[next];
            for (size_t i = m->start[k]; i < m->start[k + 1]; i++)
                if (m->parent_of[m->other[i]] == SIZE_MAX) {
                    m->parent_of[m->other[i]] = k;
                    m->queue[seen++] = m->other[i];
                }
        }
    }
    return trees;
}

static void count_subtrees(const vxs_graph *g, maker *m)
{
    for (size_t k = 0; k < g->nodes; k++)
        m->size[k] = 1;
    for (size_t i = g->nodes; i-- > 0;) {
        size_t k = m->queue[i];
        if (m->parent_of[k] != k)
            m->size[m->parent_of[k]] += m->size[k];
    }
}

/* Places child i of node k at position `next`; returns the position behind its subtree. */
static size_t place_child(const vxs_graph *g, const maker *m, size_t k, size_t i, size_t next,
                          vxs_forest *f)
{
    m->position[m->other[i]] = next;
    f->parent[next] = m->position[k];
    f->weight[next] = g->weight[m->edge[i]];
    return next + m->size[m->other[i]];
}

/* Assigns positions to the children of node k, the largest subtree last. */
static void place_children(const vxs_graph *g, const maker *m, size_t k, vxs_forest *f)
{
    size_t next = m->position[k] + 1, end = m->start[k + 1], largest = end;
    for (size_t i = m->start[k]; i < end; i++)
        if (m->parent_of[m->other[i]] == k &&
            (largest == end || m->size[m->other[i]] > m->size[m->other[largest]]))
            largest = i;
    for (size_t i = m->start[k]; i < end; i++)
        if (m->parent_of[m->other[i]] == k && i != largest)
            next = place_child(g, m, k, i, next, f);
    if (largest < end)
        place_child(g, m, k, largest, next, f);
}

static void fill(const vxs_graph *g, maker *m, vxs_forest *f)
{
    size_t next = 0;
    list_neighbors(g, m);
    f->trees = search_breadth_first(g, m);
    count_subtrees(g, m);
    for (size_t i = 0; i < g->nodes; i++) {
        size_t k = m->queue[i];
        if (m->parent_of[k] == k) {
            m->position[k] = f->parent[next] = next;
            next += m->size[k];
        }
        place_children(g, m, k, f);
        f->node[m->position[k]] = k;
        f->size[m->position[k]] = m->size[k];
    }
}

static vxs_status check_acyclic(const vxs_graph *g, vxs_error *err)
{
    size_t edge = 0;
    vxs_status status = vxs_graph_find_cycle(g, &edge, err);
    if (!status && edge < g->count)
        status =
            vxs_fail(err, VXS_BAD_DATA,
                     "the edge between features %zu and %zu closes a cycle; a tree is required",
                     g->from[edge], g->to[edge]);
    return status;
}

vxs_status vxs_forest_new(const vxs_graph *g, vxs_forest *f, vxs_error *err)
{
    maker m = { .start = NULL };
    *f = (vxs_forest){ .nodes = g->nodes };
    vxs_status status = check_acyclic(g, err);
    if (status)
        return status;
    size_t nodes = g->nodes, ends = 2 * g->count;
    m.start = vxs_alloc(nodes + 1, sizeof(*m.start), err);
    m.other = vxs_alloc(ends, sizeof(*m.other), err);
    m.edge = vxs_alloc(ends, sizeof(*m.edge), err);
    m.parent_of = vxs_alloc(nodes, sizeof(*m.parent_of), err);
    m.size = vxs_alloc(nodes, sizeof(*m.size), err);
    m.queue = vxs_alloc(nodes, sizeof(*m.queue), err);
    m.position = vxs_alloc(nodes, sizeof(*m.position), err);
    f->node = vxs_alloc(nodes, sizeof(*f->node), err);
    f->parent = vxs_alloc(nodes, sizeof(*f->parent), err);
    f->size = vxs_alloc(nodes, sizeof(*f->size), err);
    f->weight = vxs_alloc(nodes, sizeof(*f->weight), err);
    if (m.start && m.other && m.edge && m.parent_of && m.size && m.queue && m.position && f->node &&
        f->parent && f->size && f->weight) {
        fill(g, &m, f);
    } else {
        vxs_forest_release(f);
        status = VXS_FAILED;
    }
    free(m.start);
    free(m.other);
    free(m.edge);
    free(m.parent_of);
    free(m.size);
    free(m.queue);
    free(m.position);
    return status;
}
