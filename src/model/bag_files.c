/* bag_files.c - instances of a model of bags as files.
 *
 * instances.npy has the features of each instance with a weight, a row each, in the order of
 * weights.tsv; instances.tsv whose they are, where, the width of similarities and their means.
 * instance_features.tsv names the features, unless these are voxels. New subjects need nothing
 * else. */
#include "model/model.h"
#include "model/similarities.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#define VALUES_FILE "instances.npy"
#define TABLE_FILE  "instances.tsv"
#define NAMES_FILE  "instance_features.tsv"

/* ---- Writing --------------------------------------------------------------------------------- */

/* Instances with a weight in any output, ascending; freed by the caller. */
static size_t *list_instances(const vxs_model *m, size_t *count, vxs_error *err)
{
    bool *any = vxs_alloc(m->p, sizeof(*any), err);
    size_t *list = any ? vxs_alloc(m->p, sizeof(*list), err) : NULL;
    *count = 0;
    for (size_t o = 0; o < m->output_count && list; o++)
        for (size_t k = 0; k < m->outputs[o].fit.count; k++)
            any[m->outputs[o].fit.index[k]] = true;
    for (size_t j = 0; j < m->p && list; j++)
        if (any[j])
            list[(*count)++] = j;
    free(any);
    return list;
}

static vxs_status write_values(const vxs_model *m, const vxs_task *t, FILE *stream, vxs_error *err)
{
    const vxs_bags *b = t->cohort->bags;
    size_t count, *list = list_instances(m, &count, err);
    const size_t shape[2] = { count, b->width };
    vxs_status status =
        list ? vxs_npy_write_header(stream, 'f', sizeof(float), 2, shape, err) : VXS_FAILED;
    for (size_t k = 0; k < count && !status; k++) /* errors are found when the stream is closed */
        (void)!fwrite(b->values + list[k] * b->width, sizeof(float), b->width, stream);
    free(list);
    return status;
}

static size_t bag_of(const vxs_bags *b, size_t instance)
{
    size_t bag = 0;
    while (b->first[bag + 1] <= instance)
        bag++;
    return bag;
}

/* The mean similarity with the training subjects of a class (SIZE_MAX: of all). */
static double mean_similarity(const vxs_task *t, size_t instance, size_t class)
{
    const float *distance = vxs_bag_distances_column(t->distances, instance);
    double sum = 0, count = 0, square = t->bag_width * t->bag_distance;
    for (size_t i = 0; i < t->n; i++) {
        double d = (double)distance[t->rows[i]];
        if (class != SIZE_MAX && t->score[i] != (double)class)
            continue;
        sum += exp(-d * d / (2 * square));
        count++;
    }
    return sum / count;
}

static void write_headers(const vxs_model *m, const vxs_bags *b, vxs_tsv_writer *w)
{
    vxs_tsv_text(w, "index");
    vxs_tsv_text(w, "instance");
    vxs_tsv_text(w, "bag");
    for (int d = 0; b->at && d < 3; d++)
        vxs_tsv_text(w, d == 0 ? "x" : d == 1 ? "y" : "z");
    vxs_tsv_text(w, "sigma");
    for (size_t o = 0; o < m->output_count; o++)
        vxs_tsv_of(w, "weight", m->output_count > 1 ? m->outputs[o].name : NULL);
    vxs_tsv_text(w, "similarity");
    for (size_t k = 0; k < m->class_count; k++)
        vxs_tsv_of(w, "similarity", m->classes[k]);
    vxs_tsv_end_row(w);
}

static double weight_of(const vxs_solution *fit, size_t instance)
{
    for (size_t k = 0; k < fit->count; k++)
        if (fit->index[k] == instance)
            return fit->weight[k];
    return 0;
}

static void write_instance(const vxs_model *m, const vxs_task *t, size_t instance,
                           vxs_tsv_writer *w)
{
    const vxs_bags *b = t->cohort->bags;
    char name[32];
    vxs_tsv_real(w, (double)instance);
    vxs_tsv_text(w, vxs_cohort_feature(t->cohort, instance, name));
    vxs_tsv_text(w, vxs_cohort_id(t->cohort, bag_of(b, instance)));
    for (int d = 0; b->at && d < 3; d++)
        vxs_tsv_real(w, b->at[3 * instance + (size_t)d]);
    vxs_tsv_real(w, sqrt(t->bag_width * t->bag_distance));
    for (size_t o = 0; o < m->output_count; o++)
        vxs_tsv_real(w, weight_of(&m->outputs[o].fit, instance));
    vxs_tsv_real(w, mean_similarity(t, instance, SIZE_MAX));
    for (size_t k = 0; k < m->class_count; k++)
        vxs_tsv_real(w, mean_similarity(t, instance, k));
    vxs_tsv_end_row(w);
}

