/* model_read.c - reads a model's directory; every value is checked. */
#include "model/estimators.h"
#include "model/model.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

typedef struct {
    vxs_model *model;
    char *file; /* path of model.json, for messages */
} reader;

static vxs_status broken(const reader *r, const char *what, vxs_error *err)
{
    return vxs_fail(err, VXS_BAD_DATA, "'%s' does not describe a model: %s", r->file, what);
}

static bool number_of(const vxs_json *object, const char *key, double *number)
{
    *number = vxs_json_get_number(object, key);
    return !isnan(*number);
}

/* ---- Parameters ------------------------------------------------------------------------------ */

const char *vxs_read_params(const vxs_json *object, const vxs_param *table, void *values)
{
    vxs_params_defaults(table, values);
    for (; table->name; table++) {
        const vxs_json *value = vxs_json_get(object, table->name);
        if (!value || !vxs_param_read(table, value, values))
            return table->name;
    }
    return NULL;
}

static vxs_status read_params(const reader *r, const char *key, const vxs_param *table,
                              void *values, vxs_error *err)
{
    const char *bad = vxs_read_params(vxs_json_get(r->model->about, key), table, values);
    return bad ? broken(r, bad, err) : VXS_OK;
}

vxs_status vxs_misuse_as_bad_data(const char *file, vxs_status status, vxs_error *err)
{
    if (status != VXS_MISUSE)
        return status;
    vxs_error words = VXS_ERROR_INIT;
    if (err) {
        words = *err;
        *err = (vxs_error)VXS_ERROR_INIT;
    }
    return vxs_fail(err, VXS_BAD_DATA, "'%s': %s", file, words.message);
}

vxs_status vxs_model_method(const vxs_model *m, vxs_method_settings *settings, vxs_error *err)
{
    reader r = { .model = (vxs_model *)m, .file = m->path };
    return read_params(&r, "parameters", vxs_methods[m->task.method].params, settings, err);
}

/* ---- Texts and outputs ----------------------------------------------------------------------- */

static vxs_status read_texts(const reader *r, const char *key, char ***texts, size_t *count,
                             vxs_error *err)
{
    const vxs_json *array = vxs_json_get(r->model->about, key);
    if (!array || array->kind != VXS_JSON_ARRAY)
        return broken(r, key, err);
    *texts = vxs_alloc(array->length, sizeof(**texts), err);
    if (!*texts)
        return VXS_FAILED;
    for (const vxs_json *m = array->first; m; m = m->next) {
        if (m->kind != VXS_JSON_TEXT)
            return broken(r, key, err);
        (*texts)[*count] = vxs_format(err, "%s", m->text);
        if (!(*texts)[(*count)++])
            return VXS_FAILED;
    }
    return VXS_OK;
}

/* True if an object has the field in its written form: a number; null where allowed (a bound that
 * was not found); or absent where 0 is omitted. */
static bool read_field(const vxs_json *object, const vxs_field *f, void *of)
{
    const vxs_json *value = vxs_json_get(object, f->name);
    void *at = (char *)of + f->offset;
    bool lacks = !value && f->if_any, null = value && value->kind == VXS_JSON_NULL && f->null;
    double number = lacks ? 0 : null ? f->none : vxs_json_get_number(object, f->name);
    switch (f->type) {
    case VXS_FIELD_REAL:
        *(double *)at = number;
        return null || !isnan(number);
    case VXS_FIELD_COUNT:
        if (!(number >= 0 && number <= (double)VXS_MAX_COUNT && number == floor(number)))
            return false;
        *(size_t *)at = (size_t)number;
        return true;
    default:
        *(bool *)at = value && value->number != 0;
        return value && value->kind == VXS_JSON_BOOL;
    }
}

static vxs_status read_certificate(const reader *r, const vxs_json *about, vxs_certificate *c,
                                   vxs_error *err)
{
    for (const vxs_field *f = vxs_certificate_fields; f->name; f++)
        if (!read_field(about, f, c))
            return broken(r, f->name, err);
    bool ends_at_zero = vxs_methods[r->model->task.method].path == VXS_BY_LAMBDA;
    return isnan(c->lambda_max) && ends_at_zero ? broken(r, "lambda_max", err) : VXS_OK;
}

