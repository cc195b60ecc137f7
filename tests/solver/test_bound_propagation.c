/* Bound propagation: screened rows are 0 at the optimum, solutions equal unscreened ones, and
 * certificates are confirmed by brute force. */
#include "solver/bound_propagation/bound_propagation.h"
#include "tests/core/check.h"
#include "tests/core/faults.h"

enum { LOOPS, TREE, SPARSE, TREND, ANY, KINDS };

typedef struct {
    size_t n, p;
    float *x;
    double *y, *weights, *covariates;
    vxs_design *design;
    vxs_graph graph;
    vxs_analysis terms; /* D of every penalty */
    vxs_fused fused;
    vxs_generalized sums;
    vxs_problem problem;
} example;

/* Columns, some of them duplicated. */
static void fill_columns(example *e, const vxs_random *random, uint64_t *at)
{
    for (size_t j = 0; j < e->p; j++) {
        uint64_t kind = vxs_random_below(random, (*at)++, 8);
        for (size_t i = 0; i < e->n; i++) {
            float *x = &e->x[j * e->n + i];
            *x = (float)vxs_random_normal(random, (*at)++);
            *x = kind == 0 && j > 0 ? x[-(ptrdiff_t)e->n] : kind == 1 ? *x + 2 : *x;
        }
    }
}

static void fill_samples(example *e, const vxs_random *random, uint64_t *at, bool logistic)
{
    for (size_t i = 0; i < e->n; i++) {
        double score = vxs_random_normal(random, (*at)++) + 2 * (double)e->x[i];
        double weight = 0.2 + fabs(vxs_random_normal(random, (*at)++));
        e->y[i] = logistic ? (score > 0 ? 1 : -1) : score + 3;
        e->weights[i] = vxs_random_uniform(random, (*at)++) < 0.1 ? 0 : weight;
        e->covariates[i] = 1;
        e->covariates[e->n + i] = vxs_random_normal(random, (*at)++);
    }
    for (size_t i = 0; i < 4; i++) {
        e->y[i] = logistic ? (i % 2 ? 1 : -1) : e->y[i];
        e->weights[i] = 1;
    }
}

static void make_graph(example *e, const vxs_random *random, uint64_t *at, bool loops)
{
    vxs_error err = VXS_ERROR_INIT;
    size_t roots = 1 + vxs_random_below(random, (*at)++, 3), edges = 0;
    size_t more = loops ? 1 + vxs_random_below(random, (*at)++, e->p) : 0;
    WORKS(vxs_graph_new(e->p, e->p + more, &e->graph, &err), err);
    for (size_t k = 1; k < e->p + more; k++) {
        size_t from = k < e->p ? k : vxs_random_below(random, (*at)++, e->p);
        size_t to = vxs_random_below(random, (*at)++, k < e->p ? k : e->p);
        if (from == to || k < roots)
            continue;
        e->graph.from[edges] = from;
        e->graph.to[edges] = to;
        e->graph.weight[edges++] = vxs_random_below(random, (*at)++, 2) ? 1 : 0.3 + (double)(k % 3);
    }
    e->graph.count = edges;
}

/* Rows with one to three integer entries, some linearly dependent. */
static void make_terms(example *e, const vxs_random *random, uint64_t *at)
{
    vxs_error err = VXS_ERROR_INIT;
    size_t count = e->p / 2 + 1 + vxs_random_below(random, (*at)++, e->p), next = 0;
    WORKS(vxs_analysis_new(e->p, count, 3 * count, &e->terms, &err), err);
    for (size_t t = 0; t < count; t++) {
        size_t first = vxs_random_below(random, (*at)++, e->p - 2);
        size_t size = 1 + vxs_random_below(random, (*at)++, 3);
        for (size_t k = 0; k < size; k++) {
            e->terms.index[next] = first + k;
            e->terms.value[next++] = (double)vxs_random_below(random, (*at)++, 3) - 1 + 0.5;
        }
        e->terms.starts[t + 1] = next;
    }
}

