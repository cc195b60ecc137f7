/* Inner products of rows, what is taken out of them, and kernels, against plain loops. */
#include "tests/core/check.h"

enum { N = 140, P = 300, HELD = 20 }; /* more rows than a tile, more columns than a block */

typedef struct {
    float *x;            /* P x N */
    double *g, *age, *u; /* products; of rows: a covariate, weights */
    size_t train[N - HELD];
    double *z; /* of training rows: 1, age */
    vxs_design *design;
} example;

static example make(void)
{
    vxs_random random = { .seed = 3, .stream = 8 };
    example e = { .x = malloc(sizeof(float) * N * P) };
    e.g = malloc(sizeof(double) * N * N);
    e.age = malloc(sizeof(double) * 2 * N);
    e.z = malloc(sizeof(double) * 2 * N);
    e.u = e.age + N;
    for (size_t k = 0; k < (size_t)N * P; k++)
        e.x[k] = (float)(20 * (double)(k / N % 3) + vxs_random_normal(&random, k));
    for (size_t i = 0; i < N; i++) {
        e.age[i] = 50 + 10 * vxs_random_normal(&random, (size_t)N * P + i);
        e.u[i] = (double)(1 + i % 3) / 2;
    }
    for (size_t l = 0; l < N - HELD; l++) { /* in another order, every seventh left out */
        e.train[l] = (l + l / 6 + 3) % N;
        e.z[l] = 1;
        e.z[N - HELD + l] = e.age[e.train[l]];
    }
    vxs_error err = VXS_ERROR_INIT;
    WORKS(vxs_dense_new(e.x, N, P, 1, &e.design, &err), err);
    return e;
}

static void release(example *e)
{
    vxs_design_free(e->design);
    free(e->x);
    free(e->g);
    free(e->age);
    free(e->z);
}

static double dot(const double *a, const double *b, size_t n)
{
    double sum = 0;
    for (size_t k = 0; k < n; k++)
        sum += a[k] * b[k];
    return sum;
}

static bool same_bits(const void *a, const void *b, size_t bytes)
{
    return memcmp(a, b, bytes) == 0;
}

static double distance(const double *g, size_t n, size_t a, size_t b)
{
    return g[a * n + a] + g[b * n + b] - 2 * g[a * n + b];
}

/* In slabs with few rows, in tiles with many. */
Test(gram, rough_products_have_six_digits)
{
    for (size_t n = 70; n <= 1100; n += 1030) {
        vxs_error err = VXS_ERROR_INIT;
        vxs_random random = { .seed = 4, .stream = n };
        const size_t p = n == 70 ? 5000 : 900;
        float *x = malloc(sizeof(float) * n * p);
        double *g[3];
        vxs_design *design = NULL;
        bool fine;
        for (size_t k = 0; k < n * p; k++)
            x[k] = (float)(30 + vxs_random_normal(&random, k));
        for (int k = 0; k < 3; k++)
            g[k] = malloc(sizeof(double) * n * n);
        WORKS(vxs_dense_new(x, n, p, 1, &design, &err), err);
        WORKS(vxs_row_products(NULL, design, NULL, true, g[0], &err), err);
        for (int threads = 1; threads <= 2; threads++) {
            WORKS(vxs_rough_products(NULL, x, n, p, threads, g[threads], &fine, &err), err);
            cr_assert(fine);
        }
        cr_assert(same_bits(g[1], g[2], sizeof(double) * n * n), "threads change products");
        for (size_t a = 0; a < n; a++) /* whatever was subtracted: distances */
            for (size_t b = 0; b < n; b++)
                cr_assert(fabs(distance(g[0], n, a, b) - distance(g[1], n, a, b)) <
                              4e-6 * (double)p,
                          "%zu rows", n);
        x[3 * n + 5] = n == 70 ? 1e16F : NAN;
        WORKS(vxs_rough_products(NULL, x, n, p, 1, g[1], &fine, &err), err);
        cr_assert(!fine);
        for (size_t k = 0; k < n * p; k++)
            x[k] = (float)k * 1e-25F;
        WORKS(vxs_rough_products(NULL, x, n, p, 1, g[1], &fine, &err), err);
        cr_assert(!fine);
        for (int k = 0; k < 3; k++)
            free(g[k]);
        vxs_design_free(design);
        free(x);
    }
}

