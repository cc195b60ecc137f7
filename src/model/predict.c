/* predict.c - applies a model to subjects: their scores. */
#include "model/covariates.h"
#include "model/encoder.h"
#include "model/similarities.h"

#include "voxsift/internal/machine.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* ---- Are these the model's features? --------------------------------------------------------- */

static vxs_status same_voxels(const vxs_model *m, const vxs_cohort *c, vxs_error *err)
{
    double distance = vxs_grid_distance(&m->grid, &c->grid);
    char here[VXS_ORIENTATION_TEXT], there[VXS_ORIENTATION_TEXT];
    vxs_grid_orientation_text(&c->grid, here);
    vxs_grid_orientation_text(&m->grid, there);
    if (isinf(distance))
        return vxs_fail(err, VXS_BAD_DATA,
                        "cannot predict for '%s': its grid has %zu x %zu x %zu voxels, the model's "
                        "%zu x %zu x %zu",
                        c->path, c->grid.shape[0], c->grid.shape[1], c->grid.shape[2],
                        m->grid.shape[0], m->grid.shape[1], m->grid.shape[2]);
    if ((m->grid.source == VXS_AFFINE_NONE) != (c->grid.source == VXS_AFFINE_NONE))
        return vxs_fail(err, VXS_BAD_DATA,
                        "cannot predict for '%s': its images %s where they are, those of the model "
                        "%s: left and right may be exchanged",
                        c->path, c->grid.source == VXS_AFFINE_NONE ? "do not say" : "say",
                        c->grid.source == VXS_AFFINE_NONE ? "do" : "do not");
    if (distance > 0.1)
        return vxs_fail(err, VXS_BAD_DATA,
                        "cannot predict for '%s': its grid (%s) differs from the model's (%s) by "
                        "%.3g mm at a corner",
                        c->path, here, there, distance);
    const char *gaps = vxs_json_get_text(vxs_json_get(m->about, "preprocessing"), "nan");
    if (m->voxel_count > c->voxel_count && gaps && strcmp(gaps, "drop") == 0)
        return vxs_fail(err, VXS_BAD_DATA,
                        "cannot predict for '%s': %zu of the model's %zu voxels have no value in "
                        "some image; leave out images with NaN or infinite values in its mask",
                        c->path, m->voxel_count - c->voxel_count, m->voxel_count);
    if (m->voxel_count != c->voxel_count ||
        memcmp(m->voxels, c->voxels, m->voxel_count * sizeof(*m->voxels)) != 0)
        return vxs_fail(err, VXS_BAD_DATA,
                        "cannot predict for '%s': its mask (%zu voxels) is not the model's (%zu); "
                        "make the cohort with --mask MODEL/mask.nii.gz",
                        c->path, c->voxel_count, m->voxel_count);
    return VXS_OK;
}

static vxs_status same_names(const vxs_model *m, const vxs_cohort *c, vxs_error *err)
{
    char name[32];
    for (size_t k = 0; k < m->feature_count; k++) {
        const char *theirs = vxs_cohort_feature(c, m->feature_index[k], name);
        if (strcmp(theirs, m->features[k]) != 0)
            return vxs_fail(err, VXS_BAD_DATA,
                            "cannot predict for '%s': its feature %zu is '%s', the model's '%s'",
                            c->path, m->feature_index[k], theirs, m->features[k]);
    }
    return VXS_OK;
}

static bool same_json(const vxs_json *a, const vxs_json *b)
{
    bool no_a = !a || a->kind == VXS_JSON_NULL, no_b = !b || b->kind == VXS_JSON_NULL;
    if (no_a || no_b)
        return no_a == no_b;
    if (a->kind != b->kind)
        return false;
    return a->kind == VXS_JSON_TEXT ? strcmp(a->text, b->text) == 0 : a->number == b->number;
}