static example make(uint64_t number)
{
    vxs_random random = { .seed = 31, .stream = number };
    vxs_error err = VXS_ERROR_INIT;
    uint64_t at = 0, kind = number % KINDS;
    bool logistic = number / KINDS % 2;
    example e = { .n = 8 + vxs_random_below(&random, at++, 25) };
    e.p = 4 + vxs_random_below(&random, at++, number % 3 ? 9 : 40);
    e.x = malloc(e.n * e.p * sizeof(*e.x));
    e.y = malloc(e.n * sizeof(*e.y));
    e.weights = malloc(e.n * sizeof(*e.weights));
    e.covariates = malloc(2 * e.n * sizeof(*e.covariates));
    fill_columns(&e, &random, &at);
    fill_samples(&e, &random, &at, logistic);
    WORKS(vxs_dense_new(e.x, e.n, e.p, 1, &e.design, &err), err);
    e.problem = (vxs_problem){ .design = e.design,
                               .loss.kind = logistic ? &vxs_logistic_loss : &vxs_squared_loss,
                               .loss.n = e.n,
                               .loss.y = e.y,
                               .loss.u = number / 10 % 3 == 0 ? e.weights : NULL,
                               .covariates = e.covariates,
                               .covariate_count = number / 30 % 3 };
    if (kind <= SPARSE) {
        make_graph(&e, &random, &at, kind != TREE);
        e.fused.sparsity = kind == SPARSE ? 0.2 + vxs_random_uniform(&random, at++) : 0;
        WORKS(vxs_analysis_edges(&e.graph, e.fused.sparsity, &e.terms, &err), err);
    } else if (kind == TREND) {
        WORKS(vxs_analysis_trend(e.p, &e.terms, &err), err);
    } else {
        make_terms(&e, &random, &at);
    }
    return e;
}

static void release(example *e)
{
    vxs_graph_release(&e->graph);
    vxs_analysis_release(&e->terms);
    vxs_design_free(e->design);
    free(e->x);
    free(e->y);
    free(e->weights);
    free(e->covariates);
}

/* Sets the pointers of e.problem; e must not move afterwards. */
static void set_pointers(example *e, uint64_t number)
{
    e->fused = vxs_fused_on(&e->graph, e->fused.sparsity);
    e->sums = vxs_generalized_of(&e->terms);
    e->problem.penalty = number % KINDS <= SPARSE ? &e->fused.penalty : &e->sums.penalty;
}

/* ---- Certificates recomputed ----------------------------------------------------------------- */

static double u_of(const example *e, size_t i)
{
    return e->problem.loss.u ? e->weights[i] : 1;
}

static double loss(const example *e, size_t i, double z)
{
    double y = e->y[i];
    return u_of(e, i) * (e->problem.loss.kind == &vxs_squared_loss
                             ? (z - y) * (z - y) / 2
                             : fmax(0, -y * z) + log1p(exp(-fabs(z))));
}

static double dual(const example *e, size_t i, double xi)
{
    double u = u_of(e, i), y = e->y[i];
    if (u == 0)
        return xi == 0 ? 0 : -INFINITY;
    if (e->problem.loss.kind == &vxs_squared_loss)
        return xi * y - xi * xi / (2 * u);
    double t = y * xi / u;
    if (t < -1e-10 || t > 1 + 1e-10)
        return -INFINITY;
    return -u * ((t > 0 ? t * log(t) : 0) + (t < 1 ? (1 - t) * log(1 - t) : 0));
}

