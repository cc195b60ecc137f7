/* The elastic net's Newton steps on the dual: the optimality conditions of random quadratic models,
 * and whole problems whose supports exceed the number of subjects many times. */
#include "solver/saif/dual_newton.h"
#include "solver/saif/working_set.h"
#include "tests/core/check.h"
#include "tests/core/faults.h"
#include "voxsift/verify.h"

#include <math.h>

/* ---- The quadratic model --------------------------------------------------------------------- */

enum { ROWS = 14, FEATURES = 40, COVARIATES = 3, MOST = COVARIATES + FEATURES };

typedef struct {
    double x[ROWS * MOST], w[MOST], z[ROWS], gradient[ROWS], curvature[ROWS];
    vxs_net_model model;
} net_example;

/* Of four models one has rows without curvature (a hinge beyond its margin), one has rows where the
 * loss is linear (Huber beyond its threshold). */
static void make_model(net_example *e, uint64_t number)
{
    vxs_random random = { .seed = 77, .stream = number };
    uint64_t at = 0;
    size_t q = number % (COVARIATES + 1), count = 1 + vxs_random_below(&random, at++, FEATURES);
    for (size_t k = 0; k < ROWS * MOST; k++)
        e->x[k] = vxs_random_normal(&random, at++);
    for (size_t i = 0; i < ROWS; i++) {
        e->x[i] = q > 0 ? 1 : e->x[i];
        if (q == 3) /* depends on the first two */
            e->x[2 * ROWS + i] = 2 - e->x[ROWS + i];
        e->x[(q + count - 1) * ROWS + i] = e->x[q * ROWS + i]; /* a copy */
    }
    for (size_t c = 0; c < MOST; c++)
        e->w[c] = c < q || c % 3 == 0 ? vxs_random_normal(&random, at++) : 0;
    for (size_t i = 0; i < ROWS; i++) {
        bool flat = i % 3 == 0 && number % 4 < 2;
        e->curvature[i] = flat ? 0 : exp(vxs_random_normal(&random, at++));
        e->gradient[i] = vxs_random_normal(&random, at++);
        if (flat)
            e->gradient[i] = number % 4 == 0 ? 0 : copysign(0.3, e->gradient[i]);
        e->z[i] = 0;
        for (size_t c = 0; c < q + count; c++)
            e->z[i] += e->w[c] * e->x[c * ROWS + i];
    }
    e->model = (vxs_net_model){ .n = ROWS,
                                .q = q,
                                .count = count,
                                .x = e->x,
                                .w = e->w,
                                .z = e->z,
                                .loss_gradient = e->gradient,
                                .curvature = e->curvature,
                                .lambda = pow(10, -(double)(number / 4 % 3)),
                                .ridge = pow(10, (double)(number / 12 % 6) - 3),
                                .nonnegative = number % 5 == 0 };
}

/* The largest violation of the optimality conditions at the point, relative to its terms. */
static double violation(const net_example *e, const double *point)
{
    const vxs_net_model *m = &e->model;
    double xi[ROWS], worst = 0;
    for (size_t i = 0; i < ROWS; i++) {
        double moved = -e->z[i];
        for (size_t c = 0; c < m->q + m->count; c++)
            moved += point[c] * e->x[c * ROWS + i];
        xi[i] = -e->gradient[i] - e->curvature[i] * moved;
    }
    for (size_t c = 0; c < m->q + m->count; c++) {
        double sum = 0, size = m->lambda, left;
        for (size_t i = 0; i < ROWS; i++) {
            sum += e->x[c * ROWS + i] * xi[i];
            size += fabs(e->x[c * ROWS + i] * xi[i]);
        }
        if (c < m->q)
            left = sum;
        else if (point[c] != 0)
            left = sum - copysign(m->lambda, point[c]) - m->ridge * point[c];
        else
            left = fmax(0, (m->nonnegative ? sum : fabs(sum)) - m->lambda);
        cr_assert(c < m->q || !m->nonnegative || point[c] >= 0);
        worst = fmax(worst, fabs(left) / size);
    }
    return worst;
}

Test(dual_newton, the_point_is_optimal)
{
    size_t linear = 0, without = 0;
    vxs_dual_newton newton = { .room = 0 };
    for (uint64_t number = 0; number < 4000; number++) {
        static net_example e;
        vxs_error err = VXS_ERROR_INIT;
        double point[MOST] = { 0 };
        uint64_t steps = 0;
        bool solved;
        make_model(&e, number);
        vxs_dual_newton_release(&newton); /* the covariates change in number */
        WORKS(vxs_dual_newton_solve(&newton, &e.model, point, &solved, &steps, &err), err);
        without += !solved;
        if (!solved)
            continue;
        double left = violation(&e, point);
        cr_assert(left < 1e-7, "model %d: %g is left", (int)number, left);
        linear += number % 4 == 1;
    }
    vxs_dual_newton_release(&newton);
    cr_assert(linear > 500 && without < 100, "%zu with linear rows, %zu without a minimum", linear,
              without);
}

