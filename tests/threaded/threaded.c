/* threaded.c - what several threads do at once, for ThreadSanitizer.
 *
 * A program of its own: Criterion runs each test in a process whose memory it lays out itself, and
 * ThreadSanitizer cannot follow it there. One row below a thing that is shared. */
#include "evaluate/evaluate.h"

#include "voxsift/internal/all.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

typedef struct {
    uint64_t last;
    size_t reports;
    bool went_back;
} listener;

static void watch(void *user, const char *task, const char *unit, uint64_t done, uint64_t total)
{
    listener *l = user;
    (void)task;
    (void)unit;
    (void)total;
    l->went_back = l->went_back || (done == 0 && l->reports > 0);
    l->last = done;
    l->reports++;
}

/* However many threads step, the last report is the end, and nobody is asked to stop. */
static bool progress_ends_with_the_end(void)
{
    for (int trial = 0; trial < 100; trial++) {
        listener l = { .last = 0 };
        const vxs_context context = { .progress = watch, .user = &l };
        vxs_progress progress;
        int failures = 0;
        vxs_progress_start(&progress, &context, "t", "u", 500);
#pragma omp parallel for num_threads(4) reduction(+ : failures)
        for (int i = 0; i < 500; i++)
            failures += vxs_progress_step(&progress, 1, NULL) != VXS_OK;
        if (failures || l.last != 500 || l.went_back)
            return false;
    }
    return true;
}

static bool numbers_are_read_by_many(void)
{
    int failures = 0;
#pragma omp parallel for num_threads(4) reduction(+ : failures)
    for (int i = 0; i < 2000; i++) {
        char text[VXS_REAL_TEXT];
        double back = 0;
        bool same = vxs_parse_real(vxs_real_text(i / 7.0, text), &back) && back == i / 7.0;
        failures += !same;
    }
    return failures == 0;
}

static bool tables_are_shared_for_reading(void)
{
    vxs_table *table = NULL;
    int failures = 0;
    static const char text[] = "id\tage\na\t1\nb\t2\nc\t4\n";
    if (vxs_table_parse(text, strlen(text), "t", &table, NULL) != VXS_OK)
        return false;
#pragma omp parallel for num_threads(4) reduction(+ : failures)
    for (int i = 0; i < 200; i++) {
        vxs_column_summary s;
        failures += vxs_table_summarize(table, 1, &s, NULL) != VXS_OK || s.max != 4;
    }
    vxs_table_free(table);
    return failures == 0;
}

enum { N = 40, P = 3000 };

/* The weights of a path's last point, by that many threads; of the fused lasso on a chain. */
static bool fit(const float *x, const double *y, bool fused, int threads, vxs_solution *s)
{
    static double ones[N];
    vxs_design *design = NULL;
    vxs_solver *solver = NULL;
    vxs_graph chain;
    vxs_view view = { .standardize = VXS_STANDARDIZE_UNIT };
    vxs_method_settings settings = { .tol = 1e-8 };
    for (int i = 0; i < N; i++)
        ones[i] = 1;
    if (vxs_graph_chain(P, &chain, NULL) || vxs_dense_new(x, N, P, threads, &design, NULL) ||
        vxs_view_new(design, false, &view, &design, NULL))
        return false;
    vxs_problem problem = { .design = design,
                            .loss = { &vxs_squared_loss, N, 1, y, NULL, 0 },
                            .covariates = ones,
                            .covariate_count = 1 };
    vxs_fused on = vxs_fused_on(&chain, 0);
    problem.penalty = fused ? &on.penalty : NULL;
    bool fine = vxs_solver_new(NULL, &vxs_methods[fused ? VXS_METHOD_FUSED : VXS_METHOD_LASSO],
                               &problem, &settings, &solver, NULL) == VXS_OK;
    for (int k = 1; k <= 4 && fine; k++) {
        vxs_solution_release(s);
        fine = vxs_solver_fit(solver, vxs_solver_lambda_max(solver) / (2 * k), s, NULL) == VXS_OK &&
               s->certificate.converged;
    }
    vxs_solver_free(solver);
    vxs_graph_release(&chain);
    vxs_design_free(design);
    return fine;
}

