/* refit.c - weights of selected columns learned anew, without the penalty that selected them.
 *
 * Problem  minimise over w, b  |w|^2 / 2 + C sum_i u_i f(x_i'w + c_i'b, y_i), b found to the
 *          end for each w.
 * Method   Newton's on w, each system by conjugate gradients, each step halved until the value
 *          falls enough.
 * Stops    alpha = -C u y f' is a point of the dual, where the gap is |w - X'(alpha y)|^2 / 2:
 *          when that is small beside the empty model's value.
 * Gap      at the end that of an alpha that free columns do not see, by primal and dual values. */
#include "solver/cutting_plane/cutting_plane.h"

#include <cblas.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#define STEPS  100
#define SHIFTS 60 /* of intercept and confounds for each of these, at most */
#define GAP    1e-10
#define INNER  0.05 /* what a system's answer may leave of its right side */

typedef struct {
    const vxs_problem *problem;
    vxs_shift shift;
    double cost;
    const double *x;
    size_t n, columns;
    double *z, *shifted, *slope, *curve, *part;            /* n */
    double *gradient, *step, *left, *way, *turned, *trial; /* columns */

} retraining;

static double look(retraining *r, const double *w)
{
    cblas_dgemv(CblasColMajor, CblasNoTrans, (int)r->n, (int)r->columns, 1, r->x, (int)r->n, w, 1,
                0, r->z, 1);
    return r->cost * vxs_shift_fit(&r->shift, r->z, r->shifted) +
           cblas_ddot((int)r->columns, w, 1, w, 1) / 2;
}

/* w + C X'(u f'), whose square is twice the gap. */
static void find_gradient(retraining *r, const double *w)
{
    vxs_loss_gradient(&r->problem->loss, r->shifted, r->slope);
    memcpy(r->gradient, w, r->columns * sizeof(*w));
    cblas_dgemv(CblasColMajor, CblasTrans, (int)r->n, (int)r->columns, r->cost, r->x, (int)r->n,
                r->slope, 1, 1, r->gradient, 1);
    vxs_loss_curvature(&r->problem->loss, r->shifted, r->curve);
    vxs_shift_factor(&r->shift, r->curve);
}

/* out = H v, b moving along. */
static void turn(retraining *r, const double *v, double *out)
{
    cblas_dgemv(CblasColMajor, CblasNoTrans, (int)r->n, (int)r->columns, 1, r->x, (int)r->n, v, 1,
                0, r->part, 1);
    vxs_shift_project(&r->shift, r->curve, r->part);
    for (size_t i = 0; i < r->n; i++)
        r->part[i] *= r->curve[i];
    memcpy(out, v, r->columns * sizeof(*v));
    cblas_dgemv(CblasColMajor, CblasTrans, (int)r->n, (int)r->columns, r->cost, r->x, (int)r->n,
                r->part, 1, 1, out, 1);
}

/* step = -H^-1 gradient, about. */
static void find_step(retraining *r)
{
    int m = (int)r->columns;
    double square = cblas_ddot(m, r->gradient, 1, r->gradient, 1), enough = INNER * INNER * square;
    memset(r->step, 0, r->columns * sizeof(*r->step));
    for (size_t k = 0; k < r->columns; k++)
        r->way[k] = r->left[k] = -r->gradient[k];
    for (size_t k = 0; k < 2 * r->n + 10 && square > enough; k++) {
        turn(r, r->way, r->turned);
        double length = square / cblas_ddot(m, r->way, 1, r->turned, 1), before = square;
        cblas_daxpy(m, length, r->way, 1, r->step, 1);
        cblas_daxpy(m, -length, r->turned, 1, r->left, 1);
        square = cblas_ddot(m, r->left, 1, r->left, 1);
        cblas_dscal(m, square / before, r->way, 1);
        cblas_daxpy(m, 1, r->left, 1, r->way, 1);
    }
}

static bool take_step(retraining *r, double *w, double *value)
{
    double down = cblas_ddot((int)r->columns, r->gradient, 1, r->step, 1);
    for (double share = 1; share > 1e-10; share /= 2) {
        for (size_t k = 0; k < r->columns; k++)
            r->trial[k] = w[k] + share * r->step[k];
        double next = look(r, r->trial);
        if (next > *value + 1e-4 * share * down)
            continue;
        memcpy(w, r->trial, r->columns * sizeof(*w));
        *value = next;
        return true;
    }
    look(r, w);
    return false;
}

static void solve(retraining *r, double *w)
{
    double value = look(r, w), empty = value;
    for (int k = 0; k < STEPS && r->shift.steps < STEPS * SHIFTS; k++) {
        find_gradient(r, w);
        if (cblas_ddot((int)r->columns, r->gradient, 1, r->gradient, 1) / 2 <= GAP * empty)
            return;
        find_step(r);
        if (!take_step(r, w, &value))
            return;
    }
}

static void release(retraining *r)
{
    vxs_shift_release(&r->shift);
    void *const all[] = { r->z,        r->shifted, r->slope, r->curve,  r->part, r->step,
                          r->gradient, r->left,    r->way,   r->turned, r->trial };
    for (size_t k = 0; k < sizeof(all) / sizeof(all[0]); k++)
        free(all[k]);
}

static vxs_status take_room(retraining *r, vxs_error *err)
{
    double **const samples[] = { &r->z, &r->shifted, &r->slope, &r->curve, &r->part };
    double **const weights[] = { &r->gradient, &r->step, &r->left, &r->way, &r->turned, &r->trial };
    bool fine = true;
    for (size_t k = 0; k < 5; k++) {
        *samples[k] = vxs_alloc(r->n, sizeof(double), err);
        fine = fine && *samples[k];
    }
    for (size_t k = 0; k < 6; k++) {
        *weights[k] = vxs_alloc(r->columns, sizeof(double), err);
        fine = fine && *weights[k];
    }
    return fine ? vxs_shift_init(r->problem, r->problem->covariate_count, &r->shift, err)
                : VXS_FAILED;
}

/* Slopes without what free columns see of them, each sample moved as its curvature allows; INFINITY
 * where they leave the dual's domain. */
static double find_gap(retraining *r, const double *w)
{
    int n = (int)r->n, m = (int)r->columns;
    double value = look(r, w);
    find_gradient(r, w);
    for (int twice = 0; twice < 2; twice++)
        vxs_shift_balance(&r->shift, r->curve, r->slope);
    memset(r->trial, 0, r->columns * sizeof(*r->trial));
    cblas_dgemv(CblasColMajor, CblasTrans, n, m, r->cost, r->x, n, r->slope, 1, 1, r->trial, 1);
    return value + r->cost * vxs_loss_conjugate(&r->problem->loss, r->slope) +
           cblas_ddot(m, r->trial, 1, r->trial, 1) / 2;
}

vxs_status vxs_retrain(const vxs_problem *problem, double cost, const double *x, size_t columns,
                       double *w, double *free_weights, double *gap, vxs_error *err)
{
    retraining r = { .problem = problem,
                     .cost = cost,
                     .x = x,
                     .n = vxs_design_rows(problem->design),
                     .columns = columns };
    vxs_status status = take_room(&r, err);
    if (!status) {
        memset(w, 0, columns * sizeof(*w));
        solve(&r, w);
        *gap = find_gap(&r, w);
        vxs_shift_weights(&r.shift, free_weights);
    }
    release(&r);
    return status;
}
