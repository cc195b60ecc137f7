/* volume.c - volumes in memory, as floats. */
#include "voxsift/internal/image.h"

#include <math.h>
#include <stdlib.h>

vxs_status vxs_volume_new(const vxs_grid *grid, vxs_volume *volume, vxs_error *err)
{
    vxs_status status = VXS_GIVEN(err, { "grid", grid }, { "volume", volume });
    if (!status)
        status = vxs_grid_check(grid, "a volume", err);
    if (status) {
        if (volume)
            *volume = (vxs_volume){ .values = NULL };
        return status;
    }
    volume->grid = *grid;
    volume->values = vxs_alloc(vxs_grid_voxels(grid), sizeof(float), err);
    return volume->values ? VXS_OK : VXS_FAILED;
}

vxs_status vxs_volume_check(const vxs_volume *volume, vxs_error *err)
{
    vxs_status status = VXS_GIVEN(err, { "volume", volume });
    if (!status)
        status = VXS_GIVEN(err, { "volume->values", volume->values });
    return status ? status : vxs_grid_check(&volume->grid, "a volume", err);
}

vxs_status vxs_volume_from_image(const vxs_image *image, size_t number, vxs_volume *volume,
                                 vxs_error *err)
{
    if (volume)
        *volume = (vxs_volume){ .values = NULL };
    vxs_status status = VXS_GIVEN(err, { "image", image }, { "volume", volume });
    if (!status)
        status = VXS_GIVEN(err, { "image->stored", image->stored });
    if (!status)
        status = vxs_index_check("volume", number, image->volumes, err);
    if (status)
        return status;
    size_t voxels = vxs_grid_voxels(&image->grid);
    volume->grid = image->grid;
    volume->values = vxs_resize(NULL, voxels, sizeof(float), err); /* every value is set below */
    if (!volume->values)
        return VXS_FAILED;
    vxs_image_floats(image, number * voxels, voxels, volume->values);
    return VXS_OK;
}

void vxs_volume_release(vxs_volume *volume)
{
    if (!volume)
        return;
    free(volume->values);
    *volume = (vxs_volume){ .values = NULL };
}

/* Keeps the center of the field of view, so the first voxel center moves by half the difference in
 * size. */
vxs_status vxs_grid_with_voxel_size(const vxs_grid *grid, double size, vxs_grid *result,
                                    vxs_error *err)
{
    double old[3], shift[3], count[3], voxels = 1;
    vxs_grid_voxel_size(grid, old);
    for (int c = 0; c < 3; c++) {
        count[c] = fmax(1, ceil(old[c] * (double)grid->shape[c] / size - 1e-6));
        voxels *= count[c];
    }
    if (!(size > 0 && voxels <= VXS_MAX_VOXELS)) /* before conversion to integers */
        return vxs_fail(err, VXS_MISUSE,
                        "voxels of %g mm make a grid of %.0f x %.0f x %.0f from one of %zu x %zu x "
                        "%zu; the maximum is %d voxels",
                        size, count[0], count[1], count[2], grid->shape[0], grid->shape[1],
                        grid->shape[2], VXS_MAX_VOXELS);
    *result = *grid;
    for (int c = 0; c < 3; c++) {
        double factor = size / old[c];
        result->shape[c] = (size_t)count[c];
        /* the excess of the last voxel is split between both ends */
        double out = ((double)result->shape[c] * factor - (double)grid->shape[c]) / 2;
        shift[c] = -0.5 - out + factor / 2;
        for (int r = 0; r < 3; r++)
            result->affine[r][c] = grid->affine[r][c] * factor;
    }
    double origin[3];
    vxs_grid_position(grid, shift, origin);
    for (int r = 0; r < 3; r++)
        result->affine[r][3] = origin[r];
    return vxs_grid_check(result, "voxels of this size are impossible", err);
}
