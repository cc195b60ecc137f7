/* check_kernel.c - primal value, dual value and gap of kernel machines, recomputed from the columns
 * of the kernel.
 *
 * The weights a of a solution, of several kernels the sum over them, are a dual point themselves:
 * with beta = lambda a the dual value is beta'y - epsilon |beta|_1 - beta'K beta / (2 lambda), K
 * the kernel with the largest value, if every beta is in its box (0 <= y beta <= u with the hinge
 * loss, |beta| <= u with the epsilon-insensitive one) and, with an intercept, their sum is 0. No
 * code is shared with the solver. */
#include "verify/check.h"
#include "voxsift/internal/design.h"

#include <float.h>
#include <math.h>
#include <stdlib.h>

#define COLUMNS  64    /* read at a time */
#define ROUNDING 1e-11 /* of the largest bound: beyond it; of the sum of |beta|: their sum */

typedef struct {
    const vxs_problem *problem;
    size_t n;
    size_t count;            /* kernels, side by side */
    double *columns;         /* n x COLUMNS */
    double *beta, *f, *part; /* n; f the values of the samples */
    double lambda;
} kernel;

static double loss_of(const kernel *c, size_t i, double z)
{
    const vxs_loss *l = &c->problem->loss;
    double u = l->u ? l->u[i] : 1;
    if (l->kind == &vxs_margin_loss)
        return u * fmax(0, 1 - l->y[i] * z);
    return u * fmax(0, fabs(l->y[i] - z) - l->threshold);
}

static double loss_at(const kernel *c, const double *f, double b)
{
    double sum = 0;
    for (size_t i = 0; i < c->n; i++)
        sum += loss_of(c, i, (f ? f[i] : 0) + b);
    return sum;
}

