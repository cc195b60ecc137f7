/* What is no problem: every misuse that a program could make of the solvers and the checker has one
 * sentence and a status, and none of them crashes, goes on for ever or is solved as another one. */
#include "tests/core/check.h"

enum { N = 12, P = 8 };

typedef struct {
    float x[N * P];
    double y[N], u[N], ones[N];
    vxs_design *design;
    vxs_blocks *units;
    vxs_graph chain;
    vxs_analysis trend;
    vxs_groups groups;
    vxs_blocks *of_groups;
    vxs_grouped grouped;
    vxs_fused fused;
    vxs_generalized sums;
    vxs_budget budget;
    vxs_design *kernel, *kernels;
    vxs_kernel_norm norm;
    vxs_kernel_sum norms;
    vxs_output_measure measure;
    vxs_problem problem; /* of the method that it was made for */
    const vxs_method *method;
    vxs_method_settings settings;
} example;

static const vxs_problem problems[] = {
    [VXS_METHOD_LASSO] = { .loss.kind = &vxs_squared_loss },
    [VXS_METHOD_FUSED] = { .loss.kind = &vxs_squared_loss },
    [VXS_METHOD_SKFS] = { .loss.kind = &vxs_hinge_loss, .nonnegative = true },
    [VXS_METHOD_HSIC] = { .loss.kind = &vxs_squared_loss, .nonnegative = true },
    [VXS_METHOD_FGM] = { .loss.kind = &vxs_squared_hinge_loss },
    [VXS_METHOD_MSLR] = { .loss.kind = &vxs_logistic_loss },
    [VXS_METHOD_GROUP_LASSO] = { .loss.kind = &vxs_squared_loss },
    [VXS_METHOD_GRAPHNET] = { .loss.kind = &vxs_squared_loss },
    [VXS_METHOD_SVM] = { .loss.kind = &vxs_margin_loss },
    [VXS_METHOD_MKL] = { .loss.kind = &vxs_margin_loss },
    [VXS_METHOD_MEASURE] = { .loss.kind = &vxs_measure_loss },
};

static void draw(example *e)
{
    vxs_random random = { .seed = 41 };
    for (size_t k = 0; k < N * P; k++)
        e->x[k] = (float)vxs_random_normal(&random, k);
    for (size_t i = 0; i < N; i++) {
        bool classes = e->problem.loss.kind == &vxs_logistic_loss ||
                       e->problem.loss.kind == &vxs_squared_hinge_loss ||
                       e->problem.loss.kind == &vxs_margin_loss ||
                       e->problem.loss.kind == &vxs_measure_loss;
        double score = (double)e->x[i] + 0.3 * vxs_random_normal(&random, N * P + i);
        e->y[i] = e->problem.loss.kind == &vxs_hinge_loss ? 3
                  : classes                               ? (score > 0 ? 1 : -1)
                                                          : score;
        e->u[i] = e->ones[i] = 1;
    }
}

/* Products of the samples, for the machine of kernels; and a second kernel. */
static void make_kernel(example *e)
{
    double k[2 * N * N] = { 0 };
    vxs_error err = VXS_ERROR_INIT;
    for (size_t a = 0; a < N; a++)
        for (size_t b = 0; b < N; b++)
            for (size_t j = 0; j < P; j++)
                k[a * N + b] += (double)e->x[j * N + a] * (double)e->x[j * N + b];
    WORKS(vxs_gram_new(k, N, 1, &e->kernel, &err), err);
    e->norm = vxs_kernel_norm_of(e->kernel);
    for (size_t i = 0; i < N; i++)
        k[N * N + i * N + i] = 1;
    WORKS(vxs_grams_new(k, N, 2, 1, &e->kernels, &err), err);
    e->norms = vxs_kernel_sum_of(e->kernels);
}

/* A small problem that the method solves. */
static example *make(int method)
{
    static example e;
    vxs_error err = VXS_ERROR_INIT;
    e = (example){ .problem = problems[method], .method = &vxs_methods[method] };
    e.settings = (vxs_method_settings){ .tol = 1e-6, .blocks.inner_tol = 1e-3 };
    draw(&e);
    WORKS(vxs_dense_new(e.x, N, P, 1, &e.design, &err), err);
    WORKS(vxs_graph_chain(P, &e.chain, &err), err);
    WORKS(vxs_analysis_trend(P, &e.trend, &err), err);
    WORKS(vxs_blocks_new(NULL, e.design, &(vxs_feature_map){ .kind = VXS_FEATURE_MAP_NONE },
                         &e.units, &err),
          err);
    WORKS(vxs_groups_new(P, P / 2, P, &e.groups, &err), err);
    for (size_t g = 0; g < P / 2; g++) {
        e.groups.begin[g] = 2 * g;
        e.groups.end[g] = 2 * g + 2;
        e.groups.member[2 * g] = 2 * g;
        e.groups.member[2 * g + 1] = 2 * g + 1;
    }
    WORKS(vxs_blocks_of_groups(NULL, e.design, &e.groups, 0.5, &e.of_groups, &err), err);
    e.grouped = vxs_grouped_by(e.of_groups);
    make_kernel(&e);
    e.problem.design = method == VXS_METHOD_SVM   ? e.kernel
                       : method == VXS_METHOD_MKL ? e.kernels
                                                  : e.design;
    WORKS(vxs_measure_read("roc", &e.measure, &err), err);
    e.problem.loss.measure = &e.measure;
    e.problem.loss.n = N;
    e.problem.loss.y = e.y;
    e.problem.loss.u = e.u;
    if (method != VXS_METHOD_SKFS) {
        e.problem.covariates = e.ones;
        e.problem.covariate_count = 1;
    }
    e.fused = vxs_fused_on(&e.chain, 0);
    e.sums = vxs_generalized_of(&e.trend);
    e.budget = (vxs_budget){ .penalty = { &vxs_budget_penalty },
                             .blocks = e.units,
                             .budget = 2,
                             .cost = 1,
                             .only_refit = method == VXS_METHOD_MSLR };
    e.problem.penalty = method == VXS_METHOD_FUSED         ? &e.fused.penalty
                        : method == VXS_METHOD_GROUP_LASSO ? &e.grouped.penalty
                        : method == VXS_METHOD_SVM         ? &e.norm.penalty
                        : method == VXS_METHOD_MKL         ? &e.norms.penalty
                        : e.method->path                   ? &e.budget.penalty
                                                           : &vxs_l1;
    return &e;
}

