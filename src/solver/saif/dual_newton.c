/* dual_newton.c - the elastic net with supports of thousands: Newton's method on its dual, which
 * has one variable a subject.
 *
 * Problem   min over b, w: sum_i v_i (c_i'b + x_i'w - t_i)^2 / 2 + lambda |w|_1 + ridge |w|^2 / 2,
 *           the quadratic model of the loss: v its second derivatives
 * Dual      min over s: |s|^2 / 2 - s't + |S(X's, lambda)|^2 / (2 ridge) subject to C's = 0, rows
 *           of X, C and t times root(v), S the soft threshold. It is differentiable, and quadratic
 *           between changes of the support
 * Optimal   w = S(X's, lambda) / ridge and s = t - Xw - Cb
 * Method    semismooth Newton steps (I + Q X_A X_A' Q / ridge) d = -gradient with
 *           A = {|x_j's| > lambda} and Q the projection onto the complement of C, with an exact
 *           line search
 * Stops     whole steps leave A and its signs as they were, or the gradient is rounding
 * Cost      a step: 2 n p, and n^2 |A| + n^3 / 3 or, for |A| < n, n |A|^2 + |A|^3 / 3
 * Threads   those of BLAS
 * Source    Li, Sun and Toh 2018 (semismooth Newton steps for the lasso); the ridge makes the dual
 *           itself differentiable, so that no augmented Lagrangian is needed */
#include "solver/saif/dual_newton.h"
#include "linalg/cholesky.h"
#include "solver/saif/working_set.h"
#include "solver/solver.h"

#include <cblas.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#define MOST_STEPS 60
#define BLOCK      256   /* columns of a rank update */
#define ROUNDING   1e-14 /* of the target's norm */
#define REFINED    1e-12 /* the same, once the support stays: else a second step there */
#define FEASIBLE   1e-9  /* of the sum of sizes */
#define NARROW     40    /* halvings of the line search */
#define FLAT       0.1   /* of the slope at the start: the line search ends */

void vxs_dual_newton_release(vxs_dual_newton *t)
{
    vxs_weighted_covariates_release(&t->covariates);
    free(t->dual);
    free(t->level);
    free(t->support);
    free(t->sign);
    free(t->multiplied);
    free(t->columns);
    free(t->system);
    free(t->products);
    *t = (vxs_dual_newton){ .room = 0 };
}

/* ---- Memory ---------------------------------------------------------------------------------- */

static vxs_status begin(vxs_dual_newton *t, const vxs_net_model *m, vxs_error *err)
{
    size_t room = m->count + m->count / 8 + 32, n = m->n;
    if (!t->dual) {
        t->dual = vxs_alloc(5 * n, sizeof(*t->dual), err);
        if (!t->dual || vxs_weighted_covariates_init(&t->covariates, n, m->q, err))
            return VXS_FAILED;
        t->target = t->dual + n;
        t->left = t->dual + 2 * n;
        t->way = t->dual + 3 * n;
        t->spare = t->dual + 4 * n;
    }
    if (m->count <= t->room)
        return VXS_OK;
    t->room = 0;
    free(t->level);
    free(t->support);
    free(t->sign);
    free(t->multiplied);
    t->level = vxs_resize(NULL, 2 * room, sizeof(*t->level), err);
    t->support = vxs_resize(NULL, 2 * room, sizeof(*t->support), err);
    t->sign = vxs_resize(NULL, room, sizeof(*t->sign), err);
    t->multiplied = vxs_resize(NULL, room, sizeof(*t->multiplied), err);
    if (!t->level || !t->support || !t->sign || !t->multiplied)
        return VXS_FAILED;
    t->slope = t->level + room;
    t->moved = t->support + room;
    t->room = room;
    return VXS_OK;
}

/* Room for `columns` columns of n, and a system of `rows`. */
static vxs_status reserve(vxs_dual_newton *t, size_t n, size_t columns, size_t rows, vxs_error *err)
{
    if (rows > t->dense) {
        free(t->system);
        t->dense = 0;
        t->system = vxs_resize(NULL, rows * rows, sizeof(*t->system), err);
        t->dense = t->system ? rows : 0;
    }
    if (columns > t->tall) {
        free(t->columns);
        t->tall = 0;
        t->columns = vxs_resize(NULL, columns * n, sizeof(*t->columns), err);
        t->tall = t->columns ? columns : 0;
    }
    return rows <= t->dense && columns <= t->tall ? VXS_OK : VXS_FAILED;
}

/* ---- The dual at a point --------------------------------------------------------------------- */

