/* The squared hinge with an l1 penalty, and the dome of its screening rule, which the squared loss
 * has too: thousands of random problems, solved in all ways, certified, and compared. */
#include "solver/saif/lasso.h"
#include "tests/core/faults.h"
#include "tests/solver/problems.h"

/* Classes, one of ten problems with a minority of a tenth, or the squared loss of a score; a chain
 * of the columns. */
static example make(uint64_t number)
{
    vxs_error err = VXS_ERROR_INIT;
    example e =
        random_problem(&(problem_recipe){ .seed = 11,
                                          .fewest = 2,
                                          .classes = number % 4 ? &vxs_squared_hinge_loss : NULL,
                                          .level = number % 10 == 3 ? 2.8 : 0,
                                          .covariate_counts = { 1, 0, 2, 3 } },
                       number);
    WORKS(vxs_graph_new(e.p, e.p - 1, &e.graph, &err), err);
    for (size_t k = 0; k + 1 < e.p; k++) {
        e.graph.from[k] = k;
        e.graph.to[k] = k + 1;
        e.graph.weight[k] = 0.5 + (double)(k % 3);
    }
    e.graph.count = e.p - 1;
    return e;
}

/* The same with a Laplacian of a chain. */
static void smooth(example *e)
{
    e->problem.quadratic = (vxs_quadratic){ &vxs_laplacian, 0.7, &e->graph };
}

/* ---- All ways -------------------------------------------------------------------------------- */

typedef struct {
    int screen, inner;
} way;
static const way ways[] = {
    { VXS_SCREEN_NONE, VXS_INNER_EXACT },    { VXS_SCREEN_SAIF, VXS_INNER_AUTO },
    { VXS_SCREEN_SAIF, VXS_INNER_DESCENT },  { VXS_SCREEN_DYNAMIC, VXS_INNER_AUTO },
    { VXS_SCREEN_DYNAMIC, VXS_INNER_EXACT }, { VXS_SCREEN_VI, VXS_INNER_EXACT },
    { VXS_SCREEN_VI, VXS_INNER_AUTO },       { VXS_SCREEN_VI, VXS_INNER_DESCENT },
    { VXS_SCREEN_DPP, VXS_INNER_EXACT },
};
enum { WAYS = sizeof(ways) / sizeof(ways[0]) };
static const double ratios[] = { 1.5, 1, 0.9, 0.5, 0.1, 0.02, 0.001 };
enum { RATIOS = sizeof(ratios) / sizeof(ratios[0]) };

static vxs_solver *begin(const example *e, way how, double tol)
{
    vxs_error err = VXS_ERROR_INIT;
    vxs_method_settings settings = { .saif = { how.screen, how.inner }, .tol = tol };
    vxs_solver *solver;
    int method =
        e->problem.quadratic.kind == &vxs_laplacian ? VXS_METHOD_GRAPHNET : VXS_METHOD_LASSO;
    WORKS(vxs_solver_new(NULL, &vxs_methods[method], &e->problem, &settings, &solver, &err), err);
    return solver;
}

/* Features do not enter and leave for ever, and none is missed. */
static void ends(const vxs_certificate *c, uint64_t number, size_t at)
{
    cr_assert(c->iterations < 1000, "problem %d, way %zu, lambda %g of %g: features come and go",
              (int)number, at, c->lambda, c->lambda_max);
    cr_assert(c->missed == 0, "problem %d: way %zu is not safe", (int)number, at);
}

