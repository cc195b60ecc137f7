/* kernel_sum.c - (sum_g sqrt(w_g'K_g w_g))^2 / 2: half the square of a sum of norms, one in the
 * space of each kernel. */
#include "voxsift/internal/penalty.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

vxs_kernel_sum vxs_kernel_sum_of(vxs_design *kernels)
{
    return (vxs_kernel_sum){ { &vxs_kernel_sum_penalty }, kernels };
}

/* A kernel of samples with themselves below 0 is none. */
static vxs_status check_diagonals(const double *kernels, size_t n, size_t p, vxs_error *err)
{
    for (size_t k = 0; k < p; k++)
        if (!(kernels[k * n + k % n] >= 0))
            return vxs_fail(err, VXS_BAD_DATA,
                            "kernel %zu of sample %zu with itself is %g: it is not positive "
                            "semidefinite",
                            k / n, k % n, kernels[k * n + k % n]);
    return VXS_OK;
}

static vxs_status check(const vxs_penalty *penalty, const vxs_design *design, bool some,
                        vxs_error *err)
{
    size_t n = vxs_design_rows(design), p = vxs_design_columns(design);
    const double *kernels = vxs_gram_matrix(design);
    (void)some;
    if (vxs_as_kernel_sum(penalty)->kernels != design)
        return vxs_fail(err, VXS_MISUSE,
                        "a sum of kernel norms is one of the problem's own design");
    if (!kernels)
        return vxs_fail(err, VXS_MISUSE,
                        "a sum of kernel norms takes kernels of all samples, not %zu x %zu", n, p);
    return check_diagonals(kernels, n, p, err);
}

static double value(const vxs_penalty *penalty, const double *w, size_t p)
{
    vxs_design *kernels = vxs_as_kernel_sum(penalty)->kernels;
    size_t n = vxs_design_rows(kernels);
    const double *k = vxs_gram_matrix(kernels);
    double sum = 0;
    for (size_t first = 0; first < p; first += n) {
        double square = 0;
        for (size_t i = first; i < first + n; i++)
            for (size_t l = first; l < first + n && w[i] != 0; l++)
                square += w[i] * w[l] * k[i * n + l - first];
        sum += sqrt(fmax(0, square));
    }
    return sum * sum / 2;
}

const vxs_penalty_kind vxs_kernel_sum_penalty = { .name = "a sum of kernel norms",
                                                  .check = check,
                                                  .value = value };
