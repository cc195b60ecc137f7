/* Thousands of random problems: the checker confirms every certificate, and all ways agree. */
#include "tests/solver/problems.h"

static example make(uint64_t number)
{
    return random_problem(&(problem_recipe){ .seed = 5,
                                             .fewest = 1,
                                             .classes = number % 2 ? &vxs_logistic_loss : NULL,
                                             .covariate_counts = { 0, 1, 2, 3 } },
                          number);
}

/* The same with a random forest: chains, stars and anything between, in one piece or a few. */
static example make_on_forest(uint64_t number, vxs_graph *graph, vxs_fused *fused)
{
    vxs_random random = { .seed = 6, .stream = number };
    vxs_error err = VXS_ERROR_INIT;
    example e = make(number);
    size_t edges = 0, roots = 1 + vxs_random_below(&random, 0, 3);
    uint64_t shape = vxs_random_below(&random, 1, 4), at = 2;
    WORKS(vxs_graph_new(e.p, e.p, graph, &err), err);
    for (size_t k = roots; k < e.p; k++) {
        size_t near = k - roots, any = vxs_random_below(&random, at++, k);
        graph->from[edges] = k;
        graph->to[edges] = shape == 0 ? near : shape == 1 ? k % roots : any;
        graph->weight[edges++] = vxs_random_below(&random, at++, 2) ? 1 : 0.3 + (double)(k % 3);
    }
    graph->count = edges;
    *fused = vxs_fused_on(graph, 0);
    e.problem.penalty = &fused->penalty;
    e.problem.quadratic.weight = 0;
    e.problem.nonnegative = false;
    return e;
}

/* Whether the levels leave something to tell apart. */
static bool is_possible(const example *e)
{
    const vxs_graph *g = vxs_as_fused(e->problem.penalty)->graph;
    return g->count > 0 && g->nodes - g->count + e->problem.covariate_count < e->n;
}

/* The certificate holds when somebody else computes it. */
static void confirm(const example *e, const vxs_solution *s, uint64_t number, size_t way)
{
    vxs_error err = VXS_ERROR_INIT;
    vxs_certificate again;
    const vxs_certificate *c = &s->certificate;
    WORKS(vxs_check_solution(&e->problem, s, &again, &err), err);
    double size = fabs(again.primal) + 1e-300;
    cr_assert(c->converged && again.converged,
              "problem %d, way %zu, lambda %g of %g: gap %g, checked %g", (int)number, way,
              c->lambda, c->lambda_max, c->gap, again.gap);
    cr_assert(fabs(c->primal - again.primal) <= 1e-9 * size, "problem %d: primal %.17g, %.17g",
              (int)number, c->primal, again.primal);
    cr_assert(again.gap >= -1e-9, "problem %d, lambda %g of %g: the gap is %g, primal %g",
              (int)number, c->lambda, c->lambda_max, again.gap, again.primal);
    cr_assert(fabs(c->lambda_max - again.lambda_max) <= 1e-8 * again.lambda_max,
              "problem %d: lambda_max %.17g, %.17g", (int)number, c->lambda_max, again.lambda_max);
}

/* Every way to keep features out, and both inner solvers, one path each: the same objective,
 * certified. Only the strong rule may miss features. */
static const struct {
    int screen, inner;
} ways[] = {
    { VXS_SCREEN_SAIF, VXS_INNER_AUTO },    { VXS_SCREEN_SAIF, VXS_INNER_DESCENT },
    { VXS_SCREEN_NONE, VXS_INNER_EXACT },   { VXS_SCREEN_DYNAMIC, VXS_INNER_EXACT },
    { VXS_SCREEN_DYNAMIC, VXS_INNER_AUTO }, { VXS_SCREEN_DPP, VXS_INNER_EXACT },
    { VXS_SCREEN_STRONG, VXS_INNER_EXACT }, { VXS_SCREEN_VI, VXS_INNER_AUTO },
};
enum { WAYS = sizeof(ways) / sizeof(ways[0]) };
static const double ratios[] = { 1.5, 1, 0.9, 0.5, 0.1, 0.02, 0.001 };
enum { RATIOS = sizeof(ratios) / sizeof(ratios[0]) };

