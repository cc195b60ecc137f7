/* Random problems of feature generation: certificates that the checker confirms, what is the same
 * problem in other words, and one coordinate of the smooth maximum. */
#include "solver/cutting_plane/smoothing.h"
#include "tests/core/check.h"
#include "tests/core/faults.h"

typedef struct {
    size_t n, p;
    float *x;
    double *y, *u, *covariates;
    vxs_design *design;
    vxs_blocks *units;
    vxs_budget budget;
    vxs_problem problem;
} example;

static double normal(const vxs_random *random, uint64_t *at)
{
    return vxs_random_normal(random, (*at)++);
}

static void draw_classes(example *e, const vxs_random *random, uint64_t *at)
{
    for (size_t i = 0; i < e->n; i++) {
        double z = 0.5 * normal(random, at) + 0.3;
        for (size_t j = 0; j < 6 && j < e->p; j++)
            z += (j % 2 ? -1 : 1) * (double)e->x[j * e->n + i];
        e->y[i] = i < 2 ? 2 * (double)i - 1 : z > 0 ? 1 : -1;
        e->u[i] = i % 7 == 6 ? 0 : 0.5 + vxs_random_uniform(random, (*at)++);
        e->covariates[i] = 1;
        e->covariates[e->n + i] = normal(random, at);
    }
}

/* Correlated neighbors, duplicated columns, and a column of zeros. */
static example make(uint64_t number, size_t n, size_t p)
{
    vxs_random random = { .seed = 29, .stream = number };
    vxs_error err = VXS_ERROR_INIT;
    uint64_t at = 0;
    example e = { .n = n, .p = p };
    e.x = malloc(n * p * sizeof(*e.x));
    e.y = malloc(n * sizeof(*e.y));
    e.u = malloc(n * sizeof(*e.u));
    e.covariates = malloc(2 * n * sizeof(*e.covariates));
    for (size_t j = 0; j < p; j++) {
        for (size_t i = 0; i < n; i++) {
            double near = j > 0 ? (double)e.x[(j - 1) * n + i] : 0;
            e.x[j * n + i] = (float)(0.6 * near + normal(&random, &at));
        }
        if (j % 13 == 7)
            memcpy(e.x + j * n, e.x + (j - 5) * n, n * sizeof(*e.x));
        if (j % 17 == 9)
            memset(e.x + j * n, 0, n * sizeof(*e.x));
    }
    draw_classes(&e, &random, &at);
    WORKS(vxs_dense_new(e.x, n, p, 1, &e.design, &err), err);
    WORKS(vxs_blocks_new(NULL, e.design, &(vxs_feature_map){ .kind = VXS_FEATURE_MAP_NONE },
                         &e.units, &err),
          err);
    static const size_t budgets[] = { 1, 2, 5, 12, 400 };
    static const double costs[] = { 0.01, 0.3, 3, 30 };
    e.problem =
        (vxs_problem){ .design = e.design,
                       .loss.kind = number % 2 ? &vxs_logistic_loss : &vxs_squared_hinge_loss,
                       .loss.n = n,
                       .loss.y = e.y,
                       .loss.u = number % 3 == 0 ? e.u : NULL,
                       .covariates = e.covariates,
                       .covariate_count = number / 2 % 3 };
    e.budget = (vxs_budget){ .penalty = { &vxs_budget_penalty },
                             .blocks = e.units,
                             .budget = budgets[number % 5],
                             .cost = costs[number / 3 % 4] };
    return e;
}

/* A score instead of classes, far from 0, which the intercept takes; without one around it. */
static void take_scores(example *e, uint64_t number)
{
    vxs_random random = { .seed = 31, .stream = number };
    for (size_t i = 0; i < e->n; i++) {
        e->y[i] = 0.5 * vxs_random_normal(&random, i) + (e->problem.covariate_count > 0 ? 80 : 0);
        for (size_t j = 0; j < 6 && j < e->p; j++)
            e->y[i] += (j % 2 ? -1 : 1) * (double)e->x[j * e->n + i];
    }
    e->problem.loss.kind = &vxs_squared_loss;
}

