/* problem.c - from a task to an optimization problem: a design over its subjects, and the target
 * and sample weights of one output. */
#include "model/estimators.h"
#include "model/model.h"
#include "model/similarities.h"
#include "voxsift/internal/machine.h"

#include <float.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

vxs_status vxs_cohort_design(const vxs_cohort *c, int threads, vxs_design **base, vxs_error *err)
{
    vxs_status status =
        c->features ? vxs_dense_new(c->features, c->n, c->p, threads, base, err)
                    : vxs_sparse_new(c->values, c->rows, c->starts, c->n, c->p, threads, base, err);
    if (!status)
        vxs_design_set_owner(*base, vxs_cohort_refuse_value, c);
    return status;
}

vxs_status vxs_task_make_design(const vxs_context *context, vxs_task *t, vxs_error *err)
{
    int threads = vxs_context_threads(context);
    vxs_design *base = NULL;
    vxs_view view = { .standardize = (vxs_standardize)t->settings.standardize,
                      .penalties = t->penalties,
                      .weights = t->weights,
                      .with_intercept = !t->settings.no_intercept };
    if (t->cohort->bags)
        return vxs_task_make_similarities(context, t, err);
    vxs_status status = vxs_cohort_design(t->cohort, threads, &base, err);
    if (!status && t->batcher)
        status = vxs_scan_batcher_design(t->batcher, base, &base, err);
    if (status)
        return status;
    if (t->n < t->cohort->n) {
        view.rows = t->rows;
        view.row_count = t->n;
    }
    if (vxs_task_regresses(t)) {
        view.confounds = t->covariates;
        view.confound_count = t->covariate_count;
        view.regression_subject = t->regression_subject;
    }
    return vxs_view_new(base, false, &view, &t->design, err);
}

vxs_status vxs_task_allocate_output(vxs_task *t, vxs_error *err)
{
    t->y = vxs_alloc(t->n, sizeof(*t->y), err);
    t->u = vxs_alloc(t->n, sizeof(*t->u), err);
    return t->y && t->u ? VXS_OK : VXS_FAILED;
}

vxs_status vxs_task_settle_weights(vxs_task *t, vxs_error *err)
{
    double least = INFINITY, most = 0; /* a weight of 2 counts a subject twice */
    for (size_t k = 0; k < t->class_count; k++) {
        double size = 0;
        for (size_t i = 0; i < t->n; i++)
            size += t->score[i] == (double)k ? vxs_task_weight(t, i) : 0;
        least = fmin(least, size);
        most = fmax(most, size);
    }
    bool unbalanced = t->class_count > 0 && 2 * most > 3 * least;
    if (t->settings.class_weights != VXS_CLASS_WEIGHTS_AUTO)
        return VXS_OK;
    t->settings.class_weights = unbalanced ? VXS_CLASS_WEIGHTS_BALANCED : VXS_CLASS_WEIGHTS_NONE;
    t->untold = unbalanced ? vxs_alloc(1, sizeof(*t->untold), err) : NULL;
    if (t->untold)
        *t->untold = 1;
    return unbalanced && !t->untold ? VXS_FAILED : VXS_OK;
}

bool vxs_task_weighs_classes(const vxs_task *t)
{
    return t->settings.class_weights == VXS_CLASS_WEIGHTS_BALANCED &&
           !vxs_task_estimator(t)->has_own_costs;
}

void vxs_task_tell_weights(const vxs_context *context, const vxs_task *t)
{
    if (vxs_task_estimator(t)->has_own_costs)
        return;
    if (t->untold && __atomic_exchange_n(t->untold, 0, __ATOMIC_RELAXED))
        vxs_log(context, VXS_LOG_INFO,
                "classes differ in size: class weights are balanced (--class-weights none: they "
                "are not)");
}

/* -1 and 1, or class numbers for the multinomial loss. */
static size_t side_of(double y)
{
    return y > 0 ? (size_t)y : 0;
}

void vxs_balance_weights(const double *y, double *u, size_t n)
{
    double side[VXS_MOST_CLASSES] = { 0 }, whole = 0, sides = 0;
    for (size_t i = 0; i < n; i++)
        side[side_of(y[i])] += u[i];
    for (size_t k = 0; k < VXS_MOST_CLASSES; k++) {
        whole += side[k];
        sides += side[k] > 0;
    }
    sides = sides < 2 ? 2 : sides;
    for (size_t i = 0; i < n; i++)
        u[i] *= side[side_of(y[i])] > 0 ? whole / (sides * side[side_of(y[i])]) : 1;
}

bool vxs_task_set_output(vxs_task *t, size_t number)
{
    size_t positive = t->class_count == 2 ? 1 : number;
    bool joint = t->loss->joint != NULL;
    bool balanced = t->class_count > 0 && t->settings.class_weights == VXS_CLASS_WEIGHTS_BALANCED;
    for (size_t i = 0; i < t->n; i++) {
        bool as_it_is = joint || t->class_count == 0;
        t->y[i] = as_it_is ? t->score[i] : t->score[i] == (double)positive ? 1 : -1;
        t->u[i] = vxs_task_weight(t, i);
    }
    if (balanced)
        vxs_balance_weights(t->y, t->u, t->n);
    return balanced || t->weights;
}

/* ---- Penalties and quadratics ---------------------------------------------------------------- */

void vxs_task_unprepare(vxs_task *t)
{
    if (t->prepared)
        t->prepared->release(t->prepared);
    t->prepared = NULL;
}

vxs_status vxs_prepare_l1(const vxs_context *context, vxs_task *t, size_t output,
                          const vxs_method_settings *settings, vxs_problem *problem, vxs_error *err)
{
    (void)context;
    (void)t;
    (void)output;
    (void)err;
    problem->quadratic = (vxs_quadratic){ &vxs_ridge, settings->l1.ridge, NULL };
    problem->nonnegative = settings->l1.nonnegative;
    return VXS_OK;
}

