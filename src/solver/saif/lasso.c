/* lasso.c - what all screening rules of the lasso share: initialization, correlations, and the
 * certificate of the full problem. */
#include "solver/saif/lasso.h"

#include <cblas.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#define SAMPLE    512   /* features whose median correlation stands for that of all */
#define WIDE      4     /* with a Laplacian: all features enter once 1 / WIDE of them have weight */
#define STAY      0.8   /* with a Laplacian: correlations below this leave */
#define OUTLIERS  16    /* part of the residuals that may be any size */
#define EXPLAINED 1e-9  /* of the gradient: rounding, the covariates fit exactly */
#define ROUNDING  1e-13 /* of column norm x target norm: lambda_max is 0 */

const char *const vxs_screen_names[] = { "saif", "none", "dynamic", "dpp", "strong", "vi", NULL };
const char *const vxs_inner_names[] = { "auto", "exact", "descent", NULL };

const vxs_param vxs_lasso_params[] = {
    VXS_LAMBDA_ROWS,
    VXS_REAL_ROW("ridge", "X", VXS_AT(l1.ridge), 0, 0, INFINITY,
                 "elastic net: weight of the squared l2 norm; default 0", .head = VXS_HEAD_HYPER,
                 .more = "Adds X / 2 times the squared norm, not multiplied by lambda."),
    VXS_FLAG_ROW("nonnegative", VXS_AT(l1.nonnegative), "constrain weights to be at least 0",
                 .head = VXS_HEAD_MODEL),
    VXS_BAG_WIDTHS_ROW,
    VXS_SCREEN_ROWS,
    { .name = NULL },
};

const vxs_param vxs_graphnet_params[] = {
    VXS_LAMBDA_ROWS,
    VXS_REAL_ROW("laplacian", "X", VXS_AT(l1.laplacian), 1, 0, 1e100,
                 "weight of squared differences between neighbors; larger is smoother",
                 .head = VXS_HEAD_HYPER, .usual = true,
                 .more = "Adds X / 2 times the number of subjects times the sum over neighbors of "
                         "(w_i - w_j)^2, w of standardized features."),
    VXS_FLAG_ROW("nonnegative", VXS_AT(l1.nonnegative), "constrain weights to be at least 0",
                 .head = VXS_HEAD_MODEL),
    VXS_SCREEN_ROWS,
    { .name = NULL },
};

/* HSIC lasso: columns are kernels (vxs_kernels_new), the target is y y'. */
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
    if (!solution)
        return;
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
    vxs_working_set_release(&l->set);
    vxs_cached_correlations_release(&l->correlations);
    vxs_vi_release(&l->vi);
    free(l->theta);
    free(l->xi_empty);
    free(l->in_set);
    free(l->keep);
    free(l->order);
    free(l->candidates);
    free(l->candidate_bound);
    free(l->candidate_theta);
    free(l->laplacian_gradient);
    free(l->candidate_laplacian);
    free(l);
}

static double lambda_max(const vxs_solver *solver)
{
    return ((const vxs_lasso *)solver)->lambda_max;
}

/* ---- Initialization -------------------------------------------------------------------------- */

static int by_value(const void *a, const void *b)
{
    double left = *(const double *)a, right = *(const double *)b;
    return (left > right) - (left < right);
}

double vxs_lasso_large_residual(vxs_lasso *l)
{
    const vxs_working_set *a = &l->set;
    size_t count = 0;
    for (size_t i = 0; i < l->n; i++)
        if (vxs_loss_weight(&l->problem.loss, i) > 0)
            a->trial[count++] = fabs(a->z[i] - l->problem.loss.y[i]);
    qsort(a->trial, count, sizeof(*a->trial), by_value);
    return count > 0 ? a->trial[count - 1 - count / OUTLIERS] : 0;
}

