/* skfs.c - structured kernel feature selection, to a certified gap over all voxels.
 *
 * Problem   sum u max(0, M - z'a) + lambda sum a + lambda2 a'La over a >= 0, z being the kernel
 *           scores of a voxel; in units in which the empty model's value and lambda_max are 1: with
 *           U = sum u, margins M and c = lambda_max, a = ah M U / c, Z = Zh c / U, lambda = rho c
 *           and lambda2 = S c^2 / (M U)
 * Dual      sum alpha over 0 <= alpha <= u, once alpha and a are shrunk so that
 *           z_i'alpha - 2 S (La)_i <= rho at every voxel, less the quadratic at a
 * Members   voxels beyond that bound become members, those farthest beyond it first (as in SAIF;
 *           chapter 4 of the dissertation leaves screening for kernels to the future), and the
 *           problem on these is solved by hinge_interior.c
 * Stop      the gap over all voxels is below the tolerance
 * Cost      a round: a scan of kernel scores, and the members' problem
 * Source    dissertation chapter 4 */
#include "solver/interior_point/skfs.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#define ROUNDS   200
#define PATIENCE 5    /* rounds in which the gap hardly falls */
#define EDGE     1e-9 /* of rho, for rounding */
#define LEAST    64   /* voxels that may enter in a round */
#define INNER    0.2  /* of the gap that is wanted, for the problem on the members */
#define FIRST    1e-3 /* gap of the first round, whatever is wanted */

static const char *const solvers[] = { "interior-point", "dual-averaging", NULL };

const vxs_param vxs_skfs_params[] = {
    VXS_LAMBDA_ROWS,
    VXS_TEXT_ROW(
        "laplacian", "LIST", VXS_AT(path.smooths),
        "weight of squared differences between neighbours, in units that do not depend on "
        "the data: lambda2 = S lambda_max^2 / n^2; several with commas between where folds "
        "choose; without it 1"),
    VXS_KERNEL_WIDTH_ROW,
    VXS_CHOICE_ROW(
        "solver", "WAY", VXS_AT(kernels.solver), 0, solvers,
        "exact, to the gap that is asked for; or dual-average, the stochastic one of the paper, "
        "to be compared with"),
    VXS_WHOLE_ROW("steps", "N", VXS_AT(kernels.steps), 100000, 1, 1e12,
                  "of dual-average, a random subject each"),
    VXS_REAL_ROW("averaging-gamma", "G", VXS_AT(kernels.gamma), 100, 1e-9, 1e12,
                 "of dual-average: larger ones begin more slowly and end more quietly"),
    VXS_WHOLE_ROW("sample-seed", "N", VXS_AT(kernels.sample_seed), 1, 0, 1e15,
                  "of the subjects that dual-average draws"),
    { .name = NULL },
};

static void release(vxs_solver *solver)
{
    vxs_skfs *s = (vxs_skfs *)solver;
    void *const all[] = {
        s->row,    s->u,        s->alpha,  s->wide,          s->start, s->neighbour,
        s->edge,   s->degree,   s->a,      s->inside,        s->want,  s->member,
        s->place,  s->z,        s->column, s->order,         s->from,  s->to,
        s->weight, s->member_a, s->slack,  s->member_degree, s->by_row
    };
    for (size_t k = 0; k < sizeof(all) / sizeof(all[0]); k++)
        free(all[k]);
    free(s);
}

static double lambda_max(const vxs_solver *solver)
{
    return ((const vxs_skfs *)solver)->lambda_max;
}

/* ---- The beginning --------------------------------------------------------------------------- */

static vxs_status list_neighbours(vxs_skfs *s, vxs_error *err)
{
    const vxs_graph *g = s->problem.quadratic.graph;
    size_t ends = s->smooth > 0 ? 2 * g->count : 0;
    s->start = vxs_alloc(s->p + 2, sizeof(*s->start), err);
    s->neighbour = vxs_alloc(ends, sizeof(*s->neighbour), err);
    s->edge = vxs_alloc(ends, sizeof(*s->edge), err);
    s->degree = vxs_alloc(s->p, sizeof(*s->degree), err);
    if (!s->start || !s->neighbour || !s->edge || !s->degree)
        return VXS_FAILED;
    for (size_t e = 0; e < ends / 2; e++) {
        s->start[g->from[e] + 2]++;
        s->start[g->to[e] + 2]++;
    }
    for (size_t j = 0; j < s->p; j++)
        s->start[j + 2] += s->start[j + 1];
    for (size_t e = 0; e < ends; e++) {
        size_t one = e % 2 ? g->to[e / 2] : g->from[e / 2];
        size_t other = e % 2 ? g->from[e / 2] : g->to[e / 2];
        size_t at = s->start[one + 1]++;
        s->neighbour[at] = other;
        s->edge[at] = g->weight[e / 2];
        s->degree[one] += g->weight[e / 2];
    }
    return VXS_OK;
}

