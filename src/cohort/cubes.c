/* cubes.c - cubes of voxels on the grid of a mask, side by side from the first corner of the mask's
 * bounding box; and subjects of images as bags of their cubes.
 *
 * A cube counts if at least half of its voxels are in the mask; those outside are 0, also after
 * the cube's values were normalized by themselves. */
#include "voxsift/internal/cohort.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* ---- Cubes ----------------------------------------------------------------------------------- */

void vxs_cubes_free(vxs_cubes *c)
{
    if (!c)
        return;
    free(c->voxel);
    free(c->center);
    free(c->corner);
    free(c);
}

typedef struct {
    const vxs_grid *grid;
    size_t low[3], high[3], tiles[3]; /* the bounding box in voxels; cubes along an axis */
    size_t *place;                    /* of a voxel of the grid in the mask, from 1; 0: outside */
    vxs_cubes *cubes;
} maker;

static void find_box(maker *m, const size_t *voxels, size_t count)
{
    for (size_t k = 0; k < count; k++) {
        double index[3];
        vxs_grid_index(m->grid, voxels[k], index);
        m->place[voxels[k]] = k + 1;
        for (int d = 0; d < 3; d++) {
            size_t at = (size_t)index[d];
            m->low[d] = k == 0 || at < m->low[d] ? at : m->low[d];
            m->high[d] = k == 0 || at > m->high[d] ? at : m->high[d];
        }
    }
}

/* Places of a cube's voxels in the mask, and how many there are. */
static size_t list_voxels(const maker *m, const size_t corner[3], size_t *voxel)
{
    const vxs_cubes *c = m->cubes;
    const size_t *shape = m->grid->shape;
    size_t inside = 0;
    for (size_t k = 0; k < c->width; k++) {
        size_t x = corner[0] + k % c->edge[0], y = corner[1] + k / c->edge[0] % c->edge[1];
        size_t z = corner[2] + k / (c->edge[0] * c->edge[1]);
        bool there = x < shape[0] && y < shape[1] && z < shape[2];
        size_t place = there ? m->place[(z * shape[1] + y) * shape[0] + x] : 0;
        voxel[k] = place > 0 ? place - 1 : VXS_NO_VOXEL;
        inside += place > 0;
    }
    return inside;
}

static void take_cubes(const maker *m)
{
    vxs_cubes *c = m->cubes;
    size_t all = m->tiles[0] * m->tiles[1] * m->tiles[2];
    for (size_t t = 0; t < all; t++) {
        size_t *corner = c->corner + 3 * c->count;
        double middle[3];
        corner[0] = m->low[0] + t % m->tiles[0] * c->edge[0];
        corner[1] = m->low[1] + t / m->tiles[0] % m->tiles[1] * c->edge[1];
        corner[2] = m->low[2] + t / (m->tiles[0] * m->tiles[1]) * c->edge[2];
        if (2 * list_voxels(m, corner, c->voxel + c->count * c->width) < c->width)
            continue;
        for (int d = 0; d < 3; d++)
            middle[d] = (double)corner[d] + ((double)c->edge[d] - 1) / 2;
        vxs_grid_position(m->grid, middle, c->center + 3 * c->count++);
    }
}

static vxs_status make_cubes(maker *m, double mm, vxs_error *err)
{
    vxs_cubes *c = m->cubes;
    double size[3];
    vxs_grid_voxel_size(m->grid, size);
    c->width = 1;
    for (int d = 0; d < 3; d++) {
        double edge = fmax(round(mm / size[d]), 1);
        c->edge[d] = edge < (double)m->grid->shape[d] ? (size_t)edge : m->grid->shape[d];
        m->tiles[d] = (m->high[d] - m->low[d]) / c->edge[d] + 1;
        c->width *= c->edge[d];
    }
    size_t all = m->tiles[0] * m->tiles[1] * m->tiles[2];
    c->voxel = vxs_alloc(all, vxs_times(c->width, sizeof(*c->voxel)), err);
    c->center = vxs_alloc(all, 3 * sizeof(*c->center), err);
    c->corner = vxs_alloc(all, 3 * sizeof(*c->corner), err);
    if (!c->voxel || !c->center || !c->corner)
        return VXS_FAILED;
    take_cubes(m);
    return c->count > 0
               ? VXS_OK
               : vxs_fail(err, VXS_BAD_DATA,
                          "no cube of %g mm has half of its voxels in the mask: take smaller ones",
                          mm);
}

vxs_status vxs_cubes_new(const vxs_grid *grid, const size_t *voxels, size_t count, double mm,
                         vxs_cubes **cubes, vxs_error *err)
{
    maker m = { .grid = grid };
    m.place = vxs_alloc(vxs_grid_voxels(grid), sizeof(*m.place), err);
    m.cubes = m.place ? vxs_alloc(1, sizeof(*m.cubes), err) : NULL;
    vxs_status status = m.cubes ? VXS_OK : VXS_FAILED;
    if (!status) {
        find_box(&m, voxels, count);
        status = make_cubes(&m, mm, err);
    }
    free(m.place);
    if (status)
        vxs_cubes_free(m.cubes);
    *cubes = status ? NULL : m.cubes;
    return status;
}

void vxs_cubes_spread(const vxs_cubes *c, size_t cube, const size_t *voxels, double value,
                      double *map)
{
    const size_t *voxel = c->voxel + cube * c->width;
    size_t inside = 0;
    for (size_t k = 0; k < c->width; k++)
        inside += voxel[k] != VXS_NO_VOXEL;
    for (size_t k = 0; k < c->width; k++)
        if (voxel[k] != VXS_NO_VOXEL)
            map[voxels[voxel[k]]] += value / (double)inside;
}

