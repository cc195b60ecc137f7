/* mkl.c - multiple kernel learning: a weight for each of several kernels, and a machine on their
 * weighted sum.
 *
 * Problem   min over w, b: sum_i u_i f(z_i, y_i) + lambda (sum_g sqrt(w_g'K_g w_g))^2 / 2,
 *           z = sum_g K_g w_g + b. The same as a machine on K(d) = sum_g d_g K_g, whose norm is
 *           sum_g w_g'K_g w_g / d_g, and which is least over d >= 0 of sum 1 as well
 * Dual      max q't - max_g beta'K_g beta / 2 over 0 <= t <= c, see joint_dual.h; c = u / lambda,
 *           all divided by lambda
 * Optimal   w_g = d_g beta, d_g = 0 where beta'K_g beta is less than the largest
 * Method    a working set of kernels that grows by those which violate this most, solved by
 *           joint_dual.c; then kernels and subjects that the solution leaves out get a 0, if the
 *           gap allows it
 * Stops     the gap over all kernels and all subjects is below the tolerance
 * Cost      a reading of all kernels for each set; four readings of the set's kernels and n cubed
 *           / 3 for each step within
 * Source    Rakotomamonjy, Bach, Canu and Grandvalet 2008 (SimpleMKL), who descend in d with a
 *           machine for each step; Lanckriet et al. 2004 */
#include "solver/growth.h"
#include "solver/mkl/joint_dual.h"
#include "solver/solver.h"

#include <cblas.h>
#include <stdlib.h>
#include <string.h>

#define FIRST       8     /* kernels of a first set */
#define INSIDE      1e-2  /* of the gap: that of a set, or less, so that zeros show: */
#define DEEP        1e-10 /* of the empty value */
#define MOST_ROUNDS 100
#define CONSTANT    1e-12 /* of the empty value: what all kernels may gain and yet have no weight */
#define NEAR        0.9   /* of the largest beta'K_g beta: kernels kept for the next C */

typedef struct {
    vxs_solver solver;
    vxs_problem problem;
    vxs_box box;
    const double *k; /* count x n x n */
    size_t count;    /* kernels */
    double tol, cost;
    size_t *set, set_count;
    bool *in_set;
    double *d;                                  /* of all kernels */
    double *norms;                              /* sqrt(beta'K_g beta) */
    double *best_t, *best_d, *best_f, *product; /* m, count, n, n */
    vxs_threshold *thresholds;
    vxs_costs costs;
} mkl;

static const char *const scales[] = { "each", "all", NULL };

const vxs_param vxs_mkl_params[] = {
    VXS_GROUPS_ROW,
    VXS_COSTS_ROW,
    VXS_CHOICE_ROW("kernel-scale", "WAY", VXS_AT(mkl.scale), 0, scales,
                   "what the kernels of groups are divided by", .head = VXS_HEAD_MODEL,
                   .more =
                       "each: its own mean over training subjects, so that large groups have no "
                       "advantage; all: one number, the mean of these means."),
    VXS_EPSILON_ROW,
    VXS_TOL_ROW,
    { .name = NULL },
};

/* ---- What it accepts ------------------------------------------------------------------------- */

static const vxs_accepts *accepts(const vxs_method_settings *settings)
{
    static const vxs_accepts all = { .losses = { &vxs_margin_loss, &vxs_epsilon_loss },
                                     .penalties = { &vxs_kernel_sum_penalty },
                                     .weights = VXS_ANY_SIGN };
    (void)settings;
    return &all;
}

/* ---- Memory ---------------------------------------------------------------------------------- */

static void release(vxs_solver *solver)
{
    mkl *s = (mkl *)solver;
    void *const all[] = { s->box.row, s->box.sign, s->box.q,      s->box.c, s->box.t,  s->box.f,
                          s->set,     s->in_set,   s->d,          s->norms, s->best_t, s->best_d,
                          s->best_f,  s->product,  s->thresholds, s };
    for (size_t k = 0; k < sizeof(all) / sizeof(all[0]); k++)
        free(all[k]);
}

