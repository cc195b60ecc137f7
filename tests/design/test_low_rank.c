/* Kernels of low rank: what they are, what they lack, and what solvers request of them. */
#include "tests/core/check.h"
#include "tests/core/faults.h"

enum { N = 130, P = 5, SOME = 40 };

typedef struct {
    float *x; /* P x N */
    vxs_design *features;
    vxs_kernel_rows rows;
    vxs_kernel kernel;
    double *k; /* N x N: the whole kernel */
} example;

static example make(int kind, int threads)
{
    vxs_error err = VXS_ERROR_INIT;
    const vxs_random random = { .seed = 5, .stream = 12 };
    bool varies;
    example e = { .x = malloc(sizeof(float) * N * P), .k = malloc(sizeof(double) * N * N) };
    for (size_t j = 0; j < P; j++)
        for (size_t i = 0; i < N; i++) /* the last ten are copies */
            e.x[j * N + i] = (float)vxs_random_normal(&random, j * N + (i < N - 10 ? i : i - 100));
    e.kernel = (vxs_kernel){ kind, .gamma = 0.9, .constant = 0.4, .degree = 3, .factor = 2.5 };
    WORKS(vxs_dense_new(e.x, N, P, threads, &e.features, &err), err);
    WORKS(vxs_kernel_rows_read(NULL, e.features, &e.rows, &err), err);
    WORKS(vxs_kernel_scale(&e.kernel, &e.rows, NULL, &varies, &err), err);
    vxs_kernel_fill(&e.kernel, &e.rows, e.k);
    return e;
}

static void release(example *e)
{
    vxs_design_free(e->features);
    vxs_kernel_rows_release(&e->rows);
    free(e->x);
    free(e->k);
}

static vxs_design *approximate(const example *e, size_t rank)
{
    vxs_error err = VXS_ERROR_INIT;
    vxs_design *design = NULL;
    WORKS(vxs_low_rank_new(NULL, &e->kernel, &e->rows, rank, SOME, &design, &err), err);
    return design;
}

/* LL' by plain loops. */
static void multiply(const vxs_low_rank *l, double *k)
{
    for (size_t a = 0; a < N; a++)
        for (size_t b = 0; b < N; b++) {
            k[a * N + b] = 0;
            for (size_t c = 0; c < l->rank; c++)
                k[a * N + b] += l->factor[c * N + a] * l->factor[c * N + b];
        }
}

static double apart(const double *a, const double *b, size_t count)
{
    double most = 0;
    for (size_t i = 0; i < count; i++)
        most = fmax(most, fabs(a[i] - b[i]));
    return most;
}

static double trace_of(const double *k)
{
    double sum = 0;
    for (size_t i = 0; i < N; i++)
        sum += k[i * N + i];
    return sum;
}

/* Eliminates rows in any order: a matrix is positive semidefinite if no pivot is below 0. */
static double least_pivot(double *k)
{
    double least = INFINITY;
    for (size_t step = 0; step < N; step++) {
        size_t p = 0;
        for (size_t i = 1; i < N; i++)
            p = k[i * N + i] > k[p * N + p] ? i : p;
        for (size_t i = 0; i < N; i++)
            least = fmin(least, k[i * N + i]);
        double pivot = k[p * N + p], row[N];
        memcpy(row, k + p * N, sizeof(row));
        for (size_t i = 0; i < N && pivot > 1e-9; i++)
            for (size_t j = 0; j < N; j++)
                k[i * N + j] -= row[i] * row[j] / pivot;
    }
    return least;
}

/* Equal between landmarks and all. */
static void check_landmarks(const vxs_low_rank *l, const double *k, const double *found,
                            double largest)
{
    for (size_t c = 0; c < l->rank; c++) {
        size_t m = l->landmark[c];
        cr_assert(apart(found + m * N, k + m * N, N) < 1e-11 * largest);
        for (size_t b = c + 1; b < l->rank; b++)
            cr_assert(l->factor[b * N + m] == 0);
    }
}

