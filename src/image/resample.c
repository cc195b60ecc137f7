/* resample.c - resampling of volumes onto other grids. */
#include "voxsift/internal/image.h"

#include <math.h>

#define MAX_SAMPLES 16   /* along an edge of a target voxel */
#define ROUND_OFF   1e-3 /* voxels: of affines, which files have as float32 */

typedef struct {
    const vxs_volume *volume;
    double to_index[4][4]; /* target index to source index */
    vxs_interpolation interpolation;
    int samples[3]; /* per target voxel, along its edges */
} sampler;

static void multiply(const double a[4][4], const double b[4][4], double product[4][4])
{
    for (int r = 0; r < 4; r++) {
        for (int c = 0; c < 4; c++) {
            product[r][c] = 0;
            for (int k = 0; k < 4; k++)
                product[r][c] += a[r][k] * b[k][c];
        }
    }
}

/* Within half a voxel beyond the outermost centers the border value holds. Points at the very
 * border are usual, where an odd number of voxels is covered by voxels of twice the size. */
static bool clamp(double *at, size_t size)
{
    double last = (double)size - 1;
    if (!(*at >= -0.5 - ROUND_OFF && *at <= last + 0.5 + ROUND_OFF))
        return false;
    *at = fmin(fmax(*at, 0), last);
    return true;
}

static double linear_at(const vxs_volume *volume, const double at[3])
{
    const size_t *shape = volume->grid.shape;
    size_t low[3], step[3] = { 1, shape[0], shape[0] * shape[1] };
    double part[3], sum = 0;
    for (int d = 0; d < 3; d++) {
        low[d] = (size_t)at[d];
        part[d] = at[d] - (double)low[d];
    }
    for (int corner = 0; corner < 8; corner++) {
        double weight = 1;
        size_t voxel = 0;
        for (int d = 0; d < 3; d++) {
            int up = corner >> d & 1;
            weight *= up ? part[d] : 1 - part[d];
            voxel += (low[d] + (size_t)up) * step[d];
        }
        if (weight > 0) /* weight 0 may belong to a voxel beyond the border */
            sum += weight * (double)volume->values[voxel];
    }
    return sum;
}

double vxs_volume_at(const vxs_volume *volume, const double index[3])
{
    double at[3] = { index[0], index[1], index[2] };
    for (int d = 0; d < 3; d++)
        if (!clamp(&at[d], volume->grid.shape[d]))
            return 0;
    return linear_at(volume, at);
}

/* False for a point outside. */
static bool find(const double to_index[4][4], const size_t shape[3], const double index[3],
                 double at[3])
{
    for (int r = 0; r < 3; r++) {
        at[r] = to_index[r][0] * index[0] + to_index[r][1] * index[1] + to_index[r][2] * index[2] +
                to_index[r][3];
        if (!clamp(&at[r], shape[r]))
            return false;
    }
    return true;
}

static bool sample(const sampler *s, const double index[3], double *value)
{
    const size_t *shape = s->volume->grid.shape;
    double at[3];
    if (!find(s->to_index, shape, index, at))
        return false;
    if (s->interpolation == VXS_LINEAR) {
        *value = linear_at(s->volume, at);
        return true;
    }
    size_t i = (size_t)lround(at[0]), j = (size_t)lround(at[1]), k = (size_t)lround(at[2]);
    *value = (double)s->volume->values[i + shape[0] * (j + shape[1] * k)];
    return true;
}

/* Mean over evenly spaced samples of the target voxel; samples outside the source are 0. */
static double average(const sampler *s, const size_t voxel[3])
{
    double sum = 0;
    int total = s->samples[0] * s->samples[1] * s->samples[2];
    for (int n = 0; n < total; n++) {
        int part[3] = { n % s->samples[0], n / s->samples[0] % s->samples[1],
                        n / s->samples[0] / s->samples[1] };
        double index[3], value = 0;
        for (int d = 0; d < 3; d++)
            index[d] = (double)voxel[d] + (part[d] + 0.5) / s->samples[d] - 0.5;
        if (sample(s, index, &value))
            sum += value;
    }
    return sum / total;
}

/* Number of source voxels along an edge of a target voxel, rounded up. */
static void count_samples(sampler *s)
{
    for (int c = 0; c < 3; c++) {
        double longest = 0;
        for (int r = 0; r < 3; r++)
            longest = fmax(longest, fabs(s->to_index[r][c]));
        double required = s->interpolation == VXS_LINEAR ? ceil(longest - ROUND_OFF) : 1;
        s->samples[c] = (int)fmin(fmax(required, 1), MAX_SAMPLES);
    }
}

static vxs_status check_given(const vxs_volume *volume, const vxs_grid *grid,
                              vxs_interpolation interpolation, vxs_volume *result, vxs_error *err)
{
    vxs_status status = VXS_GIVEN(err, { "grid", grid }, { "result", result });
    if (!status && result == volume)
        return vxs_fail(err, VXS_MISUSE, "a volume cannot be resampled into itself");
    if (result)
        *result = (vxs_volume){ .values = NULL };
    if (!status)
        status = vxs_volume_check(volume, err);
    return status ? status
                  : vxs_choice_check("interpolation", (int)interpolation, VXS_LINEAR + 1, err);
}

vxs_status vxs_volume_resample(const vxs_volume *volume, const vxs_grid *grid,
                               vxs_interpolation interpolation, vxs_volume *result, vxs_error *err)
{
    double inverse[4][4];
    sampler s = { .volume = volume, .interpolation = interpolation };
    vxs_status status = check_given(volume, grid, interpolation, result, err);
    if (status)
        return status;
    if (!vxs_grid_inverse(&volume->grid, inverse))
        return vxs_fail(err, VXS_BAD_DATA, "a grid with a singular affine cannot be resampled");
    status = vxs_volume_new(grid, result, err);
    if (status)
        return status;
    multiply((const double(*)[4])inverse, grid->affine, s.to_index);
    count_samples(&s);
    float *out = result->values;
    size_t voxel[3];
    for (voxel[2] = 0; voxel[2] < grid->shape[2]; voxel[2]++)
        for (voxel[1] = 0; voxel[1] < grid->shape[1]; voxel[1]++)
            for (voxel[0] = 0; voxel[0] < grid->shape[0]; voxel[0]++)
                *out++ = (float)average(&s, voxel);
    return VXS_OK;
}

size_t vxs_grid_uncovered(const vxs_grid *by, const vxs_grid *grid, const uint8_t *mask)
{
    double inverse[4][4], to_index[4][4], at[3];
    const size_t *shape = grid->shape;
    size_t uncovered = 0, voxels = vxs_grid_voxels(grid);
    bool regular = vxs_grid_inverse(by, inverse);
    if (regular)
        multiply((const double(*)[4])inverse, grid->affine, to_index);
    for (size_t v = 0; v < voxels; v++) {
        size_t where[3] = { v % shape[0], v / shape[0] % shape[1], v / shape[0] / shape[1] };
        const double index[3] = { (double)where[0], (double)where[1], (double)where[2] };
        uncovered +=
            mask[v] && !(regular && find((const double(*)[4])to_index, by->shape, index, at));
    }
    return uncovered;
}