/* product = X'v of the features. */
static void correlate(const vxs_net_model *m, const double *v, double *product)
{
    int n = (int)m->n;
    if (m->count > 0)
        cblas_dgemv(CblasColMajor, CblasTrans, n, (int)m->count, 1, m->x + m->q * m->n, n, v, 1, 0,
                    product, 1);
}

static double threshold(const vxs_net_model *m, double level)
{
    if (level > m->lambda)
        return level - m->lambda;
    return !m->nonnegative && level < -m->lambda ? level + m->lambda : 0;
}

/* spare = xi = root(v) s where the loss is curved, and minus its gradient where it is linear. */
static void set_xi(vxs_dual_newton *t, const vxs_net_model *m)
{
    for (size_t i = 0; i < m->n; i++)
        t->spare[i] =
            t->covariates.root[i] > 0 ? t->covariates.root[i] * t->dual[i] : -m->loss_gradient[i];
}

/* Moves s to C'xi = 0; false if no s does. */
static bool make_feasible(vxs_dual_newton *t, const vxs_net_model *m)
{
    const vxs_weighted_covariates *c = &t->covariates;
    double *share = c->triangle + c->rank * (c->q + 1); /* the column behind it is work space */
    set_xi(t, m);
    for (size_t r = 0; r < c->rank; r++)
        share[r] = cblas_ddot((int)m->n, m->x + c->independent[r] * m->n, 1, t->spare, 1);
    vxs_weighted_covariates_solve(c, true, share);
    for (size_t r = 0; r < c->rank; r++)
        cblas_daxpy((int)m->n, -share[r], c->basis + r * m->n, 1, t->dual, 1);
    set_xi(t, m);
    for (size_t k = 0; k < m->q; k++) {
        double sum = 0, whole = 0;
        for (size_t i = 0; i < m->n; i++) {
            sum += m->x[k * m->n + i] * t->spare[i];
            whole += fabs(m->x[k * m->n + i] * t->spare[i]);
        }
        if (fabs(sum) > FEASIBLE * whole)
            return false;
    }
    return true;
}

/* s and t of the point: s = -f' / root(v), t = s + root(v) Xw. */
static void set_start(vxs_dual_newton *t, const vxs_net_model *m)
{
    for (size_t i = 0; i < m->n; i++) {
        double of_features = m->z[i], root = t->covariates.root[i];
        for (size_t k = 0; k < m->q; k++)
            of_features -= m->w[k] * m->x[k * m->n + i];
        t->dual[i] = root > 0 ? -m->loss_gradient[i] / root : 0;
        t->target[i] = t->dual[i] + root * of_features;
    }
}

static size_t list_support(vxs_dual_newton *t, const vxs_net_model *m, bool *changed)
{
    size_t count = 0;
    *changed = false;
    for (size_t j = 0; j < m->count; j++) {
        double weight = threshold(m, t->level[j]);
        signed char sign = (signed char)((weight > 0) - (weight < 0));
        *changed = *changed || sign != t->sign[j];
        t->sign[j] = sign;
        if (sign != 0)
            t->support[count++] = j;
    }
    return count;
}

/* left = Q (s - t + root(v) X w(s)) */
static void set_gradient(vxs_dual_newton *t, const vxs_net_model *m, size_t count)
{
    memset(t->spare, 0, m->n * sizeof(*t->spare));
    for (size_t k = 0; k < count; k++)
        cblas_daxpy((int)m->n, threshold(m, t->level[t->support[k]]) / m->ridge,
                    m->x + (m->q + t->support[k]) * m->n, 1, t->spare, 1);
    for (size_t i = 0; i < m->n; i++)
        t->left[i] = t->dual[i] - t->target[i] + t->covariates.root[i] * t->spare[i];
    vxs_weighted_covariates_project(&t->covariates, t->left);
}

/* ---- A step ---------------------------------------------------------------------------------- */

/* columns = Q root(v) X of `count` features of a list. */
static void take_columns(vxs_dual_newton *t, const vxs_net_model *m, const size_t *list,
                         size_t count)
{
    for (size_t k = 0; k < count; k++) {
        const double *x = m->x + (m->q + list[k]) * m->n;
        double *to = t->columns + k * m->n;
        for (size_t i = 0; i < m->n; i++)
            to[i] = t->covariates.root[i] * x[i];
        vxs_weighted_covariates_project(&t->covariates, to);
    }
}

/* products += sign BB', B the listed columns. */
static void add_products(vxs_dual_newton *t, const vxs_net_model *m, const size_t *list,
                         size_t count, double sign)
{
    int n = (int)m->n;
    for (size_t first = 0; first < count; first += BLOCK) {
        size_t block = count - first < BLOCK ? count - first : BLOCK;
        take_columns(t, m, list + first, block);
        cblas_dsyrk(CblasColMajor, CblasLower, CblasNoTrans, n, (int)block, sign, t->columns, n, 1,
                    t->products, n);
    }
}