Test(gram, products_are_those_of_the_rows)
{
    example e = make();
    vxs_error err = VXS_ERROR_INIT;
    double *factor = malloc(sizeof(double) * P), *again = malloc(sizeof(double) * N * N),
           *rows = malloc(sizeof(double) * N * P);
    for (size_t j = 0; j < P; j++)
        factor[j] = j % 5 == 0 ? 0 : 0.5 + (double)(j % 7);
    for (int way = 0; way < 2; way++) {
        WORKS(vxs_row_products(NULL, e.design, way ? factor : NULL, false, e.g, &err), err);
        for (size_t i = 0; i < N; i++)
            for (size_t j = 0; j < P; j++)
                rows[i * P + j] = (double)e.x[j * N + i] * (way ? factor[j] : 1);
        for (size_t a = 0; a < N; a++)
            for (size_t b = 0; b < N; b++) {
                double want = dot(rows + a * P, rows + b * P, P);
                cr_assert(fabs(e.g[a * N + b] - want) <= 1e-12 * P * 1e4, "%zu, %zu", a, b);
                cr_assert(e.g[a * N + b] == e.g[b * N + a]);
            }
    }
    for (int center = 0; center < 2; center++) {
        vxs_design *threaded = NULL;
        WORKS(vxs_dense_new(e.x, N, P, 2, &threaded, &err), err);
        WORKS(vxs_row_products(NULL, e.design, factor, center, e.g, &err), err);
        WORKS(vxs_row_products(NULL, threaded, factor, center, again, &err), err);
        cr_assert(same_bits(e.g, again, sizeof(double) * N * N), "threads change products");
        vxs_design_free(threaded);
    }
    e.x[7 * N + 5] = 3e38F;
    e.x[8 * N + 5] = 3e38F;
    for (size_t j = 0; j < P; j++)
        factor[j] = 1e120;
    REFUSES(vxs_row_products(NULL, e.design, factor, false, e.g, &err), err, VXS_BAD_DATA, "row ");
    free(factor);
    free(again);
    free(rows);
    release(&e);
}

/* They go tile by tile. */
Test(gram, products_of_many_rows)
{
    enum { MANY = 1100, FEW = 20 };
    vxs_random random = { .seed = 3, .stream = 9 };
    vxs_error err = VXS_ERROR_INIT;
    float *x = malloc(sizeof(float) * MANY * FEW);
    double *g[2];
    for (size_t k = 0; k < (size_t)MANY * FEW; k++)
        x[k] = (float)vxs_random_below(&random, k, 100);
    for (int threads = 1; threads <= 2; threads++) {
        vxs_design *design = NULL;
        g[threads - 1] = malloc(sizeof(double) * MANY * MANY);
        WORKS(vxs_dense_new(x, MANY, FEW, threads, &design, &err), err);
        WORKS(vxs_row_products(NULL, design, NULL, false, g[threads - 1], &err), err);
        vxs_design_free(design);
    }
    cr_assert(same_bits(g[0], g[1], sizeof(double) * MANY * MANY));
    for (size_t a = 0; a < MANY; a += 3)
        for (size_t b = 0; b < MANY; b++) {
            double want = 0;
            for (size_t j = 0; j < FEW; j++)
                want += (double)x[j * MANY + a] * (double)x[j * MANY + b];
            cr_assert(g[0][a * MANY + b] == want, "rows %zu and %zu", a, b);
        }
    free(x);
    free(g[0]);
    free(g[1]);
}

/* Columns of a row after what training rows say of them: by the two normal equations of mean and
 * age. */
