/* compare.c - two or more finished cross-validations of the same subjects in the same folds, by
 * their held-out predictions.
 *
 * Every metric is that of 'voxsift cv': computed over all held-out subjects of a repeat, within
 * folds where subjects are compared with each other, and averaged over repeats (comparison.c). The
 * difference of two models has an interval over paired bootstrap draws of groups of subjects
 * (draws.c), which with the seed of the cross-validation are its draws, and three tests:
 *
 *   swaps.c      the two models' predictions are exchanged, person by person
 *   resampled.c  Student's t over folds, corrected for training sets that overlap
 *   delong.c     the areas under two correlated curves
 *
 * Holm's correction is over all pairs and metrics, for each test by itself. */
#include "evaluate/compare/compare.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#define AT(member) offsetof(vxs_compare_settings, member)

const vxs_param vxs_compare_params[] = {
    VXS_TEXT_ROW("metric", "METRIC", AT(metric),
                 "metric to compare, or all; default r for scores, auc for classes (the sentences "
                 "of cv: balanced_accuracy)",
                 .head = VXS_HEAD_EVALUATION, .usual = true),
    VXS_WHOLE_ROW("permutations", "N", AT(permutations), 10000, 99, 10000000,
                  "random swaps of the two models' predictions for p-values",
                  .head = VXS_HEAD_EVALUATION, .usual = true,
                  .more = "With few persons all swaps are tried instead."),
    VXS_WHOLE_ROW("bootstraps", "N", AT(bootstraps), 1000, 100, 100000,
                  "bootstrap samples for 95 % confidence intervals", .head = VXS_HEAD_EVALUATION),
    VXS_WHOLE_ROW("seed", "N", AT(seed), 1, 0, 1e15, "seed of the random numbers",
                  .head = VXS_HEAD_EVALUATION),
    { .name = NULL },
};

/* ---- Lifetime -------------------------------------------------------------------------------- */

static void release_model(vxs_compared_model *m)
{
    free(m->directory);
    free(m->place);
    free(m->name);
    vxs_json_free(m->about);
    free(m->scores);
    free(m->aligned);
    free(m->probabilities);
    free(m->each_fold);
}

void vxs_compared_release(vxs_compared *c)
{
    for (size_t k = 0; c->models && k < c->model_count; k++)
        release_model(&c->models[k]);
    for (size_t k = 0; c->pairs && k < c->pair_count; k++) {
        for (size_t m = 0; c->pairs[k].each && m < c->metric_count; m++)
            free(c->pairs[k].each[m].conclusion);
        free(c->pairs[k].each);
    }
    for (size_t k = 0; c->options && k < c->option_count; k++)
        vxs_free_texts(c->options[k].values, c->model_count);
    free(c->models);
    free(c->pairs);
    free(c->options);
    vxs_free_texts(c->classes, c->class_count);
    vxs_free_texts(c->ids, c->n);
    free(c->truth);
    vxs_folds_release(&c->folds);
    *c = (vxs_compared){ .n = 0 };
}

/* ---- Models as predictors -------------------------------------------------------------------- */

size_t vxs_compared_outputs(const vxs_compared *c)
{
    return c->class_count > 2 ? c->class_count : 1;
}

vxs_predictor vxs_compared_predictor(const vxs_compared_model *m)
{
    return (vxs_predictor){ m->scores, m->aligned, m->probabilities };
}

vxs_evaluated vxs_compared_evaluated(const vxs_compared *c, vxs_predictor *each)
{
    for (size_t k = 0; each && k < c->model_count; k++)
        each[k] = vxs_compared_predictor(&c->models[k]);
    return (vxs_evaluated){ .n = c->n,
                            .class_count = c->class_count,
                            .outputs = vxs_compared_outputs(c),
                            .truth = c->truth,
                            .folds = &c->folds,
                            .each = each,
                            .count = c->model_count,
                            .only = c->metric_count == 1 ? c->metrics[0] : NULL,
                            .draws = (size_t)c->settings.bootstraps,
                            .seed = (uint64_t)c->settings.seed };
}

const char *vxs_compared_words(const vxs_compared *c, const vxs_metric_row *metric,
                               char text[VXS_METRIC_TEXT])
{
    bool two = c->class_count == 2;
    return vxs_metric_words(metric, c->class_count, two ? c->classes[0] : "",
                            two ? c->classes[1] : "", text);
}

/* ---- Which metrics --------------------------------------------------------------------------- */

