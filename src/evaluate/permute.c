/* permute.c - the permutation test: how often a permuted target is predicted as well.
 *
 * Every permutation repeats the complete cross-validation: folds, choice of lambda, fits.
 * p = (C + 1) / (N + 1), C of N being as good as the observed one or better. Permutations are
 * numbered, and number k is the same in every process, so that a run can go on where another was
 * stopped. It may stop when C reaches a number that makes p clear (Besag and Clifford 1991); that
 * is decided in the order of the numbers, so that threads change nothing. */
#include "evaluate/acceptable.h"
#include "evaluate/chunks/chunk.h"
#include "voxsift/internal/machine.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#define AT(member) offsetof(vxs_permute_settings, member)

const vxs_param vxs_permute_params[] = {
    VXS_WHOLE_ROW("permutations", "N", AT(permutations), 1000, 1, 1e7, "permutations of the target",
                  .head = VXS_HEAD_EVALUATION, .usual = true),
    VXS_TEXT_ROW("metric", "METRIC", AT(metric),
                 "metric to test (voxsift help scores); default r for scores, auc for classes (the "
                 "sentences of cv: balanced_accuracy)",
                 .head = VXS_HEAD_EVALUATION),
    VXS_TEXT_ROW("blocks", "COLUMN", AT(blocks),
                 "exchangeability blocks: permute only within a site, for example",
                 .head = VXS_HEAD_EVALUATION, .usual = true, .column = true,
                 .more = "Only subjects with the same value of COLUMN are exchanged. Persons with "
                         "several subjects are exchanged whole."),
    VXS_FLAG_ROW("whole-blocks", AT(whole),
                 "with --blocks: exchange whole blocks of the same size, such as families",
                 .head = VXS_HEAD_EVALUATION),
    VXS_WHOLE_ROW("stop-at", "C", AT(stop_at), 50, 0, 1e7,
                  "stop once C permutations have reached the observed score (Besag and Clifford "
                  "1991), except in a chunk; 0: never",
                  .head = VXS_HEAD_EVALUATION,
                  .more = "A chunk does not stop; 'voxsift merge' counts no further."),
    { .name = NULL },
};

void vxs_permutation_release(vxs_permutation *r)
{
    free(r->null);
    free(r->again);
    vxs_class_scores_release(&r->classes);
    *r = (vxs_permutation){ .count = 0 };
}

/* ---- Exchangeability ------------------------------------------------------------------------- */

typedef struct {
    const vxs_context *context;
    const vxs_task *task;
    const vxs_permute_settings *settings;
    const vxs_method_settings *method;
    vxs_permutation *result;
    vxs_exchange exchange;
    vxs_run_checkpoint *checkpoint;
} permuter;

static vxs_draws draws_of(const permuter *m)
{
    return (vxs_draws){
        .exchange = &m->exchange, .task = m->task, .settings = &m->settings->cv, .method = m->method
    };
}

static vxs_status find_exchange(permuter *m, vxs_error *err)
{
    vxs_permutation *r = m->result;
    const vxs_permute_settings *s = m->settings;
    double ways = 0;
    if (s->whole && !s->blocks)
        return vxs_fail(err, VXS_MISUSE, "'--whole-blocks' goes with '--blocks'");
    vxs_status status = vxs_exchange_make(m->task, s->blocks, s->whole, &m->exchange, err);
    if (!status)
        status = vxs_exchange_ways(&m->exchange, m->task->score, &ways, err);
    if (status)
        return status;
    r->unit = m->exchange.unit;
    r->units = m->exchange.units;
    r->distinct = ways < 36 ? round(exp(ways)) : INFINITY;
    if (r->distinct < 2)
        return vxs_fail(
            err, VXS_BAD_DATA,
            "nothing to permute: of %zu %s, no two that may be exchanged differ in '%s'", r->units,
            r->unit, m->task->settings.target);
    return VXS_OK;
}

/* How many ways there are to give out the target, of those that can be trained on. */
static double count_acceptable(const vxs_permutation *r)
{
    return fmax(1, r->acceptable < 1 ? round(r->acceptable * r->distinct) : r->distinct);
}

/* Before any work: how many permutations can be trained on. */
static vxs_status find_acceptable(permuter *m, vxs_error *err)
{
    vxs_permutation *r = m->result;
    const vxs_draws draws = draws_of(m);
    vxs_status status = vxs_draws_survey(m->context, &draws, &r->acceptable, err);
    if (status)
        return status;
    double ways = count_acceptable(r);
    if (ways < 2)
        return vxs_draws_refuse(&draws, err);
    r->smallest_p = fmax(1 / ((double)r->requested + 1), 1 / ways);
    return VXS_OK;
}

/* ---- Permutations as units ------------------------------------------------------------------- */

