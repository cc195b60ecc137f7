/* Penalties and quadratics as objects: they are gauges, one is another one in other words, and the
 * value of a problem at its solution is the one that the certificate has. */
#include "tests/core/check.h"

#include <math.h>

enum { N = 24, P = 14, CLASSES = 3 };

typedef struct {
    vxs_random random;
    uint64_t at;
    float x[N * P];
    double y[N], u[N], covariates[2 * N];
    vxs_design *design;
    vxs_graph graph;
    vxs_analysis edges, trend; /* the first are the graph's */
    vxs_fused fused;
    vxs_generalized by_edges, by_trend;
} example;

static double draw(example *e)
{
    return vxs_random_normal(&e->random, e->at++);
}

static void make(example *e, uint64_t number)
{
    vxs_error err = VXS_ERROR_INIT;
    *e = (example){ .random = { .seed = 300 + number } };
    for (size_t k = 0; k < N * P; k++)
        e->x[k] = (float)draw(e);
    for (size_t i = 0; i < N; i++) {
        e->covariates[i] = 1;
        e->covariates[N + i] = draw(e);
        e->u[i] = exp(draw(e) / 2);
    }
    WORKS(vxs_graph_new(P, P, &e->graph, &err), err);
    for (size_t k = 0; k < P; k++) {
        e->graph.from[k] = k;
        e->graph.to[k] = (k * k + 1) % P == k ? (k + 2) % P : (k * k + 1) % P;
        e->graph.weight[k] = exp(draw(e));
    }
    e->fused = vxs_fused_on(&e->graph, number % 2 ? 0.5 : 0);
    WORKS(vxs_dense_new(e->x, N, P, 1, &e->design, &err), err);
    WORKS(vxs_analysis_edges(&e->graph, e->fused.sparsity, &e->edges, &err), err);
    WORKS(vxs_analysis_trend(P, &e->trend, &err), err);
    e->by_edges = vxs_generalized_of(&e->edges);
    e->by_trend = vxs_generalized_of(&e->trend);
}

static void release(example *e)
{
    vxs_design_free(e->design);
    vxs_graph_release(&e->graph);
    vxs_analysis_release(&e->edges);
    vxs_analysis_release(&e->trend);
}

static double value(const vxs_penalty *penalty, const double *w)
{
    return vxs_penalty_kind_of(penalty)->value(penalty, w, P);
}

Test(penalties, are_gauges)
{
    for (uint64_t number = 0; number < 100; number++) {
        example e;
        make(&e, number);
        const vxs_penalty *const all[] = { NULL, &e.fused.penalty, &e.by_edges.penalty,
                                           &e.by_trend.penalty };
        for (size_t k = 0; k < 4; k++) {
            double a[P], b[P], sum[P], back[P], zero[P] = { 0 };
            for (size_t j = 0; j < P; j++) {
                a[j] = draw(&e);
                b[j] = draw(&e);
                sum[j] = a[j] + b[j];
                back[j] = -2 * a[j];
            }
            cr_assert(value(all[k], zero) == 0);
            cr_assert(value(all[k], a) > 0);
            cr_assert(fabs(value(all[k], back) - 2 * value(all[k], a)) <= 1e-12);
            cr_assert(value(all[k], sum) <= value(all[k], a) + value(all[k], b) + 1e-12);
        }
        release(&e);
    }
}

/* A fused penalty is the generalized one whose terms are the edges, and the weights. */
Test(penalties, a_fused_one_is_a_generalized_one)
{
    for (uint64_t number = 0; number < 100; number++) {
        example e;
        double w[P];
        make(&e, number);
        for (size_t j = 0; j < P; j++)
            w[j] = draw(&e);
        double a = value(&e.fused.penalty, w), b = value(&e.by_edges.penalty, w);
        cr_assert(fabs(a - b) <= 1e-12 * a, "%d: %.15g, %.15g", (int)number, a, b);
        release(&e);
    }
}

/* w'Hw / 2: along any line a parabola, and the parallelogram law. */
Test(penalties, quadratics_are_quadratic)
{
    for (uint64_t number = 0; number < 100; number++) {
        example e;
        make(&e, number);
        const vxs_quadratic all[] = { { &vxs_ridge, 0.7, NULL },
                                      { &vxs_laplacian, 1.3, &e.graph } };
        for (size_t k = 0; k < 2; k++) {
            double a[P], b[P], sum[P], less[P], ones[P];
            for (size_t j = 0; j < P; j++) {
                a[j] = draw(&e);
                b[j] = draw(&e);
                sum[j] = a[j] + b[j];
                less[j] = a[j] - b[j];
                ones[j] = 1;
            }
            const vxs_quadratic_kind *q = all[k].kind;
            double both = q->value(&all[k], sum, P) + q->value(&all[k], less, P);
            double each = q->value(&all[k], a, P) + q->value(&all[k], b, P);
            cr_assert(fabs(both - 2 * each) <= 1e-12 * both);
            cr_assert(fabs(q->value(&all[k], ones, P) - (k == 0 ? 0.7 * P / 2 : 0)) <= 1e-12);
        }
        release(&e);
    }
}

