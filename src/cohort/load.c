/* load.c - reads one subject's image on the cohort's grid, and makes it ready. */
#include "cohort/build.h"

#include <float.h>
#include <math.h>
#include <string.h>

#define LEAST_SHARE 1e-6F /* of a voxel: what rounding of positions does not reach */

static size_t count_nonfinite(const float *values, size_t count)
{
    size_t finite = 0;
#pragma omp simd reduction(+ : finite)
    for (size_t v = 0; v < count; v++)
        finite += fabsf(values[v]) <= FLT_MAX; /* false for NaN */
    return count - finite;
}

static void clear_nonfinite(float *values, size_t count)
{
    for (size_t v = 0; v < count; v++)
        if (!isfinite(values[v]))
            values[v] = 0;
}

/* How much of each voxel of the cohort's grid gaps of the source contribute. */
static vxs_status gaps_of(const vxs_build *build, const vxs_volume *source, vxs_volume *share,
                          vxs_error *err)
{
    vxs_volume gaps = { .values = NULL };
    vxs_status status = vxs_volume_new(&source->grid, &gaps, err);
    for (size_t v = 0; v < vxs_grid_voxels(&source->grid) && !status; v++)
        gaps.values[v] = isfinite(source->values[v]) ? 0 : 1;
    if (!status)
        status = vxs_volume_resample(&gaps, &build->grid, VXS_LINEAR, share, err);
    vxs_volume_release(&gaps);
    return status;
}

/* Gaps are 0 while values are resampled, since NaN would spread over neighbors. */
static vxs_status resample_volume(const vxs_build *build, vxs_subject *subject, vxs_volume *source,
                                  vxs_volume *result, vxs_error *err)
{
    size_t count = vxs_grid_voxels(&source->grid);
    vxs_volume share = { .values = NULL };
    vxs_status status = VXS_OK;
    subject->nonfinite = count_nonfinite(source->values, count);
    if (subject->nonfinite > 0 && build->settings->nan == VXS_NAN_DROP)
        status = gaps_of(build, source, &share, err);
    clear_nonfinite(source->values, count);
    if (!status)
        status = vxs_volume_resample(source, &build->grid, VXS_LINEAR, result, err);
    for (size_t v = 0; v < vxs_grid_voxels(&build->grid) && share.values && !status; v++)
        if (share.values[v] > LEAST_SHARE)
            result->values[v] = NAN;
    vxs_volume_release(&share);
    return status;
}

/* The result is an image of floats. */
static vxs_status resample(const vxs_build *build, vxs_subject *subject, vxs_image *image,
                           size_t number, vxs_packed *packed, vxs_error *err)
{
    vxs_volume volume, result = { .values = NULL };
    vxs_status status = vxs_volume_from_image(image, number, &volume, err);
    if (status)
        return status;
    status = resample_volume(build, subject, &volume, &result, err);
    vxs_volume_release(&volume);
    if (status) {
        vxs_volume_release(&result);
        return status;
    }
    vxs_image floats = { .grid = build->grid,
                         .volumes = 1,
                         .datatype = 16,
                         .item_size = 4,
                         .slope = 1,
                         .stored = (const char *)result.values };
    status = vxs_image_pack(&floats, 0, packed, err);
    vxs_volume_release(&result);
    return status;
}

vxs_status vxs_build_load(const vxs_build *build, vxs_subject *subject, vxs_packed *packed,
                          vxs_error *err)
{
    vxs_image image = build->shared;
    vxs_status status = VXS_OK;
    if (!build->is_shared)
        status = subject->hash[0]
                     ? vxs_image_read(subject->path, &image, err)
                     : vxs_image_read_hashed(subject->path, &image, subject->hash, err);
    if (status)
        return status;
    status = subject->other_grid ? resample(build, subject, &image, subject->volume, packed, err)
                                 : vxs_image_pack(&image, subject->volume, packed, err);
    if (!build->is_shared)
        vxs_image_release(&image);
    return status;
}

/* Mean and standard deviation over the voxels inside, in two passes. */
static void moments(const float *values, const uint8_t *inside, size_t voxels, double *mean,
                    double *sd)
{
    double sum = 0, squares = 0;
    size_t count = 0;
    for (size_t v = 0; v < voxels; v++) {
        if (!inside[v])
            continue;
        sum += (double)values[v];
        count++;
    }
    *mean = sum / (double)count;
    for (size_t v = 0; v < voxels; v++)
        if (inside[v])
            squares += ((double)values[v] - *mean) * ((double)values[v] - *mean);
    *sd = sqrt(squares / (double)(count > 1 ? count - 1 : 1));
}

vxs_status vxs_find_image_scale(int scale, const float *values, const uint8_t *inside,
                                size_t voxels, const char *path, double *shift, double *factor,
                                vxs_error *err)
{
    double mean = 0, sd = 0;
    *shift = 0;
    *factor = 1;
    if (scale == VXS_SCALE_NONE)
        return VXS_OK;
    moments(values, inside, voxels, &mean, &sd);
    double divisor = scale == VXS_SCALE_Z ? sd : mean;
    if (!isfinite(divisor) || divisor == 0)
        return vxs_fail(err, VXS_BAD_DATA, "cannot scale '%s': its %s in the %s is %g", path,
                        scale == VXS_SCALE_Z ? "standard deviation" : "mean",
                        scale == VXS_SCALE_SUVR ? "reference region" : "mask", divisor);
    *shift = scale == VXS_SCALE_Z ? mean : 0;
    *factor = 1 / divisor;
    return VXS_OK;
}

vxs_status vxs_build_scale(const vxs_build *build, vxs_subject *subject, vxs_volume *volume,
                           vxs_error *err)
{
    int scale = build->settings->scale;
    size_t voxels = vxs_grid_voxels(&build->grid);
    float *values = volume->values;
    vxs_status status =
        vxs_find_image_scale(scale, values,
                             scale == VXS_SCALE_SUVR ? build->reference : build->mask, voxels,
                             subject->path, &subject->shift, &subject->factor, err);
    for (size_t v = 0; v < voxels && !status; v++)
        values[v] = (float)(((double)values[v] - subject->shift) * subject->factor);
    return status;
}

vxs_status vxs_build_prepare(const vxs_build *build, vxs_subject *subject, vxs_volume *volume,
                             vxs_error *err)
{
    size_t voxels = vxs_grid_voxels(&build->grid);
    float *values = volume->values;
    if (subject->nonfinite > 0) {
        for (size_t v = 0; v < voxels; v++) {
            if (!isfinite(values[v])) {
                subject->nonfinite_inside += build->mask[v];
                subject->nonfinite_reference += build->reference && build->reference[v];
            }
        }
        clear_nonfinite(values, voxels);
    }
    return vxs_steps_run(build, subject, volume, err);
}
