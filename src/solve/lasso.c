/* lasso.c - SAIF, safe active incremental features: the problem is solved on a set of features that
 * grows by those most in want of a weight and shrinks by those that provably have none, until no
 * feature outside can matter. The certificate is of the full problem. */
#include "solve/active.h"
#include "solve/scans.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#define GROWTH      1.0 /* c: features that enter at once */
#define OVERTAKERS  1.0 /* zeta: others that may yet exceed one that enters, as a share of these */
#define MOST_ROUNDS 1000
#define STAGE       0.31
#define ROUGH       1e-4 /* gap of the solutions on the way */
#define EDGE        1e-9 /* of 1, for rounding */

#define AT(member) offsetof(vxs_lasso_settings, member)

const vxs_param vxs_lasso_params[] = {
    { .name = "lambda",
      .value = "X",
      .type = VXS_PARAM_REAL,
      .offset = AT(lambda),
      .initial = NAN,
      .min = 0,
      .max = INFINITY,
      .help = "weight of the penalty; larger ones leave fewer features" },
    { .name = "lambda-ratio",
      .value = "SHARE",
      .type = VXS_PARAM_REAL,
      .offset = AT(lambda_ratio),
      .initial = NAN,
      .min = 0,
      .max = 10,
      .help = "the same as a share of lambda_max, at which no feature is left: 0.1 for fit when "
              "neither is given, and where a path ends (0.01)" },
    { .name = "nlambda",
      .value = "N",
      .type = VXS_PARAM_WHOLE,
      .offset = AT(nlambda),
      .initial = 100,
      .min = 2,
      .max = 10000,
      .help = "values of lambda on a path, from lambda_max down" },
    { .name = "tol",
      .value = "X",
      .type = VXS_PARAM_REAL,
      .offset = AT(tol),
      .initial = 1e-6,
      .min = 1e-12,
      .max = 0.1,
      .help = "duality gap to reach, as a share of the loss of the empty model" },
    { .name = "ridge",
      .value = "X",
      .type = VXS_PARAM_REAL,
      .offset = AT(ridge),
      .initial = 0,
      .min = 0,
      .max = INFINITY,
      .help = "adds X / 2 times the sum of squared weights to the penalty (elastic net)" },
    { .name = "nonnegative",
      .type = VXS_PARAM_FLAG,
      .offset = AT(nonnegative),
      .help = "weights may not be negative" },
    { .name = NULL },
};

struct vxs_lasso {
    const vxs_context *context;
    vxs_problem problem;
    vxs_lasso_settings settings;
    size_t n, p;
    vxs_active active;
    vxs_scans scans;
    double *theta;
    bool *member;  /* of the active set */
    bool *keep;    /* p */
    size_t *order; /* p */
    size_t *pool;
    size_t pool_size, pool_count;
    double lambda_max, median, empty; /* of |X'f'(0)|; primal value of the empty model */
    double last_lambda;
};

void vxs_solution_release(vxs_solution *solution)
{
    free(solution->index);
    free(solution->weight);
    free(solution->free);
    *solution = (vxs_solution){ .count = 0 };
}

void vxs_lasso_free(vxs_lasso *l)
{
    if (!l)
        return;
    vxs_active_release(&l->active);
    vxs_scans_release(&l->scans);
    free(l->theta);
    free(l->member);
    free(l->keep);
    free(l->order);
    free(l->pool);
    free(l);
}

double vxs_lasso_lambda_max(const vxs_lasso *l)
{
    return l->lambda_max;
}

/* ---- The beginning --------------------------------------------------------------------------- */

/* How much a column wants a weight. */
static double want(const vxs_lasso *l, size_t j)
{
    double value = l->scans.estimate[j];
    return l->problem.nonnegative ? value : fabs(value);
}

static int by_value(const void *a, const void *b)
{
    double left = *(const double *)a, right = *(const double *)b;
    return (left > right) - (left < right);
}

static void look_at_first_scan(vxs_lasso *l)
{
    double *sizes = l->scans.some;
    for (size_t j = 0; j < l->p; j++) {
        sizes[j] = fabs(l->scans.estimate[j]);
        l->lambda_max = fmax(l->lambda_max, want(l, j));
    }
    qsort(sizes, l->p, sizeof(*sizes), by_value);
    l->median = l->p > 0 ? (sizes[(l->p - 1) / 2] + sizes[l->p / 2]) / 2 : 0;
}

