/* block_cache.c - the columns of the feature blocks in cuts, at most 2 n columns a block.
 *
 * A block with more columns is replaced by its LQ factorization Z = L Q, Q with orthonormal rows:
 * optimal weights lie in the row span, w = Q'u, hence Z w = L u, |w| = |u| and |Z's| = |L's|. The
 * restricted problem sees the n columns of L, whatever the size of the region.
 *
 * Cost      n^2 x width for each LQ factorization
 * Threads   those of LAPACK */
#include "solver/cutting_plane/block_cache.h"
#include "linalg/lapack.h"

#include <cblas.h>
#include <stdlib.h>
#include <string.h>

#define MAX_WIDTH 2  /* blocks with more columns than this times n are factored */
#define BLOCK     64 /* LAPACK's block size */

vxs_status vxs_block_cache_init(vxs_block_cache *p, vxs_blocks *blocks, size_t n, vxs_error *err)
{
    *p = (vxs_block_cache){ .blocks = blocks, .n = n, .capacity = 64 };
    p->block = vxs_alloc(p->capacity, sizeof(*p->block), err);
    p->start = vxs_alloc(p->capacity + 1, sizeof(*p->start), err);
    p->rows = vxs_alloc(p->capacity, sizeof(*p->rows), err);
    return p->block && p->start && p->rows ? VXS_OK : VXS_FAILED;
}

void vxs_block_cache_clear(vxs_block_cache *p)
{
    for (size_t k = 0; k < p->count; k++)
        free(p->rows[k]);
    p->count = 0;
}

void vxs_block_cache_release(vxs_block_cache *p)
{
    vxs_block_cache_clear(p);
    free(p->block);
    free(p->start);
    free(p->rows);
    free(p->x);
    free(p->gradient);
}

size_t vxs_block_cache_columns(const vxs_block_cache *p)
{
    return p->start[p->count];
}

size_t vxs_block_cache_width(const vxs_block_cache *p, size_t place)
{
    return p->start[place + 1] - p->start[place];
}

size_t vxs_block_cache_find(const vxs_block_cache *p, size_t block)
{
    size_t place = 0;
    while (place < p->count && p->block[place] != block)
        place++;
    return place;
}

void vxs_block_cache_expand(const vxs_block_cache *p, size_t place, const double *cached,
                            double *own)
{
    int n = (int)p->n, width = (int)vxs_blocks_width(p->blocks, p->block[place]);
    if (p->rows[place])
        cblas_dgemv(CblasColMajor, CblasTrans, n, width, 1, p->rows[place], n, cached, 1, 0, own,
                    1);
    else
        memcpy(own, cached, (size_t)width * sizeof(*own));
}

/* ---- Fetching -------------------------------------------------------------------------------- */

static vxs_status reserve_columns(vxs_block_cache *p, size_t columns, vxs_error *err)
{
    if (columns <= p->column_capacity)
        return VXS_OK;
    size_t capacity = 2 * columns;
    double *x = vxs_resize(p->x, capacity, p->n * sizeof(*x), err);
    p->x = x ? x : p->x;
    double *gradient = x ? vxs_resize(p->gradient, capacity, sizeof(*gradient), err) : NULL;
    p->gradient = gradient ? gradient : p->gradient;
    p->column_capacity = gradient ? capacity : p->column_capacity;
    return gradient ? VXS_OK : VXS_FAILED;
}

static vxs_status reserve_places(vxs_block_cache *p, vxs_error *err)
{
    if (p->count < p->capacity)
        return VXS_OK;
    size_t capacity = 2 * p->capacity;
    size_t *block = vxs_resize(p->block, capacity, sizeof(*block), err);
    p->block = block ? block : p->block;
    size_t *start = block ? vxs_resize(p->start, capacity + 1, sizeof(*start), err) : NULL;
    p->start = start ? start : p->start;
    double **rows = start ? vxs_resize(p->rows, capacity, sizeof(*rows), err) : NULL;
    p->rows = rows ? rows : p->rows;
    p->capacity = rows ? capacity : p->capacity;
    return rows ? VXS_OK : VXS_FAILED;
}

/* x = L, and Q in place of the columns. */
static vxs_status factor_lq(double *columns, size_t n, size_t width, double *x, vxs_error *err)
{
    int rows = (int)n, count = (int)width, work_size = rows * BLOCK, info = 0;
    double *work = vxs_alloc(n, (BLOCK + 1) * sizeof(*work), err);
    if (!work)
        return VXS_FAILED;
    double *tau = work + n * BLOCK;
    dgelqf_(&rows, &count, columns, &rows, tau, work, &work_size, &info);
    for (size_t k = 0; k < n; k++)
        for (size_t i = 0; i < n; i++)
            x[k * n + i] = i >= k ? columns[k * n + i] : 0;
    dorglq_(&rows, &count, &rows, columns, &rows, tau, work, &work_size, &info);
    free(work);
    return VXS_OK;
}

static vxs_status fetch_factored(vxs_block_cache *p, size_t block, size_t width, double *x,
                                 vxs_error *err)
{
    double *columns = vxs_alloc(p->n, width * sizeof(*columns), err);
    if (!columns)
        return VXS_FAILED;
    vxs_blocks_fetch(p->blocks, block, columns);
    vxs_status status = factor_lq(columns, p->n, width, x, err);
    if (status)
        free(columns);
    else
        p->rows[p->count] = columns;
    return status;
}

vxs_status vxs_block_cache_fetch(vxs_block_cache *p, size_t block, size_t *place, vxs_error *err)
{
    *place = vxs_block_cache_find(p, block);
    if (*place < p->count)
        return VXS_OK;
    size_t own = vxs_blocks_width(p->blocks, block), at = vxs_block_cache_columns(p);
    bool factored = own > MAX_WIDTH * p->n;
    size_t width = factored ? p->n : own;
    vxs_status status = reserve_places(p, err);
    if (!status)
        status = reserve_columns(p, at + width, err);
    if (status)
        return status;
    p->rows[p->count] = NULL;
    if (factored)
        status = fetch_factored(p, block, own, p->x + at * p->n, err);
    else
        vxs_blocks_fetch(p->blocks, block, p->x + at * p->n);
    if (status)
        return status;
    p->block[p->count++] = block;
    p->start[p->count] = at + width;
    return VXS_OK;
}
