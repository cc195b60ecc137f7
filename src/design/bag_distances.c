/* bag_distances.c - distances of instances to bags: D_ik, the least over the instances x_ij of bag
 * i of |x_ij - x_k|, and at an instance's own bag 0 and, beside it, that to the others there.
 *
 * Blocks of columns go against the instances of one bag at a time, as products of doubles: |x|^2 +
 * |z|^2 - 2 x'z, not below 0. Nothing of the size of all pairs of instances is kept. Where places
 * limit what is compared, the columns of a block have one center, so that each bag takes part with
 * the few instances near it. A block is one thread's from end to end: results do not depend on
 * their number. */
#include "design/bag_distances.h"
#include "voxsift/internal/machine.h"

#include <cblas.h>
#include <math.h>
#include <omp.h>
#include <stdlib.h>
#include <string.h>

#define COLUMNS  256  /* of a block */
#define ROUNDING 0.01 /* mm: of centers */

/* ---- Blocks ---------------------------------------------------------------------------------- */

/* Doubles of one thread: columns, instances of a bag that are compared, and their products. */
typedef struct {
    double *columns, *square;  /* width x COLUMNS; COLUMNS */
    double *rows, *row_square; /* width x most; most */
    double *products;          /* most x COLUMNS */
    size_t *which;             /* most */
} workspace;

static vxs_status init_workspace(workspace *w, size_t width, size_t most, vxs_error *err)
{
    w->columns = vxs_alloc(COLUMNS, vxs_times(width, sizeof(*w->columns)), err);
    w->square = w->columns ? vxs_alloc(COLUMNS, sizeof(*w->square), err) : NULL;
    w->rows = w->square ? vxs_alloc(most, vxs_times(width, sizeof(*w->rows)), err) : NULL;
    w->row_square = w->rows ? vxs_alloc(most, sizeof(*w->row_square), err) : NULL;
    w->products =
        w->row_square ? vxs_alloc(most, vxs_times(COLUMNS, sizeof(*w->products)), err) : NULL;
    w->which = w->products ? vxs_alloc(most, sizeof(*w->which), err) : NULL;
    return w->which ? VXS_OK : VXS_FAILED;
}

static void release_workspace(workspace *w)
{
    free(w->columns);
    free(w->square);
    free(w->rows);
    free(w->row_square);
    free(w->products);
    free(w->which);
}

/* Copies instances as doubles, and their squares. */
static void take(const vxs_instances *x, const size_t *set, size_t count, double *values,
                 double *square)
{
    for (size_t c = 0; c < count; c++) {
        const float *from = x->values + set[c] * x->width;
        double *to = values + c * x->width, sum = 0;
        for (size_t j = 0; j < x->width; j++) {
            to[j] = (double)from[j];
            sum += to[j] * to[j];
        }
        square[c] = sum;
    }
}

static bool is_near(const vxs_instances *x, size_t k, const double *at)
{
    double square = 0, most = x->near + ROUNDING;
    for (int d = 0; at && d < 3; d++)
        square += (x->at[3 * k + (size_t)d] - at[d]) * (x->at[3 * k + (size_t)d] - at[d]);
    return square <= most * most;
}

/* The instances of a bag that are compared with what is at this place; NULL: all. */
static size_t list_near(const vxs_instances *x, size_t bag, const double *at, size_t *which)
{
    size_t count = 0;
    for (size_t k = x->first[bag]; k < x->first[bag + 1]; k++)
        if (!at || is_near(x, k, at))
            which[count++] = k;
    return count;
}

/* Squared distances of instances w->rows (count of them) to w->columns, in place of products. */
static void multiply(const workspace *w, size_t width, size_t count, size_t columns)
{
    cblas_dgemm(CblasColMajor, CblasTrans, CblasNoTrans, (int)count, (int)columns, (int)width, -2,
                w->rows, (int)width, w->columns, (int)width, 0, w->products, (int)count);
    for (size_t c = 0; c < columns; c++)
        for (size_t r = 0; r < count; r++) {
            double d = w->products[c * count + r] + w->row_square[r] + w->square[c];
            w->products[c * count + r] = d < 0 ? 0 : d; /* NaN stays */
        }
}

