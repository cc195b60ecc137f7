/* saiv.c - kernel machines: support vector classification and regression (safe active incremental
 * vectors).
 *
 * Problem   min over w, b: sum_i u_i f(z_i, y_i) + lambda w'Kw / 2,  z = Kw + b
 * Dual      max q't - beta'K beta / 2 over 0 <= t <= c, see box_dual.h; c = u / lambda, all
 *           divided by lambda
 * Optimal   y z > 1: t = 0;  y z < 1: t = c;  else between (classes)
 * Method    a working set of samples that grows by those which violate this most, in either class;
 *           solved by box_dual.c, the others where they are; the best b of the set chooses who
 *           enters, since with the best b of all samples no violator may be left outside
 * Bounds    on request: what a gap over all samples, or the answer at the last C, decides for good
 *           is never looked at again at this C, and leaves the set (sample_bounds.c); a warm set
 *           leaves it aside anyway, so that bounds save steps and no time
 * Stops     the gap over all samples is below the tolerance
 * Cost      columns of K of the samples whose weight changes; steps of the size of the set
 * Source    Ren 2017, chapter 5, where samples are recruited by proof: such proofs need a gap below
 *           the differences between samples, and copies have none */
#include "solver/saiv/saiv.h"
#include "solver/growth.h"

#include <cblas.h>
#include <stdlib.h>
#include <string.h>

#define SMALL       400  /* samples that are one set */
#define FIRST       40   /* samples of a first set */
#define LOOSE       0.1  /* of the gap aimed at: that of the set */
#define NEAR        0.05 /* of the gap that the set begins with, if that is more */
#define MOST_APART  0.6  /* of all: a larger set is all, whose kernel need not be copied */
#define NEAR_SHARE  0.1  /* of all: weights inside the box or on the wrong side, few */
#define MOST_ROUNDS 200
#define PATIENCE    3 /* rounds without a gap that is smaller by more than: */
#define SMALLER     1e-3
#define LEAST_ROOM  (4 * FIRST) /* samples of a set */

/* ---- What it accepts ------------------------------------------------------------------------- */

static const vxs_accepts *accepts(const vxs_method_settings *settings)
{
    static const vxs_accepts all = { .losses = { &vxs_margin_loss, &vxs_epsilon_loss },
                                     .penalties = { &vxs_kernel_norm_penalty },
                                     .weights = VXS_ANY_SIGN };
    (void)settings;
    return &all;
}

/* ---- Memory ---------------------------------------------------------------------------------- */

static void release(vxs_solver *solver)
{
    vxs_saiv *s = (vxs_saiv *)solver;
    vxs_box_work_release(&s->work);
    void *const all[] = { s->box.row, s->box.sign,     s->box.q,  s->box.c,     s->box.t,
                          s->box.f,   s->fetched,      s->in_set, s->violation, s->thresholds,
                          s->set,     s->bound_values, s->fate,   s->seen,      s };
    for (size_t k = 0; k < sizeof(all) / sizeof(all[0]); k++)
        free(all[k]);
}

static vxs_status allocate(vxs_saiv *s, vxs_error *err)
{
    size_t m = s->box.count;
    s->box.row = vxs_alloc(m, sizeof(*s->box.row), err);
    s->box.sign = vxs_alloc(m, sizeof(*s->box.sign), err);
    s->box.q = vxs_alloc(m, sizeof(*s->box.q), err);
    s->box.c = vxs_alloc(m, sizeof(*s->box.c), err);
    s->box.t = vxs_alloc(m, sizeof(*s->box.t), err);
    s->box.f = vxs_alloc(s->box.n, sizeof(*s->box.f), err);
    s->in_set = vxs_alloc(m, sizeof(*s->in_set), err);
    s->set = vxs_alloc(m, sizeof(*s->set), err);
    s->violation = vxs_alloc(2 * m, sizeof(*s->violation), err);
    s->thresholds = vxs_alloc(m, sizeof(*s->thresholds), err);
    s->bound_values = vxs_alloc(2 * s->box.n, sizeof(*s->bound_values), err);
    s->fate = vxs_alloc(m, sizeof(*s->fate), err);
    s->seen = vxs_alloc(s->box.n, sizeof(*s->seen), err);
    if (!s->bound_values || !s->fate || !s->seen || !s->box.row || !s->box.sign || !s->box.q ||
        !s->box.c || !s->box.t || !s->box.f || !s->in_set || !s->set || !s->violation ||
        !s->thresholds)
        return VXS_FAILED;
    s->sorted = s->violation + m;
    return VXS_OK;
}

