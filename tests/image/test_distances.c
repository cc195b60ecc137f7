#include "tests/core/check.h"
#include "tests/core/faults.h"

#include <stdlib.h>

static double between(const vxs_grid *g, size_t a, size_t b)
{
    double one[3], two[3], at[3], there[3], squares = 0;
    vxs_grid_index(g, a, one);
    vxs_grid_index(g, b, two);
    vxs_grid_position(g, one, at);
    vxs_grid_position(g, two, there);
    for (int d = 0; d < 3; d++)
        squares += (at[d] - there[d]) * (at[d] - there[d]);
    return sqrt(squares);
}

static double brute(const vxs_grid *g, const uint8_t *to, size_t from)
{
    double least = INFINITY;
    for (size_t w = 0; w < vxs_grid_voxels(g); w++)
        if (to[w])
            least = fmin(least, between(g, from, w));
    return least;
}

/* Voxels of 1, 2.5 and 4 mm, turned about two axes and flipped. */
static void make_orthogonal(vxs_grid *g, double angle)
{
    const double size[3] = { -1, 2.5, 4 }, c = cos(6 * angle), s = sin(6 * angle);
    const double turn[3][3] = { { c, -s * c, s * s }, { s, c * c, -c * s }, { 0, s, c } };
    for (int row = 0; row < 3; row++)
        for (int column = 0; column < 3; column++)
            g->affine[row][column] = turn[row][column] * size[column];
}

/* Any affine, any number of targets from none to all. */
Test(distances, agree_with_all_pairs_on_any_affine)
{
    const vxs_random random = { 4, 2 };
    uint64_t draw = 0;
    for (size_t trial = 0; trial < 60; trial++) {
        vxs_error err = VXS_ERROR_INIT;
        vxs_grid g = { .shape = { 1 + trial % 7, 9, 1 + trial / 6 } };
        for (int r = 0; r < 3; r++)
            for (int c = 0; c < 4; c++)
                g.affine[r][c] =
                    (r == c ? 3 : 0) + (c == 3 ? 50 : 1) * vxs_random_normal(&random, draw++);
        if (trial % 2)
            make_orthogonal(&g, vxs_random_uniform(&random, draw++));
        size_t voxels = vxs_grid_voxels(&g);
        uint8_t *from = calloc(voxels, 1), *to = calloc(voxels, 1);
        double *distances = malloc(voxels * sizeof(*distances));
        double share = (double)(trial % 5) / 4;
        for (size_t v = 0; v < voxels; v++) {
            from[v] = vxs_random_uniform(&random, draw++) < 0.5;
            to[v] = vxs_random_uniform(&random, draw++) < share * share;
            distances[v] = -7;
        }
        WORKS(vxs_voxel_distances(&g, from, to, distances, &err), err);
        for (size_t v = 0; v < voxels; v++) {
            double want = from[v] ? brute(&g, to, v) : -7;
            cr_assert(distances[v] == want || fabs(distances[v] - want) < 1e-9, "%zu: %g, not %g",
                      v, distances[v], want);
        }
        free(distances);
        free(to);
        free(from);
    }
}

static vxs_status measure(double shear, vxs_error *err)
{
    vxs_grid g = { .shape = { 8, 8, 8 },
                   .affine = {
                       { 2, shear, 0, 0 }, { 0, 2, 0, 0 }, { 0, 0, 2, 0 }, { 0, 0, 0, 1 } } };
    uint8_t from[512] = { 1 }, to[512];
    double distances[512];
    for (size_t v = 0; v < 512; v++)
        to[v] = v > 100;
    return vxs_voxel_distances(&g, from, to, distances, err);
}

static vxs_status measure_straight(vxs_error *err)
{
    return measure(0, err);
}

static vxs_status measure_sheared(vxs_error *err)
{
    return measure(0.5, err);
}

Test(distances, run_out_of_memory_cleanly)
{
    cr_assert(fail_each_request(measure_straight) == 5);
    cr_assert(fail_each_request(measure_sheared) == 2);
}