static void release(example *e)
{
    vxs_blocks_free(e->units);
    vxs_blocks_free(e->of_groups);
    vxs_groups_release(&e->groups);
    vxs_analysis_release(&e->trend);
    vxs_graph_release(&e->chain);
    vxs_design_free(e->design);
    vxs_design_free(e->kernel);
    vxs_design_free(e->kernels);
}

static vxs_status begin(const example *e, vxs_error *err)
{
    vxs_solver *solver = NULL;
    vxs_status status = vxs_solver_new(NULL, e->method, &e->problem, &e->settings, &solver, err);
    vxs_solver_free(solver);
    return status;
}

/* A point of its path that is not the empty model. */
static vxs_path_point somewhere(const example *e, double most)
{
    vxs_path_kind by = e->method->path;
    return (vxs_path_point){ by, by == VXS_BY_LAMBDA ? most / 3 : 3 };
}

/* Refused by the solver, and in the same words by the check that callers may ask themselves. */
#define REFUSED(e, wanted, part)                                                                   \
    do {                                                                                           \
        vxs_error refused = VXS_ERROR_INIT;                                                        \
        REFUSES(begin(e, &refused), refused, wanted, part);                                        \
        REFUSES(vxs_problem_check(&(e)->problem, (e)->method, &(e)->settings, &refused), refused,  \
                wanted, part);                                                                     \
        release(e);                                                                                \
    } while (0)

/* Whoever solves must solve what is no misuse, or these tests say nothing. */
Test(misuse, the_problems_themselves_are_solved)
{
    for (int m = VXS_METHOD_LASSO; m < VXS_METHODS; m++) {
        vxs_error err = VXS_ERROR_INIT;
        vxs_certificate found;
        vxs_solver *solver = NULL;
        vxs_solution s;
        example *e = make(m);
        WORKS(vxs_solver_new(NULL, e->method, &e->problem, &e->settings, &solver, &err), err);
        double most = vxs_solver_lambda_max(solver);
        WORKS(vxs_solver_fit_at(solver, somewhere(e, most), &s, &err), err);
        cr_assert(s.certificate.converged, "%s: gap %g", e->method->name, s.certificate.gap);
        WORKS(vxs_check_solution(&e->problem, &s, &found, &err), err);
        cr_assert(found.converged, "%s: gap %g", e->method->name, found.gap);
        vxs_solution_release(&s);
        vxs_solver_free(solver);
        release(e);
    }
}

/* ---- Parts ----------------------------------------------------------------------------------- */

Test(misuse, a_part_is_missing)
{
    example *e = make(VXS_METHOD_FUSED);
    e->problem.penalty = NULL;
    REFUSED(e, VXS_MISUSE,
            "method 'fused' takes a fused penalty or a generalized penalty, not an l1 penalty");
    e = make(VXS_METHOD_FUSED);
    e->fused.graph = NULL;
    REFUSED(e, VXS_MISUSE, "there is no graph");
    e = make(VXS_METHOD_FUSED);
    e->sums.terms = NULL;
    e->problem.penalty = &e->sums.penalty;
    REFUSED(e, VXS_MISUSE, "the generalized penalty has no analysis operator");
    e = make(VXS_METHOD_FGM);
    e->budget.blocks = NULL;
    REFUSED(e, VXS_MISUSE, "the budget has no feature blocks");
    e = make(VXS_METHOD_GROUP_LASSO);
    e->grouped.blocks = NULL;
    REFUSED(e, VXS_MISUSE, "the group penalty has no groups");
    e = make(VXS_METHOD_GROUP_LASSO);
    e->grouped.blocks = e->units;
    REFUSED(e, VXS_MISUSE, "a group penalty takes groups, not a feature map");
    e = make(VXS_METHOD_MSLR);
    e->problem.penalty = NULL;
    REFUSED(e, VXS_MISUSE, "method 'mslr' takes a budget of feature blocks, not an l1 penalty");
    e = make(VXS_METHOD_GRAPHNET);
    e->problem.quadratic = (vxs_quadratic){ &vxs_laplacian, 1, NULL };
    REFUSED(e, VXS_MISUSE, "there is no graph");
    e = make(VXS_METHOD_SKFS);
    e->problem.nonnegative = false;
    REFUSED(e, VXS_MISUSE, "method 'skfs' needs non-negative weights");
    e = make(VXS_METHOD_LASSO);
    e->problem.loss.y = NULL;
    REFUSED(e, VXS_MISUSE, "the problem has no y");
    e = make(VXS_METHOD_LASSO);
    e->problem.design = NULL;
    REFUSED(e, VXS_MISUSE, "the problem has no design");
    e = make(VXS_METHOD_LASSO);
    e->problem.covariates = NULL;
    REFUSED(e, VXS_MISUSE, "1 covariates without values");
}

Test(misuse, a_part_would_be_ignored)
{
    static const vxs_penalty_kind odd = { .name = NULL };
    static const vxs_quadratic_kind strange = { .name = NULL };
    static const vxs_penalty unknown = { &odd };
    example *e = make(VXS_METHOD_LASSO);
    e->problem.penalty = &e->fused.penalty;
    REFUSED(e, VXS_MISUSE, "method 'lasso' takes an l1 penalty, not a fused penalty");
    e = make(VXS_METHOD_LASSO);
    e->problem.penalty = &e->sums.penalty;
    REFUSED(e, VXS_MISUSE, "not a generalized penalty");
    e = make(VXS_METHOD_LASSO);
    e->problem.penalty = &e->budget.penalty;
    REFUSED(e, VXS_MISUSE, "not a budget of feature blocks");
    e = make(VXS_METHOD_LASSO);
    e->problem.penalty = &unknown;
    REFUSED(e, VXS_MISUSE, "not an unknown penalty");
    e = make(VXS_METHOD_LASSO);
    e->problem.quadratic = (vxs_quadratic){ &vxs_relative_laplacian, 1, &e->chain };
    REFUSED(e, VXS_MISUSE, "method 'lasso' does not take a relative Laplacian");
    e = make(VXS_METHOD_LASSO);
    e->problem.quadratic = (vxs_quadratic){ &strange, 1, NULL };
    REFUSED(e, VXS_MISUSE, "method 'lasso' does not take an unknown quadratic");
    e = make(VXS_METHOD_LASSO);
    e->problem.quadratic.weight = 1;
    REFUSED(e, VXS_MISUSE, "method 'lasso' does not take an unknown quadratic");
    e = make(VXS_METHOD_FUSED);
    e->problem.quadratic = (vxs_quadratic){ &vxs_ridge, 1, NULL };
    REFUSED(e, VXS_MISUSE, "method 'fused' does not take a ridge");
    e = make(VXS_METHOD_FUSED);
    e->problem.nonnegative = true;
    REFUSED(e, VXS_MISUSE, "method 'fused' does not take non-negative weights");
    e = make(VXS_METHOD_FGM);
    e->problem.penalty = &e->fused.penalty;
    REFUSED(e, VXS_MISUSE, "method 'fgm' takes a budget of feature blocks, not a fused penalty");
    e = make(VXS_METHOD_SKFS);
    e->problem.quadratic = (vxs_quadratic){ &vxs_ridge, 1, NULL };
    REFUSED(e, VXS_MISUSE, "method 'skfs' does not take a ridge");
}

