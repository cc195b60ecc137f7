/* simulate_write.c - writes the files of a simulated cohort of images except for its features:
 * participants, description, truth, and the images themselves. */
#include "simulate/simulate.h"

#include <math.h>
#include <stdlib.h>

/* ---- Participants ---------------------------------------------------------------------------- */

/* Makes the table to which a cohort would have been joined. */
static vxs_status make_table(vxs_sim *sim, vxs_error *err)
{
    char *text = NULL;
    size_t length = 0;
    FILE *stream = open_memstream(&text, &length);
    if (!stream)
        return vxs_fail(err, VXS_FAILED, "not enough memory for a table of %zu subjects", sim->n);
    vxs_tsv_writer w;
    vxs_tsv_init(&w, stream);
    vxs_tsv_text(&w, "participant_id");
    sim->model->plan->write_person(sim, &w, SIZE_MAX);
    vxs_tsv_end_row(&w);
    for (size_t i = 0; i < sim->n; i++) {
        vxs_tsv_text(&w, sim->build.subjects[i].id);
        sim->model->plan->write_person(sim, &w, i);
        vxs_tsv_end_row(&w);
    }
    bool whole = fclose(stream) == 0;
    vxs_status status =
        whole ? vxs_table_parse(text, length, "participants.tsv", &sim->build.table, err)
              : vxs_fail(err, VXS_FAILED, "not enough memory for a table of %zu subjects", sim->n);
    free(text);
    return status;
}

static void tell_images(vxs_json_writer *w, const vxs_simulation_summary *s)
{
    vxs_json_open_object(w, "images");
    vxs_json_real(w, "factor", s->factor);
    vxs_json_real(w, "sigma", s->sigma);
    vxs_json_real(w, "mean", s->mean);
    vxs_json_real(w, "between_subjects", s->between);
    vxs_json_whole(w, "perturbed", (int64_t)s->perturbed);
    vxs_json_whole(w, "positive", (int64_t)s->positive);
    vxs_json_whole(w, "sphere_voxels", (int64_t)s->sphere);
    vxs_json_close_object(w);
}

static void write_extra(vxs_json_writer *w, const void *extra)
{
    const vxs_sim *sim = extra;
    const vxs_grid *grid = &sim->build.grid;
    bool score = !sim->model->plan->target && sim->settings->target == VXS_SIMULATE_SCORE;
    vxs_json_text(w, "target", score ? "score" : "diagnosis");
    vxs_json_text(w, "simulation", sim->model->name);
    vxs_json_params(w, "parameters", sim->model->params, sim->settings);
    tell_images(w, sim->summary);
    vxs_json_open_array(w, "spheres");
    for (size_t s = 0; s < sim->spheres; s++) {
        double index[3], at[3];
        vxs_grid_index(grid, sim->centers[s], index);
        vxs_grid_position(grid, index, at);
        vxs_json_open_object(w, NULL);
        vxs_json_open_array(w, "center");
        for (int d = 0; d < 3; d++)
            vxs_json_real(w, NULL, index[d]);
        vxs_json_close_array(w);
        vxs_json_open_array(w, "center_mm");
        for (int d = 0; d < 3; d++)
            vxs_json_real(w, NULL, at[d]);
        vxs_json_close_array(w);
        vxs_json_close_object(w);
    }
    vxs_json_close_array(w);
}

/* ---- Truth ----------------------------------------------------------------------------------- */

static void write_truth(const vxs_sim *sim, FILE *stream)
{
    static const char *const place[] = { "index", "i", "j", "k", "x", "y", "z" };
    const struct vxs_plan *plan = sim->model->plan;
    vxs_tsv_writer w;
    vxs_tsv_init(&w, stream);
    for (int c = 0; c < 7; c++)
        vxs_tsv_text(&w, place[c]);
    if (plan->write_member)
        plan->write_member(sim, &w, SIZE_MAX);
    vxs_tsv_end_row(&w);
    for (size_t m = 0; m < sim->spheres * sim->sphere; m++) {
        double index[3], at[3];
        vxs_grid_index(&sim->build.grid, sim->build.voxels[sim->members[m]], index);
        vxs_grid_position(&sim->build.grid, index, at);
        vxs_tsv_real(&w, (double)sim->members[m]);
        for (int d = 0; d < 3; d++)
            vxs_tsv_real(&w, index[d]);
        for (int d = 0; d < 3; d++)
            vxs_write_rounded(&w, at[d]);
        if (plan->write_member)
            plan->write_member(sim, &w, m);
        vxs_tsv_end_row(&w);
    }
}

static vxs_status write_truth_image(const vxs_sim *sim, FILE *stream, vxs_error *err)
{
    double (*weight)(const vxs_sim *, size_t) = sim->model->plan->weight;
    vxs_write_options options = { .type = VXS_WRITE_FLOAT32,
                                  .intent_name = "truth",
                                  .descrip = "voxsift " VXS_VERSION " simulated truth" };
    vxs_volume map;
    vxs_status status = vxs_volume_new(&sim->build.grid, &map, err);
    if (status)
        return status;
    for (size_t m = 0; m < sim->spheres * sim->sphere; m++)
        map.values[sim->build.voxels[sim->members[m]]] = weight ? (float)weight(sim, m) : 1;
    status = vxs_image_write(stream, "truth.nii.gz", &map.grid, &options, map.values, err);
    vxs_volume_release(&map);
    return status;
}

