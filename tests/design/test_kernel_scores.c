/* Kernel scores against sums over all pairs, problem (4.1) both ways, and sums of Gaussians. */
#include "tests/core/check.h"
#include "tests/core/faults.h"

#include "design/gauss.h"

#include <dirent.h>
#include <signal.h>
#include <sys/resource.h>
#include <sys/stat.h>

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

/* What the columns of an example are made of: all of its rows, standardized. */
static vxs_design *standardized(const example *e, int threads)
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
    WORKS(vxs_scores_new(NULL, standardized(e, threads), false, e->y, bandwidth, 0, &e->scores,
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
static void center_both(double *a, size_t n)
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
    center_both(k, n);
}

/* H y y' H */
static void labels_of(const double *y, size_t n, double *l)
{
    for (size_t a = 0; a < n; a++)
        for (size_t b = 0; b < n; b++)
            l[a * n + b] = y[a] * y[b];
    center_both(l, n);
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

/* Whole matrix, n x p. */
static double *all_of(vxs_design *design)
{
    size_t n = vxs_design_rows(design), p = vxs_design_columns(design);
    double *block = malloc(n * p * sizeof(*block));
    for (size_t j = 0; j < p; j++)
        vxs_design_fetch(design, &j, 1, block + j * n);
    return block;
}

static double dot(const double *a, const double *b, size_t n)
{
    double sum = 0;
    for (size_t i = 0; i < n; i++)
        sum += a[i] * b[i];
    return sum;
}

/* Scan, some of a scan, first scan and norms say what whole columns say. */
static void agree(vxs_design *design, double near)
{
    vxs_error err = VXS_ERROR_INIT;
    vxs_random random = { .seed = 22 };
    size_t n = vxs_design_rows(design), p = vxs_design_columns(design);
    double *x = all_of(design), *v = malloc(3 * n * sizeof(*v));
    double *s = malloc(5 * p * sizeof(*s)), *first = s + 3 * p, *some = s + 4 * p;
    double *alone = malloc(p * sizeof(*alone));
    size_t *set = malloc(p * sizeof(*set));
    for (size_t j = 0; j < p; j++)
        set[j] = p - 1 - j;
    for (size_t k = 0; k < 3 * n; k++)
        v[k] = vxs_random_normal(&random, k);
    WORKS(vxs_design_measure_scan(design, v, first, &err), err);
    uint64_t before = vxs_design_read(design);
    vxs_design_scan(design, v, 3, s);
    cr_assert(vxs_design_read(design) == before + p, "several vectors are one reading");
    vxs_design_scan(design, v + n, 1, alone);
    cr_assert(memcmp(alone, s + p, p * sizeof(*s)) == 0, "together as alone");
    vxs_design_scan_some(design, set, p, v, some);
    for (size_t j = 0; j < p; j++) {
        double norm = sqrt(dot(x + j * n, x + j * n, n)),
               most = near * (1 + norm) * sqrt((double)n);
        for (size_t k = 0; k < 3; k++)
            cr_assert(fabs(s[k * p + j] - dot(x + j * n, v + k * n, n)) <= most, "%zu: %g, not %g",
                      j, s[k * p + j], dot(x + j * n, v + k * n, n));
        cr_assert(fabs(first[j] - s[j]) <= most && fabs(some[p - 1 - j] - s[j]) <= most);
        cr_assert(fabs(vxs_design_norms(design)[j] - norm) <= near * (1 + norm));
    }
    free(x);
    free(v);
    free(s);
    free(alone);
    free(set);
}

Test(kernel_scores, agree_however_they_are_touched)
{
    for (size_t k = 0; k < SHAPES; k++) {
        example e = make(k, shapes[k][0], shapes[k][1]);
        start(&e, k % 2 ? 0 : 1, 1 + (int)k % 3);
        agree(e.scores, 1e-11);
        release(&e);
    }
}

/* Problem (4.1), with n x n matrices for each feature as it is printed. */
static double by_the_book(const example *e, double a0, const double *a, double lambda1,
                          double lambda2)
{
    size_t n = e->n;
    double *l = malloc(n * n * sizeof(*l)), *k = malloc(e->p * n * n * sizeof(*k)), value = 0;
    double *x = malloc(n * sizeof(*x));
    labels_of(e->y, n, l);
    for (size_t i = 0; i < e->p; i++) {
        column_of(e, i, x);
        kernel_of(x, n, 1, k + i * n * n);
    }
    for (size_t m = 0; m < n; m++) {
        double inner = 0;
        for (size_t b = 0; b < n; b++) {
            double mixed = a0;
            for (size_t i = 0; i < e->p; i++)
                mixed += a[i] * k[i * n * n + m * n + b];
            inner += l[m * n + b] * mixed;
        }
        value += (double)n > inner ? (double)n - inner : 0;
    }
    for (size_t i = 0; i < e->p; i++) {
        double step = i > 0 ? a[i] - a[i - 1] : 0;
        value += lambda1 * a[i] + lambda2 * step * step;
    }
    free(l);
    free(k);
    free(x);
    return value;
}

static double by_scores(const example *e, const double *a, double lambda1, double lambda2)
{
    double *z = all_of(e->scores), value = 0;
    for (size_t m = 0; m < e->n; m++) {
        double inner = 0;
        for (size_t i = 0; i < e->p; i++)
            inner += a[i] * z[i * e->n + m];
        value += (double)e->n > inner ? (double)e->n - inner : 0;
    }
    for (size_t i = 0; i < e->p; i++) {
        double step = i > 0 ? a[i] - a[i - 1] : 0;
        value += lambda1 * a[i] + lambda2 * step * step;
    }
    free(z);
    return value;
}

/* The paper's problem is a hinge loss on scores; its offset changes nothing. */
Test(kernel_scores, are_all_that_the_problem_needs)
{
    example e = make(3, 24, 10);
    vxs_random random = { .seed = 23 };
    start(&e, 1, 2);
    double *a = malloc(e.p * sizeof(*a));
    for (uint64_t r = 0; r < 200; r++) {
        double size = r % 3 == 0 ? 0.1 : r % 3 == 1 ? 3 : 30;
        double a0 = 50 * vxs_random_normal(&random, 100 * r + 99);
        for (size_t i = 0; i < e.p; i++)
            a[i] = size * vxs_random_uniform(&random, 100 * r + i);
        double book = by_the_book(&e, a0, a, 0.3, 0.2), ours = by_scores(&e, a, 0.3, 0.2);
        cr_assert(fabs(book - ours) <= 1e-6 * fabs(book) + 1e-4, "%g, not %g", ours, book);
    }
    free(a);
    release(&e);
}

Test(kernel_scores, threads_and_storage_change_no_bit)
{
    vxs_error err = VXS_ERROR_INIT;
    example e = make(4, 70, 6000); /* enough for two threads to meet */
    double *first = NULL;
    for (int way = 0; way < 4; way++) {
        WORKS(vxs_scores_new(NULL, standardized(&e, 1 + way % 2), false, e.y, way < 2 ? 1 : 0,
                             way == 1 || way == 3 ? 1 : 0, &e.scores, &err),
              err);
        double *x = all_of(e.scores);
        if (way % 2)
            cr_assert(memcmp(first, x, e.n * e.p * sizeof(*x)) == 0);
        free(first);
        first = x;
        vxs_design_free(e.scores);
    }
    free(first);
    e.scores = NULL;
    release(&e);
}

/* Samples in another order, and values in other units, as exactly as floats have them. */
Test(kernel_scores, know_no_units_and_no_order)
{
    example e = make(5, 50, 40), f = make(5, 50, 40);
    vxs_random random = { .seed = 24 };
    size_t order[50];
    vxs_random_permutation(&random, order, e.n);
    for (size_t k = 0; k < e.n * e.p; k++)
        e.x[k] = roundf(e.x[k] * 64) / 64;
    for (size_t k = 0; k < e.n * e.p; k++)
        f.x[k] = 4 * e.x[k / e.n * e.n + order[k % e.n]] - 32;
    for (size_t i = 0; i < e.n; i++)
        f.y[i] = e.y[order[i]];
    for (int median = 0; median < 2; median++) {
        start(&e, median ? 0 : 1, 1);
        start(&f, median ? 0 : 1, 1);
        double *x = all_of(e.scores), *z = all_of(f.scores);
        for (size_t k = 0; k < e.n * e.p; k++)
            cr_assert(fabs(z[k] - x[k / e.n * e.n + order[k % e.n]]) <= 1e-5);
        free(x);
        free(z);
        vxs_design_free(e.scores);
        vxs_design_free(f.scores);
    }
    e.scores = f.scores = NULL;
    release(&e);
    release(&f);
}

static size_t entries_of(const char *folder)
{
    size_t count = 0;
    DIR *dir = opendir(folder);
    while (readdir(dir))
        count++;
    closedir(dir);
    return count - 2; /* itself and what is above it */
}

Test(kernel_scores, in_a_file_leave_nothing_behind_and_say_when_it_is_full)
{
    vxs_error err = VXS_ERROR_INIT;
    char folder[512];
    example e = make(6, 100, 100);
    work_path(folder, "scores");
    (void)mkdir(folder, 0777);
    cr_assert(setenv("TMPDIR", folder, 1) == 0);
    WORKS(vxs_scores_new(NULL, standardized(&e, 1), false, e.y, 1, 39999, &e.scores, &err), err);
    cr_assert(entries_of(folder) == 0);
    agree(e.scores, 1e-11);
    vxs_design_free(e.scores);
    e.scores = NULL;
    struct rlimit limit = { .rlim_cur = 30000, .rlim_max = RLIM_INFINITY };
    (void)signal(SIGXFSZ, SIG_IGN);
    cr_assert(setrlimit(RLIMIT_FSIZE, &limit) == 0);
    REFUSES(vxs_scores_new(NULL, standardized(&e, 1), false, e.y, 1, 39999, &e.scores, &err), err,
            VXS_CANNOT_WRITE, "cannot keep kernel scores");
    WORKS(vxs_scores_new(NULL, standardized(&e, 1), false, e.y, 1, 40000, &e.scores, &err), err);
    limit.rlim_cur = RLIM_INFINITY;
    cr_assert(setrlimit(RLIMIT_FSIZE, &limit) == 0);
    vxs_design_free(e.scores);
    e.scores = NULL;
    cr_assert(entries_of(folder) == 0 && rmdir(folder) == 0);
    REFUSES(vxs_scores_new(NULL, standardized(&e, 1), false, e.y, 1, 39999, &e.scores, &err), err,
            VXS_CANNOT_WRITE, "cannot make a file for kernel scores");
    cr_assert(e.scores == NULL);
    release(&e);
}

Test(kernel_scores, refuse_and_stop)
{
    vxs_error err = VXS_ERROR_INIT;
    example e = make(7, 10, 8);
    int stop = 1;
    vxs_context context = { .interrupted = &stop };
    vxs_design *base = standardized(&e, 1);
    REFUSES(vxs_scores_new(NULL, base, true, e.y, -1, 0, &e.scores, &err), err, VXS_MISUSE,
            "bandwidth");
    REFUSES(vxs_scores_new(NULL, base, true, e.y, (double)NAN, 0, &e.scores, &err), err, VXS_MISUSE,
            "bandwidth");
    REFUSES(vxs_kernels_new(base, true, -1, &e.scores, &err), err, VXS_MISUSE, "bandwidth");
    REFUSES(vxs_scores_new(NULL, base, true, NULL, 1, 0, &e.scores, &err), err, VXS_MISUSE,
            "'y' is NULL");
    REFUSES(vxs_scores_new(NULL, NULL, true, e.y, 1, 0, &e.scores, &err), err, VXS_MISUSE,
            "'base' is NULL");
    double kept = e.y[3];
    e.y[3] = (double)NAN;
    REFUSES(vxs_scores_new(NULL, base, true, e.y, 1, 0, &e.scores, &err), err, VXS_BAD_DATA,
            "y of sample 3 is nan");
    e.y[3] = 1e200;
    REFUSES(vxs_scores_new(NULL, base, true, e.y, 1, 0, &e.scores, &err), err, VXS_BAD_DATA,
            "y of sample 3 is 1e+200");
    e.y[3] = kept;
    REFUSES(vxs_scores_new(&context, base, true, e.y, 1, 0, &e.scores, &err), err, VXS_INTERRUPTED,
            "");
    WORKS(vxs_scores_new(NULL, base, true, e.y, 1, 0, &e.scores, &err), err);
    vxs_design_free(e.scores);
    vxs_design_free(base); /* was shared */
    e.scores = NULL;
    release(&e);
}

/* ---- Kernels as columns ---------------------------------------------------------------------- */

/* Entry (a, b) of the matrix that `packed` packs. */
static double entry(const double *packed, size_t a, size_t b)
{
    size_t low = a < b ? a : b, high = a < b ? b : a;
    return packed[high * (high + 1) / 2 + low] / (a == b ? 1 : sqrt(2));
}

Test(kernel_pairs, are_centred_kernels)
{
    static const double bandwidths[] = { 1, 0, 0.1, 1e-9, 30 };
    vxs_error err = VXS_ERROR_INIT;
    for (size_t c = 0; c < 5 * (SHAPES - 1); c++) {
        example e = make(c, shapes[c / 5][0], shapes[c / 5][1]);
        double wanted = bandwidths[c % 5];
        size_t n = e.n, rows = n * (n + 1) / 2;
        WORKS(vxs_kernels_new(standardized(&e, 1 + (int)c % 2), false, wanted, &e.scores, &err),
              err);
        cr_assert(vxs_design_rows(e.scores) == rows && vxs_design_columns(e.scores) == e.p);
        double *packed = all_of(e.scores), *x = malloc(n * sizeof(*x));
        double *k = malloc(2 * n * n * sizeof(*k)), *before = k + n * n;
        for (size_t j = 0; j < e.p; j++) {
            column_of(&e, j, x);
            double bandwidth = bandwidth_by_the_book(x, n, wanted);
            double said = vxs_kernels_bandwidths(e.scores)[j];
            cr_assert(fabs(said - bandwidth) <= 1e-9 * bandwidth);
            kernel_of(x, n, bandwidth > 0 ? bandwidth : 1, k);
            for (size_t m = 0; m < n * n; m++)
                cr_assert(fabs(entry(packed + j * rows, m / n, m % n) - k[m]) <= 1e-10,
                          "column %zu, %zu: %g, not %g", j, m,
                          entry(packed + j * rows, m / n, m % n), k[m]);
            double inner = j ? dot(packed + j * rows, packed + (j - 1) * rows, rows) : 0;
            cr_assert(j == 0 || fabs(inner - dot(k, before, n * n)) <= 1e-9 * (double)(n * n));
            memcpy(before, k, n * n * sizeof(*k));
        }
        agree(e.scores, 1e-11);
        free(packed);
        free(x);
        free(k);
        release(&e);
    }
}

/* The product with the labels is HSIC again, and so the sum of scores. */
Test(kernel_pairs, of_labels_give_the_sums_of_scores)
{
    vxs_error err = VXS_ERROR_INIT;
    example e = make(8, 37, 30);
    vxs_design *kernels = NULL;
    double packed[37 * 38 / 2], s[30], l[37 * 37];
    start(&e, 1, 1);
    WORKS(vxs_kernels_new(standardized(&e, 1), false, 1, &kernels, &err), err);
    vxs_kernels_pack(e.y, e.n, packed);
    labels_of(e.y, e.n, l);
    for (size_t m = 0; m < e.n * e.n; m++)
        cr_assert(fabs(entry(packed, m / e.n, m % e.n) - l[m]) <= 1e-12);
    vxs_design_scan(kernels, packed, 1, s);
    double *z = all_of(e.scores);
    for (size_t j = 0; j < e.p; j++) {
        double sum = 0;
        for (size_t i = 0; i < e.n; i++)
            sum += z[j * e.n + i];
        cr_assert(fabs(s[j] - sum) <= 1e-5 * (1 + fabs(sum)), "%g, not %g", s[j], sum);
    }
    free(z);
    vxs_design_free(kernels);
    release(&e);
}

Test(kernel_pairs, threads_change_no_bit)
{
    vxs_error err = VXS_ERROR_INIT;
    example e = make(9, 41, 90);
    size_t rows = e.n * (e.n + 1) / 2;
    double *v = malloc(rows * sizeof(*v)), s[3][90], norms[3][90];
    vxs_kernels_pack(e.y, e.n, v);
    for (int threads = 1; threads <= 3; threads++) {
        WORKS(vxs_kernels_new(standardized(&e, threads), false, 0, &e.scores, &err), err);
        WORKS(vxs_design_measure(e.scores, &err), err);
        vxs_design_scan(e.scores, v, 1, s[threads - 1]);
        memcpy(norms[threads - 1], vxs_design_norms(e.scores), sizeof(norms[0]));
        cr_assert(memcmp(s[0], s[threads - 1], sizeof(s[0])) == 0);
        cr_assert(memcmp(norms[0], norms[threads - 1], sizeof(norms[0])) == 0);
        vxs_design_free(e.scores);
    }
    e.scores = NULL;
    free(v);
    release(&e);
}

/* ---- No memory ------------------------------------------------------------------------------- */

static const float few[20] = { 1, 2, 3, 4, 2, 1, 0, 5, 3, 3, 3, 3, 9, 8, 1, 0, 1, 1, 1, 2 };
static const double signs[5] = { 1, -1, 1, 1, -1 };

static vxs_status make_scores(vxs_error *err)
{
    vxs_design *base = NULL, *made = NULL;
    double median = 0, sums[5];
    vxs_status status = vxs_dense_new(few, 5, 4, 2, &base, err);
    if (!status)
        status = vxs_scores_new(NULL, base, false, signs, 0, 0, &made, err);
    if (!status)
        status = vxs_design_measure(made, err);
    vxs_design_free(made);
    if (!status)
        status = vxs_median_distance(signs, 5, &median, err);
    if (!status)
        status = vxs_gauss_sums(signs, signs, 5, signs, 5, 1, sums, err);
    return status;
}

static vxs_status make_scores_in_a_file(vxs_error *err)
{
    vxs_design *base = NULL, *made = NULL;
    vxs_status status = vxs_dense_new(few, 5, 4, 1, &base, err);
    if (!status)
        status = vxs_scores_new(NULL, base, true, signs, 1, 1, &made, err);
    vxs_design_free(made);
    vxs_design_free(base);
    return status;
}

static vxs_status make_kernels(vxs_error *err)
{
    vxs_design *base = NULL, *made = NULL;
    vxs_status status = vxs_dense_new(few, 5, 4, 2, &base, err);
    if (!status)
        status = vxs_kernels_new(base, false, 0, &made, err);
    if (!status)
        status = vxs_design_measure(made, err);
    vxs_design_free(made);
    return status;
}

Test(kernel_scores, no_memory_is_an_error)
{
    cr_assert(fail_each_request(make_scores) > 15);
    cr_assert(fail_each_request(make_scores_in_a_file) > 8);
    cr_assert(fail_each_request(make_kernels) > 10);
}
