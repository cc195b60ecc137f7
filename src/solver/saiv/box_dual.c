/* box_dual.c - the quadratic over a box: steps of two variables, and exact steps of all free ones.
 *
 * Method    the pair with the largest guaranteed gain (second order); after every few of them the
 *           optimum over all variables inside the box, by a pivoted Cholesky factor, or as far
 *           towards it as the box allows; both raise the dual value, so that neither can cycle
 * Stops     the gap of the set is small enough, or no step gains anything
 * Cost      of a pair: two columns of the set's kernel; of an exact step: free variables cubed / 3
 * Source    Fan, Chen and Lin 2005 (pairs); the exact steps are those of an active-set method */
#include "solver/saiv/box_dual.h"
#include "linalg/lapack.h"

#include <cblas.h>
#include <float.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#define CURVATURE  1e-12 /* of the largest kernel value: least curvature of a step */
#define DEPENDENT  1e-11 /* pivot, of the largest: a sample that others determine */
#define CHEAP      100   /* free variables of an exact step after every few pairs */
#define MOST_FREE  6000  /* variables of an exact step */
#define MOST_FACES 3     /* faces of the box that an exact step follows */
#define PATIENCE   4     /* checks without a smaller gap */

/* ---- The intercept --------------------------------------------------------------------------- */

static int by_value(const void *a, const void *b)
{
    double x = ((const vxs_threshold *)a)->value, y = ((const vxs_threshold *)b)->value;
    return (x > y) - (x < y);
}

/* sum c [sign (v - b)]_+ is least where the slope, which grows with b by c at each v, passes 0. */
static double best_intercept(vxs_threshold *v, size_t count)
{
    double slope = 0, whole = 0;
    size_t k = 0;
    qsort(v, count, sizeof(*v), by_value);
    for (size_t i = 0; i < count; i++) {
        slope -= v[i].sign > 0 ? v[i].weight : 0;
        whole += v[i].weight;
    }
    if (count == 0)
        return 0;
    while (k < count && slope + v[k].weight < -1e-13 * whole)
        slope += v[k++].weight;
    if (k == count)
        return v[count - 1].value;
    bool flat = k + 1 < count && fabs(slope + v[k].weight) <= 1e-13 * whole;
    return flat ? (v[k].value + v[k + 1].value) / 2 : v[k].value;
}

static double threshold_of(const vxs_box *x, size_t k)
{
    return x->sign[k] * x->q[k] - x->f[x->row[k]];
}

static double find_intercept(const vxs_box *x, const size_t *set, size_t count, vxs_threshold *v)
{
    size_t used = 0;
    for (size_t k = 0; k < count && x->intercept; k++) {
        size_t at = set ? set[k] : k;
        if (x->c[at] > 0)
            v[used++] = (vxs_threshold){ threshold_of(x, at), x->c[at], x->sign[at] > 0 ? 1 : -1 };
    }
    return best_intercept(v, used);
}

vxs_box_state vxs_box_evaluate(const vxs_box *x, const size_t *set, size_t count, vxs_threshold *v)
{
    vxs_box_state s = { .b = find_intercept(x, set, count, v) };
    double square = 0, linear = 0, loss = 0;
    for (size_t k = 0; k < count; k++) {
        size_t at = set ? set[k] : k;
        square += x->sign[at] * x->t[at] * x->f[x->row[at]];
        linear += x->q[at] * x->t[at];
        loss += x->c[at] * fmax(0, x->sign[at] * (threshold_of(x, at) - s.b));
    }
    s.primal = square / 2 + loss;
    s.dual = linear - square / 2;
    return s;
}

/* ---- The set, gathered ----------------------------------------------------------------------- */

