/* screened_fit.c - one lambda: screening before and between the iterations of the general solver.
 *
 * Region    Let w be any weights with predictions z, and xi = lambda theta feasible. The optimum
 *           xi* is in the half space xi*'z <= lambda |D w|_1, as xi*'Xw = lambda u'D w. With the
 *           squared loss it is in the sphere that has xi and the target at its ends, as xi* is
 * where the dual's domain is nearest to the target. With the logistic loss, f* being 4-strongly
 *           convex, it is no further than r = (gap / 2)^(1/2) from xi and, by Fenchel's inequality
 *           with what strong convexity adds, no further than that from -f'(z).
 *           None of it asks w or theta to be optimal for some other lambda: with those of the last
 *           one, and the gap at this one, they are theorems 2 b and c with nothing left to be
 *           exact; with an iterate they are theorem 7. c is the smallest ball around the sphere's
 *           part in the half space; here the part itself is used
 * Source    dissertation 3.3.1, 3.3.5 */
#include "solver/bound_propagation/bound_propagation.h"

#include <cblas.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#define ROUNDING 1e-12
#define MOST     200  /* iterations */
#define PATIENCE 6    /* iterations without a smaller gap */
#define SMALL    1e-6 /* gap: before that it need not fall */
#define AGAIN    0.02 /* of the terms: if no more were found, there is no use in looking again */
#define PRICE    2    /* of a new start, in iterations */
#define FALLS    20   /* times the gap is smaller after an iteration */
#define LESS     0.3  /* of the gap: then screening is tried again */
#define RARER    0.1  /* after a trial that found too few that share is so much smaller */
#define CLOSED   1e-3 /* of the largest: a term whose slack over distance is less looks like 0 */
#define ENOUGH   0.1  /* of the target: what the terms' part of the gap may be at the end */
#define INTERIOR 1e-9 /* what v keeps from 1 after terms became one */

/* ---- The region ------------------------------------------------------------------------------ */

static void take_span_out(const vxs_rest *r, double *x)
{
    for (size_t k = 0; k < 2 * r->rank; k++) {
        const double *b = r->span + k % r->rank * r->n;
        cblas_daxpy((int)r->n, -cblas_ddot((int)r->n, b, 1, x, 1), b, 1, x, 1);
    }
}

/* The sphere between a feasible point and the target. */
static void find_sphere(vxs_path *p, const double *xi)
{
    size_t n = p->whole.n;
    double square = 0;
    for (size_t i = 0; i < n; i++)
        p->dome.centre[i] = p->whole.root[i] * p->whole.y[i];
    take_span_out(&p->base, p->dome.centre);
    for (size_t i = 0; i < n; i++) {
        double apart = p->dome.centre[i] - xi[i];
        square += apart * apart;
        p->dome.centre[i] = (p->dome.centre[i] + xi[i]) / 2;
    }
    p->dome.radius = sqrt(square) / 2;
}

/* The smallest ball around what two balls share, one around a feasible point and one around
 * -f'(z). Both radii squared are `square`; of the second its part along the span is taken. */
static void find_lens(vxs_path *p, const double *xi, const double *z, double square)
{
    int n = (int)p->whole.n;
    double *c = p->dome.centre;
    vxs_whole_slope(&p->whole, z, c);
    double whole = cblas_ddot(n, c, 1, c, 1);
    take_span_out(&p->base, c);
    double across = fmax(0, whole - cblas_ddot(n, c, 1, c, 1)), apart = 0;
    across = fmax(0, across - ROUNDING * whole);
    for (int i = 0; i < n; i++)
        apart += (xi[i] - c[i]) * (xi[i] - c[i]);
    double share = apart > 0 ? (apart - across) / (2 * apart) : 0; /* from c towards xi */
    share = fmax(0, share);
    double radius = fmax(0, square - across - share * share * apart);
    for (int i = 0; i < n; i++)
        c[i] += share * (xi[i] - c[i]);
    p->dome.radius = sqrt(radius);
}

