/* kernel_norm.c - w'Kw / 2: half the squared norm of sum_i w_i k(x_i, .) in the space of the
 * kernel. */
#include "voxsift/internal/penalty.h"

#include <math.h>
#include <stdlib.h>

vxs_kernel_norm vxs_kernel_norm_of(vxs_design *kernel)
{
    return (vxs_kernel_norm){ { &vxs_kernel_norm_penalty }, kernel };
}

static vxs_status check(const vxs_penalty *penalty, const vxs_design *design, bool some,
                        vxs_error *err)
{
    size_t n = vxs_design_rows(design), p = vxs_design_columns(design);
    (void)some;
    if (vxs_as_kernel_norm(penalty)->kernel != design)
        return vxs_fail(err, VXS_MISUSE, "a kernel norm is one of the problem's own design");
    return n == p ? VXS_OK
                  : vxs_fail(err, VXS_MISUSE,
                             "a kernel norm takes a matrix of all samples, not %zu x %zu", n, p);
}

static double value(const vxs_penalty *penalty, const double *w, size_t p)
{
    double *product = vxs_alloc(p, sizeof(*product), NULL), sum = 0;
    if (!product)
        return NAN;
    vxs_design_scan(vxs_as_kernel_norm(penalty)->kernel, w, 1, product);
    for (size_t j = 0; j < p; j++)
        sum += w[j] * product[j] / 2;
    free(product);
    return sum;
}

const vxs_penalty_kind vxs_kernel_norm_penalty = { .name = "a kernel norm",
                                                   .check = check,
                                                   .value = value };
