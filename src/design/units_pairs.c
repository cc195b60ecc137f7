/* units_pairs.c - polynomials of degree two: features, their squares and their products, of which
 * there may be far more than can be stored.
 *
 * The products of all pairs with v are X'diag(v)X. Blocks of it are made by matrix products of
 * floats and looked through at once: as floats they say which few pairs may be among the best, and
 * these are looked at again in double. What floats say is off by no more than a bound (below), and
 * a pair is left out only when so many others are better by all that this leaves open; so the
 * outcome is that of double, and does not depend on the order in which threads come to their
 * blocks.
 *
 * The bound. Columns are held over a power of two, so that none has values above 1, and v too. With
 * u = 2^-24, g(k) = k u / (1 - k u), a the held column and w the float next to v times the other:
 * each product in the sum is off by three roundings, two to hold columns and one for w, and sums of
 * n of them in any order, a product's own rounding included, by n more (Higham, Accuracy and
 * Stability of Numerical Algorithms, section 3.1). So the sum is off by at most g(n + 3) |a|'|w|,
 * and that is at most g(n + 3) times the norms of both. One more u is far more than all that is
 * done in double takes. What is too small for a float is lost: less than 2^-126 a value.
 *
 * Cost: p^2 n multiplications and as many additions, and a comparison a pair.
 *
 * Source: Tan, Tsang, Wang, "Towards ultrahigh dimensional feature selection for big data", JMLR 15
 * (2014), section 6 and Algorithm 5. */
#include "design/units.h"

#include <cblas.h>
#include <float.h>
#include <math.h>
#include <omp.h>
#include <stdlib.h>

/* Blocks of products, which stay in a core's own cache until they have been looked at. */
#define ROWS    ((size_t)512)
#define COLUMNS ((size_t)384)
#define FETCHED ((size_t)64) /* columns of the design at a time */
/* Candidates of a thread, besides those that are wanted: many more of them mean few times of
 * sorting. */
#define SPARE ((size_t)4096)

/* A pair a <= b whose product, over sqrt(2) for squares, is of a size between these; on the scale
 * of what is held. */
typedef struct {
    size_t a, b;
    double low, high;
} candidate;

/* What one thread has. */
typedef struct {
    float *weighted; /* diag(v) times the columns of a block */
    size_t block;    /* which that is: its first column, or SIZE_MAX */
    float *products;
    candidate *list;
    size_t count;
    double limit; /* what is smaller is not among the best */
} bench;

typedef struct {
    size_t first, count;
    float *x; /* columns, one after the other */
} panel;

typedef struct {
    vxs_units units;
    bool (*any)(const float *x, size_t count, float limit);
    int threads;
    bench *benches;
    size_t columns; /* of a panel: all there are, where the first panel holds them */
    panel panels[2];
    int exponent;
    double *fetched;
    double *norms, *weights;   /* of what is held, and of it times v */
    bool *silent;              /* columns that are 0 */
    double relative, absolute; /* of the bound */
    /* Of one scan: v over its power of two, whether it is 0, the factor from what is held to the
     * root of a score, what is kept, and the limit that all threads know. */
    double *v;
    const double *whole_v;
    bool still;
    double factor;
    vxs_top *top;
    size_t capacity;
    double limit;
    omp_lock_t lock; /* for what is kept and the design's columns */
} pairs;

/* ---- Columns as floats ----------------------------------------------------------------------- */

/* Two to this is above all sizes; 0 where that would not be a number to count on. */
static int exponent_of(const double *values, size_t count)
{
    double largest = 0;
    for (size_t k = 0; k < count; k++)
        largest = fabs(values[k]) > largest ? fabs(values[k]) : largest;
    if (!(largest > 1e-300 && largest < 1e300))
        return 0;
    return ilogb(largest) + 1;
}

