/* Designs, views, kernel scores and blocks that cannot be; test_design.c and test_blocks.c have
 * more of what is in their arrays. */
#include "tests/core/check.h"

#include <limits.h>

#define NULL_IS(name) "argument '" name "' is NULL"

enum { N = 4, P = 3 };
static const float x[N * P] = { 1, 2, 3, 4, 4, 1, 3, 2, 2, 2, 1, 5 };
static const double bad[] = { NAN, INFINITY, -1 };

static vxs_design *small_design(void)
{
    vxs_error err = VXS_ERROR_INIT;
    vxs_design *design = NULL;
    WORKS(vxs_dense_new(x, N, P, INT_MAX, &design, &err),
          err); /* as many threads as there may be */
    return design;
}

Test(arguments_design, of_columns)
{
    vxs_error err = VXS_ERROR_INIT;
    vxs_design *design = NULL;
    const int32_t rows[1] = { 0 };
    const size_t starts[P + 1] = { 0, 0, 0, 1 };
    REFUSES(vxs_dense_new(NULL, N, P, 1, &design, &err), err, VXS_MISUSE, "no values");
    REFUSES(vxs_dense_new(x, N, P, 1, NULL, &err), err, VXS_MISUSE, NULL_IS("design"));
    REFUSES(vxs_dense_new(x, SIZE_MAX, SIZE_MAX, 1, &design, &err), err, VXS_MISUSE,
            "larger than memory");
    REFUSES(vxs_sparse_new(x, rows, NULL, N, P, 1, &design, &err), err, VXS_MISUSE,
            "no column starts");
    REFUSES(vxs_sparse_new(NULL, rows, starts, N, P, 1, &design, &err), err, VXS_MISUSE,
            "no values or no row indices");
    REFUSES(vxs_sparse_new(x, rows, starts, N, P, 1, NULL, &err), err, VXS_MISUSE,
            NULL_IS("design"));
    REFUSES(vxs_design_measure(NULL, &err), err, VXS_MISUSE, NULL_IS("design"));
    cr_assert(vxs_design_rows(NULL) == 0 && vxs_design_columns(NULL) == 0);
    vxs_design_free(NULL);
}

Test(arguments_design, of_reading)
{
    const size_t set[3] = { 0, P, SIZE_MAX };
    const double v[N] = { 1, 1, 1, 1 };
    double s[P], block[3 * N];
    vxs_design *design = small_design();
    vxs_design_scan(NULL, v, 1, s);
    vxs_design_scan(design, v, 1, NULL);
    vxs_design_scan(design, NULL, 1, s);
    cr_assert(isnan(s[0]) && isnan(s[P - 1]));
    vxs_design_scan(design, v, 0, s);
    vxs_design_fetch(NULL, set, 3, block);
    vxs_design_fetch(design, NULL, 3, block);
    vxs_design_fetch(design, set, 3, NULL);
    vxs_design_fetch(design, set, 3, block);
    for (size_t i = 0; i < N; i++)
        cr_assert(block[i] == (double)x[i] && isnan(block[N + i]) && isnan(block[2 * N + i]));
    vxs_design_free(design);
}

