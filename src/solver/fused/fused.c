/* fused.c - fused and generalized lasso: the choice of the solver.
 *
 * saif                trees, as a lasso (fused_tree.c)
 * cut-pursuit         any graph (cut_pursuit.c)
 * bound-propagation   any graph, any D (bound_propagation.c)
 *
 * Unpenalized directions that are not identified (unidentified.c) are projected out of the design
 * before, and out of the solution after, which changes its norm but not its value. */
#include "solver/solver.h"
#include "solver/unidentified.h"

#include <stdlib.h>

static const char *const ways[] = { "auto", "saif", "cut-pursuit", "bound-propagation", NULL };

const vxs_param vxs_fused_params[] = {
    VXS_LAMBDA_ROWS,
    VXS_REAL_ROW("sparsity", "X", VXS_AT(fused.sparsity), 0, 0, 1e6,
                 "l1 penalty relative to that of differences; default 0", .head = VXS_HEAD_HYPER,
                 .usual = true, .more = "lambda1 / lambda2 of the sparse fused lasso."),
    VXS_TEXT_ROW("penalty", "WHAT", VXS_AT(fused.penalty),
                 "differences to penalize: edges (default), trend or matrix:FILE",
                 .head = VXS_HEAD_MODEL,
                 .more = "trend: second differences of features in their order. matrix:FILE: an "
                         "analysis operator, from a table with the columns term, feature and "
                         "value."),
    VXS_CHOICE_ROW("solver", "WAY", VXS_AT(fused.solver), 0, ways, "algorithm",
                   .head = VXS_HEAD_RESEARCH,
                   .more = "saif: trees, as a lasso on sums over subtrees; cut-pursuit: any graph, "
                           "by maximum flows; bound-propagation: any penalty, by screening around "
                           "an interior point, for some thousands of features. auto: saif for "
                           "trees, cut-pursuit for other graphs, bound-propagation for other "
                           "penalties."),
    VXS_FLAG_ROW("compare", VXS_AT(fused.compare), "bound-propagation: compare with no screening",
                 .head = VXS_HEAD_RESEARCH),
    VXS_FLAG_ROW("untransformed", VXS_AT(fused.untransformed),
                 "bound-propagation: do not transform trees", .head = VXS_HEAD_RESEARCH),
    VXS_SCREEN_ROWS,
    { .name = NULL },
};

static vxs_status refuse_loops(const vxs_problem *problem, vxs_error *err)
{
    const vxs_graph *g = vxs_as_fused(problem->penalty)->graph;
    size_t loop = 0;
    vxs_status status = vxs_graph_find_cycle(g, &loop, err);
    if (!status && loop < g->count)
        status = vxs_fail(err, VXS_MISUSE,
                          "'--solver saif' is for trees; the edge between features %zu and %zu of "
                          "the graph closes a loop, see '--solver cut-pursuit'",
                          g->from[loop], g->to[loop]);
    return status;
}

/* Refuses options of other solvers. */
static vxs_status check_options(const vxs_method_settings *s, int way, vxs_error *err)
{
    if (way != VXS_FUSED_BP && (s->fused.compare || s->fused.untransformed))
        return vxs_fail(err, VXS_MISUSE,
                        "'--%s' goes with '--solver bound-propagation'; here it is '%s'",
                        s->fused.compare ? "compare" : "untransformed", ways[way]);
    if (way == VXS_FUSED_CUTS && (s->saif.screen != 0 || s->saif.inner != 0))
        return vxs_fail(err, VXS_MISUSE, "'--%s' does not go with '--solver cut-pursuit'",
                        s->saif.screen != 0 ? "screen" : "subproblem");
    return VXS_OK;
}

