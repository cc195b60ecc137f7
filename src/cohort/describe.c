/* describe.c - writes the description of a cohort: participants, grid, mask, regions,
 * preprocessing; all files but the features. */
#include "cohort/build.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* ---- cohort.json ----------------------------------------------------------------------------- */

static void write_grid(vxs_json_writer *w, const vxs_grid *grid)
{
    char text[VXS_ORIENTATION_TEXT];
    vxs_json_open_object(w, "grid");
    vxs_json_open_array(w, "shape");
    for (int d = 0; d < 3; d++)
        vxs_json_whole(w, NULL, (int64_t)grid->shape[d]);
    vxs_json_close_array(w);
    vxs_json_open_array(w, "affine");
    for (int r = 0; r < 4; r++) {
        vxs_json_open_array(w, NULL);
        for (int c = 0; c < 4; c++)
            vxs_json_real(w, NULL, grid->affine[r][c]);
        vxs_json_close_array(w);
    }
    vxs_json_close_array(w);
    vxs_json_text(w, "orientation", vxs_grid_orientation_text(grid, text));
    if (grid->sizes_invented)
        vxs_json_bool(w, "voxel_sizes_invented", true);
    vxs_json_whole(w, "sform_code", grid->sform_code);
    vxs_json_whole(w, "qform_code", grid->qform_code);
    vxs_json_close_object(w);
}

/* Steps are in the order of their execution, so that prediction can repeat them. */
static void write_preprocessing(vxs_json_writer *w, const vxs_build *build)
{
    const vxs_cohort_settings *s = build->settings;
    vxs_json_open_object(w, "preprocessing");
    vxs_json_bool(w, "resample", s->resample);
    vxs_json_real(w, "voxel_size", s->voxel_size);
    vxs_steps_json(w, s);
    vxs_json_text(w, "mask", s->mask ? s->mask : isnan(s->mask_fraction) ? "from the mean" : NULL);
    vxs_json_real(w, "mask_fraction", s->mask_fraction);
    vxs_json_text(w, "atlas", s->regions ? s->atlas : NULL);
    vxs_json_close_object(w);
}

static void write_subjects(vxs_json_writer *w, const vxs_build *build, bool kept)
{
    vxs_json_open_array(w, kept ? "subject_list" : "dropped_list");
    for (size_t i = 0; i < build->count; i++) {
        const vxs_subject *s = &build->subjects[i];
        if ((s->reason == NULL) != kept || s->unselected)
            continue;
        vxs_json_open_object(w, NULL);
        vxs_json_text(w, "id", s->id);
        if (s->path)
            vxs_json_text(w, "source", s->path);
        if (build->is_shared)
            vxs_json_whole(w, "volume", (int64_t)s->volume + 1);
        if (s->hash[0])
            vxs_json_text(w, "sha256", s->hash);
        if (!kept)
            vxs_json_text(w, "reason", s->reason);
        if (kept && s->nonfinite > 0)
            vxs_json_whole(w, "nonfinite", (int64_t)s->nonfinite);
        if (kept && build->settings->scale != VXS_SCALE_NONE) {
            vxs_json_real(w, "shift", s->shift);
            vxs_json_real(w, "factor", s->factor);
        }
        vxs_json_close_object(w);
    }
    vxs_json_close_array(w);
}