Test(arguments_design, of_views_and_scores)
{
    vxs_error err = VXS_ERROR_INIT;
    vxs_design *base = small_design(), *made = NULL;
    const vxs_view plain = { .standardize = VXS_STANDARDIZE_NONE };
    const vxs_view odd = { .standardize = (vxs_standardize)-1 };
    const double y[N] = { 1, -1, 1, -1 };
    REFUSES(vxs_view_new(NULL, true, &plain, &made, &err), err, VXS_MISUSE, NULL_IS("base"));
    REFUSES(vxs_view_new(base, true, NULL, &made, &err), err, VXS_MISUSE, NULL_IS("view"));
    REFUSES(vxs_view_new(base, true, &plain, NULL, &err), err, VXS_MISUSE, NULL_IS("design"));
    REFUSES(vxs_view_new(base, true, &odd, &made, &err), err, VXS_MISUSE,
            "there is no standardization number -1");
    REFUSES(vxs_view_new(small_design(), false, &odd, &made, &err), err, VXS_MISUSE, "number -1");
    cr_assert(!vxs_view_shift(NULL) && !vxs_view_factor(NULL) && !vxs_view_shift(base));
    REFUSES(vxs_scores_new(NULL, NULL, true, y, 0, 0, &made, &err), err, VXS_MISUSE,
            NULL_IS("base"));
    REFUSES(vxs_scores_new(NULL, base, true, NULL, 0, 0, &made, &err), err, VXS_MISUSE,
            NULL_IS("y"));
    REFUSES(vxs_scores_new(NULL, base, true, y, 0, 0, NULL, &err), err, VXS_MISUSE,
            NULL_IS("design"));
    for (size_t k = 0; k < sizeof(bad) / sizeof(bad[0]); k++)
        REFUSES(vxs_scores_new(NULL, base, true, y, bad[k], 0, &made, &err), err, VXS_MISUSE,
                "the bandwidth must be a finite number of at least 0, not ");
    vxs_design_free(base);
}

Test(arguments_design, of_blocks)
{
    vxs_error err = VXS_ERROR_INIT;
    vxs_design *design = small_design();
    vxs_blocks *blocks = NULL;
    vxs_groups groups;
    const vxs_feature_map none = { .kind = VXS_FEATURE_MAP_NONE }, odd = { .kind = -1 };
    WORKS(vxs_groups_new(P, 1, 1, &groups, &err), err);
    REFUSES(vxs_blocks_new(NULL, NULL, &none, &blocks, &err), err, VXS_MISUSE, NULL_IS("design"));
    REFUSES(vxs_blocks_new(NULL, design, NULL, &blocks, &err), err, VXS_MISUSE, NULL_IS("map"));
    REFUSES(vxs_blocks_new(NULL, design, &none, NULL, &err), err, VXS_MISUSE, NULL_IS("blocks"));
    REFUSES(vxs_blocks_new(NULL, design, &odd, &blocks, &err), err, VXS_MISUSE,
            "there is no feature map number -1");
    for (size_t k = 0; k < sizeof(bad) / sizeof(bad[0]); k++) {
        const vxs_feature_map steep = { .kind = VXS_FEATURE_MAP_POLY2, .gamma = bad[k] };
        const vxs_feature_map high = { VXS_FEATURE_MAP_POLY2, 1, bad[k], 0 };
        const vxs_feature_map wide = { .kind = VXS_FEATURE_MAP_GAUSS, .bandwidth = bad[k] };
        REFUSES(vxs_blocks_new(NULL, design, &steep, &blocks, &err), err, VXS_MISUSE, "gamma must");
        REFUSES(vxs_blocks_new(NULL, design, &high, &blocks, &err), err, VXS_MISUSE, "coef0");
        REFUSES(vxs_blocks_new(NULL, design, &wide, &blocks, &err), err, VXS_MISUSE, "bandwidth");
    }
    REFUSES(vxs_blocks_of_groups(NULL, NULL, &groups, 0, &blocks, &err), err, VXS_MISUSE,
            NULL_IS("design"));
    REFUSES(vxs_blocks_of_groups(NULL, design, NULL, 0, &blocks, &err), err, VXS_MISUSE,
            NULL_IS("groups"));
    REFUSES(vxs_blocks_of_groups(NULL, design, &groups, 0, NULL, &err), err, VXS_MISUSE,
            NULL_IS("blocks"));
    groups.end[0] = 1;
    groups.member[0] = P;
    REFUSES(vxs_blocks_of_groups(NULL, design, &groups, 0, &blocks, &err), err, VXS_MISUSE,
            "group 0 has feature 3 of 3");
    vxs_blocks_free(NULL);
    vxs_groups_release(&groups);
    vxs_design_free(design);
}
