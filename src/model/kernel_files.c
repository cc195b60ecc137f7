/* kernel_files.c - support data of a kernel model, and the dual solution for its certificate, as
 * files.
 *
 * training.npy has for each output a row with the centered classes, then a row for each selected
 * voxel with the training subjects' values, without ids. kernels.tsv lists these voxels with
 * bandwidth and standardization. alpha.npy and bound.tsv are for check-model. */
#include "model/kernel.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { TRAINING, KERNELS, ALPHA, BOUND, FILES };

/* ---- Writing --------------------------------------------------------------------------------- */

static vxs_status write_matrix(FILE *stream, size_t rows, size_t columns, vxs_error *err)
{
    const size_t shape[2] = { rows, columns };
    return vxs_npy_write_header(stream, 'f', sizeof(double), 2, shape, err);
}

static vxs_status write_training(const vxs_model *m, const vxs_task *t, FILE *stream,
                                 vxs_error *err)
{
    const size_t n = t->n;
    size_t rows = 0;
    for (size_t k = 0; k < m->output_count; k++)
        rows += 1 + ((const vxs_support *)m->outputs[k].encoded)->count;
    vxs_status status = write_matrix(stream, rows, n, err);
    for (size_t k = 0; k < m->output_count && !status; k++) {
        const vxs_support *kept =
            m->outputs[k].encoded; /* write errors are detected when the stream is closed */
        (void)!fwrite(kept->y, sizeof(double), n, stream);
        (void)!fwrite(kept->values, sizeof(double), kept->count * n, stream);
    }
    return status;
}

static void write_kernels(const vxs_model *m, const vxs_task *t, FILE *stream)
{
    static const char *const headings[] = { "output", "index", "bandwidth", "mean", "scale" };
    vxs_tsv_writer w;
    vxs_tsv_init(&w, stream);
    for (size_t c = 0; c < sizeof(headings) / sizeof(headings[0]); c++)
        vxs_tsv_text(&w, headings[c]);
    for (size_t c = 0; c < m->covariate_count; c++)
        vxs_tsv_text(&w, m->covariate_names[c]);
    vxs_tsv_end_row(&w);
    for (size_t o = 0; o < m->output_count; o++)
        for (size_t k = 0; k < m->outputs[o].fit.count; k++) {
            const vxs_support *kept = m->outputs[o].encoded;
            vxs_tsv_real(&w, (double)(o + 1));
            vxs_tsv_real(&w, (double)m->outputs[o].fit.index[k]);
            vxs_tsv_real(&w, kept->bandwidth[k]);
            vxs_tsv_real(&w, kept->mean[k]);
            vxs_tsv_real(&w, kept->scale[k]);
            for (size_t c = 0; c < m->covariate_count; c++)
                vxs_tsv_real(&w, kept->covariate_coefficients[k * m->covariate_count + c]);
            vxs_tsv_end_row(&w);
        }
    (void)t;
}

/* True for the hinge loss; other losses have no such files. */
static bool has_bounds(const vxs_model *m, const vxs_task *t)
{
    (void)t;
    return m->outputs[0].fit.bound != NULL;
}

static vxs_status write_alpha(const vxs_model *m, const vxs_task *t, FILE *stream, vxs_error *err)
{
    vxs_status status = write_matrix(stream, m->output_count, t->n, err);
    for (size_t k = 0; k < m->output_count && !status; k++)
        (void)!fwrite(m->outputs[k].fit.bound->alpha, sizeof(double), t->n, stream);
    return status;
}

static void write_bound(const vxs_model *m, const vxs_task *t, FILE *stream)
{
    vxs_tsv_writer w;
    vxs_tsv_init(&w, stream);
    vxs_tsv_text(&w, "output");
    vxs_tsv_text(&w, "index");
    vxs_tsv_text(&w, "weight");
    vxs_tsv_end_row(&w);
    for (size_t o = 0; o < m->output_count; o++) {
        const vxs_bound *b = m->outputs[o].fit.bound;
        for (size_t k = 0; k < b->count; k++) {
            vxs_tsv_real(&w, (double)(o + 1));
            vxs_tsv_real(&w, (double)b->index[k]);
            vxs_tsv_real(&w, b->weight[k]);
            vxs_tsv_end_row(&w);
        }
    }
    (void)t;
}