static void predict(const example *e, const vxs_solution *s, double *w, double *z)
{
    memset(w, 0, e->p * sizeof(*w));
    for (size_t k = 0; k < s->count; k++)
        w[s->index[k]] = s->weight[k];
    for (size_t i = 0; i < e->n; i++) {
        z[i] = 0;
        for (size_t j = 0; j < e->p; j++)
            z[i] += w[j] * (double)e->x[j * e->n + i];
        for (size_t k = 0; k < e->problem.covariate_count; k++)
            z[i] += s->covariate_coefficients[k] * e->covariates[k * e->n + i];
    }
}

static double term(const example *e, size_t t, const double *w)
{
    double sum = 0;
    for (size_t a = e->terms.starts[t]; a < e->terms.starts[t + 1]; a++)
        sum += e->terms.value[a] * w[e->terms.index[a]];
    return sum;
}

static double primal(const example *e, const vxs_solution *s)
{
    double w[64], z[64], sum = 0;
    predict(e, s, w, z);
    for (size_t i = 0; i < e->n; i++)
        sum += loss(e, i, z[i]);
    for (size_t t = 0; t < e->terms.count; t++)
        sum += s->certificate.lambda * fabs(term(e, t, w));
    return sum;
}

/* Generalized lasso: X'theta = D'u, |u|_inf <= 1, and the dual value is that of theta. */
static void check_dual_point(const example *e, const vxs_solution *s, uint64_t number)
{
    const vxs_bound *b = s->bound;
    double sum = 0, largest = 0;
    cr_assert(b && b->terms == e->terms.count);
    double *left = calloc(e->p, sizeof(*left));
    for (size_t t = 0; t < e->terms.count; t++) {
        largest = fmax(largest, fabs(b->u[t]));
        for (size_t a = e->terms.starts[t]; a < e->terms.starts[t + 1]; a++)
            left[e->terms.index[a]] -= e->terms.value[a] * b->u[t];
    }
    for (size_t j = 0; j < e->p; j++) {
        for (size_t i = 0; i < e->n; i++)
            left[j] += (double)e->x[j * e->n + i] * b->theta[i];
        cr_assert(fabs(left[j]) < 1e-8, "problem %d: D'u is off by %g at feature %zu", (int)number,
                  left[j], j);
    }
    for (size_t k = 0; k < e->problem.covariate_count; k++) {
        double along = 0;
        for (size_t i = 0; i < e->n; i++)
            along += e->covariates[k * e->n + i] * b->theta[i];
        cr_assert(fabs(along) < 1e-9, "problem %d: theta is not free of column %zu", (int)number,
                  k);
    }
    for (size_t i = 0; i < e->n; i++)
        sum += dual(e, i, s->certificate.lambda * b->theta[i]);
    cr_assert(largest <= 1 + 1e-11, "problem %d: |u| is %.17g", (int)number, largest);
    cr_assert(fabs(sum - s->certificate.dual) <= 1e-9 * fabs(sum), "problem %d: dual %.15g, %.15g",
              (int)number, sum, s->certificate.dual);
    free(left);
}

static vxs_solver *begin(const example *e, int way, int screen, bool untransformed)
{
    vxs_error err = VXS_ERROR_INIT;
    vxs_method_settings settings = { .fused.solver = way,
                                     .saif.screen = screen,
                                     .tol = 1e-9,
                                     .fused.untransformed = untransformed };
    vxs_solver *solver;
    WORKS(vxs_solver_new(NULL, &vxs_methods[VXS_METHOD_FUSED], &e->problem, &settings, &solver,
                         &err),
          err);
    return solver;
}

/* True if covariates and region values are identified. */
static bool is_identified(const example *e)
{
    vxs_error err = VXS_ERROR_INIT;
    vxs_method_settings settings = { .fused.solver = VXS_FUSED_BP, .tol = 1e-9 };
    vxs_solver *solver;
    if (e->terms.count == 0 ||
        vxs_solver_new(NULL, &vxs_methods[VXS_METHOD_FUSED], &e->problem, &settings, &solver, &err))
        return false;
    bool possible = vxs_solver_lambda_max(solver) > 1e-4;
    vxs_solver_free(solver);
    return possible;
}

