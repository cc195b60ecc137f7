/* check_measure.c - primal value, dual value and gap of blocks that were selected for a measure,
 * recomputed.
 *
 * gap = |w|_B^2 / 2 + C R - max over 0 <= t <= 1 of (t delta - t^2 S / 2), S the sum of the B
 * largest |X_g's|^2 of all blocks, delta the sum of alpha cost of the stored dual point. t < 1 is
 * feasible as well, since the truth is an output that costs nothing. The value of the empty model,
 * by which gaps are divided, is found by the ellipsoid method, with one free column by bisection.
 */
#include "solver/solver.h"
#include "verify/check.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#define REFIT_GAP  1e-6  /* gap of refitted weights */
#define HALVINGS   200   /* of an interval of one free coefficient */
#define FAR        1e9   /* where it begins */
#define PER_SQUARE 80    /* ellipsoid steps for each squared dimension: */
#define MOST_STEPS 40000 /* at most */
#define RADIUS     1e4   /* of the first ball */

/* ---- The empty model ------------------------------------------------------------------------- */

typedef struct {
    vxs_check_outputs *o;
    size_t q;
    double *b, *slope, *along, *shape; /* q, q, q, q x q */
    double *z, *g;                     /* n */
} ball;

static double value_at(ball *a)
{
    vxs_check_outputs *o = a->o;
    memset(a->z, 0, o->n * sizeof(*a->z));
    for (size_t k = 0; k < a->q; k++)
        for (size_t i = 0; i < o->n; i++)
            a->z[i] += a->b[k] * o->basis[k * o->n + i];
    double value = vxs_check_outputs_value(o, a->z, a->g);
    for (size_t k = 0; k < a->q; k++)
        a->slope[k] = vxs_check_dot(o->basis + k * o->n, a->g, o->n);
    return value;
}

static double bisect(ball *a)
{
    double low = -FAR, high = FAR, best = INFINITY;
    for (int k = 0; k < HALVINGS; k++) {
        a->b[0] = (low + high) / 2;
        best = fmin(best, value_at(a));
        *(a->slope[0] > 0 ? &high : &low) = a->b[0];
    }
    return best;
}

/* The half of the ellipsoid that the slope points away from, in the smallest ellipsoid around it;
 * false at a minimum. */
static bool cut(ball *a)
{
    double size = 0, q = (double)a->q;
    for (size_t k = 0; k < a->q; k++) {
        a->along[k] = vxs_check_dot(a->shape + k * a->q, a->slope, a->q);
        size += a->along[k] * a->slope[k];
    }
    if (!(size > 0))
        return false;
    for (size_t k = 0; k < a->q; k++) {
        a->along[k] /= sqrt(size);
        a->b[k] -= a->along[k] / (q + 1);
    }
    for (size_t k = 0; k < a->q; k++)
        for (size_t j = 0; j < a->q; j++) {
            double *h = &a->shape[k * a->q + j];
            *h = q * q / (q * q - 1) * (*h - 2 / (q + 1) * a->along[k] * a->along[j]);
        }
    return true;
}

static double shrink(ball *a)
{
    double best = value_at(a);
    size_t steps = PER_SQUARE * a->q * a->q;
    for (size_t k = 0; k < a->q; k++)
        a->shape[k * a->q + k] = RADIUS * RADIUS;
    for (size_t k = 0; k < steps && k < MOST_STEPS && cut(a); k++)
        best = fmin(best, value_at(a));
    return best;
}

vxs_status vxs_check_outputs_empty(vxs_check_outputs *o, double *value, vxs_error *err)
{
    ball a = { .o = o, .q = o->rank };
    a.b = vxs_alloc(a.q + 1, sizeof(*a.b), err);
    a.slope = vxs_alloc(a.q + 1, sizeof(*a.slope), err);
    a.along = vxs_alloc(a.q + 1, sizeof(*a.along), err);
    a.shape = vxs_alloc(a.q + 1, a.q * sizeof(*a.shape), err);
    a.z = vxs_alloc(o->n, sizeof(*a.z), err);
    a.g = vxs_alloc(o->n, sizeof(*a.g), err);
    bool fine = a.b && a.slope && a.along && a.shape && a.z && a.g;
    if (fine)
        *value = a.q == 0 ? value_at(&a) : a.q == 1 ? bisect(&a) : shrink(&a);
    free(a.b);
    free(a.slope);
    free(a.along);
    free(a.shape);
    free(a.z);
    free(a.g);
    return fine ? VXS_OK : VXS_FAILED;
}