static vxs_status make_room(vxs_skfs *s, vxs_error *err)
{
    s->row = vxs_alloc(s->n, sizeof(*s->row), err);
    s->u = vxs_alloc(s->n, sizeof(*s->u), err);
    s->alpha = vxs_alloc(s->n, sizeof(*s->alpha), err);
    s->wide = vxs_alloc(s->n, sizeof(*s->wide), err);
    s->a = vxs_alloc(s->p, sizeof(*s->a), err);
    s->inside = vxs_alloc(s->p, sizeof(*s->inside), err);
    s->want = vxs_alloc(s->p, sizeof(*s->want), err);
    s->member = vxs_alloc(s->p, sizeof(*s->member), err);
    s->place = vxs_alloc(s->p, sizeof(*s->place), err);
    s->order = vxs_alloc(s->p, sizeof(*s->order), err);
    s->column = vxs_alloc(s->n, sizeof(*s->column), err);
    bool fine = s->row && s->u && s->alpha && s->wide && s->a && s->inside && s->want &&
                s->member && s->place && s->order && s->column;
    return fine ? list_neighbours(s, err) : VXS_FAILED;
}

static double total_weight(const vxs_skfs *s)
{
    double total = 0;
    for (size_t m = 0; m < s->n; m++)
        total += s->problem.loss.u ? s->problem.loss.u[m] : 1;
    return total;
}

/* At a = 0 every sample lies within the margin, so that alpha is u. A column with a value that is
 * not finite is found by its sum, and named by measuring. */
static vxs_status look_at_empty(vxs_skfs *s, vxs_error *err)
{
    double total = total_weight(s);
    for (size_t m = 0; m < s->n; m++) {
        double u = s->problem.loss.u ? s->problem.loss.u[m] : 1;
        s->wide[m] = u;
        if (u > 0) {
            s->row[s->rows] = m;
            s->u[s->rows++] = u;
        }
    }
    vxs_design_scan(s->problem.design, s->wide, 1, s->want);
    for (size_t j = 0; j < s->p; j++) {
        vxs_status status =
            isfinite(s->want[j]) ? VXS_OK : vxs_design_measure(s->problem.design, err);
        if (status)
            return status;
        s->lambda_max = fmax(s->lambda_max, s->want[j]);
        s->place[j] = VXS_NOWHERE;
    }
    s->unit = s->lambda_max > 0 ? total / s->lambda_max : 0;
    for (size_t m = 0; m < s->rows; m++)
        s->alpha[m] = s->u[m] /= total;
    for (size_t j = 0; j < s->p; j++)
        s->want[j] = s->lambda_max > 0 ? s->want[j] / s->lambda_max : 0;
    s->last_rho = 1;
    return VXS_OK;
}

static vxs_status begin(const vxs_context *context, const vxs_problem *problem,
                        const vxs_method_settings *settings, vxs_solver **solver, vxs_error *err)
{
    vxs_skfs *s = vxs_alloc(1, sizeof(*s), err);
    if (!s)
        return VXS_FAILED;
    s->solver.kind = &vxs_skfs_kind;
    s->costs = vxs_costs_begin(problem->design);
    s->context = context;
    s->problem = *problem;
    s->smooth = problem->quadratic.graph ? problem->quadratic.weight : 0;
    s->settings = *settings;
    s->n = vxs_design_rows(problem->design);
    s->p = vxs_design_columns(problem->design);
    vxs_status status = make_room(s, err);
    if (!status)
        status = look_at_empty(s, err);
    if (status) {
        release(&s->solver);
        return status;
    }
    *solver = &s->solver;
    return VXS_OK;
}

/* ---- The gap over all voxels ----------------------------------------------------------------- */