static const struct {
    int screen;
    bool untransformed;
} ways[] = { { VXS_SCREEN_NONE, false },
             { VXS_SCREEN_DYNAMIC, false },
             { VXS_SCREEN_SAIF, false },
             { VXS_SCREEN_SAIF, true } };
enum { WAYS = sizeof(ways) / sizeof(ways[0]) };
static const double ratios[] = { 1.2, 0.99, 0.8, 0.4, 0.1, 0.02 };
enum { RATIOS = sizeof(ratios) / sizeof(ratios[0]) };

static void solve_one_way(const example *e, uint64_t number, size_t way, double primals[RATIOS],
                          size_t *screened)
{
    vxs_error err = VXS_ERROR_INIT;
    vxs_solver *solver = begin(e, VXS_FUSED_BP, ways[way].screen, ways[way].untransformed);
    double most = vxs_solver_lambda_max(solver);
    for (size_t k = 0; k < RATIOS; k++) {
        vxs_solution s;
        WORKS(vxs_solver_fit(solver, ratios[k] * most, &s, &err), err);
        const vxs_certificate *c = &s.certificate;
        double value = primal(e, &s);
        cr_assert(c->converged, "problem %d, way %zu, ratio %g: gap %g", (int)number, way,
                  ratios[k], c->gap);
        cr_assert(fabs(value - c->primal) <= 1e-9 * value,
                  "problem %d, way %zu: primal %.15g, %.15g", (int)number, way, value, c->primal);
        if (e->problem.penalty == &e->sums.penalty)
            check_dual_point(e, &s, number);
        primals[k] = way == 0 ? value : primals[k];
        cr_assert(fabs(value - primals[k]) <= 1e-8 * primals[0],
                  "problem %d, way %zu, ratio %g: %.15g, not %.15g", (int)number, way, ratios[k],
                  value, primals[k]);
        *screened += c->screening.after;
        cr_assert(ways[way].screen != VXS_SCREEN_NONE || ratios[k] > 1 || c->screening.after == 0);
        vxs_solution_release(&s);
    }
    vxs_solver_free(solver);
}

/* A path of decreasing lambda, and single values out of order. */
Test(bp, screened_and_unscreened_agree)
{
    size_t screened[WAYS] = { 0 }, solved = 0;
    for (uint64_t number = 0; number < 600; number++) {
        example e = make(number);
        double primals[RATIOS];
        set_pointers(&e, number);
        if (is_identified(&e)) {
            solved++;
            for (size_t way = 0; way < WAYS; way++)
                solve_one_way(&e, number, way, primals, &screened[way]);
        }
        release(&e);
    }
    cr_assert(solved > 450, "only %zu could be solved", solved);
    cr_assert(screened[2] > screened[3] && screened[3] > 1000, "%zu, %zu, %zu terms were screened",
              screened[1], screened[2], screened[3]);
}

/* ---- Screening rules ------------------------------------------------------------------------- */

/* The data as the solver stores them; free with release_data. */
static vxs_bp_data load_data(const example *e)
{
    vxs_bp_data w = {
        .loss = e->problem.loss.kind, .p = e->p, .q = e->problem.covariate_count, .terms = &e->terms
    };
    w.x = malloc(e->n * e->p * sizeof(*w.x));
    w.covariates = malloc(e->n * 2 * sizeof(*w.covariates));
    w.y = malloc(e->n * sizeof(*w.y));
    w.root = malloc(e->n * sizeof(*w.root));
    for (size_t i = 0; i < e->n; i++)
        w.n += u_of(e, i) > 0;
    for (size_t i = 0, at = 0; i < e->n; i++) {
        if (!(u_of(e, i) > 0))
            continue;
        w.root[at] = sqrt(u_of(e, i));
        w.y[at] = e->y[i];
        for (size_t j = 0; j < e->p; j++)
            w.x[j * w.n + at] = w.root[at] * (double)e->x[j * e->n + i];
        for (size_t k = 0; k < w.q; k++)
            w.covariates[k * w.n + at] = w.root[at] * e->covariates[k * e->n + i];
        at++;
    }
    return w;
}

