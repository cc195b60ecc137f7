/* kernel.c - the kernel encoder: kernel scores as a design, training subjects' values, and scores
 * of new subjects.
 *
 * A voxel's contribution to the score of subject x is its weight times sum_m yt_m k(x, x_m), minus
 * the mean of this sum over the training subjects; with yt = H y this is the centered kernel. The
 * offset of the decision function is not in the problem (its coefficient is 0 there); it is the
 * midpoint between the mean scores of the two classes. */
#include "model/kernel.h"
#include "model/estimators.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* ---- The problem ----------------------------------------------------------------------------- */

static vxs_status read_bandwidth(const vxs_method_settings *settings, bool weighted,
                                 double *bandwidth, vxs_error *err)
{
    const char *text = settings->kernels.bandwidth ? settings->kernels.bandwidth : "1";
    *bandwidth = 0;
    if (strcmp(text, "median") == 0 && weighted)
        return vxs_fail(err, VXS_MISUSE,
                        "'--bandwidth median' counts each subject once; it does not go with "
                        "'--subject-weights'");
    if (strcmp(text, "median") == 0)
        return VXS_OK;
    if (vxs_parse_real(text, bandwidth) && *bandwidth > 0 && isfinite(*bandwidth))
        return VXS_OK;
    return vxs_fail(err, VXS_MISUSE, "'--bandwidth' expects a number above 0, or median, not '%s'",
                    text);
}

typedef struct {
    vxs_prepared head;
    size_t output;
    vxs_design *design;       /* kernel scores of the features for the output, or packed kernels */
    const double *bandwidths; /* of the design */
    const double *means;      /* of the features' sums over subjects; NULL with packed kernels */
    double *margin;           /* target: margins of kernel scores, or packed class kernel */
} kernels;

static void release_kernels(vxs_prepared *prepared)
{
    kernels *k = (kernels *)prepared;
    vxs_design_free(k->design);
    free(k->margin);
    free(k);
}

static vxs_status make_scores(const vxs_context *context, const vxs_task *t, kernels *k,
                              double bandwidth, vxs_error *err)
{
    double total = vxs_task_total(t);
    k->margin = vxs_alloc(t->n, sizeof(*k->margin), err);
    for (size_t i = 0; i < t->n && k->margin; i++)
        k->margin[i] = total;
    vxs_status status =
        k->margin ? vxs_scores_new(context, t->design, true, t->y, bandwidth, 0, &k->design, err)
                  : VXS_FAILED;
    k->bandwidths = status ? NULL : vxs_scores_bandwidths(k->design);
    k->means = status ? NULL : vxs_scores_means(k->design);
    return status;
}

/* HSIC lasso: regresses the classes' centered y y' on the voxels' centered kernels. */
static vxs_status make_pairs(const vxs_context *context, const vxs_task *t, kernels *k,
                             double bandwidth, vxs_error *err)
{
    (void)context;
    if (t->weights)
        return vxs_fail(err, VXS_MISUSE,
                        "method '%s' fits pairs of subjects, which have no weight; it does not "
                        "go with '--subject-weights'",
                        vxs_task_method(t)->name);
    k->margin = vxs_alloc(t->n * (t->n + 1) / 2, sizeof(*k->margin), err);
    if (k->margin)
        vxs_kernels_pack(t->y, t->n, k->margin);
    vxs_status status =
        k->margin ? vxs_kernels_new(t->design, true, bandwidth, &k->design, err) : VXS_FAILED;
    k->bandwidths = status ? NULL : vxs_kernels_bandwidths(k->design);
    return status;
}

typedef vxs_status make(const vxs_context *context, const vxs_task *t, kernels *k, double bandwidth,
                        vxs_error *err);

/* Makes the design once an output, for all hyperparameters. */
static vxs_status make_kernels(const vxs_context *context, vxs_task *t, size_t output, make *design,
                               const vxs_method_settings *settings, vxs_error *err)
{
    double bandwidth = 0;
    kernels *k = (kernels *)t->prepared;
    if (k && k->design && k->output == output)
        return VXS_OK;
    vxs_task_unprepare(t);
    vxs_status status = read_bandwidth(settings, t->weights, &bandwidth, err);
    k = status ? NULL : vxs_alloc(1, sizeof(*k), err);
    if (!k)
        return status ? status : VXS_FAILED;
    *k = (kernels){ .head = { release_kernels }, .output = output };
    t->prepared = &k->head;
    return design(context, t, k, bandwidth, err);
}

/* ---- Values of training subjects ------------------------------------------------------------- */

void vxs_support_free(void *support)
{
    vxs_support *k = support;
    if (!k)
        return;
    free(k->y);
    free(k->values);
    free(k->bandwidth);
    free(k->mean);
    free(k->scale);
    free(k->covariate_coefficients);
    free(k);
}

