/* Kernel machines: random problems with copies, weights, singular kernels and extreme costs against
 * the checker, identities, warm starts, and kernels that are none. */
#include "solver/saiv/saiv.h"
#include "tests/core/check.h"
#include "tests/solver/boxes.h"
#include "voxsift/internal/penalty.h"
#include "voxsift/internal/solver.h"
#include "voxsift/verify.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { MOST = 120, LARGE = 600 };

typedef struct {
    size_t n, d;
    double x[MOST * MOST], k[MOST * MOST], y[MOST], u[MOST], ones[MOST];
    vxs_design *design;
    vxs_kernel_norm norm;
    vxs_problem problem;
    vxs_method_settings settings;
    const vxs_method *method;
} example;

/* Samples of a few features, or of more than there are samples; every third problem consists of
 * copies. */
static void draw_samples(example *e, const vxs_random *random, uint64_t number, uint64_t *at)
{
    size_t copies = number % 3 == 2 ? 5 : 1;
    for (size_t i = 0; i < e->n; i++)
        for (size_t j = 0; j < e->d; j++)
            e->x[j * e->n + i] =
                i % copies ? e->x[j * e->n + i - i % copies] : vxs_random_normal(random, (*at)++);
}

static double kernel_of(const example *e, size_t a, size_t b, bool gauss)
{
    double product = 0, distance = 0;
    for (size_t j = 0; j < e->d; j++) {
        double v = e->x[j * e->n + a], w = e->x[j * e->n + b];
        product += v * w;
        distance += (v - w) * (v - w);
    }
    return gauss ? exp(-distance / (double)e->d) : product / (double)e->d;
}

static void finish(example *e, bool scores, bool intercept)
{
    vxs_error err = VXS_ERROR_INIT;
    WORKS(vxs_gram_new(e->k, e->n, 1, &e->design, &err), err);
    e->norm = vxs_kernel_norm_of(e->design);
    e->method = &vxs_methods[VXS_METHOD_SVM];
    vxs_params_defaults(e->method->params, &e->settings);
    e->problem = (vxs_problem){ .design = e->design,
                                .loss = { .kind = scores ? &vxs_epsilon_loss : &vxs_margin_loss,
                                          .n = e->n,
                                          .y = e->y,
                                          .threshold = scores ? 0.2 : 0 },
                                .penalty = &e->norm.penalty,
                                .covariates = e->ones,
                                .covariate_count = intercept };
}

static void make_example(example *e, uint64_t number)
{
    vxs_random random = { .seed = 5, .stream = number };
    uint64_t at = 0;
    bool scores = number % 2, gauss = number / 2 % 2;
    memset(e, 0, sizeof(*e));
    e->n = 2 + vxs_random_below(&random, at++, number % 7 == 0 ? MOST - 2 : 38);
    e->d = 1 + vxs_random_below(&random, at++, number % 5 == 0 ? MOST - 1 : 6);
    draw_samples(e, &random, number, &at);
    for (size_t i = 0; i < e->n; i++) {
        double value = e->x[i] + vxs_random_normal(&random, at++) / 2;
        e->y[i] = scores ? value : i == 0 ? 1 : i == 1 ? -1 : value > 0 ? 1 : -1;
        e->u[i] = number % 4 == 3 ? exp(vxs_random_normal(&random, at++)) * (i % 5 != 4) : 1;
        e->ones[i] = 1;
        for (size_t j = 0; j <= i; j++)
            e->k[i * e->n + j] = e->k[j * e->n + i] = kernel_of(e, i, j, gauss);
    }
    finish(e, scores, number % 8 < 6);
    if (number % 4 == 3)
        e->problem.loss.u = e->u;
}

static vxs_solution solve(const example *e, vxs_solver *solver, double cost)
{
    vxs_error err = VXS_ERROR_INIT;
    vxs_solution solution = { .count = 0 };
    WORKS(vxs_solver_fit_at(solver, (vxs_path_point){ VXS_BY_COST, cost }, &solution, &err), err);
    (void)e;
    return solution;
}

