/* active.c - the problem on the active set: Newton steps, each a quadratic solved exactly.
 *
 * For the squared loss one step is the answer, and the Gram matrix stays as features come and go.
 * For the logistic loss the quadratic is made of those columns that have a weight or want one. */
#include "solve/active.h"

#include <cblas.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#define MOST_STEPS 100
#define FLAT       1e-15 /* of the value, which rounding hides */
#define MOST_FLAT  4

/* ---- Memory ---------------------------------------------------------------------------------- */

static vxs_status grow(double **array, size_t count, vxs_error *err)
{
    double *larger = vxs_resize(*array, count, sizeof(**array), err);
    if (!larger)
        return VXS_FAILED;
    *array = larger;
    return VXS_OK;
}

/* The Gram matrix keeps what it has under a new stride. */
static vxs_status grow_gram(vxs_active *a, size_t room, vxs_error *err)
{
    size_t had = a->q + a->room, has = a->q + room, used = a->q + a->count;
    double *larger = vxs_resize(NULL, has * has, sizeof(*larger), err);
    if (!larger)
        return VXS_FAILED;
    for (size_t c = 0; a->gram && c < used; c++)
        memcpy(larger + c * has, a->gram + c * had, used * sizeof(*larger));
    free(a->gram);
    a->gram = larger;
    return VXS_OK;
}

static vxs_status make_room(vxs_active *a, size_t count, vxs_error *err)
{
    if (count <= a->room && a->x)
        return VXS_OK;
    size_t room = count + count / 2 + 32, m = a->q + room;
    vxs_status status = grow_gram(a, room, err);
    if (!status)
        status = grow(&a->x, a->n * m, err);
    if (!status)
        status = grow(&a->spare, a->n * m, err);
    if (!status)
        status = grow(&a->picked, a->n * m, err);
    if (!status)
        status = grow(&a->w, m, err);
    if (!status)
        status = grow(&a->gradient, m, err);
    if (!status)
        status = grow(&a->correlation, m, err);
    if (!status)
        status = grow(&a->linear, m, err);
    size_t *set = status ? NULL : vxs_resize(a->set, room, sizeof(*set), err);
    a->set = set ? set : a->set;
    size_t *chosen = set ? vxs_resize(a->chosen, m, sizeof(*chosen), err) : NULL;
    a->chosen = chosen ? chosen : a->chosen;
    if (!chosen)
        return VXS_FAILED;
    a->room = room;
    return VXS_OK;
}

static double weight_of(const vxs_active *a, size_t i)
{
    return a->problem->weights ? a->problem->weights[i] : 1;
}

/* gram = x' diag(scale) x for columns first ... m - 1 against all before and among them. */
static void multiply(vxs_active *a, const double *x, size_t first, size_t m, const double *scale)
{
    size_t n = a->n, stride = a->q + a->room, added = m - first;
    double *scaled = a->spare + first * n;
    for (size_t c = 0; c < added; c++)
        for (size_t i = 0; i < n; i++)
            scaled[c * n + i] = x[(first + c) * n + i] * (scale ? scale[i] : 1);
    cblas_dgemm(CblasColMajor, CblasTrans, CblasNoTrans, (int)m, (int)added, (int)n, 1, x, (int)n,
                scaled, (int)n, 0, a->gram + first * stride, (int)stride);
    for (size_t c = first; c < m; c++)
        for (size_t r = 0; r < first; r++)
            a->gram[r * stride + c] = a->gram[c * stride + r];
    for (size_t c = first; c < m; c++)
        a->gram[c * stride + c] += c >= a->q ? a->problem->ridge : 0;
}

/* What the free columns span over the samples that count; those that depend on others add nothing.
 */
static void make_basis(vxs_active *a)
{
    size_t n = a->n;
    for (size_t c = 0; c < a->q; c++) {
        double *b = a->basis + a->rank * n;
        for (size_t i = 0; i < n; i++)
            b[i] = weight_of(a, i) > 0 ? a->x[c * n + i] : 0;
        double before = cblas_dnrm2((int)n, b, 1);
        for (int twice = 0; twice < 2; twice++)
            for (size_t k = 0; k < a->rank; k++) {
                double along = cblas_ddot((int)n, a->basis + k * n, 1, b, 1);
                cblas_daxpy((int)n, -along, a->basis + k * n, 1, b, 1);
            }
        double after = cblas_dnrm2((int)n, b, 1);
        if (!(after > 1e-10 * before))
            continue;
        cblas_dscal((int)n, 1 / after, b, 1);
        a->rank++;
    }
}

