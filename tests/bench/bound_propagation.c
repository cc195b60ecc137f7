/* Screening by bound propagation on the simulations of dissertation 3.3.7: random graphs of several
 * densities, features uniform on [-10, 10], two pieces of the graph with weights 1 and -1. A path
 * of 52 lambdas from lambda_max to a share of it, each solved with and without screening, which
 * must agree. Prints a line a graph. An argument is how many seeds (1). */
#include "voxsift.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { LAMBDAS = 52 };

typedef struct {
    const char *name;
    size_t n, p, edges; /* at least p - 1 make one piece, less of them trees */
    bool logistic;
    double sparsity, last; /* of lambda_max */
} setting;

typedef struct {
    double before, after, plain_before; /* terms that were screened; without sums of columns */
    double screening, solving, without, difference;
    size_t open; /* fits that did not converge */
} result;

static void *get(size_t count, size_t size)
{
    vxs_error err = VXS_ERROR_INIT;
    void *memory = vxs_alloc(count, size, &err);
    if (!memory)
        exit(1);
    return memory;
}

/* Every node with one before it, and edges of chance besides; fewer than p - 1 leave some out. */
static void draw_graph(const setting *s, const vxs_random *random, vxs_graph *g)
{
    vxs_error err = VXS_ERROR_INIT;
    uint64_t at = 0;
    if (vxs_graph_new(s->p, s->edges, g, &err))
        exit(1);
    size_t roots = s->edges < s->p - 1 ? s->p - s->edges : 1;
    for (size_t e = 0; e < s->edges; e++) {
        size_t to = e + roots;
        bool tree = to < s->p;
        g->from[e] = vxs_random_below(random, at++, tree ? to : s->p);
        g->to[e] = tree ? to : vxs_random_below(random, at++, s->p);
        if (g->from[e] == g->to[e])
            g->to[e] = (g->to[e] + 1) % s->p;
    }
}

/* A node and all within three edges. */
static void put_piece(const vxs_graph *g, size_t centre, double value, double *w)
{
    double *next = get(g->nodes, sizeof(*next));
    w[centre] = value;
    for (int ring = 0; ring < 3; ring++) {
        memcpy(next, w, g->nodes * sizeof(*next));
        for (size_t e = 0; e < g->count; e++) {
            if (w[g->from[e]] == value)
                next[g->to[e]] = value;
            if (w[g->to[e]] == value)
                next[g->from[e]] = value;
        }
        memcpy(w, next, g->nodes * sizeof(*next));
    }
    free(next);
}

static void draw_data(const setting *s, const vxs_graph *g, const vxs_random *random, float *x,
                      double *y)
{
    uint64_t at = 1U << 20;
    double *w = get(s->p, sizeof(*w));
    put_piece(g, vxs_random_below(random, at++, s->p), 1, w);
    put_piece(g, vxs_random_below(random, at++, s->p), -1, w);
    for (size_t k = 0; k < s->n * s->p; k++)
        x[k] = (float)(20 * vxs_random_uniform(random, at++) - 10);
    for (size_t i = 0; i < s->n; i++) {
        y[i] = vxs_random_normal(random, at++);
        for (size_t j = 0; j < s->p; j++)
            y[i] += w[j] * (double)x[j * s->n + i];
        y[i] = !s->logistic ? y[i] : y[i] > 0 ? 1 : -1;
    }
    free(w);
}

