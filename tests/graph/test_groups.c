/* Groups against brute force: spheres, cells of octrees, beginnings of paths. */
#include "tests/core/check.h"
#include "tests/core/faults.h"

static const uint64_t far = 1 << 20;

enum { MOST = 210 };

/* A number below `limit`. */
static size_t draw(const vxs_random *random, uint64_t index, size_t limit)
{
    return (size_t)(vxs_random_uniform(random, index) * (double)limit);
}

/* Some of a grid's voxels; none in the first trial, one in the second. */
static size_t random_mask(const vxs_random *random, uint64_t trial, size_t shape[3],
                          size_t voxels[MOST])
{
    static const size_t shapes[4][3] = { { 7, 5, 6 }, { 1, 1, 9 }, { 8, 2, 3 }, { 4, 4, 4 } };
    memcpy(shape, shapes[trial % 4], sizeof(shapes[0]));
    size_t cells = shape[0] * shape[1] * shape[2], count = 0;
    double share = vxs_random_uniform(random, far);
    for (size_t v = 0; v < cells; v++)
        if (trial > 1 && vxs_random_uniform(random, v) < share)
            voxels[count++] = v;
    if (trial == 1)
        voxels[count++] = cells / 2;
    return count;
}

static void index_of(const size_t shape[3], size_t voxel, size_t index[3])
{
    for (int d = 0; d < 3; d++) {
        index[d] = voxel % shape[d];
        voxel /= shape[d];
    }
}

/* The members of a group as marks of nodes, each of which it has once. */
static void mark(const vxs_groups *g, size_t group, bool *in)
{
    memset(in, 0, g->nodes * sizeof(*in));
    cr_assert(g->begin[group] < g->end[group] && g->end[group] <= g->members, "no group is empty");
    for (size_t m = g->begin[group]; m < g->end[group]; m++) {
        cr_assert(g->member[m] < g->nodes && !in[g->member[m]], "members are there once");
        in[g->member[m]] = true;
    }
}

static bool overlap_of(const vxs_groups *g)
{
    vxs_error err = VXS_ERROR_INIT;
    bool overlap = false;
    WORKS(vxs_groups_overlap(g, &overlap, &err), err);
    return overlap;
}

/* ---- Spheres --------------------------------------------------------------------------------- */

static double squared_distance(const double step[3][3], const size_t a[3], const size_t b[3])
{
    double sum = 0;
    for (int d = 0; d < 3; d++) {
        double along = 0;
        for (int axis = 0; axis < 3; axis++)
            along += ((double)a[axis] - (double)b[axis]) * step[axis][d];
        sum += along * along;
    }
    return sum;
}

typedef struct {
    double at[3][3];
} steps;

/* Shears and turns too. */
static steps random_steps(const vxs_random *random, uint64_t trial)
{
    steps s;
    for (uint64_t k = 0; k < 9; k++)
        s.at[k / 3][k % 3] = trial % 3 == 0 ? (k % 4 == 0 ? 1 + (double)(k / 4) : 0)
                                            : vxs_random_normal(random, far + 100 + k);
    return s;
}

Test(groups, patches_are_all_voxels_within_the_radius)
{
    vxs_error err = VXS_ERROR_INIT;
    for (uint64_t trial = 0; trial < 120; trial++) {
        vxs_random random = { 11, trial };
        size_t shape[3], voxels[MOST], a[3], b[3], pairs = 0;
        size_t count = random_mask(&random, trial, shape, voxels);
        const steps step = random_steps(&random, trial);
        double radius = trial % 5 == 4 ? 1000 : (double)(trial % 5);
        vxs_groups g;
        WORKS(vxs_groups_spheres(shape, voxels, count, step.at, radius, &g, &err), err);
        cr_assert(g.nodes == count && g.count == count && !g.parent && !g.names);
        for (size_t k = 0; k < count; k++) {
            bool in[MOST];
            mark(&g, k, in);
            index_of(shape, voxels[k], a);
            cr_assert(in[k]);
            for (size_t other = 0; other < count; other++) {
                index_of(shape, voxels[other], b);
                bool near = squared_distance(step.at, a, b) <= radius * radius * (1 + 2e-6);
                cr_assert(in[other] == near, "trial %d: %zu and %zu", (int)trial, k, other);
                pairs += near && k != other;
            }
        }
        cr_assert(overlap_of(&g) == (pairs > 0));
        vxs_groups_release(&g);
    }
}