static vxs_status allocate(mkl *s, vxs_error *err)
{
    size_t n = s->box.n, m = s->box.count, count = s->count;
    double **const reals[] = { &s->box.sign, &s->box.q,  &s->box.c,  &s->box.t,  &s->box.f,  &s->d,
                               &s->norms,    &s->best_t, &s->best_d, &s->best_f, &s->product };
    const size_t sizes[] = { m, m, m, m, n, count, count, m, count, n, n };
    s->box.row = vxs_alloc(m, sizeof(*s->box.row), err);
    s->set = vxs_alloc(count, sizeof(*s->set), err);
    s->in_set = vxs_alloc(count, sizeof(*s->in_set), err);
    s->thresholds = vxs_alloc(m, sizeof(*s->thresholds), err);
    bool room = s->box.row && s->set && s->in_set && s->thresholds;
    for (size_t k = 0; k < sizeof(reals) / sizeof(reals[0]) && room; k++) {
        *reals[k] = vxs_alloc(sizes[k], sizeof(double), err);
        room = *reals[k];
    }
    return room ? VXS_OK : VXS_FAILED;
}

static const double *kernel(const mkl *s, size_t g)
{
    return s->k + g * s->box.n * s->box.n;
}

/* ---- Values ---------------------------------------------------------------------------------- */

static void find_beta(const mkl *s, double *beta)
{
    memset(beta, 0, s->box.n * sizeof(*beta));
    for (size_t k = 0; k < s->box.count; k++)
        beta[s->box.row[k]] += s->box.sign[k] * s->box.t[k];
}

/* Norms of all kernels, and the values of subjects, at the weights of both. */
static vxs_status evaluate(mkl *s, vxs_box_state *state, vxs_error *err)
{
    size_t n = s->box.n;
    double *beta = vxs_alloc(n, sizeof(*beta), err);
    if (!beta)
        return VXS_FAILED;
    find_beta(s, beta);
    memset(s->box.f, 0, n * sizeof(*s->box.f));
    for (size_t g = 0; g < s->count; g++) {
        cblas_dsymv(CblasColMajor, CblasLower, (int)n, 1, kernel(s, g), (int)n, beta, 1, 0,
                    s->product, 1);
        s->norms[g] = sqrt(fmax(0, cblas_ddot((int)n, beta, 1, s->product, 1)));
        cblas_daxpy((int)n, s->d[g], s->product, 1, s->box.f, 1);
    }
    free(beta);
    *state = vxs_joint_value(&s->box, s->d, s->norms, s->count, s->thresholds);
    return vxs_check_interrupted(s->box.context, err);
}

static double largest(const mkl *s)
{
    double most = 0;
    for (size_t g = 0; g < s->count; g++)
        most = fmax(most, s->norms[g]);
    return most;
}

/* ---- The working set ------------------------------------------------------------------------- */

/* The kernel outside the set with the largest norm above `least`, or SIZE_MAX. */
static size_t worst(const mkl *s, double least)
{
    size_t best = SIZE_MAX;
    for (size_t g = 0; g < s->count; g++)
        if (!s->in_set[g] && s->norms[g] > least) {
            least = s->norms[g];
            best = g;
        }
    return best;
}

/* At most `most` kernels with norms above `least` enter; returns how many. */
static size_t recruit(mkl *s, size_t most, double least)
{
    size_t entered = 0;
    for (size_t g = worst(s, least); g != SIZE_MAX && entered < most; g = worst(s, least)) {
        s->in_set[g] = true;
        s->set[s->set_count++] = g;
        entered++;
    }
    return entered;
}

/* Those in which the means of both sides, or of scores above and below their mean, are furthest
 * apart. */
