/* sparse_cholesky.c - a sparse Cholesky factor of D'SD.
 *
 * The order comes from AMD. Row k of L solves a triangular system with the rows above it, and has
 * entries where a walk from the matrix's entries up the tree of parents leads (Gilbert, Ng and
 * Peyton 1994; Liu 1990): first the walks are counted, then they are made with numbers. Of graphs
 * with many loops the last rows fill up: there what the rows above leave is factored as a full
 * matrix, a block of columns at a time. */
#include "linalg/sparse_cholesky.h"

#include <amd.h>
#include <cblas.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#define MOST   100000000 /* entries: 1.6 GB, and minutes an iteration */
#define LEAST  1e-15     /* of a diagonal entry: a smaller pivot is rounding */
#define NEARLY 0.6       /* of the places below its diagonal: a square with that many is full */
#define SMALL  32        /* places: less are no square */
#define BLOCK  48        /* columns of it */

void vxs_factor_release(vxs_factor *f)
{
    free(f->order);
    free(f->at);
    free(f->starts);
    free(f->rows);
    free(f->value);
    free(f->put);
    free(f->parent);
    free(f->below);
    free(f->filled);
    free(f->row);
    free(f->entry);
    free(f->pivot);
    free(f->work);
    free(f->mark);
    free(f->path);
    free(f->square);
    free(f->panel);
    *f = (vxs_factor){ .count = 0 };
}

/* ---- The pattern ----------------------------------------------------------------------------- */

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
    uint64_t row, column; /* places, row <= column */
    size_t pair;
} cell;

/* Into `to`, the smallest of one of their numbers first; `at` has `count` + 1 places. */
static void sort_cells(const cell *from, size_t pairs, bool column, size_t count, size_t *at,
                       cell *to)
{
    memset(at, 0, (count + 1) * sizeof(*at));
    for (size_t k = 0; k < pairs; k++)
        at[(column ? from[k].column : from[k].row) + 1]++;
    for (size_t j = 0; j < count; j++)
        at[j + 1] += at[j];
    for (size_t k = 0; k < pairs; k++)
        to[at[column ? from[k].column : from[k].row]++] = from[k];
}

static void list_cells(const vxs_factor *f, cell *cells)
{
    const vxs_sparse_rows *d = &f->d;
    size_t next = 0;
    for (size_t t = 0; t < d->count; t++)
        for (size_t a = d->starts[t]; a < d->starts[t + 1]; a++)
            for (size_t b = a; b < d->starts[t + 1]; b++, next++) {
                size_t i = f->at[d->index[a]], j = f->at[d->index[b]];
                cells[next] = (cell){ .row = i < j ? i : j, .column = i < j ? j : i, .pair = next };
            }
}

/* The cells of D'D's upper triangle, of the variables in the order as it is; each pair of factors
 * is told its own. */
static vxs_status find_pattern(vxs_factor *f, vxs_error *err)
{
    size_t pairs = count_pairs(&f->d), made = 0;
    cell *cells = vxs_alloc(2 * pairs, sizeof(*cells), err), *by_row = cells + pairs;
    if (!cells)
        return VXS_FAILED;
    list_cells(f, cells);
    sort_cells(cells, pairs, false, f->count, f->starts, by_row);
    sort_cells(by_row, pairs, true, f->count, f->starts, cells);
    memset(f->starts, 0, (f->count + 1) * sizeof(*f->starts));
    for (size_t k = 0; k < pairs; k++) {
        if (k == 0 || cells[k - 1].column != cells[k].column || cells[k - 1].row != cells[k].row) {
            f->rows[made++] = cells[k].row;
            f->starts[cells[k].column + 1] = made;
        }
        f->put[cells[k].pair] = made - 1;
    }
    for (size_t j = 0; j < f->count; j++)
        if (f->starts[j + 1] < f->starts[j])
            f->starts[j + 1] = f->starts[j];
    free(cells);
    return VXS_OK;
}

