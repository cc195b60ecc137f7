/* cv.c - nested cross-validation: inner folds of the training subjects choose lambda, and the model
 * fitted with it is evaluated on the held-out subjects of the outer fold. */
#include "evaluate/cv.h"
#include "evaluate/chunks/chunk.h"
#include "evaluate/within.h"
#include "model/covariates.h"
#include "model/estimators.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#define AT(member) offsetof(vxs_cv_settings, member)

const char *const vxs_select_names[] = { "best", "1se", NULL };

static const char *const folds_words[] = { "group", NULL };

const vxs_param vxs_cv_params[] = {
    { .name = "folds",
      .value = "K",
      .type = VXS_PARAM_WHOLE,
      .offset = AT(folds),
      .initial = VXS_FOLDS_OPEN,
      .min = 2,
      .max = 100000,
      .choices = folds_words,
      .head = VXS_HEAD_EVALUATION,
      .usual = true,
      .help = "number of outer folds, or group: leave one --group out; "
              "default 5, or the number of groups if smaller",
      .more = "Folds are stratified by class or score." },
    VXS_WHOLE_ROW("repeats", "N", AT(repeats), 1, 1, 1000,
                  "repetitions of the cross-validation with other folds",
                  .head = VXS_HEAD_EVALUATION),
    VXS_TEXT_ROW("group", "COLUMN", AT(group),
                 "column whose values stay in one fold, such as site or family; persons always do",
                 .head = VXS_HEAD_EVALUATION, .usual = true, .column = true,
                 .more =
                     "Groups that share a person are joined. A column that only divides persons, "
                     "such as session, is refused."),
    VXS_TEXT_ROW("folds-from", "WHERE", AT(folds_from),
                 "given folds: a column, one fold per value (leave one site out), or a table such "
                 "as folds.tsv",
                 .head = VXS_HEAD_EVALUATION, .column = true,
                 .more = "A table has the columns participant_id, fold and perhaps repeat. With a "
                         "column, subjects of one value stay together in inner folds too."),
    VXS_WHOLE_ROW("inner-folds", "K", AT(inner_folds), VXS_FOLDS_OPEN, 0, 1000,
                  "number of inner folds, which choose lambda, C, --iterations or --nselect; 0: "
                  "none, --lambda-ratio (then 0.1) or the given values are used; default 5",
                  .head = VXS_HEAD_EVALUATION,
                  .more = "With groups: as many as each outer fold leaves, if these are fewer."),
    VXS_CHOICE_ROW("choose-rule", "RULE", AT(select), 0, vxs_select_names,
                   "best: minimum inner loss; 1se: one-standard-error rule",
                   .head = VXS_HEAD_EVALUATION,
                   .more = "The loss is the mean of held-out subjects, averaged over inner folds. "
                           "1se takes the largest --laplacian (smallest --gamma), then the largest "
                           "lambda (fewest iterations, smallest C) within one standard error over "
                           "inner folds."),
    VXS_TEXT_ROW("choose-by", "METRIC", AT(choose_by),
                 "metric of the choice by inner folds, such as auc; default loss",
                 .head = VXS_HEAD_EVALUATION,
                 .more = "Scores are measured within inner folds where the metric compares "
                         "subjects, else over all. It costs whole paths; the loss, which also "
                         "says how sure a model is, usually chooses as well."),
    VXS_TEXT_ROW("decision", "RULE", AT(decision),
                 "score above which a subject is positive, by inner folds: f1, balanced, sens:0.9, "
                 "spec:0.9; default own: 0",
                 .head = VXS_HEAD_EVALUATION,
                 .more = "f1 and balanced: where F1 "
                         "or the balanced accuracy of held-out subjects "
                         "of inner folds is largest; sens:0.9: the largest at which 90 % of the "
                         "positive ones are found, spec:0.9 the smallest at which 90 % of the "
                         "others are not. Scores are given from it, so that those above 0 are "
                         "positive; probabilities stay, and baselines keep their own threshold."),
    VXS_TEXT_ROW("prefilter", "RULE", AT(prefilter),
                 "select features in each training fold first: ttest:P keeps "
                 "those with p < P, variance:FRACTION those that vary most",
                 .head = VXS_HEAD_MODEL,
                 .more = "ttest:0.05 keeps features whose correlation with the target has p < "
                         "0.05; variance:0.5 keeps the half with the largest variance. Both are "
                         "weighted by --subject-weights; a p-value counts each subject once."),
    VXS_FLAG_ROW("no-dense-baseline", AT(no_dense),
                 "do not compare with a linear model that weighs all features",
                 .head = VXS_HEAD_EVALUATION,
                 .more = "That is ridge regression for scores, l2 logistic regression for classes, "
                         "with the covariates, at the best of 13 values of lambda by the same "
                         "inner folds. It is left out where it would take long, which is said."),
    VXS_WHOLE_ROW("bootstraps", "N", AT(bootstraps), 1000, 100, 100000,
                  "bootstrap samples for 95 % confidence intervals", .head = VXS_HEAD_EVALUATION),
    VXS_WHOLE_ROW("seed", "N", AT(seed), 1, 0, 1e15, "seed of the random numbers",
                  .head = VXS_HEAD_EVALUATION),
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
    vxs_tuning_grid_release(&cv->tuning);
    free(cv->losses);
    free(cv->sizes);
    free(cv->scores);
    free(cv->probabilities);
    for (int b = 0; b < VXS_BASELINES; b++)
        free(cv->baselines[b]);
    vxs_class_scores_release(&cv->classes);
    vxs_within_release(&cv->within);
    vxs_unseen_release(&cv->unseen);
    for (int k = 0; k < 1 + VXS_BASELINES; k++)
        free(cv->aligned[k]);
    free(cv->inner);
    *cv = (vxs_cv){ .fold_count = 0 };
}

