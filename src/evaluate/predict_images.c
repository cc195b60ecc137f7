/* predict_images.c - predictions of all voxels of new images, by a model whose rows are voxels. The
 * voxels of a subject are scored in blocks, each a cohort of its own in memory. */
#include "cohort/patches.h"
#include "evaluate/evaluate.h"
#include "model/encoder.h"
#include "model/model.h"
#include "voxsift/internal/machine.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#define BLOCK_VALUES ((size_t)1 << 23) /* numbers that a block of voxels takes, about */
#define MOST_ROWS    8192

typedef struct {
    const vxs_context *context;
    const vxs_model *model;
    vxs_patch_settings settings;
    vxs_patch_plan plan;
    vxs_patch_source source;
    vxs_cohort people;  /* the table alone */
    double *covariates; /* of its rows */
    size_t rows;        /* of a block */
    vxs_output *output;
    vxs_predicted_images *result;
    vxs_json_writer json; /* subjects of predict.json */
} job;

/* One subject: voxels in the order of the image. */
typedef struct {
    vxs_subject *subject;
    vxs_patch_images images;
    size_t count, *voxel;
    double *scores;        /* of the model's score_count x count */
    double *probabilities; /* of pairs of classes: classes x count; else NULL */
    double *truth;         /* or NULL */
} head;

void vxs_predicted_images_release(vxs_predicted_images *p)
{
    for (size_t k = 0; k < p->count; k++)
        free(p->each[k].id);
    free(p->each);
    free(p->id_header);
    *p = (vxs_predicted_images){ .count = 0 };
}

static void release_head(head *h)
{
    vxs_patch_images_release(&h->images);
    free(h->voxel);
    free(h->scores);
    free(h->probabilities);
    free(h->truth);
}

/* ---- Blocks ---------------------------------------------------------------------------------- */

/* Those of outputs in a block, which may be pairs of classes. */
static void take_scores(const vxs_model *m, const head *h, size_t first, size_t count,
                        const double *outputs)
{
    if (vxs_model_has_pairs(m))
        vxs_pairs_conclude(outputs, m->class_count, count, count, m->selection.slope,
                           m->selection.offset, h->count, h->scores + first,
                           h->probabilities + first);
    for (size_t k = 0; k < m->output_count && !vxs_model_has_pairs(m); k++)
        memcpy(h->scores + k * h->count + first, outputs + k * count, count * sizeof(*outputs));
}

static vxs_status score_block(const job *j, const head *h, size_t first, size_t count,
                              vxs_error *err)
{
    const vxs_model *m = j->model;
    size_t q = m->covariate_count, n = j->people.n;
    float *values = vxs_alloc(m->p, vxs_times(count, sizeof(*values)), err);
    double *covariates = vxs_alloc(q + 1, vxs_times(count, sizeof(*covariates)), err);
    double *scores = vxs_alloc(m->output_count, vxs_times(count, sizeof(*scores)), err);
    size_t *rows = vxs_alloc(count, sizeof(*rows), err);
    vxs_status status = values && covariates && scores && rows ? VXS_OK : VXS_FAILED;
    const vxs_cohort block = { .n = count, .p = m->p, .features = values };
    const vxs_scored_rows scored = { &block, rows, covariates, count, count };
    for (size_t i = 0; i < count && !status; i++) {
        rows[i] = i;
        for (size_t f = 0; f < q; f++)
            covariates[f * count + i] = j->covariates[f * n + h->subject->row];
    }
    if (!status) {
        vxs_patch_values(&j->plan, &h->images, h->voxel + first, count, count, values);
        status = vxs_model_score_rows(m, &scored, scores, err);
    }
    if (!status)
        take_scores(m, h, first, count, scores);
    free(values);
    free(covariates);
    free(scores);
    free(rows);
    return status;
}

/* As many blocks at once as there are threads. */
static vxs_status score_voxels(const job *j, const head *h, vxs_error *err)
{
    const int threads = vxs_context_threads(j->context);
    const size_t blocks = (h->count + j->rows - 1) / j->rows, at_once = (size_t)threads;
    vxs_error *why = vxs_alloc(at_once, sizeof(*why), err);
    vxs_status status = why ? VXS_OK : VXS_FAILED;
    for (size_t first = 0; first < blocks && !status; first += at_once) {
        const size_t end = first + at_once < blocks ? first + at_once : blocks;
#pragma omp parallel for num_threads(threads) schedule(static, 1)
        for (size_t b = first; b < end; b++) {
            const size_t from = b * j->rows, left = h->count - from;
            (void)score_block(j, h, from, left < j->rows ? left : j->rows, &why[b - first]);
        }
        for (size_t k = 0; k < end - first && !status; k++)
            if (why[k].status)
                status = vxs_fail(err, why[k].status, "%s", why[k].message);
        if (!status)
            status = vxs_check_interrupted(j->context, err);
    }
    free(why);
    return status;
}