static vxs_status read_means(const reader *r, vxs_error *err)
{
    vxs_model *m = r->model;
    const vxs_json *array = vxs_json_get(m->about, "unpenalized_means");
    size_t k = 0;
    if (!array || array->kind != VXS_JSON_ARRAY || array->length != m->covariate_count)
        return broken(r, "unpenalized_means", err);
    m->covariate_means = vxs_alloc(m->covariate_count, sizeof(*m->covariate_means), err);
    if (!m->covariate_means)
        return VXS_FAILED;
    for (const vxs_json *mean = array->first; mean; mean = mean->next) {
        if (mean->kind != VXS_JSON_NUMBER)
            return broken(r, "unpenalized_means", err);
        m->covariate_means[k++] = mean->number;
    }
    return VXS_OK;
}

static vxs_status read_output(const reader *r, const vxs_json *about, vxs_output_fit *output,
                              vxs_error *err)
{
    const vxs_model *m = r->model;
    const vxs_json *weights = vxs_json_get(about, "unpenalized_weights");
    const char *name = vxs_json_get_text(about, "name");
    if (!name || !weights || weights->kind != VXS_JSON_ARRAY ||
        weights->length != m->covariate_count || !number_of(about, "sum_of_weights", &output->sum))
        return broken(r, "outputs", err);
    vxs_status status = read_certificate(r, about, &output->fit.certificate, err);
    if (status)
        return status;
    output->name = vxs_format(err, "%s", name);
    output->fit.covariate_coefficients =
        vxs_alloc(m->covariate_count, sizeof(*output->fit.covariate_coefficients), err);
    if (!output->name || !output->fit.covariate_coefficients)
        return VXS_FAILED;
    size_t k = 0;
    for (const vxs_json *w = weights->first; w; w = w->next) {
        if (w->kind != VXS_JSON_NUMBER)
            return broken(r, "unpenalized_weights", err);
        output->fit.covariate_coefficients[k++] = w->number;
    }
    return VXS_OK;
}

static vxs_status read_calibration(const reader *r, const vxs_json *outputs, vxs_error *err)
{
    vxs_selection *s = &r->model->selection;
    size_t k = 0;
    if (!vxs_json_get(outputs->first, "calibration_slope"))
        return VXS_OK; /* nothing was cross-validated */
    s->slope = vxs_alloc(outputs->length, sizeof(*s->slope), err);
    s->offset = vxs_alloc(outputs->length, sizeof(*s->offset), err);
    if (!s->slope || !s->offset)
        return VXS_FAILED;
    for (const vxs_json *o = outputs->first; o; o = o->next, k++)
        if (!number_of(o, "calibration_slope", &s->slope[k]) ||
            !number_of(o, "calibration_offset", &s->offset[k]))
            return broken(r, "outputs", err);
    if (vxs_json_get(outputs->first, "threshold") &&
        (r->model->class_count != 2 || !number_of(outputs->first, "threshold", &s->threshold)))
        return broken(r, "threshold", err);
    return VXS_OK;
}

static vxs_status read_outputs(const reader *r, vxs_error *err)
{
    vxs_model *m = r->model;
    const vxs_json *array = vxs_json_get(m->about, "outputs");
    size_t requested = vxs_output_count(&m->task, m->class_count);
    if (!array || array->kind != VXS_JSON_ARRAY || array->length != requested)
        return broken(r, "outputs", err);
    m->outputs = vxs_alloc(requested, sizeof(*m->outputs), err);
    if (!m->outputs)
        return VXS_FAILED;
    m->output_count = requested;
    size_t k = 0;
    vxs_status status = VXS_OK;
    for (const vxs_json *o = array->first; o && !status; o = o->next)
        status = read_output(r, o, &m->outputs[k++], err);
    return !status && m->class_count > 0 ? read_calibration(r, array, err) : status;
}

/* ---- Weights --------------------------------------------------------------------------------- */

