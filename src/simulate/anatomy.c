/* anatomy.c - simulated images with anatomical variation between subjects.
 *
 * Model   The average brain, sampled along a smooth random displacement, times a smooth random
 *         gain, plus noise at each voxel.
 * Fields  Cubic B-splines over a lattice of independent normal coefficients: 15 mm apart for the
 *         displacement, as in the registration of the paper's images, 60 mm for the gain, which
 *         is a residual coil bias after correction.
 * Cost    A line of voxels sums a lattice to one line of coefficients; each voxel then uses four.
 * Source  Ren 2017 (dissertation, docs/CITATION.cff), section 4.4.1; Rueckert and
 *         others, IEEE TMI 18 (1999), for free-form deformations.
 */
#include "simulate/simulate.h"

#include <math.h>
#include <stdlib.h>

#define WARP_SPACING 15.0 /* mm */
#define BIAS_SPACING 60.0
#define AXES         3

/* Spline support of a voxel along one axis: first coefficient, and four weights. */
typedef struct {
    size_t first;
    double weights[4];
} knot;

typedef struct {
    size_t shape[3], count; /* lattice size; number of coefficients */
    knot *knots[3];
} lattice;

struct vxs_fields {
    lattice warp, bias;
    double noise; /* standard deviation in the units of the underlay */
    double size[3];
};

/* Scale of a field with unit variance: averaged over an axis, a spline field with unit coefficients
 * has variance 151/315, the integral of the squared basis function. */
static double unit_field(void)
{
    return pow(315.0 / 151.0, 1.5);
}

static void knot_weights(double t, double weights[4])
{
    weights[0] = (1 - t) * (1 - t) * (1 - t) / 6;
    weights[1] = (3 * t * t * t - 6 * t * t + 4) / 6;
    weights[2] = (-3 * t * t * t + 3 * t * t + 3 * t + 1) / 6;
    weights[3] = t * t * t / 6;
}

static vxs_status lattice_init(lattice *l, const vxs_grid *grid, double spacing, vxs_error *err)
{
    double size[3];
    vxs_grid_voxel_size(grid, size);
    l->count = 1;
    for (int d = 0; d < AXES; d++) {
        double step = size[d] / spacing; /* voxel size in units of the lattice */
        l->shape[d] = (size_t)((double)(grid->shape[d] - 1) * step) + 4;
        l->count *= l->shape[d];
        l->knots[d] = vxs_alloc(grid->shape[d], sizeof(knot), err);
        if (!l->knots[d])
            return VXS_FAILED;
        for (size_t i = 0; i < grid->shape[d]; i++) {
            double at = (double)i * step;
            knot *k = &l->knots[d][i];
            k->first = (size_t)at;
            knot_weights(at - (double)k->first, k->weights);
        }
    }
    return VXS_OK;
}

static void draw_field(const vxs_sim *sim, const lattice *l, int stream, size_t i, double sd,
                       double *coefficients)
{
    vxs_random random = vxs_sim_stream(sim, stream);
    double scale = sd * unit_field();
    for (size_t c = 0; c < l->count; c++)
        coefficients[c] = scale * vxs_random_normal(&random, (uint64_t)i * l->count + c);
}

/* Sums the lattice over the sixteen columns that support a line of voxels. */
static void sum_columns(const lattice *l, const double *coefficients, size_t j, size_t k,
                        double *line)
{
    const knot *y = &l->knots[1][j], *z = &l->knots[2][k];
    for (size_t c = 0; c < l->shape[0]; c++)
        line[c] = 0;
    for (size_t b = 0; b < 4; b++)
        for (size_t a = 0; a < 4; a++) {
            double weight = z->weights[b] * y->weights[a];
            const double *row =
                coefficients + ((z->first + b) * l->shape[1] + y->first + a) * l->shape[0];
            for (size_t c = 0; c < l->shape[0]; c++)
                line[c] += weight * row[c];
        }
}

static double along_line(const lattice *l, const double *line, size_t i)
{
    const knot *x = &l->knots[0][i];
    double sum = 0;
    for (size_t a = 0; a < 4; a++)
        sum += x->weights[a] * line[x->first + a];
    return sum;
}

/* ---- One subject ----------------------------------------------------------------------------- */

/* Coefficients of the four fields, and their current line. */
typedef struct {
    double *warp[3], *bias;
    double *warp_line[3], *bias_line;
} head;