static void serialize_value(vxs_serializer *p, void *run, size_t unit)
{
    vxs_permutation *r = run;
    vxs_serialize_reals(p, &r->null[unit], 1);
    vxs_serialize_size(p, &r->again[unit], VXS_MOST_DRAWS);
}

static vxs_run as_run(const vxs_task *task, const vxs_permute_settings *settings,
                      const vxs_method_settings *method, const vxs_permutation *r)
{
    return (vxs_run){ .kind = VXS_RUN_PERMUTE,
                      .task = task,
                      .settings = settings,
                      .method = method,
                      .observed = r->observed,
                      .classes = &r->classes };
}

/* ---- One permutation ------------------------------------------------------------------------- */

/* `classes`: what each class comes to; NULL: not computed. */
static vxs_status measure(const permuter *m, const vxs_context *context, const double *score,
                          double *value, vxs_class_scores *classes, vxs_error *err)
{
    vxs_cv_settings settings = vxs_cv_reopened(&m->settings->cv);
    vxs_task task = *m->task; /* nothing of it is released */
    vxs_cv cv;
    settings.scores_only = true;
    task.score = (double *)score;
    vxs_status status = vxs_cv_run(context, &task, &settings, m->method, &cv, err);
    if (status)
        return status;
    *value = *vxs_metric(&cv.pooled, m->result->metric);
    if (classes) {
        *classes = cv.classes;
        cv.classes = (vxs_class_scores){ .count = 0 };
    }
    vxs_cv_release(&cv);
    return VXS_OK;
}

static bool is_as_good(const permuter *m, double value)
{
    bool error = m->result->metric->is_error;
    double observed = m->result->observed,
           slack = 1e-12 * fabs(observed); /* ties, up to rounding */
    return error ? value <= observed + slack : value >= observed - slack;
}

static vxs_status run_one(permuter *m, size_t k, vxs_error *err)
{
    vxs_context alone = { .interrupted = m->context ? m->context->interrupted : NULL };
    double *score = vxs_alloc(m->task->n, sizeof(*score), err), value = NAN;
    const vxs_draws draws = draws_of(m);
    vxs_status status =
        score ? vxs_draws_take(&alone, &draws, k, score, &m->result->again[k], err) : VXS_FAILED;
    if (!status)
        status = measure(m, &alone, score, &value, NULL, err);
    free(score);
    if (!status && isnan(value)) /* which would look like one that is not computed */
        status = vxs_fail(err, VXS_BAD_DATA,
                          "'%s' cannot be computed for permutation %zu; choose another --metric",
                          m->result->metric->name, k + 1);
    m->result->null[k] = value;
    return status ? status
                  : vxs_run_checkpoint_add(m->checkpoint, k, serialize_value, m->result, err);
}

/* How many are requested and where to stop may differ: permutations belong together all the
 * same. */
static vxs_status open_checkpoint(permuter *m, vxs_error *err)
{
    vxs_permute_settings same = *m->settings;
    vxs_run run = as_run(m->task, &same, m->method, m->result);
    same.permutations = same.stop_at = 0;
    vxs_status status = vxs_run_checkpoint_open(m->context, &m->settings->chunking, &run,
                                                m->result->requested, &m->checkpoint, err);
    for (size_t k = 0; k < m->result->requested && !status; k++) {
        bool found;
        status = vxs_run_checkpoint_find(m->checkpoint, k, serialize_value, m->result, &found, err);
    }
    return status;
}

/* ---- All of them ----------------------------------------------------------------------------- */

/* Those known without a gap from the first on, up to where it may stop. What is clear is not for a
 * chunk to say. */
static bool is_clear(permuter *m)
{
    vxs_permutation *r = m->result;
    r->count = r->reached = 0;
    if (vxs_chunk_is_part(m->settings->chunking.chunk))
        return false;
    while (r->count < r->requested && !isnan(r->null[r->count])) {
        r->reached += is_as_good(m, r->null[r->count++]);
        if (m->settings->stop_at > 0 && r->reached >= (size_t)m->settings->stop_at)
            return true;
    }
    return r->count == r->requested;
}

static vxs_status run_all(permuter *m, vxs_error *err)
{
    vxs_permutation *r = m->result;
    int threads = vxs_context_threads(m->context);
    int stop = is_clear(m);
    vxs_status status = VXS_OK;
    vxs_progress progress;
    vxs_progress_start(&progress, m->context, "permuting", "permutations", r->end - r->first);
#pragma omp parallel for num_threads(threads) schedule(dynamic, 1)
    for (size_t k = r->first; k < r->end; k++) {
        vxs_error why = VXS_ERROR_INIT;
        if (__atomic_load_n(&stop, __ATOMIC_RELAXED))
            continue;
        vxs_status one = isnan(r->null[k]) ? run_one(m, k, &why) : VXS_OK;
        if (!one)
            one = vxs_progress_step(&progress, 1, &why);
#pragma omp critical
        {
            if (one)
                status = vxs_fail(err, why.status, "%s", why.message);
            if (one || is_clear(m))
                __atomic_store_n(&stop, 1, __ATOMIC_RELAXED);
        }
    }
    return status;
}

