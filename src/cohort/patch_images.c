/* patch_images.c - the images of one subject on one grid, and the features of their voxels.
 *
 * Steps of a patch go to the right, to the front and upwards, whatever the order of the voxels in
 * the file, so that a feature means the same in images of other orientations. */
#include "cohort/patches.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

void vxs_patch_images_release(vxs_patch_images *m)
{
    free(m->values);
    free(m->label);
    free(m->mask);
    free(m->usable);
    for (size_t k = 0; k < VXS_MOST_MEANS; k++)
        free(m->near[k]);
    for (size_t k = 0; k < VXS_MOST_CONTRASTS + 2; k++)
        free(m->path[k]);
    *m = (vxs_patch_images){ .values = NULL };
}

/* ---- One grid -------------------------------------------------------------------------------- */

static vxs_status refuse_grid(const vxs_patch_images *m, const char *first, const vxs_grid *grid,
                              const char *path, vxs_error *err)
{
    char here[VXS_ORIENTATION_TEXT], there[VXS_ORIENTATION_TEXT];
    const vxs_grid *a = grid, *b = &m->grid;
    double distance = vxs_grid_distance(a, b);
    if (isinf(distance))
        return vxs_fail(err, VXS_BAD_DATA,
                        "'%s' has %zu x %zu x %zu voxels, '%s' has %zu x %zu x %zu; images of one "
                        "subject must be on one grid",
                        path, a->shape[0], a->shape[1], a->shape[2], first, b->shape[0],
                        b->shape[1], b->shape[2]);
    return vxs_fail(err, VXS_BAD_DATA,
                    "the grid of '%s' (%s) differs from that of '%s' (%s) by %.3g mm at a corner; "
                    "images of one subject must be on one grid",
                    path, vxs_grid_orientation_text(a, here), first,
                    vxs_grid_orientation_text(b, there), distance);
}

/* Reads an image on the grid of the first one. */
static vxs_status read_image(vxs_patch_images *m, const char *first, const char *path,
                             double tolerance, char hash[VXS_HASH_TEXT], float *values,
                             vxs_error *err)
{
    vxs_image image;
    vxs_status status = vxs_image_read_hashed(path, &image, hash, err);
    if (status)
        return status;
    const vxs_grid *grid = &image.grid;
    bool known = (grid->source == VXS_AFFINE_NONE) == (m->grid.source == VXS_AFFINE_NONE);
    if (image.volumes != 1)
        status = vxs_fail(err, VXS_BAD_DATA, "'%s' has %zu volumes; one per subject is required",
                          path, image.volumes);
    else if (!known || vxs_grid_distance(grid, &m->grid) > tolerance)
        status = refuse_grid(m, first, grid, path, err);
    else
        vxs_image_floats(&image, 0, m->voxels, values);
    vxs_image_release(&image);
    return status;
}

static vxs_status read_grid(vxs_patch_images *m, const char *path, vxs_error *err)
{
    vxs_image image;
    vxs_status status = vxs_image_read_header(path, &image, err);
    if (status)
        return status;
    m->grid = image.grid;
    m->voxels = vxs_grid_voxels(&m->grid);
    vxs_image_release(&image);
    char letters[4];
    vxs_grid_orientation(&m->grid, letters);
    for (int d = 0; d < 3; d++)
        for (int a = 0; a < 3; a++) {
            if (letters[a] != "RAS"[d] && letters[a] != "LPI"[d])
                continue;
            m->axis[d] = a;
            m->sign[d] = letters[a] == "RAS"[d] ? 1 : -1;
        }
    return VXS_OK;
}

/* ---- The mask -------------------------------------------------------------------------------- */

static vxs_status automatic_mask(vxs_patch_images *m, vxs_error *err)
{
    vxs_volume first = { .grid = m->grid };
    first.values = vxs_alloc(m->voxels, sizeof(*first.values), err);
    if (!first.values)
        return VXS_FAILED;
    for (size_t v = 0; v < m->voxels; v++)
        first.values[v] = isfinite(m->values[v]) ? m->values[v] : 0;
    vxs_status status = vxs_mask_auto(&first, m->mask, err);
    free(first.values);
    return status;
}

static vxs_status make_mask(const vxs_patch_plan *plan, const vxs_patch_paths *paths,
                            double tolerance, vxs_patch_images *m, vxs_error *err)
{
    vxs_status status = VXS_OK;
    if (paths->mask) {
        float *values = vxs_alloc(m->voxels, sizeof(*values), err);
        status = values ? read_image(m, paths->contrasts[0], paths->mask, tolerance,
                                     m->hash[VXS_MOST_CONTRASTS], values, err)
                        : VXS_FAILED;
        for (size_t v = 0; v < m->voxels && !status; v++)
            m->mask[v] = isfinite(values[v]) && values[v] != 0;
        free(values);
    } else if (strcmp(plan->mask, "auto") == 0) {
        status = automatic_mask(m, err);
    } else {
        for (size_t v = 0; v < m->voxels; v++)
            m->mask[v] = m->values[v] != 0;
    }
    for (size_t v = 0; v < m->voxels && !status; v++)
        m->in_mask += m->mask[v];
    if (!status && m->in_mask == 0)
        status = vxs_fail(err, VXS_BAD_DATA, "the mask of '%s' has no voxel",
                          paths->mask ? paths->mask : paths->contrasts[0]);
    return status;
}

