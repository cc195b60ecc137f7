/* skfs.c - structured kernel feature selection (SKFS), to a certified gap over all voxels.
 *
 * Problem   min over a >= 0: sum_m u_m [M - z_m'a]_+ + lambda sum a + lambda2 a'La, Z[m,i] the
 *           kernel score of voxel i; scaled so that the empty model's value and lambda_max are 1:
 *           with U = sum u and c = lambda_max, a = ah M U / c, Z = Zh c / U, lambda = rho c and
 *           lambda2 = S c^2 / (M U)
 * Dual      max sum alpha - S a'La over 0 <= alpha <= u, z_i'alpha - 2 S (La)_i <= rho; alpha and a
 *           scaled by min(1, rho / max_i) are feasible
 * Optimal   z_i'alpha - 2 S (La)_i = rho where a_i > 0
 * Method    working set, as in SAIF: the voxels that violate the constraint most enter; the problem
 *           on the set by hinge_interior.c
 * Stops     the gap over all voxels is below the tolerance; PATIENCE iterations without progress
 * Cost      an iteration: a pass over kernel scores, and the problem on the working set
 * Threads   those of the scan and of BLAS
 * Source    dissertation 4, (4.1); screening for kernels is its future work: spec/skfs.md */
#include "solver/interior_point/skfs.h"
#include "solver/growth.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#define MAX_ITERATIONS 200
#define PATIENCE       6    /* iterations in which the gap falls by less than 1 % */
#define MARGIN         1e-9 /* of rho: rounding */
#define MIN_ADDED      64   /* voxels an iteration adds, besides as many as the set holds */
#define TARGET_SHARE   0.2  /* of the tolerance: target on the working set */
#define FIRST_TARGET   5e-4 /* target of the first iteration, at least */
#define WIDER          1    /* steps in lambda: what the first set has beyond the strong rule */

static const char *const solvers[] = { "interior-point", "dual-averaging", NULL };

const vxs_param vxs_skfs_params[] = {
    VXS_LAMBDA_ROWS,
    VXS_TEXT_ROW("laplacian", "LIST", VXS_AT(path.laplacians),
                 "smoothness: weight of squared differences between neighbors; "
                 "of a list such as 0.1,1,10 folds choose; default 1",
                 .head = VXS_HEAD_HYPER, .usual = true,
                 .more = "lambda2 = X lambda_max^2 / (n sum u), u the weights of subjects."),
    VXS_KERNEL_WIDTH_ROW,
    VXS_CHOICE_ROW("solver", "WAY", VXS_AT(kernels.solver), 0, solvers, "algorithm",
                   .head = VXS_HEAD_RESEARCH),
    VXS_WHOLE_ROW("steps", "N", VXS_AT(kernels.steps), 100000, 1, 1e12, "steps of dual-averaging",
                  .head = VXS_HEAD_RESEARCH),
    VXS_REAL_ROW("averaging-gamma", "G", VXS_AT(kernels.gamma), 100, 1e-9, 1e12,
                 "gamma of dual-averaging; a larger one makes shorter steps",
                 .head = VXS_HEAD_RESEARCH),
    VXS_WHOLE_ROW("sample-seed", "N", VXS_AT(kernels.sample_seed), 1, 0, 1e15,
                  "seed of dual-averaging", .head = VXS_HEAD_RESEARCH),
    { .name = NULL },
};

static void release(vxs_solver *solver)
{
    vxs_skfs *s = (vxs_skfs *)solver;
    void *const all[] = { s->row,         s->u,           s->alpha,    s->by_sample, s->start,
                          s->neighbor,    s->edge,        s->degree,   s->a,         s->interior,
                          s->correlation, s->working_set, s->position, s->z,         s->column,
                          s->order,       s->from,        s->to,       s->weight,    s->set_a,
                          s->slack,       s->set_degree,  s->by_row };
    for (size_t k = 0; k < sizeof(all) / sizeof(all[0]); k++)
        free(all[k]);
    free(s);
}

static double lambda_max(const vxs_solver *solver)
{
    return ((const vxs_skfs *)solver)->lambda_max;
}

/* ---- Initialization -------------------------------------------------------------------------- */

