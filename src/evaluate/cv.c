/* cv.c - nested cross-validation: a lambda is chosen by inner folds of the training subjects, and
 * the model fitted with it is measured on those that were kept back. */
#include "evaluate/cv.h"
#include "evaluate/chunks/chunk.h"
#include "model/covariates.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#define AT(member) offsetof(vxs_cv_settings, member)

const char *const vxs_select_names[] = { "best", "1se", NULL };

const vxs_param vxs_cv_params[] = {
    { .name = "folds",
      .value = "K",
      .type = VXS_PARAM_WHOLE,
      .offset = AT(folds),
      .initial = 5,
      .min = 2,
      .max = 100000,
      .help = "folds, dealt out evenly over classes, or over quantiles of a score" },
    { .name = "repeats",
      .value = "N",
      .type = VXS_PARAM_WHOLE,
      .offset = AT(repeats),
      .initial = 1,
      .min = 1,
      .max = 1000,
      .help = "times that folds are dealt out anew" },
    { .name = "group",
      .value = "COLUMN",
      .type = VXS_PARAM_TEXT,
      .offset = AT(group),
      .help = "subjects with the same value, such as site, scanner or family, stay in one fold; "
              "those of one person always do, and groups that share a person become one" },
    { .name = "folds-from",
      .value = "WHERE",
      .type = VXS_PARAM_TEXT,
      .offset = AT(folds_from),
      .help =
          "the folds themselves: a column, of which each value is one fold (leave one site or "
          "run out), or a table with participant_id, fold and perhaps repeat, such as the "
          "folds.tsv of another run; with a column, subjects of one value stay together in inner "
          "folds too, of which there are fewer than values" },
    { .name = "inner-folds",
      .value = "K",
      .type = VXS_PARAM_WHOLE,
      .offset = AT(inner_folds),
      .initial = 5,
      .min = 0,
      .max = 1000,
      .help =
          "folds of the training subjects that choose lambda (methods fgm and mslr: the number of "
          "rounds, or which of --features); 0: none, --lambda-ratio (--T, --features) is it" },
    { .name = "select",
      .value = "RULE",
      .type = VXS_PARAM_CHOICE,
      .offset = AT(select),
      .choices = vxs_select_names,
      .help = "the lambda with the least inner loss, or the largest that is not a standard error "
              "worse; of several smoothnesses the smoothest; likewise the fewest rounds" },
    { .name = "prefilter",
      .value = "RULE",
      .type = VXS_PARAM_TEXT,
      .offset = AT(prefilter),
      .help = "keep features by a test on the training subjects alone: ttest:0.05 those whose "
              "correlation with the target has that p-value, variance:0.5 the half that varies "
              "most" },
    { .name = "bootstraps",
      .value = "N",
      .type = VXS_PARAM_WHOLE,
      .offset = AT(bootstraps),
      .initial = 1000,
      .min = 100,
      .max = 100000,
      .help = "draws of subjects for the 95 % intervals" },
    { .name = "seed",
      .value = "N",
      .type = VXS_PARAM_WHOLE,
      .offset = AT(seed),
      .initial = 1,
      .min = 0,
      .max = 1e15,
      .help = "of everything that is drawn: folds and intervals" },
    { .name = NULL },
};

void vxs_cv_release(vxs_cv *cv)
{
    size_t outputs = cv->task ? vxs_task_outputs(cv->task) : 0;
    for (size_t k = 0; cv->each && k < cv->fold_count; k++) {
        for (size_t o = 0; cv->each[k].fits && o < outputs; o++)
            vxs_solution_release(&cv->each[k].fits[o]);
        free(cv->each[k].fits);
        free(cv->each[k].pattern);
    }
    vxs_folds_release(&cv->folds);
    free(cv->each);
    vxs_tries_release(&cv->tries);
    free(cv->losses);
    free(cv->sizes);
    free(cv->scores);
    free(cv->probabilities);
    for (int b = 0; b < VXS_BASELINES; b++)
        free(cv->baselines[b]);
    vxs_unseen_release(&cv->unseen);
    for (int k = 0; k < 1 + VXS_BASELINES; k++)
        free(cv->aligned[k]);
    free(cv->inner);
    *cv = (vxs_cv){ .fold_count = 0 };
}

