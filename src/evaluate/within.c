/* within.c - a metric of each person by the rows of this person alone, where rows are voxels: these
 * are not independent, and persons differ. */
#include "evaluate/within.h"

#include <math.h>
#include <stdlib.h>

void vxs_within_release(vxs_within *w)
{
    free(w->each);
    free(w->rows);
    free(w->first);
    *w = (vxs_within){ .count = 0 };
}

/* Rows of one person in a repeat. */
typedef struct {
    const vxs_evaluated *e;
    const vxs_predictor *of;
    size_t count, *member;
    double *truth, *scores;
} part;

static vxs_status measure_repeat(const part *p, size_t repeat, const vxs_metric_row *metric,
                                 double *value, vxs_error *err)
{
    const vxs_evaluated *e = p->e;
    const double *scores = p->of->scores + repeat * e->outputs * e->n;
    vxs_metrics m;
    for (size_t k = 0; k < p->count; k++) {
        p->truth[k] = e->truth[p->member[k]];
        for (size_t o = 0; o < e->outputs; o++)
            p->scores[o * p->count + k] = scores[o * e->n + p->member[k]];
    }
    const vxs_predictions predictions = { .n = p->count,
                                          .class_count = e->class_count,
                                          .only = metric,
                                          .truth = p->truth,
                                          .scores = p->scores };
    vxs_status status = vxs_measure(&predictions, &m, err);
    *value = status ? (double)NAN : *vxs_metric(&m, metric);
    return status;
}

static vxs_status measure_person(part *p, const vxs_metric_row *metric, double *mean,
                                 vxs_error *err)
{
    size_t repeats = p->e->folds->repeats;
    vxs_status status = VXS_OK;
    *mean = 0;
    for (size_t r = 0; r < repeats && !status; r++) {
        double value = NAN;
        status = measure_repeat(p, r, metric, &value, err);
        *mean += value / (double)repeats;
    }
    return status;
}

static int by_value(const void *a, const void *b)
{
    double left = *(const double *)a, right = *(const double *)b;
    return (left > right) - (left < right);
}

/* Draws of persons, with all their rows. */
static vxs_status find_interval(const vxs_evaluated *e, const double *values, vxs_within *w,
                                vxs_error *err)
{
    double *means = vxs_alloc(e->draws + 1, sizeof(*means), err);
    if (!means)
        return VXS_FAILED;
    for (size_t b = 0; b < e->draws; b++) {
        const vxs_random random = { e->seed, VXS_STREAM_BOOTSTRAP + b };
        for (size_t k = 0; k < w->count; k++)
            means[b] += values[vxs_random_below(&random, k, w->count)] / (double)w->count;
    }
    qsort(means, e->draws, sizeof(*means), by_value);
    w->low = means[(size_t)(0.025 * (double)(e->draws - 1))];
    w->high = means[(size_t)ceil(0.975 * (double)(e->draws - 1))];
    free(means);
    return VXS_OK;
}

static vxs_status sum_up(const vxs_evaluated *e, vxs_within *w, vxs_error *err)
{
    double *values = vxs_alloc(w->persons + 1, sizeof(*values), err);
    double square = 0;
    vxs_status status = values ? VXS_OK : VXS_FAILED;
    w->mean = w->sd = w->low = w->high = w->least = w->most = NAN;
    for (size_t p = 0; p < w->persons && !status; p++)
        if (!isnan(w->each[p]))
            values[w->count++] = w->each[p];
    if (!status && w->count > 0) {
        w->mean = 0;
        w->least = w->most = values[0];
        for (size_t k = 0; k < w->count; k++) {
            w->mean += values[k] / (double)w->count;
            w->least = fmin(w->least, values[k]);
            w->most = fmax(w->most, values[k]);
        }
        for (size_t k = 0; k < w->count; k++)
            square += (values[k] - w->mean) * (values[k] - w->mean);
        w->sd = w->count > 1 ? sqrt(square / (double)(w->count - 1)) : (double)NAN;
        if (e->draws > 0)
            status = find_interval(e, values, w, err);
    }
    free(values);
    return status;
}

vxs_status vxs_measure_within(const vxs_evaluated *e, const vxs_predictor *of, const vxs_task *t,
                              vxs_within *w, vxs_error *err)
{
    part p = { .e = e, .of = of };
    *w = (vxs_within){ .metric = vxs_metric_named(e->class_count > 0 ? "auc" : "r") };
    w->persons = t->cohort->persons;
    w->each = vxs_alloc(w->persons + 1, sizeof(*w->each), err);
    w->rows = vxs_alloc(w->persons + 1, sizeof(*w->rows), err);
    w->first = vxs_alloc(w->persons + 1, sizeof(*w->first), err);
    p.member = vxs_alloc(e->n, sizeof(*p.member), err);
    p.truth = vxs_alloc(e->n, sizeof(*p.truth), err);
    p.scores = vxs_alloc(e->outputs, vxs_times(e->n, sizeof(*p.scores)), err);
    bool fine = w->each && w->rows && w->first && p.member && p.truth && p.scores;
    vxs_status status = fine ? VXS_OK : VXS_FAILED;
    for (size_t person = 0; person < w->persons && !status; person++) {
        p.count = 0;
        for (size_t i = 0; i < e->n; i++)
            if (t->cohort->person[t->rows[i]] == person)
                p.member[p.count++] = i;
        w->each[person] = NAN;
        w->rows[person] = p.count;
        w->first[person] = p.count > 0 ? p.member[0] : SIZE_MAX;
        if (p.count > 0)
            status = measure_person(&p, w->metric, &w->each[person], err);
    }
    if (!status)
        status = sum_up(e, w, err);
    free(p.member);
    free(p.truth);
    free(p.scores);
    return status;
}

/* ---- Files ----------------------------------------------------------------------------------- */

void vxs_within_json(vxs_json_writer *w, const vxs_within *within)
{
    if (!within->metric)
        return;
    vxs_json_open_object(w, "within_people");
    vxs_json_text(w, "metric", within->metric->name);
    vxs_json_whole(w, "people", (int64_t)within->count);
    vxs_json_real(w, "mean", within->mean);
    vxs_json_real(w, "low", within->low);
    vxs_json_real(w, "high", within->high);
    vxs_json_real(w, "sd", within->sd);
    vxs_json_real(w, "least", within->least);
    vxs_json_real(w, "most", within->most);
    vxs_json_close_object(w);
}

void vxs_within_write(const vxs_task *t, const vxs_within *within, FILE *stream)
{
    const vxs_cohort *c = t->cohort;
    vxs_tsv_writer w;
    vxs_tsv_init(&w, stream);
    vxs_tsv_text(&w, vxs_cohort_person_header(c));
    vxs_tsv_text(&w, "voxels");
    vxs_tsv_text(&w, within->metric->name);
    vxs_tsv_end_row(&w);
    for (size_t p = 0; p < within->persons; p++) {
        if (within->rows[p] == 0)
            continue;
        vxs_tsv_text(&w, vxs_table_cell(c->people, t->rows[within->first[p]],
                                        c->person_column == VXS_NO_COLUMN ? c->id_column
                                                                          : c->person_column));
        vxs_tsv_real(&w, (double)within->rows[p]);
        vxs_tsv_real(&w, within->each[p]);
        vxs_tsv_end_row(&w);
    }
}