static void write_about(const vxs_build *build, FILE *stream)
{
    const vxs_build *whose = build->subjects_of ? build->subjects_of : build;
    size_t kept = vxs_build_kept(build), usable = vxs_build_kept(whose);
    vxs_json_writer w;
    vxs_json_init(&w, stream);
    vxs_json_open_object(&w, NULL);
    vxs_json_format(&w, "voxsift cohort");
    vxs_json_text(&w, "command", build->context ? build->context->command : NULL);
    vxs_json_whole(&w, "subjects", (int64_t)kept);
    vxs_json_whole(&w, "people", (int64_t)build->people);
    vxs_json_whole(&w, "people_perhaps", (int64_t)build->people_perhaps);
    vxs_json_text(&w, "id_column", build->id_header);
    vxs_json_bool(&w, "ids_invented", build->ids_invented);
    vxs_json_text(&w, "person_column", build->person_header);
    vxs_json_bool(&w, "person_said", build->settings->person != NULL);
    vxs_suspicions_json(&w, build);
    vxs_json_whole(&w, "dropped", (int64_t)(whose->count - usable - vxs_build_unselected(whose)));
    vxs_build_selection_json(&w, whose);
    vxs_json_whole(&w, "features", (int64_t)build->p);
    vxs_json_text(&w, "features_are",
                  !build->mask               ? "columns"
                  : build->settings->regions ? "regions"
                                             : "voxels");
    vxs_json_text(&w, "features_stored", build->sparse ? "sparse" : "dense");
    if (build->sparse)
        vxs_json_whole(&w, "stored_values", (int64_t)build->stored);
    vxs_record_json(&w, &build->record);
    if (build->mask)
        vxs_json_whole(&w, "constant_voxels", (int64_t)build->constant);
    if (build->mask) {
        write_grid(&w, &build->grid);
        write_preprocessing(&w, build);
    }
    if (build->write_extra)
        build->write_extra(&w, build->extra);
    write_subjects(&w, build, true);
    write_subjects(&w, whose, false);
    vxs_json_open_array(&w, "rows_without_data");
    for (size_t k = 0; k < whose->unmatched_count; k++)
        vxs_json_text(&w, NULL, whose->unmatched[k]);
    vxs_json_close_array(&w);
    vxs_json_close_object(&w);
}

/* ---- Tables ---------------------------------------------------------------------------------- */

/* True if the column of persons is in the table of features alone. */
static bool is_person_apart(const vxs_build *build)
{
    size_t column = 0;
    if (!build->person_header || strcmp(build->person_header, build->id_header) == 0)
        return false;
    return !build->table || vxs_table_find(build->table, build->person_header, &column, NULL);
}

/* Writes ids, then the columns of the table in their order, under their own headers; a row per
 * included subject. */
static void write_participants(const vxs_build *build, FILE *stream)
{
    vxs_tsv_writer w;
    size_t columns = build->table ? vxs_table_columns(build->table) : 0;
    bool apart = is_person_apart(build);
    vxs_tsv_init(&w, stream);
    vxs_tsv_text(&w, build->id_header);
    if (apart)
        vxs_tsv_text(&w, build->person_header);
    for (size_t j = 0; j < columns; j++)
        if (j != build->id_column)
            vxs_tsv_text(&w, vxs_table_header(build->table, j));
    vxs_tsv_end_row(&w);
    for (size_t i = 0; i < build->count; i++) {
        const vxs_subject *s = &build->subjects[i];
        if (s->reason)
            continue;
        vxs_tsv_text(&w, s->id);
        if (apart)
            vxs_tsv_text(&w, s->person);
        for (size_t j = 0; j < columns; j++)
            if (j != build->id_column)
                vxs_tsv_text(&w, s->row == NO_ROW ? NULL : vxs_table_cell(build->table, s->row, j));
        vxs_tsv_end_row(&w);
    }
}

static void write_regions(const vxs_build *build, FILE *stream)
{
    vxs_tsv_writer w;
    vxs_tsv_init(&w, stream);
    vxs_tsv_text(&w, "feature");
    vxs_tsv_text(&w, "index");
    vxs_tsv_text(&w, "voxels");
    vxs_tsv_end_row(&w);
    for (size_t r = 0; r < build->p; r++) {
        vxs_tsv_text(&w, build->atlas.names[r]);
        vxs_tsv_real(&w, build->atlas.values[r]);
        vxs_tsv_real(&w, build->weights[r]);
        vxs_tsv_end_row(&w);
    }
}

