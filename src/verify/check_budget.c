/* check_budget.c - primal value, dual value and gap of selected feature blocks, recomputed.
 *
 * The penalty |w|_B^2 = min sum |w_g|^2 / d_g over 0 <= d_g <= 1, sum d_g <= B has the minimizer
 * d_g = min(1, |w_g| / t), t such that sum d_g = B. alpha is the solution's, or follows from its
 * gradient; the sum of the B largest |X_g'(alpha y)|^2 is computed from every block, for pairs of
 * features from products of columns. No code is shared with the solvers, nor the ranking of blocks.
 */
#include "solver/solver.h"
#include "verify/check.h"

#include <cblas.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#define REFIT_GAP 1e-6 /* gap of refitted weights */

enum { TILE = 256 };

/* ---- The penalty ----------------------------------------------------------------------------- */

static int descending(const void *a, const void *b)
{
    double first = *(const double *)a, second = *(const double *)b;
    return (first < second) - (first > second);
}

/* The k largest have d = 1; the others share the rest of B in proportion to their norms. */
static double penalty(double *size, size_t count, size_t limit)
{
    double rest = 0, square = 0, ones = 0;
    while (count > 0 && size[count - 1] == 0)
        count--;
    for (size_t k = 0; k < count; k++)
        rest += size[k];
    for (size_t k = 0; k < count; k++, ones++) {
        double remaining = (double)limit - ones;
        if ((double)(count - k) > remaining && size[k] * remaining <= rest)
            return square + rest * rest / remaining;
        square += size[k] * size[k];
        rest -= size[k];
    }
    return square;
}

double vxs_check_selection_penalty(vxs_check_selection *c)
{
    const vxs_selected *s = c->selected;
    for (size_t k = 0; k < s->count; k++) {
        c->size[k] = 0;
        for (size_t m = s->start[k]; m < s->start[k + 1]; m++)
            c->size[k] += s->weight[m] * s->weight[m];
        c->size[k] = sqrt(c->size[k]);
    }
    if (s->count > 0)
        qsort(c->size, s->count, sizeof(*c->size), descending);
    return penalty(c->size, s->count, c->budget) / 2;
}

/* ---- Predictions ----------------------------------------------------------------------------- */

void vxs_check_selection_predict(vxs_check_selection *c, const double *weight,
                                 const double *coefficients)
{
    const vxs_problem *p = c->problem;
    memset(c->z, 0, c->n * sizeof(*c->z));
    for (size_t f = 0; f < p->covariate_count; f++)
        for (size_t i = 0; i < c->n; i++)
            c->z[i] += coefficients[f] * p->covariates[f * c->n + i];
    for (size_t k = 0; k < c->selected->count; k++) {
        size_t first = c->selected->start[k], width = c->selected->start[k + 1] - first;
        vxs_blocks_fetch(c->penalty->blocks, c->selected->block[k], c->block);
        for (size_t m = 0; m < width; m++)
            for (size_t i = 0; i < c->n; i++)
                c->z[i] += weight[first + m] * c->block[m * c->n + i];
    }
}

/* ---- The dual point -------------------------------------------------------------------------- */

/* The fit of unpenalized columns, and the projection onto their complement. */
typedef struct {
    vxs_check_empty empty;
    vxs_check_projection projection;
} dual_domain;

static void release_domain(dual_domain *d)
{
    vxs_check_empty_release(&d->empty);
    vxs_check_projection_release(&d->projection);
}

static vxs_status make_domain(const vxs_problem *problem, size_t columns, dual_domain *d,
                              vxs_error *err)
{
    *d = (dual_domain){ .projection = { .n = 0 } };
    vxs_status status = vxs_check_empty_fit(problem, problem->covariates, columns, &d->empty, err);
    return status ? status
                  : vxs_check_projection_init(problem, problem->covariates, columns, &d->projection,
                                              err);
}

