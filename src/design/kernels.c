/* kernels.c - kernels as columns, made when they are asked for.
 *
 * A product with a column is <H K H, R>, R being the matrix that the vector packs; it is <K, H R
 * H>. So R is centred once a scan, and a column costs its n^2 / 2 exponentials and as many
 * products. */
#include "design/design.h"
#include "design/gauss.h"

#include <math.h>
#include <omp.h>
#include <stdlib.h>
#include <string.h>

#define BLOCK 256 /* columns of the base that are fetched at a time */

/* Room for one thread. */
typedef struct {
    double *row;    /* of a kernel */
    double *means;  /* of its rows */
    double *packed; /* a column, while norms are measured */
} bench;

typedef struct {
    vxs_design design;
    bool shared;
    const vxs_exponentials *run;
    size_t samples, filled;
    double *bandwidths;
    double *block;   /* of the base, filled x BLOCK; what fills up stays 0 */
    double *fetched; /* the same as the base gives it */
    double *weights; /* centred matrices, as triangles with filled rows */
    double *means;   /* of a matrix's rows */
    size_t *starts;  /* of the triangle's rows, and its end */
    bench *benches;
} pairs;

/* Entries of a triangle's row that ends on the diagonal at b. */
static size_t row_length(size_t b)
{
    return (b / VXS_LANES + 1) * VXS_LANES;
}

/* ---- The base's columns ---------------------------------------------------------------------- */

/* Columns set[0 ... count - 1] of the base, or first, first + 1 ... where set is NULL. */
static void take_block(pairs *w, const size_t *set, size_t first, size_t count)
{
    size_t list[BLOCK] = { 0 };
    for (size_t k = 0; k < count; k++)
        list[k] = set ? set[first + k] : first + k;
    vxs_design_fetch(w->design.base, list, count, w->fetched);
    for (size_t k = 0; k < count; k++)
        memcpy(w->block + k * w->filled, w->fetched + k * w->samples,
               w->samples * sizeof(*w->block));
}

static size_t at_most(size_t count)
{
    return count < BLOCK ? count : BLOCK;
}

/* ---- Products -------------------------------------------------------------------------------- */

/* The matrix that v packs, centred, so that the products of a triangle's entries with those of a
 * kernel add up to the product of the matrices. */
static void spread(pairs *w, const double *v, double *weights)
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