static void hold_column(pairs *w, size_t j, const double *column, float *x)
{
    double square = 0, scale = ldexp(1, -w->exponent);
    bool silent = true;
    for (size_t i = 0; i < w->units.n; i++) {
        x[i] = (float)(column[i] * scale);
        square += (double)x[i] * (double)x[i];
        silent = silent && column[i] == 0;
    }
    w->norms[j] = sqrt(square);
    w->silent[j] = silent;
}

static void hold(pairs *w, panel *held, size_t first)
{
    size_t n = w->units.n, set[FETCHED], left = w->units.p - first;
    held->first = first;
    held->count = left < w->columns ? left : w->columns;
    for (size_t done = 0; done < held->count; done += FETCHED) {
        size_t some = held->count - done < FETCHED ? held->count - done : FETCHED;
        for (size_t k = 0; k < some; k++)
            set[k] = first + done + k;
        vxs_design_fetch(w->units.design, set, some, w->fetched);
        for (size_t k = 0; k < some; k++)
            hold_column(w, set[k], w->fetched + k * n, held->x + (done + k) * n);
    }
}

/* ---- Closer ---------------------------------------------------------------------------------- */

static double score_of(const pairs *w, size_t a, size_t b)
{
    size_t n = w->units.n, set[2] = { a, b };
    const double *x = w->units.room, *y = a == b ? x : x + n;
    double sum = 0, gamma = w->units.map.gamma;
    vxs_design_fetch(w->units.design, set, a == b ? 1 : 2, w->units.room);
    for (size_t i = 0; i < n; i++)
        sum += w->whole_v[i] * (x[i] * y[i]);
    sum *= a == b ? gamma : M_SQRT2 * gamma;
    return sum * sum;
}

static size_t number_of(const pairs *w, size_t a, size_t b)
{
    size_t p = w->units.p;
    if (a == b)
        return p + a;
    return 2 * p + (a % 2 ? a * (p - (a + 1) / 2) : a / 2 * (2 * p - a - 1)) + (b - a - 1);
}

/* By one thread at a time, while others may read. */
static void raise_limit(pairs *w, double limit)
{
    if (!(limit > w->limit))
        return;
#pragma omp atomic write
    w->limit = limit;
}

/* In double, all of a thread's that may still be among the best; by one thread at a time. */
static void settle(pairs *w, bench *b)
{
    for (size_t k = 0; k < b->count; k++) {
        const candidate *c = &b->list[k];
        if (c->high >= w->limit)
            (void)vxs_top_offer(w->top, number_of(w, c->a, c->b), score_of(w, c->a, c->b));
        double least = vxs_top_least(w->top);
        raise_limit(w, least > 0 ? sqrt(least) / w->factor : -INFINITY);
    }
    b->count = 0;
}

static int by_low(const void *a, const void *b)
{
    const candidate *x = a, *y = b;
    return (x->low < y->low) - (x->low > y->low);
}

/* The list is full: as many as are wanted are at least as good as the last of so many of them. Only
 * where hardly any are worse does this not make room. */
static void tighten(pairs *w, bench *b)
{
    size_t kept = 0, most = w->top->most;
    qsort(b->list, b->count, sizeof(*b->list), by_low);
    if (b->list[most - 1].low > b->limit)
        b->limit = b->list[most - 1].low;
    for (size_t k = 0; k < b->count; k++)
        if (b->list[k].high >= b->limit)
            b->list[kept++] = b->list[k];
    b->count = kept;
    omp_set_lock(&w->lock);
    raise_limit(w, b->limit);
    if (b->count > w->capacity / 2)
        settle(w, b);
    b->limit = w->limit;
    omp_unset_lock(&w->lock);
}

static void look_closer(pairs *w, bench *own, size_t first, size_t rows, size_t b,
                        const float *products)
{
    for (size_t i = 0; i < rows; i++) {
        size_t a = first + i;
        double bound = w->relative * w->norms[a] * w->weights[b] + w->absolute;
        double share = a == b ? M_SQRT1_2 : 1, size = fabs((double)products[i]);
        if (w->silent[a] || share * (size + bound) < own->limit)
            continue;
        own->list[own->count++] =
            (candidate){ a, b, share * (size - bound), share * (size + bound) };
        if (own->count == w->capacity)
            tighten(w, own);
    }
}