static void release(example *e)
{
    vxs_blocks_free(e->units);
    vxs_design_free(e->design);
    free(e->x);
    free(e->y);
    free(e->u);
    free(e->covariates);
}

/* The budget is a member of the example. */
static vxs_problem problem_of(const example *e)
{
    vxs_problem problem = e->problem;
    problem.penalty = &e->budget.penalty;
    return problem;
}

static vxs_solution solve_by(const example *e, const char *method, int way, double asked,
                             double tol, vxs_path_kind by)
{
    const vxs_problem problem = problem_of(e);
    vxs_error err = VXS_ERROR_INIT;
    vxs_solver *solver = NULL;
    vxs_solution solution;
    vxs_method_settings settings = { .tol = tol,
                                     .blocks.inner_tol = tol / 10,
                                     .blocks.solver = way };
    const vxs_method *m = vxs_methods;
    while (strcmp(m->name, method) != 0)
        m++;
    WORKS(vxs_solver_new(NULL, m, &problem, &settings, &solver, &err), err);
    WORKS(vxs_solver_fit_at(solver, (vxs_path_point){ by, asked }, &solution, &err), err);
    vxs_solver_free(solver);
    return solution;
}

static vxs_solution solve(const example *e, const char *method, double asked, double tol,
                          vxs_path_kind by)
{
    return solve_by(e, method, 0, asked, tol, by);
}

static vxs_certificate check(const example *e, const vxs_solution *solution)
{
    const vxs_problem problem = problem_of(e);
    vxs_error err = VXS_ERROR_INIT;
    vxs_certificate c;
    WORKS(vxs_check_solution(&problem, solution, &c, &err), err);
    return c;
}

/* Solver and checker find the penalty, a minimum over d, by code of their own. */
static void confirm(const example *e, const vxs_solution *solution, uint64_t number)
{
    vxs_certificate mine = check(e, solution);
    const vxs_certificate *theirs = &solution->certificate;
    double size = fabs(theirs->primal) + fabs(theirs->dual) + 1;
    cr_assert(mine.converged, "%lu: gap %g", (unsigned long)number, mine.gap);
    cr_assert(fabs(mine.primal - theirs->primal) <= 1e-9 * size, "%lu: %.12g and %.12g",
              (unsigned long)number, mine.primal, theirs->primal);
    cr_assert(fabs(mine.dual - theirs->dual) <= 1e-7 * size, "%lu: %.12g and %.12g",
              (unsigned long)number, mine.dual, theirs->dual);
    cr_assert(mine.gap >= -1e-10 && theirs->gap >= -1e-10, "%lu: %g, %g", (unsigned long)number,
              mine.gap, theirs->gap);
}

Test(cutting_plane, certificates_hold)
{
    for (uint64_t number = 0; number < 450; number++) {
        example e = make(number, 12 + number % 30, 10 + number * 7 % 90);
        if (number >= 300)
            take_scores(&e, number);
        vxs_solution solution = solve(&e, "fgm", 1e6, 1e-6, VXS_BY_ITERATIONS);
        cr_assert(solution.certificate.converged && solution.certificate.gap <= 1e-6,
                  "%lu: gap %g after %lu rounds, %zu units, B %zu, C %g, loss %d, free %zu",
                  (unsigned long)number, solution.certificate.gap,
                  (unsigned long)solution.selected->iterations, solution.selected->count,
                  e.budget.budget, e.budget.cost, e.problem.loss.kind->name,
                  e.problem.covariate_count);
        confirm(&e, &solution, number);
        vxs_solution_release(&solution);
        release(&e);
    }
}

/* After any number of iterations the gap bounds the distance to the optimum. The value of the
 * restricted problems falls; that of the problem at their weights, which is reported, need not. */
