/* hyperparameters.c - the hyperparameter grid of a fit: lambda as a fraction of lambda_max,
 * iterations, numbers to select or C, for each value of a second axis (second_axis.c); a single
 * value without cross-validation. */
#include "model/estimators.h"
#include "model/model.h"
#include "model/words.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#define USUAL_COSTS 13 /* 0.001 to 1000 */

/* ---- Values given by options ----------------------------------------------------------------- */

static vxs_status default_cost(const vxs_method_settings *settings, vxs_path_point *point,
                               vxs_error *err)
{
    double costs[VXS_MAX_NUMBERS] = { 1 };
    size_t count = 0;
    vxs_status status = vxs_read_costs(settings, costs, &count, err);
    *point = (vxs_path_point){ VXS_BY_COST, settings->path.chosen ? settings->path.point
                                            : count > 0           ? costs[0]
                                                                  : 1 };
    if (!status && count > 1 && !settings->path.chosen)
        status = vxs_fail(err, VXS_MISUSE,
                          "'--C' has %zu values; one is required unless folds choose "
                          "(--choose-lambda, --inner-folds)",
                          count);
    return status;
}

vxs_status vxs_default_path_point(const vxs_method *method, const vxs_method_settings *settings,
                                  vxs_path_point *point, vxs_error *err)
{
    if (method->path == VXS_BY_COST)
        return default_cost(settings, point, err);
    double numbers[VXS_MAX_NUMBERS];
    size_t count = 0;
    vxs_status status = vxs_read_numbers(settings, numbers, &count, err);
    *point = (vxs_path_point){ count > 0 ? VXS_BY_NUMBER : VXS_BY_ITERATIONS,
                               settings->path.chosen ? settings->path.point
                               : count > 0           ? numbers[0]
                                                     : (double)settings->path.iterations };
    if (!status && count > 1 && !settings->path.chosen)
        status = vxs_fail(err, VXS_MISUSE,
                          "'--nselect' has %zu values; one is required unless cross-validation "
                          "chooses (--choose-lambda)",
                          count);
    return status;
}

vxs_status vxs_check_ratio(const vxs_task *t, const vxs_method_settings *m, const char *part,
                           bool path, vxs_error *err)
{
    if (vxs_task_method(t)->path != VXS_BY_LAMBDA)
        return VXS_OK; /* the method has no lambda */
    if (!isnan(m->path.lambda))
        return vxs_fail(err, VXS_MISUSE,
                        "lambda means something else in every %s; give --lambda-ratio, the share "
                        "of lambda_max",
                        part);
    if (m->path.lambda_ratio <= 0 || (m->path.lambda_ratio >= 1 && path))
        return vxs_fail(err, VXS_MISUSE, "'--lambda-ratio' must lie between 0 and 1 here");
    return VXS_OK;
}

/* ---- The grid -------------------------------------------------------------------------------- */

void vxs_tuning_grid_release(vxs_tuning_grid *t)
{
    free(t->values);
    free(t->across);
    *t = (vxs_tuning_grid){ .count = 0 };
}

/* The values of C, from small to large; without a path one. */
static vxs_status list_costs(const vxs_method_settings *m, bool path, vxs_tuning_grid *t,
                             vxs_error *err)
{
    double costs[VXS_MAX_NUMBERS] = { 1 };
    size_t count = 0;
    vxs_path_point one = { VXS_BY_COST, 1 };
    vxs_status status = path ? vxs_read_costs(m, costs, &count, err) : default_cost(m, &one, err);
    for (; path && !m->svm.costs && count < USUAL_COSTS; count++)
        costs[count] = pow(10, -3 + 0.5 * (double)count);
    t->by = VXS_BY_COST;
    t->count = path ? count : 1;
    t->values = status ? NULL : vxs_alloc(t->count, sizeof(*t->values), err);
    for (size_t k = 0; k < t->count && t->values; k++)
        t->values[k] = path ? costs[k] : one.value;
    return t->values ? VXS_OK : status ? status : VXS_FAILED;
}

