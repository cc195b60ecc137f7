/* Values that are NaN or infinite: every design refuses them when it is measured, and names them.
 */
#include "tests/core/check.h"

#include "design/exponentials.h"
#include "design/gauss.h"

#include <float.h>

enum { N = 9, P = 70, ROW = 4, COLUMN = 66 };

typedef struct {
    float x[N * P];
    int32_t rows[N * P];
    size_t starts[P + 1];
    vxs_design *base;
} example;

static vxs_status refuse(const void *owner, size_t column, size_t row, double value, vxs_error *err)
{
    return vxs_fail(err, VXS_BAD_DATA, "%s: column %zu, row %zu is %g", (const char *)owner, column,
                    row, value);
}

/* With a value that no sum is finite with; sparse: all values are stored. */
static void make(example *e, float value, size_t row, bool sparse)
{
    vxs_random random = { .seed = 5 };
    vxs_error err = VXS_ERROR_INIT;
    for (size_t k = 0; k < N * P; k++) {
        e->x[k] = (float)vxs_random_normal(&random, k);
        e->rows[k] = (int32_t)(k % N);
    }
    for (size_t j = 0; j <= P; j++)
        e->starts[j] = j * N;
    e->x[COLUMN * N + row] = value;
    if (sparse)
        WORKS(vxs_sparse_new(e->x, e->rows, e->starts, N, P, 2, &e->base, &err), err);
    else
        WORKS(vxs_dense_new(e->x, N, P, 2, &e->base, &err), err);
    vxs_design_set_owner(e->base, refuse, "my data");
}

static const float bad[] = { (float)NAN, INFINITY, -INFINITY };
static const size_t rows[] = { ROW, 0, N - 1 };

static void refuses_both(vxs_design *design, const char *part)
{
    vxs_error err = VXS_ERROR_INIT;
    double v[N], s[P];
    for (size_t i = 0; i < N; i++)
        v[i] = 1;
    REFUSES(vxs_design_measure(design, &err), err, VXS_BAD_DATA, part);
    cr_assert(!vxs_design_norms(design));
    REFUSES(vxs_design_measure_scan(design, v, s, &err), err, VXS_BAD_DATA, part);
    cr_assert(!vxs_design_norms(design));
}

Test(finite, designs_and_views_name_the_value)
{
    static const size_t others[] = { 1, 2, 3, 5 }; /* the row itself is not looked at */
    for (size_t k = 0; k < 3 * 3 * 2; k++) {
        char part[80];
        vxs_error err = VXS_ERROR_INIT;
        example e;
        vxs_design *design;
        size_t row = rows[k / 3 % 3];
        make(&e, bad[k % 3], row, k / 9);
        snprintf(part, sizeof(part), "my data: column 66, row %zu is %g", row, (double)bad[k % 3]);
        refuses_both(e.base, part);
        for (int standardize = 0; standardize < 3; standardize++) {
            vxs_view all = { .standardize = (vxs_standardize)standardize };
            vxs_view some = { .standardize = (vxs_standardize)standardize,
                              .rows = others,
                              .row_count = 4 };
            WORKS(vxs_view_new(e.base, true, standardize ? &all : &some, &design, &err), err);
            refuses_both(design, part);
            vxs_design_free(design);
        }
        vxs_design_free(e.base);
    }
}

Test(finite, without_an_owner_by_numbers)
{
    example e;
    make(&e, (float)NAN, ROW, false);
    vxs_design_set_owner(e.base, NULL, NULL);
    refuses_both(e.base, "column 66 of the design is nan in row 4");
    vxs_design_free(e.base);
}

