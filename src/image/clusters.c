/* clusters.c - connected clusters of voxels and their properties. */
#include "voxsift/internal/image.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* Labels the clusters of one sign; a second call labels the other one. */
static vxs_status label_sign(const vxs_volume *map, double threshold, int sign, int connectivity,
                             uint8_t *above, int32_t *labels, size_t *count, vxs_error *err)
{
    for (size_t v = 0; v < vxs_grid_voxels(&map->grid); v++) {
        double value = sign * (double)map->values[v];
        above[v] = value > threshold && isfinite(value);
    }
    return vxs_components(above, map->grid.shape, connectivity, labels, count, err);
}

static void add_voxel(vxs_cluster *c, const vxs_grid *grid, size_t v, double value)
{
    double index[3];
    vxs_grid_index(grid, v, index);
    if (c->voxels == 0 || fabs(value) > fabs(c->peak_value)) {
        c->peak_value = value;
        memcpy(c->peak_index, index, sizeof(index));
    }
    c->voxels++;
    c->sum += value;
    for (int d = 0; d < 3; d++)
        c->center_index[d] += fabs(value) * index[d];
}

static void finish(vxs_cluster *c, const vxs_grid *grid)
{
    for (int d = 0; d < 3; d++)
        c->center_index[d] /= fabs(c->sum); /* all values of a cluster have one sign */
    c->mean = c->sum / (double)c->voxels;
    c->volume = (double)c->voxels * vxs_grid_voxel_volume(grid);
    vxs_grid_position(grid, c->peak_index, c->peak);
    vxs_grid_position(grid, c->center_index, c->center);
}

static vxs_status measure(const vxs_volume *map, const int32_t *labels, size_t count,
                          vxs_clusters *clusters, vxs_error *err)
{
    vxs_cluster *rows = vxs_resize(clusters->rows, clusters->count + count + 1, sizeof(*rows), err);
    if (!rows)
        return VXS_FAILED;
    clusters->rows = rows;
    memset(rows + clusters->count, 0, count * sizeof(*rows));
    for (size_t v = 0; v < vxs_grid_voxels(&map->grid); v++) {
        if (labels[v] == 0)
            continue;
        size_t k = clusters->count + (size_t)labels[v] - 1;
        rows[k].sign = map->values[v] > 0 ? 1 : -1;
        add_voxel(&rows[k], &map->grid, v, (double)map->values[v]);
        clusters->labels[v] = (int32_t)k + 1;
    }
    for (size_t k = 0; k < count; k++)
        finish(&rows[clusters->count + k], &map->grid);
    clusters->count += count;
    return VXS_OK;
}

typedef struct {
    size_t old, voxels;
} place;

static int larger_first(const void *a, const void *b)
{
    const place *left = a, *right = b;
    if (left->voxels != right->voxels)
        return left->voxels < right->voxels ? 1 : -1;
    return (left->old > right->old) - (left->old < right->old);
}

/* Sorts the clusters of both signs and omits small ones. */
static vxs_status arrange(vxs_clusters *clusters, size_t min_voxels, vxs_error *err)
{
    size_t count = clusters->count, kept = 0;
    place *order = vxs_alloc(count, sizeof(*order), err);
    int32_t *number = vxs_alloc(count + 1, sizeof(*number), err);
    vxs_cluster *rows = vxs_alloc(count, sizeof(*rows), err);
    if (order && number && rows) {
        for (size_t k = 0; k < count; k++)
            order[k] = (place){ k, clusters->rows[k].voxels };
        qsort(order, count, sizeof(*order), larger_first);
        for (; kept < count && order[kept].voxels >= min_voxels; kept++) {
            rows[kept] = clusters->rows[order[kept].old];
            number[order[kept].old + 1] = (int32_t)kept + 1;
        }
        for (size_t v = 0; v < vxs_grid_voxels(&clusters->grid); v++)
            clusters->labels[v] = number[clusters->labels[v]];
        memcpy(clusters->rows, rows, kept * sizeof(*rows));
        clusters->count = kept;
    }
    vxs_status status = order && number && rows ? VXS_OK : VXS_FAILED;
    free(rows);
    free(number);
    free(order);
    return status;
}

vxs_status vxs_clusters_find(const vxs_volume *map, double threshold, int connectivity,
                             size_t min_voxels, vxs_clusters *clusters, vxs_error *err)
{
    size_t voxels = vxs_grid_voxels(&map->grid);
    uint8_t *above = vxs_alloc(voxels, sizeof(*above), err);
    int32_t *labels = vxs_alloc(voxels, sizeof(*labels), err);
    *clusters = (vxs_clusters){ .grid = map->grid };
    clusters->labels = vxs_alloc(voxels, sizeof(*clusters->labels), err);
    vxs_status status = above && labels && clusters->labels ? VXS_OK : VXS_FAILED;
    for (int sign = 1; sign >= -1 && !status; sign -= 2) {
        size_t count = 0;
        status = label_sign(map, threshold, sign, connectivity, above, labels, &count, err);
        if (!status)
            status = measure(map, labels, count, clusters, err);
    }
    if (!status)
        status = arrange(clusters, min_voxels, err);
    if (status)
        vxs_clusters_release(clusters);
    free(labels);
    free(above);
    return status;
}

