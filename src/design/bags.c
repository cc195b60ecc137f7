/* bags.c - similarities of bags with instances as columns: s(x_k, B_i) = exp(-D_ik^2 / (2
 * sigma^2)), D_ik the distance of instance x_k to the nearest instance of bag i.
 *
 * Columns are made of distances (bag_distances.c) at each request, since another width or fold has
 * other columns of the same distances. Only instances of the design's own bags are columns: those
 * of others are 0, whatever their values. */
#include "design/bag_distances.h"
#include "design/design.h"
#include "design/exponentials.h"

#include <math.h>
#include <omp.h>
#include <stdlib.h>
#include <string.h>

#define AT_ONCE 16 /* columns of a thread */

typedef struct {
    vxs_design design;
    const vxs_bag_distances *distances;
    const vxs_exponentials *exponentials;
    size_t *rows;  /* bags */
    size_t *place; /* of a bag among the rows, or SIZE_MAX */
    double sigma;
    bool left_out;
    size_t padded;
    double *rooms; /* 2 padded for each thread */
} bags;

/* A column as doubles, or NULL if it is 0. */
static const double *make_column(const bags *b, size_t k, int thread)
{
    const vxs_bag_distances *d = b->distances;
    const float *column = vxs_bag_distances_column(d, k);
    double *distance = b->rooms + 2 * b->padded * (size_t)thread, *values = distance + b->padded;
    size_t own = b->place[d->bag[k]];
    if (own == SIZE_MAX)
        return NULL;
    for (size_t i = 0; i < b->design.n; i++)
        distance[i] = (double)column[b->rows[i]];
    if (b->left_out)
        distance[own] = (double)d->left_out[k];
    b->exponentials->row(distance, b->padded, 0, b->sigma, values);
    return values;
}

static double dot(const double *x, const double *v, size_t n)
{
    double sum = 0;
    for (size_t i = 0; i < n; i++)
        sum += x[i] * v[i];
    return sum;
}

static void scan(vxs_design *design, const double *v, size_t k, double *s)
{
    const bags *b = (const bags *)design;
    size_t n = design->n, p = design->p;
    design->read += p;
#pragma omp parallel for num_threads(design->nthreads) schedule(dynamic, AT_ONCE)
    for (size_t j = 0; j < p; j++) {
        const double *x = make_column(b, j, omp_get_thread_num());
        for (size_t c = 0; c < k; c++)
            s[c * p + j] = x ? dot(x, v + c * n, n) : 0;
    }
}

static void scan_some(vxs_design *design, const size_t *set, size_t count, const double *v,
                      double *s)
{
    const bags *b = (const bags *)design;
    design->read += count;
#pragma omp parallel for num_threads(design->nthreads)                                             \
    schedule(dynamic, AT_ONCE) if (count > AT_ONCE)
    for (size_t c = 0; c < count; c++) {
        const double *x = make_column(b, set[c], omp_get_thread_num());
        s[c] = x ? dot(x, v, design->n) : 0;
    }
}

static void fetch(vxs_design *design, const size_t *set, size_t count, double *block)
{
    const bags *b = (const bags *)design;
    size_t n = design->n;
    design->read += count;
    for (size_t c = 0; c < count; c++) {
        const double *x = make_column(b, set[c], 0);
        if (x)
            memcpy(block + c * n, x, n * sizeof(*x));
        else
            memset(block + c * n, 0, n * sizeof(*block));
    }
}

/* Sums of a column over rows, relative to the first value. */
static void sum_column(const double *x, size_t n, const double *rows, const double *v, size_t j,
                       const vxs_moments *m)
{
    size_t first = 0;
    double s = 0, sum = 0, square = 0;
    while (first < n && rows && rows[first] == 0)
        first++;
    double origin = x && first < n ? x[first] : 0;
    for (size_t i = 0; i < n && x; i++) {
        double from = x[i] - origin, r = rows ? rows[i] : 1;
        sum += r * from;
        square += r * from * from;
        s += v ? v[i] * from : 0;
    }
    m->origin[j] = origin;
    m->sum[j] = sum;
    m->square[j] = square;
    if (v)
        m->s[j] = s;
}

static void moments(vxs_design *design, const double *rows, const double *v, const vxs_moments *m)
{
    const bags *b = (const bags *)design;
    design->read += design->p;
#pragma omp parallel for num_threads(design->nthreads) schedule(dynamic, AT_ONCE)
    for (size_t j = 0; j < design->p; j++)
        sum_column(make_column(b, j, omp_get_thread_num()), design->n, rows, v, j, m);
}

static void release(vxs_design *design)
{
    bags *b = (bags *)design;
    free(b->rows);
    free(b->place);
    free(b->rooms);
}

static const vxs_design_kind kind = {
    .scan = scan,
    .scan_some = scan_some,
    .fetch = fetch,
    .measure = vxs_measure_by_moments,
    .moments = moments,
    .release = release,
};

static vxs_status copy_rows(bags *b, const size_t *rows, vxs_error *err)
{
    const vxs_bag_distances *d = b->distances;
    for (size_t i = 0; i < d->bags; i++)
        b->place[i] = SIZE_MAX;
    for (size_t i = 0; i < b->design.n; i++) {
        vxs_status status = vxs_index_check("bag", rows[i], d->bags, err);
        if (!status && b->place[rows[i]] != SIZE_MAX)
            status = vxs_fail(err, VXS_MISUSE, "a design has bag %zu twice", rows[i]);
        if (status)
            return status;
        b->rows[i] = rows[i];
        b->place[rows[i]] = i;
    }
    return VXS_OK;
}

vxs_status vxs_bags_new(const vxs_bag_distances *distances, const size_t *rows, size_t count,
                        double sigma, bool left_out, int nthreads, vxs_design **design,
                        vxs_error *err)
{
    vxs_status status =
        VXS_GIVEN(err, { "distances", distances }, { "rows", rows }, { "design", design });
    if (!status && !(sigma > 0 && isfinite(sigma)))
        status = vxs_fail(err, VXS_MISUSE, "the width of similarities is %g", sigma);
    bags *b = status ? NULL : vxs_alloc(1, sizeof(*b), err);
    if (!b)
        return status ? status : VXS_FAILED;
    int threads = vxs_thread_count(nthreads);
    b->design =
        (vxs_design){ .kind = &kind, .n = count, .p = distances->count, .nthreads = threads };
    b->distances = distances;
    b->exponentials = vxs_choose_exponentials();
    b->sigma = sigma;
    b->left_out = left_out;
    b->padded = (count + VXS_LANES - 1) / VXS_LANES * VXS_LANES;
    b->rows = vxs_alloc(count, sizeof(*b->rows), err);
    b->place = vxs_alloc(distances->bags, sizeof(*b->place), err);
    b->rooms = vxs_alloc((size_t)threads * 2, vxs_times(b->padded, sizeof(*b->rooms)), err);
    status = b->rows && b->place && b->rooms ? copy_rows(b, rows, err) : VXS_FAILED;
    if (status) {
        vxs_design_free(&b->design);
        return status;
    }
    *design = &b->design;
    return VXS_OK;
}
