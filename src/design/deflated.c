/* deflated.c - a design whose columns have lost directions that they share: X (1 - VV').
 *
 * V = N B, N sparse with a row a column of X. Column j of the result is x_j less the sum over the
 * entries of row j of N of value times column `index` of XVB', which is dense and stays small: as
 * many columns as N has. Nothing is copied: sums are corrected after a scan, columns after they are
 * fetched. */
#include "design/design.h"

#include <cblas.h>
#include <math.h>
#include <stdlib.h>

#define BLOCK 64 /* columns whose norms are found at a time */

typedef struct {
    vxs_design design;
    const vxs_analysis *null; /* N */
    const double *vectors;    /* n x null->columns: XVB' */
    double *along;            /* null->columns: v'vectors */
} deflated;

/* What vectors have along v. */
static void find_along(const deflated *d, const double *v)
{
    size_t n = d->design.n;
    for (size_t k = 0; k < d->null->columns; k++)
        d->along[k] = cblas_ddot((int)n, d->vectors + k * n, 1, v, 1);
}

/* The share of column j. */
static double lost(const deflated *d, size_t j)
{
    double sum = 0;
    for (size_t e = d->null->starts[j]; e < d->null->starts[j + 1]; e++)
        sum += d->null->value[e] * d->along[d->null->index[e]];
    return sum;
}

static void correct(deflated *d, const double *v, double *s)
{
    find_along(d, v);
    for (size_t j = 0; j < d->design.p; j++)
        s[j] -= lost(d, j);
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
    find_along(d, v);
    for (size_t c = 0; c < count; c++)
        s[c] -= lost(d, set[c]);
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

/* Norms from the columns themselves: what is left may be far less than what was there. */
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
    free(((deflated *)design)->along);
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
    double *along = made ? vxs_alloc(null->columns, sizeof(*along), err) : NULL;
    if (!along) {
        free(made);
        return VXS_FAILED;
    }
    made->design = (vxs_design){
        .kind = &kind, .n = base->n, .p = base->p, .nthreads = base->nthreads, .base = base
    };
    made->null = null;
    made->vectors = vectors;
    made->along = along;
    *design = &made->design;
    return VXS_OK;
}
