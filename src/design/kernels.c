/* kernels.c - kernels as columns, computed on demand.
 *
 * The inner product of a column with a packed matrix R is <H K H, R> = <K, H R H>. So R is centered
 * once per scan, and a column costs n^2 / 2 exponentials and as many products. */
#include "design/design.h"
#include "design/gauss.h"

#include <math.h>
#include <omp.h>
#include <stdlib.h>
#include <string.h>

#define BLOCK 256 /* columns of the base fetched at a time */

/* Workspace of one thread. */
typedef struct {
    double *row;    /* one row of a kernel */
    double *means;  /* row means */
    double *packed; /* a column, while norms are measured */
} thread_workspace;

typedef struct {
    vxs_design design;
    bool shared;
    const vxs_exponentials *run;
    size_t samples, padded;
    double *bandwidths;
    double *block;   /* of the base, padded x BLOCK; the padding is 0 */
    double *fetched; /* the same columns, unpadded */
    double *weights; /* centered matrices, as triangles with padded rows */
    double *means;   /* row means of a matrix */
    size_t *starts;  /* row starts of the triangle, and its end */
    thread_workspace *thread_workspaces;
} pairs;

/* Length of the row of a triangle that ends on the diagonal at b. */
static size_t row_length(size_t b)
{
    return (b / VXS_LANES + 1) * VXS_LANES;
}

/* ---- Columns of the base --------------------------------------------------------------------- */

/* Fetches columns set[0 ... count - 1] of the base, or first, first + 1 ... if set is NULL. */
static void fetch_block(pairs *w, const size_t *set, size_t first, size_t count)
{
    size_t list[BLOCK] = { 0 };
    for (size_t k = 0; k < count; k++)
        list[k] = set ? set[first + k] : first + k;
    vxs_design_fetch(w->design.base, list, count, w->fetched);
    for (size_t k = 0; k < count; k++)
        memcpy(w->block + k * w->padded, w->fetched + k * w->samples,
               w->samples * sizeof(*w->block));
}

static size_t at_most(size_t count)
{
    return count < BLOCK ? count : BLOCK;
}

/* ---- Products -------------------------------------------------------------------------------- */

/* Unpacks v into the centered matrix, scaled so that the sum over the triangle equals the inner
 * product of the full matrices. */
static void unpack(pairs *w, const double *v, double *weights)
{
    size_t n = w->samples;
    double all = 0, *means = w->means;
    memset(means, 0, n * sizeof(*means));
    for (size_t b = 0, k = 0; b < n; b++) {
        for (size_t a = 0; a < b; a++, k++) {
            means[a] += v[k] * M_SQRT1_2;
            means[b] += v[k] * M_SQRT1_2;
        }
        means[b] += v[k++];
    }
    for (size_t a = 0; a < n; a++) {
        means[a] /= (double)n;
        all += means[a] / (double)n;
    }
    for (size_t b = 0, k = 0; b < n; b++) {
        double *row = weights + w->starts[b];
        for (size_t a = 0; a < b; a++, k++)
            row[a] = v[k] * M_SQRT2 - 2 * (means[a] + means[b] - all);
        row[b] = v[k++] - 2 * means[b] + all;
        memset(row + b + 1, 0, (row_length(b) - b - 1) * sizeof(*row));
    }
}

/* Inner products of one kernel with `k` matrices: s[0], s[step], ... */
static void multiply(const pairs *w, const double *x, double bandwidth, const double *weights,
                     size_t k, double *s, size_t step)
{
    double *row = w->thread_workspaces[omp_get_thread_num()].row;
    for (size_t c = 0; c < k; c++)
        s[c * step] = 0;
    if (!vxs_varies(x, w->samples))
        return;
    for (size_t b = 0; b < w->samples; b++) {
        size_t length = row_length(b);
        w->run->row(x, length, x[b], bandwidth, row);
        for (size_t c = 0; c < k; c++)
            s[c * step] +=
                w->run->dot(weights + c * w->starts[w->samples] + w->starts[b], row, length);
    }
}

/* Inner products with k matrices at once; columns as in fetch_block. */
static void multiply_all(pairs *w, const size_t *set, size_t count, const double *weights, size_t k,
                         double *s)
{
    for (size_t first = 0; first < count; first += BLOCK) {
        size_t some = at_most(count - first);
        fetch_block(w, set, first, some);
#pragma omp parallel for num_threads(w->design.nthreads) schedule(dynamic)
        for (size_t j = 0; j < some; j++)
            multiply(w, w->block + j * w->padded, w->bandwidths[set ? set[first + j] : first + j],
                     weights, k, s + first + j, count);
    }
}

/* All vectors at once, so that each exponential is computed once; one after the other if out of
 * memory. */