/* The certificate holds when somebody else computes it. */
static void confirm(const example *e, const vxs_solution *s, uint64_t number, size_t at)
{
    vxs_error err = VXS_ERROR_INIT;
    vxs_certificate again;
    const vxs_certificate *c = &s->certificate;
    WORKS(vxs_check_solution(&e->problem, s, &again, &err), err);
    double size = fabs(again.primal) + 1e-300;
    bool slow = ways[at].inner == VXS_INNER_DESCENT; /* it may give up */
    cr_assert((c->converged && again.converged) || (slow && again.gap < 1e-4),
              "problem %d, way %zu, lambda %g of %g: gap %g, checked %g", (int)number, at,
              c->lambda, c->lambda_max, c->gap, again.gap);
    cr_assert(fabs(c->primal - again.primal) <= 1e-9 * size, "problem %d: primal %.17g, %.17g",
              (int)number, c->primal, again.primal);
    cr_assert(again.gap >= -1e-9, "problem %d, lambda %g of %g: the gap is %g, primal %g",
              (int)number, c->lambda, c->lambda_max, again.gap, again.primal);
    cr_assert(fabs(c->lambda_max - again.lambda_max) <= 1e-8 * again.lambda_max,
              "problem %d: lambda_max %.17g, %.17g", (int)number, c->lambda_max, again.lambda_max);
    ends(c, number, at);
}

static bool can(const example *e, size_t at)
{
    const vxs_problem *p = &e->problem;
    return ways[at].screen != VXS_SCREEN_DPP ||
           (!p->loss.u && p->quadratic.weight == 0 && !p->nonnegative);
}

/* Descent alone is slow where lambda is small: it is not asked for that. */
static bool is_slow(size_t at, size_t k)
{
    return ways[at].inner == VXS_INNER_DESCENT && ratios[k] < 0.5;
}

static void solve_one_way(const example *e, uint64_t number, size_t at, double primals[RATIOS])
{
    vxs_error err = VXS_ERROR_INIT;
    vxs_solver *solver = begin(e, ways[at], 1e-9);
    double most = vxs_solver_lambda_max(solver);
    for (size_t k = 0; k < RATIOS && most > 1e-4; k++) {
        vxs_solution s;
        if (is_slow(at, k))
            continue;
        WORKS(vxs_solver_fit(solver, ratios[k] * most, &s, &err), err);
        confirm(e, &s, number, at);
        cr_assert(ratios[k] < 1 || s.count == 0, "problem %d, way %zu: not empty at %g",
                  (int)number, at, ratios[k]);
        if (at == 0)
            primals[k] = s.certificate.primal;
        cr_assert(fabs(s.certificate.primal - primals[k]) <=
                      (1e-8 + fmax(0, s.certificate.gap)) * primals[0],
                  "problem %d, way %zu, ratio %g: %.15g, not %.15g", (int)number, at, ratios[k],
                  s.certificate.primal, primals[k]);
        vxs_solution_release(&s);
    }
    vxs_solver_free(solver);
}

Test(squared_hinge, all_ways_agree_and_certificates_hold)
{
    for (uint64_t number = 0; number < 1500; number++) {
        example e = make(number);
        double primals[RATIOS];
        if (number % 13 == 5)
            smooth(&e);
        for (size_t at = 0; at < WAYS; at++)
            if (can(&e, at))
                solve_one_way(&e, number, at, primals);
        release_problem(&e);
    }
}

/* ---- The dome of --screen vi ----------------------------------------------------------------- */

static double largest_correlation(const vxs_lasso *l, double lambda)
{
    double largest = 0;
    for (size_t j = 0; j < l->p; j++)
        largest = fmax(largest, vxs_lasso_correlation(l, j) / lambda);
    return largest;
}

/* No bound of the dome made at the solution of `rough` is below the product at the optimum of
 * `exact`. */
static void holds(vxs_lasso *rough, double at, const vxs_lasso *exact, double lambda,
                  uint64_t number, size_t *rejected)
{
    double largest = largest_correlation(rough, at);
    vxs_vi_point point = { &rough->set, rough->theta, at, largest > 0 ? 1 / largest : INFINITY };
    vxs_vi_region region;
    vxs_vi_region_init(&rough->vi, &point, lambda, &region);
    for (size_t j = 0; j < rough->p; j++) {
        double bound = vxs_vi_bound(&rough->vi, &region, j, rough->correlations.estimate[j] / at);
        double product = vxs_lasso_correlation(exact, j) / lambda;
        double rounding = sqrt(1e-14 * exact->empty) / lambda; /* of the gap */
        double doubt = vxs_lasso_norm(exact, j) * (exact->last_radius + rounding);
        cr_assert(bound >= product - doubt - 1e-9 * (1 + product),
                  "problem %d, %g to %g, column %zu: %.12g reaches %.12g", (int)number, at, lambda,
                  j, bound, product);
        *rejected += bound < 1 - 1e-9;
    }
}

