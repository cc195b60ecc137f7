/* box.c - a box of voxels as the mask of simulated images, for problems of any size.
 *
 * The grid exceeds the box by the reach of the smoothing kernel, so that noise is as smooth at the
 * faces of the box as inside. */
#include "simulate/simulate.h"

#include <math.h>
#include <stdlib.h>

#define USUAL_SIZE 2.0 /* mm, as in the average brain */
#define MOST       1000.0

/* Parses a shape such as "50,50,40". */
static vxs_status read_shape(const vxs_sim *sim, size_t shape[3], vxs_error *err)
{
    const char *text = sim->settings->shape;
    char *end = NULL;
    bool fine = true;
    for (int d = 0; d < 3 && fine; d++) {
        double value = strtod(text, &end);
        fine = end != text && value >= 1 && value <= MOST && value == floor(value) &&
               *end == (d < 2 ? ',' : '\0');
        shape[d] = fine ? (size_t)value : 0;
        text = end + 1;
    }
    return fine
               ? VXS_OK
               : vxs_fail(err, VXS_MISUSE,
                          "option '--shape' expects X,Y,Z, three whole numbers from 1 to %.0f, not "
                          "'%s'",
                          MOST, sim->settings->shape);
}

static vxs_status fill_mask(vxs_sim *sim, const size_t inside[3], size_t margin, vxs_error *err)
{
    const vxs_grid *grid = &sim->build.grid;
    size_t voxels = vxs_grid_voxels(grid);
    sim->build.mask = vxs_alloc(voxels, sizeof(*sim->build.mask), err);
    sim->build.signal = vxs_alloc(voxels, sizeof(*sim->build.signal), err);
    if (!sim->build.mask || !sim->build.signal)
        return VXS_FAILED;
    for (size_t v = 0; v < voxels; v++) {
        double index[3];
        vxs_grid_index(grid, v, index);
        sim->build.mask[v] = 1;
        for (int d = 0; d < 3; d++) {
            double from = index[d] - (double)margin; /* position of the face */
            if (from < 0 || from >= (double)inside[d])
                sim->build.mask[v] = 0;
        }
    }
    return VXS_OK;
}

vxs_status vxs_sim_prepare_box(vxs_sim *sim, vxs_error *err)
{
    const vxs_image_simulation *s = sim->settings;
    double size = isnan(s->voxel_size) ? USUAL_SIZE : s->voxel_size;
    size_t inside[3], margin = vxs_sim_reach(sim, size);
    if (s->mask)
        return vxs_fail(err, VXS_MISUSE, "'--shape' and '--mask' exclude each other");
    vxs_status status = read_shape(sim, inside, err);
    if (status)
        return status;
    vxs_grid *grid = &sim->build.grid;
    *grid = (vxs_grid){ .source = VXS_AFFINE_SFORM, .sform_code = 2 };
    grid->affine[3][3] = 1;
    for (int d = 0; d < 3; d++) {
        grid->shape[d] = inside[d] + 2 * margin;
        grid->affine[d][d] = size;
        grid->affine[d][3] = -size * ((double)grid->shape[d] - 1) / 2;
    }
    sim->how.mask = "a box"; /* for cohort.json */
    status = vxs_grid_check(grid, "the box and what smoothing reaches around it", err);
    if (!status)
        status = fill_mask(sim, inside, margin, err);
    if (!status)
        status = vxs_sim_list_subjects(sim, err);
    if (!status)
        status = vxs_sim_list_mask(sim, err);
    sim->build.surveyed = sim->n;
    return status;
}
