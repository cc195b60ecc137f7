/* rough_products.c - inner products of rows of floats, in single precision: half the time of
 * gram.c, for what needs no more than six digits.
 *
 * Columns are read once, in blocks, whose products are added in double precision. Each block has
 * the same columns and a sum that the number of threads does not change. */
#include "design/design.h"

#include <cblas.h>
#include <math.h>
#include <stdlib.h>

#define COLUMNS 512  /* of a block */
#define SLABS   8    /* blocks at a time, each with a sum of its own where rows are few */
#define FEW     1024 /* rows */
#define TILE    256  /* rows */
#define LARGE   1e15F

typedef struct {
    const float *columns;
    size_t n, p;
    float *block, *tiles; /* of each slab; a tile of each, or where rows are few all products */
    double *g;
    bool out_of_range;
} rough;

/* Columns minus one of their values. What is subtracted is of no consequence but for rounding. */
static void take_block(rough *r, size_t first, size_t count, float *block)
{
    size_t n = r->n, over = 0, under = 0, used = 0;
    for (size_t k = 0; k < count; k++) {
        const float *x = r->columns + (first + k) * n;
        float *to = block + k * n, some[3] = { x[0], x[n / 2], x[n - 1] };
        float low = fminf(some[0], some[1]), high = fmaxf(some[0], some[1]);
        float middle = fmaxf(low, fminf(high, some[2]));
        for (size_t i = 0; i < n; i++) {
            float d = x[i] - middle, size = fabsf(d);
            to[i] = d;
            over += !(size < LARGE);
            under += size > 0;
            used += size > 1 / LARGE;
        }
    }
    if (over > 0 || (under > 0 && used == 0)) {
#pragma omp atomic write
        r->out_of_range = true;
    }
}

/* Products of rows from `i` with those from `j`, added to the lower triangle. */
static void add_products(const rough *r, const float *block, size_t count, size_t i, size_t j,
                         size_t most, float *tile, double *g)
{
    const size_t n = r->n, rows = n - i < most ? n - i : most, wide = n - j < most ? n - j : most;
    if (i == j)
        cblas_ssyrk(CblasColMajor, CblasLower, CblasNoTrans, (int)rows, (int)count, 1, block + i,
                    (int)n, 0, tile, (int)rows);
    else
        cblas_sgemm(CblasColMajor, CblasNoTrans, CblasTrans, (int)rows, (int)wide, (int)count, 1,
                    block + i, (int)n, block + j, (int)n, 0, tile, (int)rows);
    for (size_t c = 0; c < wide; c++)
        for (size_t k = i == j ? c : 0; k < rows; k++)
            g[(j + c) * n + i + k] += (double)tile[c * rows + k];
}

static size_t count_of(const rough *r, size_t first, size_t slab)
{
    size_t from = first + slab * COLUMNS;
    return from >= r->p ? 0 : r->p - from < COLUMNS ? r->p - from : COLUMNS;
}

/* Few rows: slabs. */
static void add_slabs(rough *r, size_t first, int threads)
{
    size_t n = r->n;
#pragma omp parallel for num_threads(threads) schedule(dynamic)
    for (size_t b = 0; b < SLABS; b++) {
        float *block = r->block + b * COLUMNS * n;
        size_t count = count_of(r, first, b);
        take_block(r, first + b * COLUMNS, count, block);
        if (count > 0)
            add_products(r, block, count, 0, 0, n, r->tiles + b * n * n, r->g + b * n * n);
    }
}

/* Many: tiles, each by one thread; `tiles` has room for one of each column of tiles. */
static void add_tiles(rough *r, size_t first, int threads)
{
    const size_t n = r->n, across = (n + TILE - 1) / TILE;
#pragma omp parallel for num_threads(threads) schedule(dynamic)
    for (size_t b = 0; b < SLABS; b++)
        take_block(r, first + b * COLUMNS, count_of(r, first, b), r->block + b * COLUMNS * n);
#pragma omp parallel for num_threads(threads) schedule(dynamic)
    for (size_t column = 0; column < across; column++)
        for (size_t row = column; row < across; row++)
            for (size_t b = 0; b < SLABS; b++)
                if (count_of(r, first, b) > 0)
                    add_products(r, r->block + b * COLUMNS * n, count_of(r, first, b), row * TILE,
                                 column * TILE, TILE, r->tiles + column * TILE * TILE, r->g);
}

static void add_sums(const rough *r, size_t sums, double *products)
{
    size_t n = r->n;
    for (size_t j = 0; j < n; j++)
        for (size_t i = j; i < n; i++) {
            double sum = 0;
            for (size_t b = 0; b < sums; b++)
                sum += r->g[b * n * n + j * n + i];
            products[j * n + i] = products[i * n + j] = sum;
        }
}

vxs_status vxs_rough_products(const vxs_context *context, const float *columns, size_t n, size_t p,
                              int threads, double *products, bool *fine, vxs_error *err)
{
    size_t sums = n <= FEW ? SLABS : 1, across = (n + TILE - 1) / TILE;
    size_t room = n <= FEW ? vxs_times(n, n) * SLABS : across * TILE * TILE;
    rough r = { .columns = columns, .n = n, .p = p };
    r.block = vxs_alloc(SLABS * COLUMNS, vxs_times(n, sizeof(*r.block)), err);
    r.tiles = vxs_alloc(room, sizeof(*r.tiles), err);
    r.g = vxs_alloc(sums, vxs_times(n, vxs_times(n, sizeof(*r.g))), err);
    vxs_status status = r.block && r.tiles && r.g ? VXS_OK : VXS_FAILED;
    for (size_t first = 0; first < p && !status && !r.out_of_range; first += SLABS * COLUMNS) {
        if (n <= FEW)
            add_slabs(&r, first, threads);
        else
            add_tiles(&r, first, threads);
        status = vxs_check_interrupted(context, err);
    }
    if (!status)
        add_sums(&r, sums, products);
    *fine = !r.out_of_range;
    free(r.block);
    free(r.tiles);
    free(r.g);
    return status;
}
