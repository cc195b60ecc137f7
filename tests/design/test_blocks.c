/* Units against brute force: what is best is what their columns say, whatever the kind. */
#include "tests/core/faults.h"
#include "tests/design/blocks.h"

#include "design/blocks.h"

#include <pthread.h>

static const size_t shapes[][2] = { { 1, 1 }, { 7, 2 }, { 40, 0 }, { 3, 70 }, { 33, 130 } };
enum { SHAPES = sizeof(shapes) / sizeof(shapes[0]) };

static void check_kind(const example *e, const vxs_feature_map *map, int way)
{
    static const size_t mosts[] = { 0, 1, 5, 60, 100000 };
    vxs_error err = VXS_ERROR_INIT;
    vxs_design *designs[2] = { blocks_design(e, way, 1), blocks_design(e, way, 2) };
    vxs_blocks *blocks[2];
    for (int t = 0; t < 2; t++)
        WORKS(vxs_blocks_new(NULL, designs[t], map, &blocks[t], &err), err);
    cr_assert(vxs_blocks_count(blocks[0]) == vxs_feature_map_count(map, e->p));
    for (size_t k = 0; k < sizeof(mosts) / sizeof(mosts[0]); k++) {
        blocks_agree(blocks[1], e->v, mosts[k]);
        blocks_same(blocks[0], blocks[1], e->v, mosts[k]);
    }
    units_fewer_are_the_first(blocks[1], e->v, mosts, sizeof(mosts) / sizeof(mosts[0]));
    for (int t = 0; t < 2; t++) {
        vxs_blocks_free(blocks[t]);
        vxs_design_free(designs[t]);
    }
}

Test(blocks, the_best_are_those_that_brute_force_finds)
{
    for (size_t k = 0; k < SHAPES * MAPS * WAYS; k++) {
        size_t shape = k / MAPS / WAYS;
        example e = blocks_example(k, shapes[shape][0], shapes[shape][1]);
        check_kind(&e, &blocks_maps[k / WAYS % MAPS], (int)(k % WAYS));
        blocks_release(&e);
    }
}

/* ---- Ties ------------------------------------------------------------------------------------ */

/* Nothing is better than anything else: the first ones are taken. */
Test(blocks, without_a_direction_the_first_are_the_best)
{
    vxs_error err = VXS_ERROR_INIT;
    example e = blocks_example(1, 20, 30);
    vxs_scored best[50];
    size_t count;
    memset(e.v, 0, e.n * sizeof(*e.v));
    vxs_design *design = blocks_design(&e, STANDARDISED, 2);
    for (size_t m = 0; m < MAPS; m++) {
        vxs_blocks *blocks;
        WORKS(vxs_blocks_new(NULL, design, &blocks_maps[m], &blocks, &err), err);
        WORKS(vxs_blocks_best(blocks, e.v, 50, best, &count, &err), err);
        cr_assert(count == (vxs_blocks_count(blocks) < 50 ? vxs_blocks_count(blocks) : 50));
        for (size_t k = 0; k < count; k++)
            cr_assert(best[k].index == k && best[k].score == 0, "map %zu, place %zu: %zu", m, k,
                      best[k].index);
        vxs_blocks_free(blocks);
    }
    vxs_design_free(design);
    blocks_release(&e);
}

