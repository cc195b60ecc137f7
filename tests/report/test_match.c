#include "tests/core/check.h"
#include "tests/core/faults.h"

#include <stdlib.h>
#include <unistd.h>

static char path[3][512], directory[512];

/* Images of 6 x 5 x 4 voxels; two on one grid, one on coarser voxels, of labels. */
static void write_images(void)
{
    static const char *const names[] = { "map.nii.gz", "other.nii.gz", "labels.nii.gz" };
    const vxs_random random = { 8, 3 };
    float values[120];
    for (uint64_t k = 0; k < 3; k++) {
        double size = k == 2 ? 3 : 2;
        vxs_error err = VXS_ERROR_INIT;
        vxs_grid grid = {
            .shape = { 6, 5, 4 },
            .affine = { { size, 0, 0, 1 }, { 0, size, 0, 2 }, { 0, 0, size, 3 }, { 0, 0, 0, 1 } },
            .source = VXS_AFFINE_SFORM,
            .sform_code = 1
        };
        for (size_t v = 0; v < 120; v++) {
            double value = vxs_random_normal(&random, 120 * k + v);
            values[v] = k == 2 ? (float)(v / 40) : value > 0 ? (float)value : 0;
        }
        work_path(path[k], names[k]);
        FILE *stream = fopen(path[k], "wb");
        vxs_write_options options = { .intent_code = 0 };
        WORKS(vxs_image_write(stream, path[k], &grid, &options, values, &err), err);
        WORKS(vxs_file_close(stream, path[k], &err), err);
    }
}

static vxs_status match_with(int other, bool resample, vxs_error *err)
{
    vxs_match match;
    const vxs_context context = { .nthreads = 1 };
    const vxs_match_settings settings = {
        .truth_threshold = NAN, .connectivity = 2, .tolerance = 2, .resample = resample
    };
    vxs_status status = vxs_match_maps(&context, &settings, path[0], path[other], &match, err);
    if (!status) {
        status = vxs_match_save(&context, &match, directory, true, err);
        vxs_match_release(&match);
    }
    return status;
}

static vxs_status on_one_grid(vxs_error *err)
{
    return match_with(1, false, err);
}

static vxs_status resampled(vxs_error *err)
{
    return match_with(2, true, err);
}

Test(match, runs_out_of_memory_cleanly)
{
    write_images();
    work_path(directory, "matched");
    cr_assert(fail_each_request(on_one_grid) > 30);
    cr_assert(fail_each_request(resampled) > 30);
    char command[1024];
    snprintf(command, sizeof(command), "rm -rf '%s'", directory);
    cr_assert_eq(system(command), 0);
    for (size_t k = 0; k < 3; k++)
        cr_assert_eq(unlink(path[k]), 0);
}
