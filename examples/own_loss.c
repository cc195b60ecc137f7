/* own_loss.c - a loss that the library does not have: log cosh of the residual in units of WIDTH,
 * squared near 0 and linear far away, so that outlying scores count less. A lasso is solved with
 * it. The checker uses the values of the loss alone and computes its conjugate numerically.
 *
 * cc -std=c11 own_loss.c $(pkg-config --cflags --libs voxsift) -lm -o own_loss */
#include <math.h>
#include <voxsift.h>

#define WIDTH 10

/* WIDTH^2 log cosh((z - y) / WIDTH), without overflow */
static double value(double z, double y, double threshold)
{
    (void)threshold;
    double r = fabs(z - y) / WIDTH;
    return WIDTH * WIDTH * (r + log1p(exp(-2 * r)) - log(2));
}

static double gradient(double z, double y, double threshold)
{
    (void)threshold;
    return WIDTH * tanh((z - y) / WIDTH);
}

/* An upper bound on f''. Far from y f'' is almost 0, and Newton steps with it would be too long. */
static double curvature(double z, double y, double threshold)
{
    (void)threshold;
    double r = (z - y) / WIDTH;
    return r == 0 ? 1 : tanh(r) / r;
}

/* t log t, which is 0 at 0 */
static double entropy(double t)
{
    return t > 0 ? t * log(t) : 0;
}

/* f*(s) = s y + WIDTH^2 ((1 + t) log(1 + t) + (1 - t) log(1 - t)) / 2, t = s / WIDTH between -1 and
 * 1 */
static double conjugate(double s, double y, double threshold)
{
    (void)threshold;
    double t = s / WIDTH;
    return fabs(t) > 1 ? INFINITY : s * y + WIDTH * WIDTH * (entropy(1 + t) + entropy(1 - t)) / 2;
}

/* The fraction of the segment from s to `inside` after which s is between -WIDTH and WIDTH. */
static double outside(double s, double inside, double y, double threshold)
{
    (void)threshold;
    double over = s > WIDTH ? s - WIDTH : s < -WIDTH ? s + WIDTH : 0;
    (void)y;
    return over == 0 ? 0 : over / (s - inside);
}

static bool is_target(const vxs_loss *loss, double y)
{
    (void)loss;
    return fabs(y) <= VXS_LARGEST;
}

static const vxs_sample_loss sample = { value, gradient, curvature, conjugate, outside };
static const vxs_loss_kind log_cosh = {
    .name = "log-cosh", .targets = "numbers", .is_target = is_target, .gamma = 1, .sample = &sample
};

int main(int argc, char **argv)
{
    const vxs_method *lasso = &vxs_methods[VXS_METHOD_LASSO];
    vxs_error err = VXS_ERROR_INIT;
    vxs_status status;
    vxs_context context = { .nthreads = 2 };
    vxs_task_settings asked;
    vxs_method_settings settings = { .tol = 0 };
    vxs_cohort cohort = { .path = NULL };
    vxs_task task = { .cohort = NULL };
    vxs_problem problem;
    vxs_solver *solver = NULL;
    vxs_solution fit = { .count = 0 };
    vxs_certificate found;
    if (argc != 3)
        return fprintf(stderr, "usage: own_loss COHORT TARGET\n") < 0 ? 1 : VXS_MISUSE;
    vxs_params_defaults(vxs_task_params, &asked);
    vxs_params_defaults(lasso->params, &settings);
    asked.target = argv[2];
    if (!(status = vxs_cohort_open(argv[1], &cohort, &err)) &&
        !(status = vxs_task_new(&context, &cohort, &asked, &task, &err)) &&
        !(status = vxs_task_problem(&context, &task, 0, &settings, &problem, &err))) {
        problem.loss.kind = &log_cosh;
        if (!(status = vxs_solver_new(&context, lasso, &problem, &settings, &solver, &err)) &&
            !(status = vxs_solver_fit(solver, 0.2 * vxs_solver_lambda_max(solver), &fit, &err)) &&
            !(status = vxs_check_solution(&problem, &fit, &found, &err)))
            printf("%zu of %zu features, primal %.4f, dual %.4f; the checker: %.4f, %.4f: %s\n",
                   fit.count, cohort.p, fit.certificate.primal, fit.certificate.dual, found.primal,
                   found.dual, found.converged ? "confirmed" : "NOT confirmed");
    }
    if (status)
        fprintf(stderr, "own_loss: %s\n", err.message);
    vxs_solution_release(&fit);
    vxs_solver_free(solver);
    vxs_task_release(&task);
    vxs_cohort_release(&cohort);
    return (int)status;
}
