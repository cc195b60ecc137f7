/* newton.c - Newton steps on supports of thousands, where the graph's Laplacian ties neighbors.
 *
 * Problem   sum u f(x'w + c'b) + lambda |w|_1 + w'Lw / 2 over b and the weights of a support S,
 *           whose signs s stay
 * System    (X_S'VX_S + L_SS) d = -gradient - lambda s, V being the curvature of the loss and
 *           without what the covariates C explain: V is root(V) Q root(V), Q the projection onto
 *           the complement of root(V) C. b follows from d
 * Method    conjugate gradients. The preconditioner is the inverse of X~'X~ + A,
 *           X~ = Q root(V) X_S, A = L_SS + delta D, by Woodbury's identity
 *               A^-1 - A^-1 X~' (I + X~ A^-1 X~')^-1 X~ A^-1
 *           from a sparse Cholesky factor of A and a dense one of n x n. D is the diagonal of the
 *           system, and delta keeps A definite where a connected component of S has no neighbor
 *           outside of S, so that L_SS is singular. The conjugate gradients, whose matrix has no
 *           delta, take its effect out again: a few iterations do
 * Reuse     while supports and curvature are alike the preconditioner stays: features that have
 *           left are left out, those that are new have their diagonal. Iterations rise, and when
 *           they are many, or supports differ too much, it is recomputed
 * Cost      a factor of the grid's part in S, n |nonzeros of it| + n^2 |S|; an iteration
 *           4 n |S| + 4 |nonzeros|
 * Source    Woodbury 1950; projected Newton: Bertsekas 1982; semismooth Newton steps for the
 *           lasso: Li, Sun and Toh 2018 */
#include "linalg/cholesky.h"
#include "solver/saif/working_set.h"
#include "solver/solver.h"

#include <cblas.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#define DELTA      1e-8 /* of the diagonal */
#define ENOUGH     1e-8 /* of r'M^-1 r at the start: square of the relative tolerance */
#define ITERATIONS 100
#define WORN       12       /* iterations that cost as much as a new factorization */
#define CHANGED    20       /* factors again when more than 1 / 20 of the support changed */
#define MOST       20000000 /* entries of a factor, at most */

void vxs_newton_release(vxs_newton *t)
{
    vxs_factor_release(&t->factor);
    free(t->place);
    free(t->list);
    free(t->half);
    free(t->small);
    free(t->starts);
    free(t->index);
    free(t->value);
    free(t->weight);
    free(t->part);
    vxs_weighted_covariates_release(&t->covariates);
    free(t->vectors);
    *t = (vxs_newton){ .count = 0 };
}

/* ---- Memory ---------------------------------------------------------------------------------- */

static vxs_status begin(vxs_newton *t, const vxs_newton_system *s, vxs_error *err)
{
    size_t n = s->n;
    if (t->place)
        return VXS_OK;
    t->small = vxs_alloc(n, n * sizeof(*t->small), err);
    t->part = vxs_alloc(n, sizeof(*t->part), err);
    t->place = vxs_alloc(s->laplacian->p, sizeof(*t->place), err);
    if (t->small && t->part && t->place &&
        !vxs_weighted_covariates_init(&t->covariates, n, s->q, err))
        return VXS_OK;
    vxs_newton_release(t);
    return VXS_FAILED;
}

/* `array` is the address of a pointer to whatever it is. */
static bool grow(void *array, size_t count, size_t size, vxs_error *err)
{
    void *held, *larger;
    memcpy(&held, array, sizeof(held));
    larger = vxs_resize(held, count, size, err);
    if (larger)
        memcpy(array, &larger, sizeof(larger));
    return larger != NULL;
}

/* Rows of the factor: one a feature of the support, one an edge within. */
static size_t count_edges(const vxs_newton_system *s)
{
    size_t edges = 0;
    for (size_t k = 0; k < s->count; k++)
        edges += s->laplacian->starts[s->feature[k] + 1] - s->laplacian->starts[s->feature[k]];
    return edges;
}

