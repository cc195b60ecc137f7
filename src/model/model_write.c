/* model_write.c - writes a model's directory: model.json, weights as a table and as maps. */
#include "model/estimators.h"
#include "model/model.h"
#include "voxsift/internal/machine.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

/* Rates are fractions of the penalized terms. */
static void screening_json(vxs_json_writer *w, const vxs_screening *s)
{
    vxs_json_open_object(w, "screening");
    vxs_json_whole(w, "terms", (int64_t)s->terms);
    vxs_json_real(w, "rejected_before", (double)s->before / (double)s->terms);
    vxs_json_real(w, "rejected", (double)s->after / (double)s->terms);
    vxs_json_real(w, "seconds_screening", s->screening);
    vxs_json_real(w, "seconds_solving", s->solving);
    if (s->compared) {
        vxs_json_real(w, "seconds_without", s->without);
        vxs_json_real(w, "primal_difference", s->difference);
    }
    vxs_json_close_object(w);
}

/* For methods that select feature blocks: number of blocks, iterations, and the gap of the
 * restricted problem. */
static void selected_json(vxs_json_writer *w, const vxs_selected *s)
{
    vxs_json_whole(w, "selected", (int64_t)s->count);
    vxs_json_whole(w, "outer_iterations", (int64_t)s->iterations);
    vxs_json_real(w, "gap_of_selected", s->restricted_gap);
    if (s->visited > 0) { /* of groups that form a tree */
        vxs_json_whole(w, "groups_visited", (int64_t)s->visited);
        vxs_json_whole(w, "groups_pruned", (int64_t)s->pruned);
    }
}

static void field_json(vxs_json_writer *w, const vxs_field *f, const void *of)
{
    const void *at = (const char *)of + f->offset;
    double real = f->type == VXS_FIELD_REAL ? *(const double *)at : 0;
    size_t count = f->type == VXS_FIELD_COUNT ? *(const size_t *)at : 0;
    if (f->type == VXS_FIELD_FLAG)
        vxs_json_bool(w, f->name, *(const bool *)at);
    else if (f->if_any && real == 0 && count == 0)
        return;
    else if (f->type == VXS_FIELD_COUNT)
        vxs_json_whole(w, f->name, (int64_t)count);
    else
        vxs_json_real(w, f->name, real);
}

void vxs_fit_json(vxs_json_writer *w, const vxs_task_settings *task,
                  const vxs_method_settings *method, const vxs_loss_kind *loss,
                  const vxs_solution *fit)
{
    vxs_certificate c = fit->certificate;
    bool by_cost = vxs_methods[task->method].path == VXS_BY_COST;
    if (loss->joint)
        c.nonzero = fit->count; /* subjects of the class */
    vxs_json_text(w, "method", vxs_method_names[task->method]);
    vxs_json_text(w, "loss", vxs_loss_name(task, method, loss));
    for (const vxs_field *f = vxs_certificate_fields; f->name; f++) {
        if (f->offset == offsetof(vxs_certificate, nonzero) && by_cost)
            vxs_json_real(w, "C", 1 / c.lambda);
        if (f->offset == offsetof(vxs_certificate, primal) && fit->selected)
            selected_json(w, fit->selected);
        field_json(w, f, &c);
    }
    if (c.screening.terms > 0)
        screening_json(w, &c.screening);
    vxs_json_real(w, "intercept", task->no_intercept ? 0 : fit->covariate_coefficients[0]);
}

static void write_texts(vxs_json_writer *w, const char *key, char *const *texts, size_t count)
{
    vxs_json_open_array(w, key);
    for (size_t k = 0; k < count; k++)
        vxs_json_text(w, NULL, texts[k]);
    vxs_json_close_array(w);
}

