/* Graphs against brute force: spanning trees, links between pieces, the order of forests. */
#include "tests/core/check.h"
#include "tests/core/faults.h"

static const uint64_t far = 1 << 20;

/* A number below `limit`. */
static size_t draw(const vxs_random *random, uint64_t index, size_t limit)
{
    return (size_t)(vxs_random_uniform(random, index) * (double)limit);
}

static vxs_graph random_graph(const vxs_random *random, size_t nodes, size_t count)
{
    vxs_error err = VXS_ERROR_INIT;
    vxs_graph g;
    WORKS(vxs_graph_new(nodes, count, &g, &err), err);
    for (size_t e = 0; e < count; e++) {
        g.from[e] = draw(random, 2 * e, nodes);
        g.to[e] = (g.from[e] + 1 + draw(random, 2 * e + 1, nodes - 1)) % nodes;
        g.weight[e] = (double)e;
    }
    return g;
}

/* The pieces that edges of a set make, by giving both ends the smaller name until nothing moves. */
static size_t count_pieces(const vxs_graph *g, unsigned set, size_t *name)
{
    size_t pieces = 0;
    bool moved = true;
    for (size_t k = 0; k < g->nodes; k++)
        name[k] = k;
    while (moved) {
        moved = false;
        for (size_t e = 0; e < g->count; e++) {
            size_t a = g->from[e], b = g->to[e], least = name[a] < name[b] ? name[a] : name[b];
            if (set >> e & 1 && name[a] != name[b]) {
                name[a] = name[b] = least;
                moved = true;
            }
        }
    }
    for (size_t k = 0; k < g->nodes; k++)
        pieces += name[k] == k;
    return pieces;
}

Test(graph, spanning_trees_are_the_cheapest)
{
    vxs_error err = VXS_ERROR_INIT;
    for (uint64_t trial = 0; trial < 200; trial++) {
        vxs_random random = { 5, trial };
        size_t nodes = 2 + draw(&random, far, 5), count = draw(&random, far + 1, 10), name[8];
        vxs_graph g = random_graph(&random, nodes, count), tree;
        double cost[16], least = INFINITY, sum = 0;
        for (size_t e = 0; e < count; e++)
            cost[e] = (double)draw(&random, far + 2 + e, 4); /* with ties */
        size_t pieces = count_pieces(&g, ~0U, name);
        for (unsigned set = 0; set < 1U << count; set++) {
            double total = 0;
            for (size_t e = 0; e < count; e++)
                total += set >> e & 1 ? cost[e] : 0;
            if (count_pieces(&g, set, name) == pieces)
                least = fmin(least, total);
        }
        WORKS(vxs_graph_spanning_forest(&g, cost, &tree, &err), err);
        for (size_t e = 0; e < tree.count; e++) {
            size_t edge = (size_t)tree.weight[e]; /* weights stay with their edges */
            cr_assert(tree.from[e] == g.from[edge] && tree.to[e] == g.to[edge]);
            sum += cost[edge];
        }
        cr_assert(tree.count == nodes - pieces && count_pieces(&tree, ~0U, name) == pieces);
        cr_assert(sum == least, "trial %d: %g, not %g", (int)trial, sum, least);
        size_t edge;
        WORKS(vxs_graph_find_cycle(&tree, &edge, &err), err);
        cr_assert(edge == tree.count);
        WORKS(vxs_graph_find_cycle(&g, &edge, &err), err);
        cr_assert((edge == g.count) == (count == nodes - pieces));
        vxs_graph_release(&g);
        vxs_graph_release(&tree);
    }
}

static size_t steps_between(const size_t shape[3], size_t a, size_t b)
{
    size_t steps = 0;
    for (int d = 0; d < 3; d++) {
        size_t x = a % shape[d], y = b % shape[d];
        steps += x > y ? x - y : y - x;
        a /= shape[d];
        b /= shape[d];
    }
    return steps;
}

