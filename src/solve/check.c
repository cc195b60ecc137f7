/* check.c - objective, dual feasibility and gap of an answer, computed anew.
 *
 * Columns are fetched and multiplied by plain loops; nothing of the solvers is used, not even their
 * losses. It is slow and short on purpose: what it says must be seen to be true by reading it. */
#include "solve/check.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#define BLOCK    64
#define ROUNDING 1e-12 /* of 1: so little over the edge of the dual's domain is on it */

/* A forest, from its leaves inwards: node k hangs by edge k on node `on`, when what hung on it is
 * gone. What is left in the end are roots. */
typedef struct {
    size_t count, trees;
    size_t *node, *edge, *on;
    size_t *root; /* of each node, numbered */
} leaves;

typedef struct {
    const vxs_problem *problem;
    size_t n, p;
    size_t q;      /* columns that are not penalised */
    double *free;  /* n x q: the problem's, and behind them the sums of the graph's pieces */
    double *z;     /* n: predictions of the answer */
    double *zero;  /* n: of the empty model */
    double *theta; /* n: of the answer */
    double *away;  /* n: -f' of the empty model */
    double *block; /* n x BLOCK */
    double *basis; /* n x q: what the free columns span */
    double *gram;  /* q x q, and a right side */
    double *b;     /* q */
    bool *used;    /* q */
    leaves leaves; /* of the graph, if there is one */
    double *value; /* p: x_j'theta */
    double *start; /* p: the same of the empty model */
} check;

static double inner(const double *a, const double *b, size_t n)
{
    double sum = 0, lost = 0;
    for (size_t i = 0; i < n; i++) {
        double term = a[i] * b[i] - lost, with = sum + term;
        lost = (with - sum) - term;
        sum = with;
    }
    return sum;
}

static double u_of(const check *c, size_t i)
{
    return c->problem->weights ? c->problem->weights[i] : 1;
}

static double loss(const check *c, size_t i, double z)
{
    double y = c->problem->y[i];
    if (c->problem->loss == VXS_LOSS_SQUARED)
        return u_of(c, i) * 0.5 * (z - y) * (z - y);
    double m = -y * z;
    return u_of(c, i) * (m > 0 ? m + log1p(exp(-m)) : log1p(exp(m)));
}

static double loss_slope(const check *c, size_t i, double z)
{
    double y = c->problem->y[i];
    if (c->problem->loss == VXS_LOSS_SQUARED)
        return u_of(c, i) * (z - y);
    double m = y * z;
    return m > 0 ? -u_of(c, i) * y * exp(-m) / (1 + exp(-m)) : -u_of(c, i) * y / (1 + exp(m));
}

/* -(u f)*(s) */
static double dual_term(const check *c, size_t i, double s)
{
    double u = u_of(c, i), y = c->problem->y[i];
    if (u == 0)
        return s == 0 ? 0 : -INFINITY;
    if (c->problem->loss == VXS_LOSS_SQUARED)
        return -(s * s / (2 * u) + s * y);
    double t = -y * s / u;
    if (t < -1e-11 || t > 1 + 1e-11)
        return -INFINITY;
    return -u * ((t > 0 ? t * log(t) : 0) + (t < 1 ? (1 - t) * log(1 - t) : 0));
}

/* ---- Graphs ---------------------------------------------------------------------------------- */

static void free_leaves(leaves *v)
{
    free(v->node);
    free(v->edge);
    free(v->on);
    free(v->root);
}

/* Takes leaves off until none are left. The edges at a node are kept as their number and the
 * exclusive or of their names: of a leaf that is its only edge. */
static void take_leaves_off(const vxs_graph *g, leaves *v, size_t *degree, size_t *names)
{
    for (size_t e = 0; e < g->count; e++) {
        degree[g->from[e]]++;
        degree[g->to[e]]++;
        names[g->from[e]] ^= e;
        names[g->to[e]] ^= e;
    }
    for (size_t k = 0; k < g->nodes; k++)
        for (size_t leaf = k; degree[leaf] == 1;) {
            size_t e = names[leaf], on = g->from[e] == leaf ? g->to[e] : g->from[e];
            v->node[v->count] = leaf;
            v->edge[v->count] = e;
            v->on[v->count++] = on;
            degree[leaf] = 0;
            degree[on]--;
            names[on] ^= e;
            leaf = on;
        }
}

static void name_roots(const vxs_graph *g, leaves *v)
{
    for (size_t k = 0; k < g->nodes; k++)
        v->root[k] = SIZE_MAX;
    for (size_t k = 0; k < v->count; k++)
        v->root[v->node[k]] = 0; /* no roots */
    for (size_t k = 0; k < g->nodes; k++)
        if (v->root[k] == SIZE_MAX)
            v->root[k] = v->trees++;
    for (size_t k = v->count; k-- > 0;)
        v->root[v->node[k]] = v->root[v->on[k]];
}

