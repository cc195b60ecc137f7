/* kernel_matrix.c - kernels between training rows from their inner products, tile by tile.
 *
 * Squared distances, their median, and kernel values are passes over the products, which are not
 * copied: one matrix of products thus serves all folds and gammas. Where it does not fit into
 * memory products are made of features, in each pass. */
#include "design/design.h"
#include "design/gauss.h"

#include <cblas.h>
#include <math.h>
#include <omp.h>
#include <stdlib.h>
#include <string.h>

#define TILE       64    /* rows; a multiple of VXS_POINTS */
#define MANY       2048  /* rows with which one goes together; a multiple of TILE */
#define FARTHEST   37.6  /* standard deviations, where exp is 1e-307 */
#define APART      1e-12 /* of the rows' squares: a squared distance that is more than rounding */
#define DRAWN      ((size_t)1 << 16) /* pairs that say where the median is */
#define MANY_DRAWN ((size_t)1 << 20) /* that stand for all, of more rows than: */
#define FEW_ROWS   10000
#define WIDTH      0.01 /* of the pairs drawn, on either side of the middle one */

/* ---- Rows ------------------------------------------------------------------------------------ */

void vxs_kernel_rows_release(vxs_kernel_rows *s)
{
    free(s->own);
    free(s->c);
    free(s->values);
    *s = (vxs_kernel_rows){ .m = 0 };
}

/* c = z'M - h, so that the product with another training row is g + c'z - z'h of that row. */
vxs_status vxs_kernel_rows_init(const vxs_residual_products *r, vxs_kernel_rows *s, vxs_error *err)
{
    const size_t q = r->columns, m = r->count;
    *s = (vxs_kernel_rows){ .m = m, .residual = r, .nthreads = 1 };
    s->own = vxs_alloc(m + 1, sizeof(*s->own), err);
    s->c = vxs_alloc(m + 1, vxs_times(q + 1, sizeof(*s->c)), err);
    if (!s->own || !s->c) {
        vxs_kernel_rows_release(s);
        return VXS_FAILED;
    }
    for (size_t j = 0; j < m; j++) {
        double *c = s->c + j * q, own = r->products[r->train[j] * r->n + r->train[j]];
        for (size_t b = 0; b < q; b++) {
            c[b] = -r->sums[j * q + b];
            for (size_t a = 0; a < q; a++)
                c[b] += r->z[a * m + j] * r->square[a * q + b];
            own += (c[b] - r->sums[j * q + b]) * r->z[b * m + j];
        }
        s->own[j] = fmax(0, own); /* a row that is the mean has rounding alone */
    }
    return VXS_OK;
}

static void find_own(vxs_kernel_rows *s)
{
    for (size_t j = 0; j < s->m; j++)
        s->own[j] = cblas_ddot((int)s->p, s->values + j * s->p, 1, s->values + j * s->p, 1);
}

static vxs_status allocate_rows(vxs_kernel_rows *s, vxs_error *err)
{
    s->own = vxs_alloc(s->m + 1, sizeof(*s->own), err);
    s->values = vxs_alloc(s->m + 1, vxs_times(s->p, sizeof(*s->values)), err);
    if (s->own && s->values)
        return VXS_OK;
    vxs_kernel_rows_release(s);
    return VXS_FAILED;
}

vxs_status vxs_kernel_rows_read(const vxs_context *context, vxs_design *design, vxs_kernel_rows *s,
                                vxs_error *err)
{
    const size_t n = design->n, p = design->p;
    size_t set[TILE];
    *s = (vxs_kernel_rows){ .m = n, .p = p, .nthreads = design->nthreads };
    double *block = vxs_alloc(TILE, vxs_times(n, sizeof(*block)), err);
    vxs_status status = block ? allocate_rows(s, err) : VXS_FAILED;
    for (size_t first = 0; first < p && !status; first += TILE) {
        size_t count = p - first < TILE ? p - first : TILE;
        for (size_t k = 0; k < count; k++)
            set[k] = first + k;
        vxs_design_fetch(design, set, count, block);
        for (size_t i = 0; i < n; i++)
            for (size_t k = 0; k < count; k++)
                s->values[i * p + first + k] = block[k * n + i];
        status = vxs_check_interrupted(context, err);
    }
    free(block);
    if (!status)
        find_own(s);
    else
        vxs_kernel_rows_release(s);
    return status;
}

