/* check.c - objective, dual feasibility and gap of an answer, computed anew.
 *
 * Columns are fetched and multiplied by plain loops; nothing of the solvers is used, not even their
 * losses or their flows. What is unidentified (unidentified.c) is part of the question, not of the
 * answer, and is found by the same test. It is slow and short on purpose: what it says must be seen
 * to be true by reading it. With several classes everything is there once for each, and the norm of
 * a dual point is the largest of theirs. */
#include "verify/check.h"
#include "solver/solver.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#define BLOCK    64
#define NOTHING  1e-14 /* of the sum of lengths: what rounding leaves of a sum that is 0 */
#define ALONG    1e-8  /* of the largest weight: so much along what is unidentified is rounding */
#define ROUNDING 1e-14 /* of the product of lengths: an inner product */
#define RESIDUAL 1e-9  /* of the largest: what multipliers may leave of X'theta by rounding */

typedef struct {
    const vxs_problem *problem;
    const vxs_fused *fused;         /* its penalty, if it is one; */
    const vxs_analysis *terms;      /* of a generalized one; */
    double ridge;                   /* and its quadratic: one of these */
    const vxs_quadratic *laplacian; /* or NULL */
    size_t n, p, classes;
    vxs_check_levels levels;
    vxs_analysis null;             /* the same */
    vxs_unidentified unidentified; /* of these */
    double *free;                  /* n x (free columns and levels) */
    double *block;                 /* n x BLOCK */
    double *z;                     /* classes x n: predictions of the answer */
    double *theta, *away;          /* classes x n: of the answer; -f' of the empty model */
    double *w;                     /* classes x p: of the answer */
    double *value;                 /* classes x p: x_j'theta */
    double *start;                 /* classes x p: the same of the empty model */
    vxs_check_empty empty;
    vxs_check_span span; /* of what is free */
    vxs_check_net *net;  /* of the graph, if there is one */
} check;

/* ---- The value ------------------------------------------------------------------------------- */

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

/* Columns without what is unidentified. */
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

/* Predictions by the features as they are; a column is read once for all classes. */
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
        double apart = c->w[l->graph->from[e]] - c->w[l->graph->to[e]];
        sum += l->weight * l->graph->weight[e] * apart * apart;
    }
    return sum;
}

/* Lw is taken off the correlations, edge by edge. */
static void take_laplacian(check *c, double lambda)
{
    const vxs_quadratic *l = c->laplacian;
    for (size_t e = 0; l && e < l->graph->count; e++) {
        size_t from = l->graph->from[e], to = l->graph->to[e];
        double pull = l->weight * l->graph->weight[e] * (c->w[from] - c->w[to]) / lambda;
        c->value[from] -= pull;
        c->value[to] += pull;
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
            c->z[k / q * n + i] += s->free[k] * c->free[k % q * n + i];
    predict(c);
    for (size_t i = 0; i < n; i++)
        sum += vxs_check_loss(c->problem, i, c->z + i, n);
    return sum;
}

/* ---- The bound ------------------------------------------------------------------------------- */

/* x_j'theta of all columns, less the ridge's part, and the same of the empty model. */
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
                vxs_check_inner(column, c->theta + class * n, n) - c->ridge * c->w[at] / lambda;
            c->start[at] = vxs_check_inner(column, c->away + class * n, n);
        }
    }
    take_laplacian(c, lambda);
}

/* The dual norm: the largest size of these (the largest, when weights may not be negative); on a
 * graph, of sums over sets beside what is cut. */
static double steepest(const check *c, const double *value)
{
    double most = 0;
    for (size_t k = 0; k < c->classes && c->net; k++)
        most = fmax(most, vxs_check_net_norm(c->net, value + k * c->p));
    for (size_t j = 0; j < c->classes * c->p && !c->net; j++)
        most = fmax(most, c->problem->nonnegative ? value[j] : fabs(value[j]));
    return most;
}

