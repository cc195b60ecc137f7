/* blocks_pairs.c - polynomials of degree two: features, their squares and their products, of which
 * there may be far more than fit in memory.
 *
 * The inner products of all pairs with v are X'diag(v)X. Its blocks are computed by
 * single-precision matrix products, filtered at once for pairs that may be among the best, and
 * these are recomputed in double precision. The error of single precision is bounded (below), and a
 * pair is discarded only if enough others are better by more than the bound; so the result is that
 * of double precision and independent of the order of threads.
 *
 * Error bound. Columns are scaled by a power of two such that all values are at most 1 in size, and
 * v too. With u = 2^-24, g(k) = k u / (1 - k u), a the stored column and w the float nearest to v
 * times the other: each product has three rounding errors, two from stored columns and one from w,
 * and sums of n products in any order have n more, their own rounding included (Higham, Accuracy
 * and Stability of Numerical Algorithms, section 3.1). So the error is at most g(n + 3) |a|'|w|,
 * which is at most g(n + 3) times the product of norms. One more u covers all rounding of double
 * precision. Underflow loses less than 2^-126 per value.
 *
 * Cost: p^2 n multiplications and additions, and one comparison per pair.
 *
 * Source: Tan, Tsang, Wang, "Towards ultrahigh dimensional feature selection for big data", JMLR 15
 * (2014), section 6 and Algorithm 5. */
#include "design/blocks.h"
#include "design/design.h"
#include "voxsift/internal/machine.h"

#include <cblas.h>
#include <float.h>
#include <math.h>
#include <omp.h>
#include <stdlib.h>

/* Block sizes of products, which stay in a core's own cache until they are filtered. */
#define ROWS          ((size_t)512)
#define COLUMNS       ((size_t)384)
#define FETCH_COLUMNS ((size_t)64) /* columns of the design at a time */
/* Candidates per thread beyond the number of results: more candidates mean fewer sorts. */
#define EXTRA_CANDIDATES ((size_t)4096)

/* A pair a <= b with an interval that contains the size of its inner product (divided by sqrt(2)
 * for squares), in scaled units. */
typedef struct {
    size_t a, b;
    double low, high;
} candidate;

/* Workspace of one thread. */
typedef struct {
    float *weighted; /* diag(v) times the columns of a block */
    size_t block;    /* first column of that block, or SIZE_MAX */
    float *products;
    candidate *list;
    size_t count;
    double limit; /* smaller sizes are not among the best */
} thread_workspace;

typedef struct {
    size_t first, count;
    float *x; /* contiguous columns */
} panel;

typedef struct {
    vxs_blocks blocks;
    bool (*any)(const float *x, size_t count, float limit);
    int threads;
    thread_workspace *thread_workspaces;
    size_t columns; /* per panel: all, if the first panel holds them */
    panel panels[2];
    int exponent;
    double *fetched;
    double *norms, *weights;   /* norms of stored columns, and of them times v */
    bool *zero;                /* columns that are 0 */
    double relative, absolute; /* of the error bound */
    /* Of one scan: scaled v, whether it is 0, the factor from scaled sizes to square roots of
     * scores, the best so far, and the common limit of all threads. */
    double *v;
    const double *unscaled_v;
    bool v_is_zero;
    double factor;
    vxs_top *top;
    size_t capacity;
    double limit;
    omp_lock_t lock; /* protects `top` and access to the design */
} pair_blocks;

/* ---- Single-precision columns ---------------------------------------------------------------- */

/* A power of two above all sizes; 0 if there is no usable one. */
static int exponent_of(const double *values, size_t count)
{
    double largest = 0;
    for (size_t k = 0; k < count; k++)
        largest = fabs(values[k]) > largest ? fabs(values[k]) : largest;
    if (!(largest > 1e-300 && largest < 1e300))
        return 0;
    return ilogb(largest) + 1;
}

static void store_column(pair_blocks *w, size_t j, const double *column, float *x)
{
    double square = 0, scale = ldexp(1, -w->exponent);
    bool zero = true;
    for (size_t i = 0; i < w->blocks.n; i++) {
        x[i] = (float)(column[i] * scale);
        square += (double)x[i] * (double)x[i];
        zero = zero && column[i] == 0;
    }
    w->norms[j] = sqrt(square);
    w->zero[j] = zero;
}

