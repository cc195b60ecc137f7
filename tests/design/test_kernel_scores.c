/* Kernel scores against sums over all pairs, problem (4.1) both ways, and sums of Gaussians. */
#include "tests/core/check.h"
#include "tests/core/faults.h"

#include "design/gauss.h"

typedef struct {
    size_t n, p;
    float *x;
    double *y;
    vxs_design *scores;
} example;

/* Columns of several kinds: normal, far from 0, few values, an outlier, constant. */
static float value(const vxs_random *random, size_t i, size_t j, size_t n)
{
    double x = vxs_random_normal(random, j * n + i);
    switch (j % 5) {
    case 0:
        return (float)x;
    case 1:
        return (float)(1000 + 30 * x);
    case 2:
        return (float)round(x);
    case 3:
        return (float)(i == 1 ? 200 : x);
    default:
        return j % 2 ? 7.1F : (float)exp(2 * x);
    }
}

static example make(uint64_t stream, size_t n, size_t p)
{
    vxs_random random = { .seed = 21, .stream = stream };
    example e = { .n = n, .p = p };
    e.x = malloc(n * p * sizeof(*e.x));
    e.y = malloc(n * sizeof(*e.y));
    for (size_t k = 0; k < n * p; k++)
        e.x[k] = value(&random, k % n, k / n, n);
    for (size_t i = 0; i < n; i++)
        e.y[i] = i == 0 || vxs_random_uniform(&random, n * p + i) < 0.4 ? 1 : -1;
    return e;
}

/* What the columns of an example are made of: all of its rows, standardised. */
static vxs_design *standardised(const example *e, int threads)
{
    vxs_error err = VXS_ERROR_INIT;
    vxs_design *base = NULL;
    vxs_view view = { .standardize = VXS_STANDARDIZE_UNIT };
    WORKS(vxs_dense_new(e->x, e->n, e->p, threads, &base, &err), err);
    WORKS(vxs_view_new(base, false, &view, &base, &err), err);
    return base;
}

static void start(example *e, double bandwidth, int threads)
{
    vxs_error err = VXS_ERROR_INIT;
    WORKS(vxs_scores_new(NULL, standardised(e, threads), false, e->y, bandwidth, 0, &e->scores,
                         &err),
          err);
}

static void release(example *e)
{
    vxs_design_free(e->scores);
    free(e->x);
    free(e->y);
}

/* Column j of the view, by the book. */
static void column_of(const example *e, size_t j, double *x)
{
    double mean = 0, square = 0;
    for (size_t i = 0; i < e->n; i++)
        mean += (x[i] = (double)e->x[j * e->n + i]) / (double)e->n;
    for (size_t i = 0; i < e->n; i++) {
        x[i] -= mean;
        square += x[i] * x[i] / (double)e->n;
    }
    for (size_t i = 0; i < e->n; i++)
        x[i] = square > 1e-10 ? x[i] / sqrt(square) : 0;
}

static int by_value(const void *a, const void *b)
{
    double left = *(const double *)a, right = *(const double *)b;
    return (left > right) - (left < right);
}

/* The lower median of all distances that are at least `least`; 0 when there is none. */
static double brute_median(const double *x, size_t n, double least)
{
    size_t count = 0;
    double *all = malloc((n * n + 1) * sizeof(*all));
    for (size_t i = 0; i < n; i++)
        for (size_t l = 0; l < i; l++)
            if (fabs(x[i] - x[l]) >= least)
                all[count++] = fabs(x[i] - x[l]);
    qsort(all, count, sizeof(*all), by_value);
    double median = count ? all[(count - 1) / 2] : 0;
    free(all);
    return median;
}

/* H A H in place, n x n. */
static void centre_both(double *a, size_t n)
{
    for (int side = 0; side < 2; side++)
        for (size_t i = 0; i < n; i++) {
            size_t first = side ? i : i * n, step = side ? n : 1;
            long double mean = 0;
            for (size_t l = 0; l < n; l++)
                mean += (long double)a[first + l * step] / (long double)n;
            for (size_t l = 0; l < n; l++)
                a[first + l * step] -= (double)mean;
        }
}

/* H K H of values, n x n. */
static void kernel_of(const double *x, size_t n, double bandwidth, double *k)
{
    for (size_t a = 0; a < n; a++)
        for (size_t b = 0; b < n; b++) {
            long double d = (long double)x[a] - (long double)x[b];
            k[a * n + b] =
                d == 0 ? 1 : (double)expl(-d * d / (2 * (long double)bandwidth * bandwidth));
        }
    centre_both(k, n);
}

/* H y y' H */
static void labels_of(const double *y, size_t n, double *l)
{
    for (size_t a = 0; a < n; a++)
        for (size_t b = 0; b < n; b++)
            l[a * n + b] = y[a] * y[b];
    centre_both(l, n);
}

/* ---- Scores ---------------------------------------------------------------------------------- */

static const size_t shapes[][2] = { { 1, 3 }, { 2, 5 }, { 9, 70 }, { 40, 65 }, { 131, 20 } };
enum { SHAPES = sizeof(shapes) / sizeof(shapes[0]) };

static double bandwidth_by_the_book(const double *x, size_t n, double wanted)
{
    double median = brute_median(x, n, 0);
    return wanted > 0 ? wanted : median > 0 ? median : brute_median(x, n, 1e-12);
}

/* Column j is the row sums of L~ .* K~, and its sum is the trace of their product. */
static void compare_column(const example *e, size_t j, double wanted, const double *column)
{
    size_t n = e->n;
    double *x = malloc(n * sizeof(*x)), *k = malloc(n * n * sizeof(*k));
    double *l = malloc(n * n * sizeof(*l)), trace = 0, sum = 0;
    column_of(e, j, x);
    double bandwidth = bandwidth_by_the_book(x, n, wanted);
    double said = vxs_scores_bandwidths(e->scores)[j];
    cr_assert(fabs(said - bandwidth) <= 1e-9 * bandwidth, "%g, not %g", said, bandwidth);
    kernel_of(x, n, bandwidth > 0 ? bandwidth : 1, k);
    labels_of(e->y, n, l);
    for (size_t a = 0; a < n; a++) {
        double score = 0;
        for (size_t b = 0; b < n; b++)
            score += l[a * n + b] * k[a * n + b];
        for (size_t b = 0; b < n; b++)
            trace += k[a * n + b] * l[b * n + a];
        sum += column[a];
        cr_assert(fabs(column[a] - score) <= 1e-7 * (double)n, "(%zu, %zu): %g, not %g", a, j,
                  column[a], score);
    }
    cr_assert(fabs(sum - trace) <= 1e-6 * (double)n, "HSIC: %g, not %g", sum, trace);
    free(x);
    free(k);
    free(l);
}

Test(kernel_scores, are_rows_of_labels_times_kernels)
{
    static const double bandwidths[] = { 1, 0, 0.1, 1e-9, 30 };
    for (size_t k = 0; k < 5 * SHAPES; k++) {
        example e = make(k, shapes[k / 5][0], shapes[k / 5][1]);
        double *column = malloc(e.n * sizeof(*column)), wanted = bandwidths[k % 5];
        start(&e, wanted, 1 + (int)k % 2);
        for (size_t j = 0; j < e.p; j++) {
            vxs_design_fetch(e.scores, &j, 1, column);
            compare_column(&e, j, wanted, column);
        }
        free(column);
        release(&e);
    }
}
