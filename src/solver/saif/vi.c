/* vi.c - screening by a variational inequality: a dome that contains the dual optimum of any lambda
 * above, at or below that of the point it is made of, which need not be optimal.
 *
 * Problem   squared loss or squared hinge, with weights u, covariates, ridge, Laplacian and w >= 0.
 *           Theta* is the projection of u y / lambda onto the feasible set, which does not depend
 *           on lambda, in the metric sum a_i b_i / u_i. Ridge and Laplacian are rows with target 0,
 *           entries -root(ridge) w / lambda of theta
 * Ball      (theta* - theta0)'(theta* - y / lambda) <= 0 for any feasible theta0: a diameter from
 *           theta0 to y / lambda
 * Cut       (y - lambda theta)'theta* <= |w|_1 for theta = -f'/lambda at any w whose covariates are
 *           at their best; what rounding or projection moved theta by is added. Without weights the
 *           constraint of the steepest column
 * Bound     in closed form, from products that earlier scans gave; all vectors without their
 *           component along the covariates
 * Cost      n q + p; no column is read, except for norms at the start
 * Source    Zhao, Liu and Cox 2014, in the form of spec/svm-screening.md: safe for solutions that
 *           are not exact, and at lambda_max */
#include "solver/saif/vi.h"
#include "solver/solver.h"

#include <cblas.h>
#include <float.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#define BLOCK    64
#define SHORTER  0.95  /* norms are computed if the columns of a sample are that much shorter */
#define ROUNDING 1e-13 /* relative: the first scan's point is the target */
#define SLACK    4     /* of n roundings */

/* ---- The dome -------------------------------------------------------------------------------- */

void vxs_dome_init(vxs_dome *d, double radius, double distance, double rounding)
{
    double cut = distance + rounding;
    d->radius = radius;
    d->cut = cut < radius ? fmax(cut, -radius) : radius; /* none if it is NaN */
}

double vxs_dome_bound(const vxs_dome *d, double center, double normal, double norm)
{
    double r = d->radius, along = fmax(-norm, fmin(norm, normal));
    if (r * along <= d->cut * norm)
        return center + r * norm;
    double edge = sqrt(fmax(0, (r - d->cut) * (r + d->cut)));
    return center + d->cut * along + edge * sqrt(fmax(0, (norm - along) * (norm + along)));
}

/* ---- Products of the columns ----------------------------------------------------------------- */

void vxs_vi_release(vxs_vi *v)
{
    vxs_weighted_covariates_release(&v->covariates);
    free(v->target);
    free(v->target_products);
    free(v->norms);
    free(v->steepest_products);
    *v = (vxs_vi){ .n = 0 };
}

/* root(u) x without the covariates. */
static void take_covariates_out(const vxs_vi *v, double *x)
{
    for (size_t i = 0; i < v->n; i++)
        x[i] *= v->covariates.root[i];
    for (int twice = 0; twice < 2; twice++)
        vxs_weighted_covariates_project(&v->covariates, x);
}

/* s = X' root(u) x for a vector without the covariates. */
static void scan(const vxs_vi *v, const vxs_working_set *a, const double *x, double *s)
{
    for (size_t i = 0; i < v->n; i++)
        v->spare[i] = v->covariates.root[i] * x[i];
    vxs_design_scan(a->problem->design, v->spare, 1, s);
}

/* Norms without the covariates of every `step`-th column, and their mean share of the bound that
 * they have otherwise. */
static vxs_status measure(vxs_vi *v, const vxs_working_set *a, double most, size_t step,
                          double *share, vxs_error *err)
{
    const double *norms = vxs_design_norms(a->problem->design);
    double *block = vxs_alloc(v->n, BLOCK * sizeof(*block), err);
    size_t set[BLOCK], counted = 0;
    double sum = 0;
    if (!block)
        return VXS_FAILED;
    for (size_t first = 0; first < v->p; first += BLOCK * step) {
        size_t count = 0;
        for (size_t j = first; count < BLOCK && j < v->p; j += step)
            set[count++] = j;
        vxs_design_fetch(a->problem->design, set, count, block);
        for (size_t k = 0; k < count; k++) {
            take_covariates_out(v, block + k * v->n);
            double norm = cblas_dnrm2((int)v->n, block + k * v->n, 1);
            v->norms[set[k]] = norm;
            sum += norms[set[k]] > 0 ? norm / (most * norms[set[k]]) : 0;
            counted += norms[set[k]] > 0;
        }
    }
    *share = counted > 0 ? sum / (double)counted : 1;
    free(block);
    return VXS_OK;
}

