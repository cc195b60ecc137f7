/* Kernel machines, by every algorithm: samples, labels and kernels that change in ways of which it
 * is known what follows; and problems without one solution, which all must end. */
#include "tests/core/check.h"
#include "voxsift/internal/penalty.h"
#include "voxsift/internal/solver.h"
#include "voxsift/verify.h"

#include <math.h>
#include <string.h>

enum { MOST = 80, PROBLEMS = 20 };

typedef struct {
    size_t n;
    double k[MOST * MOST], y[MOST], u[MOST], ones[MOST];
    double f[MOST], b; /* of the solution: K a, and the intercept */
} example;

static double kernel_of(const double *x, const double *z, bool gauss)
{
    double square = 0, product = 0;
    for (int d = 0; d < 3; d++) {
        square += (x[d] - z[d]) * (x[d] - z[d]);
        product += x[d] * z[d];
    }
    return gauss ? exp(-square / 3) : product;
}

/* Sample i is number[i] of those drawn. */
static void make(example *e, uint64_t problem, size_t n, const size_t *number)
{
    static double x[MOST][3];
    vxs_random random = { .seed = 31, .stream = problem };
    e->n = n;
    for (size_t i = 0; i < n; i++) {
        for (size_t d = 0; d < 3; d++)
            x[i][d] = vxs_random_normal(&random, 4 * number[i] + d);
        double value = x[i][0] + vxs_random_normal(&random, 4 * number[i] + 3) / 2;
        e->y[i] = number[i] == 0 ? 1 : number[i] == 1 ? -1 : value > 0 ? 1 : -1;
        e->u[i] = e->ones[i] = 1;
    }
    for (size_t i = 0; i < n; i++)
        for (size_t j = 0; j < n; j++)
            e->k[i * n + j] = kernel_of(x[i], x[j], problem % 2);
}

static void make_plain(example *e, uint64_t problem, size_t n)
{
    size_t number[MOST];
    for (size_t i = 0; i < n; i++)
        number[i] = i;
    make(e, problem, n, number);
}

/* Every solution is confirmed by the checker. */
static void solve(example *e, int way, double cost, bool intercept, double tol)
{
    vxs_error err = VXS_ERROR_INIT;
    vxs_design *design = NULL;
    vxs_solver *solver = NULL;
    vxs_solution s;
    vxs_certificate found;
    vxs_method_settings settings = { .tol = 0 };
    vxs_params_defaults(vxs_methods[VXS_METHOD_SVM].params, &settings);
    settings.tol = tol;
    settings.svm.solver = way;
    WORKS(vxs_gram_new(e->k, e->n, 1, &design, &err), err);
    vxs_kernel_norm norm = vxs_kernel_norm_of(design);
    vxs_problem problem = { .design = design,
                            .loss = { .kind = &vxs_margin_loss, .n = e->n, .y = e->y, .u = e->u },
                            .penalty = &norm.penalty,
                            .covariates = e->ones,
                            .covariate_count = intercept };
    WORKS(vxs_solver_new(NULL, &vxs_methods[VXS_METHOD_SVM], &problem, &settings, &solver, &err),
          err);
    WORKS(vxs_solver_fit_at(solver, (vxs_path_point){ VXS_BY_COST, cost }, &s, &err), err);
    WORKS(vxs_check_solution(&problem, &s, &found, &err), err);
    cr_expect(s.certificate.converged && found.converged, "way %d, C = %g: gap %g, found %g", way,
              cost, s.certificate.gap, found.gap);
    memset(e->f, 0, sizeof(e->f));
    for (size_t m = 0; m < s.count; m++)
        for (size_t i = 0; i < e->n; i++)
            e->f[i] += s.weight[m] * e->k[s.index[m] * e->n + i];
    e->b = intercept ? s.covariate_coefficients[0] : 0;
    vxs_solution_release(&s);
    vxs_solver_free(solver);
    vxs_design_free(design);
}