static vxs_status find_order(vxs_factor *f, vxs_error *err)
{
    size_t n = f->count, cells = f->starts[n];
    SuiteSparse_long *starts = vxs_alloc(n + 1, sizeof(*starts), err);
    SuiteSparse_long *rows = vxs_alloc(cells, sizeof(*rows), err);
    SuiteSparse_long *order = vxs_alloc(n, sizeof(*order), err);
    vxs_status status = starts && rows && order ? VXS_OK : VXS_FAILED;
    for (size_t k = 0; k <= n && !status; k++)
        starts[k] = (SuiteSparse_long)f->starts[k];
    for (size_t k = 0; k < cells && !status; k++)
        rows[k] = (SuiteSparse_long)f->rows[k];
    if (!status && n > 0 &&
        amd_l_order((SuiteSparse_long)n, starts, rows, order, NULL, NULL) != AMD_OK)
        status = vxs_fail(err, VXS_FAILED, "not enough memory: %zu variables to be ordered", n);
    for (size_t k = 0; k < n && !status; k++) {
        f->order[k] = (size_t)order[k];
        f->at[f->order[k]] = k;
    }
    free(starts);
    free(rows);
    free(order);
    return status;
}

/* As many of the last places as are nearly full. */
static void find_square(vxs_factor *f)
{
    double entries = 0;
    f->full = 0;
    for (size_t k = f->count; k-- > 0;) {
        double size = (double)(f->count - k);
        entries += (double)f->filled[k];
        if (entries < NEARLY * size * (size - 1) / 2)
            break;
        f->full = size >= SMALL ? f->count - k : 0;
    }
    f->thin = f->count - f->full;
}

/* The tree of parents, and how many entries each column of L has. */
static void find_parents(vxs_factor *f)
{
    size_t n = f->count;
    memset(f->filled, 0, n * sizeof(*f->filled));
    for (size_t k = 0; k < n; k++) {
        f->parent[k] = n;
        f->mark[k] = k;
        for (size_t e = f->starts[k]; e < f->starts[k + 1]; e++)
            for (size_t i = f->rows[e]; f->mark[i] != k; i = f->parent[i]) {
                if (f->parent[i] == n)
                    f->parent[i] = k;
                f->filled[i]++;
                f->mark[i] = k;
            }
    }
    find_square(f);
    f->below[0] = 0;
    for (size_t k = 0; k < n; k++)
        f->below[k + 1] = f->below[k] + (k < f->thin ? f->filled[k] : 0);
}

static vxs_status make_room(vxs_factor *f, vxs_error *err)
{
    size_t n = f->count, pairs = count_pairs(&f->d);
    f->order = vxs_alloc(n, sizeof(*f->order), err);
    f->at = vxs_alloc(n, sizeof(*f->at), err);
    f->starts = vxs_alloc(n + 1, sizeof(*f->starts), err);
    f->rows = vxs_alloc(pairs, sizeof(*f->rows), err);
    f->value = vxs_alloc(pairs, sizeof(*f->value), err);
    f->put = vxs_alloc(pairs, sizeof(*f->put), err);
    f->parent = vxs_alloc(n, sizeof(*f->parent), err);
    f->below = vxs_alloc(n + 1, sizeof(*f->below), err);
    f->filled = vxs_alloc(n, sizeof(*f->filled), err);
    f->pivot = vxs_alloc(n, sizeof(*f->pivot), err);
    f->work = vxs_alloc(n, sizeof(*f->work), err);
    f->mark = vxs_alloc(n, sizeof(*f->mark), err);
    f->path = vxs_alloc(n, sizeof(*f->path), err);
    return f->order && f->at && f->starts && f->rows && f->value && f->put && f->parent &&
                   f->below && f->filled && f->pivot && f->work && f->mark && f->path
               ? VXS_OK
               : VXS_FAILED;
}