Test(misuse, a_loss_that_the_method_does_not_have)
{
    static const vxs_loss_kind strange = { .name = "strange" };
    static const struct {
        int method;
        const vxs_loss_kind *loss;
        const char *part;
    } cases[] = {
        { VXS_METHOD_LASSO, &vxs_hinge_loss,
          "takes squared or logistic or squared-hinge or huber loss, not "
          "hinge" },
        { VXS_METHOD_LASSO, &vxs_multinomial_loss, "loss, not multinomial" },
        { VXS_METHOD_FUSED, &vxs_hinge_loss, "loss, not hinge" },
        { VXS_METHOD_SKFS, &vxs_squared_loss, "method 'skfs' takes hinge loss, not squared" },
        { VXS_METHOD_FGM, &vxs_huber_loss, "loss, not huber" },
        { VXS_METHOD_MSLR, &vxs_squared_hinge_loss, "takes logistic loss, not squared-hinge" },
        { VXS_METHOD_LASSO, &strange, "strange loss lacks" },
        { VXS_METHOD_FUSED, &strange, "not an unknown one" },
        { VXS_METHOD_FUSED, NULL, "not an unknown one" },
    };
    for (size_t k = 0; k < sizeof(cases) / sizeof(cases[0]); k++) {
        example *e = make(cases[k].method);
        e->problem.loss.kind = cases[k].loss;
        REFUSED(e, VXS_MISUSE, cases[k].part);
    }
}

/* ---- Shapes ---------------------------------------------------------------------------------- */

Test(misuse, shapes_that_do_not_fit)
{
    vxs_error err = VXS_ERROR_INIT;
    example *e = make(VXS_METHOD_FUSED);
    e->chain.nodes++;
    REFUSED(e, VXS_MISUSE, "the graph has 9 nodes for 8 features");
    e = make(VXS_METHOD_FUSED);
    e->chain.to[3] = P;
    REFUSED(e, VXS_MISUSE, "edge 3 of the graph leads to feature 8 of 8");
    e = make(VXS_METHOD_FUSED);
    e->chain.weight[2] = NAN;
    REFUSED(e, VXS_BAD_DATA, "edge 2 of the graph has weight nan");
    e = make(VXS_METHOD_FUSED);
    e->chain.count = 0;
    REFUSED(e, VXS_BAD_DATA, "the graph has no edges");
    e = make(VXS_METHOD_FUSED);
    e->problem.penalty = &e->sums.penalty;
    e->trend.index[4] = P;
    REFUSED(e, VXS_BAD_DATA, "in column 8 of 8");
    e = make(VXS_METHOD_FUSED);
    e->problem.loss.kind = &vxs_multinomial_loss;
    REFUSED(e, VXS_MISUSE, "multinomial loss does not go with 0 classes");
    e = make(VXS_METHOD_LASSO);
    e->problem.loss.n = N + 1;
    REFUSED(e, VXS_MISUSE, "the loss is of 13 samples, the design has 12 rows");
    e = make(VXS_METHOD_FGM);
    vxs_design *shorter;
    WORKS(vxs_dense_new(e->x, N - 1, P, 1, &shorter, &err), err);
    e->problem.design = shorter;
    e->problem.loss.n = N - 1;
    REFUSED(e, VXS_MISUSE, "the feature blocks have 12 rows, the design 11");
    vxs_design_free(shorter);
}

/* ---- Values ---------------------------------------------------------------------------------- */

Test(misuse, targets_that_the_loss_does_not_take)
{
    example *e = make(VXS_METHOD_LASSO);
    e->y[3] = NAN;
    REFUSED(e, VXS_BAD_DATA, "y of sample 3 is nan; squared loss takes numbers");
    e = make(VXS_METHOD_LASSO);
    e->y[0] = INFINITY;
    REFUSED(e, VXS_BAD_DATA, "y of sample 0 is inf");
    e = make(VXS_METHOD_LASSO);
    e->problem.loss.kind = &vxs_logistic_loss;
    for (size_t i = 0; i < N; i++)
        e->y[i] = (double)(i % 2);
    REFUSED(e, VXS_BAD_DATA, "y of sample 0 is 0; logistic loss takes -1 or 1");
    e = make(VXS_METHOD_FGM);
    e->y[5] = 2;
    REFUSED(e, VXS_BAD_DATA, "y of sample 5 is 2; squared-hinge loss takes -1 or 1");
    e = make(VXS_METHOD_SKFS); /* classes, as on a design that is none of kernel scores */
    for (size_t i = 0; i < N; i++)
        e->y[i] = i % 2 ? -1 : 1;
    REFUSED(e, VXS_BAD_DATA, "y of sample 1 is -1; hinge loss takes one margin above 0");
    e = make(VXS_METHOD_FUSED);
    e->problem.loss.kind = &vxs_multinomial_loss;
    e->problem.loss.k = 3;
    for (size_t i = 0; i < N; i++)
        e->y[i] = (double)(i % 4);
    REFUSED(e, VXS_BAD_DATA, "y of sample 3 is 3; multinomial loss takes numbers of classes");
}

