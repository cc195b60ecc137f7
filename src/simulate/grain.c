/* grain.c - images of pure smooth noise, with standard deviation 1 at every voxel.
 *
 * Noise is drawn in the bounding box of the mask plus the reach of the kernel, so that a voxel of
 * the mask has the same value for any box. Outside the mask, images are 0. */
#include "simulate/simulate.h"

#include <math.h>
#include <stdlib.h>

#define REACH 4.0 /* standard deviations: the reach of vxs_volume_smooth */

static const double fwhm_per_sd = 2.3548200450309493; /* 2 sqrt(2 ln 2) */

typedef struct {
    size_t low[3], shape[3];
} box;

size_t vxs_sim_reach(const vxs_sim *sim, double size)
{
    return (size_t)ceil(REACH * sim->settings->smooth / fwhm_per_sd / size);
}

static box box_of_mask(const vxs_sim *sim)
{
    const size_t *shape = sim->build.grid.shape;
    size_t high[3] = { 0, 0, 0 };
    double size[3];
    box b = { .low = { SIZE_MAX, SIZE_MAX, SIZE_MAX } };
    vxs_grid_voxel_size(&sim->build.grid, size);
    for (size_t j = 0; j < sim->p; j++) {
        size_t v = sim->build.voxels[j];
        const size_t at[3] = { v % shape[0], v / shape[0] % shape[1], v / shape[0] / shape[1] };
        for (int d = 0; d < 3; d++) {
            b.low[d] = at[d] < b.low[d] ? at[d] : b.low[d];
            high[d] = at[d] > high[d] ? at[d] : high[d];
        }
    }
    for (int d = 0; d < 3; d++) {
        size_t reach = vxs_sim_reach(sim, size[d]);
        b.low[d] = b.low[d] > reach ? b.low[d] - reach : 0;
        high[d] = high[d] + reach < shape[d] ? high[d] + reach : shape[d] - 1;
        b.shape[d] = high[d] - b.low[d] + 1;
    }
    return b;
}

static void draw(const vxs_sim *sim, size_t i, const box *b, float *values)
{
    const size_t *shape = sim->build.grid.shape;
    vxs_random random = vxs_sim_stream(sim, STREAM_VOXELS);
    uint64_t start = (uint64_t)i * vxs_grid_voxels(&sim->build.grid);
    for (size_t z = 0; z < b->shape[2]; z++)
        for (size_t y = 0; y < b->shape[1]; y++)
            for (size_t x = 0; x < b->shape[0]; x++) {
                size_t line = (b->low[2] + z) * shape[1] + b->low[1] + y;
                *values++ =
                    (float)vxs_random_normal(&random, start + line * shape[0] + b->low[0] + x);
            }
}

static vxs_status fill(const vxs_sim *sim, size_t i, const size_t *voxels, size_t count,
                       float *values, vxs_error *err)
{
    box b = box_of_mask(sim);
    const size_t *shape = sim->build.grid.shape;
    vxs_grid grid = sim->build.grid;
    vxs_volume volume;
    for (int d = 0; d < 3; d++)
        grid.shape[d] = b.shape[d];
    vxs_status status = vxs_volume_new(&grid, &volume, err);
    if (status)
        return status;
    draw(sim, i, &b, volume.values);
    if (sim->settings->smooth > 0)
        status = vxs_volume_smooth(&volume, sim->settings->smooth, NULL, err);
    for (size_t c = 0; c < count && !status; c++) {
        size_t v = voxels[c];
        size_t x = v % shape[0] - b.low[0], y = v / shape[0] % shape[1] - b.low[1],
               z = v / shape[0] / shape[1] - b.low[2];
        values[c] = 0;
        if (sim->build.mask[v])
            values[c] =
                (float)(sim->unit * (double)volume.values[(z * b.shape[1] + y) * b.shape[0] + x]);
    }
    vxs_volume_release(&volume);
    return status;
}

/* Unit variance: a weighted mean of independent values of variance 1 has variance sum w^2 / (sum
 * w)^2. */
static vxs_status prepare(vxs_sim *sim, vxs_error *err)
{
    vxs_status status =
        sim->settings->shape ? vxs_sim_prepare_box(sim, err) : vxs_sim_prepare_made(sim, err);
    double size[3], variance = 1;
    vxs_grid_voxel_size(&sim->build.grid, size);
    for (int d = 0; d < 3 && !status && sim->settings->smooth > 0; d++) {
        double sd = sim->settings->smooth / fwhm_per_sd / size[d], sum = 1, squares = 1;
        for (size_t k = 1; k <= vxs_sim_reach(sim, size[d]); k++) {
            double w = exp(-0.5 * (double)(k * k) / (sd * sd));
            sum += 2 * w;
            squares += 2 * w * w;
        }
        variance *= squares / (sum * sum);
    }
    sim->unit = 1 / sqrt(variance);
    return status;
}

static void release(vxs_sim *sim)
{
    (void)sim;
}

const vxs_base vxs_base_grain = { prepare, fill, release };