const vxs_model_file vxs_kernel_files[] = {
    { .name = "training.npy", .write = write_training },
    { .name = "kernels.tsv", .put = write_kernels },
    { .name = "alpha.npy", .has = has_bounds, .write = write_alpha },
    { .name = "bound.tsv", .has = has_bounds, .put = write_bound },
    { .name = NULL }
};

/* ---- Reading --------------------------------------------------------------------------------- */

typedef struct {
    vxs_model *model;
    vxs_npy training, alpha;
    vxs_table *kernels, *bound;
    const char *names[FILES];
} reader;

static vxs_status broken(const char *file, const char *what, vxs_error *err)
{
    return vxs_fail(err, VXS_BAD_DATA, "'%s' does not go with its model: %s", file, what);
}

static vxs_status check_matrix(const char *file, const vxs_npy *a, size_t rows, vxs_error *err)
{
    if (a->kind != 'f' || a->item_size != 8 || a->ndim != 2 || a->shape[0] != rows)
        return broken(file, "it has other rows", err);
    for (size_t k = 0; k < a->count; k++)
        if (!isfinite(vxs_npy_item(a, k)))
            return broken(file, "a value is not finite", err);
    return VXS_OK;
}

/* Reads a cell with an integer of at most `most`. */
static vxs_status read_whole(const char *file, const vxs_table *t, size_t row, size_t column,
                             size_t most, size_t *value, vxs_error *err)
{
    double number = NAN;
    vxs_status status = vxs_table_real(t, row, column, &number, err);
    if (!status && !(number >= 0 && number <= (double)most && number == floor(number)))
        status = broken(file, "a number is none of the model's", err);
    *value = status ? 0 : (size_t)number;
    return status;
}

static vxs_status read_kernel(reader *r, size_t row, size_t o, size_t k, vxs_error *err)
{
    vxs_output_fit *output = &r->model->outputs[o];
    vxs_support *kept = output->encoded;
    size_t number = 0, index = 0;
    double *const reals[] = { &kept->bandwidth[k], &kept->mean[k], &kept->scale[k] };
    vxs_status status =
        read_whole(r->names[KERNELS], r->kernels, row, 0, r->model->output_count, &number, err);
    if (!status)
        status = read_whole(r->names[KERNELS], r->kernels, row, 1, r->model->p, &index, err);
    if (!status && (number != o + 1 || index != output->fit.index[k]))
        status = broken(r->names[KERNELS], "its rows are not the model's weights", err);
    for (size_t c = 0; c < 3 && !status; c++)
        status = vxs_table_real(r->kernels, row, 2 + c, reals[c], err);
    for (size_t c = 0; c < kept->covariate_count && !status; c++)
        status = vxs_table_real(r->kernels, row, 5 + c,
                                &kept->covariate_coefficients[k * kept->covariate_count + c], err);
    if (!status && !(kept->bandwidth[k] > 0 && isfinite(kept->mean[k]) && isfinite(kept->scale[k])))
        status = broken(r->names[KERNELS], "a number is not finite", err);
    return status;
}

