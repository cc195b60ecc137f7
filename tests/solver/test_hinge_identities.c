/* The squared hinge with an l1 penalty: where its model becomes empty, and problems whose solutions
 * follow from each other, by SAIF and by the dome of a variational inequality. */
#include "solver/saif/lasso.h"
#include "tests/core/check.h"

enum { N = 40, P = 60, ROWS = 2 * N };

typedef struct {
    size_t n;
    float x[ROWS * P];
    double y[ROWS], u[ROWS], ones[2 * ROWS]; /* an intercept and a covariate */
    bool weighted;
    double tol;
    size_t covariates;
    const vxs_loss_kind *loss;
} sample;

typedef struct {
    double w[P], b, primal, lambda_max;
    size_t count;
    bool converged;
} answer;

static void make(sample *s, uint64_t number)
{
    vxs_random random = { .seed = 41, .stream = number };
    uint64_t at = 0;
    *s = (sample){ .n = N, .covariates = 1, .tol = 1e-12, .loss = &vxs_squared_hinge_loss };
    for (size_t k = 0; k < (size_t)N * P; k++)
        s->x[k] = (float)vxs_random_normal(&random, at++);
    for (size_t i = 0; i < N; i++) {
        double score = (double)s->x[i] - (double)s->x[N + i] + vxs_random_normal(&random, at++);
        s->y[i] = score > (number % 3 == 1 ? 1.9 : 0) ? 1 : -1; /* a minority */
        s->u[i] = 0.2 + 2 * vxs_random_uniform(&random, at++);
        s->ones[i] = 1;
        s->ones[N + i] = vxs_random_normal(&random, at++) * (number % 2 ? 3 : 0.3);
    }
    s->y[0] = 1;
    s->y[1] = -1;
    s->weighted = number % 2;
}

/* The lambda is a number, or a share of lambda_max if it is negative. */
static answer solve(const sample *s, double lambda, int screen, bool sparse)
{
    vxs_error err = VXS_ERROR_INIT;
    vxs_design *design;
    vxs_solver *solver;
    vxs_solution found;
    static float values[ROWS * P];
    static int32_t rows[ROWS * P];
    static size_t starts[P + 1];
    for (size_t k = 0, count = 0; k < s->n * P; k++) {
        starts[k / s->n] = k % s->n == 0 ? count : starts[k / s->n];
        values[count] = s->x[k];
        rows[count] = (int32_t)(k % s->n);
        count += s->x[k] != 0;
        starts[P] = count;
    }
    if (sparse)
        WORKS(vxs_sparse_new(values, rows, starts, s->n, P, 1, &design, &err), err);
    else
        WORKS(vxs_dense_new(s->x, s->n, P, 1, &design, &err), err);
    vxs_problem problem = { .design = design,
                            .loss = { .kind = s->loss, .n = s->n, .y = s->y },
                            .covariates = s->ones,
                            .covariate_count = s->covariates };
    problem.loss.u = s->weighted ? s->u : NULL;
    vxs_method_settings settings = { .saif.screen = screen, .tol = s->tol };
    settings.saif.inner = screen == VXS_SCREEN_VI ? VXS_INNER_EXACT : VXS_INNER_AUTO;
    WORKS(vxs_solver_new(NULL, &vxs_methods[VXS_METHOD_LASSO], &problem, &settings, &solver, &err),
          err);
    answer a = { .lambda_max = vxs_solver_lambda_max(solver) };
    WORKS(vxs_solver_fit(solver, lambda < 0 ? -lambda * a.lambda_max : lambda, &found, &err), err);
    for (size_t k = 0; k < found.count; k++)
        a.w[found.index[k]] = found.weight[k];
    a.b = s->covariates > 0 ? found.covariate_coefficients[0] : 0;
    a.count = found.count;
    a.primal = found.certificate.primal;
    a.converged = found.certificate.converged;
    vxs_solution_release(&found);
    vxs_solver_free(solver);
    vxs_design_free(design);
    return a;
}