static vxs_status find_leaves(const vxs_graph *g, leaves *v, vxs_error *err)
{
    size_t *degree = vxs_alloc(2 * g->nodes, sizeof(*degree), err);
    v->node = vxs_alloc(g->nodes, sizeof(*v->node), err);
    v->edge = vxs_alloc(g->nodes, sizeof(*v->edge), err);
    v->on = vxs_alloc(g->nodes, sizeof(*v->on), err);
    v->root = vxs_alloc(g->nodes, sizeof(*v->root), err);
    vxs_status status = degree && v->node && v->edge && v->on && v->root ? VXS_OK : VXS_FAILED;
    if (!status) {
        take_leaves_off(g, v, degree, degree + g->nodes);
        if (v->count < g->count)
            status = vxs_fail(err, VXS_MISUSE, "graphs with loops are not checked");
    }
    if (!status)
        name_roots(g, v);
    free(degree);
    return status;
}

/* The sums of each tree's columns, which are not penalised. */
static void sum_trees(check *c)
{
    double *sums = c->free + c->problem->free_count * c->n;
    for (size_t j = 0; j < c->p; j++) {
        double *sum = sums + c->leaves.root[j] * c->n;
        vxs_design_fetch(c->problem->design, &j, 1, c->block);
        for (size_t i = 0; i < c->n; i++)
            sum[i] += c->block[i];
    }
}

/* Sums over what hangs on an edge may be as large as its weight: by how much the largest is more.
 */
static double steepest_edge(const check *c, double *value)
{
    double most = 0;
    for (size_t k = 0; k < c->leaves.count; k++) {
        double hangs = value[c->leaves.node[k]];
        most = fmax(most, fabs(hangs) / c->problem->graph->weight[c->leaves.edge[k]]);
        value[c->leaves.on[k]] += hangs;
    }
    return most;
}

static double penalty(const check *c, const vxs_solution *s)
{
    const vxs_graph *g = c->problem->graph;
    double sum = 0, *w = c->value;
    for (size_t k = 0; k < s->count && !g; k++)
        sum += fabs(s->weight[k]);
    for (size_t j = 0; j < c->p && g; j++)
        w[j] = 0;
    for (size_t k = 0; k < s->count && g; k++)
        w[s->index[k]] = s->weight[k];
    for (size_t e = 0; g && e < g->count; e++)
        sum += g->weight[e] * fabs(w[g->from[e]] - w[g->to[e]]);
    return s->certificate.lambda * sum;
}

/* ---- The empty model ------------------------------------------------------------------------- */

/* Takes variable v out of all other equations of the q x q system; the right side is behind it. */
static void take_out(double *a, size_t q, size_t v)
{
    double *right = a + q * q;
    for (size_t r = 0; r < q; r++) {
        double share = r == v ? 0 : a[r * q + v] / a[v * q + v];
        for (size_t k = 0; k < q; k++)
            a[r * q + k] -= share * a[v * q + k];
        right[r] -= share * right[v];
    }
}

/* Gaussian elimination with the largest pivot of the diagonal; variables that depend on others stay
 * 0. The right side becomes the answer. `used` has q places. */
static void eliminate(double *a, size_t q, bool *used)
{
    double *right = a + q * q, largest = 0;
    for (size_t k = 0; k < q; k++) {
        used[k] = false;
        largest = fmax(largest, a[k * q + k]);
    }
    for (size_t step = 0; step < q; step++) {
        size_t best = q;
        for (size_t k = 0; k < q; k++)
            if (!used[k] && (best == q || a[k * q + k] > a[best * q + best]))
                best = k;
        if (!(a[best * q + best] > 1e-13 * largest))
            break;
        used[best] = true;
        take_out(a, q, best);
    }
    for (size_t k = 0; k < q; k++)
        right[k] = used[k] ? right[k] / a[k * q + k] : 0;
}

static double empty_value(const check *c, const double *b, double *z)
{
    double sum = 0;
    memset(z, 0, c->n * sizeof(*z));
    for (size_t k = 0; k < c->q; k++)
        for (size_t i = 0; i < c->n; i++)
            z[i] += b[k] * c->free[k * c->n + i];
    for (size_t i = 0; i < c->n; i++)
        sum += loss(c, i, z[i]);
    return sum;
}

/* Second derivatives and, as the right side, the slope downwards. */
static void newton_system(const check *c)
{
    size_t n = c->n, q = c->q;
    memset(c->gram, 0, (q * q + q) * sizeof(*c->gram));
    for (size_t i = 0; i < n; i++) {
        double slope = loss_slope(c, i, c->zero[i]), u = u_of(c, i);
        double share = u > 0 ? fabs(slope) / u : 0;
        double curve = c->problem->loss == VXS_LOSS_SQUARED ? u : u * share * (1 - share);
        for (size_t a = 0; a < q; a++) {
            double x = c->free[a * n + i];
            c->gram[q * q + a] -= slope * x;
            for (size_t b = 0; b < q; b++)
                c->gram[a * q + b] += curve * x * c->free[b * n + i];
        }
    }
}

