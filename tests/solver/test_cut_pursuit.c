/* Cut pursuit on graphs with loops, ties and several components, for every loss: gaps recomputed
 * with dual norms by enumeration of feature sets; on trees the lasso's solutions. */
#include "tests/core/check.h"
#include "tests/core/faults.h"
#include "tests/loss/losses.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { MOST_P = 9, MAX_N = 24, MOST_CLASSES = 4, MAX_COVARIATES = 3 };

typedef struct {
    vxs_random random;
    uint64_t drawn;
    size_t n, p, classes;
    float x[MAX_N * MOST_P];
    double y[MAX_N], weights[MAX_N], covariates[MAX_N * MAX_COVARIATES];
    vxs_graph graph;
    vxs_design *design;
    vxs_fused fused;
    vxs_problem problem;
} example;

static double draw(example *e)
{
    return vxs_random_uniform(&e->random, e->drawn++);
}

static double draw_normal(example *e)
{
    return vxs_random_normal(&e->random, e->drawn++);
}

static size_t draw_below(example *e, size_t limit)
{
    return (size_t)(draw(e) * (double)limit);
}

/* A connected graph starts from a tree. */
static void make_graph(example *e, bool tree, bool connected)
{
    vxs_error err = VXS_ERROR_INIT;
    size_t first = tree || connected ? e->p - 1 : 1;
    size_t count = tree ? first : first + draw_below(e, 2 * e->p);
    bool whole = draw(e) < 0.5;
    WORKS(vxs_graph_new(e->p, count, &e->graph, &err), err);
    for (size_t k = 0; k < count; k++) {
        bool hangs = (tree || connected) && k < first;
        e->graph.from[k] = hangs ? k + 1 : draw_below(e, e->p);
        e->graph.to[k] = hangs ? draw_below(e, k + 1) : draw_below(e, e->p);
        e->graph.weight[k] = whole ? 1 : 0.1 + draw(e);
    }
}

static void make_columns(example *e)
{
    for (size_t j = 0; j < e->p; j++) {
        double kind = draw(e);
        for (size_t i = 0; i < e->n; i++) {
            float *x = &e->x[j * e->n + i];
            *x = (float)draw_normal(e);
            if (kind < 0.1 && j > 0)
                *x = x[-(ptrdiff_t)e->n];
            else if (kind < 0.2)
                *x = 3;
            else if (kind < 0.3)
                *x = nearbyintf(*x);
        }
    }
}

static bool has_signs(const vxs_loss_kind *loss)
{
    return loss == &vxs_logistic_loss || loss == &vxs_squared_hinge_loss;
}

static void make_targets(example *e, const vxs_loss_kind *loss)
{
    for (size_t i = 0; i < e->n; i++) {
        double score = (double)e->x[i] + draw_normal(e);
        e->y[i] = loss == &vxs_squared_loss ? score + 2
                  : has_signs(loss)         ? (score > 0 ? 1 : -1)
                                    : (double)(i < e->classes ? i : draw_below(e, e->classes));
        e->weights[i] = draw(e) < 0.1 ? 0 : 0.2 + draw(e);
        e->covariates[i] = 1;
        e->covariates[e->n + i] = draw_normal(e);
        e->covariates[2 * e->n + i] = 2 - e->covariates[e->n + i]; /* dependent */
    }
    for (size_t i = 0; i < 2 && has_signs(loss); i++) {
        e->y[i] = i == 0 ? 1 : -1;
        e->weights[i] = 1;
    }
}