static void same_weights(const answer *a, const answer *b, double factor, uint64_t number)
{
    cr_assert(a->converged && b->converged, "problem %d", (int)number);
    for (size_t j = 0; j < P; j++)
        cr_assert(fabs(a->w[j] - factor * b->w[j]) <= 1e-5, "problem %d, weight %zu: %.10g, %.10g",
                  (int)number, j, a->w[j], factor * b->w[j]);
}

/* ---- The empty model ------------------------------------------------------------------------- */

/* max |x_j'(u (y - mean))|, and its column. */
static double steepest_of(const sample *s, size_t *column, double *mean)
{
    double sum = 0, weight = 0, most = 0;
    for (size_t i = 0; i < s->n; i++) {
        double u = s->weighted ? s->u[i] : 1;
        sum += u * s->y[i];
        weight += u;
    }
    *mean = s->covariates > 0 ? sum / weight : 0;
    for (size_t j = 0; j < P; j++) {
        double product = 0;
        for (size_t i = 0; i < s->n; i++)
            product += (double)s->x[j * s->n + i] * (s->weighted ? s->u[i] : 1) * (s->y[i] - *mean);
        *column = fabs(product) > most ? j : *column;
        most = fmax(most, fabs(product));
    }
    return most;
}

Test(hinge_identities, the_model_becomes_empty_where_the_steepest_column_enters)
{
    static sample s;
    for (uint64_t number = 0; number < 60; number++) {
        size_t column = 0;
        double mean;
        make(&s, number);
        s.covariates = number % 5 != 4;
        double most = steepest_of(&s, &column, &mean);
        for (int screen = 0; screen <= VXS_SCREEN_VI; screen += VXS_SCREEN_VI) {
            answer above = solve(&s, -(1 + 1e-9), screen, false);
            answer below = solve(&s, -(1 - 1e-6), screen, false);
            cr_assert(fabs(above.lambda_max - most) <= 1e-12 * most, "%d: %.17g, %.17g",
                      (int)number, above.lambda_max, most);
            cr_assert(above.count == 0 && fabs(above.b - mean) < 1e-9, "%d: %g, %g", (int)number,
                      above.b, mean);
            cr_assert(below.count == 1 && below.w[column] != 0, "%d: %zu", (int)number,
                      below.count);
        }
    }
    for (size_t i = 0; i < N; i++)
        s.y[i] = 1; /* one class: the intercept explains it */
    s.covariates = 1;
    cr_assert_eq(solve(&s, 1, VXS_SCREEN_VI, false).lambda_max, 0);
    cr_assert_eq(solve(&s, 1, VXS_SCREEN_VI, false).count, 0);
}

/* A covariate carries subjects over the margin: y without the covariates is not the gradient of the
 * empty model, and the dome takes a scan more. */
Test(hinge_identities, covariates_that_leave_the_loss_are_allowed)
{
    static sample s;
    size_t over = 0;
    for (uint64_t number = 1; number < 60; number += 2) {
        make(&s, number);
        s.covariates = 2;
        s.tol = 1e-9;
        for (size_t i = 0; i < N; i++) /* it tells the classes nearly apart */
            s.ones[N + i] += 4 * s.y[i];
        answer a = solve(&s, -0.4, VXS_SCREEN_SAIF, false);
        answer b = solve(&s, -0.4, VXS_SCREEN_VI, false);
        answer c = solve(&s, -0.4, s.weighted ? VXS_SCREEN_NONE : VXS_SCREEN_DPP, false);
        if (a.lambda_max == 0) /* it tells them apart */
            continue;
        cr_assert(a.converged && b.converged && c.converged, "%d", (int)number);
        cr_assert(fabs(a.primal - b.primal) <= 1e-7 * a.primal, "%d", (int)number);
        cr_assert(fabs(a.primal - c.primal) <= 1e-7 * a.primal, "%d", (int)number);
        over++;
    }
    cr_assert(over > 20);
}

/* ---- Problems that follow from each other ---------------------------------------------------- */

