/* region_values.c - the reduced problem of cut pursuit: one value a region, a difference a
 * boundary.
 *
 * Problem   min over region values v and b: sum_i u_i f + lambda sum over boundaries weight
 *           (v_upper - v_lower), v_upper >= v_lower
 * Optimal   gradient 0 on every group of regions that can move without changing the order
 * Method    While the order of adjacent regions is kept the penalty is linear: Newton. The line
 *           search follows the direction past breakpoints, where two regions exchange their order,
 *           to the minimum; if that is at a breakpoint the two regions merge. Wrong merges are
 *           split by sub_regions.c. A ridge on the diagonal handles singular Hessians and leaves
 *           the solution unchanged: there the gradient is 0
 * Stops     PATIENCE steps whose predicted decrease is below a share of the tolerance
 * Cost      a step: n m^2 / 2, m regions and covariates
 * Threads   those of BLAS
 * Source    Landrieu and Obozinski 2017 */
#include "linalg/cholesky.h"
#include "solver/cut_pursuit/cut_pursuit.h"

#include <cblas.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#define MAX_STEPS       5000
#define MAX_SPLITS      10    /* splits of merged regions */
#define PATIENCE        5     /* steps without a merge whose predicted decrease does not halve */
#define NEGLIGIBLE      1e-4  /* of the tolerance: a smaller decrease is no progress */
#define RIDGE           1e-8  /* of the diagonal */
#define MAX_STEP        2     /* step length, at most: beyond is rounding */
#define NEGLIGIBLE_STEP 1e-21 /* of the value: a smaller predicted decrease is rounding */

/* A point on the line where two regions exchange their order, and the increase of the
 * derivative there. */
typedef struct {
    double at, increase;
    size_t class, boundary;
} breakpoint;

struct vxs_region_values {
    size_t columns; /* of all classes */
    double *system; /* columns x columns */
    double *gram;   /* X'UX of the squared loss, in columns of `most` entries; kept over merges */
    size_t most;
    bool has_gram;
    double *scale, *step, *gradient;
    double *weighted;   /* n x columns */
    double *dz, *trial; /* n x classes */
    breakpoint *breakpoints;
    size_t count;
};

void vxs_region_values_free(struct vxs_region_values *l)
{
    if (!l)
        return;
    free(l->system);
    free(l->gram);
    free(l->scale);
    free(l->step);
    free(l->gradient);
    free(l->weighted);
    free(l->dz);
    free(l->trial);
    free(l->breakpoints);
    free(l);
}

static vxs_status allocate(vxs_cut_pursuit *c, vxs_error *err)
{
    size_t m = 0, boundaries = 0, n = c->n;
    for (size_t k = 0; k < c->classes; k++) {
        m += vxs_class_block_columns(c, &c->blocks[k]);
        boundaries += c->blocks[k].boundary_count;
    }
    vxs_region_values_free(c->workspace);
    struct vxs_region_values *l = c->workspace = vxs_alloc(1, sizeof(*l), err);
    if (!l)
        return VXS_FAILED;
    l->columns = l->most = m;
    l->gram = vxs_alloc(c->problem.loss.kind->squared ? m : 0, m * sizeof(*l->gram), err);
    l->system = vxs_alloc(m, m * sizeof(*l->system), err);
    l->scale = vxs_alloc(m, sizeof(*l->scale), err);
    l->step = vxs_alloc(m, sizeof(*l->step), err);
    l->gradient = vxs_alloc(m, sizeof(*l->gradient), err);
    l->weighted = vxs_alloc(m, n * sizeof(*l->weighted), err);
    l->dz = vxs_alloc(n, c->classes * sizeof(*l->dz), err);
    l->trial = vxs_alloc(n, c->classes * sizeof(*l->trial), err);
    l->breakpoints = vxs_alloc(boundaries, sizeof(*l->breakpoints), err);
    return l->gram && l->system && l->scale && l->step && l->gradient && l->weighted && l->dz &&
                   l->trial && l->breakpoints
               ? VXS_OK
               : VXS_FAILED;
}

