/* Several kernels at once: random problems with copies, kernels of 0, weights, singular kernels and
 * extreme costs against the checker; a grid over the weights of two kernels with a machine at each;
 * identities. */
#include "tests/core/check.h"
#include "tests/core/faults.h"
#include "voxsift/internal/penalty.h"
#include "voxsift/internal/solver.h"
#include "voxsift/verify.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { MOST = 60, KERNELS = 24, EACH = MOST * MOST };

typedef struct {
    size_t n, count;
    double k[KERNELS * EACH], y[MOST], u[MOST], ones[MOST];
    vxs_design *design;
    vxs_kernel_sum norm;
    vxs_problem problem;
    vxs_method_settings settings;
} example;

/* X X' of a few features that may know y, without their means, and a mean of 1 on its diagonal. */
static void draw_kernel(example *e, const vxs_random *random, size_t g, bool tells, uint64_t *at)
{
    size_t d = 1 + vxs_random_below(random, (*at)++, 12), n = e->n;
    double *k = e->k + g * n * n, x[MOST], trace = 0;
    memset(k, 0, n * n * sizeof(*k));
    for (size_t j = 0; j < d; j++) {
        double mean = 0;
        for (size_t i = 0; i < n; i++) {
            x[i] = vxs_random_normal(random, (*at)++) + (tells ? 0.4 * e->y[i] : 0);
            mean += x[i] / (double)n;
        }
        for (size_t i = 0; i < n; i++)
            for (size_t l = 0; l < n; l++)
                k[i * n + l] += (x[i] - mean) * (x[l] - mean);
    }
    for (size_t i = 0; i < n; i++)
        trace += k[i * n + i] / (double)n;
    for (size_t i = 0; i < n * n; i++)
        k[i] /= trace > 0 ? trace : 1;
}

static void finish(example *e, bool scores, bool intercept)
{
    vxs_error err = VXS_ERROR_INIT;
    const vxs_method *method = &vxs_methods[VXS_METHOD_MKL];
    WORKS(vxs_grams_new(e->k, e->n, e->count, 1, &e->design, &err), err);
    e->norm = vxs_kernel_sum_of(e->design);
    memset(&e->settings, 0, sizeof(e->settings));
    vxs_params_defaults(method->params, &e->settings);
    e->problem = (vxs_problem){ .design = e->design,
                                .loss = { .kind = scores ? &vxs_epsilon_loss : &vxs_margin_loss,
                                          .n = e->n,
                                          .y = e->y,
                                          .threshold = scores ? 0.1 : 0 },
                                .penalty = &e->norm.penalty,
                                .covariates = e->ones,
                                .covariate_count = intercept };
}

/* Every fifth kernel copies the one before it, some are 0. */
static void draw_example(example *e, uint64_t number, size_t n, size_t count)
{
    vxs_random random = { .seed = 20, .stream = number };
    uint64_t at = 0;
    bool scores = number % 2;
    memset(e, 0, sizeof(*e));
    e->n = n > 0 ? n : 3 + vxs_random_below(&random, at++, MOST - 3);
    e->count = count > 0 ? count : 1 + vxs_random_below(&random, at++, KERNELS - 1);
    for (size_t i = 0; i < e->n; i++) {
        double value = vxs_random_normal(&random, at++);
        e->y[i] = scores ? value : i == 0 ? 1 : i == 1 ? -1 : value > -0.3 ? 1 : -1;
        e->u[i] = exp(vxs_random_normal(&random, at++)) * (i % 5 != 4);
        e->ones[i] = 1;
    }
    for (size_t g = 0; g < e->count; g++) {
        draw_kernel(e, &random, g, g % 3 == 0, &at);
        if (count == 0 && g % 5 == 4)
            memcpy(e->k + g * e->n * e->n, e->k + (g - 1) * e->n * e->n,
                   e->n * e->n * sizeof(*e->k));
        if (count == 0 && g % 11 == 10)
            memset(e->k + g * e->n * e->n, 0, e->n * e->n * sizeof(*e->k));
    }
    finish(e, scores, number % 8 < 6);
    if (number % 4 == 3)
        e->problem.loss.u = e->u;
}

static vxs_solver *begin(const example *e)
{
    vxs_error err = VXS_ERROR_INIT;
    vxs_solver *solver = NULL;
    WORKS(vxs_solver_new(NULL, &vxs_methods[VXS_METHOD_MKL], &e->problem, &e->settings, &solver,
                         &err),
          err);
    return solver;
}