/* Projects the gradient and moves it into the domain. */
static void make_feasible(const vxs_check_selection *c, dual_domain *d, double *gradient)
{
    vxs_check_project(&d->projection, &d->empty, c->z, gradient);
    for (size_t i = 0; i < c->n; i++)
        vxs_check_gradient(c->problem, i, d->empty.zero + i, c->n, c->xi_empty + i);
    vxs_check_project(&d->projection, &d->empty, d->empty.zero, c->xi_empty);
    vxs_check_into_domain(c->problem, gradient, 1, c->xi_empty, 1);
}

/* The loss; computes its gradient. */
static double evaluate(vxs_check_selection *c)
{
    double sum = 0;
    for (size_t i = 0; i < c->n; i++) {
        sum += vxs_check_loss(c->problem, i, c->z + i, c->n);
        vxs_check_gradient(c->problem, i, c->z + i, c->n, c->gradient + i);
    }
    return sum;
}

/* -G(t alpha) */
static double conjugate_value(const vxs_check_selection *c, const double *gradient, double cost,
                              double t)
{
    double sum = 0;
    for (size_t i = 0; i < c->n; i++)
        sum += cost * vxs_check_dual(c->problem, i, gradient + i, c->n, t / cost);
    return sum;
}

/* ---- Scores ---------------------------------------------------------------------------------- */

static bool ranks(const vxs_check_selection *c, double score)
{
    return c->found < c->budget || score > c->best[c->found - 1];
}

static void add_score(vxs_check_selection *c, double score)
{
    if (!ranks(c, score))
        return;
    size_t at = c->found < c->budget ? c->found++ : c->found - 1;
    for (; at > 0 && c->best[at - 1] < score; at--)
        c->best[at] = c->best[at - 1];
    c->best[at] = score;
}

/* Tile = columns first ... first + rows - 1 times the gradient; scores of linear terms. */
static void add_linear_scores(vxs_check_selection *c, size_t first, size_t rows)
{
    const vxs_feature_map *map = &c->penalty->map;
    for (size_t k = 0; k < rows * c->n; k++)
        c->tile[k] = c->columns[first * c->n + k] * c->gradient[k % c->n];
    for (size_t j = 0; j < rows; j++) {
        double product = 0;
        for (size_t i = 0; i < c->n; i++)
            product += c->tile[j * c->n + i];
        add_score(c, 2 * map->gamma * map->coef0 * product * product);
    }
}

static bool is_constant(const vxs_check_selection *c, size_t a, size_t b)
{
    return vxs_design_product_is_constant(c->problem->design, c->columns + a * c->n,
                                          c->columns + b * c->n);
}

/* Scores of squares (a = b) and products of pairs. */
static void add_product_scores(vxs_check_selection *c, size_t a, size_t rows, size_t b,
                               size_t columns)
{
    double square = c->penalty->map.gamma * c->penalty->map.gamma;
    cblas_dgemm(CblasColMajor, CblasTrans, CblasNoTrans, (int)rows, (int)columns, (int)c->n, 1,
                c->tile, (int)c->n, c->columns + b * c->n, (int)c->n, 0, c->products, TILE);
    for (size_t k = 0; k < rows * columns; k++) {
        size_t i = a + k % rows, j = b + k / rows;
        double s = c->products[(j - b) * TILE + i - a];
        double score = (i == j ? square : 2 * square) * s * s;
        if (i <= j && ranks(c, score) && is_constant(c, i, j))
            score = 0;
        if (i <= j)
            add_score(c, score);
    }
}

/* Scores of all pairs by matrix products of tiles, with the factors of the feature map. */
static void add_pair_scores(vxs_check_selection *c)
{
    size_t p = vxs_design_columns(c->problem->design);
    for (size_t a = 0; a < p; a += TILE) {
        size_t rows = p - a < TILE ? p - a : TILE;
        add_linear_scores(c, a, rows);
        for (size_t b = a; b < p; b += TILE)
            add_product_scores(c, a, rows, b, p - b < TILE ? p - b : TILE);
    }
}

