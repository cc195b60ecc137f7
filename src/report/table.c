/* table.c - the region table, as ours, as FSL's cluster and as nilearn's get_clusters_table. */
#include "report/regions.h"

#include <math.h>
#include <string.h>

/* Of each atlas, whose name stands before that of the column. */
static const vxs_cluster_column label_columns[] = {
    { "peak_label", "label of the atlas at the peak", "" },
    { "overlap_label", "label of the atlas that covers most of the cluster", "" },
    { "overlap_percent", "share of the cluster's voxels that it covers", "%" },
    { NULL, NULL, NULL },
};

/* In files with all digits, on a terminal with three. */
static void write_numbers(const vxs_region_table *t, size_t k, vxs_tsv_writer *w)
{
    double values[VXS_CLUSTER_COLUMNS];
    if (!t->rounded) {
        vxs_cluster_cells(w, &t->clusters.rows[k], (size_t)vxs_region_index(t, k));
        return;
    }
    vxs_cluster_numbers(&t->clusters.rows[k], (size_t)vxs_region_index(t, k), values);
    for (int j = 0; j < VXS_CLUSTER_COLUMNS; j++) {
        char text[VXS_REAL_TEXT];
        bool mm = strcmp(vxs_cluster_columns[j].units, "mm") == 0;
        bool whole = values[j] == floor(values[j]);
        vxs_tsv_text(w, mm      ? vxs_mm_text(values[j], text)
                        : whole ? vxs_short_text(values[j], text)
                                : vxs_score_text(values[j], false, text));
    }
}

static void write_ours(const vxs_region_table *t, FILE *stream)
{
    vxs_tsv_writer w;
    char name[256];
    vxs_tsv_init(&w, stream);
    vxs_cluster_header(&w);
    for (size_t a = 0; a < t->atlases; a++) {
        for (const vxs_cluster_column *c = label_columns; c->name; c++) {
            snprintf(name, sizeof(name), "%s_%s", t->atlas_name[a], c->name);
            vxs_tsv_text(&w, name);
        }
    }
    vxs_tsv_end_row(&w);
    for (size_t k = 0; k < t->clusters.count; k++) {
        write_numbers(t, k, &w);
        for (size_t a = 0; a < t->atlases; a++) {
            vxs_tsv_text(&w, t->overlap[a][k].peak_label);
            vxs_tsv_text(&w, t->overlap[a][k].label);
            vxs_tsv_real(&w, vxs_round_percent(t->overlap[a][k].percent));
        }
        vxs_tsv_end_row(&w);
    }
}

/* Largest cluster first, with the highest number, positions in voxels. */
static void write_fsl(const vxs_region_table *t, FILE *stream)
{
    fputs("Cluster Index\tVoxels\tMAX\tMAX X (vox)\tMAX Y (vox)\tMAX Z (vox)\tCOG X (vox)\t"
          "COG Y (vox)\tCOG Z (vox)\n",
          stream);
    for (size_t k = 0; k < t->clusters.count; k++) {
        const vxs_cluster *c = &t->clusters.rows[k];
        fprintf(stream, "%d\t%zu\t%.6g\t%.0f\t%.0f\t%.0f\t%.6g\t%.6g\t%.6g\n",
                vxs_region_index(t, k), c->voxels, c->peak_value, c->peak_index[0],
                c->peak_index[1], c->peak_index[2], c->center_index[0], c->center_index[1],
                c->center_index[2]);
    }
}

static void write_nilearn(const vxs_region_table *t, FILE *stream)
{
    fputs("Cluster ID\tX\tY\tZ\tPeak Stat\tCluster Size (mm3)\n", stream);
    for (size_t k = 0; k < t->clusters.count; k++) {
        const vxs_cluster *c = &t->clusters.rows[k];
        fprintf(stream, "%d\t%.1f\t%.1f\t%.1f\t%.6g\t%.0f\n", vxs_region_index(t, k),
                vxs_round_mm(c->peak[0]), vxs_round_mm(c->peak[1]), vxs_round_mm(c->peak[2]),
                c->peak_value, c->volume);
    }
}

void vxs_region_write(const vxs_region_table *t, FILE *stream)
{
    static void (*const writers[])(const vxs_region_table *, FILE *) = { write_ours, write_fsl,
                                                                         write_nilearn };
    writers[t->settings->format](t, stream);
}

static void write_atlases(vxs_json_writer *w, const vxs_region_table *t, size_t k)
{
    vxs_json_open_object(w, "atlases");
    for (size_t a = 0; a < t->atlases; a++) {
        vxs_json_open_object(w, t->atlas_name[a]);
        vxs_json_text(w, "peak_label", t->overlap[a][k].peak_label);
        vxs_json_text(w, "overlap_label", t->overlap[a][k].label);
        vxs_json_real(w, "overlap_percent", t->overlap[a][k].percent);
        vxs_json_close_object(w);
    }
    vxs_json_close_object(w);
}

static void write_facts(vxs_json_writer *w, const vxs_region_table *t)
{
    vxs_json_text(w, "map", t->map);
    vxs_json_real(w, "threshold", t->settings->threshold);
    vxs_json_whole(w, "connectivity", t->connectivity);
    vxs_json_whole(w, "min_voxels", t->settings->min_size);
    vxs_json_text(w, "voxsift", VXS_VERSION);
}

void vxs_region_write_json(const vxs_region_table *t, FILE *stream)
{
    vxs_json_writer w;
    vxs_json_init(&w, stream);
    vxs_json_open_object(&w, NULL);
    write_facts(&w, t);
    vxs_json_open_array(&w, "clusters");
    for (size_t k = 0; k < t->clusters.count; k++) {
        double values[VXS_CLUSTER_COLUMNS];
        vxs_cluster_numbers(&t->clusters.rows[k], (size_t)vxs_region_index(t, k), values);
        vxs_json_open_object(&w, NULL);
        for (int j = 0; j < VXS_CLUSTER_COLUMNS; j++)
            vxs_json_real(&w, vxs_cluster_columns[j].name, values[j]);
        write_atlases(&w, t, k);
        vxs_json_close_object(&w);
    }
    vxs_json_close_array(&w);
    vxs_warnings_json(&w, t->warnings);
    vxs_json_close_object(&w);
}

static void write_meaning(vxs_json_writer *w, const char *name, const vxs_cluster_column *c)
{
    vxs_json_open_object(w, name);
    vxs_json_text(w, "Description", c->meaning);
    if (*c->units)
        vxs_json_text(w, "Units", c->units);
    vxs_json_close_object(w);
}

/* What the columns of clusters.tsv mean, as BIDS describes tables. */
void vxs_region_dictionary(const vxs_region_table *t, FILE *stream)
{
    vxs_json_writer w;
    char name[256];
    vxs_json_init(&w, stream);
    vxs_json_open_object(&w, NULL);
    write_facts(&w, t);
    bool ours = t->settings->format == VXS_TABLE_VOXSIFT;
    for (const vxs_cluster_column *c = vxs_cluster_columns; c->name && ours; c++)
        write_meaning(&w, c->name, c);
    for (size_t a = 0; a < t->atlases && ours; a++)
        for (const vxs_cluster_column *c = label_columns; c->name; c++) {
            snprintf(name, sizeof(name), "%s_%s", t->atlas_name[a], c->name);
            write_meaning(&w, name, c);
        }
    vxs_json_close_object(&w);
}