static void store_columns(pair_blocks *w, panel *stored, size_t first)
{
    size_t n = w->blocks.n, set[FETCH_COLUMNS], left = w->blocks.p - first;
    stored->first = first;
    stored->count = left < w->columns ? left : w->columns;
    for (size_t done = 0; done < stored->count; done += FETCH_COLUMNS) {
        size_t some = stored->count - done < FETCH_COLUMNS ? stored->count - done : FETCH_COLUMNS;
        for (size_t k = 0; k < some; k++)
            set[k] = first + done + k;
        vxs_design_fetch(w->blocks.design, set, some, w->fetched);
        for (size_t k = 0; k < some; k++)
            store_column(w, set[k], w->fetched + k * n, stored->x + (done + k) * n);
    }
}

/* ---- Double precision ------------------------------------------------------------------------ */

/* Such products have the score 0, not what rounding leaves of the intercept's, or what a selection
 * without an intercept makes of them. Half a unit of single precision is 6e-8. */
#define CONSTANT 1e-9 /* of the largest product */

bool vxs_design_product_is_constant(const vxs_design *design, const double *x, const double *y)
{
    double least = INFINITY, most = -INFINITY;
    for (size_t i = 0; i < design->n; i++) {
        if (design->weights && design->weights[i] == 0)
            continue;
        least = fmin(least, x[i] * y[i]);
        most = fmax(most, x[i] * y[i]);
    }
    return design->with_intercept && most - least <= CONSTANT * fmax(fabs(least), fabs(most));
}

static double score_of(const pair_blocks *w, size_t a, size_t b)
{
    size_t n = w->blocks.n, set[2] = { a, b };
    const double *x = w->blocks.workspace, *y = a == b ? x : x + n;
    double sum = 0, gamma = w->blocks.map.gamma;
    vxs_design_fetch(w->blocks.design, set, a == b ? 1 : 2, w->blocks.workspace);
    if (vxs_design_product_is_constant(w->blocks.design, x, y))
        return 0;
    for (size_t i = 0; i < n; i++)
        sum += w->unscaled_v[i] * (x[i] * y[i]);
    sum *= a == b ? gamma : M_SQRT2 * gamma;
    return sum * sum;
}

static size_t pair_index(const pair_blocks *w, size_t a, size_t b)
{
    size_t p = w->blocks.p;
    if (a == b)
        return p + a;
    return 2 * p + (a % 2 ? a * (p - (a + 1) / 2) : a / 2 * (2 * p - a - 1)) + (b - a - 1);
}

/* Requires the lock; other threads may read concurrently. */
static void raise_limit(pair_blocks *w, double limit)
{
    if (!(limit > w->limit))
        return;
#pragma omp atomic write
    w->limit = limit;
}

/* Recomputes in double precision all candidates of a thread that may still be among the best;
 * requires the lock. */
static void recompute_candidates(pair_blocks *w, thread_workspace *b)
{
    for (size_t k = 0; k < b->count; k++) {
        const candidate *c = &b->list[k];
        if (c->high >= w->limit)
            (void)vxs_top_offer(w->top, pair_index(w, c->a, c->b), score_of(w, c->a, c->b));
        double least = vxs_top_least(w->top);
        raise_limit(w, least > 0 ? sqrt(least) / w->factor : -INFINITY);
    }
    b->count = 0;
}

static int compare_low(const void *a, const void *b)
{
    const candidate *x = a, *y = b;
    return (x->low < y->low) - (x->low > y->low);
}

/* Prunes a full list: `capacity` pairs are at least as good as the last of them. Leaves the list
 * full only if nearly all pairs are tied. */
static void prune_candidates(pair_blocks *w, thread_workspace *b)
{
    size_t kept = 0, most = w->top->most;
    qsort(b->list, b->count, sizeof(*b->list), compare_low);
    if (b->list[most - 1].low > b->limit)
        b->limit = b->list[most - 1].low;
    for (size_t k = 0; k < b->count; k++)
        if (b->list[k].high >= b->limit)
            b->list[kept++] = b->list[k];
    b->count = kept;
    omp_set_lock(&w->lock);
    raise_limit(w, b->limit);
    if (b->count > w->capacity / 2)
        recompute_candidates(w, b);
    b->limit = w->limit;
    omp_unset_lock(&w->lock);
}

