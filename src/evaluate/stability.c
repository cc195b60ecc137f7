/* stability.c - stability selection over complementary pairs of halves.
 *
 * The subjects are split into halves many times, and on each half the path ends when it has
 * selected q features. Features with a selection frequency of at least pi are stable. With
 * complementary pairs and unimodal frequencies the expected number of falsely selected ones, which
 * a half selects no oftener than by chance (q / p), is at most C(pi) q^2 / p (Shah and Samworth
 * 2013, theorem 2); otherwise q^2 / ((2 pi - 1) p) (Meinshausen and Buehlmann 2010). p are those
 * that can be selected (candidates.c). */
#include "evaluate/chunks/chunk.h"
#include "model/estimators.h"
#include "voxsift/internal/machine.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#define AT(member) offsetof(vxs_stability_settings, member)

const vxs_param vxs_stability_params[] = {
    VXS_WHOLE_ROW("pairs", "N", AT(pairs), 50, 2, 100000, "random splits into two halves",
                  .head = VXS_HEAD_EVALUATION, .usual = true,
                  .more = "The model is fitted on both halves of the subjects."),
    VXS_REAL_ROW("threshold", "FREQUENCY", AT(threshold), 0.75, 0.55, 1,
                 "least selection frequency of a stable feature", .head = VXS_HEAD_EVALUATION,
                 .usual = true),
    VXS_REAL_ROW(
        "wrong", "N", AT(wrong), 1, 1e-6, 1e6, "bound on the expected number of false selections",
        .head = VXS_HEAD_EVALUATION, .usual = true,
        .more = "Among the stable features. It determines how many features each half selects."),
    VXS_WHOLE_ROW("select-features", "Q", AT(features), NAN, 1, 1e9,
                  "number of features (or groups, if they do not overlap) that each half selects, "
                  "in place of --wrong",
                  .head = VXS_HEAD_EVALUATION),
    VXS_TEXT_ROW("group", "COLUMN", AT(group), "column whose values stay in one half: site, family",
                 .head = VXS_HEAD_EVALUATION, .usual = true, .column = true,
                 .more = "Persons always stay in one half. Groups that share a person are joined."),
    VXS_TEXT_ROW("clusters", "C", AT(clusters),
                 "clusters of voxels: auto, C, atlas:NAME, file:TABLE", .head = VXS_HEAD_EVALUATION,
                 .usual = true,
                 .more =
                     "The means of clusters are the features. A number makes connected clusters of "
                     "similar voxels (Ward's method), from "
                     "the features of all subjects analyzed, without the target, so that the "
                     "bound holds for clusters. auto: a fiftieth of the voxels, from 100 to "
                     "1000. The bound is on falsely selected clusters; the largest diameter of "
                     "a cluster is the distance at which it locates an effect."),
    VXS_WHOLE_ROW("seed", "N", AT(seed), 1, 0, 1e15, "seed of the random numbers",
                  .head = VXS_HEAD_EVALUATION),
    { .name = NULL },
};

void vxs_stability_release(vxs_stability *r)
{
    free(r->half);
    free(r->frequency);
    free(r->stable);
    free(r->stable_groups);
    free(r->positive);
    vxs_clustered_release(r->clustered);
    free(r->clustered);
    for (size_t h = 0; r->units && h < r->halves; h++)
        vxs_job_release(&r->units[h], 0); /* no fits are kept */
    free(r->units);
    *r = (vxs_stability){ .halves = 0 };
}

/* C(pi) of Shah and Samworth for B pairs; INFINITY where they give no bound: their thresholds begin
 * at 1/2 + 1/B, which one above 1/2 + 1/(2B) amounts to, as frequencies are multiples of 1/(2B).
 * Below, the formula becomes negative. */
static double unimodal_factor(double threshold, double pairs, double theta)
{
    double least = fmin(0.5 + theta * theta, 0.5 + 1 / (2 * pairs) + 0.75 * theta * theta);
    if (!(threshold > fmax(least, 0.5 + 1 / (2 * pairs))) || theta > 1 / sqrt(3))
        return INFINITY;
    return threshold <= 0.75 ? 1 / (2 * (2 * threshold - 1 - 1 / (2 * pairs)))
                             : 4 * (1 - threshold + 1 / (2 * pairs)) / (1 + 1 / pairs);
}

double vxs_stability_bound(double threshold, double pairs, double q, double p)
{
    double plain = 1 / (2 * threshold - 1), sharp = unimodal_factor(threshold, pairs, q / p);
    return fmin(plain, sharp) * q * q / p;
}

/* As many as the bound allows, and at least one. */
static size_t choose_features(const vxs_stability_settings *s, size_t p)
{
    size_t q = 1;
    if (s->features > 0)
        return (size_t)s->features;
    while (q < p && vxs_stability_bound(s->threshold, (double)s->pairs, (double)(q + 1),
                                        (double)p) <= s->wrong)
        q++;
    return q;
}

