/* l1_quadratic.c - exact active-set method for a quadratic with an l1 penalty.
 *
 * Problem   min over z: z'Hz / 2 - c'z + lambda sum over j >= q of |z_j|
 * Optimal   c - Hz = lambda sign(z) on the support, at most lambda elsewhere
 * Method    With the signs of the support fixed the minimizer solves a linear system, by a Cholesky
 *           factor that is updated. A step ends where a variable reaches 0, which leaves; else
 *           variables whose gradient exceeds lambda enter. For a variable that is linearly
 *           dependent on the support, a step along the null direction lowers the penalty until one
 *           of the support is 0
 * Stops     optimal, or the value decreases by rounding only
 * Cost      a step: m^2, m the support
 * Threads   those of BLAS
 * Source    Osborne et al. 2000; Lawson and Hanson 1974 */
#include "solver/saif/l1_quadratic.h"

#include <cblas.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#define NOWHERE   SIZE_MAX
#define DEPENDENT 1e-11 /* pivot, relative to the diagonal: linearly dependent */
#define ROUNDING  1e-14 /* of the penalty: a smaller decrease is rounding */

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

static vxs_status allocate(vxs_l1_quadratic *q, vxs_error *err)
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

/* ---- The Cholesky factor --------------------------------------------------------------------- */

static const double *column(const vxs_l1_quadratic *q, size_t j)
{
    return q->h + j * q->stride;
}

/* along = row of the factor for j; false if j is linearly dependent on the support. */
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

/* Removes the row of j; Givens rotations restore the triangle. */
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

/* ---- Steps ----------------------------------------------------------------------------------- */

/* Updates z and c - Hz after a step of the support. */
static void move(vxs_l1_quadratic *q, const double *step, double share)
{
    for (size_t k = 0; k < q->count; k++) {
        size_t j = q->support[k];
        q->z[j] += share * step[k];
        cblas_daxpy((int)q->m, -share * step[k], column(q, j), 1, q->left, 1);
    }
}

/* The largest share of the step, at most `share`, before a variable reaches 0; `blocking` is
 * that one. */
static double first_zero(const vxs_l1_quadratic *q, const double *step, double share,
                         size_t *blocking)
{
    *blocking = NOWHERE;
    for (size_t k = 0; k < q->count; k++) {
        size_t j = q->support[k];
        double z = q->z[j];
        if (j < q->q || z == 0 || z * step[k] >= 0)
            continue;
        double until = -z / step[k];
        if (until <= share) {
            share = until;
            *blocking = j;
        }
    }
    return share;
}

/* Removes variables that entered with the wrong sign. */
static size_t remove_wrong_signs(vxs_l1_quadratic *q)
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

/* Minimizes on the support at fixed signs. */
static void refine(vxs_l1_quadratic *q, uint64_t *steps)
{
    size_t blocking = NOWHERE;
    do {
        for (size_t k = 0; k < q->count; k++) {
            size_t j = q->support[k];
            q->step[k] = q->left[j] - (j < q->q ? 0 : q->lambda * q->sign[j]);
        }
        cblas_dtrsv(CblasColMajor, CblasLower, CblasNoTrans, CblasNonUnit, (int)q->count, q->factor,
                    (int)q->room, q->step, 1);
        double reach = cblas_ddot((int)q->count, q->step, 1, q->step, 1); /* derivative along
                                                                           * the step */
        solve_transposed(q, q->step);
        ++*steps;
        blocking = NOWHERE;
        if (remove_wrong_signs(q) > 0) {
            blocking = q->q; /* again, without them */
            continue;
        }
        double share = first_zero(q, q->step, 1, &blocking);
        move(q, q->step, share);
        q->fall += share * (1 - share / 2) * reach;
        if (blocking != NOWHERE) {
            q->z[blocking] = 0;
            leave(q, blocking);
        }
    } while (blocking != NOWHERE && !vxs_check_interrupted(q->context, NULL));
}

static double excess(const vxs_l1_quadratic *q, size_t j)
{
    return (q->nonnegative ? q->left[j] : fabs(q->left[j])) - q->lambda;
}

/* j is linearly dependent on the support: steps along the null direction until a variable is 0.
 * False if the value does not decrease. */
static bool move_along_null_direction(vxs_l1_quadratic *q, size_t j)
{
    size_t blocking = NOWHERE;
    while (!enter(q, j)) {
        memcpy(q->step, q->along, q->count * sizeof(*q->step));
        solve_transposed(q, q->step);
        double direction = q->sign[j];
        for (size_t k = 0; k < q->count; k++)
            q->step[k] *= -direction;
        double share = first_zero(q, q->step, INFINITY, &blocking);
        if (blocking == NOWHERE || share == INFINITY)
            return false;
        q->fall += share * excess(q, j);
        move(q, q->step, share);
        q->z[j] += share * direction;
        cblas_daxpy((int)q->m, -share * direction, column(q, j), 1, q->left, 1);
        q->z[blocking] = 0;
        leave(q, blocking);
    }
    return true;
}

/* ---- The method ------------------------------------------------------------------------------ */

/* Adds the variables that violate lambda most, at most `most`; returns their number. */
static size_t add_violators(vxs_l1_quadratic *q, size_t most)
{
    size_t entered = 0;
    double below = INFINITY; /* candidates in decreasing order */
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
        else if (entered == 0 && move_along_null_direction(q, best))
            return 1;
    }
    return entered;
}

/* The support of the initial z; dependent variables give up their weight. */
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
    vxs_status status = allocate(q, err);
    if (status || q->m == 0)
        return status;
    uint64_t limit = *steps + 20 * (uint64_t)q->m + 100;
    bool stalled = false;
    begin(q);
    refine(q, steps);
    while (*steps < limit && !status) {
        size_t before = q->count, most = stalled ? 1 : before / 8 + 1;
        double fallen = q->fall;
        if (add_violators(q, most) == 0)
            break;
        refine(q, steps);
        bool falls = q->count > before || q->fall - fallen > ROUNDING * penalty(q);
        if (stalled && !falls) /* rounding */
            break;
        stalled = !falls;
        status = vxs_check_interrupted(q->context, err);
    }
    return status;
}
