/* jobs.c - paths of fits on training subjects with predictions for test subjects, in parallel.
 *
 * A job runs on one thread from end to end, so that its result does not depend on how many there
 * are; it has a design of its own over the same data. */
#include "evaluate/chunks/chunk.h"
#include "model/covariates.h"
#include "model/estimators.h"
#include "voxsift/internal/machine.h"

#include <math.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>

typedef struct {
    vxs_context context; /* of one thread, silent */
    const vxs_job_common *common;
    const vxs_task *whole;
    vxs_job *job;
    vxs_task part;
    double *columns; /* covariate_count x test_count: unpenalized ones of the test subjects */
    bool *groups;    /* outputs x groups: those selected; with a limit of groups */
} runner;

void vxs_job_release(vxs_job *job, size_t outputs)
{
    for (size_t k = 0; job->fits && k < outputs; k++)
        vxs_solution_release(&job->fits[k]);
    free(job->fits);
    free(job->scores);
    free(job->sizes);
    free(job->pattern);
    free(job->selected);
    free(job->positive);
    job->fits = NULL;
    job->scores = job->sizes = job->pattern = NULL;
    job->selected = NULL;
    job->positive = NULL;
}

/* ---- Predictions ----------------------------------------------------------------------------- */

/* Scores of the test subjects. */
static vxs_status predict(const runner *r, const vxs_output_fit *o, double *scores, vxs_error *err)
{
    const vxs_task *t = r->whole;
    size_t count = r->job->test_count;
    size_t *rows = vxs_alloc(count, sizeof(*rows), err);
    const vxs_scored_rows tested = { t->cohort, rows, r->columns, count, count };
    for (size_t i = 0; i < count && rows; i++)
        rows[i] = t->rows[r->job->test[i]];
    vxs_status status =
        rows ? vxs_output_score(o, &tested, scores, t->covariate_count, err) : VXS_FAILED;
    free(rows);
    return status;
}

/* What the features add to the scores of the training subjects, without covariates. */
static vxs_status score_training(const runner *r, const vxs_output_fit *o, double *scores,
                                 vxs_error *err)
{
    const vxs_task *t = &r->part;
    const vxs_scored_rows training = { t->cohort, t->rows, t->covariates, t->n, t->n };
    return vxs_output_score(o, &training, scores, 0, err);
}

/* What the features' part s of the score goes with: cov(x, s) / var(s), of features as they stand;
 * a subject of weight 2 counts twice. */
static vxs_status find_pattern(const runner *r, const vxs_output_fit *o, double *pattern,
                               vxs_error *err)
{
    const vxs_task *t = &r->part;
    double *v = vxs_alloc(t->n, sizeof(*v), err), mean = 0, square = 0;
    vxs_status status = v ? score_training(r, o, v, err) : VXS_FAILED;
    if (!status) /* a machine of kernels has not read the columns */
        status = vxs_design_measure(t->design, err);
    if (status) {
        free(v);
        return status;
    }
    double total = vxs_task_total(t);
    for (size_t i = 0; i < t->n; i++)
        mean += vxs_task_weight(t, i) * v[i] / total;
    for (size_t i = 0; i < t->n; i++) {
        v[i] -= mean;
        square += vxs_task_weight(t, i) * v[i] * v[i];
    }
    for (size_t i = 0; i < t->n; i++)
        v[i] = square > 0 ? vxs_task_weight(t, i) * v[i] / square : 0;
    const double *factor = vxs_view_factor(t->design);
    vxs_design_scan(t->design, v, 1, pattern);
    for (size_t j = 0; j < t->cohort->p; j++)
        pattern[j] = factor[j] > 0 ? pattern[j] / factor[j] : 0;
    free(v);
    return VXS_OK;
}

/* ---- One job --------------------------------------------------------------------------------- */

