/* simulate_lasso.c - a cohort whose truth is known: the linear model of the screening studies.
 *
 * Model    y = X b + e; X uniform on [-10, 10], a share of b uniform on [-1, 1], e normal.
 * Memory   One block of features a thread; the matrix itself only goes to disk.
 * Threads  Blocks are a map; their sums are added in the order of the blocks. Every number is a
 *          function of the seed and its place alone.
 * Source   Scalable structured feature selection (dissertation), section 2.4.1.1.
 */
#include "voxsift/cohort.h"

#include <math.h>
#include <stdlib.h>

#define X_RANGE          10.0
#define WEIGHT_RANGE     1.0
#define BLOCK_BYTES      (1 << 20) /* a block of features stays in a core's cache */
#define BLOCKS_PER_ROUND 16        /* between two writes, enough to keep threads busy */

enum { STREAM_X, STREAM_WEIGHT, STREAM_CHOICE, STREAM_NOISE };

static const char *const target_names[] = { "score", "diagnosis", NULL };

#define AT(member) offsetof(vxs_lasso_simulation, member)

const vxs_param vxs_lasso_simulation_params[] = {
    { .name = "subjects",
      .value = "N",
      .help = "subjects",
      .type = VXS_PARAM_WHOLE,
      .offset = AT(subjects),
      .initial = 100,
      .min = 2,
      .max = 1e7 },
    { .name = "features",
      .value = "P",
      .help = "features a subject",
      .type = VXS_PARAM_WHOLE,
      .offset = AT(features),
      .initial = 5000,
      .min = 1,
      .max = 1e9 },
    { .name = "nonzero",
      .value = "SHARE",
      .help = "share of the features that have a weight",
      .type = VXS_PARAM_REAL,
      .offset = AT(nonzero),
      .initial = 0.2,
      .min = 0,
      .max = 1 },
    { .name = "noise",
      .value = "SD",
      .help = "standard deviation of the noise on the score",
      .type = VXS_PARAM_REAL,
      .offset = AT(noise),
      .initial = 1,
      .min = 0,
      .max = 1e9 },
    { .name = "target",
      .value = "KIND",
      .help = "what is to be predicted: the score, or a diagnosis made from its sign",
      .type = VXS_PARAM_CHOICE,
      .offset = AT(target),
      .choices = target_names },
    { .name = "seed",
      .value = "N",
      .help = "start of the random numbers; the same seed gives the same cohort",
      .type = VXS_PARAM_WHOLE,
      .offset = AT(seed),
      .initial = 1,
      .min = 0,
      .max = 9007199254740992.0 }, /* 2^53, the last whole number JSON readers agree on */
    { .name = NULL },
};

typedef struct {
    const vxs_context *context;
    const vxs_lasso_simulation *settings;
    size_t n, p;
    double *weights; /* p */
    double *score;   /* n */
    size_t block;    /* features a block */
    float *columns;  /* BLOCKS_PER_ROUND blocks of features, n values each */
    double *sums;    /* BLOCKS_PER_ROUND x n: what a block adds to the score */
} simulation;

static vxs_random stream(const simulation *s, int which)
{
    return (vxs_random){ (uint64_t)s->settings->seed, (uint64_t)which };
}

static void release(simulation *s)
{
    free(s->sums);
    free(s->columns);
    free(s->score);
    free(s->weights);
}

static vxs_status prepare(simulation *s, vxs_error *err)
{
    s->n = (size_t)s->settings->subjects;
    s->p = (size_t)s->settings->features;
    s->block = BLOCK_BYTES / sizeof(float) / s->n;
    if (s->block == 0)
        s->block = 1;
    s->weights = vxs_alloc(s->p, sizeof(double), err);
    s->score = vxs_alloc(s->n, sizeof(double), err);
    s->columns = vxs_alloc(BLOCKS_PER_ROUND * s->block, s->n * sizeof(float), err);
    s->sums = vxs_alloc(BLOCKS_PER_ROUND, s->n * sizeof(double), err);
    return s->weights && s->score && s->columns && s->sums ? VXS_OK : VXS_FAILED;
}

