/* working_set.c - the restricted problem on the working set, by Newton's method.
 *
 * Method    Each step minimizes the quadratic model with the l1 penalty exactly (l1_quadratic.c).
 *           For the squared loss one step solves the problem, and the Gram matrix is updated as
 *           features enter and leave; for other losses the model has the columns of nonzero weight
 *           or with a gradient above lambda. Large sets use coordinate descent or, with a
 *           Laplacian, projected Newton steps (newton.c)
 * Stops     the gap on the set is at most the target, or stalls
 * Cost      a step: n m^2 for the Gram matrix, m^3 / 3 for its factor
 * Threads   those of BLAS
 * Source    spec/saif.md, beyond the paper: exact steps on the working set */
#include "solver/saif/working_set.h"
#include "linalg/gram_schmidt.h"
#include "solver/solver.h"

#include <cblas.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#define MOST_STEPS      100
#define EPOCHS          10    /* K: sweeps of coordinate descent between gaps */
#define ROUNDS          1     /* sweeps after a projected Newton step */
#define FLAT            1e-13 /* of the value: rounding */
#define UNMOVED         1e-12 /* of theta: rounding */
#define COVARIATE_STEPS 20

/* ---- Memory ---------------------------------------------------------------------------------- */

static vxs_status grow(double **array, size_t count, vxs_error *err)
{
    double *larger = vxs_resize(*array, count, sizeof(**array), err);
    if (!larger)
        return VXS_FAILED;
    *array = larger;
    return VXS_OK;
}

/* Changes the stride of the Gram matrix, keeping its entries while they are current. */
static vxs_status reserve_gram(vxs_working_set *a, size_t m, vxs_error *err)
{
    size_t stride = m + m / 8 + 32, used = a->gram_is_current ? a->q + a->count : 0;
    if (m <= a->stride)
        return VXS_OK;
    double *larger = vxs_resize(NULL, stride * stride, sizeof(*larger), err);
    if (!larger)
        return VXS_FAILED;
    for (size_t c = 0; c < used && c < a->stride; c++)
        memcpy(larger + c * stride, a->gram + c * a->stride, a->stride * sizeof(*larger));
    free(a->gram);
    a->gram = larger;
    a->stride = stride;
    return VXS_OK;
}

/* Work space for m scaled or gathered columns. */
static vxs_status reserve_scratch(vxs_working_set *a, size_t m, vxs_error *err)
{
    size_t room = m + m / 8 + 32;
    if (m <= a->scratch)
        return VXS_OK;
    if (grow(&a->spare, a->n * room, err) || grow(&a->picked, a->n * room, err))
        return VXS_FAILED;
    a->scratch = room;
    return VXS_OK;
}

static vxs_status allocate(vxs_working_set *a, size_t count, vxs_error *err)
{
    double **const arrays[] = { &a->w,      &a->gradient, &a->correlation,
                                &a->linear, &a->square,   &a->laplacian_gradient };
    size_t room = count + count / 8 + 32, m = a->q + room;
    if (count <= a->room && a->x)
        return VXS_OK;
    vxs_status status = grow(&a->x, a->n * m, err);
    for (size_t k = 0; k < sizeof(arrays) / sizeof(arrays[0]) && !status; k++)
        status = grow(arrays[k], m, err);
    size_t *set = status ? NULL : vxs_resize(a->set, room, sizeof(*set), err);
    a->set = set ? set : a->set;
    size_t *chosen = set ? vxs_resize(a->chosen, m, sizeof(*chosen), err) : NULL;
    a->chosen = chosen ? chosen : a->chosen;
    size_t *listed = chosen ? vxs_resize(a->listed, room, sizeof(*listed), err) : NULL;
    a->listed = listed ? listed : a->listed;
    if (!listed)
        return VXS_FAILED;
    a->room = room;
    return VXS_OK;
}

/* Adds the Laplacian of the set's columns, or of the chosen ones. */
static void add_laplacian(vxs_working_set *a, const size_t *chosen, size_t first, size_t m)
{
    size_t q = a->q, *list = a->listed;
    if (m <= q)
        return;
    for (size_t c = q; c < m; c++)
        list[c - q] = a->set[(chosen ? chosen[c] : c) - q];
    vxs_laplacian_add(&a->laplacian, list, m - q, first > q ? first - q : 0,
                      a->gram + q * a->stride + q, a->stride);
}

