/* cv_write.c - the directory of a cross-validation: numbers in JSON and tables, maps of voxels. */
#include "evaluate/cv.h"
#include "evaluate/within.h"
#include "model/words.h"
#include "voxsift/internal/machine.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* ---- Numbers over folds ---------------------------------------------------------------------- */

/* Where the metrics of a fold are: outer, inner, or a baseline. */
static vxs_metrics *metrics_at(const vxs_cv *cv, size_t fold, size_t offset)
{
    return (vxs_metrics *)(void *)((char *)&cv->each[fold] + offset);
}

typedef struct {
    double mean, sd;
} spread;

/* Folds in which the metric cannot be had are left out. */
static spread spread_of(const vxs_cv *cv, const vxs_metric_row *row, size_t offset)
{
    double sum = 0, square = 0, count = 0;
    for (size_t k = 0; k < cv->fold_count; k++) {
        double value = *vxs_metric(metrics_at(cv, k, offset), row);
        sum += isnan(value) ? 0 : value;
        count += !isnan(value);
    }
    double mean = count > 0 ? sum / count : NAN;
    for (size_t k = 0; k < cv->fold_count; k++) {
        double value = *vxs_metric(metrics_at(cv, k, offset), row);
        square += isnan(value) ? 0 : (value - mean) * (value - mean);
    }
    return (spread){ mean, count > 1 ? sqrt(square / (count - 1)) : NAN };
}

static bool is_ours(const vxs_cv *cv, const vxs_metric_row *row)
{
    return vxs_metric_applies(row, cv->task->class_count);
}

/* Of metrics over all subjects and of the interval, for outer scores. */
static double value_of(const vxs_metrics *m, const vxs_metric_row *row)
{
    return *vxs_metric((vxs_metrics *)m, row);
}

/* ---- JSON ------------------------------------------------------------------------------------ */

static void metrics_json(vxs_json_writer *w, const vxs_cv *cv, const char *key, size_t offset,
                         bool outer)
{
    vxs_json_open_object(w, key);
    for (const vxs_metric_row *row = vxs_metric_rows; row->name; row++) {
        if (!is_ours(cv, row))
            continue;
        spread s = spread_of(cv, row, offset);
        vxs_json_open_object(w, row->name);
        if (!row->no_mean) {
            vxs_json_real(w, "mean", s.mean);
            vxs_json_real(w, "sd", s.sd);
        }
        if (outer) {
            vxs_json_real(w, "pooled", value_of(&cv->pooled, row));
            vxs_json_real(w, "low", value_of(&cv->low, row));
            vxs_json_real(w, "high", value_of(&cv->high, row));
        }
        vxs_json_open_array(w, "per_fold");
        for (size_t k = 0; k < cv->fold_count; k++)
            vxs_json_real(w, NULL, *vxs_metric(metrics_at(cv, k, offset), row));
        vxs_json_close_array(w);
        vxs_json_close_object(w);
    }
    vxs_json_close_object(w);
}

static size_t baseline_offset(int baseline)
{
    return offsetof(vxs_cv_fold, baselines) + (size_t)baseline * sizeof(vxs_metrics);
}

static void baselines_json(vxs_json_writer *w, const vxs_cv *cv)
{
    vxs_json_open_object(w, "baseline");
    for (int b = 0; b < VXS_BASELINES; b++) {
        if (!cv->baselines[b])
            continue;
        vxs_json_open_object(w, vxs_baseline_names[b]);
        for (const vxs_metric_row *row = vxs_metric_rows; row->name; row++)
            if (is_ours(cv, row))
                vxs_json_real(w, row->name, value_of(&cv->pooled_baselines[b], row));
        vxs_json_close_object(w);
    }
    vxs_json_close_object(w);
}

/* The model less each baseline, on the same subjects and the same draws. */
static void differences_json(vxs_json_writer *w, const vxs_cv *cv)
{
    vxs_json_open_object(w, "difference");
    for (int b = 0; b < VXS_BASELINES; b++) {
        if (!cv->baselines[b])
            continue;
        vxs_json_open_object(w, vxs_baseline_names[b]);
        for (const vxs_metric_row *row = vxs_metric_rows; row->name; row++) {
            if (!is_ours(cv, row))
                continue;
            vxs_json_open_object(w, row->name);
            vxs_json_real(w, "value", value_of(&cv->ahead[b].by, row));
            vxs_json_real(w, "low", value_of(&cv->ahead[b].low, row));
            vxs_json_real(w, "high", value_of(&cv->ahead[b].high, row));
            vxs_json_close_object(w);
        }
        vxs_json_close_object(w);
    }
    vxs_json_close_object(w);
}

