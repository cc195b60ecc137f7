/* group_lasso.c - the group lasso: groups of features that are selected as a whole.
 *
 * Problem   min over v_g, b: sum_i u_i f(x_i'w + z_i'b, y_i) + lambda sum_g |v_g|, w the sum of all
 *           v_g, which are the weights of the columns X_g of feature block g. Groups may overlap:
 *           each has weights of its own (the latent group lasso)
 * Dual      max -sum_i u_i f*(-lambda theta_i / u_i) over |X_g'theta| <= 1, Z'theta = 0
 * Optimal   theta = -f'/lambda; X_g'theta = v_g / |v_g| where v_g is not 0
 * Method    a working set that grows by the groups with the largest |X_g'theta| above 1, through
 *           intermediate lambdas, and shrinks by gap safe screening; solved by group_set.c
 * Screening |X_g'theta| changes by at most |X_g|_F times the distance that theta moves: columns of
 *           groups that cannot have passed 1 are not read
 * Stops     the gap over all groups is below the tolerance
 * Cost      passes over X; descent and Newton steps of the size of the working set
 * Threads   those of the scan and of BLAS
 * Source    Yuan and Lin 2006; Obozinski, Jacob and Vert 2011 (latent groups); Ndiaye et al. 2017
 *           (gap safe screening of groups) */
#include "solver/group_lasso/group_lasso.h"
#include "solver/feature_weights.h"
#include "solver/growth.h"

#include <cblas.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#define MOST_ITERATIONS 1000
#define STAGE           0.31  /* ratio of intermediate lambdas */
#define ROUGH           1e-3  /* gap at intermediate lambdas */
#define LOOSE           0.1   /* of the gap over all groups: gap on the set before the next enter */
#define FEW             8     /* groups that may enter at once, at least */
#define MARGIN          1e-9  /* of screening, relative to 1 */
#define ROUNDING        1e-13 /* of norms: gradient of a target that covariates explain */
#define PATIENCE        5     /* iterations without a smaller gap */

typedef struct {
    vxs_solver solver;
    const vxs_context *context;
    vxs_problem problem;
    vxs_method_settings settings;
    vxs_blocks *blocks;
    size_t n, count; /* samples, groups */
    vxs_group_set set;
    double *inside;    /* n: gradient of the empty model, in the domain of the dual */
    double *reference; /* n: gradient that `most` refers to */
    double *most;      /* groups: bound of |X_g'reference| */
    double *score;     /* groups: |X_g'gradient|^2 as read */
    double *norm;      /* groups: |X_g|_F */
    bool *requested;   /* groups */
    bool *in_set;      /* groups */
    vxs_costs costs;
    double lambda_max, last_lambda, empty;
} group_lasso;

const vxs_param vxs_group_lasso_params[] = {
    VXS_GROUPS_ROW,
    VXS_REAL_ROW("size-power", "A", VXS_AT(blocks.power), NAN, 0, 1,
                 "a group of m features is penalized by m^A; default 0.5, of a tree 0.4",
                 .head = VXS_HEAD_HYPER,
                 .more = "0: all groups alike. In a tree large groups are selected with a smaller, "
                         "single features with a larger one."),
    VXS_LAMBDA_ROWS,
    { .name = NULL },
};

/* ---- Memory ---------------------------------------------------------------------------------- */

static void release(vxs_solver *solver)
{
    group_lasso *l = (group_lasso *)solver;
    vxs_group_set_release(&l->set);
    void *const all[] = { l->inside, l->most, l->requested, l->in_set, l };
    for (size_t k = 0; k < sizeof(all) / sizeof(all[0]); k++)
        free(all[k]);
}