/* gram = x' diag(scale) x for columns first ... m - 1 against all before and among them. */
static vxs_status multiply(vxs_working_set *a, const double *x, const size_t *chosen, size_t first,
                           size_t m, const double *scale, vxs_error *err)
{
    size_t n = a->n, added = m - first;
    if (reserve_gram(a, m, err) || reserve_scratch(a, added, err))
        return VXS_FAILED;
    for (size_t c = 0; c < added; c++)
        for (size_t i = 0; i < n; i++)
            a->spare[c * n + i] = x[(first + c) * n + i] * (scale ? scale[i] : 1);
    cblas_dgemm(CblasColMajor, CblasTrans, CblasNoTrans, (int)m, (int)added, (int)n, 1, x, (int)n,
                a->spare, (int)n, 0, a->gram + first * a->stride, (int)a->stride);
    for (size_t c = first; c < m; c++)
        for (size_t r = 0; r < first; r++)
            a->gram[r * a->stride + c] = a->gram[c * a->stride + r];
    for (size_t c = first; c < m; c++)
        a->gram[c * a->stride + c] += c >= a->q ? a->ridge : 0;
    if (a->laplacian.p > 0)
        add_laplacian(a, chosen, first, m);
    return VXS_OK;
}

/* Orthonormal basis of the covariates over samples of weight > 0; dependent ones are skipped. */
static void make_basis(vxs_working_set *a)
{
    size_t n = a->n;
    for (size_t c = 0; c < a->q; c++) {
        double *b = a->basis + a->rank * n;
        for (size_t i = 0; i < n; i++)
            b[i] = vxs_loss_weight(&a->problem->loss, i) > 0 ? a->x[c * n + i] : 0;
        if (!vxs_gram_schmidt_append(a->basis, n, a->rank, VXS_INDEPENDENT, 0, NULL))
            continue;
        a->rank++;
        vxs_dual_projection_add(&a->reach, a->x + c * n);
    }
}

vxs_status vxs_working_set_init(vxs_working_set *a, const vxs_problem *problem, vxs_error *err)
{
    size_t n = vxs_design_rows(problem->design), q = problem->covariate_count;
    *a = (vxs_working_set){ .problem = problem,
                            .loss = problem->loss.kind->sample,
                            .n = n,
                            .q = q,
                            .ridge = vxs_quadratic_weight(&problem->quadratic, &vxs_ridge) };
    a->z = vxs_alloc(4 * n, sizeof(*a->z), err);
    a->basis = vxs_alloc(q + 1, n * sizeof(*a->basis), err);
    if (!a->z || !a->basis || allocate(a, 1, err) ||
        vxs_dual_projection_init(problem, q, &a->reach, err) ||
        vxs_laplacian_init(&problem->quadratic, vxs_design_columns(problem->design), &a->laplacian,
                           err)) {
        vxs_working_set_release(a);
        return VXS_FAILED;
    }
    a->loss_gradient = a->z + n;
    a->curvature = a->z + 2 * n;
    a->trial = a->z + 3 * n;
    if (q > 0)
        memcpy(a->x, problem->covariates, n * q * sizeof(*a->x));
    memset(a->w, 0, q * sizeof(*a->w));
    make_basis(a);
    return VXS_OK;
}

void vxs_working_set_release(vxs_working_set *a)
{
    free(a->set);
    free(a->x);
    free(a->w);
    free(a->gram);
    free(a->gradient);
    free(a->correlation);
    free(a->square);
    free(a->linear);
    free(a->spare);
    free(a->picked);
    free(a->chosen);
    free(a->listed);
    free(a->laplacian_gradient);
    free(a->z);
    free(a->basis);
    vxs_l1_quadratic_release(&a->quadratic);
    vxs_newton_release(&a->newton);
    vxs_dual_newton_release(&a->dual_newton);
    vxs_line_search_release(&a->line);
    vxs_dual_projection_release(&a->reach);
    vxs_laplacian_release(&a->laplacian);
    *a = (vxs_working_set){ .n = 0 };
}

/* ---- Features of the set --------------------------------------------------------------------- */

vxs_status vxs_working_set_add(vxs_working_set *a, const size_t *set, size_t count, vxs_error *err)
{
    size_t before = a->q + a->count;
    vxs_status status = allocate(a, a->count + count, err);
    if (status || count == 0)
        return status;
    vxs_design_fetch(a->problem->design, set, count, a->x + before * a->n);
    memcpy(a->set + a->count, set, count * sizeof(*set));
    memset(a->w + before, 0, count * sizeof(*a->w));
    a->count += count;
    a->gram_is_current = a->gram_is_current && a->count <= VXS_EXACT && !vxs_working_set_is_wide(a);
    if (a->gram_is_current)
        status = multiply(a, a->x, NULL, before, before + count, a->problem->loss.u, err);
    return status;
}

