/* group_set.c - the group lasso on a working set of groups.
 *
 * Problem   min over w, b: sum_i u_i f(x_i'w + z_i'b, y_i) + lambda sum_g |w_g|
 * Method    rounds of block descent, each group to the minimum of a quadratic bound, then a Newton
 *           step of the groups that have a weight or exceed lambda (group_newton.c), halved until
 *           the value decreases. Covariates are at their best for every w (covariates_fit.c)
 * Stops     the gap on the set is at most the target, or stalls
 * Cost      a round: n for each column
 * Threads   those of BLAS
 * Source    block descent: Yuan and Lin 2006 */
#include "solver/group_lasso/group_lasso.h"

#include <cblas.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#define MOST_ROUNDS 100
#define SWEEPS      3 /* of descent between Newton steps */
#define HALVINGS    40
#define POWER_STEPS 20    /* of the power method */
#define SAFETY      1.05  /* of its result, which is a lower bound */
#define MODEL_SHARE 0.01  /* of the gap: that of a model which is not the problem itself */
#define FLAT        1e-14 /* of the value: no decrease */
#define MOST_FLAT   3

/* ---- Memory ---------------------------------------------------------------------------------- */

vxs_status vxs_group_set_init(vxs_group_set *a, const vxs_problem *problem, vxs_blocks *blocks,
                              vxs_error *err)
{
    size_t n = vxs_design_rows(problem->design);
    *a = (vxs_group_set){ .problem = problem, .n = n };
    vxs_status status =
        vxs_covariates_fit_init(problem, problem->covariate_count, &a->covariates, err);
    if (!status)
        status = vxs_block_cache_init(&a->cache, blocks, n, err);
    a->z = status ? NULL : vxs_alloc(6 * n, sizeof(*a->z), err);
    if (!a->z) {
        vxs_group_set_release(a);
        return VXS_FAILED;
    }
    a->moved = a->z + n;
    a->prediction = a->z + 2 * n;
    a->gradient = a->z + 3 * n;
    a->dual_gradient = a->z + 4 * n;
    a->curvature = a->z + 5 * n;
    return VXS_OK;
}

void vxs_group_set_release(vxs_group_set *a)
{
    vxs_covariates_fit_release(&a->covariates);
    vxs_block_cache_release(&a->cache);
    vxs_group_newton_release(&a->newton);
    free(a->place);
    free(a->weight);
    free(a->step);
    free(a->z);
    *a = (vxs_group_set){ .n = 0 };
}

/* Room for all places and columns of the cache; weights stay. */
static vxs_status reserve(vxs_group_set *a, vxs_error *err)
{
    size_t places = a->cache.count, columns = vxs_block_cache_columns(&a->cache);
    if (places > a->room) {
        size_t room = 2 * places + 8;
        size_t *place = vxs_resize(a->place, room, sizeof(*place), err);
        a->place = place ? place : a->place;
        double *step = place ? vxs_resize(a->step, 2 * room, sizeof(*step), err) : NULL;
        a->step = step ? step : a->step;
        if (!step)
            return VXS_FAILED;
        a->room = room;
        a->size = step + room;
    }
    if (columns > a->column_room) {
        size_t room = 2 * columns + 64;
        double *weight = vxs_resize(a->weight, 2 * room, sizeof(*weight), err);
        if (!weight)
            return VXS_FAILED;
        memset(weight + a->column_room, 0, (2 * room - a->column_room) * sizeof(*weight));
        a->weight = weight;
        a->trial = weight + room;
        a->column_room = room;
    }
    return VXS_OK;
}

/* ---- Groups of the set ----------------------------------------------------------------------- */

static int width_of(const vxs_group_set *a, size_t place)
{
    return (int)vxs_block_cache_width(&a->cache, place);
}

static const double *columns_of(const vxs_group_set *a, size_t place)
{
    return a->cache.x + a->cache.start[place] * a->n;
}

static double *weights_of(const vxs_group_set *a, size_t place)
{
    return a->weight + a->cache.start[place];
}

