/* group_newton.c - the group lasso's quadratic model with groups of any width: Newton's method on
 * one variable a group.
 *
 * Problem   min over w, b: sum_i v_i (c_i'b + x_i'w - t_i)^2 / 2 + lambda sum_g |w_g|, the
 *           quadratic model of the loss: v its second derivatives
 * Method    lambda |w_g| = min over d_g >= 0 of (|w_g|^2 / d_g + lambda^2 d_g) / 2. The minimum
 *           over w and b is h(d) = t'(I + BDB')^-1 t / 2 + lambda^2 sum d / 2, B and t being
 *           root(v) X and root(v) t without their projection onto root(v) C. h is convex and smooth
 *           for d >= 0; Newton steps subject to d >= 0, halved until h decreases
 * Optimal   a = (I + BDB')^-1 t; |B_g'a| <= lambda, with equality where d_g > 0; w_g = d_g B_g'a
 * Stops     the gap of the model is at most the target, or h no longer decreases
 * Cost      a step: n^2 M + n^3 / 3, or for M < n columns M^3 / 3; and n^2 for each group. Of wide
 *           groups X_g X_g' is kept, so that they take n^2 / 2 instead of n^2 M_g
 * Threads   those of BLAS
 * Source    the variational form is that of multiple kernel learning (Bach, Lanckriet and Jordan
 *           2004; Rakotomamonjy et al. 2008) */
#include "solver/group_lasso/group_newton.h"
#include "linalg/cholesky.h"
#include "solver/solver.h"

#include <cblas.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#define MOST_STEPS 40
#define HALVINGS   30
#define PANEL      256  /* columns of a rank update */
#define WIDE       24   /* columns from which a kernel is read faster than they are multiplied */
#define LARGER     8    /* times as many subjects as columns: a kernel would take too much memory */
#define STRETCH    1024 /* entries of kernels that are added at once, in cache */
#define FLAT       1e-15 /* of the value: no decrease */

void vxs_group_newton_release(vxs_group_newton *t)
{
    vxs_weighted_covariates_release(&t->covariates);
    vxs_l1_quadratic_release(&t->quadratic);
    void *const all[] = { t->columns, t->panel, t->gram,   t->system,  t->target, t->gradient,
                          t->size,    t->pull,  t->across, t->hessian, t->kernel };
    for (size_t place = 0; place < t->kernel_room; place++)
        free(t->kernel[place]);
    for (size_t k = 0; k < sizeof(all) / sizeof(all[0]); k++)
        free(all[k]);
    *t = (vxs_group_newton){ .dense = 0 };
}

/* ---- Memory ---------------------------------------------------------------------------------- */

static vxs_status replace(double **array, size_t count, size_t each, vxs_error *err)
{
    free(*array);
    *array = vxs_resize(NULL, count, each * sizeof(**array), err);
    return *array ? VXS_OK : VXS_FAILED;
}

static bool has_few_columns(const vxs_group_model *m)
{
    return m->start[m->count] < m->n;
}

static vxs_status begin_rows(vxs_group_newton *t, const vxs_group_model *m, vxs_error *err)
{
    size_t n = m->n;
    if (t->target)
        return VXS_OK;
    if (vxs_weighted_covariates_init(&t->covariates, n, m->q, err) ||
        replace(&t->target, 2 * n, 1, err) || replace(&t->panel, PANEL + 2 * m->q, n + m->q, err) ||
        replace(&t->system, n, n, err) || replace(&t->gram, n, n, err))
        return VXS_FAILED;
    t->dual = t->target + n;
    return VXS_OK;
}

static vxs_status begin_columns(vxs_group_newton *t, const vxs_group_model *m, vxs_error *err)
{
    size_t columns = m->start[m->count], room = columns + columns / 4;
    if (columns <= t->column_room)
        return VXS_OK;
    t->column_room = 0;
    if (replace(&t->columns, room, m->n, err) || replace(&t->gradient, room, 2, err))
        return VXS_FAILED;
    t->shared = t->gradient + room;
    t->column_room = room;
    return VXS_OK;
}

static vxs_status begin_groups(vxs_group_newton *t, const vxs_group_model *m, vxs_error *err)
{
    size_t n = m->n, room = m->count + m->count / 4 + 8;
    if (m->count <= t->group_room)
        return VXS_OK;
    t->group_room = 0;
    if (replace(&t->size, room, 4, err) || replace(&t->pull, 2 * room, n, err) ||
        replace(&t->across, room, n, err) || replace(&t->hessian, room, room, err))
        return VXS_FAILED;
    t->next = t->size + room;
    t->best = t->size + 2 * room;
    t->linear = t->size + 3 * room;
    t->solved = t->pull + room * n;
    t->group_room = room;
    return VXS_OK;
}

static size_t half_of(size_t n)
{
    return n * (n + 1) / 2;
}

