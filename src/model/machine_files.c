/* machine_files.c - what a kernel machine keeps in its model's directory.
 *
 * alpha.npy has a row for each output: the weights of the training subjects, the intercept, scale
 * and factor of the kernel; check-model reads it. Subjects that are not of a pair of classes have
 * NAN there. For the kernels rbf and poly training.npy has the standardized features of the
 * training subjects, a row for each feature, and scales.npy what standardizes the features of
 * others; pairs, which have means of their own, stand side by side in both. Where the kernel is of
 * low rank landmarks.npy has their places among the training subjects and their weights, those of
 * the outputs side by side, and training.npy their features alone, as doubles. Sensitivities are in
 * weights.tsv, and as a map. */
#include "model/machine.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { MORE = 3, FILES = 5 }; /* numbers behind the weights; arrays of vxs_machine_files */

/* ---- Writing --------------------------------------------------------------------------------- */

/* Numbers of an output's subjects in a row for all training subjects, which the others lack. */
static void write_row(const vxs_task *t, size_t output, const double *values, FILE *stream)
{
    for (size_t i = 0, at = 0; i < t->n; i++) {
        bool other = vxs_task_has_pairs(t) && isnan(vxs_output_side(t, output, t->score[i]));
        const double value = other ? (double)NAN : values[at];
        at += !other;
        /* write errors are detected when the stream is closed */
        (void)!fwrite(&value, sizeof(value), 1, stream);
    }
}

vxs_status vxs_machine_write_alpha(const vxs_model *m, const vxs_task *t, FILE *stream,
                                   vxs_error *err)
{
    const size_t shape[2] = { m->output_count, t->n + MORE };
    vxs_status status = vxs_npy_write_header(stream, 'f', sizeof(double), 2, shape, err);
    for (size_t k = 0; k < m->output_count && !status; k++) {
        const vxs_machine *machine = m->outputs[k].encoded;
        const double more[MORE] = { machine->intercept, machine->kernel.scale,
                                    machine->kernel.factor };
        write_row(t, k, machine->weight, stream);
        (void)!fwrite(more, sizeof(double), MORE, stream);
    }
    return status;
}

static bool has_features(const vxs_model *m, const vxs_task *t)
{
    (void)t;
    const vxs_machine *machine = m->outputs[0].encoded;
    return machine->values || machine->exact;
}

static bool has_landmarks(const vxs_model *m, const vxs_task *t)
{
    (void)t;
    return ((const vxs_machine *)m->outputs[0].encoded)->landmark != NULL;
}

/* One against the rest all outputs have the same features, unless each has landmarks of its own. */
static size_t count_kept(const vxs_model *m)
{
    return vxs_model_has_pairs(m) || has_landmarks(m, NULL) ? m->output_count : 1;
}

static size_t count_of(const vxs_machine *machine)
{
    return machine->landmark ? machine->rank : machine->n;
}

/* Subjects of all outputs that are kept. */
static size_t count_columns(const vxs_model *m)
{
    size_t count = 0;
    for (size_t k = 0; k < count_kept(m); k++)
        count += count_of(m->outputs[k].encoded);
    return count;
}

static vxs_status write_training(const vxs_model *m, const vxs_task *t, FILE *stream,
                                 vxs_error *err)
{
    const size_t shape[2] = { m->p, count_columns(m) };
    const int size = has_landmarks(m, t) ? sizeof(double) : sizeof(float);
    vxs_status status = vxs_npy_write_header(stream, 'f', size, 2, shape, err);
    for (size_t j = 0; j < m->p && !status; j++)
        for (size_t k = 0; k < count_kept(m); k++) {
            const vxs_machine *machine = m->outputs[k].encoded;
            if (machine->exact)
                (void)!fwrite(machine->exact + j * machine->rank, sizeof(double), machine->rank,
                              stream);
            else
                (void)!fwrite(machine->values + j * machine->n, sizeof(float), machine->n, stream);
        }
    return status;
}

/* The place among all training subjects of each of an output's. */
static size_t *find_places(const vxs_task *t, size_t output, vxs_error *err)
{
    size_t *place = vxs_alloc(t->n + 1, sizeof(*place), err);
    for (size_t i = 0, at = 0; i < t->n && place; i++)
        if (!vxs_task_has_pairs(t) || !isnan(vxs_output_side(t, output, t->score[i])))
            place[at++] = i;
    return place;
}

