/* simulate_bags.c - a small texture in one random place per patient.
 *
 * Images   smooth noise with standard deviation 1, as those of spheres
 * Change   a cube of --edge voxels gets a texture times --effect: a square column along z through
 *          its middle, 1 but at one of its corners, where it is -1. Cubes lie side by side from
 *          the first corner of the mask's bounding box, as those of `--bags patches:MM` do; each
 *          patient has one of those within the mask, with equal probability.
 * Reading  At any voxel few patients differ from controls, so that weights of voxels say little;
 *          that some cube of an image looks like another patient's says all.
 */
#include "simulate/simulate.h"

#include <math.h>
#include <stdlib.h>

/* Value of the texture at voxel k of a cube; 0 outside the column. */
static double texture(size_t edge, size_t k)
{
    size_t low = edge / 4, high = edge - low, x = k % edge, y = k / edge % edge;
    if (x < low || x >= high || y < low || y >= high)
        return 0;
    return x == low && y == low ? -1 : 1;
}

static int by_index(const void *a, const void *b)
{
    size_t x = *(const size_t *)a, y = *(const size_t *)b;
    return (x > y) - (x < y);
}

/* Feature of a voxel of the grid, or SIZE_MAX. */
static size_t feature_at(const vxs_sim *sim, size_t x, size_t y, size_t z)
{
    const size_t *shape = sim->build.grid.shape;
    size_t v = (z * shape[1] + y) * shape[0] + x;
    const size_t *at = x < shape[0] && y < shape[1] && z < shape[2]
                           ? bsearch(&v, sim->build.voxels, sim->p, sizeof(v), by_index)
                           : NULL;
    return at ? (size_t)(at - sim->build.voxels) : SIZE_MAX;
}

/* Features of a cube's texture; false if a voxel of the cube is outside the mask. */
static bool list_texture(const vxs_sim *sim, const size_t corner[3], size_t *members)
{
    size_t edge = (size_t)sim->settings->edge, count = 0;
    for (size_t k = 0; k < edge * edge * edge; k++) {
        size_t j = feature_at(sim, corner[0] + k % edge, corner[1] + k / edge % edge,
                              corner[2] + k / edge / edge);
        if (j == SIZE_MAX)
            return false;
        if (texture(edge, k) != 0 && members)
            members[count++] = j;
    }
    return true;
}

static void find_low(const vxs_sim *sim, size_t low[3])
{
    for (size_t j = 0; j < sim->p; j++) {
        double index[3];
        vxs_grid_index(&sim->build.grid, sim->build.voxels[j], index);
        for (int d = 0; d < 3; d++)
            low[d] = j == 0 || (size_t)index[d] < low[d] ? (size_t)index[d] : low[d];
    }
}

/* Corners of the cubes within the mask, 3 numbers each; freed by the caller. */
static size_t *list_cubes(const vxs_sim *sim, size_t *count, vxs_error *err)
{
    size_t low[3] = { 0, 0, 0 }, edge = (size_t)sim->settings->edge;
    const size_t *shape = sim->build.grid.shape;
    find_low(sim, low);
    size_t *corners = vxs_alloc(sim->p, 3 * sizeof(*corners), err);
    *count = 0;
    for (size_t z = low[2]; z < shape[2] && corners; z += edge)
        for (size_t y = low[1]; y < shape[1]; y += edge)
            for (size_t x = low[0]; x < shape[0]; x += edge) {
                size_t *corner = corners + 3 * *count;
                corner[0] = x;
                corner[1] = y;
                corner[2] = z;
                *count += list_texture(sim, corner, NULL);
            }
    return corners;
}

static size_t count_texture(size_t edge)
{
    size_t count = 0;
    for (size_t k = 0; k < edge * edge * edge; k++)
        count += texture(edge, k) != 0;
    return count;
}