/* The empty model: the free columns alone. */
static vxs_status begin(vxs_lasso *l, vxs_error *err)
{
    vxs_state state;
    vxs_status status = vxs_active_init(&l->active, &l->problem, err);
    if (!status)
        status = vxs_active_solve(&l->active, 1, 0, l->theta, &state, err);
    if (status)
        return status;
    l->empty = state.primal;
    status = vxs_scans_init(&l->scans, l->problem.design, l->theta, err);
    if (!status)
        look_at_first_scan(l);
    return status;
}

vxs_status vxs_lasso_new(const vxs_context *context, const vxs_problem *problem,
                         const vxs_lasso_settings *settings, vxs_lasso **lasso, vxs_error *err)
{
    vxs_lasso *l = vxs_alloc(1, sizeof(*l), err);
    if (!l)
        return VXS_FAILED;
    l->context = context;
    l->problem = *problem;
    l->settings = *settings;
    l->n = vxs_design_rows(problem->design);
    l->p = vxs_design_columns(problem->design);
    l->theta = vxs_alloc(l->n, sizeof(*l->theta), err);
    l->member = vxs_alloc(l->p, sizeof(*l->member), err);
    l->keep = vxs_alloc(l->p, sizeof(*l->keep), err);
    l->order = vxs_alloc(l->p, sizeof(*l->order), err);
    l->pool_size = l->p / 512 > 256 ? l->p / 512 : 256;
    l->pool = vxs_alloc(l->pool_size, sizeof(*l->pool), err);
    vxs_status status =
        l->theta && l->member && l->keep && l->order && l->pool ? begin(l, err) : VXS_FAILED;
    l->last_lambda = l->lambda_max;
    if (status) {
        vxs_lasso_free(l);
        return status;
    }
    *lasso = l;
    return VXS_OK;
}

/* ---- DEL and ADD ----------------------------------------------------------------------------- */

/* With the ridge a column is longer by one entry. */
static double norm_of(const vxs_lasso *l, size_t j)
{
    double norm = vxs_design_norms(l->problem.design)[j];
    return l->problem.ridge > 0 ? sqrt(norm * norm + l->problem.ridge) : norm;
}

/* Features whose correlation is below 1 in the whole ball have no weight in the sub-problem. */
static void delete_members(vxs_lasso *l, const vxs_state *state)
{
    vxs_active *a = &l->active;
    bool all = true;
    for (size_t k = 0; k < a->count; k++) {
        double c = state->scale * vxs_active_correlation(a, k);
        double most =
            (l->problem.nonnegative ? c : fabs(c)) + norm_of(l, a->set[k]) * state->radius;
        l->keep[k] = most >= 1 - EDGE;
        l->member[a->set[k]] = l->keep[k];
        all = all && l->keep[k];
    }
    if (!all)
        vxs_active_keep(a, l->keep);
}

static size_t how_many(const vxs_lasso *l, double lambda)
{
    double p = (double)l->p;
    double h = ceil(GROWTH * log((l->median + l->lambda_max) / lambda) * log(p > 2 ? p : 2));
    return h < 1 ? 1 : (size_t)h;
}

/* A heap of features, the one with the least want on top. */
static void sift_up(vxs_lasso *l, size_t at, size_t j)
{
    for (; at > 0 && want(l, l->order[(at - 1) / 2]) > want(l, j); at = (at - 1) / 2)
        l->order[at] = l->order[(at - 1) / 2];
    l->order[at] = j;
}

static void sift_down(vxs_lasso *l, size_t count, size_t j)
{
    size_t at = 0, child = 1;
    while (child < count) {
        if (child + 1 < count && want(l, l->order[child + 1]) < want(l, l->order[child]))
            child++;
        if (want(l, l->order[child]) >= want(l, j))
            break;
        l->order[at] = l->order[child];
        at = child;
        child = 2 * at + 1;
    }
    l->order[at] = j;
}

/* Of the first `count` features of `order`, the h that want a weight most come first. */
static size_t select_top(vxs_lasso *l, size_t count, size_t h)
{
    h = h < count ? h : count;
    for (size_t k = 0; k < h; k++)
        sift_up(l, k, l->order[k]);
    for (size_t k = h; k < count && h > 0; k++)
        if (want(l, l->order[k]) > want(l, l->order[0]))
            sift_down(l, h, l->order[k]);
    return h;
}

/* Those of the chosen h that fewer than zeta h others could overtake, given the ball. */
static size_t drop_overtaken(vxs_lasso *l, size_t h, double scale, double radius)
{
    size_t limit = (size_t)ceil(OVERTAKERS * (double)h), kept = 0;
    double *lowest = l->scans.some;
    for (size_t k = 0; k < h; k++) {
        double low = scale * want(l, l->order[k]) - norm_of(l, l->order[k]) * radius;
        lowest[k] = fmax(0, low);
    }
    for (size_t k = 0; k < h; k++) {
        size_t others = 0;
        for (size_t j = 0; j < l->p && others < limit; j++)
            others += !l->member[j] && j != l->order[k] &&
                      scale * want(l, j) + norm_of(l, j) * radius >= lowest[k];
        if (others < limit)
            l->order[kept++] = l->order[k];
    }
    return kept;
}