static double dual_value(const check *c, double lambda, double most)
{
    double square = 0, along = 0, scale = 1, sum = 0, size = laplacian_form(c);
    for (size_t j = 0; j < c->classes * c->p; j++)
        size += c->ridge * c->w[j] * c->w[j];
    for (size_t i = 0; i < c->n && c->problem->loss.kind == &vxs_squared_loss; i++) {
        double u = vxs_check_u(c->problem, i);
        along += lambda * c->theta[i] * c->problem->loss.y[i];
        square += u > 0 ? lambda * lambda * c->theta[i] * c->theta[i] / u : 0;
    }
    if (square + size > 0 && c->problem->loss.kind == &vxs_squared_loss)
        scale = along / (square + size);
    if (most > 0)
        scale = fmax(-1 / most, fmin(1 / most, scale));
    for (size_t i = 0; i < c->n; i++)
        sum += vxs_check_dual(c->problem, i, c->theta + i, c->n, -lambda * scale);
    return sum - scale * scale * size / 2;
}

/* Slopes of all classes, without what the free columns span; each sample as near as can be, or
 * moved as its curvature allows. */
static void project(check *c, bool within_reach, const double *z, double *slope)
{
    for (size_t k = 0; k < c->classes && !within_reach; k++)
        vxs_check_take_off(&c->empty, slope + k * c->n);
    if (within_reach)
        vxs_check_project(&c->span, &c->empty, z, slope);
}

/* A dual point from the answer's predictions. */
static double bound_by_answer(check *c, double lambda, bool within_reach, double *lambda_max)
{
    for (size_t i = 0; i < c->n; i++) {
        vxs_check_slope(c->problem, i, c->z + i, c->n, c->theta + i);
        vxs_check_slope(c->problem, i, c->empty.zero + i, c->n, c->away + i);
    }
    project(c, within_reach, c->z, c->theta);
    project(c, within_reach, c->empty.zero, c->away);
    for (size_t i = 0; i < c->classes * c->n; i++) {
        c->theta[i] /= -lambda;
        c->away[i] = -c->away[i];
    }
    vxs_check_bring_inside(c->problem, c->theta, -lambda, c->away, -0.5);
    correlate(c, lambda);
    *lambda_max = steepest(c, c->start);
    return dual_value(c, lambda, steepest(c, c->value));
}

/* ---- Terms ----------------------------------------------------------------------------------- */

/* Whether the free columns see no more of theta than rounding. */
static bool is_free_of(const check *c, const double *theta)
{
    size_t n = c->n;
    double size = sqrt(vxs_check_inner(theta, theta, n)), most = 0;
    for (size_t r = 0; r < c->empty.rank; r++)
        most = fmax(most, fabs(vxs_check_inner(c->empty.basis + r * n, theta, n)));
    return most <= RESIDUAL * size;
}

/* Rounding of X'theta: where means are far larger than spreads, theta is orthogonal to most of
 * each column, and inner products are small beside the terms that they sum. */
static double rounding_of(const check *c, const double *theta)
{
    const double *stored = vxs_design_stored(c->problem->design);
    double largest = 0;
    for (size_t j = 0; j < c->p; j++)
        largest = fmax(largest, stored[j]);
    return ROUNDING * largest * sqrt(vxs_check_inner(theta, theta, c->n));
}

/* Takes D'u from X'theta; whether no more is left than rounding. */
static bool is_balanced(double *value, const vxs_analysis *terms, const double *u, double rounding)
{
    double most = 0, left = 0;
    for (size_t j = 0; j < terms->columns; j++)
        most = fmax(most, fabs(value[j]));
    for (size_t t = 0; t < terms->count; t++)
        for (size_t e = terms->starts[t]; e < terms->starts[t + 1]; e++)
            value[terms->index[e]] -= terms->value[e] * u[t];
    for (size_t j = 0; j < terms->columns; j++)
        left = fmax(left, fabs(value[j]));
    return left <= RESIDUAL * most + rounding;
}

/* The dual point that the answer brings along, with multipliers of the terms: X'theta = D'u says
 * that no w is worth more than the sum of |u_t| |D_t w|. -INFINITY when they do not show it. */
