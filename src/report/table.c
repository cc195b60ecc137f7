/* table.c - the region table, as ours, as FSL's cluster and as nilearn's get_clusters_table. */
#include "report/regions.h"

#include <string.h>

typedef struct {
    const char *name, *meaning, *units;
} column;

/* One row a column: header, data dictionary and JSON come from here. */
static const column columns[] = {
    { "index", "number of the cluster, and its value in clusters.nii.gz", "" },
    { "sign", "1: positive values, -1: negative values", "" },
    { "n_voxels", "voxels in the cluster", "" },
    { "volume_mm3", "volume of the cluster", "mm3" },
    { "peak_x", "position of the peak, to the right", "mm" },
    { "peak_y", "position of the peak, to the front", "mm" },
    { "peak_z", "position of the peak, to the top", "mm" },
    { "peak_value", "the value of largest size", "" },
    { "cog_x", "centre of gravity, to the right", "mm" },
    { "cog_y", "centre of gravity, to the front", "mm" },
    { "cog_z", "centre of gravity, to the top", "mm" },
    { "mean", "mean of the values", "" },
    { "sum", "sum of the values", "" },
};
enum { COLUMNS = sizeof(columns) / sizeof(columns[0]) };

static void numbers(const vxs_region_table *t, size_t k, double values[COLUMNS])
{
    const vxs_cluster *c = &t->clusters.rows[k];
    const double row[COLUMNS] = { vxs_region_index(t, k),
                                  c->sign,
                                  (double)c->voxels,
                                  c->volume,
                                  c->peak[0],
                                  c->peak[1],
                                  c->peak[2],
                                  c->peak_value,
                                  c->centre[0],
                                  c->centre[1],
                                  c->centre[2],
                                  c->mean,
                                  c->sum };
    memcpy(values, row, sizeof(row));
}

/* Ten digits: more than anybody reads, and free of the dust of sums. */
static void write_number(vxs_tsv_writer *w, double value)
{
    char text[VXS_REAL_TEXT];
    double rounded = 0;
    snprintf(text, sizeof(text), "%.10g", value);
    vxs_tsv_real(w, vxs_parse_real(text, &rounded) ? rounded : value);
}

static void write_ours(const vxs_region_table *t, FILE *stream)
{
    vxs_tsv_writer w;
    char name[256];
    vxs_tsv_init(&w, stream);
    for (int j = 0; j < COLUMNS; j++)
        vxs_tsv_text(&w, columns[j].name);
    for (size_t a = 0; a < t->atlases; a++) {
        static const char *const parts[] = { "label", "percent", "peak" };
        for (int j = 0; j < 3; j++) {
            snprintf(name, sizeof(name), "%s_%s", t->atlas_name[a], parts[j]);
            vxs_tsv_text(&w, name);
        }
    }
    vxs_tsv_end_row(&w);
    for (size_t k = 0; k < t->clusters.count; k++) {
        double values[COLUMNS];
        numbers(t, k, values);
        for (int j = 0; j < COLUMNS; j++)
            write_number(&w, values[j]);
        for (size_t a = 0; a < t->atlases; a++) {
            vxs_tsv_text(&w, t->overlap[a][k].label);
            write_number(&w, t->overlap[a][k].percent);
            vxs_tsv_text(&w, t->overlap[a][k].peak_label);
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
                c->peak_index[1], c->peak_index[2], c->centre_index[0], c->centre_index[1],
                c->centre_index[2]);
    }
}

static void write_nilearn(const vxs_region_table *t, FILE *stream)
{
    fputs("Cluster ID\tX\tY\tZ\tPeak Stat\tCluster Size (mm3)\n", stream);
    for (size_t k = 0; k < t->clusters.count; k++) {
        const vxs_cluster *c = &t->clusters.rows[k];
        fprintf(stream, "%d\t%.6g\t%.6g\t%.6g\t%.6g\t%.0f\n", vxs_region_index(t, k), c->peak[0],
                c->peak[1], c->peak[2], c->peak_value, c->volume);
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
        vxs_json_text(w, "label", t->overlap[a][k].label);
        vxs_json_real(w, "percent", t->overlap[a][k].percent);
        vxs_json_text(w, "peak", t->overlap[a][k].peak_label);
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
        double values[COLUMNS];
        numbers(t, k, values);
        vxs_json_open_object(&w, NULL);
        for (int j = 0; j < COLUMNS; j++)
            vxs_json_real(&w, columns[j].name, values[j]);
        write_atlases(&w, t, k);
        vxs_json_close_object(&w);
    }
    vxs_json_close_array(&w);
    vxs_json_close_object(&w);
}

/* What the columns of clusters.tsv mean, as BIDS describes tables. */
void vxs_region_dictionary(const vxs_region_table *t, FILE *stream)
{
    vxs_json_writer w;
    vxs_json_init(&w, stream);
    vxs_json_open_object(&w, NULL);
    write_facts(&w, t);
    for (int j = 0; j < COLUMNS && t->settings->format == VXS_TABLE_VOXSIFT; j++) {
        vxs_json_open_object(&w, columns[j].name);
        vxs_json_text(&w, "Description", columns[j].meaning);
        if (*columns[j].units)
            vxs_json_text(&w, "Units", columns[j].units);
        vxs_json_close_object(&w);
    }
    vxs_json_close_object(&w);
}
