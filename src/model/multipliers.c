/* multipliers.c - dual solution of problems with penalized terms, as a file for check-model: a row
 * for each output, theta of the subjects followed by u of the terms. */
#include "model/model.h"

#include <stdlib.h>

bool vxs_model_has_multipliers(const vxs_model *m)
{
    return m->outputs[0].fit.bound && m->outputs[0].fit.bound->u;
}

vxs_status vxs_multipliers_write(const vxs_model *m, size_t n, FILE *stream, vxs_error *err)
{
    size_t terms = m->outputs[0].fit.bound->terms;
    vxs_status status = vxs_npy_write_header(stream, 'f', sizeof(double), 2,
                                             (size_t[]){ m->output_count, n + terms }, err);
    for (size_t k = 0; k < m->output_count && !status; k++) {
        (void)!fwrite(m->outputs[k].fit.bound->theta, sizeof(double), n, stream);
        (void)!fwrite(m->outputs[k].fit.bound->u, sizeof(double), terms, stream);
    }
    return status;
}

static vxs_status take_row(const vxs_npy *rows, size_t output, size_t n, vxs_bound **bound,
                           vxs_error *err)
{
    size_t width = rows->shape[1];
    *bound = vxs_bound_of_terms(n, width - n, err);
    if (!*bound)
        return VXS_FAILED;
    for (size_t k = 0; k < width; k++)
        *(k < n ? &(*bound)->theta[k] : &(*bound)->u[k - n]) =
            vxs_npy_item(rows, output * width + k);
    return VXS_OK;
}

vxs_status vxs_multipliers_read(const vxs_model *m, const vxs_task *t, size_t output,
                                vxs_bound **bound, vxs_error *err)
{
    vxs_npy rows = { .ndim = 0 };
    char *path = vxs_model_file_path(m, VXS_MULTIPLIERS_FILE, err);
    vxs_status status = path ? vxs_npy_open(path, &rows, err) : VXS_FAILED;
    if (!status && (rows.ndim != 2 || rows.shape[0] != m->output_count ||
                    rows.shape[1] != t->n + t->terms.count))
        status = vxs_fail(err, VXS_BAD_DATA,
                          "'%s' does not have a row an output, of %zu subjects and %zu terms", path,
                          t->n, t->terms.count);
    if (!status)
        status = take_row(&rows, output, t->n, bound, err);
    vxs_npy_release(&rows);
    free(path);
    return status;
}
