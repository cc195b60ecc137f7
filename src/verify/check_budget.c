/* check_budget.c - value, bound and gap of what was selected among units, computed anew.
 *
 * The penalty |w|_B^2 is the least sum |w_g|^2 / d_g with 0 <= d_g <= 1 and sum d_g <= B: d_g is
 * |w_g| / t, at most 1, for the t that uses B up. The answer's slope gives alpha, unless it brings
 * one along; the sum of the B largest |Z_g'(alpha y)|^2 is found by fetching every unit, or of
 * pairs from products of columns. Nothing of the solvers is used, nor how units are ranked. */
#include "solver/solver.h"
#include "verify/check.h"

#include <cblas.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#define RETRAINED 1e-6 /* gap of weights that were learned anew */

enum { TILE = 256 };

typedef struct {
    const vxs_problem *problem;
    const vxs_budget *of; /* its penalty */
    const vxs_selected *selected;
    size_t n, count;                   /* units */
    double *z, *slope;                 /* n */
    double *away;                      /* n: slope of the empty model */
    double *block;                     /* columns of a unit */
    double *size;                      /* of selected units: |w_g| */
    double *best;                      /* scores, the largest first */
    size_t budget, found;              /* how many of these are wanted, and there */
    double *columns, *tile, *products; /* of pairs */
} budget;

/* ---- The penalty ----------------------------------------------------------------------------- */

static int falling(const void *a, const void *b)
{
    double left = *(const double *)a, right = *(const double *)b;
    return (left < right) - (left > right);
}

/* The k largest have d = 1, the others share what is left of B in proportion to their sizes. */
static double penalty(double *size, size_t count, size_t most)
{
    double rest = 0, square = 0, ones = 0;
    while (count > 0 && size[count - 1] == 0)
        count--;
    for (size_t k = 0; k < count; k++)
        rest += size[k];
    for (size_t k = 0; k < count; k++, ones++) {
        double left = (double)most - ones;
        if ((double)(count - k) > left && size[k] * left <= rest)
            return square + rest * rest / left;
        square += size[k] * size[k];
        rest -= size[k];
    }
    return square;
}

static double penalty_of_answer(budget *c)
{
    const vxs_selected *s = c->selected;
    for (size_t k = 0; k < s->count; k++) {
        c->size[k] = 0;
        for (size_t m = s->start[k]; m < s->start[k + 1]; m++)
            c->size[k] += s->weight[m] * s->weight[m];
        c->size[k] = sqrt(c->size[k]);
    }
    if (s->count > 0)
        qsort(c->size, s->count, sizeof(*c->size), falling);
    return penalty(c->size, s->count, c->budget) / 2;
}

/* ---- Predictions ----------------------------------------------------------------------------- */

static void predict(budget *c, const double *weight, const double *free_weights)
{
    const vxs_problem *p = c->problem;
    memset(c->z, 0, c->n * sizeof(*c->z));
    for (size_t f = 0; f < p->covariate_count; f++)
        for (size_t i = 0; i < c->n; i++)
            c->z[i] += free_weights[f] * p->covariates[f * c->n + i];
    for (size_t k = 0; k < c->selected->count; k++) {
        size_t first = c->selected->start[k], width = c->selected->start[k + 1] - first;
        vxs_blocks_fetch(c->of->blocks, c->selected->unit[k], c->block);
        for (size_t m = 0; m < width; m++)
            for (size_t i = 0; i < c->n; i++)
                c->z[i] += weight[first + m] * c->block[m * c->n + i];
    }
}

/* ---- The dual -------------------------------------------------------------------------------- */

/* Of the problem with some free columns: what they span, and a point of the dual's domain. */
typedef struct {
    vxs_check_empty empty;
    vxs_check_span span;
} domain;

static void release_domain(domain *d)
{
    vxs_check_empty_release(&d->empty);
    vxs_check_span_release(&d->span);
}

static vxs_status make_domain(const vxs_problem *problem, size_t columns, domain *d, vxs_error *err)
{
    *d = (domain){ .span = { .n = 0 } };
    vxs_status status = vxs_check_empty_fit(problem, problem->covariates, columns, &d->empty, err);
    return status ? status
                  : vxs_check_span_init(problem, problem->covariates, columns, &d->span, err);
}

/* Slopes become a point of the domain. */
static void bring_into(const budget *c, domain *d, double *slope)
{
    vxs_check_project(&d->span, &d->empty, c->z, slope);
    for (size_t i = 0; i < c->n; i++)
        vxs_check_slope(c->problem, i, d->empty.zero + i, c->n, c->away + i);
    vxs_check_project(&d->span, &d->empty, d->empty.zero, c->away);
    vxs_check_bring_inside(c->problem, slope, 1, c->away, 1);
}

