/* The fused lasso on voxel grids: grids VOXELS-A-SIDE SUBJECTS LOSS TOLERANCE [SPARSITY [PEER]].
 * Columns are noise that is smoothed as scans are, two balls have weights. First 0.1 and 0.01 of
 * lambda_max, each from nothing (up to 100,000 voxels), then a path of 20 lambdas down to 0.01,
 * whose end is checked by other code. With a peer, the first two by accelerated proximal gradients
 * with the same exact proximal step as well, until its gap, by the same exact dual norm, is as
 * small, or for so many seconds (squared loss, without sparsity).
 */
#include "voxsift/internal/all.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <time.h>

enum { LAMBDAS = 20, LOOK = 10, POWER = 100 };

typedef struct {
    size_t side, n, p;
    bool logistic;
    double tol, sparsity;
    float *x;
    double *y, *ones;
    vxs_graph graph;
    vxs_fused fused; /* on it */
    vxs_design *design;
} grid;

static void *get(size_t count, size_t size)
{
    vxs_error err = VXS_ERROR_INIT;
    void *memory = vxs_alloc(count, size, &err);
    if (!memory) {
        fprintf(stderr, "%s\n", err.message);
        exit(1);
    }
    return memory;
}

static void must(vxs_status status, const vxs_error *err)
{
    if (!status)
        return;
    fprintf(stderr, "%s\n", err->message);
    exit(1);
}

