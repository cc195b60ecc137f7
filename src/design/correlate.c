/* correlate.c - correlations of columns, and maximum spanning trees of them.
 *
 * For the edges of a graph, columns are fetched block by block (Kruskal). For all pairs, one scan
 * gives the correlations of all columns with the latest node of the tree (Prim): p scans without
 * storage. vxs_correlations holds all columns in memory and multiplies blocks in parallel. The
 * design's weights apply: rows are multiplied by their square roots. */
#include "design/design.h"

#include <cblas.h>
#include <math.h>
#include <stdlib.h>

#define BLOCK 256 /* edges, hence at most twice as many columns */

typedef struct {
    vxs_design *design;
    size_t n, p;
    double *block; /* n x 2 BLOCK */
} correlator;

/* Multiplies each value by the square root of its row's weight. */
static void scale_rows(const vxs_design *design, double *x)
{
    for (size_t i = 0; i < design->n && design->weights; i++)
        x[i] *= sqrt(design->weights[i]);
}

/* Centers x and scales it to norm 1; a constant column becomes 0. Returns the norm of the centered
 * column. */
static double standardize(const vxs_design *design, double *x)
{
    size_t n = design->n;
    const double *u = design->weights;
    double mean = 0, square = 0, whole = 0, total = u ? 0 : (double)n;
    for (size_t i = 0; i < n && u; i++)
        total += u[i];
    for (size_t i = 0; i < n; i++)
        mean += (u ? u[i] : 1) * x[i] / total;
    for (size_t i = 0; i < n; i++) {
        whole += (u ? u[i] : 1) * x[i] * x[i];
        x[i] -= mean;
        square += (u ? u[i] : 1) * x[i] * x[i];
    }
    bool varies = square > 1e-24 * whole;
    double norm = varies ? sqrt(square) : 0;
    for (size_t i = 0; i < n; i++)
        x[i] = varies ? x[i] / norm : 0;
    scale_rows(design, x);
    return norm;
}

/* ---- Along the edges of a graph -------------------------------------------------------------- */

static int compare_size(const void *a, const void *b)
{
    size_t left = *(const size_t *)a, right = *(const size_t *)b;
    return (left > right) - (left < right);
}

/* Lists the distinct endpoints of edges [first, last), ascending. */
static size_t list_ends(const vxs_graph *g, size_t first, size_t last, size_t *ends)
{
    size_t count = 0, kept = 0;
    for (size_t e = first; e < last; e++) {
        ends[count++] = g->from[e];
        ends[count++] = g->to[e];
    }
    qsort(ends, count, sizeof(*ends), compare_size);
    for (size_t k = 0; k < count; k++)
        if (k == 0 || ends[k] != ends[k - 1])
            ends[kept++] = ends[k];
    return kept;
}

static size_t find(const size_t *ends, size_t count, size_t node)
{
    const size_t *found = bsearch(&node, ends, count, sizeof(*ends), compare_size);
    return (size_t)(found - ends);
}

static void compute_costs(const correlator *c, const vxs_graph *g, size_t first, size_t last,
                          double *cost)
{
    size_t ends[2 * BLOCK], count = list_ends(g, first, last, ends), n = c->n;
    vxs_design_fetch(c->design, ends, count, c->block);
#pragma omp parallel for num_threads(c->design->nthreads) schedule(static)
    for (size_t k = 0; k < count; k++)
        (void)standardize(c->design, c->block + k * n);
#pragma omp parallel for num_threads(c->design->nthreads) schedule(static)
    for (size_t e = first; e < last; e++) {
        const double *a = c->block + find(ends, count, g->from[e]) * n;
        const double *b = c->block + find(ends, count, g->to[e]) * n;
        cost[e] = 1 - fabs(cblas_ddot((int)n, a, 1, b, 1));
    }
}

static vxs_status find_graph_tree(const vxs_context *context, const correlator *c,
                                  const vxs_graph *g, vxs_graph *tree, vxs_error *err)
{
    double *cost = vxs_alloc(g->count, sizeof(*cost), err);
    vxs_status status = cost ? VXS_OK : VXS_FAILED;
    vxs_progress progress;
    vxs_progress_start(&progress, context, "correlating", "edges", g->count);
    for (size_t first = 0; first < g->count && !status; first += BLOCK) {
        size_t last = first + BLOCK < g->count ? first + BLOCK : g->count;
        compute_costs(c, g, first, last, cost);
        status = vxs_progress_step(&progress, last - first, err);
    }
    if (!status)
        status = vxs_graph_spanning_forest(g, cost, tree, err);
    free(cost);
    return status;
}

/* ---- Among all pairs ------------------------------------------------------------------------- */

typedef struct {
    double *norm, *scan;
    double *cost;    /* of the shortest edge to the tree */
    size_t *nearest; /* node of the tree at the other end */
    bool *in_tree;
} prim;

static void find_norms(const correlator *c, prim *m)
{
    size_t set[BLOCK];
    for (size_t first = 0; first < c->p; first += BLOCK) {
        size_t count = c->p - first < BLOCK ? c->p - first : BLOCK;
        for (size_t k = 0; k < count; k++)
            set[k] = first + k;
        vxs_design_fetch(c->design, set, count, c->block);
        for (size_t k = 0; k < count; k++)
            m->norm[first + k] = standardize(c->design, c->block + k * c->n);
    }
}