/* Preprocessing of the values; mask and grid are compared directly. */
static vxs_status same_preprocessing(const vxs_model *m, const vxs_cohort *c, vxs_error *err)
{
    const vxs_json *ours = vxs_json_get(m->about, "preprocessing");
    const vxs_json *theirs = vxs_json_get(c->about, "preprocessing");
    for (const vxs_step *step = vxs_steps; step->name && m->about; step++)
        if (!same_json(vxs_json_get(ours, step->name), vxs_json_get(theirs, step->name)))
            return vxs_fail(err, VXS_BAD_DATA,
                            "cannot predict for '%s': it was not made with the same --%s as the "
                            "cohort that the model was fitted on",
                            c->path, step->name);
    return VXS_OK;
}

/* Rows that are voxels are compared by what they were made of; features by their names. */
static vxs_status same_rows(const vxs_model *m, const vxs_cohort *c, vxs_error *err)
{
    const vxs_json *ours = vxs_patches_within(m->about), *theirs = vxs_patches_of(c->about);
    if (!m->about || (!ours && !theirs))
        return VXS_OK;
    if (!ours || !theirs)
        return vxs_fail(err, VXS_BAD_DATA,
                        "cannot predict for '%s': its rows are %s, those of the model's cohort "
                        "%s",
                        c->path, theirs ? "voxels" : "not voxels", theirs ? "are not" : "are");
    if (!same_json(vxs_json_get(ours, "scale"), vxs_json_get(theirs, "scale")))
        return vxs_fail(err, VXS_BAD_DATA,
                        "cannot predict for '%s': its voxels were not made with the same --scale "
                        "as those that the model was fitted on",
                        c->path);
    return VXS_OK;
}

vxs_status vxs_model_same_features(const vxs_model *m, const vxs_cohort *c, vxs_error *err)
{
    bool voxels = vxs_feature_kind_of(c) == VXS_FEATURES_VOXELS;
    vxs_status status = same_rows(m, c, err);
    if (!status && !c->bags != !m->task.bags)
        status = vxs_fail(err, VXS_MISUSE, "the rows of '%s' were not put into bags as the model's",
                          c->path);
    if (status)
        return status;
    if (voxels != (m->voxels != NULL))
        return vxs_fail(err, VXS_BAD_DATA,
                        "cannot predict for '%s': its features are %s, the model's are %s", c->path,
                        voxels ? "voxels" : "not voxels", voxels ? "not" : "voxels");
    if (!voxels && !c->bags && m->p != c->p)
        return vxs_fail(err, VXS_BAD_DATA,
                        "cannot predict for '%s': it has %zu features, the model %zu", c->path,
                        c->p, m->p);
    status = voxels    ? same_voxels(m, c, err)
             : c->bags ? vxs_model_same_instances(m, c, err)
                       : same_names(m, c, err);
    return status ? status : same_preprocessing(m, c, err);
}

/* ---- Scores ---------------------------------------------------------------------------------- */

static bool knows(const vxs_model *m, const char *header, const char *cell)
{
    size_t length = strlen(header);
    for (size_t k = 0; k < m->level_count; k++)
        if (strncmp(m->levels[k], header, length) == 0 && m->levels[k][length] == '=' &&
            strcmp(m->levels[k] + length + 1, cell) == 0)
            return true;
    return false;
}

static bool is_any_level(const vxs_model *m, const char *name)
{
    for (size_t k = 0; k < m->level_count; k++)
        if (strcmp(m->levels[k], name) == 0)
            return true;
    return false;
}

/* The header in "sex=M", freed by the caller; a header may contain "=", which the table decides. */
static char *header_of_level(const vxs_cohort *c, const char *name, vxs_error *err)
{
    const char *end = strchr(name, '=');
    for (char *header; end; end = strchr(end + 1, '=')) {
        size_t column = 0;
        header = vxs_format(err, "%.*s", (int)(end - name), name);
        if (!header || !vxs_table_find(c->people, header, &column, NULL))
            return header;
        free(header);
    }
    return vxs_format(err, "%.*s", (int)strcspn(name, "="), name);
}