static vxs_solution solve(vxs_solver *solver, double cost)
{
    vxs_error err = VXS_ERROR_INIT;
    vxs_solution solution = { .count = 0 };
    WORKS(vxs_solver_fit_at(solver, (vxs_path_point){ VXS_BY_COST, cost }, &solution, &err), err);
    return solution;
}

static vxs_solution solve_once(const example *e, double cost)
{
    vxs_solver *solver = begin(e);
    vxs_solution solution = solve(solver, cost);
    vxs_solver_free(solver);
    return solution;
}

/* C |w|^2 / 2 + sum of losses, times C. */
static double value_of(const vxs_solution *s)
{
    return s->certificate.primal / s->certificate.lambda;
}

/* The weights d of kernels, from w_g = d_g beta. */
static void find_kernel_weights(const example *e, const vxs_solution *s, double *d)
{
    double beta[MOST] = { 0 }, square = 0;
    memset(d, 0, e->count * sizeof(*d));
    for (size_t k = 0; k < s->count; k++)
        beta[s->index[k] % e->n] += s->weight[k];
    for (size_t i = 0; i < e->n; i++)
        square += beta[i] * beta[i];
    for (size_t k = 0; k < s->count; k++)
        d[s->index[k] / e->n] += s->weight[k] * beta[s->index[k] % e->n] / square;
}

/* The checker confirms what the solver says. */
static void confirm(const example *e, const vxs_solution *s, uint64_t number, double cost)
{
    vxs_error err = VXS_ERROR_INIT;
    vxs_certificate found;
    WORKS(vxs_check_solution(&e->problem, s, &found, &err), err);
    cr_expect(s->certificate.converged && found.converged &&
                  vxs_certificate_holds(&s->certificate, &found, false),
              "problem %llu, C = %g: gap %g, found %g", (unsigned long long)number, cost,
              s->certificate.gap, found.gap);
}

Test(mkl, certificates_of_random_problems_hold_up_and_down_a_path)
{
    static example e;
    static const double costs[] = { 0.001, 0.03, 1, 30, 1000, 1e5, 10, 0.01 };
    for (uint64_t number = 0; number < 400; number++) {
        draw_example(&e, number, 0, 0);
        vxs_solver *solver = begin(&e);
        for (size_t k = 0; k < sizeof(costs) / sizeof(costs[0]); k++) {
            vxs_solution s = solve(solver, costs[k]);
            confirm(&e, &s, number, costs[k]);
            vxs_solution_release(&s);
        }
        vxs_solver_free(solver);
        vxs_design_free(e.design);
    }
}

/* The value of a machine on d K_1 + (1 - d) K_2, by the solver of one kernel. */
static double machine_value(const example *e, double d, double cost)
{
    static double k[EACH];
    vxs_error err = VXS_ERROR_INIT;
    vxs_design *design = NULL;
    vxs_problem problem = e->problem;
    vxs_method_settings settings = { .path.lambda = NAN };
    vxs_solver *solver = NULL;
    vxs_solution s;
    size_t each = e->n * e->n;
    for (size_t i = 0; i < each; i++)
        k[i] = d * e->k[i] + (e->count > 1 ? (1 - d) * e->k[each + i] : 0);
    WORKS(vxs_gram_new(k, e->n, 1, &design, &err), err);
    vxs_kernel_norm norm = vxs_kernel_norm_of(design);
    vxs_params_defaults(vxs_methods[VXS_METHOD_SVM].params, &settings);
    settings.tol = 1e-9;
    problem.design = design;
    problem.penalty = &norm.penalty;
    WORKS(vxs_solver_new(NULL, &vxs_methods[VXS_METHOD_SVM], &problem, &settings, &solver, &err),
          err);
    WORKS(vxs_solver_fit_at(solver, (vxs_path_point){ VXS_BY_COST, cost }, &s, &err), err);
    double value = value_of(&s);
    vxs_solution_release(&s);
    vxs_solver_free(solver);
    vxs_design_free(design);
    return value;
}