/* Adds column j to the tree; returns the nearest column outside. */
static size_t add_to_tree(const correlator *c, prim *m, size_t j)
{
    size_t best = c->p;
    m->in_tree[j] = true;
    vxs_design_fetch(c->design, &j, 1, c->block);
    (void)standardize(c->design, c->block);
    scale_rows(c->design, c->block);
    vxs_design_scan(c->design, c->block, 1, m->scan);
    for (size_t k = 0; k < c->p; k++) {
        if (m->in_tree[k])
            continue;
        double cost = m->norm[k] > 0 ? 1 - fabs(m->scan[k]) / m->norm[k] : 1;
        if (cost < m->cost[k]) {
            m->cost[k] = cost;
            m->nearest[k] = j;
        }
        if (best == c->p || m->cost[k] < m->cost[best])
            best = k;
    }
    return best;
}

static vxs_status run_prim(const vxs_context *context, const correlator *c, prim *m,
                           vxs_graph *tree, vxs_error *err)
{
    vxs_progress progress;
    vxs_status status = VXS_OK;
    vxs_progress_start(&progress, context, "correlating", "features", c->p - 1);
    find_norms(c, m);
    for (size_t k = 0; k < c->p; k++)
        m->cost[k] = INFINITY;
    for (size_t e = 0, j = 0; e < tree->count && !status; e++) {
        j = add_to_tree(c, m, j);
        tree->from[e] = m->nearest[j];
        tree->to[e] = j;
        status = vxs_progress_step(&progress, 1, err);
    }
    return status;
}

static vxs_status find_complete_tree(const vxs_context *context, const correlator *c,
                                     vxs_graph *tree, vxs_error *err)
{
    prim m = { .norm = vxs_alloc(c->p, sizeof(*m.norm), err) };
    m.scan = vxs_alloc(c->p, sizeof(*m.scan), err);
    m.cost = vxs_alloc(c->p, sizeof(*m.cost), err);
    m.nearest = vxs_alloc(c->p, sizeof(*m.nearest), err);
    m.in_tree = vxs_alloc(c->p, sizeof(*m.in_tree), err);
    vxs_status status = m.norm && m.scan && m.cost && m.nearest && m.in_tree
                            ? vxs_graph_new(c->p, c->p - 1, tree, err)
                            : VXS_FAILED;
    if (!status)
        status = run_prim(context, c, &m, tree, err);
    free(m.norm);
    free(m.scan);
    free(m.cost);
    free(m.nearest);
    free(m.in_tree);
    return status;
}

vxs_status vxs_correlation_tree(const vxs_context *context, vxs_design *design,
                                const vxs_graph *graph, vxs_graph *tree, vxs_error *err)
{
    correlator c = { .design = design, .n = design->n, .p = design->p };
    *tree = (vxs_graph){ .nodes = 0 };
    vxs_status status = vxs_design_measure(design, err);
    if (status)
        return status;
    c.block = vxs_alloc((size_t)2 * BLOCK, vxs_times(c.n, sizeof(*c.block)), err);
    status = !c.block ? VXS_FAILED
             : graph  ? find_graph_tree(context, &c, graph, tree, err)
                      : find_complete_tree(context, &c, tree, err);
    free(c.block);
    if (status)
        vxs_graph_release(tree);
    return status;
}

/* ---- All correlations ------------------------------------------------------------------------ */

static void fetch_all(vxs_design *design, double *columns)
{
    size_t set[BLOCK], n = design->n, p = design->p;
    for (size_t first = 0; first < p; first += BLOCK) {
        size_t count = p - first < BLOCK ? p - first : BLOCK;
        for (size_t k = 0; k < count; k++)
            set[k] = first + k;
        vxs_design_fetch(design, set, count, columns + first * n);
    }
#pragma omp parallel for num_threads(design->nthreads) schedule(static)
    for (size_t j = 0; j < p; j++)
        (void)standardize(design, columns + j * n);
}

/* Computes the correlations of columns first ... last - 1 with columns 0 ... last - 1, both
 * triangles. */
static void correlate_block(const double *columns, size_t n, size_t p, size_t first, size_t last,
                            double *r)
{
    cblas_dgemm(CblasColMajor, CblasTrans, CblasNoTrans, (int)last, (int)(last - first), (int)n, 1,
                columns, (int)n, columns + first * n, (int)n, 0, r + first * p, (int)p);
    for (size_t j = first; j < last; j++) {
        for (size_t i = 0; i < j; i++)
            r[i * p + j] = r[j * p + i];
        r[j * p + j] = 1;
    }
}

vxs_status vxs_correlations(const vxs_context *context, vxs_design *design, double **correlations,
                            vxs_error *err)
{
    size_t n = design->n, p = design->p, blocks = (p + BLOCK - 1) / BLOCK;
    *correlations = NULL;
    vxs_status status = vxs_design_measure(design, err);
    double *columns = status ? NULL : vxs_alloc(p, vxs_times(n, sizeof(*columns)), err);
    double *r = columns ? vxs_alloc(p, vxs_times(p, sizeof(*r)), err) : NULL;
    vxs_progress progress;
    vxs_progress_start(&progress, context, "correlating", "features", p);
    if (r)
        fetch_all(design, columns);
    if (!status && !r)
        status = VXS_FAILED;
#pragma omp parallel for num_threads(design->nthreads) schedule(dynamic) if (!status)
    for (size_t b = 0; b < blocks; b++) {
        size_t first = b * BLOCK, last = first + BLOCK < p ? first + BLOCK : p;
        if (!r || vxs_check_interrupted(context, NULL))
            continue; /* the next progress step returns the error */
        correlate_block(columns, n, p, first, last, r);
    }
    if (!status)
        status = vxs_progress_step(&progress, p, err);
    free(columns);
    if (status)
        free(r);
    else
        *correlations = r;
    return status;
}