/* The loss, and its slope. */
static double look(budget *c)
{
    double sum = 0;
    for (size_t i = 0; i < c->n; i++) {
        sum += vxs_check_loss(c->problem, i, c->z + i, c->n);
        vxs_check_slope(c->problem, i, c->z + i, c->n, c->slope + i);
    }
    return sum;
}

/* -G(t alpha) */
static double bound_besides(const budget *c, const double *slope, double cost, double t)
{
    double sum = 0;
    for (size_t i = 0; i < c->n; i++)
        sum += cost * vxs_check_dual(c->problem, i, slope + i, c->n, t / cost);
    return sum;
}

/* ---- Scores ---------------------------------------------------------------------------------- */

static void put(budget *c, double score)
{
    if (c->found == c->budget && !(score > c->best[c->found - 1]))
        return;
    size_t at = c->found < c->budget ? c->found++ : c->found - 1;
    for (; at > 0 && c->best[at - 1] < score; at--)
        c->best[at] = c->best[at - 1];
    c->best[at] = score;
}

/* Columns first ... first + rows - 1 times the slope, and the scores of these by themselves. */
static void put_alone(budget *c, size_t first, size_t rows)
{
    const vxs_feature_map *map = &c->of->map;
    for (size_t k = 0; k < rows * c->n; k++)
        c->tile[k] = c->columns[first * c->n + k] * c->slope[k % c->n];
    for (size_t j = 0; j < rows; j++) {
        double along = 0;
        for (size_t i = 0; i < c->n; i++)
            along += c->tile[j * c->n + i];
        put(c, 2 * map->gamma * map->coef0 * along * along);
    }
}

/* Scores of products: of a feature with itself where a = b, of pairs above that. */
static void put_products(budget *c, size_t a, size_t rows, size_t b, size_t columns)
{
    double square = c->of->map.gamma * c->of->map.gamma;
    cblas_dgemm(CblasColMajor, CblasTrans, CblasNoTrans, (int)rows, (int)columns, (int)c->n, 1,
                c->tile, (int)c->n, c->columns + b * c->n, (int)c->n, 0, c->products, TILE);
    for (size_t k = 0; k < rows * columns; k++) {
        size_t i = a + k % rows, j = b + k / rows;
        double s = c->products[(j - b) * TILE + i - a];
        if (i <= j)
            put(c, (i == j ? square : 2 * square) * s * s);
    }
}

/* Pairs are too many to fetch one by one: products of the columns themselves, a tile at a time,
 * with what the map multiplies them by. */
static void put_pairs(budget *c)
{
    size_t p = vxs_design_columns(c->problem->design);
    for (size_t a = 0; a < p; a += TILE) {
        size_t rows = p - a < TILE ? p - a : TILE;
        put_alone(c, a, rows);
        for (size_t b = a; b < p; b += TILE)
            put_products(c, a, rows, b, p - b < TILE ? p - b : TILE);
    }
}

/* The columns themselves, for pairs. */
static vxs_status read_columns(budget *c, vxs_error *err)
{
    size_t p = vxs_design_columns(c->problem->design);
    if (c->of->map.kind != VXS_FEATURE_MAP_POLY2)
        return VXS_OK;
    c->columns = vxs_alloc(p, c->n * sizeof(*c->columns), err);
    c->tile = vxs_alloc(TILE, c->n * sizeof(*c->tile), err);
    c->products = vxs_alloc(TILE, TILE * sizeof(*c->products), err);
    for (size_t j = 0; j < p && c->columns; j++)
        vxs_design_fetch(c->problem->design, &j, 1, c->columns + j * c->n);
    return c->columns && c->tile && c->products ? VXS_OK : VXS_FAILED;
}

static double sum_of_best(budget *c)
{
    double sum = 0;
    c->found = 0;
    if (c->columns)
        put_pairs(c);
    for (size_t k = 0; k < c->count && !c->columns; k++) {
        size_t width = vxs_blocks_width(c->of->blocks, k);
        double score = 0;
        vxs_blocks_fetch(c->of->blocks, k, c->block);
        for (size_t m = 0; m < width; m++) {
            double along = 0;
            for (size_t i = 0; i < c->n; i++)
                along += c->block[m * c->n + i] * c->slope[i];
            score += along * along;
        }
        put(c, score);
    }
    for (size_t k = 0; k < c->found; k++)
        sum += c->best[k];
    return sum;
}

/* ---- Weights that were learned anew ---------------------------------------------------------- */

/* Their gap, as a share of the empty model's value. */
static double gap_of_retrained(budget *c, const vxs_solution *s, domain *d, double cost,
                               double empty)
{
    const vxs_selected *selected = c->selected;
    predict(c, selected->retrained, s->free);
    double gap = cost * look(c);
    bring_into(c, d, c->slope);
    for (size_t i = 0; i < c->n; i++)
        c->slope[i] *= cost;
    gap -= bound_besides(c, c->slope, cost, 1);
    for (size_t k = 0; k < selected->count; k++) {
        vxs_blocks_fetch(c->of->blocks, selected->unit[k], c->block);
        for (size_t m = selected->start[k]; m < selected->start[k + 1]; m++) {
            const double *x = c->block + (m - selected->start[k]) * c->n;
            double w = selected->retrained[m], along = vxs_check_inner(x, c->slope, c->n);
            gap += (w * w + along * along) / 2;
        }
    }
    return gap / (empty * cost);
}