/* True for a forest without sparsity, a lasso on sums over subtrees. */
static vxs_status is_tree(const vxs_problem *problem, bool *tree, vxs_error *err)
{
    const vxs_fused *on = vxs_as_fused(problem->penalty);
    size_t loop = 0;
    vxs_status status = vxs_graph_find_cycle(on->graph, &loop, err);
    *tree = loop == on->graph->count && on->sparsity == 0 && !problem->loss.kind->joint;
    return status;
}

static vxs_status choose_way(const vxs_problem *problem, const vxs_method_settings *settings,
                             const vxs_solver_kind **kind, vxs_error *err)
{
    static const vxs_solver_kind *const kinds[] = { [VXS_FUSED_SAIF] = &vxs_tree_kind,
                                                    [VXS_FUSED_CUTS] = &vxs_cut_pursuit_kind,
                                                    [VXS_FUSED_BP] = &vxs_bound_propagation_kind };
    bool terms = vxs_as_generalized(problem->penalty);
    int way = settings->fused.solver;
    bool tree = false;
    if (terms && way != VXS_FUSED_AUTO && way != VXS_FUSED_BP)
        return vxs_fail(err, VXS_MISUSE, "'--solver %s' is for graphs, not for '--penalty'",
                        ways[way]);
    bool open = way == VXS_FUSED_AUTO;
    vxs_status status = open && !terms ? is_tree(problem, &tree, err) : VXS_OK;
    if (status)
        return status;
    if (open)
        way = terms ? VXS_FUSED_BP : tree ? VXS_FUSED_SAIF : VXS_FUSED_CUTS;
    status = check_options(settings, way, err);
    if (!status && way == VXS_FUSED_SAIF && !tree)
        status = refuse_loops(problem, err);
    if (status)
        return status;
    *kind = kinds[way];
    return VXS_OK;
}

/* ---- The common solver ----------------------------------------------------------------------- */

typedef struct {
    vxs_solver solver;
    size_t p, classes;
    vxs_analysis null;
    vxs_unidentified unidentified;
    vxs_design *design; /* X (1 - VV'); NULL: the design of the problem */
    vxs_solver *inner;
    double seconds, passes; /* of initialization; counted for the first fit */
} fused;

static void release(vxs_solver *solver)
{
    fused *f = (fused *)solver;
    vxs_solver_free(f->inner);
    vxs_design_free(f->design);
    vxs_unidentified_release(&f->unidentified);
    vxs_analysis_release(&f->null);
    free(f);
}

static double lambda_max(const vxs_solver *solver)
{
    return vxs_solver_lambda_max(((const fused *)solver)->inner);
}

/* The problem with X (1 - VV'). */
static vxs_status deflate(fused *f, vxs_problem *problem, vxs_error *err)
{
    double *columns = NULL;
    vxs_status status = vxs_null_space(problem, &f->null, err);
    if (status || f->null.columns == 0)
        return status;
    double start = vxs_seconds();
    uint64_t read = vxs_design_read(problem->design);
    status = vxs_design_measure(problem->design, err);
    if (!status)
        status = vxs_null_space_columns(problem->design, &f->null, &columns, err);
    if (!status)
        status = vxs_unidentified_find(problem, &f->null, columns, &f->unidentified, err);
    free(columns);
    f->seconds = vxs_seconds() - start;
    f->passes = (double)(vxs_design_read(problem->design) - read) / (double)f->p;
    if (status || f->unidentified.held == 0)
        return status;
    status = vxs_deflated_new(problem->design, &f->null, f->unidentified.carried, &f->design, err);
    problem->design = f->design;
    return status;
}

static vxs_status begin(const vxs_context *context, const vxs_problem *problem,
                        const vxs_method_settings *settings, vxs_solver **solver, vxs_error *err)
{
    fused *f = vxs_alloc(1, sizeof(*f), err);
    const vxs_solver_kind *kind = NULL;
    vxs_problem inner = *problem;
    if (!f)
        return VXS_FAILED;
    f->solver.kind = &vxs_fused_kind;
    f->p = vxs_design_columns(problem->design);
    f->classes = vxs_loss_outputs(&problem->loss);
    vxs_status status = choose_way(problem, settings, &kind, err);
    if (!status)
        status = deflate(f, &inner, err);
    if (!status)
        status = kind->begin(context, &inner, settings, &f->inner, err);
    if (status) {
        release(&f->solver);
        return status;
    }
    *solver = &f->solver;
    return VXS_OK;
}

