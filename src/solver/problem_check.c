/* problem_check.c - what a problem must be before anything is computed from it; the one place that
 * decides so.
 *
 * Three tables: the parts and losses of a problem that each method takes, the values that each loss
 * takes as y, and the numbers that have a range. Every solver and the checker begin here, so that
 * all of them refuse the same, and a part that a solver would ignore is refused as well. */
#include "solver/covariates_fit.h"
#include "solver/solver.h"

#include <float.h>
#include <string.h>

#define WIDEST 1e20 /* weights further apart: the smaller ones have no part in sums of doubles */

/* ---- Parts, which methods take or not -------------------------------------------------------- */

static const char *const part_names[VXS_PARTS] = { "a graph",
                                                   "terms",
                                                   "units",
                                                   "a ridge",
                                                   "non-negative weights",
                                                   "a sparsity",
                                                   "a number of classes",
                                                   "a smoothness",
                                                   "a budget, a cost or a map, which go with units",
                                                   "a Laplacian" };

static unsigned parts_of(const vxs_problem *q)
{
    bool selection = q->budget != 0 || q->cost != 0 || q->debias != 0 || q->unshifted ||
                     q->map.kind != VXS_MAP_NONE;
    const bool has[VXS_PARTS] = { q->graph != NULL, q->terms != NULL,
                                  q->units != NULL, q->ridge != 0,
                                  q->nonnegative,   q->sparsity != 0,
                                  q->loss.k > 1,    q->smooth != 0,
                                  selection,        q->laplacian.graph != NULL };
    unsigned parts = 0;
    for (unsigned k = 0; k < VXS_PARTS; k++)
        parts |= has[k] ? 1U << k : 0;
    return parts;
}

/* Of a problem alone: that of the only methods which take its parts. */
static const vxs_accepts *accepted_by(const vxs_problem *q, const vxs_method *method,
                                      const vxs_method_settings *s)
{
    if (!method)
        return q->units                          ? &vxs_accepts_blocks
               : q->loss.kind == &vxs_hinge_loss ? &vxs_accepts_kernels
               : q->graph || q->terms            ? &vxs_accepts_differences
                                                 : &vxs_accepts_plain;
    return method->kernel && s && s->penalty == VXS_PENALTY_HSIC ? &vxs_accepts_hsic
                                                                 : method->accepts;
}

/* A loss that is none of the library's: what it lacks of all that solvers need, or NULL. */
static const char *lacks(const vxs_loss_kind *loss)
{
    const vxs_sample_loss *f = loss->sample;
    if (!loss->name || !loss->targets || !loss->is_target)
        return "a name, or which targets it takes";
    if (!f || loss->joint || !f->value || !f->gradient || !f->curvature || !f->conjugate)
        return "value, gradient, curvature and conjugate of one prediction";
    return loss->gamma > 0 && loss->gamma <= VXS_LARGEST ? NULL : "a gamma above 0";
}

static vxs_status check_loss(const vxs_accepts *r, const vxs_loss_kind *loss, vxs_error *err)
{
    char text[128];
    size_t used = 0;
    bool takes = false, known = false;
    text[0] = '\0';
    for (const vxs_loss_kind *const *k = r->losses; *k; k++) {
        takes = takes || *k == loss;
        used += (size_t)snprintf(text + used, sizeof(text) - used, "%s%s", used ? " or " : "",
                                 (*k)->name);
    }
    for (const vxs_loss_kind *const *k = vxs_loss_kinds; *k; k++)
        known = known || *k == loss;
    if (loss && !known && r->brought && lacks(loss))
        return vxs_fail(err, VXS_MISUSE, "%s loss lacks %s", loss->name ? loss->name : "the",
                        lacks(loss));
    return takes || (loss && !known && r->brought)
               ? VXS_OK
               : vxs_fail(err, VXS_MISUSE, "%s takes %s loss, not %s%s", r->who, text,
                          known ? loss->name : "an unknown one",
                          known && loss->joint ? ": with several classes use another one" : "");
}

static vxs_status check_parts(const vxs_problem *q, const vxs_accepts *r, vxs_error *err)
{
    unsigned parts = parts_of(q), alien = parts & ~(r->needs | r->takes);
    vxs_status status = check_loss(r, q->loss.kind, err);
    if (status)
        return status;
    for (unsigned k = 0; k < VXS_PARTS; k++) {
        if (alien & 1U << k)
            return vxs_fail(err, VXS_MISUSE, "%s does not take %s", r->who, part_names[k]);
        if (r->needs & 1U << k && !(parts & r->needs))
            return vxs_fail(err, VXS_MISUSE, "%s needs %s%s", r->who, part_names[k],
                            r->needs & VXS_PART_GRAPH ? " or terms" : "");
    }
    if (q->graph && q->terms)
        return vxs_fail(err, VXS_MISUSE, "a graph and terms exclude each other");
    if (q->terms && q->sparsity != 0)
        return vxs_fail(err, VXS_MISUSE, "a sparsity goes with a graph, not with terms");
    return VXS_OK;
}