/* The lower half of X_g X_g', column by column; `system` is work space. */
static vxs_status make_kernel(vxs_group_newton *t, const double *x, size_t n, size_t width,
                              double **kernel, vxs_error *err)
{
    double *to = vxs_alloc(half_of(n), sizeof(*to), err);
    if (!to)
        return VXS_FAILED;
    cblas_dsyrk(CblasColMajor, CblasLower, CblasNoTrans, (int)n, (int)width, 1, x, (int)n, 0,
                t->system, (int)n);
    *kernel = to;
    for (size_t c = 0; c < n; to += n - c, c++)
        memcpy(to, t->system + c * n + c, (n - c) * sizeof(*to));
    return VXS_OK;
}

static vxs_status begin_kernels(vxs_group_newton *t, const vxs_group_model *m, vxs_error *err)
{
    size_t places = 0;
    for (size_t g = 0; g < m->count; g++)
        places = m->place[g] >= places ? m->place[g] + 1 : places;
    if (places > t->kernel_room) {
        double **kernel = vxs_resize(t->kernel, 2 * places, sizeof(*kernel), err);
        if (!kernel)
            return VXS_FAILED;
        memset(kernel + t->kernel_room, 0, (2 * places - t->kernel_room) * sizeof(*kernel));
        t->kernel = kernel;
        t->kernel_room = 2 * places;
    }
    for (size_t g = 0; g < m->count && !has_few_columns(m); g++) {
        size_t width = m->start[g + 1] - m->start[g];
        if (width < WIDE || m->n > LARGER * width || t->kernel[m->place[g]])
            continue;
        if (make_kernel(t, m->x[g], m->n, width, &t->kernel[m->place[g]], err))
            return VXS_FAILED;
    }
    return VXS_OK;
}

static vxs_status begin(vxs_group_newton *t, const vxs_group_model *m, vxs_error *err)
{
    vxs_status status = begin_rows(t, m, err);
    if (!status)
        status = begin_columns(t, m, err);
    if (!status)
        status = begin_groups(t, m, err);
    return status ? status : begin_kernels(t, m, err);
}

/* ---- The model ------------------------------------------------------------------------------- */

/* columns = B; target = t, from s = -f' / root(v) and root(v) z. */
static void set_model(vxs_group_newton *t, const vxs_group_model *m)
{
    size_t n = m->n;
    vxs_weighted_covariates_set(&t->covariates, m->covariates, m->curvature);
    const double *root = t->covariates.root;
    for (size_t g = 0; g < m->count; g++)
        for (size_t k = m->start[g]; k < m->start[g + 1]; k++) {
            const double *x = m->x[g] + (k - m->start[g]) * n;
            double *to = t->columns + k * n;
            for (size_t i = 0; i < n; i++)
                to[i] = root[i] * x[i];
            vxs_weighted_covariates_project(&t->covariates, to);
        }
    for (size_t i = 0; i < n; i++)
        t->target[i] = (root[i] > 0 ? -m->loss_gradient[i] / root[i] : 0) + root[i] * m->z[i];
    vxs_weighted_covariates_project(&t->covariates, t->target);
    if (has_few_columns(m) && m->start[m->count] > 0)
        cblas_dsyrk(CblasColMajor, CblasLower, CblasTrans, (int)m->start[m->count], (int)n, 1,
                    t->columns, (int)n, 0, t->gram, (int)m->start[m->count]);
}

/* shared = root(d) of each column. */
static void set_roots(vxs_group_newton *t, const vxs_group_model *m, const double *d)
{
    for (size_t g = 0; g < m->count; g++)
        for (size_t k = m->start[g]; k < m->start[g + 1]; k++)
            t->shared[k] = sqrt(d[g]);
}

/* system = sum of d_g X_g X_g' over the groups that have kernels, both halves. */
static void add_kernels(vxs_group_newton *t, const vxs_group_model *m)
{
    size_t n = m->n, column = 0, row = 0;
    double sum[STRETCH];
    for (size_t first = 0; first < half_of(n); first += STRETCH) {
        size_t some = half_of(n) - first < STRETCH ? half_of(n) - first : STRETCH;
        memset(sum, 0, some * sizeof(*sum));
        for (size_t g = 0; g < m->count; g++) {
            const double *kernel = t->kernel[m->place[g]];
            double root = t->shared[m->start[g]];
            if (kernel && root > 0)
                cblas_daxpy((int)some, root * root, kernel + first, 1, sum, 1);
        }
        for (size_t e = 0; e < some; e++) {
            t->system[column * n + row] = t->system[row * n + column] = sum[e];
            if (++row == n)
                row = ++column;
        }
    }
}