static vxs_status allocate(group_lasso *l, vxs_error *err)
{
    l->inside = vxs_alloc(2 * l->n, sizeof(*l->inside), err);
    l->most = vxs_alloc(3 * l->count, sizeof(*l->most), err);
    l->requested = vxs_alloc(l->count, sizeof(*l->requested), err);
    l->in_set = vxs_alloc(l->count, sizeof(*l->in_set), err);
    if (!l->inside || !l->most || !l->requested || !l->in_set)
        return VXS_FAILED;
    l->reference = l->inside + l->n;
    l->score = l->most + l->count;
    l->norm = l->most + 2 * l->count;
    return VXS_OK;
}

/* ---- Gradients of all groups ----------------------------------------------------------------- */

/* Reads the groups outside the set whose gradient may have a norm above `level`, and bounds the
 * others; those of the set are known. Returns the largest. */
static double look_at_groups(group_lasso *l, double level)
{
    double moved = 0, largest = 0;
    size_t requested = 0;
    for (size_t i = 0; i < l->n; i++) {
        double change = l->set.dual_gradient[i] - l->reference[i];
        moved += change * change;
    }
    moved = sqrt(moved);
    for (size_t g = 0; g < l->count; g++) {
        l->most[g] += moved * l->norm[g];
        l->requested[g] = !l->in_set[g] && l->most[g] > level;
        requested += l->requested[g];
    }
    if (requested > 0)
        vxs_blocks_scores(l->blocks, l->set.dual_gradient, l->requested, l->score);
    for (size_t g = 0; g < l->count; g++)
        if (l->requested[g])
            l->most[g] = sqrt(l->score[g]);
    for (size_t k = 0; k < l->set.count; k++)
        l->most[l->set.cache.block[l->set.place[k]]] = l->set.size[l->set.place[k]];
    for (size_t g = 0; g < l->count; g++)
        largest = fmax(largest, l->most[g]);
    memcpy(l->reference, l->set.dual_gradient, l->n * sizeof(*l->reference));
    return largest;
}

/* ---- The empty model ------------------------------------------------------------------------- */

static vxs_status solve_empty(group_lasso *l, vxs_error *err)
{
    vxs_group_state state;
    double longest = 0;
    vxs_status status = vxs_group_set_init(&l->set, &l->problem, l->blocks, err);
    if (!status)
        status = vxs_design_measure(l->problem.design, err);
    if (status)
        return status;
    l->set.context = l->context;
    vxs_group_set_evaluate(&l->set);
    bool explained = /* z is 0 */
        vxs_covariates_fit_explain(&l->set.covariates, l->set.z, l->set.gradient, 1);
    memcpy(l->inside, l->set.dual_gradient, l->n * sizeof(*l->inside));
    l->set.inside = l->inside;
    vxs_group_set_certify(&l->set, 1, 0, &state);
    l->empty = state.primal;
    vxs_blocks_norms(l->blocks, l->norm);
    for (size_t g = 0; g < l->count; g++) {
        l->most[g] = INFINITY;
        longest = fmax(longest, l->norm[g]);
    }
    memcpy(l->reference, l->set.dual_gradient, l->n * sizeof(*l->reference));
    l->lambda_max = explained ? 0 : look_at_groups(l, 0);
    if (l->lambda_max <= ROUNDING * longest * cblas_dnrm2((int)l->n, l->set.gradient, 1))
        l->lambda_max = 0;
    l->last_lambda = l->lambda_max;
    return VXS_OK;
}

static double lambda_max(const vxs_solver *solver)
{
    return ((const group_lasso *)solver)->lambda_max;
}

static vxs_status begin(const vxs_context *context, const vxs_problem *problem,
                        const vxs_method_settings *settings, vxs_solver **solver, vxs_error *err)
{
    group_lasso *l = vxs_alloc(1, sizeof(*l), err);
    if (!l)
        return VXS_FAILED;
    l->solver.kind = &vxs_group_lasso_kind;
    l->costs = vxs_costs_begin(problem->design);
    l->context = context;
    l->problem = *problem;
    l->settings = *settings;
    l->blocks = vxs_as_grouped(problem->penalty)->blocks;
    l->n = vxs_design_rows(problem->design);
    l->count = vxs_blocks_count(l->blocks);
    vxs_status status = allocate(l, err);
    if (!status)
        status = solve_empty(l, err);
    if (status) {
        release(&l->solver);
        return status;
    }
    *solver = &l->solver;
    return VXS_OK;
}