Test(cutting_plane, every_iteration_is_certified)
{
    for (uint64_t number = 0; number < 150; number++) {
        example e = make(number, 20 + number % 30, 40 + number * 7 % 90);
        if (number >= 100)
            take_scores(&e, number);
        vxs_solution whole = solve(&e, "fgm", 1e6, 1e-8, VXS_BY_ITERATIONS);
        double empty = INFINITY; /* value of the empty model, that of 0 iterations */
        for (double rounds = 0; rounds < 5; rounds++) {
            vxs_solution part = solve(&e, "fgm", rounds, 1e-7, VXS_BY_ITERATIONS);
            const vxs_certificate *c = &part.certificate;
            confirm(&e, &part, number);
            cr_assert(c->converged && part.selected->iterations <= (uint64_t)rounds);
            cr_assert(part.selected->count <= e.budget.budget * (size_t)rounds);
            cr_assert(c->primal <= empty * (1 + 1e-9) + 1e-9);
            cr_assert(c->dual <= whole.certificate.primal * (1 + 1e-9) + 1e-9);
            cr_assert(c->primal >= whole.certificate.dual * (1 - 1e-9) - 1e-9);
            empty = rounds == 0 ? c->primal : empty;
            vxs_solution_release(&part);
        }
        vxs_solution_release(&whole);
        release(&e);
    }
}

Test(cutting_plane, as_many_as_are_to_be_selected)
{
    for (uint64_t number = 0; number < 100; number++) {
        example e = make(number, 30, 60);
        for (double most = 1; most < 20; most += 4) {
            vxs_solution s = solve(&e, "fgm", most, 1e-5, VXS_BY_NUMBER);
            cr_assert(s.selected->count == (size_t)most ||
                          (s.selected->count < most && s.certificate.gap <= 1e-5),
                      "%lu: %zu of %g, gap %g", (unsigned long)number, s.selected->count, most,
                      s.certificate.gap);
            confirm(&e, &s, number);
            vxs_solution_release(&s);
        }
        release(&e);
    }
}

/* mslr solves the logistic problem without intercept, by gradients or from its dual. */
Test(cutting_plane, both_methods_agree)
{
    for (uint64_t number = 1; number < 80; number += 2) {
        example e = make(number, 15 + number % 20, 20 + number % 40);
        bool descent = number < 40;
        double tol = descent ? 1e-2 : 1e-7;
        e.budget.only_refit = true;
        if (descent) /* slow for large C */
            e.budget.cost = number % 3 ? 0.2 : 0.03;
        vxs_solution one = solve(&e, "fgm", 1e6, 1e-7, VXS_BY_ITERATIONS);
        vxs_solution two = solve_by(&e, "mslr", descent ? VXS_SOLVER_DESCENT : VXS_SOLVER_GRADIENTS,
                                    1e6, tol, VXS_BY_ITERATIONS);
        confirm(&e, &two, number);
        cr_assert(two.certificate.gap <= tol, "%lu: gap %g after %lu rounds, restricted %g",
                  (unsigned long)number, two.certificate.gap,
                  (unsigned long)two.selected->iterations, two.selected->restricted_gap);
        double size = one.certificate.primal;
        cr_assert(two.certificate.primal >= one.certificate.dual - 1e-9 * size);
        cr_assert(one.certificate.primal >= two.certificate.dual - 1e-9 * size);
        vxs_solution_release(&one);
        vxs_solution_release(&two);
        release(&e);
    }
}

/* B = 1: the penalty is (sum |w|)^2 / 2, the solution the lasso's with lambda = sum |w| / C. */
Test(cutting_plane, budget_one_is_the_lasso)
{
    for (uint64_t number = 1; number < 80; number += 4) {
        vxs_error err = VXS_ERROR_INIT;
        example e = make(number, 40, 50);
        vxs_solver *solver = NULL;
        vxs_solution lasso;
        if (number > 40)
            take_scores(&e, number);
        e.budget.budget = 1;
        e.budget.cost = 0.2 + (double)(number % 5);
        vxs_solution s = solve(&e, "fgm", 1e6, 1e-11, VXS_BY_ITERATIONS);
        double sum = 0, loss = s.certificate.primal;
        for (size_t k = 0; k < s.count; k++)
            sum += fabs(s.weight[k]);
        loss = (loss - sum * sum / 2) / e.budget.cost;
        vxs_problem problem = e.problem;
        vxs_method_settings settings = { .tol = 1e-11 };
        problem.penalty = &vxs_l1;
        WORKS(vxs_solver_new(NULL, &vxs_methods[VXS_METHOD_LASSO], &problem, &settings, &solver,
                             &err),
              err);
        double lambda = sum / e.budget.cost;
        WORKS(vxs_solver_fit(solver, lambda, &lasso, &err), err);
        cr_assert(fabs(lasso.certificate.primal - (loss + lambda * sum)) <=
                      1e-8 * lasso.certificate.primal,
                  "%lu: %.12g and %.12g", (unsigned long)number, lasso.certificate.primal,
                  loss + lambda * sum);
        vxs_solver_free(solver);
        vxs_solution_release(&lasso);
        vxs_solution_release(&s);
        release(&e);
    }
}

