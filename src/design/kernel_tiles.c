/* kernel_tiles.c - a kernel whose values are made of features at each request, tile by tile.
 *
 * Cost      of a block: its rows squared times the features; of products with some columns: all
 *           rows times these columns times the features; nothing is kept */
#include "design/design.h"

#include <cblas.h>
#include <stdlib.h>
#include <string.h>

#define COLUMNS 64 /* that are made together */

typedef struct {
    vxs_design design;
    vxs_kernel kernel;
    const vxs_kernel_rows *rows;
    size_t room;
    double *space;  /* VXS_KERNEL_TILE squared for each thread */
    double *sample; /* COLUMNS x features */
    double *column; /* n */
} tiles;

static void scan(vxs_design *design, const double *v, size_t k, double *s)
{
    const tiles *t = (const tiles *)design;
    memset(s, 0, design->n * k * sizeof(*s));
    vxs_kernel_add(&t->kernel, t->rows, t->rows, v, k, t->space, s);
    design->read += design->p;
}

static void fetch(vxs_design *design, const size_t *set, size_t count, double *block)
{
    const tiles *t = (const tiles *)design;
    const vxs_kernel_rows *r = t->rows;
    const size_t n = design->n, p = r->p;
    for (size_t first = 0; first < count; first += COLUMNS) {
        size_t some = count - first < COLUMNS ? count - first : COLUMNS;
        for (size_t k = 0; k < some; k++)
            memcpy(t->sample + k * p, r->values + set[first + k] * p, p * sizeof(*t->sample));
        cblas_dgemm(CblasColMajor, CblasTrans, CblasNoTrans, (int)n, (int)some, (int)p, 1,
                    r->values, (int)p, t->sample, (int)p, 0, block + first * n, (int)n);
#pragma omp parallel for num_threads(design->nthreads) schedule(static)
        for (size_t k = 0; k < some; k++) {
            size_t j = set[first + k];
            double *column = block + (first + k) * n;
            vxs_kernel_apply(&t->kernel, r->own, r->own[j], n, column);
            column[j] = vxs_kernel_value(&t->kernel, r->own[j], r->own[j], r->own[j]);
        }
    }
    design->read += count;
}

static void scan_some(vxs_design *design, const size_t *set, size_t count, const double *v,
                      double *s)
{
    const tiles *t = (const tiles *)design;
    for (size_t k = 0; k < count; k++) {
        fetch(design, set + k, 1, t->column);
        s[k] = cblas_ddot((int)design->n, t->column, 1, v, 1);
    }
}

static vxs_status measure(vxs_design *design, const double *v, double *s, vxs_error *err)
{
    const tiles *t = (const tiles *)design;
    design->norms = vxs_alloc(design->p, sizeof(*design->norms), err);
    if (!design->norms)
        return VXS_FAILED;
    for (size_t j = 0; j < design->p; j++) {
        fetch(design, &j, 1, t->column);
        design->norms[j] = cblas_dnrm2((int)design->n, t->column, 1);
    }
    if (v)
        scan(design, v, 1, s);
    return VXS_OK;
}

static void release(vxs_design *design)
{
    const tiles *t = (const tiles *)design;
    free(t->space);
    free(t->sample);
    free(t->column);
}

/* ---- What solvers request -------------------------------------------------------------------- */

static size_t room(const vxs_design *design)
{
    return ((const tiles *)design)->room;
}

static double own(const vxs_design *design, size_t i)
{
    const tiles *t = (const tiles *)design;
    return vxs_kernel_value(&t->kernel, t->rows->own[i], t->rows->own[i], t->rows->own[i]);
}

static vxs_status block(const vxs_design *design, const size_t *set, size_t count, double *values,
                        vxs_error *err)
{
    const tiles *t = (const tiles *)design;
    vxs_kernel_rows some;
    vxs_status status = vxs_kernel_rows_some(t->rows, set, count, &some, err);
    if (!status)
        vxs_kernel_fill(&t->kernel, &some, values);
    vxs_kernel_rows_release(&some);
    return status;
}

static vxs_status add(const vxs_design *design, const size_t *set, const double *weights,
                      size_t count, double *f, vxs_error *err)
{
    const tiles *t = (const tiles *)design;
    vxs_kernel_rows some;
    if (count == 0)
        return VXS_OK;
    vxs_status status = vxs_kernel_rows_some(t->rows, set, count, &some, err);
    if (!status)
        vxs_kernel_add(&t->kernel, t->rows, &some, weights, 1, t->space, f);
    vxs_kernel_rows_release(&some);
    return status;
}

static const vxs_gram_kind requests = { room, own, block, add };
static const vxs_design_kind tiles_kind = { .scan = scan,
                                            .scan_some = scan_some,
                                            .fetch = fetch,
                                            .measure = measure,
                                            .release = release,
                                            .gram = &requests };

vxs_status vxs_kernel_tiles_new(const vxs_kernel *kernel, const vxs_kernel_rows *rows, size_t room,
                                vxs_design **design, vxs_error *err)
{
    const size_t tile = (size_t)VXS_KERNEL_TILE * VXS_KERNEL_TILE;
    tiles *t = vxs_alloc(1, sizeof(*t), err);
    if (!t)
        return VXS_FAILED;
    *t = (tiles){
        .design = { .kind = &tiles_kind, .n = rows->m, .p = rows->m, .nthreads = rows->nthreads },
        .kernel = *kernel,
        .rows = rows,
        .room = room < rows->m ? room : rows->m
    };
    t->space = vxs_alloc((size_t)rows->nthreads, tile * sizeof(*t->space), err);
    t->sample = vxs_alloc(rows->p, COLUMNS * sizeof(*t->sample), err);
    t->column = vxs_alloc(rows->m, sizeof(*t->column), err);
    if (!t->space || !t->sample || !t->column) {
        vxs_design_free(&t->design);
        return VXS_FAILED;
    }
    *design = &t->design;
    return VXS_OK;
}
