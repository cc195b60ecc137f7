/* draws.c - predictors measured over all folds and repeats, and percentile intervals over bootstrap
 * draws of groups of subjects. */
#include "evaluate/draws.h"
#include "evaluate/cv.h"

#include <math.h>
#include <stdlib.h>

/* ---- Who is compared ------------------------------------------------------------------------- */

/* Pairs of one fold: of different classes, or any two subjects with a score. */
static double pairs_in_fold(const vxs_evaluated *e, size_t repeat, size_t fold)
{
    double count[VXS_MOST_CLASSES] = { 0 }, all = 0, square = 0;
    for (size_t i = 0; i < e->n; i++)
        if (e->folds->fold[repeat * e->n + i] == fold) {
            all++;
            count[e->class_count > 0 ? (size_t)e->truth[i] : 0]++;
        }
    for (size_t c = 0; c < e->class_count; c++)
        square += count[c] * count[c];
    return e->class_count > 0 ? (all * all - square) / 2 : all * (all - 1) / 2;
}

void vxs_count_pairs(const vxs_evaluated *e, vxs_comparison *c)
{
    *c = (vxs_comparison){ .folds = 0 };
    for (size_t r = 0; r < e->folds->repeats; r++) {
        double here = 0;
        for (size_t f = 0; f < e->folds->count; f++) {
            double pairs = pairs_in_fold(e, r, f);
            here += pairs;
            c->folds += pairs > 0;
        }
        c->pairs += here;
        c->across = c->across || here == 0;
    }
}

/* ---- Over repeats ---------------------------------------------------------------------------- */

vxs_predictions vxs_predictions_in(const vxs_evaluated *e, const vxs_predictor *of, size_t repeat)
{
    size_t row = repeat * e->outputs * e->n;
    return (vxs_predictions){ .n = e->n,
                              .class_count = e->class_count,
                              .only = e->only,
                              .fold = of->aligned ? NULL : e->folds->fold + repeat * e->n,
                              .fold_count = e->folds->count,
                              .aligned = of->aligned ? of->aligned + row : NULL,
                              .truth = e->truth,
                              .scores = of->scores + row,
                              .probabilities =
                                  of->probabilities
                                      ? of->probabilities + repeat * e->class_count * e->n
                                      : NULL,
                              .uncalibrated = !of->probabilities };
}

vxs_status vxs_measure_repeats(const vxs_evaluated *e, const vxs_predictor *of, vxs_metrics *mean,
                               vxs_error *err)
{
    vxs_status status = VXS_OK;
    *mean = (vxs_metrics){ .count = e->n };
    for (size_t r = 0; r < e->folds->repeats && !status; r++) {
        vxs_metrics one;
        const vxs_predictions p = vxs_predictions_in(e, of, r);
        status = vxs_measure(&p, &one, err);
        for (const vxs_metric_row *row = vxs_metric_rows; row->name && !status; row++)
            *vxs_metric(mean, row) += *vxs_metric(&one, row) / (double)e->folds->repeats;
    }
    return status;
}

/* ---- Draws ----------------------------------------------------------------------------------- */

/* Subjects drawn with their whole groups, so many of them in this draw; what is known of a subject
 * is copied to its new place. */
typedef struct {
    const vxs_evaluated *e;
    size_t *members, *start; /* of groups */
    size_t *drawn, count;
    size_t *fold; /* repeats x count */
    double *truth, *scores, *aligned, *probabilities;
} sample;

static void list_members(sample *s)
{
    const vxs_folds *f = s->e->folds;
    for (size_t i = 0; i < f->n; i++)
        s->start[f->group[i] + 1]++;
    for (size_t g = 0; g < f->groups; g++)
        s->start[g + 1] += s->start[g];
    for (size_t i = 0; i < f->n; i++) {
        size_t place = s->start[f->group[i]]++;
        s->members[place] = i;
    }
    for (size_t g = f->groups; g > 0; g--)
        s->start[g] = s->start[g - 1];
    s->start[0] = 0;
}

static size_t drawn_group(const vxs_evaluated *e, uint64_t number, size_t k)
{
    vxs_random random = { e->seed, VXS_STREAM_BOOTSTRAP + number };
    return (size_t)vxs_random_below(&random, k, e->folds->groups);
}

/* The subjects of the largest draw. */
static size_t count_drawn(const sample *s)
{
    size_t most = 0;
    for (size_t number = 0; number < s->e->draws; number++) {
        size_t count = 0;
        for (size_t k = 0; k < s->e->folds->groups; k++) {
            size_t g = drawn_group(s->e, number, k);
            count += s->start[g + 1] - s->start[g];
        }
        most = count > most ? count : most;
    }
    return most;
}

/* As many groups as there are, each whole. */
static void draw_subjects(sample *s, uint64_t number)
{
    s->count = 0;
    for (size_t k = 0; k < s->e->folds->groups; k++) {
        size_t g = drawn_group(s->e, number, k);
        for (size_t j = s->start[g]; j < s->start[g + 1]; j++)
            s->drawn[s->count++] = s->members[j];
    }
}

static void copy_rows(const sample *s, const double *from, double *to, size_t rows)
{
    for (size_t r = 0; from && r < rows; r++)
        for (size_t k = 0; k < s->count; k++)
            to[r * s->count + k] = from[r * s->e->n + s->drawn[k]];
}