static void make(example *e, uint64_t number, const vxs_loss_kind *loss, bool tree)
{
    vxs_error err = VXS_ERROR_INIT;
    *e = (example){ .random = { 23, 10 * number + number_of_loss(loss) } };
    e->n = 14 + draw_below(e, MAX_N - 13);
    e->p = 2 + draw_below(e, MOST_P - 1);
    e->classes = loss == &vxs_multinomial_loss ? 2 + draw_below(e, MOST_CLASSES - 1) : 1;
    make_graph(e, tree, loss == &vxs_multinomial_loss); /* the component means separate classes
                                                         * easily */
    make_columns(e);
    make_targets(e, loss);
    WORKS(vxs_dense_new(e->x, e->n, e->p, 1, &e->design, &err), err);
    e->problem =
        (vxs_problem){ .design = e->design,
                       .penalty = &e->fused.penalty,
                       .loss.kind = loss,
                       .loss.n = e->n,
                       .loss.y = e->y,
                       .loss.u = draw(e) < 0.3 ? e->weights : NULL,
                       .covariates = e->covariates,
                       .covariate_count =
                           draw_below(e, loss == &vxs_multinomial_loss ? 2 : MAX_COVARIATES + 1),
                       .loss.k = e->classes };
    e->fused = vxs_fused_on(&e->graph, tree || draw(e) < 0.4 ? 0 : 0.2 + draw(e));
}

static void release(example *e)
{
    vxs_design_free(e->design);
    vxs_graph_release(&e->graph);
}

/* ---- The gap, recomputed --------------------------------------------------------------------- */

static double u_of(const example *e, size_t i)
{
    return e->problem.loss.u ? e->problem.loss.u[i] : 1;
}

/* Loss of one sample and its gradient; z holds all classes. */
static double loss_of(const example *e, size_t i, const double *z, double *slope)
{
    double y = e->y[i], sum = 0, most = z[0];
    if (e->problem.loss.kind == &vxs_squared_loss) {
        slope[0] = z[0] - y;
        return slope[0] * slope[0] / 2;
    }
    if (e->problem.loss.kind == &vxs_logistic_loss) {
        slope[0] = -y / (1 + exp(y * z[0]));
        return fmax(0, -y * z[0]) + log1p(exp(-fabs(z[0])));
    }
    if (e->problem.loss.kind == &vxs_squared_hinge_loss) {
        slope[0] = -y * fmax(0, 1 - y * z[0]);
        return slope[0] * slope[0] / 2;
    }
    for (size_t c = 0; c < e->classes; c++)
        most = fmax(most, z[c]);
    for (size_t c = 0; c < e->classes; c++)
        sum += exp(z[c] - most);
    for (size_t c = 0; c < e->classes; c++)
        slope[c] = exp(z[c] - most) / sum - (y == (double)c);
    return most + log(sum) - z[(size_t)y];
}

static double conjugate_of(const example *e, size_t i, const double *s)
{
    double y = e->y[i], sum = 0;
    if (e->problem.loss.kind == &vxs_squared_loss)
        return s[0] * s[0] / 2 + s[0] * y;
    if (e->problem.loss.kind == &vxs_squared_hinge_loss)
        return y * s[0] > 1e-9 ? INFINITY : s[0] * s[0] / 2 + s[0] * y;
    for (size_t c = 0; c < (e->classes > 1 ? e->classes : 2); c++) {
        double t = e->classes > 1 ? s[c] + (y == (double)c) : c ? -y * s[0] : 1 + y * s[0];
        if (t < -1e-9 || t > 1 + 1e-9)
            return INFINITY;
        sum += t > 0 ? t * log(t) : 0;
    }
    return sum;
}

static double cut_of(const example *e, unsigned set)
{
    double cut = 0;
    for (size_t k = 0; k < e->graph.count; k++)
        cut +=
            (set >> e->graph.from[k] & 1) != (set >> e->graph.to[k] & 1) ? e->graph.weight[k] : 0;
    return cut + e->fused.sparsity * (double)__builtin_popcount(set);
}