/* ---- What is asked for ----------------------------------------------------------------------- */

static vxs_status check_settings(const vxs_cv *cv, vxs_error *err)
{
    const vxs_cv_settings *s = &cv->settings;
    vxs_status status = vxs_check_ratio(cv->task, &cv->method, "fold", s->inner_folds > 0, err);
    if (status)
        return status;
    if (s->inner_folds == 1)
        return vxs_fail(err, VXS_MISUSE, "'--inner-folds' wants 0, or 2 and more");
    if (s->prefilter && (vxs_task_method(cv->task)->needs_graph || vxs_task_is_kernel(cv->task)))
        return vxs_fail(err, VXS_MISUSE,
                        "'--prefilter' does not go with method '%s': it would tear its graph apart",
                        vxs_task_method(cv->task)->name);
    return s->prefilter ? vxs_prefilter_check(s->prefilter, err) : VXS_OK;
}

/* ---- Folds ----------------------------------------------------------------------------------- */

static void split(const size_t *fold, size_t n, size_t kept, size_t *train, size_t *train_count,
                  size_t *test, size_t *test_count)
{
    *train_count = *test_count = 0;
    for (size_t i = 0; i < n; i++)
        if (fold[i] == kept)
            test[(*test_count)++] = i;
        else if (fold[i] != SIZE_MAX)
            train[(*train_count)++] = i;
}

/* Groups of the training subjects, numbered anew. */
static size_t regroup(const vxs_fold_work *w, const size_t *group, size_t *number, size_t *first)
{
    size_t count = 0;
    for (size_t k = 0; k < w->train_count; k++) {
        size_t g = group[w->train[k]];
        if (first[g] == SIZE_MAX)
            first[g] = count++;
        number[k] = first[g];
    }
    return count;
}

static vxs_status deal_inner(vxs_fold_work *w, size_t *inner, vxs_error *err)
{
    vxs_cv *cv = w->cv;
    const vxs_task *t = cv->task;
    size_t *number = vxs_alloc(3 * t->n, sizeof(*number), err);
    size_t *first = vxs_alloc(cv->folds.groups, sizeof(*first), err);
    vxs_task part = { .n = w->train_count,
                      .class_count = t->class_count,
                      .score = vxs_alloc(w->train_count, sizeof(*part.score), err) };
    vxs_random random = { (uint64_t)cv->settings.seed, VXS_STREAM_INNER + w->number };
    vxs_status status = number && first && part.score ? VXS_OK : VXS_FAILED;
    if (!status) {
        for (size_t g = 0; g < cv->folds.groups; g++)
            first[g] = SIZE_MAX;
        for (size_t k = 0; k < w->train_count; k++)
            part.score[k] = t->score[w->train[k]];
        size_t groups = regroup(w, cv->folds.group, number, first), *fold = number + t->n;
        status = vxs_folds_enough(&cv->folds, cv->settings.group, groups, w->inner_count,
                                  "inner folds", " among the training subjects", err);
        if (!status)
            status = vxs_folds_deal(&part, number, groups, w->inner_count, &random, fold, err);
        for (size_t k = 0; k < w->train_count && !status; k++)
            inner[w->train[k]] = fold[k];
    }
    free(number);
    free(first);
    free(part.score);
    return status;
}

static vxs_status make_inner_jobs(vxs_fold_work *w, const size_t *inner, vxs_error *err)
{
    vxs_cv *cv = w->cv;
    size_t n = cv->task->n;
    for (size_t g = 0; g < w->inner_count; g++) {
        vxs_job *job = &w->inner[g];
        w->inner_train[g] = vxs_alloc(n, sizeof(size_t), err);
        w->inner_test[g] = vxs_alloc(n, sizeof(size_t), err);
        if (!w->inner_train[g] || !w->inner_test[g])
            return VXS_FAILED;
        split(inner, n, g, w->inner_train[g], &job->train_count, w->inner_test[g],
              &job->test_count);
        job->train = w->inner_train[g];
        job->test = w->inner_test[g];
        job->points = cv->tries.points;
        job->smooths = cv->tries.smooths;
        job->point_count = cv->tries.count;
    }
    return VXS_OK;
}