/* The least of a column of products, without row `but`; NaN if there is one. */
static float least_of(const double *squares, size_t count, size_t but)
{
    double least = INFINITY;
    for (size_t r = 0; r < count; r++)
        if (r != but && !(squares[r] >= least))
            least = squares[r];
    double distance = sqrt(least);
    return distance > (double)VXS_TOO_FAR ? VXS_TOO_FAR : (float)distance;
}

/* A bag's part of a block of columns. */
static void compare(const vxs_instances *x, vxs_bag_distances *d, const workspace *w, size_t bag,
                    const size_t *set, size_t columns, const double *at)
{
    size_t count = list_near(x, bag, at, w->which);
    take(x, w->which, count, w->rows, w->row_square);
    if (count > 0)
        multiply(w, x->width, count, columns);
    for (size_t c = 0; c < columns; c++) {
        const double *squares = w->products + c * count;
        size_t own = SIZE_MAX, k = set[c];
        for (size_t r = 0; d->bag[k] == bag && r < count; r++)
            own = w->which[r] == k ? r : own;
        if (d->bag[k] == bag)
            d->left_out[k] = least_of(squares, count, own);
        d->storage.values[k * d->bags + bag] =
            d->bag[k] == bag ? 0 : least_of(squares, count, SIZE_MAX);
    }
}

/* ---- All blocks ------------------------------------------------------------------------------ */

typedef struct {
    size_t *set;   /* instances, in the order of blocks */
    size_t *begin; /* count + 1 */
    size_t count;
} blocks;

typedef struct {
    const double *at;
    size_t instance;
} placed;

static int by_place(const void *a, const void *b)
{
    const placed *x = a, *y = b;
    for (int d = 0; x->at && d < 3; d++)
        if (x->at[d] != y->at[d])
            return x->at[d] < y->at[d] ? -1 : 1;
    return (x->instance > y->instance) - (x->instance < y->instance);
}

static bool is_limited(const vxs_instances *x)
{
    return x->at && x->near < INFINITY;
}

static bool same_place(const double *a, const double *b)
{
    return !a || (a[0] == b[0] && a[1] == b[1] && a[2] == b[2]);
}

static vxs_status make_blocks(const vxs_instances *x, blocks *b, vxs_error *err)
{
    placed *list = vxs_alloc(x->count, sizeof(*list), err);
    b->set = vxs_alloc(x->count, sizeof(*b->set), err);
    b->begin = vxs_alloc(x->count + 1, sizeof(*b->begin), err);
    bool fine = list && b->set && b->begin;
    for (size_t k = 0; k < x->count && fine; k++)
        list[k] = (placed){ is_limited(x) ? x->at + 3 * k : NULL, k };
    if (fine && x->count > 0)
        qsort(list, x->count, sizeof(*list), by_place);
    for (size_t k = 0; k < x->count && fine; k++) {
        b->set[k] = list[k].instance;
        if (k == 0 || k - b->begin[b->count - 1] == COLUMNS ||
            !same_place(list[k].at, list[k - 1].at))
            b->begin[b->count++] = k;
        b->begin[b->count] = k + 1;
    }
    free(list);
    return fine ? VXS_OK : VXS_FAILED;
}

static void compute_block(const vxs_instances *x, vxs_bag_distances *d, const blocks *b,
                          const workspace *w, size_t k)
{
    const size_t *set = b->set + b->begin[k];
    size_t columns = b->begin[k + 1] - b->begin[k];
    take(x, set, columns, w->columns, w->square);
    for (size_t bag = 0; bag < x->bags; bag++)
        compare(x, d, w, bag, set, columns, is_limited(x) ? x->at + 3 * set[0] : NULL);
}

