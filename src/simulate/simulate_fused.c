/* simulate_fused.c - a linear model whose weights are constant along a graph of the features.
 *
 * Model   y = X b + e; X uniform on [-10, 10], e normal (linear.c). A connected graph is a
 *         uniformly random spanning tree plus random edges; b is uniform on [-1, 1] and constant
 *         in each of two subgraphs around distant nodes, and 0 elsewhere. A forest has trees of
 *         about equal size; b is constant in each of some whole trees.
 * Source  Ren 2017 (dissertation, docs/CITATION.cff), section 3.3.7.1, which leaves the
 *         size of the subgraphs and the distribution of graphs open.
 */
#include "simulate/linear.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#define USUAL_EDGES 1.1 /* edges per feature */
#define NO_EDGE     SIZE_MAX

enum { STREAM_ORDER = VXS_LINEAR_OWN, STREAM_TREE, STREAM_EDGE, STREAM_PLACE };

#define AT(member) offsetof(vxs_fused_simulation, member)

const vxs_param vxs_fused_simulation_params[] = {
    VXS_WHOLE_ROW("subjects", "N", AT(subjects), 100, 2, 1e7, "subjects"),
    VXS_WHOLE_ROW("features", "P", AT(features), 3000, 2, 1e8, "number of features"),
    VXS_REAL_ROW("edges", "E", AT(edges), NAN, 1, 1000,
                 "edges per feature of a connected graph; 1: a spanning tree and one edge; default "
                 "1.1 without --trees"),
    VXS_WHOLE_ROW("trees", "K", AT(trees), NAN, 1, 1e8,
                  "simulate a forest of this number of trees instead"),
    VXS_REAL_ROW("nonzero", "SHARE", AT(nonzero), 0.1, 0, 1,
                 "fraction of features with nonzero weight, in two subgraphs or in trees"),
    VXS_REAL_ROW("noise", "SD", AT(noise), 1, 0, 1e9,
                 "standard deviation of the noise on the score"),
    VXS_CHOICE_ROW("target", "KIND", AT(target), 0, vxs_simulated_targets,
                   "target: a score, or a diagnosis (score above its median)"),
    VXS_SEED_ROW(AT(seed)),
    { .name = NULL },
};

typedef struct {
    size_t p, count;
    size_t *from, *to;
    size_t *table; /* hash table of node pairs: edge indices, or NO_EDGE */
    size_t slots;
    size_t *first, *ends;    /* neighbors of node k: ends[first[k]] ... ends[first[k + 1] - 1] */
    size_t *queue, *reached; /* breadth-first queue; label of the search that reached each node */
} graph;

static void release(graph *g)
{
    free(g->from);
    free(g->to);
    free(g->table);
    free(g->first);
    free(g->ends);
    free(g->queue);
    free(g->reached);
}

static vxs_status allocate(graph *g, size_t edges, vxs_error *err)
{
    for (g->slots = 4; g->slots < 2 * edges;)
        g->slots *= 2;
    g->from = vxs_alloc(edges, sizeof(*g->from), err);
    g->to = vxs_alloc(edges, sizeof(*g->to), err);
    g->table = vxs_alloc(g->slots, sizeof(*g->table), err);
    g->first = vxs_alloc(g->p + 2, sizeof(*g->first), err);
    g->ends = vxs_alloc(vxs_times(2, edges), sizeof(*g->ends), err);
    g->queue = vxs_alloc(g->p, sizeof(*g->queue), err);
    g->reached = vxs_alloc(g->p, sizeof(*g->reached), err);
    if (!g->from || !g->to || !g->table || !g->first || !g->ends || !g->queue || !g->reached)
        return VXS_FAILED;
    memset(g->table, 0xff, g->slots * sizeof(*g->table));
    return VXS_OK;
}

/* ---- The graph ------------------------------------------------------------------------------- */

/* Adds an edge; false if it exists. */
static bool add_edge(graph *g, size_t a, size_t b)
{
    size_t low = a < b ? a : b, high = a < b ? b : a;
    size_t slot = (low * g->p + high) * 0x9e3779b97f4a7c15U >> 20;
    for (slot &= g->slots - 1; g->table[slot] != NO_EDGE; slot = (slot + 1) & (g->slots - 1))
        if (g->from[g->table[slot]] == low && g->to[g->table[slot]] == high)
            return false;
    g->table[slot] = g->count;
    g->from[g->count] = low;
    g->to[g->count++] = high;
    return true;
}

/* Adds a uniformly random tree over `nodes`, from a random Pruefer sequence. `left` counts the
 * remaining occurrences of each node. */
