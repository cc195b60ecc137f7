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

/* y without its mean, of length 1, times the weights of the subjects: sums of products with columns
 * are weighted, as columns, their means and their norms are. */
static void center(const vxs_task *t, double *v)
{
    double mean = 0, square = 0, total = vxs_task_total(t);
    for (size_t i = 0; i < t->n; i++)
        mean += vxs_task_weight(t, i) * t->y[i] / total;
    for (size_t i = 0; i < t->n; i++) {
        v[i] = t->y[i] - mean;
        square += vxs_task_weight(t, i) * v[i] * v[i];
    }
    for (size_t i = 0; i < t->n && square > 0; i++)
        v[i] *= vxs_task_weight(t, i) / sqrt(square);
}

#define AT_ONCE ((size_t)64) /* columns */

/* Norms of the columns, in which a subject counts as often as its weight says. */
static vxs_status find_norms(const vxs_task *t, double *norms, vxs_error *err)
{
    size_t p = t->cohort->p, set[AT_ONCE];
    memcpy(norms, vxs_design_norms(t->design), p * sizeof(*norms));
    if (!t->weights)
        return VXS_OK;
    double *block = vxs_alloc(AT_ONCE, t->n * sizeof(*block), err);
    if (!block)
        return VXS_FAILED;
    for (size_t first = 0; first < p; first += AT_ONCE) {
        size_t count = p - first < AT_ONCE ? p - first : AT_ONCE;
        for (size_t c = 0; c < count; c++)
            set[c] = first + c;
        vxs_design_fetch(t->design, set, count, block);
        for (size_t c = 0; c < count; c++) {
            double square = 0;
            for (size_t i = 0; i < t->n; i++)
                square += t->weights[i] * block[c * t->n + i] * block[c * t->n + i];
            norms[first + c] = norms[first + c] > 0 ? sqrt(square) : 0;
        }
    }
    free(block);
    return VXS_OK;
}

/* Subjects with a weight above 0: as many a test may count, whatever the unit of weights is. */
static size_t count_weighted(const vxs_task *t)
{
    size_t count = 0;
    for (size_t i = 0; i < t->n; i++)
        count += vxs_task_weight(t, i) > 0;
    return count;
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
    double *norms = vxs_alloc(p, sizeof(*norms), err);
    vxs_status status = v && sorted && norms ? VXS_OK : VXS_FAILED;
    if (!status) {
        center(t, v);
        status = vxs_design_measure_scan(t->design, v, value, err);
    }
    if (!status)
        status = find_norms(t, norms, err);
    for (size_t j = 0; j < p && !status; j++)
        value[j] = ttest ? norms[j] > 0 ? fabs(value[j]) / norms[j] : 0 : norms[j];
    if (!status && ttest) {
        *least = least_correlation(share, count_weighted(t));
    } else if (!status) {
        memcpy(sorted, value, p * sizeof(*sorted));
        qsort(sorted, p, sizeof(*sorted), by_value);
        *least = sorted[p - 1 - (size_t)(share * (double)(p - 1))];
    }
    free(v);
    free(norms);
    free(sorted);
    return status;
}

/* A column that is divided by infinity is 0. Features that the class before has lost return: each
 * class has a test of its own. */
static vxs_status put_out_of_reach(const vxs_task *whole, vxs_task *t, const double *value,
                                   double least, vxs_error *err)
{
    size_t p = t->cohort->p;
    if (!t->penalties)
        t->penalties = vxs_alloc(p, sizeof(*t->penalties), err);
    for (size_t j = 0; j < p && t->penalties; j++) {
        double own = whole->penalties ? whole->penalties[j] : 1;
        t->penalties[j] = value[j] >= least ? own : INFINITY;
    }
    return t->penalties ? VXS_OK : VXS_FAILED;
}

vxs_status vxs_prefilter(const vxs_context *context, const vxs_task *whole, vxs_task *part,
                         const char *text, size_t output, vxs_error *err)
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
        status = put_out_of_reach(whole, part, value, least, err);
    free(value);
    if (status)
        return status;
    vxs_task_unprepare(part);
    vxs_design_free(part->design);
    part->design = NULL;
    return vxs_task_make_design(context, part, err);
}