static vxs_status compute(const vxs_context *context, const vxs_instances *x, vxs_bag_distances *d,
                          const blocks *b, workspace *rooms, int threads, vxs_error *err)
{
    vxs_progress progress;
    vxs_status status = VXS_OK;
    size_t step = 8 * (size_t)threads;
    vxs_progress_start(&progress, context, "comparing instances", "blocks", b->count);
    for (size_t first = 0; first < b->count && !status; first += step) {
        size_t last = first + step < b->count ? first + step : b->count;
#pragma omp parallel num_threads(threads)
        {
            const workspace *w = &rooms[omp_get_thread_num()];
#pragma omp for schedule(dynamic, 1)
            for (size_t k = first; k < last; k++)
                compute_block(x, d, b, w, k);
        }
        status = vxs_progress_step(&progress, last - first, err);
    }
    return status;
}

static size_t most_of_a_bag(const vxs_instances *x)
{
    size_t most = 1;
    for (size_t i = 0; i < x->bags; i++)
        most = x->first[i + 1] - x->first[i] > most ? x->first[i + 1] - x->first[i] : most;
    return most;
}

static vxs_status fill(const vxs_context *context, const vxs_instances *x, vxs_bag_distances *d,
                       vxs_error *err)
{
    int threads = vxs_context_threads(context);
    size_t most = most_of_a_bag(x);
    blocks b = { .count = 0 };
    workspace *rooms = vxs_alloc((size_t)threads, sizeof(*rooms), err);
    vxs_status status = rooms ? vxs_blas_start(threads, err) : VXS_FAILED;
    for (int t = 0; t < threads && !status; t++)
        status = init_workspace(&rooms[t], x->width, most, err);
    if (!status)
        status = make_blocks(x, &b, err);
    if (!status)
        status = compute(context, x, d, &b, rooms, threads, err);
    for (int t = 0; t < threads && rooms; t++)
        release_workspace(&rooms[t]);
    free(rooms);
    free(b.set);
    free(b.begin);
    return status;
}

static vxs_status check_instances(const vxs_instances *x, vxs_error *err)
{
    for (size_t i = 0; i < x->bags; i++)
        if (x->first[i] >= x->first[i + 1])
            return vxs_fail(err, VXS_MISUSE, "bag %zu has no instance", i);
    if (x->width > INT32_MAX || most_of_a_bag(x) > INT32_MAX)
        return vxs_fail(err, VXS_MISUSE, "a bag has more values than products can have");
    return VXS_OK;
}

vxs_status vxs_bag_distances_new(const vxs_context *context, const vxs_instances *x, size_t memory,
                                 vxs_bag_distances **distances, vxs_error *err)
{
    vxs_status status = VXS_GIVEN(err, { "instances", x }, { "distances", distances });
    if (!status)
        status = check_instances(x, err);
    vxs_bag_distances *d = status ? NULL : vxs_alloc(1, sizeof(*d), err);
    if (!d)
        return status ? status : VXS_FAILED;
    d->bags = x->bags;
    d->count = x->count;
    d->bag = vxs_alloc(x->count, sizeof(*d->bag), err);
    d->left_out = vxs_alloc(x->count, sizeof(*d->left_out), err);
    for (size_t i = 0; i < x->bags && d->bag; i++)
        for (size_t k = x->first[i]; k < x->first[i + 1]; k++)
            d->bag[k] = i;
    status = d->bag && d->left_out ? vxs_storage_init(&d->storage, x->bags, x->count, memory,
                                                      "distances of instances", err)
                                   : VXS_FAILED;
    if (!status)
        status = fill(context, x, d, err);
    if (status) {
        vxs_bag_distances_free(d);
        return status;
    }
    *distances = d;
    return VXS_OK;
}

void vxs_bag_distances_free(vxs_bag_distances *d)
{
    if (!d)
        return;
    vxs_storage_release(&d->storage);
    free(d->left_out);
    free(d->bag);
    free(d);
}