Test(misuse, weights_and_covariates)
{
    static const double bad[] = { NAN, INFINITY, -1, 1e300 };
    for (int m = VXS_METHOD_LASSO; m < VXS_METHODS; m++)
        for (size_t k = 0; k < sizeof(bad) / sizeof(bad[0]); k++) {
            example *e = make(m);
            e->u[7] = bad[k];
            REFUSED(e, VXS_BAD_DATA, "the weight of sample 7 is ");
            e = make(m);
            e->ones[7] = bad[k] == -1 ? 1e200 : bad[k];
            if (e->problem.covariate_count > 0)
                REFUSED(e, VXS_BAD_DATA, "column 0 of the covariates is ");
            else
                release(e);
        }
    example *e = make(VXS_METHOD_LASSO);
    memset(e->u, 0, sizeof(e->u));
    REFUSED(e, VXS_BAD_DATA, "no sample has a weight above 0");
    e = make(VXS_METHOD_FGM);
    e->u[3] = 1e-30;
    REFUSED(e, VXS_BAD_DATA, "weights of samples reach from 1e-30 to 1;");
}

Test(misuse, penalties_and_tolerances)
{
    static const double bad[] = { NAN, INFINITY, -1 };
    for (size_t k = 0; k < sizeof(bad) / sizeof(bad[0]); k++) {
        example *e = make(VXS_METHOD_LASSO);
        e->problem.quadratic = (vxs_quadratic){ &vxs_ridge, bad[k], NULL };
        REFUSED(e, VXS_MISUSE, "the ridge must be a finite number of at least 0, not ");
        e = make(VXS_METHOD_FUSED);
        e->fused.sparsity = bad[k];
        REFUSED(e, VXS_MISUSE, "the sparsity must be");
        e = make(VXS_METHOD_SKFS);
        e->problem.quadratic = (vxs_quadratic){ &vxs_relative_laplacian, bad[k], &e->chain };
        REFUSED(e, VXS_MISUSE, "the smoothness must be");
        e = make(VXS_METHOD_FGM);
        e->budget.cost = bad[k];
        REFUSED(e, VXS_MISUSE, "the cost C must be a finite number above 0");
        e = make(VXS_METHOD_MSLR);
        e->budget.refit_cost = bad[k];
        REFUSED(e, VXS_MISUSE, "the cost C of refitting must be");
        e = make(VXS_METHOD_LASSO);
        e->settings.tol = bad[k];
        REFUSED(e, VXS_MISUSE, "the tolerance must be");
    }
    example *e = make(VXS_METHOD_LASSO);
    e->settings.tol = 0;
    REFUSED(e, VXS_MISUSE, "the tolerance must be a finite number above 0, not 0");
    e = make(VXS_METHOD_FGM);
    e->budget.budget = 0;
    REFUSED(e, VXS_MISUSE, "the budget must be a finite number of at least 1, not 0");
    e = make(VXS_METHOD_FUSED);
    e->settings.fused.solver = 9;
    REFUSED(e, VXS_MISUSE, "setting 'solver' has no choice number 9");
    e = make(VXS_METHOD_LASSO);
    e->settings.saif.screen = -1;
    REFUSED(e, VXS_MISUSE, "setting 'screen' has no choice number -1");
    e = make(VXS_METHOD_LASSO); /* choices of other methods */
    e->settings.fused.solver = 9;
    REFUSED(e, VXS_MISUSE, "setting 'solver' has no choice number 9");
    static const int others[] = { VXS_METHOD_SKFS, VXS_METHOD_FGM, VXS_METHOD_MSLR };
    for (size_t k = 0; k < 3; k++) {
        e = make(others[k]);
        e->settings.saif.screen = 9;
        REFUSED(e, VXS_MISUSE, "setting 'screen' has no choice number 9");
        e = make(others[k]);
        e->settings.saif.inner = -3;
        REFUSED(e, VXS_MISUSE, "setting 'subproblem' has no choice number -3");
    }
    e = make(VXS_METHOD_FGM);
    e->budget.map.kind = 9;
    REFUSED(e, VXS_MISUSE, "there is no feature map number 9");
    static const char *const lists[] = { "1,x,,3", "", "3,1", "1.5", "0" };
    for (size_t k = 0; k < 5; k++) {
        e = make(VXS_METHOD_FGM);
        e->settings.path.numbers = lists[k];
        REFUSED(e, VXS_MISUSE, "'--nselect' takes whole numbers that rise");
    }
    e = make(VXS_METHOD_FGM);
    e->settings.blocks.inner_tol = NAN;
    REFUSED(e, VXS_MISUSE, "setting 'subproblem-tol' is nan");
}

Test(misuse, lambda)
{
    static const struct {
        double lambda;
        const char *part;
    } bad[] = { { 0, "lambda is 0; without a penalty" },
                { -1, "lambda must be a finite number above 0, not -1" },
                { NAN, "lambda must be a finite number above 0, not nan" },
                { 5e-324, "of lambda_max (" },
                { 1e-300, "lambda is 1e-300, less than 2.2e-16 of lambda_max" },
                { 1e-17, "lambda is 1e-17, less than" },
                { INFINITY, "lambda must be" } };
    static const int ways[] = { VXS_FUSED_SAIF, VXS_FUSED_CUTS, VXS_FUSED_BP };
    for (int m = 0; m < 5; m++)
        for (size_t k = 0; k < sizeof(bad) / sizeof(bad[0]); k++) {
            vxs_error err = VXS_ERROR_INIT;
            vxs_solver *solver = NULL;
            vxs_solution s;
            example *e = make(m < 3 ? m : VXS_METHOD_FUSED);
            e->settings.fused.solver = m < 3 ? VXS_FUSED_AUTO : ways[m - 2];
            WORKS(vxs_solver_new(NULL, e->method, &e->problem, &e->settings, &solver, &err), err);
            REFUSES(vxs_solver_fit(solver, bad[k].lambda, &s, &err), err, VXS_MISUSE, bad[k].part);
            cr_assert(s.count == 0 && !s.weight && !s.covariate_coefficients);
            s = (vxs_solution){ .covariate_coefficients = e->ones,
                                .certificate = { .lambda = bad[k].lambda } };
            vxs_certificate found;
            if (!(bad[k].lambda > 0 &&
                  bad[k].lambda < 1)) /* of which the checker knows no largest */
                REFUSES(vxs_check_solution(&e->problem, &s, &found, &err), err, VXS_MISUSE,
                        "lambda");
            vxs_solver_free(solver);
            release(e);
        }
}

