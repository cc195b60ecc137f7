/* cluster_table.c - clusters of the nonzero voxels of a map, as a table. */
#include "evaluate/evaluate.h"

#include <stdlib.h>

static void write_clusters(const vxs_clusters *clusters, const char *class, vxs_tsv_writer *w)
{
    for (size_t k = 0; k < clusters->count; k++) {
        if (class)
            vxs_tsv_text(w, class);
        vxs_cluster_cells(w, &clusters->rows[k], k + 1);
        vxs_tsv_end_row(w);
    }
}

vxs_status vxs_write_clusters(const vxs_task *t, const double *map, double least, FILE *stream,
                              vxs_error *err)
{
    const vxs_cohort *c = t->cohort;
    size_t outputs = vxs_task_outputs(t), voxels = vxs_grid_voxels(&c->grid);
    vxs_volume volume = { .grid = c->grid, .values = vxs_alloc(voxels, sizeof(float), err) };
    vxs_status status = volume.values ? VXS_OK : VXS_FAILED;
    vxs_tsv_writer w;
    vxs_tsv_init(&w, stream);
    if (outputs > 1)
        vxs_tsv_text(&w, "class");
    vxs_cluster_header(&w);
    vxs_tsv_end_row(&w);
    for (size_t o = 0; o < outputs && !status; o++, map += c->p) {
        vxs_clusters clusters;
        char text[VXS_OUTPUT_TEXT];
        for (size_t j = 0; j < c->p; j++)
            volume.values[c->voxels[j]] = map[j] >= least ? (float)map[j] : 0;
        status = vxs_clusters_find(&volume, 0, 26, 1, &clusters, err);
        if (status)
            break;
        write_clusters(&clusters, outputs > 1 ? vxs_task_output_name(t, o, text) : NULL, &w);
        vxs_clusters_release(&clusters);
    }
    free(volume.values);
    return status;
}
