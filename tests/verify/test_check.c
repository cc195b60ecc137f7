/* The checker against brute force, against optima that are found by other means, and against
 * answers that are wrong. */
#include "tests/core/check.h"
#include "tests/core/faults.h"

#include "verify/check.h"

#include <math.h>
#include <stdlib.h>

enum { MOST = 9, SAMPLES = 24, CLASSES = 4, COVARIATES = 2 };

typedef struct {
    vxs_random random;
    uint64_t drawn;
} chance;

static double draw(chance *c)
{
    return vxs_random_uniform(&c->random, c->drawn++);
}

static size_t draw_below(chance *c, size_t limit)
{
    return (size_t)(draw(c) * (double)limit);
}

/* Loops, parallel edges, edges from a node to itself, often several components. */
static vxs_graph draw_graph(chance *c, size_t nodes, bool integer)
{
    vxs_error err = VXS_ERROR_INIT;
    vxs_graph g;
    size_t count = 1 + draw_below(c, 2 * nodes);
    WORKS(vxs_graph_new(nodes, count, &g, &err), err);
    for (size_t e = 0; e < count; e++) {
        g.from[e] = draw_below(c, nodes);
        g.to[e] = draw_below(c, nodes);
        g.weight[e] = integer ? 1 + (double)draw_below(c, 3) : 0.1 + draw(c);
    }
    return g;
}

/* ---- The dual norm --------------------------------------------------------------------------- */

static double cut_of(const vxs_graph *g, double sparsity, unsigned set)
{
    double cut = sparsity * (double)__builtin_popcount(set);
    for (size_t e = 0; e < g->count; e++)
        cut += (set >> g->from[e] & 1) != (set >> g->to[e] & 1) ? g->weight[e] : 0;
    return cut;
}

static double brute_norm(const vxs_graph *g, double sparsity, const double *v)
{
    double most = 0;
    for (unsigned set = 1; set < 1U << g->nodes; set++) {
        double cut = cut_of(g, sparsity, set), sum = 0;
        for (size_t k = 0; k < g->nodes; k++)
            sum += set >> k & 1 ? v[k] : 0;
        most = cut > 0 ? fmax(most, fabs(sum) / cut) : most;
    }
    return most;
}

/* The values of each component sum to 0. */
static void center(const vxs_graph *g, double *v)
{
    vxs_error err = VXS_ERROR_INIT;
    vxs_check_null_space pieces;
    WORKS(vxs_check_components(g, &pieces, &err), err);
    const size_t *piece = pieces.vector;
    for (size_t name = 0; name < pieces.count; name++) {
        double sum = 0, count = 0;
        for (size_t k = 0; k < g->nodes; k++) {
            sum += piece[k] == name ? v[k] : 0;
            count += piece[k] == name;
        }
        for (size_t k = 0; k < g->nodes; k++)
            v[k] -= piece[k] == name ? sum / count : 0;
    }
    vxs_check_null_space_release(&pieces);
}

Test(check, the_dual_norm_is_the_largest_cut_ratio)
{
    vxs_error err = VXS_ERROR_INIT;
    for (uint64_t trial = 0; trial < 4000; trial++) {
        chance c = { .random = { 23, trial } };
        bool integer = trial % 2 == 0;
        vxs_graph g = draw_graph(&c, 1 + draw_below(&c, MOST), integer);
        double sparsity = trial % 3 == 0 ? 0 : integer ? 1 : 0.05 + draw(&c), v[MOST];
        vxs_check_network *net = NULL;
        WORKS(vxs_check_network_new(&g, sparsity, &net, &err), err);
        for (int again = 0; again < 3; again++) {
            for (size_t k = 0; k < g.nodes; k++)
                v[k] = integer ? (double)draw_below(&c, 7) - 3 : 6 * draw(&c) - 3;
            if (sparsity == 0)
                center(&g, v);
            double norm = brute_norm(&g, sparsity, v), got = vxs_check_network_dual_norm(net, v);
            cr_assert(fabs(got - norm) <= 1e-12 * (1 + norm), "%d: %.17g, not %.17g", (int)trial,
                      got, norm);
        }
        vxs_check_network_free(net);
        vxs_graph_release(&g);
    }
}