/* Values of a covariate column ("age", "sex=M") for all subjects. */
static vxs_status free_column(const vxs_model *m, const vxs_cohort *c, size_t f, double *values,
                              vxs_error *err)
{
    const char *name = m->covariate_names[f];
    size_t column = 0;
    bool text = is_any_level(m, name);
    char *header = text ? header_of_level(c, name, err) : vxs_format(err, "%s", name);
    size_t length = header ? strlen(header) : 0;
    vxs_status status = header ? vxs_table_find(c->people, header, &column, err) : VXS_FAILED;
    for (size_t i = 0; i < c->n && !status; i++) {
        const char *cell = vxs_table_cell(c->people, i, column);
        if (!text)
            status = vxs_table_real(c->people, i, column, &values[i], err);
        else if (!cell)
            values[i] = NAN;
        else
            values[i] = knows(m, header, cell) ? strcmp(cell, name + length + 1) == 0
                                               : m->covariate_means[f];
    }
    free(header);
    return status;
}

static vxs_status read_free(const vxs_model *m, const vxs_cohort *c, size_t f, double *values,
                            vxs_error *err)
{
    for (size_t i = 0; i < c->n; i++)
        values[i] = 1;
    return f > 0 || m->task.no_intercept ? free_column(m, c, f, values, err) : VXS_OK;
}

/* Reads only features with a nonzero weight. */
static vxs_status check_values(const vxs_model *m, const vxs_cohort *c, vxs_error *err)
{
    vxs_status status = VXS_OK;
    for (size_t i = 0; i < c->n && c->bags && !status; i++)
        status = vxs_bags_check(c, i, err);
    for (size_t k = 0; k < m->output_count && !c->bags; k++)
        for (size_t j = 0; j < m->outputs[k].fit.count && !status; j++)
            status = vxs_cohort_check_feature(c, m->outputs[k].fit.index[j], err);
    return status;
}

vxs_status vxs_model_covariates(const vxs_model *m, const vxs_cohort *c, double *covariates,
                                vxs_error *err)
{
    vxs_status status = VXS_OK;
    for (size_t f = 0; f < m->covariate_count && !status; f++)
        status = read_free(m, c, f, covariates + f * c->n, err);
    return status;
}

vxs_status vxs_model_score_rows(const vxs_model *m, const vxs_scored_rows *rows, double *scores,
                                vxs_error *err)
{
    size_t n = rows->count;
    vxs_status status = VXS_OK;
    for (size_t k = 0; k < m->output_count && !status; k++)
        status = vxs_output_score(&m->outputs[k], rows, scores + k * n, m->covariate_count, err);
    if (!status && m->loss->joint)
        vxs_joint_odds(scores, m->output_count, n, n);
    for (size_t i = 0; i < n && m->selection.threshold != 0 && !status; i++) /* of two classes */
        scores[i] -= m->selection.threshold;
    return status;
}

/* Scores of all subjects: outputs x n. */
static vxs_status score_outputs(const vxs_model *m, const vxs_cohort *c, double *scores,
                                vxs_error *err)
{
    vxs_status status = VXS_GIVEN(err, { "scores", scores });
    if (!status)
        status = vxs_model_check_made(m, err);
    if (!status)
        status = vxs_cohort_check_open(c, err);
    if (status)
        return status;
    size_t n = c->n, *rows = NULL;
    double *covariates = NULL;
    status = vxs_model_same_features(m, c, err);
    if (!status)
        status = check_values(m, c, err);
    if (status)
        return status;
    rows = vxs_alloc(n, sizeof(*rows), err);
    covariates = vxs_alloc(n, m->covariate_count * sizeof(*covariates), err);
    status = rows && covariates ? vxs_model_covariates(m, c, covariates, err) : VXS_FAILED;
    for (size_t i = 0; i < n && !status; i++)
        rows[i] = i;
    const vxs_scored_rows all = { c, rows, covariates, n, n };
    if (!status)
        status = vxs_model_score_rows(m, &all, scores, err);
    free(rows);
    free(covariates);
    return status;
}

