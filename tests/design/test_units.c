/* Units against brute force: what is best is what their columns say, whatever the kind. */
#include "tests/core/check.h"
#include "tests/core/faults.h"

#include "design/units.h"

typedef struct {
    size_t n, p;
    float *x; /* p x n */
    double *v;
} example;

/* Every seventh column is one that was there before, every ninth is constant. */
static example make(uint64_t stream, size_t n, size_t p)
{
    vxs_random random = { .seed = 5, .stream = stream };
    example e = { .n = n, .p = p };
    e.x = malloc((n * p + 1) * sizeof(*e.x));
    e.v = malloc((n + 1) * sizeof(*e.v));
    for (size_t k = 0; k < n * p; k++)
        e.x[k] = (float)(2 + vxs_random_normal(&random, k));
    for (size_t j = 0; j < p; j++) {
        if (j % 7 == 6)
            memcpy(e.x + j * n, e.x + (j - 5) * n, n * sizeof(*e.x));
        for (size_t i = 0; i < n && j % 9 == 8; i++)
            e.x[j * n + i] = 3;
    }
    for (size_t i = 0; i < n; i++)
        e.v[i] = vxs_random_normal(&random, n * p + i);
    return e;
}

static void release(example *e)
{
    free(e->x);
    free(e->v);
}

/* Standardised, as it is, or standardised through a view of every second row, as doubles know it.
 */
enum { RAW, STANDARDISED, SOME_ROWS, WAYS };
static vxs_design *design_of(const example *e, int way, int threads)
{
    vxs_error err = VXS_ERROR_INIT;
    vxs_design *design;
    size_t *rows = malloc((e->n + 1) * sizeof(*rows));
    vxs_view view = { .standardize = VXS_STANDARDIZE_UNIT,
                      .rows = way == SOME_ROWS ? rows : NULL,
                      .row_count = (e->n + 1) / 2 };
    for (size_t i = 0; i < view.row_count; i++)
        rows[i] = 2 * i;
    WORKS(vxs_dense_new(e->x, e->n, e->p, threads, &design, &err), err);
    if (way != RAW)
        WORKS(vxs_view_new(design, false, &view, &design, &err), err);
    free(rows);
    return design;
}

/* ---- Brute force ----------------------------------------------------------------------------- */

static double score_of(vxs_units *units, size_t unit, const double *v, double *size)
{
    size_t n = vxs_units_rows(units), width = vxs_units_width(units, unit);
    double *block = malloc((n * width + 1) * sizeof(*block)), score = 0;
    vxs_units_fetch(units, unit, block);
    *size = 0;
    for (size_t k = 0; k < width; k++) {
        double sum = 0, all = 0;
        for (size_t i = 0; i < n; i++) {
            sum += block[k * n + i] * v[i];
            all += fabs(block[k * n + i] * v[i]);
        }
        score += sum * sum;
        *size += all * all;
    }
    free(block);
    return score;
}

static int falling(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;
    return (x < y) - (x > y);
}

/* The `most` best are in order, each has the score that its columns have, and no other has more
 * than the last one. */
static void agree(vxs_units *units, const double *v, size_t most)
{
    vxs_error err = VXS_ERROR_INIT;
    size_t all = vxs_units_count(units), count = 0;
    vxs_scored *best = malloc((most + 1) * sizeof(*best));
    double *scores = malloc((all + 1) * sizeof(*scores)), largest = 0, size;
    WORKS(vxs_units_best(units, v, most, best, &count, &err), err);
    cr_assert(count == (most < all ? most : all), "%zu of %zu", count, most);
    for (size_t u = 0; u < all; u++) {
        scores[u] = score_of(units, u, v, &size);
        largest = size > largest ? size : largest;
    }
    for (size_t k = 0; k < count; k++) {
        cr_assert(best[k].unit < all);
        cr_assert(fabs(best[k].score - scores[best[k].unit]) <= 1e-13 * largest,
                  "unit %zu: %g, not %g", best[k].unit, best[k].score, scores[best[k].unit]);
        cr_assert(k == 0 || best[k - 1].score > best[k].score ||
                      (best[k - 1].score == best[k].score && best[k - 1].unit < best[k].unit),
                  "%zu and %zu are not in order", k - 1, k);
    }
    qsort(scores, all, sizeof(*scores), falling);
    for (size_t k = 0; k < count; k++)
        cr_assert(fabs(best[k].score - scores[k]) <= 1e-13 * largest, "place %zu: %g, not %g", k,
                  best[k].score, scores[k]);
    free(scores);
    free(best);
}