/* |x_j| bounds the norm; all columns are read if it is much larger in a sample. */
static vxs_status find_norms(vxs_vi *v, const vxs_working_set *a, vxs_error *err)
{
    const double *norms = vxs_design_norms(a->problem->design);
    double heaviest = 0, share = 1;
    for (size_t i = 0; i < v->n; i++)
        heaviest = fmax(heaviest, v->covariates.root[i]);
    bool known = a->q == 0 && !a->problem->loss.u;
    size_t step = (v->p + BLOCK - 1) / BLOCK;
    vxs_status status = known ? VXS_OK : measure(v, a, heaviest, step, &share, err);
    bool shorter = share < SHORTER;
    if (!status && shorter && step > 1)
        status = measure(v, a, heaviest, 1, &share, err);
    for (size_t j = 0; j < v->p; j++) {
        double norm = shorter ? v->norms[j] : heaviest * norms[j];
        double more = a->ridge + vxs_laplacian_diagonal(&a->laplacian, j);
        v->norms[j] = more > 0 ? sqrt(norm * norm + more) : norm;
    }
    return status;
}

/* X'target: the first scan's, unless covariates carry subjects of the empty model over the
 * margin. */
static void find_products(vxs_vi *v, const vxs_working_set *a, const double *empty,
                          const double *first)
{
    double moved = 0;
    for (size_t i = 0; i < v->n; i++)
        v->spare[i] = v->covariates.root[i] * v->target[i];
    for (size_t i = 0; i < v->n; i++)
        moved = fmax(moved, fabs(v->spare[i] - empty[i]));
    if (moved <= ROUNDING * cblas_dnrm2((int)v->n, v->spare, 1))
        memcpy(v->target_products, first, v->p * sizeof(*first));
    else
        scan(v, a, v->target, v->target_products);
}

vxs_status vxs_vi_init(vxs_vi *v, const vxs_working_set *a, const double *empty,
                       const double *first, vxs_error *err)
{
    size_t n = a->n, p = vxs_design_columns(a->problem->design);
    *v = (vxs_vi){ .n = n, .p = p };
    v->target = vxs_alloc(5 * n, sizeof(*v->target), err);
    v->target_products = vxs_alloc(p, sizeof(*v->target_products), err);
    v->norms = vxs_alloc(p, sizeof(*v->norms), err);
    v->steepest_products = vxs_alloc(p, sizeof(*v->steepest_products), err);
    vxs_status status = v->target && v->target_products && v->norms && v->steepest_products
                            ? vxs_weighted_covariates_init(&v->covariates, n, a->q, err)
                            : VXS_FAILED;
    if (!status) {
        v->steepest = v->target + n;
        v->center = v->target + 2 * n;
        v->normal = v->target + 3 * n;
        v->spare = v->target + 4 * n;
        for (size_t i = 0; i < n; i++)
            v->spare[i] = vxs_loss_weight(&a->problem->loss, i);
        vxs_weighted_covariates_set(&v->covariates, a->x, v->spare);
        memcpy(v->target, a->problem->loss.y, n * sizeof(*v->target));
        take_covariates_out(v, v->target);
        find_products(v, a, empty, first);
        status = find_norms(v, a, err);
    }
    if (status)
        vxs_vi_release(v);
    return status;
}

void vxs_vi_set_steepest(vxs_vi *v, const vxs_working_set *a, size_t j, double sign)
{
    const vxs_laplacian_matrix *l = &a->laplacian;
    double own = a->ridge + vxs_laplacian_diagonal(l, j);
    vxs_design_fetch(a->problem->design, &j, 1, v->steepest);
    take_covariates_out(v, v->steepest);
    cblas_dscal((int)v->n, sign, v->steepest, 1);
    scan(v, a, v->steepest, v->steepest_products);
    v->steepest_square = cblas_ddot((int)v->n, v->steepest, 1, v->steepest, 1) + own;
    v->steepest_products[j] += sign * own;
    for (size_t e = l->p > 0 ? l->starts[j] : 0; l->p > 0 && e < l->starts[j + 1]; e++)
        v->steepest_products[l->other[e]] -= sign * l->weight[e];
    v->has_steepest = true;
}

/* ---- The region ------------------------------------------------------------------------------ */

