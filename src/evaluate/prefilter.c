/* prefilter.c - univariate filter: features that fail a test on the training subjects are
 * excluded. */
#include "evaluate/evaluate.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* Splits "ttest:0.05"; what the number means is in the name. */
static bool split(const char *text, bool *ttest, double *share)
{
    const char *colon = strchr(text, ':');
    size_t length = colon ? (size_t)(colon - text) : 0;
    *ttest = length == 5 && strncmp(text, "ttest", length) == 0;
    bool variance = length == 8 && strncmp(text, "variance", length) == 0;
    return (*ttest || variance) && vxs_parse_real(colon + 1, share) && *share > 0 && *share < 1;
}

vxs_status vxs_prefilter_check(const char *text, vxs_error *err)
{
    bool ttest;
    double share;
    if (split(text, &ttest, &share))
        return VXS_OK;
    return vxs_fail(
        err, VXS_MISUSE,
        "option '--prefilter' expects ttest:P or variance:SHARE with a number between 0 "
        "and 1, not '%s'",
        text);
}

/* The size of a correlation that has this p-value. */
static double least_correlation(double p, size_t n)
{
    double low = 0, high = 1;
    for (int step = 0; step < 60; step++) {
        double middle = (low + high) / 2;
        if (vxs_correlation_p(middle, n) > p)
            low = middle;
        else
            high = middle;
    }
    return high;
}

/* y without its mean, of length 1. */
static void center(const vxs_task *t, double *v)
{
    double mean = 0, square = 0;
    for (size_t i = 0; i < t->n; i++)
        mean += t->y[i] / (double)t->n;
    for (size_t i = 0; i < t->n; i++) {
        v[i] = t->y[i] - mean;
        square += v[i] * v[i];
    }
    for (size_t i = 0; i < t->n && square > 0; i++)
        v[i] /= sqrt(square);
}

static int by_value(const void *a, const void *b)
{
    double left = *(const double *)a, right = *(const double *)b;
    return (left > right) - (left < right);
}

/* What the test says of each feature, and from where on it passes. */
static vxs_status look(vxs_task *t, bool ttest, double share, double *value, double *least,
                       vxs_error *err)
{
    size_t p = t->cohort->p;
    double *v = vxs_alloc(t->n, sizeof(*v), err), *sorted = vxs_alloc(p, sizeof(*sorted), err);
    vxs_status status = v && sorted ? VXS_OK : VXS_FAILED;
    if (!status) {
        center(t, v);
        status = vxs_design_measure_scan(t->design, v, value, err);
    }
    const double *norms = status ? NULL : vxs_design_norms(t->design);
    for (size_t j = 0; j < p && !status; j++)
        value[j] = ttest ? norms[j] > 0 ? fabs(value[j]) / norms[j] : 0 : norms[j];
    if (!status && ttest) {
        *least = least_correlation(share, t->n);
    } else if (!status) {
        memcpy(sorted, value, p * sizeof(*sorted));
        qsort(sorted, p, sizeof(*sorted), by_value);
        *least = sorted[p - 1 - (size_t)(share * (double)(p - 1))];
    }
    free(v);
    free(sorted);
    return status;
}

/* A column that is divided by infinity is 0. */
static vxs_status put_out_of_reach(vxs_task *t, const double *value, double least, vxs_error *err)
{
    size_t p = t->cohort->p;
    if (!t->penalties) {
        t->penalties = vxs_alloc(p, sizeof(*t->penalties), err);
        for (size_t j = 0; j < p && t->penalties; j++)
            t->penalties[j] = 1;
    }
    for (size_t j = 0; j < p && t->penalties; j++)
        if (!(value[j] >= least))
            t->penalties[j] = INFINITY;
    return t->penalties ? VXS_OK : VXS_FAILED;
}

vxs_status vxs_prefilter(const vxs_context *context, vxs_task *part, const char *text,
                         size_t output, vxs_error *err)
{
    bool ttest = false;
    double share = 0, least = 0, *value = vxs_alloc(part->cohort->p, sizeof(*value), err);
    vxs_task centered = *part; /* variances and correlations are of centered columns */
    if (!value || !split(text, &ttest, &share)) {
        free(value);
        return VXS_FAILED;
    }
    centered.settings.standardize = VXS_STANDARDIZE_CENTER;
    centered.penalties = NULL;
    (void)vxs_task_set_output(&centered, output);
    vxs_status status = vxs_task_make_design(context, &centered, err);
    if (!status) {
        status = look(&centered, ttest, share, value, &least, err);
        vxs_design_free(centered.design);
    }
    if (!status)
        status = put_out_of_reach(part, value, least, err);
    free(value);
    if (status)
        return status;
    vxs_task_unprepare(part);
    vxs_design_free(part->design);
    part->design = NULL;
    return vxs_task_make_design(context, part, err);
}