/* ---- Subjects as bags of cubes --------------------------------------------------------------- */

/* Minus the mean of the voxels inside, and, for z, divided by their standard deviation. */
static void normalize(const size_t *voxel, size_t width, int norm, float *values)
{
    double sum = 0, square = 0, count = 0;
    for (size_t k = 0; k < width; k++)
        if (voxel[k] != VXS_NO_VOXEL) {
            sum += (double)values[k];
            count++;
        }
    for (size_t k = 0; k < width; k++)
        if (voxel[k] != VXS_NO_VOXEL)
            square += ((double)values[k] - sum / count) * ((double)values[k] - sum / count);
    double by = norm == VXS_PATCH_NORM_Z ? square > 0 ? sqrt(count / square) : 0 : 1;
    for (size_t k = 0; k < width; k++)
        if (voxel[k] != VXS_NO_VOXEL)
            values[k] = (float)(((double)values[k] - sum / count) * by);
}

static float value_of(const vxs_cohort *c, size_t feature, size_t i)
{
    if (c->features)
        return c->features[feature * c->n + i];
    size_t low = c->starts[feature], high = c->starts[feature + 1];
    while (low < high) { /* rows ascend */
        size_t middle = low + (high - low) / 2;
        if ((size_t)c->rows[middle] < i)
            low = middle + 1;
        else
            high = middle;
    }
    return low < c->starts[feature + 1] && (size_t)c->rows[low] == i ? c->values[low] : 0;
}

static void take_values(const vxs_cohort *c, vxs_bags *b, int norm)
{
    const vxs_cubes *cubes = b->cubes;
    for (size_t t = 0; t < cubes->count; t++)
        for (size_t i = 0; i < c->n; i++) {
            const size_t *voxel = cubes->voxel + t * cubes->width;
            float *values = b->values + (i * cubes->count + t) * cubes->width;
            for (size_t k = 0; k < cubes->width; k++)
                values[k] = voxel[k] == VXS_NO_VOXEL ? 0 : value_of(c, voxel[k], i);
            if (norm != VXS_PATCH_NORM_NONE)
                normalize(voxel, cubes->width, norm, values);
            memcpy(b->at + 3 * (i * cubes->count + t), cubes->center + 3 * t, 3 * sizeof(*b->at));
        }
}

/* Instances are named by subject and first voxel. */
static vxs_status name_cubes(const vxs_cohort *c, const vxs_cubes *cubes, vxs_table **names,
                             vxs_error *err)
{
    char *text = NULL;
    size_t length = 0;
    FILE *stream = open_memstream(&text, &length);
    if (!stream)
        return vxs_fail(err, VXS_FAILED, "out of memory for the names of cubes");
    fputs("feature\n", stream);
    vxs_tsv_writer w;
    vxs_tsv_init(&w, stream);
    for (size_t i = 0; i < c->n; i++)
        for (size_t t = 0; t < cubes->count; t++) {
            const size_t *corner = cubes->corner + 3 * t;
            vxs_tsv_text(&w, vxs_cohort_id(c, i));
            fprintf(stream, ":%zu,%zu,%zu", corner[0], corner[1], corner[2]);
            vxs_tsv_end_row(&w);
        }
    vxs_status status = fclose(stream) == 0
                            ? vxs_table_parse(text, length, "cubes", names, err)
                            : vxs_fail(err, VXS_FAILED, "out of memory for the names of cubes");
    free(text);
    return status;
}

static vxs_status fill(vxs_cohort *c, vxs_bags *b, int norm, vxs_error *err)
{
    b->count = c->n * b->cubes->count;
    b->width = b->cubes->width;
    b->first = vxs_alloc(c->n + 1, sizeof(*b->first), err);
    b->at = vxs_alloc(b->count, 3 * sizeof(*b->at), err);
    b->values = vxs_alloc(b->count, vxs_times(b->width, sizeof(*b->values)), err);
    if (!b->first || !b->at || !b->values)
        return VXS_FAILED;
    for (size_t i = 0; i <= c->n; i++)
        b->first[i] = i * b->cubes->count;
    take_values(c, b, norm);
    return VXS_OK;
}

vxs_status vxs_cohort_cut(vxs_cohort *c, double mm, double near, int norm, vxs_error *err)
{
    vxs_table *names = NULL;
    vxs_status status = vxs_cohort_check_open(c, err);
    if (!status && (c->bags || c->kind != VXS_FEATURES_VOXELS))
        return vxs_fail(err, VXS_MISUSE,
                        "'--bags patches' goes with cohorts of images, whose "
                        "features are voxels");
    vxs_bags *b = status ? NULL : vxs_alloc(1, sizeof(*b), err);
    if (!b)
        return status ? status : VXS_FAILED;
    *b = (vxs_bags){ .near = near, .kind = c->kind, .dense = c->features != NULL };
    status = vxs_cubes_new(&c->grid, c->voxels, c->voxel_count, mm, &b->cubes, err);
    if (!status)
        status = fill(c, b, norm, err);
    if (!status)
        status = name_cubes(c, b->cubes, &names, err);
    if (status) {
        vxs_bags_free(b);
        return status;
    }
    vxs_cohort_take_bags(c, b, names);
    return VXS_OK;
}