Test(blocks, columns_that_are_the_same_share_a_score)
{
    vxs_error err = VXS_ERROR_INIT;
    example e = blocks_example(2, 25, 14);
    vxs_scored best[200];
    vxs_design *design = blocks_design(&e, STANDARDISED, 2);
    for (size_t m = 0; m < MAPS; m++) {
        vxs_blocks *blocks;
        double scores[200];
        size_t count, pairs = 0, feature[2];
        WORKS(vxs_blocks_new(NULL, design, &blocks_maps[m], &blocks, &err), err);
        WORKS(vxs_blocks_best(blocks, e.v, 200, best, &count, &err), err);
        for (size_t k = 0; k < count; k++)
            scores[best[k].index] = best[k].score;
        cr_assert(scores[1] == scores[6], "map %zu: columns 1 and 6 are the same", m);
        for (size_t u = 0; u < count && blocks_maps[m].kind == VXS_FEATURE_MAP_POLY2; u++) {
            vxs_feature_map_features(&blocks_maps[m], e.p, u, feature);
            if (u < 2 * e.p || feature[0] != 6)
                continue;
            for (size_t w = 2 * e.p; w < u; w++) {
                size_t other[2];
                vxs_feature_map_features(&blocks_maps[m], e.p, w, other);
                if (other[0] == 1 && other[1] == feature[1]) {
                    cr_assert(scores[u] == scores[w]);
                    pairs++;
                }
            }
        }
        cr_assert(pairs == (blocks_maps[m].kind == VXS_FEATURE_MAP_POLY2 ? 7 : 0));
        vxs_blocks_free(blocks);
    }
    vxs_design_free(design);
    blocks_release(&e);
}

/* ---- Groups ---------------------------------------------------------------------------------- */

static vxs_groups make_groups(size_t nodes, size_t count, size_t members)
{
    return (vxs_groups){ .nodes = nodes,
                         .count = count,
                         .begin = calloc(count + 1, sizeof(size_t)),
                         .end = calloc(count + 1, sizeof(size_t)),
                         .member = calloc(members + 1, sizeof(size_t)),
                         .members = members };
}

static void release_groups(vxs_groups *groups)
{
    free(groups->begin);
    free(groups->end);
    free(groups->member);
    free(groups->parent);
}

Test(blocks, groups_of_size_one_are_no_groups)
{
    vxs_error err = VXS_ERROR_INIT;
    example e = blocks_example(3, 31, 5000);
    vxs_groups groups = make_groups(e.p, e.p, e.p);
    vxs_feature_map none = { .kind = VXS_FEATURE_MAP_NONE };
    for (size_t j = 0; j < e.p; j++) {
        groups.begin[j] = groups.member[j] = j;
        groups.end[j] = j + 1;
    }
    vxs_design *design = blocks_design(&e, STANDARDISED, 2);
    for (int by_size = 0; by_size < 2; by_size++) {
        vxs_blocks *plain, *grouped;
        WORKS(vxs_blocks_new(NULL, design, &none, &plain, &err), err);
        WORKS(vxs_blocks_of_groups(NULL, design, &groups, by_size / 2.0, &grouped, &err), err);
        blocks_same(plain, grouped, e.v, 300);
        vxs_blocks_free(plain);
        vxs_blocks_free(grouped);
    }
    vxs_design_free(design);
    release_groups(&groups);
    blocks_release(&e);
}

/* Runs of a permutation: those of a random tree, or any, also of no members. */
static vxs_groups random_groups(uint64_t stream, size_t nodes, size_t count, bool tree)
{
    vxs_random random = { .seed = 6, .stream = stream };
    vxs_groups groups = make_groups(nodes, count, nodes);
    uint64_t draw = nodes;
    vxs_random_permutation(&random, groups.member, nodes);
    if (tree)
        groups.parent = malloc((count + 1) * sizeof(size_t));
    for (size_t g = 0; g < count; g++) {
        size_t parent = tree && g % 50 ? vxs_random_below(&random, draw++, g) : SIZE_MAX;
        size_t low = parent == SIZE_MAX ? 0 : groups.begin[parent];
        size_t high = parent == SIZE_MAX ? nodes : groups.end[parent];
        size_t a = low + vxs_random_below(&random, draw++, high - low + 1);
        size_t b = low + vxs_random_below(&random, draw++, high - low + 1);
        groups.begin[g] = g == 0 ? 0 : a < b ? a : b;
        groups.end[g] = g == 0 ? nodes : a < b ? b : a;
        if (tree)
            groups.parent[g] = parent;
    }
    return groups;
}

