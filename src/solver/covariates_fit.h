/* covariates_fit.h - optimal coefficients of intercept and covariates, given predictions; private
 * to the solver room. */
#ifndef VXS_SOLVER_COVARIATES_FIT_H
#define VXS_SOLVER_COVARIATES_FIT_H

#include "voxsift/internal/solver.h"

/* An orthonormal basis of the covariates. */
typedef struct {
    const vxs_problem *problem;
    size_t n, columns, rank;
    double *basis; /* n x rank */
    double *share; /* columns x rank: R */
    size_t *from;  /* rank: the covariate of each basis column */
    double *b;     /* rank: coefficients, warm start of the next fit */
    double *trial, *gradient, *curvature;
    double *weighted; /* n: a column times curvature */
    double *gram;     /* (rank + 2) x rank: Cholesky factor, negative gradient, step */
    uint64_t steps;   /* line search steps over all fits */
} vxs_covariates_fit;
VXS_MUST_CHECK vxs_status vxs_covariates_fit_init(const vxs_problem *problem, size_t columns,
                                                  vxs_covariates_fit *fit, vxs_error *err);
void vxs_covariates_fit_release(vxs_covariates_fit *fit);
/* Finds b; prediction = z + basis b. Returns the minimum of sum u f(prediction). */
double vxs_covariates_fit_solve(vxs_covariates_fit *fit, const double *z, double *prediction);
/* True if the gradient at the best coefficients, with predictions of 0 otherwise and `scale` times
 * the loss, is rounding. */
bool vxs_covariates_fit_explain(vxs_covariates_fit *fit, const double *zero, const double *gradient,
                                double scale);
/* Coefficients of the covariates themselves. */
void vxs_covariates_fit_coefficients(const vxs_covariates_fit *fit, double *coefficients);
/* Cholesky factor of the Hessian basis' diag(u f'') basis, for vxs_covariates_fit_project. */
void vxs_covariates_fit_factor(vxs_covariates_fit *fit, const double *curvature);
/* v - basis (basis'D basis)^-1 basis'D v, D = diag(curvature) */
void vxs_covariates_fit_project(vxs_covariates_fit *fit, const double *curvature, double *v);
/* The transpose, for gradients: v - D basis (basis'D basis)^-1 basis'v, orthogonal to the
 * covariates. */
void vxs_covariates_fit_balance(vxs_covariates_fit *fit, const double *curvature, double *v);

#endif