/* The cheapest way to hang the pieces together, by trying the nearest pair again and again. */
static size_t least_length(const size_t shape[3], const size_t *voxels, size_t count)
{
    size_t *name = malloc(count * sizeof(*name)), total = 0;
    for (size_t k = 0; k < count; k++)
        name[k] = k;
    for (size_t joined = 1; joined < count; joined++) {
        size_t best = SIZE_MAX, from = 0, to = 0;
        for (size_t a = 0; a < count; a++)
            for (size_t b = 0; b < a; b++) {
                size_t steps = steps_between(shape, voxels[a], voxels[b]);
                if (name[a] != name[b] && steps < best) {
                    best = steps;
                    from = name[a];
                    to = name[b];
                }
            }
        for (size_t k = 0; k < count; k++)
            name[k] = name[k] == from ? to : name[k];
        total += best;
    }
    free(name);
    return total;
}

Test(graph, grids_have_faces_and_the_shortest_links)
{
    vxs_error err = VXS_ERROR_INIT;
    const size_t shape[3] = { 7, 5, 6 };
    for (uint64_t trial = 0; trial < 60; trial++) {
        vxs_random random = { 6, trial };
        size_t voxels[210], count = 0, faces = 0, total = 0, loop;
        for (size_t v = 0; v < 210; v++)
            if (vxs_random_uniform(&random, v) < 0.05 + 0.9 * (double)trial / 60 || v == 100)
                voxels[count++] = v;
        for (size_t a = 0; a < count; a++)
            for (size_t b = 0; b < a; b++)
                faces += steps_between(shape, voxels[a], voxels[b]) == 1;
        vxs_graph g, tree;
        WORKS(vxs_graph_grid(shape, voxels, count, 6, &g, &err), err);
        double *cost = malloc((g.count + 1) * sizeof(*cost));
        for (size_t e = 0; e < g.count; e++) {
            cost[e] = (double)steps_between(shape, voxels[g.from[e]], voxels[g.to[e]]);
            cr_assert(e >= faces || cost[e] == 1, "faces first");
            cr_assert(e < faces || cost[e] > 1, "links behind");
        }
        WORKS(vxs_graph_spanning_forest(&g, cost, &tree, &err), err);
        cr_assert(tree.count == count - 1, "it hangs together");
        WORKS(vxs_graph_find_cycle(&tree, &loop, &err), err);
        cr_assert(loop == tree.count);
        for (size_t e = 0; e < tree.count; e++)
            total += steps_between(shape, voxels[tree.from[e]], voxels[tree.to[e]]);
        cr_assert(total == least_length(shape, voxels, count), "trial %d", (int)trial);
        free(cost);
        vxs_graph_release(&g);
        vxs_graph_release(&tree);
    }
}

static bool are_neighbors(const size_t shape[3], size_t a, size_t b, size_t most)
{
    size_t steps = steps_between(shape, a, b);
    for (int d = 0; d < 3; d++) {
        size_t x = a % shape[d], y = b % shape[d];
        if ((x > y ? x - y : y - x) > 1)
            return false;
        a /= shape[d];
        b /= shape[d];
    }
    return steps > 0 && steps <= most;
}

