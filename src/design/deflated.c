/* deflated.c - a design after deflation: X (1 - VV').
 *
 * V = N B, N sparse with one row per column of X. Column j of the result is x_j minus the sum over
 * the entries of row j of N of value times column `index` of XVB', which is dense with as many
 * columns as N. No column is copied: scans and fetched columns are corrected afterwards. */
#include "design/design.h"

#include <cblas.h>
#include <math.h>
#include <stdlib.h>

#define BLOCK 64 /* columns per norm computation */

typedef struct {
    vxs_design design;
    const vxs_analysis *null; /* N */
    const double *vectors;    /* n x null->columns: XVB' */
    double *projection;       /* null->columns: vectors'v */
} deflated;

/* Computes vectors'v. */
static void project(const deflated *d, const double *v)
{
    size_t n = d->design.n;
    for (size_t k = 0; k < d->null->columns; k++)
        d->projection[k] = cblas_ddot((int)n, d->vectors + k * n, 1, v, 1);
}

/* The correction of the inner product of column j. */
static double correction(const deflated *d, size_t j)
{
    double sum = 0;
    for (size_t e = d->null->starts[j]; e < d->null->starts[j + 1]; e++)
        sum += d->null->value[e] * d->projection[d->null->index[e]];
    return sum;
}

static void correct(deflated *d, const double *v, double *s)
{
    project(d, v);
    for (size_t j = 0; j < d->design.p; j++)
        s[j] -= correction(d, j);
}

static void scan(vxs_design *design, const double *v, size_t k, double *s)
{
    vxs_design_scan(design->base, v, k, s);
    for (size_t c = 0; c < k; c++)
        correct((deflated *)design, v + c * design->n, s + c * design->p);
}

static void scan_some(vxs_design *design, const size_t *set, size_t count, const double *v,
                      double *s)
{
    deflated *d = (deflated *)design;
    vxs_design_scan_some(design->base, set, count, v, s);
    project(d, v);
    for (size_t c = 0; c < count; c++)
        s[c] -= correction(d, set[c]);
}

static void fetch(vxs_design *design, const size_t *set, size_t count, double *block)
{
    const deflated *d = (const deflated *)design;
    size_t n = design->n;
    vxs_design_fetch(design->base, set, count, block);
    for (size_t c = 0; c < count; c++)
        for (size_t e = d->null->starts[set[c]]; e < d->null->starts[set[c] + 1]; e++)
            cblas_daxpy((int)n, -d->null->value[e], d->vectors + d->null->index[e] * n, 1,
                        block + c * n, 1);
}

/* Norms come from the corrected columns themselves: differences of squared norms would cancel. */
static void find_norms(vxs_design *design, double *block)
{
    size_t set[BLOCK], n = design->n;
    for (size_t first = 0; first < design->p; first += BLOCK) {
        size_t count = design->p - first < BLOCK ? design->p - first : BLOCK;
        for (size_t k = 0; k < count; k++)
            set[k] = first + k;
        fetch(design, set, count, block);
        for (size_t k = 0; k < count; k++)
            design->norms[first + k] = cblas_dnrm2((int)n, block + k * n, 1);
    }
}

static vxs_status measure(vxs_design *design, const double *v, double *s, vxs_error *err)
{
    vxs_status status = v ? vxs_design_measure_scan(design->base, v, s, err)
                          : vxs_design_measure(design->base, err);
    double *block = status ? NULL : vxs_alloc(BLOCK, design->n * sizeof(*block), err);
    design->norms = block ? vxs_alloc(design->p, sizeof(*design->norms), err) : NULL;
    if (design->norms)
        find_norms(design, block);
    free(block);
    if (!design->norms)
        return VXS_FAILED;
    if (v)
        correct((deflated *)design, v, s);
    return VXS_OK;
}

static const double *stored(const vxs_design *design)
{
    return vxs_design_stored(design->base);
}

static void release(vxs_design *design)
{
    free(((deflated *)design)->projection);
}

static const vxs_design_kind kind = {
    .scan = scan,
    .scan_some = scan_some,
    .fetch = fetch,
    .measure = measure,
    .stored = stored,
    .release = release,
};

vxs_status vxs_deflated_new(vxs_design *base, const vxs_analysis *null, const double *vectors,
                            vxs_design **design, vxs_error *err)
{
    deflated *made = vxs_alloc(1, sizeof(*made), err);
    double *projection = made ? vxs_alloc(null->columns, sizeof(*projection), err) : NULL;
    if (!projection) {
        free(made);
        return VXS_FAILED;
    }
    made->design = (vxs_design){
        .kind = &kind, .n = base->n, .p = base->p, .nthreads = base->nthreads, .base = base
    };
    made->null = null;
    made->vectors = vectors;
    made->projection = projection;
    *design = &made->design;
    return VXS_OK;
}