/* Where nothing varies, or the confounds explain it all, the model is the empty one. */
static vxs_path_point point_of(const runner *r, const vxs_solver *solver, double share)
{
    vxs_path_kind by = vxs_method_path(vxs_task_method(r->whole), r->common->method);
    bool empty = vxs_solver_is_empty(solver);
    double value = by == VXS_BY_LAMBDA && !empty ? vxs_solver_lambda_max(solver) * share : share;
    return (vxs_path_point){ by, empty ? 1 : value };
}

/* Adds members of a set to those that were selected, unless that would be too many; returns how
 * many there are or would be. */
static size_t add_selected(bool *selected, size_t size, const size_t *set, size_t count,
                           size_t limit)
{
    size_t sum = vxs_count_selected(selected, size);
    for (size_t k = 0; k < count; k++)
        sum += !selected[set[k]];
    for (size_t k = 0; k < count && sum <= limit; k++)
        selected[set[k]] = true;
    return sum;
}

/* Adds the fit's features to those that were selected, unless these or their groups would be too
 * many; returns whether there is room for more. */
static bool add_fit(const runner *r, const vxs_solution *fit, size_t output)
{
    size_t p = r->whole->cohort->p, groups = r->whole->groups.count, limit = r->job->limit;
    const vxs_selected *s = fit->selected;
    bool *selected = r->job->selected + output * p;
    if (!r->groups)
        return add_selected(selected, p, fit->index, fit->count, limit) < limit;
    size_t count = add_selected(r->groups + output * groups, groups, s ? s->block : NULL,
                                s ? s->count : 0, limit);
    if (count <= limit)
        add_selected(selected, p, fit->index, fit->count, p);
    return count < limit;
}

/* The same, and the signs of the weights of those that are new. */
static bool has_room(const runner *r, const vxs_solution *fit, size_t output)
{
    size_t p = r->whole->cohort->p;
    const bool *selected = r->job->selected + output * p;
    bool *positive = r->job->positive + output * p;
    for (size_t k = 0; k < fit->count; k++)
        if (!selected[fit->index[k]])
            positive[fit->index[k]] = fit->weight[k] > 0;
    bool room = add_fit(r, fit, output);
    for (size_t k = 0; k < fit->count; k++)
        positive[fit->index[k]] = positive[fit->index[k]] && selected[fit->index[k]];
    return room;
}

/* Predicts by a fit, which is kept if it is the last. */
static vxs_status use_fit(runner *r, vxs_output_fit *o, size_t output, size_t k, vxs_error *err)
{
    vxs_job *job = r->job;
    double *scores = job->scores + (output * job->value_count + k) * job->test_count;
    if (job->test_count == 0 && !job->keep)
        return VXS_OK;
    double passes = o->fit.certificate.passes; /* those of the solver are counted */
    vxs_status status = o->encoder->decode(&r->part, o, err);
    job->passes += o->fit.certificate.passes - passes;
    passes = o->fit.certificate.passes;
    if (!status)
        status = predict(r, o, scores, err);
    if (status || !job->keep || k + 1 < job->value_count)
        return status;
    status = find_pattern(r, o, job->pattern + output * r->whole->cohort->p, err);
    if (!status && o->encoder->map)
        status = o->encoder->map(&r->part, o, err);
    job->passes += o->fit.certificate.passes - passes;
    job->fits[output] = o->fit;
    o->fit = (vxs_solution){ .count = 0 };
    return status;
}

/* Of one output; the fit is taken over. */
static vxs_status use_output(runner *r, const vxs_solution *fit, size_t output, size_t k,
                             bool *more, vxs_error *err)
{
    vxs_output_fit o = { .encoder = vxs_task_encoder(&r->part), .fit = *fit };
    bool room = r->job->limit == 0 || has_room(r, &o.fit, output);
    *more = *more && room;
    vxs_status status = use_fit(r, &o, output, k, err);
    vxs_output_release(&o);
    return status;
}