static vxs_status write_table(const vxs_model *m, const vxs_task *t, FILE *stream, vxs_error *err)
{
    size_t count, *list = list_instances(m, &count, err);
    vxs_tsv_writer w;
    vxs_tsv_init(&w, stream);
    write_headers(m, t->cohort->bags, &w);
    for (size_t k = 0; k < count; k++)
        write_instance(m, t, list[k], &w);
    free(list);
    return list ? VXS_OK : VXS_FAILED;
}

vxs_status vxs_write_volumes(const vxs_grid *grid, const double *values, size_t volumes,
                             const char *intent, const char *name, FILE *stream, vxs_error *err)
{
    size_t count = volumes * vxs_grid_voxels(grid);
    float *floats = vxs_alloc(count, sizeof(*floats), err);
    double most = 0;
    if (!floats)
        return VXS_FAILED;
    for (size_t k = 0; k < count; k++) {
        floats[k] = (float)values[k];
        most = fmax(most, fabs(values[k]));
    }
    vxs_write_options options = { .type = VXS_WRITE_FLOAT32,
                                  .volumes = volumes,
                                  .intent_code = 1001,
                                  .intent_name = intent,
                                  .cal_max = most,
                                  .descrip = "voxsift " VXS_VERSION " weights" };
    vxs_status status = vxs_image_write(stream, name, grid, &options, floats, err);
    free(floats);
    return status;
}

static bool has_cubes(const vxs_model *m, const vxs_task *t)
{
    (void)m;
    return t->cohort->bags->cubes != NULL;
}

/* A weight is spread over the voxels of its cube. */
static vxs_status write_map(const vxs_model *m, const vxs_task *t, FILE *stream, vxs_error *err)
{
    const vxs_cohort *c = t->cohort;
    const vxs_cubes *cubes = c->bags->cubes;
    size_t voxels = vxs_grid_voxels(&c->grid);
    double *values = vxs_alloc(m->output_count, vxs_times(voxels, sizeof(*values)), err);
    if (!values)
        return VXS_FAILED;
    for (size_t o = 0; o < m->output_count; o++)
        for (size_t k = 0; k < m->outputs[o].fit.count; k++)
            vxs_cubes_spread(cubes, m->outputs[o].fit.index[k] % cubes->count, c->voxels,
                             m->outputs[o].fit.weight[k], values + o * voxels);
    vxs_status status = vxs_write_volumes(&c->grid, values, m->output_count, "weight",
                                          "weights.nii.gz", stream, err);
    free(values);
    return status;
}

static bool has_names(const vxs_model *m, const vxs_task *t)
{
    (void)m;
    return t->cohort->bags->kind != VXS_FEATURES_VOXELS;
}

static void write_names(const vxs_model *m, const vxs_task *t, FILE *stream)
{
    const vxs_bags *b = t->cohort->bags;
    char name[32];
    vxs_tsv_writer w;
    vxs_tsv_init(&w, stream);
    vxs_tsv_text(&w, "feature");
    vxs_tsv_end_row(&w);
    for (size_t j = 0; j < b->width; j++) {
        vxs_tsv_text(&w, vxs_bags_feature(b, j, name));
        vxs_tsv_end_row(&w);
    }
    (void)m;
}

const vxs_model_file vxs_bag_files[] = {
    { .name = VALUES_FILE, .write = write_values },
    { .name = TABLE_FILE, .write = write_table },
    { .name = NAMES_FILE, .has = has_names, .put = write_names },
    { .name = "weights.nii.gz", .has = has_cubes, .write = write_map },
    { .name = NULL }
};

/* ---- Reading --------------------------------------------------------------------------------- */

static vxs_status broken(const vxs_model *m, const char *file, const char *what, vxs_error *err)
{
    return vxs_fail(err, VXS_BAD_DATA, "'%s' of model '%s': %s", file, m->path, what);
}

static vxs_status check_values(const vxs_model *m, const vxs_npy *values, vxs_error *err)
{
    const float *x = vxs_npy_floats(values);
    if (!x || values->ndim != 2 || values->shape[0] != m->feature_count)
        return broken(m, VALUES_FILE, "it has other rows than weights.tsv", err);
    for (size_t k = 0; k < values->count; k++)
        if (!isfinite(x[k]))
            return broken(m, VALUES_FILE, "a value is not finite", err);
    return VXS_OK;
}

typedef struct {
    const vxs_table *table;
    size_t index, sigma, at[3];
    bool placed;
} columns;