static bool can(const example *e, size_t way)
{
    const vxs_problem *p = &e->problem;
    if (ways[way].screen == VXS_SCREEN_DPP)
        return p->loss.kind->squared && !p->loss.u && p->quadratic.weight == 0 && !p->nonnegative;
    return ways[way].screen != VXS_SCREEN_VI || p->loss.kind->squared;
}

/* Descent alone is slow where lambda is small: it is not asked for that. */
static bool is_slow(size_t way, size_t k)
{
    return ways[way].inner == VXS_INNER_DESCENT && ratios[k] < 0.5;
}

static void solve_one_way(const example *e, uint64_t number, size_t way, double primals[RATIOS],
                          size_t *missed)
{
    vxs_error err = VXS_ERROR_INIT;
    vxs_method_settings settings = { .saif.screen = ways[way].screen,
                                     .saif.inner = ways[way].inner,
                                     .tol = 1e-9 };
    const vxs_fused *fused = vxs_as_fused(e->problem.penalty);
    const vxs_graph *g = fused ? fused->graph : NULL;
    vxs_solver *solver;
    WORKS(vxs_solver_new(NULL, &vxs_methods[g ? VXS_METHOD_FUSED : VXS_METHOD_LASSO], &e->problem,
                         &settings, &solver, &err),
          err);
    double most = vxs_solver_lambda_max(solver);
    for (size_t k = 0; k < RATIOS && most > 1e-4; k++) {
        vxs_solution s;
        if (is_slow(way, k))
            continue;
        WORKS(vxs_solver_fit(solver, ratios[k] * most, &s, &err), err);
        confirm(e, &s, number, way);
        bool empty = g ? s.certificate.fused_regions == g->nodes - g->count : s.count == 0;
        cr_assert(ratios[k] < 1 || empty, "problem %d, way %zu: not empty at %g of lambda_max",
                  (int)number, way, ratios[k]);
        if (way == 0)
            primals[k] = s.certificate.primal;
        cr_assert(fabs(s.certificate.primal - primals[k]) <= 1e-8 * primals[0],
                  "problem %d, way %zu, ratio %g: %.15g, not %.15g", (int)number, way, ratios[k],
                  s.certificate.primal, primals[k]);
        *missed += s.certificate.missed;
        cr_assert(ways[way].screen == VXS_SCREEN_STRONG || s.certificate.missed == 0,
                  "problem %d: way %zu is not safe", (int)number, way);
        vxs_solution_release(&s);
    }
    vxs_solver_free(solver);
}

Test(lasso, all_ways_agree_and_certificates_hold)
{
    size_t missed = 0;
    for (uint64_t number = 0; number < 2000; number++) {
        example e = make(number);
        double primals[RATIOS];
        for (size_t way = 0; way < WAYS; way++)
            if (can(&e, way))
                solve_one_way(&e, number, way, primals, &missed);
        release_problem(&e);
    }
    cr_assert(missed > 0, "the strong rule never failed: these problems are too easy");
}

Test(lasso, fused_on_forests_is_certified_too)
{
    size_t missed = 0, solved = 0;
    for (uint64_t number = 0; number < 2000; number++) {
        vxs_graph graph;
        vxs_fused fused;
        example e = make_on_forest(number, &graph, &fused);
        double primals[RATIOS];
        for (size_t way = 0; way < WAYS && is_possible(&e); way++)
            if (can(&e, way) && ways[way].inner != VXS_INNER_DESCENT) {
                solve_one_way(&e, number, way, primals, &missed);
                solved++;
            }
        vxs_graph_release(&graph);
        release_problem(&e);
    }
    cr_assert(solved > 5000 && missed > 0, "%zu paths, %zu missed", solved, missed);
}

/* The names that an option takes are those of the table's rows. */
Test(lasso, methods_have_their_names)
{
    size_t count = 0;
    for (; vxs_methods[count].name; count++)
        cr_assert_str_eq(vxs_methods[count].name, vxs_method_names[count]);
    cr_assert(!vxs_method_names[count]);
}
