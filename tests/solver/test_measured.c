/* Feature generation for measures: certificates that the checker confirms, on problems with and
 * without covariates, weights and groups; what is the same problem in other words; and dual points
 * that are none. */
#include "solver/cutting_plane/cutting_plane.h"
#include "tests/core/check.h"
#include "tests/core/faults.h"

static const char *const texts[] = { "error", "balanced",  "f1",     "fbeta:2",
                                     "gmean", "top:3",     "top:2p", "top:20%",
                                     "top:1", "breakeven", "roc",    "fbeta:0.5" };
enum { MEASURES = sizeof(texts) / sizeof(texts[0]), ROC = 10 };

typedef struct {
    size_t n, p;
    float *x;
    double *y, *u, *covariates;
    vxs_design *design;
    vxs_blocks *units;
    vxs_budget budget;
    vxs_output_measure measure;
    vxs_problem problem;
} example;

static double normal(const vxs_random *random, uint64_t *at)
{
    return vxs_random_normal(random, (*at)++);
}

static void draw_columns(example *e, const vxs_random *random, uint64_t *at)
{
    for (size_t j = 0; j < e->p; j++) {
        for (size_t i = 0; i < e->n; i++) {
            double near = j > 0 ? (double)e->x[(j - 1) * e->n + i] : 0;
            e->x[j * e->n + i] = (float)(0.6 * near + normal(random, at));
        }
        if (j % 13 == 7)
            memcpy(e->x + j * e->n, e->x + (j - 5) * e->n, e->n * sizeof(*e->x));
        if (j % 17 == 9)
            memset(e->x + j * e->n, 0, e->n * sizeof(*e->x));
    }
}

static void draw(example *e, const vxs_random *random, uint64_t *at)
{
    draw_columns(e, random, at);
    for (size_t i = 0; i < e->n; i++) {
        double z = 0.5 * normal(random, at) - 0.8;
        for (size_t j = 0; j < 6 && j < e->p; j++)
            z += (j % 2 ? -1 : 1) * (double)e->x[j * e->n + i];
        e->y[i] = i < 2 ? 2 * (double)i - 1 : z > 0 ? 1 : -1;
        e->u[i] = i % 7 == 6 ? 0 : 0.5 + vxs_random_uniform(random, (*at)++);
        e->covariates[i] = 1;
        e->covariates[e->n + i] = normal(random, at);
        e->covariates[2 * e->n + i] = normal(random, at);
    }
}

/* Correlated neighbors, duplicated columns, a column of zeros; fewer positives than others. */
static example make(const char *text, uint64_t number, size_t n, size_t p)
{
    vxs_random random = { .seed = 43, .stream = number };
    vxs_error err = VXS_ERROR_INIT;
    uint64_t at = 0;
    example e = { .n = n, .p = p };
    e.x = malloc(n * p * sizeof(*e.x));
    e.y = malloc(n * sizeof(*e.y));
    e.u = malloc(n * sizeof(*e.u));
    e.covariates = malloc(3 * n * sizeof(*e.covariates));
    draw(&e, &random, &at);
    WORKS(vxs_dense_new(e.x, n, p, 1, &e.design, &err), err);
    WORKS(vxs_blocks_new(NULL, e.design, &(vxs_feature_map){ .kind = VXS_FEATURE_MAP_NONE },
                         &e.units, &err),
          err);
    static const size_t budgets[] = { 1, 2, 5, 12, 400 };
    static const double costs[] = { 0.003, 0.03, 0.3, 3 };
    WORKS(vxs_measure_read(text, &e.measure, &err), err);
    bool weighted = e.measure.kind->takes_weights && number % 3 == 0;
    e.problem = (vxs_problem){
        .design = e.design,
        .loss = { .kind = &vxs_measure_loss, .n = n, .y = e.y, .u = weighted ? e.u : NULL },
        .covariates = e.covariates,
        .covariate_count = number / 2 % 4
    };
    e.budget = (vxs_budget){ .penalty = { &vxs_budget_penalty },
                             .blocks = e.units,
                             .budget = budgets[number % 5],
                             .cost = costs[number / 3 % 4] };
    return e;
}

static void release(example *e)
{
    vxs_blocks_free(e->units);
    vxs_design_free(e->design);
    free(e->x);
    free(e->y);
    free(e->u);
    free(e->covariates);
}

static vxs_problem problem_of(const example *e)
{
    vxs_problem problem = e->problem;
    problem.penalty = &e->budget.penalty;
    problem.loss.measure = &e->measure;
    return problem;
}