vxs_status vxs_active_init(vxs_active *a, const vxs_problem *problem, vxs_error *err)
{
    size_t n = vxs_design_rows(problem->design), q = problem->free_count;
    *a = (vxs_active){ .problem = problem, .loss = vxs_loss_of(problem->loss), .n = n, .q = q };
    a->z = vxs_alloc(4 * n, sizeof(*a->z), err);
    a->basis = vxs_alloc(q + 1, n * sizeof(*a->basis), err);
    if (!a->z || !a->basis || make_room(a, 1, err)) {
        vxs_active_release(a);
        return VXS_FAILED;
    }
    a->slope = a->z + n;
    a->curvature = a->z + 2 * n;
    a->trial = a->z + 3 * n;
    memcpy(a->x, problem->free, n * q * sizeof(*a->x));
    memset(a->w, 0, q * sizeof(*a->w));
    make_basis(a);
    if (problem->loss == VXS_LOSS_SQUARED && q > 0)
        multiply(a, a->x, 0, q, problem->weights);
    return VXS_OK;
}

void vxs_active_release(vxs_active *a)
{
    free(a->set);
    free(a->x);
    free(a->w);
    free(a->gram);
    free(a->gradient);
    free(a->correlation);
    free(a->linear);
    free(a->spare);
    free(a->picked);
    free(a->chosen);
    free(a->z);
    free(a->basis);
    vxs_quadratic_release(&a->quadratic);
    *a = (vxs_active){ .n = 0 };
}

/* ---- Members --------------------------------------------------------------------------------- */

vxs_status vxs_active_add(vxs_active *a, const size_t *set, size_t count, vxs_error *err)
{
    size_t before = a->q + a->count;
    vxs_status status = make_room(a, a->count + count, err);
    if (status || count == 0)
        return status;
    vxs_design_fetch(a->problem->design, set, count, a->x + before * a->n);
    memcpy(a->set + a->count, set, count * sizeof(*set));
    memset(a->w + before, 0, count * sizeof(*a->w));
    a->count += count;
    if (a->problem->loss == VXS_LOSS_SQUARED)
        multiply(a, a->x, before, before + count, a->problem->weights);
    return VXS_OK;
}

void vxs_active_keep(vxs_active *a, const bool *keep)
{
    size_t n = a->n, q = a->q, stride = q + a->room, kept = 0;
    for (size_t k = 0; k < a->count; k++) {
        if (!keep[k])
            continue;
        if (kept < k) {
            size_t to = q + kept, from = q + k;
            memcpy(a->x + to * n, a->x + from * n, n * sizeof(*a->x));
            a->w[to] = a->w[from];
            a->set[kept] = a->set[k];
            memcpy(a->gram + to * stride, a->gram + from * stride, stride * sizeof(*a->gram));
        }
        a->chosen[kept++] = k;
    }
    for (size_t c = 0; c < q + kept && kept < a->count; c++) /* rows follow their columns */
        for (size_t r = 0; r < kept; r++)
            a->gram[c * stride + q + r] = a->gram[c * stride + q + a->chosen[r]];
    a->count = kept;
}

/* ---- Values ---------------------------------------------------------------------------------- */

static void predict(const vxs_active *a, const double *w, double *z)
{
    size_t m = a->q + a->count;
    memset(z, 0, a->n * sizeof(*z));
    for (size_t c = 0; c < m; c++)
        if (w[c] != 0)
            cblas_daxpy((int)a->n, w[c], a->x + c * a->n, 1, z, 1);
}