/* ---- The working set ------------------------------------------------------------------------- */

/* Removes groups without weight whose gradient has a norm below lambda in the whole ball around the
 * dual point. */
static void screen(group_lasso *l, double lambda, const vxs_group_state *state)
{
    vxs_group_set *a = &l->set;
    double heaviest = 0;
    size_t kept = 0;
    for (size_t i = 0; i < l->n; i++)
        heaviest = fmax(heaviest, vxs_loss_weight(&l->problem.loss, i));
    double radius = sqrt(2 * fmax(0, state->gap) * heaviest / l->problem.loss.kind->gamma);
    for (size_t k = 0; k < a->count; k++) {
        size_t place = a->place[k], group = a->cache.block[place];
        bool may_enter =
            state->scale * a->size[place] + radius * l->norm[group] >= (1 - MARGIN) * lambda;
        if (may_enter || vxs_group_set_has_weight(a, place))
            a->place[kept++] = place;
        else
            l->in_set[group] = false;
    }
    a->count = kept;
}

/* Adds the groups outside with the largest gradients above lambda: as many as the set has. */
static vxs_status add_groups(group_lasso *l, double lambda, double scale, size_t *added,
                             vxs_error *err)
{
    vxs_top top;
    vxs_status status = vxs_top_init(&top, l->set.count > FEW ? l->set.count : FEW, err);
    *added = 0;
    if (status)
        return status;
    for (size_t g = 0; g < l->count; g++)
        if (!l->in_set[g] && l->requested[g] && scale * l->most[g] > (1 + MARGIN) * lambda)
            (void)vxs_top_offer(&top, g, l->most[g]);
    vxs_top_sort(&top);
    for (; *added < top.count && !status; ++*added) {
        l->in_set[top.heap[*added].index] = true;
        status = vxs_group_set_add(&l->set, top.heap[*added].index, err);
    }
    vxs_top_release(&top);
    return status;
}

/* One lambda: what its working set grows by. */
typedef struct {
    group_lasso *l;
    double lambda;
    vxs_group_state set, *full; /* of the last solution: on the set, over all groups */
} groups_growth;

static vxs_status solve_set(vxs_growth *g, vxs_error *err)
{
    groups_growth *at = g->of;
    double inner = fmax(g->target / 4, g->best < INFINITY ? LOOSE * g->best : 0);
    vxs_status status = vxs_group_set_solve(&at->l->set, at->lambda, inner, &at->set, err);
    if (status)
        return status;
    double largest = look_at_groups(at->l, fmax(at->set.largest, at->lambda * (1 - MARGIN)));
    vxs_group_set_certify(&at->l->set, at->lambda, largest, at->full);
    g->gap = at->full->gap;
    return VXS_OK;
}

static vxs_status grow_set(vxs_growth *g, vxs_error *err)
{
    groups_growth *at = g->of;
    screen(at->l, at->lambda, &at->set);
    return add_groups(at->l, at->lambda, at->set.scale, &g->added, err);
}

/* One lambda, to a gap over all groups of `target`. */
static vxs_status solve(group_lasso *l, double lambda, double target, size_t *iterations,
                        vxs_group_state *full, vxs_error *err)
{
    groups_growth at = { .l = l, .lambda = lambda, .full = full };
    vxs_growth g = { .of = &at,
                     .context = l->context,
                     .target = target,
                     .smaller = 0.999,
                     .most_rounds = MOST_ITERATIONS,
                     .patience = PATIENCE,
                     .solve = solve_set,
                     .add = grow_set };
    vxs_status status = vxs_grow(&g, err);
    *iterations += g.rounds;
    return status;
}