static double *head_new(const vxs_sim *sim, size_t i, head *h, vxs_error *err)
{
    const vxs_image_simulation *s = sim->settings;
    const lattice *warp = &sim->fields->warp, *bias = &sim->fields->bias;
    size_t room = 3 * (warp->count + warp->shape[0]) + bias->count + bias->shape[0];
    double *at = vxs_alloc(room, sizeof(*at), err), *start = at;
    if (!at)
        return NULL;
    for (int d = 0; d < AXES; d++) {
        h->warp[d] = at;
        h->warp_line[d] = at + warp->count;
        at += warp->count + warp->shape[0];
        draw_field(sim, warp, STREAM_WARP + d, i, s->warp / sim->fields->size[d], h->warp[d]);
    }
    h->bias = at;
    h->bias_line = at + bias->count;
    draw_field(sim, bias, STREAM_BIAS, i, s->bias, h->bias);
    return start;
}

static void turn_to_line(const vxs_sim *sim, head *h, size_t j, size_t k)
{
    for (int d = 0; d < AXES; d++)
        sum_columns(&sim->fields->warp, h->warp[d], j, k, h->warp_line[d]);
    sum_columns(&sim->fields->bias, h->bias, j, k, h->bias_line);
}

/* The intensity at a voxel; 0 outside the brain, without noise. */
static float value_at(const vxs_sim *sim, const head *h, const size_t voxel[3],
                      const vxs_random *noise, uint64_t place)
{
    double at[3];
    for (int d = 0; d < AXES; d++)
        at[d] = (double)voxel[d] + along_line(&sim->fields->warp, h->warp_line[d], voxel[0]);
    double value = vxs_volume_at(&sim->underlay, at);
    if (value <= 0)
        return 0;
    double gain = exp(along_line(&sim->fields->bias, h->bias_line, voxel[0]));
    return (float)(value * gain + sim->fields->noise * vxs_random_normal(noise, place));
}

static vxs_status fill(const vxs_sim *sim, size_t i, const size_t *voxels, size_t count,
                       float *values, vxs_error *err)
{
    const size_t *shape = sim->build.grid.shape;
    size_t all = vxs_grid_voxels(&sim->build.grid), last = SIZE_MAX;
    vxs_random noise = vxs_sim_stream(sim, STREAM_VOXELS);
    head h;
    double *room = head_new(sim, i, &h, err);
    if (!room)
        return VXS_FAILED;
    for (size_t c = 0; c < count; c++) {
        size_t v = voxels[c], line = v / shape[0];
        const size_t voxel[3] = { v % shape[0], line % shape[1], line / shape[1] };
        if (line != last)
            turn_to_line(sim, &h, voxel[1], voxel[2]);
        last = line;
        values[c] = value_at(sim, &h, voxel, &noise, (uint64_t)i * all + v);
    }
    free(room);
    return VXS_OK;
}

/* ---- All subjects ---------------------------------------------------------------------------- */

static double spread_inside(const vxs_sim *sim)
{
    double sum = 0, squares = 0;
    for (size_t j = 0; j < sim->p; j++)
        sum += (double)sim->underlay.values[sim->build.voxels[j]];
    for (size_t j = 0; j < sim->p; j++) {
        double e = (double)sim->underlay.values[sim->build.voxels[j]] - sum / (double)sim->p;
        squares += e * e;
    }
    return sqrt(squares / (double)sim->p);
}

static vxs_status prepare(vxs_sim *sim, vxs_error *err)
{
    vxs_status status = vxs_sim_prepare_made(sim, err);
    if (status)
        return status;
    sim->fields = vxs_alloc(1, sizeof(*sim->fields), err);
    if (!sim->fields)
        return VXS_FAILED;
    vxs_grid_voxel_size(&sim->build.grid, sim->fields->size);
    sim->fields->noise = sim->settings->voxel_noise * spread_inside(sim);
    status = lattice_init(&sim->fields->warp, &sim->build.grid, WARP_SPACING, err);
    if (!status)
        status = lattice_init(&sim->fields->bias, &sim->build.grid, BIAS_SPACING, err);
    return status;
}

static void release(vxs_sim *sim)
{
    for (int d = 0; d < AXES && sim->fields; d++) {
        free(sim->fields->warp.knots[d]);
        free(sim->fields->bias.knots[d]);
    }
    free(sim->fields);
}

const vxs_base vxs_base_anatomy = { prepare, fill, release };
