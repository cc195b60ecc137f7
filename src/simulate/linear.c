/* linear.c - simulated cohorts of random features and a score that is a function of them.
 *
 * Memory   One block of features per thread; the matrix itself goes to disk.
 * Threads  Blocks are independent; their sums are added in block order. Every number is a
 *          function of the seed and its position alone.
 */
#include "simulate/linear.h"
#include "voxsift/internal/machine.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#define X_RANGE          10.0
#define WEIGHT_RANGE     1.0
#define BLOCK_BYTES      (1 << 20) /* a block of features fits a core's cache */
#define BLOCKS_PER_ROUND 16        /* between two writes, enough to keep threads busy */

const char *const vxs_simulated_targets[] = { "score", "diagnosis", NULL };

static void release(vxs_linear *l)
{
    free(l->sums);
    free(l->columns);
    free(l->score);
    free(l->weights);
}

static vxs_status prepare(vxs_linear *l, vxs_error *err)
{
    l->block = BLOCK_BYTES / sizeof(float) / l->n;
    if (l->block == 0)
        l->block = 1;
    l->weights = vxs_alloc(l->p, sizeof(double), err);
    l->score = vxs_alloc(l->n, sizeof(double), err);
    l->columns =
        vxs_alloc(vxs_times(BLOCKS_PER_ROUND, l->block), vxs_times(l->n, sizeof(float)), err);
    l->sums = vxs_alloc(BLOCKS_PER_ROUND, vxs_times(l->n, sizeof(double)), err);
    return l->weights && l->score && l->columns && l->sums ? VXS_OK : VXS_FAILED;
}

double vxs_linear_weight(const vxs_random *random, uint64_t index)
{
    return WEIGHT_RANGE * (2 * vxs_random_uniform(random, index) - 1);
}

float vxs_linear_value(const vxs_linear *l, size_t feature, size_t subject)
{
    vxs_random x = { l->seed, VXS_LINEAR_X };
    uint64_t index = (uint64_t)feature * l->n + subject;
    if (l->normal)
        return (float)vxs_random_normal(&x, index);
    return (float)(X_RANGE * (2 * vxs_random_uniform(&x, index) - 1));
}

/* Draws a block of features and its part of the score. The score uses the stored float values, so
 * that truth and data agree to the bit. */
static void make_block(vxs_linear *l, size_t slot, size_t first, size_t last)
{
    float *column = l->columns + slot * l->block * l->n;
    double *sum = l->sums + slot * l->n;
    for (size_t i = 0; i < l->n; i++)
        sum[i] = 0;
    for (size_t j = first; j < last; j++, column += l->n) {
        for (size_t i = 0; i < l->n; i++) {
            column[i] = vxs_linear_value(l, j, i);
            sum[i] += l->weights[j] * (double)column[i];
        }
    }
}

static size_t smaller(size_t a, size_t b)
{
    return a < b ? a : b;
}

static void make_round(vxs_linear *l, size_t first, size_t blocks)
{
    int nthreads = vxs_context_threads(l->context);
    nthreads = (size_t)nthreads < blocks ? nthreads : (int)blocks;
#pragma omp parallel for num_threads(nthreads) schedule(dynamic)
    for (size_t b = 0; b < blocks; b++) {
        if (vxs_check_interrupted(l->context, NULL))
            continue; /* the next progress step reports it */
        size_t start = first + b * l->block;
        make_block(l, b, start, smaller(start + l->block, l->p));
    }
    for (size_t b = 0; b < blocks; b++)
        for (size_t i = 0; i < l->n; i++)
            l->score[i] += l->sums[b * l->n + i];
}

static vxs_status write_features(vxs_linear *l, FILE *stream, vxs_error *err)
{
    vxs_progress progress;
    size_t shape[2] = { l->p, l->n };
    vxs_status status =
        vxs_record_begin(&l->record, "features.npy", stream, 'f', sizeof(float), 2, shape, err);
    vxs_progress_start(&progress, l->context, "simulating", "features", l->p);
    for (size_t first = 0; first < l->p && !status;) {
        size_t count = smaller(BLOCKS_PER_ROUND * l->block, l->p - first);
        make_round(l, first, (count + l->block - 1) / l->block);
        vxs_record_add(&l->record, l->columns, l->n * sizeof(float) * count);
        fwrite(l->columns, l->n * sizeof(float), count, stream);
        if (ferror(stream))
            break; /* closing the stream reports it, with the reason */
        status = vxs_progress_step(&progress, count, err);
        first += count;
    }
    if (!status)
        vxs_record_end(&l->record);
    return status;
}

static int by_size(const void *a, const void *b)
{
    double left = *(const double *)a, right = *(const double *)b;
    return (left > right) - (left < right);
}

/* Median of the scores; patients are above it. */
static vxs_status find_threshold(const vxs_linear *l, double *threshold, vxs_error *err)
{
    *threshold = 0;
    if (!l->balanced)
        return VXS_OK;
    double *sorted = vxs_alloc(l->n, sizeof(*sorted), err);
    if (!sorted)
        return VXS_FAILED;
    memcpy(sorted, l->score, l->n * sizeof(*sorted));
    qsort(sorted, l->n, sizeof(*sorted), by_size);
    *threshold = sorted[(l->n - 1) / 2]; /* for an even number, half are above */
    free(sorted);
    return VXS_OK;
}