/* Writes a parsed JSON value. */
void vxs_copy_json(vxs_json_writer *w, const char *key, const vxs_json *value)
{
    if (!value || value->kind == VXS_JSON_NULL)
        vxs_json_text(w, key, NULL);
    else if (value->kind == VXS_JSON_BOOL)
        vxs_json_bool(w, key, value->number != 0);
    else if (value->kind == VXS_JSON_NUMBER)
        vxs_json_real(w, key, value->number);
    else if (value->kind == VXS_JSON_TEXT)
        vxs_json_text(w, key, value->text);
    else if (value->kind == VXS_JSON_ARRAY) {
        vxs_json_open_array(w, key);
        for (const vxs_json *m = value->first; m; m = m->next)
            vxs_copy_json(w, NULL, m);
        vxs_json_close_array(w);
    } else {
        vxs_json_open_object(w, key);
        for (const vxs_json *m = value->first; m; m = m->next)
            vxs_copy_json(w, m->key, m);
        vxs_json_close_object(w);
    }
}

/* Sums in the order of the features, so that weights read back give the same bits. */
double vxs_model_sum(const vxs_solution *fit)
{
    double sum = 0;
    for (size_t k = 0; k < fit->count; k++)
        sum += fit->weight[k];
    return sum;
}

/* Covariate coefficients of the selection problem; refit weights have their own. */
static void selection_free_json(vxs_json_writer *w, const vxs_model *m, const vxs_solution *fit)
{
    if (!fit->selected)
        return;
    vxs_json_open_array(w, "selection_unpenalized");
    for (size_t j = 0; j < m->covariate_count; j++)
        vxs_json_real(w, NULL, fit->selected->covariate_coefficients[j]);
    vxs_json_close_array(w);
}

static void write_outputs(vxs_json_writer *w, const vxs_model *m,
                          const vxs_method_settings *settings)
{
    vxs_json_open_array(w, "outputs");
    for (size_t k = 0; k < m->output_count; k++) {
        vxs_json_open_object(w, NULL);
        vxs_json_text(w, "name", m->outputs[k].name);
        vxs_fit_json(w, &m->task, settings, m->loss, &m->outputs[k].fit);
        vxs_json_real(w, "sum_of_weights", vxs_model_sum(&m->outputs[k].fit));
        vxs_json_open_array(w, "unpenalized_weights");
        for (size_t j = 0; j < m->covariate_count; j++)
            vxs_json_real(w, NULL, m->outputs[k].fit.covariate_coefficients[j]);
        vxs_json_close_array(w);
        selection_free_json(w, m, &m->outputs[k].fit);
        if (m->selection.slope) {
            vxs_json_real(w, "calibration_slope", m->selection.slope[k]);
            vxs_json_real(w, "calibration_offset", m->selection.offset[k]);
            if (m->selection.threshold != 0)
                vxs_json_real(w, "threshold", m->selection.threshold);
        }
        vxs_json_close_object(w);
    }
    vxs_json_close_array(w);
}

typedef struct {
    const vxs_context *context;
    const vxs_model *model;
    const vxs_task *task;
    const vxs_method_settings *settings;
    uint64_t *prints; /* hashes of the cohort's subjects */
    double *sketches; /* VXS_SKETCH numbers for each subject of the cohort */
    vxs_magnitude_range magnitude;
} saved;

static void write_training(vxs_json_writer *w, const saved *s)
{
    const vxs_task *t = s->task;
    const vxs_cohort *c = t->cohort;
    vxs_json_open_object(w, "training");
    vxs_json_text(w, "cohort", c->path);
    vxs_copy_json(w, "features_files", vxs_cohort_record(c));
    vxs_json_whole(w, "subjects", (int64_t)t->n);
    vxs_json_whole(w, "people", (int64_t)t->people);
    vxs_json_open_array(w, "ids");
    for (size_t i = 0; i < t->n; i++)
        vxs_json_text(w, NULL, vxs_task_id(t, i));
    vxs_json_close_array(w);
    vxs_trained_json(w, t, s->prints, s->sketches);
    vxs_json_open_object(w, "magnitude");
    vxs_json_real(w, "middle", s->magnitude.middle);
    vxs_json_real(w, "reach", s->magnitude.reach);
    vxs_json_close_object(w);
    vxs_json_close_object(w);
}

