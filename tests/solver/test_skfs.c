/* Random SKFS problems: certificates that the checker confirms, brute force on tiny ones,
 * invariances. */
#include "tests/core/check.h"

typedef struct {
    size_t n, p;
    float *x;
    double *y, *u;
    vxs_graph graph;
    vxs_design *design;
    vxs_problem problem;
} example;

static double normal(const vxs_random *random, uint64_t *at)
{
    return vxs_random_normal(random, (*at)++);
}

/* A chain, a grid with holes, or no edges. */
static void make_graph(example *e, uint64_t number)
{
    vxs_error err = VXS_ERROR_INIT;
    const size_t shape[3] = { 4, 5, 9 };
    size_t voxels[180];
    for (size_t k = 0; k < e->p && k < 150; k++)
        voxels[k] = k + k / 7; /* of 180 cells */
    static const int connectivity[] = { 6, 18, 26 };
    if (number % 3 == 0)
        WORKS(vxs_graph_new(e->p, 0, &e->graph, &err), err);
    else if (number % 3 == 1)
        WORKS(vxs_graph_chain(e->p, &e->graph, &err), err);
    else
        WORKS(vxs_graph_neighbors(shape, voxels, e->p, connectivity[number / 3 % 3], &e->graph,
                                  &err),
              err);
    for (size_t k = 0; k < e->graph.count; k++)
        e->graph.weight[k] = 1 + (double)(k % 4) / 3;
}

static example make(uint64_t number, size_t n, size_t p)
{
    vxs_random random = { .seed = 11, .stream = number };
    vxs_error err = VXS_ERROR_INIT;
    uint64_t at = 0;
    example e = { .n = n, .p = p };
    e.x = malloc(n * p * sizeof(*e.x));
    e.y = malloc(n * sizeof(*e.y));
    e.u = malloc(n * sizeof(*e.u));
    for (size_t j = 0; j < p; j++) {
        double shift = 0.4 * normal(&random, &at);
        for (size_t i = 0; i < n; i++) {
            double near = j > 0 ? (double)e.x[(j - 1) * n + i] : 0;
            e.x[j * n + i] = (float)(0.6 * near + normal(&random, &at) + shift);
        }
        if (j % 17 == 5 && j > 5) /* duplicated columns, and columns of zeros */
            memcpy(e.x + j * n, e.x + (j - 5) * n, n * sizeof(*e.x));
        if (j % 19 == 3)
            memset(e.x + j * n, 0, n * sizeof(*e.x));
    }
    for (size_t i = 0; i < n; i++) {
        e.y[i] = 3 + (double)(number % 5);
        e.u[i] = i % 5 == 4 ? 0 : 0.3 + vxs_random_uniform(&random, at++);
    }
    make_graph(&e, number);
    WORKS(vxs_dense_new(e.x, n, p, 1, &e.design, &err), err);
    static const double smooths[] = { 0, 1e-3, 0.1, 1, 30 };
    e.problem =
        (vxs_problem){ .design = e.design,
                       .loss.kind = &vxs_hinge_loss,
                       .loss.n = n,
                       .loss.y = e.y,
                       .loss.u = number % 2 ? e.u : NULL,
                       .nonnegative = true,
                       .quadratic = { &vxs_relative_laplacian, smooths[number % 5], NULL } };
    return e;
}

static void release(example *e)
{
    vxs_design_free(e->design);
    vxs_graph_release(&e->graph);
    free(e->x);
    free(e->y);
    free(e->u);
}

/* The graph is a member of the example. */
static const vxs_problem *problem_of(example *e)
{
    e->problem.quadratic.graph = &e->graph;
    return &e->problem;
}

static const vxs_method *skfs(void)
{
    const vxs_method *m = vxs_methods;
    while (strcmp(m->name, "skfs") != 0)
        m++;
    return m;
}

static vxs_solver *begin(example *e, double tol)
{
    vxs_method_settings settings = { .tol = tol };
    vxs_error err = VXS_ERROR_INIT;
    vxs_solver *solver = NULL;
    WORKS(vxs_solver_new(NULL, skfs(), problem_of(e), &settings, &solver, &err), err);
    return solver;
}

/* The objective at given weights, from the columns. */
static double value(const example *e, double lambda, double lambda_max, const double *w)
{
    double sum = 0, margins = 0;
    for (size_t i = 0; i < e->n; i++) {
        double z = 0, u = e->problem.loss.u ? e->u[i] : 1;
        for (size_t j = 0; j < e->p; j++)
            z += w[j] * (double)e->x[j * e->n + i];
        sum += u * fmax(0, e->y[i] - z);
        margins += u * e->y[i];
    }
    for (size_t j = 0; j < e->p; j++)
        sum += lambda * w[j];
    for (size_t k = 0; k < e->graph.count; k++) {
        double d = w[e->graph.from[k]] - w[e->graph.to[k]];
        sum += e->problem.quadratic.weight * lambda_max * lambda_max / margins *
               e->graph.weight[k] * d * d;
    }
    return sum;
}