/* want = Z'alpha - 2 S La, a as it was before it was rounded: that costs the bound nothing. */
static void scan(vxs_skfs *s)
{
    memset(s->wide, 0, s->n * sizeof(*s->wide));
    for (size_t m = 0; m < s->rows; m++)
        s->wide[s->row[m]] = s->alpha[m] * s->unit;
    vxs_design_scan(s->problem.design, s->wide, 1, s->want);
    for (size_t k = 0; k < s->count; k++) {
        size_t voxel = s->member[k];
        double pull = 2 * s->smooth * s->inside[voxel];
        s->want[voxel] -= pull * s->degree[voxel];
        for (size_t e = s->start[voxel]; e < s->start[voxel + 1] && pull > 0; e++)
            s->want[s->neighbour[e]] += pull * s->edge[e];
    }
}

/* a'La: each edge from both of its ends, so that a neighbour outside counts as well. */
static double roughness(const vxs_skfs *s, const double *weights)
{
    double sum = 0;
    for (size_t k = 0; k < s->count; k++) {
        size_t voxel = s->member[k];
        double a = weights[voxel], around = 0;
        for (size_t e = s->start[voxel]; e < s->start[voxel + 1] && a > 0; e++)
            around += s->edge[e] * weights[s->neighbour[e]];
        sum += a * (s->degree[voxel] * a - around);
    }
    return sum;
}

void vxs_skfs_certify(vxs_skfs *s, double rho, vxs_certificate *c)
{
    scan(s);
    double hinge = 0, sum = 0, total = 0, steepest = 0;
    for (size_t m = 0; m < s->rows; m++)
        s->column[m] = 1;
    for (size_t k = 0; k < s->count; k++) {
        double a = s->a[s->member[k]];
        sum += a;
        for (size_t m = 0; m < s->rows && a > 0; m++)
            s->column[m] -= a * s->z[k * s->rows + m];
    }
    for (size_t m = 0; m < s->rows; m++) {
        hinge += s->u[m] * fmax(0, s->column[m]);
        total += s->alpha[m];
    }
    for (size_t j = 0; j < s->p; j++)
        steepest = fmax(steepest, s->want[j]);
    double shrink = steepest > rho ? rho / steepest : 1;
    c->primal = hinge + rho * sum + s->smooth * roughness(s, s->a);
    c->dual = shrink * total - shrink * shrink * s->smooth * roughness(s, s->inside);
    c->gap = c->primal - c->dual;
}

/* ---- One lambda ------------------------------------------------------------------------------ */

/* The voxels outside that want most, of those that want more than `least`. */
static vxs_status admit(vxs_skfs *s, double least, size_t most, size_t *admitted, vxs_error *err)
{
    vxs_top top;
    vxs_status status = vxs_top_init(&top, most, err);
    for (size_t j = 0; j < s->p && !status; j++)
        if (s->place[j] == VXS_NOWHERE && s->want[j] > least)
            (void)vxs_top_offer(&top, j, s->want[j]);
    *admitted = status ? 0 : top.count;
    for (size_t k = 0; k < *admitted; k++)
        s->order[k] = top.heap[k].unit;
    vxs_top_release(&top);
    return *admitted > 0 ? vxs_skfs_enter(s, *admitted, err) : status;
}

typedef struct {
    double best; /* gap so far */
    int stuck;   /* rounds in which it hardly fell */
} progress;

static bool is_done(const vxs_skfs *s, const vxs_certificate *c, progress *p)
{
    bool falls = c->gap < 0.99 * p->best;
    p->stuck = falls ? 0 : p->stuck + 1;
    p->best = fmin(p->best, c->gap);
    return c->gap <= s->settings.tol || p->stuck > PATIENCE;
}

/* The members' problem, and what its answer is worth over all voxels. */
static vxs_status solve_round(vxs_skfs *s, double rho, double target, vxs_certificate *c,
                              vxs_error *err)
{
    vxs_status status = s->count > 0 ? vxs_skfs_solve(s, rho, target, c, err) : VXS_OK;
    if (!status)
        vxs_skfs_certify(s, rho, c);
    return status;
}

/* When nobody wants to enter, the members' answer is what has to become better. */
static vxs_status look_closer(vxs_skfs *s, double rho, double *target, vxs_certificate *c,
                              vxs_error *err)
{
    vxs_status status = vxs_skfs_polish(s, rho, *target, c, err);
    if (!status)
        vxs_skfs_certify(s, rho, c);
    *target = fmax(fmin(*target, INNER * s->settings.tol) / 4, 1e-15);
    return status;
}