static vxs_status find_columns(const vxs_model *m, const vxs_table *table, columns *c,
                               vxs_error *err)
{
    static const char *const places[] = { "x", "y", "z" };
    *c = (columns){ .table = table, .placed = m->voxels != NULL };
    vxs_status status = vxs_table_find(table, "index", &c->index, err);
    if (!status)
        status = vxs_table_find(table, "sigma", &c->sigma, err);
    for (int d = 0; d < 3 && c->placed && !status; d++)
        c->placed = !vxs_table_find(table, places[d], &c->at[d], NULL);
    if (!status && vxs_table_rows(table) != m->feature_count)
        status = broken(m, TABLE_FILE, "it has other rows than weights.tsv", err);
    return status;
}

/* Row `row` of the files becomes instance k of an output. */
static vxs_status read_instance(const vxs_model *m, const columns *c, const vxs_npy *values,
                                size_t row, vxs_kept_instances *kept, size_t k, vxs_error *err)
{
    double index = NAN;
    vxs_status status = vxs_table_real(c->table, row, c->index, &index, err);
    if (!status && index != (double)m->feature_index[row])
        status = broken(m, TABLE_FILE, "it has other instances than weights.tsv", err);
    if (!status)
        status = vxs_table_real(c->table, row, c->sigma, &kept->sigma, err);
    if (!status && !(kept->sigma > 0 && isfinite(kept->sigma)))
        status = broken(m, TABLE_FILE, "a sigma is not above 0", err);
    for (int d = 0; d < 3 && c->placed && !status; d++) {
        status = vxs_table_real(c->table, row, c->at[d], &kept->at[3 * k + (size_t)d], err);
        if (!status && !isfinite(kept->at[3 * k + (size_t)d]))
            status = broken(m, TABLE_FILE, "a place is not finite", err);
    }
    memcpy(kept->values + k * kept->width, vxs_npy_floats(values) + row * kept->width,
           kept->width * sizeof(*kept->values));
    return status;
}

static vxs_status read_output(const vxs_model *m, const columns *c, const vxs_npy *values,
                              vxs_output_fit *o, vxs_error *err)
{
    vxs_kept_instances *kept =
        vxs_kept_instances_new(o->fit.count, values->shape[1], c->placed, err);
    o->encoded = kept;
    vxs_status status = kept ? VXS_OK : VXS_FAILED;
    for (size_t row = 0, k = 0; k < o->fit.count && !status; row++)
        if (m->feature_index[row] == o->fit.index[k])
            status = read_instance(m, c, values, row, kept, k++, err);
    return status;
}

vxs_status vxs_bag_read(vxs_model *m, const char *folder, vxs_error *err)
{
    char *npy = vxs_format(err, "%s/%s", folder, VALUES_FILE);
    char *tsv = vxs_format(err, "%s/%s", folder, TABLE_FILE);
    vxs_npy values = { .map = NULL };
    vxs_table *table = NULL;
    columns c;
    vxs_status status = npy && tsv ? vxs_npy_open(npy, &values, err) : VXS_FAILED;
    if (!status)
        status = check_values(m, &values, err);
    if (!status)
        status = vxs_table_read(tsv, &table, err);
    if (!status)
        status = find_columns(m, table, &c, err);
    for (size_t o = 0; o < m->output_count && !status; o++)
        status = read_output(m, &c, &values, &m->outputs[o], err);
    vxs_npy_release(&values);
    vxs_table_free(table);
    free(npy);
    free(tsv);
    return status;
}

/* ---- Whose instances ------------------------------------------------------------------------- */

static vxs_status same_names(const vxs_model *m, const vxs_cohort *c, const vxs_table *names,
                             vxs_error *err)
{
    const vxs_bags *b = c->bags;
    char name[32];
    if (vxs_table_rows(names) != b->width)
        return vxs_fail(err, VXS_BAD_DATA,
                        "cannot predict for '%s': its instances have %zu features, the model's %zu",
                        c->path, b->width, vxs_table_rows(names));
    for (size_t j = 0; j < b->width; j++) {
        const char *ours = vxs_table_cell(names, j, 0), *theirs = vxs_bags_feature(b, j, name);
        if (!ours || strcmp(ours, theirs) != 0)
            return vxs_fail(err, VXS_BAD_DATA,
                            "cannot predict for '%s': its feature %zu is '%s', the model's '%s'",
                            c->path, j, theirs, ours ? ours : "?");
    }
    (void)m;
    return VXS_OK;
}

vxs_status vxs_model_same_instances(const vxs_model *m, const vxs_cohort *c, vxs_error *err)
{
    vxs_table *names = NULL;
    if (!m->path) /* fitted in this process */
        return VXS_OK;
    char *path = vxs_model_file_path(m, NAMES_FILE, err);
    vxs_status status = path ? vxs_table_read(path, &names, err) : VXS_FAILED;
    if (!status)
        status = same_names(m, c, names, err);
    vxs_table_free(names);
    free(path);
    return status;
}