void vxs_box_work_release(vxs_box_work *w)
{
    void *const all[] = { w->row, w->own, w->member, w->sign,  w->q,     w->c,         w->t,
                          w->f,   w->k,   w->matrix, w->right, w->pivot, w->thresholds };
    for (size_t k = 0; k < sizeof(all) / sizeof(all[0]); k++)
        free(all[k]);
    *w = (vxs_box_work){ .capacity = 0 };
}

static vxs_status reserve_set(vxs_box_work *w, size_t count, vxs_error *err)
{
    if (count <= w->capacity)
        return VXS_OK;
    vxs_box_work_release(w);
    w->row = vxs_alloc(count, sizeof(*w->row), err);
    w->own = vxs_alloc(count, sizeof(*w->own), err);
    w->member = vxs_alloc(count, sizeof(*w->member), err);
    w->sign = vxs_alloc(count, sizeof(*w->sign), err);
    w->q = vxs_alloc(count, sizeof(*w->q), err);
    w->c = vxs_alloc(count, sizeof(*w->c), err);
    w->t = vxs_alloc(count, sizeof(*w->t), err);
    w->f = vxs_alloc(count, sizeof(*w->f), err);
    w->pivot = vxs_alloc(count, sizeof(*w->pivot), err);
    w->right = vxs_alloc(4 * count, sizeof(*w->right), err);
    w->thresholds = vxs_alloc(count, sizeof(*w->thresholds), err);
    w->capacity = count;
    return w->row && w->own && w->member && w->sign && w->q && w->c && w->t && w->f && w->pivot &&
                   w->right && w->thresholds
               ? VXS_OK
               : VXS_FAILED;
}

static vxs_status reserve_matrix(vxs_box_work *w, size_t inside, vxs_error *err)
{
    if (inside <= w->inside_capacity)
        return VXS_OK;
    free(w->matrix);
    w->inside_capacity = 0;
    w->matrix =
        vxs_alloc(inside + inside / 4, vxs_times(inside + inside / 4, sizeof(*w->matrix)), err);
    if (w->matrix)
        w->inside_capacity = inside + inside / 4;
    return w->matrix ? VXS_OK : VXS_FAILED;
}

/* The problem of a set: its samples are numbered, and their kernel stands together unless they are
 * all. */
typedef struct {
    const vxs_box *whole;
    vxs_box_work *work;
    size_t count, samples;
    const double *k; /* samples x samples, `stride` apart */
    size_t stride;
    double reach; /* largest kernel value of a sample with itself */
    vxs_box box;  /* of the set, for values */
} part;

static vxs_status gather_kernel(part *p, vxs_error *err)
{
    vxs_box_work *w = p->work;
    const vxs_box *x = p->whole;
    p->k = x->k;
    p->stride = x->n;
    if (p->samples == x->n)
        return VXS_OK;
    free(w->k);
    w->k = vxs_alloc(p->samples, vxs_times(p->samples, sizeof(*w->k)), err);
    for (size_t b = 0; b < p->samples && w->k; b++)
        for (size_t a = 0; a < p->samples; a++)
            w->k[b * p->samples + a] = x->k[w->own[b] * x->n + w->own[a]];
    p->k = w->k;
    p->stride = p->samples;
    return w->k ? VXS_OK : VXS_FAILED;
}

/* Variables of a sample stand next to each other in the set. */
static vxs_status gather(part *p, const size_t *set, vxs_error *err)
{
    const vxs_box *x = p->whole;
    vxs_box_work *w = p->work;
    vxs_status status = reserve_set(w, p->count, err);
    for (size_t k = 0; k < p->count && !status; k++) {
        size_t at = set ? set[k] : k;
        if (k == 0 || x->row[at] != w->own[p->samples - 1])
            w->own[p->samples++] = x->row[at];
        w->row[k] = p->samples - 1;
        w->sign[k] = x->sign[at];
        w->q[k] = x->q[at];
        w->c[k] = x->c[at];
        w->t[k] = x->t[at];
    }
    for (size_t i = 0; i < p->samples && !status; i++) {
        w->f[i] = x->f[w->own[i]];
        p->reach = fmax(p->reach, x->k[w->own[i] * x->n + w->own[i]]);
    }
    if (!status)
        status = gather_kernel(p, err);
    p->box = (vxs_box){ .context = x->context,
                        .n = p->samples,
                        .count = p->count,
                        .intercept = x->intercept,
                        .row = w->row,
                        .sign = w->sign,
                        .q = w->q,
                        .c = w->c,
                        .t = w->t,
                        .f = w->f };
    return status;
}

