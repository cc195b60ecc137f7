/* Graph-net: an l1 penalty and a graph's Laplacian. */
#include "tests/core/check.h"
#include "tests/core/faults.h"
#include "voxsift/internal/machine.h"
#include "voxsift/verify.h"

#include <math.h>

enum { N = 16, P = 14, EDGES = 22 };

typedef struct {
    vxs_random random;
    uint64_t at;
    float x[N * P], wide[(N + EDGES) * P];
    double y[N + EDGES], u[N + EDGES], covariates[2 * (N + EDGES)];
    vxs_graph graph;
    vxs_design *design, *stacked;
    vxs_problem problem;
} example;

static double draw(example *e)
{
    return vxs_random_normal(&e->random, e->at++);
}

static void make_graph(example *e)
{
    vxs_error err = VXS_ERROR_INIT;
    WORKS(vxs_graph_new(P, EDGES, &e->graph, &err), err);
    for (size_t k = 0; k < EDGES; k++) {
        size_t from = (size_t)(fabs(draw(e)) * 1000) % P, step = 1 + k % (P - 1);
        e->graph.from[k] = from;
        e->graph.to[k] = (from + step) % P;
        e->graph.weight[k] = exp(draw(e));
    }
}

/* Rows sqrt(weight) (e_from - e_to) below X make the Laplacian a part of the squared loss. */
static void stack(example *e, double weight)
{
    vxs_error err = VXS_ERROR_INIT;
    size_t rows = N + EDGES;
    memset(e->wide, 0, sizeof(e->wide));
    for (size_t j = 0; j < P; j++)
        memcpy(e->wide + j * rows, e->x + j * N, N * sizeof(float));
    for (size_t k = 0; k < EDGES; k++) {
        float root = (float)sqrt(weight * e->graph.weight[k]);
        e->graph.weight[k] = (double)root * (double)root / weight; /* as float32 has it */
        e->wide[e->graph.from[k] * rows + N + k] = root;
        e->wide[e->graph.to[k] * rows + N + k] = -root;
    }
    WORKS(vxs_dense_new(e->wide, rows, P, 1, &e->stacked, &err), err);
}

static void make(example *e, uint64_t number, const vxs_loss_kind *kind)
{
    vxs_error err = VXS_ERROR_INIT;
    double weight = exp(1.5 * (double)(number % 5) - 3) * N;
    *e = (example){ .random = { .seed = 900 + number } };
    for (size_t k = 0; k < N * P; k++)
        e->x[k] = (float)draw(e);
    make_graph(e);
    stack(e, weight);
    for (size_t i = 0; i < N; i++) {
        double score = (double)e->x[i] + (double)e->x[N + i] - (double)e->x[2 * N + i] + draw(e);
        e->y[i] = kind == &vxs_squared_loss ? score : score > 0 ? 1 : -1;
        e->covariates[i] = 1;
    }
    for (size_t i = 0; i < N + EDGES; i++)
        e->u[i] = i < N ? exp(draw(e)) : 1;
    e->y[0] = kind == &vxs_squared_loss ? e->y[0] : 1;
    e->y[1] = kind == &vxs_squared_loss ? e->y[1] : -1;
    WORKS(vxs_dense_new(e->x, N, P, 1, &e->design, &err), err);
    e->problem = (vxs_problem){ .design = e->design,
                                .loss = { kind, N, 1, e->y, number % 2 ? e->u : NULL },
                                .covariates = e->covariates,
                                .covariate_count = number / 2 % 2,
                                .quadratic = { &vxs_laplacian, weight, &e->graph },
                                .nonnegative = number % 7 == 3 };
}

static void release(example *e)
{
    vxs_design_free(e->design);
    vxs_design_free(e->stacked);
    vxs_graph_release(&e->graph);
}

static vxs_solution solve(const vxs_problem *problem, int method, int screen, int inner,
                          double lambda, double ratio)
{
    vxs_error err = VXS_ERROR_INIT;
    vxs_solver *solver = NULL;
    vxs_solution fit;
    vxs_method_settings settings = { .tol = 1e-9, .saif.screen = screen, .saif.inner = inner };
    WORKS(vxs_solver_new(NULL, &vxs_methods[method], problem, &settings, &solver, &err), err);
    if (ratio > 0)
        lambda = ratio * vxs_solver_lambda_max(solver);
    WORKS(vxs_solver_fit(solver, lambda, &fit, &err), err);
    vxs_solver_free(solver);
    return fit;
}