void vxs_working_set_keep(vxs_working_set *a, const bool *keep)
{
    size_t n = a->n, q = a->q, kept = 0;
    for (size_t k = 0; k < a->count; k++) {
        if (!keep[k])
            continue;
        if (kept < k) {
            memcpy(a->x + (q + kept) * n, a->x + (q + k) * n, n * sizeof(*a->x));
            a->w[q + kept] = a->w[q + k];
            a->correlation[q + kept] = a->correlation[q + k];
            a->gradient[q + kept] = a->gradient[q + k];
            a->set[kept] = a->set[k];
        }
        a->chosen[kept++] = k;
    }
    for (size_t c = 0; c < kept && a->gram_is_current; c++)
        memmove(a->gram + (q + c) * a->stride, a->gram + (q + a->chosen[c]) * a->stride,
                (q + a->count) * sizeof(*a->gram));
    for (size_t c = 0; c < q + kept && a->gram_is_current; c++) /* rows follow their columns */
        for (size_t r = 0; r < kept; r++)
            a->gram[c * a->stride + q + r] = a->gram[c * a->stride + q + a->chosen[r]];
    a->count = kept;
}

/* ---- Values ---------------------------------------------------------------------------------- */

void vxs_working_set_predict(const vxs_working_set *a, const double *w, double *z)
{
    size_t m = a->q + a->count;
    memset(z, 0, a->n * sizeof(*z));
    for (size_t c = 0; c < m; c++)
        if (w[c] != 0)
            cblas_daxpy((int)a->n, w[c], a->x + c * a->n, 1, z, 1);
}

double vxs_working_set_value(const vxs_working_set *a, const double *w, const double *z,
                             double lambda)
{
    double sum = 0, size = 0, square = 0;
    for (size_t i = 0; i < a->n; i++)
        sum += vxs_loss_weight(&a->problem->loss, i) *
               a->loss->value(z[i], a->problem->loss.y[i], a->problem->loss.threshold);
    for (size_t k = a->q; k < a->q + a->count; k++) {
        size += fabs(w[k]);
        square += w[k] * w[k];
    }
    if (a->laplacian.p > 0)
        sum += vxs_laplacian_form(&a->laplacian, a->set, a->count, w + a->q) / 2;
    return sum + lambda * size + a->ridge * square / 2;
}

void vxs_working_set_project(const vxs_working_set *a, double *v)
{
    vxs_gram_schmidt_project(a->basis, a->n, a->rank, v, NULL);
}

void vxs_working_set_theta(vxs_working_set *a, double lambda, double *theta)
{
    size_t n = a->n;
    vxs_working_set_predict(a, a->w, a->z);
    for (size_t i = 0; i < n; i++) {
        double y = a->problem->loss.y[i];
        a->loss_gradient[i] = vxs_loss_weight(&a->problem->loss, i) *
                              a->loss->gradient(a->z[i], y, a->problem->loss.threshold);
        a->curvature[i] = vxs_loss_weight(&a->problem->loss, i) *
                          a->loss->curvature(a->z[i], y, a->problem->loss.threshold);
        theta[i] = -a->loss_gradient[i] / lambda;
    }
    vxs_working_set_project(a, theta);
    if (a->rank > 0 && a->loss->outside)
        vxs_working_set_keep_inside(a, lambda, theta);
    double moved = 0;
    for (size_t i = 0; i < n; i++)
        moved = fmax(moved, fabs(theta[i] + a->loss_gradient[i] / lambda));
    a->is_gradient = moved <= UNMOVED * cblas_dnrm2((int)n, theta, 1);
}

/* Gradient at the weights and correlations with theta on the set; returns the largest
 * correlation. */
static double steepest_of(vxs_working_set *a, const double *theta, double lambda)
{
    double max_correlation = 0;
    int n = (int)a->n, m = (int)(a->q + a->count);
    cblas_dgemv(CblasColMajor, CblasTrans, n, m, 1, a->x, n, a->loss_gradient, 1, 0, a->gradient,
                1);
    cblas_dgemv(CblasColMajor, CblasTrans, n, m, 1, a->x, n, theta, 1, 0, a->correlation, 1);
    if (a->laplacian.p > 0)
        vxs_laplacian_times(&a->laplacian, a->set, a->count, a->w + a->q, a->laplacian_gradient);
    for (size_t k = a->q; k < a->q + a->count; k++) {
        double pull = a->ridge * a->w[k];
        pull += a->laplacian.p > 0 ? a->laplacian_gradient[k - a->q] : 0;
        a->gradient[k] += pull;
        a->correlation[k] -= pull / lambda;
        double c = a->correlation[k];
        max_correlation = fmax(max_correlation, a->problem->nonnegative ? c : fabs(c));
    }
    return max_correlation;
}

