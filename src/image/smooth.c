/* smooth.c - Gaussian smoothing within a mask.
 *
 * The kernel is separable: three passes of lines. Dividing the smoothed values by the smoothed mask
 * makes every result a weighted mean of values inside, which preserves constants. */
#include "voxsift/internal/image.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#define REACH 4.0 /* standard deviations; the omitted tails have total weight 6e-5 */

static const double fwhm_per_sd = 2.3548200450309493; /* 2 sqrt(2 ln 2) */

typedef struct {
    double *weights; /* for distances 0 ... radius */
    size_t radius;
    double *line; /* copy of the line being replaced */
} kernel;

static void kernel_release(kernel *k)
{
    free(k->line);
    free(k->weights);
}

static vxs_status kernel_init(kernel *k, double sd, size_t length, vxs_error *err)
{
    double reach = ceil(REACH * sd);
    k->radius = reach < (double)length ? (size_t)reach : length;
    k->weights = vxs_alloc(k->radius + 1, sizeof(double), err);
    k->line = vxs_alloc(length, sizeof(double), err);
    if (!k->weights || !k->line)
        return VXS_FAILED;
    for (size_t d = 0; d <= k->radius; d++)
        k->weights[d] = sd > 0 ? exp(-0.5 * (double)(d * d) / (sd * sd)) : d == 0;
    return VXS_OK;
}

static void smooth_line(const kernel *k, double *values, size_t length, size_t stride)
{
    for (size_t i = 0; i < length; i++)
        k->line[i] = values[i * stride];
    for (size_t i = 0; i < length; i++) {
        size_t first = i > k->radius ? i - k->radius : 0;
        size_t last = i + k->radius < length ? i + k->radius : length - 1;
        double sum = 0;
        for (size_t j = first; j <= last; j++)
            sum += k->weights[j > i ? j - i : i - j] * k->line[j];
        values[i * stride] = sum;
    }
}

static vxs_status smooth_axis(double *values, const size_t shape[3], int axis, double sd,
                              vxs_error *err)
{
    kernel k = { .weights = NULL };
    size_t stride = axis == 0 ? 1 : axis == 1 ? shape[0] : shape[0] * shape[1];
    size_t length = shape[axis], total = shape[0] * shape[1] * shape[2];
    vxs_status status = kernel_init(&k, sd, length, err);
    for (size_t start = 0; start < total && !status; start += stride * length)
        for (size_t offset = 0; offset < stride; offset++)
            smooth_line(&k, values + start + offset, length, stride);
    kernel_release(&k);
    return status;
}

vxs_status vxs_volume_smooth(vxs_volume *volume, double fwhm, const uint8_t *mask, vxs_error *err)
{
    vxs_status status = vxs_volume_check(volume, err);
    if (!status)
        status = vxs_number_check("the full width at half maximum", fwhm, 0, false, err);
    if (status)
        return status;
    size_t voxels = vxs_grid_voxels(&volume->grid);
    double size[3];
    double *values = vxs_alloc(voxels, sizeof(double), err);
    double *inside = vxs_alloc(voxels, sizeof(double), err);
    status = values && inside ? VXS_OK : VXS_FAILED;
    vxs_grid_voxel_size(&volume->grid, size);
    for (size_t v = 0; v < voxels && !status; v++) {
        inside[v] = !mask || mask[v];
        values[v] = inside[v] != 0 ? (double)volume->values[v] : 0;
    }
    for (int axis = 0; axis < 3 && !status; axis++) {
        double sd = fwhm / fwhm_per_sd / size[axis];
        status = smooth_axis(values, volume->grid.shape, axis, sd, err);
        if (!status)
            status = smooth_axis(inside, volume->grid.shape, axis, sd, err);
    }
    for (size_t v = 0; v < voxels && !status; v++)
        volume->values[v] = !mask || mask[v] ? (float)(values[v] / inside[v]) : 0;
    free(inside);
    free(values);
    return status;
}