/* A covariate that only linear rows have moves for ever. */
Test(dual_newton, a_model_without_a_minimum_is_not_solved)
{
    static net_example e;
    vxs_dual_newton newton = { .room = 0 };
    vxs_error err = VXS_ERROR_INIT;
    double point[MOST] = { 0 };
    uint64_t steps = 0;
    bool solved = true;
    make_model(&e, 1); /* one covariate, linear rows */
    for (size_t i = 0; i < ROWS; i++)
        e.x[i] = e.curvature[i] == 0;
    for (size_t i = 0; i < ROWS; i++)
        e.gradient[i] = fabs(e.gradient[i]);
    WORKS(vxs_dual_newton_solve(&newton, &e.model, point, &solved, &steps, &err), err);
    cr_assert_not(solved);
    vxs_dual_newton_release(&newton);
}

/* ---- Whole problems -------------------------------------------------------------------------- */

enum { N = 30, P = 1500, Q = 2 };

typedef struct {
    float *x;
    double y[N], u[N], covariates[N * Q];
    vxs_problem problem;
} whole;

static void make_whole(whole *e, uint64_t number)
{
    vxs_error err = VXS_ERROR_INIT;
    vxs_random random = { .seed = 78, .stream = number };
    vxs_design *base, *design;
    uint64_t at = 0;
    static const vxs_loss_kind *const losses[] = { &vxs_squared_loss, &vxs_logistic_loss,
                                                   &vxs_squared_hinge_loss, &vxs_huber_loss };
    const vxs_loss_kind *loss = losses[number % 4];
    e->x = malloc((size_t)N * P * sizeof(*e->x));
    for (size_t j = 0; j < P; j++)
        for (size_t i = 0; i < N; i++)
            e->x[j * N + i] = (float)vxs_random_normal(&random, at++);
    for (size_t i = 0; i < N; i++) {
        double score = vxs_random_normal(&random, at++) + 2 * (double)e->x[i];
        e->y[i] = loss->of_scores ? score + 5 : score > 0 ? 1 : -1;
        e->u[i] = i % 7 == 3 ? 0 : 0.2 + fabs(vxs_random_normal(&random, at++));
        e->covariates[i] = 1;
        e->covariates[N + i] = vxs_random_normal(&random, at++);
    }
    WORKS(vxs_dense_new(e->x, N, P, 1, &base, &err), err);
    vxs_view view = { .standardize = VXS_STANDARDIZE_UNIT };
    WORKS(vxs_view_new(base, false, &view, &design, &err), err);
    e->problem =
        (vxs_problem){ .design = design,
                       .loss = { .kind = loss,
                                 .n = N,
                                 .y = e->y,
                                 .u = number % 3 == 0 ? e->u : NULL,
                                 .threshold = loss == &vxs_huber_loss ? 0.7 : 0 },
                       .covariates = e->covariates,
                       .covariate_count = number / 4 % (Q + 1),
                       .quadratic = { &vxs_ridge, pow(10, (double)(number / 12 % 4)), NULL },
                       .nonnegative = number % 5 == 0 };
}

static double solve_whole(const whole *e, uint64_t number, int inner, double ratio, size_t *support)
{
    vxs_error err = VXS_ERROR_INIT;
    vxs_method_settings settings = { .tol = 1e-9, .saif.inner = inner };
    vxs_solver *solver;
    vxs_solution s;
    vxs_certificate again;
    WORKS(vxs_solver_new(NULL, &vxs_methods[VXS_METHOD_LASSO], &e->problem, &settings, &solver,
                         &err),
          err);
    WORKS(vxs_solver_fit(solver, ratio * vxs_solver_lambda_max(solver), &s, &err), err);
    WORKS(vxs_check_solution(&e->problem, &s, &again, &err), err);
    cr_assert(s.certificate.converged && again.converged,
              "problem %d, inner %d, %g of lambda_max: gap %g, checked %g", (int)number, inner,
              ratio, s.certificate.gap, again.gap);
    double primal = s.certificate.primal;
    *support = s.count;
    vxs_solution_release(&s);
    vxs_solver_free(solver);
    return primal;
}

Test(dual_newton, large_supports_are_certified)
{
    size_t large = 0;
    for (uint64_t number = 0; number < 96; number++) {
        static const double ratios[] = { 0.3, 0.03, 0.003 };
        whole e;
        make_whole(&e, number);
        for (size_t r = 0; r < 3; r++) {
            size_t support;
            double primal = solve_whole(&e, number, VXS_INNER_AUTO, ratios[r], &support);
            large += support > VXS_DUAL;
            if (number % 12 == 0 && support > VXS_DUAL) { /* by another algorithm */
                double exact = solve_whole(&e, number, VXS_INNER_EXACT, ratios[r], &support);
                cr_assert(fabs(primal - exact) <= 1e-8 * fabs(exact), "%.17g, %.17g", primal,
                          exact);
            }
        }
        vxs_design_free((vxs_design *)e.problem.design);
        free(e.x);
    }
    cr_assert(large > 60, "%zu large supports", large);
}
