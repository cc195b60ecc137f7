/* generation_data.c - the data of generation.c: normal columns, of which some have weights. */
#include "design/design.h"
#include "tests/bench/generation.h"

#include <cblas.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { QUANTILES = 1 << 16 };

void *get(size_t count, size_t size)
{
    vxs_error err = VXS_ERROR_INIT;
    void *memory = vxs_alloc(count, size, &err);
    if (!memory) {
        fprintf(stderr, "%s\n", err.message);
        exit(1);
    }
    return memory;
}

void must(vxs_status status, const vxs_error *err)
{
    if (!status)
        return;
    fprintf(stderr, "%s\n", err->message);
    exit(1);
}

/* ---- Data ------------------------------------------------------------------------------------ */

/* The normal distribution's, by bisection of its integral. */
static void find_quantiles(study *s)
{
    s->quantile = get(QUANTILES, sizeof(*s->quantile));
    for (size_t k = 0; k < QUANTILES; k++) {
        double low = -6, high = 6, share = ((double)k + 0.5) / QUANTILES;
        for (int step = 0; step < 50; step++) {
            double middle = (low + high) / 2;
            *(erfc(-middle / sqrt(2)) / 2 < share ? &low : &high) = middle;
        }
        s->quantile[k] = (float)low;
    }
}

/* Four values of 64 bits, which are splitmix64's (Steele, Lea, Flood 2014): columns that are read
 * again and again are to be made no slower than memory would bring them. */
static void make_quickly(const float *quantile, uint64_t state, size_t rows, float *column)
{
    for (size_t i = 0; i < rows; i += 4) {
        uint64_t bits = state += 0x9e3779b97f4a7c15U;
        bits = (bits ^ bits >> 30) * 0xbf58476d1ce4e5b9U;
        bits = (bits ^ bits >> 27) * 0x94d049bb133111ebU;
        bits ^= bits >> 31;
        for (size_t k = i; k < i + 4 && k < rows; k++, bits >>= 16)
            column[k] = quantile[bits % QUANTILES];
    }
}

void make_column(const study *s, int stream, size_t rows, size_t j, float *column)
{
    vxs_random random = { s->seed, (uint64_t)stream };
    if (s->quantile) {
        make_quickly(s->quantile, vxs_random_bits(&random, j), rows, column);
        return;
    }
    for (size_t i = 0; i < rows; i++)
        column[i] = (float)vxs_random_normal(&random, (uint64_t)j * rows + i);
}

void multiply(const study *s, int stream, const choice *c, double *z)
{
    size_t rows = stream == STREAM_X ? s->n : s->test;
    float *column = get(rows, sizeof(*column));
    memset(z, 0, rows * sizeof(*z));
    for (size_t k = 0; k < c->count; k++) {
        make_column(s, stream, rows, c->index[k], column);
        for (size_t i = 0; i < rows; i++)
            z[i] += c->weight[k] * (double)column[i];
    }
    free(column);
}

static int by_number(const void *a, const void *b)
{
    size_t left = *(const size_t *)a, right = *(const size_t *)b;
    return (left > right) - (left < right);
}

/* Columns, or whole groups of them. */
static void choose_known(study *s)
{
    size_t width = s->group ? s->group : 1, units = s->p / width;
    vxs_random chance = { s->seed, STREAM_CHOICE }, weight = { s->seed, STREAM_WEIGHT };
    size_t *order = get(units, sizeof(*order));
    vxs_random_permutation(&chance, order, units);
    qsort(order, s->known / width, sizeof(*order), by_number);
    s->index = get(s->known, sizeof(*s->index));
    s->weight = get(s->known, sizeof(*s->weight));
    for (size_t k = 0; k < s->known; k++) {
        s->index[k] = order[k / width] * width + k % width;
        s->weight[k] = s->uniform ? vxs_random_uniform(&weight, k) : vxs_random_normal(&weight, k);
    }
    free(order);
}

void make_study(study *s)
{
    if (s->group)
        find_quantiles(s);
    choose_known(s);
    s->y = get(s->n, sizeof(*s->y));
    s->test_y = get(s->test, sizeof(*s->test_y));
    choice truth = { s->known, s->index, s->weight };
    multiply(s, STREAM_X, &truth, s->y);
    multiply(s, STREAM_TEST, &truth, s->test_y);
    for (size_t i = 0; i < s->n; i++)
        s->y[i] = s->y[i] > 0 ? 1 : -1;
    for (size_t i = 0; i < s->test; i++)
        s->test_y[i] = s->test_y[i] > 0 ? 1 : -1;
}

void store_columns(study *s)
{
    if (s->x || s->quantile)
        return;
    s->x = get(s->n * s->p, sizeof(*s->x));
    for (size_t j = 0; j < s->p; j++)
        make_column(s, STREAM_X, s->n, j, s->x + j * s->n);
}

/* ---- Columns that are made when they are asked for ------------------------------------------- */

typedef struct {
    vxs_design design;
    const study *s;
    const vxs_products *products;
    float *column;
} generated;

static void scan(vxs_design *design, const double *v, size_t k, double *s)
{
    generated *d = (generated *)design;
    design->read += design->p;
    for (size_t j = 0; j < design->p; j++) {
        make_column(d->s, STREAM_X, design->n, j, d->column);
        for (size_t c = 0; c < k; c++)
            d->products->dots(d->column, design->n, 1, v + c * design->n, s + c * design->p + j);
    }
}

static void scan_some(vxs_design *design, const size_t *set, size_t count, const double *v,
                      double *s)
{
    generated *d = (generated *)design;
    design->read += count;
    for (size_t c = 0; c < count; c++) {
        make_column(d->s, STREAM_X, design->n, set[c], d->column);
        d->products->dots(d->column, design->n, 1, v, s + c);
    }
}

static void fetch(vxs_design *design, const size_t *set, size_t count, double *block)
{
    generated *d = (generated *)design;
    design->read += count;
    for (size_t c = 0; c < count; c++) {
        make_column(d->s, STREAM_X, design->n, set[c], d->column);
        for (size_t i = 0; i < design->n; i++)
            block[c * design->n + i] = (double)d->column[i];
    }
}

static vxs_status measure(vxs_design *design, const double *v, double *s, vxs_error *err)
{
    generated *d = (generated *)design;
    design->norms = vxs_alloc(design->p, sizeof(*design->norms), err);
    if (!design->norms)
        return VXS_FAILED;
    design->read += design->p;
    for (size_t j = 0; j < design->p; j++) {
        make_column(d->s, STREAM_X, design->n, j, d->column);
        design->norms[j] = (double)cblas_snrm2((int)design->n, d->column, 1);
        if (v)
            d->products->dots(d->column, design->n, 1, v, s + j);
    }
    return VXS_OK;
}

static void release_generated(vxs_design *design)
{
    free(((generated *)design)->column);
}

static const vxs_design_kind generated_kind = { .scan = scan,
                                                .scan_some = scan_some,
                                                .fetch = fetch,
                                                .measure = measure,
                                                .release = release_generated };

vxs_design *make_design(const study *s)
{
    vxs_error err = VXS_ERROR_INIT;
    vxs_design *design = NULL;
    if (!s->quantile) {
        must(vxs_dense_new(s->x, s->n, s->p, 1, &design, &err), &err);
        return design;
    }
    generated *made = get(1, sizeof(*made));
    made->design = (vxs_design){ .kind = &generated_kind, .n = s->n, .p = s->p, .nthreads = 1 };
    made->s = s;
    made->products = vxs_choose_products();
    made->column = get(s->n, sizeof(*made->column));
    return &made->design;
}
