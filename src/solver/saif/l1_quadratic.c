/* l1_quadratic.c - exact active-set steps for a quadratic with an l1 penalty.
 *
 * With the signs of the support fixed the least value is the answer of a linear system. The step
 * towards it ends where a variable reaches 0: that one leaves. When nothing is in the way, those
 * whose slope is steeper than lambda enter. A variable that depends on the support has no place in
 * the factor; along its null direction the quadratic does not change and the penalty falls, until
 * one of the support reaches 0 and makes room. */
#include "solver/saif/l1_quadratic.h"

#include <cblas.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#define NOWHERE   SIZE_MAX
#define DEPENDENT 1e-11 /* pivot, as a share of the diagonal */
#define ROUNDING  1e-14 /* of the penalty; a value that falls by less does not fall */

/* ---- Memory ---------------------------------------------------------------------------------- */

void vxs_l1_quadratic_release(vxs_l1_quadratic *q)
{
    free(q->factor);
    free(q->left);
    free(q->step);
    free(q->sign);
    free(q->along);
    free(q->support);
    free(q->place);
    q->factor = q->left = q->step = q->sign = q->along = NULL;
    q->support = q->place = NULL;
    q->room = 0;
}

static vxs_status make_room(vxs_l1_quadratic *q, vxs_error *err)
{
    size_t room = q->m + q->m / 8 + 16;
    if (q->m <= q->room)
        return VXS_OK;
    vxs_l1_quadratic_release(q);
    q->factor = vxs_resize(NULL, room * room, sizeof(double), err);
    q->left = vxs_alloc(room, sizeof(double), err);
    q->step = vxs_alloc(room, sizeof(double), err);
    q->sign = vxs_alloc(room, sizeof(double), err);
    q->along = vxs_alloc(room, sizeof(double), err);
    q->support = vxs_alloc(room, sizeof(size_t), err);
    q->place = vxs_alloc(room, sizeof(size_t), err);
    if (!q->factor || !q->left || !q->step || !q->sign || !q->along || !q->support || !q->place) {
        vxs_l1_quadratic_release(q);
        return VXS_FAILED;
    }
    q->room = room;
    return VXS_OK;
}

/* ---- The factor ------------------------------------------------------------------------------ */

static const double *column(const vxs_l1_quadratic *q, size_t j)
{
    return q->h + j * q->stride;
}

/* along = (row of the factor for j); false when j depends on the support. */
static bool factor_row(vxs_l1_quadratic *q, size_t j, double *pivot)
{
    const double *h = column(q, j);
    int s = (int)q->count;
    for (size_t k = 0; k < q->count; k++)
        q->along[k] = h[q->support[k]];
    cblas_dtrsv(CblasColMajor, CblasLower, CblasNoTrans, CblasNonUnit, s, q->factor, (int)q->room,
                q->along, 1);
    double square = h[j] - cblas_ddot(s, q->along, 1, q->along, 1);
    *pivot = sqrt(square > 0 ? square : 0);
    return square > DEPENDENT * h[j];
}

static bool enter(vxs_l1_quadratic *q, size_t j)
{
    double pivot;
    if (!factor_row(q, j, &pivot))
        return false;
    for (size_t k = 0; k < q->count; k++)
        q->factor[q->count + k * q->room] = q->along[k];
    q->factor[q->count + q->count * q->room] = pivot;
    q->support[q->count] = j;
    q->place[j] = q->count++;
    return true;
}

/* The row of j goes; rotations of neighbouring columns make the rest a triangle again. */
static void leave(vxs_l1_quadratic *q, size_t j)
{
    size_t k = q->place[j], ld = q->room, s = q->count;
    for (size_t c = 0; c < k; c++) {
        double *l = q->factor + c * ld;
        memmove(l + k, l + k + 1, (s - 1 - k) * sizeof(*l));
    }
    for (size_t c = k; c + 1 < s; c++) {
        double *l = q->factor + (c + 1) + c * ld, *next = l + ld;
        double size = hypot(l[0], next[0]);
        cblas_drot((int)(s - 1 - c), l, 1, next, 1, l[0] / size, next[0] / size);
        memmove(l - 1, l, (s - 1 - c) * sizeof(*l));
    }
    for (size_t c = k; c + 1 < s; c++) {
        q->support[c] = q->support[c + 1];
        q->place[q->support[c]] = c;
    }
    q->count--;
    q->place[j] = NOWHERE;
}

static void solve_transposed(const vxs_l1_quadratic *q, double *x)
{
    cblas_dtrsv(CblasColMajor, CblasLower, CblasTrans, CblasNonUnit, (int)q->count, q->factor,
                (int)q->room, x, 1);
}

/* ---- Moves ----------------------------------------------------------------------------------- */

/* z and what is left of c follow a step of the support. */
static void move(vxs_l1_quadratic *q, const double *step, double share)
{
    for (size_t k = 0; k < q->count; k++) {
        size_t j = q->support[k];
        q->z[j] += share * step[k];
        cblas_daxpy((int)q->m, -share * step[k], column(q, j), 1, q->left, 1);
    }
}

/* How far the support can go along step until a variable reaches 0, at most `share`; which one. */
static double first_zero(const vxs_l1_quadratic *q, const double *step, double share, size_t *who)
{
    *who = NOWHERE;
    for (size_t k = 0; k < q->count; k++) {
        size_t j = q->support[k];
        double z = q->z[j];
        if (j < q->q || z == 0 || z * step[k] >= 0)
            continue;
        double until = -z / step[k];
        if (until <= share) {
            share = until;
            *who = j;
        }
    }
    return share;
}

