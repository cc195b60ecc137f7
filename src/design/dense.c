/* dense.c - float32 columns in memory, or in a memory-mapped file that may be larger than
 * memory. */
#include "design/design.h"
#include "voxsift/internal/machine.h"

#define BLOCK 64 /* columns per thread at a time */

typedef struct {
    vxs_design design;
    const float *columns;
    const vxs_products *products;
} dense;

static void to_doubles(const float *x, size_t count, double *out)
{
#pragma omp simd
    for (size_t i = 0; i < count; i++)
        out[i] = (double)x[i];
}

/* A block stays in cache for all vectors; the result of each vector is bitwise independent of the
 * others. */
static void scan(vxs_design *design, const double *v, size_t k, double *s)
{
    dense *d = (dense *)design;
    size_t n = design->n, p = design->p;
    design->read += p;
#pragma omp parallel for num_threads(design->nthreads) schedule(dynamic, 8)
    for (size_t first = 0; first < p; first += BLOCK) {
        size_t count = p - first < BLOCK ? p - first : BLOCK;
        for (size_t c = 0; c < k; c++)
            d->products->dots(d->columns + first * n, n, count, v + c * n, s + c * p + first);
    }
}

static void scan_some(vxs_design *design, const size_t *set, size_t count, const double *v,
                      double *s)
{
    dense *d = (dense *)design;
    size_t n = design->n;
    design->read += count;
#pragma omp parallel for num_threads(design->nthreads) schedule(dynamic, BLOCK) if (count > BLOCK)
    for (size_t c = 0; c < count; c++)
        d->products->dots(d->columns + set[c] * n, n, 1, v, s + c);
}

static void fetch(vxs_design *design, const size_t *set, size_t count, double *block)
{
    const dense *d = (const dense *)design;
    size_t n = design->n;
    design->read += count;
    for (size_t c = 0; c < count; c++)
        to_doubles(d->columns + set[c] * n, n, block + c * n);
}

static void moments(vxs_design *design, const double *rows, const double *v,
                    const vxs_moments *result)
{
    dense *d = (dense *)design;
    size_t n = design->n, p = design->p;
    design->read += p;
#pragma omp parallel for num_threads(design->nthreads) schedule(dynamic, 8)
    for (size_t first = 0; first < p; first += BLOCK)
        d->products->moments(d->columns, n, first, p - first < BLOCK ? p - first : BLOCK, rows, v,
                             result);
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

vxs_status vxs_dense_new(const float *columns, size_t n, size_t p, int nthreads,
                         vxs_design **design, vxs_error *err)
{
    int threads = vxs_thread_count(nthreads);
    vxs_status status = VXS_GIVEN(err, { "design", design });
    if (status)
        return status;
    if (!columns && n > 0 && p > 0)
        return vxs_fail(err, VXS_MISUSE, "the design has no values");
    if (vxs_times(vxs_times(n, p), sizeof(*columns)) > PTRDIFF_MAX)
        return vxs_fail(err, VXS_MISUSE, "a design of %zu x %zu values is larger than memory", n,
                        p);
    dense *made = vxs_blas_start(threads, err) ? NULL : vxs_alloc(1, sizeof(*made), err);
    if (!made)
        return VXS_FAILED;
    made->design = (vxs_design){ .kind = &kind, .n = n, .p = p, .nthreads = threads };
    made->columns = columns;
    made->products = vxs_choose_products();
    *design = &made->design;
    return VXS_OK;
}