void vxs_path_region(vxs_path *p, double lambda, const vxs_witness *w)
{
    size_t n = p->whole.n;
    double *xi = p->xi, *along = p->dome.along;
    for (size_t i = 0; i < n; i++)
        xi[i] = lambda * w->theta[i];
    cblas_dscal((int)n, vxs_whole_scale(&p->whole, xi, 1), xi, 1);
    if (p->whole.loss->squared) {
        find_sphere(p, xi);
    } else {
        double primal = vxs_whole_loss(&p->whole, w->z) + lambda * w->size;
        double gap = fmax(0, primal - vxs_whole_dual(&p->whole, xi, 1)) + ROUNDING * p->empty;
        find_lens(p, xi, w->z, 2 * gap / p->whole.loss->gamma);
    }
    memcpy(along, w->z, n * sizeof(*along));
    take_span_out(&p->base, along);
    double length = cblas_dnrm2((int)n, along, 1);
    double whole = cblas_dnrm2((int)n, w->z, 1), centre = cblas_dnrm2((int)n, p->dome.centre, 1);
    p->dome.radius += ROUNDING * (centre + p->dome.radius);
    p->dome.cut = length > 1e-6 * whole;
    if (!p->dome.cut)
        return;
    double room = lambda * w->size - cblas_ddot((int)n, along, 1, p->dome.centre, 1);
    room += 10 * ROUNDING * (lambda * w->size + whole * centre);
    p->dome.room = room / length;
    cblas_dscal((int)n, 1 / length, along, 1);
}

/* ---- Terms of a rest and of the whole problem ------------------------------------------------ */

static size_t name_of(const vxs_rest *r, size_t term)
{
    return r->left.group[term] == SIZE_MAX ? SIZE_MAX : r->number[r->left.group[term]];
}

/* What was found of a rest's terms is known of all that they are made of. */
static void take_over(vxs_path *p, const vxs_rest *r)
{
    for (size_t t = 0; t < p->whole.terms->count; t++) {
        size_t name = name_of(r, t);
        p->zero[t] = p->zero[t] || name == SIZE_MAX || p->found[name];
    }
}

static size_t count_zero(const vxs_path *p)
{
    size_t count = 0;
    for (size_t t = 0; t < p->whole.terms->count; t++)
        count += p->zero[t];
    return count;
}

/* ---- A run ----------------------------------------------------------------------------------- */

typedef struct {
    vxs_path *path;
    double lambda, target;
    const vxs_rest *rest; /* its own, or the base; maybe more of its terms are known to be 0 */
    vxs_bounds *bounds;   /* of the rest, likewise; or NULL */
    vxs_inside inside;
    vxs_rest own;
    vxs_bounds own_bounds;
    double tried, best; /* gaps */
    double less;        /* share of `tried` at which it is time for another trial */
    int waited;
} run;

static void end_run(run *r)
{
    vxs_inside_release(&r->inside);
    vxs_bounds_release(&r->own_bounds);
    vxs_rest_release(&r->own);
    r->rest = NULL;
    r->bounds = NULL;
}

static vxs_status need_rest(run *r, vxs_error *err)
{
    vxs_path *p = r->path;
    if (r->rest)
        return VXS_OK;
    if (p->base.whole && count_zero(p) == 0) {
        r->rest = &p->base;
        return VXS_OK;
    }
    vxs_status status = vxs_rest_new(&p->whole, p->zero, p->transform, &r->own, err);
    r->rest = status ? NULL : &r->own;
    return status;
}

static vxs_status need_bounds(run *r, vxs_error *err)
{
    vxs_path *p = r->path;
    vxs_status status = VXS_OK;
    if (r->bounds)
        return VXS_OK;
    if (r->rest == &p->base && !p->has_bounds) {
        status = vxs_bounds_new(&p->base, p->transform, &p->bounds, err);
        p->has_bounds = !status;
    }
    if (r->rest != &p->base)
        status = vxs_bounds_new(r->rest, p->transform, &r->own_bounds, err);
    r->bounds = status ? NULL : r->rest == &p->base ? &p->bounds : &r->own_bounds;
    return status;
}