Test(blocks, groups_that_overlap_are_what_brute_force_finds)
{
    vxs_error err = VXS_ERROR_INIT;
    for (uint64_t k = 0; k < 8; k++) {
        example e = blocks_example(k, 12, 60);
        vxs_groups groups = random_groups(k, e.p, 1 + 40 * k, k % 2);
        vxs_design *design = blocks_design(&e, (int)(k % 3), 1 + (int)(k % 2));
        vxs_blocks *blocks;
        double factor, *block = malloc(e.p * e.n * sizeof(*block));
        WORKS(vxs_blocks_of_groups(NULL, design, &groups, k % 4 < 2 ? 0.5 : 0, &blocks, &err), err);
        blocks_agree(blocks, e.v, 7);
        blocks_agree(blocks, e.v, 1000);
        for (size_t every = 1; every < 200; every *= 3)
            for (size_t first = 0; first < 2; first++) /* the first has all columns */
                blocks_scores_agree(blocks, e.v, first, every);
        for (size_t g = 0; g < groups.count; g++) {
            size_t members = groups.end[g] - groups.begin[g];
            cr_assert(vxs_blocks_width(blocks, g) == members);
            for (size_t c = 0; c < members; c++) {
                cr_assert(vxs_blocks_feature(blocks, g, c, &factor) ==
                          groups.member[groups.begin[g] + c]);
                cr_assert(fabs(factor * factor * (k % 4 < 2 ? (double)members : 1) - 1) < 1e-14);
            }
        }
        vxs_blocks_free(blocks);
        vxs_design_free(design);
        release_groups(&groups);
        free(block);
        blocks_release(&e);
    }
}

Test(blocks, pruning_a_tree_changes_nothing_and_saves_something)
{
    vxs_error err = VXS_ERROR_INIT;
    uint64_t pruned = 0;
    for (uint64_t k = 0; k < 40; k++) {
        example e = blocks_example(k, 10, 200);
        vxs_groups groups = random_groups(k, e.p, 300, true), flat = groups;
        vxs_design *design = blocks_design(&e, STANDARDISED, 1);
        vxs_design *again = blocks_design(&e, STANDARDISED, 2);
        vxs_blocks *tree, *all;
        double power = (double)(k % 3) / 4;
        size_t most = 1 + k / 2;
        flat.parent = NULL;
        WORKS(vxs_blocks_of_groups(NULL, design, &groups, power, &tree, &err), err);
        WORKS(vxs_blocks_of_groups(NULL, again, &flat, power, &all, &err), err);
        blocks_same(tree, all, e.v, most);
        vxs_blocks_work work = vxs_blocks_get_work(tree), none = vxs_blocks_get_work(all);
        cr_assert(work.visited + work.pruned == groups.count);
        cr_assert(none.visited == groups.count && none.pruned == 0 && none.passes == 1);
        cr_assert(work.visited >= most);
        pruned += work.pruned;
        vxs_blocks_free(tree);
        vxs_blocks_free(all);
        vxs_design_free(design);
        vxs_design_free(again);
        release_groups(&groups);
        blocks_release(&e);
    }
    cr_assert(pruned > 40 * 300 / 10, "%d of 12,000 groups were pruned", (int)pruned);
}

/* Equal to the last one that is kept is not below it. */
Test(blocks, ties_survive_pruning)
{
    vxs_error err = VXS_ERROR_INIT;
    static const float x[] = { 1, 1 }; /* two columns of one row */
    static size_t begin[] = { 0, 0, 0, 1 }, end[] = { 2, 1, 2, 2 }, member[] = { 0, 1 },
                  parent[] = { SIZE_MAX, 2, 0, 2 };
    vxs_groups groups = { .nodes = 2,
                          .count = 4,
                          .begin = begin,
                          .end = end,
                          .member = member,
                          .members = 2,
                          .parent = parent };
    double v = 3;
    vxs_scored best[4];
    size_t count;
    vxs_design *design;
    vxs_blocks *blocks;
    parent[1] = 0; /* before the group that stands beside it */
    WORKS(vxs_dense_new(x, 1, 2, 1, &design, &err), err);
    WORKS(vxs_blocks_of_groups(NULL, design, &groups, 0.5, &blocks, &err), err);
    for (size_t most = 1; most <= 4; most++) {
        WORKS(vxs_blocks_best(blocks, &v, most, best, &count, &err), err);
        cr_assert(count == most);
        for (size_t k = 0; k < most; k++)
            cr_assert(best[k].index == k && best[k].score == 9);
    }
    vxs_blocks_free(blocks);
    vxs_design_free(design);
}