static vxs_status find_kernel(vxs_saiv *s, vxs_error *err)
{
    size_t n = s->box.n, room = vxs_gram_room(s->problem.design);
    s->box.k = vxs_gram_matrix(s->problem.design);
    s->box.kernel = s->problem.design;
    if (room < SIZE_MAX) {
        s->room = (room > LEAST_ROOM || room == 0 ? room : LEAST_ROOM) * (s->box.count / n);
        return VXS_OK;
    }
    s->fetched = vxs_alloc(n, vxs_times(n, sizeof(*s->fetched)), err);
    for (size_t j = 0; j < n && s->fetched; j++)
        vxs_design_fetch(s->problem.design, &j, 1, s->fetched + j * n);
    s->box.k = s->fetched;
    return s->fetched ? VXS_OK : VXS_FAILED;
}

static double own_of(const vxs_saiv *s, size_t i)
{
    return s->box.k ? s->box.k[i * s->box.n + i] : vxs_gram_own(s->box.kernel, i);
}

/* A kernel of samples with themselves below 0 is none. */
static vxs_status check_diagonal(const vxs_saiv *s, vxs_error *err)
{
    for (size_t i = 0; i < s->box.n; i++)
        if (!(own_of(s, i) >= 0))
            return vxs_fail(err, VXS_BAD_DATA,
                            "the kernel of sample %zu with itself is %g: it is not positive "
                            "semidefinite",
                            i, own_of(s, i));
    return VXS_OK;
}

/* ---- The dual problem ------------------------------------------------------------------------ */

/* From one C to the next weights keep their share of the bound, or their value where C rises: as
 * the dual value is larger. Either way they still sum to 0. */
static void set_cost(vxs_saiv *s, double cost)
{
    vxs_box *x = &s->box;
    double ratio = s->cost > 0 ? cost / s->cost : 0, linear = 0, square = 0;
    for (size_t k = 0; k < x->count; k++) {
        linear += x->q[k] * x->t[k];
        square += x->sign[k] * x->t[k] * x->f[x->row[k]];
    }
    bool keep = ratio >= 1 && linear - square / 2 >= ratio * linear - ratio * ratio * square / 2;
    for (size_t k = 0; k < x->count; k++) {
        bool at_bound = x->t[k] >= x->c[k];
        x->c[k] = cost * vxs_loss_weight(&s->problem.loss, x->row[k]);
        if (!keep)
            x->t[k] = at_bound && ratio > 0 ? x->c[k] : fmin(x->t[k] * ratio, x->c[k]);
    }
    for (size_t i = 0; i < x->n && !keep; i++)
        x->f[i] *= ratio;
    s->cost = cost;
}

static double weight_of(const vxs_saiv *s, size_t i)
{
    const vxs_box *x = &s->box;
    return x->count == x->n ? x->sign[i] * x->t[i] : x->t[2 * i] - x->t[2 * i + 1];
}

static vxs_status add_tiles(vxs_saiv *s, vxs_error *err)
{
    vxs_box *x = &s->box;
    size_t *row = vxs_alloc(x->n, sizeof(*row), err), count = 0;
    for (size_t i = 0; i < x->n && row; i++) {
        double weight = weight_of(s, i);
        if (weight != 0) {
            s->violation[count] = weight;
            row[count++] = i;
        }
    }
    vxs_status status =
        row ? vxs_gram_add(x->kernel, row, s->violation, count, x->f, err) : VXS_FAILED;
    free(row);
    return status;
}

/* Weights sum to 0 exactly, and values are computed again. */
vxs_status vxs_saiv_refresh(vxs_saiv *s, vxs_error *err)
{
    vxs_box *x = &s->box;
    (void)vxs_box_balance(x);
    memset(x->f, 0, x->n * sizeof(*x->f));
    if (!x->k)
        return add_tiles(s, err);
    for (size_t k = 0; k < x->count; k++)
        if (x->t[k] != 0)
            cblas_daxpy((int)x->n, x->sign[k] * x->t[k], x->k + x->row[k] * x->n, 1, x->f, 1);
    return VXS_OK;
}