Test(misuse, numbers_of_rounds)
{
    static const double bad[] = { NAN, INFINITY, -1 };
    for (size_t k = 0; k < sizeof(bad) / sizeof(bad[0]); k++) {
        vxs_error err = VXS_ERROR_INIT;
        vxs_solver *solver = NULL;
        vxs_solution s;
        example *e = make(VXS_METHOD_FGM);
        WORKS(vxs_solver_new(NULL, e->method, &e->problem, &e->settings, &solver, &err), err);
        REFUSES(vxs_solver_fit_at(solver, (vxs_path_point){ VXS_BY_ITERATIONS, bad[k] }, &s, &err),
                err, VXS_MISUSE, "no number of rounds");
        REFUSES(vxs_solver_fit(solver, 0.1, &s, &err), err, VXS_MISUSE, "goes by rounds");
        vxs_solver_free(solver);
        release(e);
        e = make(VXS_METHOD_LASSO);
        WORKS(vxs_solver_new(NULL, e->method, &e->problem, &e->settings, &solver, &err), err);
        REFUSES(vxs_solver_fit_at(solver, (vxs_path_point){ VXS_BY_NUMBER, 3 }, &s, &err), err,
                VXS_MISUSE, "goes by lambda");
        vxs_solver_free(solver);
        release(e);
    }
}

/* Where nothing is left to find lambda_max is 0, and any lambda has the empty model as its answer.
 */
Test(misuse, nothing_to_find_ends_at_once)
{
    static const double lambdas[] = { 0, 1 };
    for (int m = VXS_METHOD_LASSO; m <= VXS_METHOD_SKFS; m++)
        for (size_t k = 0; k < 2; k++) {
            vxs_error err = VXS_ERROR_INIT;
            vxs_solver *solver = NULL;
            vxs_solution s;
            example *e = make(m);
            for (size_t i = 0; i < N * P; i++)
                e->x[i] = 0;
            WORKS(vxs_solver_new(NULL, e->method, &e->problem, &e->settings, &solver, &err), err);
            cr_assert(vxs_solver_lambda_max(solver) == 0);
            WORKS(vxs_solver_fit(solver, lambdas[k], &s, &err), err);
            cr_assert(s.count == 0, "%s: %zu", e->method->name, s.count);
            vxs_solution_release(&s);
            vxs_solver_free(solver);
            release(e);
        }
}

/* More covariates than samples are no misuse where they depend on each other; where they explain
 * every target, no gap says anything. */
Test(misuse, more_covariates_than_samples)
{
    static const int methods[] = { VXS_METHOD_LASSO, VXS_METHOD_FUSED, VXS_METHOD_FGM };
    static double wide[N * (N + 3)];
    for (size_t m = 0; m < 3; m++)
        for (size_t rank = 2; rank <= N; rank += N - 2) {
            vxs_error err = VXS_ERROR_INIT;
            vxs_certificate found;
            vxs_solver *solver = NULL;
            vxs_solution s;
            example *e = make(methods[m]);
            for (size_t k = 0; k < N + 3; k++)
                for (size_t i = 0; i < N; i++)
                    wide[k * N + i] = k == 0 ? 1 : (i % rank == k % rank) * (double)(1 + k);
            e->problem.covariates = wide;
            e->problem.covariate_count = N + 3;
            if (rank == N) {
                REFUSED(e, VXS_BAD_DATA, "15 covariates explain whatever 12 samples have");
                continue;
            }
            if (m == 1) { /* a level beside so many is refused in words of its own */
                REFUSES(begin(e, &err), err, VXS_BAD_DATA,
                        "connected components of the graph are not penalized");
                release(e);
                continue;
            }
            WORKS(vxs_solver_new(NULL, e->method, &e->problem, &e->settings, &solver, &err), err);
            double most = vxs_solver_lambda_max(solver);
            WORKS(vxs_solver_fit_at(solver, somewhere(e, most), &s, &err), err);
            WORKS(vxs_check_solution(&e->problem, &s, &found, &err), err);
            cr_assert(s.certificate.converged && found.converged, "gap %g", found.gap);
            vxs_solution_release(&s);
            vxs_solver_free(solver);
            release(e);
        }
}

/* ---- Designs --------------------------------------------------------------------------------- */

Test(misuse, designs_with_values_that_are_not_finite)
{
    static const float bad[] = { (float)NAN, INFINITY, -INFINITY };
    for (int m = VXS_METHOD_LASSO; m <= VXS_METHOD_SKFS; m++)
        for (size_t k = 0; k < sizeof(bad) / sizeof(bad[0]); k++) {
            vxs_error err = VXS_ERROR_INIT;
            vxs_certificate found;
            example *e = make(m);
            vxs_solution s = { .covariate_coefficients = e->ones,
                               .certificate = { .lambda = 1, .tol = 1 } };
            vxs_design_free(e->design);
            e->x[5 * N + (k == 2 ? 0 : 9)] = bad[k];
            WORKS(vxs_dense_new(e->x, N, P, 1, &e->design, &err), err);
            e->problem.design = e->design;
            REFUSES(begin(e, &err), err, VXS_BAD_DATA, "column 5 of the design is ");
            REFUSES(vxs_check_solution(&e->problem, &s, &found, &err), err, VXS_BAD_DATA,
                    "column 5 of the design is ");
            release(e);
        }
}

/* No method counts on a view that somebody has measured, nor passes a value over that is none. */
Test(misuse, views_that_nobody_measured)
{
    const vxs_view plain = { .standardize = VXS_STANDARDIZE_NONE };
    for (int m = VXS_METHOD_LASSO; m < VXS_METHOD_SVM; m++) { /* a kernel is no view */
        vxs_error err = VXS_ERROR_INIT;
        vxs_certificate found;
        vxs_solver *solver = NULL;
        vxs_solution s;
        example *e = make(m);
        WORKS(vxs_view_new(e->design, true, &plain, &e->problem.design, &err), err);
        WORKS(vxs_solver_new(NULL, e->method, &e->problem, &e->settings, &solver, &err), err);
        WORKS(vxs_solver_fit_at(solver, somewhere(e, vxs_solver_lambda_max(solver)), &s, &err),
              err);
        WORKS(vxs_check_solution(&e->problem, &s, &found, &err), err);
        cr_assert(found.converged, "%s: gap %g", e->method->name, found.gap);
        vxs_solution_release(&s);
        vxs_solver_free(solver);
        vxs_design_free(e->problem.design);
        release(e);
    }
}

