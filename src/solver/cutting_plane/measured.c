/* measured.c - method measure: feature generation for a measure of all samples at once.
 *
 * Problem   min over w, b: |w|_B^2 / 2 + C R(Xw + Zb), R the value of a measure (loss/measures.c)
 * Dual      max over alpha >= 0 of outputs, sum alpha = C, s = sum alpha (v - r), Z's = 0:
 *           sum alpha cost(v) - (sum of the B largest |X_g's|^2) / 2
 * Method    that of cutting_plane.c with s in place of the gradient, which predictions do not
 *           determine; the restricted problems by a bundle (bundle.c). The best blocks of the cache
 *           are cuts as well, before all blocks are scanned again: a scan reads the data
 * Certificate  with t s, 0 <= t <= 1, for s: the truth is an output that costs nothing
 * Source    Mao, Tsang: Optimizing performance measures for feature selection, which has neither
 *           the bound nor the cuts of cached blocks */
#include "solver/cutting_plane/cutting_plane.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#define EMPTY_GAP   1e-9 /* of the empty model, relative */
#define WHOLE_SHARE 0.3  /* of the gap over all blocks: that over cached ones to reach */
#define WEIGHTLESS  1e-9 /* of all weights */
#define MOST_CUTS   20   /* of cached blocks between scans */

/* ---- Parameters ------------------------------------------------------------------------------ */

static vxs_status begin(const vxs_context *context, const vxs_problem *problem,
                        const vxs_method_settings *settings, vxs_solver **solver, vxs_error *err)
{
    return vxs_cutting_plane_begin(context, problem, settings, &vxs_measure_method_kind,
                                   vxs_measured_solve, solver, err);
}

static const vxs_accepts *accepts(const vxs_method_settings *settings)
{
    static const vxs_accepts all = { .losses = { &vxs_measure_loss },
                                     .penalties = { &vxs_budget_penalty } };
    (void)settings;
    return &all;
}

const vxs_solver_kind vxs_measure_method_kind = {
    .accepts = accepts,
    .begin = begin,
    .is_empty = vxs_cutting_plane_is_empty,
    .select = vxs_cutting_plane_fit,
    .release = vxs_cutting_plane_release,
};

/* ---- The bundle ------------------------------------------------------------------------------ */

void vxs_measured_end(vxs_cutting_plane *g)
{
    if (g->bundle)
        vxs_bundle_release(g->bundle);
    free(g->bundle);
    g->bundle = NULL;
}

vxs_status vxs_measured_begin(vxs_cutting_plane *g, vxs_error *err)
{
    vxs_bundle_round none = { .width = 0 };
    vxs_bundle_problem empty = { .rounds = &none, .count = 1 };
    vxs_measured_end(g);
    g->bundle = vxs_alloc(1, sizeof(*g->bundle), err);
    if (!g->bundle)
        return VXS_FAILED;
    vxs_status status = vxs_bundle_init(g->context, &g->problem, g->budget.cost, &g->covariates_fit,
                                        g->bundle, err);
    if (!status)
        status =
            vxs_bundle_solve(g->bundle, &empty, EMPTY_GAP * vxs_bundle_value(g->bundle, g->z), err);
    g->inner_iterations += status ? 0 : g->bundle->masters;
    g->explained =
        !status && !(g->bundle->upper > 2 * EMPTY_GAP * vxs_bundle_value(g->bundle, g->z));
    return status;
}

static void release_rounds(vxs_bundle_problem *p)
{
    for (size_t h = 0; h < p->count; h++)
        free(p->rounds[h].column);
    free(p->rounds);
}

static vxs_status make_round(const vxs_cutting_plane *g, const vxs_cut *h, vxs_bundle_round *r,
                             vxs_error *err)
{
    size_t at = 0;
    *r = (vxs_bundle_round){ .width = h->width, .omega = h->omega };
    r->column = vxs_alloc(h->width, sizeof(*r->column), err);
    for (size_t k = 0; k < h->count && r->column; k++)
        for (size_t c = g->cache.start[h->place[k]]; c < g->cache.start[h->place[k] + 1]; c++)
            r->column[at++] = c;
    return r->column ? VXS_OK : VXS_FAILED;
}