/* What the set's weights have changed goes into the values of all samples. */
static void hand_back(part *p, vxs_box *x, const size_t *set)
{
    vxs_box_work *w = p->work;
    double *change = w->right;
    memset(change, 0, p->samples * sizeof(*change));
    for (size_t k = 0; k < p->count; k++) {
        size_t at = set ? set[k] : k;
        change[w->row[k]] += w->sign[k] * (w->t[k] - x->t[at]);
        x->t[at] = w->t[k];
    }
    for (size_t i = 0; i < p->samples && p->samples < x->n; i++)
        if (change[i] != 0)
            cblas_daxpy((int)x->n, change[i], x->k + w->own[i] * x->n, 1, x->f, 1);
    if (p->samples == x->n)
        memcpy(x->f, w->f, x->n * sizeof(*x->f));
}

/* ---- Pairs ----------------------------------------------------------------------------------- */

static double value_of(const part *p, size_t k)
{
    const vxs_box_work *w = p->work;
    return w->sign[k] * w->q[k] - w->f[w->row[k]];
}

/* Whether the weight of the variable's sample may rise, or fall. */
static bool may_rise(const vxs_box_work *w, size_t k)
{
    return w->sign[k] > 0 ? w->t[k] < w->c[k] : w->t[k] > 0;
}

static bool may_fall(const vxs_box_work *w, size_t k)
{
    return w->sign[k] > 0 ? w->t[k] > 0 : w->t[k] < w->c[k];
}

/* How far the weight may move in a direction. */
static double room(const vxs_box_work *w, size_t k, double direction)
{
    return w->sign[k] * direction > 0 ? w->c[k] - w->t[k] : w->t[k];
}

/* The weight moves by `step`; a variable that meets a bound is exactly there. */
static void move(part *p, size_t k, double step)
{
    vxs_box_work *w = p->work;
    double left = room(w, k, step), size = fabs(step);
    if (size >= left * (1 - 4 * DBL_EPSILON))
        w->t[k] = w->sign[k] * step > 0 ? w->c[k] : 0;
    else
        w->t[k] += w->sign[k] * step;
}

static const double *column(const part *p, size_t k)
{
    return p->k + p->work->row[k] * p->stride;
}

/* The variable that may rise with the largest value; the one that may fall with which it gains
 * most. False at the optimum. */
static bool choose_pair(const part *p, size_t *up, size_t *down)
{
    const vxs_box_work *w = p->work;
    double most = -INFINITY, best = -1;
    *up = *down = SIZE_MAX;
    for (size_t k = 0; k < p->count; k++)
        if (may_rise(w, k) && value_of(p, k) > most) {
            most = value_of(p, k);
            *up = k;
        }
    if (*up == SIZE_MAX)
        return false;
    const double *own = column(p, *up), floor = CURVATURE * p->reach;
    double diagonal = own[w->row[*up]];
    for (size_t k = 0; k < p->count; k++) {
        double v = value_of(p, k), difference = most - v;
        if (!may_fall(w, k))
            continue;
        double curvature = diagonal + p->k[w->row[k] * p->stride + w->row[k]] - 2 * own[w->row[k]];
        double gain = difference * difference / fmax(curvature, floor);
        if (difference > 0 && gain > best) {
            best = gain;
            *down = k;
        }
    }
    return *down != SIZE_MAX;
}