/* ---- Value and gradient ---------------------------------------------------------------------- */

double vxs_region_values_penalty(const vxs_cut_pursuit *c)
{
    double sum = 0;
    for (size_t k = 0; k < c->classes; k++) {
        const vxs_class_block *s = &c->blocks[k];
        for (size_t b = 0; b < s->boundary_count; b++)
            sum += s->boundaries[b].weight *
                   (s->w[c->q + s->boundaries[b].upper] - s->w[c->q + s->boundaries[b].lower]);
    }
    return sum;
}

static void predict(const vxs_cut_pursuit *c, double *z)
{
    for (size_t k = 0; k < c->classes; k++) {
        const vxs_class_block *s = &c->blocks[k];
        int m = (int)vxs_class_block_columns(c, s);
        memset(z + k * c->n, 0, c->n * sizeof(*z));
        if (m > 0)
            cblas_dgemv(CblasColMajor, CblasNoTrans, (int)c->n, m, 1, s->x, (int)c->n, s->w, 1, 0,
                        z + k * c->n, 1);
    }
}

/* Gradient of the value; that of the reference node's region is 0. */
static void find_gradient(const vxs_cut_pursuit *c, double lambda, double *gradient)
{
    for (size_t k = 0; k < c->classes; k++) {
        const vxs_class_block *s = &c->blocks[k];
        int m = (int)vxs_class_block_columns(c, s);
        if (m > 0)
            cblas_dgemv(CblasColMajor, CblasTrans, (int)c->n, m, 1, s->x, (int)c->n,
                        c->gradient + k * c->n, 1, 0, gradient, 1);
        for (size_t b = 0; b < s->boundary_count; b++) {
            gradient[c->q + s->boundaries[b].upper] += lambda * s->boundaries[b].weight;
            gradient[c->q + s->boundaries[b].lower] -= lambda * s->boundaries[b].weight;
        }
        if (vxs_class_block_has_reference(s))
            gradient[c->q] = 0;
        gradient += m;
    }
}

/* ---- The Newton direction -------------------------------------------------------------------- */

static void scale_rows(const vxs_cut_pursuit *c, const vxs_class_block *s, const double *root,
                       double *to)
{
    for (size_t k = 0; k < vxs_class_block_columns(c, s); k++)
        for (size_t i = 0; i < c->n; i++)
            to[k * c->n + i] = root[i] * s->x[k * c->n + i];
}

static void build_gram(const vxs_cut_pursuit *c, struct vxs_region_values *l)
{
    double *root = l->trial;
    int m = (int)l->columns, most = (int)l->most;
    for (size_t i = 0; i < c->n; i++)
        root[i] = sqrt(c->curvature[i]);
    scale_rows(c, &c->blocks[0], root, l->weighted);
    if (m > 0)
        cblas_dsyrk(CblasColMajor, CblasLower, CblasTrans, m, (int)c->n, 1, l->weighted, (int)c->n,
                    0, l->gram, most);
    for (size_t k = 0; k < l->columns; k++)
        for (size_t i = k + 1; i < l->columns; i++)
            l->gram[i * l->most + k] = l->gram[k * l->most + i];
    l->has_gram = true;
}

/* The sum of columns `keep` and `gone` takes the place of the first, column `last` that of the
 * second. */
static void merge_in_gram(struct vxs_region_values *l, size_t keep, size_t gone, size_t last,
                          bool is_zero)
{
    size_t m = last + 1, most = l->most;
    double *g = l->gram;
    for (size_t i = 0; i < m; i++)
        g[keep * most + i] += g[gone * most + i];
    for (size_t i = 0; i < m; i++)
        g[i * most + keep] += g[i * most + gone];
    for (size_t i = 0; i < m && is_zero; i++)
        g[keep * most + i] = g[i * most + keep] = 0;
    memmove(g + gone * most, g + last * most, m * sizeof(*g));
    for (size_t i = 0; i < m; i++)
        g[i * most + gone] = g[i * most + last];
}

