/* Grids, images and volumes that are none. */
#include "tests/core/check.h"

#define NULL_IS(name) "argument '" name "' is NULL"

static vxs_grid unit_grid(size_t x, size_t y, size_t z)
{
    return (
        vxs_grid){ .shape = { x, y, z },
                   .affine = { { 1, 0, 0, 0 }, { 0, 1, 0, 0 }, { 0, 0, 1, 0 }, { 0, 0, 0, 1 } } };
}

/* Grids that no image has. */
enum { EMPTY, VAST, WRAPPING, FLAT, NOT_A_NUMBER, GRIDS };
static vxs_grid bad_grid(int k)
{
    static const size_t vast = (size_t)1 << 22;
    vxs_grid grid = unit_grid(4, 3, 2);
    if (k == EMPTY)
        grid.shape[1] = 0;
    if (k == VAST)
        grid.shape[0] = grid.shape[1] = grid.shape[2] = vast;
    if (k == WRAPPING)
        grid.shape[0] = grid.shape[1] = (size_t)1 << 32;
    if (k == FLAT)
        grid.affine[2][2] = 0;
    if (k == NOT_A_NUMBER)
        grid.affine[1][3] = NAN;
    return grid;
}

Test(arguments_image, of_grids)
{
    const vxs_grid grid = unit_grid(4, 3, 2), empty = bad_grid(EMPTY), vast = bad_grid(VAST);
    double at[3] = { 0, 0, 0 };
    const double origin[3] = { 0, 0, 0 };
    cr_assert(vxs_grid_voxels(NULL) == 0 && vxs_grid_voxels(&vast) == SIZE_MAX);
    vxs_grid_position(NULL, origin, at);
    cr_assert(isnan(at[0]) && isnan(at[2]));
    vxs_grid_position(&grid, NULL, at);
    vxs_grid_position(&grid, origin, NULL);
    cr_assert(isnan(at[1]));
    vxs_grid_index(&grid, 23, at);
    cr_assert(at[0] == 3 && at[1] == 2 && at[2] == 1);
    vxs_grid_index(&grid, 24, at);
    cr_assert(isnan(at[0]) && isnan(at[1]) && isnan(at[2]));
    vxs_grid_index(&empty, 0, at);
    vxs_grid_index(NULL, 0, at);
    vxs_grid_index(&grid, 0, NULL);
    cr_assert(isnan(at[0]));
    vxs_grid_voxel_size(NULL, at);
    vxs_grid_voxel_size(&grid, NULL);
    cr_assert(isnan(at[0]));
}

Test(arguments_image, of_images_and_new_volumes)
{
    vxs_error err = VXS_ERROR_INIT;
    vxs_image image, none = { .format = NULL };
    const char stored[24] = { 0 };
    vxs_volume volume;
    const vxs_grid grid = unit_grid(4, 3, 2);
    const vxs_image whole = {
        .grid = grid, .volumes = 1, .datatype = 2, .slope = 1, .stored = stored, .item_size = 1
    };
    REFUSES(vxs_image_read(NULL, &image, &err), err, VXS_MISUSE, NULL_IS("path"));
    vxs_image_release(&image); /* emptied by the call that failed */
    REFUSES(vxs_image_read("x.nii", NULL, &err), err, VXS_MISUSE, NULL_IS("image"));
    vxs_image_release(NULL);
    REFUSES(vxs_volume_new(NULL, &volume, &err), err, VXS_MISUSE, NULL_IS("grid"));
    vxs_volume_release(&volume);
    REFUSES(vxs_volume_new(&grid, NULL, &err), err, VXS_MISUSE, NULL_IS("volume"));
    for (int k = 0; k < GRIDS; k++) {
        const vxs_grid bad = bad_grid(k);
        REFUSES(vxs_volume_new(&bad, &volume, &err), err, VXS_BAD_DATA, "a volume: its ");
        vxs_volume_release(&volume);
    }
    REFUSES(vxs_volume_from_image(NULL, 0, &volume, &err), err, VXS_MISUSE, NULL_IS("image"));
    vxs_volume_release(&volume);
    REFUSES(vxs_volume_from_image(&whole, 0, NULL, &err), err, VXS_MISUSE, NULL_IS("volume"));
    REFUSES(vxs_volume_from_image(&none, 0, &volume, &err), err, VXS_MISUSE,
            NULL_IS("image->stored"));
    REFUSES(vxs_volume_from_image(&whole, 1, &volume, &err), err, VXS_MISUSE,
            "there is no volume number 1 of 1");
    REFUSES(vxs_volume_from_image(&whole, SIZE_MAX, &volume, &err), err, VXS_MISUSE, "no volume");
    WORKS(vxs_volume_from_image(&whole, 0, &volume, &err), err);
    vxs_volume_release(&volume);
    vxs_volume_release(NULL);
}