static vxs_solution solve(const example *e, double rounds, double tol)
{
    const vxs_problem problem = problem_of(e);
    vxs_error err = VXS_ERROR_INIT;
    vxs_solver *solver = NULL;
    vxs_solution solution;
    vxs_method_settings settings = { .tol = tol, .blocks.inner_tol = tol / 10 };
    WORKS(vxs_problem_check(&problem, NULL, NULL, &err), err);
    WORKS(vxs_measure_method_kind.begin(NULL, &problem, &settings, &solver, &err), err);
    WORKS(vxs_measure_method_kind.select(solver, (vxs_path_point){ VXS_BY_ITERATIONS, rounds },
                                         &solution, &err),
          err);
    vxs_measure_method_kind.release(solver);
    return solution;
}

static vxs_certificate check(const example *e, const vxs_solution *solution)
{
    const vxs_problem problem = problem_of(e);
    vxs_error err = VXS_ERROR_INIT;
    vxs_certificate c;
    WORKS(vxs_check_solution(&problem, solution, &c, &err), err);
    return c;
}

static void confirm(const example *e, const vxs_solution *solution, const char *text,
                    uint64_t number)
{
    vxs_certificate mine = check(e, solution);
    const vxs_certificate *theirs = &solution->certificate;
    double size = fabs(theirs->primal) + fabs(theirs->dual) + 1e-3;
    cr_assert(mine.converged, "%s, %lu: gap %g, not %g", text, (unsigned long)number, mine.gap,
              theirs->gap);
    cr_assert(fabs(mine.primal - theirs->primal) <= 1e-9 * size, "%s, %lu: %.12g and %.12g", text,
              (unsigned long)number, mine.primal, theirs->primal);
    cr_assert(fabs(mine.dual - theirs->dual) <= 1e-7 * size, "%s, %lu: %.12g and %.12g", text,
              (unsigned long)number, mine.dual, theirs->dual);
    cr_assert(mine.gap >= -1e-9 && theirs->gap >= -1e-9, "%s, %lu: %g, %g", text,
              (unsigned long)number, mine.gap, theirs->gap);
}

static bool is_valid(const example *e)
{
    const vxs_problem problem = problem_of(e);
    vxs_error err = VXS_ERROR_INIT;
    return vxs_problem_check(&problem, NULL, NULL, &err) == VXS_OK;
}

Test(measured, certificates_hold)
{
    for (size_t t = 0; t < MEASURES; t++)
        for (uint64_t number = 0; number < 24; number++) {
            example e = make(texts[t], number, 14 + number % 30, 10 + number * 7 % 60);
            if (!is_valid(&e)) { /* top of all */
                release(&e);
                continue;
            }
            vxs_solution s = solve(&e, 1e6, 1e-6);
            cr_assert(s.certificate.converged && s.certificate.gap <= 1e-6,
                      "%s, %lu: gap %g, restricted %g after %lu rounds, B %zu, C %g, free %zu",
                      texts[t], (unsigned long)number, s.certificate.gap,
                      s.selected->restricted_gap, (unsigned long)s.selected->iterations,
                      e.budget.budget, e.budget.cost, e.problem.covariate_count);
            confirm(&e, &s, texts[t], number);
            vxs_solution_release(&s);
            release(&e);
        }
}

/* After any number of rounds the gap bounds the distance to the optimum. */
Test(measured, every_round_is_certified)
{
    for (size_t t = 0; t < MEASURES; t++)
        for (uint64_t number = 0; number < 6; number++) {
            example e = make(texts[t], number, 30 + number, 40);
            e.budget.budget = 1 + number % 4;
            vxs_solution whole = solve(&e, 1e6, 1e-7);
            for (double rounds = 0; rounds < 4; rounds++) {
                vxs_solution part = solve(&e, rounds, 1e-6);
                const vxs_certificate *c = &part.certificate;
                confirm(&e, &part, texts[t], number);
                cr_assert(c->converged && part.selected->iterations <= (uint64_t)rounds);
                cr_assert(part.selected->count <= e.budget.budget * (size_t)rounds);
                cr_assert(c->dual <= whole.certificate.primal * (1 + 1e-9) + 1e-9);
                cr_assert(c->primal >= whole.certificate.dual * (1 - 1e-9) - 1e-9);
                vxs_solution_release(&part);
            }
            vxs_solution_release(&whole);
            release(&e);
        }
}

/* ---- The same problem in other words --------------------------------------------------------- */

static void same_value(const example *one, const example *two, const char *text, uint64_t number)
{
    vxs_solution a = solve(one, 1e6, 1e-7), b = solve(two, 1e6, 1e-7);
    double size = fmax(a.certificate.primal, 1e-3);
    cr_assert(fabs(a.certificate.primal - b.certificate.primal) <= 1e-5 * size,
              "%s, %lu: %.12g and %.12g", text, (unsigned long)number, a.certificate.primal,
              b.certificate.primal);
    vxs_solution_release(&a);
    vxs_solution_release(&b);
}

