/* Kernel machines with a Gaussian kernel, several values of C by several ways:
 *
 *     saiv_ways FOLDER WAY START GAMMA TOL C...
 *
 * WAY is a name of --solver; START warm (a path), or cold: a new solver for each C. FOLDER:
 * svm_data.h; its w becomes the weights of samples and b for each C. The kernel is made before, its
 * seconds are in the first line. Then a line a C: C, processor seconds, rounds, steps of two
 * weights, samples that were in the set, samples whose kernel values with all were read (all three
 * since the start of the solver), support vectors, weights that bounds decided before the fit and
 * in all, of how many, relative gap, converged. */
#include "solver/saiv/saiv.h"
#include "svm_data.h"

#include <cblas.h>
#include <stdlib.h>
#include <string.h>

typedef struct {
    svm_data data;
    double *ones, *k;
    vxs_design *design;
    vxs_kernel_norm norm;
    vxs_method_settings settings;
} study;

static void make_kernel(study *s, double gamma)
{
    size_t n = s->data.size[0], p = s->data.size[1];
    double *x = svm_get(n * p + 1, sizeof(*x));
    s->k = svm_get(n * n, sizeof(*s->k));
    for (size_t k = 0; k < n * p; k++)
        x[k] = s->data.values[k];
    cblas_dsyrk(CblasColMajor, CblasLower, CblasNoTrans, (int)n, (int)p, 1, x, (int)n, 0, s->k,
                (int)n);
    vxs_kernel kernel = { .kind = VXS_KERNEL_RBF, .gamma = gamma, .scale = 1, .factor = 1 };
    double *own = svm_get(n, sizeof(*own));
    for (size_t i = 0; i < n; i++)
        own[i] = s->k[i * n + i];
    for (size_t j = 0; j < n; j++) {
        vxs_kernel_apply(&kernel, own + j, own[j], n - j, s->k + j * n + j);
        for (size_t i = j; i < n; i++)
            s->k[i * n + j] = s->k[j * n + i];
    }
    free(own);
    free(x);
}

static void load(study *s, const char *folder, double gamma)
{
    vxs_error err = VXS_ERROR_INIT;
    svm_load(&s->data, folder);
    size_t n = s->data.size[0];
    double start = svm_cpu_seconds();
    make_kernel(s, gamma);
    printf("%.6f\n", svm_cpu_seconds() - start);
    svm_must(vxs_gram_new(s->k, n, 1, &s->design, &err), &err);
    s->norm = vxs_kernel_norm_of(s->design);
    s->ones = svm_get(n, sizeof(*s->ones));
    for (size_t i = 0; i < n; i++)
        s->ones[i] = 1;
}

static vxs_solver *begin(const study *s)
{
    vxs_error err = VXS_ERROR_INIT;
    vxs_solver *solver = NULL;
    vxs_problem problem = { .design = s->design,
                            .loss.kind = &vxs_margin_loss,
                            .loss.n = s->data.size[0],
                            .loss.y = s->data.y,
                            .penalty = &s->norm.penalty,
                            .covariates = s->ones,
                            .covariate_count = 1 };
    svm_must(vxs_solver_new(NULL, &vxs_methods[VXS_METHOD_SVM], &problem, &s->settings, &solver,
                            &err),
             &err);
    return solver;
}

static void write_weights(const study *s, const vxs_solution *fit, FILE *file)
{
    size_t n = s->data.size[0];
    double *a = svm_get(n + 1, sizeof(*a));
    for (size_t k = 0; k < fit->count; k++)
        a[fit->index[k]] = fit->weight[k];
    a[n] = fit->covariate_coefficients[0];
    if (fwrite(a, sizeof(*a), n + 1, file) != n + 1)
        exit(1);
    free(a);
}

static void follow(const study *s, bool cold, char **costs)
{
    vxs_error err = VXS_ERROR_INIT;
    FILE *file = svm_open(&s->data, "w", "wb");
    double start = svm_cpu_seconds();
    vxs_solver *solver = begin(s);
    for (char **cost = costs; *cost; cost++) {
        vxs_solution fit;
        if (cold && cost > costs) {
            vxs_solver_free(solver);
            solver = begin(s);
        }
        vxs_path_point point = { VXS_BY_COST, strtod(*cost, NULL) };
        svm_must(vxs_solver_fit_at(solver, point, &fit, &err), &err);
        double end = svm_cpu_seconds();
        const vxs_certificate *c = &fit.certificate;
        vxs_saiv_counts counts = vxs_saiv_count(solver);
        printf("%s %.6f %zu %zu %zu %zu %zu %zu %zu %zu %.3g %d\n", *cost, end - start,
               c->iterations, counts.steps, counts.members, counts.columns, c->support,
               c->screening.before, c->screening.after, c->screening.terms, c->gap, c->converged);
        write_weights(s, &fit, file);
        vxs_solution_release(&fit);
        start = svm_cpu_seconds();
    }
    vxs_solver_free(solver);
    if (fclose(file) != 0)
        exit(1);
}

int main(int argc, char **argv)
{
    static const char *const ways[] = { "working-set", "screened", "saiv", NULL };
    static const char *const starts[] = { "warm", "cold", NULL };
    if (argc < 7) {
        fprintf(stderr, "saiv_ways FOLDER WAY START GAMMA TOL C...\n");
        return 64;
    }
    int way = svm_place_of(argv[2], ways);
    study s = { .settings.tol = strtod(argv[5], NULL), .settings.svm.solver = way };
    load(&s, argv[1], strtod(argv[4], NULL));
    follow(&s, svm_place_of(argv[3], starts) == 1, argv + 6);
    vxs_design_free(s.design);
    free(s.k);
    free(s.ones);
    svm_free(&s.data);
    return 0;
}
