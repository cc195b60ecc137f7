/* lobe.c - the average brain and its left temporal lobe. */
#include "simulate/simulate.h"

#include <math.h>
#include <stdlib.h>

/* Bounding box of the left temporal lobe in mm of MNI space: 10,000 voxels of 2 mm; a quarter of
 * them can be centers of spheres with radius 4 voxels. */
static const double lobe[3][2] = { { -72, -30 }, { -50, 10 }, { -45, 0 } };

static vxs_status read_stored(vxs_volume *stored, vxs_error *err)
{
    vxs_image image;
    char *path = NULL;
    vxs_status status = vxs_atlas_locate("icbm152", &path, err);
    if (!status)
        status = vxs_image_read(path, &image, err);
    free(path);
    if (status)
        return status;
    status = vxs_volume_from_image(&image, 0, stored, err);
    vxs_image_release(&image);
    return status;
}

vxs_status vxs_sim_read_underlay(vxs_sim *sim, const vxs_grid *grid, vxs_error *err)
{
    vxs_volume stored;
    vxs_grid coarse;
    vxs_status status = read_stored(&stored, err);
    if (status)
        return status;
    if (!grid && isnan(sim->settings->voxel_size)) {
        sim->underlay = stored;
        return VXS_OK;
    }
    if (!grid)
        status = vxs_grid_with_voxel_size(&stored.grid, sim->settings->voxel_size, &coarse, err);
    if (!status)
        status =
            vxs_volume_resample(&stored, grid ? grid : &coarse, VXS_LINEAR, &sim->underlay, err);
    vxs_volume_release(&stored);
    return status;
}

vxs_status vxs_sim_cut_lobe(vxs_sim *sim, vxs_error *err)
{
    const vxs_grid *grid = &sim->build.grid;
    size_t voxels = vxs_grid_voxels(grid);
    uint8_t *brain = vxs_alloc(voxels, 1, err);
    vxs_status status = brain ? vxs_mask_auto(&sim->underlay, brain, err) : VXS_FAILED;
    for (size_t v = 0; v < voxels && !status; v++) {
        double index[3], at[3];
        bool inside = brain[v] != 0;
        vxs_grid_index(grid, v, index);
        vxs_grid_position(grid, index, at);
        for (int d = 0; d < 3; d++)
            inside = inside && at[d] >= lobe[d][0] && at[d] <= lobe[d][1];
        sim->build.mask[v] = sim->build.mask[v] && inside;
    }
    free(brain);
    sim->how.mask = "left temporal lobe of icbm152"; /* for cohort.json */
    return status;
}

vxs_status vxs_sim_list_mask(vxs_sim *sim, vxs_error *err)
{
    vxs_build *build = &sim->build;
    size_t voxels = vxs_grid_voxels(&build->grid), count = 0;
    for (size_t v = 0; v < voxels; v++)
        count += build->mask[v] != 0;
    if (count == 0)
        return vxs_fail(err, VXS_BAD_DATA, "no voxel is in the mask%s%s%s",
                        sim->settings->mask ? " '" : "",
                        sim->settings->mask ? sim->settings->mask : "",
                        sim->settings->mask ? "'" : "");
    free(build->voxels);
    build->voxels = vxs_alloc(count, sizeof(*build->voxels), err);
    if (!build->voxels)
        return VXS_FAILED;
    for (size_t v = 0, k = 0; v < voxels; v++)
        if (build->mask[v])
            build->voxels[k++] = v;
    build->p = sim->p = count;
    return VXS_OK;
}

vxs_status vxs_sim_list_subjects(vxs_sim *sim, vxs_error *err)
{
    vxs_status status = VXS_OK;
    for (size_t i = 0; i < sim->n && !status; i++) {
        char id[32];
        snprintf(id, sizeof(id), "sub-%06zu", i + 1);
        status = vxs_build_add(&sim->build, id, NULL, 0, i, err);
    }
    return status;
}

vxs_status vxs_sim_prepare_made(vxs_sim *sim, vxs_error *err)
{
    vxs_build *build = &sim->build;
    vxs_status status = vxs_sim_read_underlay(sim, NULL, err);
    if (status)
        return status;
    build->grid = sim->underlay.grid;
    size_t voxels = vxs_grid_voxels(&build->grid);
    build->mask = vxs_alloc(voxels, sizeof(*build->mask), err);
    build->signal = vxs_alloc(voxels, sizeof(*build->signal), err);
    status = build->mask && build->signal ? vxs_sim_list_subjects(sim, err) : VXS_FAILED;
    if (!status && sim->settings->mask)
        status = vxs_build_read_mask(build, err);
    for (size_t v = 0; v < voxels && !status && !sim->settings->mask; v++)
        build->mask[v] = 1;
    if (!status && !sim->settings->mask)
        status = vxs_sim_cut_lobe(sim, err);
    if (!status)
        status = vxs_sim_list_mask(sim, err);
    build->surveyed = sim->n;
    return status;
}