/* max |v(S)| / cut(S) by enumeration, and max |v(S)| over sets without a cut, which must be 0. */
static double norm_of(const example *e, const double *v, double *loose)
{
    double most = 0;
    for (unsigned set = 1; set < 1U << e->p; set++) {
        double cut = cut_of(e, set), sum = 0;
        for (size_t j = 0; j < e->p; j++)
            sum += set >> j & 1 ? v[j] : 0;
        if (cut > 0)
            most = fmax(most, fabs(sum) / cut);
        else
            *loose = fmax(*loose, fabs(sum));
    }
    return most;
}

static double penalty_of(const example *e, const double *w)
{
    double sum = 0;
    for (size_t k = 0; k < e->graph.count; k++)
        sum += e->graph.weight[k] * fabs(w[e->graph.from[k]] - w[e->graph.to[k]]);
    for (size_t j = 0; j < e->p; j++)
        sum += e->fused.sparsity * fabs(w[j]);
    return sum;
}

/* Primal and dual value of a solution; `loose` is the part of theta in the span of covariates and
 * component sums. */
static double gap_of(const example *e, const vxs_solution *s, double *primal, double *loose)
{
    double w[MOST_P * MOST_CLASSES] = { 0 }, slope[MAX_N][MOST_CLASSES], norm = 1;
    double lambda = s->certificate.lambda, dual = 0;
    *primal = *loose = 0;
    for (size_t k = 0; k < s->count; k++)
        w[s->index[k]] = s->weight[k];
    for (size_t i = 0; i < e->n; i++) {
        double z[MOST_CLASSES] = { 0 };
        for (size_t c = 0; c < e->classes; c++) {
            for (size_t j = 0; j < e->p; j++)
                z[c] += (double)e->x[j * e->n + i] * w[c * e->p + j];
            for (size_t k = 0; k < e->problem.covariate_count; k++)
                z[c] += e->covariates[k * e->n + i] *
                        s->covariate_coefficients[c * e->problem.covariate_count + k];
        }
        *primal += u_of(e, i) * loss_of(e, i, z, slope[i]);
    }
    for (size_t c = 0; c < e->classes; c++) {
        double v[MOST_P] = { 0 };
        *primal += lambda * penalty_of(e, w + c * e->p);
        for (size_t i = 0; i < e->n; i++)
            for (size_t j = 0; j < e->p; j++)
                v[j] -= u_of(e, i) * slope[i][c] * (double)e->x[j * e->n + i];
        norm = fmax(norm, norm_of(e, v, loose) / lambda);
        for (size_t k = 0; k < e->problem.covariate_count; k++) {
            double sum = 0;
            for (size_t i = 0; i < e->n; i++)
                sum += u_of(e, i) * slope[i][c] * e->covariates[k * e->n + i];
            *loose = fmax(*loose, fabs(sum));
        }
    }
    for (size_t i = 0; i < e->n; i++) {
        for (size_t c = 0; c < e->classes; c++)
            slope[i][c] /= norm;
        dual -= u_of(e, i) * conjugate_of(e, i, slope[i]);
    }
    return *primal - dual;
}

/* ---- Tests ----------------------------------------------------------------------------------- */

static vxs_status begin(const example *e, int way, double tol, vxs_solver **solver, vxs_error *err)
{
    vxs_method_settings settings = { .tol = tol, .fused.solver = way };
    return vxs_solver_new(NULL, &vxs_methods[VXS_METHOD_FUSED], &e->problem, &settings, solver,
                          err);
}

/* The checker, with flows of its own, agrees. */
static void confirm(const example *e, const vxs_solution *s, uint64_t number)
{
    vxs_error err = VXS_ERROR_INIT;
    vxs_certificate again;
    WORKS(vxs_check_solution(&e->problem, s, &again, &err), err);
    cr_assert(fabs(again.primal - s->certificate.primal) <= 1e-9 * (1 + again.primal), "%d",
              (int)number);
    cr_assert(fabs(again.gap) <= 1e-7, "%d: the checker's gap is %g, not %g", (int)number,
              again.gap, s->certificate.gap);
}