/* All features at once: the penalty is |w|^2 / 2, and C X'u(y - z) = w. */
Test(cutting_plane, all_features_at_once_are_ridge_regression)
{
    for (uint64_t number = 0; number < 40; number++) {
        example e = make(number, 30, 20);
        take_scores(&e, number);
        e.budget.budget = 20;
        vxs_solution s = solve(&e, "fgm", 1e6, 1e-12, VXS_BY_ITERATIONS);
        double z[30], weight[20] = { 0 };
        for (size_t i = 0; i < 30; i++) {
            z[i] = 0;
            for (size_t k = 0; k < e.problem.covariate_count; k++)
                z[i] += s.covariate_coefficients[k] * e.covariates[k * 30 + i];
            for (size_t k = 0; k < s.count; k++)
                z[i] += s.weight[k] * (double)e.x[s.index[k] * 30 + i];
        }
        for (size_t k = 0; k < s.count; k++)
            weight[s.index[k]] = s.weight[k];
        for (size_t j = 0; j < 20; j++) {
            double slope = 0;
            for (size_t i = 0; i < 30; i++)
                slope += e.budget.cost * vxs_loss_weight(&e.problem.loss, i) * (e.y[i] - z[i]) *
                         (double)e.x[j * 30 + i];
            cr_assert(fabs(slope - weight[j]) <= 1e-4 * (1 + e.budget.cost),
                      "%lu: feature %zu: %g and %g", (unsigned long)number, j, slope, weight[j]);
        }
        vxs_solution_release(&s);
        release(&e);
    }
}

/* Covariates are orthogonal to the gradient, also where margins are just met and full Newton steps
 * may cycle. */
Test(cutting_plane, covariates_are_orthogonal_to_the_gradient)
{
    for (uint64_t number = 0; number < 2000; number++) {
        vxs_error err = VXS_ERROR_INIT;
        vxs_random random = { .seed = 3, .stream = number };
        size_t n = 2 + number % 6;
        example e = make(2 * number, n, 3); /* squared hinge */
        double z[8], shifted[8], slope[8], length = 0, along = 0, steep = 0;
        for (size_t i = 0; i < n; i++)
            z[i] = e.y[i] * (1 - (double)vxs_random_below(&random, i, 4) / 10);
        vxs_covariates_fit shift;
        WORKS(vxs_covariates_fit_init(&e.problem, 1, &shift, &err), err);
        vxs_covariates_fit_solve(&shift, z, shifted);
        vxs_loss_gradient(&e.problem.loss, shifted, slope);
        for (size_t i = 0; i < n; i++) {
            length += fabs(slope[i]);
            along += slope[i];
            steep = fmax(steep, fabs(slope[i]));
        }
        cr_assert(fabs(along) <= 1e-12 * length || steep < 1e-14, "%lu: %g of %g",
                  (unsigned long)number, along, length);
        vxs_covariates_fit_release(&shift);
        release(&e);
    }
}