static vxs_status allocate(vxs_newton *t, const vxs_newton_system *s, vxs_error *err)
{
    size_t room = s->count + s->count / 8 + 32, rows = s->count + count_edges(s);
    if (!grow(&t->starts, rows + 1, sizeof(*t->starts), err) ||
        !grow(&t->index, 2 * rows, sizeof(*t->index), err) ||
        !grow(&t->value, 2 * rows, sizeof(*t->value), err) ||
        !grow(&t->weight, rows, sizeof(*t->weight), err))
        return VXS_FAILED;
    if (s->count <= t->room)
        return VXS_OK;
    t->room = 0;
    if (!grow(&t->list, room, sizeof(*t->list), err) ||
        !grow(&t->half, room * s->n, sizeof(*t->half), err))
        return VXS_FAILED;
    t->room = room;
    return VXS_OK;
}

/* ---- Products -------------------------------------------------------------------------------- */

/* sum = X_S w */
static void combine(const vxs_newton_system *s, const double *w, double *sum)
{
    memset(sum, 0, s->n * sizeof(*sum));
    for (size_t k = 0; k < s->count; k++)
        if (w[k] != 0)
            cblas_daxpy((int)s->n, w[k], s->x + s->column[k] * s->n, 1, sum, 1);
}

/* product = (X_S'VX_S + L_SS) w, V projected onto the complement of the covariates. */
static void multiply(vxs_newton *t, const vxs_newton_system *s, const double *w, double *product)
{
    vxs_laplacian_times(s->laplacian, s->feature, s->count, w, product);
    combine(s, w, t->part);
    for (size_t i = 0; i < s->n; i++)
        t->part[i] *= t->covariates.root[i];
    vxs_weighted_covariates_project(&t->covariates, t->part);
    for (size_t i = 0; i < s->n; i++)
        t->part[i] *= t->covariates.root[i];
    for (size_t k = 0; k < s->count; k++)
        product[k] += cblas_ddot((int)s->n, s->x + s->column[k] * s->n, 1, t->part, 1);
}

/* The diagonal of the system, positive. */
static double diagonal(const vxs_newton_system *s, size_t k)
{
    const double *x = s->x + s->column[k] * s->n;
    double sum = vxs_laplacian_diagonal(s->laplacian, s->feature[k]);
    for (size_t i = 0; i < s->n; i++)
        sum += s->curvature[i] * x[i] * x[i];
    return sum > 0 ? sum : 1;
}

/* ---- The preconditioner ---------------------------------------------------------------------- */

/* Rows D and their weights S with D'SD = L_SS + delta D: an edge within the support is a
 * difference; one that leaves it adds to the diagonal. */
static vxs_sparse_rows list_rows(vxs_newton *t, const vxs_newton_system *s, const double *diagonals)
{
    const vxs_laplacian_matrix *l = s->laplacian;
    size_t rows = 0, entries = 0;
    for (size_t k = 0; k < s->count; k++) {
        size_t j = s->feature[k];
        double alone = DELTA * diagonals[k];
        for (size_t e = l->starts[j]; e < l->starts[j + 1]; e++) {
            size_t other = t->place[l->other[e]];
            if (other == 0)
                alone += l->weight[e];
            if (other <= k + 1) /* outside, or listed by the other end */
                continue;
            t->starts[rows] = entries;
            t->weight[rows++] = l->weight[e];
            t->index[entries] = k;
            t->value[entries++] = 1;
            t->index[entries] = other - 1;
            t->value[entries++] = -1;
        }
        t->starts[rows] = entries;
        t->weight[rows++] = alone;
        t->index[entries] = k;
        t->value[entries++] = 1;
    }
    t->starts[rows] = entries;
    return (vxs_sparse_rows){ s->count, rows, t->starts, t->index, t->value };
}