/* ---- What bounds decide ---------------------------------------------------------------------- */

/* The answer at the last C, before weights move to the next. */
static void bound_by_path(vxs_saiv *s, double cost)
{
    const vxs_box *x = &s->box;
    double ratio = cost / s->cost, square = 0;
    vxs_sample_bounds_begin(&s->bounds, x->n, s->bound_values);
    memset(s->fate, VXS_UNDECIDED, x->count);
    s->fixed = 0;
    if (!s->screens || !(s->cost > 0))
        return;
    for (size_t k = 0; k < x->count; k++)
        square += x->sign[k] * x->t[k] * x->f[x->row[k]];
    vxs_sample_bounds_add(&s->bounds, x, (1 + ratio) / 2,
                          vxs_path_radius(ratio, sqrt(fmax(0, square)), s->radius));
}

static bool is_fixed(const vxs_saiv *s, size_t k)
{
    return (s->fate[k] == VXS_DECIDED_ZERO && s->box.t[k] == 0) ||
           (s->fate[k] == VXS_DECIDED_FULL && s->box.t[k] == s->box.c[k]);
}

/* The gap over all samples at the weights as they are. Returns how many variables are decided. */
static size_t bound_by_gap(vxs_saiv *s, vxs_box_state state, double empty)
{
    size_t m = s->box.count, fixed = 0;
    if (!s->screens)
        return 0;
    vxs_sample_bounds_add(&s->bounds, &s->box, 1, vxs_gap_radius(state, empty));
    size_t decided = vxs_sample_bounds_decide(&s->bounds, &s->box, s->thresholds, s->fate);
    for (size_t k = 0; k < m && decided > 0; k++)
        fixed += is_fixed(s, k);
    s->fixed = (double)fixed > (1 - MOST_APART) * (double)m ? fixed : 0;
    return decided;
}

/* ---- The working set ------------------------------------------------------------------------- */

/* How far the value of a variable is on the wrong side of the margin. */
double vxs_saiv_violation(const vxs_saiv *s, size_t k, double b)
{
    const vxs_box *x = &s->box;
    double inside = x->q[k] - x->sign[k] * (x->f[x->row[k]] + b);
    if (inside > 0)
        return x->t[k] < x->c[k] ? inside : 0;
    return x->t[k] > 0 ? -inside : 0;
}

static int descending(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;
    return (x < y) - (x > y);
}

/* The violation that `most` of those found exceed; they are in s->sorted. */
double vxs_saiv_level(vxs_saiv *s, size_t found, size_t most)
{
    if (found <= most)
        return VXS_SAIV_VIOLATION;
    qsort(s->sorted, found, sizeof(*s->sorted), descending);
    return s->sorted[most - 1];
}

void vxs_saiv_enter(vxs_saiv *s, size_t k)
{
    s->in_set[k] = true;
    if (s->box.count > s->box.n) /* both variables of a sample */
        s->in_set[k ^ 1] = true;
}

void vxs_saiv_list_set(vxs_saiv *s)
{
    s->set_count = 0;
    for (size_t k = 0; k < s->box.count; k++)
        if (s->in_set[k] && !(s->fixed > 0 && is_fixed(s, k)))
            s->set[s->set_count++] = k;
}

static void leave(vxs_saiv *s, size_t k)
{
    s->in_set[k] = false;
    if (s->box.count > s->box.n)
        s->in_set[k ^ 1] = false;
}

static bool is_inside(const vxs_saiv *s, size_t k)
{
    return s->box.t[k] > 0 && s->box.t[k] < s->box.c[k];
}

/* Where a set may not be larger: of the sets before those stay that are inside the box, or more
 * wrong than others; the rest may come again. Returns how many of each sign may enter. */
