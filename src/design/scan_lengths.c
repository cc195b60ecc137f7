/* scan_lengths.c - scans with many vectors of which only the length of each column's products is
 * kept: columns are read once, in blocks. */
#include "design/design.h"

#include <cblas.h>
#include <math.h>
#include <stdlib.h>

#define COLUMNS 256 /* of a block */
#define TILE    32  /* columns of a call of BLAS, whatever the number of threads */

/* Products of a tile of columns with all vectors, k x count. */
static void measure_tile(const double *x, size_t n, size_t count, const double *v, size_t k,
                         double *products, double *lengths)
{
    cblas_dgemm(CblasColMajor, CblasTrans, CblasNoTrans, (int)k, (int)count, (int)n, 1, v, (int)n,
                x, (int)n, 0, products, (int)k);
    for (size_t j = 0; j < count; j++)
        lengths[j] = cblas_dnrm2((int)k, products + j * k, 1);
}

vxs_status vxs_design_scan_lengths(vxs_design *design, const double *v, size_t k, double *lengths,
                                   vxs_error *err)
{
    size_t n = design->n, p = design->p, set[COLUMNS];
    double *block = vxs_alloc(COLUMNS, vxs_times(n + 1, sizeof(*block)), err);
    double *products = vxs_alloc(COLUMNS, vxs_times(k + 1, sizeof(*products)), err);
    vxs_status status = block && products ? VXS_OK : VXS_FAILED;
    for (size_t first = 0; first < p && !status; first += COLUMNS) {
        size_t count = p - first < COLUMNS ? p - first : COLUMNS;
        for (size_t j = 0; j < count; j++)
            set[j] = first + j;
        vxs_design_fetch(design, set, count, block);
#pragma omp parallel for num_threads(design->nthreads) schedule(static)
        for (size_t j = 0; j < count; j += TILE)
            measure_tile(block + j * n, n, count - j < TILE ? count - j : TILE, v, k,
                         products + j * k, lengths + first + j);
    }
    free(block);
    free(products);
    return status;
}