/* columns = Q root(V) X_S */
static void scale_columns(const vxs_newton *t, const vxs_newton_system *s, double *columns)
{
    for (size_t k = 0; k < s->count; k++) {
        double *to = columns + k * s->n;
        const double *from = s->x + s->column[k] * s->n;
        for (size_t i = 0; i < s->n; i++)
            to[i] = t->covariates.root[i] * from[i];
        vxs_weighted_covariates_project(&t->covariates, to);
    }
}

/* half = X~ times the inverse of A's factor; small = the Cholesky factor of I + half half'. */
static vxs_status make_small(vxs_newton *t, const vxs_newton_system *s, bool *definite,
                             vxs_error *err)
{
    int n = (int)s->n;
    double *columns = vxs_resize(NULL, s->count * s->n, sizeof(*columns), err);
    if (!columns)
        return VXS_FAILED;
    scale_columns(t, s, columns);
    vxs_factor_solve_lower_many(&t->factor, columns, s->n, t->half);
    free(columns);
    memset(t->small, 0, s->n * s->n * sizeof(*t->small));
    for (size_t i = 0; i < s->n; i++)
        t->small[i * s->n + i] = 1;
    cblas_dsyrk(CblasColMajor, CblasLower, CblasNoTrans, n, (int)s->count, 1, t->half, n, 1,
                t->small, n);
    *definite = vxs_cholesky(t->small, s->n);
    return VXS_OK;
}

static void forget(vxs_newton *t)
{
    for (size_t k = 0; k < t->count; k++)
        t->place[t->list[k]] = 0;
    t->count = 0;
    vxs_factor_release(&t->factor);
}

/* Symbolic factorization; a factor that is too large is replaced by the diagonal. */
static vxs_status make_factor(vxs_newton *t, const vxs_newton_system *s, const double *diagonals,
                              vxs_error *err)
{
    vxs_error own = VXS_ERROR_INIT;
    vxs_sparse_rows rows = list_rows(t, s, diagonals);
    vxs_status status = vxs_factor_new(rows, &t->factor, &own);
    if (status == VXS_FAILED)
        return vxs_fail(err, VXS_FAILED, "%s", own.message);
    size_t full = t->factor.dense_count;
    if (status || t->factor.column_starts[t->factor.count] + full * full / 2 > MOST) {
        vxs_factor_release(&t->factor);
        t->refused = s->count;
    }
    return VXS_OK;
}

static vxs_status make_preconditioner(vxs_newton *t, const vxs_newton_system *s,
                                      const double *diagonals, vxs_error *err)
{
    bool definite = false;
    forget(t);
    vxs_status status = allocate(t, s, err);
    if (status)
        return status;
    memcpy(t->list, s->feature, s->count * sizeof(*t->list));
    t->count = s->count;
    for (size_t k = 0; k < s->count; k++)
        t->place[t->list[k]] = k + 1;
    status = make_factor(t, s, diagonals, err);
    if (!status && t->factor.initialized) {
        vxs_factor_make(&t->factor, t->weight);
        status = make_small(t, s, &definite, err);
    }
    if (!definite)
        forget(t);
    t->worn = false;
    return status;
}

/* inside = M^-1 inside, of features by place: with A = RR', M^-1 = R'^-1 (I - h'(I + hh')^-1 h)
 * R^-1 where h = X~ R'^-1, which is `half`. */
static void apply_woodbury(vxs_newton *t, size_t rows, double *inside, double *scratch)
{
    int n = (int)rows, m = (int)t->count;
    vxs_factor_solve_lower(&t->factor, inside, scratch);
    cblas_dgemv(CblasColMajor, CblasNoTrans, n, m, 1, t->half, n, scratch, 1, 0, t->part, 1);
    vxs_cholesky_solve(t->small, rows, t->part, 1);
    cblas_dgemv(CblasColMajor, CblasTrans, n, m, -1, t->half, n, t->part, 1, 1, scratch, 1);
    vxs_factor_solve_upper(&t->factor, scratch, inside);
}