static vxs_status write_landmarks(const vxs_model *m, const vxs_task *t, FILE *stream,
                                  vxs_error *err)
{
    const size_t shape[2] = { 2, count_columns(m) };
    vxs_status status = vxs_npy_write_header(stream, 'f', sizeof(double), 2, shape, err);
    for (size_t k = 0; k < m->output_count && !status; k++) {
        const vxs_machine *machine = m->outputs[k].encoded;
        size_t *place = find_places(t, k, err);
        status = place ? VXS_OK : VXS_FAILED;
        for (size_t l = 0; l < machine->rank && place; l++) {
            const double value = (double)place[machine->landmark[l]];
            (void)!fwrite(&value, sizeof(value), 1, stream);
        }
        free(place);
    }
    for (size_t k = 0; k < m->output_count && !status; k++) {
        const vxs_machine *machine = m->outputs[k].encoded;
        (void)!fwrite(machine->landmark_weight, sizeof(double), machine->rank, stream);
    }
    return status;
}

static vxs_status write_scales(const vxs_model *m, const vxs_task *t, FILE *stream, vxs_error *err)
{
    const size_t each = 1 + t->covariate_count, shape[2] = { m->p, count_kept(m) * each };
    vxs_status status = vxs_npy_write_header(stream, 'f', sizeof(double), 2, shape, err);
    for (size_t j = 0; j < m->p && !status; j++)
        for (size_t k = 0; k < count_kept(m); k++) {
            const vxs_machine *machine = m->outputs[k].encoded;
            (void)!fwrite(machine->scales + j * each, sizeof(double), each, stream);
        }
    return status;
}

static bool has_flat(const vxs_model *m, const vxs_task *t)
{
    (void)t;
    return ((const vxs_machine *)m->outputs[0].encoded)->flat != NULL;
}

static vxs_status write_flat(const vxs_model *m, const vxs_task *t, FILE *stream, vxs_error *err)
{
    const size_t shape[2] = { m->output_count, t->n };
    vxs_status status = vxs_npy_write_header(stream, 'f', sizeof(double), 2, shape, err);
    for (size_t k = 0; k < m->output_count && !status; k++)
        write_row(t, k, ((const vxs_machine *)m->outputs[k].encoded)->flat, stream);
    return status;
}

static bool has_sensitivity_map(const vxs_model *m, const vxs_task *t)
{
    return m->voxels && has_features(m, t);
}

vxs_status vxs_machine_write_map(const vxs_model *m, const vxs_machine_map *map,
                                 const float *values, FILE *stream, vxs_error *err)
{
    size_t count = m->output_count * vxs_grid_voxels(&m->grid);
    float most = 0;
    for (size_t v = 0; v < count; v++)
        most = fmaxf(most, values[v]);
    vxs_write_options options = { .type = VXS_WRITE_FLOAT32,
                                  .volumes = m->output_count,
                                  .intent_code = 1001,
                                  .intent_name = map->intent,
                                  .cal_max = (double)most,
                                  .descrip = map->descrip };
    return vxs_image_write(stream, map->name, &m->grid, &options, values, err);
}

static vxs_status write_sensitivity(const vxs_model *m, const vxs_task *t, FILE *stream,
                                    vxs_error *err)
{
    static const vxs_machine_map map = { "sensitivity.nii.gz", "sensitivity",
                                         "voxsift " VXS_VERSION " sensitivity" };
    size_t voxels = vxs_grid_voxels(&m->grid);
    float *values = vxs_alloc(m->output_count, vxs_times(voxels, sizeof(*values)), err);
    vxs_status status = values ? VXS_OK : VXS_FAILED;
    (void)t;
    for (size_t k = 0; k < m->output_count && values; k++)
        for (size_t j = 0; j < m->p; j++)
            values[k * voxels + m->voxels[j]] = (float)vxs_output_sensitivity(&m->outputs[k])[j];
    if (!status)
        status = vxs_machine_write_map(m, &map, values, stream, err);
    free(values);
    return status;
}