const float *vxs_bag_distances_column(const vxs_bag_distances *d, size_t instance)
{
    return d->storage.values + instance * d->bags;
}

/* ---- The median ------------------------------------------------------------------------------ */

/* Bits of floats that are not negative have their order. Counts those whose upper bits are `upper`
 * by the digit below. */
#define DIGIT 11
static void count_digits(const vxs_bag_distances *d, const size_t *rows, const bool *in,
                         size_t count, int shift, uint32_t upper, uint64_t *counts)
{
    memset(counts, 0, ((size_t)1 << DIGIT) * sizeof(*counts));
    for (size_t k = 0; k < d->count; k++) {
        const float *column = vxs_bag_distances_column(d, k);
        for (size_t i = 0; i < count && in[d->bag[k]]; i++) {
            uint32_t bits;
            memcpy(&bits, column + rows[i], sizeof(bits));
            if (rows[i] != d->bag[k] && (uint64_t)bits >> (shift + DIGIT) == upper)
                counts[bits >> shift & (((uint32_t)1 << DIGIT) - 1)]++;
        }
    }
}

/* Digit by digit from the top: 11, 11 and 11 bits of 33. */
static uint32_t find_median(const vxs_bag_distances *d, const size_t *rows, const bool *in,
                            size_t count, uint64_t rank, uint64_t *counts)
{
    uint32_t found = 0;
    for (int shift = 2 * DIGIT; shift >= 0; shift -= DIGIT) {
        uint32_t digit = 0;
        count_digits(d, rows, in, count, shift, found, counts);
        while (rank >= counts[digit])
            rank -= counts[digit++];
        found = (found << DIGIT) + digit;
    }
    return found;
}

vxs_status vxs_bag_distances_median(const vxs_bag_distances *d, const size_t *rows, size_t count,
                                    double *median, vxs_error *err)
{
    bool *in = vxs_alloc(d->bags, sizeof(*in), err);
    uint64_t *counts = in ? vxs_alloc((size_t)1 << DIGIT, sizeof(*counts), err) : NULL, pairs = 0;
    for (size_t i = 0; i < count && counts; i++)
        in[rows[i]] = true;
    for (size_t k = 0; k < d->count && counts; k++)
        pairs += in[d->bag[k]] ? count - 1 : 0;
    *median = 0;
    if (pairs > 0) {
        float distance;
        uint32_t bits = find_median(d, rows, in, count, (pairs - 1) / 2, counts);
        memcpy(&distance, &bits, sizeof(distance));
        *median = (double)distance * (double)distance;
    }
    free(in);
    free(counts);
    return counts ? VXS_OK : VXS_FAILED;
}

/* ---- Instances of a model -------------------------------------------------------------------- */

vxs_status vxs_instance_distances(const vxs_instances *x, size_t bag, const vxs_instances *others,
                                  double *squares, vxs_error *err)
{
    size_t count = x->first[bag + 1] - x->first[bag];
    workspace w = { .columns = NULL };
    vxs_status status = init_workspace(&w, x->width, count, err);
    for (size_t r = 0; r < count && !status; r++)
        w.which[r] = x->first[bag] + r;
    if (!status)
        take(x, w.which, count, w.rows, w.row_square);
    for (size_t first = 0; first < others->count && !status; first += COLUMNS) {
        size_t columns = others->count - first < COLUMNS ? others->count - first : COLUMNS;
        const vxs_instances block = { .width = others->width,
                                      .values = others->values + first * others->width };
        size_t set[COLUMNS];
        for (size_t c = 0; c < columns; c++)
            set[c] = c;
        take(&block, set, columns, w.columns, w.square);
        multiply(&w, x->width, count, columns);
        for (size_t c = 0; c < columns; c++)
            for (size_t r = 0; r < count; r++)
                squares[(first + c) * count + r] =
                    !is_limited(x) || is_near(x, w.which[r], others->at + 3 * (first + c))
                        ? w.products[c * count + r]
                        : INFINITY;
    }
    release_workspace(&w);
    return status;
}
