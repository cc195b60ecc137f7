/* The sparse linear SVM (squared hinge, l1) at lambda_max / k, k = 1 to COUNT:
 * svm_screens FOLDER WAY INNER START COUNT. WAY is none, dynamic, dpp, strong, vi or saif; INNER
 * auto, exact or descent; START warm, or cold: a new solver for each k, which knows lambda_max
 * alone. FOLDER has size (n, p, 1 if sparse; uint64), y (doubles) and columns (floats), of sparse
 * ones with rows (int32) and starts (uint64). Prints a line a k: k, lambda, processor seconds,
 * passes, weights, missed, features kept by vi before solving, iterations, converged. Writes
 * weights, then b, of all k into FOLDER/w (doubles).
 */
#include "voxsift/internal/all.h"

#include <stdlib.h>
#include <string.h>
#include <time.h>

typedef struct {
    const char *folder;
    uint64_t size[3]; /* n, p, sparse */
    double *y, *ones;
    float *values;
    int32_t *rows;
    size_t *starts;
    vxs_design *design;
    vxs_method_settings settings;
} study;

static void must(vxs_status status, const vxs_error *err)
{
    if (!status)
        return;
    fprintf(stderr, "%s\n", err->message);
    exit(1);
}

static void *get(size_t count, size_t size)
{
    vxs_error err = VXS_ERROR_INIT;
    void *memory = vxs_alloc(count, size, &err);
    must(memory ? VXS_OK : VXS_FAILED, &err);
    return memory;
}

static FILE *open_in(const study *s, const char *name, const char *mode)
{
    char path[4096];
    (void)snprintf(path, sizeof(path), "%s/%s", s->folder, name);
    FILE *file = fopen(path, mode);
    if (!file)
        perror(path);
    return file ? file : (exit(1), NULL);
}

static void read_in(const study *s, const char *name, void *to, size_t count, size_t size)
{
    FILE *file = open_in(s, name, "rb");
    if (fread(to, size, count, file) != count) {
        fprintf(stderr, "%s is too short\n", name);
        exit(1);
    }
    (void)fclose(file);
}

static void load(study *s)
{
    vxs_error err = VXS_ERROR_INIT;
    read_in(s, "size", s->size, 3, sizeof(*s->size));
    size_t n = s->size[0], p = s->size[1], count = n * p;
    s->y = get(n, sizeof(*s->y));
    s->ones = get(n, sizeof(*s->ones));
    read_in(s, "y", s->y, n, sizeof(*s->y));
    for (size_t i = 0; i < n; i++)
        s->ones[i] = 1;
    if (s->size[2]) {
        s->starts = get(p + 1, sizeof(*s->starts));
        read_in(s, "starts", s->starts, p + 1, sizeof(*s->starts));
        count = s->starts[p];
        s->rows = get(count, sizeof(*s->rows));
        read_in(s, "rows", s->rows, count, sizeof(*s->rows));
    }
    s->values = get(count, sizeof(*s->values));
    read_in(s, "columns", s->values, count, sizeof(*s->values));
    must(s->size[2] ? vxs_sparse_new(s->values, s->rows, s->starts, n, p, 1, &s->design, &err)
                    : vxs_dense_new(s->values, n, p, 1, &s->design, &err),
         &err);
}

static double cpu_seconds(void)
{
    struct timespec t;
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

static vxs_solver *begin(const study *s)
{
    vxs_error err = VXS_ERROR_INIT;
    vxs_solver *solver = NULL;
    vxs_problem problem = { .design = s->design,
                            .loss.kind = &vxs_squared_hinge_loss,
                            .loss.n = s->size[0],
                            .loss.y = s->y,
                            .covariates = s->ones,
                            .covariate_count = 1,
                            .penalty = &vxs_l1 };
    must(vxs_solver_new(NULL, &vxs_methods[VXS_METHOD_LASSO], &problem, &s->settings, &solver,
                        &err),
         &err);
    return solver;
}

static void write_weights(const study *s, const vxs_solution *fit, FILE *file)
{
    double *w = get(s->size[1] + 1, sizeof(*w));
    for (size_t k = 0; k < fit->count; k++)
        w[fit->index[k]] = fit->weight[k];
    w[s->size[1]] = fit->covariate_coefficients[0];
    if (fwrite(w, sizeof(*w), s->size[1] + 1, file) != s->size[1] + 1)
        exit(1);
    free(w);
}

static void follow(const study *s, bool cold, int count)
{
    vxs_error err = VXS_ERROR_INIT;
    FILE *file = open_in(s, "w", "wb");
    double start = cpu_seconds();
    vxs_solver *solver = begin(s);
    for (int k = 1; k <= count; k++) {
        vxs_solution fit;
        if (cold && k > 1) {
            vxs_solver_free(solver);
            solver = begin(s);
        }
        double lambda = vxs_solver_lambda_max(solver) / k;
        must(vxs_solver_fit(solver, lambda, &fit, &err), &err);
        double end = cpu_seconds();
        const vxs_certificate *c = &fit.certificate;
        printf("%d %.17g %.6f %.3f %zu %zu %zu %zu %d\n", k, lambda, end - start, c->passes,
               (size_t)fit.count, (size_t)c->missed,
               c->screening.terms ? (size_t)(c->screening.terms - c->screening.before) : 0,
               (size_t)c->iterations, c->converged);
        write_weights(s, &fit, file);
        vxs_solution_release(&fit);
        start = cpu_seconds();
    }
    vxs_solver_free(solver);
    if (fclose(file) != 0)
        exit(1);
}

static int place_of(const char *word, const char *const *words, int count)
{
    for (int k = 0; k < count; k++)
        if (strcmp(word, words[k]) == 0)
            return k;
    fprintf(stderr, "not known: %s\n", word);
    exit(64);
}

int main(int argc, char **argv)
{
    static const char *const ways[] = { "saif", "none", "dynamic", "dpp", "strong", "vi" };
    static const char *const inner[] = { "auto", "exact", "descent" };
    static const char *const starts[] = { "warm", "cold" };
    if (argc != 6) {
        fprintf(stderr, "svm_screens FOLDER WAY INNER START COUNT\n");
        return 64;
    }
    study s = { .folder = argv[1], .settings.tol = 1e-6 };
    s.settings.saif.screen = place_of(argv[2], ways, 6);
    s.settings.saif.inner = place_of(argv[3], inner, 3);
    load(&s);
    follow(&s, place_of(argv[4], starts, 2) == 1, atoi(argv[5]));
    vxs_design_free(s.design);
    free(s.y);
    free(s.ones);
    free(s.values);
    free(s.rows);
    free(s.starts);
    return 0;
}
