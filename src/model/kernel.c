/* kernel.c - methods whose features are kernels: their design, what they keep of the training
 * subjects, and scores of others.
 *
 * A voxel's part of the score of subject x is its weight times sum_m yt_m k(x, x_m), less the mean
 * of that over the training subjects: with yt = H y nothing else is left of the centred kernel. The
 * decision's offset has no part in the problem (its coefficient is 0 there); it is put half way
 * between the mean scores of the two classes. */
#include "model/model.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

bool vxs_task_is_kernel(const vxs_task *t)
{
    return vxs_task_method(t)->kernel;
}

/* ---- The problem ----------------------------------------------------------------------------- */

static vxs_status read_bandwidth(const vxs_method_settings *settings, bool weighted,
                                 double *bandwidth, vxs_error *err)
{
    const char *text = settings->bandwidth ? settings->bandwidth : "1";
    *bandwidth = 0;
    if (strcmp(text, "median") == 0 && weighted)
        return vxs_fail(err, VXS_MISUSE,
                        "'--bandwidth median' counts each subject once; it does not go with "
                        "'--weights'");
    if (strcmp(text, "median") == 0)
        return VXS_OK;
    if (vxs_parse_real(text, bandwidth) && *bandwidth > 0 && isfinite(*bandwidth))
        return VXS_OK;
    return vxs_fail(err, VXS_MISUSE, "'--bandwidth' wants a number above 0, or median, not '%s'",
                    text);
}

void vxs_task_drop_kernel(vxs_task *t)
{
    vxs_design_free(t->kernel);
    free(t->margin);
    t->kernel = NULL;
    t->margin = NULL;
}

static vxs_status make_scores(const vxs_context *context, vxs_task *t, double bandwidth,
                              vxs_error *err)
{
    double total = vxs_task_total(t);
    t->margin = vxs_alloc(t->n, sizeof(*t->margin), err);
    for (size_t i = 0; i < t->n && t->margin; i++)
        t->margin[i] = total;
    return t->margin ? vxs_scores_new(context, t->design, true, t->y, bandwidth, 0, &t->kernel, err)
                     : VXS_FAILED;
}

/* HSIC lasso: the centred classes' y y' from the voxels' centred kernels. */
static vxs_status make_pairs(vxs_task *t, double bandwidth, vxs_error *err)
{
    t->margin = vxs_alloc(t->n * (t->n + 1) / 2, sizeof(*t->margin), err);
    if (t->margin)
        vxs_kernels_pack(t->y, t->n, t->margin);
    return t->margin ? vxs_kernels_new(t->design, true, bandwidth, &t->kernel, err) : VXS_FAILED;
}

/* Made once an output, whatever is tried on it. */
vxs_status vxs_task_make_kernel(const vxs_context *context, vxs_task *t, size_t output,
                                const vxs_method_settings *settings, vxs_error *err)
{
    double bandwidth = 0;
    if (t->kernel && t->kernel_output == output)
        return VXS_OK;
    vxs_task_drop_kernel(t);
    vxs_status status = read_bandwidth(settings, t->weights, &bandwidth, err);
    if (!status && t->weights && settings->penalty == VXS_PENALTY_HSIC)
        status = vxs_fail(
            err, VXS_MISUSE,
            "'--penalty hsic-lasso' is of pairs of subjects, which have no weight; it does "
            "not go with '--weights'");
    if (!status)
        status = settings->penalty == VXS_PENALTY_HSIC ? make_pairs(t, bandwidth, err)
                                                       : make_scores(context, t, bandwidth, err);
    if (!status)
        t->bandwidths = settings->penalty == VXS_PENALTY_HSIC ? vxs_kernels_bandwidths(t->kernel)
                                                              : vxs_scores_bandwidths(t->kernel);
    t->kernel_output = output;
    return status;
}

/* ---- What is kept ---------------------------------------------------------------------------- */

void vxs_kept_free(vxs_kept *k)
{
    if (!k)
        return;
    free(k->y);
    free(k->values);
    free(k->bandwidth);
    free(k->mean);
    free(k->scale);
    free(k->free);
    free(k);
}

vxs_kept *vxs_kept_new(size_t n, size_t count, size_t free_count, vxs_error *err)
{
    vxs_kept *k = vxs_alloc(1, sizeof(*k), err);
    if (!k)
        return NULL;
    *k = (vxs_kept){ .n = n, .count = count, .free_count = free_count };
    k->y = vxs_alloc(n, sizeof(*k->y), err);
    k->values = vxs_alloc(count, n * sizeof(*k->values), err);
    k->bandwidth = vxs_alloc(count, sizeof(*k->bandwidth), err);
    k->mean = vxs_alloc(count, sizeof(*k->mean), err);
    k->scale = vxs_alloc(count, sizeof(*k->scale), err);
    k->free = vxs_alloc(count, free_count * sizeof(*k->free), err);
    if (k->y && k->values && k->bandwidth && k->mean && k->scale && k->free)
        return k;
    vxs_kept_free(k);
    return NULL;
}

/* How a feature becomes what the kernel sees: a model of weight 1 knows. */
vxs_status vxs_find_scale(const vxs_task *t, size_t feature, double *scale, double *free_weights,
                          vxs_error *err)
{
    vxs_solution one = { .count = 1, .index = &feature, .weight = scale };
    *scale = 1;
    one.free = vxs_alloc(t->free_count + 1, sizeof(*one.free), err);
    vxs_status status = one.free ? vxs_model_unstandardise(t, &one, err) : VXS_FAILED;
    for (size_t c = 0; c < t->free_count && !status; c++)
        free_weights[c] = one.free[c];
    free(one.free);
    return status;
}

