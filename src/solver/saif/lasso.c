/* lasso.c - what every way of solving the lasso shares: how it begins, what features want, and the
 * certificate of the full problem. */
#include "solver/saif/lasso.h"

#include <cblas.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#define SAMPLE    4096
#define WIDE      4     /* beside a Laplacian: a support of more than a fourth of all features */
#define STAY      0.8   /* beside a Laplacian */
#define EXPLAINED 1e-9  /* what is left, as a share of the target */
#define ROUNDING  1e-13 /* of columns and target: a lambda that is none */

const char *const vxs_screen_names[] = { "saif", "none", "dynamic", "dpp", "strong", NULL };
const char *const vxs_inner_names[] = { "auto", "exact", "descent", NULL };

const vxs_param vxs_lasso_params[] = {
    VXS_LAMBDA_ROWS,
    VXS_REAL_ROW("ridge", "X", VXS_AT(l1.ridge), 0, 0, INFINITY,
                 "elastic net: weight of the squared l2 norm", .head = VXS_HEAD_HYPER),
    VXS_FLAG_ROW("nonnegative", VXS_AT(l1.nonnegative), "constrain weights to be at least 0",
                 .head = VXS_HEAD_MODEL),
    VXS_SCREEN_ROWS,
    { .name = NULL },
};

const vxs_param vxs_graphnet_params[] = {
    VXS_LAMBDA_ROWS,
    VXS_REAL_ROW("laplacian", "X", VXS_AT(l1.laplacian), 1, 0, 1e100,
                 "weight of squared differences between neighbors; larger is smoother",
                 .head = VXS_HEAD_HYPER, .usual = true,
                 .more = "Adds X / 2 times the sum over neighbors of the squared difference of "
                         "their weights, for standardized features and per subject."),
    VXS_FLAG_ROW("nonnegative", VXS_AT(l1.nonnegative), "constrain weights to be at least 0",
                 .head = VXS_HEAD_MODEL),
    VXS_SCREEN_ROWS,
    { .name = NULL },
};

/* HSIC lasso: columns are kernels (vxs_kernels_new), the target y y'. */
const vxs_param vxs_hsic_params[] = {
    VXS_LAMBDA_ROWS,
    VXS_KERNEL_WIDTH_ROW,
    { .name = NULL },
};

void vxs_bound_free(vxs_bound *bound)
{
    if (!bound)
        return;
    free(bound->alpha);
    free(bound->index);
    free(bound->weight);
    free(bound->theta);
    free(bound->u);
    free(bound);
}

vxs_bound *vxs_bound_new(size_t n, size_t count, vxs_error *err)
{
    vxs_bound *b = vxs_alloc(1, sizeof(*b), err);
    if (!b)
        return NULL;
    b->alpha = vxs_alloc(n, sizeof(*b->alpha), err);
    b->index = vxs_alloc(count, sizeof(*b->index), err);
    b->weight = vxs_alloc(count, sizeof(*b->weight), err);
    b->count = count;
    if (b->alpha && b->index && b->weight)
        return b;
    vxs_bound_free(b);
    return NULL;
}

vxs_bound *vxs_bound_of_terms(size_t n, size_t terms, vxs_error *err)
{
    vxs_bound *b = vxs_alloc(1, sizeof(*b), err);
    if (!b)
        return NULL;
    b->theta = vxs_alloc(n, sizeof(*b->theta), err);
    b->u = vxs_alloc(terms, sizeof(*b->u), err);
    b->terms = terms;
    if (b->theta && b->u)
        return b;
    vxs_bound_free(b);
    return NULL;
}

void vxs_solution_release(vxs_solution *solution)
{
    vxs_bound_free(solution->bound);
    vxs_selected_free(solution->selected);
    free(solution->index);
    free(solution->weight);
    free(solution->covariate_coefficients);
    *solution = (vxs_solution){ .count = 0 };
}

static void release(vxs_solver *solver)
{
    vxs_lasso *l = (vxs_lasso *)solver;
    vxs_active_release(&l->active);
    vxs_scans_release(&l->scans);
    free(l->theta);
    free(l->start);
    free(l->member);
    free(l->keep);
    free(l->order);
    free(l->pool);
    free(l->pool_reach);
    free(l->pool_theta);
    free(l->pull);
    free(l->pool_pull);
    free(l);
}

static double lambda_max(const vxs_solver *solver)
{
    return ((const vxs_lasso *)solver)->lambda_max;
}

/* ---- The beginning --------------------------------------------------------------------------- */

static int by_value(const void *a, const void *b)
{
    double left = *(const double *)a, right = *(const double *)b;
    return (left > right) - (left < right);
}

/* What rounding leaves of a target that the free columns explain is not to be fitted. */
static bool is_explained(const vxs_lasso *l)
{
    const vxs_sample_loss *loss = l->active.loss;
    double left = 0, whole = 0;
    for (size_t i = 0; i < l->n; i++) {
        double slope = vxs_loss_weight(&l->problem.loss, i) *
                       loss->gradient(0, l->problem.loss.y[i], l->problem.loss.threshold);
        left += l->theta[i] * l->theta[i];
        whole += slope * slope;
    }
    return !(left > EXPLAINED * EXPLAINED * whole);
}