/* ---- Blocks ---------------------------------------------------------------------------------- */

/* Without this a body would not become part of the function that is compiled for a processor. */
#define INSIDE static inline __attribute__((always_inline))

INSIDE bool any_body(const float *x, size_t count, float limit)
{
    int found = 0;
#pragma omp simd reduction(| : found)
    for (size_t i = 0; i < count; i++)
        found |= fabsf(x[i]) >= limit;
    return found != 0;
}

#define ANY(name, attribute)                                                                       \
    __attribute__((attribute)) static bool any_##name(const float *x, size_t count, float limit)   \
    {                                                                                              \
        return any_body(x, count, limit);                                                          \
    }

/* unused: no attribute that matters, for what every processor of this kind can run */
ANY(plain, unused)
#if defined(__x86_64__)
ANY(avx2, target("avx2"))
ANY(avx512, target("avx512f,avx512dq,avx512vl"))
#endif

static void choose_any(pairs *w)
{
    w->any = any_plain;
#if defined(__x86_64__)
    if (__builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512dq") &&
        __builtin_cpu_supports("avx512vl"))
        w->any = any_avx512;
    else if (__builtin_cpu_supports("avx2"))
        w->any = any_avx2;
#endif
}

static void weigh(const pairs *w, bench *own, const float *x, size_t count)
{
    size_t n = w->units.n;
    for (size_t k = 0; k < count; k++) {
#pragma omp simd
        for (size_t i = 0; i < n; i++)
            own->weighted[k * n + i] = (float)(w->v[i] * (double)x[k * n + i]);
    }
}

/* Of a block of products those whose size may reach the limit, a <= b. */
static void look(pairs *w, bench *own, size_t first, size_t rows, size_t column, size_t columns)
{
    double largest = 0;
    for (size_t i = 0; i < rows; i++)
        largest = w->norms[first + i] > largest ? w->norms[first + i] : largest;
    for (size_t b = column; b < column + columns; b++) {
        size_t upper = b < first ? 0 : b - first + 1 < rows ? b - first + 1 : rows;
        double bound = w->relative * largest * w->weights[b] + w->absolute;
        float limit = nextafterf((float)(own->limit - bound), -INFINITY);
        const float *products = own->products + (b - column) * ROWS;
        if (!w->silent[b] && w->any(products, upper, limit))
            look_closer(w, own, first, upper, b, products);
    }
}

static void look_at_block(pairs *w, bench *own, const panel *left, size_t row, const panel *right,
                          size_t column)
{
    size_t n = w->units.n, first = right->first + column;
    size_t rows = left->count - row < ROWS ? left->count - row : ROWS;
    size_t columns = right->count - column < COLUMNS ? right->count - column : COLUMNS;
    if (left->first + row >= first + columns || vxs_check_interrupted(&w->units.context, NULL))
        return;
    if (own->block != first)
        weigh(w, own, right->x + column * n, columns);
    own->block = first;
    cblas_sgemm(CblasColMajor, CblasTrans, CblasNoTrans, (int)rows, (int)columns, (int)n, 1,
                left->x + row * n, (int)n, own->weighted, (int)n, 0, own->products, (int)ROWS);
    double limit;
#pragma omp atomic read
    limit = w->limit;
    if (limit > own->limit)
        own->limit = limit;
    look(w, own, left->first + row, rows, first, columns);
}

static double weight_of(const pairs *w, const float *x)
{
    double square = 0;
    for (size_t i = 0; i < w->units.n; i++)
        square += w->v[i] * (double)x[i] * (w->v[i] * (double)x[i]);
    return sqrt(square);
}