/* ---- Labels ---------------------------------------------------------------------------------- */

/* The model's class of a label, as 'voxsift patches' names it; NAN: it has no such class. */
static double class_of(const job *j, float label)
{
    const vxs_model *m = j->model;
    double threshold = j->settings.label_threshold;
    char plain[48], named[64];
    snprintf(plain, sizeof(plain), "%.9g",
             isnan(threshold) ? (double)label : (double)((double)label > threshold));
    snprintf(named, sizeof(named), "label-%s", plain);
    for (size_t c = 0; c < m->class_count; c++)
        if (strcmp(m->classes[c], plain) == 0 || strcmp(m->classes[c], named) == 0)
            return (double)c;
    return NAN;
}

static vxs_status read_truth(const job *j, head *h, vxs_error *err)
{
    if (!h->images.label)
        return VXS_OK;
    h->truth = vxs_alloc(h->count, sizeof(*h->truth), err);
    for (size_t k = 0; k < h->count && h->truth; k++)
        h->truth[k] = class_of(j, h->images.label[h->voxel[k]]);
    return h->truth ? VXS_OK : VXS_FAILED;
}

/* ---- Files ----------------------------------------------------------------------------------- */

static vxs_status write_image(const job *j, const head *h, const char *kind, const float *values,
                              size_t volumes, vxs_error *err)
{
    FILE *stream;
    vxs_write_options options = { .type = VXS_WRITE_FLOAT32,
                                  .volumes = volumes,
                                  .intent_name = kind,
                                  .cal_max = *kind == 'p' ? 1 : 0,
                                  .descrip = "voxsift " VXS_VERSION " prediction" };
    char *name = vxs_format(err, "%s_%s.nii.gz", kind, h->subject->id);
    vxs_status status = name ? vxs_output_open(j->output, name, &stream, err) : VXS_FAILED;
    if (!status) {
        status = vxs_image_write(stream, name, &h->images.grid, &options, values, err);
        vxs_status closed = vxs_output_close(j->output, stream, name, err);
        status = status ? status : closed;
    }
    free(name);
    return status;
}

/* Of two classes the positive one, of more each class. */
static vxs_status write_probabilities(const job *j, const head *h, const vxs_predictions *p,
                                      double *mean, vxs_error *err)
{
    size_t classes = p->class_count, volumes = classes == 2 ? 1 : classes, all = h->images.voxels;
    float *values = vxs_alloc(volumes, vxs_times(all, sizeof(*values)), err);
    if (!values)
        return VXS_FAILED;
    *mean = 0;
    for (size_t c = 0; c < volumes; c++)
        for (size_t k = 0; k < h->count; k++) {
            double probability = vxs_predicted_probability(p, k, classes == 2 ? 1 : c);
            values[c * all + h->voxel[k]] = (float)probability;
            *mean += probability / (double)h->count;
        }
    *mean = classes == 2 ? *mean : (double)NAN;
    vxs_status status = write_image(j, h, "probability", values, volumes, err);
    free(values);
    return status;
}

static vxs_status write_scores(const job *j, const head *h, double *mean, vxs_error *err)
{
    size_t volumes = vxs_model_score_count(j->model), all = h->images.voxels;
    float *values = vxs_alloc(volumes, vxs_times(all, sizeof(*values)), err);
    double sum = 0;
    if (!values)
        return VXS_FAILED;
    for (size_t c = 0; c < volumes; c++)
        for (size_t k = 0; k < h->count; k++) {
            values[c * all + h->voxel[k]] = (float)h->scores[c * h->count + k];
            sum += h->scores[c * h->count + k];
        }
    if (j->model->class_count == 0)
        *mean = sum / (double)h->count;
    vxs_status status = write_image(j, h, "score", values, volumes, err);
    free(values);
    return status;
}

