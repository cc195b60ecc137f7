/* Sums over subtrees against plain loops, and trees among columns that go together. */
#include "tests/core/check.h"
#include "tests/core/faults.h"

typedef struct {
    size_t n, p;
    float *x;
    double *v;
    vxs_graph graph;
    vxs_forest *forest;
    vxs_design *base, *tree;
} example;

/* Shapes of trees: node k hangs on node `above`, or on none. */
static size_t above(int shape, const vxs_random *random, size_t k)
{
    switch (shape) {
    case 0:
        return k - 1; /* a chain */
    case 1:
        return 0; /* a star */
    case 2:
        return (k - 1) / 2; /* a heap */
    case 3:
        return k > 20 ? k - 20 : SIZE_MAX; /* twenty chains, and many trees */
    case 4:
        return k % 30 ? k - k % 30 : k - 30; /* stars on a chain */
    default:
        return (size_t)(vxs_random_uniform(random, k) * (double)k);
    }
}
enum { SHAPES = 6 };

static example make(int shape, size_t n, size_t p, vxs_standardize way, int threads)
{
    vxs_error err = VXS_ERROR_INIT;
    vxs_random random = { .seed = 12, .stream = (uint64_t)shape };
    example e = { .n = n, .p = p };
    size_t edges = 0;
    e.x = malloc(n * p * sizeof(*e.x));
    e.v = malloc(3 * n * sizeof(*e.v));
    for (size_t k = 0; k < n * p; k++)
        e.x[k] = (float)(3 + vxs_random_normal(&random, k));
    for (size_t k = 0; k < 3 * n; k++)
        e.v[k] = vxs_random_normal(&random, n * p + k);
    WORKS(vxs_graph_new(p, p, &e.graph, &err), err);
    for (size_t k = 1; k < p; k++)
        if (above(shape, &random, k) != SIZE_MAX) {
            e.graph.from[edges] = k;
            e.graph.to[edges] = above(shape, &random, k);
            e.graph.weight[edges++] = 0.5 + (double)(k % 5);
        }
    e.graph.count = edges;
    e.forest = malloc(sizeof(*e.forest)); /* the design points to it */
    WORKS(vxs_forest_new(&e.graph, e.forest, &err), err);
    vxs_view view = { .standardize = way };
    WORKS(vxs_dense_new(e.x, n, p, threads, &e.base, &err), err);
    WORKS(vxs_view_new(e.base, false, &view, &e.base, &err), err);
    WORKS(vxs_subtree_sums_new(e.base, false, e.forest, &e.tree, &err), err);
    return e;
}

static void release(example *e)
{
    vxs_design_free(e->tree);
    vxs_forest_release(e->forest);
    free(e->forest);
    vxs_graph_release(&e->graph);
    free(e->x);
    free(e->v);
}

/* Column of the subtree at place k, by going up from every node. */
static void by_the_book(const example *e, size_t k, bool centered, double *column)
{
    const vxs_forest *f = e->forest;
    double weight = f->parent[k] == k ? 1 : f->weight[k];
    memset(column, 0, e->n * sizeof(*column));
    for (size_t j = 0; j < e->p; j++) {
        size_t top = j;
        const float *x = e->x + f->node[j] * e->n;
        double mean = 0;
        while (top != k && f->parent[top] != top)
            top = f->parent[top];
        for (size_t i = 0; i < e->n && centered; i++)
            mean += (double)x[i] / (double)e->n;
        for (size_t i = 0; i < e->n && top == k; i++)
            column[i] += ((double)x[i] - mean) / weight;
    }
}

static double dot(const double *a, const double *b, size_t n)
{
    double sum = 0;
    for (size_t i = 0; i < n; i++)
        sum += a[i] * b[i];
    return sum;
}

