/* Newton steps of graph-net on large supports: the direction against a dense system, and whole
 * solutions whose supports are too large for exact steps. */
#include "solver/saif/newton.h"
#include "solver/saif/working_set.h"
#include "tests/core/check.h"
#include "tests/core/faults.h"
#include "voxsift/internal/machine.h"
#include "voxsift/verify.h"

#include <math.h>

/* ---- The direction --------------------------------------------------------------------------- */

enum { ROWS = 12, FEATURES = 40, COVARIATES = 3, PAIRS = 60, MOST = COVARIATES + FEATURES };

typedef struct {
    vxs_random random;
    uint64_t at;
    double x[ROWS * MOST], curvature[ROWS];
    vxs_graph graph;
    vxs_laplacian_matrix laplacian;
    size_t column[FEATURES], feature[FEATURES], q, count;
} system_example;

static double draw_of(system_example *e)
{
    return vxs_random_normal(&e->random, e->at++);
}

/* Numbers divisible by 3 have edges among the first half alone, whose features are all in the
 * support: no neighbor is outside of it and L_SS is singular. The last features have no edges. */
static void make_system(system_example *e, uint64_t number)
{
    vxs_error err = VXS_ERROR_INIT;
    *e = (system_example){ .random = { .seed = 5100 + number } };
    e->q = number % (COVARIATES + 1);
    WORKS(vxs_graph_new(FEATURES, PAIRS, &e->graph, &err), err);
    for (size_t k = 0; k < PAIRS; k++) {
        size_t among = number % 3 == 0 ? FEATURES / 2 : FEATURES - 4;
        e->graph.from[k] = k % among;
        e->graph.to[k] = (k % among + 1 + k / among) % among;
        e->graph.weight[k] = exp(3 * draw_of(e));
    }
    vxs_quadratic quadratic = { &vxs_laplacian, pow(10, (double)(number % 5) - 1), &e->graph };
    WORKS(vxs_laplacian_init(&quadratic, FEATURES, &e->laplacian, &err), err);
    for (size_t k = 0; k < ROWS * MOST; k++)
        e->x[k] = draw_of(e);
    for (size_t i = 0; i < ROWS && e->q == 3; i++) /* depends on the first two */
        e->x[2 * ROWS + i] = e->x[i] - 2 * e->x[ROWS + i];
    for (size_t i = 0; i < ROWS; i++)
        e->curvature[i] = number % 4 == 1 && i % 3 == 0 ? 0 : exp(draw_of(e));
}

static void choose_support(system_example *e, uint64_t round)
{
    e->count = 0;
    for (size_t j = 0; j < FEATURES - 3; j++) {
        bool in = j < FEATURES / 2 || draw_of(e) > 0.2 * (double)round;
        if (!in)
            continue;
        e->feature[e->count] = FEATURES / 2 > j ? FEATURES / 2 - 1 - j : j; /* in some order */
        e->column[e->count] = e->q + e->feature[e->count];
        e->count++;
    }
}

/* The largest part of `down` that the direction leaves, as a share of the largest product. */
static double left_of_system(system_example *e, const double *down, const double *direction)
{
    double z[ROWS] = { 0 }, w[FEATURES] = { 0 }, pull[FEATURES], worst = 0, largest = 0;
    for (size_t c = 0; c < e->q + e->count; c++) {
        size_t k = c < e->q ? c : e->column[c - e->q];
        for (size_t i = 0; i < ROWS; i++)
            z[i] += e->x[k * ROWS + i] * direction[c];
    }
    memcpy(w, direction + e->q, e->count * sizeof(*w));
    vxs_laplacian_times(&e->laplacian, e->feature, e->count, w, pull);
    for (size_t c = 0; c < e->q + e->count; c++) {
        size_t k = c < e->q ? c : e->column[c - e->q];
        double sum = c < e->q ? 0 : pull[c - e->q];
        for (size_t i = 0; i < ROWS; i++)
            sum += e->curvature[i] * e->x[k * ROWS + i] * z[i];
        worst = fmax(worst, fabs(sum - down[c]));
        largest = fmax(largest, fabs(down[c]));
    }
    return worst / largest;
}

