/* hyperparameters.c - the hyperparameter grid of a fit: lambda as a fraction of lambda_max,
 * iterations or numbers to select, for each weight of the Laplacian; a single value without cross-
 * validation. */
#include "model/estimators.h"
#include "model/model.h"
#include "model/words.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#define USUAL_COSTS 13 /* 0.001 to 1000 */

/* ---- Values given by options ----------------------------------------------------------------- */

static bool takes_laplacian(const vxs_task *t)
{
    return vxs_method_takes_quadratic(vxs_task_method(t), &vxs_relative_laplacian);
}

vxs_status vxs_read_laplacians(const vxs_method_settings *settings,
                               double laplacians[VXS_MOST_LAPLACIANS], size_t *count,
                               vxs_error *err)
{
    *count = 0;
    if (!settings->path.laplacians)
        return VXS_OK;
    bool fine = vxs_parse_reals(settings->path.laplacians, laplacians, VXS_MOST_LAPLACIANS, count);
    for (size_t k = 0; k < *count && fine; k++)
        fine = laplacians[k] >= 0;
    return fine ? VXS_OK
                : vxs_fail(err, VXS_MISUSE,
                           "'--laplacian' expects numbers that are not negative, at most %d, with "
                           "commas between, not '%s'",
                           VXS_MOST_LAPLACIANS, settings->path.laplacians);
}

vxs_status vxs_default_laplacian(const vxs_task *t, vxs_method_settings *settings, vxs_error *err)
{
    double laplacians[VXS_MOST_LAPLACIANS] = { 1 };
    size_t count = 1;
    if (!takes_laplacian(t) || settings->path.chosen)
        return VXS_OK;
    vxs_status status =
        settings->path.laplacians ? vxs_read_laplacians(settings, laplacians, &count, err) : VXS_OK;
    if (!status && count > 1)
        status = vxs_fail(err, VXS_MISUSE,
                          "'--laplacian' has %zu values; one is required unless cross-validation "
                          "chooses (--choose-lambda)",
                          count);
    settings->path.laplacian = laplacians[0];
    settings->path.chosen = true;
    return status;
}

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
    free(t->laplacians);
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
    t->per_laplacian = t->count;
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
    t->per_laplacian = t->count;
    return t->values ? VXS_OK : VXS_FAILED;
}

vxs_status vxs_tuning_grid_make(const vxs_task *task, const vxs_method_settings *m, bool path,
                                vxs_tuning_grid *t, vxs_error *err)
{
    if (vxs_task_method(task)->path != VXS_BY_LAMBDA) {
        *t = (vxs_tuning_grid){ .count = 0 };
        return vxs_task_method(task)->path == VXS_BY_COST
                   ? list_costs(m, path, t, err)
                   : list_iterations(vxs_task_method(task), m, path, t, err);
    }
    double laplacians[VXS_MOST_LAPLACIANS] = { 1 }, fixed = path ? 0.01 : 0.1;
    double least = isnan(m->path.lambda_ratio) ? fixed : m->path.lambda_ratio;
    size_t each = path ? (size_t)m->path.nlambda : 1, count = 1;
    *t = (vxs_tuning_grid){ .count = 0 };
    vxs_status status = takes_laplacian(task) && m->path.laplacians
                            ? vxs_read_laplacians(m, laplacians, &count, err)
                            : VXS_OK;
    if (!status && count > 1 && !path)
        status =
            vxs_fail(err, VXS_MISUSE,
                     "'--laplacian' has %zu values, and there are no folds to choose one of them",
                     count);
    if (status)
        return status;
    t->values = vxs_alloc(count, each * sizeof(*t->values), err);
    t->laplacians =
        takes_laplacian(task) ? vxs_alloc(count, each * sizeof(*t->laplacians), err) : NULL;
    if (!t->values || (takes_laplacian(task) && !t->laplacians)) {
        vxs_tuning_grid_release(t);
        return VXS_FAILED;
    }
    t->count = count * each;
    t->per_laplacian = each;
    for (size_t k = 0; k < t->count; k++) {
        t->values[k] = path ? pow(least, (double)(k % each) / (double)(each - 1)) : least;
        if (t->laplacians)
            t->laplacians[k] = laplacians[k / each];
    }
    return VXS_OK;
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

const char *vxs_point_words(const vxs_selection *s)
{
    return vxs_path_words_of(s->tuning.by)->measured;
}

const char *vxs_chosen_words(const vxs_tuning_grid *t)
{
    return vxs_path_words_of(t->by)->name;
}

static void rows_json(vxs_json_writer *w, const char *key, const double *values, size_t rows,
                      size_t count)
{
    vxs_json_open_array(w, key);
    for (size_t r = 0; r < rows; r++) {
        vxs_json_open_array(w, NULL);
        for (size_t k = 0; k < count; k++)
            vxs_json_real(w, NULL, values[r * count + k]);
        vxs_json_close_array(w);
    }
    vxs_json_close_array(w);
}

void vxs_selection_json(vxs_json_writer *w, const vxs_selection *s, size_t folds)
{
    vxs_json_open_array(w, vxs_path_words_of(s->tuning.by)->key);
    for (size_t k = 0; k < s->tuning.count; k++)
        vxs_json_real(w, NULL, s->tuning.values[k]);
    vxs_json_close_array(w);
    if (s->tuning.laplacians) {
        vxs_json_open_array(w, "laplacians");
        for (size_t k = 0; k < s->tuning.count; k++)
            vxs_json_real(w, NULL, s->tuning.laplacians[k]);
        vxs_json_close_array(w);
    }
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
    const vxs_json *points = vxs_json_get(r->about, path->key),
                   *laplacians = vxs_json_get(r->about, "laplacians"),
                   *losses = vxs_json_get(r->about, "inner_losses");
    vxs_tuning_grid *t = &s->tuning;
    *s = (vxs_selection){ .tuning = { .by = path->by } };
    *folds = losses ? losses->length : 0;
    if (!points || points->length == 0 || *folds == 0)
        return VXS_OK;
    t->count = points->length;
    t->values = vxs_alloc(t->count, sizeof(*t->values), err);
    t->laplacians = laplacians ? vxs_alloc(t->count, sizeof(*t->laplacians), err) : NULL;
    if (!t->values || (laplacians && !t->laplacians))
        return VXS_FAILED;
    take_numbers(points, t->values, t->count);
    take_numbers(laplacians, t->laplacians, laplacians ? t->count : 0);
    t->per_laplacian =
        path->by == VXS_BY_LAMBDA
            ? 1
            : t->count; /* lambda rises where the next weight of the Laplacian begins */
    while (t->per_laplacian < t->count &&
           t->values[t->per_laplacian] < t->values[t->per_laplacian - 1])
        t->per_laplacian++;
    vxs_status status = read_rows(losses, *folds, t->count, &s->losses, err);
    if (!status)
        status =
            read_rows(vxs_json_get(r->about, "inner_features"), *folds, t->count, &s->sizes, err);
    return status;
}
