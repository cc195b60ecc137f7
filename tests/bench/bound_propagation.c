/* Screening by bound propagation on the simulations of dissertation 3.3.7: random graphs of several
 * densities, features uniform on [-10, 10], two pieces of the graph with weights 1 and -1.
 * bound_propagation PART FOLDER [SEEDS]; tests/bench/bound_propagation.py makes tables and
 * figures of what it prints, a line a lambda. Seconds are the processor's: other work does not
 * add to them.
 *
 * Lambdas    Table 3.2 and 3.3: from lambda_max to 0.05 of it, where Figure 3.5 ends, or to where
 *            less than 0.95 of the terms are 0, the least in those tables. Table 3.4 and Figure
 *            3.6: from where 0.9891 of the terms are 0, the most in that table, to half of that, as
 *            its lambdas are 100 to 50. Part "thirds": from lambda_max, as all terms are 0 in
 * Tables 3.2 and 3.3 where they begin, to a third of it, as their lambdas are 3 to 1. All in equal
 * ratios */
#include "solver/bound_propagation/bound_propagation.h"
#include "voxsift/internal/all.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

enum { LAMBDAS = 52, SPARSE_LAMBDAS = 51, STEPS = 7, REPEATS = 15 };

#define COUNT(list) (sizeof(list) / sizeof((list)[0]))

#define LEAST   0.05   /* of lambda_max */
#define LEVEL   0.95   /* of the terms */
#define SPARSER 0.9891 /* likewise */
#define SMALL   1e-5   /* a difference that is 0 (the dissertation's epsilon) */