/* The Hessian. One class: X' diag(curvature) X, which merges change little where curvatures stay.
 * Multinomial, curvature holding probabilities: X' diag(u p) X within a class, minus the outer
 * product between classes. */
static void build_hessian(const vxs_cut_pursuit *c, struct vxs_region_values *l)
{
    if (c->problem.loss.kind->squared) { /* of one class */
        if (!l->has_gram)
            build_gram(c, l);
        for (size_t k = 0; k < l->columns; k++)
            memcpy(l->system + k * l->columns, l->gram + k * l->most,
                   l->columns * sizeof(*l->system));
        return;
    }
    int n = (int)c->n, m = (int)l->columns;
    double *root = l->trial;
    size_t at = 0;
    memset(l->system, 0, (size_t)m * (size_t)m * sizeof(*l->system));
    if (c->classes > 1) {
        for (size_t k = 0; k < c->classes; at += vxs_class_block_columns(c, &c->blocks[k++])) {
            for (size_t i = 0; i < c->n; i++)
                root[i] = sqrt(vxs_loss_weight(&c->problem.loss, i)) * c->curvature[k * c->n + i];
            scale_rows(c, &c->blocks[k], root, l->weighted + at * c->n);
        }
        cblas_dsyrk(CblasColMajor, CblasLower, CblasTrans, m, n, -1, l->weighted, n, 0, l->system,
                    m);
    }
    at = 0;
    for (size_t k = 0; k < c->classes; k++) {
        int columns = (int)vxs_class_block_columns(c, &c->blocks[k]);
        for (size_t i = 0; i < c->n; i++) {
            double u = c->classes > 1 ? vxs_loss_weight(&c->problem.loss, i) : 1;
            root[i] = sqrt(u * c->curvature[k * c->n + i]);
        }
        scale_rows(c, &c->blocks[k], root, l->weighted);
        if (columns > 0)
            cblas_dsyrk(CblasColMajor, CblasLower, CblasTrans, columns, n, 1, l->weighted, n, 1,
                        l->system + at * (size_t)m + at, m);
        at += (size_t)columns;
    }
}

/* The multinomial loss is invariant to a common change of all classes: fixes covariates and one
 * region a component in the first class. The diagonal is scaled to 1. */
static void fix_first_class(const vxs_cut_pursuit *c, struct vxs_region_values *l)
{
    size_t m = l->columns;
    const uint32_t *region = c->blocks[0].sub_regions.region;
    for (size_t k = 0; k < c->q; k++)
        l->system[k * m + k] += 1;
    for (size_t k = 0; k < c->p && !vxs_class_block_has_reference(&c->blocks[0]); k++)
        if (c->component[k] == k) { /* first node of a component */
            size_t fixed = c->q + region[c->blocks[0].region[k]];
            l->system[fixed * m + fixed] += 1;
        }
}

/* step = -H^-1 gradient, with H scaled to a diagonal of 1. */
static void find_step(const vxs_cut_pursuit *c, struct vxs_region_values *l)
{
    size_t m = l->columns;
    bool positive = false;
    double ridge = RIDGE;
    for (; !positive && ridge < 1; ridge *= 100) {
        build_hessian(c, l);
        for (size_t k = 0; k < m; k++) {
            double square = l->system[k * m + k];
            l->scale[k] = square > 0 ? 1 / sqrt(square) : 1;
        }
        for (size_t k = 0; k < m; k++) {
            for (size_t i = k; i < m; i++)
                l->system[k * m + i] *= l->scale[k] * l->scale[i];
            l->system[k * m + k] = 1 + ridge;
        }
        if (c->classes > 1)
            fix_first_class(c, l);
        positive = vxs_cholesky(l->system, m);
    }
    for (size_t k = 0; k < m; k++)
        l->step[k] = -l->scale[k] * l->gradient[k];
    if (positive)
        vxs_cholesky_solve(l->system, m, l->step, 1);
    for (size_t k = 0; k < m; k++)
        l->step[k] *= l->scale[k];
}