static double bound_by_terms(check *c, const vxs_solution *s)
{
    const vxs_analysis *terms = c->terms;
    const vxs_bound *bound = s->bound;
    double most = 0;
    if (!bound || !bound->theta || !bound->u || bound->terms != c->classes * terms->count)
        return -INFINITY;
    memcpy(c->theta, bound->theta, c->classes * c->n * sizeof(*c->theta));
    correlate(c, s->certificate.lambda);
    for (size_t k = 0; k < c->classes; k++)
        if (!is_free_of(c, c->theta + k * c->n) ||
            !is_balanced(c->value + k * c->p, terms, bound->u + k * terms->count,
                         rounding_of(c, c->theta + k * c->n)))
            return -INFINITY;
    for (size_t t = 0; t < bound->terms; t++)
        most = fmax(most, isnan(bound->u[t]) ? INFINITY : fabs(bound->u[t]));
    return dual_value(c, s->certificate.lambda, most);
}

/* ---- The whole ------------------------------------------------------------------------------- */

static void look(check *c, const vxs_solution *s, vxs_certificate *result)
{
    double lambda = s->certificate.lambda, size = c->empty.value, again;
    double enough = s->certificate.tol * (1 + 1e-6) + 1e-13;
    result->primal = primal_value(c, s);
    result->dual =
        c->terms ? bound_by_terms(c, s) : bound_by_answer(c, lambda, false, &result->lambda_max);
    if (!c->terms && !(result->primal - result->dual <= enough * size))
        result->dual = fmax(result->dual, bound_by_answer(c, lambda, true, &again));
    result->lambda = lambda;
    result->empty = size;
    result->unidentified = c->unidentified.held;
    result->gap = vxs_relative_gap(result->primal - result->dual, size);
    result->nonzero = s->count;
    result->tol = s->certificate.tol;
    result->converged = vxs_has_converged(result->gap, enough);
}

static void release(check *c)
{
    vxs_check_levels_release(&c->levels);
    vxs_unidentified_release(&c->unidentified);
    free(c->free);
    free(c->block);
    free(c->z);
    free(c->theta);
    free(c->away);
    free(c->w);
    free(c->value);
    free(c->start);
    vxs_check_span_release(&c->span);
    vxs_check_empty_release(&c->empty);
    vxs_check_net_free(c->net);
}

static vxs_status take_room(check *c, vxs_error *err)
{
    size_t n = c->n, all = c->classes * n, columns = c->problem->covariate_count + c->levels.count;
    c->free = vxs_alloc(columns, n * sizeof(*c->free), err);
    c->block = vxs_alloc(n, BLOCK * sizeof(*c->block), err);
    c->z = vxs_alloc(all, sizeof(*c->z), err);
    c->theta = vxs_alloc(all, sizeof(*c->theta), err);
    c->away = vxs_alloc(all, sizeof(*c->away), err);
    c->w = vxs_alloc(c->p, c->classes * sizeof(*c->w), err);
    c->value = vxs_alloc(c->p, c->classes * sizeof(*c->value), err);
    c->start = vxs_alloc(c->p, c->classes * sizeof(*c->start), err);
    return c->free && c->block && c->z && c->theta && c->away && c->w && c->value && c->start
               ? VXS_OK
               : VXS_FAILED;
}

/* The sums of columns whose factor is not penalised. */
static void add_levels(const check *c)
{
    const vxs_check_levels *l = &c->levels;
    const double *stored = vxs_design_stored(c->problem->design);
    size_t n = c->n;
    double size = 0;
    for (size_t j = 0; j < c->p && l->count > 0; j++) {
        fetch(c, &j, 1);
        size += fmax(stored[j], sqrt(vxs_check_inner(c->block, c->block, n)));
        for (size_t e = l->starts[j]; e < l->starts[j + 1]; e++)
            for (size_t i = 0; i < n; i++)
                c->free[(c->problem->covariate_count + l->level[e]) * n + i] +=
                    l->factor[e] * c->block[i];
    }
    for (size_t k = 0; k < l->count; k++) {
        double *x = c->free + (c->problem->covariate_count + k) * n;
        bool nothing = !(sqrt(vxs_check_inner(x, x, n)) > NOTHING * size);
        for (size_t i = 0; i < n && nothing; i++)
            x[i] = 0;
    }
}