vxs_status vxs_kernel_rows_some(const vxs_kernel_rows *s, const size_t *set, size_t count,
                                vxs_kernel_rows *some, vxs_error *err)
{
    *some = (vxs_kernel_rows){ .m = count, .p = s->p, .nthreads = s->nthreads };
    vxs_status status = allocate_rows(some, err);
    for (size_t k = 0; k < count && !status; k++) {
        memcpy(some->values + k * s->p, s->values + set[k] * s->p, s->p * sizeof(*s->values));
        some->own[k] = s->own[set[k]];
    }
    return status;
}

/* Products of row j with some that follow each other. */
static void products_with(const vxs_kernel_rows *s, size_t j, size_t first, size_t count,
                          double *row)
{
    const vxs_residual_products *r = s->residual;
    const double *g = r->products + r->train[j] * r->n;
    const size_t q = r->columns, m = r->count, *train = r->train + first;
    for (size_t i = 0; i < count; i++)
        row[i] = g[train[i]];
    for (size_t k = 0; k < q; k++) {
        const double c = s->c[j * q + k], z = r->z[k * m + j];
        const double *other = r->z + k * m + first, *sums = r->sums + first * q + k;
#pragma omp simd
        for (size_t i = 0; i < count; i++)
            row[i] += c * other[i] - z * sums[i * q];
    }
}

/* Products of some rows with others, from j and from first: a column of `tile` for each of the
 * former. */
static void products_between(const vxs_kernel_rows *s, size_t j, size_t rows,
                             const vxs_kernel_rows *others, size_t first, size_t count,
                             double *tile, size_t stride)
{
    if (!s->residual)
        cblas_dgemm(CblasColMajor, CblasTrans, CblasNoTrans, (int)count, (int)rows, (int)s->p, 1,
                    others->values + first * s->p, (int)s->p, s->values + j * s->p, (int)s->p, 0,
                    tile, (int)stride);
    for (size_t a = 0; a < rows && s->residual; a++)
        products_with(s, j + a, first, count, tile + a * stride);
}

/* ---- Distances ------------------------------------------------------------------------------- */

typedef struct {
    double square, weight;
} pair;

/* The first of the ascending squares at which, with what is below all of them, more than half of
 * the weight is reached. */
static double middle_of(pair *list, size_t count, double below, double half)
{
    size_t first = 0, last = count;
    while (last - first > 1) {
        double pivot = list[first + (last - first) / 2].square, less = 0, equal = 0;
        size_t low = first, high = last;
        for (size_t i = first; i < high;) {
            pair here = list[i];
            if (here.square < pivot) {
                less += here.weight;
                list[i++] = list[low];
                list[low++] = here;
            } else if (here.square > pivot) {
                list[i] = list[--high];
                list[high] = here;
            } else {
                equal += here.weight;
                i++;
            }
        }
        if (below + less > half) {
            last = low;
        } else if (below + less + equal > half || high == last) {
            return pivot;
        } else {
            below += less + equal;
            first = high;
        }
    }
    return list[first].square;
}

/* 0 if nothing but rounding is left of it. */
static double square_of(double own, double other, double product)
{
    double square = own + other - 2 * product;
    return square > APART * (own + other) ? square : 0;
}

/* The pairs whose squared distance is from `low` to `high`, and the weight of all and of those
 * below. A pair counts as often as rows of its two subjects make pairs, if a weight is how often a
 * row is there; those of copies are at distance 0, and do not count. */
typedef struct {
    const vxs_kernel_rows *rows;
    const double *weights; /* or NULL */
    double low, high, below, whole;
    pair *list;
    size_t count, capacity;
} pairs;

static vxs_status reserve(pairs *p, size_t more, vxs_error *err)
{
    if (p->count + more <= p->capacity)
        return VXS_OK;
    size_t capacity = p->count + more + p->capacity / 2;
    pair *list = vxs_resize(p->list, capacity, sizeof(*list), err);
    if (!list)
        return VXS_FAILED;
    p->list = list;
    p->capacity = capacity;
    return VXS_OK;
}

static void list_pair(pairs *p, double square, double weight)
{
    if (square > 0 && weight > 0 && square >= p->low && square <= p->high)
        p->list[p->count++] = (pair){ square, weight };
}

