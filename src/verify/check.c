/* check.c - objective, dual feasibility and duality gap of a solution, recomputed.
 *
 * Columns are fetched and multiplied by plain loops; no code is shared with the solvers, neither
 * their losses nor their flows. Unidentified directions (solver/unidentified.c) are part of the
 * problem, not of the solution, and are found by the same test. The code is slow and short so that
 * reading it shows that it is correct. With several classes arrays hold one block a class, and the
 * dual norm is the maximum over classes. */
#include "verify/check.h"
#include "solver/solver.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#define BLOCK        64
#define SUM_ROUNDING 1e-14 /* of the sum of column norms: rounding of a sum that is 0 */
#define UNIDENTIFIED 1e-8  /* of the largest weight: rounding along unidentified directions */
#define ROUNDING     1e-14 /* of the product of norms: rounding of an inner product */
#define RESIDUAL     1e-9  /* of the largest: rounding of X'theta - D'u */

typedef struct {
    const vxs_problem *problem;
    const vxs_fused *fused;         /* one of these penalties: NULL, or edges; */
    const vxs_analysis *terms;      /* rows of D; */
    double ridge;                   /* one of these quadratics: a ridge, */
    const vxs_quadratic *laplacian; /* or a Laplacian */
    size_t n, p, classes;
    vxs_check_null_space null_space;
    vxs_analysis null;             /* as a matrix */
    vxs_unidentified unidentified; /* directions of the null space */
    double *unpenalized;           /* n x (covariates, images of the null space) */
    double *block;                 /* n x BLOCK */
    double *z;                     /* classes x n: predictions */
    double *theta, *xi_empty;      /* classes x n: of the solution; -f' of the empty model */
    double *w;                     /* classes x p */
    double *value;                 /* classes x p: x_j'theta */
    double *start;                 /* classes x p: of the empty model */
    vxs_check_empty empty;
    vxs_check_projection projection; /* onto the complement of unpenalized columns */
    vxs_check_network *network;      /* of a graph, or NULL */
} check;

/* ---- Primal value ---------------------------------------------------------------------------- */

static double penalty_of_graph(const vxs_fused *fused, const double *w)
{
    const vxs_graph *g = fused->graph;
    double sum = 0;
    for (size_t e = 0; e < g->count; e++)
        sum += g->weight[e] * fabs(w[g->from[e]] - w[g->to[e]]);
    for (size_t j = 0; j < g->nodes; j++)
        sum += fused->sparsity * fabs(w[j]);
    return sum;
}

static double term_of(const vxs_analysis *terms, size_t t, const double *w)
{
    double sum = 0;
    for (size_t e = terms->starts[t]; e < terms->starts[t + 1]; e++)
        sum += terms->value[e] * w[terms->index[e]];
    return sum;
}

static double penalty(const check *c, const double *w)
{
    double sum = 0;
    if (c->fused)
        return penalty_of_graph(c->fused, w);
    for (size_t t = 0; c->terms && t < c->terms->count; t++)
        sum += fabs(term_of(c->terms, t, w));
    for (size_t j = 0; !c->terms && j < c->p; j++)
        sum += fabs(w[j]);
    return sum;
}

/* Columns minus their unidentified part. */
static void fetch(const check *c, const size_t *set, size_t count)
{
    const vxs_analysis *null = &c->null;
    vxs_design_fetch(c->problem->design, set, count, c->block);
    for (size_t k = 0; k < count && c->unidentified.held > 0; k++)
        for (size_t e = null->starts[set[k]]; e < null->starts[set[k] + 1]; e++)
            for (size_t i = 0; i < c->n; i++)
                c->block[k * c->n + i] -=
                    null->value[e] * c->unidentified.carried[null->index[e] * c->n + i];
}

/* Predictions, one read a column for all classes. */
static void predict(const check *c)
{
    size_t n = c->n;
    for (size_t j = 0; j < c->p; j++) {
        bool read = false;
        for (size_t k = 0; k < c->classes; k++) {
            double w = c->w[k * c->p + j];
            if (w != 0 && !read)
                vxs_design_fetch(c->problem->design, &j, 1, c->block);
            read = read || w != 0;
            for (size_t i = 0; i < n && w != 0; i++)
                c->z[k * n + i] += w * c->block[i];
        }
    }
}

