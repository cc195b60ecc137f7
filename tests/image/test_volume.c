#include "tests/core/check.h"
#include "tests/core/faults.h"

static vxs_volume make(size_t nx, size_t ny, size_t nz)
{
    vxs_error err = VXS_ERROR_INIT;
    vxs_grid grid = {
        .shape = { nx, ny, nz },
        .affine = { { -2, 0.1, 0, 5 }, { 0, 2, 0.2, -6 }, { 0, 0, 3, 7 }, { 0, 0, 0, 1 } },
        .source = VXS_AFFINE_SFORM,
        .sform_code = 2
    };
    vxs_volume volume;
    WORKS(vxs_volume_new(&grid, &volume, &err), err);
    return volume;
}

/* A value that is linear in millimeters: linear interpolation must be exact on any grid. */
static void fill_linear(vxs_volume *volume)
{
    const size_t *n = volume->grid.shape;
    for (size_t v = 0; v < n[0] * n[1] * n[2]; v++) {
        double index[3] = { (double)(v % n[0]), (double)(v / n[0] % n[1]),
                            (double)(v / n[0] / n[1]) };
        double at[3];
        vxs_grid_position(&volume->grid, index, at);
        volume->values[v] = (float)(0.5 * at[0] - 0.25 * at[1] + 2 * at[2] + 100);
    }
}

Test(volume, a_linear_image_stays_linear_on_any_grid)
{
    vxs_error err = VXS_ERROR_INIT;
    vxs_volume v = make(12, 14, 10), out;
    fill_linear(&v);
    vxs_grid target = v.grid;
    /* inside the source, finer, turned and flipped */
    for (size_t d = 0; d < 3; d++)
        target.shape[d] = 7;
    double inner[3] = { 3.3, 4.4, 2.2 }, origin[3];
    vxs_grid_position(&v.grid, inner, origin);
    double turn[3][3] = { { 0.9, 0.2, 0 }, { -0.2, 0.9, 0.1 }, { 0, 0.1, 1.1 } };
    for (int r = 0; r < 3; r++) {
        for (int c = 0; c < 3; c++)
            target.affine[r][c] = turn[r][c] * (r == 0 ? -1 : 1);
        target.affine[r][3] = origin[r];
    }
    WORKS(vxs_volume_resample(&v, &target, VXS_LINEAR, &out, &err), err);
    for (size_t i = 0; i < 343; i++) {
        double index[3] = { (double)(i % 7), (double)(i / 7 % 7), (double)(i / 49) }, at[3];
        vxs_grid_position(&target, index, at);
        double wanted = 0.5 * at[0] - 0.25 * at[1] + 2 * at[2] + 100;
        cr_assert(fabs((double)out.values[i] - wanted) < 1e-4, "%g %g", (double)out.values[i],
                  wanted);
    }
    vxs_volume_release(&out);
    vxs_volume_release(&v);
}

/* A little beyond the outermost centers the border value holds, and then there is nothing. */
Test(volume, a_value_between_voxels)
{
    vxs_volume v = make(6, 5, 4);
    vxs_random random = { .seed = 4 };
    fill_linear(&v);
    for (uint64_t k = 0; k < 300; k++) {
        double index[3], at[3];
        for (int d = 0; d < 3; d++)
            index[d] =
                (double)(v.grid.shape[d] - 1) * vxs_random_uniform(&random, 3 * k + (uint64_t)d);
        vxs_grid_position(&v.grid, index, at);
        double wanted = 0.5 * at[0] - 0.25 * at[1] + 2 * at[2] + 100;
        cr_assert(fabs(vxs_volume_at(&v, index) - wanted) < 1e-4);
    }
    cr_assert(vxs_volume_at(&v, (double[]){ -0.4, 0, 0 }) == (double)v.values[0]);
    cr_assert(vxs_volume_at(&v, (double[]){ 5.4, 4.4, 3.4 }) == (double)v.values[119]);
    cr_assert(vxs_volume_at(&v, (double[]){ -0.6, 0, 0 }) == 0);
    cr_assert(vxs_volume_at(&v, (double[]){ 0, 0, 3.6 }) == 0);
    vxs_volume_release(&v);
}

