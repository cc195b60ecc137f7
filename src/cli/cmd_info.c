/* cmd_info.c - voxsift info: describes a file or directory. */
#include "cli/info.h"

#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static const vxs_operand operands[] = {
    { .name = "FILE",
      .help =
          "an image (NIfTI, ANALYZE), a table (TSV, CSV), an array (NPY), or the directory of a "
          "cohort or a model" },
    { .name = NULL },
};

static const vxs_example examples[] = {
    { "voxsift info sub-01_T1w.nii.gz", "print grid, orientation, data type and range" },
    { "voxsift info participants.tsv", "summarize each column, with its missing cells" },
    { "voxsift info sim/features.npy --json",
      "print shape, range and non-finite counts for a script" },
    { NULL, NULL },
};

/* ---- Cohorts --------------------------------------------------------------------------------- */

/* True for counts that a cohort can have; other values are not from voxsift. */
static bool is_count(const vxs_json *object, const char *key)
{
    double value = vxs_json_get_number(object, key);
    return value >= 0 && value < 9e15 && value == floor(value);
}

/* True for sparse cohorts, which have a count of nonzero values. */
static bool is_sparse(const vxs_json *about)
{
    const char *stored = vxs_json_get_text(about, "features_stored");
    return stored && strcmp(stored, "sparse") == 0 && is_count(about, "stored_values");
}

static void show_cohort_json(const vxs_call *call, const vxs_json *about, const char *unit)
{
    const vxs_json *grid = vxs_json_get(about, "grid"), *shape = vxs_json_get(grid, "shape");
    vxs_json_writer w;
    vxs_json_init(&w, call->out);
    vxs_json_open_object(&w, NULL);
    vxs_json_text(&w, "kind", "cohort");
    vxs_json_real(&w, "subjects", vxs_json_get_number(about, "subjects"));
    if (vxs_patches_of(about))
        vxs_json_text(&w, "subjects_are", "voxels");
    vxs_json_real(&w, "people", vxs_json_get_number(about, "people"));
    vxs_json_real(&w, "people_perhaps", vxs_json_get_number(about, "people_perhaps"));
    vxs_json_text(&w, "id_column", vxs_json_get_text(about, "id_column"));
    vxs_json_text(&w, "person_column", vxs_json_get_text(about, "person_column"));
    vxs_json_real(&w, strcmp(unit, "voxels") == 0 ? "voxels" : "features",
                  vxs_json_get_number(about, "features"));
    vxs_json_text(&w, "features_are", unit);
    if (is_sparse(about)) {
        vxs_json_text(&w, "features_stored", "sparse");
        vxs_json_real(&w, "stored_values", vxs_json_get_number(about, "stored_values"));
    }
    vxs_json_real(&w, "dropped", vxs_json_get_number(about, "dropped"));
    if (shape) {
        vxs_json_open_array(&w, "shape");
        for (const vxs_json *m = shape->first; m; m = m->next)
            vxs_json_real(&w, NULL, m->number);
        vxs_json_close_array(&w);
        vxs_json_text(&w, "orientation", vxs_json_get_text(grid, "orientation"));
    }
    vxs_close_json(call, &w);
}

static void show_dropped(FILE *out, const vxs_json *about)
{
    const vxs_json *dropped = vxs_json_get(about, "dropped_list");
    if (!dropped || !dropped->first)
        return;
    fprintf(out, "  left out:\n");
    for (const vxs_json *m = dropped->first; m; m = m->next) {
        const char *id = vxs_json_get_text(m, "id"), *reason = vxs_json_get_text(m, "reason");
        fprintf(out, "    %s: %s\n", id ? id : "?", reason ? reason : "?");
    }
}

static void show_people(FILE *out, const vxs_json *about)
{
    const char *person = vxs_json_get_text(about, "person_column"),
               *id = vxs_json_get_text(about, "id_column");
    double people = vxs_json_get_number(about, "people");
    double perhaps = vxs_json_get_number(about, "people_perhaps");
    if (!(people >= 0)) /* cohorts of other programs have no count */
        return;
    fprintf(out, "  people      %.0f", people);
    if (perhaps < people)
        fprintf(out, ", perhaps %.0f", perhaps);
    fputs(": by column '", out);
    vxs_print_clean(out, person ? person : id ? id : "participant_id");
    fputs("'\n", out);
}

