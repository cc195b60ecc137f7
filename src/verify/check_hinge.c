/* check_hinge.c - value, bound and gap of a hinge's answer, computed anew from the columns.
 *
 * The bound rests on alpha and on weights a that the answer brings along; any alpha between 0 and u
 * and any a will do, once both are shrunk until z_j'alpha - 2 lambda2 (La)_j <= lambda at all
 * columns. Nothing of the solvers is used. */
#include "solver/solver.h"
#include "verify/check.h"

#include <math.h>
#include <stdlib.h>

typedef struct {
    const vxs_problem *problem;
    size_t n, p;
    double *column, *z;         /* n: one of the design's, and predictions */
    double *w, *a, *want, *all; /* p: of the answer, of the bound; x_j'alpha, x_j'u */
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

static void spread(const size_t *index, const double *weight, size_t count, double *all)
{
    for (size_t k = 0; k < count; k++)
        all[index[k]] = weight[k];
}

/* Predictions and correlations, a column at a time. */
static void read_columns(hinge *c, const vxs_bound *bound)
{
    for (size_t j = 0; j < c->p; j++) {
        vxs_design_fetch(c->problem->design, &j, 1, c->column);
        for (size_t m = 0; m < c->n; m++) {
            c->z[m] += c->w[j] * c->column[m];
            c->want[j] += bound->alpha[m] * c->column[m];
            c->all[j] += u_of(c, m) * c->column[m];
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

static void take_pull(const hinge *c, double lambda2)
{
    const vxs_graph *g = c->problem->quadratic.graph;
    for (size_t e = 0; g && e < g->count; e++) {
        double pull = 2 * lambda2 * g->weight[e] * (c->a[g->from[e]] - c->a[g->to[e]]);
        c->want[g->from[e]] -= pull;
        c->want[g->to[e]] += pull;
    }
}

static bool is_inside(const hinge *c, const vxs_solution *s)
{
    bool inside = s->bound != NULL;
    for (size_t m = 0; m < c->n && inside; m++) {
        double u = u_of(c, m), alpha = s->bound->alpha[m];
        inside = alpha >= -1e-12 * u && alpha <= u * (1 + 1e-12);
    }
    for (size_t k = 0; k < s->count; k++)
        inside = inside && s->weight[k] >= 0;
    return inside;
}

static void look(hinge *c, const vxs_solution *s, vxs_certificate *r)
{
    double lambda = s->certificate.lambda, steepest = 0, sum = 0, along = 0;
    double margin = c->n > 0 ? c->problem->loss.y[0] : 0, total = total_weight(c);
    read_columns(c, s->bound);
    for (size_t j = 0; j < c->p; j++)
        r->lambda_max = fmax(r->lambda_max, c->all[j]);
    double lambda2 = total > 0 && margin > 0 ? c->problem->quadratic.weight * r->lambda_max *
                                                   r->lambda_max / (margin * total)
                                             : 0;
    take_pull(c, lambda2);
    for (size_t j = 0; j < c->p; j++) {
        steepest = fmax(steepest, c->want[j]);
        sum += c->w[j];
    }
    r->primal = lambda * sum + lambda2 * roughness(c, c->w);
    for (size_t m = 0; m < c->n; m++) {
        r->primal += u_of(c, m) * fmax(0, c->problem->loss.y[m] - c->z[m]);
        along += s->bound->alpha[m] * c->problem->loss.y[m];
    }
    double shrink = steepest > lambda ? lambda / steepest : 1;
    r->dual = shrink * along - shrink * shrink * lambda2 * roughness(c, c->a);
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
    double *room = vxs_alloc(2 * c.n + 4 * c.p, sizeof(*room), err);
    vxs_status status = room ? vxs_design_measure(problem->design, err) : VXS_FAILED;
    *certificate = (vxs_certificate){ .lambda = 0 };
    if (status) {
        free(room);
        return status;
    }
    c.column = room;
    c.z = c.column + c.n;
    c.w = c.z + c.n;
    c.a = c.w + c.p;
    c.want = c.a + c.p;
    c.all = c.want + c.p;
    spread(solution->index, solution->weight, solution->count, c.w);
    if (is_inside(&c, solution)) {
        spread(solution->bound->index, solution->bound->weight, solution->bound->count, c.a);
        look(&c, solution, certificate);
    } else {
        certificate->gap = INFINITY; /* what is not in the domain bounds nothing */
    }
    free(room);
    return VXS_OK;
}