static vxs_status begin_set(mkl *s, vxs_error *err)
{
    vxs_box *x = &s->box;
    vxs_box_state state;
    const vxs_loss *l = &s->problem.loss;
    double side[2] = { 0, 0 }, mean = 0;
    bool scores = x->count > x->n;
    for (size_t i = 0; i < x->n && scores; i++)
        mean += l->y[i] / (double)x->n;
    for (size_t k = 0; k < x->count; k++) {
        x->t[k] = x->c[k] * (scores ? fmax(0, x->sign[k] * (l->y[x->row[k]] - mean)) : 1);
        side[x->sign[k] > 0] += x->t[k];
    }
    for (size_t k = 0; k < x->count; k++)
        x->t[k] /= side[x->sign[k] > 0] > 0 ? side[x->sign[k] > 0] : 1;
    vxs_status status = evaluate(s, &state, err);
    if (!status)
        (void)recruit(s, FIRST, -1);
    return status;
}

/* The next C begins with kernels that have a weight or nearly had one. */
static void prune_set(mkl *s)
{
    double most = largest(s);
    s->set_count = 0;
    for (size_t g = 0; g < s->count; g++) {
        s->in_set[g] = s->d[g] > 0 || s->norms[g] * s->norms[g] >= NEAR * most * most;
        if (s->in_set[g])
            s->set[s->set_count++] = g;
    }
}

/* ---- Zeros ----------------------------------------------------------------------------------- */

/* Of a share and its multiplier one is 0 in a solution: the share, if it is that much smaller. */
static double rounded(double share, double multiplier, double by)
{
    return share < multiplier * by ? 0 : share;
}

static void take_weights(mkl *s, const vxs_joint *j, double by)
{
    vxs_box *x = &s->box;
    double sum = 0;
    for (size_t k = 0; k < x->count; k++) {
        double c = x->c[k], share = c > 0 ? j->t[k] / c : 0;
        bool low = share < 0.5;
        double rest = low ? share : 1 - share;
        rest = rounded(rest, low ? j->below[k] : j->above[k], by);
        x->t[k] = rest > 0 ? j->t[k] : low ? 0 : c;
    }
    memset(s->d, 0, s->count * sizeof(*s->d));
    for (size_t g = 0; g < j->count; g++) {
        double slack = j->level > 0 ? j->slack[g] / j->level : 0;
        s->d[s->set[g]] = rounded(j->d[g], slack, by);
        sum += s->d[s->set[g]];
    }
    for (size_t g = 0; g < j->count && sum == 0; g++) /* all have the norm 0 */
        s->d[s->set[g]] = j->d[g];
    for (size_t g = 0; g < s->count; g++)
        s->d[g] /= sum > 0 ? sum : 1;
}

static void keep_best(mkl *s)
{
    memcpy(s->best_t, s->box.t, s->box.count * sizeof(*s->best_t));
    memcpy(s->best_d, s->d, s->count * sizeof(*s->best_d));
    memcpy(s->best_f, s->box.f, s->box.n * sizeof(*s->best_f));
}

static void take_best(mkl *s)
{
    memcpy(s->box.t, s->best_t, s->box.count * sizeof(*s->best_t));
    memcpy(s->d, s->best_d, s->count * sizeof(*s->best_d));
    memcpy(s->box.f, s->best_f, s->box.n * sizeof(*s->best_f));
}

/* The weights with most zeros whose gap is small enough; those of the set as they are, if it is
 * small for none, or if kernels are missing. */
static vxs_status choose_weights(mkl *s, const vxs_joint *j, double target, vxs_box_state *state,
                                 vxs_error *err)
{
    static const double ways[] = { 1, 1e-2, 1e-4 };
    take_weights(s, j, 0);
    (void)vxs_box_balance(&s->box);
    vxs_status status = evaluate(s, state, err);
    if (status || !(state->primal - state->dual <= target))
        return status;
    keep_best(s);
    for (size_t k = 0; k < sizeof(ways) / sizeof(ways[0]); k++) {
        vxs_box_state now;
        take_weights(s, j, ways[k]);
        bool fine = vxs_box_balance(&s->box);
        status = evaluate(s, &now, err);
        if (status)
            return status;
        if (fine && now.primal - now.dual <= target) {
            *state = now;
            return VXS_OK;
        }
    }
    take_best(s);
    return VXS_OK;
}

/* ---- One C ----------------------------------------------------------------------------------- */

static void set_cost(mkl *s, double cost)
{
    for (size_t k = 0; k < s->box.count; k++)
        s->box.c[k] = cost * vxs_loss_weight(&s->problem.loss, s->box.row[k]);
    s->cost = cost;
}