/* Cohorts that are older than a step have no value of it. */
static bool is_step(const vxs_step *step, const vxs_json *value)
{
    bool text = vxs_step_param(step)->type != VXS_PARAM_REAL;
    return !value || !step->done || value->kind == (text ? VXS_JSON_TEXT : VXS_JSON_NUMBER);
}

static void show_step(FILE *out, const vxs_step *step, const vxs_json *value)
{
    if (!value || !step->done)
        return;
    fprintf(out, "  %-12s", step->done);
    if (value->kind == VXS_JSON_TEXT)
        fprintf(out, "%s\n", value->text);
    else
        fprintf(out, "%g%s\n", value->number, step->unit);
}

static void show_cohort_words(const vxs_call *call, const vxs_json *about, const char *unit)
{
    const vxs_json *grid = vxs_json_get(about, "grid"), *shape = vxs_json_get(grid, "shape");
    const vxs_json *how = vxs_json_get(about, "preprocessing");
    FILE *out = call->out;
    bool patches = vxs_patches_of(about) != NULL;
    fprintf(out, "'%s' is a cohort of %.0f %s with %.0f %s each.\n", call->operands[0],
            vxs_json_get_number(about, "subjects"), patches ? "voxels" : "subjects",
            vxs_json_get_number(about, "features"), patches ? "features" : unit);
    show_people(out, about);
    if (is_sparse(about))
        fprintf(out, "  stored      sparse: %.0f nonzero values\n",
                vxs_json_get_number(about, "stored_values"));
    if (shape) {
        const char *orientation = vxs_json_get_text(grid, "orientation");
        fprintf(out, "  grid        ");
        for (const vxs_json *m = shape->first; m; m = m->next)
            fprintf(out, "%s%.0f", m == shape->first ? "" : " x ", m->number);
        fprintf(out, ", %s\n", orientation ? orientation : "orientation unknown");
    }
    for (const vxs_step *step = vxs_steps; step->name && how; step++)
        show_step(out, step, vxs_json_get(how, step->name));
    if (vxs_json_get(about, "simulation"))
        fputs("  simulated: the truth is in truth.tsv\n", out);
    show_dropped(out, about);
}

/* Cohorts of other programs have no count of people. */
static bool has_people(const vxs_json *about)
{
    bool counted = !vxs_json_get(about, "people") || is_count(about, "people");
    return counted && (!vxs_json_get(about, "people_perhaps") || is_count(about, "people_perhaps"));
}

/* True if further properties are present with the right types; values of other types are not
 * printed. */
static bool has_details(const vxs_json *about)
{
    const vxs_json *shape = vxs_json_get(vxs_json_get(about, "grid"), "shape"),
                   *how = vxs_json_get(about, "preprocessing");
    bool whole = is_count(about, "dropped") && has_people(about) &&
                 (!shape || (shape->kind == VXS_JSON_ARRAY && shape->length == 3));
    for (const vxs_json *m = whole && shape ? shape->first : NULL; m; m = m->next)
        whole = whole && m->kind == VXS_JSON_NUMBER;
    for (const vxs_step *step = vxs_steps; step->name && how; step++)
        whole = whole && is_step(step, vxs_json_get(how, step->name));
    return whole;
}

static vxs_status show_cohort(const vxs_call *call, const char *file, const vxs_json *about,
                              vxs_error *err)
{
    const char *unit = vxs_json_get_text(about, "features_are");
    vxs_status status = vxs_json_check_format(about, file, "voxsift cohort", err);
    if (status)
        return status;
    if (!unit || !is_count(about, "subjects") || !is_count(about, "features") ||
        !has_details(about))
        return vxs_fail(err, VXS_BAD_DATA, "'%s' does not describe a cohort", file);
    if (call->shared->json)
        show_cohort_json(call, about, unit);
    else
        show_cohort_words(call, about, unit);
    return VXS_OK;
}