Test(newton, the_direction_solves_the_system)
{
    size_t singular = 0;
    for (uint64_t number = 0; number < 240; number++) {
        system_example e;
        vxs_newton newton = { .count = 0 };
        make_system(&e, number);
        for (uint64_t round = 0; round < 4; round++) {
            vxs_error err = VXS_ERROR_INIT;
            double down[MOST] = { 0 }, direction[MOST], truth[MOST], z[ROWS] = { 0 };
            choose_support(&e, round);
            vxs_newton_system s = { .laplacian = &e.laplacian,
                                    .n = ROWS,
                                    .q = e.q,
                                    .x = e.x,
                                    .curvature = e.curvature,
                                    .count = e.count,
                                    .column = e.column,
                                    .feature = e.feature };
            /* a right side that a singular system has as well: H times something */
            for (size_t c = 0; c < e.q + e.count; c++) {
                size_t k = c < e.q ? c : e.column[c - e.q];
                truth[c] = draw_of(&e);
                for (size_t i = 0; i < ROWS; i++)
                    z[i] += e.x[k * ROWS + i] * truth[c];
            }
            vxs_laplacian_times(&e.laplacian, e.feature, e.count, truth + e.q, down + e.q);
            for (size_t c = 0; c < e.q + e.count; c++)
                for (size_t i = 0; i < ROWS; i++)
                    down[c] +=
                        e.curvature[i] * z[i] * e.x[(c < e.q ? c : e.column[c - e.q]) * ROWS + i];
            WORKS(vxs_newton_direction(&newton, &s, down, direction, &err), err);
            double left = left_of_system(&e, down, direction);
            cr_assert(left < 1e-3, "system %d, round %d: %g is left", (int)number, (int)round,
                      left);
            singular += number % 3 == 0;
        }
        vxs_newton_release(&newton);
        vxs_laplacian_release(&e.laplacian);
        vxs_graph_release(&e.graph);
    }
    cr_assert(singular > 200);
}

/* ---- Whole problems -------------------------------------------------------------------------- */

enum { SIDE = 9, N = 20, P = SIDE * SIDE * (SIDE + 1), EDGES = 3 * P, Q = 3 };

typedef struct {
    vxs_random random;
    uint64_t at;
    float *x, *stacked_x;
    double y[N + EDGES], u[N + EDGES], covariates[Q * N];
    double stacked_covariates[Q * (N + EDGES)];
    size_t edges;
    vxs_graph graph;
    vxs_design *design, *stacked;
    vxs_problem problem;
} example;

static double draw(example *e)
{
    return vxs_random_normal(&e->random, e->at++);
}

/* A grid of which some edges are missing, so that it has components of its own and features without
 * a neighbor. */
static void make_graph(example *e, double missing)
{
    vxs_error err = VXS_ERROR_INIT;
    static const size_t steps[] = { 1, SIDE, SIDE * SIDE };
    WORKS(vxs_graph_new(P, EDGES, &e->graph, &err), err);
    for (size_t j = 0; j < P; j++)
        for (size_t d = 0; d < 3; d++) {
            bool last = d < 2 ? j / steps[d] % SIDE == SIDE - 1 : j + steps[d] >= P;
            bool out = draw(e) < missing;
            if (last || out)
                continue;
            e->graph.from[e->edges] = j;
            e->graph.to[e->edges] = j + steps[d];
            e->graph.weight[e->edges++] = (double)(float)exp(draw(e));
        }
    e->graph.count = e->edges;
}

static void make_target(example *e, uint64_t number, const vxs_loss_kind *kind)
{
    bool classes = kind == &vxs_logistic_loss || kind == &vxs_squared_hinge_loss;
    for (size_t i = 0; i < N; i++) {
        double score = draw(e);
        for (size_t j = 0; j < P / 2; j++)
            score += (double)e->x[j * N + i] / 15;
        e->y[i] = !classes ? score : score > 0 ? 1 : -1;
        e->covariates[i] = 1;
        e->covariates[N + i] = draw(e);
        e->covariates[2 * N + i] = 3 - e->covariates[N + i]; /* depends on both */
        e->u[i] = i == 5 && number % 4 == 3 ? 0 : exp(draw(e));
    }
    e->y[0] = classes ? 1 : e->y[0];
    e->y[1] = classes ? -1 : e->y[1];
}

