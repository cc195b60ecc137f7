/* stability_write.c - the directory of a stability selection. */
#include "evaluate/chunks/chunk.h"
#include "voxsift/internal/machine.h"

#include <math.h>
#include <stdlib.h>

/* ---- Files ----------------------------------------------------------------------------------- */

/* A number, or one for each class. */
static void write_counts(vxs_json_writer *w, const vxs_task *t, const char *key,
                         const size_t *counts)
{
    size_t outputs = vxs_task_outputs(t);
    if (outputs == 1) {
        vxs_json_whole(w, key, (int64_t)counts[0]);
        return;
    }
    vxs_json_open_object(w, key);
    for (size_t o = 0; o < outputs; o++)
        vxs_json_whole(w, t->classes[o], (int64_t)counts[o]);
    vxs_json_close_object(w);
}

void vxs_stability_json(vxs_json_writer *w, const vxs_task *t, const vxs_stability *r)
{
    write_counts(w, t, "selected", r->stable);
    if (r->groups)
        write_counts(w, t, "selected_groups", r->stable_groups);
    vxs_json_real(w, "threshold", r->threshold);
    vxs_json_real(w, "error_bound", r->error_bound);
    vxs_json_whole(w, "halves", (int64_t)r->halves);
    vxs_json_text(w, "counted", r->clustered ? "clusters" : r->groups ? "groups" : "features");
    if (r->clustered)
        vxs_json_whole(w, "clusters", (int64_t)r->clustered->groups.count);
    if (r->clustered)
        vxs_json_real(w, "tolerance_mm", r->clustered->tolerance);
    vxs_json_whole(w, "candidates", (int64_t)r->candidates);
    vxs_json_whole(w, "features_a_half", (int64_t)r->features);
    vxs_json_real(w, "mean_selected", r->mean_selected);
    vxs_json_real(w, "dice", r->dice);
    vxs_json_real(w, "nogueira", r->nogueira);
    vxs_json_bool(w, "converged", r->converged);
    vxs_json_real(w, "passes", r->passes);
    vxs_json_real(w, "seconds", r->seconds);
}

static void write_about(const vxs_context *context, const vxs_task *t,
                        const vxs_stability_settings *s, const vxs_method_settings *m,
                        const vxs_stability *r, FILE *stream)
{
    vxs_json_writer w;
    vxs_json_init(&w, stream);
    vxs_json_open_object(&w, NULL);
    vxs_json_format(&w, "voxsift stability");
    vxs_json_text(&w, "command", context ? context->command : NULL);
    vxs_json_text(&w, "processor", r->processor ? r->processor : vxs_blas_core());
    vxs_json_text(&w, "cohort", t->cohort->path);
    vxs_json_params(&w, "task", vxs_task_params, &t->settings);
    vxs_json_params(&w, "halving", vxs_stability_params, s);
    vxs_json_params(&w, "parameters", vxs_task_method(t)->params, m);
    vxs_task_json(&w, t, m);
    vxs_flow_json(&w, t);
    vxs_features_json(&w, t->cohort);
    vxs_stability_json(&w, t, r);
    vxs_json_close_object(&w);
}

/* A column a pair. */
static void write_halves(const vxs_task *t, const vxs_stability *r, FILE *stream)
{
    vxs_tsv_writer w;
    char name[32];
    vxs_tsv_init(&w, stream);
    vxs_tsv_text(&w, vxs_cohort_id_header(t->cohort));
    for (size_t k = 0; k < r->halves / 2; k++) {
        snprintf(name, sizeof(name), "pair_%zu", k + 1);
        vxs_tsv_text(&w, name);
    }
    vxs_tsv_end_row(&w);
    for (size_t i = 0; i < t->n; i++) {
        vxs_tsv_text(&w, vxs_task_id(t, i));
        for (size_t k = 0; k < r->halves / 2; k++)
            vxs_tsv_real(&w, r->half[k * t->n + i]);
        vxs_tsv_end_row(&w);
    }
}

static bool is_selected(const vxs_stability *r, size_t outputs, size_t p, size_t j)
{
    for (size_t o = 0; o < outputs; o++)
        if (r->frequency[o * p + j] > 0)
            return true;
    return false;
}