static void write_about(const saved *s, FILE *stream)
{
    const vxs_context *context = s->context;
    const vxs_model *m = s->model;
    const vxs_task *t = s->task;
    const vxs_method_settings *settings = s->settings;
    vxs_json_writer w;
    vxs_json_init(&w, stream);
    vxs_json_open_object(&w, NULL);
    vxs_json_format(&w, "voxsift model");
    vxs_json_text(&w, "command", context ? context->command : NULL);
    vxs_json_text(&w, "processor", vxs_blas_core());
    vxs_json_whole(&w, "threads", vxs_context_threads(context));
    vxs_json_text(&w, "method", vxs_method_names[m->task.method]);
    vxs_json_text(&w, "loss", vxs_loss_name(&m->task, settings, m->loss));
    vxs_json_text(&w, "target", m->task.target);
    write_texts(&w, "classes", m->classes, m->class_count);
    if (m->class_count == 2)
        vxs_json_text(&w, "positive", m->classes[1]);
    write_texts(&w, "unpenalized", m->covariate_names, m->covariate_count);
    vxs_json_open_array(&w, "unpenalized_means");
    for (size_t f = 0; f < m->covariate_count; f++)
        vxs_json_real(&w, NULL, m->covariate_means[f]);
    vxs_json_close_array(&w);
    write_texts(&w, "confound_levels", m->levels, m->level_count);
    vxs_json_params(&w, "task", vxs_task_params, &m->task);
    vxs_json_params(&w, "parameters", vxs_task_method(t)->params, settings);
    write_outputs(&w, m, settings);
    if (m->selection.tuning.count > 0)
        vxs_selection_json(&w, &m->selection, 1);
    vxs_json_whole(&w, "features", (int64_t)m->p);
    vxs_json_text(&w, "features_are", vxs_feature_kind_names[vxs_feature_kind_of(t->cohort)]);
    vxs_copy_json(&w, "grid", vxs_json_get(t->cohort->about, "grid"));
    vxs_copy_json(&w, "preprocessing", vxs_json_get(t->cohort->about, "preprocessing"));
    vxs_patches_json(&w, t->cohort);
    vxs_copy_json(&w, "dropped_list", vxs_json_get(t->cohort->about, "dropped_list"));
    vxs_flow_json(&w, t);
    write_training(&w, s);
    vxs_json_close_object(&w);
}

/* ---- Weights --------------------------------------------------------------------------------- */

/* Features with a weight in any output, ascending. */
static bool *any_weight(const vxs_model *m, vxs_error *err)
{
    bool *any = vxs_alloc(m->p, sizeof(*any), err);
    for (size_t k = 0; any && k < m->output_count; k++)
        for (size_t j = 0; j < m->outputs[k].fit.count; j++)
            any[m->outputs[k].fit.index[j]] = true;
    return any;
}

static double weight_of(const vxs_solution *s, size_t feature, size_t *next)
{
    if (*next < s->count && s->index[*next] == feature)
        return s->weight[(*next)++];
    return 0;
}

void vxs_write_place_header(vxs_tsv_writer *w)
{
    static const char *const place[] = { "i", "j", "k", "x", "y", "z" };
    for (int d = 0; d < 6; d++)
        vxs_tsv_text(w, place[d]);
}

/* Six digits, more than a scanner's precision. */
void vxs_write_mm(vxs_tsv_writer *w, double at)
{
    char text[32];
    double rounded = 0;
    snprintf(text, sizeof(text), "%.6g", at);
    vxs_tsv_real(w, vxs_parse_real(text, &rounded) ? rounded : at);
}

