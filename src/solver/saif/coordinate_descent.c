/* coordinate_descent.c - coordinate descent: each weight in turn goes to its best value, or, for
 * the logistic loss, to that of a parabola that lies above. It needs no Gram matrix. */
#include "solver/saif/working_set.h"

#include <cblas.h>
#include <math.h>

/* The curvature along column k, or what it cannot exceed. */
static double curvature_along(const vxs_active *a, size_t k)
{
    const double *x = a->x + k * a->n;
    double sum = 0;
    for (size_t i = 0; i < a->n; i++)
        sum += vxs_loss_weight(&a->problem->loss, i) / a->problem->loss.kind->gamma * x[i] * x[i];
    return sum + (k >= a->q ? a->problem->ridge : 0);
}

static double best_weight(const vxs_active *a, size_t k, double slope, double lambda)
{
    double aim = a->w[k] - slope / a->square[k], reach = lambda / a->square[k];
    if (k < a->q)
        return aim;
    if (a->problem->nonnegative)
        return fmax(0, aim - reach);
    return aim > reach ? aim - reach : aim < -reach ? aim + reach : 0;
}

static void follow(vxs_active *a, size_t k, double change)
{
    cblas_daxpy((int)a->n, change, a->x + k * a->n, 1, a->z, 1);
    for (size_t i = 0; i < a->n; i++)
        a->slope[i] = vxs_loss_weight(&a->problem->loss, i) *
                      a->loss->gradient(a->z[i], a->problem->loss.y[i]);
}

void vxs_active_descend(vxs_active *a, double lambda, int rounds)
{
    size_t m = a->q + a->count;
    for (size_t k = 0; k < m; k++)
        a->square[k] = curvature_along(a, k);
    for (int round = 0; round < rounds; round++)
        for (size_t k = 0; k < m; k++) {
            if (vxs_check_interrupted(a->context, NULL))
                return; /* the caller polls too */
            if (!(a->square[k] > 0))
                continue;
            double slope = cblas_ddot((int)a->n, a->x + k * a->n, 1, a->slope, 1);
            slope += k >= a->q ? a->problem->ridge * a->w[k] : 0;
            double next = best_weight(a, k, slope, lambda), change = next - a->w[k];
            a->w[k] = next;
            if (change != 0)
                follow(a, k, change);
        }
}