/* The last sample first: columns, covariates, targets and weights. */
static void turn_round(example *e)
{
    for (size_t k = 0; k < e->n / 2; k++) {
        size_t l = e->n - 1 - k;
        for (size_t j = 0; j < e->p; j++) {
            float x = e->x[j * e->n + k];
            e->x[j * e->n + k] = e->x[j * e->n + l];
            e->x[j * e->n + l] = x;
        }
        double *const columns[] = { e->y, e->u, e->covariates, e->covariates + e->n,
                                    e->covariates + 2 * e->n };
        for (size_t c = 0; c < 5; c++) {
            double v = columns[c][k];
            columns[c][k] = columns[c][l];
            columns[c][l] = v;
        }
    }
}

Test(measured, order_of_samples_does_not_matter)
{
    for (size_t t = 0; t < MEASURES; t++)
        for (uint64_t number = 0; number < 8; number++) {
            example one = make(texts[t], number, 25, 30), two = make(texts[t], number, 25, 30);
            turn_round(&two);
            same_value(&one, &two, texts[t], number);
            release(&one);
            release(&two);
        }
}

Test(measured, breakeven_is_top_of_as_many_as_there_are)
{
    for (uint64_t number = 0; number < 20; number++) {
        example one = make("breakeven", number, 25, 30), two = make("top:1p", number, 25, 30);
        same_value(&one, &two, "breakeven", number);
        release(&one);
        release(&two);
    }
}

/* The other class is positive, and all scores are turned: of top those that are not called. */
Test(measured, classes_and_scores_are_turned)
{
    static const char *const pairs[][2] = { { "error", "error" },
                                            { "balanced", "balanced" },
                                            { "roc", "roc" },
                                            { "gmean", "gmean" },
                                            { "top:7", "top:18" } };
    for (size_t t = 0; t < 5; t++)
        for (uint64_t number = 0; number < 12; number++) {
            example one = make(pairs[t][0], number, 25, 30),
                    two = make(pairs[t][1], number, 25, 30);
            size_t positives = 0;
            for (size_t i = 0; i < 25; i++) {
                positives += one.y[i] > 0;
                two.y[i] = -two.y[i];
            }
            if (t == 3) /* costs 2 n+: C as much the other way */
                two.budget.cost *= (double)positives / (double)(25 - positives);
            if (t < 3 || t == 4)
                same_value(&one, &two, pairs[t][0], number);
            release(&one);
            release(&two);
        }
}

/* Groups of one feature are features. */
Test(measured, groups)
{
    for (size_t t = 0; t < MEASURES; t++)
        for (uint64_t number = 0; number < 8; number++) {
            vxs_error err = VXS_ERROR_INIT;
            example one = make(texts[t], number, 24, 20), two = make(texts[t], number, 24, 20);
            vxs_groups groups;
            size_t each = number % 2 ? 3 : 1;
            WORKS(vxs_groups_new(two.p, 20, 20 * each, &groups, &err), err);
            for (size_t g = 0; g < 20; g++) {
                groups.begin[g] = each * g;
                groups.end[g] = each * (g + 1);
                for (size_t k = 0; k < each; k++)
                    groups.member[each * g + k] = (g + k) % two.p;
            }
            vxs_blocks_free(two.units);
            WORKS(vxs_blocks_of_groups(NULL, two.design, &groups, 0, &two.units, &err), err);
            two.budget.blocks = two.units;
            if (each == 1)
                same_value(&one, &two, texts[t], number);
            vxs_solution s = solve(&two, 1e6, 1e-6);
            confirm(&two, &s, texts[t], number);
            vxs_solution_release(&s);
            vxs_groups_release(&groups);
            release(&one);
            release(&two);
        }
}

/* Small C: the empty model, which is proved to be the best. */
Test(measured, small_costs_leave_the_empty_model)
{
    for (size_t t = 0; t < MEASURES; t++) {
        example e = make(texts[t], 7, 30, 40);
        e.budget.cost = 1e-7;
        vxs_solution s = solve(&e, 1e6, 1e-4);
        cr_assert(s.certificate.gap <= 1e-4, "%s: %g", texts[t], s.certificate.gap);
        confirm(&e, &s, texts[t], 7);
        vxs_solution_release(&s);
        release(&e);
    }
}

/* ---- Refits and wrong answers ---------------------------------------------------------------- */

Test(measured, refit_is_optimal)
{
    for (size_t t = 0; t < MEASURES; t++)
        for (uint64_t number = 0; number < 6; number++) {
            example e = make(texts[t], number, 30, 40);
            e.budget.refit_cost = 0.05 + 0.2 * (double)(number % 3);
            e.budget.budget = 3;
            vxs_solution s = solve(&e, 2, 1e-5);
            confirm(&e, &s, texts[t], number);
            if (s.selected->count > 0) {
                s.selected->refit_weight[0] += 0.1 + fabs(s.selected->refit_weight[0]);
                cr_assert(!check(&e, &s).converged, "%s", texts[t]);
            }
            vxs_solution_release(&s);
            release(&e);
        }
}