/* One C: what its working set grows by. */
typedef struct {
    mkl *s;
    double within; /* gap of a set */
    size_t steps;
    vxs_box_state *state; /* of the last solution, over all kernels */
} kernels_growth;

static vxs_status solve_set(vxs_growth *g, vxs_error *err)
{
    kernels_growth *at = g->of;
    mkl *s = at->s;
    vxs_joint j = { .count = 0 };
    vxs_status status = vxs_joint_init(&j, s->box.count, s->set_count, err);
    for (size_t k = 0; k < s->set_count && !status; k++)
        j.k[k] = kernel(s, s->set[k]);
    if (!status)
        status = vxs_joint_solve(&s->box, at->within, &j, err);
    at->steps += status ? 0 : j.iterations;
    if (!status)
        status = choose_weights(s, &j, g->target, at->state, err);
    g->gap = at->state->primal - at->state->dual;
    vxs_joint_release(&j);
    return status;
}

/* Kernels outside with a larger norm than those inside. */
static vxs_status grow_set(vxs_growth *g, vxs_error *err)
{
    const kernels_growth *at = g->of;
    mkl *s = at->s;
    double inside = 0;
    (void)err;
    for (size_t k = 0; k < s->set_count; k++)
        inside = fmax(inside, s->norms[s->set[k]]);
    g->added = recruit(s, s->set_count > FIRST ? s->set_count : FIRST, inside);
    return VXS_OK;
}

/* Each set is solved as far as it goes: where none enters another solution changes nothing. */
static vxs_status solve(mkl *s, double empty, vxs_box_state *state, size_t *steps, vxs_error *err)
{
    kernels_growth at = { .s = s, .within = fmin(INSIDE * s->tol, DEEP) * empty, .state = state };
    vxs_growth g = { .of = &at,
                     .context = s->box.context,
                     .target = s->tol * empty,
                     .smaller = 1,
                     .most_rounds = MOST_ROUNDS,
                     .patience = 0,
                     .solve = solve_set,
                     .add = grow_set };
    vxs_status status = s->set_count > 0 ? VXS_OK : begin_set(s, err);
    if (!status)
        status = vxs_grow(&g, err);
    *steps += at.steps;
    return status;
}

/* Where no weight is at its bound the solution is that of every larger C. */
static bool may_stay(const mkl *s, double cost)
{
    bool within = s->set_count > 0;
    for (size_t k = 0; k < s->box.count && within; k++)
        within = s->box.c[k] == 0 || s->box.t[k] < s->box.c[k];
    return within && cost > s->cost;
}

static vxs_status try_last(mkl *s, double target, vxs_box_state *state, bool *done, vxs_error *err)
{
    vxs_status status = evaluate(s, state, err);
    *done = !status && state->primal - state->dual <= target;
    return status;
}

/* The loss without weights, at the best intercept. */
static vxs_status find_empty_value(mkl *s, double *value, vxs_error *err)
{
    vxs_box empty = s->box;
    double *zero = vxs_alloc(s->box.count, sizeof(*zero), err);
    if (!zero)
        return VXS_FAILED;
    empty.t = empty.f = zero;
    *value = vxs_box_evaluate(&empty, NULL, empty.count, s->thresholds).primal;
    free(zero);
    return VXS_OK;
}

/* ---- The solution ---------------------------------------------------------------------------- */

static vxs_status write_weights(const mkl *s, vxs_solution *solution, vxs_error *err)
{
    size_t n = s->box.n, kernels = 0, support = 0;
    double *beta = vxs_alloc(n, sizeof(*beta), err);
    if (!beta)
        return VXS_FAILED;
    find_beta(s, beta);
    for (size_t i = 0; i < n; i++)
        support += beta[i] != 0;
    for (size_t g = 0; g < s->count; g++)
        kernels += s->d[g] > 0;
    size_t most = support * kernels;
    solution->index = vxs_alloc(most + 1, sizeof(*solution->index), err);
    solution->weight = vxs_alloc(most + 1, sizeof(*solution->weight), err);
    solution->covariate_coefficients =
        vxs_alloc(s->problem.covariate_count + 1, sizeof(double), err);
    bool room = solution->index && solution->weight && solution->covariate_coefficients;
    for (size_t k = 0; k < s->count * n && room; k++) {
        double weight = s->d[k / n] * beta[k % n];
        if (weight == 0)
            continue;
        solution->index[solution->count] = k;
        solution->weight[solution->count++] = weight;
    }
    solution->certificate.support = support;
    solution->certificate.kernels = support > 0 ? kernels : 0;
    free(beta);
    return room ? VXS_OK : VXS_FAILED;
}