static bool have_the_same_bits(bool fused)
{
    static float x[N * P];
    double y[N];
    vxs_random random = { .seed = 3, .stream = 1 };
    vxs_solution one = { .count = 0 }, more = { .count = 0 };
    for (size_t k = 0; k < (size_t)N * P; k++)
        x[k] = (float)vxs_random_normal(&random, k);
    for (size_t i = 0; i < N; i++)
        y[i] = (double)(x[i] + x[N + i]) + vxs_random_normal(&random, (uint64_t)N * P + i);
    bool same = fit(x, y, fused, 1, &one);
    for (int threads = 2; threads <= 4 && same; threads++)
        same = fit(x, y, fused, threads, &more) && more.count == one.count &&
               memcmp(one.index, more.index, one.count * sizeof(*one.index)) == 0 &&
               memcmp(one.weight, more.weight, one.count * sizeof(*one.weight)) == 0 &&
               one.covariate_coefficients[0] == more.covariate_coefficients[0];
    vxs_solution_release(&one);
    vxs_solution_release(&more);
    return same;
}

/* Cross-validation of data that is read for several solvers at once, and by each for itself. */
static bool solvers_share_scans(void)
{
    char folder[] = "/tmp/voxsift-threaded-XXXXXX", command[400];
    vxs_lasso_simulation simulation = {
        .subjects = 40, .features = 500, .nonzero = 0.02, .noise = 1
    };
    vxs_cv_settings settings = { .task = { .target = "score", .standardize = VXS_STANDARDIZE_UNIT },
                                 .folds = 3,
                                 .repeats = 2,
                                 .inner_folds = 3,
                                 .bootstraps = 10 };
    vxs_method_settings method = { .path = { .lambda = NAN, .lambda_ratio = 0.1, .nlambda = 6 },
                                   .tol = 1e-6 };
    vxs_context context = { .nthreads = 2 };
    vxs_cohort cohort;
    vxs_task task;
    vxs_cv together, alone;
    if (!mkdtemp(folder))
        return false;
    snprintf(command, sizeof(command), "%s/sim", folder);
    bool same = !vxs_simulate_lasso(NULL, &simulation, command, false, NULL) &&
                !vxs_cohort_open(command, &cohort, NULL) &&
                !vxs_task_new(NULL, &cohort, &settings.task, &task, NULL);
    if (same) {
        vxs_jobs_cached = 0;
        same = !vxs_cv_run(&context, &task, &settings, &method, &together, NULL);
        vxs_jobs_cached = 64e6;
        same = same && !vxs_cv_run(NULL, &task, &settings, &method, &alone, NULL);
        same = same && memcmp(together.scores, alone.scores, 2 * 40 * sizeof(double)) == 0 &&
               together.passes < alone.passes;
        vxs_cv_release(&together);
        vxs_cv_release(&alone);
        vxs_task_release(&task);
        vxs_cohort_release(&cohort);
    }
    snprintf(command, sizeof(command), "rm -rf '%s'", folder);
    return system(command) == 0 && same;
}

/* Images are made, changed, compressed and written by several threads. */
static bool brains_are_made_by_many(void)
{
    char folder[] = "/tmp/voxsift-threaded-XXXXXX", command[400];
    const vxs_simulation *model = vxs_simulations;
    vxs_simulation_summary one, more;
    vxs_simulation_settings settings;
    vxs_context context = { .nthreads = 3 };
    while (strcmp(model->name, "skfs-additive") != 0)
        model++;
    memset(&settings, 0, sizeof(settings));
    vxs_params_defaults(model->params, &settings);
    settings.images.subjects = 8;
    settings.images.voxel_size = 8;
    settings.images.radius = 1;
    settings.images.write_images = true;
    /* sanitized programs stand deeper, and do not find it beside them */
    if (setenv("VOXSIFT_ATLASES", "atlases", 0) != 0 || !mkdtemp(folder))
        return false;
    snprintf(command, sizeof(command), "%s/sim", folder);
    bool same = !vxs_simulate(NULL, model, &settings, command, false, &one, NULL) &&
                !vxs_simulate(&context, model, &settings, command, true, &more, NULL) &&
                one.between == more.between && one.sigma == more.sigma;
    snprintf(command, sizeof(command), "rm -rf '%s'", folder);
    return system(command) == 0 && same;
}

