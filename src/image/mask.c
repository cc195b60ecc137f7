/* mask.c - automatic brain masks. */
#include "voxsift/internal/image.h"

#include <math.h>
#include <stdlib.h>

#define LOW_SHARE  0.02 /* the robust range omits 2 percent at either end */
#define HIGH_SHARE 0.98
#define FRACTION   0.1 /* of the robust range; brain is far above, air far below */

/* The value at position `rank` of the sorted order; permutes the values. Quickselect with the
 * middle as pivot. */
static float value_of_rank(float *values, size_t count, size_t rank)
{
    size_t low = 0, high = count - 1;
    while (low < high) {
        float pivot = values[low + (high - low) / 2];
        size_t i = low, j = high;
        for (;;) {
            while (values[i] < pivot)
                i++;
            while (values[j] > pivot)
                j--;
            if (i >= j)
                break;
            float other = values[i];
            values[i++] = values[j];
            values[j--] = other;
        }
        if (rank <= j)
            high = j;
        else
            low = j + 1;
    }
    return values[low];
}

static vxs_status find_threshold(const vxs_volume *volume, size_t voxels, float *threshold,
                                 vxs_error *err)
{
    size_t count = 0;
    float *finite = vxs_resize(NULL, voxels, sizeof(*finite), err);
    if (!finite)
        return VXS_FAILED;
    for (size_t v = 0; v < voxels; v++)
        if (isfinite(volume->values[v]))
            finite[count++] = volume->values[v];
    *threshold = INFINITY;
    if (count > 0) {
        float low = value_of_rank(finite, count, (size_t)(LOW_SHARE * (double)(count - 1)));
        float high = value_of_rank(finite, count, (size_t)(HIGH_SHARE * (double)(count - 1)));
        if (!(high > low)) { /* less than 2 percent differ: use the whole range */
            low = value_of_rank(finite, count, 0);
            high = value_of_rank(finite, count, count - 1);
        }
        if (high > low)
            *threshold = low + (float)FRACTION * (high - low);
    }
    free(finite);
    return VXS_OK;
}

static void keep_first(const int32_t *labels, size_t voxels, uint8_t *mask)
{
    for (size_t v = 0; v < voxels; v++)
        mask[v] = labels[v] == 1;
}

static bool on_border(size_t v, const size_t shape[3])
{
    size_t at[3] = { v % shape[0], v / shape[0] % shape[1], v / shape[0] / shape[1] };
    for (int d = 0; d < 3; d++)
        if (at[d] == 0 || at[d] + 1 == shape[d])
            return true;
    return false;
}

/* A hole is a component of the background that does not reach the border of the grid. */
static vxs_status fill_holes(uint8_t *mask, const size_t shape[3], size_t voxels, int32_t *labels,
                             vxs_error *err)
{
    size_t count = 0;
    for (size_t v = 0; v < voxels; v++)
        mask[v] = !mask[v];
    vxs_status status = vxs_components(mask, shape, 6, labels, &count, err);
    uint8_t *open = status ? NULL : vxs_alloc(count + 1, 1, err);
    if (!open)
        return VXS_FAILED;
    for (size_t v = 0; v < voxels; v++)
        if (labels[v] && on_border(v, shape))
            open[labels[v]] = 1;
    for (size_t v = 0; v < voxels; v++)
        mask[v] = !(mask[v] && open[labels[v]]);
    free(open);
    return VXS_OK;
}

vxs_status vxs_mask_auto(const vxs_volume *volume, uint8_t *mask, vxs_error *err)
{
    vxs_status status = VXS_GIVEN(err, { "mask", mask });
    if (!status)
        status = vxs_volume_check(volume, err);
    if (status)
        return status;
    const size_t *shape = volume->grid.shape;
    size_t voxels = vxs_grid_voxels(&volume->grid), count = 0;
    float threshold = 0;
    int32_t *labels = vxs_alloc(voxels, sizeof(*labels), err);
    status = labels ? find_threshold(volume, voxels, &threshold, err) : VXS_FAILED;
    if (!status) {
        for (size_t v = 0; v < voxels; v++)
            mask[v] = volume->values[v] > threshold;
        status = vxs_components(mask, shape, 6, labels, &count, err);
    }
    if (!status && count == 0)
        status = vxs_fail(err, VXS_BAD_DATA, "no mask can be computed: the mean image is constant");
    if (!status) {
        keep_first(labels, voxels, mask);
        status = fill_holes(mask, shape, voxels, labels, err);
    }
    free(labels);
    return status;
}