static vxs_status write_solution(mkl *s, vxs_box_state state, double empty, size_t steps,
                                 vxs_solution *solution, vxs_error *err)
{
    vxs_certificate *c = &solution->certificate;
    double lambda = 1 / s->cost;
    *c = (vxs_certificate){ .lambda = lambda,
                            .lambda_max = NAN,
                            .primal = state.primal * lambda,
                            .dual = state.dual * lambda,
                            .gap = vxs_relative_gap(state.primal - state.dual, empty),
                            .tol = s->tol,
                            .iterations = steps };
    c->converged = vxs_has_converged(c->gap, c->tol);
    vxs_status status = write_weights(s, solution, err);
    if (status) {
        vxs_solution_release(solution);
        return status;
    }
    if (s->box.intercept)
        solution->covariate_coefficients[0] = state.b;
    c->nonzero = solution->count;
    if (empty - state.dual <= CONSTANT * empty)
        c->kernels = 0; /* a constant is as good, and weights are rounding */
    vxs_costs_take(&s->costs, s->problem.design, c);
    return VXS_OK;
}

static vxs_status fit(vxs_solver *solver, vxs_path_point point, vxs_solution *solution,
                      vxs_error *err)
{
    mkl *s = (mkl *)solver;
    vxs_box_state state = { .primal = NAN };
    double empty = 0;
    size_t steps = 0;
    bool done = false;
    *solution = (vxs_solution){ .count = 0 };
    bool stays = may_stay(s, point.value);
    set_cost(s, point.value);
    vxs_status status = find_empty_value(s, &empty, err);
    if (!status && stays)
        status = try_last(s, s->tol * empty, &state, &done, err);
    if (!status && !done)
        status = solve(s, empty, &state, &steps, err);
    if (!status)
        prune_set(s);
    return status ? status : write_solution(s, state, empty, steps, solution, err);
}

static bool is_empty(const vxs_solver *solver)
{
    const mkl *s = (const mkl *)solver;
    size_t n = s->box.n;
    for (size_t k = 0; k < s->count * n; k++)
        if (s->k[k * n + k % n] > 0)
            return false;
    return true;
}

static vxs_status begin(const vxs_context *context, const vxs_problem *problem,
                        const vxs_method_settings *settings, vxs_solver **solver, vxs_error *err)
{
    size_t n = vxs_design_rows(problem->design);
    mkl *s = vxs_alloc(1, sizeof(*s), err);
    if (!s)
        return VXS_FAILED;
    *s = (mkl){ .solver = { .kind = &vxs_mkl_kind },
                .problem = *problem,
                .k = vxs_gram_matrix(problem->design),
                .count = vxs_design_columns(problem->design) / n,
                .tol = settings->tol };
    s->box = (vxs_box){ .context = context,
                        .n = n,
                        .count = problem->loss.kind->of_scores ? 2 * n : n,
                        .intercept = problem->covariate_count > 0 };
    s->costs = vxs_costs_begin(problem->design);
    vxs_status status = allocate(s, err);
    if (status) {
        release(&s->solver);
        return status;
    }
    vxs_box_set_variables(&s->box, &s->problem.loss);
    *solver = &s->solver;
    return VXS_OK;
}

const vxs_solver_kind vxs_mkl_kind = { .accepts = accepts,
                                       .check = vxs_check_intercept_alone,
                                       .begin = begin,
                                       .is_empty = is_empty,
                                       .select = fit,
                                       .release = release };