static void release_data(vxs_bp_data *w)
{
    free(w->x);
    free(w->covariates);
    free(w->y);
    free(w->root);
}

/* A ball with the optimum on its boundary, centered in a random direction of the dual's affine
 * hull. */
static void place_ball(const example *e, const vxs_bp_data *w, const vxs_reparametrized *r,
                       const vxs_solution *s, double radius, const vxs_random *random,
                       vxs_dome *dome)
{
    double weights[64], z[64], *normal = dome->normal;
    predict(e, s, weights, z);
    for (size_t i = 0, at = 0; i < e->n; i++)
        if (u_of(e, i) > 0) {
            dome->center[at] = -w->root[at] * w->loss->sample->gradient(z[i], e->y[i], 0);
            normal[at++] = vxs_random_normal(random, i);
        }
    for (size_t k = 0; k < 2 * r->rank; k++) {
        const double *b = r->span + k % r->rank * w->n;
        double along = 0, product = 0;
        for (size_t i = 0; i < w->n; i++) {
            along += b[i] * normal[i];
            product += b[i] * dome->center[i];
        }
        for (size_t i = 0; i < w->n; i++) {
            normal[i] -= along * b[i];
            dome->center[i] -= product * b[i];
        }
    }
    double length = 0;
    for (size_t i = 0; i < w->n; i++)
        length += normal[i] * normal[i];
    for (size_t i = 0; i < w->n && length > 0; i++)
        dome->center[i] += radius * normal[i] / sqrt(length);
    dome->cut = false;
}

/* Number of rows screened wrongly, with `share` times the safe radius. */
static size_t count_wrong(const example *e, uint64_t number, const vxs_solution *s, double share,
                          bool transform, size_t *found)
{
    vxs_error err = VXS_ERROR_INIT;
    vxs_random random = { .seed = 32, .stream = number };
    vxs_bp_data w = load_data(e);
    vxs_reparametrized r;
    vxs_bounds bounds;
    vxs_dome dome;
    double weights[64], z[64];
    bool none[256] = { false }, zero[256];
    size_t wrong = 0;
    WORKS(vxs_reparametrized_new(&w, none, transform, &r, &err), err);
    WORKS(vxs_bounds_new(&r, transform, &bounds, &err), err);
    WORKS(vxs_dome_new(w.n, &dome, &err), err);
    double radius = s->certificate.lambda * 0.05 * vxs_random_uniform(&random, 1000);
    place_ball(e, &w, &r, s, radius, &random, &dome);
    dome.radius = share * radius * (1 + 1e-9) + 1e-6;
    *found += vxs_bounds_propagate(&bounds, &dome, s->certificate.lambda, zero);
    predict(e, s, weights, z);
    for (size_t t = 0; t < e->terms.count; t++) {
        size_t row = r.presolved.merged_row[t];
        bool screened = row == SIZE_MAX || zero[r.number[row]];
        wrong += screened && fabs(term(e, t, weights)) > 1e-6;
    }
    vxs_dome_release(&dome);
    vxs_bounds_release(&bounds);
    vxs_reparametrized_release(&r);
    release_data(&w);
    return wrong;
}

/* Screening with a ball that contains the optimum is safe; with one that is too small it is not, so
 * this test can fail. */