double vxs_working_set_correlation(const vxs_working_set *a, size_t k)
{
    return a->correlation[a->q + k];
}

/* ---- Newton ---------------------------------------------------------------------------------- */

/* Covariates, columns of nonzero weight, and those whose gradient exceeds lambda. */
static size_t choose(vxs_working_set *a, double lambda)
{
    size_t chosen = 0;
    for (size_t k = 0; k < a->q + a->count; k++) {
        double slope = -a->gradient[k];
        bool exceeds = (a->problem->nonnegative ? slope : fabs(slope)) > lambda;
        if (k < a->q || a->w[k] != 0 || exceeds)
            a->chosen[chosen++] = k;
    }
    return chosen;
}

/* The Gram matrix of the chosen columns, as curved as the loss is here. For the squared loss it is
 * that of all columns, and stays. */
static vxs_status make_gram(vxs_working_set *a, size_t m, vxs_error *err)
{
    size_t n = a->n;
    if (a->gram_is_current)
        return VXS_OK;
    if (m == a->q + a->count && a->problem->loss.kind->squared) {
        vxs_status status = multiply(a, a->x, NULL, 0, m, a->problem->loss.u, err);
        a->gram_is_current = !status;
        return status;
    }
    if (reserve_scratch(a, m, err))
        return VXS_FAILED;
    for (size_t c = 0; c < m; c++)
        memcpy(a->picked + c * n, a->x + a->chosen[c] * n, n * sizeof(*a->picked));
    return multiply(a, a->picked, a->chosen, 0, m, a->curvature, err);
}

/* The quadratic model at the current weights, on the chosen columns. */
static vxs_status newton_target(vxs_working_set *a, double lambda, size_t m, double *target,
                                vxs_error *err)
{
    vxs_l1_quadratic *q = &a->quadratic;
    vxs_status status = make_gram(a, m, err);
    if (status)
        return status;
    for (size_t r = 0; r < m; r++)
        a->linear[r] = -a->gradient[a->chosen[r]];
    q->m = m;
    q->q = a->q;
    q->h = a->gram;
    q->stride = a->stride;
    q->slope = a->linear;
    q->lambda = lambda;
    q->nonnegative = a->problem->nonnegative;
    q->z = target;
    q->context = a->context;
    return vxs_l1_quadratic_solve(q, &a->steps, err);
}

/* A step of the first m chosen columns. */
static vxs_status newton_step(vxs_working_set *a, double lambda, double primal, size_t m,
                              double *room, bool *moved, vxs_error *err)
{
    size_t all = a->q + a->count;
    double *target = room, *full = room + all;
    for (size_t c = 0; c < m; c++)
        target[c] = a->w[a->chosen[c]];
    vxs_status status = newton_target(a, lambda, m, target, err);
    if (status)
        return status;
    memcpy(full, a->w, all * sizeof(*full));
    for (size_t c = 0; c < m; c++)
        full[a->chosen[c]] = target[c];
    return vxs_working_set_go_towards(a, full, false, lambda, primal, moved, err);
}

static vxs_status exact_step(vxs_working_set *a, double lambda, double primal, double *room,
                             bool *moved, vxs_error *err)
{
    size_t m = a->q + a->count;
    if (a->problem->loss.kind->squared && a->count <= VXS_EXACT)
        for (size_t k = 0; k < m; k++)
            a->chosen[k] = k;
    else
        m = choose(a, lambda);
    return newton_step(a, lambda, primal, m, room, moved, err);
}

/* A Newton step of the covariates; of a single one of the squared hinge to its minimum. */
static vxs_status covariate_step(vxs_working_set *a, double lambda, double *room, bool *moved,
                                 vxs_error *err)
{
    double primal = vxs_working_set_value(a, a->w, a->z, lambda);
    cblas_dgemv(CblasColMajor, CblasTrans, (int)a->n, (int)a->q, 1, a->x, (int)a->n,
                a->loss_gradient, 1, 0, a->gradient, 1);
    for (size_t k = 0; k < a->q; k++)
        a->chosen[k] = k;
    if (a->q > 1 || a->problem->loss.kind != &vxs_squared_hinge_loss)
        return newton_step(a, lambda, primal, a->q, room, moved, err);
    memcpy(room, a->w, (1 + a->count) * sizeof(*room));
    room[0] -= copysign(1, a->gradient[0]);
    return vxs_working_set_go_to_minimum(a, room, INFINITY, lambda, primal, moved, err);
}

