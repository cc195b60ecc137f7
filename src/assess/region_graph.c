/* region_graph.c - where regions are, and which of them touch: some voxel of one shares a face with
 * some voxel of the other. Regions that touch no others can be linked to those that are nearest. */
#include "assess/model.h"

#include <math.h>
#include <stdlib.h>

#define MOST_REGIONS 20000
#define NOBODY       SIZE_MAX

typedef struct {
    const vxs_cohort *cohort;
    vxs_volume labels;
    size_t *region; /* of a label, or NOBODY */
    size_t most;    /* the largest label */
    bool *touch;    /* p x p */
} toucher;

static vxs_status read_labels(toucher *t, vxs_error *err)
{
    vxs_image image = { .format = NULL };
    char *path = vxs_format(err, "%s/regions.nii.gz", t->cohort->path);
    vxs_status status = path ? vxs_image_read(path, &image, err) : VXS_FAILED;
    if (!status)
        status = vxs_volume_of_image(&image, 0, &t->labels, err);
    for (size_t v = 0; !status && v < vxs_grid_voxels(&t->labels.grid); v++) {
        double label = (double)t->labels.values[v];
        if (!(label >= 0 && label < 1e7) || label != floor(label))
            status =
                vxs_fail(err, VXS_BAD_DATA, "'%s' has a value that is no label: %g", path, label);
        else if (label > (double)t->most)
            t->most = (size_t)label;
    }
    vxs_image_release(&image);
    free(path);
    return status;
}

/* A row of regions.tsv is a feature. */
static vxs_status read_table(toucher *t, vxs_error *err)
{
    vxs_table *table = NULL;
    size_t column = 0;
    char *path = vxs_format(err, "%s/regions.tsv", t->cohort->path);
    vxs_status status = path ? vxs_table_read(path, &table, err) : VXS_FAILED;
    if (!status)
        status = vxs_table_find(table, "index", &column, err);
    if (!status && vxs_table_rows(table) != t->cohort->p)
        status = vxs_fail(err, VXS_BAD_DATA, "'%s' has %zu regions, its cohort %zu", path,
                          vxs_table_rows(table), t->cohort->p);
    t->region = status ? NULL : vxs_alloc(t->most + 1, sizeof(*t->region), err);
    for (size_t k = 0; t->region && k <= t->most; k++)
        t->region[k] = NOBODY;
    for (size_t j = 0; t->region && j < t->cohort->p && !status; j++) {
        double label = NAN;
        status = vxs_table_real(table, j, column, &label, err);
        if (!status && label >= 0 && label <= (double)t->most)
            t->region[(size_t)label] = j;
    }
    vxs_table_free(table);
    free(path);
    return status || t->region ? status : VXS_FAILED;
}

static size_t region_at(const toucher *t, size_t voxel)
{
    return t->region[(size_t)t->labels.values[voxel]];
}

/* Faces along one axis; returns how many pairs are new. */
static size_t look_along(toucher *t, size_t axis)
{
    const size_t *shape = t->labels.grid.shape, p = t->cohort->p;
    size_t step = axis == 0 ? 1 : axis == 1 ? shape[0] : shape[0] * shape[1], count = 0;
    for (size_t v = 0; v < vxs_grid_voxels(&t->labels.grid); v++) {
        if (v / step % shape[axis] + 1 >= shape[axis])
            continue;
        size_t a = region_at(t, v), b = region_at(t, v + step);
        if (a == NOBODY || b == NOBODY || a == b)
            continue;
        size_t low = a < b ? a : b, high = a < b ? b : a;
        count += !t->touch[low * p + high];
        t->touch[low * p + high] = true;
    }
    return count;
}

static vxs_status list_edges(toucher *t, vxs_graph *g, vxs_error *err)
{
    size_t p = t->cohort->p, count = 0, edge = 0;
    t->touch = vxs_alloc(p, p * sizeof(*t->touch), err);
    if (!t->touch)
        return VXS_FAILED;
    for (size_t axis = 0; axis < 3; axis++)
        count += look_along(t, axis);
    vxs_status status = vxs_graph_new(p, count, g, err);
    for (size_t k = 0; k < p * p && !status; k++)
        if (t->touch[k]) {
            g->from[edge] = k / p;
            g->to[edge++] = k % p;
        }
    return status;
}

static vxs_status link_pieces(const toucher *t, vxs_graph *g, vxs_error *err)
{
    size_t cells = vxs_grid_voxels(&t->labels.grid);
    uint32_t *node = vxs_alloc(cells, sizeof(*node), err);
    if (!node)
        return VXS_FAILED;
    for (size_t v = 0; v < cells; v++)
        node[v] = region_at(t, v) == NOBODY ? UINT32_MAX : (uint32_t)region_at(t, v);
    vxs_status status = vxs_graph_link_cells(t->labels.grid.shape, node, g, err);
    free(node);
    return status;
}

/* Sums of places, then means. */
static void add_places(const toucher *t, double (*at)[3], size_t *count)
{
    const vxs_grid *grid = &t->labels.grid;
    double index[3], mm[3];
    for (size_t v = 0; v < vxs_grid_voxels(grid); v++) {
        size_t region = region_at(t, v);
        if (region == NOBODY)
            continue;
        vxs_grid_index(grid, v, index);
        vxs_grid_position(grid, index, mm);
        count[region]++;
        for (int d = 0; d < 3; d++)
            at[region][d] += mm[d];
    }
    for (size_t j = 0; j < t->cohort->p; j++)
        for (int d = 0; d < 3; d++)
            at[j][d] /= count[j] > 0 ? (double)count[j] : NAN;
}

vxs_status vxs_region_centres(const vxs_cohort *c, double (*at)[3], vxs_error *err)
{
    toucher t = { .cohort = c };
    size_t *count = vxs_alloc(c->p, sizeof(*count), err);
    vxs_status status = count ? read_labels(&t, err) : VXS_FAILED;
    if (!status)
        status = read_table(&t, err);
    if (!status)
        add_places(&t, at, count);
    vxs_volume_release(&t.labels);
    free(t.region);
    free(count);
    return status;
}

vxs_status vxs_region_graph(const vxs_cohort *c, bool linked, vxs_graph *g, vxs_error *err)
{
    toucher t = { .cohort = c };
    if (c->p > MOST_REGIONS)
        return vxs_fail(err, VXS_MISUSE, "'--graph regions' is of at most %d regions",
                        MOST_REGIONS);
    vxs_status status = read_labels(&t, err);
    if (!status)
        status = read_table(&t, err);
    if (!status)
        status = list_edges(&t, g, err);
    if (!status && linked)
        status = link_pieces(&t, g, err);
    vxs_volume_release(&t.labels);
    free(t.region);
    free(t.touch);
    return status;
}