/* Solved roughly, and started at lambda_max: the paper's rule fails there. */
Test(squared_hinge, the_dome_contains_the_optimum_of_any_lambda)
{
    static const double tolerances[] = { 1e-8, 1e-4, 1e-2, 1e-1 };
    size_t rejected = 0, bounds = 0;
    for (uint64_t number = 0; number < 800; number++) {
        vxs_error err = VXS_ERROR_INIT;
        example e = make(number);
        if (number % 13 == 5)
            smooth(&e);
        way descent = { VXS_SCREEN_VI, VXS_INNER_DESCENT }, none = { VXS_SCREEN_NONE, 0 };
        vxs_solver *exact = begin(&e, none, 1e-12);
        vxs_solver *rough = begin(&e, descent, tolerances[number / 4 % 4]);
        double most = vxs_solver_lambda_max(exact);
        static const double pairs[][2] = { { 1, 0.7 }, { 0.6, 0.5 }, { 0.4, 0.45 }, { 0.3, 0.05 } };
        for (size_t k = 0; k < 4 && most > 1e-4; k++) {
            vxs_solution a, b;
            WORKS(vxs_solver_fit(exact, pairs[k][1] * most, &b, &err), err);
            WORKS(vxs_solver_fit(rough, pairs[k][0] * most, &a, &err), err);
            holds((vxs_lasso *)rough, pairs[k][0] * most, (vxs_lasso *)exact, pairs[k][1] * most,
                  number, &rejected);
            bounds += e.p;
            vxs_solution_release(&a);
            vxs_solution_release(&b);
        }
        vxs_solver_free(exact);
        vxs_solver_free(rough);
        release_problem(&e);
    }
    cr_assert(5 * rejected > bounds, "%zu of %zu columns rejected", rejected, bounds);
}

/* Moves the intercept off its best: theta is no longer the gradient. */
static void disturb(vxs_lasso *l, double lambda)
{
    l->set.w[0] += 0.2;
    vxs_working_set_theta(&l->set, lambda, l->theta);
    vxs_design_scan(l->problem.design, l->theta, 1, l->correlations.estimate);
    for (size_t j = 0; j < l->p; j++)
        l->correlations.estimate[j] *= lambda;
}

Test(squared_hinge, the_dome_allows_for_covariates_that_are_not_at_their_best)
{
    size_t rejected = 0, moved = 0;
    for (uint64_t number = 0; number < 600; number++) {
        vxs_error err = VXS_ERROR_INIT;
        example e = make(number);
        e.problem.quadratic.weight = 0;
        e.problem.covariate_count = 1 + number % 3;
        way vi = { VXS_SCREEN_VI, VXS_INNER_EXACT }, none = { VXS_SCREEN_NONE, 0 };
        vxs_solver *exact = begin(&e, none, 1e-12), *other = begin(&e, vi, 1e-6);
        double most = vxs_solver_lambda_max(exact);
        vxs_lasso *l = (vxs_lasso *)other;
        for (double ratio = 0.6; ratio > 0.05 && most > 1e-4; ratio /= 2) {
            vxs_solution a, b;
            WORKS(vxs_solver_fit(exact, 0.9 * ratio * most, &b, &err), err);
            WORKS(vxs_solver_fit(other, ratio * most, &a, &err), err);
            double intercept = l->set.w[0];
            disturb(l, ratio * most);
            holds(l, ratio * most, (vxs_lasso *)exact, 0.9 * ratio * most, number, &rejected);
            moved += !l->set.is_gradient;
            l->set.w[0] = intercept;
            vxs_solution_release(&a);
            vxs_solution_release(&b);
        }
        vxs_solver_free(exact);
        vxs_solver_free(other);
        release_problem(&e);
    }
    cr_assert(rejected > 1000 && moved > 500, "%zu rejected, %zu moved", rejected, moved);
}