/* w'Lw, edge by edge. */
static double laplacian_form(const check *c)
{
    const vxs_quadratic *l = c->laplacian;
    double sum = 0;
    for (size_t e = 0; l && e < l->graph->count; e++) {
        double difference = c->w[l->graph->from[e]] - c->w[l->graph->to[e]];
        sum += l->weight * l->graph->weight[e] * difference * difference;
    }
    return sum;
}

/* Subtracts L w / lambda from the correlations. */
static void subtract_laplacian(check *c, double lambda)
{
    const vxs_quadratic *l = c->laplacian;
    for (size_t e = 0; l && e < l->graph->count; e++) {
        size_t from = l->graph->from[e], to = l->graph->to[e];
        double gradient = l->weight * l->graph->weight[e] * (c->w[from] - c->w[to]) / lambda;
        c->value[from] -= gradient;
        c->value[to] += gradient;
    }
}

static double primal_value(check *c, const vxs_solution *s)
{
    size_t n = c->n, q = c->problem->covariate_count;
    double sum = 0;
    for (size_t k = 0; k < s->count; k++) {
        c->w[s->index[k]] = s->weight[k];
        sum += c->ridge * s->weight[k] * s->weight[k] / 2;
    }
    sum += laplacian_form(c) / 2;
    for (size_t k = 0; k < c->classes; k++)
        sum += s->certificate.lambda * penalty(c, c->w + k * c->p);
    for (size_t k = 0; k < c->classes * q; k++)
        for (size_t i = 0; i < n; i++)
            c->z[k / q * n + i] += s->covariate_coefficients[k] * c->unpenalized[k % q * n + i];
    predict(c);
    for (size_t i = 0; i < n; i++)
        sum += vxs_check_loss(c->problem, i, c->z + i, n);
    return sum;
}

/* ---- Dual value ------------------------------------------------------------------------------ */

/* x_j'theta - ridge w_j / lambda for all columns; the same of the empty model. */
static void correlate(check *c, double lambda)
{
    size_t set[BLOCK], n = c->n;
    for (size_t first = 0; first < c->p; first += BLOCK) {
        size_t count = c->p - first < BLOCK ? c->p - first : BLOCK;
        for (size_t k = 0; k < count; k++)
            set[k] = first + k;
        fetch(c, set, count);
        for (size_t k = 0; k < count * c->classes; k++) {
            const double *column = c->block + k % count * n;
            size_t class = k / count, at = class * c->p + first + k % count;
            c->value[at] =
                vxs_check_dot(column, c->theta + class * n, n) - c->ridge * c->w[at] / lambda;
            c->start[at] = vxs_check_dot(column, c->xi_empty + class * n, n);
        }
    }
    subtract_laplacian(c, lambda);
}

/* The dual norm: max |x_j'theta| (max x_j'theta with w >= 0); on a graph the maximum cut ratio. */
static double dual_norm(const check *c, const double *value)
{
    double max = 0;
    for (size_t k = 0; k < c->classes && c->network; k++)
        max = fmax(max, vxs_check_network_dual_norm(c->network, value + k * c->p));
    for (size_t j = 0; j < c->classes * c->p && !c->network; j++)
        max = fmax(max, c->problem->nonnegative ? value[j] : fabs(value[j]));
    return max;
}

static double dual_value(const check *c, double lambda, double max)
{
    double square = 0, product = 0, scale = 1, sum = 0, quadratic = laplacian_form(c);
    bool hinge = c->problem->loss.kind == &vxs_squared_hinge_loss;
    bool parabola = hinge || c->problem->loss.kind == &vxs_squared_loss;
    for (size_t j = 0; j < c->classes * c->p; j++)
        quadratic += c->ridge * c->w[j] * c->w[j];
    for (size_t i = 0; i < c->n && parabola; i++) {
        double u = vxs_check_u(c->problem, i);
        product += lambda * c->theta[i] * c->problem->loss.y[i];
        square += u > 0 ? lambda * lambda * c->theta[i] * c->theta[i] / u : 0;
    }
    if (square + quadratic > 0 && parabola)
        scale = product / (square + quadratic);
    if (max > 0)
        scale = fmax(-1 / max, fmin(1 / max, scale));
    if (hinge || c->problem->nonnegative)
        scale = fmax(0, scale);
    for (size_t i = 0; i < c->n; i++)
        sum += vxs_check_dual(c->problem, i, c->theta + i, c->n, -lambda * scale);
    return sum - scale * scale * quadratic / 2;
}

