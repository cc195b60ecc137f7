/* Huber's loss: a lasso in which each subject has a shift of its own, least squares where the
 * threshold is far off, and certificates that the checker confirms by the loss's values alone. */
#include "tests/core/check.h"
#include "voxsift/internal/machine.h"
#include "voxsift/internal/solver.h"
#include "voxsift/verify.h"

#include <math.h>
#include <string.h>

enum { N = 30, P = 40 };

typedef struct {
    vxs_random random;
    uint64_t at;
    float x[N * P], wide[N * (P + N)];
    double y[N], u[N], covariates[N];
    vxs_design *design;
    vxs_problem problem;
} example;

static double draw(example *e)
{
    return vxs_random_normal(&e->random, e->at++);
}

/* A tenth of the scores are far off. */
static void make(example *e, uint64_t number, double threshold)
{
    vxs_error err = VXS_ERROR_INIT;
    *e = (example){ .random = { .seed = 7100 + number } };
    for (size_t k = 0; k < N * P; k++)
        e->x[k] = (float)draw(e);
    for (size_t i = 0; i < N; i++) {
        e->y[i] = (double)e->x[i] - (double)e->x[N + i] + 0.5 * draw(e);
        e->y[i] += i % 10 == 3 ? 30 * draw(e) : 0;
        e->u[i] = i == 7 ? 0 : exp(draw(e));
        e->covariates[i] = 1;
    }
    WORKS(vxs_dense_new(e->x, N, P, 1, &e->design, &err), err);
    e->problem = (vxs_problem){ .design = e->design,
                                .loss = { .kind = &vxs_huber_loss,
                                          .n = N,
                                          .y = e->y,
                                          .u = number % 2 ? e->u : NULL,
                                          .threshold = threshold },
                                .covariates = e->covariates,
                                .covariate_count = number / 2 % 2,
                                .quadratic = { &vxs_ridge, number % 3 ? 0 : 2, NULL },
                                .nonnegative = number % 5 == 3 };
}

static vxs_solution solve(const vxs_problem *problem, int screen, int inner, double lambda,
                          double ratio)
{
    vxs_error err = VXS_ERROR_INIT;
    vxs_solver *solver = NULL;
    vxs_solution fit;
    vxs_method_settings settings = { .tol = 1e-9, .saif.screen = screen, .saif.inner = inner };
    WORKS(vxs_solver_new(NULL, &vxs_methods[VXS_METHOD_LASSO], problem, &settings, &solver, &err),
          err);
    if (ratio > 0)
        lambda = ratio * vxs_solver_lambda_max(solver);
    WORKS(vxs_solver_fit(solver, lambda, &fit, &err), err);
    vxs_solver_free(solver);
    return fit;
}

/* f(r) is the least (r - o)^2 / 2 + d |o|: a lasso with a column more for each subject, in which
 * lambda |v| stands for u d |o|. */
Test(huber, a_lasso_with_a_shift_for_each_subject)
{
    for (uint64_t number = 0; number < 100; number++) {
        vxs_error err = VXS_ERROR_INIT;
        example e;
        make(&e, number, exp(draw(&(example){ .random = { .seed = number } })));
        e.problem.quadratic = (vxs_quadratic){ .kind = NULL };
        e.problem.nonnegative = false;
        for (double ratio = 0.7; ratio > 0.02; ratio /= 4) {
            vxs_solution a = solve(&e.problem, 0, 0, 0, ratio);
            vxs_problem with = e.problem;
            double lambda = a.certificate.lambda;
            memset(e.wide, 0, sizeof(e.wide));
            memcpy(e.wide, e.x, sizeof(e.x));
            for (size_t i = 0; i < N; i++) {
                double u = vxs_loss_weight(&e.problem.loss, i);
                e.wide[(P + i) * N + i] =
                    u > 0 ? (float)(lambda / (u * e.problem.loss.threshold)) : 0;
            }
            WORKS(vxs_dense_new(e.wide, N, P + N, 1, &with.design, &err), err);
            with.loss.kind = &vxs_squared_loss;
            vxs_solution b = solve(&with, 0, 0, lambda, 0);
            cr_assert(a.certificate.converged && b.certificate.converged, "%d at %g: %g, %g",
                      (int)number, ratio, a.certificate.gap, b.certificate.gap);
            /* columns are float32 */
            cr_assert(fabs(a.certificate.primal - b.certificate.primal) <=
                          2e-7 * (1e-3 + b.certificate.primal),
                      "%d at %g: %.12g, %.12g", (int)number, ratio, a.certificate.primal,
                      b.certificate.primal);
            vxs_solution_release(&a);
            vxs_solution_release(&b);
            vxs_design_free(with.design);
        }
        vxs_design_free(e.design);
    }
}