/* The example of the paper's figure 2, where Newton's method leaves the interval at q = 100. */
Test(cutting_plane, newton_agrees_with_bisection)
{
    const double half[] = { 2406.148 / 2, 2403.345 / 2 }, a[] = { 0.015, 0.040 },
                 b[] = { -2.433, 1.380 };
    for (double q = 1e-2; q < 1e7; q *= 10) {
        vxs_coordinate_problem problem = {
            .count = 2, .half = half, .a = a, .b = b, .q = q, .tol = 1e-13, .c1 = 0.09, .c2 = 0.99
        };
        bool upper;
        double distance = vxs_safeguarded_newton(&problem, &upper);
        double z = upper ? problem.c2 - distance : distance - problem.c1;
        double low = -problem.c1, high = problem.c2;
        for (int k = 0; k < 200; k++) { /* bisection alone */
            double middle = (low + high) / 2, top = -INFINITY, sum = 0, mean = 0;
            for (int t = 0; t < 2; t++)
                top = fmax(top, half[t] + (a[t] * middle / 2 + b[t]) * middle);
            for (int t = 0; t < 2; t++) {
                double e = exp(q * (half[t] + (a[t] * middle / 2 + b[t]) * middle - top));
                sum += e;
                mean += e * (a[t] * middle + b[t]);
            }
            double slope = log((problem.c1 + middle) / (problem.c2 - middle)) + mean / sum;
            *(slope < 0 ? &low : &high) = middle;
        }
        cr_assert(fabs(z - low) <= 1e-9, "q %g: %.12g and %.12g", q, z, low);
    }
}

/* Refitted weights minimize their own problem, as the checker confirms. */
Test(cutting_plane, refit_is_optimal)
{
    for (uint64_t number = 0; number < 90; number++) {
        example e = make(number, 30, 40);
        if (number >= 60 && number % 2 == 0)
            take_scores(&e, number);
        e.budget.refit_cost = 0.1 + (double)(number % 7);
        e.budget.only_refit = number % 2;
        vxs_solution s = solve(&e, number % 2 ? "mslr" : "fgm", 2, 1e-5, VXS_BY_ITERATIONS);
        confirm(&e, &s, number);
        if (s.selected->count > 0) {
            s.selected->refit_weight[0] += 0.01 + fabs(s.selected->refit_weight[0]);
            cr_assert(!check(&e, &s).converged);
        }
        vxs_solution_release(&s);
        release(&e);
    }
}

/* Nearly collinear covariates have large coefficients, whose rounding moves predictions: beyond
 * what a certificate allows, the later covariate adds nothing. */
Test(cutting_plane, covariates_that_are_almost_the_same)
{
    for (uint64_t number = 0; number < 60; number++) {
        example e = make(number, 40, 40);
        vxs_random random = { .seed = 41, .stream = number };
        double *free_columns = malloc(3 * e.n * sizeof(*free_columns));
        double apart = pow(10, -4 - 0.125 * (double)number); /* 1e-4 to 4e-12 */
        for (size_t i = 0; i < e.n; i++) {
            double age = 20 + floor(60 * vxs_random_uniform(&random, 2 * i));
            free_columns[i] = 1;
            free_columns[e.n + i] = age;
            free_columns[2 * e.n + i] = age * (1 + apart * vxs_random_normal(&random, 2 * i + 1));
        }
        e.problem.covariates = free_columns;
        e.problem.covariate_count = 3;
        e.budget.refit_cost = 1;
        e.budget.only_refit = number % 2;
        vxs_solution s = solve(&e, number % 2 ? "mslr" : "fgm", 2, 1e-5, VXS_BY_ITERATIONS);
        confirm(&e, &s, number);
        vxs_solution_release(&s);
        release(&e);
        free(free_columns);
    }
}

/* Wrong solutions are refused. */
Test(cutting_plane, wrong_answers)
{
    example e = make(4, 40, 50);
    vxs_solution s = solve(&e, "fgm", 1e6, 1e-7, VXS_BY_ITERATIONS);
    s.selected->weight[0] *= 1.2;
    cr_assert(!check(&e, &s).converged);
    vxs_solution_release(&s);
    release(&e);
}

/* ---- Other feature blocks -------------------------------------------------------------------- */