static void make(example *e, uint64_t number, const vxs_loss_kind *kind)
{
    vxs_error err = VXS_ERROR_INIT;
    double weight = N * pow(10, (double)(number % 6) - 1);
    *e = (example){ .random = { .seed = 7000 + number } };
    e->x = malloc(N * P * sizeof(*e->x));
    for (size_t k = 0; k < N * P; k++)
        e->x[k] = (float)draw(e);
    make_graph(e, (double)(number % 3) - 3);
    make_target(e, number, kind);
    WORKS(vxs_dense_new(e->x, N, P, 1, &e->design, &err), err);
    e->problem = (vxs_problem){ .design = e->design,
                                .loss = { .kind = kind,
                                          .n = N,
                                          .k = 1,
                                          .y = e->y,
                                          .u = number % 2 ? e->u : NULL,
                                          .threshold = kind == &vxs_huber_loss ? 0.7 : 0 },
                                .covariates = e->covariates,
                                .covariate_count = number / 2 % (Q + 1),
                                .quadratic = { &vxs_laplacian, weight, &e->graph },
                                .nonnegative = number % 7 == 3 };
}

/* Rows sqrt(weight) (e_from - e_to) below X make the Laplacian a part of the squared loss. */
static vxs_problem stack(example *e)
{
    vxs_error err = VXS_ERROR_INIT;
    size_t rows = N + e->edges;
    vxs_problem problem = e->problem;
    e->stacked_x = calloc(rows * P, sizeof(*e->stacked_x));
    for (size_t j = 0; j < P; j++)
        memcpy(e->stacked_x + j * rows, e->x + j * N, N * sizeof(float));
    for (size_t k = 0; k < e->edges; k++) {
        float root = (float)sqrt(e->problem.quadratic.weight * e->graph.weight[k]);
        e->graph.weight[k] = (double)root * (double)root / e->problem.quadratic.weight;
        e->stacked_x[e->graph.from[k] * rows + N + k] = root;
        e->stacked_x[e->graph.to[k] * rows + N + k] = -root;
    }
    memset(e->stacked_covariates, 0, sizeof(e->stacked_covariates));
    for (size_t c = 0; c < Q; c++)
        memcpy(e->stacked_covariates + c * rows, e->covariates + c * N, N * sizeof(double));
    for (size_t k = 0; k < e->edges; k++) {
        e->y[N + k] = 0;
        e->u[N + k] = 1;
    }
    WORKS(vxs_dense_new(e->stacked_x, rows, P, 1, &e->stacked, &err), err);
    problem.design = e->stacked;
    problem.loss.n = rows;
    problem.covariates = e->stacked_covariates;
    problem.quadratic = (vxs_quadratic){ .kind = NULL };
    return problem;
}

static void release(example *e)
{
    vxs_design_free(e->design);
    vxs_design_free(e->stacked);
    vxs_graph_release(&e->graph);
    free(e->x);
    free(e->stacked_x);
}

static vxs_solver *solver_of(const vxs_problem *problem, int method, double tol)
{
    vxs_error err = VXS_ERROR_INIT;
    vxs_solver *solver = NULL;
    vxs_method_settings settings = { .tol = tol };
    WORKS(vxs_solver_new(NULL, &vxs_methods[method], problem, &settings, &solver, &err), err);
    return solver;
}