static vxs_status begin_fold(vxs_fold_work *w, vxs_cv *cv, size_t number, vxs_error *err)
{
    size_t n = cv->task->n, outputs = vxs_task_outputs(cv->task);
    size_t repeat = number / cv->folds.count, kept = number % cv->folds.count;
    *w = (vxs_fold_work){ .cv = cv, .number = number };
    w->inner_count = (size_t)cv->settings.inner_folds;
    w->train = vxs_alloc(n, sizeof(*w->train), err);
    w->test = vxs_alloc(n, sizeof(*w->test), err);
    w->inner = vxs_alloc(w->inner_count, sizeof(*w->inner), err);
    w->inner_train = vxs_alloc(w->inner_count, sizeof(*w->inner_train), err);
    w->inner_test = vxs_alloc(w->inner_count, sizeof(*w->inner_test), err);
    w->inner_scores = vxs_alloc(outputs, n * sizeof(*w->inner_scores), err);
    w->slope = vxs_alloc(outputs, sizeof(*w->slope), err);
    w->offset = vxs_alloc(outputs, sizeof(*w->offset), err);
    if (!w->train || !w->test || !w->inner || !w->inner_train || !w->inner_test ||
        !w->inner_scores || !w->slope || !w->offset)
        return VXS_FAILED;
    split(cv->folds.fold + repeat * n, n, kept, w->train, &w->train_count, w->test, &w->test_count);
    size_t *inner = cv->inner + number * n;
    for (size_t i = 0; i < n; i++)
        inner[i] = SIZE_MAX;
    cv->each[number] = (vxs_cv_fold){ .repeat = repeat,
                                      .fold = kept,
                                      .train = w->train_count,
                                      .test = w->test_count,
                                      .converged = true };
    vxs_status status =
        vxs_check_trainable(cv->task, w->train, w->train_count, "a training fold", err);
    if (status || w->inner_count == 0)
        return status;
    status = deal_inner(w, inner, err);
    if (!status)
        status = make_inner_jobs(w, inner, err);
    for (size_t g = 0; g < w->inner_count && !status; g++)
        status = vxs_check_trainable(cv->task, w->inner[g].train, w->inner[g].train_count,
                                     "the training part of an inner fold", err);
    return status;
}

static void end_fold(vxs_fold_work *w, size_t outputs)
{
    for (size_t g = 0; g < w->inner_count; g++) {
        if (w->inner)
            vxs_job_release(&w->inner[g], outputs);
        if (w->inner_train)
            free(w->inner_train[g]);
        if (w->inner_test)
            free(w->inner_test[g]);
    }
    free(w->train);
    free(w->test);
    free(w->inner);
    free((void *)w->inner_train);
    free((void *)w->inner_test);
    free(w->inner_scores);
    free(w->slope);
    free(w->offset);
}

/* ---- Jobs ------------------------------------------------------------------------------------ */

static void count_costs(vxs_cv *cv, size_t number, const vxs_job *job)
{
    cv->each[number].passes += job->passes;
    cv->each[number].seconds += job->seconds;
    cv->each[number].converged = cv->each[number].converged && job->converged;
}