/* What is made of a view passes on what it says. */
Test(finite, whatever_is_made_of_columns_refuses)
{
    static const vxs_view view = { .standardize = VXS_STANDARDIZE_UNIT };
    static const int maps[] = { VXS_FEATURE_MAP_NONE, VXS_FEATURE_MAP_POLY2, VXS_FEATURE_MAP_GAUSS,
                                VXS_FEATURE_MAP_HIK };
    for (size_t k = 0; k < 3; k++) {
        vxs_error err = VXS_ERROR_INIT;
        example e;
        vxs_design *design, *made;
        vxs_graph chain;
        vxs_forest forest;
        double y[N] = { 1, -1, 1, 1, -1, -1, 1, -1, 1 };
        make(&e, bad[k], ROW, false);
        WORKS(vxs_view_new(e.base, true, &view, &design, &err), err);
        WORKS(vxs_graph_chain(P, &chain, &err), err);
        WORKS(vxs_forest_new(&chain, &forest, &err), err);
        WORKS(vxs_subtree_sums_new(design, true, &forest, &made, &err), err);
        REFUSES(vxs_design_measure(made, &err), err, VXS_BAD_DATA, "my data: column 66, row 4");
        vxs_design_free(made);
        for (int width = 0; width < 2; width++) {
            REFUSES(vxs_scores_new(NULL, design, true, y, width, 0, &made, &err), err, VXS_BAD_DATA,
                    "my data: column 66, row 4");
            REFUSES(vxs_kernels_new(design, true, width, &made, &err), err, VXS_BAD_DATA,
                    "my data: column 66, row 4");
        }
        for (size_t m = 0; m < 4; m++) {
            vxs_feature_map map = { .kind = maps[m], .gamma = 1, .coef0 = 1, .bandwidth = 1 };
            vxs_blocks *units;
            REFUSES(vxs_blocks_new(NULL, design, &map, &units, &err), err, VXS_BAD_DATA,
                    "my data: column 66, row 4");
        }
        vxs_forest_release(&forest);
        vxs_graph_release(&chain);
        vxs_design_free(design);
        vxs_design_free(e.base);
    }
}

/* ---- Sums of Gaussians ----------------------------------------------------------------------- */

/* Any double may stand anywhere; the sums are NaN where a place or a point is no number. */
Test(finite, sums_of_gaussians_are_safe_on_any_double)
{
    static const double values[] = { NAN, INFINITY, -INFINITY, DBL_MAX, -DBL_MAX, DBL_MIN, 1e12 };
    enum { POINTS = 150 };
    vxs_random random = { .seed = 6 };
    for (size_t k = 0; k < 7 * 3 * 3 * 2; k++) {
        static const double widths[] = { 1, 1e-300, 1e300 };
        static const size_t places[] = { 0, 77, POINTS - 1 };
        double x[POINTS], q[POINTS], at[POINTS], g[POINTS], bandwidth = widths[k / 7 % 3];
        bool same = k / 63;
        vxs_error err = VXS_ERROR_INIT;
        for (size_t i = 0; i < POINTS; i++) {
            x[i] = vxs_random_normal(&random, i);
            at[i] = vxs_random_normal(&random, 1000 + i);
            q[i] = 1;
        }
        x[places[k / 21 % 3]] = values[k % 7];
        at[places[(k / 21 + 1) % 3]] = values[(k + 3) % 7];
        WORKS(vxs_gauss_sums(x, q, POINTS, same ? x : at, POINTS, bandwidth, g, &err), err);
        bool finite = isfinite(values[k % 7]) && (same || isfinite(values[(k + 3) % 7]));
        for (size_t i = 0; i < POINTS; i++)
            cr_assert(finite ? isfinite(g[i]) : isnan(g[i]), "%zu: %zu is %g", k, i, g[i]);
        double median;
        WORKS(vxs_median_distance(x, POINTS, &median, &err), err);
    }
}

/* More terms than a series has are not looked at, whoever says how many. */
Test(finite, series_stay_within_their_terms)
{
    const vxs_exponentials *list[VXS_VECTORS_COUNT];
    for (size_t k = vxs_list_exponentials(list); k-- > 0;) {
        double u[VXS_POINTS], w[VXS_POINTS], bell[VXS_POINTS], out[VXS_POINTS];
        double moments[VXS_SERIES_TERMS + 8];
        for (size_t i = 0; i < VXS_POINTS; i++)
            u[i] = w[i] = i % 3 ? 1 : NAN;
        for (size_t i = 0; i < VXS_SERIES_TERMS + 8; i++)
            moments[i] = 7;
        list[k]->bells(u, VXS_POINTS, bell);
        list[k]->collect(u, w, bell, VXS_POINTS, NAN, SIZE_MAX / 128, moments);
        for (size_t i = VXS_SERIES_TERMS; i < VXS_SERIES_TERMS + 8; i++)
            cr_assert(moments[i] == 7);
        list[k]->evaluate(u, bell, VXS_POINTS, 1, SIZE_MAX / 128, moments, out);
    }
}