/* ---- Halves ---------------------------------------------------------------------------------- */

static vxs_status deal_halves(const vxs_task *t, const vxs_stability_settings *s, uint8_t *halves,
                              size_t *subjects, vxs_job *jobs, vxs_error *err)
{
    vxs_folds f = { .n = t->n };
    size_t *half = vxs_alloc(t->n, sizeof(*half), err);
    vxs_status status = half ? vxs_folds_group(t, s->group, &f, err) : VXS_FAILED;
    if (!status)
        status = vxs_folds_enough(&f, s->group, f.groups, 2,
                                  s->group ? "halving with '--group'" : "halving", "", err);
    for (size_t k = 0; k < (size_t)s->pairs && !status; k++) {
        vxs_random random = { (uint64_t)s->seed, VXS_STREAM_HALVES + k };
        status = vxs_folds_deal(t, f.group, f.groups, 2, &random, half, err);
        size_t count[2] = { 0, 0 };
        for (size_t i = 0; i < t->n && !status; i++) {
            count[half[i]]++;
            halves[k * t->n + i] = (uint8_t)(half[i] + 1);
        }
        size_t *first = subjects + k * t->n, at[2] = { 0, count[0] }; /* one behind the other */
        for (size_t i = 0; i < t->n && !status; i++)
            first[at[half[i]]++] = i;
        jobs[2 * k].train = first;
        jobs[2 * k].train_count = count[0];
        jobs[2 * k + 1].train = first + count[0];
        jobs[2 * k + 1].train_count = count[1];
        for (size_t h = 2 * k; h < 2 * k + 2 && !status; h++)
            status = vxs_check_trainable(t, jobs[h].train, jobs[h].train_count, "a half",
                                         "another --group or --seed", err);
    }
    vxs_folds_release(&f);
    free(half);
    return status;
}

/* The task whose features are selected. */
const vxs_task *vxs_stability_task(const vxs_task *t, const vxs_stability *r)
{
    return r->clustered ? &r->clustered->task : t;
}

/* ---- What they say --------------------------------------------------------------------------- */

/* Of all pairs of halves, twice what both select as a share of what either does; two that select
 * nothing agree. */
static double mean_dice(const vxs_job *jobs, size_t halves, size_t output, size_t p)
{
    double sum = 0, pairs = 0;
    for (size_t a = 0; a < halves; a++)
        for (size_t b = 0; b < a; b++) {
            const bool *one = jobs[a].selected + output * p, *other = jobs[b].selected + output * p;
            double both = 0, either = 0;
            for (size_t j = 0; j < p; j++) {
                both += one[j] && other[j];
                either += (double)one[j] + (double)other[j];
            }
            sum += either > 0 ? 2 * both / either : 1;
            pairs++;
        }
    return sum / pairs;
}

/* 1 - variance of the selections over what chance would give (Nogueira, Sechidis, Brown 2018); NAN
 * where nothing or everything is selected. */
static double nogueira_index(const double *frequency, size_t p, double halves)
{
    double variance = 0, mean = 0;
    for (size_t j = 0; j < p; j++) {
        variance += halves / (halves - 1) * frequency[j] * (1 - frequency[j]) / (double)p;
        mean += frequency[j] / (double)p;
    }
    return mean > 0 && mean < 1 ? 1 - variance / (mean * (1 - mean)) : NAN;
}

static void count_costs(vxs_stability *r)
{
    r->converged = true;
    for (size_t h = 2 * r->first; h < 2 * r->end; h++) {
        r->passes += r->units[h].passes;
        r->converged = r->converged && r->units[h].converged;
    }
}

static vxs_status sum_up(const vxs_task *given, const vxs_stability_settings *s,
                         const vxs_method_settings *method, vxs_stability *r, vxs_error *err)
{
    const vxs_job *jobs = r->units;
    const vxs_task *t = vxs_stability_task(given, r);
    size_t p = t->cohort->p, outputs = vxs_task_outputs(t);
    count_costs(r);
    if (vxs_chunk_is_part(s->chunking.chunk))
        return VXS_OK;
    r->frequency = vxs_alloc(outputs, p * sizeof(*r->frequency), err);
    r->positive = vxs_alloc(outputs, p * sizeof(*r->positive), err);
    r->stable = vxs_alloc(outputs, sizeof(*r->stable), err);
    r->stable_groups = vxs_alloc(outputs, sizeof(*r->stable_groups), err);
    if (!r->frequency || !r->positive || !r->stable || !r->stable_groups)
        return VXS_FAILED;
    for (size_t h = 0; h < r->halves; h++) {
        for (size_t j = 0; j < outputs * p; j++) {
            r->frequency[j] += jobs[h].selected[j]; /* whole numbers, so that shares are exact */
            r->positive[j] += jobs[h].positive[j];
        }
        r->mean_selected += (double)vxs_count_selected(jobs[h].selected, outputs * p) /
                            (double)(r->halves * outputs);
    }
    for (size_t j = 0; j < outputs * p; j++) {
        r->positive[j] = r->frequency[j] > 0 ? r->positive[j] / r->frequency[j] : NAN;
        r->frequency[j] /= (double)r->halves;
    }
    for (size_t o = 0; o < outputs; o++) {
        for (size_t j = 0; j < p; j++)
            r->stable[o] += r->frequency[o * p + j] >= s->threshold;
        r->dice += mean_dice(jobs, r->halves, o, p) / (double)outputs;
        r->nogueira += nogueira_index(r->frequency + o * p, p, (double)r->halves) / (double)outputs;
    }
    return r->groups
               ? vxs_candidates_stable(t, method, r->frequency, s->threshold, r->stable_groups, err)
               : VXS_OK;
}