/* ---- Of problems ----------------------------------------------------------------------------- */

static void compare(example *e, vxs_problem *problem, int method, uint64_t number)
{
    vxs_error err = VXS_ERROR_INIT;
    vxs_solver *solver = NULL;
    vxs_solution s;
    double w[CLASSES * P] = { 0 }, found = 0;
    vxs_method_settings settings = { .tol = 1e-6 };
    bool classes = problem->loss.kind != &vxs_squared_loss;
    size_t outputs = vxs_loss_outputs(&problem->loss);
    for (size_t i = 0; i < N; i++) {
        double score = (double)e->x[i] - (double)e->x[N + i] + draw(e);
        e->y[i] = outputs > 1 ? (double)(i % CLASSES) : classes ? (score > 0 ? 1 : -1) : score;
    }
    WORKS(vxs_solver_new(NULL, &vxs_methods[method], problem, &settings, &solver, &err), err);
    WORKS(vxs_solver_fit(solver, 0.2 * vxs_solver_lambda_max(solver), &s, &err), err);
    for (size_t k = 0; k < s.count; k++)
        w[s.index[k]] = s.weight[k];
    WORKS(vxs_problem_value(problem, s.certificate.lambda, w, s.covariate_coefficients, &found,
                            &err),
          err);
    cr_assert(fabs(found - s.certificate.primal) <= 1e-9 * found, "%d by %s: %.15g, %.15g",
              (int)number, vxs_methods[method].name, found, s.certificate.primal);
    if (s.count > 0) { /* and anywhere else it is no less, but for the gap */
        double other = 0;
        w[s.index[0]] *= 1.1;
        WORKS(vxs_problem_value(problem, s.certificate.lambda, w, s.covariate_coefficients, &other,
                                &err),
              err);
        cr_assert(other >= s.certificate.dual);
    }
    vxs_solution_release(&s);
    vxs_solver_free(solver);
}

Test(penalties, the_value_at_a_solution_is_that_of_the_certificate)
{
    for (uint64_t number = 0; number < 30; number++) {
        example e;
        make(&e, number);
        const vxs_problem plain = { .design = e.design,
                                    .loss = { number % 3 ? &vxs_squared_loss : &vxs_logistic_loss,
                                              N, 1, e.y, number % 5 ? NULL : e.u },
                                    .covariates = e.covariates,
                                    .covariate_count = number % 4 ? 2 : 1 };
        vxs_problem ridge = plain, net = plain, fused = plain, trend = plain, classes = plain;
        ridge.quadratic = (vxs_quadratic){ &vxs_ridge, 0.7, NULL };
        net.quadratic = (vxs_quadratic){ &vxs_laplacian, 1.3, &e.graph };
        fused.penalty = &e.fused.penalty;
        trend.penalty = &e.by_trend.penalty;
        classes.penalty = &e.fused.penalty;
        classes.loss.kind = &vxs_multinomial_loss;
        classes.loss.k = CLASSES;
        compare(&e, &ridge, VXS_METHOD_LASSO, number);
        compare(&e, &net, VXS_METHOD_GRAPHNET, number);
        compare(&e, &fused, VXS_METHOD_FUSED, number);
        compare(&e, &trend, VXS_METHOD_FUSED, number);
        compare(&e, &classes, VXS_METHOD_FUSED, number);
        release(&e);
    }
}

Test(penalties, what_is_no_sum_has_no_value)
{
    vxs_error err = VXS_ERROR_INIT;
    example e;
    double w[P] = { 0 }, found = 0;
    make(&e, 1);
    for (size_t i = 0; i < N; i++)
        e.y[i] = 1;
    vxs_problem problem = { .design = e.design,
                            .loss = { &vxs_hinge_loss, N, 1, e.y, NULL },
                            .quadratic = { &vxs_relative_laplacian, 1, &e.graph },
                            .nonnegative = true };
    REFUSES(vxs_problem_value(&problem, 1, w, NULL, &found, &err), err, VXS_MISUSE,
            "a relative Laplacian has no value");
    vxs_budget budget = { .penalty = { &vxs_budget_penalty }, .budget = 2, .cost = 1 };
    WORKS(vxs_blocks_new(NULL, e.design, &(vxs_feature_map){ .kind = VXS_FEATURE_MAP_NONE },
                         &budget.blocks, &err),
          err);
    problem = (vxs_problem){ .design = e.design,
                             .loss = { &vxs_logistic_loss, N, 1, e.y, NULL },
                             .penalty = &budget.penalty };
    REFUSES(vxs_problem_value(&problem, 1, w, NULL, &found, &err), err, VXS_MISUSE,
            "a budget of feature blocks has no value");
    vxs_blocks_free(budget.blocks);
    release(&e);
}