/* ---- Scans that are shared ------------------------------------------------------------------- */

enum { SOLVERS = 3 };

typedef struct {
    vxs_scan_batcher *batcher;
    vxs_blocks *blocks;
    const double *v;
    vxs_scored best[4];
} solver;

static void *solve(void *data)
{
    solver *w = data;
    vxs_error err = VXS_ERROR_INIT;
    size_t count;
    vxs_scan_batcher_begin(w->batcher);
    WORKS(vxs_blocks_best(w->blocks, w->v, 4, w->best, &count, &err), err);
    vxs_scan_batcher_end(w->batcher);
    return NULL;
}

/* What is scanned through a batcher is read once for all, and nobody can tell. */
Test(blocks, scans_pass_through_the_design)
{
    vxs_error err = VXS_ERROR_INIT;
    example e = blocks_example(18, 20, 60);
    vxs_design *base = blocks_design(&e, RAW, 2), *designs[SOLVERS];
    pthread_t threads[SOLVERS];
    solver solvers[SOLVERS];
    vxs_scan_batcher *batcher;
    vxs_scored best[4];
    size_t count;
    WORKS(vxs_scan_batcher_new(base, SOLVERS, SOLVERS, &batcher, &err), err);
    for (size_t k = 0; k < SOLVERS; k++) {
        WORKS(vxs_scan_batcher_design(batcher, blocks_design(&e, RAW, 1), &designs[k], &err), err);
        solvers[k] = (solver){ .batcher = batcher, .v = e.v };
        WORKS(vxs_blocks_new(NULL, designs[k], &blocks_maps[0], &solvers[k].blocks, &err), err);
    }
    for (size_t k = 0; k < SOLVERS; k++)
        cr_assert(pthread_create(&threads[k], NULL, solve, &solvers[k]) == 0);
    vxs_scan_batcher_run(batcher);
    for (size_t k = 0; k < SOLVERS; k++) {
        pthread_join(threads[k], NULL);
        cr_assert(fabs(vxs_blocks_get_work(solvers[k].blocks).passes - 1.0 / SOLVERS) < 1e-12);
        vxs_blocks_free(solvers[k].blocks);
        vxs_design_free(designs[k]);
    }
    vxs_scan_batcher_free(batcher);
    vxs_blocks *alone;
    vxs_design *design = blocks_design(&e, RAW, 1);
    WORKS(vxs_blocks_new(NULL, design, &blocks_maps[0], &alone, &err), err);
    WORKS(vxs_blocks_best(alone, e.v, 4, best, &count, &err), err);
    for (size_t k = 0; k < 4 * SOLVERS; k++)
        cr_assert(solvers[k / 4].best[k % 4].index == best[k % 4].index &&
                  solvers[k / 4].best[k % 4].score == best[k % 4].score);
    vxs_blocks_free(alone);
    vxs_design_free(design);
    blocks_release(&e);
}

/* ---- Whatever design, and what is refused ---------------------------------------------------- */

Test(blocks, sparse_columns_are_columns)
{
    vxs_error err = VXS_ERROR_INIT;
    example e = blocks_example(14, 20, 25);
    float *values = malloc(e.n * e.p * sizeof(*values));
    int32_t *rows = malloc(e.n * e.p * sizeof(*rows));
    size_t *starts = malloc((e.p + 1) * sizeof(*starts)), used = 0;
    for (size_t j = 0; j < e.p; j++) {
        starts[j] = used;
        for (size_t i = 0; i < e.n; i++)
            if (e.x[j * e.n + i] > 2) {
                values[used] = e.x[j * e.n + i];
                rows[used++] = (int32_t)i;
            }
    }
    starts[e.p] = used;
    for (size_t m = 0; m < MAPS; m++) {
        vxs_view view = { .standardize = VXS_STANDARDIZE_UNIT };
        vxs_design *sparse;
        vxs_blocks *blocks;
        WORKS(vxs_sparse_new(values, rows, starts, e.n, e.p, 2, &sparse, &err), err);
        WORKS(vxs_view_new(sparse, false, &view, &sparse, &err), err);
        WORKS(vxs_blocks_new(NULL, sparse, &blocks_maps[m], &blocks, &err), err);
        blocks_agree(blocks, e.v, 40);
        vxs_blocks_free(blocks);
        vxs_design_free(sparse);
    }
    free(values);
    free(rows);
    free(starts);
    blocks_release(&e);
}