/* ---- Solutions ------------------------------------------------------------------------------- */

Test(misuse, solutions_of_other_problems)
{
    vxs_error err = VXS_ERROR_INIT;
    vxs_certificate found;
    size_t index[] = { P };
    double weight[] = { 1 };
    example *e = make(VXS_METHOD_LASSO);
    vxs_solution s = { .index = index,
                       .weight = weight,
                       .count = 1,
                       .covariate_coefficients = e->ones,
                       .certificate = { .lambda = 1, .tol = 1 } };
    REFUSES(vxs_check_solution(&e->problem, &s, &found, &err), err, VXS_MISUSE,
            "a weight of column 8 of 8");
    index[0] = 0;
    weight[0] = NAN;
    REFUSES(vxs_check_solution(&e->problem, &s, &found, &err), err, VXS_BAD_DATA,
            "column 0 is nan");
    weight[0] = 1;
    s.covariate_coefficients = NULL;
    REFUSES(vxs_check_solution(&e->problem, &s, &found, &err), err, VXS_MISUSE, "covariates");
    s.covariate_coefficients = e->ones;
    e->y[0] = NAN;
    REFUSES(vxs_check_solution(&e->problem, &s, &found, &err), err, VXS_BAD_DATA, "y of sample 0");
    release(e);
}

/* A selection whose columns are not those of the units bounds nothing. */
Test(misuse, selections_of_other_units)
{
    vxs_error err = VXS_ERROR_INIT;
    vxs_certificate found;
    example *e = make(VXS_METHOD_FGM);
    vxs_solution s = { .certificate = { .tol = 1e-3 } };
    s.selected = vxs_selected_new(1, 3, 1, false, &err);
    cr_assert(s.selected);
    s.selected->start[1] = 3; /* units are single columns */
    WORKS(vxs_check_solution(&e->problem, &s, &found, &err), err);
    cr_assert(!found.converged && found.gap == INFINITY);
    s.selected->start[1] = 1;
    s.selected->block[0] = P;
    WORKS(vxs_check_solution(&e->problem, &s, &found, &err), err);
    cr_assert(!found.converged && found.gap == INFINITY);
    vxs_selected_free(s.selected);
    release(e);
}

/* ---- Gaps ------------------------------------------------------------------------------------ */

Test(misuse, a_gap_that_is_no_number_is_no_success)
{
    cr_assert(vxs_has_converged(0, 1e-6) && vxs_has_converged(1e-6, 1e-6));
    cr_assert(vxs_has_converged(-1e-15, 1e-12));
    cr_assert(!vxs_has_converged(1.1e-6, 1e-6));
    cr_assert(!vxs_has_converged(NAN, 1e-6) && !vxs_has_converged(NAN, INFINITY));
    cr_assert(!vxs_has_converged(0, NAN));
    cr_assert(!vxs_has_converged(INFINITY, 1e-6) && !vxs_has_converged(-INFINITY, 1e-6));
    cr_assert(!vxs_has_converged(-2.7e-10, 1e-9) && !vxs_has_converged(-1e-7, 1e-6));
    cr_assert(!vxs_has_converged(-0.5, 1e-6)); /* weak duality does not hold: a wrong bound */
}

/* Numbers that are finite, and what is made of them is not: refused, or marked; never certified. */
Test(misuse, what_overflows_is_never_certified)
{
    static const double sizes[] = { 1e60, 1e60, 1e100, 1e100 };
    for (int m = VXS_METHOD_LASSO; m < VXS_METHODS; m++)
        for (size_t k = 0; k < sizeof(sizes) / sizeof(sizes[0]); k++) {
            vxs_error err = VXS_ERROR_INIT;
            vxs_solver *solver = NULL;
            vxs_solution s;
            vxs_certificate found;
            example *e = make(m);
            for (size_t i = 0; i < N; i++)
                e->u[i] = k % 2 ? 1 / sizes[k] : sizes[k];
            if (e->problem.loss.kind == &vxs_squared_loss)
                for (size_t i = 0; i < N; i++)
                    e->y[i] *= sizes[k];
            vxs_status status =
                vxs_solver_new(NULL, e->method, &e->problem, &e->settings, &solver, &err);
            double most = status ? 0 : vxs_solver_lambda_max(solver);
            if (!status)
                status = vxs_solver_fit_at(solver, somewhere(e, most), &s, &err);
            cr_assert(status == VXS_OK || err.message[0]);
            if (!status) {
                cr_assert(!isnan(s.certificate.gap) && isfinite(s.certificate.primal));
                cr_assert(isfinite(s.certificate.gap) || !s.certificate.converged);
                if (!vxs_check_solution(&e->problem, &s, &found, &err))
                    cr_assert(!found.converged || isfinite(found.gap));
                vxs_solution_release(&s);
            }
            vxs_solver_free(solver);
            release(e);
        }
}

/* ---- Views, sparse storage, and what has no arrays ------------------------------------------- */

Test(misuse, views_that_cannot_be)
{
    vxs_error err = VXS_ERROR_INIT;
    vxs_design *view = NULL;
    example *e = make(VXS_METHOD_LASSO);
    size_t rows[2] = { 0, N };
    double penalties[P] = { 1, 0, 1, 1, 1, 1, 1, 1 }, confounds[N] = { [3] = NAN };
    const vxs_view far = { .rows = rows, .row_count = 2 };
    const vxs_view cheap = { .penalties = penalties };
    const vxs_view nan = { .confounds = confounds, .confound_count = 1 };
    const vxs_view unknown = { .standardize = (vxs_standardize)42 };
    REFUSES(vxs_view_new(e->design, true, &far, &view, &err), err, VXS_MISUSE,
            "row 12, its design 12 rows");
    REFUSES(vxs_view_new(e->design, true, &cheap, &view, &err), err, VXS_MISUSE,
            "the penalty of column 1 is 0");
    REFUSES(vxs_view_new(e->design, true, &nan, &view, &err), err, VXS_BAD_DATA,
            "confound 0 is nan in row 3");
    REFUSES(vxs_view_new(e->design, true, &unknown, &view, &err), err, VXS_MISUSE,
            "no standardization number 42");
    size_t none[1] = { 0 };
    const vxs_view empty = { .rows = none, .row_count = 0 };
    REFUSES(vxs_view_new(e->design, true, &empty, &view, &err), err, VXS_MISUSE,
            "a view needs a row");
    release(e);
}