static vxs_status write_participants(vxs_linear *l, FILE *stream, vxs_error *err)
{
    vxs_random noise = { l->seed, VXS_LINEAR_NOISE };
    bool classes = l->target == VXS_SIMULATE_DIAGNOSIS;
    double threshold = 0;
    for (size_t i = 0; i < l->n; i++)
        l->score[i] += l->noise * vxs_random_normal(&noise, i);
    vxs_status status = find_threshold(l, &threshold, err);
    vxs_tsv_writer writer;
    vxs_tsv_init(&writer, stream);
    vxs_tsv_text(&writer, "participant_id");
    vxs_tsv_text(&writer, vxs_simulated_targets[l->target]);
    vxs_tsv_end_row(&writer);
    for (size_t i = 0; i < l->n && !status; i++) {
        status = vxs_check_interrupted(l->context, err);
        char id[32];
        snprintf(id, sizeof(id), "sub-%06zu", i + 1);
        vxs_tsv_text(&writer, id);
        if (classes)
            vxs_tsv_text(&writer, l->score[i] > threshold ? "patient" : "control");
        else
            vxs_tsv_real(&writer, l->score[i]);
        vxs_tsv_end_row(&writer);
    }
    return status;
}

static vxs_status write_truth(vxs_linear *l, FILE *stream, vxs_error *err)
{
    vxs_tsv_writer writer;
    vxs_tsv_init(&writer, stream);
    vxs_tsv_text(&writer, "feature");
    vxs_tsv_text(&writer, "weight");
    vxs_tsv_end_row(&writer);
    for (size_t j = 0; j < l->p; j++) {
        if (l->weights[j] == 0)
            continue;
        vxs_status status = vxs_check_interrupted(l->context, err);
        if (status)
            return status;
        char name[32];
        snprintf(name, sizeof(name), "x%zu", j);
        vxs_tsv_text(&writer, name);
        vxs_tsv_real(&writer, l->weights[j]);
        vxs_tsv_end_row(&writer);
    }
    return VXS_OK;
}

static vxs_status write_about(vxs_linear *l, FILE *stream, vxs_error *err)
{
    (void)err;
    vxs_json_writer writer;
    vxs_json_init(&writer, stream);
    vxs_json_open_object(&writer, NULL);
    vxs_json_format(&writer, "voxsift cohort");
    vxs_json_whole(&writer, "subjects", (int64_t)l->n);
    vxs_json_whole(&writer, "people", (int64_t)l->n);
    vxs_json_text(&writer, "id_column", "participant_id");
    vxs_json_bool(&writer, "ids_invented", true);
    vxs_json_text(&writer, "person_column", NULL);
    vxs_json_whole(&writer, "dropped", 0);
    vxs_json_whole(&writer, "features", (int64_t)l->p);
    vxs_json_text(&writer, "features_are", "columns");
    vxs_record_json(&writer, &l->record);
    vxs_json_text(&writer, "target", vxs_simulated_targets[l->target]);
    vxs_json_text(&writer, "simulation", l->name);
    vxs_json_params(&writer, "parameters", l->params, l->settings);
    vxs_json_close_object(&writer);
    return VXS_OK;
}

typedef vxs_status part(vxs_linear *l, FILE *stream, vxs_error *err);

/* Writes a file. If writing and closing both fail, the error of closing counts: a full disk is the
 * cause. */
static vxs_status write_part(vxs_linear *l, vxs_output *output, const char *name, part *write,
                             vxs_error *err)
{
    vxs_error later = VXS_ERROR_INIT;
    FILE *stream;
    vxs_status status = vxs_output_open(output, name, &stream, err);
    if (status)
        return status;
    status = write(l, stream, &later);
    vxs_status closed = vxs_output_close(output, stream, name, err);
    if (closed)
        return closed;
    return status ? vxs_fail(err, status, "%s", later.message) : VXS_OK;
}

vxs_status vxs_linear_make(vxs_linear *l, const char *directory, bool replace, vxs_error *err)
{
    const struct {
        const char *name;
        part *write;
    } parts[] = {
        { "features.npy", write_features }, /* first: it computes the score */
        { "participants.tsv", write_participants },
        { "truth.tsv", l->write_truth ? l->write_truth : write_truth },
        { l->more, l->write_more },
        { VXS_COHORT_FILE, write_about },
    };
    vxs_output *output = NULL;
    vxs_status status = vxs_output_new(l->context, directory, replace, &output, err);
    if (!status)
        status = prepare(l, err);
    if (!status)
        status = l->draw(l, err);
    for (size_t k = 0; k < sizeof(parts) / sizeof(parts[0]) && !status; k++)
        if (parts[k].name)
            status = write_part(l, output, parts[k].name, parts[k].write, err);
    if (!status)
        status = vxs_check_interrupted(l->context, err);
    if (!status)
        status = vxs_output_commit(output, err);
    vxs_output_free(output);
    release(l);
    return status;
}