/* Row j with `count` rows from `first`, which `squares` are away. */
static void add_weighted(pairs *p, size_t j, size_t first, size_t count, const double *squares)
{
    for (size_t i = 0; i < count; i++) {
        double weight = squares[i] > 0 ? p->weights[j] * p->weights[first + i] : 0;
        p->whole += weight;
        p->below += squares[i] < p->low ? weight : 0;
        list_pair(p, squares[i], weight);
    }
}

/* The same where all count once. */
static void add_pairs(pairs *p, size_t count, const double *squares)
{
    const double low = p->low, high = p->high;
    double apart = 0, below = 0, within = 0;
#pragma omp simd reduction(+ : apart, below, within)
    for (size_t i = 0; i < count; i++) {
        apart += squares[i] > 0 ? 1 : 0;
        below += squares[i] > 0 && squares[i] < low ? 1 : 0;
        within += squares[i] >= low && squares[i] <= high ? 1 : 0;
    }
    p->whole += apart;
    p->below += below;
    for (size_t i = 0; i < count && within > 0; i++)
        list_pair(p, squares[i], 1);
}

static void add_squares(pairs *p, size_t j, size_t first, size_t count, const double *squares)
{
    if (p->weights)
        add_weighted(p, j, first, count, squares);
    else
        add_pairs(p, count, squares);
}

/* Rows from j with those of a tile that come before. */
static void add_tile(pairs *p, size_t j, size_t first)
{
    const vxs_kernel_rows *s = p->rows;
    const size_t rows = s->m - j < TILE ? s->m - j : TILE;
    double tile[TILE * TILE];
    products_between(s, j, rows, s, first, first < j ? TILE : rows, tile, TILE);
    for (size_t a = 0; a < rows; a++) {
        size_t count = first < j ? TILE : a;
        double *row = tile + a * TILE;
        for (size_t i = 0; i < count; i++)
            row[i] = square_of(s->own[first + i], s->own[j + a], row[i]);
        add_squares(p, j + a, first, count, row);
    }
}

static vxs_status list_pairs(pairs *p, vxs_error *err)
{
    const size_t m = p->rows->m;
    vxs_status status = VXS_OK;
    p->below = p->whole = 0;
    p->count = 0;
    for (size_t j = 0; j < m && !status; j += TILE)
        for (size_t first = 0; first <= j && !status; first += TILE) {
            status = reserve(p, (size_t)TILE * TILE, err);
            if (!status)
                add_tile(p, j, first);
        }
    return status;
}

static vxs_status draw_pairs(pairs *p, size_t count, vxs_error *err)
{
    const vxs_kernel_rows *s = p->rows;
    const vxs_random random = { .seed = 1, .stream = 0 };
    p->low = 0;
    p->high = INFINITY;
    vxs_status status = reserve(p, count, err);
    for (size_t k = 0; k < count && !status; k++) {
        size_t i = vxs_random_below(&random, 2 * k, s->m);
        size_t j = vxs_random_below(&random, 2 * k + 1, s->m);
        double product;
        products_between(s, j, 1, s, i, 1, &product, 1);
        double square = i == j ? 0 : square_of(s->own[i], s->own[j], product);
        add_squares(p, j, i, 1, &square);
    }
    return status;
}

/* Between which squares the median is expected: a share of those that are drawn, on either side of
 * the middle. All of them, where pairs are few. */
static vxs_status find_range(pairs *p, vxs_error *err)
{
    p->low = 0;
    p->high = INFINITY;
    if (p->rows->m * (p->rows->m - 1) / 2 <= DRAWN)
        return VXS_OK;
    vxs_status status = draw_pairs(p, DRAWN, err);
    if (status || p->count < DRAWN / 4)
        return status;
    double low = middle_of(p->list, p->count, 0, (0.5 - WIDTH) * p->whole);
    p->high = middle_of(p->list, p->count, 0, (0.5 + WIDTH) * p->whole);
    p->low = low;
    return VXS_OK;
}

/* Of a million pairs that are drawn; 0: they are copies. */
static vxs_status drawn_median(const vxs_kernel_rows *s, const double *weights, double *median,
                               vxs_error *err)
{
    pairs p = { .rows = s, .weights = weights };
    vxs_status status = draw_pairs(&p, MANY_DRAWN, err);
    *median = status || p.count == 0 ? 0 : middle_of(p.list, p.count, 0, p.whole / 2);
    free(p.list);
    return status;
}