static void solve_units(example *e, const vxs_feature_map *map, const vxs_groups *groups,
                        bool by_size, uint64_t number)
{
    vxs_error err = VXS_ERROR_INIT;
    vxs_blocks_free(e->units);
    e->units = NULL;
    if (groups)
        WORKS(vxs_blocks_of_groups(NULL, e->design, groups, by_size / 2.0, &e->units, &err), err);
    else
        WORKS(vxs_blocks_new(NULL, e->design, map, &e->units, &err), err);
    e->budget.blocks = e->units;
    e->budget.map = *map;
    for (double rounds = 1; rounds < 1e4; rounds *= 1e3) {
        vxs_solution s = solve(e, "fgm", rounds, 1e-5, VXS_BY_ITERATIONS);
        cr_assert(rounds == 1 || s.certificate.gap <= 1e-5, "%lu: gap %g", (unsigned long)number,
                  s.certificate.gap);
        confirm(e, &s, number);
        vxs_solution_release(&s);
    }
}

Test(cutting_plane, maps_and_groups)
{
    for (uint64_t number = 0; number < 40; number++) {
        vxs_error err = VXS_ERROR_INIT;
        vxs_random random = { .seed = 5, .stream = number };
        example e = make(number, 25, 12);
        vxs_groups groups;
        e.budget.cost = 0.05 + (double)(number % 4) / 3;
        WORKS(vxs_groups_new(e.p, 7, 28, &groups, &err), err);
        for (size_t g = 0; g < 7; g++) { /* four each, overlapping */
            groups.begin[g] = 4 * g;
            groups.end[g] = 4 * g + 4;
            size_t first = vxs_random_below(&random, g, e.p);
            for (size_t k = 0; k < 4; k++)
                groups.member[4 * g + k] = (first + k * (1 + g % 2)) % e.p;
        }
        solve_units(&e, &(vxs_feature_map){ .kind = VXS_FEATURE_MAP_NONE }, &groups, number % 2,
                    number);
        solve_units(&e,
                    &(vxs_feature_map){ .kind = VXS_FEATURE_MAP_POLY2, .gamma = 0.5, .coef0 = 1 },
                    NULL, false, number);
        solve_units(&e, &(vxs_feature_map){ .kind = VXS_FEATURE_MAP_GAUSS, .bandwidth = 1 }, NULL,
                    false, number);
        solve_units(&e, &(vxs_feature_map){ .kind = VXS_FEATURE_MAP_HIK }, NULL, false, number);
        vxs_groups_release(&groups);
        release(&e);
    }
}

/* These are replaced by their LQ factors of n columns; the checker uses all columns. */
Test(cutting_plane, groups_wider_than_samples)
{
    for (uint64_t number = 0; number < 60; number++) {
        vxs_error err = VXS_ERROR_INIT;
        vxs_random random = { .seed = 7, .stream = number };
        size_t n = 5 + number % 6, wide = 2 * n + number % 9, count = 9;
        example e = make(number, n, 50);
        vxs_groups groups;
        e.budget.cost = 0.05 + (double)(number % 4) / 3;
        e.budget.budget = 1 + number % 3;
        e.budget.refit_cost = number % 2 ? 0.5 : 0;
        WORKS(vxs_groups_new(e.p, count, count * wide, &groups, &err), err);
        for (size_t g = 0; g < count; g++) { /* some narrow ones among them */
            groups.begin[g] = wide * g;
            groups.end[g] = wide * g + (g % 3 ? wide : 1 + g);
            size_t first = vxs_random_below(&random, g, e.p);
            for (size_t k = 0; k < wide; k++)
                groups.member[wide * g + k] = (first + k) % e.p;
        }
        solve_units(&e, &(vxs_feature_map){ .kind = VXS_FEATURE_MAP_NONE }, &groups, number % 2,
                    number);
        vxs_groups_release(&groups);
        release(&e);
    }
}

/* ---- Allocation failures --------------------------------------------------------------------- */

static example hard;
static const char *hard_method;