static size_t shrink_set(vxs_saiv *s, double b, size_t most)
{
    size_t found = 0, kept = 0, keep = s->room / 2 / (s->box.count / s->box.n);
    if (s->room == 0)
        return most;
    for (size_t m = 0; m < s->set_count; m++) {
        size_t k = s->set[m];
        double wrong = vxs_saiv_violation(s, k, b);
        if (wrong > VXS_SAIV_VIOLATION || is_inside(s, k))
            s->sorted[found++] = wrong;
    }
    double level = found > keep ? vxs_saiv_level(s, found, keep) : 0;
    for (size_t m = 0; m < s->set_count; m++) {
        size_t k = s->set[m];
        double wrong = vxs_saiv_violation(s, k, b);
        bool stays =
            (wrong > VXS_SAIV_VIOLATION || is_inside(s, k)) && wrong >= level && kept < keep;
        s->violation[k] = stays ? 1 : 0;
        kept += stays;
    }
    for (size_t m = 0; m < s->set_count; m++)
        leave(s, s->set[m]);
    for (size_t m = 0; m < s->set_count; m++)
        if (s->violation[s->set[m]] > 0)
            vxs_saiv_enter(s, s->set[m]);
    vxs_saiv_list_set(s);
    size_t room = (s->room - s->set_count) / 2 / (s->box.count / s->box.n);
    return most < room ? most : room;
}

/* The worst of each sign enter, at most about `most` of each. Returns how many. */
static size_t recruit(vxs_saiv *s, double b, size_t most)
{
    size_t m = s->box.count;
    vxs_saiv_list_set(s);
    most = shrink_set(s, b, most);
    size_t before = s->set_count;
    for (int sign = -1; sign <= 1; sign += 2) {
        size_t found = 0, entered = 0;
        for (size_t k = 0; k < m; k++) {
            bool candidate =
                !s->in_set[k] && s->box.sign[k] * sign > 0 && s->box.c[k] > 0 && !is_fixed(s, k);
            s->violation[k] = candidate ? vxs_saiv_violation(s, k, b) : 0;
            if (s->violation[k] > VXS_SAIV_VIOLATION)
                s->sorted[found++] = s->violation[k];
        }
        double level = vxs_saiv_level(s, found, most);
        for (size_t k = 0; k < m; k++)
            if (s->violation[k] > VXS_SAIV_VIOLATION && s->violation[k] >= level &&
                (s->room == 0 || entered++ < most))
                vxs_saiv_enter(s, k);
    }
    vxs_saiv_list_set(s);
    for (size_t k = 0; k < m && s->set_count > MOST_APART * m && s->room == 0; k++)
        s->in_set[k] = true;
    vxs_saiv_list_set(s);
    return s->set_count - before;
}

/* Whether few weights will change: then the set of the last C is too large. */
static bool is_near(const vxs_saiv *s, double b)
{
    size_t moving = 0;
    for (size_t k = 0; k < s->box.count; k++)
        moving += (s->box.t[k] > 0 && s->box.t[k] < s->box.c[k]) ||
                  vxs_saiv_violation(s, k, b) > VXS_SAIV_VIOLATION;
    return (double)moving < NEAR_SHARE * (double)s->box.count;
}

/* Variables that are neither 0 nor at their bound, and some of each sign. */
static void begin_set(vxs_saiv *s, double b)
{
    size_t taken[2] = { 0, 0 };
    bool all = s->box.n <= SMALL && s->room == 0;
    size_t left = s->room / 2;
    if (s->room > 0 || is_near(s, b))
        memset(s->in_set, 0, s->box.count * sizeof(*s->in_set));
    for (size_t k = 0; k < s->box.count; k++) {
        int side = s->box.sign[k] > 0;
        bool inside = s->box.t[k] > 0 && s->box.t[k] < s->box.c[k];
        if (!all && !inside && (taken[side] >= FIRST || s->box.c[k] == 0 || is_fixed(s, k)))
            continue;
        if (s->room > 0 && taken[side] >= FIRST) {
            if (left == 0)
                continue;
            left--;
        }
        taken[side]++;
        vxs_saiv_enter(s, k);
    }
    vxs_saiv_list_set(s);
}

void vxs_saiv_note_seen(vxs_saiv *s)
{
    for (size_t m = 0; m < s->set_count; m++) {
        size_t k = s->set[m];
        s->seen[s->box.row[k]] |=
            s->box.t[k] != 0 ? VXS_SAIV_MEMBER | VXS_SAIV_COLUMN : VXS_SAIV_MEMBER;
    }
}

/* One C: what its working set grows by. */
typedef struct {
    vxs_saiv *s;
    double empty, b; /* the empty model's value; the best intercept of the set */
    size_t most;     /* samples that enter, of each sign */
    vxs_box_state *state;
    vxs_screening *screening;
} samples_growth;