static void check_rest(const vxs_low_rank *l, const double *k, double *found, double largest)
{
    double missing = trace_of(k) - trace_of(found), most = 0;
    for (size_t i = 0; i < N; i++)
        most = fmax(most, k[i * N + i] - found[i * N + i]);
    cr_assert(fabs(l->trace - trace_of(k)) < 1e-12 * l->trace);
    cr_assert(fabs(l->missing - missing) < 1e-11 * l->trace, "%g, %g", l->missing, missing);
    cr_assert(fabs(l->largest - most) < 1e-11 * largest);
    for (size_t i = 0; i < (size_t)N * N; i++)
        found[i] = k[i] - found[i];
    cr_assert(least_pivot(found) > -1e-10 * largest);
}

/* At any rank; what it lacks of the kernel is positive semidefinite, and said. */
Test(low_rank, is_a_projection)
{
    double *found = malloc(sizeof(double) * N * N);
    for (int kind = VXS_KERNEL_LINEAR; kind <= VXS_KERNEL_POLY; kind++) {
        example e = make(kind, 1);
        double before = INFINITY, largest = 0;
        for (size_t i = 0; i < N; i++)
            largest = fmax(largest, e.k[i * N + i]);
        for (size_t rank = 1; rank <= N; rank = rank < 5 ? rank + 1 : 3 * rank) {
            vxs_design *design = approximate(&e, rank);
            const vxs_low_rank *l = vxs_gram_low_rank(design);
            multiply(l, found);
            check_landmarks(l, e.k, found, largest);
            check_rest(l, e.k, found, largest);
            cr_assert(l->missing <= before, "%zu: %g, %g", rank, l->missing, before);
            before = l->missing;
            vxs_design_free(design);
        }
        release(&e);
    }
    free(found);
}

/* As many landmarks as rows that differ, or as features: the kernel itself. */
Test(low_rank, of_full_rank_is_the_kernel)
{
    double *found = malloc(sizeof(double) * N * N);
    for (int kind = VXS_KERNEL_LINEAR; kind <= VXS_KERNEL_RBF; kind++) {
        example e = make(kind, 1);
        vxs_design *design = approximate(&e, 2 * N);
        const vxs_low_rank *l = vxs_gram_low_rank(design);
        multiply(l, found);
        cr_assert(l->rank == (kind == VXS_KERNEL_LINEAR ? P : N - 10), "%zu", l->rank);
        cr_assert(apart(found, e.k, (size_t)N * N) < 1e-10 * e.k[0]);
        for (size_t c = 0; c < l->rank && kind == VXS_KERNEL_RBF; c++)
            cr_assert(l->landmark[c] < N - 10, "of copies the first");
        vxs_design_free(design);
        release(&e);
    }
    free(found);
}

static void check_block(const vxs_design *design, const size_t *set, const double *k)
{
    vxs_error err = VXS_ERROR_INIT;
    double *found = malloc(sizeof(double) * SOME * SOME);
    WORKS(vxs_gram_block(design, set, SOME, found, &err), err);
    for (size_t a = 0; a < SOME; a++)
        for (size_t b = 0; b < SOME; b++)
            cr_assert(fabs(found[a * SOME + b] - k[set[a] * N + set[b]]) <= 1e-12 * k[0]);
    free(found);
}

static void check_requests(const vxs_design *design, const double *k)
{
    vxs_error err = VXS_ERROR_INIT;
    const vxs_random random = { .seed = 5, .stream = 13 };
    double sums[N], v[SOME];
    size_t set[SOME];
    memset(sums, 0, sizeof(sums));
    for (size_t i = 0; i < SOME; i++) {
        set[i] = (i * 37 + 5) % N;
        v[i] = vxs_random_normal(&random, i);
    }
    cr_assert(vxs_gram_room(design) == SOME && !vxs_gram_matrix(design));
    WORKS(vxs_gram_add(design, set, v, SOME, sums, &err), err);
    for (size_t a = 0; a < N; a++) {
        double sum = 0;
        for (size_t b = 0; b < SOME; b++)
            sum += k[a * N + set[b]] * v[b];
        cr_assert(fabs(sum - sums[a]) <= 1e-11 * k[0]);
        cr_assert(fabs(vxs_gram_own(design, a) - k[a * N + a]) <= 1e-12 * k[0]);
    }
    check_block(design, set, k);
}