static int ascending(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

/* The loss of an intercept alone is convex and least at one of its kinks: `low` and `high` enclose
 * it. */
static double least_at_kinks(const kernel *c, double *kinks, size_t count)
{
    size_t low = 0, high = count - 1;
    qsort(kinks, count, sizeof(*kinks), ascending);
    while (high - low > 2) {
        size_t a = low + (high - low) / 3, b = high - (high - low) / 3;
        double at_a = loss_at(c, NULL, kinks[a]), at_b = loss_at(c, NULL, kinks[b]);
        low = at_a > at_b ? a : low;
        high = at_a > at_b ? high : b;
    }
    double least = loss_at(c, NULL, kinks[low]);
    for (size_t k = low + 1; k <= high; k++)
        least = fmin(least, loss_at(c, NULL, kinks[k]));
    return least;
}

static vxs_status find_empty_value(const kernel *c, double *value, vxs_error *err)
{
    const vxs_loss *l = &c->problem->loss;
    *value = loss_at(c, NULL, 0);
    if (c->problem->covariate_count == 0)
        return VXS_OK;
    double *kinks = vxs_alloc(2 * c->n, sizeof(*kinks), err);
    for (size_t i = 0; i < c->n && kinks; i++)
        for (int side = 0; side < 2; side++)
            kinks[2 * i + (size_t)side] =
                l->kind == &vxs_margin_loss ? l->y[i] : l->y[i] + (2 * side - 1) * l->threshold;
    if (kinks)
        *value = least_at_kinks(c, kinks, 2 * c->n);
    free(kinks);
    return kinks ? VXS_OK : VXS_FAILED;
}

/* True if beta is in its box and sums to 0, but for rounding. */
static bool is_feasible(const kernel *c)
{
    const vxs_loss *l = &c->problem->loss;
    double sum = 0, size = 0, largest = 0;
    for (size_t i = 0; i < c->n; i++)
        largest = fmax(largest, l->u ? l->u[i] : 1);
    for (size_t i = 0; i < c->n; i++) {
        double u = l->u ? l->u[i] : 1, beta = c->beta[i];
        bool inside = l->kind == &vxs_margin_loss ? beta * l->y[i] >= -ROUNDING * largest &&
                                                        beta * l->y[i] <= u + ROUNDING * largest
                                                  : fabs(beta) <= u + ROUNDING * largest;
        if (!inside)
            return false;
        sum += beta;
        size += fabs(beta);
    }
    return c->problem->covariate_count == 0 || fabs(sum) <= ROUNDING * size;
}

/* The same of K = LL': |L'w|^2. */
static double multiply_factor(const kernel *c, const vxs_low_rank *l, const double *w, double *f,
                              double *size)
{
    double square = 0;
    for (size_t k = 0; k < l->rank; k++) {
        const double *column = l->factor + k * l->n;
        double sum = 0, sizes = 0;
        for (size_t i = 0; i < l->n; i++) {
            sum += column[i] * w[i];
            sizes += fabs(column[i] * w[i]);
        }
        for (size_t i = 0; i < c->n; i++)
            f[i] += sum * column[i];
        square += sum * sum;
        *size += sizes * sizes;
    }
    return square;
}

/* w'K_g w for weights of samples, whose values K_g w are added to `f`, and the size of what it is
 * the sum of, which bounds its rounding. */
static double multiply(const kernel *c, size_t g, const double *w, double *f, double *size)
{
    const vxs_low_rank *low_rank = vxs_gram_low_rank(c->problem->design);
    double square = 0;
    *size = 0;
    if (low_rank)
        return multiply_factor(c, low_rank, w, f, size);
    for (size_t next = 0; next < c->n;) {
        size_t set[COLUMNS], count = 0;
        for (; next < c->n && count < COLUMNS; next++)
            if (w[next] != 0)
                set[count++] = g * c->n + next;
        vxs_design_fetch(c->problem->design, set, count, c->columns);
        for (size_t k = 0; k < count; k++) {
            const double *column = c->columns + k * c->n, weight = w[set[k] - g * c->n];
            for (size_t i = 0; i < c->n; i++) {
                f[i] += weight * column[i];
                square += weight * w[i] * column[i];
                *size += fabs(weight * w[i] * column[i]);
            }
        }
    }
    return square;
}

/* Norms of the solution, and of its dual point in the kernel where that is largest. */
static void evaluate(kernel *c, const vxs_solution *s, vxs_certificate *result)
{
    const vxs_loss *l = &c->problem->loss;
    double norms = 0, largest = 0, linear = 0, b = 0, size;
    bool semidefinite = true;
    for (size_t g = 0, k = 0; g < c->count; g++) {
        for (size_t i = 0; i < c->n; i++)
            c->part[i] = 0;
        for (; k < s->count && s->index[k] < (g + 1) * c->n; k++)
            c->part[s->index[k] - g * c->n] = s->weight[k];
        for (size_t i = 0; i < c->n; i++)
            c->beta[i] += c->part[i];
        norms += sqrt(fmax(0, multiply(c, g, c->part, c->f, &size)));
    }
    for (size_t g = 0; g < c->count; g++) {
        double square = c->lambda * multiply(c, g, c->beta, c->part, &size);
        size *= c->lambda;
        semidefinite = semidefinite && square >= -ROUNDING * fmax(result->empty, size);
        largest = fmax(largest, square + DBL_EPSILON * size);
    }
    if (c->problem->covariate_count > 0)
        b = s->covariate_coefficients[0];
    for (size_t i = 0; i < c->n; i++) {
        c->beta[i] *= c->lambda;
        linear += c->beta[i] * l->y[i];
        if (l->kind != &vxs_margin_loss)
            linear -= l->threshold * fabs(c->beta[i]);
    }
    result->primal = c->lambda * norms * norms / 2 + loss_at(c, c->f, b);
    result->dual = is_feasible(c) && semidefinite ? linear - largest / 2 : -INFINITY;
}

vxs_status vxs_check_kernel(const vxs_problem *problem, const vxs_solution *solution,
                            vxs_certificate *certificate, vxs_error *err)
{
    size_t n = vxs_design_rows(problem->design);
    double *space = vxs_alloc(3 + COLUMNS, vxs_times(n, sizeof(*space)), err);
    if (!space)
        return VXS_FAILED;
    kernel c = { .problem = problem,
                 .n = n,
                 .count = vxs_design_columns(problem->design) / n,
                 .beta = space,
                 .f = space + n,
                 .part = space + 2 * n,
                 .columns = space + 3 * n,
                 .lambda = solution->certificate.lambda };
    *certificate = (vxs_certificate){ .lambda = c.lambda, .lambda_max = NAN };
    vxs_status status = find_empty_value(&c, &certificate->empty, err);
    if (!status)
        evaluate(&c, solution, certificate);
    certificate->gap = certificate->empty > 0
                           ? (certificate->primal - certificate->dual) / certificate->empty
                           : certificate->primal - certificate->dual;
    certificate->nonzero = solution->count;
    certificate->tol = solution->certificate.tol;
    certificate->converged =
        vxs_has_converged(certificate->gap, certificate->tol * (1 + 1e-6) + 1e-13);
    free(space);
    return status;
}
