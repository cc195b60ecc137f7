/* The exact line search of the squared hinge: against points of the line, and what it makes of
 * Newton's method. */
#include "solver/saif/working_set.h"
#include "tests/core/check.h"
#include "voxsift/verify.h"

enum { ROWS = 25, WEIGHTS = 8 };

typedef struct {
    double y[ROWS], u[ROWS], z[ROWS], way[ROWS], w[WEIGHTS], d[WEIGHTS];
    vxs_loss loss;
    vxs_line line;
} line_example;

/* With samples on the margin, weights that land on 0, samples of weight 0, and, one of five, no
 * sample in the loss or one class only. */
static void make_line(line_example *e, uint64_t number)
{
    vxs_random random = { .seed = 31, .stream = number };
    uint64_t at = 0;
    for (size_t i = 0; i < ROWS; i++) {
        e->y[i] = i % 2 && number % 5 != 1 ? 1 : -1;
        e->u[i] = i % 6 == 3 ? 0 : 0.2 + vxs_random_uniform(&random, at++);
        e->z[i] = 2 * vxs_random_normal(&random, at++);
        e->way[i] = i % 8 == 5 ? 0 : 3 * vxs_random_normal(&random, at++);
        e->z[i] = i % 9 == 4 ? e->y[i] : e->z[i];
        e->z[i] = number % 5 == 2 ? 3 * e->y[i] : e->z[i];
    }
    for (size_t j = 0; j < WEIGHTS; j++) {
        e->w[j] = j % 3 ? vxs_random_normal(&random, at++) : 0;
        e->d[j] = j % 4 == 1 ? -e->w[j] : vxs_random_normal(&random, at++);
    }
    e->loss = (vxs_loss){ .kind = &vxs_squared_hinge_loss, .n = ROWS, .y = e->y };
    e->loss.u = number % 3 ? e->u : NULL;
    e->line = (vxs_line){ .loss = &e->loss,
                          .n = ROWS,
                          .m = WEIGHTS,
                          .z = e->z,
                          .way = e->way,
                          .w = e->w,
                          .d = e->d,
                          .lambda = pow(10, (double)(number % 4) - 3),
                          .linear = number % 2 ? vxs_random_normal(&random, at++) : 0,
                          .square = number % 2 ? vxs_random_uniform(&random, at++) : 0 };
}

static double value_at(const line_example *e, double t)
{
    const vxs_line *l = &e->line;
    double sum = l->linear * t + l->square * t * t / 2;
    for (size_t i = 0; i < ROWS; i++) {
        double left = fmax(0, 1 - e->y[i] * (e->z[i] + t * e->way[i]));
        sum += vxs_loss_weight(&e->loss, i) * left * left / 2;
    }
    for (size_t j = 0; j < WEIGHTS; j++)
        sum += l->lambda * fabs(e->w[j] + t * e->d[j]);
    return sum;
}

Test(line_search, no_point_of_the_line_is_lower)
{
    vxs_line_search search = { .room = 0 };
    size_t inside = 0;
    for (uint64_t number = 0; number < 1000; number++) {
        static line_example e;
        vxs_error err = VXS_ERROR_INIT;
        double share, most = number % 7 == 3 ? INFINITY : 1, end = number % 7 == 3 ? 50 : 1;
        make_line(&e, number);
        WORKS(vxs_line_minimum(&search, &e.line, most, &share, &err), err);
        cr_assert(share >= 0 && share <= most);
        double value = value_at(&e, share), lowest = value;
        for (int k = 0; k <= 2000; k++)
            lowest = fmin(lowest, value_at(&e, end * k / 2000));
        cr_assert(value <= lowest + 1e-13 * fabs(lowest), "line %d: %.17g at %g, but %.17g",
                  (int)number, value, share, lowest);
        inside += share > 0 && share < 1;
    }
    vxs_line_search_release(&search);
    cr_assert(inside > 150, "%zu inside", inside);
}

/* ---- Newton's method ------------------------------------------------------------------------- */

enum { N = 40, P = 80 };

/* Copies, constants, near copies, few samples, and a minority of a tenth. */
static void make_problem(uint64_t number, float *x, double *y, double *ones, size_t *n, size_t *p)
{
    vxs_random random = { .seed = 32, .stream = number };
    uint64_t at = 0;
    *n = 6 + vxs_random_below(&random, at++, N - 6);
    *p = 2 + vxs_random_below(&random, at++, P - 2);
    for (size_t k = 0; k < *n * *p; k++) {
        bool copy = k / *n % 5 == 4, constant = k / *n % 11 == 7;
        float own = (float)vxs_random_normal(&random, at++);
        x[k] = constant ? 2 : copy ? x[k - *n] + (number % 2 ? 0.01F * own : 0) : own;
    }
    for (size_t i = 0; i < *n; i++) {
        double score = (double)x[i] + vxs_random_normal(&random, at++);
        y[i] = score > (number % 4 == 1 ? 1.8 : 0) ? 1 : -1;
        ones[i] = 1;
    }
    y[0] = 1;
    y[1] = -1;
}

/* Each fit is a first one; in one iteration, which has 100 steps at most. */
Test(line_search, newton_steps_are_few_and_end_at_the_optimum)
{
    static float x[N * P];
    static double y[N], ones[N];
    for (uint64_t number = 0; number < 400; number++) {
        vxs_error err = VXS_ERROR_INIT;
        size_t n, p;
        vxs_design *design;
        make_problem(number, x, y, ones, &n, &p);
        WORKS(vxs_dense_new(x, n, p, 1, &design, &err), err);
        vxs_problem problem = { .design = design,
                                .loss = { .kind = &vxs_squared_hinge_loss, .n = n, .y = y },
                                .covariates = ones,
                                .covariate_count = number % 3 != 0 };
        static const double ratios[] = { 0.96, 0.3, 0.05, 0.003, 1e-4 };
        vxs_method_settings settings = { .saif = { VXS_SCREEN_NONE, VXS_INNER_EXACT },
                                         .tol = 1e-10 };
        for (size_t k = 0; k < 5; k++) {
            vxs_solver *solver;
            vxs_solution s;
            vxs_certificate again;
            WORKS(vxs_solver_new(NULL, &vxs_methods[VXS_METHOD_LASSO], &problem, &settings, &solver,
                                 &err),
                  err);
            WORKS(vxs_solver_fit(solver, ratios[k] * vxs_solver_lambda_max(solver), &s, &err), err);
            WORKS(vxs_check_solution(&problem, &s, &again, &err), err);
            cr_assert(s.certificate.converged && s.certificate.iterations == 1 && again.converged,
                      "problem %d, %g: gap %g, checked %g, iterations %zu", (int)number, ratios[k],
                      s.certificate.gap, again.gap, s.certificate.iterations);
            vxs_solution_release(&s);
            vxs_solver_free(solver);
        }
        vxs_design_free(design);
    }
}