/* system = Q root(v) system root(v) Q, Q the projection off the covariates; its lower half. */
static void weigh_and_project(vxs_group_newton *t, size_t n)
{
    const vxs_weighted_covariates *c = &t->covariates;
    int rows = (int)n, rank = (int)c->rank;
    double *of_basis = t->panel, *square = t->panel + c->rank * n;
    for (size_t k = 0; k < n; k++)
        for (size_t i = 0; i < n; i++)
            t->system[k * n + i] *= c->root[k] * c->root[i];
    if (rank == 0)
        return;
    cblas_dsymm(CblasColMajor, CblasLeft, CblasLower, rows, rank, 1, t->system, rows, c->basis,
                rows, 0, of_basis, rows);
    cblas_dgemm(CblasColMajor, CblasTrans, CblasNoTrans, rank, rank, rows, 1, c->basis, rows,
                of_basis, rows, 0, square, rank);
    cblas_dgemm(CblasColMajor, CblasNoTrans, CblasNoTrans, rows, rank, rank, -0.5, c->basis, rows,
                square, rank, 1, of_basis, rows);
    cblas_dsyr2k(CblasColMajor, CblasLower, CblasNoTrans, rows, rank, -1, c->basis, rows, of_basis,
                 rows, 1, t->system, rows);
}

/* Adds BDB' of the groups that have no kernel. */
static void add_columns(vxs_group_newton *t, const vxs_group_model *m)
{
    size_t n = m->n, some = 0;
    for (size_t g = 0; g < m->count; g++) {
        if (t->kernel[m->place[g]] || t->shared[m->start[g]] == 0)
            continue;
        for (size_t k = m->start[g]; k < m->start[g + 1]; k++) {
            for (size_t i = 0; i < n; i++)
                t->panel[some * n + i] = t->shared[k] * t->columns[k * n + i];
            if (++some < PANEL)
                continue;
            cblas_dsyrk(CblasColMajor, CblasLower, CblasNoTrans, (int)n, (int)some, 1, t->panel,
                        (int)n, 1, t->system, (int)n);
            some = 0;
        }
    }
    if (some > 0)
        cblas_dsyrk(CblasColMajor, CblasLower, CblasNoTrans, (int)n, (int)some, 1, t->panel, (int)n,
                    1, t->system, (int)n);
}

/* system = the factor of I + BDB'. */
static bool factor_rows(vxs_group_newton *t, const vxs_group_model *m)
{
    size_t n = m->n;
    add_kernels(t, m);
    weigh_and_project(t, n);
    add_columns(t, m);
    for (size_t i = 0; i < n; i++)
        t->system[i * n + i] += 1;
    return vxs_cholesky(t->system, n);
}

/* system = the factor of I + root(D) B'B root(D). */
static bool factor_columns(vxs_group_newton *t, const vxs_group_model *m)
{
    size_t columns = m->start[m->count];
    for (size_t k = 0; k < columns; k++)
        for (size_t r = k; r < columns; r++)
            t->system[k * columns + r] =
                t->shared[k] * t->shared[r] * t->gram[k * columns + r] + (r == k);
    return vxs_cholesky(t->system, columns);
}

/* v = (I + BDB')^-1 v, n x `count`; `across` is columns x count work space. */
static void solve_system(vxs_group_newton *t, const vxs_group_model *m, double *across, double *v,
                         size_t count)
{
    int n = (int)m->n, columns = (int)m->start[m->count], many = (int)count;
    if (!has_few_columns(m)) {
        vxs_cholesky_solve(t->system, m->n, v, count);
        return;
    }
    if (columns == 0 || count == 0)
        return;
    cblas_dgemm(CblasColMajor, CblasTrans, CblasNoTrans, columns, many, n, 1, t->columns, n, v, n,
                0, across, columns);
    for (size_t c = 0; c < count; c++)
        for (int k = 0; k < columns; k++)
            across[c * (size_t)columns + (size_t)k] *= t->shared[k];
    vxs_cholesky_solve(t->system, (size_t)columns, across, count);
    for (size_t c = 0; c < count; c++)
        for (int k = 0; k < columns; k++)
            across[c * (size_t)columns + (size_t)k] *= t->shared[k];
    cblas_dgemm(CblasColMajor, CblasNoTrans, CblasNoTrans, n, many, columns, -1, t->columns, n,
                across, columns, 1, v, n);
}

/* h(d), and a; INFINITY if the system cannot be factored. */
static double value_at(vxs_group_newton *t, const vxs_group_model *m, const double *d)
{
    double sum = 0;
    set_roots(t, m, d);
    if (!(has_few_columns(m) ? factor_columns(t, m) : factor_rows(t, m)))
        return INFINITY;
    memcpy(t->dual, t->target, m->n * sizeof(*t->dual));
    solve_system(t, m, t->across, t->dual, 1);
    for (size_t g = 0; g < m->count; g++)
        sum += d[g];
    return cblas_ddot((int)m->n, t->target, 1, t->dual, 1) / 2 + m->lambda * m->lambda * sum / 2;
}

