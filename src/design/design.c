/* design.c - the interface: counts columns read and dispatches to the kind. */
#include "design/design.h"

#include <math.h>
#include <stdlib.h>

size_t vxs_design_rows(const vxs_design *design)
{
    return design ? design->n : 0;
}

size_t vxs_design_columns(const vxs_design *design)
{
    return design ? design->p : 0;
}

int vxs_design_threads(const vxs_design *design)
{
    return design->nthreads;
}

static void fill_nan(double *values, size_t count)
{
    for (size_t k = 0; k < count; k++)
        values[k] = NAN;
}

/* A column that the design does not have is NaN. */
static void fetch_known(vxs_design *design, const size_t *set, size_t count, double *block)
{
    for (size_t c = 0; c < count; c++)
        if (set[c] < design->p)
            design->kind->fetch(design, set + c, 1, block + c * design->n);
        else
            fill_nan(block + c * design->n, design->n);
}

void vxs_design_scan(vxs_design *design, const double *v, size_t k, double *s)
{
    if (design && v && s)
        design->kind->scan(design, v, k, s);
    else if (design && s)
        fill_nan(s, k * design->p);
}

void vxs_design_scan_some(vxs_design *design, const size_t *set, size_t count, const double *v,
                          double *s)
{
    design->kind->scan_some(design, set, count, v, s);
}

void vxs_design_fetch(vxs_design *design, const size_t *set, size_t count, double *block)
{
    size_t known = 0;
    if (!design || !set || !block)
        return;
    while (known < count && set[known] < design->p)
        known++;
    if (known == count)
        design->kind->fetch(design, set, count, block);
    else
        fetch_known(design, set, count, block);
}

void vxs_forward_scan_some(vxs_design *design, const size_t *set, size_t count, const double *v,
                           double *s)
{
    vxs_design_scan_some(design->base, set, count, v, s);
}

void vxs_forward_fetch(vxs_design *design, const size_t *set, size_t count, double *block)
{
    vxs_design_fetch(design->base, set, count, block);
}

void vxs_forward_moments(vxs_design *design, const double *rows, const double *v,
                         const vxs_moments *result)
{
    design->base->kind->moments(design->base, rows, v, result);
}

vxs_status vxs_design_measure(vxs_design *design, vxs_error *err)
{
    vxs_status status = VXS_GIVEN(err, { "design", design });
    return status || design->norms ? status : design->kind->measure(design, NULL, NULL, err);
}

vxs_status vxs_design_measure_scan(vxs_design *design, const double *v, double *s, vxs_error *err)
{
    if (!design->norms)
        return design->kind->measure(design, v, s, err);
    design->kind->scan(design, v, 1, s);
    return VXS_OK;
}

const double *vxs_design_norms(const vxs_design *design)
{
    return design->norms;
}

const double *vxs_design_stored(const vxs_design *design)
{
    return design->kind->stored ? design->kind->stored(design) : design->norms;
}

uint64_t vxs_design_read(const vxs_design *design)
{
    uint64_t shared = 0;
    for (; design->base; design = design->base)
        shared += design->kind->shared ? design->kind->shared(design) : 0;
    return shared + design->read;
}

void vxs_design_free(vxs_design *design)
{
    if (!design)
        return;
    design->kind->release(design);
    free(design->norms);
    free(design);
}

vxs_status vxs_measure_by_moments(vxs_design *design, const double *v, double *s, vxs_error *err)
{
    size_t p = design->p;
    double *room = vxs_alloc(vxs_times(3, p), sizeof(*room), err), total = 0;
    double *norms = room ? vxs_alloc(p, sizeof(*norms), err) : NULL;
    if (norms) {
        vxs_moments m = { .origin = room, .s = s, .sum = room + p, .square = room + 2 * p };
        for (size_t i = 0; v && i < design->n; i++)
            total += v[i];
        design->kind->moments(design, NULL, v, &m);
        vxs_status status = vxs_moments_check(design, &m, err);
        if (status) {
            free(norms);
            free(room);
            return status;
        }
        for (size_t j = 0; j < p; j++) {
            double x = m.origin[j];
            norms[j] = sqrt(m.square[j] + 2 * x * m.sum[j] + (double)design->n * x * x);
            if (v)
                s[j] += x * total;
        }
        design->norms = norms;
    }
    free(room);
    return norms ? VXS_OK : VXS_FAILED;
}
