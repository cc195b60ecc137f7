/* Similarities of bags with instances against distances of all pairs, computed one by one;
 * instances of other bags are never read. */
#include "tests/core/check.h"
#include "tests/core/faults.h"

#include <float.h>

enum { BAGS = 9, WIDTH = 7, PLACES = 5 };

typedef struct {
    vxs_instances of;
    float *values;
    size_t first[BAGS + 1];
    double *at;
} example;

/* Bags of 1 to 5 instances, far from 0 so that products lose digits; some instances are equal. */
static example make(double near)
{
    vxs_random random = { .seed = 5, .stream = 1 };
    example e = { .of = { .bags = BAGS, .width = WIDTH, .near = near } };
    for (size_t i = 0; i < BAGS; i++)
        e.first[i + 1] = e.first[i] + 1 + (i * 3) % 5;
    e.of.count = e.first[BAGS];
    e.values = malloc(e.of.count * WIDTH * sizeof(*e.values));
    e.at = malloc(e.of.count * 3 * sizeof(*e.at));
    for (size_t k = 0; k < e.of.count; k++)
        for (size_t j = 0; j < WIDTH; j++)
            e.values[k * WIDTH + j] = (float)(100 + vxs_random_normal(&random, k * WIDTH + j));
    memcpy(e.values + 4 * WIDTH, e.values + 17 * WIDTH, WIDTH * sizeof(*e.values));
    for (size_t i = 0; i < BAGS; i++)
        for (size_t k = e.first[i]; k < e.first[i + 1]; k++) {
            e.at[3 * k] = 4.0 * (double)((k - e.first[i]) % PLACES);
            e.at[3 * k + 1] = e.at[3 * k + 2] = 1;
        }
    return e;
}

static vxs_instances view_of(const example *e, bool placed)
{
    vxs_instances x = e->of;
    x.values = e->values;
    x.first = e->first;
    x.at = placed ? e->at : NULL;
    return x;
}

static void release(example *e)
{
    free(e->values);
    free(e->at);
}

/* The distance of instance k to a bag, without instance `but`. */
static double distance(const vxs_instances *x, size_t k, size_t bag, size_t but)
{
    double least = INFINITY;
    for (size_t l = x->first[bag]; l < x->first[bag + 1]; l++) {
        double square = 0, apart = 0;
        for (size_t j = 0; j < x->width; j++) {
            double d = (double)x->values[k * x->width + j] - (double)x->values[l * x->width + j];
            square += d * d;
        }
        for (size_t d = 0; d < 3 && x->at; d++)
            apart += pow(x->at[3 * k + d] - x->at[3 * l + d], 2);
        if (l != but && sqrt(apart) <= x->near)
            least = fmin(least, sqrt(square));
    }
    return least;
}

static size_t bag_of(const vxs_instances *x, size_t k)
{
    size_t bag = 0;
    while (x->first[bag + 1] <= k)
        bag++;
    return bag;
}