/* Of all outputs, which have one answer. */
static vxs_status use_joint(runner *r, vxs_solution *joint, size_t k, bool *more, vxs_error *err)
{
    vxs_job *job = r->job;
    size_t outputs = vxs_task_outputs(r->whole), step = job->value_count * job->test_count;
    vxs_status status = VXS_OK;
    for (size_t o = 0; o < outputs && !status; o++) {
        vxs_solution part;
        status = vxs_joint_split(&r->part, joint, o, &part, err);
        if (!status)
            status = use_output(r, &part, o, k, more, err);
    }
    vxs_solution_release(joint);
    if (!status)
        vxs_joint_odds(job->scores + k * job->test_count, outputs, job->test_count, step);
    return status;
}

static vxs_status fit_point(runner *r, vxs_solver *solver, size_t output, size_t k, bool *more,
                            vxs_error *err)
{
    vxs_job *job = r->job;
    vxs_solution fit;
    vxs_status status = vxs_solver_fit_at(solver, point_of(r, solver, job->values[k]), &fit, err);
    if (status)
        return status;
    job->passes += fit.certificate.passes;
    job->seconds += fit.certificate.seconds;
    job->converged = job->converged && fit.certificate.converged;
    job->sizes[k] += (double)fit.certificate.nonzero / (double)vxs_task_outputs(r->whole);
    return r->whole->loss->joint ? use_joint(r, &fit, k, more, err)
                                 : use_output(r, &fit, output, k, more, err);
}

/* Another smoothness or kernel is another problem, on the same kernel scores or products. */
static vxs_status begin_path(runner *r, size_t number, size_t k, vxs_solver **solver,
                             vxs_error *err)
{
    vxs_problem problem;
    vxs_method_settings method = *r->common->method;
    if (r->job->across)
        vxs_axis_set(vxs_axis_of(&r->whole->settings, &method), r->job->across[k], &method);
    vxs_solver_free(*solver);
    *solver = NULL;
    vxs_status status = vxs_task_problem(&r->context, &r->part, number, &method, &problem, err);
    if (!status)
        status =
            vxs_solver_new(&r->context, vxs_task_method(r->whole), &problem, &method, solver, err);
    if (!status)
        vxs_task_tell_weights(r->common->context, r->whole);
    return status;
}

static vxs_status fit_problem(runner *r, size_t output, vxs_error *err)
{
    vxs_solver *solver = NULL;
    bool more = true;
    const size_t number = vxs_task_problems(&r->part) > 1 ? output : 0;
    const char *prefilter = r->common->prefilter;
    const double *across = r->job->across;
    vxs_status status =
        prefilter ? vxs_prefilter(&r->context, r->whole, &r->part, prefilter, number, err) : VXS_OK;
    if (status)
        return status;
    size_t limit = r->job->value_limit > 0 ? r->job->value_limit : r->job->value_count;
    for (size_t k = r->job->begin; k < limit && !status && more; k++) {
        if (k == r->job->begin || (across && across[k] != across[k - 1]))
            status = begin_path(r, number, k, &solver, err);
        if (!status)
            status = fit_point(r, solver, output, k, &more, err);
        r->job->end = k + 1;
        if (!status && r->job->is_done)
            more = more && !r->job->is_done(r->job->judge, r->job, k + 1);
    }
    vxs_solver_free(solver);
    return status;
}

