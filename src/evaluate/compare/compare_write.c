/* compare_write.c - the directory of a comparison: compare.json and compare.tsv. */
#include "evaluate/compare/compare.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

static double value_of(const vxs_metrics *m, const vxs_metric_row *row)
{
    return *vxs_metric((vxs_metrics *)m, row);
}

/* ---- JSON ------------------------------------------------------------------------------------ */

static void classes_json(vxs_json_writer *w, const vxs_compared *c)
{
    if (c->class_count == 0)
        return;
    vxs_json_open_object(w, "classes");
    for (size_t k = 0; k < c->class_count; k++) {
        int64_t count = 0;
        for (size_t i = 0; i < c->n; i++)
            count += c->truth[i] == (double)k;
        vxs_json_whole(w, c->classes[k], count);
    }
    vxs_json_close_object(w);
    if (c->class_count == 2)
        vxs_json_text(w, "positive", c->classes[1]);
}

static void models_json(vxs_json_writer *w, const vxs_compared *c)
{
    vxs_json_open_array(w, "models");
    for (size_t k = 0; k < c->model_count; k++) {
        const vxs_compared_model *m = &c->models[k];
        vxs_json_open_object(w, NULL);
        vxs_json_text(w, "name", m->name);
        vxs_json_text(w, "directory", m->directory);
        vxs_json_text(w, "method", m->method);
        if (m->baseline)
            vxs_json_text(w, "baseline", m->baseline);
        vxs_json_text(w, "loss", m->loss);
        vxs_json_text(w, "cohort", m->cohort);
        vxs_json_text(w, "command", m->command);
        vxs_json_open_object(w, "metrics");
        for (size_t j = 0; j < c->metric_count; j++) {
            vxs_json_open_object(w, c->metrics[j]->name);
            vxs_json_real(w, "value", value_of(&m->pooled, c->metrics[j]));
            vxs_json_real(w, "low", value_of(&m->low, c->metrics[j]));
            vxs_json_real(w, "high", value_of(&m->high, c->metrics[j]));
            vxs_json_close_object(w);
        }
        vxs_json_close_object(w);
        vxs_json_close_object(w);
    }
    vxs_json_close_array(w);
}

static void options_json(vxs_json_writer *w, const vxs_compared *c)
{
    vxs_json_open_array(w, "differing_options");
    for (size_t k = 0; k < c->option_count; k++) {
        vxs_json_open_object(w, NULL);
        vxs_json_text(w, "option", c->options[k].name);
        vxs_json_open_array(w, "values");
        for (size_t m = 0; m < c->model_count; m++)
            vxs_json_text(w, NULL, c->options[k].values[m]);
        vxs_json_close_array(w);
        vxs_json_close_object(w);
    }
    vxs_json_close_array(w);
}

static void p_json(vxs_json_writer *w, const vxs_compared_p *p)
{
    vxs_json_real(w, "p", p->p);
    vxs_json_real(w, "p_holm", p->holm);
    if (p->undefined)
        vxs_json_text(w, "undefined", p->undefined);
}

static bool is_area(const vxs_compared *c, const vxs_metric_row *row)
{
    return c->class_count == 2 && row == vxs_metric_named("auc");
}

static void difference_json(vxs_json_writer *w, const vxs_compared *c, const vxs_metric_row *row,
                            const vxs_compared_difference *d)
{
    vxs_json_open_object(w, row->name);
    vxs_json_real(w, "difference", d->value);
    vxs_json_real(w, "low", d->low);
    vxs_json_real(w, "high", d->high);
    vxs_json_open_object(w, "swaps");
    p_json(w, &d->swap);
    vxs_json_whole(w, "reached", (int64_t)d->reached);
    vxs_json_close_object(w);
    vxs_json_open_object(w, "t_test");
    p_json(w, &d->resampled);
    vxs_json_real(w, "mean", d->mean);
    vxs_json_real(w, "low", d->mean_low);
    vxs_json_real(w, "high", d->mean_high);
    vxs_json_real(w, "t", d->t);
    vxs_json_whole(w, "folds", (int64_t)d->folds);
    vxs_json_close_object(w);
    if (is_area(c, row)) {
        vxs_json_open_object(w, "delong");
        p_json(w, &d->delong);
        vxs_json_real(w, "standard_error", d->error);
        vxs_json_real(w, "z", d->z);
        vxs_json_close_object(w);
    }
    vxs_json_text(w, "conclusion", d->conclusion);
    vxs_json_close_object(w);
}

static void pairs_json(vxs_json_writer *w, const vxs_compared *c)
{
    vxs_json_open_array(w, "pairs");
    for (size_t k = 0; k < c->pair_count; k++) {
        const vxs_compared_pair *pair = &c->pairs[k];
        vxs_json_open_object(w, NULL);
        vxs_json_text(w, "first", c->models[pair->first].name);
        vxs_json_text(w, "second", c->models[pair->second].name);
        vxs_json_open_object(w, "metrics");
        for (size_t m = 0; m < c->metric_count; m++)
            difference_json(w, c, c->metrics[m], &pair->each[m]);
        vxs_json_close_object(w);
        vxs_json_close_object(w);
    }
    vxs_json_close_array(w);
}