/* The same bits, whoever finds them. */
static void same(vxs_units *a, vxs_units *b, const double *v, size_t most)
{
    vxs_error err = VXS_ERROR_INIT;
    size_t counts[2];
    vxs_scored *one = calloc(most + 1, sizeof(*one)), *two = calloc(most + 1, sizeof(*two));
    WORKS(vxs_units_best(a, v, most, one, &counts[0], &err), err);
    WORKS(vxs_units_best(b, v, most, two, &counts[1], &err), err);
    cr_assert(counts[0] == counts[1]);
    for (size_t k = 0; k < counts[0]; k++)
        cr_assert(one[k].unit == two[k].unit && one[k].score == two[k].score,
                  "place %zu: %zu with %a, %zu with %a", k, one[k].unit, one[k].score, two[k].unit,
                  two[k].score);
    free(one);
    free(two);
}

static const vxs_map maps[] = {
    { .kind = VXS_MAP_NONE },
    { .kind = VXS_MAP_POLY2, .gamma = 0.7, .constant = 1.3 },
    { .kind = VXS_MAP_POLY2, .gamma = 2, .constant = 0 },
    { .kind = VXS_MAP_GAUSS, .bandwidth = 1.5 },
    { .kind = VXS_MAP_HIK },
};
enum { MAPS = sizeof(maps) / sizeof(maps[0]) };
static const size_t shapes[][2] = { { 1, 1 }, { 7, 2 }, { 40, 0 }, { 3, 70 }, { 33, 130 } };
enum { SHAPES = sizeof(shapes) / sizeof(shapes[0]) };

static void check_kind(const example *e, const vxs_map *map, int way)
{
    static const size_t mosts[] = { 0, 1, 5, 60, 100000 };
    vxs_error err = VXS_ERROR_INIT;
    vxs_design *designs[2] = { design_of(e, way, 1), design_of(e, way, 2) };
    vxs_units *units[2];
    for (int t = 0; t < 2; t++)
        WORKS(vxs_units_new(NULL, designs[t], map, &units[t], &err), err);
    cr_assert(vxs_units_count(units[0]) == vxs_map_count(map, e->p));
    for (size_t k = 0; k < sizeof(mosts) / sizeof(mosts[0]); k++) {
        agree(units[1], e->v, mosts[k]);
        same(units[0], units[1], e->v, mosts[k]);
    }
    for (int t = 0; t < 2; t++) {
        vxs_units_free(units[t]);
        vxs_design_free(designs[t]);
    }
}

Test(units, the_best_are_those_that_brute_force_finds)
{
    for (size_t k = 0; k < SHAPES * MAPS * WAYS; k++) {
        size_t shape = k / MAPS / WAYS;
        example e = make(k, shapes[shape][0], shapes[shape][1]);
        check_kind(&e, &maps[k / WAYS % MAPS], (int)(k % WAYS));
        release(&e);
    }
}

/* ---- Ties ------------------------------------------------------------------------------------ */

/* Nothing is better than anything else: the first ones are taken. */
Test(units, without_a_direction_the_first_are_the_best)
{
    vxs_error err = VXS_ERROR_INIT;
    example e = make(1, 20, 30);
    vxs_scored best[50];
    size_t count;
    memset(e.v, 0, e.n * sizeof(*e.v));
    vxs_design *design = design_of(&e, STANDARDISED, 2);
    for (size_t m = 0; m < MAPS; m++) {
        vxs_units *units;
        WORKS(vxs_units_new(NULL, design, &maps[m], &units, &err), err);
        WORKS(vxs_units_best(units, e.v, 50, best, &count, &err), err);
        cr_assert(count == (vxs_units_count(units) < 50 ? vxs_units_count(units) : 50));
        for (size_t k = 0; k < count; k++)
            cr_assert(best[k].unit == k && best[k].score == 0, "map %zu, place %zu: %zu", m, k,
                      best[k].unit);
        vxs_units_free(units);
    }
    vxs_design_free(design);
    release(&e);
}