static vxs_status allocate(runner *r, vxs_error *err)
{
    vxs_job *job = r->job;
    size_t outputs = vxs_task_outputs(r->whole), p = r->whole->cohort->p;
    job->converged = true;
    if (!job->scores)
        job->scores =
            vxs_alloc(outputs * job->value_count, job->test_count * sizeof(*job->scores), err);
    if (!job->sizes)
        job->sizes = vxs_alloc(job->value_count, sizeof(*job->sizes), err);
    r->columns = vxs_alloc(r->whole->covariate_count, job->test_count * sizeof(*r->columns), err);
    job->selected = job->limit > 0 ? vxs_alloc(outputs, p * sizeof(*job->selected), err) : NULL;
    job->positive = job->selected ? vxs_alloc(outputs, p * sizeof(*job->positive), err) : NULL;
    if (!job->scores || !job->sizes || !r->columns || (job->limit > 0 && !job->positive))
        return VXS_FAILED;
    if (job->limit > 0 && job->limit_groups) {
        r->groups = vxs_alloc(outputs, r->whole->groups.count * sizeof(*r->groups), err);
        if (!r->groups)
            return VXS_FAILED;
    }
    if (!job->keep)
        return VXS_OK;
    job->fits = vxs_alloc(outputs, sizeof(*job->fits), err);
    job->pattern = vxs_alloc(outputs, p * sizeof(*job->pattern), err);
    return job->fits && job->pattern ? VXS_OK : VXS_FAILED;
}

/* The part on which a problem is fitted: that of all training subjects, or of a pair of classes. */
static vxs_status make_part(runner *r, size_t number, vxs_error *err)
{
    const vxs_job *job = r->job;
    bool pairs = vxs_task_has_pairs(r->whole);
    if (number > 0 && !pairs)
        return VXS_OK;
    vxs_task_release(&r->part);
    return pairs
               ? vxs_task_pair(&r->context, r->whole, job->train, job->train_count, number,
                               &r->part, err)
               : vxs_task_part(&r->context, r->whole, job->train, job->train_count, &r->part, err);
}

static vxs_status compute(runner *r, vxs_error *err)
{
    const vxs_job *job = r->job;
    vxs_status status = vxs_covariates_of(r->whole, job->train, job->train_count, job->test,
                                          job->test_count, r->columns, err);
    for (size_t k = 0; k < vxs_task_problems(r->whole) && !status; k++) {
        status = make_part(r, k, err);
        if (!status)
            status = fit_problem(r, k, err);
    }
    vxs_task_release(&r->part);
    return status;
}

static vxs_status run_job(runner *r, vxs_error *err)
{
    vxs_run_checkpoint *checkpoint = r->common->checkpoint;
    vxs_packed_job packed = { r->whole, r->job };
    bool known = false;
    vxs_status status = allocate(r, err);
    if (!status)
        status = vxs_run_checkpoint_find(checkpoint, r->job->number, vxs_serialize_job, &packed,
                                         &known, err);
    if (!status && !known)
        status = compute(r, err);
    if (!status && !known)
        status =
            vxs_run_checkpoint_add(checkpoint, r->job->number, vxs_serialize_job, &packed, err);
    free(r->columns);
    free(r->groups);
    return status;
}

/* ---- All jobs --------------------------------------------------------------------------------
 *
 * Data that stays in cache is read by every job for itself. Larger data is read for all of them at
 * once: their whole scans wait for each other. */

#define SOLVERS 8              /* at a time, whatever the number of threads */
#define STATE   512            /* bytes a feature that a solver on a graph keeps, about */
double vxs_jobs_cached = 64e6; /* bytes; tests make it 0 */

typedef struct {
    const vxs_job_common *common;
    vxs_task task; /* as it was given, but for the batcher */
    vxs_job *jobs;
    size_t count, next;
    int stop;
    pthread_mutex_t lock;
    vxs_progress progress;
    vxs_status status;
    vxs_error *err;
} queue;

/* Takes jobs until there are none; the first failure stops all. */
static void work_off(queue *q)
{
    for (;;) {
        vxs_error why = VXS_ERROR_INIT;
        size_t k = __atomic_fetch_add(&q->next, 1, __ATOMIC_RELAXED);
        if (k >= q->count || __atomic_load_n(&q->stop, __ATOMIC_RELAXED))
            return;
        const vxs_context *context = q->common->context;
        runner r = { .context = { .interrupted = context ? context->interrupted : NULL },
                     .common = q->common,
                     .whole = &q->task,
                     .job = &q->jobs[k] };
        if (!run_job(&r, &why) && !vxs_progress_step(&q->progress, 1, &why))
            continue;
        pthread_mutex_lock(&q->lock);
        q->status = vxs_fail(q->err, why.status, "%s", why.message);
        pthread_mutex_unlock(&q->lock);
        __atomic_store_n(&q->stop, 1, __ATOMIC_RELAXED);
    }
}

