/* voxsift/internal/solver.h - solutions and methods; for the library's rooms and the command line,
 * not installed. */
#ifndef VOXSIFT_INTERNAL_SOLVER_H
#define VOXSIFT_INTERNAL_SOLVER_H

#include "voxsift/internal/core.h"
#include "voxsift/internal/design.h"
#include "voxsift/internal/loss.h"
#include "voxsift/internal/penalty.h"
#include "voxsift/solver.h"

#include <math.h>

#ifdef __cplusplus
extern "C" {
#endif

/* ---- Problems and solutions ------------------------------------------------------------------ */

/* The fields of a certificate that files, checkpoints and chunks store. Ends with name == NULL. */
typedef struct {
    const char *name; /* the key in model.json */
    size_t offset;
    enum { VXS_FIELD_REAL, VXS_FIELD_COUNT, VXS_FIELD_FLAG } type;
    bool if_any; /* omitted if 0 */
    bool null;   /* may be null in JSON, which stands for `none` */
    double none;
    const char *help;
} vxs_field;
extern const vxs_field vxs_certificate_fields[];
#define VXS_MAX_COUNT (SIZE_MAX >> 11) /* counts that a double represents exactly */

#define VXS_REFIT_GAP 1e-6 /* gap of a refit to reach */
VXS_MUST_CHECK vxs_selected *vxs_selected_new(size_t count, size_t columns, size_t covariate_count,
                                              bool retrained, vxs_error *err);
void vxs_selected_free(vxs_selected *selected);
VXS_MUST_CHECK vxs_weighted_outputs *vxs_weighted_outputs_new(size_t n, size_t count,
                                                              vxs_error *err);
VXS_MUST_CHECK vxs_bound *vxs_bound_new(size_t n, size_t count, vxs_error *err); /* or NULL */
/* theta and u only */
VXS_MUST_CHECK vxs_bound *vxs_bound_of_terms(size_t n, size_t terms, vxs_error *err);
void vxs_bound_free(vxs_bound *bound);

/* The selection of a solution by iterations, whose certificate bounds what other selections gain;
 * NULL for the solution at a lambda, which is an optimum over all of them. */
static inline const vxs_selected *vxs_iterated_selection(const vxs_solution *solution)
{
    return isnan(solution->certificate.lambda_max) ? solution->selected : NULL;
}

/* True if the relative gap is at most the relative tolerance: the one place that decides. A gap
 * that is NaN, or negative by more than rounding (1 % of the tolerance, or 1e-10), is no bound. */
bool vxs_has_converged(double gap, double tol);

/* True if a certificate agrees with the checker's and has converged. For a selection the checker's
 * primal value may be smaller: it finds the optimal weights among blocks. */
bool vxs_certificate_holds(const vxs_certificate *said, const vxs_certificate *found,
                           bool selected);

/* ---- Methods --------------------------------------------------------------------------------- */

#define VXS_MAX_NUMBERS 64
/* Choices by the rows of all methods, numbers by those of this one. */
VXS_MUST_CHECK vxs_status vxs_settings_check(const vxs_method *method,
                                             const vxs_method_settings *settings, vxs_error *err);
/* Parses the numbers of blocks; count 0 if NULL. */
VXS_MUST_CHECK vxs_status vxs_read_numbers(const vxs_method_settings *settings,
                                           double numbers[VXS_MAX_NUMBERS], size_t *count,
                                           vxs_error *err);
/* Parses the values of C of kernel machines; count 0 if NULL. */
VXS_MUST_CHECK vxs_status vxs_read_costs(const vxs_method_settings *settings,
                                         double costs[VXS_MAX_NUMBERS], size_t *count,
                                         vxs_error *err);
extern const char *const vxs_method_names[]; /* ends with NULL */
/* With default settings. */
bool vxs_method_takes_loss(const vxs_method *method, const vxs_loss_kind *loss);
/* Their names with commas between them, as '--loss' takes them. */
void vxs_method_losses(const vxs_method *method, char *words, size_t size);
bool vxs_method_takes_quadratic(const vxs_method *method, const vxs_quadratic_kind *quadratic);
/* Nearly collinear covariates were replaced by an orthogonal basis while solving. */
bool vxs_solver_is_conditioned(const vxs_solver *solver);
/* The parameter of paths with these settings. */
vxs_path_kind vxs_method_path(const vxs_method *method, const vxs_method_settings *settings);
/* Whether a point is valid for the solver; vxs_solver_fit begins with it. A lambda below the
 * rounding of gradients is not. */
VXS_MUST_CHECK vxs_status vxs_point_check(const vxs_solver *solver, vxs_path_point point,
                                          vxs_error *err);

#ifdef __cplusplus
}
#endif

#endif
