/* Units of maps: numbers of pairs, pairs that are found by floats, and the kernels that columns
 * make up. */
#include "tests/design/blocks.h"

#include "design/blocks.h"

/* ---- Pairs ----------------------------------------------------------------------------------- */

static const vxs_feature_map plain = { .kind = VXS_FEATURE_MAP_NONE };
static const vxs_feature_map poly2 = { .kind = VXS_FEATURE_MAP_POLY2, .gamma = 0.5, .coef0 = 1 };

Test(feature_maps, pairs_are_numbered_row_by_row)
{
    size_t feature[2];
    for (size_t p = 0; p <= 40; p++) {
        size_t index = 2 * p;
        cr_assert(vxs_feature_map_count(&poly2, p) == p * (p + 3) / 2);
        for (size_t j = 0; j < 2 * p; j++) {
            vxs_feature_map_features(&poly2, p, j, feature);
            cr_assert(feature[0] == j % p && feature[1] == j % p);
        }
        for (size_t a = 0; a < p; a++)
            for (size_t b = a + 1; b < p; b++, index++) {
                vxs_feature_map_features(&poly2, p, index, feature);
                cr_assert(feature[0] == a && feature[1] == b, "unit %zu of %zu features", index, p);
            }
        cr_assert(index == vxs_feature_map_count(&poly2, p));
    }
    /* as many as there can be numbers for */
    vxs_random random = { .seed = 1, .stream = 1 };
    const size_t p = 6074000998, last = vxs_feature_map_count(&poly2, p) - 1;
    cr_assert(last < SIZE_MAX - 1);
    for (uint64_t k = 0; k < 1000; k++) {
        size_t index = k == 0   ? last
                       : k == 1 ? 2 * p
                                : 2 * p + vxs_random_below(&random, k, last - 2 * p);
        vxs_feature_map_features(&poly2, p, index, feature);
        size_t a = feature[0], b = feature[1];
        size_t before = a % 2 ? a * (p - (a + 1) / 2) : a / 2 * (2 * p - a - 1);
        cr_assert(a < b && b < p && 2 * p + before + (b - a - 1) == index, "%zu: %zu, %zu", index,
                  a, b);
    }
}

Test(feature_maps, more_pairs_than_numbers_are_refused)
{
    vxs_error err = VXS_ERROR_INIT;
    vxs_design *design;
    vxs_blocks *blocks;
    float x = 1;
    cr_assert(vxs_feature_map_count(&poly2, (size_t)1 << 33) == SIZE_MAX);
    cr_assert(vxs_feature_map_count(&poly2, SIZE_MAX) == SIZE_MAX);
    cr_assert(vxs_feature_map_count(&plain, SIZE_MAX - 1) == SIZE_MAX - 1);
    WORKS(vxs_dense_new(&x, 1, (size_t)1 << 33, 1, &design, &err), err);
    REFUSES(vxs_blocks_new(NULL, design, &poly2, &blocks, &err), err, VXS_MISUSE,
            "8589934592 features have more pairs");
    vxs_design_free(design);
}