static vxs_status measure_draw(sample *s, uint64_t number, vxs_bootstrap *d, vxs_error *err)
{
    const vxs_evaluated *e = s->e;
    size_t repeats = e->folds->repeats, rows = repeats * e->outputs;
    vxs_status status = VXS_OK;
    draw_subjects(s, number);
    for (size_t k = 0; k < s->count; k++)
        s->truth[k] = e->truth[s->drawn[k]];
    for (size_t r = 0; r < repeats; r++)
        for (size_t k = 0; k < s->count; k++)
            s->fold[r * s->count + k] = e->folds->fold[r * e->n + s->drawn[k]];
    vxs_folds folds = *e->folds;
    vxs_evaluated drawn = *e;
    folds.fold = s->fold;
    drawn.n = s->count;
    drawn.truth = s->truth;
    drawn.folds = &folds;
    for (size_t k = 0; k < e->count && !status; k++) {
        const vxs_predictor *of = &e->each[k];
        if (!of->scores)
            continue;
        copy_rows(s, of->scores, s->scores, rows);
        copy_rows(s, of->aligned, s->aligned, rows);
        copy_rows(s, of->probabilities, s->probabilities, repeats * e->class_count);
        const vxs_predictor copied = { s->scores, of->aligned ? s->aligned : NULL,
                                       of->probabilities ? s->probabilities : NULL };
        status = vxs_measure_repeats(&drawn, &copied, &d->metrics[k][number], err);
    }
    return status;
}

static int by_value(const void *a, const void *b)
{
    double left = *(const double *)a, right = *(const double *)b;
    return (left > right) - (left < right);
}

void vxs_bootstrap_interval(vxs_bootstrap *d, size_t predictor, size_t less, vxs_metrics *low,
                            vxs_metrics *high)
{
    const vxs_metrics *draws = d->metrics[predictor];
    const vxs_metrics *others = less == VXS_OF_NONE ? NULL : d->metrics[less];
    for (const vxs_metric_row *row = vxs_metric_rows; row->name; row++) {
        size_t known = 0;
        for (size_t k = 0; k < d->count; k++) {
            double value = *vxs_metric((vxs_metrics *)&draws[k], row);
            value -= others ? *vxs_metric((vxs_metrics *)&others[k], row) : 0;
            if (!isnan(value))
                d->values[known++] = value;
        }
        qsort(d->values, known, sizeof(*d->values), by_value);
        bool enough = 2 * known > d->count;
        size_t first = enough ? (size_t)(0.025 * (double)(known - 1)) : 0;
        size_t last = enough ? (size_t)ceil(0.975 * (double)(known - 1)) : 0;
        *vxs_metric(low, row) = enough ? d->values[first] : NAN;
        *vxs_metric(high, row) = enough ? d->values[last] : NAN;
    }
}

void vxs_bootstrap_release(vxs_bootstrap *d)
{
    for (size_t k = 0; d->metrics && k < d->predictors; k++)
        free(d->metrics[k]);
    free(d->metrics);
    free(d->values);
    *d = (vxs_bootstrap){ .count = 0 };
}

static void release_sample(sample *s)
{
    free(s->members);
    free(s->start);
    free(s->drawn);
    free(s->fold);
    free(s->truth);
    free(s->scores);
    free(s->aligned);
    free(s->probabilities);
}

static vxs_status make_sample(const vxs_evaluated *e, sample *s, vxs_error *err)
{
    size_t repeats = e->folds->repeats, rows = repeats * e->outputs;
    *s = (sample){ .e = e, .members = vxs_alloc(e->n, sizeof(*s->members), err) };
    s->start = vxs_alloc(e->folds->groups + 1, sizeof(*s->start), err);
    if (!s->members || !s->start)
        return VXS_FAILED;
    list_members(s);
    size_t n = count_drawn(s);
    s->drawn = vxs_alloc(n, sizeof(*s->drawn), err);
    s->fold = vxs_alloc(repeats, n * sizeof(*s->fold), err);
    s->truth = vxs_alloc(n, sizeof(*s->truth), err);
    s->scores = vxs_alloc(rows, n * sizeof(*s->scores), err);
    s->aligned = vxs_alloc(rows, n * sizeof(*s->aligned), err);
    s->probabilities =
        vxs_alloc(repeats * (e->class_count + 1), n * sizeof(*s->probabilities), err);
    bool fine = s->drawn && s->fold && s->truth && s->scores && s->aligned && s->probabilities;
    return fine ? VXS_OK : VXS_FAILED;
}

static vxs_status make_draws(const vxs_evaluated *e, vxs_bootstrap *d, vxs_error *err)
{
    *d = (vxs_bootstrap){ .count = e->draws, .predictors = e->count };
    d->values = vxs_alloc(e->draws, sizeof(*d->values), err);
    d->metrics = vxs_alloc(e->count, sizeof(*d->metrics), err);
    bool fine = d->values && d->metrics;
    for (size_t k = 0; k < e->count && fine; k++)
        if (e->each[k].scores) {
            d->metrics[k] = vxs_alloc(e->draws, sizeof(*d->metrics[k]), err);
            fine = d->metrics[k] != NULL;
        }
    return fine ? VXS_OK : VXS_FAILED;
}

vxs_status vxs_bootstrap_run(const vxs_context *context, const vxs_evaluated *e, vxs_bootstrap *d,
                             vxs_error *err)
{
    sample s = { .e = e };
    if (e->folds->groups < VXS_FEW_GROUPS)
        vxs_log(context, VXS_LOG_WARNING,
                "the 95 %% intervals are of draws of %zu %s, and with fewer than %d they are too "
                "narrow",
                e->folds->groups, e->folds->by_folds ? "folds" : "groups of subjects",
                VXS_FEW_GROUPS);
    vxs_status status = make_draws(e, d, err);
    if (!status)
        status = make_sample(e, &s, err);
    for (size_t k = 0; k < e->draws && !status; k++) {
        status = measure_draw(&s, k, d, err);
        if (!status)
            status = vxs_check_interrupted(context, err);
    }
    release_sample(&s);
    return status;
}