static vxs_status begin_run(run *r, vxs_error *err)
{
    vxs_path *p = r->path;
    vxs_status status = need_rest(r, err);
    if (!status)
        status = vxs_rest_factor(r->rest == &p->base ? &p->base : &r->own, err);
    if (!status)
        status = vxs_inside_new(r->rest, r->lambda, &r->inside, err);
    if (status)
        return status;
    r->inside.enough = ENOUGH * r->target / (r->lambda * (double)(2 * r->rest->terms + 1));
    r->inside.gap = r->best = r->tried = INFINITY;
    r->waited = 0;
    return status;
}

/* ---- Screening before the solver begins ------------------------------------------------------ */

/* What is 0 for certain; what is left has new leaves and shorter paths, so again, unless sums of
 * columns are not wanted or there was little. The last rest stays for the solver. */
static vxs_status screen_first(run *r, vxs_error *err)
{
    vxs_path *p = r->path;
    bool again = true;
    vxs_path_region(p, r->lambda, &p->witness);
    while (again) {
        vxs_status status = need_rest(r, err);
        if (!status)
            status = need_bounds(r, err);
        if (status)
            return status;
        status = vxs_check_interrupted(p->context, err);
        if (status)
            return status;
        size_t found = vxs_bounds_find(r->bounds, &p->dome, r->lambda, p->found);
        take_over(p, r->rest);
        again = p->transform && (double)found > AGAIN * (double)r->rest->terms;
        if (again || r->rest == &p->base)
            end_run(r);
    }
    return VXS_OK;
}

/* ---- The solver ------------------------------------------------------------------------------ */

/* A first point: all that the empty model loses could be in the slacks. */
static void begin_anew(run *r)
{
    const vxs_path *p = r->path;
    double terms = (double)(r->rest->terms > 0 ? r->rest->terms : 1);
    for (size_t i = 0; i < r->rest->n && p->whole.loss->squared; i++)
        r->inside.theta[i] = p->whole.root[i] * p->whole.y[i];
    for (size_t k = 0; k < r->rest->rank; k++)
        r->inside.b[k] = cblas_ddot((int)r->rest->n, r->rest->span + k * r->rest->n, 1,
                                    p->whole.loss->squared ? r->inside.theta : p->witness.z, 1);
    vxs_inside_begin(&r->inside, 0.1 * p->empty / (r->lambda * terms));
}

/* v, up and down of the whole problem's terms. */
static void spread_terms(const run *r)
{
    const vxs_path *p = r->path;
    size_t count = p->whole.terms->count;
    double *v = p->term, *up = v + count, *down = up + count;
    for (size_t t = 0; t < count; t++) {
        size_t name = name_of(r->rest, t);
        if (name == SIZE_MAX)
            continue;
        double share = r->rest->left.share[t], size = fabs(share);
        const double *to_up = share > 0 ? r->inside.up : r->inside.down;
        const double *to_down = share > 0 ? r->inside.down : r->inside.up;
        v[t] = copysign(1, share) * r->inside.v[name];
        up[t] = size * to_up[name];
        down[t] = size * to_down[name];
    }
}

static void gather_terms(const run *r)
{
    const vxs_path *p = r->path;
    size_t count = p->whole.terms->count;
    const double *v = p->term, *up = v + count, *down = up + count;
    for (size_t t = 0; t < count; t++) {
        size_t name = name_of(r->rest, t);
        if (name == SIZE_MAX)
            continue;
        double share = r->rest->left.share[t];
        r->inside.v[name] += share * v[t];
        r->inside.up[name] += share > 0 ? up[t] : down[t];
        r->inside.down[name] += share > 0 ? down[t] : up[t];
    }
    for (size_t k = 0; k < r->rest->terms; k++)
        r->inside.v[k] = fmax(INTERIOR - 1, fmin(1 - INTERIOR, r->inside.v[k]));
}

