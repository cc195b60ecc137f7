/* spheres.c - places random spheres in a mask. */
#include "simulate/simulate.h"

#include <stdlib.h>

/* Offsets from a center to the voxels of its sphere, in memory order. */
typedef struct {
    int (*steps)[3];
    size_t count;
} ball;

static vxs_status ball_init(ball *b, int radius, vxs_error *err)
{
    size_t edge = 2 * (size_t)radius + 1;
    b->count = 0;
    b->steps = vxs_alloc(vxs_times(vxs_times(edge, edge), edge), sizeof(*b->steps), err);
    if (!b->steps)
        return VXS_FAILED;
    for (int z = -radius; z <= radius; z++)
        for (int y = -radius; y <= radius; y++)
            for (int x = -radius; x <= radius; x++)
                if (x * x + y * y + z * z <= radius * radius) {
                    int *step = b->steps[b->count++];
                    step[0] = x;
                    step[1] = y;
                    step[2] = z;
                }
    return VXS_OK;
}

/* The voxel at an offset, or SIZE_MAX outside the grid. */
static size_t step_from(const vxs_grid *grid, size_t voxel, const int step[3])
{
    const size_t *shape = grid->shape;
    const size_t at[3] = { voxel % shape[0], voxel / shape[0] % shape[1],
                           voxel / shape[0] / shape[1] };
    size_t to[3];
    for (int d = 0; d < 3; d++) {
        if (step[d] < 0 && at[d] < (size_t)-step[d])
            return SIZE_MAX;
        to[d] = step[d] < 0 ? at[d] - (size_t)-step[d] : at[d] + (size_t)step[d];
        if (to[d] >= shape[d])
            return SIZE_MAX;
    }
    return (to[2] * shape[1] + to[1]) * shape[0] + to[0];
}

static bool fits(const vxs_sim *sim, const ball *b, size_t voxel)
{
    for (size_t k = 0; k < b->count; k++) {
        size_t v = step_from(&sim->build.grid, voxel, b->steps[k]);
        if (v == SIZE_MAX || !sim->build.mask[v])
            return false;
    }
    return true;
}

static size_t list_centers(const vxs_sim *sim, const ball *b, size_t *centers)
{
    size_t count = 0;
    for (size_t j = 0; j < sim->p; j++)
        if (fits(sim, b, sim->build.voxels[j]))
            centers[count++] = sim->build.voxels[j];
    return count;
}

/* Fails and names the largest radius that fits. */
static vxs_status refuse(const vxs_sim *sim, size_t *room, vxs_error *err)
{
    int radius = (int)sim->settings->radius;
    bool found = false;
    ball b;
    while (radius > 1 && !found) {
        vxs_status status = ball_init(&b, --radius, err);
        found = !status && list_centers(sim, &b, room) > 0;
        free(b.steps);
        if (status)
            return status;
    }
    if (found)
        return vxs_fail(err, VXS_BAD_DATA,
                        "no sphere of radius %d voxels fits into the mask, which has %zu voxels; "
                        "one of radius %d does",
                        (int)sim->settings->radius, sim->p, radius);
    return vxs_fail(err, VXS_BAD_DATA,
                    "no sphere of radius %d voxels fits into the mask, which has %zu voxels",
                    (int)sim->settings->radius, sim->p);
}

/* Removes centers that are closer than two radii, since their spheres could share voxels. */
static size_t keep_far(const vxs_grid *grid, size_t center, double radius, size_t *centers,
                       size_t count)
{
    double a[3], b[3];
    size_t kept = 0;
    vxs_grid_index(grid, center, a);
    for (size_t k = 0; k < count; k++) {
        double squares = 0;
        vxs_grid_index(grid, centers[k], b);
        for (int d = 0; d < 3; d++)
            squares += (a[d] - b[d]) * (a[d] - b[d]);
        if (squares > 4 * radius * radius)
            centers[kept++] = centers[k];
    }
    return kept;
}

static int by_voxel(const void *a, const void *b)
{
    size_t left = *(const size_t *)a, right = *(const size_t *)b;
    return (left > right) - (left < right);
}

static vxs_status list_members(vxs_sim *sim, const ball *b, vxs_error *err)
{
    const size_t *voxels = sim->build.voxels;
    sim->sphere = b->count;
    sim->members = vxs_alloc(vxs_times(sim->spheres, b->count), sizeof(*sim->members), err);
    if (!sim->members)
        return VXS_FAILED;
    for (size_t s = 0; s < sim->spheres; s++)
        for (size_t k = 0; k < b->count; k++) {
            size_t v = step_from(&sim->build.grid, sim->centers[s], b->steps[k]);
            const size_t *at = bsearch(&v, voxels, sim->p, sizeof(*voxels), by_voxel);
            sim->members[s * b->count + k] = (size_t)(at - voxels);
        }
    return VXS_OK;
}

static vxs_status choose(vxs_sim *sim, const ball *b, size_t *room, vxs_error *err)
{
    vxs_random random = vxs_sim_stream(sim, STREAM_PLACES);
    size_t count = list_centers(sim, b, room);
    if (count == 0)
        return refuse(sim, room, err);
    for (size_t s = 0; s < sim->spheres; s++) {
        if (count == 0)
            return vxs_fail(err, VXS_BAD_DATA,
                            "%zu of %zu spheres of radius %d voxels fit into the mask, which has "
                            "%zu voxels, without overlap",
                            s, sim->spheres, (int)sim->settings->radius, sim->p);
        sim->centers[s] = room[vxs_random_below(&random, s, count)];
        count =
            keep_far(&sim->build.grid, sim->centers[s], (double)sim->settings->radius, room, count);
    }
    return list_members(sim, b, err);
}

vxs_status vxs_sim_place_spheres(vxs_sim *sim, vxs_error *err)
{
    ball b = { .steps = NULL };
    size_t *room = vxs_alloc(sim->p, sizeof(*room), err);
    sim->spheres = sim->settings->regions > 0 ? (size_t)sim->settings->regions : 1;
    sim->centers = vxs_alloc(sim->spheres, sizeof(*sim->centers), err);
    vxs_status status =
        room && sim->centers ? ball_init(&b, (int)sim->settings->radius, err) : VXS_FAILED;
    if (!status)
        status = choose(sim, &b, room, err);
    free(b.steps);
    free(room);
    return status;
}