static void check_design(vxs_design *design, const double *k)
{
    enum { VECTORS = 70 };
    vxs_error err = VXS_ERROR_INIT;
    const vxs_random random = { .seed = 5, .stream = 14 };
    double *v = malloc(sizeof(double) * N * VECTORS), *s = malloc(sizeof(double) * N * VECTORS),
           *block = malloc(sizeof(double) * N * N), some[SOME];
    size_t set[N];
    for (size_t i = 0; i < (size_t)N * VECTORS; i++)
        v[i] = vxs_random_normal(&random, i);
    for (size_t i = 0; i < N; i++)
        set[i] = (i * 3 + 1) % N;
    vxs_design_scan(design, v, VECTORS, s);
    vxs_design_scan_some(design, set, SOME, v, some);
    vxs_design_fetch(design, set, N, block);
    WORKS(vxs_design_measure(design, &err), err);
    for (size_t j = 0; j < N; j++) {
        double square = 0;
        for (size_t i = 0; i < N; i++)
            square += k[j * N + i] * k[j * N + i];
        cr_assert(fabs(vxs_design_norms(design)[j] - sqrt(square)) <= 1e-11 * k[0]);
        cr_assert(apart(block + j * N, k + set[j] * N, N) <= 1e-12 * k[0]);
        cr_assert(j >= SOME || fabs(some[j] - s[set[j]]) <= 1e-10 * k[0]);
        for (size_t c = 0; c < VECTORS; c++) {
            double sum = 0;
            for (size_t i = 0; i < N; i++)
                sum += k[j * N + i] * v[c * N + i];
            cr_assert(fabs(sum - s[c * N + j]) <= 1e-10 * k[0]);
        }
    }
    free(v);
    free(s);
    free(block);
}

Test(low_rank, what_is_requested_is_the_product_of_the_factor)
{
    double *k = malloc(sizeof(double) * N * N);
    example e = make(VXS_KERNEL_RBF, 2);
    for (size_t rank = 1; rank < 40; rank += 13) {
        vxs_design *design = approximate(&e, rank);
        multiply(vxs_gram_low_rank(design), k);
        check_requests(design, k);
        check_design(design, k);
        vxs_design_free(design);
    }
    e.kernel.factor = 0; /* of a kernel that is 0 nothing is a landmark */
    vxs_design *nothing = approximate(&e, 7);
    memset(k, 0, sizeof(double) * N * N);
    cr_assert(vxs_gram_low_rank(nothing)->rank == 0);
    check_requests(nothing, k);
    check_design(nothing, k);
    vxs_design_free(nothing);
    free(k);
    release(&e);
}

/* Weights of landmarks give all samples the values that weights of all samples give. */
Test(low_rank, landmarks_suffice)
{
    const vxs_random random = { .seed = 5, .stream = 15 };
    double *k = malloc(sizeof(double) * N * N), a[N], beta[N];
    for (size_t i = 0; i < N; i++)
        a[i] = vxs_random_normal(&random, i);
    for (int kind = VXS_KERNEL_LINEAR; kind <= VXS_KERNEL_POLY; kind++) {
        example e = make(kind, 1);
        for (size_t rank = 1; rank <= N; rank *= 3) {
            vxs_design *design = approximate(&e, rank);
            const vxs_low_rank *l = vxs_gram_low_rank(design);
            multiply(l, k);
            vxs_low_rank_reduce(l, a, beta);
            for (size_t i = 0; i < N; i++) {
                double want = 0, found = 0;
                for (size_t j = 0; j < N; j++)
                    want += k[i * N + j] * a[j];
                for (size_t c = 0; c < l->rank; c++)
                    found += e.k[i * N + l->landmark[c]] * beta[c];
                cr_assert(fabs(want - found) < 1e-9 * e.k[0], "%g, %g", want, found);
            }
            vxs_design_free(design);
        }
        release(&e);
    }
    free(k);
}