/* On a grid, where sets are large: equal to the solvers' flows, and at the boundary of
 * feasibility. */
Test(check, the_dual_norm_is_right_on_a_grid)
{
    enum { SIDE = 12, VOXELS = SIDE * SIDE * SIDE };
    static size_t voxels[VOXELS];
    static double v[VOXELS], w[VOXELS];
    const size_t shape[3] = { SIDE, SIDE, SIDE };
    vxs_error err = VXS_ERROR_INIT;
    vxs_graph g;
    for (size_t k = 0; k < VOXELS; k++)
        voxels[k] = k;
    WORKS(vxs_graph_neighbors(shape, voxels, VOXELS, 6, &g, &err), err);
    for (int trial = 0; trial < 12; trial++) {
        chance c = { .random = { 24, (uint64_t)trial } };
        double sparsity = trial % 2 ? 0.3 : 0, mean = 0, tau = 0.05 * (1 + trial / 4);
        vxs_flow *flow = NULL;
        vxs_check_network *net = NULL;
        WORKS(vxs_flow_new(&g, sparsity, &flow, &err), err);
        WORKS(vxs_check_network_new(&g, sparsity, &net, &err), err);
        for (size_t k = 0; k < VOXELS; k++) {
            v[k] = trial % 3 == 2 ? (double)draw_below(&c, 3) : sin((double)k / 40) + draw(&c);
            mean += v[k] / VOXELS;
        }
        for (size_t k = 0; k < VOXELS; k++)
            v[k] -= mean;
        double norm = vxs_check_network_dual_norm(net, v), theirs = vxs_flow_norm(flow, v, 0);
        cr_assert(fabs(norm - theirs) <= 1e-10 * norm, "%.17g, not %.17g", norm, theirs);
        vxs_flow_prox(flow, v, tau, w);
        for (size_t k = 0; k < VOXELS; k++)
            v[k] -= w[k];
        norm = vxs_check_network_dual_norm(net, v);
        cr_assert(fabs(norm - tau) <= 1e-10 * tau, "%.17g, not %.17g", norm, tau);
        vxs_flow_free(flow);
        vxs_check_network_free(net);
    }
    vxs_graph_release(&g);
}

/* ---- The multinomial loss -------------------------------------------------------------------- */

Test(check, multinomial_gradients_and_conjugates_are_those_of_the_loss)
{
    const double h = 1e-5;
    for (uint64_t trial = 0; trial < 300; trial++) {
        chance c = { .random = { 25, trial } };
        double z[CLASSES], gradient[CLASSES], other[CLASSES], y = (double)draw_below(&c, CLASSES);
        double u = 0.5 + draw(&c), along = 0, value = 0;
        vxs_problem p = {
            .loss.kind = &vxs_multinomial_loss, .loss.k = CLASSES, .loss.y = &y, .loss.u = &u
        };
        for (size_t k = 0; k < CLASSES; k++)
            z[k] = other[k] = 8 * draw(&c) - 4;
        value = vxs_check_loss(&p, 0, z, 1);
        vxs_check_gradient(&p, 0, z, 1, gradient);
        for (size_t k = 0; k < CLASSES; k++) {
            double above[CLASSES], below[CLASSES];
            other[k] = z[k] + h;
            double more = vxs_check_loss(&p, 0, other, 1);
            vxs_check_gradient(&p, 0, other, 1, above);
            other[k] = z[k] - h;
            double less = vxs_check_loss(&p, 0, other, 1);
            vxs_check_gradient(&p, 0, other, 1, below);
            other[k] = z[k];
            cr_assert(fabs((more - less) / (2 * h) - gradient[k]) <= 1e-8);
            for (size_t a = 0; a < CLASSES; a++)
                cr_assert(fabs((above[a] - below[a]) / (2 * h) -
                               vxs_check_curvature(&p, 0, z, gradient, 1, a, k)) <= 1e-8);
            along += z[k] * gradient[k];
        }
        cr_assert(fabs(value - vxs_check_dual(&p, 0, gradient, 1, 1) - along) <=
                  1e-12 * (1 + value));
        for (size_t k = 0; k < CLASSES; k++) /* Fenchel's inequality at another point */
            other[k] = 8 * draw(&c) - 4;
        along = 0;
        for (size_t k = 0; k < CLASSES; k++)
            along += other[k] * gradient[k];
        cr_assert(vxs_check_loss(&p, 0, other, 1) - vxs_check_dual(&p, 0, gradient, 1, 1) >=
                  along - 1e-12);
        gradient[0] += 0.1 * u; /* probabilities that do not sum to 1 are outside the domain */
        cr_assert(vxs_check_dual(&p, 0, gradient, 1, 1) == -INFINITY);
    }
}