/* ---- One lambda ------------------------------------------------------------------------------ */

static vxs_status take_solution(group_lasso *l, const vxs_group_state *full, vxs_solution *solution,
                                vxs_error *err)
{
    vxs_group_set *a = &l->set;
    size_t count = 0, columns = 0, q = l->problem.covariate_count;
    for (size_t g = 0; g < l->count; g++)
        l->requested[g] = false;
    for (size_t k = 0; k < a->count; k++)
        if (vxs_group_set_has_weight(a, a->place[k])) {
            size_t group = a->cache.block[a->place[k]];
            l->requested[group] = true;
            columns += vxs_blocks_width(l->blocks, group);
            count++;
        }
    vxs_selected *s = solution->selected = vxs_selected_new(count, columns, q, false, err);
    solution->covariate_coefficients =
        s ? vxs_alloc(q, sizeof(*solution->covariate_coefficients), err) : NULL;
    if (!solution->covariate_coefficients)
        return VXS_FAILED;
    s->count = 0;
    for (size_t g = 0; g < l->count; g++) {
        if (!l->requested[g])
            continue;
        size_t place = vxs_block_cache_find(&a->cache, g);
        s->block[s->count] = g;
        s->start[s->count + 1] = s->start[s->count] + vxs_blocks_width(l->blocks, g);
        vxs_block_cache_expand(&a->cache, place, a->weight + a->cache.start[place],
                               s->weight + s->start[s->count]);
        s->count++;
    }
    vxs_covariates_fit_coefficients(&a->covariates, s->covariate_coefficients);
    memcpy(solution->covariate_coefficients, s->covariate_coefficients,
           q * sizeof(*s->covariate_coefficients));
    s->restricted_gap = vxs_relative_gap(full->gap, l->empty);
    return vxs_selection_features(l->blocks, &s->map, vxs_design_columns(l->problem.design), s,
                                  solution, err);
}

static vxs_status fit(vxs_solver *solver, double lambda, vxs_solution *solution, vxs_error *err)
{
    group_lasso *l = (group_lasso *)solver;
    *solution = (vxs_solution){
        .certificate = { .lambda = lambda, .lambda_max = l->lambda_max, .tol = l->settings.tol }
    };
    vxs_certificate *c = &solution->certificate;
    vxs_group_state full = { .gap = INFINITY };
    double from = fmax(l->last_lambda, lambda), stages = ceil(log(lambda / from) / log(STAGE));
    vxs_status status = VXS_OK;
    for (double k = 1; k < stages && !status; k++)
        status = solve(l, from * pow(lambda / from, k / stages), ROUGH * l->empty, &c->iterations,
                       &full, err);
    if (!status)
        status = solve(l, lambda, l->settings.tol * l->empty, &c->iterations, &full, err);
    if (!status)
        status = take_solution(l, &full, solution, err);
    if (status) {
        vxs_solution_release(solution);
        return status;
    }
    c->primal = full.primal;
    c->dual = full.dual;
    c->gap = vxs_relative_gap(full.gap, l->empty);
    c->converged = vxs_has_converged(c->gap, c->tol);
    c->nonzero = solution->count;
    solution->selected->iterations = c->iterations;
    l->last_lambda = lambda;
    vxs_costs_take(&l->costs, l->problem.design, c);
    return VXS_OK;
}

static const vxs_accepts *accepts(const vxs_method_settings *settings)
{
    static const vxs_accepts all = { .losses = { &vxs_squared_loss, &vxs_logistic_loss,
                                                 &vxs_squared_hinge_loss },
                                     .penalties = { &vxs_grouped_penalty } };
    (void)settings;
    return &all;
}

const vxs_solver_kind vxs_group_lasso_kind = {
    .accepts = accepts,
    .begin = begin,
    .lambda_max = lambda_max,
    .fit = fit,
    .release = release,
};