void vxs_write_place(vxs_tsv_writer *w, const vxs_grid *grid, size_t voxel)
{
    double index[3], at[3];
    vxs_grid_index(grid, voxel, index);
    vxs_grid_position(grid, index, at);
    for (int d = 0; d < 3; d++)
        vxs_tsv_real(w, index[d]);
    for (int d = 0; d < 3; d++)
        vxs_write_mm(w, at[d]);
}

static vxs_status write_headers(const vxs_model *m, const char *name, vxs_tsv_writer *w,
                                vxs_error *err)
{
    for (size_t k = 0; k < m->output_count; k++) {
        char *header = m->output_count == 1 ? vxs_format(err, "%s", name)
                                            : vxs_format(err, "%s_%s", name, m->outputs[k].name);
        if (!header)
            return VXS_FAILED;
        vxs_tsv_text(w, header);
        free(header);
    }
    return VXS_OK;
}

/* Columns: index in features.npy, name, for voxels (i, j, k) and (x, y, z) in mm, the weights of
 * each output, and sensitivities if there are any. */
static vxs_status write_table(const vxs_model *m, const vxs_cohort *c, FILE *stream, vxs_error *err)
{
    bool *any = any_weight(m, err);
    size_t *next = any ? vxs_alloc(m->output_count, sizeof(*next), err) : NULL;
    vxs_tsv_writer w;
    char name[32];
    vxs_status status = VXS_OK;
    if (!next) {
        free(any);
        return VXS_FAILED;
    }
    vxs_tsv_init(&w, stream);
    vxs_tsv_text(&w, "index");
    vxs_tsv_text(&w, "feature");
    const bool places = m->voxels && !m->task.bags;
    if (places)
        vxs_write_place_header(&w);
    bool sensitive = vxs_output_sensitivity(&m->outputs[0]) != NULL;
    status = write_headers(m, "weight", &w, err);
    if (!status && sensitive)
        status = write_headers(m, "sensitivity", &w, err);
    vxs_tsv_end_row(&w);
    for (size_t j = 0; j < m->p; j++) {
        if (!any[j])
            continue;
        vxs_tsv_real(&w, (double)j);
        vxs_tsv_text(&w, vxs_cohort_feature(c, j, name));
        if (places)
            vxs_write_place(&w, &m->grid, m->voxels[j]);
        for (size_t k = 0; k < m->output_count; k++)
            vxs_tsv_real(&w, weight_of(&m->outputs[k].fit, j, &next[k]));
        for (size_t k = 0; k < m->output_count && sensitive; k++)
            vxs_tsv_real(&w, vxs_output_sensitivity(&m->outputs[k])[j]);
        vxs_tsv_end_row(&w);
    }
    free(next);
    free(any);
    return status;
}

/* One volume for each output; the display window reaches to the largest weight. */
static vxs_status write_map(const vxs_model *m, FILE *stream, vxs_error *err)
{
    size_t voxels = vxs_grid_voxels(&m->grid);
    float *values = vxs_alloc(m->output_count, voxels * sizeof(*values), err);
    double most = 0;
    if (!values)
        return VXS_FAILED;
    for (size_t k = 0; k < m->output_count; k++)
        for (size_t j = 0; j < m->outputs[k].fit.count; j++) {
            double weight = m->outputs[k].fit.weight[j];
            values[k * voxels + m->voxels[m->outputs[k].fit.index[j]]] = (float)weight;
            most = fmax(most, fabs(weight));
        }
    vxs_write_options options = { .type = VXS_WRITE_FLOAT32,
                                  .volumes = m->output_count,
                                  .intent_code = 1001,
                                  .intent_name = "weight",
                                  .cal_max = most,
                                  .descrip = "voxsift " VXS_VERSION " weights" };
    vxs_status status = vxs_image_write(stream, "weights.nii.gz", &m->grid, &options, values, err);
    free(values);
    return status;
}