const vxs_model_file vxs_machine_files[] = {
    { .name = "alpha.npy", .write = vxs_machine_write_alpha },
    { .name = "training.npy", .has = has_features, .write = write_training },
    { .name = "scales.npy", .has = has_features, .write = write_scales },
    { .name = "kernel_weights.npy", .has = has_flat, .write = write_flat },
    { .name = "landmarks.npy", .has = has_landmarks, .write = write_landmarks },
    { .name = "sensitivity.nii.gz", .has = has_sensitivity_map, .write = write_sensitivity },
    { .name = NULL }
};

/* ---- Reading --------------------------------------------------------------------------------- */

static vxs_status broken(const char *file, const char *what, vxs_error *err)
{
    return vxs_fail(err, VXS_BAD_DATA, "'%s' does not go with its model: %s", file, what);
}

/* `gaps`: values may be missing. */
static vxs_status open_matrix(const char *path, int item, size_t rows, bool gaps, vxs_npy *a,
                              vxs_error *err)
{
    vxs_status status = vxs_npy_open(path, a, err);
    if (status)
        return status;
    if (a->kind != 'f' || a->item_size != item || a->ndim != 2 || a->shape[0] != rows)
        return broken(path, "it has other rows", err);
    for (size_t k = 0; k < a->count; k++)
        if (!isfinite(vxs_npy_item(a, k)) && !(gaps && isnan(vxs_npy_item(a, k))))
            return broken(path, "a value is not finite", err);
    return VXS_OK;
}

/* The subjects of an output are those that have a number. */
static vxs_status take_weights(const vxs_npy *a, const char *path, const vxs_svm_settings *s,
                               vxs_model *m, size_t output, vxs_error *err)
{
    size_t count = a->shape[1] - MORE, at = output * a->shape[1], n = 0;
    for (size_t i = 0; i < count; i++)
        n += !isnan(vxs_npy_item(a, at + i));
    vxs_machine *machine = vxs_machine_new(n, err);
    m->outputs[output].encoded = machine;
    if (!machine)
        return VXS_FAILED;
    machine->subject = vxs_alloc(n + 1, sizeof(*machine->subject), err);
    if (!machine->subject)
        return VXS_FAILED;
    for (size_t i = 0, k = 0; i < count; i++)
        if (!isnan(vxs_npy_item(a, at + i))) {
            machine->subject[k] = i;
            machine->weight[k++] = vxs_npy_item(a, at + i);
        }
    machine->intercept = vxs_npy_item(a, at + count);
    machine->kernel = (vxs_kernel){ .kind = s->kernel,
                                    .gamma = m->outputs[output].fit.certificate.gamma,
                                    .constant = s->constant,
                                    .degree = (int)s->degree,
                                    .scale = vxs_npy_item(a, at + count + 1),
                                    .factor = vxs_npy_item(a, at + count + 2) };
    if (vxs_kernel_is_curved(s->kernel) && !(machine->kernel.gamma > 0))
        return vxs_fail(err, VXS_BAD_DATA, "'%s' does not describe a model: gamma", m->path);
    if (!(machine->kernel.scale > 0 && machine->kernel.factor > 0))
        return broken(path, "scale and factor of the kernel are above 0", err);
    return isfinite(machine->intercept) ? VXS_OK : broken(path, "a value is not finite", err);
}

static vxs_status read_alpha(const char *path, vxs_model *m, const vxs_svm_settings *s,
                             size_t *trained, vxs_error *err)
{
    vxs_npy a = { .count = 0 };
    vxs_status status =
        open_matrix(path, (int)sizeof(double), m->output_count, vxs_model_has_pairs(m), &a, err);
    if (!status && a.shape[1] <= MORE)
        status = broken(path, "it has no subjects", err);
    for (size_t k = 0; k < m->output_count && !status; k++)
        status = take_weights(&a, path, s, m, k, err);
    *trained = status ? 0 : a.shape[1] - MORE;
    vxs_npy_release(&a);
    return status;
}