static void repeat_row(sample *s, size_t row)
{
    sample old = *s;
    s->n = old.n + 1;
    for (size_t j = 0; j < P; j++) {
        memcpy(s->x + j * s->n, old.x + j * old.n, old.n * sizeof(*s->x));
        s->x[j * s->n + old.n] = old.x[j * old.n + row];
    }
    s->y[old.n] = old.y[row];
    s->u[old.n] = old.u[row];
    s->ones[old.n] = 1;
}

Test(hinge_identities, solutions_follow_from_each_other)
{
    static sample s, t;
    static const double lambdas[] = { 0.7, 0.2, 0.03 };
    for (uint64_t number = 0; number < 45; number++) {
        double share = lambdas[number % 3];
        int screen = number / 3 % 2 ? VXS_SCREEN_VI : VXS_SCREEN_SAIF;
        make(&s, number);
        answer a = solve(&s, -share, screen, false), b;
        double lambda = share * a.lambda_max;
        b = solve(&s, -share, screen, true);
        same_weights(&b, &a, 1, number); /* sparse */
        t = s;
        for (size_t i = 0; i < N; i++)
            t.y[i] = -s.y[i];
        b = solve(&t, lambda, screen, false);
        same_weights(&b, &a, -1, number);
        cr_assert(fabs(a.b + b.b) < 1e-5);
        t = s; /* columns shifted, and one of the other sign */
        for (size_t i = 0; i < N; i++) {
            t.x[5 * N + i] += 2;
            t.x[i] = -s.x[i];
        }
        b = solve(&t, lambda, screen, false);
        cr_assert(fabs(b.b + 2 * a.w[5] - a.b) < 1e-4, "%d: %g, %g", (int)number, b.b, a.b);
        b.w[0] = -b.w[0];
        same_weights(&b, &a, 1, number);
        t = s; /* all weights twice */
        t.weighted = true;
        for (size_t i = 0; i < N; i++)
            t.u[i] = 2 * (s.weighted ? s.u[i] : 1);
        b = solve(&t, 2 * lambda, screen, false);
        same_weights(&b, &a, 1, number);
        repeat_row(&s, 3); /* a row twice, or with twice the weight, or once with 0 */
        b = solve(&s, lambda, screen, false);
        t.u[3] = 4 * (s.weighted ? s.u[3] : 1);
        answer c = solve(&t, 2 * lambda, screen, false);
        same_weights(&b, &c, 1, number);
        if (!s.weighted)
            for (size_t i = 0; i < s.n; i++)
                s.u[i] = i + 1 < s.n;
        else
            s.u[N] = 0;
        s.weighted = true;
        b = solve(&s, lambda, screen, false);
        same_weights(&b, &a, 1, number);
    }
}

/* With all subjects in the loss it is the lasso with response y. */
Test(hinge_identities, with_everybody_in_the_loss_it_is_the_lasso)
{
    static sample s;
    size_t count = 0;
    for (uint64_t number = 0; number < 60; number++) {
        make(&s, number);
        for (size_t k = 0; k < (size_t)N * P; k++) /* bounded, so that predictions are small */
            s.x[k] = fmaxf(-1, fminf(1, s.x[k]));
        answer a = solve(&s, -0.9, VXS_SCREEN_VI, false);
        s.loss = &vxs_squared_loss;
        answer b = solve(&s, -0.9, VXS_SCREEN_VI, false);
        double size = fabs(a.b);
        for (size_t j = 0; j < P; j++)
            size += fabs(a.w[j]);
        if (size >= 1)
            continue;
        same_weights(&a, &b, 1, number);
        cr_assert(fabs(a.primal - b.primal) <= 1e-9 * b.primal);
        cr_assert(fabs(a.lambda_max - b.lambda_max) <= 1e-12 * b.lambda_max);
        count++;
    }
    cr_assert(count > 20, "%zu", count);
}

/* ---- Descent --------------------------------------------------------------------------------- */

/* The intercept is at its best against a fine search, and the dual point in the domain: the gap is
 * finite wherever descent ends. */