/* Each image by its own finite values in the mask. */
static vxs_status scale_image(const vxs_patch_plan *plan, const char *path, size_t c,
                              vxs_patch_images *m, vxs_error *err)
{
    float *values = m->values + c * m->voxels;
    uint8_t *inside = vxs_alloc(m->voxels, sizeof(*inside), err);
    if (!inside)
        return VXS_FAILED;
    for (size_t v = 0; v < m->voxels; v++)
        inside[v] = m->mask[v] && isfinite(values[v]);
    vxs_status status = vxs_find_image_scale(plan->scale, values, inside, m->voxels, path,
                                             &m->shift[c], &m->factor[c], err);
    free(inside);
    for (size_t v = 0; v < m->voxels && !status && plan->scale != VXS_SCALE_NONE; v++)
        values[v] = (float)(((double)values[v] - m->shift[c]) * m->factor[c]);
    return status;
}

/* ---- Neighbors ------------------------------------------------------------------------------- */

/* Steps along the axes of the grid that stay within the distance. */
static vxs_status find_near(const vxs_patch_images *m, double radius, int32_t **near, size_t *count,
                            vxs_error *err)
{
    double inverse[4][4];
    int reach[3];
    (void)vxs_grid_inverse(&m->grid, inverse); /* grids that are read are not singular */
    for (int a = 0; a < 3; a++) {
        double length = sqrt(inverse[a][0] * inverse[a][0] + inverse[a][1] * inverse[a][1] +
                             inverse[a][2] * inverse[a][2]);
        double steps = fmin(floor(radius * length * (1 + 1e-9)), (double)m->grid.shape[a] - 1);
        reach[a] = (int)steps;
    }
    size_t box = (2 * (size_t)reach[0] + 1) * (2 * (size_t)reach[1] + 1);
    *near = vxs_alloc(box, vxs_times(2 * (size_t)reach[2] + 1, 3 * sizeof(**near)), err);
    *count = 0;
    for (int k = -reach[2]; *near && k <= reach[2]; k++)
        for (int j = -reach[1]; j <= reach[1]; j++)
            for (int i = -reach[0]; i <= reach[0]; i++) {
                double square = 0;
                for (int r = 0; r < 3; r++) {
                    const double *row = m->grid.affine[r];
                    double mm = row[0] * i + row[1] * j + row[2] * k;
                    square += mm * mm;
                }
                if (square <= radius * radius * (1 + 1e-9))
                    memcpy(*near + 3 * (*count)++, (int32_t[]){ i, j, k }, 3 * sizeof(**near));
            }
    return *near ? VXS_OK : VXS_FAILED;
}

static void place_of(const vxs_patch_images *m, size_t voxel, int64_t place[3])
{
    place[0] = (int64_t)(voxel % m->grid.shape[0]);
    place[1] = (int64_t)(voxel / m->grid.shape[0] % m->grid.shape[1]);
    place[2] = (int64_t)(voxel / m->grid.shape[0] / m->grid.shape[1]);
}

/* The voxel a step away, or the nearest one of the image's edge. */
static size_t stepped(const vxs_patch_images *m, const int64_t place[3], const int step[3])
{
    int64_t to[3] = { place[0], place[1], place[2] };
    for (int d = 0; d < 3; d++) {
        int a = m->axis[d];
        int64_t last = (int64_t)m->grid.shape[a] - 1;
        to[a] += m->sign[d] * step[d];
        to[a] = to[a] < 0 ? 0 : to[a] > last ? last : to[a];
    }
    return ((size_t)to[2] * m->grid.shape[1] + (size_t)to[1]) * m->grid.shape[0] + (size_t)to[0];
}

static double mean_near(const vxs_patch_images *m, const float *values, const int64_t place[3],
                        size_t k)
{
    const size_t *n = m->grid.shape;
    double sum = 0;
    size_t count = 0;
    for (size_t s = 0; s < m->near_count[k]; s++) {
        const int32_t *step = m->near[k] + 3 * s;
        int64_t i = place[0] + step[0], j = place[1] + step[1], l = place[2] + step[2];
        if (i < 0 || j < 0 || l < 0 || i >= (int64_t)n[0] || j >= (int64_t)n[1] ||
            l >= (int64_t)n[2])
            continue;
        sum += (double)values[((size_t)l * n[1] + (size_t)j) * n[0] + (size_t)i];
        count++;
    }
    return sum / (double)count;
}

/* ---- Values ---------------------------------------------------------------------------------- */