/* A step along Newton's direction, halved until the value is at most `most`; what it is then. */
static double newton_step(check *c, double most)
{
    size_t q = c->q;
    double next = INFINITY, *trial = c->block;
    newton_system(c);
    eliminate(c->gram, q, c->used);
    for (double share = 1; share > 1e-9 && !(next <= most); share /= 2) {
        for (size_t a = 0; a < q; a++)
            trial[a] = c->b[a] + share * c->gram[q * q + a];
        next = empty_value(c, trial, c->zero);
    }
    if (next <= most)
        memcpy(c->b, trial, q * sizeof(*trial));
    return empty_value(c, c->b, c->zero);
}

/* Newton's method on the free columns until the value no longer falls, and some steps more: slopes
 * still get better where the value cannot. */
static double fit_empty(check *c)
{
    double value = empty_value(c, c->b, c->zero);
    for (int step = 0, flat = 0; step < 100 && c->q > 0 && flat < 4; step++) {
        double next = newton_step(c, value * (1 + 1e-14));
        flat += !(next < value);
        value = next;
    }
    return value;
}

/* ---- The answer ------------------------------------------------------------------------------ */

static double primal_value(check *c, const vxs_solution *s)
{
    size_t n = c->n;
    double sum = penalty(c, s);
    memset(c->z, 0, n * sizeof(*c->z));
    for (size_t k = 0; k < c->problem->free_count; k++)
        for (size_t i = 0; i < n; i++)
            c->z[i] += s->free[k] * c->free[k * n + i];
    for (size_t k = 0; k < s->count; k++) {
        double w = s->weight[k];
        vxs_design_fetch(c->problem->design, &s->index[k], 1, c->block);
        for (size_t i = 0; i < n; i++)
            c->z[i] += w * c->block[i];
        sum += c->problem->ridge * w * w / 2;
    }
    for (size_t i = 0; i < n; i++)
        sum += loss(c, i, c->z[i]);
    return sum;
}

static void take_off(double *v, const double *b, size_t n)
{
    double along = inner(b, v, n);
    for (size_t i = 0; i < n; i++)
        v[i] -= along * b[i];
}

/* What the free columns span, over samples that have a weight; columns that depend on others add
 * nothing. Returns how many directions that is. */
static size_t span_free(check *c)
{
    size_t rank = 0, n = c->n;
    for (size_t k = 0; k < c->q; k++) {
        double *b = c->basis + rank * n;
        for (size_t i = 0; i < n; i++)
            b[i] = u_of(c, i) > 0 ? c->free[k * n + i] : 0;
        double before = sqrt(inner(b, b, n));
        for (size_t r = 0; r < 2 * rank; r++)
            take_off(b, c->basis + r % rank * n, n);
        double length = sqrt(inner(b, b, n));
        for (size_t i = 0; i < n && length > 1e-10 * before; i++)
            b[i] /= length;
        rank += length > 1e-10 * before;
    }
    return rank;
}

/* x_j'theta of all columns, less the ridge's part of those with a weight, and the same of the empty
 * model. */
static void correlate(check *c, const vxs_solution *s)
{
    size_t set[BLOCK], next = 0;
    for (size_t first = 0; first < c->p; first += BLOCK) {
        size_t count = c->p - first < BLOCK ? c->p - first : BLOCK;
        for (size_t k = 0; k < count; k++)
            set[k] = first + k;
        vxs_design_fetch(c->problem->design, set, count, c->block);
        for (size_t k = 0; k < count; k++) {
            c->value[set[k]] = inner(c->block + k * c->n, c->theta, c->n);
            c->start[set[k]] = inner(c->block + k * c->n, c->away, c->n);
            if (next < s->count && s->index[next] == set[k])
                c->value[set[k]] -= c->problem->ridge * s->weight[next++] / s->certificate.lambda;
        }
    }
}

/* The largest size of these (the largest, when weights may not be negative); on a graph, of sums
 * over what hangs on an edge. */
static double steepest(const check *c, double *value)
{
    double most = 0;
    if (c->problem->graph)
        return steepest_edge(c, value);
    for (size_t j = 0; j < c->p; j++)
        most = fmax(most, c->problem->nonnegative ? value[j] : fabs(value[j]));
    return most;
}

