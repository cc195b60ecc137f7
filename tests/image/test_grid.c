#include "tests/core/check.h"

static vxs_grid grid_of(double x, double y, double z)
{
    return (
        vxs_grid){ .shape = { 10, 12, 14 },
                   .affine = { { x, 0, 0, 5 }, { 0, y, 0, -6 }, { 0, 0, z, 7 }, { 0, 0, 0, 1 } },
                   .source = VXS_AFFINE_SFORM,
                   .sform_code = 1 };
}

Test(grid, inverse_takes_positions_back)
{
    const vxs_random random = { 1, 1 };
    for (uint64_t trial = 0; trial < 200; trial++) {
        vxs_grid g = { .shape = { 5, 5, 5 } };
        double inverse[4][4], at[3], index[3] = { 1.5, -2, 7 };
        for (int r = 0; r < 3; r++)
            for (int c = 0; c < 4; c++)
                g.affine[r][c] = 5 * vxs_random_normal(&random, trial * 12 + (uint64_t)(4 * r + c));
        g.affine[3][3] = 1;
        cr_assert(vxs_grid_inverse(&g, inverse));
        vxs_grid_position(&g, index, at);
        for (int r = 0; r < 3; r++) {
            double back = inverse[r][3];
            for (int c = 0; c < 3; c++)
                back += inverse[r][c] * at[c];
            cr_assert(fabs(back - index[r]) < 1e-8 * (1 + 1 / vxs_grid_voxel_volume(&g)));
        }
    }
    vxs_grid flat = grid_of(2, 2, 0);
    double inverse[4][4];
    cr_assert(!vxs_grid_inverse(&flat, inverse));
}

Test(grid, words)
{
    char text[VXS_ORIENTATION_TEXT];
    vxs_grid ras = grid_of(2, 2, 2), las = grid_of(-2, 2, 2);
    cr_assert_str_eq(vxs_grid_orientation_text(&ras, text), "RAS");
    cr_assert_str_eq(vxs_grid_orientation_text(&las, text), "LAS");
    cr_assert(vxs_grid_handedness(&ras) == 1 && vxs_grid_handedness(&las) == -1);
    las.source = VXS_AFFINE_NONE;
    cr_assert_str_eq(vxs_grid_orientation_text(&las, text), "orientation unknown");
    ras.affine[0][1] = 2 * tan(10 * 3.14159265358979 / 180);
    cr_assert_str_eq(vxs_grid_orientation_text(&ras, text), "RAS, oblique by 10.0 degrees");
}

Test(grid, distance_is_that_of_the_worst_corner)
{
    vxs_grid a = grid_of(2, 2, 2), b = a;
    cr_assert(vxs_grid_distance(&a, &b) == 0);
    b.affine[1][3] += 3;
    cr_assert(fabs(vxs_grid_distance(&a, &b) - 3) < 1e-12);
    b = a;
    b.affine[0][0] = 2.01; /* 9 voxels of 0.01 mm */
    cr_assert(fabs(vxs_grid_distance(&a, &b) - 0.09) < 1e-12);
    b = grid_of(-2, 2, 2);
    cr_assert(fabs(vxs_grid_distance(&a, &b) - 36) < 1e-12, "a flip is seen");
    b.shape[0] = 11;
    cr_assert(isinf(vxs_grid_distance(&a, &b)));
}

Test(grid, another_voxel_size_keeps_the_field_of_view_in_the_middle)
{
    vxs_error err = VXS_ERROR_INIT;
    for (double size = 0.7; size < 9; size += 0.9) {
        vxs_grid a = grid_of(-2, 2, 3), b;
        double first[3], last[3], middle_a[3], middle_b[3], edges[3];
        WORKS(vxs_grid_with_voxel_size(&a, size, &b, &err), err);
        vxs_grid_voxel_size(&b, edges);
        for (int d = 0; d < 3; d++) {
            first[d] = ((double)a.shape[d] - 1) / 2;
            last[d] = ((double)b.shape[d] - 1) / 2;
            cr_assert(fabs(edges[d] - size) < 1e-12);
        }
        vxs_grid_position(&a, first, middle_a);
        vxs_grid_position(&b, last, middle_b);
        for (int d = 0; d < 3; d++)
            cr_assert(fabs(middle_a[d] - middle_b[d]) < 1e-9, "size %g", size);
        char letters[4];
        vxs_grid_orientation(&b, letters);
        cr_assert_str_eq(letters, "LAS");
    }
}

static bool is_fine(const vxs_grid *grid)
{
    vxs_error err = VXS_ERROR_INIT;
    vxs_status status = vxs_grid_check(grid, "cannot use 'x'", &err);
    cr_assert(!status || status == VXS_BAD_DATA);
    cr_assert(!status == !err.status);
    cr_assert(!status || strncmp(err.message, "cannot use 'x': ", 16) == 0);
    return !status;
}