/* Large predictions neither overflow nor cancel. */
Test(check, multinomial_losses_of_far_predictions_are_right)
{
    double y = 1, z[3] = { -800, 0, -40 }, gradient[3];
    vxs_problem p = { .loss.kind = &vxs_multinomial_loss, .loss.k = 3, .loss.y = &y };
    cr_assert(fabs(vxs_check_loss(&p, 0, z, 1) / exp(-40) - 1) <= 1e-14);
    vxs_check_gradient(&p, 0, z, 1, gradient);
    cr_assert(fabs(gradient[1] / -exp(-40) - 1) <= 1e-14);
    y = 0;
    cr_assert(fabs(vxs_check_loss(&p, 0, z, 1) - 800) <= 1e-10);
}

/* ---- Complete problems ----------------------------------------------------------------------- */

typedef struct {
    vxs_fused fused;
    vxs_problem problem;
    vxs_graph graph;
    vxs_design *design;
    size_t p, classes;
    float x[SAMPLES * MOST];
    double y[SAMPLES], weights[SAMPLES], covariates[COVARIATES * SAMPLES];
    double w[CLASSES * MOST], b[CLASSES * COVARIATES];
    size_t index[CLASSES * MOST];
    double weight[CLASSES * MOST];
} example;

static example *make(uint64_t number)
{
    static const vxs_loss_kind *const losses[] = { &vxs_squared_loss, &vxs_logistic_loss,
                                                   &vxs_multinomial_loss };
    chance c = { .random = { 26, number } };
    vxs_error err = VXS_ERROR_INIT;
    const vxs_loss_kind *loss = losses[number % 3];
    example *e = calloc(1, sizeof(*e));
    e->p = 2 + draw_below(&c, MOST - 1);
    e->classes = loss == &vxs_multinomial_loss ? 2 + draw_below(&c, CLASSES - 1) : 1;
    e->graph = draw_graph(&c, e->p, number % 2);
    for (size_t k = 0; k < SAMPLES * e->p; k++)
        e->x[k] = (float)(2 * draw(&c) - 1);
    for (size_t i = 0; i < SAMPLES; i++) {
        double score = (double)e->x[i] + (double)e->x[SAMPLES + i] + draw(&c) - 0.5;
        e->y[i] = loss == &vxs_squared_loss    ? score + 3
                  : loss == &vxs_logistic_loss ? (score > 0 ? 1 : -1)
                                               : (double)(i % e->classes);
        e->weights[i] = i % 7 == 3 ? 0 : 0.5 + draw(&c);
        e->covariates[i] = 1;
        e->covariates[SAMPLES + i] = draw(&c);
    }
    WORKS(vxs_dense_new(e->x, SAMPLES, e->p, 1, &e->design, &err), err);
    e->fused = vxs_fused_on(&e->graph, number / 18 % 4 > 1 ? 0.4 : 0);
    e->problem = (vxs_problem){ .design = e->design,
                                .loss.kind = loss,
                                .loss.n = SAMPLES,
                                .loss.y = e->y,
                                .loss.u = number / 3 % 2 ? e->weights : NULL,
                                .covariates = e->covariates,
                                .covariate_count = number / 6 % (COVARIATES + 1),
                                .penalty = number / 18 % 4 ? &e->fused.penalty : NULL,
                                .loss.k = e->classes };
    return e;
}

static void release(example *e)
{
    vxs_design_free(e->design);
    vxs_graph_release(&e->graph);
    free(e);
}

