/* fuzz_nifti.c - an image that is accepted can be looked at everywhere. */
#include "tests/fuzz/fuzz.h"

#include "voxsift/internal/image.h"

#include <math.h>

int fuzz_nifti(const uint8_t *bytes, size_t size)
{
    vxs_error err = VXS_ERROR_INIT;
    vxs_image image;
    vxs_image_summary summary;
    char text[VXS_ORIENTATION_TEXT];
    double inverse[4][4];
    if (vxs_image_parse((const char *)bytes, size, "fuzz", &image, &err)) {
        REFUSED_WELL(err);
        HOLDS(!image.stored && !image.owned);
        return 0;
    }
    HOLDS(vxs_grid_check(&image.grid, "fuzz", NULL) == VXS_OK);
    vxs_image_summarize(&image, &summary);
    size_t total = vxs_grid_voxels(&image.grid) * image.volumes;
    HOLDS(summary.nonfinite <= total);
    HOLDS(summary.nonfinite == total || summary.min <= summary.max);
    HOLDS(vxs_grid_inverse(&image.grid, inverse));
    HOLDS(vxs_grid_orientation_text(&image.grid, text)[0]);
    HOLDS(vxs_grid_distance(&image.grid, &image.grid) == 0);
    float last = 0;
    double value = 0;
    vxs_image_floats(&image, total - 1, 1, &last);
    vxs_image_values(&image, total - 1, 1, &value);
    HOLDS(last == (float)value || isnan(value));
    vxs_image_release(&image);
    return 0;
}

FUZZER(fuzz_nifti)
