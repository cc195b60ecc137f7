/* The group lasso: the quadratic model of group sizes, random problems with disjoint, overlapping
 * and nested groups against the checker, a second algorithm, and what must not change it. */
#include "solver/group_lasso/group_newton.h"
#include "tests/core/check.h"
#include "tests/core/faults.h"
#include "voxsift/internal/graph.h"
#include "voxsift/internal/solver.h"
#include "voxsift/verify.h"

#include <math.h>
#include <string.h>

/* ---- The quadratic model --------------------------------------------------------------------- */

enum { ROWS = 12, MOST_GROUPS = 7, MOST_COLUMNS = 210, MOST_COVARIATES = 3 };

typedef struct {
    double x[ROWS * MOST_COLUMNS], covariates[ROWS * MOST_COVARIATES];
    double weight[MOST_COLUMNS], z[ROWS], gradient[ROWS], curvature[ROWS];
    size_t start[MOST_GROUPS + 1], place[MOST_GROUPS];
    const double *of_group[MOST_GROUPS];
    vxs_group_model model;
} model_example;

/* Second derivatives and gradient; half of the models have rows without curvature. */
static void draw_loss(model_example *e, const vxs_random *random, uint64_t *at, bool flats)
{
    for (size_t i = 0; i < ROWS; i++) {
        bool flat = flats && i % 3 == 0;
        e->curvature[i] = flat ? 0 : exp(vxs_random_normal(random, (*at)++));
        e->gradient[i] = flat ? 0 : vxs_random_normal(random, (*at)++);
    }
}

/* Groups of 1 to 6 columns, in some models others of 25 to 29, one column a copy of another; most
 * models have fewer or more columns than rows. */
static void make_model(model_example *e, uint64_t number)
{
    vxs_random random = { .seed = 81, .stream = number };
    uint64_t at = 0;
    size_t count = 1 + vxs_random_below(&random, at++, MOST_GROUPS), q = number % 4;
    for (size_t k = 0; k < ROWS * MOST_COLUMNS; k++)
        e->x[k] = vxs_random_normal(&random, at++);
    for (size_t k = 0; k < ROWS * MOST_COVARIATES; k++)
        e->covariates[k] = k < ROWS ? 1 : vxs_random_normal(&random, at++);
    e->start[0] = 0;
    for (size_t g = 0; g < count; g++) {
        e->start[g + 1] = e->start[g] + 1 + vxs_random_below(&random, at++, 5);
        e->start[g + 1] += number % 5 == 1 && g % 3 == 1 ? 24 : 0;
        e->place[g] = count - g;
        e->of_group[g] = e->x + e->start[g] * ROWS;
    }
    memcpy(e->x + (e->start[count] - 1) * ROWS, e->x, ROWS * sizeof(*e->x)); /* a copy */
    for (size_t k = 0; k < MOST_COLUMNS; k++)
        e->weight[k] = number % 3 == 0 ? 0 : vxs_random_normal(&random, at++);
    draw_loss(e, &random, &at, number % 2 == 0);
    for (size_t i = 0; i < ROWS; i++) {
        e->z[i] = 0;
        for (size_t k = 0; k < e->start[count]; k++)
            e->z[i] += e->weight[k] * e->x[k * ROWS + i];
    }
    e->model = (vxs_group_model){ .n = ROWS,
                                  .q = q < MOST_COVARIATES ? q : 0,
                                  .count = count,
                                  .covariates = e->covariates,
                                  .x = e->of_group,
                                  .start = e->start,
                                  .place = e->place,
                                  .z = e->z,
                                  .loss_gradient = e->gradient,
                                  .curvature = e->curvature,
                                  .lambda = pow(10, -(double)(number / 4 % 3)),
                                  .target = 1e-13 };
}

/* Adds the projection of v on an orthonormalized basis of root(v) C to `out` with a minus. */
static void project(const model_example *e, double *v)
{
    double basis[ROWS * MOST_COVARIATES];
    for (size_t k = 0; k < e->model.q; k++) {
        double *b = basis + k * ROWS, length = 0;
        for (size_t i = 0; i < ROWS; i++)
            b[i] = sqrt(e->curvature[i]) * e->covariates[k * ROWS + i];
        for (size_t m = 0; m < 2 * k; m++) {
            const double *other = basis + m % k * ROWS;
            double share = 0;
            for (size_t i = 0; i < ROWS; i++)
                share += b[i] * other[i];
            for (size_t i = 0; i < ROWS; i++)
                b[i] -= share * other[i];
        }
        for (size_t i = 0; i < ROWS; i++)
            length += b[i] * b[i];
        for (size_t i = 0; i < ROWS; i++)
            b[i] /= sqrt(length);
        double along = 0;
        for (size_t i = 0; i < ROWS; i++)
            along += b[i] * v[i];
        for (size_t i = 0; i < ROWS; i++)
            v[i] -= along * b[i];
    }
}