/* The matrix that has every unit as a column, as far as floats can tell. */
Test(feature_maps, pairs_are_columns_of_the_expanded_matrix)
{
    vxs_error err = VXS_ERROR_INIT;
    example e = blocks_example(9, 30, 40);
    size_t count = vxs_feature_map_count(&poly2, e.p);
    example wide = { .n = e.n, .p = count, .v = e.v };
    vxs_scored best[50], expanded[50];
    size_t found;
    vxs_blocks *blocks;
    vxs_design *design = blocks_design(&e, STANDARDISED, 2);
    double *column = malloc(e.n * sizeof(*column));
    wide.x = malloc(count * e.n * sizeof(*wide.x));
    WORKS(vxs_blocks_new(NULL, design, &poly2, &blocks, &err), err);
    for (size_t u = 0; u < count; u++) {
        vxs_blocks_fetch(blocks, u, column);
        for (size_t i = 0; i < e.n; i++)
            wide.x[u * e.n + i] = (float)column[i];
    }
    WORKS(vxs_blocks_best(blocks, e.v, 50, best, &found, &err), err);
    cr_assert(vxs_blocks_get_work(blocks).passes == 1);
    vxs_blocks_free(blocks);
    vxs_design_free(design);
    design = blocks_design(&wide, RAW, 2);
    WORKS(vxs_blocks_new(NULL, design, &plain, &blocks, &err), err);
    WORKS(vxs_blocks_best(blocks, e.v, 50, expanded, &found, &err), err);
    for (size_t k = 0; k < 50; k++)
        cr_assert(fabs(best[k].score - expanded[k].score) <= 1e-5 * best[0].score,
                  "place %zu: %g, not %g", k, best[k].score, expanded[k].score);
    vxs_blocks_free(blocks);
    vxs_design_free(design);
    free(column);
    free(wide.x);
    blocks_release(&e);
}

/* More columns than a block has, held, in panels, and one at a time. */
Test(feature_maps, columns_that_do_not_fit_are_fetched_again)
{
    static const size_t limits[] = { SIZE_MAX, 900 * 6 * sizeof(float), 5000, 0 };
    static const size_t mosts[] = { 1, 20, 3000 };
    vxs_error err = VXS_ERROR_INIT;
    example e = blocks_example(4, 6, 1100), small = { .n = 6, .p = 90, .x = e.x, .v = e.v };
    vxs_design *design = blocks_design(&e, STANDARDISED, 2), *few = blocks_design(&small, RAW, 1);
    vxs_blocks *blocks[4];
    for (int k = 0; k < 4; k++)
        WORKS(vxs_blocks_pairs_new(NULL, k < 3 ? design : few, &poly2, limits[k], &blocks[k], &err),
              err);
    blocks_agree(blocks[0], e.v, 50);
    units_fewer_are_the_first(blocks[0], e.v, mosts, 3);
    for (size_t m = 0; m < 3; m++) {
        blocks_same(blocks[0], blocks[1], e.v, mosts[m]);
        blocks_same(blocks[0], blocks[2], e.v, mosts[m]);
    }
    blocks_agree(blocks[3], e.v, 50);
    for (int k = 0; k < 4; k++)
        vxs_blocks_free(blocks[k]);
    vxs_design_free(design);
    vxs_design_free(few);
    blocks_release(&e);
}

/* What fills the lists of candidates: scores that rise all the way, sizes far apart, three columns
 * again and again, hardly any that are not 0, and columns that are the same but for a float's last
 * bits, whose order no sums of floats can tell. */
enum { RISING, FAR_APART, THREE, HARDLY_ANY, ALIKE, ORDERS };
static float reordered(const example *e, int order, size_t k)
{
    vxs_random random = { .seed = 8, .stream = (uint64_t)order };
    size_t j = k / e->n;
    double x = (double)e->x[k];
    switch (order) {
    case RISING:
        return (float)(x * (1 + 0.1 * (double)j));
    case FAR_APART:
        return (float)(x * pow(0.8, (double)j));
    case THREE:
        return e->x[k % (3 * e->n)];
    case HARDLY_ANY:
        return j % 97 == 96 ? e->x[k] : 0;
    default:
        return (float)((double)e->x[k % e->n] * (1 + 2e-7 * vxs_random_normal(&random, k)));
    }
}