static void residual_columns(const example *e, size_t columns, const double *weights,
                             double *residual)
{
    for (size_t j = 0; j < P; j++) {
        const float *x = e->x + j * N;
        double total = 0, mean = 0, middle = 0, cross = 0, square = 0;
        for (size_t l = 0; l < N - HELD; l++) {
            total += weights[l];
            mean += weights[l] * (double)x[e->train[l]];
            middle += weights[l] * e->age[e->train[l]];
        }
        mean /= total;
        middle /= total;
        for (size_t l = 0; l < N - HELD; l++) {
            double a = e->age[e->train[l]] - middle;
            cross += weights[l] * a * ((double)x[e->train[l]] - mean);
            square += weights[l] * a * a;
        }
        double slope = columns > 1 ? cross / square : 0;
        for (size_t i = 0; i < N; i++)
            residual[i * P + j] = (double)x[i] - (columns > 0 ? mean : 0) -
                                  (columns > 1 ? slope * (e->age[i] - middle) : 0);
    }
}

/* Of training and held-out rows. */
static void check_residuals(example *e, size_t columns, const double *weights)
{
    vxs_error err = VXS_ERROR_INIT;
    vxs_residual_products r;
    size_t m = N - HELD;
    double *rows = malloc(sizeof(double) * N * P), *found = malloc(sizeof(double) * m), work[6];
    double ones[N - HELD];
    for (size_t l = 0; l < m; l++)
        ones[l] = 1;
    residual_columns(e, columns, weights ? weights : ones, rows);
    WORKS(vxs_residual_products_init(e->g, N, e->train, m, e->z, columns, weights, &r, &err), err);
    for (size_t i = 0; i < N; i++) {
        const double z[2] = { 1, e->age[i] };
        double own = vxs_residual_products_row(&r, i, z, work, found);
        double want = dot(rows + i * P, rows + i * P, P);
        cr_assert(fabs(own - want) <= 1e-10 * want, "row %zu: %.17g, %.17g", i, own, want);
        for (size_t l = 0; l < m; l++) {
            double product = dot(rows + i * P, rows + e->train[l] * P, P);
            cr_assert(fabs(found[l] - product) <= 1e-10 * want, "rows %zu and %zu: %.17g, %.17g", i,
                      e->train[l], found[l], product);
        }
    }
    vxs_residual_products_release(&r);
    free(rows);
    free(found);
}

Test(gram, what_is_taken_out_is_estimated_on_training_rows)
{
    example e = make();
    vxs_error err = VXS_ERROR_INIT;
    double weights[N - HELD];
    for (int way = 0; way < 3; way++) { /* all alike; weights; weights of some rows */
        for (size_t l = 0; l < N - HELD; l++)
            weights[l] = way == 2 && l % 4 ? 0 : e.u[e.train[l]];
        for (size_t columns = 0; columns <= 2; columns++) {
            WORKS(vxs_row_products(NULL, e.design, NULL, columns > 0, e.g, &err), err);
            check_residuals(&e, columns, way ? weights : NULL);
        }
    }
    release(&e);
}

/* They would, if means of all rows were subtracted first. */
Test(gram, a_row_that_is_far_out_takes_no_digits_of_the_others)
{
    example e = make();
    vxs_error err = VXS_ERROR_INIT;
    size_t outside = 0;
    for (size_t l = 0; l < N - HELD; l++) /* a row that is held out */
        if (e.train[l] == outside) {
            outside++;
            l = SIZE_MAX; /* from the beginning */
        }
    for (size_t j = 0; j < P; j++)
        e.x[j * N + outside] = 1e12F;
    WORKS(vxs_row_products(NULL, e.design, NULL, true, e.g, &err), err);
    vxs_residual_products r;
    double *rows = malloc(sizeof(double) * N * P), found[N - HELD], work[6];
    double ones[N - HELD];
    for (size_t l = 0; l < N - HELD; l++)
        ones[l] = 1;
    residual_columns(&e, 1, ones, rows);
    WORKS(vxs_residual_products_init(e.g, N, e.train, N - HELD, e.z, 1, NULL, &r, &err), err);
    for (size_t k = 0; k < N - HELD; k++) {
        const double one = 1;
        double own = vxs_residual_products_row(&r, e.train[k], &one, work, found);
        for (size_t l = 0; l < N - HELD; l++)
            cr_assert(fabs(found[l] - dot(rows + e.train[k] * P, rows + e.train[l] * P, P)) <=
                      1e-10 * own);
    }
    vxs_residual_products_release(&r);
    free(rows);
    release(&e);
}