/* The largest violation of the optimality conditions: at the best b the residual is t - Xw without
 * its projection, and X_g'residual = lambda w_g / |w_g|, or at most lambda where w_g is 0. */
static double violation(const model_example *e, const double *weight)
{
    const vxs_group_model *m = &e->model;
    double left[ROWS], worst = 0;
    for (size_t i = 0; i < ROWS; i++) {
        double root = sqrt(e->curvature[i]), z = 0;
        for (size_t k = 0; k < m->start[m->count]; k++)
            z += weight[k] * e->x[k * ROWS + i];
        left[i] = root > 0 ? -e->gradient[i] / root + root * (e->z[i] - z) : 0;
    }
    project(e, left);
    for (size_t g = 0; g < m->count; g++) {
        double size = 0, apart = 0, slopes = 0;
        for (size_t k = m->start[g]; k < m->start[g + 1]; k++)
            size += weight[k] * weight[k];
        size = sqrt(size);
        for (size_t k = m->start[g]; k < m->start[g + 1]; k++) {
            double slope = 0;
            for (size_t i = 0; i < ROWS; i++)
                slope += sqrt(e->curvature[i]) * e->x[k * ROWS + i] * left[i];
            double should = size > 0 ? m->lambda * weight[k] / size : 0;
            apart += (slope - should) * (slope - should);
            slopes += slope * slope;
        }
        double here = size > 0 ? sqrt(apart) : fmax(0, sqrt(slopes) - m->lambda);
        /* a weight of the size of rounding has no direction */
        worst =
            fmax(worst, fmin(here, size > 0 ? fmax(sqrt(slopes) - m->lambda, here * size) : here));
    }
    return worst;
}

/* Twice, the second time with another loss and what was kept of the columns. */
Test(group_lasso, the_model_is_minimized)
{
    size_t kept = 0;
    for (uint64_t number = 0; number < 3000; number++) {
        static model_example e;
        vxs_random random = { .seed = 82, .stream = number };
        vxs_group_newton newton = { .dense = 0 };
        uint64_t at = 0;
        make_model(&e, number);
        for (int turn = 0; turn < 2; turn++) {
            vxs_error err = VXS_ERROR_INIT;
            double weight[MOST_COLUMNS];
            uint64_t steps = 0;
            memcpy(weight, e.weight, sizeof(weight));
            WORKS(vxs_group_newton_solve(&newton, &e.model, weight, &steps, &err), err);
            double left = violation(&e, weight);
            cr_assert(left < 1e-5, "model %d, turn %d: %g is left after %d steps", (int)number,
                      turn, left, (int)steps);
            draw_loss(&e, &random, &at, number % 4 < 2);
        }
        for (size_t place = 0; place < newton.kernel_room; place++)
            kept += newton.kernel[place] != NULL;
        vxs_group_newton_release(&newton);
    }
    cr_assert(kept > 500, "%zu kernels", kept);
}

/* ---- Whole problems -------------------------------------------------------------------------- */

enum { N = 40, P = 60, Q = 2 };

typedef struct {
    float x[N * P];
    double y[N], u[N], covariates[N * Q];
    vxs_groups groups;
    vxs_blocks *blocks;
    vxs_design *design;
    vxs_grouped penalty;
    vxs_problem problem;
    double power;
} whole;

/* Number 0: disjoint groups of 1 to 9; 1: windows of 6 that overlap by 3; 2: a tree. */
static void make_groups(whole *e, const vxs_random *random, uint64_t *at, uint64_t kind)
{
    vxs_error err = VXS_ERROR_INIT;
    static char paths[P][16];
    const char *path[P];
    size_t count = 0, next = 0;
    if (kind == 2) {
        for (size_t j = 0; j < P; j++) {
            (void)snprintf(paths[j], sizeof(paths[j]), "a%d/b%d", (int)(j / 12), (int)(j / 4));
            path[j] = paths[j];
        }
        WORKS(vxs_groups_by_path(path, P, &e->groups, &err), err);
        return;
    }
    WORKS(vxs_groups_new(P, P, (size_t)6 * P, &e->groups, &err), err);
    for (size_t at_member = 0; next < P; count++) {
        size_t width = kind == 1 ? 6 : 1 + vxs_random_below(random, (*at)++, 9);
        e->groups.begin[count] = at_member;
        for (size_t j = next; j < next + width && j < P; j++)
            e->groups.member[at_member++] = j;
        e->groups.end[count] = at_member;
        next += kind == 1 ? 3 : width;
    }
    e->groups.count = count;
}