static int by_value(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

static double median_of(const vxs_instances *x, const size_t *rows, size_t count)
{
    double *all = malloc(x->count * count * sizeof(*all));
    size_t found = 0;
    for (size_t k = 0; k < x->count; k++) {
        bool in = false;
        for (size_t i = 0; i < count; i++)
            in = in || rows[i] == bag_of(x, k);
        for (size_t i = 0; i < count && in; i++)
            if (rows[i] != bag_of(x, k))
                all[found++] = pow(distance(x, k, rows[i], SIZE_MAX), 2);
    }
    qsort(all, found, sizeof(*all), by_value);
    double median = all[(found - 1) / 2];
    free(all);
    return median;
}

static void compare(const vxs_instances *x, const vxs_bag_distances *d)
{
    for (size_t k = 0; k < x->count; k++)
        for (size_t i = 0; i < x->bags; i++) {
            double got = (double)vxs_bag_distances_column(d, k)[i];
            double wanted = distance(x, k, i, SIZE_MAX);
            if (i == bag_of(x, k))
                cr_assert(got == 0, "an instance is %g from its own bag", got);
            else if (isinf(wanted))
                cr_assert(got > 9e17, "%g is compared", got);
            else
                cr_assert(fabs(got - wanted) < 1e-5 * (1 + wanted), "%zu %zu: %g, not %g", k, i,
                          got, wanted);
        }
}

Test(bags, distances_are_those_of_all_pairs)
{
    vxs_error err = VXS_ERROR_INIT;
    const double near[] = { INFINITY, 0, 4, 100 };
    for (int placed = 0; placed < 2; placed++)
        for (size_t r = 0; r < 4; r++)
            for (int threads = 1; threads < 3; threads++) {
                example e = make(near[r]);
                vxs_instances x = view_of(&e, placed);
                vxs_context context = { .nthreads = threads };
                vxs_bag_distances *d = NULL;
                if (!placed)
                    x.near = INFINITY;
                WORKS(vxs_bag_distances_new(&context, &x, r == 0 ? 1 : SIZE_MAX, &d, &err), err);
                compare(&x, d);
                vxs_bag_distances_free(d);
                release(&e);
            }
}

Test(bags, near_beyond_the_brain_is_all)
{
    vxs_error err = VXS_ERROR_INIT;
    example e = make(1000);
    vxs_instances near = view_of(&e, true), all = near;
    all.near = INFINITY;
    vxs_bag_distances *one = NULL, *two = NULL;
    WORKS(vxs_bag_distances_new(NULL, &near, SIZE_MAX, &one, &err), err);
    WORKS(vxs_bag_distances_new(NULL, &all, SIZE_MAX, &two, &err), err);
    for (size_t k = 0; k < near.count; k++)
        for (size_t i = 0; i < BAGS; i++)
            cr_assert(fabsf(vxs_bag_distances_column(one, k)[i] -
                            vxs_bag_distances_column(two, k)[i]) < 1e-5F);
    vxs_bag_distances_free(one);
    vxs_bag_distances_free(two);
    release(&e);
}

Test(bags, medians_are_of_pairs_of_the_rows)
{
    vxs_error err = VXS_ERROR_INIT;
    const size_t rows[] = { 7, 1, 4, 3, 0, 8 };
    example e = make(INFINITY);
    vxs_instances x = view_of(&e, false);
    vxs_bag_distances *d = NULL;
    double median = 0;
    WORKS(vxs_bag_distances_new(NULL, &x, SIZE_MAX, &d, &err), err);
    for (size_t count = 2; count <= 6; count++) {
        WORKS(vxs_bag_distances_median(d, rows, count, &median, &err), err);
        double wanted = median_of(&x, rows, count);
        cr_assert(fabs(median - wanted) < 1e-5 * wanted, "%g, not %g", median, wanted);
    }
    WORKS(vxs_bag_distances_median(d, rows, 1, &median, &err), err);
    cr_assert(median == 0, "one bag has no other");
    vxs_bag_distances_free(d);
    release(&e);
}

static void check_column(const vxs_instances *x, const size_t *rows, size_t count, double sigma,
                         bool left_out, size_t k, const double *column)
{
    size_t own = bag_of(x, k);
    bool in = false;
    for (size_t i = 0; i < count; i++)
        in = in || rows[i] == own;
    for (size_t i = 0; i < count; i++) {
        double d = distance(x, k, rows[i], left_out ? k : SIZE_MAX);
        double wanted = in ? exp(-d * d / (2 * sigma * sigma)) : 0;
        cr_assert(fabs(column[i] - wanted) < 1e-6, "%g, not %g", column[i], wanted);
        if (in && rows[i] == own && !left_out)
            cr_assert(column[i] == 1);
    }
}

/* Bags 2, 5 and 6 are of other subjects: NaN, and read by nobody. */
Test(bags, columns_are_the_embedding_and_other_bags_are_not_read)
{
    vxs_error err = VXS_ERROR_INIT;
    const size_t rows[] = { 7, 1, 4, 3, 0, 8 }, count = 6, others[] = { 2, 5, 6 };
    const double sigma = 2.5;
    for (int left_out = 0; left_out < 2; left_out++) {
        example e = make(INFINITY);
        for (size_t o = 0; o < 3; o++)
            for (size_t k = e.first[others[o]] * WIDTH; k < e.first[others[o] + 1] * WIDTH; k++)
                e.values[k] = NAN;
        vxs_instances x = view_of(&e, false);
        vxs_bag_distances *d = NULL;
        vxs_design *design = NULL;
        double v[2 * 6], *s = malloc(2 * x.count * sizeof(*s)), median = 0;
        double *columns = malloc(count * x.count * sizeof(*columns));
        size_t *set = malloc(x.count * sizeof(*set));
        WORKS(vxs_bag_distances_new(NULL, &x, SIZE_MAX, &d, &err), err);
        WORKS(vxs_bag_distances_median(d, rows, count, &median, &err), err);
        cr_assert(isfinite(median) && median > 0);
        WORKS(vxs_bags_new(d, rows, count, sigma, left_out, 2, &design, &err), err);
        WORKS(vxs_design_measure(design, &err), err);
        for (size_t k = 0; k < x.count; k++)
            set[k] = k;
        for (size_t i = 0; i < 12; i++)
            v[i] = sin(1.0 + (double)i);
        vxs_design_fetch(design, set, x.count, columns);
        vxs_design_scan(design, v, 2, s);
        for (size_t k = 0; k < x.count; k++) {
            double norm = 0, dots[2] = { 0, 0 }, some = 0;
            check_column(&x, rows, count, sigma, left_out, k, columns + k * count);
            for (size_t i = 0; i < count; i++) {
                norm += columns[k * count + i] * columns[k * count + i];
                dots[0] += columns[k * count + i] * v[i];
                dots[1] += columns[k * count + i] * v[count + i];
            }
            vxs_design_scan_some(design, &k, 1, v, &some);
            cr_assert(fabs(vxs_design_norms(design)[k] - sqrt(norm)) < 1e-12);
            cr_assert(fabs(s[k] - dots[0]) < 1e-12 && fabs(some - dots[0]) < 1e-12);
            cr_assert(fabs(s[x.count + k] - dots[1]) < 1e-12);
        }
        vxs_design_free(design);
        vxs_bag_distances_free(d);
        free(s);
        free(columns);
        free(set);
        release(&e);
    }
}

/* Of bags with one instance they are Gaussian kernels between samples. */
Test(bags, single_instances_are_kernels)
{
    vxs_error err = VXS_ERROR_INIT;
    enum { N = 12 };
    float *x = malloc(N * WIDTH * sizeof(*x)), *columns = malloc(N * WIDTH * sizeof(*columns));
    size_t first[N + 1], rows[N];
    vxs_random random = { .seed = 8, .stream = 2 };
    for (size_t i = 0; i <= N; i++)
        first[i] = i;
    for (size_t i = 0; i < N; i++) {
        rows[i] = i;
        for (size_t j = 0; j < WIDTH; j++)
            columns[j * N + i] = x[i * WIDTH + j] =
                (float)vxs_random_normal(&random, i * WIDTH + j);
    }
    const vxs_instances of = {
        .bags = N, .count = N, .width = WIDTH, .values = x, .first = first, .near = INFINITY
    };
    vxs_bag_distances *d = NULL;
    vxs_design *design = NULL, *dense = NULL;
    vxs_kernel_rows samples;
    double median = 0, k[N * N], s[N * N];
    WORKS(vxs_bag_distances_new(NULL, &of, SIZE_MAX, &d, &err), err);
    WORKS(vxs_bag_distances_median(d, rows, N, &median, &err), err);
    WORKS(vxs_bags_new(d, rows, N, sqrt(median / 2), false, 1, &design, &err), err);
    vxs_design_fetch(design, rows, N, s);
    WORKS(vxs_dense_new(columns, N, WIDTH, 1, &dense, &err), err);
    WORKS(vxs_kernel_rows_read(NULL, dense, &samples, &err), err);
    const vxs_kernel kernel = { .kind = VXS_KERNEL_RBF, .gamma = 1, .scale = median, .factor = 1 };
    vxs_kernel_fill(&kernel, &samples, k);
    for (size_t i = 0; i < N * N; i++)
        cr_assert(fabs(k[i] - s[i]) < 1e-6, "%zu: %g, not %g", i, s[i], k[i]);
    vxs_kernel_rows_release(&samples);
    vxs_design_free(dense);
    vxs_design_free(design);
    vxs_bag_distances_free(d);
    free(x);
    free(columns);
}

Test(bags, misuse_is_refused)
{
    vxs_error err = VXS_ERROR_INIT;
    example e = make(INFINITY);
    vxs_instances x = view_of(&e, false);
    vxs_bag_distances *d = NULL;
    vxs_design *design = NULL;
    const size_t twice[] = { 1, 1 }, beyond[] = { 1, BAGS };
    REFUSES(vxs_bag_distances_new(NULL, NULL, 1, &d, &err), err, VXS_MISUSE, "instances");
    e.first[1] = 0;
    REFUSES(vxs_bag_distances_new(NULL, &x, 1, &d, &err), err, VXS_MISUSE, "bag 0 has no instance");
    e.first[1] = 1;
    WORKS(vxs_bag_distances_new(NULL, &x, SIZE_MAX, &d, &err), err);
    REFUSES(vxs_bags_new(d, twice, 2, 1, false, 1, &design, &err), err, VXS_MISUSE, "twice");
    REFUSES(vxs_bags_new(d, beyond, 2, 1, false, 1, &design, &err), err, VXS_MISUSE, "bag");
    REFUSES(vxs_bags_new(d, beyond, 2, 0, false, 1, &design, &err), err, VXS_MISUSE, "width");
    vxs_bag_distances_free(d);
    release(&e);
}

static vxs_status make_all(vxs_error *err)
{
    const float values[] = { 1, 2, 3, 4, 5, 6, 7, 8 };
    const size_t first[] = { 0, 1, 3, 4 }, rows[] = { 0, 1, 2 };
    const vxs_instances x = {
        .bags = 3, .count = 4, .width = 2, .values = values, .first = first, .near = INFINITY
    };
    vxs_bag_distances *d = NULL;
    vxs_design *design = NULL;
    double median, squares[8];
    vxs_status status = vxs_bag_distances_new(NULL, &x, SIZE_MAX, &d, err);
    if (!status)
        status = vxs_bag_distances_median(d, rows, 3, &median, err);
    if (!status)
        status = vxs_bags_new(d, rows, 3, 1, true, 2, &design, err);
    if (!status)
        status = vxs_design_measure(design, err);
    if (!status)
        status = vxs_instance_distances(&x, 1, &x, squares, err);
    vxs_design_free(design);
    vxs_bag_distances_free(d);
    return status;
}

Test(bags, no_memory_is_an_error)
{
    cr_assert(fail_each_request(make_all) > 15);
}