static double norm_of(const double *w, size_t count)
{
    double square = 0;
    for (size_t k = 0; k < count; k++)
        square += w[k] * w[k];
    return sqrt(square);
}

/* An interior point leaves some weight to every cut: what is rounding is 0. A cut may be needed for
 * the bound though its weights are 0. */
static void take_weights(vxs_cutting_plane *g, const vxs_bundle_problem *p)
{
    double sum = 0;
    for (size_t h = 0; h < g->count; h++) {
        g->cuts[h].norm = norm_of(g->cuts[h].omega, g->cuts[h].width);
        g->cuts[h].share = p->rounds[h].share > WEIGHTLESS ? p->rounds[h].share : 0;
        sum += g->cuts[h].norm;
    }
    for (size_t h = 0; h < g->count; h++)
        if (!(g->cuts[h].norm > WEIGHTLESS * sum)) {
            memset(g->cuts[h].omega, 0, g->cuts[h].width * sizeof(*g->cuts[h].omega));
            g->cuts[h].norm = 0;
        }
}

vxs_status vxs_measured_solve(vxs_cutting_plane *g, vxs_error *err)
{
    vxs_bundle_problem p = { .x = g->cache.x, .columns = vxs_block_cache_columns(&g->cache) };
    size_t before = g->bundle->masters;
    p.rounds = vxs_alloc(g->count, sizeof(*p.rounds), err);
    vxs_status status = p.rounds ? VXS_OK : VXS_FAILED;
    for (size_t h = 0; h < g->count && !status; h++) {
        status = make_round(g, &g->cuts[h], &p.rounds[h], err);
        p.count += !status;
    }
    if (!status)
        status = vxs_bundle_solve(g->bundle, &p, g->target * g->empty, err);
    if (!status)
        take_weights(g, &p);
    g->restricted_gap = vxs_relative_gap(g->bundle->upper - g->bundle->lower, g->empty);
    g->inner_iterations += g->bundle->masters - before;
    release_rounds(&p);
    return status;
}

/* ---- Cuts of cached blocks ------------------------------------------------------------------- */

/* The gap, relative, if there were no blocks but those of cuts. */
static vxs_status cached_gap(vxs_cutting_plane *g, double *gap, vxs_error *err)
{
    double sum = 0;
    vxs_top top;
    vxs_status status = vxs_top_init(&top, g->budget.budget, err);
    vxs_cutting_plane_evaluate(g);
    for (size_t place = 0; place < g->cache.count && !status; place++)
        if (vxs_cuts_contain(g, place))
            (void)vxs_top_offer(&top, place, vxs_block_score(g, place));
    for (size_t k = 0; k < top.count && !status; k++)
        sum += top.heap[k].score;
    g->primal = vxs_cutting_plane_penalty(g) + g->value;
    *gap = vxs_relative_gap(g->primal - vxs_bundle_bound(g->bundle, sum), g->empty);
    vxs_top_release(&top);
    return status;
}

vxs_status vxs_measured_refine(vxs_cutting_plane *g, vxs_error *err)
{
    vxs_status status = VXS_OK;
    for (int k = 0; k < MOST_CUTS && !status; k++) {
        bool duplicate = false;
        double gap = 0;
        status = vxs_cutting_plane_predict(g, err);
        if (!status)
            status = cached_gap(g, &gap, err);
        if (status || gap <= WHOLE_SHARE * fmax(g->gap, g->settings.tol))
            return status;
        status = vxs_cuts_add(g, 0, &duplicate, err);
        if (status || duplicate)
            return status;
        status = vxs_measured_solve(g, err);
        if (!status)
            status = vxs_check_interrupted(g->context, err);
    }
    return status;
}

/* ---- The solution ---------------------------------------------------------------------------- */