/* Of the squared loss it is a lasso on stacked rows. */
Test(graphnet, a_lasso_on_stacked_rows)
{
    for (uint64_t number = 0; number < 120; number++) {
        example e;
        make(&e, number, &vxs_squared_loss);
        vxs_problem stacked = e.problem;
        stacked.design = e.stacked;
        stacked.loss.n = N + EDGES;
        stacked.quadratic.kind = NULL;
        stacked.quadratic.weight = 0;
        if (e.problem.loss.u == NULL)
            stacked.loss.u = NULL;
        for (double ratio = 0.6; ratio > 0.02; ratio /= 4) {
            vxs_solution a = solve(&e.problem, VXS_METHOD_GRAPHNET, 0, 0, 0, ratio);
            vxs_solution b = solve(&stacked, VXS_METHOD_LASSO, 0, 0, a.certificate.lambda, 0);
            cr_assert(a.certificate.converged && b.certificate.converged, "%d at %g: gaps %g %g",
                      (int)number, ratio, a.certificate.gap, b.certificate.gap);
            cr_assert(fabs(a.certificate.primal - b.certificate.primal) <=
                          1e-8 * (1e-3 + b.certificate.primal),
                      "%d at %g: %.12g, %.12g", (int)number, ratio, a.certificate.primal,
                      b.certificate.primal);
            vxs_solution_release(&a);
            vxs_solution_release(&b);
        }
        release(&e);
    }
}

/* Whatever keeps features out and solves the working set, and for every loss: the certificate is
 * the checker's, and the value the same. */
Test(graphnet, certificates_are_confirmed_and_screens_agree)
{
    static const vxs_loss_kind *const kinds[] = { &vxs_squared_loss, &vxs_logistic_loss,
                                                  &vxs_squared_hinge_loss };
    static const int screens[] = { VXS_SCREEN_SAIF, VXS_SCREEN_NONE, VXS_SCREEN_DYNAMIC,
                                   VXS_SCREEN_STRONG };
    for (uint64_t number = 0; number < 90; number++) {
        example e;
        double value = NAN;
        make(&e, number, kinds[number % 3]);
        for (size_t way = 0; way < 8; way++) {
            vxs_error err = VXS_ERROR_INIT;
            vxs_certificate found;
            vxs_solution s = solve(&e.problem, VXS_METHOD_GRAPHNET, screens[way % 4],
                                   way / 4 ? VXS_INNER_DESCENT : VXS_INNER_EXACT, 0, 0.2);
            WORKS(vxs_check_solution(&e.problem, &s, &found, &err), err);
            cr_assert(s.certificate.converged && found.gap <= 2e-9, "%d by %d: %g, checked %g",
                      (int)number, (int)way, s.certificate.gap, found.gap);
            cr_assert(fabs(found.primal - s.certificate.primal) <= 1e-9 * (1 + found.primal));
            cr_assert(isnan(value) || fabs(value - found.primal) <= 1e-7 * (1 + value),
                      "%d by %d: %.12g, %.12g", (int)number, (int)way, value, found.primal);
            value = found.primal;
            vxs_solution_release(&s);
        }
        release(&e);
    }
}

/* A larger weight makes neighbors more alike. */
Test(graphnet, neighbors_become_alike)
{
    example e;
    make(&e, 4, &vxs_squared_loss);
    double lambda = 0.5, apart[3];
    for (int k = 0; k < 3; k++) {
        double w[P] = { 0 };
        e.problem.quadratic.weight = (k == 0 ? 0 : pow(100, k - 1)) * N;
        vxs_solution s = solve(&e.problem, VXS_METHOD_GRAPHNET, 0, 0, lambda, 0);
        for (size_t j = 0; j < s.count; j++)
            w[s.index[j]] = s.weight[j];
        apart[k] = 0;
        for (size_t j = 0; j < EDGES; j++)
            apart[k] += e.graph.weight[j] * pow(w[e.graph.from[j]] - w[e.graph.to[j]], 2);
        vxs_solution_release(&s);
    }
    cr_assert(apart[0] > apart[1] && apart[1] > 10 * apart[2], "%g %g %g", apart[0], apart[1],
              apart[2]);
    release(&e);
}

static example shared;

static vxs_status begin_and_fit(vxs_error *err)
{
    vxs_solver *solver = NULL;
    vxs_solution fit = { .count = 0 };
    vxs_method_settings settings = { .tol = 1e-9 };
    vxs_status status = vxs_solver_new(NULL, &vxs_methods[VXS_METHOD_GRAPHNET], &shared.problem,
                                       &settings, &solver, err);
    if (!status)
        status = vxs_solver_fit(solver, vxs_solver_lambda_max(solver) / 5, &fit, err);
    vxs_solution_release(&fit);
    vxs_solver_free(solver);
    return status;
}

Test(graphnet, runs_out_of_memory_cleanly)
{
    make(&shared, 3, &vxs_logistic_loss);
    vxs_error err = VXS_ERROR_INIT;
    WORKS(vxs_design_measure(shared.design, &err), err);
    cr_assert(fail_each_request(begin_and_fit) > 30);
    release(&shared);
}