/* 0.8 as a float is a little more than 0.8. */
Test(groups, patches_forgive_that_affines_are_floats)
{
    vxs_error err = VXS_ERROR_INIT;
    const size_t shape[3] = { 9, 1, 1 }, voxels[9] = { 0, 1, 2, 3, 4, 5, 6, 7, 8 };
    const double step[3][3] = { { (double)0.8F, 0, 0 }, { 0, 1, 0 }, { 0, 0, 1 } };
    vxs_groups g;
    WORKS(vxs_groups_spheres(shape, voxels, 9, step, 2.4, &g, &err), err);
    cr_assert(g.begin[4] + 7 == g.end[4] && g.member[g.begin[4]] == 1);
    vxs_groups_release(&g);
}

Test(groups, patches_want_a_radius_and_a_grid)
{
    vxs_error err = VXS_ERROR_INIT;
    const size_t shape[3] = { 3, 1, 1 }, voxels[1] = { 1 };
    const double flat[3][3] = { { 1, 0, 0 }, { 0, 1, 0 }, { 1, 1, 0 } };
    const double step[3][3] = { { 1, 0, 0 }, { 0, 1, 0 }, { 0, 0, 1 } };
    vxs_groups g;
    REFUSES(vxs_groups_spheres(shape, voxels, 1, flat, 2, &g, &err), err, VXS_BAD_DATA, "singular");
    REFUSES(vxs_groups_spheres(shape, voxels, 1, step, -1, &g, &err), err, VXS_MISUSE, "-1 mm");
    REFUSES(vxs_groups_spheres(shape, voxels, 1, step, NAN, &g, &err), err, VXS_MISUSE, "radius");
    cr_assert(g.count == 0 && !g.member);
    enum { SIDE = 42 }; /* 74,088 voxels, whose square is above 2^32 */
    const size_t cube[3] = { SIDE, SIDE, SIDE };
    size_t *all = malloc((size_t)SIDE * SIDE * SIDE * sizeof(*all));
    for (size_t v = 0; v < (size_t)SIDE * SIDE * SIDE; v++)
        all[v] = v;
    REFUSES(vxs_groups_spheres(cube, all, (size_t)SIDE * SIDE * SIDE, step, 100, &g, &err), err,
            VXS_MISUSE, "spheres of 100 mm around 74088 voxels");
    free(all);
}

/* ---- Trees ----------------------------------------------------------------------------------- */

/* Parents stand before children, which are inside them and share nothing; a node's groups are one
 * path. */
static void check_tree(const vxs_groups *g)
{
    bool in[2 * MOST], around[2 * MOST], other[2 * MOST];
    for (size_t k = 0; k < g->count; k++) {
        size_t parent = g->parent[k];
        mark(g, k, in);
        cr_assert(g->names[k] && (parent == SIZE_MAX || parent < k), "parents before children");
        if (parent != SIZE_MAX) {
            mark(g, parent, around);
            for (size_t j = 0; j < g->nodes; j++)
                cr_assert(!in[j] || around[j], "children inside their parents");
        }
        for (size_t sibling = 0; sibling < k; sibling++) {
            mark(g, sibling, other);
            for (size_t j = 0; j < g->nodes; j++)
                cr_assert(g->parent[sibling] != parent || !in[j] || !other[j]);
            cr_assert(strcmp(g->names[sibling], g->names[k]) != 0, "names are there once");
        }
    }
}

/* Whether these are the voxels of the cell, of which there are 2^(depth - level) along an axis. */
static bool is_cell(const size_t shape[3], const size_t *voxels, size_t count, size_t side,
                    const size_t cell[3], const bool *in)
{
    size_t index[3];
    for (size_t j = 0; j < count; j++) {
        index_of(shape, voxels[j], index);
        bool inside = true;
        for (int d = 0; d < 3; d++)
            inside = inside && index[d] / side == cell[d];
        if (inside != in[j])
            return false;
    }
    return true;
}

/* How many different sets of voxels the cells of all levels have: those that are not their parent's
 * own. */