static void look_at_first_scan(vxs_lasso *l)
{
    double *sizes = l->scans.some;
    size_t step = l->p / SAMPLE + 1, count = 0;
    bool explained = is_explained(l);
    double longest = 0;
    for (size_t j = 0; j < l->p && !explained; j++) {
        l->lambda_max = fmax(l->lambda_max, vxs_lasso_want(l, j));
        longest = fmax(longest, l->norms[j]);
    }
    if (l->lambda_max <= ROUNDING * longest * cblas_dnrm2((int)l->n, l->theta, 1))
        l->lambda_max = 0;
    for (size_t j = 0; j < l->p; j += step) /* the median of a sample will do */
        sizes[count++] = fabs(l->scans.estimate[j]);
    qsort(sizes, count, sizeof(*sizes), by_value);
    l->level = l->lambda_max;
    l->median = count > 0 ? (sizes[(count - 1) / 2] + sizes[count / 2]) / 2 : 0;
}

/* The empty model of a loss with a threshold, by falling thresholds. */
static vxs_status ease(vxs_lasso *l, vxs_error *err)
{
    vxs_problem eased = l->problem;
    vxs_state state;
    vxs_status status = VXS_OK;
    double threshold = 0;
    while (!status && (threshold = vxs_loss_eased(&l->problem.loss, NULL, threshold)) > 0) {
        eased.loss.threshold = threshold;
        l->active.problem = &eased;
        status = vxs_active_solve(&l->active, 1, 0, l->theta, &state, err);
    }
    l->active.problem = &l->problem;
    return status;
}

/* The empty model: the covariates alone. */
static vxs_status solve_empty(vxs_lasso *l, vxs_error *err)
{
    vxs_state state;
    vxs_status status = vxs_active_init(&l->active, &l->problem, err);
    l->active.context = l->context;
    l->active.inner = VXS_INNER_EXACT; /* the empty model is small */
    if (!status)
        status = ease(l, err);
    if (!status)
        status = vxs_active_solve(&l->active, 1, 0, l->theta, &state, err);
    if (status)
        return status;
    l->active.inner = l->settings.saif.inner;
    l->active.descend_first = l->settings.saif.screen != VXS_SCREEN_SAIF;
    l->empty = state.primal;
    status = vxs_scans_init(&l->scans, l->problem.design, l->theta, err);
    if (status)
        return status;
    l->norms = vxs_design_norms(l->problem.design);
    l->scans.offset = l->pull;
    look_at_first_scan(l);
    return VXS_OK;
}

static vxs_status begin(const vxs_context *context, const vxs_problem *problem,
                        const vxs_method_settings *settings, vxs_solver **solver, vxs_error *err)
{
    vxs_lasso *l = vxs_alloc(1, sizeof(*l), err);
    if (!l)
        return VXS_FAILED;
    l->solver.kind = &vxs_lasso_kind;
    l->costs = vxs_costs_begin(problem->design);
    l->context = context;
    l->problem = *problem;
    l->settings = *settings;
    l->n = vxs_design_rows(problem->design);
    l->p = vxs_design_columns(problem->design);
    l->theta = vxs_alloc(l->n, sizeof(*l->theta), err);
    l->start = vxs_alloc(l->n, sizeof(*l->start), err);
    l->member = vxs_alloc(l->p, sizeof(*l->member), err);
    l->keep = vxs_alloc(l->p, sizeof(*l->keep), err);
    l->order = vxs_alloc(l->p, sizeof(*l->order), err);
    bool smooth = vxs_quadratic_weight(&problem->quadratic, &vxs_laplacian) > 0;
    l->pool_size = l->p / (smooth ? 1 : 64) > 256 ? l->p / (smooth ? 1 : 64) : 256;
    l->pool = vxs_alloc(l->pool_size, sizeof(*l->pool), err);
    l->pool_reach = vxs_alloc(l->pool_size, sizeof(*l->pool_reach), err);
    l->pool_theta = vxs_alloc(l->n, sizeof(*l->pool_theta), err);
    l->pull = smooth ? vxs_alloc(l->p, sizeof(*l->pull), err) : NULL;
    l->pool_pull = smooth ? vxs_alloc(l->pool_size, sizeof(*l->pool_pull), err) : NULL;
    vxs_status status = l->theta && l->start && l->member && l->keep && l->order && l->pool &&
                                l->pool_reach && l->pool_theta &&
                                (!smooth || (l->pull && l->pool_pull))
                            ? solve_empty(l, err)
                            : VXS_FAILED;
    l->last_lambda = l->lambda_max;
    for (size_t i = 0; i < l->n && !status && l->lambda_max > 0; i++) {
        l->start[i] = l->theta[i]; /* found at lambda 1 */
        l->theta[i] /= l->lambda_max;
    }
    l->active.inside = l->start;
    if (status) {
        release(&l->solver);
        return status;
    }
    *solver = &l->solver;
    return VXS_OK;
}

/* ---- What features want ---------------------------------------------------------------------- */