static void compare(const example *e, bool centered)
{
    vxs_error err = VXS_ERROR_INIT;
    const vxs_forest *f = e->forest;
    size_t n = e->n, p = vxs_design_columns(e->tree), c = 0, tree = 0;
    double *s = malloc(3 * p * sizeof(*s)), *first = malloc(p * sizeof(*first));
    double *some = malloc(p * sizeof(*some)), *block = malloc((p + 1) * n * sizeof(*block));
    size_t *set = malloc(p * sizeof(*set));
    for (size_t k = 0; k < p; k++)
        set[k] = p - 1 - k;
    WORKS(vxs_design_measure_scan(e->tree, e->v, first, &err), err);
    vxs_design_scan(e->tree, e->v, 3, s);
    vxs_design_scan_some(e->tree, set, p, e->v, some);
    vxs_design_fetch(e->tree, set, p, block);
    double *column = block + p * n;
    for (size_t k = 0; k < f->nodes; k++) {
        by_the_book(e, k, centered, column);
        double norm = sqrt(dot(column, column, n)), near = 1e-11 * (1 + norm) * sqrt((double)n);
        if (f->parent[k] == k) {
            const double *level = vxs_subtree_sums_totals(e->tree) + tree++ * n;
            for (size_t i = 0; i < n; i++)
                cr_assert(fabs(level[i] - column[i]) <= near);
            continue;
        }
        for (size_t i = 0; i < n; i++)
            cr_assert(fabs(block[(p - 1 - c) * n + i] - column[i]) <= near);
        for (size_t j = 0; j < 3; j++)
            cr_assert(fabs(s[j * p + c] - dot(column, e->v + j * n, n)) <= 3 * near);
        cr_assert(fabs(first[c] - s[c]) <= 3 * near && fabs(some[p - 1 - c] - s[c]) <= 3 * near);
        cr_assert(fabs(vxs_design_norms(e->tree)[c] - norm) <= near, "norm %zu: %g, not %g", c,
                  vxs_design_norms(e->tree)[c], norm);
        c++;
    }
    cr_assert(c == p && tree == f->trees);
    free(s);
    free(first);
    free(some);
    free(block);
    free(set);
}

Test(tree, is_what_plain_loops_say)
{
    static const size_t sizes[][2] = { { 1, 2 }, { 5, 40 }, { 70, 300 }, { 3, 700 } };
    for (int shape = 0; shape < SHAPES; shape++)
        for (size_t k = 0; k < sizeof(sizes) / sizeof(sizes[0]); k++) {
            bool centered = (shape + (int)k) % 2;
            example e =
                make(shape, sizes[k][0], sizes[k][1],
                     centered ? VXS_STANDARDIZE_CENTER : VXS_STANDARDIZE_NONE, 1 + shape % 3);
            compare(&e, centered);
            release(&e);
        }
}

/* A column is never more than some others, however large its subtree. */
Test(tree, columns_are_cheap)
{
    vxs_error err = VXS_ERROR_INIT;
    for (int shape = 0; shape < SHAPES; shape++) {
        example e = make(shape, 4, 3000, VXS_STANDARDIZE_CENTER, 1);
        double block[4];
        WORKS(vxs_design_measure(e.tree, &err), err);
        for (size_t j = 0; j < vxs_design_columns(e.tree); j++) {
            uint64_t before = vxs_design_read(e.tree);
            vxs_design_fetch(e.tree, &j, 1, block);
            cr_assert(vxs_design_read(e.tree) - before <= 64, "shape %d, column %zu", shape, j);
        }
        release(&e);
    }
}

Test(tree, threads_change_no_bit)
{
    vxs_error err = VXS_ERROR_INIT;
    for (int shape = 0; shape < SHAPES; shape++) {
        double *norms = NULL, s[2][400];
        for (int threads = 1; threads <= 3; threads += 2) {
            example e = make(shape, 150, 400, VXS_STANDARDIZE_CENTER, threads);
            size_t p = vxs_design_columns(e.tree);
            WORKS(vxs_design_measure_scan(e.tree, e.v, s[threads > 1], &err), err);
            if (norms) {
                cr_assert(memcmp(norms, vxs_design_norms(e.tree), p * sizeof(*norms)) == 0);
                cr_assert(memcmp(s[0], s[1], p * sizeof(*norms)) == 0);
            }
            free(norms);
            norms = malloc(p * sizeof(*norms));
            memcpy(norms, vxs_design_norms(e.tree), p * sizeof(*norms));
            release(&e);
        }
        free(norms);
    }
}

/* ---- Trees by correlation -------------------------------------------------------------------- */

static double correlation(const example *e, size_t a, size_t b)
{
    double x[64], y[64], mean_x = 0, mean_y = 0;
    for (size_t i = 0; i < e->n; i++) {
        x[i] = (double)e->x[a * e->n + i];
        y[i] = (double)e->x[b * e->n + i];
        mean_x += x[i] / (double)e->n;
        mean_y += y[i] / (double)e->n;
    }
    for (size_t i = 0; i < e->n; i++) {
        x[i] -= mean_x;
        y[i] -= mean_y;
    }
    double length = sqrt(dot(x, x, e->n) * dot(y, y, e->n));
    return length > 1e-10 ? fabs(dot(x, y, e->n)) / length : 0;
}