static void add_candidates(pair_blocks *w, thread_workspace *own, size_t first, size_t rows,
                           size_t b, const float *products)
{
    for (size_t i = 0; i < rows; i++) {
        size_t a = first + i;
        double bound = w->relative * w->norms[a] * w->weights[b] + w->absolute;
        double share = a == b ? M_SQRT1_2 : 1, size = fabs((double)products[i]);
        if (w->zero[a] || share * (size + bound) < own->limit)
            continue;
        own->list[own->count++] =
            (candidate){ a, b, share * (size - bound), share * (size + bound) };
        if (own->count == w->capacity)
            prune_candidates(w, own);
    }
}

/* ---- Blocks ---------------------------------------------------------------------------------- */

/* Without this the body would not be compiled for the target of its caller. */
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

/* unused: a neutral attribute, for the baseline of the architecture */
ANY(plain, unused)
#if defined(__x86_64__)
ANY(avx2, VXS_FOR_AVX2)
ANY(avx512, VXS_FOR_AVX512)
#endif

static void choose_any(pair_blocks *w)
{
    w->any = any_plain;
#if defined(__x86_64__)
    vxs_vectors vectors = vxs_choose_vectors();
    if (vectors == VXS_VECTORS_AVX512)
        w->any = any_avx512;
    else if (vectors == VXS_VECTORS_AVX2)
        w->any = any_avx2;
#endif
}

static void weight_columns(const pair_blocks *w, thread_workspace *own, const float *x,
                           size_t count)
{
    size_t n = w->blocks.n;
    for (size_t k = 0; k < count; k++) {
#pragma omp simd
        for (size_t i = 0; i < n; i++)
            own->weighted[k * n + i] = (float)(w->v[i] * (double)x[k * n + i]);
    }
}

/* Filters a block of products for pairs a <= b whose size may reach the limit. */
static void filter(pair_blocks *w, thread_workspace *own, size_t first, size_t rows, size_t column,
                   size_t columns)
{
    double largest = 0;
    for (size_t i = 0; i < rows; i++)
        largest = w->norms[first + i] > largest ? w->norms[first + i] : largest;
    for (size_t b = column; b < column + columns; b++) {
        size_t upper = b < first ? 0 : b - first + 1 < rows ? b - first + 1 : rows;
        double bound = w->relative * largest * w->weights[b] + w->absolute;
        float limit = nextafterf((float)(own->limit - bound), -INFINITY);
        const float *products = own->products + (b - column) * ROWS;
        if (!w->zero[b] && w->any(products, upper, limit))
            add_candidates(w, own, first, upper, b, products);
    }
}

static void filter_block(pair_blocks *w, thread_workspace *own, const panel *left, size_t row,
                         const panel *right, size_t column)
{
    size_t n = w->blocks.n, first = right->first + column;
    size_t rows = left->count - row < ROWS ? left->count - row : ROWS;
    size_t columns = right->count - column < COLUMNS ? right->count - column : COLUMNS;
    if (left->first + row >= first + columns || vxs_check_interrupted(&w->blocks.context, NULL))
        return;
    if (own->block != first)
        weight_columns(w, own, right->x + column * n, columns);
    own->block = first;
    cblas_sgemm(CblasColMajor, CblasTrans, CblasNoTrans, (int)rows, (int)columns, (int)n, 1,
                left->x + row * n, (int)n, own->weighted, (int)n, 0, own->products, (int)ROWS);
    double limit;
#pragma omp atomic read
    limit = w->limit;
    if (limit > own->limit)
        own->limit = limit;
    filter(w, own, left->first + row, rows, first, columns);
}

static double weighted_norm(const pair_blocks *w, const float *x)
{
    double square = 0;
    for (size_t i = 0; i < w->blocks.n; i++)
        square += w->v[i] * (double)x[i] * (w->v[i] * (double)x[i]);
    return sqrt(square);
}

/* Pairs with one column from each panel; of a single panel, the upper triangle with its
 * diagonal. */