vxs_status vxs_sim_describe(vxs_sim *sim, vxs_output *output, vxs_error *err)
{
    static const char *const names[] = { "truth.tsv", "truth.nii.gz" };
    vxs_status status = make_table(sim, err);
    for (size_t i = 0; i < sim->n && !status; i++)
        sim->build.subjects[i].row = i;
    sim->build.id_column = 0;
    sim->build.ids_invented = true;
    if (!status)
        status = vxs_build_find_people(&sim->build, NULL, err);
    if (!status)
        status = vxs_build_count_people(&sim->build, err);
    sim->build.write_extra = write_extra;
    sim->build.extra = sim;
    if (!status)
        status = vxs_build_describe(&sim->build, output, NULL, err);
    for (int k = 0; k < 2 && !status; k++) {
        FILE *stream;
        status = vxs_output_open(output, names[k], &stream, err);
        if (status)
            return status;
        if (k == 0)
            write_truth(sim, stream);
        else
            status = write_truth_image(sim, stream, err);
        vxs_status closed = vxs_output_close(output, stream, names[k], err);
        status = status ? status : closed;
    }
    return status;
}

/* ---- Images ---------------------------------------------------------------------------------- */

#define BATCH 16 /* compressed images in memory */

typedef struct {
    char *bytes;
    size_t length;
    char *name;
    vxs_error err;
} packed_file;

/* The original image, with the changed values inside the mask. */
static vxs_status make_image(const vxs_sim *sim, size_t i, const size_t *all, vxs_volume *image,
                             vxs_error *err)
{
    size_t voxels = vxs_grid_voxels(&sim->build.grid);
    const float *row = sim->values + i * sim->p;
    vxs_status status = vxs_volume_new(&sim->build.grid, image, err);
    if (status)
        return status;
    status = sim->base->fill(sim, i, all, voxels, image->values, err);
    for (size_t v = 0; v < voxels && !status; v++)
        image->values[v] = (float)((double)image->values[v] * sim->factor);
    for (size_t j = 0; j < sim->p && !status; j++)
        image->values[sim->build.voxels[j]] = row[j];
    if (status)
        vxs_volume_release(image);
    return status;
}

/* Compresses in memory, in parallel, since compression dominates the time. */
static void pack_image(const vxs_sim *sim, size_t i, const size_t *all, packed_file *file)
{
    static const vxs_write_options options = { .type = VXS_WRITE_FLOAT32,
                                               .descrip = "voxsift " VXS_VERSION " simulated" };
    vxs_volume image;
    const char *id = sim->build.subjects[i].id;
    file->name = vxs_format(&file->err, "%s.nii.gz", id);
    if (!file->name || make_image(sim, i, all, &image, &file->err))
        return;
    FILE *stream = open_memstream(&file->bytes, &file->length);
    vxs_status status = stream ? vxs_image_write(stream, file->name, &image.grid, &options,
                                                 image.values, &file->err)
                               : VXS_FAILED;
    if (!stream || fclose(stream) != 0 || (status && !file->err.status))
        vxs_fail(&file->err, VXS_FAILED, "not enough memory for the image of '%s'", id);
    vxs_volume_release(&image);
}

static vxs_status write_file(vxs_output *output, const packed_file *file, vxs_error *err)
{
    FILE *stream;
    if (file->err.status)
        return vxs_fail(err, file->err.status, "%s", file->err.message);
    vxs_status status = vxs_output_open(output, file->name, &stream, err);
    if (status)
        return status;
    fwrite(file->bytes, 1, file->length, stream);
    return vxs_output_close(output, stream, file->name, err);
}

static vxs_status write_batch(vxs_sim *sim, vxs_output *output, size_t first, size_t count,
                              const size_t *all, vxs_error *err)
{
    packed_file files[BATCH];
    vxs_status status = VXS_OK;
    for (size_t k = 0; k < count; k++)
        files[k] = (packed_file){ .err = VXS_ERROR_INIT };
#pragma omp parallel for num_threads(sim->build.nthreads) schedule(dynamic)
    for (size_t k = 0; k < count; k++)
        pack_image(sim, first + k, all, &files[k]);
    for (size_t k = 0; k < count; k++) {
        if (!status)
            status = write_file(output, &files[k], err);
        free(files[k].name);
        free(files[k].bytes);
    }
    return status;
}

vxs_status vxs_sim_write_images(vxs_sim *sim, vxs_output *output, vxs_error *err)
{
    size_t voxels = vxs_grid_voxels(&sim->build.grid);
    size_t *all = vxs_alloc(voxels, sizeof(*all), err);
    vxs_progress progress;
    vxs_status status = all ? VXS_OK : VXS_FAILED;
    for (size_t v = 0; v < voxels && all; v++)
        all[v] = v;
    vxs_progress_start(&progress, sim->context, "writing", "images", sim->n);
    for (size_t first = 0; first < sim->n && !status; first += BATCH) {
        size_t count = sim->n - first < BATCH ? sim->n - first : BATCH;
        status = write_batch(sim, output, first, count, all, err);
        if (!status)
            status = vxs_progress_step(&progress, count, err);
    }
    free(all);
    return status;
}