static void write_names(const vxs_build *build, const char *const *names, FILE *stream)
{
    vxs_tsv_writer w;
    vxs_tsv_init(&w, stream);
    vxs_tsv_text(&w, "feature");
    if (build->write_feature)
        build->write_feature(&w, SIZE_MAX, build->extra);
    vxs_tsv_end_row(&w);
    for (size_t k = 0; k < build->p; k++) {
        vxs_tsv_text(&w, names[k]);
        if (build->write_feature)
            build->write_feature(&w, k, build->extra);
        vxs_tsv_end_row(&w);
    }
}

/* ---- Images ---------------------------------------------------------------------------------- */

static vxs_status write_image(const vxs_build *build, vxs_output *output, const char *name,
                              const vxs_write_options *options, const void *values, vxs_error *err)
{
    FILE *stream;
    vxs_status status = vxs_output_open(output, name, &stream, err);
    if (status)
        return status;
    status = vxs_image_write(stream, name, &build->grid, options, values, err);
    vxs_status closed = vxs_output_close(output, stream, name, err);
    return status ? status : closed;
}

/* Writes the labels of the regions, on the cohort's grid and inside its mask. */
static vxs_status write_labels(const vxs_build *build, vxs_output *output, vxs_error *err)
{
    size_t voxels = vxs_grid_voxels(&build->grid);
    vxs_write_options options = { .type = VXS_WRITE_INT32,
                                  .intent_code = 1002,
                                  .intent_name = "regions",
                                  .descrip = "voxsift " VXS_VERSION " cohort regions" };
    int32_t *labels = vxs_alloc(voxels, sizeof(*labels), err);
    if (!labels)
        return VXS_FAILED;
    for (size_t v = 0, k = 0; v < voxels; v++) {
        if (!build->mask[v])
            continue;
        int32_t region = build->region[k++];
        labels[v] = region < 0 ? 0 : build->atlas.values[region];
    }
    vxs_status status = write_image(build, output, "regions.nii.gz", &options, labels, err);
    free(labels);
    return status;
}

static vxs_status write_images(const vxs_build *build, vxs_output *output, vxs_error *err)
{
    vxs_write_options mask = { .type = VXS_WRITE_UINT8,
                               .intent_name = "mask",
                               .descrip = "voxsift " VXS_VERSION " cohort mask" };
    vxs_write_options coverage = { .type = VXS_WRITE_INT32,
                                   .intent_name = "coverage",
                                   .cal_max = (double)build->surveyed,
                                   .descrip = "voxsift " VXS_VERSION " subjects with signal" };
    vxs_status status = write_image(build, output, "mask.nii.gz", &mask, build->mask, err);
    if (!status)
        status = write_image(build, output, "coverage.nii.gz", &coverage, build->signal, err);
    if (!status && build->settings->regions)
        status = write_labels(build, output, err);
    mask.intent_name = "reference";
    mask.descrip = "voxsift " VXS_VERSION " reference region";
    if (!status && build->reference)
        status = write_image(build, output, "reference.nii.gz", &mask, build->reference, err);
    return status;
}

/* ---- Entry point ----------------------------------------------------------------------------- */

vxs_status vxs_build_describe(vxs_build *build, vxs_output *output, const char *const *names,
                              vxs_error *err)
{
    static const char *const files[] = { "participants.tsv", "regions.tsv", "features.tsv",
                                         VXS_COHORT_FILE };
    const bool present[] = { true, build->mask && build->settings->regions, names != NULL, true };
    vxs_status status = build->mask ? write_images(build, output, err) : VXS_OK;
    for (size_t k = 0; k < 4 && !status; k++) {
        if (!present[k])
            continue;
        FILE *stream;
        status = vxs_output_open(output, files[k], &stream, err);
        if (status)
            return status;
        if (k == 0)
            write_participants(build, stream);
        else if (k == 1)
            write_regions(build, stream);
        else if (k == 2)
            write_names(build, names, stream);
        else
            write_about(build, stream);
        status = vxs_output_close(output, stream, files[k], err);
    }
    return status;
}