/* w is unique, and within the square root of the gap. */
static void expect_same(double a, double b, const char *what, int way, uint64_t problem)
{
    cr_expect(fabs(a - b) <= 1e-4 * (1 + fabs(a)), "%s, way %d, problem %d: %g, %g", what, way,
              (int)problem, a, b);
}

static void check_all(uint64_t problem, int way)
{
    static example plain, other;
    size_t number[MOST], n = 20 + problem;
    double cost = pow(10, (double)(problem % 4) - 2), tol = 1e-11;
    bool intercept = problem % 3 > 0;
    make_plain(&plain, problem, n);
    plain.u[3] = 2;
    solve(&plain, way, cost, intercept, tol);

    for (size_t i = 0; i < n; i++)
        number[i] = i;
    number[n] = 3;
    make(&other, problem, n + 1, number);
    solve(&other, way, cost, intercept, tol);
    for (size_t i = 0; i < n; i++)
        expect_same(plain.f[i], other.f[i], "a sample twice", way, problem);

    make_plain(&other, problem, n);
    other.u[3] = 2;
    for (size_t i = 0; i < n; i++)
        other.y[i] = -other.y[i];
    solve(&other, way, cost, intercept, tol);
    for (size_t i = 0; i < n; i++)
        expect_same(-plain.f[i], other.f[i], "other labels", way, problem);

    make_plain(&other, problem, n);
    other.u[3] = 2;
    for (size_t k = 0; k < n * n; k++)
        other.k[k] *= 7;
    solve(&other, way, cost / 7, intercept, tol);
    for (size_t i = 0; i < n; i++)
        expect_same(plain.f[i], other.f[i], "a larger kernel", way, problem);

    for (size_t i = 0; i < n; i++)
        number[i] = n - 1 - i;
    make(&other, problem, n, number);
    other.u[n - 1 - 3] = 2;
    solve(&other, way, cost, intercept, tol);
    for (size_t i = 0; i < n; i++)
        expect_same(plain.f[i], other.f[n - 1 - i], "another order", way, problem);
}

Test(machine_identities, hold_by_every_algorithm)
{
    for (int way = VXS_MACHINE_WORKING_SET; way <= VXS_MACHINE_SAIV; way++)
        for (uint64_t problem = 0; problem < PROBLEMS; problem++)
            check_all(problem, way);
}

/* Samples that cannot be told apart, few, rare or without length. */
static void end(example *e, int way)
{
    for (int k = 0; k < 6; k++)
        solve(e, way, pow(10, k % 3 * 2 - 2), k / 3, 1e-6);
}

Test(machine_identities, what_has_many_solutions_ends_by_every_algorithm)
{
    static example e;
    size_t number[MOST];
    for (int way = VXS_MACHINE_WORKING_SET; way <= VXS_MACHINE_SAIV; way++) {
        for (size_t i = 0; i < MOST; i++)
            number[i] = i / 20;
        make(&e, 1, MOST, number); /* every sample 20 times */
        end(&e, way);
        for (size_t i = 0; i < MOST; i++)
            number[i] = 0;
        make(&e, 1, MOST, number); /* one point, with both labels */
        for (size_t i = 0; i < MOST; i++)
            e.y[i] = i % 3 ? 1 : -1;
        end(&e, way);
        make_plain(&e, 2, MOST);
        for (size_t k = 0; k < (size_t)MOST * MOST; k++)
            e.k[k] = 2; /* a constant kernel */
        end(&e, way);
        make_plain(&e, 3, 51);
        for (size_t i = 0; i < 51; i++)
            e.y[i] = i == 17 ? 1 : -1; /* 50 to 1 */
        end(&e, way);
        make_plain(&e, 4, 2);
        end(&e, way);
        make_plain(&e, 5, 30);
        for (size_t i = 0; i < 30; i++)
            for (size_t j = 0; j < 10; j++)
                e.k[i * 30 + j] = e.k[j * 30 + i] = 0; /* samples without length */
        end(&e, way);
        make_plain(&e, 6, 30);
        memset(e.k, 0, sizeof(e.k));
        end(&e, way);
    }
}