static size_t count_cells(const size_t shape[3], const size_t *voxels, size_t count, size_t side)
{
    size_t total = count > 0;
    for (; side > 1; side /= 2)
        for (size_t j = 0; j < count; j++) {
            size_t index[3], same = 0, around = 0, earlier = 0, at[3];
            index_of(shape, voxels[j], index);
            for (size_t k = 0; k < count; k++) {
                bool in = true, in_parent = true;
                index_of(shape, voxels[k], at);
                for (int d = 0; d < 3; d++) {
                    in = in && at[d] / (side / 2) == index[d] / (side / 2);
                    in_parent = in_parent && at[d] / side == index[d] / side;
                }
                same += in;
                around += in_parent;
                earlier += in && k < j;
            }
            total += earlier == 0 && same < around;
        }
    return total;
}

Test(groups, octrees_have_every_cell_once)
{
    vxs_error err = VXS_ERROR_INIT;
    for (uint64_t trial = 0; trial < 60; trial++) {
        vxs_random random = { 12, trial };
        size_t shape[3], voxels[MOST], side = 1;
        size_t count = random_mask(&random, trial, shape, voxels), leaves = 0;
        unsigned depth = 0;
        for (; side < shape[0] || side < shape[1] || side < shape[2]; side *= 2)
            depth++;
        vxs_groups g;
        WORKS(vxs_groups_octree(shape, voxels, count, &g, &err), err);
        cr_assert(g.nodes == count && g.members == count, "cells in cells take no room");
        check_tree(&g);
        cr_assert(g.count == count_cells(shape, voxels, count, side), "trial %d", (int)trial);
        for (size_t k = 0; k < g.count; k++) {
            bool in[MOST];
            unsigned level;
            size_t cell[3];
            mark(&g, k, in);
            cr_assert(sscanf(g.names[k], "%u:%zu,%zu,%zu", &level, &cell[0], &cell[1], &cell[2]) ==
                      4);
            cr_assert(level <= depth && is_cell(shape, voxels, count, side >> level, cell, in));
            cr_assert((g.parent[k] == SIZE_MAX) == (k == 0), "one root");
            leaves += g.end[k] - g.begin[k] == 1;
        }
        cr_assert(leaves == count, "a leaf for every voxel");
        cr_assert(overlap_of(&g) == (count > 1));
        vxs_groups_release(&g);
    }
}

Test(groups, octrees_of_endless_grids_are_refused)
{
    vxs_error err = VXS_ERROR_INIT;
    const size_t shape[3] = { 1, ((size_t)1 << 21) + 1, 1 }, voxels[1] = { 0 };
    vxs_groups g;
    REFUSES(vxs_groups_octree(shape, voxels, 1, &g, &err), err, VXS_FAILED, "2^21");
    const size_t long_one[3] = { (size_t)1 << 21, 1, 1 };
    const size_t ends[2] = { 0, ((size_t)1 << 21) - 1 };
    WORKS(vxs_groups_octree(long_one, ends, 2, &g, &err), err);
    cr_assert(g.count == 3 && strcmp(g.names[2], "1:1,0,0") == 0);
    vxs_groups_release(&g);
}

/* Paths of letters, some in the way of others: "a" beside "a/b" and "ab". */
static void random_path(const vxs_random *random, uint64_t node, char path[32])
{
    static const char *const parts[] = { "a", "b", "ab", "a-b" };
    size_t count = 1 + draw(random, 8 * node, 4), length = 0;
    for (size_t k = 0; k < count; k++)
        length += (size_t)snprintf(path + length, 32 - length, "%s%s", k > 0 ? "/" : "",
                                   parts[draw(random, 8 * node + 1 + k, 4)]);
}

static bool begins(const char *path, const char *with)
{
    size_t length = strlen(with);
    return path && strncmp(path, with, length) == 0 &&
           (path[length] == '\0' || path[length] == '/');
}