static double cpu_seconds(void)
{
    struct timespec t;
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

/* ---- Data ------------------------------------------------------------------------------------ */

/* Each voxel and the next along each axis, twice. */
static void smooth(double *v, size_t side)
{
    size_t p = side * side * side;
    for (int k = 0; k < 6; k++) {
        size_t step = k % 3 == 0 ? 1 : k % 3 == 1 ? side : side * side;
        for (size_t j = 0; j < p; j++)
            if (j / step % side + 1 < side)
                v[j] = (v[j] + v[j + step]) / 2;
    }
}

static bool in_ball(size_t j, size_t side, double x, double y, double z, double radius)
{
    double unit = (double)side / 20, a = (double)(j % side), b = (double)(j / side % side),
           c = (double)(j / side / side);
    return hypot(hypot(a - x * unit, b - y * unit), c - z * unit) < radius * unit;
}

static void make(grid *g)
{
    vxs_random random = { .seed = 5, .stream = 1 };
    uint64_t at = 0;
    double *v = get(g->p, sizeof(*v)), spread = 0;
    for (size_t i = 0; i < g->n; i++) {
        double square = 0;
        for (size_t j = 0; j < g->p; j++)
            v[j] = vxs_random_normal(&random, at++);
        smooth(v, g->side);
        for (size_t j = 0; j < g->p; j++)
            square += v[j] * v[j];
        for (size_t j = 0; j < g->p; j++) {
            float x = (float)(v[j] / sqrt(square / (double)g->p));
            g->x[j * g->n + i] = x;
            g->y[i] += in_ball(j, g->side, 6, 6, 6, 3.5) ? (double)x : 0;
            g->y[i] -= in_ball(j, g->side, 14, 13, 12, 3) ? (double)x : 0;
        }
    }
    for (size_t i = 0; i < g->n; i++)
        spread += g->y[i] * g->y[i] / (double)g->n;
    for (size_t i = 0; i < g->n; i++) {
        g->y[i] += 0.3 * sqrt(spread) * vxs_random_normal(&random, at++);
        g->y[i] = g->logistic ? (g->y[i] > 0 ? 1 : -1) : g->y[i];
        g->ones[i] = 1;
    }
    free(v);
}

static void build(grid *g)
{
    vxs_error err = VXS_ERROR_INIT;
    size_t *voxels = get(g->p, sizeof(*voxels));
    for (size_t j = 0; j < g->p; j++)
        voxels[j] = j;
    must(vxs_graph_neighbors((size_t[]){ g->side, g->side, g->side }, voxels, g->p, 6, &g->graph,
                             &err),
         &err);
    must(vxs_dense_new(g->x, g->n, g->p, 1, &g->design, &err), &err);
    free(voxels);
}

/* ---- Ours ------------------------------------------------------------------------------------ */

static vxs_solver *begin(const grid *g)
{
    vxs_error err = VXS_ERROR_INIT;
    vxs_solver *solver = NULL;
    vxs_problem problem = { .design = g->design,
                            .loss.kind = g->logistic ? &vxs_logistic_loss : &vxs_squared_loss,
                            .loss.n = g->n,
                            .loss.y = g->y,
                            .covariates = g->ones,
                            .covariate_count = 1,
                            .penalty = &g->fused.penalty };
    vxs_method_settings settings = { .tol = g->tol, .fused.solver = VXS_FUSED_CUTS };
    must(vxs_solver_new(NULL, &vxs_methods[VXS_METHOD_FUSED], &problem, &settings, &solver, &err),
         &err);
    return solver;
}

/* The certificate as other code computes it. */
static double confirm(const grid *g, const vxs_solution *s)
{
    vxs_error err = VXS_ERROR_INIT;
    vxs_certificate again;
    vxs_problem problem = { .design = g->design,
                            .loss.kind = g->logistic ? &vxs_logistic_loss : &vxs_squared_loss,
                            .loss.n = g->n,
                            .loss.y = g->y,
                            .covariates = g->ones,
                            .covariate_count = 1,
                            .penalty = &g->fused.penalty };
    must(vxs_check_solution(&problem, s, &again, &err), &err);
    return again.gap;
}

static double fit_alone(const grid *g, double ratio, double *lambda)
{
    vxs_error err = VXS_ERROR_INIT;
    vxs_solution s;
    vxs_solver *solver = begin(g);
    *lambda = ratio * vxs_solver_lambda_max(solver);
    double start = cpu_seconds();
    must(vxs_solver_fit(solver, *lambda, &s, &err), &err);
    double seconds = cpu_seconds() - start;
    printf("  %g of lambda_max: %.3f CPU s, %zu pieces, %d rounds, %.0f passes, gap %.1e (checked "
           "%.1e)\n",
           ratio, seconds, s.certificate.fused_regions, (int)s.certificate.iterations,
           s.certificate.passes, s.certificate.gap, confirm(g, &s));
    fflush(stdout);
    vxs_solution_release(&s);
    vxs_solver_free(solver);
    return seconds;
}

static void follow_path(const grid *g)
{
    vxs_error err = VXS_ERROR_INIT;
    double start = cpu_seconds(), rounds = 0, passes = 0, worst = 0, slowest = 0;
    vxs_solver *solver = begin(g);
    size_t pieces = 0;
    double seconds = 0, checked = 0, memory = 0;
    for (int k = 0; k < LAMBDAS; k++) {
        vxs_solution s;
        double lambda = vxs_solver_lambda_max(solver) * pow(0.01, k / (LAMBDAS - 1.0));
        double before = cpu_seconds();
        must(vxs_solver_fit(solver, lambda, &s, &err), &err);
        slowest = fmax(slowest, cpu_seconds() - before);
        rounds += (double)s.certificate.iterations;
        passes += s.certificate.passes;
        worst = fmax(worst, s.certificate.gap);
        pieces = s.certificate.fused_regions;
        seconds = cpu_seconds() - start;
        if (k + 1 == LAMBDAS) {
            struct rusage usage;
            getrusage(RUSAGE_SELF, &usage);
            memory = (double)usage.ru_maxrss / 1024;
            checked = confirm(g, &s);
        }
        vxs_solution_release(&s);
    }
    vxs_solver_free(solver);
    printf("  path of %d to 0.01: %.2f CPU s, slowest lambda %.2f, %.0f rounds, %.0f passes, %zu "
           "pieces at the end, largest gap %.1e (the last checked: %.1e), %.0f MB in all\n",
           (int)LAMBDAS, seconds, slowest, rounds, passes, pieces, worst, checked, memory);
    fflush(stdout);
}

/* ---- Accelerated proximal gradients ---------------------------------------------------------- */

typedef struct {
    const grid *g;
    float *x; /* of centered columns: the intercept is gone */
    double *y, *w, *last, *point, *z, *slope, *pull;
    vxs_design *design;
    vxs_flow *flow;
    double bound; /* of the largest squared singular value */
} peer;

static void predict(const peer *a, const double *w, double *z)
{
    memset(z, 0, a->g->n * sizeof(*z));
    for (size_t j = 0; j < a->g->p; j++)
        for (size_t i = 0; i < a->g->n; i++)
            z[i] += w[j] * (double)a->x[j * a->g->n + i];
}

/* z - y and X'(z - y) at w. */
static void find_slope(const peer *a, const double *w)
{
    predict(a, w, a->z);
    for (size_t i = 0; i < a->g->n; i++)
        a->slope[i] = a->z[i] - a->y[i];
    vxs_design_scan(a->design, a->slope, 1, a->pull);
}

static void make_peer(peer *a, const grid *g)
{
    vxs_error err = VXS_ERROR_INIT;
    size_t n = g->n, p = g->p;
    *a = (peer){ .g = g };
    a->x = get(n * p, sizeof(*a->x));
    a->y = get(3, n * sizeof(*a->y));
    a->z = a->y + n;
    a->slope = a->z + n;
    a->w = get(4, p * sizeof(*a->w));
    a->last = a->w + p;
    a->point = a->last + p;
    a->pull = a->point + p;
    double mean = 0;
    for (size_t i = 0; i < n; i++)
        mean += g->y[i] / (double)n;
    for (size_t i = 0; i < n; i++)
        a->y[i] = g->y[i] - mean;
    for (size_t j = 0; j < p; j++) {
        double sum = 0;
        for (size_t i = 0; i < n; i++)
            sum += (double)g->x[j * n + i] / (double)n;
        for (size_t i = 0; i < n; i++)
            a->x[j * n + i] = (float)((double)g->x[j * n + i] - sum);
    }
    must(vxs_dense_new(a->x, n, p, 1, &a->design, &err), &err);
    must(vxs_flow_new(&g->graph, 0, &a->flow, &err), &err);
    for (size_t j = 0; j < p; j++)
        a->point[j] = 1;
    for (int k = 0; k < POWER; k++) {
        double length = 0;
        predict(a, a->point, a->slope);
        vxs_design_scan(a->design, a->slope, 1, a->pull);
        for (size_t j = 0; j < p; j++)
            length += a->pull[j] * a->pull[j];
        a->bound = sqrt(length);
        for (size_t j = 0; j < p; j++)
            a->point[j] = a->pull[j] / a->bound;
    }
    a->bound *= 1.01;
}

static double penalty(const peer *a, const double *w)
{
    double sum = 0;
    for (size_t e = 0; e < a->g->graph.count; e++)
        sum += fabs(w[a->g->graph.from[e]] - w[a->g->graph.to[e]]);
    return sum;
}

/* As a share of the value of the model without differences, whose level is free. */
static double gap_at(peer *a, double lambda, double empty)
{
    size_t n = a->g->n;
    double *level = get(n, sizeof(*level)), along = 0, length = 0, primal = 0, dot = 0, square = 0;
    find_slope(a, a->w);
    for (size_t i = 0; i < n; i++)
        primal += a->slope[i] * a->slope[i] / 2;
    for (size_t j = 0; j < a->g->p; j++)
        for (size_t i = 0; i < n; i++)
            level[i] += (double)a->x[j * n + i];
    for (size_t i = 0; i < n; i++) {
        along += level[i] * a->slope[i];
        length += level[i] * level[i];
    }
    for (size_t i = 0; i < n; i++)
        a->slope[i] -= along / length * level[i];
    vxs_design_scan(a->design, a->slope, 1, a->pull);
    double norm = vxs_flow_norm(a->flow, a->pull, lambda) / lambda;
    for (size_t i = 0; i < n; i++) {
        dot -= a->slope[i] * a->y[i] / norm;
        square += a->slope[i] * a->slope[i] / norm / norm;
    }
    double scale = fmin(1, dot / square);
    free(level);
    return (primal + lambda * penalty(a, a->w) - (scale * dot - scale * scale * square / 2)) /
           empty;
}

static double empty_value(peer *a)
{
    memset(a->w, 0, a->g->p * sizeof(*a->w));
    double *point = a->point, along = 0, length = 0, sum = 0;
    for (size_t j = 0; j < a->g->p; j++)
        point[j] = 1;
    predict(a, point, a->z);
    for (size_t i = 0; i < a->g->n; i++) {
        along += a->z[i] * a->y[i];
        length += a->z[i] * a->z[i];
    }
    for (size_t i = 0; i < a->g->n; i++) {
        double left = a->y[i] - along / length * a->z[i];
        sum += left * left / 2;
    }
    return sum;
}

/* FISTA, begun anew when it goes the wrong way (O'Donoghue and Candes 2015). */
static void run_peer(peer *a, double lambda, double limit, double ours)
{
    size_t p = a->g->p, bytes = p * sizeof(double);
    double empty = empty_value(a), momentum = 1, start = cpu_seconds(), looking = 0, gap = INFINITY;
    int steps = 0;
    memset(a->w, 0, bytes);
    memset(a->point, 0, bytes);
    while (gap > a->g->tol && cpu_seconds() - start - looking < limit) {
        double turn = 0, next = (1 + sqrt(1 + 4 * momentum * momentum)) / 2;
        memcpy(a->last, a->w, bytes);
        find_slope(a, a->point);
        for (size_t j = 0; j < p; j++)
            a->w[j] = a->point[j] - a->pull[j] / a->bound;
        vxs_flow_prox(a->flow, a->w, lambda / a->bound, a->w);
        for (size_t j = 0; j < p; j++)
            turn += (a->point[j] - a->w[j]) * (a->w[j] - a->last[j]);
        next = turn > 0 ? 1 : next;
        for (size_t j = 0; j < p; j++)
            a->point[j] = a->w[j] + (turn > 0 ? 0 : (momentum - 1) / next) * (a->w[j] - a->last[j]);
        momentum = next;
        if (++steps % LOOK == 0) { /* looking is not counted */
            double before = cpu_seconds();
            gap = gap_at(a, lambda, empty);
            looking += cpu_seconds() - before;
        }
    }
    double seconds = cpu_seconds() - start - looking;
    printf("  accelerated proximal gradients: %.1f CPU s, %d steps, gap %.1e%s: %.0f times ours\n",
           seconds, steps, gap, gap > a->g->tol ? ", not there yet" : "", seconds / ours);
    fflush(stdout);
}

int main(int argc, char **argv)
{
    grid g = { .tol = 1e-6 };
    if (argc < 5 || argc > 7) {
        fprintf(stderr,
                "grids VOXELS-A-SIDE SUBJECTS squared|logistic TOLERANCE [SPARSITY [PEER]]\n");
        return 64;
    }
    g.side = strtoul(argv[1], NULL, 10);
    g.n = strtoul(argv[2], NULL, 10);
    g.p = g.side * g.side * g.side;
    g.logistic = strcmp(argv[3], "logistic") == 0;
    g.tol = strtod(argv[4], NULL);
    g.sparsity = argc > 5 ? strtod(argv[5], NULL) : 0;
    g.fused = vxs_fused_on(&g.graph, g.sparsity);
    g.x = get(g.n * g.p, sizeof(*g.x));
    g.y = get(g.n, sizeof(*g.y));
    g.ones = get(g.n, sizeof(*g.ones));
    make(&g);
    build(&g);
    printf("%zu subjects, %zu voxels, %s, gap %g, sparsity %g:\n", g.n, g.p, argv[3], g.tol,
           g.sparsity);
    peer a;
    if (argc > 6)
        make_peer(&a, &g);
    for (int k = 0; k < 2 && g.p <= 100000; k++) {
        double lambda, ours = fit_alone(&g, k == 0 ? 0.1 : 0.01, &lambda);
        if (argc > 6)
            run_peer(&a, lambda, strtod(argv[6], NULL), ours);
    }
    follow_path(&g);
    return 0;
}