/* Values of subjects as the kernel sees them; `wide` has one of the feature for each subject of the
 * cohort, `columns` are free columns `stride` apart. */
static void standardise(const vxs_kept *k, size_t at, const double *wide, const size_t *rows,
                        const double *columns, size_t stride, size_t count, double *values)
{
    for (size_t i = 0; i < count; i++) {
        values[i] = k->scale[at] * wide[rows[i]];
        for (size_t c = 0; c < k->free_count; c++)
            values[i] += k->free[at * k->free_count + c] * columns[c * stride + i];
    }
}

static vxs_status keep_feature(const vxs_task *t, vxs_kept *k, size_t at, size_t feature,
                               double *wide, double *sums, vxs_error *err)
{
    double *values = k->values + at * k->n, total = vxs_task_total(t);
    vxs_status status =
        vxs_find_scale(t, feature, &k->scale[at], k->free + at * k->free_count, err);
    memset(wide, 0, t->cohort->n * sizeof(*wide));
    if (status)
        return status;
    vxs_cohort_add(t->cohort, feature, 1, wide);
    standardise(k, at, wide, t->rows, t->free, t->n, t->n, values);
    k->bandwidth[at] = t->bandwidths[feature];
    status = vxs_gauss_sums(values, k->y, k->n, values, k->n, k->bandwidth[at], sums, err);
    for (size_t i = 0; i < k->n && !status; i++)
        k->mean[at] += vxs_task_weight(t, i) * sums[i] / total;
    return status;
}

vxs_status vxs_kept_of(const vxs_task *t, const vxs_solution *fit, vxs_kept **kept, vxs_error *err)
{
    vxs_kept *k = vxs_kept_new(t->n, fit->count, t->free_count, err);
    double *wide = vxs_alloc(t->cohort->n, sizeof(*wide), err);
    double *sums = vxs_alloc(t->n, sizeof(*sums), err), mean = 0, total = vxs_task_total(t);
    vxs_status status = k && wide && sums ? VXS_OK : VXS_FAILED;
    for (size_t i = 0; i < t->n; i++)
        mean += vxs_task_weight(t, i) * t->y[i] / total;
    for (size_t i = 0; i < t->n && !status; i++)
        k->y[i] = vxs_task_weight(t, i) * (t->y[i] - mean);
    for (size_t j = 0; j < fit->count && !status; j++)
        status = keep_feature(t, k, j, fit->index[j], wide, sums, err);
    free(wide);
    free(sums);
    *kept = status ? NULL : k;
    if (status)
        vxs_kept_free(k);
    return status;
}

/* ---- Scores ---------------------------------------------------------------------------------- */

vxs_status vxs_kept_score(const vxs_kept *k, const vxs_solution *fit, const vxs_cohort *c,
                          const size_t *rows, const double *columns, size_t stride, size_t count,
                          double *scores, vxs_error *err)
{
    double *wide = vxs_alloc(c->n, sizeof(*wide), err);
    double *values = vxs_alloc(2 * count, sizeof(*values), err), *sums = values + count;
    vxs_status status = wide && values ? VXS_OK : VXS_FAILED;
    for (size_t j = 0; j < fit->count && !status; j++) {
        memset(wide, 0, c->n * sizeof(*wide));
        vxs_cohort_add(c, fit->index[j], 1, wide);
        standardise(k, j, wide, rows, columns, stride, count, values);
        status = vxs_gauss_sums(k->values + j * k->n, k->y, k->n, values, count, k->bandwidth[j],
                                sums, err);
        for (size_t i = 0; i < count && !status; i++)
            scores[i] += fit->weight[j] * (sums[i] - k->mean[j]);
    }
    free(wide);
    free(values);
    return status;
}

/* Half way between the mean scores of the classes, among the training subjects. */
static double find_offset(const vxs_task *t, const double *scores)
{
    double sum[2] = { 0, 0 }, count[2] = { 0, 0 };
    for (size_t i = 0; i < t->n; i++) {
        sum[t->y[i] > 0] += vxs_task_weight(t, i) * scores[i];
        count[t->y[i] > 0] += vxs_task_weight(t, i);
    }
    return count[0] > 0 && count[1] > 0 ? -(sum[0] / count[0] + sum[1] / count[1]) / 2 : 0;
}

vxs_status vxs_kept_settle(const vxs_task *t, const vxs_kept *k, vxs_solution *fit, vxs_error *err)
{
    double *scores = vxs_alloc(t->n, sizeof(*scores), err);
    double *larger = scores ? vxs_resize(fit->free, t->free_count + 1, sizeof(*larger), err) : NULL;
    fit->free = larger ? larger : fit->free;
    vxs_status status =
        larger ? vxs_kept_score(k, fit, t->cohort, t->rows, t->free, t->n, t->n, scores, err)
               : VXS_FAILED;
    for (size_t c = 0; c < t->free_count && !status; c++)
        fit->free[c] = 0;
    if (!status && t->free_count > 0)
        fit->free[0] = find_offset(t, scores);
    free(scores);
    return status;
}