static void end_early(permuter *m)
{
    vxs_permutation *r = m->result;
    if (vxs_chunk_is_part(m->settings->chunking.chunk))
        return;
    (void)is_clear(m);
    for (size_t k = r->count; k < r->requested; k++)
        r->null[k] = NAN; /* computed ahead by other threads */
    for (size_t k = 0; k < r->count; k++)
        r->redrawn += r->again[k];
    r->p = fmax(((double)r->reached + 1) / ((double)r->count + 1), 1 / count_acceptable(r));
}

static vxs_status find_metric(permuter *m, vxs_error *err)
{
    size_t classes = m->task->class_count;
    const char *name = m->settings->metric ? m->settings->metric : classes > 0 ? "auc" : "r";
    return vxs_metric_aim(name, "metric", classes, &m->result->metric, err);
}

static vxs_status prepare(permuter *m, vxs_error *err)
{
    vxs_permutation *r = m->result;
    vxs_status status = find_metric(m, err);
    if (!status)
        status = vxs_chunk_share(m->settings->chunking.chunk, r->requested,
                                 vxs_run_kinds[VXS_RUN_PERMUTE].units, &r->first, &r->end, err);
    if (!status)
        status = vxs_cv_rehearse(m->task, &m->settings->cv, m->method, NULL, err);
    if (!status)
        status = find_exchange(m, err);
    return status ? status : find_acceptable(m, err);
}

/* After all that may refuse the run. */
static void announce(const permuter *m)
{
    const vxs_permutation *r = m->result;
    if (strcmp(r->unit, "people") == 0)
        vxs_log(m->context, VXS_LOG_INFO,
                "%zu subjects of %zu persons: whole persons are exchanged, between persons with "
                "the same number of subjects",
                m->task->n, r->units);
    if (r->acceptable < 1)
        vxs_log(m->context, VXS_LOG_INFO,
                "%.3g %% of permutations leave fewer than two training subjects of a class and are "
                "drawn again",
                100 * (1 - r->acceptable));
    vxs_log(m->context, VXS_LOG_INFO, "the smallest possible p is %.3g", r->smallest_p);
}

static vxs_status run_permuter(permuter *m, vxs_error *err)
{
    vxs_permutation *r = m->result;
    vxs_status status = prepare(m, err);
    if (status)
        return status;
    status = measure(m, m->context, m->task->score, &r->observed, &r->classes, err);
    if (!status && isnan(r->observed))
        status = vxs_fail(err, VXS_BAD_DATA, "'%s' cannot be computed for these subjects",
                          r->metric->name);
    if (!status)
        status = open_checkpoint(m, err);
    if (status)
        return status;
    announce(m);
    status = run_all(m, err);
    if (!status)
        end_early(m);
    return status;
}

/* A permuter with room for all permutations, of which none is known yet. */
static vxs_status begin(permuter *m, vxs_error *err)
{
    vxs_permutation *r = m->result;
    *r = (vxs_permutation){ .requested = (size_t)m->settings->permutations };
    r->null = vxs_alloc(r->requested, sizeof(*r->null), err);
    r->again = vxs_alloc(r->requested, sizeof(*r->again), err);
    for (size_t k = 0; r->null && k < r->requested; k++)
        r->null[k] = NAN;
    return r->null && r->again ? VXS_OK : VXS_FAILED;
}

vxs_status vxs_permute(const vxs_context *context, const vxs_task *task,
                       const vxs_permute_settings *settings, const vxs_method_settings *method,
                       vxs_permutation *result, vxs_error *err)
{
    double start = vxs_seconds();
    permuter m = {
        .context = context, .task = task, .settings = settings, .method = method, .result = result
    };
    vxs_status status = begin(&m, err);
    if (!status)
        status = run_permuter(&m, err);
    vxs_run_checkpoint_close(m.checkpoint);
    vxs_exchange_release(&m.exchange);
    result->seconds = vxs_seconds() - start;
    if (status)
        vxs_permutation_release(result);
    return status;
}

/* ---- Chunks ---------------------------------------------------------------------------------- */

static vxs_status save_part(const vxs_context *context, const vxs_task *task,
                            const vxs_permute_settings *settings, const vxs_method_settings *method,
                            const vxs_permutation *r, const char *directory, bool replace,
                            vxs_error *err)
{
    vxs_run run = as_run(task, settings, method, r);
    return vxs_part_save(context, &run, settings->chunking.chunk, r->requested, r->seconds,
                         serialize_value, (void *)r, directory, replace, err);
}