/* The jobs of all folds at once; results go back to their folds. */
static vxs_status run_inner(const vxs_labour *labour, vxs_cv *cv, vxs_fold_work *works,
                            vxs_error *err)
{
    size_t each = (size_t)cv->settings.inner_folds, count = (cv->end - cv->first) * each;
    vxs_job *jobs = vxs_alloc(count, sizeof(*jobs), err);
    if (!jobs)
        return VXS_FAILED;
    for (size_t k = 0; k < count; k++) {
        jobs[k] = works[cv->first + k / each].inner[k % each];
        jobs[k].number = (cv->first + k / each) * (each + 1) + k % each;
    }
    vxs_labour choosing = *labour;
    choosing.doing = vxs_task_generates(cv->task) ? "asking inner folds" : "choosing lambda";
    vxs_status status = vxs_jobs_run(&choosing, jobs, count, err);
    for (size_t k = 0; k < count; k++) {
        works[cv->first + k / each].inner[k % each] = jobs[k];
        count_costs(cv, cv->first + k / each, &jobs[k]);
    }
    free(jobs);
    return status;
}

static vxs_status run_outer(const vxs_labour *labour, vxs_cv *cv, const vxs_fold_work *works,
                            vxs_job *jobs, vxs_error *err)
{
    size_t inner = (size_t)cv->settings.inner_folds;
    for (size_t k = cv->first; k < cv->end; k++) {
        size_t first = vxs_first_try(&cv->tries, works[k].chosen);
        jobs[k] = (vxs_job){ .number = k * (inner + 1) + inner,
                             .train = works[k].train,
                             .train_count = works[k].train_count,
                             .test = works[k].test,
                             .test_count = works[k].test_count,
                             .points = cv->tries.points + first,
                             .smooths = cv->tries.smooths ? cv->tries.smooths + first : NULL,
                             .point_count = works[k].chosen - first + 1,
                             .keep = !cv->settings.scores_only };
    }
    vxs_labour fitting = *labour;
    fitting.doing = "fitting";
    vxs_status status = vxs_jobs_run(&fitting, jobs + cv->first, cv->end - cv->first, err);
    for (size_t k = cv->first; k < cv->end; k++) {
        count_costs(cv, k, &jobs[k]);
        cv->each[k].fits = jobs[k].fits;
        cv->each[k].pattern = jobs[k].pattern;
        jobs[k].fits = NULL;
        jobs[k].pattern = NULL;
    }
    return status;
}

/* The sum of all features of each subject, in units of the largest. */
static vxs_status sum_features(const vxs_task *t, double **volume, vxs_error *err)
{
    const vxs_cohort *c = t->cohort;
    double largest = 0, *sums = vxs_alloc(c->n, sizeof(*sums), err);
    *volume = sums ? vxs_alloc(t->n, sizeof(**volume), err) : NULL;
    for (size_t j = 0; *volume && j < c->p; j++)
        vxs_cohort_add(c, j, 1, sums);
    for (size_t i = 0; *volume && i < t->n; i++) {
        (*volume)[i] = sums[t->rows[i]];
        largest = fmax(largest, fabs((*volume)[i]));
    }
    for (size_t i = 0; *volume && i < t->n && largest > 0; i++)
        (*volume)[i] /= largest;
    free(sums);
    return *volume ? VXS_OK : VXS_FAILED;
}

static vxs_status run_folds(const vxs_labour *labour, vxs_cv *cv, vxs_fold_work *works,
                            vxs_job *jobs, vxs_error *err)
{
    vxs_status status = VXS_OK;
    double *volume = NULL;
    for (size_t k = cv->first; k < cv->end && !status; k++)
        status = begin_fold(&works[k], cv, k, err);
    if (!status && cv->settings.inner_folds > 0)
        status = run_inner(labour, cv, works, err);
    for (size_t k = cv->first; k < cv->end && !status; k++)
        status = vxs_choose(&works[k], err);
    if (!status)
        status = run_outer(labour, cv, works, jobs, err);
    if (!status && !cv->settings.scores_only)
        status = sum_features(cv->task, &volume, err);
    for (size_t k = cv->first; k < cv->end && !status; k++)
        status = vxs_evaluate_fold(&works[k], &jobs[k], volume, err);
    free(volume);
    return status;
}

static vxs_labour labour_of(const vxs_context *context, const vxs_cv *cv)
{
    return (vxs_labour){ .context = context,
                         .task = cv->task,
                         .prefilter = cv->settings.prefilter,
                         .method = &cv->method };
}