/* The fused lasso's solvers take less than all of them together. */
static vxs_status check_way(const vxs_problem *q, const vxs_method_settings *s, vxs_error *err)
{
    bool bp = s->way == VXS_FUSED_BP || (s->way == VXS_FUSED_AUTO && q->terms);
    if (bp && q->loss.kind->joint)
        return vxs_fail(err, VXS_MISUSE,
                        "solver 'bp' knows squared and logistic loss only: with several classes "
                        "use another one");
    if (s->way == VXS_FUSED_SAIF && (q->loss.kind->joint || q->sparsity > 0))
        return vxs_fail(err, VXS_MISUSE,
                        "'--solver saif' has neither all classes at once nor a penalty on weights");
    return VXS_OK;
}

/* ---- Numbers that have a range --------------------------------------------------------------- */

typedef struct {
    const char *name;
    double value, least;
    bool above; /* it must be above `least` */
} number;

/* NaN is in no range. */
static vxs_status check_number(const number *n, vxs_error *err)
{
    bool fine = (n->above ? n->value > n->least : n->value >= n->least) && n->value <= VXS_LARGEST;
    return fine ? VXS_OK
                : vxs_fail(err, VXS_MISUSE, "%s must be a finite number %s %g, not %g", n->name,
                           n->above ? "above" : "of at least", n->least, n->value);
}

static vxs_status check_numbers(const vxs_problem *q, const vxs_method_settings *s, vxs_error *err)
{
    const number all[] = { { "the ridge", q->ridge, 0, false },
                           { "the weight of the Laplacian", q->laplacian.weight, 0, false },
                           { "the sparsity", q->sparsity, 0, false },
                           { "the smoothness", q->smooth, 0, false },
                           { "the cost C", q->units ? q->cost : 1, 0, true },
                           { "the budget", q->units ? (double)q->budget : 1, 1, false },
                           { "the cost C of refitting", q->debias, 0, false },
                           { "the tolerance", s ? s->tol : 1, 0, true } };
    vxs_status status = VXS_OK;
    for (size_t k = 0; k < sizeof(all) / sizeof(all[0]) && !status; k++)
        status = check_number(&all[k], err);
    return status;
}

static int count_choices(const vxs_param *p)
{
    int count = 0;
    while (p->choices[count])
        count++;
    return count;
}

/* By the rows of all tables: a choice that another method would take must be one as well. */
static vxs_status check_choices(const vxs_param *table, const vxs_method_settings *s,
                                vxs_error *err)
{
    for (const vxs_param *p = table; p->name; p++) {
        const char *at = (const char *)s + p->offset;
        int choice = p->type == VXS_PARAM_CHOICE ? *(const int *)(const void *)at : 0;
        if (choice < 0 || (choice > 0 && choice >= count_choices(p)))
            return vxs_fail(err, VXS_MISUSE, "setting '%s' has no choice number %d", p->name,
                            choice);
    }
    return VXS_OK;
}

/* By the rows of the method's own table; what is 0 is not set. */
static vxs_status check_reals(const vxs_param *table, const vxs_method_settings *s, vxs_error *err)
{
    for (const vxs_param *p = table; p->name; p++) {
        const char *at = (const char *)s + p->offset;
        double real = p->type == VXS_PARAM_REAL ? *(const double *)(const void *)at : 0;
        if (real == 0 || (isnan(real) && isnan(p->initial)))
            continue;
        if (!(real >= fmin(p->min, 0) && real <= p->max))
            return vxs_fail(err, VXS_MISUSE, "setting '%s' is %g", p->name, real);
    }
    return VXS_OK;
}

vxs_status vxs_read_wanted(const vxs_method_settings *settings, double wanted[VXS_MOST_WANTED],
                           size_t *count, vxs_error *err)
{
    *count = 0;
    if (!settings->wanted)
        return VXS_OK;
    bool fine = vxs_parse_reals(settings->wanted, wanted, VXS_MOST_WANTED, count);
    for (size_t k = 0; k < *count && fine; k++)
        fine = wanted[k] > (k > 0 ? wanted[k - 1] : 0) && wanted[k] <= 1e9 &&
               wanted[k] == floor(wanted[k]);
    return fine ? VXS_OK
                : vxs_fail(err, VXS_MISUSE,
                           "'--features' takes whole numbers that rise, at most %d, with commas "
                           "between, not '%s'",
                           VXS_MOST_WANTED, settings->wanted);
}