vxs_status vxs_factor_new(vxs_sparse_rows d, vxs_factor *f, vxs_error *err)
{
    *f = (vxs_factor){ .d = d, .made = true, .count = d.columns };
    vxs_status status = make_room(f, err);
    for (size_t k = 0; k < f->count && !status; k++)
        f->order[k] = f->at[k] = k;
    if (!status)
        status = find_pattern(f, err);
    if (!status)
        status = find_order(f, err);
    if (!status)
        status = find_pattern(f, err);
    if (status) {
        vxs_factor_release(f);
        return status;
    }
    find_parents(f);
    size_t numbers = f->below[f->count] + f->full * (f->full + 1) / 2;
    if (numbers > MOST) {
        status = vxs_fail(err, VXS_MISUSE,
                          "the penalty ties features together so much that solver 'bp' would need "
                          "%zu numbers at each step; on graphs use another one",
                          numbers);
        vxs_factor_release(f);
        return status;
    }
    f->row = vxs_alloc(f->below[f->count], sizeof(*f->row), err);
    f->entry = vxs_alloc(f->below[f->count], sizeof(*f->entry), err);
    f->square = vxs_alloc(f->full, f->full * sizeof(*f->square), err);
    f->panel = vxs_alloc(f->full, BLOCK * sizeof(*f->panel), err);
    if (f->row && f->entry && f->square && f->panel)
        return VXS_OK;
    vxs_factor_release(f);
    return VXS_FAILED;
}

/* ---- The numbers ----------------------------------------------------------------------------- */

static void put_products(vxs_factor *f, const double *weight)
{
    const vxs_sparse_rows *d = &f->d;
    size_t next = 0;
    memset(f->value, 0, f->starts[f->count] * sizeof(*f->value));
    for (size_t t = 0; t < d->count; t++)
        for (size_t a = d->starts[t]; a < d->starts[t + 1]; a++)
            for (size_t b = a; b < d->starts[t + 1]; b++)
                f->value[f->put[next++]] += weight[t] * d->value[a] * d->value[b];
}

/* Column k of the matrix goes into `work`; the columns of L before the square that have an entry in
 * row k go to the end of `path`, those further down the tree first. Returns where they begin. */
static size_t find_row(vxs_factor *f, size_t k)
{
    size_t first = f->count;
    f->mark[k] = k;
    for (size_t e = f->starts[k]; e < f->starts[k + 1]; e++) {
        size_t steps = 0, i = f->rows[e];
        f->work[i] = f->value[e];
        for (; i < f->thin && f->mark[i] != k; i = f->parent[i]) {
            f->path[steps++] = i;
            f->mark[i] = k;
        }
        while (steps > 0)
            f->path[--first] = f->path[--steps];
    }
    return first;
}

static void take_pivot(vxs_factor *f, size_t k, double left, double whole)
{
    f->pivot[k] = fmax(left, LEAST * whole);
    if (!(f->pivot[k] > 0))
        f->pivot[k] = 1;
}

/* Row k of what the rows above the square leave; its pivot is for now what is on the diagonal of
 * the matrix. */
static void put_row(vxs_factor *f, size_t k, double left, double whole)
{
    size_t row = k - f->thin;
    for (size_t j = f->thin; j < k; j++) {
        f->square[(j - f->thin) * f->full + row] = f->work[j];
        f->work[j] = 0;
    }
    f->square[row * f->full + row] = left;
    f->pivot[k] = whole;
}

/* Some columns of the square, from what the blocks before have left of them. */
static void factor_block(vxs_factor *f, size_t first, size_t count)
{
    size_t t = f->full;
    double *scaled = f->work; /* a row's entries in the block, times the pivots */
    for (size_t c = first; c < first + count; c++) {
        double *column = f->square + c * t + c, *before = f->square + first * t + c;
        int rows = (int)(t - c), done = (int)(c - first);
        for (int j = 0; j < done; j++)
            scaled[j] = before[(size_t)j * t] * f->pivot[f->thin + first + (size_t)j];
        if (done > 0)
            cblas_dgemv(CblasColMajor, CblasNoTrans, rows, done, -1, before, (int)t, scaled, 1, 1,
                        column, 1);
        take_pivot(f, f->thin + c, column[0], f->pivot[f->thin + c]);
        cblas_dscal(rows - 1, 1 / f->pivot[f->thin + c], column + 1, 1);
    }
    memset(scaled, 0, count * sizeof(*scaled));
}

static void factor_square(vxs_factor *f)
{
    size_t t = f->full;
    for (size_t first = 0; first < t; first += BLOCK) {
        size_t count = t - first < BLOCK ? t - first : BLOCK, next = first + count;
        factor_block(f, first, count);
        if (next == t)
            return;
        for (size_t c = 0; c < count; c++) {
            double *to = f->panel + c * t, root = sqrt(f->pivot[f->thin + first + c]);
            for (size_t i = next; i < t; i++)
                to[i] = root * f->square[(first + c) * t + i];
        }
        cblas_dsyrk(CblasColMajor, CblasLower, CblasNoTrans, (int)(t - next), (int)count, -1,
                    f->panel + next, (int)t, 1, f->square + next * t + next, (int)t);
    }
}