/* So it is in the means and standard deviations of a view. */
Test(gram, a_row_that_is_not_seen_takes_no_digits_of_a_view)
{
    example e = make();
    vxs_error err = VXS_ERROR_INIT;
    const size_t rows[] = { 2, 3, 4, 5, 6, 7 }, column = 1;
    double blocks[2][6];
    for (int way = 0; way < 2; way++) {
        const vxs_view view = { .standardize = VXS_STANDARDIZE_UNIT, .rows = rows, .row_count = 6 };
        vxs_design *seen = NULL;
        e.x[N] = way ? 1e12F : 1;
        WORKS(vxs_view_new(e.design, true, &view, &seen, &err), err);
        WORKS(vxs_design_measure(seen, &err), err);
        vxs_design_fetch(seen, &column, 1, blocks[way]);
        vxs_design_free(seen);
    }
    cr_assert(same_bits(blocks[0], blocks[1], sizeof(blocks[0])));
    release(&e);
}

typedef struct {
    vxs_residual_products residual;
    vxs_kernel_rows rows;
} all_rows;

/* Nothing is taken out of them. */
static all_rows rows_of(const double *products, size_t m)
{
    vxs_error err = VXS_ERROR_INIT;
    all_rows all;
    size_t *row = malloc(sizeof(*row) * m);
    for (size_t i = 0; i < m; i++)
        row[i] = i;
    WORKS(vxs_residual_products_init(products, m, row, m, NULL, 0, NULL, &all.residual, &err), err);
    WORKS(vxs_kernel_rows_init(&all.residual, &all.rows, &err), err);
    free(row);
    return all;
}

static void release_rows(all_rows *all)
{
    vxs_kernel_rows_release(&all->rows);
    vxs_residual_products_release(&all->residual);
}

static bool set_scale(vxs_kernel *kernel, const double *products, const double *weights, size_t m)
{
    vxs_error err = VXS_ERROR_INIT;
    all_rows all = rows_of(products, m);
    all.rows.residual = &all.residual;
    bool varies;
    WORKS(vxs_kernel_scale(kernel, &all.rows, weights, &varies, &err), err);
    release_rows(&all);
    return varies;
}

Test(gram, kernels_are_their_formulas)
{
    const double a[] = { 1, -2, 0.5 }, b[] = { 0.3, 1, 2 }, c[] = { -1, 0, 0.7 };
    const double *const rows[] = { a, b, c };
    double k[9], products[9];
    for (int i = 0; i < 9; i++)
        products[i] = dot(rows[i / 3], rows[i % 3], 3);
    const double mean = (products[0] + products[4] + products[8]) / 3;
    double far[3];
    for (int i = 0; i < 3; i++) {
        int one = i == 2, two = i == 0 ? 1 : 2;
        far[i] = products[4 * one] + products[4 * two] - 2 * products[3 * one + two];
    }
    double median = fmax(fmin(far[0], far[1]), fmin(fmax(far[0], far[1]), far[2]));
    for (int kind = VXS_KERNEL_LINEAR; kind <= VXS_KERNEL_POLY; kind++) {
        vxs_kernel kernel = { kind, .gamma = 0.7, .constant = 0.4, .degree = 3, .factor = 2.5 };
        cr_assert(set_scale(&kernel, products, NULL, 3));
        cr_assert(fabs(kernel.scale - (kind == VXS_KERNEL_RBF ? median : mean)) < 1e-14);
        all_rows all = rows_of(products, 3);
        all.rows.residual = &all.residual;
        vxs_kernel_fill(&kernel, &all.rows, k);
        release_rows(&all);
        for (int i = 0; i < 9; i++) {
            double own = products[i / 3 * 4], other = products[i % 3 * 4];
            double x = products[i] / mean, d = own + other - 2 * products[i];
            double want = 2.5 * (kind == VXS_KERNEL_LINEAR ? x
                                 : kind == VXS_KERNEL_RBF  ? exp(-0.7 * d / median)
                                                           : pow(0.7 * x + 0.4, 3));
            cr_assert(fabs(k[i] - want) < 1e-13, "kernel %d: %.17g, %.17g", kind, k[i], want);
            /* the derivative by the first feature of the first row */
            double h = 1e-6, z = rows[i % 3][0], at = rows[i / 3][0];
            double up = vxs_kernel_value(&kernel, products[i] + h * z, own + 2 * h * at + h * h,
                                         other),
                   down = vxs_kernel_value(&kernel, products[i] - h * z, own - 2 * h * at + h * h,
                                           other);
            double slope = vxs_kernel_slope(&kernel, products[i], own, other) *
                           (kind == VXS_KERNEL_RBF ? z - at : z);
            if (i / 3 != i % 3)
                cr_assert(fabs((up - down) / (2 * h) - slope) < 1e-8, "kernel %d", kind);
        }
    }
    /* copies have no distance: the median is of those that differ */
    const double same[] = { 1, 1, 1, 1, 1, 1, 1, 1, 1 };
    vxs_kernel kernel = { VXS_KERNEL_RBF, .gamma = 1, .factor = 1 };
    cr_assert(!set_scale(&kernel, same, NULL, 3) && kernel.scale == 1);
}