static void make_whole(whole *e, uint64_t number)
{
    vxs_error err = VXS_ERROR_INIT;
    vxs_random random = { .seed = 82, .stream = number };
    uint64_t at = 0;
    static const vxs_loss_kind *const losses[] = { &vxs_squared_loss, &vxs_logistic_loss,
                                                   &vxs_squared_hinge_loss };
    const vxs_loss_kind *loss = losses[number % 3];
    for (size_t k = 0; k < (size_t)N * P; k++)
        e->x[k] = (float)vxs_random_normal(&random, at++);
    for (size_t i = 0; i < N; i++) {
        e->x[3 * N + i] = e->x[2 * N + i]; /* a copy */
        e->x[5 * N + i] = 1;               /* a constant */
        double score = vxs_random_normal(&random, at++) + (double)e->x[i] - (double)e->x[N + i];
        e->y[i] = loss->of_scores ? score + 5 : score > 0 ? 1 : -1;
        e->u[i] = i % 7 == 3 ? 0 : 0.2 + fabs(vxs_random_normal(&random, at++));
        e->covariates[i] = 1;
        e->covariates[N + i] = vxs_random_normal(&random, at++);
    }
    make_groups(e, &random, &at, number / 3 % 3);
    vxs_design *base;
    vxs_view view = { .standardize = number % 4 ? VXS_STANDARDIZE_UNIT : VXS_STANDARDIZE_NONE };
    WORKS(vxs_dense_new(e->x, N, P, 1, &base, &err), err);
    WORKS(vxs_view_new(base, false, &view, &e->design, &err), err);
    e->power = (double)(number % 3) / 4;
    WORKS(vxs_blocks_of_groups(NULL, e->design, &e->groups, e->power, &e->blocks, &err), err);
    e->penalty = vxs_grouped_by(e->blocks);
    e->problem = (vxs_problem){
        .design = e->design,
        .loss = { .kind = loss, .n = N, .y = e->y, .u = number % 5 == 0 ? e->u : NULL },
        .penalty = &e->penalty.penalty,
        .covariates = e->covariates,
        .covariate_count = number / 9 % (Q + 1)
    };
}

static void release_whole(whole *e)
{
    vxs_blocks_free(e->blocks);
    vxs_design_free(e->design);
    vxs_groups_release(&e->groups);
}

static vxs_solver *solver_of(const whole *e, double tol)
{
    vxs_error err = VXS_ERROR_INIT;
    vxs_method_settings settings = { .tol = tol };
    vxs_solver *solver;
    WORKS(vxs_solver_new(NULL, &vxs_methods[VXS_METHOD_GROUP_LASSO], &e->problem, &settings,
                         &solver, &err),
          err);
    return solver;
}

/* Solves and checks; returns the primal value. */
static double solve(const whole *e, vxs_solver *solver, uint64_t number, double lambda,
                    vxs_solution *s)
{
    vxs_error err = VXS_ERROR_INIT;
    vxs_certificate found;
    WORKS(vxs_solver_fit(solver, lambda, s, &err), err);
    WORKS(vxs_check_solution(&e->problem, s, &found, &err), err);
    cr_assert(s->certificate.converged && found.converged,
              "problem %d at %g of lambda_max: gap %g, checked %g", (int)number,
              lambda / s->certificate.lambda_max, s->certificate.gap, found.gap);
    cr_assert(vxs_certificate_holds(&s->certificate, &found, false), "problem %d", (int)number);
    return s->certificate.primal;
}

/* Certified by the checker on the whole path; a solver that starts at the end agrees. */
Test(group_lasso, paths_are_certified)
{
    for (uint64_t number = 0; number < 180; number++) {
        static whole e;
        static const double ratios[] = { 1.001, 0.6, 0.2, 0.03, 0.003 };
        vxs_solution s;
        make_whole(&e, number);
        vxs_solver *solver = solver_of(&e, 1e-8);
        double most = vxs_solver_lambda_max(solver), last = 0, empty = 0;
        for (size_t k = 0; k < 5; k++) {
            last = solve(&e, solver, number, ratios[k] * most, &s);
            empty = k == 0 ? last : empty;
            cr_assert(k > 0 || s.count == 0, "a weight above lambda_max");
            cr_assert(k != 1 || s.count > 0);
            vxs_solution_release(&s);
        }
        vxs_solver_free(solver);
        solver = solver_of(&e, 1e-8);
        double cold = solve(&e, solver, number, 0.003 * most, &s);
        cr_assert(fabs(cold - last) <= 2e-8 * empty, "%.17g, %.17g", cold, last);
        vxs_solution_release(&s);
        vxs_solver_free(solver);
        release_whole(&e);
    }
}

