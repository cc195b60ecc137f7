/* covariates_only.c - predictions from covariates, without features. */
#include "model/model.h"
#include "solver/solver.h"

#include <stdlib.h>

/* SAIF with one feature that is 0. */
vxs_status vxs_fit_columns(const vxs_loss *loss, const double *columns, size_t count, double *b,
                           bool *converged, vxs_error *err)
{
    const vxs_method_settings settings = { .tol = 1e-9 };
    float *nothing = vxs_alloc(loss->n, sizeof(*nothing), err);
    vxs_design *design = NULL;
    vxs_solver *solver = NULL;
    vxs_solution fit;
    vxs_status status = nothing ? vxs_dense_new(nothing, loss->n, 1, 1, &design, err) : VXS_FAILED;
    vxs_problem problem = {
        .design = design, .loss = *loss, .covariates = columns, .covariate_count = count
    };
    if (!status)
        status = vxs_solver_new(NULL, vxs_method_solved_by(&vxs_lasso_kind), &problem, &settings,
                                &solver, err);
    if (!status)
        status = vxs_solver_fit(solver, 1, &fit, err);
    for (size_t k = 0; k < count && !status; k++)
        b[k] = fit.covariate_coefficients[k];
    if (!status && converged)
        *converged = fit.certificate.converged;
    if (!status)
        vxs_solution_release(&fit);
    vxs_solver_free(solver);
    vxs_design_free(design);
    free(nothing);
    return status;
}