/* ---- Settings -------------------------------------------------------------------------------- */

static vxs_status check_settings(const vxs_cv *cv, vxs_error *err)
{
    const vxs_cv_settings *s = &cv->settings;
    vxs_status status = vxs_check_ratio(cv->task, &cv->method, "fold", s->inner_folds != 0, err);
    if (status)
        return status;
    if (s->inner_folds == 1)
        return vxs_fail(err, VXS_MISUSE, "'--inner-folds' expects 0, or 2 and more");
    status = vxs_choosing_check(cv, err);
    if (status)
        return status;
    if (s->prefilter && (vxs_task_method(cv->task)->graph != VXS_GRAPH_NONE))
        return vxs_fail(err, VXS_MISUSE,
                        "'--prefilter' does not go with method '%s': it would tear its graph apart",
                        vxs_task_method(cv->task)->name);
    if (s->prefilter && vxs_reads_no_feature(&s->task, &cv->method))
        return vxs_fail(
            err, VXS_MISUSE,
            "'--prefilter' is for features, which '--kernel precomputed' does not read");
    if (s->prefilter && s->task.bags)
        return vxs_fail(err, VXS_MISUSE,
                        "'--prefilter' is for features; with '--bags' columns are instances");
    return s->prefilter ? vxs_prefilter_check(s->prefilter, err) : VXS_OK;
}

/* ---- Jobs ------------------------------------------------------------------------------------ */

static void count_costs(vxs_cv *cv, size_t number, const vxs_job *job)
{
    cv->each[number].passes += job->passes;
    cv->each[number].seconds += job->seconds;
    cv->each[number].converged = cv->each[number].converged && job->converged;
}