/* Solves the set, which bounds may have left empty, and evaluates all samples. */
static vxs_status solve_set(vxs_growth *g, vxs_error *err)
{
    samples_growth *at = g->of;
    vxs_saiv *s = at->s;
    vxs_box_state before = vxs_box_evaluate(&s->box, s->set, s->set_count, s->thresholds);
    double share = g->added > 0 ? NEAR : 0;
    double within = fmax(LOOSE * g->target, share * (before.primal - before.dual));
    vxs_status status = VXS_OK;
    if (s->set_count > 0)
        status = vxs_box_solve(&s->box, s->set, s->set_count, within, &s->work, &at->b, err);
    *at->state = vxs_box_evaluate(&s->box, NULL, s->box.count, s->thresholds);
    if (s->set_count == 0)
        at->b = at->state->b;
    vxs_saiv_note_seen(s);
    g->gap = at->state->primal - at->state->dual;
    return status;
}

static vxs_status grow_set(vxs_growth *g, vxs_error *err)
{
    samples_growth *at = g->of;
    (void)err;
    at->screening->after = bound_by_gap(at->s, *at->state, at->empty);
    g->added = recruit(at->s, at->b, at->most);
    at->most = at->most < at->s->box.count ? 4 * at->most : at->most;
    return VXS_OK;
}

static vxs_status refine(vxs_growth *g, vxs_error *err)
{
    const samples_growth *at = g->of;
    return vxs_saiv_refresh(at->s, err);
}

static vxs_status solve(vxs_saiv *s, double target, double empty, vxs_box_state *state,
                        size_t *rounds, vxs_screening *screening, vxs_error *err)
{
    samples_growth at = {
        .s = s, .empty = empty, .most = FIRST, .state = state, .screening = screening
    };
    vxs_growth g = { .of = &at,
                     .context = s->box.context,
                     .target = target,
                     .smaller = 1 - SMALLER,
                     .most_rounds = MOST_ROUNDS,
                     .patience = PATIENCE,
                     .solve = solve_set,
                     .add = grow_set,
                     .refine = refine,
                     .added = 1 };
    begin_set(s, state->b);
    vxs_status status = vxs_grow(&g, err);
    *rounds = g.rounds;
    if (!status)
        status = vxs_saiv_refresh(s, err);
    *state = vxs_box_evaluate(&s->box, NULL, s->box.count, s->thresholds);
    return status;
}

/* ---- The solution ---------------------------------------------------------------------------- */

static vxs_status write_solution(vxs_saiv *s, vxs_box_state state, double empty, size_t rounds,
                                 vxs_solution *solution, vxs_error *err)
{
    vxs_certificate *c = &solution->certificate;
    size_t n = s->box.n, count = 0;
    double lambda = 1 / s->cost;
    for (size_t i = 0; i < n; i++)
        count += weight_of(s, i) != 0;
    solution->index = vxs_alloc(count + 1, sizeof(*solution->index), err);
    solution->weight = vxs_alloc(count + 1, sizeof(*solution->weight), err);
    solution->covariate_coefficients =
        vxs_alloc(s->problem.covariate_count + 1, sizeof(double), err);
    if (!solution->index || !solution->weight || !solution->covariate_coefficients) {
        vxs_solution_release(solution);
        return VXS_FAILED;
    }
    for (size_t i = 0; i < n; i++)
        if (weight_of(s, i) != 0) {
            solution->index[solution->count] = i;
            solution->weight[solution->count++] = weight_of(s, i);
        }
    if (s->box.intercept)
        solution->covariate_coefficients[0] = state.b;
    *c = (vxs_certificate){ .lambda = lambda,
                            .lambda_max = NAN,
                            .primal = state.primal * lambda,
                            .dual = state.dual * lambda,
                            .gap = vxs_relative_gap(state.primal - state.dual, empty),
                            .tol = s->tol,
                            .nonzero = count,
                            .support = count,
                            .iterations = rounds };
    c->converged = vxs_has_converged(c->gap, c->tol);
    vxs_costs_take(&s->costs, s->problem.design, c);
    return VXS_OK;
}