/* ---- The whole ------------------------------------------------------------------------------- */

static vxs_status check_settings(const vxs_task *t, const vxs_stability_settings *s,
                                 const vxs_method_settings *m, vxs_error *err)
{
    if (s->clusters && m->blocks.groups)
        return vxs_fail(err, VXS_MISUSE,
                        "'--groups' are of voxels; with '--clusters' the features are means of "
                        "clusters: give one of the two");
    bool fused = vxs_task_method(t)->graph == VXS_GRAPH_NEEDED;
    if (vxs_is_dense(&t->settings, m))
        return vxs_fail(err, VXS_MISUSE,
                        "method '%s' gives nearly all features a weight; there is no selection to "
                        "be stable%s",
                        vxs_task_method(t)->name, fused ? " without '--sparsity'" : "");
    return vxs_check_ratio(t, m, "half", true, err);
}

static vxs_run as_run(const vxs_task *t, const vxs_stability_settings *s,
                      const vxs_method_settings *m)
{
    return (vxs_run){
        .kind = VXS_RUN_STABILITY, .task = t, .settings = s, .method = m, .observed = NAN
    };
}

/* A first iteration that selects more features than a half may leaves that half empty. */
static vxs_method_settings limit_steps(const vxs_context *context, const vxs_task *t,
                                       const vxs_method_settings *method, size_t features,
                                       bool of_groups)
{
    vxs_method_settings limited = *method;
    const vxs_estimator *estimator = vxs_task_estimator(t);
    size_t before = estimator->limit ? estimator->limit(&limited, features) : 0;
    if (before > 0)
        vxs_log(context, VXS_LOG_CAUTION,
                "each half selects at most %zu %s: --per-iteration is %zu here, not %zu", features,
                of_groups ? "groups" : "features", features, before);
    return limited;
}

static vxs_status run_halves(const vxs_context *context, const vxs_task *t,
                             const vxs_stability_settings *s, const vxs_method_settings *m,
                             vxs_stability *r, vxs_error *err)
{
    const vxs_task *counted = vxs_stability_task(t, r);
    vxs_method_settings limited = limit_steps(context, t, m, r->features, r->groups);
    vxs_tuning_grid tuning = { .count = 0 };
    vxs_axis_take_one(vxs_axis_of(&t->settings, m), &limited);
    size_t *subjects = vxs_alloc((size_t)s->pairs, t->n * sizeof(*subjects), err);
    vxs_status status =
        subjects ? vxs_tuning_grid_make(counted, &limited, true, &tuning, err) : VXS_FAILED;
    if (!status && tuning.count > tuning.per_path)
        status = vxs_fail(err, VXS_MISUSE, "'--%s' expects one value here; no folds choose",
                          tuning.axis->option);
    if (!status)
        status = deal_halves(t, s, r->half, subjects, r->units, err);
    for (size_t h = 0; h < r->halves && !status; h++) {
        r->units[h].number = h;
        r->units[h].values = tuning.values;
        r->units[h].across = tuning.across;
        r->units[h].value_count = tuning.count;
        r->units[h].limit = r->features;
        r->units[h].limit_groups = r->groups;
    }
    vxs_job_common common = {
        .context = context, .task = counted, .method = &limited, .doing = "halving"
    };
    vxs_run run = as_run(t, s, m);
    if (!status)
        status = vxs_run_checkpoint_open(context, &s->chunking, &run, r->halves, &common.checkpoint,
                                         err);
    if (!status)
        status = vxs_jobs_run(&common, r->units + 2 * r->first, 2 * (r->end - r->first), err);
    vxs_run_checkpoint_close(common.checkpoint);
    vxs_tuning_grid_release(&tuning);
    free(subjects);
    return status;
}