vxs_support *vxs_support_new(size_t n, size_t count, size_t covariate_count, vxs_error *err)
{
    vxs_support *k = vxs_alloc(1, sizeof(*k), err);
    if (!k)
        return NULL;
    *k = (vxs_support){ .n = n, .count = count, .covariate_count = covariate_count };
    k->y = vxs_alloc(n, sizeof(*k->y), err);
    k->values = vxs_alloc(count, n * sizeof(*k->values), err);
    k->bandwidth = vxs_alloc(count, sizeof(*k->bandwidth), err);
    k->mean = vxs_alloc(count, sizeof(*k->mean), err);
    k->scale = vxs_alloc(count, sizeof(*k->scale), err);
    k->covariate_coefficients =
        vxs_alloc(count, covariate_count * sizeof(*k->covariate_coefficients), err);
    if (k->y && k->values && k->bandwidth && k->mean && k->scale && k->covariate_coefficients)
        return k;
    vxs_support_free(k);
    return NULL;
}

static vxs_scored_rows training_of(const vxs_task *t)
{
    return (vxs_scored_rows){ .cohort = t->cohort,
                              .rows = t->rows,
                              .covariates = t->covariates,
                              .stride = t->n,
                              .count = t->n };
}

static vxs_status keep_feature(const vxs_task *t, vxs_support *k, size_t at, size_t feature,
                               double *wide, double *sums, vxs_error *err)
{
    const vxs_scored_rows training = training_of(t);
    const kernels *known = (const kernels *)t->prepared;
    double *values = k->values + at * k->n, total = vxs_task_total(t);
    vxs_status status = vxs_find_scale(t, feature, &k->scale[at],
                                       k->covariate_coefficients + at * k->covariate_count, err);
    if (status)
        return status;
    vxs_standardized_values(&training, feature, k->scale[at],
                            k->covariate_coefficients + at * k->covariate_count, k->covariate_count,
                            wide, values);
    k->bandwidth[at] = known->bandwidths[feature];
    if (known->means) {
        k->mean[at] = known->means[feature];
        return VXS_OK;
    }
    status = vxs_gauss_sums(values, k->y, k->n, values, k->n, k->bandwidth[at], sums, err);
    for (size_t i = 0; i < k->n && !status; i++)
        k->mean[at] += vxs_task_weight(t, i) * sums[i] / total;
    return status;
}

static double weighted_mean(const vxs_task *t)
{
    double mean = 0, total = vxs_task_total(t);
    for (size_t i = 0; i < t->n; i++)
        mean += vxs_task_weight(t, i) * t->y[i] / total;
    return mean;
}

static vxs_status make_support(const vxs_task *t, const vxs_solution *fit, vxs_support **support,
                               vxs_error *err)
{
    vxs_support *k = vxs_support_new(t->n, fit->count, t->covariate_count, err);
    double *wide = vxs_alloc(t->cohort->n, sizeof(*wide), err);
    double *sums = vxs_alloc(t->n, sizeof(*sums), err), mean = weighted_mean(t);
    vxs_status status = k && wide && sums ? VXS_OK : VXS_FAILED;
    for (size_t i = 0; i < t->n && !status; i++)
        k->y[i] = vxs_task_weight(t, i) * (t->y[i] - mean);
    for (size_t j = 0; j < fit->count && !status; j++)
        status = keep_feature(t, k, j, fit->index[j], wide, sums, err);
    free(wide);
    free(sums);
    *support = status ? NULL : k;
    if (status)
        vxs_support_free(k);
    return status;
}

/* ---- Scores ---------------------------------------------------------------------------------- */

static vxs_status score(const vxs_output_fit *o, const vxs_scored_rows *x, double *scores,
                        vxs_error *err)
{
    const vxs_support *k = o->encoded;
    const vxs_solution *fit = &o->fit;
    double *wide = vxs_alloc(x->cohort->n, sizeof(*wide), err);
    double *values = vxs_alloc(2 * x->count, sizeof(*values), err), *sums = values + x->count;
    vxs_status status = wide && values ? VXS_OK : VXS_FAILED;
    for (size_t j = 0; j < fit->count && !status; j++) {
        vxs_standardized_values(x, fit->index[j], k->scale[j],
                                k->covariate_coefficients + j * k->covariate_count,
                                k->covariate_count, wide, values);
        status = vxs_gauss_sums(k->values + j * k->n, k->y, k->n, values, x->count, k->bandwidth[j],
                                sums, err);
        for (size_t i = 0; i < x->count && !status; i++)
            scores[i] += fit->weight[j] * (sums[i] - k->mean[j]);
    }
    free(wide);
    free(values);
    return status;
}

