/* planes.c - the planes of a bundle: outputs that were once the worst. */
#include "solver/cutting_plane/bundle.h"

#include <cblas.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#define FAR   1e6 /* along a free column: the planes that bound its coefficient */
#define FIRST 32
#define IDLE  12 /* masters without weight after which a plane is dropped, */
#define NEW   8  /* but not the newest, */
#define FEW   40 /* nor any of so few */

void vxs_planes_release(vxs_planes *p)
{
    void *const all[] = { p->g, p->cost, p->along, p->counts, p->idle };
    for (size_t k = 0; k < sizeof(all) / sizeof(all[0]); k++)
        free(all[k]);
    *p = (vxs_planes){ .count = 0 };
}

/* ---- Memory ---------------------------------------------------------------------------------- */

static vxs_status grow(void **array, size_t count, size_t size, vxs_error *err)
{
    void *larger = vxs_resize(*array, count > 0 ? count : 1, size > 0 ? size : 1, err);
    *array = larger ? larger : *array;
    return larger ? VXS_OK : VXS_FAILED;
}

static vxs_status grow_planes(vxs_bundle *b, size_t capacity, vxs_error *err)
{
    vxs_planes *p = &b->planes;
    struct {
        void **array;
        size_t size;
    } const all[] = { { (void **)&p->g, b->n * sizeof(*p->g) },
                      { (void **)&p->cost, sizeof(*p->cost) },
                      { (void **)&p->along, b->q * sizeof(*p->along) },
                      { (void **)&p->counts, sizeof(*p->counts) },
                      { (void **)&p->idle, sizeof(*p->idle) } };
    vxs_status status = VXS_OK;
    for (size_t k = 0; k < sizeof(all) / sizeof(all[0]) && !status; k++)
        status = grow(all[k].array, capacity, all[k].size, err);
    return status;
}

vxs_status vxs_planes_reserve(vxs_bundle *b, vxs_bundle_problem *q, vxs_error *err)
{
    vxs_planes *p = &b->planes;
    bool full = p->count == p->capacity;
    size_t capacity = full ? 2 * p->capacity + FIRST : p->capacity;
    vxs_status status = full ? grow_planes(b, capacity, err) : VXS_OK;
    for (size_t h = 0; q && h < q->count && !status; h++) {
        vxs_bundle_round *r = &q->rounds[h];
        if (!full && r->gram)
            continue;
        p->computed = 0; /* rows of the matrices have moved */
        status = grow((void **)&r->products, capacity, r->width * sizeof(*r->products), err);
        if (!status)
            status = grow((void **)&r->gram, capacity, capacity * sizeof(*r->gram), err);
    }
    if (!status)
        p->capacity = capacity;
    return status;
}

/* ---- Adding ---------------------------------------------------------------------------------- */

static bool is_known(const vxs_bundle *b, const double *g, double cost)
{
    const vxs_planes *p = &b->planes;
    for (size_t k = 0; k < p->count; k++)
        if (p->cost[k] == cost && memcmp(p->g + k * b->n, g, b->n * sizeof(*g)) == 0)
            return true;
    return false;
}

/* Counts the plane that was written behind the last, unless it is there. */
static bool keep(vxs_bundle *b)
{
    vxs_planes *p = &b->planes;
    const double *g = p->g + p->count * b->n;
    if (is_known(b, g, p->cost[p->count]))
        return false;
    for (size_t j = 0; j < b->q; j++)
        p->along[p->count * b->q + j] = cblas_ddot((int)b->n, g, 1, b->f + j * b->n, 1);
    p->idle[p->count++] = 0;
    return true;
}

vxs_status vxs_planes_add(vxs_bundle *b, vxs_bundle_problem *q, const double *z, double *value,
                          bool *added, vxs_error *err)
{
    vxs_planes *p = &b->planes;
    vxs_status status = vxs_planes_reserve(b, q, err);
    if (status)
        return status;
    *value = b->measured.kind->worst(&b->measured, z, p->g + p->count * b->n, &p->cost[p->count],
                                     p->counts[p->count]);
    bool is_new = keep(b);
    *added = *added || is_new;
    return VXS_OK;
}

/* The plane of the truth, which costs nothing: 0, whatever the scores; and those that keep the free
 * coefficients from going to infinity. */
vxs_status vxs_planes_begin(vxs_bundle *b, vxs_error *err)
{
    vxs_planes *p = &b->planes;
    double value;
    bool added = false;
    double *z = vxs_alloc(b->n, sizeof(*z), err);
    vxs_status status = z ? vxs_planes_reserve(b, NULL, err) : VXS_FAILED;
    if (!status) {
        memset(p->g, 0, b->n * sizeof(*p->g));
        p->cost[0] = 0;
        p->counts[0][0] = b->measured.side[1];
        p->counts[0][1] = 0;
        (void)keep(b);
        status = vxs_planes_add(b, NULL, z, &value, &added, err);
    }
    for (size_t k = 0; k < 2 * b->q && !status; k++) {
        const double *column = b->f + k / 2 * b->n;
        for (size_t i = 0; i < b->n; i++)
            z[i] = (k % 2 ? -FAR : FAR) * column[i];
        status = vxs_planes_add(b, NULL, z, &value, &added, err);
    }
    p->fixed = p->count;
    free(z);
    return status;
}

/* ---- Products -------------------------------------------------------------------------------- */