Test(blocks, what_cannot_be_is_refused)
{
    vxs_error err = VXS_ERROR_INIT;
    example e = blocks_example(15, 4, 3);
    vxs_design *design = blocks_design(&e, RAW, 1);
    vxs_groups groups = make_groups(4, 1, 4);
    vxs_blocks *blocks;
    vxs_feature_map map = { .kind = VXS_FEATURE_MAP_GAUSS };
    REFUSES(vxs_blocks_new(NULL, design, &map, &blocks, &err), err, VXS_MISUSE, "bandwidth");
    map = (vxs_feature_map){ .kind = VXS_FEATURE_MAP_POLY2, .gamma = NAN };
    REFUSES(vxs_blocks_new(NULL, design, &map, &blocks, &err), err, VXS_MISUSE, "gamma");
    map = (vxs_feature_map){ .kind = VXS_FEATURE_MAP_POLY2, .gamma = 1, .coef0 = -1 };
    REFUSES(vxs_blocks_new(NULL, design, &map, &blocks, &err), err, VXS_MISUSE, "coef0");
    map = (vxs_feature_map){ .kind = 9 };
    REFUSES(vxs_blocks_new(NULL, design, &map, &blocks, &err), err, VXS_MISUSE, "no feature map");
    REFUSES(vxs_blocks_of_groups(NULL, design, &groups, 0, &blocks, &err), err, VXS_MISUSE,
            "4 features, the design 3");
    vxs_blocks_free(NULL);
    vxs_design_free(design);
    release_groups(&groups);
    blocks_release(&e);
}

/* Two groups of two, the second inside the first where it is a tree. */
static vxs_groups two_groups(bool tree)
{
    vxs_groups g = make_groups(4, 2, 4);
    for (size_t k = 0; k < 4; k++)
        g.member[k] = k;
    g.end[0] = tree ? 4 : 2;
    g.begin[1] = 2;
    g.end[1] = 4;
    if (tree) {
        g.parent = calloc(2, sizeof(*g.parent));
        g.parent[0] = SIZE_MAX;
    }
    return g;
}

/* Whoever makes a unit of a group reads its members: they must be there, each once, and of a tree
 * among those of the parent, or the bound that prunes it does not hold. */
