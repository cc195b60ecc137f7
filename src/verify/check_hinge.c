/* check_hinge.c - primal value, dual value and gap with the hinge loss, recomputed from the
 * columns.
 *
 * The dual point is the solution's alpha and a: any 0 <= alpha <= u and any a, both scaled until
 * z_j'alpha - 2 lambda2 (La)_j <= lambda for all columns, give a bound. No code is shared with the
 * solvers. */
#include "solver/solver.h"
#include "verify/check.h"

#include <math.h>
#include <stdlib.h>

typedef struct {
    const vxs_problem *problem;
    size_t n, p;
    double *column, *z; /* n: a column, predictions */
    double *w, *a, *correlation,
        *column_sum; /* p: weights of the solution and of the dual point; Z'alpha,
                                 * Z'u */
} hinge;

static double u_of(const hinge *c, size_t m)
{
    return c->problem->loss.u ? c->problem->loss.u[m] : 1;
}

static double total_weight(const hinge *c)
{
    double sum = 0;
    for (size_t m = 0; m < c->n; m++)
        sum += u_of(c, m);
    return sum;
}

static void spread(const size_t *index, const double *weight, size_t count, double *dense)
{
    for (size_t k = 0; k < count; k++)
        dense[index[k]] = weight[k];
}

/* Predictions and correlations, column by column. */
static void read_columns(hinge *c, const vxs_bound *bound)
{
    for (size_t j = 0; j < c->p; j++) {
        vxs_design_fetch(c->problem->design, &j, 1, c->column);
        for (size_t m = 0; m < c->n; m++) {
            c->z[m] += c->w[j] * c->column[m];
            c->correlation[j] += bound->alpha[m] * c->column[m];
            c->column_sum[j] += u_of(c, m) * c->column[m];
        }
    }
}

/* a'La */
static double roughness(const hinge *c, const double *a)
{
    const vxs_graph *g = c->problem->quadratic.graph;
    double sum = 0;
    for (size_t e = 0; g && e < g->count; e++) {
        double d = a[g->from[e]] - a[g->to[e]];
        sum += g->weight[e] * d * d;
    }
    return sum;
}

static void subtract_laplacian(const hinge *c, double lambda2)
{
    const vxs_graph *g = c->problem->quadratic.graph;
    for (size_t e = 0; g && e < g->count; e++) {
        double gradient = 2 * lambda2 * g->weight[e] * (c->a[g->from[e]] - c->a[g->to[e]]);
        c->correlation[g->from[e]] -= gradient;
        c->correlation[g->to[e]] += gradient;
    }
}

static bool is_feasible(const hinge *c, const vxs_solution *s)
{
    bool feasible = s->bound && s->bound->alpha;
    for (size_t m = 0; m < c->n && feasible; m++) {
        double u = u_of(c, m), alpha = s->bound->alpha[m];
        feasible = alpha >= -1e-12 * u && alpha <= u * (1 + 1e-12);
    }
    for (size_t k = 0; k < s->count; k++)
        feasible = feasible && s->weight[k] >= 0;
    return feasible;
}

static void evaluate(hinge *c, const vxs_solution *s, vxs_certificate *r)
{
    double lambda = s->certificate.lambda, dual_norm = 0, sum = 0, product = 0;
    double margin = c->n > 0 ? c->problem->loss.y[0] : 0, total = total_weight(c);
    read_columns(c, s->bound);
    for (size_t j = 0; j < c->p; j++)
        r->lambda_max = fmax(r->lambda_max, c->column_sum[j]);
    double lambda2 = total > 0 && margin > 0 ? c->problem->quadratic.weight * r->lambda_max *
                                                   r->lambda_max / (margin * total)
                                             : 0;
    subtract_laplacian(c, lambda2);
    for (size_t j = 0; j < c->p; j++) {
        dual_norm = fmax(dual_norm, c->correlation[j]);
        sum += c->w[j];
    }
    r->primal = lambda * sum + lambda2 * roughness(c, c->w);
    for (size_t m = 0; m < c->n; m++) {
        r->primal += u_of(c, m) * fmax(0, c->problem->loss.y[m] - c->z[m]);
        product += s->bound->alpha[m] * c->problem->loss.y[m];
    }
    double scale = dual_norm > lambda ? lambda / dual_norm : 1;
    r->dual = scale * product - scale * scale * lambda2 * roughness(c, c->a);
    r->lambda = lambda;
    r->empty = margin * total;
    r->gap = vxs_relative_gap(r->primal - r->dual, r->empty);
    r->nonzero = s->count;
    r->tol = s->certificate.tol;
    r->converged = vxs_has_converged(r->gap, r->tol * (1 + 1e-6) + 1e-13);
}

vxs_status vxs_check_hinge(const vxs_problem *problem, const vxs_solution *solution,
                           vxs_certificate *certificate, vxs_error *err)
{
    hinge c = { .problem = problem,
                .n = vxs_design_rows(problem->design),
                .p = vxs_design_columns(problem->design) };
    double *memory = vxs_alloc(2 * c.n + 4 * c.p, sizeof(*memory), err);
    vxs_status status = memory ? vxs_design_measure(problem->design, err) : VXS_FAILED;
    *certificate = (vxs_certificate){ .lambda = 0 };
    if (status) {
        free(memory);
        return status;
    }
    c.column = memory;
    c.z = c.column + c.n;
    c.w = c.z + c.n;
    c.a = c.w + c.p;
    c.correlation = c.a + c.p;
    c.column_sum = c.correlation + c.p;
    spread(solution->index, solution->weight, solution->count, c.w);
    if (is_feasible(&c, solution)) {
        spread(solution->bound->index, solution->bound->weight, solution->bound->count, c.a);
        evaluate(&c, solution, certificate);
    } else {
        certificate->gap = INFINITY; /* not dual feasible: no bound */
    }
    free(memory);
    return VXS_OK;
}
