/* check_empty.c - the empty model: Newton's method on the unpenalized columns.
 *
 * It uses an orthonormal basis of their span, so that columns may have any scale. The multinomial
 * loss is invariant to a common change of all classes: the Hessian is singular, and elimination
 * skips dependent variables. */
#include "linalg/gram_schmidt.h"
#include "solver/solver.h"
#include "verify/check.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

double vxs_check_dot(const double *a, const double *b, size_t n)
{
    double sum = 0, compensation = 0;
    for (size_t i = 0; i < n; i++) {
        double term = a[i] * b[i] - compensation, next = sum + term;
        compensation = (next - sum) - term;
        sum = next;
    }
    return sum;
}

/* ---- The span of the unpenalized columns ----------------------------------------------------- */

static void project_out(double *v, const double *b, size_t n)
{
    double product = vxs_check_dot(b, v, n);
    for (size_t i = 0; i < n; i++)
        v[i] -= product * b[i];
}

void vxs_check_project_out(const vxs_check_empty *e, double *v)
{
    for (size_t r = 0; r < e->rank; r++)
        project_out(v, e->basis + r * e->n, e->n);
}

/* Orthonormal basis over samples of weight > 0; dependent columns are skipped. */
static void span(vxs_check_empty *e, const double *columns)
{
    size_t n = e->n;
    for (size_t k = 0; k < e->columns; k++) {
        double *b = e->basis + e->rank * n;
        for (size_t i = 0; i < n; i++)
            b[i] = vxs_check_u(e->problem, i) > 0 ? columns[k * n + i] : 0;
        double norm = sqrt(vxs_check_dot(b, b, n));
        vxs_check_project_out(e, b);
        vxs_check_project_out(e, b);
        double length = sqrt(vxs_check_dot(b, b, n));
        bool covariate = k < e->problem->covariate_count;
        double min_share = covariate ? VXS_INDEPENDENT_COVARIATE : VXS_INDEPENDENT;
        e->independent[k] = length > min_share * norm;
        for (size_t i = 0; i < n && e->independent[k]; i++)
            b[i] /= length;
        e->rank += e->independent[k];
    }
}

/* ---- Elimination ----------------------------------------------------------------------------- */

/* Eliminates variable v from the other equations of the q x q system; the right-hand side
 * follows it. */
static void eliminate_variable(double *a, size_t q, size_t v)
{
    double *right = a + q * q;
    for (size_t r = 0; r < q; r++) {
        double share = r == v ? 0 : a[r * q + v] / a[v * q + v];
        for (size_t k = 0; k < q && share != 0; k++)
            a[r * q + k] -= share * a[v * q + k];
        right[r] -= share * right[v];
    }
}

/* Gaussian elimination with diagonal pivoting; dependent variables are 0. The solution replaces the
 * right-hand side. `used` has q entries. */
static void eliminate(double *a, size_t q, bool *used)
{
    double *right = a + q * q, largest = 0;
    for (size_t k = 0; k < q; k++) {
        used[k] = false;
        largest = fmax(largest, a[k * q + k]);
    }
    for (size_t step = 0; step < q; step++) {
        size_t best = q;
        for (size_t k = 0; k < q; k++)
            if (!used[k] && (best == q || a[k * q + k] > a[best * q + best]))
                best = k;
        if (!(a[best * q + best] > 1e-13 * largest))
            break;
        used[best] = true;
        eliminate_variable(a, q, best);
    }
    for (size_t k = 0; k < q; k++)
        right[k] = used[k] ? right[k] / a[k * q + k] : 0;
}

/* ---- Newton's method ------------------------------------------------------------------------- */

static double value_of(const vxs_check_empty *e, const double *b)
{
    size_t n = e->n;
    double sum = 0;
    memset(e->zero, 0, e->classes * n * sizeof(*e->zero));
    for (size_t k = 0; k < e->classes * e->rank; k++)
        for (size_t i = 0; i < n; i++)
            e->zero[k / e->rank * n + i] += b[k] * e->basis[k % e->rank * n + i];
    for (size_t i = 0; i < n; i++)
        sum += vxs_check_loss(e->problem, i, e->zero + i, n);
    return sum;
}

/* Adds curvature x x' to the block of classes a and b. */
static void add_hessian(const vxs_check_empty *e, size_t i, size_t a, size_t b)
{
    size_t n = e->n, rank = e->rank, q = e->classes * rank;
    double curvature = vxs_check_curvature(e->problem, i, e->zero + i, e->gradient + i, n, a, b);
    for (size_t r = 0; r < rank; r++)
        for (size_t s = 0; s < rank; s++)
            e->gram[(a * rank + r) * q + b * rank + s] +=
                curvature * e->basis[r * n + i] * e->basis[s * n + i];
}

