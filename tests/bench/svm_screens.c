/* The sparse linear SVM (squared hinge, l1) at lambda_max / k, k = 1 to COUNT:
 * svm_screens FOLDER WAY INNER START COUNT. WAY is none, dynamic, dpp, strong, vi or saif; INNER
 * auto, exact or descent; START warm, or cold: a new solver for each k, which knows lambda_max
 * alone. FOLDER: svm_data.h. Prints a line a k: k, lambda, processor seconds, passes, weights,
 * missed, features kept by vi before solving, iterations, converged.
 */
#include "svm_data.h"

#include <stdlib.h>

typedef struct {
    svm_data data;
    double *ones;
    vxs_design *design;
    vxs_method_settings settings;
} study;

static void load(study *s, const char *folder)
{
    vxs_error err = VXS_ERROR_INIT;
    svm_load(&s->data, folder);
    const svm_data *d = &s->data;
    size_t n = d->size[0], p = d->size[1];
    s->ones = svm_get(n, sizeof(*s->ones));
    for (size_t i = 0; i < n; i++)
        s->ones[i] = 1;
    svm_must(d->rows ? vxs_sparse_new(d->values, d->rows, d->starts, n, p, 1, &s->design, &err)
                     : vxs_dense_new(d->values, n, p, 1, &s->design, &err),
             &err);
}

static vxs_solver *begin(const study *s)
{
    vxs_error err = VXS_ERROR_INIT;
    vxs_solver *solver = NULL;
    vxs_problem problem = { .design = s->design,
                            .loss.kind = &vxs_squared_hinge_loss,
                            .loss.n = s->data.size[0],
                            .loss.y = s->data.y,
                            .covariates = s->ones,
                            .covariate_count = 1,
                            .penalty = &vxs_l1 };
    svm_must(vxs_solver_new(NULL, &vxs_methods[VXS_METHOD_LASSO], &problem, &s->settings, &solver,
                            &err),
             &err);
    return solver;
}

static void write_weights(const study *s, const vxs_solution *fit, FILE *file)
{
    size_t p = s->data.size[1];
    double *w = svm_get(p + 1, sizeof(*w));
    for (size_t k = 0; k < fit->count; k++)
        w[fit->index[k]] = fit->weight[k];
    w[p] = fit->covariate_coefficients[0];
    svm_write(&s->data, w, file);
    free(w);
}

static void follow(const study *s, bool cold, int count)
{
    vxs_error err = VXS_ERROR_INIT;
    FILE *file = svm_open(&s->data, "w", "wb");
    double start = svm_cpu_seconds();
    vxs_solver *solver = begin(s);
    for (int k = 1; k <= count; k++) {
        vxs_solution fit;
        if (cold && k > 1) {
            vxs_solver_free(solver);
            solver = begin(s);
        }
        double lambda = vxs_solver_lambda_max(solver) / k;
        svm_must(vxs_solver_fit(solver, lambda, &fit, &err), &err);
        double end = svm_cpu_seconds();
        const vxs_certificate *c = &fit.certificate;
        printf("%d %.17g %.6f %.3f %zu %zu %zu %zu %d\n", k, lambda, end - start, c->passes,
               (size_t)fit.count, (size_t)c->missed,
               c->screening.terms ? (size_t)(c->screening.terms - c->screening.before) : 0,
               (size_t)c->iterations, c->converged);
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
    static const char *const ways[] = { "saif", "none", "dynamic", "dpp", "strong", "vi", NULL };
    static const char *const inner[] = { "auto", "exact", "descent", NULL };
    static const char *const starts[] = { "warm", "cold", NULL };
    if (argc != 6) {
        fprintf(stderr, "svm_screens FOLDER WAY INNER START COUNT\n");
        return 64;
    }
    study s = { .settings.tol = 1e-6 };
    s.settings.saif.screen = svm_place_of(argv[2], ways);
    s.settings.saif.inner = svm_place_of(argv[3], inner);
    load(&s, argv[1]);
    follow(&s, svm_place_of(argv[4], starts) == 1, atoi(argv[5]));
    vxs_design_free(s.design);
    free(s.ones);
    svm_free(&s.data);
    return 0;
}