/* Rows of a ridge or of a chain's Laplacian, with target 0, below those of the design. */
static example stack(const example *e)
{
    vxs_error err = VXS_ERROR_INIT;
    const vxs_quadratic *q = &e->problem.quadratic;
    bool chain = q->kind == &vxs_laplacian;
    example s = { .n = e->n + e->p, .p = e->p };
    s.x = calloc(s.n * s.p, sizeof(*s.x));
    s.y = calloc(s.n, sizeof(*s.y));
    for (size_t j = 0; j < e->p; j++)
        memcpy(s.x + j * s.n, e->x + j * e->n, e->n * sizeof(*s.x));
    for (size_t k = 0; k < e->p - chain; k++) {
        double root = sqrt(q->weight * (chain ? e->graph.weight[k] : 1));
        s.x[k * s.n + e->n + k] = (float)root;
        if (chain)
            s.x[(k + 1) * s.n + e->n + k] = (float)-root;
    }
    memcpy(s.y, e->y, e->n * sizeof(*s.y));
    WORKS(vxs_dense_new(s.x, s.n, s.p, 1, &s.design, &err), err);
    s.problem = (vxs_problem){ .design = s.design,
                               .loss = { .kind = &vxs_squared_loss, .n = s.n, .y = s.y } };
    return s;
}

static void region_of(vxs_lasso *l, double at, double lambda, vxs_vi_region *region)
{
    vxs_vi_point point = { &l->set, l->theta, at, 1 / largest_correlation(l, at) };
    vxs_vi_region_init(&l->vi, &point, lambda, region);
}

/* Of the squared loss, so that the rows are of one kind; without covariates, norms are exact. */
Test(squared_hinge, ridge_and_laplacian_have_the_domes_of_stacked_rows)
{
    size_t cut = 0;
    for (uint64_t number = 0; number < 200; number++) {
        vxs_error err = VXS_ERROR_INIT;
        example e = make(4 * number);
        vxs_design_free(e.design);
        WORKS(vxs_dense_new(e.x, e.n, e.p, 1, &e.design, &err), err);
        e.problem = (vxs_problem){ .design = e.design,
                                   .loss = { .kind = &vxs_squared_loss, .n = e.n, .y = e.y },
                                   .quadratic = { &vxs_ridge, 0.25, NULL } };
        if (number % 2)
            e.problem.quadratic = (vxs_quadratic){ &vxs_laplacian, 1, &e.graph };
        example s = stack(&e);
        way vi = { VXS_SCREEN_VI, VXS_INNER_EXACT };
        vxs_solver *own = begin(&e, vi, 1e-12), *stacked = begin(&s, vi, 1e-12);
        double most = vxs_solver_lambda_max(own);
        for (double ratio = 1; ratio > 0.1; ratio /= 2) {
            vxs_solution a;
            vxs_vi_region first, second;
            vxs_lasso *l = (vxs_lasso *)own, *m = (vxs_lasso *)stacked;
            WORKS(vxs_solver_fit(own, ratio * most, &a, &err), err);
            vxs_solution_release(&a);
            WORKS(vxs_solver_fit(stacked, ratio * most, &a, &err), err);
            vxs_solution_release(&a);
            region_of(l, ratio * most, ratio * most / 2, &first);
            region_of(m, ratio * most, ratio * most / 2, &second);
            double lowest = INFINITY; /* of the columns as steep, with a positive product */
            for (size_t j = 0; j < e.p; j++) {
                double bound =
                    vxs_vi_bound(&l->vi, &first, j, l->correlations.estimate[j] / (ratio * most));
                double other =
                    vxs_vi_bound(&m->vi, &second, j, m->correlations.estimate[j] / (ratio * most));
                cr_assert(fabs(bound - other) <= 1e-4 * (1 + other), "%d at %g: %.12g, %.12g",
                          (int)number, ratio, bound, other);
                vxs_vi_region one = first;
                one.nonnegative = true; /* x_j'theta alone */
                if (l->correlations.estimate[j] >= ratio * most * (1 - 1e-7))
                    lowest =
                        fmin(lowest, vxs_vi_bound(&l->vi, &one, j,
                                                  l->correlations.estimate[j] / (ratio * most)));
            }
            /* the half-space is that of the steepest column */
            cr_assert(ratio < 1 || !isfinite(lowest) || lowest < 1 + 1e-6, "%d: %g", (int)number,
                      lowest);
            cut += isfinite(lowest);
        }
        vxs_solver_free(own);
        vxs_solver_free(stacked);
        release_problem(&e);
        vxs_design_free(s.design);
        free(s.x);
        free(s.y);
    }
    cr_assert(cut > 20, "%zu", cut);
}