Test(bp, no_term_is_screened_that_is_not_zero)
{
    size_t found = 0, wrong_when_small = 0, ignored = 0;
    for (uint64_t number = 0; number < 600; number++) {
        vxs_error err = VXS_ERROR_INIT;
        example e = make(number);
        set_pointers(&e, number);
        if (!is_identified(&e)) {
            release(&e);
            continue;
        }
        vxs_solver *solver = begin(&e, VXS_FUSED_BP, VXS_SCREEN_NONE, false);
        for (size_t k = 1; k < RATIOS - 1; k++) {
            vxs_solution s;
            WORKS(vxs_solver_fit(solver, ratios[k] * vxs_solver_lambda_max(solver), &s, &err), err);
            for (int transform = 0; transform < 2; transform++) {
                size_t wrong = count_wrong(&e, number, &s, 1, transform, &found);
                cr_assert(wrong == 0, "problem %d, ratio %g: %zu terms are not 0", (int)number,
                          ratios[k], wrong);
                wrong_when_small += count_wrong(&e, number, &s, 0.2, transform, &ignored);
            }
            vxs_solution_release(&s);
        }
        vxs_solver_free(solver);
        release(&e);
    }
    cr_assert(found > 5000, "only %zu terms were screened", found);
    cr_assert(wrong_when_small > 100, "only %zu mistakes with balls too small", wrong_when_small);
}

/* ---- Other solvers and norms ----------------------------------------------------------------- */

/* On trees the problem is a lasso, solved by SAIF. */
Test(bp, trees_have_the_answers_of_saif)
{
    size_t compared = 0;
    for (uint64_t number = TREE; number < 400; number += KINDS) {
        vxs_error err = VXS_ERROR_INIT;
        example e = make(number);
        set_pointers(&e, number);
        if (is_identified(&e)) {
            vxs_solver *bp = begin(&e, VXS_FUSED_BP, VXS_SCREEN_SAIF, false);
            vxs_solver *saif = begin(&e, VXS_FUSED_SAIF, VXS_SCREEN_SAIF, false);
            double most = vxs_solver_lambda_max(saif);
            cr_assert(fabs(vxs_solver_lambda_max(bp) - most) <= 1e-8 * most);
            for (size_t k = 0; k < RATIOS; k++) {
                vxs_solution a, b;
                WORKS(vxs_solver_fit(bp, ratios[k] * most, &a, &err), err);
                WORKS(vxs_solver_fit(saif, ratios[k] * most, &b, &err), err);
                cr_assert(fabs(primal(&e, &a) - primal(&e, &b)) <= 1e-8 * primal(&e, &b));
                cr_assert(a.certificate.fused_regions <= b.certificate.fused_regions + 1);
                vxs_solution_release(&a);
                vxs_solution_release(&b);
                compared++;
            }
            vxs_solver_free(bp);
            vxs_solver_free(saif);
        }
        release(&e);
    }
    cr_assert(compared > 200, "%zu", compared);
}

/* max |v(S)| / (cut(S) + sparsity |S|) by enumeration of sets. */
static double norm_by_sets(const example *e, const double *v)
{
    double largest = 0;
    for (uint32_t set = 1; set < 1U << e->p; set++) {
        double sum = 0, cut = 0;
        for (size_t j = 0; j < e->p; j++) {
            sum += set >> j & 1 ? v[j] : 0;
            cut += set >> j & 1 ? e->fused.sparsity : 0;
        }
        for (size_t k = 0; k < e->graph.count; k++)
            cut += (set >> e->graph.from[k] & 1) != (set >> e->graph.to[k] & 1) ? e->graph.weight[k]
                                                                                : 0;
        largest = cut > 0 ? fmax(largest, fabs(sum) / cut) : largest;
    }
    return largest;
}