/* Of squared distances between different subjects: the middle one of those above 0. 0: none is. */
static vxs_status median_distance(const vxs_kernel_rows *s, const double *weights, double *median,
                                  vxs_error *err)
{
    pairs p = { .rows = s, .weights = weights };
    vxs_status status = find_range(&p, err);
    if (!status)
        status = list_pairs(&p, err);
    double within = 0;
    for (size_t k = 0; k < p.count; k++)
        within += p.list[k].weight;
    if (!status && p.whole > 0 && !(p.below <= p.whole / 2 && p.below + within > p.whole / 2)) {
        p.low = 0;
        p.high = INFINITY;
        status = list_pairs(&p, err);
    }
    *median = status || p.count == 0 ? 0 : middle_of(p.list, p.count, p.below, p.whole / 2);
    free(p.list);
    return status;
}

static double mean_of_own(const vxs_kernel_rows *s, const double *weights)
{
    double sum = 0, whole = 0;
    for (size_t i = 0; i < s->m; i++)
        whole += weights ? weights[i] : 1;
    for (size_t i = 0; i < s->m && whole > 0; i++)
        sum += (weights ? weights[i] : 1) * s->own[i] / whole;
    return sum;
}

vxs_status vxs_kernel_scale_roughly(vxs_kernel *kernel, const vxs_kernel_rows *rows,
                                    const double *weights, bool *varies, vxs_error *err)
{
    if (kernel->kind != VXS_KERNEL_RBF || rows->m <= FEW_ROWS)
        return vxs_kernel_scale(kernel, rows, weights, varies, err);
    *varies = true;
    vxs_status status = drawn_median(rows, weights, &kernel->scale, err);
    return status || kernel->scale > 0 ? status
                                       : vxs_kernel_scale(kernel, rows, weights, varies, err);
}

vxs_status vxs_kernel_scale(vxs_kernel *kernel, const vxs_kernel_rows *rows, const double *weights,
                            bool *varies, vxs_error *err)
{
    vxs_status status = VXS_OK;
    if (kernel->kind == VXS_KERNEL_RBF)
        status = median_distance(rows, weights, &kernel->scale, err);
    else
        kernel->scale = mean_of_own(rows, weights);
    *varies = kernel->scale > 0;
    if (!*varies)
        kernel->scale = 1;
    return status;
}

/* ---- Values ---------------------------------------------------------------------------------- */

static double power(double base, int exponent)
{
    double product = 1;
    for (int k = 0; k < exponent; k++)
        product *= base;
    return product;
}

double vxs_kernel_value(const vxs_kernel *kernel, double product, double own, double other)
{
    double scaled = product / kernel->scale;
    double value = kernel->kind == VXS_KERNEL_RBF
                       ? exp(-kernel->gamma * fmax(0, own + other - 2 * product) / kernel->scale)
                   : kernel->kind == VXS_KERNEL_POLY
                       ? power(kernel->gamma * scaled + kernel->constant, kernel->degree)
                       : scaled;
    return kernel->factor * value;
}

double vxs_kernel_slope(const vxs_kernel *kernel, double product, double own, double other)
{
    const vxs_kernel slopes = vxs_kernel_of_slopes(kernel);
    return vxs_kernel_value(&slopes, product, own, other);
}

/* A linear one has the slope of a polynomial of degree 0. */
vxs_kernel vxs_kernel_of_slopes(const vxs_kernel *kernel)
{
    const double inner = kernel->gamma / kernel->scale;
    vxs_kernel slopes = *kernel;
    if (kernel->kind == VXS_KERNEL_RBF) {
        slopes.factor *= 2 * inner;
    } else if (kernel->kind == VXS_KERNEL_POLY) {
        slopes.factor *= kernel->degree * inner;
        slopes.degree--;
    } else {
        slopes.kind = VXS_KERNEL_POLY;
        slopes.degree = 0;
        slopes.factor /= kernel->scale;
    }
    return slopes;
}

/* At most TILE of them. */
static void apply_part(const vxs_kernel *kernel, const double *own, double other, size_t count,
                       double *row)
{
    double parts[TILE] = { 0 };
    const double twice = 2 * kernel->gamma / kernel->scale;
    for (size_t i = 0; i < count; i++) {
        double square = own[i] + other - 2 * row[i];
        double distance = sqrt(twice * (square > 0 ? square : 0));
        parts[i] = distance < FARTHEST ? distance : FARTHEST;
    }
    vxs_choose_exponentials()->bells(parts, TILE, parts);
    for (size_t i = 0; i < count; i++)
        row[i] = kernel->factor * parts[i];
}

