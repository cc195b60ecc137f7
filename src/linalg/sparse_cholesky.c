/* sparse_cholesky.c - sparse Cholesky factorization of D'SD.
 *
 * AMD computes the fill-reducing permutation. Row k of L is the solution of a triangular system
 * with the rows above it; its nonzeros are the nodes on the paths from the nonzeros of row k of the
 * matrix up the elimination tree (Gilbert, Ng and Peyton 1994; Liu 1990). The symbolic
 * factorization counts these paths, the numeric one follows them (up-looking). The last rows of
 * graphs with many cycles fill up: a blocked dense factorization handles that trailing Schur
 * complement. */
#include "linalg/sparse_cholesky.h"

#include <amd.h>
#include <cblas.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#define MAX_NONZEROS 100000000 /* nonzeros of L: 1.6 GB, and minutes per iteration */
#define MIN_PIVOT    1e-15 /* relative to the diagonal entry: a smaller pivot is rounding error */
#define DENSE_SHARE  0.6   /* share of nonzeros from which a trailing block is dense */
#define MIN_DENSE    32    /* rows: a smaller trailing block stays sparse */
#define BLOCK        48    /* columns per block of the dense factorization */

void vxs_factor_release(vxs_factor *f)
{
    free(f->permutation);
    free(f->inverse);
    free(f->starts);
    free(f->rows);
    free(f->value);
    free(f->product_entry);
    free(f->etree);
    free(f->column_starts);
    free(f->column_filled);
    free(f->row);
    free(f->entry);
    free(f->pivot);
    free(f->work);
    free(f->visited);
    free(f->path);
    free(f->dense);
    free(f->panel);
    *f = (vxs_factor){ .count = 0 };
}

/* ---- Symbolic factorization ------------------------------------------------------------------ */

static size_t count_pairs(const vxs_sparse_rows *d)
{
    size_t pairs = 0;
    for (size_t t = 0; t < d->count; t++) {
        size_t factors = d->starts[t + 1] - d->starts[t];
        pairs += factors * (factors + 1) / 2;
    }
    return pairs;
}

typedef struct {
    uint64_t row, column; /* permuted indices, row <= column */
    size_t pair;
} cell;

/* Counting sort of `from` into `to` by column or by row; `offset` has count + 1 entries. */
static void sort_cells(const cell *from, size_t pairs, bool column, size_t count, size_t *offset,
                       cell *to)
{
    memset(offset, 0, (count + 1) * sizeof(*offset));
    for (size_t k = 0; k < pairs; k++)
        offset[(column ? from[k].column : from[k].row) + 1]++;
    for (size_t j = 0; j < count; j++)
        offset[j + 1] += offset[j];
    for (size_t k = 0; k < pairs; k++)
        to[offset[column ? from[k].column : from[k].row]++] = from[k];
}

static void list_cells(const vxs_factor *f, cell *cells)
{
    const vxs_sparse_rows *d = &f->d;
    size_t next = 0;
    for (size_t t = 0; t < d->count; t++)
        for (size_t a = d->starts[t]; a < d->starts[t + 1]; a++)
            for (size_t b = a; b < d->starts[t + 1]; b++, next++) {
                size_t i = f->inverse[d->index[a]], j = f->inverse[d->index[b]];
                cells[next] = (cell){ .row = i < j ? i : j, .column = i < j ? j : i, .pair = next };
            }
}

/* Finds the nonzeros of the upper triangle of D'D in the current permutation; product_entry maps
 * each pair of a row's values to its nonzero. */
static vxs_status find_nonzeros(vxs_factor *f, vxs_error *err)
{
    size_t pairs = count_pairs(&f->d), initialized = 0;
    cell *cells = vxs_alloc(2 * pairs, sizeof(*cells), err), *by_row = cells + pairs;
    if (!cells)
        return VXS_FAILED;
    list_cells(f, cells);
    sort_cells(cells, pairs, false, f->count, f->starts, by_row);
    sort_cells(by_row, pairs, true, f->count, f->starts, cells);
    memset(f->starts, 0, (f->count + 1) * sizeof(*f->starts));
    for (size_t k = 0; k < pairs; k++) {
        if (k == 0 || cells[k - 1].column != cells[k].column || cells[k - 1].row != cells[k].row) {
            f->rows[initialized++] = cells[k].row;
            f->starts[cells[k].column + 1] = initialized;
        }
        f->product_entry[cells[k].pair] = initialized - 1;
    }
    for (size_t j = 0; j < f->count; j++)
        if (f->starts[j + 1] < f->starts[j])
            f->starts[j + 1] = f->starts[j];
    free(cells);
    return VXS_OK;
}