/* True if the gradient after fitting covariates is rounding. */
static bool is_explained(const vxs_lasso *l)
{
    const vxs_sample_loss *loss = l->set.loss;
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
    double *sizes = l->correlations.some;
    size_t step = l->p / SAMPLE + 1, count = 0;
    bool explained = is_explained(l);
    for (size_t j = 0; j < l->p && !explained; j++) {
        double correlation = vxs_lasso_correlation(l, j);
        l->lambda_max = correlation > l->lambda_max ? correlation : l->lambda_max;
    }
    if (l->lambda_max <= ROUNDING * l->correlations.longest * cblas_dnrm2((int)l->n, l->theta, 1))
        l->lambda_max = 0;
    for (size_t j = 0; j < l->p; j += step) /* median of a sample */
        sizes[count++] = fabs(l->correlations.estimate[j]);
    qsort(sizes, count, sizeof(*sizes), by_value);
    l->level = l->lambda_max;
    l->median = count > 0 ? (sizes[(count - 1) / 2] + sizes[count / 2]) / 2 : 0;
}

/* The empty model: covariates only. */
static vxs_status solve_empty(vxs_lasso *l, vxs_error *err)
{
    vxs_state state;
    vxs_status status = vxs_working_set_init(&l->set, &l->problem, err);
    l->set.context = l->context;
    l->set.inner = VXS_INNER_EXACT; /* few variables */
    if (!status)
        status = vxs_working_set_ease(&l->set, 1, NULL, l->theta, err);
    if (!status)
        status = vxs_working_set_solve_once(&l->set, 1, 0, l->theta, &state, err);
    if (status)
        return status;
    l->set.inner = l->settings.saif.inner;
    l->set.descend_first = l->settings.saif.screen != VXS_SCREEN_SAIF;
    l->empty = state.primal;
    status = vxs_cached_correlations_init(&l->correlations, l->problem.design, l->theta, err);
    if (status)
        return status;
    l->norms = vxs_design_norms(l->problem.design);
    for (size_t j = 0; j < l->p; j++) {
        double norm = vxs_lasso_norm(l, j);
        l->longest = norm > l->longest ? norm : l->longest;
    }
    l->correlations.offset = l->laplacian_gradient;
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
    l->xi_empty = vxs_alloc(l->n, sizeof(*l->xi_empty), err);
    l->in_set = vxs_alloc(l->p, sizeof(*l->in_set), err);
    l->keep = vxs_alloc(l->p, sizeof(*l->keep), err);
    l->order = vxs_alloc(l->p, sizeof(*l->order), err);
    bool smooth = vxs_quadratic_weight(&problem->quadratic, &vxs_laplacian) > 0;
    bool wide = smooth || vxs_quadratic_weight(&problem->quadratic, &vxs_ridge) > 0;
    l->candidate_capacity = l->p / (wide ? 1 : 64) > 256 ? l->p / (wide ? 1 : 64) : 256;
    l->candidates = vxs_alloc(l->candidate_capacity, sizeof(*l->candidates), err);
    l->candidate_bound = vxs_alloc(l->candidate_capacity, sizeof(*l->candidate_bound), err);
    l->candidate_theta = vxs_alloc(l->n, sizeof(*l->candidate_theta), err);
    l->laplacian_gradient = smooth ? vxs_alloc(l->p, sizeof(*l->laplacian_gradient), err) : NULL;
    l->candidate_laplacian =
        smooth ? vxs_alloc(l->candidate_capacity, sizeof(*l->candidate_laplacian), err) : NULL;
    vxs_status status = l->theta && l->xi_empty && l->in_set && l->keep && l->order &&
                                l->candidates && l->candidate_bound && l->candidate_theta &&
                                (!smooth || (l->laplacian_gradient && l->candidate_laplacian))
                            ? solve_empty(l, err)
                            : VXS_FAILED;
    l->last_lambda = l->lambda_max;
    for (size_t i = 0; i < l->n && !status && l->lambda_max > 0; i++) {
        l->xi_empty[i] = l->theta[i]; /* computed at lambda 1 */
        l->theta[i] /= l->lambda_max;
    }
    l->set.xi_empty = l->xi_empty;
    if (status) {
        release(&l->solver);
        return status;
    }
    *solver = &l->solver;
    return VXS_OK;
}