/* The checker's certificate of the example's w and b. */
static vxs_certificate ask(example *e, double lambda)
{
    vxs_error err = VXS_ERROR_INIT;
    vxs_certificate said;
    vxs_solution s = { .index = e->index,
                       .weight = e->weight,
                       .covariate_coefficients = e->b,
                       .certificate = { .lambda = lambda, .tol = 1e-6 } };
    for (size_t k = 0; k < e->classes * e->p; k++)
        if (e->w[k] != 0) {
            e->index[s.count] = k;
            e->weight[s.count++] = e->w[k];
        }
    WORKS(vxs_check_solution(&e->problem, &s, &said, &err), err);
    return said;
}

Test(check, no_point_has_a_negative_gap)
{
    for (uint64_t number = 0; number < 1500; number++) {
        chance c = { .random = { 27, number } };
        example *e = make(number);
        for (int trial = 0; trial < 4; trial++) {
            double size = pow(10, 3 * draw(&c) - 2), lambda = pow(10, 4 * draw(&c) - 3);
            for (size_t k = 0; k < e->classes * e->p; k++)
                e->w[k] = draw(&c) < 0.3 ? 0 : size * (draw(&c) - 0.5);
            for (size_t k = 0; k < CLASSES * COVARIATES; k++)
                e->b[k] = size * (draw(&c) - 0.5);
            vxs_certificate said = ask(e, lambda);
            cr_assert(said.gap >= -1e-10, "problem %d, lambda %g: the gap is %g, primal %g",
                      (int)number, lambda, said.gap, said.primal);
            cr_assert(said.primal >= said.dual - 1e-9 * (1 + fabs(said.primal)));
        }
        release(e);
    }
}

/* ---- Optima by proximal gradients ------------------------------------------------------------ */

static double column_of(const example *e, size_t j, size_t i)
{
    return j < e->p ? (double)e->x[j * SAMPLES + i] : e->covariates[(j - e->p) * SAMPLES + i];
}

/* Gradient of the loss by the w, then the b, of a class. */
static void gradients(const example *e, const double *at, double *down, size_t all)
{
    double z[CLASSES * SAMPLES] = { 0 }, f[CLASSES * SAMPLES] = { 0 };
    for (size_t k = 0; k < e->classes * all; k++)
        for (size_t i = 0; i < SAMPLES; i++)
            z[k / all * SAMPLES + i] += at[k] * column_of(e, k % all, i);
    for (size_t i = 0; i < SAMPLES; i++)
        vxs_check_gradient(&e->problem, i, z + i, SAMPLES, f + i);
    for (size_t k = 0; k < e->classes * all; k++) {
        down[k] = 0;
        for (size_t i = 0; i < SAMPLES; i++)
            down[k] -= f[k / all * SAMPLES + i] * column_of(e, k % all, i);
    }
}

static void shrink(const example *e, vxs_flow *flow, double tau, double *w)
{
    if (flow)
        vxs_flow_prox(flow, w, tau, w);
    for (size_t j = 0; j < e->p && !flow; j++)
        w[j] = copysign(fmax(0, fabs(w[j]) - tau), w[j]);
}

/* Copies the example's w and b from or to one vector a class. */
static void copy_point(example *e, double *at, bool out)
{
    size_t q = e->problem.covariate_count, all = e->p + q;
    for (size_t k = 0; k < e->classes * all; k++) {
        size_t c = k / all, j = k % all;
        double *one = j < e->p ? &e->w[c * e->p + j] : &e->b[c * q + j - e->p];
        *(out ? one : at + k) = *(out ? at + k : one);
    }
}