static vxs_status find_metrics(vxs_compared *c, vxs_error *err)
{
    const char *usual = c->class_count > 0 ? "auc" : "r";
    const char *name = c->settings.metric ? c->settings.metric : usual;
    if (strcmp(name, "all") != 0) {
        c->metric_count = 1;
        return vxs_metric_find(name, c->class_count, &c->metrics[0], err);
    }
    for (const vxs_metric_row *row = vxs_metric_rows; row->name; row++)
        if (vxs_metric_applies(row, c->class_count))
            c->metrics[c->metric_count++] = row;
    return VXS_OK;
}

/* ---- Values ---------------------------------------------------------------------------------- */

#define SAME 1e-6 /* relative: what cv.json says and what predictions.tsv comes to */

static vxs_status check_value(const vxs_compared_model *m, const vxs_metric_row *row, double got,
                              vxs_error *err)
{
    const vxs_json *outer = vxs_json_get(m->about, "outer");
    const vxs_json *of = vxs_json_get(m->about, "baseline");
    double said = m->baseline ? vxs_json_get_number(vxs_json_get(of, m->baseline), row->name)
                              : vxs_json_get_number(vxs_json_get(outer, row->name), "pooled");
    char one[VXS_REAL_TEXT], other[VXS_REAL_TEXT];
    if (m->baseline && isnan(said)) /* no slope of calibration */
        return VXS_OK;
    if ((isnan(said) && isnan(got)) || fabs(said - got) <= SAME * (1 + fabs(got)))
        return VXS_OK;
    return vxs_fail(err, VXS_BAD_DATA,
                    "'%s/%s' and '%s.tsv' beside it disagree: %s is %s in one and %s by the other",
                    m->directory, VXS_CV_FILE, m->baseline ? "baselines" : "predictions", row->name,
                    vxs_short_text(said, one), vxs_short_text(got, other));
}

/* All metrics of all models, as a check that files belong together. */
static vxs_status measure_models(vxs_compared *c, vxs_error *err)
{
    vxs_evaluated e = vxs_compared_evaluated(c, NULL);
    vxs_status status = VXS_OK;
    e.only = NULL;
    for (size_t k = 0; k < c->model_count && !status; k++) {
        vxs_compared_model *m = &c->models[k];
        const vxs_predictor of = vxs_compared_predictor(m);
        status = vxs_measure_repeats(&e, &of, &m->pooled, err);
        for (const vxs_metric_row *row = vxs_metric_rows; row->name && !status; row++)
            if (vxs_metric_applies(row, c->class_count))
                status = check_value(m, row, *vxs_metric(&m->pooled, row), err);
    }
    return status;
}

static vxs_status list_pairs(vxs_compared *c, vxs_error *err)
{
    size_t count = c->model_count * (c->model_count - 1) / 2;
    c->pairs = vxs_alloc(count, sizeof(*c->pairs), err);
    if (!c->pairs)
        return VXS_FAILED;
    for (size_t a = 0; a < c->model_count; a++)
        for (size_t b = a + 1; b < c->model_count; b++) {
            vxs_compared_pair *pair = &c->pairs[c->pair_count++];
            *pair = (vxs_compared_pair){ .first = a, .second = b };
            pair->each = vxs_alloc(c->metric_count, sizeof(*pair->each), err);
            if (!pair->each)
                return VXS_FAILED;
            for (size_t m = 0; m < c->metric_count; m++)
                pair->each[m].value = *vxs_metric(&c->models[a].pooled, c->metrics[m]) -
                                      *vxs_metric(&c->models[b].pooled, c->metrics[m]);
        }
    return VXS_OK;
}

static void take_intervals(vxs_compared *c, vxs_bootstrap *d)
{
    for (size_t k = 0; k < c->model_count; k++)
        vxs_bootstrap_interval(d, k, VXS_OF_NONE, &c->models[k].low, &c->models[k].high);
    for (size_t k = 0; k < c->pair_count; k++) {
        const vxs_compared_pair *pair = &c->pairs[k];
        vxs_metrics low, high;
        vxs_bootstrap_interval(d, pair->first, pair->second, &low, &high);
        for (size_t m = 0; m < c->metric_count; m++) {
            pair->each[m].low = *vxs_metric(&low, c->metrics[m]);
            pair->each[m].high = *vxs_metric(&high, c->metrics[m]);
        }
    }
}