static double value(const vxs_active *a, const double *w, const double *z, double lambda)
{
    double sum = 0, size = 0, square = 0;
    for (size_t i = 0; i < a->n; i++)
        sum += weight_of(a, i) * a->loss->value(z[i], a->problem->y[i]);
    for (size_t k = a->q; k < a->q + a->count; k++) {
        size += fabs(w[k]);
        square += w[k] * w[k];
    }
    return sum + lambda * size + a->problem->ridge * square / 2;
}

static double ridge_value(const vxs_active *a)
{
    double square = cblas_ddot((int)a->count, a->w + a->q, 1, a->w + a->q, 1);
    return a->problem->ridge * square;
}

void vxs_active_theta(vxs_active *a, double lambda, double *theta)
{
    size_t n = a->n;
    predict(a, a->w, a->z);
    for (size_t i = 0; i < n; i++) {
        double y = a->problem->y[i];
        a->slope[i] = weight_of(a, i) * a->loss->slope(a->z[i], y);
        a->curvature[i] = weight_of(a, i) * a->loss->curvature(a->z[i], y);
        theta[i] = -a->slope[i] / lambda;
    }
    for (size_t k = 0; k < a->rank; k++) {
        double along = cblas_ddot((int)n, a->basis + k * n, 1, theta, 1);
        cblas_daxpy((int)n, -along, a->basis + k * n, 1, theta, 1);
    }
}

/* The gradient at the weights, and the correlations with theta, over the active set; theta must be
 * of the weights as they are. */
static double steepest_of(vxs_active *a, const double *theta, double lambda)
{
    double steepest = 0;
    int n = (int)a->n, m = (int)(a->q + a->count);
    cblas_dgemv(CblasColMajor, CblasTrans, n, m, 1, a->x, n, a->slope, 1, 0, a->gradient, 1);
    cblas_dgemv(CblasColMajor, CblasTrans, n, m, 1, a->x, n, theta, 1, 0, a->correlation, 1);
    for (size_t k = a->q; k < a->q + a->count; k++) {
        a->gradient[k] += a->problem->ridge * a->w[k];
        a->correlation[k] -= a->problem->ridge * a->w[k] / lambda;
        double c = a->correlation[k];
        steepest = fmax(steepest, a->problem->nonnegative ? c : fabs(c));
    }
    return steepest;
}

double vxs_active_correlation(const vxs_active *a, size_t k)
{
    return a->correlation[a->q + k];
}

static double dual_at(const vxs_active *a, const double *theta, double lambda, double scale)
{
    double sum = 0;
    for (size_t i = 0; i < a->n; i++) {
        double u = weight_of(a, i);
        if (u > 0)
            sum -= u * a->loss->conjugate(-lambda * scale * theta[i] / u, a->problem->y[i]);
    }
    return sum - scale * scale * ridge_value(a) / 2;
}

/* Squared loss: the parabola's top, as far as the domain goes. */
static double best_scale(const vxs_active *a, const double *theta, double lambda, double steepest)
{
    double along = 0, square = ridge_value(a) / (lambda * lambda);
    double limit = steepest > 0 ? 1 / steepest : INFINITY;
    if (a->problem->loss != VXS_LOSS_SQUARED)
        return fmin(1, limit);
    for (size_t i = 0; i < a->n; i++) {
        double u = weight_of(a, i);
        along += a->problem->y[i] * theta[i];
        square += u > 0 ? theta[i] * theta[i] / u : 0;
    }
    double best = square > 0 ? along / (lambda * square) : 0;
    return fmax(-limit, fmin(limit, best));
}

void vxs_active_dual(const vxs_active *a, const double *theta, double lambda, double steepest,
                     vxs_state *state)
{
    double heaviest = a->problem->ridge > 0 ? 1 : 0; /* the ridge is a squared loss of w */
    state->scale = best_scale(a, theta, lambda, steepest);
    state->dual = dual_at(a, theta, lambda, state->scale);
    state->primal = value(a, a->w, a->z, lambda);
    state->gap = fmax(0, state->primal - state->dual);
    for (size_t i = 0; i < a->n; i++)
        heaviest = fmax(heaviest, weight_of(a, i) / a->loss->gamma);
    state->radius = sqrt(2 * state->gap * heaviest) / lambda;
}

/* ---- Newton ---------------------------------------------------------------------------------- */

