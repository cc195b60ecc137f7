/* learned.c - graphs of the pairs that go together: by a matrix of correlations itself, or by what
 * is left of them when all other columns are held (glasso.c). */
#include "voxsift/internal/graph.h"

#include "core/union.h"

#include <math.h>
#include <stdlib.h>

#define MOST_STEPS 40
#define STEP_DOWN  0.8  /* of rho, while there are too few edges */
#define LEAST_RHO  1e-3 /* of that without edges: below, hardly anything is sparse */
#define NEAR       200  /* a count of edges is right when it is off by a 200th */

/* ---- The strongest --------------------------------------------------------------------------- */

static int by_size(const void *a, const void *b)
{
    double left = *(const double *)a, right = *(const double *)b;
    return (left > right) - (left < right);
}

/* The size of the pair that is `wanted`-th from the top, of at least so many; -1: no memory. */
static double find_size(const double *s, size_t p, size_t wanted, vxs_error *err)
{
    size_t pairs = p * (p - 1) / 2, count = 0;
    double *sizes = vxs_alloc(pairs, sizeof(*sizes), err);
    if (!sizes)
        return -1;
    for (size_t j = 0; j < p; j++)
        for (size_t i = 0; i < j; i++)
            sizes[count++] = fabs(s[j * p + i]);
    qsort(sizes, pairs, sizeof(*sizes), by_size);
    double size = sizes[pairs - wanted];
    free(sizes);
    return size;
}

static void add_edge(vxs_graph *g, size_t *count, size_t i, size_t j)
{
    g->from[*count] = i;
    g->to[(*count)++] = j;
}

/* All pairs above that size, and of those that are equal to it the first for which there is room.
 */
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
    double least = find_size(s, p, edges, err);
    if (least < 0) {
        vxs_graph_release(g);
        return VXS_FAILED;
    }
    list_pairs(s, g, least);
    return VXS_OK;
}

/* ---- Links ----------------------------------------------------------------------------------- */

typedef struct {
    const double *s;
    size_t p;
    size_t *parent;
    double *best; /* of the ways from what is in */
    size_t *from;
    bool *in;
    vxs_graph links;
} linker;

/* A node comes in, together with its piece; those that are not in look whether it is nearer. */
static void take_in(linker *l, size_t node)
{
    size_t piece = vxs_union_find(l->parent, node);
    for (size_t j = 0; j < l->p; j++) {
        if (l->in[j] || vxs_union_find(l->parent, j) != piece)
            continue;
        l->in[j] = true;
        for (size_t k = 0; k < l->p; k++)
            if (!l->in[k] && fabs(l->s[j * l->p + k]) > l->best[k]) {
                l->best[k] = fabs(l->s[j * l->p + k]);
                l->from[k] = j;
            }
    }
}

/* Prim's algorithm, on pieces. */
static void grow(linker *l)
{
    take_in(l, 0);
    while (true) {
        size_t next = l->p;
        for (size_t k = 0; k < l->p; k++)
            if (!l->in[k] && (next == l->p || l->best[k] > l->best[next]))
                next = k;
        if (next == l->p)
            return;
        add_edge(&l->links, &l->links.count, l->from[next], next);
        take_in(l, next);
    }
}

vxs_status vxs_graph_link(const double *s, vxs_graph *g, vxs_error *err)
{
    size_t p = g->nodes, pieces = p;
    linker l = { .s = s, .p = p, .parent = vxs_union_new(p, err) };
    l.best = l.parent ? vxs_alloc(p, sizeof(*l.best), err) : NULL;
    l.from = l.best ? vxs_alloc(p, sizeof(*l.from), err) : NULL;
    l.in = l.from ? vxs_alloc(p, sizeof(*l.in), err) : NULL;
    vxs_status status = l.in ? VXS_OK : VXS_FAILED;
    for (size_t e = 0; e < g->count && !status; e++)
        pieces -= vxs_union_join(l.parent, g->from[e], g->to[e]);
    if (!status && pieces > 1)
        status = vxs_graph_new(p, pieces - 1, &l.links, err);
    if (!status && pieces > 1) {
        l.links.count = 0;
        for (size_t k = 0; k < p; k++)
            l.best[k] = -1; /* less than no correlation */
        grow(&l);
        status = vxs_graph_append(g, &l.links, err);
    }
    vxs_graph_release(&l.links);
    free(l.parent);
    free(l.best);
    free(l.from);
    free(l.in);
    return status;
}

/* ---- Precision ------------------------------------------------------------------------------- */

typedef struct {
    const double *s;
    size_t p, wanted;
    double *t, *w, *best_t;
    vxs_precision best;
    double low, high; /* of rho: with enough edges, or 0; with too few */
    double most;      /* |S_ij| */
} search;

static size_t distance(const search *q, size_t edges)
{
    return edges > q->wanted ? edges - q->wanted : q->wanted - edges;
}

/* The next rho, or 0 when there is none. */
static double next_rho(const search *q, double rho)
{
    if (distance(q, q->best.edges) <= q->wanted / NEAR)
        return 0;
    double next = q->low > 0 ? (q->low + q->high) / 2 : STEP_DOWN * rho;
    bool over = q->low > 0 ? q->high - q->low <= 1e-6 * q->high : next < LEAST_RHO * q->most;
    return over ? 0 : next;
}

static void take(search *q, const vxs_precision *found)
{
    if (found->edges >= q->wanted)
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
    vxs_progress_start(&progress, context, "learning the graph", "penalties", MOST_STEPS);
    for (double rho = first; rho > 0 && step + 1 < MOST_STEPS && !status; step++) {
        vxs_precision found;
        status = vxs_glasso(context, q->s, q->p, rho, tol, q->t, q->w, &found, err);
        if (!status) {
            take(q, &found);
            rho = next_rho(q, rho);
            status = vxs_progress_step(&progress, 1, err);
        }
    }
    return status ? status : vxs_progress_step(&progress, MOST_STEPS - step, err);
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
    search q = { .s = s, .p = p, .wanted = edges < pairs ? edges : pairs };
    *g = (vxs_graph){ .nodes = 0 };
    *report = (vxs_precision){ .converged = true };
    if (q.wanted == 0)
        return vxs_graph_new(p, 0, g, err);
    q.most = q.high = find_size(s, p, 1, err);
    double first = q.most < 0 ? -1 : find_size(s, p, q.wanted, err);
    double *room = first < 0 ? NULL : vxs_alloc(vxs_times(3, p), vxs_times(p, sizeof(*room)), err);
    if (!room)
        return VXS_FAILED;
    q.t = room;
    q.w = room + p * p;
    q.best_t = room + 2 * p * p;
    vxs_status status = run_search(context, &q, fmax(first, LEAST_RHO * q.most), tol, err);
    if (!status)
        status = list_edges(&q, g, err);
    *report = q.best;
    free(room);
    return status;
}