Test(volume, its_own_grid_changes_nothing)
{
    vxs_error err = VXS_ERROR_INIT;
    const vxs_random random = { 3, 3 };
    vxs_volume v = make(5, 6, 7), out;
    for (size_t i = 0; i < 210; i++)
        v.values[i] = (float)vxs_random_normal(&random, i);
    for (int way = VXS_NEAREST; way <= VXS_LINEAR; way++) {
        WORKS(vxs_volume_resample(&v, &v.grid, (vxs_interpolation)way, &out, &err), err);
        for (size_t i = 0; i < 210; i++)
            cr_assert(fabsf(out.values[i] - v.values[i]) < 1e-5f);
        vxs_volume_release(&out);
    }
    vxs_volume_release(&v);
}

Test(volume, a_flipped_grid_flips_the_order_and_outside_is_nothing)
{
    vxs_error err = VXS_ERROR_INIT;
    vxs_volume v = make(4, 3, 2), out;
    for (size_t i = 0; i < 24; i++)
        v.values[i] = (float)i + 1;
    vxs_grid target = v.grid;
    double last[3] = { 3, 0, 0 }, origin[3];
    vxs_grid_position(&v.grid, last, origin);
    for (int r = 0; r < 3; r++) {
        target.affine[r][0] = -target.affine[r][0];
        target.affine[r][3] = origin[r];
    }
    target.shape[0] = 6; /* two voxels beyond */
    WORKS(vxs_volume_resample(&v, &target, VXS_NEAREST, &out, &err), err);
    for (size_t i = 0; i < 36; i++) {
        size_t x = i % 6, rest = i / 6;
        float wanted = x < 4 ? (float)(3 - x + 4 * rest) + 1 : 0;
        cr_assert(out.values[i] == wanted, "voxel %zu", i);
    }
    vxs_volume_release(&out);
    vxs_volume_release(&v);
}

Test(volume, larger_voxels_hold_the_mean)
{
    vxs_error err = VXS_ERROR_INIT;
    const vxs_random random = { 4, 4 };
    vxs_grid fine = { .shape = { 8, 8, 8 },
                      .affine = { { 1, 0, 0, 0 }, { 0, 1, 0, 0 }, { 0, 0, 1, 0 }, { 0, 0, 0, 1 } },
                      .source = VXS_AFFINE_SFORM },
             coarse;
    vxs_volume v, out;
    WORKS(vxs_volume_new(&fine, &v, &err), err);
    for (size_t i = 0; i < 512; i++)
        v.values[i] = (float)vxs_random_normal(&random, i);
    WORKS(vxs_grid_with_voxel_size(&fine, 4, &coarse, &err), err);
    cr_assert(coarse.shape[0] == 2 && coarse.affine[0][3] == 1.5);
    WORKS(vxs_volume_resample(&v, &coarse, VXS_LINEAR, &out, &err), err);
    for (size_t c = 0; c < 8; c++) {
        double sum = 0;
        for (size_t i = 0; i < 512; i++) {
            size_t x = i % 8 / 4, y = i / 8 % 8 / 4, z = i / 64 / 4;
            sum += x + 2 * y + 4 * z == c ? (double)v.values[i] : 0;
        }
        cr_assert(fabs((double)out.values[c] - sum / 64) < 1e-5);
    }
    vxs_volume_release(&out);
    vxs_volume_release(&v);
}

Test(smooth, a_constant_stays_itself_inside_any_mask)
{
    vxs_error err = VXS_ERROR_INIT;
    const vxs_random random = { 5, 5 };
    vxs_volume v = make(9, 8, 7);
    uint8_t mask[504];
    for (size_t i = 0; i < 504; i++) {
        mask[i] = vxs_random_uniform(&random, i) < 0.6;
        v.values[i] = mask[i] ? 3.5f : 1e6f; /* what is outside must not leak in */
    }
    WORKS(vxs_volume_smooth(&v, 8, mask, &err), err);
    for (size_t i = 0; i < 504; i++)
        cr_assert(fabsf(v.values[i] - (mask[i] ? 3.5f : 0)) < 1e-5f);
    vxs_volume_release(&v);
}