/* Weights of rows are as rows that are repeated, or left out. */
Test(gram, scale_of_weighted_rows)
{
    enum { ROWS = 9, FEATURES = 4, MOST = 3 * ROWS };
    for (uint64_t seed = 0; seed < 60; seed++) {
        double x[ROWS][FEATURES], weights[ROWS], k[ROWS * ROWS], again[MOST * MOST];
        size_t row[MOST], m = 0;
        vxs_random random = { .seed = seed, .stream = 3 };
        for (size_t i = 0; i < ROWS; i++) {
            size_t often = vxs_random_below(&random, i, 4);
            weights[i] = (double)often;
            for (size_t j = 0; j < FEATURES; j++)
                x[i][j] = (double)vxs_random_below(&random, ROWS + i * FEATURES + j, 4);
            while (often-- > 0)
                row[m++] = i;
        }
        for (size_t i = 0; i < ROWS * ROWS; i++)
            k[i] = dot(x[i / ROWS], x[i % ROWS], FEATURES);
        for (size_t i = 0; i < m * m; i++)
            again[i] = dot(x[row[i / m]], x[row[i % m]], FEATURES);
        for (int kind = VXS_KERNEL_LINEAR; kind <= VXS_KERNEL_POLY; kind++) {
            vxs_kernel by_weight = { kind, .factor = 1 }, by_row = { kind, .factor = 1 };
            set_scale(&by_weight, k, weights, ROWS);
            set_scale(&by_row, again, NULL, m);
            cr_assert(fabs(by_weight.scale - by_row.scale) < 1e-13 * by_row.scale,
                      "%d, %d: %.17g, %.17g", (int)seed, kind, by_weight.scale, by_row.scale);
        }
    }
}