/* Those that entered with a sign they do not get. */
static size_t send_back(vxs_l1_quadratic *q)
{
    size_t sent = 0;
    for (size_t k = q->count; k-- > 0;) {
        size_t j = q->support[k];
        if (j >= q->q && q->z[j] == 0 && q->step[k] * q->sign[j] <= 0) {
            leave(q, j);
            sent++;
        }
    }
    return sent;
}

/* To the least value with the signs as they are. */
static void settle(vxs_l1_quadratic *q, uint64_t *steps)
{
    size_t who = NOWHERE;
    do {
        for (size_t k = 0; k < q->count; k++) {
            size_t j = q->support[k];
            q->step[k] = q->left[j] - (j < q->q ? 0 : q->lambda * q->sign[j]);
        }
        cblas_dtrsv(CblasColMajor, CblasLower, CblasNoTrans, CblasNonUnit, (int)q->count, q->factor,
                    (int)q->room, q->step, 1);
        double reach = cblas_ddot((int)q->count, q->step, 1, q->step, 1); /* slope along the step */
        solve_transposed(q, q->step);
        ++*steps;
        who = NOWHERE;
        if (send_back(q) > 0) {
            who = q->q; /* once more, without them */
            continue;
        }
        double share = first_zero(q, q->step, 1, &who);
        move(q, q->step, share);
        q->fall += share * (1 - share / 2) * reach;
        if (who != NOWHERE) {
            q->z[who] = 0;
            leave(q, who);
        }
    } while (who != NOWHERE && !vxs_check_interrupted(q->context, NULL));
}

static double excess(const vxs_l1_quadratic *q, size_t j)
{
    return (q->nonnegative ? q->left[j] : fabs(q->left[j])) - q->lambda;
}

/* j depends on the support: goes along the direction that changes nothing but the penalty until
 * somebody makes room. False when there is nothing to gain. */
static bool make_way(vxs_l1_quadratic *q, size_t j)
{
    size_t who = NOWHERE;
    while (!enter(q, j)) {
        memcpy(q->step, q->along, q->count * sizeof(*q->step));
        solve_transposed(q, q->step);
        double direction = q->sign[j];
        for (size_t k = 0; k < q->count; k++)
            q->step[k] *= -direction;
        double share = first_zero(q, q->step, INFINITY, &who);
        if (who == NOWHERE || share == INFINITY)
            return false;
        q->fall += share * excess(q, j);
        move(q, q->step, share);
        q->z[j] += share * direction;
        cblas_daxpy((int)q->m, -share * direction, column(q, j), 1, q->left, 1);
        q->z[who] = 0;
        leave(q, who);
    }
    return true;
}

/* ---- The whole ------------------------------------------------------------------------------- */

/* Lets in those that exceed lambda most, at most `most` of them; how many came in. */
static size_t let_in(vxs_l1_quadratic *q, size_t most)
{
    size_t entered = 0;
    double below = INFINITY; /* candidates come by falling excess */
    while (entered < most && !vxs_check_interrupted(q->context, NULL)) {
        size_t best = NOWHERE;
        double highest = 1e-9 * q->lambda;
        for (size_t j = q->q; j < q->m; j++) {
            double e = q->place[j] == NOWHERE ? excess(q, j) : 0;
            if (e > highest && e < below) {
                highest = e;
                best = j;
            }
        }
        if (best == NOWHERE)
            break;
        below = highest;
        q->sign[best] = q->left[best] > 0 ? 1 : -1;
        if (enter(q, best))
            entered++;
        else if (entered == 0 && make_way(q, best))
            return 1;
    }
    return entered;
}

/* The support of z. What depends on the rest gives its weight up. */
static void begin(vxs_l1_quadratic *q)
{
    q->count = 0;
    q->fall = 0;
    memcpy(q->left, q->slope, q->m * sizeof(*q->left));
    for (size_t j = 0; j < q->m; j++) {
        q->place[j] = NOWHERE;
        q->sign[j] = q->z[j] > 0 ? 1 : -1;
        if ((q->z[j] == 0 && j >= q->q) || vxs_check_interrupted(q->context, NULL) || enter(q, j))
            continue;
        cblas_daxpy((int)q->m, q->z[j], column(q, j), 1, q->left, 1);
        q->z[j] = 0;
    }
}

static double penalty(const vxs_l1_quadratic *q)
{
    return q->lambda * cblas_dasum((int)(q->m - q->q), q->z + q->q, 1);
}

vxs_status vxs_l1_quadratic_solve(vxs_l1_quadratic *q, uint64_t *steps, vxs_error *err)
{
    vxs_status status = make_room(q, err);
    if (status || q->m == 0)
        return status;
    uint64_t limit = *steps + 20 * (uint64_t)q->m + 100;
    bool stuck = false;
    begin(q);
    settle(q, steps);
    while (*steps < limit && !status) {
        size_t before = q->count, most = stuck ? 1 : before / 8 + 1;
        double fallen = q->fall;
        if (let_in(q, most) == 0)
            break;
        settle(q, steps);
        bool falls = q->count > before || q->fall - fallen > ROUNDING * penalty(q);
        if (stuck && !falls) /* what is left is rounding */
            break;
        stuck = !falls;
        status = vxs_check_interrupted(q->context, err);
    }
    return status;
}