static void filter_panels(pair_blocks *w, const panel *left, const panel *right)
{
    size_t rows = (left->count + ROWS - 1) / ROWS;
    size_t columns = (right->count + COLUMNS - 1) / COLUMNS;
    for (int t = 0; t < w->threads; t++)
        w->thread_workspaces[t].block = SIZE_MAX;
#pragma omp parallel for num_threads(w->threads) schedule(static)
    for (size_t j = 0; j < right->count; j++)
        w->weights[right->first + j] = weighted_norm(w, right->x + j * w->blocks.n);
#pragma omp parallel for num_threads(w->threads) schedule(dynamic)
    for (size_t k = 0; k < rows * columns; k++)
        filter_block(w, &w->thread_workspaces[omp_get_thread_num()], left, k % rows * ROWS, right,
                     k / rows * COLUMNS);
}

/* ---- Scores ---------------------------------------------------------------------------------- */

static void score_all(pair_blocks *w)
{
    size_t p = w->blocks.p;
    bool all = w->columns >= p;
    for (size_t left = 0; left < p; left += w->columns) {
        if (!all)
            store_columns(w, &w->panels[0], left);
        filter_panels(w, &w->panels[0], &w->panels[0]);
        for (size_t right = left + w->columns; right < p; right += w->columns) {
            store_columns(w, &w->panels[1], right);
            filter_panels(w, &w->panels[0], &w->panels[1]);
        }
    }
    for (int t = 0; t < w->threads; t++)
        recompute_candidates(w, &w->thread_workspaces[t]);
}

/* Pairs with a zero column were skipped: their scores are 0, and they fill up the result if
 * needed. */
static void add_zero_pairs(const pair_blocks *w, vxs_top *top)
{
    size_t p = w->blocks.p;
    if (vxs_top_least(top) > 0)
        return;
    for (size_t a = 0; a < p; a++)
        if ((w->v_is_zero || w->zero[a]) && !vxs_top_offer(top, p + a, 0))
            return;
    for (size_t a = 0, index = 2 * p; a < p; a++)
        for (size_t b = a + 1; b < p; b++, index++)
            if ((w->v_is_zero || w->zero[a] || w->zero[b]) && !vxs_top_offer(top, index, 0))
                return;
}

static void add_linear(pair_blocks *w, const double *v, vxs_top *top)
{
    double factor = sqrt(2 * w->blocks.map.gamma * w->blocks.map.coef0), *s = w->blocks.sums;
    vxs_blocks_scan(&w->blocks, v);
    for (size_t j = 0; j < w->blocks.p; j++)
        (void)vxs_top_offer(top, j, factor * s[j] * (factor * s[j]));
}

static vxs_status allocate_lists(pair_blocks *w, size_t most, vxs_error *err)
{
    w->capacity = most < SIZE_MAX / 8 ? 4 * most + EXTRA_CANDIDATES : SIZE_MAX;
    for (int t = 0; t < w->threads; t++) {
        thread_workspace *own = &w->thread_workspaces[t];
        own->count = 0;
        own->limit = -INFINITY;
        own->list = vxs_alloc(w->capacity, sizeof(*own->list), err);
        if (!own->list)
            return VXS_FAILED;
    }
    return VXS_OK;
}

static void release_lists(pair_blocks *w)
{
    for (int t = 0; t < w->threads; t++) {
        free(w->thread_workspaces[t].list);
        w->thread_workspaces[t].list = NULL;
    }
}

static vxs_status best(vxs_blocks *blocks, const double *v, vxs_top *top, vxs_error *err)
{
    pair_blocks *w = (pair_blocks *)blocks;
    int exponent = exponent_of(v, blocks->n);
    vxs_status status = allocate_lists(w, top->most, err);
    if (!status) {
        w->v_is_zero = true;
        for (size_t i = 0; i < blocks->n; i++) {
            w->v[i] = ldexp(v[i], -exponent);
            w->v_is_zero = w->v_is_zero && v[i] == 0;
        }
        w->unscaled_v = v;
        w->top = top;
        w->limit = -INFINITY;
        w->factor = ldexp(M_SQRT2 * blocks->map.gamma, 2 * w->exponent + exponent);
        add_linear(w, v, top);
        if (!w->v_is_zero)
            score_all(w);
        add_zero_pairs(w, top);
        blocks->work.passes++;
        status = vxs_check_interrupted(&blocks->context, err);
    }
    release_lists(w);
    return status;
}