/* Of a column of the base with `k` matrices: s[0], s[step], ... */
static void multiply(const pairs *w, const double *x, double bandwidth, const double *weights,
                     size_t k, double *s, size_t step)
{
    double *row = w->benches[omp_get_thread_num()].row;
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

/* With k matrices at once; columns as for take_block. */
static void multiply_all(pairs *w, const size_t *set, size_t count, const double *weights, size_t k,
                         double *s)
{
    for (size_t first = 0; first < count; first += BLOCK) {
        size_t some = at_most(count - first);
        take_block(w, set, first, some);
#pragma omp parallel for num_threads(w->design.nthreads) schedule(dynamic)
        for (size_t j = 0; j < some; j++)
            multiply(w, w->block + j * w->filled, w->bandwidths[set ? set[first + j] : first + j],
                     weights, k, s + first + j, count);
    }
}

/* Together each exponential is taken once; without memory for that, one after the other. */
static void scan(vxs_design *design, const double *v, size_t k, double *s)
{
    pairs *w = (pairs *)design;
    size_t size = w->starts[w->samples];
    double *wide = k > 1 ? vxs_alloc(k, vxs_times(size, sizeof(*wide)), NULL) : NULL;
    for (size_t c = 0; c < k; c++) {
        spread(w, v + c * design->n, wide ? wide + c * size : w->weights);
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
    spread(w, v, w->weights);
    multiply_all(w, set, count, w->weights, 1, s);
}

/* ---- Whole columns --------------------------------------------------------------------------- */

static void pack_kernel(const pairs *w, const double *x, double bandwidth, double *packed)
{
    size_t n = w->samples, k = 0;
    const bench *own = &w->benches[omp_get_thread_num()];
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
        take_block(w, set, first, some);
#pragma omp parallel for num_threads(design->nthreads) schedule(dynamic)
        for (size_t j = 0; j < some; j++)
            make_column(w, w->block + j * w->filled, w->bandwidths[set[first + j]],
                        block + (first + j) * design->n);
    }
}

/* Norms, and products with what `v` packs unless it is NULL; from whole columns, as a difference of
 * sums would lose the digits of kernels that hardly vary. */
static void measure_all(pairs *w, const double *v, double *s)
{
    size_t p = w->design.p, size = vxs_filled(w->design.n);
    for (size_t first = 0; first < p; first += BLOCK) {
        size_t some = at_most(p - first);
        take_block(w, NULL, first, some);
#pragma omp parallel for num_threads(w->design.nthreads) schedule(dynamic)
        for (size_t j = 0; j < some; j++) {
            double *packed = w->benches[omp_get_thread_num()].packed;
            make_column(w, w->block + j * w->filled, w->bandwidths[first + j], packed);
            w->design.norms[first + j] = sqrt(w->run->dot(packed, packed, size));
            if (v)
                s[first + j] = w->run->dot(packed, v, size);
        }
    }
}

static vxs_status measure(vxs_design *design, const double *v, double *s, vxs_error *err)
{
    pairs *w = (pairs *)design;
    size_t size = vxs_filled(design->n), threads = (size_t)design->nthreads;
    double *room = vxs_alloc(threads + 1, vxs_times(size, sizeof(*room)), err);
    design->norms = room ? vxs_alloc(design->p, sizeof(*design->norms), err) : NULL;
    if (design->norms) {
        if (v)
            memcpy(room, v, design->n * sizeof(*v));
        for (size_t t = 0; t < threads; t++)
            w->benches[t].packed = room + (t + 1) * size;
        measure_all(w, v ? room : NULL, s);
    }
    free(room);
    return design->norms ? VXS_OK : VXS_FAILED;
}

/* ---- The whole ------------------------------------------------------------------------------- */

static void release(vxs_design *design)
{
    pairs *w = (pairs *)design;
    if (!w->shared)
        vxs_design_free(design->base);
    for (int t = 0; t < design->nthreads && w->benches; t++)
        free(w->benches[t].row);
    free(w->benches);
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

static vxs_status make_benches(pairs *w, vxs_error *err)
{
    w->benches = vxs_alloc((size_t)w->design.nthreads, sizeof(*w->benches), err);
    if (!w->benches)
        return VXS_FAILED;
    for (int t = 0; t < w->design.nthreads; t++) {
        double *room = vxs_alloc(2 + VXS_BANDWIDTH_ROOM, vxs_times(w->filled, sizeof(*room)), err);
        if (!room)
            return VXS_FAILED;
        w->benches[t] = (bench){ .row = room, .means = room + w->filled };
    }
    return VXS_OK;
}

static vxs_status make_room(pairs *w, vxs_error *err)
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
    w->block = w->means ? vxs_alloc(BLOCK, vxs_times(w->filled, sizeof(*w->block)), err) : NULL;
    w->fetched = w->block ? vxs_alloc(BLOCK, vxs_times(n, sizeof(*w->fetched)), err) : NULL;
    w->bandwidths = w->fetched ? vxs_alloc(w->design.p, sizeof(*w->bandwidths), err) : NULL;
    return w->bandwidths ? make_benches(w, err) : VXS_FAILED;
}

static void choose_bandwidths(pairs *w, double wanted)
{
    size_t p = w->design.p;
    for (size_t j = 0; j < p && wanted > 0; j++)
        w->bandwidths[j] = wanted;
    for (size_t first = 0; first < p && !(wanted > 0); first += BLOCK) {
        size_t some = at_most(p - first);
        take_block(w, NULL, first, some);
#pragma omp parallel for num_threads(w->design.nthreads) schedule(dynamic)
        for (size_t j = 0; j < some; j++)
            w->bandwidths[first + j] = vxs_bandwidth_of(w->block + j * w->filled, w->samples, 0,
                                                        w->benches[omp_get_thread_num()].row);
    }
}

vxs_status vxs_kernels_new(vxs_design *base, bool shared, double bandwidth, vxs_design **design,
                           vxs_error *err)
{
    pairs *made = vxs_alloc(1, sizeof(*made), err);
    size_t n = base->n;
    if (!made) {
        if (!shared)
            vxs_design_free(base);
        return VXS_FAILED;
    }
    made->design = (vxs_design){
        .kind = &kind, .n = n * (n + 1) / 2, .p = base->p, .nthreads = base->nthreads, .base = base
    };
    made->shared = shared;
    made->run = vxs_choose_exponentials();
    made->samples = n;
    made->filled = vxs_filled(n);
    vxs_status status = bandwidth >= 0 ? vxs_design_measure(base, err)
                                       : vxs_fail(err, VXS_MISUSE,
                                                  "a bandwidth must be above 0, not %g", bandwidth);
    if (!status)
        status = make_room(made, err);
    if (status) {
        vxs_design_free(&made->design);
        return status;
    }
    choose_bandwidths(made, bandwidth);
    *design = &made->design;
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
