#include "tests/core/check.h"

static vxs_status write_to(const char *path, const vxs_grid *grid, const vxs_write_options *options,
                           const void *values, vxs_error *err)
{
    FILE *stream = fopen(path, "wb");
    vxs_status status = vxs_image_write(stream, path, grid, options, values, err);
    vxs_status closed = vxs_file_close(stream, path, err);
    return status ? status : closed;
}

/* All 48 ways to store a volume, oblique and off center: what is written is read back where it was,
 * by sform and qform alike. */
Test(write, the_grid_survives)
{
    static const int ways[6][3] = { { 0, 1, 2 }, { 0, 2, 1 }, { 1, 0, 2 },
                                    { 1, 2, 0 }, { 2, 0, 1 }, { 2, 1, 0 } };
    char path[512];
    float values[60];
    vxs_error err = VXS_ERROR_INIT;
    work_path(path, "out.nii.gz");
    for (size_t i = 0; i < 60; i++)
        values[i] = (float)i / 7;
    for (int k = 0; k < 48; k++) {
        vxs_grid grid = { .shape = { 3, 4, 5 }, .source = VXS_AFFINE_SFORM, .sform_code = 4 };
        const double turn[3][3] = { { 0.96, -0.28, 0 }, { 0.28, 0.96, 0 }, { 0, 0, 1 } };
        for (int c = 0; c < 3; c++)
            for (int r = 0; r < 3; r++)
                grid.affine[r][c] = turn[r][ways[k / 8][c]] * (k >> c & 1 ? -1 : 1) * (1.5 + c);
        for (int r = 0; r < 3; r++)
            grid.affine[r][3] = 17.3 * r - 40;
        grid.affine[3][3] = 1;
        vxs_write_options options = { .intent_code = 1001,
                                      .intent_name = "weight",
                                      .cal_min = 0.5,
                                      .cal_max = 2,
                                      .descrip = "voxsift test" };
        WORKS(write_to(path, &grid, &options, values, &err), err);
        vxs_image image;
        WORKS(vxs_image_read(path, &image, &err), err);
        cr_assert(vxs_grid_distance(&image.grid, &grid) < 1e-4);
        cr_assert(image.forms_distance <= 0.1, "way %d: sform and qform differ", k);
        cr_assert(image.grid.sform_code == 4 && image.grid.qform_code == 4);
        cr_assert(image.units == 2 && image.slope == 1 && image.cal_max == 2);
        cr_assert_str_eq(image.intent_name, "weight");
        float back[60];
        vxs_image_floats(&image, 0, 60, back);
        cr_assert(memcmp(back, values, sizeof(values)) == 0);
        vxs_image_release(&image);
    }
    unlink(path);
}

Test(write, codes_are_kept_and_nothing_is_made_up)
{
    static const struct {
        vxs_affine_source source;
        int sform, qform, wanted_sform, wanted_qform;
    } rows[] = {
        { VXS_AFFINE_SFORM, 4, 1, 4, 1 }, { VXS_AFFINE_SFORM, 2, 0, 2, 2 },
        { VXS_AFFINE_QFORM, 0, 1, 1, 1 }, { VXS_AFFINE_QFORM, 3, 1, 1, 1 },
        { VXS_AFFINE_NONE, 0, 0, 0, 0 },
    };
    char path[512];
    uint8_t values[8] = { 1, 0, 1, 0, 1, 1, 0, 0 };
    vxs_error err = VXS_ERROR_INIT;
    work_path(path, "codes.nii.gz");
    for (size_t k = 0; k < sizeof(rows) / sizeof(rows[0]); k++) {
        vxs_grid grid = {
            .shape = { 2, 2, 2 },
            .affine = { { 2, 0, 0, 0 }, { 0, 2, 0, 0 }, { 0, 0, 2, 0 }, { 0, 0, 0, 1 } },
            .source = rows[k].source,
            .sform_code = rows[k].sform,
            .qform_code = rows[k].qform
        };
        vxs_write_options options = { .type = VXS_WRITE_UINT8 };
        WORKS(write_to(path, &grid, &options, values, &err), err);
        vxs_image image;
        WORKS(vxs_image_read(path, &image, &err), err);
        cr_assert(image.grid.sform_code == rows[k].wanted_sform, "row %zu", k);
        cr_assert(image.grid.qform_code == rows[k].wanted_qform, "row %zu", k);
        cr_assert(image.datatype == 2 && memcmp(image.stored, values, 8) == 0);
        vxs_image_release(&image);
    }
    unlink(path);
}

Test(write, long_texts_are_cut_and_large_images_come_whole)
{
    char path[512], text[200];
    vxs_error err = VXS_ERROR_INIT;
    vxs_grid grid = { .shape = { 70, 60, 50 },
                      .affine = { { 2, 0, 0, 0 }, { 0, 2, 0, 0 }, { 0, 0, 2, 0 }, { 0, 0, 0, 1 } },
                      .source = VXS_AFFINE_SFORM,
                      .sform_code = 1 };
    size_t voxels = vxs_grid_voxels(&grid) * 2;
    const vxs_random random = { 1, 1 };
    int32_t *values = malloc(voxels * sizeof(*values));
    memset(text, 'x', sizeof(text));
    text[199] = '\0';
    for (size_t i = 0; i < voxels; i++)
        values[i] = (int32_t)vxs_random_bits(&random, i);
    vxs_write_options options = {
        .type = VXS_WRITE_INT32, .volumes = 2, .intent_name = text, .descrip = text
    };
    work_path(path, "large.nii.gz");
    WORKS(write_to(path, &grid, &options, values, &err), err);
    vxs_image image;
    WORKS(vxs_image_read(path, &image, &err), err);
    cr_assert(image.volumes == 2 && image.ndim == 4 && strlen(image.descrip) == 79);
    cr_assert(memcmp(image.stored, values, voxels * sizeof(*values)) == 0);
    vxs_image_release(&image);
    free(values);
    grid.shape[0] = 40000;
    REFUSES(vxs_image_write(stderr, "x", &grid, &options, NULL, &err), err, VXS_FAILED, "32767");
    unlink(path);
}

Test(write, a_full_disk_is_noticed)
{
    vxs_error err = VXS_ERROR_INIT;
    vxs_grid grid = { .shape = { 2, 2, 2 },
                      .source = VXS_AFFINE_NONE,
                      .affine = {
                          { 2, 0, 0, 0 }, { 0, 2, 0, 0 }, { 0, 0, 2, 0 }, { 0, 0, 0, 1 } } };
    float values[8] = { 0 };
    vxs_write_options options = { .volumes = 1 };
    REFUSES(write_to("/dev/full", &grid, &options, values, &err), err, VXS_CANNOT_WRITE,
            "No space");
}