/* ---- Constructor ----------------------------------------------------------------------------- */

static void release(vxs_blocks *blocks)
{
    pair_blocks *w = (pair_blocks *)blocks;
    for (int t = 0; t < w->threads && w->thread_workspaces; t++) {
        free(w->thread_workspaces[t].weighted);
        free(w->thread_workspaces[t].products);
    }
    omp_destroy_lock(&w->lock);
    free(w->thread_workspaces);
    free(w->panels[0].x);
    free(w->panels[1].x);
    free(w->fetched);
    free(w->norms);
    free(w->weights);
    free(w->zero);
    free(w->v);
}

static const vxs_blocks_kind kind = { .best = best, .release = release };

static vxs_status allocate_workspaces(pair_blocks *w, vxs_error *err)
{
    w->thread_workspaces = vxs_alloc((size_t)w->threads, sizeof(*w->thread_workspaces), err);
    for (int t = 0; t < w->threads && w->thread_workspaces; t++) {
        thread_workspace *own = &w->thread_workspaces[t];
        own->weighted = vxs_alloc(w->blocks.n, COLUMNS * sizeof(*own->weighted), err);
        own->products = vxs_alloc(ROWS, COLUMNS * sizeof(*own->products), err);
        if (!own->weighted || !own->products)
            return VXS_FAILED;
    }
    return w->thread_workspaces ? VXS_OK : VXS_FAILED;
}

static vxs_status allocate_panels(pair_blocks *w, size_t limit, vxs_error *err)
{
    size_t n = w->blocks.n, p = w->blocks.p, one = n > 0 ? n * sizeof(float) : 1;
    bool all = p <= limit / one;
    w->columns = all ? p : limit / 2 / one > 0 ? limit / 2 / one : 1;
    for (int k = 0; k < (all ? 1 : 2); k++) {
        w->panels[k].x = vxs_alloc(w->columns, one, err);
        if (!w->panels[k].x)
            return VXS_FAILED;
    }
    return VXS_OK;
}

static vxs_status prepare(pair_blocks *w, size_t limit, vxs_error *err)
{
    size_t n = w->blocks.n, p = w->blocks.p;
    vxs_status status = vxs_blocks_allocate_sums(&w->blocks, err);
    if (!status)
        status = allocate_workspaces(w, err);
    if (!status)
        status = allocate_panels(w, limit, err);
    if (status)
        return status;
    w->fetched = vxs_alloc(FETCH_COLUMNS, vxs_times(n, sizeof(*w->fetched)), err);
    w->norms = w->fetched ? vxs_alloc(p, sizeof(*w->norms), err) : NULL;
    w->weights = w->norms ? vxs_alloc(p, sizeof(*w->weights), err) : NULL;
    w->zero = w->weights ? vxs_alloc(p, sizeof(*w->zero), err) : NULL;
    w->v = w->zero ? vxs_alloc(n, sizeof(*w->v), err) : NULL;
    if (!w->v)
        return VXS_FAILED;
    double roundings = ((double)n + 4) * (double)FLT_EPSILON / 2;
    w->relative = roundings / (1 - roundings);
    w->absolute = ((double)n + 4) * 0x1p-120;
    w->exponent = exponent_of(vxs_design_norms(w->blocks.design), p);
    if (w->columns >= p && p > 0)
        store_columns(w, &w->panels[0], 0);
    return VXS_OK;
}

vxs_status vxs_blocks_pairs_new(const vxs_context *context, vxs_design *design,
                                const vxs_feature_map *map, size_t limit, vxs_blocks **blocks,
                                vxs_error *err)
{
    size_t count = vxs_feature_map_count(map, vxs_design_columns(design));
    pair_blocks *result = vxs_alloc(1, sizeof(*result), err);
    if (!result)
        return VXS_FAILED;
    omp_init_lock(&result->lock);
    result->threads = vxs_design_threads(design) > 1 ? vxs_design_threads(design) : 1;
    result->blocks.counted = true;
    choose_any(result);
    vxs_status status = vxs_blocks_init(&result->blocks, &kind, context, design, map, count, err);
    if (!status)
        status = prepare(result, limit, err);
    if (status) {
        vxs_blocks_free(&result->blocks);
        return status;
    }
    *blocks = &result->blocks;
    return VXS_OK;
}
