/* gram.c - inner products of the rows of a design, and the design whose columns are those of
 * symmetric matrices.
 *
 * The columns of a design are read once, in blocks. With few rows each of several blocks has a sum
 * of its own; with many a block goes into the products of tiles of rows. Each is one call of BLAS,
 * so that the sums do not depend on the number of threads. */
#include "design/design.h"

#include <cblas.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#define COLUMNS 256  /* of a block */
#define SLABS   8    /* blocks at a time, each with a sum of its own where rows are few */
#define FEW     1024 /* rows */
#define TILE    256  /* rows */
#define MANY    4    /* vectors of a scan that go together */
#define SOME    9    /* rows whose middle value stands for a column */

/* ---- Products -------------------------------------------------------------------------------- */

static int ascending(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

/* The middle one of a few values of a column. What is subtracted from a column is of no consequence
 * but for rounding; a mean would let one row that is far out take the digits of all others. */
static double middle_of(const double *x, size_t n)
{
    double some[SOME];
    size_t count = n < SOME ? n : SOME;
    for (size_t k = 0; k < count; k++)
        some[k] = x[k * n / count];
    qsort(some, count, sizeof(*some), ascending);
    return some[count / 2];
}

/* Columns times their factor; `center`: minus a number that is among their values. */
static void scale_columns(double *block, size_t n, size_t count, const double *factor, bool center)
{
    for (size_t k = 0; k < count; k++) {
        double *x = block + k * n, by = factor ? factor[k] : 1;
        double middle = center ? middle_of(x, n) : 0;
        for (size_t i = 0; i < n; i++)
            x[i] = by == 0 ? 0 : (x[i] - middle) * by;
    }
}

static void add_square(const double *block, size_t n, size_t count, double *g)
{
    cblas_dsyrk(CblasColMajor, CblasLower, CblasNoTrans, (int)n, (int)count, 1, block, (int)n, 1, g,
                (int)n);
}

/* Adds the products of a block to the lower triangle, tile by tile. */
static void add_tiles(const double *block, size_t n, size_t count, int threads, double *g)
{
    const size_t tiles = (n + TILE - 1) / TILE;
#pragma omp parallel for num_threads(threads) schedule(dynamic) collapse(2)
    for (size_t a = 0; a < tiles; a++)
        for (size_t b = 0; b < tiles; b++) {
            const size_t i = a * TILE, j = b * TILE;
            const int rows = (int)(n - i < TILE ? n - i : TILE);
            const int columns = (int)(n - j < TILE ? n - j : TILE);
            if (a == b)
                cblas_dsyrk(CblasColMajor, CblasLower, CblasNoTrans, rows, (int)count, 1, block + i,
                            (int)n, 1, g + j * n + i, (int)n);
            else if (a > b)
                cblas_dgemm(CblasColMajor, CblasNoTrans, CblasTrans, rows, columns, (int)count, 1,
                            block + i, (int)n, block + j, (int)n, 1, g + j * n + i, (int)n);
        }
}

/* Adds the columns that were fetched: each block to a sum of its own, or tile by tile. */
static void add_columns(const vxs_design *design, double *block, size_t count, const double *factor,
                        bool center, double *g)
{
    const size_t n = design->n, blocks = (count + COLUMNS - 1) / COLUMNS;
#pragma omp parallel for num_threads(design->nthreads) schedule(dynamic)
    for (size_t b = 0; b < blocks; b++) {
        size_t first = b * COLUMNS, some = count - first < COLUMNS ? count - first : COLUMNS;
        scale_columns(block + first * n, n, some, factor ? factor + first : NULL, center);
        if (n <= FEW)
            add_square(block + first * n, n, some, g + b * n * n);
    }
    for (size_t first = 0; first < count && n > FEW; first += COLUMNS)
        add_tiles(block + first * n, n, count - first < COLUMNS ? count - first : COLUMNS,
                  design->nthreads, g);
}

static void fill_upper(double *g, size_t n)
{
    for (size_t first = 0; first < n; first += TILE)
        for (size_t before = 0; before <= first; before += TILE)
            for (size_t j = first; j < first + TILE && j < n; j++)
                for (size_t i = before; i < before + TILE && i < j; i++)
                    g[j * n + i] = g[i * n + j];
}

static vxs_status check_finite(const double *products, size_t n, vxs_error *err)
{
    for (size_t i = 0; i < n; i++)
        if (!isfinite(products[i * n + i]))
            return vxs_fail(err, VXS_BAD_DATA,
                            "row %zu of the features is too large or not finite: the sum of its "
                            "squares is %g",
                            i, products[i * n + i]);
    return VXS_OK;
}

static void add_sums(const double *g, size_t sums, size_t count, double *products)
{
    for (size_t k = 0; k < count; k++)
        for (size_t b = 0; b < sums; b++)
            products[k] += g[b * count + k];
}

enum { MOST = COLUMNS * SLABS };

/* Columns of the design, and the factors of these. */
static void fetch_columns(vxs_design *design, const size_t *columns, size_t first, size_t count,
                          const double *factor, double *factors, double *block)
{
    size_t set[MOST];
    for (size_t k = 0; k < count; k++) {
        set[k] = columns ? columns[first + k] : first + k;
        factors[k] = factor ? factor[set[k]] : 1;
    }
    vxs_design_fetch(design, set, count, block);
}

vxs_status vxs_row_products_of(const vxs_context *context, vxs_design *design,
                               const size_t *columns, size_t p, const double *factor, bool center,
                               double *products, vxs_error *err)
{
    size_t n = design->n, blocks = (p + COLUMNS - 1) / COLUMNS;
    size_t sums = n > FEW || blocks < 2 ? 1 : blocks < SLABS ? blocks : SLABS;
    double factors[MOST], *own = NULL;
    double *block = vxs_alloc(sums * COLUMNS, vxs_times(n, sizeof(*block)), err);
    if (sums > 1)
        own = vxs_alloc(sums, vxs_times(n, vxs_times(n, sizeof(*own))), err);
    vxs_status status = block && (own || sums == 1) ? VXS_OK : VXS_FAILED;
    memset(products, 0, n * n * sizeof(*products));
    for (size_t first = 0; first < p && !status; first += sums * COLUMNS) {
        size_t count = p - first < sums * COLUMNS ? p - first : sums * COLUMNS;
        fetch_columns(design, columns, first, count, factor, factors, block);
        add_columns(design, block, count, factors, center, own ? own : products);
        status = vxs_check_interrupted(context, err);
    }
    if (own)
        add_sums(own, sums, n * n, products);
    free(block);
    free(own);
    if (status)
        return status;
    fill_upper(products, n);
    return check_finite(products, n, err);
}

vxs_status vxs_row_products(const vxs_context *context, vxs_design *design, const double *factor,
                            bool center, double *products, vxs_error *err)
{
    return vxs_row_products_of(context, design, NULL, design->p, factor, center, products, err);
}

/* ---- The design of symmetric matrices -------------------------------------------------------- */

typedef struct {
    vxs_design design;
    const double *matrix;
    double *own; /* the same, to be freed; or NULL */
} gram;

static void multiply(const gram *g, const double *v, size_t j, double *s)
{
    const double *column = g->matrix + j * g->design.n;
    *s = cblas_ddot((int)g->design.n, column, 1, v, 1);
}

/* Some columns with many vectors. */
static void multiply_tile(const gram *g, const double *v, size_t k, size_t j, double *s)
{
    const size_t n = g->design.n, p = g->design.p;
    cblas_dgemm(CblasColMajor, CblasTrans, CblasNoTrans, (int)(p - j < TILE ? p - j : TILE), (int)k,
                (int)n, 1, g->matrix + j * n, (int)n, v, (int)n, 0, s + j, (int)p);
}

static void scan(vxs_design *design, const double *v, size_t k, double *s)
{
    const gram *g = (const gram *)design;
#pragma omp parallel for num_threads(design->nthreads) schedule(static) if (design->n > 2000)
    for (size_t j = 0; j < design->p; j += TILE)
        if (k > MANY)
            multiply_tile(g, v, k, j, s);
    for (size_t c = 0; c < k && k <= MANY; c++) {
#pragma omp parallel for num_threads(design->nthreads) schedule(static) if (design->n > 2000)
        for (size_t j = 0; j < design->p; j++)
            multiply(g, v + c * design->n, j, s + c * design->p + j);
    }
    design->read += design->p;
}

static void scan_some(vxs_design *design, const size_t *set, size_t count, const double *v,
                      double *s)
{
    for (size_t k = 0; k < count; k++)
        multiply((const gram *)design, v, set[k], s + k);
    design->read += count;
}

static void fetch(vxs_design *design, const size_t *set, size_t count, double *block)
{
    const gram *g = (const gram *)design;
    for (size_t k = 0; k < count; k++)
        for (size_t i = 0; i < design->n; i++)
            block[k * design->n + i] = set[k] < design->p ? g->matrix[set[k] * design->n + i] : NAN;
    design->read += count;
}

static vxs_status measure(vxs_design *design, const double *v, double *s, vxs_error *err)
{
    const gram *g = (const gram *)design;
    design->norms = vxs_alloc(design->p, sizeof(*design->norms), err);
    if (!design->norms)
        return VXS_FAILED;
    for (size_t j = 0; j < design->p; j++)
        design->norms[j] = cblas_dnrm2((int)design->n, g->matrix + j * design->n, 1);
    if (v)
        scan(design, v, 1, s);
    return VXS_OK;
}

static void release(vxs_design *design)
{
    free(((gram *)design)->own);
}

/* ---- What solvers request -------------------------------------------------------------------- */

static size_t room(const vxs_design *design)
{
    (void)design;
    return 0;
}

static double own(const vxs_design *design, size_t i)
{
    return ((const gram *)design)->matrix[i * design->n + i];
}

static vxs_status block(const vxs_design *design, const size_t *set, size_t count, double *values,
                        vxs_error *err)
{
    const double *matrix = ((const gram *)design)->matrix;
    (void)err;
    for (size_t b = 0; b < count; b++)
        for (size_t a = 0; a < count; a++)
            values[b * count + a] = matrix[set[b] * design->n + set[a]];
    return VXS_OK;
}

static vxs_status add(const vxs_design *design, const size_t *set, const double *weights,
                      size_t count, double *f, vxs_error *err)
{
    const double *matrix = ((const gram *)design)->matrix;
    (void)err;
    for (size_t k = 0; k < count; k++)
        cblas_daxpy((int)design->n, weights[k], matrix + set[k] * design->n, 1, f, 1);
    return VXS_OK;
}

size_t vxs_gram_room(const vxs_design *design)
{
    return design->kind->gram ? design->kind->gram->room(design) : SIZE_MAX;
}

double vxs_gram_own(const vxs_design *design, size_t i)
{
    return design->kind->gram->own(design, i);
}

vxs_status vxs_gram_block(const vxs_design *design, const size_t *set, size_t count, double *values,
                          vxs_error *err)
{
    return design->kind->gram->block(design, set, count, values, err);
}

vxs_status vxs_gram_add(const vxs_design *design, const size_t *set, const double *weights,
                        size_t count, double *f, vxs_error *err)
{
    return design->kind->gram->add(design, set, weights, count, f, err);
}

/* ---- Makers ---------------------------------------------------------------------------------- */

static const vxs_gram_kind requests = { room, own, block, add };
static const vxs_design_kind gram_kind = { .scan = scan,
                                           .scan_some = scan_some,
                                           .fetch = fetch,
                                           .measure = measure,
                                           .release = release,
                                           .gram = &requests };

/* Up to rounding. */
static vxs_status check_symmetric(const double *matrix, size_t n, vxs_error *err)
{
    double largest = 0;
    for (size_t k = 0; k < n * n; k++) {
        if (!isfinite(matrix[k]))
            return vxs_fail(err, VXS_BAD_DATA, "the kernel of samples %zu and %zu is %g", k % n,
                            k / n, matrix[k]);
        largest = fmax(largest, fabs(matrix[k]));
    }
    for (size_t j = 0; j < n; j++)
        for (size_t i = 0; i < j; i++)
            if (fabs(matrix[j * n + i] - matrix[i * n + j]) > 1e-9 * largest)
                return vxs_fail(err, VXS_BAD_DATA,
                                "the kernel is not symmetric: samples %zu and %zu have %.17g and "
                                "%.17g",
                                i, j, matrix[j * n + i], matrix[i * n + j]);
    return VXS_OK;
}

vxs_status vxs_grams_lend(const double *matrices, size_t n, size_t count, int nthreads,
                          vxs_design **design, vxs_error *err)
{
    gram *g = vxs_alloc(1, sizeof(*g), err);
    if (!g)
        return VXS_FAILED;
    *g = (gram){ .design = { .kind = &gram_kind, .n = n, .p = n * count, .nthreads = nthreads },
                 .matrix = matrices };
    *design = &g->design;
    return VXS_OK;
}

vxs_status vxs_grams_take(double *matrices, size_t n, size_t count, int nthreads,
                          vxs_design **design, vxs_error *err)
{
    vxs_status status = vxs_grams_lend(matrices, n, count, nthreads, design, err);
    if (status)
        free(matrices);
    else
        ((gram *)*design)->own = matrices;
    return status;
}

vxs_status vxs_grams_new(const double *matrices, size_t n, size_t count, int nthreads,
                         vxs_design **design, vxs_error *err)
{
    vxs_status status = VXS_GIVEN(err, { "matrices", matrices }, { "design", design });
    if (design)
        *design = NULL;
    if (!status && (n == 0 || count == 0))
        status = vxs_fail(err, VXS_MISUSE, "a kernel needs at least one sample");
    for (size_t k = 0; k < count && !status; k++)
        status = check_symmetric(matrices + k * n * n, n, err);
    double *copy = status ? NULL : vxs_alloc(vxs_times(n, n), vxs_times(count, sizeof(*copy)), err);
    if (!copy)
        return status ? status : VXS_FAILED;
    memcpy(copy, matrices, count * n * n * sizeof(*copy));
    return vxs_grams_take(copy, n, count, nthreads, design, err);
}

vxs_status vxs_gram_new(const double *matrix, size_t n, int nthreads, vxs_design **design,
                        vxs_error *err)
{
    vxs_status status = VXS_GIVEN(err, { "matrix", matrix });
    return status ? status : vxs_grams_new(matrix, n, 1, nthreads, design, err);
}

const double *vxs_gram_matrix(const vxs_design *design)
{
    return design->kind == &gram_kind ? ((const gram *)design)->matrix : NULL;
}