static double total_cost(const example *e, const vxs_graph *tree)
{
    double sum = 0;
    for (size_t k = 0; k < tree->count; k++)
        sum += 1 - correlation(e, tree->from[k], tree->to[k]);
    return sum;
}

/* Of all pairs by scans, and along the edges of the graph of all pairs: the same cost, and no other
 * tree is cheaper. */
Test(tree, of_correlations_is_the_cheapest)
{
    vxs_error err = VXS_ERROR_INIT;
    for (int way = 0; way < 3; way++) {
        example e = make(5, 20, 90, (vxs_standardize)way, 2);
        vxs_graph pairs, by_scans, by_edges, by_the_book;
        size_t count = 0;
        for (size_t i = 0; i < e.n; i++)
            e.x[7 * e.n + i] = 4; /* a constant column */
        WORKS(vxs_graph_new(e.p, e.p * (e.p - 1) / 2, &pairs, &err), err);
        double *cost = malloc(pairs.count * sizeof(*cost));
        for (size_t a = 0; a < e.p; a++)
            for (size_t b = 0; b < a; b++) {
                cost[count] = 1 - correlation(&e, a, b);
                pairs.from[count] = b;
                pairs.to[count++] = a;
            }
        WORKS(vxs_correlation_tree(NULL, e.base, NULL, &by_scans, &err), err);
        WORKS(vxs_correlation_tree(NULL, e.base, &pairs, &by_edges, &err), err);
        WORKS(vxs_graph_spanning_forest(&pairs, cost, &by_the_book, &err), err);
        double least = total_cost(&e, &by_the_book);
        cr_assert(by_scans.count == e.p - 1 && by_edges.count == e.p - 1);
        cr_assert(fabs(total_cost(&e, &by_scans) - least) < 1e-9);
        cr_assert(fabs(total_cost(&e, &by_edges) - least) < 1e-9);
        vxs_graph_release(&pairs);
        vxs_graph_release(&by_scans);
        vxs_graph_release(&by_edges);
        vxs_graph_release(&by_the_book);
        free(cost);
        release(&e);
    }
}

Test(tree, correlations_are_those_of_the_columns)
{
    vxs_error err = VXS_ERROR_INIT;
    double *first = NULL;
    for (int threads = 1; threads < 4; threads++) {
        example e = make(6, 15, 300, VXS_STANDARDIZE_CENTER, threads); /* more than a block */
        size_t p = e.p;
        double *r;
        for (size_t i = 0; i < e.n; i++)
            e.x[7 * e.n + i] = 4; /* a constant column */
        WORKS(vxs_correlations(NULL, e.base, &r, &err), err);
        for (size_t a = 0; a < p; a++)
            for (size_t b = 0; b <= a; b++) {
                double wanted = a == b ? 1 : correlation(&e, a, b);
                cr_assert(fabs(fabs(r[a * p + b]) - wanted) < 1e-9 && r[a * p + b] == r[b * p + a]);
            }
        cr_assert(!first || memcmp(first, r, p * p * sizeof(*r)) == 0, "threads change nothing");
        free(threads == 1 ? NULL : r);
        first = threads == 1 ? r : first;
        release(&e);
    }
    free(first);
}

static vxs_status make_tree(vxs_error *err)
{
    static const float x[12] = { 1, 2, 3, 4, 2, 1, 0, 5, 3, 3, 3, 3 };
    vxs_design *design = NULL;
    vxs_graph chain, tree = { .nodes = 0 };
    vxs_forest forest = { .nodes = 0 };
    vxs_status status = vxs_graph_chain(3, &chain, err);
    if (!status)
        status = vxs_dense_new(x, 4, 3, 1, &design, err);
    if (!status)
        status = vxs_correlation_tree(NULL, design, &chain, &tree, err);
    vxs_graph_release(&chain);
    if (!status) {
        vxs_graph_release(&tree);
        status = vxs_correlation_tree(NULL, design, NULL, &tree, err);
    }
    if (!status)
        status = vxs_forest_new(&tree, &forest, err);
    vxs_graph_release(&tree);
    vxs_design *made = NULL;
    if (!status)
        status = vxs_subtree_sums_new(design, true, &forest, &made, err);
    if (!status)
        status = vxs_design_measure(made, err);
    double *r = NULL;
    if (!status)
        status = vxs_correlations(NULL, design, &r, err);
    free(r);
    vxs_design_free(made);
    vxs_forest_release(&forest);
    vxs_design_free(design);
    return status;
}

Test(tree, no_memory_is_an_error)
{
    cr_assert(fail_each_request(make_tree) > 40);
}