/* z = M^-1 r; features that are not in the preconditioner have their diagonal. `inside` has twice
 * its features. */
static void precondition(vxs_newton *t, const vxs_newton_system *s, const double *diagonals,
                         const double *r, double *z, double *inside)
{
    if (t->count > 0)
        memset(inside, 0, t->count * sizeof(*inside));
    for (size_t k = 0; k < s->count; k++)
        if (t->place[s->feature[k]] > 0)
            inside[t->place[s->feature[k]] - 1] = r[k];
    if (t->count > 0)
        apply_woodbury(t, s->n, inside, inside + t->count);
    for (size_t k = 0; k < s->count; k++) {
        size_t place = t->place[s->feature[k]];
        z[k] = place > 0 ? inside[place - 1] : r[k] / diagonals[k];
    }
}

static bool is_alike(const vxs_newton *t, const vxs_newton_system *s)
{
    size_t common = 0;
    if (t->refused > 0 && s->count >= t->refused)
        return true; /* the best available */
    for (size_t k = 0; k < s->count; k++)
        common += t->place[s->feature[k]] > 0;
    return !t->worn && CHANGED * (s->count - common + t->count - common) <= s->count;
}

/* ---- Conjugate gradients --------------------------------------------------------------------- */

typedef struct {
    double *rest, *along, *product, *conditioned, *diagonals, *inside;
} vectors;

static vxs_status make_vectors(vxs_newton *t, size_t count, vectors *v, vxs_error *err)
{
    size_t most = t->count > count ? t->count : count;
    if (7 * most > t->vector_room) {
        if (!grow(&t->vectors, 8 * most, sizeof(*t->vectors), err))
            return VXS_FAILED;
        t->vector_room = 8 * most;
    }
    double *at = t->vectors;
    *v = (vectors){ at, at + most, at + 2 * most, at + 3 * most, at + 4 * most, at + 5 * most };
    return VXS_OK;
}

/* The system's solution for the right side in v->rest; false when it takes too long. */
static bool iterate(vxs_newton *t, const vxs_newton_system *s, vectors *v, double *w)
{
    int m = (int)s->count;
    double first = 0, before = 0;
    memset(w, 0, s->count * sizeof(*w));
    for (int k = 0; k < ITERATIONS && !vxs_check_interrupted(s->context, NULL); k++) {
        precondition(t, s, v->diagonals, v->rest, v->conditioned, v->inside);
        double size = cblas_ddot(m, v->rest, 1, v->conditioned, 1);
        first = k == 0 ? size : first;
        t->worn = k > WORN;
        if (!(size > ENOUGH * first))
            return true;
        if (k == 0)
            memcpy(v->along, v->conditioned, s->count * sizeof(*v->along));
        for (size_t j = 0; j < s->count && k > 0; j++)
            v->along[j] = v->conditioned[j] + size / before * v->along[j];
        multiply(t, s, v->along, v->product);
        double curved = cblas_ddot(m, v->along, 1, v->product, 1);
        if (!(curved > 0))
            return true;
        cblas_daxpy(m, size / curved, v->along, 1, w, 1);
        cblas_daxpy(m, -size / curved, v->product, 1, v->rest, 1);
        before = size;
    }
    return vxs_check_interrupted(s->context, NULL); /* the caller checks for interruption, too */
}

/* The covariates' gradient, eliminated from the right-hand side of w; `share` = R^-T of it. */
static void take_covariates(vxs_newton *t, const vxs_newton_system *s, const double *down,
                            double *share, double *rest)
{
    memset(t->part, 0, s->n * sizeof(*t->part));
    for (size_t r = 0; r < t->covariates.rank; r++)
        share[r] = down[t->covariates.independent[r]];
    vxs_weighted_covariates_solve(&t->covariates, true, share);
    for (size_t r = 0; r < t->covariates.rank; r++)
        cblas_daxpy((int)s->n, share[r], t->covariates.basis + r * s->n, 1, t->part, 1);
    for (size_t i = 0; i < s->n; i++)
        t->part[i] *= t->covariates.root[i];
    memcpy(rest, down + s->q, s->count * sizeof(*rest));
    for (size_t k = 0; k < s->count && t->covariates.rank > 0; k++)
        rest[k] -= cblas_ddot((int)s->n, s->x + s->column[k] * s->n, 1, t->part, 1);
}