static void add_column(part *p, size_t k, double step)
{
    double *f = p->work->f;
    const double *from = column(p, k);
    for (size_t i = 0; i < p->samples; i++)
        f[i] += step * from[i];
}

/* Returns false if nothing can be gained. */
static bool step_pair(part *p)
{
    vxs_box_work *w = p->work;
    size_t up, down;
    if (!choose_pair(p, &up, &down))
        return false;
    double curvature =
        column(p, up)[w->row[up]] + column(p, down)[w->row[down]] - 2 * column(p, up)[w->row[down]];
    double step = (value_of(p, up) - value_of(p, down)) / fmax(curvature, CURVATURE * p->reach);
    step = fmin(step, fmin(room(w, up, 1), room(w, down, -1)));
    if (!(step > 0))
        return false;
    move(p, up, step);
    move(p, down, -step);
    add_column(p, up, step);
    add_column(p, down, -step);
    return true;
}

/* Without an intercept: one variable. */
static bool step_single(part *p)
{
    vxs_box_work *w = p->work;
    size_t best = SIZE_MAX;
    double most = 0, chosen = 0;
    for (size_t k = 0; k < p->count; k++) {
        double v = value_of(p, k), own = column(p, k)[w->row[k]];
        bool can = v > 0 ? may_rise(w, k) : may_fall(w, k);
        double step = v / fmax(own, CURVATURE * p->reach), left = can ? room(w, k, v) : 0;
        step = fabs(step) > left ? copysign(left, v) : step;
        double gain = v * step - own * step * step / 2;
        if (can && gain > most) {
            most = gain;
            best = k;
            chosen = step;
        }
    }
    if (best == SIZE_MAX)
        return false;
    move(p, best, chosen);
    add_column(p, best, chosen);
    return true;
}

/* ---- Exact steps ----------------------------------------------------------------------------- */

/* Variables inside the box, one a sample. */
static size_t list_free(part *p)
{
    vxs_box_work *w = p->work;
    size_t count = 0;
    for (size_t k = 0; k < p->count; k++) {
        bool inside = w->t[k] > 0 && w->t[k] < w->c[k];
        bool again = count > 0 && w->row[w->member[count - 1]] == w->row[k];
        if (inside && !again)
            w->member[count++] = k;
    }
    return count;
}

/* Leading block of a pivoted Cholesky factor of K (+ a constant, with an intercept) of the free
 * samples; the rest depends on it. */
static int factorize(part *p, size_t m)
{
    vxs_box_work *w = p->work;
    double largest = 0, constant = p->whole->intercept ? p->reach : 0;
    int rank = 0, info = 0, size = (int)m;
    for (size_t b = 0; b < m; b++)
        for (size_t a = b; a < m; a++)
            w->matrix[b * m + a] =
                p->k[w->row[w->member[b]] * p->stride + w->row[w->member[a]]] + constant;
    for (size_t a = 0; a < m; a++)
        largest = fmax(largest, w->matrix[a * m + a]);
    double tolerance = DEPENDENT * largest;
    dpstrf_("L", &size, w->matrix, &size, w->pivot, &rank, &tolerance, w->right + 2 * w->capacity,
            &info);
    return info < 0 ? 0 : rank;
}

static void solve_factor(const part *p, size_t m, int rank, double *x)
{
    cblas_dtrsv(CblasColMajor, CblasLower, CblasNoTrans, CblasNonUnit, rank, p->work->matrix,
                (int)m, x, 1);
    cblas_dtrsv(CblasColMajor, CblasLower, CblasTrans, CblasNonUnit, rank, p->work->matrix, (int)m,
                x, 1);
}