/* A point becomes a Gaussian whose width at half its height is what was asked for. */
Test(smooth, the_width_is_as_asked)
{
    vxs_error err = VXS_ERROR_INIT;
    vxs_grid grid = { .shape = { 41, 41, 41 },
                      .affine = { { 2, 0, 0, 0 }, { 0, 1, 0, 0 }, { 0, 0, 1, 0 }, { 0, 0, 0, 1 } },
                      .source = VXS_AFFINE_SFORM };
    vxs_volume v;
    WORKS(vxs_volume_new(&grid, &v, &err), err);
    size_t center = 20 + 41 * (20 + 41 * 20);
    v.values[center] = 1;
    WORKS(vxs_volume_smooth(&v, 8, NULL, &err), err);
    double sum = 0;
    for (size_t i = 0; i < 41 * 41 * 41; i++)
        sum += (double)v.values[i];
    cr_assert(fabs(sum - 1) < 1e-4, "far from the border nothing is lost: %g", sum);
    float half = v.values[center] / 2;
    cr_assert(fabsf(v.values[center + 2] - half) < 1e-3f * half, "2 voxels of 2 mm along x");
    cr_assert(fabsf(v.values[center + 4 * 41] - half) < 1e-3f * half, "4 voxels of 1 mm along y");
    vxs_volume_release(&v);
}

/* Against flooding by brute force, for every connectivity. */
static void flood(const uint8_t *mask, size_t n, int connectivity, size_t from, int32_t *labels)
{
    size_t stack[1000], top = 0;
    int most = connectivity == 6 ? 1 : connectivity == 18 ? 2 : 3;
    int32_t label = labels[from];
    for (stack[top++] = from; top > 0;) {
        size_t v = stack[--top];
        for (int k = 0; k < 27; k++) {
            int step[3] = { k % 3 - 1, k / 3 % 3 - 1, k / 9 - 1 };
            long x = (long)(v % n) + step[0], y = (long)(v / n % n) + step[1],
                 z = (long)(v / n / n) + step[2], m = (long)n;
            if (abs(step[0]) + abs(step[1]) + abs(step[2]) > most || x < 0 || y < 0 || z < 0 ||
                x >= m || y >= m || z >= m)
                continue;
            size_t w = (size_t)(x + m * (y + m * z));
            if (mask[w] && !labels[w]) {
                labels[w] = label;
                stack[top++] = w;
            }
        }
    }
}

Test(components, agree_with_flooding)
{
    static const int ways[] = { 6, 18, 26 };
    vxs_error err = VXS_ERROR_INIT;
    enum { N = 7, V = N * N * N };
    const size_t shape[3] = { N, N, N };
    for (uint64_t trial = 0; trial < 300; trial++) {
        const vxs_random random = { 6, trial };
        uint8_t mask[V];
        int32_t ours[V], theirs[V] = { 0 }, next = 0;
        size_t count = 0, sizes[V + 1] = { 0 };
        for (size_t v = 0; v < V; v++)
            mask[v] = vxs_random_uniform(&random, v) < 0.1 + 0.1 * (double)(trial % 6);
        int way = ways[trial % 3];
        WORKS(vxs_components(mask, shape, way, ours, &count, &err), err);
        for (size_t v = 0; v < V; v++) {
            if (mask[v] && !theirs[v]) {
                theirs[v] = ++next;
                flood(mask, N, way, v, theirs);
            }
        }
        cr_assert((int32_t)count == next, "%zu components, not %d", count, next);
        for (size_t v = 0; v < V; v++) {
            cr_assert((ours[v] > 0) == (mask[v] > 0) && ours[v] <= next);
            sizes[ours[v]]++;
            for (size_t w = 0; w < v; w++)
                cr_assert((ours[v] == ours[w]) == (theirs[v] == theirs[w]));
        }
        for (size_t k = 2; k <= count; k++)
            cr_assert(sizes[k] <= sizes[k - 1], "the largest comes first");
    }
}