void vxs_factor_make(vxs_factor *f, const double *weight)
{
    size_t n = f->count;
    put_products(f, weight);
    memset(f->filled, 0, n * sizeof(*f->filled));
    memset(f->work, 0, n * sizeof(*f->work));
    for (size_t k = 0; k < n; k++)
        f->mark[k] = n;
    for (size_t k = 0; k < n; k++) {
        size_t first = find_row(f, k);
        double whole = f->work[k], left = whole;
        f->work[k] = 0;
        for (size_t s = first; s < n; s++) {
            size_t i = f->path[s], end = f->below[i] + f->filled[i]++;
            double value = f->work[i];
            f->work[i] = 0;
            for (size_t e = f->below[i]; e < end; e++)
                f->work[f->row[e]] -= f->entry[e] * value;
            f->row[end] = k;
            f->entry[end] = value / f->pivot[i];
            left -= value * f->entry[end];
        }
        if (k < f->thin)
            take_pivot(f, k, left, whole);
        else
            put_row(f, k, left, whole);
    }
    factor_square(f);
}

/* y = L^-1 P x, or x = P' L^-T y. */
static void go_down(const vxs_factor *f, const double *x, double *y)
{
    int t = (int)f->full;
    for (size_t k = 0; k < f->count; k++)
        y[k] = x[f->order[k]];
    for (size_t k = 0; k < f->thin; k++)
        for (size_t e = f->below[k]; e < f->below[k + 1]; e++)
            y[f->row[e]] -= f->entry[e] * y[k];
    if (t > 0)
        cblas_dtrsv(CblasColMajor, CblasLower, CblasNoTrans, CblasUnit, t, f->square, t,
                    y + f->thin, 1);
}

static void go_up(const vxs_factor *f, double *y, double *x)
{
    int t = (int)f->full;
    if (t > 0)
        cblas_dtrsv(CblasColMajor, CblasLower, CblasTrans, CblasUnit, t, f->square, t, y + f->thin,
                    1);
    for (size_t k = f->thin; k-- > 0;)
        for (size_t e = f->below[k]; e < f->below[k + 1]; e++)
            y[k] -= f->entry[e] * y[f->row[e]];
    for (size_t k = 0; k < f->count; k++)
        x[f->order[k]] = y[k];
}

void vxs_factor_solve(const vxs_factor *f, double *x)
{
    go_down(f, x, f->work);
    for (size_t k = 0; k < f->count; k++)
        f->work[k] /= f->pivot[k];
    go_up(f, f->work, x);
}

void vxs_factor_half(const vxs_factor *f, const double *x, double *out)
{
    go_down(f, x, out);
    for (size_t k = 0; k < f->count; k++)
        out[k] /= sqrt(f->pivot[k]);
}

void vxs_factor_other_half(const vxs_factor *f, const double *x, double *out)
{
    for (size_t k = 0; k < f->count; k++)
        f->work[k] = x[k] / sqrt(f->pivot[k]);
    go_up(f, f->work, out);
}

void vxs_factor_halve(const vxs_factor *f, const double *in, size_t width, double *out)
{
    int rows = (int)width, t = (int)f->full;
    for (size_t k = 0; k < f->count; k++)
        memcpy(out + k * width, in + f->order[k] * width, width * sizeof(*out));
    for (size_t k = 0; k < f->thin; k++)
        for (size_t e = f->below[k]; e < f->below[k + 1]; e++)
            cblas_daxpy(rows, -f->entry[e], out + k * width, 1, out + f->row[e] * width, 1);
    if (t > 0)
        cblas_dtrsm(CblasColMajor, CblasRight, CblasLower, CblasTrans, CblasUnit, rows, t, 1,
                    f->square, t, out + f->thin * width, rows);
    for (size_t k = 0; k < f->count; k++)
        cblas_dscal(rows, 1 / sqrt(f->pivot[k]), out + k * width, 1);
}