/* Of any output. */
size_t vxs_cv_unidentified(const vxs_cv *cv, size_t fold)
{
    size_t most = 0;
    for (size_t o = 0; o < vxs_task_outputs(cv->task) && cv->each[fold].fits; o++) {
        size_t here = cv->each[fold].fits[o].certificate.unidentified;
        most = here > most ? here : most;
    }
    return most;
}

/* What r, auc and the shares of classes compare. */
static void comparison_json(vxs_json_writer *w, const vxs_cv *cv)
{
    const vxs_comparison *c = &cv->comparison;
    vxs_json_open_object(w, "comparison");
    vxs_json_text(w, "subjects_of", c->across ? "all folds" : "one fold");
    vxs_json_bool(w, "biased_downwards", c->across);
    vxs_json_real(w, "pairs_within_folds", c->pairs);
    vxs_json_whole(w, "folds_with_pairs", (int64_t)c->folds);
    vxs_json_bool(w, "few_groups", cv->folds.groups < VXS_FEW_GROUPS);
    vxs_json_close_object(w);
}

void vxs_cv_json(vxs_json_writer *w, const vxs_cv *cv)
{
    vxs_task_json(w, cv->task, &cv->method);
    vxs_json_whole(w, "folds", (int64_t)cv->folds.count);
    vxs_json_whole(w, "repeats", (int64_t)cv->folds.repeats);
    vxs_json_whole(w, "groups", (int64_t)cv->folds.groups);
    vxs_json_whole(w, "inner_folds", cv->settings.inner_folds);
    metrics_json(w, cv, "outer", offsetof(vxs_cv_fold, outer), true);
    if (cv->settings.inner_folds > 0)
        metrics_json(w, cv, "inner", offsetof(vxs_cv_fold, inner), false);
    vxs_class_scores_json(w, cv->task->classes, &cv->classes);
    baselines_json(w, cv);
    differences_json(w, cv);
    if (cv->dense_left_out)
        vxs_json_text(w, "dense_left_out", cv->dense_left_out);
    comparison_json(w, cv);
    vxs_within_json(w, &cv->within);
    vxs_unseen_json(w, &cv->unseen, vxs_task_id_of, cv->task);
    vxs_cv_folds_json(w, cv);
    vxs_json_bool(w, "converged", cv->converged);
    vxs_json_real(w, "passes", cv->passes);
    vxs_json_real(w, "seconds", cv->seconds);
}

static void curve_json(vxs_json_writer *w, const vxs_cv *cv)
{
    size_t folds = cv->settings.inner_folds > 0 ? cv->fold_count : 0;
    vxs_selection s = { .tuning = cv->tuning,
                        .losses = cv->losses,
                        .sizes = cv->sizes,
                        .choose_by = cv->settings.choose_by,
                        .decision = cv->settings.decision };
    vxs_selection_json(w, &s, folds);
}

static void write_about(const vxs_context *context, const vxs_cv *cv, FILE *stream)
{
    vxs_json_writer w;
    vxs_json_init(&w, stream);
    vxs_json_open_object(&w, NULL);
    vxs_json_format(&w, "voxsift cross-validation");
    vxs_json_text(&w, "command", context ? context->command : NULL);
    vxs_json_text(&w, "processor", cv->processor ? cv->processor : vxs_blas_core());
    vxs_json_text(&w, "cohort", cv->task->cohort->path);
    vxs_json_params(&w, "task", vxs_task_params, &cv->task->settings);
    vxs_json_params(&w, "cross_validation", vxs_cv_params, &cv->settings);
    vxs_json_params(&w, "parameters", vxs_task_method(cv->task)->params, &cv->method);
    vxs_cv_json(&w, cv);
    curve_json(&w, cv);
    vxs_flow_json(&w, cv->task);
    vxs_features_json(&w, cv->task->cohort);
    vxs_json_close_object(&w);
}

/* ---- Tables ---------------------------------------------------------------------------------- */

