/* maps.c - maps over an underlay, and tables of their clusters or fused regions. */
#include "report/sections.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define MOST_ROWS 15

vxs_status vxs_places_volume(const char *path, size_t number, vxs_volume *volume, size_t *volumes,
                             vxs_error *err)
{
    vxs_image image;
    vxs_status status = vxs_image_read(path, &image, err);
    if (status)
        return status;
    *volumes = image.volumes;
    if (number < image.volumes)
        status = vxs_volume_from_image(&image, number, volume, err);
    vxs_image_release(&image);
    return status;
}

/* The average brain where the header has the code of MNI space, or what --underlay names. */
static vxs_status read_underlay(vxs_places *m, vxs_error *err)
{
    const char *requested = m->s->settings->underlay;
    size_t volumes = 0;
    char *path = NULL;
    if (requested && strcmp(requested, "none") == 0)
        return VXS_OK;
    if (!requested && m->mask.grid.sform_code != 4)
        return VXS_OK;
    vxs_status status =
        vxs_atlas_locate(requested ? requested : "icbm152", &path, requested ? err : NULL);
    if (!status)
        status = vxs_places_volume(path, 0, &m->underlay, &volumes, err);
    else if (!requested) /* --underlay is not given */
        status = VXS_OK;
    if (!status && m->underlay.values)
        status = vxs_grid_check_orientation_known(&m->underlay.grid, &m->mask.grid, path,
                                                  "underlay", err);
    free(path);
    return status;
}

/* All of a list with commas; the names file is that of the first. */
static vxs_status read_atlases(vxs_places *m, vxs_error *err)
{
    vxs_status status = VXS_OK;
    for (const char *at = m->s->settings->atlas; at && *at && !status; at += *at == ',') {
        size_t length = strcspn(at, ",");
        if (m->other_count == VXS_MOST_OTHERS)
            return vxs_fail(err, VXS_MISUSE, "a page names regions by at most %d atlases",
                            VXS_MOST_OTHERS + 1);
        char *name = vxs_format(err, "%.*s", (int)length, at);
        if (!name)
            return VXS_FAILED;
        if (!m->has_atlas) {
            status = vxs_atlas_read(name, m->s->settings->atlas_names, &m->atlas, err);
            m->has_atlas = !status;
            free(name);
        } else {
            m->other_name[m->other_count] = name;
            status = vxs_atlas_read(name, NULL, &m->others[m->other_count], err);
            m->other_count += !status;
        }
        at += length;
    }
    return status;
}

vxs_status vxs_places_read(const vxs_results *s, vxs_places *m, vxs_error *err)
{
    *m = (vxs_places){ .s = s };
    size_t volumes = 0;
    char *path = vxs_format(err, "%s/mask.nii.gz", m->s->directory);
    vxs_status status = path ? vxs_places_volume(path, 0, &m->mask, &volumes, err) : VXS_FAILED;
    free(path);
    size_t voxels = status ? 0 : vxs_grid_voxels(&m->mask.grid);
    m->inside = status ? NULL : vxs_alloc(voxels, sizeof(*m->inside), err);
    for (size_t v = 0; v < voxels && m->inside; v++)
        m->inside[v] = m->mask.values[v] != 0;
    if (!status)
        status = m->inside ? read_underlay(m, err) : VXS_FAILED;
    return status ? status : read_atlases(m, err);
}

void vxs_places_release(vxs_places *m)
{
    vxs_volume_release(&m->mask);
    vxs_volume_release(&m->underlay);
    free(m->inside);
    if (m->has_atlas)
        vxs_atlas_release(&m->atlas);
    for (size_t a = 0; a < VXS_MOST_OTHERS; a++) {
        vxs_atlas_release(&m->others[a]);
        free(m->other_name[a]);
    }
}

/* ---- Regions --------------------------------------------------------------------------------- */

/* Clusters have a peak and a label there; fused regions, all of whose voxels have one value, have
 * none. The label with the largest overlap may be another one. */
static void write_region_header(const vxs_places *m, bool piece)
{
    const char *first = piece ? "weight" : "peak value", *place = piece ? "center" : "peak";
    vxs_html(m->s->out,
             "<table class=\"n\"><tr><th>voxels</th><th>mm&sup3;</th><th>%s</th><th>%s x</th>"
             "<th>y</th><th>z</th>",
             first, place);
    if (m->has_atlas && !piece)
        fputs("<th class=\"t\">label at the peak</th>", m->s->out);
    if (m->has_atlas)
        fputs("<th class=\"t\">label with the largest overlap</th><th>overlap</th>", m->s->out);
    for (size_t a = 0; a < m->other_count; a++)
        vxs_html(m->s->out, "<th class=\"t\">%s</th>", m->other_name[a]);
    fputs("</tr>\n", m->s->out);
}