static vxs_status check_settings(const vxs_param *table, const vxs_method_settings *s,
                                 vxs_error *err)
{
    double wanted[VXS_MOST_WANTED];
    size_t count = 0;
    vxs_status status = check_choices(table, s, err); /* its own words for what several have */
    for (const vxs_method *m = vxs_methods; m->name && !status; m++)
        status = check_choices(m->params, s, err);
    if (!status)
        status = check_reals(table, s, err);
    return status ? status : vxs_read_wanted(s, wanted, &count, err);
}

/* ---- Values that losses take as y ------------------------------------------------------------ */

static vxs_status check_samples(const vxs_problem *q, size_t n, vxs_error *err)
{
    double least = INFINITY, most = 0;
    for (size_t i = 0; i < n; i++) {
        double u = vxs_loss_weight(&q->loss, i);
        if (!q->loss.kind->is_target(&q->loss, q->loss.y[i]))
            return vxs_fail(err, VXS_BAD_DATA, "y of sample %zu is %g; %s loss takes %s", i,
                            q->loss.y[i], q->loss.kind->name, q->loss.kind->targets);
        if (!(u >= 0 && u <= VXS_LARGEST))
            return vxs_fail(err, VXS_BAD_DATA,
                            "the weight of sample %zu is %g; weights are from 0 to %g", i, u,
                            VXS_LARGEST);
        least = u > 0 ? fmin(least, u) : least;
        most = fmax(most, u);
    }
    for (size_t k = 0; k < q->free_count * n; k++)
        if (!(fabs(q->free[k]) <= VXS_LARGEST))
            return vxs_fail(err, VXS_BAD_DATA,
                            "column %zu of the covariates is %g in sample %zu; it takes numbers of "
                            "at most %g",
                            k / n, q->free[k], k % n, VXS_LARGEST);
    if (most == 0)
        return vxs_fail(err, VXS_BAD_DATA, "no sample has a weight above 0");
    return most <= WIDEST * least
               ? VXS_OK
               : vxs_fail(err, VXS_BAD_DATA,
                          "weights of samples reach from %g to %g; the larger ones may be %g times "
                          "the smaller ones",
                          least, most, WIDEST);
}

/* ---- Shapes ---------------------------------------------------------------------------------- */

static vxs_status check_graph(const vxs_graph *g, size_t p, bool some, vxs_error *err)
{
    if (g->nodes != p)
        return vxs_fail(err, VXS_MISUSE, "the graph has %zu nodes for %zu features", g->nodes, p);
    if (g->count > 0 && (!g->from || !g->to || !g->weight))
        return vxs_fail(err, VXS_MISUSE, "the graph has %zu edges without ends or weights",
                        g->count);
    if (some && g->count == 0)
        return vxs_fail(err, VXS_BAD_DATA, "the graph has no edges");
    for (size_t e = 0; e < g->count; e++) {
        if (g->from[e] >= p || g->to[e] >= p)
            return vxs_fail(err, VXS_MISUSE, "edge %zu of the graph leads to feature %zu of %zu", e,
                            g->from[e] >= p ? g->from[e] : g->to[e], p);
        if (!(g->weight[e] > 0 && g->weight[e] <= VXS_LARGEST))
            return vxs_fail(err, VXS_BAD_DATA,
                            "edge %zu of the graph has weight %g; it must be a finite number above "
                            "0",
                            e, g->weight[e]);
    }
    return VXS_OK;
}

static vxs_status check_terms(const vxs_terms *t, size_t p, bool some, vxs_error *err)
{
    if (t->columns != p)
        return vxs_fail(err, VXS_MISUSE, "the terms are of %zu features, not %zu", t->columns, p);
    if (t->count > 0 && (!t->starts || !t->index || !t->value))
        return vxs_fail(err, VXS_MISUSE, "%zu terms have no features or factors", t->count);
    if (some && t->count == 0)
        return vxs_fail(err, VXS_BAD_DATA, "there are no terms");
    for (size_t k = 0; k < t->count; k++)
        if (t->starts[k] > t->starts[k + 1])
            return vxs_fail(err, VXS_MISUSE, "term %zu ends before it begins", k);
    for (size_t e = t->starts[0]; e < t->starts[t->count]; e++)
        if (t->index[e] >= p || !(fabs(t->value[e]) <= VXS_LARGEST))
            return vxs_fail(err, VXS_BAD_DATA, "the terms have a factor %g of feature %zu of %zu",
                            t->value[e], t->index[e], p);
    return VXS_OK;
}