static void add_tree(graph *g, const vxs_random *random, const size_t *nodes, size_t count,
                     uint64_t draw, size_t *left)
{
    if (count < 2)
        return;
    memset(left, 0, count * sizeof(*left));
    for (size_t k = 0; k + 2 < count; k++)
        left[vxs_random_below(random, draw + k, count)]++;
    size_t next = 0, leaf = 0;
    while (left[next] > 0)
        next++;
    leaf = next;
    for (size_t k = 0; k + 2 < count; k++) {
        size_t on = vxs_random_below(random, draw + k, count);
        add_edge(g, nodes[leaf], nodes[on]);
        if (--left[on] == 0 && on < next) {
            leaf = on; /* it is the smallest leaf now */
            continue;
        }
        for (next++; left[next] > 0;)
            next++;
        leaf = next;
    }
    add_edge(g, nodes[leaf], nodes[count - 1]);
}

/* First position of tree k in the order of nodes. */
static size_t tree_begins(size_t p, size_t trees, size_t k)
{
    return k * (p / trees) + (k < p % trees ? k : p % trees);
}

static void add_trees(graph *g, uint64_t seed, size_t trees, const size_t *order, size_t *left)
{
    vxs_random random = { seed, STREAM_TREE };
    for (size_t k = 0; k < trees; k++) {
        size_t first = tree_begins(g->p, trees, k), last = tree_begins(g->p, trees, k + 1);
        add_tree(g, &random, order + first, last - first, first, left);
    }
}

static vxs_status add_others(graph *g, const vxs_linear *l, size_t edges, vxs_error *err)
{
    vxs_random random = { l->seed, STREAM_EDGE };
    vxs_status status = VXS_OK;
    for (uint64_t draw = 0; g->count < edges && !status; draw += 2) {
        size_t a = vxs_random_below(&random, draw, g->p);
        size_t b = vxs_random_below(&random, draw + 1, g->p);
        if (a != b)
            (void)add_edge(g, a, b);
        status = vxs_check_interrupted(l->context, err);
    }
    return status;
}

static void list_ends(graph *g)
{
    for (size_t e = 0; e < g->count; e++) {
        g->first[g->from[e] + 2]++;
        g->first[g->to[e] + 2]++;
    }
    for (size_t k = 2; k < g->p + 2; k++)
        g->first[k] += g->first[k - 1];
    for (size_t e = 0; e < g->count; e++) {
        g->ends[g->first[g->from[e] + 1]++] = g->to[e];
        g->ends[g->first[g->to[e] + 1]++] = g->from[e];
    }
}

/* ---- The weights ----------------------------------------------------------------------------- */

/* Breadth-first search for at most `most` unreached nodes, nearest to `start` first; labels them
 * `label`. Returns their number; they are in the queue. */
static size_t search_from(graph *g, size_t start, size_t most, size_t label)
{
    size_t waiting = 0;
    if (most == 0 || g->reached[start] != 0)
        return 0;
    g->reached[start] = label;
    g->queue[waiting++] = start;
    for (size_t next = 0; next < waiting; next++)
        for (size_t e = g->first[g->queue[next]]; e < g->first[g->queue[next] + 1]; e++) {
            if (waiting == most || g->reached[g->ends[e]] != 0)
                continue;
            g->reached[g->ends[e]] = label;
            g->queue[waiting++] = g->ends[e];
        }
    return waiting;
}

/* The last node in breadth-first order. */
static size_t farthest(graph *g, size_t start)
{
    memset(g->reached, 0, g->p * sizeof(*g->reached));
    size_t count = search_from(g, start, g->p, 1);
    memset(g->reached, 0, g->p * sizeof(*g->reached));
    return g->queue[count - 1];
}

/* Sets the weights of two subgraphs around the ends of a long path. */
static void set_subgraph_weights(graph *g, const vxs_linear *l, double share)
{
    vxs_random place = { l->seed, STREAM_PLACE }, weight = { l->seed, VXS_LINEAR_WEIGHT };
    size_t all = (size_t)llround(share * (double)g->p);
    size_t ends[2] = { farthest(g, vxs_random_below(&place, 0, g->p)), 0 };
    ends[1] = farthest(g, ends[0]);
    for (size_t side = 0; side < 2; side++) {
        size_t count = search_from(g, ends[side], side == 0 ? (all + 1) / 2 : all / 2, side + 1);
        for (size_t k = 0; k < count; k++)
            l->weights[g->queue[k]] = vxs_linear_weight(&weight, side);
    }
}