Test(graph, edges_and_corners_have_links_as_well)
{
    vxs_error err = VXS_ERROR_INIT;
    const size_t shape[3] = { 6, 5, 7 };
    for (uint64_t trial = 0; trial < 60; trial++) {
        vxs_random random = { 8, trial };
        size_t voxels[210], count = 0, pairs = 0, most = 1 + trial % 3, loop;
        for (size_t v = 0; v < 210; v++)
            if (vxs_random_uniform(&random, v) < 0.03 + 0.3 * (double)trial / 60 || v == 100)
                voxels[count++] = v;
        for (size_t a = 0; a < count; a++)
            for (size_t b = 0; b < a; b++)
                pairs += are_neighbors(shape, voxels[a], voxels[b], most);
        vxs_graph g, plain, links;
        int connectivity = most == 1 ? 6 : most == 2 ? 18 : 26;
        WORKS(vxs_graph_grid(shape, voxels, count, connectivity, &g, &err), err);
        WORKS(vxs_graph_neighbors(shape, voxels, count, connectivity, &plain, &err), err);
        cr_assert(plain.count == pairs && g.count >= pairs);
        for (size_t e = 0; e < pairs; e++)
            cr_assert(g.from[e] == plain.from[e] && g.to[e] == plain.to[e] &&
                      are_neighbors(shape, voxels[g.from[e]], voxels[g.to[e]], most));
        double *cost = calloc(g.count + 1, sizeof(*cost));
        for (size_t e = 0; e < g.count; e++) {
            cost[e] = e < pairs ? 0 : 1;
            cr_assert(g.weight[e] == 1);
        }
        WORKS(vxs_graph_spanning_forest(&g, cost, &links, &err), err);
        cr_assert(links.count == count - 1, "it hangs together");
        WORKS(vxs_graph_find_cycle(&links, &loop, &err), err);
        double used = 0;
        for (size_t e = 0; e < g.count; e++)
            used += cost[e];
        size_t name[210], pieces = 0;
        for (size_t k = 0; k < count; k++)
            name[k] = k;
        for (size_t pass = 0; pass < count; pass++)
            for (size_t e = 0; e < pairs; e++) {
                size_t a = name[plain.from[e]], b = name[plain.to[e]], least = a < b ? a : b;
                name[plain.from[e]] = name[plain.to[e]] = least;
            }
        for (size_t k = 0; k < count; k++)
            pieces += name[k] == k;
        cr_assert(used == (double)pieces - 1, "no more links than are needed");
        free(cost);
        vxs_graph_release(&g);
        vxs_graph_release(&plain);
        vxs_graph_release(&links);
    }
}

/* Is place k below place top, by going up? */
static bool is_below(const vxs_forest *f, size_t k, size_t top)
{
    while (k != top && f->parent[k] != k)
        k = f->parent[k];
    return k == top;
}

static void check_places(const vxs_forest *f)
{
    for (size_t k = 0; k < f->nodes; k++) {
        size_t end = k + f->size[k], size = 0, largest = 0, last = 0;
        for (size_t j = 0; j < f->nodes; j++) {
            bool below = is_below(f, j, k);
            size += below;
            cr_assert(below == (j >= k && j < end), "a subtree is a run of places");
            if (f->parent[j] != k || j == k)
                continue;
            largest = f->size[j] > largest ? f->size[j] : largest;
            last = f->size[j];
        }
        cr_assert(size == f->size[k] && last == largest, "the largest child is the last");
    }
}

Test(graph, forests_number_subtrees_in_runs)
{
    vxs_error err = VXS_ERROR_INIT;
    for (uint64_t trial = 0; trial < 100; trial++) {
        vxs_random random = { 7, trial };
        size_t nodes = 1 + draw(&random, far, 40), edges = 0;
        double *cost = calloc(3 * nodes, sizeof(*cost));
        vxs_graph g = random_graph(&random, nodes + 1, 3 * nodes), tree;
        vxs_forest f;
        WORKS(vxs_graph_spanning_forest(&g, cost, &tree, &err), err);
        tree.count -= trial % 3 < tree.count ? trial % 3 : 0; /* several trees */
        WORKS(vxs_forest_new(&tree, &f, &err), err);
        cr_assert(f.trees == f.nodes - tree.count);
        check_places(&f);
        for (size_t k = 0; k < f.nodes; k++)
            for (size_t e = 0; e < tree.count; e++) {
                size_t a = f.node[k], b = f.node[f.parent[k]];
                bool same = (tree.from[e] == a && tree.to[e] == b) ||
                            (tree.from[e] == b && tree.to[e] == a);
                cr_assert(!same || f.weight[k] == tree.weight[e]);
                edges += same;
            }
        cr_assert(edges == tree.count, "every edge leads to a parent");
        free(cost);
        vxs_graph_release(&g);
        vxs_graph_release(&tree);
        vxs_forest_release(&f);
    }
}

Test(graph, loops_are_refused)
{
    vxs_error err = VXS_ERROR_INIT;
    size_t from[3] = { 0, 1, 2 }, to[3] = { 1, 2, 0 };
    double weight[3] = { 1, 1, 1 };
    vxs_graph g = { .nodes = 3, .count = 3, .from = from, .to = to, .weight = weight };
    vxs_forest f;
    REFUSES(vxs_forest_new(&g, &f, &err), err, VXS_BAD_DATA, "between features 2 and 0");
    to[2] = 2;
    REFUSES(vxs_forest_new(&g, &f, &err), err, VXS_BAD_DATA, "between features 2 and 2");
}

