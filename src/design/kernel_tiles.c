/* kernel_tiles.c - kernels of which solvers request blocks, products and columns: a matrix in
 * memory, or values that are made of features at each request, tile by tile.
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

static const vxs_design_kind tiles_kind = {
    .scan = scan, .scan_some = scan_some, .fetch = fetch, .measure = measure, .release = release
};

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

/* ---- What solvers request -------------------------------------------------------------------- */

static const tiles *tiles_of(const vxs_design *design)
{
    return design->kind == &tiles_kind ? (const tiles *)design : NULL;
}

size_t vxs_gram_room(const vxs_design *design)
{
    const tiles *t = tiles_of(design);
    return t ? t->room : vxs_gram_matrix(design) ? 0 : SIZE_MAX;
}

double vxs_gram_own(const vxs_design *design, size_t i)
{
    const tiles *t = tiles_of(design);
    if (!t)
        return vxs_gram_matrix(design)[i * design->n + i];
    return vxs_kernel_value(&t->kernel, t->rows->own[i], t->rows->own[i], t->rows->own[i]);
}

vxs_status vxs_gram_block(const vxs_design *design, const size_t *set, size_t count, double *block,
                          vxs_error *err)
{
    const tiles *t = tiles_of(design);
    const double *matrix = vxs_gram_matrix(design);
    vxs_kernel_rows some;
    for (size_t b = 0; b < count && !t; b++)
        for (size_t a = 0; a < count; a++)
            block[b * count + a] = matrix[set[b] * design->n + set[a]];
    if (!t)
        return VXS_OK;
    vxs_status status = vxs_kernel_rows_some(t->rows, set, count, &some, err);
    if (!status)
        vxs_kernel_fill(&t->kernel, &some, block);
    vxs_kernel_rows_release(&some);
    return status;
}

vxs_status vxs_gram_add(const vxs_design *design, const size_t *set, const double *weights,
                        size_t count, double *f, vxs_error *err)
{
    const tiles *t = tiles_of(design);
    const double *matrix = vxs_gram_matrix(design);
    const int n = (int)design->n;
    vxs_kernel_rows some;
    for (size_t k = 0; k < count && !t; k++)
        cblas_daxpy(n, weights[k], matrix + set[k] * design->n, 1, f, 1);
    if (!t || count == 0)
        return VXS_OK;
    vxs_status status = vxs_kernel_rows_some(t->rows, set, count, &some, err);
    if (!status)
        vxs_kernel_add(&t->kernel, t->rows, &some, weights, 1, t->space, f);
    vxs_kernel_rows_release(&some);
    return status;
}