/* The solver's variables from features' weights, and b from predictions. */
static void gather_variables(const run *r)
{
    const vxs_rest *e = r->rest;
    const vxs_path *p = r->path;
    double *value = p->work, *x = r->inside.x, *z = r->inside.z;
    for (size_t j = 0; j < e->left.back.columns; j++)
        value[j] = p->w[e->left.survivor[j]];
    for (size_t k = 0; k < e->singles; k++) {
        const vxs_analysis *d = &e->left.terms;
        for (size_t a = d->starts[e->of_single[k]]; a < d->starts[e->of_single[k] + 1]; a++)
            x[k] += d->value[a] * value[d->index[a]];
    }
    for (size_t k = 0; k < e->mr; k++) {
        x[e->singles + k] = value[e->of_core[k]];
        for (size_t a = e->null.starts[k]; a < e->null.starts[k + 1]; a++)
            x[e->singles + k] -= e->null.value[a] * value[e->of_core[e->mr + e->null.index[a]]];
    }
    memcpy(z, p->z, e->n * sizeof(*z));
    cblas_dgemv(CblasColMajor, CblasNoTrans, (int)e->n, (int)(e->singles + e->mr), -1, e->x,
                (int)e->n, x, 1, 1, z, 1);
    for (size_t k = 0; k < e->rank; k++)
        r->inside.b[k] = cblas_ddot((int)e->n, e->span + k * e->n, 1, z, 1);
}

static void expand(const run *r)
{
    vxs_rest_expand(r->rest, r->inside.x, r->inside.b, r->path->work, r->path->w, r->path->free);
}

/* The same point where more terms are 0. */
static vxs_status contract(run *r, vxs_error *err)
{
    vxs_path *p = r->path;
    double mean = 0;
    spread_terms(r);
    expand(r);
    memcpy(p->z, r->inside.z, p->whole.n * sizeof(*p->z));
    for (size_t k = 0; k < r->rest->terms; k++)
        mean += r->inside.up[k] * r->inside.g[k] + r->inside.down[k] * r->inside.h[k];
    mean /= (double)(2 * r->rest->terms + 1);
    end_run(r);
    vxs_status status = begin_run(r, err);
    if (status)
        return status;
    gather_terms(r);
    gather_variables(r);
    vxs_inside_begin(&r->inside, mean);
    return VXS_OK;
}

/* How many iterations are to come, going by how fast gaps fall as a rule. */
static double to_come(const run *r)
{
    return fmax(0, log(r->inside.gap / r->target) / log(FALLS));
}

/* Where the iterate says that the dual optimum is. */
static void find_region(const run *r)
{
    const vxs_inside *in = &r->inside;
    vxs_witness here = { .z = in->z, .theta = in->theta };
    here.size = (in->primal - vxs_whole_loss(&r->path->whole, in->z)) / r->lambda;
    vxs_path_region(r->path, r->lambda, &here);
}

static size_t look(run *r)
{
    vxs_path *p = r->path;
    size_t found = vxs_bounds_find(r->bounds, &p->dome, r->lambda, p->found);
    take_over(p, r->rest);
    return found;
}

/* Screening by the iterate, where the gap has fallen since the last time. A new start on fewer
 * terms has its price, which what is left of the work has to earn. */
static vxs_status screen_between(run *r, vxs_error *err)
{
    double gap = r->inside.gap, terms = (double)r->rest->terms, share = PRICE / to_come(r);
    if (!(gap < r->less * r->tried) || !(gap < r->path->empty) || !(share < 1))
        return VXS_OK;
    vxs_status status = need_bounds(r, err);
    if (status)
        return status;
    find_region(r);
    size_t narrow = vxs_bounds_narrow(r->bounds, &r->path->dome, r->lambda);
    if ((double)narrow <= share * (double)r->bounds->columns)
        return VXS_OK;
    r->tried = gap;
    bool pays = (double)look(r) > share * terms;
    r->less = pays ? LESS : RARER * r->less;
    return pays ? contract(r, err) : VXS_OK;
}