bool vxs_group_set_has_weight(const vxs_group_set *a, size_t place)
{
    return cblas_dasum(width_of(a, place), weights_of(a, place), 1) > 0;
}

/* The largest eigenvalue of X_g'UX_g, times the largest second derivative. The power method begins
 * with the columns' sum, and the sum of squared norms is the limit. */
static double bound_step(vxs_group_set *a, size_t place)
{
    int n = (int)a->n, width = width_of(a, place);
    const double *x = columns_of(a, place);
    double *along = a->trial + a->cache.start[place], *of_rows = a->moved, trace = 0, most = 0;
    for (int k = 0; k < width; k++) {
        along[k] = 1;
        for (int i = 0; i < n; i++)
            trace += vxs_loss_weight(&a->problem->loss, (size_t)i) * x[k * n + i] * x[k * n + i];
    }
    for (int step = 0; step < POWER_STEPS && width > 0 && trace > 0; step++) {
        double length = cblas_dnrm2(width, along, 1);
        if (!(length > 0))
            return trace / a->problem->loss.kind->gamma;
        cblas_dscal(width, 1 / length, along, 1);
        cblas_dgemv(CblasColMajor, CblasNoTrans, n, width, 1, x, n, along, 1, 0, of_rows, 1);
        for (size_t i = 0; i < a->n; i++)
            of_rows[i] *= vxs_loss_weight(&a->problem->loss, i);
        cblas_dgemv(CblasColMajor, CblasTrans, n, width, 1, x, n, of_rows, 1, 0, along, 1);
        most = cblas_dnrm2(width, along, 1);
    }
    return fmin(trace, SAFETY * most) / a->problem->loss.kind->gamma;
}

vxs_status vxs_group_set_add(vxs_group_set *a, size_t group, vxs_error *err)
{
    size_t place = 0, before = a->cache.count;
    vxs_status status = vxs_block_cache_fetch(&a->cache, group, &place, err);
    if (!status)
        status = reserve(a, err);
    if (status)
        return status;
    memset(weights_of(a, place), 0, (size_t)width_of(a, place) * sizeof(*a->weight));
    if (place == before)
        a->step[place] = bound_step(a, place);
    a->place[a->count++] = place;
    return VXS_OK;
}

/* ---- Values ---------------------------------------------------------------------------------- */

/* z = Xw of the set. */
static void predict(const vxs_group_set *a, const double *weight, double *z)
{
    int n = (int)a->n;
    memset(z, 0, a->n * sizeof(*z));
    for (size_t k = 0; k < a->count; k++)
        cblas_dgemv(CblasColMajor, CblasNoTrans, n, width_of(a, a->place[k]), 1,
                    columns_of(a, a->place[k]), n, weight + a->cache.start[a->place[k]], 1, 1, z,
                    1);
}

static double penalty(const vxs_group_set *a, const double *weight)
{
    double sum = 0;
    for (size_t k = 0; k < a->count; k++)
        sum += cblas_dnrm2(width_of(a, a->place[k]), weight + a->cache.start[a->place[k]], 1);
    return sum;
}

/* The gradient exactly orthogonal to the covariates, and in the dual's domain: rounding may have
 * carried it out, by a share of the way to the empty model's. */
static void find_dual_gradient(vxs_group_set *a)
{
    memcpy(a->dual_gradient, a->gradient, a->n * sizeof(*a->gradient));
    vxs_covariates_fit_factor(&a->covariates, a->curvature);
    vxs_covariates_fit_balance(&a->covariates, a->curvature, a->dual_gradient);
    double share = a->inside ? vxs_loss_outside(&a->problem->loss, a->dual_gradient, a->inside) : 0;
    for (size_t i = 0; i < a->n && share > 0; i++)
        a->dual_gradient[i] += share * (a->inside[i] - a->dual_gradient[i]);
}