/* ---- Line search ----------------------------------------------------------------------------- */

static int by_position(const void *a, const void *b)
{
    const breakpoint *first = a, *second = b;
    if (first->at != second->at)
        return first->at > second->at ? 1 : -1;
    if (first->class != second->class)
        return first->class > second->class ? 1 : -1;
    return (first->boundary > second->boundary) - (first->boundary < second->boundary);
}

static void list_breakpoints(const vxs_cut_pursuit *c, struct vxs_region_values *l, double lambda)
{
    const double *step = l->step;
    l->count = 0;
    for (size_t k = 0; k < c->classes; step += vxs_class_block_columns(c, &c->blocks[k++])) {
        const vxs_class_block *s = &c->blocks[k];
        for (size_t b = 0; b < s->boundary_count; b++) {
            const vxs_boundary *e = &s->boundaries[b];
            double difference = s->w[c->q + e->upper] - s->w[c->q + e->lower];
            double approach = step[c->q + e->lower] - step[c->q + e->upper];
            if (approach > 0)
                l->breakpoints[l->count++] =
                    (breakpoint){ difference > 0 ? difference / approach : 0,
                                  2 * lambda * e->weight * approach, k, b };
        }
    }
    qsort(l->breakpoints, l->count, sizeof(*l->breakpoints), by_position);
}

static void find_dz(const vxs_cut_pursuit *c, struct vxs_region_values *l)
{
    const double *step = l->step;
    for (size_t k = 0; k < c->classes; k++) {
        const vxs_class_block *s = &c->blocks[k];
        int m = (int)vxs_class_block_columns(c, s);
        cblas_dgemv(CblasColMajor, CblasNoTrans, (int)c->n, m, 1, s->x, (int)c->n, step, 1, 0,
                    l->dz + k * c->n, 1);
        step += m;
    }
}

/* Derivative of the loss along the direction. */
static double derivative_at(const vxs_cut_pursuit *c, struct vxs_region_values *l, double t)
{
    int size = (int)(c->n * c->classes);
    double *gradient = c->curvature; /* work space here */
    cblas_dcopy(size, c->z, 1, l->trial, 1);
    cblas_daxpy(size, t, l->dz, 1, l->trial, 1);
    vxs_loss_gradient(&c->problem.loss, l->trial, gradient);
    return cblas_ddot(size, gradient, 1, l->dz, 1);
}

/* The t in [from, to], `to` possibly infinite, where the increasing derivative equals `target`. */
static double find_root(const vxs_cut_pursuit *c, struct vxs_region_values *l, double from,
                        double to, double target)
{
    double low = from, high = to;
    if (c->problem.loss.kind->squared) {
        double at = derivative_at(c, l, from), increase = derivative_at(c, l, from + 1) - at;
        double length = increase > 0 ? from + (target - at) / increase : to;
        return fmin(fmax(length, from), to);
    }
    for (high = fmin(high, from + 1); high < to && derivative_at(c, l, high) < target;) {
        low = high;
        high = fmin(to, from + 4 * (high - from));
        if (high > 1e15)
            return low;
    }
    for (int k = 0; k < 100 && high - low > 1e-15 * high; k++) { /* few are needed */
        double below = derivative_at(c, l, low) - target,
               above = derivative_at(c, l, high) - target;
        double middle = low + (high - low) * (below / (below - above)), width = high - low;
        if (k % 3 == 2 || !(middle > low && middle < high))
            middle = low + width / 2;
        double value = derivative_at(c, l, middle) - target;
        if (fabs(value) <= 1e-13 * (fabs(below) + fabs(above)))
            return middle;
        if (value < 0)
            low = middle;
        else
            high = middle;
    }
    return low;
}

/* The minimizer along the direction; `stop` is the breakpoint it is at, or count. The derivative of
 * the penalty increases at breakpoints only. */