static vxs_status cluster(const vxs_context *context, const vxs_task *t,
                          const vxs_stability_settings *s, const vxs_method_settings *method,
                          vxs_stability *r, vxs_error *err)
{
    r->clustered = vxs_alloc(1, sizeof(*r->clustered), err);
    vxs_status status =
        r->clustered ? vxs_clustered_make(context, t, s->clusters, r->clustered, err) : VXS_FAILED;
    return status ? status : vxs_task_share(context, &r->clustered->task, method, err);
}

/* Room for all pairs, of which none is known yet. */
static vxs_status begin(const vxs_context *context, const vxs_task *t,
                        const vxs_stability_settings *s, const vxs_method_settings *method,
                        vxs_stability *r, vxs_error *err)
{
    vxs_candidates from = { .count = 0 };
    *r = (vxs_stability){ .halves = 2 * (size_t)s->pairs, .threshold = s->threshold };
    vxs_status status = check_settings(t, s, method, err);
    if (!status && s->clusters)
        status = cluster(context, t, s, method, r, err);
    if (!status)
        status = vxs_candidates_count(vxs_stability_task(t, r), method, &from, err);
    if (status)
        return status;
    r->candidates = from.count;
    r->groups = from.groups;
    r->features = choose_features(s, r->candidates);
    r->error_bound = vxs_stability_bound(s->threshold, (double)s->pairs, (double)r->features,
                                         (double)r->candidates);
    status = vxs_chunk_share(s->chunking.chunk, (size_t)s->pairs,
                             vxs_run_kinds[VXS_RUN_STABILITY].units, &r->first, &r->end, err);
    if (status)
        return status;
    r->units = vxs_alloc(r->halves, sizeof(*r->units), err);
    r->half = vxs_alloc((size_t)s->pairs, t->n * sizeof(*r->half), err);
    return r->units && r->half ? VXS_OK : VXS_FAILED;
}

vxs_status vxs_stability_run(const vxs_context *context, const vxs_task *task,
                             const vxs_stability_settings *settings,
                             const vxs_method_settings *method, vxs_stability *r, vxs_error *err)
{
    double start = vxs_seconds();
    vxs_status status = begin(context, task, settings, method, r, err);
    if (!status)
        status = run_halves(context, task, settings, method, r, err);
    if (!status)
        status = sum_up(task, settings, method, r, err);
    r->seconds = vxs_seconds() - start;
    if (status)
        vxs_stability_release(r);
    return status;
}

/* ---- Chunks ---------------------------------------------------------------------------------- */

typedef struct {
    const vxs_task *task;
    vxs_stability *result;
} halver;

static void serialize_half(vxs_serializer *p, const halver *h, vxs_job *job)
{
    const vxs_task *t = vxs_stability_task(h->task, h->result);
    size_t features = t->cohort->p, outputs = vxs_task_outputs(t);
    if (p->from)
        job->selected = vxs_serialize_room(p, outputs, features * sizeof(*job->selected));
    if (p->from)
        job->positive = vxs_serialize_room(p, outputs, features * sizeof(*job->positive));
    vxs_serialize_reals(p, &job->passes, 1);
    vxs_serialize_flag(p, &job->converged);
    vxs_serialize_selected(p, t, job->selected);
    vxs_serialize_selected(p, t, job->positive);
}

static void serialize_pair(vxs_serializer *p, void *run, size_t unit)
{
    const halver *h = run;
    for (size_t i = 0; i < h->task->n; i++) {
        size_t side = h->result->half[unit * h->task->n + i];
        vxs_serialize_size(p, &side, 2);
        h->result->half[unit * h->task->n + i] = (uint8_t)side;
    }
    serialize_half(p, h, &h->result->units[2 * unit]);
    serialize_half(p, h, &h->result->units[2 * unit + 1]);
}

vxs_status vxs_stability_save_part(const vxs_context *context, const vxs_task *t,
                                   const vxs_stability_settings *settings,
                                   const vxs_method_settings *method, const vxs_stability *r,
                                   const char *directory, bool replace, vxs_error *err)
{
    halver h = { t, (vxs_stability *)r };
    vxs_run run = as_run(t, settings, method);
    return vxs_part_save(context, &run, settings->chunking.chunk, r->halves / 2, r->seconds,
                         serialize_pair, &h, directory, replace, err);
}

vxs_status vxs_stability_merge(const vxs_parts *parts, vxs_merged *merged, vxs_error *err)
{
    vxs_stability *r = &merged->result.stability;
    const vxs_stability_settings *settings = &merged->settings.stability;
    halver h = { &merged->task, r };
    vxs_context context = { .nthreads = 1 };
    vxs_status status = begin(&context, h.task, settings, &merged->method, r, err);
    if (!status)
        status = vxs_parts_unpack(parts, r->halves / 2, serialize_pair, &h, err);
    if (!status)
        status = sum_up(h.task, settings, &merged->method, r, err);
    r->seconds = parts->seconds;
    return status;
}
