/* part_write.c - the results of a chunk, for `voxsift merge`. */
#include "evaluate/chunks/chunk.h"
#include "model/estimators.h"
#include "voxsift/internal/machine.h"

#include <math.h>
#include <stdlib.h>

const vxs_run_kind vxs_run_kinds[] = {
    [VXS_RUN_CV] = { "cv",
                     "folds",
                     { { "task", vxs_task_params }, { "cross_validation", vxs_cv_params } } },
    [VXS_RUN_PERMUTE] = { "permute",
                          "permutations",
                          { { "task", vxs_task_params },
                            { "cross_validation", vxs_cv_params },
                            { "permuting", vxs_permute_params } } },
    [VXS_RUN_STABILITY] = { "stability",
                            "pairs of halves",
                            { { "task", vxs_task_params }, { "halving", vxs_stability_params } } },
    { NULL, NULL, { { NULL, NULL } } },
};

static void settings_json(vxs_json_writer *w, const vxs_run *run)
{
    const vxs_run_kind *kind = &vxs_run_kinds[run->kind];
    for (int g = 0; kind->groups[g].key; g++)
        vxs_json_params(w, kind->groups[g].key, kind->groups[g].table, run->settings);
    vxs_json_params(w, "parameters", vxs_task_method(run->task)->params, run->method);
}

static void reals_json(vxs_json_writer *w, const char *key, const double *values, size_t count)
{
    vxs_json_open_array(w, key);
    for (size_t k = 0; values && k < count; k++)
        vxs_json_real(w, NULL, values[k]);
    vxs_json_close_array(w);
}

static void graph_json(vxs_json_writer *w, const vxs_graph *graph)
{
    vxs_json_open_array(w, "edges");
    for (size_t e = 0; e < graph->count; e++) {
        vxs_json_whole(w, NULL, (int64_t)graph->from[e]);
        vxs_json_whole(w, NULL, (int64_t)graph->to[e]);
        vxs_json_real(w, NULL, graph->weight ? graph->weight[e] : 1);
    }
    vxs_json_close_array(w);
}

/* The values of a column that an option names; nothing where it names none, or a file. */
static void column_json(vxs_json_writer *w, const vxs_task *t, const char *column)
{
    size_t at = 0;
    if (!column || vxs_table_find(t->cohort->people, column, &at, NULL))
        return;
    vxs_json_open_array(w, column);
    for (size_t i = 0; i < t->n; i++)
        vxs_json_text(w, NULL, vxs_table_cell(t->cohort->people, t->rows[i], at));
    vxs_json_close_array(w);
}

/* Who is one person, and who belongs together: participants.tsv may have changed since. */
static void people_json(vxs_json_writer *w, const vxs_run *run)
{
    const vxs_task *t = run->task;
    const vxs_run_kind *kind = &vxs_run_kinds[run->kind];
    vxs_json_open_array(w, "people");
    for (size_t i = 0; i < t->n; i++)
        vxs_json_whole(w, NULL, (int64_t)t->cohort->person[t->rows[i]]);
    vxs_json_close_array(w);
    for (int g = 0; kind->groups[g].key; g++)
        for (const vxs_param *p = kind->groups[g].table; p->name; p++)
            if (p->column)
                column_json(w, t, vxs_param_text(p, run->settings));
}

/* The table that a setting names, such as groups: its contents may have changed since. */
static vxs_status table_json(vxs_json_writer *w, const vxs_run *run, vxs_error *err)
{
    const vxs_user_table *table = vxs_task_estimator(run->task)->table;
    char *text = NULL, hash[VXS_HASH_TEXT];
    size_t length = 0;
    vxs_task t = *run->task;
    if (!table || !table->is_given(run->method))
        return VXS_OK;
    FILE *stream = open_memstream(&text, &length);
    vxs_status status = stream ? vxs_task_share(NULL, &t, run->method, err) : VXS_FAILED;
    if (!status)
        status = table->write(&t, stream, err);
    vxs_task_unshare(&t, run->task);
    if (!stream || fclose(stream) != 0)
        status = vxs_fail(err, VXS_FAILED, "not enough memory");
    if (!status) {
        vxs_sha256(text, length, "", 0, hash);
        vxs_json_text(w, "table", hash);
    }
    free(text);
    return status;
}

static vxs_status run_json(vxs_json_writer *w, const vxs_run *run, vxs_error *err)
{
    const vxs_task *t = run->task;
    vxs_json_open_object(w, NULL);
    vxs_json_format(w, "voxsift run");
    vxs_json_text(w, "kind", vxs_run_kinds[run->kind].name);
    settings_json(w, run);
    vxs_json_open_array(w, "subjects");
    for (size_t i = 0; i < t->n; i++)
        vxs_json_text(w, NULL, vxs_task_id(t, i));
    vxs_json_close_array(w);
    people_json(w, run);
    reals_json(w, "score", t->score, t->n);
    reals_json(w, "covariates", t->covariates, t->n * t->covariate_count);
    reals_json(w, "weights", t->weights, t->n);
    reals_json(w, "penalties", t->penalties, t->cohort->p);
    graph_json(w, &t->graph);
    vxs_status status = table_json(w, run, err);
    vxs_copy_json(w, "cohort", t->cohort->about);
    vxs_json_close_object(w);
    return status;
}

