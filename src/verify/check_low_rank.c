/* check_low_rank.c - that LL' is the kernel of rank r in place of another: K_nm K_mm^-1 K_mn, m its
 * landmarks.
 *
 * If L_m, the rows of L of the landmarks, is triangular with a diagonal above 0, and L L_m' is
 * K_nm, then L = K_nm L_m'^-1 and LL' = K_nm (L_m L_m')^-1 K_mn. Columns of K are those of the
 * subjects; the factor is multiplied out. */
#include "voxsift/internal/verify.h"

#include <math.h>
#include <stdlib.h>

#define ROUNDING 1e-9 /* of the largest kernel value of a sample with itself */

static bool is_triangular(const vxs_low_rank *l)
{
    for (size_t k = 0; k < l->rank; k++) {
        if (l->landmark[k] >= l->n || !(l->factor[k * l->n + l->landmark[k]] > 0))
            return false;
        for (size_t j = 0; j < k; j++)
            if (l->factor[k * l->n + l->landmark[j]] != 0)
                return false;
    }
    return true;
}

/* Whether L times the row of a landmark is its column. */
static bool is_column(const vxs_low_rank *l, size_t landmark, const double *column, double *product,
                      double largest)
{
    bool same = true;
    for (size_t i = 0; i < l->n; i++)
        product[i] = 0;
    for (size_t k = 0; k < l->rank; k++) {
        double by = l->factor[k * l->n + landmark];
        for (size_t i = 0; i < l->n && by != 0; i++)
            product[i] += by * l->factor[k * l->n + i];
    }
    for (size_t i = 0; i < l->n; i++)
        same = same && fabs(product[i] - column[i]) <= ROUNDING * largest; /* false for NaN */
    return same;
}

/* What LL' lacks of each sample's kernel with itself. */
static bool lacks_what_it_says(const vxs_low_rank *l, const double *own, double largest)
{
    double trace = 0, missing = 0, most = 0;
    for (size_t i = 0; i < l->n; i++) {
        double square = 0;
        for (size_t k = 0; k < l->rank; k++)
            square += l->factor[k * l->n + i] * l->factor[k * l->n + i];
        trace += own[i];
        missing += own[i] - square;
        most = fmax(most, own[i] - square);
        if (!(own[i] - square >= -ROUNDING * largest))
            return false;
    }
    return fabs(trace - l->trace) <= ROUNDING * trace &&
           fabs(missing - l->missing) <= ROUNDING * (double)l->n * largest &&
           fabs(most - l->largest) <= ROUNDING * largest;
}

vxs_status vxs_check_low_rank(const vxs_kernel *kernel, const vxs_kernel_rows *rows,
                              const vxs_low_rank *l, vxs_error *err)
{
    double *space = vxs_alloc(3, vxs_times(l->n, sizeof(*space)), err), largest = 0;
    if (!space)
        return VXS_FAILED;
    double *own = space, *column = space + l->n, *product = space + 2 * l->n;
    for (size_t i = 0; i < l->n; i++) {
        own[i] = vxs_kernel_value(kernel, rows->own[i], rows->own[i], rows->own[i]);
        largest = fmax(largest, own[i]);
    }
    bool fine = is_triangular(l) && lacks_what_it_says(l, own, largest);
    for (size_t k = 0; k < l->rank && fine; k++) {
        vxs_kernel_row(kernel, rows, l->landmark[k], column);
        fine = is_column(l, l->landmark[k], column, product, largest);
    }
    free(space);
    return fine ? VXS_OK
                : vxs_fail(err, VXS_BAD_DATA,
                           "the factor of the kernel is not that of its landmarks");
}