/* What the data does not identify of these is no part of the problem. */
static vxs_status take_unidentified_out(check *c, vxs_error *err)
{
    const vxs_check_levels *l = &c->levels;
    double *columns = c->free + c->n * c->problem->covariate_count;
    c->null = (vxs_analysis){ l->count, c->p, l->starts, l->level, l->factor };
    vxs_status status = vxs_unidentified_find(c->problem, &c->null, columns, &c->unidentified, err);
    if (status || c->unidentified.held == 0)
        return status;
    memset(columns, 0, c->n * l->count * sizeof(*columns));
    add_levels(c);
    return VXS_OK;
}

/* Whether the answer has no part along it, but for rounding. */
static vxs_status is_without_unidentified(const check *c, bool *without, vxs_error *err)
{
    size_t p = c->p, all = c->classes * p;
    *without = true;
    if (c->unidentified.held == 0)
        return VXS_OK;
    double *w = vxs_alloc(all + c->null.columns, sizeof(*w), err), most = 0, along = 0;
    if (!w)
        return VXS_FAILED;
    memcpy(w, c->w, all * sizeof(*w));
    for (size_t k = 0; k < c->classes; k++)
        vxs_unidentified_take_off(&c->unidentified, &c->null, w + all, w + k * p);
    for (size_t j = 0; j < all; j++) {
        most = fmax(most, fabs(c->w[j]));
        along = fmax(along, fabs(w[j] - c->w[j]));
    }
    free(w);
    *without = along <= ALONG * most;
    return VXS_OK;
}

/* The columns that are not penalised: the problem's, and the levels of its penalty. */
static vxs_status gather_free(check *c, vxs_error *err)
{
    const vxs_problem *problem = c->problem;
    vxs_status status = VXS_OK;
    if (c->terms)
        status = vxs_check_without(c->terms, &c->levels, err);
    else if (c->fused && c->fused->sparsity == 0)
        status = vxs_check_pieces(c->fused->graph, &c->levels, err);
    if (!status)
        status = take_room(c, err);
    if (status)
        return status;
    for (size_t k = 0; k < c->n * problem->covariate_count; k++)
        c->free[k] = problem->covariates[k];
    add_levels(c);
    return take_unidentified_out(c, err);
}

vxs_status vxs_check_solution(const vxs_problem *problem, const vxs_solution *solution,
                              vxs_certificate *certificate, vxs_error *err)
{
    vxs_status status = vxs_problem_check(problem, NULL, NULL, err);
    if (!status)
        status = vxs_solution_check(problem, solution, err);
    if (status)
        return status;
    const vxs_generalized *sums = vxs_as_generalized(problem->penalty);
    const vxs_quadratic *q = &problem->quadratic;
    check c = { .problem = problem,
                .fused = vxs_as_fused(problem->penalty),
                .terms = sums ? sums->terms : NULL,
                .ridge = q->kind == &vxs_ridge ? q->weight : 0,
                .laplacian = q->kind == &vxs_laplacian ? q : NULL,
                .n = vxs_design_rows(problem->design),
                .p = vxs_design_columns(problem->design),
                .classes = vxs_check_classes(problem) };
    if (problem->loss.kind == &vxs_hinge_loss)
        return vxs_check_hinge(problem, solution, certificate, err);
    if (vxs_as_budget(problem->penalty))
        return vxs_check_budget(problem, solution, certificate, err);
    *certificate = (vxs_certificate){ .lambda = 0 };
    status = vxs_design_measure(problem->design, err);
    if (!status)
        status = gather_free(&c, err);
    if (!status)
        status = vxs_check_empty_fit(problem, c.free, problem->covariate_count + c.levels.count,
                                     &c.empty, err);
    if (!status)
        status = vxs_check_span_init(problem, c.free, problem->covariate_count + c.levels.count,
                                     &c.span, err);
    if (!status && c.fused)
        status = vxs_check_net_new(c.fused->graph, c.fused->sparsity, &c.net, err);
    bool without = true;
    if (!status) {
        look(&c, solution, certificate);
        status = is_without_unidentified(&c, &without, err);
    }
    if (!without) { /* it is no answer to this problem */
        certificate->gap = INFINITY;
        certificate->converged = false;
    }
    release(&c);
    return status;
}