char *vxs_run_fingerprint(const vxs_run *run, vxs_error *err)
{
    char *text = NULL, hash[VXS_HASH_TEXT];
    size_t length = 0;
    FILE *stream = open_memstream(&text, &length);
    vxs_json_writer w;
    vxs_status status = VXS_OK;
    if (stream) {
        vxs_json_init(&w, stream);
        status = run_json(&w, run, err);
    }
    if (!stream || fclose(stream) != 0)
        status = vxs_fail(err, VXS_FAILED, "not enough memory");
    if (status) {
        free(text);
        return NULL;
    }
    vxs_sha256(text, length, "", 0, hash);
    free(text);
    return vxs_format(err, "%s", hash);
}

typedef struct {
    const vxs_context *context;
    const vxs_run *run;
    vxs_chunk chunk;
    size_t units, first, end;
    double seconds;
    char *fingerprint;
    vxs_features_state features;
    vxs_serializer serializer;
} writer;

static void write_about(const writer *p, FILE *stream)
{
    vxs_json_writer w;
    const vxs_run_kind *kind = &vxs_run_kinds[p->run->kind];
    char hash[VXS_HASH_TEXT];
    vxs_sha256(p->serializer.numbers, p->serializer.count * sizeof(double), "", 0, hash);
    vxs_json_init(&w, stream);
    vxs_json_open_object(&w, NULL);
    vxs_json_format(&w, "voxsift part");
    vxs_json_text(&w, "command", p->context ? p->context->command : NULL);
    vxs_json_text(&w, "processor", vxs_blas_core());
    vxs_json_text(&w, "cohort", p->run->task->cohort->path);
    vxs_json_text(&w, "kind", kind->name);
    vxs_json_whole(&w, "chunk", (int64_t)p->chunk.number);
    vxs_json_whole(&w, "chunks", (int64_t)p->chunk.count);
    vxs_json_text(&w, "units_are", kind->units);
    vxs_json_whole(&w, "units", (int64_t)p->units);
    vxs_json_whole(&w, "first", (int64_t)p->first + 1);
    vxs_json_whole(&w, "last", (int64_t)p->end);
    vxs_json_text(&w, "fingerprint", p->fingerprint);
    vxs_features_json_state(&w, &p->features);
    vxs_json_text(&w, "numbers_sha256", hash);
    settings_json(&w, p->run);
    vxs_json_real(&w, "observed", p->run->observed);
    if (p->run->classes)
        reals_json(&w, "observed_classes", p->run->classes->confusion,
                   vxs_class_scores_size(p->run->classes->count));
    vxs_json_real(&w, "seconds", p->seconds);
    vxs_json_close_object(&w);
}

static vxs_status write_numbers(const writer *p, FILE *stream, vxs_error *err)
{
    vxs_status status = vxs_npy_write_header(stream, 'f', 8, 1, &p->serializer.count, err);
    if (!status) /* what cannot be written shows when the stream is closed */
        (void)!fwrite(p->serializer.numbers, sizeof(double), p->serializer.count, stream);
    return status;
}

static vxs_status write_files(const writer *p, vxs_output *output, vxs_error *err)
{
    static const char *const files[] = { VXS_PART_FILE, VXS_NUMBERS_FILE };
    vxs_status status = VXS_OK;
    for (int k = 0; k < 2 && !status; k++) {
        FILE *stream;
        status = vxs_output_open(output, files[k], &stream, err);
        if (status)
            return status;
        if (k == 0)
            write_about(p, stream);
        else
            status = write_numbers(p, stream, err);
        vxs_status closed = vxs_output_close(output, stream, files[k], err);
        status = status ? status : closed;
    }
    return status;
}

vxs_status vxs_part_write(const vxs_context *context, const vxs_run *run, vxs_chunk chunk,
                          size_t units, double seconds, vxs_serialize_unit *serialize_unit,
                          void *what, vxs_output *output, vxs_error *err)
{
    writer p = { .context = context,
                 .run = run,
                 .chunk = chunk,
                 .units = units,
                 .seconds = seconds,
                 .serializer = { .err = err } };
    vxs_status status =
        vxs_chunk_share(chunk, units, vxs_run_kinds[run->kind].units, &p.first, &p.end, err);
    for (size_t k = p.first; k < p.end && !status; k++) {
        serialize_unit(&p.serializer, what, k);
        status = p.serializer.status;
    }
    if (!status)
        status = vxs_features_read_state(run->task->cohort, &p.features, err);
    if (!status) {
        p.fingerprint = vxs_run_fingerprint(run, err);
        status = p.fingerprint ? write_files(&p, output, err) : VXS_FAILED;
    }
    free(p.serializer.numbers);
    free(p.fingerprint);
    return status;
}

vxs_status vxs_part_save(const vxs_context *context, const vxs_run *run, vxs_chunk chunk,
                         size_t units, double seconds, vxs_serialize_unit *serialize_unit,
                         void *what, const char *directory, bool replace, vxs_error *err)
{
    vxs_output *output = NULL;
    vxs_status status = vxs_output_new(context, directory, replace, &output, err);
    if (!status)
        status =
            vxs_part_write(context, run, chunk, units, seconds, serialize_unit, what, output, err);
    if (!status)
        status = vxs_output_commit(output, err);
    vxs_output_free(output);
    return status;
}