static vxs_status write_images(const job *j, const head *h, vxs_predicted_image *one,
                               vxs_error *err)
{
    const vxs_model *m = j->model;
    const vxs_predictions p = { .n = h->count,
                                .class_count = m->class_count,
                                .truth = h->truth,
                                .scores = h->scores,
                                .probabilities = h->probabilities,
                                .slope = m->selection.slope,
                                .offset = m->selection.offset };
    vxs_status status = VXS_OK;
    size_t positive = 0;
    if (m->class_count > 0)
        status = write_probabilities(j, h, &p, &one->mean, err);
    if (!status && !j->result->calibrated)
        status = write_scores(j, h, &one->mean, err);
    for (size_t k = 0; k < h->count && m->class_count == 2; k++)
        positive += vxs_predicted_class(&p, k) == 1;
    one->volume = m->class_count == 2
                      ? (double)positive * vxs_grid_voxel_volume(&h->images.grid) / 1000
                      : (double)NAN;
    if (!status && h->truth)
        status = vxs_measure(&p, &one->metrics, err);
    return status;
}

/* ---- Subjects -------------------------------------------------------------------------------- */

static vxs_status list_voxels(head *h, vxs_error *err)
{
    const vxs_patch_images *m = &h->images;
    h->voxel = vxs_alloc(m->in_mask, sizeof(*h->voxel), err);
    for (size_t v = 0; v < m->voxels && h->voxel; v++)
        if (m->usable[v])
            h->voxel[h->count++] = v;
    return h->voxel ? VXS_OK : VXS_FAILED;
}

static vxs_status allocate_scores(const vxs_model *m, head *h, vxs_error *err)
{
    size_t each = vxs_times(h->count, sizeof(*h->scores));
    bool pairs = vxs_model_has_pairs(m);
    h->scores = vxs_alloc(vxs_model_score_count(m), each, err);
    h->probabilities = pairs ? vxs_alloc(m->class_count, each, err) : NULL;
    return h->scores && (h->probabilities || !pairs) ? VXS_OK : VXS_FAILED;
}

static void note_subject(job *j, const head *h, const vxs_predicted_image *one)
{
    vxs_json_writer *w = &j->json;
    vxs_json_open_object(w, NULL);
    vxs_json_text(w, "id", one->id);
    vxs_patch_files_json(w, &j->source, &j->plan, &h->images);
    vxs_json_whole(w, "voxels", (int64_t)one->voxels);
    vxs_json_whole(w, "not_finite", (int64_t)one->not_finite);
    vxs_json_text(w, "trained_on", vxs_trained_names[one->trained]);
    vxs_json_close_object(w);
}

/* The voxels to be scored; a subject without any is left out. */
static vxs_status find_voxels(job *j, head *h, vxs_error *err)
{
    vxs_status status = list_voxels(h, err);
    if (!status && h->count == 0)
        vxs_build_leave_out(&j->source.build, h->subject,
                            "none of the %zu voxels of its mask can be used", h->images.in_mask);
    return status;
}

static vxs_status predict_head(job *j, head *h, vxs_error *err)
{
    const vxs_model *m = j->model;
    vxs_predicted_image *one = &j->result->each[j->result->count];
    *one = (vxs_predicted_image){ .volume = NAN, .mean = NAN };
    for (const vxs_metric_row *row = vxs_metric_rows; row->name; row++)
        *vxs_metric(&one->metrics, row) = NAN;
    vxs_status status = find_voxels(j, h, err);
    if (!status && h->count == 0)
        return VXS_OK;
    if (!status)
        status = allocate_scores(m, h, err);
    if (status)
        return status;
    one->voxels = h->count;
    one->not_finite = h->images.not_usable;
    status = score_voxels(j, h, err);
    if (!status)
        status = read_truth(j, h, err);
    if (!status)
        status = write_images(j, h, one, err);
    if (!status)
        status =
            vxs_model_trained_on_image(m, h->subject->person ? h->subject->person : h->subject->id,
                                       h->images.hash[0], &one->trained, err);
    one->id = status ? NULL : vxs_format(err, "%s", h->subject->id);
    if (!one->id)
        return status ? status : VXS_FAILED;
    note_subject(j, h, one);
    j->result->count++;
    return VXS_OK;
}

static bool lacks_covariates(const job *j, vxs_subject *s)
{
    for (size_t f = 0; f < j->model->covariate_count; f++)
        if (isnan(j->covariates[f * j->people.n + s->row]))
            return true;
    return false;
}

/* A subject that lacks a value, or whose images cannot be used, is left out: not there. */
static vxs_status open_subject(job *j, vxs_subject *s, vxs_patch_images *images, bool *there,
                               vxs_error *err)
{
    *there = false;
    if (!lacks_covariates(j, s))
        return vxs_patch_source_read(&j->source, &j->plan, s, images, there, err);
    vxs_build_leave_out(&j->source.build, s, "it has no value in '%s'",
                        vxs_model_lacks(j->model, &j->people, s->row));
    return VXS_OK;
}