Test(blocks, groups_that_cannot_be_are_refused)
{
    enum { FAR, BEYOND, BACKWARDS, TWICE, LATER, ITSELF, OUTSIDE, BARE, CASES };
    static const char *const parts[CASES] = {
        [FAR] = "group 0 has feature 77 of 4",
        [BEYOND] = "group 1 has the members 2 to 400, and there are 4",
        [BACKWARDS] = "group 0 has the members 2 to 0",
        [TWICE] = "group 0 has feature 0 twice",
        [LATER] = "the parent of group 0 is group 1; parents must precede",
        [ITSELF] = "the parent of group 1 is group 1",
        [OUTSIDE] = "group 1 has feature 3, its parent, group 0, does not",
        [BARE] = "2 groups without members",
    };
    vxs_error err = VXS_ERROR_INIT;
    example e = blocks_example(15, 6, 4);
    vxs_design *design = blocks_design(&e, RAW, 1);
    vxs_blocks *blocks;
    REFUSES(vxs_blocks_new(NULL, design, NULL, &blocks, &err), err, VXS_MISUSE,
            "argument 'map' is NULL");
    REFUSES(vxs_blocks_new(NULL, NULL, &(vxs_feature_map){ .kind = VXS_FEATURE_MAP_NONE }, &blocks,
                           &err),
            err, VXS_MISUSE, "argument 'design' is NULL");
    REFUSES(vxs_blocks_of_groups(NULL, design, NULL, 0, &blocks, &err), err, VXS_MISUSE,
            "argument 'groups' is NULL");
    for (int k = 0; k < CASES; k++) {
        vxs_groups g = two_groups(k == LATER || k == ITSELF || k == OUTSIDE), bare;
        if (k == FAR)
            g.member[1] = 77;
        if (k == BEYOND)
            g.end[1] = 400;
        if (k == BACKWARDS) {
            g.begin[0] = 2;
            g.end[0] = 0;
        }
        if (k == TWICE)
            g.member[1] = 0;
        if (k == LATER || k == ITSELF)
            g.parent[k == ITSELF] = 1;
        if (k == OUTSIDE)
            g.end[0] = 3;
        bare = (vxs_groups){ .nodes = 4, .count = 2, .members = 4 };
        REFUSES(vxs_blocks_of_groups(NULL, design, k == BARE ? &bare : &g, 0, &blocks, &err), err,
                VXS_MISUSE, parts[k]);
        release_groups(&g);
    }
    for (int tree = 0; tree < 2; tree++) {
        vxs_groups g = two_groups(tree);
        WORKS(vxs_blocks_of_groups(NULL, design, &g, 0, &blocks, &err), err);
        vxs_blocks_free(blocks);
        release_groups(&g);
    }
    vxs_design_free(design);
    blocks_release(&e);
}

Test(blocks, who_wants_to_stop_is_heard)
{
    vxs_error err = VXS_ERROR_INIT;
    volatile int stop = 0;
    vxs_context context = { .interrupted = &stop };
    example e = blocks_example(16, 4, 30);
    vxs_scored best[3];
    for (size_t m = 0; m < MAPS; m++) {
        vxs_design *design = blocks_design(&e, RAW, 2);
        vxs_blocks *blocks;
        size_t count = 77;
        stop = 0;
        WORKS(vxs_blocks_new(&context, design, &blocks_maps[m], &blocks, &err), err);
        stop = 1;
        REFUSES(vxs_blocks_best(blocks, e.v, 3, best, &count, &err), err, VXS_INTERRUPTED, "");
        cr_assert(count == 77);
        vxs_blocks_free(blocks);
        vxs_design_free(design);
    }
    blocks_release(&e);
}

static int made_kind;

static vxs_status make_and_ask(vxs_error *err)
{
    static const float x[8] = { 1, 2, 4, 4, 2, 1, 0, 5 };
    static const double v[4] = { 1, -1, 2, 0 };
    static size_t begin[] = { 0, 1 }, end[] = { 2, 2 }, member[] = { 0, 1 },
                  parent[] = { SIZE_MAX, 0 };
    vxs_groups groups = { .nodes = 2,
                          .count = 2,
                          .begin = begin,
                          .end = end,
                          .member = member,
                          .members = 2,
                          .parent = made_kind % 2 ? parent : NULL };
    vxs_scored best[3];
    size_t count = 0;
    vxs_design *design;
    vxs_blocks *blocks = NULL;
    vxs_status status = vxs_dense_new(x, 4, 2, 2, &design, err);
    if (status)
        return status;
    if (made_kind < MAPS)
        status = vxs_blocks_pairs_new(NULL, design, &blocks_maps[1], 0, &blocks, err);
    if (!status && made_kind < MAPS) {
        vxs_blocks_free(blocks);
        status = vxs_blocks_new(NULL, design, &blocks_maps[made_kind], &blocks, err);
    } else if (!status) {
        status = vxs_blocks_of_groups(NULL, design, &groups, 0.5, &blocks, err);
    }
    if (!status) {
        status = vxs_blocks_best(blocks, v, 3, best, &count, err);
        cr_assert(status ? count == 0 : count >= 2);
        vxs_blocks_free(blocks);
    }
    vxs_design_free(design);
    return status;
}

Test(blocks, no_memory_is_an_error)
{
    for (made_kind = 0; made_kind < MAPS + 2; made_kind++)
        cr_assert(fail_each_request(make_and_ask) >= 6);
}