/* A scan would count a row that is there twice once, and a fetch twice: the solver's gap and the
 * checker's would be of two problems. */
Test(misuse, views_with_a_row_twice)
{
    vxs_error err = VXS_ERROR_INIT;
    vxs_design *view = NULL;
    example *e = make(VXS_METHOD_LASSO);
    size_t twice[4] = { 3, 0, 0, 2 }, apart[4] = { 11, 4, 7, 11 }, shuffled[4] = { 3, 0, 11, 2 };
    vxs_view settings = { .rows = twice, .row_count = 4 };
    REFUSES(vxs_view_new(e->design, true, &settings, &view, &err), err, VXS_MISUSE,
            "a view has row 0 twice");
    settings.rows = apart;
    REFUSES(vxs_view_new(e->design, true, &settings, &view, &err), err, VXS_MISUSE,
            "a view has row 11 twice");
    settings.rows = shuffled; /* any order will do */
    WORKS(vxs_view_new(e->design, true, &settings, &view, &err), err);
    vxs_design_free(view);
    release(e);
}

Test(misuse, sparse_columns_that_lead_elsewhere)
{
    vxs_error err = VXS_ERROR_INIT;
    vxs_design *design = NULL;
    const float values[3] = { 1, 2, 3 };
    int32_t rows[3] = { 0, 500, 1 };
    size_t starts[4] = { 0, 1, 2, 3 };
    REFUSES(vxs_sparse_new(values, rows, starts, N, 3, 1, &design, &err), err, VXS_MISUSE,
            "column 1 of the design has row 500 of 12");
    rows[1] = -1;
    REFUSES(vxs_sparse_new(values, rows, starts, N, 3, 1, &design, &err), err, VXS_MISUSE,
            "row -1 of 12");
    rows[1] = 1;
    starts[1] = 3;
    REFUSES(vxs_sparse_new(values, rows, starts, N, 3, 1, &design, &err), err, VXS_MISUSE,
            "column 1 of the design ends before it begins");
    starts[1] = 1000000000; /* column 0 would read as far */
    REFUSES(vxs_sparse_new(values, rows, starts, N, 3, 1, &design, &err), err, VXS_MISUSE,
            "column 1 of the design ends before it begins");
    starts[1] = 1;
    starts[2] = 3;
    rows[2] = 1; /* a sum has both values, a column the last one */
    REFUSES(vxs_sparse_new(values, rows, starts, N, 3, 1, &design, &err), err, VXS_MISUSE,
            "column 1 of the design has row 1 twice");
    rows[2] = 0; /* any order will do, and other columns have rows of their own */
    WORKS(vxs_sparse_new(values, rows, starts, N, 3, 1, &design, &err), err);
    vxs_design_free(design);
}

Test(misuse, counts_without_arrays_and_methods_of_no_table)
{
    vxs_error err = VXS_ERROR_INIT;
    vxs_certificate found;
    double free_weight = 0;
    example *e = make(VXS_METHOD_FUSED);
    vxs_graph bare = { .nodes = P, .count = P - 1 };
    e->fused.graph = &bare;
    REFUSED(e, VXS_MISUSE, "edges without ends or weights");
    e = make(VXS_METHOD_FUSED);
    vxs_analysis terms = { .count = 2, .columns = P };
    e->sums.terms = &terms;
    e->problem.penalty = &e->sums.penalty;
    REFUSED(e, VXS_MISUSE, "the analysis operator has 2 rows, but no values");
    e = make(VXS_METHOD_LASSO);
    vxs_method copy = *e->method;
    e->method = &copy;
    REFUSED(e, VXS_MISUSE, "none of vxs_methods");
    e = make(VXS_METHOD_LASSO);
    e->method = &vxs_methods[VXS_METHODS];
    REFUSED(e, VXS_MISUSE, "none of vxs_methods");
    e = make(VXS_METHOD_LASSO);
    vxs_solution s = { .count = 2,
                       .covariate_coefficients = &free_weight,
                       .certificate = { .lambda = 1 } };
    REFUSES(vxs_check_solution(&e->problem, &s, &found, &err), err, VXS_MISUSE,
            "2 weights without values");
    release(e);
}

/* ---- Values of problems ---------------------------------------------------------------------- */

Test(misuse, values_at_weights_that_are_none)
{
    vxs_error err = VXS_ERROR_INIT;
    double w[P] = { 1 }, b = 1, value = 0, again = 0;
    example *e = make(VXS_METHOD_LASSO);
    const vxs_problem *q = &e->problem;
    REFUSES(vxs_problem_value(q, 1, NULL, &b, &value, &err), err, VXS_MISUSE, "there are no w");
    REFUSES(vxs_problem_value(q, 1, w, NULL, &value, &err), err, VXS_MISUSE,
            "there are no b for 1 covariates");
    REFUSES(vxs_problem_value(q, NAN, w, &b, &value, &err), err, VXS_MISUSE, "lambda must be");
    REFUSES(vxs_problem_value(q, -1, w, &b, &value, &err), err, VXS_MISUSE, "lambda must be");
    REFUSES(vxs_problem_value(q, INFINITY, w, &b, &value, &err), err, VXS_MISUSE, "lambda must be");
    w[3] = NAN;
    REFUSES(vxs_problem_value(q, 1, w, &b, &value, &err), err, VXS_BAD_DATA,
            "the weight of column 3 is nan");
    w[3] = 0;
    b = INFINITY;
    REFUSES(vxs_problem_value(q, 1, w, &b, &value, &err), err, VXS_BAD_DATA,
            "the weight of covariate 0 is inf");
    b = 1;
    WORKS(vxs_problem_value(q, 0, w, &b, &value, &err), err);
    const vxs_view plain = { .standardize = VXS_STANDARDIZE_NONE };
    WORKS(vxs_view_new(e->design, true, &plain, &e->problem.design, &err), err);
    WORKS(vxs_problem_value(q, 0, w, &b, &again, &err), err);
    cr_assert(fabs(value - again) <= 1e-12 * value, "%g of a view, not %g", again, value);
    vxs_design_free(e->problem.design);
    vxs_design_free(e->design);
    e->x[0] = (float)NAN;
    WORKS(vxs_dense_new(e->x, N, P, 1, &e->design, &err), err);
    e->problem.design = e->design;
    REFUSES(vxs_problem_value(q, 1, w, &b, &value, &err), err, VXS_BAD_DATA,
            "column 0 of the design is nan");
    release(e);
}