/* Along a short path, so that factors are made anew and used again. */
Test(newton, certificates_of_large_supports_are_confirmed, .timeout = 600)
{
    static const vxs_loss_kind *const kinds[] = { &vxs_squared_loss, &vxs_logistic_loss,
                                                  &vxs_squared_hinge_loss, &vxs_huber_loss };
    size_t large[4] = { 0 }, whole = 0, nonnegative = 0;
    for (uint64_t number = 0; number < 168; number++) {
        static const double ratios[] = { 0.2, 0.05, 0.04, 0.01 };
        static example e;
        make(&e, number, kinds[number / 6 % 4]);
        vxs_solver *solver = solver_of(&e.problem, VXS_METHOD_GRAPHNET, 1e-9);
        for (size_t k = 0; k < 4; k++) {
            vxs_error err = VXS_ERROR_INIT;
            vxs_certificate found;
            vxs_solution s;
            WORKS(vxs_solver_fit(solver, ratios[k] * vxs_solver_lambda_max(solver), &s, &err), err);
            WORKS(vxs_check_solution(&e.problem, &s, &found, &err), err);
            cr_assert(s.certificate.converged && found.gap <= 2e-9, "%d at %g: %g, checked %g",
                      (int)number, ratios[k], s.certificate.gap, found.gap);
            cr_assert(fabs(found.primal - s.certificate.primal) <= 1e-9 * (1 + found.primal));
            large[number / 6 % 4] += s.count > VXS_PROJECTED;
            nonnegative += s.count > VXS_PROJECTED && e.problem.nonnegative;
            whole += s.count == P;
            vxs_solution_release(&s);
        }
        vxs_solver_free(solver);
        release(&e);
    }
    cr_assert(large[0] > 50 && large[1] > 50 && large[2] > 50 && large[3] > 50 && nonnegative > 10,
              "%zu %zu %zu %zu are large, %zu whole, %zu nonnegative", large[0], large[1], large[2],
              large[3], whole, nonnegative);
}

Test(newton, large_supports_are_those_of_a_lasso_on_stacked_rows, .timeout = 600)
{
    size_t large = 0;
    for (uint64_t number = 0; number < 14; number++) {
        vxs_error err = VXS_ERROR_INIT;
        static example e;
        vxs_solution a, b;
        make(&e, number, &vxs_squared_loss);
        vxs_problem stacked = stack(&e);
        vxs_solver *one = solver_of(&e.problem, VXS_METHOD_GRAPHNET, 1e-9);
        vxs_solver *other = solver_of(&stacked, VXS_METHOD_LASSO, 1e-9);
        double lambda = 0.02 * vxs_solver_lambda_max(one);
        WORKS(vxs_solver_fit(one, lambda, &a, &err), err);
        WORKS(vxs_solver_fit(other, lambda, &b, &err), err);
        cr_assert(a.certificate.converged && b.certificate.converged);
        cr_assert(fabs(a.certificate.primal - b.certificate.primal) <=
                      1e-8 * (1e-3 + b.certificate.primal),
                  "%d: %.12g, %.12g", (int)number, a.certificate.primal, b.certificate.primal);
        large += a.count > VXS_PROJECTED;
        vxs_solution_release(&a);
        vxs_solution_release(&b);
        vxs_solver_free(one);
        vxs_solver_free(other);
        release(&e);
    }
    cr_assert(large >= 6, "%zu are large", large);
}

static example shared;

static vxs_status begin_and_fit(vxs_error *err)
{
    vxs_solver *solver = NULL;
    vxs_solution fit = { .count = 0 };
    vxs_method_settings settings = { .tol = 1e-3 };
    vxs_status status = vxs_solver_new(NULL, &vxs_methods[VXS_METHOD_GRAPHNET], &shared.problem,
                                       &settings, &solver, err);
    if (!status)
        status = vxs_solver_fit(solver, vxs_solver_lambda_max(solver) / 50, &fit, err);
    cr_assert(status || fit.count > VXS_PROJECTED);
    vxs_solution_release(&fit);
    vxs_solver_free(solver);
    return status;
}

Test(newton, runs_out_of_memory_cleanly, .timeout = 600)
{
    make(&shared, 4, &vxs_squared_loss);
    vxs_error err = VXS_ERROR_INIT;
    WORKS(vxs_design_measure(shared.design, &err), err);
    cr_assert(fail_each_request(begin_and_fit) > 60);
    release(&shared);
}