/* Iterations 1 ... N, or the numbers to select; without a path the last one. */
static vxs_status list_iterations(const vxs_method *method, const vxs_method_settings *m, bool path,
                                  vxs_tuning_grid *t, vxs_error *err)
{
    double numbers[VXS_MAX_NUMBERS];
    size_t count = 0;
    vxs_path_point one = { VXS_BY_ITERATIONS, 1 };
    vxs_status status = path ? vxs_read_numbers(m, numbers, &count, err)
                             : vxs_default_path_point(method, m, &one, err);
    if (status)
        return status;
    t->by = count > 0 ? VXS_BY_NUMBER : one.by;
    t->count = !path ? 1 : count > 0 ? count : (size_t)m->path.iterations;
    t->values = vxs_alloc(t->count, sizeof(*t->values), err);
    for (size_t k = 0; k < t->count && t->values; k++)
        t->values[k] = !path ? one.value : count > 0 ? numbers[k] : (double)(k + 1);
    return t->values ? VXS_OK : VXS_FAILED;
}

/* Fractions of lambda_max, from 1 down; without a path the last one. */
static vxs_status list_ratios(const vxs_method_settings *m, bool path, vxs_tuning_grid *t,
                              vxs_error *err)
{
    double usual = path ? 0.01 : 0.1;
    double least = isnan(m->path.lambda_ratio) ? usual : m->path.lambda_ratio;
    t->count = path ? (size_t)m->path.nlambda : 1;
    t->values = vxs_alloc(t->count, sizeof(*t->values), err);
    for (size_t k = 0; k < t->count && t->values; k++)
        t->values[k] = path ? pow(least, (double)k / (double)(t->count - 1)) : least;
    return t->values ? VXS_OK : VXS_FAILED;
}

static vxs_status list_path(const vxs_task *task, const vxs_method_settings *m, bool path,
                            vxs_tuning_grid *t, vxs_error *err)
{
    const vxs_method *method = vxs_task_method(task);
    return method->path == VXS_BY_LAMBDA ? list_ratios(m, path, t, err)
           : method->path == VXS_BY_COST ? list_costs(m, path, t, err)
                                         : list_iterations(method, m, path, t, err);
}

/* A path for each value of the second axis, one after the other. */
static vxs_status repeat_path(const vxs_method_settings *m, bool path, vxs_tuning_grid *t,
                              vxs_error *err)
{
    double across[VXS_MOST_ACROSS];
    size_t paths = 1, each = t->count;
    vxs_status status = path ? vxs_axis_read(t->axis, m, across, &paths, err)
                             : vxs_axis_read_one(t->axis, m, across, err);
    if (status)
        return status;
    double *values = vxs_resize(t->values, paths * each, sizeof(*values), err);
    t->values = values ? values : t->values;
    t->across = values ? vxs_alloc(paths * each, sizeof(*t->across), err) : NULL;
    if (!t->across)
        return VXS_FAILED;
    t->count = paths * each;
    for (size_t k = 0; k < t->count; k++) {
        t->values[k] = t->values[k % each];
        t->across[k] = across[k / each];
    }
    return VXS_OK;
}

vxs_status vxs_tuning_grid_make(const vxs_task *task, const vxs_method_settings *m, bool path,
                                vxs_tuning_grid *t, vxs_error *err)
{
    *t = (vxs_tuning_grid){ .by = VXS_BY_LAMBDA, .axis = vxs_axis_of(&task->settings, m) };
    vxs_status status = list_path(task, m, path, t, err);
    t->per_path = t->count;
    if (!status && t->axis)
        status = repeat_path(m, path, t, err);
    if (status)
        vxs_tuning_grid_release(t);
    return status;
}

/* ---- The choice ------------------------------------------------------------------------------ */

void vxs_selection_release(vxs_selection *s)
{
    vxs_tuning_grid_release(&s->tuning);
    free(s->losses);
    free(s->sizes);
    free(s->slope);
    free(s->offset);
    *s = (vxs_selection){ .losses = NULL };
}

void vxs_selection_take(const vxs_task *task, const vxs_selection *s, vxs_method_settings *m)
{
    if (vxs_task_method(task)->path == VXS_BY_LAMBDA)
        m->path.lambda_ratio = s->value;
    m->path.point = s->value;
    m->path.chosen = true;
    vxs_axis_set(s->tuning.axis, s->across, m);
}

const char *vxs_axis_chosen(const vxs_selection *s, char text[VXS_AXIS_TEXT])
{
    const vxs_tuning_grid *t = &s->tuning;
    char number[VXS_REAL_TEXT];
    text[0] = '\0';
    if (t->axis && t->count > t->per_path)
        (void)snprintf(text, VXS_AXIS_TEXT, " and %s %s", t->axis->option,
                       vxs_short_text(s->across, number));
    return text;
}