static vxs_status find_permutation(vxs_factor *f, vxs_error *err)
{
    size_t n = f->count, cells = f->starts[n];
    SuiteSparse_long *starts = vxs_alloc(n + 1, sizeof(*starts), err);
    SuiteSparse_long *rows = vxs_alloc(cells, sizeof(*rows), err);
    SuiteSparse_long *permutation = vxs_alloc(n, sizeof(*permutation), err);
    vxs_status status = starts && rows && permutation ? VXS_OK : VXS_FAILED;
    for (size_t k = 0; k <= n && !status; k++)
        starts[k] = (SuiteSparse_long)f->starts[k];
    for (size_t k = 0; k < cells && !status; k++)
        rows[k] = (SuiteSparse_long)f->rows[k];
    if (!status && n > 0 &&
        amd_l_order((SuiteSparse_long)n, starts, rows, permutation, NULL, NULL) != AMD_OK)
        status = vxs_fail(err, VXS_FAILED, "not enough memory: %zu variables to be ordered", n);
    for (size_t k = 0; k < n && !status; k++) {
        f->permutation[k] = (size_t)permutation[k];
        f->inverse[f->permutation[k]] = k;
    }
    free(starts);
    free(rows);
    free(permutation);
    return status;
}

/* Finds the largest trailing block that is nearly dense. */
static void find_dense_block(vxs_factor *f)
{
    double entries = 0;
    f->dense_count = 0;
    for (size_t k = f->count; k-- > 0;) {
        double size = (double)(f->count - k);
        entries += (double)f->column_filled[k];
        if (entries < DENSE_SHARE * size * (size - 1) / 2)
            break;
        f->dense_count = size >= MIN_DENSE ? f->count - k : 0;
    }
    f->sparse_count = f->count - f->dense_count;
}

/* Computes the elimination tree and the column counts of L. */
static void find_etree(vxs_factor *f)
{
    size_t n = f->count;
    memset(f->column_filled, 0, n * sizeof(*f->column_filled));
    for (size_t k = 0; k < n; k++) {
        f->etree[k] = n;
        f->visited[k] = k;
        for (size_t e = f->starts[k]; e < f->starts[k + 1]; e++)
            for (size_t i = f->rows[e]; f->visited[i] != k; i = f->etree[i]) {
                if (f->etree[i] == n)
                    f->etree[i] = k;
                f->column_filled[i]++;
                f->visited[i] = k;
            }
    }
    find_dense_block(f);
    f->column_starts[0] = 0;
    for (size_t k = 0; k < n; k++)
        f->column_starts[k + 1] =
            f->column_starts[k] + (k < f->sparse_count ? f->column_filled[k] : 0);
}

static vxs_status allocate(vxs_factor *f, vxs_error *err)
{
    size_t n = f->count, pairs = count_pairs(&f->d);
    f->permutation = vxs_alloc(n, sizeof(*f->permutation), err);
    f->inverse = vxs_alloc(n, sizeof(*f->inverse), err);
    f->starts = vxs_alloc(n + 1, sizeof(*f->starts), err);
    f->rows = vxs_alloc(pairs, sizeof(*f->rows), err);
    f->value = vxs_alloc(pairs, sizeof(*f->value), err);
    f->product_entry = vxs_alloc(pairs, sizeof(*f->product_entry), err);
    f->etree = vxs_alloc(n, sizeof(*f->etree), err);
    f->column_starts = vxs_alloc(n + 1, sizeof(*f->column_starts), err);
    f->column_filled = vxs_alloc(n, sizeof(*f->column_filled), err);
    f->pivot = vxs_alloc(n, sizeof(*f->pivot), err);
    f->work = vxs_alloc(n, sizeof(*f->work), err);
    f->visited = vxs_alloc(n, sizeof(*f->visited), err);
    f->path = vxs_alloc(n, sizeof(*f->path), err);
    return f->permutation && f->inverse && f->starts && f->rows && f->value && f->product_entry &&
                   f->etree && f->column_starts && f->column_filled && f->pivot && f->work &&
                   f->visited && f->path
               ? VXS_OK
               : VXS_FAILED;
}