static vxs_status bootstrap(const vxs_context *context, vxs_compared *c, vxs_error *err)
{
    vxs_bootstrap d = { .count = 0 };
    vxs_predictor *each = vxs_alloc(c->model_count, sizeof(*each), err);
    if (!each)
        return VXS_FAILED;
    vxs_evaluated e = vxs_compared_evaluated(c, each);
    vxs_status status = vxs_bootstrap_run(context, &e, &d, err);
    if (!status)
        take_intervals(c, &d);
    vxs_bootstrap_release(&d);
    free(each);
    return status;
}

/* ---- Several tests --------------------------------------------------------------------------- */

typedef struct {
    vxs_compared_p *of;
    size_t place;
} ranked;

static int by_p(const void *a, const void *b)
{
    const ranked *left = a, *right = b;
    if (left->of->p != right->of->p)
        return left->of->p < right->of->p ? -1 : 1;
    return (left->place > right->place) - (left->place < right->place);
}

/* The p of a test that has one, `at` in a difference, over all pairs and metrics. */
static vxs_status correct(vxs_compared *c, size_t at, vxs_error *err)
{
    size_t count = 0, all = c->pair_count * c->metric_count;
    ranked *list = vxs_alloc(all, sizeof(*list), err);
    double most = 0;
    if (!list)
        return VXS_FAILED;
    for (size_t k = 0; k < all; k++) {
        vxs_compared_difference *d = &c->pairs[k / c->metric_count].each[k % c->metric_count];
        vxs_compared_p *of = (vxs_compared_p *)(void *)((char *)d + at);
        of->holm = NAN;
        if (!isnan(of->p))
            list[count++] = (ranked){ of, k };
    }
    qsort(list, count, sizeof(*list), by_p);
    for (size_t k = 0; k < count; k++) {
        most = fmax(most, fmin(1, (double)(count - k) * list[k].of->p));
        list[k].of->holm = most;
    }
    free(list);
    return VXS_OK;
}

static vxs_status correct_all(vxs_compared *c, vxs_error *err)
{
    static const size_t tests[] = { offsetof(vxs_compared_difference, swap),
                                    offsetof(vxs_compared_difference, resampled),
                                    offsetof(vxs_compared_difference, delong) };
    vxs_status status = VXS_OK;
    for (size_t k = 0; k < sizeof(tests) / sizeof(tests[0]) && !status; k++)
        status = correct(c, tests[k], err);
    return status;
}

/* ---- The whole ------------------------------------------------------------------------------- */

static void warn(const vxs_context *context, const vxs_compared *c)
{
    for (size_t k = 0; k < c->model_count; k++) {
        const vxs_json *converged = vxs_json_get(c->models[k].about, "converged");
        if (converged && converged->number == 0)
            vxs_log(context, VXS_LOG_WARNING, "some fits of '%s' did not converge",
                    c->models[k].directory);
    }
    if (c->joined)
        vxs_log(context, VXS_LOG_WARNING,
                "the models kept different groups of subjects together: subjects that any of them "
                "kept together are one block here, so that intervals may differ from those of "
                "'voxsift cv'");
    if (c->comparison.across)
        vxs_log(context, VXS_LOG_CAUTION,
                "no fold has two %s to compare: %s of different models are compared, which is "
                "biased downwards for both, and by how much may differ between methods",
                c->class_count > 0 ? "classes" : "subjects",
                c->class_count > 0 ? "scores" : "predictions");
}

vxs_status vxs_compare(const vxs_context *context, const vxs_compare_settings *settings,
                       const char *const *paths, const char *from, vxs_compared *c, vxs_error *err)
{
    double start = vxs_seconds();
    *c = (vxs_compared){ .settings = *settings };
    vxs_status status = vxs_compared_read(c, paths, from, err);
    if (!status)
        status = find_metrics(c, err);
    if (!status)
        status = measure_models(c, err);
    if (!status)
        status = vxs_compared_list_options(c, err);
    if (!status)
        status = list_pairs(c, err);
    if (!status)
        warn(context, c);
    if (!status)
        status = bootstrap(context, c, err);
    if (!status)
        status = vxs_compared_resample(c, err);
    if (!status)
        status = vxs_compared_delong(c, err);
    if (!status)
        status = vxs_compared_swap(context, c, err);
    if (!status)
        status = correct_all(c, err);
    if (!status)
        status = vxs_compared_conclude(c, err);
    if (status)
        vxs_compared_release(c);
    c->seconds = vxs_seconds() - start;
    return status;
}
