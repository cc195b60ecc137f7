/* box_dual.c - the quadratic over a box: steps of two variables, and steps of all free ones.
 *
 * Method    pairs of variables (dual_pairs.c); after every few of them the optimum over all
 *           variables inside the box, by a pivoted Cholesky factor, or as far towards it as the box
 *           allows; of many variables by conjugate gradients (face.c); all raise the dual value, so
 *           that none can cycle
 * Stops     the gap of the set is small enough, or no step gains anything
 * Cost      of a pair: two columns of the set's kernel; of an exact step: free variables cubed / 3
 * Source    Fan, Chen and Lin 2005 (pairs); the exact steps are those of an active-set method */
#include "solver/saiv/box_dual.h"
#include "linalg/lapack.h"
#include "solver/saiv/dual_pairs.h"
#include "solver/saiv/face.h"

#include <cblas.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#define CURVATURE  1e-12 /* of the largest kernel value: least curvature of a step */
#define DEPENDENT  1e-11 /* pivot, of the largest: a sample that others determine */
#define CHEAP      100   /* free variables of an exact step after every few pairs */
#define MOST_FREE  6000  /* variables of an exact step */
#define MANY       0.25  /* of all: free variables of a step by conjugate gradients */
#define MOST_FACES 3     /* faces of the box that an exact step follows */
#define PATIENCE   4     /* checks without progress: a smaller gap, or */
#define RISES      1e-3  /* of the gap: a rise of the dual value */
#define MANY_TIMES 500   /* checks within which the gap halves, or it never ends */

/* ---- Variables ------------------------------------------------------------------------------- */

void vxs_box_set_variables(vxs_box *x, const vxs_loss *loss)
{
    bool scores = loss->kind->of_scores;
    for (size_t k = 0; k < x->count; k++) {
        size_t i = scores ? k / 2 : k;
        double sign = scores ? (k % 2 ? -1 : 1) : loss->y[i];
        x->row[k] = i;
        x->sign[k] = sign;
        x->q[k] = scores ? sign * loss->y[i] - loss->threshold : 1;
    }
}

bool vxs_box_balance(vxs_box *x)
{
    double sum = 0, most = 0;
    size_t best = SIZE_MAX;
    for (size_t k = 0; k < x->count; k++) {
        double room = fmin(x->t[k], x->c[k] - x->t[k]);
        sum += x->sign[k] * x->t[k];
        if (room > most) {
            most = room;
            best = k;
        }
    }
    if (!x->intercept || sum == 0)
        return true;
    if (best == SIZE_MAX || fabs(sum) >= most)
        return false;
    x->t[best] -= x->sign[best] * sum;
    return true;
}

/* ---- The intercept --------------------------------------------------------------------------- */

static int by_value(const void *a, const void *b)
{
    double x = ((const vxs_threshold *)a)->value, y = ((const vxs_threshold *)b)->value;
    return (x > y) - (x < y);
}

void vxs_thresholds_sort(vxs_threshold *v, size_t count)
{
    qsort(v, count, sizeof(*v), by_value);
}

/* sum c [sign (v - b)]_+ + held b is least where the slope, which grows with b by c at each v,
 * passes 0. */