/* What dpp leaves out after a rough solution has a product below 1 at the optimum. Next to the last
 * lambda the ball is smaller than the error of that solution, for which its radius allows. */
Test(squared_hinge, dpp_keeps_what_is_needed_after_rough_solutions)
{
    static const double tolerances[] = { 0.1, 1e-2, 1e-3 };
    size_t outside = 0, kept = 0;
    for (uint64_t number = 0; number < 600; number++) {
        vxs_error err = VXS_ERROR_INIT;
        example e = make(number);
        way descent = { VXS_SCREEN_DPP, VXS_INNER_DESCENT }, none = { VXS_SCREEN_NONE, 0 };
        e.problem.loss.u = NULL;
        e.problem.quadratic.weight = 0;
        e.problem.nonnegative = false;
        vxs_solver *exact = begin(&e, none, 1e-12);
        vxs_solver *rough = begin(&e, descent, tolerances[number / 4 % 3]);
        const vxs_lasso *l = (vxs_lasso *)rough, *best = (vxs_lasso *)exact;
        double most = vxs_solver_lambda_max(exact);
        static const double pairs[][2] = {
            { 1, 0.7 }, { 0.6, 0.59 }, { 0.4, 0.399 }, { 0.2, 0.1999 }, { 0.1, 0.02 }
        };
        for (size_t k = 0; k < 5 && most > 1e-4; k++) {
            vxs_solution a, b;
            double lambda = pairs[k][1] * most;
            WORKS(vxs_solver_fit(rough, pairs[k][0] * most, &a, &err), err);
            vxs_solution_release(&a);
            WORKS(vxs_solver_fit(rough, lambda, &a, &err), err);
            WORKS(vxs_solver_fit(exact, lambda, &b, &err), err);
            cr_assert_eq(a.certificate.missed, 0, "problem %d, pair %zu", (int)number, k);
            for (size_t j = 0; j < e.p; j++) {
                double product = vxs_lasso_correlation(best, j) / lambda;
                cr_assert(l->in_set[j] || product < 1 - 1e-7,
                          "problem %d, pair %zu: column %zu reaches %.12g", (int)number, k, j,
                          product);
            }
            kept += l->set.count;
            outside += e.p - l->set.count;
            vxs_solution_release(&a);
            vxs_solution_release(&b);
        }
        vxs_solver_free(exact);
        vxs_solver_free(rough);
        release_problem(&e);
    }
    cr_assert(10 * outside > kept, "%zu outside, %zu kept", outside, kept);
}

/* ---- Balls ----------------------------------------------------------------------------------- */

