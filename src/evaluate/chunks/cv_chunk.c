/* cv_chunk.c - outer folds of a cross-validation as parts of a run. */
#include "evaluate/chunks/chunk.h"
#include "evaluate/cv.h"

#include <math.h>

static void serialize_metrics(vxs_serializer *p, const vxs_cv *cv, vxs_metrics *m)
{
    vxs_serialize_size(p, &m->count, cv->task->n);
    for (const vxs_metric_row *row = vxs_metric_rows; row->name; row++)
        vxs_serialize_reals(p, vxs_metric(m, row), 1);
}

static void serialize_fits(vxs_serializer *p, const vxs_cv *cv, vxs_cv_fold *f)
{
    size_t outputs = vxs_task_outputs(cv->task);
    if (p->from) {
        f->fits = vxs_serialize_room(p, outputs, sizeof(*f->fits));
        f->pattern = vxs_serialize_room(p, outputs, cv->task->cohort->p * sizeof(*f->pattern));
    }
    if (p->status)
        return;
    for (size_t o = 0; o < outputs; o++)
        vxs_serialize_fit(p, cv->task, &f->fits[o]);
    vxs_serialize_reals(p, f->pattern, outputs * cv->task->cohort->p);
}

/* The test subjects of the fold: columns and files that define folds may have changed since. */
static void serialize_folds(vxs_serializer *p, const vxs_cv *cv, const vxs_cv_fold *f)
{
    const size_t *fold = cv->folds.fold + f->repeat * cv->task->n;
    for (size_t i = 0; i < cv->task->n; i++) {
        bool kept = fold[i] == f->fold, was = kept;
        vxs_serialize_flag(p, &was);
        if (!p->status && was != kept)
            p->status =
                vxs_fail(p->err, VXS_BAD_DATA,
                         "'%s' was made with other folds: '%s' was %s in fold %zu", p->name,
                         vxs_task_id(cv->task, i), was ? "held out" : "not held out", f->fold + 1);
    }
}

/* Values of the test subjects of this fold, out of rows of all subjects; NULL when there are none.
 */
static void serialize_kept(vxs_serializer *p, const vxs_cv *cv, const vxs_cv_fold *f, double *all,
                           size_t rows)
{
    size_t n = cv->task->n;
    const size_t *fold = cv->folds.fold + f->repeat * n;
    for (size_t r = 0; all && r < rows; r++)
        for (size_t i = 0; i < n; i++)
            if (fold[i] == f->fold)
                vxs_serialize_reals(p, all + (f->repeat * rows + r) * n + i, 1);
}

static void serialize_inner(vxs_serializer *p, const vxs_cv *cv, size_t *inner)
{
    for (size_t i = 0; i < cv->task->n; i++) {
        size_t number = inner[i] + 1; /* SIZE_MAX, a test subject, becomes 0 */
        vxs_serialize_size(p, &number, (size_t)cv->settings.inner_folds);
        inner[i] = number - 1;
    }
}

static void serialize_fold(vxs_serializer *p, void *run, size_t unit)
{
    vxs_cv *cv = run;
    const vxs_task *t = cv->task;
    vxs_cv_fold *f = &cv->each[unit];
    size_t scores = vxs_task_score_count(t);
    f->repeat = unit / cv->folds.count;
    f->fold = unit % cv->folds.count;
    serialize_folds(p, cv, f);
    vxs_serialize_size(p, &f->train, t->n);
    vxs_serialize_size(p, &f->test, t->n);
    vxs_serialize_reals(p, &f->value, 1);
    vxs_serialize_reals(p, &f->across, 1);
    vxs_serialize_reals(p, &f->threshold, 1);
    vxs_serialize_reals(p, &f->passes, 1);
    vxs_serialize_reals(p, &f->seconds, 1);
    vxs_serialize_flag(p, &f->converged);
    serialize_metrics(p, cv, &f->outer);
    serialize_metrics(p, cv, &f->inner);
    for (int b = 0; b < VXS_BASELINES; b++)
        serialize_metrics(p, cv, &f->baselines[b]);
    serialize_inner(p, cv, cv->inner + unit * t->n);
    vxs_serialize_reals(p, cv->losses + unit * cv->tuning.count, cv->tuning.count);
    vxs_serialize_reals(p, cv->sizes + unit * cv->tuning.count, cv->tuning.count);
    serialize_kept(p, cv, f, cv->scores, scores);
    serialize_kept(p, cv, f, cv->probabilities, t->class_count);
    for (int b = 0; b < VXS_BASELINES; b++)
        serialize_kept(p, cv, f, cv->baselines[b], scores);
    serialize_fits(p, cv, f);
}

vxs_run vxs_cv_as_run(const vxs_cv *cv)
{
    return (vxs_run){ .kind = VXS_RUN_CV,
                      .task = cv->task,
                      .settings = &cv->settings,
                      .method = &cv->method,
                      .observed = NAN };
}

vxs_status vxs_cv_write_part(const vxs_context *context, const vxs_cv *cv, vxs_output *output,
                             vxs_error *err)
{
    vxs_run run = vxs_cv_as_run(cv);
    return vxs_part_write(context, &run, cv->settings.chunking.chunk, cv->fold_count, cv->seconds,
                          serialize_fold, (void *)cv, output, err);
}

vxs_status vxs_cv_merge(const vxs_context *context, const vxs_parts *parts, vxs_merged *m,
                        vxs_error *err)
{
    vxs_cv *cv = &m->result.cv;
    vxs_status status = vxs_warn_uncalibrated(context, &m->task, &m->settings.cv, err);
    if (!status)
        status = vxs_cv_begin(&m->task, &m->settings.cv, &m->method, cv, err);
    if (!status)
        vxs_unseen_warn(context, &cv->unseen, vxs_task_id_of, &m->task);
    if (!status)
        status = vxs_parts_unpack(parts, cv->fold_count, serialize_fold, cv, err);
    if (!status)
        status = vxs_cv_finish(context, cv, err);
    cv->seconds = parts->seconds;
    return status;
}