static void fold_cell(vxs_tsv_writer *w, const vxs_folds *f, size_t fold)
{
    if (f->names)
        vxs_tsv_text(w, f->names[fold]);
    else
        vxs_tsv_real(w, (double)(fold + 1));
}

static void score_headers(const vxs_task *t, const char *prefix, vxs_tsv_writer *w)
{
    for (size_t o = 0; o < vxs_task_score_count(t); o++)
        vxs_tsv_of(w, prefix, t->classes[t->class_count == 2 ? 1 : o]);
}

/* `baseline`: of all baselines, whose name is in a column. */
static void prediction_header(const vxs_cv *cv, bool baseline, vxs_tsv_writer *w)
{
    const vxs_task *t = cv->task;
    static const char *const common[] = { "repeat", "fold", "truth", "predicted" };
    vxs_tsv_text(w, vxs_cohort_id_header(t->cohort));
    if (baseline)
        vxs_tsv_text(w, "baseline");
    for (size_t k = 0; k < 4; k++)
        vxs_tsv_text(w, common[k]);
    if (t->class_count > 0)
        score_headers(t, "score", w);
    for (size_t c = 0; c < t->class_count; c++)
        vxs_tsv_of(w, "p", t->classes[c]);
    if (cv->aligned[0] && t->class_count > 0)
        score_headers(t, "aligned", w);
    else if (cv->aligned[0])
        vxs_tsv_text(w, "aligned");
    vxs_tsv_end_row(w);
}

/* Of a subject in a repeat: the model (which 0) or baseline `which` - 1. */
static void prediction_row(const vxs_cv *cv, size_t which, size_t repeat, size_t i,
                           vxs_tsv_writer *w)
{
    const vxs_task *t = cv->task;
    size_t outputs = vxs_task_score_count(t), row = repeat * outputs * t->n;
    vxs_predictions p = { .n = t->n,
                          .class_count = t->class_count,
                          .scores = (which == 0 ? cv->scores : cv->baselines[which - 1]) + row };
    if (which == 0 && cv->probabilities)
        p.probabilities = cv->probabilities + repeat * t->class_count * t->n;
    vxs_tsv_text(w, vxs_task_id(t, i));
    if (which > 0)
        vxs_tsv_text(w, vxs_baseline_names[which - 1]);
    vxs_tsv_real(w, (double)(repeat + 1));
    fold_cell(w, &cv->folds, cv->folds.fold[repeat * t->n + i]);
    if (t->class_count == 0) {
        vxs_tsv_real(w, t->score[i]);
        vxs_tsv_real(w, p.scores[i]);
    } else {
        vxs_tsv_text(w, t->classes[(size_t)t->score[i]]);
        vxs_tsv_text(w, t->classes[vxs_predicted_class(&p, i)]);
    }
    for (size_t o = 0; o < outputs && t->class_count > 0; o++)
        vxs_tsv_real(w, p.scores[o * t->n + i]);
    for (size_t c = 0; c < t->class_count; c++)
        vxs_tsv_real(w, vxs_predicted_probability(&p, i, c));
    for (size_t o = 0; o < outputs && cv->aligned[which]; o++)
        vxs_tsv_real(w, cv->aligned[which][row + o * t->n + i]);
    vxs_tsv_end_row(w);
}

static void write_predictions(const vxs_cv *cv, bool baselines, FILE *stream)
{
    vxs_tsv_writer w;
    vxs_tsv_init(&w, stream);
    prediction_header(cv, baselines, &w);
    for (size_t which = baselines; which < (baselines ? 1 + VXS_BASELINES : 1); which++)
        for (size_t r = 0; r < cv->folds.repeats && (which == 0 || cv->baselines[which - 1]); r++)
            for (size_t i = 0; i < cv->task->n; i++)
                prediction_row(cv, which, r, i, &w);
}

/* Of one kind of scores: over all folds with an interval, which only some have, and fold by fold.
 */
typedef struct {
    const char *name;
    size_t offset, less; /* of a fold's metrics; less those at `less`, unless that is 0 */
    const vxs_metrics *pooled, *low, *high;
} score_kind;