/* Moves the threshold into the intercept, if the covariates span one. */
static void set_threshold(vxs_measured *m, vxs_covariates_fit *c, const double *prediction)
{
    double used = 0, square = 0, threshold = vxs_measured_threshold(m, prediction);
    for (size_t i = 0; i < c->n; i++)
        used += m->weight[i] > 0;
    for (size_t k = 0; k < c->rank; k++) {
        c->trial[k] = 0;
        for (size_t i = 0; i < c->n; i++)
            c->trial[k] += c->basis[k * c->n + i];
        square += c->trial[k] * c->trial[k];
    }
    for (size_t k = 0; k < c->rank && fabs(square - used) <= 1e-9 * used; k++)
        c->b[k] -= threshold * c->trial[k];
}

static vxs_status copy_outputs(const vxs_bundle *b, vxs_weighted_outputs **made, vxs_error *err)
{
    bool counts = b->measured.kind->by_counts;
    vxs_weighted_outputs *o = *made = vxs_weighted_outputs_new(b->n, counts ? b->cells : 1, err);
    if (!o)
        return VXS_FAILED;
    if (counts) {
        memcpy(o->row, b->cell, b->cells * (3 + b->n) * sizeof(*o->row));
        return VXS_OK;
    }
    o->row[0] = o->row[1] = -1;
    o->row[2] = b->cost;
    memcpy(o->row + 3, b->s, b->n * sizeof(*o->row));
    return VXS_OK;
}

/* The coefficients of the basis, with predictions from them. */
static void set_coefficients(vxs_bundle *b, vxs_covariates_fit *c, const double *z,
                             double *prediction)
{
    vxs_bundle_coefficients(b, c->b);
    memcpy(prediction, z, b->n * sizeof(*prediction));
    for (size_t k = 0; k < c->rank; k++)
        for (size_t i = 0; i < c->n; i++)
            prediction[i] += c->b[k] * c->basis[k * c->n + i];
    if (!b->measured.kind->has_threshold)
        set_threshold(&b->measured, c, prediction);
}

vxs_status vxs_measured_solution(vxs_cutting_plane *g, vxs_selected *s, vxs_error *err)
{
    set_coefficients(g->bundle, &g->covariates_fit, g->z, g->prediction);
    return copy_outputs(g->bundle, &s->outputs, err);
}

vxs_status vxs_measured_refit(const vxs_cutting_plane *g, const double *x, size_t columns,
                              double *w, vxs_selected *s, double *covariate_coefficients,
                              vxs_error *err)
{
    vxs_covariates_fit covariates;
    vxs_bundle bundle = { .n = 0 };
    double cost = g->budget.refit_cost, goal = VXS_REFIT_GAP / 4 * g->empty * cost / g->budget.cost;
    vxs_bundle_round all = { .width = columns, .omega = w };
    vxs_bundle_problem p = { .x = x, .columns = columns, .rounds = &all, .count = 1 };
    double *z = vxs_alloc(2 * g->n, sizeof(*z), err);
    all.column = vxs_alloc(columns, sizeof(*all.column), err);
    vxs_status status =
        vxs_covariates_fit_init(&g->problem, g->problem.covariate_count, &covariates, err);
    if (!status)
        status = z && all.column ? VXS_OK : VXS_FAILED;
    for (size_t k = 0; k < columns && !status; k++)
        all.column[k] = k;
    if (!status)
        status = vxs_bundle_init(g->context, &g->problem, cost, &covariates, &bundle, err);
    if (!status)
        status = vxs_bundle_solve(&bundle, &p, goal, err);
    for (size_t k = 0; k < columns && !status; k++)
        for (size_t i = 0; i < g->n; i++)
            z[i] += w[k] * x[k * g->n + i];
    if (!status) {
        set_coefficients(&bundle, &covariates, z, z + g->n);
        vxs_covariates_fit_coefficients(&covariates, covariate_coefficients);
        s->refit_gap = bundle.upper - bundle.lower;
        status = copy_outputs(&bundle, &s->refit_outputs, err);
    }
    vxs_bundle_release(&bundle);
    vxs_covariates_fit_release(&covariates);
    free(all.column);
    free(z);
    return status;
}