/* A dual point that is no sum of outputs bounds nothing: a value moved, a sign, a sum, one above
 * what there is, covariates that it is not orthogonal to, and counts that are not its own. */
static void spoil(vxs_weighted_outputs *o, int way, size_t row)
{
    double *r = o->row + row * (3 + o->n);
    size_t i = way % 2 ? 0 : o->n - 1;
    if (way < 2)
        r[3 + i] += 0.5 * r[2];
    else if (way < 4)
        r[3 + i] -= 0.5 * r[2];
    else if (way == 4)
        r[2] *= r[0] < 0 ? 1 : 1.1;
    else if (way == 5)
        r[1] += r[0] < 0 ? 0 : 1;
    else
        r[3 + i] = NAN;
    if (way > 3 && way < 6 && r[0] < 0) /* a row of s alone */
        for (size_t k = 0; k < o->n; k++)
            r[3 + k] *= 50;
}

Test(measured, wrong_answers)
{
    for (size_t t = 0; t < MEASURES; t++) {
        example e = make(texts[t], 3, 40, 30);
        e.budget.cost = 0.1;
        vxs_solution s = solve(&e, 1e6, 1e-5);
        vxs_weighted_outputs *o = s.selected->outputs;
        size_t most = 0, size = 3 + o->n;
        for (size_t k = 0; k < o->count; k++)
            most = o->row[k * size + 2] > o->row[most * size + 2] ? k : most;
        double *kept = malloc(size * sizeof(*kept));
        memcpy(kept, o->row + most * size, size * sizeof(*kept));
        for (int way = 0; way < 7; way++) {
            spoil(o, way, most);
            cr_assert(!check(&e, &s).converged, "%s, %d", texts[t], way);
            memcpy(o->row + most * size, kept, size * sizeof(*kept));
        }
        confirm(&e, &s, texts[t], 3);
        s.selected->weight[0] = 1.2 * s.selected->weight[0] + 0.1;
        cr_assert(!check(&e, &s).converged, "%s", texts[t]);
        free(kept);
        vxs_solution_release(&s);
        release(&e);
    }
}

/* What is no problem of a measure is refused. */
Test(measured, problems_that_do_not_suit)
{
    vxs_error err = VXS_ERROR_INIT;
    example e = make("f1", 2, 20, 10);
    vxs_problem problem = problem_of(&e);
    problem.loss.measure = NULL;
    REFUSES(vxs_problem_check(&problem, NULL, NULL, &err), err, VXS_MISUSE, "measure");
    problem = problem_of(&e);
    problem.penalty = &vxs_l1;
    REFUSES(vxs_problem_check(&problem, NULL, NULL, &err), err, VXS_MISUSE, "budget");
    problem = problem_of(&e);
    REFUSES(vxs_problem_check(&problem, &vxs_methods[VXS_METHOD_LASSO], NULL, &err), err,
            VXS_MISUSE, "not measure");
    problem.loss.u = e.u;
    REFUSES(vxs_problem_check(&problem, NULL, NULL, &err), err, VXS_BAD_DATA, "weights");
    problem.loss.u = NULL;
    e.budget.only_refit = true;
    REFUSES(vxs_problem_check(&problem, NULL, NULL, &err), err, VXS_MISUSE, "covariates");
    e.budget.only_refit = false;
    for (size_t i = 0; i < e.n; i++)
        e.y[i] = 1;
    REFUSES(vxs_problem_check(&problem, NULL, NULL, &err), err, VXS_BAD_DATA, "one class");
    release(&e);
}

static vxs_status body(vxs_error *err)
{
    static example e;
    static bool made;
    if (!made)
        e = make("f1", 6, 16, 12);
    made = true;
    e.budget.refit_cost = 1;
    e.budget.budget = 2;
    const vxs_problem problem = problem_of(&e);
    vxs_solver *solver = NULL;
    vxs_solution solution;
    vxs_method_settings settings = { .tol = 1e-2, .blocks.inner_tol = 1e-3 };
    vxs_status status = vxs_measure_method_kind.begin(NULL, &problem, &settings, &solver, err);
    if (status)
        return status;
    status = vxs_measure_method_kind.select(solver, (vxs_path_point){ VXS_BY_ITERATIONS, 2 },
                                            &solution, err);
    if (!status)
        vxs_solution_release(&solution);
    vxs_measure_method_kind.release(solver);
    return status;
}

Test(measured, memory_that_is_short)
{
    vxs_error err = VXS_ERROR_INIT;
    WORKS(body(&err), err); /* makes the example */
    cr_assert(fail_each_request(body) > 50);
}