/* Where a cluster is, and how large. */
static void write_cluster(vxs_tsv_writer *w, const vxs_task *t, const vxs_clustered *c, size_t k)
{
    double voxels = (double)(c->groups.end[k] - c->groups.begin[k]);
    for (int d = 0; d < 3; d++)
        vxs_write_mm(w, c->center[k][d]);
    vxs_tsv_real(w, voxels);
    vxs_write_mm(w, voxels * vxs_grid_voxel_volume(&t->cohort->grid));
    vxs_write_mm(w, c->diameter[k]);
}

static void write_headers(vxs_tsv_writer *w, const vxs_task *t, const vxs_stability *r)
{
    static const char *const of_clusters[] = { "x", "y", "z", "voxels", "mm3", "diameter_mm" };
    size_t outputs = vxs_task_outputs(t);
    vxs_tsv_text(w, "index");
    vxs_tsv_text(w, "feature");
    for (size_t k = 0; k < sizeof(of_clusters) / sizeof(of_clusters[0]) && r->clustered; k++)
        vxs_tsv_text(w, of_clusters[k]);
    if (!r->clustered && t->cohort->kind == VXS_FEATURES_VOXELS)
        vxs_write_place_header(w);
    for (size_t o = 0; o < outputs; o++)
        vxs_tsv_of(w, "frequency", outputs > 1 ? t->classes[o] : NULL);
    for (size_t o = 0; o < outputs && r->clustered; o++)
        vxs_tsv_of(w, "positive", outputs > 1 ? t->classes[o] : NULL);
    vxs_tsv_end_row(w);
}

/* Features, or clusters, that any half selected. */
static void write_table(const vxs_task *t, const vxs_stability *r, FILE *stream)
{
    const vxs_cohort *c = vxs_stability_task(t, r)->cohort;
    size_t outputs = vxs_task_outputs(t);
    char name[300];
    vxs_tsv_writer w;
    vxs_tsv_init(&w, stream);
    write_headers(&w, t, r);
    for (size_t j = 0; j < c->p; j++) {
        if (!is_selected(r, outputs, c->p, j))
            continue;
        vxs_tsv_real(&w, (double)(r->clustered ? j + 1 : j));
        vxs_tsv_text(&w, vxs_cohort_feature(c, j, name));
        if (r->clustered)
            write_cluster(&w, t, r->clustered, j);
        else if (c->kind == VXS_FEATURES_VOXELS)
            vxs_write_place(&w, &c->grid, c->voxels[j]);
        for (size_t o = 0; o < outputs; o++)
            vxs_tsv_real(&w, r->frequency[o * c->p + j]);
        for (size_t o = 0; o < outputs && r->clustered; o++)
            vxs_tsv_real(&w, r->positive[o * c->p + j]);
        vxs_tsv_end_row(&w);
    }
}

/* ---- Images ---------------------------------------------------------------------------------- */

/* outputs x voxels: selection frequency of each, or of its cluster; freed by the caller. */
static double *expand(const vxs_task *t, const vxs_stability *r, vxs_error *err)
{
    size_t p = t->cohort->p, outputs = vxs_task_outputs(t);
    double *frequency = vxs_alloc(outputs, p * sizeof(*frequency), err);
    for (size_t k = 0; frequency && k < outputs * p; k++) {
        size_t cluster = r->clustered ? r->clustered->region[k % p] : 0;
        size_t count = r->clustered ? r->clustered->groups.count : 1;
        if (!r->clustered)
            frequency[k] = r->frequency[k];
        else if (cluster < count)
            frequency[k] = r->frequency[k / p * count + cluster];
    }
    return frequency;
}

static vxs_status write_map(const vxs_task *t, const double *frequency, double least,
                            const char *file, FILE *stream, vxs_error *err)
{
    const vxs_cohort *c = t->cohort;
    size_t outputs = vxs_task_outputs(t), voxels = vxs_grid_voxels(&c->grid);
    float *values = vxs_alloc(outputs, voxels * sizeof(*values), err);
    if (!values)
        return VXS_FAILED;
    for (size_t k = 0; k < outputs * c->p; k++)
        if (frequency[k] >= least)
            values[k / c->p * voxels + c->voxels[k % c->p]] = (float)frequency[k];
    vxs_write_options options = { .type = VXS_WRITE_FLOAT32,
                                  .volumes = outputs,
                                  .intent_name = least > 0 ? "stable" : "frequency",
                                  .cal_max = 1,
                                  .descrip = "voxsift " VXS_VERSION " selection frequency" };
    vxs_status status = vxs_image_write(stream, file, &c->grid, &options, values, err);
    free(values);
    return status;
}