static double line_search(const vxs_cut_pursuit *c, struct vxs_region_values *l, double gradient,
                          size_t *stop)
{
    double penalty = gradient - derivative_at(c, l, 0); /* with all breakpoints before `low`
                                                         * passed */
    size_t low = 0, high = l->count;
    while (low < high) { /* bisection: the first breakpoint after which the derivative
                          * is not negative */
        size_t middle = low + (high - low) / 2;
        double derivative = penalty;
        for (size_t k = low; k <= middle; k++)
            derivative += l->breakpoints[k].increase;
        if (derivative_at(c, l, l->breakpoints[middle].at) + derivative < 0) {
            penalty = derivative;
            low = middle + 1;
        } else
            high = middle;
    }
    double from = low > 0 ? l->breakpoints[low - 1].at : 0;
    double to = low < l->count ? l->breakpoints[low].at : INFINITY;
    *stop = low;
    if (low < l->count && derivative_at(c, l, to) + penalty < 0)
        return to;
    *stop = l->count;
    return find_root(c, l, from, to, -penalty);
}

/* ---- Steps ----------------------------------------------------------------------------------- */

static void flip_boundaries(vxs_cut_pursuit *c, const struct vxs_region_values *l, double length,
                            size_t stop)
{
    for (size_t k = 0; k < l->count && l->breakpoints[k].at <= length; k++) {
        vxs_boundary *e =
            &c->blocks[l->breakpoints[k].class].boundaries[l->breakpoints[k].boundary];
        vxs_boundary flipped = { e->lower, e->upper, e->weight };
        if (k < stop)
            *e = flipped;
    }
}

/* Renames regions after a merge: the last one takes the number of the removed one. */
static uint32_t renumber_region(uint32_t region, uint32_t keep, uint32_t gone, uint32_t last)
{
    if (region == gone)
        return keep;
    return region == last ? gone : region;
}

/* Merges the two regions of a boundary under the smaller number, which the reference node's
 * keeps. */
static void merge(const vxs_cut_pursuit *c, vxs_class_block *s, size_t boundary)
{
    size_t n = c->n, q = c->q, count = 0;
    uint32_t upper = s->boundaries[boundary].upper, lower = s->boundaries[boundary].lower;
    uint32_t keep = upper < lower ? upper : lower, gone = upper < lower ? lower : upper;
    uint32_t last = (uint32_t)s->count - 1;
    double *x = s->x + q * n;
    bool is_zero = vxs_class_block_has_reference(s) && keep == 0;
    if (!is_zero)
        cblas_daxpy((int)n, 1, x + gone * n, 1, x + keep * n, 1);
    vxs_class_block_zero_rounding(c, x + keep * n);
    if (c->workspace->has_gram)
        merge_in_gram(c->workspace, q + keep, q + gone, q + last,
                      is_zero || cblas_dasum((int)n, x + keep * n, 1) == 0);
    memmove(x + gone * n, x + last * n, n * sizeof(*x));
    s->w[q + gone] = s->w[q + last];
    s->count--;
    for (size_t k = 0; k < s->sub_regions.count; k++)
        s->sub_regions.region[k] = renumber_region(s->sub_regions.region[k], keep, gone, last);
    for (size_t b = 0; b < s->boundary_count; b++) {
        vxs_boundary e = s->boundaries[b];
        e.upper = renumber_region(e.upper, keep, gone, last);
        e.lower = renumber_region(e.lower, keep, gone, last);
        if (e.upper != e.lower)
            s->boundaries[count++] = e;
    }
    s->boundary_count = count;
}

static void take_step(vxs_cut_pursuit *c, const struct vxs_region_values *l, double length)
{
    const double *step = l->step;
    for (size_t k = 0; k < c->classes; k++) {
        int m = (int)vxs_class_block_columns(c, &c->blocks[k]);
        cblas_daxpy(m, length, step, 1, c->blocks[k].w, 1);
        if (vxs_class_block_has_reference(&c->blocks[k]))
            c->blocks[k].w[c->q] = 0;
        step += m;
    }
}