/* The distance of theta* from the middle of theta and its multiple, whichever loss. */
Test(squared_hinge, balls_contain_the_optimum)
{
    size_t count = 0, smaller = 0;
    for (uint64_t number = 0; number < 600; number++) {
        vxs_error err = VXS_ERROR_INIT;
        example e = make(number);
        way descent = { VXS_SCREEN_NONE, VXS_INNER_DESCENT }, none = { VXS_SCREEN_NONE, 0 };
        if (number % 4 == 2)
            e.problem.loss.kind = &vxs_logistic_loss;
        if (number % 13 == 5)
            smooth(&e);
        vxs_solver *exact = begin(&e, none, 1e-12), *rough = begin(&e, descent, 0.1);
        double most = vxs_solver_lambda_max(exact),
               lambda = most * (0.05 + (double)(number % 9) / 10);
        vxs_lasso *a = (vxs_lasso *)exact, *b = (vxs_lasso *)rough;
        vxs_solution s;
        vxs_state state;
        if (most > 1e-4) {
            WORKS(vxs_solver_fit(exact, lambda, &s, &err), err);
            vxs_solution_release(&s);
            WORKS(vxs_solver_fit(rough, lambda, &s, &err), err);
            vxs_solution_release(&s);
            vxs_working_set_dual(&b->set, b->theta, lambda, largest_correlation(b, lambda), &state);
            double distance = 0, doubt = a->last_radius + sqrt(1e-14 * a->empty) / lambda;
            for (size_t i = 0; i < e.n; i++)
                distance += pow(a->theta[i] - state.middle * b->theta[i], 2);
            distance = sqrt(distance);
            cr_assert(distance <= state.middle_radius * (1 + 1e-9) + 2 * doubt,
                      "problem %d: %g from the middle, radius %g", (int)number, distance,
                      state.middle_radius);
            cr_assert(state.middle_radius <= 0.70711 * state.radius || !b->set.is_gradient);
            smaller += state.middle_radius < 0.8 * state.radius;
            count++;
        }
        vxs_solver_free(exact);
        vxs_solver_free(rough);
        release_problem(&e);
    }
    cr_assert(2 * smaller > count, "%zu of %zu balls are smaller", smaller, count);
}

/* After the first, a lambda takes one scan of all columns, and those that the dome keeps. */
Test(squared_hinge, the_dome_makes_no_scan)
{
    for (uint64_t number = 0; number < 40; number++) {
        vxs_error err = VXS_ERROR_INIT;
        example e = make(number);
        way vi = { VXS_SCREEN_VI, VXS_INNER_AUTO };
        vxs_solver *solver = begin(&e, vi, 1e-9);
        double most = vxs_solver_lambda_max(solver);
        for (size_t k = 0; k < 12 && most > 1e-4; k++) {
            vxs_solution s;
            WORKS(vxs_solver_fit(solver, most * pow(0.8, (double)k), &s, &err), err);
            double kept = (double)(e.p - s.certificate.screening.before);
            double passes = s.certificate.passes * (double)e.p, all = (double)e.p;
            cr_assert(k == 0 || (passes >= all && passes <= all + kept),
                      "problem %d: %g columns read, of %g and %g", (int)number, passes, all, kept);
            vxs_solution_release(&s);
        }
        vxs_solver_free(solver);
        release_problem(&e);
    }
}

Test(squared_hinge, the_dome_is_refused_for_other_losses)
{
    vxs_error err = VXS_ERROR_INIT;
    example e = make(1);
    vxs_solution s;
    way vi = { VXS_SCREEN_VI, VXS_INNER_AUTO };
    e.problem.loss.kind = &vxs_logistic_loss;
    vxs_solver *solver = begin(&e, vi, 1e-6);
    REFUSES(vxs_solver_fit(solver, vxs_solver_lambda_max(solver) / 2, &s, &err), err, VXS_MISUSE,
            "--screen vi is for the squared loss and the squared hinge, not for --loss logistic");
    vxs_solver_free(solver);
    release_problem(&e);
}

static example shared;

static vxs_status begin_and_fit(vxs_error *err)
{
    vxs_method_settings settings = { .saif.screen = VXS_SCREEN_VI, .tol = 1e-8 };
    vxs_solver *solver;
    vxs_solution s;
    vxs_status status = vxs_solver_new(NULL, &vxs_methods[VXS_METHOD_LASSO], &shared.problem,
                                       &settings, &solver, err);
    if (status)
        return status;
    status = vxs_solver_fit(solver, 0.5 * vxs_solver_lambda_max(solver), &s, err);
    if (!status)
        vxs_solution_release(&s);
    vxs_solver_free(solver);
    return status;
}

Test(squared_hinge, runs_out_of_memory_cleanly)
{
    vxs_error err = VXS_ERROR_INIT;
    shared = make(1);
    WORKS(vxs_design_measure(shared.design, &err), err);
    cr_assert(fail_each_request(begin_and_fit) > 30);
    release_problem(&shared);
}
