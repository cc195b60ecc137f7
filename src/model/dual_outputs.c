/* dual_outputs.c - outputs.npy of a model: the dual point of the certificate of a measure.
 *
 * Each row has the number of the output (class) of the model, from 1, 0 for the selection and 1 for
 * its refit, counts a and b, alpha, and a number for each training subject: their mean v. Where the
 * cost follows from it one row with -1, -1, C and s. */
#include "model/feature_blocks.h"

#include <math.h>

enum { ABOUT = 5 }; /* numbers before those of subjects: output, refit, a, b, alpha */

/* The dual points of a measure, each in one row or more. */
static size_t count_outputs(const vxs_selected *s)
{
    return (s->outputs ? s->outputs->count : 0) + (s->refit_outputs ? s->refit_outputs->count : 0);
}

static void write_outputs_of(const vxs_weighted_outputs *d, double output, double refit,
                             FILE *stream)
{
    const double about[2] = { output, refit };
    for (size_t k = 0; d && k < d->count; k++) {
        (void)!fwrite(about, sizeof(double), 2, stream);
        (void)!fwrite(d->row + k * (3 + d->n), sizeof(double), 3 + d->n, stream);
    }
}

vxs_status vxs_outputs_write(const vxs_model *m, const vxs_task *t, FILE *stream, vxs_error *err)
{
    size_t rows = 0;
    for (size_t o = 0; o < m->output_count; o++)
        rows += count_outputs(m->outputs[o].fit.selected);
    const size_t shape[2] = { rows, ABOUT + t->n };
    vxs_status status = vxs_npy_write_header(stream, 'f', sizeof(double), 2, shape, err);
    for (size_t o = 0; o < m->output_count && !status; o++) {
        const vxs_selected *s = m->outputs[o].fit.selected;
        write_outputs_of(s->outputs, (double)(o + 1), 0, stream);
        write_outputs_of(s->refit_outputs, (double)(o + 1), 1, stream);
    }
    return status;
}

/* ---- Reading --------------------------------------------------------------------------------- */

static vxs_status broken(const char *name, const char *what, vxs_error *err)
{
    return vxs_fail(err, VXS_BAD_DATA, "'%s' does not go with its model: %s", name, what);
}

/* How many rows from `row` on are of an output and of its selection or refit. */
static size_t rows_of(const vxs_npy *a, size_t row, double output, double refit)
{
    size_t count = 0, columns = a->shape[1];
    while (row + count < a->shape[0] && vxs_npy_item(a, (row + count) * columns) == output &&
           vxs_npy_item(a, (row + count) * columns + 1) == refit)
        count++;
    return count;
}

static vxs_status read_rows(const char *name, const vxs_npy *a, size_t *row, size_t count,
                            vxs_weighted_outputs **read, vxs_error *err)
{
    size_t columns = a->shape[1];
    vxs_weighted_outputs *d = *read = vxs_weighted_outputs_new(columns - ABOUT, count, err);
    vxs_status status = d ? VXS_OK : VXS_FAILED;
    for (size_t k = 0; k < count * (columns - 2) && !status; k++) {
        d->row[k] = vxs_npy_item(a, (*row + k / (columns - 2)) * columns + 2 + k % (columns - 2));
        status = isfinite(d->row[k]) ? VXS_OK : broken(name, "a value is not finite", err);
    }
    *row += count;
    return status;
}

vxs_status vxs_outputs_read(vxs_model *m, const char *name, vxs_error *err)
{
    vxs_npy a = { .ndim = 0 };
    size_t row = 0;
    vxs_status status = vxs_npy_open(name, &a, err);
    if (!status && (a.kind != 'f' || a.item_size != 8 || a.ndim != 2 || a.shape[1] <= ABOUT))
        status = broken(name, "it has other columns", err);
    for (size_t o = 0; o < m->output_count && !status; o++) {
        vxs_selected *s = m->outputs[o].fit.selected;
        size_t own = rows_of(&a, row, (double)(o + 1), 0);
        status = own > 0 ? read_rows(name, &a, &row, own, &s->outputs, err)
                         : broken(name, "it lacks an output", err);
        size_t refit = status ? 0 : rows_of(&a, row, (double)(o + 1), 1);
        if (refit > 0)
            status = read_rows(name, &a, &row, refit, &s->refit_outputs, err);
    }
    if (!status && row != a.shape[0])
        status = broken(name, "its rows are out of order", err);
    vxs_npy_release(&a);
    return status;
}