/* ---- Correlations ---------------------------------------------------------------------------- */

void vxs_lasso_update_laplacian(vxs_lasso *l, double lambda)
{
    const vxs_working_set *a = &l->set;
    if (l->laplacian_gradient && a->laplacian.p > 0)
        vxs_laplacian_pull(&a->laplacian, a->set, a->count, a->w + a->q, 1 / lambda,
                           l->laplacian_gradient);
}

bool vxs_lasso_has_large_support(const vxs_lasso *l)
{
    const vxs_working_set *a = &l->set;
    size_t support = 0;
    for (size_t k = 0; k < a->count && l->laplacian_gradient; k++)
        support += a->w[a->q + k] != 0;
    return support > VXS_PROJECTED && WIDE * support > l->p;
}

/* DEL: removes features with |x_j'theta| < 1 in the whole ball. */
void vxs_lasso_screen(vxs_lasso *l, const vxs_state *state)
{
    vxs_working_set *a = &l->set;
    bool all = true;
    if (vxs_lasso_has_large_support(l))
        return;
    double least = l->laplacian_gradient ? STAY : 1 - VXS_MARGIN;
    for (size_t k = 0; k < a->count; k++) {
        double c = state->middle * vxs_working_set_correlation(a, k);
        double most = (l->problem.nonnegative ? c : fabs(c)) +
                      vxs_lasso_norm(l, a->set[k]) * state->middle_radius;
        l->keep[k] = most >= least || a->w[a->q + k] != 0; /* until its weight is 0 */
        l->in_set[a->set[k]] = l->keep[k];
        all = all && l->keep[k];
    }
    if (!all)
        vxs_working_set_keep(a, l->keep);
}

vxs_status vxs_lasso_add(vxs_lasso *l, size_t count, vxs_error *err)
{
    for (size_t k = 0; k < count; k++)
        l->in_set[l->order[k]] = true;
    return vxs_working_set_add(&l->set, l->order, count, err);
}

/* The largest correlation of the columns that are listed. */
static double most_near(const vxs_lasso *l)
{
    const vxs_cached_correlations *s = &l->correlations;
    double max_correlation = 0;
    for (size_t k = 0; k < s->near_count; k++) {
        double most = vxs_lasso_correlation(l, s->near[k]) + (double)s->error_bound[s->near[k]];
        max_correlation = most > max_correlation ? most : max_correlation;
    }
    return max_correlation;
}

/* The gap over all columns: theta is scaled by the largest correlation. */
void vxs_lasso_certify(vxs_lasso *l, double lambda, vxs_state *full)
{
    vxs_cached_correlations *s = &l->correlations;
    double members = 0;
    for (size_t k = 0; k < l->set.count; k++)
        members = fmax(members, vxs_lasso_correlation(l, l->set.set[k]));
    vxs_cached_correlations_refresh(s, l->theta, members > 0 ? members : 1, 0);
    double max_correlation = most_near(l);
    if (max_correlation < s->near_level) { /* those that are not listed are below that level */
        vxs_cached_correlations_list(s, 0);
        max_correlation = most_near(l);
    }
    vxs_working_set_dual(&l->set, l->theta, lambda, max_correlation, full);
}

/* ---- One lambda ------------------------------------------------------------------------------ */

static int by_index(const void *a, const void *b)
{
    size_t left = *(const size_t *)a, right = *(const size_t *)b;
    return (left > right) - (left < right);
}

static vxs_status take_solution(vxs_lasso *l, vxs_solution *solution, vxs_error *err)
{
    vxs_working_set *a = &l->set;
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
            l->correlations.some[a->set[k]] = a->w[a->q + k];
            solution->index[count++] = a->set[k];
        }
    qsort(solution->index, count, sizeof(*solution->index), by_index);
    for (size_t k = 0; k < count; k++)
        solution->weight[k] = l->correlations.some[solution->index[k]];
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
    if (!status && !(full.gap < INFINITY)) /* stalled before the first certificate */
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