static void multiply_round(const vxs_bundle *b, const vxs_bundle_problem *q, vxs_bundle_round *r)
{
    const vxs_planes *p = &b->planes;
    int fresh = (int)(p->count - p->computed), n = (int)b->n, width = (int)r->width;
    double *out = r->products + p->computed * r->width;
    for (size_t c = 0; c < r->width;) { /* adjacent columns are one matrix */
        size_t end = c + 1;
        while (end < r->width && r->column[end] == r->column[end - 1] + 1)
            end++;
        cblas_dgemm(CblasColMajor, CblasTrans, CblasNoTrans, (int)(end - c), fresh, n, 1,
                    q->x + r->column[c] * b->n, n, p->g + p->computed * b->n, n, 0, out + c, width);
        c = end;
    }
    for (size_t k = p->computed; k < p->count; k++) /* the lower triangle: rows of new planes */
        for (size_t j = 0; j <= k; j++)
            r->gram[j * p->capacity + k] =
                cblas_ddot(width, r->products + j * r->width, 1, r->products + k * r->width, 1);
}

void vxs_planes_multiply(vxs_bundle *b, vxs_bundle_problem *q)
{
    if (b->planes.computed == b->planes.count)
        return;
    for (size_t h = 0; h < q->count; h++)
        multiply_round(b, q, &q->rounds[h]);
    b->planes.computed = b->planes.count;
}

/* ---- Dropping -------------------------------------------------------------------------------- */

static void move(vxs_bundle *b, vxs_bundle_problem *q, size_t from, size_t to)
{
    vxs_planes *p = &b->planes;
    memmove(p->g + to * b->n, p->g + from * b->n, b->n * sizeof(*p->g));
    memmove(p->along + to * b->q, p->along + from * b->q, b->q * sizeof(*p->along));
    memmove(p->counts[to], p->counts[from], sizeof(*p->counts));
    p->cost[to] = p->cost[from];
    p->idle[to] = p->idle[from];
    for (size_t h = 0; h < q->count; h++) {
        vxs_bundle_round *r = &q->rounds[h];
        memmove(r->products + to * r->width, r->products + from * r->width,
                r->width * sizeof(*r->products));
    }
}

/* Rows and columns of the planes that stay. */
static void shrink_gram(vxs_bundle_round *r, size_t capacity, const size_t *stays, size_t count)
{
    for (size_t j = 0; j < count; j++)
        for (size_t k = j; k < count; k++)
            r->gram[j * capacity + k] = r->gram[stays[j] * capacity + stays[k]];
}

vxs_status vxs_planes_drop(vxs_bundle *b, vxs_bundle_problem *q, vxs_error *err)
{
    vxs_planes *p = &b->planes;
    size_t count = 0, known = 0, *stays;
    if (p->count <= FEW)
        return VXS_OK;
    stays = vxs_alloc(p->count, sizeof(*stays), err);
    if (!stays)
        return VXS_FAILED;
    for (size_t k = 0; k < p->count; k++)
        if (k < p->fixed || k + NEW >= p->count || p->idle[k] < IDLE) {
            known += k < p->computed;
            stays[count++] = k;
        }
    for (size_t h = 0; h < q->count; h++)
        shrink_gram(&q->rounds[h], p->capacity, stays, known);
    for (size_t k = 0; k < count; k++)
        if (stays[k] != k)
            move(b, q, stays[k], k);
    p->computed = known;
    p->count = count;
    free(stays);
    return VXS_OK;
}

/* ---- The dual point -------------------------------------------------------------------------- */

/* The cell of these counts, which is made if there is none. */
static size_t find_cell(vxs_bundle *b, const size_t counts[2])
{
    size_t size = 3 + b->n, k = 0;
    while (k < b->cells &&
           (b->cell[k * size] != (double)counts[0] || b->cell[k * size + 1] != (double)counts[1]))
        k++;
    if (k < b->cells)
        return k;
    memset(b->cell + k * size, 0, size * sizeof(*b->cell));
    b->cell[k * size] = (double)counts[0];
    b->cell[k * size + 1] = (double)counts[1];
    b->cells++;
    return k;
}

static void fill_cells(vxs_bundle *b, const double *alpha)
{
    size_t size = 3 + b->n;
    const double *truth = b->measured.reference;
    b->cells = 0;
    for (size_t k = 0; k < b->planes.count; k++) {
        if (!(alpha[k] > 0))
            continue;
        double *cell = b->cell + find_cell(b, b->planes.counts[k]) * size;
        const double *g = b->planes.g + k * b->n;
        cell[2] += alpha[k];
        for (size_t i = 0; i < b->n; i++)
            cell[3 + i] += alpha[k] * (g[i] + truth[i]);
    }
    for (size_t c = 0; c < b->cells; c++)
        for (size_t i = 0; i < b->n; i++)
            b->cell[c * size + 3 + i] /= b->cell[c * size + 2];
}

vxs_status vxs_planes_take_dual(vxs_bundle *b, const double *alpha, vxs_error *err)
{
    const vxs_planes *p = &b->planes;
    cblas_dgemv(CblasColMajor, CblasNoTrans, (int)b->n, (int)p->count, 1, p->g, (int)b->n, alpha, 1,
                0, b->s, 1);
    b->delta = cblas_ddot((int)p->count, p->cost, 1, alpha, 1);
    if (!b->measured.kind->by_counts)
        return VXS_OK;
    vxs_status status = grow((void **)&b->cell, p->count, (3 + b->n) * sizeof(*b->cell), err);
    if (!status)
        fill_cells(b, alpha);
    return status;
}