static double best_intercept(vxs_threshold *v, size_t count, double held)
{
    double slope = held, whole = 0;
    size_t k = 0;
    vxs_thresholds_sort(v, count);
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

static double find_intercept(const vxs_box *x, const size_t *set, size_t count, double held,
                             vxs_threshold *v)
{
    size_t used = 0;
    for (size_t k = 0; k < count && x->intercept; k++) {
        size_t at = set ? set[k] : k;
        if (x->c[at] > 0)
            v[used++] = (vxs_threshold){ threshold_of(x, at), x->c[at], x->sign[at] > 0 ? 1 : -1 };
    }
    return best_intercept(v, used, held);
}

/* Of a set beside others at their bounds this is not 0, and b has a price. */
static double held_by(const vxs_box *x, const size_t *set, size_t count)
{
    double sum = 0;
    if (!set || !x->intercept || count == x->count)
        return x->held;
    for (size_t k = 0; k < count; k++)
        sum += x->sign[set[k]] * x->t[set[k]];
    return sum;
}

vxs_box_state vxs_box_evaluate(const vxs_box *x, const size_t *set, size_t count, vxs_threshold *v)
{
    double held = held_by(x, set, count);
    vxs_box_state s = { .b = find_intercept(x, set, count, held, v) };
    double square = 0, linear = 0, loss = 0;
    for (size_t k = 0; k < count; k++) {
        size_t at = set ? set[k] : k;
        square += x->sign[at] * x->t[at] * x->f[x->row[at]];
        linear += x->q[at] * x->t[at];
        loss += x->c[at] * fmax(0, x->sign[at] * (threshold_of(x, at) - s.b));
    }
    s.primal = square / 2 + loss + held * s.b;
    s.dual = linear - square / 2;
    return s;
}

/* ---- The set, gathered ----------------------------------------------------------------------- */

void vxs_box_work_release(vxs_box_work *w)
{
    void *const all[] = { w->row,   w->own,   w->member, w->sign, w->q,
                          w->c,     w->t,     w->f,      w->k,    w->matrix,
                          w->right, w->pivot, w->first,  w->ends, w->thresholds };
    for (size_t k = 0; k < sizeof(all) / sizeof(all[0]); k++)
        free(all[k]);
    *w = (vxs_box_work){ .steps = w->steps };
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
    w->first = vxs_alloc(count + 1, sizeof(*w->first), err);
    w->ends = vxs_alloc(3 * count, sizeof(*w->ends), err);
    w->right = vxs_alloc(VXS_FACE_WORK * count, sizeof(*w->right), err);
    w->thresholds = vxs_alloc(count, sizeof(*w->thresholds), err);
    w->capacity = count;
    return w->row && w->own && w->member && w->sign && w->q && w->c && w->t && w->f && w->pivot &&
                   w->right && w->first && w->ends && w->thresholds
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

typedef vxs_box_part part;

static vxs_status gather_kernel(part *p, vxs_error *err)
{
    vxs_box_work *w = p->work;
    const vxs_box *x = p->whole;
    size_t n = p->box.n;
    p->box.k = x->k;
    if (n == x->n && x->k)
        return VXS_OK;
    if (n > w->kernel_capacity) {
        free(w->k);
        w->k = vxs_alloc(n, vxs_times(n, sizeof(*w->k)), err);
        w->kernel_capacity = w->k ? n : 0;
    }
    for (size_t b = 0; b < n && w->k && x->k; b++)
        for (size_t a = 0; a < n; a++)
            w->k[b * n + a] = x->k[w->own[b] * x->n + w->own[a]];
    p->box.k = w->k;
    if (w->k && !x->k)
        return vxs_gram_block(x->kernel, w->own, n, w->k, err);
    return w->k ? VXS_OK : VXS_FAILED;
}

vxs_status vxs_box_part_begin(part *p, const vxs_box *x, const size_t *set, size_t count,
                              vxs_box_work *w, vxs_error *err)
{
    size_t n = 0;
    *p = (part){ .whole = x, .work = w };
    vxs_status status = reserve_set(w, count, err);
    for (size_t k = 0; k < count && !status; k++) {
        size_t at = set ? set[k] : k;
        if (k == 0 || x->row[at] != w->own[n - 1])
            w->own[n++] = x->row[at];
        w->row[k] = n - 1;
        w->sign[k] = x->sign[at];
        w->q[k] = x->q[at];
        w->c[k] = x->c[at];
        w->t[k] = x->t[at];
    }
    for (size_t i = 0; i < n && !status; i++) {
        w->f[i] = x->f[w->own[i]];
        p->reach = fmax(p->reach, x->k ? x->k[w->own[i] * x->n + w->own[i]]
                                       : vxs_gram_own(x->kernel, w->own[i]));
    }
    p->box = (vxs_box){ .context = x->context,
                        .n = n,
                        .count = count,
                        .intercept = x->intercept,
                        .row = w->row,
                        .sign = w->sign,
                        .q = w->q,
                        .c = w->c,
                        .t = w->t,
                        .f = w->f,
                        .held = held_by(x, set, count) };
    return status ? status : gather_kernel(p, err);
}

bool vxs_box_part_descend(part *p, size_t count)
{
    vxs_pairs steps;
    vxs_pairs_begin(&steps, &p->box, CURVATURE * p->reach, p->work->first, p->work->ends);
    p->work->steps += count;
    return vxs_pairs_take(&steps, count);
}

/* What the set's weights have changed goes into the values of all samples. */
void vxs_box_part_end(part *p, vxs_box *x, const size_t *set)
{
    vxs_box_work *w = p->work;
    double *change = w->right;
    size_t n = p->box.n;
    memset(change, 0, n * sizeof(*change));
    for (size_t k = 0; k < p->box.count; k++) {
        size_t at = set ? set[k] : k;
        change[w->row[k]] += w->sign[k] * (w->t[k] - x->t[at]);
        x->t[at] = w->t[k];
    }
    for (size_t i = 0; i < n && n < x->n && x->k; i++)
        if (change[i] != 0)
            cblas_daxpy((int)x->n, change[i], x->k + w->own[i] * x->n, 1, x->f, 1);
    if (n == x->n)
        memcpy(x->f, w->f, x->n * sizeof(*x->f));
}

/* The same of a kernel that is made in tiles: columns of the samples whose weights have changed. */
static vxs_status add_tiles(part *p, vxs_box *x, vxs_error *err)
{
    vxs_box_work *w = p->work;
    size_t changed = 0;
    if (p->box.n == x->n)
        return VXS_OK;
    for (size_t i = 0; i < p->box.n; i++)
        if (w->right[i] != 0) {
            w->own[changed] = w->own[i];
            w->right[changed++] = w->right[i];
        }
    return vxs_gram_add(x->kernel, w->own, w->right, changed, x->f, err);
}

/* ---- Exact steps ----------------------------------------------------------------------------- */

/* Variables inside the box, one a sample. */
static size_t list_free(part *p)
{
    vxs_box_work *w = p->work;
    size_t count = 0;
    for (size_t k = 0; k < p->box.count; k++) {
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
                p->box.k[w->row[w->member[b]] * p->box.n + w->row[w->member[a]]] + constant;
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
    double *ones = direction + p->box.count, sum = 0, whole = 0;
    int rank = factorize(p, m);
    for (int r = 0; r < rank; r++) {
        direction[r] = threshold_of(&p->box, w->member[w->pivot[r] - 1]);
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
        double left = vxs_box_room(&p->box, k, direction[r]);
        if (fabs(direction[r]) * share > left)
            share = left / fabs(direction[r]);
    }
    for (int r = 0; r < rank; r++) {
        size_t k = w->member[w->pivot[r] - 1];
        if (direction[r] == 0)
            continue;
        vxs_box_move(&p->box, k, share * direction[r]);
        cblas_daxpy((int)p->box.n, share * direction[r], p->box.k + w->row[k] * p->box.n, 1, w->f,
                    1);
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

/* How much has been done since the last step of its kind, in pairs. */
typedef struct {
    double factor, gradients;
} work_since;

/* A factor when it costs no more than what was done since the last one, and where it is cheap;
 * where there are too many variables for one, conjugate gradients. */
typedef enum { PAIRS, FACTOR, GRADIENTS } way;

static way way_of(const part *p, const work_since *since, bool gains)
{
    double m = 0, n = (double)p->box.n;
    for (size_t k = 0; k < p->box.count; k++)
        m += p->work->t[k] > 0 && p->work->t[k] < p->work->c[k];
    bool fits = m <= MOST_FREE;
    if (m <= CHEAP || (fits && m * m * m <= 30 * (double)p->box.count * since->factor))
        return FACTOR;
    if (m >= MANY * n && since->gradients >= n / 2)
        return GRADIENTS;
    return gains ? PAIRS : fits ? FACTOR : GRADIENTS;
}

static vxs_status step_all(part *p, way how, work_since *since, vxs_error *err)
{
    if (how == PAIRS)
        return VXS_OK;
    since->gradients = 0;
    if (how == GRADIENTS) {
        vxs_face_step(&p->box, p->work->member, list_free(p), p->work->right);
        since->factor += VXS_FACE_ITERATIONS * (double)p->box.n / 4;
        return VXS_OK;
    }
    since->factor = 0;
    return step_exactly(p, err);
}

/* Bounds of very different sizes can make all steps tiny: each gains something, for ever. */
static bool has_stalled(size_t checks, double least, double *before)
{
    if (checks % MANY_TIMES != 0)
        return false;
    bool stalled = !(least < *before / 2);
    *before = least;
    return stalled;
}

static vxs_status solve(part *p, double gap, double *b, vxs_error *err)
{
    vxs_box_work *w = p->work;
    double least = INFINITY, dual = -INFINITY, before = INFINITY;
    bool gains = true;
    int patience = PATIENCE;
    size_t checks = 0;
    work_since since = { 0, 0 };
    size_t each = p->box.count / 4 > 32 ? p->box.count / 4 : 32;
    for (;;) {
        way how = way_of(p, &since, gains);
        vxs_status status = step_all(p, how, &since, err);
        vxs_box_state state = vxs_box_evaluate(&p->box, NULL, p->box.count, w->thresholds);
        double now = state.primal - state.dual;
        *b = state.b;
        if (!status)
            status = vxs_check_interrupted(p->whole->context, err);
        bool better = now < least || state.dual - dual > RISES * now;
        patience = better ? PATIENCE : patience - (how != PAIRS);
        least = fmin(least, now);
        dual = fmax(dual, state.dual); /* a rise from where rounding took it to is no progress */
        bool ended = !gains || patience == 0 || has_stalled(++checks, least, &before);
        if (status || !(now > gap) || ended)
            return status;
        gains = vxs_box_part_descend(p, each);
        since.factor += (double)each;
        since.gradients += (double)each;
    }
}

vxs_status vxs_box_solve(vxs_box *box, const size_t *set, size_t count, double gap,
                         vxs_box_work *work, double *b, vxs_error *err)
{
    part p;
    vxs_status status = vxs_box_part_begin(&p, box, set, count, work, err);
    if (!status)
        status = solve(&p, gap, b, err);
    if (!status)
        vxs_box_part_end(&p, box, set);
    return status || box->k ? status : add_tiles(&p, box, err);
}