/* products = BB' of the support: whole, or by the columns that have entered and left. */
static void update_products(vxs_dual_newton *t, const vxs_net_model *m, size_t count)
{
    size_t in = 0, out = m->count;
    for (size_t j = 0; j < m->count; j++) {
        if (t->sign[j] != 0 && !t->multiplied[j])
            t->moved[in++] = j;
        else if (t->sign[j] == 0 && t->multiplied[j])
            t->moved[--out] = j;
    }
    if (in + m->count - out < count) {
        add_products(t, m, t->moved, in, 1);
        add_products(t, m, t->moved + out, m->count - out, -1);
    } else {
        memset(t->products, 0, m->n * m->n * sizeof(*t->products));
        add_products(t, m, t->support, count, 1);
    }
    for (size_t j = 0; j < m->count; j++)
        t->multiplied[j] = t->sign[j] != 0;
}

/* way = -(I + BB' / ridge)^-1 left, B the columns of the support: a system of n. */
static vxs_status step_of_rows(vxs_dual_newton *t, const vxs_net_model *m, size_t count,
                               bool *definite, vxs_error *err)
{
    size_t n = m->n;
    vxs_status status = reserve(t, n, BLOCK, n, err);
    if (!status && !t->products)
        t->products = vxs_resize(NULL, n * n, sizeof(*t->products), err);
    if (status || !t->products)
        return VXS_FAILED;
    update_products(t, m, count);
    for (size_t i = 0; i < n * n; i++)
        t->system[i] = t->products[i] / m->ridge;
    for (size_t i = 0; i < n; i++)
        t->system[i * n + i] += 1;
    *definite = vxs_cholesky(t->system, n);
    if (*definite)
        vxs_cholesky_solve(t->system, n, t->way, 1);
    return VXS_OK;
}

/* The same by a system of the support: I - B (ridge I + B'B)^-1 B'. */
static vxs_status step_of_features(vxs_dual_newton *t, const vxs_net_model *m, size_t count,
                                   bool *definite, vxs_error *err)
{
    int n = (int)m->n, small = (int)count;
    double *share = t->slope; /* free until the line search */
    size_t room = count + count / 4 < m->n ? count + count / 4 : m->n;
    vxs_status status = reserve(t, m->n, room, room, err);
    if (status)
        return status;
    take_columns(t, m, t->support, count);
    cblas_dsyrk(CblasColMajor, CblasLower, CblasTrans, small, n, 1, t->columns, n, 0, t->system,
                small);
    for (size_t k = 0; k < count; k++)
        t->system[k * count + k] += m->ridge;
    *definite = vxs_cholesky(t->system, count);
    if (!*definite)
        return VXS_OK;
    cblas_dgemv(CblasColMajor, CblasTrans, n, small, 1, t->columns, n, t->way, 1, 0, share, 1);
    vxs_cholesky_solve(t->system, count, share, 1);
    cblas_dgemv(CblasColMajor, CblasNoTrans, n, small, -1, t->columns, n, share, 1, 1, t->way, 1);
    return VXS_OK;
}

static vxs_status find_way(vxs_dual_newton *t, const vxs_net_model *m, size_t count, bool *definite,
                           vxs_error *err)
{
    vxs_status status = VXS_OK;
    for (size_t i = 0; i < m->n; i++)
        t->way[i] = -t->left[i];
    *definite = true;
    if (count >= m->n)
        status = step_of_rows(t, m, count, definite, err);
    else if (count > 0)
        status = step_of_features(t, m, count, definite, err);
    vxs_weighted_covariates_project(&t->covariates, t->way);
    for (size_t i = 0; i < m->n; i++)
        t->spare[i] = t->covariates.root[i] * t->way[i];
    correlate(m, t->spare, t->slope);
    return status;
}

/* Derivative of the dual along the direction. */
static double slope_at(const vxs_dual_newton *t, const vxs_net_model *m, double share)
{
    double sum = 0;
    for (size_t j = 0; j < m->count; j++)
        sum += threshold(m, t->level[j] + share * t->slope[j]) * t->slope[j];
    sum /= m->ridge;
    for (size_t i = 0; i < m->n; i++)
        sum += t->way[i] * (t->dual[i] - t->target[i] + share * t->way[i]);
    return sum;
}

