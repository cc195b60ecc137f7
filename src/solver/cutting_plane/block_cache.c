/* block_cache.c - units that were fetched, none with more columns than twice the samples.
 *
 * A unit with far more columns than there are samples is Z = L Q with orthonormal rows Q. Its
 * weights lie in their span, w = Q'u, where Z w = L u, |w| = |u| and |Z's| = |L's|: the problem is
 * the same with the n columns of L, whatever the size of a region. */
#include "solver/cutting_plane/block_cache.h"
#include "linalg/lapack.h"

#include <cblas.h>
#include <stdlib.h>
#include <string.h>

#define FOLDED 2  /* times the samples: units with more columns are folded */
#define BLOCK  64 /* columns that LAPACK treats at once */

vxs_status vxs_pool_init(vxs_pool *p, vxs_units *units, size_t n, vxs_error *err)
{
    *p = (vxs_pool){ .units = units, .n = n, .room = 64 };
    p->unit = vxs_alloc(p->room, sizeof(*p->unit), err);
    p->start = vxs_alloc(p->room + 1, sizeof(*p->start), err);
    p->rows = vxs_alloc(p->room, sizeof(*p->rows), err);
    return p->unit && p->start && p->rows ? VXS_OK : VXS_FAILED;
}

void vxs_pool_clear(vxs_pool *p)
{
    for (size_t k = 0; k < p->count; k++)
        free(p->rows[k]);
    p->count = 0;
}

void vxs_pool_release(vxs_pool *p)
{
    vxs_pool_clear(p);
    free(p->unit);
    free(p->start);
    free(p->rows);
    free(p->x);
    free(p->gradient);
}

size_t vxs_pool_columns(const vxs_pool *p)
{
    return p->start[p->count];
}

size_t vxs_pool_width(const vxs_pool *p, size_t place)
{
    return p->start[place + 1] - p->start[place];
}

size_t vxs_pool_find(const vxs_pool *p, size_t unit)
{
    size_t place = 0;
    while (place < p->count && p->unit[place] != unit)
        place++;
    return place;
}

void vxs_pool_unfold(const vxs_pool *p, size_t place, const double *here, double *own)
{
    int n = (int)p->n, width = (int)vxs_units_width(p->units, p->unit[place]);
    if (p->rows[place])
        cblas_dgemv(CblasColMajor, CblasTrans, n, width, 1, p->rows[place], n, here, 1, 0, own, 1);
    else
        memcpy(own, here, (size_t)width * sizeof(*own));
}

/* ---- Units come in --------------------------------------------------------------------------- */

static vxs_status make_columns(vxs_pool *p, size_t columns, vxs_error *err)
{
    if (columns <= p->column_room)
        return VXS_OK;
    size_t room = 2 * columns;
    double *x = vxs_resize(p->x, room, p->n * sizeof(*x), err);
    p->x = x ? x : p->x;
    double *gradient = x ? vxs_resize(p->gradient, room, sizeof(*gradient), err) : NULL;
    p->gradient = gradient ? gradient : p->gradient;
    p->column_room = gradient ? room : p->column_room;
    return gradient ? VXS_OK : VXS_FAILED;
}

static vxs_status make_places(vxs_pool *p, vxs_error *err)
{
    if (p->count < p->room)
        return VXS_OK;
    size_t room = 2 * p->room;
    size_t *unit = vxs_resize(p->unit, room, sizeof(*unit), err);
    p->unit = unit ? unit : p->unit;
    size_t *start = unit ? vxs_resize(p->start, room + 1, sizeof(*start), err) : NULL;
    p->start = start ? start : p->start;
    double **rows = start ? vxs_resize(p->rows, room, sizeof(*rows), err) : NULL;
    p->rows = rows ? rows : p->rows;
    p->room = rows ? room : p->room;
    return rows ? VXS_OK : VXS_FAILED;
}

/* x = L, and Q in place of the unit's columns. */
static vxs_status fold(double *columns, size_t n, size_t width, double *x, vxs_error *err)
{
    int rows = (int)n, count = (int)width, room = rows * BLOCK, info = 0;
    double *work = vxs_alloc(n, (BLOCK + 1) * sizeof(*work), err);
    if (!work)
        return VXS_FAILED;
    double *tau = work + n * BLOCK;
    dgelqf_(&rows, &count, columns, &rows, tau, work, &room, &info);
    for (size_t k = 0; k < n; k++)
        for (size_t i = 0; i < n; i++)
            x[k * n + i] = i >= k ? columns[k * n + i] : 0;
    dorglq_(&rows, &count, &rows, columns, &rows, tau, work, &room, &info);
    free(work);
    return VXS_OK;
}

static vxs_status fetch_folded(vxs_pool *p, size_t unit, size_t width, double *x, vxs_error *err)
{
    double *columns = vxs_alloc(p->n, width * sizeof(*columns), err);
    if (!columns)
        return VXS_FAILED;
    vxs_units_fetch(p->units, unit, columns);
    vxs_status status = fold(columns, p->n, width, x, err);
    if (status)
        free(columns);
    else
        p->rows[p->count] = columns;
    return status;
}

vxs_status vxs_pool_place(vxs_pool *p, size_t unit, size_t *place, vxs_error *err)
{
    *place = vxs_pool_find(p, unit);
    if (*place < p->count)
        return VXS_OK;
    size_t own = vxs_units_width(p->units, unit), at = vxs_pool_columns(p);
    bool folds = own > FOLDED * p->n;
    size_t width = folds ? p->n : own;
    vxs_status status = make_places(p, err);
    if (!status)
        status = make_columns(p, at + width, err);
    if (status)
        return status;
    p->rows[p->count] = NULL;
    if (folds)
        status = fetch_folded(p, unit, own, p->x + at * p->n, err);
    else
        vxs_units_fetch(p->units, unit, p->x + at * p->n);
    if (status)
        return status;
    p->unit[p->count++] = unit;
    p->start[p->count] = at + width;
    return VXS_OK;
}
