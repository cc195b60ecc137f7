/* Dual points beside covariates that tell some samples for certain: those of a site where all have
 * one diagnosis. Their slopes are almost 0, and rounding of the others must not carry them out of
 * the domain: an answer that is exact has a bound, in the solvers and in the checker. */
#include "solver/dual_projection.h"
#include "tests/core/check.h"

#include <math.h>
#include <string.h>

enum { N = 12, P = 4, SITES = 6, EXAMPLES = 60 };
#define NEAR 1e-3 /* a bound that was not found is off by 0.01 at least, or infinitely far */

typedef struct {
    float x[N * P];
    double y[N], u[N], covariates[N * SITES];
    vxs_design *design, *view;
    vxs_graph graph;
    vxs_fused fused;
    vxs_problem problem;
} example;

/* Sites of two samples each; the diagnoses of some are alike. */
static void draw(example *e, uint64_t seed, const vxs_loss_kind *loss)
{
    vxs_random random = { .seed = seed };
    for (size_t k = 0; k < N * P; k++)
        e->x[k] = (float)vxs_random_normal(&random, k);
    for (size_t i = 0; i < N; i++) {
        double score = (double)e->x[i] + vxs_random_normal(&random, N * P + i);
        int class = score > 0.5 ? 2 : score > -0.5;
        e->y[i] = loss == &vxs_multinomial_loss ? class : i < 3 || score > 0 ? 1 : -1;
        e->u[i] = exp(2 * vxs_random_normal(&random, N * P + N + i));
        for (size_t k = 0; k < SITES; k++)
            e->covariates[k * N + i] = k == 0 || k == i / 2;
    }
}

static void make(example *e, uint64_t seed, const vxs_loss_kind *loss, bool loop, double sparsity)
{
    vxs_error err = VXS_ERROR_INIT;
    *e = (example){ .design = NULL };
    draw(e, seed, loss);
    WORKS(vxs_dense_new(e->x, N, P, 1, &e->design, &err), err);
    vxs_view centered = { .standardize = VXS_STANDARDIZE_CENTER };
    WORKS(vxs_view_new(e->design, true, &centered, &e->view, &err), err);
    WORKS(vxs_graph_new(P, loop ? P : P - 1, &e->graph, &err), err);
    for (size_t k = 0; k < e->graph.count; k++) {
        e->graph.from[k] = k;
        e->graph.to[k] = (k + 1) % P;
    }
    e->fused = vxs_fused_on(&e->graph, sparsity);
    e->problem = (vxs_problem){ .design = e->view,
                                .loss.kind = loss,
                                .loss.n = N,
                                .loss.y = e->y,
                                .loss.u = seed % 2 == 0 ? e->u : NULL,
                                .covariates = e->covariates,
                                .covariate_count = SITES,
                                .penalty = &e->fused.penalty,
                                .loss.k = loss == &vxs_multinomial_loss ? 3 : 0 };
}

static void release(example *e)
{
    vxs_graph_release(&e->graph);
    vxs_design_free(e->view);
    vxs_design_free(e->design);
}

/* Whether it took more than the tolerance. */
static size_t is_certified(example *e, int method, uint64_t seed, double ratio)
{
    size_t missed = 0;
    vxs_error err = VXS_ERROR_INIT;
    vxs_method_settings settings = { .tol = 1e-6 };
    vxs_certificate found;
    vxs_solver *solver = NULL;
    vxs_solution s;
    WORKS(vxs_solver_new(NULL, &vxs_methods[method], &e->problem, &settings, &solver, &err), err);
    double most = vxs_solver_lambda_max(solver);
    if (most > 0) {
        WORKS(vxs_solver_fit(solver, ratio * most, &s, &err), err);
        WORKS(vxs_check_solution(&e->problem, &s, &found, &err), err);
        const char *name = vxs_methods[method].name;
        cr_expect(s.certificate.gap < NEAR, "%s %d seed %d ratio %g: gap %g", name,
                  e->problem.loss.kind->name, (int)seed, ratio, s.certificate.gap);
        cr_expect(found.gap < NEAR, "%s %d seed %d ratio %g: checked gap %g", name,
                  e->problem.loss.kind->name, (int)seed, ratio, found.gap);
        missed = !s.certificate.converged || !found.converged;
        vxs_solution_release(&s);
    }
    vxs_solver_free(solver);
    return missed;
}

Test(dual_projection, answers_beside_separating_covariates_are_certified)
{
    static const vxs_loss_kind *const losses[] = { &vxs_logistic_loss, &vxs_multinomial_loss };
    size_t missed = 0, fits = 0;
    for (uint64_t seed = 0; seed < EXAMPLES; seed++)
        for (size_t k = 0; k < 4; k++) {
            example e;
            make(&e, seed, losses[k / 2], k % 2 == 1, seed % 3 == 0 ? 0.1 : 0);
            missed += is_certified(&e, VXS_METHOD_FUSED, seed, seed % 5 < 2 ? 0.01 : 0.3);
            e.problem.penalty = NULL;
            if (k == 0)
                missed += is_certified(&e, VXS_METHOD_LASSO, seed, 0.1);
            fits += k == 0 ? 2 : 1;
            release(&e);
        }
    cr_expect(50 * missed <= fits, "%zu of %zu fits above the tolerance", missed, fits);
}

/* Orthogonal to what is free, and slopes of all classes sum to 0; where one class is all but
 * certain, slopes move by no more than there is. */
Test(dual_projection, points_are_orthogonal_and_stay_inside)
{
    vxs_error err = VXS_ERROR_INIT;
    vxs_dual_projection reach;
    example e;
    double basis[N * 2], curvature[3 * N], v[3 * N], before[3 * N];
    make(&e, 1, &vxs_multinomial_loss, false, 0);
    for (size_t i = 0; i < N; i++) {
        double rare = i < 2 ? 1e-14 : 0.2;
        basis[i] = i < 2 ? sqrt(0.5) : 0;
        basis[N + i] = i < 2 ? 0 : 1 / sqrt(N - 2);
        for (size_t c = 0; c < 3; c++) {
            curvature[c * N + i] = c == 2 ? 1 - 2 * rare : rare;
            v[c * N + i] = before[c * N + i] =
                curvature[c * N + i] * (c == 2   ? 0
                                        : c == 0 ? 0.1
                                                 : -0.1 * (double)(i % 2));
        }
        v[2 * N + i] = before[2 * N + i] = -v[i] - v[N + i];
    }
    e.problem.loss.u = NULL;
    WORKS(vxs_dual_projection_init(&e.problem, 2, &reach, &err), err);
    vxs_dual_projection_add(&reach, basis);
    vxs_dual_projection_add(&reach, basis + N);
    cr_assert(vxs_dual_projection_project(&reach, curvature, v));
    for (size_t c = 0; c < 3; c++)
        for (size_t k = 0; k < 2; k++) {
            double sum = 0;
            for (size_t i = 0; i < N; i++)
                sum += basis[k * N + i] * v[c * N + i];
            cr_expect(fabs(sum) < (k == 0 ? 1e-26 : 1e-15), "class %zu column %zu: %g", c, k, sum);
        }
    for (size_t k = 0; k < 3 * N; k++)
        cr_expect(fabs(v[k] - before[k]) < 0.2 * (k % N < 2 ? 1e-14 : 0.2), "%zu: %g from %g", k,
                  v[k], before[k]);
    vxs_dual_projection_release(&reach);
    release(&e);
}
