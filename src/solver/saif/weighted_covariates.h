/* weighted_covariates.h - covariates in the metric of a quadratic model; private to the solver
 * room. */
#ifndef VXS_SOLVER_SAIF_WEIGHTED_COVARIATES_H
#define VXS_SOLVER_SAIF_WEIGHTED_COVARIATES_H

#include "voxsift/core.h"

/* root(V) C = basis triangle, V being the second derivatives of the loss. Linearly dependent
 * covariates are not in the basis. */
typedef struct {
    size_t n, q, rank;
    double *root;             /* n: root(V) */
    double *basis, *triangle; /* n x rank; rank x rank, q + 1 apart */
    size_t *independent;      /* covariates of the basis */
} vxs_weighted_covariates;

VXS_MUST_CHECK vxs_status vxs_weighted_covariates_init(vxs_weighted_covariates *covariates,
                                                       size_t n, size_t q, vxs_error *err);
void vxs_weighted_covariates_release(vxs_weighted_covariates *covariates);
/* `x` is n x q, `curvature` the diagonal of V. */
void vxs_weighted_covariates_set(vxs_weighted_covariates *covariates, const double *x,
                                 const double *curvature);
/* v -= basis basis'v; v has n entries. */
void vxs_weighted_covariates_project(const vxs_weighted_covariates *covariates, double *v);
/* v = triangle^-1 v, or its transpose's; v has `rank` entries. */
void vxs_weighted_covariates_solve(const vxs_weighted_covariates *covariates, bool transposed,
                                   double *v);

#endif