static vxs_status list_neighbors(vxs_skfs *s, vxs_error *err)
{
    const vxs_graph *g = s->problem.quadratic.graph;
    size_t ends = s->laplacian > 0 ? 2 * g->count : 0;
    s->start = vxs_alloc(s->p + 2, sizeof(*s->start), err);
    s->neighbor = vxs_alloc(ends, sizeof(*s->neighbor), err);
    s->edge = vxs_alloc(ends, sizeof(*s->edge), err);
    s->degree = vxs_alloc(s->p, sizeof(*s->degree), err);
    if (!s->start || !s->neighbor || !s->edge || !s->degree)
        return VXS_FAILED;
    for (size_t e = 0; e < ends / 2; e++) {
        s->start[g->from[e] + 2]++;
        s->start[g->to[e] + 2]++;
    }
    for (size_t j = 0; j < s->p; j++)
        s->start[j + 2] += s->start[j + 1];
    for (size_t e = 0; e < ends; e++) {
        size_t node = e % 2 ? g->to[e / 2] : g->from[e / 2];
        size_t other = e % 2 ? g->from[e / 2] : g->to[e / 2];
        size_t at = s->start[node + 1]++;
        s->neighbor[at] = other;
        s->edge[at] = g->weight[e / 2];
        s->degree[node] += g->weight[e / 2];
    }
    return VXS_OK;
}

static vxs_status allocate(vxs_skfs *s, vxs_error *err)
{
    s->row = vxs_alloc(s->n, sizeof(*s->row), err);
    s->u = vxs_alloc(s->n, sizeof(*s->u), err);
    s->alpha = vxs_alloc(s->n, sizeof(*s->alpha), err);
    s->by_sample = vxs_alloc(s->n, sizeof(*s->by_sample), err);
    s->a = vxs_alloc(s->p, sizeof(*s->a), err);
    s->interior = vxs_alloc(s->p, sizeof(*s->interior), err);
    s->correlation = vxs_alloc(s->p, sizeof(*s->correlation), err);
    s->working_set = vxs_alloc(s->p, sizeof(*s->working_set), err);
    s->position = vxs_alloc(s->p, sizeof(*s->position), err);
    s->order = vxs_alloc(s->p, sizeof(*s->order), err);
    s->column = vxs_alloc(s->n, sizeof(*s->column), err);
    bool fine = s->row && s->u && s->alpha && s->by_sample && s->a && s->interior &&
                s->correlation && s->working_set && s->position && s->order && s->column;
    return fine ? list_neighbors(s, err) : VXS_FAILED;
}

static double total_weight(const vxs_skfs *s)
{
    double total = 0;
    for (size_t m = 0; m < s->n; m++)
        total += s->problem.loss.u ? s->problem.loss.u[m] : 1;
    return total;
}

/* At a = 0 every sample is within the margin: alpha = u. A column with a value that is not finite
 * is found by its sum, and reported by measuring. */
static vxs_status fit_empty_model(vxs_skfs *s, vxs_error *err)
{
    double total = total_weight(s);
    for (size_t m = 0; m < s->n; m++) {
        double u = s->problem.loss.u ? s->problem.loss.u[m] : 1;
        s->by_sample[m] = u;
        if (u > 0) {
            s->row[s->rows] = m;
            s->u[s->rows++] = u;
        }
    }
    vxs_design_scan(s->problem.design, s->by_sample, 1, s->correlation);
    for (size_t j = 0; j < s->p; j++) {
        vxs_status status =
            isfinite(s->correlation[j]) ? VXS_OK : vxs_design_measure(s->problem.design, err);
        if (status)
            return status;
        s->lambda_max = fmax(s->lambda_max, s->correlation[j]);
        s->position[j] = VXS_NOT_IN_SET;
    }
    s->scale = s->lambda_max > 0 ? total / s->lambda_max : 0;
    for (size_t m = 0; m < s->rows; m++)
        s->alpha[m] = s->u[m] /= total;
    for (size_t j = 0; j < s->p; j++)
        s->correlation[j] = s->lambda_max > 0 ? s->correlation[j] / s->lambda_max : 0;
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
    s->laplacian = problem->quadratic.graph ? problem->quadratic.weight : 0;
    s->settings = *settings;
    s->n = vxs_design_rows(problem->design);
    s->p = vxs_design_columns(problem->design);
    vxs_status status = allocate(s, err);
    if (!status)
        status = fit_empty_model(s, err);
    if (status) {
        release(&s->solver);
        return status;
    }
    *solver = &s->solver;
    return VXS_OK;
}

/* ---- The duality gap ------------------------------------------------------------------------- */