/* The mean over classes is 0. */
static void confirm_center(const example *e, const vxs_solution *s)
{
    double sum = 0, size = 0;
    for (size_t k = 0; k < e->problem.covariate_count; k++)
        for (size_t c = 0; c < e->classes; c++) {
            sum += s->covariate_coefficients[c * e->problem.covariate_count + k];
            size += fabs(s->covariate_coefficients[c * e->problem.covariate_count + k]);
        }
    for (size_t k = 0; k < s->count && e->fused.sparsity == 0; k++) {
        sum += s->weight[k];
        size += fabs(s->weight[k]);
    }
    cr_assert(fabs(sum) <= 1e-9 * size, "%g of %g", sum, size);
}

/* Refused: more connected components than n identifies. */
static bool try_path(const example *e, uint64_t number)
{
    static const double ratios[] = { 1, 0.7, 0.1, 0.3, 0.02, 0.4, 0.01 }; /* up again */
    vxs_error err = VXS_ERROR_INIT;
    vxs_solver *solver = NULL;
    if (begin(e, VXS_FUSED_CUTS, 1e-9, &solver, &err)) {
        cr_assert(strstr(err.message, "do not identify"), "%s", err.message);
        err = (vxs_error)VXS_ERROR_INIT;
        return false;
    }
    double most = vxs_solver_lambda_max(solver), empty = 0;
    if (most == 0 &&
        e->problem.loss.kind != &vxs_squared_loss) { /* covariates separate the classes */
        vxs_solver_free(solver);
        return false;
    }
    for (size_t k = 0; k < 7; k++) {
        vxs_solution s;
        double primal, loose, lambda = most > 0 ? most * ratios[k] : 1;
        WORKS(vxs_solver_fit(solver, lambda, &s, &err), err);
        double gap = gap_of(e, &s, &primal, &loose);
        empty = k == 0 ? primal : empty;
        double small = 1e-7 * (1 + empty);
        cr_assert(s.certificate.converged, "%d at %g: %g", (int)number, ratios[k],
                  s.certificate.gap);
        cr_assert(fabs(primal - s.certificate.primal) <= 1e-9 * (1 + empty),
                  "%d at %g: %.17g, %.17g", (int)number, ratios[k], primal, s.certificate.primal);
        cr_assert(loose <= small, "%d at %g: %g is left", (int)number, ratios[k], loose);
        cr_assert(gap >= -small && gap <= small, "%d at %g: gap %g", (int)number, ratios[k], gap);
        confirm(e, &s, number);
        if (e->classes > 1)
            confirm_center(e, &s);
        vxs_solution_release(&s);
    }
    vxs_solver_free(solver);
    return true;
}

Test(cuts, gaps_by_brute_force)
{
    static const vxs_loss_kind *const losses[] = { &vxs_squared_loss, &vxs_logistic_loss,
                                                   &vxs_multinomial_loss, &vxs_squared_hinge_loss };
    size_t tried = 0;
    for (uint64_t number = 0; number < 400; number++)
        for (size_t k = 0; k < 4; k++) {
            example e;
            make(&e, number, losses[k], false);
            tried += try_path(&e, number);
            release(&e);
        }
    cr_assert(tried > 1300, "%zu", tried);
}

