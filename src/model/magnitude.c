/* magnitude.c - subjects whose features lie far outside what training saw: another unit or scaling,
 * an image 100 times brighter, an empty one.
 *
 * Measure   magnitude of a subject: the sum over features of |weight| |value|, in which only
 *           features of the model count and units cancel
 * Far       |magnitude - middle| > FAR max(reach, middle / SLACK): middle the median of training
 *           subjects, reach the largest distance of one of them from it
 * Cost      that of the scores; two numbers in model.json
 * Source    none */
#include "model/encoder.h"
#include "model/model.h"

#include <math.h>
#include <stdlib.h>

#define FAR   3
#define SLACK 4 /* magnitudes of training subjects may agree by chance or by scaling */

/* Magnitudes of all subjects of the cohort. */
static vxs_status find_magnitudes(const vxs_model *m, const vxs_cohort *c, double *magnitude,
                                  vxs_error *err)
{
    double *values = vxs_alloc(c->n, sizeof(*values), err);
    if (!values)
        return VXS_FAILED;
    for (size_t i = 0; i < c->n; i++)
        magnitude[i] = 0;
    for (size_t k = 0; k < m->output_count; k++)
        for (size_t j = 0; j < m->outputs[k].fit.count; j++) {
            const vxs_solution *fit = &m->outputs[k].fit;
            for (size_t i = 0; i < c->n; i++)
                values[i] = 0;
            vxs_cohort_add(c, fit->index[j], fit->weight[j], values);
            for (size_t i = 0; i < c->n; i++)
                magnitude[i] += fabs(values[i]);
        }
    free(values);
    return VXS_OK;
}

static int by_value(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

vxs_status vxs_find_magnitude_range(const vxs_model *m, const vxs_task *t,
                                    vxs_magnitude_range *range, vxs_error *err)
{
    size_t count = 0;
    *range = (vxs_magnitude_range){ 0, 0 };
    if (t->cohort->bags) /* weights are of instances */
        return VXS_OK;
    double *all = vxs_alloc(t->cohort->n, sizeof(*all), err);
    double *used = vxs_alloc(t->n, sizeof(*used), err);
    vxs_status status = all && used ? find_magnitudes(m, t->cohort, all, err) : VXS_FAILED;
    for (size_t i = 0; i < t->n && !status; i++)
        if (vxs_task_weight(t, i) > 0)
            used[count++] = all[t->rows[i]];
    *range = (vxs_magnitude_range){ 0, 0 };
    if (count > 0) {
        qsort(used, count, sizeof(*used), by_value);
        range->middle = (used[(count - 1) / 2] + used[count / 2]) / 2;
        range->reach = fmax(used[count - 1] - range->middle, range->middle - used[0]);
    }
    free(all);
    free(used);
    return status;
}

vxs_status vxs_model_far(const vxs_model *m, const vxs_cohort *c, double *times, vxs_error *err)
{
    const vxs_json *range = vxs_json_get(vxs_json_get(m->about, "training"), "magnitude");
    double middle = vxs_json_get_number(range, "middle"),
           reach = fmax(vxs_json_get_number(range, "reach"), middle / SLACK);
    for (size_t i = 0; i < c->n; i++)
        times[i] = 0;
    if (!range || !(reach > 0)) /* an older model, or an empty one */
        return VXS_OK;
    vxs_status status = find_magnitudes(m, c, times, err);
    for (size_t i = 0; i < c->n && !status; i++)
        times[i] = fabs(times[i] - middle) > FAR * reach ? fabs(times[i] - middle) / reach : 0;
    return status;
}