/* The overlap with each further atlas stands `clusters` behind that with the one before. */
static void write_region(const vxs_places *m, const vxs_cluster *c, const vxs_overlap *overlap,
                         size_t clusters, bool piece)
{
    FILE *out = m->s->out;
    const double *at = piece ? c->center : c->peak;
    const char *peak = overlap->peak_label, *most = overlap->label;
    vxs_html(out, "<tr><td>%z</td><td>%g</td><td>%v</td><td>%f</td><td>%f</td><td>%f</td>",
             c->voxels, c->volume, c->peak_value, at[0], at[1], at[2]);
    if (m->has_atlas && !piece)
        vxs_html(out, "<td class=\"t\">%s</td>", peak ? peak : "none");
    if (m->has_atlas)
        vxs_html(out, "<td class=\"t\">%s</td><td>%p</td>", most ? most : "none",
                 overlap->percent / 100);
    for (size_t a = 1; a <= m->other_count; a++) {
        const char *other = overlap[a * clusters].label;
        vxs_html(out, "<td class=\"t\">%s</td>", other ? other : "none");
    }
    fputs("</tr>\n", out);
}

static void write_region_notes(const vxs_places *m, size_t count, bool fused)
{
    vxs_html(m->s->out, "<p class=\"small\">x, y, z in mm.");
    if (m->has_atlas)
        vxs_html(m->s->out, " Overlap: percentage of the voxels of the %s that have the label.",
                 fused ? "fused region" : "cluster");
    if (count > MOST_ROWS)
        vxs_html(m->s->out, " The largest %d of %z %s.", MOST_ROWS, count,
                 fused ? "fused regions" : "clusters");
    fputs("</p>\n", m->s->out);
}

static vxs_status write_regions(const vxs_places *m, const vxs_clusters *clusters, bool fused,
                                vxs_error *err)
{
    vxs_overlap *overlap = vxs_alloc(clusters->count, (1 + m->other_count) * sizeof(*overlap), err);
    vxs_status status = overlap ? VXS_OK : VXS_FAILED;
    if (!status && m->has_atlas)
        status = vxs_clusters_overlap(clusters, &m->atlas, overlap, err);
    for (size_t a = 0; a < m->other_count && !status; a++)
        status =
            vxs_clusters_overlap(clusters, &m->others[a], overlap + (a + 1) * clusters->count, err);
    if (!status) {
        write_region_header(m, fused);
        for (size_t k = 0; k < clusters->count && k < MOST_ROWS; k++)
            write_region(m, &clusters->rows[k], &overlap[k], clusters->count, fused);
        fputs("</table>\n", m->s->out);
        write_region_notes(m, clusters->count, fused);
    }
    free(overlap);
    return status;
}

static size_t strongest(const vxs_clusters *clusters)
{
    size_t best = 0;
    for (size_t k = 1; k < clusters->count; k++)
        if (fabs(clusters->rows[k].peak_value) > fabs(clusters->rows[best].peak_value))
            best = k;
    return best;
}

/* The fused region with the largest sum of weights. */
static size_t heaviest(const vxs_clusters *regions)
{
    size_t best = 0;
    for (size_t k = 1; k < regions->count; k++)
        if (fabs(regions->rows[k].sum) > fabs(regions->rows[best].sum))
            best = k;
    return best;
}

#define SAME_GRID 0.1 /* mm, as 'voxsift cohort' has it */

#define OUTLIERS 0.01 /* of the voxels may lie beyond the colors of a map of fused regions */

static int by_size(const void *a, const void *b)
{
    double left = fabs((*(const vxs_cluster *const *)a)->mean),
           right = fabs((*(const vxs_cluster *const *)b)->mean);
    return (left < right) - (left > right);
}

/* A few voxels at the rim may have weights so large that all others would be dark. */
static vxs_status scale_regions(const vxs_clusters *regions, double *most, vxs_error *err)
{
    size_t voxels = 0, beyond = 0, k = 0;
    const vxs_cluster **order = vxs_alloc(regions->count, sizeof(*order), err);
    if (!order)
        return VXS_FAILED;
    for (size_t j = 0; j < regions->count; j++) {
        order[j] = &regions->rows[j];
        voxels += order[j]->voxels;
    }
    qsort(order, regions->count, sizeof(*order), by_size);
    while (k + 1 < regions->count &&
           (double)(beyond + order[k]->voxels) <= OUTLIERS * (double)voxels)
        beyond += order[k++]->voxels;
    *most = fabs(order[k]->mean);
    free(order);
    return VXS_OK;
}