static vxs_status open_ledger(const vxs_context *context, const vxs_cv *cv, vxs_ledger **ledger,
                              vxs_error *err)
{
    vxs_run run = vxs_cv_as_run(cv);
    size_t jobs = cv->fold_count * ((size_t)cv->settings.inner_folds + 1);
    *ledger = NULL;
    return cv->settings.scores_only
               ? VXS_OK
               : vxs_ledger_open(context, &cv->settings.pieces, &run, jobs, ledger, err);
}

static vxs_status run_all(const vxs_context *context, vxs_cv *cv, vxs_error *err)
{
    vxs_labour labour = labour_of(context, cv);
    size_t outputs = vxs_task_outputs(cv->task);
    vxs_fold_work *works = vxs_alloc(cv->fold_count, sizeof(*works), err);
    vxs_job *jobs = works ? vxs_alloc(cv->fold_count, sizeof(*jobs), err) : NULL;
    vxs_status status = jobs ? open_ledger(context, cv, &labour.ledger, err) : VXS_FAILED;
    if (!status)
        status = run_folds(&labour, cv, works, jobs, err);
    vxs_ledger_close(labour.ledger);
    for (size_t k = 0; k < cv->fold_count; k++) {
        if (works)
            end_fold(&works[k], outputs);
        if (jobs)
            vxs_job_release(&jobs[k], outputs);
    }
    free(works);
    free(jobs);
    return status;
}

/* ---- The whole ------------------------------------------------------------------------------- */

static vxs_status make_room(vxs_cv *cv, vxs_error *err)
{
    const vxs_task *t = cv->task;
    size_t rows = cv->folds.repeats * vxs_task_outputs(t);
    bool confounds = t->free_count > (t->settings.no_intercept ? 0 : 1);
    cv->fold_count = cv->folds.repeats * cv->folds.count;
    vxs_status status = vxs_chunk_share(cv->settings.pieces.chunk, cv->fold_count,
                                        vxs_run_kinds[VXS_RUN_CV].units, &cv->first, &cv->end, err);
    if (status)
        return status;
    cv->each = vxs_alloc(cv->fold_count, sizeof(*cv->each), err);
    cv->inner = vxs_alloc(cv->fold_count, t->n * sizeof(*cv->inner), err);
    cv->scores = vxs_alloc(rows, t->n * sizeof(*cv->scores), err);
    cv->losses = vxs_alloc(cv->fold_count, cv->tries.count * sizeof(*cv->losses), err);
    cv->sizes = vxs_alloc(cv->fold_count, cv->tries.count * sizeof(*cv->sizes), err);
    bool fine = cv->each && cv->inner && cv->scores && cv->losses && cv->sizes;
    for (int b = 0; b < VXS_BASELINES && fine && !cv->settings.scores_only; b++)
        if (b != VXS_BASELINE_CONFOUNDS || confounds) {
            cv->baselines[b] = vxs_alloc(rows, t->n * sizeof(*cv->scores), err);
            fine = cv->baselines[b] != NULL;
        }
    if (fine && t->class_count > 0) {
        cv->probabilities =
            vxs_alloc(cv->folds.repeats * t->class_count, t->n * sizeof(*cv->scores), err);
        fine = cv->probabilities != NULL;
    }
    return fine ? VXS_OK : VXS_FAILED;
}

static vxs_status find_unseen(vxs_cv *cv, vxs_error *err)
{
    size_t n = cv->task->n;
    vxs_status status = VXS_OK;
    cv->unseen.n = n;
    for (size_t r = 0; r < cv->folds.repeats; r++)
        for (size_t f = 0; f < cv->folds.count && !status; f++)
            status = vxs_covariates_unseen(cv->task, cv->folds.fold + r * n, f, &cv->unseen, err);
    return status;
}

