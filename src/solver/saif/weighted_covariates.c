/* weighted_covariates.c - an orthonormal basis of the covariates times root(V). */
#include "solver/saif/weighted_covariates.h"
#include "linalg/gram_schmidt.h"
#include "solver/solver.h"

#include <cblas.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

vxs_status vxs_weighted_covariates_init(vxs_weighted_covariates *c, size_t n, size_t q,
                                        vxs_error *err)
{
    *c = (vxs_weighted_covariates){ .n = n, .q = q };
    c->root = vxs_alloc(n, sizeof(*c->root), err);
    c->basis = vxs_alloc(q + 1, n * sizeof(*c->basis), err);
    c->triangle = vxs_alloc(q + 1, (q + 1) * sizeof(*c->triangle), err);
    c->independent = vxs_alloc(q + 1, sizeof(*c->independent), err);
    if (c->root && c->basis && c->triangle && c->independent)
        return VXS_OK;
    vxs_weighted_covariates_release(c);
    return VXS_FAILED;
}

void vxs_weighted_covariates_release(vxs_weighted_covariates *c)
{
    free(c->root);
    free(c->basis);
    free(c->triangle);
    free(c->independent);
    *c = (vxs_weighted_covariates){ .n = 0 };
}

void vxs_weighted_covariates_set(vxs_weighted_covariates *c, const double *x,
                                 const double *curvature)
{
    size_t n = c->n, stride = c->q + 1;
    c->rank = 0;
    memset(c->triangle, 0, stride * stride * sizeof(*c->triangle));
    for (size_t i = 0; i < n; i++)
        c->root[i] = sqrt(fmax(0, curvature[i]));
    for (size_t k = 0; k < c->q; k++) {
        double *v = c->basis + c->rank * n, *share = c->triangle + c->rank * stride;
        memset(share, 0, stride * sizeof(*share));
        for (size_t i = 0; i < n; i++)
            v[i] = c->root[i] * x[k * n + i];
        if (vxs_gram_schmidt_append(c->basis, n, c->rank, VXS_INDEPENDENT, 0, share))
            c->independent[c->rank++] = k;
    }
}

void vxs_weighted_covariates_project(const vxs_weighted_covariates *c, double *v)
{
    vxs_gram_schmidt_project(c->basis, c->n, c->rank, v, NULL);
}

void vxs_weighted_covariates_solve(const vxs_weighted_covariates *c, bool transposed, double *v)
{
    if (c->rank > 0)
        cblas_dtrsv(CblasColMajor, CblasUpper, transposed ? CblasTrans : CblasNoTrans, CblasNonUnit,
                    (int)c->rank, c->triangle, (int)(c->q + 1), v, 1);
}