/* Pairs of one column of each; of one and the same panel, those above the diagonal and on it. */
static void look_at_panels(pairs *w, const panel *left, const panel *right)
{
    size_t rows = (left->count + ROWS - 1) / ROWS;
    size_t columns = (right->count + COLUMNS - 1) / COLUMNS;
    for (int t = 0; t < w->threads; t++)
        w->benches[t].block = SIZE_MAX;
#pragma omp parallel for num_threads(w->threads) schedule(static)
    for (size_t j = 0; j < right->count; j++)
        w->weights[right->first + j] = weight_of(w, right->x + j * w->units.n);
#pragma omp parallel for num_threads(w->threads) schedule(dynamic)
    for (size_t k = 0; k < rows * columns; k++)
        look_at_block(w, &w->benches[omp_get_thread_num()], left, k % rows * ROWS, right,
                      k / rows * COLUMNS);
}

/* ---- One scan -------------------------------------------------------------------------------- */

static void look_at_all(pairs *w)
{
    size_t p = w->units.p;
    bool all = w->columns >= p;
    for (size_t left = 0; left < p; left += w->columns) {
        if (!all)
            hold(w, &w->panels[0], left);
        look_at_panels(w, &w->panels[0], &w->panels[0]);
        for (size_t right = left + w->columns; right < p; right += w->columns) {
            hold(w, &w->panels[1], right);
            look_at_panels(w, &w->panels[0], &w->panels[1]);
        }
    }
    for (int t = 0; t < w->threads; t++)
        settle(w, &w->benches[t]);
}

/* Pairs with a column that is 0 were not looked at: their scores are 0, and they count only where
 * nothing more is kept. */
static void offer_silent(const pairs *w, vxs_top *top)
{
    size_t p = w->units.p;
    if (vxs_top_least(top) > 0)
        return;
    for (size_t a = 0; a < p; a++)
        if ((w->still || w->silent[a]) && !vxs_top_offer(top, p + a, 0))
            return;
    for (size_t a = 0, unit = 2 * p; a < p; a++)
        for (size_t b = a + 1; b < p; b++, unit++)
            if ((w->still || w->silent[a] || w->silent[b]) && !vxs_top_offer(top, unit, 0))
                return;
}

static void offer_linear(pairs *w, const double *v, vxs_top *top)
{
    double factor = sqrt(2 * w->units.map.gamma * w->units.map.constant), *s = w->units.sums;
    vxs_design_scan(w->units.design, v, 1, s);
    for (size_t j = 0; j < w->units.p; j++)
        (void)vxs_top_offer(top, j, factor * s[j] * (factor * s[j]));
}

static vxs_status make_lists(pairs *w, size_t most, vxs_error *err)
{
    w->capacity = most < SIZE_MAX / 8 ? 4 * most + SPARE : SIZE_MAX;
    for (int t = 0; t < w->threads; t++) {
        bench *own = &w->benches[t];
        own->count = 0;
        own->limit = -INFINITY;
        own->list = vxs_alloc(w->capacity, sizeof(*own->list), err);
        if (!own->list)
            return VXS_FAILED;
    }
    return VXS_OK;
}

static void release_lists(pairs *w)
{
    for (int t = 0; t < w->threads; t++) {
        free(w->benches[t].list);
        w->benches[t].list = NULL;
    }
}

static vxs_status best(vxs_units *units, const double *v, vxs_top *top, vxs_error *err)
{
    pairs *w = (pairs *)units;
    int exponent = exponent_of(v, units->n);
    vxs_status status = make_lists(w, top->most, err);
    if (!status) {
        w->still = true;
        for (size_t i = 0; i < units->n; i++) {
            w->v[i] = ldexp(v[i], -exponent);
            w->still = w->still && v[i] == 0;
        }
        w->whole_v = v;
        w->top = top;
        w->limit = -INFINITY;
        w->factor = ldexp(M_SQRT2 * units->map.gamma, 2 * w->exponent + exponent);
        offer_linear(w, v, top);
        if (!w->still)
            look_at_all(w);
        offer_silent(w, top);
        units->work.passes++;
        status = vxs_check_interrupted(&units->context, err);
    }
    release_lists(w);
    return status;
}