vxs_status vxs_factor_new(vxs_sparse_rows d, vxs_factor *f, vxs_error *err)
{
    *f = (vxs_factor){ .d = d, .initialized = true, .count = d.columns };
    vxs_status status = allocate(f, err);
    for (size_t k = 0; k < f->count && !status; k++)
        f->permutation[k] = f->inverse[k] = k;
    if (!status)
        status = find_nonzeros(f, err);
    if (!status)
        status = find_permutation(f, err);
    if (!status)
        status = find_nonzeros(f, err);
    if (status) {
        vxs_factor_release(f);
        return status;
    }
    find_etree(f);
    size_t numbers = f->column_starts[f->count] + f->dense_count * (f->dense_count + 1) / 2;
    if (numbers > MAX_NONZEROS) {
        status = vxs_fail(
            err, VXS_MISUSE,
            "the Cholesky factor of solver 'bound-propagation' has %zu nonzeros for this penalty, "
            "more than %d; choose another solver",
            numbers, MAX_NONZEROS);
        vxs_factor_release(f);
        return status;
    }
    f->row = vxs_alloc(f->column_starts[f->count], sizeof(*f->row), err);
    f->entry = vxs_alloc(f->column_starts[f->count], sizeof(*f->entry), err);
    f->dense = vxs_alloc(f->dense_count, f->dense_count * sizeof(*f->dense), err);
    f->panel = vxs_alloc(f->dense_count, BLOCK * sizeof(*f->panel), err);
    if (f->row && f->entry && f->dense && f->panel)
        return VXS_OK;
    vxs_factor_release(f);
    return VXS_FAILED;
}

/* ---- Numeric factorization ------------------------------------------------------------------- */

static void assemble(vxs_factor *f, const double *weight)
{
    const vxs_sparse_rows *d = &f->d;
    size_t next = 0;
    memset(f->value, 0, f->starts[f->count] * sizeof(*f->value));
    for (size_t t = 0; t < d->count; t++)
        for (size_t a = d->starts[t]; a < d->starts[t + 1]; a++)
            for (size_t b = a; b < d->starts[t + 1]; b++)
                f->value[f->product_entry[next++]] += weight[t] * d->value[a] * d->value[b];
}

/* Copies column k of the matrix into `work` and writes the nonzero columns of row k of L, sparse
 * part only, to the end of `path` in topological order. Returns where they begin. */
static size_t find_row_pattern(vxs_factor *f, size_t k)
{
    size_t first = f->count;
    f->visited[k] = k;
    for (size_t e = f->starts[k]; e < f->starts[k + 1]; e++) {
        size_t steps = 0, i = f->rows[e];
        f->work[i] = f->value[e];
        for (; i < f->sparse_count && f->visited[i] != k; i = f->etree[i]) {
            f->path[steps++] = i;
            f->visited[i] = k;
        }
        while (steps > 0)
            f->path[--first] = f->path[--steps];
    }
    return first;
}

static void set_pivot(vxs_factor *f, size_t k, double remaining, double diagonal)
{
    f->pivot[k] = fmax(remaining, MIN_PIVOT * diagonal);
    if (!(f->pivot[k] > 0))
        f->pivot[k] = 1;
}

/* Stores row k of the Schur complement of the sparse part; its pivot holds the diagonal entry of
 * the matrix until the dense factorization. */
static void store_dense_row(vxs_factor *f, size_t k, double remaining, double diagonal)
{
    size_t row = k - f->sparse_count;
    for (size_t j = f->sparse_count; j < k; j++) {
        f->dense[(j - f->sparse_count) * f->dense_count + row] = f->work[j];
        f->work[j] = 0;
    }
    f->dense[row * f->dense_count + row] = remaining;
    f->pivot[k] = diagonal;
}

/* Factors `count` columns of the dense block, which the previous blocks have updated. */
static void factor_block(vxs_factor *f, size_t first, size_t count)
{
    size_t t = f->dense_count;
    double *scaled = f->work; /* entries of a row in the block, times the pivots */
    for (size_t c = first; c < first + count; c++) {
        double *column = f->dense + c * t + c, *before = f->dense + first * t + c;
        int rows = (int)(t - c), done = (int)(c - first);
        for (int j = 0; j < done; j++)
            scaled[j] = before[(size_t)j * t] * f->pivot[f->sparse_count + first + (size_t)j];
        if (done > 0)
            cblas_dgemv(CblasColMajor, CblasNoTrans, rows, done, -1, before, (int)t, scaled, 1, 1,
                        column, 1);
        set_pivot(f, f->sparse_count + c, column[0], f->pivot[f->sparse_count + c]);
        cblas_dscal(rows - 1, 1 / f->pivot[f->sparse_count + c], column + 1, 1);
    }
    memset(scaled, 0, count * sizeof(*scaled));
}