Test(feature_maps, no_order_of_pairs_makes_a_difference)
{
    static const size_t mosts[] = { 1, 7, 100, 2500 };
    vxs_error err = VXS_ERROR_INIT;
    for (int order = 0; order < ORDERS; order++) {
        example e = blocks_example(20, 40, 300);
        for (size_t k = 0; k < e.n * e.p; k++)
            e.x[k] = reordered(&e, order, k);
        vxs_design *designs[2] = { blocks_design(&e, RAW, 1), blocks_design(&e, RAW, 2) };
        vxs_blocks *blocks[2];
        for (int t = 0; t < 2; t++)
            WORKS(vxs_blocks_new(NULL, designs[t], &poly2, &blocks[t], &err), err);
        units_fewer_are_the_first(blocks[0], e.v, mosts, 4);
        for (size_t m = 0; m < 4; m++)
            blocks_same(blocks[0], blocks[1], e.v, mosts[m]);
        blocks_agree(blocks[1], e.v, 30);
        for (int t = 0; t < 2; t++) {
            vxs_blocks_free(blocks[t]);
            vxs_design_free(designs[t]);
        }
        blocks_release(&e);
    }
}

/* Values and directions of any size: floats would not hold them as they are. */
Test(feature_maps, sizes_beyond_floats_do_not_matter)
{
    vxs_error err = VXS_ERROR_INIT;
    for (int way = 0; way < 4; way++) {
        example e = blocks_example(30, 9, 60);
        for (size_t k = 0; k < e.n * e.p; k++)
            e.x[k] *= way % 2 ? 1e30F : 1e-30F;
        for (size_t i = 0; i < e.n; i++)
            e.v[i] *= way / 2 ? 1e60 : 1e-30;
        vxs_design *design = blocks_design(&e, RAW, 1);
        vxs_blocks *blocks;
        WORKS(vxs_blocks_new(NULL, design, &poly2, &blocks, &err), err);
        blocks_agree(blocks, e.v, 40);
        vxs_blocks_free(blocks);
        vxs_design_free(design);
        blocks_release(&e);
    }
}

/* ---- Kernels --------------------------------------------------------------------------------- */

/* Inner products of subjects over all columns of some units. */
static double product_of(vxs_blocks *blocks, size_t first, size_t count, size_t i, size_t l)
{
    size_t n = vxs_blocks_rows(blocks);
    double sum = 0;
    for (size_t u = first; u < first + count; u++) {
        size_t width = vxs_blocks_width(blocks, u);
        double *block = malloc(n * width * sizeof(*block));
        vxs_blocks_fetch(blocks, u, block);
        for (size_t k = 0; k < width; k++)
            sum += block[k * n + i] * block[k * n + l];
        free(block);
    }
    return sum;
}

Test(feature_maps, products_of_columns_are_the_polynomial)
{
    vxs_error err = VXS_ERROR_INIT;
    static const vxs_feature_map map = { .kind = VXS_FEATURE_MAP_POLY2,
                                         .gamma = 0.7,
                                         .coef0 = 1.3 };
    example e = blocks_example(12, 8, 9);
    vxs_design *design = blocks_design(&e, RAW, 1);
    vxs_blocks *blocks;
    WORKS(vxs_blocks_new(NULL, design, &map, &blocks, &err), err);
    for (size_t i = 0; i < e.n; i++)
        for (size_t l = 0; l < e.n; l++) {
            double along = 0;
            for (size_t j = 0; j < e.p; j++)
                along += (double)e.x[j * e.n + i] * (double)e.x[j * e.n + l];
            double kernel = (0.7 * along + 1.3) * (0.7 * along + 1.3) - 1.3 * 1.3;
            double product = product_of(blocks, 0, vxs_blocks_count(blocks), i, l);
            cr_assert(fabs(product - kernel) <= 1e-12 * kernel, "%g, not %g", product, kernel);
        }
    vxs_blocks_free(blocks);
    vxs_design_free(design);
    blocks_release(&e);
}