/* The root of the derivative, which increases, in (0, 1]; 1 if it is negative there. */
static double line_search(const vxs_dual_newton *t, const vxs_net_model *m)
{
    double low = 0, high = 1, at_low = slope_at(t, m, 0), at_high = slope_at(t, m, 1);
    double enough = FLAT * fabs(at_low);
    if (at_high <= enough)
        return 1;
    for (int k = 0; k < NARROW; k++) {
        double along = at_low < 0 ? -at_low / (at_high - at_low) : 0.5;
        double share = low + (high - low) * fmin(0.9, fmax(0.1, along));
        double slope = slope_at(t, m, share);
        if (fabs(slope) <= enough)
            return share;
        if (slope < 0) {
            low = share;
            at_low = slope;
        } else {
            high = share;
            at_high = slope;
        }
    }
    return high;
}

/* ---- The minimum ----------------------------------------------------------------------------- */

/* Newton steps from the present s. */
static vxs_status iterate(vxs_dual_newton *t, const vxs_net_model *m, uint64_t *steps,
                          vxs_error *err)
{
    double size, share = 0;
    int unchanged = 0;
    set_xi(t, m);
    correlate(m, t->spare, t->level);
    memcpy(t->way, t->target, m->n * sizeof(*t->way));
    vxs_weighted_covariates_project(&t->covariates, t->way);
    size = cblas_dnrm2((int)m->n, t->way, 1);
    memset(t->sign, 0, m->count * sizeof(*t->sign));
    memset(t->multiplied, 0, m->count * sizeof(*t->multiplied));
    for (int step = 0; step < MOST_STEPS; step++) {
        bool changed, definite;
        size_t count = list_support(t, m, &changed);
        set_gradient(t, m, count);
        unchanged = share < 1 || changed ? 0 : unchanged + 1;
        double left = cblas_dnrm2((int)m->n, t->left, 1);
        if (left <= size * (unchanged > 0 ? REFINED : ROUNDING) || unchanged > 1)
            break;
        vxs_status status = find_way(t, m, count, &definite, err);
        if (!status)
            status = vxs_check_interrupted(m->context, err);
        if (status || !definite)
            return status;
        share = line_search(t, m);
        cblas_daxpy((int)m->n, share, t->way, 1, t->dual, 1);
        cblas_daxpy((int)m->count, share, t->slope, 1, t->level, 1);
        ++*steps;
    }
    return VXS_OK;
}

/* w = S(X'xi, lambda) / ridge, and root(v) C (b - b0) = t - s - root(v) Xw. */
static void take_point(vxs_dual_newton *t, const vxs_net_model *m, double *point)
{
    const vxs_weighted_covariates *c = &t->covariates;
    double *share = c->triangle + c->rank * (c->q + 1);
    memset(t->spare, 0, m->n * sizeof(*t->spare));
    for (size_t j = 0; j < m->count; j++) {
        double w = threshold(m, t->level[j]) / m->ridge;
        point[m->q + j] = w;
        if (w != 0)
            cblas_daxpy((int)m->n, w, m->x + (m->q + j) * m->n, 1, t->spare, 1);
    }
    for (size_t i = 0; i < m->n; i++)
        t->spare[i] = t->target[i] - t->dual[i] - c->root[i] * t->spare[i];
    for (size_t r = 0; r < c->rank; r++)
        share[r] = cblas_ddot((int)m->n, c->basis + r * m->n, 1, t->spare, 1);
    vxs_weighted_covariates_solve(c, false, share);
    memcpy(point, m->w, m->q * sizeof(*point));
    for (size_t r = 0; r < c->rank; r++)
        point[c->independent[r]] += share[r];
}

vxs_status vxs_dual_newton_solve(vxs_dual_newton *t, const vxs_net_model *m, double *point,
                                 bool *solved, uint64_t *steps, vxs_error *err)
{
    vxs_status status = begin(t, m, err);
    *solved = false;
    if (status)
        return status;
    vxs_weighted_covariates_set(&t->covariates, m->x, m->curvature);
    set_start(t, m);
    if (!make_feasible(t, m))
        return VXS_OK;
    status = iterate(t, m, steps, err);
    if (!status)
        take_point(t, m, point);
    *solved = !status;
    return status;
}

/* ---- On the working set ---------------------------------------------------------------------- */

vxs_status vxs_working_set_net(vxs_working_set *a, double lambda, double *target, bool *solved,
                               vxs_error *err)
{
    vxs_net_model model = { .n = a->n,
                            .q = a->q,
                            .count = a->count,
                            .x = a->x,
                            .w = a->w,
                            .z = a->z,
                            .loss_gradient = a->loss_gradient,
                            .curvature = a->curvature,
                            .lambda = lambda,
                            .ridge = a->ridge,
                            .nonnegative = a->problem->nonnegative,
                            .context = a->context };
    return vxs_dual_newton_solve(&a->dual_newton, &model, target, solved, &a->steps, err);
}
