/* conditioned.c - nearly collinear covariates are replaced by an orthogonal basis while solving.
 *
 * Covariates that agree to 1e-7 have a Gram matrix with condition number 1e14: Newton steps lose
 * all digits, and neither the coefficients nor the dual point reach the tolerance. The problem is
 * invariant to the basis of the covariates' span; C = QR gives the coefficients of the covariates
 * themselves. Covariates that are not nearly collinear are used as they are. */
#include "solver/conditioned.h"
#include "linalg/gram_schmidt.h"
#include "solver/solver.h"

#include <cblas.h>
#include <math.h>
#include <stdlib.h>

#define NEAR 1e-4 /* of a covariate's norm: residual beside those before it */

struct vxs_conditioned {
    size_t n, covariates, rank, outputs;
    double *basis; /* n x (rank + 1), column-major, norm sqrt(n) */
    double *share; /* R: coordinates of each covariate */
    size_t *from;  /* the covariate of a basis column */
};

void vxs_conditioned_free(vxs_conditioned *c)
{
    if (!c)
        return;
    free(c->basis);
    free(c->share);
    free(c->from);
    free(c);
}

/* True if a covariate is nearly collinear with those before it, over samples of weight > 0. */
static bool span(vxs_conditioned *c, const vxs_problem *problem)
{
    bool near = false;
    for (size_t k = 0; k < c->covariates; k++) {
        double *v = c->basis + c->rank * c->n, *share = c->share + k * c->covariates, square = 0;
        for (size_t i = 0; i < c->n; i++) {
            v[i] = vxs_loss_weight(&problem->loss, i) > 0 ? problem->covariates[k * c->n + i] : 0;
            square += v[i] * v[i];
        }
        if (!vxs_gram_schmidt_append(c->basis, c->n, c->rank, VXS_INDEPENDENT_COVARIATE, 0,
                                     share)) {
            double rest = cblas_dnrm2((int)c->n, v, 1);
            near = near || rest > VXS_INDEPENDENT * sqrt(square);
            continue;
        }
        near = near || share[c->rank] < NEAR * sqrt(square);
        c->from[c->rank++] = k;
    }
    return near;
}

/* Rows of Q = C R^-1 for samples of weight 0, which have predictions. */
static void extend(vxs_conditioned *c, const vxs_problem *problem)
{
    for (size_t r = 0; r < c->rank; r++) {
        const double *share = c->share + c->from[r] * c->covariates;
        const double *covariate = problem->covariates + c->from[r] * c->n;
        for (size_t i = 0; i < c->n; i++) {
            if (vxs_loss_weight(&problem->loss, i) > 0)
                continue;
            double rest = covariate[i];
            for (size_t m = 0; m < r; m++)
                rest -= share[m] * c->basis[m * c->n + i];
            c->basis[r * c->n + i] = rest / share[r];
        }
    }
}

vxs_status vxs_conditioned_new(vxs_problem *problem, vxs_conditioned **conditioned, vxs_error *err)
{
    size_t n = vxs_design_rows(problem->design), q = problem->covariate_count;
    *conditioned = NULL;
    if (q < 2)
        return VXS_OK;
    vxs_conditioned *c = vxs_alloc(1, sizeof(*c), err);
    if (!c)
        return VXS_FAILED;
    *c = (vxs_conditioned){ .n = n,
                            .covariates = q,
                            .outputs = vxs_loss_outputs(&problem->loss),
                            .basis = vxs_alloc(n, (q + 1) * sizeof(*c->basis), err),
                            .share = vxs_alloc(q, q * sizeof(*c->share), err),
                            .from = vxs_alloc(q, sizeof(*c->from), err) };
    bool fine = c->basis && c->share && c->from;
    if (!fine || !span(c, problem)) {
        vxs_conditioned_free(c);
        return fine ? VXS_OK : VXS_FAILED;
    }
    extend(c, problem);
    for (size_t k = 0; k < c->rank * n; k++)
        c->basis[k] *= sqrt((double)n); /* the norm of an intercept */
    problem->covariates = c->basis;
    problem->covariate_count = c->rank;
    *conditioned = c;
    return VXS_OK;
}

/* Back substitution: R weights = b for one output. */
static void solve(const vxs_conditioned *c, const double *b, double *weights)
{
    for (size_t r = c->rank; r-- > 0;) {
        double left = b[r] * sqrt((double)c->n);
        for (size_t m = r + 1; m < c->rank; m++)
            left -= c->share[c->from[m] * c->covariates + r] * weights[c->from[m]];
        weights[c->from[r]] = left / c->share[c->from[r] * c->covariates + r];
    }
}

/* Replaces the coefficients by those of the covariates themselves. */
static vxs_status convert(const vxs_conditioned *c, double **coefficients, vxs_error *err)
{
    double *weights = vxs_alloc(c->covariates, c->outputs * sizeof(*weights), err);
    if (!weights)
        return VXS_FAILED;
    for (size_t k = 0; k < c->outputs; k++)
        solve(c, *coefficients + k * c->rank, weights + k * c->covariates);
    free(*coefficients);
    *coefficients = weights;
    return VXS_OK;
}

vxs_status vxs_conditioned_weights(const vxs_conditioned *c, vxs_solution *solution, vxs_error *err)
{
    if (!c || !solution->covariate_coefficients)
        return VXS_OK;
    vxs_status status = convert(c, &solution->covariate_coefficients, err);
    return status || !solution->selected
               ? status
               : convert(c, &solution->selected->covariate_coefficients, err);
}