/* Rounds of descent; then the free columns go to their best together, since a dual point comes from
 * nowhere else. One step of the squared hinge may end on another of its pieces. */
static vxs_status descent_step(vxs_working_set *a, double lambda, int iterations, double *theta,
                               double *room, vxs_error *err)
{
    int most = a->problem->loss.kind == &vxs_squared_hinge_loss ? COVARIATE_STEPS : 1;
    bool moved = a->q > 0;
    vxs_status status = VXS_OK;
    vxs_working_set_descend(a, lambda, iterations);
    for (int step = 0; step < most && moved && !status; step++) {
        vxs_working_set_theta(a, lambda, theta);
        if (most > 1 && a->is_gradient)
            break;
        status = covariate_step(a, lambda, room, &moved, err);
    }
    return status;
}

/* A Newton step of the support and of the columns whose gradient exceeds lambda, at fixed signs: a
 * weight that would change its sign stops at 0. Rounds of descent find the other changes. */
static vxs_status projected_step(vxs_working_set *a, double lambda, double primal, double *theta,
                                 double *room, bool *moved, vxs_error *err)
{
    size_t all = a->q + a->count, m = choose(a, lambda);
    double *full = room + all;
    vxs_status status = vxs_working_set_newton(a, lambda, m, room, full, err);
    if (status)
        return status;
    bool went;
    status = vxs_working_set_go_towards(a, full, true, lambda, primal, &went, err);
    if (status)
        return status;
    a->steps++;
    vxs_working_set_theta(a, lambda, theta); /* descent goes on from its predictions */
    status = descent_step(a, lambda, went ? ROUNDS : EPOCHS, theta, room, err);
    vxs_working_set_predict(a, a->w, a->z);
    *moved = went || vxs_working_set_value(a, a->w, a->z, lambda) < primal * (1 - FLAT);
    return status;
}

/* Exact steps unless the set is large, and then if descent stalls. */
static bool descends(const vxs_working_set *a, bool slow)
{
    if (a->inner != VXS_INNER_AUTO)
        return a->inner == VXS_INNER_DESCENT;
    return (a->count > VXS_EXACT || a->descend_first) && !slow;
}

static bool uses_dual(const vxs_working_set *a, bool slow)
{
    return vxs_working_set_is_wide(a) && !slow;
}

/* A Newton step of all columns by the dual; an exact one if the model has no minimum. */
static vxs_status net_step(vxs_working_set *a, double lambda, double primal, double *room,
                           bool *moved, vxs_error *err)
{
    bool solved;
    vxs_status status = vxs_working_set_net(a, lambda, room, &solved, err);
    if (status)
        return status;
    if (!solved)
        return exact_step(a, lambda, primal, room, moved, err);
    return vxs_working_set_go_towards(a, room, false, lambda, primal, moved, err);
}

static bool projects(const vxs_working_set *a)
{
    return a->inner == VXS_INNER_AUTO && a->laplacian.p > 0 && a->count > VXS_PROJECTED;
}

vxs_status vxs_working_set_solve_once(vxs_working_set *a, double lambda, double target,
                                      double *theta, vxs_state *state, vxs_error *err)
{
    double *room = vxs_resize(NULL, 2 * (a->q + a->count) + 1, sizeof(*room), err);
    vxs_status status = room ? VXS_OK : VXS_FAILED;
    bool moved = true, slow = false;
    double before = INFINITY;
    a->stalled = 0;
    for (int step = 0; !status; step++) {
        vxs_working_set_theta(a, lambda, theta);
        vxs_working_set_dual(a, theta, lambda, steepest_of(a, theta, lambda), state);
        if (!moved || state->gap <= target || step == MOST_STEPS)
            break;
        slow = slow || state->gap > before / 2;
        before = state->gap;
        if (a->screen && descends(a, slow))
            a->screen(a->screened, state);
        if (projects(a))
            status = projected_step(a, lambda, state->primal, theta, room, &moved, err);
        else if (uses_dual(a, slow))
            status = net_step(a, lambda, state->primal, room, &moved, err);
        else
            status = descends(a, slow) ? descent_step(a, lambda, EPOCHS, theta, room, err)
                                       : exact_step(a, lambda, state->primal, room, &moved, err);
        if (!status)
            status = vxs_check_interrupted(a->context, err);
    }
    free(room);
    return status;
}
