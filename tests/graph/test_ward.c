/* Ward's clusters: beside merging by hand, on graphs with several components, with any number of
 * threads, and where memory ends. */
#include "tests/core/check.h"
#include "tests/core/faults.h"
#include "voxsift/internal/graph.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { MOST = 24, SAMPLES = 13 };

static vxs_graph random_graph(const vxs_random *random, size_t nodes, size_t count)
{
    vxs_error err = VXS_ERROR_INIT;
    vxs_graph g;
    WORKS(vxs_graph_new(nodes, count, &g, &err), err);
    for (size_t e = 0; e < count; e++) {
        g.from[e] = (size_t)(vxs_random_uniform(random, 2 * e) * (double)nodes);
        g.to[e] = (size_t)(vxs_random_uniform(random, 2 * e + 1) * (double)nodes);
    }
    return g;
}

/* The sum of squares around the mean of the nodes in one of two clusters, from the nodes. */
static double spread(const float *value, size_t nodes, const uint32_t *cluster, uint32_t a,
                     uint32_t b)
{
    double sum = 0;
    for (size_t i = 0; i < SAMPLES; i++) {
        double mean = 0, count = 0;
        for (size_t k = 0; k < nodes; k++)
            if (cluster[k] == a || cluster[k] == b) {
                mean += (double)value[k * SAMPLES + i];
                count++;
            }
        mean /= count;
        for (size_t k = 0; k < nodes; k++)
            if (cluster[k] == a || cluster[k] == b)
                sum += pow((double)value[k * SAMPLES + i] - mean, 2);
    }
    return sum;
}

typedef struct {
    double cost;
    uint32_t a, b;
} cheapest;

static cheapest find_cheapest(const float *value, const vxs_graph *g, const uint32_t *cluster)
{
    cheapest least = { .cost = INFINITY };
    for (size_t e = 0; e < g->count; e++) {
        uint32_t x = cluster[g->from[e]], y = cluster[g->to[e]];
        if (x == y)
            continue;
        double cost = spread(value, g->nodes, cluster, x, y) -
                      spread(value, g->nodes, cluster, x, x) -
                      spread(value, g->nodes, cluster, y, y);
        if (cost < least.cost)
            least = (cheapest){ cost, x < y ? x : y, x < y ? y : x };
    }
    return least;
}

/* Merges by looking at every edge anew; the name of a cluster is its smallest node. */
static size_t merge_by_hand(const float *value, const vxs_graph *g, size_t count, uint32_t *cluster)
{
    size_t left = g->nodes;
    for (size_t k = 0; k < g->nodes; k++)
        cluster[k] = (uint32_t)k;
    for (; left > count; left--) {
        cheapest least = find_cheapest(value, g, cluster);
        if (least.cost == INFINITY)
            break;
        for (size_t k = 0; k < g->nodes; k++)
            cluster[k] = cluster[k] == least.b ? least.a : cluster[k];
    }
    return left;
}

static float *draw_values(const vxs_random *random, size_t nodes)
{
    float *value = calloc(nodes * SAMPLES, sizeof(*value));
    for (size_t k = 0; k < nodes * SAMPLES; k++)
        value[k] = (float)vxs_random_normal(random, 10000 + k);
    return value;
}

Test(ward, clusters_are_those_of_merging_by_hand)
{
    vxs_error err = VXS_ERROR_INIT;
    for (uint64_t trial = 0; trial < 300; trial++) {
        vxs_random random = { 11, trial };
        size_t nodes = 1 + trial % MOST, found = 0;
        size_t edges = (size_t)(vxs_random_uniform(&random, 5000) * 3 * (double)nodes);
        size_t count = 1 + (size_t)(vxs_random_uniform(&random, 5001) * (double)nodes);
        vxs_graph g = random_graph(&random, nodes, edges);
        float *value = draw_values(&random, nodes), *spent = draw_values(&random, nodes);
        uint32_t by_hand[MOST], cluster[MOST], next = 0;
        size_t left = merge_by_hand(value, &g, count, by_hand);
        WORKS(vxs_ward(NULL, &g, spent, SAMPLES, count, cluster, &found, &err), err);
        cr_assert_eq(found, left, "trial %d: %zu and %zu", (int)trial, found, left);
        for (size_t k = 0; k < nodes; k++) {
            for (size_t j = 0; j < k; j++)
                cr_assert_eq(cluster[j] == cluster[k], by_hand[j] == by_hand[k],
                             "trial %d: nodes %zu and %zu", (int)trial, j, k);
            cr_assert(cluster[k] <= next, "clusters are not in the order of their first nodes");
            next += cluster[k] == next;
        }
        cr_assert_eq(next, found);
        free(value);
        free(spent);
        vxs_graph_release(&g);
    }
}

Test(ward, threads_do_not_change_it_and_it_can_be_interrupted)
{
    vxs_error err = VXS_ERROR_INIT;
    vxs_random random = { 12, 0 };
    volatile int interrupted = 1;
    vxs_graph g;
    const size_t shape[3] = { 12, 12, 12 };
    enum { NODES = 12 * 12 * 12 };
    static size_t voxels[NODES];
    static uint32_t one[NODES], two[NODES];
    size_t found = 0;
    for (size_t k = 0; k < NODES; k++)
        voxels[k] = k;
    WORKS(vxs_graph_grid(shape, voxels, NODES, 6, &g, &err), err);
    float *value = draw_values(&random, NODES), *same = draw_values(&random, NODES);
    vxs_context context = { .nthreads = 1 };
    WORKS(vxs_ward(&context, &g, value, SAMPLES, 50, one, &found, &err), err);
    cr_assert_eq(found, 50);
    context.nthreads = 2;
    WORKS(vxs_ward(&context, &g, same, SAMPLES, 50, two, &found, &err), err);
    cr_assert_eq(memcmp(one, two, sizeof(one)), 0);
    context.interrupted = &interrupted;
    cr_assert_eq(vxs_ward(&context, &g, same, SAMPLES, 50, two, &found, &err), VXS_INTERRUPTED);
    free(value);
    free(same);
    vxs_graph_release(&g);
}

static vxs_status cluster_few(vxs_error *err)
{
    vxs_random random = { 13, 0 };
    vxs_graph g;
    uint32_t cluster[MOST];
    size_t found;
    float *value = vxs_alloc(MOST * SAMPLES, sizeof(*value), err);
    if (!value)
        return VXS_FAILED;
    for (size_t k = 0; k < MOST * SAMPLES; k++)
        value[k] = (float)vxs_random_normal(&random, k);
    vxs_status status = vxs_graph_chain(MOST, &g, err);
    if (!status)
        status = vxs_ward(NULL, &g, value, SAMPLES, 3, cluster, &found, err);
    vxs_graph_release(&g);
    free(value);
    return status;
}

Test(ward, each_request_for_memory_may_fail)
{
    cr_assert(fail_each_request(cluster_few) > MOST);
}