void vxs_group_set_evaluate(vxs_group_set *a)
{
    predict(a, a->weight, a->z);
    (void)vxs_covariates_fit_solve(&a->covariates, a->z, a->prediction);
    vxs_loss_gradient(&a->problem->loss, a->prediction, a->gradient);
    vxs_loss_curvature(&a->problem->loss, a->prediction, a->curvature);
    find_dual_gradient(a);
}

void vxs_group_set_certify(const vxs_group_set *a, double lambda, double largest,
                           vxs_group_state *state)
{
    const vxs_loss *loss = &a->problem->loss;
    state->largest = largest;
    state->scale = vxs_dual_scale(&a->problem->loss, a->dual_gradient, -1, 0, 0,
                                  largest > 0 ? lambda / largest : INFINITY);
    for (size_t i = 0; i < a->n; i++)
        a->moved[i] = state->scale * a->dual_gradient[i];
    state->dual = -vxs_loss_conjugate(loss, a->moved);
    state->primal = vxs_loss_value(loss, a->prediction) + lambda * penalty(a, a->weight);
    state->gap = state->primal - state->dual;
}

/* Values on the set; sizes of its groups. */
static void evaluate_set(vxs_group_set *a, double lambda, vxs_group_state *state)
{
    int n = (int)a->n;
    double largest = 0;
    vxs_group_set_evaluate(a);
    for (size_t k = 0; k < a->count; k++) {
        size_t place = a->place[k];
        double *along = a->trial + a->cache.start[place];
        cblas_dgemv(CblasColMajor, CblasTrans, n, width_of(a, place), 1, columns_of(a, place), n,
                    a->dual_gradient, 1, 0, along, 1);
        a->size[place] = cblas_dnrm2(width_of(a, place), along, 1);
        largest = fmax(largest, a->size[place]);
    }
    vxs_group_set_certify(a, lambda, largest, state);
}

/* ---- Block descent --------------------------------------------------------------------------- */

/* One group to the minimum of its quadratic bound; predictions and gradient follow. */
static void descend_group(vxs_group_set *a, size_t place, double lambda)
{
    int n = (int)a->n, width = width_of(a, place);
    double *w = weights_of(a, place), *to = a->trial + a->cache.start[place];
    double bound = a->step[place];
    if (!(bound > 0))
        return;
    cblas_dgemv(CblasColMajor, CblasTrans, n, width, -1 / bound, columns_of(a, place), n,
                a->gradient, 1, 0, to, 1);
    cblas_daxpy(width, 1, w, 1, to, 1);
    double size = cblas_dnrm2(width, to, 1), shrink = fmax(0, 1 - lambda / (bound * size));
    bool same = true;
    for (int k = 0; k < width; k++) {
        double next = size > 0 ? shrink * to[k] : 0;
        to[k] = next - w[k];
        same = same && to[k] == 0;
        w[k] = next;
    }
    if (same)
        return;
    cblas_dgemv(CblasColMajor, CblasNoTrans, n, width, 1, columns_of(a, place), n, to, 1, 1,
                a->prediction, 1);
    vxs_loss_gradient(&a->problem->loss, a->prediction, a->gradient);
}

/* Rounds over the set; covariates follow after each. */
static void descend(vxs_group_set *a, double lambda, int rounds)
{
    for (int round = 0; round < rounds; round++) {
        for (size_t k = 0; k < a->count; k++)
            descend_group(a, a->place[k], lambda);
        predict(a, a->weight, a->z);
        (void)vxs_covariates_fit_solve(&a->covariates, a->z, a->prediction);
        vxs_loss_gradient(&a->problem->loss, a->prediction, a->gradient);
    }
}

/* ---- Newton ---------------------------------------------------------------------------------- */

/* Along the segment from the weights to `trial` until the value falls; false when it no longer
 * does. */