static void scan(vxs_design *design, const double *v, size_t k, double *s)
{
    pairs *w = (pairs *)design;
    size_t size = w->starts[w->samples];
    double *wide = k > 1 ? vxs_alloc(k, vxs_times(size, sizeof(*wide)), NULL) : NULL;
    for (size_t c = 0; c < k; c++) {
        unpack(w, v + c * design->n, wide ? wide + c * size : w->weights);
        if (!wide)
            multiply_all(w, NULL, design->p, w->weights, 1, s + c * design->p);
    }
    if (wide)
        multiply_all(w, NULL, design->p, wide, k, s);
    free(wide);
}

static void scan_some(vxs_design *design, const size_t *set, size_t count, const double *v,
                      double *s)
{
    pairs *w = (pairs *)design;
    unpack(w, v, w->weights);
    multiply_all(w, set, count, w->weights, 1, s);
}

/* ---- Whole columns --------------------------------------------------------------------------- */

static void pack_kernel(const pairs *w, const double *x, double bandwidth, double *packed)
{
    size_t n = w->samples, k = 0;
    const thread_workspace *own = &w->thread_workspaces[omp_get_thread_num()];
    double *row = own->row, *means = own->means, all = 0;
    memset(means, 0, n * sizeof(*means));
    for (size_t b = 0; b < n; b++, k += b) {
        w->run->row(x, row_length(b), x[b], bandwidth, row);
        memcpy(packed + k, row, (b + 1) * sizeof(*row));
        for (size_t a = 0; a < b; a++) {
            means[a] += row[a];
            means[b] += row[a];
        }
        means[b] += row[b];
    }
    for (size_t a = 0; a < n; a++) {
        means[a] /= (double)n;
        all += means[a] / (double)n;
    }
    for (size_t b = 0; b < n; b++, packed += b)
        for (size_t a = 0; a <= b; a++)
            packed[a] = (packed[a] - means[a] - means[b] + all) * (a < b ? M_SQRT2 : 1);
}

static void make_column(const pairs *w, const double *x, double bandwidth, double *packed)
{
    if (vxs_varies(x, w->samples))
        pack_kernel(w, x, bandwidth, packed);
    else
        memset(packed, 0, w->design.n * sizeof(*packed));
}

static void fetch(vxs_design *design, const size_t *set, size_t count, double *block)
{
    pairs *w = (pairs *)design;
    for (size_t first = 0; first < count; first += BLOCK) {
        size_t some = at_most(count - first);
        fetch_block(w, set, first, some);
#pragma omp parallel for num_threads(design->nthreads) schedule(dynamic)
        for (size_t j = 0; j < some; j++)
            make_column(w, w->block + j * w->padded, w->bandwidths[set[first + j]],
                        block + (first + j) * design->n);
    }
}

/* Measures norms, and inner products with v unless NULL, from whole columns: a difference of sums
 * would cancel for kernels that are nearly constant. */
static void measure_all(pairs *w, const double *v, double *s)
{
    size_t p = w->design.p, size = vxs_padded(w->design.n);
    for (size_t first = 0; first < p; first += BLOCK) {
        size_t some = at_most(p - first);
        fetch_block(w, NULL, first, some);
#pragma omp parallel for num_threads(w->design.nthreads) schedule(dynamic)
        for (size_t j = 0; j < some; j++) {
            double *packed = w->thread_workspaces[omp_get_thread_num()].packed;
            make_column(w, w->block + j * w->padded, w->bandwidths[first + j], packed);
            w->design.norms[first + j] = sqrt(w->run->dot(packed, packed, size));
            if (v)
                s[first + j] = w->run->dot(packed, v, size);
        }
    }
}

static vxs_status measure(vxs_design *design, const double *v, double *s, vxs_error *err)
{
    pairs *w = (pairs *)design;
    size_t size = vxs_padded(design->n), threads = (size_t)design->nthreads;
    double *workspace = vxs_alloc(threads + 1, vxs_times(size, sizeof(*workspace)), err);
    design->norms = workspace ? vxs_alloc(design->p, sizeof(*design->norms), err) : NULL;
    if (design->norms) {
        if (v)
            memcpy(workspace, v, design->n * sizeof(*v));
        for (size_t t = 0; t < threads; t++)
            w->thread_workspaces[t].packed = workspace + (t + 1) * size;
        measure_all(w, v ? workspace : NULL, s);
    }
    free(workspace);
    return design->norms ? VXS_OK : VXS_FAILED;
}

/* ---- Constructor ----------------------------------------------------------------------------- */