/* Made of products of rows, or of their features; by one thread or two. */
Test(low_rank, all_ways_have_the_same_landmarks)
{
    vxs_error err = VXS_ERROR_INIT;
    double *products = malloc(sizeof(double) * N * N);
    size_t all[N];
    for (size_t i = 0; i < N; i++)
        all[i] = i;
    for (int kind = VXS_KERNEL_LINEAR; kind <= VXS_KERNEL_POLY; kind++) {
        example e = make(kind, 1), f = make(kind, 2);
        vxs_residual_products residual;
        WORKS(vxs_row_products(NULL, e.features, NULL, false, products, &err), err);
        WORKS(vxs_residual_products_init(products, N, all, N, NULL, 0, NULL, &residual, &err), err);
        example g = { .kernel = e.kernel };
        WORKS(vxs_kernel_rows_init(&residual, &g.rows, &err), err);
        vxs_design *one = approximate(&e, 30), *two = approximate(&f, 30),
                   *other = approximate(&g, 30);
        const vxs_low_rank *l = vxs_gram_low_rank(one), *m = vxs_gram_low_rank(two),
                           *r = vxs_gram_low_rank(other);
        cr_assert(l->rank == m->rank && l->rank == r->rank);
        cr_assert(memcmp(l->landmark, m->landmark, l->rank * sizeof(size_t)) == 0);
        cr_assert(memcmp(l->landmark, r->landmark, l->rank * sizeof(size_t)) == 0);
        cr_assert(memcmp(l->factor, m->factor, l->rank * N * sizeof(double)) == 0, "threads");
        cr_assert(apart(l->factor, r->factor, l->rank * N) < 1e-7 * sqrt(e.k[0]));
        vxs_design_free(one);
        vxs_design_free(two);
        vxs_design_free(other);
        vxs_residual_products_release(&residual);
        vxs_kernel_rows_release(&g.rows);
        release(&e);
        release(&f);
    }
    free(products);
}

/* Of many rows the median is one of pairs that are drawn, of few it is the median. */
Test(low_rank, scale_of_many_rows)
{
    enum { FEW = 300, MANY = 10001, TWO = 2 };
    vxs_error err = VXS_ERROR_INIT;
    const vxs_random random = { .seed = 6, .stream = 1 };
    float *x = malloc(sizeof(float) * MANY * TWO);
    for (size_t k = 0; k < (size_t)MANY * TWO; k++)
        x[k] = (float)vxs_random_normal(&random, k);
    for (int many = 0; many < 2; many++) {
        vxs_design *design = NULL;
        vxs_kernel_rows rows;
        vxs_kernel exact = { VXS_KERNEL_RBF, .gamma = 1, .factor = 1 }, rough = exact;
        bool varies;
        WORKS(vxs_dense_new(x, many ? MANY : FEW, TWO, 1, &design, &err), err);
        WORKS(vxs_kernel_rows_read(NULL, design, &rows, &err), err);
        WORKS(vxs_kernel_scale(&exact, &rows, NULL, &varies, &err), err);
        WORKS(vxs_kernel_scale_roughly(&rough, &rows, NULL, &varies, &err), err);
        cr_assert(varies && fabs(rough.scale - exact.scale) <= (many ? 0.005 : 0) * exact.scale,
                  "%g, %g", rough.scale, exact.scale);
        vxs_kernel_rows_release(&rows);
        vxs_design_free(design);
    }
    free(x);
}

static const example *given;

static vxs_status body(vxs_error *err)
{
    vxs_design *design = NULL;
    vxs_status status =
        vxs_low_rank_new(NULL, &given->kernel, &given->rows, 10, SOME, &design, err);
    if (!status)
        vxs_design_free(design);
    return status;
}

Test(low_rank, faults)
{
    example e = make(VXS_KERNEL_RBF, 1);
    given = &e;
    cr_assert(fail_each_request(body) == 6);
    release(&e);
}