/* correlation = Z'alpha - 2 S La, with a from the interior-point method: setting small weights to 0
 * leaves the dual value unchanged. */
static void scan(vxs_skfs *s)
{
    memset(s->by_sample, 0, s->n * sizeof(*s->by_sample));
    for (size_t m = 0; m < s->rows; m++)
        s->by_sample[s->row[m]] = s->alpha[m] * s->scale;
    vxs_design_scan(s->problem.design, s->by_sample, 1, s->correlation);
    for (size_t k = 0; k < s->count; k++) {
        size_t voxel = s->working_set[k];
        double laplacian = 2 * s->laplacian * s->interior[voxel];
        s->correlation[voxel] -= laplacian * s->degree[voxel];
        for (size_t e = s->start[voxel]; e < s->start[voxel + 1] && laplacian > 0; e++)
            s->correlation[s->neighbor[e]] += laplacian * s->edge[e];
    }
}

/* a'La over the working set, edges that leave it included. */
static double roughness(const vxs_skfs *s, const double *weights)
{
    double sum = 0;
    for (size_t k = 0; k < s->count; k++) {
        size_t voxel = s->working_set[k];
        double a = weights[voxel], neighbors = 0;
        for (size_t e = s->start[voxel]; e < s->start[voxel + 1] && a > 0; e++)
            neighbors += s->edge[e] * weights[s->neighbor[e]];
        sum += a * (s->degree[voxel] * a - neighbors);
    }
    return sum;
}

void vxs_skfs_certify(vxs_skfs *s, double rho, vxs_certificate *c)
{
    scan(s);
    double hinge = 0, sum = 0, total = 0, max_correlation = 0;
    for (size_t m = 0; m < s->rows; m++)
        s->column[m] = 1;
    for (size_t k = 0; k < s->count; k++) {
        double a = s->a[s->working_set[k]];
        sum += a;
        for (size_t m = 0; m < s->rows && a > 0; m++)
            s->column[m] -= a * s->z[k * s->rows + m];
    }
    for (size_t m = 0; m < s->rows; m++) {
        hinge += s->u[m] * fmax(0, s->column[m]);
        total += s->alpha[m];
    }
    for (size_t j = 0; j < s->p; j++)
        max_correlation = fmax(max_correlation, s->correlation[j]);
    double scale = max_correlation > rho ? rho / max_correlation : 1;
    c->primal = hinge + rho * sum + s->laplacian * roughness(s, s->a);
    c->dual = scale * total - scale * scale * s->laplacian * roughness(s, s->interior);
    c->gap = c->primal - c->dual;
}

/* ---- One lambda ------------------------------------------------------------------------------ */

/* Adds the voxels with the largest correlations above `bound`, at most `max`. */
static vxs_status add_violators(vxs_skfs *s, double bound, size_t max, size_t *added,
                                vxs_error *err)
{
    vxs_top top;
    vxs_status status = vxs_top_init(&top, max, err);
    for (size_t j = 0; j < s->p && !status; j++)
        if (s->position[j] == VXS_NOT_IN_SET && s->correlation[j] > bound)
            (void)vxs_top_offer(&top, j, s->correlation[j]);
    *added = status ? 0 : top.count;
    for (size_t k = 0; k < *added; k++)
        s->order[k] = top.heap[k].index;
    vxs_top_release(&top);
    return *added > 0 ? vxs_skfs_add(s, *added, err) : status;
}

/* One lambda: what its working set grows by. */
typedef struct {
    vxs_skfs *s;
    double rho;
    double target; /* gap on the working set */
    vxs_certificate *certificate;
} skfs_growth;

/* Solves the problem on the working set, then computes the gap over all voxels. */
static vxs_status solve_working_set(vxs_growth *g, vxs_error *err)
{
    const skfs_growth *at = g->of;
    vxs_status status = VXS_OK;
    if (at->s->count > 0)
        status = vxs_skfs_solve(at->s, at->rho, at->target, at->certificate, err);
    if (!status)
        vxs_skfs_certify(at->s, at->rho, at->certificate);
    g->gap = at->certificate->gap;
    return status;
}

static vxs_status grow_working_set(vxs_growth *g, vxs_error *err)
{
    skfs_growth *at = g->of;
    double final = TARGET_SHARE * at->s->settings.tol;
    vxs_status status =
        add_violators(at->s, at->rho * (1 + MARGIN), at->s->count + MIN_ADDED, &g->added, err);
    if (g->added > 0)
        at->target = fmax(final, fmin(FIRST_TARGET, g->gap / 10));
    return status;
}