static void release(vxs_design *design)
{
    pairs *w = (pairs *)design;
    if (!w->shared)
        vxs_design_free(design->base);
    for (int t = 0; t < design->nthreads && w->thread_workspaces; t++)
        free(w->thread_workspaces[t].row);
    free(w->thread_workspaces);
    free(w->bandwidths);
    free(w->block);
    free(w->fetched);
    free(w->weights);
    free(w->means);
    free(w->starts);
}

static const vxs_design_kind kind = {
    .scan = scan,
    .scan_some = scan_some,
    .fetch = fetch,
    .measure = measure,
    .release = release,
};

static vxs_status allocate_workspaces(pairs *w, vxs_error *err)
{
    w->thread_workspaces =
        vxs_alloc((size_t)w->design.nthreads, sizeof(*w->thread_workspaces), err);
    if (!w->thread_workspaces)
        return VXS_FAILED;
    for (int t = 0; t < w->design.nthreads; t++) {
        double *workspace =
            vxs_alloc(2 + VXS_BANDWIDTH_WORKSPACE, vxs_times(w->padded, sizeof(*workspace)), err);
        if (!workspace)
            return VXS_FAILED;
        w->thread_workspaces[t] =
            (thread_workspace){ .row = workspace, .means = workspace + w->padded };
    }
    return VXS_OK;
}

static vxs_status allocate(pairs *w, vxs_error *err)
{
    size_t n = w->samples, end = 0;
    w->starts = vxs_alloc(n + 1, sizeof(*w->starts), err);
    for (size_t b = 0; b < n && w->starts; b++) {
        w->starts[b] = end;
        end += row_length(b);
    }
    if (!w->starts)
        return VXS_FAILED;
    w->starts[n] = end;
    w->weights = vxs_alloc(end, sizeof(*w->weights), err);
    w->means = w->weights ? vxs_alloc(n, sizeof(*w->means), err) : NULL;
    w->block = w->means ? vxs_alloc(BLOCK, vxs_times(w->padded, sizeof(*w->block)), err) : NULL;
    w->fetched = w->block ? vxs_alloc(BLOCK, vxs_times(n, sizeof(*w->fetched)), err) : NULL;
    w->bandwidths = w->fetched ? vxs_alloc(w->design.p, sizeof(*w->bandwidths), err) : NULL;
    return w->bandwidths ? allocate_workspaces(w, err) : VXS_FAILED;
}

static void choose_bandwidths(pairs *w, double bandwidth)
{
    size_t p = w->design.p;
    for (size_t j = 0; j < p && bandwidth > 0; j++)
        w->bandwidths[j] = bandwidth;
    for (size_t first = 0; first < p && !(bandwidth > 0); first += BLOCK) {
        size_t some = at_most(p - first);
        fetch_block(w, NULL, first, some);
#pragma omp parallel for num_threads(w->design.nthreads) schedule(dynamic)
        for (size_t j = 0; j < some; j++)
            w->bandwidths[first + j] =
                vxs_bandwidth_of(w->block + j * w->padded, w->samples, 0,
                                 w->thread_workspaces[omp_get_thread_num()].row);
    }
}

vxs_status vxs_kernels_new(vxs_design *base, bool shared, double bandwidth, vxs_design **design,
                           vxs_error *err)
{
    pairs *scores_made = vxs_alloc(1, sizeof(*scores_made), err);
    size_t n = base->n;
    if (!scores_made) {
        if (!shared)
            vxs_design_free(base);
        return VXS_FAILED;
    }
    scores_made->design = (vxs_design){
        .kind = &kind, .n = n * (n + 1) / 2, .p = base->p, .nthreads = base->nthreads, .base = base
    };
    scores_made->shared = shared;
    scores_made->run = vxs_choose_exponentials();
    scores_made->samples = n;
    scores_made->padded = vxs_padded(n);
    vxs_status status = bandwidth >= 0 ? vxs_design_measure(base, err)
                                       : vxs_fail(err, VXS_MISUSE,
                                                  "a bandwidth must be above 0, not %g", bandwidth);
    if (!status)
        status = allocate(scores_made, err);
    if (status) {
        vxs_design_free(&scores_made->design);
        return status;
    }
    choose_bandwidths(scores_made, bandwidth);
    *design = &scores_made->design;
    return VXS_OK;
}

const double *vxs_kernels_bandwidths(const vxs_design *design)
{
    return ((const pairs *)design)->bandwidths;
}

void vxs_kernels_pack(const double *y, size_t n, double *packed)
{
    double mean = 0;
    for (size_t i = 0; i < n; i++)
        mean += y[i];
    mean /= (double)n;
    for (size_t b = 0; b < n; b++)
        for (size_t a = 0; a <= b; a++)
            *packed++ = (y[a] - mean) * (y[b] - mean) * (a < b ? M_SQRT2 : 1);
}