static vxs_status read_row(const reader *r, const vxs_table *table, size_t row, size_t index_at,
                           size_t name_at, size_t first, vxs_error *err)
{
    vxs_model *m = r->model;
    double index = NAN,
           last = m->feature_count > 0 ? (double)m->feature_index[m->feature_count - 1] : -1;
    const char *name = vxs_table_cell(table, row, name_at);
    vxs_status status = vxs_table_real(table, row, index_at, &index, err);
    if (status)
        return status;
    if (!(index > last && index < (double)m->p) || index != floor(index) || !name)
        return broken(r, "weights.tsv has indices that do not rise or do not fit", err);
    m->feature_index[m->feature_count] = (size_t)index;
    m->features[m->feature_count] = vxs_format(err, "%s", name);
    if (!m->features[m->feature_count++])
        return VXS_FAILED;
    for (size_t k = 0; k < m->output_count && !status; k++) {
        vxs_solution *fit = &m->outputs[k].fit;
        double weight = NAN;
        status = vxs_table_real(table, row, first + k, &weight, err);
        if (!status && !isfinite(weight))
            status = broken(r, "weights.tsv lacks a weight", err);
        if (status || weight == 0)
            continue;
        fit->index[fit->count] = (size_t)index;
        fit->weight[fit->count++] = weight;
    }
    return status;
}

static vxs_status make_rows(const reader *r, size_t rows, vxs_error *err)
{
    vxs_model *m = r->model;
    m->features = vxs_alloc(rows, sizeof(*m->features), err);
    m->feature_index = vxs_alloc(rows, sizeof(*m->feature_index), err);
    for (size_t k = 0; k < m->output_count; k++) {
        vxs_solution *fit = &m->outputs[k].fit;
        fit->index = vxs_alloc(rows, sizeof(*fit->index), err);
        fit->weight = vxs_alloc(rows, sizeof(*fit->weight), err);
        if (!fit->index || !fit->weight)
            return VXS_FAILED;
    }
    return m->features && m->feature_index ? VXS_OK : VXS_FAILED;
}

/* The column of the first output's weights; those of the others follow. */
static vxs_status find_weights(const reader *r, const vxs_table *table, size_t *first,
                               vxs_error *err)
{
    const vxs_model *m = r->model;
    char *header = m->output_count == 1 ? vxs_format(err, "weight")
                                        : vxs_format(err, "weight_%s", m->outputs[0].name);
    vxs_status status = header ? vxs_table_find(table, header, first, err) : VXS_FAILED;
    free(header);
    if (!status && *first + m->output_count > vxs_table_columns(table))
        status = broken(r, "weights.tsv has too few columns", err);
    return status;
}

static vxs_status take_weights(const reader *r, const vxs_table *table, vxs_error *err)
{
    vxs_model *m = r->model;
    size_t index_at = 0, name_at = 0, first = 0, rows = vxs_table_rows(table);
    vxs_status status = vxs_table_find(table, "index", &index_at, err);
    if (!status)
        status = vxs_table_find(table, "feature", &name_at, err);
    if (!status)
        status = find_weights(r, table, &first, err);
    if (!status)
        status = make_rows(r, rows, err);
    for (size_t row = 0; row < rows && !status; row++)
        status = read_row(r, table, row, index_at, name_at, first, err);
    for (size_t k = 0; k < m->output_count && !status; k++)
        if (vxs_model_sum(&m->outputs[k].fit) != m->outputs[k].sum ||
            m->outputs[k].fit.certificate.nonzero != m->outputs[k].fit.count)
            status = broken(r, "weights.tsv does not have its weights", err);
    return status;
}

static vxs_status read_weights(const reader *r, const char *folder, vxs_error *err)
{
    vxs_table *table = NULL;
    char *path = vxs_format(err, "%s/weights.tsv", folder);
    vxs_status status = path ? vxs_table_read(path, &table, err) : VXS_FAILED;
    if (!status)
        status = take_weights(r, table, err);
    vxs_table_free(table);
    free(path);
    return status;
}

