/* sparse.c - sparse columns. */
#include "design/design.h"
#include "voxsift/internal/machine.h"

#include <stdlib.h>
#include <string.h>

typedef struct {
    vxs_design design;
    const float *values;
    const int32_t *rows;
    const size_t *starts;
} sparse;

static double dot(const sparse *d, size_t j, const double *v)
{
    double sum = 0;
    for (size_t e = d->starts[j]; e < d->starts[j + 1]; e++)
        sum += (double)d->values[e] * v[d->rows[e]];
    return sum;
}

static void scan(vxs_design *design, const double *v, size_t k, double *s)
{
    const sparse *d = (const sparse *)design;
    size_t n = design->n, p = design->p;
    design->read += p;
#pragma omp parallel for num_threads(design->nthreads) schedule(static)
    for (size_t j = 0; j < p; j++)
        for (size_t c = 0; c < k; c++)
            s[c * p + j] = dot(d, j, v + c * n);
}

static void scan_some(vxs_design *design, const size_t *set, size_t count, const double *v,
                      double *s)
{
    const sparse *d = (const sparse *)design;
    design->read += count;
    for (size_t c = 0; c < count; c++)
        s[c] = dot(d, set[c], v);
}

static void fetch(vxs_design *design, const size_t *set, size_t count, double *block)
{
    const sparse *d = (const sparse *)design;
    design->read += count;
    memset(block, 0, count * design->n * sizeof(*block));
    for (size_t c = 0; c < count; c++)
        for (size_t e = d->starts[set[c]]; e < d->starts[set[c] + 1]; e++)
            block[c * design->n + (size_t)d->rows[e]] = (double)d->values[e];
}

/* The origin is 0, the most frequent value; but in a column without 0 in the visible rows it is the
 * first value there, so that a constant column has variance 0. */
static double origin_of(const sparse *d, size_t j, const double *rows, size_t seen)
{
    double origin = 0;
    size_t found = 0;
    if (d->starts[j + 1] - d->starts[j] < seen)
        return 0;
    for (size_t e = d->starts[j + 1]; e-- > d->starts[j];)
        if (!rows || rows[d->rows[e]] != 0) {
            origin = (double)d->values[e];
            found++;
        }
    return found == seen ? origin : 0;
}

/* v is 0 in rows that are not visible: with an origin, entries that are not stored contribute
 * nothing. */
static void moments(vxs_design *design, const double *rows, const double *v,
                    const vxs_moments *result)
{
    const sparse *d = (const sparse *)design;
    size_t seen = 0;
    for (size_t i = 0; i < design->n; i++)
        seen += !rows || rows[i] != 0;
    design->read += design->p;
#pragma omp parallel for num_threads(design->nthreads) schedule(static)
    for (size_t j = 0; j < design->p; j++) {
        double s = 0, sum = 0, square = 0, origin = origin_of(d, j, rows, seen);
        for (size_t e = d->starts[j]; e < d->starts[j + 1]; e++) {
            double x = (double)d->values[e] - origin, r = rows ? rows[d->rows[e]] : 1;
            s += v ? x * v[d->rows[e]] : 0;
            sum += r * x;
            square += r * x * x;
        }
        result->origin[j] = origin;
        result->sum[j] = sum;
        result->square[j] = square;
        if (v)
            result->s[j] = s;
    }
}

static void release(vxs_design *design)
{
    (void)design;
}

static const vxs_design_kind kind = {
    .scan = scan,
    .scan_some = scan_some,
    .fetch = fetch,
    .measure = vxs_measure_by_moments,
    .moments = moments,
    .release = release,
};

/* last[row]: 1 + the last column with this row. */
static vxs_status check_places(const int32_t *rows, const size_t *starts, size_t n, size_t p,
                               size_t *last, vxs_error *err)
{
    for (size_t j = 0; j < p; j++) {
        for (size_t e = starts[j]; e < starts[j + 1]; e++) {
            if (rows[e] < 0 || (size_t)rows[e] >= n)
                return vxs_fail(err, VXS_MISUSE, "column %zu of the design has row %d of %zu", j,
                                (int)rows[e], n);
            if (last[rows[e]] == j + 1)
                return vxs_fail(err, VXS_MISUSE, "column %zu of the design has row %d twice", j,
                                (int)rows[e]);
            last[rows[e]] = j + 1;
        }
    }
    return VXS_OK;
}

static vxs_status check_arrays(const float *values, const int32_t *rows, const size_t *starts,
                               size_t n, size_t p, vxs_error *err)
{
    if (!starts)
        return vxs_fail(err, VXS_MISUSE, "the design has no column starts");
    for (size_t j = 0; j < p; j++) /* checked for all columns before any is read */
        if (starts[j] > starts[j + 1])
            return vxs_fail(err, VXS_MISUSE, "column %zu of the design ends before it begins", j);
    if (starts[p] > starts[0] && (!values || !rows))
        return vxs_fail(err, VXS_MISUSE, "the design has no values or no row indices");
    size_t *last = vxs_alloc(n, sizeof(*last), err);
    vxs_status status = last ? check_places(rows, starts, n, p, last, err) : VXS_FAILED;
    free(last);
    return status;
}

vxs_status vxs_sparse_new(const float *values, const int32_t *rows, const size_t *starts, size_t n,
                          size_t p, int nthreads, vxs_design **design, vxs_error *err)
{
    int threads = vxs_thread_count(nthreads);
    vxs_status status = VXS_GIVEN(err, { "design", design });
    if (!status)
        status = check_arrays(values, rows, starts, n, p, err);
    if (status)
        return status;
    sparse *made = vxs_blas_start(threads, err) ? NULL : vxs_alloc(1, sizeof(*made), err);
    if (!made)
        return VXS_FAILED;
    made->design = (vxs_design){ .kind = &kind, .n = n, .p = p, .nthreads = threads };
    made->values = values;
    made->rows = rows;
    made->starts = starts;
    *design = &made->design;
    return VXS_OK;
}