static void score_rows(const vxs_cv *cv, vxs_tsv_writer *w, const score_kind *kind)
{
    for (const vxs_metric_row *row = vxs_metric_rows; row->name; row++) {
        if (!is_ours(cv, row))
            continue;
        spread s =
            kind->less || row->no_mean ? (spread){ NAN, NAN } : spread_of(cv, row, kind->offset);
        vxs_tsv_text(w, kind->name);
        vxs_tsv_text(w, row->name);
        vxs_tsv_real(w, s.mean);
        vxs_tsv_real(w, s.sd);
        vxs_tsv_real(w, kind->pooled ? value_of(kind->pooled, row) : NAN);
        vxs_tsv_real(w, kind->low ? value_of(kind->low, row) : NAN);
        vxs_tsv_real(w, kind->high ? value_of(kind->high, row) : NAN);
        for (size_t k = 0; k < cv->fold_count; k++) {
            double value = *vxs_metric(metrics_at(cv, k, kind->offset), row);
            value -= kind->less ? *vxs_metric(metrics_at(cv, k, kind->less), row) : 0;
            vxs_tsv_real(w, value);
        }
        vxs_tsv_end_row(w);
    }
}

static void baseline_rows(const vxs_cv *cv, vxs_tsv_writer *w, int b)
{
    char name[64];
    const score_kind alone = { .name = vxs_baseline_names[b],
                               .offset = baseline_offset(b),
                               .pooled = &cv->pooled_baselines[b] };
    const score_kind difference = { .name = name,
                                    .offset = offsetof(vxs_cv_fold, outer),
                                    .less = baseline_offset(b),
                                    .pooled = &cv->ahead[b].by,
                                    .low = &cv->ahead[b].low,
                                    .high = &cv->ahead[b].high };
    snprintf(name, sizeof(name), "outer_minus_%s", vxs_baseline_names[b]);
    score_rows(cv, w, &alone);
    score_rows(cv, w, &difference);
}

static void write_scores(const vxs_cv *cv, FILE *stream)
{
    static const char *const common[] = {
        "scores", "metric", "mean", "sd", "pooled", "low", "high"
    };
    vxs_tsv_writer w;
    vxs_tsv_init(&w, stream);
    for (size_t k = 0; k < sizeof(common) / sizeof(common[0]); k++)
        vxs_tsv_text(&w, common[k]);
    for (size_t k = 0; k < cv->fold_count; k++) {
        char name[300];
        const vxs_cv_fold *f = &cv->each[k];
        if (cv->folds.names)
            snprintf(name, sizeof(name), "%zu:%s", f->repeat + 1, cv->folds.names[f->fold]);
        else
            snprintf(name, sizeof(name), "%zu:%zu", f->repeat + 1, f->fold + 1);
        vxs_tsv_text(&w, name);
    }
    vxs_tsv_end_row(&w);
    const score_kind outer = { "outer",  offsetof(vxs_cv_fold, outer), 0, &cv->pooled, &cv->low,
                               &cv->high };
    const score_kind inner = { .name = "inner", .offset = offsetof(vxs_cv_fold, inner) };
    score_rows(cv, &w, &outer);
    if (cv->settings.inner_folds > 0)
        score_rows(cv, &w, &inner);
    for (int b = 0; b < VXS_BASELINES; b++)
        if (cv->baselines[b])
            baseline_rows(cv, &w, b);
}

/* The inner fold in which a training subject is held out. */
static void write_inner(const vxs_cv *cv, FILE *stream)
{
    const vxs_task *t = cv->task;
    vxs_tsv_writer w;
    vxs_tsv_init(&w, stream);
    vxs_tsv_text(&w, vxs_cohort_id_header(t->cohort));
    vxs_tsv_text(&w, "repeat");
    vxs_tsv_text(&w, "fold");
    vxs_tsv_text(&w, "inner_fold");
    vxs_tsv_end_row(&w);
    for (size_t k = 0; k < cv->fold_count; k++)
        for (size_t i = 0; i < t->n; i++) {
            size_t inner = cv->inner[k * t->n + i];
            if (inner == SIZE_MAX)
                continue;
            vxs_tsv_text(&w, vxs_task_id(t, i));
            vxs_tsv_real(&w, (double)(cv->each[k].repeat + 1));
            fold_cell(&w, &cv->folds, cv->each[k].fold);
            vxs_tsv_real(&w, (double)(inner + 1));
            vxs_tsv_end_row(&w);
        }
}

/* ---- Weights over folds ---------------------------------------------------------------------- */

