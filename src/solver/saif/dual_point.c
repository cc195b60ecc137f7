/* dual_point.c - the dual point of the problem on a working set: -f'/lambda, moved into the dual's
 * domain and scaled to the best value along it. */
#include "solver/saif/working_set.h"
#include "solver/solver.h"

#include <cblas.h>
#include <math.h>
#include <string.h>

/* ---- The domain ------------------------------------------------------------------------------ */

/* The share of the way to half of the empty model's point that brings sample i back over the edge
 * of the dual's domain. Half of it is well inside, as 0 is in the domain of every loss that is
 * bounded below; the point itself may be on the edge (Huber). */
static double outside(const vxs_working_set *a, size_t i, double lambda, const double *theta)
{
    double u = vxs_loss_weight(&a->problem->loss, i);
    double inside = a->xi_empty ? -a->xi_empty[i] / (2 * u) : 0;
    return u > 0 ? a->loss->outside(-lambda * theta[i] / u, inside, a->problem->loss.y[i],
                                    a->problem->loss.threshold)
                 : 0;
}

/* Moves a point that rounding has carried out of the dual domain towards that of the empty
 * model. */
static void bring_inside(const vxs_working_set *a, double lambda, double *theta)
{
    double share = 0;
    for (size_t i = 0; i < a->n; i++)
        share = fmax(share, outside(a, i, lambda, theta));
    share = fmin(share, 1);
    for (size_t i = 0; i < a->n && share > 0; i++)
        theta[i] = (1 - share) * theta[i] + share * a->xi_empty[i] / (2 * lambda);
}

void vxs_working_set_keep_inside(vxs_working_set *a, double lambda, double *theta)
{
    bool inside = true;
    for (size_t i = 0; i < a->n; i++)
        inside = inside && outside(a, i, lambda, theta) == 0;
    if (inside)
        return;
    memcpy(a->trial, a->loss_gradient, a->n * sizeof(*a->trial));
    bool orthogonal = vxs_dual_projection_project(&a->reach, a->curvature, a->trial);
    for (size_t i = 0; i < a->n && orthogonal; i++)
        theta[i] = -a->trial[i] / lambda;
    if (a->xi_empty)
        bring_inside(a, lambda, theta);
}

/* ---- Its value ------------------------------------------------------------------------------- */

double vxs_working_set_quadratic(const vxs_working_set *a)
{
    double square = cblas_ddot((int)a->count, a->w + a->q, 1, a->w + a->q, 1);
    double form =
        a->laplacian.p > 0 ? vxs_laplacian_form(&a->laplacian, a->set, a->count, a->w + a->q) : 0;
    return a->ridge * square + form;
}

static double dual_at(const vxs_working_set *a, const double *theta, double lambda, double scale)
{
    double sum = 0;
    for (size_t i = 0; i < a->n; i++) {
        double u = vxs_loss_weight(&a->problem->loss, i);
        if (u > 0)
            sum -= u * a->loss->conjugate(-lambda * scale * theta[i] / u, a->problem->loss.y[i],
                                          a->problem->loss.threshold);
    }
    return sum - scale * scale * vxs_working_set_quadratic(a) / 2;
}

/* F(w) - F* and D* - D(scale theta) bound the distances of theta* from theta and from scale theta,
 * and their sum that from the middle, if theta is -f'/lambda. */
static void find_middle(const vxs_working_set *a, const double *theta, double lambda,
                        double heaviest, vxs_state *state)
{
    double apart = (1 - state->scale) * (1 - state->scale) / 4;
    double square = vxs_working_set_quadratic(a) / (lambda * lambda);
    state->middle = state->scale;
    state->middle_radius = state->radius;
    if (!a->is_gradient || state->scale < 0)
        return;
    for (size_t i = 0; i < a->n; i++) {
        double u = vxs_loss_weight(&a->problem->loss, i);
        square += u > 0 ? a->problem->loss.kind->gamma * theta[i] * theta[i] / u : 0;
    }
    double left = fmax(0, state->gap) / (lambda * lambda) - apart * square;
    state->middle = (1 + state->scale) / 2;
    state->middle_radius = sqrt(heaviest * fmax(0, left));
}

void vxs_working_set_dual(const vxs_working_set *a, const double *theta, double lambda,
                          double max_correlation, vxs_state *state)
{
    double heaviest = /* the ridge is a squared loss of w, the Laplacian one of
                       * differences */
        a->ridge > 0 || a->laplacian.p > 0 ? 1 : 0;
    double limit = max_correlation > 0 ? 1 / max_correlation : INFINITY;
    double least = a->loss->outside || a->problem->nonnegative ? 0 : -limit;
    state->scale = vxs_dual_scale(&a->problem->loss, theta, lambda, vxs_working_set_quadratic(a),
                                  least, limit);
    state->dual = dual_at(a, theta, lambda, state->scale);
    state->primal = vxs_working_set_value(a, a->w, a->z, lambda);
    state->gap = state->primal - state->dual;
    for (size_t i = 0; i < a->n; i++)
        heaviest =
            fmax(heaviest, vxs_loss_weight(&a->problem->loss, i) / a->problem->loss.kind->gamma);
    state->radius = sqrt(2 * fmax(0, state->gap) * heaviest) / lambda;
    find_middle(a, theta, lambda, heaviest, state);
}