/* Until the gap is at most the target, or no longer falls. The last point says most, and no start
 * has to be earned. */
static vxs_status iterate(run *r, bool screen, vxs_error *err)
{
    vxs_path *p = r->path;
    vxs_status status = VXS_OK;
    for (int round = 0; round < MOST && !status; round++) {
        status = vxs_check_interrupted(p->context, err);
        if (status || !vxs_inside_step(&r->inside) || isnan(r->inside.gap))
            break;
        p->iterations++;
        if (r->inside.gap <= r->target)
            break;
        r->waited = r->inside.gap < 0.9 * r->best ? 0 : r->waited + 1;
        r->best = fmin(r->best, r->inside.gap);
        if (r->waited > PATIENCE && r->best < SMALL * p->empty)
            break;
        double start = vxs_seconds();
        if (screen && p->dynamic)
            status = screen_between(r, err);
        p->screening += vxs_seconds() - start;
    }
    double start = vxs_seconds();
    if (!status && screen && p->dynamic && r->bounds && r->inside.gap < p->empty) {
        find_region(r);
        look(r);
    }
    p->screening += vxs_seconds() - start;
    return status;
}

/* Leaves the point as features' weights and the terms' values. */
static void leave(run *r)
{
    spread_terms(r);
    expand(r);
    memcpy(r->path->z, r->inside.z, r->path->whole.n * sizeof(*r->path->z));
}

static vxs_status solve_rest(run *r, bool screen, vxs_error *err)
{
    vxs_status status = begin_run(r, err);
    if (!status) {
        begin_anew(r);
        status = iterate(r, screen, err);
    }
    if (!status)
        leave(r);
    return status;
}

vxs_status vxs_path_solve(vxs_path *p, double lambda, double target, bool screen, vxs_error *err)
{
    run r = { .path = p, .lambda = lambda, .target = target, .less = LESS };
    double start = vxs_seconds();
    size_t count = p->whole.terms->count;
    vxs_status status = VXS_OK;
    memset(p->zero, 0, count * sizeof(*p->zero));
    memset(p->term, 0, 3 * count * sizeof(*p->term));
    if (screen && p->sequential && p->witness.known)
        status = screen_first(&r, err);
    p->before = count_zero(p);
    p->screening += vxs_seconds() - start;
    if (!status)
        status = solve_rest(&r, screen, err);
    p->after = count_zero(p);
    end_run(&r);
    return status;
}

static vxs_status solve_marked(vxs_path *p, double lambda, double target, vxs_error *err)
{
    run r = { .path = p, .lambda = lambda, .target = target };
    vxs_status status = solve_rest(&r, false, err);
    end_run(&r);
    return status;
}

vxs_status vxs_path_empty(vxs_path *p, vxs_error *err)
{
    return solve_marked(p, 1, 0, err);
}

/* A term that is 0 has a slack of about 1 and a distance of about 0; of one that is not it is the
 * other way round. */
static void guess(vxs_path *p)
{
    size_t count = p->whole.terms->count;
    const double *v = p->term, *up = v + count, *down = up + count;
    double largest = 0;
    for (size_t t = 0; t < count; t++)
        largest = p->zero[t] ? largest : fmax(largest, fmax(up[t], down[t]));
    for (size_t t = 0; t < count; t++)
        p->zero[t] = p->zero[t] || (up[t] < CLOSED * largest * (1 - v[t]) &&
                                    down[t] < CLOSED * largest * (1 + v[t]));
}

vxs_status vxs_path_polish(vxs_path *p, double lambda, double target, vxs_error *err)
{
    guess(p);
    return solve_marked(p, lambda, target, err);
}