vxs_status vxs_model_predict(const vxs_model *m, const vxs_cohort *c, double *scores,
                             double *probabilities, vxs_error *err)
{
    vxs_status status = VXS_GIVEN(err, { "scores", scores }, { "model", m }, { "cohort", c });
    if (status || !vxs_model_has_pairs(m))
        return status ? status : score_outputs(m, c, scores, err);
    double *outputs = vxs_alloc(m->output_count, vxs_times(c->n, sizeof(*outputs)), err);
    status = outputs ? score_outputs(m, c, outputs, err) : VXS_FAILED;
    if (!status)
        vxs_pairs_conclude(outputs, m->class_count, c->n, c->n, m->selection.slope,
                           m->selection.offset, c->n, scores, probabilities);
    free(outputs);
    return status;
}

vxs_status vxs_model_scores(const vxs_model *m, const vxs_cohort *c, double *scores, vxs_error *err)
{
    return vxs_model_predict(m, c, scores, NULL, err);
}

/* ---- Covariates of subjects ------------------------------------------------------------------ */

/* Calls `take` for each covariate with its column and whether it is text, until it returns true. */
typedef bool take_column(void *user, size_t column, bool text);

static bool is_text(const vxs_model *m, const char *header)
{
    size_t length = strlen(header);
    for (size_t k = 0; k < m->level_count; k++)
        if (strncmp(m->levels[k], header, length) == 0 && m->levels[k][length] == '=')
            return true;
    return false;
}

static void each_column(const vxs_model *m, const vxs_cohort *c, take_column *take, void *user)
{
    size_t columns = vxs_table_columns(c->people);
    for (const char *list = m->task.confounds; list && *list;) {
        size_t length = strcspn(list, ",");
        for (size_t j = 0; j < columns && length > 0; j++) {
            const char *header = vxs_table_header(c->people, j);
            if (strlen(header) == length && strncmp(header, list, length) == 0 &&
                take(user, j, is_text(m, header)))
                return;
        }
        list += length + (list[length] == ',');
    }
}

typedef struct {
    const vxs_model *model;
    const vxs_cohort *cohort;
    size_t subject;
    const char *lacks;
    vxs_unseen_list *list;
    vxs_status status;
    vxs_error *err;
} finder;

static bool find_empty(void *user, size_t column, bool text)
{
    finder *f = user;
    (void)text;
    if (!vxs_table_cell(f->cohort->people, f->subject, column))
        f->lacks = vxs_table_header(f->cohort->people, column);
    return f->lacks != NULL;
}

const char *vxs_model_lacks(const vxs_model *m, const vxs_cohort *c, size_t i)
{
    finder f = { .model = m, .cohort = c, .subject = i };
    each_column(m, c, find_empty, &f);
    return f.lacks;
}

static bool find_unseen(void *user, size_t column, bool text)
{
    finder *f = user;
    const char *header = vxs_table_header(f->cohort->people, column);
    for (size_t i = 0; i < f->cohort->n && text && !f->status; i++) {
        const char *cell = vxs_table_cell(f->cohort->people, i, column);
        if (cell && !knows(f->model, header, cell))
            f->status = vxs_unseen_add(f->list, header, cell, i, f->err);
    }
    return f->status != VXS_OK;
}

vxs_status vxs_model_unseen(const vxs_model *m, const vxs_cohort *c, vxs_unseen_list *list,
                            vxs_error *err)
{
    *list = (vxs_unseen_list){ .n = c->n };
    finder f = { .model = m, .cohort = c, .list = list, .err = err };
    each_column(m, c, find_unseen, &f);
    return f.status;
}