/* Reads all columns, for pairs. */
static vxs_status read_columns(vxs_check_selection *c, vxs_error *err)
{
    size_t p = vxs_design_columns(c->problem->design);
    if (c->penalty->map.kind != VXS_FEATURE_MAP_POLY2)
        return VXS_OK;
    c->columns = vxs_alloc(p, c->n * sizeof(*c->columns), err);
    c->tile = vxs_alloc(TILE, c->n * sizeof(*c->tile), err);
    c->products = vxs_alloc(TILE, TILE * sizeof(*c->products), err);
    for (size_t j = 0; j < p && c->columns; j++)
        vxs_design_fetch(c->problem->design, &j, 1, c->columns + j * c->n);
    return c->columns && c->tile && c->products ? VXS_OK : VXS_FAILED;
}

double vxs_check_selection_scores(vxs_check_selection *c)
{
    double sum = 0;
    c->found = 0;
    if (c->columns)
        add_pair_scores(c);
    for (size_t k = 0; k < c->count && !c->columns; k++) {
        size_t width = vxs_blocks_width(c->penalty->blocks, k);
        double score = 0;
        vxs_blocks_fetch(c->penalty->blocks, k, c->block);
        for (size_t m = 0; m < width; m++) {
            double product = 0;
            for (size_t i = 0; i < c->n; i++)
                product += c->block[m * c->n + i] * c->gradient[i];
            score += product * product;
        }
        add_score(c, score);
    }
    for (size_t k = 0; k < c->found; k++)
        sum += c->best[k];
    return sum;
}

/* ---- Refitted weights ------------------------------------------------------------------------ */

/* Their gap, relative to the empty model's value. */
static double refit_gap(vxs_check_selection *c, const vxs_solution *s, dual_domain *d, double cost,
                        double empty)
{
    const vxs_selected *selected = c->selected;
    vxs_check_selection_predict(c, selected->refit_weight, s->covariate_coefficients);
    double gap = cost * evaluate(c);
    make_feasible(c, d, c->gradient);
    for (size_t i = 0; i < c->n; i++)
        c->gradient[i] *= cost;
    gap -= conjugate_value(c, c->gradient, cost, 1);
    for (size_t k = 0; k < selected->count; k++) {
        vxs_blocks_fetch(c->penalty->blocks, selected->block[k], c->block);
        for (size_t m = selected->start[k]; m < selected->start[k + 1]; m++) {
            const double *x = c->block + (m - selected->start[k]) * c->n;
            double w = selected->refit_weight[m], product = vxs_check_dot(x, c->gradient, c->n);
            gap += (w * w + product * product) / 2;
        }
    }
    return gap / (empty * cost);
}

/* ---- The certificate ------------------------------------------------------------------------- */

/* max over 0 <= t <= 1 of the dual value at t alpha, which is concave: of nine points the best and
 * its neighbors, again and again. Slopes of small steps would be lost to targets far from 0. */
static double best_dual_value(vxs_check_selection *c)
{
    double scores = vxs_check_selection_scores(c), low = 0, high = 1, cost = c->penalty->cost;
    double best = 0; /* alpha = 0 */
    for (int k = 0; k < 14; k++) {
        double width = (high - low) / 8, at = low, most = -INFINITY;
        for (int m = 0; m <= 8; m++) {
            double t = m == 8 ? high : low + m * width;
            double value = conjugate_value(c, c->gradient, cost, t) - t * t * scores / 2;
            at = value > most ? t : at;
            most = fmax(most, value);
        }
        best = fmax(best, most);
        low = fmax(low, at - width);
        high = fmin(high, at + width);
    }
    return best;
}

static vxs_status allocate(vxs_check_selection *c, vxs_error *err)
{
    size_t widest = vxs_feature_map_width(&c->penalty->map);
    for (size_t k = 0; k < c->count && c->penalty->map.kind == VXS_FEATURE_MAP_NONE; k++) {
        size_t width = vxs_blocks_width(c->penalty->blocks, k);
        widest = width > widest ? width : widest;
    }
    c->z = vxs_alloc(c->n, sizeof(*c->z), err);
    c->gradient = vxs_alloc(c->n, sizeof(*c->gradient), err);
    c->xi_empty = vxs_alloc(c->n, sizeof(*c->xi_empty), err);
    c->block = vxs_alloc(c->n, widest * sizeof(*c->block), err);
    c->size = vxs_alloc(c->selected->count, sizeof(*c->size), err);
    c->best = vxs_alloc(c->budget, sizeof(*c->best), err);
    return c->z && c->gradient && c->xi_empty && c->block && c->size && c->best ? VXS_OK
                                                                                : VXS_FAILED;
}

