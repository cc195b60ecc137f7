/* User-defined losses: the checker's conjugates against closed forms, its certificates against
 * those of the library's losses, and wrong gradients. */
#include "tests/core/check.h"

#include "verify/check.h"

enum { N = 60, P = 40 };

/* ---- log cosh of residuals ------------------------------------------------------------------- */

static double value(double z, double y, double threshold)
{
    (void)threshold;
    return fabs(z - y) + log1p(exp(-2 * fabs(z - y))) - log(2);
}

static double gradient(double z, double y, double threshold)
{
    (void)threshold;
    return tanh(z - y);
}

static double curvature(double z, double y, double threshold)
{
    (void)threshold;
    return z == y ? 1 : tanh(z - y) / (z - y);
}

static double entropy(double t)
{
    return t > 0 ? t * log(t) : 0;
}

static double conjugate(double s, double y, double threshold)
{
    (void)threshold;
    return fabs(s) > 1 ? INFINITY : s * y + (entropy(1 + s) + entropy(1 - s)) / 2;
}

static double outside(double s, double inside, double y, double threshold)
{
    (void)threshold;
    double over = s > 1 ? s - 1 : s < -1 ? s + 1 : 0;
    (void)y;
    return over == 0 ? 0 : over / (s - inside);
}

static bool is_target(const vxs_loss *loss, double y)
{
    (void)loss;
    return isfinite(y);
}

static const vxs_sample_loss sample = { value, gradient, curvature, conjugate, outside };
static const vxs_loss_kind log_cosh = {
    .name = "log-cosh", .targets = "numbers", .is_target = is_target, .gamma = 1, .sample = &sample
};

/* ---- A problem ------------------------------------------------------------------------------- */

typedef struct {
    float x[N * P];
    double y[N], u[N], covariates[2 * N];
    vxs_design *design;
    vxs_problem problem;
    vxs_certificate said, found;
    size_t count;
} example;

/* Targets of this magnitude, or classes; one sample of weight 0; an intercept and a covariate. */
static example *make(const vxs_loss_kind *kind, double size, uint64_t seed)
{
    static example e;
    vxs_error err = VXS_ERROR_INIT;
    vxs_random random = { .seed = seed };
    e = (example){ .count = 0 };
    for (size_t k = 0; k < N * P; k++)
        e.x[k] = (float)vxs_random_normal(&random, k);
    for (size_t i = 0; i < N; i++) {
        double score = (double)e.x[i] - (double)e.x[N + i] + vxs_random_normal(&random, N * P + i);
        const double tries[] = { size * (score + 3), score > 0 ? 1 : -1 };
        const vxs_loss any = { .kind = kind };
        bool classes = !kind->is_target(&any, 0.5);
        e.y[i] = tries[classes];
        e.u[i] = i == 7 ? 0 : exp(vxs_random_normal(&random, N * P + N + i));
        e.covariates[i] = 1;
        e.covariates[N + i] = vxs_random_normal(&random, N * P + 2 * N + i);
    }
    WORKS(vxs_dense_new(e.x, N, P, 1, &e.design, &err), err);
    e.problem = (vxs_problem){ .design = e.design,
                               .loss = { .kind = kind, .n = N, .y = e.y, .u = e.u },
                               .covariates = e.covariates,
                               .covariate_count = 2 };
    return &e;
}

static void solve(example *e, double share, double tol)
{
    vxs_error err = VXS_ERROR_INIT;
    const vxs_method_settings settings = { .tol = tol };
    vxs_solver *solver = NULL;
    vxs_solution s;
    WORKS(vxs_solver_new(NULL, &vxs_methods[VXS_METHOD_LASSO], &e->problem, &settings, &solver,
                         &err),
          err);
    WORKS(vxs_solver_fit(solver, share * vxs_solver_lambda_max(solver), &s, &err), err);
    WORKS(vxs_check_solution(&e->problem, &s, &e->found, &err), err);
    e->said = s.certificate;
    e->count = s.count;
    vxs_solution_release(&s);
    vxs_solver_free(solver);
}

/* ---- Tests ----------------------------------------------------------------------------------- */

Test(by_value, conjugates_and_domains_are_those_of_closed_forms)
{
    for (double y = -1e6; y <= 1e6; y = y < -1e-3 ? y / 100 : y < 0 ? 0 : y == 0 ? 1e-2 : y * 100) {
        const vxs_problem p = { .loss = { .kind = &log_cosh, .n = 1, .y = &y } };
        for (double s = -1; s <= 1; s += 0.125) {
            double there = -conjugate(s, y, 0), found = vxs_check_value_dual(&p, 0, s);
            cr_assert(fabs(found - there) <= 1e-12 * (1 + fabs(y)), "y %g, s %g: %.15g, not %.15g",
                      y, s, found, there);
            cr_assert(vxs_check_value_domain(&p, 0, s, 0) <= 1e-9);
        }
        cr_assert(vxs_check_value_dual(&p, 0, 1.001) == -INFINITY);
        cr_assert(vxs_check_value_dual(&p, 0, -1.001) == -INFINITY);
        cr_assert(fabs(vxs_check_value_domain(&p, 0, 2, 0.5) - 2. / 3) <= 1e-9);
    }
}