Test(arguments_image, of_what_is_done_to_volumes)
{
    static const double bad[] = { NAN, INFINITY, -INFINITY, -1 };
    vxs_error err = VXS_ERROR_INIT;
    vxs_volume volume, out;
    const vxs_volume none = { .values = NULL };
    const vxs_grid grid = unit_grid(4, 3, 2);
    uint8_t mask[24];
    WORKS(vxs_volume_new(&grid, &volume, &err), err);
    vxs_volume flat = volume;
    flat.grid = bad_grid(FLAT);
    REFUSES(vxs_volume_resample(NULL, &grid, VXS_LINEAR, &out, &err), err, VXS_MISUSE,
            NULL_IS("volume"));
    vxs_volume_release(&out);
    REFUSES(vxs_volume_resample(&none, &grid, VXS_LINEAR, &out, &err), err, VXS_MISUSE,
            NULL_IS("volume->values"));
    REFUSES(vxs_volume_resample(&volume, NULL, VXS_LINEAR, &out, &err), err, VXS_MISUSE,
            NULL_IS("grid"));
    REFUSES(vxs_volume_resample(&volume, &grid, VXS_LINEAR, NULL, &err), err, VXS_MISUSE,
            NULL_IS("result"));
    REFUSES(vxs_volume_resample(&volume, &grid, VXS_LINEAR, &volume, &err), err, VXS_MISUSE,
            "into itself");
    REFUSES(vxs_volume_resample(&volume, &grid, (vxs_interpolation)9, &out, &err), err, VXS_MISUSE,
            "there is no interpolation number 9");
    for (int k = 0; k < GRIDS; k++) {
        const vxs_grid target = bad_grid(k);
        REFUSES(vxs_volume_resample(&volume, &target, VXS_LINEAR, &out, &err), err, VXS_BAD_DATA,
                "a volume: its ");
        vxs_volume_release(&out);
    }
    REFUSES(vxs_volume_smooth(NULL, 1, NULL, &err), err, VXS_MISUSE, NULL_IS("volume"));
    REFUSES(vxs_volume_smooth(&flat, 1, NULL, &err), err, VXS_BAD_DATA, "singular");
    for (size_t k = 0; k < sizeof(bad) / sizeof(bad[0]); k++)
        REFUSES(vxs_volume_smooth(&volume, bad[k], NULL, &err), err, VXS_MISUSE,
                "the full width at half maximum must be a finite number of at least 0, not ");
    WORKS(vxs_volume_smooth(&volume, 0, NULL, &err), err);
    WORKS(vxs_volume_smooth(&volume, 1e100, NULL, &err), err);
    REFUSES(vxs_mask_auto(NULL, mask, &err), err, VXS_MISUSE, NULL_IS("volume"));
    REFUSES(vxs_mask_auto(&volume, NULL, &err), err, VXS_MISUSE, NULL_IS("mask"));
    vxs_volume_release(&volume);
}

Test(arguments_image, of_writing)
{
    vxs_error err = VXS_ERROR_INIT;
    char *bytes = NULL;
    size_t length = 0;
    FILE *stream = open_memstream(&bytes, &length);
    const vxs_grid grid = unit_grid(4, 3, 2);
    const vxs_write_options plain = { .type = VXS_WRITE_UINT8 };
    const vxs_write_options odd = { .type = (vxs_write_type)7 }, code = { .intent_code = 70000 };
    const uint8_t values[24] = { 0 };
    REFUSES(vxs_image_write(NULL, "x", &grid, &plain, values, &err), err, VXS_MISUSE,
            NULL_IS("stream"));
    REFUSES(vxs_image_write(stream, NULL, &grid, &plain, values, &err), err, VXS_MISUSE,
            NULL_IS("name"));
    REFUSES(vxs_image_write(stream, "x", NULL, &plain, values, &err), err, VXS_MISUSE,
            NULL_IS("grid"));
    REFUSES(vxs_image_write(stream, "x", &grid, NULL, values, &err), err, VXS_MISUSE,
            NULL_IS("options"));
    REFUSES(vxs_image_write(stream, "x", &grid, &plain, NULL, &err), err, VXS_MISUSE,
            NULL_IS("values"));
    REFUSES(vxs_image_write(stream, "x", &grid, &odd, values, &err), err, VXS_MISUSE,
            "there is no type of voxels number 7");
    REFUSES(vxs_image_write(stream, "x", &grid, &code, values, &err), err, VXS_MISUSE,
            "NIfTI-1 has no code 70000");
    for (int k = 0; k < GRIDS; k++) {
        const vxs_grid bad = bad_grid(k);
        REFUSES(vxs_image_write(stream, "x", &bad, &plain, values, &err), err,
                k == VAST || k == WRAPPING ? VXS_FAILED : VXS_BAD_DATA, "x");
    }
    cr_assert(fclose(stream) == 0 && length == 0);
    free(bytes);
}