/* Columns of an output, from `first`. */
static vxs_status take_kept(vxs_machine *machine, const vxs_npy *training, size_t first,
                            vxs_error *err)
{
    const size_t count = count_of(machine), p = machine->p, wide = training->shape[1];
    if (machine->landmark)
        machine->exact = vxs_alloc(p, vxs_times(count, sizeof(*machine->exact)), err);
    else
        machine->values = vxs_alloc(p, vxs_times(count, sizeof(*machine->values)), err);
    if (!machine->exact && !machine->values)
        return VXS_FAILED;
    for (size_t j = 0; j < p; j++)
        for (size_t i = 0; i < count; i++) {
            double value = vxs_npy_item(training, j * wide + first + i);
            if (machine->exact)
                machine->exact[j * count + i] = value;
            else
                machine->values[j * count + i] = (float)value;
        }
    return VXS_OK;
}

/* Each output has a copy, since it is released with it. */
static vxs_status take_features(vxs_model *m, const vxs_npy *training, const vxs_npy *scales,
                                vxs_error *err)
{
    size_t each = 1 + m->covariate_count, from = 0;
    vxs_status status = VXS_OK;
    for (size_t k = 0; k < m->output_count && !status; k++) {
        vxs_machine *machine = m->outputs[k].encoded;
        size_t kept = count_kept(m) > 1 ? k : 0;
        machine->p = m->p;
        machine->covariate_count = m->covariate_count;
        machine->scales = vxs_alloc(m->p, each * sizeof(*machine->scales), err);
        status = machine->scales ? take_kept(machine, training, from, err) : VXS_FAILED;
        for (size_t j = 0; j < m->p && !status; j++)
            for (size_t i = 0; i < each; i++)
                machine->scales[j * each + i] =
                    vxs_npy_item(scales, j * scales->shape[1] + kept * each + i);
        from += count_kept(m) > 1 ? count_of(machine) : 0;
    }
    return status;
}

/* The output's subject with this place among all; the end if it has none. */
static size_t subject_at(const vxs_machine *machine, double place)
{
    size_t i = 0;
    while (i < machine->n && (double)machine->subject[i] != place)
        i++;
    return i;
}

static vxs_status take_landmarks(const vxs_npy *a, const char *path, size_t first,
                                 vxs_machine *machine, size_t rank, vxs_error *err)
{
    const size_t wide = a->shape[1];
    machine->rank = rank;
    machine->landmark = vxs_alloc(rank + 1, sizeof(*machine->landmark), err);
    machine->landmark_weight = vxs_alloc(rank + 1, sizeof(*machine->landmark_weight), err);
    if (!machine->landmark || !machine->landmark_weight)
        return VXS_FAILED;
    for (size_t l = 0; l < rank; l++) {
        machine->landmark[l] = subject_at(machine, vxs_npy_item(a, first + l));
        machine->landmark_weight[l] = vxs_npy_item(a, wide + first + l);
        if (machine->landmark[l] == machine->n)
            return broken(path, "a landmark is no training subject", err);
    }
    return VXS_OK;
}

static vxs_status read_landmarks(const char *path, vxs_model *m, vxs_error *err)
{
    vxs_npy a = { .count = 0 };
    size_t total = 0;
    vxs_status status = open_matrix(path, (int)sizeof(double), 2, false, &a, err);
    for (size_t k = 0; k < m->output_count && !status; k++) {
        size_t rank = m->outputs[k].fit.certificate.rank;
        bool there = rank <= a.shape[1] - total;
        status = there ? take_landmarks(&a, path, total, m->outputs[k].encoded, rank, err)
                       : broken(path, "it has other columns", err);
        total += rank;
    }
    if (!status && total != a.shape[1])
        status = broken(path, "it has other columns", err);
    vxs_npy_release(&a);
    return status;
}

static vxs_status read_features(const char *training_path, const char *scales_path, vxs_model *m,
                                vxs_error *err)
{
    vxs_npy training = { .count = 0 }, scales = { .count = 0 };
    const int size = has_landmarks(m, NULL) ? sizeof(double) : sizeof(float);
    vxs_status status = open_matrix(training_path, size, m->p, false, &training, err);
    if (!status && training.shape[1] != count_columns(m))
        status = broken(training_path, "it has other columns", err);
    if (!status)
        status = open_matrix(scales_path, (int)sizeof(double), m->p, false, &scales, err);
    if (!status && scales.shape[1] != count_kept(m) * (1 + m->covariate_count))
        status = broken(scales_path, "it has other columns", err);
    if (!status)
        status = take_features(m, &training, &scales, err);
    vxs_npy_release(&training);
    vxs_npy_release(&scales);
    return status;
}