vxs_status vxs_permute_merge(const vxs_context *context, const vxs_parts *parts, vxs_merged *merged,
                             vxs_error *err)
{
    vxs_permutation *r = &merged->result.permutation;
    permuter m = { .context = context,
                   .task = &merged->task,
                   .settings = &merged->settings.permute,
                   .method = &merged->method,
                   .result = r };
    vxs_status status = begin(&m, err);
    if (!status)
        status = prepare(&m, err);
    if (!status)
        status = vxs_parts_unpack(parts, r->requested, serialize_value, r, err);
    if (!status) {
        r->observed = parts->observed;
        r->seconds = parts->seconds;
        end_early(&m);
        status = vxs_parts_classes(parts, m.task->class_count, &r->classes, err);
    }
    vxs_exchange_release(&m.exchange);
    return status;
}

/* ---- Files ----------------------------------------------------------------------------------- */

void vxs_permutation_json(vxs_json_writer *w, const vxs_task *task, const vxs_permutation *r)
{
    vxs_json_real(w, "p", r->p);
    vxs_json_real(w, "smallest_p", r->smallest_p);
    vxs_json_whole(w, "permutations", (int64_t)r->count);
    vxs_json_whole(w, "requested", (int64_t)r->requested);
    vxs_json_whole(w, "exceedances", (int64_t)r->reached);
    vxs_json_text(w, "metric", r->metric->name);
    vxs_json_real(w, "observed", r->observed);
    vxs_class_scores_json(w, task->classes, &r->classes);
    vxs_json_real(w, "distinct_permutations", r->distinct);
    vxs_json_real(w, "acceptable_share", r->acceptable);
    vxs_json_whole(w, "drawn_again", (int64_t)r->redrawn);
    vxs_json_text(w, "exchanged", r->unit);
    vxs_json_whole(w, "units", (int64_t)r->units);
    vxs_json_real(w, "seconds", r->seconds);
}

static void write_about(const vxs_context *context, const vxs_task *task,
                        const vxs_permute_settings *settings, const vxs_method_settings *method,
                        const vxs_permutation *r, FILE *stream)
{
    vxs_json_writer w;
    vxs_json_init(&w, stream);
    vxs_json_open_object(&w, NULL);
    vxs_json_format(&w, "voxsift permutations");
    vxs_json_text(&w, "command", context ? context->command : NULL);
    vxs_json_text(&w, "processor", r->processor ? r->processor : vxs_blas_core());
    vxs_json_text(&w, "cohort", task->cohort->path);
    vxs_json_params(&w, "task", vxs_task_params, &task->settings);
    vxs_json_params(&w, "cross_validation", vxs_cv_params, &settings->cv);
    vxs_json_params(&w, "permuting", vxs_permute_params, settings);
    vxs_json_params(&w, "parameters", vxs_task_method(task)->params, method);
    vxs_task_json(&w, task, method);
    vxs_flow_json(&w, task);
    vxs_features_json(&w, task->cohort);
    vxs_permutation_json(&w, task, r);
    vxs_json_close_object(&w);
}

static void write_null(const vxs_permutation *r, FILE *stream)
{
    vxs_tsv_writer w;
    vxs_tsv_init(&w, stream);
    vxs_tsv_text(&w, "permutation");
    vxs_tsv_text(&w, r->metric->name);
    vxs_tsv_end_row(&w);
    for (size_t k = 0; k < r->count; k++) {
        vxs_tsv_real(&w, (double)(k + 1));
        vxs_tsv_real(&w, r->null[k]);
        vxs_tsv_end_row(&w);
    }
}

vxs_status vxs_permutation_save(const vxs_context *context, const vxs_task *task,
                                const vxs_permute_settings *settings,
                                const vxs_method_settings *method, const vxs_permutation *r,
                                const char *directory, bool replace, vxs_error *err)
{
    static const char *const files[] = { VXS_PERMUTE_FILE, "null.tsv" };
    vxs_output *output = NULL;
    if (vxs_chunk_is_part(settings->chunking.chunk))
        return save_part(context, task, settings, method, r, directory, replace, err);
    vxs_status status = vxs_output_new(context, directory, replace, &output, err);
    for (int k = 0; k < 2 && !status; k++) {
        FILE *stream;
        status = vxs_output_open(output, files[k], &stream, err);
        if (status)
            break;
        if (k == 0)
            write_about(context, task, settings, method, r, stream);
        else
            write_null(r, stream);
        status = vxs_output_close(output, stream, files[k], err);
    }
    if (!status)
        status = vxs_output_commit(output, err);
    vxs_output_free(output);
    return status;
}