typedef struct {
    const char *name;
    size_t n, p, edges; /* at least p - 1 make one piece, less of them trees */
    bool logistic;
    double sparsity;
} setting;

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
static void put_piece(const vxs_graph *g, size_t center, double value, double *w)
{
    double *next = get(g->nodes, sizeof(*next));
    w[center] = value;
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

/* ---- A problem ------------------------------------------------------------------------------- */

typedef struct {
    const setting *s;
    uint64_t seed;
    vxs_graph graph;
    vxs_analysis terms;
    vxs_design *design;
    float *x;
    double *y, *ones;
    vxs_fused fused;
    vxs_problem problem;
} example;

static void make(const setting *s, uint64_t seed, example *e)
{
    vxs_error err = VXS_ERROR_INIT;
    vxs_random random = { .seed = seed };
    *e = (example){ .s = s, .seed = seed };
    e->x = get(s->n * s->p, sizeof(*e->x));
    e->y = get(s->n, sizeof(*e->y));
    e->ones = get(s->n, sizeof(*e->ones));
    draw_graph(s, &random, &e->graph);
    draw_data(s, &e->graph, &random, e->x, e->y);
    for (size_t i = 0; i < s->n; i++)
        e->ones[i] = 1;
    if (vxs_dense_new(e->x, s->n, s->p, 1, &e->design, &err) ||
        vxs_analysis_edges(&e->graph, s->sparsity, &e->terms, &err))
        exit(1);
    e->fused = vxs_fused_on(&e->graph, s->sparsity);
    e->problem = (vxs_problem){ .design = e->design,
                                .loss.kind = s->logistic ? &vxs_logistic_loss : &vxs_squared_loss,
                                .loss.n = s->n,
                                .loss.y = e->y,
                                .covariates = e->ones,
                                .covariate_count = 1,
                                .penalty = &e->fused.penalty };
}

static void release(example *e)
{
    vxs_analysis_release(&e->terms);
    vxs_design_free(e->design);
    vxs_graph_release(&e->graph);
    free(e->x);
    free(e->y);
    free(e->ones);
}

static vxs_solver *begin(const vxs_problem *problem, double tol, int screen, bool plain)
{
    vxs_error err = VXS_ERROR_INIT;
    vxs_solver *solver;
    vxs_method_settings settings = {
        .tol = tol,
        .saif.screen = screen,
        .fused = { .solver = VXS_FUSED_BP, .untransformed = plain },
    };
    if (vxs_solver_new(NULL, &vxs_methods[VXS_METHOD_FUSED], problem, &settings, &solver, &err))
        exit(1);
    return solver;
}

static void solve(vxs_solver *solver, double lambda, vxs_solution *fit)
{
    vxs_error err = VXS_ERROR_INIT;
    if (vxs_solver_fit(solver, lambda, fit, &err))
        exit(1);
}

static void weights_of(const example *e, const vxs_solution *fit, double *w)
{
    memset(w, 0, e->s->p * sizeof(*w));
    for (size_t k = 0; k < fit->count; k++)
        w[fit->index[k]] = fit->weight[k];
}

static double term_of(const vxs_analysis *d, size_t term, const double *w)
{
    double sum = 0;
    for (size_t a = d->starts[term]; a < d->starts[term + 1]; a++)
        sum += d->value[a] * w[d->index[a]];
    return sum;
}

/* The share of terms that are 0. */
static double level_of(const example *e, const vxs_solution *fit)
{
    double *w = get(e->s->p, sizeof(*w));
    size_t zero = 0;
    weights_of(e, fit, w);
    for (size_t t = 0; t < e->terms.count; t++)
        zero += fabs(term_of(&e->terms, t, w)) < SMALL;
    free(w);
    return (double)zero / (double)e->terms.count;
}

/* Of this thread alone, whatever else runs. */
static double processor_seconds(void)
{
    struct timespec now;
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
    return (double)now.tv_sec + 1e-9 * (double)now.tv_nsec;
}

/* ---- Paths ----------------------------------------------------------------------------------- */

/* The share of lambda_max from which on at least `level` of the terms are 0: between `least` and 1,
 * found by halving. */
static double find_share(const example *e, double level, double least)
{
    vxs_solver *solver = begin(&e->problem, 1e-6, VXS_SCREEN_SAIF, false);
    double low = log(least), high = 0, top = vxs_solver_lambda_max(solver);
    for (int step = 0; step <= STEPS; step++) {
        vxs_solution fit;
        double middle = step == 0 ? low : (low + high) / 2;
        solve(solver, top * exp(middle), &fit);
        bool enough = level_of(e, &fit) >= level;
        vxs_solution_release(&fit);
        if (enough && step == 0)
            break;
        *(enough ? &high : &low) = middle;
        if (step == STEPS)
            low = high;
    }
    vxs_solver_free(solver);
    return exp(low);
}

/* A line: with screening, and without unless `other` is NULL. */
static void fit_one(const example *e, vxs_solver *solver, vxs_solver *other, bool plain,
                    double share)
{
    const setting *s = e->s;
    vxs_solution fit, same;
    double lambda = vxs_solver_lambda_max(solver) * share, start = processor_seconds();
    solve(solver, lambda, &fit);
    double with = processor_seconds() - start, without = 0, difference = 0;
    if (other) {
        start = processor_seconds();
        solve(other, lambda, &same);
        without = processor_seconds() - start;
        difference = fabs(same.certificate.primal - fit.certificate.primal);
        vxs_solution_release(&same);
    }
    const vxs_screening *c = &fit.certificate.screening;
    double screening = with * c->screening / (c->screening + c->solving);
    printf("%s\t%zu\t%zu\t%zu\t%g\t%d\t%d\t%g\t", s->name, s->n, s->p, s->edges, s->sparsity,
           (int)e->seed, plain, share);
    printf("%zu\t%zu\t%zu\t%.5f\t%.6f\t%.6f\t%.6f\t%.3g\t%d\n", c->terms, c->before, c->after,
           level_of(e, &fit), screening, with - screening, without, difference,
           fit.certificate.converged);
    vxs_solution_release(&fit);
}

static void follow_path(const example *e, double least, bool compare, bool plain)
{
    const setting *s = e->s;
    bool sparse = s->sparsity > 0;
    double first = sparse ? find_share(e, SPARSER, 1e-3) : 1;
    double last = sparse ? first / 2 : find_share(e, LEVEL, least);
    int count = sparse ? SPARSE_LAMBDAS : LAMBDAS;
    vxs_solver *solver = begin(&e->problem, 1e-9, VXS_SCREEN_SAIF, plain);
    vxs_solver *other = compare ? begin(&e->problem, 1e-9, VXS_SCREEN_NONE, plain) : NULL;
    for (int k = 0; k < count; k++) {
        double share = sparse ? first * pow(last / first, (double)k / (count - 1))
                              : pow(last, (double)(k + 1) / count);
        fit_one(e, solver, other, plain, share);
    }
    fflush(stdout);
    vxs_solver_free(solver);
    vxs_solver_free(other);
}

static void run(const setting *s, uint64_t seed, double least, bool compare, bool plain)
{
    example e;
    make(s, seed, &e);
    follow_path(&e, least, compare, plain);
    release(&e);
}

/* ---- What is inside -------------------------------------------------------------------------- */

static void open_path(const example *e, vxs_path *p)
{
    vxs_error err = VXS_ERROR_INIT;
    size_t n = e->s->n, features = e->s->p, terms = e->terms.count;
    *p = (vxs_path){ .transform = true, .dynamic = true, .empty = INFINITY };
    p->data = (vxs_bp_data){ .loss = e->problem.loss.kind,
                             .n = n,
                             .p = features,
                             .q = 1,
                             .x = get(n * features, sizeof(double)),
                             .covariates = e->ones,
                             .y = e->y,
                             .root = e->ones,
                             .terms = &e->terms };
    for (size_t k = 0; k < n * features; k++)
        p->data.x[k] = (double)e->x[k];
    p->w = get(features, sizeof(double));
    p->coefficients = get(1, sizeof(double));
    p->z = get(n, sizeof(double));
    p->xi = get(n, sizeof(double));
    p->work = get(2 * features + 1, sizeof(double));
    p->zero = get(terms, sizeof(bool));
    p->found = get(terms, sizeof(bool));
    p->term = get(3 * terms, sizeof(double));
    p->reference.z = get(n, sizeof(double));
    p->reference.theta = get(n, sizeof(double));
    for (size_t t = 0; t < terms; t++)
        p->zero[t] = true;
    if (vxs_dome_new(n, &p->dome, &err) || vxs_path_empty(p, &err))
        exit(1);
    p->empty = vxs_bp_loss(&p->data, p->z);
    memset(p->zero, 0, terms * sizeof(bool));
    if (vxs_reparametrized_new(&p->data, p->zero, true, &p->base, &err) ||
        vxs_bounds_new(&p->base, true, &p->bounds, &err))
        exit(1);
}

static void close_path(vxs_path *p)
{
    double *all[] = { p->data.x, p->w,           p->coefficients,    p->z, p->xi, p->work,
                      p->term,   p->reference.z, p->reference.theta, NULL };
    for (size_t k = 0; k < COUNT(all); k++)
        free(all[k]);
    free(p->zero);
    free(p->found);
    vxs_dome_release(&p->dome);
    vxs_bounds_release(&p->bounds);
    vxs_reparametrized_release(&p->base);
}

static FILE *open_file(const char *folder, const setting *s, const char *what)
{
    char path[4096];
    snprintf(path, sizeof(path), "%s/lp-%zu-%s.tsv", folder, s->edges, what);
    FILE *file = fopen(path, "w");
    if (!file)
        exit(1);
    return file;
}

/* Sums, their terms and factors: D. */
static void write_system(const vxs_bounds *b, FILE *file)
{
    for (size_t s = 0; s < b->count; s++)
        for (size_t a = b->starts[s]; a < b->starts[s + 1]; a++)
            fprintf(file, "%zu\t%zu\t%.17g\n", s, b->term[a], b->factor[a]);
}

/* L and H of sums; and of terms our bounds with a u that is allowed. */
static void write_bounds(const vxs_path *p, int k, const vxs_bound *fit, FILE *sums, FILE *terms)
{
    const vxs_bounds *b = &p->bounds;
    const vxs_presolved *presolved = &p->base.presolved;
    double *u = get(b->terms, sizeof(*u));
    for (size_t t = 0; t < p->data.terms->count; t++)
        if (presolved->merged_row[t] != SIZE_MAX)
            u[p->base.number[presolved->merged_row[t]]] =
                copysign(1, presolved->share[t]) * fit->u[t];
    for (size_t s = 0; s < b->count; s++)
        fprintf(sums, "%d\t%zu\t%.17g\t%.17g\n", k, s, b->low[s], b->high[s]);
    for (size_t t = 0; t < b->terms; t++)
        fprintf(terms, "%d\t%zu\t%.17g\t%.17g\t%.17g\n", k, t, b->from[t], b->to[t], u[t]);
    free(u);
}

static void fill_reference(const example *e, const vxs_solution *fit, vxs_path *p)
{
    const vxs_bp_data *w = &p->data;
    vxs_reference *known = &p->reference;
    weights_of(e, fit, p->w);
    known->penalty = 0;
    for (size_t t = 0; t < e->terms.count; t++)
        known->penalty += fabs(term_of(&e->terms, t, p->w));
    for (size_t i = 0; i < w->n; i++) {
        known->z[i] = fit->covariate_coefficients[0];
        for (size_t j = 0; j < w->p; j++)
            known->z[i] += p->w[j] * w->x[j * w->n + i];
    }
    memcpy(known->theta, fit->bound->theta, w->n * sizeof(*known->theta));
}

/* What bound propagation finds, going by the lambda before, as files for a linear programme. */
static void write_programmes(const setting *s, uint64_t seed, const char *folder)
{
    example e;
    vxs_path p;
    make(s, seed, &e);
    double last = find_share(&e, LEVEL, LEAST);
    open_path(&e, &p);
    const vxs_generalized sums = vxs_generalized_of(&e.terms);
    e.problem.penalty = &sums.penalty; /* u and theta come along then */
    FILE *system = open_file(folder, s, "system"), *sum_file = open_file(folder, s, "sums");
    FILE *terms = open_file(folder, s, "terms");
    vxs_solver *solver = begin(&e.problem, 1e-10, VXS_SCREEN_SAIF, false);
    write_system(&p.bounds, system);
    for (int k = 1; k <= LAMBDAS; k++) {
        vxs_solution fit;
        double share = pow(last, (double)k / LAMBDAS);
        double lambda = share * vxs_solver_lambda_max(solver);
        double began = processor_seconds();
        solve(solver, lambda, &fit);
        double solving = processor_seconds() - began;
        if (k > 1) {
            vxs_path_dual_region(&p, lambda, &p.reference);
            double start = processor_seconds();
            size_t found = vxs_bounds_propagate(&p.bounds, &p.dome, lambda, p.found);
            double bounding = processor_seconds() - start;
            write_bounds(&p, k, fit.bound, sum_file, terms);
            printf("lp\t%zu\t%zu\t%zu\t%d\t%g\t%zu\t%zu\t%.6f\t%.6f\n", s->n, s->p, s->edges, k,
                   share, p.bounds.terms, found, bounding, solving);
        }
        fill_reference(&e, &fit, &p);
        vxs_solution_release(&fit);
    }
    vxs_solver_free(solver);
    if (fclose(system) || fclose(sum_file) || fclose(terms))
        exit(1);
    close_path(&p);
    release(&e);
}

/* Iterations, terms that are known to be 0 and seconds until a gap, with and without screening by
 * the iterates alone. */
static void solve_to_gaps(const setting *s, uint64_t seed, double share)
{
    example e;
    vxs_path p;
    make(s, seed, &e);
    open_path(&e, &p);
    vxs_solver *solver = begin(&e.problem, 1e-6, VXS_SCREEN_SAIF, false);
    double lambda = share * vxs_solver_lambda_max(solver);
    vxs_solver_free(solver);
    for (int digits = 1; digits <= 9; digits++) {
        double seconds[2] = { INFINITY, INFINITY };
        uint64_t iterations[2] = { 0, 0 };
        for (int k = 0; k < 2 * REPEATS; k++) {
            vxs_error err = VXS_ERROR_INIT;
            double start = processor_seconds();
            p.iterations = 0;
            if (vxs_path_solve(&p, lambda, pow(10, -digits) * p.empty, k % 2 == 1, &err))
                exit(1);
            seconds[k % 2] = fmin(seconds[k % 2], processor_seconds() - start);
            iterations[k % 2] = p.iterations;
        }
        printf("dynamic\t%zu\t%zu\t%zu\t%g\t%d\t%d\t%d\t%zu\t%zu\t%.6f\t%.6f\n", s->n, s->p,
               s->edges, share, digits, (int)iterations[0], (int)iterations[1], e.terms.count,
               p.after, seconds[0], seconds[1]);
        fflush(stdout);
    }
    close_path(&p);
    release(&e);
}

/* ---- Parts ----------------------------------------------------------------------------------- */

static const setting squared[] = {
    { "squared", 100, 3000, 2990, false, 0 }, { "squared", 100, 3000, 2995, false, 0 },
    { "squared", 100, 3000, 2999, false, 0 }, { "squared", 100, 3000, 3300, false, 0 },
    { "squared", 100, 3000, 3600, false, 0 }, { "squared", 100, 3000, 3900, false, 0 },
};
static const setting logistic[] = {
    { "logistic", 60, 1500, 1499, true, 0 },
    { "logistic", 60, 1500, 1650, true, 0 },
    { "logistic", 60, 1500, 1800, true, 0 },
    { "logistic", 60, 1500, 1950, true, 0 },
};
static const size_t densities[] = { 500, 1500, 3000, 4000, 4999, 6000, 7500, 9000, 10000 };
static const double ratios[] = { 0.1, 0.2, 0.4, 0.6, 0.8, 1, 1.5, 2, 4, 7, 10 };

static void run_squared(uint64_t seed, const char *folder)
{
    (void)folder;
    for (size_t k = 0; k < COUNT(squared); k++)
        run(&squared[k], seed, LEAST, true, false);
}

static void run_logistic(uint64_t seed, const char *folder)
{
    (void)folder;
    for (size_t k = 0; k < COUNT(logistic); k++)
        run(&logistic[k], seed, LEAST, true, false);
}

static void run_sparse(uint64_t seed, const char *folder)
{
    (void)folder;
    for (size_t k = 0; k < COUNT(densities); k++) {
        setting s = { "sparse", 100, 5000, densities[k], false, 8 };
        run(&s, seed, LEAST, true, false);
    }
}

static void run_ratios(uint64_t seed, const char *folder)
{
    (void)folder;
    for (size_t k = 0; k < 2 * COUNT(ratios); k++) {
        setting s = { "ratios", 100, 5000, k % 2 == 0 ? 3000 : 6000, false, ratios[k / 2] };
        run(&s, seed, LEAST, false, false);
    }
}

static void run_thirds(uint64_t seed, const char *folder)
{
    (void)folder;
    for (size_t k = 0; k < COUNT(squared); k++)
        run(&squared[k], seed, 1.0 / 3, false, false);
    for (size_t k = 0; k < COUNT(logistic); k++)
        run(&logistic[k], seed, 1.0 / 3, false, false);
}

/* Without adding columns up; with it they are among the others. */
static void run_plain(uint64_t seed, const char *folder)
{
    (void)folder;
    run(&squared[2], seed, LEAST, false, true);
    run(&squared[4], seed, LEAST, false, true);
    run(&logistic[0], seed, LEAST, false, true);
    run(&logistic[2], seed, LEAST, false, true);
}

static void run_lp(uint64_t seed, const char *folder)
{
    static const setting loops[] = { { "lp", 50, 500, 600, false, 0 },
                                     { "lp", 50, 500, 650, false, 0 } };
    for (size_t k = 0; k < COUNT(loops); k++)
        write_programmes(&loops[k], seed, folder);
}

static void run_dynamic(uint64_t seed, const char *folder)
{
    static const setting s = { "dynamic", 50, 1500, 1650, false, 0 };
    (void)folder;
    solve_to_gaps(&s, seed, 0.3);
    solve_to_gaps(&s, seed, 0.1);
}

static const struct {
    const char *name;
    void (*run)(uint64_t seed, const char *folder);
} parts[] = {
    { "squared", run_squared }, { "logistic", run_logistic }, { "sparse", run_sparse },
    { "ratios", run_ratios },   { "plain", run_plain },       { "thirds", run_thirds },
    { "lp", run_lp },           { "dynamic", run_dynamic },
};

int main(int argc, char **argv)
{
    int64_t seeds = 1;
    if (argc < 3 || (argc > 3 && !vxs_parse_whole(argv[3], &seeds)))
        return 2;
    for (size_t k = 0; k < COUNT(parts); k++)
        for (uint64_t seed = 1; seed <= (uint64_t)seeds && !strcmp(parts[k].name, argv[1]); seed++)
            parts[k].run(seed, argv[2]);
    return 0;
}