static vxs_status describe_cohort(const vxs_call *call, vxs_error *err)
{
    vxs_json *about = NULL;
    char *file = vxs_format(err, "%s/%s", call->operands[0], VXS_COHORT_FILE);
    if (!file)
        return VXS_FAILED;
    vxs_status status = vxs_json_read(file, &about, err);
    if (!status)
        status = show_cohort(call, file, about, err);
    vxs_json_free(about);
    free(file);
    return status;
}

typedef vxs_status describer(const vxs_call *call, vxs_error *err);

/* Selects the description by the name of an image or atlas, otherwise by the first bytes. */
static describer *describer_of(const char *path)
{
    char bytes[6] = "";
    bool may_be_name = !strpbrk(path, "./") && access(path, F_OK) != 0;
    if (vxs_image_ending_length(path) > 0)
        return vxs_info_image;
    if (may_be_name || vxs_atlas_is(path))
        return vxs_info_atlas;
    FILE *stream = fopen(path, "rb");
    size_t got = stream ? fread(bytes, 1, sizeof(bytes), stream) : 0;
    if (stream)
        fclose(stream);
    if (got == 6 && memcmp(bytes, "\x93NUMPY", 6) == 0)
        return vxs_info_array;
    bool packed = got >= 2 && memcmp(bytes, "\x1f\x8b", 2) == 0;
    bool header =
        got >= 4 && (memcmp(bytes, "\x5c\1\0\0", 4) == 0 || memcmp(bytes, "\0\0\1\x5c", 4) == 0 ||
                     memcmp(bytes, "\x1c\2\0\0", 4) == 0 || memcmp(bytes, "\0\0\2\x1c", 4) == 0);
    return packed || header ? vxs_info_image : vxs_info_table;
}

/* Describes a directory by its JSON file; without one, reports the missing cohort.json. */
static vxs_status describe_directory(const vxs_call *call, vxs_error *err)
{
    char *file = vxs_format(err, "%s/%s", call->operands[0], VXS_MODEL_FILE);
    if (!file)
        return VXS_FAILED;
    bool model = access(file, F_OK) == 0;
    free(file);
    const char *kind = vxs_folder_kind(call->operands[0]);
    if (model)
        return vxs_info_model(call, err);
    if (!kind || strcmp(kind, "cohort") == 0)
        return describe_cohort(call, err);
    return vxs_fail(err, VXS_MISSING,
                    "'%s' is a %s; info describes images, tables, arrays, cohorts and models%s",
                    call->operands[0], kind,
                    strncmp(kind, "chunk", 5) == 0 ? "" : "; 'voxsift report' makes a page of it");
}

static vxs_status run(const vxs_call *call, vxs_error *err)
{
    const char *path = call->operands[0];
    struct stat about;
    if (stat(path, &about) == 0 && S_ISDIR(about.st_mode))
        return describe_directory(call, err);
    if (stat(path, &about) == 0 && !S_ISREG(about.st_mode))
        return vxs_info_table(call, err); /* a pipe can be read only once */
    return describer_of(path)(call, err);
}

const vxs_command vxs_cmd_info = {
    .name = "info",
    .heading = "Look at data",
    .summary = "summarize an image, a table, a cohort or a model",
    .details =
        "Image: grid, orientation, data type, scaling, range, and warnings about unusual headers. "
        "Atlas, by file or name: also names and sizes of its labels.\n\n"
        "Table: type, missing cells, and range or class counts of each column. Tables are "
        "separated by tabs, commas or semicolons; byte order marks, CRLF, quotes and blanks around "
        "cells are accepted; n/a, NA, NaN, null, a period and empty cells are missing values.\n\n"
        "Array: type, shape, range, sum, and number of NaN and infinite values. Cohort directory: "
        "subjects, features, preprocessing and excluded subjects. Model: target, weights, "
        "optimality certificate, and for fgm and mslr the selection per iteration.",
    .operands = operands,
    .takes = VXS_TAKES_JSON,
    .examples = examples,
    .run = run,
};