/* Projects gradients of all classes onto the complement of unpenalized columns, in the ordinary
 * norm or in that of second derivatives. */
static void project(check *c, bool scaled, const double *z, double *gradient)
{
    for (size_t k = 0; k < c->classes && !scaled; k++)
        vxs_check_project_out(&c->empty, gradient + k * c->n);
    if (scaled)
        vxs_check_project(&c->projection, &c->empty, z, gradient);
}

/* Dual value of the point that predictions give. */
static double dual_value_of_predictions(check *c, double lambda, bool scaled, double *lambda_max)
{
    for (size_t i = 0; i < c->n; i++) {
        vxs_check_gradient(c->problem, i, c->z + i, c->n, c->theta + i);
        vxs_check_gradient(c->problem, i, c->empty.zero + i, c->n, c->xi_empty + i);
    }
    project(c, scaled, c->z, c->theta);
    project(c, scaled, c->empty.zero, c->xi_empty);
    for (size_t i = 0; i < c->classes * c->n; i++) {
        c->theta[i] /= -lambda;
        c->xi_empty[i] = -c->xi_empty[i];
    }
    vxs_check_into_domain(c->problem, c->theta, -lambda, c->xi_empty, -0.5);
    correlate(c, lambda);
    *lambda_max = dual_norm(c, c->start);
    return dual_value(c, lambda, dual_norm(c, c->value));
}

/* ---- Generalized lasso ----------------------------------------------------------------------- */

/* True if theta is orthogonal to unpenalized columns, up to rounding. */
static bool is_orthogonal(const check *c, const double *theta)
{
    size_t n = c->n;
    double size = sqrt(vxs_check_dot(theta, theta, n)), max = 0;
    for (size_t r = 0; r < c->empty.rank; r++)
        max = fmax(max, fabs(vxs_check_dot(c->empty.basis + r * n, theta, n)));
    return max <= RESIDUAL * size;
}

/* Rounding of X'theta: where means are far larger than standard deviations, products cancel. */
static double rounding_of(const check *c, const double *theta)
{
    const double *stored = vxs_design_stored(c->problem->design);
    double largest = 0;
    for (size_t j = 0; j < c->p; j++)
        largest = fmax(largest, stored[j]);
    return ROUNDING * largest * sqrt(vxs_check_dot(theta, theta, c->n));
}

/* Subtracts D'u from X'theta; true if the rest is rounding. */
static bool is_balanced(double *value, const vxs_analysis *terms, const double *u, double rounding)
{
    double max = 0, rest = 0;
    for (size_t j = 0; j < terms->columns; j++)
        max = fmax(max, fabs(value[j]));
    for (size_t t = 0; t < terms->count; t++)
        for (size_t e = terms->starts[t]; e < terms->starts[t + 1]; e++)
            value[terms->index[e]] -= terms->value[e] * u[t];
    for (size_t j = 0; j < terms->columns; j++)
        rest = fmax(rest, fabs(value[j]));
    return rest <= RESIDUAL * max + rounding;
}

/* Dual value of the solution's own theta and u: X'theta = D'u implies w'X'theta <= |u|_inf |D w|_1.
 * -INFINITY if they violate it. */
static double dual_value_of_multipliers(check *c, const vxs_solution *s)
{
    const vxs_analysis *terms = c->terms;
    const vxs_bound *bound = s->bound;
    double max = 0;
    if (!bound || !bound->theta || !bound->u || bound->terms != c->classes * terms->count)
        return -INFINITY;
    memcpy(c->theta, bound->theta, c->classes * c->n * sizeof(*c->theta));
    correlate(c, s->certificate.lambda);
    for (size_t k = 0; k < c->classes; k++)
        if (!is_orthogonal(c, c->theta + k * c->n) ||
            !is_balanced(c->value + k * c->p, terms, bound->u + k * terms->count,
                         rounding_of(c, c->theta + k * c->n)))
            return -INFINITY;
    for (size_t t = 0; t < bound->terms; t++)
        max = fmax(max, isnan(bound->u[t]) ? INFINITY : fabs(bound->u[t]));
    return dual_value(c, s->certificate.lambda, max);
}

