/* learned.c - graphs estimated from data: by thresholded correlations, or by the graphical lasso
 * (glasso.c). */
#include "voxsift/internal/graph.h"

#include "core/union.h"

#include <math.h>
#include <stdlib.h>

#define MAX_STEPS       40
#define STEP_DOWN       0.8  /* factor of rho while T has too few edges */
#define MIN_RHO         1e-3 /* relative to the smallest rho without edges */
#define EDGES_TOLERANCE 200  /* tolerance of the number of edges: 1 / 200 */

/* ---- The strongest --------------------------------------------------------------------------- */

static int compare_decreasing(const void *a, const void *b)
{
    double left = *(const double *)a, right = *(const double *)b;
    return (left > right) - (left < right);
}

/* The `target`-th largest |S_ij|; -1 when out of memory. */
static double find_nth_largest(const double *s, size_t p, size_t target, vxs_error *err)
{
    size_t pairs = p * (p - 1) / 2, count = 0;
    double *sizes = vxs_alloc(pairs, sizeof(*sizes), err);
    if (!sizes)
        return -1;
    for (size_t j = 0; j < p; j++)
        for (size_t i = 0; i < j; i++)
            sizes[count++] = fabs(s[j * p + i]);
    qsort(sizes, pairs, sizeof(*sizes), compare_decreasing);
    double size = sizes[pairs - target];
    free(sizes);
    return size;
}

static void add_edge(vxs_graph *g, size_t *count, size_t i, size_t j)
{
    g->from[*count] = i;
    g->to[(*count)++] = j;
}

/* Lists all pairs with |S_ij| > least, then pairs equal to it as long as there is room. */
static void list_pairs(const double *s, vxs_graph *g, double least)
{
    size_t p = g->nodes, above = 0, count = 0;
    for (size_t i = 0; i < p; i++)
        for (size_t j = i + 1; j < p; j++)
            above += fabs(s[i * p + j]) > least;
    size_t room = g->count - above;
    for (size_t i = 0; i < p; i++)
        for (size_t j = i + 1; j < p; j++) {
            double size = fabs(s[i * p + j]);
            bool equal = size == least && room > 0;
            room -= equal;
            if (size > least || equal)
                add_edge(g, &count, i, j);
        }
}

vxs_status vxs_graph_strongest(const double *s, size_t p, size_t edges, vxs_graph *g,
                               vxs_error *err)
{
    size_t pairs = p > 1 ? p * (p - 1) / 2 : 0;
    edges = edges < pairs ? edges : pairs;
    vxs_status status = vxs_graph_new(p, edges, g, err);
    if (status || edges == 0)
        return status;
    double least = find_nth_largest(s, p, edges, err);
    if (least < 0) {
        vxs_graph_release(g);
        return VXS_FAILED;
    }
    list_pairs(s, g, least);
    return VXS_OK;
}

/* ---- Links between components ---------------------------------------------------------------- */

typedef struct {
    const double *s;
    size_t p;
    size_t *parent;
    double *best_correlation; /* largest correlation of a node with the tree */
    size_t *from;
    bool *connected;
    vxs_graph links;
} connector;

/* Adds the component of a node to the tree and updates best correlations of the other nodes. */
static void add_to_tree(connector *l, size_t node)
{
    size_t component = vxs_union_find(l->parent, node);
    for (size_t j = 0; j < l->p; j++) {
        if (l->connected[j] || vxs_union_find(l->parent, j) != component)
            continue;
        l->connected[j] = true;
        for (size_t k = 0; k < l->p; k++)
            if (!l->connected[k] && fabs(l->s[j * l->p + k]) > l->best_correlation[k]) {
                l->best_correlation[k] = fabs(l->s[j * l->p + k]);
                l->from[k] = j;
            }
    }
}

/* Prim's algorithm on connected components. */
static void run_prim(connector *l)
{
    add_to_tree(l, 0);
    while (true) {
        size_t next = l->p;
        for (size_t k = 0; k < l->p; k++)
            if (!l->connected[k] &&
                (next == l->p || l->best_correlation[k] > l->best_correlation[next]))
                next = k;
        if (next == l->p)
            return;
        add_edge(&l->links, &l->links.count, l->from[next], next);
        add_to_tree(l, next);
    }
}