/* Reads the voxels of mask.nii.gz if the model has one. */
static vxs_status read_mask(const reader *r, const char *folder, vxs_error *err)
{
    vxs_model *m = r->model;
    vxs_image image = { .format = NULL };
    vxs_volume mask = { .values = NULL };
    const char *kind = vxs_json_get_text(m->about, "features_are");
    if (!kind || strcmp(kind, "voxels") != 0)
        return VXS_OK;
    char *path = vxs_format(err, "%s/mask.nii.gz", folder);
    vxs_status status = path ? vxs_image_read(path, &image, err) : VXS_FAILED;
    if (!status)
        status = vxs_volume_from_image(&image, 0, &mask, err);
    m->grid = mask.grid;
    size_t voxels = status ? 0 : vxs_grid_voxels(&mask.grid);
    m->voxels = status ? NULL : vxs_alloc(voxels, sizeof(*m->voxels), err);
    for (size_t v = 0; m->voxels && v < voxels; v++)
        if (mask.values[v] != 0)
            m->voxels[m->voxel_count++] = v;
    if (!status && !m->voxels)
        status = VXS_FAILED;
    if (!status && m->voxel_count != m->p && !m->task.bags)
        status = broken(r, "mask.nii.gz has another number of voxels", err);
    vxs_volume_release(&mask);
    vxs_image_release(&image);
    free(path);
    return status;
}

/* ---- The whole ------------------------------------------------------------------------------- */

static vxs_status read_about(const reader *r, vxs_error *err)
{
    vxs_model *m = r->model;
    double p = 0;
    vxs_status status = vxs_json_check_format(m->about, r->file, "voxsift model", err);
    if (status)
        return status;
    if (!number_of(m->about, "features", &p) || !(p >= 1 && p < 1e15))
        return broken(r, "features", err);
    m->p = (size_t)p;
    status = read_texts(r, "classes", &m->classes, &m->class_count, err);
    if (!status)
        status = read_texts(r, "unpenalized", &m->covariate_names, &m->covariate_count, err);
    if (!status)
        status = read_means(r, err);
    if (!status)
        status = read_texts(r, "confound_levels", &m->levels, &m->level_count, err);
    if (!status)
        status = read_params(r, "task", vxs_task_params, &m->task, err);
    m->loss =
        vxs_loss_of_classes(vxs_chosen_loss(&m->task) == &vxs_multinomial_loss, m->class_count);
    return status ? status : read_outputs(r, err);
}

vxs_status vxs_model_check_made(const vxs_model *m, vxs_error *err)
{
    vxs_status status = VXS_GIVEN(err, { "model", m });
    return status || (m->outputs && m->loss)
               ? status
               : vxs_fail(err, VXS_MISUSE, "the model is neither fitted nor read");
}

vxs_status vxs_model_check_read(const vxs_model *m, vxs_error *err)
{
    vxs_status status = vxs_model_check_made(m, err);
    return status || (m->path && m->about)
               ? status
               : vxs_fail(err, VXS_MISUSE, "the model was not read from a directory");
}

vxs_status vxs_model_read(const char *path, vxs_model *m, vxs_error *err)
{
    if (m)
        *m = (vxs_model){ .p = 0 };
    vxs_status status = VXS_GIVEN(err, { "path", path }, { "model", m });
    if (status)
        return status;
    reader r = { .model = m, .file = vxs_format(err, "%s/%s", path, VXS_MODEL_FILE) };
    status = r.file ? vxs_folder_check(path, VXS_MODEL_FILE, err) : VXS_FAILED;
    m->path = r.file;
    if (!status)
        status = vxs_json_read(r.file, &m->about, err);
    if (!status)
        status = read_about(&r, err);
    if (!status)
        status = read_weights(&r, path, err);
    if (!status)
        status = read_mask(&r, path, err);
    if (!status && m->task.bags && !vxs_methods[m->task.method].takes_bags)
        status = broken(&r, "its method takes no bags", err);
    const vxs_encoder *encoder = status ? NULL : vxs_encoder_of(&m->task);
    for (size_t k = 0; k < m->output_count && encoder; k++)
        m->outputs[k].encoder = encoder;
    if (encoder && encoder->read)
        status = encoder->read(m, path, err);
    if (status)
        vxs_model_release(m);
    return status;
}