/* ---- The certificate ------------------------------------------------------------------------- */

static void evaluate(check *c, const vxs_solution *s, vxs_certificate *result)
{
    double lambda = s->certificate.lambda, empty = c->empty.value, ignored;
    double tol = s->certificate.tol * (1 + 1e-6) + 1e-13;
    result->primal = primal_value(c, s);
    result->dual = c->terms ? dual_value_of_multipliers(c, s)
                            : dual_value_of_predictions(c, lambda, false, &result->lambda_max);
    if (!c->terms && !(result->primal - result->dual <= tol * empty))
        result->dual = fmax(result->dual, dual_value_of_predictions(c, lambda, true, &ignored));
    result->lambda = lambda;
    result->empty = empty;
    result->unidentified = c->unidentified.held;
    result->gap = vxs_relative_gap(result->primal - result->dual, empty);
    result->nonzero = s->count;
    result->tol = s->certificate.tol;
    result->converged = vxs_has_converged(result->gap, tol);
}

static void release(check *c)
{
    vxs_check_null_space_release(&c->null_space);
    vxs_unidentified_release(&c->unidentified);
    free(c->unpenalized);
    free(c->block);
    free(c->z);
    free(c->theta);
    free(c->xi_empty);
    free(c->w);
    free(c->value);
    free(c->start);
    vxs_check_projection_release(&c->projection);
    vxs_check_empty_release(&c->empty);
    vxs_check_network_free(c->network);
}

static vxs_status allocate(check *c, vxs_error *err)
{
    size_t n = c->n, size = c->classes * n,
           columns = c->problem->covariate_count + c->null_space.count;
    c->unpenalized = vxs_alloc(columns, n * sizeof(*c->unpenalized), err);
    c->block = vxs_alloc(n, BLOCK * sizeof(*c->block), err);
    c->z = vxs_alloc(size, sizeof(*c->z), err);
    c->theta = vxs_alloc(size, sizeof(*c->theta), err);
    c->xi_empty = vxs_alloc(size, sizeof(*c->xi_empty), err);
    c->w = vxs_alloc(c->p, c->classes * sizeof(*c->w), err);
    c->value = vxs_alloc(c->p, c->classes * sizeof(*c->value), err);
    c->start = vxs_alloc(c->p, c->classes * sizeof(*c->start), err);
    return c->unpenalized && c->block && c->z && c->theta && c->xi_empty && c->w && c->value &&
                   c->start
               ? VXS_OK
               : VXS_FAILED;
}

/* Images of the null space, as unpenalized columns. */
static void add_images(const check *c)
{
    const vxs_check_null_space *l = &c->null_space;
    const double *stored = vxs_design_stored(c->problem->design);
    size_t n = c->n;
    double size = 0;
    for (size_t j = 0; j < c->p && l->count > 0; j++) {
        fetch(c, &j, 1);
        size += fmax(stored[j], sqrt(vxs_check_dot(c->block, c->block, n)));
        for (size_t e = l->starts[j]; e < l->starts[j + 1]; e++)
            for (size_t i = 0; i < n; i++)
                c->unpenalized[(c->problem->covariate_count + l->vector[e]) * n + i] +=
                    l->factor[e] * c->block[i];
    }
    for (size_t k = 0; k < l->count; k++) {
        double *x = c->unpenalized + (c->problem->covariate_count + k) * n;
        bool rounding = !(sqrt(vxs_check_dot(x, x, n)) > SUM_ROUNDING * size);
        for (size_t i = 0; i < n && rounding; i++)
            x[i] = 0;
    }
}

/* Removes unidentified directions from the null space. */
static vxs_status remove_unidentified(check *c, vxs_error *err)
{
    const vxs_check_null_space *l = &c->null_space;
    double *columns = c->unpenalized + c->n * c->problem->covariate_count;
    c->null = (vxs_analysis){ l->count, c->p, l->starts, l->vector, l->factor };
    vxs_status status = vxs_unidentified_find(c->problem, &c->null, columns, &c->unidentified, err);
    if (status || c->unidentified.held == 0)
        return status;
    memset(columns, 0, c->n * l->count * sizeof(*columns));
    add_images(c);
    return VXS_OK;
}