void vxs_check_selection_release(vxs_check_selection *c)
{
    void *const all[] = { c->z,    c->gradient, c->xi_empty, c->block,   c->size,
                          c->best, c->columns,  c->tile,     c->products };
    for (size_t k = 0; k < sizeof(all) / sizeof(all[0]); k++)
        free(all[k]);
}

vxs_status vxs_check_selection_init(const vxs_problem *problem, const vxs_selected *selected,
                                    vxs_check_selection *c, vxs_error *err)
{
    const vxs_budget *penalty = vxs_as_budget(problem->penalty);
    *c = (vxs_check_selection){ .problem = problem,
                                .penalty = penalty,
                                .selected = selected,
                                .n = vxs_design_rows(problem->design),
                                .count = vxs_blocks_count(penalty->blocks) };
    c->budget = penalty->budget < c->count ? penalty->budget : c->count;
    vxs_status status = allocate(c, err);
    return status ? status : read_columns(c, err);
}

static vxs_status check_selection(vxs_check_selection *c, const vxs_solution *s, double *empty,
                                  vxs_certificate *r, vxs_error *err)
{
    dual_domain d;
    double cost = c->penalty->cost;
    vxs_status status =
        make_domain(c->problem, c->penalty->only_refit ? 0 : c->problem->covariate_count, &d, err);
    if (!status) {
        *empty = d.empty.value;
        vxs_check_selection_predict(c, c->selected->weight, c->selected->covariate_coefficients);
        r->primal = vxs_check_selection_penalty(c) + cost * evaluate(c);
        for (size_t i = 0; i < c->n && c->selected->alpha; i++)
            c->gradient[i] = -c->problem->loss.y[i] * c->selected->alpha[i] / cost;
        if (!c->selected->alpha) /* the solution's alpha is used as it is */
            make_feasible(c, &d, c->gradient);
        for (size_t i = 0; i < c->n; i++)
            c->gradient[i] *= cost;
        r->dual = best_dual_value(c);
        r->empty = cost * *empty;
        r->gap = vxs_relative_gap(r->primal - r->dual, r->empty);
        r->lambda = 1 / cost;
        r->lambda_max = NAN;
        r->nonzero = s->count;
        r->tol = s->certificate.tol;
        r->converged = vxs_has_converged(r->gap, s->certificate.gap * (1 + 1e-6) + 1e-9) ||
                       vxs_has_converged(r->gap, r->tol);
    }
    release_domain(&d);
    return status;
}

static vxs_status check_refit(vxs_check_selection *c, const vxs_solution *s, double empty,
                              vxs_certificate *r, vxs_error *err)
{
    dual_domain d;
    vxs_status status = make_domain(c->problem, c->problem->covariate_count, &d, err);
    if (!status &&
        !vxs_has_converged(refit_gap(c, s, &d, c->penalty->refit_cost, empty), REFIT_GAP))
        r->converged = false;
    release_domain(&d);
    return status;
}

vxs_status vxs_check_budget(const vxs_problem *problem, const vxs_solution *solution,
                            vxs_certificate *certificate, vxs_error *err)
{
    const vxs_selected *s = solution->selected;
    vxs_check_selection c;
    double empty = 0;
    *certificate = (vxs_certificate){ .gap = INFINITY };
    if (!s || !vxs_selected_matches(vxs_as_budget(problem->penalty)->blocks, s) ||
        (s->alpha && s->alpha_count != vxs_design_rows(problem->design)))
        return VXS_OK; /* no bound */
    vxs_status status = vxs_check_selection_init(problem, s, &c, err);
    if (!status)
        status = check_selection(&c, solution, &empty, certificate, err);
    if (!status && c.selected->refit_weight)
        status = check_refit(&c, solution, empty, certificate, err);
    vxs_check_selection_release(&c);
    return status;
}
