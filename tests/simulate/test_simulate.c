#include "tests/core/check.h"
#include "tests/core/faults.h"

#include <sys/stat.h>

static char place[512];

static void set_up(void)
{
    work_path(place, "sim");
}

static void tear_down(void)
{
    char command[700];
    snprintf(command, sizeof(command), "rm -rf '%s'", place);
    cr_assert(system(command) == 0);
}

TestSuite(simulate, .init = set_up, .fini = tear_down);

typedef struct {
    vxs_npy x;
    vxs_table *people, *truth;
} cohort;

static const char *in(const char *name)
{
    static char path[700];
    snprintf(path, sizeof(path), "%s/%s", place, name);
    return path;
}

static cohort load(void)
{
    vxs_error err = VXS_ERROR_INIT;
    cohort c;
    WORKS(vxs_npy_open(in("features.npy"), &c.x, &err), err);
    WORKS(vxs_table_read(in("participants.tsv"), &c.people, &err), err);
    WORKS(vxs_table_read(in("truth.tsv"), &c.truth, &err), err);
    return c;
}

static void unload(cohort *c)
{
    vxs_npy_release(&c->x);
    vxs_table_free(c->people);
    vxs_table_free(c->truth);
}

/* score - X b from the files alone: what is left must be the noise. */
static double left_over(const cohort *c, size_t i)
{
    const float *x = vxs_npy_floats(&c->x);
    double y = 0, weight = 0;
    cr_assert(vxs_table_real(c->people, i, 1, &y, NULL) == VXS_OK);
    for (size_t k = 0; k < vxs_table_rows(c->truth); k++) {
        size_t j = strtoul(vxs_table_cell(c->truth, k, 0) + 1, NULL, 10);
        cr_assert(vxs_table_real(c->truth, k, 1, &weight, NULL) == VXS_OK);
        y -= weight * (double)x[j * c->x.shape[1] + i];
    }
    return y;
}

Test(simulate, the_files_obey_the_model)
{
    vxs_error err = VXS_ERROR_INIT;
    vxs_lasso_simulation s;
    vxs_params_defaults(vxs_lasso_simulation_params, &s);
    s.subjects = 400;
    s.features = 3001; /* not a multiple of the block */
    s.noise = 2;
    WORKS(vxs_simulate_lasso(NULL, &s, place, false, &err), err);
    cohort c = load();
    cr_assert(c.x.shape[0] == 3001 && c.x.shape[1] == 400 && vxs_npy_floats(&c.x));
    cr_assert(vxs_table_rows(c.people) == 400 && vxs_table_rows(c.truth) == 600, "20 percent");
    double sum = 0, squares = 0;
    for (size_t i = 0; i < 400; i++) {
        double e = left_over(&c, i);
        sum += e;
        squares += e * e;
    }
    cr_assert(fabs(sum / 400) < 5 * 2 / sqrt(400), "mean of the noise %g", sum / 400);
    cr_assert(fabs(sqrt(squares / 400) - 2) < 5 * 2 / sqrt(800), "sd %g", sqrt(squares / 400));
    const float *x = vxs_npy_floats(&c.x);
    double x_sum = 0, x_squares = 0, w_sum = 0, w_squares = 0, with_noise = 0, w = 0;
    for (size_t k = 0; k < c.x.count; k++) {
        cr_assert(x[k] >= -10 && x[k] <= 10);
        x_sum += (double)x[k];
        x_squares += (double)x[k] * (double)x[k];
    }
    for (size_t k = 0; k < 600; k++) {
        WORKS(vxs_table_real(c.truth, k, 1, &w, &err), err);
        cr_assert(w >= -1 && w <= 1);
        w_sum += w;
        w_squares += w * w;
    }
    for (size_t i = 0; i < 400; i++)
        with_noise += left_over(&c, i) * (double)x[i];
    /* five standard errors of each mean: uniform on [-a, a] has variance a^2/3, its square 4a^4/45
     */
    double n = (double)c.x.count;
    cr_assert(fabs(x_sum / n) < 5 * sqrt(100 / 3.0 / n));
    cr_assert(fabs(x_squares / n - 100 / 3.0) < 5 * sqrt(4e4 / 45 / n));
    cr_assert(fabs(w_sum / 600) < 5 * sqrt(1 / 3.0 / 600));
    cr_assert(fabs(w_squares / 600 - 1 / 3.0) < 5 * sqrt(4 / 45.0 / 600));
    cr_assert(fabs(with_noise / 400) < 5 * 2 * sqrt(100 / 3.0) / 20, "noise is a stranger to X");
    unload(&c);
}