/* ---- The whole ------------------------------------------------------------------------------- */

static void release(vxs_units *units)
{
    pairs *w = (pairs *)units;
    for (int t = 0; t < w->threads && w->benches; t++) {
        free(w->benches[t].weighted);
        free(w->benches[t].products);
    }
    omp_destroy_lock(&w->lock);
    free(w->benches);
    free(w->panels[0].x);
    free(w->panels[1].x);
    free(w->fetched);
    free(w->norms);
    free(w->weights);
    free(w->silent);
    free(w->v);
}

static const vxs_units_kind kind = { .best = best, .release = release };

static vxs_status make_benches(pairs *w, vxs_error *err)
{
    w->benches = vxs_alloc((size_t)w->threads, sizeof(*w->benches), err);
    for (int t = 0; t < w->threads && w->benches; t++) {
        bench *own = &w->benches[t];
        own->weighted = vxs_alloc(w->units.n, COLUMNS * sizeof(*own->weighted), err);
        own->products = vxs_alloc(ROWS, COLUMNS * sizeof(*own->products), err);
        if (!own->weighted || !own->products)
            return VXS_FAILED;
    }
    return w->benches ? VXS_OK : VXS_FAILED;
}

static vxs_status make_panels(pairs *w, size_t limit, vxs_error *err)
{
    size_t n = w->units.n, p = w->units.p, one = n > 0 ? n * sizeof(float) : 1;
    bool all = p <= limit / one;
    w->columns = all ? p : limit / 2 / one > 0 ? limit / 2 / one : 1;
    for (int k = 0; k < (all ? 1 : 2); k++) {
        w->panels[k].x = vxs_alloc(w->columns, one, err);
        if (!w->panels[k].x)
            return VXS_FAILED;
    }
    return VXS_OK;
}

static vxs_status prepare(pairs *w, size_t limit, vxs_error *err)
{
    size_t n = w->units.n, p = w->units.p;
    vxs_status status = vxs_units_make_sums(&w->units, err);
    if (!status)
        status = make_benches(w, err);
    if (!status)
        status = make_panels(w, limit, err);
    if (status)
        return status;
    w->fetched = vxs_alloc(FETCHED, vxs_times(n, sizeof(*w->fetched)), err);
    w->norms = w->fetched ? vxs_alloc(p, sizeof(*w->norms), err) : NULL;
    w->weights = w->norms ? vxs_alloc(p, sizeof(*w->weights), err) : NULL;
    w->silent = w->weights ? vxs_alloc(p, sizeof(*w->silent), err) : NULL;
    w->v = w->silent ? vxs_alloc(n, sizeof(*w->v), err) : NULL;
    if (!w->v)
        return VXS_FAILED;
    double roundings = ((double)n + 4) * (double)FLT_EPSILON / 2;
    w->relative = roundings / (1 - roundings);
    w->absolute = ((double)n + 4) * 0x1p-120;
    w->exponent = exponent_of(vxs_design_norms(w->units.design), p);
    if (w->columns >= p && p > 0)
        hold(w, &w->panels[0], 0);
    return VXS_OK;
}

vxs_status vxs_units_pairs_new(const vxs_context *context, vxs_design *design, const vxs_map *map,
                               size_t limit, vxs_units **units, vxs_error *err)
{
    size_t count = vxs_map_count(map, vxs_design_columns(design));
    pairs *made = vxs_alloc(1, sizeof(*made), err);
    if (!made)
        return VXS_FAILED;
    omp_init_lock(&made->lock);
    made->threads = vxs_design_threads(design) > 1 ? vxs_design_threads(design) : 1;
    made->units.counted = true;
    choose_any(made);
    vxs_status status = vxs_units_init(&made->units, &kind, context, design, map, count, err);
    if (!status)
        status = prepare(made, limit, err);
    if (status) {
        vxs_units_free(&made->units);
        return status;
    }
    *units = &made->units;
    return VXS_OK;
}