/* Midpoint between the classes' mean scores on the training subjects, negated. */
static double find_offset(const vxs_task *t, const double *scores)
{
    double sum[2] = { 0, 0 }, count[2] = { 0, 0 };
    for (size_t i = 0; i < t->n; i++) {
        sum[t->y[i] > 0] += vxs_task_weight(t, i) * scores[i];
        count[t->y[i] > 0] += vxs_task_weight(t, i);
    }
    return count[0] > 0 && count[1] > 0 ? -(sum[0] / count[0] + sum[1] / count[1]) / 2 : 0;
}

/* Kernel scores are the training subjects' sums times yt, which is not 0: there are two classes. */
static vxs_status score_training(const vxs_task *t, const vxs_output_fit *o, double *scores,
                                 vxs_error *err)
{
    const kernels *k = (const kernels *)t->prepared;
    const vxs_scored_rows training = training_of(t);
    if (!k->means)
        return score(o, &training, scores, err);
    double mean = weighted_mean(t);
    for (size_t j = 0; j < o->fit.count; j++) {
        const float *column = vxs_scores_column(k->design, o->fit.index[j]);
        for (size_t i = 0; i < t->n; i++)
            scores[i] += o->fit.weight[j] * column[i];
    }
    for (size_t i = 0; i < t->n; i++)
        scores[i] /= t->y[i] - mean;
    return VXS_OK;
}

/* Only the intercept gets a coefficient, the offset. */
static vxs_status find_covariates(const vxs_task *t, vxs_output_fit *o, vxs_error *err)
{
    vxs_solution *fit = &o->fit;
    double *scores = vxs_alloc(t->n, sizeof(*scores), err);
    double *larger = scores ? vxs_resize(fit->covariate_coefficients, t->covariate_count + 1,
                                         sizeof(*larger), err)
                            : NULL;
    fit->covariate_coefficients = larger ? larger : fit->covariate_coefficients;
    vxs_status status = larger ? score_training(t, o, scores, err) : VXS_FAILED;
    for (size_t c = 0; c < t->covariate_count && !status; c++)
        fit->covariate_coefficients[c] = 0;
    if (!status && t->covariate_count > 0)
        fit->covariate_coefficients[0] = find_offset(t, scores);
    free(scores);
    return status;
}

static vxs_status decode(const vxs_task *t, vxs_output_fit *o, vxs_error *err)
{
    vxs_support *support = NULL;
    vxs_status status = make_support(t, &o->fit, &support, err);
    o->encoded = support;
    return status ? status : find_covariates(t, o, err);
}

/* Weights belong to kernels; no conversion is needed. */
static vxs_status encode(const vxs_task *t, const vxs_output_fit *o, vxs_solution *fit,
                         vxs_error *err)
{
    (void)o;
    (void)t;
    (void)fit;
    (void)err;
    return VXS_OK;
}

static vxs_status prepare(const vxs_context *context, vxs_task *t, size_t output, make *design,
                          const vxs_method_settings *settings, vxs_problem *problem, vxs_error *err)
{
    vxs_status status = make_kernels(context, t, output, design, settings, err);
    if (status)
        return status;
    const kernels *k = (const kernels *)t->prepared;
    problem->design = k->design;
    problem->loss.n = vxs_design_rows(k->design);
    problem->loss.y = k->margin;
    problem->covariate_count = 0;
    problem->nonnegative = true;
    return VXS_OK;
}

/* The kernel scores contain the classes; the hinge loss requires a margin. */
vxs_status vxs_prepare_kernels(const vxs_context *context, vxs_task *t, size_t output,
                               const vxs_method_settings *settings, vxs_problem *problem,
                               vxs_error *err)
{
    vxs_status status = prepare(context, t, output, make_scores, settings, problem, err);
    if (!status && t->graph.count > 0)
        problem->quadratic =
            (vxs_quadratic){ &vxs_relative_laplacian, settings->path.laplacian, &t->graph };
    return status;
}

/* Rows are pairs of subjects, which have no loss weights. */
vxs_status vxs_prepare_pairs(const vxs_context *context, vxs_task *t, size_t output,
                             const vxs_method_settings *settings, vxs_problem *problem,
                             vxs_error *err)
{
    vxs_status status = prepare(context, t, output, make_pairs, settings, problem, err);
    if (!status)
        problem->loss.u = NULL;
    return status;
}

const vxs_encoder vxs_kernel_encoder = { .without_covariates = true,
                                         .without_constant = true,
                                         .decode = decode,
                                         .encode = encode,
                                         .score = score,
                                         .release = vxs_support_free,
                                         .files = vxs_kernel_files,
                                         .read = vxs_kernel_read };
