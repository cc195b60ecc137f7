/* check_groups.c - primal value, dual value and gap of the group lasso, recomputed.
 *
 * The weights v_g of the groups are the solution's selection, whose sums must be its weights. The
 * dual point follows from their predictions, and is scaled by the largest |X_g'theta|, for which
 * every column of every group is read. No code is shared with the solver. */
#include "solver/solver.h"
#include "verify/check.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#define SAME 1e-6 /* of the largest weight: weights that were standardized and converted back */

typedef struct {
    const vxs_problem *problem;
    vxs_blocks *blocks;
    const vxs_selected *selected;
    size_t n, p;
    double *z, *gradient, *xi_empty; /* n */
    double *block;                   /* columns of a group */
    double *weight;                  /* p: sums over groups, and then minus the solution's */
    vxs_check_empty empty;
    vxs_check_projection projection;
} group_check;

static void release(group_check *c)
{
    vxs_check_empty_release(&c->empty);
    vxs_check_projection_release(&c->projection);
    free(c->z);
    free(c->block);
    free(c->weight);
}

static vxs_status allocate(group_check *c, vxs_error *err)
{
    size_t widest = 0, q = c->problem->covariate_count;
    for (size_t g = 0; g < vxs_blocks_count(c->blocks); g++) {
        size_t width = vxs_blocks_width(c->blocks, g);
        widest = width > widest ? width : widest;
    }
    c->z = vxs_alloc(3 * c->n, sizeof(*c->z), err);
    c->block = vxs_alloc(widest, c->n * sizeof(*c->block), err);
    c->weight = vxs_alloc(c->p, sizeof(*c->weight), err);
    if (!c->z || !c->block || !c->weight)
        return VXS_FAILED;
    c->gradient = c->z + c->n;
    c->xi_empty = c->z + 2 * c->n;
    vxs_status status = vxs_check_empty_fit(c->problem, c->problem->covariates, q, &c->empty, err);
    return status ? status
                  : vxs_check_projection_init(c->problem, c->problem->covariates, q, &c->projection,
                                              err);
}

/* ---- Primal ---------------------------------------------------------------------------------- */

/* Predictions and sums of the selection's weights; returns the penalty. */
static double predict(group_check *c)
{
    const vxs_selected *s = c->selected;
    double penalty = 0, factor = 1;
    for (size_t f = 0; f < c->problem->covariate_count; f++)
        for (size_t i = 0; i < c->n; i++)
            c->z[i] += s->covariate_coefficients[f] * c->problem->covariates[f * c->n + i];
    for (size_t k = 0; k < s->count; k++) {
        double square = 0;
        vxs_blocks_fetch(c->blocks, s->block[k], c->block);
        for (size_t m = s->start[k]; m < s->start[k + 1]; m++) {
            const double *x = c->block + (m - s->start[k]) * c->n;
            size_t j = vxs_blocks_feature(c->blocks, s->block[k], m - s->start[k], &factor);
            for (size_t i = 0; i < c->n; i++)
                c->z[i] += s->weight[m] * x[i];
            c->weight[j] += factor * s->weight[m];
            square += s->weight[m] * s->weight[m];
        }
        penalty += sqrt(square);
    }
    return penalty;
}

/* True if the sums are the solution's weights, and its coefficients those of the selection. */
static bool is_same(group_check *c, const vxs_solution *s)
{
    double largest = 0, apart = 0;
    for (size_t j = 0; j < c->p; j++)
        largest = fmax(largest, fabs(c->weight[j]));
    for (size_t k = 0; k < s->count; k++)
        c->weight[s->index[k]] -= s->weight[k];
    for (size_t j = 0; j < c->p; j++)
        apart = fmax(apart, fabs(c->weight[j]));
    return apart <= SAME * largest;
}

/* ---- Dual ------------------------------------------------------------------------------------ */

/* The largest |X_g'v|. */
static double dual_norm(group_check *c, const double *v)
{
    double largest = 0;
    for (size_t g = 0; g < vxs_blocks_count(c->blocks); g++) {
        double square = 0;
        vxs_blocks_fetch(c->blocks, g, c->block);
        for (size_t k = 0; k < vxs_blocks_width(c->blocks, g); k++) {
            double product = vxs_check_dot(c->block + k * c->n, v, c->n);
            square += product * product;
        }
        largest = fmax(largest, square);
    }
    return sqrt(largest);
}

/* The gradient at the predictions, or at the empty model, without its part along the covariates. */
static void find_gradient(group_check *c, const double *z, double *gradient)
{
    for (size_t i = 0; i < c->n; i++)
        vxs_check_gradient(c->problem, i, z + i, c->n, gradient + i);
    vxs_check_project(&c->projection, &c->empty, z, gradient);
}

/* The value at the best scale of the gradient: a parabola for squared and squared hinge loss. */
static double dual_value(const group_check *c, double limit)
{
    double scale = 1, along = 0, square = 0, sum = 0;
    for (size_t i = 0; i < c->n; i++) {
        double u = vxs_check_u(c->problem, i);
        along -= c->gradient[i] * c->problem->loss.y[i];
        square += u > 0 ? c->gradient[i] * c->gradient[i] / u : 0;
    }
    if (c->problem->loss.kind != &vxs_logistic_loss)
        scale = square > 0 ? fmax(0, along / square) : 0;
    scale = fmin(scale, limit);
    for (size_t i = 0; i < c->n; i++)
        sum += vxs_check_dual(c->problem, i, c->gradient + i, c->n, scale);
    return sum;
}

/* ---- The certificate ------------------------------------------------------------------------- */

static void certify(group_check *c, const vxs_solution *s, vxs_certificate *r)
{
    double lambda = s->certificate.lambda, penalty = predict(c);
    bool same = is_same(c, s);
    *r = (vxs_certificate){ .lambda = lambda,
                            .tol = s->certificate.tol,
                            .nonzero = s->count,
                            .empty = c->empty.value,
                            .primal = lambda * penalty };
    for (size_t i = 0; i < c->n; i++)
        r->primal += vxs_check_loss(c->problem, i, c->z + i, c->n);
    find_gradient(c, c->empty.zero, c->xi_empty);
    r->lambda_max = dual_norm(c, c->xi_empty);
    find_gradient(c, c->z, c->gradient);
    vxs_check_into_domain(c->problem, c->gradient, 1, c->xi_empty, 1);
    double largest = dual_norm(c, c->gradient);
    r->dual = dual_value(c, largest > 0 ? lambda / largest : INFINITY);
    r->gap = same ? vxs_relative_gap(r->primal - r->dual, r->empty) : INFINITY;
    r->converged = vxs_has_converged(r->gap, r->tol);
}

vxs_status vxs_check_groups(const vxs_problem *problem, const vxs_solution *solution,
                            vxs_certificate *certificate, vxs_error *err)
{
    group_check c = { .problem = problem,
                      .blocks = vxs_as_grouped(problem->penalty)->blocks,
                      .selected = solution->selected,
                      .n = vxs_design_rows(problem->design),
                      .p = vxs_design_columns(problem->design) };
    *certificate = (vxs_certificate){ .lambda = solution->certificate.lambda, .gap = INFINITY };
    vxs_status status = vxs_design_measure(problem->design, err);
    if (status || !c.selected || !vxs_selected_matches(c.blocks, c.selected))
        return status; /* without a selection there is no bound */
    status = allocate(&c, err);
    if (!status)
        certify(&c, solution, certificate);
    release(&c);
    return status;
}