/* Features outside that may exceed the level within the ball, into order; `certain`: only those
 * that do whatever is not known of them. */
static size_t list_candidates(vxs_lasso *l, double level, double slack, bool certain)
{
    size_t count = 0;
    for (size_t j = 0; j < l->p; j++) {
        double doubt = (double)l->scans.doubt[j];
        double most = want(l, j) + (certain ? -doubt : slack * norm_of(l, j));
        if (!l->member[j] && most >= level)
            l->order[count++] = j;
    }
    return count;
}

static vxs_status enter(vxs_lasso *l, size_t count, vxs_error *err)
{
    for (size_t k = 0; k < count; k++)
        l->member[l->order[k]] = true;
    return vxs_active_add(&l->active, l->order, count, err);
}

/* ADD. Where enough are known to exceed 1 by what earlier scans say, nothing is read. */
static vxs_status add_members(vxs_lasso *l, double lambda, const vxs_state *state, double radius,
                              size_t *candidates, size_t *added, vxs_error *err)
{
    double scale = fabs(state->scale), level = (1 - EDGE) / scale, slack = radius / scale;
    size_t h = how_many(l, lambda), count = list_candidates(l, level, 0, true);
    if (count < (h + 3) / 4) {
        vxs_scans_settle(&l->scans, l->theta, level, slack);
        count = list_candidates(l, level, slack, false);
    }
    *candidates = count;
    count = select_top(l, count, h);
    *added = radius > 0 ? drop_overtaken(l, count, scale, radius) : count;
    return enter(l, *added, err);
}

/* ---- The pool: a second level of active set ---------------------------------------------------
 *
 * The features outside that want a weight most. They are few enough to be scanned again and again,
 * so that a scan of all columns is made for a solution that is right on thousands of them. */

static void choose_pool(vxs_lasso *l)
{
    size_t count = 0;
    for (size_t j = 0; j < l->p; j++)
        if (!l->member[j])
            l->order[count++] = j;
    l->pool_count = select_top(l, count, l->pool_size);
    memcpy(l->pool, l->order, l->pool_count * sizeof(*l->pool));
}

/* Those of the pool that exceed 1 enter, h at most. */
static vxs_status add_from_pool(vxs_lasso *l, double lambda, double scale, size_t *added,
                                vxs_error *err)
{
    size_t outside = 0, count = 0;
    for (size_t k = 0; k < l->pool_count; k++)
        if (!l->member[l->pool[k]])
            l->order[outside++] = l->pool[k];
    vxs_design_scan_some(l->problem.design, l->order, outside, l->theta, l->scans.some);
    for (size_t k = 0; k < outside; k++) {
        vxs_scans_know(&l->scans, l->order[k], l->scans.some[k]);
        if (want(l, l->order[k]) * fabs(scale) >= 1 + EDGE)
            l->order[count++] = l->order[k];
    }
    *added = select_top(l, count, how_many(l, lambda));
    return enter(l, *added, err);
}

/* The problem on members and pool: DEL and ADD until the pool has no more to give. */
static vxs_status solve_with_pool(vxs_lasso *l, double lambda, double target, vxs_state *state,
                                  vxs_error *err)
{
    vxs_status status = VXS_OK;
    for (size_t added = 1; added > 0 && !status;) {
        status = vxs_active_solve(&l->active, lambda, target, l->theta, state, err);
        if (!status)
            status = vxs_check_interrupted(l->context, err);
        if (!status)
            delete_members(l, state);
        if (!status)
            status = add_from_pool(l, lambda, state->scale, &added, err);
    }
    return status;
}

/* ---- One lambda ------------------------------------------------------------------------------ */

/* The estimates are of theta; members are known from the sub-problem. */
static void look_around(vxs_lasso *l)
{
    vxs_scans_point(&l->scans, l->theta);
    for (size_t k = 0; k < l->active.count; k++)
        vxs_scans_know(&l->scans, l->active.set[k], vxs_active_correlation(&l->active, k));
}

