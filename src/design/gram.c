/* gram.c - inner products of the rows of a design, and the design whose columns are those of a
 * symmetric matrix.
 *
 * The columns of a design are read once, in blocks. A block goes into the products of tiles of
 * rows, each by one call of BLAS, so that the sums do not depend on the number of threads. */
#include "design/design.h"

#include <cblas.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#define COLUMNS 256 /* of a block */
#define TILE    128 /* rows */

/* ---- Products -------------------------------------------------------------------------------- */

/* Columns times their factor; `center`: minus their mean, which any other number could replace. */
static void scale_columns(double *block, size_t n, size_t count, const double *factor, bool center)
{
    for (size_t k = 0; k < count; k++) {
        double *x = block + k * n, mean = 0, by = factor ? factor[k] : 1;
        for (size_t i = 0; i < n && center; i++)
            mean += x[i] / (double)n;
        for (size_t i = 0; i < n; i++)
            x[i] = by == 0 ? 0 : (x[i] - mean) * by;
    }
}

/* Adds the products of a block to the lower triangle, tile by tile. */
static void add_block(const double *block, size_t n, size_t count, int threads, double *g)
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

static void fill_upper(double *g, size_t n)
{
    for (size_t j = 0; j < n; j++)
        for (size_t i = 0; i < j; i++)
            g[j * n + i] = g[i * n + j];
}

vxs_status vxs_row_products(const vxs_context *context, vxs_design *design, const double *factor,
                            bool center, double *products, vxs_error *err)
{
    size_t n = design->n, p = design->p, set[COLUMNS];
    double *block = vxs_alloc(COLUMNS, vxs_times(n, sizeof(*block)), err);
    vxs_status status = block ? VXS_OK : VXS_FAILED;
    memset(products, 0, n * n * sizeof(*products));
    for (size_t first = 0; first < p && !status; first += COLUMNS) {
        size_t count = p - first < COLUMNS ? p - first : COLUMNS;
        for (size_t k = 0; k < count; k++)
            set[k] = first + k;
        vxs_design_fetch(design, set, count, block);
        scale_columns(block, n, count, factor ? factor + first : NULL, center);
        add_block(block, n, count, design->nthreads, products);
        status = vxs_check_interrupted(context, err);
    }
    fill_upper(products, n);
    free(block);
    for (size_t i = 0; i < n && !status; i++)
        if (!isfinite(products[i * n + i]))
            status = vxs_fail(err, VXS_BAD_DATA,
                              "row %zu of the features is too large or not finite: the sum of its "
                              "squares is %g",
                              i, products[i * n + i]);
    return status;
}

/* ---- The design of a symmetric matrix -------------------------------------------------------- */

typedef struct {
    vxs_design design;
    double *matrix;
} gram;

static void multiply(const gram *g, const double *v, size_t j, double *s)
{
    const double *column = g->matrix + j * g->design.n;
    *s = cblas_ddot((int)g->design.n, column, 1, v, 1);
}

static void scan(vxs_design *design, const double *v, size_t k, double *s)
{
    const gram *g = (const gram *)design;
    for (size_t c = 0; c < k; c++) {
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
    free(((gram *)design)->matrix);
}

static const vxs_design_kind gram_kind = {
    .scan = scan, .scan_some = scan_some, .fetch = fetch, .measure = measure, .release = release
};

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

vxs_status vxs_gram_new(const double *matrix, size_t n, int nthreads, vxs_design **design,
                        vxs_error *err)
{
    vxs_status status = VXS_GIVEN(err, { "matrix", matrix }, { "design", design });
    if (design)
        *design = NULL;
    if (!status && n == 0)
        status = vxs_fail(err, VXS_MISUSE, "a kernel needs at least one sample");
    if (!status)
        status = check_symmetric(matrix, n, err);
    gram *g = status ? NULL : vxs_alloc(1, sizeof(*g), err);
    if (!g)
        return status ? status : VXS_FAILED;
    *g = (gram){ .design = { .kind = &gram_kind, .n = n, .p = n, .nthreads = nthreads } };
    g->matrix = vxs_alloc(n, vxs_times(n, sizeof(*g->matrix)), err);
    if (!g->matrix) {
        free(g);
        return VXS_FAILED;
    }
    memcpy(g->matrix, matrix, n * n * sizeof(*matrix));
    *design = &g->design;
    return VXS_OK;
}

const double *vxs_gram_matrix(const vxs_design *design)
{
    return design->kind == &gram_kind ? ((const gram *)design)->matrix : NULL;
}