/* No voxel violates its constraint: polishes, and lowers the target on the working set. */
static vxs_status refine(vxs_growth *g, vxs_error *err)
{
    skfs_growth *at = g->of;
    vxs_status status = vxs_skfs_polish(at->s, at->rho, at->target, at->certificate, err);
    if (!status)
        vxs_skfs_certify(at->s, at->rho, at->certificate);
    g->gap = at->certificate->gap;
    at->target = fmax(fmin(at->target, TARGET_SHARE * at->s->settings.tol) / 4, 1e-15);
    return status;
}

/* The first set comes from the sequential strong rule, made wider: few voxels more take less time
 * than another iteration. If it holds all of them it is likely to be the last one, and worth the
 * final target at once. */
static vxs_status choose_first_set(vxs_skfs *s, double rho, double *target, vxs_error *err)
{
    size_t added = 0, max;
    double bound = rho - (1 + WIDER) * (s->last_rho - rho), final = TARGET_SHARE * s->settings.tol;
    vxs_skfs_remove(s, bound);
    max = s->count + MIN_ADDED;
    vxs_status status = add_violators(s, fmax(bound, 0), max, &added, err);
    *target = bound > 0 && added < max ? final : fmax(final, FIRST_TARGET);
    return status;
}

/* Working-set iterations until the gap is below the tolerance. */
static vxs_status run_iterations(vxs_skfs *s, double rho, vxs_certificate *c, vxs_error *err)
{
    skfs_growth at = { .s = s, .rho = rho, .certificate = c };
    vxs_growth g = { .of = &at,
                     .context = s->context,
                     .target = s->settings.tol,
                     .smaller = 0.99,
                     .most_rounds = MAX_ITERATIONS,
                     .patience = PATIENCE,
                     .solve = solve_working_set,
                     .add = grow_working_set,
                     .refine = refine };
    vxs_status status = choose_first_set(s, rho, &at.target, err);
    return status ? status : vxs_grow(&g, err);
}

static void write_weights(const vxs_skfs *s, double unit, double total, vxs_solution *solution)
{
    vxs_bound *b = solution->bound;
    for (size_t m = 0; m < s->rows; m++)
        b->alpha[s->row[m]] = fmin(s->alpha[m], s->u[m]) * total;
    for (size_t k = 0; k < s->count; k++) {
        size_t voxel = s->working_set[k];
        b->index[k] = voxel;
        b->weight[k] = s->interior[voxel] * unit;
        if (s->a[voxel] == 0)
            continue;
        solution->index[solution->count] = voxel;
        solution->weight[solution->count++] = s->a[voxel] * unit;
    }
}

static vxs_status write_solution(const vxs_skfs *s, vxs_solution *solution, vxs_error *err)
{
    double total = total_weight(s), margin = s->n > 0 ? s->problem.loss.y[0] : 0;
    solution->index = vxs_alloc(s->count, sizeof(*solution->index), err);
    solution->weight = vxs_alloc(s->count, sizeof(*solution->weight), err);
    solution->covariate_coefficients =
        vxs_alloc(s->problem.covariate_count, sizeof(*solution->covariate_coefficients), err);
    solution->bound = vxs_bound_new(s->n, s->count, err);
    if (!solution->index || !solution->weight || !solution->covariate_coefficients ||
        !solution->bound) {
        vxs_solution_release(solution);
        return VXS_FAILED;
    }
    write_weights(s, s->lambda_max > 0 ? margin * total / s->lambda_max : 0, total, solution);
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
                                                 .smooth = s->laplacian,
                                                 .tol = s->settings.tol } };
    vxs_certificate *c = &solution->certificate;
    double rho = s->lambda_max > 0 ? lambda / s->lambda_max : 1;
    c->primal = c->dual = 1; /* of the empty model */
    vxs_status status = VXS_OK;
    if (s->lambda_max > 0)
        status = s->settings.kernels.solver == VXS_SOLVER_DUAL_AVERAGE
                     ? vxs_dual_averaging(s, rho, c, err)
                     : run_iterations(s, rho, c, err);
    c->converged = vxs_has_converged(c->gap, c->tol);
    s->last_rho = fmin(rho, 1);
    vxs_costs_take(&s->costs, s->problem.design, c);
    return status ? status : write_solution(s, solution, err);
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
