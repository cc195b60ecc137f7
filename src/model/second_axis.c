/* second_axis.c - the second axis of a hyperparameter grid: the weight of a Laplacian, or gamma of
 * a kernel. Each of its values has a path of lambda or C of its own. */
#include "model/estimators.h"
#include "model/model.h"

#include <stddef.h>
#include <string.h>

static bool has_curved_kernel(const vxs_method_settings *m)
{
    return vxs_kernel_is_curved(m->svm.kernel);
}

const vxs_axis vxs_laplacian_axis = { .option = "laplacian",
                                      .key = "laplacians",
                                      .words = "Laplacian",
                                      .also = " and the weight of the Laplacian",
                                      .expects = "numbers that are not negative",
                                      .usual = 1,
                                      .least = 0,
                                      .most = VXS_LARGEST,
                                      .larger_is_simpler = true,
                                      .list = offsetof(vxs_method_settings, path.laplacians),
                                      .value = offsetof(vxs_method_settings, path.laplacian),
                                      .certificate = offsetof(vxs_certificate, smooth) };
const vxs_axis vxs_gamma_axis = { .option = "gamma",
                                  .key = "gammas",
                                  .words = "gamma",
                                  .also = " and gamma",
                                  .expects = "numbers from 1e-9 to 1e9",
                                  .usual = 1,
                                  .least = 1e-9,
                                  .most = 1e9,
                                  .list = offsetof(vxs_method_settings, svm.gammas),
                                  .value = offsetof(vxs_method_settings, svm.gamma),
                                  .certificate = offsetof(vxs_certificate, gamma),
                                  .applies = has_curved_kernel };

const vxs_axis vxs_width_axis = { .option = "bandwidth",
                                  .key = "bandwidths",
                                  .words = "bandwidth",
                                  .also = " and the bandwidth",
                                  .expects = "numbers from 1e-6 to 1e6",
                                  .tried = "0.1,0.25,0.5,1",
                                  .one = "0.25",
                                  .usual = 0.25,
                                  .least = 1e-6,
                                  .most = 1e6,
                                  .larger_is_simpler = true,
                                  .list = offsetof(vxs_method_settings, bags.widths),
                                  .value = offsetof(vxs_method_settings, bags.width),
                                  .certificate = offsetof(vxs_certificate, bandwidth) };

const vxs_axis *vxs_axis_of(const vxs_task_settings *task, const vxs_method_settings *method)
{
    const vxs_axis *axis = task->bags ? &vxs_width_axis : vxs_estimator_of(task)->axis;
    return axis && (!axis->applies || axis->applies(method)) ? axis : NULL;
}

static const char *list_of(const vxs_axis *axis, const vxs_method_settings *m)
{
    return *(const char *const *)(const void *)((const char *)m + axis->list);
}

void vxs_axis_take_one(const vxs_axis *axis, vxs_method_settings *m)
{
    if (axis && axis->one && !list_of(axis, m))
        *(const char **)(void *)((char *)m + axis->list) = axis->one;
}

static bool is_fine(const vxs_axis *axis, const double *values, size_t count)
{
    for (size_t k = 0; k < count; k++) {
        if (!(values[k] >= axis->least && values[k] <= axis->most))
            return false;
        for (size_t l = 0; l < k; l++)
            if (values[l] == values[k])
                return false;
    }
    return true;
}

vxs_status vxs_axis_read(const vxs_axis *axis, const vxs_method_settings *m,
                         double values[VXS_MOST_ACROSS], size_t *count, vxs_error *err)
{
    const char *list = list_of(axis, m) ? list_of(axis, m) : axis->tried;
    values[0] = axis->usual;
    *count = 1;
    if (!list ||
        (vxs_parse_reals(list, values, VXS_MOST_ACROSS, count) && is_fine(axis, values, *count)))
        return VXS_OK;
    return vxs_fail(err, VXS_MISUSE,
                    "'--%s' expects %s, all different, at most %d, with commas between, not '%s'",
                    axis->option, axis->expects, VXS_MOST_ACROSS, list);
}

vxs_status vxs_axis_read_one(const vxs_axis *axis, const vxs_method_settings *m, double *value,
                             vxs_error *err)
{
    double values[VXS_MOST_ACROSS];
    size_t count = 0;
    *value = axis->usual;
    if (!list_of(axis, m))
        return VXS_OK;
    vxs_status status = vxs_axis_read(axis, m, values, &count, err);
    *value = values[0];
    if (!status && count > 1)
        status = vxs_fail(err, VXS_MISUSE,
                          "'--%s' has %zu values; one is required unless folds choose "
                          "(--choose-lambda, --inner-folds)",
                          axis->option, count);
    return status;
}

void vxs_axis_set(const vxs_axis *axis, double value, vxs_method_settings *m)
{
    if (axis)
        *(double *)(void *)((char *)m + axis->value) = value;
}

double vxs_axis_certified(const vxs_axis *axis, const vxs_certificate *c)
{
    return axis ? *(const double *)(const void *)((const char *)c + axis->certificate) : 0;
}

vxs_status vxs_default_across(const vxs_task *t, vxs_method_settings *m, vxs_error *err)
{
    const vxs_axis *axis = vxs_axis_of(&t->settings, m);
    double value = 0;
    if (!axis || m->path.chosen)
        return VXS_OK;
    vxs_status status = vxs_axis_read_one(axis, m, &value, err);
    vxs_axis_set(axis, value, m);
    return status;
}