Test(simulate, without_noise_the_truth_is_exact)
{
    vxs_error err = VXS_ERROR_INIT;
    vxs_lasso_simulation s;
    vxs_params_defaults(vxs_lasso_simulation_params, &s);
    s.noise = 0;
    s.subjects = 50;
    WORKS(vxs_simulate_lasso(NULL, &s, place, false, &err), err);
    cohort c = load();
    for (size_t i = 0; i < 50; i++)
        cr_assert(fabs(left_over(&c, i)) < 1e-9, "only the order of the sums may differ");
    unload(&c);
}

Test(simulate, one_seed_one_cohort)
{
    vxs_error err = VXS_ERROR_INIT;
    vxs_lasso_simulation s;
    char *first = NULL, *second = NULL, *other = NULL;
    size_t n = 0;
    vxs_params_defaults(vxs_lasso_simulation_params, &s);
    s.features = 100;
    WORKS(vxs_simulate_lasso(NULL, &s, place, false, &err), err);
    WORKS(vxs_file_read(in("participants.tsv"), &first, &n, &err), err);
    WORKS(vxs_simulate_lasso(NULL, &s, place, true, &err), err);
    WORKS(vxs_file_read(in("participants.tsv"), &second, &n, &err), err);
    s.seed = 2;
    WORKS(vxs_simulate_lasso(NULL, &s, place, true, &err), err);
    WORKS(vxs_file_read(in("participants.tsv"), &other, &n, &err), err);
    cr_assert_str_eq(first, second);
    cr_assert(strcmp(first, other) != 0);
    free(first);
    free(second);
    free(other);
}

Test(simulate, a_diagnosis_is_the_sign_of_the_score)
{
    vxs_error err = VXS_ERROR_INIT;
    vxs_lasso_simulation s;
    vxs_params_defaults(vxs_lasso_simulation_params, &s);
    s.features = 200;
    WORKS(vxs_simulate_lasso(NULL, &s, place, false, &err), err);
    cohort scores = load();
    s.target = VXS_SIMULATE_DIAGNOSIS;
    WORKS(vxs_simulate_lasso(NULL, &s, place, true, &err), err);
    cohort classes = load();
    for (size_t i = 0; i < 100; i++) {
        double y = 0;
        WORKS(vxs_table_real(scores.people, i, 1, &y, &err), err);
        cr_assert_str_eq(vxs_table_cell(classes.people, i, 1), y > 0 ? "patient" : "control");
    }
    unload(&scores);
    unload(&classes);
}

Test(simulate, odd_sizes)
{
    static const int64_t sizes[][2] = { { 2, 1 }, { 300000, 3 }, { 2, 70000 } };
    vxs_error err = VXS_ERROR_INIT;
    for (size_t k = 0; k < 3; k++) {
        vxs_lasso_simulation s;
        vxs_params_defaults(vxs_lasso_simulation_params, &s);
        s.subjects = sizes[k][0];
        s.features = sizes[k][1];
        s.nonzero = k == 0 ? 0 : 1;
        WORKS(vxs_simulate_lasso(NULL, &s, place, k > 0, &err), err);
        cohort c = load();
        cr_assert(vxs_table_rows(c.truth) == (k == 0 ? 0 : (size_t)sizes[k][1]));
        unload(&c);
    }
}

Test(simulate, stops_when_told_and_leaves_nothing)
{
    const volatile int stop = 1;
    const vxs_context context = { .interrupted = &stop };
    vxs_error err = VXS_ERROR_INIT;
    vxs_lasso_simulation s;
    vxs_params_defaults(vxs_lasso_simulation_params, &s);
    REFUSES(vxs_simulate_lasso(&context, &s, place, false, &err), err, VXS_INTERRUPTED,
            "interrupted while simulating");
    cr_assert(access(place, F_OK) != 0);
}