static int ascending(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

enum { MANY_ROWS = 500, PAIRS = MANY_ROWS * (MANY_ROWS - 1) / 2 };

/* Squared distances of rows of one feature, ascending. */
static size_t list_squares(const double *k, double *list)
{
    size_t used = 0;
    for (size_t i = 0; i < MANY_ROWS; i++)
        for (size_t j = 0; j < i; j++) {
            double own = k[i * MANY_ROWS + i], other = k[j * MANY_ROWS + j],
                   square = own + other - 2 * k[i * MANY_ROWS + j];
            if (square > 1e-12 * (own + other))
                list[used++] = square;
        }
    qsort(list, used, sizeof(*list), ascending);
    return used;
}

static double value_of_row(int way, const vxs_random *random, size_t i)
{
    if (way == 1)
        return (double)vxs_random_below(random, i, 3);
    if (way == 2)
        return i < 3 ? (double)i + 1 : 0;
    return (way == 3 && i % 2 ? 1e6 : 0) + vxs_random_normal(random, i);
}

/* More pairs than are drawn to say where the median is, which is found in spite of where they say:
 * of values that are alike, and of rows most of which are copies. */
Test(gram, median_of_many_rows)
{
    double *x = malloc(sizeof(double) * MANY_ROWS), *ones = malloc(sizeof(double) * MANY_ROWS),
           *k = malloc(sizeof(double) * MANY_ROWS * MANY_ROWS),
           *list = malloc(sizeof(double) * PAIRS);
    for (int way = 0; way < 4; way++) {
        const vxs_random random = { .seed = 7, .stream = (uint64_t)way };
        for (size_t i = 0; i < MANY_ROWS; i++) {
            x[i] = value_of_row(way, &random, i);
            ones[i] = 2;
        }
        for (size_t i = 0; i < (size_t)MANY_ROWS * MANY_ROWS; i++)
            k[i] = x[i / MANY_ROWS] * x[i % MANY_ROWS];
        size_t used = list_squares(k, list);
        for (int weighted = 0; weighted < 2; weighted++) {
            vxs_kernel kernel = { VXS_KERNEL_RBF, .gamma = 1, .factor = 1 };
            cr_assert(set_scale(&kernel, k, weighted ? ones : NULL, MANY_ROWS));
            cr_assert(kernel.scale == list[used / 2], "%d: %.17g, %.17g", way, kernel.scale,
                      list[used / 2]);
        }
    }
    free(x);
    free(k);
    free(list);
    free(ones);
}

/* Kernels of all training rows; those of one after the other are the same. */
static double *fill_kernel(const example *e, size_t columns)
{
    vxs_error err = VXS_ERROR_INIT;
    const size_t m = N - HELD;
    vxs_residual_products residual;
    vxs_kernel_rows rows;
    vxs_kernel kernel = { VXS_KERNEL_RBF, .gamma = 0.3, .factor = 2 };
    bool varies;
    double found[N], work[9], *z = work + 6, *k = malloc(sizeof(double) * m * m);
    WORKS(vxs_residual_products_init(e->g, N, e->train, m, e->z, columns, NULL, &residual, &err),
          err);
    WORKS(vxs_kernel_rows_init(&residual, &rows, &err), err);
    WORKS(vxs_kernel_scale(&kernel, &rows, NULL, &varies, &err), err);
    vxs_kernel_fill(&kernel, &rows, k);
    for (size_t j = 0; j < m; j++) {
        for (size_t c = 0; c < columns; c++)
            z[c] = e->z[c * m + j];
        double own = vxs_residual_products_row(&residual, e->train[j], z, work, found);
        cr_assert(fabs(own - rows.own[j]) <= 1e-10 * own);
        vxs_kernel_apply(&kernel, rows.own, own, m, found);
        for (size_t i = 0; i < m; i++)
            cr_assert(fabs(found[i] - k[j * m + i]) < 1e-9, "%zu, %zu", i, j);
    }
    vxs_kernel_rows_release(&rows);
    vxs_residual_products_release(&residual);
    return k;
}

/* What is taken out of all rows leaves their distances; what depends on a covariate does not. */
Test(gram, distances_need_no_means)
{
    example e = make();
    vxs_error err = VXS_ERROR_INIT;
    const size_t m = N - HELD;
    double *k[3], apart[3] = { 0, 0, 0 };
    WORKS(vxs_row_products(NULL, e.design, NULL, true, e.g, &err), err);
    for (size_t columns = 0; columns < 3; columns++) {
        k[columns] = fill_kernel(&e, columns);
        for (size_t i = 0; i < m * m; i++)
            apart[columns] = fmax(apart[columns], fabs(k[columns][i] - k[0][i]));
    }
    cr_assert(apart[1] < 1e-12 && apart[2] > 1e-4, "%g, %g", apart[1], apart[2]);
    for (size_t columns = 0; columns < 3; columns++)
        free(k[columns]);
    release(&e);
}

static double apart(const double *a, const double *b, size_t count)
{
    double most = 0;
    for (size_t i = 0; i < count; i++)
        most = fmax(most, fabs(a[i] - b[i]));
    return most;
}

/* Values made of features, in blocks, columns and products, are those of the products of rows. */
Test(gram, tiles_are_the_kernel)
{
    enum { ROWS = 330, FEATURES = 21, SOME = 100 };
    vxs_error err = VXS_ERROR_INIT;
    const vxs_random random = { .seed = 11, .stream = 2 };
    float *x = malloc(sizeof(float) * ROWS * FEATURES);
    double *g = malloc(sizeof(double) * ROWS * ROWS), *k = malloc(sizeof(double) * ROWS * ROWS),
           *found = malloc(sizeof(double) * ROWS * SOME),
           *want = malloc(sizeof(double) * ROWS * SOME), v[ROWS], sums[2][ROWS];
    size_t set[SOME];
    vxs_design *design = NULL;
    for (size_t i = 0; i < (size_t)ROWS * FEATURES; i++)
        x[i] = (float)vxs_random_normal(&random, i);
    for (size_t i = 0; i < SOME; i++)
        set[i] = (i * 37 + 5) % ROWS;
    for (size_t i = 0; i < ROWS; i++)
        v[i] = vxs_random_normal(&random, (size_t)ROWS * FEATURES + i);
    WORKS(vxs_dense_new(x, ROWS, FEATURES, 2, &design, &err), err);
    WORKS(vxs_row_products(NULL, design, NULL, false, g, &err), err);
    all_rows all = rows_of(g, ROWS);
    all.rows.residual = &all.residual;
    for (int kind = VXS_KERNEL_LINEAR; kind <= VXS_KERNEL_POLY; kind++) {
        vxs_kernel kernel = { kind, .gamma = 0.7, .constant = 0.4, .degree = 3, .factor = 2.5 };
        vxs_kernel again = kernel;
        vxs_kernel_rows rows;
        vxs_design *tiles = NULL, *dense = NULL;
        bool varies;
        WORKS(vxs_kernel_rows_read(NULL, design, &rows, &err), err);
        WORKS(vxs_kernel_scale(&kernel, &all.rows, NULL, &varies, &err), err);
        WORKS(vxs_kernel_scale(&again, &rows, NULL, &varies, &err), err);
        cr_assert(fabs(kernel.scale - again.scale) < 1e-12 * kernel.scale);
        vxs_kernel_fill(&kernel, &all.rows, k);
        WORKS(vxs_kernel_tiles_new(&kernel, &rows, SOME, &tiles, &err), err);
        WORKS(vxs_gram_new(k, ROWS, 1, &dense, &err), err);
        cr_assert(vxs_gram_room(tiles) == SOME && vxs_gram_room(dense) == 0);
        vxs_design_fetch(tiles, set, SOME, found);
        vxs_design_fetch(dense, set, SOME, want);
        cr_assert(apart(found, want, (size_t)ROWS * SOME) < 1e-12 * fabs(k[0]));
        WORKS(vxs_gram_block(tiles, set, SOME, found, &err), err);
        WORKS(vxs_gram_block(dense, set, SOME, want, &err), err);
        cr_assert(apart(found, want, (size_t)SOME * SOME) < 1e-12 * fabs(k[0]));
        cr_assert(want[1] == k[set[0] * ROWS + set[1]]);
        memset(sums, 0, sizeof(sums));
        WORKS(vxs_gram_add(dense, set, v, SOME, sums[0], &err), err);
        WORKS(vxs_gram_add(tiles, set, v, SOME, sums[1], &err), err);
        cr_assert(apart(sums[0], sums[1], ROWS) < 1e-10 * fabs(k[0]));
        vxs_design_scan(dense, v, 1, sums[0]);
        vxs_design_scan(tiles, v, 1, sums[1]);
        cr_assert(apart(sums[0], sums[1], ROWS) < 1e-10 * fabs(k[0]));
        cr_assert(fabs(vxs_gram_own(tiles, 7) - vxs_gram_own(dense, 7)) < 1e-12 * fabs(k[0]));
        vxs_design_free(dense);
        vxs_design_free(tiles);
        vxs_kernel_rows_release(&rows);
    }
    vxs_design_free(design);
    release_rows(&all);
    free(x);
    free(g);
    free(k);
    free(found);
    free(want);
}