static void spread(const vxs_solution *s, double *w, size_t p)
{
    memset(w, 0, p * sizeof(*w));
    for (size_t k = 0; k < s->count; k++)
        w[s->index[k]] = s->weight[k];
}

/* ---- Certificates ---------------------------------------------------------------------------- */

/* Along a path: the checker confirms the solver's certificate, and no other weights are below its
 * dual value. */
static void follow(uint64_t number)
{
    vxs_random random = { .seed = 12, .stream = number };
    uint64_t at = 0;
    size_t n = 5 + vxs_random_below(&random, at++, 40),
           p = 2 + vxs_random_below(&random, at++, 130);
    example e = make(number, n, p);
    vxs_solver *solver = begin(&e, 1e-7);
    vxs_error err = VXS_ERROR_INIT;
    double most = vxs_solver_lambda_max(solver), *w = malloc(e.p * sizeof(*w));
    for (double ratio = 1.1; ratio > 0.03 && most > 0; ratio *= 0.55) {
        vxs_solution s;
        vxs_certificate c;
        WORKS(vxs_solver_fit(solver, most * ratio, &s, &err), err);
        cr_assert(s.certificate.converged, "%lu at %g: gap %g", (unsigned long)number, ratio,
                  s.certificate.gap);
        WORKS(vxs_check_solution(&e.problem, &s, &c, &err), err);
        cr_assert(c.converged && fabs(c.primal - s.certificate.primal) < 1e-9 * (1 + c.primal),
                  "%lu at %g: checker's gap %g", (unsigned long)number, ratio, c.gap);
        cr_assert(fabs(c.lambda_max - most) < 1e-9 * most);
        cr_assert(ratio < 1 || s.count == 0);
        spread(&s, w, e.p);
        cr_assert(fabs(value(&e, most * ratio, most, w) - c.primal) < 1e-9 * (1 + c.primal));
        for (int k = 0; k < 3; k++) { /* other weights are above the dual value */
            size_t j = vxs_random_below(&random, at++, e.p);
            w[j] = fmax(0, w[j] + 0.1 * normal(&random, &at));
            cr_assert(value(&e, most * ratio, most, w) >= c.dual - 1e-12);
        }
        vxs_solution_release(&s);
    }
    vxs_solver_free(solver);
    free(w);
    release(&e);
}

Test(skfs, certificates)
{
    for (uint64_t number = 0; number < 1500; number++)
        follow(number);
}

/* The solution is the same to the gap wherever the solver came from: lambda_max, a smaller lambda,
 * or the same. */
Test(skfs, warm_starts_end_where_cold_ones_do)
{
    const double tol = 1e-7;
    for (uint64_t number = 0; number < 300; number++) {
        vxs_random random = { .seed = 14, .stream = number };
        vxs_error err = VXS_ERROR_INIT;
        example e = make(number, 5 + vxs_random_below(&random, 0, 40),
                         2 + vxs_random_below(&random, 1, 130));
        vxs_solver *warm = begin(&e, tol);
        double most = vxs_solver_lambda_max(warm);
        for (uint64_t at = 2; at < 6 && most > 0; at++) {
            double lambda = most * pow(0.02, vxs_random_uniform(&random, at < 5 ? at : 4));
            vxs_solver *cold = begin(&e, tol);
            vxs_solution a, b;
            WORKS(vxs_solver_fit(warm, lambda, &a, &err), err);
            WORKS(vxs_solver_fit(cold, lambda, &b, &err), err);
            cr_assert(a.certificate.converged && b.certificate.converged,
                      "%lu at %g: gaps %g and %g", (unsigned long)number, lambda / most,
                      a.certificate.gap, b.certificate.gap);
            double empty = 0;
            for (size_t i = 0; i < e.n; i++)
                empty += e.y[i] * (e.problem.loss.u ? e.u[i] : 1);
            cr_assert(fabs(a.certificate.primal - b.certificate.primal) <= tol * empty,
                      "%lu at %g: %.12g, not %.12g", (unsigned long)number, lambda / most,
                      a.certificate.primal, b.certificate.primal);
            vxs_solution_release(&a);
            vxs_solution_release(&b);
            vxs_solver_free(cold);
        }
        vxs_solver_free(warm);
        release(&e);
    }
}