/* `some`: there must be something to penalise. */
static vxs_status check_shapes(const vxs_problem *q, size_t n, size_t p, bool some, vxs_error *err)
{
    vxs_status status = VXS_OK;
    if (n == 0 || p == 0)
        return vxs_fail(err, VXS_MISUSE, "the design has %zu rows and %zu columns", n, p);
    if (q->free_count > 0 && !q->free)
        return vxs_fail(err, VXS_MISUSE, "the problem has %zu covariates without values",
                        q->free_count);
    if (q->loss.n != n)
        return vxs_fail(err, VXS_MISUSE, "the loss is of %zu samples, the design has %zu rows",
                        q->loss.n, n);
    if (q->loss.kind->joint ? q->loss.k < 2 : q->loss.k > 1)
        return vxs_fail(err, VXS_MISUSE, "%s loss does not go with %zu classes", q->loss.kind->name,
                        q->loss.k);
    if (q->map.kind < VXS_MAP_NONE || q->map.kind > VXS_MAP_HIK)
        return vxs_fail(err, VXS_MISUSE, "there is no map number %d", (int)q->map.kind);
    if (q->units && vxs_units_rows(q->units) != n)
        return vxs_fail(err, VXS_MISUSE, "the units have %zu rows, the design %zu",
                        vxs_units_rows(q->units), n);
    if (q->graph) /* kernel scores may have no neighbors, and single weights may be penalised */
        status = check_graph(q->graph, p,
                             some && q->loss.kind != &vxs_hinge_loss && q->sparsity == 0, err);
    if (!status && q->laplacian.graph)
        status = check_graph(q->laplacian.graph, p, false, err);
    return status || !q->terms ? status : check_terms(q->terms, p, some, err);
}

/* Whether the covariates reach every target: their rank is the number of samples that count. */
static vxs_status check_rank(const vxs_problem *q, size_t n, vxs_error *err)
{
    vxs_shift span;
    size_t count = 0;
    if (q->free_count <= n || q->unshifted)
        return VXS_OK;
    for (size_t i = 0; i < n; i++)
        count += vxs_loss_weight(&q->loss, i) > 0;
    vxs_status status = vxs_shift_init(q, q->free_count, &span, err);
    if (!status && span.rank >= count)
        status = vxs_fail(err, VXS_BAD_DATA,
                          "%zu covariates explain whatever %zu samples have: nothing is left to "
                          "find",
                          q->free_count, count);
    vxs_shift_release(&span);
    return status;
}

/* ---- The whole ------------------------------------------------------------------------------- */

/* An entry of the table itself: solvers know their methods by where these stand. */
static bool is_method(const vxs_method *method)
{
    bool known = false;
    for (const vxs_method *m = vxs_methods; m->name; m++)
        known = known || m == method;
    return known;
}

vxs_status vxs_problem_check(const vxs_problem *q, const vxs_method *method,
                             const vxs_method_settings *s, vxs_error *err)
{
    if (!q || !q->design || !q->loss.y)
        return vxs_fail(err, VXS_MISUSE, "the problem has no %s", q && q->design ? "y" : "design");
    if (method && !is_method(method))
        return vxs_fail(err, VXS_MISUSE, "the method is none of vxs_methods, but perhaps a copy");
    const vxs_accepts *r = accepted_by(q, method, s);
    size_t n = vxs_design_rows(q->design), p = vxs_design_columns(q->design);
    vxs_status status = check_parts(q, r, err);
    if (!status && method && method->needs_graph && s)
        status = check_way(q, s, err);
    if (!status)
        status = check_numbers(q, s, err);
    if (!status && method && s)
        status = check_settings(method->params, s, err);
    if (!status)
        status = check_shapes(q, n, p, method != NULL, err);
    if (!status)
        status = check_samples(q, n, err);
    return status ? status : check_rank(q, n, err);
}

vxs_status vxs_lambda_check(const vxs_solver *solver, double lambda, vxs_error *err)
{
    double most = solver->kind->lambda_max(solver);
    bool rounds = solver->method && solver->method->generates;
    if (rounds && lambda >= 0 && lambda <= VXS_LARGEST)
        return VXS_OK;
    if (rounds)
        return vxs_fail(err, VXS_MISUSE, "%g is no number of rounds or units", lambda);
    if (lambda == 0 && most > 0)
        return vxs_fail(err, VXS_MISUSE,
                        "lambda is 0; without a penalty the answer is not unique, and no "
                        "certificate can be given");
    vxs_status status = check_number(&(number){ "lambda", lambda, 0, most > 0 }, err);
    if (status || !(lambda < DBL_EPSILON * most))
        return status;
    return vxs_fail(
        err, VXS_MISUSE,
        "lambda is %g, less than %.2g of lambda_max (%g): what rounding leaves of slopes "
        "is more, and no certificate can be given",
        lambda, DBL_EPSILON, most);
}