static void factor_dense_block(vxs_factor *f)
{
    size_t t = f->dense_count;
    for (size_t first = 0; first < t; first += BLOCK) {
        size_t count = t - first < BLOCK ? t - first : BLOCK, next = first + count;
        factor_block(f, first, count);
        if (next == t)
            return;
        for (size_t c = 0; c < count; c++) {
            double *to = f->panel + c * t, root = sqrt(f->pivot[f->sparse_count + first + c]);
            for (size_t i = next; i < t; i++)
                to[i] = root * f->dense[(first + c) * t + i];
        }
        cblas_dsyrk(CblasColMajor, CblasLower, CblasNoTrans, (int)(t - next), (int)count, -1,
                    f->panel + next, (int)t, 1, f->dense + next * t + next, (int)t);
    }
}

void vxs_factor_make(vxs_factor *f, const double *weight)
{
    size_t n = f->count;
    assemble(f, weight);
    memset(f->column_filled, 0, n * sizeof(*f->column_filled));
    memset(f->work, 0, n * sizeof(*f->work));
    for (size_t k = 0; k < n; k++)
        f->visited[k] = n;
    for (size_t k = 0; k < n; k++) {
        size_t first = find_row_pattern(f, k);
        double diagonal = f->work[k], remaining = diagonal;
        f->work[k] = 0;
        for (size_t s = first; s < n; s++) {
            size_t i = f->path[s], end = f->column_starts[i] + f->column_filled[i]++;
            double value = f->work[i];
            f->work[i] = 0;
            for (size_t e = f->column_starts[i]; e < end; e++)
                f->work[f->row[e]] -= f->entry[e] * value;
            f->row[end] = k;
            f->entry[end] = value / f->pivot[i];
            remaining -= value * f->entry[end];
        }
        if (k < f->sparse_count)
            set_pivot(f, k, remaining, diagonal);
        else
            store_dense_row(f, k, remaining, diagonal);
    }
    factor_dense_block(f);
}

/* y = L^-1 P x (forward) or x = P' L^-T y (backward) */
static void solve_lower(const vxs_factor *f, const double *x, double *y)
{
    int t = (int)f->dense_count;
    for (size_t k = 0; k < f->count; k++)
        y[k] = x[f->permutation[k]];
    for (size_t k = 0; k < f->sparse_count; k++)
        for (size_t e = f->column_starts[k]; e < f->column_starts[k + 1]; e++)
            y[f->row[e]] -= f->entry[e] * y[k];
    if (t > 0)
        cblas_dtrsv(CblasColMajor, CblasLower, CblasNoTrans, CblasUnit, t, f->dense, t,
                    y + f->sparse_count, 1);
}

static void solve_upper(const vxs_factor *f, double *y, double *x)
{
    int t = (int)f->dense_count;
    if (t > 0)
        cblas_dtrsv(CblasColMajor, CblasLower, CblasTrans, CblasUnit, t, f->dense, t,
                    y + f->sparse_count, 1);
    for (size_t k = f->sparse_count; k-- > 0;)
        for (size_t e = f->column_starts[k]; e < f->column_starts[k + 1]; e++)
            y[k] -= f->entry[e] * y[f->row[e]];
    for (size_t k = 0; k < f->count; k++)
        x[f->permutation[k]] = y[k];
}

void vxs_factor_solve(const vxs_factor *f, double *x)
{
    solve_lower(f, x, f->work);
    for (size_t k = 0; k < f->count; k++)
        f->work[k] /= f->pivot[k];
    solve_upper(f, f->work, x);
}

void vxs_factor_solve_lower(const vxs_factor *f, const double *x, double *out)
{
    solve_lower(f, x, out);
    for (size_t k = 0; k < f->count; k++)
        out[k] /= sqrt(f->pivot[k]);
}

void vxs_factor_solve_upper(const vxs_factor *f, const double *x, double *out)
{
    for (size_t k = 0; k < f->count; k++)
        f->work[k] = x[k] / sqrt(f->pivot[k]);
    solve_upper(f, f->work, out);
}

void vxs_factor_solve_lower_many(const vxs_factor *f, const double *in, size_t width, double *out)
{
    int rows = (int)width, t = (int)f->dense_count;
    for (size_t k = 0; k < f->count; k++)
        memcpy(out + k * width, in + f->permutation[k] * width, width * sizeof(*out));
    for (size_t k = 0; k < f->sparse_count; k++)
        for (size_t e = f->column_starts[k]; e < f->column_starts[k + 1]; e++)
            cblas_daxpy(rows, -f->entry[e], out + k * width, 1, out + f->row[e] * width, 1);
    if (t > 0)
        cblas_dtrsm(CblasColMajor, CblasRight, CblasLower, CblasTrans, CblasUnit, rows, t, 1,
                    f->dense, t, out + f->sparse_count * width, rows);
    for (size_t k = 0; k < f->count; k++)
        cblas_dscal(rows, 1 / sqrt(f->pivot[k]), out + k * width, 1);
}