/* One that cannot be used refuses all, unless it may be left out: all images are read before any
 * is scored, which takes much longer. */
static vxs_status look_first(job *j, vxs_error *err)
{
    vxs_build *b = &j->source.build;
    vxs_status status = VXS_OK;
    for (size_t i = 0; i < b->count && !status && !b->settings->drop_bad; i++) {
        head h = { .subject = &b->subjects[i] };
        bool there = false;
        if (h.subject->reason)
            continue;
        status = open_subject(j, h.subject, &h.images, &there, err);
        if (!status && there)
            status = find_voxels(j, &h, err);
        if (!status)
            status = vxs_check_interrupted(j->context, err);
        release_head(&h);
    }
    return status || b->settings->drop_bad ? status : vxs_build_check_problems(b, err);
}

static vxs_status predict_subject(job *j, vxs_subject *s, vxs_error *err)
{
    head h = { .subject = s };
    bool there = false;
    vxs_status status = open_subject(j, s, &h.images, &there, err);
    if (!status && there && !vxs_patch_same_size(&j->plan, &h.images))
        vxs_log(j->context, VXS_LOG_CAUTION,
                "voxels of '%s' do not have the size of those that the model learned from "
                "(%.3g x %.3g x %.3g mm)",
                s->id, j->plan.voxel_size[0], j->plan.voxel_size[1], j->plan.voxel_size[2]);
    if (!status && there)
        status = predict_head(j, &h, err);
    release_head(&h);
    return status;
}

static vxs_status predict_all(job *j, vxs_error *err)
{
    vxs_build *b = &j->source.build;
    vxs_progress progress;
    vxs_status status = look_first(j, err);
    if (status)
        return status;
    j->result->each = vxs_alloc(b->count, sizeof(*j->result->each), err);
    if (!j->result->each)
        return VXS_FAILED;
    vxs_progress_start(&progress, j->context, "predicting", "subjects", vxs_build_kept(b));
    for (size_t i = 0; i < b->count && !status; i++) {
        if (b->subjects[i].reason)
            continue;
        status = predict_subject(j, &b->subjects[i], err);
        if (!status)
            status = vxs_progress_step(&progress, 1, err);
    }
    return status ? status : vxs_build_check_problems(b, err);
}

/* ---- The directory --------------------------------------------------------------------------- */

void vxs_predicted_images_write(const vxs_predicted_images *r, FILE *stream)
{
    static const char *const headers[] = { "voxels",     "not_finite", "volume_ml", "mean",
                                           "trained_on", "auc",        "dice",      NULL };
    vxs_tsv_writer w;
    vxs_tsv_init(&w, stream);
    vxs_tsv_text(&w, r->id_header);
    for (int k = 0; k < (r->labels ? 7 : 5); k++)
        vxs_tsv_text(&w, headers[k]);
    vxs_tsv_end_row(&w);
    for (size_t k = 0; k < r->count; k++) {
        const vxs_predicted_image *one = &r->each[k];
        vxs_tsv_text(&w, one->id);
        vxs_tsv_real(&w, (double)one->voxels);
        vxs_tsv_real(&w, (double)one->not_finite);
        vxs_tsv_real(&w, one->volume);
        vxs_tsv_real(&w, one->mean);
        vxs_tsv_text(&w, vxs_trained_names[one->trained]);
        if (r->labels) {
            vxs_tsv_real(&w, one->metrics.auc);
            vxs_tsv_real(&w, one->metrics.f1);
        }
        vxs_tsv_end_row(&w);
    }
}

static void begin_json(job *j, FILE *stream)
{
    const vxs_model *m = j->model;
    vxs_json_writer *w = &j->json;
    vxs_json_init(w, stream);
    vxs_json_open_object(w, NULL);
    vxs_json_format(w, "voxsift predicted images");
    vxs_json_text(w, "command", j->context ? j->context->command : NULL);
    vxs_json_text(w, "model", m->path);
    vxs_json_text(w, "target", m->task.target);
    vxs_json_open_array(w, "classes");
    for (size_t c = 0; c < m->class_count; c++)
        vxs_json_text(w, NULL, m->classes[c]);
    vxs_json_close_array(w);
    vxs_json_bool(w, "calibrated", j->result->calibrated);
    vxs_json_open_array(w, "subjects");
}