static vxs_status run_outer(const vxs_job_common *common, vxs_cv *cv, const vxs_fold_work *works,
                            vxs_job *jobs, vxs_error *err)
{
    size_t inner = (size_t)cv->settings.inner_folds;
    for (size_t k = cv->first; k < cv->end; k++) {
        size_t first = vxs_first_of_path(&cv->tuning, works[k].chosen);
        jobs[k] = (vxs_job){ .number = k * (inner + 1) + inner,
                             .train = works[k].train,
                             .train_count = works[k].train_count,
                             .test = works[k].test,
                             .test_count = works[k].test_count,
                             .values = cv->tuning.values + first,
                             .across = cv->tuning.across ? cv->tuning.across + first : NULL,
                             .value_count = works[k].chosen - first + 1,
                             .keep = !cv->settings.scores_only };
    }
    vxs_job_common fitting = *common;
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
static vxs_status sum_features(const vxs_task *t, double **global_signal, vxs_error *err)
{
    const vxs_cohort *c = t->cohort;
    double largest = 0, *sums = vxs_alloc(c->n, sizeof(*sums), err);
    *global_signal = sums ? vxs_alloc(t->n, sizeof(**global_signal), err) : NULL;
    for (size_t j = 0; *global_signal && j < c->p; j++)
        vxs_cohort_add(c, j, 1, sums);
    for (size_t i = 0; *global_signal && i < t->n; i++) {
        (*global_signal)[i] = sums[t->rows[i]];
        largest = fmax(largest, fabs((*global_signal)[i]));
    }
    for (size_t i = 0; *global_signal && i < t->n && largest > 0; i++)
        (*global_signal)[i] /= largest;
    free(sums);
    return *global_signal ? VXS_OK : VXS_FAILED;
}

static vxs_status run_folds(const vxs_job_common *common, vxs_cv *cv, vxs_fold_work *works,
                            vxs_job *jobs, vxs_error *err)
{
    vxs_status status = VXS_OK;
    double *global_signal = NULL;
    for (size_t k = cv->first; k < cv->end && !status; k++)
        status = vxs_fold_begin(&works[k], cv, k, err);
    for (size_t k = cv->first; k < cv->end && !status; k++)
        status = vxs_fold_check(&works[k], err);
    if (!status && cv->settings.inner_folds > 0)
        status = vxs_inner_run(common, cv, works, err);
    for (size_t k = cv->first; k < cv->end && !status; k++)
        status = vxs_choose(&works[k], err);
    if (!status)
        status = run_outer(common, cv, works, jobs, err);
    if (!status && !cv->settings.scores_only)
        status = sum_features(cv->task, &global_signal, err);
    if (!status)
        status = vxs_dense_baseline(common->context, cv, works, err);
    for (size_t k = cv->first; k < cv->end && !status; k++)
        status = vxs_evaluate_fold(&works[k], &jobs[k], global_signal, err);
    free(global_signal);
    return status;
}

static vxs_job_common labour_of(const vxs_context *context, const vxs_cv *cv)
{
    return (vxs_job_common){ .context = context,
                             .task = cv->task,
                             .prefilter = cv->settings.prefilter,
                             .method = &cv->method };
}

#define MANY_FITS 100 /* more than 10 folds with 9 inner ones are said before they are fitted */

static vxs_status open_ledger(const vxs_context *context, const vxs_cv *cv,
                              vxs_run_checkpoint **checkpoint, vxs_error *err)
{
    vxs_run run = vxs_cv_as_run(cv);
    size_t fits = cv->fold_count * ((size_t)cv->settings.inner_folds + 1);
    size_t jobs = fits * (cv->settings.inner_folds > 0 ? VXS_INNER_ROUNDS : 1);
    *checkpoint = NULL;
    if (!cv->settings.scores_only && fits > MANY_FITS)
        vxs_log(context, VXS_LOG_INFO, "%zu folds with %lld inner folds each: %zu fits%s",
                cv->fold_count, (long long)cv->settings.inner_folds, fits,
                cv->settings.inner_folds > 0 ? " or paths" : "");
    return cv->settings.scores_only ? VXS_OK
                                    : vxs_run_checkpoint_open(context, &cv->settings.chunking, &run,
                                                              jobs, checkpoint, err);
}

static vxs_status run_all(const vxs_context *context, vxs_cv *cv, vxs_error *err)
{
    vxs_job_common common = labour_of(context, cv);
    size_t outputs = vxs_task_outputs(cv->task);
    vxs_fold_work *works = vxs_alloc(cv->fold_count, sizeof(*works), err);
    vxs_job *jobs = works ? vxs_alloc(cv->fold_count, sizeof(*jobs), err) : NULL;
    vxs_status status = jobs ? open_ledger(context, cv, &common.checkpoint, err) : VXS_FAILED;
    if (!status)
        status = run_folds(&common, cv, works, jobs, err);
    vxs_run_checkpoint_close(common.checkpoint);
    for (size_t k = 0; k < cv->fold_count; k++) {
        if (works)
            vxs_fold_end(&works[k], outputs);
        if (jobs)
            vxs_job_release(&jobs[k], outputs);
    }
    free(works);
    free(jobs);
    return status;
}

/* ---- The whole ------------------------------------------------------------------------------- */

static vxs_status allocate(vxs_cv *cv, vxs_error *err)
{
    const vxs_task *t = cv->task;
    size_t rows = cv->folds.repeats * vxs_task_score_count(t);
    bool confounds = t->covariate_count > (t->settings.no_intercept ? 0 : 1);
    cv->fold_count = cv->folds.repeats * cv->folds.count;
    vxs_status status = vxs_chunk_share(cv->settings.chunking.chunk, cv->fold_count,
                                        vxs_run_kinds[VXS_RUN_CV].units, &cv->first, &cv->end, err);
    if (status)
        return status;
    cv->each = vxs_alloc(cv->fold_count, sizeof(*cv->each), err);
    cv->inner = vxs_alloc(cv->fold_count, t->n * sizeof(*cv->inner), err);
    cv->scores = vxs_alloc(rows, t->n * sizeof(*cv->scores), err);
    cv->losses = vxs_alloc(cv->fold_count, cv->tuning.count * sizeof(*cv->losses), err);
    cv->sizes = vxs_alloc(cv->fold_count, cv->tuning.count * sizeof(*cv->sizes), err);
    bool fine = cv->each && cv->inner && cv->scores && cv->losses && cv->sizes;
    bool dense = !cv->settings.scores_only && !cv->settings.no_dense;
    cv->dense_left_out = dense ? vxs_dense_left_out(cv) : NULL;
    for (int b = 0; b < VXS_BASELINES && fine && !cv->settings.scores_only; b++)
        if ((b != VXS_BASELINE_COVARIATES || confounds) &&
            (b != VXS_BASELINE_DENSE || (dense && !cv->dense_left_out))) {
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

static vxs_status make_folds(vxs_cv *cv, vxs_error *err)
{
    vxs_status status = vxs_cv_settle(NULL, cv->task, &cv->settings, err);
    return status ? status : vxs_folds_make(cv->task, &cv->settings, &cv->folds, err);
}

/* Ends with the first fold that is not trainable; refuses it where that is not asked. */
static vxs_status rehearse(vxs_cv *cv, bool *trainable, vxs_error *err)
{
    vxs_status status = check_settings(cv, err);
    bool fine = true;
    if (!status)
        status = make_folds(cv, err);
    if (!status)
        status = allocate(cv, err);
    for (size_t k = 0; k < cv->fold_count && fine && !status; k++) {
        vxs_fold_work work;
        status = vxs_fold_begin(&work, cv, k, err);
        if (!status && !trainable)
            status = vxs_fold_check(&work, err);
        fine = !status && vxs_fold_is_trainable(&work);
        vxs_fold_end(&work, 0);
    }
    if (trainable)
        *trainable = fine;
    return status;
}

vxs_status vxs_cv_rehearse(const vxs_task *task, const vxs_cv_settings *settings,
                           const vxs_method_settings *method, bool *trainable, vxs_error *err)
{
    vxs_cv cv = { .settings = *settings, .method = *method, .task = task };
    vxs_choosing_default(&cv);
    cv.settings.scores_only = true;
    cv.settings.chunking.chunk = (vxs_chunk){ .count = 0 };
    vxs_status status = rehearse(&cv, trainable, err);
    vxs_cv_release(&cv);
    return status;
}

vxs_status vxs_cv_begin(const vxs_task *task, const vxs_cv_settings *settings,
                        const vxs_method_settings *method, vxs_cv *cv, vxs_error *err)
{
    *cv = (vxs_cv){ .settings = *settings, .method = *method, .task = task };
    vxs_choosing_default(cv);
    vxs_status status = check_settings(cv, err);
    if (!status)
        status = vxs_tuning_grid_make(task, method, settings->inner_folds != 0, &cv->tuning, err);
    if (!status)
        status = make_folds(cv, err);
    if (!status)
        status = find_unseen(cv, err);
    return status ? status : allocate(cv, err);
}

vxs_status vxs_cv_finish(const vxs_context *context, vxs_cv *cv, vxs_error *err)
{
    bool part = vxs_chunk_is_part(cv->settings.chunking.chunk);
    cv->converged = true;
    for (size_t k = cv->first; k < cv->end; k++) {
        cv->passes += cv->each[k].passes;
        cv->converged = cv->converged && cv->each[k].converged;
    }
    if (part)
        return VXS_OK;
    vxs_dense_finish(cv);
    if (cv->dense_left_out)
        vxs_log(context, VXS_LOG_INFO, "no dense linear baseline: %s", cv->dense_left_out);
    return vxs_evaluate_all(context, cv, err);
}

vxs_status vxs_warn_uncalibrated(const vxs_context *context, vxs_task *t,
                                 const vxs_cv_settings *settings, vxs_error *err)
{
    if (settings->inner_folds != 0 || t->class_count == 0 || vxs_task_has_logits(t))
        return VXS_OK;
    return vxs_task_warn(context, t, err,
                         "without inner folds the scores of method '%s' are not calibrated: "
                         "probabilities, Brier score and calibration slope are not those of a "
                         "fitted model",
                         vxs_task_method(t)->name);
}

vxs_status vxs_cv_run(const vxs_context *context, const vxs_task *task,
                      const vxs_cv_settings *settings, const vxs_method_settings *method,
                      vxs_cv *cv, vxs_error *err)
{
    double start = vxs_seconds();
    vxs_status status = vxs_cv_begin(task, settings, method, cv, err);
    if (!status && vxs_chunk_is_part(settings->chunking.chunk)) /* folds of other chunks as well */
        status = vxs_cv_rehearse(task, settings, method, NULL, err);
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
    *s = (vxs_selection){ .tuning = cv->tuning,
                          .losses = cv->losses,
                          .sizes = cv->sizes,
                          .value = cv->each[0].value,
                          .across = cv->each[0].across,
                          .slope = w->slope,
                          .offset = w->offset,
                          .threshold = w->decision,
                          .choose_by = cv->settings.choose_by,
                          .decision = cv->settings.decision };
    s->offset[0] += s->slope[0] * s->threshold; /* of scores measured from there */
    cv->tuning = (vxs_tuning_grid){ .count = 0 };
    cv->losses = cv->sizes = w->slope = w->offset = NULL;
    if (cv->task->class_count > 0)
        return;
    free(s->slope);
    free(s->offset);
    s->slope = s->offset = NULL;
}

/* One fold, which holds no subject out. */
static vxs_status keep_nobody_back(const vxs_context *context, vxs_cv *cv, vxs_error *err)
{
    vxs_folds *f = &cv->folds;
    size_t n = cv->task->n;
    vxs_status status = vxs_folds_group(cv->task, cv->settings.group, f, err);
    f->n = n;
    f->repeats = f->count = 1;
    f->fold = status ? NULL : vxs_alloc(n, sizeof(*f->fold), err);
    for (size_t i = 0; f->fold && i < n; i++)
        f->fold[i] = 1; /* not 0, the only one */
    if (!status && !f->fold)
        return VXS_FAILED;
    return status ? status : vxs_inner_settle(context, f, &cv->settings, err);
}

/* All subjects are training subjects. */
vxs_status vxs_cv_choose(const vxs_context *context, const vxs_task *task,
                         const vxs_cv_settings *settings, const vxs_method_settings *method,
                         bool path, vxs_selection *selection, vxs_error *err)
{
    vxs_cv cv = { .settings = *settings, .method = *method, .task = task };
    vxs_fold_work work = { .cv = NULL };
    vxs_job_common common = labour_of(context, &cv);
    vxs_choosing_default(&cv);
    cv.settings.scores_only = true;
    vxs_status status = check_settings(&cv, err);
    if (!status)
        status = vxs_tuning_grid_make(task, method, path, &cv.tuning, err);
    if (!status)
        status = keep_nobody_back(context, &cv, err);
    if (!status)
        status = allocate(&cv, err);
    if (!status)
        status = vxs_fold_begin(&work, &cv, 0, err);
    if (!status)
        status = vxs_fold_check(&work, err);
    if (!status)
        status = vxs_inner_run(&common, &cv, &work, err);
    if (!status)
        status = vxs_choose(&work, err);
    *selection = (vxs_selection){ .losses = NULL };
    if (!status)
        hand_over(&cv, &work, selection);
    vxs_fold_end(&work, vxs_task_outputs(task));
    vxs_cv_release(&cv);
    return status;
}
