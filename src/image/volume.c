/* volume.c - one image in memory, as floats. */
#include "voxsift/image.h"

#include <math.h>
#include <stdlib.h>

vxs_status vxs_volume_new(const vxs_grid *grid, vxs_volume *volume, vxs_error *err)
{
    volume->grid = *grid;
    volume->values = vxs_alloc(vxs_grid_voxels(grid), sizeof(float), err);
    return volume->values ? VXS_OK : VXS_FAILED;
}

vxs_status vxs_volume_of_image(const vxs_image *image, size_t number, vxs_volume *volume,
                               vxs_error *err)
{
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
    free(volume->values);
    *volume = (vxs_volume){ .values = NULL };
}

/* The outer faces of the field of view stay, so the centres move by half the difference in size. */
void vxs_grid_with_voxel_size(const vxs_grid *grid, double size, vxs_grid *result)
{
    double old[3], shift[3];
    *result = *grid;
    vxs_grid_voxel_size(grid, old);
    for (int c = 0; c < 3; c++) {
        double extent = old[c] * (double)grid->shape[c];
        double count = ceil(extent / size - 1e-6);
        double factor = size / old[c];
        result->shape[c] = count < 1 ? 1 : (size_t)count;
        /* what the last voxel sticks out is shared by both ends */
        double out = ((double)result->shape[c] * factor - (double)grid->shape[c]) / 2;
        shift[c] = -0.5 - out + factor / 2;
        for (int r = 0; r < 3; r++)
            result->affine[r][c] = grid->affine[r][c] * factor;
    }
    double origin[3];
    vxs_grid_position(grid, shift, origin);
    for (int r = 0; r < 3; r++)
        result->affine[r][3] = origin[r];
}