/* Iterations, interior point, refit, and the checker. */
static vxs_status solve_hard(vxs_error *err)
{
    const vxs_problem problem = problem_of(&hard);
    vxs_solver *solver = NULL;
    vxs_solution solution;
    vxs_certificate c;
    vxs_method_settings settings = { .tol = 1e-9, .blocks.inner_tol = 1e-8 };
    const vxs_method *m = vxs_methods;
    while (strcmp(m->name, hard_method) != 0)
        m++;
    vxs_status status = vxs_solver_new(NULL, m, &problem, &settings, &solver, err);
    if (status)
        return status;
    status = vxs_solver_fit_at(solver, (vxs_path_point){ VXS_BY_ITERATIONS, 4 }, &solution, err);
    if (!status)
        status = vxs_check_solution(&problem, &solution, &c, err);
    vxs_solution_release(&solution);
    vxs_solver_free(solver);
    return status;
}

/* Where all margins can be met and C is large, most samples are at the kink of the hinge. */
Test(cutting_plane, margins_that_are_met)
{
    for (uint64_t number = 0; number < 40; number += 4) {
        example e = make(number + 2, 32 + number, 110 + 5 * number);
        e.budget.cost = 1e4;
        e.budget.budget = number % 8 < 4 ? e.p / 3 : e.p;
        vxs_solution solution = solve(&e, "fgm", 1e6, 1e-6, VXS_BY_ITERATIONS);
        const vxs_certificate *c = &solution.certificate;
        cr_assert(c->converged, "%lu: gap %g", (unsigned long)number, c->gap);
        cr_assert(c->iterations < 4000, "%lu: %lu steps", (unsigned long)number,
                  (unsigned long)c->iterations);
        confirm(&e, &solution, number);
        vxs_solution_release(&solution);
        release(&e);
    }
}

Test(cutting_plane, memory_that_fails)
{
    for (int k = 0; k < 3; k++) {
        vxs_error err = VXS_ERROR_INIT;
        vxs_groups whole = { .count = 0 };
        hard = make(24 + (uint64_t)k, k < 2 ? 15 : 6, 30);
        hard.budget.refit_cost = 1;
        hard.budget.only_refit = k == 1;
        hard.budget.cost = 0.1;
        hard_method = k == 1 ? "mslr" : "fgm";
        if (k == 2) { /* one group of all features, wider than n */
            WORKS(vxs_groups_new(hard.p, 1, hard.p, &whole, &err), err);
            whole.end[0] = hard.p;
            for (size_t j = 0; j < hard.p; j++)
                whole.member[j] = j;
            vxs_blocks_free(hard.units);
            WORKS(vxs_blocks_of_groups(NULL, hard.design, &whole, 0, &hard.units, &err), err);
            hard.budget.blocks = hard.units;
        }
        cr_assert(fail_each_request(solve_hard) > 40);
        release(&hard);
        vxs_groups_release(&whole);
    }
}

/* A smaller model after a larger one: the same as a cold start. */
Test(cutting_plane, fewer_iterations_after_more)
{
    vxs_error err = VXS_ERROR_INIT;
    example e = make(10, 40, 60);
    const vxs_problem problem = problem_of(&e);
    vxs_solver *solver = NULL;
    vxs_method_settings settings = { .tol = 1e-9, .blocks.inner_tol = 1e-6 };
    vxs_solution more, fewer, alone = solve(&e, "fgm", 2, 1e-5, VXS_BY_ITERATIONS);
    WORKS(vxs_solver_new(NULL, &vxs_methods[VXS_METHOD_FGM], &problem, &settings, &solver, &err),
          err);
    WORKS(vxs_solver_fit_at(solver, (vxs_path_point){ VXS_BY_ITERATIONS, 5 }, &more, &err), err);
    WORKS(vxs_solver_fit_at(solver, (vxs_path_point){ VXS_BY_ITERATIONS, 2 }, &fewer, &err), err);
    cr_assert(more.selected->iterations > 2 && fewer.selected->iterations == 2);
    cr_assert(fewer.count == alone.count && fewer.certificate.primal == alone.certificate.primal);
    vxs_solver_free(solver);
    vxs_solution_release(&more);
    vxs_solution_release(&fewer);
    vxs_solution_release(&alone);
    release(&e);
}