Test(groups, paths_make_a_group_of_every_beginning)
{
    vxs_error err = VXS_ERROR_INIT;
    for (uint64_t trial = 0; trial < 60; trial++) {
        vxs_random random = { 13, trial };
        size_t count = trial < 2 ? trial : draw(&random, far, 60), expected = 0;
        char text[60][32];
        const char *paths[60];
        for (size_t k = 0; k < count; k++) {
            random_path(&random, k, text[k]);
            paths[k] = trial > 1 && draw(&random, far + 1 + k, 5) == 0 ? NULL : text[k];
        }
        vxs_groups g;
        WORKS(vxs_groups_by_path(paths, count, &g, &err), err);
        cr_assert(g.nodes == count);
        check_tree(&g);
        for (size_t k = 0; k < g.count; k++) {
            bool in[60];
            mark(&g, k, in);
            for (size_t j = 0; j < count; j++)
                cr_assert(in[j] == begins(paths[j], g.names[k]), "%s, %s", paths[j], g.names[k]);
            const char *slash = strrchr(g.names[k], '/');
            size_t parent = g.parent[k];
            cr_assert((parent == SIZE_MAX) == !slash);
            cr_assert(!slash || (strlen(g.names[parent]) == (size_t)(slash - g.names[k]) &&
                                 begins(g.names[k], g.names[parent])));
        }
        for (size_t k = 0; k < count; k++) /* every beginning is there, and names are once */
            for (size_t c = 0; paths[k] && c <= strlen(paths[k]); c++) {
                bool earlier = false, end = paths[k][c] == '\0' || paths[k][c] == '/';
                char beginning[32];
                snprintf(beginning, sizeof(beginning), "%.*s", (int)c, paths[k]);
                for (size_t j = 0; j < k; j++)
                    earlier = earlier || begins(paths[j], beginning);
                expected += end && !earlier;
            }
        cr_assert(g.count == expected, "trial %d", (int)trial);
        vxs_groups_release(&g);
    }
}

Test(groups, paths_stand_in_order)
{
    vxs_error err = VXS_ERROR_INIT;
    const char *const paths[] = { "brain/right", "brain/left/b", "brain", "brain/left",
                                  "all/of/it" };
    const char *const names[] = { "all",        "all/of",       "all/of/it",  "brain",
                                  "brain/left", "brain/left/b", "brain/right" };
    const size_t members[] = { 4, 2, 3, 1, 0 }, begin[] = { 0, 0, 0, 1, 2, 3, 4 };
    const size_t end[] = { 1, 1, 1, 5, 4, 4, 5 };
    vxs_groups g;
    WORKS(vxs_groups_by_path(paths, 5, &g, &err), err);
    cr_assert(g.count == 7 && g.members == 5);
    for (size_t k = 0; k < 7; k++)
        cr_assert(strcmp(g.names[k], names[k]) == 0 && g.begin[k] == begin[k] && g.end[k] == end[k],
                  "%s", g.names[k]);
    for (size_t k = 0; k < 5; k++)
        cr_assert(g.member[k] == members[k]);
    vxs_groups_release(&g);
}

/* ---- What all have --------------------------------------------------------------------------- */

Test(groups, overlap_is_any_node_twice)
{
    vxs_error err = VXS_ERROR_INIT;
    vxs_groups g;
    WORKS(vxs_groups_new(4, 3, 4, &g, &err), err);
    cr_assert(g.nodes == 4 && g.count == 3 && !overlap_of(&g), "all are empty");
    for (size_t m = 0; m < 4; m++)
        g.member[m] = 3 - m;
    g.end[0] = g.begin[2] = 2;
    g.end[2] = 4;
    cr_assert(!overlap_of(&g));
    g.begin[2] = 1;
    cr_assert(overlap_of(&g), "runs overlap");
    g.begin[2] = 2;
    g.member[3] = 2;
    cr_assert(overlap_of(&g), "runs do not, members do");
    vxs_groups_release(&g);
    vxs_groups_release(&g);
    cr_assert(!overlap_of(&g));
}

static vxs_status make_all(vxs_error *err)
{
    static const size_t shape[3] = { 4, 3, 2 }, voxels[5] = { 0, 1, 7, 20, 23 };
    static const double step[3][3] = { { 2, 0, 0 }, { 0, 2, 0 }, { 0, 0, 2 } };
    static const char *const paths[] = { "a/b", "a/c", NULL, "d" };
    vxs_groups patches, octree = { .nodes = 0 }, tree = { .nodes = 0 };
    bool overlap = false;
    vxs_status status = vxs_groups_spheres(shape, voxels, 5, step, 3, &patches, err);
    if (!status)
        status = vxs_groups_octree(shape, voxels, 5, &octree, err);
    if (!status)
        status = vxs_groups_by_path(paths, 4, &tree, err);
    cr_assert(!status || (tree.count == 0 && !tree.names && !tree.member), "empty on failure");
    if (!status)
        status = vxs_groups_overlap(&patches, &overlap, err);
    vxs_groups_release(&patches);
    vxs_groups_release(&octree);
    vxs_groups_release(&tree);
    return status;
}

Test(groups, no_memory_is_an_error)
{
    cr_assert(fail_each_request(make_all) > 20);
}