Test(mkl, no_weights_of_two_kernels_are_better)
{
    static example e;
    static const double costs[] = { 0.1, 2, 100 };
    for (uint64_t number = 0; number < 60; number++) {
        double cost = costs[number % 3], least = INFINITY;
        draw_example(&e, number, 12, 2);
        e.settings.tol = 1e-8;
        vxs_solution s = solve_once(&e, cost);
        for (int step = 0; step <= 200; step++)
            least = fmin(least, machine_value(&e, step / 200.0, cost));
        double d[2], own = value_of(&s), room = 1e-8 * cost * (double)e.n * 10;
        find_kernel_weights(&e, &s, d);
        double at_d = machine_value(&e, d[0], cost), scale = 1 + fabs(least);
        cr_expect(own <= least + room && own >= least - 1e-2 * scale - room &&
                      fabs(at_d - own) <= room + 1e-6 * scale,
                  "problem %llu: %.12g, on the grid %.12g, at %g %.12g", (unsigned long long)number,
                  own, least, d[0], at_d);
        vxs_solution_release(&s);
        vxs_design_free(e.design);
    }
}

Test(mkl, one_kernel_is_a_machine)
{
    static example e;
    for (uint64_t number = 0; number < 60; number++) {
        draw_example(&e, number, 0, 1);
        e.settings.tol = 1e-8;
        vxs_solution s = solve_once(&e, 3);
        double other = machine_value(&e, 1, 3);
        cr_expect(fabs(value_of(&s) - other) <= 1e-6 * (1 + other), "problem %llu: %.12g, %.12g",
                  (unsigned long long)number, value_of(&s), other);
        vxs_solution_release(&s);
        vxs_design_free(e.design);
    }
}

/* Copies and kernels of 0 change nothing; a kernel of 0 gets no weight. */
Test(mkl, copies_and_nothing_change_nothing)
{
    static example e, more;
    for (uint64_t number = 0; number < 40; number++) {
        double d[KERNELS];
        draw_example(&e, number, 20, 5);
        draw_example(&more, number, 20, 5);
        vxs_design_free(more.design);
        size_t each = e.n * e.n;
        memcpy(more.k + 5 * each, more.k, 3 * each * sizeof(*more.k));
        memset(more.k + 8 * each, 0, each * sizeof(*more.k));
        more.count = 9;
        finish(&more, number % 2, number % 8 < 6);
        more.problem.loss.u = e.problem.loss.u;
        e.settings.tol = more.settings.tol = 1e-8;
        vxs_solution a = solve_once(&e, 2), b = solve_once(&more, 2);
        find_kernel_weights(&more, &b, d);
        cr_expect(fabs(value_of(&a) - value_of(&b)) <= 1e-6 * (1 + value_of(&a)) && d[8] == 0,
                  "problem %llu: %.12g, %.12g, d %g", (unsigned long long)number, value_of(&a),
                  value_of(&b), d[8]);
        vxs_solution_release(&a);
        vxs_solution_release(&b);
        vxs_design_free(e.design);
        vxs_design_free(more.design);
    }
}

/* Kernels times s with C / s are the same problem. */
Test(mkl, a_common_scale_is_one_of_C)
{
    static example e, scaled;
    for (uint64_t number = 0; number < 40; number++) {
        draw_example(&e, number, 20, 6);
        draw_example(&scaled, number, 20, 6);
        vxs_design_free(scaled.design);
        for (size_t k = 0; k < scaled.count * scaled.n * scaled.n; k++)
            scaled.k[k] *= 16;
        finish(&scaled, number % 2, number % 8 < 6);
        scaled.problem.loss.u = e.problem.loss.u;
        e.settings.tol = scaled.settings.tol = 1e-8;
        vxs_solution a = solve_once(&e, 4), b = solve_once(&scaled, 0.25);
        cr_expect(fabs(value_of(&a) - 16 * value_of(&b)) <= 1e-6 * (1 + value_of(&a)),
                  "problem %llu: %.12g, %.12g", (unsigned long long)number, value_of(&a),
                  16 * value_of(&b));
        vxs_solution_release(&a);
        vxs_solution_release(&b);
        vxs_design_free(e.design);
        vxs_design_free(scaled.design);
    }
}