static double dual_value(const check *c, const vxs_solution *s, double most)
{
    double lambda = s->certificate.lambda, square = 0, along = 0, scale = 1, sum = 0, size = 0;
    for (size_t k = 0; k < s->count; k++)
        size += c->problem->ridge * s->weight[k] * s->weight[k];
    for (size_t i = 0; i < c->n; i++) {
        along += lambda * c->theta[i] * c->problem->y[i];
        square += u_of(c, i) > 0 ? lambda * lambda * c->theta[i] * c->theta[i] / u_of(c, i) : 0;
    }
    if (c->problem->loss == VXS_LOSS_SQUARED && square + size > 0)
        scale = along / (square + size);
    if (most > 0)
        scale = fmax(-1 / most, fmin(1 / most, scale));
    for (size_t i = 0; i < c->n; i++)
        sum += dual_term(c, i, -lambda * scale * c->theta[i]);
    return sum - scale * scale * size / 2;
}

/* Taking the free columns out may leave the dual's domain by a little; a share of the empty model's
 * point, which is inside, brings theta back. Any point of the domain gives a bound. */
static void bring_inside(const check *c, double lambda)
{
    double share = 0;
    if (c->problem->loss == VXS_LOSS_SQUARED)
        return;
    for (size_t i = 0; i < c->n; i++) {
        double u = u_of(c, i), y = c->problem->y[i];
        double here = u > 0 ? y * lambda * c->theta[i] / u : 0;
        double there = u > 0 ? y * c->away[i] / u : 0;
        double over = here < 0 ? here : here > 1 ? here - 1 : 0;
        if (fabs(over) > ROUNDING && over / (here - there) > share)
            share = fmin(1, over / (here - there));
    }
    for (size_t i = 0; i < c->n; i++)
        c->theta[i] += share * (c->away[i] / lambda - c->theta[i]);
}

static void look(check *c, const vxs_solution *s, vxs_certificate *result)
{
    double lambda = s->certificate.lambda, empty = fit_empty(c);
    result->primal = primal_value(c, s);
    for (size_t i = 0; i < c->n; i++) {
        c->theta[i] = -loss_slope(c, i, c->z[i]) / lambda;
        c->away[i] = -loss_slope(c, i, c->zero[i]);
    }
    size_t rank = span_free(c);
    for (size_t r = 0; r < rank; r++) {
        take_off(c->theta, c->basis + r * c->n, c->n);
        take_off(c->away, c->basis + r * c->n, c->n);
    }
    bring_inside(c, lambda);
    correlate(c, s);
    result->lambda_max = steepest(c, c->start);
    double most = steepest(c, c->value);
    result->dual = dual_value(c, s, most);
    result->lambda = lambda;
    result->gap = empty > 0 ? (result->primal - result->dual) / empty : 0;
    result->nonzero = s->count;
    result->tol = s->certificate.tol;
    result->converged = result->gap <= s->certificate.tol * (1 + 1e-6) + 1e-13;
}

static vxs_status take_room(check *c, vxs_error *err)
{
    size_t n = c->n, q = c->q;
    double *room = vxs_alloc(n * (4 + BLOCK + 2 * q) + q * q + 2 * q + BLOCK, sizeof(*room), err);
    c->used = vxs_alloc(q, sizeof(*c->used), err);
    c->value = vxs_alloc(c->p, sizeof(*c->value), err);
    c->start = vxs_alloc(c->p, sizeof(*c->start), err);
    if (!room || !c->used || !c->value || !c->start) {
        free(room);
        return VXS_FAILED;
    }
    c->z = room;
    c->zero = c->z + n;
    c->theta = c->zero + n;
    c->away = c->theta + n;
    c->free = c->away + n;
    c->basis = c->free + n * q;
    c->gram = c->basis + n * q;
    c->b = c->gram + q * q + q;
    c->block = c->b + q;
    for (size_t k = 0; k < n * c->problem->free_count; k++)
        c->free[k] = c->problem->free[k];
    return VXS_OK;
}

vxs_status vxs_check_solution(const vxs_problem *problem, const vxs_solution *solution,
                              vxs_certificate *certificate, vxs_error *err)
{
    check c = { .problem = problem,
                .n = vxs_design_rows(problem->design),
                .p = vxs_design_columns(problem->design) };
    if (problem->loss == VXS_LOSS_HINGE)
        return vxs_check_hinge(problem, solution, certificate, err);
    *certificate = (vxs_certificate){ .lambda = 0 };
    vxs_status status = vxs_design_measure(problem->design, err);
    if (!status && problem->graph)
        status = find_leaves(problem->graph, &c.leaves, err);
    c.q = problem->free_count + c.leaves.trees;
    if (!status)
        status = take_room(&c, err);
    if (!status) {
        if (problem->graph)
            sum_trees(&c);
        look(&c, solution, certificate);
    }
    free(c.z);
    free(c.used);
    free(c.value);
    free(c.start);
    free_leaves(&c.leaves);
    return status;
}
