/* inner_paths.c - the paths of inner folds, which end once their mean held-out loss has risen.
 *
 * Most of a path's time goes to its end, whose models fit noise and are never chosen. A path ends
 * where its own held-out loss has risen past its least. A fold is done if the mean loss, as far as
 * all its paths go, has risen; until then the shortest go on, to where the next one ended or a
 * quarter of the rest further, and in the last round to the end of the grid. Losses behind are not
 * known.
 *
 * Losses need not be known to more digits than their differences between neighbors of the grid
 * have: gaps of inner folds are at most VXS_INNER_TOL, those of all models that are kept --tol. */
#include "evaluate/cv.h"

#include <math.h>
#include <stdlib.h>

#define RISEN    0.005 /* of the gain over the empty model, or of half of its loss */
#define PAST     0.7   /* of the lambda of the least loss: where it may have risen */
#define POINTS   3     /* of the grid past the least loss, at least */
#define AT_LEAST 0.35  /* of lambda_max: how far all paths go */
#define FURTHER  4     /* 1 / share of the rest of the grid by which all paths go on */

/* ---- Whether a loss has risen ---------------------------------------------------------------- */

/* The last of `count` losses is past the least and larger by more than noise moves it. */
static bool has_risen(const double *loss, const double *values, size_t count)
{
    size_t least = 0, last = count - 1;
    for (size_t k = 1; k < count; k++)
        if (loss[k] < loss[least])
            least = k;
    double gain = fmax(loss[0] - loss[least], loss[0] / 2);
    return last >= least + POINTS &&
           values[last] <= fmin(PAST * values[least], AT_LEAST * values[0]) &&
           loss[last] > loss[least] + RISEN * gain;
}

typedef struct {
    const vxs_fold_work *fold;
    double *loss; /* of the points so far */
} judge;

static bool is_done(void *user, const vxs_job *job, size_t count)
{
    judge *j = user;
    j->loss[count - 1] = vxs_inner_loss(j->fold, job, count - 1);
    return has_risen(j->loss, job->values, count);
}

/* Scores of kernels and margins are in no unit until all folds calibrate them; several problems or
 * values of a second axis are paths of their own. */
static bool may_end(const vxs_cv *cv)
{
    const vxs_task *t = cv->task;
    return vxs_chooses_by_loss(&cv->settings) && vxs_task_method(t)->path == VXS_BY_LAMBDA &&
           !cv->tuning.across && vxs_task_problems(t) == 1 &&
           (t->class_count == 0 || vxs_task_has_logits(t));
}

/* ---- Rounds ---------------------------------------------------------------------------------- */

/* How far all paths of a fold go; `next` is where the next one ended, if further. */
static size_t shortest(const vxs_fold_work *w, size_t *next)
{
    size_t least = w->cv->tuning.count;
    for (size_t g = 0; g < w->inner_count; g++)
        least = w->inner[g].end < least ? w->inner[g].end : least;
    *next = w->cv->tuning.count;
    for (size_t g = 0; g < w->inner_count; g++)
        if (w->inner[g].end > least && w->inner[g].end < *next)
            *next = w->inner[g].end;
    if (*next == w->cv->tuning.count)
        *next = least + (*next - least + FURTHER - 1) / FURTHER;
    return least;
}

/* Where the paths of a fold must end: where they do, if their mean has risen. */
static size_t end_of(const vxs_fold_work *w, int round, double *mean)
{
    size_t next, least = shortest(w, &next);
    for (size_t k = 0; k < least; k++) {
        mean[k] = 0;
        for (size_t g = 0; g < w->inner_count; g++)
            mean[k] += vxs_inner_loss(w, &w->inner[g], k);
    }
    if (least == w->cv->tuning.count || has_risen(mean, w->cv->tuning.values, least))
        return least;
    return round + 1 < VXS_INNER_ROUNDS ? next : w->cv->tuning.count;
}

/* The jobs that have not come to the end of their fold's paths; results go back to their folds. */
static vxs_status run_round(const vxs_job_common *common, vxs_cv *cv, vxs_fold_work *works,
                            int round, vxs_job *jobs, judge *judges, bool *done, vxs_error *err)
{
    size_t each = (size_t)cv->settings.inner_folds, total = cv->fold_count * (each + 1), count = 0;
    vxs_job **from = vxs_alloc((cv->end - cv->first) * each, sizeof(*from), err);
    bool judged = round == 0 && may_end(cv);
    if (!from)
        return VXS_FAILED;
    for (size_t f = cv->first; f < cv->end; f++) {
        vxs_fold_work *w = &works[f];
        size_t end = round == 0 ? cv->tuning.count : end_of(w, round, judges[0].loss);
        for (size_t g = 0; g < each; g++) {
            if (w->inner[g].end >= end)
                continue;
            jobs[count] = w->inner[g];
            jobs[count].number = f * (each + 1) + g + (size_t)round * total;
            jobs[count].begin = w->inner[g].end;
            jobs[count].value_limit = end;
            judges[count].fold = w;
            jobs[count].is_done = judged ? is_done : NULL;
            jobs[count].judge = &judges[count];
            from[count++] = &w->inner[g];
        }
    }
    *done = count == 0;
    vxs_status status = count > 0 ? vxs_jobs_run(common, jobs, count, err) : VXS_OK;
    for (size_t k = 0; k < count; k++) {
        size_t fold = judges[k].fold->number;
        *from[k] = jobs[k];
        cv->each[fold].passes += jobs[k].passes;
        cv->each[fold].seconds += jobs[k].seconds;
        cv->each[fold].converged = cv->each[fold].converged && jobs[k].converged;
        from[k]->passes = from[k]->seconds = 0;
    }
    free(from);
    return status;
}

/* What some paths of a fold know and others do not is not used. */
static void cut_paths(vxs_fold_work *w)
{
    size_t next, least = shortest(w, &next);
    for (size_t g = 0; g < w->inner_count; g++)
        w->inner[g].end = least;
}

vxs_status vxs_inner_run(const vxs_job_common *common, vxs_cv *cv, vxs_fold_work *works,
                         vxs_error *err)
{
    size_t count = (cv->end - cv->first) * (size_t)cv->settings.inner_folds;
    vxs_job *jobs = vxs_alloc(count, sizeof(*jobs), err);
    judge *judges = vxs_alloc(count, sizeof(*judges), err);
    double *loss = vxs_alloc(count, cv->tuning.count * sizeof(*loss), err);
    vxs_status status = jobs && judges && loss ? VXS_OK : VXS_FAILED;
    vxs_method_settings method = *common->method;
    vxs_job_common choosing = *common;
    if (vxs_task_method(cv->task)->path == VXS_BY_LAMBDA)
        method.tol = fmax(method.tol, VXS_INNER_TOL);
    choosing.method = &method;
    bool done = false;
    choosing.doing = vxs_task_method(cv->task)->path != VXS_BY_LAMBDA ? "fitting inner folds"
                                                                      : "choosing lambda";
    for (size_t k = 0; k < count && !status; k++)
        judges[k].loss = loss + k * cv->tuning.count;
    for (int round = 0; round < VXS_INNER_ROUNDS && !status && !done; round++)
        status = run_round(&choosing, cv, works, round, jobs, judges, &done, err);
    for (size_t f = cv->first; f < cv->end && !status; f++)
        cut_paths(&works[f]);
    free(jobs);
    free(judges);
    free(loss);
    return status;
}
