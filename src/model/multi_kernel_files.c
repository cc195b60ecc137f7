/* multi_kernel_files.c - what a machine of several kernels keeps in its model's directory.
 *
 * alpha.npy is that of every kernel machine (machine_files.c). kernel_weights.tsv has a row for
 * each group: the weight of its kernel, and the norm of the weights of subjects in it as a share of
 * the largest: 1 where there is a weight, less the further a group is from getting one.
 * kernel_weights.nii.gz has the weight of its group at each voxel, of several groups their sum. */
#include "model/machine.h"

#include <math.h>
#include <stdlib.h>

/* ---- Writing --------------------------------------------------------------------------------- */

static void write_kernels(const vxs_model *m, const vxs_task *t, FILE *stream)
{
    const vxs_groups *g = &t->groups;
    vxs_tsv_writer w;
    char name[VXS_GROUP_NAME];
    vxs_tsv_init(&w, stream);
    if (m->output_count > 1)
        vxs_tsv_text(&w, "class");
    vxs_tsv_text(&w, "group");
    vxs_tsv_text(&w, "features");
    vxs_tsv_text(&w, "weight");
    vxs_tsv_text(&w, "norm");
    vxs_tsv_end_row(&w);
    for (size_t o = 0; o < m->output_count; o++)
        for (size_t k = 0; k < g->count; k++) {
            const vxs_machine *machine = m->outputs[o].encoded;
            if (m->output_count > 1)
                vxs_tsv_text(&w, m->outputs[o].name);
            vxs_tsv_text(&w, vxs_group_name(g, t->cohort, k, name));
            vxs_tsv_real(&w, (double)(g->end[k] - g->begin[k]));
            vxs_tsv_real(&w, machine->kernel_weight[k]);
            vxs_tsv_real(&w, machine->kernel_norm[k]);
            vxs_tsv_end_row(&w);
        }
}

static bool has_voxels(const vxs_model *m, const vxs_task *t)
{
    (void)t;
    return m->voxels != NULL;
}

static vxs_status write_map(const vxs_model *m, const vxs_task *t, FILE *stream, vxs_error *err)
{
    static const vxs_machine_map map = { "kernel_weights.nii.gz", "kernel weight",
                                         "voxsift " VXS_VERSION " weights of kernels" };
    const vxs_groups *g = &t->groups;
    size_t voxels = vxs_grid_voxels(&m->grid);
    float *values = vxs_alloc(m->output_count, vxs_times(voxels, sizeof(*values)), err);
    vxs_status status = values ? VXS_OK : VXS_FAILED;
    for (size_t o = 0; o < m->output_count && values; o++) {
        const vxs_machine *machine = m->outputs[o].encoded;
        for (size_t k = 0; k < g->count; k++)
            for (size_t l = g->begin[k]; l < g->end[k]; l++)
                values[o * voxels + m->voxels[g->member[l]]] += (float)machine->kernel_weight[k];
    }
    if (!status)
        status = vxs_machine_write_map(m, &map, values, stream, err);
    free(values);
    return status;
}

const vxs_model_file vxs_several_files[] = {
    { .name = "alpha.npy", .write = vxs_machine_write_alpha },
    { .name = "kernel_weights.tsv", .put = write_kernels },
    { .name = "kernel_weights.nii.gz", .has = has_voxels, .write = write_map },
    { .name = NULL }
};

/* ---- Reading --------------------------------------------------------------------------------- */

static vxs_status broken(const char *file, const char *what, vxs_error *err)
{
    return vxs_fail(err, VXS_BAD_DATA, "'%s' does not go with its model: %s", file, what);
}

/* Weights are not negative and sum to 1, or are all 0. */
static vxs_status read_output(const vxs_table *table, const char *path, size_t first, size_t count,
                              vxs_machine *m, vxs_error *err)
{
    size_t column[2] = { 0, 0 };
    double sum = 0;
    double **const values[2] = { &m->kernel_weight, &m->kernel_norm };
    static const char *const names[2] = { "weight", "norm" };
    vxs_status status = VXS_OK;
    m->kernels = count;
    for (int c = 0; c < 2 && !status; c++) {
        *values[c] = vxs_alloc(count + 1, sizeof(double), err);
        status = *values[c] ? vxs_table_find(table, names[c], &column[c], err) : VXS_FAILED;
        for (size_t k = 0; k < count && !status; k++) {
            double *value = &(*values[c])[k];
            status = vxs_table_real(table, first + k, column[c], value, err);
            if (!status && !(*value >= 0 && *value <= 1 + 1e-9))
                status = broken(path, "weights and norms are from 0 to 1", err);
        }
    }
    for (size_t k = 0; k < count && !status; k++)
        sum += m->kernel_weight[k];
    if (!status && sum != 0 && !(fabs(sum - 1) <= 1e-6))
        status = broken(path, "the weights do not sum to 1", err);
    return status;
}

vxs_status vxs_several_read(vxs_model *m, const char *folder, vxs_error *err)
{
    vxs_table *table = NULL;
    m->groups = true;
    vxs_status status = vxs_machine_read(m, folder, err);
    char *path = status ? NULL : vxs_format(err, "%s/kernel_weights.tsv", folder);
    if (!status)
        status = path ? vxs_table_read(path, &table, err) : VXS_FAILED;
    size_t rows = status ? 0 : vxs_table_rows(table), each = rows / m->output_count;
    if (!status && (rows == 0 || rows != each * m->output_count))
        status = broken(path, "it has other rows", err);
    for (size_t o = 0; o < m->output_count && !status; o++)
        status = read_output(table, path, o * each, each, m->outputs[o].encoded, err);
    vxs_table_free(table);
    free(path);
    return status;
}