Test(mask, finds_the_ball_fills_its_hole_and_drops_the_crumb)
{
    vxs_error err = VXS_ERROR_INIT;
    vxs_volume v = make(20, 20, 20);
    uint8_t mask[8000];
    size_t wanted = 0;
    for (size_t i = 0; i < 8000; i++) {
        double x = (double)(i % 20) - 10, y = (double)(i / 20 % 20) - 10,
               z = (double)(i / 400) - 10;
        double r = sqrt(x * x + y * y + z * z);
        v.values[i] = r < 7 && r > 2 ? 100 : 1;
        wanted += r < 7;
    }
    v.values[0] = 1000; /* a crumb, and a spike the robust range must survive */
    WORKS(vxs_mask_auto(&v, mask, &err), err);
    size_t found = 0;
    for (size_t i = 0; i < 8000; i++)
        found += mask[i];
    cr_assert(found == wanted, "%zu voxels, not %zu", found, wanted);
    for (size_t i = 0; i < 8000; i++)
        v.values[i] = 5;
    REFUSES(vxs_mask_auto(&v, mask, &err), err, VXS_BAD_DATA, "no mask can be computed");
    vxs_volume_release(&v);
}

/* 5 voxels of 1 mm are covered by 3 of 2 mm, half of which lies beyond either end: what is read
 * stands at the very border, and a grid that was rounded in a file must not move it out. */
Test(volume, rounded_grids_read_the_same_at_the_border)
{
    vxs_error err = VXS_ERROR_INIT;
    const vxs_random random = { 5, 5 };
    vxs_grid fine = { .shape = { 5, 5, 5 },
                      .affine = { { 1, 0, 0, 0 }, { 0, 1, 0, 0 }, { 0, 0, 1, 0 }, { 0, 0, 0, 1 } },
                      .source = VXS_AFFINE_SFORM },
             coarse;
    vxs_volume v, exact, out;
    WORKS(vxs_volume_new(&fine, &v, &err), err);
    for (size_t i = 0; i < 125; i++)
        v.values[i] = 100 + (float)vxs_random_normal(&random, i);
    WORKS(vxs_grid_with_voxel_size(&fine, 2, &coarse, &err), err);
    WORKS(vxs_volume_resample(&v, &coarse, VXS_LINEAR, &exact, &err), err);
    for (int way = 0; way < 4; way++) {
        vxs_grid rounded = coarse;
        rounded.affine[0][0] *= way % 2 ? 1 + 4e-6 : 1 - 4e-6;
        rounded.affine[1][3] += way / 2 ? 1e-5 : -1e-5;
        WORKS(vxs_volume_resample(&v, &rounded, VXS_LINEAR, &out, &err), err);
        for (size_t i = 0; i < 27; i++)
            cr_assert(fabsf(out.values[i] - exact.values[i]) < 1e-2f, "way %d, voxel %zu: %g, %g",
                      way, i, (double)out.values[i], (double)exact.values[i]);
        vxs_volume_release(&out);
    }
    vxs_volume_release(&exact);
    vxs_volume_release(&v);
}

Test(volume, uncovered_voxels_are_counted)
{
    vxs_volume v = make(6, 5, 4);
    uint8_t mask[120];
    vxs_grid other = v.grid;
    memset(mask, 1, sizeof(mask));
    cr_assert(vxs_grid_uncovered(&other, &v.grid, mask) == 0);
    other.shape[0] = 4; /* two slices less */
    cr_assert(vxs_grid_uncovered(&other, &v.grid, mask) == 40);
    mask[5] = mask[0] = 0; /* of a slice that is not covered, and of one that is */
    cr_assert(vxs_grid_uncovered(&other, &v.grid, mask) == 39);
    other.affine[2][3] += 1000;
    cr_assert(vxs_grid_uncovered(&other, &v.grid, mask) == 118);
    vxs_volume_release(&v);
}

static vxs_volume prepared;

static vxs_status mask_and_smooth(vxs_error *err)
{
    uint8_t mask[64];
    vxs_volume other;
    prepared.values[21] = 3;
    vxs_status status = vxs_mask_auto(&prepared, mask, err);
    if (!status)
        status = vxs_volume_smooth(&prepared, 5, mask, err);
    if (!status)
        status = vxs_volume_resample(&prepared, &prepared.grid, VXS_LINEAR, &other, err);
    if (!status)
        vxs_volume_release(&other);
    return status;
}

Test(volume, memory_may_run_out_on_the_way)
{
    prepared = make(4, 4, 4);
    cr_assert(fail_each_request(mask_and_smooth) >= 15);
    vxs_volume_release(&prepared);
}