/* ---- Arguments ------------------------------------------------------------------------------- */

Test(misuse, arguments_that_are_missing)
{
    vxs_error err = VXS_ERROR_INIT;
    vxs_certificate found;
    vxs_solver *solver = NULL;
    vxs_solution s = { .count = 0 };
    double w[P] = { 0 }, b = 0;
    example *e = make(VXS_METHOD_LASSO);
    const vxs_problem *q = &e->problem;
    const vxs_path_point point = { VXS_BY_LAMBDA, 1 };
    REFUSES(vxs_problem_check(NULL, NULL, NULL, &err), err, VXS_MISUSE, "no design");
    REFUSES(vxs_problem_value(NULL, 1, w, &b, &b, &err), err, VXS_MISUSE, "no design");
    REFUSES(vxs_problem_value(q, 1, w, &b, NULL, &err), err, VXS_MISUSE, "'value' is NULL");
    REFUSES(vxs_solver_new(NULL, NULL, q, &e->settings, &solver, &err), err, VXS_MISUSE,
            "'method' is NULL");
    REFUSES(vxs_solver_new(NULL, e->method, NULL, &e->settings, &solver, &err), err, VXS_MISUSE,
            "no design");
    REFUSES(vxs_solver_new(NULL, e->method, q, NULL, &solver, &err), err, VXS_MISUSE,
            "'settings' is NULL");
    REFUSES(vxs_solver_new(NULL, e->method, q, &e->settings, NULL, &err), err, VXS_MISUSE,
            "'solver' is NULL");
    cr_assert(isnan(vxs_solver_lambda_max(NULL)) && vxs_solver_is_empty(NULL));
    REFUSES(vxs_solver_fit(NULL, 1, &s, &err), err, VXS_MISUSE, "'solver' is NULL");
    REFUSES(vxs_solver_fit_at(NULL, point, &s, &err), err, VXS_MISUSE, "'solver' is NULL");
    WORKS(vxs_solver_new(NULL, e->method, q, &e->settings, &solver, &err), err);
    REFUSES(vxs_solver_fit(solver, 1, NULL, &err), err, VXS_MISUSE, "'solution' is NULL");
    REFUSES(vxs_solver_fit_at(solver, (vxs_path_point){ (vxs_path_kind)9, 1 }, &s, &err), err,
            VXS_MISUSE, "goes by lambda");
    REFUSES(vxs_check_solution(NULL, &s, &found, &err), err, VXS_MISUSE, "no design");
    REFUSES(vxs_check_solution(q, NULL, &found, &err), err, VXS_MISUSE, "'solution' is NULL");
    REFUSES(vxs_check_solution(q, &s, NULL, &err), err, VXS_MISUSE, "'certificate' is NULL");
    vxs_solver_free(solver);
    vxs_solver_free(NULL);
    vxs_solution_release(NULL);
    release(e);
}

/* An operator without rows has no starts, and nothing is read of it. */
Test(misuse, parts_without_parts)
{
    vxs_error err = VXS_ERROR_INIT;
    vxs_certificate found;
    double weight = 1;
    size_t index = 0;
    example *e = make(VXS_METHOD_FUSED);
    const vxs_analysis nothing = { .columns = P };
    const vxs_fused graphless = vxs_fused_on(NULL, NAN);
    e->sums = vxs_generalized_of(&nothing);
    e->problem.penalty = &e->sums.penalty;
    WORKS(vxs_problem_check(&e->problem, NULL, NULL, &err), err);
    REFUSED(e, VXS_BAD_DATA, "the analysis operator has no rows");
    e = make(VXS_METHOD_FUSED);
    e->sums = vxs_generalized_of(NULL);
    e->problem.penalty = &e->sums.penalty;
    REFUSED(e, VXS_MISUSE, "no analysis operator");
    e = make(VXS_METHOD_FUSED);
    e->problem.penalty = &graphless.penalty;
    REFUSED(e, VXS_MISUSE, "the sparsity must be");
    e = make(VXS_METHOD_SKFS);
    vxs_bound bound = { .alpha = NULL };
    vxs_solution s = { .count = 1,
                       .index = &index,
                       .weight = &weight,
                       .bound = &bound,
                       .certificate = { .lambda = 1, .tol = 1 } };
    WORKS(vxs_check_solution(&e->problem, &s, &found, &err), err);
    cr_assert(found.gap == INFINITY && !found.converged);
    release(e);
    e = make(VXS_METHOD_FGM);
    vxs_selected selected = { .count = 1 };
    s = (vxs_solution){ .selected = &selected };
    REFUSES(vxs_check_solution(&e->problem, &s, &found, &err), err, VXS_MISUSE,
            "1 blocks without weights");
    release(e);
}

/* Whole numbers of a program, which no text was read for. */
Test(misuse, whole_numbers)
{
    example *e = make(VXS_METHOD_FGM);
    e->settings.blocks.budget = -4;
    REFUSED(e, VXS_MISUSE, "setting 'per-iteration' is -4");
    e = make(VXS_METHOD_FGM);
    e->settings.path.iterations = INT64_MIN;
    REFUSED(e, VXS_MISUSE, "setting 'iterations' is -9223372036854775808");
    e = make(VXS_METHOD_LASSO);
    e->settings.path.nlambda = 1;
    REFUSED(e, VXS_MISUSE, "setting 'nlambda' is 1");
}