Test(hinge_identities, descent_leaves_the_intercept_at_its_best)
{
    static sample s;
    for (uint64_t number = 0; number < 60; number++) {
        vxs_error err = VXS_ERROR_INIT;
        vxs_design *design;
        vxs_solver *solver;
        make(&s, number);
        WORKS(vxs_dense_new(s.x, N, P, 1, &design, &err), err);
        vxs_problem problem = { .design = design,
                                .loss = { .kind = s.loss, .n = N, .y = s.y },
                                .covariates = s.ones,
                                .covariate_count = 1 + number % 2 };
        problem.loss.u = s.weighted ? s.u : NULL;
        vxs_method_settings settings = { .saif = { VXS_SCREEN_NONE, VXS_INNER_DESCENT },
                                         .tol = 0.01 };
        WORKS(vxs_solver_new(NULL, &vxs_methods[VXS_METHOD_LASSO], &problem, &settings, &solver,
                             &err),
              err);
        const vxs_working_set *a = &((vxs_lasso *)solver)->set;
        for (double ratio = 0.9; ratio > 1e-3; ratio /= 3) {
            vxs_solution found;
            double lambda = ratio * vxs_solver_lambda_max(solver), z[N];
            WORKS(vxs_solver_fit(solver, lambda, &found, &err), err);
            cr_assert(isfinite(found.certificate.gap) && a->is_gradient, "%d at %g: gap %g",
                      (int)number, ratio, found.certificate.gap);
            double value = vxs_working_set_value(a, a->w, a->z, lambda);
            for (int k = -500; k <= 500; k++) {
                for (size_t i = 0; i < N; i++)
                    z[i] = a->z[i] + k * 1e-3 * s.ones[i];
                cr_assert(vxs_working_set_value(a, a->w, z, lambda) >= value * (1 - 1e-12),
                          "%d at %g: %d", (int)number, ratio, k);
            }
            vxs_solution_release(&found);
        }
        vxs_solver_free(solver);
        vxs_design_free(design);
    }
}

/* ---- Paths ----------------------------------------------------------------------------------- */

/* A point of a path is the solution that its lambda has alone, and threads change no bit. */
Test(hinge_identities, paths_are_single_fits_and_threads_change_nothing)
{
    static sample s;
    for (uint64_t number = 0; number < 12; number++) {
        double w[2][P], b[2];
        make(&s, number);
        answer alone = solve(&s, -0.05, VXS_SCREEN_VI, false);
        for (int threads = 1; threads <= 2; threads++) {
            vxs_error err = VXS_ERROR_INIT;
            vxs_design *design;
            vxs_solver *solver;
            vxs_solution found;
            WORKS(vxs_dense_new(s.x, N, P, threads, &design, &err), err);
            vxs_problem problem = { .design = design,
                                    .loss = { .kind = s.loss, .n = N, .y = s.y },
                                    .covariates = s.ones,
                                    .covariate_count = 1 };
            problem.loss.u = s.weighted ? s.u : NULL;
            vxs_method_settings settings = { .saif.screen = VXS_SCREEN_VI, .tol = 1e-12 };
            WORKS(vxs_solver_new(NULL, &vxs_methods[VXS_METHOD_LASSO], &problem, &settings, &solver,
                                 &err),
                  err);
            memset(w[threads - 1], 0, sizeof(w[0]));
            static const double ratios[] = { 0.8, 0.5, 0.2, 0.1, 0.05 };
            for (size_t k = 0; k < 5; k++) {
                WORKS(vxs_solver_fit(solver, ratios[k] * vxs_solver_lambda_max(solver), &found,
                                     &err),
                      err);
                for (size_t j = 0; j < found.count && k == 4; j++)
                    w[threads - 1][found.index[j]] = found.weight[j];
                b[threads - 1] = found.covariate_coefficients[0];
                vxs_solution_release(&found);
            }
            vxs_solver_free(solver);
            vxs_design_free(design);
        }
        cr_assert(memcmp(w[0], w[1], sizeof(w[0])) == 0 && b[0] == b[1], "%d", (int)number);
        for (size_t j = 0; j < P; j++)
            cr_assert(fabs(w[0][j] - alone.w[j]) < 1e-5, "%d", (int)number);
    }
}