static vxs_status make_all(vxs_error *err)
{
    static const size_t shape[3] = { 4, 3, 2 }, voxels[5] = { 0, 1, 7, 20, 23 };
    vxs_graph g, tree = { .nodes = 0 };
    vxs_forest f = { .nodes = 0 };
    double cost[16] = { 0 };
    vxs_status status = vxs_graph_grid(shape, voxels, 5, 6, &g, err);
    if (!status)
        status = vxs_graph_spanning_forest(&g, cost, &tree, err);
    if (!status)
        status = vxs_forest_new(&tree, &f, err);
    vxs_graph_release(&g);
    vxs_graph_release(&tree);
    vxs_forest_release(&f);
    return status;
}

/* Shapes whose cells are no number, and voxels that are none of them: refused before anything is
 * divided by a shape or written to a cell. */
Test(graph, grids_that_are_none_are_refused)
{
    const size_t huge = (size_t)1 << 40, half = (size_t)1 << 32;
    const size_t fine[] = { 0, 1, 2, 5 }, off[] = { 0, 1, 2, 27 }, down[] = { 5, 2, 1, 0 };
    const size_t farther[] = { 0, 1, 2, 400000000 }, twice[] = { 0, 1, 1, 2 };
    const struct {
        size_t shape[3];
        const size_t *voxels;
        const char *part;
    } cases[] = {
        { { 0, 3, 3 }, fine, "a grid of 0 x 3 x 3 voxels" },
        { { 3, 3, 0 }, fine, "a grid of 3 x 3 x 0 voxels" },
        { { 3, huge, huge }, fine, "a grid of 3 x 1099511627776 x 1099511627776 voxels" },
        { { half, half, 1 }, fine, "a grid of 4294967296 x 4294967296 x 1 voxels" },
        { { 3, 3, 3 }, off, "voxel 27 is off the grid of 3 x 3 x 3 voxels" },
        { { 3, 3, 3 }, farther, "voxel 400000000 is off the grid" },
        { { 3, 3, 3 }, down, "voxel 2 follows voxel 5; they must ascend" },
        { { 3, 3, 3 }, twice, "voxel 1 follows voxel 1; they must ascend" },
        { { 3, 3, 3 }, NULL, "4 voxels without indices" },
    };
    const double step[3][3] = { { 1, 0, 0 }, { 0, 1, 0 }, { 0, 0, 1 } };
    vxs_error err = VXS_ERROR_INIT;
    vxs_graph g;
    vxs_groups groups;
    for (size_t k = 0; k < sizeof(cases) / sizeof(cases[0]); k++) {
        const size_t *shape = cases[k].shape, *voxels = cases[k].voxels;
        REFUSES(vxs_graph_grid(shape, voxels, 4, 6, &g, &err), err, VXS_MISUSE, cases[k].part);
        REFUSES(vxs_graph_neighbors(shape, voxels, 4, 6, &g, &err), err, VXS_MISUSE, cases[k].part);
        REFUSES(vxs_groups_spheres(shape, voxels, 4, step, 1, &groups, &err), err, VXS_MISUSE,
                cases[k].part);
        cr_assert(!g.from && !groups.begin);
    }
}

Test(graph, neighbors_share_faces_edges_or_corners)
{
    static const int bad[] = { 7, 0, -6, 27, 8 };
    const size_t shape[3] = { 3, 3, 3 }, voxels[] = { 0, 1, 2, 5 };
    vxs_error err = VXS_ERROR_INIT;
    vxs_graph g;
    for (size_t k = 0; k < 5; k++) {
        char part[100];
        snprintf(part, sizeof(part), "connectivity is 6, 18 or 26, not %d", bad[k]);
        REFUSES(vxs_graph_grid(shape, voxels, 4, bad[k], &g, &err), err, VXS_MISUSE, part);
    }
}

Test(graph, no_memory_is_an_error)
{
    cr_assert(fail_each_request(make_all) > 20);
}