static void end_json(job *j)
{
    const vxs_build *b = &j->source.build;
    vxs_json_writer *w = &j->json;
    vxs_json_close_array(w);
    vxs_json_open_array(w, "dropped_list");
    for (size_t i = 0; i < b->count; i++) {
        if (!b->subjects[i].reason || b->subjects[i].unselected)
            continue;
        vxs_json_open_object(w, NULL);
        vxs_json_text(w, "id", b->subjects[i].id);
        vxs_json_text(w, "reason", b->subjects[i].reason);
        vxs_json_close_object(w);
    }
    vxs_json_close_array(w);
    vxs_json_close_object(w);
}

static vxs_status write_directory(job *j, vxs_error *err)
{
    FILE *about = NULL, *table = NULL;
    vxs_status status = vxs_output_open(j->output, VXS_PREDICT_FILE, &about, err);
    if (status)
        return status;
    begin_json(j, about);
    status = predict_all(j, err);
    end_json(j);
    vxs_status closed = vxs_output_close(j->output, about, VXS_PREDICT_FILE, err);
    status = status ? status : closed;
    if (!status)
        status = vxs_output_open(j->output, "predictions.tsv", &table, err);
    if (status)
        return status;
    vxs_predicted_images_write(j->result, table);
    status = vxs_output_close(j->output, table, "predictions.tsv", err);
    return status ? status : vxs_output_commit(j->output, err);
}

/* Covariates of all rows of the table. */
static vxs_status read_covariates(job *j, vxs_error *err)
{
    const vxs_build *b = &j->source.build;
    j->people = (vxs_cohort){ .n = vxs_table_rows(b->table), .people = b->table };
    j->covariates = vxs_alloc(j->model->covariate_count + 1,
                              vxs_times(j->people.n, sizeof(*j->covariates)), err);
    return j->covariates ? vxs_model_covariates(j->model, &j->people, j->covariates, err)
                         : VXS_FAILED;
}

static vxs_status begin(job *j, const char *table, vxs_error *err)
{
    const vxs_model *m = j->model;
    const vxs_json *patches = vxs_patches_of(m->about);
    double trained = vxs_json_get_number(vxs_json_get(m->about, "training"), "subjects");
    size_t each = m->p + (trained > 0 ? (size_t)trained : 0) + 1;
    j->rows = BLOCK_VALUES / each < 64 ? 64 : BLOCK_VALUES / each;
    j->rows = j->rows > MOST_ROWS ? MOST_ROWS : j->rows;
    vxs_status status = VXS_OK;
    if (j->plan.p != m->p)
        return vxs_fail(err, VXS_BAD_DATA, "'%s': 'patches' makes %zu features, the model has %zu",
                        m->path, j->plan.p, m->p);
    if (isnan(j->settings.label_threshold))
        j->settings.label_threshold = vxs_json_get_number(patches, "label_threshold");
    status = vxs_patch_plan_repeat(&j->settings, &j->plan, err);
    if (!status)
        status = vxs_patch_source_open(j->context, &j->settings, &j->plan, table, &j->source, err);
    if (status)
        return status;
    j->result->labels = j->settings.label_column && m->class_count > 0;
    j->result->calibrated = m->class_count > 0 && m->selection.slope;
    j->result->id_header = vxs_format(err, "%s", j->source.build.id_header);
    return j->result->id_header ? read_covariates(j, err) : VXS_FAILED;
}

vxs_status vxs_predict_images(const vxs_context *context, const vxs_model *model,
                              const vxs_patch_settings *settings, const char *table,
                              const char *directory, bool replace, vxs_predicted_images *images,
                              vxs_error *err)
{
    job j = { .context = context, .model = model, .settings = *settings, .result = images };
    double start = vxs_seconds();
    *images = (vxs_predicted_images){ .count = 0 };
    j.settings.sources.single = true;
    vxs_status status =
        vxs_patch_plan_read(vxs_patches_of(model->about), model->path, &j.plan, err);
    if (!status)
        status = vxs_output_new(context, directory, replace, &j.output, err);
    if (!status)
        status = begin(&j, table, err);
    if (!status)
        status = write_directory(&j, err);
    images->seconds = vxs_seconds() - start;
    vxs_output_free(j.output);
    vxs_patch_source_release(&j.source);
    vxs_patch_plan_release(&j.plan);
    free(j.covariates);
    if (status)
        vxs_predicted_images_release(images);
    return status;
}