enum { MEAN, SD, SHARE, PATTERN, KINDS };
static const char *const kind_names[KINDS] = { "mean", "sd", "selected", "pattern" };

/* Each kind is outputs x p. */
static vxs_status sum_up(const vxs_cv *cv, double *maps[KINDS], vxs_error *err)
{
    size_t p = cv->task->cohort->p, all = vxs_task_outputs(cv->task) * p;
    double folds = (double)cv->fold_count;
    for (int k = 0; k < KINDS; k++) {
        maps[k] = vxs_alloc(all, sizeof(*maps[k]), err);
        if (!maps[k])
            return VXS_FAILED;
    }
    for (size_t f = 0; f < cv->fold_count; f++) {
        for (size_t o = 0; o < vxs_task_outputs(cv->task); o++)
            for (size_t k = 0; k < cv->each[f].fits[o].count; k++) {
                size_t at = o * p + cv->each[f].fits[o].index[k];
                double weight = cv->each[f].fits[o].weight[k];
                maps[MEAN][at] += weight / folds;
                maps[SD][at] += weight * weight;
                maps[SHARE][at] += weight != 0 ? 1 / folds : 0;
            }
        for (size_t j = 0; j < all; j++)
            maps[PATTERN][j] += cv->each[f].pattern[j] / folds;
    }
    for (size_t j = 0; j < all; j++) {
        double about = maps[SD][j] - folds * maps[MEAN][j] * maps[MEAN][j];
        maps[SD][j] = about > 0 && folds > 1 ? sqrt(about / (folds - 1)) : 0;
    }
    return VXS_OK;
}

static void weight_header(const vxs_cv *cv, vxs_tsv_writer *w)
{
    const vxs_task *t = cv->task;
    vxs_tsv_text(w, "index");
    vxs_tsv_text(w, "feature");
    if (t->cohort->kind == VXS_FEATURES_VOXELS)
        vxs_write_place_header(w);
    for (size_t o = 0; o < vxs_task_outputs(t); o++)
        for (int k = 0; k < KINDS; k++) {
            char text[VXS_OUTPUT_TEXT];
            vxs_tsv_of(w, kind_names[k],
                       vxs_task_outputs(t) == 1 ? NULL : vxs_task_output_name(t, o, text));
        }
    vxs_tsv_end_row(w);
}

/* Features that some fold gave a weight. */
static void write_weights(const vxs_cv *cv, double *const maps[KINDS], FILE *stream)
{
    const vxs_cohort *c = cv->task->cohort;
    size_t outputs = vxs_task_outputs(cv->task);
    vxs_tsv_writer w;
    char name[32];
    vxs_tsv_init(&w, stream);
    weight_header(cv, &w);
    for (size_t j = 0; j < c->p; j++) {
        bool any = false;
        for (size_t o = 0; o < outputs; o++)
            any = any || maps[SHARE][o * c->p + j] > 0;
        if (!any)
            continue;
        vxs_tsv_real(&w, (double)j);
        vxs_tsv_text(&w, vxs_cohort_feature(c, j, name));
        if (c->kind == VXS_FEATURES_VOXELS)
            vxs_write_place(&w, &c->grid, c->voxels[j]);
        for (size_t o = 0; o < outputs; o++)
            for (int k = 0; k < KINDS; k++)
                vxs_tsv_real(&w, maps[k][o * c->p + j]);
        vxs_tsv_end_row(&w);
    }
}

static vxs_status write_map(const vxs_cv *cv, const double *map, const char *file, int kind,
                            FILE *stream, vxs_error *err)
{
    static const char *const intents[KINDS] = { "mean weight", "weight sd", "selected share",
                                                "pattern" };
    const vxs_cohort *c = cv->task->cohort;
    size_t outputs = vxs_task_outputs(cv->task), voxels = vxs_grid_voxels(&c->grid);
    float *values = vxs_alloc(outputs, voxels * sizeof(*values), err);
    double most = 0;
    if (!values)
        return VXS_FAILED;
    for (size_t o = 0; o < outputs; o++)
        for (size_t j = 0; j < c->p; j++) {
            values[o * voxels + c->voxels[j]] = (float)map[o * c->p + j];
            most = fmax(most, fabs(map[o * c->p + j]));
        }
    vxs_write_options options = { .type = VXS_WRITE_FLOAT32,
                                  .volumes = outputs,
                                  .intent_code = kind == SHARE ? 0 : 1001,
                                  .intent_name = intents[kind],
                                  .cal_max = most,
                                  .descrip = "voxsift " VXS_VERSION " cross-validation" };
    vxs_status status = vxs_image_write(stream, file, &c->grid, &options, values, err);
    free(values);
    return status;
}