/* A feature that is constant among these subjects has no column: without edges, so that neighbors
 * give it no weight. */
vxs_status vxs_prepare_net(const vxs_context *context, vxs_task *t, size_t output,
                           const vxs_method_settings *settings, vxs_problem *problem,
                           vxs_error *err)
{
    vxs_graph *g = &t->graph;
    size_t left = 0;
    vxs_status status = vxs_prepare_l1(context, t, output, settings, problem, err);
    if (!status)
        status = vxs_design_measure(t->design, err);
    const double *norms = vxs_design_norms(t->design), *stored = vxs_design_stored(t->design);
    for (size_t e = 0; e < g->count && !status; e++) {
        size_t from = g->from[e], to = g->to[e];
        if (!(norms[from] > FLT_EPSILON * stored[from] && norms[to] > FLT_EPSILON * stored[to]))
            continue;
        g->from[left] = from;
        g->to[left] = to;
        g->weight[left++] = g->weight[e];
    }
    g->count = status ? g->count : left;
    if (left > 0)
        problem->quadratic =
            (vxs_quadratic){ &vxs_laplacian, settings->l1.laplacian * vxs_task_total(t), g };
    return status;
}

typedef struct {
    vxs_prepared head;
    vxs_fused edges;
    vxs_generalized sums;
} differences;

static void release_differences(vxs_prepared *prepared)
{
    free(prepared);
}

static bool penalizes_terms(const vxs_method_settings *s)
{
    return vxs_are_terms(s->fused.penalty);
}

vxs_status vxs_share_terms(const vxs_context *context, vxs_task *t, const vxs_method_settings *s,
                           vxs_error *err)
{
    (void)context;
    return penalizes_terms(s) ? vxs_task_make_terms(t, s->fused.penalty, err) : VXS_OK;
}

vxs_status vxs_prepare_differences(const vxs_context *context, vxs_task *t, size_t output,
                                   const vxs_method_settings *settings, vxs_problem *problem,
                                   vxs_error *err)
{
    (void)context;
    (void)output;
    differences *d = t->prepared ? (differences *)t->prepared : vxs_alloc(1, sizeof(*d), err);
    if (!d)
        return VXS_FAILED;
    *d = (differences){ .head = { release_differences },
                        .edges = vxs_fused_on(&t->graph, settings->fused.sparsity) };
    t->prepared = &d->head;
    problem->penalty = &d->edges.penalty;
    if (!penalizes_terms(settings))
        return VXS_OK;
    if (settings->fused.sparsity > 0)
        return vxs_fail(err, VXS_MISUSE, "a sparsity goes with a graph, not with terms");
    vxs_status status = vxs_task_make_terms(t, settings->fused.penalty, err);
    d->sums = vxs_generalized_of(&t->terms);
    problem->penalty = &d->sums.penalty;
    return status;
}

bool vxs_is_without_sparsity(const vxs_method_settings *s)
{
    return s->fused.sparsity == 0;
}

static bool terms_are_given(const vxs_method_settings *s)
{
    return vxs_terms_are_given(s->fused.penalty);
}

static vxs_status write_terms(const vxs_task *t, FILE *stream, vxs_error *err)
{
    (void)err;
    vxs_terms_write(&t->terms, t->cohort, stream);
    return VXS_OK;
}

static vxs_status restore_terms(vxs_task *t, const vxs_method_settings *s, const char *path,
                                vxs_error *err)
{
    (void)s;
    char *penalty = vxs_format(err, "matrix:%s", path);
    vxs_status status = penalty ? vxs_task_make_terms(t, penalty, err) : VXS_FAILED;
    free(penalty);
    return status;
}

const vxs_user_table vxs_terms_table = { "penalty.tsv", terms_are_given, write_terms,
                                         restore_terms };

/* ---- The problem ----------------------------------------------------------------------------- */

vxs_status vxs_task_check_made(const vxs_task *t, vxs_error *err)
{
    vxs_status status = VXS_GIVEN(err, { "task", t });
    return status || (t->n > 0 && t->design)
               ? status
               : vxs_fail(err, VXS_MISUSE, "the task has no subjects");
}

vxs_status vxs_task_problem(const vxs_context *context, vxs_task *t, size_t number,
                            const vxs_method_settings *settings, vxs_problem *problem,
                            vxs_error *err)
{
    vxs_status status = VXS_GIVEN(err, { "settings", settings }, { "problem", problem });
    if (!status)
        status = vxs_task_check_made(t, err);
    if (!status)
        status = vxs_index_check("problem", number, vxs_task_problems(t), err);
    if (!status && vxs_task_has_pairs(t))
        status = vxs_fail(err, VXS_MISUSE,
                          "the problem of a pair of classes is that of the task with these alone");
    if (!status)
        status = vxs_settings_check(vxs_task_method(t), settings, err);
    if (!status)
        status = vxs_task_set_width(t, &settings->bags, err);
    if (status)
        return status;
    bool weighted = vxs_task_set_output(t, number);
    *problem = (vxs_problem){ .design = t->design,
                              .loss = { .kind = vxs_problem_loss(&t->settings, settings, t->loss),
                                        .n = t->n,
                                        .k = t->loss->joint ? t->class_count : 0,
                                        .y = t->y,
                                        .u = weighted ? t->u : NULL,
                                        .threshold = t->threshold },
                              .covariates = t->covariates,
                              .covariate_count = vxs_task_regresses(t) ? 1 : t->covariate_count };
    return vxs_task_estimator(t)->prepare(context, t, number, settings, problem, err);
}