Test(feature_maps, products_of_steps_are_smaller_values)
{
    vxs_error err = VXS_ERROR_INIT;
    enum { ROWS = 201 };
    float x[2 * ROWS];
    double low, high;
    for (size_t i = 0; i < ROWS; i++) {
        x[i] = 5 + (float)((i * 37) % ROWS) / 8; /* every half hundredth of the way, exactly */
        x[ROWS + i] = 2;
    }
    vxs_design *design;
    vxs_blocks *blocks;
    vxs_feature_map map = { .kind = VXS_FEATURE_MAP_HIK };
    WORKS(vxs_dense_new(x, ROWS, 2, 1, &design, &err), err);
    WORKS(vxs_blocks_new(NULL, design, &map, &blocks, &err), err);
    vxs_blocks_range(blocks, 0, &low, &high);
    cr_assert(low == 5 && high == 30);
    for (size_t i = 0; i < ROWS; i += 10)
        for (size_t l = 0; l < ROWS; l++) {
            size_t a = i * 37 % ROWS / 2, b = l * 37 % ROWS / 2, both = a < b ? a : b;
            double product = product_of(blocks, 0, 1, i, l);
            cr_assert(fabs(product - (double)both / 100) <= 1e-13, "%zu and %zu: %g", a, b,
                      product);
        }
    cr_assert(product_of(blocks, 1, 1, 3, 4) == 0, "a constant takes no steps");
    double beyond[3] = { 4, 31, 17.5 }, block[3 * VXS_FEATURE_MAP_HIK_WIDTH], sums[3] = { 0 };
    vxs_feature_map_columns(&map, 2, 0, beyond, beyond, low, high, 3, block);
    for (size_t k = 0; k < 3 * VXS_FEATURE_MAP_HIK_WIDTH; k++)
        sums[k % 3] += block[k] * 10;
    cr_assert(sums[0] == 0 && sums[1] == 100 && sums[2] == 50);
    vxs_blocks_free(blocks);
    vxs_design_free(design);
}

/* As far as the series' own error goes, for values that are at most six bandwidths apart. */
Test(feature_maps, products_of_waves_are_nearly_the_gaussian_kernel)
{
    enum { POINTS = 241 };
    vxs_feature_map map = { .kind = VXS_FEATURE_MAP_GAUSS, .bandwidth = 0.8 };
    double x[POINTS], *block = malloc(POINTS * VXS_FEATURE_MAP_GAUSS_WIDTH * sizeof(*block)),
                      worst = 0;
    for (size_t i = 0; i < POINTS; i++)
        x[i] = 100 + 6 * 0.8 * (double)i / (POINTS - 1);
    vxs_feature_map_columns(&map, 1, 0, x, x, 0, 1, POINTS, block);
    for (size_t i = 0; i < POINTS; i++)
        for (size_t l = 0; l < POINTS; l++) {
            double product = 0, apart = (x[i] - x[l]) / 0.8;
            for (size_t k = 0; k < VXS_FEATURE_MAP_GAUSS_WIDTH; k++)
                product += block[k * POINTS + i] * block[k * POINTS + l];
            worst = fmax(worst, fabs(product - exp(-apart * apart / 2)));
        }
    cr_assert(worst < 6.5e-4, "off by %g", worst);
    cr_assert(worst > 6e-4, "better than it can be: %g", worst);
    free(block);
}

/* Angles of any size: beyond what lanes take they are turned one by one. */
Test(feature_maps, waves_reach_far)
{
    vxs_error err = VXS_ERROR_INIT;
    static const vxs_feature_map map = { .kind = VXS_FEATURE_MAP_GAUSS, .bandwidth = 0.37 };
    for (int way = 0; way < 3; way++) {
        example e = blocks_example(31, 45, 40);
        for (size_t k = 0; k < e.n * e.p; k++)
            e.x[k] *= way == 0 ? 1e5F : way == 1 ? 4e5F : 1e12F;
        vxs_design *design = blocks_design(&e, RAW, 2);
        vxs_blocks *blocks;
        WORKS(vxs_blocks_new(NULL, design, &map, &blocks, &err), err);
        blocks_agree(blocks, e.v, 40);
        vxs_blocks_free(blocks);
        vxs_design_free(design);
        blocks_release(&e);
    }
}