void vxs_lasso_follow(vxs_lasso *l, double lambda)
{
    const vxs_active *a = &l->active;
    if (l->pull && a->laplacian.p > 0)
        vxs_laplacian_pull(&a->laplacian, a->set, a->count, a->w + a->q, 1 / lambda, l->pull);
}

bool vxs_lasso_is_wide(const vxs_lasso *l)
{
    const vxs_active *a = &l->active;
    size_t support = 0;
    for (size_t k = 0; k < a->count && l->pull; k++)
        support += a->w[a->q + k] != 0;
    return support > VXS_PROJECTED && WIDE * support > l->p;
}

/* Features whose correlation is below 1 in the whole ball have no weight in the sub-problem. */
void vxs_lasso_delete(vxs_lasso *l, const vxs_state *state)
{
    vxs_active *a = &l->active;
    bool all = true;
    if (vxs_lasso_is_wide(l))
        return;
    double least = l->pull ? STAY : 1 - VXS_EDGE;
    for (size_t k = 0; k < a->count; k++) {
        double c = state->scale * vxs_active_correlation(a, k);
        double most =
            (l->problem.nonnegative ? c : fabs(c)) + vxs_lasso_norm(l, a->set[k]) * state->radius;
        l->keep[k] = most >= least || a->w[a->q + k] != 0; /* until it has none */
        l->member[a->set[k]] = l->keep[k];
        all = all && l->keep[k];
    }
    if (!all)
        vxs_active_keep(a, l->keep);
}

vxs_status vxs_lasso_enter(vxs_lasso *l, size_t count, vxs_error *err)
{
    for (size_t k = 0; k < count; k++)
        l->member[l->order[k]] = true;
    return vxs_active_add(&l->active, l->order, count, err);
}

/* The gap over all columns: theta goes back into the domain by the steepest of them. */
void vxs_lasso_certify(vxs_lasso *l, double lambda, vxs_state *full)
{
    double steepest = 0, members = 0;
    for (size_t k = 0; k < l->active.count; k++)
        members = fmax(members, vxs_lasso_want(l, l->active.set[k]));
    vxs_scans_settle(&l->scans, l->theta, members > 0 ? members : 1, 0);
    for (size_t j = 0; j < l->p; j++) {
        double most = vxs_lasso_want(l, j) + (double)l->scans.doubt[j];
        steepest = most > steepest ? most : steepest;
    }
    vxs_active_dual(&l->active, l->theta, lambda, steepest, full);
}

/* ---- One lambda ------------------------------------------------------------------------------ */

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
    solution->covariate_coefficients =
        vxs_alloc(a->q, sizeof(*solution->covariate_coefficients), err);
    if (!solution->index || !solution->weight || !solution->covariate_coefficients) {
        vxs_solution_release(solution);
        return VXS_FAILED;
    }
    memcpy(solution->covariate_coefficients, a->w, a->q * sizeof(*a->w));
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

static vxs_status fit(vxs_solver *solver, double lambda, vxs_solution *solution, vxs_error *err)
{
    vxs_lasso *l = (vxs_lasso *)solver;
    *solution = (vxs_solution){
        .certificate = { .lambda = lambda, .lambda_max = l->lambda_max, .tol = l->settings.tol }
    };
    vxs_certificate *c = &solution->certificate;
    vxs_state full = { .gap = INFINITY };
    vxs_status status = l->settings.saif.screen == VXS_SCREEN_SAIF
                            ? vxs_saif(l, lambda, c, &full, err)
                            : vxs_screen(l, lambda, c, &full, err);
    if (!status && !(full.gap < INFINITY)) /* it gave up before it had looked */
        vxs_lasso_certify(l, lambda, &full);
    c->primal = full.primal;
    c->dual = full.dual;
    c->gap = vxs_relative_gap(full.gap, l->empty);
    c->converged = vxs_has_converged(c->gap, c->tol);
    if (!status)
        status = take_solution(l, solution, err);
    l->last_lambda = lambda;
    vxs_costs_take(&l->costs, l->problem.design, c);
    return status;
}

static const vxs_accepts *accepts(const vxs_method_settings *settings)
{
    static const vxs_accepts all = { { &vxs_squared_loss, &vxs_logistic_loss,
                                       &vxs_squared_hinge_loss, &vxs_huber_loss },
                                     { &vxs_l1_penalty },
                                     { &vxs_ridge, &vxs_laplacian },
                                     VXS_EITHER_SIGN,
                                     true };
    (void)settings;
    return &all;
}

static const vxs_accepts *accepts_kernels(const vxs_method_settings *settings)
{
    static const vxs_accepts hsic = { .losses = { &vxs_squared_loss },
                                      .penalties = { &vxs_l1_penalty },
                                      .weights = VXS_NONNEGATIVE };
    (void)settings;
    return &hsic;
}

const vxs_solver_kind vxs_lasso_kind = {
    .accepts = accepts,
    .begin = begin,
    .lambda_max = lambda_max,
    .fit = fit,
    .release = release,
};

const vxs_solver_kind vxs_hsic_kind = {
    .accepts = accepts_kernels,
    .begin = begin,
    .lambda_max = lambda_max,
    .fit = fit,
    .release = release,
};