/* Exactly round(share * p) features, each set as likely as any other. */
static vxs_status draw_weights(simulation *s, vxs_error *err)
{
    vxs_random choice = stream(s, STREAM_CHOICE), weight = stream(s, STREAM_WEIGHT);
    size_t *order = vxs_alloc(s->p, sizeof(*order), err);
    if (!order)
        return VXS_FAILED;
    vxs_random_permutation(&choice, order, s->p);
    size_t nonzero = (size_t)llround(s->settings->nonzero * (double)s->p);
    for (size_t k = 0; k < nonzero; k++) {
        size_t j = order[k];
        s->weights[j] = WEIGHT_RANGE * (2 * vxs_random_uniform(&weight, j) - 1);
    }
    free(order);
    return VXS_OK;
}

/* The score is made of the values as they are stored, so that truth and data agree to the bit. */
static void make_block(simulation *s, size_t slot, size_t first, size_t last)
{
    vxs_random x = stream(s, STREAM_X);
    float *column = s->columns + slot * s->block * s->n;
    double *sum = s->sums + slot * s->n;
    for (size_t i = 0; i < s->n; i++)
        sum[i] = 0;
    for (size_t j = first; j < last; j++, column += s->n) {
        for (size_t i = 0; i < s->n; i++) {
            double u = vxs_random_uniform(&x, (uint64_t)j * s->n + i);
            column[i] = (float)(X_RANGE * (2 * u - 1));
            sum[i] += s->weights[j] * (double)column[i];
        }
    }
}

static size_t smaller(size_t a, size_t b)
{
    return a < b ? a : b;
}

static void make_round(simulation *s, size_t first, size_t blocks)
{
    int nthreads = s->context && s->context->nthreads > 1 ? s->context->nthreads : 1;
    nthreads = (size_t)nthreads < blocks ? nthreads : (int)blocks;
#pragma omp parallel for num_threads(nthreads) schedule(dynamic)
    for (size_t b = 0; b < blocks; b++) {
        if (vxs_check_interrupted(s->context, NULL))
            continue; /* said by the step of progress that follows */
        size_t start = first + b * s->block;
        make_block(s, b, start, smaller(start + s->block, s->p));
    }
    for (size_t b = 0; b < blocks; b++)
        for (size_t i = 0; i < s->n; i++)
            s->score[i] += s->sums[b * s->n + i];
}

static vxs_status write_features(simulation *s, FILE *stream, vxs_error *err)
{
    vxs_progress progress;
    size_t shape[2] = { s->p, s->n };
    vxs_status status = vxs_npy_write_header(stream, 'f', sizeof(float), 2, shape, err);
    vxs_progress_start(&progress, s->context, "simulating", "features", s->p);
    for (size_t first = 0; first < s->p && !status;) {
        size_t count = smaller(BLOCKS_PER_ROUND * s->block, s->p - first);
        make_round(s, first, (count + s->block - 1) / s->block);
        fwrite(s->columns, s->n * sizeof(float), count, stream);
        if (ferror(stream))
            break; /* said when the stream is closed, with the reason */
        status = vxs_progress_step(&progress, count, err);
        first += count;
    }
    return status;
}

static vxs_status write_participants(simulation *s, FILE *stream, vxs_error *err)
{
    vxs_random noise = { (uint64_t)s->settings->seed, STREAM_NOISE };
    bool classes = s->settings->target == VXS_SIMULATE_DIAGNOSIS;
    vxs_tsv_writer writer;
    vxs_tsv_init(&writer, stream);
    vxs_tsv_text(&writer, "participant_id");
    vxs_tsv_text(&writer, target_names[s->settings->target]);
    vxs_tsv_end_row(&writer);
    for (size_t i = 0; i < s->n; i++) {
        vxs_status status = vxs_check_interrupted(s->context, err);
        if (status)
            return status;
        char id[32];
        snprintf(id, sizeof(id), "sub-%06zu", i + 1);
        vxs_tsv_text(&writer, id);
        double y = s->score[i] + s->settings->noise * vxs_random_normal(&noise, i);
        if (classes)
            vxs_tsv_text(&writer, y > 0 ? "patient" : "control");
        else
            vxs_tsv_real(&writer, y);
        vxs_tsv_end_row(&writer);
    }
    return VXS_OK;
}