/* True if the solution has no component along unidentified directions, up to rounding. */
static vxs_status is_identified(const check *c, bool *identified, vxs_error *err)
{
    size_t p = c->p, size = c->classes * p;
    *identified = true;
    if (c->unidentified.held == 0)
        return VXS_OK;
    double *w = vxs_alloc(size + c->null.columns, sizeof(*w), err), max = 0, along = 0;
    if (!w)
        return VXS_FAILED;
    memcpy(w, c->w, size * sizeof(*w));
    for (size_t k = 0; k < c->classes; k++)
        vxs_unidentified_project_out(&c->unidentified, &c->null, w + size, w + k * p);
    for (size_t j = 0; j < size; j++) {
        max = fmax(max, fabs(c->w[j]));
        along = fmax(along, fabs(w[j] - c->w[j]));
    }
    free(w);
    *identified = along <= UNIDENTIFIED * max;
    return VXS_OK;
}

/* The unpenalized columns: covariates and images of the null space. */
static vxs_status build_unpenalized(check *c, vxs_error *err)
{
    const vxs_problem *problem = c->problem;
    vxs_status status = VXS_OK;
    if (c->terms)
        status = vxs_check_analysis_null_space(c->terms, &c->null_space, err);
    else if (c->fused && c->fused->sparsity == 0)
        status = vxs_check_components(c->fused->graph, &c->null_space, err);
    if (!status)
        status = allocate(c, err);
    if (status)
        return status;
    for (size_t k = 0; k < c->n * problem->covariate_count; k++)
        c->unpenalized[k] = problem->covariates[k];
    add_images(c);
    return remove_unidentified(c, err);
}

vxs_status vxs_check_solution(const vxs_problem *problem, const vxs_solution *solution,
                              vxs_certificate *certificate, vxs_error *err)
{
    vxs_status status = VXS_GIVEN(err, { "solution", solution }, { "certificate", certificate });
    if (!status)
        status = vxs_problem_check(problem, NULL, NULL, err);
    if (!status)
        status = vxs_solution_check(problem, solution, err);
    if (status)
        return status;
    const vxs_generalized *generalized = vxs_as_generalized(problem->penalty);
    const vxs_quadratic *q = &problem->quadratic;
    check c = { .problem = problem,
                .fused = vxs_as_fused(problem->penalty),
                .terms = generalized ? generalized->terms : NULL,
                .ridge = q->kind == &vxs_ridge ? q->weight : 0,
                .laplacian = q->kind == &vxs_laplacian ? q : NULL,
                .n = vxs_design_rows(problem->design),
                .p = vxs_design_columns(problem->design),
                .classes = vxs_check_classes(problem) };
    if (problem->loss.kind == &vxs_measure_loss)
        return vxs_check_measure(problem, solution, certificate, err);
    if (problem->loss.kind == &vxs_hinge_loss)
        return vxs_check_hinge(problem, solution, certificate, err);
    if (vxs_as_kernel_norm(problem->penalty) || vxs_as_kernel_sum(problem->penalty))
        return vxs_check_kernel(problem, solution, certificate, err);
    if (vxs_as_budget(problem->penalty))
        return vxs_check_budget(problem, solution, certificate, err);
    if (vxs_as_grouped(problem->penalty))
        return vxs_check_groups(problem, solution, certificate, err);
    *certificate = (vxs_certificate){ .lambda = 0 };
    status = vxs_design_measure(problem->design, err);
    if (!status)
        status = build_unpenalized(&c, err);
    if (!status)
        status = vxs_check_empty_fit(problem, c.unpenalized,
                                     problem->covariate_count + c.null_space.count, &c.empty, err);
    if (!status)
        status = vxs_check_projection_init(problem, c.unpenalized,
                                           problem->covariate_count + c.null_space.count,
                                           &c.projection, err);
    if (!status && c.fused)
        status = vxs_check_network_new(c.fused->graph, c.fused->sparsity, &c.network, err);
    bool identified = true;
    if (!status) {
        evaluate(&c, solution, certificate);
        status = is_identified(&c, &identified, err);
    }
    if (!identified) { /* not a solution of this problem */
        certificate->gap = INFINITY;
        certificate->converged = false;
    }
    release(&c);
    return status;
}