Test(cuts, the_same_as_the_lasso_on_trees)
{
    vxs_error err = VXS_ERROR_INIT;
    for (uint64_t number = 0; number < 300; number++) {
        example e;
        vxs_solver *cuts = NULL, *saif = NULL;
        static const vxs_loss_kind *const losses[] = { &vxs_squared_loss, &vxs_logistic_loss,
                                                       &vxs_squared_hinge_loss };
        make(&e, number, losses[number % 3], true);
        WORKS(begin(&e, VXS_FUSED_CUTS, 1e-9, &cuts, &err), err);
        WORKS(begin(&e, VXS_FUSED_SAIF, 1e-9, &saif, &err), err);
        double most = vxs_solver_lambda_max(saif);
        /* of 91,500 problems of other streams, some of classes that covariates all but tell apart
         * differ by up to 2e-7, one by 1e-5: that of the empty model is flat there */
        cr_assert(fabs(vxs_solver_lambda_max(cuts) - most) <= 1e-6 * (1e-6 + most), "%d: %g, %g",
                  (int)number, vxs_solver_lambda_max(cuts), most);
        for (double ratio = 0.5; ratio > 0.01 && most > 1e-9; ratio /= 3) {
            vxs_solution a, b;
            WORKS(vxs_solver_fit(cuts, ratio * most, &a, &err), err);
            WORKS(vxs_solver_fit(saif, ratio * most, &b, &err), err);
            cr_assert(fabs(a.certificate.primal - b.certificate.primal) <=
                          1e-8 * (1e-3 + b.certificate.primal),
                      "%d at %g: %.17g, %.17g gaps %g %g", (int)number, ratio, a.certificate.primal,
                      b.certificate.primal, a.certificate.gap, b.certificate.gap);
            vxs_solution_release(&a);
            vxs_solution_release(&b);
        }
        vxs_solver_free(cuts);
        vxs_solver_free(saif);
        release(&e);
    }
}

Test(cuts, the_same_as_the_interior_point)
{
    vxs_error err = VXS_ERROR_INIT;
    size_t tried = 0;
    for (uint64_t number = 0; number < 300; number++) {
        example e;
        vxs_solver *cuts = NULL, *bp = NULL;
        make(&e, number, number % 2 ? &vxs_logistic_loss : &vxs_squared_loss, false);
        bool possible = !begin(&e, VXS_FUSED_CUTS, 1e-10, &cuts, &err);
        double most = possible ? vxs_solver_lambda_max(cuts) : 0;
        err = (vxs_error)VXS_ERROR_INIT;
        if (most > 1e-9)
            WORKS(begin(&e, VXS_FUSED_BP, 1e-10, &bp, &err), err);
        for (double ratio = 0.5; ratio > 0.01 && most > 1e-9; ratio /= 3) {
            vxs_solution a, b;
            WORKS(vxs_solver_fit(cuts, ratio * most, &a, &err), err);
            WORKS(vxs_solver_fit(bp, ratio * most, &b, &err), err);
            cr_assert(fabs(a.certificate.primal - b.certificate.primal) <=
                          1e-8 * (1e-3 + b.certificate.primal),
                      "%d at %g: %.17g, %.17g gaps %g %g", (int)number, ratio, a.certificate.primal,
                      b.certificate.primal, a.certificate.gap, b.certificate.gap);
            vxs_solution_release(&a);
            vxs_solution_release(&b);
            tried++;
        }
        vxs_solver_free(cuts);
        vxs_solver_free(bp);
        release(&e);
    }
    cr_assert(tried > 800, "%zu", tried);
}

/* ---- Allocation failures --------------------------------------------------------------------- */

static const example *fault_example;

static vxs_status solve_some(vxs_error *err)
{
    vxs_solver *solver;
    vxs_status status = begin(fault_example, VXS_FUSED_CUTS, 1e-6, &solver, err);
    if (status)
        return status;
    for (double ratio = 0.5; ratio > 0.05 && !status; ratio /= 3) {
        vxs_solution s;
        status = vxs_solver_fit(solver, ratio * vxs_solver_lambda_max(solver), &s, err);
        if (!status)
            vxs_solution_release(&s);
    }
    vxs_solver_free(solver);
    return status;
}

Test(cuts, every_request_for_memory_may_fail)
{
    static const vxs_loss_kind *const losses[] = { &vxs_squared_loss, &vxs_logistic_loss,
                                                   &vxs_multinomial_loss };
    for (uint64_t number = 0; number < 6; number++) {
        example e;
        make(&e, number, losses[number % 3], false);
        fault_example = &e;
        cr_assert(fail_each_request(solve_some) > 30);
        release(&e);
    }
}