/* A map in slices, and its table of regions. `output`: of more than two classes. */
static vxs_status write_map(const vxs_places *m, const vxs_volume *map, const char *caption,
                            const vxs_results_map *about, size_t output, vxs_error *err)
{
    char hot[VXS_METRIC_TEXT], cold[VXS_METRIC_TEXT];
    vxs_clusters clusters;
    const vxs_record *r = &m->s->record;
    bool fused = m->s->kind->model && vxs_record_has_fused_regions(r);
    vxs_status status = fused ? vxs_regions_find(map, vxs_record_neighbors(r), &clusters, err)
                              : vxs_clusters_find(map, 0, 26, 1, &clusters, err);
    if (status)
        return status;
    if (clusters.count == 0) {
        vxs_html(m->s->out, "<p>%s All values are 0.</p>\n", caption);
    } else {
        vxs_slices slices = { .map = map,
                              .underlay = m->underlay.values ? &m->underlay : NULL,
                              .mask = m->inside,
                              .hot = vxs_sign_words(m->s, about->sign, output, true, hot),
                              .cold = vxs_sign_words(m->s, about->sign, output, false, cold) };
        const vxs_cluster *shown = &clusters.rows[(fused ? heaviest : strongest)(&clusters)];
        memcpy(slices.peak, fused ? shown->center : shown->peak, sizeof(slices.peak));
        status = fused ? scale_regions(&clusters, &slices.most, err) : VXS_OK;
        if (!status)
            status = vxs_slices_write(m->s->out, &slices, caption, err);
        if (!status && about->regions && (fused || !vxs_record_is_dense(r)))
            status = write_regions(m, &clusters, fused, err);
    }
    vxs_clusters_release(&clusters);
    return status;
}

/* Maps are of the voxels of the mask. */
static vxs_status read_map(const vxs_places *m, const char *path, size_t number, vxs_volume *map,
                           size_t *volumes, vxs_error *err)
{
    vxs_status status = vxs_places_volume(path, number, map, volumes, err);
    if (!status && !(vxs_grid_distance(&map->grid, &m->mask.grid) <= SAME_GRID))
        status = vxs_fail(err, VXS_BAD_DATA, "'%s' is not on the grid of '%s/mask.nii.gz'", path,
                          m->s->directory);
    return status;
}

/* ---- Maps ------------------------------------------------------------------------------------ */

static vxs_status write_file(const vxs_places *m, const vxs_results_map *r, vxs_error *err)
{
    size_t volumes = 1;
    char *path = vxs_format(err, "%s/%s", m->s->directory, r->file);
    vxs_status status = path ? VXS_OK : VXS_FAILED;
    if (path && r->optional && access(path, F_OK) != 0)
        volumes = 0;
    for (size_t k = 0; k < volumes && !status; k++) {
        vxs_volume map = { .values = NULL };
        status = read_map(m, path, k, &map, &volumes, err);
        const char *words = r->sizes && vxs_record_has_sizes(&m->s->record) ? r->sizes : r->words;
        char text[VXS_OUTPUT_TEXT];
        char *caption = volumes > 1 ? vxs_format(err, "%s. %s",
                                                 vxs_record_contrast(&m->s->record, k, text), words)
                                    : vxs_format(err, "%s", words);
        if (!status)
            status = caption ? write_map(m, &map, caption, r, k, err) : VXS_FAILED;
        free(caption);
        vxs_volume_release(&map);
    }
    free(path);
    return status;
}

vxs_status vxs_section_maps(const vxs_results *s, vxs_error *err)
{
    vxs_places m;
    if (s->record.features_are != VXS_FEATURES_VOXELS)
        return VXS_OK;
    vxs_html(s->out, "<h2>Maps</h2>\n<p class=\"warn\">%s</p>\n", s->kind->caution);
    const char *words = vxs_weight_words(&s->record);
    if (words)
        vxs_html(s->out, "<p>%s</p>\n", words);
    if (s->kind->model && vxs_reads_no_feature(&s->record.task, &s->record.settings))
        return VXS_OK;
    vxs_status status = vxs_places_read(s, &m, err);
    for (const vxs_results_map *r = s->kind->maps; r->file && !status; r++)
        if (!r->selected || !vxs_record_is_dense(&s->record))
            status = write_file(&m, r, err);
    vxs_places_release(&m);
    return status;
}