/* The index of each voxel's cluster. */
static vxs_status write_labels(const vxs_task *t, const vxs_clustered *r, const char *file,
                               FILE *stream, vxs_error *err)
{
    const vxs_cohort *c = t->cohort;
    int32_t *values = vxs_alloc(vxs_grid_voxels(&c->grid), sizeof(*values), err);
    if (!values)
        return VXS_FAILED;
    for (size_t j = 0; j < c->p; j++)
        values[c->voxels[j]] = r->region[j] < r->groups.count ? (int32_t)r->region[j] + 1 : 0;
    vxs_write_options options = { .type = VXS_WRITE_INT32,
                                  .volumes = 1,
                                  .intent_name = "clusters",
                                  .cal_max = (double)r->groups.count,
                                  .descrip = "voxsift " VXS_VERSION " clusters" };
    vxs_status status = vxs_image_write(stream, file, &c->grid, &options, values, err);
    free(values);
    return status;
}

/* ---- The directory --------------------------------------------------------------------------- */

typedef struct {
    const vxs_context *context;
    const vxs_task *task;
    const vxs_stability_settings *settings;
    const vxs_method_settings *method;
    const vxs_stability *result;
    double *frequency; /* of voxels */
} saved;

enum { ABOUT, HALVES, TABLE, CLUSTERS, FREQUENCY, STABLE, MASK, LABELS, FILES };
static const char *const files[FILES] = { VXS_STABILITY_FILE, "halves.tsv",       "frequencies.tsv",
                                          "clusters.tsv",     "frequency.nii.gz", "stable.nii.gz",
                                          "mask.nii.gz",      "regions.nii.gz" };

static vxs_status write_file(const saved *s, int file, FILE *stream, vxs_error *err)
{
    const vxs_task *t = s->task;
    const vxs_stability *r = s->result;
    switch (file) {
    case ABOUT:
        write_about(s->context, t, s->settings, s->method, r, stream);
        return VXS_OK;
    case HALVES:
        write_halves(t, r, stream);
        return VXS_OK;
    case TABLE:
        write_table(t, r, stream);
        return VXS_OK;
    case CLUSTERS:
        return vxs_write_clusters(t, s->frequency, r->threshold, stream, err);
    case MASK:
        return vxs_write_mask(&t->cohort->grid, t->cohort->voxels, t->cohort->voxel_count, stream,
                              err);
    case LABELS:
        return write_labels(t, r->clustered, files[file], stream, err);
    default:
        return write_map(t, s->frequency, file == STABLE ? r->threshold : 0, files[file], stream,
                         err);
    }
}

vxs_status vxs_stability_save(const vxs_context *context, const vxs_task *t,
                              const vxs_stability_settings *settings,
                              const vxs_method_settings *method, const vxs_stability *r,
                              const char *directory, bool replace, vxs_error *err)
{
    saved s = { context, t, settings, method, r, NULL };
    bool voxels = t->cohort->kind == VXS_FEATURES_VOXELS;
    int count = r->clustered ? FILES : voxels ? LABELS : CLUSTERS;
    vxs_output *output = NULL;
    if (vxs_chunk_is_part(settings->chunking.chunk))
        return vxs_stability_save_part(context, t, settings, method, r, directory, replace, err);
    s.frequency = voxels ? expand(t, r, err) : NULL;
    vxs_status status = voxels && !s.frequency
                            ? VXS_FAILED
                            : vxs_output_new(context, directory, replace, &output, err);
    for (int k = 0; k < count && !status; k++) {
        FILE *stream;
        status = vxs_output_open(output, files[k], &stream, err);
        if (status)
            break;
        status = write_file(&s, k, stream, err);
        vxs_status closed = vxs_output_close(output, stream, files[k], err);
        status = status ? status : closed;
    }
    if (!status)
        status = vxs_output_commit(output, err);
    vxs_output_free(output);
    free(s.frequency);
    return status;
}