/* Sets the weights of whole trees, up to the requested share of features. */
static vxs_status set_tree_weights(const vxs_linear *l, size_t trees, double share,
                                   const size_t *order, vxs_error *err)
{
    vxs_random place = { l->seed, STREAM_PLACE }, weight = { l->seed, VXS_LINEAR_WEIGHT };
    size_t target = (size_t)llround(share * (double)l->p), count = 0;
    size_t *chosen = vxs_alloc(trees, sizeof(*chosen), err);
    if (!chosen)
        return VXS_FAILED;
    vxs_random_permutation(&place, chosen, trees);
    for (size_t k = 0; k < trees && count < target; k++) {
        size_t last = tree_begins(l->p, trees, chosen[k] + 1);
        for (size_t at = tree_begins(l->p, trees, chosen[k]); at < last; at++, count++)
            l->weights[order[at]] = vxs_linear_weight(&weight, k);
    }
    free(chosen);
    return VXS_OK;
}

/* ---- Entry point ----------------------------------------------------------------------------- */

/* Number of trees, and total number of edges. */
static vxs_status count_edges(const vxs_fused_simulation *s, size_t *trees, size_t *edges,
                              vxs_error *err)
{
    double p = (double)s->features, each = isnan(s->edges) ? USUAL_EDGES : s->edges;
    if (s->trees > 0 && !isnan(s->edges))
        return vxs_fail(err, VXS_MISUSE, "'--edges' and '--trees' exclude each other");
    if (s->trees > s->features)
        return vxs_fail(err, VXS_MISUSE, "%.0f features are too few for %lld trees", p,
                        (long long)s->trees);
    if (!isnan(s->edges) && round(each * p) > p * (p - 1) / 2)
        return vxs_fail(err, VXS_MISUSE, "%.0f features have %.0f pairs in all, fewer than %.0f", p,
                        p * (p - 1) / 2, round(each * p));
    *trees = s->trees > 0 ? (size_t)s->trees : 1;
    *edges = (size_t)fmin(round(each * p), p * (p - 1) / 2);
    if (s->trees > 0)
        *edges = (size_t)s->features - *trees;
    return VXS_OK;
}

static vxs_status draw(vxs_linear *l, vxs_error *err)
{
    const vxs_fused_simulation *s = l->settings;
    vxs_random random = { l->seed, STREAM_ORDER };
    graph *g = l->own;
    size_t trees = 1, edges = 0;
    vxs_status status = count_edges(s, &trees, &edges, err);
    if (!status)
        status = allocate(g, edges, err);
    size_t *order = status ? NULL : vxs_alloc(l->p, sizeof(*order), err);
    if (!order)
        return status ? status : VXS_FAILED;
    vxs_random_permutation(&random, order, l->p);
    add_trees(g, l->seed, trees, order, g->queue);
    status = add_others(g, l, edges, err);
    list_ends(g);
    if (!status && trees > 1)
        status = set_tree_weights(l, trees, s->nonzero, order, err);
    else if (!status)
        set_subgraph_weights(g, l, s->nonzero);
    free(order);
    return status;
}

static vxs_status write_graph(vxs_linear *l, FILE *stream, vxs_error *err)
{
    const graph *g = l->own;
    vxs_tsv_writer writer;
    vxs_status status = VXS_OK;
    char name[32];
    vxs_tsv_init(&writer, stream);
    vxs_tsv_text(&writer, "from");
    vxs_tsv_text(&writer, "to");
    vxs_tsv_text(&writer, "weight");
    vxs_tsv_end_row(&writer);
    for (size_t e = 0; e < g->count && !status; e++) {
        snprintf(name, sizeof(name), "x%zu", g->from[e]);
        vxs_tsv_text(&writer, name);
        snprintf(name, sizeof(name), "x%zu", g->to[e]);
        vxs_tsv_text(&writer, name);
        vxs_tsv_real(&writer, 1);
        vxs_tsv_end_row(&writer);
        status = vxs_check_interrupted(l->context, err);
    }
    return status;
}

vxs_status vxs_simulate_fused(const vxs_context *context, const vxs_fused_simulation *settings,
                              const char *directory, bool replace, vxs_error *err)
{
    graph g = { .p = (size_t)settings->features };
    vxs_linear l = { .context = context,
                     .name = "fused",
                     .params = vxs_fused_simulation_params,
                     .settings = settings,
                     .seed = (uint64_t)settings->seed,
                     .n = (size_t)settings->subjects,
                     .p = g.p,
                     .noise = settings->noise,
                     .target = settings->target,
                     .balanced = true,
                     .draw = draw,
                     .more = "graph.tsv",
                     .write_more = write_graph,
                     .own = &g };
    vxs_status status = vxs_linear_make(&l, directory, replace, err);
    release(&g);
    return status;
}