/* At the optimum the linear program's dual norm equals the maximum over all node sets. */
Test(bp, dual_norms_are_those_of_all_sets)
{
    size_t checked = 0;
    for (uint64_t number = 0; number < 600; number++) {
        vxs_error err = VXS_ERROR_INIT;
        vxs_random random = { .seed = 33, .stream = number };
        example e = make(number);
        bool none[256] = { false };
        if (number % KINDS <= SPARSE && e.p <= 10 && e.terms.count > 0) {
            vxs_bp_data w = load_data(&e);
            vxs_reparametrized r;
            vxs_dome dome;
            double v[64] = { 0 }, u[256], norm;
            vxs_solution empty = { .covariate_coefficients = (double[]){ 0, 0 } };
            WORKS(vxs_reparametrized_new(&w, none, number % 2, &r, &err), err);
            WORKS(vxs_dome_new(w.n, &dome, &err), err);
            place_ball(&e, &w, &r, &empty, 1, &random, &dome);
            for (size_t j = 0; j < e.p; j++)
                for (size_t i = 0; i < w.n; i++)
                    v[j] += w.x[j * w.n + i] * dome.center[i];
            WORKS(vxs_reparametrized_dual_norm(&r, dome.center, u, &norm, &err), err);
            double truth = norm_by_sets(&e, v);
            cr_assert(fabs(norm - truth) <= 1e-9 * truth + 1e-12, "problem %d: %.15g, not %.15g",
                      (int)number, norm, truth);
            checked++;
            vxs_dome_release(&dome);
            vxs_reparametrized_release(&r);
            release_data(&w);
        }
        release(&e);
    }
    cr_assert(checked > 100, "%zu", checked);
}

/* ---- Refused input --------------------------------------------------------------------------- */

Test(bp, what_it_cannot_do_is_refused)
{
    vxs_error err = VXS_ERROR_INIT;
    vxs_method_settings settings = { .fused.solver = VXS_FUSED_BP, .tol = 1e-6 };
    vxs_solver *solver;
    example e = make(0);
    set_pointers(&e, 0);
    vxs_problem problem = e.problem;
    problem.loss.kind = &vxs_multinomial_loss;
    REFUSES(vxs_solver_new(NULL, &vxs_methods[VXS_METHOD_FUSED], &problem, &settings, &solver,
                           &err),
            err, VXS_MISUSE, "squared and logistic");
    problem = e.problem;
    problem.quadratic = (vxs_quadratic){ &vxs_ridge, 1, NULL };
    REFUSES(vxs_solver_new(NULL, &vxs_methods[VXS_METHOD_FUSED], &problem, &settings, &solver,
                           &err),
            err, VXS_MISUSE, "ridge");
    vxs_graph other = { .nodes = e.p + 1, .count = 1 };
    problem = e.problem;
    const vxs_fused far = vxs_fused_on(&other, 0);
    problem.penalty = &far.penalty;
    REFUSES(vxs_solver_new(NULL, &vxs_methods[VXS_METHOD_FUSED], &problem, &settings, &solver,
                           &err),
            err, VXS_MISUSE, "nodes");
    release(&e);
}

/* ---- Allocation failures --------------------------------------------------------------------- */

static const example *fault_example;

static vxs_status solve_some(vxs_error *err)
{
    vxs_method_settings settings = { .fused.solver = VXS_FUSED_BP,
                                     .tol = 1e-6,
                                     .fused.compare = true };
    vxs_solver *solver;
    vxs_status status = vxs_solver_new(NULL, &vxs_methods[VXS_METHOD_FUSED],
                                       &fault_example->problem, &settings, &solver, err);
    if (status)
        return status;
    for (size_t k = 1; k < 4 && !status; k++) {
        vxs_solution s;
        status = vxs_solver_fit(solver, ratios[k] * vxs_solver_lambda_max(solver), &s, err);
        if (!status)
            vxs_solution_release(&s);
    }
    vxs_solver_free(solver);
    return status;
}

Test(bp, every_request_for_memory_may_fail)
{
    for (uint64_t number = 0; number < 2 * KINDS; number++) {
        example e = make(number);
        set_pointers(&e, number);
        fault_example = &e;
        if (is_identified(&e))
            cr_assert(fail_each_request(solve_some) > 50);
        release(&e);
    }
}