/* Rounds of members and scans until the gap over all voxels is small enough. */
static vxs_status grow(vxs_skfs *s, double rho, vxs_certificate *c, vxs_error *err)
{
    double tol = s->settings.tol, target = fmax(INNER * tol, FIRST);
    size_t admitted = 0;
    progress p = { .best = INFINITY };
    vxs_skfs_leave(s, 2 * rho - s->last_rho);
    vxs_status status = admit(s, fmax(2 * rho - s->last_rho, 0), s->count + LEAST, &admitted, err);
    for (int round = 0; round < ROUNDS && !status; round++) {
        status = solve_round(s, rho, target, c, err);
        if (status || is_done(s, c, &p))
            return status;
        status = admit(s, rho * (1 + EDGE), s->count + LEAST, &admitted, err);
        if (!status && admitted == 0)
            status = look_closer(s, rho, &target, c, err);
        else
            target = fmax(INNER * tol, fmin(FIRST, c->gap / 10));
        if (c->gap <= tol)
            return status;
    }
    return status;
}

static void take_weights(const vxs_skfs *s, double unit, double total, vxs_solution *solution)
{
    vxs_bound *b = solution->bound;
    for (size_t m = 0; m < s->rows; m++)
        b->alpha[s->row[m]] = fmin(s->alpha[m], s->u[m]) * total;
    for (size_t k = 0; k < s->count; k++) {
        size_t voxel = s->member[k];
        b->index[k] = voxel;
        b->weight[k] = s->inside[voxel] * unit;
        if (s->a[voxel] == 0)
            continue;
        solution->index[solution->count] = voxel;
        solution->weight[solution->count++] = s->a[voxel] * unit;
    }
}

static vxs_status take_solution(const vxs_skfs *s, vxs_solution *solution, vxs_error *err)
{
    double total = total_weight(s), margin = s->n > 0 ? s->problem.loss.y[0] : 0;
    solution->index = vxs_alloc(s->count, sizeof(*solution->index), err);
    solution->weight = vxs_alloc(s->count, sizeof(*solution->weight), err);
    solution->free = vxs_alloc(s->problem.covariate_count, sizeof(*solution->free), err);
    solution->bound = vxs_bound_new(s->n, s->count, err);
    if (!solution->index || !solution->weight || !solution->free || !solution->bound) {
        vxs_solution_release(solution);
        return VXS_FAILED;
    }
    take_weights(s, s->lambda_max > 0 ? margin * total / s->lambda_max : 0, total, solution);
    solution->certificate.nonzero = solution->count;
    solution->certificate.primal *= margin * total;
    solution->certificate.dual *= margin * total;
    return VXS_OK;
}

static vxs_status fit(vxs_solver *solver, double lambda, vxs_solution *solution, vxs_error *err)
{
    vxs_skfs *s = (vxs_skfs *)solver;
    *solution = (vxs_solution){ .certificate = { .lambda = lambda,
                                                 .lambda_max = s->lambda_max,
                                                 .smooth = s->smooth,
                                                 .tol = s->settings.tol } };
    vxs_certificate *c = &solution->certificate;
    double rho = s->lambda_max > 0 ? lambda / s->lambda_max : 1;
    c->primal = c->dual = 1; /* of the empty model */
    vxs_status status = VXS_OK;
    if (s->lambda_max > 0)
        status = s->settings.kernels.solver == VXS_SOLVER_DUAL_AVERAGE
                     ? vxs_dual_average(s, rho, c, err)
                     : grow(s, rho, c, err);
    c->converged = vxs_has_converged(c->gap, c->tol);
    s->last_rho = fmin(rho, 1);
    vxs_costs_take(&s->costs, s->problem.design, c);
    return status ? status : take_solution(s, solution, err);
}

static const vxs_accepts *accepts(const vxs_method_settings *settings)
{
    static const vxs_accepts kernels = { .losses = { &vxs_hinge_loss },
                                         .penalties = { &vxs_l1_penalty },
                                         .quadratics = { &vxs_relative_laplacian },
                                         .weights = VXS_NONNEGATIVE };
    (void)settings;
    return &kernels;
}

const vxs_solver_kind vxs_skfs_kind = {
    .accepts = accepts,
    .begin = begin,
    .lambda_max = lambda_max,
    .fit = fit,
    .release = release,
};