/* ---- The whole ------------------------------------------------------------------------------- */

/* By the multiple of alpha that gives the best one: where the slope by t, from a difference, is 0.
 */
static double best_bound(budget *c)
{
    double scores = sum_of_best(c), low = 0, high = 1, cost = c->of->cost, step = 1e-7;
    double best = fmax(0, bound_besides(c, c->slope, cost, 1) - scores / 2); /* alpha = 0: 0 */
    for (int k = 0; k < 50; k++) {
        double t = (low + high) / 2, next = fmin(1, t + step * t);
        double here = bound_besides(c, c->slope, cost, t) - t * t * scores / 2;
        double there = bound_besides(c, c->slope, cost, next) - next * next * scores / 2;
        best = fmax(best, here);
        *(there > here ? &low : &high) = t;
    }
    return best;
}

static vxs_status take_room(budget *c, vxs_error *err)
{
    size_t widest = vxs_feature_map_width(&c->of->map);
    for (size_t k = 0; k < c->count && c->of->map.kind == VXS_FEATURE_MAP_NONE; k++) {
        size_t width = vxs_blocks_width(c->of->blocks, k);
        widest = width > widest ? width : widest;
    }
    c->z = vxs_alloc(c->n, sizeof(*c->z), err);
    c->slope = vxs_alloc(c->n, sizeof(*c->slope), err);
    c->away = vxs_alloc(c->n, sizeof(*c->away), err);
    c->block = vxs_alloc(c->n, widest * sizeof(*c->block), err);
    c->size = vxs_alloc(c->selected->count, sizeof(*c->size), err);
    c->best = vxs_alloc(c->budget, sizeof(*c->best), err);
    return c->z && c->slope && c->away && c->block && c->size && c->best ? VXS_OK : VXS_FAILED;
}

static vxs_status check_selection(budget *c, const vxs_solution *s, double *empty,
                                  vxs_certificate *r, vxs_error *err)
{
    domain d;
    double cost = c->of->cost;
    vxs_status status =
        make_domain(c->problem, c->of->only_refit ? 0 : c->problem->covariate_count, &d, err);
    if (!status) {
        *empty = d.empty.value;
        predict(c, c->selected->weight, c->selected->free);
        r->primal = penalty_of_answer(c) + cost * look(c);
        for (size_t i = 0; i < c->n && c->selected->alpha; i++)
            c->slope[i] = -c->problem->loss.y[i] * c->selected->alpha[i] / cost;
        if (!c->selected->alpha) /* one that comes along is what it is */
            bring_into(c, &d, c->slope);
        for (size_t i = 0; i < c->n; i++)
            c->slope[i] *= cost;
        r->dual = best_bound(c);
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

static vxs_status check_retrained(budget *c, const vxs_solution *s, double empty,
                                  vxs_certificate *r, vxs_error *err)
{
    domain d;
    vxs_status status = make_domain(c->problem, c->problem->covariate_count, &d, err);
    if (!status &&
        !vxs_has_converged(gap_of_retrained(c, s, &d, c->of->refit_cost, empty), RETRAINED))
        r->converged = false;
    release_domain(&d);
    return status;
}

vxs_status vxs_check_budget(const vxs_problem *problem, const vxs_solution *solution,
                            vxs_certificate *certificate, vxs_error *err)
{
    const vxs_budget *of = vxs_as_budget(problem->penalty);
    budget c = { .problem = problem,
                 .of = of,
                 .selected = solution->selected,
                 .n = vxs_design_rows(problem->design),
                 .count = vxs_blocks_count(of->blocks) };
    double empty = 0;
    *certificate = (vxs_certificate){ .gap = INFINITY };
    if (!c.selected || !vxs_selected_fits(problem, c.selected) ||
        (c.selected->alpha && c.selected->alpha_count != c.n))
        return VXS_OK; /* nothing is known */
    c.budget = of->budget < c.count ? of->budget : c.count;
    vxs_status status = take_room(&c, err);
    if (!status)
        status = read_columns(&c, err);
    if (!status)
        status = check_selection(&c, solution, &empty, certificate, err);
    if (!status && c.selected->retrained)
        status = check_retrained(&c, solution, empty, certificate, err);
    free(c.z);
    free(c.slope);
    free(c.away);
    free(c.block);
    free(c.size);
    free(c.best);
    free(c.columns);
    free(c.tile);
    free(c.products);
    return status;
}