/* Accelerated proximal gradients with restarts, from the current point. */
static void solve(example *e, double lambda, int steps)
{
    enum { ALL = CLASSES * (MOST + COVARIATES) };
    vxs_error err = VXS_ERROR_INIT;
    size_t all = e->p + e->problem.covariate_count, count = e->classes * all;
    double now[ALL] = { 0 }, at[ALL], down[ALL], before[ALL], curvature = 0, momentum = 1;
    vxs_flow *flow = NULL;
    if (e->problem.penalty)
        WORKS(vxs_flow_new(&e->graph, e->fused.sparsity, &flow, &err), err);
    for (size_t k = 0; k < all * SAMPLES; k++)
        curvature += (e->problem.loss.u ? e->weights[k % SAMPLES] : 1) *
                     pow(column_of(e, k / SAMPLES, k % SAMPLES), 2);
    copy_point(e, now, false);
    memcpy(at, now, sizeof(now));
    for (int step = 0; step < steps; step++) {
        double turn = 0, next = (1 + sqrt(1 + 4 * momentum * momentum)) / 2;
        gradients(e, at, down, all);
        memcpy(before, now, sizeof(now));
        for (size_t k = 0; k < count; k++)
            now[k] = at[k] + down[k] / curvature;
        for (size_t k = 0; k < e->classes; k++)
            shrink(e, flow, lambda / curvature, now + k * all);
        for (size_t k = 0; k < count; k++)
            turn += (at[k] - now[k]) * (now[k] - before[k]);
        momentum = turn > 0 ? 1 : momentum;
        for (size_t k = 0; k < count; k++)
            at[k] = now[k] + (turn > 0 ? 0 : (momentum - 1) / next) * (now[k] - before[k]);
        momentum = turn > 0 ? 1 : next;
    }
    copy_point(e, now, true);
    vxs_flow_free(flow);
}

Test(check, optima_are_certified_and_others_are_not)
{
    size_t changed = 0;
    for (uint64_t number = 0; number < 216; number++) {
        chance c = { .random = { 28, number } };
        example *e = make(number);
        double most = ask(e, 1).lambda_max;
        for (int k = 0; k < 3 && most > 1e-6; k++) {
            double lambda = most * pow(0.3, k + 1);
            vxs_certificate said = { .gap = 1 };
            for (int round = 0; round < 60 && said.gap > 1e-7; round++) {
                solve(e, lambda, 1500);
                said = ask(e, lambda);
            }
            cr_assert(said.gap >= -1e-10 && said.gap <= 1e-7 && said.converged,
                      "problem %d, lambda %g of %g: the gap is %g", (int)number, lambda, most,
                      said.gap);
            size_t at = draw_below(&c, e->classes * e->p);
            e->w[at] += 0.5;
            said = ask(e, lambda);
            cr_assert(said.gap >= 1e-4 && !said.converged, "problem %d: wrong by %g", (int)number,
                      said.gap);
            changed++;
        }
        release(e);
    }
    cr_assert(changed > 500);
}

/* Just above lambda_max the empty model is optimal, just below it is not. */
Test(check, lambda_max_is_where_the_model_becomes_empty)
{
    for (uint64_t number = 0; number < 216; number++) {
        example *e = make(number);
        double most = ask(e, 1).lambda_max;
        for (int side = 0; side < 2 && most > 1e-6; side++) {
            const vxs_graph *g = e->problem.penalty ? &e->graph : NULL;
            double apart = 0, lambda = most * (side ? 0.99 : 1.01);
            bool levels = g && e->fused.sparsity == 0;
            solve(e, lambda, 3000);
            for (size_t k = 0; k < e->classes * e->p && !levels; k++)
                apart = fmax(apart, fabs(e->w[k]));
            for (size_t k = 0; levels && k < e->classes * g->count; k++)
                apart = fmax(apart, fabs(e->w[k / g->count * e->p + g->from[k % g->count]] -
                                         e->w[k / g->count * e->p + g->to[k % g->count]]));
            cr_assert((apart > 1e-7) == (side == 1), "problem %d: apart by %g at %g of lambda_max",
                      (int)number, apart, lambda / most);
        }
        release(e);
    }
}

/* ---- Generalized lasso ----------------------------------------------------------------------- */

/* w = (y x - lambda D'u) / x^2, feature by feature. */
static void weights_of(example *e, const vxs_analysis *terms, const double *u, double lambda)
{
    for (size_t j = 0; j < e->p; j++)
        e->w[j] = e->y[j] * (double)e->x[j * SAMPLES + j];
    for (size_t t = 0; t < terms->count; t++)
        for (size_t k = terms->starts[t]; k < terms->starts[t + 1]; k++)
            e->w[terms->index[k]] -= lambda * terms->value[k] * u[t];
    for (size_t j = 0; j < e->p; j++)
        e->w[j] /= pow((double)e->x[j * SAMPLES + j], 2);
}