Test(mkl, a_warm_start_ends_where_a_cold_one_does)
{
    static example e;
    for (uint64_t number = 0; number < 60; number++) {
        draw_example(&e, number, 0, 0);
        e.settings.tol = 1e-8;
        vxs_solver *warm = begin(&e);
        vxs_solution first = solve(warm, 0.05), a = solve(warm, 4), b = solve_once(&e, 4);
        cr_expect(fabs(value_of(&a) - value_of(&b)) <= 1e-6 * (1 + value_of(&b)),
                  "problem %llu: %.12g, %.12g", (unsigned long long)number, value_of(&a),
                  value_of(&b));
        vxs_solution_release(&first);
        vxs_solution_release(&a);
        vxs_solution_release(&b);
        vxs_solver_free(warm);
        vxs_design_free(e.design);
    }
}

/* Where no weight is at its bound the answer is that of every larger C, and is taken over. */
Test(mkl, beyond_the_hard_margin_nothing_changes)
{
    static example e;
    draw_example(&e, 2, 8, 12);
    e.settings.tol = 1e-9;
    vxs_solver *solver = begin(&e);
    vxs_solution a = solve(solver, 1e4), b = solve(solver, 1e6);
    cr_expect(fabs(value_of(&a) - value_of(&b)) <= 1e-9 * 1e6 * (double)e.n &&
                  b.certificate.iterations == 0 && b.certificate.converged,
              "%.12g, %.12g, %zu", value_of(&a), value_of(&b), b.certificate.iterations);
    vxs_solution_release(&a);
    vxs_solution_release(&b);
    vxs_solver_free(solver);
    vxs_design_free(e.design);
}

/* A wrong solution is no solution: weights of a subject, or of a kernel. */
Test(mkl, the_checker_refuses_other_weights)
{
    static example e;
    vxs_error err = VXS_ERROR_INIT;
    for (uint64_t number = 0; number < 40; number++) {
        vxs_certificate found;
        draw_example(&e, number, 20, 6);
        vxs_solution s = solve_once(&e, 1);
        size_t first = s.index[0] / e.n;
        s.weight[0] *= 1.5;
        WORKS(vxs_check_solution(&e.problem, &s, &found, &err), err);
        cr_expect(!found.converged, "problem %llu", (unsigned long long)number);
        s.weight[0] /= 1.5;
        for (size_t k = 0; k < s.count; k++)
            s.weight[k] *= s.index[k] / e.n == first ? 1.3 : 1;
        WORKS(vxs_check_solution(&e.problem, &s, &found, &err), err);
        cr_expect(!found.converged, "problem %llu: a kernel", (unsigned long long)number);
        vxs_solution_release(&s);
        vxs_design_free(e.design);
    }
}

Test(mkl, kernels_that_are_none_are_refused)
{
    const double below[] = { 1, 0.2, 0.2, 1, 1, 0, 0, -1 }, skew[] = { 1, 0, 0, 1, 1, 0.5, 0, 1 };
    static example e;
    vxs_error err = VXS_ERROR_INIT;
    vxs_solver *solver = NULL;
    REFUSES(vxs_grams_new(skew, 2, 2, 1, &e.design, &err), err, VXS_BAD_DATA, "not symmetric");
    REFUSES(vxs_grams_new(skew, 2, 0, 1, &e.design, &err), err, VXS_MISUSE, "at least one");
    draw_example(&e, 0, 2, 2);
    vxs_design_free(e.design);
    memcpy(e.k, below, sizeof(below));
    finish(&e, false, true);
    REFUSES(vxs_solver_new(NULL, &vxs_methods[VXS_METHOD_MKL], &e.problem, &e.settings, &solver,
                           &err),
            err, VXS_BAD_DATA, "not positive semidefinite");
    vxs_design_free(e.design);
}

static example starved;

static vxs_status solve_starved(vxs_error *err)
{
    const vxs_path_point points[] = { { VXS_BY_COST, 0.1 }, { VXS_BY_COST, 5 } };
    vxs_solver *solver = NULL;
    vxs_status status = vxs_solver_new(NULL, &vxs_methods[VXS_METHOD_MKL], &starved.problem,
                                       &starved.settings, &solver, err);
    for (size_t k = 0; k < 2 && !status; k++) {
        vxs_solution s;
        status = vxs_solver_fit_at(solver, points[k], &s, err);
        vxs_solution_release(&s);
    }
    vxs_solver_free(solver);
    return status;
}

Test(mkl, memory_that_is_short)
{
    for (uint64_t number = 0; number < 2; number++) {
        draw_example(&starved, number, 14, 12);
        cr_expect(fail_each_request(solve_starved) > 20);
        vxs_design_free(starved.design);
    }
}