Test(huber, least_squares_where_the_threshold_is_far_off)
{
    for (uint64_t number = 0; number < 20; number++) {
        example e;
        make(&e, number, 1e6);
        vxs_problem squared = e.problem;
        squared.loss.kind = &vxs_squared_loss;
        vxs_solution a = solve(&e.problem, 0, 0, 0, 0.1);
        vxs_solution b = solve(&squared, 0, 0, a.certificate.lambda, 0);
        cr_assert(fabs(a.certificate.lambda_max - b.certificate.lambda_max) <=
                  1e-12 * b.certificate.lambda_max);
        cr_assert(fabs(a.certificate.primal - b.certificate.primal) <=
                  2e-9 * b.certificate.empty + 1e-9 * b.certificate.primal);
        vxs_solution_release(&a);
        vxs_solution_release(&b);
        vxs_design_free(e.design);
    }
}

/* From thresholds that nobody is within to such that hold all. Of the least one the loss is almost
 * the absolute value, at whose edges coordinates do not descend one at a time. */
Test(huber, certificates_are_confirmed_and_screens_agree)
{
    static const double thresholds[] = { 1e-3, 0.1, 1, 10, 1000 };
    static const int screens[] = { VXS_SCREEN_SAIF, VXS_SCREEN_NONE, VXS_SCREEN_DYNAMIC,
                                   VXS_SCREEN_STRONG };
    for (uint64_t number = 0; number < 150; number++) {
        example e;
        double value = NAN, empty = NAN;
        make(&e, number, thresholds[number % 5]);
        for (size_t way = 0; way < 8; way++) {
            vxs_error err = VXS_ERROR_INIT;
            vxs_certificate found;
            vxs_solution s = solve(&e.problem, screens[way % 4],
                                   way < 4           ? VXS_INNER_EXACT
                                   : number % 5 == 0 ? VXS_INNER_AUTO
                                                     : VXS_INNER_DESCENT,
                                   0, 0.2);
            WORKS(vxs_check_solution(&e.problem, &s, &found, &err), err);
            empty = found.empty;
            cr_assert(s.certificate.converged && found.gap <= 2e-9, "%d by %d: %g, checked %g",
                      (int)number, (int)way, s.certificate.gap, found.gap);
            cr_assert(vxs_certificate_holds(&s.certificate, &found, false));
            cr_assert(isnan(value) || fabs(value - found.primal) <= 1e-8 * empty,
                      "%d by %d: %.12g, %.12g", (int)number, (int)way, value, found.primal);
            value = found.primal;
            vxs_solution_release(&s);
        }
        vxs_design_free(e.design);
    }
}

/* Round numbers put slopes on the edges of the dual's domain, where rounding decides whether a
 * point is in it. */
Test(huber, certificates_of_round_numbers_are_confirmed)
{
    for (uint64_t number = 0; number < 300; number++) {
        vxs_error err = VXS_ERROR_INIT;
        vxs_certificate found;
        example e;
        make(&e, number, 1);
        e.problem.covariate_count = 1;
        for (size_t k = 0; k < N * P; k++)
            e.x[k] = roundf(2 * e.x[k]) / 2;
        for (size_t i = 0; i < N; i++)
            e.y[i] = i == 0 ? 100 : round(2 * e.y[i]) / 2;
        for (double ratio = 1; ratio > 0.03; ratio /= 3) {
            vxs_solution s = solve(&e.problem, 0, 0, 0, ratio);
            WORKS(vxs_check_solution(&e.problem, &s, &found, &err), err);
            cr_assert(s.certificate.converged, "%d at %g", (int)number, ratio);
            cr_assert(vxs_certificate_holds(&s.certificate, &found, false),
                      "%d at %g: gap %g, checked %g", (int)number, ratio, s.certificate.gap,
                      found.gap);
            vxs_solution_release(&s);
        }
        vxs_design_free(e.design);
    }
}

Test(huber, a_threshold_is_above_zero)
{
    static const double wrong[] = { 0, -1, NAN, INFINITY };
    for (size_t k = 0; k < 4; k++) {
        vxs_error err = VXS_ERROR_INIT;
        example e;
        make(&e, 0, wrong[k]);
        cr_assert(vxs_problem_check(&e.problem, &vxs_methods[VXS_METHOD_LASSO], NULL, &err) ==
                  VXS_MISUSE);
        cr_assert(strstr(err.message, "huber loss has a threshold above 0"), "%s", err.message);
        vxs_design_free(e.design);
    }
}