/* Each feature has a subject of its own, so that w follows from the multipliers; the optimum is
 * found by projected gradients. */
static void solve_terms(example *e, const vxs_analysis *terms, double lambda, double *u, int steps)
{
    for (int step = 0; step < steps; step++) {
        weights_of(e, terms, u, lambda);
        for (size_t t = 0; t < terms->count; t++) {
            double term = 0;
            for (size_t k = terms->starts[t]; k < terms->starts[t + 1]; k++)
                term += terms->value[k] * e->w[terms->index[k]];
            u[t] = fmax(-1, fmin(1, u[t] + term / (16 * lambda)));
        }
    }
    weights_of(e, terms, u, lambda);
}

static vxs_certificate ask_terms(example *e, const vxs_analysis *terms, double lambda, double *u)
{
    double theta[SAMPLES] = { 0 };
    vxs_error err = VXS_ERROR_INIT;
    vxs_certificate said;
    vxs_bound bound = { .terms = terms->count, .theta = theta, .u = u };
    vxs_solution s = { .index = e->index,
                       .weight = e->w,
                       .count = e->p,
                       .bound = &bound,
                       .certificate = { .lambda = lambda, .tol = 1e-6 } };
    for (size_t j = 0; j < e->p; j++)
        e->index[j] = j;
    for (size_t i = 0; i < SAMPLES; i++)
        theta[i] = (e->y[i] - (i < e->p ? e->w[i] * (double)e->x[i * SAMPLES + i] : 0)) / lambda;
    WORKS(vxs_check_solution(&e->problem, &s, &said, &err), err);
    return said;
}

Test(check, multipliers_of_terms_certify_an_optimum_and_nothing_else)
{
    vxs_error err = VXS_ERROR_INIT;
    for (uint64_t number = 0; number < 60; number++) {
        chance c = { .random = { 29, number } };
        vxs_analysis terms;
        example *e = make(3 * number);
        double u[4 * MOST] = { 0 }, lambda = 0.05 + draw(&c);
        if (number % 2)
            WORKS(vxs_analysis_trend(e->p, &terms, &err), err);
        else
            WORKS(vxs_analysis_edges(&e->graph, 0.3, &terms, &err), err);
        e->problem.loss.u = NULL;
        e->problem.covariate_count = 0;
        vxs_generalized sums = vxs_generalized_of(&terms);
        e->problem.penalty = &sums.penalty;
        for (size_t k = 0; k < SAMPLES * e->p; k++)
            e->x[k] = k % SAMPLES == k / SAMPLES ? 1 + (float)(k % 2) / 2 : 0;
        for (size_t t = 0; t < terms.count; t++)
            u[t] = 2 * draw(&c) - 1;
        solve_terms(e, &terms, lambda, u, 0);
        cr_assert(ask_terms(e, &terms, lambda, u).gap >= -1e-12);
        solve_terms(e, &terms, lambda, u, 100000);
        vxs_certificate said = ask_terms(e, &terms, lambda, u);
        cr_assert(said.gap >= -1e-12 && said.gap <= 1e-7, "problem %d: the gap is %g", (int)number,
                  said.gap);
        for (size_t t = 0; t < terms.count; t++) /* too large, and X'theta = D'u */
            u[t] *= 3;
        weights_of(e, &terms, u, lambda);
        cr_assert(ask_terms(e, &terms, lambda, u).gap >= -1e-12);
        e->w[0] += 0.01; /* theta follows w, u does not */
        cr_assert(isinf(ask_terms(e, &terms, lambda, u).gap));
        vxs_analysis_release(&terms);
        release(e);
    }
}

/* The null space has D w = 0 and the right dimension: for components, second differences, and
 * random rows, some of them linearly dependent. */