/* Of the 16 trees of four nodes 4 are stars. */
Test(simulate, trees_are_as_likely_as_each_other)
{
    vxs_error err = VXS_ERROR_INIT;
    double stars = 0;
    const int runs = 400;
    for (int seed = 0; seed < runs; seed++) {
        vxs_fused_simulation s;
        vxs_table *graph = NULL;
        int degree[4] = { 0 }, most = 0;
        vxs_params_defaults(vxs_fused_simulation_params, &s);
        s.subjects = 2;
        s.features = 4;
        s.trees = 1;
        s.seed = seed;
        WORKS(vxs_simulate_fused(NULL, &s, place, seed > 0, &err), err);
        WORKS(vxs_table_read(in("graph.tsv"), &graph, &err), err);
        cr_assert(vxs_table_rows(graph) == 3);
        for (size_t e = 0; e < 6; e++)
            degree[vxs_table_cell(graph, e / 2, e % 2)[1] - '0']++;
        for (int k = 0; k < 4; k++)
            most = degree[k] > most ? degree[k] : most;
        stars += most == 3;
        vxs_table_free(graph);
    }
    cr_assert(fabs(stars / runs - 0.25) < 5 * sqrt(0.25 * 0.75 / runs), "%g stars", stars);
}

Test(simulate, graphs_that_cannot_be_are_refused)
{
    vxs_error err = VXS_ERROR_INIT;
    vxs_fused_simulation s;
    vxs_params_defaults(vxs_fused_simulation_params, &s);
    s.features = 5;
    s.trees = 6;
    REFUSES(vxs_simulate_fused(NULL, &s, place, false, &err), err, VXS_MISUSE,
            "5 features are too few for 6 trees");
    s.edges = 1;
    REFUSES(vxs_simulate_fused(NULL, &s, place, false, &err), err, VXS_MISUSE,
            "'--edges' and '--trees' exclude each other");
    s.trees = 0;
    s.edges = 2.1;
    REFUSES(vxs_simulate_fused(NULL, &s, place, false, &err), err, VXS_MISUSE,
            "5 features have 10 pairs in all, fewer than 11");
    s.edges = 2; /* all pairs */
    WORKS(vxs_simulate_fused(NULL, &s, place, false, &err), err);
    const volatile int stop = 1;
    const vxs_context context = { .interrupted = &stop };
    REFUSES(vxs_simulate_fused(&context, &s, place, true, &err), err, VXS_INTERRUPTED,
            "interrupted");
}

static vxs_status simulate_little_graph(vxs_error *err)
{
    vxs_fused_simulation s;
    vxs_params_defaults(vxs_fused_simulation_params, &s);
    s.features = 10;
    vxs_status status = vxs_simulate_fused(NULL, &s, place, true, err);
    s.trees = 3;
    s.target = VXS_SIMULATE_DIAGNOSIS;
    return status ? status : vxs_simulate_fused(NULL, &s, place, true, err);
}

static vxs_status simulate_little_pairs(vxs_error *err)
{
    vxs_pairs_simulation s;
    vxs_params_defaults(vxs_pairs_simulation_params, &s);
    s.features = 10;
    return vxs_simulate_pairs(NULL, &s, place, true, err);
}

Test(simulate, no_memory_for_pairs_is_an_error)
{
    cr_assert(fail_each_request(simulate_little_pairs) >= 9);
}

Test(simulate, no_memory_for_graphs_is_an_error)
{
    cr_assert(fail_each_request(simulate_little_graph) > 40);
}

static vxs_status simulate_little(vxs_error *err)
{
    vxs_lasso_simulation s;
    vxs_params_defaults(vxs_lasso_simulation_params, &s);
    s.features = 10;
    return vxs_simulate_lasso(NULL, &s, place, false, err);
}

Test(simulate, memory_may_run_out_on_the_way)
{
    cr_assert(fail_each_request(simulate_little) >= 7);
}