/* Free columns, those with a weight, and those that want one. */
static size_t choose(vxs_active *a, double lambda)
{
    size_t chosen = 0;
    for (size_t k = 0; k < a->q + a->count; k++) {
        double slope = -a->gradient[k];
        bool wants = (a->problem->nonnegative ? slope : fabs(slope)) > lambda;
        if (k < a->q || a->w[k] != 0 || wants)
            a->chosen[chosen++] = k;
    }
    return chosen;
}

/* The quadratic around the weights as they are, on the chosen columns. */
static vxs_status newton_target(vxs_active *a, double lambda, size_t m, double *target,
                                vxs_error *err)
{
    size_t stride = a->q + a->room, n = a->n;
    vxs_quadratic *q = &a->quadratic;
    if (a->problem->loss != VXS_LOSS_SQUARED) {
        for (size_t c = 0; c < m; c++)
            memcpy(a->picked + c * n, a->x + a->chosen[c] * n, n * sizeof(*a->picked));
        multiply(a, a->picked, 0, m, a->curvature);
    }
    for (size_t r = 0; r < m; r++) {
        double sum = -a->gradient[a->chosen[r]];
        for (size_t c = 0; c < m; c++)
            sum += a->gram[c * stride + r] * target[c];
        a->linear[r] = sum;
    }
    q->m = m;
    q->q = a->q;
    q->h = a->gram;
    q->stride = stride;
    q->c = a->linear;
    q->lambda = lambda;
    q->nonnegative = a->problem->nonnegative;
    q->z = target;
    return vxs_quadratic_solve(q, &a->steps, err);
}

/* Along the segment to the target until the value falls; false when it no longer does. A whole step
 * may leave it as it is, a few times: near the end the gap falls where the value cannot. */
static bool go_towards(vxs_active *a, const double *target, double lambda, double primal)
{
    size_t m = a->q + a->count;
    double *trial_w = a->linear, share = 1;
    for (int halvings = 0; halvings < 40; halvings++, share /= 2) {
        for (size_t k = 0; k < m; k++)
            trial_w[k] = a->w[k] + share * (target[k] - a->w[k]);
        predict(a, trial_w, a->trial);
        double now = value(a, trial_w, a->trial, lambda);
        bool flat = share == 1 && a->flat < MOST_FLAT && now <= primal * (1 + FLAT);
        if (now < primal || flat) {
            a->flat = now < primal * (1 - FLAT) ? 0 : a->flat + 1;
            memcpy(a->w, trial_w, m * sizeof(*a->w));
            return true;
        }
    }
    return false;
}

static vxs_status newton_step(vxs_active *a, double lambda, double primal, double *room,
                              bool *moved, vxs_error *err)
{
    size_t all = a->q + a->count, m = all;
    double *target = room, *full = room + all;
    if (a->problem->loss == VXS_LOSS_SQUARED)
        for (size_t k = 0; k < all; k++)
            a->chosen[k] = k;
    else
        m = choose(a, lambda);
    for (size_t c = 0; c < m; c++)
        target[c] = a->w[a->chosen[c]];
    vxs_status status = newton_target(a, lambda, m, target, err);
    if (status)
        return status;
    memset(full, 0, all * sizeof(*full));
    for (size_t c = 0; c < m; c++)
        full[a->chosen[c]] = target[c];
    *moved = go_towards(a, full, lambda, primal);
    return VXS_OK;
}

vxs_status vxs_active_solve(vxs_active *a, double lambda, double target, double *theta,
                            vxs_state *state, vxs_error *err)
{
    double *room = vxs_resize(NULL, 2 * (a->q + a->count) + 1, sizeof(*room), err);
    vxs_status status = room ? VXS_OK : VXS_FAILED;
    bool moved = true;
    a->flat = 0;
    for (int step = 0; step < MOST_STEPS && !status; step++) {
        vxs_active_theta(a, lambda, theta);
        vxs_active_dual(a, theta, lambda, steepest_of(a, theta, lambda), state);
        if (!moved || state->gap <= target)
            break;
        status = newton_step(a, lambda, state->primal, room, &moved, err);
    }
    free(room);
    return status;
}