/* ---- The whole ------------------------------------------------------------------------------- */

/* Files of a cross-validation; of features that are not voxels those before MAPS. */
enum {
    ABOUT,
    PREDICTIONS,
    BASELINES,
    SCORES,
    FOLDS,
    INNER,
    WEIGHTS,
    MAPS,
    MASK = MAPS + KINDS,
    CLUSTERS,
    FILES
};

static vxs_status write_of_voxels(const vxs_cv *cv, double *const maps[KINDS], int k,
                                  const char *file, FILE *stream, vxs_error *err)
{
    const vxs_cohort *c = cv->task->cohort;
    if (k == MASK)
        return vxs_write_mask(&c->grid, c->voxels, c->voxel_count, stream, err);
    if (k == CLUSTERS)
        return vxs_write_clusters(cv->task, maps[MEAN], -INFINITY, stream, err);
    return write_map(cv, maps[k - MAPS], file, k - MAPS, stream, err);
}

static vxs_status save(const vxs_context *context, const vxs_cv *cv, double *const maps[KINDS],
                       vxs_output *output, vxs_error *err)
{
    static const char *const files[FILES] = {
        VXS_CV_FILE,         "predictions.tsv",  "baselines.tsv",  "scores.tsv",
        "folds.tsv",         "inner_folds.tsv",  "weights.tsv",    "weights_mean.nii.gz",
        "weights_sd.nii.gz", "selection.nii.gz", "pattern.nii.gz", "mask.nii.gz",
        "clusters.tsv"
    };
    int count = cv->task->cohort->kind == VXS_FEATURES_VOXELS ? FILES : MAPS;
    vxs_status status = VXS_OK;
    for (int k = 0; k < count && !status; k++) {
        FILE *stream;
        if (k == INNER && cv->settings.inner_folds == 0)
            continue;
        status = vxs_output_open(output, files[k], &stream, err);
        if (status)
            return status;
        if (k == ABOUT)
            write_about(context, cv, stream);
        else if (k == PREDICTIONS || k == BASELINES)
            write_predictions(cv, k == BASELINES, stream);
        else if (k == SCORES)
            write_scores(cv, stream);
        else if (k == FOLDS)
            vxs_folds_write(cv->task, &cv->folds, stream);
        else if (k == INNER)
            write_inner(cv, stream);
        else if (k == WEIGHTS)
            write_weights(cv, maps, stream);
        else
            status = write_of_voxels(cv, maps, k, files[k], stream, err);
        vxs_status closed = vxs_output_close(output, stream, files[k], err);
        status = status ? status : closed;
    }
    return status;
}

static vxs_status save_people(const vxs_cv *cv, vxs_output *output, vxs_error *err)
{
    FILE *stream;
    if (!cv->within.metric)
        return VXS_OK;
    vxs_status status = vxs_output_open(output, "people.tsv", &stream, err);
    if (status)
        return status;
    vxs_within_write(cv->task, &cv->within, stream);
    return vxs_output_close(output, stream, "people.tsv", err);
}

vxs_status vxs_cv_write(const vxs_context *context, const vxs_cv *cv, vxs_output *output,
                        vxs_error *err)
{
    double *maps[KINDS] = { NULL };
    if (vxs_chunk_is_part(cv->settings.chunking.chunk))
        return vxs_cv_write_part(context, cv, output, err);
    vxs_status status = sum_up(cv, maps, err);
    if (!status)
        status = save(context, cv, maps, output, err);
    if (!status)
        status = save_people(cv, output, err);
    for (int k = 0; k < KINDS; k++)
        free(maps[k]);
    return status;
}

vxs_status vxs_cv_save(const vxs_context *context, const vxs_cv *cv, const char *directory,
                       bool replace, vxs_error *err)
{
    vxs_output *output = NULL;
    vxs_status status = vxs_output_new(context, directory, replace, &output, err);
    if (!status)
        status = vxs_cv_write(context, cv, output, err);
    if (!status)
        status = vxs_output_commit(output, err);
    vxs_output_free(output);
    return status;
}