/* ---- A cohort made for the model ------------------------------------------------------------- */

static vxs_status repeat_steps(const vxs_model *m, vxs_cohort_settings *s, vxs_error *err)
{
    const vxs_json *done = vxs_json_get(m->about, "preprocessing");
    for (const vxs_step *step = vxs_steps; step->name; step++) {
        const vxs_json *value = vxs_json_get(done, step->name);
        if (value && !vxs_param_read(vxs_step_param(step), value, s))
            return vxs_fail(err, VXS_BAD_DATA,
                            "cannot repeat the preprocessing of model '%s': '%s' in model.json is "
                            "no value of --%s",
                            m->path, step->name, step->name);
    }
    return VXS_OK;
}

/* Files in the model's directory to which the cohort's settings point. */
typedef struct {
    char *mask, *reference, *regions, *names;
} paths;

static void release_paths(paths *p)
{
    free(p->mask);
    free(p->reference);
    free(p->regions);
    free(p->names);
}

static vxs_status name_files(const vxs_model *m, paths *p, vxs_error *err)
{
    *p = (paths){ .mask = vxs_model_file_path(m, "mask.nii.gz", err) };
    p->reference = vxs_model_file_path(m, "reference.nii.gz", err);
    p->regions = vxs_model_file_path(m, "regions.nii.gz", err);
    p->names = vxs_model_file_path(m, "regions.tsv", err);
    return p->mask && p->reference && p->regions && p->names ? VXS_OK : VXS_FAILED;
}

static vxs_status repeat_preprocessing(const vxs_model *m, const paths *p, vxs_cohort_settings *s,
                                       vxs_error *err)
{
    const vxs_json *done = vxs_json_get(m->about, "preprocessing");
    const char *scale = vxs_json_get_text(done, "scale"),
               *kind = vxs_json_get_text(m->about, "features_are");
    vxs_params_defaults(vxs_cohort_params, s);
    s->single = true;
    if (!kind || strcmp(kind, "columns") == 0) {
        s->width = m->task.bags ? 0 : m->p; /* features that svmlight text omits are 0 */
        return VXS_OK;
    }
    s->mask = s->onto = p->mask;
    s->regions = strcmp(kind, "regions") == 0;
    s->atlas = s->regions ? p->regions : NULL;
    s->atlas_names = s->regions ? p->names : NULL;
    s->reference = scale && strcmp(scale, "suvr") == 0 ? p->reference : NULL;
    /* a voxel size was requested: resample onto the model's grid */
    s->resample = s->resample || !isnan(vxs_json_get_number(done, "voxel_size"));
    return repeat_steps(m, s, err);
}

/* Unlinked files stay readable while they are open. */
static void remove_cohort(const char *folder, const char *directory)
{
    static const char *const files[] = { "features.npy",
                                         "participants.tsv",
                                         "cohort.json",
                                         "mask.nii.gz",
                                         "coverage.nii.gz",
                                         "features.tsv",
                                         "features.values.npy",
                                         "features.rows.npy",
                                         "features.starts.npy",
                                         "regions.tsv",
                                         "regions.nii.gz",
                                         "reference.nii.gz",
                                         ".voxsift",
                                         NULL };
    for (int k = 0; files[k]; k++) {
        char *path = vxs_format(NULL, "%s/%s", directory, files[k]);
        if (path)
            unlink(path);
        free(path);
    }
    rmdir(directory);
    rmdir(folder);
}

static const char *temporary_folder(void)
{
    const char *given = getenv("TMPDIR");
    return given && *given ? given : "/tmp";
}