/* The Hessian and, as right-hand side, the negative gradient. */
static void newton_system(const vxs_check_empty *e)
{
    size_t n = e->n, rank = e->rank, q = e->classes * rank;
    memset(e->gram, 0, (q * q + q) * sizeof(*e->gram));
    for (size_t i = 0; i < n; i++) {
        vxs_check_gradient(e->problem, i, e->zero + i, n, e->gradient + i);
        for (size_t k = 0; k < q; k++)
            e->gram[q * q + k] -= e->gradient[k / rank * n + i] * e->basis[k % rank * n + i];
        for (size_t k = 0; k < e->classes * e->classes; k++)
            add_hessian(e, i, k / e->classes, k % e->classes);
    }
}

/* A Newton step, halved until the value is at most `bound`; returns the value. */
static double newton_step(const vxs_check_empty *e, double bound)
{
    size_t q = e->classes * e->rank;
    double next = INFINITY;
    newton_system(e);
    eliminate(e->gram, q, e->used);
    for (double share = 1; share > 1e-9 && !(next <= bound); share /= 2) {
        for (size_t a = 0; a < q; a++)
            e->trial[a] = e->b[a] + share * e->gram[q * q + a];
        next = value_of(e, e->trial);
    }
    if (next <= bound)
        memcpy(e->b, e->trial, q * sizeof(*e->trial));
    return value_of(e, e->b);
}

/* Until the value no longer decreases, and some steps more: the gradient still improves. */
static void descend(vxs_check_empty *e)
{
    e->value = value_of(e, e->b);
    for (int step = 0, flat = 0; step < 100 && e->rank > 0 && flat < 4; step++) {
        double next = newton_step(e, e->value * (1 + 1e-14));
        flat += !(next < e->value);
        e->value = next;
    }
}

/* Where all residuals exceed the threshold of a loss its second derivative is 0: starts from a
 * threshold that no residual exceeds, halved until that of the loss (continuation). */
static void fit(vxs_check_empty *e)
{
    const vxs_problem *problem = e->problem;
    vxs_problem relaxed = *problem;
    double threshold = problem->loss.threshold, max_target = 0;
    for (size_t i = 0; i < e->n && problem->loss.kind->has_threshold; i++)
        if (vxs_check_u(problem, i) > 0)
            max_target = fmax(max_target, fabs(problem->loss.y[i]));
    e->problem = &relaxed;
    for (double t = max_target; t > fmax(threshold, 0) && isfinite(t); t /= 2) {
        relaxed.loss.threshold = t;
        descend(e);
    }
    e->problem = problem;
    descend(e);
}

void vxs_check_empty_release(vxs_check_empty *e)
{
    free(e->basis);
    free(e->independent);
    free(e->zero);
    free(e->gram);
    free(e->b);
    free(e->trial);
    free(e->gradient);
    free(e->used);
    *e = (vxs_check_empty){ .n = 0 };
}

vxs_status vxs_check_empty_fit(const vxs_problem *problem, const double *columns, size_t count,
                               vxs_check_empty *e, vxs_error *err)
{
    size_t n = vxs_design_rows(problem->design), classes = vxs_check_classes(problem);
    *e = (vxs_check_empty){ .problem = problem, .n = n, .classes = classes, .columns = count };
    e->basis = vxs_alloc(n, count * sizeof(*e->basis), err);
    e->independent = vxs_alloc(count, sizeof(*e->independent), err);
    if (e->basis && e->independent)
        span(e, columns);
    size_t q = classes * e->rank;
    e->zero = vxs_alloc(n, classes * sizeof(*e->zero), err);
    e->gradient = vxs_alloc(n, classes * sizeof(*e->gradient), err);
    e->gram = vxs_alloc(q + 1, q * sizeof(*e->gram), err);
    e->b = vxs_alloc(q, sizeof(*e->b), err);
    e->trial = vxs_alloc(q, sizeof(*e->trial), err);
    e->used = vxs_alloc(q, sizeof(*e->used), err);
    if (!e->basis || !e->independent || !e->zero || !e->gradient || !e->gram || !e->b ||
        !e->trial || !e->used) {
        vxs_check_empty_release(e);
        return VXS_FAILED;
    }
    fit(e);
    return VXS_OK;
}