Test(check, null_spaces_have_the_right_dimension)
{
    vxs_error err = VXS_ERROR_INIT;
    for (uint64_t number = 0; number < 600; number++) {
        chance c = { .random = { 30, number } };
        size_t p = 2 + draw_below(&c, MOST - 1), wanted = 0;
        vxs_graph g = draw_graph(&c, p, number % 2);
        vxs_analysis terms;
        vxs_check_null_space levels, pieces;
        WORKS(vxs_check_components(&g, &pieces, &err), err);
        wanted = number % 3 == 0 ? pieces.count : number % 3 == 1 ? 2 : 1;
        if (number % 3 == 0)
            WORKS(vxs_analysis_edges(&g, 0, &terms, &err), err);
        else if (number % 3 == 1)
            WORKS(vxs_analysis_trend(p, &terms, &err), err);
        else
            WORKS(vxs_analysis_new(p, 2 * p, 2 * p * p, &terms, &err), err);
        for (size_t k = 0; k < 2 * p * p && number % 3 == 2; k++) { /* all but one feature's */
            double scale = (double)(k / p + 1);
            terms.starts[k / p + 1] = (k / p + 1) * p;
            terms.index[k] = k % p;
            terms.value[k] = k / p >= p ? scale * terms.value[k - p * p] : draw(&c) - 0.5;
            if (k / p < p && k % p == p - 1) /* sums to 0 */
                for (size_t j = terms.value[k] = 0; j < p - 1; j++)
                    terms.value[k] -= terms.value[k - 1 - j];
        }
        WORKS(vxs_check_analysis_null_space(&terms, &levels, &err), err);
        cr_assert(levels.count == wanted, "%d: %zu levels, not %zu", (int)number, levels.count,
                  wanted);
        for (size_t t = 0; t < terms.count * levels.count; t++) {
            double value = 0, size = 0, w[MOST] = { 0 };
            for (size_t j = 0; j < p; j++)
                for (size_t e = levels.starts[j]; e < levels.starts[j + 1]; e++)
                    w[j] += levels.vector[e] == t % levels.count ? levels.factor[e] : 0;
            for (size_t k = terms.starts[t / levels.count]; k < terms.starts[t / levels.count + 1];
                 k++) {
                value += terms.value[k] * w[terms.index[k]];
                size += fabs(terms.value[k] * w[terms.index[k]]);
            }
            cr_assert(fabs(value) <= 1e-8 * size + 1e-12, "%d: %g", (int)number, value);
        }
        vxs_check_null_space_release(&levels);
        vxs_check_null_space_release(&pieces);
        vxs_analysis_release(&terms);
        vxs_graph_release(&g);
    }
}

/* ---- Allocation failures --------------------------------------------------------------------- */

static vxs_status check_one(vxs_error *err)
{
    static example *e;
    vxs_certificate said;
    vxs_solution s = { .certificate = { .lambda = 1 } };
    e = e ? e : make(20); /* multinomial, with a graph */
    s.covariate_coefficients = e->b;
    return vxs_check_solution(&e->problem, &s, &said, err);
}

static vxs_status find_levels(vxs_error *err)
{
    vxs_analysis terms;
    vxs_check_null_space levels;
    vxs_status status = vxs_analysis_trend(6, &terms, err);
    if (status)
        return status;
    status = vxs_check_analysis_null_space(&terms, &levels, err);
    vxs_check_null_space_release(&levels);
    vxs_analysis_release(&terms);
    return status;
}

Test(check, runs_out_of_memory_cleanly)
{
    vxs_error err = VXS_ERROR_INIT;
    WORKS(check_one(&err), err); /* norms are computed once */
    cr_assert(fail_each_request(check_one) > 15);
    cr_assert(fail_each_request(find_levels) > 20);
}

Test(check, refuses_what_it_does_not_know)
{
    vxs_error err = VXS_ERROR_INIT;
    vxs_certificate said;
    example *e = make(18);
    vxs_solution s = { .covariate_coefficients = e->b, .certificate = { .lambda = 1 } };
    e->problem.quadratic = (vxs_quadratic){ &vxs_ridge, 1, NULL };
    REFUSES(vxs_check_solution(&e->problem, &s, &said, &err), err, VXS_MISUSE, "ridge");
    e->problem.quadratic.weight = 0;
    e->graph.nodes++;
    REFUSES(vxs_check_solution(&e->problem, &s, &said, &err), err, VXS_MISUSE, "features");
    e->graph.nodes--;
    release(e);
}