/* A grid with more voxels than samples: the checker confirms each gap. */
Test(skfs, grids)
{
    enum { SIDE = 12, VOXELS = SIDE * SIDE * SIDE };
    const size_t shape[3] = { SIDE, SIDE, SIDE };
    vxs_error err = VXS_ERROR_INIT;
    size_t *voxels = malloc(VOXELS * sizeof(*voxels)), most_nonzero = 0;
    for (size_t k = 0; k < VOXELS; k++)
        voxels[k] = k;
    example e = make(9, 40, VOXELS); /* S = 30, no edges */
    vxs_graph_release(&e.graph);
    WORKS(vxs_graph_neighbors(shape, voxels, VOXELS, 6, &e.graph, &err), err);
    vxs_solver *solver = begin(&e, 1e-7);
    double most = vxs_solver_lambda_max(solver);
    for (double ratio = 0.8; ratio > 0.04; ratio *= 0.8) {
        vxs_solution s;
        vxs_certificate c;
        WORKS(vxs_solver_fit(solver, most * ratio, &s, &err), err);
        WORKS(vxs_check_solution(&e.problem, &s, &c, &err), err);
        cr_assert(s.certificate.converged && c.converged, "at %g: checker's gap %g", ratio, c.gap);
        most_nonzero = s.count > most_nonzero ? s.count : most_nonzero;
        vxs_solution_release(&s);
    }
    cr_assert(most_nonzero > 700, "%zu weights", most_nonzero);
    vxs_solver_free(solver);
    free(voxels);
    release(&e);
}

Test(skfs, lies_are_found)
{
    example e = make(7, 20, 60);
    vxs_solver *solver = begin(&e, 1e-8);
    vxs_error err = VXS_ERROR_INIT;
    vxs_solution s;
    vxs_certificate c;
    WORKS(vxs_solver_fit(solver, 0.3 * vxs_solver_lambda_max(solver), &s, &err), err);
    cr_assert(s.count > 1);
    s.weight[0] *= 1.3;
    WORKS(vxs_check_solution(&e.problem, &s, &c, &err), err);
    cr_assert(!c.converged && c.gap > 1e-6);
    s.weight[0] /= -1.3;
    WORKS(vxs_check_solution(&e.problem, &s, &c, &err), err);
    cr_assert(isinf(c.gap), "weights may not be negative");
    s.weight[0] = -s.weight[0];
    s.bound->alpha[0] = 3;
    WORKS(vxs_check_solution(&e.problem, &s, &c, &err), err);
    cr_assert(isinf(c.gap), "alpha may not be larger than u");
    vxs_solution_release(&s);
    vxs_solver_free(solver);
    release(&e);
}

/* ---- Brute force ----------------------------------------------------------------------------- */

/* Gaussian elimination of a k x k system; false if it is singular. */
static bool solve(double *a, double *b, size_t k)
{
    for (size_t c = 0; c < k; c++) {
        size_t best = c;
        for (size_t r = c + 1; r < k; r++)
            best = fabs(a[r * k + c]) > fabs(a[best * k + c]) ? r : best;
        if (fabs(a[best * k + c]) < 1e-9)
            return false;
        for (size_t j = 0; j < k; j++) {
            double t = a[c * k + j];
            a[c * k + j] = a[best * k + j];
            a[best * k + j] = t;
        }
        double t = b[c];
        b[c] = b[best];
        b[best] = t;
        for (size_t r = 0; r < k; r++) {
            double f = r == c ? 0 : a[r * k + c] / a[c * k + c];
            for (size_t j = 0; j < k; j++)
                a[r * k + j] -= f * a[c * k + j];
            b[r] -= f * b[c];
        }
    }
    for (size_t c = 0; c < k; c++)
        b[c] /= a[c * k + c];
    return true;
}

/* Without the Laplacian the objective is piecewise linear: its minimum is a vertex, where p of the
 * hyperplanes a_j = 0 and margin = 1 meet. */
static double least_corner(const example *e, double lambda, double lambda_max)
{
    double least = INFINITY, a[16], b[4];
    size_t planes = e->n + e->p;
    for (size_t set = 0; set < (size_t)1 << planes; set++) {
        size_t k = 0;
        if ((size_t)__builtin_popcountl(set) != e->p)
            continue;
        for (size_t plane = 0; plane < planes; plane++) {
            if (!(set >> plane & 1))
                continue;
            for (size_t j = 0; j < e->p; j++)
                a[k * e->p + j] = plane < e->n ? (double)e->x[j * e->n + plane] : plane - e->n == j;
            b[k++] = plane < e->n ? e->y[plane] : 0;
        }
        bool inside = solve(a, b, e->p);
        for (size_t j = 0; j < e->p && inside; j++)
            inside = b[j] >= -1e-12;
        if (inside)
            least = fmin(least, value(e, lambda, lambda_max, b));
    }
    return least;
}