/* The gap over all columns: theta goes back into the domain by the steepest of them. */
static void certify(vxs_lasso *l, double lambda, vxs_state *full)
{
    double steepest = 0, members = 0;
    for (size_t k = 0; k < l->active.count; k++)
        members = fmax(members, want(l, l->active.set[k]));
    vxs_scans_settle(&l->scans, l->theta, members > 0 ? members : 1, 0);
    for (size_t j = 0; j < l->p; j++)
        steepest = fmax(steepest, want(l, j) + (double)l->scans.doubt[j]);
    vxs_active_dual(&l->active, l->theta, lambda, steepest, full);
}

/* Far below the last lambda the way leads over some between, each with a pool of its own: a pool
 * that is chosen from far away has the wrong features. */
static vxs_status approach(vxs_lasso *l, double lambda, vxs_error *err)
{
    double from = fmax(l->last_lambda, lambda), stages = ceil(log(lambda / from) / log(STAGE));
    vxs_status status = VXS_OK;
    choose_pool(l);
    for (double k = 1; k < stages && !status; k++) {
        double at = from * pow(lambda / from, k / stages);
        double next = from * pow(lambda / from, (k + 1) / stages);
        vxs_state state;
        status = solve_with_pool(l, at, ROUGH * l->empty, &state, err);
        if (status)
            return status;
        look_around(l);
        vxs_scans_settle(&l->scans, l->theta, next / at / fabs(state.scale), 0);
        choose_pool(l);
    }
    return status;
}

static vxs_status run(vxs_lasso *l, double lambda, vxs_certificate *c, vxs_error *err)
{
    double target = l->settings.tol * l->empty, inner = 0.1 * target;
    double delta = fmin(1, lambda / l->last_lambda);
    vxs_state state, full = { .gap = INFINITY };
    vxs_status status = approach(l, lambda, err);
    for (c->iterations = 0; c->iterations < MOST_ROUNDS && !status; c->iterations++) {
        size_t candidates = 0, added = 0;
        status = solve_with_pool(l, lambda, inner, &state, err);
        if (status)
            break;
        look_around(l);
        status = add_members(l, lambda, &state, delta * state.radius, &candidates, &added, err);
        if (status)
            break;
        if (added > 0) {
            choose_pool(l);
            continue;
        }
        certify(l, lambda, &full);
        if (full.gap <= target)
            break;
        if (candidates == 0 && delta < 1)
            delta = fmin(1, 10 * delta);
        else
            inner /= 10; /* the ball is too wide to tell who is to enter */
        if (inner < 1e-14 * l->empty)
            break;
    }
    c->iterations++; /* the last one as well */
    c->primal = full.primal;
    c->dual = full.dual;
    c->gap = l->empty > 0 ? full.gap / l->empty : 0;
    c->converged = full.gap <= target;
    return status;
}

static int by_index(const void *a, const void *b)
{
    size_t left = *(const size_t *)a, right = *(const size_t *)b;
    return (left > right) - (left < right);
}

static vxs_status take_solution(vxs_lasso *l, vxs_solution *solution, vxs_error *err)
{
    vxs_active *a = &l->active;
    size_t count = 0;
    solution->index = vxs_alloc(a->count, sizeof(*solution->index), err);
    solution->weight = vxs_alloc(a->count, sizeof(*solution->weight), err);
    solution->free = vxs_alloc(a->q, sizeof(*solution->free), err);
    if (!solution->index || !solution->weight || !solution->free) {
        vxs_solution_release(solution);
        return VXS_FAILED;
    }
    memcpy(solution->free, a->w, a->q * sizeof(*a->w));
    for (size_t k = 0; k < a->count; k++)
        if (a->w[a->q + k] != 0) {
            l->scans.some[a->set[k]] = a->w[a->q + k];
            solution->index[count++] = a->set[k];
        }
    qsort(solution->index, count, sizeof(*solution->index), by_index);
    for (size_t k = 0; k < count; k++)
        solution->weight[k] = l->scans.some[solution->index[k]];
    solution->count = count;
    solution->certificate.nonzero = count;
    return VXS_OK;
}

vxs_status vxs_lasso_fit(vxs_lasso *l, double lambda, vxs_solution *solution, vxs_error *err)
{
    double start = vxs_seconds();
    uint64_t read = vxs_design_read(l->problem.design);
    *solution = (vxs_solution){
        .certificate = { .lambda = lambda, .lambda_max = l->lambda_max, .tol = l->settings.tol }
    };
    vxs_status status = run(l, lambda, &solution->certificate, err);
    if (!status)
        status = take_solution(l, solution, err);
    l->last_lambda = lambda;
    vxs_certificate *c = &solution->certificate;
    c->passes = l->p > 0 ? (double)(vxs_design_read(l->problem.design) - read) / (double)l->p : 0;
    c->seconds = vxs_seconds() - start;
    return status;
}