static bool go_towards(vxs_group_set *a, double lambda, double primal)
{
    double share = 1;
    for (int k = 0; k < HALVINGS; k++, share /= 2) {
        predict(a, a->trial, a->moved);
        double loss = vxs_covariates_fit_solve(&a->covariates, a->moved, a->prediction);
        if (loss + lambda * penalty(a, a->trial) < primal) {
            for (size_t c = 0; c < a->count; c++)
                memcpy(weights_of(a, a->place[c]), a->trial + a->cache.start[a->place[c]],
                       (size_t)width_of(a, a->place[c]) * sizeof(*a->weight));
            return true;
        }
        for (size_t c = 0; c < a->count; c++) {
            double *to = a->trial + a->cache.start[a->place[c]];
            const double *from = weights_of(a, a->place[c]);
            for (int m = 0; m < width_of(a, a->place[c]); m++)
                to[m] = (to[m] + from[m]) / 2;
        }
    }
    return false;
}

/* A step of the groups that have a weight or exceed lambda. */
static vxs_status newton_step(vxs_group_set *a, double lambda, double target,
                              const vxs_group_state *state, bool *moved, vxs_error *err)
{
    bool exact = a->problem->loss.kind->squared;
    const double **x = vxs_alloc(a->count, sizeof(*x), err);
    size_t *chosen = vxs_alloc(2 * a->count + 1, sizeof(*chosen), err), *start;
    double *weight = vxs_alloc(vxs_block_cache_columns(&a->cache), sizeof(*weight), err);
    vxs_status status = x && chosen && weight ? VXS_OK : VXS_FAILED;
    size_t count = 0;
    start = chosen + a->count;
    for (size_t k = 0; k < a->count && !status; k++) {
        size_t place = a->place[k], width = (size_t)width_of(a, place);
        if (!(a->size[place] > lambda || vxs_group_set_has_weight(a, place)))
            continue;
        memcpy(weight + start[count], weights_of(a, place), width * sizeof(*weight));
        x[count] = columns_of(a, place);
        chosen[count++] = place;
        start[count] = start[count - 1] + width;
    }
    vxs_group_model model = { .n = a->n,
                              .q = a->problem->covariate_count,
                              .count = count,
                              .covariates = a->problem->covariates,
                              .x = x,
                              .start = start,
                              .place = chosen,
                              .z = a->z,
                              .loss_gradient = a->gradient,
                              .curvature = a->curvature,
                              .lambda = lambda,
                              .target =
                                  exact ? target / 2 : fmax(target / 2, MODEL_SHARE * state->gap),
                              .context = a->context };
    if (!status && count > 0)
        status = vxs_group_newton_solve(&a->newton, &model, weight, &a->steps, err);
    for (size_t k = 0; k < a->count && !status; k++)
        memcpy(a->trial + a->cache.start[a->place[k]], weights_of(a, a->place[k]),
               (size_t)width_of(a, a->place[k]) * sizeof(*weight));
    for (size_t k = 0; k < count && !status; k++)
        memcpy(a->trial + a->cache.start[chosen[k]], weight + start[k],
               (start[k + 1] - start[k]) * sizeof(*weight));
    *moved = !status && count > 0 && go_towards(a, lambda, state->primal);
    free(x);
    free(chosen);
    free(weight);
    return status;
}

/* ---- The minimum ----------------------------------------------------------------------------- */

vxs_status vxs_group_set_solve(vxs_group_set *a, double lambda, double target,
                               vxs_group_state *state, vxs_error *err)
{
    vxs_status status = VXS_OK;
    double before = INFINITY;
    int flat = 0;
    for (int round = 0; !status; round++) {
        bool moved = false;
        evaluate_set(a, lambda, state);
        flat = state->primal < before * (1 - FLAT) ? 0 : flat + 1;
        before = state->primal;
        if (state->gap <= target || flat > MOST_FLAT || round == MOST_ROUNDS || a->count == 0)
            break;
        if (round % 2 == 0)
            descend(a, lambda, SWEEPS);
        else
            status = newton_step(a, lambda, target, state, &moved, err);
        if (!status)
            status = vxs_check_interrupted(a->context, err);
        a->steps++;
    }
    return status;
}