void vxs_compared_json(vxs_json_writer *w, const vxs_compared *c)
{
    vxs_json_text(w, "target", c->target);
    vxs_json_whole(w, "subjects", (int64_t)c->n);
    classes_json(w, c);
    vxs_json_whole(w, "groups", (int64_t)c->folds.groups);
    vxs_json_whole(w, "folds", (int64_t)c->folds.count);
    vxs_json_whole(w, "repeats", (int64_t)c->folds.repeats);
    vxs_json_real(w, "test_per_training", c->test_size);
    vxs_json_bool(w, "biased_downwards", c->comparison.across);
    vxs_json_whole(w, "swaps", (int64_t)c->swaps);
    vxs_json_bool(w, "all_swaps", c->exhaustive);
    vxs_json_whole(w, "tests", (int64_t)(c->pair_count * c->metric_count));
    models_json(w, c);
    options_json(w, c);
    pairs_json(w, c);
    vxs_json_real(w, "seconds", c->seconds);
}

static void write_about(const vxs_context *context, const vxs_compared *c, FILE *stream)
{
    vxs_json_writer w;
    vxs_json_init(&w, stream);
    vxs_json_open_object(&w, NULL);
    vxs_json_format(&w, "voxsift comparison");
    vxs_json_text(&w, "command", context ? context->command : NULL);
    vxs_json_params(&w, "comparing", vxs_compare_params, &c->settings);
    vxs_compared_json(&w, c);
    vxs_json_close_object(&w);
}

/* ---- The table ------------------------------------------------------------------------------- */

static void write_numbers(vxs_tsv_writer *w, const double *numbers, size_t count)
{
    for (size_t k = 0; k < count; k++)
        vxs_tsv_real(w, numbers[k]);
    vxs_tsv_end_row(w);
}

#define NUMBERS 15 /* columns of a row behind its names */

static void write_metric(vxs_tsv_writer *w, const vxs_compared *c, size_t metric)
{
    const vxs_metric_row *row = c->metrics[metric];
    for (size_t k = 0; k < c->model_count; k++) {
        const vxs_compared_model *m = &c->models[k];
        double numbers[NUMBERS] = { value_of(&m->pooled, row), value_of(&m->low, row),
                                    value_of(&m->high, row) };
        for (size_t j = 3; j < NUMBERS; j++)
            numbers[j] = NAN;
        vxs_tsv_text(w, row->name);
        vxs_tsv_text(w, m->name);
        vxs_tsv_text(w, NULL);
        write_numbers(w, numbers, NUMBERS);
    }
    for (size_t k = 0; k < c->pair_count; k++) {
        const vxs_compared_difference *d = &c->pairs[k].each[metric];
        const double numbers[NUMBERS] = {
            d->value,       d->low,
            d->high,        d->swap.p,
            d->swap.holm,   d->mean,
            d->mean_low,    d->mean_high,
            d->t,           isnan(d->t) ? NAN : (double)d->folds - 1,
            d->resampled.p, d->resampled.holm,
            d->z,           d->delong.p,
            d->delong.holm,
        };
        vxs_tsv_text(w, row->name);
        vxs_tsv_text(w, c->models[c->pairs[k].first].name);
        vxs_tsv_text(w, c->models[c->pairs[k].second].name);
        write_numbers(w, numbers, NUMBERS);
    }
}

static void write_table(const vxs_compared *c, FILE *stream)
{
    static const char *const header[] = { "metric",   "first",        "second",    "value",
                                          "low",      "high",         "p_swaps",   "p_swaps_holm",
                                          "mean",     "mean_low",     "mean_high", "t",
                                          "df",       "p_t",          "p_t_holm",  "z",
                                          "p_delong", "p_delong_holm" };
    vxs_tsv_writer w;
    vxs_tsv_init(&w, stream);
    for (size_t k = 0; k < sizeof(header) / sizeof(header[0]); k++)
        vxs_tsv_text(&w, header[k]);
    vxs_tsv_end_row(&w);
    for (size_t m = 0; m < c->metric_count; m++)
        write_metric(&w, c, m);
}

/* ---- The directory --------------------------------------------------------------------------- */

vxs_status vxs_compared_write(const vxs_context *context, const vxs_compared *c, vxs_output *output,
                              vxs_error *err)
{
    static const char *const files[] = { VXS_COMPARE_FILE, "compare.tsv" };
    vxs_status status = VXS_OK;
    for (int k = 0; k < 2 && !status; k++) {
        FILE *stream;
        status = vxs_output_open(output, files[k], &stream, err);
        if (status)
            return status;
        if (k == 0)
            write_about(context, c, stream);
        else
            write_table(c, stream);
        status = vxs_output_close(output, stream, files[k], err);
    }
    return status;
}

vxs_status vxs_compared_save(const vxs_context *context, const vxs_compared *c,
                             const char *directory, bool replace, vxs_error *err)
{
    vxs_output *output = NULL;
    vxs_status status = vxs_output_new(context, directory, replace, &output, err);
    if (!status)
        status = vxs_compared_write(context, c, output, err);
    if (!status)
        status = vxs_output_commit(output, err);
    vxs_output_free(output);
    return status;
}