/* What cannot be worked on is known before anything is allocated. */
Test(grid, is_checked_before_it_is_used)
{
    static const size_t shapes[][3] = {
        { 0, 5, 5 },
        { 5, 0, 5 },
        { 5, 5, 0 },
        { (size_t)1 << 32, (size_t)1 << 32, 1 }, /* 2^64 */
        { (size_t)1 << 22, (size_t)1 << 21, (size_t)1 << 21 },
        { 1, 1, (size_t)1 << 31 },
        { SIZE_MAX, SIZE_MAX, SIZE_MAX },
        { 3, SIZE_MAX / 3 + 1, 1 },
    };
    vxs_grid good = grid_of(2, 2, 2), g = good;
    cr_assert(is_fine(&g));
    for (size_t k = 0; k < sizeof(shapes) / sizeof(shapes[0]); k++) {
        memcpy(g.shape, shapes[k], sizeof(g.shape));
        cr_assert(!is_fine(&g), "shape %zu", k);
    }
    static const double strange[] = { NAN, INFINITY, -INFINITY, 1e10, -1e300, 1e308 };
    for (int r = 0; r < 3; r++)
        for (int c = 0; c < 4; c++)
            for (size_t k = 0; k < sizeof(strange) / sizeof(strange[0]); k++) {
                g = good;
                g.affine[r][c] = strange[k];
                cr_assert(!is_fine(&g), "%g at %d, %d", strange[k], r, c);
            }
    static const double sizes[] = { 0, 1e-30, 1e-10, 1e6, 1e8, 1e30 };
    for (size_t k = 0; k < sizeof(sizes) / sizeof(sizes[0]); k++) {
        g = grid_of(sizes[k], sizes[k], sizes[k]);
        cr_assert(!is_fine(&g), "voxels of %g mm", sizes[k]);
    }
    g = good;
    memcpy(g.affine[1], g.affine[0], sizeof(g.affine[0])); /* no inverse */
    cr_assert(!is_fine(&g));
}

Test(grid, voxels_that_are_too_small_are_refused)
{
    static const double sizes[] = { 1e-3, 1e-6, 1e-30, 5e-324, 0, NAN };
    for (size_t k = 0; k < sizeof(sizes) / sizeof(sizes[0]); k++) {
        vxs_grid a = grid_of(2, 2, 2), b;
        vxs_error err = VXS_ERROR_INIT;
        cr_assert(vxs_grid_with_voxel_size(&a, sizes[k], &b, &err) == VXS_MISUSE, "%g", sizes[k]);
        cr_assert(strstr(err.message, "10 x 12 x 14"), "%s", err.message);
    }
}

/* The axes of `g` in another order and direction, on the same voxels. */
static vxs_grid turned(const vxs_grid *g, const int axis[3], const bool back[3])
{
    vxs_grid other = *g;
    double first[3] = { 0, 0, 0 }, at[3];
    for (int c = 0; c < 3; c++) {
        other.shape[c] = g->shape[axis[c]];
        for (int r = 0; r < 3; r++)
            other.affine[r][c] = (back[c] ? -1 : 1) * g->affine[r][axis[c]];
        if (back[c])
            first[axis[c]] = (double)g->shape[axis[c]] - 1;
    }
    vxs_grid_position(g, first, at);
    for (int r = 0; r < 3; r++)
        other.affine[r][3] = at[r];
    return other;
}

Test(grid, turned_axes_are_the_same_voxels)
{
    static const int ways[6][3] = { { 0, 1, 2 }, { 0, 2, 1 }, { 1, 0, 2 },
                                    { 1, 2, 0 }, { 2, 0, 1 }, { 2, 1, 0 } };
    vxs_grid g = grid_of(2, 1.5, 3);
    g.affine[0][1] = 0.4; /* sheared */
    g.affine[2][0] = -0.3;
    for (int w = 0; w < 6; w++)
        for (int flips = 0; flips < 8; flips++) {
            const bool back[3] = { flips & 1, flips & 2, flips & 4 };
            vxs_grid other = turned(&g, ways[w], back);
            cr_assert(vxs_grid_is_turned(&g, &other, 1e-9), "%d %d", w, flips);
            cr_assert(vxs_grid_is_turned(&other, &g, 1e-9), "%d %d", w, flips);
            vxs_grid moved = other;
            moved.affine[1][3] += 0.2;
            cr_assert(!vxs_grid_is_turned(&g, &moved, 0.1) && vxs_grid_is_turned(&g, &moved, 0.3));
            other.shape[1]++;
            cr_assert(!vxs_grid_is_turned(&g, &other, 0.1), "another shape");
        }
    vxs_grid half = g; /* the same field of view with other voxels */
    half.shape[0] *= 2;
    for (int r = 0; r < 3; r++) {
        half.affine[r][0] /= 2;
        half.affine[r][3] -= half.affine[r][0] / 2;
    }
    cr_assert(!vxs_grid_is_turned(&g, &half, 0.1));
    vxs_grid thin = grid_of(2, 2, 2), thick = grid_of(2, 2, 2.5);
    thin.shape[2] = thick.shape[2] = 1;
    cr_assert(!vxs_grid_is_turned(&thin, &thick, 0.1), "one voxel of another size");
    vxs_grid skew = grid_of(2, 2, 2);
    skew.affine[0][1] = 2; /* steps of one voxel go along two axes */
    vxs_grid plain = grid_of(2, 2, 2);
    cr_assert(!vxs_grid_is_turned(&plain, &skew, 0.1) && !vxs_grid_is_turned(&skew, &plain, 0.1));
}