/* Changes of weights that make all values of the free samples equal (0 without intercept). */
static int find_direction(part *p, size_t m, double *direction)
{
    vxs_box_work *w = p->work;
    double *ones = direction + p->count, sum = 0, whole = 0;
    int rank = factorize(p, m);
    for (int r = 0; r < rank; r++) {
        direction[r] = value_of(p, w->member[w->pivot[r] - 1]);
        ones[r] = 1;
    }
    solve_factor(p, m, rank, direction);
    if (!p->whole->intercept)
        return rank;
    solve_factor(p, m, rank, ones);
    for (int r = 0; r < rank; r++) {
        sum += direction[r];
        whole += ones[r];
    }
    for (int r = 0; r < rank; r++)
        direction[r] -= whole != 0 ? ones[r] * sum / whole : 0;
    return rank;
}

/* Moves towards the optimum of the face; returns the share of the way that the box allows. */
static double follow(part *p, const double *direction, int rank)
{
    vxs_box_work *w = p->work;
    double share = 1;
    for (int r = 0; r < rank; r++) {
        size_t k = w->member[w->pivot[r] - 1];
        double left = room(w, k, direction[r]);
        if (fabs(direction[r]) * share > left)
            share = left / fabs(direction[r]);
    }
    for (int r = 0; r < rank; r++) {
        size_t k = w->member[w->pivot[r] - 1];
        if (direction[r] == 0)
            continue;
        move(p, k, share * direction[r]);
        add_column(p, k, share * direction[r]);
    }
    return share;
}

static vxs_status step_exactly(part *p, vxs_error *err)
{
    for (int face = 0; face < MOST_FACES; face++) {
        size_t m = list_free(p);
        if (m < 2 || m > MOST_FREE)
            return VXS_OK;
        vxs_status status = reserve_matrix(p->work, m, err);
        if (status)
            return status;
        int rank = find_direction(p, m, p->work->right);
        if (rank == 0 || follow(p, p->work->right, rank) >= 1)
            return VXS_OK;
        status = vxs_check_interrupted(p->whole->context, err);
        if (status)
            return status;
    }
    return VXS_OK;
}

/* ---- All together ---------------------------------------------------------------------------- */

/* An exact step when it costs no more than the pairs since the last one, and where it is cheap. */
static bool is_due(const part *p, size_t pairs)
{
    double m = 0;
    for (size_t k = 0; k < p->count; k++)
        m += p->work->t[k] > 0 && p->work->t[k] < p->work->c[k];
    return m <= CHEAP || (m <= MOST_FREE && m * m * m <= 30 * (double)p->count * (double)pairs);
}

static bool take_pairs(part *p, size_t count)
{
    bool gains = true;
    for (size_t k = 0; k < count && gains; k++)
        gains = p->whole->intercept ? step_pair(p) : step_single(p);
    return gains;
}

static vxs_status solve(part *p, double gap, double *b, vxs_error *err)
{
    double least = INFINITY;
    bool gains = true;
    int patience = PATIENCE;
    size_t each = p->count / 4 > 32 ? p->count / 4 : 32, pairs = 0;
    for (;;) {
        bool due = is_due(p, pairs) || !gains;
        vxs_status status = due ? step_exactly(p, err) : VXS_OK;
        vxs_box_state state = vxs_box_evaluate(&p->box, NULL, p->count, p->work->thresholds);
        double now = state.primal - state.dual;
        *b = state.b;
        if (!status)
            status = vxs_check_interrupted(p->whole->context, err);
        patience = now < least ? PATIENCE : patience - due;
        least = fmin(least, now);
        if (status || !(now > gap) || !gains || patience == 0)
            return status;
        gains = take_pairs(p, each);
        pairs = due ? each : pairs + each;
    }
}

vxs_status vxs_box_solve(vxs_box *box, const size_t *set, size_t count, double gap,
                         vxs_box_work *work, double *b, vxs_error *err)
{
    part p = { .whole = box, .work = work, .count = count };
    vxs_status status = gather(&p, set, err);
    if (!status)
        status = solve(&p, gap, b, err);
    if (!status)
        hand_back(&p, box, set);
    return status;
}