/* True if the point is in the domain of the dual, so that a multiple of it is feasible. */
static bool is_inside(const vxs_vi_point *at)
{
    const vxs_working_set *a = at->set;
    bool inside = true;
    for (size_t i = 0; i < a->n && inside; i++) {
        double u = vxs_loss_weight(&a->problem->loss, i);
        inside =
            u > 0 ? isfinite(a->loss->conjugate(-at->lambda * at->theta[i] / u,
                                                a->problem->loss.y[i], a->problem->loss.threshold))
                  : at->theta[i] == 0;
    }
    return inside;
}

/* What the sum of sizes |w|_1 has to be raised by, relative to the length of theta*: the distance
 * from -f' to lambda theta. */
static double moved_by(const vxs_vi *v, const vxs_vi_point *at)
{
    for (size_t i = 0; i < v->n; i++) {
        double root = v->covariates.root[i];
        double moved = at->set->loss_gradient[i] + at->lambda * at->theta[i];
        v->spare[i] = root > 0 ? moved / root : 0;
    }
    vxs_weighted_covariates_project(&v->covariates, v->spare);
    return cblas_dnrm2((int)v->n, v->spare, 1);
}

/* Sum of |a_i b_i|, of which rounding is a share. */
static double size_of_product(const double *a, const double *b, size_t n)
{
    double sum = 0;
    for (size_t i = 0; i < n; i++)
        sum += fabs(a[i] * b[i]);
    return sum;
}

void vxs_vi_region_init(vxs_vi *v, const vxs_vi_point *at, double lambda, vxs_vi_region *region)
{
    const vxs_working_set *a = at->set;
    int n = (int)v->n;
    double size = cblas_dasum((int)a->count, a->w + a->q, 1), along = 0, square = 0;
    double quadratic = vxs_working_set_quadratic(a) / (at->lambda * at->lambda);
    for (size_t i = 0; i < v->n; i++) { /* theta in the metric of the target */
        double root = v->covariates.root[i];
        v->spare[i] = root > 0 ? at->theta[i] / root : 0;
        along += v->target[i] / lambda * v->spare[i];
        square += v->spare[i] * v->spare[i];
    }
    double scale = square + quadratic > 0 ? along / (square + quadratic) : 0;
    scale = is_inside(at) ? fmax(0, fmin(at->limit, scale)) : 0;
    double radius = 0;
    for (size_t i = 0; i < v->n; i++) {
        double other = v->target[i] / lambda - scale * v->spare[i];
        v->center[i] = (scale * v->spare[i] + v->target[i] / lambda) / 2;
        v->normal[i] = v->target[i] - at->lambda * v->spare[i];
        radius += other * other / 4;
    }
    radius = sqrt(radius + scale * scale * quadratic / 4);
    *region = (vxs_vi_region){ .dome = { radius, radius },
                               .theta_share = scale / 2,
                               .target_share = 1 / (2 * lambda),
                               .nonnegative = a->problem->nonnegative };
    if (size == 0 && !v->has_steepest)
        return;
    const double *normal = size > 0 ? v->normal : v->steepest;
    double reach = size > 0 ? size : 1; /* of the half-space */
    double length =
        size > 0 ? sqrt(cblas_ddot(n, normal, 1, normal, 1) + quadratic * at->lambda * at->lambda)
                 : sqrt(v->steepest_square);
    if (!(length > 0))
        return;
    double product = cblas_ddot(n, normal, 1, v->center, 1);
    double rounding = SLACK * (double)v->n * DBL_EPSILON *
                      (reach + size_of_product(normal, v->center, v->n)) / length;
    if (size > 0) {
        product -= scale * quadratic * at->lambda / 2;
        reach += moved_by(v, at) * (cblas_dnrm2(n, v->center, 1) + radius);
        region->normal_target = 1 / length;
        region->normal_theta = -at->lambda / length;
    } else {
        region->normal_steepest = 1 / length;
    }
    vxs_dome_init(&region->dome, radius, (reach - product) / length, rounding);
}

double vxs_vi_bound(const vxs_vi *v, const vxs_vi_region *r, size_t j, double correlation)
{
    double target = v->target_products[j], norm = v->norms[j];
    double center = r->theta_share * correlation + r->target_share * target;
    double normal = r->normal_theta * correlation + r->normal_target * target +
                    r->normal_steepest * (r->normal_steepest != 0 ? v->steepest_products[j] : 0);
    double most = vxs_dome_bound(&r->dome, center, normal, norm);
    return r->nonnegative ? most : fmax(most, vxs_dome_bound(&r->dome, -center, -normal, norm));
}