Test(units, columns_that_are_the_same_share_a_score)
{
    vxs_error err = VXS_ERROR_INIT;
    example e = make(2, 25, 14);
    vxs_scored best[200];
    vxs_design *design = design_of(&e, STANDARDISED, 2);
    for (size_t m = 0; m < MAPS; m++) {
        vxs_units *units;
        double scores[200];
        size_t count, pairs = 0, feature[2];
        WORKS(vxs_units_new(NULL, design, &maps[m], &units, &err), err);
        WORKS(vxs_units_best(units, e.v, 200, best, &count, &err), err);
        for (size_t k = 0; k < count; k++)
            scores[best[k].unit] = best[k].score;
        cr_assert(scores[1] == scores[6], "map %zu: columns 1 and 6 are the same", m);
        for (size_t u = 0; u < count && maps[m].kind == VXS_MAP_POLY2; u++) {
            vxs_map_features(&maps[m], e.p, u, feature);
            if (u < 2 * e.p || feature[0] != 6)
                continue;
            for (size_t w = 2 * e.p; w < u; w++) {
                size_t other[2];
                vxs_map_features(&maps[m], e.p, w, other);
                if (other[0] == 1 && other[1] == feature[1]) {
                    cr_assert(scores[u] == scores[w]);
                    pairs++;
                }
            }
        }
        cr_assert(pairs == (maps[m].kind == VXS_MAP_POLY2 ? 7 : 0));
        vxs_units_free(units);
    }
    vxs_design_free(design);
    release(&e);
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

Test(units, groups_of_size_one_are_no_groups)
{
    vxs_error err = VXS_ERROR_INIT;
    example e = make(3, 31, 5000);
    vxs_groups groups = make_groups(e.p, e.p, e.p);
    vxs_map none = { .kind = VXS_MAP_NONE };
    for (size_t j = 0; j < e.p; j++) {
        groups.begin[j] = groups.member[j] = j;
        groups.end[j] = j + 1;
    }
    vxs_design *design = design_of(&e, STANDARDISED, 2);
    for (int by_size = 0; by_size < 2; by_size++) {
        vxs_units *plain, *grouped;
        WORKS(vxs_units_new(NULL, design, &none, &plain, &err), err);
        WORKS(vxs_units_of_groups(NULL, design, &groups, by_size, &grouped, &err), err);
        same(plain, grouped, e.v, 300);
        vxs_units_free(plain);
        vxs_units_free(grouped);
    }
    vxs_design_free(design);
    release_groups(&groups);
    release(&e);
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

Test(units, groups_that_overlap_are_what_brute_force_finds)
{
    vxs_error err = VXS_ERROR_INIT;
    for (uint64_t k = 0; k < 8; k++) {
        example e = make(k, 12, 60);
        vxs_groups groups = random_groups(k, e.p, 1 + 40 * k, k % 2);
        vxs_design *design = design_of(&e, (int)(k % 3), 1 + (int)(k % 2));
        vxs_units *units;
        double factor, *block = malloc(e.p * e.n * sizeof(*block));
        WORKS(vxs_units_of_groups(NULL, design, &groups, k % 4 < 2, &units, &err), err);
        agree(units, e.v, 7);
        agree(units, e.v, 1000);
        for (size_t g = 0; g < groups.count; g++) {
            size_t members = groups.end[g] - groups.begin[g];
            cr_assert(vxs_units_width(units, g) == members);
            for (size_t c = 0; c < members; c++) {
                cr_assert(vxs_units_feature(units, g, c, &factor) ==
                          groups.member[groups.begin[g] + c]);
                cr_assert(fabs(factor * factor * (k % 4 < 2 ? (double)members : 1) - 1) < 1e-14);
            }
        }
        vxs_units_free(units);
        vxs_design_free(design);
        release_groups(&groups);
        free(block);
        release(&e);
    }
}

Test(units, pruning_a_tree_changes_nothing_and_saves_something)
{
    vxs_error err = VXS_ERROR_INIT;
    uint64_t pruned = 0;
    for (uint64_t k = 0; k < 40; k++) {
        example e = make(k, 10, 200);
        vxs_groups groups = random_groups(k, e.p, 300, true), flat = groups;
        vxs_design *design = design_of(&e, STANDARDISED, 1);
        vxs_design *again = design_of(&e, STANDARDISED, 2);
        vxs_units *tree, *all;
        bool by_size = k % 2;
        size_t most = 1 + k / 2;
        flat.parent = NULL;
        WORKS(vxs_units_of_groups(NULL, design, &groups, by_size, &tree, &err), err);
        WORKS(vxs_units_of_groups(NULL, again, &flat, by_size, &all, &err), err);
        same(tree, all, e.v, most);
        vxs_units_work work = vxs_units_worked(tree), none = vxs_units_worked(all);
        cr_assert(work.visited + work.pruned == groups.count);
        cr_assert(none.visited == groups.count && none.pruned == 0 && none.passes == 1);
        cr_assert(work.visited >= most);
        pruned += work.pruned;
        vxs_units_free(tree);
        vxs_units_free(all);
        vxs_design_free(design);
        vxs_design_free(again);
        release_groups(&groups);
        release(&e);
    }
    cr_assert(pruned > 40 * 300 / 10, "%d of 12,000 groups were pruned", (int)pruned);
}

/* Equal to the last one that is kept is not below it. */
Test(units, ties_survive_pruning)
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
    vxs_units *units;
    parent[1] = 0; /* before the group that stands beside it */
    WORKS(vxs_dense_new(x, 1, 2, 1, &design, &err), err);
    WORKS(vxs_units_of_groups(NULL, design, &groups, true, &units, &err), err);
    for (size_t most = 1; most <= 4; most++) {
        WORKS(vxs_units_best(units, &v, most, best, &count, &err), err);
        cr_assert(count == most);
        for (size_t k = 0; k < most; k++)
            cr_assert(best[k].unit == k && best[k].score == 9);
    }
    vxs_units_free(units);
    vxs_design_free(design);
}