static void *work_with_others(void *data)
{
    queue *q = data;
    vxs_scan_batcher_begin(q->task.batcher);
    work_off(q);
    vxs_scan_batcher_end(q->task.batcher);
    return NULL;
}

/* What all parts share takes as much for each subject of the cohort as a part for each of its. */
size_t vxs_jobs_at_once(const vxs_task *t, size_t most, double memory)
{
    const vxs_estimator *e = vxs_task_estimator(t);
    double each = e->bytes ? e->bytes(t) : 0, n = (double)t->n, all = (double)t->cohort->n;
    double common = t->settings.standardize == (int)VXS_STANDARDIZE_UNIT ? 0 : all * all / (n * n);
    double room = memory / (each + 1) - common;
    return room >= (double)most ? most : room > 1 ? (size_t)room : 1;
}

/* Solvers on a graph keep at most about as much as the features take, unless threads would wait. */
static size_t solvers_at_once(const queue *q, int threads)
{
    size_t room = q->task.cohort->n * sizeof(float) / STATE, most = SOLVERS;
    if (q->task.graph.count > 0)
        most = room > (size_t)threads ? room : (size_t)threads;
    most = most < SOLVERS ? most : SOLVERS;
    most = vxs_jobs_at_once(&q->task, most, (double)vxs_memory_of_machine());
    return q->count < most ? q->count : most;
}

/* A solver whose thread cannot be made ends before it began; without any the caller does the work.
 */
static vxs_status run_together(queue *q, int threads)
{
    size_t solvers = solvers_at_once(q, threads), made = 0;
    pthread_t thread[SOLVERS];
    vxs_design *base = NULL;
    vxs_status status = vxs_cohort_design(q->task.cohort, threads, &base, q->err);
    if (!status)
        status = vxs_scan_batcher_new(base, solvers, (size_t)threads, &q->task.batcher, q->err);
    if (status)
        return status;
    for (size_t k = 0; k < solvers; k++)
        made += pthread_create(&thread[made], NULL, work_with_others, q) == 0;
    for (size_t k = made; k < solvers; k++) {
        vxs_scan_batcher_begin(q->task.batcher);
        vxs_scan_batcher_end(q->task.batcher);
    }
    vxs_scan_batcher_run(q->task.batcher);
    for (size_t k = 0; k < made; k++)
        pthread_join(thread[k], NULL);
    vxs_scan_batcher_free(q->task.batcher);
    q->task.batcher = NULL;
    work_off(q); /* jobs that no other thread took */
    return VXS_OK;
}

vxs_status vxs_jobs_run(const vxs_job_common *common, vxs_job *jobs, size_t count, vxs_error *err)
{
    const vxs_context *context = common->context;
    const vxs_cohort *c = common->task->cohort;
    int threads = vxs_context_threads(context);
    double bytes = (double)c->n * (double)c->p * sizeof(float);
    queue q = { .common = common,
                .task = *common->task,
                .jobs = jobs,
                .count = count,
                .lock = PTHREAD_MUTEX_INITIALIZER,
                .err = err };
    vxs_status status = vxs_task_share(context, &q.task, common->method, err);
    if (status)
        return status;
    vxs_progress_start(&q.progress, context, common->doing, "fits", count);
    if (bytes > vxs_jobs_cached && c->features) {
        status = run_together(&q, threads);
    } else {
        int at_once =
            (int)vxs_jobs_at_once(&q.task, (size_t)threads, (double)vxs_memory_of_machine());
#pragma omp parallel num_threads(at_once)
        work_off(&q);
    }
    vxs_task_unshare(&q.task, common->task);
    return status ? status : q.status;
}
