/* coordinate_descent.c - cyclic coordinate descent on the working set: each weight goes to the
 * minimum of a quadratic upper bound (exact for the squared loss). Needs no Gram matrix. */
#include "solver/saif/working_set.h"

#include <cblas.h>
#include <math.h>

/* Second derivative along column k, or its upper bound. */
static double curvature_along(const vxs_working_set *a, size_t k)
{
    const double *x = a->x + k * a->n;
    double sum = 0;
    for (size_t i = 0; i < a->n; i++)
        sum += vxs_loss_weight(&a->problem->loss, i) / a->problem->loss.kind->gamma * x[i] * x[i];
    if (k < a->q)
        return sum;
    return sum + a->ridge + vxs_laplacian_diagonal(&a->laplacian, a->set[k - a->q]);
}

static double best_weight(const vxs_working_set *a, size_t k, double slope, double lambda)
{
    double aim = a->w[k] - slope / a->square[k], reach = lambda / a->square[k];
    if (k < a->q)
        return aim;
    if (a->problem->nonnegative)
        return fmax(0, aim - reach);
    return aim > reach ? aim - reach : aim < -reach ? aim + reach : 0;
}

/* Gradient of ridge and Laplacian at a weight of the set; `wide` holds all weights. */
static double quadratic_gradient(const vxs_working_set *a, size_t k)
{
    const vxs_laplacian_matrix *l = &a->laplacian;
    double sum = a->ridge * a->w[k];
    if (l->p == 0)
        return sum;
    size_t j = a->set[k - a->q];
    sum += l->degree[j] * a->w[k];
    for (size_t e = l->starts[j]; e < l->starts[j + 1]; e++)
        sum -= l->weight[e] * l->wide[l->other[e]];
    return sum;
}

/* Writes the weights of the set to `wide`, or resets it to 0. */
static void spread(const vxs_working_set *a, bool in)
{
    for (size_t k = 0; k < a->count && a->laplacian.p > 0; k++)
        a->laplacian.wide[a->set[k]] = in ? a->w[a->q + k] : 0;
}

static void follow(vxs_working_set *a, size_t k, double change)
{
    cblas_daxpy((int)a->n, change, a->x + k * a->n, 1, a->z, 1);
    for (size_t i = 0; i < a->n; i++)
        a->loss_gradient[i] =
            vxs_loss_weight(&a->problem->loss, i) *
            a->loss->gradient(a->z[i], a->problem->loss.y[i], a->problem->loss.threshold);
}

static bool descend_once(vxs_working_set *a, double lambda)
{
    for (size_t k = 0; k < a->q + a->count; k++) {
        if (vxs_check_interrupted(a->context, NULL))
            return false; /* the caller checks for interruption, too */
        if (!(a->square[k] > 0))
            continue;
        double slope = cblas_ddot((int)a->n, a->x + k * a->n, 1, a->loss_gradient, 1);
        slope += k >= a->q ? quadratic_gradient(a, k) : 0;
        double next = best_weight(a, k, slope, lambda), change = next - a->w[k];
        a->w[k] = next;
        if (k >= a->q && a->laplacian.p > 0)
            a->laplacian.wide[a->set[k - a->q]] = next;
        if (change != 0)
            follow(a, k, change);
    }
    return true;
}

void vxs_working_set_descend(vxs_working_set *a, double lambda, int iterations)
{
    for (size_t k = 0; k < a->q + a->count; k++)
        a->square[k] = curvature_along(a, k);
    spread(a, true);
    for (int round = 0; round < iterations && descend_once(a, lambda); round++)
        continue;
    spread(a, false);
}