static void follow_path(const vxs_problem *problem, const setting *s, bool plain, result *r)
{
    vxs_error err = VXS_ERROR_INIT;
    vxs_method_settings settings = {
        .way = VXS_FUSED_BP, .tol = 1e-9, .compare = !plain, .untransformed = plain
    };
    vxs_solver *solver;
    if (vxs_solver_new(NULL, &vxs_methods[1], problem, &settings, &solver, &err))
        exit(1);
    for (int k = 1; k <= LAMBDAS; k++) {
        vxs_solution fit;
        double lambda = vxs_solver_lambda_max(solver) * pow(s->last, (double)k / LAMBDAS);
        if (vxs_solver_fit(solver, lambda, &fit, &err))
            exit(1);
        const vxs_screening *c = &fit.certificate.screening;
        double share = (double)c->before / (double)c->terms / LAMBDAS;
        r->plain_before += plain ? share : 0;
        r->before += plain ? 0 : share;
        r->after += plain ? 0 : (double)c->after / (double)c->terms / LAMBDAS;
        r->screening += plain ? 0 : c->screening;
        r->solving += plain ? 0 : c->solving;
        r->without += c->without;
        r->difference = fmax(r->difference, fabs(c->difference) / fit.certificate.primal);
        r->open += !fit.certificate.converged;
        vxs_solution_release(&fit);
    }
    vxs_solver_free(solver);
}

static void run(const setting *s, uint64_t seed)
{
    vxs_error err = VXS_ERROR_INIT;
    vxs_random random = { .seed = seed };
    vxs_graph graph;
    vxs_design *design;
    result r = { .open = 0 };
    float *x = get(s->n * s->p, sizeof(*x));
    double *y = get(s->n, sizeof(*y)), *ones = get(s->n, sizeof(*ones));
    draw_graph(s, &random, &graph);
    draw_data(s, &graph, &random, x, y);
    for (size_t i = 0; i < s->n; i++)
        ones[i] = 1;
    if (vxs_dense_new(x, s->n, s->p, 1, &design, &err))
        exit(1);
    vxs_problem problem = { .design = design,
                            .loss = s->logistic ? VXS_LOSS_LOGISTIC : VXS_LOSS_SQUARED,
                            .y = y,
                            .free = ones,
                            .free_count = 1,
                            .graph = &graph,
                            .sparsity = s->sparsity };
    follow_path(&problem, s, false, &r);
    follow_path(&problem, s, true, &r);
    printf("| %s | %zu | %.3f | %.3f | %.3f | %.2f | %.2f | %.2f | %.1e%s |\n", s->name, s->edges,
           r.plain_before, r.before, r.after, r.screening, r.solving, r.without, r.difference,
           r.open ? ", NOT CONVERGED" : "");
    fflush(stdout);
    vxs_design_free(design);
    vxs_graph_release(&graph);
    free(x);
    free(y);
    free(ones);
}

int main(int argc, char **argv)
{
    static const setting settings[] = {
        { "squared", 100, 3000, 2990, false, 0, 0.05 },
        { "squared", 100, 3000, 2995, false, 0, 0.05 },
        { "squared", 100, 3000, 2999, false, 0, 0.05 },
        { "squared", 100, 3000, 3300, false, 0, 0.05 },
        { "squared", 100, 3000, 3600, false, 0, 0.05 },
        { "squared", 100, 3000, 3900, false, 0, 0.05 },
        { "logistic", 60, 1500, 1499, true, 0, 0.05 },
        { "logistic", 60, 1500, 1650, true, 0, 0.05 },
        { "logistic", 60, 1500, 1800, true, 0, 0.05 },
        { "logistic", 60, 1500, 1950, true, 0, 0.05 },
        { "squared, sparsity 8", 100, 5000, 3000, false, 8, 0.5 },
        { "squared, sparsity 8", 100, 5000, 6000, false, 8, 0.5 },
        { "squared, sparsity 8", 100, 5000, 10000, false, 8, 0.5 },
    };
    int64_t seeds = 1;
    if (argc > 1 && !vxs_parse_whole(argv[1], &seeds))
        return 2;
    puts("| problem | edges | before, plain | before | in all | screening s | solving s | "
         "without s | difference |");
    puts("| --- | --- | --- | --- | --- | --- | --- | --- | --- |");
    for (uint64_t seed = 1; seed <= (uint64_t)seeds; seed++)
        for (size_t k = 0; k < sizeof(settings) / sizeof(settings[0]); k++)
            run(&settings[k], seed);
    return 0;
}
