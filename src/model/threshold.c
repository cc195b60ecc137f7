/* threshold.c - the threshold of Huber's loss: as given, or 1.345 robust standard deviations of the
 * target, which keeps 95 % of the efficiency of least squares for normal errors (Huber and
 * Ronchetti: Robust statistics, 2009). The target's standard deviation is an upper bound of that of
 * the errors. */
#include "model/model.h"

#include <math.h>
#include <stdlib.h>

#define EFFICIENT  1.345
#define OF_NORMALS 1.4826 /* standard deviation over median absolute deviation */
#define FAR_BELOW  1e-3   /* of the usual threshold: median regression but for rounding */

typedef struct {
    double value, weight;
} weighted;

static int by_value(const void *a, const void *b)
{
    double x = ((const weighted *)a)->value, y = ((const weighted *)b)->value;
    return (x > y) - (x < y);
}

/* The weighted median: a weight of 2 counts a value twice. */
static double median(weighted *list, size_t n)
{
    double whole = 0, below = 0;
    size_t k = 0;
    qsort(list, n, sizeof(*list), by_value);
    for (size_t i = 0; i < n; i++)
        whole += list[i].weight;
    while (k + 1 < n && below + list[k].weight < whole / 2)
        below += list[k++].weight;
    bool between = k + 1 < n && below + list[k].weight == whole / 2;
    return between ? (list[k].value + list[k + 1].value) / 2 : list[k].value;
}

/* 0 where half of the values or more are `middle`. */
static vxs_status usual_threshold(const vxs_task *t, const size_t *which, size_t n,
                                  double *threshold, double *middle, vxs_error *err)
{
    size_t count = 0;
    weighted *list = vxs_alloc(n, sizeof(*list), err);
    if (!list)
        return VXS_FAILED;
    for (size_t k = 0; k < n; k++) {
        size_t i = which ? which[k] : k;
        list[count] = (weighted){ t->score[i], vxs_task_weight(t, i) };
        count += list[count].weight > 0;
    }
    *middle = count > 0 ? median(list, count) : 0;
    for (size_t k = 0; k < count; k++)
        list[k].value = fabs(list[k].value - *middle);
    *threshold = count > 0 ? EFFICIENT * OF_NORMALS * median(list, count) : 0;
    free(list);
    return VXS_OK;
}

vxs_status vxs_task_threshold(const vxs_task *t, const size_t *which, size_t n, double *threshold,
                              vxs_error *err)
{
    double middle = 0;
    *threshold = t->settings.huber_threshold;
    if (!vxs_takes_threshold(&t->settings) || *threshold > 0)
        return VXS_OK;
    vxs_status status = usual_threshold(t, which, n, threshold, &middle, err);
    return status || *threshold > 0
               ? status
               : vxs_fail(err, VXS_BAD_DATA,
                          "half of the subjects or more have %g in column '%s', so that its median "
                          "absolute deviation is 0; say from where on residuals count linearly, "
                          "with '--huber-threshold'",
                          middle, t->settings.target);
}

vxs_status vxs_task_warn_threshold(const vxs_context *context, vxs_task *t, vxs_error *err)
{
    double usual = 0, middle = 0;
    if (!vxs_takes_threshold(&t->settings) || !(t->settings.huber_threshold > 0))
        return VXS_OK;
    vxs_status status = usual_threshold(t, NULL, t->n, &usual, &middle, err);
    if (status || t->threshold >= FAR_BELOW * usual)
        return status;
    return vxs_task_warn(context, t, err,
                         "'--huber-threshold %.3g' is far below the spread of '%s': almost all "
                         "residuals count linearly, and fits may not converge; "
                         "'--huber-threshold 0' takes %.3g",
                         t->threshold, t->settings.target, usual);
}