const char *vxs_point_words(const vxs_selection *s)
{
    return vxs_path_words_of(s->tuning.by)->measured;
}

const char *vxs_chosen_words(const vxs_tuning_grid *t)
{
    return vxs_path_words_of(t->by)->name;
}

const char *vxs_also_words(const vxs_tuning_grid *t)
{
    return t->axis && t->count > t->per_path ? t->axis->also : "";
}

const char *vxs_record_also(const vxs_record *r)
{
    const vxs_axis *axis = vxs_axis_of(&r->task, &r->settings);
    double values[VXS_MOST_ACROSS];
    size_t count = 0;
    bool several = axis && !vxs_axis_read(axis, &r->settings, values, &count, NULL) && count > 1;
    return several ? axis->also : "";
}

static void list_json(vxs_json_writer *w, const char *key, const double *values, size_t count)
{
    vxs_json_open_array(w, key);
    for (size_t k = 0; k < count; k++)
        vxs_json_real(w, NULL, values[k]);
    vxs_json_close_array(w);
}

static void rows_json(vxs_json_writer *w, const char *key, const double *values, size_t rows,
                      size_t count)
{
    vxs_json_open_array(w, key);
    for (size_t r = 0; r < rows; r++)
        list_json(w, NULL, values + r * count, count);
    vxs_json_close_array(w);
}

void vxs_selection_json(vxs_json_writer *w, const vxs_selection *s, size_t folds)
{
    const vxs_tuning_grid *t = &s->tuning;
    list_json(w, vxs_path_words_of(t->by)->key, t->values, t->count);
    if (t->axis)
        list_json(w, t->axis->key, t->across, t->count);
    if (s->choose_by)
        vxs_json_text(w, "choose_by", s->choose_by);
    if (s->decision)
        vxs_json_text(w, "decision", s->decision);
    rows_json(w, "inner_losses", s->losses, folds, s->tuning.count);
    rows_json(w, "inner_features", s->sizes, folds, s->tuning.count);
}

/* ---- Read again ------------------------------------------------------------------------------ */

static void take_numbers(const vxs_json *array, double *values, size_t most)
{
    size_t count = 0;
    for (const vxs_json *v = array ? array->first : NULL; v && count < most; v = v->next)
        values[count++] = v->kind == VXS_JSON_NUMBER ? v->number : NAN;
}

/* One row for each fold; values stay NULL if the number of rows differs. */
static vxs_status read_rows(const vxs_json *rows, size_t folds, size_t count, double **values,
                            vxs_error *err)
{
    if (!rows || rows->length != folds)
        return VXS_OK;
    *values = vxs_alloc(folds, count * sizeof(**values), err);
    double *at = *values;
    for (const vxs_json *row = rows->first; at && row; row = row->next, at += count)
        take_numbers(row, at, count);
    return at ? VXS_OK : VXS_FAILED;
}

vxs_status vxs_selection_read(const vxs_record *r, vxs_selection *s, size_t *folds, vxs_error *err)
{
    const vxs_path_words *path = vxs_record_path(r);
    const vxs_axis *axis = vxs_axis_of(&r->task, &r->settings);
    const vxs_json *points = vxs_json_get(r->about, path->key),
                   *across = axis ? vxs_json_get(r->about, axis->key) : NULL,
                   *losses = vxs_json_get(r->about, "inner_losses");
    vxs_tuning_grid *t = &s->tuning;
    *s = (vxs_selection){ .tuning = { .by = path->by, .axis = across ? axis : NULL } };
    *folds = losses ? losses->length : 0;
    if (!points || points->length == 0 || *folds == 0)
        return VXS_OK;
    t->count = points->length;
    t->values = vxs_alloc(t->count, sizeof(*t->values), err);
    t->across = across ? vxs_alloc(t->count, sizeof(*t->across), err) : NULL;
    if (!t->values || (across && !t->across))
        return VXS_FAILED;
    take_numbers(points, t->values, t->count);
    take_numbers(across, t->across, across ? t->count : 0);
    t->per_path = across ? 1 : t->count;
    while (t->per_path < t->count && t->across[t->per_path] == t->across[0])
        t->per_path++;
    vxs_status status = read_rows(losses, *folds, t->count, &s->losses, err);
    if (!status)
        status =
            read_rows(vxs_json_get(r->about, "inner_features"), *folds, t->count, &s->sizes, err);
    return status;
}
