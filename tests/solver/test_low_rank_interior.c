/* Kernel machines whose kernel is of low rank: random problems with copies, weights and extreme
 * costs, against the checker and against the working set on LL' as a matrix. */
#include "tests/core/check.h"
#include "voxsift/internal/penalty.h"
#include "voxsift/internal/solver.h"
#include "voxsift/internal/verify.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { MOST = 90 };

typedef struct {
    size_t n, p;
    float x[MOST * MOST];
    double k[MOST * MOST], y[MOST], u[MOST], ones[MOST];
    vxs_design *features, *low, *dense;
    vxs_kernel kernel;
    vxs_kernel_rows rows;
    vxs_kernel_norm norms[2];
    vxs_problem problems[2]; /* of the factor, of the matrix */
    vxs_method_settings settings;
    const vxs_method *method;
} example;

static void draw_features(example *e, const vxs_random *random, size_t copies)
{
    for (size_t i = 0; i < e->n; i++)
        for (size_t j = 0; j < e->p; j++)
            e->x[j * e->n + i] = (float)vxs_random_normal(random, j * MOST + i - i % copies);
}

/* Some have no weight, but for one of each class. */
static void draw_targets(example *e, const vxs_random *random, bool scores)
{
    for (size_t i = 0; i < e->n; i++) {
        double value = (double)e->x[i] + vxs_random_normal(random, 10000 + i) / 2;
        double side = i == 0 || (i > 1 && value > 0) ? 1 : -1;
        e->y[i] = scores ? value : side;
        e->u[i] = i > 1 && i % 5 == 4 ? 0 : exp(vxs_random_normal(random, 20000 + i));
        e->ones[i] = 1;
    }
}

static void multiply(example *e, const vxs_low_rank *l)
{
    for (size_t a = 0; a < e->n; a++)
        for (size_t b = 0; b < e->n; b++) {
            e->k[a * e->n + b] = 0;
            for (size_t c = 0; c < l->rank; c++)
                e->k[a * e->n + b] += l->factor[c * e->n + a] * l->factor[c * e->n + b];
        }
}

static void make(example *e, uint64_t number)
{
    vxs_error err = VXS_ERROR_INIT;
    const vxs_random random = { .seed = 31, .stream = number };
    const bool scores = number % 2, weighted = number % 4 > 1;
    bool varies;
    e->n = 4 + vxs_random_below(&random, 0, number % 7 == 0 ? MOST - 4 : 30);
    e->p = 1 + vxs_random_below(&random, 1, 6);
    draw_features(e, &random, number % 3 == 2 ? 4 : 1);
    draw_targets(e, &random, scores);
    e->kernel =
        (vxs_kernel){ (int)(number % 3), .gamma = 0.8, .constant = 1, .degree = 2, .factor = 1.5 };
    WORKS(vxs_dense_new(e->x, e->n, e->p, 1, &e->features, &err), err);
    WORKS(vxs_kernel_rows_read(NULL, e->features, &e->rows, &err), err);
    WORKS(vxs_kernel_scale(&e->kernel, &e->rows, NULL, &varies, &err), err);
    size_t rank = number % 5 == 4 ? e->n : 1 + number % 11;
    WORKS(vxs_low_rank_new(NULL, &e->kernel, &e->rows, rank, e->n, &e->low, &err), err);
    multiply(e, vxs_gram_low_rank(e->low));
    WORKS(vxs_gram_new(e->k, e->n, 1, &e->dense, &err), err);
    e->method = &vxs_methods[VXS_METHOD_SVM];
    vxs_params_defaults(e->method->params, &e->settings);
    e->settings.tol = 1e-9;
    for (int way = 0; way < 2; way++) {
        e->norms[way] = vxs_kernel_norm_of(way ? e->dense : e->low);
        e->problems[way] = (vxs_problem){
            .design = way ? e->dense : e->low,
            .loss = { .kind = scores ? &vxs_epsilon_loss : &vxs_margin_loss,
                      .n = e->n,
                      .y = e->y,
                      .u = weighted ? e->u : NULL,
                      .threshold = scores ? 0.2 : 0 },
            .penalty = &e->norms[way].penalty,
            .covariates = e->ones,
            .covariate_count = number % 8 < 6,
        };
    }
}

static void release(example *e)
{
    vxs_design_free(e->low);
    vxs_design_free(e->dense);
    vxs_design_free(e->features);
    vxs_kernel_rows_release(&e->rows);
}