static vxs_solver *begin(const example *e)
{
    vxs_error err = VXS_ERROR_INIT;
    vxs_solver *solver = NULL;
    WORKS(vxs_solver_new(NULL, e->method, &e->problem, &e->settings, &solver, &err), err);
    return solver;
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

Test(saiv, certificates_of_random_problems_hold_up_and_down_a_path)
{
    static example e;
    static const double costs[] = { 0.01, 0.3, 3, 100, 1, 0.02 };
    for (uint64_t number = 0; number < 600; number++) {
        make_example(&e, number);
        vxs_solver *solver = begin(&e);
        for (size_t k = 0; k < sizeof(costs) / sizeof(costs[0]); k++) {
            vxs_solution s = solve(&e, solver, costs[k]);
            confirm(&e, &s, number, costs[k]);
            vxs_solution_release(&s);
        }
        vxs_solver_free(solver);
        vxs_design_free(e.design);
    }
}

/* Linear kernels of up to 6 features in 120 samples whose weights are far apart: at a large C more
 * weights are inside the box than the kernel has directions, and a working set stops short. */
Test(saiv, singular_kernels_and_large_costs_are_solved)
{
    static example e;
    static const double costs[] = { 10, 1000, 10000, 1000 };
    for (uint64_t number = 0; number < 60; number++) {
        vxs_random random = { .seed = 17, .stream = number };
        uint64_t at = 0;
        memset(&e, 0, sizeof(e));
        e.n = 60 + number;
        e.d = 2 + number % 5;
        draw_samples(&e, &random, 0, &at);
        for (size_t i = 0; i < e.n; i++) {
            double value = e.x[i] + vxs_random_normal(&random, at++);
            e.y[i] = number % 2 ? value : value > 0 ? 1 : -1;
            e.u[i] = exp(1.5 * vxs_random_normal(&random, at++));
            e.ones[i] = 1;
            for (size_t j = 0; j <= i; j++)
                e.k[i * e.n + j] = e.k[j * e.n + i] = kernel_of(&e, i, j, false);
        }
        finish(&e, number % 2, true);
        e.problem.loss.u = e.u;
        vxs_solver *solver = begin(&e);
        for (size_t k = 0; k < sizeof(costs) / sizeof(costs[0]); k++) {
            vxs_solution s = solve(&e, solver, costs[k]);
            confirm(&e, &s, number, costs[k]);
            vxs_solution_release(&s);
        }
        vxs_solver_free(solver);
        vxs_design_free(e.design);
    }
}

Test(saiv, a_warm_start_ends_where_a_cold_one_does)
{
    static example e;
    for (uint64_t number = 0; number < 60; number++) {
        make_example(&e, number);
        e.settings.tol = 1e-10;
        vxs_solver *warm = begin(&e), *cold = begin(&e);
        vxs_solution first = solve(&e, warm, 0.05), a = solve(&e, warm, 4), b = solve(&e, cold, 4);
        cr_expect(fabs(a.certificate.primal - b.certificate.primal) <=
                      1e-8 * (1 + b.certificate.primal),
                  "problem %llu: %.12g, %.12g", (unsigned long long)number, a.certificate.primal,
                  b.certificate.primal);
        vxs_solution_release(&first);
        vxs_solution_release(&a);
        vxs_solution_release(&b);
        vxs_solver_free(warm);
        vxs_solver_free(cold);
        vxs_design_free(e.design);
    }
}

/* Bounds of the last C and of gaps decide weights, and change no answer: every other way ends where
 * the working set does. */
static size_t same_path(example *e, int way, double ratio, uint64_t number)
{
    size_t decided = 0;
    e->settings.tol = 1e-9;
    e->settings.svm.solver = way;
    vxs_solver *other = begin(e);
    e->settings.svm.solver = VXS_MACHINE_WORKING_SET;
    vxs_solver *usual = begin(e);
    double cost = 0.05;
    for (int k = 0; k < 12; k++, cost *= ratio) {
        vxs_solution a = solve(e, usual, cost), b = solve(e, other, cost);
        confirm(e, &b, number, cost);
        double slack = 1e-10 * (1 + fabs(a.certificate.primal));
        cr_expect(a.certificate.dual <= b.certificate.primal + slack &&
                      b.certificate.dual <= a.certificate.primal + slack,
                  "problem %llu: %.12g to %.12g, %.12g to %.12g", (unsigned long long)number,
                  a.certificate.dual, a.certificate.primal, b.certificate.dual,
                  b.certificate.primal);
        decided += b.certificate.screening.before;
        vxs_solution_release(&a);
        vxs_solution_release(&b);
    }
    vxs_solver_free(usual);
    vxs_solver_free(other);
    return decided;
}

Test(saiv, bounds_along_a_path_change_no_answer)
{
    static example e;
    size_t decided = 0;
    for (uint64_t number = 0; number < 100; number++) {
        make_example(&e, number);
        decided += same_path(&e, VXS_MACHINE_SCREENED, number % 3 ? 1.2 : 0.9, number);
        vxs_design_free(e.design);
    }
    cr_expect(decided > 1000, "%zu", decided);
}

Test(saiv, recruiting_and_screening_ends_at_the_same_optimum)
{
    static example e;
    for (uint64_t number = 0; number < 300; number++) {
        make_example(&e, number);
        (void)same_path(&e, VXS_MACHINE_SAIV, number % 3 ? 1.7 : 0.8, number);
        vxs_design_free(e.design);
    }
}

/* More samples than are one set. */
static void use_box(example *e, const box_example *box, double *y)
{
    memset(e, 0, sizeof(*e));
    e->n = box->box.n;
    for (size_t i = 0; i < e->n; i++)
        y[i] = box->box.sign[i];
    vxs_error err = VXS_ERROR_INIT;
    WORKS(vxs_gram_new(box->k, e->n, 1, &e->design, &err), err);
    e->norm = vxs_kernel_norm_of(e->design);
    e->method = &vxs_methods[VXS_METHOD_SVM];
    vxs_params_defaults(e->method->params, &e->settings);
    e->problem = (vxs_problem){ .design = e->design,
                                .loss = { .kind = &vxs_margin_loss, .n = e->n, .y = y },
                                .penalty = &e->norm.penalty };
}

Test(saiv, large_sets_are_solved_with_and_without_bounds)
{
    static example e;
    static double y[LARGE], ones[LARGE];
    size_t decided = 0;
    for (uint64_t number = 0; number < 8; number++) {
        box_example box = box_make(LARGE, 2 * number, 1);
        use_box(&e, &box, y);
        for (size_t i = 0; i < LARGE; i++)
            ones[i] = 1;
        e.problem.covariates = ones;
        e.problem.covariate_count = number % 4 > 0;
        decided += same_path(&e, VXS_MACHINE_SCREENED, 1.1, number);
        (void)same_path(&e, VXS_MACHINE_SAIV, 1.1, number);
        vxs_design_free(e.design);
        box_release(&box);
    }
    cr_expect(decided > 1000, "%zu", decided);
}

/* At the hard margin no weight is at its bound, and the answer is that of every larger C. */
Test(saiv, beyond_the_hard_margin_nothing_changes)
{
    static example e;
    make_example(&e, 42); /* Gaussian kernel of different samples */
    e.settings.tol = 1e-10;
    vxs_solver *solver = begin(&e);
    vxs_solution a = solve(&e, solver, 1e6), b = solve(&e, solver, 1e7);
    cr_expect(fabs(a.certificate.primal * 10 - b.certificate.primal * 100) <=
              1e-6 * fabs(a.certificate.primal * 10) + 1e-12);
    vxs_solution_release(&a);
    vxs_solution_release(&b);
    vxs_solver_free(solver);
    vxs_design_free(e.design);
}

/* A wrong solution is no solution: the checker must be able to say so. */
Test(saiv, the_checker_refuses_other_weights)
{
    static example e;
    vxs_error err = VXS_ERROR_INIT;
    for (uint64_t number = 0; number < 40; number++) {
        vxs_certificate found;
        make_example(&e, number);
        vxs_solver *solver = begin(&e);
        vxs_solution s = solve(&e, solver, 1);
        if (s.count > 0)
            s.weight[0] *= 1.5;
        WORKS(vxs_check_solution(&e.problem, &s, &found, &err), err);
        cr_expect(s.count == 0 || !found.converged, "problem %llu", (unsigned long long)number);
        vxs_solution_release(&s);
        vxs_solver_free(solver);
        vxs_design_free(e.design);
    }
}

Test(saiv, kernels_that_are_none_are_refused)
{
    const double skew[] = { 1, 0.5, 0.2, 1 }, below[] = { -1, 0, 0, 1 },
                 broken[] = { 1, NAN, NAN, 1 };
    static example e;
    vxs_error err = VXS_ERROR_INIT;
    vxs_design *design = NULL;
    REFUSES(vxs_gram_new(skew, 2, 1, &design, &err), err, VXS_BAD_DATA, "not symmetric");
    REFUSES(vxs_gram_new(broken, 2, 1, &design, &err), err, VXS_BAD_DATA, "is nan");
    make_example(&e, 0);
    vxs_design_free(e.design);
    e.n = 2;
    memcpy(e.k, below, sizeof(below));
    finish(&e, false, true);
    vxs_solver *solver = NULL;
    REFUSES(vxs_solver_new(NULL, e.method, &e.problem, &e.settings, &solver, &err), err,
            VXS_BAD_DATA, "not positive semidefinite");
    vxs_design_free(e.design);
}