static size_t mean_number(const vxs_patch_plan *plan, double radius)
{
    size_t k = 0;
    while (plan->means[k] != radius)
        k++;
    return k;
}

static double value_at(const vxs_patch_plan *plan, const vxs_patch_images *m,
                       const vxs_patch_feature *f, size_t voxel)
{
    int64_t place[3];
    place_of(m, voxel, place);
    if (f->axis >= 0) {
        double at[3];
        vxs_grid_position(&m->grid,
                          (double[]){ (double)place[0], (double)place[1], (double)place[2] }, at);
        return at[f->axis];
    }
    const float *values = m->values + f->contrast * m->voxels;
    if (!isnan(f->radius))
        return mean_near(m, values, place, mean_number(plan, f->radius));
    return (double)values[stepped(m, place, f->step)];
}

void vxs_patch_values(const vxs_patch_plan *plan, const vxs_patch_images *m, const size_t *voxels,
                      size_t count, size_t stride, float *values)
{
    for (size_t j = 0; j < plan->p; j++) {
        vxs_patch_feature f = vxs_patch_feature_at(plan, j);
        for (size_t k = 0; k < count; k++)
            values[j * stride + k] = (float)value_at(plan, m, &f, voxels[k]);
    }
}

bool vxs_patch_same_size(const vxs_patch_plan *plan, const vxs_patch_images *m)
{
    double size[3];
    vxs_grid_voxel_size(&m->grid, size);
    for (int d = 0; d < 3; d++)
        if (fabs(size[m->axis[d]] - plan->voxel_size[d]) > 0.01 * plan->voxel_size[d])
            return false;
    return true;
}

/* ---- Usable voxels --------------------------------------------------------------------------- */

static bool all_finite(const vxs_patch_plan *plan, const vxs_patch_images *m, size_t voxel)
{
    for (size_t j = 0; j < plan->p; j++) {
        vxs_patch_feature f = vxs_patch_feature_at(plan, j);
        if (!isfinite((float)value_at(plan, m, &f, voxel)))
            return false;
    }
    return true;
}

/* Voxels of the mask whose features are all finite; images without a gap are not searched. */
static void find_usable(const vxs_patch_plan *plan, vxs_patch_images *m)
{
    bool whole = true;
    for (size_t v = 0; v < plan->contrast_count * m->voxels && whole; v++)
        whole = isfinite(m->values[v]);
    for (size_t v = 0; v < m->voxels; v++) {
        m->usable[v] =
            m->mask[v] && (whole || all_finite(plan, m, v)) && (!m->label || isfinite(m->label[v]));
        m->not_usable += m->mask[v] && !m->usable[v];
    }
}

static vxs_status read_contrasts(const vxs_patch_plan *plan, const vxs_patch_paths *paths,
                                 double tolerance, vxs_patch_images *m, vxs_error *err)
{
    vxs_status status = VXS_OK;
    for (size_t c = 0; c < plan->contrast_count && !status; c++)
        status = read_image(m, paths->contrasts[0], paths->contrasts[c], tolerance, m->hash[c],
                            m->values + c * m->voxels, err);
    if (!status && paths->label)
        status = read_image(m, paths->contrasts[0], paths->label, tolerance,
                            m->hash[VXS_MOST_CONTRASTS + 1], m->label, err);
    if (!status && plan->coordinates && m->grid.source == VXS_AFFINE_NONE)
        status = vxs_fail(err, VXS_BAD_DATA,
                          "'%s' does not say where it is; --coordinates requires that",
                          paths->contrasts[0]);
    return status;
}

vxs_status vxs_patch_images_read(const vxs_patch_plan *plan, const vxs_patch_paths *paths,
                                 double tolerance, vxs_patch_images *m, vxs_error *err)
{
    *m = (vxs_patch_images){ .values = NULL };
    vxs_status status = read_grid(m, paths->contrasts[0], err);
    if (!status) {
        m->values = vxs_alloc(plan->contrast_count, vxs_times(m->voxels, sizeof(float)), err);
        m->mask = vxs_alloc(m->voxels, sizeof(*m->mask), err);
        m->usable = vxs_alloc(m->voxels, sizeof(*m->usable), err);
        m->label = paths->label ? vxs_alloc(m->voxels, sizeof(*m->label), err) : NULL;
        bool fine = m->values && m->mask && m->usable && (m->label || !paths->label);
        status = fine ? VXS_OK : VXS_FAILED;
    }
    if (!status)
        status = read_contrasts(plan, paths, tolerance, m, err);
    if (!status)
        status = make_mask(plan, paths, tolerance, m, err);
    for (size_t c = 0; c < plan->contrast_count && !status; c++)
        status = scale_image(plan, paths->contrasts[c], c, m, err);
    for (size_t k = 0; k < plan->mean_count && !status; k++)
        status = find_near(m, plan->means[k], &m->near[k], &m->near_count[k], err);
    if (!status)
        find_usable(plan, m);
    if (status)
        vxs_patch_images_release(m);
    return status;
}