/* The checker confirms the answer; none is better, and the working set's, where it has one, is the
 * same: at a large C it may stop at a gap. */
static void check_cost(const example *e, vxs_solver *const *solvers, uint64_t number, double cost)
{
    vxs_error err = VXS_ERROR_INIT;
    vxs_certificate found[2];
    for (int way = 0; way < 2; way++) {
        vxs_solution s = { .count = 0 };
        WORKS(vxs_solver_fit_at(solvers[way], (vxs_path_point){ VXS_BY_COST, cost }, &s, &err),
              err);
        WORKS(vxs_check_solution(&e->problems[way], &s, &found[way], &err), err);
        bool holds = s.certificate.converged && found[way].converged &&
                     vxs_certificate_holds(&s.certificate, &found[way], false);
        cr_expect(way == 1 || holds, "problem %llu, C = %g: gap %g, found %g",
                  (unsigned long long)number, cost, s.certificate.gap, found[way].gap);
        vxs_solution_release(&s);
    }
    double more = (found[0].primal - found[1].primal) / found[0].empty;
    cr_expect(more <= 3e-9 && (more >= -3e-9 || !found[1].converged),
              "problem %llu, C = %g: %.12g, %.12g", (unsigned long long)number, cost,
              found[0].primal, found[1].primal);
}

Test(low_rank_interior, answers_are_those_of_the_matrix)
{
    static example e;
    static const double costs[] = { 0.01, 0.3, 3, 100, 1, 1000 };
    for (uint64_t number = 0; number < 400; number++) {
        vxs_error err = VXS_ERROR_INIT;
        vxs_solver *solvers[2] = { NULL, NULL };
        make(&e, number);
        for (int way = 0; way < 2; way++)
            WORKS(vxs_solver_new(NULL, e.method, &e.problems[way], &e.settings, &solvers[way],
                                 &err),
                  err);
        for (size_t k = 0; k < sizeof(costs) / sizeof(costs[0]); k++)
            check_cost(&e, solvers, number, costs[k]);
        vxs_solver_free(solvers[0]);
        vxs_solver_free(solvers[1]);
        release(&e);
    }
}

/* Ways that work on the kernel itself. */
Test(low_rank_interior, ways_that_are_refused)
{
    static example e;
    static const int ways[] = { VXS_MACHINE_SCREENED, VXS_MACHINE_SAIV };
    make(&e, 0);
    for (int k = 0; k < 2; k++) {
        vxs_error err = VXS_ERROR_INIT;
        vxs_solver *solver = NULL;
        e.settings.svm.solver = ways[k];
        REFUSES(vxs_solver_new(NULL, e.method, &e.problems[0], &e.settings, &solver, &err), err,
                VXS_MISUSE, "'--rank' has an interior point of its own");
    }
    release(&e);
}

/* A factor that is not that of its landmarks, or says that it lacks less. */
Test(low_rank_interior, spoiled_factors_are_refused)
{
    static example e;
    for (uint64_t number = 0; number < 30; number++) {
        vxs_error err = VXS_ERROR_INIT;
        make(&e, number);
        vxs_low_rank l = *vxs_gram_low_rank(e.low);
        const size_t n = l.n, last = l.landmark[l.rank - 1];
        const double kept = l.factor[(l.rank - 1) * n + (last + 1) % n], missing = l.missing;
        WORKS(vxs_check_low_rank(&e.kernel, &e.rows, &l, &err), err);
        l.factor[(l.rank - 1) * n + (last + 1) % n] += 1e-3;
        REFUSES(vxs_check_low_rank(&e.kernel, &e.rows, &l, &err), err, VXS_BAD_DATA, "factor");
        l.factor[(l.rank - 1) * n + (last + 1) % n] = kept;
        l.missing += 1e-3 * l.trace;
        REFUSES(vxs_check_low_rank(&e.kernel, &e.rows, &l, &err), err, VXS_BAD_DATA, "factor");
        l.missing = missing;
        l.landmark[l.rank - 1] = l.rank > 1 ? l.landmark[0] : n;
        REFUSES(vxs_check_low_rank(&e.kernel, &e.rows, &l, &err), err, VXS_BAD_DATA, "factor");
        l.landmark[l.rank - 1] = last;
        WORKS(vxs_check_low_rank(&e.kernel, &e.rows, &l, &err), err);
        release(&e);
    }
}