void vxs_kernel_apply(const vxs_kernel *kernel, const double *own, double other, size_t count,
                      double *row)
{
    for (size_t i = 0; i < count && kernel->kind != VXS_KERNEL_RBF; i++)
        row[i] = vxs_kernel_value(kernel, row[i], 0, 0);
    for (size_t i = 0; i < count && kernel->kind == VXS_KERNEL_RBF; i += TILE)
        apply_part(kernel, own + i, other, count - i < TILE ? count - i : TILE, row + i);
}

/* Rows of a tile with columns before them, which are written to both places. */
static void fill_tile(const vxs_kernel *kernel, const vxs_kernel_rows *s, size_t first,
                      size_t before, double *k)
{
    const size_t m = s->m, rows = m - first < TILE ? m - first : TILE;
    double tile[TILE * TILE];
    products_between(s, first, rows, s, before, before < first ? TILE : rows, tile, TILE);
    for (size_t a = 0; a < rows; a++) {
        size_t j = first + a, count = before < first ? TILE : a;
        double *row = tile + a * TILE;
        vxs_kernel_apply(kernel, s->own + before, s->own[j], count, row);
        memcpy(k + j * m + before, row, count * sizeof(*row));
    }
    for (size_t b = 0; b < TILE && before + b < m; b++)
        for (size_t a = before == first ? b + 1 : 0; a < rows; a++)
            k[(before + b) * m + first + a] = tile[a * TILE + b];
}

void vxs_kernel_fill(const vxs_kernel *kernel, const vxs_kernel_rows *s, double *k)
{
#pragma omp parallel for num_threads(s->nthreads) schedule(dynamic)
    for (size_t first = 0; first < s->m; first += TILE)
        for (size_t before = 0; before <= first; before += TILE)
            fill_tile(kernel, s, first, before, k);
    for (size_t i = 0; i < s->m; i++)
        k[i * s->m + i] = vxs_kernel_value(kernel, s->own[i], s->own[i], s->own[i]);
}

void vxs_kernel_row(const vxs_kernel *kernel, const vxs_kernel_rows *s, size_t j, double *row)
{
#pragma omp parallel for num_threads(s->nthreads) schedule(static)
    for (size_t first = 0; first < s->m; first += MANY) {
        size_t count = s->m - first < MANY ? s->m - first : MANY;
        products_between(s, j, 1, s, first, count, row + first, count);
        vxs_kernel_apply(kernel, s->own + first, s->own[j], count, row + first);
    }
    row[j] = vxs_kernel_value(kernel, s->own[j], s->own[j], s->own[j]);
}

/* ---- Products with the kernel matrix --------------------------------------------------------- */

/* Rows of a tile times the vectors. */
static void add_rows(const vxs_kernel *kernel, const vxs_kernel_rows *s, size_t first,
                     const vxs_kernel_rows *others, const double *v, size_t k, double *tile,
                     double *sums)
{
    enum { SIDE = VXS_KERNEL_TILE };
    const size_t rows = s->m - first < SIDE ? s->m - first : SIDE;
    for (size_t j = 0; j < others->m; j += SIDE) {
        size_t count = others->m - j < SIDE ? others->m - j : SIDE;
        products_between(s, first, rows, others, j, count, tile, SIDE);
        for (size_t a = 0; a < rows; a++)
            vxs_kernel_apply(kernel, others->own + j, s->own[first + a], count, tile + a * SIDE);
        cblas_dgemm(CblasColMajor, CblasTrans, CblasNoTrans, (int)rows, (int)k, (int)count, 1, tile,
                    SIDE, v + j, (int)others->m, 1, sums + first, (int)s->m);
    }
}

void vxs_kernel_add(const vxs_kernel *kernel, const vxs_kernel_rows *s,
                    const vxs_kernel_rows *others, const double *v, size_t k, double *tiles,
                    double *sums)
{
    enum { SIDE = VXS_KERNEL_TILE };
#pragma omp parallel for num_threads(s->nthreads) schedule(dynamic)
    for (size_t first = 0; first < s->m; first += SIDE)
        add_rows(kernel, s, first, others, v, k, tiles + (size_t)omp_get_thread_num() * SIDE * SIDE,
                 sums);
}