Test(skfs, corners)
{
    for (uint64_t number = 0; number < 200; number++) {
        example e = make(5 * number, 7, 1 + number % 4); /* without the Laplacian */
        vxs_solver *solver = begin(&e, 1e-9);
        vxs_error err = VXS_ERROR_INIT;
        double most = vxs_solver_lambda_max(solver);
        for (double ratio = 0.8; ratio > 0.05 && most > 0; ratio *= 0.4) {
            vxs_solution s;
            WORKS(vxs_solver_fit(solver, most * ratio, &s, &err), err);
            double least = least_corner(&e, most * ratio, most);
            cr_assert(fabs(s.certificate.primal - least) < 1e-7 * (1 + least),
                      "%lu at %g: %.12g, by brute force %.12g", (unsigned long)number, ratio,
                      s.certificate.primal, least);
            vxs_solution_release(&s);
        }
        vxs_solver_free(solver);
        release(&e);
    }
}

/* ---- Invariances ----------------------------------------------------------------------------- */

/* Another order of samples; another path to the same lambda. */
Test(skfs, order_and_path)
{
    for (uint64_t number = 1; number < 60; number += 2) {
        example e = make(number, 30, 90), turned = make(number, 30, 90);
        vxs_error err = VXS_ERROR_INIT;
        vxs_solution a, b;
        for (size_t i = 0; i < e.n; i++) {
            turned.u[i] = e.u[e.n - 1 - i];
            for (size_t j = 0; j < e.p; j++)
                turned.x[j * e.n + i] = e.x[j * e.n + e.n - 1 - i];
        }
        vxs_solver *one = begin(&e, 1e-8), *other = begin(&turned, 1e-8);
        double most = vxs_solver_lambda_max(one);
        cr_assert(fabs(most - vxs_solver_lambda_max(other)) <= 1e-12 * most);
        for (double ratio = 0.9; ratio > 0.25; ratio *= 0.8) {
            WORKS(vxs_solver_fit(one, most * ratio, &a, &err), err);
            vxs_solution_release(&a);
        }
        WORKS(vxs_solver_fit(one, most * 0.2, &a, &err), err);
        WORKS(vxs_solver_fit(other, most * 0.2, &b, &err), err);
        cr_assert(fabs(a.certificate.primal - b.certificate.primal) < 2e-8 * e.y[0] * (double)e.n);
        vxs_solution_release(&a);
        vxs_solution_release(&b);
        vxs_solver_free(one);
        vxs_solver_free(other);
        release(&e);
        release(&turned);
    }
}

/* Dual averaging approaches the optimum with the number of iterations, never below the dual
 * value. */
Test(skfs, dual_averages)
{
    static const int64_t steps[] = { 300, 3000, 100000 };
    for (uint64_t number = 1; number < 40; number += 3) {
        example e = make(number, 40, 60);
        vxs_error err = VXS_ERROR_INIT;
        vxs_solution exact, s;
        vxs_certificate c;
        double above[3];
        vxs_solver *solver = begin(&e, 1e-9);
        double lambda = 0.3 * vxs_solver_lambda_max(solver);
        WORKS(vxs_solver_fit(solver, lambda, &exact, &err), err);
        vxs_solver_free(solver);
        for (int k = 0; k < 3; k++) {
            vxs_method_settings settings = { .tol = 1e-3,
                                             .kernels.solver = VXS_SOLVER_DUAL_AVERAGE,
                                             .kernels.steps = steps[k],
                                             .kernels.gamma = 100,
                                             .kernels.sample_seed = 3 };
            WORKS(vxs_solver_new(NULL, skfs(), problem_of(&e), &settings, &solver, &err), err);
            WORKS(vxs_solver_fit(solver, lambda, &s, &err), err);
            above[k] = s.certificate.primal - exact.certificate.primal;
            cr_assert(above[k] > -1e-9 * exact.certificate.primal);
            cr_assert(s.certificate.dual <= exact.certificate.primal * (1 + 1e-9));
            WORKS(vxs_check_solution(&e.problem, &s, &c, &err), err);
            cr_assert(fabs(c.dual - s.certificate.dual) < 1e-6 * c.primal);
            vxs_solution_release(&s);
            vxs_solver_free(solver);
        }
        double empty = 0;
        for (size_t i = 0; i < e.n; i++)
            empty += e.y[i] * (e.problem.loss.u ? e.u[i] : 1);
        cr_assert(above[2] < 0.02 * empty, "%lu: %g of %g", (unsigned long)number, above[2], empty);
        cr_assert(above[2] <= above[0] + 1e-9 * empty);
        vxs_solution_release(&exact);
        release(&e);
    }
}