/* gradient = B'a; the gap of the model at w_g = d_g B_g'a. */
static double gap_at(vxs_group_newton *t, const vxs_group_model *m, const double *d)
{
    int n = (int)m->n, columns = (int)m->start[m->count];
    double square = cblas_ddot(n, t->dual, 1, t->dual, 1), penalty = 0, steepest = 0;
    double along = cblas_ddot(n, t->dual, 1, t->target, 1);
    if (columns > 0)
        cblas_dgemv(CblasColMajor, CblasTrans, n, columns, 1, t->columns, n, t->dual, 1, 0,
                    t->gradient, 1);
    for (size_t g = 0; g < m->count; g++) {
        double size =
            cblas_dnrm2((int)(m->start[g + 1] - m->start[g]), t->gradient + m->start[g], 1);
        t->linear[g] = size * size / 2;
        penalty += m->lambda * d[g] * size;
        steepest = fmax(steepest, size);
    }
    double limit = steepest > 0 ? m->lambda / steepest : INFINITY;
    double scale = fmin(limit, square > 0 ? along / square : 1);
    return square / 2 + penalty - scale * along + scale * scale * square / 2;
}

/* ---- Steps ----------------------------------------------------------------------------------- */

/* next = the minimum over d >= 0 of the quadratic model of h at d. */
static vxs_status find_step(vxs_group_newton *t, const vxs_group_model *m, uint64_t *steps,
                            vxs_error *err)
{
    int n = (int)m->n, count = (int)m->count;
    for (size_t g = 0; g < m->count; g++)
        cblas_dgemv(CblasColMajor, CblasNoTrans, n, (int)(m->start[g + 1] - m->start[g]), 1,
                    t->columns + m->start[g] * m->n, n, t->gradient + m->start[g], 1, 0,
                    t->pull + g * m->n, 1);
    memcpy(t->solved, t->pull, m->n * m->count * sizeof(*t->solved));
    solve_system(t, m, t->across, t->solved, m->count);
    cblas_dgemm(CblasColMajor, CblasTrans, CblasNoTrans, count, count, n, 1, t->pull, n, t->solved,
                n, 0, t->hessian, count);
    for (size_t c = 0; c < m->count; c++) /* symmetric, in every digit */
        for (size_t r = 0; r < c; r++)
            t->hessian[r * m->count + c] = t->hessian[c * m->count + r];
    memcpy(t->next, t->size, m->count * sizeof(*t->next));
    vxs_l1_quadratic *q = &t->quadratic;
    q->m = m->count;
    q->q = 0;
    q->h = t->hessian;
    q->stride = m->count;
    q->slope = t->linear;
    q->lambda = m->lambda * m->lambda / 2;
    q->nonnegative = true;
    q->z = t->next;
    q->context = m->context;
    return vxs_l1_quadratic_solve(q, steps, err);
}

/* From d along the segment to `next` until h decreases; false if it no longer does. */
static bool go_towards(vxs_group_newton *t, const vxs_group_model *m, double *value)
{
    double share = 1;
    for (int k = 0; k < HALVINGS; k++, share /= 2) {
        for (size_t g = 0; g < m->count; g++)
            t->best[g] = fmax(0, t->size[g] + share * (t->next[g] - t->size[g]));
        double now = value_at(t, m, t->best);
        if (now < *value * (1 - FLAT)) {
            memcpy(t->size, t->best, m->count * sizeof(*t->size));
            *value = now;
            return true;
        }
    }
    *value = value_at(t, m, t->size); /* a and the factor are those of d again */
    return false;
}

vxs_status vxs_group_newton_solve(vxs_group_newton *t, const vxs_group_model *m, double *weight,
                                  uint64_t *steps, vxs_error *err)
{
    vxs_status status = begin(t, m, err);
    if (status)
        return status;
    set_model(t, m);
    for (size_t g = 0; g < m->count; g++)
        t->size[g] =
            cblas_dnrm2((int)(m->start[g + 1] - m->start[g]), weight + m->start[g], 1) / m->lambda;
    double value = value_at(t, m, t->size);
    bool moved = value < INFINITY;
    for (int step = 0; !status; step++) {
        double gap = gap_at(t, m, t->size);
        if (!moved || gap <= m->target || step == MOST_STEPS)
            break;
        status = find_step(t, m, steps, err);
        if (!status)
            moved = go_towards(t, m, &value);
        if (!status)
            status = vxs_check_interrupted(m->context, err);
        ++*steps;
    }
    for (size_t g = 0; g < m->count && !status && value < INFINITY; g++)
        for (size_t k = m->start[g]; k < m->start[g + 1]; k++)
            weight[k] = t->size[g] * t->gradient[k];
    return status;
}