/* ---- The certificate ------------------------------------------------------------------------- */

/* max over 0 <= t <= 1 of t delta - t^2 scores / 2. */
static double best_multiple(double delta, double scores)
{
    double best = fmax(0, delta - scores / 2), t = delta / scores;
    return t > 0 && t < 1 ? fmax(best, t * delta / 2) : best;
}

/* The gap of the refitted weights, relative to the empty model's value. */
static vxs_status refit_gap(vxs_check_selection *c, const vxs_solution *solution, double empty,
                            double *gap, vxs_error *err)
{
    vxs_check_outputs o;
    const vxs_selected *s = c->selected;
    double delta, square = 0, scores = 0, cost = c->penalty->refit_cost;
    *gap = INFINITY;
    vxs_status status = vxs_check_outputs_init(c->problem, cost, &o, err);
    vxs_check_selection_predict(c, s->refit_weight, solution->covariate_coefficients);
    double value = status ? 0 : vxs_check_outputs_value(&o, c->z, NULL);
    bool fits = !status && vxs_check_outputs_dual(&o, s->refit_outputs, c->gradient, &delta);
    for (size_t k = 0; k < s->count && fits; k++) {
        vxs_blocks_fetch(c->penalty->blocks, s->block[k], c->block);
        for (size_t m = s->start[k]; m < s->start[k + 1]; m++) {
            double w = s->refit_weight[m],
                   product = vxs_check_dot(c->block + (m - s->start[k]) * c->n, c->gradient, c->n);
            square += w * w;
            scores += product * product;
        }
    }
    if (fits)
        *gap =
            (value + square / 2 - best_multiple(delta, scores)) / (empty * cost / c->penalty->cost);
    vxs_check_outputs_release(&o);
    return status;
}

static void certify(vxs_check_selection *c, vxs_check_outputs *o, const vxs_solution *solution,
                    vxs_certificate *r)
{
    double delta, cost = c->penalty->cost;
    vxs_check_selection_predict(c, c->selected->weight, c->selected->covariate_coefficients);
    r->primal = vxs_check_selection_penalty(c) + vxs_check_outputs_value(o, c->z, NULL);
    r->lambda = 1 / cost;
    r->lambda_max = NAN;
    r->nonzero = solution->count;
    r->tol = solution->certificate.tol;
    r->dual = -INFINITY;
    r->gap = INFINITY;
    if (!vxs_check_outputs_dual(o, c->selected->outputs, c->gradient, &delta))
        return;
    r->dual = best_multiple(delta, vxs_check_selection_scores(c));
    r->gap = vxs_relative_gap(r->primal - r->dual, r->empty);
    r->converged = vxs_has_converged(r->gap, solution->certificate.gap * (1 + 1e-6) + 1e-9) ||
                   vxs_has_converged(r->gap, r->tol);
}

vxs_status vxs_check_measure(const vxs_problem *problem, const vxs_solution *solution,
                             vxs_certificate *certificate, vxs_error *err)
{
    const vxs_selected *s = solution->selected;
    vxs_check_selection c;
    vxs_check_outputs o = { .n = 0 };
    double gap = 0;
    *certificate = (vxs_certificate){ .gap = INFINITY };
    if (!s || !vxs_selected_matches(vxs_as_budget(problem->penalty)->blocks, s))
        return VXS_OK; /* no bound */
    vxs_status status = vxs_check_selection_init(problem, s, &c, err);
    if (!status)
        status = vxs_check_outputs_init(problem, c.penalty->cost, &o, err);
    if (!status)
        status = vxs_check_outputs_empty(&o, &certificate->empty, err);
    if (!status)
        certify(&c, &o, solution, certificate);
    if (!status && s->refit_weight)
        status = refit_gap(&c, solution, certificate->empty, &gap, err);
    if (!vxs_has_converged(gap, REFIT_GAP))
        certificate->converged = false;
    vxs_check_outputs_release(&o);
    vxs_check_selection_release(&c);
    return status;
}