/* Messages name the user's files, not temporary ones. */
static vxs_status refuse_temporary(const vxs_error *why, const char *folder, vxs_error *err)
{
    const char *name = strstr(why->message, folder), *text = why->message;
    size_t before = name ? (size_t)(name - text) : 0;
    const char *after = name ? name + strcspn(name, "'") : text;
    if (why->status == VXS_CANNOT_WRITE && !name)
        return vxs_fail(err, why->status, "temporary files in '%s': %s", temporary_folder(), text);
    if (!name || before == 0)
        return vxs_fail(err, why->status, "%s", text);
    return vxs_fail(err, why->status, "%.*stemporary files in '%s%s", (int)before - 1, text,
                    temporary_folder(), after);
}

/* The cohort's sources, for messages. */
static vxs_status name_sources(const vxs_cohort_settings *s, const char *const *names,
                               vxs_cohort *cohort, vxs_error *err)
{
    const char *table = s->features ? s->features : s->npy ? s->npy : s->svmlight;
    char *said = vxs_format(err, "%s", names && names[0] ? names[0] : table ? table : "the table");
    free(cohort->path);
    cohort->path = said;
    if (!said)
        return VXS_FAILED;
    return vxs_table_rename(cohort->people, s->origin->table ? s->origin->table : said,
                            s->origin->lines, err);
}

static vxs_status make_and_open(const vxs_context *context, const vxs_cohort_settings *settings,
                                const char *const *names, const char *folder, vxs_cohort *cohort,
                                vxs_error *err)
{
    vxs_cohort_summary summary;
    vxs_error why = VXS_ERROR_INIT;
    vxs_context passing = context ? *context : (vxs_context){ 0 };
    char *directory = vxs_format(err, "%s/cohort", folder);
    if (!directory)
        return VXS_FAILED;
    passing.no_fsync = true; /* released when the process ends */
    vxs_status status =
        vxs_cohort_make(&passing, settings, names, directory, false, &summary, &why);
    if (!status)
        status = vxs_cohort_open(directory, cohort, &why);
    if (status)
        status = refuse_temporary(&why, folder, err);
    remove_cohort(folder, directory);
    vxs_temporary_drop(folder);
    free(directory);
    return status;
}

vxs_status vxs_model_cohort(const vxs_context *context, const vxs_model *m,
                            const vxs_cohort_settings *sources, const char *const *names,
                            vxs_cohort *cohort, vxs_error *err)
{
    if (cohort)
        *cohort = (vxs_cohort){ .path = NULL };
    vxs_status status = VXS_GIVEN(err, { "sources", sources }, { "cohort", cohort });
    if (!status)
        status = vxs_model_check_read(m, err);
    if (!status && vxs_patches_of(m->about))
        status = vxs_fail(err, VXS_BAD_DATA,
                          "the model predicts voxels: pass -o DIR for an image of each subject, or "
                          "a cohort of 'voxsift patches'");
    if (!status && vxs_patches_within(m->about))
        status = vxs_fail(err, VXS_BAD_DATA,
                          "the model's subjects are bags of voxels: give a cohort of 'voxsift "
                          "patches'");
    if (status)
        return status;
    vxs_cohort_settings settings = *sources;
    vxs_origin origin = { .table = NULL };
    paths files;
    char *folder = vxs_format(err, "%s/voxsift-XXXXXX", temporary_folder());
    settings.origin = &origin;
    status = name_files(m, &files, err);
    if (!status && folder)
        status = repeat_preprocessing(m, &files, &settings, err);
    if (!folder)
        status = VXS_FAILED;
    else if (!status && !mkdtemp(folder))
        status = vxs_fail(err, VXS_CANNOT_WRITE, "cannot write temporary files in '%s': %s",
                          temporary_folder(), strerror(errno));
    if (!status)
        vxs_temporary_add(folder);
    if (!status)
        status = make_and_open(context, &settings, names, folder, cohort, err);
    if (!status) {
        status = name_sources(&settings, names, cohort, err);
        if (status)
            vxs_cohort_release(cohort);
    }
    vxs_origin_release(&origin);
    release_paths(&files);
    free(folder);
    return status;
}