/* Projects the solution onto the complement of V: the shortest weights with these predictions. */
static vxs_status shorten(const fused *f, vxs_solution *s, vxs_error *err)
{
    size_t p = f->p, all = p * f->classes;
    double *w = vxs_alloc(all + f->null.columns, sizeof(*w), err);
    size_t *index = vxs_alloc(all, sizeof(*index), err);
    double *weight = vxs_alloc(all, sizeof(*weight), err);
    if (!w || !index || !weight) {
        free(w);
        free(index);
        free(weight);
        return VXS_FAILED;
    }
    for (size_t k = 0; k < s->count; k++)
        w[s->index[k]] = s->weight[k];
    for (size_t c = 0; c < f->classes; c++)
        vxs_unidentified_project_out(&f->unidentified, &f->null, w + all, w + c * p);
    s->count = 0;
    for (size_t j = 0; j < all; j++)
        if (w[j] != 0) {
            index[s->count] = j;
            weight[s->count++] = w[j];
        }
    free(w);
    free(s->index);
    free(s->weight);
    s->index = index;
    s->weight = weight;
    s->certificate.nonzero = s->count;
    return VXS_OK;
}

static vxs_status fit(vxs_solver *solver, double lambda, vxs_solution *solution, vxs_error *err)
{
    fused *f = (fused *)solver;
    vxs_status status = vxs_solver_fit(f->inner, lambda, solution, err);
    if (status)
        return status;
    solution->certificate.seconds += f->seconds;
    solution->certificate.passes += f->passes;
    f->seconds = f->passes = 0;
    if (f->unidentified.held == 0)
        return VXS_OK;
    solution->certificate.unidentified = f->unidentified.held;
    status = shorten(f, solution, err);
    if (status)
        vxs_solution_release(solution);
    return status;
}

/* ---- Accepted problems ----------------------------------------------------------------------- */

static const vxs_accepts *accepts(const vxs_method_settings *settings)
{
    static const vxs_accepts all = { .losses = { &vxs_squared_loss, &vxs_logistic_loss,
                                                 &vxs_squared_hinge_loss, &vxs_multinomial_loss },
                                     .penalties = { &vxs_fused_penalty,
                                                    &vxs_generalized_penalty } };
    (void)settings;
    return &all;
}

/* What the chosen solver does not accept. */
static vxs_status check(const vxs_problem *q, const vxs_method_settings *s, vxs_error *err)
{
    const vxs_fused *on = vxs_as_fused(q->penalty);
    bool bp = s->fused.solver == VXS_FUSED_BP || (s->fused.solver == VXS_FUSED_AUTO && !on);
    if (bp && q->loss.kind->joint)
        return vxs_fail(
            err, VXS_MISUSE,
            "solver 'bound-propagation' knows squared and logistic loss only: with several classes "
            "use another one");
    if (bp && q->loss.kind == &vxs_squared_hinge_loss)
        return vxs_fail(err, VXS_MISUSE,
                        "solver 'bound-propagation' knows squared and logistic loss only, not "
                        "--loss squared-hinge");
    if (s->fused.solver == VXS_FUSED_SAIF && (q->loss.kind->joint || (on && on->sparsity > 0)))
        return vxs_fail(err, VXS_MISUSE,
                        "'--solver saif' has neither all classes at once nor a penalty on weights");
    return VXS_OK;
}

const vxs_solver_kind vxs_fused_kind = {
    .accepts = accepts,
    .check = check,
    .begin = begin,
    .lambda_max = lambda_max,
    .fit = fit,
    .release = release,
};