vxs_status vxs_regions_find(const vxs_volume *map, int connectivity, vxs_clusters *regions,
                            vxs_error *err)
{
    size_t voxels = vxs_grid_voxels(&map->grid), count = 0;
    uint8_t *inside = vxs_alloc(voxels, sizeof(*inside), err);
    int32_t *labels = vxs_alloc(voxels, sizeof(*labels), err);
    *regions = (vxs_clusters){ .grid = map->grid };
    regions->labels = vxs_alloc(voxels, sizeof(*regions->labels), err);
    vxs_status status = inside && labels && regions->labels ? VXS_OK : VXS_FAILED;
    for (size_t v = 0; v < voxels && !status; v++)
        inside[v] = map->values[v] != 0 && isfinite(map->values[v]);
    if (!status)
        status = vxs_components_of_equal_values(inside, map->values, map->grid.shape, connectivity,
                                                labels, &count, err);
    if (!status)
        status = measure(map, labels, count, regions, err);
    if (!status)
        status = arrange(regions, 1, err);
    if (status)
        vxs_clusters_release(regions);
    free(labels);
    free(inside);
    return status;
}

void vxs_clusters_release(vxs_clusters *clusters)
{
    free(clusters->rows);
    free(clusters->labels);
    *clusters = (vxs_clusters){ .rows = NULL };
}

static size_t voxel_at(const vxs_grid *grid, const double index[3])
{
    return (size_t)index[0] +
           grid->shape[0] * ((size_t)index[1] + grid->shape[1] * (size_t)index[2]);
}

static void find_overlap(const vxs_cluster *c, const size_t *counts, const vxs_atlas *atlas,
                         vxs_overlap *row)
{
    size_t best = atlas->count;
    for (size_t k = 0; k < atlas->count; k++)
        if (counts[k] > 0 && (best == atlas->count || counts[k] > counts[best]))
            best = k;
    if (best == atlas->count)
        return;
    row->label = atlas->names[best];
    row->percent = 100 * (double)counts[best] / (double)c->voxels;
}

vxs_status vxs_clusters_overlap(const vxs_clusters *clusters, const vxs_atlas *atlas,
                                vxs_overlap *rows, vxs_error *err)
{
    size_t voxels = vxs_grid_voxels(&clusters->grid);
    int32_t *labels = vxs_alloc(voxels, sizeof(*labels), err);
    size_t *counts = vxs_alloc(vxs_times(clusters->count, atlas->count), sizeof(*counts), err);
    vxs_status status =
        labels && counts ? vxs_atlas_resample(atlas, &clusters->grid, labels, err) : VXS_FAILED;
    for (size_t v = 0; v < voxels && !status; v++) {
        size_t at = clusters->labels[v] ? vxs_atlas_find(atlas, labels[v]) : atlas->count;
        if (at < atlas->count)
            counts[(size_t)(clusters->labels[v] - 1) * atlas->count + at]++;
    }
    for (size_t k = 0; k < clusters->count && !status; k++) {
        const vxs_cluster *c = &clusters->rows[k];
        size_t at = vxs_atlas_find(atlas, labels[voxel_at(&clusters->grid, c->peak_index)]);
        rows[k] = (vxs_overlap){ .peak_label = at < atlas->count ? atlas->names[at] : NULL };
        find_overlap(c, counts + k * atlas->count, atlas, &rows[k]);
    }
    free(counts);
    free(labels);
    return status;
}

/* ---- Table rows ------------------------------------------------------------------------------ */

const vxs_cluster_column vxs_cluster_columns[] = {
    { "index", "number of the cluster, and its value in clusters.nii.gz", "" },
    { "sign", "1: positive values, -1: negative values", "" },
    { "n_voxels", "voxels in the cluster", "" },
    { "volume_mm3", "volume of the cluster", "mm3" },
    { "peak_x", "position of the peak, to the right", "mm" },
    { "peak_y", "position of the peak, to the front", "mm" },
    { "peak_z", "position of the peak, to the top", "mm" },
    { "peak_value", "the value of largest size", "" },
    { "cog_x", "center of gravity, to the right", "mm" },
    { "cog_y", "center of gravity, to the front", "mm" },
    { "cog_z", "center of gravity, to the top", "mm" },
    { "mean", "mean of the values", "" },
    { "sum", "sum of the values", "" },
    { NULL, NULL, NULL },
};

void vxs_cluster_numbers(const vxs_cluster *c, size_t number, double values[VXS_CLUSTER_COLUMNS])
{
    const double row[VXS_CLUSTER_COLUMNS] = { (double)number, c->sign,       (double)c->voxels,
                                              c->volume,      c->peak[0],    c->peak[1],
                                              c->peak[2],     c->peak_value, c->center[0],
                                              c->center[1],   c->center[2],  c->mean,
                                              c->sum };
    memcpy(values, row, sizeof(row));
}

void vxs_write_rounded(vxs_tsv_writer *w, double value)
{
    char text[VXS_REAL_TEXT];
    double rounded = 0;
    snprintf(text, sizeof(text), "%.10g", value);
    vxs_tsv_real(w, vxs_parse_real(text, &rounded) ? rounded : value);
}

void vxs_cluster_header(vxs_tsv_writer *w)
{
    for (const vxs_cluster_column *c = vxs_cluster_columns; c->name; c++)
        vxs_tsv_text(w, c->name);
}

void vxs_cluster_cells(vxs_tsv_writer *w, const vxs_cluster *c, size_t number)
{
    double values[VXS_CLUSTER_COLUMNS];
    vxs_cluster_numbers(c, number, values);
    for (int j = 0; j < VXS_CLUSTER_COLUMNS; j++)
        vxs_write_rounded(w, strcmp(vxs_cluster_columns[j].units, "mm") == 0
                                 ? vxs_round_mm(values[j])
                                 : values[j]);
}
