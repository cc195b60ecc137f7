/* voxsift/internal/solver.h - answers and methods; for the library's rooms and the command line,
 * not installed. */
#ifndef VOXSIFT_INTERNAL_SOLVER_H
#define VOXSIFT_INTERNAL_SOLVER_H

#include "voxsift/internal/core.h"
#include "voxsift/internal/design.h"
#include "voxsift/internal/loss.h"
#include "voxsift/internal/penalty.h"
#include "voxsift/solver.h"

#ifdef __cplusplus
extern "C" {
#endif

/* ---- Problems and answers -------------------------------------------------------------------- */

/* What is kept of a certificate, one row a field: files, checkpoints and parts of runs are loops
 * over these. Ends with name == NULL. */
typedef struct {
    const char *name; /* the key in model.json */
    size_t offset;
    enum { VXS_FIELD_REAL, VXS_FIELD_COUNT, VXS_FIELD_FLAG } type;
    bool if_any; /* not written where it is 0 */
    bool null;   /* may be null, which stands for: */
    double none;
    const char *help;
} vxs_field;
extern const vxs_field vxs_certificate_fields[];
#define VXS_MOST_COUNT (SIZE_MAX >> 11) /* a double has counts up to it exactly */

#define VXS_REFIT_GAP 1e-6 /* so much of it is good enough */
VXS_MUST_CHECK vxs_selected *vxs_selected_new(size_t count, size_t columns, size_t free_count,
                                              bool retrained, vxs_error *err);
void vxs_selected_free(vxs_selected *selected);
VXS_MUST_CHECK vxs_bound *vxs_bound_new(size_t n, size_t count, vxs_error *err); /* or NULL */
/* theta and u alone */
VXS_MUST_CHECK vxs_bound *vxs_bound_of_terms(size_t n, size_t terms, vxs_error *err);
void vxs_bound_free(vxs_bound *bound);

/* Whether a gap is as small as the tolerance, both as shares of the empty model's value: the only
 * place that decides it. A gap that is NaN, or below 0 by more than rounding (a hundredth of the
 * tolerance, or 1e-12), shows nothing. */
bool vxs_has_converged(double gap, double tol);

/* Whether what is said of an answer is what the checker found, and good enough: primal values by
 * the same share as gaps. Of a selection the value may be found to be less: the checker divides
 * weights among units in the best way there is. */
bool vxs_certificate_holds(const vxs_certificate *said, const vxs_certificate *found,
                           bool selected);

/* ---- Methods --------------------------------------------------------------------------------- */

#define VXS_MOST_NUMBERS 64
/* The numbers of units; none where it is NULL. */
VXS_MUST_CHECK vxs_status vxs_read_numbers(const vxs_method_settings *settings,
                                           double numbers[VXS_MOST_NUMBERS], size_t *count,
                                           vxs_error *err);
extern const char *const vxs_method_names[]; /* ends with NULL */
/* What it takes when nothing is set. */
bool vxs_method_takes_loss(const vxs_method *method, const vxs_loss_kind *loss);
bool vxs_method_takes_quadratic(const vxs_method *method, const vxs_quadratic_kind *quadratic);
/* What fits with these settings go by. */
vxs_path_kind vxs_method_path(const vxs_method *method, const vxs_method_settings *settings);
/* Whether a solver takes a point; vxs_solver_fit begins with it. A lambda
 * that rounding of slopes exceeds is none. */
VXS_MUST_CHECK vxs_status vxs_point_check(const vxs_solver *solver, vxs_path_point point,
                                          vxs_error *err);

#ifdef __cplusplus
}
#endif

#endif