static vxs_status write_truth(simulation *s, FILE *stream, vxs_error *err)
{
    vxs_tsv_writer writer;
    vxs_tsv_init(&writer, stream);
    vxs_tsv_text(&writer, "feature");
    vxs_tsv_text(&writer, "weight");
    vxs_tsv_end_row(&writer);
    for (size_t j = 0; j < s->p; j++) {
        if (s->weights[j] == 0)
            continue;
        vxs_status status = vxs_check_interrupted(s->context, err);
        if (status)
            return status;
        char name[32];
        snprintf(name, sizeof(name), "x%zu", j);
        vxs_tsv_text(&writer, name);
        vxs_tsv_real(&writer, s->weights[j]);
        vxs_tsv_end_row(&writer);
    }
    return VXS_OK;
}

static vxs_status write_about(simulation *s, FILE *stream, vxs_error *err)
{
    (void)err;
    vxs_json_writer writer;
    vxs_json_init(&writer, stream);
    vxs_json_open_object(&writer, NULL);
    vxs_json_text(&writer, "format", "voxsift cohort");
    vxs_json_whole(&writer, "format_version", 1);
    vxs_json_text(&writer, "voxsift", VXS_VERSION);
    vxs_json_whole(&writer, "subjects", s->settings->subjects);
    vxs_json_whole(&writer, "dropped", 0);
    vxs_json_whole(&writer, "features", s->settings->features);
    vxs_json_text(&writer, "features_are", "columns");
    vxs_json_text(&writer, "target", target_names[s->settings->target]);
    vxs_json_text(&writer, "simulation", "lasso");
    vxs_json_params(&writer, "parameters", vxs_lasso_simulation_params, s->settings);
    vxs_json_close_object(&writer);
    return VXS_OK;
}

typedef vxs_status part(simulation *s, FILE *stream, vxs_error *err);

/* Closing comes first when both went wrong: a full disk is the reason, not what followed from it.
 */
static vxs_status write_part(simulation *s, vxs_output *output, const char *name, part *write,
                             vxs_error *err)
{
    vxs_error later = VXS_ERROR_INIT;
    FILE *stream;
    vxs_status status = vxs_output_open(output, name, &stream, err);
    if (status)
        return status;
    status = write(s, stream, &later);
    vxs_status closed = vxs_output_close(output, stream, name, err);
    if (closed)
        return closed;
    return status ? vxs_fail(err, status, "%s", later.message) : VXS_OK;
}

vxs_status vxs_simulate_lasso(const vxs_context *context, const vxs_lasso_simulation *settings,
                              const char *directory, bool replace, vxs_error *err)
{
    static const struct {
        const char *name;
        part *write;
    } parts[] = {
        { "features.npy", write_features }, /* first: it makes the score */
        { "participants.tsv", write_participants },
        { "truth.tsv", write_truth },
        { VXS_COHORT_FILE, write_about },
    };
    simulation s = { .context = context, .settings = settings };
    vxs_output *output = NULL;
    vxs_status status = vxs_output_new(directory, replace, &output, err);
    if (!status)
        status = prepare(&s, err);
    if (!status)
        status = draw_weights(&s, err);
    for (size_t k = 0; k < sizeof(parts) / sizeof(parts[0]) && !status; k++)
        status = write_part(&s, output, parts[k].name, parts[k].write, err);
    if (!status)
        status = vxs_check_interrupted(context, err);
    if (!status)
        status = vxs_output_commit(output, err);
    vxs_output_free(output);
    release(&s);
    return status;
}