vxs_status vxs_write_mask(const vxs_grid *grid, const size_t *voxels, size_t count, FILE *stream,
                          vxs_error *err)
{
    uint8_t *mask = vxs_alloc(vxs_grid_voxels(grid), sizeof(*mask), err);
    vxs_write_options options = { .type = VXS_WRITE_UINT8,
                                  .intent_name = "mask",
                                  .descrip = "voxsift " VXS_VERSION " cohort mask" };
    if (!mask)
        return VXS_FAILED;
    for (size_t j = 0; j < count; j++)
        mask[voxels[j]] = 1;
    vxs_status status = vxs_image_write(stream, "mask.nii.gz", grid, &options, mask, err);
    free(mask);
    return status;
}

static vxs_status write_penalties(const vxs_task *t, FILE *stream, vxs_error *err)
{
    vxs_status status = vxs_npy_write_header(stream, 'f', sizeof(double), 1, &t->cohort->p, err);
    fwrite(t->penalties, sizeof(double), t->cohort->p, stream);
    return status;
}

static bool has_scale(const vxs_cohort *c, const char *requested)
{
    const char *scale = vxs_json_get_text(vxs_json_get(c->about, "preprocessing"), "scale");
    return scale && strcmp(scale, requested) == 0;
}

/* Copied from the cohort: parameters for preparing images of new subjects. */
static vxs_status copy_file(const vxs_cohort *c, const char *name, FILE *stream, vxs_error *err)
{
    char buffer[1 << 14];
    char *path = vxs_format(err, "%s/%s", c->path, name);
    FILE *file = path ? vxs_file_open(path) : NULL;
    vxs_status status = path ? VXS_OK : VXS_FAILED;
    if (path && !file)
        status = vxs_fail(err, VXS_MISSING, "cannot read '%s': %s", path, strerror(errno));
    for (size_t got = 1; file && got > 0;) {
        got = fread(buffer, 1, sizeof(buffer), file);
        fwrite(buffer, 1, got, stream);
    }
    if (file && ferror(file))
        status = vxs_fail(err, VXS_MISSING, "cannot read '%s'", path);
    if (file)
        fclose(file);
    free(path);
    return status;
}

/* Writes the files of the encoder. */
static vxs_status write_encoded(const vxs_model *m, const vxs_task *t, vxs_output *output,
                                vxs_error *err)
{
    const vxs_model_file *f = vxs_task_encoder(t)->files;
    vxs_status status = VXS_OK;
    for (; f && f->name && !status; f++) {
        FILE *stream;
        if (f->has && !f->has(m, t))
            continue;
        status = vxs_output_open(output, f->name, &stream, err);
        if (status)
            return status;
        if (f->write)
            status = f->write(m, t, stream, err);
        else
            f->put(m, t, stream);
        vxs_status closed = vxs_output_close(output, stream, f->name, err);
        status = status ? status : closed;
    }
    return status;
}

/* Writes the files that are not copied from the cohort, in the order of their names below. */
enum { TABLE, MAP, MASK, PENALTIES, GRAPH, GIVEN, MULTIPLIERS, ABOUT };

static vxs_status write_file(const saved *s, size_t file, const char *name, FILE *stream,
                             vxs_error *err)
{
    const vxs_model *m = s->model;
    const vxs_task *t = s->task;
    switch (file) {
    case TABLE:
        return write_table(m, t->cohort, stream, err);
    case MAP:
        return write_map(m, stream, err);
    case MASK:
        return vxs_write_mask(&m->grid, m->voxels, m->voxel_count, stream, err);
    case PENALTIES:
        return write_penalties(t, stream, err);
    case GRAPH:
        vxs_graph_write(&t->graph, t->cohort, stream);
        return VXS_OK;
    case GIVEN:
        return vxs_task_estimator(t)->table->write(t, stream, err);
    case MULTIPLIERS:
        return vxs_multipliers_write(m, t->n, stream, err);
    case ABOUT:
        write_about(s, stream);
        return VXS_OK;
    default:
        return copy_file(t->cohort, name, stream, err);
    }
}