/* The loss without weights, at the best intercept. */
static double empty_value(vxs_saiv *s)
{
    vxs_box empty = s->box;
    double *zero = s->violation;
    memset(zero, 0, s->box.count * sizeof(*zero));
    empty.t = zero;
    empty.f = zero;
    return vxs_box_evaluate(&empty, NULL, empty.count, s->thresholds).primal;
}

static vxs_status fit(vxs_solver *solver, vxs_path_point point, vxs_solution *solution,
                      vxs_error *err)
{
    vxs_saiv *s = (vxs_saiv *)solver;
    bool warm = s->cost > 0;
    size_t rounds = 0;
    vxs_screening screening = { .terms = s->box.count };
    *solution = (vxs_solution){ .count = 0 };
    bound_by_path(s, point.value);
    set_cost(s, point.value);
    (void)vxs_box_balance(&s->box);
    double empty = empty_value(s);
    vxs_box_state state = vxs_box_evaluate(&s->box, NULL, s->box.count, s->thresholds);
    if (warm)
        screening.before = screening.after = bound_by_gap(s, state, empty);
    vxs_status status = VXS_OK;
    bool low_rank = vxs_gram_low_rank(s->box.kernel) != NULL;
    if (low_rank)
        status = vxs_saiv_solve_low_rank(s, s->tol * empty, &state, &rounds, err);
    if (s->recruits)
        status = vxs_saiv_recruit_and_screen(s, s->tol * empty, empty, &state, &rounds, err);
    else if (!status && !(low_rank && state.primal - state.dual <= s->tol * empty))
        status = solve(s, s->tol * empty, empty, &state, &rounds, &screening, err);
    if (!status && s->box.k && !s->recruits && !(state.primal - state.dual <= s->tol * empty))
        status = vxs_saiv_solve_singular(s, s->tol * empty, &state, &rounds, err);
    if (s->recruits)
        screening.after = s->box.count - s->set_count;
    s->radius = vxs_gap_radius(state, empty);
    if (!status)
        status = write_solution(s, state, empty, rounds, solution, err);
    if (!status && (s->screens || s->recruits))
        solution->certificate.screening = screening;
    return status;
}

vxs_saiv_counts vxs_saiv_count(const vxs_solver *solver)
{
    const vxs_saiv *s = (const vxs_saiv *)solver;
    vxs_saiv_counts all = { .steps = s->work.steps };
    for (size_t i = 0; i < s->box.n; i++) {
        all.members += (s->seen[i] & VXS_SAIV_MEMBER) != 0;
        all.columns += (s->seen[i] & VXS_SAIV_COLUMN) != 0;
    }
    return all;
}

static bool is_empty(const vxs_solver *solver)
{
    const vxs_saiv *s = (const vxs_saiv *)solver;
    for (size_t i = 0; i < s->box.n; i++)
        if (own_of(s, i) > 0)
            return false;
    return true;
}

static vxs_status begin(const vxs_context *context, const vxs_problem *problem,
                        const vxs_method_settings *settings, vxs_solver **solver, vxs_error *err)
{
    size_t n = vxs_design_rows(problem->design);
    vxs_saiv *s = vxs_alloc(1, sizeof(*s), err);
    if (!s)
        return VXS_FAILED;
    *s = (vxs_saiv){ .solver = { .kind = &vxs_svm_kind },
                     .problem = *problem,
                     .tol = settings->tol,
                     .screens = settings->svm.solver == VXS_MACHINE_SCREENED,
                     .recruits = settings->svm.solver == VXS_MACHINE_SAIV };
    s->box = (vxs_box){ .context = context,
                        .n = n,
                        .count = problem->loss.kind->of_scores ? 2 * n : n,
                        .intercept = problem->covariate_count > 0 };
    s->costs = vxs_costs_begin(problem->design);
    vxs_status status = allocate(s, err);
    if (!status)
        status = find_kernel(s, err);
    if (!status)
        status = check_diagonal(s, err);
    if (!status)
        status = vxs_saiv_check_way(s, err);
    if (status) {
        release(&s->solver);
        return status;
    }
    vxs_box_set_variables(&s->box, &s->problem.loss);
    *solver = &s->solver;
    return VXS_OK;
}

const vxs_solver_kind vxs_svm_kind = { .accepts = accepts,
                                       .check = vxs_check_intercept_alone,
                                       .begin = begin,
                                       .is_empty = is_empty,
                                       .select = fit,
                                       .release = release };