static vxs_status choose_patients(vxs_sim *sim, vxs_error *err)
{
    vxs_random random = vxs_sim_stream(sim, STREAM_WHO);
    double share = sim->settings->share * (double)sim->n;
    size_t *order = vxs_alloc(sim->n, sizeof(*order), err);
    sim->positive = vxs_alloc(sim->n, sizeof(*sim->positive), err);
    if (!order || !sim->positive) {
        free(order);
        return VXS_FAILED;
    }
    vxs_random_permutation(&random, order, sim->n);
    sim->spheres = (size_t)llround(share < 1 ? 1 : share);
    for (size_t s = 0; s < sim->spheres; s++)
        sim->positive[order[s]] = true;
    sim->summary->positive = sim->summary->perturbed = sim->spheres;
    free(order);
    return VXS_OK;
}

/* A cube for each patient, in the order of subjects: the members of a `sphere`. */
static vxs_status place(vxs_sim *sim, vxs_error *err)
{
    vxs_random random = vxs_sim_stream(sim, STREAM_PLACES);
    size_t count = 0, edge = (size_t)sim->settings->edge, *cubes = list_cubes(sim, &count, err);
    vxs_status status = cubes ? choose_patients(sim, err) : VXS_FAILED;
    if (!status && count == 0)
        status =
            vxs_fail(err, VXS_BAD_DATA, "no cube of %zu voxels an edge is within the mask", edge);
    sim->sphere = count_texture(edge);
    sim->centers = status ? NULL : vxs_alloc(sim->spheres, sizeof(*sim->centers), err);
    sim->members =
        status ? NULL : vxs_alloc(sim->spheres, vxs_times(sim->sphere, sizeof(*sim->members)), err);
    if (!status && (!sim->centers || !sim->members))
        status = VXS_FAILED;
    for (size_t s = 0; s < sim->spheres && !status; s++) {
        const size_t *corner = cubes + 3 * vxs_random_below(&random, s, count);
        (void)list_texture(sim, corner, sim->members + s * sim->sphere);
        sim->centers[s] = sim->build.voxels[feature_at(sim, corner[0] + edge / 2,
                                                       corner[1] + edge / 2, corner[2] + edge / 2)];
    }
    free(cubes);
    return status;
}

/* Weight of a member within its texture. */
static double weight(const vxs_sim *sim, size_t m)
{
    size_t edge = (size_t)sim->settings->edge, left = m % sim->sphere, k = 0;
    while (texture(edge, k) == 0 || left-- > 0)
        k++;
    return sim->settings->effect * texture(edge, k);
}

static vxs_status act(vxs_sim *sim, vxs_error *err)
{
    (void)err;
    for (size_t i = 0, s = 0; i < sim->n; i++) {
        if (!sim->positive[i])
            continue;
        for (size_t m = s * sim->sphere; m < (s + 1) * sim->sphere; m++) {
            float *value = sim->values + i * sim->p + sim->members[m];
            *value = (float)((double)*value + weight(sim, m));
        }
        s++;
    }
    return VXS_OK;
}

static void write_person(const vxs_sim *sim, vxs_tsv_writer *w, size_t i)
{
    vxs_tsv_text(w, i == SIZE_MAX ? "diagnosis" : sim->positive[i] ? "patient" : "control");
}

static const char *patient_of(const vxs_sim *sim, size_t s)
{
    size_t i = 0;
    while (!sim->positive[i] || s-- > 0)
        i++;
    return sim->build.subjects[i].id;
}

static void write_member(const vxs_sim *sim, vxs_tsv_writer *w, size_t m)
{
    if (m == SIZE_MAX) {
        vxs_tsv_text(w, "subject");
        vxs_tsv_text(w, "weight");
        return;
    }
    vxs_tsv_text(w, patient_of(sim, m / sim->sphere));
    vxs_tsv_real(w, weight(sim, m));
}

const struct vxs_plan vxs_plan_bags = { .made = &vxs_base_grain,
                                        .place = place,
                                        .act = act,
                                        .write_person = write_person,
                                        .write_member = write_member,
                                        .weight = weight,
                                        .target = "diagnosis" };