/* By what training subjects are recognized, and their magnitudes. */
static vxs_status measure(saved *s, vxs_error *err)
{
    const vxs_cohort *c = s->task->cohort;
    s->prints = vxs_alloc(c->n, sizeof(*s->prints), err);
    s->sketches = vxs_alloc(c->n, VXS_SKETCH * sizeof(*s->sketches), err);
    vxs_status status =
        s->prints && s->sketches ? vxs_cohort_prints(c, s->prints, err) : VXS_FAILED;
    if (!status)
        status = vxs_cohort_sketches(c, s->sketches, err);
    return status ? status : vxs_find_magnitude_range(s->model, s->task, &s->magnitude, err);
}

static vxs_status save(const vxs_context *context, const vxs_model *m, const vxs_task *t,
                       const vxs_method_settings *settings, const char *directory, bool replace,
                       vxs_error *err)
{
    saved about = { .context = context, .model = m, .task = t, .settings = settings };
    const vxs_user_table *table = vxs_task_estimator(t)->table;
    const char *const files[] = {
        "weights.tsv",  "weights.nii.gz",           "mask.nii.gz",        VXS_PENALTIES_FILE,
        VXS_GRAPH_FILE, table ? table->file : NULL, VXS_MULTIPLIERS_FILE, VXS_MODEL_FILE,
        "mask.nii.gz",  "regions.nii.gz",           "regions.tsv",        "reference.nii.gz"
    };
    const bool voxels = m->voxels != NULL;
    const bool map = !m->task.bags && !vxs_reads_no_feature(&m->task, settings);
    const bool regions = vxs_feature_kind_of(t->cohort) == VXS_FEATURES_REGIONS;
    const bool requested[] = { true,
                               voxels && map,
                               voxels,
                               t->penalties != NULL,
                               vxs_task_method(t)->graph == VXS_GRAPH_NEEDED ||
                                   !vxs_graph_is_rule(t->settings.graph),
                               table && table->is_given(settings),
                               vxs_model_has_multipliers(m),
                               true,
                               regions,
                               regions,
                               regions,
                               has_scale(t->cohort, "suvr") };
    vxs_output *output = NULL;
    vxs_status status = measure(&about, err);
    if (!status)
        status = vxs_output_new(context, directory, replace, &output, err);
    for (size_t k = 0; k < sizeof(files) / sizeof(files[0]) && !status; k++) {
        FILE *stream;
        if (!requested[k])
            continue;
        status = vxs_output_open(output, files[k], &stream, err);
        if (status)
            break;
        status = write_file(&about, k, files[k], stream, err);
        vxs_status closed = vxs_output_close(output, stream, files[k], err);
        status = status ? status : closed;
    }
    if (!status)
        status = write_encoded(m, t, output, err);
    if (!status)
        status = vxs_output_seal(output, VXS_SEAL_FILE, err);
    if (!status)
        status = vxs_output_commit(output, err);
    vxs_output_free(output);
    free(about.prints);
    free(about.sketches);
    return status;
}

static vxs_status check_given(const vxs_model *m, const vxs_task *t,
                              const vxs_method_settings *settings, const char *directory,
                              vxs_error *err)
{
    vxs_status status = VXS_GIVEN(err, { "settings", settings }, { "directory", directory });
    if (!status)
        status = vxs_model_check_made(m, err);
    if (!status)
        status = vxs_task_check_made(t, err);
    if (status || (m->output_count == vxs_task_outputs(t) && m->p == t->cohort->p))
        return status;
    return vxs_fail(err, VXS_MISUSE,
                    "the model has %zu outputs of %zu features, the task %zu of %zu",
                    m->output_count, m->p, vxs_task_outputs(t), t->cohort->p);
}

vxs_status vxs_model_save(const vxs_context *context, const vxs_model *m, const vxs_task *t,
                          const vxs_method_settings *settings, const char *directory, bool replace,
                          vxs_error *err)
{
    vxs_status given = check_given(m, t, settings, directory, err);
    return given ? given : save(context, m, t, settings, directory, replace, err);
}