static vxs_status read_flat(const char *path, vxs_model *m, size_t trained, vxs_error *err)
{
    vxs_npy a = { .count = 0 };
    vxs_status status =
        open_matrix(path, (int)sizeof(double), m->output_count, vxs_model_has_pairs(m), &a, err);
    for (size_t k = 0; k < m->output_count && !status; k++) {
        vxs_machine *machine = m->outputs[k].encoded;
        size_t n = machine->n;
        if (a.shape[1] != trained)
            status = broken(path, "it has other columns", err);
        machine->flat = status ? NULL : vxs_alloc(n, sizeof(*machine->flat), err);
        if (!status && !machine->flat)
            status = VXS_FAILED;
        for (size_t l = 0; l < n && !status; l++) {
            machine->flat[l] = vxs_npy_item(&a, k * a.shape[1] + machine->subject[l]);
            if (isnan(machine->flat[l]))
                status = broken(path, "a value is not finite", err);
        }
    }
    vxs_npy_release(&a);
    return status;
}

/* Those of features that are not in the table are 0. */
static vxs_status take_sensitivity(vxs_model *m, const vxs_table *table, size_t output,
                                   vxs_error *err)
{
    vxs_machine *machine = m->outputs[output].encoded;
    size_t column = 0;
    char *header = m->output_count == 1
                       ? vxs_format(err, "sensitivity")
                       : vxs_format(err, "sensitivity_%s", m->outputs[output].name);
    vxs_status status = header ? vxs_table_find(table, header, &column, err) : VXS_FAILED;
    free(header);
    machine->sensitivity = status ? NULL : vxs_alloc(m->p, sizeof(*machine->sensitivity), err);
    if (!status && !machine->sensitivity)
        status = VXS_FAILED;
    for (size_t row = 0; row < m->feature_count && !status; row++) {
        double *value = &machine->sensitivity[m->feature_index[row]];
        status = vxs_table_real(table, row, column, value, err);
        if (!status && !(*value >= 0 && *value < INFINITY))
            status = vxs_fail(err, VXS_BAD_DATA,
                              "'%s' does not describe a model: weights.tsv lacks a sensitivity",
                              m->path);
    }
    return status;
}

static vxs_status read_sensitivity(const char *folder, vxs_model *m, vxs_error *err)
{
    vxs_table *table = NULL;
    char *path = vxs_format(err, "%s/weights.tsv", folder);
    vxs_status status = path ? vxs_table_read(path, &table, err) : VXS_FAILED;
    if (!status && vxs_table_rows(table) != m->feature_count)
        status = broken(path, "it has other rows", err);
    for (size_t k = 0; k < m->output_count && !status; k++)
        status = take_sensitivity(m, table, k, err);
    vxs_table_free(table);
    free(path);
    return status;
}

vxs_status vxs_machine_read(vxs_model *m, const char *folder, vxs_error *err)
{
    vxs_method_settings settings = { .path.lambda = NAN };
    char *paths[FILES] = { NULL };
    size_t trained = 0;
    vxs_status status = vxs_model_method(m, &settings, err);
    for (int k = 0; k < FILES && !status; k++) {
        paths[k] = vxs_format(err, "%s/%s", folder, vxs_machine_files[k].name);
        status = paths[k] ? VXS_OK : VXS_FAILED;
    }
    if (!status)
        status = read_alpha(paths[0], m, &settings.svm, &trained, err);
    if (!status && settings.svm.rank > 0)
        status = read_landmarks(paths[FILES - 1], m, err);
    if (!status && vxs_kernel_is_curved(settings.svm.kernel))
        status = read_features(paths[1], paths[2], m, err);
    if (!status && vxs_kernel_is_given(&settings))
        status = read_flat(paths[3], m, trained, err);
    if (!status && vxs_kernel_is_curved(settings.svm.kernel))
        status = read_sensitivity(folder, m, err);
    for (int k = 0; k < FILES; k++)
        free(paths[k]);
    return status;
}