Test(by_value, lassos_are_solved_and_confirmed)
{
    const double sizes[] = { 0.01, 1, 10 };
    for (size_t k = 0; k < 3; k++) {
        example *e = make(&log_cosh, sizes[k], k);
        solve(e, 0.1, 1e-7);
        cr_assert(e->said.converged && e->found.converged, "size %g: gaps %g and %g", sizes[k],
                  e->said.gap, e->found.gap);
        cr_assert(e->count > 1);
        cr_assert(fabs(e->said.primal - e->found.primal) <= 1e-9 * e->found.empty);
        cr_assert(fabs(e->said.dual - e->found.dual) <= 1e-7 * e->found.empty);
        cr_assert(fabs(e->said.lambda_max - e->found.lambda_max) <= 1e-6 * e->said.lambda_max);
        vxs_design_free(e->design);
    }
}

/* The threshold of a loss that has none is not read. */
Test(by_value, thresholds_of_other_losses_are_ignored, .timeout = 20)
{
    const vxs_loss_kind *const kinds[] = { &vxs_squared_loss, &vxs_logistic_loss, &log_cosh };
    const double thresholds[] = { -1, -INFINITY, NAN };
    for (size_t k = 0; k < 9; k++) {
        example *e = make(kinds[k / 3], 1, 5);
        e->problem.loss.threshold = thresholds[k % 3];
        solve(e, 0.1, 1e-7);
        cr_assert(e->found.converged, "%s, threshold %g", kinds[k / 3]->name, thresholds[k % 3]);
        vxs_design_free(e->design);
    }
}

/* A user-defined copy of a loss of the library. */
Test(by_value, own_kinds_are_checked_to_the_same_numbers_as_the_same_losses_of_the_library)
{
    const vxs_loss_kind *const kinds[] = { &vxs_squared_loss, &vxs_logistic_loss,
                                           &vxs_squared_hinge_loss };
    for (size_t k = 0; k < 3; k++) {
        const vxs_loss_kind copy = *kinds[k];
        example *e = make(kinds[k], 1, 3);
        e->problem.quadratic = (vxs_quadratic){ &vxs_ridge, k == 1 ? 0.5 : 0, NULL };
        e->problem.nonnegative = k == 2;
        solve(e, 0.2, 1e-7);
        vxs_certificate known = e->found;
        e->problem.loss.kind = &copy;
        solve(e, 0.2, 1e-7);
        cr_assert(known.converged && e->found.converged, "%s: gap %g", copy.name, e->found.gap);
        cr_assert(fabs(known.primal - e->found.primal) <= 1e-9 * known.empty);
        cr_assert(fabs(known.dual - e->found.dual) <= 1e-7 * known.empty, "%s: %.12g and %.12g",
                  copy.name, known.dual, e->found.dual);
        cr_assert(fabs(known.empty - e->found.empty) <= 1e-9 * known.empty);
        vxs_design_free(e->design);
    }
}

static double half_gradient(double z, double y, double threshold)
{
    (void)threshold;
    return tanh(z - y) - 0.2 * (z > y);
}

static double low_conjugate(double s, double y, double threshold)
{
    return conjugate(s, y, threshold) - 0.5;
}

/* The solver may report convergence with these; the checker does not. */
Test(by_value, what_a_kind_says_wrongly_of_itself_is_not_confirmed)
{
    vxs_sample_loss wrong[] = { sample, sample };
    wrong[0].gradient = half_gradient;
    wrong[1].conjugate = low_conjugate;
    for (size_t k = 0; k < 2; k++) {
        vxs_loss_kind kind = log_cosh;
        kind.sample = &wrong[k];
        example *e = make(&kind, 1, 4);
        solve(e, 0.3, 1e-3);
        cr_assert(e->found.gap > 1e-3, "%zu: gaps %g and %g", k, e->said.gap, e->found.gap);
        cr_assert(!vxs_certificate_holds(&e->said, &e->found, false));
        vxs_design_free(e->design);
    }
}

Test(by_value, kinds_that_lack_something_are_refused)
{
    vxs_error err = VXS_ERROR_INIT;
    vxs_sample_loss parts[] = { sample, sample, sample, sample };
    vxs_loss_kind kinds[8];
    for (size_t k = 0; k < 8; k++)
        kinds[k] = log_cosh;
    parts[0].value = NULL;
    parts[1].gradient = NULL;
    parts[2].curvature = NULL;
    parts[3].conjugate = NULL;
    for (size_t k = 0; k < 4; k++)
        kinds[k].sample = &parts[k];
    kinds[4].gamma = 0;
    kinds[5].gamma = NAN;
    kinds[6].is_target = NULL;
    kinds[7].joint = vxs_multinomial_loss.joint;
    const char *const said[8] = { "of one prediction",
                                  "of one prediction",
                                  "of one prediction",
                                  "of one prediction",
                                  "gamma",
                                  "gamma",
                                  "targets",
                                  "of one prediction" };
    example *e = make(&log_cosh, 1, 5);
    for (size_t k = 0; k < 8; k++) {
        e->problem.loss.kind = &kinds[k];
        REFUSES(vxs_problem_check(&e->problem, &vxs_methods[VXS_METHOD_LASSO], NULL, &err), err,
                VXS_MISUSE, said[k]);
    }
    e->problem.loss.kind = &log_cosh;
    WORKS(vxs_problem_check(&e->problem, NULL, NULL, &err), err);
    e->y[3] = NAN;
    REFUSES(vxs_problem_check(&e->problem, NULL, NULL, &err), err, VXS_BAD_DATA,
            "y of sample 3 is nan; log-cosh loss takes numbers");
    vxs_design_free(e->design);
}