static void evaluate(vxs_cut_pursuit *c)
{
    predict(c, c->z);
    vxs_loss_gradient(&c->problem.loss, c->z, c->gradient);
}

/* One Newton step; returns the predicted decrease, 0 if it is rounding. */
static double newton_step(vxs_cut_pursuit *c, double lambda)
{
    struct vxs_region_values *l = c->workspace;
    size_t stop;
    l->columns = 0;
    for (size_t k = 0; k < c->classes; k++)
        l->columns += vxs_class_block_columns(c, &c->blocks[k]);
    find_gradient(c, lambda, l->gradient);
    vxs_loss_curvature(&c->problem.loss, c->z, c->curvature);
    find_step(c, l);
    double gradient = cblas_ddot((int)l->columns, l->gradient, 1, l->step, 1);
    if (!(gradient < -NEGLIGIBLE_STEP * c->zero))
        return 0;
    find_dz(c, l);
    list_breakpoints(c, l, lambda);
    double length = line_search(c, l, gradient, &stop);
    if (length > MAX_STEP) {
        length = MAX_STEP;
        stop = l->count;
    }
    take_step(c, l, length);
    flip_boundaries(c, l, length, stop);
    if (stop < l->count) {
        const breakpoint *at = &l->breakpoints[stop];
        vxs_class_block *s = &c->blocks[at->class];
        double *upper = &s->w[c->q + s->boundaries[at->boundary].upper];
        double *lower = &s->w[c->q + s->boundaries[at->boundary].lower];
        bool reference =
            vxs_class_block_has_reference(s) && (upper == s->w + c->q || lower == s->w + c->q);
        *upper = *lower = reference ? 0 : (*upper + *lower) / 2;
        merge(c, s, at->boundary);
    }
    evaluate(c);
    return -gradient;
}

static size_t count_regions(const vxs_cut_pursuit *c)
{
    size_t sum = 0;
    for (size_t k = 0; k < c->classes; k++)
        sum += c->blocks[k].count;
    return sum;
}

/* Newton steps until they no longer decrease the value. */
static vxs_status solve_newton(vxs_cut_pursuit *c, double lambda, vxs_error *err)
{
    double last = INFINITY, value = c->empty > 0 ? c->empty : c->zero;
    double negligible = NEGLIGIBLE * c->settings.tol * value;
    vxs_status status = VXS_OK;
    for (int step = 0, no_progress = 0; step < MAX_STEPS && no_progress < PATIENCE && !status;
         step++) {
        size_t regions = count_regions(c);
        status = vxs_check_interrupted(c->context, err);
        double decrease = status ? 0 : newton_step(c, lambda);
        if (decrease == 0)
            break;
        bool better = count_regions(c) < regions || decrease > negligible || decrease < last / 2;
        no_progress = better ? 0 : no_progress + 1;
        last = decrease;
    }
    return status;
}

/* Alternates Newton steps and splits of merged regions. */
vxs_status vxs_region_values_solve(vxs_cut_pursuit *c, double lambda, vxs_error *err)
{
    vxs_status status = allocate(c, err);
    for (size_t k = 0; k < c->classes && !status; k++)
        status = vxs_sub_regions_init(c, &c->blocks[k], err);
    if (!status)
        evaluate(c);
    for (int splits = 0; splits < MAX_SPLITS && !status; splits++) {
        double excess = 0;
        status = solve_newton(c, lambda, err);
        for (size_t k = 0; k < c->classes && !status; k++)
            excess += vxs_sub_regions_split(c, &c->blocks[k], lambda, c->negligible_cut / lambda);
        if (excess == 0)
            break;
        c->workspace->has_gram = false;
    }
    for (size_t k = 0; k < c->classes && !status; k++)
        vxs_sub_regions_finish(&c->blocks[k]);
    return status;
}