static vxs_status read_outputs(reader *r, vxs_error *err)
{
    vxs_model *m = r->model;
    size_t n = r->training.shape[1], line = 0, row = 0, rows = 0;
    vxs_status status = VXS_OK;
    for (size_t o = 0; o < m->output_count; o++)
        rows += m->outputs[o].fit.count;
    if (vxs_table_columns(r->kernels) != 5 + m->covariate_count ||
        vxs_table_rows(r->kernels) != rows)
        return broken(r->names[KERNELS], "its rows are not the model's weights", err);
    for (size_t o = 0; o < m->output_count && !status; o++) {
        vxs_support *kept = vxs_support_new(n, m->outputs[o].fit.count, m->covariate_count, err);
        m->outputs[o].encoded = kept;
        if (!kept)
            return VXS_FAILED;
        for (size_t i = 0; i < n; i++)
            kept->y[i] = vxs_npy_item(&r->training, line * n + i);
        line++;
        for (size_t k = 0; k < kept->count && !status; k++, line++) {
            for (size_t i = 0; i < n; i++)
                kept->values[k * n + i] = vxs_npy_item(&r->training, line * n + i);
            status = read_kernel(r, row++, o, k, err);
        }
    }
    return status;
}

static vxs_status read_bounds(reader *r, vxs_error *err)
{
    vxs_model *m = r->model;
    size_t n = r->alpha.shape[1], rows = vxs_table_rows(r->bound), row = 0, number = 0;
    vxs_status status = VXS_OK;
    if (vxs_table_columns(r->bound) != 3)
        return broken(r->names[BOUND], "it has other columns", err);
    for (size_t o = 0; o < m->output_count && !status; o++) {
        vxs_bound *b = vxs_bound_new(n, rows - row, err);
        m->outputs[o].fit.bound = b;
        if (!b)
            return VXS_FAILED;
        for (size_t i = 0; i < n; i++)
            b->alpha[i] = vxs_npy_item(&r->alpha, o * n + i);
        for (b->count = 0; row < rows && !status; row++) {
            status = read_whole(r->names[BOUND], r->bound, row, 0, m->output_count, &number, err);
            if (status || number != o + 1)
                break;
            status =
                read_whole(r->names[BOUND], r->bound, row, 1, m->p - 1, &b->index[b->count], err);
            if (!status)
                status = vxs_table_real(r->bound, row, 2, &b->weight[b->count++], err);
        }
    }
    return status || row == rows ? status
                                 : broken(r->names[BOUND], "its rows are out of order", err);
}

static vxs_status read_files(reader *r, vxs_error *err)
{
    size_t rows = 0;
    for (size_t o = 0; o < r->model->output_count; o++)
        rows += 1 + r->model->outputs[o].fit.count;
    vxs_status status = vxs_npy_open(r->names[TRAINING], &r->training, err);
    if (!status)
        status = check_matrix(r->names[TRAINING], &r->training, rows, err);
    if (!status)
        status = vxs_table_read(r->names[KERNELS], &r->kernels, err);
    if (!status)
        status = read_outputs(r, err);
    if (status || access(r->names[ALPHA], F_OK) != 0)
        return status;
    status = vxs_npy_open(r->names[ALPHA], &r->alpha, err);
    if (!status)
        status = check_matrix(r->names[ALPHA], &r->alpha, r->model->output_count, err);
    if (!status && r->alpha.shape[1] != r->training.shape[1])
        status = broken(r->names[ALPHA], "it has other columns", err);
    if (!status)
        status = vxs_table_read(r->names[BOUND], &r->bound, err);
    return status ? status : read_bounds(r, err);
}

vxs_status vxs_kernel_read(vxs_model *m, const char *folder, vxs_error *err)
{
    reader r = { .model = m };
    char *paths[FILES] = { NULL };
    vxs_status status = VXS_OK;
    for (int k = 0; k < FILES && !status; k++) {
        paths[k] = vxs_format(err, "%s/%s", folder, vxs_kernel_files[k].name);
        r.names[k] = paths[k];
        status = paths[k] ? VXS_OK : VXS_FAILED;
    }
    if (!status)
        status = read_files(&r, err);
    vxs_npy_release(&r.training);
    vxs_npy_release(&r.alpha);
    vxs_table_free(r.kernels);
    vxs_table_free(r.bound);
    for (int k = 0; k < FILES; k++)
        free(paths[k]);
    return status;
}