vxs_status vxs_graph_connect(const double *s, vxs_graph *g, vxs_error *err)
{
    size_t p = g->nodes, components = p;
    connector l = { .s = s, .p = p, .parent = vxs_union_new(p, err) };
    l.best_correlation = l.parent ? vxs_alloc(p, sizeof(*l.best_correlation), err) : NULL;
    l.from = l.best_correlation ? vxs_alloc(p, sizeof(*l.from), err) : NULL;
    l.connected = l.from ? vxs_alloc(p, sizeof(*l.connected), err) : NULL;
    vxs_status status = l.connected ? VXS_OK : VXS_FAILED;
    for (size_t e = 0; e < g->count && !status; e++)
        components -= vxs_union_join(l.parent, g->from[e], g->to[e]);
    if (!status && components > 1)
        status = vxs_graph_new(p, components - 1, &l.links, err);
    if (!status && components > 1) {
        l.links.count = 0;
        for (size_t k = 0; k < p; k++)
            l.best_correlation[k] = -1; /* less than any correlation */
        run_prim(&l);
        status = vxs_graph_append(g, &l.links, err);
    }
    vxs_graph_release(&l.links);
    free(l.parent);
    free(l.best_correlation);
    free(l.from);
    free(l.connected);
    return status;
}

/* ---- Precision ------------------------------------------------------------------------------- */

typedef struct {
    const double *s;
    size_t p, target;
    double *t, *w, *best_t;
    vxs_precision best;
    double low, high; /* bracket of rho: with enough edges, or 0; with too few */
    double largest;   /* max |S_ij| */
} search;

static size_t distance(const search *q, size_t edges)
{
    return edges > q->target ? edges - q->target : q->target - edges;
}

/* The next rho, or 0 when there is none. */
static double next_rho(const search *q, double rho)
{
    if (distance(q, q->best.edges) <= q->target / EDGES_TOLERANCE)
        return 0;
    double next = q->low > 0 ? (q->low + q->high) / 2 : STEP_DOWN * rho;
    bool over = q->low > 0 ? q->high - q->low <= 1e-6 * q->high : next < MIN_RHO * q->largest;
    return over ? 0 : next;
}

static void record_result(search *q, const vxs_precision *found)
{
    if (found->edges >= q->target)
        q->low = fmax(q->low, found->rho);
    else
        q->high = fmin(q->high, found->rho);
    if (q->best.rho > 0 && distance(q, found->edges) >= distance(q, q->best.edges))
        return;
    q->best = *found;
    for (size_t e = 0; e < q->p * q->p; e++)
        q->best_t[e] = q->t[e];
}

static vxs_status run_search(const vxs_context *context, search *q, double first, double tol,
                             vxs_error *err)
{
    vxs_progress progress;
    vxs_status status = VXS_OK;
    uint64_t step = 0;
    vxs_progress_start(&progress, context, "learning the graph", "penalties", MAX_STEPS);
    for (double rho = first; rho > 0 && step + 1 < MAX_STEPS && !status; step++) {
        vxs_precision found;
        status = vxs_glasso(context, q->s, q->p, rho, tol, q->t, q->w, &found, err);
        if (!status) {
            record_result(q, &found);
            rho = next_rho(q, rho);
            status = vxs_progress_step(&progress, 1, err);
        }
    }
    return status ? status : vxs_progress_step(&progress, MAX_STEPS - step, err);
}

static vxs_status list_edges(const search *q, vxs_graph *g, vxs_error *err)
{
    size_t count = 0;
    vxs_status status = vxs_graph_new(q->p, q->best.edges, g, err);
    for (size_t i = 0; i < q->p && !status; i++)
        for (size_t j = i + 1; j < q->p; j++)
            if (q->best_t[i * q->p + j] != 0)
                add_edge(g, &count, i, j);
    return status;
}

vxs_status vxs_graph_precision(const vxs_context *context, const double *s, size_t p, size_t edges,
                               double tol, vxs_graph *g, vxs_precision *report, vxs_error *err)
{
    size_t pairs = p > 1 ? p * (p - 1) / 2 : 0;
    search q = { .s = s, .p = p, .target = edges < pairs ? edges : pairs };
    *g = (vxs_graph){ .nodes = 0 };
    *report = (vxs_precision){ .converged = true };
    if (q.target == 0)
        return vxs_graph_new(p, 0, g, err);
    q.largest = q.high = find_nth_largest(s, p, 1, err);
    double first = q.largest < 0 ? -1 : find_nth_largest(s, p, q.target, err);
    double *room = first < 0 ? NULL : vxs_alloc(vxs_times(3, p), vxs_times(p, sizeof(*room)), err);
    if (!room)
        return VXS_FAILED;
    q.t = room;
    q.w = room + p * p;
    q.best_t = room + 2 * p * p;
    vxs_status status = run_search(context, &q, fmax(first, MIN_RHO * q.largest), tol, err);
    if (!status)
        status = list_edges(&q, g, err);
    *report = q.best;
    free(room);
    return status;
}
