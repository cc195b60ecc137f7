/* bag_encoder.c - subjects that are bags of instances: a score is the sum of weights times
 * similarities with the instances that have one, whose values a model keeps. */
#include "model/model.h"
#include "model/similarities.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

void vxs_kept_instances_free(void *kept)
{
    vxs_kept_instances *k = kept;
    if (!k)
        return;
    free(k->values);
    free(k->at);
    free(k);
}

vxs_kept_instances *vxs_kept_instances_new(size_t count, size_t width, bool placed, vxs_error *err)
{
    vxs_kept_instances *k = vxs_alloc(1, sizeof(*k), err);
    if (!k)
        return NULL;
    *k = (vxs_kept_instances){ .count = count, .width = width, .near = INFINITY };
    k->values = vxs_alloc(count, vxs_times(width, sizeof(*k->values)), err);
    k->at = placed ? vxs_alloc(count, 3 * sizeof(*k->at), err) : NULL;
    if (k->values && (k->at || !placed))
        return k;
    vxs_kept_instances_free(k);
    return NULL;
}

vxs_instances vxs_kept_view(const vxs_kept_instances *k)
{
    return (vxs_instances){
        .count = k->count, .width = k->width, .values = k->values, .at = k->at, .near = k->near
    };
}

static vxs_status keep_instances(const vxs_task *t, vxs_output_fit *o, vxs_error *err)
{
    const vxs_bags *b = t->cohort->bags;
    const vxs_solution *fit = &o->fit;
    vxs_kept_instances *k = vxs_kept_instances_new(fit->count, b->width, b->at != NULL, err);
    if (!k)
        return VXS_FAILED;
    k->near = b->near;
    k->sigma = sqrt(t->bag_width * t->bag_distance);
    for (size_t c = 0; c < fit->count; c++) {
        memcpy(k->values + c * b->width, b->values + fit->index[c] * b->width,
               b->width * sizeof(*k->values));
        if (b->at)
            memcpy(k->at + 3 * c, b->at + 3 * fit->index[c], 3 * sizeof(*k->at));
    }
    o->encoded = k;
    return VXS_OK;
}

static vxs_status decode(const vxs_task *t, vxs_output_fit *o, vxs_error *err)
{
    vxs_status status = vxs_unstandardize_weights(t, &o->fit, err);
    o->fit.certificate.bandwidth = t->bag_width;
    return status ? status : keep_instances(t, o, err);
}

static vxs_status encode(const vxs_task *t, const vxs_output_fit *o, vxs_solution *fit,
                         vxs_error *err)
{
    (void)o;
    return vxs_standardize_weights(t, fit, err);
}

/* ---- Scores ---------------------------------------------------------------------------------- */

static double nearest(const double *squares, size_t count)
{
    double least = INFINITY;
    for (size_t r = 0; r < count; r++)
        least = squares[r] < least ? squares[r] : least;
    return least;
}

static vxs_status score_bag(const vxs_output_fit *o, const vxs_instances *x, size_t bag,
                            double *squares, double *score, vxs_error *err)
{
    const vxs_kept_instances *k = o->encoded;
    const vxs_instances kept = vxs_kept_view(k);
    size_t count = x->first[bag + 1] - x->first[bag];
    vxs_status status = vxs_instance_distances(x, bag, &kept, squares, err);
    for (size_t c = 0; c < k->count && !status; c++)
        *score += o->fit.weight[c] *
                  exp(-nearest(squares + c * count, count) / (2 * k->sigma * k->sigma));
    return status;
}

static vxs_status score(const vxs_output_fit *o, const vxs_scored_rows *rows, double *scores,
                        vxs_error *err)
{
    const vxs_kept_instances *k = o->encoded;
    const vxs_instances x = vxs_cohort_instances(rows->cohort);
    size_t most = 0;
    for (size_t i = 0; i < rows->count; i++) {
        size_t count = x.first[rows->rows[i] + 1] - x.first[rows->rows[i]];
        most = count > most ? count : most;
    }
    double *squares = vxs_alloc(most, vxs_times(k->count, sizeof(*squares)), err);
    vxs_status status = squares ? VXS_OK : VXS_FAILED;
    for (size_t i = 0; i < rows->count && k->count > 0 && !status; i++)
        status = score_bag(o, &x, rows->rows[i], squares, &scores[i], err);
    free(squares);
    return status;
}

const vxs_encoder vxs_bag_encoder = { .decode = decode,
                                      .encode = encode,
                                      .score = score,
                                      .release = vxs_kept_instances_free,
                                      .files = vxs_bag_files,
                                      .read = vxs_bag_read };