/* Just below lambda_max exactly the steepest group has weights. */
Test(group_lasso, the_steepest_group_enters_first)
{
    for (uint64_t number = 0; number < 60; number++) {
        static whole e;
        vxs_solution s;
        make_whole(&e, number);
        vxs_solver *solver = solver_of(&e, 1e-10);
        (void)solve(&e, solver, number, vxs_solver_lambda_max(solver) * (1 - 1e-4), &s);
        cr_assert(s.selected->count >= 1 && s.selected->count <= 2, "%zu groups",
                  s.selected->count); /* two where a tree has the same group twice */
        vxs_solution_release(&s);
        vxs_solver_free(solver);
        release_whole(&e);
    }
}

/* Groups of one feature are the lasso. */
Test(group_lasso, single_features_are_the_lasso)
{
    for (uint64_t number = 0; number < 30; number++) {
        static whole e;
        vxs_error err = VXS_ERROR_INIT;
        vxs_method_settings settings = { .tol = 1e-9 };
        vxs_solution s, plain;
        make_whole(&e, 9 * number + number % 3);
        vxs_blocks_free(e.blocks);
        vxs_groups_release(&e.groups);
        WORKS(vxs_groups_new(P, P, P, &e.groups, &err), err);
        for (size_t j = 0; j < P; j++) {
            e.groups.begin[j] = e.groups.member[j] = j;
            e.groups.end[j] = j + 1;
        }
        WORKS(vxs_blocks_of_groups(NULL, e.design, &e.groups, 0.5, &e.blocks, &err), err);
        e.penalty = vxs_grouped_by(e.blocks);
        vxs_solver *solver = solver_of(&e, 1e-9), *lasso;
        vxs_problem problem = e.problem;
        problem.penalty = NULL;
        WORKS(vxs_solver_new(NULL, &vxs_methods[VXS_METHOD_LASSO], &problem, &settings, &lasso,
                             &err),
              err);
        double most = vxs_solver_lambda_max(lasso), here = vxs_solver_lambda_max(solver);
        cr_assert(fabs(most - here) <= 1e-9 * most, "%.17g, %.17g", most, here);
        double value = solve(&e, solver, number, 0.1 * most, &s);
        WORKS(vxs_solver_fit(lasso, 0.1 * most, &plain, &err), err);
        double other = plain.certificate.primal;
        cr_assert(fabs(value - other) <= 1e-7 * fabs(other), "%.17g, %.17g", value, other);
        vxs_solution_release(&s);
        vxs_solution_release(&plain);
        vxs_solver_free(solver);
        vxs_solver_free(lasso);
        release_whole(&e);
    }
}

/* The checker notices weights that are not the selection's, and a selection that is worse. */
Test(group_lasso, the_checker_notices_other_weights)
{
    static whole e;
    vxs_error err = VXS_ERROR_INIT;
    vxs_certificate found;
    vxs_solution s;
    make_whole(&e, 0);
    vxs_solver *solver = solver_of(&e, 1e-8);
    (void)solve(&e, solver, 0, 0.2 * vxs_solver_lambda_max(solver), &s);
    s.weight[0] *= 1.01;
    WORKS(vxs_check_solution(&e.problem, &s, &found, &err), err);
    cr_assert(!found.converged);
    s.weight[0] /= 1.01;
    s.selected->weight[0] *= 1.5;
    WORKS(vxs_check_solution(&e.problem, &s, &found, &err), err);
    cr_assert(!found.converged);
    void **const parts[] = { (void **)&s.selected->start, (void **)&s.selected->block,
                             (void **)&s.selected->weight };
    for (size_t k = 0; k < sizeof(parts) / sizeof(parts[0]); k++) {
        void *part = *parts[k];
        *parts[k] = NULL;
        REFUSES(vxs_check_solution(&e.problem, &s, &found, &err), err, VXS_MISUSE,
                "blocks without weights");
        *parts[k] = part;
    }
    vxs_solution_release(&s);
    vxs_solver_free(solver);
    release_whole(&e);
}

/* ---- Memory ---------------------------------------------------------------------------------- */

static whole remembered;

static vxs_status whole_fit(vxs_error *err)
{
    const whole *e = &remembered;
    vxs_method_settings settings = { .tol = 1e-8 };
    vxs_solution s = { .count = 0 };
    vxs_certificate found;
    vxs_solver *solver = NULL;
    vxs_status status = vxs_solver_new(NULL, &vxs_methods[VXS_METHOD_GROUP_LASSO], &e->problem,
                                       &settings, &solver, err);
    if (!status)
        status = vxs_solver_fit(solver, 0.1 * vxs_solver_lambda_max(solver), &s, err);
    if (!status)
        status = vxs_check_solution(&e->problem, &s, &found, err);
    vxs_solution_release(&s);
    vxs_solver_free(solver);
    return status;
}

Test(group_lasso, every_request_for_memory_may_fail)
{
    make_whole(&remembered, 1);
    cr_assert(fail_each_request(whole_fit) > 20);
    release_whole(&remembered);
}