/* Scores, their bandwidths, and products with kernels, by as many threads. */
static bool make_kernels(const float *x, int threads, double *products)
{
    vxs_design *base = NULL, *scores = NULL, *kernels = NULL;
    double y[N], packed[N * (N + 1) / 2];
    for (size_t i = 0; i < N; i++)
        y[i] = i % 3 ? 1 : -1;
    vxs_kernels_pack(y, N, packed);
    bool fine = !vxs_dense_new(x, N, P, threads, &base, NULL) &&
                !vxs_scores_new(NULL, base, true, y, 0, 0, &scores, NULL) &&
                !vxs_kernels_new(base, true, 0, &kernels, NULL) &&
                !vxs_design_measure(kernels, NULL);
    if (fine) {
        vxs_design_scan(scores, y, 1, products);
        vxs_design_scan(kernels, packed, 1, products + P);
        memcpy(products + 2 * P, vxs_design_norms(kernels), P * sizeof(*products));
    }
    vxs_design_free(kernels);
    vxs_design_free(scores);
    vxs_design_free(base);
    return fine;
}

static bool kernels_have_the_same_bits(void)
{
    static float x[N * P];
    static double one[3 * P], more[3 * P];
    vxs_random random = { .seed = 4, .stream = 1 };
    for (size_t k = 0; k < (size_t)N * P; k++)
        x[k] = (float)vxs_random_normal(&random, k);
    return make_kernels(x, 1, one) && make_kernels(x, 3, more) &&
           memcmp(one, more, sizeof(one)) == 0;
}

static bool correlations_have_the_same_bits(void)
{
    static float x[N * P];
    double *r[2] = { NULL, NULL };
    bool same = true;
    vxs_random random = { .seed = 5, .stream = 1 };
    for (size_t k = 0; k < (size_t)N * P; k++)
        x[k] = (float)vxs_random_normal(&random, k);
    for (int way = 0; way < 2; way++) {
        vxs_design *design = NULL;
        same = same && !vxs_dense_new(x, N, P, way == 0 ? 1 : 3, &design, NULL) &&
               !vxs_correlations(NULL, design, &r[way], NULL);
        vxs_design_free(design);
    }
    same = same && memcmp(r[0], r[1], (size_t)P * P * sizeof(*r[0])) == 0;
    free(r[0]);
    free(r[1]);
    return same;
}

static bool fits_have_the_same_bits(void)
{
    return have_the_same_bits(false);
}

static bool fused_fits_have_the_same_bits(void)
{
    return have_the_same_bits(true);
}

int main(void)
{
    static const struct {
        const char *name;
        bool (*holds)(void);
    } rows[] = {
        { "progress ends with the end", progress_ends_with_the_end },
        { "fits have the same bits", fits_have_the_same_bits },
        { "fused fits have the same bits", fused_fits_have_the_same_bits },
        { "kernels have the same bits", kernels_have_the_same_bits },
        { "correlations have the same bits", correlations_have_the_same_bits },
        { "solvers share scans", solvers_share_scans },
        { "brains are made by many", brains_are_made_by_many },
        { "numbers are read by many", numbers_are_read_by_many },
        { "tables are shared for reading", tables_are_shared_for_reading },
    };
    int failed = 0, count = (int)(sizeof(rows) / sizeof(rows[0]));
    for (int i = 0; i < count; i++) {
        bool good = rows[i].holds();
        failed += !good;
        if (!good)
            fprintf(stderr, "FAIL %s\n", rows[i].name);
    }
    printf("threaded: %d passed, %d failed\n", count - failed, failed);
    return failed > 0;
}