vxs_status vxs_cv_begin(const vxs_task *task, const vxs_cv_settings *settings,
                        const vxs_method_settings *method, vxs_cv *cv, vxs_error *err)
{
    *cv = (vxs_cv){ .settings = *settings, .method = *method, .task = task };
    vxs_status status = check_settings(cv, err);
    if (!status)
        status = vxs_tries_make(task, method, settings->inner_folds > 0, &cv->tries, err);
    if (!status)
        status = vxs_folds_make(task, settings, &cv->folds, err);
    if (!status && cv->folds.by_folds && settings->inner_folds >= (int64_t)cv->folds.count)
        cv->settings.inner_folds = (int64_t)cv->folds.count - 1; /* groups that a fold leaves */
    if (!status)
        status = find_unseen(cv, err);
    return status ? status : make_room(cv, err);
}

vxs_status vxs_cv_finish(const vxs_context *context, vxs_cv *cv, vxs_error *err)
{
    bool part = vxs_chunk_is_part(cv->settings.pieces.chunk);
    cv->converged = true;
    for (size_t k = cv->first; k < cv->end; k++) {
        cv->passes += cv->each[k].passes;
        cv->converged = cv->converged && cv->each[k].converged;
    }
    return part ? VXS_OK : vxs_evaluate_all(context, cv, err);
}

vxs_status vxs_cv_run(const vxs_context *context, const vxs_task *task,
                      const vxs_cv_settings *settings, const vxs_method_settings *method,
                      vxs_cv *cv, vxs_error *err)
{
    double start = vxs_seconds();
    vxs_status status = vxs_cv_begin(task, settings, method, cv, err);
    if (!status)
        vxs_unseen_warn(context, &cv->unseen, vxs_task_id_of, task);
    if (!status)
        status = run_all(context, cv, err);
    if (!status)
        status = vxs_cv_finish(context, cv, err);
    if (status) {
        vxs_cv_release(cv);
        return status;
    }
    cv->seconds = vxs_seconds() - start;
    return VXS_OK;
}

static void hand_over(vxs_cv *cv, vxs_fold_work *w, vxs_selection *s)
{
    *s = (vxs_selection){ .tries = cv->tries,
                          .losses = cv->losses,
                          .sizes = cv->sizes,
                          .point = cv->each[0].point,
                          .smooth = cv->each[0].smooth,
                          .slope = w->slope,
                          .offset = w->offset };
    cv->tries = (vxs_tries){ .count = 0 };
    cv->losses = cv->sizes = w->slope = w->offset = NULL;
    if (cv->task->class_count > 0)
        return;
    free(s->slope);
    free(s->offset);
    s->slope = s->offset = NULL;
}

/* One fold in which everybody is learned from, and nobody kept back. */
vxs_status vxs_cv_choose(const vxs_context *context, const vxs_task *task,
                         const vxs_cv_settings *settings, const vxs_method_settings *method,
                         bool path, vxs_selection *selection, vxs_error *err)
{
    vxs_cv cv = { .settings = *settings, .method = *method, .task = task };
    vxs_fold_work work = { .cv = NULL };
    vxs_labour labour = labour_of(context, &cv);
    cv.settings.scores_only = true;
    vxs_status status = check_settings(&cv, err);
    if (!status)
        status = vxs_tries_make(task, method, path, &cv.tries, err);
    if (!status)
        status = vxs_folds_group(task, settings->group, &cv.folds, err);
    cv.folds.n = task->n;
    cv.folds.repeats = cv.folds.count = 1;
    cv.folds.fold = status ? NULL : vxs_alloc(task->n, sizeof(*cv.folds.fold), err);
    for (size_t i = 0; cv.folds.fold && i < task->n; i++)
        cv.folds.fold[i] = 1; /* not 0, the only one */
    if (!status)
        status = cv.folds.fold ? make_room(&cv, err) : VXS_FAILED;
    if (!status)
        status = begin_fold(&work, &cv, 0, err);
    if (!status)
        status = run_inner(&labour, &cv, &work, err);
    if (!status)
        status = vxs_choose(&work, err);
    *selection = (vxs_selection){ .losses = NULL };
    if (!status)
        hand_over(&cv, &work, selection);
    end_fold(&work, vxs_task_outputs(task));
    vxs_cv_release(&cv);
    return status;
}