/* The direction of b, from `share` and the direction of w. */
static void follow_covariates(vxs_newton *t, const vxs_newton_system *s, double *share,
                              double *direction)
{
    combine(s, direction + s->q, t->part);
    for (size_t i = 0; i < s->n; i++)
        t->part[i] *= t->covariates.root[i];
    for (size_t r = 0; r < t->covariates.rank; r++)
        share[r] -= cblas_ddot((int)s->n, t->covariates.basis + r * s->n, 1, t->part, 1);
    vxs_weighted_covariates_solve(&t->covariates, false, share);
    memset(direction, 0, s->q * sizeof(*direction));
    for (size_t r = 0; r < t->covariates.rank; r++)
        direction[t->covariates.independent[r]] = share[r];
}

vxs_status vxs_newton_direction(vxs_newton *t, const vxs_newton_system *s, const double *down,
                                double *direction, vxs_error *err)
{
    vectors v;
    vxs_status status = begin(t, s, err);
    if (!status)
        status = make_vectors(t, s->count, &v, err);
    if (status)
        return status;
    vxs_weighted_covariates_set(&t->covariates, s->x, s->curvature);
    for (size_t k = 0; k < s->count; k++)
        v.diagonals[k] = diagonal(s, k);
    bool fresh = !is_alike(t, s), solved = false;
    for (; !status && !solved; fresh = true) {
        if (fresh)
            status = make_preconditioner(t, s, v.diagonals, err);
        if (status)
            break;
        take_covariates(t, s, down, direction, v.rest);
        double *share = t->covariates.triangle +
                        t->covariates.rank * (s->q + 1); /* the column behind it is work space */
        memcpy(share, direction, t->covariates.rank * sizeof(*share));
        solved = iterate(t, s, &v, direction + s->q) || fresh;
        follow_covariates(t, s, share, direction);
    }
    return status;
}

/* ---- On the working set ---------------------------------------------------------------------- */

/* Negative gradient of the first m chosen columns at fixed signs; features of weight 0 take the
 * sign that lowers the value. */
static void slopes_with_signs(vxs_working_set *a, double lambda, size_t m, double *down)
{
    for (size_t c = 0; c < m; c++) {
        size_t k = a->chosen[c];
        double sign = a->w[k] != 0 ? a->w[k] : -a->gradient[k];
        down[c] = -a->gradient[k] - (k < a->q ? 0 : copysign(lambda, sign));
        if (k >= a->q)
            a->listed[c - a->q] = a->set[k - a->q];
    }
}

vxs_status vxs_working_set_newton(vxs_working_set *a, double lambda, size_t m, double *room,
                                  double *target, vxs_error *err)
{
    size_t q = a->q;
    slopes_with_signs(a, lambda, m, a->linear);
    vxs_newton_system system = { .laplacian = &a->laplacian,
                                 .n = a->n,
                                 .q = q,
                                 .x = a->x,
                                 .curvature = a->curvature,
                                 .count = m - q,
                                 .column = a->chosen + q,
                                 .feature = a->listed,
                                 .context = a->context };
    vxs_status status = vxs_newton_direction(&a->newton, &system, a->linear, room, err);
    memcpy(target, a->w, (q + a->count) * sizeof(*target));
    for (size_t c = 0; c < m && !status; c++) {
        size_t k = a->chosen[c];
        bool back = k >= q && a->w[k] == 0 && room[c] * a->gradient[k] >= 0;
        target[k] += back ? 0 : room[c]; /* a new weight keeps its sign */
    }
    return status;
}
